/* file_check_test.c: damage and malice inside the columns are refused. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "unit/store/file_helper.h"

static void file_with_any_byte_changed_is_refused_or_the_same(void **state) {
    write_sample(STR_NONE);
    size_t n, n_taken = 0;
    char *p = read_all(&n);
    /* Every byte of the header, then samples: the tables are mostly padding. */
    for (size_t at = 0; at < n; at += at < 1024 ? 1 : 7) {
        p[at] ^= 0x41;
        write_all(p, n);
        n_taken += open_and_require() == OK;
        p[at] ^= 0x41;
    }
    /* Only the zeros between sections are covered by nothing. */
    size_t n_padding = 0;
    for (size_t at = 0; at < n; at += at < 1024 ? 1 : 7) {
        bool used = at < ((file_header *)p)->header_bytes;
        file_section *toc = (file_section *)(p + sizeof(file_header));
        for (uint32_t i = 0; i < N_SECTIONS; i++)
            used |= at >= toc[i].offset && at < toc[i].offset + toc[i].size_bytes;
        n_padding += !used;
    }
    assert_int_equal(n_taken, n_padding);
    free(p);
}

static void file_with_hostile_ids_is_refused_though_its_sums_are_right(void **state) {
    static const struct {
        const char *section;
        uint32_t row, bytes;
        uint64_t value;
    } cases[] = {
        {"slice.name", 2, 4, 1000},
        {"slice.parent", 2, 4, 2},
        {"slice.parent", 0, 4, 1},
        {"slice.parent", 1, 4, UINT32_MAX},
        {"slice.dur", 3, 8, UINT64_MAX},
        {"slice.start", 3, 8, (uint64_t)1 << 62},
        {"track.end", 1, 4, 5},
        {"track.first", 1, 4, 0},
        {"track.end", 3, 4, 7},
        {"track.process", 1, 4, 4},
        {"kernel.launch", 1, 4, 6},
        {"kernel.slice", 1, 4, 0},
        {"string.offset", 3, 8, 1 << 20},
        {"string.offset", 0, 8, 1},
        {"argument.block", 0, 8, 1},
        {"argument.block", 1, 8, 1 << 20},
        {"shape.parent", 2, 4, 2},
        {"shape.key", 2, 4, 999},
        {"flow.to", 1, 4, 6},
        {"meta.key", 1, 4, UINT32_MAX},
        {"op.slice", 2, 4, 1},
    };
    write_sample(STR_NONE);
    size_t n;
    char *p = read_all(&n), *q = malloc(n);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memcpy(q, p, n);
        if (cases[i].bytes == 4)
            set_u32(q, cases[i].section, cases[i].row, (uint32_t)cases[i].value);
        else
            set_u64(q, cases[i].section, cases[i].row, cases[i].value);
        seal_sums(q, n);
        write_all(q, n);
        if (open_and_require() != ERR_FORMAT) fail_msg("case %zu: %s", i, cases[i].section);
    }
    memcpy(q, p, n);
    ((uint8_t *)(q + find_section(q, "slice.kind")->offset))[1] = N_KINDS;
    seal_sums(q, n);
    write_all(q, n);
    assert_int_equal(open_and_require(), ERR_FORMAT);
    memcpy(q, p, n);
    seal_sums(q, n);
    write_all(q, n);
    assert_int_equal(open_and_require(), OK);
    free(p);
    free(q);
}

static void file_parents_in_a_circle_are_refused_but_any_order_is_fine(void **state) {
    for (int circle = 0; circle < 2; circle++) {
        maker m;
        maker_init(&m);
        maker_table(&m, TABLE_module, 5);
        SET(&m, module, parent)[1] = 4; /* 1 → 4 → 3, 2 → 4 */
        SET(&m, module, parent)[2] = 4;
        SET(&m, module, parent)[4] = 3;
        SET(&m, module, parent)[3] = circle ? 1 : 0;
        trace *t = maker_done(&m);
        assert_int_equal(file_write(t, path, STR_NONE, NULL), OK);
        trace_release(t);
        assert_int_equal(open_and_require(), circle ? ERR_FORMAT : OK);
    }
}

/* 100,000 slices on one track (3.6 MB) and 5 MB of text: too large to be checked at opening. */
static void write_large(void) {
    enum { N = 100000 };
    maker m;
    char *text = malloc((5 << 20) + 1);
    memset(text, 'x', 5 << 20);
    text[5 << 20] = 0;
    maker_init(&m);
    maker_table(&m, TABLE_process, 2);
    SET(&m, process, name)[1] = maker_str(&m, "a process");
    maker_table(&m, TABLE_track, 2);
    SET(&m, track, first)[1] = 1;
    SET(&m, track, end)[1] = N + 1;
    SET(&m, track, name)[1] = maker_str(&m, text);
    maker_table(&m, TABLE_slice, N + 1);
    for (uint32_t i = 0; i <= N; i++) {
        SET(&m, slice, start)[i] = i;
        SET(&m, slice, dur)[i] = 1;
        SET(&m, slice, name)[i] = maker_str(&m, "name");
    }
    trace *t = maker_done(&m);
    assert_int_equal(file_write(t, path, STR_NONE, NULL), OK);
    trace_release(t);
    free(text);
}

static void change_byte(const char *section, uint64_t at) {
    FILE *f = fopen(path, "r+b");
    char *head = malloc(1 << 16);
    assert_int_equal(fread(head, 1, 1 << 16, f), 1 << 16);
    fseek(f, (long)(find_section(head, section)->offset + at), SEEK_SET);
    fputc(0x55, f);
    fclose(f);
    free(head);
}

static void file_large_tables_are_checked_before_their_first_use(void **state) {
    trace *t = NULL;
    error err;
    write_large();
    change_byte("slice.start", 500000);
    assert_int_equal(file_open(path, STR_NONE, &t, NULL), OK);
    assert_true(str_eq(trace_str(t, t->process.name[1]), STR("a process")));
    assert_int_equal(trace_require(t, TRACE_TABLE(track), NULL), OK);
    assert_int_equal(trace_require(t, TRACE_TABLE(slice), &err), ERR_FORMAT);
    assert_true(str_eq(err.args[1].u.text, STR("slice.start")));
    assert_int_equal(trace_require(t, TRACE_ALL, NULL), ERR_FORMAT); /* and each time again */
    trace_release(t);
}

static void file_large_strings_are_checked_before_any_table_is_used(void **state) {
    trace *t = NULL;
    write_large();
    change_byte("string.bytes", 100);
    assert_int_equal(file_open(path, STR_NONE, &t, NULL), OK);
    assert_int_equal(trace_require(t, TRACE_TABLE(slice), NULL), ERR_FORMAT);
    trace_release(t);
}

static void file_strings_of_small_tables_are_valid_even_when_not_all_are_checked(void **state) {
    trace *t = NULL;
    write_large();
    change_byte("string.offset", 8 + 7); /* the end of the process' name, far outside */
    change_byte("string.offset", 16 + 7);
    assert_int_equal(file_open(path, STR_NONE, &t, NULL), ERR_FORMAT);
    assert_null(t);
}

static void *require_all(void *t) {
    return (void *)(intptr_t)trace_require(t, TRACE_ALL, NULL);
}

static void file_checks_once_for_many_threads(void **state) {
    trace *t = NULL;
    pthread_t threads[8];
    write_large();
    assert_int_equal(file_open(path, STR_NONE, &t, NULL), OK);
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, require_all, t), 0);
    for (int i = 0; i < 8; i++) {
        void *result;
        pthread_join(threads[i], &result);
        assert_int_equal((intptr_t)result, OK);
    }
    trace_release(t);
}

/* Another program writes into the file, or cuts it, while the trace is open. */

static void file_changed_after_its_check_is_what_it_was(void **state) {
    trace *t = NULL;
    write_large();
    assert_int_equal(file_open(path, STR_NONE, &t, NULL), OK);
    assert_int_equal(trace_require(t, TRACE_ALL, NULL), OK);
    change_byte("slice.parent", 400 * 4 + 3); /* a parent far outside */
    change_byte("slice.kind", 400);
    assert_int_equal(t->slice.parent[400], 0);
    assert_int_equal(t->slice.kind[400], 0);
    assert_int_equal(truncate(path, 0), 0);
    int64_t sum = 0;
    for (uint32_t i = 0; i < t->slice.n; i++) sum += t->slice.dur[i];
    assert_int_equal(sum, t->slice.n);
    trace_release(t);
}

static void file_cut_before_its_check_is_reported(void **state) {
    trace *t = NULL;
    error err;
    write_large();
    assert_int_equal(file_open(path, STR_NONE, &t, NULL), OK);
    assert_int_equal(truncate(path, 100000), 0);
    assert_true(str_eq(trace_str(t, t->process.name[1]), STR("a process")));
    assert_int_equal(trace_require(t, TRACE_TABLE(slice), &err), ERR_FORMAT);
    assert_int_equal(err.message, MSG_FILE_CUT);
    trace_release(t);
}

static int count_descriptors(void) {
    int n = 0;
    for (int i = 0; i < 256; i++) n += fcntl(i, F_GETFD) >= 0;
    return n;
}

static void file_that_was_read_whole_holds_no_descriptor(void **state) {
    trace *t = NULL;
    int before = count_descriptors();
    write_sample(STR_NONE);
    assert_int_equal(file_open(path, STR_NONE, &t, NULL), OK);
    assert_int_equal(trace_require(t, TRACE_ALL | TRACE_ARGUMENTS, NULL), OK);
    assert_int_equal(count_descriptors(), before);
    trace_release(t);
}

int main(void) {
#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(file_with_any_byte_changed_is_refused_or_the_same),
        IN_FOLDER(file_with_hostile_ids_is_refused_though_its_sums_are_right),
        IN_FOLDER(file_large_tables_are_checked_before_their_first_use),
        IN_FOLDER(file_changed_after_its_check_is_what_it_was),
        IN_FOLDER(file_cut_before_its_check_is_reported),
        IN_FOLDER(file_that_was_read_whole_holds_no_descriptor),
        IN_FOLDER(file_large_strings_are_checked_before_any_table_is_used),
        IN_FOLDER(file_strings_of_small_tables_are_valid_even_when_not_all_are_checked),
        IN_FOLDER(file_checks_once_for_many_threads),
        IN_FOLDER(file_parents_in_a_circle_are_refused_but_any_order_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
