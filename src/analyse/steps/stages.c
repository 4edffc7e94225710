/* stages.c: data loading, forward, backward, optimizer: which part of training the host was
 * in.
 *
 * Evidence is collected from every thread, outermost pieces only: what runs inside a
 * backward node (recomputed modules, for one) is backward. In order of time the pieces are
 * strung together:
 *
 *     main thread    ▐data▌ ▐fwd▌▐fwd▌ ▐fwd▌                        ▐ optimizer ▌
 *     autograd                             ▐bwd▌▐bwd▌ ▐bwd▌
 *     segments       |data| |── forward ──||──── backward ──| |── optimizer ──|
 *
 * A module that holds a marked backward or optimizer range, or operators that the producer says
 * are of these, is a whole training step, and evidence of nothing. A piece inside one of
 * another stage interrupts it; that one continues after it. Threads are not reported apart:
 * what a worker thread does belongs to the stage that is running. */
#include "analyse/steps/stages.h"

#include "analyse/lexicon.h"

#include "base/bisect.h"
#include "base/num.h"
#include "base/sort.h"

static const char *const names[N_STAGES] = {
    [STAGE_DATA] = "data_loading",   [STAGE_FORWARD] = "forward", [STAGE_BACKWARD] = "backward",
    [STAGE_OPTIMIZER] = "optimizer", [STAGE_OTHER] = "other",
};

str stage_name(stage s) {
    return str_of(names[s]);
}

typedef struct {
    const trace *t;
    arena *arena;
    uint8_t *backward_name; /* by string id: 0 unknown, 1 no, 2 yes */
    uint32_t *marked_next;  /* by slice: the next marked range; NULL when there are none */
    bool marked_forward, marked_backward, any_backward;
    stage_segments pieces;
} finder;

static bool is_backward_name(finder *f, uint32_t name) {
    if (name >= f->t->n_strings) return false;
    if (!f->backward_name[name])
        f->backward_name[name] =
            lexicon_means(trace_str(f->t, name), MEANS_RUNS_BACKWARD) ? 2 : 1;
    return f->backward_name[name] == 2;
}

static bool is_backward(finder *f, uint32_t slice, uint32_t op_row) {
    const trace *t = f->t;
    if (is_backward_name(f, t->slice.name[slice])) return true;
    return op_row &&
           (t->op.phase[op_row] == PHASE_BACKWARD || t->op.forward_thread[op_row] > 0);
}

static bool is_forward(const finder *f, uint32_t op_row) {
    const trace *t = f->t;
    if (!f->any_backward) return true;
    return op_row && (t->op.phase[op_row] == PHASE_FORWARD || t->op.sequence[op_row] >= 0);
}

/* Does the producer itself say that an operator is of the backward pass or the optimizer? */
static bool has_stage(const trace *t, uint32_t op_row) {
    return t->op.phase[op_row] == PHASE_BACKWARD || t->op.phase[op_row] == PHASE_OPTIMIZER;
}

static bool any_has_stage(const trace *t) {
    for (uint32_t r = 1; r < t->op.n; r++)
        if (has_stage(t, r)) return true;
    return false;
}

static status find_marked(finder *f, error *err) {
    const trace *t = f->t;
    uint32_t next = UINT32_MAX, op_row = t->op.n;
    bool known = any_has_stage(t);
    if (!t->kind_count[KIND_MODULE] ||
        !(f->marked_backward || t->kind_count[KIND_OPTIMIZER] || known))
        return OK;
    f->marked_next = arena_alloc(f->arena, ((size_t)t->slice.n + 1) * sizeof *f->marked_next);
    if (!f->marked_next) FAIL_MEMORY(err);
    for (uint32_t i = t->slice.n; i-- > 1;) {
        f->marked_next[i] = next;
        while (known && op_row > 1 && t->op.slice[op_row - 1] >= i) op_row--;
        bool own =
            known && op_row < t->op.n && t->op.slice[op_row] == i && has_stage(t, op_row);
        if (own || t->slice.kind[i] == KIND_BACKWARD || t->slice.kind[i] == KIND_OPTIMIZER)
            next = i;
    }
    return OK;
}

static bool holds_marked(const finder *f, uint32_t slice) {
    uint32_t next = f->marked_next ? f->marked_next[slice] : UINT32_MAX;
    return next != UINT32_MAX && next < trace_subtree_end(f->t, slice);
}

/* What a slice is evidence of; STAGE_OTHER: of nothing. */
static stage evidence(finder *f, uint32_t slice, uint32_t op_row) {
    switch (f->t->slice.kind[slice]) {
    case KIND_DATA: return STAGE_DATA;
    case KIND_FORWARD: return STAGE_FORWARD;
    case KIND_BACKWARD: return STAGE_BACKWARD;
    case KIND_OPTIMIZER: return STAGE_OPTIMIZER;
    case KIND_MODULE:
        return f->marked_forward || holds_marked(f, slice) ? STAGE_OTHER : STAGE_FORWARD;
    case KIND_OP:
        if (op_row && f->t->op.phase[op_row] == PHASE_OPTIMIZER) return STAGE_OPTIMIZER;
        if (!f->marked_backward && is_backward(f, slice, op_row)) return STAGE_BACKWARD;
        return !f->marked_forward && is_forward(f, op_row) ? STAGE_FORWARD : STAGE_OTHER;
    default: return STAGE_OTHER;
    }
}

static bool add_segment(stage_segments *s, arena *a, stage which, interval range) {
    if (range.end <= range.start) return true;
    if (s->n == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 256;
        void *grown = arena_grow(a, s->v, s->cap * sizeof *s->v, cap * sizeof *s->v);
        if (!grown) return false;
        s->v = grown;
        s->cap = cap;
    }
    s->v[s->n++] = (stage_segment){.range = range, .stage = which};
    return true;
}

static void look_for_backward(finder *f) {
    const trace *t = f->t;
    for (uint32_t r = 1; r < t->op.n && !f->any_backward; r++)
        f->any_backward = is_backward(f, t->op.slice[r], r);
    for (uint32_t i = 1; i < t->slice.n && !f->any_backward; i++)
        f->any_backward = (t->slice.kind[i] == KIND_OP || t->slice.kind[i] == KIND_OTHER) &&
                          is_backward_name(f, t->slice.name[i]);
    f->any_backward |= f->marked_backward;
}

static status collect(finder *f, error *err) {
    const trace *t = f->t;
    uint32_t op_row = 1;
    for (uint32_t track = 1; track < t->track.n; track++) {
        if (t->track.kind[track] == TRACK_STREAM) continue;
        int64_t until = INT64_MIN; /* end of the last piece on this thread */
        for (uint32_t i = t->track.first[track]; i && i < t->track.end[track]; i++) {
            if (t->slice.start[i] < until) continue;
            while (op_row < t->op.n && t->op.slice[op_row] < i) op_row++;
            bool has_row = op_row < t->op.n && t->op.slice[op_row] == i;
            stage which = evidence(f, i, has_row ? op_row : 0);
            if (which == STAGE_OTHER) continue;
            until = add_i64(t->slice.start[i], t->slice.dur[i]);
            size_t n = f->pieces.n;
            if (!add_segment(&f->pieces, f->arena, which, (interval){t->slice.start[i], until}))
                FAIL_MEMORY(err);
            uint8_t kind = t->slice.kind[i];
            if (f->pieces.n > n)
                f->pieces.v[n].marked = kind == KIND_FORWARD || kind == KIND_BACKWARD;
        }
    }
    return OK;
}

static status sort_pieces(finder *f, error *err) {
    size_t n = f->pieces.n;
    sort_pair *pairs = arena_alloc(f->arena, (n + 1) * sizeof *pairs);
    stage_segment *sorted = arena_alloc(f->arena, (n + 1) * sizeof *sorted);
    if (!pairs || !sorted || n > UINT32_MAX) FAIL_MEMORY(err);
    for (size_t i = 0; i < n; i++)
        pairs[i] =
            (sort_pair){(uint64_t)f->pieces.v[i].range.start ^ (uint64_t)1 << 63, (uint32_t)i};
    if (!sort_radix_in(f->arena, pairs, n)) FAIL_MEMORY(err);
    for (size_t i = 0; i < n; i++) sorted[i] = f->pieces.v[pairs[i].row];
    arena_drop(f->arena, pairs, (n + 1) * sizeof *pairs);
    arena_drop(f->arena, f->pieces.v, f->pieces.cap * sizeof *f->pieces.v);
    f->pieces.v = sorted;
    f->pieces.cap = n + 1;
    return OK;
}

/* One stage that is active, and one that it interrupted. */
typedef struct {
    stage_segments out;
    stage_segment now, under; /* stage OTHER: none */
    uint32_t step;            /* of `now` */
} stringer;

/* Ends the active stage at a time; the one it interrupted continues from there. */
static bool end_now(stringer *s, arena *a, int64_t at) {
    int64_t end = min_i64(s->now.range.end, at);
    if (s->now.stage != STAGE_OTHER &&
        !add_segment(&s->out, a, s->now.stage, (interval){s->now.range.start, end}))
        return false;
    stage_segment rest = s->under;
    s->now.stage = s->under.stage = STAGE_OTHER;
    if (rest.stage == STAGE_OTHER) return true;
    rest.range.start = max_i64(rest.range.start, end);
    rest.range.end = min_i64(rest.range.end, at);
    return add_segment(&s->out, a, rest.stage, rest.range);
}

static bool string_piece(stringer *s, arena *a, const stage_segment *p, uint32_t step) {
    if (s->now.stage == p->stage && s->step == step && !(s->now.marked && p->marked)) {
        s->now.range.end = max_i64(s->now.range.end, p->range.end);
        return true;
    }
    stage_segment around = {.stage = STAGE_OTHER};
    if (s->now.stage != STAGE_OTHER && s->now.range.end > p->range.end) around = s->now;
    if (!end_now(s, a, p->range.start)) return false;
    s->now = *p;
    s->under = around;
    s->step = step;
    return true;
}

status stages_find(const trace *t, arena *a, stage_segments *out, error *err) {
    finder f = {.t = t, .arena = a};
    f.marked_forward = t->kind_count[KIND_FORWARD] != 0;
    f.marked_backward = t->kind_count[KIND_BACKWARD] != 0;
    f.backward_name = ARENA_ARRAY(a, uint8_t, (size_t)t->n_strings + 1);
    if (!f.backward_name) FAIL_MEMORY(err);
    look_for_backward(&f);
    TRY(find_marked(&f, err));
    TRY(collect(&f, err));
    TRY(sort_pieces(&f, err));
    stringer s = {.now.stage = STAGE_OTHER, .under.stage = STAGE_OTHER};
    bool ok = true;
    for (size_t i = 0; i < f.pieces.n && ok; i++)
        ok = string_piece(&s, a, &f.pieces.v[i], trace_step_at(t, f.pieces.v[i].range.start));
    if (!ok || !end_now(&s, a, INT64_MAX)) FAIL_MEMORY(err);
    arena_drop(a, f.pieces.v, f.pieces.cap * sizeof *f.pieces.v);
    *out = s.out;
    return OK;
}

stage stage_at(const stage_segments *s, int64_t time_ns) {
    size_t low = SEARCH_FIRST(i, 0, s->n, s->v[i].range.start <= time_ns);
    return low && time_ns < s->v[low - 1].range.end ? s->v[low - 1].stage : STAGE_OTHER;
}
