/* step_spans_test.c: steps adjusted for device work. */
#include "fake_trace.h"

#include "analyse/steps/step_spans.h"

static step_spans make(fake *f, const params *p) {
    selection s;
    step_spans out;
    const trace *t = fake_seal(f);
    select_init(&s, t, p);
    assert_int_equal(step_spans_make(t, &s, &f->arena, &out, NULL), OK);
    return out;
}

/* Steps with 10, 10 and n pieces of device work. */
static uint32_t count_kept(int n) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    const int pieces[] = {10, 10, n};
    for (int s = 0; s < 3; s++) {
        fake_step(&f, s, 1000 * s, 1000 * s + 1000);
        for (int i = 0; i < pieces[s]; i++) {
            int call = fake_add(&f, host, KIND_RUNTIME, "launch", 1000 * s + 10 * i, 5);
            fake_work(&f, gpu, KIND_KERNEL, "k", 1000 * s + 10 * i + 8, 5, call);
        }
    }
    params p = fake_params();
    step_spans out = make(&f, &p);
    assert_int_equal(out.n + out.n_left_out, 3);
    fake_fini(&f);
    return out.n;
}

/* Steps 0 … n - 1, those of `without` without operators. */
static step_spans make_with_ops(fake *f, int n, const char *without) {
    params p = fake_params();
    fake_init(f);
    int host = fake_thread(f);
    for (int i = 0; i < n; i++) {
        fake_add(f, host, KIND_OP, "op", 100 * i, 50);
        fake_step(f, i, 100 * i, 100 * i + 100);
        FAKE_SET(f, step, left_out, i + 1, without[i] == '-');
    }
    (void)fake_seal(f);
    selection s;
    step_spans all, out;
    select_init(&s, &f->t, &p);
    assert_int_equal(step_spans_make(&f->t, &s, &f->arena, &all, NULL), OK);
    assert_int_equal(all.n, n);
    assert_int_equal(step_spans_with_ops(&all, &f->arena, &out, NULL), OK);
    return out;
}

static void steps_with_operators_are_distinguished_from_those_without(void **state) {
    fake f;
    step_spans some = make_with_ops(&f, 5, "*--*-");
    assert_int_equal(some.n, 2);
    assert_int_equal(some.v[1].number, 3);
    fake_fini(&f);
    assert_int_equal(make_with_ops(&f, 3, "***").n, 3);
    fake_fini(&f);
    assert_int_equal(make_with_ops(&f, 3, "---").n, 3); /* nothing better is there */
    fake_fini(&f);
}

static void a_last_step_with_less_than_four_fifths_is_left_out(void **state) {
    assert_int_equal(count_kept(7), 2);
    assert_int_equal(count_kept(8), 3);
    assert_int_equal(count_kept(0), 2);
}

static void calls_over_a_border_belong_to_no_step(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    fake_step(&f, 1, 0, 100);
    fake_step(&f, 2, 100, 200);
    int inside = fake_add(&f, host, KIND_RUNTIME, "launch", 10, 5);
    int over = fake_add(&f, host, KIND_RUNTIME, "launch", 95, 10);
    int second = fake_add(&f, host, KIND_RUNTIME, "launch", 110, 5);
    fake_work(&f, gpu, KIND_KERNEL, "k", 20, 5, inside);
    fake_work(&f, gpu, KIND_KERNEL, "k", 120, 500, over);
    fake_work(&f, gpu, KIND_KERNEL, "k", 150, 5, second);
    params p = fake_params();
    step_spans out = make(&f, &p);
    assert_int_equal(out.v[0].n_work, 1);
    assert_int_equal(out.v[1].n_work, 1);
    assert_int_equal(out.v[1].end, 200);
    fake_fini(&f);
}

static void a_trace_of_the_device_alone_is_one_step_over_it(void **state) {
    fake f;
    fake_init(&f);
    int gpu = fake_stream(&f, 0);
    fake_work(&f, gpu, KIND_KERNEL, "k", 100, 50, -1);
    fake_work(&f, gpu, KIND_KERNEL, "k", 300, 50, -1);
    params p = fake_params();
    step_spans out = make(&f, &p);
    assert_int_equal(out.n, 1);
    assert_false(out.marked);
    assert_int_equal(out.v[0].start, 100);
    assert_int_equal(out.v[0].end, 350);
    fake_fini(&f);
}

static void a_selection_takes_steps_or_clips_them(void **state) {
    fake f;
    fake_init(&f);
    fake_add(&f, fake_thread(&f), KIND_OP, "op", 0, 300);
    for (int i = 0; i < 3; i++) fake_step(&f, i + 1, 100 * i, 100 * i + 100);
    params p = fake_params();
    p.first_step = 2, p.last_step = 3;
    step_spans out = make(&f, &p);
    assert_int_equal(out.n, 2);
    assert_int_equal(out.v[0].number, 2);
    fake_fini(&f);
    fake_init(&f);
    fake_add(&f, fake_thread(&f), KIND_OP, "op", 0, 300);
    for (int i = 0; i < 3; i++) fake_step(&f, i + 1, 100 * i, 100 * i + 100);
    p = fake_params();
    p.from_ns = 150, p.to_ns = 200;
    out = make(&f, &p);
    assert_int_equal(out.n, 1);
    assert_int_equal(out.v[0].end - out.v[0].start, 50);
    fake_fini(&f);
}

/* Durations of steps one after the other; how many of the first are warm-up. */
static uint32_t count_warm(const char *format, const int *durations, int n, bool selects) {
    fake f;
    fake_init(&f);
    f.t.format = str_of(format);
    int64_t at = 0;
    fake_add(&f, fake_thread(&f), KIND_OP, "op", 0, 10);
    for (int i = 0; i < n; i++) {
        fake_step(&f, i, at, at + durations[i]);
        at += durations[i];
    }
    params p = fake_params();
    if (selects) p.first_step = 0, p.last_step = n;
    step_spans out = make(&f, &p);
    assert_int_equal(out.n + out.n_warm_up, n);
    if (out.n) assert_int_equal(out.v[0].number, out.n_warm_up);
    fake_fini(&f);
    return out.n_warm_up;
}

static void our_own_first_steps_warm_up_while_they_are_long(void **state) {
    static const int LONG_FIRST[] = {9000, 400, 151, 100, 100, 99, 101, 100, 100, 100},
                     EVEN[] = {149, 100, 100, 100, 100}, RISING[] = {10, 20, 30, 40, 50, 60},
                     LATER[] = {100, 100, 100, 900, 100, 100}, FEW[] = {900, 100, 100};
    assert_int_equal(count_warm("tacho_recording", LONG_FIRST, 10, false), 3);
    assert_int_equal(count_warm("tacho_recording", EVEN, 5, false), 0);
    assert_int_equal(count_warm("tacho_recording", RISING, 6, false), 0);
    assert_int_equal(count_warm("tacho_recording", LATER, 6, false), 0);
    assert_int_equal(count_warm("tacho_recording", FEW, 3, false), 0);
    assert_int_equal(count_warm("kineto", LONG_FIRST, 10, false),
                     0); /* the program chose them */
    assert_int_equal(count_warm("tacho_recording", LONG_FIRST, 10, true), 0);
}

static void work_from_before_the_recording_does_not_go_to_the_first_step(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0), copies = fake_stream(&f, 0);
    fake_step(&f, 1, 0, 100);
    fake_step(&f, 2, 100, 200);
    int a = fake_add(&f, host, KIND_RUNTIME, "launch", 10, 5),
        b = fake_add(&f, host, KIND_RUNTIME, "launch", 110, 5);
    fake_work(&f, copies, KIND_MEMCPY, "copy", 12, 5, a); /* early, on a separate stream */
    fake_work(&f, gpu, KIND_KERNEL, "old", 5, 65, -1);    /* in flight */
    fake_work(&f, gpu, KIND_KERNEL, "k", 70, 100, a);
    fake_work(&f, gpu, KIND_KERNEL, "lost", 170, 10, -1); /* its launch was lost: not earlier */
    fake_work(&f, gpu, KIND_KERNEL, "k", 180, 100, b);
    params p = fake_params();
    step_spans out = make(&f, &p);
    assert_int_equal(out.v[0].start, 70);
    assert_int_equal(out.v[0].end, 170);
    assert_int_equal(out.v[1].start, 170);
    assert_int_equal(out.v[1].end, 280);
    fake_fini(&f);
}

static void a_recording_without_steps_begins_where_it_begins(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    int a = fake_add(&f, host, KIND_RUNTIME, "launch", 0, 5);
    fake_work(&f, gpu, KIND_KERNEL, "old", 5, 65, -1); /* in flight */
    fake_work(&f, gpu, KIND_KERNEL, "k", 70, 100, a);
    params p = fake_params();
    step_spans out = make(&f, &p);
    assert_false(out.marked);
    assert_int_equal(out.v[0].start, 0);
    assert_int_equal(out.v[0].end, 170);
    fake_fini(&f);
}

static void the_median_is_the_smallest_that_half_do_not_exceed(void **state) {
    fake f;
    int64_t median = -1;
    fake_init(&f);
    fake_step(&f, 1, 0, 90);
    fake_step(&f, 2, 100, 150);
    fake_step(&f, 3, 200, 270);
    fake_step(&f, 4, 300, 310);
    params p = fake_params();
    step_spans out = make(&f, &p);
    assert_int_equal(step_spans_median(&out, &f.arena, &median, NULL), OK);
    assert_int_equal(median, 50);
    out.n = 0;
    assert_int_equal(step_spans_median(&out, &f.arena, &median, NULL), OK);
    assert_int_equal(median, 0);
    fake_fini(&f);
}

/* Marked steps of these lengths, each with one kernel: how many count. */
static uint32_t count_marked(const int64_t *lengths, int n) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    int64_t at = 0;
    for (int i = 0; i < n; i++) {
        fake_step(&f, i, at, at + lengths[i]);
        int call = fake_add(&f, host, KIND_RUNTIME, "launch", at + 10, 5);
        fake_work(&f, gpu, KIND_KERNEL, "k", at + 20, 10, call);
        at += lengths[i];
    }
    params p = fake_params();
    step_spans out = make(&f, &p);
    assert_int_equal(out.n + out.n_warm_up, n);
    fake_fini(&f);
    return out.n;
}

static void a_marked_first_step_out_of_proportion_is_left_out(void **state) {
    assert_int_equal(count_marked((int64_t[]){700, 100, 100, 100}, 4), 3);
    assert_int_equal(count_marked((int64_t[]){700, 100, 100}, 3), 2);
    assert_int_equal(count_marked((int64_t[]){250, 100, 100, 100}, 4), 4);      /* not enough */
    assert_int_equal(count_marked((int64_t[]){700, 100, 100, 100, 600}, 5), 5); /* again */
    assert_int_equal(count_marked((int64_t[]){700, 100}, 2), 2); /* which one is odd? */
}

/* The first step's one kernel runs until `until`; the others wait for it, then take 10 each.
 * Steps begin at 0, 500, 600, …. */
static uint32_t first_after_backlog(int64_t until, int n) {
    fake f;
    fake_init(&f);
    f.t.format = STR("tacho_recording");
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    int64_t is_free = until;
    for (int i = 0; i < n; i++) {
        int64_t start = i ? 400 + 100 * i : 0, end = 500 + 100 * i;
        fake_step(&f, i, start, end);
        int call = fake_add(&f, host, KIND_RUNTIME, "launch", start + 10, 5);
        int64_t work = i && is_free < start + 20 ? start + 20 : i ? is_free : 400;
        is_free = i ? work + 10 : until;
        fake_work(&f, gpu, KIND_KERNEL, "k", work, is_free - work, call);
    }
    params p = fake_params();
    step_spans out = make(&f, &p);
    assert_int_equal(out.n + out.n_warm_up, n);
    uint32_t first = (uint32_t)out.v[0].number;
    fake_fini(&f);
    return first;
}

static void steps_that_waited_for_the_warm_up_are_part_of_it(void **state) {
    assert_int_equal(first_after_backlog(450, 12), 1);
    assert_int_equal(first_after_backlog(920, 12), 6);  /* 1 to 4 took 10 each, 5 took 40 */
    assert_int_equal(first_after_backlog(1220, 12), 9); /* most of the others */
    assert_int_equal(first_after_backlog(9000, 12), 1); /* there are no others */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_marked_first_step_out_of_proportion_is_left_out),
        cmocka_unit_test(steps_with_operators_are_distinguished_from_those_without),
        cmocka_unit_test(work_from_before_the_recording_does_not_go_to_the_first_step),
        cmocka_unit_test(a_recording_without_steps_begins_where_it_begins),
        cmocka_unit_test(the_median_is_the_smallest_that_half_do_not_exceed),
        cmocka_unit_test(a_last_step_with_less_than_four_fifths_is_left_out),
        cmocka_unit_test(calls_over_a_border_belong_to_no_step),
        cmocka_unit_test(a_trace_of_the_device_alone_is_one_step_over_it),
        cmocka_unit_test(a_selection_takes_steps_or_clips_them),
        cmocka_unit_test(our_own_first_steps_warm_up_while_they_are_long),
        cmocka_unit_test(steps_that_waited_for_the_warm_up_are_part_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
