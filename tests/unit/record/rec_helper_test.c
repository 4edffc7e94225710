/* rec_helper_test.c: the recorder's own thread: room ahead, clocks, and what is put away. */
#include "unit/record/record_helper.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/rec_int.h"

/* Threads of this process that are named "tacho". */
static int helpers(void) {
    int n = 0;
    DIR *d = opendir("/proc/self/task");
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        char path[300], name[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%.200s/comm", e->d_name);
        FILE *in = fopen(path, "r");
        if (in && fgets(name, sizeof name, in)) n += strcmp(name, "tacho\n") == 0;
        if (in) fclose(in);
    }
    closedir(d);
    return n;
}

static bool wait_until(bool (*holds)(void)) {
    for (int i = 0; i < 500; i++) {
        if (holds()) return true;
        usleep(10000);
    }
    return false;
}

static bool has_room_ahead(void) {
    bool before = rec_enter(&rec_lock);
    bool ok = rec_current && rec_current->ready >= rec_current->n_chunks + 60;
    rec_leave(&rec_lock, before);
    return ok;
}

static void there_is_one_and_it_makes_room(void **state) {
    fresh_folder();
    start_all();
    tacho_mark("m");
    assert_true(wait_until(has_room_ahead));
    assert_int_equal(helpers(), 1);
    assert_int_equal(tacho_stop(), TACHO_OK);
    start_all();
    assert_int_equal(helpers(), 1);
}

static char path[4096];

static bool is_cut(void) {
    struct stat st;
    return stat(path, &st) == 0 &&
           st.st_size == TACHO_FILE_HEADER_BYTES + 2 * TACHO_CHUNK_BYTES;
}

static void a_stopped_file_is_cut_to_what_it_holds(void **state) {
    fresh_folder();
    start_all();
    tacho_mark("m");
    assert_true(wait_until(has_room_ahead));
    assert_int_equal(tacho_stop(), TACHO_OK);
    tacho_path(path, sizeof path);
    assert_true(wait_until(is_cut)); /* one chunk of names, one of events */
}

static void clocks_are_read_from_time_to_time(void **state) {
    fresh_folder();
    start_all();
    usleep(300000);
    assert_int_equal(tacho_stop(), TACHO_OK);
    tacho_path(path, sizeof path);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    static uint8_t chunk[TACHO_CHUNK_BYTES];
    fseek(in, TACHO_FILE_HEADER_BYTES, SEEK_SET);
    assert_int_equal(fread(chunk, 1, sizeof chunk, in), sizeof chunk);
    fclose(in);
    int n = 0;
    for (size_t at = TACHO_CHUNK_HEADER_BYTES; at + 8 < sizeof chunk;) {
        tacho_side head;
        memcpy(&head, chunk + at, sizeof head);
        if (!head.bytes) break;
        n += head.type == TACHO_SIDE_CLOCK;
        at += head.bytes;
    }
    assert_true(n >=
                5); /* loaded, started, three early ones, stopped; fewer on a busy machine */
}

static void check_child(void) {
    if (helpers() != 0) _exit(1);
    start_all();
    for (int i = 0; i < 500 && helpers() != 1; i++)
        usleep(10000); /* it names itself when it runs */
    if (helpers() != 1) _exit(2);
    _exit(tacho_stop() == TACHO_OK ? 0 : 3);
}

static void a_child_makes_its_own(void **state) {
    fresh_folder();
    start_all();
    assert_int_equal(in_child(check_child), 0);
}

static int tear_down(void **state) {
    (void)tacho_stop();
    remove_folder();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(there_is_one_and_it_makes_room, tear_down),
        cmocka_unit_test_teardown(a_stopped_file_is_cut_to_what_it_holds, tear_down),
        cmocka_unit_test_teardown(clocks_are_read_from_time_to_time, tear_down),
        cmocka_unit_test_teardown(a_child_makes_its_own, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
