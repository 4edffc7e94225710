/* clocks_test.c: offset and drift from the ends of shared collectives. */
#include "analyse/run/clocks.h"

#include "fake_trace.h"

static void add_worker(summary *s, const char *name, int64_t rank) {
    summary_worker *w = summary_add_worker(s);
    w->name = summary_text(s, str_of(name));
    w->rank = rank;
}

/* n samples: the second worker's clock is off by offset and gains drift; noise of a microsecond. */
static void add_samples(summary *s, const char *const *pair, const int64_t line[3]) {
    for (int64_t i = 0; i < line[2]; i++) {
        summary_sample *row = summary_add_sample(s);
        int64_t at = 1000000000000 + i * 10000000;
        row->first = summary_text(s, str_of(pair[0]));
        row->second = summary_text(s, str_of(pair[1]));
        row->lot = i * 7919 % 1009;
        row->at = at;
        row->apart = line[0] + (at - 1000000000000) / 1000 * line[1] / 1000000 + i % 3 * 500;
        if (i % 9 == 4) row->apart += 5000000; /* one left late */
    }
}
#define SAMPLES(s, a, b, ...) \
    add_samples(s, (const char *const[]){a, b}, (const int64_t[]){__VA_ARGS__})

static const summary_clock *clock_of(const summary *s, const char *worker) {
    for (uint32_t i = 0; i < SUMMARY_N(s, clock); i++)
        if (str_eq(SUMMARY_ROWS(s, clock)[i].worker, str_of(worker)))
            return &SUMMARY_ROWS(s, clock)[i];
    fail_msg("no clock of %s", worker);
    return NULL;
}

static void offsets_and_drifts_add_up_along_the_way(void **state) {
    arena a = {0};
    summary *s = summary_new(), *out = summary_new();
    add_worker(s, "w0", 0);
    add_worker(s, "w1", 1);
    add_worker(s, "w2", 2);
    add_worker(s, "alone", 3);
    add_worker(s, "near", 4);
    SAMPLES(s, "w0", "w1", 5000000, 50000, 60);  /* 5 ms, 50 ppm */
    SAMPLES(s, "w1", "w2", -2000000, 20000, 60); /* through w1 only */
    SAMPLES(s, "w0", "near", 20000, 0, 60);      /* 20 µs: late, not wrong */
    assert_int_equal(clock_samples_trim(s, NULL), OK);
    assert_int_equal(clocks_solve(s, s, &a, out, NULL), OK);
    const summary_clock *w1 = clock_of(out, "w1"), *w2 = clock_of(out, "w2");
    assert_true(clock_of(out, "w0")->aligned && w1->aligned && w2->aligned);
    assert_true(llabs(w1->offset - 5000000) < 3000);
    assert_true(llabs(w1->drift_ppb - 50000) < 2000);
    assert_true(llabs(w2->offset - 3000000) < 6000);
    assert_true(llabs(w2->drift_ppb - 70000) < 4000);
    assert_true(w1->residual < 2000 && w1->samples == 60);
    assert_false(clock_of(out, "alone")->aligned);
    assert_int_equal(clock_of(out, "near")->offset, 0);
    worker_clock c = {
        .base = 1000000000000, .at = w1->at, .offset = w1->offset, .drift_ppb = w1->drift_ppb};
    /* After 600 ms its clock shows 5 ms and 30 µs more. */
    int64_t shown = 600000000 + 5000000 + 30000;
    assert_true(llabs(clock_apply(&c, shown) - 1000600000000) < 4000);
    summary_free(s);
    summary_free(out);
    arena_fini(&a);
}

static void the_samples_with_the_least_lots_stay(void **state) {
    summary *s = summary_new();
    SAMPLES(s, "a", "b", 0, 0, 300);
    SAMPLES(s, "a", "c", 0, 0, 5);
    assert_int_equal(clock_samples_trim(s, NULL), OK);
    assert_int_equal(SUMMARY_N(s, sample), CLOCK_SAMPLES + 5);
    for (uint32_t i = 1; i < CLOCK_SAMPLES; i++)
        assert_true(SUMMARY_ROWS(s, sample)[i].lot >= SUMMARY_ROWS(s, sample)[i - 1].lot);
    summary_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_and_drifts_add_up_along_the_way),
        cmocka_unit_test(the_samples_with_the_least_lots_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
