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

static void an_address_of_zero_is_not_an_address(void **state) {
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

/* ---- owners ---- */

/* The first slice of the track with the start and the name, when it contains the event. */
static uint32_t slow_owner(const trace *t, int64_t start, const char *name, int64_t time) {
    for (uint32_t i = 1; i < t->slice.n; i++)
        if (t->slice.start[i] == start && strcmp(text_of_id(t, t->slice.name[i]), name) == 0)
            return time + 1000 >= start && time - 1000 <= start + t->slice.dur[i] ? i : 0;
    return 0;
}

enum { N_RANGES = 3000, N_EVENTS = 3000 };

static uint32_t any_below(uint32_t *seed, uint32_t limit) {
    return next_random(seed) % limit;
}

/* Ranges of few names that start together, nest deeply or last no time, and events that name one of
 * them, one that is elsewhere or one that does not exist. `spread_ns`: over how long. */
static void check_owners(uint32_t spread_ns) {
    static const char *const names[] = {"a", "b", "c"};
    builder *b = builder_new();
    part *p = builder_part(b);
    uint32_t seed = spread_ns, ids[3];
    static int64_t starts[N_EVENTS];
    static uint8_t name_of[N_EVENTS];
    for (int i = 0; i < 3; i++) ids[i] = intern_add(builder_strings(b), str_of(names[i]));
    uint32_t track = part_track(p, (ident){1, false}, (ident){1, false});
    for (uint32_t i = 0; i < N_RANGES; i++) {
        raw_slice row = {.start = any_below(&seed, spread_ns),
                         .dur = any_below(&seed, 2) ? any_below(&seed, 5000) : 0,
                         .name = ids[any_below(&seed, 3)],
                         .track = track,
                         .kind = KIND_ANNOTATION};
        assert_int_equal(part_slice(p, &row), OK);
    }
    for (uint32_t i = 0; i < N_EVENTS; i++) {
        starts[i] = any_below(&seed, spread_ns);
        name_of[i] = (uint8_t)any_below(&seed, 3);
        raw_memory m = {.time = starts[i] + any_below(&seed, 6000) - 2000,
                        .track = track,
                        .address = i + 1,
                        .has_owner = true,
                        .owner_start = starts[i],
                        .owner_name = ids[name_of[i]]};
        assert_int_equal(part_memory(p, &m), OK);
    }
    trace *t;
    assert_int_equal(builder_seal(b, NULL, &t, NULL), OK);
    builder_free(b);
    uint32_t n_found = 0;
    for (uint32_t i = 1; i < t->memory.n; i++) {
        uint32_t event = (uint32_t)t->memory.address[i] - 1;
        uint32_t owner = slow_owner(t, starts[event], names[name_of[event]], t->memory.time[i]);
        assert_int_equal(t->memory.range[i], owner);
        n_found += owner != 0;
    }
    assert_true(n_found > 20);
    trace_release(t);
}

static void memory_belongs_to_the_range_its_producer_names(void **state) {
    check_owners(50);    /* all pile up: dozens start together */
    check_owners(5000);  /* many around each other */
    check_owners(20000); /* few */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_belongs_to_the_innermost_operator_of_its_thread),
        cmocka_unit_test(a_release_finds_the_allocation_of_its_address),
        cmocka_unit_test(an_address_of_zero_is_not_an_address),
        cmocka_unit_test(events_of_one_time_keep_the_producers_order),
        cmocka_unit_test(instants_and_samples_are_sorted_by_time_then_name),
        cmocka_unit_test(a_thread_with_samples_stays_a_thread),
        cmocka_unit_test(memory_belongs_to_the_range_its_producer_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
