/* blocks_test.c: the binary form, byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "serve/blocks.h"
#include "serve/json_put.h"

static void blocks_are_framed_and_aligned(void **state) {
    static const uint8_t a[] = {1, 2, 3};
    static const uint32_t c[] = {7, 8};
    static const double d[] = {0.5};
    blocks b;
    buf out = {0};
    blocks_begin(&b);
    put_int(&b.head, "width", 100);
    blocks_add(&b, "a", BLOCK_U8, a, 3);
    blocks_add(&b, "none", BLOCK_F32, NULL, 0);
    blocks_add(&b, "c", BLOCK_U32, c, 2);
    blocks_add(&b, "d", BLOCK_F64, d, 1);
    assert_true(blocks_end(&b, &out));
    assert_memory_equal(out.p, "TACHOBLK", 8);
    uint32_t version, length;
    memcpy(&version, out.p + 8, 4);
    memcpy(&length, out.p + 12, 4);
    assert_int_equal(version, 1);
    assert_int_equal(length % 8, 0);
    str head = str_trim(str_n(out.p + 16, length));
    int64_t n;
    assert_true(json_i64(json_member(head, STR("width")), &n) && n == 100);
    str list = json_member(head, STR("blocks"));
    str third = json_member(list, STR("c"));
    assert_true(str_eq(json_text(json_member(third, STR("type"))), STR("u32")));
    assert_true(json_i64(json_member(third, STR("at")), &n) && n == 8);
    assert_memory_equal(out.p + 16 + length + n, c, sizeof c);
    assert_true(json_i64(json_member(json_member(list, STR("d")), STR("at")), &n) && n == 16);
    assert_memory_equal(out.p + 16 + length + n, d, sizeof d);
    assert_int_equal(out.n, 16 + length + 24);
    buf_fini(&out);
}

static void members_are_separated_by_commas(void **state) {
    buf b = {0};
    buf_add_byte(&b, '{');
    put_int(&b, "a", 1);
    put_text(&b, "b", STR("x\"{"));
    put_big(&b, "c", ABSENT_I64);
    put_big(&b, "d", 5);
    put_known(&b, "e", ABSENT_I64);
    put_bool(&b, "f", true);
    put_text_or_null(&b, "g", STR_NONE);
    put_key(&b, "h");
    buf_add_byte(&b, '[');
    for (int i = 0; i < 2; i++) {
        put_comma(&b);
        buf_add_i64(&b, i);
    }
    buf_add_cstr(&b, "]}");
    assert_true(str_eq(buf_str(&b), STR("{\"a\":1,\"b\":\"x\\\"{\",\"c\":null,\"d\":\"5\","
                                        "\"f\":true,\"g\":null,\"h\":[0,1]}")));
    buf_fini(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_framed_and_aligned),
        cmocka_unit_test(members_are_separated_by_commas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
