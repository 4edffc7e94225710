/* op_verdict_test.c: what the operators' verdict says, rule by rule. */
#include "fake_trace.h"

#include "analyse/operators/op_verdict.h"

static const char *judge(op_facts f) {
    verdict v = {.id = NULL};
    op_judge(&f, &v);
    return v.id;
}

static void the_most_telling_rule_speaks(void **state) {
    op_facts f = {.n_rows = 3,
                  .has_device = true,
                  .top = STR("aten::mm"),
                  .top_share = 0.34,
                  .top_calls = 9,
                  .has_odd = true,
                  .odd = {.dimension = 50257, .time_share = 0.8, .slowdown = 5},
                  .missed_share = 0.5,
                  .tensor_share = 0.4,
                  .compute_major = 9};
    assert_string_equal(judge(f), "operator_odd_dimension");
    f.odd.slowdown = 1.2; /* odd, but not slow */
    assert_string_equal(judge(f), "operator_leads_device");
    f.tensor_share = 0;
    assert_string_equal(judge(f), "tensor_cores_unused");
    f.compute_major = 6; /* has none */
    assert_string_equal(judge(f), "operator_leads_device");
    f.compute_major = ABSENT_I32;
    assert_string_equal(judge(f), "operator_leads_device");
    f.alone = STR("matmul_k"); /* a kernel that no operator launched takes more */
    f.alone_share = 0.6;
    assert_string_equal(judge(f), "kernel_without_operator_leads");
    f.alone_share = 0.3; /* or less */
    assert_string_equal(judge(f), "operator_leads_device");
    f.has_device = false;
    f.has_odd = false;
    assert_string_equal(judge(f), "operator_leads_host");
    f.n_rows = 0;
    assert_string_equal(judge(f), "operators_not_recorded");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_most_telling_rule_speaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
