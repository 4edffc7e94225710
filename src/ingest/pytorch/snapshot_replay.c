/* snapshot_replay.c: the history of one device's allocator, played again.
 *
 * A snapshot has the state at its end (segments with their blocks) and a history that a ring
 * buffer may have cut at its start. What was there at the start is found by going through the
 * history once:
 *
 *     released in the history, never allocated in it     ┐ alive before the history begins:
 *     alive at the end, never allocated in it            ┘ the first level of the totals
 *     reserved at the end - segments made + given back     reserved when the history begins
 *
 * Then the rows are written with running totals. A block of the second sort gets a separate row
 * at the start (MEMORY_EXISTING), since its size is known and often its call stack; the last of
 * these rows carries the totals. A block of the first sort shows as a release without an
 * allocation.
 *
 * Sizes are what the allocator gave, as everywhere else (torch.cuda.memory_allocated, the
 * memory events of Kineto). The final state has them; the history has what the program asked
 * for, which the allocator rounds up to a multiple of BLOCK, or further where the rest of a
 * segment was too small to be of use: that much is not known of a block that was released
 * again.
 *
 * A block counts as released when the release is asked for: what it still waits for (other
 * streams) is `free_completed`, which is read instead only where the recording left out the
 * requests. Where history and final state disagree, each block is counted as
 * CAUSE_MEMORY_STATE. */
#include "base/num.h"
#include "ingest/pytorch/snapshot_int.h"
#include "ingest/pytorch/snapshot_segments.h"

enum { BLOCK = 512 }; /* bytes; the allocator of PyTorch gives multiples of it */

/* A block of the final state: what it takes, and the event that allocated it (0: none). */
typedef struct {
    int64_t bytes;
    uint32_t allocation;
} final_block;

/* What is known of an address; the value of the map. */
enum {
    ADDRESS_ALIVE = 1,
    ADDRESS_RELEASED,
    ADDRESS_CONFIRMED, /* alive, and the final state says so */
    ADDRESS_EXISTING,  /* in the final state only */
    ADDRESS_KNOWN,     /* and its row has been written */
};

/* One event of the history. */
typedef struct {
    pickle_value dict, action;
    uint64_t address;
    int64_t bytes, time_ns, stream;
    uint32_t number; /* from 1 on */
    uint8_t kind;    /* memory_kind; 0: another */
} event;

typedef struct {
    snapshot *s;
    const snapshot_device *d;
    bool frees_complete; /* no release is asked for in this history: completions are releases */
    map addresses;       /* → ADDRESS_* */
    map final_at;        /* address → place in final */
    buf final;           /* final_block */
    uint32_t number;     /* of the current event */
    int64_t released_before;     /* bytes alive at the start, of blocks released since */
    int64_t n_alive;             /* blocks alive after the history, not confirmed */
    int64_t n_existing;          /* blocks alive at the start, not reported yet */
    int64_t allocated, reserved; /* running totals */
    bool has_reserved;
    int64_t start_ns, time_ns; /* of the first and of the current event */
    pickle_value segment;      /* whose blocks are visited */
    segment_search before;     /* the segments there were at the start */
    int64_t stream;            /* of the first event or segment */
} replay;

/* ---- reading ----------------------------------------------------------------------------- */

static uint8_t kind_of(const replay *r, pickle_value action) {
    const snapshot *s = r->s;
    if (snapshot_is(s, action, WORD_alloc)) return MEMORY_ALLOC;
    if (snapshot_is(s, action, WORD_free_requested) || snapshot_is(s, action, WORD_free))
        return MEMORY_FREE;
    if (snapshot_is(s, action, WORD_free_completed)) return r->frees_complete ? MEMORY_FREE : 0;
    if (snapshot_is(s, action, WORD_segment_alloc) || snapshot_is(s, action, WORD_segment_map))
        return MEMORY_SEGMENT_ALLOC;
    if (snapshot_is(s, action, WORD_segment_free) || snapshot_is(s, action, WORD_segment_unmap))
        return MEMORY_SEGMENT_FREE;
    return snapshot_is(s, action, WORD_oom) ? MEMORY_OOM : 0;
}

/* False when it is not an event, or one without what its kind needs. Times never go back: the
 * order of the history is the truth. */
static bool read_event(replay *r, pickle_value dict, event *e) {
    const snapshot *s = r->s;
    *e = (event){
        .dict = dict, .action = snapshot_get(s, dict, WORD_action), .number = ++r->number};
    if (pickle_kind_of(e->action) != PICKLE_KIND_TEXT) return false;
    e->kind = kind_of(r, e->action);
    e->bytes = snapshot_int(s, dict, WORD_size, -1);
    e->stream = snapshot_int(s, dict, WORD_stream, 0);
    bool placed = pickle_u64(s->p, snapshot_get(s, dict, WORD_addr), &e->address);
    if (s->base_us == ABSENT_I64)
        r->time_ns = add_i64(r->time_ns, 1000);
    else
        r->time_ns = max_i64(r->time_ns, snapshot_time(s, dict, r->time_ns));
    e->time_ns = r->time_ns;
    return !e->kind || (e->bytes >= 0 && (placed || e->kind == MEMORY_OOM));
}

static bool next_event(replay *r, pickle_iter *it, event *e, bool *whole) {
    pickle_value dict;
    if (!pickle_next(r->s->p, it, &dict)) return false;
    *whole = read_event(r, dict, e);
    return true;
}

/* Snapshots before PyTorch 2.1 keep what was asked for and its stack in a list, newest
 * first. */
static pickle_value block_history(const snapshot *s, pickle_value block) {
    enum { MOST_KEYS = 256 }; /* it has five; other blocks may have the same list */
    pickle_value first = PICKLE_ABSENT;
    pickle_iter it = pickle_items(s->p, snapshot_get(s, block, WORD_history));
    (void)!pickle_next(s->p, &it, &first);
    return pickle_count(s->p, first) <= MOST_KEYS ? first : PICKLE_ABSENT;
}

static int64_t round_up(int64_t bytes) {
    if (bytes > INT64_MAX - BLOCK) return bytes;
    return max_i64(BLOCK, (bytes + BLOCK - 1) / BLOCK * BLOCK);
}

static int64_t block_bytes(const snapshot *s, pickle_value block) {
    return max_i64(0, snapshot_int(s, block, WORD_size, 0));
}

static final_block *final_of(const replay *r, uint64_t address) {
    uint32_t at = map_get(&r->final_at, address);
    return at == MAP_NONE ? NULL : (final_block *)(void *)r->final.p + at;
}

/* Calls visit for each block of the final state that is allocated. Old snapshots have no
 * address in a block: the blocks of a segment lie one after the other. */
typedef status (*block_visit)(replay *r, pickle_value block, uint64_t address, error *err);
static status visit_blocks(replay *r, block_visit visit, error *err) {
    const snapshot *s = r->s;
    for (size_t i = 0; i < r->d->n_segments; i++) {
        pickle_value block;
        uint64_t address = 0;
        r->segment = r->d->segments[i];
        (void)!pickle_u64(s->p, snapshot_get(s, r->segment, WORD_address), &address);
        for (pickle_iter it = pickle_items(s->p, snapshot_get(s, r->segment, WORD_blocks));
             pickle_next(s->p, &it, &block);) {
            (void)!pickle_u64(s->p, snapshot_get(s, block, WORD_address), &address);
            if (snapshot_is(s, snapshot_get(s, block, WORD_state), WORD_active_allocated))
                TRY(visit(r, block, address, err));
            address += (uint64_t)max_i64(0, snapshot_int(s, block, WORD_size, 0));
        }
    }
    return OK;
}

/* ---- what was there at the start --------------------------------------------------------- */

static void disagree(replay *r, int64_t count) {
    for (int64_t i = 0; i < count; i++) part_lost(r->s->part, CAUSE_MEMORY_STATE, NOPOS, 0);
}

static status survey_event(replay *r, const event *e, error *err) {
    if (e->kind != MEMORY_ALLOC && e->kind != MEMORY_FREE) return OK;
    uint32_t *known = map_at(&r->addresses, e->address);
    if (!known) FAIL_MEMORY(err);
    bool alive = *known == ADDRESS_ALIVE;
    if (e->kind == MEMORY_ALLOC) {
        final_block *block = final_of(r, e->address);
        if (block) block->allocation = e->number;
        if (alive) disagree(r, 1); /* twice, and no release between */
        r->n_alive += !alive;
        *known = ADDRESS_ALIVE;
    } else {
        if (!alive) r->released_before = add_i64(r->released_before, round_up(e->bytes));
        r->n_alive -= alive;
        *known = ADDRESS_RELEASED;
    }
    return OK;
}

static status survey_block(replay *r, pickle_value block, uint64_t address, error *err) {
    (void)block;
    uint32_t *known = map_at(&r->addresses, address);
    if (!known) FAIL_MEMORY(err);
    switch (*known) {
    case ADDRESS_ALIVE:
        *known = ADDRESS_CONFIRMED;
        r->n_alive--;
        break;
    case MAP_NONE:
        *known = ADDRESS_EXISTING;
        r->n_existing++;
        break;
    default: disagree(r, 1); break; /* released, or a second block at this address */
    }
    return OK;
}

static status list_block(replay *r, pickle_value block, uint64_t address, error *err) {
    uint32_t *at = map_at(&r->final_at, address);
    if (!at) FAIL_MEMORY(err);
    if (*at != MAP_NONE) return OK; /* a second block at this address */
    final_block one = {.bytes = block_bytes(r->s, block)};
    *at = (uint32_t)(r->final.n / sizeof one);
    buf_add(&r->final, &one, sizeof one);
    if (!buf_ok(&r->final)) FAIL_MEMORY(err);
    return OK;
}

/* What the allocator gave for a block of the history. */
static int64_t given_bytes(const replay *r, const event *e) {
    const final_block *block = e->kind == MEMORY_ALLOC ? final_of(r, e->address) : NULL;
    int64_t least = round_up(e->bytes);
    bool is_last = block && block->allocation == e->number &&
                   map_get(&r->addresses, e->address) == ADDRESS_CONFIRMED;
    return is_last ? max_i64(block->bytes, least) : least;
}

static void rewind_history(replay *r) {
    r->number = 0;
    r->time_ns = r->s->base_us == ABSENT_I64 ? -1000 : 0;
}

static status survey_segment(replay *r, const event *e, error *err) {
    segment_range range = {e->address, e->bytes};
    if (e->kind == MEMORY_SEGMENT_ALLOC) return segment_made(&r->before, range, err);
    return e->kind == MEMORY_SEGMENT_FREE ? segment_released(&r->before, range, err) : OK;
}

/* What the segments of the end hold in all. */
static status survey_end(replay *r, int64_t *final, error *err) {
    const snapshot *s = r->s;
    for (size_t i = 0; i < r->d->n_segments; i++) {
        int64_t size = snapshot_int(s, r->d->segments[i], WORD_total_size, 0);
        segment_range range = {0, max_i64(0, size)};
        *final = add_i64(*final, range.bytes);
        if (r->stream == ABSENT_I64)
            r->stream = snapshot_int(s, r->d->segments[i], WORD_stream, 0);
        if (pickle_u64(s->p, snapshot_get(s, r->d->segments[i], WORD_address), &range.address))
            TRY(segment_released(&r->before, range, err));
    }
    return segment_search_end(&r->before, err);
}

/* The first pass over the history: totals at its start. */
static status survey(replay *r, error *err) {
    int64_t change = 0, lowest = 0, final = 0;
    bool first = true, whole;
    event e;
    TRY(visit_blocks(r, list_block, err));
    rewind_history(r);
    for (pickle_iter it = pickle_items(r->s->p, r->d->history);
         next_event(r, &it, &e, &whole);) {
        if (!whole) continue;
        if (first) {
            r->start_ns = e.time_ns;
            r->stream = e.stream;
        }
        first = false;
        TRY(survey_event(r, &e, err));
        TRY(survey_segment(r, &e, err));
        if (e.kind == MEMORY_SEGMENT_ALLOC) change = add_i64(change, e.bytes);
        if (e.kind == MEMORY_SEGMENT_FREE) change = sub_i64(change, e.bytes);
        if (e.kind == MEMORY_SEGMENT_ALLOC || e.kind == MEMORY_SEGMENT_FREE)
            r->has_reserved = true;
        lowest = min_i64(lowest, change);
    }
    TRY(visit_blocks(r, survey_block, err));
    /* The end of a cut file is not the moment of its segments. */
    if (r->d->has_segments && !pickle_is_cut(r->s->p)) disagree(r, r->n_alive);
    TRY(survey_end(r, &final, err));
    r->has_reserved |= r->d->has_segments;
    r->allocated = r->released_before;
    r->reserved = max_i64(sub_i64(final, change), sub_i64(0, lowest));
    return OK;
}

/* ---- rows -------------------------------------------------------------------------------- */

static status check_limit(const snapshot *s, error *err) {
    enum { EVERY = 1 << 16 };
    uint64_t limit = s->o->memory_limit_bytes;
    if (limit == 0 || s->tie % EVERY) return OK;
    if (builder_size_bytes(s->b) + pickle_size_bytes(s->p) > limit)
        FAIL(err, ERR_LIMIT, NOPOS, MSG_MEMORY_LIMIT, arg_bytes("limit", sat_i64(limit)));
    return OK;
}

/* The arguments being put together, as Kineto writes those of its memory events. */
typedef struct {
    snapshot *s;
    raw_value values[8];
    size_t n;
} arguments;

static status add_argument(arguments *a, const char *key, uint8_t tag, int64_t v, error *err) {
    uint32_t id = intern_add(builder_strings(a->s->b), str_of(key));
    uint32_t last = a->n ? a->values[a->n - 1].place : 0;
    uint32_t place = id == UINT32_MAX ? 0 : builder_shape(a->s->b, last, id);
    if (!place) FAIL_MEMORY(err);
    a->values[a->n++] = (raw_value){.place = place, .tag = tag, .v = v};
    return OK;
}

/* A text worth keeping: PyTorch writes "N/A" or nothing where there is none. */
static status add_text_argument(arguments *a, pickle_value dict, int word, const char *key,
                                error *err) {
    uint32_t id = 0;
    str text;
    pickle_value v = snapshot_get(a->s, dict, word);
    if (!pickle_text(a->s->p, v, &text) || !text.n || str_eq(text, STR("N/A"))) return OK;
    TRY(snapshot_string(a->s, v, &id, err));
    return add_argument(a, key, VALUE_STRING, id, err);
}

/* What no column holds; with it everything a record of arguments is expected to hold. */
static status make_args(snapshot *s, const event *e, raw_memory *m, error *err) {
    arguments a = {.s = s};
    int64_t left = snapshot_int(s, e->dict, WORD_device_free, -1);
    if (left >= 0) TRY(add_argument(&a, "device_free", VALUE_INT, left, err));
    TRY(add_text_argument(&a, e->dict, WORD_user_metadata, "user_metadata", err));
    TRY(add_text_argument(&a, e->dict, WORD_compile_context, "compile_context", err));
    if (!a.n) return OK;
    TRY(add_argument(&a, "Device Type", VALUE_INT, m->device_type, err));
    TRY(add_argument(&a, "Device Id", VALUE_INT, m->device, err));
    if (m->address && m->address <= INT64_MAX)
        TRY(add_argument(&a, "Addr", VALUE_INT, (int64_t)m->address, err));
    TRY(add_argument(&a, "Bytes", VALUE_INT, m->bytes, err));
    TRY(add_argument(&a, "Total Allocated", VALUE_INT, m->allocated, err));
    m->args = part_args(s->part, a.values, a.n);
    return OK;
}

static uint32_t track_of(const replay *r, int64_t stream) {
    return part_track(r->s->part, (ident){.v = r->d->id}, (ident){.v = stream});
}

/* m holds what is the event's own. */
static status add_row(replay *r, raw_memory *m, pickle_value frames, error *err) {
    snapshot *s = r->s;
    bool is_total = !r->n_existing && m->kind != MEMORY_SEGMENT_EXISTING;
    m->allocated = is_total ? r->allocated : ABSENT_I64;
    m->reserved = is_total && r->has_reserved ? r->reserved : ABSENT_I64;
    m->device = r->d->id;
    m->device_type = DEVICE_CUDA;
    m->tie = ++s->tie;
    TRY(snapshot_stack(s, frames, &m->frame, err));
    TRY(check_limit(s, err));
    if (m->track == UINT32_MAX || part_memory(s->part, m) != OK) FAIL_MEMORY(err);
    return OK;
}

static status tell_existing(replay *r, pickle_value block, uint64_t address, error *err) {
    const snapshot *s = r->s;
    uint32_t *known = map_at(&r->addresses, address);
    if (!known) FAIL_MEMORY(err);
    if (*known != ADDRESS_EXISTING) return OK;
    *known = ADDRESS_KNOWN;
    r->n_existing--;
    pickle_value frames = snapshot_get(s, block, WORD_frames);
    if (frames == PICKLE_ABSENT) frames = snapshot_get(s, block_history(s, block), WORD_frames);
    raw_memory m = {.time = r->start_ns,
                    .address = address,
                    .bytes = block_bytes(s, block),
                    .kind = MEMORY_EXISTING};
    m.track = track_of(r, snapshot_int(s, r->segment, WORD_stream, 0));
    r->allocated = add_i64(r->allocated, m.bytes);
    return add_row(r, &m, frames, err);
}

/* The segments of the start, where the end is known. */
static status tell_segments(replay *r, error *err) {
    segment_range range;
    if (!r->d->has_segments || pickle_is_cut(r->s->p)) return OK;
    while (segment_next(&r->before, &range)) {
        raw_memory m = {.time = r->start_ns,
                        .address = range.address,
                        .bytes = range.bytes,
                        .kind = MEMORY_SEGMENT_EXISTING,
                        .track = track_of(r, r->stream)};
        TRY(add_row(r, &m, PICKLE_ABSENT, err));
    }
    return OK;
}

/* Actions of no other use (a snapshot was taken, a mark of the user's) are points in time. */
static status add_point(replay *r, const event *e, error *err) {
    snapshot *s = r->s;
    raw_instant i = {.time = e->time_ns, .track = track_of(r, e->stream), .scope = 't'};
    str mark;
    pickle_value name = snapshot_get(s, e->dict, WORD_user_metadata);
    if (!pickle_text(s->p, name, &mark) || !mark.n) name = e->action;
    TRY(snapshot_string(s, name, &i.name, err));
    if (i.track == UINT32_MAX || part_instant(s->part, &i) != OK) FAIL_MEMORY(err);
    return OK;
}

static status tell_event(replay *r, const event *e, error *err) {
    if (!e->kind) {
        bool half = snapshot_is(r->s, e->action, WORD_free_completed);
        return half ? OK : add_point(r, e, err);
    }
    raw_memory m = {.time = e->time_ns,
                    .address = e->kind == MEMORY_OOM ? 0 : e->address,
                    .bytes = e->bytes,
                    .kind = e->kind,
                    .track = track_of(r, e->stream)};
    if (e->kind <= MEMORY_FREE) m.bytes = given_bytes(r, e);
    if (e->kind == MEMORY_FREE || e->kind == MEMORY_SEGMENT_FREE) m.bytes = sub_i64(0, m.bytes);
    if (e->kind <= MEMORY_FREE) r->allocated = add_i64(r->allocated, m.bytes);
    if (e->kind == MEMORY_SEGMENT_ALLOC || e->kind == MEMORY_SEGMENT_FREE)
        r->reserved = add_i64(r->reserved, m.bytes);
    TRY(make_args(r->s, e, &m, err));
    return add_row(r, &m, snapshot_get(r->s, e->dict, WORD_frames), err);
}

static status tell(replay *r, error *err) {
    event e;
    bool whole;
    TRY(tell_segments(r, err));
    TRY(visit_blocks(r, tell_existing, err));
    rewind_history(r);
    for (pickle_iter it = pickle_items(r->s->p, r->d->history);
         next_event(r, &it, &e, &whole);) {
        part_count(r->s->part, 1, !whole);
        if (whole)
            TRY(tell_event(r, &e, err));
        else
            part_lost(r->s->part, CAUSE_UNKNOWN_PHASE, NOPOS, 0);
    }
    return OK;
}

static bool asks_for_releases(const snapshot *s, pickle_value history) {
    pickle_value dict;
    for (pickle_iter it = pickle_items(s->p, history); pickle_next(s->p, &it, &dict);) {
        pickle_value action = snapshot_get(s, dict, WORD_action);
        if (snapshot_is(s, action, WORD_free_requested) || snapshot_is(s, action, WORD_free))
            return true;
    }
    return false;
}

status snapshot_replay(snapshot *s, const snapshot_device *d, error *err) {
    replay r = {.s = s,
                .d = d,
                .frees_complete = !asks_for_releases(s, d->history),
                .stream = ABSENT_I64};
    segment_search_init(&r.before);
    status st = survey(&r, err);
    if (st == OK) st = tell(&r, err);
    map_fini(&r.addresses);
    map_fini(&r.final_at);
    buf_fini(&r.final);
    segment_search_fini(&r.before);
    return st;
}
