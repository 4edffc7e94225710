/* recording_xla_test.c: a profile of XLA next to a recording becomes part of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ingest/recording/recording.h"
#include "ingest/xplane/xplane.h"
#include "unit/ingest/made_profile.h"
#include "unit/ingest/made_recording.h"
#include "unit/ingest/read_helper.h"

#define START_UNIX_NS 1700000000000000000
#define NAME ".xla-1700000000000100000-100.pb"

static char folder[64];

static int make_folder(void **state) {
    strcpy(folder, "/tmp/tacho_xla_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    char path[128];
    snprintf(path, sizeof path, "%s/" NAME, folder);
    (void)unlink(path);
    return rmdir(folder);
}

static void write_next_to(const char *name, str bytes) {
    char path[160];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes.p, 1, bytes.n, f), bytes.n);
    assert_int_equal(fclose(f), 0);
}

/* 0.1 ms after the start of the recording: a call on thread 77, a step, a thread of XLA's. */
static buf small_profile(void) {
    buf file = {0}, python = {0}, threads = {0};
    plane_writer p = begin_plane("/host:CPU"), task = begin_plane("Task Environment");
    buf mark = event_of(&p, XPLANE_THREAD, 0, 1);
    put_stat_int(&p, &mark, 4, "tid", 77);
    buf step = event_of(&p, "train", 1000, 4000);
    put_stat_int(&p, &step, 4, "step_num", 5);
    put_message(&python, 4, &mark);
    put_message(&python, 4, &step);
    put_event(&p, &python, "PjitFunction(step)", 2000, 1000);
    put_event(&p, &threads, "ThunkExecutor::Execute", 2500, 1000);
    put_line(&p, -5, "python", &python);
    put_line(&p, -6, "tf_XLAEigen/1", &threads);
    end_plane(&p, &file);
    put_stat_int(&task, &task.stats, 6, "profile_start_time", START_UNIX_NS + 100000);
    end_plane(&task, &file);
    return file;
}

static void put_fact(made_recording *m, const char *key, const char *value) {
    char fixed[64];
    uint64_t n = strlen(key);
    memcpy(fixed, &n, sizeof n);
    memcpy(fixed + sizeof n, key, n);
    made_side(m, TACHO_SIDE_META, fixed, sizeof n + n, value);
}

static made_recording recording_with(const char *profile) {
    made_recording m = made_new();
    made_header(&m)->state = TACHO_FILE_STOPPED;
    made_header(&m)->stop_tick = made_header(&m)->start_tick + 1000000;
    made_name(&m, 1, "range");
    made_event(&m, 101000, 1, TACHO_EVENT_BEGIN, TACHO_RANGE_PLAIN, NULL, 0);
    made_event(&m, 109000, 0, TACHO_EVENT_END, 0, NULL, 0);
    put_fact(&m, "framework", "\"JAX\"");
    put_fact(&m, "xlaProfile", profile);
    return m;
}

static trace *read_there(const made_recording *m) {
    char path[128];
    source *s;
    trace *t = NULL;
    error err = {0};
    snprintf(path, sizeof path, "%s/x.tacho", folder);
    ingest_options how = {.path = path};
    builder *b = builder_new();
    assert_int_equal(source_open_memory(str_n((const char *)m->p, m->n), &s, NULL), OK);
    assert_int_equal(ingest_recording(s, &how, b, &err), OK);
    assert_int_equal(builder_seal(b, NULL, &t, &err), OK);
    source_close(s);
    builder_free(b);
    return t;
}

static void threads_and_times_are_those_of_the_recording(void **state) {
    buf profile = small_profile();
    write_next_to(NAME, buf_str(&profile));
    made_recording m = recording_with("\"" NAME "\"");
    trace *t = read_there(&m);
    uint32_t call = find_slice(t, "PjitFunction(step)"), range = find_slice(t, "range");
    assert_int_equal(t->slice.start[call], 100000 + 500 + 2000);
    assert_int_equal(trace_track_of(t, call), trace_track_of(t, range));
    assert_int_equal(t->track.tid[trace_track_of(t, call)], 77);
    uint32_t other = find_slice(t, "ThunkExecutor::Execute");
    assert_true(trace_track_of(t, other) != trace_track_of(t, call));
    assert_int_equal(t->process.pid[t->track.process[trace_track_of(t, other)]], 100);
    assert_int_equal(t->base_unix_ns, START_UNIX_NS);
    assert_true(str_eq(t->format, STR("tacho_recording_jax")));
    assert_int_equal(t->note.n - 1, 0);
    for (uint32_t i = 1; i < t->slice.n; i++)
        assert_false(str_eq(trace_slice_name(t, i), STR(XPLANE_THREAD)));
    trace_release(t);
    made_free(&m);
    buf_fini(&profile);
}

static void steps_of_the_profile_count_where_the_recording_has_none(void **state) {
    buf profile = small_profile();
    write_next_to(NAME, buf_str(&profile));
    made_recording m = recording_with("\"" NAME "\"");
    trace *t = read_there(&m);
    assert_int_equal(t->step.n - 1, 1);
    assert_int_equal(t->step.number[1], 5);
    trace_release(t);
    tacho_step_slot first = {.number = 30}, second = {.number = 31};
    made_event(&m, 200000, 0, TACHO_EVENT_STEP, 0, &first, sizeof first);
    made_event(&m, 300000, 0, TACHO_EVENT_STEP, 1, &second, sizeof second);
    t = read_there(&m);
    assert_int_equal(t->step.n - 1, 1);
    assert_int_equal(t->step.number[1], 30);
    assert_int_equal(t->slice.kind[find_slice(t, "train")], KIND_ANNOTATION);
    trace_release(t);
    made_free(&m);
    buf_fini(&profile);
}

/* A GPU: its work is on its own number, as in recordings with CUPTI, and knows its launch. */
static void device_work_is_launched_by_threads_of_the_recording(void **state) {
    buf profile = small_profile(), events = {0}, calls = {0};
    plane_writer gpu = begin_plane("/device:GPU:1"), host = begin_plane("/host:CPU");
    buf kernel = event_of(&gpu, "fusion_1", 4000, 100);
    put_stat_int(&gpu, &kernel, 4, "correlation_id", 9);
    put_stat_ref(&gpu, &kernel, 4, "kernel_details", "regs:32 grid:1,1,1 block:64,1,1");
    put_message(&events, 4, &kernel);
    put_line(&gpu, 14, "Stream #14(Compute)", &events);
    end_plane(&gpu, &profile);
    buf mark = event_of(&host, XPLANE_THREAD, 0, 1),
        call = event_of(&host, "cuLaunchKernel", 3500, 50);
    put_stat_int(&host, &mark, 4, "tid", 77);
    put_stat_int(&host, &call, 4, "correlation_id", 9);
    put_message(&calls, 4, &mark);
    put_message(&calls, 4, &call);
    put_line(&host, -5, "python", &calls);
    end_plane(&host, &profile);
    write_next_to(NAME, buf_str(&profile));
    made_recording m = recording_with("\"" NAME "\"");
    trace *t = read_there(&m);
    assert_int_equal(t->kernel.n - 1, 1);
    assert_int_equal(t->kernel.device[1], 1);
    uint32_t launch = t->kernel.launch[1];
    assert_true(launch != 0);
    assert_int_equal(trace_track_of(t, launch), trace_track_of(t, find_slice(t, "range")));
    assert_int_equal(t->process.pid[t->track.process[trace_track_of(t, t->kernel.slice[1])]],
                     1);
    trace_release(t);
    made_free(&m);
    buf_fini(&profile);
}

/* One call, and what it ran on the first CPU. */
static buf cpu_profile(void) {
    buf file = {0}, python = {0}, threads = {0};
    plane_writer p = begin_plane("/host:CPU");
    put_event(&p, &python, "PjitFunction(step)", 2000, 1000);
    put_event(&p, &python, "CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice", 2100,
              700);
    buf work = event_of(&p, "dot.1", 4000, 100);
    put_stat_ref(&p, &work, 4, "hlo_op", "dot.1");
    put_stat_ref(&p, &work, 4, "hlo_module", "jit_step");
    put_stat_int(&p, &work, 4, "program_id", 7);
    put_stat_int(&p, &work, 4, "run_id", 100);
    put_stat_int(&p, &work, 4, "device_ordinal", 0);
    put_message(&threads, 4, &work);
    put_line(&p, -5, "python", &python);
    put_line(&p, -6, "tf_XLAEigen/1", &threads);
    end_plane(&p, &file);
    return file;
}

/* JAX was to use the CPU (JAX_PLATFORMS=cpu) on a machine with two GPUs. */
static made_recording recording_with_gpus(void) {
    made_recording m = recording_with("\"" NAME "\"");
    put_fact(&m, "deviceProperties",
             "[{\"id\": 0, \"name\": \"GPU\"}, {\"id\": 1, \"name\": \"GPU\"}]");
    return m;
}

static void gpus_of_the_machine_are_none_of_a_program_on_the_cpu(void **state) {
    buf profile = cpu_profile();
    write_next_to(NAME, buf_str(&profile));
    made_recording m = recording_with_gpus();
    trace *t = read_there(&m);
    assert_int_equal(t->device.n - 1, 1);
    assert_int_equal(t->device.id[1], 0);
    assert_string_equal(text_of_id(t, t->device.name[1]), "CPU");
    assert_int_equal(t->kernel.device[1], 0);
    trace_release(t);
    made_free(&m);
    buf_fini(&profile);
}

static void a_cpu_next_to_gpus_that_work_has_its_own_number(void **state) {
    buf profile = cpu_profile();
    write_next_to(NAME, buf_str(&profile));
    made_recording m = recording_with_gpus();
    tacho_device_slots w = {.start_tick = 1000500, .end_tick = 1000900, .device = 0};
    made_event(&m, 1000900, 1, TACHO_EVENT_DEVICE, TACHO_RANGE_KERNEL, &w, sizeof w);
    trace *t = read_there(&m);
    assert_int_equal(t->device.n - 1, 3);
    assert_int_equal(t->kernel.n - 1, 2);
    assert_int_equal(t->kernel.device[1] + t->kernel.device[2], 0 + 2);
    for (uint32_t i = 1; i < t->device.n; i++)
        assert_string_equal(text_of_id(t, t->device.name[i]),
                            t->device.id[i] == 2 ? "CPU" : "GPU");
    trace_release(t);
    made_free(&m);
    buf_fini(&profile);
}

static void expect_note(const char *profile, bool expected) {
    made_recording m = recording_with(profile);
    trace *t = read_there(&m);
    assert_int_equal(t->note.n - 1, expected);
    assert_int_equal(find_slice(t, "range") != 0, 1); /* all else is there */
    trace_release(t);
    made_free(&m);
}

static void one_that_is_missing_or_damaged_is_a_remark(void **state) {
    expect_note("\"" NAME "\"", true);
    write_next_to(NAME, STR(""));
    expect_note("\"" NAME "\"", true);
}

/* The program took the profiler; an earlier recording of the process; not of this folder. */
static void names_that_are_none_are_left_alone(void **state) {
    expect_note("\"none\"", false);
    expect_note("\".xla-1699999999999999999-100.pb\"", false);
    expect_note("\"../.xla-1700000000000100000-100.pb\"", false);
    expect_note("\".xla-1700000000000100000/../x-100.pb\"", false);
    expect_note("7", false);
}

int main(void) {
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(threads_and_times_are_those_of_the_recording),
        IN_FOLDER(steps_of_the_profile_count_where_the_recording_has_none),
        IN_FOLDER(device_work_is_launched_by_threads_of_the_recording),
        IN_FOLDER(gpus_of_the_machine_are_none_of_a_program_on_the_cpu),
        IN_FOLDER(a_cpu_next_to_gpus_that_work_has_its_own_number),
        IN_FOLDER(one_that_is_missing_or_damaged_is_a_remark),
        IN_FOLDER(names_that_are_none_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
