/* change_points_test.c: planted changes of level are found where they are, noise is not one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "analyse/check/change_points.h"
#include "base/map.h"
#include "base/num.h"

enum { MOST = 200 };

static arena scratch;
static uint64_t seed;

static double uniform(void) {
    return (double)(hash_u64(seed += 0x9e3779b97f4a7c15u) >> 11) / 9007199254740992.0;
}

/* Nearly normal, of variance 1. */
static double noise(void) {
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += uniform();
    return sum;
}

typedef struct {
    uint32_t at;
    double level;
} planted;

/* Levels from the given places on; the last one is n. */
static uint32_t make(series_point *v, const planted *p, double spread) {
    uint32_t n = 0;
    for (double level = 0;; p++) {
        for (; n < p->at; n++)
            v[n] = (series_point){.value = level + spread * noise(), .variance = 0};
        if (!(p->level > 0)) return n;
        level = p->level;
    }
}

static change_points find(const series_point *v, uint32_t n) {
    change_points found;
    error err;
    arena_reset(&scratch);
    assert_int_equal(change_points_find(v, n, 0.01, &scratch, &found, &err), OK);
    return found;
}

static void noise_alone_is_not_a_change(void **state) {
    uint32_t alarms = 0, rounds = 0;
    series_point v[MOST];
    for (uint32_t n = 4; n <= 100; n += 12)
        for (seed = 1; seed <= 200; seed++, rounds++) {
            const planted p[] = {{0, 100}, {n, 0}};
            make(v, p, 3);
            change_points found = find(v, n);
            for (uint32_t i = 0; i < found.n; i++) alarms += found.v[i].certain;
        }
    if (alarms > rounds / 50) fail_msg("%u false alarms in %u histories", alarms, rounds);
}

static void a_planted_change_is_found_where_it_is(void **state) {
    uint32_t hits = 0, others = 0, rounds = 0;
    series_point v[MOST];
    for (seed = 1; seed <= 300; seed++, rounds++) {
        uint32_t at = 6 + (uint32_t)(uniform() * 28);
        const planted p[] = {{0, 100}, {at, 115}, {40, 0}};
        make(v, p, 3);
        change_points found = find(v, 40);
        for (uint32_t i = 0; i < found.n; i++) {
            uint32_t away = found.v[i].at > at ? found.v[i].at - at : at - found.v[i].at;
            if (away > 1) others += found.v[i].certain;
            if (away > 1) continue;
            hits++;
            assert_true(fabs(found.v[i].to - found.v[i].from - 15) < 8);
            assert_true(found.v[i].low < found.v[i].high);
            assert_true(found.v[i].certain);
        }
    }
    if (hits < rounds * 95 / 100) fail_msg("%u of %u found", hits, rounds);
    if (others > rounds * 4 / 100) fail_msg("%u changes that are not there", others);
}

static void several_changes_are_several(void **state) {
    series_point v[MOST];
    const planted p[] = {{0, 100}, {12, 130}, {25, 90}, {38, 100}, {50, 0}};
    seed = 7;
    uint32_t n = make(v, p, 2);
    change_points found = find(v, n);
    assert_int_equal(found.n, 3);
    assert_int_equal(found.v[0].at, 12);
    assert_int_equal(found.v[1].at, 25);
    assert_int_equal(found.v[2].at, 38);
    assert_int_equal(found.v[1].before, 13);
    assert_int_equal(found.v[1].after, 13);
}

static void counts_without_noise_change_where_they_change(void **state) {
    series_point v[MOST];
    const planted p[] = {{0, 272}, {5, 296}, {9, 0}}, same[] = {{0, 272}, {9, 0}};
    change_points found = find(v, make(v, p, 0));
    assert_int_equal(found.n, 1);
    assert_int_equal(found.v[0].at, 5);
    assert_true(found.v[0].certain);
    assert_int_equal(find(v, make(v, same, 0)).n, 0);
}

static void one_run_out_of_line_is_not_a_level(void **state) {
    series_point v[MOST];
    const planted p[] = {{0, 100}, {20, 0}};
    seed = 3;
    make(v, p, 1);
    v[9].value = 180;
    assert_int_equal(find(v, 20).n, 0);
}

static void the_last_run_may_be_the_first_of_a_new_level(void **state) {
    series_point v[MOST];
    const planted one[] = {{0, 100}, {20, 130}, {21, 0}},
                  two[] = {{0, 100}, {20, 130}, {22, 0}};
    seed = 5;
    change_points found = find(v, make(v, one, 1));
    assert_int_equal(found.n, 1);
    assert_int_equal(found.v[0].at, 20);
    assert_false(found.v[0].certain);
    found = find(v, make(v, two, 1));
    assert_int_equal(found.n, 1);
    assert_int_equal(found.v[0].at, 20);
    assert_false(found.v[0].certain);
}

static void the_noise_of_steps_counts_as_well(void **state) {
    series_point v[MOST];
    const planted p[] = {{0, 100}, {5, 110}, {10, 0}};
    uint32_t n = make(v, p, 0);
    assert_int_equal(find(v, n).n, 1);
    for (uint32_t i = 0; i < n; i++) v[i].variance = 100;
    assert_int_equal(find(v, n).n, 0);
}

static void small_changes_are_not_listed(void **state) {
    series_point v[MOST];
    const planted p[] = {{0, 1000}, {10, 1005}, {20, 0}};
    assert_int_equal(find(v, make(v, p, 0)).n, 0);
}

static void a_short_history_is_fine(void **state) {
    series_point v[MOST] = {{1, 0}, {5, 0}, {1, 0}};
    for (uint32_t n = 0; n <= 3; n++) assert_int_equal(find(v, n).n, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_alone_is_not_a_change),
        cmocka_unit_test(a_planted_change_is_found_where_it_is),
        cmocka_unit_test(several_changes_are_several),
        cmocka_unit_test(counts_without_noise_change_where_they_change),
        cmocka_unit_test(one_run_out_of_line_is_not_a_level),
        cmocka_unit_test(the_last_run_may_be_the_first_of_a_new_level),
        cmocka_unit_test(the_noise_of_steps_counts_as_well),
        cmocka_unit_test(small_changes_are_not_listed),
        cmocka_unit_test(a_short_history_is_fine),
    };
    arena_init(&scratch, 0);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_fini(&scratch);
    return failed;
}
