/* export_test.c: forms, names, and what is left when writing or memory fails. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fault.h"
#include "unit/export/export_helper.h"
#include "unit/store/sample_trace.h"

static char folder[64], path[128];

static int make_folder(void **state) {
    snprintf(folder, sizeof folder, "%s/tacho_export_test.XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/out", folder);
    return 0;
}

static int remove_folder(void **state) {
    unlink(path);
    return rmdir(folder);
}

static int count_entries(void) {
    DIR *d = opendir(folder);
    int n = 0;
    for (struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void export_knows_its_forms_and_names_them_on_a_mistake(void **state) {
    trace *t = sample_trace();
    error err;
    assert_string_equal(export_form_name(0), "chrome");
    assert_string_equal(export_form_name(5), "tacho");
    assert_null(export_form_name(10));
    assert_int_equal(export_trace(t, &(export_options){.form = STR("xml")}, 1, &err), ERR_ARG);
    assert_int_equal(err.message, MSG_EXPORT_UNKNOWN);
    assert_string_equal(err.args[2].name, "list");
    assert_true(
        str_eq(err.args[2].u.text, STR("chrome, perfetto, csv, stacks, speedscope, tacho")));
    trace_release(t);
}

static void export_takes_a_value_only_where_there_is_a_choice(void **state) {
    trace *t = sample_trace();
    error err;
    for (uint32_t form = 0; export_form_name(form); form++) {
        export_options o = {
            .form = str_of(export_form_name(form)), .value = EXPORT_VALUE_DEVICE, NULL};
        bool takes = str_eq(o.form, STR("stacks")) || str_eq(o.form, STR("speedscope"));
        assert_int_equal(export_file(t, &o, "/dev/null", &err), takes ? OK : ERR_ARG);
        if (!takes) assert_int_equal(err.message, MSG_EXPORT_NO_VALUE);
    }
    trace_release(t);
}

static void export_to_a_name_is_whole_or_not_there(void **state) {
    trace *t = sample_trace();
    for (uint32_t form = 0; export_form_name(form); form++) {
        export_options o = {.form = str_of(export_form_name(form))};
        for (fault_kind kind = FAULT_ALLOC; kind < N_FAULTS; kind++) {
            if (kind == FAULT_READ) continue;
            for (uint64_t n = 1;; n++) {
                fault_arm(kind, n);
                error err;
                status s = export_file(t, &o, path, &err);
                fault_arm(kind, 0);
                if (s == OK) break;
                assert_int_equal(s, kind == FAULT_ALLOC ? ERR_MEMORY : ERR_IO);
                assert_int_equal(err.status, s);
                assert_int_equal(count_entries(), 0);
                assert_true(n < 2000);
            }
            assert_int_equal(count_entries(), 1);
            unlink(path);
        }
    }
    trace_release(t);
}

static void export_to_a_device_is_written_directly(void **state) {
    trace *t = sample_trace();
    export_options o = {.form = STR("csv")};
    assert_int_equal(export_file(t, &o, "/dev/null", NULL), OK);
    assert_int_equal(export_file(t, &o, "/dev/full", NULL), ERR_IO);
    assert_int_equal(access("/dev/null", W_OK), 0);
    char nowhere[160];
    snprintf(nowhere, sizeof nowhere, "%s/no/such", folder);
    assert_int_equal(export_file(t, &o, nowhere, NULL), ERR_IO);
    trace_release(t);
}

/* More than the buffer holds, so that pieces are seen to fit together. */
static void export_of_many_rows_has_them_all(void **state) {
    enum { N = 20000 };
    maker m;
    maker_init(&m);
    maker_table(&m, TABLE_process, 2);
    maker_table(&m, TABLE_track, 2);
    SET(&m, track, process)[1] = 1;
    SET(&m, track, kind)[1] = TRACK_THREAD;
    SET(&m, track, first)[1] = 1;
    SET(&m, track, end)[1] = N + 1;
    maker_table(&m, TABLE_slice, N + 1);
    for (uint32_t i = 0; i <= N; i++) {
        SET(&m, slice, name)[i] = maker_str(&m, "a slice with a name of some length");
        SET(&m, slice, start)[i] = i * 10;
        SET(&m, slice, dur)[i] = 5;
    }
    trace *t = maker_done(&m);
    char *text = export_text(t, &(export_options){.form = STR("chrome")});
    assert_int_equal(count_of(text, "\"ph\":\"X\""), N);
    assert_true(is_json(text));
    free(text);
    text = export_text(t, &(export_options){.form = STR("csv")});
    assert_int_equal(count_of(text, "\n"), N + 1);
    free(text);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(export_knows_its_forms_and_names_them_on_a_mistake),
        cmocka_unit_test(export_takes_a_value_only_where_there_is_a_choice),
        cmocka_unit_test_setup_teardown(export_to_a_name_is_whole_or_not_there, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(export_to_a_device_is_written_directly, make_folder,
                                        remove_folder),
        cmocka_unit_test(export_of_many_rows_has_them_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
