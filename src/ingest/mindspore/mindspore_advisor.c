/* mindspore_advisor.c: what msadvisor, CANN's expert system, said of a run of MindSpore.
 *
 *   msadvisor/device_#/recommendation/NAME.json   the newest of them:
 *
 *   {"model": {"AICPUModel": {"summary": "…", "extend": [
 *       {"extendtitle": "Operator statistics, …", "key": ["OP Name", "Count", "Time(%)"],
 *        "value": [["TopK", 12, 30.5], …]},
 *       {"extendtitle": "Recommendations of …", "value": [["…", "…"]]}]}, "TransDataModel": …}}
 *
 * A model without lists has nothing to say. Each of the others has one row in the table
 * finding: the model, its summary, the advice as it is there; and finding_op the operators that
 * take most of the time with their calls and share. Versions spell the keys differently; a list
 * may be inside another list or not. Rules of `advise` make suggestions of it. The file also
 * lists every single task: that is left out. */
#include "base/json.h"
#include "base/num.h"
#include "ingest/mindspore/mindspore_int.h"

enum { MOST_MODELS = 32, MOST_ADVICE = 8, MOST_TEXT = 400, N_WORST = 3 };

typedef struct {
    str name;
    int64_t calls;
    double percent;
} advised_op;

typedef struct {
    buf advice; /* of all lists, one after the other */
    int n_advice;
    advised_op worst[N_WORST]; /* by their share */
    int n_worst;
} finding;

static str member_of(str object, const char *const *keys, int n) {
    str v = STR_NONE;
    for (int i = 0; i < n && !v.n; i++) v = json_member(object, str_of(keys[i]));
    return v;
}

/* The decoded text of a value, cut where it is far too long for a sentence. */
static void add_text(buf *out, str json) {
    str text = json_text(json);
    size_t end = out->n + MOST_TEXT;
    (void)json_decode(text, out);
    if (out->n > end) out->n = end;
}

/* Texts, one by one or in nested lists. */
static void take_advice(finding *f, str list, int depth) {
    json_iter it = json_open(list);
    str key, one;
    while (f->n_advice < MOST_ADVICE && json_next(&it, &key, &one)) {
        if (one.n && *one.p == '[' && depth < 2) take_advice(f, one, depth + 1);
        if (!one.n || *one.p != '"') continue;
        if (f->n_advice++) buf_add_cstr(&f->advice, "; ");
        add_text(&f->advice, one);
    }
}

static void keep_worst(finding *f, const advised_op *op) {
    int at = f->n_worst;
    while (at > 0 && f->worst[at - 1].percent < op->percent) at--;
    if (at == N_WORST) return;
    if (f->n_worst < N_WORST) f->n_worst++;
    for (int i = f->n_worst - 1; i > at; i--) f->worst[i] = f->worst[i - 1];
    f->worst[at] = *op;
}

/* Rows of name, calls and share: the table that is sorted by operators, not by tasks. */
static void take_operators(ms *m, finding *f, str list) {
    json_iter it = json_open(list);
    str key, row;
    while (json_next(&it, &key, &row)) {
        json_iter cells = json_open(row);
        str cell[3] = {STR_NONE, STR_NONE, STR_NONE};
        for (int i = 0; i < 3 && json_next(&cells, &key, &cell[i]);) i++;
        advised_op op = {.name = json_text(cell[0])};
        part_count(m->part, 1, 0);
        if (!op.name.n || !json_i64(cell[1], &op.calls) || !json_f64(cell[2], &op.percent) ||
            !(op.percent >= 0 && op.percent <= 100) || op.calls < 0)
            ms_lost(m, CAUSE_NUMBER_RANGE, NOPOS, row);
        else
            keep_worst(f, &op);
    }
}

static void take_list(ms *m, finding *f, str list) {
    static const char *const titles[] = {"extendtitle", "extendTitle", "extend_title"};
    str title = json_text(member_of(list, titles, 3)), value = json_member(list, STR("value"));
    str first = STR_NONE, second = STR_NONE, key;
    json_iter keys = json_open(json_member(list, STR("key")));
    if (json_next(&keys, &key, &first)) (void)!json_next(&keys, &key, &second);
    if (str_starts(title, STR("Recommendation")))
        take_advice(f, value, 0);
    else if (str_eq(json_text(second), STR("Count")))
        take_operators(m, f, value);
}

/* The text as a string of the trace. */
static uint32_t take_text(ms *m, str json) {
    buf text = {0};
    add_text(&text, json);
    uint32_t id = buf_ok(&text) ? ms_string(m, buf_str(&text)) : MS_NO_STRING;
    buf_fini(&text);
    return id;
}

static status put_finding(ms *m, const finding *f, str model, str summary, error *err) {
    row_finding row = {.topic =
                           str_eq(model, STR("AICPUModel")) ? FINDING_AI_CPU : FINDING_OTHER,
                       .model = take_text(m, model),
                       .summary = take_text(m, summary)};
    row.advice = buf_ok(&f->advice) ? ms_string(m, buf_str(&f->advice)) : MS_NO_STRING;
    if (row.model == MS_NO_STRING || row.summary == MS_NO_STRING || row.advice == MS_NO_STRING)
        FAIL_MEMORY(err);
    m->n_findings++;
    TRY(builder_put_finding(m->b, &row, err));
    for (int i = 0; i < f->n_worst; i++) {
        row_finding_op op = {.finding = m->n_findings,
                             .name = take_text(m, f->worst[i].name),
                             .calls = f->worst[i].calls,
                             .share = f->worst[i].percent / 100};
        if (op.name == MS_NO_STRING) FAIL_MEMORY(err);
        TRY(builder_put_finding_op(m->b, &op, err));
    }
    return OK;
}

static status take_model(ms *m, str name, str model, error *err) {
    static const char *const lists[] = {"extend", "extendResult", "extends"};
    str list = member_of(model, lists, 3), key, one;
    json_iter it = json_open(list);
    finding f = {.n_advice = 0};
    status st = OK;
    int n = 0;
    part_count(m->part, 1, 0);
    for (; json_next(&it, &key, &one); n++) take_list(m, &f, one);
    if (n) st = put_finding(m, &f, name, json_member(model, STR("summary")), err);
    buf_fini(&f.advice);
    return st;
}

status read_msadvisor(ms *m, str text, error *err) {
    buf normal = {0};
    str models = json_member(str_trim(text), STR("model")), name, model;
    unsigned flags = json_normal(str_trim(text), &normal);
    bool ok = buf_ok(&normal);
    buf_fini(&normal);
    if (!ok) FAIL_MEMORY(err);
    if (flags & JSON_BROKEN || !models.n)
        ms_lost(m, flags & JSON_BROKEN ? CAUSE_BAD_SYNTAX : CAUSE_MISSING_NAME, 0,
                str_of(m->file));
    json_iter it = json_open(models);
    for (int n = 0; n < MOST_MODELS && json_next(&it, &name, &model); n++)
        TRY(take_model(m, name, model, err));
    return OK;
}
