/* recordings_test.c: a folder that was recorded into several times holds several runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <tacho/format.h>

#include "session/discover.h"
#include "unit/session/session_helper.h"

#define SECOND INT64_C(1000000000)
#define DAY INT64_C(1794960000) /* 2026-11-18, in Unix seconds */

/* A recording of so many seconds of that day, as its header tells. */
static folder place;

static void put_recording(const char *worker, const char *run, int64_t from, int64_t to) {
    tacho_file_header h = {.version = TACHO_FILE_VERSION,
                           .profile = TACHO_FILE_RECORDING,
                           .state = TACHO_FILE_STOPPED,
                           .start_unix_ns = (DAY + from) * SECOND,
                           .stop_unix_ns = (DAY + to) * SECOND};
    char name[512], page[TACHO_FILE_HEADER_BYTES] = "";
    memcpy(h.magic, TACHO_FILE_MAGIC, sizeof h.magic);
    snprintf(h.run, sizeof h.run, "%s", run);
    memcpy(page, &h, sizeof h);
    snprintf(name, sizeof name, "%s.%lld.tacho", worker, (long long)h.start_unix_ns);
    put_file(&place, name, str_n(page, sizeof page));
}

static arena room;

static int begin(void **state) {
    (void)state;
    place = folder_new();
    arena_init(&room, 0);
    return 0;
}

static int end(void **state) {
    (void)state;
    arena_fini(&room);
    folder_gone(&place);
    return 0;
}

static catalogue look(void) {
    catalogue c;
    error err = {0};
    assert_int_equal(run_discover(&room, place.path, &c, &err), OK);
    return c;
}

static void assert_run(const catalogue *c, uint32_t i, const char *name, uint32_t n_workers,
                       uint32_t n_ranks) {
    assert_true(i < c->n_runs);
    str last = c->runs[i].name;
    size_t slash = str_rfind_byte(last, '/');
    if (slash != SIZE_MAX) last = str_from(last, slash + 1);
    if (!str_eq(last, str_of(name))) fail_msg("%.*s, not %s", STR_ARG(last), name);
    assert_int_equal(c->runs[i].n_workers, n_workers);
    assert_int_equal(c->runs[i].n_ranks, n_ranks);
}

static void each_record_is_a_run_and_the_last_is_chosen(void **state) {
    span_choice ch;
    error err = {0};
    (void)state;
    put_recording("vm_9", "train_b.1", 0, 10); /* the first in time, not by name */
    put_recording("vm_7", "train_a.2", 20, 30);
    put_recording("vm_7.child_8", "train_a.2", 21, 29);
    catalogue c = look();
    assert_int_equal(c.n_runs, 2);
    assert_run(&c, 0, "train_a", 2, 0);
    assert_run(&c, 1, "train_b", 1, 0);
    assert_int_equal(run_number(&c, &c.runs[0]), 2);
    assert_int_equal(span_choose(&c, &(choice){.run = STR_NONE}, &ch, &err), OK);
    assert_ptr_equal(ch.run, &c.runs[0]);
    assert_true(str_eq(ch.worker->name, STR("vm_7")));
    assert_int_equal(span_choose(&c, &(choice){.run = STR("1")}, &ch, &err), OK);
    assert_ptr_equal(ch.run, &c.runs[1]);
    assert_int_equal(span_choose(&c, &(choice){.run = STR("train_b")}, &ch, &err), OK);
    assert_int_equal(span_choose(&c, &(choice){.run = STR("3")}, &ch, &err), ERR_ARG);
    assert_int_equal(c.runs[0].start_ns, (DAY + 20) * SECOND);
}

static void names_that_are_equal_are_distinguished(void **state) {
    (void)state;
    put_recording("vm_1", "train.a", 0, 1);
    put_recording("vm_2", "train.b", 2, 3);
    put_recording("vm_3", "x/y\n.c", 4, 5);
    catalogue c = look();
    assert_int_equal(c.n_runs, 3);
    assert_run(&c, 0, "train", 1, 0);
    assert_run(&c, 1, "train_2", 1, 0);
    assert_run(&c, 2, "x_y_", 1, 0);
}

static void ranks_that_were_recorded_one_by_one_are_one_run(void **state) {
    (void)state;
    for (int again = 0; again < 2; again++)
        for (int rank = 0; rank < 3; rank++) {
            char worker[32], run[32];
            snprintf(worker, sizeof worker, "rank%d.vm_%d", rank, 10 * again + rank + 1);
            snprintf(run, sizeof run, "train_%d.%d", again, rank);
            put_recording(worker, run, 100 * again + rank, 100 * again + 50);
        }
    catalogue c = look();
    assert_int_equal(c.n_runs, 2);
    assert_run(&c, 0, "train_0", 3, 3);
    assert_run(&c, 1, "train_1", 3, 3);
}

static void one_rank_twice_at_the_same_time_is_two_runs(void **state) {
    (void)state;
    put_recording("rank0.vm_1", "a.1", 0, 50);
    put_recording("rank0.vm_2", "b.2", 10, 60);
    catalogue c = look();
    assert_int_equal(c.n_runs, 2);
}

static void files_of_older_versions_are_distinguished_by_time(void **state) {
    (void)state;
    put_recording("rank0.vm_1", "", 0, 50);
    put_recording("rank1.vm_2", "", 1, 49);
    put_recording("rank0.vm_1.loader_3", "", 2, 40);
    put_recording("rank0.vm_4", "", 60, 90);
    put_recording("rank1.vm_5", "", 61, 90);
    put_recording("rank1.vm_5", "", 200, 210); /* a later cycle of the same process */
    catalogue c = look();
    assert_int_equal(c.n_runs, 2);
    assert_int_equal(c.runs[0].n_ranks, 2);
    assert_int_equal(c.runs[0].n_workers, 3);
    assert_int_equal(c.runs[1].n_ranks, 2);
}

static void other_traces_stay_a_separate_run(void **state) {
    (void)state;
    put_recording("vm_1", "a.1", 0, 50);
    put_recording("vm_2", "b.2", 60, 70);
    put_file(&place, "vm_3.5.pt.trace.json", STR("{\"traceEvents\":[]}"));
    catalogue c = look();
    assert_int_equal(c.n_runs, 3);
    assert_int_equal(c.runs[0].n_workers, 1);
    assert_true(str_ends(c.runs[1].name, STR("/a")));
}

static void ranks_with_different_names_are_not_even_opened(void **state) {
    (void)state;
    put_recording("rank0.vm_1", "a.1", 0, 50);
    put_recording("rank1.vm_2", "b.2", 100, 150);
    catalogue c = look();
    assert_int_equal(c.n_runs, 1);
    assert_int_equal(c.runs[0].n_ranks, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_record_is_a_run_and_the_last_is_chosen, begin,
                                        end),
        cmocka_unit_test_setup_teardown(names_that_are_equal_are_distinguished, begin, end),
        cmocka_unit_test_setup_teardown(ranks_that_were_recorded_one_by_one_are_one_run, begin,
                                        end),
        cmocka_unit_test_setup_teardown(one_rank_twice_at_the_same_time_is_two_runs, begin,
                                        end),
        cmocka_unit_test_setup_teardown(files_of_older_versions_are_distinguished_by_time,
                                        begin, end),
        cmocka_unit_test_setup_teardown(other_traces_stay_a_separate_run, begin, end),
        cmocka_unit_test_setup_teardown(ranks_with_different_names_are_not_even_opened, begin,
                                        end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
