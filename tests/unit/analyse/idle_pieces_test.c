/* idle_pieces_test.c: when no device computes, all devices as one, cut to the steps. */
#include "analyse/device/idle_causes.h"

#include "fake_trace.h"

typedef struct {
    fake f;
    arena arena;
    int host, gpu;
    idle_pieces idle;
} idle_case;

static void begin(idle_case *c) {
    fake_init(&c->f);
    arena_init(&c->arena, 0);
    c->host = fake_thread(&c->f);
    c->gpu = fake_stream(&c->f, 0);
}

static void end(idle_case *c) {
    arena_fini(&c->arena);
    fake_fini(&c->f);
}

static void work(idle_case *c, int64_t launched, int64_t start, int64_t dur) {
    int call = fake_add(&c->f, c->host, KIND_RUNTIME, "cudaLaunchKernel", launched, 10);
    fake_work(&c->f, c->gpu, KIND_KERNEL, "k", start, dur, call);
}

static void find(idle_case *c) {
    const trace *t = fake_seal(&c->f);
    params p = fake_params();
    selection s;
    step_spans steps;
    error err;
    select_init(&s, t, &p);
    assert_int_equal(step_spans_make(t, &s, &c->arena, &steps, &err), OK);
    assert_int_equal(idle_pieces_find(t, &steps, NULL, &c->arena, &c->idle, &err), OK);
}

static void gaps_and_work_make_up_the_step(void **state) {
    idle_case c;
    begin(&c);
    fake_step(&c.f, 1, 0, 100000);
    work(&c, 0, 20000, 30000);
    work(&c, 60000, 70000, 10000);
    find(&c);
    assert_int_equal(c.idle.n, 3);
    assert_int_equal(c.idle.ns[IDLE_HOST_LATE], 60000);
    assert_int_equal(c.idle.v[1].range.start, 50000);
    assert_int_equal(c.idle.v[1].range.end, 70000);
    assert_int_equal(c.idle.v[2].after, 0); /* the end of the step */
    end(&c);
}

static void overlapping_streams_leave_no_gap(void **state) {
    idle_case c;
    begin(&c);
    fake_step(&c.f, 1, 0, 100000);
    work(&c, 0, 0, 60000);
    c.gpu = fake_stream(&c.f, 1);
    work(&c, 10000, 50000, 50000);
    find(&c);
    assert_int_equal(c.idle.n, 0);
    end(&c);
}

static void cause_follows_from_the_launch_of_the_next_piece(void **state) {
    idle_case c;
    begin(&c);
    fake_step(&c.f, 1, 0, 100000);
    work(&c, 0, 0, 10000);
    work(&c, 20, 30000, 10000);    /* queued long before: waits for something */
    work(&c, 40, 43000, 10000);    /* queued, 3 µs */
    work(&c, 60000, 70000, 30000); /* launched in the gap */
    find(&c);
    assert_int_equal(c.idle.ns[IDLE_DEPENDENCY], 23000);
    assert_true(idle_piece_is_between(&c.idle.v[1]));
    assert_int_equal(idle_piece_ns(&c.idle.v[1]), 3000);
    assert_int_equal(c.idle.ns[IDLE_HOST_LATE], 17000);
    end(&c);
}

static void work_without_a_launch_has_no_cause(void **state) {
    idle_case c;
    begin(&c);
    fake_step(&c.f, 1, 0, 100000);
    work(&c, 0, 0, 10000);
    fake_work(&c.f, c.gpu, KIND_KERNEL, "k", 30000, 70000, -1);
    find(&c);
    assert_int_equal(c.idle.ns[IDLE_UNKNOWN], 20000);
    end(&c);
}

static void blocked_is_what_the_host_was_ahead(void **state) {
    idle_case c;
    begin(&c);
    fake_step(&c.f, 1, 0, 100000);
    work(&c, 0, 0, 30000);
    work(&c, 60000, 70000, 30000);
    int call = fake_add(&c.f, c.host, KIND_RUNTIME, "cudaStreamSynchronize", 20000, 11000);
    find(&c);
    assert_int_equal(c.idle.ns[IDLE_BLOCKED], 10000);
    assert_int_equal(c.idle.ns[IDLE_HOST_LATE], 30000);
    assert_int_equal(c.idle.v[0].slice, c.f.id[call]);
    end(&c);
}

static void blocking_call_that_ended_before_the_gap_is_not_to_blame(void **state) {
    idle_case c;
    begin(&c);
    fake_step(&c.f, 1, 0, 100000);
    work(&c, 0, 0, 30000);
    work(&c, 60000, 70000, 30000);
    fake_add(&c.f, c.host, KIND_RUNTIME, "cudaStreamSynchronize", 10000, 19000);
    find(&c);
    assert_int_equal(c.idle.ns[IDLE_BLOCKED], 0);
    assert_int_equal(c.idle.ns[IDLE_HOST_LATE], 40000);
    end(&c);
}

static void data_loading_and_collectives_are_not_the_hosts_delay(void **state) {
    idle_case c;
    begin(&c);
    fake_step(&c.f, 1, 0, 100000);
    work(&c, 0, 0, 10000);
    fake_add(&c.f, c.host, KIND_DATA, "loader", 20000, 20000);
    fake_add(&c.f, c.host, KIND_COLLECTIVE, "gloo:all_reduce", 45000, 10000);
    work(&c, 60000, 70000, 30000);
    find(&c);
    assert_int_equal(c.idle.ns[IDLE_HOST_LATE], 30000);
    end(&c);
}

static void gap_over_two_steps_is_cut(void **state) {
    idle_case c;
    begin(&c);
    fake_step(&c.f, 1, 0, 50000);
    fake_step(&c.f, 2, 50000, 100000);
    work(&c, 0, 0, 40000);
    work(&c, 60000, 70000, 30000);
    find(&c);
    assert_int_equal(c.idle.n, 2);
    assert_int_equal(idle_piece_ns(&c.idle.v[0]), 10000);
    assert_int_equal(c.idle.v[0].step, 0);
    assert_int_equal(idle_piece_ns(&c.idle.v[1]), 20000);
    assert_int_equal(c.idle.v[1].step, 1);
    end(&c);
}

static void trace_without_device_work_has_no_pieces(void **state) {
    idle_case c;
    begin(&c);
    fake_step(&c.f, 1, 0, 50000);
    fake_add(&c.f, c.host, KIND_OP, "op", 0, 50000);
    find(&c);
    assert_int_equal(c.idle.n, 0);
    end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_and_work_make_up_the_step),
        cmocka_unit_test(overlapping_streams_leave_no_gap),
        cmocka_unit_test(cause_follows_from_the_launch_of_the_next_piece),
        cmocka_unit_test(work_without_a_launch_has_no_cause),
        cmocka_unit_test(blocked_is_what_the_host_was_ahead),
        cmocka_unit_test(blocking_call_that_ended_before_the_gap_is_not_to_blame),
        cmocka_unit_test(data_loading_and_collectives_are_not_the_hosts_delay),
        cmocka_unit_test(gap_over_two_steps_is_cut),
        cmocka_unit_test(trace_without_device_work_has_no_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
