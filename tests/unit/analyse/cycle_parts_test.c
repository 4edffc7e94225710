/* cycle_parts_test.c: what an iteration of a server is spent on. */
#include "fake_trace.h"

#include "analyse/serving/cycle_parts.h"

static void add_launch(fake *f, int host, int gpu, uint8_t kind, int64_t at, int64_t start,
                       int64_t dur) {
    int call = fake_add(f, host, KIND_RUNTIME, "cudaLaunchKernel", at, 5);
    fake_work(f, gpu, kind, kind == KIND_KERNEL ? "gemm" : "Memcpy DtoH", start, dur, call);
}

static void expect(const cycle *c, const int64_t ns[N_CYCLE_PARTS]) {
    for (int p = 0; p < N_CYCLE_PARTS; p++)
        if (c->ns[p] != ns[p])
            fail_msg("part %d: %lld, not %lld", p, (long long)c->ns[p], (long long)ns[p]);
}

/*  host  ▐launch▌            ▐sampler ▐launch▌▌  ▐launch▌
 *  device      ▐─ gemm 20…60 ─▌  ▐─ 70…80 ─▌     ▐copy 85…95▌   iteration 0…100 */
static void device_work_is_of_where_it_was_launched(void **state) {
    (void)state;
    fake f;
    arena a;
    cycle *c;
    fake_init(&f);
    arena_init(&a, 0);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    fake_add(&f, host, KIND_ANNOTATION, "Sampler", 60, 15);
    add_launch(&f, host, gpu, KIND_KERNEL, 10, 20, 40);
    add_launch(&f, host, gpu, KIND_KERNEL, 62, 70, 10);
    add_launch(&f, host, gpu, KIND_MEMCPY, 80, 85, 10);
    served_iteration its[] = {{.start = 0, .end = 100, .gap = 0},
                              {.start = 130, .end = 150, .gap = 30}};
    served s = {.v = its, .n = 2};
    assert_int_equal(cycles_make(fake_seal(&f), &s, &a, &c, NULL), OK);
    /* launch: calls at 10, 62, 80 of 5 ns each, while the device is idle */
    expect(&c[0], (const int64_t[N_CYCLE_PARTS]){[PART_SAMPLING] = 10,
                                                 [PART_COMPUTE] = 40,
                                                 [PART_COPIES] = 10,
                                                 [PART_LAUNCH] = 15,
                                                 [PART_IDLE] = 25});
    expect(&c[1], (const int64_t[N_CYCLE_PARTS]){[PART_SCHEDULER] = 30, [PART_IDLE] = 20});
    arena_fini(&a);
    fake_fini(&f);
}

static void without_a_device_operators_compute(void **state) {
    (void)state;
    fake f;
    arena a;
    cycle *c;
    fake_init(&f);
    arena_init(&a, 0);
    int host = fake_thread(&f);
    fake_add(&f, host, KIND_OP, "aten::mm", 10, 50);
    fake_add(&f, host, KIND_OP, "aten::argmax", 70, 5);
    served_iteration its[] = {{.start = 0, .end = 100, .gap = 7}};
    served s = {.v = its, .n = 1};
    assert_int_equal(cycles_make(fake_seal(&f), &s, &a, &c, NULL), OK);
    expect(
        &c[0],
        (const int64_t[N_CYCLE_PARTS]){
            [PART_SCHEDULER] = 7, [PART_SAMPLING] = 5, [PART_COMPUTE] = 50, [PART_IDLE] = 45});
    arena_fini(&a);
    fake_fini(&f);
}

static void names_tell_sampling_from_other_samples(void **state) {
    (void)state;
    assert_true(is_sampling_name(STR("nn.Module: Sampler_0")));
    assert_true(is_sampling_name(STR("aten::multinomial")));
    assert_true(is_sampling_name(STR("vllm/v1/sample/sampler.py(88): forward")));
    assert_true(is_sampling_name(STR("model_runner.py(7): sample")));
    assert_false(is_sampling_name(STR("aten::upsample_nearest2d")));
    assert_false(is_sampling_name(STR("aten::grid_sampler_2d")));
    assert_false(is_sampling_name(STR("aten::mm")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_work_is_of_where_it_was_launched),
        cmocka_unit_test(without_a_device_operators_compute),
        cmocka_unit_test(names_tell_sampling_from_other_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
