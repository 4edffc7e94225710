/* memory_snapshot.c: a memory snapshot of PyTorch as a trace.
 *
 *     { segments: [ {device, address, total_size,
 *                    blocks: [{size, requested_size, state, frames}]} ],
 *       device_traces: [ per device: [ {action, addr, size, stream, time_us, frames} ] ],
 *       external_annotations: [ {device, time_us, name, stage} ], allocator_settings: {…} }
 *
 * The pickle is read as a whole (pickle.h: it executes nothing), each device's history is
 * replayed into memory events (snapshot_replay.c), call stacks become frames
 * (snapshot_stack.c). Annotations become slices, so that a step of the profiler can be chosen
 * here, too. Settings of the allocator and the state at the end are metadata.
 *
 * A history without times gives its events a microsecond each, in their order; the metadata
 * says so. The old form is the list of segments alone: then all there is to tell is what was
 * alive. */
#include "ingest/pytorch/memory_snapshot.h"

#include "base/bisect.h"
#include "base/num.h"
#include "base/sort.h"
#include "ingest/pytorch/snapshot_int.h"

/* ---- values ------------------------------------------------------------------------------ */

int64_t snapshot_int(const snapshot *s, pickle_value d, int word, int64_t otherwise) {
    int64_t v = otherwise;
    (void)!pickle_i64(s->p, snapshot_get(s, d, word), &v);
    return v;
}

int64_t snapshot_time(const snapshot *s, pickle_value d, int64_t otherwise) {
    const int64_t most = ((int64_t)1 << 61) / 1000;
    int64_t us;
    if (s->base_us == ABSENT_I64 || !pickle_i64(s->p, snapshot_get(s, d, WORD_time_us), &us))
        return otherwise;
    return min_i64(max_i64(0, sub_i64(us, s->base_us)), most) * 1000;
}

status snapshot_string(snapshot *s, pickle_value text, uint32_t *out, error *err) {
    str bytes;
    uint32_t id = 0;
    if (pickle_text(s->p, text, &bytes)) id = intern_add(builder_strings(s->b), bytes);
    if (id == UINT32_MAX) FAIL_MEMORY(err);
    *out = id;
    return OK;
}

/* The earliest time of a list of dictionaries. */
static void find_base(snapshot *s, pickle_value list) {
    pickle_value dict;
    for (pickle_iter it = pickle_items(s->p, list); pickle_next(s->p, &it, &dict);) {
        int64_t us = snapshot_int(s, dict, WORD_time_us, ABSENT_I64);
        if (us != ABSENT_I64 && (s->base_us == ABSENT_I64 || us < s->base_us)) s->base_us = us;
    }
}

/* ---- annotations ------------------------------------------------------------------------- */

typedef struct {
    uint32_t name, track;
    int64_t start_ns;
} open_range;

/* Ranges further out than this are not looked for when one ends: a file must not make this
 * slow. */
enum { MOST_OPEN = 256 };

/* PyTorch's own names; the rest is the user's. */
static uint8_t range_kind(str name) {
    if (str_starts(name, STR("ProfilerStep#"))) return KIND_STEP;
    if (str_starts(name, STR("Optimizer."))) return KIND_OPTIMIZER;
    if (str_starts(name, STR("enumerate(DataLoader)#")) ||
        str_starts(name, STR("enumerate(DataPipe)#")))
        return KIND_DATA;
    return KIND_ANNOTATION;
}

static status add_range(snapshot *s, const open_range *r, int64_t end_ns, uint8_t flags,
                        error *err) {
    raw_slice row = {.start = r->start_ns,
                     .dur = max_i64(0, sub_i64(end_ns, r->start_ns)),
                     .name = r->name,
                     .track = r->track,
                     .flags = flags,
                     .kind = range_kind(intern_get(builder_strings(s->b), r->name))};
    if (part_slice(s->part, &row) != OK) FAIL_MEMORY(err);
    return OK;
}

/* The thread of an annotation is not recorded, so ranges of several may cross: an end belongs
 * to the last open range of its name. */
static status end_range(snapshot *s, vec *open, const open_range *end, error *err) {
    open_range *all = VEC(open, open_range);
    for (size_t i = open->n; COUNT_DOWN(i) && open->n - i <= MOST_OPEN;) {
        if (all[i].name != end->name || all[i].track != end->track) continue;
        open_range begin = all[i];
        memmove(all + i, all + i + 1, (open->n - i - 1) * sizeof *all);
        open->n--;
        return add_range(s, &begin, end->start_ns, 0, err);
    }
    part_lost(s->part, CAUSE_UNMATCHED_END, NOPOS, end->name);
    part_count(s->part, 0, 1);
    return OK;
}

static status take_annotation(snapshot *s, vec *open, pickle_value dict, error *err) {
    str stage = STR_NONE, text = STR_NONE;
    pickle_value name = snapshot_get(s, dict, WORD_name);
    open_range r = {.start_ns = snapshot_time(s, dict, ABSENT_I64)};
    (void)!pickle_text(s->p, snapshot_get(s, dict, WORD_stage), &stage);
    part_count(s->part, 1, 0);
    if (!pickle_text(s->p, name, &text) || r.start_ns == ABSENT_I64) {
        part_lost(s->part, text.p ? CAUSE_MISSING_TIME : CAUSE_MISSING_NAME, NOPOS, 0);
        part_count(s->part, 0, 1);
        return OK;
    }
    uint32_t row = intern_add(builder_strings(s->b), STR("annotations"));
    if (row == UINT32_MAX) FAIL_MEMORY(err);
    r.track = part_track(s->part, (ident){.v = snapshot_int(s, dict, WORD_device, 0)},
                         (ident){.v = row, .text = true});
    if (r.track == UINT32_MAX) FAIL_MEMORY(err);
    TRY(snapshot_string(s, name, &r.name, err));
    if (str_eq(stage, STR("END"))) return end_range(s, open, &r, err);
    open_range *place = vec_push(open);
    if (!place) FAIL_MEMORY(err);
    *place = r;
    return OK;
}

static status take_annotations(snapshot *s, pickle_value list, error *err) {
    vec open = VEC_INIT(open_range);
    pickle_value dict;
    int64_t last_ns = 0;
    status st = OK;
    for (pickle_iter it = pickle_items(s->p, list);
         st == OK && pickle_next(s->p, &it, &dict);) {
        last_ns = max_i64(last_ns, snapshot_time(s, dict, 0));
        st = take_annotation(s, &open, dict, err);
    }
    for (size_t i = 0; i < open.n && st == OK; i++) {
        const open_range *r = &VEC(&open, open_range)[i];
        part_lost(s->part, CAUSE_UNMATCHED_BEGIN, NOPOS, r->name);
        st = add_range(s, r, last_ns, SLICE_UNFINISHED, err);
    }
    vec_fini(&open);
    return st;
}

/* ---- metadata ---------------------------------------------------------------------------- */

/* A key and what s->text holds. */
static status add_meta(snapshot *s, str key, error *err) {
    intern *strings = builder_strings(s->b);
    uint32_t k = intern_add(strings, key);
    uint32_t v = buf_ok(&s->text) ? intern_add(strings, buf_str(&s->text)) : UINT32_MAX;
    if (k == UINT32_MAX || v == UINT32_MAX) FAIL_MEMORY(err);
    return builder_add_meta(s->b, k, v, err);
}

static status add_meta_number(snapshot *s, const char *key, int64_t v, error *err) {
    buf_clear(&s->text);
    buf_add_i64(&s->text, v);
    return add_meta(s, str_of(key), err);
}

/* A plain value as JSON; false for a list or dictionary. */
static bool write_plain(snapshot *s, pickle_value v) {
    str text = STR_NONE;
    int64_t i = 0;
    double d;
    buf_clear(&s->text);
    switch (pickle_kind_of(v)) {
    case PICKLE_KIND_NONE: buf_add_cstr(&s->text, "null"); return true;
    case PICKLE_KIND_TEXT:
        (void)!pickle_text(s->p, v, &text);
        buf_add_json(&s->text, text);
        return true;
    case PICKLE_KIND_BOOL:
        (void)!pickle_i64(s->p, v, &i);
        buf_add_cstr(&s->text, i ? "true" : "false");
        return true;
    default: break;
    }
    if (pickle_i64(s->p, v, &i))
        buf_add_i64(&s->text, i);
    else if (pickle_f64(s->p, v, &d))
        buf_add_f64(&s->text, d);
    return s->text.n > 0;
}

static status take_settings(snapshot *s, pickle_value settings, error *err) {
    enum { MOST = 256 };
    pickle_value key, value;
    pickle_iter it = pickle_pairs(s->p, settings);
    for (int n = 0; n < MOST && pickle_next_pair(s->p, &it, &key, &value); n++) {
        str name;
        if (pickle_text(s->p, key, &name) && name.n && write_plain(s, value))
            TRY(add_meta(s, name, err));
    }
    return OK;
}

/* ---- devices ----------------------------------------------------------------------------- */

/* Segments by device: values[i] in the order of pairs. */
typedef struct {
    vec pairs, values; /* sort_pair, pickle_value */
    bool is_there;     /* the snapshot has a list of segments */
    int64_t reserved, allocated;
} segment_list;

static uint64_t device_key(int64_t device) {
    return (uint64_t)device ^ (uint64_t)1 << 63; /* the order of int64 */
}

static status collect_segments(snapshot *s, pickle_value list, segment_list *all, error *err) {
    pickle_value segment;
    size_t n = pickle_count(s->p, list);
    all->is_there = pickle_kind_of(list) == PICKLE_KIND_LIST;
    if (vec_reserve(&all->pairs, 2 * n + 1) != OK || vec_reserve(&all->values, 2 * n + 1) != OK)
        FAIL_MEMORY(err);
    sort_pair *pairs = VEC(&all->pairs, sort_pair);
    pickle_value *values = VEC(&all->values, pickle_value);
    size_t i = 0;
    for (pickle_iter it = pickle_items(s->p, list); pickle_next(s->p, &it, &segment); i++) {
        int64_t device = sat_i32(snapshot_int(s, segment, WORD_device, 0));
        pairs[i] = (sort_pair){device_key(device), (uint32_t)i};
        values[n + i] = segment;
        int64_t reserved = snapshot_int(s, segment, WORD_total_size, 0);
        int64_t allocated = snapshot_int(s, segment, WORD_allocated_size, 0);
        all->reserved = add_i64(all->reserved, max_i64(0, reserved));
        all->allocated = add_i64(all->allocated, max_i64(0, allocated));
    }
    sort_radix(pairs, pairs + n, n);
    for (i = 0; i < n; i++) values[i] = values[n + pairs[i].row];
    all->pairs.n = all->values.n = n;
    return OK;
}

/* First segment of the device, or of one after it. */
static size_t find_segments(const segment_list *all, int64_t device) {
    const sort_pair *pairs = VEC(&all->pairs, sort_pair);
    return SEARCH_FIRST(i, 0, all->pairs.n, pairs[i].key < device_key(device));
}

static status take_device(snapshot *s, const segment_list *all, int64_t id,
                          pickle_value history, error *err) {
    size_t first = find_segments(all, id), end = find_segments(all, id + 1);
    snapshot_device d = {.id = sat_i32(id),
                         .has_segments = all->is_there,
                         .history = history,
                         .segments = VEC(&all->values, pickle_value) + first,
                         .n_segments = end - first};
    if (!d.n_segments && !pickle_count(s->p, history)) return OK; /* never used */
    raw_device row = RAW_DEVICE_NONE;
    row.id = d.id;
    row.type = DEVICE_CUDA;
    TRY(builder_add_device(s->b, &row, err));
    return snapshot_replay(s, &d, err);
}

static status take_devices(snapshot *s, pickle_value traces, const segment_list *all,
                           error *err) {
    const sort_pair *pairs = VEC(&all->pairs, sort_pair);
    pickle_value history;
    int64_t n = 0;
    for (pickle_iter it = pickle_items(s->p, traces); pickle_next(s->p, &it, &history); n++)
        TRY(take_device(s, all, n, history, err));
    for (size_t i = 0; i < all->pairs.n;) { /* devices without a history */
        int64_t id = (int64_t)(pairs[i].key ^ (uint64_t)1 << 63);
        if (id < 0 || id >= n) TRY(take_device(s, all, id, PICKLE_ABSENT, err));
        i = find_segments(all, id + 1);
    }
    return OK;
}

/* ---- the whole --------------------------------------------------------------------------- */

/* Finds the two lists; false when this is another pickle. */
static bool find_lists(const snapshot *s, pickle_value *segments, pickle_value *traces) {
    pickle_value root = pickle_root(s->p), first = PICKLE_ABSENT;
    pickle_iter it = pickle_items(s->p, root);
    if (pickle_next(s->p, &it, &first)) { /* the old form */
        *segments = root;
        return pickle_kind_of(snapshot_get(s, first, WORD_total_size)) == PICKLE_KIND_INT &&
               pickle_kind_of(snapshot_get(s, first, WORD_blocks)) == PICKLE_KIND_LIST;
    }
    *segments = snapshot_get(s, root, WORD_segments);
    *traces = snapshot_get(s, root, WORD_device_traces);
    return pickle_kind_of(*segments) == PICKLE_KIND_LIST ||
           pickle_kind_of(*traces) == PICKLE_KIND_LIST;
}

/* Annotations of a history without times cannot be placed: they have a clock, it has none. */
static void find_bases(snapshot *s, pickle_value traces, pickle_value annotations) {
    pickle_value history;
    bool any = false;
    for (pickle_iter it = pickle_items(s->p, traces); pickle_next(s->p, &it, &history);) {
        any |= pickle_count(s->p, history) > 0;
        find_base(s, history);
    }
    if (s->base_us != ABSENT_I64 || !any) find_base(s, annotations);
    bool fits = s->base_us > INT64_MIN / 1000 && s->base_us < INT64_MAX / 1000;
    if (s->base_us != ABSENT_I64 && fits) builder_set_base_unix_ns(s->b, s->base_us * 1000);
}

static status take_facts(snapshot *s, const segment_list *all, bool has_history, error *err) {
    pickle_value root = pickle_root(s->p);
    TRY(take_settings(s, snapshot_get(s, root, WORD_allocator_settings), err));
    if (all->is_there) {
        TRY(add_meta_number(s, "segments", (int64_t)all->pairs.n, err));
        TRY(add_meta_number(s, "final_reserved_bytes", all->reserved, err));
        TRY(add_meta_number(s, "final_allocated_bytes", all->allocated, err));
    }
    if (!has_history || s->base_us != ABSENT_I64) return OK;
    buf_clear(&s->text);
    buf_add_cstr(&s->text, "\"order of events\"");
    return add_meta(s, STR("clock"), err);
}

static void count_damage(const snapshot *s, const source *src) {
    uint64_t end = pickle_input_bytes(s->p);
    if (pickle_is_cut(s->p)) part_lost(s->part, CAUSE_TRUNCATED, end, 0);
    if (source_damaged(src)) part_lost(s->part, CAUSE_STREAM_DAMAGED, end, 0);
    if (pickle_has_more(s->p)) part_lost(s->part, CAUSE_TRAILING_GARBAGE, end, 0);
}

/* ---- how much there is ------------------------------------------------------------------- */

/* Takes a list and the keys of its dictionaries off *left; false: there are more. */
static bool weigh(const snapshot *s, pickle_value list, uint64_t *left) {
    pickle_value item;
    for (pickle_iter it = pickle_items(s->p, list); pickle_next(s->p, &it, &item);) {
        uint64_t n = 1 + (uint64_t)pickle_count(s->p, item);
        if (n > *left) return false;
        *left -= n;
    }
    return true;
}

static bool weigh_within(const snapshot *s, pickle_value list, pickle_value key,
                         uint64_t *left) {
    pickle_value item;
    for (pickle_iter it = pickle_items(s->p, list); pickle_next(s->p, &it, &item);)
        if (!weigh(s, key == PICKLE_ABSENT ? item : pickle_get(s->p, item, key), left))
            return false;
    return true;
}

/* PyTorch writes each segment, block and event once. A list made of one that comes again and
 * again would be walked for hours, and takes two bytes for each time. */
static status check_size(const snapshot *s, pickle_value segments, pickle_value traces,
                         pickle_value annotations, error *err) {
    enum { SPARE = 1 << 16 };
    uint64_t left = pickle_input_bytes(s->p) + SPARE;
    pickle_value blocks = s->word[WORD_blocks];
    if (!weigh(s, segments, &left) || !weigh(s, annotations, &left) ||
        (blocks != PICKLE_ABSENT && !weigh_within(s, segments, blocks, &left)) ||
        !weigh_within(s, traces, PICKLE_ABSENT, &left))
        FAIL0(err, ERR_LIMIT, NOPOS, MSG_PICKLE_TOO_LARGE);
    return OK;
}

static status take_all(snapshot *s, error *err) {
    pickle_value segments = PICKLE_ABSENT, traces = PICKLE_ABSENT;
    if (!find_lists(s, &segments, &traces)) FAIL0(err, ERR_FORMAT, 0, MSG_PICKLE_NO_SNAPSHOT);
    pickle_value annotations = snapshot_get(s, pickle_root(s->p), WORD_external_annotations);
    TRY(check_size(s, segments, traces, annotations, err));
    find_bases(s, traces, annotations);
    segment_list all = {.pairs = VEC_INIT(sort_pair), .values = VEC_INIT(pickle_value)};
    status st = collect_segments(s, segments, &all, err);
    if (st == OK) st = take_devices(s, traces, &all, err);
    if (st == OK) st = take_annotations(s, annotations, err);
    if (st == OK) st = take_facts(s, &all, pickle_count(s->p, traces) > 0, err);
    vec_fini(&all.pairs);
    vec_fini(&all.values);
    return st;
}

static void find_words(snapshot *s) {
    static const char *const WORDS[] = {
#define WORD_TEXT(name) #name,
        SNAPSHOT_WORDS(WORD_TEXT)
#undef WORD_TEXT
    };
    for (int i = 0; i < N_WORDS; i++) s->word[i] = pickle_key(s->p, str_of(WORDS[i]));
}

status ingest_memory_snapshot(source *src, const ingest_options *o, builder *b, error *err) {
    snapshot s = {.b = b, .o = o, .base_us = ABSENT_I64};
    s.known = VEC_INIT(snapshot_known);
    s.names = VEC_INIT(uint32_t);
    s.part = builder_part(b);
    if (!s.part) FAIL_MEMORY(err);
    TRY(pickle_read(src, o, &s.p, err));
    builder_set_format(b, "torch_memory_snapshot");
    builder_set_input_bytes(b, pickle_input_bytes(s.p));
    find_words(&s);
    count_damage(&s, src);
    status st = take_all(&s, err);
    part_finish(s.part);
    pickle_free(s.p);
    map_fini(&s.stacks);
    map_fini(&s.lists);
    map_fini(&s.frames);
    vec_fini(&s.known);
    vec_fini(&s.names);
    buf_fini(&s.text);
    return st;
}
