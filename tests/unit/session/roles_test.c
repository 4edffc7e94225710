/* roles_test.c: which workers of a folder are ranks, and what the others are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <stdio.h>

#include <cmocka.h>

#include "session/discover.h"
#include "unit/session/session_helper.h"

/* The workers of the only run: name=role, then how many are ranks. */
static void check(const folder *f, const char *expected) {
    static char text[2048];
    int n = 0;
    arena a;
    catalogue c;
    arena_init(&a, 0);
    assert_int_equal(run_discover(&a, in_folder(f, "r"), &c, NULL), OK);
    assert_int_equal(c.n_runs, 1);
    for (uint32_t i = 0; i < c.runs[0].n_workers; i++) {
        const worker_entry *w = &c.runs[0].workers[i];
        n += snprintf(text + n, sizeof text - (size_t)n, "%s=%s ", w->name.p,
                      role_word(w->role));
    }
    snprintf(text + n, sizeof text - (size_t)n, "%u of %u", c.runs[0].n_ranks,
             run_whole(&c.runs[0]));
    assert_string_equal(text, expected);
    arena_fini(&a);
}

static void put_rank(const folder *f, const char *name, int rank) {
    char text[256];
    int n = snprintf(text, sizeof text,
                     "{\"schemaVersion\": 1, \"distributedInfo\": {\"backend\": \"nccl\", "
                     "\"rank\": %d, \"world_size\": 2}, \"traceEvents\": []}",
                     rank);
    put_file(f, name, str_n(text, (size_t)n));
}

static void loaders_and_launchers_are_not_ranks(void **state) {
    folder f = folder_new();
    put_file(&f, "r/rank1.h_3.1.tacho", STR("x"));
    put_file(&f, "r/rank0.h_2.1.tacho", STR("x"));
    put_file(&f, "r/rank0.h_2.loader_5.1.tacho", STR("x"));
    put_file(&f, "r/rank0.h_2.child_6.1.tacho", STR("x"));
    put_file(&f, "r/h_1.launcher.1.tacho", STR("x"));
    put_file(&f, "r/h_9.1.tacho", STR("x"));
    check(&f, "rank0.h_2=rank rank1.h_3=rank h_1.launcher=launcher h_9=other "
              "rank0.h_2.child_6=child rank0.h_2.loader_5=loader 2 of 2");
    folder_gone(&f);
}

static void a_process_and_its_loaders_are_one_trace(void **state) {
    folder f = folder_new();
    put_file(&f, "r/h_7.loader_10.1.tacho", STR("x"));
    put_file(&f, "r/h_7.loader_9.1.tacho", STR("x"));
    put_file(&f, "r/h_7.1.tacho", STR("x"));
    check(&f, "h_7=trace h_7.loader_9=loader h_7.loader_10=loader 0 of 1");
    folder_gone(&f);
}

static void children_alone_are_shown(void **state) {
    folder f = folder_new();
    put_file(&f, "r/h_7.child_9.1.tacho", STR("x"));
    check(&f, "h_7.child_9=trace 0 of 1");
    folder_gone(&f);
}

static void files_tell_their_ranks_when_names_do_not(void **state) {
    folder f = folder_new();
    put_rank(&f, "r/host_20.1.pt.trace.json", 0);
    put_rank(&f, "r/host_10.1.pt.trace.json", 1);
    check(&f, "host_20=rank host_10=rank 2 of 2");
    folder_gone(&f);
}

static void a_damaged_file_next_to_ranks_is_one_of_them(void **state) {
    folder f = folder_new();
    put_rank(&f, "r/host_20.1.pt.trace.json", 0);
    put_file(&f, "r/host_15.1.pt.trace.json", STR("not a trace\n"));
    put_file(&f, "r/host_17.1.pt.trace.json", small_trace(1));
    put_rank(&f, "r/host_10.1.pt.trace.json", 1);
    check(&f, "host_20=rank host_10=rank host_15=rank host_17=other 3 of 3");
    folder_gone(&f);
}

static void two_runs_of_one_script_are_not_two_ranks(void **state) {
    folder f = folder_new();
    put_rank(&f, "r/host_20.1.pt.trace.json", 0);
    put_rank(&f, "r/host_10.1.pt.trace.json", 0);
    check(&f, "host_10=trace host_20=trace 0 of 2");
    folder_gone(&f);
}

static void numbered_workers_are_ranks(void **state) {
    folder f = folder_new();
    put_file(&f, "r/worker1_step_12.1.pt.trace.json", small_trace(1));
    put_file(&f, "r/worker0_step_12.1.pt.trace.json", small_trace(1));
    check(&f, "worker0_step_12=rank worker1_step_12=rank 2 of 2");
    folder_gone(&f);
}

static void hosts_of_a_profile_of_xla_are_the_ranks_of_one_run(void **state) {
    folder f = folder_new();
    put_file(&f, "r/host10.xplane.pb", STR("x"));
    put_file(&f, "r/host9.xplane.pb", STR("x"));
    check(&f, "host9=rank host10=rank 2 of 2");
    folder_gone(&f);
}

static void of_one_rank_the_last_recorded_counts(void **state) {
    folder f = folder_new();
    put_file(&f, "r/rank0.h_2.100.tacho", STR("x"));
    put_file(&f, "r/rank0.h_8.900.tacho", STR("x"));
    put_file(&f, "r/rank1.h_3.100.tacho", STR("x"));
    put_file(&f, "r/rank1.h_9.900.tacho", STR("x"));
    check(&f, "rank0.h_8=rank rank1.h_9=rank rank0.h_2=other rank1.h_3=other 2 of 2");
    folder_gone(&f);
}

static void a_memory_snapshot_is_not_a_rank(void **state) {
    folder f = folder_new();
    put_file(&f, "r/rank0.json", small_trace(1));
    put_file(&f, "r/rank0.pickle", STR("\x80\x04}\x94\x8c\x08segments\x94]\x94s."));
    put_file(&f, "r/rank1.json", small_trace(1));
    check(&f, "rank0=rank rank1=rank rank0.pickle=other 2 of 2");
    folder_gone(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loaders_and_launchers_are_not_ranks),
        cmocka_unit_test(a_process_and_its_loaders_are_one_trace),
        cmocka_unit_test(children_alone_are_shown),
        cmocka_unit_test(files_tell_their_ranks_when_names_do_not),
        cmocka_unit_test(a_damaged_file_next_to_ranks_is_one_of_them),
        cmocka_unit_test(two_runs_of_one_script_are_not_two_ranks),
        cmocka_unit_test(numbered_workers_are_ranks),
        cmocka_unit_test(hosts_of_a_profile_of_xla_are_the_ranks_of_one_run),
        cmocka_unit_test(of_one_rank_the_last_recorded_counts),
        cmocka_unit_test(a_memory_snapshot_is_not_a_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
