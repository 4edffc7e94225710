/* breakdown_test.c: parts add up to wholes. */
#include "fake_trace.h"

#include "analyse/device/breakdown.h"

static void means_are_rounded_to_the_nearest(void **state) {
    const int64_t parts[] = {11, 11, 11, 1};
    int64_t out[4];
    mean_parts(parts, 3, out, 4); /* 11 / 3 is nearest to 4, whatever the mean of the sum is */
    for (int i = 0; i < 3; i++) assert_int_equal(out[i], 4);
    assert_int_equal(out[3], 0);
    mean_parts(parts, 0, out, 4);
    assert_int_equal(out[0], 0);
}

/* Random events of every kind: each step's parts are exactly its length. */
static void parts_of_random_steps_add_up(void **state) {
    static const uint8_t kinds[] = {KIND_OP,     KIND_RUNTIME, KIND_DATA,  KIND_ANNOTATION,
                                    KIND_KERNEL, KIND_MEMCPY,  KIND_MEMSET};
    uint64_t seed = 7;
    for (int round = 0; round < 50; round++) {
        fake f;
        fake_init(&f);
        int host = fake_thread(&f), gpu = fake_stream(&f, 0);
        for (int i = 0; i < 5; i++) fake_step(&f, i, 100 * i, 100 * i + 90);
        for (int i = 0; i < 60; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            uint8_t kind = kinds[(seed >> 40) % 7];
            fake_add(&f, kind_is_device(kind) ? gpu : host, kind,
                     (seed >> 60) & 1 ? "nccl:all_reduce" : "x", (int64_t)(seed >> 33) % 520,
                     (int64_t)(seed >> 50) % 60);
        }
        const trace *t = fake_seal(&f);
        params p = fake_params();
        selection s;
        step_spans steps;
        role_ranges ranges;
        step_parts *parts;
        select_init(&s, t, &p);
        assert_int_equal(step_spans_make(t, &s, &f.arena, &steps, NULL), OK);
        assert_int_equal(
            role_ranges_make(t, (interval){INT64_MIN, INT64_MAX}, &f.arena, &ranges, NULL), OK);
        assert_int_equal(breakdown_make(&ranges, &steps, &f.arena, &parts, NULL), OK);
        for (uint32_t i = 0; i < steps.n; i++) {
            int64_t sum = 0;
            for (int r = 0; r < N_ROLES; r++) {
                assert_true(parts[i].ns[r] >= 0);
                sum += parts[i].ns[r];
            }
            assert_int_equal(sum, steps.v[i].end - steps.v[i].start);
        }
        fake_fini(&f);
    }
}

/* For a backward range of 100 with an operator of 30 inside. */
static int64_t host_work(const char *format, bool has_operator) {
    fake f;
    fake_init(&f);
    f.t.format = str_of(format);
    int host = fake_thread(&f);
    fake_add(&f, host, KIND_BACKWARD, "backward", 0, 100);
    if (has_operator) fake_add(&f, host, KIND_OP, "aten::mm", 10, 30);
    const trace *t = fake_seal(&f);
    role_ranges ranges;
    assert_int_equal(
        role_ranges_make(t, (interval){INT64_MIN, INT64_MAX}, &f.arena, &ranges, NULL), OK);
    int64_t ns = intervals_ns_in(&ranges.at[ROLE_CPU_EXEC], 0, 1000);
    fake_fini(&f);
    return ns;
}

static void a_range_around_work_is_not_work_where_operators_are_reported(void **state) {
    assert_int_equal(host_work("tacho_recording", true), 30);
    assert_int_equal(host_work("tacho_recording", false), 100); /* it is all there is */
    assert_int_equal(host_work("paddle", true), 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_are_rounded_to_the_nearest),
        cmocka_unit_test(parts_of_random_steps_add_up),
        cmocka_unit_test(a_range_around_work_is_not_work_where_operators_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
