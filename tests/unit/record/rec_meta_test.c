/* rec_meta_test.c: facts of the whole recording, and who knows its rank. */
#include "unit/record/record_helper.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "record/rec_int.h"

static bool meta_is(const trace *t, const char *key, const char *value) {
    return str_eq(trace_meta(t, str_of(key)), str_of(value));
}

static void facts_hold_for_all_recordings(void **state) {
    fresh_folder();
    tacho_meta("model", "resnet \"50\"");
    tacho_meta("layers", "50");
    for (int i = 0; i < 2; i++) {
        start_all();
        if (i == 1) tacho_meta("config", "{\"lr\": 0.1}");
        trace *t = stop_and_read();
        assert_true(meta_is(t, "model", "\"resnet \\\"50\\\"\""));
        assert_true(meta_is(t, "layers", "50"));
        assert_true(str_find(trace_meta(t, STR("command")), STR("rec_meta_test"), 0) !=
                    SIZE_MAX);
        if (i == 1) assert_true(trace_meta(t, STR("config")).n > 0);
        trace_release(t);
    }
}

static int tear_down(void **state) {
    (void)tacho_stop();
    remove_folder();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(facts_hold_for_all_recordings, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
