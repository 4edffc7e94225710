/* gentrace_plant.c: a run in which something is wrong, and it is known what.
 *
 *   gentrace plant CAUSE[,CAUSE…] [options] > trace.json
 *       --device cuda|rocm|npu|cpu   whose names and fields (npu: torch_npu's trace_view.json)
 *       --mode train|compiled|graph|infer|serve
 *       --neighbors                  things that look like causes and cost nothing
 *       --steps N --seed N --no-marks
 *
 * One host and one device are simulated: a call launches work, which starts when it has been launched and
 * its stream is free; a call that blocks returns when the device has done what was launched. So what a
 * cause costs follows from it as in a real run, and nothing is written down as a cost. Without a cause
 * (`none`) the host is ahead of the device all the time and every kernel is as it should be.
 * The seed moves durations by a tenth, and how strong the cause is. Uses only libc. */
#include "gentrace_plant.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAUSES(X)        \
    X(none)              \
    X(loader_in_process) \
    X(loader_slow)       \
    X(loader_unmarked)   \
    X(pause)             \
    X(host_late)         \
    X(small_kernels)     \
    X(blocking_sync)     \
    X(item_sync)         \
    X(sync_copy)         \
    X(pageable_copy)     \
    X(exposed_copy)      \
    X(allocator)         \
    X(dependency)        \
    X(optimizer_loop)    \
    X(long_step)         \
    X(first_step)        \
    X(frames)            \
    X(small_grid)        \
    X(few_blocks)        \
    X(low_occupancy)     \
    X(no_tensor_cores)   \
    X(tf32)              \
    X(odd_dimension)     \
    X(layout)            \
    X(memory_full)       \
    X(fragmentation)     \
    X(data_parallel)     \
    X(gloo)              \
    X(exposed)           \
    X(records_lost)      \
    X(setup_before)

typedef enum {
#define X(name) PLANT_##name,
    CAUSES(X)
#undef X
        N_PLANTS
} plant;
static const char *const plant_names[N_PLANTS] = {
#define X(name) #name,
    CAUSES(X)
#undef X
};

typedef enum { CUDA, ROCM, NPU, CPU, N_DEVICES } device_kind;
typedef enum { TRAIN, COMPILED, GRAPH, INFER, SERVE, N_MODES } run_mode;
static const char *const device_names[] = {"cuda", "rocm", "npu", "cpu"};
static const char *const mode_names[] = {"train", "compiled", "graph", "infer", "serve"};

/* What a kernel is; each device has a name for it. */
typedef enum {
    GEMM,
    GEMM_FP32,
    GEMM_TF32,
    ELEMENTWISE,
    NORM,
    FUSED_OPTIMIZER,
    UPDATE,
    LAYOUT,
    TINY_GRID,
    COLLECTIVE,
    N_CLASSES
} work_class;

static const char *const kernel_names[3][N_CLASSES] = {
    {"nvjet_tst_128x256_64x4_2x1_v_bz_coopA_NTT", "ampere_sgemm_128x64_tn",
     "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_stage3_warpsize2x2x1_execute",
     "void at::native::vectorized_elementwise_kernel<8, at::native::GeluCUDAKernelImpl>(int)",
     "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float>(int)",
     "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor>",
     "void at::native::vectorized_elementwise_kernel<4, at::native::AddcdivFunctor>(int)",
     "void cudnn::engines_precompiled::nchwToNhwcKernel<__half, __half, float, true>(int)",
     "void at::native::index_elementwise_kernel<128, 4, index_put>(long)",
     "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"},
    {"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64_MI16x16x1_SN",
     "Cijk_Alik_Bljk_SB_Bias_HA_S_SAV_UserArgs_MT128x128x16_SN_simt",
     "Cijk_Alik_Bljk_S_MX_B_Bias_HA_S_SAV_MT128x128x32_MI16x16x1_SN",
     "void at::native::vectorized_elementwise_kernel<8, at::native::GeluCUDAKernelImpl>(int)",
     "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float>(int)",
     "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor>",
     "void at::native::vectorized_elementwise_kernel<4, at::native::AddcdivFunctor>(int)",
     "batched_transpose_32x32_half_nchwToNhwc", "void at::native::index_elementwise_kernel",
     "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)"},
    {"aclnnMatmul_MatMulCommon_MatMulV2", "aclnnMatmul_MatMulCommon_MatMulV2",
     "aclnnMatmul_MatMulCommon_MatMulV2", "aclnnGelu_GeluAiCore_Gelu",
     "aclnnLayerNorm_LayerNormAiCore_LayerNormV4", "aclnnApplyFusedAdamW_FusedAdamW_AdamW",
     "aclnnInplaceAddcdiv_AddcdivAiCore_Addcdiv", "aclnnCast_TransDataAiCore_TransData",
     "aclnnIndexPut_IndexPutAiCore_IndexPutV2", "hcom_allReduce__123_0_1"},
};
static const char *const calls[3][6] = {
    /* launch, copy, copy the host waits for, wait for all, wait for an event, allocate */
    {"cudaLaunchKernel", "cudaMemcpyAsync", "cudaMemcpy", "cudaDeviceSynchronize",
     "cudaEventSynchronize", "cudaMalloc"},
    {"hipLaunchKernel", "hipMemcpyAsync", "hipMemcpyWithStream", "hipDeviceSynchronize",
     "hipEventSynchronize", "hipMalloc"},
    {"Node@launch", "AscendCL@aclrtMemcpyAsync", "AscendCL@aclrtMemcpy",
     "AscendCL@aclrtSynchronizeDevice", "AscendCL@aclrtSynchronizeEvent", "Device@malloc"},
};
enum { LAUNCH, COPY, COPY_WAITS, WAIT_ALL, WAIT_EVENT, ALLOCATE };

enum { MAIN = 100, BACKWARD = 101, N_STREAMS = 4, LAYERS = 8, US = 1000, MS = 1000000 };

static struct {
    bool cause[N_PLANTS];
    int n_causes;
    device_kind device;
    run_mode mode;
    bool neighbors, no_marks;
    int steps;
    uint64_t seed;
} run = {.steps = 8, .seed = 1};

static bool has(plant cause) {
    return run.cause[cause];
}

static int64_t now_ns = 1000 * MS; /* of the host */
static int64_t free_ns[2][N_STREAMS], stall_ns;
static int thread = MAIN;
static int correlation = 100, external = 1, open_op, graph_call;
static bool not_first;
static uint64_t state;

/* ---- numbers and text --------------------------------------------------------------------- */

static uint64_t next_random(void) {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* About `ns`: a tenth more or less. */
static int64_t about(int64_t ns) {
    return ns - ns / 10 + (int64_t)(next_random() % (uint64_t)(ns / 5 + 1));
}

__attribute__((format(printf, 1, 2))) static void event(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs(not_first ? ",\n" : "\n", stdout);
    not_first = true;
    vprintf(format, arguments);
    va_end(arguments);
}

static const char *us_text(int64_t ns) {
    static char text[4][32];
    static int at;
    at = (at + 1) % 4;
    snprintf(text[at], sizeof *text, "%" PRId64 ".%03d", ns / 1000, (int)(ns % 1000));
    return text[at];
}

/* ---- the host ----------------------------------------------------------------------------- */

/* A range of the host that ends now. */
static void range(const char *category, const char *name, int64_t start, const char *more) {
    event("{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": 100, \"tid\": %d, "
          "\"ts\": %s, \"dur\": %s, \"args\": {\"External id\": %d%s}}",
          category, name, thread, us_text(start), us_text(now_ns - start), external++, more);
}

static void call(const char *name, int64_t start, int64_t dur, int id) {
    if (run.device == NPU) {
        event("{\"ph\": \"X\", \"name\": \"%s\", \"pid\": 200, \"tid\": %d, \"ts\": \"%s\", "
              "\"dur\": %s, \"args\": {\"level\": \"acl\", \"connection_id\": %d}}",
              name, thread, us_text(start), us_text(dur), id);
        return;
    }
    event("{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"%s\", \"pid\": 100, "
          "\"tid\": %d, \"ts\": %s, \"dur\": %s, \"args\": {\"correlation\": %d, "
          "\"External id\": %d}}",
          name, thread, us_text(start), us_text(dur), id, open_op);
}

static const char *call_name(int which) {
    return calls[run.device % CPU][which];
}

static int64_t last_work(void) {
    int64_t last = 0;
    for (int d = 0; d < 2; d++)
        for (int s = 0; s < N_STREAMS; s++) last = free_ns[d][s] > last ? free_ns[d][s] : last;
    return last;
}

/* A call that returns when all that was launched is done. */
static void wait_in(const char *name) {
    int64_t start = now_ns, done = last_work();
    if (run.device == CPU) return;
    now_ns = (done > now_ns ? done : now_ns) + 4 * US;
    call(name, start, now_ns - start, correlation++);
}

/* ---- the device --------------------------------------------------------------------------- */

typedef struct {
    work_class class;
    const char *name; /* NULL: the device's name for the class */
    int64_t ns;
    int device, stream;
    double blocks, occupancy;
} work;

static void write_flow(int id, int64_t from, int64_t to, const work *w) {
    event("{\"ph\": \"s\", \"cat\": \"HostToDevice\", \"name\": \"HostToDevice%d\", "
          "\"id\": \"%d\", \"pid\": 200, \"tid\": %d, \"ts\": \"%s\"}",
          id, id, thread, us_text(from));
    event("{\"ph\": \"f\", \"cat\": \"HostToDevice\", \"name\": \"HostToDevice%d\", "
          "\"id\": \"%d\", \"pid\": 800, \"tid\": %d, \"ts\": \"%s\", \"bp\": \"e\"}",
          id, id, w->stream, us_text(to));
    event("{\"ph\": \"s\", \"cat\": \"async_npu\", \"name\": \"torch_to_npu\", \"bp\": \"e\", "
          "\"id\": %d, \"pid\": 100, \"tid\": %d, \"ts\": \"%s\"}",
          id, thread, us_text(from - 500));
    event("{\"ph\": \"f\", \"cat\": \"async_npu\", \"name\": \"torch_to_npu\", \"bp\": \"e\", "
          "\"id\": %d, \"pid\": 800, \"tid\": %d, \"ts\": \"%s\"}",
          id, w->stream, us_text(to));
}

static void write_work(const work *w, const char *name, int64_t start, int id) {
    bool kernel = !w->name || strncmp(w->name, "Mem", 3) != 0;
    if (run.device == NPU) {
        event("{\"ph\": \"X\", \"name\": \"%s\", \"pid\": 800, \"tid\": %d, \"ts\": \"%s\", "
              "\"dur\": %s, \"args\": {\"Task Type\": \"AI_CORE\", \"Stream Id\": %d, "
              "\"connection_id\": %d}}",
              name, w->stream, us_text(start), us_text(w->ns), w->stream, id);
        return;
    }
    event("{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %d, \"tid\": %d, "
          "\"ts\": %s, \"dur\": %s, \"args\": {\"device\": %d, \"stream\": %d, "
          "\"correlation\": %d, \"External id\": %d",
          kernel ? "kernel" : "gpu_memcpy", name, w->device, w->stream, us_text(start),
          us_text(w->ns), w->device, w->stream, id, open_op);
    if (kernel && run.device == CUDA)
        printf(", \"registers per thread\": 64, \"shared memory\": 1024, \"blocks per SM\": "
               "%.3f, \"warps per SM\": %.3f, \"grid\": [%d, 1, 1], \"block\": [256, 1, 1], "
               "\"est. achieved occupancy %%\": %d}}",
               w->blocks, w->blocks * 8, (int)(w->blocks * 132) + 1, (int)(100 * w->occupancy));
    else
        printf("%s}}", kernel ? "" : ", \"bytes\": 1048576");
}

/* Puts work on a stream; what is lost is done, and not recorded. */
static int64_t put(work w, int id) {
    int64_t *stream = &free_ns[w.device][w.stream % N_STREAMS];
    int64_t start = now_ns + 3 * US > *stream + 900 ? now_ns + 3 * US : *stream + 900;
    const char *name = w.name ? w.name : kernel_names[run.device][w.class];
    start += stall_ns;
    stall_ns = 0;
    *stream = start + w.ns;
    if (has(PLANT_records_lost) && id % 10 < 6) return start;
    write_work(&w, name, start, id);
    return start;
}

/* One call that launches one piece of work. */
static void launch_by(int which, work w) {
    int64_t start = now_ns, dur = about(5 * US);
    int id = graph_call ? graph_call : correlation++;
    if (run.device == CPU) {
        now_ns += w.ns;
        return;
    }
    if (graph_call) {
        put(w, id);
        return;
    }
    now_ns += dur;
    int64_t at = put(w, id);
    call(run.mode == COMPILED && run.device == CUDA && which == LAUNCH ? "cuLaunchKernelEx"
                                                                       : call_name(which),
         start, dur, id);
    if (run.device == NPU) write_flow(id, start + 500, at, &w);
}

static void launch(work_class class, int64_t ns) {
    launch_by(
        LAUNCH,
        (work){.class = class, .ns = about(ns), .stream = 7, .blocks = 12, .occupancy = 0.6});
}

/* ---- operators ---------------------------------------------------------------------------- */

/* What the host does around the launches of an operator, and between two of them. */
static int64_t host_ns(void) {
    bool slow = has(PLANT_host_late);
    return about(slow ? (120 + (int64_t)(run.seed % 3) * 40) * US : 10 * US);
}

static int op_begin(int64_t *start) {
    int around = open_op;
    *start = now_ns;
    if (graph_call) return around; /* a replay has no operators */
    now_ns += about(3 * US);
    *start = now_ns;
    open_op = external++;
    now_ns += host_ns();
    return around;
}

static void op_end(const char *name, int64_t start, int around, const char *more) {
    int mine = open_op;
    if (graph_call) return;
    now_ns += about(2 * US);
    event("{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"%s\", \"pid\": 100, \"tid\": %d, "
          "\"ts\": %s%s%s, \"dur\": %s, \"args\": {\"External id\": %d%s}}",
          name, thread, run.device == NPU ? "\"" : "", us_text(start),
          run.device == NPU ? "\"" : "", us_text(now_ns - start), mine, more);
    open_op = around;
}

/* An operator with one kernel. */
static void op(const char *name, work_class class, int64_t ns, const char *more) {
    int64_t start;
    int around = op_begin(&start);
    launch(class, ns);
    op_end(name, start, around, more);
}

static void product_text(char *text, size_t n, int rows, int inner, int columns) {
    bool wide = has(PLANT_no_tensor_cores) || has(PLANT_tf32);
    const char *type = wide ? "float" : "c10::BFloat16";
    snprintf(text, n,
             ", \"Input type\": [\"%s\", \"%s\"], \"Input Dims\": [[%d, %d], [%d, %d]], "
             "\"Input Strides\": [[%d, 1], [%d, 1]], \"Concrete Inputs\": [\"\", \"\"]",
             type, type, rows, inner, inner, columns, inner, columns);
}

static work_class product_class(void) {
    return has(PLANT_no_tensor_cores) ? GEMM_FP32 : has(PLANT_tf32) ? GEMM_TF32 : GEMM;
}

/* 300 µs for 4096 × 1024 × 4096, in proportion for others. */
static void product(int rows, int inner, int columns, double slower) {
    char more[400];
    double flops = (double)rows * inner * columns / (4096.0 * 1024 * 4096);
    product_text(more, sizeof more, rows, inner, columns);
    op("aten::mm", product_class(), (int64_t)(300 * US * flops * slower), more);
}

static bool has_short_kernels(void) {
    return has(PLANT_small_kernels) || has(PLANT_host_late);
}

/* ---- causes inside a layer ----------------------------------------------------------------- */

static void host_work(const char *name, int64_t ns) {
    int64_t start = now_ns;
    int around = open_op;
    open_op = external++;
    now_ns += about(ns);
    op_end(name, start, around, "");
}

static void read_value(int64_t after_ns) {
    int64_t start, inner;
    int around = op_begin(&start), item = op_begin(&inner);
    launch_by(COPY,
              (work){.name = "Memcpy DtoH (Device -> Pinned)", .ns = 2 * US, .stream = 7});
    wait_in(run.device == ROCM  ? "hipStreamSynchronize"
            : run.device == NPU ? "AscendCL@aclrtSynchronizeStream"
                                : "cudaStreamSynchronize");
    op_end("aten::_local_scalar_dense", inner, item, "");
    op_end("aten::item", start, around, "");
    host_work("aten::topk", after_ns);
}

static void odd_kernels(int layer) {
    char name[160];
    if (has(PLANT_small_grid))
        launch_by(LAUNCH, (work){.class = TINY_GRID,
                                 .ns = about(250 * US),
                                 .stream = 7,
                                 .blocks = 0.1,
                                 .occupancy = 0.02});
    for (int i = 0; i < 4 && has(PLANT_few_blocks); i++) {
        snprintf(name, sizeof name, "void my_kernel_%d<float>(float*)", layer * 4 + i);
        launch_by(LAUNCH, (work){.name = name,
                                 .ns = about(700 * US),
                                 .stream = 7,
                                 .blocks = 0.2,
                                 .occupancy = 0.05});
    }
    if (has(PLANT_low_occupancy))
        launch_by(LAUNCH, (work){.name = "void my_stencil<float>(float*, float*)",
                                 .ns = about(350 * US),
                                 .stream = 7,
                                 .blocks = 20,
                                 .occupancy = 0.06});
    if (has(PLANT_layout)) launch(LAYOUT, 120 * US);
    if (has(PLANT_odd_dimension)) {
        product(4096, 768, 1024, 1);
        product(4096, 768, 1019, 2.5);
    }
    if (has(PLANT_dependency)) stall_ns = about(300 * US);
}

/* A copy from memory the device can read, and the host waits for it all the same. */
static void copy_and_wait(void) {
    int64_t start = now_ns;
    now_ns = last_work() > now_ns ? last_work() : now_ns;
    put((work){.name = "Memcpy HtoD (Pinned -> Device)", .ns = about(900 * US), .stream = 7},
        correlation);
    now_ns = last_work() + 5 * US;
    call(call_name(COPY_WAITS), start, now_ns - start, correlation++);
}

static void plant_in_layer(int layer) {
    odd_kernels(layer);
    if (has(PLANT_blocking_sync)) {
        wait_in(call_name(WAIT_ALL));
        host_work("aten::unique", 250 * US);
    }
    if (has(PLANT_item_sync)) read_value(200 * US);
    if (has(PLANT_sync_copy) && layer % 4 == 0) copy_and_wait();
    if (has(PLANT_allocator)) {
        int64_t start = now_ns;
        now_ns += about(900 * US);
        call(call_name(ALLOCATE), start, now_ns - start, correlation++);
    }
}

/* ---- a step -------------------------------------------------------------------------------- */

static void forward(void) {
    int64_t start = now_ns;
    int n = has(PLANT_small_kernels) ? 14 : 1;
    for (int l = 0; l < LAYERS; l++) {
        int64_t elementwise = has(PLANT_small_kernels) ? 4 * US
                              : has_short_kernels()    ? 25 * US
                                                       : 60 * US;
        if (has_short_kernels())
            op("aten::mm", GEMM, elementwise, "");
        else
            product(4096, 1024, 4096, 1);
        for (int i = 0; i < n; i++) op("aten::gelu", ELEMENTWISE, elementwise, "");
        op("aten::native_layer_norm", NORM, elementwise, "");
        plant_in_layer(l);
    }
    if (has(PLANT_gloo) || has(PLANT_exposed) || run.neighbors)
        range("user_annotation", "DistributedDataParallel.forward", start, "");
    if (has(PLANT_data_parallel)) {
        for (int l = 0; l < LAYERS; l++)
            launch_by(LAUNCH, (work){.class = GEMM,
                                     .ns = about(300 * US),
                                     .device = 1,
                                     .stream = 8,
                                     .blocks = 12,
                                     .occupancy = 0.6});
        range("user_annotation", "DataParallel.forward", start, "");
    }
}

/* A collective that its stream shares with nothing. */
static void all_reduce(int64_t ns) {
    int64_t start, from = free_ns[0][7 % N_STREAMS];
    int around = op_begin(&start);
    if (free_ns[0][20 % N_STREAMS] < from) free_ns[0][20 % N_STREAMS] = from;
    launch_by(LAUNCH, (work){.class = COLLECTIVE,
                             .ns = about(ns),
                             .stream = 20,
                             .blocks = 0.2,
                             .occupancy = 0.1});
    op_end("nccl:all_reduce", start, around, "");
}

static void backward(void) {
    int sequence = 0;
    thread = BACKWARD;
    for (int l = 0; l < LAYERS; l++) {
        char more[400], name[] = "autograd::engine::evaluate_function: MmBackward0";
        int64_t start;
        int around = op_begin(&start);
        if (has_short_kernels()) {
            op("aten::mm", GEMM, has(PLANT_small_kernels) ? 5 * US : 25 * US, "");
        } else {
            product(4096, 4096, 1024, 1);
            product(1024, 4096, 4096, 1);
        }
        snprintf(more, sizeof more, ", \"Sequence number\": %d, \"Fwd thread id\": 1",
                 100 + sequence++);
        op_end(name, start, around, more);
        if (run.neighbors && run.device != CPU && !has(PLANT_gloo) && l == 1)
            all_reduce(400 * US);
    }
    thread = MAIN;
    now_ns += 5 * US;
    if (has(PLANT_exposed)) {
        all_reduce((2500 + (int64_t)(run.seed % 4) * 500) * US);
        free_ns[0][7 % N_STREAMS] = free_ns[0][20 % N_STREAMS];
    }
    if (has(PLANT_gloo)) {
        int64_t start;
        wait_in(call_name(WAIT_EVENT));
        start = now_ns;
        now_ns += about(3 * MS);
        range("cpu_op", "gloo:all_reduce", start, "");
    }
}

static void optimizer(void) {
    static const char *const updates[] = {"aten::mul_", "aten::lerp_", "aten::addcmul_",
                                          "aten::addcdiv_"};
    int64_t start = now_ns;
    now_ns += 5 * US;
    if (has(PLANT_optimizer_loop))
        for (int i = 0; i < 280; i++) op(updates[i % 4], UPDATE, 6 * US, "");
    else
        for (int i = 0; i < 4; i++) op("aten::_fused_adamw_", FUSED_OPTIMIZER, 50 * US, "");
    range("user_annotation", "Optimizer.step#AdamW.step", start, "");
}

/* Sleeps until the device has been idle for `ns`. */
static void pause_for(int64_t ns) {
    int64_t done = last_work();
    now_ns = (done > now_ns ? done : now_ns) + about(ns);
}

static void load(void) {
    int64_t start = now_ns, slow = 2500 * US + (int64_t)(run.seed % 3) * MS;
    bool late = has(PLANT_loader_slow) || has(PLANT_loader_in_process);
    if (has(PLANT_loader_unmarked)) {
        pause_for(slow);
        return;
    }
    if (late && run.device != CPU)
        pause_for(slow);
    else
        now_ns += late ? about(4 * slow) : about(40 * US);
    range("user_annotation",
          has(PLANT_loader_in_process)
              ? "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
              : "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
          start, "");
}

static void copy_batch(void) {
    bool pageable = has(PLANT_pageable_copy);
    int64_t start, inner;
    if (run.device == NPU || run.device == CPU) return;
    int around = op_begin(&start), copy = op_begin(&inner);
    if (pageable) { /* the host waits until such a copy is done */
        int64_t from = now_ns;
        now_ns = last_work() > now_ns ? last_work() : now_ns;
        put((work){.name = "Memcpy HtoD (Pageable -> Device)",
                   .ns = about(1500 * US),
                   .stream = 7},
            correlation);
        call(call_name(COPY), from, last_work() - from, correlation++);
        now_ns = last_work();
    } else {
        launch_by(COPY, (work){.name = "Memcpy HtoD (Pinned -> Device)",
                               .ns = has(PLANT_exposed_copy) ? about(4000 * US) : 20 * US,
                               .stream = 7});
    }
    if (run.neighbors)
        launch_by(
            COPY,
            (work){.name = "Memcpy HtoD (Pageable -> Device)", .ns = 3 * US, .stream = 7});
    op_end("aten::copy_", inner, copy,
           ", \"Input type\": [\"float\", \"float\"], "
           "\"Input Dims\": [[64, 1024], [64, 1024]]");
    op_end("aten::to", start, around, "");
}

static void memory_at(int64_t allocated, int64_t reserved) {
    if (run.device == NPU || run.device == CPU) return;
    event(
        "{\"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"name\": \"[memory]\", \"s\": \"t\", "
        "\"pid\": 100, \"tid\": %d, \"ts\": %s, \"args\": {\"Device Type\": %d, "
        "\"Device Id\": 0, \"Bytes\": 1048576, \"Addr\": %d, \"Total Allocated\": %" PRId64
        ", \"Total Reserved\": %" PRId64 "}}",
        thread, us_text(now_ns), run.device == ROCM ? 6 : 1, 4096 * correlation, allocated,
        reserved);
}

static void memory(void) {
    const int64_t gib = (int64_t)1 << 30;
    int64_t used = has(PLANT_memory_full)     ? (75 + (int64_t)(run.seed % 3)) * gib
                   : has(PLANT_fragmentation) ? 20 * gib
                                              : 40 * gib;
    memory_at(used / 2, used);
    memory_at(used, has(PLANT_fragmentation) ? 60 * gib : used + gib);
}

static void frames(void) {
    for (int i = 0; i < 12000; i++) {
        event("{\"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"model.py(%d): f\", "
              "\"pid\": 100, \"tid\": %d, \"ts\": %s, \"dur\": 0.8, \"args\": {\"Python id\": "
              "%d, "
              "\"Python parent id\": null}}",
              i % 50, thread, us_text(now_ns), i + 1);
        now_ns += US;
    }
}

/* What launches all kernels of a step at once. */
static void replay(void) {
    int64_t start, dur = about(40 * US);
    if (has(PLANT_host_late)) host_work("aten::multinomial", 2 * MS);
    start = now_ns;
    graph_call = correlation++;
    now_ns += dur;
    forward();
    if (!has(PLANT_none) || run.seed % 2) backward();
    call(run.device == ROCM ? "hipGraphLaunch" : "cudaGraphLaunch", start, dur, graph_call);
    graph_call = 0;
}

static void extra_host_work(int step) {
    bool one = has(PLANT_long_step) && step == run.steps / 2;
    if (!one && !(has(PLANT_first_step) && step == 0)) return;
    host_work(one ? "aten::save" : "aten::cudnn_init", 12 * MS);
}

/* A request's next token: a lookup of one token for each of 8 requests, and what follows. */
static void look_up(int step) {
    char more[200];
    int tokens = step == 0 ? 128 : 1;
    snprintf(more, sizeof more,
             ", \"Input Dims\": [[32000, 1024], [8, %d]], \"Input type\": [\"c10::BFloat16\", "
             "\"long int\"]",
             tokens);
    op("aten::embedding", ELEMENTWISE, 10 * US, more);
}

static void body(int step) {
    extra_host_work(step);
    if (has(PLANT_frames)) frames();
    if (run.mode != SERVE) load();
    memory();
    copy_batch();
    if (run.mode == GRAPH) {
        replay();
        return;
    }
    if (run.mode == SERVE) look_up(step);
    forward();
    if (run.mode == TRAIN || run.mode == COMPILED) backward();
    if (has(PLANT_pause)) pause_for(2500 * US);
    if (run.mode == TRAIN || run.mode == COMPILED) optimizer();
}

/* The host may be so much ahead: a metric of the step before is read then. */
static void keep_near(void) {
    int64_t lead = 2 * MS, start = now_ns, done = last_work();
    if (run.device == CPU || done - now_ns <= lead) return;
    now_ns = done - lead;
    call(call_name(WAIT_EVENT), start, now_ns - start, correlation++);
}

static void step(int number) {
    char name[32];
    int64_t start = now_ns;
    now_ns += 4 * US;
    body(number);
    keep_near();
    snprintf(name, sizeof name, "ProfilerStep#%d", number);
    if (!run.no_marks) range("user_annotation", name, start, "");
    now_ns += 6 * US;
}

/* ---- files --------------------------------------------------------------------------------- */

static void process(int pid, const char *name) {
    event("{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": %d, \"tid\": 0, \"args\": "
          "{\"name\": \"%s\"}}",
          pid, name);
}

static void head(void) {
    if (run.device == NPU) {
        printf("[");
        process(100, "Python");
        process(200, "CANN");
        process(800, "Ascend Hardware");
        return;
    }
    printf("{\"schemaVersion\": 1, \"record_shapes\": 1, \"profile_memory\": 1");
    if (run.device == CUDA)
        printf(
            ", \"cuda_runtime_version\": 12080, \"deviceProperties\": [{\"id\": 0, \"name\": "
            "\"NVIDIA H100 80GB HBM3\", \"totalGlobalMem\": 85899345920, \"computeMajor\": 9, "
            "\"computeMinor\": 0, \"maxThreadsPerBlock\": 1024, "
            "\"maxThreadsPerMultiprocessor\": 2048, \"warpSize\": 32, \"numSms\": 132}]");
    if (run.device == ROCM)
        printf(
            ", \"hip_runtime_version\": 60443483, \"deviceProperties\": [{\"id\": 0, \"name\": "
            "\"AMD Instinct MI300X\", \"totalGlobalMem\": 85899345920, \"computeMajor\": 9, "
            "\"computeMinor\": 4, \"maxThreadsPerBlock\": 1024, "
            "\"maxThreadsPerMultiprocessor\": 2048, \"warpSize\": 64, \"numSms\": 304}]");
    printf(", \"traceEvents\": [");
}

static int choose(const char *const *names, int n, const char *value) {
    for (int i = 0; i < n && value; i++)
        if (strcmp(names[i], value) == 0) return i;
    fprintf(stderr, "gentrace plant: one of");
    for (int i = 0; i < n; i++) fprintf(stderr, " %s", names[i]);
    fprintf(stderr, "\n");
    exit(1);
}

/* One cause, or several with commas between. */
static void set_causes(const char *list) {
    char *text = list ? strdup(list) : NULL;
    for (char *word = text ? strtok(text, ",") : NULL; word || !run.n_causes;
         word = strtok(NULL, ",")) {
        run.cause[choose(plant_names, N_PLANTS, word)] = true;
        run.n_causes++;
    }
    free(text);
}

static void parse(int argc, char **argv) {
    set_causes(argc > 2 ? argv[2] : NULL);
    for (int i = 3; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--neighbors") == 0) {
            run.neighbors = true;
        } else if (strcmp(argv[i], "--no-marks") == 0) {
            run.no_marks = true;
        } else if (value && strcmp(argv[i], "--device") == 0) {
            run.device = (device_kind)choose(device_names, N_DEVICES, argv[++i]);
        } else if (value && strcmp(argv[i], "--mode") == 0) {
            run.mode = (run_mode)choose(mode_names, N_MODES, argv[++i]);
        } else if (value && strcmp(argv[i], "--steps") == 0) {
            run.steps = atoi(argv[++i]);
        } else if (value && strcmp(argv[i], "--seed") == 0) {
            run.seed = strtoull(argv[++i], NULL, 10);
        } else {
            fprintf(stderr, "gentrace plant: unknown option %s\n", argv[i]);
            exit(1);
        }
    }
    state = run.seed * 7919;
}

int gentrace_plant(int argc, char **argv) {
    parse(argc, argv);
    head();
    if (has(PLANT_setup_before)) host_work("aten::load_weights", 300 * MS);
    for (int i = 0; i < run.steps; i++) step(i);
    printf(run.device == NPU ? "\n]\n" : "\n]}\n");
    return fflush(stdout) != 0;
}
