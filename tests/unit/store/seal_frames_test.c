/* seal_frames_test.c: call stacks and modules. */
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

static void assert_stack(const trace *t, uint32_t frame, const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++, frame = t->frame.parent[frame])
        assert_string_equal(text_of_id(t, t->frame.name[frame]), names[i]);
    assert_int_equal(frame, 0);
}
#define STACK(t, which, ...)                                                         \
    do {                                                                             \
        static const char *const names_[] = {__VA_ARGS__};                           \
        assert_stack(t, (t)->op.frame[trace_op_of(t, find_slice(t, which))], names_, \
                     sizeof names_ / sizeof *names_);                                \
    } while (0)

static void python_frames_around_an_operator_are_its_stack(void **state) {
    trace *t = read_events(EVENTS(X("python_function", "main.py(9): main", 1, 0, 100, ""),
                                  X("python_function", "model.py(3): forward", 1, 10, 50, ""),
                                  X("cpu_op", "aten::mm", 1, 20, 10, ""),
                                  X("cpu_op", "aten::add", 1, 70, 10, ""),
                                  X("cpu_op", "aten::sum", 2, 20, 10, "")));
    STACK(t, "aten::mm", "model.py(3): forward", "main.py(9): main");
    STACK(t, "aten::add", "main.py(9): main");
    assert_int_equal(t->op.frame[trace_op_of(t, find_slice(t, "aten::sum"))], 0);
    assert_int_equal(t->frame.n, 3);
    trace_release(t);
}

static void one_path_is_one_frame(void **state) {
    trace *t = read_events(
        EVENTS(X("python_function", "a", 1, 0, 10, ""), X("cpu_op", "x", 1, 1, 1, ""),
               X("python_function", "a", 1, 20, 10, ""), X("cpu_op", "y", 1, 21, 1, ""),
               X("python_function", "b", 1, 40, 10, ""),
               X("python_function", "a", 1, 41, 5, ""), X("cpu_op", "z", 1, 42, 1, "")));
    assert_int_equal(t->frame.n, 4);
    assert_int_equal(t->op.frame[1], t->op.frame[2]);
    assert_int_not_equal(t->op.frame[1], t->op.frame[3]);
    STACK(t, "z", "a", "b");
    trace_release(t);
}

static void a_stack_written_as_text_is_taken_apart(void **state) {
    trace *t =
        read_events(EVENTS(X("python_function", "ignored", 1, 0, 50, ""),
                           X("cpu_op", "x", 1, 1, 1,
                             "\"Call stack\":\"inner.py(3): f; outer.py(7): "
                             "g;;\""),
                           X("cpu_op", "y", 1, 5, 1, "\"Call stack\":\"outer.py(7): g\"")));
    STACK(t, "x", "inner.py(3): f", "outer.py(7): g");
    STACK(t, "y", "outer.py(7): g");
    trace_release(t);
}

static void a_frame_knows_its_file_and_line(void **state) {
    trace *t = read_events(EVENTS(X("python_function", "dir/a b.py(123): f(x)", 1, 0, 50, ""),
                                  X("python_function", "<built-in method>", 1, 1, 40, ""),
                                  X("python_function", "x(y): z", 1, 2, 30, ""),
                                  X("python_function", "(7): z", 1, 3, 20, "")));
    assert_int_equal(t->frame.n, 5);
    assert_string_equal(text_of_id(t, t->frame.file[1]), "dir/a b.py");
    assert_int_equal(t->frame.line[1], 123);
    for (uint32_t i = 2; i <= 4; i++) {
        assert_int_equal(t->frame.file[i], 0);
        assert_int_equal(t->frame.line[i], 0);
    }
    trace_release(t);
}

#define MODULE(name, id, ts, dur) \
    X("python_function", name, 1, ts, dur, "\"Python module id\":" #id)

static void a_module_is_an_instance_and_its_parent_called_it_first(void **state) {
    trace *t =
        read_events(EVENTS(MODULE("Net_0", 0, 0, 50), X("python_function", "f", 1, 1, 40, ""),
                           MODULE("Linear_0", 0, 2, 10), MODULE("Linear_1", 1, 15, 10),
                           MODULE("Net_0", 0, 60, 50), MODULE("Linear_1", 1, 65, 5)));
    assert_int_equal(t->module.n, 4);
    assert_int_equal(t->module_call.n, 6);
    assert_string_equal(text_of_id(t, t->module.name[1]), "Net_0");
    assert_int_equal(t->module.parent[1], 0);
    assert_string_equal(text_of_id(t, t->module.name[2]), "Linear_0");
    assert_int_equal(t->module.parent[2], 1);
    assert_int_equal(t->module.id[3], 1);
    assert_int_equal(t->module_call.module[5], 3);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(python_frames_around_an_operator_are_its_stack),
        cmocka_unit_test(one_path_is_one_frame),
        cmocka_unit_test(a_stack_written_as_text_is_taken_apart),
        cmocka_unit_test(a_frame_knows_its_file_and_line),
        cmocka_unit_test(a_module_is_an_instance_and_its_parent_called_it_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
