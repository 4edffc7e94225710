/* summary_filter_test.c: summaries answer about steps what traces answer. */
#include "analyse/run/summary_filter.h"

#include "analyse/run/reduce.h"
#include "analyse/run/run_summary.h"
#include "analyse/run/summary_answers.h"
#include "fake_trace.h"

enum { WORKERS = 2, STEPS = 4, LONG = 1000 };

typedef struct {
    fake f[WORKERS];
    analysis_trace traces[WORKERS], briefs[WORKERS];
    trace *made[WORKERS];
    arena a;
} run;

/* Steps of 1 µs from 0 on; the second worker computes longer in each, the later the longer. */
static void begin(run *r) {
    static const char *const names[] = {"w0", "w1"};
    arena_init(&r->a, 0);
    for (int w = 0; w < WORKERS; w++) {
        fake *f = &r->f[w];
        fake_init(f);
        int host = fake_thread(f), gpu = fake_stream(f, 0);
        fake_add(f, host, KIND_OP, "begin", 0, 1); /* windows count from here */
        for (int i = 0; i < STEPS; i++) {
            int64_t at = LONG * i;
            fake_step(f, i + 1, at, at + LONG);
            int op = fake_add(f, host, KIND_OP, "aten::mm", at + 10, 20);
            int64_t computes = 100 + 50 * w * (i + 1);
            int k = fake_work(f, gpu, KIND_KERNEL, "gemm", at + 40, computes, -1);
            f->slices[k].op = op;
            fake_add(f, host, KIND_COLLECTIVE, "gloo:all_reduce", at + 150 + 50 * w * (i + 1),
                     700 - 50 * w * (i + 1));
        }
        r->traces[w] =
            (analysis_trace){.trace = fake_seal(f), .worker = str_of(names[w]), .rank = w};
        assert_int_equal(reduce_worker(&r->traces[w], 0, &r->made[w], NULL), OK);
        r->briefs[w] = r->traces[w];
        r->briefs[w].trace = r->made[w];
    }
}

static void end(run *r) {
    arena_fini(&r->a);
    for (int w = 0; w < WORKERS; w++) {
        trace_release(r->made[w]);
        fake_fini(&r->f[w]);
    }
}

static answer ask(run *r, const analysis_trace *of, uint32_t n, const params *p) {
    answer out;
    error err;
    analysis_input in = {.traces = of, .n_traces = n};
    assert_int_equal(analyse_distributed(&in, p, &r->a, &out, &err), OK);
    return out;
}

static bool has_note(const answer *a, const char *id) {
    for (uint32_t i = 0; i < a->quality.n_notes; i++)
        if (strcmp(a->quality.notes[i].id, id) == 0) return true;
    return false;
}

static void same_cell(const table *x, const table *y, size_t row, uint32_t col) {
    bool null = table_is_null(x, row, col);
    const column *c = &x->columns[col], *d = &y->columns[col];
    bool same = null == table_is_null(y, row, col);
    if (same && !null && c->type == TYPE_TEXT) same = str_eq(c->v.s[row], d->v.s[row]);
    if (same && !null && c->type == TYPE_REAL) same = c->v.d[row] == d->v.d[row];
    if (same && !null && (c->type == TYPE_INT || c->type == TYPE_BOOL))
        same = c->v.i[row] == d->v.i[row];
    if (!same) fail_msg("%s.%s of row %zu differs", x->name, c->name, row);
}

/* All tables but this one. */
static void same_answer(const answer *x, const answer *y, const char *but) {
    assert_int_equal(x->n_tables, y->n_tables);
    for (uint32_t i = 0; i < x->n_tables; i++) {
        const table *t = x->tables[i], *u = y->tables[i];
        if (but && strcmp(t->name, but) == 0) continue;
        if (t->n_rows != u->n_rows)
            fail_msg("%s: %zu and %zu rows", t->name, t->n_rows, u->n_rows);
        for (size_t row = 0; row < t->n_rows; row++)
            for (uint32_t c = 0; c < t->n_columns; c++) same_cell(t, u, row, c);
    }
    assert_string_equal(x->verdict.id, y->verdict.id);
}

static void steps_of_summaries_are_those_of_traces(void **state) {
    static run r;
    begin(&r);
    params p = fake_params();
    answer whole = ask(&r, r.traces, WORKERS, &p), brief = ask(&r, r.briefs, WORKERS, &p);
    same_answer(&whole, &brief, NULL);
    assert_false(has_note(&brief, "whole_recording"));
    for (int first = 1; first <= STEPS; first++)
        for (int last = first; last <= STEPS; last++) {
            p.first_step = first;
            p.last_step = last;
            whole = ask(&r, r.traces, WORKERS, &p);
            brief = ask(&r, r.briefs, WORKERS, &p);
            same_answer(&whole, &brief, "devices");
            assert_int_equal(fake_table(&brief, "heat_map")->n_rows,
                             (size_t)(WORKERS * (last - first + 1)));
            const table *sync = fake_table(&brief, "synchronization");
            assert_int_equal(fake_int(sync, 1, "last"), last - first + 1);
            assert_int_equal(fake_int(fake_table(&brief, "groups"), 0, "calls"),
                             last - first + 1);
            assert_true(has_note(&brief, "whole_recording"));
        }
    end(&r);
}

static void a_window_between_steps_is_exact(void **state) {
    static run r;
    begin(&r);
    params p = fake_params();
    p.from_ns = LONG;
    p.to_ns = 3 * LONG;
    answer whole = ask(&r, r.traces, WORKERS, &p), brief = ask(&r, r.briefs, WORKERS, &p);
    same_answer(&whole, &brief, "devices");
    assert_true(has_note(&whole, "traces_read"));
    assert_false(has_note(&brief, "traces_read"));
    assert_false(has_note(&brief, "whole_steps"));
    end(&r);
}

static bool is_enough(const char *analysis, const params *p, uint32_t n_workers) {
    return summary_is_enough(registry_find(str_of(analysis)), p, n_workers);
}

static void a_window_inside_a_step_takes_the_whole_step_and_says_so(void **state) {
    static run r;
    begin(&r);
    params p = fake_params(), step = fake_params();
    p.from_ns = LONG + 300;
    p.to_ns = LONG + 500;
    step.first_step = step.last_step = 2;
    answer window = ask(&r, r.briefs, WORKERS, &p), whole = ask(&r, r.briefs, WORKERS, &step);
    same_answer(&window, &whole, NULL);
    assert_true(has_note(&window, "whole_steps"));
    assert_false(has_note(&whole, "whole_steps"));
    assert_true(is_enough("distributed", &p, SUMMARY_FEW_WORKERS + 1));
    assert_false(is_enough("distributed", &p, SUMMARY_FEW_WORKERS));
    assert_true(is_enough("distributed", &step, 2));
    end(&r);
}

static void a_reduced_run_is_cut_in_what_it_knows_by_step(void **state) {
    static run r;
    begin(&r);
    params all = fake_params(), p = fake_params();
    analysis_input in = {.traces = r.briefs, .n_traces = WORKERS};
    summary *s;
    assert_int_equal(run_summary_join(&in, &all, 0, &s, NULL), OK);
    trace *t = trace_of_summary(s);
    analysis_trace one = {.trace = t, .worker = STR("run"), .rank = ABSENT_I64};
    p.first_step = p.last_step = 3;
    answer got = ask(&r, &one, 1, &p), want = ask(&r, r.traces, WORKERS, &p);
    static const char *const known[] = {"overlap", "synchronization", "heat_map", "arrivals"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const table *x = fake_table(&got, known[i]), *y = fake_table(&want, known[i]);
        assert_int_equal(x->n_rows, y->n_rows);
        for (size_t row = 0; row < x->n_rows; row++)
            for (uint32_t c = 0; c < x->n_columns; c++) same_cell(x, y, row, c);
    }
    assert_true(has_note(&got, "whole_recording"));
    trace_release(t);
    end(&r);
}

static answer ask_names(run *r, const analysis_trace *of, const params *p) {
    answer out;
    error err;
    analysis_input in = {.traces = of, .n_traces = WORKERS};
    assert_int_equal(analyse_operators(&in, p, &r->a, &out, &err), OK);
    return out;
}

static void operators_of_all_workers_are_added_up(void **state) {
    static run r;
    begin(&r);
    params p = fake_params();
    answer brief = ask_names(&r, r.briefs, &p), whole = ask_names(&r, r.traces, &p);
    const table *t = fake_table(&brief, "operators");
    same_answer(&brief, &whole, NULL);
    assert_string_equal(brief.verdict.id, "operator_leads_device");
    assert_int_equal(fake_int(t, 0, "calls"), WORKERS * STEPS);
    assert_int_equal(fake_int(t, 0, "device_self"), 4 * 100 + 4 * 100 + 50 * (1 + 2 + 3 + 4));
    assert_int_equal(brief.quality.events_read, whole.quality.events_read);
    p.first_step = p.last_step = 3; /* which only traces know */
    whole = ask_names(&r, r.traces, &p);
    brief = ask_names(&r, r.briefs, &p);
    assert_int_equal(fake_int(fake_table(&whole, "operators"), 0, "calls"), WORKERS);
    assert_false(has_note(&whole, "whole_recording"));
    assert_int_equal(fake_int(fake_table(&brief, "operators"), 0, "calls"), WORKERS * STEPS);
    assert_true(has_note(&brief, "whole_recording"));
    assert_false(is_enough("operators", &p, SUMMARY_FEW_WORKERS));
    assert_true(is_enough("operators", &p, SUMMARY_FEW_WORKERS + 1));
    assert_true(is_enough("info", &p, 2));
    end(&r);
}

static void a_run_that_is_cut_already_is_taken_as_it_is(void **state) {
    static run r;
    begin(&r);
    params p = fake_params();
    p.first_step = p.last_step = 3;
    analysis_input in = {.traces = r.briefs, .n_traces = WORKERS};
    summary *s;
    assert_int_equal(run_summary_join(&in, &p, 0, &s, NULL), OK);
    trace *t = trace_of_summary(s);
    analysis_trace one = {.trace = t, .worker = STR("run"), .rank = ABSENT_I64};
    analysis_input single = {.traces = &one, .n_traces = 1};
    const summary *taken;
    assert_int_equal(run_summary_make(&single, &p, &r.a, &taken, NULL), OK);
    assert_ptr_equal(taken, s);
    answer got = ask(&r, &one, 1, &p), want = ask(&r, r.traces, WORKERS, &p);
    same_answer(&got, &want, "devices");
    trace_release(t);
    end(&r);
}

static void the_map_joins_steps_and_arrivals_are_those_that_cost_most(void **state) {
    static run r;
    begin(&r);
    params p = fake_params();
    answer all = ask(&r, r.briefs, WORKERS, &p);
    p.n_extra = 2;
    p.extra[0].name = STR("map_steps");
    p.extra[0].value = STR("2");
    p.extra[1].name = STR("arrivals");
    p.extra[1].value = STR("5"); /* two whole collectives of two */
    answer few = ask(&r, r.briefs, WORKERS, &p);
    const table *map = fake_table(&few, "heat_map"), *steps = fake_table(&all, "heat_map");
    assert_int_equal(steps->n_rows, WORKERS * STEPS);
    assert_int_equal(map->n_rows, WORKERS * 2);
    assert_int_equal(fake_int(map, 3, "rank"), 1);
    assert_int_equal(fake_int(map, 3, "step"), 3); /* the first of the two */
    assert_int_equal(fake_int(map, 3, "computation"),
                     (fake_int(steps, 6, "computation") + fake_int(steps, 7, "computation")) /
                         2);
    assert_int_equal(fake_int(map, 3, "late"), fake_int(steps, 7, "late")); /* the later one */
    const table *came = fake_table(&few, "arrivals");
    assert_int_equal(fake_table(&all, "arrivals")->n_rows, WORKERS * STEPS);
    assert_int_equal(came->n_rows, 4);
    for (size_t i = 0; i < came->n_rows; i++) assert_true(fake_int(came, i, "step") >= 3);
    const table *sync = fake_table(&few, "synchronization");
    assert_int_equal(fake_int(sync, 0, "last"), 0);
    assert_int_equal(fake_int(sync, 1, "last"), STEPS);
    assert_int_equal(fake_int(sync, 1, "caused"), 50 + 100 + 150 + 200);
    end(&r);
}

static void times_of_a_forged_summary_do_not_overflow(void **state) {
    arena a;
    answer out;
    summary *s = summary_new();
    params p = fake_params();
    summary_worker *w = summary_add_worker(s);
    w->name = summary_text(s, STR("w0"));
    w->start = INT64_MAX;
    for (int i = 0; i < 2; i++) {
        summary_step *step = summary_add_step(s);
        *step = (summary_step){.worker = w->name,
                               .number = i,
                               .start = i ? 10000000 : INT64_MIN + 1,
                               .end = i ? INT64_MIN + 1 : INT64_MAX};
    }
    trace *t = trace_of_summary(s);
    analysis_trace one = {.trace = t, .worker = STR("w0"), .rank = 0};
    analysis_input in = {.traces = &one, .n_traces = 1};
    arena_init(&a, 0);
    for (int cut = 0; cut < 2; cut++, p.from_ns = INT64_MAX - 1) {
        assert_int_equal(analyse_advise(&in, &p, &a, &out, NULL), OK);
        assert_int_equal(analyse_distributed(&in, &p, &a, &out, NULL), OK);
        assert_int_equal(analyse_overview(&in, &p, &a, &out, NULL), OK);
    }
    arena_fini(&a);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_of_summaries_are_those_of_traces),
        cmocka_unit_test(a_window_between_steps_is_exact),
        cmocka_unit_test(a_window_inside_a_step_takes_the_whole_step_and_says_so),
        cmocka_unit_test(a_reduced_run_is_cut_in_what_it_knows_by_step),
        cmocka_unit_test(operators_of_all_workers_are_added_up),
        cmocka_unit_test(a_run_that_is_cut_already_is_taken_as_it_is),
        cmocka_unit_test(times_of_a_forged_summary_do_not_overflow),
        cmocka_unit_test(the_map_joins_steps_and_arrivals_are_those_that_cost_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
