/* device_report_tables.c: the devices of a run as tables: steps, communication, links,
 * resources.
 *
 * Without a choice of steps there are the average of each worker and each of its steps; with
 * one (--step) there are only those. The list of collectives is long, so without a choice it
 * has the average alone. Shares of operations are of the worker that did most, as on
 * MindInsight's heat map. */
#include <math.h>

#include "analyse/rows.h"
#include "analyse/vendor/device_report.h"
#include "base/bisect.h"
#include "base/num.h"

static bool is_wanted(const params *p, int64_t step) {
    if (p->first_step == ABSENT_I64) return true;
    return step != ABSENT_I64 && step >= p->first_step && step <= p->last_step;
}

/* Every table begins with the worker and its rank. */
#define ROW_OF(name, w)                                           \
    row_distributed_##name row = row_distributed_##name##_none(); \
    row.worker = (w)->at->worker;                                 \
    row.rank = (w)->at->rank;

static status write_steps(const device_report_worker *w, const params *p, table *t,
                          error *err) {
    for (uint32_t i = 0; i < w->n_steps; i++) {
        const device_report_step *s = &w->steps[i];
        if (!is_wanted(p, s->number)) continue;
        ROW_OF(cluster_steps, w);
        row.stage = w->stage;
        row.step = s->number;
        row.interval = s->part[REPORT_INTERVAL];
        row.forward_backward = s->part[REPORT_PASSES];
        row.tail = s->part[REPORT_TAIL];
        row.total = s->part[REPORT_TOTAL];
        row.computation = s->part[REPORT_COMPUTATION];
        row.communication_alone = s->part[REPORT_COMMUNICATION];
        row.stage_time = s->part[REPORT_STAGE];
        row.receive_alone = s->part[REPORT_RECEIVE];
        row.collective_alone = s->part[REPORT_COLLECTIVE];
        TRY(put_distributed_cluster_steps(t, &row, err));
    }
    return OK;
}

/* The first collective of a row of comm_cost: they ascend by it. */
static uint32_t first_operator(const device_report_worker *w, int64_t cost) {
    return SEARCH_FIRST(k, 0, w->n_comm_ops, w->comm_ops[k].cost < cost);
}

static status write_operators(const device_report_worker *w, const summary_comm_cost *c,
                              table *t, error *err) {
    for (uint32_t i = first_operator(w, c->number);
         i < w->n_comm_ops && w->comm_ops[i].cost == c->number; i++) {
        const summary_comm_cost_op *op = &w->comm_ops[i];
        ROW_OF(communication_ops, w);
        row.step = c->step;
        row.name = op->name;
        row.communication = op->communication;
        row.waiting = op->waiting;
        TRY(put_distributed_communication_ops(t, &row, err));
    }
    return OK;
}

static status write_communication(const device_report_worker *w, const params *p, table *t,
                                  table *operators, error *err) {
    for (uint32_t i = 0; i < w->n_comms; i++) {
        const summary_comm_cost *c = &w->comms[i];
        if (!is_wanted(p, c->step)) continue;
        ROW_OF(communication, w);
        row.step = c->step;
        row.communication = c->communication;
        row.waiting = c->waiting;
        row.operators = c->operators;
        TRY(put_distributed_communication(t, &row, err));
        if (p->first_step != ABSENT_I64 || c->step == ABSENT_I64)
            TRY(write_operators(w, c, operators, err));
    }
    return OK;
}

static status write_links(const device_report_worker *w, const params *p, table *t,
                          error *err) {
    for (uint32_t i = 0; i < w->n_links; i++) {
        const summary_link *l = &w->links[i];
        if (!is_wanted(p, l->step)) continue;
        ROW_OF(links, w);
        row.step = l->step;
        row.source = l->source;
        row.target = l->target;
        row.kind = l->kind;
        row.time = l->time;
        row.bytes = l->bytes;
        row.bandwidth = device_link_rate(l);
        row.waiting = l->waiting;
        TRY(put_distributed_links(t, &row, err));
    }
    return OK;
}

static status write_resources(const device_report *c, table *t, error *err) {
    double most = 0;
    for (uint32_t i = 0; i < c->n; i++)
        if (c->v[i].flops > most) most = c->v[i].flops;
    for (uint32_t i = 0; i < c->n; i++) {
        const device_report_worker *w = &c->v[i];
        if (isnan(w->flops) && w->memory_peak == ABSENT_I64) continue;
        ROW_OF(resources, w);
        row.stage = w->stage;
        row.flops = w->flops;
        row.flops_share = w->flops / most;
        row.flops_per_s = w->flops_per_s;
        row.flops_utilization = w->utilization;
        row.memory_peak = w->memory_peak;
        row.memory_capacity = w->memory_capacity;
        if (w->memory_peak != ABSENT_I64 && w->memory_capacity > 0)
            row.memory_share = (double)w->memory_peak / (double)w->memory_capacity;
        TRY(put_distributed_resources(t, &row, err));
    }
    return OK;
}

status device_report_write(const device_report *c, const params *p, arena *a, answer *out,
                           error *err) {
    table *steps = answer_table(out, a, "cluster_steps"),
          *comm = answer_table(out, a, "communication");
    table *operators = answer_table(out, a, "communication_ops"),
          *links = answer_table(out, a, "links");
    table *resources = answer_table(out, a, "resources");
    if (!steps || !comm || !operators || !links || !resources) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < c->n; i++) {
        TRY(write_steps(&c->v[i], p, steps, err));
        TRY(write_communication(&c->v[i], p, comm, operators, err));
        TRY(write_links(&c->v[i], p, links, err));
    }
    return write_resources(c, resources, err);
}
