/* xplane_host.c: threads: frames, ranges, launches, framework operations, memory.
 *
 * A thread's events nest. A launch is a call with a number that device work has too. What the
 * launch was for (an operation of the framework, in the scopes of the program) is not written
 * on the host: it is drawn around the launch. A graph is launched by one call for many pieces
 * of work: they share its time equally, since the time of each is unknown.
 *
 *     CommonPjRtLoadedExecutable::Execute (jit_train_step)                 a range of XLA
 *       jit(train_step)                                                    module
 *         mlp                                                              module
 *           dot_general      add      dot_general                          operations
 *           [gemm_fusion]    [add]    [gemm_fusion]                        launches
 *
 * Scopes are drawn around runs of adjacent operations under one range, so they nest whatever
 * else is on the thread. On a CPU, and in TensorFlow, the operations themselves are events of
 * threads. */
#include <stdlib.h>

#include "base/num.h"
#include "ingest/xplane/xplane_int.h"

enum { MAX_SCOPES = 32, TPU_LAUNCH = 12, MAX_PAUSE_NS = 100000 };

/* An event of the current thread, for finding what is around an operation. */
typedef struct {
    int64_t start, end;
    uint32_t parent; /* range + 1 */
} range;

/* An operation that was drawn, in the scopes around it. */
typedef struct {
    int64_t start, end;
    uint32_t scope;
    uint32_t range; /* it is this event, or inside of it */
    bool inside;
    uint32_t parent;
    int64_t run; /* of the program, where it is known */
} op_item;

typedef struct {
    reader *r;
    plane *p;
    line l;
    uint32_t track;
    uint16_t category;
    bool pool;               /* a thread of XLA's own */
    int64_t framework_until; /* end of the ranges of XLA's own that are open */
    vec ranges, items;
} host_line;

/* ---- what an event is ---- */

static bool starts_with_one(str name, const str *words, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (str_starts(name, words[i])) return true;
    return false;
}

/* Ranges that XLA, PjRt and TensorFlow draw themselves. Those of the last years say where in
 * the source they are; what is left is the user's. */
static bool is_framework(const stat_set *s, str name) {
    static const str words[] = {STR("PjitFunction"), STR("PJRT_"),       STR("ParseArguments"),
                                STR("end: "),        STR("Compil"),      STR("Execute"),
                                STR("Thunk"),        STR("XlaCompile"),  STR("DevicePut"),
                                STR("D2D Disp"),     STR("H2D Disp"),    STR("D2H Disp"),
                                STR("PCIe/Memcpy"),  STR("DoEnqueue"),   STR("Transfer"),
                                STR("Map"),          STR("Linearize"),   STR("Delinearize"),
                                STR("XLA"),          STR("CopyTo"),      STR("Await"),
                                STR("Rendezvous"),   STR("FunctionRun"), STR("EagerExecute"),
                                STR("EagerLocal"),   STR("Executor"),    STR("RemoteCall"),
                                STR("MemCpyAsync"),  STR("event "),      STR("Wait for "),
                                STR("Handle inp"),   STR("Build buf"),   STR("Resolve ")};
    return stat_has(s, STAT_SOURCE_FILE) || str_find(name, STR("::"), 0) != SIZE_MAX ||
           starts_with_one(name, words, N_OF(words));
}

static bool is_data(str name) {
    static const str words[] = {STR("Iterator"), STR("Prefetch"), STR("tf_data"),
                                STR("MultiDeviceIterator")};
    return starts_with_one(name, words, N_OF(words));
}

/* "layer_1/dense/MatMul:MatMul", shown as "MatMul": an operation of TensorFlow. XLA has names
 * of that form for other things. */
static bool is_tensorflow_op(const reader *r, const event_meta *m) {
    if (r->is_jax || stat_has(&r->set, STAT_SOURCE_FILE)) return false;
    str name = intern_get(r->strings, m->name), type = intern_get(r->strings, m->display);
    return type.n && name.n > type.n + 1 && str_ends(name, type) &&
           name.p[name.n - type.n - 1] == ':' && name.p[name.n - type.n - 2] != ':' &&
           !str_starts(name, STR("ThenExecuteCallback:")) &&
           !str_starts(name, STR("XlaCompile"));
}

/* Threads that no program of a user runs on. */
static bool is_pool(str line_name) {
    static const str words[] = {STR("tf_"), STR("pjrt"),  STR("py_xla"),  STR("Host Threads/"),
                                STR("XLA"), STR("Eigen"), STR("EventFD"), STR("tpu")};
    return starts_with_one(line_name, words, N_OF(words));
}

/* What is inside a range of XLA's belongs to XLA, whatever its name. */
static slice_kind kind_of_range(host_line *h, const event *e) {
    reader *r = h->r;
    const event_meta *m = e->meta;
    const stat_set *s = &r->set;
    str name = intern_get(r->strings, m->name);
    if (m->python) return KIND_PYTHON;
    if (stat_has(s, STAT_STEP)) return r->in && r->in->has_steps ? KIND_ANNOTATION : KIND_STEP;
    if (str_eq(name, STR("<UNKNOWN>")) || str_eq(name, STR("BUFFER_FLUSH")))
        return KIND_OVERHEAD;
    if (is_data(name)) return KIND_DATA;
    if (is_framework(s, name) || h->pool || e->start < h->framework_until) {
        h->framework_until = max_i64(h->framework_until, e->start + e->dur);
        r->is_jax |= str_starts(name, STR("PjitFunction"));
        r->is_tensorflow |= str_starts(name, STR("ExecutorState::"));
        return KIND_FRAMEWORK;
    }
    return KIND_ANNOTATION;
}

/* ---- memory ---- */

/* "GPU_0_bfc" is device 0; allocators of the host have no number. */
static void name_place(const reader *r, raw_memory *m) {
    str allocator = stat_text(&r->set, STAT_ALLOCATOR);
    m->device_type = DEVICE_CPU;
    m->device = ABSENT_I32;
    if (stat_has(&r->set, STAT_INDEX_ON_HOST)) {
        m->device_type = DEVICE_NAMED;
        m->device = sat_i32(stat_int(&r->set, STAT_INDEX_ON_HOST, 0));
    }
    if (!str_starts(allocator, STR("GPU_")) && !str_starts(allocator, STR("TPU_"))) return;
    int32_t n = 0;
    for (size_t i = 4; i < allocator.n && i < 10; i++) {
        if (allocator.p[i] < '0' || allocator.p[i] > '9') break;
        n = n * 10 + (allocator.p[i] - '0');
    }
    m->device = n;
    m->device_type = allocator.p[0] == 'T' ? (uint8_t)DEVICE_NAMED
                     : r->is_amd           ? DEVICE_HIP
                                           : DEVICE_CUDA;
}

/* A release that does not say how large: as large as what was allocated there. */
static status find_size(reader *r, raw_memory *m, bool release) {
    uint32_t *at = map_at(&r->size_map, hash_pair(m->address, (uint64_t)m->device));
    if (!at) return ERR_MEMORY;
    if (*at == MAP_NONE) {
        *at = (uint32_t)r->sizes.n;
        int64_t *fresh = vec_push(&r->sizes);
        if (!fresh) return ERR_MEMORY;
        *fresh = 0;
    }
    int64_t *size = &VEC(&r->sizes, int64_t)[*at];
    if (release && !stat_has(&r->set, STAT_ALLOCATION_BYTES)) m->bytes = *size;
    *size = release ? 0 : m->bytes;
    return OK;
}

static status take_memory(host_line *h, const event *e, bool release) {
    reader *r = h->r;
    const stat_set *s = &r->set;
    raw_memory m = {.time = e->start,
                    .address = (uint64_t)stat_int(s, STAT_ADDRESS, 0),
                    .bytes = stat_int(s, STAT_ALLOCATION_BYTES, 0),
                    .allocated = stat_int(s, STAT_BYTES_ALLOCATED, ABSENT_I64),
                    .reserved = ABSENT_I64,
                    .track = h->track,
                    .tie = sat_u32(r->n_events),
                    .kind = release ? MEMORY_FREE : MEMORY_ALLOC};
    if (m.bytes < 0) m.bytes = 0;
    name_place(r, &m);
    TRY(find_size(r, &m, release));
    if (release) m.bytes = -m.bytes;
    m.args = event_args(r);
    return part_memory(r->part, &m);
}

/* ---- operations ---- */

static status add_item(host_line *h, int64_t start, int64_t end, uint32_t scope, bool inside) {
    if (!scope) return OK;
    op_item *item = vec_push(&h->items);
    if (!item) return ERR_MEMORY;
    *item = (op_item){.start = start,
                      .end = end,
                      .scope = scope,
                      .range = (uint32_t)(h->ranges.n - 1),
                      .inside = inside,
                      .run = stat_int(&h->r->set, STAT_RUN, 0)};
    return OK;
}

static status put_op(host_line *h, const work_op *w, raw_slice *row) {
    raw_op op = {.external = w->external,
                 .sequence = ABSENT_I64,
                 .forward_thread = ABSENT_I64,
                 .shapes = w->shapes,
                 .types = w->types,
                 .inputs = w->inputs};
    part *p = h->r->part;
    row->kind = KIND_OP;
    row->name = w->at.name;
    row->track = h->track;
    row->category = h->category;
    TRY(part_op(p, &op, row));
    if (w->flops == w->flops || w->bytes != ABSENT_I64 || w->at.phase) {
        raw_op_cost cost = {
            .op = row->extra, .phase = w->at.phase, .flops = w->flops, .bytes = w->bytes};
        TRY(part_op_cost(p, &cost));
    }
    return part_slice(p, row);
}

/* What a call launched, in this part of it: around it when it is one, else inside of it, side
 * by side. */
static status put_works(host_line *h, int64_t start, int64_t dur, const launch_row *l) {
    int64_t n = l->n;
    uint32_t at = l->first;
    for (int64_t i = 0; i < n && at; i++) {
        const work_op w = VEC(&h->r->works, work_op)[at - 1];
        int64_t from = dur / n * i + dur % n * i / n;
        int64_t to = dur / n * (i + 1) + dur % n * (i + 1) / n;
        raw_slice row = {.start = add_i64(start, from),
                         .dur = to - from,
                         .args = w.args,
                         .tie = sat_u32((uint64_t)i + 1),
                         .flags = SLICE_SYNTHETIC};
        TRY(add_item(h, row.start, row.start + row.dur, w.at.scope, n > 1));
        TRY(put_op(h, &w, &row));
        at = w.next;
    }
    return OK;
}

static status take_launch(host_line *h, const event *e, int64_t correlation) {
    reader *r = h->r;
    const cpu_call_row *cpu = r->is_cpu ? cpu_call(r, e) : NULL;
    raw_call call = {.correlation = correlation, .external = ABSENT_I64};
    raw_slice row = {.start = e->start,
                     .dur = e->dur,
                     .name = e->meta->name,
                     .track = h->track,
                     .category = h->category,
                     .kind = KIND_RUNTIME};
    const launch_row *l = launch_find(r, correlation);
    row.args = event_args(r);
    TRY(part_call(r->part, &call, &row));
    TRY(part_slice(r->part, &row));
    if (!l) return OK;
    return cpu ? put_works(h, cpu->quiet.start, sub_i64(cpu->quiet.end, cpu->quiet.start), l)
               : put_works(h, e->start, e->dur, l);
}

/* An operation that ran on the thread itself. */
static status take_op(host_line *h, const event *e) {
    reader *r = h->r;
    work_op w = {.external = ABSENT_I64, .flops = NAN, .bytes = ABSENT_I64};
    bool found = true;
    if (is_tensorflow_op(r, e->meta)) {
        r->is_tensorflow = true;
        TRY(path_find(r, e->meta->name, &w.at));
        event_argument(r, "op_name", e->meta->name);
        w.inputs = stat_string(r, STAT_SHAPE);
    } else {
        TRY(work_of_event(r, e->meta->name, &w, &found));
    }
    raw_slice row = {.start = e->start, .dur = e->dur};
    row.args = event_args(r);
    TRY(add_item(h, e->start, e->start + e->dur, w.at.scope, false));
    return put_op(h, &w, &row);
}

/* ---- events ---- */

static status note_edge(host_line *h, const event *e, stat_id type, stat_id id, bool end) {
    const stat_set *s = &h->r->set;
    if (!stat_has(s, id) || !stat_has(s, type)) return OK;
    edge *to = vec_push(&h->r->edges);
    if (!to) return ERR_MEMORY;
    *to = (edge){.type = stat_int(s, type, 0),
                 .id = stat_int(s, id, 0),
                 .time = e->start,
                 .track = h->track,
                 .end = end};
    return OK;
}

/* The program reads a value: it waits until the device has it. */
static status take_wait(host_line *h, const event *e) {
    raw_call call = {.correlation = ABSENT_I64, .external = ABSENT_I64};
    raw_slice row = {.start = e->start,
                     .dur = e->dur,
                     .name = e->meta->name,
                     .track = h->track,
                     .category = h->category,
                     .kind = KIND_RUNTIME};
    row.args = event_args(h->r);
    TRY(part_call(h->r->part, &call, &row));
    return part_slice(h->r->part, &row);
}

static status take_range(host_line *h, const event *e) {
    reader *r = h->r;
    raw_slice row = {.start = e->start,
                     .dur = e->dur,
                     .name = e->meta->name,
                     .track = h->track,
                     .category = h->category};
    row.kind = (uint8_t)kind_of_range(h, e);
    row.args = event_args(r);
    if (row.kind == KIND_STEP) {
        raw_op op = {.external = ABSENT_I64,
                     .sequence = stat_int(&r->set, STAT_STEP, ABSENT_I64),
                     .forward_thread = ABSENT_I64};
        r->has_steps = true;
        TRY(part_op(r->part, &op, &row));
    }
    return part_slice(r->part, &row);
}

/* A point in time: a thread was woken up to work. */
static status take_instant(host_line *h, const event *e) {
    raw_instant row = {.time = e->start,
                       .name = e->meta->name,
                       .track = h->track,
                       .category = h->category,
                       .scope = 't'};
    row.args = event_args(h->r);
    return part_instant(h->r->part, &row);
}

/* The number of the device work that an event launches; ABSENT_I64: it does not. */
static int64_t launch_of(const reader *r, const event *e) {
    const stat_set *s = &r->set;
    const cpu_call_row *call = r->is_cpu ? cpu_call(r, e) : NULL;
    if (r->is_cpu) return call ? cpu_run_number(r, call->run) : ABSENT_I64;
    if (stat_has(s, STAT_CORRELATION)) return stat_int(s, STAT_CORRELATION, ABSENT_I64);
    if (stat_int(s, STAT_PRODUCER_TYPE, 0) != TPU_LAUNCH) return ABSENT_I64;
    uint32_t run =
        map_get(&r->run_map, hash_pair(TPU_LAUNCH, (uint64_t)stat_int(s, STAT_PRODUCER, 0)));
    return run == MAP_NONE ? ABSENT_I64 : FIRST_RUN + run;
}

static status take_event(host_line *h, const event *e) {
    reader *r = h->r;
    str name = intern_get(r->strings, e->meta->name);
    TRY(event_stats(r, h->p, e));
    if (r->in && str_eq(name, STR(XPLANE_THREAD))) return OK;
    if (cpu_is_work(r)) return OK;                              /* it is on its device */
    if (r->is_cpu && str_starts(name, STR("end: "))) return OK; /* and that is its end */
    if (str_eq(name, STR("MemoryAllocation"))) return take_memory(h, e, false);
    if (str_eq(name, STR("MemoryDeallocation"))) return take_memory(h, e, true);
    TRY(note_edge(h, e, STAT_PRODUCER_TYPE, STAT_PRODUCER, false));
    TRY(note_edge(h, e, STAT_CONSUMER_TYPE, STAT_CONSUMER, true));
    if (e->dur == 0 && str_starts(name, STR("ThreadpoolListener"))) return take_instant(h, e);
    range *around = vec_push(&h->ranges);
    if (!around) return ERR_MEMORY;
    *around = (range){.start = e->start, .end = e->start + e->dur};
    int64_t launch = launch_of(r, e);
    if (launch != ABSENT_I64) return take_launch(h, e, launch);
    if (str_eq(name, STR("np.asarray(jax.Array)"))) return take_wait(h, e);
    bool is_op = stat_has(&r->set, STAT_HLO_OP) && !r->is_cpu;
    if (is_op || is_tensorflow_op(r, e->meta)) return take_op(h, e);
    return take_range(h, e);
}

/* ---- scopes ---- */

static int compare_ranges(const void *pa, const void *pb) {
    const range *const *a = pa, *const *b = pb;
    if ((*a)->start != (*b)->start) return (*a)->start < (*b)->start ? -1 : 1;
    if ((*a)->end != (*b)->end) return (*a)->end > (*b)->end ? -1 : 1;
    return *a < *b ? -1 : 1;
}

static int compare_items(const void *pa, const void *pb) {
    const op_item *a = pa, *b = pb;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    if (a->end != b->end) return a->end > b->end ? -1 : 1;
    return (a->range > b->range) - (a->range < b->range);
}

/* The range around each range. */
static status find_parents(host_line *h) {
    size_t n = h->ranges.n, depth = 0;
    range *all = VEC(&h->ranges, range);
    vec order = VEC_INIT(range *), stack = VEC_INIT(range *);
    bool room = vec_reserve(&order, n) == OK && vec_reserve(&stack, n) == OK;
    for (size_t i = 0; room && i < n; i++) VEC(&order, range *)[i] = &all[i];
    if (room && n) qsort(order.p, n, sizeof(range *), compare_ranges);
    for (size_t i = 0; room && i < n; i++) {
        range *one = VEC(&order, range *)[i];
        range **open = VEC(&stack, range *);
        while (depth && (one->start >= open[depth - 1]->end || one->end > open[depth - 1]->end))
            depth--;
        one->parent = depth ? (uint32_t)(open[depth - 1] - all) + 1 : 0;
        open[depth++] = one;
    }
    vec_fini(&order);
    vec_fini(&stack);
    return room ? OK : ERR_MEMORY;
}

/* A scope that operations are in, from the first to the last of them so far. */
typedef struct {
    uint32_t scope;
    int64_t start, end;
} open_scope;

static status close_scopes(host_line *h, open_scope *open, uint32_t *n, uint32_t keep) {
    part *p = h->r->part;
    for (; *n > keep; (*n)--) {
        const open_scope *o = &open[*n - 1];
        raw_module module = {.id = o->scope};
        raw_slice row = {.start = o->start,
                         .dur = o->end - o->start,
                         .name = VEC(&h->r->scopes, scope_row)[o->scope].name,
                         .track = h->track,
                         .tie = *n,
                         .category = h->category,
                         .kind = KIND_MODULE,
                         .flags = SLICE_SYNTHETIC};
        TRY(part_module(p, &module, &row));
        TRY(part_slice(p, &row));
    }
    return OK;
}

/* The scopes around one, outermost first. */
static uint32_t list_scopes(const reader *r, uint32_t scope, uint32_t out[MAX_SCOPES]) {
    uint32_t n = 0;
    for (uint32_t s = scope; s; s = VEC(&r->scopes, scope_row)[s].parent) n++;
    for (uint32_t s = scope, i = n; s; s = VEC(&r->scopes, scope_row)[s].parent)
        if (--i < MAX_SCOPES) out[i] = s;
    return n < MAX_SCOPES ? n : MAX_SCOPES;
}

/* Is an operation adjacent to the one before it? Not when a range begins or ends between them,
 * nor when it belongs to another execution of the program. On a thread that draws nothing
 * around its operations, executions are separated by the pauses between them. */
static bool is_adjacent(const op_item *before, const op_item *item) {
    if (item->parent != before->parent || item->run != before->run) return false;
    int64_t pause = sub_i64(item->start, before->end);
    return pause >= 0 && (item->parent || pause < MAX_PAUSE_NS);
}

static status put_scopes(host_line *h) {
    open_scope open[MAX_SCOPES];
    uint32_t n = 0, path[MAX_SCOPES];
    op_item *items = VEC(&h->items, op_item);
    if (!h->items.n) return OK;
    TRY(find_parents(h));
    for (size_t i = 0; i < h->items.n; i++)
        items[i].parent = items[i].inside ? items[i].range + 1
                                          : VEC(&h->ranges, range)[items[i].range].parent;
    qsort(items, h->items.n, sizeof *items, compare_items);
    for (size_t i = 0; i < h->items.n; i++) {
        uint32_t n_path = list_scopes(h->r, items[i].scope, path), same = 0;
        if (i && is_adjacent(&items[i - 1], &items[i]))
            while (same < n && same < n_path && open[same].scope == path[same]) same++;
        TRY(close_scopes(h, open, &n, same));
        for (; n < n_path; n++) open[n] = (open_scope){path[n], items[i].start, 0};
        for (uint32_t k = 0; k < n; k++) open[k].end = items[i].end;
    }
    return close_scopes(h, open, &n, 0);
}

/* ---- threads ---- */

static status read_thread(host_line *h) {
    reader *r = h->r;
    walker w = walk_open(h->l.body);
    event e;
    h->ranges.n = h->items.n = 0;
    h->framework_until = INT64_MIN;
    h->pool = is_pool(h->l.name);
    while (line_next(r, h->p, &h->l, &w, &e)) TRY(take_event(h, &e));
    if (r->failed) return ERR_MEMORY;
    return put_scopes(h);
}

/* In a recording: which thread of it each line is. */
static status find_threads(reader *r, plane *p) {
    walker w = walk_open(p->body), inside;
    pb_field f;
    line l;
    event e;
    r->again = true;
    while (walk_next(&w, &f)) {
        if (f.tag != PB_BYTES(3)) continue;
        line_read(r, p, pb_bytes(&f), &l);
        for (inside = walk_open(l.body); line_next(r, p, &l, &inside, &e);) {
            if (!str_eq(intern_get(r->strings, e.meta->name), STR(XPLANE_THREAD))) continue;
            TRY(event_stats(r, p, &e));
            int64_t tid = stat_int(&r->set, STAT_THREAD, 0);
            if (tid <= 0 || tid >= MAP_NONE) continue;
            uint32_t *at = map_at(&r->tid_map, hash_pair((uint64_t)p->pid, (uint64_t)l.id));
            if (!at) return ERR_MEMORY;
            *at = (uint32_t)tid;
            break;
        }
    }
    r->again = false;
    return r->failed ? ERR_MEMORY : OK;
}

status host_read(reader *r, plane *p) {
    host_line h = {.r = r,
                   .p = p,
                   .ranges = VEC_INIT(range),
                   .items = VEC_INIT(op_item),
                   .category = builder_category(r->b, xplane_string(r, p->name))};
    walker w = walk_open(p->body);
    pb_field f;
    status st = r->in ? find_threads(r, p)
                      : xplane_label(r, p->pid, IDENT_NONE, LABEL_PROCESS_NAME,
                                     xplane_string(r, p->name));
    while (st == OK && walk_next(&w, &f)) {
        if (f.tag != PB_BYTES(3)) continue;
        line_read(r, p, pb_bytes(&f), &h.l);
        h.track = line_track(r, p, &h.l);
        st = h.track == UINT32_MAX ? ERR_MEMORY : read_thread(&h);
        uint64_t limit = r->o->memory_limit_bytes;
        if (st == OK && limit && builder_size_bytes(r->b) > limit) st = ERR_LIMIT;
        if (st == OK && r->o->progress &&
            r->o->progress(r->o->progress_context, h.l.offset, buf_str(&r->file).n))
            st = ERR_CANCELLED;
    }
    vec_fini(&h.ranges);
    vec_fini(&h.items);
    return st;
}

/* ---- hand-overs ---- */

static int compare_edges(const void *pa, const void *pb) {
    const edge *a = pa, *b = pb;
    if (a->type != b->type) return a->type < b->type ? -1 : 1;
    if (a->id != b->id) return a->id < b->id ? -1 : 1;
    if (a->time != b->time) return a->time < b->time ? -1 : 1;
    if (a->end != b->end) return a->end ? 1 : -1;
    return (a->track > b->track) - (a->track < b->track);
}

static status put_arrow(reader *r, const edge *e, int64_t id, char end) {
    raw_arrow row = {.time = e->time,
                     .offset = (uint64_t)id,
                     .id = id,
                     .name = xplane_string(r, STR("dispatch")),
                     .track = e->track,
                     .kind = FLOW_DISPATCH,
                     .phase = end};
    return part_arrow(r->part, &row);
}

/* From the last who hands over to each who takes, on another thread. */
status host_finish(reader *r) {
    edge *all = VEC(&r->edges, edge);
    const edge *from = NULL;
    int64_t id = 0;
    if (r->edges.n) qsort(all, r->edges.n, sizeof *all, compare_edges);
    for (size_t i = 0; i < r->edges.n; i++) {
        if (from && (from->type != all[i].type || from->id != all[i].id)) from = NULL;
        if (!all[i].end) from = &all[i];
        if (!all[i].end || !from || from->track == all[i].track) continue;
        TRY(put_arrow(r, from, ++id, 's'));
        TRY(put_arrow(r, &all[i], id, 'f'));
    }
    return r->failed ? ERR_MEMORY : OK;
}
