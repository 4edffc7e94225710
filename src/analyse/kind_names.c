/* kind_names.c: names of kinds and devices.
 *
 * The words of the result columns that are part of the contract with programs: they never
 * change with the language and never leave this table. CUDA and HIP devices are both called
 * GPU, as their users do; a type we do not know is named after nothing else than being a
 * device.
 *
 * It does not translate: what a person reads about a column is its help in text/. */
#include "analyse/kind_names.h"
#include "store/traits.h"

static const str kinds[N_KINDS] = {
    [KIND_OTHER] = {"other", sizeof "other" - 1},
    [KIND_SPAN] = {"span", sizeof "span" - 1},
    [KIND_STEP] = {"step", sizeof "step" - 1},
    [KIND_ANNOTATION] = {"annotation", sizeof "annotation" - 1},
    [KIND_PYTHON] = {"python", sizeof "python" - 1},
    [KIND_MODULE] = {"module", sizeof "module" - 1},
    [KIND_DATA] = {"data_loading", sizeof "data_loading" - 1},
    [KIND_FORWARD] = {"forward", sizeof "forward" - 1},
    [KIND_BACKWARD] = {"backward", sizeof "backward" - 1},
    [KIND_OPTIMIZER] = {"optimizer", sizeof "optimizer" - 1},
    [KIND_OP] = {"op", sizeof "op" - 1},
    [KIND_COLLECTIVE] = {"collective", sizeof "collective" - 1},
    [KIND_RUNTIME] = {"runtime", sizeof "runtime" - 1},
    [KIND_DRIVER] = {"driver", sizeof "driver" - 1},
    [KIND_SYNC] = {"sync", sizeof "sync" - 1},
    [KIND_OVERHEAD] = {"overhead", sizeof "overhead" - 1},
    [KIND_DEVICE_ANNOTATION] = {"device_annotation", sizeof "device_annotation" - 1},
    [KIND_KERNEL] = {"kernel", sizeof "kernel" - 1},
    [KIND_MEMCPY] = {"memcpy", sizeof "memcpy" - 1},
    [KIND_MEMSET] = {"memset", sizeof "memset" - 1},
    [KIND_ASYNC] = {"async", sizeof "async" - 1},
    [KIND_OP_PHASE] = {"op_phase", sizeof "op_phase" - 1},
    [KIND_FRAMEWORK] = {"framework", sizeof "framework" - 1},
    [KIND_GARBAGE] = {"garbage", sizeof "garbage" - 1},
    [KIND_COMPILE] = {"compile", sizeof "compile" - 1},
    [KIND_IMPORT] = {"import", sizeof "import" - 1},
};

str kind_name(uint8_t kind) {
    return kind < N_KINDS && kinds[kind].p ? kinds[kind] : kinds[KIND_OTHER];
}

static const struct {
    uint8_t type;
    const char *name;
} devices[] = {
    {DEVICE_CUDA, "GPU"},  {DEVICE_HIP, "HIP"},
    {DEVICE_XPU, "XPU"},   {DEVICE_MPS, "MPS"},
    {DEVICE_HPU, "HPU"},   {DEVICE_MTIA, "MTIA"},
    {DEVICE_MLU, "MLU"},   {DEVICE_ASCEND, "NPU"},
    {DEVICE_MUSA, "MUSA"}, {DEVICE_PRIVATE, "PrivateUse"},
};

str device_word(const trace *t, uint8_t type) {
    if (type == DEVICE_CPU) return STR("CPU");
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if (devices[i].type == type) return str_of(devices[i].name);
    if (type < DEVICE_NAMED || type == DEVICE_UNKNOWN) return STR("Device");
    for (uint32_t i = 1; i < t->device_word.n; i++)
        if (t->device_word.type[i] == type && t->device_word.name[i])
            return trace_str(t, t->device_word.name[i]);
    return STR("Device");
}

str step_source(uint8_t how) {
    static const char *const names[N_STEP_HOW] = {[STEP_MARKED] = "marked",
                                                  [STEP_BY_OPTIMIZER] = "optimizer",
                                                  [STEP_BY_RANGE] = "range",
                                                  [STEP_BY_KERNELS] = "kernels",
                                                  [STEP_BY_OPERATORS] = "operators"};
    return str_of(names[how < N_STEP_HOW ? how : STEP_MARKED]);
}

str device_word_of_work(const trace *t) {
    return device_word(t, t->device.n > 1 ? t->device.type[1] : (uint8_t)DEVICE_CUDA);
}

bool device_is_cpu(const trace *t) {
    return t->device.n > 1 && str_eq(device_word_of_work(t), STR("CPU"));
}

str device_noun(const trace *t) {
    if (t->device.n <= 1) return STR("device");
    uint8_t type = t->device.type[1];
    if (type == DEVICE_HIP || type == DEVICE_MPS) return STR("GPU");
    str word = device_word(t, type);
    return str_eq(word, STR("Device")) || type == DEVICE_PRIVATE ? STR("device") : word;
}

/* HIP devices come as CUDA's: their names, the runtime's version and the width of a wave
 * tell. */
static bool is_amd(const trace *t) {
    static const str names[] = {STR("AMD"), STR("Radeon"), STR("Instinct"), STR("gfx")};
    if (t->device.n > 1 && t->device.type[1] == DEVICE_HIP) return true;
    if (t->device.n > 1 && t->device.warp_size[1] == 64) return true;
    if (trace_fact(t, FACT_HIP_RUNTIME).n) return true;
    str name = t->device.n > 1 ? trace_str(t, t->device.name[1]) : STR_NONE;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_find(name, names[i], 0) != SIZE_MAX) return true;
    return false;
}

typedef struct {
    uint8_t type;
    const char *unit, *matrix, *module, *graphs, *allocator;
} device_parts;

static const device_parts parts[] = {
    {DEVICE_CUDA, "SM", "Tensor Core", "cuda", "CUDA graphs", "PYTORCH_CUDA_ALLOC_CONF"},
    {DEVICE_HIP, "CU", "Matrix Core", "cuda", "HIP graphs", "PYTORCH_HIP_ALLOC_CONF"},
    {DEVICE_XPU, "Xe core", "XMX engine", "xpu", "", ""},
    {DEVICE_ASCEND, "AI Core", "Cube unit", "npu", "", "PYTORCH_NPU_ALLOC_CONF"},
    {DEVICE_HPU, "TPC", "MME", "hpu", "", ""},
    {DEVICE_MLU, "core", "matrix unit", "mlu", "", ""},
    {DEVICE_MTIA, "PE", "matrix unit", "mtia", "", ""},
    {DEVICE_MUSA, "MP", "Tensor Core", "musa", "", ""},
};

/* NULL: its words are unknown. */
static const device_parts *parts_of(const trace *t) {
    uint8_t type = t->device.n > 1 ? t->device.type[1] : (uint8_t)DEVICE_CUDA;
    if (type == DEVICE_CUDA && is_amd(t)) type = DEVICE_HIP;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].type == type) return &parts[i];
    return NULL;
}

str device_unit(const trace *t) {
    const device_parts *p = parts_of(t);
    return p ? str_of(p->unit) : STR("core");
}

str device_matrix_unit(const trace *t) {
    const device_parts *p = parts_of(t);
    return p ? str_of(p->matrix) : STR("matrix unit");
}

str device_module(const trace *t) {
    const device_parts *p = parts_of(t);
    return p ? str_of(p->module) : STR("accelerator");
}

str device_graphs(const trace *t) {
    const device_parts *p = parts_of(t);
    return p ? str_of(p->graphs) : STR_NONE;
}

str device_allocator(const trace *t) {
    const device_parts *p = parts_of(t);
    return p ? str_of(p->allocator) : STR_NONE;
}

str device_name(const trace *t, arena *a, uint8_t type, int32_t id) {
    str word = device_word(t, type);
    if (id < 0 || type == DEVICE_CPU) return word;
    bool named = type >= DEVICE_NAMED && type != DEVICE_UNKNOWN;
    return arena_printf(a, "%.*s%s%d", STR_ARG(word), named ? ":" : "", (int)id);
}

/* Frames that only carry a kernel given as their first template argument. */
static bool is_wrapper(str base) {
    static const str wrappers[] = {STR("cutlass::Kernel"), STR("cutlass::Kernel2"),
                                   STR("cutlass::device_kernel")};
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++)
        if (str_eq(base, wrappers[i])) return true;
    return false;
}

/* The first template argument of what follows '<'. */
static str first_argument(str rest) {
    int depth = 0;
    for (size_t i = 0; i < rest.n; i++) {
        char c = rest.p[i];
        if ((c == ',' || c == '>') && depth == 0) return str_n(rest.p, i);
        depth += c == '<' || c == '(';
        depth -= c == '>' || c == ')';
    }
    return rest;
}

/* Where the name proper ends: at its template or parameter list. "(anonymous namespace)::f"
 * has a bracket that belongs to it. */
static size_t name_end(str s) {
    for (size_t i = 1; i < s.n; i++) {
        bool own = s.p[i] == '(' && str_starts(str_from(s, i), STR("(anonymous"));
        if (!own && (s.p[i] == '<' || s.p[i] == '(')) return i;
    }
    return s.n;
}

str kernel_short_name(str name) {
    str s = str_starts(name, STR("void ")) ? str_from(name, 5) : name;
    for (;;) {
        size_t end = name_end(s);
        str base = str_n(s.p, end);
        if (end == s.n || s.p[end] != '<' || !is_wrapper(base)) return base;
        str inner = first_argument(str_from(s, end + 1));
        if (!inner.n) return base;
        s = inner;
    }
}

copy_way copy_way_of(str name) {
    static const char *const to_device[] = {"htod", "h2d", "hosttodevice", "host to device"};
    static const char *const to_host[] = {"dtoh", "d2h", "devicetohost", "device to host"};
    if (str_has_any_nocase(name, to_device, sizeof to_device / sizeof *to_device))
        return COPY_TO_DEVICE;
    if (str_has_any_nocase(name, to_host, sizeof to_host / sizeof *to_host))
        return COPY_TO_HOST;
    return COPY_ELSEWHERE;
}
