/* search_test.c: slices by name. */
#include "analyse/timeline/search.h"

#include "timeline_trace.h"

static search_result ask(timeline *x, const char *text, search_question q) {
    search_result r;
    assert_int_equal(search_parse(str_of(text), &q.query, NULL), OK);
    if (q.to_ns == 0) q.to_ns = 1000;
    if (q.limit == 0) q.limit = 10;
    assert_int_equal(search_make(x->l, &q, &x->a, &r, NULL), OK);
    return r;
}

static void words_must_all_occur_and_excluded_ones_not(void **state) {
    timeline x;
    timeline_init(&x);
    assert_int_equal(ask(&x, "addmm", (search_question){0}).total, 3);
    assert_int_equal(ask(&x, "ADDMM backward", (search_question){0}).total, 2);
    assert_int_equal(ask(&x, "addmm -evaluate", (search_question){0}).total, 2);
    assert_int_equal(ask(&x, "\"function: Addmm\"", (search_question){0}).total, 1);
    assert_int_equal(ask(&x, "nothing like it", (search_question){0}).total, 0);
    assert_int_equal(ask(&x, "", (search_question){0}).total, 0);
    timeline_fini(&x);
}

static void kinds_and_durations_limit_the_hits(void **state) {
    timeline x;
    timeline_init(&x);
    assert_int_equal(ask(&x, "kind:kernel", (search_question){0}).total, 2);
    assert_int_equal(ask(&x, "kind:kernel >30ns", (search_question){0}).total, 1);
    assert_int_equal(ask(&x, "kind:kernel <31ns", (search_question){0}).total, 1);
    assert_int_equal(ask(&x, "gemm -kind:kernel", (search_question){0}).total, 0);
    search_query q;
    assert_int_equal(search_parse(STR("kind:nothing"), &q, NULL), ERR_ARG);
    assert_int_equal(search_parse(STR(">5parsecs"), &q, NULL), ERR_ARG);
    assert_int_equal(search_parse(STR(">5000 <1ms"), &q, NULL), OK); /* without a unit: ns */
    assert_int_equal(q.least_ns, 5001);
    assert_int_equal(q.most_ns, 999999);
    timeline_fini(&x);
}

static void fields_limit_the_hits(void **state) {
    timeline x;
    timeline_init(&x);
    search_question none = {0};
    uint64_t kernels = ask(&x, "kind:kernel", none).total;
    assert_int_equal(ask(&x, "kind=kernel dur>30ns", none).total, 1);
    assert_int_equal(ask(&x, "kind=kernel dur<=30ns", none).total, kernels - 1);
    assert_int_equal(ask(&x, "name~^aten::addmm$", none).total,
                     ask(&x, "name=aten::addmm", none).total);
    assert_true(ask(&x, "name=aten::addmm", none).total > 0);
    assert_int_equal(ask(&x, "name=aten::add", none).total, 0);
    assert_int_equal(ask(&x, "name~\"ADDMM|nothing like it\"", none).total,
                     ask(&x, "addmm", none).total);
    assert_int_equal(ask(&x, "addmm -name~evaluate", none).total,
                     ask(&x, "addmm -evaluate", none).total);
    uint32_t kernel = ask(&x, "kind:kernel", none).hits[0];
    char query[64];
    snprintf(query, sizeof query, "stream=%lld",
             (long long)x.t->track.tid[trace_track_of(x.t, kernel)]);
    assert_true(ask(&x, query, none).total >= kernels);
    search_result on_stream = ask(&x, query, none);
    for (uint32_t i = 0; i < on_stream.n_hits; i++)
        assert_int_equal(trace_track_of(x.t, on_stream.hits[i]), trace_track_of(x.t, kernel));
    assert_int_equal(ask(&x, "stream=123456", none).total, 0);
    snprintf(query, sizeof query, "step=%lld", (long long)x.t->step.number[1]);
    search_result in_step = ask(&x, query, none);
    assert_true(in_step.total > 0);
    for (uint32_t i = 0; i < in_step.n_hits; i++)
        assert_int_equal(trace_step_of(x.t, in_step.hits[i]), 1);
    assert_int_equal(ask(&x, "step=999999", none).total, 0);
    timeline_fini(&x);
}

static void mistakes_in_fields_are_errors_of_the_query(void **state) {
    search_query q;
    assert_int_equal(search_parse(STR("name~("), &q, NULL), ERR_ARG);
    assert_int_equal(search_parse(STR("name~(a{255}){255}"), &q, NULL), ERR_ARG);
    assert_int_equal(search_parse(STR("name~(a)\\1"), &q, NULL), ERR_ARG);
    assert_int_equal(search_parse(STR("stream=seven"), &q, NULL), ERR_ARG);
    assert_int_equal(search_parse(STR("step=x"), &q, NULL), ERR_ARG);
    assert_int_equal(search_parse(STR("dur>5parsecs"), &q, NULL), ERR_ARG);
    assert_int_equal(search_parse(STR("at::native=x -stream=7 a~b"), &q, NULL), OK); /* words */
    assert_int_equal(q.n_words, 3);
}

static void hits_come_by_time_and_in_pages(void **state) {
    timeline x;
    timeline_init(&x);
    search_result all = ask(&x, "a", (search_question){.limit = 100});
    assert_true(all.total > 5 && all.n_hits == all.total);
    for (uint32_t i = 1; i < all.n_hits; i++)
        assert_true(x.t->slice.start[all.hits[i]] >= x.t->slice.start[all.hits[i - 1]]);
    int64_t middle = x.t->slice.start[all.hits[3]];
    search_result page = ask(&x, "a", (search_question){.limit = 2, .at_ns = middle});
    assert_int_equal(page.n_hits, 2);
    assert_int_equal(page.before, 3);
    assert_int_equal(page.hits[0], all.hits[3]);
    page = ask(&x, "a", (search_question){.limit = 2, .at_ns = middle, .backwards = true});
    assert_int_equal(page.n_hits, 2);
    assert_int_equal(page.before, 1);
    assert_int_equal(page.hits[0], all.hits[1]);
    assert_int_equal(page.hits[1], all.hits[2]);
    timeline_fini(&x);
}

static void names_are_listed_with_their_time(void **state) {
    timeline x;
    timeline_init(&x);
    search_result r = ask(&x, "gemm", (search_question){0});
    assert_int_equal(r.n_names, 1);
    assert_int_equal(r.names[0].count, 2);
    assert_int_equal(r.names[0].total_ns, 80);
    assert_int_equal(r.names[0].longest, timeline_slice(&x, "gemm", 1));
    assert_int_equal(r.names[0].kind, KIND_KERNEL);
    timeline_fini(&x);
}

static void ticks_are_where_hits_start(void **state) {
    timeline x;
    timeline_init(&x);
    search_result r = ask(&x, "gemm", (search_question){.to_ns = 400, .width_px = 10});
    for (int i = 0; i < 10; i++) assert_int_equal(r.ticks[i], i == 1 || i == 5); /* 40, 200 */
    timeline_fini(&x);
}

static void lanes_and_range_limit_the_hits(void **state) {
    timeline x;
    timeline_init(&x);
    uint8_t lanes[64] = {0};
    lanes[timeline_lane_id(&x, LANE_WORK, 1)] = 1; /* autograd */
    assert_int_equal(ask(&x, "addmm", (search_question){.lanes = lanes}).total, 2);
    assert_int_equal(ask(&x, "gemm", (search_question){.from_ns = 100}).total, 1);
    timeline_fini(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_must_all_occur_and_excluded_ones_not),
        cmocka_unit_test(kinds_and_durations_limit_the_hits),
        cmocka_unit_test(fields_limit_the_hits),
        cmocka_unit_test(mistakes_in_fields_are_errors_of_the_query),
        cmocka_unit_test(hits_come_by_time_and_in_pages),
        cmocka_unit_test(names_are_listed_with_their_time),
        cmocka_unit_test(ticks_are_where_hits_start),
        cmocka_unit_test(lanes_and_range_limit_the_hits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
