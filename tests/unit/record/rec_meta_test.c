/* rec_meta_test.c: facts of the whole recording, and who knows its rank. */
#include "unit/record/record_helper.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "record/rec_int.h"

static bool meta_is(const trace *t, const char *key, const char *value) {
    return str_eq(trace_meta(t, str_of(key)), str_of(value));
}

static void facts_hold_for_all_recordings(void **state) {
    fresh_folder();
    tacho_meta("model", "resnet \"50\"");
    tacho_meta("layers", "50");
    for (int i = 0; i < 2; i++) {
        start_all();
        if (i == 1) tacho_meta("config", "{\"lr\": 0.1}");
        trace *t = stop_and_read();
        assert_true(meta_is(t, "model", "\"resnet \\\"50\\\"\""));
        assert_true(meta_is(t, "layers", "50"));
        assert_true(str_find(trace_meta(t, STR("command")), STR("rec_meta_test"), 0) !=
                    SIZE_MAX);
        if (i == 1) assert_true(trace_meta(t, STR("config")).n > 0);
        trace_release(t);
    }
}

static void the_launchers_rank_is_in_name_and_metadata(void **state) {
    char path[4096];
    fresh_folder();
    setenv("OMPI_COMM_WORLD_RANK", "5", 1);
    setenv("OMPI_COMM_WORLD_SIZE", "8", 1);
    start_all();
    trace *t = stop_and_read();
    unsetenv("OMPI_COMM_WORLD_RANK");
    unsetenv("OMPI_COMM_WORLD_SIZE");
    tacho_path(path, sizeof path);
    assert_non_null(strstr(path, "/rank5."));
    int64_t rank, world;
    str info = trace_meta(t, STR("distributedInfo"));
    assert_true(json_i64(json_member(info, STR("rank")), &rank) && rank == 5);
    assert_true(json_i64(json_member(info, STR("world_size")), &world) && world == 8);
    trace_release(t);
}

static void check_child(void) {
    int64_t rank, world;
    if (rec_rank(&rank, &world)) _exit(1);
    tacho_rank(2, 4);
    if (!rec_rank(&rank, &world) || rank != 2 || world != 4) _exit(2);
}

static void a_child_has_no_rank_until_it_says_so(void **state) {
    setenv("RANK", "1", 1);
    setenv("WORLD_SIZE", "2", 1);
    int how = in_child(check_child);
    unsetenv("RANK");
    unsetenv("WORLD_SIZE");
    assert_int_equal(how, 0);
}

static void the_programs_word_beats_the_launchers(void **state) {
    int64_t rank, world;
    setenv("RANK", "1", 1);
    setenv("WORLD_SIZE", "2", 1);
    assert_true(rec_rank(&rank, &world));
    assert_int_equal(rank, 1);
    tacho_rank(3, 9);
    assert_true(rec_rank(&rank, &world));
    assert_int_equal(rank, 3);
    unsetenv("RANK");
    unsetenv("WORLD_SIZE");
}

static int tear_down(void **state) {
    (void)tacho_stop();
    remove_folder();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(facts_hold_for_all_recordings, tear_down),
        cmocka_unit_test_teardown(the_launchers_rank_is_in_name_and_metadata, tear_down),
        cmocka_unit_test_teardown(a_child_has_no_rank_until_it_says_so, tear_down),
        cmocka_unit_test_teardown(the_programs_word_beats_the_launchers, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
