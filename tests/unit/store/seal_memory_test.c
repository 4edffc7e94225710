/* seal_memory_test.c: memory events, instants and counters. */
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

#define MEMORY(ts, device, address, bytes)                                            \
    "{\"ph\":\"i\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":" #ts \
    ",\"args\":{\"Device Type\":1,\"Device Id\":" #device ",\"Addr\":" #address       \
    ",\"Bytes\":" #bytes "}}"

static void memory_belongs_to_the_innermost_operator_of_its_thread(void **state) {
    trace *t = read_events(EVENTS(
        X("cpu_op", "outer", 1, 0, 100, ""), X("cpu_op", "inner", 1, 10, 20, ""),
        X("user_annotation", "range", 1, 12, 5, ""), X("cpu_op", "other", 2, 0, 100, ""),
        MEMORY(13, 0, 1, 8), MEMORY(30, 0, 2, 8), MEMORY(100, 0, 3, 8), MEMORY(-1, 0, 4, 8)));
    assert_int_equal(t->memory.n, 5);
    assert_int_equal(t->memory.op[1], 0);
    assert_int_equal(t->memory.op[2], find_slice(t, "inner"));
    assert_int_equal(t->memory.op[3], find_slice(t, "outer")); /* inner has just ended */
    assert_int_equal(t->memory.op[4], 0);
    trace_release(t);
}

static void a_release_finds_the_allocation_of_its_address(void **state) {
    trace *t = read_events(EVENTS(MEMORY(1, 0, 5, 8), MEMORY(2, 1, 5, 16), MEMORY(3, 0, 5, -8),
                                  MEMORY(4, 0, 5, 32), MEMORY(5, 0, 5, -32),
                                  MEMORY(6, 0, 5, -1), MEMORY(7, 0, 9, -1)));
    static const uint32_t partner[] = {0, 3, 0, 1, 5, 4, 0, 0};
    for (uint32_t i = 1; i <= 7; i++) assert_int_equal(t->memory.partner[i], partner[i]);
    assert_int_equal(t->memory.kind[1], MEMORY_ALLOC);
    assert_int_equal(t->memory.kind[3], MEMORY_FREE);
    trace_release(t);
}

static void an_address_of_zero_is_no_address(void **state) {
    trace *t =
        read_events("{\"ph\":\"i\",\"name\":\"[memory]\",\"ts\":1,\"args\":{\"Bytes\":8}},{"
                    "\"ph\":\"i\",\"name\":\"[memory]\",\"ts\":2,\"args\":{\"Bytes\":-8}}");
    assert_int_equal(t->memory.partner[1], 0);
    assert_int_equal(t->memory.partner[2], 0);
    assert_int_equal(t->memory.device_type[1], DEVICE_UNKNOWN);
    assert_int_equal(t->memory.device[1], ABSENT_I32);
    trace_release(t);
}

static void events_of_one_time_keep_the_producers_order(void **state) {
    trace *t = read_events(
        "{\"ph\":\"i\",\"name\":\"[memory]\",\"ts\":1,\"args\":{\"Addr\":1,\"Bytes\":-8,\"Ev "
        "Idx\":2}},{\"ph\":\"i\",\"name\":\"[memory]\",\"ts\":1,\"args\":{\"Addr\":1,\"Bytes\":"
        "8,\"Ev Idx\":1}}");
    assert_int_equal(t->memory.bytes[1], 8);
    assert_int_equal(t->memory.partner[1], 2);
    trace_release(t);
}

static void instants_and_samples_are_sorted_by_time_then_name(void **state) {
    trace *t = read_events("{\"ph\":\"i\",\"name\":\"b\",\"ts\":5},{\"ph\":\"i\",\"name\":"
                           "\"a\",\"ts\":5},{\"ph\":\"i\",\"name\":\"z\",\"ts\":-1},"
                           "{\"ph\":\"C\",\"name\":\"b\",\"ts\":5,\"args\":{\"y\":1,\"x\":2}},{"
                           "\"ph\":\"C\",\"name\":\"a\",\"ts\":5,\"args\":{\"x\":3}},{\"ph\":"
                           "\"C\",\"name\":\"z\",\"ts\":1,\"args\":{\"x\":4}}");
    static const char *const instants[] = {"z", "a", "b"};
    static const double values[] = {4, 3, 2, 1};
    assert_int_equal(t->instant.n, 4);
    assert_int_equal(t->counter.n, 5);
    for (uint32_t i = 0; i < 3; i++)
        assert_string_equal(text_of_id(t, t->instant.name[i + 1]), instants[i]);
    for (uint32_t i = 0; i < 4; i++) assert_true(t->counter.value[i + 1] == values[i]);
    trace_release(t);
}

static void a_thread_with_samples_stays_a_thread(void **state) {
    trace *t = read_events(
        X("cpu_op", "a", 1, 0, 5,
          "") ",{\"ph\":\"C\",\"name\":\"c\",\"pid\":1,\"tid\":1,\"ts\":1,\"args\":{\"x\":4}},{"
              "\"ph\":\"C\",\"name\":\"c\",\"pid\":1,\"tid\":2,\"ts\":1,\"args\":{\"x\":4}}");
    assert_int_equal(t->track.kind[1], TRACK_THREAD);
    assert_int_equal(t->track.kind[2], TRACK_COUNTER);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_belongs_to_the_innermost_operator_of_its_thread),
        cmocka_unit_test(a_release_finds_the_allocation_of_its_address),
        cmocka_unit_test(an_address_of_zero_is_no_address),
        cmocka_unit_test(events_of_one_time_keep_the_producers_order),
        cmocka_unit_test(instants_and_samples_are_sorted_by_time_then_name),
        cmocka_unit_test(a_thread_with_samples_stays_a_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
