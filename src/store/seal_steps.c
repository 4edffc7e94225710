/* seal_steps.c: the steps of a program. What says so is believed in this order:
 *
 *   1. slices of kind step: the producer marks them as such
 *   2. ranges and frames whose names mark a step in some framework (step_marks.def)
 *   3. what seal_unmarked.c finds: optimizer steps, a range that repeats, work that repeats
 *
 * The number is the one at the end of the name ("ProfilerStep#12"), else the one an argument
 * says (op.sequence), else one more than that of the step before. Where the numbers of ranges
 * do not rise (each epoch starts again at 0) steps are counted. */
#include "base/bisect.h"
#include "base/num.h"
#include "base/sort.h"
#include "store/builder_int.h"
#include "store/step_marks.h"

static int cmp_steps(uint32_t a, uint32_t b, const void *context) {
    const seal_ctx *s = context;
    if (s->slice.start[a] != s->slice.start[b])
        return s->slice.start[a] < s->slice.start[b] ? -1 : 1;
    return a < b ? -1 : a > b;
}

static bool number_of(str name, int64_t *number) {
    size_t at = name.n;
    while (at && name.p[at - 1] >= '0' && name.p[at - 1] <= '9') at--;
    return str_to_i64(str_from(name, at), number);
}

/* The next step after slice i, or s->slice.n: one byte in tens of thousands. */
static uint32_t next_step(const seal_ctx *s, uint32_t i) {
    const uint8_t *from = s->slice.kind + i + 1;
    const uint8_t *at = memchr(from, KIND_STEP, s->slice.n - (i + 1));
    return at ? (uint32_t)(at - s->slice.kind) : s->slice.n;
}

static void write_row(seal_ctx *s, uint32_t row, uint32_t slice) {
    s->step.slice[row] = slice;
    s->step.start[row] = s->slice.start[slice];
    s->step.end[row] = s->slice.start[slice] + s->slice.dur[slice];
    s->step.how[row] = STEP_MARKED;
    s->step.confidence[row] = NAN;
}

/* ---- slices of kind step ----------------------------------------------------------------- */

static int64_t said_number(const seal_ctx *s, uint32_t slice, int64_t otherwise) {
    int64_t number;
    uint32_t op = s->detail[slice];
    if (number_of(intern_get(s->b->strings, s->slice.name[slice]), &number)) return number;
    bool said = op && op < s->op.n && s->op.slice[op] == slice;
    return said && s->op.sequence[op] != ABSENT_I64 ? s->op.sequence[op] : otherwise;
}

/* Is it inside another step? TensorFlow marks the loop around a step and the step. */
static bool is_inner(const seal_ctx *s, uint32_t slice) {
    uint32_t up = s->slice.parent[slice];
    for (int i = 0; up && i < MAX_CLIMB; i++, up = s->slice.parent[up])
        if (s->slice.kind[up] == KIND_STEP) return true;
    return false;
}

static uint32_t process_of(const seal_ctx *s, uint32_t slice) {
    uint32_t track = SEARCH_FIRST(i, 1, s->track.n, s->track.end[i] <= slice);
    return track < s->track.n ? s->track.process[track] : 0;
}

/* Several processes that mark steps at the same time, in one file: a moment has one step,
 * so those of the process that marks most of the time are kept. */
static status keep_one_process(seal_ctx *s, uint32_t *order, uint32_t *n, error *err) {
    bool together = false;
    for (uint32_t i = 1; i < *n && !together; i++) {
        uint32_t before = order[i - 1];
        together =
            process_of(s, before) != process_of(s, order[i]) &&
            s->slice.start[order[i]] < add_i64(s->slice.start[before], s->slice.dur[before]);
    }
    if (!together) return OK;
    int64_t *ns = seal_scratch(s, (size_t)s->process.n + 1, sizeof *ns);
    uint32_t most = 0, kept = 0;
    if (!ns) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < *n; i++) {
        uint32_t p = process_of(s, order[i]);
        ns[p] = add_i64(ns[p], s->slice.dur[order[i]]);
        if (ns[p] > ns[most]) most = p;
    }
    for (uint32_t i = 0; i < *n; i++)
        if (process_of(s, order[i]) == most) order[kept++] = order[i];
    *n = kept;
    return OK;
}

static status take_steps(seal_ctx *s, uint32_t n_most, error *err) {
    uint32_t *order = seal_scratch(s, 2 * (size_t)n_most + 1, sizeof(uint32_t)), n = 0;
    if (!order) FAIL_MEMORY(err);
    for (uint32_t i = next_step(s, 0); i < s->slice.n; i = next_step(s, i))
        if (!is_inner(s, i)) order[n++] = i;
    sort_index(order, order + n, n, cmp_steps, s);
    TRY(keep_one_process(s, order, &n, err));
    TRY(seal_table(s, TABLE_step, (size_t)n + 1, err));
    for (uint32_t i = 0; i < n; i++) {
        write_row(s, i + 1, order[i]);
        s->step.number[i + 1] = said_number(s, order[i], i ? add_i64(s->step.number[i], 1) : 0);
    }
    return OK;
}

/* ---- names ------------------------------------------------------------------------------- */

typedef struct {
    seal_ctx *s;
    const step_mark **by_name; /* by string id; NULL: not looked at */
    uint32_t n_names;
} step_names_ctx;

static const step_mark NO_MARK = {.group = 0};

/* The mark of a slice, NO_MARK when it has none. A name is either a range's or a frame's. */
static const step_mark *mark_of(step_names_ctx *q, uint32_t slice) {
    uint8_t kind = q->s->slice.kind[slice];
    bool frame = kind == KIND_PYTHON;
    uint32_t name = q->s->slice.name[slice];
    if ((!frame && kind != KIND_ANNOTATION && kind != KIND_OTHER && kind != KIND_FRAMEWORK) ||
        name >= q->n_names)
        return &NO_MARK;
    if (!q->by_name[name]) {
        const step_mark *m = step_mark_of(intern_get(q->s->b->strings, name), frame);
        q->by_name[name] = m ? m : &NO_MARK;
    }
    return q->by_name[name]->frame == frame ? q->by_name[name] : &NO_MARK;
}

/* Slices of one group on one thread, outermost only; how many when `out` is NULL. */
static uint32_t list_marks(step_names_ctx *q, uint32_t track, unsigned group, uint32_t *out) {
    const seal_ctx *s = q->s;
    uint32_t n = 0;
    int64_t until = INT64_MIN;
    for (uint32_t i = s->track.first[track]; i < s->track.end[track]; i++) {
        if (mark_of(q, i)->group != group || s->slice.start[i] < until) continue;
        if (out) out[n] = i;
        n++;
        until = s->slice.start[i] + s->slice.dur[i];
    }
    return n;
}

/* The most trusted group that has enough marks on one thread, and that thread; 0: none. */
static unsigned choose_group(step_names_ctx *q, uint32_t *track) {
    const seal_ctx *s = q->s;
    unsigned best = 0;
    uint32_t most = 0, in_group[UINT8_MAX + 1];
    for (uint32_t t = 1; t < s->track.n; t++) {
        uint8_t least[UINT8_MAX + 1] = {0};
        memset(in_group, 0, sizeof in_group);
        if (s->track.kind[t] != TRACK_THREAD) continue;
        for (uint32_t i = s->track.first[t]; i < s->track.end[t]; i++) {
            const step_mark *m = mark_of(q, i);
            in_group[m->group]++;
            least[m->group] = m->least;
        }
        for (unsigned g = 1; g < step_mark_groups(); g++) {
            if (!in_group[g] || in_group[g] < least[g]) continue;
            if (best && (g > best || (g == best && in_group[g] <= most))) continue;
            best = g;
            most = in_group[g];
            *track = t;
        }
    }
    return best;
}

static void number_marks(step_names_ctx *q) {
    seal_ctx *s = q->s;
    bool rising = true;
    for (uint32_t i = 1; i < s->step.n; i++) {
        uint32_t slice = s->step.slice[i];
        int64_t number = i > 1 ? add_i64(s->step.number[i - 1], 1) : 0;
        if (mark_of(q, slice)->numbered)
            number_of(intern_get(s->b->strings, s->slice.name[slice]), &number);
        s->step.number[i] = number;
        rising &= i == 1 || s->step.number[i] > s->step.number[i - 1];
    }
    for (uint32_t i = 1; i < s->step.n && !rising; i++) s->step.number[i] = i - 1;
}

static status take_marks(seal_ctx *s, error *err) {
    step_names_ctx q = {.s = s, .n_names = (uint32_t)intern_count(s->b->strings)};
    q.by_name = seal_scratch(s, (size_t)q.n_names + 1, sizeof *q.by_name);
    if (!q.by_name) FAIL_MEMORY(err);
    uint32_t track = 0;
    unsigned group = choose_group(&q, &track);
    if (!group) return OK;
    uint32_t n = list_marks(&q, track, group, NULL);
    uint32_t *marks = seal_scratch(s, (size_t)n + 1, sizeof *marks);
    if (!marks) FAIL_MEMORY(err);
    list_marks(&q, track, group, marks);
    TRY(seal_table(s, TABLE_step, (size_t)n + 1, err));
    for (uint32_t i = 0; i < n; i++) write_row(s, i + 1, marks[i]);
    number_marks(&q);
    return OK;
}

status seal_steps(seal_ctx *s, error *err) {
    uint32_t n = 0;
    for (uint32_t i = next_step(s, 0); i < s->slice.n; i = next_step(s, i)) n++;
    if (n) return take_steps(s, n, err);
    TRY(take_marks(s, err));
    return s->step.n > 1 ? OK : seal_unmarked_steps(s, err);
}
