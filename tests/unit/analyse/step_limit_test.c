/* step_limit_test.c: what limits a step, and which headlines say so. */
#include "analyse/device/step_limit.h"

#include "fake_trace.h"

enum { US = 1000 };

typedef struct {
    fake f;
    arena arena;
    int host, gpu;
} limit_case;

static void begin(limit_case *c) {
    fake_init(&c->f);
    arena_init(&c->arena, 0);
    c->host = fake_thread(&c->f);
    c->gpu = fake_stream(&c->f, 0);
    fake_step(&c->f, 1, 0, 1000 * US);
}

static void end(limit_case *c) {
    arena_fini(&c->arena);
    fake_fini(&c->f);
}

static void work(limit_case *c, const char *name, int64_t launched, int64_t start,
                 int64_t dur) {
    int call =
        fake_add(&c->f, c->host, KIND_RUNTIME, "cudaLaunchKernel", launched * US, 5 * US);
    fake_work(&c->f, c->gpu, KIND_KERNEL, name, start * US, dur * US, call);
}

static step_limit find(limit_case *c) {
    const trace *t = fake_seal(&c->f);
    params p = fake_params();
    selection s;
    step_spans steps;
    step_limit limit;
    select_init(&s, t, &p);
    assert_int_equal(step_spans_make(t, &s, &c->arena, &steps, NULL), OK);
    assert_int_equal(step_limit_find(t, &steps, &c->arena, &limit, NULL), OK);
    return limit;
}

static void device_that_works_half_of_the_step_limits_it(void **state) {
    limit_case c;
    begin(&c);
    work(&c, "gemm", 0, 10, 500);
    step_limit l = find(&c);
    assert_int_equal(l.by, LIMIT_DEVICE);
    assert_near(l.share, 0.5);
    end(&c);
}

static void largest_cause_of_idle_time_limits_the_step(void **state) {
    limit_case c;
    begin(&c);
    work(&c, "gemm", 0, 10, 100);
    work(&c, "gemm", 890, 900, 100);
    assert_int_equal(find(&c).by, LIMIT_CPU);
    end(&c);
    begin(&c);
    work(&c, "gemm", 0, 10, 100);
    work(&c, "gemm", 20, 900, 100); /* launched long before it starts */
    assert_int_equal(find(&c).by, LIMIT_DEPENDENCY);
    end(&c);
    begin(&c);
    work(&c, "gemm", 0, 10, 100);
    work(&c, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 20, 110, 800);
    work(&c, "gemm", 30, 910, 90);
    assert_int_equal(find(&c).by, LIMIT_COMMUNICATION);
    end(&c);
    begin(&c);
    work(&c, "gemm", 0, 10, 100);
    fake_add(&c.f, c.host, KIND_DATA, "loader", 120 * US, 700 * US);
    work(&c, "gemm", 890, 900, 100);
    assert_int_equal(find(&c).by, LIMIT_DATA);
    end(&c);
}

static void nothing_is_known_without_device_work(void **state) {
    limit_case c;
    begin(&c);
    fake_add(&c.f, c.host, KIND_OP, "aten::mm", 0, 900 * US);
    assert_int_equal(find(&c).by, LIMIT_UNKNOWN);
    end(&c);
}

static bool says(const verdict *v, const char *name) {
    for (uint32_t i = 0; i < v->n_args; i++)
        if (strcmp(v->args[i].name, name) == 0) return true;
    return false;
}

/* The headline of kernels, of a device that works or waits. */
static void headline_about_kernels_says_that_others_limit_the_step(void **state) {
    for (int late = 0; late < 2; late++) {
        limit_case c;
        params p = fake_params();
        begin(&c);
        work(&c, "gemm", 0, 10, late ? 100 : 980);
        const answer out = fake_ask(analyse_kernels, fake_seal(&c.f), &p, &c.arena);
        assert_true(says(&out.verdict, "limited_by"));
        assert_int_equal(says(&out.verdict, "limit"), late);
        end(&c);
    }
}

/* The path is on the host, but the device is never idle. */
static void critical_calls_a_busy_device_the_limit(void **state) {
    limit_case c;
    params p = fake_params();
    begin(&c);
    for (int i = 0; i < 9; i++) {
        fake_add(&c.f, c.host, KIND_OP, "aten::mm", (100 * i + 1) * US, 98 * US);
        work(&c, "gemm", 100 * i + 2, 100 * i + 10, 98);
    }
    const answer out = fake_ask(analyse_critical, fake_seal(&c.f), &p, &c.arena);
    assert_string_not_equal(out.verdict.id, "critical_host");
    end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_that_works_half_of_the_step_limits_it),
        cmocka_unit_test(largest_cause_of_idle_time_limits_the_step),
        cmocka_unit_test(nothing_is_known_without_device_work),
        cmocka_unit_test(headline_about_kernels_says_that_others_limit_the_step),
        cmocka_unit_test(critical_calls_a_busy_device_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
