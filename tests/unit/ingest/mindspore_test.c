/* mindspore_test.c: folders of MindSpore's profiler, from files to rows. */
#include <math.h>

#include "ingest/util/csv_cells.h"
#include "unit/ingest/mindspore_folder.h"

static uint32_t count_kind(const trace *t, uint8_t kind) {
    return (uint32_t)t->kind_count[kind];
}

/* ---- names ------------------------------------------------------------------------------- */

static void names_tell_files_and_devices(void **state) {
    mindspore_name n;
    assert_true(mindspore_name_parse(STR("step_trace_raw_12_detail_time.csv"), &n));
    assert_int_equal(n.id, 12);
    assert_true(
        mindspore_name_parse(STR("ascend_cluster_analyse_pipeline-parallel_2_4_3.csv"), &n));
    assert_int_equal(n.id, 3);
    assert_true(
        mindspore_name_parse(STR("training_trace.46.dev.profiler_default_tag.7.slice_0"), &n));
    assert_int_equal(n.id, 7);
    assert_true(mindspore_name_parse(STR("step_trace_point_info.json"), &n));
    assert_int_equal(n.id, MINDSPORE_ANY_ID);
    assert_false(mindspore_name_parse(STR("step_trace_raw__detail_time.csv"), &n));
    assert_false(mindspore_name_parse(STR("notes.csv"), &n));
    assert_false(mindspore_name_parse(STR("flops_99999999999.txt"), &n));
    assert_true(mindspore_name_is_sure(STR("gpu_op_detail_info_0.csv")));
    assert_false(mindspore_name_is_sure(STR("trace_view.json")));
    str worker, stamp;
    assert_true(mindspore_folder_parse(STR("node0_17389_20261115020204210_ascend_ms"), &worker,
                                       &stamp));
    assert_true(str_eq(worker, STR("node0_17389")));
    assert_true(str_eq(stamp, STR("20261115020204210")));
    assert_false(mindspore_folder_parse(STR("_ascend_ms"), &worker, &stamp));
}

/* ---- csv --------------------------------------------------------------------------------- */

static void cells_are_taken_apart(void **state) {
    csv c = csv_open(STR("a, b ,\"c\"\r\n\n1,\"x \"\"y\"\", z\",\"two\nlines\"\n4\n"));
    assert_true(csv_next(&c));
    assert_int_equal(csv_find(&c, STR("nothing|B")), 1);
    assert_int_equal(csv_find(&c, STR("nothing")), SIZE_MAX);
    assert_true(csv_next(&c));
    assert_true(str_eq(csv_cell(&c, 1), STR("x \"y\", z")));
    assert_true(str_eq(csv_cell(&c, 2), STR("two\nlines")));
    assert_true(csv_next(&c));
    assert_true(str_eq(csv_cell(&c, 0), STR("4")));
    assert_int_equal(csv_cell(&c, 5).n, 0);
    assert_false(csv_next(&c));
    csv_fini(&c);
    c = csv_open(STR("a,\"never closed,b\nc"));
    assert_true(csv_next(&c));
    assert_int_equal(csv_n(&c), 2);
    assert_false(csv_next(&c));
    csv_fini(&c);
}

static void decimals_are_exact(void **state) {
    int64_t v;
    assert_true(scaled_i64(STR("1794707784411175.024"), 3, &v));
    assert_int_equal(v, 1794707784411175024);
    assert_true(scaled_i64(STR("0.0005"), 3, &v));
    assert_int_equal(v, 1);
    assert_true(scaled_i64(STR("0.00049999"), 3, &v));
    assert_int_equal(v, 0);
    assert_true(scaled_i64(STR("9223372036854775807.5"), 0, &v)); /* there is no next one */
    assert_int_equal(v, INT64_MAX);
    assert_true(scaled_i64(STR("-12"), 1, &v));
    assert_int_equal(v, -120);
    assert_true(scaled_i64(STR("6.22421e-05"), 6, &v));
    assert_int_equal(v, 62);
    assert_false(scaled_i64(STR(""), 3, &v));
    assert_false(scaled_i64(STR("-"), 3, &v));
    assert_false(scaled_i64(STR("99999999999999999999"), 0, &v));
    assert_false(scaled_i64(STR("nan"), 0, &v));
}

/* ---- step trace -------------------------------------------------------------------------- */

static void a_step_trace_keeps_every_point(void **state) {
    put("step_trace_raw_3_detail_time.csv",
        "step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,fp_and_bp,"
        "tail,stream_7_0_AllReduce-op9,stream_7_0_AllReduce-op9_start_point,"
        "stream_7_0_AllReduce-op9_end_point\n"
        "1,1000000,1900000,900000,1000000,1600000,0,600000,300000,200000,1500000,1700000\n"
        "2,1900000,2950000,1050000,2000000,2600000,100000,600000,350000,0,0,0\n"
        "broken,x\n"
        "-,1450000,2425000,975000,1500000,2100000,50000,600000,325000,205000,2000000,"
        "2205000\n");
    trace *t = read_worker("step_trace_raw_3_detail_time.csv");
    assert_true(str_eq(t->format, STR("mindspore")));
    assert_int_equal(t->step.n, 3);
    assert_int_equal(t->step.number[2], 2);
    assert_int_equal(t->step.start[2], 19000000);
    assert_int_equal(t->step.end[2], 29500000);
    assert_int_equal(count_kind(t, KIND_KERNEL), 1); /* the collective of step 1 */
    assert_int_equal(t->kernel.device[1], 3);
    assert_int_equal(t->comm.n, 2);
    assert_int_equal(t->producer_step.n, 1 + 3 * 4 + 2);
    uint32_t last = t->producer_step.n - 1; /* the average's collective */
    assert_int_equal(t->producer_step.number[last], ABSENT_I64);
    assert_int_equal(t->producer_step.duration[last], 2050000);
    assert_true(named(t, t->producer_step.track[last], "7"));
    assert_int_equal(trace_quality(t, CAUSE_MISSING_TIME), 1);
    trace_release(t);
}

static void an_inference_has_no_tail(void **state) {
    put("step_trace_raw_0_detail_time.csv",
        "step_num,start_point,end_point,total,fp_point,iteration_interval,fp\n"
        "1,100,200,100,120,20,80\n");
    trace *t = read_worker("step_trace_raw_0_detail_time.csv");
    assert_int_equal(t->producer_step.n, 4);
    for (uint32_t i = 1; i < t->producer_step.n; i++)
        assert_false(named(t, t->producer_step.stage[i], "tail"));
    trace_release(t);
}

static void both_forms_of_a_gpu_step_text_are_read(void **state) {
    put("step_trace_profiling_0.txt",
        "Default/A-op1 100,110 300,310\nDefault/B-op2 150,170 350,370\n"
        "Default/C-op3 180,200 380,400\nDefault/AllReduce-op4 120,140 320,345\n");
    trace *t = read_worker("step_trace_profiling_0.txt");
    assert_int_equal(t->step.n, 3);
    assert_int_equal(t->step.start[1], 1000);
    assert_int_equal(t->step.end[1], 2000);
    assert_int_equal(t->step.start[2], 1800); /* where the last operator of step 1 starts */
    assert_int_equal(t->step.end[2], 4000);
    assert_int_equal(count_kind(t, KIND_KERNEL), 2);
    trace_release(t);
    put("step_trace_profiling_0.txt",
        "S,1009 A-op1,1109 B-op2,1509 C-op3,1999 R-op4,1200,1309\n");
    t = read_worker("step_trace_profiling_0.txt");
    assert_int_equal(t->step.n, 2);
    assert_int_equal(t->step.start[1], 1000); /* the last digit is cut off */
    assert_int_equal(t->step.end[1], 1990);
    assert_int_equal(t->slice.dur[t->kernel.slice[1]], 100);
    trace_release(t);
}

/* ---- operators --------------------------------------------------------------------------- */

static void tables_become_given_operators(void **state) {
    put("framework_raw_1.csv",
        "task_id,stream_id,block_dim,full_op_name,op_name,op_type,subgraph,op_info\n"
        "4,519,1,Default/net/MatMul-op3,MatMul-op3,MatMul,Default,\"{\"\"input_0\"\": "
        "{\"\"shape\"\": \"\"2,3\"\"}}\"\n");
    put("flops_1.txt",
        "full_kernel_name, MFLOPs(10^6 cube), GFLOPS(10^9 cube), MFLOPs(10^6 vector), "
        "GFLOPS(10^9 vector)\nDefault/net/MatMul-op3, 2.5, 1, 0.5, 3\n");
    put("aicore_intermediate_1_type.csv", "kernel_type,total_time,execution_frequency,"
                                          "percent\nMatMul,1.5,30,0.75\n,0.5,20,0.25\n");
    put("aicore_intermediate_1_detail.csv",
        "full_kernel_name,task_duration,execution_frequency,task_type\n"
        "Default/net/MatMul-op3,0.05,30,AI_CORE\nDefault/Cast-op7,0.01,2,AI_CORE\n");
    put("aicpu_intermediate_1.csv",
        "serial_number,kernel_type,total_time,dispatch_time,execution_time,run_start,run_end\n"
        "1,GetNext-op5,0.9,0.1,0.8,1000.5,1800.5\n2,GetNext-op6,0.7,0.1,0.6,2000,2600\n");
    trace *t = read_worker("framework_raw_1.csv");
    assert_int_equal(t->producer_op.n, 1 + 2 + 2 + 2 + 1);
    assert_true(named(t, t->producer_op.type[1], "MatMul"));
    assert_int_equal(t->producer_op.total[1], 1500000);
    assert_int_equal(t->producer_op.level[1], PRODUCER_TYPE);
    assert_true(named(t, t->producer_op.type[2], "None"));
    assert_true(named(t, t->producer_op.name[3], "MatMul-op3"));
    assert_true(named(t, t->producer_op.full_name[3], "Default/net/MatMul-op3"));
    assert_int_equal(t->producer_op.total[3], 1500000);
    assert_true(t->producer_op.flops[3] == 2.5e6 && t->producer_op.vector_flops[3] == 0.5e6);
    assert_true(trace_str(t, t->producer_op.info[3]).n > 10);
    assert_true(named(t, t->producer_op.type[4], "Cast")); /* not in the framework file */
    assert_true(isnan(t->producer_op.flops[4]));
    assert_true(named(t, t->producer_op.side[5], "AI CPU"));
    assert_int_equal(t->producer_op.dispatch[5], 100000);
    assert_int_equal(t->producer_op.total[7], 1600000); /* both kinds of GetNext */
    assert_int_equal(count_kind(t, KIND_KERNEL), 2);
    trace_release(t);
}

static void executions_become_slices_and_steps(void **state) {
    put("cpu_op_execute_timestamp_0.txt",
        "Default/net/A-op1;HostCpuOps;1000,0.0001,0 2000,0.0001,0 \n"
        "Default/net/B-op2;HostCpuOps;1200,0.0003,0 2200,0.0003,0 bad \n"
        "no operator here\n");
    put("cpu_framework_0.txt", "A;A-op1;1;input_1:[2, 3];input_2:[4];\n");
    trace *t = read_worker("cpu_op_execute_timestamp_0.txt");
    assert_int_equal(count_kind(t, KIND_OP), 4);
    assert_int_equal(t->step.n, 3);
    assert_int_equal(t->step.start[1], 1000);
    assert_int_equal(t->step.end[1], 1500);
    assert_int_equal(trace_quality(t, CAUSE_MISSING_TIME), 1);
    assert_int_equal(trace_quality(t, CAUSE_MISSING_NAME), 1);
    bool shapes = false;
    for (uint32_t i = 1; i < t->op.n; i++) shapes |= named(t, t->op.shapes[i], "[[2, 3],[4]]");
    assert_true(shapes);
    /* Default and net, in each of two steps */
    assert_int_equal(count_kind(t, KIND_OTHER), 4);
    trace_release(t);
}

static void unix_times_become_offsets(void **state) {
    put("cpu_op_execute_timestamp_0.txt",
        "Default/A-op1;HostCpuOps;1794708124316486296,0.058458,0 \n");
    trace *t = read_worker("cpu_op_execute_timestamp_0.txt");
    assert_int_equal(t->base_unix_ns, 1794708124316486296);
    assert_int_equal(t->start_ns, 0);
    assert_int_equal(t->end_ns, 58458);
    trace_release(t);
}

static void kernels_find_their_operators(void **state) {
    put("gpu_activity_data_0.csv",
        "name,type,op_full_name,stream_id,block_dim,grid_dim,occurrences,total_duration(us),"
        "avg_duration(us),max_duration(us),min_duration(us)\n"
        "\"AddK<a, "
        "b>(int)\",cuLaunchKernel,Default/Add-op6,17,\"256,1,1\",\"8,1,1\",2,7,3.5,4,3\n");
    put("gpu_op_execute_timestamp_0.txt", "Default/Add-op6;GpuOps;1000,10 21000,10 \n");
    put("activity_execute_timestamp_0.txt",
        "AddK<a, b>(int);17;2000;3\nAddK<a, b>(int);17;22000;4\nunknown;18;500;1\n");
    trace *t = read_worker("gpu_op_execute_timestamp_0.txt");
    assert_int_equal(t->kernel.n, 4);
    uint32_t linked = 0;
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        if (!t->kernel.op[k]) continue;
        linked++;
        int64_t op = t->slice.start[t->kernel.op[k]],
                start = t->slice.start[t->kernel.slice[k]];
        assert_int_equal(op, start - 1000);
        assert_int_equal(t->kernel.block_x[k], 256);
        assert_int_equal(t->kernel.grid_x[k], 8);
    }
    assert_int_equal(linked, 2);
    assert_int_equal(t->producer_op.level[1], PRODUCER_KERNEL);
    assert_int_equal(t->producer_op.max[1], 4000);
    assert_int_equal(t->device.type[1], DEVICE_CUDA);
    trace_release(t);
}

/* ---- data preparation -------------------------------------------------------------------- */

static void a_pipeline_has_operators_queues_and_batches(void **state) {
    put("pipeline_profiling_0.json",
        "{\"sampling_interval\": 10, \"op_info\": ["
        "{\"op_id\": 2, \"op_type\": \"TFReader\", \"num_workers\": 4, \"children\": null,"
        " \"metrics\": {\"output_queue\": {\"size\": [10, 20, 30], \"length\": 64}}},"
        "{\"op_id\": 0, \"op_type\": \"Batch\", \"num_workers\": 4, \"children\": [2],"
        " \"metrics\": null}]}");
    put("device_queue_profiling_0.txt",
        "0 0 1 12 85\n0 1 1 3 86\n0 2 1 15 87\n1 64 1 2 88\n7 1\n");
    put("minddata_aicpu_0.txt", "GetNext_dequeue_wait 100 101 3\nOther 1 2 3\nGetNext 5 x 1\n");
    trace *t = read_worker("pipeline_profiling_0.json");
    assert_int_equal(t->pipe_op.n, 1 + 2 + 2);
    assert_int_equal(t->pipe_op.parent[1], 2);
    assert_int_equal(t->pipe_op.capacity[2], ABSENT_I64);
    assert_int_equal(t->pipe_op.interval[1], 10000000);
    assert_int_equal(t->pipe_op.role[3], PIPE_HOST_QUEUE);
    assert_int_equal(t->pipe_op.role[4], PIPE_DATA_QUEUE);
    assert_int_equal(t->queue_sample.n, 1 + 3 + 1 + 1);
    assert_int_equal(t->queue_sample.size[2], 20);
    assert_int_equal(t->queue_sample.time[2], 10000000);
    assert_int_equal(t->queue_sample.get[4], 12000000);
    assert_int_equal(t->queue_sample.capacity[4], 64);
    assert_int_equal(t->queue_sample.total[5], 1000);
    trace_release(t);
}

/* ---- raw files --------------------------------------------------------------------------- */

static void raw_steps_are_decoded(void **state) {
    unsigned char bytes[20 * 9 + 3] = {0}, *p = bytes;
    static const uint64_t rows[9][3] = {{1, 0, 100},  {3, 7, 110},   {4, 7, 140},
                                        {2, 0, 150},  {255, 0, 200}, {1, 0, 230},
                                        {9999, 0, 1}, {2, 0, 280},   {255, 0, 300}};
    for (int i = 0; i < 9; i++) {
        add_le(&p, rows[i][0], 8);
        add_le(&p, 0, 2);
        add_le(&p, rows[i][1], 2);
        add_le(&p, rows[i][2], 8);
    }
    put_bytes("training_trace.46.dev.tag.5.slice_0", bytes, sizeof bytes);
    trace *t = read_worker("training_trace.46.dev.tag.5.slice_0");
    assert_int_equal(t->step.n, 3);
    assert_int_equal(t->step.start[1], 1000);
    assert_int_equal(t->step.start[2], 2000);
    assert_int_equal(t->step.end[2], 3000);
    assert_int_equal(count_kind(t, KIND_KERNEL), 1);
    assert_int_equal(t->slice.dur[t->kernel.slice[1]], 300);
    assert_int_equal(trace_quality(t, CAUSE_TRUNCATED), 1);
    trace_release(t);
}

static void raw_tasks_are_paired_by_operator(void **state) {
    static const hwts_row rows[] = {
        {0, 30001, 100, 9}, {1, 30001, 130, 9}, {0, 3, 200, 9}, {1, 3, 260, 9}};
    put_hwts("hwts.log.data.45.dev.tag.0.slice_0", rows, 4);
    put("Framework.host.vm.task_desc_info.0.slice_0",
        "Default/A-op1 1 30001 2\nDefault/B-op2 1 3 9\n");
    trace *t = read_worker("hwts.log.data.45.dev.tag.0.slice_0");
    assert_int_equal(count_kind(t, KIND_KERNEL), 2);
    assert_int_equal(t->producer_op.n, 3); /* added up here, no table did */
    assert_int_equal(t->producer_op.total[1], 300);
    assert_int_equal(t->producer_op.total[2], 600);
    trace_release(t);
}

static void raw_ai_cpu_text_needs_its_second_half(void **state) {
    static const char text[] =
        "[1] Node:InitData, Run tart:100 10000, Run end:200 20000\0"
        "Thread[ 1] a, b,c, d,e, dispatchTime=100 us, totalTime=1567 us.\0"
        "[1] Node:Lost, Run tart:100, Run end:200\0";
    put_bytes("DATA_PREPROCESS.AICPU.0.slice_0", text, sizeof text - 1);
    trace *t = read_worker("DATA_PREPROCESS.AICPU.0.slice_0");
    assert_int_equal(count_kind(t, KIND_KERNEL), 1);
    assert_int_equal(t->slice.start[t->kernel.slice[1]], 100000);
    assert_int_equal(t->producer_op.total[1], 1567000);
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_BEGIN), 1);
    trace_release(t);
}

/* ---- memory and communication ------------------------------------------------------------ */

static void a_graphs_memory_follows_its_line(void **state) {
    put("memory_usage_summary_0.json", "{\"capacity\": 4.0, \"peak_mem\": 2.5}");
    put("memory_usage_details_0.json",
        "{\"0\": {\"static_mem\": 1.0, \"nodes\": [{\"name\": \"A-op1\", \"fullname\": "
        "\"Default/A-op1\", \"node_id\": 0}, {\"name\": \"B-op2\", \"fullname\": "
        "\"Default/B-op2\", \"node_id\": 1}], \"lines\": [1.5, 2.5], \"breakdowns\": "
        "[[{\"tensor_name\": \"A-op1:0\", \"tensor_id\": 4, \"size\": 0.5, \"life_long\": "
        "\"LifeLongNone\", \"life_start\": 0, \"life_end\": 0}]]}}");
    trace *t = read_worker("memory_usage_details_0.json");
    const int64_t half = (int64_t)1 << 29;
    /* static and a tensor; the tensor goes, the rest of the line comes; all of it goes */
    assert_int_equal(t->memory.n - 1, 6);
    assert_int_equal(t->memory.allocated[1], 2 * half);
    assert_int_equal(t->memory.allocated[2], 3 * half);
    assert_int_equal(t->memory.bytes[3], -half);
    assert_int_equal(t->memory.partner[3], 2);
    assert_int_equal(t->memory.allocated[4], 5 * half);
    assert_int_equal(t->memory.allocated[6], 0);
    assert_true(named(t, t->frame.name[t->memory.frame[4]], "Default/B-op2"));
    assert_int_equal(t->memory.device_type[1], DEVICE_ASCEND);
    assert_int_equal(t->device.memory[1], 8 * half);
    trace_release(t);
}

static void a_graphs_operators_are_where_they_ran(void **state) {
    put("memory_usage_details_0.json",
        "{\"0\": {\"nodes\": [{\"name\": \"A-op1\", \"node_id\": 0}, {\"name\": "
        "\"B-op2\", \"node_id\": 1}], \"lines\": [1.0, 2.0], \"breakdowns\": []}}");
    put("output_timeline_data_0.txt",
        "op_name, stream_id, start_time(ms), duration(ms)\nA-op1,1,5.0,1.0\nB-op2,1,7.0,1.0\n"
        "A-op1,1,9.0,1.0\n");
    trace *t = read_worker("output_timeline_data_0.txt");
    assert_int_equal(t->memory.time[1], 5000000);
    assert_int_equal(t->memory.time[2], 7000000);
    trace_release(t);
}

static void allocations_of_operators_have_both_ends(void **state) {
    put("operator_memory.csv",
        "Name,Size(KB),Allocation Time(us),Release Time(us),Allocation Total "
        "Allocated(MB),Release Total Allocated(MB),Device Type\n"
        "MatMul,2,100.5,200.5,1,0.5,NPU:1\nAdd,1,150,N/A,2,N/"
        "A,NPU:1\nbroken,x,1,2,3,4,NPU:1\n");
    put("profiler_info_1.json", "{}");
    trace *t = read_worker("profiler_info_1.json");
    assert_int_equal(t->memory.n - 1, 3);
    assert_int_equal(t->memory.bytes[1], 2048);
    assert_int_equal(t->memory.allocated[1], 1048576);
    assert_int_equal(t->memory.partner[1], 3);
    assert_int_equal(t->memory.time[3], 200500);
    assert_int_equal(t->memory.device[2], 1);
    assert_true(named(t, t->frame.name[t->memory.frame[2]], "Add"));
    assert_int_equal(trace_quality(t, CAUSE_MISSING_TIME), 1);
    trace_release(t);
}

static void communication_of_cann_is_kept_by_step(void **state) {
    put("communication.json",
        "{\"step6\": {\"collective\": {\"hcom_allReduce__1\": {\"Communication Time Info\": "
        "{\"Transit Time(ms)\": 1.5, \"Wait Time(ms)\": 0.5}}}, \"p2p\": {\"hcom_send__1\": "
        "{\"Communication Time Info\": {\"Transit Time(ms)\": 0.25}}}}}");
    put("communication_matrix.json",
        "{\"step6\": {\"collective\": {\"allReduce-top1@1\": {\"0-1\": {\"Transport Type\": "
        "\"HCCS\", \"Transit Time(ms)\": 9, \"Transit Size(MB)\": 9}}, "
        "\"allReduce-total@1\": {\"0-1\": {\"Transport Type\": \"HCCS\", \"Transit "
        "Time(ms)\": 1.5, \"Transit Size(MB)\": 3}}}}}");
    put("profiler_info_0.json", "{}");
    trace *t = read_worker("profiler_info_0.json");
    assert_int_equal(t->comm_cost.n, 2);
    assert_int_equal(t->comm_cost.step[1], 6);
    assert_int_equal(t->comm_cost.communication[1], 1750000);
    assert_int_equal(t->comm_cost.waiting[1], 500000);
    assert_int_equal(t->comm_cost.operators[1], 2);
    assert_int_equal(t->comm_cost_op.n, 3);
    assert_true(named(t, t->comm_cost_op.name[2], "hcom_send__1"));
    assert_int_equal(t->comm_cost_op.communication[2], 250000);
    assert_int_equal(t->link.n, 2); /* the sum of its kind */
    assert_int_equal(t->link.step[1], 6);
    assert_int_equal(t->link.source[1], 0);
    assert_int_equal(t->link.target[1], 1);
    assert_true(named(t, t->link.kind[1], "HCCS"));
    assert_int_equal(t->link.time[1], 1500000);
    assert_int_equal(t->link.bytes[1], 3000000);
    trace_release(t);
}

static void a_table_of_collectives_has_links_and_operators(void **state) {
    put("hccl_raw_0.csv",
        "step_num,communication_cost,wait_cost,link_info,communication_operator_cost\n"
        "1,2.5,0.5,\"{\"\"0-1\"\": {\"\"SDMA\"\": [2.5, 512.0, 7.0], \"\"RDMA\"\": [0.0, 1, 2, "
        "0.25], \"\"LOST\"\": [1]}, \"\"damaged\"\": {}}\",\"{\"\"AllReduce-op9\"\": "
        "[\"\"1\"\", 2.5, 0.5, {}]}\"\n"
        "-,2,1,,\n");
    trace *t = read_worker("hccl_raw_0.csv");
    assert_int_equal(t->comm_cost.n, 3);
    assert_int_equal(t->comm_cost.waiting[1], 500000);
    assert_int_equal(t->comm_cost.operators[1], 1);
    assert_int_equal(t->comm_cost.step[2], ABSENT_I64);
    assert_int_equal(t->comm_cost.operators[2], ABSENT_I64);
    assert_int_equal(t->comm_cost_op.cost[1], 1);
    assert_int_equal(t->comm_cost_op.communication[1], 2500000);
    assert_int_equal(t->link.n, 3);
    assert_int_equal(t->link.bytes[1], 512000);
    assert_int_equal(t->link.waiting[1], ABSENT_I64);
    assert_int_equal(t->link.waiting[2], 250000);
    trace_release(t);
}

static void parts_of_steps_and_the_run_come_from_the_cluster_table(void **state) {
    put("profiler_info_1.json", "{\"pipeline_stage_num\": 8, \"stage_num\": 3, "
                                "\"rank_size\": 2, \"parallel_mode\": \"semi_auto\"}");
    trace *t = read_worker("profiler_info_1.json");
    assert_int_equal(t->parallel.n, 2);
    assert_int_equal(t->parallel.stages[1], 3);
    assert_int_equal(t->parallel.ranks[1], 2);
    assert_true(named(t, t->parallel.mode[1], "semi_auto"));
    trace_release(t);
    put("ascend_cluster_analyse_pipeline-parallel_2_4_1.csv",
        "computation_time,communication_alone_time,receive_alone_time\n3.5,6.5,4\n1,2,x\n");
    t = read_worker("profiler_info_1.json");
    assert_true(named(t, t->parallel.kind[1], "pipeline-parallel"));
    assert_int_equal(t->parallel.stages[1], 2); /* the table knows better */
    assert_int_equal(t->parallel.ranks[1], 4);
    assert_int_equal(t->step_part.n, 3);
    assert_int_equal(t->step_part.number[1], 1);
    assert_int_equal(t->step_part.computation[1], 3500000);
    assert_int_equal(t->step_part.receive[1], 4000000);
    assert_int_equal(t->step_part.stage[1], ABSENT_I64);
    assert_int_equal(t->step_part.number[2], ABSENT_I64); /* the last row is the average */
    assert_int_equal(t->step_part.receive[2], ABSENT_I64);
    trace_release(t);
}

static void scopes_of_the_network_have_operations(void **state) {
    put("flops_scope_0.json",
        "{\"data\": {\"links\": [{\"source\": \"Total\", \"target\": \"Default\", "
        "\"value\": 2.5}, {\"source\": \"Total\"}]}}");
    trace *t = read_worker("flops_scope_0.json");
    assert_int_equal(t->scope_flops.n, 2);
    assert_true(named(t, t->scope_flops.target[1], "Default"));
    assert_true(t->scope_flops.flops[1] == 2.5e6);
    trace_release(t);
}

static void operations_and_memory_of_the_device_are_one_row(void **state) {
    put("flops_summary_0.json", "{\"cube_FLOPs\": 1.5, \"vec_FLOPs\": 0.5, \"cube_FLOPS\": 3.0,"
                                " \"cube_FLOPS_Utilization\": 12.5}");
    put("memory_usage_summary_0.json", "{\"capacity\": 32.0, \"peak_mem\": 8.0}");
    trace *t = read_worker("flops_summary_0.json");
    assert_int_equal(t->resource.n, 2);
    assert_true(t->resource.flops[1] == 2e6);
    assert_true(t->resource.flops_per_s[1] == 3e9);
    assert_true(t->resource.utilization[1] == 0.125);
    assert_int_equal(t->resource.memory_peak[1], (int64_t)8 << 30);
    assert_int_equal(t->resource.memory_capacity[1], (int64_t)32 << 30);
    trace_release(t);
}

static void the_peak_of_the_device_follows_from_the_fullest_operator(void **state) {
    put("flops_0.txt",
        "full_kernel_name, FLOPs, FLOPS, FLOPS utilization\nDefault/A-op1, 1, 10, 1\n"
        "Default/B-op2, 5, 50.0, 25\n");
    put("aicore_intermediate_0_detail.csv",
        "full_kernel_name,execution_time,execution_frequency\nDefault/B-op2,0.1,2\n");
    trace *t = read_worker("flops_0.txt");
    assert_true(str_eq(trace_meta(t, STR("flops_peak")), STR("200000000000")));
    assert_true(t->resource.peak_flops_per_s[1] == 200e9);
    assert_true(t->producer_op.flops_per_s[1] == 50e9);
    trace_release(t);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_tell_files_and_devices),
        cmocka_unit_test(cells_are_taken_apart),
        cmocka_unit_test(decimals_are_exact),
        TEST(a_step_trace_keeps_every_point),
        TEST(an_inference_has_no_tail),
        TEST(both_forms_of_a_gpu_step_text_are_read),
        TEST(tables_become_given_operators),
        TEST(executions_become_slices_and_steps),
        TEST(unix_times_become_offsets),
        TEST(kernels_find_their_operators),
        TEST(a_pipeline_has_operators_queues_and_batches),
        TEST(raw_steps_are_decoded),
        TEST(raw_tasks_are_paired_by_operator),
        TEST(raw_ai_cpu_text_needs_its_second_half),
        TEST(a_graphs_memory_follows_its_line),
        TEST(a_graphs_operators_are_where_they_ran),
        TEST(allocations_of_operators_have_both_ends),
        TEST(communication_of_cann_is_kept_by_step),
        TEST(a_table_of_collectives_has_links_and_operators),
        TEST(parts_of_steps_and_the_run_come_from_the_cluster_table),
        TEST(scopes_of_the_network_have_operations),
        TEST(operations_and_memory_of_the_device_are_one_row),
        TEST(the_peak_of_the_device_follows_from_the_fullest_operator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
