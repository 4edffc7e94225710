/* nsight_nccl.c: what NCCL says of its calls, on the kernels that do them.
 *
 *     NVTX_PAYLOAD_SCHEMA_ENTRIES   schema 16777220: "Message size [bytes]" is at 8, a size_t
 *     NVTX_EVENTS.binaryData        domain, schema, bytes, bytes in all (8 each); the payload
 *
 *     thread  ── ncclAllReduce(64 MiB) ── ncclGroupEnd { cudaLaunchKernel } ──
 *                                                              └──> ncclDevKernel_AllReduce
 *
 * Calls of a group are only noted down, and its end launches them: a kernel does all calls of
 * its thread since the launch of the kernel before. The size of a message is given in bytes,
 * not in elements of a type: the type of a collective is therefore Byte. */
#include <stdlib.h>

#include "ingest/nsight/nsight_int.h"

enum { HEAD_BYTES = 32, SCHEMA_AT = 8, SIZE_AT = 16, MOST_FIELDS = 512 };

/* ---- the layout of payloads ---- */

static nsight_nccl_field field_of(str name) {
    static const str names[N_NCCL_FIELDS] = {[NCCL_COMMUNICATOR] = STR("NCCL communicator ID"),
                                             [NCCL_BYTES] = STR("Message size [bytes]"),
                                             [NCCL_PEER] = STR("Peer rank"),
                                             [NCCL_N_RANKS] = STR("No. of ranks"),
                                             [NCCL_RANK] = STR("Rank")};
    for (int i = 0; i < N_NCCL_FIELDS; i++)
        if (str_eq(name, names[i])) return (nsight_nccl_field)i;
    return N_NCCL_FIELDS;
}

/* Bytes of a number, by NVTX's codes of C's types; 0 for any other type. */
static uint8_t width_of(int64_t type) {
    bool four = type == 5 || type == 6 || type == 15 || type == 16;
    bool eight = (type >= 7 && type <= 10) || type == 17 || type == 18 || type == 22;
    return four ? 4 : eight ? 8 : 0;
}

enum { SCHEMA, TYPE, NAME, OFFSET };

static status take_field(void *context, db_rows *row) {
    reader *r = context;
    nsight_nccl_field what = field_of(db_text(row, NAME));
    int64_t offset = db_int(row, OFFSET, 0);
    uint8_t width = width_of(db_int(row, TYPE, 0));
    if (what == N_NCCL_FIELDS || !width || offset < 0 || offset > 4096 ||
        r->payload_fields.n >= MOST_FIELDS)
        return OK;
    payload_field *f = vec_push(&r->payload_fields);
    if (!f) return ERR_MEMORY;
    *f = (payload_field){db_int(row, SCHEMA, 0), (uint32_t)offset, width, (uint8_t)what};
    return OK;
}

status nsight_read_payloads(reader *r, error *err) {
    static const char *const columns[] = {"schemaId", "type", "name", "offset"};
    return nsight_table(r, "NVTX_PAYLOAD_SCHEMA_ENTRIES", columns, N_OF(columns), take_field,
                        err);
}

bool nsight_payload(const reader *r, str data, nccl_payload *out) {
    bool any = false;
    for (int i = 0; i < N_NCCL_FIELDS; i++) out->v[i] = ABSENT_I64;
    if (data.n < HEAD_BYTES) return false;
    uint64_t schema = read_le(data.p + SCHEMA_AT, 8), size = read_le(data.p + SIZE_AT, 8);
    if (size > data.n - HEAD_BYTES) return false;
    for (size_t i = 0; i < r->payload_fields.n; i++) {
        const payload_field *f = &VEC(&r->payload_fields, payload_field)[i];
        if ((uint64_t)f->schema != schema || f->offset + f->width > size) continue;
        uint64_t v = read_le(data.p + HEAD_BYTES + f->offset, f->width);
        if (f->what != NCCL_COMMUNICATOR && v > INT64_MAX) continue;
        out->v[f->what] = (int64_t)v;
        any = true;
    }
    return any;
}

/* ---- calls, kernels and launches ---- */

uint32_t nsight_communicator(reader *r, int64_t communicator) {
    char text[32];
    int n = snprintf(text, sizeof text, "0x%llx", (unsigned long long)communicator);
    return nsight_string(r, str_n(text, (size_t)n));
}

/* The communicator by its number; NULL when out of memory. */
static nccl_group *group_at(reader *r, int64_t communicator) {
    uint32_t *at = map_at(&r->nccl_group_map, (uint64_t)communicator);
    bool known = at && *at != MAP_NONE;
    nccl_group *g = known ? &VEC(&r->nccl_groups, nccl_group)[*at]
                    : at  ? vec_push(&r->nccl_groups)
                          : NULL;
    r->failed |= !g;
    if (g && !known) {
        *at = (uint32_t)(r->nccl_groups.n - 1);
        *g = (nccl_group){ABSENT_I64, ABSENT_I64};
    }
    return g;
}

status nsight_nccl_range(reader *r, int64_t thread, int64_t start, uint32_t name,
                         const nccl_payload *p) {
    if (p->v[NCCL_N_RANKS] != ABSENT_I64 && p->v[NCCL_COMMUNICATOR] != ABSENT_I64) {
        nccl_group *g = group_at(r, p->v[NCCL_COMMUNICATOR]);
        if (!g) return ERR_MEMORY;
        g->n_ranks = p->v[NCCL_N_RANKS];
        g->rank = p->v[NCCL_RANK];
    }
    if (p->v[NCCL_BYTES] == ABSENT_I64) return OK;
    nccl_call *c = vec_push(&r->nccl_calls);
    if (!c) return ERR_MEMORY;
    *c = (nccl_call){.thread = thread,
                     .start = start,
                     .bytes = p->v[NCCL_BYTES],
                     .peer = p->v[NCCL_PEER],
                     .communicator = p->v[NCCL_COMMUNICATOR],
                     .name = name};
    return OK;
}

status nsight_nccl_kernel(reader *r, str name, int64_t correlation) {
    if (!r->payload_fields.n || correlation == ABSENT_I64 ||
        str_find(name, STR("nccl"), 0) == SIZE_MAX)
        return OK;
    uint32_t *at = map_at(&r->nccl_launches, (uint64_t)correlation);
    nccl_kernel *k = at ? vec_push(&r->nccl_kernels) : NULL;
    if (!k) return ERR_MEMORY;
    *k = (nccl_kernel){.slice = part_next_slice(r->part),
                       .thread = ABSENT_I64,
                       .before = *at == MAP_NONE ? UINT32_MAX : *at};
    *at = (uint32_t)(r->nccl_kernels.n - 1);
    return OK;
}

void nsight_nccl_launch(reader *r, int64_t correlation, int64_t thread, int64_t start) {
    if (!r->nccl_kernels.n || correlation == ABSENT_I64) return;
    uint32_t at = map_get(&r->nccl_launches, (uint64_t)correlation);
    while (at != MAP_NONE && at != UINT32_MAX) {
        nccl_kernel *k = &VEC(&r->nccl_kernels, nccl_kernel)[at];
        k->thread = thread;
        k->launched = start;
        at = k->before;
    }
}

/* ---- joining them ---- */

static int compare_calls(const void *pa, const void *pb) {
    const nccl_call *a = pa, *b = pb;
    if (a->thread != b->thread) return a->thread < b->thread ? -1 : 1;
    return (a->start > b->start) - (a->start < b->start);
}

static int compare_kernels(const void *pa, const void *pb) {
    const nccl_kernel *a = pa, *b = pb;
    if (a->thread != b->thread) return a->thread < b->thread ? -1 : 1;
    if (a->launched != b->launched) return a->launched < b->launched ? -1 : 1;
    return (a->slice > b->slice) - (a->slice < b->slice);
}

static bool holds(str name, const char *word) {
    return str_find_nocase(name, str_of(word), 0) != SIZE_MAX;
}

/* What one rank gives and gets; NCCL tells the smaller of both. */
static void fill_sizes(raw_comm *c, str name, int64_t bytes, int64_t n_ranks) {
    int64_t all =
        n_ranks > 0 && bytes >= 0 && bytes <= INT64_MAX / n_ranks ? bytes * n_ranks : bytes;
    c->in_elements = holds(name, "ReduceScatter") ? all : bytes;
    c->out_elements = holds(name, "AllGather") ? all : bytes;
}

/* The calls from first to end are what the kernel does; of one communicator, as a rule. */
static status put_comm(reader *r, const nccl_kernel *k, const nccl_call *first,
                       const nccl_call *end) {
    int64_t bytes = 0;
    for (const nccl_call *i = first; i < end; i++) bytes = add_i64(bytes, i->bytes);
    nccl_group *g = group_at(r, first->communicator);
    if (!g) return ERR_MEMORY;
    str name = intern_get(r->strings, first->name);
    raw_comm c = {.slice = k->slice,
                  .name = first->name,
                  .dtype = nsight_string(r, STR("Byte")),
                  .src = ABSENT_I32,
                  .dst = ABSENT_I32,
                  .sequence = ABSENT_I64,
                  .comms_id = ABSENT_I64,
                  .group_size = g->n_ranks};
    if (first->communicator != ABSENT_I64)
        c.group_name = nsight_communicator(r, first->communicator);
    fill_sizes(&c, name, bytes, g->n_ranks);
    if (end - first == 1 && first->peer != ABSENT_I64 && g->rank != ABSENT_I64) {
        bool receives = holds(name, "Recv");
        c.src = sat_i32(receives ? first->peer : g->rank);
        c.dst = sat_i32(receives ? g->rank : first->peer);
    }
    return r->failed ? ERR_MEMORY : part_comm(r->part, &c);
}

status nsight_join_nccl(reader *r, error *err) {
    nccl_call *calls = VEC(&r->nccl_calls, nccl_call);
    nccl_kernel *kernels = VEC(&r->nccl_kernels, nccl_kernel);
    size_t at = 0, n = r->nccl_calls.n;
    if (!n || !r->nccl_kernels.n) return OK;
    qsort(calls, n, sizeof *calls, compare_calls);
    qsort(kernels, r->nccl_kernels.n, sizeof *kernels, compare_kernels);
    for (size_t i = 0; i < r->nccl_kernels.n; i++) {
        const nccl_kernel *k = &kernels[i];
        while (at < n && calls[at].thread < k->thread) at++;
        size_t first = at;
        while (at < n && calls[at].thread == k->thread && calls[at].start <= k->launched) at++;
        if (at > first && put_comm(r, k, &calls[first], &calls[at]) != OK) FAIL_MEMORY(err);
    }
    return OK;
}
