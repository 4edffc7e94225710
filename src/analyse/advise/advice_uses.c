/* advice_uses.c: what advice has to know of the program besides where its time goes: what it
 * uses already and what its framework and device offer (in_use.h), and which operator keeps the
 * CPU.
 *
 * A suggestion names only what is not in use and exists there: rules put these facts into their
 * words, and clauses of the messages follow them. */
#include "analyse/advise/advice.h"
#include "analyse/kind_names.h"
#include "analyse/lexicon.h"
#include "store/traits.h"

bool advice_can_compile(const advice_facts *f) {
    return f->dialect == FOR_PYTORCH && f->uses.may_compile;
}

void advice_say_fusing(const advice_facts *f, advice *out) {
    str graphs = device_graphs(f->t);
    if (advice_can_compile(f)) verdict_add(&out->words, arg_int("compile", 1));
    if (f->uses.n[USE_COMPILER]) verdict_add(&out->words, arg_int("compiled", 1));
    if (graphs.n && !advice_replays(f) && !f->uses.n[USE_PYTORCH_1])
        verdict_add(&out->words, arg_text("graphs", graphs));
}

void advice_say_gradients(const advice_facts *f, advice *out) {
    bool backward = f->backward_comm_ns > f->collective.ns / 2;
    if (f->uses.trains && (f->distributed || backward))
        verdict_add(&out->words, arg_int("gradients", 1));
    if (f->uses.n[USE_FSDP]) verdict_add(&out->words, arg_int("fsdp", 1));
}

/* ---- the operator that keeps the CPU ----------------------------------------------------- */

/* Calls that are shorter are many, and none of them is worth a name. */
#define LONG_CALL_NS 50000

/* Time of the slice in which no device works. */
static int64_t idle_in(const advice_facts *f, uint32_t slice) {
    int64_t start = f->t->slice.start[slice], end = slice_end(f->t, slice);
    return sub_i64(sub_i64(end, start), intervals_ns_in(&f->ranges.device, start, end));
}

/* By string id, of calls of at least `long_ns` inside the steps: the time of operators without
 * that of the operators inside them. */
static void sum_self(const advice_facts *f, int64_t long_ns, int64_t *self) {
    const trace *t = f->t;
    for (uint32_t i = 1; i < t->slice.n; i++) {
        uint32_t parent = t->slice.parent[i];
        bool within =
            parent && t->slice.kind[parent] == KIND_OP && t->slice.dur[parent] >= long_ns;
        bool is_long = t->slice.dur[i] >= long_ns;
        if (t->slice.kind[i] != KIND_OP || (!within && !is_long)) continue;
        if (advice_step_at(f, t->slice.start[i]) == UINT32_MAX) continue;
        int64_t ns = idle_in(f, i);
        uint32_t name = t->slice.name[i];
        if (is_long && name < t->n_strings) self[name] = add_i64(self[name], ns);
        if (within && t->slice.name[parent] < t->n_strings)
            self[t->slice.name[parent]] = sub_i64(self[t->slice.name[parent]], ns);
    }
}

/* Is a slice, or what it is in, a call of the operator? */
static bool is_inside(const trace *t, uint32_t slice, uint32_t name) {
    for (int up = 0; slice && up < 64; up++, slice = t->slice.parent[slice])
        if (t->slice.kind[slice] == KIND_OP && t->slice.name[slice] == name) return true;
    return false;
}

/* Does it launch anything, or may it, because no launches were recorded at all? */
static bool launches_work(const trace *t, uint32_t name) {
    bool known = false;
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        if (is_inside(t, t->kernel.op[k], name)) return true;
        known |= t->kernel.op[k] != 0;
    }
    for (uint32_t i = 1; i < t->slice.n && known; i++)
        if (kind_is_call(t->slice.kind[i]) && is_inside(t, i, name) &&
            lexicon_means(trace_slice_name(t, i), MEANS_LAUNCHES))
            return true;
    return !known;
}

/* The name users know: that of the operator around its longest call, if it does little else. */
static str name_outside(const trace *t, uint32_t name) {
    uint32_t longest = 0;
    for (uint32_t i = 1; i < t->slice.n; i++)
        if (t->slice.name[i] == name && t->slice.kind[i] == KIND_OP &&
            (!longest || t->slice.dur[i] > t->slice.dur[longest]))
            longest = i;
    for (uint32_t up = t->slice.parent[longest]; up && t->slice.kind[up] == KIND_OP;
         up = t->slice.parent[longest]) {
        if ((double)t->slice.dur[longest] < 0.9 * (double)t->slice.dur[up] ||
            lexicon_means(trace_slice_name(t, up), MEANS_ENGINE))
            break;
        longest = up;
    }
    return trace_slice_name(t, longest);
}

/* When any thread is in a call of it, of the average step: threads side by side count once. */
static int64_t union_ns(const advice_facts *f, uint32_t name) {
    const trace *t = f->t;
    intervals calls = intervals_in(f->arena), steps = step_moments(&f->steps, f->arena);
    for (uint32_t i = 1; i < t->slice.n; i++)
        if (t->slice.name[i] == name && t->slice.kind[i] == KIND_OP)
            intervals_add(&calls, t->slice.start[i], slice_end(t, i));
    intervals_merge(&calls);
    intervals inside = intervals_and(&calls, &steps);
    return advice_per_step(f, intervals_ns(&inside));
}

/* Old versions of PyTorch write the ranges of users as operators. Those of libraries and of
 * autograd have names that tell. */
static bool is_user_range(const advice_facts *f, str name) {
    static const char *const of_libraries[] = {"::", "Backward", "Compiled", "Optimizer"};
    return f->dialect == FOR_PYTORCH &&
           !str_has_any_nocase(name, of_libraries, N_OF(of_libraries));
}

/* Calls shorter than `long_ns` are left out. */
static host_operator find_operator(const advice_facts *f, int64_t long_ns, int64_t least_ns) {
    int64_t *self = ARENA_ARRAY(f->arena, int64_t, (size_t)f->t->n_strings + 1);
    uint32_t most = 0;
    if (!self) return (host_operator){0};
    sum_self(f, long_ns, self);
    for (uint32_t i = 1; i < f->t->n_strings; i++)
        if (self[i] > self[most] && !is_user_range(f, trace_str(f->t, i))) most = i;
    if (!most) return (host_operator){0};
    int64_t ns = min_i64(advice_per_step(f, self[most]), union_ns(f, most));
    if (ns <= least_ns) return (host_operator){0};
    bool on_cpu = f->has & NEED_CPU || !launches_work(f->t, most);
    bool outside = on_cpu && long_ns > 0;
    return (host_operator){.name = outside ? name_outside(f->t, most) : trace_str(f->t, most),
                           .ns = ns,
                           .on_cpu = on_cpu};
}

/* Ranges of anybody: one that is called idle keeps nothing. */
static bool has_operators(const advice_facts *f) {
    return !trace_has(f->t, TRAIT_PLAIN_EVENTS);
}

host_operator advice_host_operator(const advice_facts *f, int64_t least_ns) {
    return has_operators(f) ? find_operator(f, LONG_CALL_NS, least_ns) : (host_operator){0};
}

host_operator advice_largest_operator(const advice_facts *f, int64_t least_ns) {
    return has_operators(f) ? find_operator(f, 0, least_ns) : (host_operator){0};
}

host_operator advice_largest_range(const advice_facts *f) {
    int64_t *self = ARENA_ARRAY(f->arena, int64_t, (size_t)f->t->n_strings + 1), all = 0;
    uint32_t most = 0;
    if (!self || has_operators(f)) return (host_operator){0};
    sum_self(f, 0, self);
    for (uint32_t i = 1; i < f->t->n_strings; i++) {
        all = add_i64(all, self[i]);
        if (self[i] > self[most]) most = i;
    }
    if (!most || all <= 0) return (host_operator){0};
    return (host_operator){.name = trace_str(f->t, most),
                           .ns = self[most],
                           .of_all = (double)self[most] / (double)all};
}
