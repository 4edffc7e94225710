/* seal_given_test.c: rows a producer had added up, and the tree of an input pipeline. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/builder.h"
#include "store/trace.h"

static trace *seal(builder *b) {
    trace *t = NULL;
    assert_int_equal(builder_seal(b, NULL, &t, NULL), OK);
    builder_free(b);
    return t;
}

static void given_rows_keep_their_order_and_what_is_absent(void **state) {
    builder *b = builder_new();
    intern *s = builder_strings(b);
    row_producer_op op = row_producer_op_none();
    op.name = intern_add(s, STR("MatMul-op3"));
    op.calls = 30;
    op.total = 1500000;
    op.level = PRODUCER_TYPE;
    assert_int_equal(builder_put_producer_op(b, &op, NULL), OK);
    op = row_producer_op_none();
    op.name = intern_add(s, STR("Add-op1"));
    assert_int_equal(builder_put_producer_op(b, &op, NULL), OK);
    row_producer_step step = {.number = ABSENT_I64, .stage = intern_add(s, STR("tail"))};
    step.duration = 7;
    assert_int_equal(builder_put_producer_step(b, &step, NULL), OK);
    trace *t = seal(b);
    assert_int_equal(t->producer_op.n, 3);
    assert_true(str_eq(trace_str(t, t->producer_op.name[1]), STR("MatMul-op3")));
    assert_int_equal(t->producer_op.calls[1], 30);
    assert_int_equal(t->producer_op.total[1], 1500000);
    assert_int_equal(t->producer_op.level[1], PRODUCER_TYPE);
    assert_int_equal(t->producer_op.calls[2], ABSENT_I64);
    assert_true(isnan(t->producer_op.flops[2]));
    assert_int_equal(t->producer_step.number[1], ABSENT_I64);
    assert_int_equal(t->producer_step.duration[1], 7);
    trace_release(t);
}

static void a_pipeline_is_a_tree_whatever_the_file_says(void **state) {
    builder *b = builder_new();
    /* 1 <- 2 <- 3, 4 <-> 5 a circle, 6 below one that does not exist, 7 its own parent */
    static const uint32_t parents[] = {0, 1, 2, 5, 4, 99, 7};
    for (size_t i = 0; i < 7; i++) {
        row_pipe_op op = {.parent = parents[i], .capacity = ABSENT_I64, .id = (int64_t)i};
        assert_int_equal(builder_put_pipe_op(b, &op, NULL), OK);
    }
    row_queue_sample sample = {.pipe_op = 3, .size = 5, .get = ABSENT_I64};
    assert_int_equal(builder_put_queue_sample(b, &sample, NULL), OK);
    sample.pipe_op = 8;
    assert_int_equal(builder_put_queue_sample(b, &sample, NULL), OK);
    trace *t = seal(b);
    assert_int_equal(t->pipe_op.n, 8);
    for (uint32_t i = 1; i < t->pipe_op.n; i++) {
        uint32_t at = i, steps = 0;
        while (at && steps < 10) at = t->pipe_op.parent[at], steps++;
        assert_int_equal(at, 0);
    }
    assert_int_equal(t->pipe_op.parent[3], 2);
    assert_int_equal(t->pipe_op.parent[4], 5);
    assert_int_equal(t->pipe_op.parent[6], 0);
    assert_int_equal(t->pipe_op.parent[7], 0);
    assert_int_equal(t->queue_sample.pipe_op[1], 3);
    assert_int_equal(t->queue_sample.pipe_op[2], 0);
    trace_release(t);
}

static void device_work_without_calls_belongs_to_the_op_it_names(void **state) {
    builder *b = builder_new();
    part *p = builder_part(b);
    raw_slice op = {.start = 100, .dur = 50, .kind = KIND_OP};
    op.track = part_track(p, (ident){.v = 1}, (ident){.v = 1});
    op.name = intern_add(builder_strings(b), STR("Add-op1"));
    raw_op row = {.external = 7, .sequence = ABSENT_I64, .forward_thread = ABSENT_I64};
    assert_int_equal(part_op(p, &row, &op), OK);
    assert_int_equal(part_slice(p, &op), OK);
    raw_kernel work = {.correlation = ABSENT_I64, .external = 7, .device = 0};
    raw_slice kernel = {.start = 110, .dur = 5, .kind = KIND_KERNEL};
    kernel.track = part_track(p, (ident){.v = 0}, (ident){.v = 7});
    kernel.name = intern_add(builder_strings(b), STR("AddK"));
    assert_int_equal(part_kernel(p, &work, &kernel), OK);
    assert_int_equal(part_slice(p, &kernel), OK);
    work.external = 8;
    assert_int_equal(part_kernel(p, &work, &kernel), OK);
    assert_int_equal(part_slice(p, &kernel), OK);
    trace *t = seal(b);
    int linked = 0;
    for (uint32_t i = 1; i < t->kernel.n; i++) {
        if (!t->kernel.op[i]) continue;
        linked++;
        assert_int_equal(t->kernel.link[i], LINK_EXACT);
        assert_true(str_eq(trace_slice_name(t, t->kernel.op[i]), STR("Add-op1")));
    }
    assert_int_equal(linked, 1);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(given_rows_keep_their_order_and_what_is_absent),
        cmocka_unit_test(a_pipeline_is_a_tree_whatever_the_file_says),
        cmocka_unit_test(device_work_without_calls_belongs_to_the_op_it_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
