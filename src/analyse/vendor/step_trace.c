/* step_trace.c: gap, forward and backward, tail of each step, from the producer's own table or
 * from the operators between two points.
 *
 * Operators are the outermost operators of the host, or the device's tasks where only those
 * were recorded (a compiled graph on an accelerator). They are sorted by start once; the
 * operators of a step are then a range. A point that is asked for is looked up by its full name
 * or the last part of it, in every step; a step without it has no parts. A point the producer
 * timed itself is where its table says when its operator is not among those recorded, and stays
 * in use when only the other one is asked for. Points found without being asked are used only
 * where the names are those of a compiled graph (Type-op12): elsewhere the stages (stages.h)
 * know better, and the points are only named. */
#include "analyse/vendor/step_trace.h"

#include "analyse/comm/comm_kind.h"
#include "analyse/rows.h"
#include "analyse/select.h"
#include "base/bisect.h"
#include "base/map.h"
#include "base/sort.h"

typedef struct {
    int64_t start, end;
    uint32_t name;
    bool comm;
} graph_op;

typedef struct {
    const trace *t;
    arena *arena;
    graph_op *ops; /* by start */
    size_t n;
    str fp, bp, end; /* asked for */
    /* Of points the producer timed: its steps, and its own names. NULL: it timed none. */
    const step_trace_row *given;
    str given_fp, given_bp;
} finder;

/* The last part of a path. */
static str last_part(str name) {
    size_t slash = str_rfind_byte(name, '/');
    return slash == SIZE_MAX ? name : str_from(name, slash + 1);
}

/* Type-op12, as compiled graphs name their operators. */
static bool is_graph_name(str name) {
    size_t n = name.n;
    while (n && name.p[n - 1] >= '0' && name.p[n - 1] <= '9') n--;
    return n < name.n && n > 3 && str_ends(str_n(name.p, n), STR("-op"));
}

static bool fetches_data(str name) {
    str last = last_part(name);
    return str_starts(last, STR("GetNext")) || str_starts(last, STR("InitDataSetQueue")) ||
           str_starts(last, STR("InitData")) || str_starts(last, STR("EndOfSequence"));
}

/* ---- operators --------------------------------------------------------------------------- */

static bool is_outermost_op(const trace *t, uint32_t i) {
    return t->slice.kind[i] == KIND_OP && t->slice.kind[t->slice.parent[i]] != KIND_OP;
}

static bool is_task(const trace *t, uint32_t i) {
    return t->slice.kind[i] == KIND_KERNEL;
}

static status collect_ops(finder *f, error *err) {
    const trace *t = f->t;
    comm_names comm;
    TRY(comm_names_init(&comm, t, f->arena, err));
    bool host = t->kind_count[KIND_OP] > 0;
    size_t most = (size_t)(host ? t->kind_count[KIND_OP] : t->kind_count[KIND_KERNEL]) + 1;
    graph_op *found = ARENA_ARRAY(f->arena, graph_op, most);
    graph_op *sorted = ARENA_ARRAY(f->arena, graph_op, most);
    sort_pair *pairs = ARENA_ARRAY(f->arena, sort_pair, most);
    if (!found || !sorted || !pairs || most > UINT32_MAX) FAIL_MEMORY(err);
    size_t n = 0;
    for (uint32_t i = 1; i < t->slice.n && n < most; i++) {
        if (host ? !is_outermost_op(t, i) : !is_task(t, i)) continue;
        uint32_t k = host ? 0 : trace_kernel_of(t, i);
        bool is_comm =
            host ? comm_host_id(&comm, t->slice.name[i]) : k && comm_kernel_row(&comm, k);
        found[n] = (graph_op){t->slice.start[i], slice_end(t, i), t->slice.name[i], is_comm};
        pairs[n] = (sort_pair){(uint64_t)t->slice.start[i] ^ (uint64_t)1 << 63, (uint32_t)n};
        n++;
    }
    if (!sort_radix_in(f->arena, pairs, n)) FAIL_MEMORY(err);
    for (size_t i = 0; i < n; i++) sorted[i] = found[pairs[i].row];
    f->ops = sorted;
    f->n = n;
    return OK;
}

static size_t first_at(const finder *f, int64_t time) {
    return SEARCH_FIRST(i, 0, f->n, f->ops[i].start < time);
}

/* The operators that start in a step. */
static void ops_of_step(const finder *f, uint32_t step, size_t *from, size_t *to) {
    const trace *t = f->t;
    int64_t end = t->step.end[step];
    if (step + 1 < t->step.n) end = min_i64(end, t->step.start[step + 1]);
    *from = first_at(f, t->step.start[step]);
    *to = max_i64(end, t->step.start[step]) == end ? first_at(f, end) : *from;
}

/* ---- points ------------------------------------------------------------------------------ */

/* A point is named in full or by the last part of its name. */
static bool names_op(str asked, str name) {
    return name.n && (str_eq(name, asked) || str_eq(last_part(name), asked));
}

static bool has_name(const finder *f, size_t i, str asked) {
    return names_op(asked, trace_str(f->t, f->ops[i].name));
}

/* What the producer timed in a step, when the point asked for is its own; NULL otherwise. */
static const step_trace_row *given_point(const finder *f, uint32_t step, str asked, str own) {
    const step_trace_row *row = f->given ? &f->given[step] : NULL;
    bool timed = row && row->known && row->passes.end > row->passes.start;
    return timed && names_op(asked, own) ? row : NULL;
}

/* Index of the forward point in [from, to), SIZE_MAX: none. */
static size_t find_fp(const finder *f, size_t from, size_t to) {
    for (size_t i = from; i < to; i++)
        if (f->fp.n ? has_name(f, i, f->fp)
                    : !fetches_data(trace_str(f->t, f->ops[i].name)) && !f->ops[i].comm)
            return i;
    return SIZE_MAX;
}

/* The last operator before the last collective that is not a collective itself, otherwise the
 * last but one. */
static size_t find_bp(const finder *f, size_t from, size_t to) {
    if (f->bp.n) {
        for (size_t i = to; i-- > from;)
            if (has_name(f, i, f->bp)) return i;
        return SIZE_MAX;
    }
    size_t comm = SIZE_MAX, computing = 0, last = SIZE_MAX, before = SIZE_MAX;
    for (size_t i = from; i < to; i++)
        if (f->ops[i].comm) comm = i;
    for (size_t i = from; i < to && (comm == SIZE_MAX || i < comm); i++) {
        if (f->ops[i].comm) continue;
        computing++;
        before = last;
        last = i;
    }
    if (comm != SIZE_MAX && computing) return last;
    return computing > 1 ? before : last;
}

typedef struct {
    bool fp, bp, end;
} found_points;

/* Where a step ends: after the last run of the operator asked for, else where it was recorded
 * to. */
static int64_t step_end(const finder *f, uint32_t step, bool *any) {
    size_t from, to;
    if (!f->end.n) return f->t->step.end[step];
    ops_of_step(f, step, &from, &to);
    for (size_t i = to; i-- > from;)
        if (has_name(f, i, f->end)) {
            *any = true;
            return f->ops[i].end;
        }
    return f->t->step.end[step];
}

/* A point of a step. */
typedef struct {
    bool known;
    str name;
    interval time;
} step_point;

/* The operator found, at SIZE_MAX what the producer timed itself. */
static step_point place_point(const finder *f, size_t at, const step_trace_row *given,
                              str own) {
    if (at != SIZE_MAX) {
        const graph_op *op = &f->ops[at];
        return (step_point){true, trace_str(f->t, op->name), {op->start, op->end}};
    }
    return given ? (step_point){true, own, given->passes} : (step_point){0};
}

static void set_row(const finder *f, uint32_t step, step_trace *s, found_points *any) {
    size_t from, to;
    ops_of_step(f, step, &from, &to);
    step_point fp = place_point(f, find_fp(f, from, to),
                                given_point(f, step, f->fp, f->given_fp), f->given_fp),
               bp = place_point(f, find_bp(f, from, to),
                                given_point(f, step, f->bp, f->given_bp), f->given_bp);
    any->fp |= fp.known;
    any->bp |= bp.known;
    int64_t step_ends = step_end(f, step, &any->end),
            before = step > 1 ? step_end(f, step - 1, &any->end) : 0;
    if (!fp.known || !bp.known) return;
    if (!s->fp.n) s->fp = fp.name;
    if (!s->bp.n) s->bp = bp.name;
    int64_t start = fp.time.start, end = max_i64(start, bp.time.end);
    s->rows[step] =
        (step_trace_row){.known = true,
                         .gap = step > 1 ? max_i64(0, sub_i64(start, before)) : ABSENT_I64,
                         .passes = {start, end},
                         .tail = max_i64(0, sub_i64(step_ends, end))};
}

static bool is_compiled(const finder *f) {
    return f->n && is_graph_name(trace_str(f->t, f->ops[f->n / 2].name));
}

static status find_points(finder *f, step_trace *s, error *err) {
    const trace *t = f->t;
    bool asked = f->fp.n || f->bp.n || f->end.n;
    found_points any = {0};
    TRY(collect_ops(f, err));
    for (uint32_t i = 1; i < t->step.n; i++) set_row(f, i, s, &any);
    if (asked && (!f->n || t->step.n < 2))
        FAIL0(err, ERR_ARG, NOPOS, MSG_POINTS_NEED_OPERATORS);
    if (f->fp.n && !any.fp)
        FAIL(err, ERR_ARG, NOPOS, MSG_POINT_NOT_FOUND, arg_text("name", f->fp));
    if (f->bp.n && !any.bp)
        FAIL(err, ERR_ARG, NOPOS, MSG_POINT_NOT_FOUND, arg_text("name", f->bp));
    if (f->end.n && !any.end)
        FAIL(err, ERR_ARG, NOPOS, MSG_POINT_NOT_FOUND, arg_text("name", f->end));
    if (any.fp && any.bp) s->source = asked ? POINTS_ASKED : POINTS_FOUND;
    /* Only named, not used: the stages of other producers are marked or have evidence. */
    if (!asked && !is_compiled(f))
        for (uint32_t i = 1; i < t->step.n; i++) s->rows[i].known = false;
    return OK;
}

/* ---- the producer's own ------------------------------------------------------------------ */

static bool stage_is(const trace *t, uint32_t row, const char *stage) {
    return str_eq(trace_str(t, t->producer_step.stage[row]), str_of(stage));
}

static void set_given(const trace *t, uint32_t row, step_trace_row *to) {
    int64_t start = t->producer_step.start[row], dur = t->producer_step.duration[row];
    if (stage_is(t, row, "interval")) to->gap = dur;
    if (stage_is(t, row, "forward_backward"))
        to->passes = (interval){start, add_i64(start, dur)};
    if (stage_is(t, row, "tail")) to->tail = dur;
}

static status take_given(const trace *t, step_trace_row *rows, error *err) {
    map by_number = {0};
    status st = OK;
    for (uint32_t i = 1; i < t->step.n && st == OK; i++) {
        uint32_t *at = map_at(&by_number, (uint64_t)t->step.number[i]);
        if (!at)
            st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
        else
            *at = i;
    }
    for (uint32_t g = 1; g < t->producer_step.n && st == OK; g++) {
        if (t->producer_step.number[g] == ABSENT_I64) continue;
        uint32_t step = map_get(&by_number, (uint64_t)t->producer_step.number[g]);
        if (step == MAP_NONE) continue;
        step_trace_row *row = &rows[step];
        if (!row->known)
            *row = (step_trace_row){.known = true, .gap = ABSENT_I64, .tail = ABSENT_I64};
        set_given(t, g, row);
    }
    map_fini(&by_number);
    return st;
}

bool step_trace_is_likely(const trace *t) {
    enum { LOOK = 4096 };
    bool found = t->producer_step.n > 1;
    for (uint32_t i = 1; i < t->slice.n && i < LOOK && !found; i++)
        found = is_graph_name(trace_slice_name(t, i));
    return found;
}

/* The points asked for are the producer's own, or none is asked for: its table is the
 * answer. */
static bool asks_for_given(const finder *f) {
    return !f->end.n && (!f->fp.n || names_op(f->fp, f->given_fp)) &&
           (!f->bp.n || names_op(f->bp, f->given_bp));
}

/* The producer's steps; where other points than its own are asked for, those its table can
 * still tell. */
static status find_given(finder *f, step_trace *s, error *err) {
    const trace *t = f->t;
    bool own = asks_for_given(f), asked = f->fp.n || f->bp.n || f->end.n;
    /* Collectives of the step trace are not operators. */
    bool tasks = (int64_t)t->kind_count[KIND_KERNEL] > (int64_t)t->comm.n - 1;
    if (asked && !t->kind_count[KIND_OP] && !tasks)
        FAIL0(err, ERR_ARG, NOPOS, MSG_POINTS_NEED_OPERATORS);
    step_trace_row *rows =
        own ? s->rows : ARENA_ARRAY(f->arena, step_trace_row, t->step.n + 1u);
    if (!rows) FAIL_MEMORY(err);
    TRY(take_given(t, rows, err));
    if (own) {
        s->source = POINTS_GIVEN;
        s->fp = f->given_fp;
        s->bp = f->given_bp;
        return OK;
    }
    f->given = rows;
    if (!f->fp.n) f->fp = f->given_fp;
    if (!f->bp.n) f->bp = f->given_bp;
    return find_points(f, s, err);
}

/* The operator that the producer uses as a point; the first one in the files counts. */
static str point_name(const trace *t, step_point_kind point) {
    for (uint32_t i = 1; i < t->step_point.n; i++)
        if (t->step_point.point[i] == point) return trace_str(t, t->step_point.name[i]);
    return STR_NONE;
}

status step_trace_find(const trace *t, const params *p, arena *a, step_trace *out, error *err) {
    finder f = {.t = t, .arena = a};
    step_trace s = {.rows = ARENA_ARRAY(a, step_trace_row, (size_t)t->step.n + 1)};
    if (!s.rows) FAIL_MEMORY(err);
    TRY(trace_require(t, TRACE_TABLE(step_point), err));
    f.fp = param_text(p, STR("fp_point"));
    f.bp = param_text(p, STR("bp_point"));
    f.end = param_text(p, STR("end_point"));
    s.fp_asked = f.fp.n > 0;
    s.bp_asked = f.bp.n > 0;
    s.timed = t->producer_step.n > 1;
    if (s.timed) {
        f.given_fp = point_name(t, POINT_FORWARD_START);
        f.given_bp = point_name(t, POINT_BACKWARD_END);
        TRY(find_given(&f, &s, err));
    } else {
        TRY(find_points(&f, &s, err));
    }
    s.end = f.end;
    *out = s;
    return OK;
}

/* ---- tables ------------------------------------------------------------------------------ */

typedef struct {
    str stage, name, track;
    int64_t start, duration, total; /* start ABSENT_I64: not reported */
} average_row;

static status add_average(table *t, const average_row *r, error *err) {
    row_steps_average row = row_steps_average_none();
    row.stage = r->stage;
    if (r->name.n) row.name = r->name;
    if (r->track.n) row.track = r->track;
    row.start = r->start;
    row.duration = r->duration;
    if (r->total > 0) row.share = (double)r->duration / (double)r->total;
    return put_steps_average(t, &row, err);
}

/* The producer's own average, as it gave it. */
static status write_given_average(const trace *t, table *out, bool *any, error *err) {
    int64_t start = 0, total = 0;
    for (uint32_t g = 1; g < t->producer_step.n; g++) {
        if (t->producer_step.number[g] != ABSENT_I64) continue;
        if (stage_is(t, g, "total")) {
            start = t->producer_step.start[g];
            total = t->producer_step.duration[g];
        }
        *any = true;
        average_row r = {.stage = trace_str(t, t->producer_step.stage[g]),
                         .name = trace_str(t, t->producer_step.name[g]),
                         .track = trace_str(t, t->producer_step.track[g]),
                         .start = sub_i64(t->producer_step.start[g], start),
                         .duration = t->producer_step.duration[g],
                         .total = total};
        TRY(add_average(out, &r, err));
    }
    return OK;
}

/* Sum of a column and how many rows have it. */
static int64_t sum_of(const table *steps, uint32_t col, int64_t *n) {
    int64_t sum = 0;
    *n = 0;
    for (size_t i = 0; i < steps->n_rows; i++) {
        if (table_is_null(steps, i, col)) continue;
        sum = add_i64(sum, steps->columns[col].v.i[i]);
        ++*n;
    }
    return sum;
}

/* What a part is a share of: the steps, communication the steps with their device work. A gap
 * between two steps (gap_is_inside is false) is not part of one. */
static int64_t whole_of(const table *steps, uint32_t part, bool gap_is_inside) {
    int64_t n, whole = sum_of(steps, COL_steps_steps_duration, &n);
    if (part == COL_steps_steps_communication) whole = sum_of(steps, COL_steps_steps_total, &n);
    if (part == COL_steps_steps_gap && !gap_is_inside)
        whole = add_i64(whole, sum_of(steps, COL_steps_steps_gap, &n));
    return whole;
}

static status write_mean(const table *steps, bool gap_is_inside, table *out, error *err) {
    static const struct {
        const char *stage;
        uint32_t column;
    } parts[] = {{"total", COL_steps_steps_duration},
                 {"interval", COL_steps_steps_gap},
                 {"forward_backward", COL_steps_steps_forward_backward},
                 {"tail", COL_steps_steps_tail},
                 {"communication", COL_steps_steps_communication}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        int64_t n, sum = sum_of(steps, parts[i].column, &n);
        if (!n) continue;
        /* Steps that lack a part have none of it: its share is that of all steps. */
        int64_t whole = whole_of(steps, parts[i].column, gap_is_inside);
        average_row r = {.stage = str_of(parts[i].stage),
                         .start = ABSENT_I64,
                         .duration = mean_i64(sum, n),
                         .total = mean_i64(whole, n)};
        TRY(add_average(out, &r, err));
    }
    return OK;
}

/* Where the point in this place of the list comes from. */
static points_source source_of(const step_trace *s, int point) {
    const bool asked[] = {s->fp_asked, s->bp_asked, true};
    if (s->source != POINTS_ASKED || asked[point]) return s->source;
    return s->timed ? POINTS_GIVEN : POINTS_FOUND;
}

static status write_points(const step_trace *s, table *out, error *err) {
    static const char *const how[] = {"", "given", "found", "asked"};
    static const char *const points[] = {"forward_start", "backward_end", "step_end"};
    for (int i = 0; i < 3; i++) {
        str name = i == 0 ? s->fp : i == 1 ? s->bp : s->end;
        if (!name.n || s->source == POINTS_NONE) continue;
        row_steps_points row = row_steps_points_none();
        row.point = str_of(points[i]);
        row.name = name;
        row.source = str_of(how[source_of(s, i)]);
        TRY(put_steps_points(out, &row, err));
    }
    return OK;
}

status step_trace_write(const step_trace *s, const trace *t, const table *steps, arena *a,
                        answer *out, error *err) {
    table *average = answer_table(out, a, "average"), *points = answer_table(out, a, "points");
    bool any = false;
    if (!average || !points) FAIL_MEMORY(err);
    bool all = steps->n_rows + 1 == t->step.n;
    if (s->source == POINTS_GIVEN && all) TRY(write_given_average(t, average, &any, err));
    if (!any && steps->n_rows)
        TRY(write_mean(steps, t->step.n > 1 && s->rows[1].known, average, err));
    return write_points(s, points, err);
}
