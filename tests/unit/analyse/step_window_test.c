/* step_window_test.c: steps as a stretch of time, from the first to the end of the last. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analyse/timeline/step_window.h"
#include "store/builder.h"

/* Steps 3, 4, 5 of 100 ns each, from 1000 on. */
static trace *three_steps(void) {
    builder *b = builder_new();
    part *p = builder_part(b);
    uint32_t track = part_track(p, (ident){1, false}, (ident){1, false});
    trace *t;
    for (int i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "ProfilerStep#%d", i + 3);
        raw_slice row = {.name = intern_add(builder_strings(b), str_of(name)),
                         .kind = KIND_STEP,
                         .track = track,
                         .start = 1000 + i * 100,
                         .dur = 100};
        assert_int_equal(part_slice(p, &row), OK);
    }
    part_finish(p);
    builder_set_format(b, "test");
    assert_int_equal(builder_seal(b, NULL, &t, NULL), OK);
    builder_free(b);
    return t;
}

static void test_a_range_is_from_its_first_to_its_last_step(void **state) {
    (void)state;
    trace *t = three_steps();
    time_window w;
    assert_true(steps_window(t, (step_range){4, 5}, &w));
    assert_int_equal(w.from_ns, 100);
    assert_int_equal(w.to_ns, 300);
    assert_true(steps_window(t, (step_range){OPEN_START, 3}, &w));
    assert_int_equal(w.from_ns, 0);
    assert_int_equal(w.to_ns, 100);
    trace_release(t);
}

static void test_steps_that_do_not_exist_take_no_time(void **state) {
    (void)state;
    trace *t = three_steps();
    time_window w;
    assert_false(steps_window(t, (step_range){6, 9}, &w));
    assert_false(steps_window(t, (step_range){5, 4}, &w));
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_range_is_from_its_first_to_its_last_step),
        cmocka_unit_test(test_steps_that_do_not_exist_take_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
