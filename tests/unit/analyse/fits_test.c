/* fits_test.c: memory at a batch that was never recorded, from recordings made by hand. */
#include "example_trace.h"

static fake small, large;
static arena memory;

typedef struct {
    int64_t batch;
    bool extra;     /* an allocation that the other recording does not have */
    int64_t varies; /* bytes that the last step has more of */
} program;

static int host;

static void add(fake *f, int64_t time, uint64_t address, int64_t bytes) {
    int64_t before = f->n_memories ? f->memories[f->n_memories - 1].allocated : 0;
    fake_add_memory(f, (fake_memory){.time = time,
                                     .track = host,
                                     .address = address,
                                     .bytes = bytes,
                                     .allocated = before + bytes,
                                     .reserved = ABSENT_I64,
                                     .device_type = DEVICE_CPU,
                                     .device = 0});
}

static void op(fake *f, const char *name, const char *shapes, int64_t start, int64_t sequence) {
    int h = fake_add(f, host, KIND_OP, name, start, 9);
    f->slices[h].sequence = sequence;
    f->slices[h].shapes = shapes;
    f->slices[h].types = "[\"float\"]";
    f->slices[h].has_op_row = true;
}

/* Weights (1000), then in each step an activation of 400 for each sample. */
static const trace *make(fake *f, const program *p, const char *shapes) {
    fake_init(f);
    host = fake_thread(f);
    op(f, "aten::empty", NULL, 0, ABSENT_I64);
    add(f, 1, 1, 1000);
    for (int64_t step = 1; step <= 4; step++) {
        int64_t at = step * 100, more = step == 4 ? p->varies : 0;
        fake_step(f, step, at, at + 99);
        op(f, "aten::mm", shapes, at + 10, 7);
        add(f, at + 11, 2, 400 * p->batch + more);
        if (p->extra) {
            op(f, "aten::special", shapes, at + 20, 7);
            add(f, at + 21, 3, 800);
        }
        op(f, "autograd::engine::evaluate_function: MmBackward0", NULL, at + 40, 7);
        add(f, at + 41, 2, -(400 * p->batch + more));
        if (p->extra) add(f, at + 42, 3, -800);
    }
    return fake_seal(f);
}

static const trace *make_small(const program *p) {
    return make(&small, p, "[[4, 10, 10]]");
}
static const trace *make_large(const program *p) {
    return make(&large, p, "[[8, 10, 10]]");
}

static void give(params *p, const char *name, const char *value) {
    p->extra[p->n_extra].name = str_of(name);
    p->extra[p->n_extra++].value = str_of(value);
}

/* `b`: the second recording, or NULL. */
static answer ask(const trace *a, const trace *b, const params *p) {
    analysis_trace one = {.trace = a, .rank = ABSENT_I64}, two = {.trace = b};
    analysis_input other = {.traces = &two, .n_traces = 1};
    analysis_input in = {.traces = &one, .n_traces = 1, .against = b ? &other : NULL};
    answer out;
    error err;
    assert_int_equal(analyse_fits(&in, p, &memory, &out, &err), OK);
    return out;
}

static int64_t value(const answer *out, const char *table_name, size_t row, const char *of) {
    return fake_int(fake_table(out, table_name), row, of);
}

static int64_t doubt(const answer *out, const char *reason) {
    const table *t = fake_table(out, "unknown");
    for (size_t i = 0; i < t->n_rows; i++)
        if (str_eq(fake_text(t, i, "reason"), str_of(reason))) return fake_int(t, i, "bytes");
    return 0;
}

static void end(void) {
    fake_fini(&small);
    fake_fini(&large);
    arena_reset(&memory);
}

static void two_recordings_give_the_peak_of_a_third(void **state) {
    params p = fake_params();
    give(&p, "batch", "100");
    answer out =
        ask(make_small(&(program){.batch = 4}), make_large(&(program){.batch = 8}), &p);
    assert_int_equal(value(&out, "fits", 0, "allocated"), 1000 + 40000);
    assert_int_equal(value(&out, "fits", 0, "least"), 41000);
    assert_int_equal(value(&out, "fits", 0, "most"), 41000);
    assert_int_equal(value(&out, "recorded", 0, "allocated"), 2600);
    assert_int_equal(value(&out, "recorded", 0, "replayed"), 2600);
    assert_int_equal(value(&out, "recorded", 1, "replayed"), 4200);
    assert_int_equal(fake_table(&out, "unknown")->n_rows, 1); /* what is before the recording */
    assert_string_equal(out.verdict.id, "fits_peak");
    end();
}

static void one_recording_says_what_it_assumes(void **state) {
    params p = fake_params();
    give(&p, "batch", "100");
    answer out = ask(make_small(&(program){.batch = 4}), NULL, &p);
    fake_init(&large);
    assert_int_equal(value(&out, "fits", 0, "allocated"), 41000);
    assert_int_equal(doubt(&out, "assumed"), 41000);
    end();
}

static void the_largest_batch_that_fits_is_found(void **state) {
    params p = fake_params();
    give(&p, "batch", "100");
    give(&p, "device", "20000");
    give(&p, "allocator", "exact");
    answer out =
        ask(make_small(&(program){.batch = 4}), make_large(&(program){.batch = 8}), &p);
    assert_int_equal(value(&out, "fits", 0, "largest"), 47); /* 1000 + 47 × 400 = 19800 */
    assert_string_equal(out.verdict.id, "fits_not");
    p.extra[0].value = STR("47");
    out = ask(&small.t, &large.t, &p);
    assert_string_equal(out.verdict.id, "fits");
    end();
}

static void what_only_one_recording_has_is_a_doubt(void **state) {
    params p = fake_params();
    program with = {.batch = 8, .extra = true};
    give(&p, "batch", "16");
    answer out = ask(make_small(&(program){.batch = 4}), make_large(&with), &p);
    assert_int_equal(value(&out, "fits", 0, "allocated"), 1000 + 6400 + 1600);
    assert_int_equal(doubt(&out, "assumed"), 1600);
    end();
}

static void a_size_that_differs_between_steps_widens_the_range(void **state) {
    params p = fake_params();
    program with = {.batch = 8, .varies = 320};
    answer out = ask(make_small(&(program){.batch = 4}), make_large(&with), &p);
    assert_true(doubt(&out, "varies") > 0);
    assert_true(value(&out, "fits", 0, "most") > value(&out, "fits", 0, "allocated"));
    end();
}

static void parts_add_up_to_the_peak_and_say_what_grows(void **state) {
    params p = fake_params();
    int64_t sum = 0;
    give(&p, "batch", "100");
    answer out =
        ask(make_small(&(program){.batch = 4}), make_large(&(program){.batch = 8}), &p);
    const table *parts = fake_table(&out, "parts"), *blocks = fake_table(&out, "blocks");
    for (size_t i = 0; i < parts->n_rows; i++) sum += fake_int(parts, i, "bytes");
    assert_int_equal(sum, 41000);
    assert_int_equal(fake_int(blocks, 0, "bytes"), 40000);
    assert_true(str_eq(fake_text(blocks, 0, "grows_with"), STR("batch × length²")));
    assert_true(str_eq(fake_text(blocks, 1, "grows_with"), STR("nothing")));
    end();
}

static void a_batch_that_is_not_known_must_be_given(void **state) {
    analysis_trace one = {.trace = make(&small, &(program){.batch = 4}, NULL)};
    analysis_input in = {.traces = &one, .n_traces = 1};
    params p = fake_params();
    answer out;
    error err;
    give(&p, "batch", "16");
    assert_int_equal(analyse_fits(&in, &p, &memory, &out, &err), ERR_ARG);
    give(&p, "recorded_batch", "4");
    assert_int_equal(analyse_fits(&in, &p, &memory, &out, &err), OK);
    assert_int_equal(value(&out, "fits", 0, "most"), 1000 + 6400); /* a guess: it may grow */
    assert_int_equal(value(&out, "fits", 0, "least"), 1000 + 1600);
    fake_init(&large);
    end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_recordings_give_the_peak_of_a_third),
        cmocka_unit_test(one_recording_says_what_it_assumes),
        cmocka_unit_test(the_largest_batch_that_fits_is_found),
        cmocka_unit_test(what_only_one_recording_has_is_a_doubt),
        cmocka_unit_test(a_size_that_differs_between_steps_widens_the_range),
        cmocka_unit_test(parts_add_up_to_the_peak_and_say_what_grows),
        cmocka_unit_test(a_batch_that_is_not_known_must_be_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
