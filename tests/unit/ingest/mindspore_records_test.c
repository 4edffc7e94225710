/* mindspore_records_test.c: records of shapes and of memory that MindSpore writes while operators run. */
#include "mindspore_folder.h"

#include "ingest/mindspore/mindspore_int.h"

static void add_field(unsigned char **p, unsigned key, const char *text) {
    size_t n = strlen(text);
    add_le(p, key, 2);
    add_le(p, n, 4);
    memcpy(*p, text, n);
    *p += n;
}

/* A call with its shapes and types. */
static void add_shapes(unsigned char **p, const char *name, const char *shapes,
                       const char *types) {
    add_le(p, 3, 2);
    add_le(p, 18 + strlen(name) + strlen(shapes) + strlen(types), 4);
    add_field(p, 0, name);
    add_field(p, 1, shapes);
    add_field(p, 2, types);
}

typedef struct {
    uint64_t time, address, size, used, reserved;
    const char *owner;
} usage_row;
#define RELEASE UINT64_MAX

static void add_usage(unsigned char **p, const usage_row *r) {
    add_le(p, 2, 2);
    add_le(p, 100 + 6 + strlen(r->owner), 4);
    unsigned char *start = *p;
    memset(start, 0, 100);
    add_le(p, 1, 4); /* device */
    *p += 16;
    add_le(p, r->time, 8);
    add_le(p, r->address, 8);
    add_le(p, r->size, 8);
    add_le(p, r->used, 8);
    *p += 8;
    add_le(p, r->reserved, 8);
    *p = start + 100;
    add_field(p, 13, r->owner);
}

static void put_usages(const usage_row *rows, size_t n) {
    unsigned char bytes[2048], *p = bytes;
    for (size_t i = 0; i < n; i++) add_usage(&p, &rows[i]);
    put_bytes("mindspore.memory_usage", bytes, (size_t)(p - bytes));
}

static void calls_are_counted_by_name_shapes_and_types(void **state) {
    unsigned char bytes[512], *p = bytes;
    add_shapes(&p, "MatMul", "2,3;3,4", "Float16;Float16");
    add_shapes(&p, "MatMul", "2,3;3,4", "Float16;Float16");
    add_shapes(&p, "MatMul", "9,3;3,4", "Float16;Float16");
    add_shapes(&p, "Add", "", "");
    add_shapes(&p, "", "1", "");
    put_bytes("mindspore.record_shapes", bytes, (size_t)(p - bytes));
    /* The table made of them adds nothing. */
    put("operator_details.csv", "Name,Input Shapes\nMatMul,\"2,3;3,4\"\n");
    trace *t = read_worker("mindspore.record_shapes");
    assert_int_equal(t->producer_op.n - 1, 3);
    assert_int_equal(t->producer_op.calls[1], 2);
    assert_int_equal(t->producer_op.total[1], ABSENT_I64);
    assert_true(named(t, t->producer_op.side[1], "PyNative"));
    assert_true(named(t, t->producer_op.info[1],
                      "{\"Input Shapes\": \"2,3;3,4\", \"Input Data Types\": "
                      "\"Float16;Float16\"}"));
    assert_int_equal(t->producer_op.calls[2], 1);
    assert_true(named(t, t->producer_op.name[3], "Add"));
    assert_int_equal(t->producer_op.info[3], 0);
    assert_int_equal(trace_quality(t, CAUSE_MISSING_NAME), 1);
    trace_release(t);
}

static void the_table_alone_has_shapes_too(void **state) {
    put("operator_details.csv",
        "Name,Input Shapes\nMatMul,\"2,3;3,4\"\nMatMul,\"2,3;3,4\"\n,\"1\"\n");
    put("profiler_info_0.json", "{}");
    trace *t = read_worker("profiler_info_0.json");
    assert_int_equal(t->producer_op.n - 1, 1);
    assert_int_equal(t->producer_op.calls[1], 2);
    assert_true(named(t, t->producer_op.info[1], "{\"Input Shapes\": \"2,3;3,4\"}"));
    assert_int_equal(trace_quality(t, CAUSE_MISSING_NAME), 1);
    trace_release(t);
}

static const usage_row USAGES[] = {
    {1794707784000003000, 0x200, RELEASE, 1024, 9000, ""},
    {1794707784000001000, 0x100, 1024, 1024, 8192, "MatMul"},
    {1794707784000002000, 0x200, 512, 1536, 9000, "Add"},
    {1794707784000004000, 0x900, RELEASE, 1024, 9000, ""}, /* allocated before */
    {1794707784000005000, 0x100, RELEASE, 0, 9000, ""},
    {1794707784000006000, 0x100, 256, 256, 9000, "Mul"},
};

static void a_release_finds_its_allocation(void **state) {
    put_usages(USAGES, sizeof USAGES / sizeof *USAGES);
    trace *t = read_worker("mindspore.memory_usage");
    assert_int_equal(t->memory.n - 1, 5);
    assert_int_equal(t->memory.time[1], 0);
    assert_int_equal(t->memory.bytes[1], 1024);
    assert_int_equal(t->memory.allocated[1], 1024);
    assert_int_equal(t->memory.reserved[1], 8192);
    assert_true(named(t, t->frame.name[t->memory.frame[1]], "MatMul"));
    assert_int_equal(t->memory.device[1], 1);
    assert_int_equal(t->memory.device_type[1], DEVICE_ASCEND);
    assert_int_equal(t->memory.bytes[3], -512);
    assert_int_equal(t->memory.partner[2], 3);
    assert_int_equal(t->memory.partner[1], 4);
    assert_int_equal(t->memory.bytes[5], 256);
    trace_release(t);
}

static void the_table_of_allocations_has_had_its_say(void **state) {
    put_usages(USAGES, 3);
    put("operator_memory.csv", "Name,Size(KB),Allocation Time(us),Release Time(us),Device "
                               "Type\nMatMul,2,100.5,200.5,NPU:1\n");
    trace *t = read_worker("mindspore.memory_usage");
    assert_int_equal(t->memory.n - 1, 2);
    trace_release(t);
}

static void totals_of_the_device_make_room_for_its_allocations(void **state) {
    put_usages(USAGES, 3);
    put("memory_record.csv",
        "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Device Type\n"
        "MindSpore,1794707784000001.000,1,2,NPU:1\n");
    trace *t = read_worker("mindspore.memory_usage");
    assert_int_equal(t->memory.n - 1, 3);
    trace_release(t);
}

static void times_of_day_and_counters_begin_together(void **state) {
    put_usages(USAGES, 3);
    put("output_timeline_data_0.txt",
        "op_name, stream_id, start_time(ms), duration(ms)\nA-op1,1,5.0,1.0\n");
    trace *t = read_worker("output_timeline_data_0.txt");
    assert_int_equal(t->memory.time[1], 5000000);
    assert_int_equal(t->memory.time[2], 5001000);
    assert_int_equal(t->end_ns, 6000000);
    assert_true(trace_meta(t, STR("clocks")).n);
    trace_release(t);
}

static void cut_records_give_what_is_whole(void **state) {
    unsigned char bytes[512], *p = bytes;
    add_shapes(&p, "MatMul", "2", "F");
    add_shapes(&p, "Add", "2", "F");
    size_t whole = (size_t)(p - bytes);
    for (size_t n = 0; n <= whole; n++) {
        put_bytes("mindspore.record_shapes", bytes, n);
        trace *t = read_worker("mindspore.record_shapes");
        assert_int_equal(t->producer_op.n - 1, n == whole ? 2 : n >= 32 ? 1 : 0);
        trace_release(t);
    }
    /* Shorter than its fixed part. */
    put_bytes("mindspore.memory_usage", "\2\0\4\0\0\0abcd", 10);
    trace *t = read_worker("mindspore.memory_usage");
    assert_int_equal(t->memory.n - 1, 0);
    assert_int_equal(trace_quality(t, CAUSE_TRUNCATED), 1);
    trace_release(t);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(calls_are_counted_by_name_shapes_and_types),
        TEST(the_table_alone_has_shapes_too),
        TEST(a_release_finds_its_allocation),
        TEST(the_table_of_allocations_has_had_its_say),
        TEST(totals_of_the_device_make_room_for_its_allocations),
        TEST(times_of_day_and_counters_begin_together),
        TEST(cut_records_give_what_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
