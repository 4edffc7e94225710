/* advice_code_test.c: code for each framework, and never another one's. */
#include "fake_trace.h"

#include "analyse/advise/advice_code.h"
#include "analyse/rules.h"

static const char *const rules[] = {
#define ADVICE(id, NAME, needs, threshold, claim) #id,
#include "analyse/advise/advice_rules.def"
};

static verdict all_values(void) {
    verdict v = {.id = "x"};
    verdict_add(&v, arg_int("workers", 12));
    verdict_add(&v, arg_text("module", STR("cuda")));
    verdict_add(&v, arg_text("allocator", STR("PYTORCH_ALLOC_CONF")));
    verdict_add(&v, arg_int("stages", 4));
    verdict_add(&v, arg_id("rank", 3));
    verdict_add(&v, arg_id("other_rank", 0));
    verdict_add(&v, arg_int("compile", 1));
    verdict_add(&v, arg_int("gradients", 1));
    verdict_add(&v, arg_int("most", 64));
    verdict_add(&v, arg_int("double", 512));
    return v;
}

static str code_of(const char *id, advice_dialect d, const verdict *v, arena *a) {
    str out;
    assert_int_equal(advice_code(id, d, v, a, &out, NULL), OK);
    return out;
}

static bool has(str text, const char *word) {
    return str_find(text, str_of(word), 0) != SIZE_MAX;
}

static void a_framework_never_gets_the_code_of_another(void **state) {
    static const char *const words[N_DIALECTS] = {
        [FOR_PYTORCH] = "torch",       [FOR_GRAPHS] = "mindspore", [FOR_PADDLE] = "paddle",
        [FOR_MEGENGINE] = "megengine", [FOR_JAX] = "jax",          [FOR_TENSORFLOW] = "tf."};
    arena a = {0};
    verdict v = all_values();
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
        for (int d = 0; d < N_DIALECTS; d++) {
            str code = code_of(rules[r], (advice_dialect)d, &v, &a);
            for (int other = 0; other < N_DIALECTS; other++)
                if (other != d && words[other]) assert_false(has(code, words[other]));
        }
    arena_fini(&a);
}

static void values_are_filled_in_and_other_braces_stay(void **state) {
    arena a = {0};
    verdict v = all_values(), none = {.id = "x"};
    assert_true(has(code_of("data_loader_no_workers", FOR_PADDLE, &v, &a), "num_workers=12"));
    assert_true(has(code_of("long_tail", FOR_GRAPHS, &v, &a), "{\"mode\": \"auto\""));
    assert_true(has(code_of("float32_matmul", FOR_PYTORCH, &v, &a), "autocast(\"cuda\""));
    assert_int_equal(code_of("fragmentation", FOR_PYTORCH, &none, &a).n, 0); /* needs a name */
    verdict_add(&v, arg_int("half_only", 1));
    assert_true(has(code_of("tensor_cores_unused", FOR_PYTORCH, &v, &a), "float16"));
    assert_false(has(code_of("tensor_cores_unused", FOR_PYTORCH, &v, &a), "bfloat16"));
    arena_fini(&a);
}

static void every_rule_has_code_of_some_framework(void **state) {
    arena a = {0};
    verdict v = all_values();
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
        size_t n = 0;
        for (int d = 0; d < N_DIALECTS; d++)
            n += code_of(rules[r], (advice_dialect)d, &v, &a).n > 0;
        assert_true(n > 0);
    }
    assert_true(has(code_of("step_variance", FOR_JAX, &v, &a), "gc.collect"));
    assert_true(has(code_of("first_step", FOR_GRAPHS, &v, &a), "profiler.start()"));
    assert_true(has(code_of("dependency_wait", FOR_MEGENGINE, &v, &a), "preload=True"));
    assert_true(has(code_of("host_queue_empty", FOR_GRAPHS, &v, &a), "autotune"));
    assert_true(has(code_of("stage_receive", FOR_GRAPHS, &v, &a), "micro_size=4 * 4"));
    arena_fini(&a);
}

/* A rank that is late for its machine's sake: no code helps, a command tells. */
static void ranks_are_compared_by_a_command_in_every_framework(void **state) {
    arena a = {0};
    verdict v = all_values(), none = {.id = "x"};
    for (int d = 0; d < N_DIALECTS; d++) {
        str code = code_of("straggler", (advice_dialect)d, &v, &a);
        assert_true(has(code, "tacho diff run run --worker 0 --other-worker 3"));
        assert_true(str_eq(code, code_of("slow_device", (advice_dialect)d, &v, &a)));
        assert_int_equal(code_of("straggler", (advice_dialect)d, &none, &a).n, 0);
    }
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_framework_never_gets_the_code_of_another),
        cmocka_unit_test(every_rule_has_code_of_some_framework),
        cmocka_unit_test(ranks_are_compared_by_a_command_in_every_framework),
        cmocka_unit_test(values_are_filled_in_and_other_braces_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
