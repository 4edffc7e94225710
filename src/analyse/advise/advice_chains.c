/* advice_chains.c: device work that is not needed: the same data read and written again and
 * again, and the forward pass done again in the backward pass.
 *
 *   chain       kernels that follow each other on a stream and are bound by memory:
 *               elementwise, copies, reductions, softmax, normalization, dropout. One pass
 *               over the data would take about as long as the longest of them.
 *   attention   a chain with a softmax next to a batched product. Fused attention keeps what
 *               is between its products on the chip.
 *   again       operators that record a backward pass (they have a sequence number) although
 *               a node of the autograd engine called them, and whose kernels ran in the
 *               forward pass with the same names and grids. */
#include "analyse/advise/advice.h"
#include "analyse/group.h"
#include "analyse/lexicon.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/sort.h"

enum {
    LEAST_CHAIN = 3,  /* kernels: two are one more than needed, and often one of each kind */
    NAMED_LINKS = 6,  /* of a chain, in a sentence */
    LEAST_AGAIN = 10, /* kernels for each step */
};

/* ---- the forward pass again -------------------------------------------------------------- */

enum { IN_NONE, IN_ENGINE, IN_AGAIN };

typedef struct {
    advice_facts *f;
    uint8_t *where; /* by slice: IN_… */
    uint32_t *calls;
    uint32_t n_calls;
    sort_pair *forward, *again, *scratch;
    size_t n_forward, n_again;
} again_scan;

static uint64_t work_key(const trace *t, uint32_t k) {
    const uint32_t key[4] = {t->slice.name[t->kernel.slice[k]], t->kernel.grid_x[k],
                             t->kernel.grid_y[k], t->kernel.grid_z[k]};
    return intern_hash(str_n((const char *)key, sizeof key));
}

/* A node of the engine, or the function it calls, which has the number of its forward. */
static bool is_node(const trace *t, name_meanings *means, uint32_t i) {
    return name_meanings_of(means, i) & MEANING(ENGINE) ||
           str_find(trace_slice_name(t, i), STR("Backward"), 0) != SIZE_MAX;
}

/* Rows of slice are in order: a parent is known before its children. */
static void find_calls(again_scan *s, name_meanings *means) {
    const trace *t = s->f->t;
    for (uint32_t i = 1, row = 1; i < t->slice.n; i++) {
        uint8_t kind = t->slice.kind[i], in = s->where[t->slice.parent[i]];
        while (row < t->op.n && t->op.slice[row] < i) row++;
        s->where[i] = in;
        if (kind != KIND_OP && kind != KIND_BACKWARD) continue;
        if (is_node(t, means, i)) {
            s->where[i] = IN_ENGINE;
        } else if (in == IN_ENGINE && row < t->op.n && t->op.slice[row] == i &&
                   t->op.sequence[row] >= 0) {
            s->where[i] = IN_AGAIN;
            if (advice_step_at(s->f, t->slice.start[i]) != UINT32_MAX)
                s->calls[s->n_calls++] = i;
        }
    }
}

static void list_work(again_scan *s) {
    const trace *t = s->f->t;
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t launch = t->kernel.launch[k];
        if (!(s->f->work_marks[k] & WORK_COMPUTES) || !launch ||
            advice_step_at(s->f, t->slice.start[launch]) == UINT32_MAX)
            continue;
        sort_pair pair = {work_key(t, k), k};
        if (s->where[launch] == IN_AGAIN) s->again[s->n_again++] = pair;
        if (s->where[launch] == IN_NONE) s->forward[s->n_forward++] = pair;
    }
    sort_radix(s->again, s->scratch, s->n_again);
    sort_radix(s->forward, s->scratch, s->n_forward);
}

/* Each kernel of the forward pass stands for one that ran again. */
static void match_work(again_scan *s) {
    advice_facts *f = s->f;
    for (size_t i = 0, k = 0; i < s->n_again; i++) {
        while (k < s->n_forward && s->forward[k].key < s->again[i].key) k++;
        if (k == s->n_forward || s->forward[k].key != s->again[i].key) continue;
        uint32_t row = s->again[i].row;
        k++;
        f->work_marks[row] |= WORK_AGAIN;
        tally_add(f->t, &f->again.work, f->t->kernel.slice[row]);
    }
}

static status find_again(advice_facts *f, name_meanings *means, error *err) {
    const trace *t = f->t;
    size_t n = t->kernel.n;
    again_scan s = {.f = f,
                    .where = ARENA_ARRAY(f->arena, uint8_t, (size_t)t->slice.n + 1),
                    .calls = ARENA_ARRAY(f->arena, uint32_t, (size_t)t->op.n + 1),
                    .forward = ARENA_ARRAY(f->arena, sort_pair, n + 1),
                    .again = ARENA_ARRAY(f->arena, sort_pair, n + 1),
                    .scratch = ARENA_ARRAY(f->arena, sort_pair, n + 1)};
    if (!s.where || !s.calls || !s.forward || !s.again || !s.scratch) FAIL_MEMORY(err);
    find_calls(&s, means);
    if (!s.n_calls) return OK;
    list_work(&s);
    match_work(&s);
    f->again.calls = s.calls;
    f->again.n_calls = s.n_calls;
    f->again.n_other = sub_i64(sat_i64(s.n_again), f->again.work.n);
    return OK;
}

/* ---- chains ------------------------------------------------------------------------------ */

/* Chains of one sequence of kernels. */
typedef struct {
    uint64_t key;
    uint32_t first, n; /* row of table kernel; kernels */
    int64_t count, ns, longest_ns;
} chain_kind;

typedef struct {
    advice_facts *f;
    lexicon words;
    name_meanings *means;
    groups kinds; /* chain_kind by key */
    /* the one that is open */
    uint32_t first, n, last;
    int64_t ns, longest_ns;
    uint64_t key;
    bool softmax, after_product;
} chain_scan;

static bool is_memory_bound(uint8_t class) {
    return class == CLASS_NORMALIZATION || class == CLASS_SOFTMAX ||
           class == CLASS_ELEMENTWISE || class == CLASS_REDUCTION || class == CLASS_COPY ||
           class == CLASS_RANDOM;
}

static bool is_batched_product(chain_scan *s, uint32_t k) {
    uint32_t op = k ? s->f->t->kernel.op[k] : 0;
    return op && name_meanings_of(s->means, op) & MEANING(BATCHED_PRODUCT);
}

static bool same_key(const void *row, const void *key) {
    return ((const chain_kind *)row)->key == *(const uint64_t *)key;
}

static status add_to_kind(chain_scan *s, error *err) {
    bool is_new = false;
    uint32_t i = groups_at(&s->kinds, s->key, same_key, &s->key, &is_new);
    if (i == GROUP_NONE) FAIL_MEMORY(err);
    chain_kind *kind = GROUP_ROW(&s->kinds, chain_kind, i);
    if (is_new) *kind = (chain_kind){.key = s->key, .first = s->first, .n = s->n};
    kind->count++;
    kind->ns = add_i64(kind->ns, s->ns);
    kind->longest_ns = add_i64(kind->longest_ns, s->longest_ns);
    return OK;
}

static void mark_chain(chain_scan *s, uint16_t mark) {
    advice_facts *f = s->f;
    for (uint32_t k = s->first; k <= s->last; k++)
        if (f->work_marks[k] & WORK_COMPUTES) f->work_marks[k] |= mark;
}

/* `next`: the kernel that ends it, 0 when the stream does. */
static status close_chain(chain_scan *s, uint32_t next, error *err) {
    advice_facts *f = s->f;
    bool attention = s->softmax && (s->after_product || is_batched_product(s, next));
    chain_sum *sum = attention ? &f->attention : &f->chains;
    if (s->n >= (attention ? 1 : LEAST_CHAIN)) {
        mark_chain(s, attention ? WORK_ATTENTION : WORK_CHAIN);
        sum->n++;
        sum->kernels = add_i64(sum->kernels, s->n);
        sum->ns = add_i64(sum->ns, s->ns);
        if (!attention) sum->least_ns = add_i64(sum->least_ns, s->longest_ns);
        event_list_add_slice(&sum->top, f->t, f->t->kernel.slice[s->first], s->ns);
        if (!attention) TRY(add_to_kind(s, err));
    }
    s->n = 0;
    s->ns = s->longest_ns = 0;
    s->key = 0;
    s->softmax = false;
    s->after_product = is_batched_product(s, next);
    return OK;
}

static void add_link(chain_scan *s, uint32_t k, uint8_t class) {
    const trace *t = s->f->t;
    uint32_t slice = t->kernel.slice[k];
    const uint64_t link[2] = {s->key, t->slice.name[slice]};
    if (!s->n) s->first = k;
    s->n++;
    s->last = k;
    s->key = intern_hash(str_n((const char *)link, sizeof link));
    s->ns = add_i64(s->ns, t->slice.dur[slice]);
    s->longest_ns = max_i64(s->longest_ns, t->slice.dur[slice]);
    s->softmax |= class == CLASS_SOFTMAX;
}

/* Does a kernel of this step go into a chain? Those of the optimizer have other data each. */
static bool may_chain(chain_scan *s, uint32_t k) {
    const advice_facts *f = s->f;
    uint32_t launch = f->t->kernel.launch[k];
    return launch && !(f->work_marks[k] & WORK_AGAIN) &&
           advice_step_at(f, f->t->slice.start[launch]) != UINT32_MAX &&
           stage_at(&f->stages, f->t->slice.start[launch]) != STAGE_OPTIMIZER;
}

/* "mul, add, tanh, …" */
static status name_links(const chain_scan *s, const chain_kind *kind, str *out, error *err) {
    const trace *t = s->f->t;
    buf text = {0};
    uint32_t named = 0;
    for (uint32_t k = kind->first; k < t->kernel.n && named < NAMED_LINKS && named < kind->n;
         k++) {
        uint32_t op = t->kernel.op[k];
        if (!(s->f->work_marks[k] & WORK_COMPUTES)) continue;
        advice_list_call(&text, trace_slice_name(t, op ? op : t->kernel.slice[k]));
        named++;
    }
    return advice_end_list(s->f, &text, kind->n > named, out, err);
}

static int64_t saved_ns(const chain_kind *kind) {
    return sub_i64(kind->ns, kind->longest_ns);
}

static status name_chains(chain_scan *s, error *err) {
    const chain_kind *most = NULL;
    for (uint32_t i = 0; i < s->kinds.n; i++) {
        const chain_kind *kind = GROUP_ROW(&s->kinds, chain_kind, i);
        if (!most || saved_ns(kind) > saved_ns(most)) most = kind;
    }
    if (!most) return OK;
    s->f->chains.longest = most->n;
    s->f->chains.of_longest = most->count;
    s->f->chains.first = s->f->t->kernel.slice[most->first];
    return name_links(s, most, &s->f->chains.links, err);
}

static status find_chains(advice_facts *f, name_meanings *means, error *err) {
    const trace *t = f->t;
    chain_scan s = {.f = f, .means = means};
    uint32_t until = 0;
    TRY(groups_init(&s.kinds, f->arena, sizeof(chain_kind), err));
    TRY(lexicon_init(&s.words, t, f->arena, err));
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t slice = t->kernel.slice[k];
        if (slice >= until) {
            TRY(close_chain(&s, 0, err));
            until = t->track.end[trace_track_of(t, slice)];
        }
        if (t->slice.kind[slice] != KIND_KERNEL) continue;
        uint8_t class = lexicon_kernel_row(&s.words, k).class;
        if (f->work_marks[k] & WORK_COMPUTES && is_memory_bound(class) && may_chain(&s, k))
            add_link(&s, k, class);
        else
            TRY(close_chain(&s, k, err));
    }
    TRY(close_chain(&s, 0, err));
    return name_chains(&s, err);
}

status advice_chains_find(advice_facts *f, error *err) {
    if (!(f->has & NEED_DEVICE) || !f->steps.n) return OK;
    name_meanings means;
    TRY(name_meanings_init(&means, f->t, f->arena, err));
    TRY(find_again(f, &means, err));
    return find_chains(f, &means, err);
}

/* ---- rules ------------------------------------------------------------------------------- */

static double kernel_share(const advice_facts *f, int64_t ns) {
    return f->kernel.ns > 0 ? (double)ns / (double)f->kernel.ns : 0;
}

#define FULL_MEMORY 0.6 /* of the device: keeping activations may not fit */

bool advice_forward_again(const advice_facts *f, double limit, advice *out) {
    const tally *work = &f->again.work;
    if (kernel_share(f, work->ns) < limit || work->n < LEAST_AGAIN * (int64_t)f->steps.n ||
        f->again.n_other > work->n / 4)
        return false;
    bool sized = f->has & NEED_CAPACITY;
    if (sized && (double)f->memory.allocated > FULL_MEMORY * (double)f->memory.capacity)
        return false;
    advice_cost(f, out, advice_per_step(f, work->ns));
    advice_point_to(f, out, work);
    out->change = (advice_change){.how = REPLAY_CALLS,
                                  .mark = WORK_AGAIN,
                                  .calls = f->again.calls,
                                  .n_calls = f->again.n_calls};
    verdict_add(&out->words, arg_int("count", mean_i64(work->n, f->steps.n)));
    if (!sized) return true;
    verdict_add(&out->words, arg_bytes("peak", f->memory.allocated));
    verdict_add(&out->words, arg_bytes("capacity", f->memory.capacity));
    return true;
}

static void say_chains(const advice_facts *f, const chain_sum *sum, uint16_t mark,
                       advice *out) {
    int64_t saved = sub_i64(sum->ns, sum->least_ns);
    advice_cost(f, out, advice_per_step(f, saved));
    out->change = (advice_change){
        .how = REPLAY_WORK, .mark = mark, .factor = (double)sum->least_ns / (double)sum->ns};
    out->events = sum->top;
    advice_point(f, out, sum->top.v[0].slice);
    verdict_add(&out->words, arg_int("count", mean_i64(sum->kernels, f->steps.n)));
    verdict_add(&out->words, arg_int("chains", mean_i64(sum->n, f->steps.n)));
    verdict_add(&out->words, arg_time("spent", advice_per_step(f, sum->ns)));
    verdict_add(&out->words, arg_time("least", advice_per_step(f, sum->least_ns)));
    verdict_add(&out->words, arg_share("kernel_share", kernel_share(f, sum->ns)));
}

bool advice_attention_unfused(const advice_facts *f, double limit, advice *out) {
    if (kernel_share(f, f->attention.ns) < limit) return false;
    say_chains(f, &f->attention, WORK_ATTENTION, out);
    return true;
}

bool advice_chain_unfused(const advice_facts *f, double limit, advice *out) {
    const chain_sum *sum = &f->chains;
    if (kernel_share(f, sub_i64(sum->ns, sum->least_ns)) < limit || f->uses.n[USE_COMPILER])
        return false;
    say_chains(f, sum, WORK_CHAIN, out);
    out->bounded = true;
    out->name = trace_slice_name(f->t, sum->first);
    verdict_add(&out->words, arg_text("links", sum->links));
    verdict_add(&out->words, arg_int("longest", sum->longest));
    verdict_add(&out->words, arg_int("times", mean_i64(sum->of_longest, f->steps.n)));
    if (advice_can_compile(f)) verdict_add(&out->words, arg_int("compile", 1));
    return true;
}
