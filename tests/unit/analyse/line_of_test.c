/* line_of_test.c: the line of a program that runs at a moment of a thread. */
#include "analyse/operators/line_of.h"

#include "built_trace.h"

enum { MAIN = 1, AUTOGRAD = 2 };

static uint32_t stack(built *x, const char *outer, const char *inner) {
    uint32_t frame = builder_frame(x->b, 0, built_str(x, outer));
    return inner ? builder_frame(x->b, frame, built_str(x, inner)) : frame;
}

static void add_sample(built *x, int tid, int64_t time, int64_t dur, uint32_t frame) {
    raw_sample row = {.time = time, .dur = dur, .frame = frame};
    row.track = part_track(x->p, (ident){.v = 1}, (ident){.v = tid});
    assert_int_equal(part_sample(x->p, &row), OK);
}

static void add_op(built *x, int tid, const char *name, int64_t start, int64_t dur, raw_op op) {
    raw_slice row = {.start = start, .dur = dur, .kind = KIND_OP, .name = built_str(x, name)};
    row.track = part_track(x->p, (ident){.v = 1}, (ident){.v = tid});
    assert_int_equal(part_op(x->p, &op, &row), OK);
    assert_int_equal(part_slice(x->p, &row), OK);
}

/* A thread by hand: main from 0 to 100; forward of a package from 10 to 30 with an operator; a
 * sampled stretch after it. */
static void make_thread(built *x) {
    built_init(x);
    built_slice(x, MAIN, KIND_PYTHON, "train.py(7): main", 0, 100);
    built_slice(x, MAIN, KIND_PYTHON, "torch/nn/linear.py(3): forward", 10, 20);
    built_slice(x, MAIN, KIND_OP, "aten::mm", 12, 5);
    built_slice(x, MAIN, KIND_OP, "alone", 110, 10);
    uint32_t save = stack(x, "train.py(50): <module>", "site-packages/torch/save.py(9): save");
    add_sample(x, MAIN, 105, 30, save);
    built_seal(x);
}

static uint32_t slice_named(const trace *t, const char *name) {
    for (uint32_t i = 1; i < t->slice.n; i++)
        if (str_eq(trace_slice_name(t, i), str_of(name))) return i;
    fail_msg("no slice %s", name);
    return 0;
}

static void assert_line(const line_view *v, uint32_t frame, const char *name) {
    uint32_t site = line_site(v, frame);
    str text = site ? trace_str(v->t, v->t->frame.name[site]) : STR("");
    if (!str_eq(text, str_of(name))) fail_msg("%.*s, not %s", STR_ARG(text), name);
}

typedef struct {
    const line_view *v;
    char text[512];
} shown;

static status show(void *context, const line_piece *p, error *err) {
    shown *s = context;
    size_t n = strlen(s->text);
    uint32_t frame = p->frame;
    (void)err;
    snprintf(s->text + n, sizeof s->text - n, "%d-%d %s%d ", (int)p->range.start,
             (int)p->range.end, p->idle ? "idle " : "",
             frame ? (int)s->v->t->frame.line[frame] : 0);
    return OK;
}

static void assert_cut(const line_view *v, int track, interval range, const char *expected) {
    shown s = {.v = v};
    line_cutter c = {v, show, &s};
    assert_int_equal(line_cut(&c, (uint32_t)track, range, NULL), OK);
    assert_string_equal(s.text, expected);
}

static void the_line_is_the_innermost_of_the_program(void **state) {
    built x;
    line_view v;
    make_thread(&x);
    assert_int_equal(line_view_init(&v, x.t, &x.arena, NULL), OK);
    uint32_t mm = slice_named(x.t, "aten::mm");
    assert_int_equal(x.t->frame.line[line_frame_of(&v, mm)], 3);
    assert_line(&v, line_frame_of(&v, mm), "train.py(7): main");
    assert_line(&v, line_frame_of(&v, slice_named(x.t, "alone")), "train.py(50): <module>");
    built_fini(&x);
}

static void a_thread_is_cut_where_its_stack_changes(void **state) {
    built x;
    line_view v;
    make_thread(&x);
    assert_int_equal(line_view_init(&v, x.t, &x.arena, NULL), OK);
    assert_cut(&v, 1, (interval){0, 140},
               "0-10 7 10-12 3 12-17 3 17-30 3 30-100 7 100-105 idle 0 105-110 9 110-120 9 "
               "120-135 9 135-140 idle 0 ");
    assert_cut(&v, 1, (interval){20, 40}, "20-30 3 30-40 7 ");
    assert_cut(&v, 0, (interval){20, 40}, "20-40 idle 0 ");
    built_fini(&x);
}

static void files_are_sorted_by_their_owner(void **state) {
    static const struct {
        const char *frame, *owner;
    } cases[] = {{"train.py(1): f", "own"},
                 {"/home/a/src/net.py(1): f", "own"},
                 {"models/net.py(1): f", "own"},
                 {"<ipython-input-3-ab>(1): f", "own"},
                 {"/usr/lib/python3/dist-packages/numpy/a.py(1): f", "package"},
                 {"/opt/lib/python3.11/site-packages/x/a.py(1): f", "package"},
                 {"torch/optim/adam.py(1): f", "package"},
                 {"/tmp/torchinductor_me/ab/cd.py(1): call", "package"},
                 {"/usr/lib/python3.11/json/decoder.py(1): f", "stdlib"},
                 {"threading.py(1): wait", "stdlib"},
                 {"<frozen importlib._bootstrap>(1): f", "stdlib"},
                 {"alloc.cpp(12): malloc", "unknown"},
                 {"nn.Module: Linear_0", "unknown"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        built x;
        line_view v;
        built_init(&x);
        add_sample(&x, MAIN, 5, 10, stack(&x, cases[i].frame, NULL));
        built_seal(&x);
        assert_int_equal(line_view_init(&v, x.t, &x.arena, NULL), OK);
        str owner = line_owner_name(v.owner[1]);
        if (!str_eq(owner, str_of(cases[i].owner)))
            fail_msg("%s is %.*s", cases[i].frame, STR_ARG(owner));
        built_fini(&x);
    }
}

/* The forward operator has its stack, the node of the backward pass its number. */
static void the_backward_pass_has_the_line_of_the_forward_operator(void **state) {
    built x;
    line_view v;
    built_init(&x);
    raw_op forward = {.external = 1, .sequence = 5, .forward_thread = ABSENT_I64};
    forward.call_stack = built_str(&x, "net.py(20): forward;train.py(7): main");
    add_op(&x, MAIN, "aten::mul", 0, 10, forward);
    raw_op node = {.external = 2, .sequence = 5, .forward_thread = 1};
    add_op(&x, AUTOGRAD, "autograd::engine::evaluate_function: MulBackward0", 50, 20, node);
    built_slice(&x, AUTOGRAD, KIND_OP, "aten::mul_", 55, 5);
    built_seal(&x);
    assert_int_equal(line_view_init(&v, x.t, &x.arena, NULL), OK);
    uint32_t inside = slice_named(x.t, "aten::mul_");
    assert_line(&v, line_frame_of(&v, inside), "net.py(20): forward");
    assert_true(v.is_backward[inside]);
    assert_false(v.is_backward[slice_named(x.t, "aten::mul")]);
    built_fini(&x);
}

static void without_stacks_nothing_is_known(void **state) {
    built x;
    line_view v;
    built_init(&x);
    built_slice(&x, MAIN, KIND_OP, "aten::mm", 12, 5);
    built_seal(&x);
    assert_int_equal(line_view_init(&v, x.t, &x.arena, NULL), OK);
    assert_false(v.has_lines);
    assert_int_equal(line_frame_of(&v, 1), 0);
    assert_cut(&v, 1, (interval){10, 20}, "10-12 idle 0 12-17 0 17-20 idle 0 ");
    built_fini(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_line_is_the_innermost_of_the_program),
        cmocka_unit_test(a_thread_is_cut_where_its_stack_changes),
        cmocka_unit_test(files_are_sorted_by_their_owner),
        cmocka_unit_test(the_backward_pass_has_the_line_of_the_forward_operator),
        cmocka_unit_test(without_stacks_nothing_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
