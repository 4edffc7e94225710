/* memory_frame_test.c: which frame of a call stack names a block. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analyse/memory/memory_view.h"
#include "store/builder.h"

typedef struct {
    builder *b;
    part *part;
    trace *t;
    arena arena;
    memory_view view;
    uint32_t n;
} sample;

static void sample_init(sample *s) {
    *s = (sample){.b = builder_new()};
    assert_non_null(s->b);
    s->part = builder_part(s->b);
    arena_init(&s->arena, 0);
}

/* Adds an allocation with this stack, frames joined by '|', innermost first; its row. */
static uint32_t add(sample *s, const char *stack) {
    uint32_t frame = 0;
    str rest = str_of(stack);
    while (rest.n) {
        size_t bar = str_rfind_byte(rest, '|'), from = bar == SIZE_MAX ? 0 : bar + 1;
        str name = str_from(rest, from);
        frame = builder_frame(s->b, frame, intern_add(builder_strings(s->b), name));
        assert_true(frame != UINT32_MAX);
        rest.n = bar == SIZE_MAX ? 0 : bar;
    }
    raw_memory m = {.time = s->n,
                    .address = s->n + 1,
                    .bytes = 8,
                    .allocated = 8 * s->n,
                    .reserved = ABSENT_I64,
                    .frame = frame,
                    .device_type = DEVICE_CUDA,
                    .kind = MEMORY_ALLOC};
    m.track = part_track(s->part, (ident){.v = 1}, (ident){.v = 1});
    assert_int_equal(part_memory(s->part, &m), OK);
    return ++s->n;
}

static void sample_seal(sample *s) {
    assert_int_equal(builder_seal(s->b, NULL, &s->t, NULL), OK);
    params p = PARAMS_WHOLE;
    assert_int_equal(memory_view_init(&s->view, s->t, &p, &s->arena, NULL), OK);
}

static void sample_fini(sample *s) {
    trace_release(s->t);
    builder_free(s->b);
    arena_fini(&s->arena);
}

static void check_name(const sample *s, uint32_t row, const char *expected) {
    bool ok = true;
    str name = memory_name(&s->view, row, &ok);
    if (!ok || !str_eq(name, str_of(expected)))
        fail_msg("%.*s instead of %s", STR_ARG(name), expected);
}

static void the_innermost_frame_of_the_user_names_the_block(void **state) {
    sample s;
    sample_init(&s);
    uint32_t user =
        add(&s, "c10::malloc(x)|at::_ops::mm::call(x)|"
                "/v/site-packages/torch/nn/modules/linear.py(7): forward|"
                "/home/me/model.py(12): forward|/home/me/train.py(3): <module>|_start");
    uint32_t library = add(&s, "/v/site-packages/transformers/modeling.py(40): forward|"
                               "/home/me/train.py(3): <module>");
    uint32_t windows =
        add(&s, "C:\\env\\site-packages\\torch\\nn\\a.py(1): f|C:\\me\\run.py(2): go");
    uint32_t folder = add(&s, "/opt/torch/train.py(9): go|/a.py(1): f");
    uint32_t source =
        add(&s, "/src/pytorch/torch/nn/modules/conv.py(9): f|/home/me/a.py(1): f");
    sample_seal(&s);
    check_name(&s, user, "model.py:12 forward");
    check_name(&s, library, "modeling.py:40 forward");
    check_name(&s, windows, "run.py:2 go");
    check_name(&s, folder, "train.py:9 go");
    check_name(&s, source, "a.py:1 f");
    sample_fini(&s);
}

static void without_one_the_innermost_operator_does(void **state) {
    sample s;
    sample_init(&s);
    uint32_t aten =
        add(&s, "torch::unwind::unwind()|at::_ops::empty_strided::call(x)|at::native::mm(x)|"
                "at::_ops::mm::redispatch(x)|at::_ops::mm::call(x)|"
                "torch::autograd::generated::MmBackward0::apply(x)|__clone");
    uint32_t node =
        add(&s, "at::_ops::empty::call()|torch::autograd::generated::MmBackward0::apply(x)");
    uint32_t other = add(&s, "at::_ops::mm::call(y)");
    sample_seal(&s);
    check_name(&s, aten, "aten::mm");
    check_name(&s, node, "MmBackward0");
    check_name(&s, other, "aten::mm");
    assert_int_equal(s.view.labels.n, 2); /* frames of one text are one label */
    sample_fini(&s);
}

static void then_python_and_then_native_frames(void **state) {
    sample s;
    sample_init(&s);
    uint32_t python = add(
        &s, "at::native::x()|/usr/lib/python3.11/threading.py(5): run|<string>(1): <module>");
    uint32_t native = add(&s, "torch::unwind::unwind()|c10::cuda::malloc(x)|cudnnCreate|main");
    uint32_t allocator = add(&s, "torch::unwind::unwind()|c10::cuda::malloc(x)");
    uint32_t nothing = add(&s, "");
    sample_seal(&s);
    check_name(&s, python, "threading.py:5 run");
    check_name(&s, native, "cudnnCreate");
    check_name(&s, allocator, "torch::unwind::unwind()");
    bool ok = true;
    assert_null(memory_name(&s.view, nothing, &ok).p);
    assert_int_equal(memory_site(&s.view, nothing), 0);
    sample_fini(&s);
}

static void callers_are_the_frames_of_the_user(void **state) {
    sample s;
    sample_init(&s);
    uint32_t row =
        add(&s, "at::_ops::mm::call(x)|/m/a.py(1): f|/v/site-packages/torch/nn/b.py(2): g|"
                "/m/c.py(3): h|main");
    uint32_t native = add(&s, "at::_ops::mm::call(x)|at::_ops::linear::call(x)|main");
    sample_seal(&s);
    uint32_t site = memory_site(&s.view, row), outer = memory_outer_site(&s.view, site);
    assert_true(outer != 0);
    assert_true(str_eq(memory_label(&s.view, s.view.label_of[outer]), STR("c.py:3 h")));
    assert_int_equal(memory_outer_site(&s.view, outer), 0);
    assert_int_equal(memory_outer_site(&s.view, memory_site(&s.view, native)), 0);
    sample_fini(&s);
}

static void traces_without_stacks_cost_nothing(void **state) {
    sample s;
    sample_init(&s);
    uint32_t row = add(&s, "");
    sample_seal(&s);
    assert_null(s.view.site_of);
    assert_int_equal(memory_site(&s.view, row), 0);
    sample_fini(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_innermost_frame_of_the_user_names_the_block),
        cmocka_unit_test(without_one_the_innermost_operator_does),
        cmocka_unit_test(then_python_and_then_native_frames),
        cmocka_unit_test(callers_are_the_frames_of_the_user),
        cmocka_unit_test(traces_without_stacks_cost_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
