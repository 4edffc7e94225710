/* reduce_run_test.c: one process alone: files are dealt, failures are named, threads agree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/reduce_run.h"

static const char TRACE[] =
    "{\"traceEvents\": [\n"
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 1, \"tid\": 1, "
    "\"ts\": %d, \"dur\": 50},\n"
    "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"nccl:all_reduce\", \"pid\": 1, "
    "\"tid\": 1, \"ts\": %d, \"dur\": %d}\n], \"distributedInfo\": {\"rank\": %d}}\n";

typedef struct {
    char dir[64];
    arena a;
    catalogue found;
    int n_done, n_failed;
} place;

static void write_file(const place *p, const char *name, const char *content) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", p->dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(content, f);
    fclose(f);
}

static void begin(place *p) {
    *p = (place){.dir = "/tmp/reduce_run_XXXXXX"};
    assert_non_null(mkdtemp(p->dir));
    for (int i = 0; i < 5; i++) {
        char name[64], text[sizeof TRACE + 64];
        snprintf(name, sizeof name, "rank%d.pt.trace.json", i);
        snprintf(text, sizeof text, TRACE, 10, 100 + 10 * i, 100 - 10 * i, i);
        write_file(p, name, text);
    }
    write_file(p, "rank5.pt.trace.json", "this is no trace");
    arena_init(&p->a, 0);
    assert_int_equal(run_discover(&p->a, p->dir, &p->found, NULL), OK);
}

static void end(place *p) {
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", p->dir);
    assert_int_equal(system(command), 0);
    arena_fini(&p->a);
}

static void count_file(void *context, const error *failed, buf *reason, buf *sentence) {
    place *p = context;
    p->n_done++;
    p->n_failed += failed != NULL;
    if (failed) buf_add_cstr(reason, "it is none");
    if (failed) buf_add_cstr(sentence, "rank5 is none");
}

static buf reduce(place *p, int threads) {
    transport t;
    buf bytes = {0};
    assert_int_equal(transport_open(&t, "/nowhere/tacho", NULL), OK);
    reduce_options o = {.run = &p->found.runs[0],
                        .transport = &t,
                        .threads = threads,
                        .no_cache = true,
                        .done = count_file,
                        .context = p};
    reduce_result r;
    p->n_done = p->n_failed = 0;
    assert_int_equal(reduce_run(&o, &p->a, &r, NULL), OK);
    assert_int_equal(p->n_done, 6);
    assert_int_equal(p->n_failed, 1);
    assert_int_equal(r.list.n, 6);
    assert_int_equal(file_list_count(&r.list, FILE_READ), 5);
    assert_int_equal(file_list_count(&r.list, FILE_UNREADABLE), 1);
    assert_int_equal(SUMMARY_N(r.all, worker), 5);
    assert_int_equal(SUMMARY_N(r.all, sync), 5);
    assert_int_equal(SUMMARY_N(r.all, comm), 0);
    assert_true(str_eq(SUMMARY_ROWS(r.all, failure)->reason, STR("it is none")));
    assert_int_equal(summary_encode(r.all, STR_NONE, &bytes, NULL), OK);
    summary_free(r.all);
    transport_close(&t, true);
    return bytes;
}

static void every_number_of_threads_gives_the_same_bytes(void **state) {
    place p;
    begin(&p);
    buf want = reduce(&p, 1);
    for (int threads = 2; threads < 9; threads += 3) {
        buf got = reduce(&p, threads);
        assert_int_equal(got.n, want.n);
        assert_memory_equal(got.p, want.p, want.n);
        buf_fini(&got);
    }
    buf_fini(&want);
    end(&p);
}

static void alone_a_process_talks_to_itself(void **state) {
    transport t;
    buf give = {0}, take = {0};
    unsetenv("OMPI_COMM_WORLD_SIZE");
    unsetenv("PMI_SIZE");
    unsetenv("SLURM_STEP_NUM_TASKS");
    assert_false(transport_is_launched());
    assert_int_equal(transport_open(&t, "tacho", NULL), OK);
    assert_int_equal(t.size, 1);
    for (int i = 0; i < 3; i++) assert_int_equal(transport_take(&t), i);
    buf_add_cstr(&give, "what I say");
    assert_int_equal(transport_exchange(&t, &give, &take, NULL), OK);
    assert_true(str_eq(buf_str(&take), STR("what I say")));
    buf_fini(&give);
    buf_fini(&take);
    transport_close(&t, true);
}

static void a_launcher_without_the_plug_in_is_an_error_that_says_so(void **state) {
    transport t;
    error err;
    setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
    assert_true(transport_is_launched());
    assert_int_equal(transport_open(&t, "/nowhere/bin/tacho", &err), ERR_UNSUPPORTED);
    assert_int_equal(err.message, MSG_CLUSTER_NO_PLUGIN);
    unsetenv("OMPI_COMM_WORLD_SIZE");
}

static void tasks_of_srun_that_do_not_know_each_other_are_refused(void **state) {
    transport t;
    error err;
    setenv("SLURM_STEP_NUM_TASKS", "4", 1);
    assert_false(transport_is_launched());
    assert_int_equal(transport_open(&t, "tacho", &err), ERR_ARG);
    assert_int_equal(err.message, MSG_CLUSTER_NO_PMI);
    setenv("SLURM_STEP_NUM_TASKS", "1", 1);
    assert_int_equal(transport_open(&t, "tacho", &err), OK);
    transport_close(&t, true);
    unsetenv("SLURM_STEP_NUM_TASKS");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_a_process_talks_to_itself),
        cmocka_unit_test(every_number_of_threads_gives_the_same_bytes),
        cmocka_unit_test(a_launcher_without_the_plug_in_is_an_error_that_says_so),
        cmocka_unit_test(tasks_of_srun_that_do_not_know_each_other_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
