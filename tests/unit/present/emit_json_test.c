/* emit_json_test.c: the JSON of an answer, byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample_answer.h"

static void the_answer_is_the_object_of_the_contract(void **state) {
    static const char WANTED[] =
        "{\"schema\":\"tacho/1\",\"analysis\":\"sample\","
        "\"trace\":{\"path\":\"a.json\",\"format\":\"kineto\",\"run\":null,\"worker\":\"w0\","
        "\"span\":null,\"start_unix_ns\":\"1759104000000000001\",\"duration_ns\":2000000},"
        "\"quality\":{\"events_read\":12,\"events_dropped\":[{\"cause\":\"negative_duration\","
        "\"text\":\"negative duration\",\"count\":2}],\"links\":[{\"what\":\"kernels with an "
        "operator\",\"linked\":3,\"total\":4}],\"notes\":[]},"
        "\"verdict\":{\"id\":\"late\",\"severity\":\"critical\",\"values\":{\"columns\":\"a\","
        "\"idle_share\":0.5},\"text\":{\"en\":\"terminal too narrow for: "
        "a\",\"zh\":\"终端太窄，未显示：a\"}},"
        "\"tables\":{\n\"things\":{\"columns\":[{\"name\":\"name\",\"type\":\"string\","
        "\"help\":\"name of the "
        "property\"},{\"name\":\"time\",\"type\":\"int\",\"unit\":\"ns\"},"
        "{\"name\":\"share\",\"type\":\"real\",\"unit\":\"share\"},{\"name\":\"used\","
        "\"type\":\"bool\"},{\"name\":\"address\",\"type\":\"big\"},{\"name\":\"never\","
        "\"type\":\"int\",\"unit\":\"count\"}],\n\"rows\":[\n"
        "[\"vec<float, 4>::run*\\\"x\\\"|y\",15250,0.34,true,\"9223372036854775808\",null],\n"
        "[\"矩阵\\nb\\u001b[2J\",-3,null,false,null,null]],\"total_rows\":3},\n"
        "\"empty\":{\"columns\":[{\"name\":\"name\",\"type\":\"string\",\"help\":\"name of the "
        "property\"}],\n\"rows\":[],\"total_rows\":0}}}\n";
    arena a;
    arena_init(&a, 0);
    answer x = sample_answer(&a);
    present_options o = {.lang = LANG_EN};
    assert_string_equal(sample_written(&a, FORM_JSON, &x, &o), WANTED);
    arena_fini(&a);
}

static void without_a_verdict_there_is_no_member(void **state) {
    arena a;
    arena_init(&a, 0);
    answer x = {.analysis = "none", .source.start_unix_ns = INT64_MIN};
    present_options o = {.lang = LANG_ZH};
    assert_string_equal(
        sample_written(&a, FORM_JSON, &x, &o),
        "{\"schema\":\"tacho/1\",\"analysis\":\"none\",\"trace\":{\"path\":null,"
        "\"format\":null,\"run\":null,\"worker\":null,\"span\":null,"
        "\"start_unix_ns\":null,\"duration_ns\":0},\"quality\":{\"events_read\":0,"
        "\"events_dropped\":[],\"links\":[],\"notes\":[]},\"tables\":{}}\n");
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_answer_is_the_object_of_the_contract),
        cmocka_unit_test(without_a_verdict_there_is_no_member),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
