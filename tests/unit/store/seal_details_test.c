/* seal_details_test.c: the tables that hang on slices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "unit/ingest/read_helper.h"

/* An X event on thread `tid` of process 1. */
#define X(cat, name, tid, ts, dur, args)                                              \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":" #tid \
    ",\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{" args "}}"

static void each_detail_names_its_slice_in_order(void **state) {
    trace *t = read_events(EVENTS(X("kernel", "k2", 7, 9, 1, "\"correlation\":2"),
                                  X("kernel", "k1", 7, 5, 1, "\"correlation\":1"),
                                  X("cpu_op", "o2", 1, 8, 1, "\"External id\":2"),
                                  X("cpu_op", "o1", 1, 1, 5, "\"External id\":1"),
                                  X("cuda_"
                                    "runti"
                                    "me",
                                    "c", 1, 2, 1,
                                    "\"cor"
                                    "relat"
                                    "ion\""
                                    ":1")));
    assert_int_equal(t->op.n, 3);
    assert_int_equal(t->op.slice[1], find_slice(t, "o1"));
    assert_int_equal(t->op.external[1], 1);
    assert_int_equal(t->op.slice[2], find_slice(t, "o2"));
    assert_int_equal(t->op.external[2], 2);
    assert_int_equal(t->kernel.n, 3);
    assert_int_equal(t->kernel.slice[1], find_slice(t, "k1"));
    assert_int_equal(t->kernel.correlation[1], 1);
    assert_int_equal(t->kernel.slice[2], find_slice(t, "k2"));
    assert_int_equal(t->call.n, 2);
    assert_int_equal(t->call.slice[1], find_slice(t, "c"));
    trace_release(t);
}

static void details_come_from_the_right_part(void **state) {
    buf b = {0};
    buf_add_byte(&b, '[');
    for (int i = 0; i < 400; i++)
        buf_printf(&b,
                   "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"n%d\",\"pid\":1,\"tid\":1,"
                   "\"ts\":%d,\"dur\":1,\"args\":{\"External id\":%d,\"flops\":%d}}",
                   i ? "," : "", i, i * 131 % 400, i, i * 2);
    buf_add_byte(&b, ']');
    error err;
    trace *t = read_text(buf_str(&b), (read_how){.threads = 4, .piece_bytes = 700}, &err);
    assert_int_equal(t->op.n, 401);
    for (uint32_t i = 1; i <= 400; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", (int)t->op.external[i]);
        assert_string_equal(text_of_id(t, t->slice.name[t->op.slice[i]]), name);
        assert_true(t->op.flops[i] == 2.0 * (double)t->op.external[i]);
    }
    trace_release(t);
    buf_fini(&b);
}

/* More device work than is written together: separate rows, then many that share one. */
static void kernels_keep_their_own_columns_and_share_a_row(void **state) {
    enum { OWN = 700, ALL = 1500 };
    builder *b = builder_new();
    part *p = builder_part(b);
    uint32_t track = part_track(p, (ident){.v = 1}, (ident){.v = 7});
    raw_slice row = {.dur = 1, .track = track, .kind = KIND_KERNEL};
    for (int i = 0; i < ALL; i++) {
        raw_kernel k = RAW_KERNEL_NONE;
        k.correlation = i;
        k.registers = -i;
        k.grid[2] = (uint32_t)i * 3;
        if (i <= OWN) assert_int_equal(part_kernel(p, &k, &row), OK);
        row.start = i;
        assert_int_equal(part_slice(p, &row), OK);
    }
    trace *t;
    assert_int_equal(builder_seal(b, NULL, &t, NULL), OK);
    assert_int_equal(t->kernel.n, ALL + 1);
    for (uint32_t i = 1; i <= ALL; i++) {
        int of = i <= OWN ? (int)i - 1 : OWN;
        assert_int_equal(t->kernel.slice[i], i);
        assert_int_equal(t->kernel.correlation[i], of);
        assert_int_equal(t->kernel.registers[i], -of);
        assert_int_equal(t->kernel.grid_z[i], of * 3);
        assert_int_equal(t->kernel.stream[i], ABSENT_I64);
        assert_int_equal(t->kernel.op[i], 0);
    }
    trace_release(t);
    builder_free(b);
}

static void only_slices_that_do_framework_work_are_ops(void **state) {
    trace *t = read_events(EVENTS(X("python_function", "p", 1, 0, 9, ""),
                                  X("overhead", "v", 1, 1, 1, ""),
                                  X("user_annotation", "u", 1, 2, 1, ""),
                                  X("cpu_op", "o", 1, 3, 1, ""), X("Trace", "s", 2, 3, 1, "")));
    assert_int_equal(t->op.n, 3);
    assert_int_equal(t->op.slice[1], find_slice(t, "u"));
    assert_int_equal(t->op.slice[2], find_slice(t, "o"));
    trace_release(t);
}

static void a_range_with_nothing_to_keep_has_no_row(void **state) {
    trace *t = read_events(EVENTS(X("user_annotation", "bare", 1, 2, 1, ""),
                                  X("user_annotation", "known", 1, 4, 1, "\"External id\":7"),
                                  X("cpu_op", "o", 1, 6, 1, "")));
    assert_int_equal(t->op.n, 3);
    assert_int_equal(trace_op_of(t, find_slice(t, "bare")), 0);
    assert_int_equal(t->op.external[trace_op_of(t, find_slice(t, "known"))], 7);
    assert_int_equal(trace_op_of(t, find_slice(t, "o")), 2);
    trace_release(t);
    /* Where there are call stacks, its own is kept. */
    t = read_events(EVENTS(X("python_function", "p", 1, 0, 9, ""),
                           X("user_annotation", "bare", 1, 2, 1, "")));
    uint32_t row = trace_op_of(t, find_slice(t, "bare"));
    assert_true(row && t->op.frame[row]);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_detail_names_its_slice_in_order),
        cmocka_unit_test(details_come_from_the_right_part),
        cmocka_unit_test(kernels_keep_their_own_columns_and_share_a_row),
        cmocka_unit_test(only_slices_that_do_framework_work_are_ops),
        cmocka_unit_test(a_range_with_nothing_to_keep_has_no_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
