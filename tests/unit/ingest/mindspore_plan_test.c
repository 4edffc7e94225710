/* mindspore_plan_test.c: the graph of a split network becomes rows of plan_op. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ingest/mindspore/mindspore_int.h"
#include "store/trace.h"

static trace *read_text(const char *text) {
    builder *b = builder_new();
    trace *t = NULL;
    assert_int_equal(ms_read_one(MS_STRATEGY, str_of(text), b, NULL), OK);
    assert_int_equal(builder_seal(b, NULL, &t, NULL), OK);
    builder_free(b);
    return t;
}

static bool is(const trace *t, uint32_t id, const char *text) {
    return str_eq(trace_str(t, id), str_of(text));
}

#define ATTR(name, value) "{\"name\": \"" name "\", \"value\": {" value "}}"
#define NODE(number, full, type, more) \
    "{\"name\": \"" number "\", \"fullName\": \"" full "\", \"opType\": \"" type "\", " more "}"

static void nodes_become_rows(void **state) {
    (void)state;
    trace *t = read_text(
        "{\"config\": {\"stageId\": 1, \"parallelType\": \"auto_parallel\"}, \"graph\": "
        "{\"node\": [" NODE(
            "1", "Default/AllReduce-op1", "AllReduce",
            "\"scope\": \"Default\", \"instanceName\": \"grad_mirror_w\", \"attribute\": "
            "[" ATTR("group", "\"strVal\": \"g\"") "," ATTR(
                "group_ranks",
                "\"strVal\": \"0-1\"") "], \"input\": [{\"name\": \"2\"}, {\"name\": \"w\"}, "
                                       "{\"name\": \"nobody\"}]") "," NODE("2",
                                                                           "Default/Conv2D-op2",
                                                                           "Conv2D",
                                                                           "\"attribute\": "
                                                                           "[" ATTR("group", "\"intVal\": \"1\"") "," ATTR(
                                                                               "in_strategy",
                                                                               "\"values\": "
                                                                               "[{\"values\": "
                                                                               "[{\"intVal\": "
                                                                               "\"2\"}, "
                                                                               "{\"intVal\": "
                                                                               "\"1\"}]}]") "],"
                                                                                            " "
                                                                                            "\""
                                                                                            "ou"
                                                                                            "tp"
                                                                                            "ut"
                                                                                            "Ty"
                                                                                            "pe"
                                                                                            "\""
                                                                                            ": "
                                                                                            "{"
                                                                                            "\""
                                                                                            "da"
                                                                                            "ta"
                                                                                            "Ty"
                                                                                            "pe"
                                                                                            "\""
                                                                                            ": "
                                                                                            "\""
                                                                                            "DT"
                                                                                            "_T"
                                                                                            "EN"
                                                                                            "SO"
                                                                                            "R"
                                                                                            "\""
                                                                                            ", "
                                                                                            "\""
                                                                                            "te"
                                                                                            "ns"
                                                                                            "or"
                                                                                            "Ty"
                                                                                            "pe"
                                                                                            "\""
                                                                                            ": "
                                                                                            "{"
                                                                                            "\""
                                                                                            "el"
                                                                                            "em"
                                                                                            "Ty"
                                                                                            "pe"
                                                                                            "\""
                                                                                            ": "
                                                                                            "\""
                                                                                            "DT"
                                                                                            "_F"
                                                                                            "LO"
                                                                                            "AT"
                                                                                            "16"
                                                                                            "\""
                                                                                            ", "
                                                                                            "\""
                                                                                            "sh"
                                                                                            "ap"
                                                                                            "e"
                                                                                            "\""
                                                                                            ": "
                                                                                            "{"
                                                                                            "\""
                                                                                            "di"
                                                                                            "m"
                                                                                            "\""
                                                                                            ": "
                                                                                            "[{"
                                                                                            "\""
                                                                                            "si"
                                                                                            "ze"
                                                                                            "\""
                                                                                            ": "
                                                                                            "\""
                                                                                            "2"
                                                                                            "\""
                                                                                            "},"
                                                                                            " "
                                                                                            "{"
                                                                                            "\""
                                                                                            "si"
                                                                                            "ze"
                                                                                            "\""
                                                                                            ": "
                                                                                            "\""
                                                                                            "3"
                                                                                            "\""
                                                                                            "}]"
                                                                                            "}}"
                                                                                            "}") "," NODE("3",
                                                                                                          "ignored",
                                                                                                          "Load",
                                                                                                          "\"scope\": \"Gradients\"") ", {\"opType\": \"Unnamed\"}], \"parameters\": [{\"name\": \"w\"}]}}");
    assert_int_equal(t->plan_op.n, 4);
    assert_true(is(t, t->plan_op.kind[1], "gradient_aggregation"));
    assert_true(is(t, t->plan_op.group[1], "g"));
    assert_true(is(t, t->plan_op.group_ranks[1], "0-1"));
    assert_true(is(t, t->plan_op.inputs[1], "2, w"));
    assert_true(is(t, t->plan_op.name[2], "Default/Conv2D-op2"));
    assert_true(is(t, t->plan_op.sharding[2], "[[2, 1]]"));
    assert_true(is(t, t->plan_op.shape[2], "[2, 3]"));
    assert_true(is(t, t->plan_op.data_type[2], "DT_TENSOR[DT_FLOAT16]"));
    assert_int_equal(t->plan_op.kind[2], 0);
    assert_true(is(t, t->plan_op.name[3], "Gradients/Load-op3"));
    assert_int_equal(t->parallel.stage[1], 2);
    assert_true(is(t, t->parallel.mode[1], "auto_parallel"));
    trace_release(t);
}

static void damaged_plans_give_what_is_whole(void **state) {
    static const char *const damaged[] = {"", "{", "{\"graph\": {\"node\": 3}}",
                                          "{\"graph\": {\"node\": [3, {\"name\": []}]}}",
                                          "{\"graph\": {\"node\": [{\"name\": \"1\", "
                                          "\"attribute\": [[]], \"outputType\": []}]}}"};
    (void)state;
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        trace *t = read_text(damaged[i]);
        assert_true(t->plan_op.n <= 2);
        assert_int_equal(t->parallel.n, 1);
        trace_release(t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_become_rows),
        cmocka_unit_test(damaged_plans_give_what_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
