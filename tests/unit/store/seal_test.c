/* seal_test.c: the whole seal: any trace, any failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/fault.h"
#include "ingest/pytorch/kineto.h"
#include "unit/ingest/read_helper.h"

static const char TEXT[] =
    "{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0,\"name\":\"g\"}],\"distributedInfo\":"
    "{\"pg_config\":[{\"pg_name\":\"0\"}]},\"traceEvents\":["
    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"python\"}},"
    "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":1,\"args\":{\"name\":\"main\"}},"
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#3\",\"pid\":1,\"tid\":1,"
    "\"ts\":0,\"dur\":99},"
    "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"a.py(1): "
    "f\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":90,\"args\":{\"Python id\":1}},"
    "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"nn.Module: "
    "L_0\",\"pid\":1,\"tid\":1,\"ts\":2,\"dur\":80,\"args\":{\"Python module id\":1}},"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":3,"
    "\"dur\":20,\"args\":{\"External id\":1,\"Sequence number\":4,\"Input "
    "Dims\":[[1,2]],\"Call stack\":\"b.py(2): g\",\"flops\":7}},"
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,"
    "\"ts\":4,\"dur\":2,\"args\":{\"correlation\":9,\"External id\":2}},"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":30,\"dur\":5,"
    "\"args\":{\"correlation\":9,\"External id\":1,\"grid\":[1,2,3],\"Collective "
    "name\":\"c\",\"Process Group Name\":\"1\"}},"
    "{\"ph\":\"s\",\"cat\":\"fwdbwd\",\"name\":\"f\",\"id\":1,\"pid\":1,\"tid\":1,\"ts\":3},"
    "{\"ph\":\"f\",\"cat\":\"fwdbwd\",\"name\":\"f\",\"id\":1,\"pid\":1,\"tid\":1,\"ts\":3,"
    "\"bp\":\"e\"},"
    "{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":5,\"args\":{\"Addr\":1,"
    "\"Bytes\":8}},"
    "{\"ph\":\"i\",\"name\":\"point\",\"pid\":1,\"tid\":1,\"ts\":5,\"args\":{\"x\":1,\"x\":N/"
    "A}},"
    "{\"ph\":\"C\",\"name\":\"c\",\"pid\":1,\"ts\":5,\"args\":{\"v\":1}},"
    "{\"ph\":\"B\",\"name\":\"b\",\"pid\":1,\"tid\":2,\"ts\":5},{\"ph\":\"E\",\"pid\":1,"
    "\"tid\":2,\"ts\":6},"
    "{\"ph\":\"b\",\"name\":\"n\",\"id\":5,\"pid\":1,\"tid\":2,\"ts\":5},{\"ph\":\"e\",\"id\":"
    "5,\"pid\":1,\"tid\":2,\"ts\":6},"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\"b\",\"pid\":1,\"tid\":3,\"ts\":3,\"dur\":"
    "20},"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"c\\n\",\"pid\":1,\"tid\":3,\"ts\":13,\"dur\":"
    "20}],\"traceName\":\"x\"}";

static void a_trace_of_nothing_has_its_null_rows(void **state) {
    trace *t = read_events("");
    for (int table = 0; table < N_TABLES; table++) assert_int_equal(trace_rows(t, table), 1);
    for (int c = 0; c < N_COLUMNS; c++) assert_non_null(trace_column(t, c));
    trace_release(t);
}

static void every_table_gets_its_rows(void **state) {
    static const struct {
        int table;
        uint32_t rows;
    } expected[] = {{TABLE_process, 2}, {TABLE_slice, 10}, {TABLE_instant, 1},
                    {TABLE_counter, 1}, {TABLE_flow, 1},   {TABLE_kernel, 1},
                    {TABLE_call, 1},    {TABLE_comm, 1},   {TABLE_group, 2},
                    {TABLE_memory, 1},  {TABLE_module, 1}, {TABLE_module_call, 1},
                    {TABLE_step, 1},    {TABLE_device, 1}, {TABLE_meta, 4}};
    trace *t = read_json(TEXT);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (trace_rows(t, expected[i].table) != expected[i].rows + 1)
            fail_msg("table %s has %u rows", TABLE_INFO[expected[i].table].name,
                     trace_rows(t, expected[i].table) - 1);
    trace_release(t);
}

static void it_is_the_same_for_any_number_of_threads(void **state) {
    trace *t = read_json(TEXT);
    for (int threads = 1; threads <= 4; threads++) {
        error err;
        trace *u =
            read_text(STR(TEXT), (read_how){.threads = threads, .piece_bytes = 300}, &err);
        assert_same_trace(t, u, WITH_OFFSETS);
        trace_release(u);
    }
    trace_release(t);
}

/* Reading and sealing with the nth allocation failing: the trace, or NULL and out of memory. */
static trace *read_with_fault(pool *workers, uint64_t nth, bool *hit, error *err) {
    source *s = NULL;
    trace *t = NULL;
    ingest_options o = {.pool = workers, .piece_bytes = 700};
    fault_arm(FAULT_ALLOC, nth);
    builder *b = builder_new();
    status st = b ? source_open_memory(STR(TEXT), &s, err) : ERR_MEMORY;
    if (st == OK) st = ingest_trace_json(s, &o, b, err);
    if (st == OK) st = builder_seal(b, workers, &t, err);
    source_close(s);
    builder_free(b);
    *hit = fault_count(FAULT_ALLOC) >= nth;
    fault_arm(FAULT_ALLOC, 0);
    if (st != OK) {
        assert_int_equal(st, ERR_MEMORY);
        assert_null(t);
    }
    return t;
}

static void without_memory_there_is_no_trace_or_the_right_one(void **state) {
    trace *whole = read_json(TEXT);
    uint64_t n_failed = 0;
    for (int threads = 0; threads <= 2; threads += 2) {
        pool *workers = threads ? pool_new(threads) : NULL;
        bool hit = true;
        for (uint64_t nth = 1; hit; nth++) {
            error err = {0};
            trace *t = read_with_fault(workers, nth, &hit, &err);
            n_failed += t == NULL;
            if (t) assert_same_trace(whole, t, WITH_OFFSETS);
            trace_release(t);
        }
        pool_free(workers);
    }
    assert_true(n_failed > 100);
    trace_release(whole);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_of_nothing_has_its_null_rows),
        cmocka_unit_test(every_table_gets_its_rows),
        cmocka_unit_test(it_is_the_same_for_any_number_of_threads),
        cmocka_unit_test(without_memory_there_is_no_trace_or_the_right_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
