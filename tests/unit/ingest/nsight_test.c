/* nsight_test.c: exports of Nsight Systems, from tables to a sealed trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ingest/nsight/nsight.h"
#include "unit/ingest/made_database.h"
#include "unit/ingest/read_helper.h"

/* globalTid of two processes on machine 1: 1<<48 | pid<<24 | tid. */
#define P1 "281474993487872" /* process 1 */
#define T1 "281474993487877" /* its thread 5 */
#define T2 "281475010265094" /* process 2, thread 6 */
#define P2 "281475010265088"

#define STRINGS                                                                        \
    "CREATE TABLE StringIds(id INTEGER, value TEXT);"                                  \
    "INSERT INTO StringIds VALUES(1,'void k<(int)4, (bool)1, <unnamed>::F, (unsigned " \
    "int)2>'),"                                                                        \
    "(2,'cudaLaunchKernel_v7000'),(3,'worker'),(4,'registered'),(5,'cuLaunchKernel')," \
    "(6,'pthread_cond_wait'),(9,'Command Buffer Full'),(10,'Buffer "                   \
    "Flush'),(7,'MPI_Allreduce'),(8,'cudaGraphLaunch_v10000');"
#define RUNTIME                                                                              \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start,end,eventClass,globalTid,correlationId," \
    "nameId);"
#define KERNELS                                                                          \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start,end,deviceId,contextId,streamId,"     \
    "correlationId,globalPid,demangledName,registersPerThread,gridX,gridY,gridZ,blockX," \
    "blockY,blockZ,staticSharedMemory,dynamicSharedMemory,graphNodeId);"
#define NVTX "CREATE TABLE NVTX_EVENTS(start,end,eventType,text,textId,globalTid,domainId);"

static trace *read_sql(const char *sql) {
    error err = {0};
    buf file = make_database(sql);
    trace *t = read_with(ingest_nsight, buf_str(&file), (read_how){0}, &err);
    buf_fini(&file);
    if (!t) fail_msg("refused with message %d", err.message);
    return t;
}

static void test_head(void **state) {
    (void)state;
    assert_true(nsight_head(STR("SQLite format 3\0..META_DATA_EXPORT")));
    assert_true(nsight_head(STR("SQLite format 3\0..CUPTI_ACTIVITY_KIND_X..TABLE StringIds")));
    assert_false(nsight_head(STR("SQLite format 3\0..CUPTI_ACTIVITY_KIND_KERNEL")));
    assert_false(nsight_head(STR("META_DATA_EXPORT")));
}

/* Two processes count their calls alike: each kernel finds the call of its own. */
static void test_correlation_is_of_a_process(void **state) {
    (void)state;
    trace *t = read_sql(STRINGS RUNTIME KERNELS
                        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(10,20,0," T1 ",7,2),"
                        "(30,40,1," T2 ",7,5);"
                        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
                        "(50,60,0,1,7,7," P2 ",1,32,2,3,1,128,1,1,16,32,NULL),"
                        "(51,61,0,1,7,7," P1 ",1,32,2,3,1,128,1,1,16,32,NULL),"
                        "(70,80,0,1,7,9," P1 ",1,32,2,3,1,128,1,1,16,32,NULL);");
    assert_int_equal(t->kernel.n, 4);
    for (uint32_t i = 1; i < t->kernel.n; i++) {
        uint32_t slice = t->kernel.slice[i], launch = t->kernel.launch[i];
        int64_t start =
            t->slice.start[slice] - t->slice.start[find_slice(t, "cudaLaunchKernel")];
        if (start == 40) assert_int_equal(launch, find_slice(t, "cuLaunchKernel"));
        if (start == 41) assert_int_equal(launch, find_slice(t, "cudaLaunchKernel"));
        if (start == 60) assert_int_equal(launch, 0);
        assert_string_equal(text_of_id(t, t->slice.name[slice]),
                            "void k<4, true, (anonymous namespace)::F, 2u>");
        assert_int_equal(t->kernel.grid_y[i], 3);
        assert_int_equal(t->kernel.shared_memory[i], 48);
        assert_int_equal(t->kernel.stream[i], 7);
    }
    assert_int_equal(trace_quality(t, CAUSE_ORPHAN_CORRELATION), 1);
    trace_release(t);
}

/* Device 0 of the second process is GPU 1 of the machine. */
static void test_hidden_devices(void **state) {
    (void)state;
    trace *t = read_sql(
        STRINGS KERNELS
        "CREATE TABLE "
        "TARGET_INFO_GPU(id,name,totalMemory,smCount,threadsPerWarp,maxWarpsPerSm);"
        "INSERT INTO TARGET_INFO_GPU VALUES(0,'A',100,4,32,64),(1,'B',200,8,32,48);"
        "CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId,cudaId,pid);"
        "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES(1,0,2);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start,end,deviceId,streamId,correlationId,"
        "globalPid,demangledName,gridX,gridY,gridZ) VALUES"
        "(1,2,0,7,1," P1 ",1,8,1,1),(3,4,0,7,1," P2 ",1,8,1,1);");
    assert_int_equal(t->device.n, 3);
    assert_int_equal(t->device.threads_per_sm[2], 48 * 32);
    for (uint32_t i = 1; i < t->kernel.n; i++) {
        bool second = t->slice.start[t->kernel.slice[i]] > t->slice.start[t->kernel.slice[1]] ||
                      t->kernel.device[i] == 1;
        assert_int_equal(t->kernel.device[i], second ? 1 : 0);
        assert_float_equal(t->kernel.blocks_per_sm[i], second ? 1.0 : 2.0, 1e-9);
    }
    trace_release(t);
}

static void test_copies_and_graphs(void **state) {
    (void)state;
    trace *t = read_sql(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start,end,deviceId,streamId,correlationId,"
        "globalPid,bytes,copyKind,srcKind,dstKind);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(1,5,0,7,1," P1 ",4096,1,1,2);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start,end,deviceId,streamId,globalPid,bytes,"
        "memKind); INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES(6,7,0,7," P1 ",64,2);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start,end,deviceId,streamId,globalPid,"
        "graphId); INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES(8,9,0,7," P1 ",3);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start,end,deviceId,streamId,"
        "globalPid,syncType); INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES"
        "(10,11,0,7," P1 ",3),(12,13,0,4294967295," P1 ",4);");
    uint32_t copy = find_slice(t, "Memcpy HtoD (Pinned -> Device)");
    assert_int_equal(t->slice.kind[copy], KIND_MEMCPY);
    assert_int_equal(t->kernel.bytes[1], 4096);
    assert_int_equal(t->slice.kind[find_slice(t, "Memset (Device)")], KIND_MEMSET);
    assert_int_equal(t->slice.kind[find_slice(t, "CUDA graph 3")], KIND_KERNEL);
    assert_int_equal(t->slice.kind[find_slice(t, "Stream Sync")], KIND_SYNC);
    assert_int_equal(t->slice.kind[find_slice(t, "Context Sync")], KIND_SYNC);
    assert_int_equal(t->meta.n, 2); /* the kernels of the graph are hidden */
    trace_release(t);
}

static void test_ranges(void **state) {
    (void)state;
    trace *t = read_sql(
        STRINGS NVTX
        "INSERT INTO NVTX_EVENTS VALUES"
        "(10,90,59,'aten::mm, op_id = 12, seq = 7, sizes = [[8, 4], [4, 2]]',NULL," T1 ",0),"
        "(5,95,59,'decoder.layers.0.mlp',NULL," T1 ",0),"
        "(4,96,59,'{''Module'': ''head'', ''x'': 1}',NULL," T1 ",0),"
        "(3,97,59,NULL,4," T1 ",0),"
        "(100,120,59,'ncclAllReduce',NULL," T1 ",2),"
        "(-5,NULL,75,'NCCL',NULL," T1 ",2),"
        "(130,140,60,'across',NULL," T1 ",0),(135,145,60,'across',NULL," T1 ",0),"
        "(150,NULL,34,'mark',NULL," T1 ",0),"
        "(155,160,59,'FSDP::pre_forward (x), op_id = 3',NULL," T1 ",0),"
        "(98,NULL,59,'open',NULL," T2 ",0),"
        "(180,170,59,'backwards',NULL," T1 ",0);");
    uint32_t mm = find_slice(t, "aten::mm");
    assert_int_equal(t->slice.kind[mm], KIND_OP);
    uint32_t op = 1;
    while (op + 1 < t->op.n && t->op.slice[op] != mm) op++;
    assert_int_equal(t->op.sequence[op], 7);
    assert_string_equal(text_of_id(t, t->op.shapes[op]), "[[8, 4], [4, 2]]");
    assert_int_equal(t->slice.kind[find_slice(t, "decoder.layers.0.mlp")], KIND_MODULE);
    assert_int_equal(t->slice.parent[mm], find_slice(t, "decoder.layers.0.mlp"));
    assert_int_equal(t->slice.kind[find_slice(t, "head")], KIND_MODULE);
    assert_int_equal(t->slice.kind[find_slice(t, "registered")], KIND_ANNOTATION);
    assert_int_equal(t->slice.kind[find_slice(t, "ncclAllReduce")], KIND_FRAMEWORK);
    assert_int_equal(t->slice.kind[find_slice(t, "FSDP::pre_forward (x)")], KIND_ANNOTATION);
    assert_int_equal(t->instant.n, 2);
    uint32_t open = find_slice(t, "open");
    assert_true(t->slice.flags[open] & SLICE_UNFINISHED);
    assert_int_equal(t->slice.dur[open], 160 - 98);
    assert_int_equal(trace_quality(t, CAUSE_NEGATIVE_DURATION), 1);
    assert_true(str_eq(t->format, STR("nsight_pytorch")));
    trace_release(t);
}

/* A library's ranges are operators only where no framework has any. */
static void test_library_ranges(void **state) {
    (void)state;
    trace *t =
        read_sql(NVTX "INSERT INTO NVTX_EVENTS VALUES"
                      "(1,2,59,'cub::Sum',NULL," T1 ",1),(0,NULL,75,'CCCL',NULL," T1 ",1);");
    assert_int_equal(t->slice.kind[find_slice(t, "cub::Sum")], KIND_OP);
    trace_release(t);
    t = read_sql(NVTX "INSERT INTO NVTX_EVENTS VALUES"
                      "(1,2,59,'cub::Sum',NULL," T1 ",1),(0,NULL,75,'CCCL',NULL," T1 ",1),"
                      "(0,3,59,'aten::sum, op_id = 1',NULL," T1 ",0);");
    assert_int_equal(t->slice.kind[find_slice(t, "cub::Sum")], KIND_FRAMEWORK);
    trace_release(t);
}

static void test_other_tables(void **state) {
    (void)state;
    trace *t = read_sql(
        STRINGS
        "CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD(start,end,globalTid,nameId);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD VALUES(20,21," T1 ",9),(22,23," T1 ",10);"
        "CREATE TABLE OSRT_API(start,end,globalTid,nameId);"
        "INSERT INTO OSRT_API VALUES(1,2," T1 ",6);"
        "CREATE TABLE MPI_COLLECTIVES_EVENTS(start,end,globalTid,textId);"
        "INSERT INTO MPI_COLLECTIVES_EVENTS VALUES(3,4," T1 ",7);"
        "CREATE TABLE GPU_METRICS(timestamp,typeId,metricId,value);"
        "INSERT INTO GPU_METRICS VALUES(5,256,1,42),(6,256,9,1);"
        "CREATE TABLE TARGET_INFO_GPU_METRICS(typeId,metricId,metricName);"
        "INSERT INTO TARGET_INFO_GPU_METRICS VALUES(256,1,'SM Active');"
        "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS(start,globalPid,deviceId,address,bytes,"
        "memKind,memoryOperationType); INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES"
        "(7," P1 ",0,4096,100,2,0),(8," P1 ",0,4096,100,2,1);"
        "CREATE TABLE ThreadNames(nameId,globalTid); INSERT INTO ThreadNames VALUES(3," T1 ");"
        "CREATE TABLE PROCESSES(globalPid,pid,name); INSERT INTO PROCESSES VALUES"
        "(" P1 ",1,'python3');"
        "CREATE TABLE DIAGNOSTIC_EVENT(severity,text); INSERT INTO DIAGNOSTIC_EVENT VALUES"
        "(1,'fine'),(2,'events were dropped');"
        "CREATE TABLE SCHED_EVENTS(start); INSERT INTO SCHED_EVENTS VALUES(1);"
        "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs);"
        "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(1700000000000000000);");
    assert_int_equal(t->slice.kind[find_slice(t, "pthread_cond_wait")], KIND_OTHER);
    assert_int_equal(t->slice.kind[find_slice(t, "Command Buffer Full")], KIND_OTHER);
    assert_int_equal(t->slice.kind[find_slice(t, "Buffer Flush")], KIND_OVERHEAD);
    assert_int_equal(t->slice.kind[find_slice(t, "MPI_Allreduce")], KIND_COLLECTIVE);
    assert_int_equal(t->counter.n, 2);
    assert_string_equal(text_of_id(t, t->counter.name[1]), "SM Active");
    assert_int_equal(t->memory.n, 3);
    assert_int_equal(t->memory.partner[1], 2);
    uint32_t named = 0;
    for (uint32_t i = 1; i < t->track.n; i++)
        named += str_eq(trace_str(t, t->track.name[i]), STR("worker"));
    assert_int_equal(named, 1);
    assert_int_equal(t->meta.n, 3);
    assert_string_equal(text_of_id(t, t->meta.value[2]), "\"events were dropped\"");
    assert_string_equal(text_of_id(t, t->meta.value[1]), "\"SCHED_EVENTS\"");
    trace_release(t);
}

/* A file without a single table that is known is an empty trace, not a failure. */
static void test_nothing(void **state) {
    (void)state;
    trace *t = read_sql("CREATE TABLE META_DATA_EXPORT(name,value)");
    assert_int_equal(t->slice.n, 1);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_correlation_is_of_a_process),
        cmocka_unit_test(test_hidden_devices),
        cmocka_unit_test(test_copies_and_graphs),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_library_ranges),
        cmocka_unit_test(test_other_tables),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
