/* ascend_db_test.c: databases of CANN's profiler, from made bytes to a sealed trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ingest/ascend/ascend_db.h"
#include "unit/ingest/made_database.h"
#include "unit/ingest/read_helper.h"

#define NAMES                                                                                 \
    "CREATE TABLE STRING_IDS(id INTEGER PRIMARY KEY,value TEXT);"                             \
    "INSERT INTO STRING_IDS VALUES(1,'aten::mm'),(2,'launch'),(3,'aclnnMm'),(4,'AI_CORE'),"   \
    "(5,'MatMulV2'),(6,'64,64;64,8'),(7,'Enqueue'),(8,'Dequeue@aclnnMm'),(9,'MEMCPY_ASYNC')," \
    "(10,'hcom_allReduce__158_4_1'),(11,'group_158'),(12,'Notify_Wait'),(13,'NOTIFY_WAIT'),"  \
    "(14,'a.py(1): f'),(15,'b.py(2): g'),(16,'aic_mac_ratio'),(17,'mm_backward'),(18,'PTA')," \
    "(19,'SDMA'),(20,'Memcpy'),(21,'read'),(22,'EVENT_WAIT'),(23,'ProfilerStep#7');"
#define NONE "4294967295"
/* pid 42, threads 42 and 43 */
#define MAIN "180388626474"
#define QUEUE "180388626475"
#define HOST                                                                         \
    "CREATE TABLE PYTORCH_CALLCHAINS(id,stack,stackDepth);"                          \
    "INSERT INTO PYTORCH_CALLCHAINS VALUES(3,15,1),(3,14,0);"                        \
    "CREATE TABLE PYTORCH_API(startNs TEXT,endNs TEXT,globalTid,connectionId,name,"  \
    "sequenceNumber,fwdThreadId,inputDtypes,inputShapes,callchainId,type);"          \
    "INSERT INTO PYTORCH_API VALUES('100','200'," MAIN ",900,1,5,0,NULL,6,3,50001)," \
    "('120','130'," MAIN ",901,7,NULL,NULL,NULL,NULL,NULL,50002),"                   \
    "('140','190'," QUEUE ",902,8,NULL,NULL,NULL,NULL,NULL,50002),"                  \
    "('600','650'," MAIN ",903,17,5,0,NULL,NULL,NULL,50001),"                        \
    "('0','1000'," MAIN ",NULL,23,-1,0,NULL,NULL,NULL,50001);"                       \
    "CREATE TABLE CONNECTION_IDS(id,connectionId);"                                  \
    "INSERT INTO CONNECTION_IDS VALUES(900,7),(901,268435456),(902,268435456),"      \
    "(900,536870912),(903,536870912),(902,7);"                                       \
    "CREATE TABLE CANN_API(startNs,endNs,type,globalTid,connectionId,name);"         \
    "INSERT INTO CANN_API VALUES(150,160,10000," QUEUE ",7,2);"
#define DEVICE                                                                                \
    "CREATE TABLE TASK(startNs,endNs,deviceId,connectionId,globalTaskId,globalPid,taskType,"  \
    "contextId,streamId,taskId,modelId);"                                                     \
    "INSERT INTO TASK VALUES(300,400,5,7,1,42,4," NONE ",3,9," NONE "),"                      \
    "(410,420,5," NONE ",2,42,9," NONE ",3,10," NONE "),"                                     \
    "(430,440,5," NONE ",3,42,13," NONE ",4,11," NONE "),"                                    \
    "(440,450,5," NONE ",4,42,19," NONE ",4,12," NONE "),"                                    \
    "(405,409,5," NONE ",5,42,22," NONE ",3,13," NONE "),"                                    \
    "(500,490,5," NONE ",6,42,4," NONE ",3,14," NONE ");"                                     \
    "CREATE TABLE COMPUTE_TASK_INFO(name,globalTaskId,blockDim,taskType,opType,inputShapes);" \
    "INSERT INTO COMPUTE_TASK_INFO VALUES(3,1,20,4,5,6);"                                     \
    "CREATE TABLE TASK_PMU_INFO(globalTaskId,name,value);"                                    \
    "INSERT INTO TASK_PMU_INFO VALUES(1,16,0.75);"                                            \
    "CREATE TABLE MEMCPY_INFO(globalTaskId,size,memcpyOperation);"                            \
    "INSERT INTO MEMCPY_INFO VALUES(2,4096,1);"                                               \
    "CREATE TABLE COMMUNICATION_TASK_INFO(name,globalTaskId,taskType,planeId,size);"          \
    "INSERT INTO COMMUNICATION_TASK_INFO VALUES(12,3,12,0," NONE "),(20,4,20,0,512);"         \
    "CREATE TABLE COMMUNICATION_OP(opName,startNs,endNs,connectionId,groupName,dataType,"     \
    "count,opType);"                                                                          \
    "INSERT INTO COMMUNICATION_OP VALUES(10,425,455," NONE ",11,3,4096,10);"
#define FACTS                                                                                 \
    "CREATE TABLE NPU_INFO(id,name); INSERT INTO NPU_INFO VALUES(5,'Ascend910B2');"           \
    "CREATE TABLE RANK_DEVICE_MAP(rankId,deviceId);"                                          \
    "INSERT INTO RANK_DEVICE_MAP VALUES(13,5);"                                               \
    "CREATE TABLE META_DATA(name,value); INSERT INTO META_DATA VALUES('parallel_group_info'," \
    "'{\"group_158\":{\"global_ranks\":[0,13]}}');"
#define MEMORY                                                                               \
    "CREATE TABLE OP_MEMORY(name,size,allocationTime,releaseTime,allocationTotalAllocated,"  \
    "allocationTotalReserved,releaseTotalAllocated,releaseTotalReserved,deviceId);"          \
    "INSERT INTO OP_MEMORY VALUES(1,1024,110,700,5120,8192,4096,8192,5),"                    \
    "(1,512,150,NULL,5632,8192,NULL,NULL,5);"                                                \
    "CREATE TABLE MEMORY_RECORD(component,timestamp,totalAllocated,totalReserved,deviceId);" \
    "INSERT INTO MEMORY_RECORD VALUES(18,110,5120,8192,5);"
#define COUNTERS                                                                \
    "CREATE TABLE HBM(deviceId,timestampNs,bandwidth,hbmId,type);"              \
    "INSERT INTO HBM VALUES(5,100,12.5,0,21),(5,200,'x',0,21),(5,NULL,1,0,21);" \
    "CREATE TABLE UB(deviceId,portId); INSERT INTO UB VALUES(5,1);"

static trace *read_db(const char *sql) {
    error err;
    buf file = make_database(sql);
    assert_true(ascend_db_head(buf_str(&file)));
    trace *t = read_with(ingest_ascend_db, buf_str(&file), (read_how){0}, &err);
    assert_non_null(t);
    buf_fini(&file);
    return t;
}

static bool has_fact(const trace *t, const char *key, const char *value) {
    for (uint32_t i = 1; i < t->meta.n; i++)
        if (str_eq(trace_str(t, t->meta.key[i]), str_of(key)))
            return str_eq(trace_str(t, t->meta.value[i]), str_of(value));
    return false;
}

static void a_task_has_launch_operator_shapes_and_counters(void **state) {
    (void)state;
    trace *t = read_db(NAMES HOST DEVICE FACTS);
    uint32_t task = find_slice(t, "aclnnMm"), row = trace_kernel_of(t, task);
    assert_int_equal(t->slice.kind[task], KIND_KERNEL);
    assert_int_equal(t->kernel.device[row], 5);
    assert_int_equal(t->kernel.stream[row], 3);
    assert_int_equal(t->kernel.grid_x[row], 20);
    assert_int_equal(t->kernel.launch[row], find_slice(t, "Node@launch"));
    assert_int_equal(t->kernel.op[row], find_slice(t, "aten::mm"));
    const char *args = args_text(t, t->slice.args[task]);
    assert_non_null(strstr(args, "\"Input Shapes\":\"64,64;64,8\""));
    assert_non_null(strstr(args, "\"aic_mac_ratio\":0.75"));
    assert_non_null(strstr(args, "\"connection_id\":7"));
    assert_null(strstr(args, "Model Id"));
    assert_int_equal(trace_quality(t, CAUSE_NEGATIVE_DURATION), 1);
    assert_true(str_eq(t->format, STR("torch_npu")));
    trace_release(t);
}

static void calls_of_the_framework_are_connected(void **state) {
    (void)state;
    trace *t = read_db(NAMES HOST);
    uint32_t op = find_slice(t, "aten::mm"), n_back = 0, n_queue = 0;
    for (uint32_t i = 1; i < t->flow.n; i++) {
        bool back = t->flow.kind[i] == FLOW_FORWARD_BACKWARD;
        n_back += back;
        n_queue += !back;
        assert_int_equal(t->flow.from[i], back ? op : find_slice(t, "Enqueue"));
        assert_int_equal(t->flow.to[i],
                         find_slice(t, back ? "mm_backward" : "Dequeue@aclnnMm"));
    }
    assert_int_equal(n_back, 1);
    assert_int_equal(n_queue, 1);
    assert_int_equal(t->slice.kind[op], KIND_OP);
    assert_int_equal(t->slice.kind[find_slice(t, "Enqueue")], KIND_RUNTIME);
    assert_int_equal(t->step.n - 1, 1);
    assert_int_equal(t->step.number[1], 7);
    trace_release(t);
}

static void an_operator_has_shapes_and_a_call_stack(void **state) {
    (void)state;
    trace *t = read_db(NAMES HOST);
    uint32_t op = 0;
    for (uint32_t i = 1; i < t->op.n; i++)
        if (t->op.slice[i] == find_slice(t, "aten::mm")) op = i;
    assert_string_equal(text_of_id(t, t->op.shapes[op]), "[[64, 64], [64, 8]]");
    uint32_t frame = t->op.frame[op];
    assert_string_equal(text_of_id(t, t->frame.name[frame]), "a.py(1): f");
    assert_string_equal(text_of_id(t, t->frame.name[t->frame.parent[frame]]), "b.py(2): g");
    trace_release(t);
}

static void a_collective_is_counted_once(void **state) {
    (void)state;
    trace *t = read_db(NAMES DEVICE FACTS);
    uint32_t whole = find_slice(t, "hcom_allReduce__158_4_1");
    assert_int_equal(t->comm.n - 1, 1);
    assert_int_equal(t->comm.slice[1], whole);
    assert_int_equal(t->comm.sequence[1], 4);
    assert_int_equal(t->comm.in_elements[1], 4096);
    assert_string_equal(text_of_id(t, t->comm.dtype[1]), "Half");
    assert_string_equal(text_of_id(t, t->group.name[t->comm.group[1]]), "group_158");
    assert_string_equal(text_of_id(t, t->group.ranks[t->comm.group[1]]), "[0,13]");
    assert_int_equal(t->kernel.device[trace_kernel_of(t, whole)], 5);
    assert_int_equal(t->slice.kind[find_slice(t, "Notify_Wait")], KIND_SYNC);
    assert_int_equal(t->slice.kind[find_slice(t, "Memcpy")], KIND_OTHER);
    assert_int_equal(t->slice.kind[find_slice(t, "EVENT_WAIT")], KIND_SYNC);
    assert_true(str_eq(t->format, STR("cann")));
    assert_true(has_fact(t, "rank_id", "13"));
    trace_release(t);
}

static void copies_have_direction_and_bytes(void **state) {
    (void)state;
    trace *t = read_db(NAMES DEVICE);
    uint32_t copy = find_slice(t, "Memcpy HtoD");
    assert_int_equal(t->slice.kind[copy], KIND_MEMCPY);
    assert_int_equal(t->kernel.bytes[trace_kernel_of(t, copy)], 4096);
    trace_release(t);
}

static void memory_is_read_from_the_table_that_says_most(void **state) {
    (void)state;
    trace *t = read_db(NAMES HOST MEMORY);
    assert_int_equal(t->memory.n - 1, 3);
    assert_int_equal(t->memory.bytes[1], 1024);
    assert_int_equal(t->memory.allocated[1], 5120);
    assert_int_equal(t->memory.bytes[3], -1024);
    assert_int_equal(t->memory.device[3], 5);
    trace_release(t);
    t = read_db(NAMES HOST
                "CREATE TABLE MEMORY_RECORD(component,timestamp,totalAllocated,totalReserved,"
                "deviceId);"
                "INSERT INTO MEMORY_RECORD VALUES(18,110,5120,8192,5),(4,111,9,9,5),"
                "(18,120,4096,8192,5);");
    assert_int_equal(t->memory.n - 1, 2);
    assert_int_equal(t->memory.bytes[2], -1024);
    trace_release(t);
}

static void samples_are_counters_and_the_unread_is_named(void **state) {
    (void)state;
    trace *t = read_db(NAMES "CREATE TABLE RANK_DEVICE_MAP(rankId,deviceId);" COUNTERS);
    assert_int_equal(t->counter.n - 1, 1);
    assert_string_equal(text_of_id(t, t->counter.name[1]), "HBM read");
    assert_true(t->counter.value[1] == 12.5);
    assert_int_equal(trace_quality(t, CAUSE_MISSING_TIME), 1);
    assert_true(has_fact(t, "not_read", "\"UB\""));
    trace_release(t);
}

/* Where nothing marks steps, the table of steps does. */
static void steps_of_a_table_are_steps(void **state) {
    (void)state;
    trace *t = read_db(NAMES DEVICE "CREATE TABLE STEP_TIME(id,startNs,endNs);"
                                    "INSERT INTO STEP_TIME VALUES(4,440,500),(3,300,440);");
    assert_int_equal(t->step.n - 1, 2);
    assert_int_equal(t->step.number[1], 3);
    assert_int_equal(t->step.number[2], 4);
    trace_release(t);
}

/* Columns of another type, rows without names, tables that are other things. */
static void nothing_in_it_must_be_as_it_should(void **state) {
    (void)state;
    trace *t = read_db(
        NAMES
        "CREATE TABLE CANN_API(name,startNs,endNs);"
        "INSERT INTO CANN_API VALUES('text',10,20),(99,30,40),(x'00ff',50,60),(2,1.5,2.5),"
        "(2,NULL,1);"
        "CREATE TABLE TASK(startNs,endNs,deviceId,streamId,globalTaskId,taskType);"
        "INSERT INTO TASK VALUES(100,200,'five',-1,'many',NULL),(100,200,99999999,1,1,4);"
        "CREATE TABLE COMPUTE_TASK_INFO(globalTaskId); "
        "INSERT INTO COMPUTE_TASK_INFO VALUES(1),(1),(NULL);"
        "CREATE VIEW COMMUNICATION_OP AS SELECT 1 AS startNs;"
        "CREATE TABLE CONNECTION_IDS(connectionId); INSERT INTO CONNECTION_IDS VALUES(1);"
        "CREATE TABLE STEP_TIME(id,startNs,endNs);"
        "INSERT INTO STEP_TIME VALUES(NULL,-9223372036854775807,9223372036854775807);");
    assert_int_equal(t->kernel.n - 1, 2);
    assert_int_equal(t->call.n - 1, 4);
    assert_int_equal(trace_quality(t, CAUSE_MISSING_TIME), 1);
    trace_release(t);
}

static void a_cut_file_is_read_as_far_as_it_goes(void **state) {
    (void)state;
    buf file = make_database(NAMES HOST DEVICE FACTS MEMORY COUNTERS);
    uint32_t n_read = 0;
    for (size_t n = file.n - 1000; n > 4096; n -= 4096) {
        error err;
        trace *t = read_with(ingest_ascend_db, str_n(file.p, n), (read_how){0}, &err);
        if (!t) continue;
        n_read++;
        assert_true(
            trace_quality(t, CAUSE_TRUNCATED) + trace_quality(t, CAUSE_DATABASE_DAMAGED) > 0);
        trace_release(t);
    }
    assert_true(n_read > 3);
    buf_fini(&file);
}

static void others_are_not_taken_for_it(void **state) {
    (void)state;
    buf nsight = make_database("CREATE TABLE StringIds(id,value);"
                               "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start);");
    assert_false(ascend_db_head(buf_str(&nsight)));
    assert_false(ascend_db_head(STR("STRING_IDS CANN_API")));
    assert_true(ascend_db_name(STR("ascend_pytorch_profiler_13.db")));
    assert_true(ascend_db_name(STR("ascend_mindspore_profiler.db")));
    assert_false(ascend_db_name(STR("ascend_pytorch_profiler_13.json")));
    assert_false(ascend_db_name(STR("analysis.db")));
    buf_fini(&nsight);
}

/* Sums of collectives in the file itself: of each step; of the matrix those of whole kinds. */
static void test_sums_of_collectives(void **state) {
    (void)state;
    error err = {0};
    buf file = make_database(
        NAMES DEVICE
        "CREATE TABLE "
        "CommAnalyzerTime(hccl_op_name,group_name,transit_time,wait_time,step,type);"
        "INSERT INTO CommAnalyzerTime VALUES('b','7',0.5,0.25,'step9','p2p'),"
        "('a','7',1.5,0.5,'step9','collective'),('a@7',2,0,'',8,'collective'),"
        "('Total Op Info','7',9,9,'step9','collective');"
        "CREATE TABLE CommAnalyzerMatrix(hccl_op_name,group_name,src_rank,dst_rank,"
        "transport_type,transit_size,transit_time,step,type);"
        "INSERT INTO CommAnalyzerMatrix VALUES"
        "('allReduce-total','7','0','1','HCCS',3,1.5,'step9','collective'),"
        "('allReduce-top1','7','0','1','HCCS',2,1,'step9','collective'),"
        "('send','7','0','1','HCCS',1,0.5,'step9','p2p'),"
        "('send','7','1','0','RDMA',4,1,'step9','p2p'),"
        "('send','7','x','0','RDMA',4,1,'step9','p2p');"
        "CREATE TABLE "
        "CommAnalyzerBandwidth(hccl_op_name,group_name,transport_type,package_size);"
        "INSERT INTO CommAnalyzerBandwidth VALUES('a','7','HCCS',3);");
    trace *t = read_with(ingest_ascend_db, buf_str(&file), (read_how){0}, &err);
    assert_non_null(t);
    assert_int_equal(t->comm_cost.n, 3);
    assert_int_equal(t->comm_cost.step[1], 8);
    assert_int_equal(t->comm_cost.step[2], 9);
    assert_int_equal(t->comm_cost.communication[2], 2000000);
    assert_int_equal(t->comm_cost.waiting[2], 750000);
    assert_int_equal(t->comm_cost.operators[2], 2);
    assert_int_equal(t->comm_cost_op.n, 4);
    assert_string_equal(text_of_id(t, t->comm_cost_op.name[1]), "a@7");
    assert_string_equal(text_of_id(t, t->comm_cost_op.name[2]), "a@7");
    assert_int_equal(t->comm_cost_op.cost[3], 2);
    assert_int_equal(t->link.n, 3);
    assert_int_equal(t->link.bytes[1], 4000000); /* the sum of all, and what was sent besides */
    assert_int_equal(t->link.time[1], 2000000);
    assert_string_equal(text_of_id(t, t->link.kind[2]), "RDMA");
    assert_true(has_fact(t, "not_read", "\"CommAnalyzerBandwidth\""));
    assert_int_equal(trace_quality(t, CAUSE_BAD_SYNTAX), 1);
    trace_release(t);
    buf_fini(&file);
}

/* A task with the connection of a collective that is not a kernel: it waits for it. */
static void a_task_of_a_collective_is_a_piece_of_it(void **state) {
    (void)state;
    trace *t = read_db(
        "CREATE TABLE STRING_IDS(id,value); INSERT INTO STRING_IDS VALUES(1,'AI_CORE'),"
        "(2,'hcom_allReduce__158_4_1'),(3,'group_158'),(4,'Notify Wait'),(5,'fused');"
        "CREATE TABLE TASK(startNs,endNs,deviceId,connectionId,globalTaskId,taskType,streamId);"
        "INSERT INTO TASK VALUES(100,200,0,7,1,1,4),(110,190,0,7,2,4,4),(100,150,0,7,3,1,4),"
        "(100,150,0,8,4,1,2);"
        "CREATE TABLE COMPUTE_TASK_INFO(name,globalTaskId,opType);"
        "INSERT INTO COMPUTE_TASK_INFO VALUES(5,3,5);"
        "CREATE TABLE COMMUNICATION_OP(opName,startNs,endNs,connectionId,groupName);"
        "INSERT INTO COMMUNICATION_OP VALUES(2,100,200,7,3);");
    assert_int_equal(t->kind_count[KIND_KERNEL], 3); /* the collective, 3 and 4 */
    assert_int_equal(t->slice.kind[find_slice(t, "Notify Wait")], KIND_SYNC);
    assert_int_equal(t->slice.kind[find_slice(t, "fused")], KIND_KERNEL);
    assert_int_equal(t->kind_count[KIND_OTHER], 1);
    trace_release(t);
}

static void what_is_far_from_the_session_is_skipped(void **state) {
    (void)state;
    trace *t =
        read_db("CREATE TABLE STRING_IDS(id,value); INSERT INTO STRING_IDS VALUES(1,'a');"
                "CREATE TABLE SESSION_TIME_INFO(startTimeNs,endTimeNs);"
                "INSERT INTO SESSION_TIME_INFO VALUES(1000,2000);"
                "CREATE TABLE TASK(startNs,endNs,deviceId,globalTaskId,taskType);"
                "INSERT INTO TASK VALUES(1100,1200,0,1,1),(2900,2950,0,2,1),"
                "(900000,900100,0,3,1),(-500,-100,0,4,1);"
                "CREATE TABLE HBM(deviceId,timestampNs,bandwidth,hbmId,type);"
                "INSERT INTO HBM VALUES(0,1500,1,0,1),(0,990000,1,0,1);");
    assert_int_equal(t->slice.n - 1, 2);
    assert_int_equal(t->counter.n - 1, 1);
    assert_int_equal(trace_quality(t, CAUSE_OTHER_CLOCK), 3);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_has_launch_operator_shapes_and_counters),
        cmocka_unit_test(calls_of_the_framework_are_connected),
        cmocka_unit_test(an_operator_has_shapes_and_a_call_stack),
        cmocka_unit_test(a_collective_is_counted_once),
        cmocka_unit_test(copies_have_direction_and_bytes),
        cmocka_unit_test(memory_is_read_from_the_table_that_says_most),
        cmocka_unit_test(samples_are_counters_and_the_unread_is_named),
        cmocka_unit_test(steps_of_a_table_are_steps),
        cmocka_unit_test(nothing_in_it_must_be_as_it_should),
        cmocka_unit_test(a_cut_file_is_read_as_far_as_it_goes),
        cmocka_unit_test(test_sums_of_collectives),
        cmocka_unit_test(others_are_not_taken_for_it),
        cmocka_unit_test(a_task_of_a_collective_is_a_piece_of_it),
        cmocka_unit_test(what_is_far_from_the_session_is_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
