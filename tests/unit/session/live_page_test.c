/* live_page_test.c: what recorded processes leave in the folder of their run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/live_page.h"
#include "session_helper.h"

#define NOW_NS INT64_C(1700000000000000000)

static void put_page(const folder *f, const char *worker, int64_t n_steps, int64_t age_ns) {
    tacho_live_page p = {.n_steps = n_steps, .written_unix_ns = NOW_NS - age_ns};
    char name[300];
    memcpy(p.magic, TACHO_LIVE_MAGIC, 8);
    snprintf(p.worker, sizeof p.worker, "%s", worker);
    snprintf(name, sizeof name, "run/.live/%s", worker);
    (void)put_file(f, name, str_n((const char *)&p, sizeof p));
}

static void the_processes_of_a_run_are_counted_and_the_furthest_tells_the_steps(void **state) {
    folder f = folder_new();
    put_page(&f, "rank0", 10, 0);
    put_page(&f, "rank1", 12, 1000000000);
    recording_state s = recording_look(in_folder(&f, "run"), NOW_NS);
    assert_int_equal(s.n_processes, 2);
    assert_int_equal(s.n_steps, 12);
    folder_gone(&f);
}

static void helpers_and_those_that_fell_silent_do_not_count(void **state) {
    folder f = folder_new();
    put_page(&f, "rank0.loader_7", 10, 0);
    put_page(&f, "rank0.child_8", 10, 0);
    put_page(&f, "killed", 10, LIVE_PAGE_SILENT_NS + 1);
    recording_state s = recording_look(in_folder(&f, "run"), NOW_NS);
    assert_int_equal(s.n_processes, 0);
    assert_int_equal(s.n_steps, -1);
    folder_gone(&f);
}

static void what_is_not_a_page_is_skipped(void **state) {
    folder f = folder_new();
    assert_int_equal(recording_look(in_folder(&f, "nothing"), NOW_NS).n_processes, 0);
    put_page(&f, "rank0", 3, 0);
    (void)put_file(&f, "run/.live/short", STR("TACHOLV1"));
    (void)put_file(&f, "elsewhere", STR("TACHOLV1"));
    assert_int_equal(symlink(in_folder(&f, "elsewhere"), in_folder(&f, "run/.live/link")), 0);
    assert_int_equal(mkfifo(in_folder(&f, "run/.live/pipe"), 0600), 0);
    assert_int_equal(recording_look(in_folder(&f, "run"), NOW_NS).n_processes, 1);
    folder_gone(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_processes_of_a_run_are_counted_and_the_furthest_tells_the_steps),
        cmocka_unit_test(helpers_and_those_that_fell_silent_do_not_count),
        cmocka_unit_test(what_is_not_a_page_is_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
