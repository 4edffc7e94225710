/* chain_answer.c: the tables chain and lanes: a step of all ranks as a picture (step_lanes.h), and
 * the longest chain of waiting in it (chain.h). Times count from the first piece of the picture
 * on; ranks come by how late they are in all steps, then by how long they are on the chain, then
 * by what the others waited for them. */
#include "analyse/rows.h"
#include "analyse/run/chain.h"
#include "analyse/run/distributed.h"
#include "base/sort.h"

typedef struct {
    run_question *q;
    lane_list lanes;
    chain found;
    int64_t *late, *on_chain, *caused; /* by worker */
} picture;

static void add_up(picture *p) {
    for (uint32_t i = 0; i < p->q->late.n_ranks; i++)
        p->late[p->q->late.ranks[i].worker] = p->q->late.ranks[i].late;
    for (uint32_t i = 0; i < p->found.n; i++) {
        const chain_leg *leg = &p->found.v[i];
        int64_t *ns = &p->on_chain[leg->worker];
        *ns = add_i64(*ns, sub_i64(leg->end, leg->start));
    }
    for (uint32_t i = 0; i < p->lanes.n; i++) {
        const lane *v = &p->lanes.v[i];
        if (v->kind != LANE_WAIT || v->whom >= p->q->who.n) continue;
        p->caused[v->whom] = add_i64(p->caused[v->whom], sub_i64(v->end, v->start));
    }
}

static int compare_guilt(uint32_t a, uint32_t b, const void *context) {
    const picture *p = context;
    if (p->late[a] != p->late[b]) return p->late[a] > p->late[b] ? -1 : 1;
    if (p->on_chain[a] != p->on_chain[b]) return p->on_chain[a] > p->on_chain[b] ? -1 : 1;
    if (p->caused[a] != p->caused[b]) return p->caused[a] > p->caused[b] ? -1 : 1;
    return (a > b) - (a < b);
}

static status write_lane(const picture *p, table *t, const lane *v, error *err) {
    const run_question *q = p->q;
    row_distributed_lanes row = row_distributed_lanes_none();
    row.worker = q->who.v[v->worker]->name;
    row.rank = q->who.v[v->worker]->rank;
    row.step = v->step;
    row.start = sub_i64(v->start, p->lanes.start);
    row.duration = sub_i64(v->end, v->start);
    row.kind = lane_name(v->kind);
    if (v->whom < q->who.n) row.whom = q->who.v[v->whom]->rank;
    if (v->name.n) row.collective = v->name;
    if (q->groups.n_stages > 1) row.stage = q->groups.stage_of[v->worker];
    return put_distributed_lanes(t, &row, err);
}

static status write_lanes(picture *p, error *err) {
    run_question *q = p->q;
    uint32_t *order = ARENA_ARRAY(q->arena, uint32_t, (size_t)q->who.n + 1),
             *scratch = ARENA_ARRAY(q->arena, uint32_t, (size_t)q->who.n + 1);
    table *t = answer_table(q->out, q->arena, "lanes");
    int64_t most = 0, n = 0;
    if (!order || !scratch || !t) FAIL_MEMORY(err);
    TRY(param_count(q->params, STR("lanes"), &most, err));
    for (uint32_t i = 0; i < q->who.n; i++) order[i] = i;
    sort_index(order, scratch, q->who.n, compare_guilt, p);
    for (uint32_t i = 0; q->who.n > 1 && i < q->who.n && (!most || n < most); i++) {
        uint32_t w = order[i];
        n += p->lanes.first[w] < p->lanes.first[w + 1];
        for (uint32_t k = p->lanes.first[w]; k < p->lanes.first[w + 1]; k++)
            TRY(write_lane(p, t, &p->lanes.v[k], err));
    }
    return OK;
}

static status write_chain(const picture *p, error *err) {
    const run_question *q = p->q;
    table *t = answer_table(q->out, q->arena, "chain");
    if (!t) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < p->found.n && q->who.n > 1; i++) {
        const chain_leg *leg = &p->found.v[i];
        row_distributed_chain row = row_distributed_chain_none();
        row.worker = q->who.v[leg->worker]->name;
        row.rank = q->who.v[leg->worker]->rank;
        row.step = p->lanes.v[0].step;
        row.start = sub_i64(leg->start, p->lanes.start);
        row.duration = sub_i64(leg->end, leg->start);
        row.kind = lane_name(leg->kind);
        row.time = leg->kind_ns;
        if (leg->waiting) {
            row.collective = leg->name;
            row.waiting = leg->waiting;
            row.waited = leg->waited;
        }
        TRY(put_distributed_chain(t, &row, err));
    }
    return OK;
}

status chain_write(run_question *q, error *err) {
    picture p = {.q = q};
    p.late = ARENA_ARRAY(q->arena, int64_t, (size_t)q->who.n + 1);
    p.on_chain = ARENA_ARRAY(q->arena, int64_t, (size_t)q->who.n + 1);
    p.caused = ARENA_ARRAY(q->arena, int64_t, (size_t)q->who.n + 1);
    if (!p.late || !p.on_chain || !p.caused) FAIL_MEMORY(err);
    TRY(lanes_read(q->s, &q->who, q->arena, &p.lanes, err));
    TRY(chain_find(&p.lanes, q->who.n, q->arena, &p.found, err));
    add_up(&p);
    TRY(write_chain(&p, err));
    return write_lanes(&p, err);
}
