/* paddle_head_test.c: what the first bytes of a Paddle trace say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ingest/paddle/paddle_head.h"

static void both_spellings_of_the_span_are_understood(void **state) {
    (void)state;
    int64_t n = -1;
    assert_true(paddle_json_span(STR("{\n\"span_indx\": \"3\",\n"), &n));
    assert_int_equal(n, 3);
    assert_true(paddle_json_span(STR("{\"span_index\":4,"), &n));
    assert_int_equal(n, 4);
    assert_false(paddle_json_span(STR("{\"span_indx\": \"x\","), &n));
    assert_false(paddle_json_span(STR("{\"span_indx\""), &n));
    assert_false(paddle_json_span(STR("{\"schemaVersion\": \"1.0.2\""), &n));
}

static void protobuf_is_known_by_its_version(void **state) {
    (void)state;
    int64_t n = -1;
    str good = STR("\x0a\x05"
                   "1.0.2\x10\x85\x01\x1a");
    assert_true(paddle_pb_head(good));
    assert_true(paddle_pb_span(good, &n));
    assert_int_equal(n, 133);
    assert_true(paddle_pb_head(STR("\x0a\x05"
                                   "1.0.2")));
    assert_false(paddle_pb_span(STR("\x0a\x05"
                                    "1.0.2\x10\x85"),
                                &n));
    assert_false(paddle_pb_head(STR("\x0a\x05"
                                    "1.0.2\x12\x00")));
    assert_false(paddle_pb_head(STR("\x0a\x05hello\x10\x00")));
    assert_false(paddle_pb_head(STR("\x0a\x05"
                                    "1.0")));
    assert_false(paddle_pb_head(STR("")));
    assert_false(paddle_pb_head(STR("\n  {\n")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_spellings_of_the_span_are_understood),
        cmocka_unit_test(protobuf_is_known_by_its_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
