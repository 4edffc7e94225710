/* sharding_plan_test.c: how a network was split: stages, sharding, groups. */
#include "built_run.h"

#define ATTR(name, value) "{\"name\": \"" name "\", \"value\": {" value "}}"

/* An all-reduce of a group of its own, a convolution whose `group` is none, a load. */
static void add_plan(built *x, const char *stage, const char *group) {
    char json[2048];
    snprintf(
        json, sizeof json,
        "{\"config\": {\"stageId\": %s, \"parallelType\": \"auto_parallel\"}, \"graph\": "
        "{\"node\": ["
        "{\"name\": \"1\", \"fullName\": \"Default/AllReduce-op1\", \"opType\": "
        "\"AllReduce\", \"scope\": \"Default\", \"instanceName\": \"grad_mirror_w\", "
        "\"attribute\": [" ATTR(
            "group",
            "\"strVal\": \"%s\"") "], \"input\": [{\"name\": "
                                  "\"2\"}, {\"name\": \"w\"}, {\"name\": \"nobody\"}]},"
                                  "{\"name\": \"2\", \"fullName\": \"Default/Conv2D-op2\", "
                                  "\"opType\": \"Conv2D\", "
                                  "\"scope\": \"Default\", \"attribute\": [" ATTR(
                                      "group",
                                      "\"intVal\": \"1\"") "," ATTR("in_strategy",
                                                                    "\"values\": [{\"values\": "
                                                                    "[{\"intVal\": \"2\"}, "
                                                                    "{\"intVal\": "
                                                                    "\"1\"}]}]") "], "
                                                                                 "\"outputType"
                                                                                 "\": "
                                                                                 "{\"dataType\""
                                                                                 ": "
                                                                                 "\"DT_"
                                                                                 "TENSOR\", "
                                                                                 "\"tensorType"
                                                                                 "\": "
                                                                                 "{\"elemType\""
                                                                                 ": "
                                                                                 "\"DT_"
                                                                                 "FLOAT16\", "
                                                                                 "\"shape\": "
                                                                                 "{\"dim\": "
                                                                                 "[{\"size\": "
                                                                                 "\"2\"}, "
                                                                                 "{\"size\": "
                                                                                 "\"3\"}]}}}},"
                                                                                 "{\"name\": "
                                                                                 "\"3\", "
                                                                                 "\"fullName\":"
                                                                                 " \"ignored\","
                                                                                 " \"opType\": "
                                                                                 "\"Load\", "
                                                                                 "\"scope\": "
                                                                                 "\"Gradients\""
                                                                                 "}, "
                                                                                 "{\"opType\": "
                                                                                 "\"Unnamed\"}]"
                                                                                 ","
                                                                                 "\"parameters"
                                                                                 "\": "
                                                                                 "[{\"name\": "
                                                                                 "\"w\"}]}}",
        stage, group);
    built_meta(x, "parallel_strategy", json);
}

static void a_stage_is_merged_from_its_ranks(void **state) {
    built_run r;
    (void)state;
    run_begin(&r, 3);
    add_plan(&r.w[0], "0", "g2");
    add_plan(&r.w[1], "0", "g1");
    add_plan(&r.w[2], "1", "g2");
    run_ask(&r, analyse_distributed);
    const table *s = built_table(&r.w[0], "parallel_stages");
    assert_int_equal(s->n_rows, 2);
    assert_true(built_is(s, 0, "ranks", "0, 1"));
    assert_true(built_is(s, 0, "mode", "auto_parallel"));
    assert_int_equal(built_int(s, 1, "stage"), 2);
    const table *t = built_table(&r.w[0], "parallel_operators");
    assert_int_equal(t->n_rows, 6);
    assert_true(built_is(t, 0, "group", "g1, g2"));
    assert_true(built_is(t, 0, "kind", "gradient_aggregation"));
    assert_true(built_is(t, 0, "inputs", "2, w"));
    assert_true(built_is(t, 1, "group", NULL)); /* of a convolution: no communication */
    assert_true(built_is(t, 1, "sharding", "[[2, 1]]"));
    assert_true(built_is(t, 1, "shape", "[2, 3]"));
    assert_true(built_is(t, 1, "data_type", "DT_TENSOR[DT_FLOAT16]"));
    assert_true(built_is(t, 2, "name", "Gradients/Load-op3"));
    assert_true(built_is(t, 3, "group", "g2"));
    run_end(&r);
}

static void damaged_plans_give_what_is_whole(void **state) {
    static const char *const damaged[] = {"", "{", "{\"graph\": {\"node\": 3}}",
                                          "{\"graph\": {\"node\": [3, {\"name\": []}]}}",
                                          "{\"graph\": {\"node\": [{\"name\": \"1\", "
                                          "\"attribute\": [[]], \"outputType\": []}]}}"};
    (void)state;
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        built_run r;
        run_begin(&r, 1);
        built_meta(&r.w[0], "parallel_strategy", damaged[i]);
        run_ask(&r, analyse_distributed);
        assert_true(built_table(&r.w[0], "parallel_operators")->n_rows <= 2);
        run_end(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stage_is_merged_from_its_ranks),
        cmocka_unit_test(damaged_plans_give_what_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
