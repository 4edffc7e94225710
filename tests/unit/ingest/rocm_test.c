/* rocm_test.c: rocprofv3's JSON and its database, from bytes to a sealed trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ingest/rocm/rocm.h"
#include "unit/ingest/made_database.h"
#include "unit/ingest/read_helper.h"

#define AGENTS                                                                                 \
    "\"agents\":[{\"id\":{\"handle\":9},\"type\":1},{\"id\":{\"handle\":10},\"type\":2,"       \
    "\"name\":\"gfx942\",\"product_name\":\"MI300X\",\"cu_count\":304,\"wave_front_size\":64," \
    "\"max_waves_per_simd\":8,\"simd_per_cu\":4}]"
#define SYMBOLS                                                        \
    "\"kernel_symbols\":[{\"kernel_id\":5,\"kernel_name\":\"_Zk.kd\"," \
    "\"formatted_kernel_name\":\"k<float>.kd\"}]"
#define KINDS                                                                              \
    "\"strings\":{\"buffer_records\":[{\"kind\":\"NONE\",\"operations\":[]},"              \
    "{\"kind\":\"HIP_RUNTIME_API\",\"operations\":[\"none\",\"hipLaunchKernel\"]},"        \
    "{\"kind\":\"MEMORY_COPY\",\"operations\":[\"none\",\"MEMORY_COPY_HOST_TO_DEVICE\"]}," \
    "{\"kind\":\"MARKER_CORE_API\",\"operations\":[\"roctxRangePushA\"]},"                 \
    "{\"kind\":\"MEMORY_ALLOCATION\",\"operations\":[\"ALLOCATE\",\"FREE\"]}],"            \
    "\"marker_api\":[{\"key\":3,\"value\":\"iteration \\u0037\"}]}"
#define RECORDS                                                                                \
    "\"buffer_records\":{\"kernel_dispatch\":[{\"start_timestamp\":100,\"end_timestamp\":150," \
    "\"correlation_id\":{\"internal\":1,\"external\":0},\"stream_id\":{\"handle\":2},"         \
    "\"dispatch_info\":{\"agent_id\":{\"handle\":10},\"queue_id\":{\"handle\":1},"             \
    "\"kernel_id\":5,\"workgroup_size\":{\"x\":256,\"y\":1,\"z\":1},"                          \
    "\"grid_size\":{\"x\":1000,\"y\":2,\"z\":1},\"group_segment_size\":64}},"                  \
    "{\"start_timestamp\":9,\"end_timestamp\":8}],"                                            \
    "\"hip_api\":[{\"kind\":1,\"operation\":1,\"thread_id\":77,\"start_timestamp\":50,"        \
    "\"end_timestamp\":60,\"correlation_id\":{\"internal\":1}}],"                              \
    "\"memory_copy\":[{\"kind\":2,\"operation\":1,\"start_timestamp\":20,"                     \
    "\"end_timestamp\":30,\"dst_agent_id\":{\"handle\":10},\"src_agent_id\":{\"handle\":9},"   \
    "\"bytes\":4096}],"                                                                        \
    "\"marker_api\":[{\"kind\":3,\"operation\":0,\"thread_id\":77,\"start_timestamp\":10,"     \
    "\"end_timestamp\":90,\"correlation_id\":{\"internal\":3}}],"                              \
    "\"memory_allocation\":[{\"kind\":4,\"operation\":0,\"start_timestamp\":11,"               \
    "\"address\":\"0xff0\",\"allocation_size\":512,\"agent_id\":{\"handle\":10}}],"            \
    "\"scratch_memory\":[{}]}"
#define JSON                                                                        \
    "{\"rocprofiler-sdk-tool\":[{\"metadata\":{\"pid\":42,\"command\":[\"train\"]," \
    "\"node\":{\"hostname\":\"h\"}}," AGENTS "," SYMBOLS "," KINDS "," RECORDS "}]}"

static void check_rows(const trace *t) {
    uint32_t kernel = find_slice(t, "k<float>"), launch = find_slice(t, "hipLaunchKernel");
    uint32_t copy = find_slice(t, "Memcpy HtoD");
    assert_int_equal(t->kernel.n, 3);
    for (uint32_t i = 1; i < t->kernel.n; i++) {
        assert_int_equal(t->kernel.device[i], 0);
        if (t->kernel.slice[i] == copy) assert_int_equal(t->kernel.bytes[i], 4096);
        if (t->kernel.slice[i] != kernel) continue;
        assert_int_equal(t->kernel.launch[i], launch);
        assert_int_equal(t->kernel.grid_x[i], 4); /* of 1,000 work-items in groups of 256 */
        assert_int_equal(t->kernel.grid_y[i], 2);
        assert_int_equal(t->kernel.block_x[i], 256);
        assert_int_equal(t->kernel.shared_memory[i], 64);
        assert_int_equal(t->kernel.stream[i], 2);
    }
    assert_int_equal(t->slice.dur[kernel], 50);
    assert_int_equal(t->slice.kind[launch], KIND_RUNTIME);
    assert_int_equal(t->slice.kind[find_slice(t, "iteration 7")], KIND_ANNOTATION);
    assert_int_equal(t->slice.parent[launch], find_slice(t, "iteration 7"));
    assert_int_equal(t->device.type[1], DEVICE_HIP);
    assert_string_equal(text_of_id(t, t->device.name[1]), "MI300X");
    assert_int_equal(t->memory.n, 2);
    assert_int_equal(t->memory.address[1], 0xff0);
    assert_int_equal(t->memory.bytes[1], 512);
    assert_true(str_eq(t->format, STR("rocprof")));
}

static void test_json(void **state) {
    (void)state;
    error err;
    for (size_t n = 0; n < 100; n += 33) {
        trace *t = read_with(ingest_rocm_json, STR(JSON), (read_how){.piece_bytes = n}, &err);
        assert_non_null(t);
        check_rows(t);
        assert_int_equal(t->device.sm_count[1], 304);
        assert_int_equal(t->device.threads_per_sm[1], 64 * 32);
        assert_int_equal(trace_quality(t, CAUSE_NEGATIVE_DURATION), 1);
        bool unread = false;
        for (uint32_t i = 1; i < t->meta.n; i++)
            unread |= str_eq(trace_str(t, t->meta.value[i]), STR("\"scratch_memory\""));
        assert_true(unread);
        trace_release(t);
    }
}

/* Two processes number their calls in the same way: a kernel finds the call of its process. */
static void test_two_processes(void **state) {
    (void)state;
    error err;
#define ONE(pid, at)                                                                        \
    "{\"metadata\":{\"pid\":" pid "}," AGENTS "," SYMBOLS "," KINDS ",\"buffer_records\":{" \
    "\"kernel_dispatch\":[{\"start_timestamp\":" at "50,\"end_timestamp\":" at "60,"        \
    "\"correlation_id\":{\"internal\":1},\"dispatch_info\":{\"agent_id\":{\"handle\":10},"  \
    "\"kernel_id\":5}}],\"hip_api\":[{\"kind\":1,\"operation\":1,\"thread_id\":1,"          \
    "\"start_timestamp\":" at "10,\"end_timestamp\":" at "20,"                              \
    "\"correlation_id\":{\"internal\":1}}]}}"
    str text = STR("{\"rocprofiler-sdk-tool\":[" ONE("1", "1") "," ONE("2", "2") "]}");
    trace *t = read_with(ingest_rocm_json, text, (read_how){0}, &err);
    assert_non_null(t);
    assert_int_equal(t->device.n, 2);
    for (uint32_t i = 1; i < t->kernel.n; i++)
        assert_int_equal(
            t->slice.start[t->kernel.slice[i]] - t->slice.start[t->kernel.launch[i]], 40);
    trace_release(t);
}

/* ROCm 7 says of a call which one it was made in; of a kernel it does not. A kernel started by
 * the inner one is below both. */
static void test_ancestors(void **state) {
    (void)state;
    error err;
    str text = STR(
        "{\"rocprofiler-sdk-tool\":[{" AGENTS "," SYMBOLS
        ",\"strings\":{\"buffer_records\":[{\"kind\":\"HIP_RUNTIME_API\",\"operations\":["
        "\"hipLaunchKernel\"]},{\"kind\":\"HSA_CORE_API\",\"operations\":[\"hsa_store\"]}]},"
        "\"buffer_records\":{\"kernel_dispatch\":[{\"start_timestamp\":50,\"end_timestamp\":60,"
        "\"correlation_id\":{\"internal\":2,\"external\":0},\"dispatch_info\":{\"kernel_id\":5,"
        "\"agent_id\":{\"handle\":10}}}],\"hsa_api\":[{\"kind\":1,\"operation\":0,"
        "\"thread_id\":7,\"start_timestamp\":12,\"end_timestamp\":18,"
        "\"correlation_id\":{\"internal\":2,\"external\":0,\"ancestor\":1}}],"
        "\"hip_api\":[{\"kind\":0,\"operation\":0,\"thread_id\":7,\"start_timestamp\":10,"
        "\"end_timestamp\":20,\"correlation_id\":{\"internal\":1,\"external\":0,"
        "\"ancestor\":0}}]}}]}");
    trace *t = read_with(ingest_rocm_json, text, (read_how){0}, &err);
    assert_non_null(t);
    assert_int_equal(t->kernel.n - 1, 1);
    uint32_t inner = find_slice(t, "hsa_store"), outer = find_slice(t, "hipLaunchKernel");
    assert_int_equal(t->kernel.launch[1], inner);
    assert_int_equal(t->slice.parent[inner], outer);
    assert_int_equal(t->slice.kind[inner], KIND_DRIVER);
    trace_release(t);
}

/* Records may come before what names them, and a file be cut in them: whatever the size of the
 * pieces, the same is read. */
static void test_names_after_records(void **state) {
    (void)state;
    error err;
    str text = STR("{\"rocprofiler-sdk-tool\":[{\"metadata\":{\"pid\":42}," RECORDS "," AGENTS
                   "," SYMBOLS "," KINDS "}]}");
    for (size_t n = 0; n < 400; n += 57) {
        trace *t = read_with(ingest_rocm_json, text, (read_how){.piece_bytes = n}, &err);
        assert_non_null(t);
        check_rows(t);
        assert_int_equal(trace_quality(t, CAUSE_TRUNCATED), 0);
        trace_release(t);
        size_t cut = str_find(text, STR("\"marker_api\""), 0);
        t = read_with(ingest_rocm_json, str_n(text.p, cut), (read_how){.piece_bytes = n}, &err);
        assert_non_null(t);
        assert_int_equal(t->kernel.n, 3);
        assert_int_equal(trace_quality(t, CAUSE_TRUNCATED), 1);
        trace_release(t);
    }
}

/* Cut anywhere it is read as far as it goes. */
static void test_cut(void **state) {
    (void)state;
    error err;
    str text = STR(JSON);
    uint32_t n_before = 0;
    for (size_t n = 30; n < text.n - 2; n += 13) {
        trace *t = read_with(ingest_rocm_json, str_n(text.p, n),
                             (read_how){.piece_bytes = n % 3 * 50}, &err);
        assert_non_null(t);
        assert_int_equal(trace_quality(t, CAUSE_TRUNCATED), 1);
        assert_true(t->kernel.n >= n_before);
        n_before = t->kernel.n;
        trace_release(t);
    }
    assert_int_equal(n_before, 3);
}

/* Keys in another order, others between them, numbers as texts, values of other kinds: a record
 * means the same whatever the one before it looked like. */
static void test_records_of_other_shapes(void **state) {
    (void)state;
    error err;
#define CALL(more)                                                             \
    "{\"kind\":1,\"operation\":1,\"thread_id\":7,\"start_timestamp\":10," more \
    "\"end_timestamp\":20,\"correlation_id\":{\"internal\":1,\"external\":{\"value\":9}}}"
    str text = STR(
        "{\"before\":[{}],\"rocprofiler-sdk-tool\":[{\"buffer_records\":{\"hip_"
        "api\":[" CALL("") "," CALL(
            "\"args\":{\"start_timestamp\":99,\"l\":[1,{}]}"
            ",") ","
                 "{\"end_timestamp\" : 20 , "
                 "\"start_timestamp\":\"10\",\"operation\":"
                 "1,\"kind\":1,"
                 "\"thread_id\":{\"handle\":7},\"x\":1}, 5, "
                 "\"no\", {bad}, " CALL("\"size\":-3.5e2,") "," CALL("\"size\":7,") "," CALL(
                     "\"size\":{\"operation\":0},") "]}," KINDS "}]}");
    trace *t = read_with(ingest_rocm_json, text, (read_how){0}, &err);
    assert_non_null(t);
    assert_int_equal(t->slice.n - 1, 6);
    for (uint32_t i = 1; i < t->slice.n; i++) {
        assert_string_equal(text_of_id(t, t->slice.name[i]), "hipLaunchKernel");
        assert_int_equal(t->slice.dur[i], 10);
    }
    for (uint32_t i = 1; i < t->track.n; i++) assert_int_equal(t->track.tid[i], 7);
    assert_int_equal(trace_quality(t, CAUSE_TRUNCATED), 0);
    trace_release(t);
}

#define NAMES                                                                            \
    "CREATE TABLE rocpd_metadata_u(id,tag,value);"                                       \
    "CREATE TABLE rocpd_string_u(id INTEGER PRIMARY KEY,string);"                        \
    "INSERT INTO rocpd_string_u VALUES(1,'hipLaunchKernel'),(2,'HIP_RUNTIME_API_EXT'),"  \
    "(3,'iteration 7'),(4,'MARKER_CORE_API'),(5,'copy');"                                \
    "CREATE TABLE rocpd_info_process_u(id INTEGER PRIMARY KEY,pid,command);"             \
    "INSERT INTO rocpd_info_process_u VALUES(1,42,'train');"                             \
    "CREATE TABLE rocpd_info_thread_u(id INTEGER PRIMARY KEY,pid,tid,name);"             \
    "INSERT INTO rocpd_info_thread_u VALUES(1,1,77,'main');"                             \
    "CREATE TABLE rocpd_info_agent_u(id INTEGER PRIMARY KEY,type,name,product_name);"    \
    "INSERT INTO rocpd_info_agent_u VALUES(1,'CPU','x',''),(2,'GPU','gfx942','MI300X');" \
    "CREATE TABLE rocpd_info_kernel_symbol_u(id INTEGER PRIMARY "                        \
    "KEY,kernel_name,display_name);"                                                     \
    "INSERT INTO rocpd_info_kernel_symbol_u VALUES(5,'_Zk.kd','k<float>.kd');"           \
    "CREATE TABLE rocpd_event_u(id INTEGER PRIMARY KEY,category_id,stack_id);"           \
    "INSERT INTO rocpd_event_u VALUES(1,2,8),(2,2,8),(3,4,9),(4,2,10);"
#define SIZES                                                                \
    "grid_size_x,grid_size_y,grid_size_z,workgroup_size_x,workgroup_size_y," \
    "workgroup_size_z,group_segment_size"

/* Times and places in the rows. */
static void test_database(void **state) {
    (void)state;
    error err;
    buf file = make_database(
        NAMES
        "CREATE TABLE rocpd_kernel_dispatch_u(pid,tid,agent_id,queue_id,stream_id,start,"
        "end,kernel_id,event_id," SIZES ");"
        "INSERT INTO rocpd_kernel_dispatch_u VALUES(1,1,2,1,2,100,150,5,1,1000,2,1,256,1,1,"
        "64);"
        "CREATE TABLE rocpd_region_u(pid,tid,start,end,name_id,event_id);"
        "INSERT INTO rocpd_region_u VALUES(1,1,50,60,1,2),(1,1,10,90,3,3);"
        "CREATE TABLE rocpd_memory_copy_u(pid,tid,start,end,name_id,dst_agent_id,"
        "src_agent_id,size,event_id);"
        "INSERT INTO rocpd_memory_copy_u VALUES(1,1,20,30,5,2,1,4096,4);"
        "CREATE TABLE rocpd_memory_allocate_u(pid,agent_id,start,type,address,size);"
        "INSERT INTO rocpd_memory_allocate_u VALUES(1,2,11,'ALLOC',4080,512);");
    assert_true(rocpd_head(buf_str(&file)));
    trace *t = read_with(ingest_rocpd, buf_str(&file), (read_how){0}, &err);
    assert_non_null(t);
    check_rows(t);
    assert_int_equal(t->process.pid[1], 42);
    trace_release(t);
    buf_fini(&file);
}

/* Times and places in separate tables. */
static void test_newer_database(void **state) {
    (void)state;
    error err;
    buf file = make_database(
        NAMES
        "CREATE TABLE rocpd_timestamp_u(id INTEGER PRIMARY KEY,value);"
        "INSERT INTO rocpd_timestamp_u VALUES(1,100),(2,150),(3,50),(4,60),(5,10),(6,90),"
        "(7,20),(8,30),(9,11);"
        "CREATE TABLE rocpd_track_u(id INTEGER PRIMARY KEY,pid,tid,agent_id,queue_id,"
        "stream_id); INSERT INTO rocpd_track_u VALUES(1,1,1,2,1,2),(2,1,1,NULL,NULL,NULL);"
        "CREATE TABLE rocpd_kernel_dispatch_u(track_id,start_id,end_id,kernel_id,"
        "event_id," SIZES ");"
        "INSERT INTO rocpd_kernel_dispatch_u VALUES(1,1,2,5,1,1000,2,1,256,1,1,64);"
        "CREATE TABLE rocpd_region_u(track_id,start_id,end_id,name_id,event_id);"
        "INSERT INTO rocpd_region_u VALUES(2,3,4,1,2),(2,5,6,3,3);"
        "CREATE TABLE rocpd_memory_copy_u(track_id,start_id,end_id,name_id,dst_agent_id,"
        "src_agent_id,size,event_id);"
        "INSERT INTO rocpd_memory_copy_u VALUES(1,7,8,5,2,1,4096,4);"
        "CREATE TABLE rocpd_memory_allocate_u(track_id,start_id,type,address,size);"
        "INSERT INTO rocpd_memory_allocate_u VALUES(1,9,'ALLOC',4080,512);");
    trace *t = read_with(ingest_rocpd, buf_str(&file), (read_how){0}, &err);
    assert_non_null(t);
    check_rows(t);
    trace_release(t);
    buf_fini(&file);
}

/* All kernels of a graph are launched by one call. */
static void check_graph(const trace *t, uint32_t n_kernels) {
    uint32_t launch = find_slice(t, "hipGraphLaunch");
    assert_int_equal(t->kernel.n, n_kernels + 1);
    for (uint32_t i = 1; i < t->kernel.n; i++) assert_int_equal(t->kernel.launch[i], launch);
    assert_int_equal(trace_quality(t, CAUSE_ORPHAN_CORRELATION), 0);
}

#define GRAPH_KERNEL(start, end)                                                   \
    "{\"start_timestamp\":" start ",\"end_timestamp\":" end ",\"correlation_id\":" \
    "{\"internal\":6,\"external\":0},\"dispatch_info\":{\"agent_id\":{\"handle\":" \
    "10},\"queue_id\":{\"handle\":1},\"kernel_id\":5}}"

static void test_graph_in_json(void **state) {
    (void)state;
    error err;
    trace *t = read_with(
        ingest_rocm_json,
        STR("{\"rocprofiler-sdk-tool\":[{\"metadata\":{\"pid\":42}," AGENTS "," SYMBOLS
            ",\"strings\":{\"buffer_records\":[{\"kind\":\"HIP_RUNTIME_API\","
            "\"operations\":[\"hipGraphLaunch\"]}]},\"buffer_records\":{"
            "\"kernel_dispatch\":[" GRAPH_KERNEL("100", "110") "," GRAPH_KERNEL(
                "120",
                "130") "," GRAPH_KERNEL("140",
                                        "150") "],\"hip_api\":[{\"kind\":0,"
                                               "\"operation\":0,\"thread_id\":7,\"start_"
                                               "timestamp\":50,\"end_timestamp\":90,"
                                               "\"correlation_id\":{\"internal\":6}}]}}]}"),
        (read_how){0}, &err);
    assert_non_null(t);
    check_graph(t, 3);
    trace_release(t);
}

/* The second kernel was asked for by a call inside the launch that was not recorded. */
static void test_graph_in_database(void **state) {
    (void)state;
    error err;
    buf file = make_database(
        NAMES
        "INSERT INTO rocpd_string_u VALUES(6,'hipGraphLaunch');"
        "ALTER TABLE rocpd_event_u ADD COLUMN parent_stack_id;"
        "INSERT INTO rocpd_event_u VALUES(11,2,30,0),(12,2,30,0),(13,2,31,30),(14,2,99,98);"
        "CREATE TABLE rocpd_kernel_dispatch_u(pid,tid,agent_id,start,end,kernel_id,event_id);"
        "INSERT INTO rocpd_kernel_dispatch_u VALUES(1,1,2,100,110,5,12),(1,1,2,120,130,5,13);"
        "CREATE TABLE rocpd_region_u(pid,tid,start,end,name_id,event_id);"
        "INSERT INTO rocpd_region_u VALUES(1,1,50,60,6,11);");
    trace *t = read_with(ingest_rocpd, buf_str(&file), (read_how){0}, &err);
    assert_non_null(t);
    check_graph(t, 2);
    trace_release(t);
    buf_fini(&file);
}

static void test_names(void **state) {
    (void)state;
    assert_true(str_eq(rocm_copy_name(STR("MEMORY_COPY_DEVICE_TO_HOST")), STR("Memcpy DtoH")));
    assert_true(str_eq(rocm_copy_name(STR("CopyHostToDevice")), STR("Memcpy HtoD")));
    assert_true(str_eq(rocm_copy_name(STR("CopyDeviceToDevice")), STR("Memcpy DtoD")));
    assert_true(str_eq(rocm_copy_name(STR("FillBuffer")), STR("FillBuffer")));
    assert_true(str_eq(rocm_kernel_name(STR("_Zk.kd")), STR("_Zk")));
}

static void test_heads(void **state) {
    (void)state;
    assert_true(rocm_json_head(STR(" {\"rocprofiler-sdk-tool\": [")));
    assert_false(rocm_json_head(STR("[\"rocprofiler-sdk-tool\"]")));
    assert_false(rocpd_head(STR("SQLite format 3\0 songs")));
}

#define KERNEL_COLUMNS                                                       \
    "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Name\",\"Correlation_Id\"," \
    "\"Start_Timestamp\",\"End_Timestamp\",\"Workgroup_Size_X\",\"Grid_Size_X\"\n"
#define CALL_COLUMNS \
    "Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp\n"

static void write_file(const char *folder, const char *name, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* The folder's tables, as they are read when `named` is opened. */
static trace *read_tables(const char *folder, const char *named) {
    char path[128];
    source *s = NULL;
    trace *t = NULL;
    builder *b = builder_new();
    snprintf(path, sizeof path, "%s/%s", folder, named);
    assert_int_equal(source_open(path, &s, NULL), OK);
    ingest_options o = {.path = path};
    assert_int_equal(ingest_rocm_csv(s, &o, b, NULL), OK);
    source_close(s);
    assert_int_equal(builder_seal(b, NULL, &t, NULL), OK);
    builder_free(b);
    return t;
}

static void check_tables(const trace *t) {
    uint32_t kernel = find_slice(t, "k<int, 2>"), call = find_slice(t, "hipLaunchKernel");
    uint32_t copy = find_slice(t, "Memcpy DtoH");
    assert_int_equal(t->kernel.n, 3);
    for (uint32_t i = 1; i < t->kernel.n; i++) {
        assert_int_equal(t->kernel.device[i], 0); /* agent 7: the machine's only GPU */
        assert_int_equal(t->kernel.stream[i], 3);
        if (t->kernel.slice[i] != kernel) continue;
        assert_int_equal(t->kernel.launch[i], call);
        assert_int_equal(t->kernel.grid_x[i], 4);
    }
    assert_int_equal(t->slice.dur[kernel], 50);
    assert_int_equal(t->slice.kind[copy], KIND_MEMCPY);
    assert_int_equal(t->slice.kind[call], KIND_RUNTIME);
    assert_string_equal(text_of_id(t, t->device.name[1]), "MI300X");
    assert_true(str_eq(t->format, STR("rocprof")));
}

static void test_tables_of_one_prefix_are_one_recording(void **state) {
    (void)state;
    static const char *const names[] = {"r_kernel_trace.csv", "r_hip_api_trace.csv",
                                        "r_memory_copy_trace.csv", "r_agent_info.csv",
                                        "other_hip_api_trace.csv"};
    char folder[] = "/tmp/tacho-rocm-XXXXXX";
    assert_non_null(mkdtemp(folder));
    write_file(folder, names[0],
               KERNEL_COLUMNS "\"KERNEL_DISPATCH\",\"Agent 7\",\"3\",\"k<int, 2>.kd\",\"5\","
                              "\"100\",\"150\",\"256\",\"1000\"\n");
    write_file(folder, names[1], CALL_COLUMNS "HIP_RUNTIME_API,hipLaunchKernel,1,2,5,80,90\n");
    write_file(folder, names[2],
               "Kind,Direction,Stream_Id,Source_Agent_Id,Destination_Agent_Id,Correlation_Id,"
               "Start_Timestamp,End_Timestamp\n"
               "MEMORY_COPY,MEMORY_COPY_DEVICE_TO_HOST,3,Agent 7,Agent 0,6,200,300\n");
    write_file(folder, names[3], "Node_Id,Agent_Type,Product_Name\n0,CPU,EPYC\n7,GPU,MI300X\n");
    write_file(folder, names[4], CALL_COLUMNS "HIP_RUNTIME_API,hipFree,1,2,5,80,90\n");
    for (int i = 0; i < 3; i++) {
        trace *t = read_tables(folder, names[i]);
        check_tables(t);
        trace_release(t);
    }
    for (size_t i = 0; i < N_OF(names); i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        remove(path);
    }
    remove(folder);
}

static void test_tables_are_known_by_their_columns(void **state) {
    (void)state;
    str prefix;
    assert_true(rocm_csv_head(STR(KERNEL_COLUMNS)));
    assert_true(rocm_csv_head(STR(CALL_COLUMNS)));
    assert_false(rocm_csv_head(STR("Name,Calls,TotalDurationNs\n")));
    assert_false(rocm_csv_head(STR("")));
    assert_true(rocm_csv_name(STR("a_b_kernel_trace.csv"), &prefix));
    assert_true(str_eq(prefix, STR("a_b")));
    assert_true(rocm_csv_name(STR("out/hip_api_trace.csv"), &prefix));
    assert_true(str_eq(prefix, STR("out/")));
    assert_false(rocm_csv_name(STR("mykernel_trace.csv"), &prefix));
    assert_true(rocm_csv_is_part(STR("a_agent_info.csv")));
    assert_false(rocm_csv_is_part(STR("a_kernel_trace.csv")));
}

static void test_a_table_loses_only_its_damaged_rows(void **state) {
    (void)state;
    error err;
    trace *t = read_with(ingest_rocm_csv,
                         STR(CALL_COLUMNS "HIP_RUNTIME_API,a,1,1,1,10,20\n"
                                          "HIP_RUNTIME_API,b,1,1,2,30\n"
                                          "HIP_RUNTIME_API,c,1,1,3,50,40\n"),
                         (read_how){0}, &err);
    assert_non_null(t);
    assert_int_equal(t->slice.n, 2);
    assert_int_equal(trace_quality(t, CAUSE_MISSING_TIME), 1);
    assert_int_equal(trace_quality(t, CAUSE_NEGATIVE_DURATION), 1);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_two_processes),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_records_of_other_shapes),
        cmocka_unit_test(test_database),
        cmocka_unit_test(test_newer_database),
        cmocka_unit_test(test_graph_in_json),
        cmocka_unit_test(test_graph_in_database),
        cmocka_unit_test(test_ancestors),
        cmocka_unit_test(test_names_after_records),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_tables_of_one_prefix_are_one_recording),
        cmocka_unit_test(test_tables_are_known_by_their_columns),
        cmocka_unit_test(test_a_table_loses_only_its_damaged_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
