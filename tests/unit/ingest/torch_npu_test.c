/* torch_npu_test.c: a timeline of PyTorch on Ascend and its tables are one trace. */
#include "mindspore_folder.h"

#include "ingest/ascend/torch_npu.h"

#define TASK(name, ts)                                                       \
    "{\"ph\":\"X\",\"name\":\"" name "\",\"pid\":800,\"tid\":3,\"ts\":\"" ts \
    "\",\"dur\":10.5,"                                                       \
    "\"args\":{\"Task Type\":\"AI_CORE\",\"Stream Id\":3,\"connection_id\":1}}"
#define OP                                                                        \
    "{\"ph\":\"X\",\"name\":\"aten::mm\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":1," \
    "\"ts\":\"1704161511420000.000\",\"dur\":20,\"args\":{\"Sequence number\":1}}"
#define ARROW(ph, pid, tid, ts)                                                        \
    "{\"ph\":\"" ph "\",\"bp\":\"e\",\"cat\":\"async_npu\",\"name\":\"torch_to_npu\"," \
    "\"id\":\"5\",\"pid\":" pid ",\"tid\":" tid ",\"ts\":\"" ts "\"}"
#define COLLECTIVE                                                               \
    "{\"ph\":\"X\",\"name\":\"hcom_allReduce__158_4_1\",\"pid\":109,\"tid\":20," \
    "\"ts\":\"1704161511420100.000\",\"dur\":30,\"args\":{\"connection_id\":2,"  \
    "\"data_type\":\"FP16\",\"count\":4096}}"
#define TIMELINE                                                                 \
    "[" OP "," TASK("aclnnMm", "1704161511420050.001") "," COLLECTIVE "," ARROW( \
        "s", "1", "1", "1704161511420000.000") "," ARROW("f", "800", "3",        \
                                                         "1704161511420050.001") "]"
#define HEADER                                                                        \
    "Device_id,Model ID,Task ID,Stream ID,Name,Type,Accelerator Core,Start Time(us)," \
    "Duration(us),Block Dim,Input Shapes,aic_mac_ratio\n"

static status reopen_path(void *context, source **out, error *err) {
    return source_open(context, out, err);
}

static trace *read_npu(const char *name) {
    char path[256];
    source *s = NULL;
    trace *t = NULL;
    builder *b = builder_new();
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(source_open(path, &s, NULL), OK);
    assert_int_equal(
        ingest_torch_npu(
            s, &(ingest_options){.path = path, .reopen = reopen_path, .reopen_context = path},
            b, NULL),
        OK);
    source_close(s);
    assert_int_equal(builder_seal(b, NULL, &t, NULL), OK);
    builder_free(b);
    return t;
}

static uint32_t slice_named(const trace *t, const char *name) {
    for (uint32_t i = 1; i < t->slice.n; i++)
        if (named(t, t->slice.name[i], name)) return i;
    return 0;
}

static void check_arg(const trace *t, const char *slice, const char *piece_of_it) {
    buf out = {0};
    assert_int_equal(trace_args_json(t, t->slice.args[slice_named(t, slice)], &out, NULL), OK);
    assert_int_not_equal(str_find(buf_str(&out), str_of(piece_of_it), 0), SIZE_MAX);
    buf_fini(&out);
}

static void a_task_has_its_row_and_its_operator(void **state) {
    (void)state;
    put("trace_view.json", TIMELINE);
    put("kernel_details.csv",
        HEADER "5,1,9,3,aclnnMm,MatMulV2,AI_CORE,1704161511420050.001\t,10.5,20,\"\"\"16,"
               "8\"\"\",0.75\n"
               "5,1,9,3,aclnnMm,MatMulV2,AI_CORE,1704161511429999.001\t,10.5,24,,0.5\n"
               "5,1,9,3,broken,X,AI_CORE,never,1,1,,\n");
    trace *t = read_npu("trace_view.json");
    uint32_t task = slice_named(t, "aclnnMm"), row = trace_kernel_of(t, task);
    assert_int_equal(t->kernel.grid_x[row], 20);
    assert_int_equal(t->kernel.device[row], 5);
    assert_int_equal(t->kernel.op[row], slice_named(t, "aten::mm"));
    check_arg(t, "aclnnMm", "\"aic_mac_ratio\"");
    check_arg(t, "aclnnMm", "0.75");
    check_arg(t, "aclnnMm", "\"connection_id\"");
    assert_int_equal(trace_quality(t, CAUSE_MISSING_TIME), 1);
    trace_release(t);
}

static void a_collective_has_group_sequence_and_size(void **state) {
    (void)state;
    put("trace_view.json", TIMELINE);
    put("profiler_metadata.json",
        "{\"parallel_group_info\":{\"host_1704158\":{\"global_ranks\":[0,2]},"
        "\"other\":{\"global_ranks\":[1]}}}");
    trace *t = read_npu("trace_view.json");
    assert_int_equal(t->comm.n - 1, 1);
    assert_true(named(t, t->comm.name[1], "hcom_allReduce"));
    assert_int_equal(t->comm.sequence[1], 4);
    assert_int_equal(t->comm.in_elements[1], 4096);
    assert_true(named(t, t->comm.dtype[1], "Half"));
    assert_true(named(t, t->group.name[t->comm.group[1]], "158"));
    assert_true(named(t, t->group.ranks[t->comm.group[1]], "[0,2]"));
    trace_release(t);
}

/* They are inside a collective, and not separate work. */
static void pieces_of_a_collective_are_named(void **state) {
    (void)state;
#define PIECE(name, args)                                         \
    ",{\"ph\":\"X\",\"name\":\"" name "\",\"pid\":109,\"tid\":0," \
    "\"ts\":\"1704161511420101.000\",\"dur\":1,\"args\":{" args "}}"
    put("trace_view.json",
        "[" OP "," TASK("aclnnMm", "1704161511420050.001") "," COLLECTIVE PIECE(
            "Notify_Wait", "\"notify id\":7") PIECE("Memcpy", "\"transport type\":\"SDMA\"")
            PIECE("who knows", "\"x\":1") "]");
    trace *t = read_npu("trace_view.json");
    uint32_t wait = slice_named(t, "Notify_Wait"), copy = slice_named(t, "Memcpy");
    assert_int_equal(t->slice.kind[wait], KIND_SYNC);
    assert_int_equal(t->slice.kind[copy], KIND_OTHER);
    assert_true(named(t, t->category.name[t->slice.category[copy]], "communication_task"));
    assert_int_equal(t->kernel.n - 1, 2);
    assert_int_equal(trace_quality(t, CAUSE_MISSING_CATEGORY), 1);
    trace_release(t);
}

static void memory_is_that_of_the_frameworks_allocator(void **state) {
    (void)state;
    put("trace_view.json", TIMELINE);
    put("memory_record.csv",
        "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Device Type\n"
        "PTA,1704161511420001.000,1.0,4.0,NPU:5\n"
        "APP,1704161511420002.000,900.0,900.0,NPU:5\n"
        "PTA,1704161511420003.000,3.0,4.0,NPU:5\n");
    trace *t = read_npu("trace_view.json");
    assert_int_equal(t->memory.n - 1, 2);
    assert_int_equal(t->memory.bytes[2], 2 << 20);
    assert_int_equal(t->memory.device[2], 5);
    trace_release(t);
}

static void names_tell_worker_time_and_rank(void **state) {
    (void)state;
    str worker, stamp;
    int64_t rank = -1;
    assert_true(
        torch_npu_folder_parse(STR("host_12_20240102101151000_ascend_pt"), &worker, &stamp));
    assert_true(str_eq(worker, STR("host_12")) && str_eq(stamp, STR("20240102101151000")));
    assert_false(torch_npu_folder_parse(STR("host_12_2024_ascend_ms"), &worker, &stamp));
    assert_true(torch_npu_rank_parse(STR("profiler_info_13.json"), &rank));
    assert_int_equal(rank, 13);
    assert_false(torch_npu_rank_parse(STR("profiler_info.json"), &rank));
    assert_false(torch_npu_rank_parse(STR("profiler_info_x.json"), &rank));
    assert_true(torch_npu_head(STR(TIMELINE)));
    assert_false(torch_npu_head(STR("[" OP "]")));
    assert_false(torch_npu_head(STR("")));
}

#define TASK_OF(type, connection)                                                      \
    "{\"ph\":\"X\",\"name\":\"" type "\",\"pid\":800,\"tid\":4,"                       \
    "\"ts\":\"1704161511420105.000\",\"dur\":20,\"args\":{\"Task Type\":\"" type "\"," \
    "\"connection_id\":" #connection "}}"

static void what_a_collective_does_on_its_stream_is_a_piece_of_it(void **state) {
    (void)state;
    put("trace_view.json", "[" OP "," TASK_OF("Notify Wait", 2) "," TASK_OF(
                               "SDMA", 2) "," COLLECTIVE "," TASK_OF("MEMCPY_ASYNC", 3) "]");
    trace *t = read_npu("trace_view.json");
    assert_int_equal(t->slice.kind[slice_named(t, "Notify Wait")], KIND_SYNC);
    assert_int_equal(t->slice.kind[slice_named(t, "SDMA")], KIND_OTHER);
    assert_int_equal(t->slice.kind[slice_named(t, "MEMCPY_ASYNC")], KIND_MEMCPY);
    assert_int_equal(t->slice.kind[slice_named(t, "hcom_allReduce__158_4_1")], KIND_KERNEL);
    assert_int_equal(t->kernel.n - 1, 2);
    trace_release(t);
}

static void damaged_tables_cost_only_themselves(void **state) {
    (void)state;
    put("trace_view.json", TIMELINE);
    put("kernel_details.csv", "Name,Start\n\"");
    put("communication.json", "{\"step1\": {\"collective\": [");
    put("operator_memory.csv", "Name,Size(KB),Allocation Time(us)\nx,nan,\n");
    trace *t = read_npu("trace_view.json");
    assert_int_equal(t->kernel.n - 1, 2);
    assert_in_range(trace_quality(t, CAUSE_MISSING_TIME), 1, 9);
    trace_release(t);
}

int main(void) {
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_task_has_its_row_and_its_operator),
        IN_FOLDER(a_collective_has_group_sequence_and_size),
        IN_FOLDER(pieces_of_a_collective_are_named),
        IN_FOLDER(what_a_collective_does_on_its_stream_is_a_piece_of_it),
        IN_FOLDER(memory_is_that_of_the_frameworks_allocator),
        IN_FOLDER(damaged_tables_cost_only_themselves),
        cmocka_unit_test(names_tell_worker_time_and_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
