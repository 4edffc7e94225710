/* collectives.c: the collectives of one worker.
 *
 * Host ranges come in order of slices, and so do launches: the range a kernel belongs to is
 * the last one that begins before its launch on the same thread and is still open, or the op
 * it was linked to. Kernels that find no range stand for themselves, with the arguments the
 * producer copied onto them.
 *
 * Sizes come from the arguments (elements and type) where they are, else from the input
 * shapes of the host range. */
#include "analyse/comm/collectives.h"

#include "analyse/operators/op_args.h"
#include "base/bisect.h"
#include "base/sort.h"
#include "store/op_text.h"
#include "store/traits.h"

int64_t dtype_bytes(str name) {
    double bytes = op_type_bytes(name);
    return real_i64(bytes);
}

/* Elements of a shape, [] is a scalar; false when it is not one. */
static bool shape_elements(str shape, int64_t *out) {
    op_list sizes = op_list_open(shape);
    int64_t size;
    *out = 1;
    for (str one; op_list_next(&sizes, &one);)
        if (!op_item_i64(one, &size) || size < 0 || __builtin_mul_overflow(*out, size, out))
            return false;
    return true;
}

/* Elements of an input: of a list of shapes (TensorList) the sum of its members. */
static bool input_elements(str input, int64_t *out) {
    op_list members = op_list_open(input);
    int64_t n;
    str one;
    if (!op_list_next(&members, &one) || one.p[0] != '[') return shape_elements(input, out);
    *out = 0;
    do {
        if (!shape_elements(one, &n)) return false;
        *out = add_i64(*out, n);
    } while (op_list_next(&members, &one));
    return true;
}

int64_t input_bytes(str shapes, str types) {
    op_list inputs = op_list_open(shapes), of_inputs = op_list_open(types);
    int64_t elements, sum = ABSENT_I64;
    str input, type;
    while (op_list_next(&inputs, &input) && op_list_next(&of_inputs, &type)) {
        int64_t bytes, width = dtype_bytes(op_item_text(type));
        if (!width || !input_elements(input, &elements) ||
            __builtin_mul_overflow(elements, width, &bytes))
            continue;
        sum = sum == ABSENT_I64 ? bytes : add_i64(sum, bytes);
    }
    return sum;
}

static void *make_room(arena *a, void *p, uint32_t n, uint32_t *cap, size_t elem_bytes) {
    if (n < *cap) return p;
    uint32_t bigger = *cap ? *cap * 2 : 64;
    void *grown =
        bigger > *cap ? arena_grow(a, p, *cap * elem_bytes, bigger * elem_bytes) : NULL;
    if (grown) *cap = bigger;
    return grown;
}

static collective *add_collective(collective_list *l) {
    void *v = make_room(l->arena, l->v, l->n, &l->cap, sizeof *l->v);
    if (!v) return NULL;
    l->v = v;
    collective *c = &l->v[l->n++];
    *c = (collective){.source = ABSENT_I64,
                      .target = ABSENT_I64,
                      .sequence = ABSENT_I64,
                      .comms_id = ABSENT_I64,
                      .bytes = ABSENT_I64,
                      .group_size = ABSENT_I64};
    return c;
}

/* What the producer wrote about the collective on this slice. */
static void read_arguments(const trace *t, uint32_t slice, collective *c) {
    uint32_t row = t->comm.n > 1 ? trace_comm_of(t, slice) : 0;
    if (!row) return;
    if (t->comm.name[row] && !c->name.n) c->name = trace_str(t, t->comm.name[row]);
    c->sequence = t->comm.sequence[row];
    c->comms_id = t->comm.comms_id[row];
    uint32_t group = t->comm.group[row];
    if (group) {
        c->group = trace_str(t, t->group.name[group]);
        c->group_size = t->group.size[group];
        c->words = trace_str(t, t->group.description[group]);
    }
    if (t->comm.src[row] >= 0 && t->comm.dst[row] >= 0 && comm_type_of(c->name) == COMM_POINT) {
        c->source = t->comm.src[row];
        c->target = t->comm.dst[row];
    }
    int64_t elements = max_i64(t->comm.in_elements[row], t->comm.out_elements[row]), bytes;
    int64_t width = dtype_bytes(trace_str(t, t->comm.dtype[row]));
    if (elements >= 0 && width && !__builtin_mul_overflow(elements, width, &bytes))
        c->bytes = bytes;
}

/* ---- from one to one --------------------------------------------------------------------- */

enum { INPUT_PEER = 2, MOST_BETWEEN = 4 };

/* gloo says neither end of a transfer, but PyTorch's operator that starts it does. The transfer
 * outlives the operator: it is the last one before that it begins in. 0: none. */
static uint32_t find_starter(const trace *t, uint32_t slice) {
    int64_t at = t->slice.start[slice];
    for (uint32_t i = slice - 1, n = 0; i && n < MOST_BETWEEN; i--, n++) {
        if (trace_track_of(t, i) != trace_track_of(t, slice)) return 0;
        if (t->slice.kind[i] == KIND_OP && slice_end(t, i) >= at &&
            str_starts(trace_slice_name(t, i), STR("c10d::")) &&
            comm_type_of(trace_slice_name(t, i)) == COMM_POINT)
            return i;
    }
    return 0;
}

/* A member of a group counts from 0 in it. Which group it is was not recorded: the number says
 * a rank only if it says the same one in all groups of this rank. */
static int64_t rank_of_member(const trace *t, int64_t own, int64_t member) {
    int64_t rank = t->group.n > 1 ? ABSENT_I64 : member;
    for (uint32_t g = 1; g < t->group.n; g++) {
        op_list ranks = op_list_open(trace_str(t, t->group.ranks[g]));
        int64_t one, at = 0, found = ABSENT_I64;
        bool is_mine = false;
        for (str item; op_list_next(&ranks, &item) && op_item_i64(item, &one); at++) {
            is_mine |= one == own;
            if (at == member) found = one;
        }
        if (!is_mine || at < 2) continue;
        if (found == ABSENT_I64 || (rank != ABSENT_I64 && rank != found)) return ABSENT_I64;
        rank = found;
    }
    return rank;
}

static void read_ends(const trace *t, uint32_t slice, collective *c) {
    uint32_t starter = find_starter(t, slice), row = starter ? trace_op_of(t, starter) : 0;
    int64_t own = trace_rank(t), peer = ABSENT_I64;
    if (!row || own == ABSENT_I64) return;
    op_list inputs = op_list_open(trace_str(t, t->op.inputs[row]));
    int i = 0;
    for (str item; op_list_next(&inputs, &item); i++)
        if (i == INPUT_PEER && op_item_i64(op_item_text(item), &peer)) break;
    if (peer >= 0) peer = rank_of_member(t, own, peer);
    if (peer < 0) return;
    bool sends = str_find(c->name, STR("send"), 0) != SIZE_MAX;
    c->source = sends ? own : peer;
    c->target = sends ? peer : own;
}

static status add_host_ranges(collective_list *l, const trace *t, comm_names *names,
                              error *err) {
    for (uint32_t i = 1; i < t->slice.n; i++) {
        uint8_t kind = t->slice.kind[i];
        if (kind != KIND_COLLECTIVE && kind != KIND_OP && kind != KIND_ANNOTATION) continue;
        if (kind != KIND_COLLECTIVE && !comm_host_id(names, t->slice.name[i])) continue;
        collective *c = add_collective(l);
        if (!c) FAIL_MEMORY(err);
        c->slice = i;
        c->name = trace_slice_name(t, i);
        read_arguments(t, i, c);
        if (c->source == ABSENT_I64 && comm_type_of(c->name) == COMM_POINT) read_ends(t, i, c);
        uint32_t op = trace_op_of(t, i);
        if (c->bytes == ABSENT_I64 && op)
            c->bytes =
                input_bytes(trace_str(t, t->op.shapes[op]), trace_str(t, t->op.types[op]));
    }
    return OK;
}

/* A communication kernel and the collective it belongs to. */
typedef struct {
    uint32_t kernel, owner; /* owner: index in the list */
} comm_kernel;

/* The host range (index in the list) around a kernel's launch; UINT32_MAX = none. The
 * worker's host ranges are those from `first` to `end`. */
static uint32_t find_host_range(const collective_list *l, const trace *t, interval span,
                                uint32_t kernel) {
    uint32_t call = t->kernel.launch[kernel], op = t->kernel.op[kernel];
    if (!call) call = op;
    if (!call) return UINT32_MAX;
    uint32_t low =
        SEARCH_FIRST(i, (uint32_t)span.start, (uint32_t)span.end, l->v[i].slice <= call);
    if (low == (uint32_t)span.start) return UINT32_MAX;
    uint32_t slice = l->v[low - 1].slice;
    bool inside = t->slice.start[call] < slice_end(t, slice) &&
                  trace_track_of(t, slice) == trace_track_of(t, call);
    return inside || slice == op ? low - 1 : UINT32_MAX;
}

/* Joining the kernels of a worker to its host ranges. */
typedef struct {
    collective_list *l;
    const trace *t;
    interval host; /* indices of the worker's host ranges */
    comm_kernel *v;
    uint32_t n;
} collectives_ctx;

/* The worker's communication kernels by start. */
static comm_kernel *list_kernels(collective_list *l, const trace *t, comm_names *names,
                                 uint32_t *n) {
    sort_pair *pairs = arena_alloc(l->arena, ((size_t)t->kernel.n + 1) * sizeof *pairs);
    comm_kernel *found = arena_alloc(l->arena, ((size_t)t->kernel.n + 1) * sizeof *found);
    if (!pairs || !found) return NULL;
    for (uint32_t k = 1; k < t->kernel.n; k++)
        if (comm_kernel_row(names, k))
            pairs[(*n)++] = (sort_pair){
                (uint64_t)t->slice.start[t->kernel.slice[k]] ^ (uint64_t)1 << 63, k};
    if (!sort_radix_in(l->arena, pairs, *n)) return NULL;
    for (uint32_t i = 0; i < *n; i++) found[i] = (comm_kernel){pairs[i].row, UINT32_MAX};
    return found;
}

/* Kernels whose launch was not recorded belong, in order, to the host ranges of the same
 * collective, when there are as many of these without kernels. */
static status pair_by_order(collectives_ctx *j, error *err) {
    collective_list *l = j->l;
    const trace *t = j->t;
    comm_kernel *kernels = j->v;
    uint32_t n_ranges[N_COMM_TYPES] = {0}, n_kernels[N_COMM_TYPES] = {0},
             at[N_COMM_TYPES] = {0};
    uint32_t first = (uint32_t)j->host.start, end = (uint32_t)j->host.end;
    sort_pair *pairs = ARENA_ARRAY(l->arena, sort_pair, (size_t)(end - first) + 1);
    uint32_t *waiting[N_COMM_TYPES]; /* ranges of each type, by start */
    for (int i = 0; i < N_COMM_TYPES; i++) {
        waiting[i] = ARENA_ARRAY(l->arena, uint32_t, (size_t)(end - first) + 1);
        if (!waiting[i]) FAIL_MEMORY(err);
    }
    if (!pairs) FAIL_MEMORY(err);
    for (uint32_t i = first; i < end; i++)
        pairs[i - first] =
            (sort_pair){(uint64_t)t->slice.start[l->v[i].slice] ^ (uint64_t)1 << 63, i};
    if (!sort_radix_in(l->arena, pairs, end - first)) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < end - first; i++) {
        comm_type type = comm_type_of(l->v[pairs[i].row].name);
        if (!l->v[pairs[i].row].n_ranges) waiting[type][n_ranges[type]++] = pairs[i].row;
    }
    for (uint32_t i = 0; i < j->n; i++)
        if (kernels[i].owner == UINT32_MAX && !t->kernel.launch[kernels[i].kernel])
            n_kernels[comm_type_of(trace_slice_name(t, t->kernel.slice[kernels[i].kernel]))]++;
    for (uint32_t i = 0; i < j->n; i++) {
        comm_type type = comm_type_of(trace_slice_name(t, t->kernel.slice[kernels[i].kernel]));
        if (kernels[i].owner != UINT32_MAX || t->kernel.launch[kernels[i].kernel] ||
            n_kernels[type] != n_ranges[type])
            continue;
        kernels[i].owner = waiting[type][at[type]++];
        l->v[kernels[i].owner].n_ranges++;
    }
    return OK;
}

/* Each kernel with its owner; kernels without a range become separate collectives. */
static status find_owners(collectives_ctx *j, error *err) {
    collective_list *l = j->l;
    const trace *t = j->t;
    comm_kernel *kernels = j->v;
    for (uint32_t i = 0; i < j->n; i++) {
        kernels[i].owner = find_host_range(l, t, j->host, kernels[i].kernel);
        if (kernels[i].owner != UINT32_MAX) l->v[kernels[i].owner].n_ranges++;
    }
    if (j->host.end > j->host.start) TRY(pair_by_order(j, err));
    for (uint32_t i = 0; i < j->n; i++) {
        uint32_t k = kernels[i].kernel, slice = t->kernel.slice[k];
        if (kernels[i].owner == UINT32_MAX) {
            collective *c = add_collective(l);
            if (!c) FAIL_MEMORY(err);
            c->slice = slice;
            c->n_ranges = 1;
            kernels[i].owner = l->n - 1;
        }
        collective *c = &l->v[kernels[i].owner];
        if (c->sequence == ABSENT_I64) read_arguments(t, slice, c);
        uint32_t op = trace_own_op(t, k); /* one of another step has another number */
        if (c->sequence == ABSENT_I64 && op) read_arguments(t, op, c);
        if (!c->name.n) c->name = trace_slice_name(t, slice);
    }
    return OK;
}

static void add_range(collective_list *l, collective *c, uint32_t kernel, interval r) {
    c->hull.start = c->n_ranges ? min_i64(c->hull.start, r.start) : r.start;
    c->hull.end = c->n_ranges ? max_i64(c->hull.end, r.end) : r.end;
    l->kernels[c->first_range + c->n_ranges] = kernel;
    l->ranges[c->first_range + c->n_ranges++] = r;
}

static status room_for_ranges(collective_list *l, uint64_t total, error *err) {
    if (total > UINT32_MAX / 2) FAIL_MEMORY(err);
    while (l->cap_ranges < total) {
        uint32_t cap = l->cap_ranges;
        void *kernels = make_room(l->arena, l->kernels, cap, &cap, sizeof *l->kernels);
        void *grown =
            make_room(l->arena, l->ranges, l->cap_ranges, &l->cap_ranges, sizeof *l->ranges);
        if (!grown || !kernels) FAIL_MEMORY(err);
        l->ranges = grown;
        l->kernels = kernels;
    }
    l->n_ranges = (uint32_t)total;
    return OK;
}

/* Gives every collective from `first` on its ranges: its host range, then its kernels by
 * start. */
static status place_ranges(collective_list *l, comm_names *names, uint32_t first,
                           uint32_t n_host, error *err) {
    const trace *t = names->t;
    uint64_t total = l->n_ranges;
    for (uint32_t i = first; i < l->n; i++) {
        l->v[i].first_range = sat_u32(total);
        total += l->v[i].n_ranges + (i < n_host);
        l->v[i].n_ranges = 0;
    }
    TRY(room_for_ranges(l, total, err));
    for (uint32_t i = first; i < n_host; i++)
        add_range(
            l, &l->v[i], 0,
            (interval){t->slice.start[l->v[i].slice], comm_host_end(names, l->v[i].slice)});
    return OK;
}

status collectives_add(collective_list *l, const trace *t, uint32_t worker, error *err) {
    comm_names names;
    uint32_t first = l->n, n_kernels = 0;
    TRY(comm_names_init(&names, t, l->arena, err));
    TRY(add_host_ranges(l, t, &names, err));
    uint32_t n_host = l->n;
    comm_kernel *kernels = list_kernels(l, t, &names, &n_kernels);
    if (!kernels) FAIL_MEMORY(err);
    collectives_ctx j = {l, t, {first, n_host}, kernels, n_kernels};
    TRY(find_owners(&j, err));
    TRY(place_ranges(l, &names, first, n_host, err));
    for (uint32_t i = 0; i < n_kernels; i++) {
        uint32_t slice = t->kernel.slice[kernels[i].kernel];
        add_range(l, &l->v[kernels[i].owner], kernels[i].kernel,
                  (interval){t->slice.start[slice], slice_end(t, slice)});
    }
    for (uint32_t i = first; i < l->n; i++) l->v[i].worker = worker;
    return OK;
}
