/* server_load_test.c: what holds a server back, from iterations and requests written by hand. */
#include "fake_trace.h"

#include "analyse/serving/server_load.h"

static served_iteration made(iteration_kind kind, int64_t start, int64_t ns, int64_t prompts,
                             int64_t decodes) {
    return (served_iteration){.it = {.kind = kind,
                                     .batch = prompts + decodes,
                                     .prompts = prompts,
                                     .decodes = decodes},
                              .start = start,
                              .end = start + ns};
}

/* With the gaps between them. */
static served of(served_iteration *v, uint32_t n) {
    for (uint32_t i = 1; i < n; i++) v[i].gap = v[i].start - v[i - 1].end;
    return (served){.v = v, .n = n};
}

#define DECODE(start, ns, n) made(ITERATION_DECODE, start, ns, 0, n)
#define PREFILL(start, ns, n) made(ITERATION_PREFILL, start, ns, n, 0)
#define MIXED(start, ns, prompts, n) made(ITERATION_MIXED, start, ns, prompts, n)

static void gaps_count_before_decodes_and_without_what_a_device_does(void **state) {
    served_iteration v[] = {PREFILL(0, 100, 1), DECODE(140, 10, 1), PREFILL(400, 100, 1),
                            DECODE(500, 10, 1), DECODE(530, 10, 1)};
    served s = of(v, N_OF(v));
    arena a;
    server_gaps gaps;
    arena_init(&a, 0);
    assert_int_equal(server_gaps_find(&s, NULL, &a, &gaps, NULL), OK);
    assert_int_equal(gaps.ns,
                     40 + 20); /* not the 250 before a prompt: the server may be idle */
    assert_int_equal(gaps.n, 2);
    intervals busy = intervals_in(&a);
    intervals_add(&busy, 120, 525);
    assert_int_equal(server_gaps_find(&s, &busy, &a, &gaps, NULL), OK);
    assert_int_equal(gaps.ns, 20 + 5);
    arena_fini(&a);
}

static void running_requests_wait_for_prefills(void **state) {
    served_iteration v[] = {DECODE(0, 10, 4),    DECODE(10, 10, 4),  PREFILL(20, 100, 2),
                            PREFILL(120, 50, 1), DECODE(170, 10, 6), DECODE(180, 10, 6)};
    served s = of(v, N_OF(v));
    arena a;
    server_stalls stalls;
    arena_init(&a, 0);
    assert_int_equal(server_stalls_find(&s, &a, &stalls, NULL), OK);
    assert_int_equal(stalls.decode_ns, 10);
    /* 3 of the 6 after it are new: 3 of the 4 before it waited, one ended. */
    assert_int_equal(stalls.held_ns, (100 + 50) * 3);
    assert_int_equal(stalls.all_ns, (100 + 50) * 3 + 20 * 4 + 20 * 6);
    assert_int_equal(stalls.n, 2);
    assert_int_equal(stalls.longest, 2);
    assert_int_equal(stalls.n_mixed, 0);
    v[4].it.prompts = 0, v[4].it.decodes = ABSENT_I64; /* who decodes is not known */
    assert_int_equal(server_stalls_find(&s, &a, &stalls, NULL), OK);
    assert_int_equal(stalls.held_ns, 0);
    arena_fini(&a);
}

static void mixed_iterations_hold_up_those_that_decode_in_them(void **state) {
    served_iteration v[] = {DECODE(0, 10, 3),  DECODE(10, 10, 3),   DECODE(20, 12, 3),
                            DECODE(32, 14, 3), MIXED(46, 90, 1, 3), PREFILL(200, 70, 2)};
    served s = of(v, N_OF(v));
    arena a;
    server_stalls stalls;
    arena_init(&a, 0);
    assert_int_equal(server_stalls_find(&s, &a, &stalls, NULL), OK);
    assert_int_equal(stalls.held_ns,
                     90 * 3); /* after the last prefill nothing shows who waited */
    assert_int_equal(stalls.n_mixed, 1);
    assert_int_equal(stalls.decode_ns, 10);
    arena_fini(&a);
}

static void decodes_differ_by_how_they_are_launched(void **state) {
    served_iteration v[] = {DECODE(0, 10, 4), DECODE(10, 12, 8), DECODE(30, 40, 16),
                            MIXED(80, 5, 1, 9)};
    static const bool replayed[] = {true, true, false, false};
    served s = of(v, N_OF(v));
    server_decodes graphs, eager;
    server_graphs_find(&s, replayed, &graphs, &eager);
    assert_int_equal(graphs.n, 2);
    assert_int_equal(graphs.most, 8);
    assert_int_equal(graphs.ns, 22);
    assert_int_equal(eager.n, 1);
    assert_int_equal(eager.least, 16);
}

static void requests_wait_while_the_batch_is_at_its_largest(void **state) {
    served_iteration v[] = {DECODE(0, 100, 2), DECODE(100, 100, 1), DECODE(200, 100, 2)};
    served_request reqs[] = {
        {.arrival = 0, .end = 300}, {.arrival = 50, .end = 350}, {.arrival = 150, .end = 400}};
    request_autopsy bodies[] = {{.queue = 0}, {.queue = 200}, {.queue = ABSENT_I64}};
    served s = of(v, N_OF(v));
    request_list r = {.v = reqs, .n = 3};
    autopsies of_all = {.v = bodies};
    arena a;
    server_limit limit;
    arena_init(&a, 0);
    assert_int_equal(server_limit_find(&s, &r, &of_all, &a, &limit, NULL), OK);
    assert_int_equal(limit.batch, 2);
    assert_int_equal(limit.n, 2);
    assert_int_equal(limit.full_ns, 200);
    assert_int_equal(limit.queued_ns, 50 + 50); /* until 100, and from 200 to 250 */
    assert_int_equal(limit.latency_ns, 300 + 300 + 250);
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_count_before_decodes_and_without_what_a_device_does),
        cmocka_unit_test(running_requests_wait_for_prefills),
        cmocka_unit_test(mixed_iterations_hold_up_those_that_decode_in_them),
        cmocka_unit_test(decodes_differ_by_how_they_are_launched),
        cmocka_unit_test(requests_wait_while_the_batch_is_at_its_largest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
