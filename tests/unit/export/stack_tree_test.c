/* stack_tree_test.c: paths become nodes, self times are where an operator ran. */
#include "unit/analyse/fake_trace.h"

#include "export/stack_tree_int.h"

static stack_tree build(fake *f, int64_t from_ns, int64_t to_ns) {
    export_ctx x = {.t = fake_seal(f), .from_ns = from_ns, .to_ns = to_ns};
    stack_tree tree;
    assert_int_equal(stack_tree_build(&x, stack_spell, &f->arena, &tree), OK);
    return tree;
}

static stack_tree build_whole(fake *f) {
    return build(f, INT64_MIN, INT64_MAX);
}

/* Is this the node's path? Frames outermost first, joined by slashes. */
static bool is_path(const stack_tree *tree, uint32_t node, const char *path) {
    size_t end = strlen(path);
    for (; node; node = stack_tree_node(tree, node)->parent) {
        str text = stack_tree_text(tree, node);
        if (text.n > end || memcmp(path + end - text.n, text.p, text.n) != 0) return false;
        end -= text.n;
        if (end && path[--end] != '/') return false;
    }
    return end == 0;
}

static const stack_time *time_of(const stack_tree *tree, const char *path) {
    for (uint32_t i = 0; i < tree->times.n; i++) {
        const stack_time *time = GROUP_ROW(&tree->times, stack_time, i);
        if (is_path(tree, time->node, path)) return time;
    }
    fail_msg("no time at %s", path);
    return NULL;
}

static void frames_and_ops_nest_as_they_ran(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    fake_add(&f, host, KIND_PYTHON, "main", 0, 1000);
    fake_add(&f, host, KIND_STEP, "ProfilerStep#1", 10, 900);
    fake_add(&f, host, KIND_MODULE, "nn.Module: Net_0", 20, 500);
    fake_add(&f, host, KIND_OP, "aten::linear", 100, 100);
    fake_add(&f, host, KIND_OP, "aten::addmm", 120, 50);
    int call = fake_add(&f, host, KIND_RUNTIME, "cudaLaunchKernel", 130, 10);
    fake_work(&f, gpu, KIND_KERNEL, "gemm", 150, 700, call);
    stack_tree tree = build_whole(&f);
    assert_int_equal(tree.times.n, 2);
    const stack_time *outer = time_of(&tree, "main/nn.Module: Net_0/aten::linear"),
                     *inner = time_of(&tree, "main/nn.Module: Net_0/aten::linear/aten::addmm");
    assert_int_equal(outer->host_ns, 50);
    assert_int_equal(outer->device_ns, 0);
    assert_int_equal(inner->host_ns, 40); /* the launch call counts as a child */
    assert_int_equal(inner->device_ns, 700);
    fake_fini(&f);
}

static void without_frames_the_nesting_of_ops_is_the_stack(void **state) {
    fake f;
    fake_init(&f);
    int one = fake_thread(&f), two = fake_thread(&f);
    fake_add(&f, one, KIND_OP, "a", 0, 100);
    fake_add(&f, one, KIND_ANNOTATION, "mine", 10, 80);
    fake_add(&f, one, KIND_OP, "b", 20, 30);
    fake_add(&f, two, KIND_OP, "a", 0, 7);
    stack_tree tree = build_whole(&f);
    assert_int_equal(tree.times.n, 3); /* a node of each thread has its own times */
    assert_int_equal(tree.nodes.n, 3); /* root, a, a/b */
    assert_int_equal(time_of(&tree, "a/b")->host_ns, 30);
    assert_int_equal(time_of(&tree, "a")->host_ns, 20);
    assert_int_equal(time_of(&tree, "a")->track, one);
    fake_fini(&f);
}

static void an_op_alone_in_the_same_op_is_one_frame(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f);
    fake_add(&f, host, KIND_OP, "a", 0, 100);
    fake_add(&f, host, KIND_OP, "a", 10, 80);
    fake_add(&f, host, KIND_OP, "b", 20, 30);
    stack_tree tree = build_whole(&f);
    assert_int_equal(tree.times.n, 2);
    assert_int_equal(time_of(&tree, "a")->host_ns, 70);
    assert_int_equal(time_of(&tree, "a/b")->host_ns, 30);
    fake_fini(&f);
}

static void a_window_clips_times(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f);
    fake_add(&f, host, KIND_OP, "a", 0, 100);
    fake_add(&f, host, KIND_OP, "b", 40, 40);
    stack_tree tree = build(&f, 50, 90);
    assert_int_equal(time_of(&tree, "a/b")->host_ns, 30);
    assert_int_equal(time_of(&tree, "a")->host_ns, 10);
    fake_fini(&f);
}

static void addresses_of_objects_make_no_separate_places(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f);
    fake_add(&f, host, KIND_PYTHON, "<view of Tensor object at 0x7fbea816c3c0>", 0, 50);
    fake_add(&f, host, KIND_OP, "a", 10, 20);
    fake_add(&f, host, KIND_PYTHON, "<view of Tensor object at 0x55>", 100, 50);
    fake_add(&f, host, KIND_OP, "a", 110, 3);
    stack_tree tree = build_whole(&f);
    assert_int_equal(tree.times.n, 1);
    assert_int_equal(time_of(&tree, "<view of Tensor object>/a")->host_ns, 23);
    buf out = {0};
    stack_spell(STR("at 0x1 at 0x at 0x2g at 0xF"), &out);
    assert_text(buf_str(&out), "at 0x1 at 0xg");
    buf_fini(&out);
    fake_fini(&f);
}

static void siblings_are_in_the_order_of_their_names(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f);
    static const char *const names[] = {"m", "c", "z", "c"};
    for (int i = 0; i < 4; i++) {
        fake_add(&f, host, KIND_OP, names[i], i * 100, 50);
        fake_add(&f, host, KIND_OP, i == 1 ? "y" : "b", i * 100 + 10, 5);
    }
    stack_tree tree = build_whole(&f);
    uint32_t *order = stack_tree_order(&tree, &f.arena);
    static const char *const want[] = {"c", "c/b", "c/y", "m", "m/b", "z", "z/b"};
    assert_non_null(order);
    assert_int_equal(tree.nodes.n, 8);
    for (uint32_t i = 0; i < 7; i++) assert_true(is_path(&tree, order[i], want[i]));
    fake_fini(&f);
}

static void a_trace_without_ops_has_only_a_root(void **state) {
    fake f;
    fake_init(&f);
    fake_add(&f, fake_thread(&f), KIND_PYTHON, "main", 0, 10);
    stack_tree tree = build_whole(&f);
    assert_int_equal(tree.nodes.n, 1);
    assert_int_equal(tree.times.n, 0);
    assert_non_null(stack_tree_order(&tree, &f.arena));
    fake_fini(&f);
}

static void an_abyss_ends_at_a_floor_and_loses_no_time(void **state) {
    enum { FLOOR = 1000, N = FLOOR + 500 };
    fake *f = calloc(1, sizeof *f);
    assert_non_null(f);
    fake_init(f);
    f->t.frame.n = 3;
    /* The fake has no room for so many slices: a chain of frames is as deep. */
    uint32_t *parent = ARENA_ARRAY(&f->arena, uint32_t, N + 2),
             *name = ARENA_ARRAY(&f->arena, uint32_t, N + 2);
    assert_true(parent && name);
    for (uint32_t i = 1; i <= N; i++) {
        parent[i] = i - 1;
        name[i] = fake_str(f, i % 2 ? "a" : "b");
    }
    f->t.frame.parent = parent;
    f->t.frame.name = name;
    f->t.frame.n = N + 1;
    int op = fake_add(f, fake_thread(f), KIND_OP, "op", 0, 10);
    f->slices[op].frame = N;
    stack_tree tree = build_whole(f);
    assert_int_equal(tree.nodes.n, FLOOR + 1);
    assert_int_equal(tree.times.n, 1);
    const stack_time *time = GROUP_ROW(&tree.times, stack_time, 0);
    assert_int_equal(time->host_ns, 10);
    assert_int_equal(stack_tree_node(&tree, time->node)->depth, FLOOR);
    fake_fini(f);
    free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_and_ops_nest_as_they_ran),
        cmocka_unit_test(without_frames_the_nesting_of_ops_is_the_stack),
        cmocka_unit_test(an_op_alone_in_the_same_op_is_one_frame),
        cmocka_unit_test(a_window_clips_times),
        cmocka_unit_test(addresses_of_objects_make_no_separate_places),
        cmocka_unit_test(siblings_are_in_the_order_of_their_names),
        cmocka_unit_test(a_trace_without_ops_has_only_a_root),
        cmocka_unit_test(an_abyss_ends_at_a_floor_and_loses_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
