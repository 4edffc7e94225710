/* members_test.c: members are the same read with memory of the ones before and without, whatever changes
 * from one object to the next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ingest/util/members.h"
#include "io/source.h"

static char room[4096]; /* the text and the bytes that may be read after it */
static members all;

static cursor cursor_at(const char *text) {
    size_t n = strlen(text);
    assert_true(n + SOURCE_PAD < sizeof room);
    memset(room, '}', sizeof room); /* must not end anything */
    memcpy(room, text, n);
    return (cursor){room, room + n};
}

static void assert_str(str s, const char *expected) {
    if (!str_eq(s, str_of(expected))) fail_msg("\"%.*s\" is not %s", STR_ARG(s), expected);
}

/* Every object of the text, one after the other, both ways. */
static void read_both_ways(const char *text) {
    cursor slow = cursor_at(text), fast = slow;
    all = (members){0}; /* what is remembered are slices of the text */
    while (slow.p < slow.end && *slow.p == '{') {
        const char *from = slow.p;
        member *m = all.rows;
        str key = STR_NONE;
        slow.p++, fast.p++;
        while (next_key(&slow, &key)) {
            m = next_member(&all, &fast, m);
            assert_non_null(m);
            assert_true(str_eq(m->key, key));
            assert_ptr_equal(fast.p, slow.p);
            str value = take_value(&slow), again = take_value_of(m, &fast);
            assert_true(value.p == again.p && value.n == again.n);
            assert_ptr_equal(fast.p, slow.p);
            if (!value.p) break;
        }
        if (m) assert_null(next_member(&all, &fast, m));
        assert_int_equal(leave_object(&slow, from), leave_object(&fast, from));
        assert_ptr_equal(fast.p, slow.p);
        if (slow.p == from + 1) break;
    }
}

static void objects_are_read_the_same_with_memory(void **state) {
    static const char *const texts[] = {
        "{\"a\": 1, \"b\": \"x\"}{\"a\": 2, \"b\": \"x\"}{\"a\": 3, \"b\": \"y\"}",
        "{\"a\": 1}{\"a\":  1}{\"a\":\t1}{\"a\" : 1}{ \"a\": 1 }{\"a\": 1}",
        "{\"a\":[1,2]}{\"a\":[1,2]}{\"a\":[1,2,3]}{\"a\":[1,2}",
        "{\"a\":\"x\"}{\"a\":\"x\\\"\"}{\"a\":\"x\\\"\"}{\"a\":\"x\"}",
        "{\"b\":1,\"a\":1}{\"a\":1}{\"b\":1,\"a\":1}{\"a\":1,\"b\":2}{\"c\":1,\"a\":1}",
        "{\"a\\\"b\":{\"c\":1}}{\"a\\\"b\":{\"c\":1}}{\"a\\\"b\":{\"c\":2}}",
        "{\"a\":{}}{\"a\":{}}{}{\"a\":{}",
        "{\"a\":\"x\"}{\"a\":\"x\"",
        "{\"a\":\"x\"}{\"a\":\"x",
        "{\"a\":1,}{\"a\":1,,\"b\":2}{\"a\":1 \"b\":2}",
        "{\"a\":1}{\"a\":",
        "{\"a\":1}{\"a\"",
        "{\"a\":nul}{\"a\":nulx,\"b\":1}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) read_both_ways(texts[i]);
}

/* More keys than rows, in an order that is never the same. */
static void rows_are_given_up_for_new_keys(void **state) {
    srand(1);
    for (size_t round = 0; round < 200; round++) {
        char text[2048];
        int at = 0;
        for (size_t i = 0; i < 8; i++) {
            at += snprintf(text + at, sizeof text - (size_t)at, "{");
            for (size_t k = 0; k < 5; k++)
                at += snprintf(text + at, sizeof text - (size_t)at, "%s\"k%d\":[%d]",
                               k ? "," : "", rand() % 40, rand() % 3);
            at += snprintf(text + at, sizeof text - (size_t)at, "}");
        }
        read_both_ways(text);
    }
}

static void what_was_made_of_a_value_counts_for_the_same_value(void **state) {
    cursor c = cursor_at("{\"a\":\"x\"}{\"a\":\"x\"}{\"a\":\"y\"}{\"a\":5}{\"a\":5}");
    static const bool known[] = {false, true, false, false, false};
    all = (members){0};
    for (size_t i = 0; i < 5; i++) {
        const char *from = c.p++;
        member *m = next_member(&all, &c, all.rows);
        assert_non_null(m);
        assert_non_null(take_value_of(m, &c).p);
        assert_int_equal(m->has_value, known[i]);
        m->has_value = true;
        assert_true(leave_object(&c, from));
    }
}

static void a_key_is_asked_for_its_name_once(void **state) {
    static const str names[] = {STR("start"), STR("end")};
    cursor c = cursor_at("{\"end\":1,\"other\":2}");
    all = (members){0};
    c.p++;
    member *m = next_member(&all, &c, all.rows);
    assert_str(m->key, "end");
    assert_int_equal(member_name(m, names, 2), 1);
    assert_int_equal(member_name(m, names, 2), 1);
    take_value_of(m, &c);
    m = next_member(&all, &c, m);
    assert_str(m->key, "other");
    assert_int_equal(member_name(m, names, 2), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_read_the_same_with_memory),
        cmocka_unit_test(rows_are_given_up_for_new_keys),
        cmocka_unit_test(what_was_made_of_a_value_counts_for_the_same_value),
        cmocka_unit_test(a_key_is_asked_for_its_name_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
