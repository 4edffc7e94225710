/* paddle_report.c: the numbers of Paddle's `Profiler.summary()`.
 *
 * One walk over the host trees (host_tree.h), thread by thread, range by range in the order
 * Paddle's report meets them; every table is a list of groups in the order of first meeting,
 * which decides about rows of equal time. What a trace of another producer has no type for is
 * not in the report.
 *
 *   operators        every operator, also inside another one; their direct inner ranges, and
 *                    the device work these and the operators launched themselves
 *   stages           outermost ones only, at any depth
 *   communication    ranges of that type, operators named after allreduce, broadcast or rpc
 *                    with the kernels inside them, and kernels of nccl or xccl
 *   memory           under the range it was recorded in; of a direct part of an operator
 *                    under the operator, and under the part as well unless it is an inner
 *                    range */
#include "compat/paddle_report.h"

#include "analyse/cost/paddle_flops.h"
#include "analyse/kind_names.h"
#include "base/hash.h"
#include "compat/host_tree.h"
#include "store/args.h"

const char *paddle_type_name(paddle_type type) {
    static const char *const names[N_PADDLE_TYPES] = {
#define PADDLE_TYPE(name) #name,
        PADDLE_TYPES(PADDLE_TYPE)
#undef PADDLE_TYPE
    };
    return names[type];
}

enum { NAME_SEEN = 1, NAME_COMM_OP = 2, NAME_COMM_KERNEL = 4, NAME_COPY = 8 };

typedef struct {
    paddle_report *r;
    host_tree tree;
    arena *arena;
    report_options o;
    uint8_t *names;     /* by string id: NAME_* */
    uint8_t *in_stage;  /* by slice: inside a stage */
    uint8_t *launch_of; /* by category: type of a part of an operator */
    uint32_t thread;    /* key of the rows of the current thread */
    intervals host[N_PADDLE_TYPES], work[N_PADDLE_TYPES], comm_host, comm_work, computation;
    int64_t host_calls[N_PADDLE_TYPES], work_calls[N_PADDLE_TYPES];
    paddle_type host_order[N_PADDLE_TYPES], work_order[N_PADDLE_TYPES];
    uint32_t n_host, n_work;
} paddle_report_ctx;

/* ---- types and names ---- */

static bool has_type(const paddle_report_ctx *m, uint32_t slice, paddle_type *type) {
    static const uint8_t of_kind[N_KINDS] = {
        [KIND_STEP] = 1 + TYPE_ProfileStep,
        [KIND_ANNOTATION] = 1 + TYPE_PythonUserDefined,
        [KIND_COLLECTIVE] = 1 + TYPE_Communication,
        [KIND_PYTHON] = 1 + TYPE_PythonOp,
        [KIND_MODULE] = 1 + TYPE_PythonOp,
        [KIND_DATA] = 1 + TYPE_Dataloader,
        [KIND_FORWARD] = 1 + TYPE_Forward,
        [KIND_BACKWARD] = 1 + TYPE_Backward,
        [KIND_OPTIMIZER] = 1 + TYPE_Optimization,
        [KIND_OP] = 1 + TYPE_Operator,
        [KIND_RUNTIME] = 1 + TYPE_CudaRuntime,
        [KIND_DRIVER] = 1 + TYPE_CudaRuntime,
        [KIND_KERNEL] = 1 + TYPE_Kernel,
        [KIND_MEMCPY] = 1 + TYPE_Memcpy,
        [KIND_MEMSET] = 1 + TYPE_Memset,
        [KIND_OP_PHASE] = 1 + TYPE_OperatorInner,
        [KIND_FRAMEWORK] = 1 + TYPE_UserDefined,
        [KIND_GARBAGE] = 1 + TYPE_PythonUserDefined,
        [KIND_COMPILE] = 1 + TYPE_PythonUserDefined,
        [KIND_IMPORT] = 1 + TYPE_PythonUserDefined,
    };
    const trace *t = m->r->t;
    uint8_t kind = t->slice.kind[slice], found = of_kind[kind];
    if (!found) return false;
    *type = (paddle_type)(found - 1);
    if (kind == KIND_OP_PHASE && t->slice.category[slice] < t->category.n)
        *type = (paddle_type)m->launch_of[t->slice.category[slice]];
    return true;
}

static status know_categories(paddle_report_ctx *m, error *err) {
    const trace *t = m->r->t;
    m->launch_of = ARENA_ARRAY(m->arena, uint8_t, (size_t)t->category.n + 1);
    if (!m->launch_of) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < t->category.n; i++) {
        str name = trace_str(t, t->category.name[i]);
        m->launch_of[i] = TYPE_OperatorInner;
        for (int k = TYPE_DygraphKernelLaunch; k < N_PADDLE_TYPES; k++)
            if (str_eq(name, str_of(paddle_type_name((paddle_type)k))))
                m->launch_of[i] = (uint8_t)k;
    }
    return OK;
}

static uint8_t look_at(paddle_report_ctx *m, uint32_t name) {
    static const char *const ops[] = {"allreduce", "broadcast", "rpc"},
                             *const kernels[] = {"nccl", "xccl"},
                             *const copies[] = {"memcpy", "memorycopy", "memset"};
    if (name >= m->r->t->n_strings) return 0;
    if (!m->names[name]) {
        str s = trace_str(m->r->t, name);
        m->names[name] =
            (uint8_t)(NAME_SEEN | (str_has_any_nocase(s, ops, 3) ? NAME_COMM_OP : 0) |
                      (str_has_any_nocase(s, kernels, 2) ? NAME_COMM_KERNEL : 0) |
                      (str_has_any_nocase(s, copies, 3) ? NAME_COPY : 0));
    }
    return m->names[name];
}

/* ---- items ---- */

static bool same_item(const void *row, const void *key) {
    const report_item *x = row, *y = key;
    return x->thread == y->thread && x->owner == y->owner && x->name == y->name &&
           x->is_inner_work == y->is_inner_work;
}

/* Row of the item; GROUP_NONE when out of memory. */
static uint32_t find_item(groups *g, report_item key) {
    bool is_new;
    uint64_t hash = hash_pair(
        hash_pair((uint64_t)key.thread << 1 | key.is_inner_work, key.owner), key.name);
    uint32_t at = groups_at(g, hash, same_item, &key, &is_new);
    if (at != GROUP_NONE && is_new) *GROUP_ROW(g, report_item, at) = key;
    return at;
}

static void add_time(report_time *t, int64_t ns, bool first) {
    t->total = add_i64(t->total, ns);
    t->max = first ? ns : max_i64(t->max, ns);
    t->min = first ? ns : min_i64(t->min, ns);
}

static void add_range(const paddle_report_ctx *m, report_item *item, uint32_t slice) {
    bool first = item->calls++ == 0;
    add_time(&item->host, m->r->t->slice.dur[slice], first);
    add_time(&item->kernel, m->tree.kernel_ns[slice], first);
    add_time(&item->work, m->tree.work_ns[slice], first);
}

/* One piece of device work under an item. */
static status add_work(paddle_report_ctx *m, groups *g, report_item key, uint32_t kernel,
                       error *err) {
    const trace *t = m->r->t;
    uint32_t slice = t->kernel.slice[kernel];
    key.name = t->slice.name[slice];
    uint32_t at = find_item(g, key);
    if (at == GROUP_NONE) FAIL_MEMORY(err);
    report_item *item = GROUP_ROW(g, report_item, at);
    bool first = item->calls++ == 0;
    add_time(&item->work, t->slice.dur[slice], first);
    return OK;
}

/* Device work that a range launched itself. */
static status add_own_work(paddle_report_ctx *m, uint32_t range, report_item key, error *err) {
    const host_tree *h = &m->tree;
    for (size_t c = host_tree_find(h->calls, h->n_calls, range);
         c < h->n_calls && h->calls[c].key == range; c++)
        for (size_t w = host_tree_find(h->work, h->n_work, h->calls[c].row);
             w < h->n_work && h->work[w].key == h->calls[c].row; w++)
            TRY(add_work(m, &m->r->works, key, h->work[w].row, err));
    return OK;
}

/* The children of a range in order of time. The list links them from the last. */
static uint32_t first_children(const host_tree *h, uint32_t range, uint32_t *list,
                               uint32_t most) {
    uint32_t n = 0;
    for (uint32_t c = h->last_child[range]; c; c = h->previous[c]) n++;
    if (n > most) return n;
    uint32_t at = n;
    for (uint32_t c = h->last_child[range]; c; c = h->previous[c]) list[--at] = c;
    return n;
}

/* Children of a range in order of time; NULL when out of memory. */
static uint32_t *children_of(paddle_report_ctx *m, uint32_t range, uint32_t *n) {
    *n = first_children(&m->tree, range, NULL, 0);
    uint32_t *list = ARENA_ARRAY(m->arena, uint32_t, (size_t)*n + 1);
    if (list) (void)first_children(&m->tree, range, list, *n);
    return list;
}

static status add_inner(paddle_report_ctx *m, uint32_t op, uint32_t range, error *err) {
    const trace *t = m->r->t;
    uint32_t n, *list = children_of(m, range, &n);
    if (!list) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n; i++) {
        if (t->slice.kind[list[i]] == KIND_OP) continue;
        uint32_t at =
            find_item(&m->r->inner, (report_item){.owner = op, .name = t->slice.name[list[i]]});
        if (at == GROUP_NONE) FAIL_MEMORY(err);
        add_range(m, GROUP_ROW(&m->r->inner, report_item, at), list[i]);
        TRY(add_own_work(m, list[i], (report_item){.owner = at, .is_inner_work = true}, err));
    }
    return add_own_work(m, range, (report_item){.owner = op}, err);
}

static status add_operator(paddle_report_ctx *m, uint32_t slice, error *err) {
    const trace *t = m->r->t;
    uint32_t at =
        find_item(&m->r->ops, (report_item){.thread = m->thread, .name = t->slice.name[slice]});
    if (at == GROUP_NONE) FAIL_MEMORY(err);
    report_item *item = GROUP_ROW(&m->r->ops, report_item, at);
    uint32_t row = trace_op_of(t, slice);
    add_range(m, item, slice);
    if (row)
        item->flops +=
            paddle_flops(trace_str(t, t->slice.name[slice]), trace_str(t, t->op.shapes[row]));
    return add_inner(m, at, slice, err);
}

static status add_named(paddle_report_ctx *m, groups *g, uint32_t thread, uint32_t slice,
                        error *err) {
    uint32_t at =
        find_item(g, (report_item){.thread = thread, .name = m->r->t->slice.name[slice]});
    if (at == GROUP_NONE) FAIL_MEMORY(err);
    add_range(m, GROUP_ROW(g, report_item, at), slice);
    return OK;
}

/* ---- types of events, communication ---- */

static void count_host(paddle_report_ctx *m, paddle_type type, uint32_t slice) {
    const trace *t = m->r->t;
    if (!m->host_calls[type]++) m->host_order[m->n_host++] = type;
    intervals_add(&m->host[type], t->slice.start[slice], slice_end(t, slice));
}

static status count_work(paddle_report_ctx *m, uint32_t kernel, error *err) {
    const trace *t = m->r->t;
    uint32_t slice = t->kernel.slice[kernel];
    paddle_type type;
    if (!has_type(m, slice, &type)) return OK;
    if (!m->work_calls[type]++) m->work_order[m->n_work++] = type;
    intervals_add(&m->work[type], t->slice.start[slice], slice_end(t, slice));
    if (type != TYPE_Kernel) return OK;
    bool sends = look_at(m, t->slice.name[slice]) & NAME_COMM_KERNEL;
    intervals_add(sends ? &m->comm_work : &m->computation, t->slice.start[slice],
                  slice_end(t, slice));
    return add_work(m, &m->r->kernels, (report_item){.calls = 0}, kernel, err);
}

static status count_calls(paddle_report_ctx *m, size_t first, size_t end, bool listed,
                          error *err) {
    const host_tree *h = &m->tree;
    for (size_t c = first; c < end; c++) {
        if (listed) count_host(m, TYPE_CudaRuntime, h->calls[c].row);
        for (size_t w = host_tree_find(h->work, h->n_work, h->calls[c].row);
             w < h->n_work && h->work[w].key == h->calls[c].row; w++)
            TRY(count_work(m, h->work[w].row, err));
    }
    return OK;
}

/* Kernels anywhere inside a range that communicates: climbs from each kernel are avoided by
 * walking the subtree, which ends where the next range that is not inside begins. */
static void add_communication(paddle_report_ctx *m, uint32_t slice) {
    const trace *t = m->r->t;
    const host_tree *h = &m->tree;
    uint32_t end = trace_subtree_end(t, slice);
    intervals_add(&m->comm_host, t->slice.start[slice], slice_end(t, slice));
    for (uint32_t i = slice; i < end; i++) {
        if (!kind_is_call(t->slice.kind[i])) continue;
        for (size_t w = host_tree_find(h->work, h->n_work, i);
             w < h->n_work && h->work[w].key == i; w++) {
            uint32_t k = t->kernel.slice[h->work[w].row];
            if (t->slice.kind[k] == KIND_KERNEL)
                intervals_add(&m->comm_work, t->slice.start[k], slice_end(t, k));
        }
    }
}

/* ---- memory ---- */

static bool same_place(const void *row, const void *key) {
    const report_place *x = row, *y = key;
    return x->type == y->type && x->id == y->id;
}

static str place_name(paddle_report_ctx *m, uint8_t type, int32_t id) {
    static const struct {
        uint8_t type;
        const char *word;
    } words[] = {{DEVICE_CPU, "cpu"}, {DEVICE_CUDA, "gpu"},   {DEVICE_XPU, "xpu"},
                 {DEVICE_MLU, "mlu"}, {DEVICE_ASCEND, "npu"}, {DEVICE_HPU, "intel_hpu"},
                 {DEVICE_MPS, "mps"}};
    str word = device_word(m->r->t, type);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].type == type) word = str_of(words[i].word);
    if (id < 0 || type == DEVICE_CPU)
        return arena_printf(m->arena, "Place(%.*s)", STR_ARG(word));
    return arena_printf(m->arena, "Place(%.*s:%d)", STR_ARG(word), (int)id);
}

static uint32_t find_place(paddle_report_ctx *m, uint32_t row) {
    const trace *t = m->r->t;
    report_place key = {.type = t->memory.device_type[row], .id = t->memory.device[row]};
    bool is_new;
    uint32_t at = groups_at(&m->r->places, hash_pair(key.type, (uint32_t)key.id), same_place,
                            &key, &is_new);
    if (at == GROUP_NONE || !is_new) return at;
    key.name = place_name(m, key.type, key.id);
    *GROUP_ROW(&m->r->places, report_place, at) = key;
    return key.name.p ? at : GROUP_NONE;
}

static bool same_memory(const void *row, const void *key) {
    const report_memory *x = row, *y = key;
    return x->device == y->device && x->name == y->name && x->reserved == y->reserved;
}

static status add_memory_row(paddle_report_ctx *m, uint32_t name, uint32_t row, error *err) {
    const trace *t = m->r->t;
    uint8_t kind = t->memory.kind[row];
    if (kind > MEMORY_SEGMENT_FREE || kind == 0) return OK;
    report_memory key = {
        .name = name, .device = find_place(m, row), .reserved = kind > MEMORY_FREE};
    if (key.device == GROUP_NONE) FAIL_MEMORY(err);
    bool is_new;
    uint64_t hash = hash_pair(hash_pair(key.device, key.reserved), name);
    uint32_t at = groups_at(&m->r->memory, hash, same_memory, &key, &is_new);
    if (at == GROUP_NONE) FAIL_MEMORY(err);
    report_memory *x = GROUP_ROW(&m->r->memory, report_memory, at);
    if (is_new) *x = key;
    int64_t bytes = t->memory.bytes[row];
    if (bytes == ABSENT_I64) return OK;
    bool takes = kind == MEMORY_ALLOC || kind == MEMORY_SEGMENT_ALLOC;
    x->allocations += takes;
    x->releases += !takes;
    if (takes)
        x->allocated = add_i64(x->allocated, bytes);
    else
        x->released = sub_i64(x->released, bytes);
    return OK;
}

static status add_memory_of(paddle_report_ctx *m, uint32_t name, uint32_t range, error *err) {
    const host_tree *h = &m->tree;
    for (size_t i = host_tree_find(h->memory, h->n_memory, range);
         i < h->n_memory && h->memory[i].key == range; i++)
        TRY(add_memory_row(m, name, h->memory[i].row, err));
    return OK;
}

static status add_memory(paddle_report_ctx *m, uint32_t slice, paddle_type type, error *err) {
    const trace *t = m->r->t;
    uint32_t name = t->slice.name[slice];
    if (!m->tree.n_memory || type == TYPE_OperatorInner) return OK;
    if (type == TYPE_Operator) {
        uint32_t n, *list = children_of(m, slice, &n);
        if (!list) FAIL_MEMORY(err);
        for (uint32_t i = 0; i < n; i++) TRY(add_memory_of(m, name, list[i], err));
    }
    return add_memory_of(m, name, slice, err);
}

/* The peaks are in the events' arguments, where the producer wrote them. */
static status find_peaks(paddle_report_ctx *m, error *err) {
    const trace *t = m->r->t;
    args_reader *reader;
    if (!m->r->places.n) return OK;
    TRY(args_reader_new(t, &reader, err));
    status st = OK;
    for (size_t i = 0; i < m->tree.n_memory && st == OK; i++) {
        uint32_t row = m->tree.memory[i].row;
        report_place *p = GROUP_ROW(&m->r->places, report_place, find_place(m, row));
        args_record rec;
        st = args_read(reader, t->memory.args[row], &rec, err);
        for (uint32_t k = 0; st == OK && !rec.raw && k < rec.n; k++) {
            str key = trace_str(t, rec.keys[k]);
            if (rec.tags[k] != ARGS_INTEGER) continue;
            if (str_eq(key, STR("peak_allocated")))
                p->peak_allocated = max_i64(p->peak_allocated, rec.payloads[k]);
            if (str_eq(key, STR("peak_reserved")))
                p->peak_reserved = max_i64(p->peak_reserved, rec.payloads[k]);
        }
    }
    args_reader_free(reader);
    return st;
}

/* ---- the walk ---- */

static bool is_stage(paddle_type type) {
    return type == TYPE_Forward || type == TYPE_Backward || type == TYPE_Dataloader ||
           type == TYPE_Optimization;
}

static void add_stage(paddle_report_ctx *m, paddle_type type, uint32_t slice) {
    uint32_t parent = m->tree.parent[slice];
    bool inside = parent && m->in_stage[parent];
    m->in_stage[slice] = inside || is_stage(type);
    if (!inside && (is_stage(type) || type == TYPE_ProfileStep))
        add_range(m, &m->r->stage[type], slice);
}

static status visit(paddle_report_ctx *m, uint32_t slice, error *err) {
    const trace *t = m->r->t;
    const host_tree *h = &m->tree;
    paddle_type type;
    bool typed = has_type(m, slice, &type);
    if (typed) count_host(m, type, slice);
    size_t first = host_tree_find(h->calls, h->n_calls, slice), end = first;
    while (end < h->n_calls && h->calls[end].key == slice) end++;
    TRY(count_calls(m, first, end, true, err));
    if (!typed) return OK;
    add_stage(m, type, slice);
    uint8_t name = look_at(m, t->slice.name[slice]);
    bool user = type == TYPE_UserDefined || type == TYPE_PythonUserDefined;
    if (type == TYPE_Communication || (type == TYPE_Operator && (name & NAME_COMM_OP)))
        add_communication(m, slice);
    if (type == TYPE_Operator) TRY(add_operator(m, slice, err));
    if (user && (name & NAME_COPY)) TRY(add_named(m, &m->r->copies, 0, slice, err));
    if (type == TYPE_PythonUserDefined && !(name & NAME_COPY))
        TRY(add_named(m, &m->r->users, m->thread, slice, err));
    return add_memory(m, slice, type, err);
}

static status walk_threads(paddle_report_ctx *m, error *err) {
    for (uint32_t track = 1; track < m->r->t->track.n; track++) {
        if (!host_tree_thread(&m->tree, track)) continue;
        uint32_t at = groups_add(&m->r->threads);
        if (at == GROUP_NONE) FAIL_MEMORY(err);
        *GROUP_ROW(&m->r->threads, uint32_t, at) = track;
        m->thread = m->o.by_thread ? at : 0;
        TRY(count_calls(m, m->tree.first_call, m->tree.end_call, false, err));
        for (uint32_t i = 0; (i = host_tree_next(&m->tree, i));) TRY(visit(m, i, err));
    }
    return OK;
}

/* ---- sums ---- */

static int64_t merged_ns(intervals *s) {
    intervals_merge(s);
    return intervals_ns(s);
}

static status sum_types(paddle_report_ctx *m, error *err) {
    paddle_report *r = m->r;
    bool failed = false;
    for (uint32_t i = 0; i < m->n_host; i++) {
        paddle_type type = m->host_order[i];
        report_type row = {type, m->host_calls[type], merged_ns(&m->host[type])};
        failed |= m->host[type].failed;
        if (type == TYPE_ProfileStep) r->total_ns = row.ns;
        if (is_stage(type) && r->stage[type].calls)
            row = (report_type){type, r->stage[type].calls, r->stage[type].host.total};
        if (type != TYPE_Communication) r->host[r->n_host++] = row;
    }
    for (uint32_t i = 0; i < m->n_work; i++) {
        paddle_type type = m->work_order[i];
        r->work[r->n_work++] =
            (report_type){type, m->work_calls[type], merged_ns(&m->work[type])};
        failed |= m->work[type].failed;
    }
    int64_t host = merged_ns(&m->comm_host), work = merged_ns(&m->comm_work);
    if (host)
        r->host[r->n_host++] = (report_type){TYPE_Communication, (int64_t)m->comm_host.n, host};
    if (work)
        r->work[r->n_work++] = (report_type){TYPE_Communication, (int64_t)m->comm_work.n, work};
    intervals both = intervals_in(m->arena);
    for (size_t i = 0; i < m->comm_host.n; i++)
        intervals_add(&both, m->comm_host.v[i].start, m->comm_host.v[i].end);
    for (size_t i = 0; i < m->comm_work.n; i++)
        intervals_add(&both, m->comm_work.v[i].start, m->comm_work.v[i].end);
    r->communication_ns = merged_ns(&both);
    r->computation_ns = merged_ns(&m->computation);
    intervals overlap = intervals_and(&both, &m->computation);
    r->overlap_ns = intervals_ns(&overlap);
    r->has_communication = r->communication_ns > 0;
    if (failed || overlap.failed || m->comm_work.failed) FAIL_MEMORY(err);
    return OK;
}

static status add_device(paddle_report_ctx *m, int32_t device, error *err) {
    const trace *t = m->r->t;
    intervals busy = intervals_in(m->arena);
    uint8_t type = DEVICE_CUDA;
    for (size_t w = 0; w < m->tree.n_work; w++) {
        uint32_t k = m->tree.work[w].row, slice = t->kernel.slice[k];
        if (t->kernel.device[k] == device && t->slice.kind[slice] == KIND_KERNEL)
            intervals_add(&busy, t->slice.start[slice], slice_end(t, slice));
    }
    for (uint32_t i = 1; i < t->device.n; i++)
        if (t->device.id[i] == device) type = t->device.type[i];
    report_device row = {device, device_name(t, m->arena, type, device), merged_ns(&busy)};
    uint32_t at = groups_add(&m->r->devices);
    if (at == GROUP_NONE || !row.name.p || busy.failed) FAIL_MEMORY(err);
    *GROUP_ROW(&m->r->devices, report_device, at) = row;
    return OK;
}

enum { MAX_DEVICES = 256 };

static status find_devices(paddle_report_ctx *m, error *err) {
    const trace *t = m->r->t;
    int32_t last = INT32_MIN;
    for (int n = 0; n < MAX_DEVICES; n++) {
        int32_t next = INT32_MAX;
        for (size_t w = 0; w < m->tree.n_work; w++) {
            int32_t d = t->kernel.device[m->tree.work[w].row];
            if (d > last && d < next) next = d;
        }
        if (next == INT32_MAX) return OK;
        TRY(add_device(m, next, err));
        last = next;
    }
    return OK;
}

static status init_groups(paddle_report *r, arena *a, error *err) {
    groups *items[] = {&r->ops, &r->inner, &r->works, &r->kernels, &r->copies, &r->users};
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        TRY(groups_init(items[i], a, sizeof(report_item), err));
    TRY(groups_init(&r->devices, a, sizeof(report_device), err));
    TRY(groups_init(&r->threads, a, sizeof(uint32_t), err));
    TRY(groups_init(&r->places, a, sizeof(report_place), err));
    return groups_init(&r->memory, a, sizeof(report_memory), err);
}

status paddle_report_make(const selection *s, report_options o, arena *a, paddle_report *out,
                          error *err) {
    paddle_report_ctx m = {.r = out, .arena = a, .o = o};
    *out = (paddle_report){.t = s->t};
    m.names = ARENA_ARRAY(a, uint8_t, (size_t)s->t->n_strings + 1);
    m.in_stage = ARENA_ARRAY(a, uint8_t, (size_t)s->t->slice.n + 1);
    if (!m.names || !m.in_stage) FAIL_MEMORY(err);
    for (int i = 0; i < N_PADDLE_TYPES; i++) m.host[i] = m.work[i] = intervals_in(a);
    m.comm_host = m.comm_work = m.computation = intervals_in(a);
    TRY(init_groups(out, a, err));
    TRY(know_categories(&m, err));
    TRY(host_tree_make(&m.tree, s, a, err));
    TRY(walk_threads(&m, err));
    TRY(sum_types(&m, err));
    TRY(find_devices(&m, err));
    return find_peaks(&m, err);
}
