/* perfetto_words.c: what categories and arguments mean: those of rocprofv3, those of PyTorch's
 * profiler, and those that tacho's own export adds ("tacho.step"). The rest is as in any file
 * of trace events. */
#include "base/mem.h"
#include "ingest/perfetto/perfetto_int.h"
#include "ingest/pytorch/kineto.h"
#include "ingest/rocm/rocm.h"

static void *new_state(builder *b, part *p) {
    (void)b;
    (void)p;
    return mem_zalloc(sizeof(perfetto_state));
}

static uint8_t find_field(str key) {
    static const event_word own[] = {{STR("corr_id"), FIELD_CORRELATION},
                                     {STR("copy_bytes"), FIELD_BYTES},
                                     {STR("group_segment_size"), FIELD_SHARED_MEMORY},
                                     {STR("src_agent"), FIELD_AGENT_FROM},
                                     {STR("grid_size"), FIELD_GRID_SIZE},
                                     {STR("workgroup_size"), FIELD_GROUP_SIZE_ITEMS},
                                     {STR("begin_ns"), FIELD_SKIPPED},
                                     {STR("end_ns"), FIELD_SKIPPED},
                                     {STR("delta_ns"), FIELD_SKIPPED}};
    uint8_t field = event_find_word(own, N_OF(own), key);
    return field ? field : trace_event_field(key);
}

static const event_word ROCM[] = {
    {STR("kernel_dispatch"), CLASS_KERNEL},  {STR("memory_copy"), CLASS_MEMCPY},
    {STR("hip_api"), CLASS_RUNTIME},         {STR("hsa_api"), CLASS_DRIVER},
    {STR("marker_api"), CLASS_ANNOTATION},   {STR("rccl_api"), CLASS_FRAMEWORK},
    {STR("rocdecode_api"), CLASS_FRAMEWORK}, {STR("rocjpeg_api"), CLASS_FRAMEWORK},
};

static uint8_t find_class(event_sink *s, str category) {
    perfetto_state *st = s->state;
    uint8_t class = event_find_word(ROCM, N_OF(ROCM), category);
    if (class) {
        st->rocm = true;
        return class;
    }
    class = kineto_class(category);
    /* Other words anybody may use. */
    if (str_eq(category, STR("cpu_op")) || str_eq(category, STR("cuda_runtime")) ||
        str_eq(category, STR("user_annotation")) || str_eq(category, STR("python_function")))
        st->pytorch = true;
    return class;
}

uint8_t perfetto_kind(str category) {
    static const struct {
        str word;
        uint8_t kind;
    } words[] = {{STR("other"), KIND_OTHER},
                 {STR("span"), KIND_SPAN},
                 {STR("step"), KIND_STEP},
                 {STR("annotation"), KIND_ANNOTATION},
                 {STR("python"), KIND_PYTHON},
                 {STR("module"), KIND_MODULE},
                 {STR("data_loading"), KIND_DATA},
                 {STR("forward"), KIND_FORWARD},
                 {STR("backward"), KIND_BACKWARD},
                 {STR("optimizer"), KIND_OPTIMIZER},
                 {STR("op"), KIND_OP},
                 {STR("collective"), KIND_COLLECTIVE},
                 {STR("runtime"), KIND_RUNTIME},
                 {STR("driver"), KIND_DRIVER},
                 {STR("sync"), KIND_SYNC},
                 {STR("overhead"), KIND_OVERHEAD},
                 {STR("device_annotation"), KIND_DEVICE_ANNOTATION},
                 {STR("kernel"), KIND_KERNEL},
                 {STR("memcpy"), KIND_MEMCPY},
                 {STR("memset"), KIND_MEMSET},
                 {STR("async"), KIND_ASYNC},
                 {STR("op_phase"), KIND_OP_PHASE},
                 {STR("framework"), KIND_FRAMEWORK},
                 {STR("garbage"), KIND_GARBAGE},
                 {STR("compile"), KIND_COMPILE},
                 {STR("import"), KIND_IMPORT}};
    static const str front = STR("tacho.");
    if (!str_starts(category, front)) return N_KINDS;
    for (size_t i = 0; i < N_OF(words); i++)
        if (str_eq(str_from(category, front.n), words[i].word)) return words[i].kind;
    return N_KINDS;
}

/* ---- hooks ---- */

/* A kernel's name without what AMD's compiler adds, a copy's in the words of all. */
static uint32_t rocm_name(event_sink *s, const raw_slice *row) {
    perfetto_state *st = s->state;
    uint32_t *at = map_at(st->names, (uint64_t)row->kind << 32 | row->name);
    if (!at) return UINT32_MAX;
    if (*at == MAP_NONE) {
        str name = intern_get(s->strings, row->name);
        *at = 0;
        uint32_t id = intern_add(s->strings, row->kind == KIND_KERNEL ? rocm_kernel_name(name)
                                                                      : rocm_copy_name(name));
        if (id == UINT32_MAX) return id;
        *at = id;
    }
    return *at;
}

static status fill_slice(event_sink *s, const event *e, raw_slice *row) {
    perfetto_state *st = s->state;
    (void)e;
    if (st->kind != N_KINDS) row->kind = st->kind;
    if (!st->rocm || !kind_is_device(row->kind)) return OK;
    row->name = rocm_name(s, row);
    return row->name == UINT32_MAX ? ERR_MEMORY : OK;
}

/* rocprofv3 tells how many items there are, not in which shape. */
static void fill_grid(event_sink *s, const event *e, raw_kernel *kernel) {
    int64_t items = event_int(s, e, FIELD_GRID_SIZE, 0),
            group = event_int(s, e, FIELD_GROUP_SIZE_ITEMS, 0);
    if (items <= 0 || group <= 0) return;
    kernel->block[0] = sat_u32((uint64_t)group);
    kernel->grid[0] = sat_u32((uint64_t)((items - 1) / group + 1));
    for (int i = 1; i < 3; i++) kernel->block[i] = kernel->grid[i] = 1;
}

static void fill_kernel(event_sink *s, const event *e, raw_kernel *kernel) {
    perfetto_state *st = s->state;
    /* The process of a track is a process: it is not the device's number, as elsewhere. */
    if (st->device != ABSENT_I32 || !event_has(e, FIELD_DEVICE))
        kernel->device = st->device == ABSENT_I32 ? 0 : st->device;
    if (st->stream != ABSENT_I64) kernel->stream = st->stream;
    fill_grid(s, e, kernel);
}

static status finish(builder *b, const event_root *root, event_sink *const *sinks, int n,
                     error *err) {
    const perfetto_state *st = sinks[0]->state;
    (void)root;
    (void)n;
    (void)err;
    builder_set_format(b, st->rocm      ? "perfetto_rocm"
                          : st->pytorch ? "perfetto_pytorch"
                                        : "perfetto");
    builder_set_external_may_be_correlation(b, st->pytorch);
    builder_set_other_is_op(b, !st->rocm && !st->pytorch && !st->ours);
    return OK;
}

static const dialect PERFETTO = {
    .field_of = find_field,
    .class_of = find_class,
    .new_state = new_state,
    .free_state = mem_free,
    .take = trace_event_take,
    .hooks = {.fill_slice = fill_slice, .fill_kernel = fill_kernel},
    .one_thread = true,
    .finish = finish,
};

const dialect *perfetto_dialect(void) {
    return &PERFETTO;
}
