/* seal_details.c: the tables that hang on slices (op, kernel, call, comm, module_call), each in the
 * order of its slices. s->detail holds for every slice its row in the table of its kind, for the
 * steps that follow. */
#include "base/mem.h"
#include "base/num.h"
#include "store/builder_int.h"

typedef enum { DETAIL_NONE, DETAIL_OP, DETAIL_KERNEL, DETAIL_CALL } detail_table;

static detail_table table_of(uint8_t kind) {
    switch (kind) {
    case KIND_KERNEL:
    case KIND_MEMCPY:
    case KIND_MEMSET: return DETAIL_KERNEL;
    case KIND_RUNTIME:
    case KIND_DRIVER: return DETAIL_CALL;
    case KIND_SPAN:
    case KIND_PYTHON:
    case KIND_MODULE:
    case KIND_SYNC:
    case KIND_OVERHEAD:
    case KIND_DEVICE_ANNOTATION:
    case KIND_ASYNC: return DETAIL_NONE;
    default: return DETAIL_OP;
    }
}

/* The part a raw slice is in; slices of a track come in runs of one part, so the last one is tried
 * first. */
static bool holds(const part *p, const raw_slice *r) {
    const raw_slice *first = VEC(&p->slices, raw_slice);
    return p->slices.n && r >= first && r < first + p->slices.n;
}

const part *seal_part_of(const sealing *s, const raw_slice *r, const part *guess) {
    if (holds(guess, r)) return guess;
    for (uint32_t i = 0; i < s->n_parts; i++)
        if (holds(s->part_list[i], r)) return s->part_list[i];
    return guess;
}

static void write_op(sealing *s, uint32_t row, uint32_t slice, const raw_op *o) {
    s->op.slice[row] = slice;
    s->op.external[row] = o->external;
    s->op.sequence[row] = o->sequence;
    s->op.forward_thread[row] = o->forward_thread;
    s->op.shapes[row] = o->shapes;
    s->op.types[row] = o->types;
    s->op.inputs[row] = o->inputs;
    s->op.frame[row] = o->call_stack; /* seal_frames turns the text into a frame */
    s->op.flops[row] = NAN;
    s->op.bytes[row] = ABSENT_I64;
}

static void write_kernel(sealing *s, uint32_t row, uint32_t slice, const raw_kernel *k) {
    s->kernel.slice[row] = slice;
    s->kernel.device[row] = k->device;
    s->kernel.stream[row] = k->stream;
    s->kernel.context[row] = k->context;
    s->kernel.correlation[row] = k->correlation;
    s->kernel.grid_x[row] = k->grid[0];
    s->kernel.grid_y[row] = k->grid[1];
    s->kernel.grid_z[row] = k->grid[2];
    s->kernel.block_x[row] = k->block[0];
    s->kernel.block_y[row] = k->block[1];
    s->kernel.block_z[row] = k->block[2];
    s->kernel.registers[row] = k->registers;
    s->kernel.shared_memory[row] = k->shared_memory;
    s->kernel.occupancy[row] = k->occupancy;
    s->kernel.blocks_per_sm[row] = k->blocks_per_sm;
    s->kernel.bytes[row] = k->bytes;
    s->kernel.graph_node[row] = k->graph_node;
}

/* Device work that does not say where it ran did so on its track's device. */
static void fill_devices(sealing *s) {
    uint32_t k = 1;
    for (uint32_t t = 1; t < s->track.n; t++)
        for (; k < s->kernel.n && s->kernel.slice[k] < s->track.end[t]; k++)
            if (s->kernel.device[k] == ABSENT_I32) s->kernel.device[k] = s->track.device[t];
}

static const raw_op NO_OP = {
    .external = ABSENT_I64, .sequence = ABSENT_I64, .forward_thread = ABSENT_I64};

static status make_tables(sealing *s, error *err) {
    size_t n[4] = {0, 1, 1, 1};
    for (uint32_t i = 1; i < s->slice.n; i++) {
        detail_table t = table_of(s->slice.kind[i]);
        if (t == DETAIL_OP || s->raw[i]->extra) n[t]++;
    }
    TRY(seal_table(s, TABLE_op, n[DETAIL_OP], err));
    TRY(seal_table(s, TABLE_kernel, n[DETAIL_KERNEL], err));
    return seal_table(s, TABLE_call, n[DETAIL_CALL], err);
}

static void fill_tables(sealing *s) {
    uint32_t n_op = 1, n_kernel = 1, n_call = 1;
    const part *p = s->n_parts ? s->part_list[0] : NULL;
    for (uint32_t i = 1; i < s->slice.n; i++) {
        const raw_slice *r = s->raw[i];
        detail_table t = table_of(s->slice.kind[i]);
        if (t == DETAIL_NONE || (t != DETAIL_OP && !r->extra)) continue;
        p = seal_part_of(s, r, p);
        uint32_t x = r->extra - 1;
        if (t == DETAIL_OP) {
            write_op(s, n_op, i, r->extra ? &VEC(&p->ops, raw_op)[x] : &NO_OP);
            s->detail[i] = n_op++;
        } else if (t == DETAIL_KERNEL) {
            write_kernel(s, n_kernel, i, &VEC(&p->kernels, raw_kernel)[x]);
            s->detail[i] = n_kernel++;
        } else {
            s->call.slice[n_call] = i;
            s->call.correlation[n_call] = VEC(&p->calls, raw_call)[x].correlation;
            s->detail[i] = n_call++;
        }
    }
}

/* Cost and phase of the ops that have them. Their raw rows name the raw op; the slice that holds that
 * op is the one whose `extra` says so. */
static status seal_op_costs(sealing *s, error *err) {
    for (uint32_t k = 0; k < s->n_parts; k++) {
        const part *p = s->part_list[k];
        if (p->op_costs.n == 0) continue;
        size_t bytes = (p->ops.n + 1) * sizeof(uint32_t);
        uint32_t *row_of = mem_map(bytes);
        if (!row_of) FAIL_MEMORY(err);
        for (uint32_t i = 1; i < s->op.n; i++) {
            const raw_slice *r = s->raw[s->op.slice[i]];
            if (r->extra && seal_part_of(s, r, p) == p) row_of[r->extra] = i;
        }
        for (size_t i = 0; i < p->op_costs.n; i++) {
            const raw_op_cost *c = &VEC(&p->op_costs, raw_op_cost)[i];
            uint32_t row = c->op <= p->ops.n ? row_of[c->op] : 0;
            if (!row) continue;
            s->op.phase[row] = c->phase;
            s->op.flops[row] = c->flops;
            s->op.bytes[row] = c->bytes;
        }
        mem_unmap(row_of, bytes);
    }
    return OK;
}

/* ---- rows that name their slice: comm and module_call ---- */

/* Sealed ids of the raw slices of a part, by raw row. Only made for parts that need it. */
static uint32_t *sealed_ids(sealing *s, const part *p) {
    uint32_t *ids = mem_map((p->slices.n + 1) * sizeof *ids);
    const raw_slice *first = VEC(&p->slices, raw_slice);
    for (uint32_t i = 1; ids && i < s->slice.n; i++)
        if (s->raw[i] >= first && s->raw[i] < first + p->slices.n) ids[s->raw[i] - first] = i;
    return ids;
}

static uint32_t find_group(sealing *s, map *groups, const raw_comm *c, error *err, status *st) {
    uint32_t *at = map_at(groups, (uint64_t)c->group_name);
    if (!at) {
        *st = ERR_MEMORY;
        return 0;
    }
    if (*at == MAP_NONE) {
        raw_group g = {.name = c->group_name,
                       .description = c->group_description,
                       .ranks = c->group_ranks,
                       .size = c->group_size};
        *at = 0;
        *st = builder_add_group(s->b, &g, err);
        if (*st == OK) *at = (uint32_t)s->b->groups.n;
    }
    return *at;
}

static void write_comm(sealing *s, uint32_t row, uint32_t slice, const raw_comm *c,
                       uint32_t group) {
    s->comm.slice[row] = slice;
    s->comm.name[row] = c->name;
    s->comm.group[row] = group;
    s->comm.sequence[row] = c->sequence;
    s->comm.comms_id[row] = c->comms_id;
    s->comm.in_elements[row] = c->in_elements;
    s->comm.out_elements[row] = c->out_elements;
    s->comm.dtype[row] = c->dtype;
    s->comm.src[row] = c->src;
    s->comm.dst[row] = c->dst;
}

/* For every slice the raw comm row it has (pointer), then rows in slice order. */
static status seal_comms(sealing *s, error *err) {
    size_t n = 0;
    for (uint32_t i = 0; i < s->n_parts; i++) n += s->part_list[i]->comms.n;
    TRY(seal_table(s, TABLE_comm, n + 1, err));
    if (n == 0) return OK;
    const raw_comm **by_slice = mem_map(s->slice.n * sizeof *by_slice);
    map groups = {0};
    status st = by_slice ? OK : ERR_MEMORY;
    for (uint32_t i = 0; i < s->n_parts && st == OK; i++) {
        const part *p = s->part_list[i];
        uint32_t *ids = p->comms.n ? sealed_ids(s, p) : NULL;
        if (p->comms.n && !ids) st = ERR_MEMORY;
        for (size_t k = 0; ids && k < p->comms.n; k++) {
            const raw_comm *c = &VEC(&p->comms, raw_comm)[k];
            if (c->slice < p->slices.n) by_slice[ids[c->slice]] = c;
        }
        if (ids) mem_unmap(ids, (p->slices.n + 1) * sizeof *ids);
    }
    for (size_t i = 0; i < s->b->groups.n && st == OK; i++) {
        uint32_t *at = map_at(&groups, VEC(&s->b->groups, raw_group)[i].name);
        if (!at) st = ERR_MEMORY;
        if (at && *at == MAP_NONE) *at = (uint32_t)i + 1;
    }
    uint32_t row = 1;
    for (uint32_t i = 1; i < s->slice.n && st == OK; i++)
        if (by_slice[i]) {
            uint32_t group = find_group(s, &groups, by_slice[i], err, &st);
            write_comm(s, row++, i, by_slice[i], group);
        }
    if (by_slice) mem_unmap(by_slice, s->slice.n * sizeof *by_slice);
    map_fini(&groups);
    if (st == ERR_MEMORY) FAIL_MEMORY(err);
    return st;
}

/* module_call rows; seal_frames fills `module` from the id kept there meanwhile. */
static status seal_module_calls(sealing *s, error *err) {
    size_t n = 1;
    for (uint32_t i = 1; i < s->slice.n; i++) n += s->slice.kind[i] == KIND_MODULE;
    TRY(seal_table(s, TABLE_module_call, n, err));
    uint32_t row = 1;
    for (uint32_t i = 1; i < s->slice.n; i++)
        if (s->slice.kind[i] == KIND_MODULE) {
            s->detail[i] = row;
            s->module_call.slice[row++] = i;
        }
    return OK;
}

status seal_details(sealing *s, error *err) {
    memset(s->detail, 0, (size_t)s->slice.n * sizeof *s->detail);
    TRY(make_tables(s, err));
    fill_tables(s);
    fill_devices(s);
    TRY(seal_op_costs(s, err));
    TRY(seal_comms(s, err));
    return seal_module_calls(s, err);
}
