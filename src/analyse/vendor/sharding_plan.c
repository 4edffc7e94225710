/* sharding_plan.c: how a network was split over the devices: the stages of a pipeline, and the
 * operators with their sharding and their communication groups.
 *
 * Each rank has the operators it was given (table plan_op). Those of a stage are those of
 * its first rank; the groups are the union over its ranks, sorted. An attribute `group` is a
 * communication group only on a collective or where its ranks are given: a convolution has a
 * `group` too, and MindInsight takes that for one. */
#include "analyse/comm/comm_kind.h"
#include "analyse/rows.h"
#include "analyse/vendor/device_report.h"
#include "analyse/vendor/producer_rows.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/num.h"
#include "base/sort.h"

/* ---- operators --------------------------------------------------------------------------- */

/* What a rank was given. */
typedef struct {
    const summary_plan_op *ops;
    uint32_t n_ops;
    int64_t stage;
    str mode;
} rank_plan;

typedef struct {
    uint32_t row; /* of the table */
    str group;
} row_group;

typedef struct {
    arena *arena;
    const analysis_input *in;
    const rank_plan *plans; /* by trace */
    int64_t stage;
    const uint32_t *ranks; /* indices of the traces of the stage */
    uint32_t n_ranks;
    table *out;
    map rows; /* hash of a collective's id -> its row */
} plan;

static bool is_collective(const summary_plan_op *op) {
    return comm_type_of(op->type) != COMM_OTHER || op->group_ranks.n;
}

static uint64_t op_key(const summary_plan_op *op) {
    return intern_hash(op->id);
}

static int compare_groups(uint32_t a, uint32_t b, const void *context) {
    const row_group *x = (const row_group *)context + a, *y = (const row_group *)context + b;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    return str_cmp(x->group, y->group);
}

/* The groups of all ranks of the stage; how many when `out` is NULL. */
static uint32_t list_groups(const plan *p, row_group *out) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_ranks; i++) {
        const rank_plan *own = &p->plans[p->ranks[i]];
        for (uint32_t k = 0; k < own->n_ops; k++) {
            const summary_plan_op *op = &own->ops[k];
            bool named = op->group.n && is_collective(op);
            uint32_t row = named ? map_get(&p->rows, op_key(op)) : MAP_NONE;
            if (row == MAP_NONE || n == UINT32_MAX) continue;
            if (out) out[n] = (row_group){row, op->group};
            n++;
        }
    }
    return n;
}

/* Union over the ranks, sorted, joined by commas. */
static status write_groups(plan *p, error *err) {
    uint32_t n = list_groups(p, NULL);
    row_group *found = ARENA_ARRAY(p->arena, row_group, (size_t)n + 1);
    uint32_t *order = ARENA_ARRAY(p->arena, uint32_t, (size_t)n + 1),
             *scratch = ARENA_ARRAY(p->arena, uint32_t, (size_t)n + 1);
    if (!found || !order || !scratch) FAIL_MEMORY(err);
    list_groups(p, found);
    for (uint32_t i = 0; i < n; i++) order[i] = i;
    sort_index(order, scratch, n, compare_groups, found);
    buf text = {0};
    bool ok = true;
    for (uint32_t i = 0; i < n && ok;) {
        uint32_t row = found[order[i]].row;
        str last = STR_NONE;
        for (; i < n && found[order[i]].row == row; i++) {
            if (last.n && str_eq(found[order[i]].group, last)) continue;
            if (text.n) buf_add_cstr(&text, ", ");
            last = found[order[i]].group;
            buf_add_str(&text, last);
        }
        ok = buf_ok(&text);
        str joined = arena_str(p->arena, buf_str(&text));
        buf_clear(&text);
        ok &= joined.p != NULL;
        table_set_text(p->out, row, COL(distributed, parallel_operators, group), joined);
    }
    buf_fini(&text);
    if (!ok) FAIL_MEMORY(err);
    return OK;
}

static status write_operator(plan *p, const summary_plan_op *op, error *err) {
    row_distributed_parallel_operators row = row_distributed_parallel_operators_none();
    row.stage = p->stage;
    row.id = op->id;
    row.name = op->name;
    row.type = op->type;
    row.scope = op->scope;
    if (op->kind.n) row.kind = op->kind;
    if (op->shape.n) row.shape = op->shape;
    if (op->data_type.n) row.data_type = op->data_type;
    if (op->sharding.n) row.sharding = op->sharding;
    if (op->inputs.n) row.inputs = op->inputs;
    if (op->group_ranks.n) row.group_ranks = op->group_ranks;
    uint32_t *at = is_collective(op) ? map_at(&p->rows, op_key(op)) : &(uint32_t){0};
    if (!at) FAIL_MEMORY(err);
    *at = sat_u32(p->out->n_rows); /* where it is going to be */
    return put_distributed_parallel_operators(p->out, &row, err);
}

static status write_operators(plan *p, error *err) {
    const rank_plan *first = &p->plans[p->ranks[0]];
    status st = OK;
    for (uint32_t i = 0; st == OK && i < first->n_ops; i++)
        st = write_operator(p, &first->ops[i], err);
    if (st == OK) st = write_groups(p, err);
    map_fini(&p->rows);
    return st;
}

/* ---- stages ------------------------------------------------------------------------------ */

static status write_stage(const plan *p, table *out, error *err) {
    str mode = p->plans[p->ranks[0]].mode;
    buf ranks = {0};
    for (uint32_t i = 0; i < p->n_ranks; i++) {
        if (i) buf_add_cstr(&ranks, ", ");
        buf_add_i64(&ranks, p->in->traces[p->ranks[i]].rank);
    }
    str text = buf_ok(&ranks) ? arena_str(p->arena, buf_str(&ranks)) : STR_NONE;
    buf_fini(&ranks);
    if (!text.p) FAIL_MEMORY(err);
    row_distributed_parallel_stages row = row_distributed_parallel_stages_none();
    row.stage = p->stage;
    if (mode.n) row.mode = mode;
    row.ranks = text;
    return put_distributed_parallel_stages(out, &row, err);
}

static status read_plan(const analysis_trace *at, arena *a, rank_plan *out, error *err) {
    const summary_parallel *parallel;
    uint32_t n;
    *out = (rank_plan){.stage = 1, .mode = STR_NONE};
    TRY(producer_rows(at, SUMMARY_plan_op, a, (const void **)&out->ops, &out->n_ops, err));
    TRY(producer_rows(at, SUMMARY_parallel, a, (const void **)&parallel, &n, err));
    if (n && parallel->stage != ABSENT_I64) out->stage = parallel->stage;
    if (n) out->mode = parallel->mode;
    return OK;
}

status sharding_plan_write(const analysis_input *all, arena *a, answer *out, error *err) {
    analysis_input workers;
    TRY(producer_workers(all, a, &workers, err));
    const analysis_input *in = &workers;
    table *stages = answer_table(out, a, "parallel_stages"),
          *operators = answer_table(out, a, "parallel_operators");
    uint32_t *ranks = ARENA_ARRAY(a, uint32_t, (size_t)in->n_traces + 1);
    uint8_t *done = ARENA_ARRAY(a, uint8_t, (size_t)in->n_traces + 1);
    rank_plan *plans = ARENA_ARRAY(a, rank_plan, (size_t)in->n_traces + 1);
    if (!stages || !operators || !ranks || !done || !plans) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < in->n_traces; i++)
        TRY(read_plan(&in->traces[i], a, &plans[i], err));
    for (uint32_t i = 0; i < in->n_traces; i++) {
        plan p = {.arena = a,
                  .in = in,
                  .plans = plans,
                  .stage = plans[i].stage,
                  .ranks = ranks,
                  .out = operators};
        if (done[i] || !plans[i].n_ops) continue;
        for (uint32_t k = i; k < in->n_traces; k++) {
            if (done[k] || !plans[k].n_ops || plans[k].stage != p.stage) continue;
            done[k] = 1;
            ranks[p.n_ranks++] = k;
        }
        TRY(write_stage(&p, stages, err));
        TRY(write_operators(&p, err));
    }
    return OK;
}
