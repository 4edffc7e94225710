/* origins.c: where the time comes from that a job loses by waiting; see origins.h. */
#include "analyse/run/origins.h"

#include "analyse/steps/stages.h"
#include "base/sort.h"

#define COL_O(name) COL(distributed, origins, name)

/* The ranks whose places are looked for; those that cost most come first. */
enum { MOST_PLACES = 64 };

typedef struct {
    run_question *q;
    const culprit **of; /* by worker: NULL: not accused */
    uint32_t *by_step;  /* cells by step, in a step the latest first */
    sort_pair *pairs;
    table *t;
    int64_t given; /* to ranks */
} origins;

/* ---- in words ---------------------------------------------------------------------------- */

static bool has(str text, const char *part) {
    return str_find(text, str_of(part), 0) != SIZE_MAX;
}

static str place_of_frames(const summary_own *p, str caller) {
    if (has(caller, "checkpoint") || has(p->inner, "torch/serialization.py"))
        return STR("checkpoint");
    return has(p->inner, "gc.collect") || has(p->name, "gc.collect") ? STR("gc") : STR_NONE;
}

static str place_name(const culprit *c) {
    static const char *const stages[N_STAGES] = {"data_loader", "forward", "backward",
                                                 "optimizer", "other"};
    const summary_own *p = c->place;
    if (c->slower_kernels || (p && p->kind == OWN_KERNEL)) return STR("device");
    if (!p && c->rank->cause == LATE_NETWORK) return STR("network");
    if (!p && c->rank->cause == LATE_DATA) return STR("data_loader");
    if (!p || p->stage < 0 || p->stage >= N_STAGES) return STR("other");
    if (p->kind == OWN_DATA) return STR("data_loader");
    str known = c->saves ? STR("checkpoint") : STR_NONE;
    if (p->kind == OWN_FRAME) known = place_of_frames(p, c->caller);
    return known.p ? known : str_of(stages[p->stage]);
}

static str cause_name(const culprit *c) {
    if (c->before_ns) return STR("late_start");
    if (c->shapes.n) return STR("more_work");
    if (c->slower > 1) return STR("slower");
    return late_name(c->rank->cause);
}

/* train.py(168): pause. False when the name is not a frame of Python. */
static bool split_frame(str name, str *file, int64_t *line) {
    size_t end = str_find(name, STR("): "), 0), open = end;
    if (end == SIZE_MAX) return false;
    while (open > 0 && name.p[open - 1] != '(') open--;
    if (open < 2 || !str_to_i64(str_n(name.p + open, end - open), line)) return false;
    *file = str_n(name.p, open - 1);
    return true;
}

static void set_line(const culprit *c, table *t, size_t row) {
    str file;
    int64_t line;
    if (!c->place || c->place->kind != OWN_FRAME) return;
    if (!split_frame(c->caller, &file, &line) && !split_frame(c->place->name, &file, &line))
        return;
    table_set_text(t, row, COL_O(file), file);
    table_set_int(t, row, COL_O(line), line);
}

/* ---- rows -------------------------------------------------------------------------------- */

static status write_rank(origins *o, const step_cell *c, int64_t cost, error *err) {
    const culprit *why = o->of[c->worker];
    const summary_worker *w = o->q->who.v[c->worker];
    size_t row;
    TRY(table_add_row(o->t, &row, err));
    table_set_text(o->t, row, COL_O(worker), w->name);
    if (w->rank != ABSENT_I64) table_set_int(o->t, row, COL_O(rank), w->rank);
    table_set_int(o->t, row, COL_O(step), o->q->late.steps[c->step].number);
    table_set_text(o->t, row, COL_O(place), place_name(why));
    table_set_text(o->t, row, COL_O(cause), cause_name(why));
    table_set_int(o->t, row, COL_O(cost), cost);
    set_line(why, o->t, row);
    o->given = add_i64(o->given, cost);
    return OK;
}

/* The late cells of a step, the latest first; those of ranks that are not accused are left to
 * the rest. */
static status write_step(origins *o, uint32_t first, uint32_t end, error *err) {
    const step_cell *cells = o->q->late.cells;
    int64_t left = o->q->late.steps[cells[o->by_step[first]].step].cost;
    for (uint32_t i = first; i < end && left > 0; i++) {
        const step_cell *c = &cells[o->by_step[i]];
        int64_t next = i + 1 < end ? cells[o->by_step[i + 1]].late : 0;
        if (!c->late) break;
        int64_t cost = max_i64(0, sub_i64(left, next));
        left = sub_i64(left, cost);
        if (cost > 0 && o->of[c->worker]) TRY(write_rank(o, c, cost, err));
    }
    return OK;
}

static status sort_cells(origins *o, error *err) {
    const stragglers *l = &o->q->late;
    o->by_step = ARENA_ARRAY(o->q->arena, uint32_t, (size_t)l->n_cells + 1);
    o->pairs = ARENA_ARRAY(o->q->arena, sort_pair, (size_t)l->n_cells + 1);
    if (!o->by_step || !o->pairs) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < l->n_cells; i++)
        o->pairs[i] =
            (sort_pair){(uint64_t)sub_i64(INT64_MAX, max_i64(0, l->cells[i].late)), i};
    if (!sort_radix_in(o->q->arena, o->pairs, l->n_cells)) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < l->n_cells; i++) o->pairs[i].key = l->cells[o->pairs[i].row].step;
    if (!sort_radix_in(o->q->arena, o->pairs, l->n_cells)) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < l->n_cells; i++) o->by_step[i] = o->pairs[i].row;
    return OK;
}

/* What the median rank was blocked in the cells by_step[first … end). */
static int64_t median_blocked(const origins *o, uint32_t first, uint32_t end) {
    uint32_t n = end - first;
    const step_cell *cells = o->q->late.cells;
    for (uint32_t i = 0; i < n; i++)
        o->pairs[i] =
            (sort_pair){(uint64_t)step_cell_blocked(&cells[o->by_step[first + i]]), i};
    if (!sort_radix_in(o->q->arena, o->pairs, n)) return 0;
    return (int64_t)o->pairs[(n - 1) / 2].key;
}

/* What is left of the waiting. */
static status write_rest(origins *o, int64_t blocked, error *err) {
    int64_t rest = max_i64(0, sub_i64(blocked, o->given));
    size_t row;
    if (!rest) return OK;
    bool pipeline = o->q->groups.n_stages > 1 || comm_has_unknown_points(o->q->s);
    TRY(table_add_row(o->t, &row, err));
    table_set_text(o->t, row, COL_O(place), STR("other"));
    table_set_text(o->t, row, COL_O(cause), pipeline ? STR("pipeline") : STR("moves_around"));
    table_set_int(o->t, row, COL_O(cost), rest);
    return OK;
}

static status find_accused(origins *o, error *err) {
    run_question *q = o->q;
    uint32_t n = 0;
    o->of = ARENA_ARRAY(q->arena, const culprit *, (size_t)q->who.n + 1);
    if (!o->of) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < q->late.n_ranks && n < MOST_PLACES; i++) {
        const straggler *r = &q->late.ranks[i];
        if (!culprit_includes(&q->culprit, r)) continue;
        culprit *c = ARENA_ARRAY(q->arena, culprit, 1);
        if (!c) FAIL_MEMORY(err);
        TRY(culprit_look(q->s, &q->who, &q->late, &q->culprit, r, q->arena, c, err));
        o->of[r->worker] = c;
        n++;
    }
    return OK;
}

status origins_write(run_question *q, error *err) {
    origins o = {.q = q, .t = answer_table(q->out, q->arena, "origins")};
    int64_t blocked = 0;
    if (!o.t) FAIL_MEMORY(err);
    TRY(find_accused(&o, err));
    TRY(sort_cells(&o, err));
    for (uint32_t first = 0, end; first < q->late.n_cells; first = end) {
        uint32_t step = q->late.cells[o.by_step[first]].step;
        for (end = first; end < q->late.n_cells && q->late.cells[o.by_step[end]].step == step;
             end++) {}
        TRY(write_step(&o, first, end, err));
        blocked = add_i64(blocked, median_blocked(&o, first, end));
    }
    return write_rest(&o, blocked, err);
}
