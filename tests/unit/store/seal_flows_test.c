/* seal_flows_test.c: arrows between slices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "unit/ingest/read_helper.h"

/* An X event on thread `tid` of process 1. */
#define X(cat, name, tid, ts, dur, args)                                              \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":" #tid \
    ",\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{" args "}}"

#define END(ph, name, id, tid, ts)                                            \
    "{\"ph\":\"" ph "\",\"cat\":\"fwdbwd\",\"name\":\"" name "\",\"id\":" #id \
    ",\"pid\":1,\"tid\":" #tid ",\"ts\":" #ts ",\"bp\":\"e\"}"

#define OTHER(ph, id, tid, ts)                                                              \
    "{\"ph\":\"" ph "\",\"cat\":\"x\",\"name\":\"n\",\"id\":" id ",\"pid\":1,\"tid\":" #tid \
    ",\"ts\":" #ts "}"

static void an_arrow_joins_the_ops_that_start_at_its_ends(void **state) {
    trace *t = read_events(EVENTS(X("cpu_op", "fwd", 1, 10, 20, "\"Sequence number\":5"),
                                  X("cpu_op", "inner", 1, 10, 5, ""),
                                  X("python_function", "frame", 1, 10, 30, ""),
                                  X("cpu_op", "bwd", 2, 50, 20, "\"Sequence number\":5"),
                                  END("s", "f", 1, 1, 10), END("f", "f", 1, 2, 50)));
    assert_int_equal(t->flow.n, 2);
    assert_int_equal(t->flow.from[1], find_slice(t, "fwd"));
    assert_int_equal(t->flow.to[1], find_slice(t, "bwd"));
    assert_int_equal(t->flow.kind[1], FLOW_FORWARD_BACKWARD);
    assert_int_equal(t->flow.id[1], 1);
    assert_string_equal(text_of_id(t, t->flow.name[1]), "f");
    trace_release(t);
}

static void any_other_arrow_ends_at_the_innermost_slice(void **state) {
    trace *t = read_events(
        EVENTS(X("cpu_op", "a", 1, 0, 100, ""), X("cpu_op", "b", 1, 10, 20, ""),
               X("cpu_op", "c", 2, 0, 50, ""), OTHER("s", "3", 1, 15), OTHER("f", "3", 2, 70)));
    assert_int_equal(t->flow.n, 2);
    assert_int_equal(t->flow.from[1], find_slice(t, "b"));
    assert_int_equal(t->flow.to[1], 0); /* nothing runs there any more */
    assert_int_equal(t->flow.kind[1], FLOW_OTHER);
    trace_release(t);
}

static void a_chain_of_steps_is_one_arrow_from_each_to_the_next(void **state) {
    trace *t = read_events(EVENTS(X("cpu_op", "a", 1, 0, 5, ""), X("cpu_op", "b", 2, 10, 5, ""),
                                  X("cpu_op", "c", 3, 20, 5, ""), END("s", "f", 1, 1, 1),
                                  END("t", "f", 1, 2, 11), END("f", "f", 1, 3, 21)));
    assert_int_equal(t->flow.n, 3);
    assert_int_equal(t->flow.from[1], find_slice(t, "a"));
    assert_int_equal(t->flow.to[1], find_slice(t, "b"));
    assert_int_equal(t->flow.from[2], find_slice(t, "b"));
    assert_int_equal(t->flow.to[2], find_slice(t, "c"));
    trace_release(t);
}

static void an_arrow_with_one_end_is_counted(void **state) {
    trace *t = read_events(EVENTS(X("cpu_op", "a", 1, 0, 50, ""), END("s", "f", 1, 1, 1),
                                  END("f", "f", 2, 1, 2), END("s", "f", 3, 1, 3),
                                  END("s", "g", 3, 1, 3), END("f", "g", 3, 1, 4)));
    assert_int_equal(t->flow.n, 2);
    assert_int_equal(trace_quality(t, CAUSE_DANGLING_FLOW), 3);
    trace_release(t);
}

static void an_id_may_be_used_again(void **state) {
    trace *t = read_events(EVENTS(X("cpu_op", "a", 1, 0, 5, ""), X("cpu_op", "b", 1, 10, 5, ""),
                                  END("f", "f", 1, 1, 12), END("s", "f", 1, 1, 1),
                                  END("f", "f", 1, 1, 2), END("s", "f", 1, 1, 11)));
    assert_int_equal(t->flow.n, 3);
    assert_int_equal(t->flow.to[1], find_slice(t, "a"));
    assert_int_equal(t->flow.from[2], find_slice(t, "b"));
    assert_int_equal(trace_quality(t, CAUSE_DANGLING_FLOW), 0);
    trace_release(t);
}

static void at_one_time_an_arrow_begins_before_it_ends(void **state) {
    trace *t = read_events(EVENTS(X("cpu_op", "a", 1, 0, 5, ""), X("cpu_op", "b", 2, 0, 5, ""),
                                  OTHER("f", "1", 2, 3), OTHER("t", "1", 1, 3),
                                  OTHER("s", "1", 1, 3)));
    assert_int_equal(t->flow.n, 3);
    assert_int_equal(t->flow.from[1], find_slice(t, "a"));
    assert_int_equal(t->flow.to[2], find_slice(t, "b"));
    assert_int_equal(trace_quality(t, CAUSE_DANGLING_FLOW), 0);
    trace_release(t);
}

static void after_its_end_an_arrow_has_no_more_ends(void **state) {
    trace *t = read_events(EVENTS(X("cpu_op", "a", 1, 0, 50, ""), OTHER("s", "1", 1, 1),
                                  OTHER("f", "1", 1, 2), OTHER("f", "1", 1, 3)));
    assert_int_equal(t->flow.n, 2);
    assert_int_equal(trace_quality(t, CAUSE_DANGLING_FLOW), 1);
    trace_release(t);
}

static void a_text_as_id_is_the_same_number_in_every_file(void **state) {
    trace *t = read_events(EVENTS(OTHER("s", "\"k\"", 1, 1), OTHER("f", "\"k\"", 1, 2)));
    trace *u = read_events(EVENTS(X("other", "strings", 1, 0, 5, "\"first\":\"x\""),
                                  OTHER("s", "\"j\"", 1, 1), OTHER("f", "\"j\"", 1, 2),
                                  OTHER("s", "\"k\"", 1, 1), OTHER("f", "\"k\"", 1, 2)));
    assert_int_equal(t->flow.n, 2);
    assert_int_equal(u->flow.n, 3);
    assert_int_not_equal(u->flow.id[1], u->flow.id[2]);
    assert_true(t->flow.id[1] == u->flow.id[1] || t->flow.id[1] == u->flow.id[2]);
    trace_release(t);
    trace_release(u);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_arrow_joins_the_ops_that_start_at_its_ends),
        cmocka_unit_test(any_other_arrow_ends_at_the_innermost_slice),
        cmocka_unit_test(a_chain_of_steps_is_one_arrow_from_each_to_the_next),
        cmocka_unit_test(an_arrow_with_one_end_is_counted),
        cmocka_unit_test(an_id_may_be_used_again),
        cmocka_unit_test(at_one_time_an_arrow_begins_before_it_ends),
        cmocka_unit_test(after_its_end_an_arrow_has_no_more_ends),
        cmocka_unit_test(a_text_as_id_is_the_same_number_in_every_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
