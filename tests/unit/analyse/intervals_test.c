/* intervals_test.c: the arithmetic of ranges; the original's cases, times ten. */
#include "fake_trace.h"

#include "analyse/intervals.h"

static intervals make(arena *a, const int64_t *v, size_t n) {
    intervals s = intervals_in(a);
    for (size_t i = 0; i < n; i += 2) intervals_add(&s, v[i], v[i + 1]);
    intervals_merge(&s);
    assert_false(s.failed);
    return s;
}
#define MAKE(a, ...) \
    make(a, (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / 8)

static void check(const intervals *s, const int64_t *v, size_t n) {
    assert_int_equal(s->n, n / 2);
    for (size_t i = 0; i < s->n; i++) {
        assert_int_equal(s->v[i].start, v[2 * i]);
        assert_int_equal(s->v[i].end, v[2 * i + 1]);
    }
}
#define CHECK(s, ...) \
    check(s, (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / 8)

static void overlapping_and_touching_ranges_join(void **state) {
    arena a = {0};
    intervals s = MAKE(&a, 11, 22, 15, 23, 33, 39, 35, 36, 37, 38, 41, 42);
    CHECK(&s, 11, 23, 33, 39, 41, 42);
    s = MAKE(&a, 41, 42, 37, 38, 33, 39, 11, 22, 35, 36, 15, 23); /* any order */
    CHECK(&s, 11, 23, 33, 39, 41, 42);
    s = MAKE(&a, 5, 10, 10, 12, 20, 20, 0, 5); /* touching join, empty vanish */
    CHECK(&s, 0, 12);
    s = MAKE(&a, 0, 5, 5, 10); /* also when they come in order */
    CHECK(&s, 0, 10);
    s = MAKE(&a, -5, -3, -9, -7);
    CHECK(&s, -9, -7, -5, -3);
    arena_fini(&a);
}

static void intersection_and_difference(void **state) {
    arena a = {0};
    intervals x = MAKE(&a, 11, 22, 33, 44, 55, 66);
    intervals y = MAKE(&a, 0, 1, 10, 14, 15, 16, 19, 34, 43, 46);
    intervals both = intervals_and(&x, &y), rest = intervals_minus(&x, &y);
    CHECK(&both, 11, 14, 15, 16, 19, 22, 33, 34, 43, 44);
    CHECK(&rest, 14, 15, 16, 19, 34, 43, 55, 66);
    assert_int_equal(intervals_ns(&x), 33);
    assert_int_equal(intervals_ns(&both) + intervals_ns(&rest), 33);
    intervals nothing = intervals_in(&a);
    both = intervals_and(&x, &nothing);
    rest = intervals_minus(&x, &nothing);
    assert_int_equal(both.n, 0);
    CHECK(&rest, 11, 22, 33, 44, 55, 66);
    rest = intervals_minus(&x, &x);
    assert_int_equal(rest.n, 0);
    arena_fini(&a);
}

/* Runs one after the other, as threads make them: few are merged, many are sorted. */
static void any_number_of_runs_is_put_in_order(void **state) {
    enum { EACH = 50 };
    for (int n_runs = 1; n_runs <= 130; n_runs += n_runs < 8 ? 1 : 7) {
        arena a = {0};
        intervals s = intervals_in(&a);
        for (int run = 0; run < n_runs; run++)
            for (int i = 0; i < EACH; i++) {
                int64_t start = (int64_t)(i * n_runs + (run * 37) % n_runs) * 10;
                intervals_add(&s, start, start + 5);
            }
        size_t n = s.n;
        intervals_merge(&s);
        assert_false(s.failed);
        for (size_t i = 1; i < s.n; i++) assert_true(s.v[i].start > s.v[i - 1].end);
        if (n_runs % 37) assert_int_equal(s.n, n); /* all starts differ */
        assert_int_equal(intervals_ns(&s), (int64_t)s.n * 5);
        arena_fini(&a);
    }
}

static void parts_add_up_for_random_sets(void **state) {
    arena a = {0};
    uint64_t seed = 42;
    for (int round = 0; round < 200; round++) {
        intervals s[2] = {intervals_in(&a), intervals_in(&a)};
        bool in[2][100] = {{false}};
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < 12; i++) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                int64_t start = (int64_t)(seed >> 33) % 90,
                        end = start + (int64_t)(seed >> 50) % 10;
                intervals_add(&s[k], start, end);
                for (int64_t m = start; m < end; m++) in[k][m] = true;
            }
        intervals_merge(&s[0]);
        intervals_merge(&s[1]);
        intervals both = intervals_and(&s[0], &s[1]), rest = intervals_minus(&s[0], &s[1]);
        int64_t n_both = 0, n_rest = 0, n_window = 0;
        for (int m = 0; m < 100; m++) {
            n_both += in[0][m] && in[1][m];
            n_rest += in[0][m] && !in[1][m];
            n_window += in[0][m] && m >= 20 && m < 57;
        }
        assert_int_equal(intervals_ns(&both), n_both);
        assert_int_equal(intervals_ns(&rest), n_rest);
        assert_int_equal(intervals_ns_in(&s[0], 20, 57), n_window);
        arena_reset(&a);
    }
}

static void a_full_arena_is_noticed(void **state) {
    arena a;
    arena_init(&a, 4096);
    intervals s = intervals_in(&a);
    for (int64_t i = 0; i < 10000; i++) intervals_add(&s, 10 * i, 10 * i + 1);
    assert_true(s.failed);
    intervals other = intervals_in(&a);
    assert_true(intervals_and(&other, &s).failed);
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlapping_and_touching_ranges_join),
        cmocka_unit_test(intersection_and_difference),
        cmocka_unit_test(any_number_of_runs_is_put_in_order),
        cmocka_unit_test(parts_add_up_for_random_sets),
        cmocka_unit_test(a_full_arena_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
