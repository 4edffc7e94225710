/* op_cost_paged_test.c: attention over pages, by the lengths in the name of a batch. The two whole examples are
 * those of traces of vLLM and SGLang; their figures are what TraceLens says of them. */
#include "fake_trace.h"

#include <math.h>

#include "analyse/cost/op_cost_paged.h"
#include "analyse/cost/op_work.h"

#define DECODE \
    "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)"
#define VLLM "[[32,64,64],[32,8,64],[32,8,64],[32,64,64],[],[],[],[0]]"
#define VLLM_TYPES                                                                             \
    "[\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\",\"\",\"\",\"\"," \
    "\"c10::BFloat16\"]"
#define MIB 1048576.0

static void lengths_are_in_the_name_of_the_range(void **state) {
    paged_batch b;
    assert_true(paged_batch_read(STR(DECODE), &b));
    assert_near(b.queries, 32);
    assert_near(b.keys, 55086);
    assert_near(b.pairs, 55086);
    /* Two texts of 3 and 4 positions that are read at once, one of 10 that continues: 6 + 10 +
     * 10 pairs. */
    assert_true(paged_batch_read(
        STR("execute_3_context_2(sq7sk7sqsq25sqsk25)_generation_1(sq1sk10sqsq1sqsk10)"), &b));
    assert_near(b.queries, 8);
    assert_near(b.keys, 17);
    assert_near(b.pairs, 26);
    static const char *const others[] = {
        "execute_model",
        "",
        "execute_32_context_0(sq0sk0sqsq0sqsk0)",
        "execute_1_context_0(sq0sk0sqsq0sqsk0)_generation_0(sq0sk0sqsq0sqsk0)",
        "execute_1_context_x(sq0sk0sqsq0sqsk0)_generation_1(sq1sk1sqsq1sqsk1)",
        "execute_1_context_0(sq0sk0sqsq0sqsk0)_generation_1(sq1sk1sqsq1sqsk1"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(paged_batch_read(str_of(others[i]), &b));
}

static void work_follows_from_heads_and_lengths(void **state) {
    paged_batch b;
    assert_true(paged_batch_read(STR(DECODE), &b));
    op_cost c = op_cost_paged(&b, STR(VLLM), STR(VLLM_TYPES));
    assert_near(c.flops / 1e9, 0.902529024);
    assert_true(fabs(c.bytes / MIB - 108.089844) < 1e-6);
    assert_true(c.matrix);
    assert_true(paged_batch_read(STR("execute_32_context_0(sq0sk0sqsq0sqsk0)"
                                     "_generation_32(sq32sk32785sqsq32sqsk32785)"),
                                 &b));
    c = op_cost_paged(&b,
                      STR("[[32,32,128],[10905190400],[32,32,128],[835874,1,8,128],"
                          "[835874,1,8,128],[33]]"),
                      STR("[\"c10::BFloat16\",\"unsigned char\",\"c10::BFloat16\","
                          "\"c10::BFloat16\",\"c10::BFloat16\",\"int\"]"));
    assert_near(c.flops / 1e9, 0.53714944);
    assert_true(fabs(c.bytes / MIB - 128.566406) < 1e-6);
    assert_true(isnan(op_cost_paged(&b, STR("[[32,4096],[32,512]]"), STR("")).flops));
    assert_true(isnan(op_cost_paged(&b, STR("[[32,6,64],[32,4,64]]"), STR("")).flops));
}

static void a_call_belongs_to_the_batch_around_it(void **state) {
    for (int inside = 0; inside < 2; inside++) {
        fake f;
        arena a = {0};
        error err = {0};
        op_work w;
        op_cost c;
        selection s;
        fake_init(&f);
        int host = fake_thread(&f);
        fake_add(&f, host, KIND_ANNOTATION, DECODE, 0, inside ? 100 : 5);
        fake_add(&f, host, KIND_PYTHON, "model.py(3): forward", 10, 80);
        int op = fake_add(&f, host, KIND_OP, "vllm::unified_attention_with_output", 20, 30);
        f.slices[op].shapes = VLLM;
        f.slices[op].types = VLLM_TYPES;
        const trace *t = fake_seal(&f);
        params p = fake_params();
        select_init(&s, t, &p);
        assert_int_equal(op_work_init(&w, &s, &p, &a, &err), OK);
        assert_int_equal(op_work_cost(&w, 1, &c, &err), OK);
        if (inside)
            assert_near(c.flops / 1e9, 0.902529024);
        else
            assert_true(isnan(c.flops));
        arena_fini(&a);
        fake_fini(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_are_in_the_name_of_the_range),
        cmocka_unit_test(work_follows_from_heads_and_lengths),
        cmocka_unit_test(a_call_belongs_to_the_batch_around_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
