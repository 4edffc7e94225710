/* job_path_test.c: the critical path from rank to rank, by hand.
 *
 * Two ranks, two steps of 100 µs, on their devices:
 *
 *   rank 0   ▐ forward 10…20 ▌▐ all_reduce 20 ………………… 70 ▌▐ optimizer 70…90 ▌  wait to 95
 *   rank 1   ▐ forward 10 …………………………… 60 ▌▐all_reduce 70▌▐ optimizer 70…80 ▌
 *
 * Rank 1 comes last, at 60; 10 µs of transfer are left. The clock of rank 1 is 1 s ahead. */
#include "analyse/job/job_graph.h"

#include "fake_trace.h"

enum { US = 1000, RANKS = 2, STEPS = 2, STEP_US = 100, AHEAD = 1000000000 };

typedef struct {
    fake f[RANKS];
    analysis_trace at[RANKS];
    analysis_input in;
    arena a;
    answer out;
} made;

static void add_launch(fake *f, int host, int gpu, const char *name, int64_t launch,
                       int64_t start, int64_t end) {
    int call = fake_add(f, host, KIND_RUNTIME, "cudaLaunchKernel", launch, US);
    fake_work(f, gpu, KIND_KERNEL, name, start, end - start, call);
}

static void add_device_step(fake *f, int64_t at, int rank) {
    int host = 1, gpu = 2;
    int64_t forward_us = rank ? 60 : 20, done_us = rank ? 80 : 90;
    add_launch(f, host, gpu, rank ? "slow_forward" : "forward", at + 5 * US, at + 10 * US,
               at + forward_us * US);
    add_launch(f, host, gpu, "ncclDevKernel_AllReduce", at + 7 * US, at + forward_us * US,
               at + 70 * US);
    add_launch(f, host, gpu, "optimizer", at + 9 * US, at + 70 * US, at + done_us * US);
    fake_add(f, host, KIND_RUNTIME, "cudaDeviceSynchronize", at + 12 * US,
             (done_us + 2 - 12) * US);
}

/* The same on the host: operators and a collective of 10 µs after the last has come. */
static void add_host_step(fake *f, int64_t at, int rank) {
    int host = 1;
    int64_t forward_us = rank ? 60 : 20, done_us = rank ? 80 : 90;
    fake_add(f, host, KIND_OP, rank ? "slow_forward" : "forward", at + 10 * US,
             (forward_us - 10) * US);
    fake_add(f, host, KIND_COLLECTIVE, "gloo:all_reduce", at + forward_us * US,
             (70 - forward_us) * US);
    fake_add(f, host, KIND_OP, "optimizer", at + 70 * US, (done_us - 70) * US);
}

typedef void (*adding)(fake *f, int64_t at, int rank);

static made *make(adding add) {
    static made m;
    static const char *const names[RANKS] = {"rank0", "rank1"};
    for (int r = 0; r < RANKS; r++) {
        fake *f = &m.f[r];
        fake_init(f);
        int host = fake_thread(f);
        (void)fake_stream(f, 0);
        for (int64_t i = 0; i < STEPS; i++) {
            int64_t at = i * STEP_US * US + (r ? AHEAD : 0);
            int step = fake_add(f, host, KIND_STEP, "step", at, STEP_US * US);
            (void)step;
            add(f, at, r);
            fake_step(f, i + 1, at, at + STEP_US * US);
        }
        m.at[r] = (analysis_trace){
            .trace = (trace *)(uintptr_t)fake_seal(f), .worker = str_of(names[r]), .rank = r};
    }
    m.in = (analysis_input){.traces = m.at, .n_traces = RANKS};
    arena_init(&m.a, 0);
    return &m;
}

static void done(made *m) {
    arena_fini(&m->a);
    for (int r = 0; r < RANKS; r++) fake_fini(&m->f[r]);
}

static made *ask(adding add) {
    made *m = make(add);
    params p = fake_params();
    error err = {0};
    m->out = (answer){0};
    assert_int_equal(analyse_critical(&m->in, &p, &m->a, &m->out, &err), OK);
    return m;
}

/* ns of a rank's pieces of a kind in the second step; `name` NULL: of any name. */
static int64_t time_of(const made *m, int64_t rank, const char *kind, const char *name) {
    const table *t = fake_table(&m->out, "path");
    int64_t ns = 0;
    for (size_t row = 0; row < t->n_rows; row++) {
        if (fake_int(t, row, "step") != 2 || fake_int(t, row, "rank") != rank) continue;
        if (!str_eq(fake_text(t, row, "kind"), str_of(kind))) continue;
        if (name && !str_eq(fake_text(t, row, "name"), str_of(name))) continue;
        ns += fake_int(t, row, "duration");
    }
    return ns;
}

static void the_path_goes_to_the_rank_that_arrives_last(void **state) {
    made *m = ask(add_device_step);
    assert_int_equal(time_of(m, 1, "device", "slow_forward"), 50 * US);
    assert_int_equal(time_of(m, 0, "communication", NULL), 10 * US);
    assert_int_equal(time_of(m, 1, "communication", NULL), 0);
    assert_int_equal(time_of(m, 0, "device", "optimizer"), 20 * US);
    assert_int_equal(time_of(m, 0, "device", "forward"), 0);
    done(m);
}

static void its_pieces_touch_and_add_up(void **state) {
    made *m = ask(add_device_step);
    const table *t = fake_table(&m->out, "path");
    int64_t sum = 0, at = fake_int(t, 0, "start");
    for (size_t row = 0; row < t->n_rows; row++) {
        assert_int_equal(fake_int(t, row, "start"), at);
        at += fake_int(t, row, "duration");
        sum += fake_int(t, row, "duration");
    }
    assert_int_equal(sum, STEPS * STEP_US * US);
    const table *ranks = fake_table(&m->out, "by_rank");
    assert_int_equal(fake_int(ranks, 0, "time") + fake_int(ranks, 1, "time"), STEP_US * US);
    assert_int_equal(fake_int(ranks, 0, "ends") + fake_int(ranks, 1, "ends"), STEPS);
    done(m);
}

static void legs_say_which_rank_was_waited_for(void **state) {
    made *m = ask(add_device_step);
    const table *t = fake_table(&m->out, "legs");
    assert_int_equal(t->n_rows, 2 * STEPS);
    assert_int_equal(fake_int(t, 0, "rank"), 1);
    assert_text(fake_text(t, 0, "name"), "slow_forward");
    assert_true(fake_null(t, 0, "after"));
    assert_int_equal(fake_int(t, 1, "rank"), 0);
    assert_int_equal(fake_int(t, 1, "duration"), 40 * US);
    assert_text(fake_text(t, 1, "after"), "ncclDevKernel_AllReduce");
    done(m);
}

static void collectives_of_the_host_are_followed_too(void **state) {
    made *m = ask(add_host_step);
    assert_int_equal(time_of(m, 1, "operator", "slow_forward"), 50 * US);
    assert_int_equal(time_of(m, 0, "communication", "gloo:all_reduce"), 10 * US);
    assert_int_equal(time_of(m, 0, "operator", "forward"), 0);
    done(m);
}

/* With one rank alone it is unknown what its collective waited for. */
static void one_rank_alone_has_all_of_its_collective(void **state) {
    made *m = make(add_host_step);
    params p = fake_params();
    answer out = fake_ask(analyse_critical, m->at[0].trace, &p, &m->a);
    const table *t = fake_table(&out, "by_kind");
    size_t row = fake_row(t, "communication");
    assert_int_equal(fake_int(t, row, "time"), 50 * US);
    done(m);
}

/* The second step with a change. */
static int64_t step_with(adding add, const char *name, const char *change) {
    made *m = make(add);
    params p = fake_params();
    error err = {0};
    m->out = (answer){0};
    p.extra[p.n_extra].name = str_of(name);
    p.extra[p.n_extra++].value = str_of(change);
    assert_int_equal(analyse_whatif(&m->in, &p, &m->a, &m->out, &err), OK);
    const table *t = fake_table(&m->out, "steps");
    assert_int_equal(fake_int(t, 1, "recorded"), STEP_US * US);
    assert_int_equal(fake_int(t, 1, "replayed"), STEP_US * US);
    int64_t ns = fake_int(t, 1, "whatif");
    done(m);
    return ns;
}

/* Rank 1 comes 25 µs earlier; from 1/8 on rank 0 would be the last one. */
static void ranks_are_replayed_together(void **state) {
    assert_int_equal(step_with(add_device_step, "scale", "kernel:slow_forward=0.5"), 75 * US);
    assert_int_equal(step_with(add_device_step, "scale", "kernel:forward=0.5"), 100 * US);
    assert_int_equal(step_with(add_device_step, "remove", "kernel:slow_forward"), 60 * US);
    assert_int_equal(step_with(add_device_step, "scale", "kernel:*AllReduce*=2"), 110 * US);
    assert_int_equal(step_with(add_device_step, "remove", "kernel:*AllReduce*"), 90 * US);
}

static void ranks_that_meet_on_the_host_are_replayed_together(void **state) {
    assert_int_equal(step_with(add_host_step, "scale", "op:slow_forward=0.5"), 75 * US);
    assert_int_equal(step_with(add_host_step, "scale", "op:forward=0.5"), 100 * US);
}

/* With rank 0 twice as fast rank 1 still ends its own step at 100. */
static void one_rank_is_faster(void **state) {
    assert_int_equal(step_with(add_device_step, "rank", "0=0.5"), 100 * US);
    assert_int_equal(step_with(add_device_step, "rank", "1"), 60 * US);
}

static void clocks_are_there_and_back(void **state) {
    job_rank r = {.clock = {.base = 1700000000000000000,
                            .at = 1700000001000000000,
                            .offset = 12345678,
                            .drift_ppb = -218132}};
    for (int64_t ns = -5000000000; ns < 5000000000; ns += 333333333) {
        int64_t back = job_time_of_rank(&r, job_time(&r, ns));
        assert_true(back - ns <= 2 && ns - back <= 2);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_path_goes_to_the_rank_that_arrives_last),
        cmocka_unit_test(its_pieces_touch_and_add_up),
        cmocka_unit_test(legs_say_which_rank_was_waited_for),
        cmocka_unit_test(collectives_of_the_host_are_followed_too),
        cmocka_unit_test(one_rank_alone_has_all_of_its_collective),
        cmocka_unit_test(ranks_are_replayed_together),
        cmocka_unit_test(ranks_that_meet_on_the_host_are_replayed_together),
        cmocka_unit_test(one_rank_is_faster),
        cmocka_unit_test(clocks_are_there_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
