/* file_test.c: a trace written and mapped again is the same trace; a damaged, cut, stale, foreign or
 * malicious file is refused; a failed write leaves nothing behind. */
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
#include "base/hash.h"
#include "store/file.h"
#include "store/file_int.h"
#include "unit/store/sample_trace.h"

static char folder[64], path[128];

static int make_folder(void **state)
{
    snprintf(folder, sizeof folder, "/tmp/tacho_file_test.XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/a.tacho", folder);
    return 0;
}

static int remove_folder(void **state)
{
    unlink(path);
    return rmdir(folder); /* fails when anything is left behind */
}

static void write_sample(str key)
{
    trace *t = sample_trace();
    assert_int_equal(file_write(t, path, key, NULL), OK);
    trace_release(t);
}

static char *read_all(size_t *n)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *p = malloc(1 << 20);
    *n = fread(p, 1, 1 << 20, f);
    fclose(f);
    return p;
}

static void write_all(const char *p, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    fclose(f);
}

static file_section *find_section(char *p, const char *name)
{
    file_section *toc = (file_section *)(p + sizeof(file_header));
    for (uint32_t i = 0; i < ((file_header *)p)->n_sections; i++)
        if (strcmp(toc[i].name, name) == 0) return &toc[i];
    fail_msg("no section %s", name);
    return NULL;
}

/* Makes all checksums right again: what remains is malice, not damage. */
static void seal_sums(char *p, size_t n)
{
    file_header *h = (file_header *)p;
    file_section *toc = (file_section *)(p + sizeof *h);
    for (uint32_t i = 0; i < h->n_sections && i < N_SECTIONS; i++) {
        if (toc[i].offset > n || toc[i].size_bytes > n - toc[i].offset) continue;
        toc[i].checksum = hash_bytes64(p + toc[i].offset, toc[i].size_bytes);
        if (toc[i].elem_bytes != 4 || toc[i].type == TYPE_I32) continue;
        toc[i].maximum = 0;
        for (uint64_t k = 0; k < toc[i].rows; k++) {
            uint32_t v = ((uint32_t *)(p + toc[i].offset))[k];
            if (v > toc[i].maximum) toc[i].maximum = v;
        }
    }
    size_t at = offsetof(file_header, checksum) + 8;
    if (h->header_bytes <= n) h->checksum = hash_bytes64(p + at, h->header_bytes - at);
}

/* Opens and asks for everything: the status a user would see. */
static status open_and_require(void)
{
    trace *t = NULL;
    status s = file_open(path, STR_NONE, &t, NULL);
    if (s == OK) {
        s = trace_require(t, TRACE_ALL | TRACE_ARGUMENTS, NULL);
        trace_release(t);
    } else {
        assert_null(t);
    }
    return s;
}

static void assert_same(const trace *a, const trace *b)
{
    for (int c = 0; c < N_COLUMNS; c++) {
        uint32_t n = trace_rows(a, COLUMN_INFO[c].table);
        assert_int_equal(n, trace_rows(b, COLUMN_INFO[c].table));
        assert_memory_equal(trace_column(a, c), trace_column(b, c), (size_t)n * COLUMN_INFO[c].elem_bytes);
    }
    assert_int_equal(a->n_strings, b->n_strings);
    for (uint32_t i = 0; i < a->n_strings; i++) assert_true(str_eq(trace_str(a, i), trace_str(b, i)));
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

static void file_gives_back_the_trace_that_was_written(void **state)
{
    trace *a = sample_trace(), *b = NULL;
    assert_int_equal(file_write(a, path, STR_NONE, NULL), OK);
    assert_int_equal(file_open(path, STR_NONE, &b, NULL), OK);
    assert_int_equal(trace_require(b, TRACE_ALL, NULL), OK);
    assert_int_equal(trace_require(b, TRACE_ALL, NULL), OK);
    assert_same(a, b);
    trace_release(a);
    trace_release(b);
}

static void file_of_a_mapped_trace_has_the_same_bytes(void **state)
{
    write_sample(STR_NONE);
    size_t n, m;
    char *first = read_all(&n);
    trace *t = NULL;
    assert_int_equal(file_open(path, STR_NONE, &t, NULL), OK);
    assert_int_equal(file_write(t, path, STR_NONE, NULL), OK); /* over the file it is mapped from */
    trace_release(t);
    char *second = read_all(&m);
    assert_int_equal(n, m);
    assert_memory_equal(first, second, n);
    free(first);
    free(second);
}

static void file_of_an_empty_trace_opens_with_null_rows(void **state)
{
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

static void file_with_another_key_is_stale(void **state)
{
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

static void file_of_another_kind_is_named_for_what_it_is(void **state)
{
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

static void file_with_any_byte_changed_is_refused_or_the_same(void **state)
{
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

static void set_u32(char *p, const char *section, uint32_t row, uint32_t value)
{
    ((uint32_t *)(p + find_section(p, section)->offset))[row] = value;
}

static void set_u64(char *p, const char *section, uint32_t row, uint64_t value)
{
    ((uint64_t *)(p + find_section(p, section)->offset))[row] = value;
}

static void file_with_hostile_ids_is_refused_though_its_sums_are_right(void **state)
{
    static const struct {
        const char *section;
        uint32_t row, bytes;
        uint64_t value;
    } cases[] = {
        {"slice.name", 2, 4, 1000},       {"slice.parent", 2, 4, 2},
        {"slice.parent", 0, 4, 1},        {"slice.parent", 1, 4, UINT32_MAX},
        {"slice.dur", 3, 8, UINT64_MAX},  {"slice.start", 3, 8, (uint64_t)1 << 62},
        {"track.end", 1, 4, 5},           {"track.first", 1, 4, 0},
        {"track.end", 3, 4, 7},           {"track.process", 1, 4, 4},
        {"kernel.launch", 1, 4, 6},       {"kernel.slice", 1, 4, 0},
        {"string.offset", 3, 8, 1 << 20}, {"string.offset", 0, 8, 1},
        {"argument.block", 0, 8, 1},      {"argument.block", 1, 8, 1 << 20},
        {"shape.parent", 2, 4, 2},        {"shape.key", 2, 4, 999},
        {"flow.to", 1, 4, 6},             {"meta.key", 1, 4, UINT32_MAX},
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

static void file_with_hostile_sections_is_refused(void **state)
{
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

static void file_without_a_column_reads_it_as_absent(void **state)
{
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

static void file_parents_in_a_circle_are_refused_but_any_order_is_fine(void **state)
{
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

static int count_entries(void)
{
    DIR *d = opendir(folder);
    int n = 0;
    for (struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void file_write_that_fails_leaves_the_old_file_and_nothing_else(void **state)
{
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

static void file_open_survives_each_failed_allocation_and_read(void **state)
{
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

static void file_goes_into_a_pipe(void **state)
{
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

int main(void)
{
#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(file_gives_back_the_trace_that_was_written),
        IN_FOLDER(file_of_a_mapped_trace_has_the_same_bytes),
        IN_FOLDER(file_of_an_empty_trace_opens_with_null_rows),
        IN_FOLDER(file_with_another_key_is_stale),
        IN_FOLDER(file_of_another_kind_is_named_for_what_it_is),
        IN_FOLDER(file_with_any_byte_changed_is_refused_or_the_same),
        IN_FOLDER(file_with_hostile_ids_is_refused_though_its_sums_are_right),
        IN_FOLDER(file_with_hostile_sections_is_refused),
        IN_FOLDER(file_without_a_column_reads_it_as_absent),
        IN_FOLDER(file_parents_in_a_circle_are_refused_but_any_order_is_fine),
        IN_FOLDER(file_write_that_fails_leaves_the_old_file_and_nothing_else),
        IN_FOLDER(file_open_survives_each_failed_allocation_and_read),
        IN_FOLDER(file_goes_into_a_pipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
