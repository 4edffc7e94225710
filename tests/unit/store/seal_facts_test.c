/* seal_facts_test.c: what is known of the trace as a whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "unit/ingest/read_helper.h"

/* An X event on thread `tid` of process 1. */
#define X(cat, name, tid, ts, dur, args)                                              \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":" #tid \
    ",\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{" args "}}"

static void metadata_is_sorted_by_key(void **state) {
    trace *t = read_json("{\"c\":1,\"a\":\"x\",\"traceEvents\":[],\"b\":{\"y\":[]}}");
    static const char *const keys[] = {"a", "b", "c"}, *const values[] = {"\"x\"",
                                                                          "{\"y\": []}", "1"};
    assert_int_equal(t->meta.n, 4);
    for (uint32_t i = 0; i < 3; i++) {
        assert_string_equal(text_of_id(t, t->meta.key[i + 1]), keys[i]);
        assert_string_equal(text_of_id(t, t->meta.value[i + 1]), values[i]);
    }
    trace_release(t);
}

static void losses_are_rows_with_their_first_place_and_an_example(void **state) {
    trace *t = read_events("{\"ph\":\"Z\",\"name\":\"first\",\"ts\":1},{\"ph\":\"Z\",\"name\":"
                           "\"second\",\"ts\":1},{\"ph\":\"X\",\"ts\":1}");
    assert_int_equal(t->quality.n, 3);
    assert_int_equal(t->quality.cause[1], CAUSE_MISSING_NAME);
    assert_int_equal(t->quality.count[1], 1);
    assert_int_equal(t->quality.cause[2], CAUSE_UNKNOWN_PHASE);
    assert_int_equal(t->quality.count[2], 2);
    assert_int_equal(t->quality.offset[2], 1);
    assert_string_equal(text_of_id(t, t->quality.example[2]), "first");
    trace_release(t);
}

static void a_loss_without_a_place_has_none(void **state) {
    trace *t =
        read_events(EVENTS(X("cpu_op", "a", 1, 0, 10, ""), X("cpu_op", "b", 1, 5, 10, "")));
    assert_int_equal(t->quality.cause[1], CAUSE_PARTIAL_OVERLAP);
    assert_int_equal(t->quality.offset[1], ABSENT_I64);
    trace_release(t);
}

static void the_range_is_that_of_everything_that_lasts(void **state) {
    trace *t = read_events(EVENTS(X("cpu_op", "a", 1, 10, 90, ""),
                                  X("cpu_op", "b", 1, 20, 5, ""), X("cpu_op", "c", 2, 5, 1, ""),
                                  "{\"ph\":\"i\",\"name\":\"far\",\"ts\":86400000000}"));
    assert_int_equal(t->start_ns, 5000);
    assert_int_equal(t->end_ns, 100000);
    trace_release(t);
    t = read_events(
        "{\"ph\":\"i\",\"name\":\"a\",\"ts\":3},{\"ph\":\"i\",\"name\":\"b\",\"ts\":8}");
    assert_int_equal(t->start_ns, 3000);
    assert_int_equal(t->end_ns, 8000);
    trace_release(t);
    t = read_events("{\"ph\":\"C\",\"name\":\"a\",\"ts\":3,\"args\":{\"x\":1}},{\"ph\":\"C\","
                    "\"name\":\"a\",\"ts\":9,\"args\":{\"x\":1}}");
    assert_int_equal(t->start_ns, 3000);
    assert_int_equal(t->end_ns, 9000);
    trace_release(t);
    t = read_events("");
    assert_int_equal(t->start_ns, 0);
    assert_int_equal(t->end_ns, 0);
    trace_release(t);
}

static void strings_and_kinds_are_counted(void **state) {
    trace *t = read_events(EVENTS(X("cpu_op", "a", 1, 0, 10, ""), X("cpu_op", "a", 1, 1, 1, ""),
                                  X("kernel", "k", 7, 1, 1, "")));
    assert_int_equal(t->kind_count[KIND_OP], 2);
    assert_int_equal(t->kind_count[KIND_KERNEL], 1);
    assert_int_equal(t->string_offset[0], 0);
    assert_int_equal(trace_str(t, 0).n, 0);
    assert_int_equal(t->slice.name[1], t->slice.name[2]);
    assert_null(trace_str(t, t->n_strings).p);
    assert_int_equal(t->events_read, 3);
    trace_release(t);
}

static void arguments_of_many_blocks_come_back(void **state) {
    enum { N = 30000 };
    buf b = {0};
    buf_add_byte(&b, '[');
    for (int i = 0; i < N; i++)
        buf_printf(&b,
                   "%s{\"ph\":\"X\",\"name\":\"n\",\"ts\":%d,\"args\":{\"i\":%lld,\"d\":%d.25,"
                   "\"s\":\"t%d\"}}",
                   i ? "," : "", i, (long long)i * 1234567891011, i, i % 7);
    buf_add_byte(&b, ']');
    error err;
    trace *t = read_text(buf_str(&b), (read_how){.threads = 3, .piece_bytes = 100000}, &err);
    assert_true(t->n_arg_blocks > 2);
    for (uint32_t i = 1; i <= N; i += 997) {
        char expected[128];
        snprintf(expected, sizeof expected, "{\"i\":%lld,\"d\":%u.25,\"s\":\"t%u\"}",
                 (long long)(i - 1) * 1234567891011, i - 1, (i - 1) % 7);
        assert_string_equal(args_text(t, t->slice.args[i]), expected);
    }
    trace_release(t);
    buf_fini(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metadata_is_sorted_by_key),
        cmocka_unit_test(losses_are_rows_with_their_first_place_and_an_example),
        cmocka_unit_test(a_loss_without_a_place_has_none),
        cmocka_unit_test(the_range_is_that_of_everything_that_lasts),
        cmocka_unit_test(strings_and_kinds_are_counted),
        cmocka_unit_test(arguments_of_many_blocks_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
