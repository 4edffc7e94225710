/* chain_test.c: the longest chain of waiting in a step, and what is on it. */
#include "analyse/run/chain.h"

#include <math.h>

#include "fake_trace.h"

typedef struct {
    arena a;
    summary *s;
    worker_order who;
    lane_list lanes;
    chain found;
} job;

static str name_of(job *j, int64_t rank) {
    char name[16];
    if (rank < 0) return summary_text(j->s, STR(""));
    snprintf(name, sizeof name, "w%02d", (int)rank);
    return summary_text(j->s, str_of(name));
}

static void begin(job *j, int64_t ranks) {
    *j = (job){.s = summary_new()};
    for (int64_t r = 0; r < ranks; r++) {
        summary_worker *w = summary_add_worker(j->s);
        w->name = name_of(j, r);
        w->rank = r;
        w->base = 0;
        summary_clock *c = summary_add_clock(j->s);
        c->worker = name_of(j, r);
        c->aligned = 1;
    }
}

/* rank, start, end, kind, the one it waits for, lot */
static void add(job *j, const int64_t v[6]) {
    summary_lane *l = summary_add_lane(j->s);
    *l = (summary_lane){.worker = name_of(j, v[0]),
                        .step = 7,
                        .start = v[1],
                        .end = v[2],
                        .kind = v[3],
                        .waits_for = name_of(j, v[4]),
                        .lot = v[5],
                        .name = summary_text(j->s, STR("all_reduce"))};
}
#define ADD(j, ...) add(j, (const int64_t[]){__VA_ARGS__})

static void end(job *j) {
    assert_int_equal(summary_settle(j->s, NULL), OK);
    assert_int_equal(worker_order_make(&j->who, j->s, &j->a, NULL), OK);
    assert_int_equal(lanes_read(j->s, &j->who, &j->a, &j->lanes, NULL), OK);
    assert_int_equal(chain_find(&j->lanes, j->who.n, &j->a, &j->found, NULL), OK);
}

static void fini(job *j) {
    summary_free(j->s);
    arena_fini(&j->a);
}

/* 2 loads late, 0 and 1 wait for it; then 1 computes long, 0 and 2 wait for it. */
static void add_two_delays(job *j) {
    ADD(j, 0, 0, 100, STAGE_DATA, -1, 0);
    ADD(j, 0, 100, 500, LANE_WAIT, 2, 11);
    ADD(j, 0, 500, 700, LANE_DEVICE, -1, 0);
    ADD(j, 0, 700, 1000, LANE_WAIT, 1, 12);
    ADD(j, 1, 0, 110, STAGE_DATA, -1, 0);
    ADD(j, 1, 110, 500, LANE_WAIT, 2, 11);
    ADD(j, 1, 500, 1000, LANE_DEVICE, -1, 0);
    ADD(j, 2, 0, 500, STAGE_DATA, -1, 0);
    ADD(j, 2, 500, 700, LANE_DEVICE, -1, 0);
    ADD(j, 2, 700, 1000, LANE_WAIT, 1, 12);
}

static void a_chain_goes_from_the_end_to_those_that_were_waited_for(void **state) {
    job j;
    begin(&j, 3);
    add_two_delays(&j);
    end(&j);
    assert_int_equal(j.found.n, 2);
    assert_false(j.found.broken);
    assert_int_equal(j.found.v[0].worker, 2);
    assert_int_equal(j.found.v[0].start, 0);
    assert_int_equal(j.found.v[0].end, 500);
    assert_int_equal(j.found.v[0].kind, STAGE_DATA);
    assert_int_equal(j.found.v[0].waiting, 2);
    assert_int_equal(j.found.v[0].waited, 400);
    assert_int_equal(j.found.v[1].worker, 1);
    assert_int_equal(j.found.v[1].kind, LANE_DEVICE);
    assert_int_equal(j.found.v[1].kind_ns, 500);
    fini(&j);
}

static void what_is_on_no_leg_is_hidden(void **state) {
    job j;
    begin(&j, 3);
    add_two_delays(&j);
    end(&j);
    assert_true(chain_share(&j.found, &j.lanes, 3, 2) == 1); /* its loading */
    assert_true(chain_share(&j.found, &j.lanes, 3, 1) == 1); /* its device */
    fini(&j);
    /* 1 does something else for long, but only while all wait for 0 anyway. */
    begin(&j, 2);
    ADD(&j, 0, 0, 1000, LANE_DEVICE, -1, 0);
    ADD(&j, 1, 0, 300, LANE_DEVICE, -1, 0);
    ADD(&j, 1, 300, 700, STAGE_OTHER, -1, 0);
    ADD(&j, 1, 700, 1000, LANE_WAIT, 0, 11);
    end(&j);
    assert_int_equal(j.found.n, 1);
    assert_int_equal(j.found.v[0].worker, 0);
    assert_true(chain_share(&j.found, &j.lanes, 2, 1) == 0);
    fini(&j);
}

static void a_chain_ends_where_the_awaited_rank_is_unknown(void **state) {
    job j;
    begin(&j, 2);
    ADD(&j, 0, 0, 400, LANE_WAIT, -1, 0);
    ADD(&j, 0, 400, 1000, LANE_DEVICE, -1, 0);
    ADD(&j, 1, 0, 900, LANE_DEVICE, -1, 0);
    end(&j);
    assert_true(j.found.broken);
    assert_int_equal(j.found.n, 1);
    assert_true(isnan(chain_share(&j.found, &j.lanes, 2, 1)));
    fini(&j);
}

static void ranks_that_wait_for_each_other_do_not_go_on_for_ever(void **state) {
    job j;
    begin(&j, 2);
    ADD(&j, 0, 0, 1000, LANE_WAIT, 1, 1);
    ADD(&j, 1, 0, 1000, LANE_WAIT, 0, 1);
    end(&j);
    assert_true(j.found.n < 100);
    fini(&j);
}

static void rows_of_a_forged_file_are_left_out(void **state) {
    job j;
    begin(&j, 2);
    ADD(&j, 0, 0, 100, 99, -1, 0);
    ADD(&j, 0, 100, 50, LANE_DEVICE, -1, 0);
    ADD(&j, 1, 0, 100, -1, -1, 0);
    ADD(&j, 9, 0, 100, LANE_DEVICE, -1, 0);
    end(&j);
    assert_int_equal(j.lanes.n, 0);
    assert_int_equal(j.found.n, 0);
    fini(&j);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_goes_from_the_end_to_those_that_were_waited_for),
        cmocka_unit_test(what_is_on_no_leg_is_hidden),
        cmocka_unit_test(a_chain_ends_where_the_awaited_rank_is_unknown),
        cmocka_unit_test(ranks_that_wait_for_each_other_do_not_go_on_for_ever),
        cmocka_unit_test(rows_of_a_forged_file_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
