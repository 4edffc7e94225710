/* mindspore_comm.c: collectives as CANN adds them up: communication.json, communication_matrix.json.
 *
 *   {"step6": {"collective": {"hcom_allReduce__123_0@456": {
 *        "Communication Time Info": {"Transit Time(ms)": 1.5, "Wait Time(ms)": 0.5, …}, …}}, "p2p": {…}}}
 *   {"step6": {"collective": {"allReduce-total@456": {
 *        "0-1": {"Transport Type": "HCCS", "Transit Time(ms)": 1.5, "Transit Size(MB)": 3, …}}}}}
 *
 * They become the same metadata as the older table of collectives (mindspore_cluster.c):
 *
 *   hccl         [{step, communication, wait, links, operators}]   ms
 *   hccl_links   [{step, links: {"0-1": {"HCCS": [ms, KB]}}}]
 *
 * The matrix lists the fastest, slowest and middle collective of each kind beside their sum; only the
 * sums count, where there are any. Steps without a number stand for the whole recording. */
#include <math.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/num.h"
#include "ingest/mindspore/mindspore_int.h"

enum { MOST_STEPS = 1 << 16, MOST_OPS = 1 << 18, MOST_LINKS = 4096 };

/* step6 -> 6; null when there is no number. */
static void add_step(buf *out, str name) {
    size_t n = 0;
    int64_t number;
    while (n < name.n && !(name.p[n] >= '0' && name.p[n] <= '9')) n++;
    buf_add_cstr(out, "{\"step\": ");
    if (n < name.n && str_to_i64(str_from(name, n), &number))
        buf_add_i64(out, number);
    else
        buf_add_cstr(out, "null");
}

static double number_of(str object, const char *key) {
    double v;
    return json_f64(json_member(object, str_of(key)), &v) && isfinite(v) ? v : 0;
}

static status keep(ms *m, const char *key, buf *json, bool any, error *err) {
    status st = OK;
    if (!buf_ok(json))
        st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    else if (!any)
        ms_lost(m, CAUSE_BAD_SYNTAX, 0, str_of(m->file));
    else
        st = ms_meta(m, key, buf_str(json), err);
    buf_fini(json);
    return st;
}

/* ---- times ------------------------------------------------------------------------------- */

typedef struct {
    double communication, wait;
    buf operators;
} step_comm;

static void take_operators(ms *m, step_comm *s, str operators) {
    json_iter it = json_open(operators);
    str name, one;
    for (int n = 0; n < MOST_OPS && json_next(&it, &name, &one); n++) {
        str times = json_member(one, STR("Communication Time Info"));
        if (!times.n || str_starts(name, STR("Total Op Info"))) continue;
        double moved = number_of(times, "Transit Time(ms)"),
               waited = number_of(times, "Wait Time(ms)");
        part_count(m->part, 1, 0);
        s->communication += moved;
        s->wait += waited;
        buf_add_cstr(&s->operators, s->operators.n ? ", " : "{");
        buf_add_json(&s->operators, name);
        buf_add_cstr(&s->operators, ": [null, ");
        buf_add_f64(&s->operators, moved);
        buf_add_cstr(&s->operators, ", ");
        buf_add_f64(&s->operators, waited);
        buf_add_cstr(&s->operators, ", null]");
    }
}

status read_communication(ms *m, str text, error *err) {
    json_iter it = json_open(text);
    str name, step;
    buf json = {0};
    bool any = false;
    if (m->seen[MS_HCCL]) return OK;
    for (int n = 0; n < MOST_STEPS && json_next(&it, &name, &step); n++) {
        step_comm s = {0};
        take_operators(m, &s, json_member(step, STR("collective")));
        take_operators(m, &s, json_member(step, STR("p2p")));
        buf_add_cstr(&json, any ? ", " : "[");
        add_step(&json, name);
        buf_add_cstr(&json, ", \"communication\": ");
        buf_add_f64(&json, s.communication);
        buf_add_cstr(&json, ", \"wait\": ");
        buf_add_f64(&json, s.wait);
        buf_add_cstr(&json, ", \"links\": null, \"operators\": ");
        if (s.operators.n) buf_add_str(&json, buf_str(&s.operators));
        buf_add_cstr(&json, s.operators.n ? "}}" : "null}");
        if (!buf_ok(&s.operators)) json.failed = true;
        buf_fini(&s.operators);
        any = true;
    }
    buf_add_byte(&json, ']');
    return keep(m, "hccl", &json, any, err);
}

/* ---- links ------------------------------------------------------------------------------- */

typedef struct {
    str link, kind;
    double ms, kb;
} link_sum;

static link_sum *link_of(vec *sums, map *by_name, str link, str kind) {
    uint64_t key = hash_pair(hash_bytes64(link.p, link.n), hash_bytes64(kind.p, kind.n));
    uint32_t *at = map_at(by_name, key);
    if (!at) return NULL;
    if (*at != MAP_NONE) return &VEC(sums, link_sum)[*at];
    link_sum *s = sums->n < MOST_LINKS ? vec_push(sums) : NULL;
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

static void take_links(ms *m, vec *sums, map *by_name, str operators) {
    bool totals = has_totals(operators);
    json_iter it = json_open(operators);
    str name, one, link, values;
    for (int n = 0; n < MOST_OPS && json_next(&it, &name, &one); n++) {
        if (totals && !is_total(name)) continue;
        json_iter links = json_open(one);
        for (int k = 0; k < MOST_LINKS && json_next(&links, &link, &values); k++) {
            str kind = json_text(json_member(values, STR("Transport Type")));
            link_sum *s = kind.n ? link_of(sums, by_name, link, kind) : NULL;
            part_count(m->part, 1, 0);
            if (!s) {
                ms_lost(m, CAUSE_BAD_SYNTAX, NOPOS, link);
                continue;
            }
            s->ms += number_of(values, "Transit Time(ms)");
            s->kb += number_of(values, "Transit Size(MB)") * 1000;
        }
    }
}

/* Kinds of one link stand together: {"0-1": {"HCCS": […], "RDMA": […]}}. Links are a few. */
static void write_links(buf *json, const vec *sums) {
    const link_sum *all = VEC(sums, link_sum);
    buf_add_byte(json, '{');
    for (size_t i = 0; i < sums->n; i++) {
        if (i) buf_add_cstr(json, ", ");
        buf_add_json(json, all[i].link);
        buf_add_cstr(json, ": {");
        buf_add_json(json, all[i].kind);
        buf_add_cstr(json, ": [");
        buf_add_f64(json, all[i].ms);
        buf_add_cstr(json, ", ");
        buf_add_f64(json, all[i].kb);
        buf_add_cstr(json, "]}");
    }
    buf_add_byte(json, '}');
}

status read_communication_matrix(ms *m, str text, error *err) {
    json_iter it = json_open(text);
    str name, step;
    buf json = {0};
    bool any = false;
    if (m->seen[MS_HCCL]) return OK;
    for (int n = 0; n < MOST_STEPS && json_next(&it, &name, &step); n++) {
        vec sums = VEC_INIT(link_sum);
        map by_name = {0};
        take_links(m, &sums, &by_name, json_member(step, STR("collective")));
        take_links(m, &sums, &by_name, json_member(step, STR("p2p")));
        buf_add_cstr(&json, any ? ", " : "[");
        add_step(&json, name);
        buf_add_cstr(&json, ", \"links\": ");
        write_links(&json, &sums);
        buf_add_byte(&json, '}');
        vec_fini(&sums);
        map_fini(&by_name);
        any = true;
    }
    buf_add_byte(&json, ']');
    return keep(m, "hccl_links", &json, any, err);
}
