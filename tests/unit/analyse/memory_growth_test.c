/* memory_growth_test.c: what rises from step to step, and why an allocation failed. */
#include "example_trace.h"

static fake f;
static arena memory;
static int host;
static int64_t allocated;

static void add(int64_t time, uint64_t address, int64_t bytes) {
    allocated += bytes;
    fake_add_memory(&f, (fake_memory){.time = time,
                                      .track = host,
                                      .address = address,
                                      .bytes = bytes,
                                      .allocated = allocated,
                                      .reserved = 100000,
                                      .device_type = DEVICE_CUDA,
                                      .device = 0});
}

static void op(const char *name, int64_t start) {
    fake_add(&f, host, KIND_OP, name, start, 9);
}

/* Six steps: a list keeps 100 more in each, a sequence of one block is 50 longer in each, the
 * second one makes states of 700, and an activation goes away. */
static void make_steps(void) {
    fake_init(&f);
    host = fake_thread(&f);
    allocated = 0;
    for (int64_t s = 1; s <= 6; s++) {
        int64_t at = s * 100;
        fake_step(&f, s, at, at + 99);
        op("list", at + 10);
        add(at + 11, 1000 + (uint64_t)s, 100);
        op("sequence", at + 20);
        if (s > 1) add(at + 21, 2000 + (uint64_t)s - 1, -(400 + 50 * (s - 1)));
        add(at + 22, 2000 + (uint64_t)s, 400 + 50 * s);
        op("state", at + 40);
        if (s == 2) add(at + 41, 3000, 700);
        op("activation", at + 60);
        add(at + 61, 4000, 5000);
        add(at + 62, 4000, -5000);
    }
}

static answer ask(void) {
    params p = fake_params();
    return fake_ask(analyse_memory, fake_seal(&f), &p, &memory);
}

static void end(void) {
    fake_fini(&f);
    arena_reset(&memory);
}

static size_t row_of(const table *t, const char *name) {
    for (size_t i = 0; i < t->n_rows; i++)
        if (str_eq(fake_text(t, i, "op"), str_of(name))) return i;
    fail_msg("no row of %s", name);
    return 0;
}

static void growth_says_what_is_kept_longer_or_warm_up(void **state) {
    make_steps();
    answer out = ask();
    const table *t = fake_table(&out, "growth");
    size_t list = row_of(t, "list"), sequence = row_of(t, "sequence");
    size_t warm = row_of(t, "state");
    assert_int_equal(t->n_rows, 3);
    assert_true(str_eq(fake_text(t, list, "growth"), STR("keeps")));
    assert_int_equal(fake_int(t, list, "per_step"), 100);
    assert_int_equal(fake_int(t, list, "at_last"), 600);
    assert_true(str_eq(fake_text(t, sequence, "growth"), STR("longer")));
    assert_int_equal(fake_int(t, sequence, "per_step"), 50);
    assert_true(str_eq(fake_text(t, warm, "growth"), STR("warm_up")));
    assert_string_equal(out.verdict.id, "memory_grows");
    end();
}

static void steady_steps_grow_nothing(void **state) {
    fake_init(&f);
    host = fake_thread(&f);
    allocated = 0;
    for (int64_t s = 1; s <= 6; s++) {
        fake_step(&f, s, s * 100, s * 100 + 99);
        op("gradient", s * 100 + 10);
        if (s > 1) add(s * 100 + 11, 7, -300);
        add(s * 100 + 12, 7, 300);
    }
    answer out = ask();
    assert_int_equal(fake_table(&out, "growth")->n_rows, 0);
    end();
}

static const char *cause_of(int64_t requested) {
    static char found[32];
    make_steps();
    add(690, 0, requested);
    f.memories[f.n_memories - 1].allocated = ABSENT_I64;
    fake_seal(&f);
    FAKE_SET(&f, memory, kind, f.t.memory.n - 1, MEMORY_OOM);
    params p = fake_params();
    answer out = fake_ask(analyse_memory, &f.t, &p, &memory);
    const table *t = fake_table(&out, "oom");
    assert_int_equal(t->n_rows, 1);
    assert_int_equal(fake_int(t, 0, "requested"), requested);
    assert_int_equal(fake_int(t, 0, "allocated"), 600 + 700 + 700);
    str text = fake_text(t, 0, "cause");
    snprintf(found, sizeof found, "%.*s", STR_ARG(text));
    assert_true(str_eq(fake_text(fake_table(&out, "oom_contents"), 0, "op"), STR("sequence")) ||
                str_eq(fake_text(fake_table(&out, "oom_contents"), 0, "op"), STR("state")));
    assert_string_equal(out.verdict.id, "memory_exhausted");
    end();
    return found;
}

/* 98,000 of 100,000 that are reserved are free. */
static void a_failure_has_a_cause(void **state) {
    assert_string_equal(cause_of(90000), "fragmentation");
    assert_string_equal(cause_of(200000), "size");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(growth_says_what_is_kept_longer_or_warm_up),
        cmocka_unit_test(steady_steps_grow_nothing),
        cmocka_unit_test(a_failure_has_a_cause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
