/* memory_phases.c: in which part of a step memory was allocated and released.
 *
 * Phases go from the outside in: a slice and a frame have the phase of what is around them,
 * unless they say themselves. Parents have smaller numbers, so one pass from the first to the
 * last is enough.
 *
 *     backward > a forward operator that autograd records again   checkpointing recomputes
 *
 * A data loader and a collective run at any time and end no pass; nor does what a checkpoint
 * computes again. */
#include "analyse/memory/memory_phases.h"

#include "analyse/lexicon.h"
#include "base/num.h"

/* ---- slices ------------------------------------------------------------------------------ */

static uint8_t phase_of_kind(uint8_t kind) {
    switch (kind) {
    case KIND_FORWARD:
    case KIND_MODULE: return MEMORY_PHASE_FORWARD;
    case KIND_BACKWARD: return MEMORY_PHASE_BACKWARD;
    case KIND_OPTIMIZER: return MEMORY_PHASE_OPTIMIZER;
    case KIND_DATA: return MEMORY_PHASE_LOAD;
    case KIND_COLLECTIVE: return MEMORY_PHASE_COMM;
    default: return MEMORY_PHASE_NONE;
    }
}

static uint8_t phase_of_row(const trace *t, uint32_t op) {
    switch (t->op.phase[op]) {
    case PHASE_DATA: return MEMORY_PHASE_LOAD;
    case PHASE_FORWARD: return MEMORY_PHASE_FORWARD;
    case PHASE_BACKWARD: return MEMORY_PHASE_BACKWARD;
    case PHASE_OPTIMIZER: return MEMORY_PHASE_OPTIMIZER;
    case PHASE_COMMUNICATION: return MEMORY_PHASE_COMM;
    default: break;
    }
    if (t->op.forward_thread[op] != ABSENT_I64 && t->op.forward_thread[op] > 0)
        return MEMORY_PHASE_BACKWARD;
    /* Autograd gives a number to what it records for a backward pass. */
    return t->op.sequence[op] != ABSENT_I64 ? MEMORY_PHASE_FORWARD : MEMORY_PHASE_NONE;
}

/* `op`: row of table op, 0 = none. */
static uint8_t own_phase(const trace *t, name_meanings *names, uint32_t slice, uint32_t op) {
    uint64_t means = name_meanings_of(names, slice);
    if (means & MEANING(ZEROES_GRADIENTS)) return MEMORY_PHASE_ZERO;
    if (means & MEANING(ENGINE)) return MEMORY_PHASE_BACKWARD;
    if (means & (MEANING(COLLECTIVE) | MEANING(GRAPH_COLLECTIVE))) return MEMORY_PHASE_COMM;
    uint8_t by_kind = phase_of_kind(t->slice.kind[slice]);
    if (by_kind || t->slice.kind[slice] != KIND_OP) return by_kind;
    if (means & MEANING(FUSED_OPTIMIZER)) return MEMORY_PHASE_OPTIMIZER;
    return op ? phase_of_row(t, op) : MEMORY_PHASE_NONE;
}

/* What is around decides what a phase inside means. */
static uint8_t join_phases(uint8_t outer, uint8_t own) {
    if (!own) return outer;
    bool backward = outer == MEMORY_PHASE_BACKWARD || outer == MEMORY_PHASE_RECOMPUTE;
    if (own == MEMORY_PHASE_FORWARD && backward) return MEMORY_PHASE_RECOMPUTE;
    /* What an optimizer or a loader computes does not belong to a forward pass. */
    bool wide = outer == MEMORY_PHASE_OPTIMIZER || outer == MEMORY_PHASE_ZERO ||
                outer == MEMORY_PHASE_LOAD;
    return own == MEMORY_PHASE_FORWARD && wide ? outer : own;
}

/* Adam keeps a mean and a variance for each weight, SGD at most a momentum. */
static int states_of(str name) {
    static const struct {
        const char *part;
        int states;
    } WORDS[] = {{"Adam", 2},    {"LAMB", 2},    {"Lamb", 2}, {"Adadelta", 2}, {"SGD", 1},
                 {"RMSprop", 2}, {"Adagrad", 1}, {"Lion", 1}, {"Muon", 1},     {"Momentum", 1}};
    for (size_t i = 0; i < N_OF(WORDS); i++)
        if (str_find(name, str_of(WORDS[i].part), 0) != SIZE_MAX) return WORDS[i].states;
    return 0;
}

static status find_slices(memory_phases *m, arena *a, error *err) {
    const trace *t = m->t;
    uint32_t op = 1;
    TRY(name_meanings_init(&m->names, t, a, err));
    m->slice_phase = ARENA_ARRAY(a, uint8_t, (size_t)t->slice.n + 1);
    m->outermost = ARENA_ARRAY(a, uint32_t, (size_t)t->slice.n + 1);
    if (!m->slice_phase || !m->outermost) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->slice.n; i++) {
        uint32_t outer = t->slice.parent[i];
        while (op < t->op.n && t->op.slice[op] < i) op++;
        uint32_t row = op < t->op.n && t->op.slice[op] == i ? op : 0;
        m->slice_phase[i] = join_phases(m->slice_phase[outer], own_phase(t, &m->names, i, row));
        bool is_op = t->slice.kind[i] == KIND_OP;
        if (t->slice.kind[i] == KIND_OPTIMIZER && !m->states)
            m->states = states_of(trace_slice_name(t, i));
        /* What a checkpoint computes again outlives its operator, not the node around it. */
        bool again = m->slice_phase[i] == MEMORY_PHASE_RECOMPUTE &&
                     m->slice_phase[outer] != MEMORY_PHASE_RECOMPUTE;
        m->outermost[i] = again ? 0 : m->outermost[outer];
        if (is_op && !m->outermost[i]) m->outermost[i] = i;
    }
    return OK;
}

/* ---- call stacks ------------------------------------------------------------------------- */

typedef struct {
    const char *file, *name; /* part of a path; part of a frame's name, with a blank before it
                              * its end; "" fits everything */
    uint8_t phase;
} frame_word;

static const frame_word FRAMES[] = {
    {"", " zero_grad", MEMORY_PHASE_ZERO},
    {"/optim/lr_scheduler", "", MEMORY_PHASE_NONE},
    {"/torch/optim/", "", MEMORY_PHASE_OPTIMIZER},
    {"/torch_npu/optim/", "", MEMORY_PHASE_OPTIMIZER},
    {"/apex/optimizers/", "", MEMORY_PHASE_OPTIMIZER},
    {"/bitsandbytes/optim/", "", MEMORY_PHASE_OPTIMIZER},
    {"/torch/_tensor.py", " backward", MEMORY_PHASE_BACKWARD},
    {"/torch/autograd/__init__.py", " backward", MEMORY_PHASE_BACKWARD},
    {"/torch/autograd/graph.py", " _engine_run_backward", MEMORY_PHASE_BACKWARD},
    {"", "torch::autograd::Engine::", MEMORY_PHASE_BACKWARD},
    {"", "torch::autograd::python::PythonEngine::", MEMORY_PHASE_BACKWARD},
    {"", "torch::autograd::generated::", MEMORY_PHASE_BACKWARD},
    {"/torch/utils/data/", "", MEMORY_PHASE_LOAD},
    {"", "c10d::", MEMORY_PHASE_COMM},
    {"/torch/distributed/distributed_c10d.py", "", MEMORY_PHASE_COMM},
    {"/torch/nn/modules/module.py", " _call_impl", MEMORY_PHASE_FORWARD},
    {"", " forward", MEMORY_PHASE_FORWARD},
    {"/torch/nn/modules/module.py", " _apply", MEMORY_PHASE_SETUP},
    {"/torch/nn/modules/module.py", " load_state_dict", MEMORY_PHASE_SETUP},
    {"", " __init__", MEMORY_PHASE_SETUP},
    {"", " reset_parameters", MEMORY_PHASE_SETUP},
    {"", " from_pretrained", MEMORY_PHASE_SETUP},
};

static bool name_fits(str name, str part) {
    if (part.n && part.p[0] == ' ') return str_ends(name, part);
    return str_find(name, part, 0) != SIZE_MAX;
}

static uint8_t phase_of_frame(str file, str name) {
    for (size_t i = 0; i < N_OF(FRAMES); i++)
        if (str_find(file, str_of(FRAMES[i].file), 0) != SIZE_MAX &&
            name_fits(name, str_of(FRAMES[i].name)))
            return FRAMES[i].phase;
    return MEMORY_PHASE_NONE;
}

/* Is it a function of a library that makes a workspace? */
static bool makes_workspace(const trace *t, uint32_t frame) {
    return str_find(trace_str(t, t->frame.name[frame]), STR("orkspace"), 0) != SIZE_MAX;
}

/* By frame; NULL when no event has a stack. A model that is made inside a forward
 * pass or an optimizer is none of the model's own memory. */
static status find_frames(memory_phases *m, arena *a, uint8_t **out, error *err) {
    const trace *t = m->t;
    bool any = false;
    for (uint32_t i = 1; i < t->memory.n && !any; i++) any = t->memory.frame[i] != 0;
    *out = NULL;
    if (!any) return OK;
    uint8_t *found = ARENA_ARRAY(a, uint8_t, (size_t)t->frame.n + 1);
    m->in_workspace = ARENA_ARRAY(a, bool, (size_t)t->frame.n + 1);
    if (!found || !m->in_workspace) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->frame.n; i++) {
        uint8_t outer = found[t->frame.parent[i]];
        m->in_workspace[i] = m->in_workspace[t->frame.parent[i]] || makes_workspace(t, i);
        uint8_t own =
            phase_of_frame(trace_str(t, t->frame.file[i]), trace_str(t, t->frame.name[i]));
        bool inside = outer && outer != MEMORY_PHASE_SETUP;
        found[i] = own == MEMORY_PHASE_SETUP && inside ? outer : join_phases(outer, own);
    }
    *out = found;
    return OK;
}

/* ---- passes ------------------------------------------------------------------------------ */

/* The phase whose pass the event is in; none when it ends no pass. */
static uint8_t pass_of(uint8_t own) {
    switch (own) {
    case MEMORY_PHASE_RECOMPUTE: return MEMORY_PHASE_BACKWARD;
    case MEMORY_PHASE_FORWARD:
    case MEMORY_PHASE_BACKWARD:
    case MEMORY_PHASE_OPTIMIZER:
    case MEMORY_PHASE_ZERO: return own;
    default: return MEMORY_PHASE_NONE;
    }
}

static void add_pass(memory_phases *m, uint8_t of) {
    m->n_backwards += of == MEMORY_PHASE_BACKWARD;
    m->pass_phase[m->n_passes] = of;
    m->backwards[m->n_passes++] = m->n_backwards;
}

/* The innermost range around an event that is in no operator; `cursor`, by track: where the
 * last search ended. Times do not fall from one event to the next. */
static uint32_t range_at(const trace *t, uint32_t row, uint32_t *cursor) {
    enum { MOST_LEVELS = 4096 }; /* a forged file nests without an end */
    uint32_t track = t->memory.track[row], first = t->track.first[track];
    int64_t time = t->memory.time[row];
    uint32_t i = cursor[track] ? cursor[track] : first;
    while (i < t->track.end[track] && t->slice.start[i] <= time) i++;
    cursor[track] = i;
    i = i == first ? 0 : i - 1;
    for (int level = 0; i && level < MOST_LEVELS; level++, i = t->slice.parent[i])
        if (time < add_i64(t->slice.start[i], t->slice.dur[i])) return i;
    return 0;
}

static void find_passes(memory_phases *m, const uint8_t *frames, uint32_t *cursor) {
    const trace *t = m->t;
    uint8_t current = MEMORY_PHASE_NONE;
    add_pass(m, MEMORY_PHASE_NONE);
    for (uint32_t i = 1; i < t->memory.n; i++) {
        uint32_t slice = t->memory.op[i] ? t->memory.op[i] : range_at(t, i, cursor);
        uint8_t own = m->slice_phase[slice];
        if (!own && frames) own = frames[t->memory.frame[i]];
        m->own[i] = own;
        uint8_t next = t->memory.kind[i] == MEMORY_EXISTING ? 0 : pass_of(own);
        if (next && next != current) add_pass(m, current = next);
        m->pass[i] = m->n_passes - 1;
    }
}

status memory_phases_init(memory_phases *m, const trace *t, arena *a, error *err) {
    uint8_t *frames = NULL;
    *m = (memory_phases){.t = t};
    TRY(find_slices(m, a, err));
    TRY(find_frames(m, a, &frames, err));
    size_t n = (size_t)t->memory.n + 1;
    m->own = ARENA_ARRAY(a, uint8_t, n);
    m->pass = ARENA_ARRAY(a, uint32_t, n);
    m->pass_phase = ARENA_ARRAY(a, uint8_t, n);
    m->backwards = ARENA_ARRAY(a, uint32_t, n);
    uint32_t *cursor = ARENA_ARRAY(a, uint32_t, (size_t)t->track.n + 1);
    if (!m->own || !m->pass || !m->pass_phase || !m->backwards || !cursor) FAIL_MEMORY(err);
    find_passes(m, frames, cursor);
    return OK;
}

/* What cuBLAS of PyTorch takes for each handle and stream: 2 × 4 MiB + 8 × 16 KiB, and 32 MiB
 * on Hopper and later (c10::cuda, CUBLAS_WORKSPACE_CONFIG). */
static bool is_workspace_size(int64_t bytes) {
    return bytes == 8519680 || bytes == 32 << 20;
}

bool memory_is_workspace(memory_phases *m, uint32_t row) {
    const trace *t = m->t;
    uint32_t op = t->memory.op[row];
    if (m->in_workspace && m->in_workspace[t->memory.frame[row]]) return true;
    return is_workspace_size(t->memory.bytes[row]) && op &&
           name_meanings_of(&m->names, op) & MEANING(MATRIX_OP);
}

bool memory_is_inside_op(const memory_phases *m, uint32_t row) {
    const trace *t = m->t;
    uint32_t release = t->memory.partner[row], op = m->outermost[t->memory.op[row]];
    if (!release || !op) return false;
    int64_t end = add_i64(t->slice.start[op], t->slice.dur[op]);
    return t->memory.track[release] == t->memory.track[row] && t->memory.time[release] < end;
}
