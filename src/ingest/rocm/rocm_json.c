/* rocm_json.c: rocprofv3's JSON, piece by piece.
 *
 *     {"rocprofiler-sdk-tool": [                    a process each
 *         {"metadata", "agents", "kernel_symbols",
 *          "strings": {"buffer_records": [{"kind", "operations"}]},
 *          "buffer_records": {"kernel_dispatch": […], "hip_api": […], "memory_copy": […], …}}]}
 *
 * The walk knows in which of these brackets it is and takes one step at a time: a symbol, a
 * record, a whole member of another kind, or a bracket. A step that meets the end of the piece
 * is taken again when more is there. So only the names of a process are held, however many
 * records it has; records that come before what names them are held until its end.
 *
 * A file that is cut is one in which a step can never be taken: what is whole before it is
 * read. */
#include "ingest/rocm/rocm_json_int.h"

enum { EVENTS_BETWEEN_LOOKS = 4096 };

#define PIECE_BYTES ((size_t)1 << 20) /* stays in the cache between reading and parsing */

/* Text to walk through. */
typedef struct {
    const char *p, *end;
    bool last;  /* nothing comes after the end */
    bool stuck; /* the next step needs more than there is */
} walk;

bool rocm_json_head(str head) {
    if (!head.n) return false;
    const char *end = head.p + head.n, *p = json_space(head.p, end);
    str s = str_n(p, (size_t)(end - p) < 256 ? (size_t)(end - p) : 256);
    return s.n && *s.p == '{' && str_find(s, STR("\"rocprofiler-sdk-tool\""), 0) != SIZE_MAX;
}

/* ---- steps ---- */

/* The next member: its value begins at *at. False: there is none, or not yet. */
static bool next_value(walk *w, bool object, str *key, const char **at) {
    json_iter it = {w->p, w->end, object};
    w->stuck = !json_key(&it, key);
    *at = it.p;
    return !w->stuck;
}

/* Leaves the brackets, when the next byte is the one that closes them. */
static bool leave(rocm_json *x, walk *w, const char *at, char bracket, rocm_place outside) {
    if (outside == x->place || at >= w->end || *at != bracket) return false;
    w->p = at + 1;
    w->stuck = false;
    x->place = outside;
    return true;
}

static void enter(rocm_json *x, walk *w, const char *at, rocm_place inside) {
    w->p = at + 1;
    x->place = inside;
}

/* The whole value at `at`, which the walk goes past; STR_NONE when it has no end so far. A bare
 * word at the end of a piece may go on in the next. */
static str pass(walk *w, const char *at) {
    const char *stop = json_value_end(at, w->end);
    w->stuck = !stop || (stop == w->end && !w->last);
    if (w->stuck) return STR_NONE;
    w->p = stop;
    return str_n(at, (size_t)(stop - at));
}

/* A step in a bracket that has something at `at`; in an object it has a key. */
typedef status step_function(rocm_json *x, walk *w, str key, const char *at, error *err);

static status step_start(rocm_json *x, walk *w, str key, const char *at, error *err) {
    (void)key;
    (void)err;
    w->stuck = *at != '{';
    if (!w->stuck) enter(x, w, at, IN_FILE);
    return OK;
}

static status step_file(rocm_json *x, walk *w, str key, const char *at, error *err) {
    (void)err;
    bool ours = str_eq(key, STR("rocprofiler-sdk-tool"));
    if (ours && *at == '[')
        enter(x, w, at, IN_PROCESSES);
    else if (ours)
        w->stuck = true;
    else
        (void)pass(w, at);
    return OK;
}

static status step_processes(rocm_json *x, walk *w, str key, const char *at, error *err) {
    (void)key;
    (void)err;
    w->stuck = *at != '{';
    if (w->stuck) return OK;
    enter(x, w, at, IN_PROCESS);
    x->pid = x->number;
    x->r.n_gpus = 0;
    return OK;
}

/* Records that nothing names yet; of a file that is cut, as far as they go. */
static status hold_records(rocm_json *x, walk *w, const char *at, error *err) {
    str records = pass(w, at);
    if (w->stuck && w->last) records = str_n(at, (size_t)(w->end - at));
    buf_clear(&x->held);
    buf_add_str(&x->held, records);
    buf_add_repeat(&x->held, 0, SOURCE_PAD);
    if (!buf_ok(&x->held)) FAIL_MEMORY(err);
    x->held.n = records.n;
    return OK;
}

static status take_metadata(rocm_json *x, str metadata, error *err) {
    str key, command;
    x->pid = rocm_json_number(metadata, STR("pid"), x->number);
    json_iter it = json_open(json_member(metadata, STR("command")));
    if (json_next(&it, &key, &command) &&
        rocm_name_process(&x->r, x->pid, rocm_json_decoded(x, command)) != OK)
        FAIL_MEMORY(err);
    str host = json_member(json_member(metadata, STR("node")), STR("hostname"));
    if (!host.n || x->number) return OK;
    return rocm_put_fact(&x->r, "host_name", rocm_json_decoded(x, host), err);
}

/* A member of a process that is taken as a whole. */
static status take_member(rocm_json *x, str key, str value, error *err) {
    if (str_eq(key, STR("metadata"))) return take_metadata(x, value, err);
    if (str_eq(key, STR("agents"))) {
        x->has_agents = true;
        return rocm_json_agents(x, value, err);
    }
    if (str_eq(key, STR("kernel_symbols"))) x->has_symbols = true;
    if (!str_eq(key, STR("strings"))) return OK;
    x->has_strings = true;
    if (rocm_json_strings(x, value) != OK || x->r.failed) FAIL_MEMORY(err);
    return OK;
}

static status step_process(rocm_json *x, walk *w, str key, const char *at, error *err) {
    if (*at == '[' && str_eq(key, STR("kernel_symbols"))) {
        x->has_symbols = true;
        enter(x, w, at, IN_SYMBOLS);
        return OK;
    }
    if (*at == '{' && str_eq(key, STR("buffer_records"))) {
        bool named = x->has_agents && x->has_symbols && x->has_strings;
        if (!named) return hold_records(x, w, at, err);
        enter(x, w, at, IN_LISTS);
        return OK;
    }
    str value = pass(w, at);
    return w->stuck ? OK : take_member(x, key, value, err);
}

static status step_symbols(rocm_json *x, walk *w, str key, const char *at, error *err) {
    (void)key;
    if (*at != '{') {
        (void)pass(w, at);
        return OK;
    }
    const char *stop = rocm_json_symbol(x, at, w->end);
    if (x->r.failed) FAIL_MEMORY(err);
    w->stuck = !stop;
    if (stop) w->p = stop;
    return OK;
}

static status step_lists(rocm_json *x, walk *w, str list, const char *at, error *err) {
    (void)err;
    if (*at != '[') {
        (void)pass(w, at);
        return OK;
    }
    x->take = rocm_json_taker(list);
    x->named = false;
    x->layout.n = 0;
    buf_clear(&x->list);
    buf_add_str(&x->list, list);
    enter(x, w, at, IN_LIST);
    return OK;
}

static status look_around(rocm_json *x, error *err) {
    uint64_t limit = x->r.o->memory_limit_bytes;
    if (limit && builder_size_bytes(x->r.b) + x->held.n + x->names.used_bytes > limit)
        FAIL(err, ERR_LIMIT, NOPOS, MSG_MEMORY_LIMIT, arg_bytes("limit", sat_i64(limit)));
    return OK;
}

/* A list that nothing here reads is named when it has records. */
static status skip_record(rocm_json *x, walk *w, const char *at, error *err) {
    if (!x->named && x->unread.n) buf_add_cstr(&x->unread, ", ");
    if (!x->named) buf_add_str(&x->unread, buf_str(&x->list));
    x->named = true;
    if (!buf_ok(&x->unread) || !buf_ok(&x->list)) FAIL_MEMORY(err);
    (void)pass(w, at);
    return OK;
}

static status step_list(rocm_json *x, walk *w, str key, const char *at, error *err) {
    (void)key;
    rocm_record record;
    if (!x->take) return skip_record(x, w, at, err);
    const char *stop = *at == '{' ? rocm_read_record(at, w->end, &x->layout, &record) : NULL;
    if (!stop) { /* it is no record: over it */
        (void)pass(w, at);
        return OK;
    }
    w->p = stop;
    if (x->take(x, &record) != OK || x->r.failed) FAIL_MEMORY(err);
    return x->r.n_events % EVENTS_BETWEEN_LOOKS ? OK : look_around(x, err);
}

/* Each place, and where its closing bracket leads; stay: what follows is not ours. */
static const struct {
    step_function *step;
    bool object;
    rocm_place outside;
} PLACES[N_PLACES] = {
    [AT_START] = {step_start, false, AT_START},
    [IN_FILE] = {step_file, true, IN_FILE},
    [IN_PROCESSES] = {step_processes, false, AT_END},
    [IN_PROCESS] = {step_process, true, IN_PROCESSES},
    [IN_SYMBOLS] = {step_symbols, false, IN_PROCESS},
    [IN_LISTS] = {step_lists, true, IN_PROCESS},
    [IN_LIST] = {step_list, false, IN_LISTS},
};

static status end_process(rocm_json *x, error *err);

static status take_step(rocm_json *x, walk *w, error *err) {
    rocm_place here = x->place;
    str key;
    const char *at;
    if (next_value(w, PLACES[here].object, &key, &at))
        return PLACES[here].step(x, w, key, at, err);
    bool left = leave(x, w, at, PLACES[here].object ? '}' : ']', PLACES[here].outside);
    return left && here == IN_PROCESS ? end_process(x, err) : OK;
}

/* As far as it goes. */
static status walk_on(rocm_json *x, walk *w, error *err) {
    x->layout.n = 0; /* it remembers texts of the piece before */
    while (!w->stuck && x->place != AT_END) TRY(take_step(x, w, err));
    if (x->place == AT_END) w->p = w->end;
    return OK;
}

/* ---- processes ---- */

static status read_held(rocm_json *x, error *err) {
    walk w = {x->held.p + 1, x->held.p + x->held.n, true, false};
    rocm_place outside = x->place;
    x->place = IN_LISTS;
    x->layout.n = 0;
    while (!w.stuck && x->place != IN_PROCESS) TRY(take_step(x, &w, err));
    x->place = outside;
    x->layout.n = 0;
    return OK;
}

static status end_process(rocm_json *x, error *err) {
    if (x->held.n) TRY(read_held(x, err));
    if (!buf_ok(&x->unread)) FAIL_MEMORY(err);
    if (x->unread.n) TRY(rocm_put_fact(&x->r, "not_read", buf_str(&x->unread), err));
    rocm_json_forget(x);
    buf_clear(&x->held);
    buf_clear(&x->unread);
    x->has_agents = x->has_symbols = x->has_strings = false;
    x->number++;
    return OK;
}

/* ---- pieces ---- */

/* A value that is longer than a piece needs more than one: each time twice as much. */
static status next_piece(const rocm_json *x, source *src, size_t keep, piece *out, error *err) {
    const ingest_options *o = x->r.o;
    size_t want = o->piece_bytes ? o->piece_bytes : PIECE_BYTES;
    if (o->progress &&
        o->progress(o->progress_context, source_bytes_consumed(src), source_file_bytes(src)))
        FAIL0(err, ERR_CANCELLED, NOPOS, MSG_CANCELLED);
    if (o->memory_limit_bytes && keep > o->memory_limit_bytes / 2)
        FAIL(err, ERR_LIMIT, NOPOS, MSG_MEMORY_LIMIT,
             arg_bytes("limit", sat_i64(o->memory_limit_bytes)));
    return source_next(src, keep > want ? keep : want, keep, out, err);
}

static status read_pieces(rocm_json *x, source *src, uint64_t *n_bytes, error *err) {
    piece now = {0};
    walk w = {0};
    status st = OK;
    while (st == OK && !w.last) {
        piece next = {0};
        size_t keep = (size_t)(w.end - w.p);
        st = next_piece(x, src, keep, &next, err);
        if (st != OK) break;
        if (next.n) {
            source_release(src, &now);
            now = next;
            w = (walk){now.p, now.p + now.n, false, false};
            *n_bytes = now.offset + now.n;
        }
        w.last = next.n == 0;
        w.stuck = false;
        st = now.n ? walk_on(x, &w, err) : OK;
    }
    if (st == OK && x->place > IN_PROCESSES && x->place < AT_END) st = end_process(x, err);
    source_release(src, &now);
    return st;
}

static status read_all(rocm_json *x, source *src, error *err) {
    uint64_t n = 0;
    TRY(read_pieces(x, src, &n, err));
    if (n == 0) FAIL0(err, ERR_FORMAT, 0, MSG_EMPTY_FILE);
    builder_set_input_bytes(x->r.b, n);
    if (source_damaged(src)) part_lost(x->r.part, CAUSE_STREAM_DAMAGED, n, 0);
    if (x->place != AT_END) part_lost(x->r.part, CAUSE_TRUNCATED, n, 0);
    return OK;
}

status ingest_rocm_json(source *src, const ingest_options *o, builder *b, error *err) {
    rocm_json x = {.r = rocm_begin(b, o)};
    if (!x.r.part) FAIL_MEMORY(err);
    arena_init(&x.names, 0);
    rocm_json_forget(&x);
    status st = read_all(&x, src, err);
    part_finish(x.r.part);
    builder_set_format(b, "rocprof");
    rocm_json_forget(&x);
    rocm_end(&x.r);
    buf_fini(&x.held);
    buf_fini(&x.list);
    buf_fini(&x.text);
    buf_fini(&x.unread);
    return st;
}
