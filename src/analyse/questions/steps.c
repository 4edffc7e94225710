/* steps.c: are steps similar, which one is not, which part of it.
 *
 * All steps with their host intervals as recorded, and their length with the device work they
 * launched, as the overview has it (step_spans.h): verdicts speak of that. Forward and backward
 * stretch from the start of the first forward segment to the end of the last backward one
 * (stages.h), the tail from there to the end of the step. Communication is the time of the
 * step, with its device work, in which a collective ran, on the device or on the host; what of
 * it is exposed is defined in exposed.h (of a step that has only a step trace: in
 * untraced_steps.h).
 *
 * A window shows the steps that overlap it, with the part of their length and communication
 * inside, as everywhere; the other columns are of the whole step, and so are verdicts.
 *
 * The table `segments` is what the picture of a step draws: the stages on the host, every
 * collective on its stream, and the stretches of a collective that computation hides (gaps too
 * short to be visible are closed, so that there are at most some hundred a collective). */
#include "analyse/comm/comm_kind.h"
#include "analyse/kind_names.h"
#include "analyse/operators/compiles.h"
#include "analyse/questions/steps_spread.h"
#include "analyse/rules.h"
#include "analyse/select.h"
#include "analyse/serving/iterations.h"
#include "analyse/steps/partial_recording.h"
#include "analyse/steps/stages.h"
#include "analyse/steps/step_spans.h"
#include "analyse/vendor/step_trace.h"
#include "analyse/vendor/untraced_steps.h"
#include "base/bisect.h"
#include "base/message_ids_advice.h"
#include "base/sort.h"

#define COL_S(table, name) COL(steps, table, name)

/* A collective: on the device or on the host. */
typedef struct {
    int64_t start, end;
    uint32_t slice, step; /* row of table step */
} collective;

typedef struct {
    const trace *t;
    selection select;
    arena *arena;
    stage_segments segments;
    step_trace trace;               /* by points, where they are known */
    intervals compute, comm, alone; /* alone: communication without computation */
    role_ranges ranges;             /* what runs when */
    intervals busy;                 /* the device does anything */
    step_spans steps;               /* adjusted for device work */
    const step_span **spans;        /* the same by row of table step */
    collective *comms;              /* by step, start */
    size_t n_comms;
    compile_events compiles;
} question;

typedef struct {
    int64_t total, communication, exposed;
    interval training; /* first forward to last backward; empty: no evidence */
    bool has_backward;
} step_facts;

/* The part of the step, with its device work, that is in the window: as in step_spans_make. */
static interval part_of(const question *q, uint32_t step) {
    const step_span *span = q->spans[step];
    return (interval){max_i64(span->start, q->select.from_ns),
                      min_i64(span->end, q->select.to_ns)};
}

static bool is_cut(const question *q, uint32_t step) {
    const step_span *span = q->spans[step];
    return span->start < q->select.from_ns || span->end > q->select.to_ns;
}

static bool is_selected(const question *q, uint32_t step) {
    int64_t number = q->t->step.number[step];
    if (q->select.by_step && (number < q->select.first_step || number > q->select.last_step))
        return false;
    interval part = part_of(q, step);
    return !q->select.by_time || part.end > part.start;
}

/* Where the step's own moments end: a moment belongs to the step that began last. */
static int64_t own_end(const trace *t, uint32_t step) {
    int64_t next = step + 1 < t->step.n ? t->step.start[step + 1] : INT64_MAX;
    return min_i64(t->step.end[step], next);
}

static uint64_t sort_key(int64_t v) {
    return (uint64_t)v ^ (uint64_t)1 << 63;
}

/* Every collective with the step of its launch, unsorted; how many there are when `out` is
 * NULL. */
static size_t list_collectives(const trace *t, comm_names *names, collective *out) {
    size_t n = 0;
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        if (!comm_kernel_row(names, k)) continue;
        uint32_t slice = t->kernel.slice[k], step = trace_step_of_work(t, k);
        if (out && step)
            out[n] = (collective){t->slice.start[slice], slice_end(t, slice), slice, step};
        n += step != 0;
    }
    for (uint32_t i = 1; i < t->slice.n; i++) {
        uint8_t kind = t->slice.kind[i];
        if (kind != KIND_COLLECTIVE && ((kind != KIND_OP && kind != KIND_ANNOTATION) ||
                                        !comm_host_id(names, t->slice.name[i])))
            continue;
        if (comm_is_call(names, i)) continue;
        uint32_t step = trace_step_at(t, t->slice.start[i]);
        if (out && step) out[n] = (collective){t->slice.start[i], slice_end(t, i), i, step};
        n += step != 0;
    }
    return n;
}

static status find_collectives(question *q, error *err) {
    comm_names names;
    TRY(comm_names_init(&names, q->t, q->arena, err));
    size_t n = list_collectives(q->t, &names, NULL);
    collective *found = ARENA_ARRAY(q->arena, collective, n + 1);
    collective *sorted = ARENA_ARRAY(q->arena, collective, n + 1);
    sort_pair *pairs = ARENA_ARRAY(q->arena, sort_pair, n + 1);
    if (!found || !sorted || !pairs || n > UINT32_MAX) FAIL_MEMORY(err);
    list_collectives(q->t, &names, found);
    for (size_t i = 0; i < n; i++)
        pairs[i] = (sort_pair){sort_key(found[i].start), (uint32_t)i};
    if (!sort_radix_in(q->arena, pairs, n)) FAIL_MEMORY(err);
    for (size_t i = 0; i < n; i++) pairs[i].key = found[pairs[i].row].step;
    if (!sort_radix_in(q->arena, pairs, n)) FAIL_MEMORY(err);
    for (size_t i = 0; i < n; i++) sorted[i] = found[pairs[i].row];
    q->comms = sorted;
    q->n_comms = n;
    return OK;
}

/* Communication in the step as it is on the device (step_spans.h): never more than the step. */
static void add_communication(const question *q, uint32_t step, step_facts *f) {
    interval part = part_of(q, step);
    f->total = max_i64(0, sub_i64(part.end, part.start));
    f->communication = intervals_ns_in(&q->comm, part.start, part.end);
    f->exposed = intervals_ns_in(&q->alone, part.start, part.end);
}

/* Finds the stretch of forward and backward segments that start in the step. */
static void find_training(const question *q, uint32_t step, size_t *at, step_facts *f) {
    const trace *t = q->t;
    bool any = false;
    while (*at < q->segments.n && q->segments.v[*at].range.start < t->step.start[step]) ++*at;
    for (size_t i = *at; i < q->segments.n && q->segments.v[i].range.start < own_end(t, step);
         i++) {
        const stage_segment *s = &q->segments.v[i];
        if (s->stage != STAGE_FORWARD && s->stage != STAGE_BACKWARD) continue;
        if (!any) f->training.start = s->range.start;
        f->training.end = s->range.end;
        f->has_backward |= s->stage == STAGE_BACKWARD;
        any = true;
    }
}

static status add_segment(table *t, const question *q, uint32_t step, interval range,
                          error *err) {
    size_t row;
    TRY(table_add_row(t, &row, err));
    table_set_int(t, row, COL_S(segments, step), q->t->step.number[step]);
    table_set_int(t, row, COL_S(segments, start), sub_i64(range.start, q->t->start_ns));
    table_set_int(t, row, COL_S(segments, duration), sub_i64(range.end, range.start));
    return OK;
}

static status write_stage_segments(table *t, const question *q, uint32_t step, size_t at,
                                   error *err) {
    for (; at < q->segments.n && q->segments.v[at].range.start < own_end(q->t, step); at++) {
        TRY(add_segment(t, q, step, q->segments.v[at].range, err));
        size_t row = t->n_rows - 1;
        table_set_text(t, row, COL_S(segments, stage), stage_name(q->segments.v[at].stage));
        table_set_text(t, row, COL_S(segments, track), STR("host"));
        table_set_text(t, row, COL_S(segments, name), stage_name(q->segments.v[at].stage));
    }
    return OK;
}

/* What is in the rows of one collective. */
typedef struct {
    str stage, track, name;
    uint32_t step;
} comm_words;

static status add_comm_segment(table *t, const question *q, const comm_words *w, interval range,
                               error *err) {
    TRY(add_segment(t, q, w->step, range, err));
    size_t row = t->n_rows - 1;
    table_set_text(t, row, COL_S(segments, stage), w->stage);
    table_set_text(t, row, COL_S(segments, track), w->track);
    table_set_text(t, row, COL_S(segments, name), w->name);
    return OK;
}

/* First computing range that ends after the moment. */
static size_t first_computing(const intervals *v, int64_t at) {
    return SEARCH_FIRST(k, 0, v->n, v->v[k].end <= at);
}

enum { SEEN = 200 }; /* a gap shorter than the SEEN-th part of a collective is closed */

static status write_hidden(table *t, const question *q, const comm_words *w, interval range,
                           error *err) {
    int64_t gap = sub_i64(range.end, range.start) / SEEN;
    interval piece = {range.start, range.start};
    for (size_t i = first_computing(&q->compute, range.start);
         i < q->compute.n && q->compute.v[i].start < range.end; i++) {
        int64_t start = max_i64(q->compute.v[i].start, range.start);
        if (piece.end > piece.start && sub_i64(start, piece.end) > gap) {
            TRY(add_comm_segment(t, q, w, piece, err));
            piece.end = piece.start;
        }
        if (piece.end == piece.start) piece.start = start;
        piece.end = min_i64(q->compute.v[i].end, range.end);
    }
    return piece.end > piece.start ? add_comm_segment(t, q, w, piece, err) : OK;
}

/* The parts between the points, in place of the stages. */
static status write_point_segments(table *t, const question *q, uint32_t step, error *err) {
    const step_trace_row *r = &q->trace.rows[step];
    int64_t end = q->t->step.end[step];
    const struct {
        const char *stage;
        interval range;
    } parts[] = {
        {"interval",
         {r->gap == ABSENT_I64 ? r->passes.start : sub_i64(r->passes.start, r->gap),
          r->passes.start}},
        {"forward_backward", r->passes},
        {"tail", {r->passes.end, r->tail == ABSENT_I64 ? r->passes.end : end}},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].range.end <= parts[i].range.start) continue;
        TRY(add_segment(t, q, step, parts[i].range, err));
        size_t row = t->n_rows - 1;
        table_set_text(t, row, COL_S(segments, stage), str_of(parts[i].stage));
        table_set_text(t, row, COL_S(segments, track), STR("step"));
        table_set_text(t, row, COL_S(segments, name), str_of(parts[i].stage));
    }
    return OK;
}

static status write_collectives(table *t, const question *q, uint32_t step, size_t at,
                                error *err) {
    const trace *tr = q->t;
    for (; at < q->n_comms && q->comms[at].step == step; at++) {
        const collective *c = &q->comms[at];
        interval range = {c->start, c->end};
        uint32_t track = trace_track_of(tr, c->slice), comm = trace_comm_of(tr, c->slice);
        uint32_t name =
            comm && tr->comm.name[comm] ? tr->comm.name[comm] : tr->slice.name[c->slice];
        comm_words w = {STR("communication"), trace_str(tr, tr->track.name[track]),
                        trace_str(tr, name), step};
        if (!w.track.n)
            w.track = arena_printf(t->arena, "%lld", (long long)tr->track.tid[track]);
        if (!w.track.p) FAIL_MEMORY(err);
        TRY(add_comm_segment(t, q, &w, range, err));
        table_set_int(t, t->n_rows - 1, COL_S(segments, exposed),
                      intervals_ns_in(&q->alone, range.start, range.end));
        w.stage = STR("hidden");
        TRY(write_hidden(t, q, &w, range, err));
    }
    return OK;
}

/* Its device work is missing or incomplete. */
static bool is_left_out(const question *q, uint32_t step) {
    const step_span *span = q->spans[step];
    return q->steps.n_left_out && span >= q->steps.left_out &&
           span < q->steps.left_out + q->steps.n_left_out;
}

static status write_step(table *t, const question *q, uint32_t step, const step_facts *f,
                         error *err) {
    const trace *tr = q->t;
    size_t row;
    TRY(table_add_row(t, &row, err));
    int64_t start = tr->step.start[step], end = tr->step.end[step];
    table_set_int(t, row, COL_S(steps, step), tr->step.number[step]);
    table_set_int(t, row, COL_S(steps, start), sub_i64(start, tr->start_ns));
    table_set_int(t, row, COL_S(steps, end), sub_i64(end, tr->start_ns));
    table_set_int(t, row, COL_S(steps, duration), sub_i64(end, start));
    if (!is_left_out(q, step)) table_set_int(t, row, COL_S(steps, total), f->total);
    if (q->select.by_time) table_set_int(t, row, COL_S(steps, cut), is_cut(q, step));
    table_set_text(t, row, COL_S(steps, source), step_source(tr->step.how[step]));
    const step_trace_row *by_points = &q->trace.rows[step];
    if (by_points->known) {
        if (by_points->gap != ABSENT_I64)
            table_set_int(t, row, COL_S(steps, gap), by_points->gap);
        table_set_int(t, row, COL_S(steps, forward_backward),
                      sub_i64(by_points->passes.end, by_points->passes.start));
        if (by_points->tail != ABSENT_I64)
            table_set_int(t, row, COL_S(steps, tail), by_points->tail);
    }
    if (!by_points->known && step > 1)
        table_set_int(t, row, COL_S(steps, gap),
                      max_i64(0, sub_i64(start, tr->step.end[step - 1])));
    if (!by_points->known && f->training.end > f->training.start)
        table_set_int(t, row, COL_S(steps, forward_backward),
                      sub_i64(f->training.end, f->training.start));
    if (!by_points->known && f->has_backward)
        table_set_int(t, row, COL_S(steps, tail), max_i64(0, sub_i64(end, f->training.end)));
    if (!q->n_comms) return OK; /* a run of one process has none to show */
    table_set_int(t, row, COL_S(steps, communication), f->communication);
    table_set_int(t, row, COL_S(steps, exposed_communication), f->exposed);
    return OK;
}

/* ---- verdict ----------------------------------------------------------------------------- */

typedef struct {
    const question *q;
    uint32_t n, n_rows, n_cut; /* whole steps; all that are shown; of them cut by the window */
    int64_t median, longest, longest_step, shortest;
    bool longest_is_first;
    bool first_is_long_on_host; /* not only its device work, which the next one waits for */
    /* Means over the whole steps that have it; ABSENT_I64: not known. Those of a step trace are
     * the producer's; exposed communication is ours. */
    int64_t mean, tail, interval, exposed;
    int64_t loading;        /* of data, while nothing of the device or the runtime runs */
    uint32_t loading_slice; /* in which most of it is spent; 0 = not asked for */
    /* Of steps after the first: how many compile, and for how long */
    int64_t n_compiling, compiling, later;
    str collective; /* the longest exposed one of them, and how long it takes */
    int64_t collective_ns;
    uint32_t collective_slice;
} steps_facts;

#define PART_SHARE 0.2

/* A step that is far longer than the others is the story then. */
static bool another_stands_out(const steps_facts *f) {
    return !f->longest_is_first && f->n >= 3 &&
           (double)f->longest >= 1.5 * (double)max_i64(1, f->median);
}

static bool say_part(const steps_facts *f, int64_t part, verdict *v) {
    if (part == ABSENT_I64 || f->mean <= 0 || another_stands_out(f)) return false;
    double share = (double)part / (double)f->mean;
    if (share < PART_SHARE) return false;
    verdict_add(v, arg_share("share", share));
    verdict_add(v, arg_time("time", part));
    if (f->n == 1) verdict_add(v, arg_id("one", f->longest_step));
    return true;
}

static void say_collective(const steps_facts *f, verdict *v) {
    if (!f->collective.n) return;
    verdict_add(v, arg_text("collective", f->collective));
    verdict_add(v, arg_time("longest", f->collective_ns));
    verdict_add(v, arg_id("slice", f->collective_slice));
}

static bool interval_is_long(const void *facts, verdict *v) {
    const steps_facts *f = facts;
    return f->interval >= f->tail && say_part(f, f->interval, v);
}

static bool tail_is_long(const void *facts, verdict *v) {
    const steps_facts *f = facts;
    if (!say_part(f, f->tail, v)) return false;
    say_collective(f, v);
    return true;
}

static bool communication_is_exposed(const void *facts, verdict *v) {
    const steps_facts *f = facts;
    if (!say_part(f, f->exposed, v)) return false;
    say_collective(f, v);
    return true;
}

static bool loading_is_long(const void *facts, verdict *v) {
    const steps_facts *f = facts;
    if (!say_part(f, f->loading, v)) return false;
    if (f->loading_slice) verdict_add(v, arg_id("slice", f->loading_slice));
    return true;
}

/* What it compiled beyond what others take. */
static void say_compiling(const steps_facts *f, verdict *v) {
    const trace *t = f->q->t;
    for (uint32_t i = 1; i < t->step.n; i++)
        if (t->step.number[i] == f->longest_step)
            compiles_say(t, &f->q->compiles, (interval){t->step.start[i], t->step.end[i]},
                         sub_i64(f->longest, f->median), f->q->arena, v);
}

static bool many_compile(const void *facts, verdict *v) {
    const steps_facts *f = facts;
    const trace *t = f->q->t;
    if (f->n_compiling < 2 || (double)f->compiling < PART_SHARE * (double)f->later)
        return false;
    verdict_add(v, arg_int("count", f->n_compiling));
    verdict_add(v, arg_int("all", sub_i64(f->n, 1)));
    verdict_add(v, arg_time("time", f->compiling));
    verdict_add(v, arg_share("share", (double)f->compiling / (double)max_i64(1, f->later)));
    compiles_say(t, &f->q->compiles, (interval){t->step.end[1], t->end_ns}, 0, f->q->arena, v);
    return true;
}

static bool first_is_slow(const void *facts, verdict *v) {
    const steps_facts *f = facts;
    if (f->n < 3 || !f->longest_is_first || (double)f->longest < 1.3 * (double)f->median ||
        !f->median || !f->first_is_long_on_host)
        return false;
    verdict_add(v, arg_id("step", f->longest_step));
    verdict_add(v, arg_time("duration", f->longest));
    verdict_add(v, arg_time("median", f->median));
    verdict_add(v, arg_real("ratio", (double)f->longest / (double)f->median));
    say_compiling(f, v);
    return true;
}

static bool one_is_slow(const void *facts, verdict *v) {
    const steps_facts *f = facts;
    if (f->n < 3 || (double)f->longest < 1.2 * (double)f->median || !f->median) return false;
    verdict_add(v, arg_id("step", f->longest_step));
    verdict_add(v, arg_time("duration", f->longest));
    verdict_add(v, arg_time("median", f->median));
    verdict_add(v, arg_real("ratio", (double)f->longest / (double)f->median));
    say_compiling(f, v);
    return true;
}

static bool all_are_similar(const void *facts, verdict *v) {
    const steps_facts *f = facts;
    if (!f->n || !f->median) return false;
    verdict_add(v, arg_int("count", f->n));
    verdict_add(v, arg_time("median", f->median));
    verdict_add(
        v, arg_share("spread", (double)sub_i64(f->longest, f->shortest) / (double)f->median));
    if (f->shortest > 0 && f->longest / f->shortest >= 2)
        verdict_add(v, arg_real("ratio", (double)f->longest / (double)f->shortest));
    return true;
}

static bool no_steps(const void *facts, verdict *v) {
    (void)v;
    return !((const steps_facts *)facts)->n_rows;
}

static bool all_are_cut(const void *facts, verdict *v) {
    const steps_facts *f = facts;
    if (f->n || !f->n_cut) return false;
    verdict_add(v, arg_int("count", f->n_cut));
    verdict_add(v, arg_id("step", f->longest_step));
    return true;
}

static bool none_is_whole(const void *facts, verdict *v) {
    const steps_facts *f = facts;
    if (f->n) return false;
    verdict_add(v, arg_int("count", f->n_rows));
    return true;
}

static const rule rules[] = {
    {"steps_none", MSG_VERDICT_STEPS_NONE, SEVERITY_INFO, no_steps},
    {"steps_cut", MSG_VERDICT_STEPS_CUT, SEVERITY_INFO, all_are_cut},
    {"steps_incomplete", MSG_VERDICT_STEPS_INCOMPLETE, SEVERITY_WARNING, none_is_whole},
    {"steps_interval", MSG_VERDICT_STEPS_INTERVAL, SEVERITY_WARNING, interval_is_long},
    {"steps_tail", MSG_VERDICT_STEPS_TAIL, SEVERITY_WARNING, tail_is_long},
    {"steps_exposed", MSG_VERDICT_STEPS_EXPOSED, SEVERITY_WARNING, communication_is_exposed},
    {"steps_loading", MSG_VERDICT_STEPS_LOADING, SEVERITY_WARNING, loading_is_long},
    {"steps_compile", MSG_VERDICT_STEPS_COMPILE, SEVERITY_WARNING, many_compile},
    {"steps_first_slow", MSG_VERDICT_STEPS_FIRST_SLOW, SEVERITY_INFO, first_is_slow},
    {"steps_uneven", MSG_VERDICT_STEPS_UNEVEN, SEVERITY_WARNING, one_is_slow},
    {"steps_even", MSG_VERDICT_STEPS_EVEN, SEVERITY_GOOD, all_are_similar},
};

/* The mean of a column over rows that are not cut; ABSENT_I64 when none has it. */
static int64_t mean_column(const table *t, uint32_t part) {
    int64_t sum = 0, n = 0;
    for (size_t i = 0; i < t->n_rows; i++) {
        bool cut =
            !table_is_null(t, i, COL_S(steps, cut)) && t->columns[COL_S(steps, cut)].v.i[i];
        if (cut || table_is_null(t, i, part) || table_is_null(t, i, COL_S(steps, total)))
            continue;
        sum = add_i64(sum, t->columns[part].v.i[i]);
        n++;
    }
    return n ? mean_i64(sum, n) : ABSENT_I64;
}

/* The step shown that is nearest to the median: a typical one. 0 when there is none. */
static uint32_t typical_step(const question *q, int64_t median) {
    uint32_t found = 0;
    uint64_t nearest = UINT64_MAX;
    for (uint32_t i = 1; i < q->t->step.n; i++) {
        if (!is_selected(q, i) || is_cut(q, i)) continue;
        uint64_t off = abs_u64(sub_i64(step_span_ns(q->spans[i]), median));
        if (off >= nearest) continue;
        nearest = off;
        found = i;
    }
    return found;
}

static str collective_name(const trace *t, uint32_t slice) {
    uint32_t k = trace_comm_of(t, slice);
    str name = k ? trace_str(t, t->comm.name[k]) : STR_NONE;
    return name.n ? name : trace_slice_name(t, slice);
}

/* The collective of a typical step that is exposed longest; where the end of the backward pass
 * is known, of those that start after it. */
static void find_exposed(const question *q, steps_facts *f) {
    uint32_t step = typical_step(q, f->median);
    const step_trace_row *by_points = &q->trace.rows[step];
    for (size_t i = 0; i < q->n_comms && step; i++) {
        const collective *c = &q->comms[i];
        if (c->step != step || (by_points->known && c->start < by_points->passes.end)) continue;
        int64_t alone = intervals_ns_in(&q->alone, c->start, c->end);
        if (alone <= f->collective_ns) continue;
        f->collective_ns = alone;
        f->collective_slice = c->slice;
        f->collective = collective_name(q->t, c->slice);
    }
}

/* Loading of data as the average step has it, and where it costs most. A step trace has its
 * own word for it: the interval. */
static status find_loading(const question *q, steps_facts *f, error *err) {
    step_spans shown = {.v = ARENA_ARRAY(q->arena, step_span, (size_t)q->t->step.n + 1)};
    step_parts *parts;
    role_place places[N_ROLES];
    int64_t sum = 0;
    f->loading = ABSENT_I64;
    if (!shown.v) FAIL_MEMORY(err);
    if (q->trace.timed) return OK;
    for (uint32_t i = 1; i < q->t->step.n; i++)
        if (is_selected(q, i) && !is_cut(q, i) && !is_left_out(q, i))
            shown.v[shown.n++] = *q->spans[i];
    if (!shown.n) return OK;
    TRY(breakdown_make(&q->ranges, &shown, q->arena, &parts, err));
    for (uint32_t i = 0; i < shown.n; i++) sum = add_i64(sum, parts[i].ns[ROLE_DATA_LOADER]);
    f->loading = mean_i64(sum, shown.n);
    if ((double)f->loading < PART_SHARE * (double)f->mean) return OK;
    TRY(breakdown_places(q->t, &q->ranges, &shown, q->arena, places, err));
    f->loading_slice = places[ROLE_DATA_LOADER].slice;
    return OK;
}

/* Parts of a step trace where the producer has one: what we see as the end of backward may be
 * the loading of data. */
static void find_parts(const question *q, const table *t, steps_facts *f) {
    f->mean = mean_column(t, COL_S(steps, total));
    f->exposed = mean_column(t, COL_S(steps, exposed_communication));
    f->tail = f->interval = ABSENT_I64;
    if (q->trace.timed) {
        f->tail = mean_column(t, COL_S(steps, tail));
        f->interval = mean_column(t, COL_S(steps, gap));
    }
    find_exposed(q, f);
}

/* Is the first step shown long before its device work is waited for? */
static bool is_first_long_on_host(const question *q) {
    int64_t first = 0, others = 0, n = 0;
    for (uint32_t i = 1; i < q->t->step.n; i++) {
        if (!is_selected(q, i) || is_cut(q, i) || is_left_out(q, i)) continue;
        int64_t ns = sub_i64(q->spans[i]->host_end, q->spans[i]->host_start);
        if (n++ == 0)
            first = ns;
        else
            others = add_i64(others, ns);
    }
    return n > 1 && (double)first >= 1.3 * (double)mean_i64(others, sub_i64(n, 1));
}

/* Among the steps shown, without the first. */
static void find_compiling(const question *q, steps_facts *f) {
    const compile_event *longest;
    bool any = false;
    for (uint32_t i = 1; i < q->t->step.n; i++) {
        if (!is_selected(q, i) || is_cut(q, i)) continue;
        interval range = {q->t->step.start[i], q->t->step.end[i]};
        int64_t ns = compiles_ns_in(q->t, &q->compiles, range, &longest);
        if (any) {
            f->n_compiling += ns > 0;
            f->compiling = add_i64(f->compiling, ns);
            f->later = add_i64(f->later, sub_i64(range.end, range.start));
        }
        any = true;
    }
}

static status write_compilations(const question *q, table *to, error *err) {
    const trace *t = q->t;
    for (uint32_t i = 0; i < q->compiles.n; i++) {
        const compile_event *e = &q->compiles.v[i];
        uint32_t step = trace_step_at(t, t->slice.start[e->slice]);
        size_t row;
        if (step && !is_selected(q, step)) continue;
        if (!step && !select_counts(&q->select, e->slice)) continue;
        TRY(table_add_row(to, &row, err));
        if (step) table_set_int(to, row, COL_S(compilations, step), t->step.number[step]);
        table_set_text(to, row, COL_S(compilations, what), e->what);
        if (e->why.n) table_set_text(to, row, COL_S(compilations, why), e->why);
        if (e->site) {
            table_set_text(to, row, COL_S(compilations, file),
                           trace_str(t, t->frame.file[e->site]));
            table_set_int(to, row, COL_S(compilations, line), t->frame.line[e->site]);
        }
        table_set_int(to, row, COL_S(compilations, duration), t->slice.dur[e->slice]);
        table_set_int(to, row, COL_S(compilations, start),
                      sub_i64(t->slice.start[e->slice], t->start_ns));
        table_set_int(to, row, COL_S(compilations, slice), e->slice);
    }
    return OK;
}

/* The steps shown whose device work is complete and that the window does not cut. */
static status judge(question *q, const table *t, answer *out, error *err) {
    const int64_t *total = t->columns[COL_S(steps, total)].v.i;
    step_spans shown = {.v = ARENA_ARRAY(q->arena, step_span, t->n_rows + 1)};
    steps_facts f = {
        .q = q, .n_rows = sat_u32(t->n_rows), .longest = INT64_MIN, .shortest = INT64_MAX};
    if (!shown.v) FAIL_MEMORY(err);
    for (size_t i = 0; i < t->n_rows; i++) {
        if (table_is_null(t, i, COL_S(steps, total))) continue;
        if (!table_is_null(t, i, COL_S(steps, cut)) && t->columns[COL_S(steps, cut)].v.i[i]) {
            f.n_cut++;
            if (!shown.n) f.longest_step = t->columns[COL_S(steps, step)].v.i[i];
            continue;
        }
        shown.v[shown.n++] = (step_span){.end = total[i]};
        if (total[i] > f.longest) {
            f.longest = total[i];
            f.longest_step = t->columns[COL_S(steps, step)].v.i[i];
            f.longest_is_first = shown.n == 1;
        }
        f.shortest = min_i64(f.shortest, total[i]);
    }
    f.n = shown.n;
    f.first_is_long_on_host = is_first_long_on_host(q);
    /* As in every average, warm-up steps do not count, unless they were selected. */
    bool all = !q->select.by_step && !q->select.by_time;
    TRY(step_spans_median(all ? &q->steps : &shown, q->arena, &f.median, err));
    find_parts(q, t, &f);
    find_compiling(q, &f);
    TRY(find_loading(q, &f, err));
    rules_apply(rules, sizeof rules / sizeof *rules, &f, &out->verdict);
    return OK;
}

/* All steps, whatever is selected: who selects one sees the same numbers. In this order: those
 * that warm up, those that count, those that are left out. */
static status find_spans(question *q, step_spans *whole, error *err) {
    selection all = select_all(q->t);
    q->spans = ARENA_ARRAY(q->arena, const step_span *, (size_t)q->t->step.n + 1);
    if (!q->spans) FAIL_MEMORY(err);
    TRY(step_spans_make(q->t, &all, q->arena, &q->steps, err));
    *whole = (step_spans){.v = q->steps.v - q->steps.n_warm_up,
                          .n = q->steps.n_warm_up + q->steps.n + q->steps.n_left_out};
    for (uint32_t i = 0; i < whole->n; i++) q->spans[whole->v[i].row] = &whole->v[i];
    return OK;
}

/* A server's iterations are of several kinds: whether they are similar is not the question. An
 * iteration has all of its tokens where it begins: rates are of whole ones. */
static status judge_serving(question *q, answer *out, bool *serves, error *err) {
    iterations_question asked = {.t = q->t,
                                 .spans = q->spans,
                                 .busy = q->busy,
                                 .shown =
                                     ARENA_ARRAY(q->arena, bool, (size_t)q->t->step.n + 1)};
    verdict v = {.id = "serving", .message = MSG_VERDICT_SERVING, .severity = SEVERITY_INFO};
    if (!asked.shown) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < q->t->step.n; i++)
        asked.shown[i] = is_selected(q, i) && q->spans[i]->host_start >= q->select.from_ns;
    TRY(iterations_write(&asked, q->arena, out, &v, serves, err));
    if (*serves) out->verdict = v;
    return OK;
}

/* Where a step trace is all there is of a step, the device computes from the start of forward
 * to the end of backward (untraced_steps.h): the picture shows that. */
static status draw_given_passes(question *q, const step_spans *all, const untraced_steps *bare,
                                error *err) {
    for (uint32_t i = 0; i < all->n && q->trace.source == POINTS_GIVEN; i++) {
        const step_trace_row *r = &q->trace.rows[all->v[i].row];
        if (bare->bare[i] && r->known)
            intervals_add(&q->compute, r->passes.start, r->passes.end);
    }
    intervals_merge(&q->compute);
    if (q->compute.failed) FAIL_MEMORY(err);
    return OK;
}

static status prepare(question *q, const params *p, error *err) {
    step_spans all;
    untraced_steps bare;
    TRY(find_spans(q, &all, err));
    TRY(step_trace_find(q->t, p, q->arena, &q->trace, err));
    TRY(role_ranges_make(q->t, (interval){INT64_MIN, INT64_MAX}, q->arena, &q->ranges, err));
    q->compute = q->ranges.at[q->t->kernel.n > 1 ? ROLE_KERNEL : ROLE_CPU_EXEC];
    q->comm = q->ranges.at[ROLE_COMMUNICATION];
    q->busy = q->ranges.device;
    TRY(untraced_steps_find(q->t, &all, &q->ranges, &bare, err));
    q->alone = q->ranges.exposed;
    TRY(draw_given_passes(q, &all, &bare, err));
    TRY(stages_find(q->t, q->arena, &q->segments, err));
    TRY(compiles_find(q->t, q->arena, &q->compiles, err));
    return find_collectives(q, err);
}

status analyse_steps(const analysis_input *in, const params *p, arena *a, answer *out,
                     error *err) {
    question q = {.t = in->traces[0].trace, .arena = a};
    TRY(answer_begin("steps", in, a, out, err));
    TRY(trace_require(q.t,
                      SELECT_TABLES | TRACE_TABLE(op) | TRACE_TABLE(comm) |
                          TRACE_TABLE(producer_step) | TRACE_TABLE(meta) | PARTIAL_TABLES |
                          COMPILES_TABLES,
                      err));
    select_init(&q.select, q.t, p);
    TRY(prepare(&q, p, err));
    table *steps = answer_table(out, a, "steps"), *segments = answer_table(out, a, "segments");
    if (!steps || !segments) FAIL_MEMORY(err);
    size_t comm = 0, segment = 0;
    for (uint32_t i = 1; i < q.t->step.n; i++) {
        step_facts f = {0};
        while (comm < q.n_comms && q.comms[comm].step < i) comm++;
        add_communication(&q, i, &f);
        find_training(&q, i, &segment, &f);
        if (!is_selected(&q, i)) continue;
        TRY(write_step(steps, &q, i, &f, err));
        TRY(q.trace.rows[i].known ? write_point_segments(segments, &q, i, err)
                                  : write_stage_segments(segments, &q, i, segment, err));
        TRY(write_collectives(segments, &q, i, comm, err));
    }
    TRY(steps_write_spread(steps, a, out, err));
    table *compilations = answer_table(out, a, "compilations");
    if (!compilations) FAIL_MEMORY(err);
    TRY(write_compilations(&q, compilations, err));
    TRY(step_trace_write(&q.trace, q.t, steps, a, out, err));
    bool serves = false;
    TRY(judge_serving(&q, out, &serves, err));
    if (!serves) TRY(judge(&q, steps, out, err));
    if (!partial_recording_judge(q.t, &out->verdict))
        (void)cold_start_judge(q.t, &q.steps.cold, &out->verdict);
    answer_finish(out, p);
    return OK;
}
