/* xplane_cpu_test.c: programs that XLA runs on the CPU, as work of a device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ingest/xplane/xplane.h"
#include "unit/ingest/made_profile.h"
#include "unit/ingest/read_helper.h"

static trace *read_profile(const buf *file) {
    error err = {0};
    trace *t = read_with(ingest_xplane, buf_str(file), (read_how){0}, &err);
    assert_non_null(t);
    return t;
}

/* An instruction of jit_step, program 7; `number` joins it with its end. */
static void put_instruction(plane_writer *p, buf *events, const char *name, uint64_t start,
                            uint64_t dur, int64_t number) {
    buf e = event_of(p, name, start, dur);
    put_stat_ref(p, &e, 4, "hlo_op", name);
    put_stat_ref(p, &e, 4, "hlo_module", "jit_step");
    put_stat_int(p, &e, 4, "program_id", 7);
    put_stat_int(p, &e, 4, "run_id", 100);
    put_stat_int(p, &e, 4, "device_ordinal", 2);
    put_stat_int(p, &e, 4, "_p", number);
    put_message(events, 4, &e);
}

static void put_end(plane_writer *p, buf *events, const char *name, uint64_t at,
                    int64_t number) {
    buf e = event_of(p, name, at, 1);
    put_stat_int(p, &e, 4, "_c", number);
    put_message(events, 4, &e);
}

/* One call of a function; on a thread of XLA a loop with two products, and a sum after it whose
 * result comes later, on another thread. */
static buf cpu_profile(void) {
    buf file = {0}, python = {0}, one = {0}, two = {0};
    plane_writer p = begin_plane("/host:CPU");
    put_event(&p, &python, "PjitFunction(step)", 1000, 900);
    put_event(&p, &python, "CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice", 1100,
              700);
    put_event(&p, &python, "CommonPjRtLoadedExecutable::ExecutePrepare", 1110, 300);
    put_event(&p, &python, "CommonPjRtClient::CreateOutputs", 1750, 20);
    put_instruction(&p, &one, "while.3", 2000, 500, 1);
    put_instruction(&p, &one, "dot.1", 2010, 100, 2);
    put_end(&p, &one, "end: dot.1", 2110, 2);
    put_instruction(&p, &one, "dot.1", 2200, 100, 3);
    put_end(&p, &one, "end: dot.1", 2300, 3);
    put_instruction(&p, &one, "add.2", 2600, 50, 4);
    put_end(&p, &two, "end: add.2", 2900, 4);
    put_line(&p, -1, "python", &python);
    put_line(&p, -2, "tf_XLAEigen/1", &one);
    put_line(&p, -3, "tf_XLAEigen/2", &two);
    end_plane(&p, &file);
    return file;
}

static void instructions_are_work_of_a_device_and_know_their_call(void **state) {
    buf file = cpu_profile();
    trace *t = read_profile(&file);
    assert_int_equal(t->kernel.n - 1, 3);
    assert_int_equal(t->device.n - 1, 1);
    assert_int_equal(t->device.id[1], 2);
    assert_string_equal(text_of_id(t, t->device.name[1]), "CPU");
    assert_int_equal(t->device.type[1], DEVICE_NAMED);
    assert_string_equal(text_of_id(t, t->device_word.name[1]), "CPU");
    for (uint32_t k = 1; k <= 3; k++) {
        assert_int_equal(t->kernel.device[k], 2);
        assert_string_equal(text_of_id(t, t->slice.name[t->kernel.launch[k]]),
                            "CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice");
        assert_true(t->kernel.op[k] != 0);
    }
    assert_string_equal(text_of_id(t, t->slice.name[t->kernel.op[1]]), "dot");
    assert_int_equal(t->kind_count[KIND_OP], 3); /* one for each, and none on XLA's threads */
    trace_release(t);
    buf_fini(&file);
}

static void an_instruction_runs_until_its_result_is_there(void **state) {
    buf file = cpu_profile();
    trace *t = read_profile(&file);
    uint32_t sum = t->kernel.slice[3];
    assert_string_equal(text_of_id(t, t->slice.name[sum]), "add.2");
    assert_int_equal(t->slice.start[sum], 2600 + 500);
    assert_int_equal(t->slice.dur[sum], 300);
    trace_release(t);
    buf_fini(&file);
}

static void loops_hold_work_and_are_none(void **state) {
    buf file = cpu_profile();
    trace *t = read_profile(&file);
    for (uint32_t k = 1; k < t->kernel.n; k++)
        assert_string_not_equal(text_of_id(t, t->slice.name[t->kernel.slice[k]]), "while.3");
    trace_release(t);
    buf_fini(&file);
}

/* Operators of a call are drawn where nothing else is: from 1410 to 1750. */
static void operators_of_a_call_overlap_nothing(void **state) {
    buf file = cpu_profile();
    trace *t = read_profile(&file);
    assert_int_equal(trace_quality(t, CAUSE_PARTIAL_OVERLAP), 0);
    for (uint32_t i = 1; i < t->slice.n; i++) {
        if (t->slice.kind[i] != KIND_OP) continue;
        assert_true(t->slice.start[i] >= 1410 + 500);
        assert_true(t->slice.start[i] + t->slice.dur[i] <= 1750 + 500);
    }
    trace_release(t);
    buf_fini(&file);
}

static void events_are_counted_once(void **state) {
    buf file = cpu_profile();
    trace *t = read_profile(&file);
    assert_int_equal(t->events_read, 4 + 7);
    trace_release(t);
    buf_fini(&file);
}

static void with_an_accelerator_the_cpu_is_the_host(void **state) {
    buf file = cpu_profile(), events = {0};
    plane_writer p = begin_plane("/device:GPU:0");
    put_event(&p, &events, "fusion_1", 3000, 100);
    put_line(&p, 14, "Stream #14(Compute)", &events);
    end_plane(&p, &file);
    trace *t = read_profile(&file);
    assert_int_equal(t->kernel.n - 1, 1);
    assert_int_equal(t->kind_count[KIND_OP], 4); /* on XLA's thread, the loop, too */
    trace_release(t);
    buf_fini(&file);
}

/* Versions before 0.7 of jaxlib. */
static void without_numbers_of_runs_operations_stay_on_their_threads(void **state) {
    buf file = {0}, events = {0};
    plane_writer p = begin_plane("/host:CPU");
    buf e = event_of(&p, "dot.1", 100, 50);
    put_stat_ref(&p, &e, 4, "hlo_op", "dot.1");
    put_message(&events, 4, &e);
    put_line(&p, -2, "tf_XLAEigen/1", &events);
    end_plane(&p, &file);
    trace *t = read_profile(&file);
    assert_int_equal(t->kernel.n - 1, 0);
    assert_int_equal(t->kind_count[KIND_OP], 1);
    trace_release(t);
    buf_fini(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_are_work_of_a_device_and_know_their_call),
        cmocka_unit_test(an_instruction_runs_until_its_result_is_there),
        cmocka_unit_test(loops_hold_work_and_are_none),
        cmocka_unit_test(operators_of_a_call_overlap_nothing),
        cmocka_unit_test(events_are_counted_once),
        cmocka_unit_test(with_an_accelerator_the_cpu_is_the_host),
        cmocka_unit_test(without_numbers_of_runs_operations_stay_on_their_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
