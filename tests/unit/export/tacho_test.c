/* tacho_test.c: an exported .tacho file opens as the same trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/file.h"
#include "unit/export/export_helper.h"
#include "unit/store/sample_trace.h"

static void tacho_export_opens_and_exports_the_same_again(void **state) {
    char path[] = "/tmp/tacho_export_test.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    trace *t = sample_trace(), *again = NULL;
    assert_int_equal(export_trace(t, &(export_options){.form = STR("tacho")}, fd, NULL), OK);
    close(fd);
    assert_int_equal(file_open(path, STR_NONE, &again, NULL), OK);
    for (int i = 0; i < 2; i++) {
        export_options o = {.form = i ? STR("csv") : STR("chrome")};
        char *a = export_text(t, &o), *b = export_text(again, &o);
        assert_string_equal(a, b);
        free(a);
        free(b);
    }
    trace_release(t);
    trace_release(again);
    unlink(path);
}

static void tacho_export_takes_no_window(void **state) {
    trace *t = sample_trace();
    error err;
    assert_int_equal(
        export_trace(t, &(export_options){.form = STR("tacho"), .window = &(time_window){0, 5}},
                     1, &err),
        ERR_ARG);
    assert_int_equal(err.message, MSG_EXPORT_WHOLE);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tacho_export_opens_and_exports_the_same_again),
        cmocka_unit_test(tacho_export_takes_no_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
