/* mindspore_times_test.c: lists of executions: what is guessed is what would have been read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "ingest/mindspore/mindspore_int.h"
#include "store/trace.h"

static trace *seal(builder *b) {
    trace *t = NULL;
    assert_int_equal(builder_seal(b, NULL, &t, NULL), OK);
    builder_free(b);
    return t;
}

/* The text as one file of a kind, in one piece. */
static trace *read_text_of(int kind, str text) {
    builder *b = builder_new();
    assert_int_equal(ms_read_one(kind, text, b, NULL), OK);
    return seal(b);
}

/* The same as a file in a folder: in pieces of 4 MiB. */
static trace *read_file_of(const char *name, str text) {
    char folder[] = "/tmp/tacho-times-XXXXXX", path[128];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text.p, 1, text.n, f), text.n);
    fclose(f);
    source *s = NULL;
    builder *b = builder_new();
    assert_int_equal(source_open(path, &s, NULL), OK);
    assert_int_equal(ingest_mindspore(s, &(ingest_options){.path = path}, b, NULL), OK);
    source_close(s);
    unlink(path);
    rmdir(folder);
    return seal(b);
}

static uint32_t kernel_slice(const trace *t, uint32_t row) {
    return t->kernel.slice[row];
}

static void a_name_that_comes_again_may_be_followed_by_anything(void **state) {
    /* From its third line on every name was followed by another before; the numbers after it
     * are plain, long, short, rounded, written otherwise, damaged or absent. */
    static const struct {
        const char *numbers;
        int64_t stream, start, dur; /* dur < 0: no execution */
    } rows[] = {
        {"7,1.5,0.25", 7, 1500000, 250000},
        {"7,438068.41592,0.00266", 7, 438068415920, 2660},
        {"7,12345678.5,3", 7, 12345678500000, 3000000},
        {"7,0.12345678,1", 7, 123457, 1000000},
        {"7,123456789012.5,1", 7, 123456789012500000, 1000000},
        {"-7,-2.5,1", -7, -2500000, 1000000},
        {"7,6e1,1e-3", 7, 60000000, 1000},
        {" 7 , 2.5, 1 ", 7, 2500000, 1000000},
        {"7.0,61,1", 7, 61000000, 1000000},
        {"7,62.,1", 7, 62000000, 1000000},
        {"7,1,-1", 0, 0, -1},
        {"7,1,x", 0, 0, -1},
        {"7,,1", 0, 0, -1},
        {"1,7,63,1", 7, 63000000, 1000000}, /* the name is longer */
        {"7,99999999999999999999,1", 0, 0, -1},
        {"7,4611686018428,1", 0, 0, -1}, /* beyond 2^61 ns */
        {"7,64,1\r", 7, 64000000, 1000000},
        {"71,65,1", 71, 65000000, 1000000}, /* streams with the same beginning */
        {"7,66,1", 7, 66000000, 1000000},
        {"7,67,1", 7, 67000000, 1000000},
        {"71,68,1", 71, 68000000, 1000000},
        {"123456789012345678,69,1", 123456789012345678, 69000000, 1000000},
        {"000000000000000000000000007,70,1", 7, 70000000, 1000000},
        {"123456789012345678,71,1", 123456789012345678, 71000000, 1000000},
    };
    enum { N = sizeof rows / sizeof *rows };
    buf text = {0};
    buf_add_str(&text, STR("op_name, stream_id, start_time(ms), duration(ms)\n"));
    for (int i = 0; i < 2; i++) buf_add_str(&text, STR("a/A-op1,9,0,0\na/B-op2,9,0,0\n"));
    for (size_t i = 0; i < N; i++)
        buf_printf(&text, "a/A-op1,%s\na/B-op2,9,0,0\n", rows[i].numbers);
    for (int i = 0; i < 20; i++) buf_add_str(&text, STR("a/C-op3,9,0,0\n")); /* room after it */
    trace *t = read_text_of(MS_AICORE_TIMES, buf_str(&text));
    uint32_t lost = 0, found = 0;
    for (size_t i = 0; i < N; i++) {
        lost += rows[i].dur < 0;
        for (uint32_t k = 1; k < t->kernel.n && rows[i].dur >= 0; k++) {
            uint32_t s = kernel_slice(t, k);
            found += t->slice.start[s] == rows[i].start && t->slice.dur[s] == rows[i].dur &&
                     t->kernel.stream[k] == rows[i].stream;
        }
    }
    assert_int_equal(found, N - lost);
    assert_int_equal(t->kernel.n, 1 + 4 + 2 * N + 20 - lost);
    assert_int_equal(trace_quality(t, CAUSE_MISSING_TIME), lost);
    assert_int_equal(t->events_read, 4 + 2 * N + 20);
    trace_release(t);
    buf_fini(&text);
}

static void names_with_separators_are_guessed_whole(void **state) {
    buf text = {0};
    for (int i = 0; i < 40; i++)
        buf_printf(&text, "K<a;1;2>;3;%d;1\nK<a;1;2>;4;3;%d;1\nK;1;%d;2\n", i * 10 + 1,
                   i * 10 + 3, i * 10 + 5);
    trace *t = read_text_of(MS_KERNEL_TIMES, buf_str(&text));
    uint32_t n[3] = {0};
    static const char *const names[] = {"K<a;1;2>", "K<a;1;2>;4", "K"};
    for (uint32_t k = 1; k < t->kernel.n; k++)
        for (int i = 0; i < 3; i++)
            if (str_eq(trace_str(t, t->slice.name[kernel_slice(t, k)]), str_of(names[i]))) {
                n[i]++;
                assert_int_equal(t->kernel.stream[k], i == 2 ? 1 : 3);
                assert_int_equal(t->slice.start[kernel_slice(t, k)] % 10, 1 + 2 * i);
            }
    for (int i = 0; i < 3; i++) assert_int_equal(n[i], 40);
    trace_release(t);
    buf_fini(&text);
}

static void a_list_in_pieces_is_the_list(void **state) {
    buf text = {0};
    int64_t starts = 0, durs = 0, bad_at = 0;
    uint32_t n = 0;
    buf_add_str(&text, STR("op_name, stream_id, start_time(us), duration(ms)\n"));
    while (text.n < ((size_t)9 << 20)) { /* two borders */
        buf_printf(
            &text,
            "Default/network/block%u/a-long-name-for-an-operator/Op-op%u,%u,%u.25,0.5%s\n",
            n % 97, n % 97, n % 3, n * 600, n % 11 ? "" : "\r");
        starts += (int64_t)n * 600000 + 250;
        durs += 500000;
        n++;
    }
    bad_at = (int64_t)text.n;
    buf_add_str(&text, STR("this is no execution\nDefault/last-op1,0,1,1"));
    trace *t = read_file_of("output_timeline_data_0.txt", buf_str(&text));
    assert_int_equal(t->kernel.n, n + 2);
    assert_int_equal(t->events_read, n + 2);
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        starts -= t->slice.start[kernel_slice(t, k)];
        durs -= t->slice.dur[kernel_slice(t, k)];
    }
    assert_int_equal(starts, -1000);
    assert_int_equal(durs, -1000000);
    assert_int_equal(trace_quality(t, CAUSE_MISSING_NAME), 1);
    for (uint32_t i = 1; i < t->quality.n; i++)
        if (t->quality.cause[i] == CAUSE_MISSING_NAME)
            assert_int_equal(t->quality.offset[i], bad_at);
    trace_release(t);
    buf_fini(&text);
}

static void a_line_longer_than_a_piece_is_read(void **state) {
    buf text = {0};
    uint32_t n = 0;
    buf_add_str(&text, STR("Default/A-op1;HostCpuOps;"));
    for (; text.n < ((size_t)9 << 20); n++) buf_printf(&text, "%u,0.0001,0 ", n * 1000);
    buf_add_str(&text, STR("\nDefault/B-op2;HostCpuOps;5,0.0001,1 \n"));
    trace *t = read_file_of("cpu_op_execute_timestamp_0.txt", buf_str(&text));
    assert_int_equal(t->kind_count[KIND_OP], n + 1);
    assert_int_equal(t->events_dropped, 0);
    trace_release(t);
    buf_fini(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_that_comes_again_may_be_followed_by_anything),
        cmocka_unit_test(names_with_separators_are_guessed_whole),
        cmocka_unit_test(a_list_in_pieces_is_the_list),
        cmocka_unit_test(a_line_longer_than_a_piece_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
