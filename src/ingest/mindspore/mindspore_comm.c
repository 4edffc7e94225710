/* mindspore_comm.c: collectives as CANN adds them up: communication.json,
 * communication_matrix.json.
 *
 *   {"step6": {"collective": {"hcom_allReduce__123_0@456": {
 *        "Communication Time Info": {"Transit Time(ms)": 1.5, "Wait Time(ms)": 0.5, …}, …}},
 *        "p2p": {…}}}
 *   {"step6": {"collective": {"allReduce-total@456": {
 *        "0-1": {"Transport Type": "HCCS", "Transit Time(ms)": 1.5, "Transit Size(MB)": 3,
 *                …}}}}}
 *
 * They become the same tables as the older table of collectives (mindspore_cluster.c):
 * comm_cost and comm_cost_op the times, link the matrix.
 *
 * The matrix lists the fastest, slowest and middle collective of each kind in addition to their
 * sum; only the sums count, where there are any. Steps without a number stand for the whole
 * recording. */
#include <math.h>

#include "base/intern.h"
#include "base/json.h"
#include "base/num.h"
#include "ingest/mindspore/mindspore_int.h"

enum { MOST_STEPS = 1 << 16, MOST_OPS = 1 << 18, MOST_LINKS = 4096 };

/* step6 -> 6; absent when there is no number. */
static int64_t step_number(str name) {
    size_t n = 0;
    int64_t number;
    while (n < name.n && !(name.p[n] >= '0' && name.p[n] <= '9')) n++;
    return n < name.n && str_to_i64(str_from(name, n), &number) ? number : ABSENT_I64;
}

static double number_of(str object, const char *key) {
    double v;
    return json_f64(json_member(object, str_of(key)), &v) && isfinite(v) ? v : 0;
}

/* ---- times ------------------------------------------------------------------------------- */

typedef struct {
    double communication, wait; /* ms */
    vec operators;              /* op_time */
} step_comm;

typedef struct {
    str name;
    double moved, waited; /* ms */
} op_time;

static status take_operators(ms *m, step_comm *s, str operators, error *err) {
    json_iter it = json_open(operators);
    str name, one;
    for (int n = 0; n < MOST_OPS && json_next(&it, &name, &one); n++) {
        str times = json_member(one, STR("Communication Time Info"));
        if (!times.n || str_starts(name, STR("Total Op Info"))) continue;
        op_time *op = vec_push(&s->operators);
        if (!op) FAIL_MEMORY(err);
        *op = (op_time){.name = name,
                        .moved = number_of(times, "Transit Time(ms)"),
                        .waited = number_of(times, "Wait Time(ms)")};
        part_count(m->part, 1, 0);
        s->communication += op->moved;
        s->wait += op->waited;
    }
    return OK;
}

static status put_step(ms *m, str name, const step_comm *s, error *err) {
    row_comm_cost row = row_comm_cost_none();
    row.step = step_number(name);
    row.communication = ms_ns(s->communication);
    row.waiting = ms_ns(s->wait);
    if (s->operators.n) row.operators = (int64_t)s->operators.n;
    TRY(ms_put_cost(m, &row, err));
    for (size_t i = 0; i < s->operators.n; i++) {
        const op_time *op = &VEC(&s->operators, op_time)[i];
        TRY(ms_put_cost_op(m, op->name, ms_ns(op->moved), ms_ns(op->waited), err));
    }
    return OK;
}

status read_communication(ms *m, str text, error *err) {
    json_iter it = json_open(text);
    str name, step;
    status st = OK;
    int n = 0;
    if (m->seen[MS_HCCL]) return OK;
    for (; st == OK && n < MOST_STEPS && json_next(&it, &name, &step); n++) {
        step_comm s = {.operators = VEC_INIT(op_time)};
        st = take_operators(m, &s, json_member(step, STR("collective")), err);
        if (st == OK) st = take_operators(m, &s, json_member(step, STR("p2p")), err);
        if (st == OK) st = put_step(m, name, &s, err);
        vec_fini(&s.operators);
    }
    if (!n) ms_lost(m, CAUSE_BAD_SYNTAX, 0, str_of(m->file));
    return st;
}

/* ---- links ------------------------------------------------------------------------------- */

typedef struct {
    str link, kind;
    double ms, kb;
} link_sum;

/* NULL when there are too many, and when out of memory: *failed. */
static link_sum *link_of(vec *sums, map *by_name, str link, str kind, bool *failed) {
    uint64_t key = hash_pair(intern_hash(link), intern_hash(kind));
    uint32_t *at = map_at(by_name, key);
    *failed |= !at;
    if (!at || (*at == MAP_NONE && sums->n >= MOST_LINKS)) return NULL;
    if (*at != MAP_NONE) return &VEC(sums, link_sum)[*at];
    link_sum *s = vec_push(sums);
    *failed |= !s;
    if (!s) return NULL;
    *at = (uint32_t)(sums->n - 1);
    *s = (link_sum){.link = link, .kind = kind};
    return s;
}

static bool is_total(str name) {
    return str_find(name, STR("-total"), 0) != SIZE_MAX;
}

static bool has_totals(str operators) {
    json_iter it = json_open(operators);
    str name, one;
    for (int n = 0; n < MOST_OPS && json_next(&it, &name, &one); n++)
        if (is_total(name)) return true;
    return false;
}

static status take_links(ms *m, vec *sums, map *by_name, str operators, error *err) {
    bool totals = has_totals(operators), failed = false;
    json_iter it = json_open(operators);
    str name, one, link, values;
    for (int n = 0; n < MOST_OPS && json_next(&it, &name, &one); n++) {
        if (totals && !is_total(name)) continue;
        json_iter links = json_open(one);
        for (int k = 0; k < MOST_LINKS && json_next(&links, &link, &values); k++) {
            str kind = json_text(json_member(values, STR("Transport Type")));
            link_sum *s = kind.n ? link_of(sums, by_name, link, kind, &failed) : NULL;
            if (failed) FAIL_MEMORY(err);
            part_count(m->part, 1, 0);
            if (!s) {
                ms_lost(m, CAUSE_BAD_SYNTAX, NOPOS, link);
                continue;
            }
            s->ms += number_of(values, "Transit Time(ms)");
            s->kb += number_of(values, "Transit Size(MB)") * 1000;
        }
    }
    return OK;
}

static status put_links(ms *m, str step, const vec *sums, error *err) {
    for (size_t i = 0; i < sums->n; i++) {
        const link_sum *sum = &VEC(sums, link_sum)[i];
        row_link row = row_link_none();
        row.step = step_number(step);
        row.time = ms_ns(sum->ms);
        row.bytes = ms_kb_bytes(sum->kb);
        if (ms_pair(sum->link, &row)) TRY(ms_put_link(m, &row, sum->kind, err));
    }
    return OK;
}

status read_communication_matrix(ms *m, str text, error *err) {
    json_iter it = json_open(text);
    str name, step;
    status st = OK;
    int n = 0;
    if (m->seen[MS_HCCL]) return OK;
    for (; st == OK && n < MOST_STEPS && json_next(&it, &name, &step); n++) {
        vec sums = VEC_INIT(link_sum);
        map by_name = {0};
        st = take_links(m, &sums, &by_name, json_member(step, STR("collective")), err);
        if (st == OK) st = take_links(m, &sums, &by_name, json_member(step, STR("p2p")), err);
        if (st == OK) st = put_links(m, name, &sums, err);
        vec_fini(&sums);
        map_fini(&by_name);
    }
    if (!n) ms_lost(m, CAUSE_BAD_SYNTAX, 0, str_of(m->file));
    return st;
}
