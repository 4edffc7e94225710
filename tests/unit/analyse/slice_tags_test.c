/* slice_tags_test.c: the stage and the module a slice belongs to. */
#include "built_trace.h"
#include "timeline_trace.h"

#include "analyse/timeline/slice_tags.h"
#include "analyse/timeline/viewport.h"

static tagger begin(timeline *x, tag_kind kind) {
    tagger g;
    assert_int_equal(tagger_begin(x->t, kind, &x->a, &g, NULL), OK);
    return g;
}

static uint32_t tag(timeline *x, tagger *g, const char *name, uint32_t i) {
    return tag_of(g, timeline_slice(x, name, i));
}

static void a_slice_has_the_stage_it_starts_in(void **state) {
    timeline x;
    timeline_init(&x);
    tagger g = begin(&x, TAG_STAGE);
    assert_int_equal(tag(&x, &g, "enumerate(DataLoader)#X.__next__", 0), STAGE_DATA + 1);
    assert_int_equal(tag(&x, &g, "aten::addmm", 0), STAGE_FORWARD + 1);
    assert_int_equal(tag(&x, &g, "AddmmBackward0", 0), STAGE_BACKWARD + 1);
    assert_int_equal(tag(&x, &g, "Optimizer.step#SGD.step", 0), STAGE_OPTIMIZER + 1);
    assert_int_equal(tag(&x, &g, "ProfilerStep#1", 0), 0);
    tagger_end(&g);
    timeline_fini(&x);
}

static void device_work_has_the_stage_of_its_launch(void **state) {
    timeline x;
    timeline_init(&x);
    tagger g = begin(&x, TAG_STAGE);
    assert_int_equal(tag(&x, &g, "gemm", 0), STAGE_FORWARD + 1);
    assert_int_equal(tag(&x, &g, "gemm", 1), STAGE_BACKWARD + 1);
    tagger_end(&g);
    timeline_fini(&x);
}

static str module_tag(timeline *x, tagger *g, const char *name, uint32_t i) {
    return trace_str(x->t, tag(x, g, name, i));
}

static void a_slice_has_the_innermost_module_around_it(void **state) {
    timeline x;
    timeline_init(&x);
    tagger g = begin(&x, TAG_MODULE);
    assert_true(str_eq(module_tag(&x, &g, "aten::addmm", 0), STR("nn.Module: Linear_0")));
    assert_true(str_eq(module_tag(&x, &g, "aten::relu", 0), STR("nn.Module: Net_0")));
    assert_int_equal(tag(&x, &g, "Optimizer.step#SGD.step", 0), 0);
    tagger_end(&g);
    timeline_fini(&x);
}

static void backward_and_device_work_have_the_module_of_their_forward_operator(void **state) {
    timeline x;
    timeline_init(&x);
    tagger g = begin(&x, TAG_MODULE);
    assert_true(str_eq(module_tag(&x, &g, "AddmmBackward0", 0), STR("nn.Module: Linear_0")));
    assert_true(str_eq(module_tag(&x, &g, "ReluBackward0", 0), STR("nn.Module: Net_0")));
    assert_true(str_eq(module_tag(&x, &g, "gemm", 0), STR("nn.Module: Linear_0")));
    assert_true(str_eq(module_tag(&x, &g, "gemm", 1), STR("nn.Module: Linear_0")));
    tagger_end(&g);
    timeline_fini(&x);
}

static void a_slice_has_the_line_that_its_thread_ran(void **state) {
    built x;
    tagger g;
    built_init(&x);
    built_slice(&x, 1, KIND_PYTHON, "train.py(7): main", 0, 100);
    built_slice(&x, 1, KIND_OP, "aten::mm", 12, 5);
    built_slice(&x, 1, KIND_OP, "alone", 110, 5);
    built_seal(&x);
    assert_int_equal(tagger_begin(x.t, TAG_LINE, &x.arena, &g, NULL), OK);
    for (uint32_t i = 1; i < x.t->slice.n; i++) {
        str line = trace_str(x.t, tag_of(&g, i));
        bool alone = str_eq(trace_slice_name(x.t, i), STR("alone"));
        assert_true(str_eq(line, alone ? STR("") : STR("train.py(7): main")));
    }
    tagger_end(&g);
    built_fini(&x);
    (void)state;
}

/* The two gemms have one name and two stages: two names in the answer. */
static void a_name_with_two_tags_is_twice_in_a_viewport(void **state) {
    timeline x;
    timeline_init(&x);
    tagger g = begin(&x, TAG_STAGE);
    viewport_lane one = {.id = timeline_lane_id(&x, LANE_STREAM, 0)};
    viewport_question q = {
        .from_ns = 0, .to_ns = 400, .width_px = 400, .lanes = &one, .n_lanes = 1, .tagger = &g};
    viewport v;
    assert_int_equal(viewport_make(x.l, &q, &x.a, &v, NULL), OK);
    assert_int_equal(v.n_names, 2);
    assert_int_equal(v.name_string[0], v.name_string[1]);
    assert_int_equal(v.name_tag[v.name[0]], STAGE_FORWARD + 1);
    assert_int_equal(v.name_tag[v.name[1]], STAGE_BACKWARD + 1);
    q.tagger = NULL;
    assert_int_equal(viewport_make(x.l, &q, &x.a, &v, NULL), OK);
    assert_int_equal(v.n_names, 1);
    assert_null(v.name_tag);
    tagger_end(&g);
    timeline_fini(&x);
}

static void nesting_without_end_is_not_followed(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f);
    example_module(&f, host, "nn.Module: Net_0", 0, 1000);
    for (int i = 0; i < FAKE_MAX - 3; i++)
        fake_add(&f, host, KIND_OP, "deep", 1 + i / 2, 900 - i);
    const trace *t = fake_seal(&f);
    tagger g;
    assert_int_equal(tagger_begin(t, TAG_MODULE, &f.arena, &g, NULL), OK);
    for (uint32_t i = 1; i < t->slice.n; i++) (void)tag_of(&g, i);
    tagger_end(&g);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slice_has_the_line_that_its_thread_ran),
        cmocka_unit_test(a_slice_has_the_stage_it_starts_in),
        cmocka_unit_test(device_work_has_the_stage_of_its_launch),
        cmocka_unit_test(a_slice_has_the_innermost_module_around_it),
        cmocka_unit_test(backward_and_device_work_have_the_module_of_their_forward_operator),
        cmocka_unit_test(a_name_with_two_tags_is_twice_in_a_viewport),
        cmocka_unit_test(nesting_without_end_is_not_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
