/* nsight_test.c: exports of Nsight Systems, from tables to a sealed trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

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

/* Two processes number their calls in the same way: each kernel finds the call of its
 * process. */
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

/* Payloads: the domain, the schema, the size, the size with these; then the fields. */
#define ALL_REDUCE_4096                                                                        \
    "0100000000000000640000000000000010000000000000003000000000000000bc0a00000000000000100000" \
    "00000000"
#define ALL_REDUCE_1024                                                                        \
    "0100000000000000640000000000000010000000000000003000000000000000bc0a00000000000000040000" \
    "00000000"
#define GATHER_512                                                                             \
    "0100000000000000640000000000000010000000000000003000000000000000bc0a00000000000000020000" \
    "00000000"
#define INIT_RANK_3_OF_8                                                                       \
    "0100000000000000650000000000000018000000000000003800000000000000bc0a00000000000008000000" \
    "030000000000000000000000"
#define SEND_64_TO_5                                                                           \
    "0100000000000000660000000000000018000000000000003800000000000000bc0a00000000000040000000" \
    "000000000500000000000000"
#define CUT "0100000000000000640000000000000010000000000000003000000000000000bc0a000000000000"

static uint32_t comm_of(const trace *t, const char *kernel) {
    return trace_comm_of(t, find_slice(t, kernel));
}

/* A kernel is what its thread asked of NCCL since the one before, in one call or in a group. */
static void test_payloads_of_nccl(void **state) {
    (void)state;
    trace *t = read_sql(
        "CREATE TABLE StringIds(id,value); INSERT INTO StringIds VALUES"
        "(1,'ncclDevKernel_AllReduce'),(2,'ncclDevKernel_AllGather'),(3,'ncclDevKernel_Send'),"
        "(4,'gemm'),(5,'ncclDevKernel_Other'),(9,'cudaLaunchKernel');" RUNTIME KERNELS
        "CREATE TABLE NVTX_EVENTS(start,end,eventType,text,globalTid,domainId,binaryData);"
        "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES(domainId,schemaId,idx,type,name,offset);"
        "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES"
        "(1,100,0,18,'NCCL communicator ID',NULL),(1,100,1,22,'Message size [bytes]',8),"
        "(1,101,0,18,'NCCL communicator ID',NULL),(1,101,1,5,'No. of ranks',8),"
        "(1,101,2,5,'Rank',12),(1,101,3,5,'CUDA device',16),"
        "(1,102,0,18,'NCCL communicator ID',NULL),(1,102,1,22,'Message size [bytes]',8),"
        "(1,102,2,5,'Peer rank',16);"
        "INSERT INTO NVTX_EVENTS VALUES(1,NULL,75,'NCCL'," T1 ",1,NULL),"
        "(2,4,59,'ncclCommInitRank'," T1 ",1,X'" INIT_RANK_3_OF_8 "'),"
        "(10,20,59,'ncclAllReduce'," T1 ",1,X'" ALL_REDUCE_4096 "'),"
        "(110,112,59,'ncclAllGather'," T1 ",1,X'" GATHER_512 "'),"
        "(113,115,59,'ncclAllGather'," T1 ",1,X'" GATHER_512 "'),"
        "(116,130,59,'ncclGroupEnd'," T1 ",1,NULL),"
        "(210,220,59,'ncclSend'," T1 ",1,X'" SEND_64_TO_5 "'),"
        "(310,320,59,'ncclAllReduce'," T1 ",1,X'" CUT "'),"
        "(300,500,59,'ncclAllReduce'," T2 ",1,X'" ALL_REDUCE_1024 "');"
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(12,15,0," T1 ",1,9),"
        "(40,42,0," T1 ",2,9),(118,120,0," T1 ",3,9),(212,215,0," T1 ",4,9),"
        "(312,315,0," T1 ",5,9);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start,end,deviceId,streamId,correlationId,"
        "globalPid,demangledName) VALUES(400,410,0,7,5," P1 ",5),(20,30,0,7,1," P1 ",1),"
        "(43,50,0,7,2," P1 ",4),(125,150,0,7,3," P1 ",2),(216,230,0,7,4," P1 ",3);");
    uint32_t reduce = comm_of(t, "ncclDevKernel_AllReduce"),
             gather = comm_of(t, "ncclDevKernel_AllGather"),
             send = comm_of(t, "ncclDevKernel_Send");
    assert_int_equal(t->comm.n, 4);
    assert_int_equal(t->comm.in_elements[reduce], 4096);
    assert_int_equal(t->comm.out_elements[reduce], 4096);
    assert_string_equal(text_of_id(t, t->comm.name[reduce]), "ncclAllReduce");
    assert_string_equal(text_of_id(t, t->group.name[t->comm.group[reduce]]), "0xabc");
    assert_int_equal(t->group.size[t->comm.group[reduce]], 8);
    assert_int_equal(t->comm.in_elements[gather], 1024); /* both calls of the group */
    assert_int_equal(t->comm.out_elements[gather], 8192);
    assert_int_equal(t->comm.src[send], 3);
    assert_int_equal(t->comm.dst[send], 5);
    assert_int_equal(trace_comm_of(t, find_slice(t, "gemm")), 0);
    assert_string_equal(args_text(t, t->slice.args[find_slice(t, "ncclSend")]),
                        "{\"communicator\":\"0xabc\",\"bytes\":64,\"peer_rank\":5}");
    trace_release(t);
}

/* Kernels of a graph are launched by the launch of the graph, and belong to what was captured. */
static void test_graph_nodes(void **state) {
    (void)state;
    trace *t = read_sql(
        STRINGS RUNTIME KERNELS NVTX
        "INSERT INTO StringIds VALUES(20,'first'),(21,'second'),(22,'cudaGraphInstantiate');"
        "INSERT INTO NVTX_EVENTS VALUES(5,30,59,'aten::mm, op_id = 1',NULL," T2 ",0),"
        "(35,60,59,'aten::add, op_id = 2',NULL," T2 ",0);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(2,3,0," T1 ",1,2),"
        "(10,20,0," T2 ",1,2),(40,50,0," T2 ",2,2),(70,90,0," T2 ",3,22),(100,110,0," T2
        ",4,8);"
        "CREATE TABLE CUDA_GRAPH_NODE_EVENTS(start,end,globalTid,graphNodeId,"
        "originalGraphNodeId); INSERT INTO CUDA_GRAPH_NODE_EVENTS VALUES"
        "(12,13," T2 ",7,NULL),(45,46," T2 ",8,NULL),(75,76," T2 ",17,7),(77,78," T2 ",18,8);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start,end,deviceId,streamId,correlationId,"
        "globalPid,demangledName,graphNodeId) VALUES(120,130,0,7,4," P2 ",20,17),"
        "(131,140,0,7,4," P2 ",21,18);");
    uint32_t launch = find_slice(t, "cudaGraphLaunch");
    for (uint32_t i = 1; i < t->kernel.n; i++) {
        bool first = t->kernel.slice[i] == find_slice(t, "first");
        assert_int_equal(t->kernel.launch[i], launch);
        assert_int_equal(t->kernel.op[i], find_slice(t, first ? "aten::mm" : "aten::add"));
        assert_int_equal(t->kernel.link[i], LINK_CAPTURED);
    }
    trace_release(t);
}

/* A graph that was recorded as a whole is one piece of work, with its launch. */
static void test_whole_graph(void **state) {
    (void)state;
    trace *t = read_sql(STRINGS RUNTIME
                        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(10,20,0," T1 ",4,8);"
                        "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start,end,deviceId,"
                        "streamId,correlationId,globalPid,graphId); INSERT INTO "
                        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES(30,40,0,7,4," P1 ",3);");
    assert_int_equal(t->kernel.n, 2);
    assert_int_equal(t->kernel.launch[1], find_slice(t, "cudaGraphLaunch"));
    trace_release(t);
}

static void test_calls_of_libraries(void **state) {
    (void)state;
    static const struct {
        const char *table, *name;
        slice_kind kind;
    } calls[] = {{"CUDNN_EVENTS", "cudnnConvolutionForward", KIND_OP},
                 {"CUBLAS_EVENTS", "cublasGemmEx", KIND_OP},
                 {"MPI_COLLECTIVES_EVENTS", "MPI_Bcast", KIND_COLLECTIVE},
                 {"MPI_P2P_EVENTS", "MPI_Isend", KIND_COLLECTIVE},
                 {"MPI_START_WAIT_EVENTS", "MPI_Wait", KIND_OTHER},
                 {"MPI_OTHER_EVENTS", "MPI_Init", KIND_OTHER},
                 {"UCP_EVENTS", "ucp_ep_create", KIND_OTHER},
                 {"UCP_SUBMIT_EVENTS", "ucp_tag_send_nbx", KIND_OTHER},
                 {"UCP_PROGRESS_EVENTS", "ucp_worker_progress", KIND_OTHER}};
    char sql[4096] = "CREATE TABLE StringIds(id,value);";
    for (size_t i = 0; i < N_OF(calls); i++) {
        size_t n = strlen(sql);
        (void)snprintf(sql + n, sizeof sql - n,
                       "INSERT INTO StringIds VALUES(%zu,'%s');"
                       "CREATE TABLE %s(start,end,globalTid,%s);"
                       "INSERT INTO %s VALUES(%zu,%zu," T1 ",%zu);",
                       i, calls[i].name, calls[i].table, i % 2 ? "nameId" : "textId",
                       calls[i].table, i * 10, i * 10 + 5, i);
    }
    trace *t = read_sql(sql);
    for (size_t i = 0; i < N_OF(calls); i++) {
        uint32_t slice = find_slice(t, calls[i].name);
        assert_int_equal(t->slice.kind[slice], calls[i].kind);
        assert_int_equal(t->slice.dur[slice], 5);
    }
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
        cmocka_unit_test(test_payloads_of_nccl),
        cmocka_unit_test(test_graph_nodes),
        cmocka_unit_test(test_whole_graph),
        cmocka_unit_test(test_calls_of_libraries),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
