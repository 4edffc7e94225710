/* comm_match_test.c: which collectives are one and the same. */
#include "fake_trace.h"

#include "analyse/run/comm_match.h"

static void add(collective_list *l, uint32_t worker, const char *name, const int64_t v[3]) {
    l->ranges[l->n] = (interval){v[0], v[0] + 10};
    l->v[l->n] = (collective){.worker = worker,
                              .name = str_of(name),
                              .sequence = v[1],
                              .comms_id = v[2],
                              .source = ABSENT_I64,
                              .target = ABSENT_I64,
                              .bytes = ABSENT_I64,
                              .first_range = l->n,
                              .n_ranges = 1,
                              .hull = {v[0], v[0] + 10}};
    l->n++;
}
#define ADD(l, worker, name, ...) add(l, worker, name, (const int64_t[]){__VA_ARGS__})

static collective_list make(arena *a) {
    return (collective_list){.v = ARENA_ARRAY(a, collective, 64),
                             .ranges = ARENA_ARRAY(a, interval, 64),
                             .arena = a};
}

static void ids_beat_sequences_and_sequences_beat_order(void **state) {
    arena a = {0};
    collective_list l = make(&a);
    ADD(&l, 0, "x", 100, ABSENT_I64, 7); /* the same id at very different times */
    ADD(&l, 0, "y", 200, 3, ABSENT_I64);
    ADD(&l, 0, "z", 300, ABSENT_I64, ABSENT_I64);
    ADD(&l, 0, "z", 250, ABSENT_I64, ABSENT_I64); /* recorded later, happened earlier */
    ADD(&l, 1, "y", 900, 3, ABSENT_I64);
    ADD(&l, 1, "x", 999, ABSENT_I64, 7);
    ADD(&l, 1, "y", 901, 4, ABSENT_I64); /* none to meet */
    ADD(&l, 1, "z", 10, ABSENT_I64, ABSENT_I64);
    ADD(&l, 1, "z", 20, ABSENT_I64, ABSENT_I64);
    comm_matches m;
    assert_int_equal(comm_match_find(&l, 2, &a, &m, NULL), OK);
    assert_int_equal(m.n, 5);
    assert_int_equal(m.n_matched, 8);
    assert_int_equal(m.n_alone, 1);
    static const uint32_t pairs[][2] = {{0, 5}, {1, 4}, {3, 7}, {2, 8}};
    for (int p = 0; p < 4; p++) {
        bool found = false;
        for (uint32_t i = 0; i < m.n; i++)
            found |= m.first[i + 1] - m.first[i] == 2 && m.member[m.first[i]] == pairs[p][0] &&
                     m.member[m.first[i] + 1] == pairs[p][1];
        assert_true(found);
    }
    arena_fini(&a);
}

/* A recording that began later, and one in which a record was dropped: clocks differ by 7000. */
static void calls_that_are_missing_shift_no_others(void **state) {
    static const int64_t ends[] = {100, 230, 300, 520, 610, 700, 950, 1000, 1200, 1310};
    arena a = {0};
    collective_list l = make(&a);
    comm_matches m;
    for (uint32_t i = 0; i < 10; i++) ADD(&l, 0, "x", ends[i], ABSENT_I64, ABSENT_I64);
    for (uint32_t i = 2; i < 10; i++)
        if (i != 5) ADD(&l, 1, "x", ends[i] + 7000 + i % 2, ABSENT_I64, ABSENT_I64);
    assert_int_equal(comm_match_find(&l, 2, &a, &m, NULL), OK);
    assert_int_equal(m.n_matched, 14);
    assert_int_equal(m.n_alone, 3);
    for (uint32_t i = 0; i < m.n; i++) {
        if (m.first[i + 1] - m.first[i] != 2) continue;
        const collective *c = &l.v[m.member[m.first[i]]], *d = &l.v[m.member[m.first[i] + 1]];
        int64_t apart = d->hull.end - c->hull.end;
        assert_true(apart == 7000 || apart == 7001);
    }
    arena_fini(&a);
}

/* Every tenth of a second the same: any shift is as good. */
static void calls_that_could_be_any_stay_alone(void **state) {
    arena a = {0};
    collective_list l = make(&a);
    comm_matches m;
    for (int64_t i = 0; i < 12; i++) ADD(&l, 0, "x", 100 * i, ABSENT_I64, ABSENT_I64);
    for (int64_t i = 0; i < 10; i++) ADD(&l, 1, "x", 5000 + 100 * i, ABSENT_I64, ABSENT_I64);
    assert_int_equal(comm_match_find(&l, 2, &a, &m, NULL), OK);
    assert_int_equal(m.n_matched, 0);
    assert_int_equal(m.n_alone, 22);
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_beat_sequences_and_sequences_beat_order),
        cmocka_unit_test(calls_that_are_missing_shift_no_others),
        cmocka_unit_test(calls_that_could_be_any_stay_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
