/* mindspore_damage_test.c: every reader of MindSpore's files on whole, cut, empty and foreign input.
 *
 * The samples are the corpus of the fuzz target: the first byte says which reader, the rest is the file.
 * Whatever comes, a reader ends, what it made can be sealed, and a cut file gives no more rows than the
 * whole one. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ingest/mindspore/mindspore_int.h"
#include "store/trace.h"

enum { MOST = 128 };

typedef struct {
    int kind;
    buf bytes;
} sample;

static sample samples[MOST];
static int n_samples;

static int read_samples(void **state) {
    const char *folder = "tests/fuzz/corpus/mindspore";
    (void)state;
    DIR *d = opendir(folder);
    if (!d) return -1;
    for (struct dirent *e; n_samples < MOST && (e = readdir(d));) {
        char path[512];
        int c;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        FILE *f = e->d_name[0] == '.' ? NULL : fopen(path, "rb");
        if (!f) continue;
        sample *s = &samples[n_samples++];
        *s = (sample){.kind = fgetc(f)};
        while ((c = fgetc(f)) != EOF) buf_add_byte(&s->bytes, (char)c);
        fclose(f);
    }
    closedir(d);
    return 0;
}

static int free_samples(void **state) {
    (void)state;
    for (int i = 0; i < n_samples; i++) buf_fini(&samples[i].bytes);
    return 0;
}

/* Rows of all tables a reader may fill, and what it counted as lost; -1: refused. */
static int64_t rows_of(int kind, str text, int64_t *lost) {
    builder *b = builder_new();
    trace *t = NULL;
    error err;
    int64_t n = -1;
    status st = ms_read_one(kind, text, b, &err);
    assert_true(st == OK || st == ERR_FORMAT || st == ERR_LIMIT);
    if (st == OK) {
        assert_int_equal(builder_seal(b, NULL, &t, NULL), OK);
        n = (int64_t)t->slice.n + t->memory.n + t->producer_op.n + t->producer_step.n +
            t->pipe_op.n + t->queue_sample.n + t->meta.n;
        *lost = 0;
        for (uint32_t i = 1; i < t->quality.n; i++) *lost += t->quality.count[i];
        trace_release(t);
    }
    builder_free(b);
    return n;
}

static void every_reader_has_a_sample(void **state) {
    bool seen[256] = {0};
    (void)state;
    for (int i = 0; i < n_samples; i++) seen[samples[i].kind & 255] = true;
    for (int k = 0; k < ms_n_kinds(); k++)
        if (!seen[k]) fail_msg("reader %d has no sample in tests/fuzz/corpus/mindspore", k);
}

static void empty_files_give_nothing(void **state) {
    static const char *const empty[] = {"", "\n", "{}", "[]", "\0\0\0\0"};
    (void)state;
    for (int k = 0; k < ms_n_kinds(); k++)
        for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
            int64_t lost, n = rows_of(k, str_of(empty[i]), &lost);
            assert_true(n < 12);
        }
}

/* Damage past a cut is not invented: rows of the part are rows of the whole, but a reader may add a
 * row for what the cut left open. */
static void cut_files_give_at_most_what_whole_ones_do(void **state) {
    (void)state;
    for (int i = 0; i < n_samples; i++) {
        str whole = buf_str(&samples[i].bytes);
        int64_t lost, all = rows_of(samples[i].kind, whole, &lost);
        size_t step = whole.n / 97 + 1;
        for (size_t n = 0; n < whole.n; n += step) {
            int64_t some = rows_of(samples[i].kind, str_n(whole.p, n), &lost);
            if (some > all + 2)
                fail_msg("reader %d, cut at %zu: %lld rows of %lld", samples[i].kind, n,
                         (long long)some, (long long)all);
        }
    }
}

static void foreign_files_are_survived(void **state) {
    static const char png[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\1\0\x08\6\0\0\0";
    (void)state;
    for (int k = 0; k < ms_n_kinds(); k++) {
        int64_t lost;
        (void)rows_of(k, str_n(png, sizeof png - 1), &lost);
        (void)rows_of(k, STR("a,b,c\n1,2,3\n\"unclosed"), &lost);
        for (int i = 0; i < n_samples; i++) (void)rows_of(k, buf_str(&samples[i].bytes), &lost);
    }
}

/* One byte changed, everywhere, in steps. */
static void changed_bytes_are_survived(void **state) {
    (void)state;
    for (int i = 0; i < n_samples; i++) {
        buf *b = &samples[i].bytes;
        size_t step = b->n / 61 + 1;
        for (size_t n = 0; n < b->n; n += step) {
            char kept = b->p[n];
            int64_t lost;
            for (int k = 0; k < 3; k++) {
                b->p[n] = "\xff\"9"[k];
                (void)rows_of(samples[i].kind, buf_str(b), &lost);
            }
            b->p[n] = kept;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_reader_has_a_sample),
        cmocka_unit_test(empty_files_give_nothing),
        cmocka_unit_test(cut_files_give_at_most_what_whole_ones_do),
        cmocka_unit_test(foreign_files_are_survived),
        cmocka_unit_test(changed_bytes_are_survived),
    };
    return cmocka_run_group_tests(tests, read_samples, free_samples);
}
