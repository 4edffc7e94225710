/* protobuf_test.c: fields out of bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ingest/util/protobuf.h"

/* A message with what must be readable after it: bytes that would be fields, were they used. */
typedef struct {
    char bytes[64 + PB_ROOM];
    size_t n;
} message;

static message make_message(const char *bytes, size_t n) {
    message m = {.n = n};
    assert_true(n <= 64);
    memset(m.bytes, 0x08, sizeof m.bytes);
    memcpy(m.bytes, bytes, n);
    return m;
}

static void fields_of_every_wire_type_are_read(void **state) {
    (void)state;
    static const char bytes[] = "\x08\x96\x01" /* 1: 150 */
                                "\x12\x03"     /* 2: "abc" */
                                "abc"
                                "\x1d\x00\x00\x80\x3f"                  /* 3: 1.0f */
                                "\x21\x01\x02\x03\x04\x05\x06\x07\x08"; /* 4 */
    message m = make_message(bytes, sizeof bytes - 1);
    pb_reader r = pb_open(str_n(m.bytes, m.n));
    pb_field f;
    assert_true(pb_next(&r, &f));
    assert_int_equal(f.tag, PB_VARINT(1));
    assert_int_equal(f.v, 150);
    assert_true(pb_next(&r, &f));
    assert_int_equal(f.tag, PB_BYTES(2));
    assert_true(str_eq(pb_bytes(&f), STR("abc")));
    assert_true(pb_next(&r, &f));
    assert_int_equal(f.tag, PB_TAG(3, WIRE_FIXED32));
    assert_true(pb_float(&f) == 1.0);
    assert_true(pb_next(&r, &f));
    assert_int_equal(f.v, 0x0807060504030201);
    assert_false(pb_next(&r, &f));
    assert_false(r.damaged);
}

static void damage_ends_a_message(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
    } cases[] = {
        {"\x08", 1},                                          /* no value */
        {"\x08\xff\xff", 3},                                  /* a varint that does not end */
        {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 11}, /* more than 64 bits */
        {"\x12\x05"
         "abc",
         5},                 /* longer than the message */
        {"\x1d\x00\x00", 3}, /* three bytes of four */
        {"\x0b", 1},         /* a group */
        {"\x00\x00", 2},     /* field 0 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        message m = make_message(cases[i].bytes, cases[i].n);
        pb_reader r = pb_open(str_n(m.bytes, m.n));
        pb_field f;
        assert_false(pb_next(&r, &f));
        assert_true(r.damaged);
        assert_false(pb_next(&r, &f));
    }
}

static void a_cut_head_is_distinguished_from_a_wrong_one(void **state) {
    (void)state;
    pb_field f;
    bool cut;
    static const char half[] = "\x08\x80", wrong[] = "\x0f\x01";
    assert_null(pb_head(half, half + 2, &f, &cut));
    assert_true(cut);
    assert_null(pb_head(wrong, wrong + 2, &f, &cut));
    assert_false(cut);
}

/* A varint of every length and value, with room after it (read at once) and without (byte by
 * byte). */
static void a_varint_is_the_same_anywhere(void **state) {
    for (unsigned bit = 0; bit < 64; bit++)
        for (int less = 0; less < 2; less++) {
            uint64_t value = ((uint64_t)1 << bit) - (uint64_t)less, rest = value;
            char bytes[40] = {0x08};
            size_t n = 1;
            for (; rest >= 0x80; rest >>= 7) bytes[n++] = (char)(rest | 0x80);
            bytes[n++] = (char)rest;
            memset(bytes + n, 0xff,
                   sizeof bytes - n); /* what follows must not be taken for it */
            bool cut;
            pb_field tight, roomy;
            const char *end = pb_head(bytes, bytes + n, &tight, &cut);
            assert_ptr_equal(end, bytes + n);
            assert_ptr_equal(pb_head(bytes, bytes + sizeof bytes, &roomy, &cut), end);
            assert_true(tight.v == value && roomy.v == value);
            pb_reader near = pb_open(str_n(bytes, n)),
                      far = pb_open(str_n(bytes, sizeof bytes));
            assert_true(pb_next(&near, &tight) && pb_next(&far, &roomy));
            assert_true(tight.v == value && roomy.v == value && roomy.tag == PB_VARINT(1));
            assert_ptr_equal(far.p, end);
            for (size_t short_of = 1; short_of < n; short_of++) { /* what follows is not its */
                pb_reader cut_off = pb_open(str_n(bytes, n - short_of));
                assert_false(pb_next(&cut_off, &tight));
                assert_true(cut_off.damaged);
            }
            for (size_t less_room = 1; less_room < n; less_room++) {
                assert_null(pb_head(bytes, bytes + n - less_room, &tight, &cut));
                assert_true(cut);
            }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_varint_is_the_same_anywhere),
        cmocka_unit_test(fields_of_every_wire_type_are_read),
        cmocka_unit_test(damage_ends_a_message),
        cmocka_unit_test(a_cut_head_is_distinguished_from_a_wrong_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
