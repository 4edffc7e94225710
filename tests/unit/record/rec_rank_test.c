/* rec_rank_test.c: which of the many processes of a job a recording is of. */
#include "unit/record/record_helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "record/rec_int.h"
#include "store/traits.h"

static int64_t number_in(const trace *t, const char *key, const char *member) {
    int64_t v = -1;
    str text = trace_meta(t, str_of(key));
    if (member) text = json_member(text, str_of(member));
    return json_i64(text, &v) ? v : -1;
}

/* What the variables of each launcher say; those that it does not set are NULL. */
static void every_launcher_is_understood(void **state) {
    static const struct {
        const char *launcher, *rank, *world, *local;
        int64_t n_world;
    } ALL[] = {{"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", 8},
               {"horovodrun", "HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_RANK", 8},
               {"paddle.distributed.launch", "PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM",
                "PADDLE_RANK_IN_NODE", 8},
               {"msrun", "RANK_ID", "RANK_SIZE", "DEVICE_ID", 8},
               {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                "OMPI_COMM_WORLD_LOCAL_RANK", 8},
               {"mpirun", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", 8},
               {"srun", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", 8},
               {"mpirun", "PMIX_RANK", NULL, NULL, -1},
               {"kubernetes", "JOB_COMPLETION_INDEX", NULL, NULL, -1}};
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++) {
        char path[4096];
        setenv(ALL[i].rank, "5", 1);
        if (ALL[i].world) setenv(ALL[i].world, "8", 1);
        if (ALL[i].local) setenv(ALL[i].local, "1", 1);
        fresh_folder();
        start_all();
        trace *t = stop_and_read();
        unsetenv(ALL[i].rank);
        if (ALL[i].world) unsetenv(ALL[i].world);
        if (ALL[i].local) unsetenv(ALL[i].local);
        (void)tacho_path(path, sizeof path);
        assert_non_null(strstr(path, "/rank5."));
        assert_int_equal(trace_rank(t), 5);
        assert_int_equal(number_in(t, "distributedInfo", "world_size"), ALL[i].n_world);
        assert_int_equal(number_in(t, "distributedInfo", "local_rank"), ALL[i].local ? 1 : -1);
        str info = trace_meta(t, STR("distributedInfo"));
        str launcher = json_text(json_member(info, STR("launcher")));
        assert_true(str_eq(launcher, str_of(ALL[i].launcher)));
        assert_true(str_eq(trace_meta(t, STR("role")), STR("\"rank\"")));
        assert_int_equal(number_in(t, "pid", NULL), getpid());
        assert_int_equal(number_in(t, "parent_pid", NULL), getppid());
        trace_release(t);
    }
}

static void a_program_alone_has_no_role(void **state) {
    fresh_folder();
    start_all();
    trace *t = stop_and_read();
    assert_int_equal(trace_rank(t), ABSENT_I64);
    assert_int_equal(trace_meta(t, STR("role")).n, 0);
    trace_release(t);
}

static char child_path[512];

static void record_in_child(void) {
    tacho_options o = {.size = sizeof o, .path = child_path};
    if (tacho_start(&o) != TACHO_OK) _exit(1);
    tacho_meta("role", "data_loader");
    if (tacho_stop() != TACHO_OK) _exit(2);
}

static void a_worker_of_a_loader_belongs_to_its_rank(void **state) {
    snprintf(child_path, sizeof child_path, "%s/child.tacho", fresh_folder());
    setenv("RANK", "1", 1);
    setenv("WORLD_SIZE", "2", 1);
    int how = in_child(record_in_child);
    unsetenv("RANK");
    unsetenv("WORLD_SIZE");
    assert_int_equal(how, 0);
    trace *t = read_recording(child_path);
    assert_int_equal(trace_rank(t), ABSENT_I64);
    assert_true(str_eq(trace_meta(t, STR("role")), STR("\"data_loader\"")));
    assert_int_equal(number_in(t, "of_rank", NULL), 1);
    assert_int_equal(number_in(t, "of_pid", NULL), getpid());
    trace_release(t);
}

static void learn_late(void) {
    char path[4096];
    tacho_options o = {.size = sizeof o, .path = child_path};
    if (tacho_start(&o) != TACHO_OK) _exit(1);
    (void)tacho_path(path, sizeof path);
    if (!strstr(path, ".child_")) _exit(2);
    tacho_meta("role", "data_loader");
    (void)tacho_path(path, sizeof path);
    if (!strstr(path, ".loader_") || access(path, R_OK) != 0) _exit(3);
    if (tacho_stop() != TACHO_OK) _exit(4);
}

/* A spawned worker of a loader imports its modules, which may be recorded, before it runs the loop
 * that says what it is. */
static void a_role_set_late_changes_the_name(void **state) {
    char names[4][512];
    snprintf(child_path, sizeof child_path, "%s", fresh_folder());
    assert_int_equal(in_child(learn_late), 0);
    assert_int_equal(list_recordings(names, 4), 1);
    assert_non_null(strstr(names[0], ".loader_"));
    trace *t = read_recording(names[0]);
    assert_true(str_eq(trace_meta(t, STR("role")), STR("\"data_loader\"")));
    trace_release(t);
}

static void check_child(void) {
    int64_t rank, world;
    if (rec_rank(NULL, &rank, &world)) _exit(1);
    tacho_rank(2, 4);
    if (!rec_rank(NULL, &rank, &world) || rank != 2 || world != 4) _exit(2);
}

static void a_child_has_no_rank_until_it_says_so(void **state) {
    setenv("RANK", "1", 1);
    setenv("WORLD_SIZE", "2", 1);
    int how = in_child(check_child);
    unsetenv("RANK");
    unsetenv("WORLD_SIZE");
    assert_int_equal(how, 0);
}

static void a_test_is_not_a_launcher(void **state) {
    assert_false(rec_is_launcher());
}

/* The last test: what a program says holds for its life. */
static void the_programs_word_beats_the_launchers(void **state) {
    int64_t rank, world;
    fresh_folder();
    setenv("RANK", "1", 1);
    setenv("WORLD_SIZE", "2", 1);
    assert_true(rec_rank(NULL, &rank, &world));
    assert_int_equal(rank, 1);
    start_all();
    tacho_rank(3, 9); /* later than the file was begun */
    assert_true(rec_rank(NULL, &rank, &world));
    assert_int_equal(rank, 3);
    trace *t = stop_and_read();
    assert_int_equal(trace_rank(t), 3);
    trace_release(t);
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
        cmocka_unit_test_teardown(every_launcher_is_understood, tear_down),
        cmocka_unit_test_teardown(a_program_alone_has_no_role, tear_down),
        cmocka_unit_test_teardown(a_worker_of_a_loader_belongs_to_its_rank, tear_down),
        cmocka_unit_test_teardown(a_role_set_late_changes_the_name, tear_down),
        cmocka_unit_test_teardown(a_child_has_no_rank_until_it_says_so, tear_down),
        cmocka_unit_test(a_test_is_not_a_launcher),
        cmocka_unit_test_teardown(the_programs_word_beats_the_launchers, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
