/* summary_test.c: summaries merge exactly, in any order; their bytes are not believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/num.h"
#include "store/file.h"
#include "store/file_int.h"
#include "store/summary_int.h"

static uint64_t next_random(uint64_t *state) {
    return hash_u64(*state += 0x9e3779b97f4a7c15u);
}

/* A synthetic row for every table; few different keys, so that rows meet. */
static void add_rows(summary *s, int table, uint64_t *seed) {
    static const char *const words[] = {"", "a", "b", "rank1", "rank10", "nccl:all_reduce"};
    for (uint64_t n = next_random(seed) % 6; n > 0; n--) {
        char *row = summary_add(s, table);
        assert_non_null(row);
        for (int c = SUMMARY_TABLES[table].first; c < summary_end(table); c++) {
            uint64_t r = next_random(seed);
            void *cell = row + SUMMARY_COLUMNS[c].offset;
            int64_t v = r % 7 == 0    ? ABSENT_I64
                        : r % 11 == 0 ? INT64_MAX / 2
                                      : (int64_t)(r % 3);
            if (SUMMARY_COLUMNS[c].how == HOW_KEY && v != ABSENT_I64 && r % 13 == 0) v = -v;
            if (SUMMARY_COLUMNS[c].cell == CELL_TEXT)
                *(str *)cell = summary_text(s, str_of(words[r % 6]));
            else if (SUMMARY_COLUMNS[c].cell == CELL_REAL)
                *(double *)cell = (double)(r % 2);
            else
                *(int64_t *)cell = v;
        }
    }
}

static summary *make(uint64_t seed) {
    summary *s = summary_new();
    for (int t = 0; t < N_SUMMARIES; t++) add_rows(s, t, &seed);
    return s;
}

enum { N_PARTS = 9 };

/* Merges the parts in a random order and a random tree; the bytes of the result. */
static buf merge_somehow(uint64_t seed, uint64_t parts_seed) {
    summary *parts[N_PARTS];
    buf out = {0};
    for (uint64_t i = 0; i < N_PARTS; i++) parts[i] = make(parts_seed + 1000 * i);
    for (size_t n = N_PARTS; n > 1; n--) {
        size_t to = next_random(&seed) % n, from = next_random(&seed) % n;
        if (to == from) from = (from + 1) % n;
        assert_int_equal(summary_merge(parts[to], parts[from], NULL), OK);
        summary_free(parts[from]);
        parts[from] = parts[n - 1];
    }
    assert_int_equal(summary_encode(parts[0], STR_NONE, &out, NULL), OK);
    summary_free(parts[0]);
    return out;
}

static void any_tree_of_merges_gives_the_same_bytes(void **state) {
    for (uint64_t parts = 1; parts < 20; parts++) {
        buf want = merge_somehow(1, parts);
        for (uint64_t seed = 2; seed < 12; seed++) {
            buf got = merge_somehow(seed, parts);
            assert_true(str_eq(buf_str(&want), buf_str(&got)));
            buf_fini(&got);
        }
        buf_fini(&want);
    }
}

static void bytes_come_back_as_they_were(void **state) {
    for (uint64_t seed = 1; seed < 50; seed++) {
        summary *s = make(seed), *back;
        buf first = {0}, second = {0};
        assert_int_equal(summary_encode(s, STR("key"), &first, NULL), OK);
        assert_int_equal(summary_decode(buf_str(&first), "x", &back, NULL), OK);
        assert_int_equal(summary_encode(back, STR("key"), &second, NULL), OK);
        assert_true(str_eq(buf_str(&first), buf_str(&second)));
        summary_free(s);
        summary_free(back);
        buf_fini(&first);
        buf_fini(&second);
    }
}

static void equal_keys_become_one_row(void **state) {
    summary *s = summary_new();
    static const struct {
        int64_t calls, total, max, min, worst;
        const char *who;
    } rows[] = {{2, 10, 7, 3, 10, "b"}, {1, 5, 5, 5, 10, "a"}, {1, 4, 4, 4, 4, "c"}};
    for (size_t i = 0; i < 3; i++) {
        summary_kernel *k = summary_add_kernel(s);
        *k = (summary_kernel){.name = summary_text(s, STR("gemm")),
                              .calls = rows[i].calls,
                              .total = rows[i].total,
                              .max = rows[i].max,
                              .min = rows[i].min,
                              .workers = 1,
                              .worst = rows[i].worst,
                              .worst_worker = summary_text(s, str_of(rows[i].who))};
    }
    assert_int_equal(summary_settle(s, NULL), OK);
    assert_int_equal(SUMMARY_N(s, kernel), 1);
    const summary_kernel *k = SUMMARY_ROWS(s, kernel);
    assert_int_equal(k->calls, 4);
    assert_int_equal(k->total, 19);
    assert_int_equal(k->max, 7);
    assert_int_equal(k->min, 3);
    assert_int_equal(k->workers, 3);
    assert_int_equal(k->worst, 10);
    assert_true(str_eq(k->worst_worker, STR("a"))); /* of two that are equally bad the lesser */
    summary_free(s);
}

static void a_damaged_file_is_refused_wherever_it_is_cut_or_changed(void **state) {
    summary *s = make(3), *back;
    buf bytes = {0};
    error err;
    assert_int_equal(summary_encode(s, STR_NONE, &bytes, NULL), OK);
    for (size_t n = 0; n < bytes.n; n += 97)
        assert_int_not_equal(summary_decode(str_n(bytes.p, n), "x", &back, &err), OK);
    assert_int_equal(summary_decode(str_n(bytes.p, bytes.n - 1), "x", &back, &err), ERR_FORMAT);
    assert_int_equal(err.message, MSG_FILE_CUT);
    const file_header *h = (const file_header *)(const void *)bytes.p;
    const file_section *toc = (const file_section *)(const void *)(h + 1);
    for (uint32_t i = 0; i < h->n_sections; i++) {
        if (!toc[i].size_bytes) continue;
        bytes.p[toc[i].offset] ^= 1;
        assert_int_equal(summary_decode(buf_str(&bytes), "x", &back, &err), ERR_FORMAT);
        assert_int_equal(err.message, MSG_FILE_DAMAGED);
        bytes.p[toc[i].offset] ^= 1;
    }
    buf_fini(&bytes);
    summary_free(s);
}

static void a_file_opens_as_a_trace_without_events(void **state) {
    char path[] = "/tmp/summary_test_XXXXXX";
    int fd = mkstemp(path);
    summary *s = make(5);
    trace *t;
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(summary_write(s, path, STR_NONE, NULL), OK);
    assert_int_equal(file_open(path, STR_NONE, &t, NULL), OK);
    assert_non_null(t->summary);
    assert_int_equal(t->slice.n, 1);
    assert_int_equal(SUMMARY_N(t->summary, step), SUMMARY_N(s, step));
    trace_release(t);
    unlink(path);
    summary_free(s);
}

static void buckets_are_in_order_and_an_eighth_wide(void **state) {
    uint32_t last = 0;
    for (int64_t ns = 0; ns < INT64_MAX / 2; ns += 1 + ns / 20) {
        uint32_t b = summary_bucket(ns);
        assert_true(b >= last && b < 512);
        assert_true(summary_bucket_ns(b) <= ns && summary_bucket_ns(b + 1) > ns);
        assert_true(ns - summary_bucket_ns(b) <= ns / 8);
        last = b;
    }
    assert_int_equal(summary_bucket(-5), 0);
}

static void fine_buckets_are_in_order_and_their_middle_is_near(void **state) {
    uint32_t last = 0;
    for (int64_t ns = 0; ns < INT64_MAX / 2; ns += 1 + ns / 150) {
        uint32_t b = summary_fine_bucket(ns);
        assert_true(b >= last);
        int64_t off = summary_fine_bucket_ns(b) - ns;
        assert_true(off <= ns / 128 + 1 && -off <= ns / 128 + 1);
        last = b;
    }
    assert_int_equal(summary_fine_bucket(-5), 0);
    assert_true(summary_fine_bucket_ns(UINT32_MAX) == INT64_MAX); /* of a damaged file */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_tree_of_merges_gives_the_same_bytes),
        cmocka_unit_test(bytes_come_back_as_they_were),
        cmocka_unit_test(equal_keys_become_one_row),
        cmocka_unit_test(a_damaged_file_is_refused_wherever_it_is_cut_or_changed),
        cmocka_unit_test(a_file_opens_as_a_trace_without_events),
        cmocka_unit_test(buckets_are_in_order_and_an_eighth_wide),
        cmocka_unit_test(fine_buckets_are_in_order_and_their_middle_is_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
