/* rec_copy_test.c: evidence of a flight recorder while a client takes a window of it. */
#include "record/rec_copy.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "unit/record/record_helper.h"

static void let_go(void) {
    bool before = rec_enter(&rec_lock);
    rec_hold_forked();
    rec_leave(&rec_lock, before);
}

static int tear_down(void **state) {
    (void)state;
    (void)tacho_stop();
    let_go();
    remove_folder();
    return 0;
}

static void start_flight(double seconds, uint64_t ring_bytes) {
    tacho_options o = {.size = sizeof o,
                       .path = fresh_folder(),
                       .flight_seconds = seconds,
                       .ring_bytes = ring_bytes};
    assert_int_equal(tacho_start(&o), TACHO_OK);
}

static uint32_t count_instants(const trace *t, const char *name) {
    uint32_t n = 0;
    for (uint32_t i = 1; i < t->instant.n; i++)
        n += str_eq(trace_str(t, t->instant.name[i]), str_of(name));
    return n;
}

static void a_held_recorder_continues_in_its_file(void **state) {
    char path[4][512];
    (void)state;
    start_flight(5, 0);
    rec_hold(2);
    tacho_mark("before");
    assert_int_equal(tacho_trigger("seen"), TACHO_OK);
    tacho_mark("after");
    assert_int_equal(tacho_stop(), TACHO_OK);
    assert_int_equal(list_recordings(path, 4), 2);
    trace *evidence = read_recording(path[0]), *whole = read_recording(path[1]);
    assert_int_equal(count_instants(evidence, "before"), 1);
    assert_int_equal(count_instants(evidence, "after"), 0);
    assert_int_equal(evidence->note.n, 2);
    assert_int_equal(count_instants(whole, "before"), 1);
    assert_int_equal(count_instants(whole, "after"), 1);
    assert_true(whole->note.n <= 1);
    trace_release(evidence);
    trace_release(whole);
}

static void a_recorder_without_clients_begins_another_file(void **state) {
    char path[4][512];
    (void)state;
    start_flight(5, 0);
    tacho_mark("before");
    assert_int_equal(tacho_trigger("seen"), TACHO_OK);
    tacho_mark("after");
    assert_int_equal(tacho_stop(), TACHO_OK);
    assert_int_equal(list_recordings(path, 4), 2);
    trace *rest = read_recording(path[1]);
    assert_int_equal(count_instants(rest, "before"), 0);
    trace_release(rest);
}

static void what_is_held_is_not_overwritten_while_there_is_room(void **state) {
    enum { MARKS = 100000 }; /* 25 chunks */
    (void)state;
    start_flight(1e-6, 64 << 20);
    for (int i = 0; i < MARKS; i++) tacho_mark("m");
    uint64_t forgotten = rec_current->header->forgotten_tick;
    assert_true(forgotten > 0);
    rec_hold(5);
    uint64_t from = rec_tick();
    for (int i = 0; i < MARKS; i++) tacho_mark("m");
    assert_true(rec_current->header->forgotten_tick < from);
    let_go();
    for (int i = 0; i < MARKS; i++) tacho_mark("m");
    assert_true(rec_current->header->forgotten_tick > from);
}

static void a_hold_ends_by_itself(void **state) {
    (void)state;
    start_flight(5, 0);
    rec_hold(-9.99); /* ten seconds more are granted */
    assert_true(rec_is_held());
    usleep(50000);
    rec_hold_tick();
    assert_false(rec_is_held());
}

static uint32_t is_over;

static void *keep_marking(void *unused) {
    (void)unused;
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) tacho_mark("m");
    return NULL;
}

/* The ring is small: chunks are used again while they are copied. */
static void copies_made_while_others_write_can_be_read(void **state) {
    enum { THREADS = 3, COPIES = 10 };
    char path[COPIES + 4][512];
    pthread_t id[THREADS];
    (void)state;
    start_flight(1e-6, 2 << 20);
    rec_hold(60);
    is_over = 0;
    for (int i = 0; i < THREADS; i++) pthread_create(&id[i], NULL, keep_marking, NULL);
    for (int i = 0; i < COPIES; i++) {
        usleep(5000);
        assert_int_equal(tacho_trigger("seen"), TACHO_OK);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++) pthread_join(id[i], NULL);
    assert_int_equal(tacho_stop(), TACHO_OK);
    assert_int_equal(list_recordings(path, COPIES + 4), COPIES + 1);
    for (int i = 0; i <= COPIES; i++) {
        trace *t = read_recording(path[i]);
        assert_int_equal(trace_quality(t, CAUSE_TRUNCATED), 0);
        trace_release(t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_held_recorder_continues_in_its_file, tear_down),
        cmocka_unit_test_teardown(a_recorder_without_clients_begins_another_file, tear_down),
        cmocka_unit_test_teardown(what_is_held_is_not_overwritten_while_there_is_room,
                                  tear_down),
        cmocka_unit_test_teardown(a_hold_ends_by_itself, tear_down),
        cmocka_unit_test_teardown(copies_made_while_others_write_can_be_read, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
