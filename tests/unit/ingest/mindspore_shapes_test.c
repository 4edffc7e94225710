/* mindspore_shapes_test.c: operators whose shapes change, in both forms of their file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ingest/mindspore/mindspore_int.h"
#include "store/trace.h"

static trace *read_text(const char *text) {
    builder *b = builder_new();
    trace *t = NULL;
    assert_int_equal(ms_read_one(MS_DYNAMIC, str_of(text), b, NULL), OK);
    assert_int_equal(builder_seal(b, NULL, &t, NULL), OK);
    builder_free(b);
    return t;
}

static bool is(const trace *t, uint32_t id, const char *text) {
    return str_eq(trace_str(t, id), str_of(text));
}

static void a_gpu_file_has_operators_and_kernels(void **state) {
    (void)state;
    trace *t = read_text(
        "{\"operator\": {\"1\": [{\"step\": 1, \"op_side\": \"gpu\", \"op_type\": \"Add\", "
        "\"op_name\": \"Add-op6\", \"dur\": 75.616, \"shape_info\": [\"[32, 1]\"]}], \"2\": "
        "[{\"op_name\": \"Add-op6\", \"dur\": 3, \"shape_info\": []}, {\"op_name\": "
        "\"lost\"}]}, "
        "\"kernel\": {\"1\": [{\"op_name\": \"K\", \"op_full_name\": \"Default/Add-op6\", "
        "\"dur\": 3.904, \"block_dim\": \"256,1,1\", \"grid_dim\": \"1,1,1\"}]}}");
    assert_int_equal(t->op_run.n, 4);
    assert_int_equal(t->op_run.duration[1], 75616);
    assert_true(is(t, t->op_run.shapes[1], "[\"[32, 1]\"]"));
    assert_int_equal(t->op_run.step[2], 2);
    assert_int_equal(t->op_run.shapes[2], 0);
    assert_int_equal(t->op_run.level[3], PRODUCER_KERNEL);
    assert_true(is(t, t->op_run.op[3], "Default/Add-op6"));
    assert_true(is(t, t->op_run.block[3], "256,1,1"));
    trace_release(t);
}

static void an_ascend_file_has_a_list_for_each_operator(void **state) {
    (void)state;
    trace *t = read_text(
        "{\"op_type\": {\"MatMul\": [0.5, 0.6]}, \"MatMul\": [{\"MatMul-op3\": "
        "{\"op_exe_time\": "
        "[0.5, 0.6], \"op_shape\": [\"{2}\", \"{3}\"], \"op_exe_occurrences\": 2}}, "
        "{\"MatMul-op4\": {\"op_exe_time\": [1, 2], \"op_shape\": [\"a\", \"b\"]}}], \"Cast\": "
        "[{\"Cast-op1\": {\"op_exe_time\": [9], \"op_shape\": [\"c\"]}}, {\"Cast-op2\": "
        "{\"op_exe_time\": [1, 2, 3], \"op_shape\": []}}]}");
    assert_int_equal(t->op_run.n, 5); /* Cast-op1 ran once, Cast-op2 has no shapes */
    assert_true(is(t, t->op_run.name[2], "MatMul-op3"));
    assert_int_equal(t->op_run.step[2], 2);
    assert_int_equal(t->op_run.duration[2], 600000);
    assert_true(is(t, t->op_run.shapes[2], "{3}"));
    trace_release(t);
}

static void damage_gives_what_is_whole(void **state) {
    static const char *const damaged[] = {"[", "3", "{\"operator\": 3}",
                                          "{\"operator\": {\"x\": []}}",
                                          "{\"A\": [[3], {\"b\": []}]}"};
    (void)state;
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        trace *t = read_text(damaged[i]);
        assert_int_equal(t->op_run.n, 1);
        trace_release(t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gpu_file_has_operators_and_kernels),
        cmocka_unit_test(an_ascend_file_has_a_list_for_each_operator),
        cmocka_unit_test(damage_gives_what_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
