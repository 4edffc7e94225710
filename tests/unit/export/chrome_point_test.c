/* chrome_point_test.c: instants, memory events, counters, stored arrows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "unit/export/export_helper.h"
#include "unit/store/sample_trace.h"

static const export_options CHROME = {.form = {"chrome", 6}};

static void chrome_memory_events_say_what_is_known(void **state) {
    trace *t = sample_trace();
    ((uint8_t *)(uintptr_t)t->memory.kind)[1] = MEMORY_OOM;
    ((uint64_t *)(uintptr_t)t->memory.address)[1] = 0;
    ((int32_t *)(uintptr_t)t->memory.device)[1] = ABSENT_I32;
    ((int64_t *)(uintptr_t)t->memory.reserved)[1] = ABSENT_I64;
    char *text = export_text(t, &CHROME);
    assert_int_equal(count_of(text, "\"name\":\"[OutOfMemory]\",\"s\":\"t\""), 1);
    assert_int_equal(count_of(text, "\"args\":{\"Device Type\":1,\"Device "
                                    "Id\":-1,\"Bytes\":512,\"Total Allocated\":512}}"),
                     1);
    free(text);
    ((uint32_t *)(uintptr_t)t->memory.args)[1] = 1; /* the producer's own words win */
    text = export_text(t, &CHROME);
    assert_int_equal(
        count_of(text, "\"name\":\"[OutOfMemory]\",\"s\":\"t\",\"pid\":100,\"tid\":100,"
                       "\"ts\":7693164000022.000,\"args\":{\"External id\":1,\"Ev Idx\":0}}"),
        1);
    free(text);
    trace_release(t);
}

static void chrome_samples_at_different_times_are_different_events(void **state) {
    trace *t = sample_trace();
    ((int64_t *)(uintptr_t)t->counter.time)[2] = 51000;
    char *text = export_text(t, &CHROME);
    assert_int_equal(count_of(text, "\"ph\":\"C\""), 2);
    assert_int_equal(count_of(text, "\"args\":{\"free\":3}}"), 1);
    assert_true(is_json(text));
    free(text);
    trace_release(t);
}

static void chrome_points_outside_the_window_are_left_out(void **state) {
    trace *t = sample_trace();
    char *text = export_text(
        t, &(export_options){.form = STR("chrome"), .window = &(time_window){60000, 119000}});
    assert_int_equal(count_of(text, "\"ph\":\"C\""), 0);
    assert_int_equal(count_of(text, "\"ph\":\"i\""),
                     0); /* the end does not belong to the window */
    assert_int_equal(count_of(text, "fwdbwd"), 0);
    free(text);
    text = export_text(t, &(export_options){.form = STR("chrome"),
                                            .window = &(time_window){119000, OPEN_END}});
    assert_int_equal(count_of(text, "\"ph\":\"i\""), 1);
    free(text);
    trace_release(t);
}

static void chrome_flows_without_an_id_use_their_row(void **state) {
    trace *t = sample_trace();
    ((int64_t *)(uintptr_t)t->flow.id)[1] = ABSENT_I64;
    ((uint8_t *)(uintptr_t)t->flow.kind)[1] = FLOW_OTHER;
    char *text = export_text(t, &CHROME);
    assert_int_equal(count_of(text, "\"cat\":\"fwdbwd\""), 2); /* its own name */
    assert_int_equal(count_of(text, "\"id\":1}"), 2);
    free(text);
    ((uint32_t *)(uintptr_t)t->flow.to)[1] = 0;
    text = export_text(t, &CHROME);
    assert_int_equal(count_of(text, "fwdbwd"), 0);
    free(text);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chrome_memory_events_say_what_is_known),
        cmocka_unit_test(chrome_samples_at_different_times_are_different_events),
        cmocka_unit_test(chrome_points_outside_the_window_are_left_out),
        cmocka_unit_test(chrome_flows_without_an_id_use_their_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
