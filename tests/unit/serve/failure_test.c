/* failure_test.c: errors as HTTP. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/message_ids_cli.h"
#include "serve/service.h"

static int code_of(status s, uint16_t message, bool unusable) {
    error err = {.status = s, .message = message};
    return failure_code(&err, unusable);
}

static void every_status_has_a_code(void **state) {
    assert_int_equal(code_of(ERR_ARG, MSG_CLI_BAD_NUMBER, false), 400);
    assert_int_equal(code_of(ERR_NOT_FOUND, MSG_HTTP_NO_ROUTE, false), 404);
    assert_int_equal(code_of(ERR_ARG, MSG_NO_SUCH_RUN, false), 404);
    assert_int_equal(code_of(ERR_LIMIT, MSG_HTTP_TOO_LARGE, false), 413);
    assert_int_equal(code_of(ERR_MEMORY, MSG_OUT_OF_MEMORY, false), 503);
    assert_int_equal(code_of(ERR_MEMORY, MSG_OUT_OF_MEMORY, true), 503);
    assert_int_equal(code_of(ERR_FORMAT, MSG_NONE, true), 422);
    assert_int_equal(code_of(ERR_LIMIT, MSG_NEEDS_MEMORY, true), 422);
    assert_int_equal(code_of(ERR_IO, MSG_CANNOT_READ, false), 500);
    assert_int_equal(code_of(ERR_ARG, MSG_HTTP_NO_TOKEN, false), 401);
    assert_int_equal(code_of(ERR_LIMIT, MSG_HTTP_BUSY, false), 503);
    assert_string_equal(failure_word(404), "not_found");
    assert_string_equal(failure_word(999), "internal");
}

static void the_object_has_all_members(void **state) {
    error err;
    buf b = {0};
    int64_t n;
    error_set(&err, ERR_ARG, 17, MSG_NO_SUCH_LANE, 1, (arg[]){arg_int("lane", 5)});
    failure_json(&b, LANG_EN, &err, 404);
    str o = buf_str(&b);
    assert_true(str_eq(json_text(json_member(o, STR("code"))), STR("not_found")));
    assert_true(str_eq(json_text(json_member(o, STR("id"))), STR("NO_SUCH_LANE")));
    assert_true(str_find(json_member(o, STR("msg")), STR("5"), 0) != SIZE_MAX);
    assert_true(json_i64(json_member(json_member(o, STR("values")), STR("lane")), &n) &&
                n == 5);
    assert_true(json_i64(json_member(o, STR("offset")), &n) && n == 17);
    buf_fini(&b);
}

static void a_failure_replaces_what_was_written(void **state) {
    service s = {.memory_bytes = 1 << 20};
    request_ctx x;
    error err;
    request_begin(&x, &s);
    buf_add_cstr(&x.reply.body, "half an answer");
    x.reply.etag[0] = '"';
    error_set(&err, ERR_LIMIT, NOPOS, MSG_HTTP_TOO_LARGE, 1, (arg[]){arg_bytes("limit", 5)});
    request_fail(&x, &err);
    assert_int_equal(x.reply.code, 413);
    assert_int_equal(x.reply.etag[0], 0);
    assert_true(str_starts(buf_str(&x.reply.body), STR("{\"error\":{\"code\":\"too_large\"")));
    request_end(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_code),
        cmocka_unit_test(the_object_has_all_members),
        cmocka_unit_test(a_failure_replaces_what_was_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
