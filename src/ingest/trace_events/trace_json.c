/* trace_json.c: a whole file of trace events: the root object around the list, and the list cut
 * into pieces for one or more threads.
 *
 * With one thread a piece is read until an event does not fit; that event is kept and seen
 * again at the start of the next piece. With more, each thread takes the next piece under a
 * lock, cuts it after the last thing that looks like the border of two events, and reads its
 * events into its own part; the rest is the start of the next piece. Whether it is a border is
 * checked: a piece must end between two events. When one does not (a border inside a string, a
 * damaged event, a list that ends early) everything is forgotten and read again with one
 * thread, so that the answer never depends on the number of threads.
 *
 *     { "schemaVersion": 1, … "traceEvents": [ {…}, {…}, | {…}, … | {…} ], "traceName": … }
 *     root keys are metadata                     piece 1     piece 2     root keys again
 */
#include "ingest/trace_events/trace_json.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/json.h"
#include "base/num.h"
#include "ingest/util/device_properties.h"
#include "ingest/util/scan.h"

enum {
    PIECE_BYTES = 4 << 20,      /* large enough to hide the seams, small enough for the cache */
    MAX_EVENT_BYTES = 64 << 20, /* an event that does not end within is damage */
    MAX_ENDLESS =
        64, /* events without an end that are skipped: each costs a look at the rest */
    MAX_KEY_BYTES = 64,
};

/* Where in the file a reader is. */
typedef enum { AT_START, AT_KEYS, AT_EVENTS, AT_END } place;

typedef struct {
    builder *b;
    const ingest_options *o;
    source *src;
    uint64_t input_bytes;
    event_root root;
    bool has_events; /* a list of events was opened */
    bool root_object;
    bool root_damaged; /* counted once */
    bool has_garbage;  /* counted once */
    unsigned n_endless;
    size_t piece_bytes;
    const dialect *dialect;
} reader;

/* ---- root keys ---- */

/* deviceProperties: the accelerators of the machine. */
static status take_devices(reader *r, event_parser *l, str list, error *err) {
    json_iter it = json_open(list);
    str key, object;
    for (int32_t i = 0; json_next(&it, &key, &object); i++) {
        str name = json_text(json_member(object, STR("name")));
        raw_device d = device_properties(object, i);
        d.name = name.n ? event_parser_string(l, name, NOPOS) : 0;
        d.properties = event_parser_raw(l, object, NOPOS);
        TRY(builder_add_device(r->b, &d, err));
        r->root.has_devices = true;
    }
    return OK;
}

/* distributedInfo: the process groups. */
static status take_groups(reader *r, event_parser *l, str info, error *err) {
    json_iter it = json_open(json_member(info, STR("pg_config")));
    str key, g;
    while (json_next(&it, &key, &g)) {
        str name = json_member(g, STR("pg_name"));
        if (!name.n) name = json_member(g, STR("pg_id"));
        str description = json_text(json_member(g, STR("pg_desc")));
        str backend = json_text(json_member(g, STR("backend_config")));
        str ranks = json_text(json_member(g, STR("ranks")));
        int64_t size;
        raw_group row = {
            .name = event_parser_string(l, json_text(name), NOPOS),
            .description = description.n ? event_parser_string(l, description, NOPOS) : 0,
            .backend = backend.n ? event_parser_string(l, backend, NOPOS) : 0,
            .ranks = ranks.n ? event_parser_raw(l, ranks, NOPOS) : 0,
            .size = json_i64(json_member(g, STR("pg_size")), &size) ? size : ABSENT_I64,
        };
        TRY(builder_add_group(r->b, &row, err));
    }
    return OK;
}

/* One key of the root object that is not the list of events. */
static status take_root_key(reader *r, event_sink *s, str key, str value, error *err) {
    int64_t v;
    if (str_eq(key, STR("baseTimeNanoseconds")) && json_i64(value, &v)) {
        builder_set_base_unix_ns(r->b, v);
        r->root.has_base = true;
    }
    if (str_eq(key, STR(TRACE_DEVICE_WORDS))) return device_words_add(r->b, value, err);
    /* The second is the name in very old files. */
    if (str_eq(key, STR("deviceProperties")) || str_eq(key, STR("computeProperties")))
        TRY(take_devices(r, s->parser, value, err));
    if (str_eq(key, STR("distributedInfo"))) TRY(take_groups(r, s->parser, value, err));
    if (r->dialect->root_key) TRY(r->dialect->root_key(s, key, value, err));
    return event_add_meta(s, key, value, err);
}

/* Where one reader is in the piece it reads. */
typedef struct {
    event_sink *s;
    piece pc;
    const char *p; /* the next byte of it */
    place where;
    bool final; /* no more bytes will come: what is not whole now is damage */
} cursor;

static const char *end_of(const cursor *c) {
    return c->pc.p + c->pc.n;
}

static void count_syntax(const cursor *c, const char *at, bool is_event) {
    part *p = c->s->part;
    part_lost(p, CAUSE_BAD_SYNTAX, c->pc.offset + (uint64_t)(at - c->pc.p), 0);
    if (is_event) part_count(p, 1, 1);
}

typedef enum { MEMBER_WHOLE, MEMBER_EVENTS, MEMBER_CUT, MEMBER_DAMAGED } member_state;

/* The key and value at p; of the list of events only the start. *stop is one past what was
 * read. */
static member_state find_member(const char *p, const char *end, str *key, str *value,
                                const char **stop) {
    if (*p != '"') return MEMBER_DAMAGED;
    const char *close = json_string_end(p + 1, end);
    if (!close) return MEMBER_CUT;
    *key = str_n(p + 1, (size_t)(close - p - 1));
    const char *v = json_space(close + 1, end);
    if (v == end) return MEMBER_CUT;
    if (*v != ':') return MEMBER_DAMAGED;
    v = json_space(v + 1, end);
    if (v == end) return MEMBER_CUT;
    if (*v == '[' && str_eq(*key, STR("traceEvents"))) {
        *stop = v + 1;
        return MEMBER_EVENTS;
    }
    if (*v == ',' || *v == '}' || *v == ']' || *v == ':') return MEMBER_DAMAGED;
    *stop = json_value_end(v, end);
    if (!*stop || *stop == end) return MEMBER_CUT;
    *value = str_n(v, (size_t)(*stop - v));
    return MEMBER_WHOLE;
}

/* The root object is not JSON at p. From here on only the list of events is looked for, by its
 * name; after it, what is left of the file is not looked at. */
static void damage_root(reader *r, cursor *c, const char *p) {
    if (!r->root_damaged) count_syntax(c, p, false);
    r->root_damaged = true;
    c->p = r->has_events ? end_of(c) : p;
    if (r->has_events) c->where = AT_END;
}

static void start_events(reader *r, cursor *c, const char *p) {
    r->has_events = true;
    c->p = p;
    c->where = AT_EVENTS;
}

static void find_events(reader *r, cursor *c) {
    static const str name = STR("\"traceEvents\"");
    const char *end = end_of(c), *stop;
    for (;;) {
        size_t at = str_find(str_n(c->p, (size_t)(end - c->p)), name, 0);
        if (at == SIZE_MAX) { /* the name may be cut by the end of the bytes */
            if ((size_t)(end - c->p) >= name.n) c->p = end - (name.n - 1);
            return;
        }
        str key, value;
        c->p += at;
        member_state state = find_member(c->p, end, &key, &value, &stop);
        if (state == MEMBER_EVENTS) start_events(r, c, stop);
        if (state == MEMBER_EVENTS || state == MEMBER_CUT) return;
        c->p++;
    }
}

/* Reads root keys. Stops after the bracket of a list of events (AT_EVENTS), after the end of
 * the root (AT_END), or, at the end of the bytes, where it has to go on (same place as
 * before). */
static status read_root(reader *r, cursor *c, error *err) {
    const char *end = end_of(c);
    while (c->where == AT_KEYS) {
        if (r->root_damaged && !r->has_events) {
            find_events(r, c);
            return OK;
        }
        const char *p = c->p, *stop = NULL;
        while (p < end && (json_is_space(*p) || *p == ',')) p++;
        if (p == end) return OK;
        if (*p == '}') {
            c->p = p + 1;
            c->where = AT_END;
            return OK;
        }
        str key, value;
        member_state state = find_member(p, end, &key, &value, &stop);
        if (state == MEMBER_CUT && c->final && !r->has_events)
            state = MEMBER_DAMAGED; /* a value without an end may have swallowed the events */
        if (state == MEMBER_CUT) return OK;
        if (state == MEMBER_DAMAGED) damage_root(r, c, p);
        if (state == MEMBER_EVENTS) start_events(r, c, stop);
        if (state != MEMBER_WHOLE) continue;
        TRY(take_root_key(r, c->s, key, value, err));
        c->p = stop;
    }
    return OK;
}

/* The first byte that counts: an object or a list. */
static status read_start(reader *r, cursor *c, error *err) {
    const char *p = c->p, *end = end_of(c);
    if (end - p >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0) p += 3;
    p = json_space(p, end);
    c->p = p;
    if (p == end) return OK;
    if (*p != '{' && *p != '[')
        FAIL(err, ERR_FORMAT, r->input_bytes, MSG_NOT_JSON, arg_int("byte", (uint8_t)*p));
    c->where = *p == '{' ? AT_KEYS : AT_EVENTS;
    r->root_object = *p == '{';
    r->has_events |= *p == '[';
    c->p = p + 1;
    return OK;
}

/* ---- damaged events ---- */

/* The end of the list after a damaged event: `}` `]` and what can follow a list in the
 * root. */
static const char *find_list_end(const char *p, const char *end) {
    while ((p = memchr(p, '}', (size_t)(end - p)))) {
        const char *list = json_space(++p, end);
        if (list == end || *list != ']') continue;
        const char *after = json_space(list + 1, end);
        if (after < end && *after == ',') {
            after = json_space(after + 1, end);
            if (after < end && *after == '"') return list;
        } else if (after == end || *after == '}') {
            return list;
        }
    }
    return NULL;
}

/* What is not an event at all: a list or text is skipped as a whole, for what is in it is not
 * the end of the list of events. NULL as below. */
static const char *skip_other(const char *p, const char *end, bool final) {
    const char *stop = p;
    if (*p == '[') stop = scan_brackets(p, end);
    if (*p == '"' && (stop = json_string_end(p + 1, end))) stop++;
    if (!stop && !final) return NULL;
    if (stop) /* the next may be another one */
        for (p = stop; p < end && *p != '[' && *p != '"' && *p != '{' && *p != ']';) p++;
    else /* it does not end: to look for the end of each one in it would take for ever */
        while (p < end && *p != '{' && *p != ']') p++;
    return p < end ? p : NULL;
}

/* Where reading continues after the damaged event at p; NULL when that is not among these
 * bytes. */
static const char *find_next_event(const char *p, const char *end, bool final) {
    while (p < end && (json_is_space(*p) || *p == ',')) p++;
    if (p < end && *p != '{') return skip_other(p, end, final);
    const char *next = p < end ? event_parser_next_border(p + 1, end) : NULL;
    return next || !final || p == end ? next : find_list_end(p + 1, end);
}

/* The same for an event that does not end: a bracket or quote was lost. The objects inside an
 * event that was only cut are not taken for events: the next one must start with the same
 * key. */
static const char *find_same_event(const char *p, const char *end) {
    while (p < end && (json_is_space(*p) || *p == ',')) p++;
    const char *key = p < end ? json_space(p + 1, end) : end;
    const char *close = key < end && *key == '"' ? json_string_end(key + 1, end) : NULL;
    if (!close) return NULL;
    size_t n = (size_t)(close - key) + 1;
    for (p++; (p = event_parser_next_border(p, end)); p++) {
        const char *other = json_space(p + 1, end);
        if ((size_t)(end - other) > n && memcmp(other, key, n) == 0) return p;
    }
    return NULL;
}

/* Skips the event at the cursor when the start of the next one is known. */
static void skip_event(reader *r, cursor *c, parse_result result) {
    const char *next = NULL;
    if (result == PARSE_DAMAGED || (result == PARSE_UNDECIDED && c->final))
        next = find_next_event(c->p, end_of(c), c->final);
    else if (result == PARSE_INCOMPLETE && c->final && r->n_endless++ < MAX_ENDLESS)
        next = find_same_event(c->p, end_of(c));
    if (!next) return;
    count_syntax(c, c->p, true);
    c->p = next;
}

/* ---- one thread ---- */

static status read_events(reader *r, cursor *c, error *err) {
    uint64_t offset = c->pc.offset + (uint64_t)(c->p - c->pc.p);
    parse_result result = event_parser_parse(c->s->parser, c->p, end_of(c), offset, &c->p);
    switch (result) {
    case PARSE_FAILED: FAIL_MEMORY(err);
    case PARSE_END: c->where = r->root_object ? AT_KEYS : AT_END; break;
    case PARSE_DAMAGED:
    case PARSE_UNDECIDED:
    case PARSE_INCOMPLETE: skip_event(r, c, result); break;
    case PARSE_CLEAN: break;
    }
    return OK;
}

static void read_end(reader *r, cursor *c) {
    const char *end = end_of(c), *rest = c->p;
    while (rest < end && (json_is_space(*rest) || *rest == '\0')) rest++; /* zeros: padding */
    if (rest < end && !r->has_garbage && !r->root_damaged) {
        r->has_garbage = true;
        part_lost(c->s->part, CAUSE_TRAILING_GARBAGE, c->pc.offset + (uint64_t)(rest - c->pc.p),
                  0);
    }
    c->p = end;
}

/* Reads as far as the bytes go; c->p is where they have to be read again with more after
 * them. */
static status read_bytes(reader *r, cursor *c, error *err) {
    for (;;) {
        const char *before = c->p;
        place place_before = c->where;
        if (c->where == AT_START) TRY(read_start(r, c, err));
        if (c->where == AT_KEYS) TRY(read_root(r, c, err));
        if (c->where == AT_EVENTS) TRY(read_events(r, c, err));
        if (c->where == AT_END) read_end(r, c);
        if (c->p == end_of(c) || (c->p == before && c->where == place_before)) return OK;
    }
}

static bool asked_to_stop(const reader *r) {
    return r->o->progress &&
           r->o->progress(r->o->progress_context, source_bytes_consumed(r->src),
                          source_file_bytes(r->src));
}

static status check_limits(const reader *r, uint64_t used_bytes, error *err) {
    if (asked_to_stop(r)) FAIL0(err, ERR_CANCELLED, NOPOS, MSG_CANCELLED);
    uint64_t limit = r->o->memory_limit_bytes;
    if (limit && used_bytes > limit)
        FAIL(err, ERR_LIMIT, NOPOS, MSG_MEMORY_LIMIT, arg_bytes("limit", sat_i64(limit)));
    return OK;
}

/* The end of the input: what is left over is read once more, now that nothing follows it, and
 * what is still not whole was cut. */
static status read_rest(reader *r, cursor *c, error *err) {
    c->final = true;
    if (c->pc.n) TRY(read_bytes(r, c, err));
    const char *end = end_of(c), *rest = c->p;
    while (rest < end && (*rest == ',' || json_is_space(*rest))) rest++;
    if (c->where == AT_EVENTS || c->where == AT_KEYS) {
        part *p = c->s->part;
        part_lost(p, CAUSE_TRUNCATED, c->pc.offset + (uint64_t)(c->p - c->pc.p), 0);
        if (rest < end && c->where == AT_EVENTS) part_count(p, 1, 1);
    }
    return OK;
}

/* No end in sight: gives the event up, or all there is when no other follows. */
static status give_up(reader *r, cursor *c, error *err) {
    c->final = true;
    status st = read_bytes(r, c, err);
    c->final = false;
    if (st == OK && (size_t)(end_of(c) - c->p) > MAX_EVENT_BYTES) {
        count_syntax(c, c->p, c->where == AT_EVENTS);
        c->p = end_of(c);
    }
    return st;
}

static status read_alone(reader *r, event_sink *s, error *err) {
    cursor c = {.s = s, .pc = {.p = ""}, .p = "", .where = AT_START};
    status st = OK;
    for (size_t keep = 0; st == OK; keep = (size_t)(end_of(&c) - c.p)) {
        piece next;
        size_t want = keep > r->piece_bytes ? keep : r->piece_bytes;
        /* An event longer than a piece: that piece and the next, twice as long, are in memory
         * together. */
        uint64_t two_pieces = keep > r->piece_bytes ? 2 * ((uint64_t)keep + want) : 0;
        st = check_limits(r, builder_size_bytes(r->b) + two_pieces, err);
        if (st == OK) st = source_next(r->src, want, keep, &next, err);
        if (st != OK) break;
        if (next.n == 0) {
            st = read_rest(r, &c, err);
            break;
        }
        source_release(r->src, &c.pc);
        c.pc = next;
        c.p = next.p;
        r->input_bytes = next.offset + next.n;
        st = read_bytes(r, &c, err);
        if (st == OK && (size_t)(end_of(&c) - c.p) > MAX_EVENT_BYTES) st = give_up(r, &c, err);
        if (st == OK) st = check_limits(r, builder_size_bytes(r->b), err);
    }
    source_release(r->src, &c.pc);
    return st;
}

/* ---- several threads ---- */

typedef struct {
    reader *r;
    pthread_mutex_t lock; /* guards the source, keep, first, done, status */
    event_sink *sinks[TRACE_EVENTS_MAX_THREADS];
    uint64_t part_bytes[TRACE_EVENTS_MAX_THREADS]; /* of each part, after its last piece */
    char key[MAX_KEY_BYTES]; /* first key of an event with its quotes: `"ph"` */
    size_t n_key, keep;
    bool first, done;
    atomic_bool again; /* a seam did not fit: read again with one thread */
    status status;
    error err;
} crew;

/* Is the key at p the first of an event after another event? The event's bracket, or NULL. */
static const char *border_at(const char *start, const char *p) {
    const char *q = p;
    while (q > start && json_is_space(q[-1])) q--;
    if (q == start || q[-1] != '{') return NULL;
    const char *bracket = --q;
    while (q > start && json_is_space(q[-1])) q--;
    if (q == start || q[-1] != ',') return NULL;
    q--;
    while (q > start && json_is_space(q[-1])) q--;
    return q > start && q[-1] == '}' ? bracket : NULL;
}

/* The last border in a piece, or NULL. */
static const char *last_border(const crew *c, const char *start, const char *end) {
    const char *p = end;
    while ((p = memrchr(start, c->key[1], (size_t)(p - start)))) {
        if (p > start && p[-1] == '"' && (size_t)(end - p) >= c->n_key &&
            memcmp(p - 1, c->key, c->n_key) == 0) {
            const char *bracket = border_at(start, p - 1);
            if (bracket) return bracket;
        }
    }
    return NULL;
}

/* Learns the first key of an event from the first piece. The list of devices before the events
 * has borders, too. */
static void learn_key(crew *c, const piece *pc) {
    size_t list = str_find(str_n(pc->p, pc->n), STR("\"traceEvents\""), 0);
    const char *start = pc->p + (list == SIZE_MAX ? 0 : list), *end = pc->p + pc->n;
    const char *border = event_parser_next_border(start, end);
    if (!border) return;
    const char *key = json_space(border + 1, end);
    const char *close = key < end ? json_string_end(key + 1, end) : NULL;
    if (!close || close - key + 1 >= MAX_KEY_BYTES || close - key < 2) return;
    c->n_key = (size_t)(close - key + 1);
    memcpy(c->key, key, c->n_key);
}

/* What all parts hold, up to the pieces being read just now. Under the lock. */
static uint64_t crew_bytes(const crew *c) {
    uint64_t n = intern_bytes(builder_strings(c->r->b));
    for (int i = 0; i < TRACE_EVENTS_MAX_THREADS; i++) n += c->part_bytes[i];
    return n;
}

/* The next piece, cut at a border. False when there is none. Under the lock. */
static bool next_piece(crew *c, piece *pc, const char **end, bool *first) {
    if (c->done || c->status != OK || atomic_load(&c->again)) return false;
    c->status = source_next(c->r->src, c->r->piece_bytes, c->keep, pc, &c->err);
    if (c->status != OK) return false;
    c->status = check_limits(c->r, crew_bytes(c), &c->err);
    if (c->status != OK) source_release(c->r->src, pc);
    if (c->status != OK || pc->n == 0) {
        /* The end fell on the end of a piece: what was kept back has no successor. */
        if (c->status == OK && c->keep) atomic_store(&c->again, true);
        c->done = true;
        return false;
    }
    *first = c->first;
    if (c->first) learn_key(c, pc);
    c->first = false;
    c->r->input_bytes = pc->offset + pc->n;
    *end = pc->p + pc->n;
    bool last = pc->n < c->keep + c->r->piece_bytes;
    c->keep = 0;
    c->done = last;
    if (!last) {
        const char *border = c->n_key ? last_border(c, pc->p, *end) : NULL;
        if (!border) { /* nothing to cut at: not worth several threads */
            atomic_store(&c->again, true);
            source_release(c->r->src, pc);
            return false;
        }
        c->keep = (size_t)(*end - border);
        *end = border;
    }
    return true;
}

/* Reads one piece; false when it did not end between two events. The last piece may end
 * anyhow. */
static bool read_piece(crew *c, event_sink *s, const piece *pc, const char *end, bool first) {
    bool last = end == pc->p + pc->n;
    const dialect *d = s->dialect;
    if (d->begin_piece && d->begin_piece(s) != OK) return false; /* the other path says why */
    if (!last && !first) {
        const char *stop;
        return event_parser_parse(s->parser, pc->p, end, pc->offset, &stop) == PARSE_CLEAN;
    }
    cursor at = {.s = s, .pc = *pc, .p = pc->p, .where = first ? AT_START : AT_EVENTS};
    at.pc.n = (size_t)(end - pc->p);
    if (last) return read_rest(c->r, &at, NULL) == OK; /* if not, the other path says why */
    return read_bytes(c->r, &at, NULL) == OK && at.where == AT_EVENTS &&
           json_space(at.p, end) == end;
}

static void work(void *context, size_t i, int worker) {
    crew *c = context;
    event_sink *s = c->sinks[i];
    (void)worker;
    for (;;) {
        piece pc;
        const char *end;
        bool first;
        pthread_mutex_lock(&c->lock);
        bool go = next_piece(c, &pc, &end, &first);
        /* The first piece holds the root keys; the others wait until they are known. */
        if (!go || !first) pthread_mutex_unlock(&c->lock);
        if (!go) return;
        if (!read_piece(c, s, &pc, end, first)) atomic_store(&c->again, true);
        if (!first) pthread_mutex_lock(&c->lock);
        c->part_bytes[i] = part_size_bytes(s->part);
        source_release(c->r->src, &pc);
        pthread_mutex_unlock(&c->lock);
    }
}

static status read_together(reader *r, int n, crew *c, error *err) {
    pthread_mutex_init(&c->lock, NULL);
    pool_for(r->o->pool, (size_t)n, work, c);
    pthread_mutex_destroy(&c->lock);
    if (c->status != OK && err) error_copy(err, &c->err);
    return c->status;
}

/* ---- the whole ---- */

static status finish_reading(reader *r, event_sink **sinks, int n, error *err) {
    TRY(r->dialect->finish(r->b, &r->root, sinks, n, err));
    for (int i = 0; i < n; i++) part_finish(sinks[i]->part);
    if (source_damaged(r->src))
        part_lost(sinks[0]->part, CAUSE_STREAM_DAMAGED, r->input_bytes, 0);
    builder_set_input_bytes(r->b, r->input_bytes);
    if (r->input_bytes == 0) FAIL0(err, ERR_FORMAT, 0, MSG_EMPTY_FILE);
    if (!r->has_events) FAIL0(err, ERR_FORMAT, NOPOS, MSG_NO_TRACE_EVENTS);
    return OK;
}

static status make_sinks(const reader *r, event_sink **sinks, int n, error *err) {
    uint64_t bytes = source_codec(r->src) == CODEC_NONE ? source_file_bytes(r->src) : 0;
    for (int i = 0; i < n; i++) {
        sinks[i] = event_sink_new(r->b, r->dialect);
        if (!sinks[i]) FAIL_MEMORY(err);
        if (r->dialect->expect) r->dialect->expect(sinks[i], bytes / (uint64_t)n);
    }
    return OK;
}

static void free_sinks(event_sink **sinks, int n) {
    for (int i = 0; i < n; i++) {
        event_sink_free(sinks[i]);
        sinks[i] = NULL;
    }
}

static status ingest_alone(reader *r, error *err) {
    event_sink *s = NULL;
    status st = make_sinks(r, &s, 1, err);
    if (st == OK) st = read_alone(r, s, err);
    if (st == OK) st = finish_reading(r, &s, 1, err);
    free_sinks(&s, 1);
    return st;
}

status ingest_trace_events(source *src, const ingest_options *o, builder *b, const dialect *d,
                           error *err) {
    reader r = {.b = b,
                .o = o,
                .src = src,
                .dialect = d,
                .piece_bytes = o->piece_bytes ? o->piece_bytes : PIECE_BYTES};
    int n = pool_threads(o->pool);
    if (n > TRACE_EVENTS_MAX_THREADS) n = TRACE_EVENTS_MAX_THREADS;
    if (n < 2 || !o->reopen || d->one_thread) return ingest_alone(&r, err);
    crew c = {.r = &r, .first = true};
    status st = make_sinks(&r, c.sinks, n, err);
    if (st == OK) st = read_together(&r, n, &c, err);
    bool again = atomic_load(&c.again);
    for (int i = 0; i < n && c.sinks[i]; i++)
        again |= part_loss_count(c.sinks[i]->part, CAUSE_BAD_SYNTAX) > 0;
    if (st == OK && !again) st = finish_reading(&r, c.sinks, n, err);
    free_sinks(c.sinks, n);
    if (st != OK || !again) return st;
    builder_clear(b);
    source *fresh;
    TRY(o->reopen(o->reopen_context, &fresh, err));
    reader alone = {.b = b, .o = o, .src = fresh, .piece_bytes = r.piece_bytes, .dialect = d};
    st = ingest_alone(&alone, err);
    source_close(fresh);
    return st;
}
