/* memory_parts_test.c: what the peak of a device is made of, in steps made by hand. */
#include "example_trace.h"

static int host;

static void add(fake *f, int64_t time, uint64_t address, int64_t bytes, int64_t reserved) {
    int64_t before = f->n_memories ? f->memories[f->n_memories - 1].allocated : 0;
    fake_add_memory(f, (fake_memory){.time = time,
                                     .track = host,
                                     .address = address,
                                     .bytes = bytes,
                                     .allocated = before + bytes,
                                     .reserved = reserved,
                                     .device_type = DEVICE_CUDA,
                                     .device = 0});
}

static void op(fake *f, const char *name, int64_t start, int64_t dur, int64_t sequence) {
    int h = fake_add(f, host, KIND_OP, name, start, dur);
    f->slices[h].sequence = sequence;
    f->slices[h].has_op_row = true;
}

/* One step from `at` on: the forward pass makes an activation (100) and a buffer of its own
 * (30), the backward pass a gradient (1000) and one that goes on to the next node (50). */
static void step(fake *f, int64_t number, int64_t at) {
    uint64_t base = (uint64_t)number * 100;
    fake_step(f, number, at, at + 100);
    op(f, "aten::mm", at + 10, 10, 7);
    add(f, at + 11, base + 1, 100, 8000);
    add(f, at + 12, base + 2, 30, 8000);
    add(f, at + 13, base + 2, -30, 8000);
    op(f, "autograd::engine::evaluate_function: MmBackward0", at + 30, 10, 7);
    add(f, at + 31, base + 3, 50, 8000);
    add(f, at + 32, base + 4, 1000, 8000);
    add(f, at + 39, base + 1, -100, 8000);
    op(f, "autograd::engine::evaluate_function: AddBackward0", at + 42, 6, 6);
    add(f, at + 43, base + 3, -50, 8000);
    fake_add(f, host, KIND_OPTIMIZER, "Optimizer.step#AdamW.step", at + 60, 10);
    fake_add(f, host, KIND_OPTIMIZER, "Optimizer.zero_grad#AdamW.zero_grad", at + 80, 10);
}

static void end_step(fake *f, int64_t number, int64_t at) {
    add(f, at + 85, (uint64_t)number * 100 + 4, -1000, 8000);
}

static void begin(fake *f) {
    fake_init(f);
    host = fake_thread(f);
}

static answer ask(fake *f, arena *a) {
    params p = fake_params();
    return fake_ask(analyse_memory, fake_seal(f), &p, a);
}

static int64_t part(const answer *out, const char *category) {
    const table *t = fake_table(out, "parts");
    for (size_t i = 0; i < t->n_rows; i++)
        if (str_eq(fake_text(t, i, "category"), str_of(category)))
            return fake_int(t, i, "bytes");
    return 0;
}

static int64_t whole(const answer *out) {
    const table *t = fake_table(out, "parts");
    int64_t sum = 0;
    for (size_t i = 0; i < t->n_rows; i++) sum += fake_int(t, i, "bytes");
    return sum;
}

/* Weights (400) before the first step, a state of the optimizer (800) in its first. */
static void a_step_is_split_by_when_and_where_blocks_live(void **state) {
    fake f;
    arena a = {0};
    begin(&f);
    op(&f, "aten::empty", 1, 2, ABSENT_I64);
    add(&f, 2, 9, 400, 8000);
    step(&f, 1, 100);
    add(&f, 165, 10, 800, 8000);
    end_step(&f, 1, 100);
    step(&f, 2, 200);
    end_step(&f, 2, 200);
    step(&f, 3, 300);
    answer out = ask(&f, &a);
    assert_int_equal(fake_int(fake_table(&out, "peaks"), 0, "allocated"), 2350);
    assert_int_equal(part(&out, "weights"), 400);
    assert_int_equal(part(&out, "optimizer_state"), 800);
    assert_int_equal(part(&out, "gradients"), 1000);
    assert_int_equal(part(&out, "activations"), 100);
    assert_int_equal(part(&out, "temporary"), 50);
    assert_int_equal(part(&out, "unused"), 8000 - 2350);
    assert_int_equal(whole(&out), 8000);
    arena_fini(&a);
    fake_fini(&f);
}

/* 3300 bytes are older: weights as large as the gradients, twice as much of Adam, and a rest. */
static void what_is_older_is_estimated_from_the_gradients(void **state) {
    fake f;
    arena a = {0};
    begin(&f);
    step(&f, 1, 100);
    for (int i = 0; i < f.n_memories; i++) f.memories[i].allocated += 3300;
    end_step(&f, 1, 100);
    step(&f, 2, 200);
    answer out = ask(&f, &a);
    assert_int_equal(part(&out, "weights"), 1000);
    assert_int_equal(part(&out, "optimizer_state"), 2000);
    assert_int_equal(part(&out, "unknown"), 300);
    assert_int_equal(part(&out, "gradients"), 1000);
    assert_int_equal(fake_int(fake_table(&out, "parts"), 0, "estimated"), 1);
    assert_int_equal(fake_int(fake_table(&out, "parts"), 1, "estimated"), 0); /* gradients */
    assert_int_equal(whole(&out), 8000);
    arena_fini(&a);
    fake_fini(&f);
}

/* The list of losses: made in the forward pass and never released. */
static void what_the_program_keeps_is_none_of_the_activations(void **state) {
    fake f;
    arena a = {0};
    begin(&f);
    for (int64_t n = 1; n <= 3; n++) {
        step(&f, n, n * 100);
        f.memories[f.n_memories - 7].bytes = 100;
        end_step(&f, n, n * 100);
    }
    op(&f, "aten::add", 112, 4, 8);
    add(&f, 390, 77, 5, 8000);
    f.memories[f.n_memories - 1].time = 113;
    fake_memory kept = f.memories[f.n_memories - 1];
    memmove(&f.memories[4], &f.memories[3], sizeof kept * (size_t)(f.n_memories - 4));
    f.memories[3] = kept;
    for (int i = 0, sum = 0; i < f.n_memories; i++)
        f.memories[i].allocated = sum += (int)f.memories[i].bytes;
    answer out = ask(&f, &a);
    assert_int_equal(part(&out, "kept"), 5);
    assert_int_equal(part(&out, "activations"), 100);
    arena_fini(&a);
    fake_fini(&f);
}

/* A forward operator that runs inside a node of the backward pass is one of a checkpoint. */
static void what_a_checkpoint_computes_again_is_an_activation(void **state) {
    fake f;
    arena a = {0};
    begin(&f);
    fake_step(&f, 1, 0, 100);
    op(&f, "aten::mm", 5, 3, 7);
    add(&f, 6, 1, 10, ABSENT_I64);
    op(&f, "autograd::engine::evaluate_function: MmBackward0", 10, 40, 7);
    op(&f, "aten::addmm", 12, 8, 7);
    add(&f, 15, 2, 900, ABSENT_I64);
    add(&f, 25, 3, 20, ABSENT_I64);
    add(&f, 30, 2, -900, ABSENT_I64);
    add(&f, 45, 3, -20, ABSENT_I64);
    answer out = ask(&f, &a);
    assert_int_equal(part(&out, "activations"), 910);
    assert_int_equal(part(&out, "temporary"), 20);
    assert_int_equal(whole(&out), 930); /* reserved is not known */
    arena_fini(&a);
    fake_fini(&f);
}

/* What remains is not known, and a recording that lost releases does not add up to too much. */
static void parts_never_exceed_the_total(void **state) {
    fake f;
    arena a = {0};
    begin(&f);
    op(&f, "aten::relu", 5, 3, 7);
    add(&f, 6, 1, 500, 600);
    add(&f, 20, 2, 300, 600);
    f.memories[1].allocated = 550;
    answer out = ask(&f, &a);
    assert_int_equal(whole(&out), 600);
    arena_fini(&a);
    fake_fini(&f);
}

/* Three segments of 1000: one full, one with a gap, one free; a fourth was given back. */
static void free_segments_are_not_gaps(void **state) {
    fake f;
    arena a = {0};
    begin(&f);
    for (int i = 0; i < 4; i++) add(&f, 1 + i, (uint64_t)(1000 * (1 + i)), 1000, 3000);
    add(&f, 6, 4000, -1000, 3000);
    add(&f, 7, 1000, 1000, 3000);
    add(&f, 8, 2000, 300, 3000);
    for (int i = 0; i < 5; i++) f.memories[i].allocated = ABSENT_I64;
    f.memories[5].allocated = 1000;
    f.memories[6].allocated = 1300;
    const trace *t = fake_seal(&f);
    for (uint32_t i = 1; i <= 4; i++)
        FAKE_SET(&f, memory, kind, i, i == 1 ? MEMORY_SEGMENT_EXISTING : MEMORY_SEGMENT_ALLOC);
    FAKE_SET(&f, memory, kind, 5, MEMORY_SEGMENT_FREE);
    for (uint32_t i = 1; i <= 7; i++) FAKE_SET(&f, memory, partner, i, 0);
    params p = fake_params();
    answer out = fake_ask(analyse_memory, t, &p, &a);
    assert_int_equal(part(&out, "cached"), 1000);
    assert_int_equal(part(&out, "fragmented"), 700);
    assert_int_equal(part(&out, "unused"), 0);
    assert_int_equal(whole(&out), 3000);
    arena_fini(&a);
    fake_fini(&f);
}

static void blocks_are_listed_by_part_and_module(void **state) {
    fake f;
    arena a = {0};
    begin(&f);
    example_module(&f, host, "nn.Module: Net_0", 100, 25);
    step(&f, 1, 100);
    answer out = ask(&f, &a);
    const table *t = fake_table(&out, "part_contents");
    assert_int_equal(t->n_rows, 3);
    assert_text(fake_text(t, 0, "category"), "gradients");
    assert_int_equal(fake_int(t, 0, "bytes"), 1000);
    assert_text(fake_text(t, 1, "category"), "activations");
    assert_text(fake_text(t, 1, "module"), "Net_0");
    assert_text(fake_text(t, 1, "op"), "aten::mm");
    arena_fini(&a);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_split_by_when_and_where_blocks_live),
        cmocka_unit_test(what_is_older_is_estimated_from_the_gradients),
        cmocka_unit_test(what_the_program_keeps_is_none_of_the_activations),
        cmocka_unit_test(what_a_checkpoint_computes_again_is_an_activation),
        cmocka_unit_test(parts_never_exceed_the_total),
        cmocka_unit_test(free_segments_are_not_gaps),
        cmocka_unit_test(blocks_are_listed_by_part_and_module),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
