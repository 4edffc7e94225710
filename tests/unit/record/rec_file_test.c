/* rec_file_test.c: chunks and side records, and files that may not grow. */
#include "unit/record/record_helper.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/rec_int.h"
#include "record/rec_keep.h"

static rec_file *new_file(uint64_t bytes) {
    char path[512];
    int why = 0;
    snprintf(path, sizeof path, "%s/file.tacho", fresh_folder());
    rec_clock_init();
    rec_file *f = rec_file_new(path, path, bytes, &why);
    if (!f) fail_msg("%s", strerror(why));
    return f;
}

static void chunks_are_handed_out_until_the_file_is_full(void **state) {
    rec_file *f = new_file(1 << 20);
    uint64_t n = 0;
    for (int64_t chunk; (chunk = rec_file_take(f, TACHO_CHUNK_EVENTS, 1)) >= 0; n++) {
        assert_int_equal(chunk, n);
        const tacho_chunk_header *h = (const void *)rec_file_chunk(f, n);
        assert_int_equal(h->type, TACHO_CHUNK_EVENTS);
        assert_int_equal(h->order, n + 1);
        memset(rec_file_chunk(f, n) + TACHO_CHUNK_HEADER_BYTES, 1,
               64); /* there is room after it */
    }
    assert_int_equal(n, ((1 << 20) - TACHO_FILE_HEADER_BYTES) / TACHO_CHUNK_BYTES);
    assert_int_equal(f->header->n_chunks, n);
    rec_file_free(f, true);
}

static void a_flight_recorder_uses_the_oldest_chunk_again(void **state) {
    rec_file *f = new_file(1 << 20);
    f->closed = rec_pages(f->limit * sizeof *f->closed);
    f->flight_ticks = UINT64_MAX; /* nothing is old enough: only when it must */
    for (uint64_t i = 0; i < f->limit; i++)
        assert_int_equal(rec_file_take(f, TACHO_CHUNK_EVENTS, 1), i);
    assert_int_equal(rec_file_take(f, TACHO_CHUNK_EVENTS, 1), -1); /* all in use */
    memset(rec_file_chunk(f, 3) + 64, 7, 100);
    rec_file_close_chunk(f, 3);
    rec_file_close_chunk(f, 1);
    assert_int_equal(rec_file_take(f, TACHO_CHUNK_EVENTS, 2), 3);
    assert_int_equal(rec_file_chunk(f, 3)[64], 0); /* cleared */
    assert_int_equal(rec_file_take(f, TACHO_CHUNK_SIDE, 0), 1);
    rec_file_free(f, true);
}

static void the_room_that_was_not_used_is_given_back(void **state) {
    rec_file *f = new_file(64 << 20);
    struct stat st;
    char path[512];
    strcpy(path, f->path);
    assert_true(rec_file_grow(f, 200));
    assert_int_equal(rec_file_take(f, TACHO_CHUNK_EVENTS, 1), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size > 200 * TACHO_CHUNK_BYTES);
    rec_file_free(f, true);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, TACHO_FILE_HEADER_BYTES + TACHO_CHUNK_BYTES);
}

static void side_records_of_any_length_follow_each_other(void **state) {
    rec_file *f = new_file(1 << 20);
    static char text[40000];
    memset(text, 'x', sizeof text);
    for (size_t n = 0; n < 50; n++) {
        uint64_t id = n;
        rec_side(f, TACHO_SIDE_NAME, &id, sizeof id, text, n);
    }
    uint64_t id = 50;
    rec_side(f, TACHO_SIDE_NAME, &id, sizeof id, text, sizeof text); /* cut */
    rec_side(f, TACHO_SIDE_NAME, &id, sizeof id, text, sizeof text); /* in a separate chunk */
    const uint8_t *p = rec_file_chunk(f, 0) + TACHO_CHUNK_HEADER_BYTES;
    for (size_t n = 0; n <= 50; n++) {
        tacho_side head;
        memcpy(&head, p, sizeof head);
        assert_int_equal(head.type, TACHO_SIDE_NAME);
        assert_int_equal(head.bytes % 8, 0);
        size_t there = strnlen((const char *)p + 16, head.bytes - 16);
        assert_int_equal(there, n < 50 ? n : 32768);
        p += head.bytes;
    }
    assert_int_equal(f->n_chunks, 2);
    assert_int_equal(f->header->lost[TACHO_LOST_SIDE], 0);
    rec_file_free(f, true);
}

static void record_under_a_limit(void) {
    struct rlimit limit = {2 << 20, 2 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    start_all();
    for (int i = 0; i < 300000; i++) tacho_mark("m");
    char path[4096];
    assert_int_equal(tacho_stop(), TACHO_OK);
    tacho_path(path, sizeof path);
    trace *t = read_recording(path);
    _exit(trace_quality(t, CAUSE_RECORDER_FULL) > 0 ? 0 : 1);
}

static void a_limit_on_file_sizes_is_a_loss_and_not_a_signal(void **state) {
    fresh_folder();
    assert_int_equal(in_child(record_under_a_limit), 0);
}

static int tear_down(void **state) {
    (void)tacho_stop();
    remove_folder();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(chunks_are_handed_out_until_the_file_is_full, tear_down),
        cmocka_unit_test_teardown(a_flight_recorder_uses_the_oldest_chunk_again, tear_down),
        cmocka_unit_test_teardown(the_room_that_was_not_used_is_given_back, tear_down),
        cmocka_unit_test_teardown(side_records_of_any_length_follow_each_other, tear_down),
        cmocka_unit_test_teardown(a_limit_on_file_sizes_is_a_loss_and_not_a_signal, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
