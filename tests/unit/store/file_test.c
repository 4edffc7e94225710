/* file_test.c: a trace written and mapped again is the same trace; a cut, stale or foreign file is
 * refused for what it is. */
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

static void assert_same(const trace *a, const trace *b) {
    for (int c = 0; c < N_COLUMNS; c++) {
        uint32_t n = trace_rows(a, COLUMN_INFO[c].table);
        assert_int_equal(n, trace_rows(b, COLUMN_INFO[c].table));
        assert_memory_equal(trace_column(a, c), trace_column(b, c),
                            (size_t)n * COLUMN_INFO[c].elem_bytes);
    }
    assert_int_equal(a->n_strings, b->n_strings);
    for (uint32_t i = 0; i < a->n_strings; i++)
        assert_true(str_eq(trace_str(a, i), trace_str(b, i)));
    assert_int_equal(a->start_ns, b->start_ns);
    assert_int_equal(a->end_ns, b->end_ns);
    assert_int_equal(a->base_unix_ns, b->base_unix_ns);
    assert_int_equal(a->events_read, b->events_read);
    assert_int_equal(a->input_bytes, b->input_bytes);
    assert_true(str_eq(a->format, b->format));
    assert_memory_equal(a->kind_count, b->kind_count, sizeof a->kind_count);
    for (uint32_t i = 1; i < a->slice.n; i++) {
        buf x = {0}, y = {0};
        assert_int_equal(trace_args_json(a, a->slice.args[i], &x, NULL), OK);
        assert_int_equal(trace_args_json(b, b->slice.args[i], &y, NULL), OK);
        assert_true(str_eq(buf_str(&x), buf_str(&y)));
        buf_fini(&x);
        buf_fini(&y);
    }
}

static void file_gives_back_the_trace_that_was_written(void **state) {
    trace *a = sample_trace(), *b = NULL;
    assert_int_equal(file_write(a, path, STR_NONE, NULL), OK);
    assert_int_equal(file_open(path, STR_NONE, &b, NULL), OK);
    assert_int_equal(trace_require(b, TRACE_ALL, NULL), OK);
    assert_int_equal(trace_require(b, TRACE_ALL, NULL), OK);
    assert_same(a, b);
    trace_release(a);
    trace_release(b);
}

static void file_of_an_empty_trace_opens_with_null_rows(void **state) {
    trace *empty = trace_alloc(), *t = NULL;
    assert_int_equal(file_write(empty, path, STR_NONE, NULL), OK);
    trace_release(empty);
    assert_int_equal(file_open(path, STR_NONE, &t, NULL), OK);
    assert_int_equal(trace_require(t, TRACE_ALL | TRACE_ARGUMENTS, NULL), OK);
    assert_int_equal(t->slice.n, 1);
    assert_int_equal(t->slice.parent[0], 0);
    assert_int_equal(t->n_strings, 1);
    trace_release(t);
}

static void file_with_another_key_is_stale(void **state) {
    trace *t = NULL;
    error err;
    write_sample(STR("size 5, time 7"));
    assert_int_equal(file_open(path, STR("size 5, time 8"), &t, &err), ERR_NOT_FOUND);
    assert_int_equal(err.message, MSG_FILE_STALE);
    assert_int_equal(file_open(path, STR("size 5, time 7"), &t, NULL), OK);
    trace_release(t);
    t = NULL;
    assert_int_equal(file_open(path, STR_NONE, &t, NULL), OK);
    trace_release(t);
    unlink(path);
    assert_int_equal(file_open(path, STR_NONE, &t, &err), ERR_NOT_FOUND);
    assert_int_equal(err.message, MSG_FILE_READ);
}

static void file_of_another_kind_is_named_for_what_it_is(void **state) {
    trace *t = NULL;
    error err;
    size_t n;
    write_all("{\"traceEvents\":[]}", 18);
    assert_int_equal(file_open(path, STR_NONE, &t, &err), ERR_FORMAT);
    assert_int_equal(err.message, MSG_FILE_NOT_TACHO);
    write_sample(STR_NONE);
    char *p = read_all(&n);
    assert_true(file_is_ours(str_n(p, n)));
    assert_false(file_is_ours(str_n(p, 7)));
    write_all(p, n - 1);
    assert_int_equal(file_open(path, STR_NONE, &t, &err), ERR_FORMAT);
    assert_int_equal(err.message, MSG_FILE_CUT);
    ((file_header *)p)->profile = FILE_PROFILE_RECORDING;
    write_all(p, n);
    assert_int_equal(file_open(path, STR_NONE, &t, &err), ERR_FORMAT);
    assert_int_equal(err.message, MSG_FILE_PROFILE);
    ((file_header *)p)->version = 2;
    write_all(p, n);
    assert_int_equal(file_open(path, STR_NONE, &t, &err), ERR_FORMAT);
    assert_int_equal(err.message, MSG_FILE_VERSION);
    assert_int_equal(file_open(folder, STR_NONE, &t, NULL), ERR_FORMAT);
    free(p);
}

static void file_with_hostile_sections_is_refused(void **state) {
    write_sample(STR_NONE);
    size_t n;
    char *p = read_all(&n), *q = malloc(n);
    for (int i = 0; i < 11; i++) {
        memcpy(q, p, n);
        file_section *s = find_section(q, "slice.start");
        file_header *h = (file_header *)q;
        switch (i) {
        case 0: s->offset = n + 64; break;
        case 1: s->offset += 8; break;
        case 2: s->size_bytes = UINT64_MAX; break;
        case 3: s->rows = UINT64_MAX / 8 + 2; break;
        case 4: s->rows -= 1, s->size_bytes -= 8; break;
        case 5: s->elem_bytes = 4, s->rows *= 2; break;
        case 6: s->offset = 0; break;
        case 7: memset(s->name, 'x', sizeof s->name); break;
        case 8: h->n_sections = UINT32_MAX; break;
        case 9: h->key_bytes = UINT32_MAX; break;
        case 10: h->header_bytes = n + 64; break;
        }
        seal_sums(q, n);
        write_all(q, n);
        if (open_and_require() != ERR_FORMAT) fail_msg("case %d", i);
    }
    free(p);
    free(q);
}

static void file_without_a_column_reads_it_as_absent(void **state) {
    write_sample(STR_NONE);
    size_t n;
    char *p = read_all(&n);
    strcpy(find_section(p, "kernel.stream")->name, "kernel.future");
    strcpy(find_section(p, "kernel.occupancy")->name, "other");
    strcpy(find_section(p, "kernel.op")->name, "another");
    seal_sums(p, n);
    write_all(p, n);
    free(p);
    trace *t = NULL;
    assert_int_equal(file_open(path, STR_NONE, &t, NULL), OK);
    assert_int_equal(trace_require(t, TRACE_ALL, NULL), OK);
    assert_true(t->kernel.stream[1] == ABSENT_I64);
    assert_true(isnan(t->kernel.occupancy[1]));
    assert_int_equal(t->kernel.op[1], 0);
    assert_int_equal(t->kernel.correlation[1], 7);
    trace_release(t);
}

static void file_open_survives_each_failed_allocation_and_read(void **state) {
    write_sample(STR_NONE);
    for (fault_kind kind = FAULT_ALLOC; kind <= FAULT_READ; kind++) {
        for (uint64_t n = 1;; n++) {
            trace *t = NULL;
            fault_arm(kind, n);
            status s = file_open(path, STR_NONE, &t, NULL);
            fault_arm(kind, 0);
            if (s == OK) {
                trace_release(t);
                break;
            }
            assert_null(t);
            assert_true(n < 20);
        }
    }
}

int main(void) {
#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(file_gives_back_the_trace_that_was_written),
        IN_FOLDER(file_of_an_empty_trace_opens_with_null_rows),
        IN_FOLDER(file_with_another_key_is_stale),
        IN_FOLDER(file_of_another_kind_is_named_for_what_it_is),
        IN_FOLDER(file_with_hostile_sections_is_refused),
        IN_FOLDER(file_without_a_column_reads_it_as_absent),
        IN_FOLDER(file_open_survives_each_failed_allocation_and_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
