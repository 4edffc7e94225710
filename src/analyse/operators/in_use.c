/* in_use.c: one pass over the slices, by what lexicon.def says their names mean.
 *
 * Three things are seen by more than a name. Autocast: a matrix product or convolution casts
 * its inputs itself (`aten::to` inside `aten::addmm`, with a copy inside). A PyTorch before
 * 1.11: a cast copies without `aten::_to_copy` in between. The caching allocator is off: the
 * driver allocates about as often as operators make tensors. */
#include "analyse/operators/in_use.h"

#include "analyse/kind_names.h"
#include "analyse/lexicon.h"
#include "base/num.h"

/* Fewer calls of the driver are the first step of a cache. */
enum { FEW_MALLOCS = 50, FEW_SOFTMAX = 4 };

static const struct {
    use_kind use;
    uint64_t means;
} signs[] = {
    {USE_COMPILER, MEANING(COMPILED)},
    {USE_GRAPHS, MEANING(REPLAYS)},
    {USE_FUSED_OPTIMIZER, MEANING(FUSED_OPTIMIZER)},
    {USE_FOREACH_OPTIMIZER, MEANING(FOREACH_OPTIMIZER)},
    {USE_AUTOCAST, MEANING(AUTOCASTS)},
    {USE_PINNED_COPIES, MEANING(COPIES_PINNED)},
    {USE_PAGEABLE_COPIES, MEANING(COPIES_PAGEABLE)},
    {USE_CHANNELS_LAST, MEANING(CHANNELS_LAST)},
    {USE_LOADER_WORKERS, MEANING(WORKER_LOADER)},
    {USE_LOADER_IN_PROCESS, MEANING(SINGLE_LOADER)},
    {USE_DEVICE_MALLOC, MEANING(DEVICE_MALLOC)},
    {USE_CHECKPOINTING, MEANING(CHECKPOINTS)},
    {USE_DDP, MEANING(DISTRIBUTED)},
    {USE_FSDP, MEANING(FSDP)},
    {USE_ZERO, MEANING(ZERO)},
    {USE_FUSED_ATTENTION, MEANING(FUSED_ATTENTION)},
    {USE_CUDNN_ATTENTION, MEANING(CUDNN_ATTENTION)},
    {USE_UNFUSED_ATTENTION, MEANING(UNFUSED_ATTENTION)},
    {USE_PYTORCH_1, MEANING(OLD_PYTORCH)},
};

/* Names of these say what is in use. */
static const bool is_named[N_KINDS] = {
    [KIND_OP] = true,        [KIND_ANNOTATION] = true, [KIND_DATA] = true,
    [KIND_RUNTIME] = true,   [KIND_DRIVER] = true,     [KIND_FORWARD] = true,
    [KIND_BACKWARD] = true,  [KIND_OPTIMIZER] = true,  [KIND_KERNEL] = true,
    [KIND_MEMCPY] = true,    [KIND_MODULE] = true,     [KIND_PYTHON] = true,
    [KIND_FRAMEWORK] = true,
};

typedef struct {
    const trace *t;
    name_meanings means;
    uint8_t *frames; /* by string id: 1 says nothing, 2 checkpoints activations */
    in_use *out;
    int64_t n_empty, n_softmax, n_batched; /* operators that make tensors, … */
    uint32_t softmax;                      /* slice of the first */
    uint64_t signs;                        /* all meanings of the table above */
} scan;

/* Meanings that are looked at besides. */
#define COUNTED                                                             \
    (MEANING(COPIES_CAST) | MEANING(COPIES_TENSOR) | MEANING(MAKES_EMPTY) | \
     MEANING(BATCHED_PRODUCT) | MEANING(SOFTMAX))

/* Frames are many, and few of them say anything. */
static bool is_checkpoint_frame(scan *s, uint32_t slice) {
    uint32_t name = s->t->slice.name[slice];
    if (name >= s->t->n_strings) return false;
    if (!s->frames[name])
        s->frames[name] = lexicon_means(trace_str(s->t, name), MEANS_CHECKPOINTS) ? 2 : 1;
    return s->frames[name] == 2;
}

/* Operators and ranges are better known than kernels. */
static void add_use(scan *s, use_kind u, uint32_t slice) {
    const uint8_t *kind = s->t->slice.kind;
    uint32_t *first = &s->out->slice[u];
    if (!s->out->n[u]++ || (kind_is_device(kind[*first]) && !kind_is_device(kind[slice])))
        *first = slice;
}

/* The operator around a slice; 0: none. */
static uint32_t outer_op(const scan *s, uint32_t slice) {
    uint32_t parent = s->t->slice.parent[slice];
    return s->t->slice.kind[parent] == KIND_OP ? parent : 0;
}

/* What the operators around a copy tell: the one that casts, and the one that casts its inputs.
 * A cast that copies nothing does not count. */
static void look_around(scan *s, uint32_t slice, uint64_t means) {
    uint32_t cast = outer_op(s, slice);
    if (!cast || !(name_meanings_of(&s->means, cast) & MEANING(CASTS))) return;
    uint32_t product = outer_op(s, cast);
    if (means & MEANING(COPIES_TENSOR)) add_use(s, USE_PYTORCH_1, slice);
    if (product && name_meanings_of(&s->means, product) & MEANING(CASTS_INPUTS))
        add_use(s, USE_AUTOCAST, product);
}

static void look_at(scan *s, uint32_t slice) {
    uint8_t kind = s->t->slice.kind[slice];
    if (!is_named[kind]) return;
    if (kind == KIND_PYTHON) {
        if (is_checkpoint_frame(s, slice)) add_use(s, USE_CHECKPOINTING, slice);
        return;
    }
    uint64_t means = name_meanings_of(&s->means, slice);
    s->out->trains |=
        kind == KIND_BACKWARD || kind == KIND_OPTIMIZER || means & MEANING(TRAINS);
    s->out->pytorch |= (means & MEANING(OF_PYTORCH)) != 0;
    if (!(means & (s->signs | COUNTED))) return; /* of most slices nothing more is looked at */
    for (size_t i = 0; i < N_OF(signs) && means & s->signs; i++)
        if (means & signs[i].means) add_use(s, signs[i].use, slice);
    if (means & (MEANING(COPIES_CAST) | MEANING(COPIES_TENSOR))) look_around(s, slice, means);
    s->n_empty += (means & MEANING(MAKES_EMPTY)) != 0;
    s->n_batched += (means & MEANING(BATCHED_PRODUCT)) != 0;
    if (means & MEANING(SOFTMAX) && !s->n_softmax++) s->softmax = slice;
}

/* Attention in parts has two batched products around every softmax; the one of a classifier at
 * the end has none. */
static void judge(scan *s) {
    in_use *u = s->out;
    bool fused = u->n[USE_FUSED_ATTENTION] || u->n[USE_CUDNN_ATTENTION];
    if (!fused && !u->n[USE_UNFUSED_ATTENTION] && s->n_softmax >= FEW_SOFTMAX &&
        s->n_batched >= add_i64(s->n_softmax, s->n_softmax / 2)) {
        u->n[USE_UNFUSED_ATTENTION] = s->n_softmax;
        u->slice[USE_UNFUSED_ATTENTION] = s->softmax;
    }
    if (u->n[USE_DEVICE_MALLOC] < FEW_MALLOCS || u->n[USE_DEVICE_MALLOC] < s->n_empty / 2)
        u->n[USE_DEVICE_MALLOC] = 0;
    if (u->n[USE_COMPILER]) u->n[USE_PYTORCH_1] = 0;
    /* It generates code for GPUs and CPUs; NPUs and others need a backend of their maker. */
    str device = device_noun(s->t);
    bool generates = s->t->device.n <= 1 || str_eq(device, STR("GPU")) ||
                     str_eq(device, STR("CPU")) || str_eq(device, STR("device"));
    u->may_compile = generates && !u->n[USE_COMPILER] && !u->n[USE_PYTORCH_1];
    /* A fused optimizer counts its steps with one foreach operator. */
    if (u->n[USE_FUSED_OPTIMIZER]) u->n[USE_FOREACH_OPTIMIZER] = 0;
}

status in_use_find(const trace *t, arena *a, in_use *out, error *err) {
    *out = (in_use){0};
    TRY(trace_require(t, TRACE_TABLE(slice), err));
    scan s = {.t = t, .out = out};
    TRY(name_meanings_init(&s.means, t, a, err));
    s.frames = ARENA_ARRAY(a, uint8_t, (size_t)t->n_strings + 1);
    if (!s.frames) FAIL_MEMORY(err);
    for (size_t i = 0; i < N_OF(signs); i++) s.signs |= signs[i].means;
    for (uint32_t i = 1; i < t->slice.n; i++) look_at(&s, i);
    judge(&s);
    return OK;
}

str use_word(use_kind u) {
    static const char *const words[N_USES] = {
        [USE_COMPILER] = "torch_compile",
        [USE_GRAPHS] = "graphs",
        [USE_FUSED_OPTIMIZER] = "fused_optimizer",
        [USE_FOREACH_OPTIMIZER] = "foreach_optimizer",
        [USE_AUTOCAST] = "autocast",
        [USE_PINNED_COPIES] = "pinned_copies",
        [USE_PAGEABLE_COPIES] = "pageable_copies",
        [USE_CHANNELS_LAST] = "channels_last",
        [USE_LOADER_WORKERS] = "loader_workers",
        [USE_LOADER_IN_PROCESS] = "loader_in_process",
        [USE_DEVICE_MALLOC] = "allocator_without_cache",
        [USE_CHECKPOINTING] = "activation_checkpointing",
        [USE_DDP] = "ddp",
        [USE_FSDP] = "fsdp",
        [USE_ZERO] = "zero",
        [USE_FUSED_ATTENTION] = "fused_attention",
        [USE_CUDNN_ATTENTION] = "cudnn_attention",
        [USE_UNFUSED_ATTENTION] = "unfused_attention",
        [USE_PYTORCH_1] = "pytorch_1",
    };
    return str_of(words[u]);
}
