/* seal_link_test.c: device work finds its launch and its operator. */
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

static uint32_t kernel_named(const trace *t, const char *name) {
    return trace_kernel_of(t, find_slice(t, name));
}

static void assert_link(const trace *t, const char *kernel, const char *launch, const char *op,
                        uint8_t how) {
    uint32_t k = kernel_named(t, kernel);
    assert_int_equal(t->kernel.launch[k], launch ? find_slice(t, launch) : 0);
    assert_int_equal(t->kernel.op[k], op ? find_slice(t, op) : 0);
    assert_int_equal(t->kernel.link[k], how);
}

#define OP(name, tid, ts, dur, id) X("cpu_op", name, tid, ts, dur, "\"External id\":" #id)
#define CALL(name, tid, ts, corr, id) \
    X("cuda_runtime", name, tid, ts, 1, "\"correlation\":" #corr ",\"External id\":" #id)
#define KERNEL(name, ts, corr, id) \
    X("kernel", name, 7, ts, 1, "\"correlation\":" #corr ",\"External id\":" #id)

static void a_kernel_is_linked_through_its_runtime_call(void **state) {
    trace *t = read_events(EVENTS(OP("outer", 1, 0, 100, 1), OP("op", 1, 10, 20, 2),
                                  CALL("call", 1, 15, 50, 2), KERNEL("k", 40, 50, 2)));
    assert_link(t, "k", "call", "op", LINK_EXACT);
    assert_int_equal(t->call.op[1], find_slice(t, "op"));
    assert_int_equal(trace_quality(t, CAUSE_ORPHAN_CORRELATION), 0);
    trace_release(t);
}

static void a_driver_call_launches_too(void **state) {
    trace *t =
        read_events(EVENTS(OP("op", 1, 10, 20, 2),
                           X("cuda_driver", "cuLaunchKernel", 1, 15, 1, "\"correlation\":50"),
                           X("kernel", "k", 7, 40, 1, "\"correlation\":50")));
    assert_link(t, "k", "cuLaunchKernel", "op", LINK_CONTAINED);
    trace_release(t);
}

static void the_external_id_names_an_outer_op_that_holds_the_call(void **state) {
    trace *t = read_events(EVENTS(OP("outer", 1, 0, 100, 1), OP("inner", 1, 10, 20, 2),
                                  CALL("call", 1, 15, 50, 1), KERNEL("k", 40, 50, 1)));
    assert_link(t, "k", "call", "outer", LINK_EXACT);
    trace_release(t);
}

static void an_external_id_of_another_thread_or_time_is_not_believed(void **state) {
    trace *t = read_events(EVENTS(OP("far", 2, 0, 100, 9), OP("op", 1, 10, 20, 2),
                                  CALL("call", 1, 15, 50, 9), KERNEL("k", 40, 50, 9)));
    assert_link(t, "k", "call", "op", LINK_CONTAINED);
    trace_release(t);
    t = read_events(EVENTS(OP("late", 1, 50, 100, 9), OP("op", 1, 10, 20, 2),
                           CALL("call", 1, 15, 50, 9), KERNEL("k", 40, 50, 9)));
    assert_link(t, "k", "call", "op", LINK_CONTAINED);
    trace_release(t);
}

static void where_ids_are_correlations_they_are_not_used(void **state) {
    trace *t = read_events(EVENTS(OP("outer", 1, 0, 100, 50), OP("op", 1, 10, 20, 2),
                                  CALL("call", 1, 15, 50, 50), KERNEL("k", 40, 50, 50)));
    assert_link(t, "k", "call", "op", LINK_CONTAINED);
    trace_release(t);
}

static void one_kernel_with_another_id_makes_the_ids_good_again(void **state) {
    trace *t = read_events(EVENTS(OP("outer", 1, 0, 100, 50), OP("op", 1, 10, 20, 2),
                                  CALL("call", 1, 15, 50, 50), KERNEL("k", 40, 50, 50),
                                  CALL("call2", 1, 17, 51, 2), KERNEL("k2", 44, 51, 2)));
    assert_link(t, "k", "call", "outer", LINK_EXACT);
    assert_link(t, "k2", "call2", "op", LINK_EXACT);
    trace_release(t);
}

static void a_kernel_without_a_call_is_an_orphan(void **state) {
    trace *t = read_events(EVENTS(OP("op", 1, 10, 20, 2), KERNEL("k", 40, 50, 2),
                                  X("kernel", "l", 7, 50, 1, ""),
                                  X("kernel", "m", 7, 60, 1, "\"correlation\":-1")));
    assert_link(t, "k", NULL, NULL, LINK_NONE);
    assert_link(t, "l", NULL, NULL, LINK_NONE);
    assert_link(t, "m", NULL, NULL, LINK_NONE);
    assert_int_equal(trace_quality(t, CAUSE_ORPHAN_CORRELATION), 3);
    trace_release(t);
}

static void a_call_outside_of_every_op_is_all_that_is_known(void **state) {
    trace *t = read_events(
        EVENTS(OP("before", 1, 0, 10, 1), CALL("call", 1, 10, 50, 7), KERNEL("k", 40, 50, 2)));
    assert_link(t, "k", "call", NULL, LINK_LAUNCH_ONLY);
    trace_release(t);
}

static void all_kernels_of_a_graph_share_its_launch(void **state) {
    trace *t =
        read_events(EVENTS(OP("op", 1, 10, 20, 2),
                           X("cuda_runtime", "cudaGraphLaunch", 1, 15, 1, "\"correlation\":50"),
                           X("kernel", "k", 7, 40, 1,
                             "\"correlation\":50,\"graph node "
                             "id\":3"),
                           X("gpu_memcpy", "l", 7, 50, 1,
                             "\"correlation\":50,"
                             "\"graph node id\":4")));
    assert_link(t, "k", "cudaGraphLaunch", "op", LINK_GRAPH);
    assert_link(t, "l", "cudaGraphLaunch", "op", LINK_GRAPH);
    trace_release(t);
}

static void of_two_calls_with_one_id_the_first_launched(void **state) {
    trace *t = read_events(EVENTS(X("cuda_driver", "inner", 1, 16, 1, "\"correlation\":50"),
                                  CALL("outer", 1, 15, 50, 2), OP("op", 1, 10, 20, 2),
                                  KERNEL("k", 40, 50, 2)));
    assert_link(t, "k", "outer", "op", LINK_EXACT);
    trace_release(t);
}

static void annotations_are_not_operators(void **state) {
    trace *t = read_events(EVENTS(OP("op", 1, 0, 100, 1),
                                  X("user_annotation", "range", 1, 10, 50, "\"External id\":2"),
                                  CALL("call", 1, 15, 50, 2), KERNEL("k", 40, 50, 2)));
    assert_link(t, "k", "call", "op", LINK_CONTAINED);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_is_linked_through_its_runtime_call),
        cmocka_unit_test(a_driver_call_launches_too),
        cmocka_unit_test(the_external_id_names_an_outer_op_that_holds_the_call),
        cmocka_unit_test(an_external_id_of_another_thread_or_time_is_not_believed),
        cmocka_unit_test(where_ids_are_correlations_they_are_not_used),
        cmocka_unit_test(one_kernel_with_another_id_makes_the_ids_good_again),
        cmocka_unit_test(a_kernel_without_a_call_is_an_orphan),
        cmocka_unit_test(a_call_outside_of_every_op_is_all_that_is_known),
        cmocka_unit_test(all_kernels_of_a_graph_share_its_launch),
        cmocka_unit_test(of_two_calls_with_one_id_the_first_launched),
        cmocka_unit_test(annotations_are_not_operators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
