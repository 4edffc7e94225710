/* args_test.c: what the encoder writes is what the decoder gives back, and damage stays harmless. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/fault.h"
#include "store/args.h"
#include "unit/store/sample_trace.h"

static void assert_json(const trace *t, uint32_t record, const char *expected) {
    buf b = {0};
    assert_int_equal(trace_args_json(t, record, &b, NULL), OK);
    buf_add_byte(&b, 0);
    assert_string_equal(b.p, expected);
    buf_fini(&b);
}

static void args_of_the_sample_come_back_as_written(void **state) {
    trace *t = sample_trace();
    assert_json(t, 0, "{}");
    assert_json(t, 1, "{\"External id\":1,\"Ev Idx\":0}");
    assert_json(t, 2, "{\"External id\":2,\"Ev Idx\":1,\"Input Dims\":[[8, 8], [8, 8]]}");
    assert_json(t, 3, "{\"External id\":2,\"correlation\":7}");
    assert_json(t, 4, "{\"External id\":2,\"correlation\":7,\"blocks per SM\":0.007576}");
    trace_release(t);
}

static void args_integers_of_any_size_survive_their_differences(void **state) {
    static const int64_t values[] = {0,         1, -1, INT64_MAX, INT64_MIN, 5, INT64_MIN + 1,
                                     INT64_MAX, -3};
    enum { N = sizeof values / sizeof *values };
    maker m;
    maker_init(&m);
    uint32_t shape = maker_shape(&m, 0, "n"), records[N];
    int64_t previous = 0;
    for (int i = 0; i < N; i++) {
        args_put_varint(&m.arg_at, shape);
        args_put_integer(&m.arg_at, values[i], &previous);
        records[i] = maker_record(&m);
    }
    trace *t = maker_done(&m);
    for (int i = 0; i < N; i++) {
        char expected[64];
        snprintf(expected, sizeof expected, "{\"n\":%lld}", (long long)values[i]);
        assert_json(t, records[i], expected);
    }
    trace_release(t);
}

static void args_decimals_keep_their_digits(void **state) {
    static const struct {
        int64_t mantissa;
        uint32_t digits;
        const char *json;
    } cases[] = {
        {-5, 1, "{\"d\":-0.5}"},
        {0, 1, "{\"d\":0.0}"},
        {150, 2, "{\"d\":1.50}"},
        {7, 18, "{\"d\":0.000000000000000007}"},
        {INT64_MIN, 18, "{\"d\":-9.223372036854775808}"},
        {INT64_MAX, 1, "{\"d\":922337203685477580.7}"},
        {12, 0, "{\"d\":12}"},
    };
    maker m;
    maker_init(&m);
    uint32_t shape = maker_shape(&m, 0, "d");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        args_put_varint(&m.arg_at, shape);
        args_put_decimal(&m.arg_at, cases[i].mantissa, cases[i].digits);
        maker_record(&m);
    }
    trace *t = maker_done(&m);
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_json(t, i + 1, cases[i].json);
    trace_release(t);
}

static void args_texts_raw_values_and_special_shapes_are_valid_json(void **state) {
    maker m;
    maker_init(&m);
    uint32_t text = maker_shape(&m, 0, "te\"xt"), empty = maker_shape(&m, 0, "");
    uint32_t raw = maker_shape(&m, text, "");
    args_put_varint(&m.arg_at, raw);
    args_put_string(&m.arg_at, maker_str(&m, "a\n\"b\""));
    args_put_raw(&m.arg_at, maker_str(&m, "true"));
    maker_record(&m);
    args_put_varint(&m.arg_at, empty);
    args_put_string(&m.arg_at, maker_str(&m, "te\"xt"));
    maker_record(&m);
    args_put_varint(&m.arg_at, ARGS_SHAPE_RAW);
    args_put_raw(&m.arg_at, maker_str(&m, "{\"whole\": [1,2]}"));
    maker_record(&m);
    args_put_varint(&m.arg_at, ARGS_SHAPE_RAW);
    args_put_raw(&m.arg_at, maker_str(&m, "[1,2]"));
    maker_record(&m);
    trace *t = maker_done(&m);
    assert_json(t, 1, "{\"te\\\"xt\":\"a\\n\\\"b\\\"\",\"\":true}");
    assert_json(t, 2, "{\"\":\"te\\\"xt\"}");
    buf b = {0};
    assert_json(t, 3, "{\"whole\": [1, 2]}");
    assert_int_equal(trace_args_json(t, 4, &b, NULL), OK);
    assert_true(str_eq(buf_str(&b), STR("{\"args\":[1, 2]}")));
    buf_fini(&b);
    trace_release(t);
}

static void args_references_to_nowhere_are_errors(void **state) {
    trace *t = sample_trace();
    buf b = {0};
    error err;
    assert_int_equal(trace_args_json(t, 5, &b, &err), ERR_FORMAT);
    assert_int_equal(err.message, MSG_ARGS_DAMAGED);
    assert_int_equal(trace_args_json(t, args_reference(0, 65535), &b, NULL), ERR_FORMAT);
    assert_int_equal(trace_args_json(t, args_reference(1, 1), &b, NULL), ERR_FORMAT);
    assert_int_equal(trace_args_json(t, args_reference(65535, 0), &b, NULL), ERR_FORMAT);
    assert_int_equal(b.n, 0);
    buf_fini(&b);
    trace_release(t);
}

/* Every byte of the block and of the shapes takes every value: nothing may be read outside. */
static void args_damaged_bytes_never_lead_outside(void **state) {
    trace *t = sample_trace();
    uint8_t *bytes = (uint8_t *)(uintptr_t)t->arg_bytes;
    uint32_t *parents = (uint32_t *)(uintptr_t)t->shape_parent;
    buf b = {0};
    int n_failed = 0;
    for (uint64_t at = 0; at < t->arg_block[1]; at++) {
        uint8_t kept = bytes[at];
        for (int v = 0; v < 256; v++) {
            bytes[at] = (uint8_t)v;
            for (uint32_t record = 1; record < 6; record++)
                n_failed += trace_args_json(t, record, &b, NULL) == ERR_FORMAT;
            buf_clear(&b);
        }
        bytes[at] = kept;
    }
    for (uint32_t s = 0; s < t->n_shapes; s++) {
        uint32_t kept = parents[s];
        for (uint32_t v = 0; v < t->n_shapes + 2; v++) {
            parents[s] = v;
            for (uint32_t record = 1; record < 6; record++)
                n_failed += trace_args_json(t, record, &b, NULL) == ERR_FORMAT;
            buf_clear(&b);
        }
        parents[s] = kept;
    }
    assert_true(n_failed > 1000);
    buf_fini(&b);
    trace_release(t);
}

static void args_reader_keeps_blocks_and_forgets_the_oldest(void **state) {
    enum { N_BLOCKS = 200, N_EACH = 3 };
    maker m;
    maker_init(&m);
    uint32_t shape = maker_shape(&m, 0, "i");
    uint64_t blocks[N_BLOCKS + 1] = {0};
    for (int b = 0; b < N_BLOCKS; b++) {
        int64_t previous = 0;
        for (int i = 0; i < N_EACH; i++) {
            args_put_varint(&m.arg_at, shape);
            args_put_integer(&m.arg_at, b * 3 + i, &previous);
        }
        blocks[b + 1] = (uint64_t)(m.arg_at - m.arg_bytes);
    }
    trace *t = maker_done(&m);
    t->arg_block = blocks;
    t->n_arg_blocks = N_BLOCKS;
    args_reader *r;
    assert_int_equal(args_reader_new(t, &r, NULL), OK);
    for (uint32_t k = 0; k < 5000; k++) {
        uint32_t n = k * 7919 % (N_BLOCKS * N_EACH);
        args_record rec;
        assert_int_equal(args_read(r, args_reference(n / 3, n % 3 + 1), &rec, NULL), OK);
        assert_int_equal(rec.n, 1);
        assert_int_equal(rec.payloads[0], n);
    }
    args_reader_free(r);
    trace_release(t);
}

static void args_reading_survives_each_failed_allocation(void **state) {
    trace *t = sample_trace();
    for (uint64_t n = 1;; n++) {
        buf b = {0};
        fault_arm(FAULT_ALLOC, n);
        status s = trace_args_json(t, 4, &b, NULL);
        fault_arm(FAULT_ALLOC, 0);
        buf_fini(&b);
        if (s == OK) break;
        assert_int_equal(s, ERR_MEMORY);
        assert_true(n < 50);
    }
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(args_of_the_sample_come_back_as_written),
        cmocka_unit_test(args_integers_of_any_size_survive_their_differences),
        cmocka_unit_test(args_decimals_keep_their_digits),
        cmocka_unit_test(args_texts_raw_values_and_special_shapes_are_valid_json),
        cmocka_unit_test(args_references_to_nowhere_are_errors),
        cmocka_unit_test(args_damaged_bytes_never_lead_outside),
        cmocka_unit_test(args_reader_keeps_blocks_and_forgets_the_oldest),
        cmocka_unit_test(args_reading_survives_each_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
