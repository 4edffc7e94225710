/* rec_trigger_test.c: rules that write what a flight recorder has. */
#include "unit/record/record_helper.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/rec_int.h"
#include "record/rec_trigger.h"

static const char *folder;

static void start(const char *rules) {
    folder = fresh_folder();
    tacho_options o = {
        .size = sizeof o, .path = folder, .flight_seconds = 60, .trigger = rules};
    assert_int_equal(tacho_start(&o), TACHO_OK);
}

static void step_for_ms(int ms) {
    TACHO_BEGIN("work");
    usleep((useconds_t)ms * 1000);
    TACHO_END();
    tacho_step();
}

/* Files that were written; *first gets the oldest. The open one ends in .tmp. */
static int dumps(char *first) {
    char names[16][512];
    int all = list_recordings(names, 16), n = 0;
    for (int i = all; i-- > 0;) {
        if (!str_ends(str_of(names[i]), STR(".tacho"))) continue;
        if (first) snprintf(first, 512, "%s", names[i]);
        n++;
    }
    return n;
}

static int n_dumps(void) {
    return dumps(NULL);
}

/* The first file that was written; waits for it. */
static trace *wait_for_dump(void) {
    char path[512];
    for (int i = 0; i < 3000; i++, usleep(10000))
        if (dumps(path) > 0) return read_recording(path);
    fail_msg("nothing was written");
    return NULL;
}

static void check_dump(const char *rule) {
    char words[64];
    trace *t = wait_for_dump();
    str note = trace_meta(t, STR("note"));
    snprintf(words, sizeof words, "written because of %s", rule);
    if (str_find(note, str_of(words), 0) == SIZE_MAX)
        fail_msg("the note is %.*s", STR_ARG(note));
    trace_release(t);
}

static void a_slow_step_is_written_with_those_before_it(void **state) {
    start("slow=50"); /* a busy machine may hold any step up for a while */
    for (int i = 0; i < 20; i++) step_for_ms(i == 15 ? 2500 : 10);
    trace *t = wait_for_dump();
    assert_int_equal(tacho_stop(), TACHO_OK);
    uint32_t last = t->step.n - 1;
    assert_int_equal(t->step.number[last], 15);
    assert_true(t->step.end[last] - t->step.start[last] > 2000000000);
    assert_true(t->step.n > 10);
    assert_true(
        str_eq(trace_meta(t, STR("trigger")), STR("{\"rule\": \"slow\", \"rank\": -1}")));
    trace_release(t);
}

static void even_steps_write_nothing(void **state) {
    start("slow=1000,hang=60,nan,oom");
    for (int i = 0; i < 20; i++) step_for_ms(5);
    usleep(300000);
    assert_int_equal(n_dumps(), 0);
    assert_int_equal(tacho_alarm("other", "x"), TACHO_OFF);
}

static void a_hang_is_written_once(void **state) {
    start("hang=0.4");
    for (int i = 0; i < 4; i++) step_for_ms(5);
    TACHO_BEGIN("stuck");
    check_dump("hang");
    TACHO_END();
    usleep(900000);
    assert_int_equal(n_dumps(), 1);
}

static void a_counter_that_is_not_a_number_is_written(void **state) {
    start("nan");
    tacho_counter("loss", 1.5);
    usleep(100000);
    assert_int_equal(n_dumps(), 0);
    tacho_counter("loss", NAN);
    check_dump("nan");
}

static void memory_that_ran_out_is_written_at_once(void **state) {
    start("oom");
    assert_int_equal(tacho_alarm("nan", "x"), TACHO_OFF);
    assert_int_equal(tacho_alarm("oom", "8 GiB were asked for"), TACHO_OK);
    assert_int_equal(n_dumps(), 1);
    check_dump("oom");
}

static void a_signal_is_a_trigger(void **state) {
    start("signal=USR2");
    assert_int_equal(kill(getpid(), SIGUSR2), 0);
    check_dump("signal");
}

static void put_text(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void a_file_is_a_trigger_when_it_appears(void **state) {
    char path[512], rules[600];
    snprintf(path, sizeof path, "%s.now", fresh_folder());
    (void)unlink(path);
    snprintf(rules, sizeof rules, "file=%s", path);
    start(rules);
    usleep(100000);
    assert_int_equal(n_dumps(), 0);
    put_text(path, "now");
    check_dump("file");
    (void)unlink(path);
}

/* Another process of the folder fired: this one writes the same steps, when it has them. */
static void what_another_rank_saw_is_written_here_too(void **state) {
    char path[512];
    start("slow=1000");
    for (int i = 0; i < 3; i++) step_for_ms(5);
    snprintf(path, sizeof path, "%s/.triggers", folder);
    (void)mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/.triggers/1", folder);
    put_text(path, "slow 7 1 4 step 4 took long\n");
    usleep(500000);
    assert_int_equal(n_dumps(), 0); /* step 4 has not ended here */
    for (int i = 0; i < 3; i++) step_for_ms(5);
    trace *t = wait_for_dump();
    assert_int_equal(t->step.number[1], 1);
    assert_int_equal(t->step.number[t->step.n - 1], 4);
    assert_true(str_find(trace_meta(t, STR("note")), STR("rank 7"), 0) != SIZE_MAX);
    trace_release(t);
}

/* Another rank was asked a moment ago, and this one wrote, too: that is what it gives when asked. */
static void a_request_to_all_ranks_gets_one_file_of_each(void **state) {
    char path[512], first[512] = "", second[4096] = "", third[4096] = "";
    start(NULL);
    usleep(300000);
    snprintf(path, sizeof path, "%s/.triggers", folder);
    (void)mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/.triggers/1", folder);
    put_text(path, "attach 0 -1 -1 because it was asked\n");
    for (int i = 0; i < 3000 && dumps(first) == 0; i++) usleep(1000);
    assert_int_equal(rec_trigger_outside("attach", "why", second, sizeof second), TACHO_OK);
    assert_string_equal(first, second);
    assert_int_equal(rec_trigger_outside("attach", "why", third, sizeof third), TACHO_OK);
    assert_string_not_equal(second, third);
    assert_int_equal(n_dumps(), 2);
}

static void damage_in_the_folder_is_survived(void **state) {
    char path[512];
    start("slow=1000");
    usleep(300000); /* what was there before it looked is not its own */
    snprintf(path, sizeof path, "%s/.triggers", folder);
    (void)mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/.triggers/1", folder);
    put_text(path, "\xff\xfe%n%s");
    check_dump("unknown");
}

static int tear_down(void **state) {
    (void)tacho_stop();
    remove_folder();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_slow_step_is_written_with_those_before_it, tear_down),
        cmocka_unit_test_teardown(even_steps_write_nothing, tear_down),
        cmocka_unit_test_teardown(a_hang_is_written_once, tear_down),
        cmocka_unit_test_teardown(a_counter_that_is_not_a_number_is_written, tear_down),
        cmocka_unit_test_teardown(memory_that_ran_out_is_written_at_once, tear_down),
        cmocka_unit_test_teardown(a_signal_is_a_trigger, tear_down),
        cmocka_unit_test_teardown(a_file_is_a_trigger_when_it_appears, tear_down),
        cmocka_unit_test_teardown(what_another_rank_saw_is_written_here_too, tear_down),
        cmocka_unit_test_teardown(a_request_to_all_ranks_gets_one_file_of_each, tear_down),
        cmocka_unit_test_teardown(damage_in_the_folder_is_survived, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
