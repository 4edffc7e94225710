/* file_write_test.c: the same bytes each time, and nothing left by a failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fault.h"
#include "unit/store/file_helper.h"

static void file_of_a_mapped_trace_has_the_same_bytes(void **state) {
    write_sample(STR_NONE);
    size_t n, m;
    char *first = read_all(&n);
    trace *t = NULL;
    assert_int_equal(file_open(path, STR_NONE, &t, NULL), OK);
    assert_int_equal(file_write(t, path, STR_NONE, NULL),
                     OK); /* over the file it is mapped from */
    trace_release(t);
    char *second = read_all(&m);
    assert_int_equal(n, m);
    assert_memory_equal(first, second, n);
    free(first);
    free(second);
}

static void file_write_that_fails_leaves_the_old_file_and_nothing_else(void **state) {
    write_sample(STR("old"));
    trace *t = sample_trace(), *old = NULL;
    uint64_t n = 1;
    for (fault_kind kind = FAULT_ALLOC; kind < N_FAULTS; kind++) {
        if (kind == FAULT_READ) continue;
        for (n = 1;; n++) {
            error err;
            fault_arm(kind, n);
            status s = file_write(t, path, STR("new"), &err);
            fault_arm(kind, 0);
            assert_int_equal(count_entries(), 1);
            if (s == OK) break;
            assert_int_equal(s, kind == FAULT_ALLOC ? ERR_MEMORY : ERR_IO);
            assert_int_equal(file_open(path, STR("old"), &old, NULL), OK);
            trace_release(old);
        }
        assert_true(n > 2);
        write_sample(STR("old"));
    }
    char nowhere[160];
    snprintf(nowhere, sizeof nowhere, "%s/no/such", folder);
    assert_int_equal(file_write(t, nowhere, STR_NONE, NULL), ERR_IO);
    trace_release(t);
}

static void file_goes_into_a_pipe(void **state) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    trace *t = sample_trace();
    assert_int_equal(file_write_fd(t, ends[1], STR_NONE, NULL), OK);
    close(ends[1]);
    assert_int_equal(file_write(t, path, STR_NONE, NULL), OK);
    trace_release(t);
    size_t n;
    char *p = read_all(&n), *q = malloc(n);
    size_t got = 0;
    for (ssize_t k; (k = read(ends[0], q + got, n - got)) > 0;) got += (size_t)k;
    close(ends[0]);
    assert_int_equal(got, n);
    assert_memory_equal(p, q, n);
    free(p);
    free(q);
}

int main(void) {
#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(file_of_a_mapped_trace_has_the_same_bytes),
        IN_FOLDER(file_write_that_fails_leaves_the_old_file_and_nothing_else),
        IN_FOLDER(file_goes_into_a_pipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
