/* overview_stages.c: the stages of training and the user's own ranges, on host and device. */
#include <math.h>

#include "analyse/group.h"
#include "analyse/kind_names.h"
#include "analyse/operators/range_scan.h"
#include "analyse/questions/overview_int.h"
#include "base/sort.h"

static str stage_row_name(int s) {
    return s == STAGE_STEP ? STR("step") : stage_name((stage)s);
}

static void set_stage(table *t, size_t row, const stage_total *s, bool device) {
    table_set_int(t, row, COL_O(stages, calls), s->calls);
    table_set_int(t, row, COL_O(stages, host_time), s->host);
    table_set_int(t, row, COL_O(stages, host_mean), mean_i64(s->host, s->calls));
    table_set_int(t, row, COL_O(stages, host_max), s->host_max);
    table_set_int(t, row, COL_O(stages, host_min), s->host_min);
    if (!device) return;
    table_set_int(t, row, COL_O(stages, device_time), s->device);
    table_set_int(t, row, COL_O(stages, device_mean), mean_i64(s->device, s->calls));
    table_set_int(t, row, COL_O(stages, device_max), s->device_max);
    table_set_int(t, row, COL_O(stages, device_min), s->device_min);
}

/* The stages' shares of the whole step, which add up to 1; null when there is nothing to
 * share. */
static void stage_shares(const overview *o, double *host, double *device) {
    int64_t ns[2][N_STAGES];
    for (int s = 0; s < N_STAGES; s++) {
        ns[0][s] = o->stages.total[s].host;
        ns[1][s] = o->stages.total[s].device;
    }
    share_parts(ns[0], host, N_STAGES);
    share_parts(ns[1], device, N_STAGES);
    host[STAGE_STEP] = o->stages.total[STAGE_STEP].host ? 1 : NAN;
    device[STAGE_STEP] = o->stages.total[STAGE_STEP].device ? 1 : NAN;
}

static void keep_longer(interval *longest, interval one) {
    if (sub_i64(one.end, one.start) > sub_i64(longest->end, longest->start)) *longest = one;
}

/* The longest piece of each stage, and the longest step. What is left between stages has no
 * piece. */
static void longest_pieces(const overview *o, interval out[N_STAGES + 1]) {
    for (int s = 0; s <= N_STAGES; s++) out[s] = (interval){0};
    for (size_t i = 0; i < o->stages.segments.n; i++) {
        const stage_segment *g = &o->stages.segments.v[i];
        if (select_clip(&o->select, g->range.start, g->range.end) > 0)
            keep_longer(&out[g->stage], g->range);
    }
    for (uint32_t i = 0; i < o->with_ops.n; i++)
        keep_longer(&out[STAGE_STEP], (interval){o->with_ops.v[i].start, o->with_ops.v[i].end});
}

static void set_piece(const overview *o, table *t, size_t row, interval piece) {
    if (piece.end <= piece.start) return;
    table_set_int(t, row, COL_O(stages, from), sub_i64(piece.start, o->t->start_ns));
    table_set_int(t, row, COL_O(stages, to), sub_i64(piece.end, o->t->start_ns));
}

/* The whole step first, then the stages that occur. */
static status write_stage_totals(overview *o, error *err) {
    static const int order[] = {STAGE_STEP,     STAGE_DATA,      STAGE_FORWARD,
                                STAGE_BACKWARD, STAGE_OPTIMIZER, STAGE_OTHER};
    bool device = o->t->kernel.n > 1;
    double host[N_STAGES + 1], work[N_STAGES + 1];
    interval pieces[N_STAGES + 1];
    table *t = answer_table(o->out, o->arena, "stages");
    if (!t) FAIL_MEMORY(err);
    stage_shares(o, host, work);
    longest_pieces(o, pieces);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const stage_total *s = &o->stages.total[order[i]];
        size_t row;
        if (!s->calls) continue;
        TRY(table_add_row(t, &row, err));
        table_set_text(t, row, COL_O(stages, stage), stage_row_name(order[i]));
        set_stage(t, row, s, device);
        table_set_real(t, row, COL_O(stages, host_share),
                       isnan(host[STAGE_STEP]) ? NAN : host[order[i]]);
        if (device)
            table_set_real(t, row, COL_O(stages, device_share),
                           isnan(work[STAGE_STEP]) ? NAN : work[order[i]]);
        set_piece(o, t, row, pieces[order[i]]);
    }
    return OK;
}

static status write_stage_steps(overview *o, error *err) {
    table *t = answer_table(o->out, o->arena, "stage_steps");
    if (!t) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < o->with_ops.n; i++)
        for (int s = 0; s < N_STAGES; s++) {
            size_t row;
            if (!o->stages.total[s].calls) continue;
            TRY(table_add_row(t, &row, err));
            table_set_int(t, row, COL_O(stage_steps, step), o->with_ops.v[i].number);
            table_set_text(t, row, COL_O(stage_steps, stage), stage_name((stage)s));
            table_set_int(t, row, COL_O(stage_steps, host_time), o->stages.host[i][s]);
            if (o->t->kernel.n > 1)
                table_set_int(t, row, COL_O(stage_steps, device_time), o->stages.device[i][s]);
        }
    return OK;
}

status overview_write_stages(overview *o, error *err) {
    TRY(write_stage_totals(o, err));
    return write_stage_steps(o, err);
}

status overview_write_stage_events(overview *o, error *err) {
    stage_event(*events)[N_KINDS] = arena_array(o->arena, N_STAGES, sizeof *events);
    table *t = answer_table(o->out, o->arena, "stage_events");
    if (!events || !t) FAIL_MEMORY(err);
    TRY(stage_events_make(&o->select, &o->with_ops, &o->stages, events, err));
    for (int s = 0; s < N_STAGES; s++)
        for (uint8_t k = 0; k < N_KINDS; k++) {
            size_t row;
            if (!events[s][k].calls && !events[s][k].ns) continue;
            TRY(table_add_row(t, &row, err));
            table_set_text(t, row, COL_O(stage_events, stage), stage_name((stage)s));
            table_set_text(t, row, COL_O(stage_events, kind), kind_name(k));
            table_set_int(t, row,
                          kind_is_device(k) ? COL_O(stage_events, device_time)
                                            : COL_O(stage_events, host_time),
                          events[s][k].ns);
            table_set_int(t, row, COL_O(stage_events, calls), events[s][k].calls);
        }
    return OK;
}

/* ---- the user's ranges ------------------------------------------------------------------- */

typedef struct {
    uint32_t name;
    int64_t calls, host, host_max, host_min, device, device_max, device_min;
    uint32_t largest; /* the range with most device work; of equal ones the longest */
    int64_t most_device, most_host;
} user_event;

typedef struct {
    const overview *o;
    groups rows;
    uint32_t *by_name;    /* string id → row + 1 */
    int64_t host, device; /* of all */
} user_events;

static status add_user_event(void *context, const range_call *c, error *err) {
    user_events *u = context;
    const trace *t = u->o->t;
    uint32_t name = t->slice.name[c->slice];
    int64_t device = add_i64(c->device_self, c->device_children);
    bool counts = select_counts(&u->o->select, c->slice);
    if (t->slice.kind[c->slice] != KIND_ANNOTATION || name >= t->n_strings) return OK;
    if (!counts && !c->ns && !device) return OK;
    if (!u->by_name[name]) {
        uint32_t row = groups_add(&u->rows);
        if (row == GROUP_NONE) FAIL_MEMORY(err);
        GROUP_ROW(&u->rows, user_event, row)->name = name;
        u->by_name[name] = row + 1;
    }
    user_event *e = GROUP_ROW(&u->rows, user_event, u->by_name[name] - 1);
    if (counts) {
        e->host_max = max_i64(e->host_max, c->ns);
        e->host_min = e->calls ? min_i64(e->host_min, c->ns) : c->ns;
        e->device_max = max_i64(e->device_max, device);
        e->device_min = e->calls ? min_i64(e->device_min, device) : device;
    }
    if (!e->largest || device > e->most_device ||
        (device == e->most_device && c->ns > e->most_host)) {
        e->largest = c->slice;
        e->most_device = device;
        e->most_host = c->ns;
    }
    e->calls += counts;
    e->host = add_i64(e->host, c->ns);
    e->device = add_i64(e->device, device);
    u->host = add_i64(u->host, c->ns);
    u->device = add_i64(u->device, device);
    return OK;
}

static int compare_user_events(uint32_t a, uint32_t b, const void *context) {
    const user_events *u = context;
    const user_event *x = GROUP_ROW(&u->rows, user_event, a),
                     *y = GROUP_ROW(&u->rows, user_event, b);
    if (x->host != y->host) return x->host > y->host ? -1 : 1;
    return str_cmp(trace_str(u->o->t, x->name), trace_str(u->o->t, y->name));
}

static void set_user_host(table *t, size_t row, const user_event *e, int64_t all) {
    table_set_int(t, row, COL_O(user_events, host_total), e->host);
    table_set_real(t, row, COL_O(user_events, host_share),
                   all ? (double)e->host / (double)all : 0);
    if (!e->calls) return;
    table_set_int(t, row, COL_O(user_events, host_mean), mean_i64(e->host, e->calls));
    table_set_int(t, row, COL_O(user_events, host_max), e->host_max);
    table_set_int(t, row, COL_O(user_events, host_min), e->host_min);
}

static void set_user_device(table *t, size_t row, const user_event *e, int64_t all) {
    table_set_int(t, row, COL_O(user_events, device_total), e->device);
    table_set_real(t, row, COL_O(user_events, device_share),
                   all ? (double)e->device / (double)all : 0);
    if (!e->calls) return;
    table_set_int(t, row, COL_O(user_events, device_mean), mean_i64(e->device, e->calls));
    table_set_int(t, row, COL_O(user_events, device_max), e->device_max);
    table_set_int(t, row, COL_O(user_events, device_min), e->device_min);
}

status overview_write_user_events(overview *o, error *err) {
    user_events u = {.o = o,
                     .by_name = ARENA_ARRAY(o->arena, uint32_t, (size_t)o->t->n_strings + 1)};
    table *t = answer_table(o->out, o->arena, "user_events");
    if (!u.by_name || !t) FAIL_MEMORY(err);
    TRY(groups_init(&u.rows, o->arena, sizeof(user_event), err));
    range_scan scan = {.t = o->t,
                       .select = &o->select,
                       .arena = o->arena,
                       .kinds = 1u << KIND_ANNOTATION,
                       .visit = add_user_event,
                       .context = &u};
    if (o->t->kind_count[KIND_ANNOTATION]) TRY(range_scan_run(&scan, err));
    uint32_t *order = groups_order(&u.rows), *scratch = groups_order(&u.rows);
    if (!order || !scratch) FAIL_MEMORY(err);
    sort_index(order, scratch, u.rows.n, compare_user_events, &u);
    for (uint32_t i = 0; i < u.rows.n; i++) {
        const user_event *e = GROUP_ROW(&u.rows, user_event, order[i]);
        size_t row;
        TRY(table_add_row(t, &row, err));
        table_set_text(t, row, COL_O(user_events, name), trace_str(o->t, e->name));
        table_set_int(t, row, COL_O(user_events, calls), e->calls);
        set_user_host(t, row, e, u.host);
        if (o->t->kernel.n > 1) set_user_device(t, row, e, u.device);
        table_set_int(t, row, COL_O(user_events, slice), e->largest);
    }
    return OK;
}
