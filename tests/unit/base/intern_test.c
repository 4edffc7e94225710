/* intern_test.c: same bytes, same id; also from several threads, also when memory runs out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/hash.h"
#include "base/intern.h"

static str numbered(char *text, size_t size, unsigned i) {
    return str_n(text,
                 (size_t)snprintf(text, size, "aten::op_%u/%.*s", i, (int)(i % 90),
                                  "a long tail that makes the lengths differ, so that every "
                                  "branch of the hash is taken at some point"));
}

static void ids_are_dense_and_the_empty_string_is_zero(void **state) {
    intern *t = intern_new();
    assert_int_equal(intern_count(t), 1);
    assert_int_equal(intern_add(t, STR("")), 0);
    assert_int_equal(intern_add(t, STR_NONE), 0);
    assert_int_equal(intern_add(t, STR("b")), 1);
    assert_int_equal(intern_add(t, STR("a")), 2);
    assert_int_equal(intern_add(t, STR("b")), 1);
    assert_int_equal(intern_count(t), 3);
    assert_int_equal(intern_bytes(t), 2);
    assert_int_equal(intern_get(t, 0).n, 0);
    assert_non_null(intern_get(t, 0).p);
    intern_free(t);
    intern_free(NULL);
}

static void what_was_added_is_found_and_nothing_else(void **state) {
    intern *t = intern_new();
    assert_int_equal(intern_find(t, STR("x")), UINT32_MAX);
    uint32_t id = intern_add(t, STR("x"));
    assert_int_equal(intern_find(t, STR("x")), id);
    assert_int_equal(intern_find(t, STR("xx")), UINT32_MAX);
    assert_int_equal(intern_find(t, STR("")), 0);
    assert_int_equal(intern_get(t, 77).n, 0);
    assert_int_equal(intern_get(t, UINT32_MAX).n, 0);
    assert_int_equal(intern_get(t, 1u << 20).n, 0);
    intern_free(t);
}

static void every_length_and_every_byte_counts(void **state) {
    intern *t = intern_new();
    char text[300];
    uint32_t next = 1;
    for (size_t n = 1; n < sizeof text; n++) {
        memset(text, 'x', sizeof text);
        assert_int_equal(intern_add(t, str_n(text, n)), next++);
        for (size_t i = 0; i < n; i++) {
            text[i] = 'y';
            uint64_t with = intern_hash(str_n(text, n));
            text[i] = 'x';
            assert_true(with != intern_hash(str_n(text, n)));
            if (i % 7 && i + 1 != n) continue;
            text[i] = 'y';
            assert_int_equal(intern_add(t, str_n(text, n)), next++);
            text[i] = 'x';
        }
    }
    intern_free(t);
}

static void many_strings_keep_their_ids_and_places(void **state) {
    enum { N = 200000 };
    intern *t = intern_new();
    char text[160];
    const char *first = NULL;
    uint64_t bytes = 0;
    for (unsigned i = 1; i <= N; i++) {
        str s = numbered(text, sizeof text, i);
        bytes += s.n;
        assert_int_equal(intern_add(t, s), i);
        if (i == 1) first = intern_get(t, 1).p;
    }
    assert_int_equal(intern_count(t), N + 1);
    assert_int_equal(intern_bytes(t), bytes);
    assert_ptr_equal(intern_get(t, 1).p, first);
    for (unsigned i = 1; i <= N; i++) {
        str s = numbered(text, sizeof text, i);
        assert_true(str_eq(intern_get(t, i), s));
        assert_int_equal(intern_get(t, i).p[s.n], 0); /* NUL after it */
        assert_int_equal(intern_find(t, s), i);
        assert_int_equal(intern_add_hashed(t, s, intern_hash(s)), i);
    }
    intern_free(t);
}

static void equal_hashes_are_distinguished(void **state) {
    intern *t = intern_new();
    char text[160];
    for (unsigned i = 1; i <= 3000; i++) /* all in one place */
        assert_int_equal(intern_add_hashed(t, numbered(text, sizeof text, i), UINT64_MAX), i);
    for (unsigned i = 1; i <= 3000; i++)
        assert_int_equal(intern_add_hashed(t, numbered(text, sizeof text, i), UINT64_MAX), i);
    intern_free(t);
}

static void long_strings_have_room(void **state) {
    intern *t = intern_new();
    size_t n = (size_t)3 << 20;
    char *text = malloc(n);
    memset(text, 'q', n);
    uint32_t id = intern_add(t, str_n(text, n)), small = intern_add(t, STR("small"));
    assert_int_equal(intern_add(t, str_n(text, n)), id);
    assert_int_not_equal(intern_add(t, str_n(text, n - 1)), id);
    assert_true(str_eq(intern_get(t, id), str_n(text, n)));
    assert_true(str_eq(intern_get(t, small), STR("small")));
    free(text);
    intern_free(t);
}

static void hashes_spread_over_their_upper_bits(void **state) {
    enum { PLACES = 1 << 12, N = PLACES * 8 };
    static unsigned counts[PLACES];
    char text[32];
    for (int i = 0; i < N; i++) {
        int n = snprintf(text, sizeof text, "k%d", i);
        counts[intern_hash(str_n(text, (size_t)n)) >> 52]++;
    }
    double chi = 0; /* mean PLACES, deviation √(2·PLACES) ≈ 90 */
    for (int i = 0; i < PLACES; i++) chi += (counts[i] - 8.0) * (counts[i] - 8.0) / 8.0;
    assert_true(chi > PLACES - 700 && chi < PLACES + 700);
}

/* Several threads add overlapping sets in different orders. */
typedef struct {
    intern *t;
    unsigned step;
    uint32_t ids[20000];
} adder;

static void *add_all(void *p) {
    adder *a = p;
    char text[160];
    unsigned i = 0;
    for (int k = 0; k < 20000; k++) {
        i = (i + a->step) % 20000;
        a->ids[i] = intern_add(a->t, numbered(text, sizeof text, i));
        str back = intern_get(a->t, a->ids[i]);
        if (!str_eq(back, numbered(text, sizeof text, i))) a->ids[i] = UINT32_MAX;
    }
    return NULL;
}

static void threads_agree_on_the_ids(void **state) {
    enum { THREADS = 4 };
    static adder all[THREADS];
    static const unsigned steps[THREADS] = {1, 19999, 7, 9973};
    pthread_t threads[THREADS];
    intern *t = intern_new();
    for (int i = 0; i < THREADS; i++) {
        all[i].t = t;
        all[i].step = steps[i];
        assert_int_equal(pthread_create(&threads[i], NULL, add_all, &all[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    assert_int_equal(intern_count(t), 20001);
    for (int i = 0; i < THREADS; i++)
        assert_memory_equal(all[i].ids, all[0].ids, sizeof all[0].ids);
    assert_true(all[0].ids[0] != UINT32_MAX && all[0].ids[19999] != UINT32_MAX);
    intern_free(t);
}

static void each_failing_allocation_is_survived(void **state) {
    char text[160];
    fault_arm(FAULT_ALLOC, UINT64_MAX);
    intern *t = intern_new();
    for (unsigned i = 1; i <= 40000; i++) intern_add(t, numbered(text, sizeof text, i));
    intern_free(t);
    uint64_t points = fault_count(FAULT_ALLOC);
    assert_true(points > 8);
    for (uint64_t nth = 1; nth <= points; nth++) {
        fault_arm(FAULT_ALLOC, nth);
        t = intern_new();
        if (!t) continue;
        unsigned failures = 0;
        for (unsigned i = 1; i <= 40000; i++) {
            str s = numbered(text, sizeof text, i);
            uint32_t id = intern_add(t, s);
            if (id == UINT32_MAX) {
                failures++;
                id = intern_add(t, s); /* the next attempt has memory again */
            }
            assert_int_equal(id, i);
        }
        assert_int_equal(failures, 1);
        intern_free(t);
    }
    fault_arm(FAULT_ALLOC, 0);
}

/* Resident pages of this process. */
static long resident_pages(void) {
    long all = 0, resident = 0;
    FILE *in = fopen("/proc/self/statm", "r");
    assert_non_null(in);
    assert_int_equal(fscanf(in, "%ld %ld", &all, &resident), 2);
    fclose(in);
    return resident;
}

/* XXH3 has a fixed secret: texts that begin with its first eight bytes have one hash, whatever
 * follows these. Tables of what a file names use intern_hash for that reason. */
static void a_file_cannot_choose_texts_of_one_hash(void **state) {
    enum { N = 1000 };
    char text[] = "\xB8\xFE\x6C\x39\x23\xA4\x4B\xBE"
                  "00000000of_a_hostile_one";
    static uint64_t hashes[N];
    uint64_t fixed = hash_bytes64(text, 32);
    for (int i = 0; i < N; i++) {
        snprintf(text + 8, 9, "%08d", i);
        text[16] = 'o';
        assert_int_equal(hash_bytes64(text, 32), fixed);
        hashes[i] = intern_hash(str_n(text, 32));
        for (int k = 0; k < i; k++) assert_true(hashes[k] != hashes[i]);
    }
}

/* One for each worker of a job of thousands. */
static void a_table_with_few_texts_takes_little_memory(void **state) {
    enum { N = 200 };
    intern *all[N];
    long before = resident_pages();
    for (int i = 0; i < N; i++) {
        all[i] = intern_new();
        assert_non_null(all[i]);
        assert_int_equal(intern_add(all[i], STR("a name")), 1);
        assert_int_equal(intern_add(all[i], STR("another")), 2);
    }
    long kib = (resident_pages() - before) * (sysconf(_SC_PAGESIZE) / 1024);
    assert_true(kib < N * 100);
    for (int i = 0; i < N; i++) intern_free(all[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_cannot_choose_texts_of_one_hash),
        cmocka_unit_test(a_table_with_few_texts_takes_little_memory),
        cmocka_unit_test(ids_are_dense_and_the_empty_string_is_zero),
        cmocka_unit_test(what_was_added_is_found_and_nothing_else),
        cmocka_unit_test(every_length_and_every_byte_counts),
        cmocka_unit_test(many_strings_keep_their_ids_and_places),
        cmocka_unit_test(equal_hashes_are_distinguished),
        cmocka_unit_test(long_strings_have_room),
        cmocka_unit_test(hashes_spread_over_their_upper_bits),
        cmocka_unit_test(threads_agree_on_the_ids),
        cmocka_unit_test(each_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
