/* idle_causes_test.c: every idle nanosecond of a device has one cause.
 *
 * One step of 1,000 µs. Work a runs from 10 to 100, work b from 300 to the end; what happens in
 * the 200 µs between them is the case. */
#include "fake_trace.h"

enum { US = 1000 };

typedef struct {
    fake f;
    arena arena;
    int host, other, gpu, second;
    answer out;
} idle_case;

static int call(idle_case *c, int track, const char *name, int64_t start, int64_t dur) {
    return fake_add(&c->f, track, KIND_RUNTIME, name, start * US, dur * US);
}

static void work(idle_case *c, int stream, const char *name, int64_t start, int64_t dur,
                 int launch) {
    fake_work(&c->f, stream, KIND_KERNEL, name, start * US, dur * US, launch);
}

static void begin(idle_case *c) {
    fake_init(&c->f);
    arena_init(&c->arena, 0);
    c->host = fake_thread(&c->f);
    c->other = fake_thread(&c->f);
    c->gpu = fake_stream(&c->f, 0);
    c->second = fake_stream(&c->f, 0);
    fake_step(&c->f, 1, 0, 1000 * US);
    work(c, c->gpu, "a", 10, 90, call(c, c->host, "cudaLaunchKernel", 0, 5));
}

/* Work b, launched by a call of 10 µs. */
static void launch_b(idle_case *c, int track, int stream, int64_t launched) {
    work(c, stream, "b", 300, 700, call(c, track, "cudaLaunchKernel", launched, 10));
}

static void ask(idle_case *c) {
    params p = fake_params();
    c->out = fake_ask(analyse_idle, fake_seal(&c->f), &p, &c->arena);
}

static void end(idle_case *c) {
    arena_fini(&c->arena);
    fake_fini(&c->f);
}

/* One cause of the step, in µs. The first 10 µs are a's launch, and the host's. */
static int64_t of_step(const idle_case *c, const char *why) {
    return fake_int(fake_table(&c->out, "steps"), 0, why) / US;
}

/* Time of the details with these words, in µs; NULL fits all. */
static int64_t detail(const idle_case *c, const char *why, const char *what, const char *name) {
    const table *t = fake_table(&c->out, "details");
    int64_t us = 0;
    for (size_t i = 0; i < t->n_rows; i++) {
        str n = fake_text(t, i, "name");
        if (!str_eq(fake_text(t, i, "cause"), str_of(why)) ||
            (what && !str_eq(fake_text(t, i, "what"), str_of(what))) ||
            (name && !(n.p && str_eq(n, str_of(name)))))
            continue;
        us += fake_int(t, i, "time") / US;
    }
    return us;
}

static void assert_adds_up(const idle_case *c, int64_t idle_us) {
    static const char *const causes[] = {"host_late",     "blocked",  "dependency", "data",
                                         "communication", "profiler", "unknown"};
    int64_t sum = 0, time = 0;
    const table *t = fake_table(&c->out, "causes");
    for (size_t i = 0; i < N_OF(causes); i++) sum += of_step(c, causes[i]);
    for (size_t i = 0; i < t->n_rows; i++) time += fake_int(t, i, "time") / US;
    assert_int_equal(of_step(c, "idle"), idle_us);
    assert_int_equal(sum, idle_us);
    assert_int_equal(time, idle_us);
}

static void a_late_host_is_split_by_what_it_did(void **state) {
    static idle_case c;
    begin(&c);
    fake_add(&c.f, c.host, KIND_OP, "aten::add", 110 * US, 40 * US);
    call(&c, c.host, "cudaMalloc", 120, 10);
    fake_add(&c.f, c.host, KIND_PYTHON, "train.py(1): step", 160 * US, 40 * US);
    call(&c, c.host, "cudaFuncGetAttributes", 210, 5);
    launch_b(&c, c.host, c.gpu, 280);
    ask(&c);
    assert_adds_up(&c, 210);
    assert_int_equal(of_step(&c, "host_late"), 210);
    assert_int_equal(detail(&c, "host_late", "operator", "aten::add"), 30);
    assert_int_equal(detail(&c, "host_late", "allocator", "cudaMalloc"), 10);
    assert_int_equal(detail(&c, "host_late", "python", "train.py(1): step"), 40);
    assert_int_equal(detail(&c, "host_late", "runtime_call", NULL), 5);
    assert_int_equal(detail(&c, "host_late", "launch_call", NULL), 5 + 10);
    assert_int_equal(detail(&c, "host_late", "launch_latency", NULL), 5 + 10);
    assert_int_equal(detail(&c, "host_late", "python", NULL), 10 + 10 + 40 + 10 + 65);
    assert_string_equal(c.out.verdict.id, "idle_host");
    end(&c);
}

/* It waits from 60 on for work that ends at 100: without it the host would be 40 µs ahead. */
static void a_call_that_waits_costs_what_the_host_would_be_ahead(void **state) {
    static idle_case c;
    begin(&c);
    fake_add(&c.f, c.host, KIND_OP, "aten::item", 55 * US, 60 * US);
    call(&c, c.host, "cudaStreamSynchronize", 60, 45);
    launch_b(&c, c.host, c.gpu, 280);
    ask(&c);
    assert_adds_up(&c, 210);
    assert_int_equal(of_step(&c, "blocked"), 40);
    assert_int_equal(detail(&c, "blocked", "sync", "cudaStreamSynchronize"), 40);
    assert_text(fake_text(fake_table(&c.out, "gaps"), 0, "cause"), "host_late");
    assert_text(fake_text(fake_table(&c.out, "gaps"), 0, "before"), "a");
    assert_text(fake_text(fake_table(&c.out, "gaps"), 0, "after"), "b");
    assert_int_equal(fake_int(fake_table(&c.out, "gaps"), 0, "duration"), 200 * US);
    end(&c);
}

static void a_call_inside_the_gap_blocks_as_long_as_it_takes(void **state) {
    static idle_case c;
    begin(&c);
    call(&c, c.host, "cudaMemcpy", 120, 100);
    launch_b(&c, c.host, c.gpu, 280);
    ask(&c);
    assert_adds_up(&c, 210);
    assert_int_equal(of_step(&c, "blocked"), 100);
    end(&c);
}

static void launched_work_of_another_stream_depends_on_it(void **state) {
    static idle_case c;
    begin(&c);
    launch_b(&c, c.host, c.second, 50);
    ask(&c);
    assert_adds_up(&c, 210);
    assert_int_equal(of_step(&c, "dependency"), 200);
    assert_int_equal(detail(&c, "dependency", "stream", "a"), 200);
    assert_string_equal(c.out.verdict.id, "idle_dependency");
    end(&c);
}

static void a_short_gap_between_queued_tasks_is_the_devices_own(void **state) {
    static idle_case c;
    begin(&c);
    work(&c, c.gpu, "b", 103, 897, call(&c, c.host, "cudaLaunchKernel", 50, 5));
    ask(&c);
    assert_adds_up(&c, 13);
    assert_int_equal(detail(&c, "dependency", "between", "b"), 3);
    end(&c);
}

static void data_loading_goes_before_what_the_host_does(void **state) {
    static idle_case c;
    begin(&c);
    fake_add(&c.f, c.host, KIND_DATA, "enumerate(DataLoader)#Iter.__next__", 150 * US,
             100 * US);
    fake_add(&c.f, c.host, KIND_OP, "aten::stack", 160 * US, 20 * US);
    launch_b(&c, c.host, c.gpu, 280);
    ask(&c);
    assert_adds_up(&c, 210);
    assert_int_equal(of_step(&c, "data"), 100);
    assert_int_equal(detail(&c, "data", "other", "enumerate(DataLoader)#Iter.__next__"), 100);
    assert_int_equal(detail(&c, "host_late", "operator", NULL), 0);
    end(&c);
}

/* From 100 to 250 only the collective runs; b waited for it and begins 50 µs after. */
static void a_collective_alone_is_not_computing(void **state) {
    static idle_case c;
    begin(&c);
    work(&c, c.second, "ncclDevKernel_AllReduce_Sum_f32", 80, 170,
         call(&c, c.host, "cudaLaunchKernel", 20, 5));
    launch_b(&c, c.host, c.gpu, 50);
    ask(&c);
    assert_adds_up(&c, 210);
    assert_int_equal(of_step(&c, "communication"), 150);
    assert_int_equal(detail(&c, "dependency", "stream", "ncclDevKernel_AllReduce_Sum_f32"), 50);
    end(&c);
}

/* b was launched long ago and waits for what gloo does on a separate thread. */
static void launched_work_waits_for_a_collective_of_the_host(void **state) {
    static idle_case c;
    begin(&c);
    fake_add(&c.f, c.other, KIND_COLLECTIVE, "gloo:all_reduce", 120 * US, 150 * US);
    launch_b(&c, c.host, c.gpu, 50);
    ask(&c);
    assert_adds_up(&c, 210);
    assert_int_equal(detail(&c, "communication", "other", "gloo:all_reduce"), 150);
    assert_int_equal(of_step(&c, "dependency"), 50);
    end(&c);
}

static void the_profiler_and_the_driver_are_distinguished(void **state) {
    static idle_case c;
    begin(&c);
    fake_add(&c.f, c.other, KIND_OVERHEAD, "Activity Buffer Request", 150 * US, 50 * US);
    fake_add(&c.f, c.other, KIND_OVERHEAD, "Lazy Function Loading", 220 * US, 30 * US);
    launch_b(&c, c.host, c.gpu, 280);
    ask(&c);
    assert_adds_up(&c, 210);
    assert_int_equal(of_step(&c, "profiler"), 50);
    assert_int_equal(detail(&c, "host_late", "code_loading", "Lazy Function Loading"), 30);
    end(&c);
}

static void a_collector_of_garbage_and_a_lock_are_named(void **state) {
    static idle_case c;
    begin(&c);
    fake_add(&c.f, c.host, KIND_PYTHON, "<built-in function collect>", 120 * US, 30 * US);
    fake_add(&c.f, c.host, KIND_PYTHON, "<method 'acquire' of '_thread.lock' objects>",
             200 * US, 20 * US);
    launch_b(&c, c.host, c.gpu, 280);
    ask(&c);
    assert_int_equal(detail(&c, "host_late", "garbage_collection", NULL), 30);
    assert_int_equal(detail(&c, "host_late", "lock", NULL), 20);
    end(&c);
}

/* The outermost range says what is compiled; those inside of it are steps of the compiler. */
static void a_compiler_is_named_by_what_it_compiles(void **state) {
    static idle_case c;
    begin(&c);
    fake_add(&c.f, c.host, KIND_FRAMEWORK, "PjitFunction(step)", 110 * US, 185 * US);
    fake_add(&c.f, c.host, KIND_ANNOTATION, "jax.compile(step)", 120 * US, 150 * US);
    fake_add(&c.f, c.host, KIND_FRAMEWORK, "backend_compile_and_load", 130 * US, 100 * US);
    fake_add(&c.f, c.host, KIND_FRAMEWORK, "CSEPass", 140 * US, 20 * US);
    launch_b(&c, c.host, c.gpu, 280);
    ask(&c);
    assert_int_equal(detail(&c, "host_late", "compiler", "jax.compile(step)"), 150);
    assert_int_equal(detail(&c, "host_late", "compiler", NULL), 150);
    assert_string_equal(c.out.verdict.id, "idle_compiler");
    end(&c);
}

/* float(loss) in JAX */
static void reading_a_value_of_jax_blocks(void **state) {
    static idle_case c;
    begin(&c);
    call(&c, c.host, "np.asarray(jax.Array)", 120, 100);
    launch_b(&c, c.host, c.gpu, 280);
    ask(&c);
    assert_int_equal(detail(&c, "blocked", "sync", "np.asarray(jax.Array)"), 100);
    end(&c);
}

static void without_a_launch_the_cause_is_unknown(void **state) {
    static idle_case c;
    begin(&c);
    work(&c, c.gpu, "b", 300, 700, -1);
    ask(&c);
    assert_adds_up(&c, 210);
    assert_int_equal(of_step(&c, "unknown"), 200);
    assert_string_equal(c.out.verdict.id, "idle_unknown");
    end(&c);
}

/* Autograd launches b; before it wakes, the thread that launched a has the turn. */
static void a_thread_that_hands_over_is_looked_at_while_the_other_sleeps(void **state) {
    static idle_case c;
    begin(&c);
    fake_add(&c.f, c.host, KIND_OP, "aten::ones_like", 120 * US, 60 * US);
    fake_add(&c.f, c.other, KIND_OP, "AddmmBackward0", 200 * US, 95 * US);
    launch_b(&c, c.other, c.gpu, 280);
    ask(&c);
    assert_adds_up(&c, 210);
    assert_int_equal(detail(&c, "host_late", "operator", "aten::ones_like"), 60);
    assert_int_equal(detail(&c, "host_late", "operator", "AddmmBackward0"), 80);
    end(&c);
}

static void the_end_of_the_step_is_the_hosts(void **state) {
    static idle_case c;
    begin(&c);
    fake_add(&c.f, c.host, KIND_OP, "aten::cat", 500 * US, 100 * US);
    ask(&c);
    assert_adds_up(&c, 910);
    assert_int_equal(of_step(&c, "host_late"), 910);
    assert_int_equal(detail(&c, "host_late", "operator", "aten::cat"), 100);
    end(&c);
}

/* 7 ns of two steps: 1 of data, 1 of the profiler, 5 of the host. */
static void means_add_up_as_well(void **state) {
    static idle_case c;
    fake_init(&c.f);
    arena_init(&c.arena, 0);
    int host = fake_thread(&c.f), gpu = fake_stream(&c.f, 0);
    fake_step(&c.f, 1, 0, 101);
    fake_step(&c.f, 2, 101, 203);
    fake_add(&c.f, host, KIND_DATA, "DataLoader", 0, 1);
    fake_work(&c.f, gpu, KIND_KERNEL, "a", 3, 98,
              fake_add(&c.f, host, KIND_RUNTIME, "l", 1, 1));
    fake_add(&c.f, host, KIND_OVERHEAD, "Activity Buffer Request", 101, 1);
    fake_work(&c.f, gpu, KIND_KERNEL, "b", 105, 98,
              fake_add(&c.f, host, KIND_RUNTIME, "l", 103, 1));
    ask(&c);
    const table *t = fake_table(&c.out, "causes"), *s = fake_table(&c.out, "steps");
    int64_t time = 0, total = 0;
    for (size_t i = 0; i < t->n_rows; i++) {
        time += fake_int(t, i, "time");
        total += fake_int(t, i, "total");
    }
    assert_int_equal(total, 7);
    assert_int_equal(t->n_rows, 3);
    assert_int_equal(time, 4); /* 3.5, to the even */
    assert_int_equal(fake_int(s, 0, "idle"), 3);
    assert_int_equal(fake_int(s, 1, "idle"), 4);
    end(&c);
}

static void devices_are_looked_at_by_themselves(void **state) {
    static idle_case c;
    begin(&c);
    launch_b(&c, c.host, c.gpu, 280);
    int gpu1 = fake_stream(&c.f, 1);
    work(&c, gpu1, "c", 0, 600, call(&c, c.host, "cudaLaunchKernel", -10, 5));
    ask(&c);
    const table *t = fake_table(&c.out, "steps");
    assert_int_equal(t->n_rows, 2);
    assert_int_equal(fake_int(t, 0, "idle"), 210 * US);
    assert_int_equal(fake_int(t, 1, "device"), 1);
    assert_int_equal(fake_int(t, 1, "idle"), 400 * US);
    end(&c);
}

static void streams_queues_and_launches_are_those_of_the_original(void **state) {
    static idle_case c;
    begin(&c);
    launch_b(&c, c.host, c.gpu, 50);
    int copy = call(&c, c.host, "cudaMemcpyAsync", 1010, 60);
    int h = fake_work(&c.f, c.gpu, KIND_MEMCPY, "Memcpy HtoD (Pageable -> Device)", 1200 * US,
                      10 * US, copy);
    c.f.slices[h].device_bytes = 1000;
    ask(&c);
    const table *t = fake_table(&c.out, "streams");
    assert_int_equal(t->n_rows, 2);
    assert_text(fake_text(t, 0, "cause"), "host_wait");
    assert_int_equal(fake_int(t, 0, "time"), 200 * US);
    assert_text(fake_text(t, 1, "cause"), "other");
    assert_int_equal(fake_int(t, 1, "p50"), 200 * US);
    /* 1 at 0, 0 at 10, 1 at 50, 0 at 300, 1 at 1010, 0 at 1200 */
    t = fake_table(&c.out, "queue");
    assert_int_equal(fake_int(t, 0, "count"), 6);
    assert_float_equal(fake_real(t, 0, "mean"), 0.5, 1e-9);
    assert_float_equal(fake_real(t, 0, "time_mean"), 450.0 / 1200, 1e-9);
    t = fake_table(&c.out, "launches");
    assert_int_equal(t->n_rows, 3);
    assert_text(fake_text(t, 0, "name"), "Memcpy HtoD (Pageable -> Device)");
    assert_int_equal(fake_int(t, 0, "long_calls"), 1);
    assert_int_equal(fake_int(t, 0, "delay_total"), 130 * US);
    assert_int_equal(fake_int(t, 2, "long_delays"), 1);
    t = fake_table(&c.out, "copies");
    assert_text(fake_text(t, 0, "name"), "Memcpy HtoD");
    assert_float_equal(fake_real(t, 0, "bandwidth"), 1e8, 1);
    assert_float_equal(fake_real(t, 0, "mean"), 1e8, 1);
    end(&c);
}

/* Two calls launch the same two tasks, a third one launches only the first of them. */
static void operators_are_recognized_by_what_they_launch(void **state) {
    static idle_case c;
    begin(&c);
    for (int i = 0; i < 3; i++) {
        int64_t at = 2000 + (int64_t)i * 100;
        fake_add(&c.f, c.host, KIND_OP, "aten::linear", at * US, 50 * US);
        work(&c, c.gpu, "gemm", at + 20, 5,
             call(&c, c.host, "cudaLaunchKernel", at + 4 + i, 2));
        if (i < 2)
            work(&c, c.gpu, "bias", at + 30, 5,
                 call(&c, c.host, "cudaLaunchKernel", at + 10, 2));
    }
    ask(&c);
    const table *t = fake_table(&c.out, "op_launches");
    assert_int_equal(t->n_rows, 2);
    assert_text(fake_text(t, 0, "op"), "aten::linear");
    assert_text(fake_text(t, 0, "kernels"), "gemm -> bias");
    assert_int_equal(fake_int(t, 0, "count"), 2);
    assert_int_equal(fake_int(t, 0, "op_delay"), 4500);
    assert_int_equal(fake_int(t, 0, "launch_delay"), 15500);
    assert_text(fake_text(t, 1, "kernels"), "gemm");
    assert_int_equal(fake_int(t, 1, "op_delay"), 6 * US);
    end(&c);
}

static void overview_has_the_same_causes(void **state) {
    static idle_case c;
    begin(&c);
    launch_b(&c, c.host, c.second, 50);
    ask(&c);
    params p = fake_params();
    answer o = fake_ask(analyse_overview, &c.f.t, &p, &c.arena);
    const table *x = fake_table(&c.out, "causes"), *y = fake_table(&o, "idle");
    assert_int_equal(x->n_rows, y->n_rows);
    for (size_t i = 0; i < x->n_rows; i++)
        assert_int_equal(fake_int(x, i, "time"), fake_int(y, i, "time"));
    end(&c);
}

static void a_trace_without_work_has_nothing_to_explain(void **state) {
    static idle_case c;
    fake_init(&c.f);
    arena_init(&c.arena, 0);
    fake_add(&c.f, fake_thread(&c.f), KIND_OP, "aten::mm", 0, 100);
    ask(&c);
    assert_int_equal(fake_table(&c.out, "causes")->n_rows, 0);
    assert_string_equal(c.out.verdict.id, "idle_none");
    end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_late_host_is_split_by_what_it_did),
        cmocka_unit_test(a_call_that_waits_costs_what_the_host_would_be_ahead),
        cmocka_unit_test(a_call_inside_the_gap_blocks_as_long_as_it_takes),
        cmocka_unit_test(launched_work_of_another_stream_depends_on_it),
        cmocka_unit_test(a_short_gap_between_queued_tasks_is_the_devices_own),
        cmocka_unit_test(data_loading_goes_before_what_the_host_does),
        cmocka_unit_test(a_collective_alone_is_not_computing),
        cmocka_unit_test(launched_work_waits_for_a_collective_of_the_host),
        cmocka_unit_test(the_profiler_and_the_driver_are_distinguished),
        cmocka_unit_test(a_collector_of_garbage_and_a_lock_are_named),
        cmocka_unit_test(a_compiler_is_named_by_what_it_compiles),
        cmocka_unit_test(reading_a_value_of_jax_blocks),
        cmocka_unit_test(without_a_launch_the_cause_is_unknown),
        cmocka_unit_test(a_thread_that_hands_over_is_looked_at_while_the_other_sleeps),
        cmocka_unit_test(the_end_of_the_step_is_the_hosts),
        cmocka_unit_test(means_add_up_as_well),
        cmocka_unit_test(devices_are_looked_at_by_themselves),
        cmocka_unit_test(streams_queues_and_launches_are_those_of_the_original),
        cmocka_unit_test(operators_are_recognized_by_what_they_launch),
        cmocka_unit_test(overview_has_the_same_causes),
        cmocka_unit_test(a_trace_without_work_has_nothing_to_explain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
