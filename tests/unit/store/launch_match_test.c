/* launch_match_test.c: launches of a step that are those of another. Letters are launches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/launch_match.h"

enum { ROOM = 8192 };

typedef struct {
    uint64_t key[ROOM], truth[ROOM]; /* truth: which launch of the program it is */
    uint32_t n;
} sequence;

static sequence known, other;
static uint32_t match[ROOM];

static void add(sequence *s, const char *text) {
    for (const char *c = text; *c; c++) s->key[s->n++] = (uint8_t)*c;
}

/* n launches that occur nowhere else. */
static void add_own(sequence *s, uint64_t first, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) s->key[s->n++] = 1000 + first + i;
}

static uint32_t run_match(void) {
    uint32_t n = 0;
    error err = {0};
    launch_list a = {known.key, known.n}, b = {other.key, other.n};
    assert_int_equal(launch_match(a, b, match, &n, &err), OK);
    uint32_t counted = 0;
    for (uint32_t i = 0; i < other.n; i++) counted += match[i] != LAUNCH_UNKNOWN;
    assert_int_equal(counted, n);
    for (uint32_t i = 0; i < other.n; i++)
        if (match[i] != LAUNCH_UNKNOWN) assert_int_equal(known.key[match[i]], other.key[i]);
    return n;
}

static int setup(void **state) {
    (void)state;
    known.n = other.n = 0;
    return 0;
}

static void equal_steps_match_whole(void **state) {
    (void)state;
    add(&known, "abcabcaaaa");
    add(&other, "abcabcaaaa");
    assert_int_equal(run_match(), 10);
    for (uint32_t i = 0; i < other.n; i++) assert_int_equal(match[i], i);
}

static void empty_steps_match_nothing(void **state) {
    (void)state;
    assert_int_equal(run_match(), 0);
    add(&known, "abc");
    assert_int_equal(run_match(), 0);
    known.n = 0;
    add(&other, "abc");
    assert_int_equal(run_match(), 0);
}

static void what_is_near_an_inserted_kernel_is_unknown(void **state) {
    (void)state;
    add_own(&known, 0, 100);
    add_own(&other, 0, 50);
    add(&other, "x");
    add_own(&other, 50, 50);
    assert_int_equal(run_match(), 100 - 2 * 16);
    assert_int_equal(match[33], 33);
    assert_int_equal(match[34], LAUNCH_UNKNOWN);
    assert_int_equal(match[50], LAUNCH_UNKNOWN);
    assert_int_equal(match[66], LAUNCH_UNKNOWN);
    assert_int_equal(match[67], 66);
}

static void work_between_two_differences_is_found(void **state) {
    (void)state;
    add_own(&known, 0, 150);
    add_own(&other, 0, 50);
    add(&other, "x");
    add_own(&other, 50, 50);
    add(&other, "y");
    add_own(&other, 101, 49); /* one is left out here */
    assert_int_equal(run_match(), 34 + 18 + 33);
    assert_int_equal(match[51 + 16], 66);
}

static void another_branch_is_unknown(void **state) {
    (void)state;
    add_own(&known, 0, 40);
    add(&known, "abcde");
    add_own(&known, 40, 40);
    add_own(&other, 0, 40);
    add(&other, "abxde"); /* a, b, d and e are of other code */
    add_own(&other, 40, 40);
    run_match();
    for (uint32_t i = 40; i < 45; i++) assert_int_equal(match[i], LAUNCH_UNKNOWN);
    assert_int_equal(match[0], 0);
    assert_int_equal(match[84], 84);
}

static void equal_layers_are_unknown_when_one_is_missing(void **state) {
    (void)state;
    add_own(&known, 0, 40);
    for (int i = 0; i < 6; i++) add_own(&known, 500, 30);
    add_own(&known, 40, 40);
    add_own(&other, 0, 40);
    for (int i = 0; i < 5; i++) add_own(&other, 500, 30);
    add_own(&other, 40, 40);
    assert_int_equal(run_match(), 2 * (40 - 16));
    for (uint32_t i = 24; i < 40 + 150 + 16; i++) assert_int_equal(match[i], LAUNCH_UNKNOWN);
}

static void equal_layers_after_another_branch_are_unknown(void **state) {
    (void)state;
    for (int is_known = 0; is_known < 2; is_known++) {
        sequence *s = is_known ? &known : &other;
        add_own(s, 0, 40);
        add(s, is_known ? "x" : "y");
        for (int i = 0; i < (is_known ? 4 : 3); i++) add_own(s, 500, 30);
        add_own(s, 40, 40);
    }
    assert_int_equal(run_match(), 2 * (40 - 16));
    for (uint32_t i = 24; i < 41 + 90; i++) assert_int_equal(match[i], LAUNCH_UNKNOWN);
}

static void streams_in_another_order_are_unknown(void **state) {
    (void)state;
    add_own(&known, 0, 30);
    add(&known, "aAbBcCdDeEfF");
    add_own(&known, 30, 30);
    add_own(&other, 0, 30);
    add(&other, "aAbBCcdDEeFf");
    add_own(&other, 30, 30);
    assert_int_equal(run_match(), 18 + 14);
    for (uint32_t i = 18; i < 46; i++) assert_int_equal(match[i], LAUNCH_UNKNOWN);
}

static void steps_with_nothing_in_common_match_nothing(void **state) {
    (void)state;
    add_own(&known, 0, 3000);
    add_own(&other, 4000, 3000);
    assert_int_equal(run_match(), 0);
}

/* ---- programs with branches -------------------------------------------------------------------- */

static uint64_t seed;

static uint32_t below(uint32_t n) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % n);
}

enum { MOST_BRANCHES = 5, MOST_COMMON = 80, MOST_BODY = 12, VARIANTS = 3 };

typedef struct {
    uint64_t common[MOST_BRANCHES + 1][MOST_COMMON], body[MOST_BRANCHES][VARIANTS][MOST_BODY];
    uint32_t n_common[MOST_BRANCHES + 1], n_body[MOST_BRANCHES][VARIANTS];
    uint32_t n_branches;
} program;

/* Branches run at least one kernel that no other runs, or nothing; the first of some programs
 * only inserts kernels that others run, too. All else comes from few kernels, often one after
 * the other. */
static void make_program(program *p) {
    static const uint32_t KERNELS[] = {1, 2, 3, 5, 40, 100000};
    uint32_t kernels = KERNELS[below(6)];
    p->n_branches = 1 + below(MOST_BRANCHES);
    bool bare = below(4) == 0;
    for (uint32_t b = 0; b <= p->n_branches; b++) {
        p->n_common[b] = below(MOST_COMMON);
        for (uint32_t i = 0; i < p->n_common[b]; i++) p->common[b][i] = below(kernels);
    }
    for (uint32_t b = 0; b < p->n_branches; b++)
        for (uint32_t v = 0; v < VARIANTS; v++) {
            p->n_body[b][v] = below(3) ? 1 + below(MOST_BODY) : 0;
            if (bare && b == 0 && v == 0) p->n_body[b][v] = 0;
            for (uint32_t i = 0; i < p->n_body[b][v]; i++) p->body[b][v][i] = below(kernels);
            if (p->n_body[b][v] && !(bare && b == 0))
                p->body[b][v][below(p->n_body[b][v])] = 1000000 + b * 100 + v;
        }
    if (bare) p->n_body[0][2] = 0;
}

static void put(sequence *s, const uint64_t *key, uint32_t n, uint64_t truth) {
    for (uint32_t i = 0; i < n; i++) {
        s->key[s->n] = key[i];
        s->truth[s->n++] = truth + i;
    }
}

static void run_program(const program *p, const uint32_t *taken, sequence *s) {
    s->n = 0;
    for (uint32_t b = 0; b <= p->n_branches; b++) {
        put(s, p->common[b], p->n_common[b], (uint64_t)b << 32);
        if (b == p->n_branches) break;
        uint32_t v = taken[b];
        put(s, p->body[b][v], p->n_body[b][v], (uint64_t)(1 + b * VARIANTS + v) << 40);
    }
}

static void no_launch_is_ever_taken_for_another(void **state) {
    (void)state;
    static program p;
    uint64_t n_launches = 0, n_found = 0;
    for (uint64_t i = 0; i < 40000; i++) {
        uint32_t one[MOST_BRANCHES], two[MOST_BRANCHES];
        seed = i;
        make_program(&p);
        for (uint32_t b = 0; b < p.n_branches; b++) {
            one[b] = below(VARIANTS);
            two[b] = below(3) ? one[b] : below(VARIANTS);
        }
        run_program(&p, one, &known);
        run_program(&p, two, &other);
        n_found += run_match();
        n_launches += other.n;
        for (uint32_t k = 0; k < other.n; k++)
            if (match[k] != LAUNCH_UNKNOWN && known.truth[match[k]] != other.truth[k])
                fail_msg("program %u: launch %u is not launch %u", (unsigned)i, k, match[k]);
    }
    assert_true(n_found > n_launches / 4); /* it does find something */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(equal_steps_match_whole, setup),
        cmocka_unit_test_setup(empty_steps_match_nothing, setup),
        cmocka_unit_test_setup(what_is_near_an_inserted_kernel_is_unknown, setup),
        cmocka_unit_test_setup(work_between_two_differences_is_found, setup),
        cmocka_unit_test_setup(another_branch_is_unknown, setup),
        cmocka_unit_test_setup(equal_layers_are_unknown_when_one_is_missing, setup),
        cmocka_unit_test_setup(equal_layers_after_another_branch_are_unknown, setup),
        cmocka_unit_test_setup(streams_in_another_order_are_unknown, setup),
        cmocka_unit_test_setup(steps_with_nothing_in_common_match_nothing, setup),
        cmocka_unit_test_setup(no_launch_is_ever_taken_for_another, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
