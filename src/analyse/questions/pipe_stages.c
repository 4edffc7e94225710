/* pipe_stages.c: what the operators of an input pipeline spent their time on, stage by stage.
 *
 * MindSpore records ranges named Dataset::OPERATION::STAGE; they are added up, and obey windows
 * and steps. Where they are not in the trace, the producer's own sums (table pipe_stage) are in
 * for them, as long as no window and no step is asked for: they have no times of day. */
#include "analyse/questions/pipe_stages.h"

#include "base/sort.h"

#define COL_D(name) COL(pipeline, dataset_stages, name)

typedef struct {
    pipe_stage *rows;
    uint32_t n;
    uint32_t *by_name; /* string id -> row + 1 */
} stage_sums;

/* Dataset::OPERATION::STAGE */
static bool parse_name(str name, pipe_stage *out) {
    static const str head = STR("Dataset::");
    if (!str_starts(name, head)) return false;
    name = str_from(name, head.n);
    size_t colons = str_find(name, STR("::"), 0);
    if (colons == SIZE_MAX || !colons) return false;
    out->operation = str_n(name.p, colons);
    out->stage = str_from(name, colons + 2);
    return true;
}

/* One row for each such name there is. */
static status list_names(const trace *t, arena *a, stage_sums *out, error *err) {
    pipe_stage one = {0};
    for (uint32_t i = 1; i < t->n_strings; i++) out->n += parse_name(trace_str(t, i), &one);
    if (!out->n) return OK;
    out->rows = ARENA_ARRAY(a, pipe_stage, out->n);
    out->by_name = ARENA_ARRAY(a, uint32_t, t->n_strings);
    if (!out->rows || !out->by_name) FAIL_MEMORY(err);
    uint32_t row = 0;
    for (uint32_t i = 1; i < t->n_strings; i++)
        if (parse_name(trace_str(t, i), &out->rows[row])) out->by_name[i] = ++row;
    return OK;
}

static bool add_slices(const selection *s, stage_sums *sums) {
    const trace *t = s->t;
    bool any = false;
    for (uint32_t i = 1; i < t->slice.n && sums->n; i++) {
        uint32_t name = t->slice.name[i], row = name < t->n_strings ? sums->by_name[name] : 0;
        if (!row) continue;
        any = true;
        sums->rows[row - 1].calls += select_counts(s, i);
        sums->rows[row - 1].total = add_i64(sums->rows[row - 1].total, select_ns(s, i));
    }
    return any;
}

static int compare_sums(uint32_t a, uint32_t b, const void *context) {
    const pipe_stage *x = &((const pipe_stage *)context)[a],
                     *y = &((const pipe_stage *)context)[b];
    if (x->total != y->total) return x->total > y->total ? -1 : 1;
    int c = str_cmp(x->operation, y->operation);
    return c ? c : str_cmp(x->stage, y->stage);
}

/* Where sums go. */
typedef struct {
    table *t;
    pipe_stage *longest;
} stage_writer;

static status write_sum(const stage_writer *w, const pipe_stage *s, str info, error *err) {
    size_t row;
    table *t = w->t;
    if (s->total != ABSENT_I64 &&
        (w->longest->total == ABSENT_I64 || s->total > w->longest->total))
        *w->longest = *s;
    TRY(table_add_row(t, &row, err));
    table_set_text(t, row, COL_D(operation), s->operation);
    if (s->stage.n) table_set_text(t, row, COL_D(stage), s->stage);
    if (s->calls != ABSENT_I64) table_set_int(t, row, COL_D(calls), s->calls);
    if (s->total != ABSENT_I64) table_set_int(t, row, COL_D(total), s->total);
    if (s->total != ABSENT_I64 && s->calls > 0)
        table_set_int(t, row, COL_D(mean), mean_i64(s->total, s->calls));
    if (info.n) table_set_text(t, row, COL_D(info), info);
    return OK;
}

static status write_slices(const stage_sums *sums, arena *a, const stage_writer *out,
                           error *err) {
    uint32_t *order = ARENA_ARRAY(a, uint32_t, (size_t)sums->n + 1),
             *scratch = ARENA_ARRAY(a, uint32_t, (size_t)sums->n + 1);
    if (!order || !scratch) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < sums->n; i++) order[i] = i;
    sort_index(order, scratch, sums->n, compare_sums, sums->rows);
    for (uint32_t i = 0; i < sums->n; i++) {
        const pipe_stage *s = &sums->rows[order[i]];
        if (s->calls || s->total) TRY(write_sum(out, s, STR_NONE, err));
    }
    return OK;
}

static status write_given(const trace *t, const stage_writer *out, error *err) {
    enum { MOST_ROWS = 1 << 16 };
    for (uint32_t i = 1; i < t->pipe_stage.n && i <= MOST_ROWS; i++) {
        pipe_stage s = {.operation = trace_str(t, t->pipe_stage.operation[i]),
                        .stage = trace_str(t, t->pipe_stage.stage[i]),
                        .calls = t->pipe_stage.calls[i],
                        .total = t->pipe_stage.total[i]};
        TRY(write_sum(out, &s, trace_str(t, t->pipe_stage.info[i]), err));
    }
    return table_sort(out->t, COL_D(total), true, err);
}

status pipe_stages_write(const selection *s, arena *a, answer *out, pipe_stage *longest,
                         error *err) {
    stage_sums sums = {0};
    bool given = s->t->pipe_stage.n > 1;
    *longest = (pipe_stage){.total = ABSENT_I64};
    TRY(list_names(s->t, a, &sums, err));
    bool any = add_slices(s, &sums);
    if (!any && (!given || s->by_step || s->by_time)) return OK;
    stage_writer w = {.t = answer_table(out, a, "dataset_stages"), .longest = longest};
    if (!w.t) FAIL_MEMORY(err);
    return any ? write_slices(&sums, a, &w, err) : write_given(s->t, &w, err);
}
