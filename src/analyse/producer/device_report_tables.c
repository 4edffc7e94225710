/* device_report_tables.c: the devices of a run as tables: steps, communication, links,
 * resources.
 *
 * Without a choice of steps there are the average of each worker and each of its steps; with
 * one (--step) there are only those. The list of collectives is long, so without a choice it
 * has the average alone. Shares of operations are of the worker that did most, as on
 * MindInsight's heat map. */
#include <math.h>

#include "analyse/producer/device_report.h"
#include "base/bisect.h"
#include "base/num.h"

#define COL_C(table, name) COL(distributed, table, name)

static bool is_wanted(const params *p, int64_t step) {
    if (p->first_step == ABSENT_I64) return true;
    return step != ABSENT_I64 && step >= p->first_step && step <= p->last_step;
}

static void set_known(table *t, size_t row, uint32_t col, int64_t v) {
    if (v != ABSENT_I64) table_set_int(t, row, col, v);
}

/* Every table begins with the worker and its rank. */
static status add_row(table *t, const device_report_worker *w, size_t *row, error *err) {
    TRY(table_add_row(t, row, err));
    table_set_text(t, *row, 0, w->at->worker);
    set_known(t, *row, 1, w->at->rank);
    return OK;
}

static status write_steps(const device_report_worker *w, const params *p, table *t,
                          error *err) {
    static const uint32_t columns[N_REPORT_PARTS] = {
        [REPORT_INTERVAL] = COL_C(cluster_steps, interval),
        [REPORT_PASSES] = COL_C(cluster_steps, forward_backward),
        [REPORT_TAIL] = COL_C(cluster_steps, tail),
        [REPORT_TOTAL] = COL_C(cluster_steps, total),
        [REPORT_COMPUTATION] = COL_C(cluster_steps, computation),
        [REPORT_COMMUNICATION] = COL_C(cluster_steps, communication_alone),
        [REPORT_STAGE] = COL_C(cluster_steps, stage_time),
        [REPORT_RECEIVE] = COL_C(cluster_steps, receive_alone),
        [REPORT_COLLECTIVE] = COL_C(cluster_steps, collective_alone),
    };
    for (uint32_t i = 0; i < w->n_steps; i++) {
        const device_report_step *s = &w->steps[i];
        size_t row;
        if (!is_wanted(p, s->number)) continue;
        TRY(add_row(t, w, &row, err));
        set_known(t, row, COL_C(cluster_steps, stage), w->stage);
        set_known(t, row, COL_C(cluster_steps, step), s->number);
        for (int k = 0; k < N_REPORT_PARTS; k++) set_known(t, row, columns[k], s->part[k]);
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
        size_t row;
        TRY(add_row(t, w, &row, err));
        set_known(t, row, COL_C(communication_ops, step), c->step);
        table_set_text(t, row, COL_C(communication_ops, name), op->name);
        set_known(t, row, COL_C(communication_ops, communication), op->communication);
        set_known(t, row, COL_C(communication_ops, waiting), op->waiting);
    }
    return OK;
}

static status write_communication(const device_report_worker *w, const params *p, table *t,
                                  table *operators, error *err) {
    for (uint32_t i = 0; i < w->n_comms; i++) {
        const summary_comm_cost *c = &w->comms[i];
        size_t row;
        if (!is_wanted(p, c->step)) continue;
        TRY(add_row(t, w, &row, err));
        set_known(t, row, COL_C(communication, step), c->step);
        set_known(t, row, COL_C(communication, communication), c->communication);
        set_known(t, row, COL_C(communication, waiting), c->waiting);
        set_known(t, row, COL_C(communication, operators), c->operators);
        if (p->first_step != ABSENT_I64 || c->step == ABSENT_I64)
            TRY(write_operators(w, c, operators, err));
    }
    return OK;
}

static status write_links(const device_report_worker *w, const params *p, table *t,
                          error *err) {
    for (uint32_t i = 0; i < w->n_links; i++) {
        const summary_link *l = &w->links[i];
        size_t row;
        if (!is_wanted(p, l->step)) continue;
        TRY(add_row(t, w, &row, err));
        set_known(t, row, COL_C(links, step), l->step);
        table_set_int(t, row, COL_C(links, source), l->source);
        table_set_int(t, row, COL_C(links, target), l->target);
        table_set_text(t, row, COL_C(links, kind), l->kind);
        table_set_int(t, row, COL_C(links, time), l->time);
        table_set_int(t, row, COL_C(links, bytes), l->bytes);
        table_set_real(t, row, COL_C(links, bandwidth), device_link_rate(l));
        set_known(t, row, COL_C(links, waiting), l->waiting);
    }
    return OK;
}

static status write_resources(const device_report *c, table *t, error *err) {
    double most = 0;
    for (uint32_t i = 0; i < c->n; i++)
        if (c->v[i].flops > most) most = c->v[i].flops;
    for (uint32_t i = 0; i < c->n; i++) {
        const device_report_worker *w = &c->v[i];
        size_t row;
        if (isnan(w->flops) && w->memory_peak == ABSENT_I64) continue;
        TRY(add_row(t, w, &row, err));
        set_known(t, row, COL_C(resources, stage), w->stage);
        table_set_real(t, row, COL_C(resources, flops), w->flops);
        table_set_real(t, row, COL_C(resources, flops_share), w->flops / most);
        table_set_real(t, row, COL_C(resources, flops_per_s), w->flops_per_s);
        table_set_real(t, row, COL_C(resources, flops_utilization), w->utilization);
        set_known(t, row, COL_C(resources, memory_peak), w->memory_peak);
        set_known(t, row, COL_C(resources, memory_capacity), w->memory_capacity);
        if (w->memory_peak != ABSENT_I64 && w->memory_capacity > 0)
            table_set_real(t, row, COL_C(resources, memory_share),
                           (double)w->memory_peak / (double)w->memory_capacity);
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
