/* formats_test.c: which bytes each row of the table takes for its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <stdio.h>

#include <cmocka.h>

#include "session/formats.h"

static const format *named(const char *name) {
    for (uint32_t i = 0; format_at(i); i++)
        if (strcmp(format_at(i)->name, name) == 0) return format_at(i);
    return NULL;
}

static sniff_answer json(const char *text) {
    return named("trace json")->sniff(str_of(text), true);
}

static void an_object_with_trace_events_at_its_top_is_a_trace(void **state) {
    assert_int_equal(json("{\"traceEvents\": ["), SNIFF_YES);
    assert_int_equal(json(" \n{\"a\": {\"b\": [1, \"}\"]}, \"traceEvents\":[]}"), SNIFF_YES);
    assert_int_equal(json("\xef\xbb\xbf{\"schemaVersion\": 1, \"traceEvents\": []}"),
                     SNIFF_YES);
    assert_int_equal(json("{\"a\": {\"traceEvents\": []}}"), SNIFF_NO);
    assert_int_equal(json("{\"a\": \"\\\"traceEvents\\\": []\"}"), SNIFF_NO);
    assert_int_equal(json("{\"nodes\": []}"), SNIFF_NO);
    assert_int_equal(json("{}"), SNIFF_NO);
}

static void a_list_of_objects_with_ph_is_a_trace(void **state) {
    assert_int_equal(json("[{\"name\": \"x\", \"args\": {\"ph\": 1}, \"ph\": \"X\""),
                     SNIFF_YES);
    assert_int_equal(json("[\n {\"ph\": \"M\"}"), SNIFF_YES);
    assert_int_equal(json("[{\"name\": \"x\", \"args\": {\"ph\": 1}}]"), SNIFF_NO);
    assert_int_equal(json("[1, 2]"), SNIFF_NO);
    assert_int_equal(json("[\"ph\"]"), SNIFF_NO);
}

static void what_is_cut_before_it_decides_may_be_one(void **state) {
    assert_int_equal(json("{\"deviceProperties\": [{\"id\": 0, \"na"), SNIFF_MAYBE);
    assert_int_equal(json("{"), SNIFF_MAYBE);
    assert_int_equal(json("["), SNIFF_MAYBE);
    assert_int_equal(json("[]"), SNIFF_MAYBE); /* a list without events: the reader says so */
    assert_int_equal(json("[{\"name\": \"x"), SNIFF_MAYBE);
}

static void damage_before_the_events_does_not_hide_them(void **state) {
    assert_int_equal(json("{\"a\": N/A?, [}, \"traceEvents\": []"), SNIFF_YES);
    assert_int_equal(json("{\"host\": \"a\"b\", \"traceEvents\": [{\"ph\": \"X\"}]}"),
                     SNIFF_YES);
}

static void the_rest_is_recognized_by_magic(void **state) {
    assert_int_equal(named("tacho")->sniff(STR("{}"), true), SNIFF_NO);
}

static sniff_answer snapshot(str head) {
    return named("torch_memory_snapshot")->sniff(head, true);
}

static void a_snapshot_is_a_pickle_with_its_words(void **state) {
    assert_int_equal(snapshot(STR("\x80\x04\x95}\x8c\x08segments")), SNIFF_YES);
    assert_int_equal(snapshot(STR("\x80\x02]q\x01}(X\x0atotal_size")), SNIFF_YES);
    assert_int_equal(snapshot(STR("(dp0\nVdevice_traces\np1\n")), SNIFF_YES);
    assert_int_equal(snapshot(STR("}q\x01(X\x08segments")), SNIFF_YES);
    assert_int_equal(snapshot(STR("\x80\x04\x95}something")), SNIFF_MAYBE);
    assert_int_equal(snapshot(STR("(dp0\nVsomething\np1\n")), SNIFF_NO);
    assert_int_equal(snapshot(STR("\x80\x01 segments")), SNIFF_NO);
    assert_int_equal(snapshot(STR("segments")), SNIFF_NO);
    assert_int_equal(snapshot(STR("\x80")), SNIFF_NO);
}

static void every_row_survives_every_start(void **state) {
    static const char text[] =
        "{\"a\\\"\": [1, {\"b\": \"\\u00\"}], \"traceEvents\": [{\"ph\": 1}]}";
    for (uint32_t i = 0; format_at(i); i++) {
        for (size_t n = 0; n < sizeof text; n++) {
            char *copy = test_malloc(n + 1); /* its border is watched */
            memcpy(copy, text, n);
            (void)format_at(i)->sniff(str_n(copy, n), n % 2 == 0);
            test_free(copy);
        }
        assert_true(format_at(i)->read || format_is_tacho(format_at(i)));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_object_with_trace_events_at_its_top_is_a_trace),
        cmocka_unit_test(a_list_of_objects_with_ph_is_a_trace),
        cmocka_unit_test(what_is_cut_before_it_decides_may_be_one),
        cmocka_unit_test(damage_before_the_events_does_not_hide_them),
        cmocka_unit_test(the_rest_is_recognized_by_magic),
        cmocka_unit_test(a_snapshot_is_a_pickle_with_its_words),
        cmocka_unit_test(every_row_survives_every_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
