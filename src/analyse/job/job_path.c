/* job_path.c: the critical path of a job, from rank to rank.
 *
 * The path of each step (critical_path_of_job) is one row for each of its pieces, and one row
 * for each leg: the time for which it stays on one rank. Sums say what is on it by kind, rank,
 * name, module and line. Which ranks and stages are late, and so the verdict, come from
 * comparing ranks with each other (run/job.h). */
#include "analyse/job/job_path.h"

#include "analyse/job/path_owners.h"
#include "analyse/job/path_sums.h"
#include "analyse/operators/module_work.h"
#include "analyse/rows.h"
#include "analyse/rules.h"
#include "analyse/run/summary_filter.h"
#include "base/message_ids_advice.h"
#include "base/num.h"

#define OWNER_TABLES \
    (TRACE_TABLE(module) | TRACE_TABLE(module_call) | TRACE_TABLE(flow) | TRACE_TABLE(frame))

/* Of one rank. */
typedef struct {
    path_owners owners;
    int64_t kind_ns[N_PATH_KINDS];
    int64_t ns, n, ends;
} rank_part;

typedef struct {
    arena *arena;
    answer *out;
    job job;
    job_graph graph;
    path_pieces pieces;
    rank_part *ranks;
    selection *selects;
    path_sums by_name, by_module, by_line;
    bool has_modules, has_lines;
    int64_t kind_ns[N_PATH_KINDS], kind_n[N_PATH_KINDS];
    int64_t all_ns;
} job_path;

static bool is_on_device(int kind) {
    return kind == PATH_DEVICE || kind == PATH_COPY || kind == PATH_QUEUE;
}

static bool has_device(const job_path *c, uint32_t rank) {
    return c->graph.ranks[rank].t->kernel.n > 1;
}

static str name_of(const job_path *c, const path_piece *p) {
    return p->slice ? trace_slice_name(c->graph.ranks[p->rank].t, p->slice) : STR("");
}

/* ---- adding up --------------------------------------------------------------------------- */

static status add_up(job_path *c, const path_piece *p, error *err) {
    const trace *t = c->graph.ranks[p->rank].t;
    rank_part *r = &c->ranks[p->rank];
    int64_t ns = sub_i64(p->end, p->start);
    TRY(path_sums_add(&c->by_name, p->kind, name_of(c, p), p, err));
    uint32_t module = c->has_modules ? path_module_of(&r->owners, p) : 0;
    const line_view *v = &r->owners.lines;
    uint32_t site = v->has_lines ? line_site(v, path_frame_of(v, p)) : 0;
    str line = site ? trace_str(t, t->frame.name[site]) : STR("");
    if (c->has_modules)
        TRY(path_sums_add(&c->by_module, 0, module ? module_short_name(t, module) : STR(""), p,
                          err));
    if (c->has_lines) TRY(path_sums_add(&c->by_line, 0, line, p, err));
    c->kind_ns[p->kind] = add_i64(c->kind_ns[p->kind], ns);
    c->kind_n[p->kind]++;
    r->kind_ns[p->kind] = add_i64(r->kind_ns[p->kind], ns);
    r->ns = add_i64(r->ns, ns);
    r->n++;
    c->all_ns = add_i64(c->all_ns, ns);
    return OK;
}

static int64_t rank_number(const job_path *c, uint32_t rank) {
    return c->graph.ranks[rank].at->rank;
}

static int64_t shown_start(const job_path *c, const path_piece *p) {
    return sub_i64(p->start, c->graph.start_ns);
}

static status write_piece(const job_path *c, table *t, int64_t step, const path_piece *p,
                          error *err) {
    const job_rank *r = &c->graph.ranks[p->rank];
    row_critical_path row = row_critical_path_none();
    row.step = step;
    row.kind = path_kind_name(p->kind);
    if (p->slice) row.name = trace_slice_name(r->t, p->slice);
    if (p->slice && (!r->at->own_slices || p->slice < r->at->own_slices)) {
        row.track = trace_track_of(r->t, p->slice);
        row.slice = p->slice;
    }
    row.start = shown_start(c, p);
    row.duration = sub_i64(p->end, p->start);
    row.rank = rank_number(c, p->rank);
    return put_critical_path(t, &row, err);
}

/* The time for which the path stays on one rank. The transfer through which it comes to a rank
 * is the first piece there; `by` is what most of the rest is. */
static status write_leg(const job_path *c, table *t, int64_t step, size_t first, size_t end,
                        error *err) {
    const path_piece *v = c->pieces.v, *most = &v[first];
    int64_t device = 0, communication = 0, ns = sub_i64(v[end - 1].end, v[first].start);
    path_sums names;
    TRY(path_sums_init(&names, c->arena, err));
    for (size_t i = first; i < end; i++) {
        int64_t one = sub_i64(v[i].end, v[i].start);
        if (is_on_device(v[i].kind)) device = add_i64(device, one);
        if (v[i].kind == PATH_COMMUNICATION) communication = add_i64(communication, one);
        TRY(path_sums_add(&names, v[i].kind, name_of(c, &v[i]), &v[i], err));
    }
    const path_sum *by = path_sums_at(&names, 0);
    for (uint32_t i = 1; i < names.rows.n; i++)
        if (path_sums_at(&names, i)->ns > by->ns) by = path_sums_at(&names, i);
    row_critical_legs row = row_critical_legs_none();
    row.step = step;
    row.rank = rank_number(c, most->rank);
    row.start = shown_start(c, &v[first]);
    row.duration = ns;
    if (has_device(c, most->rank)) row.device = device;
    row.communication = communication;
    row.host = sub_i64(ns, add_i64(device, communication));
    row.kind = path_kind_name((path_kind)by->key);
    if (by->text.n) row.name = by->text;
    row.time = by->ns;
    if (v[first].kind == PATH_COMMUNICATION && first) row.after = name_of(c, &v[first]);
    row.worker = c->graph.ranks[most->rank].at->worker;
    return put_critical_legs(t, &row, err);
}

static status write_legs(const job_path *c, table *t, int64_t step, error *err) {
    const path_piece *v = c->pieces.v;
    for (size_t first = 0, end; first < c->pieces.n; first = end) {
        for (end = first + 1; end < c->pieces.n && v[end].rank == v[first].rank; end++) {}
        TRY(write_leg(c, t, step, first, end, err));
    }
    return OK;
}

static status write_paths(job_path *c, table *path, table *legs, error *err) {
    for (uint32_t i = 0; i < c->graph.n_steps; i++) {
        int64_t step = c->graph.steps[i].number;
        TRY(critical_path_of_job(&c->graph, i, c->arena, &c->pieces, err));
        c->ranks[c->graph.steps[i].last].ends++;
        for (size_t k = 0; k < c->pieces.n; k++) {
            TRY(add_up(c, &c->pieces.v[k], err));
            TRY(write_piece(c, path, step, &c->pieces.v[k], err));
        }
        TRY(write_legs(c, legs, step, err));
    }
    return OK;
}

/* ---- sums -------------------------------------------------------------------------------- */

static int64_t per_step(const job_path *c, int64_t sum) {
    return mean_i64(sum, max_i64(1, c->graph.n_steps));
}

static double share_of(const job_path *c, int64_t ns) {
    return c->all_ns > 0 ? (double)ns / (double)c->all_ns : 0;
}

static status write_kinds(const job_path *c, table *t, error *err) {
    for (int k = 0; k < N_PATH_KINDS; k++) {
        if (!c->kind_n[k]) continue;
        row_critical_by_kind row = row_critical_by_kind_none();
        row.kind = path_kind_name((path_kind)k);
        row.time = per_step(c, c->kind_ns[k]);
        row.share = share_of(c, c->kind_ns[k]);
        row.pieces = c->kind_n[k];
        TRY(put_critical_by_kind(t, &row, err));
    }
    return OK;
}

static status write_ranks(const job_path *c, table *t, error *err) {
    for (uint32_t i = 0; i < c->graph.n_ranks; i++) {
        const rank_part *r = &c->ranks[i];
        int64_t device = 0, communication = r->kind_ns[PATH_COMMUNICATION];
        for (int k = 0; k < N_PATH_KINDS; k++)
            if (is_on_device(k)) device = add_i64(device, r->kind_ns[k]);
        row_critical_by_rank row = row_critical_by_rank_none();
        row.rank = rank_number(c, i);
        row.time = per_step(c, r->ns);
        row.share = share_of(c, r->ns);
        if (has_device(c, i)) row.device = per_step(c, device);
        row.communication = per_step(c, communication);
        int64_t host = sub_i64(r->ns, add_i64(device, communication));
        row.host = per_step(c, host);
        row.pieces = r->n;
        row.ends = r->ends;
        row.worker = c->graph.ranks[i].at->worker;
        TRY(put_critical_by_rank(t, &row, err));
    }
    return OK;
}

/* Sets what all tables of names have. */
#define SET_SUM(row, c, s)                        \
    do {                                          \
        (row).time = per_step(c, (s)->ns);        \
        (row).share = share_of(c, (s)->ns);       \
        (row).pieces = (s)->n;                    \
        if ((s)->slice) (row).slice = (s)->slice; \
        (row).rank = rank_number(c, (s)->rank);   \
    } while (0)

static status write_names(const job_path *c, table *t, error *err) {
    const uint32_t *order = path_sums_order(&c->by_name);
    if (!order) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < c->by_name.rows.n; i++) {
        const path_sum *sum = path_sums_at(&c->by_name, order[i]);
        row_critical_by_name row = row_critical_by_name_none();
        row.kind = path_kind_name((path_kind)sum->key);
        if (sum->text.n) row.name = sum->text;
        SET_SUM(row, c, sum);
        TRY(put_critical_by_name(t, &row, err));
    }
    return OK;
}

static status write_modules(const job_path *c, table *t, error *err) {
    const uint32_t *order = path_sums_order(&c->by_module);
    if (!order) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < c->by_module.rows.n; i++) {
        const path_sum *sum = path_sums_at(&c->by_module, order[i]);
        row_critical_by_module row = row_critical_by_module_none();
        if (sum->text.n) row.module = sum->text;
        SET_SUM(row, c, sum);
        TRY(put_critical_by_module(t, &row, err));
    }
    return OK;
}

static status write_lines(const job_path *c, table *t, error *err) {
    const uint32_t *order = path_sums_order(&c->by_line);
    if (!order) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < c->by_line.rows.n; i++) {
        const path_sum *sum = path_sums_at(&c->by_line, order[i]);
        row_critical_by_line row = row_critical_by_line_none();
        if (sum->text.n) row.line = sum->text;
        SET_SUM(row, c, sum);
        TRY(put_critical_by_line(t, &row, err));
    }
    return OK;
}

/* ---- the answer -------------------------------------------------------------------------- */

static status prepare(job_path *c, const params *p, error *err) {
    uint32_t n = c->graph.n_ranks;
    c->ranks = ARENA_ARRAY(c->arena, rank_part, (size_t)n + 1);
    c->selects = ARENA_ARRAY(c->arena, selection, (size_t)n + 1);
    if (!c->ranks || !c->selects) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n; i++) {
        const trace *t = c->graph.ranks[i].t;
        path_owners *o = &c->ranks[i].owners;
        TRY(trace_require(t, OWNER_TABLES, err));
        select_init(&c->selects[i], t, p);
        TRY(path_owners_init(o, t, &c->selects[i], c->arena, err));
        c->has_modules |= o->has_modules;
        c->has_lines |= o->lines.has_lines;
    }
    TRY(path_sums_init(&c->by_name, c->arena, err));
    TRY(path_sums_init(&c->by_module, c->arena, err));
    return path_sums_init(&c->by_line, c->arena, err);
}

static status write_all(job_path *c, error *err) {
    answer *out = c->out;
    table *by_kind = answer_table(out, c->arena, "by_kind");
    table *by_rank = answer_table(out, c->arena, "by_rank");
    table *legs = answer_table(out, c->arena, "legs");
    table *by_name = answer_table(out, c->arena, "by_name");
    table *by_module = answer_table(out, c->arena, "by_module");
    table *by_line = answer_table(out, c->arena, "by_line");
    table *path = answer_table(out, c->arena, "path");
    if (!by_kind || !by_rank || !legs || !by_name || !by_module || !by_line || !path)
        FAIL_MEMORY(err);
    TRY(write_paths(c, path, legs, err));
    TRY(write_kinds(c, by_kind, err));
    TRY(write_ranks(c, by_rank, err));
    TRY(write_names(c, by_name, err));
    TRY(write_modules(c, by_module, err));
    return write_lines(c, by_line, err);
}

/* The rank that most of the path is on, and how ranks were brought together. */
static status add_path_note(const job_path *c, error *err) {
    verdict note = {.message = MSG_NOTE_JOB_PATH};
    uint32_t most = 0;
    for (uint32_t i = 1; i < c->graph.n_ranks; i++)
        if (c->ranks[i].ns > c->ranks[most].ns) most = i;
    const analysis_trace *at = c->graph.ranks[most].at;
    verdict_add(&note, arg_int("ranks", c->graph.n_ranks));
    verdict_add(&note, arg_int("meetings", c->graph.n_meetings));
    verdict_add(&note, at->rank != ABSENT_I64 ? arg_id("rank", at->rank)
                                              : arg_text("rank", at->worker));
    verdict_add(&note, arg_share("share", share_of(c, c->ranks[most].ns)));
    if (c->graph.n_alone) verdict_add(&note, arg_int("alone", c->graph.n_alone));
    verdict_add(&note, arg_time("clocks", c->graph.residual));
    return answer_note(c->out, c->arena, &note, err);
}

static status add_assumed_note(const job_path *c, error *err) {
    why_graph sum = {0};
    for (uint32_t i = 0; i < c->graph.n_ranks; i++)
        why_assumed_add(&sum.assumed, &c->graph.ranks[i].graph.assumed);
    return why_graph_note(&sum, c->arena, c->out, err);
}

status job_path_critical(const analysis_input *in, const params *p, arena *a, answer *out,
                         error *err) {
    if (!job_graph_is_possible(in)) return job_critical(in, p, a, out, err);
    job_path *c = ARENA_NEW(a, job_path);
    if (!c) FAIL_MEMORY(err);
    *c = (job_path){.arena = a, .out = out};
    TRY(job_make(in, p, a, &c->job, err));
    TRY(job_graph_make(in, p, &c->job, a, &c->graph, err));
    if (!c->graph.n_meetings || !c->graph.n_steps) return job_critical(in, p, a, out, err);
    TRY(prepare(c, p, err));
    TRY(job_write_ranks(&c->job, out, err));
    TRY(job_write_stages(&c->job, out, err));
    TRY(write_all(c, err));
    TRY(job_judge(&c->job, out, err));
    TRY(add_path_note(c, err));
    TRY(add_assumed_note(c, err));
    TRY(summary_filter_notes(in, p, c->job.s, a, out, err));
    answer_finish(out, p);
    return OK;
}
