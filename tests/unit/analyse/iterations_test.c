/* iterations_test.c: prefill, decode and mixed iterations of a server. */
#include "fake_trace.h"

#include "analyse/serving/iterations.h"

static void expect_name(const char *name, iteration_kind kind, int64_t batch, int64_t tokens) {
    iteration one = iteration_of_name(str_of(name));
    assert_int_equal(one.kind, kind);
    if (kind == ITERATION_UNKNOWN) return;
    assert_int_equal(one.batch, batch);
    assert_int_equal(one.tokens, tokens);
}

static void names_of_servers_tell_the_batch(void **state) {
    expect_name("execute_context_1(888_788544)_generation_0(0)", ITERATION_PREFILL, 1, 888);
    expect_name("execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk5)",
                ITERATION_DECODE, 32, 32);
    expect_name("execute_515_context_1(sq512sk512)_generation_3(sq3sk9)", ITERATION_MIXED, 4,
                515);
    expect_name("execute_new_2_cached_5", ITERATION_MIXED, 7, ABSENT_I64);
    expect_name("execute_new_0_cached_5", ITERATION_DECODE, 5, 5);
    expect_name("step[DECODE bs=16]", ITERATION_DECODE, 16, 16);
    expect_name("step[EXTEND bs=15 toks=15360]", ITERATION_PREFILL, 15, 15360);
    expect_name("prefill[bs=2 tok=14721 ctx=[7803, 6918]]", ITERATION_PREFILL, 2, 14721);
    expect_name("decode[bs=117/128 tok=117 d=117]", ITERATION_DECODE, 117, 117);
    expect_name("execute_diffusion_1_256x256", ITERATION_UNKNOWN, 0, 0);
    expect_name("ProfilerStep#3", ITERATION_UNKNOWN, 0, 0);
}

static void a_lookup_of_one_token_each_is_a_decode(void **state) {
    int64_t rows = 0;
    iteration one = iteration_of_shapes(STR("[[50257,512],[4,32],[],[],[]]"), &rows);
    assert_int_equal(one.kind, ITERATION_PREFILL);
    assert_int_equal(one.batch, 4);
    assert_int_equal(one.tokens, 128);
    assert_int_equal(rows, 50257);
    one = iteration_of_shapes(STR("[[50257,512],[8,1]]"), &rows);
    assert_int_equal(one.kind, ITERATION_DECODE);
    assert_int_equal(one.batch, 8);
    assert_int_equal(iteration_of_shapes(STR("[[50257,512],[8]]"), &rows).kind,
                     ITERATION_UNKNOWN);
    assert_int_equal(iteration_of_shapes(STR("[[1,2],[0,1]]"), &rows).kind, ITERATION_UNKNOWN);
    assert_int_equal(iteration_of_shapes(STR("[]"), &rows).kind, ITERATION_UNKNOWN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_servers_tell_the_batch),
        cmocka_unit_test(a_lookup_of_one_token_each_is_a_decode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
