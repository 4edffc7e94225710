/* column_values.c: asks the analyses a budget names, each once for each run, and looks up the
 * rows. */
#include "analyse/check/column_values.h"

#include <math.h>

#include "base/num.h"

typedef struct asked_answer {
    const analysis_info *analysis;
    int side;
    answer answer;
    struct asked_answer *next;
} asked_answer;

static status ask(column_asker *q, const analysis_info *of, int side, const answer **out,
                  error *err) {
    for (asked_answer *a = q->asked; a; a = a->next) {
        if (a->analysis != of || a->side != side) continue;
        *out = &a->answer;
        return OK;
    }
    params p = *q->params;
    p.n_extra = 0;
    p.tables = STR_NONE;
    asked_answer *made = ARENA_NEW(q->arena, asked_answer);
    if (!made) FAIL_MEMORY(err);
    *made = (asked_answer){.analysis = of, .side = side, .next = q->asked};
    TRY(of->run(q->in[side], &p, q->arena, &made->answer, err));
    q->asked = made;
    *out = &made->answer;
    return OK;
}

static const table *find_table(const answer *a, const char *name) {
    for (uint32_t i = 0; i < a->n_tables; i++)
        if (strcmp(a->tables[i]->name, name) == 0) return a->tables[i];
    return NULL;
}

/* NaN when it is null. */
static double cell(const table *t, size_t row, uint32_t col) {
    const column *c = &t->columns[col];
    if (table_is_null(t, row, col)) return NAN;
    return c->type == TYPE_REAL ? c->v.d[row] : (double)c->v.i[row];
}

/* The first column of texts: what a row is called. */
static uint32_t name_column(const table *t) {
    for (uint32_t c = 0; c < t->n_columns; c++)
        if (t->columns[c].type == TYPE_TEXT) return c;
    return UINT32_MAX;
}

static bool is_chosen(const budget_rule *r, const table *t, size_t row) {
    if (r->rows == SELECT_ROW) return (int64_t)row == r->row;
    if (r->rows == SELECT_EVERY) return true;
    uint32_t col = table_column(t, r->key);
    return col != UINT32_MAX && !table_is_null(t, row, col) &&
           str_eq(t->columns[col].v.s[row], r->value);
}

/* The row of the base that this one is compared with; SIZE_MAX when there is none. */
static size_t partner(const budget_rule *r, const table *base, str name) {
    uint32_t col = name_column(base);
    for (size_t i = 0; i < base->n_rows; i++) {
        if (!is_chosen(r, base, i)) continue;
        if (r->rows == SELECT_ROW || !name.p || col == UINT32_MAX) return i;
        if (!table_is_null(base, i, col) && str_eq(base->columns[col].v.s[i], name)) return i;
    }
    return SIZE_MAX;
}

/* One side of a comparison. */
typedef struct {
    const table *t;
    uint32_t col;
    double steps; /* to divide by */
} column_side;

static status open_side(column_asker *q, const budget_rule *r, int side, column_side *out,
                        error *err) {
    const answer *a;
    *out = (column_side){.steps = 1};
    if (!q->in[side]) return OK;
    TRY(ask(q, r->analysis, side, &a, err));
    const measures *m = q->m[side];
    bool all = r->analysis->workers != WORKERS_ONE;
    if (r->per_step) out->steps = (double)max_i64(1, m->steps);
    if (r->per_step && all) out->steps *= (double)max_i64(1, m->workers);
    out->t = find_table(a, r->table->name);
    out->col = out->t && r->field ? table_column(out->t, str_of(r->field->name)) : UINT32_MAX;
    return OK;
}

static double value_of(const column_side *s, size_t row) {
    return row == SIZE_MAX || s->col == UINT32_MAX ? NAN : cell(s->t, row, s->col) / s->steps;
}

static double count_of(const column_side *s) {
    return s->t ? (double)s->t->total_rows / s->steps : NAN;
}

/* Is this row worse than the worst so far? What is not known is better than all. */
static bool is_worse(const judged *worst, const judged *j) {
    double x = judged_excess(worst), y = judged_excess(j);
    return !isnan(y) && (isnan(x) || y > x);
}

static judged judge_rows(const budget_rule *r, const column_side *base, const column_side *b) {
    judged worst = judge_numbers(r, NAN, NAN);
    uint32_t names = b->t ? name_column(b->t) : UINT32_MAX;
    for (size_t i = 0; b->t && i < b->t->n_rows; i++) {
        bool named = names != UINT32_MAX && !table_is_null(b->t, i, names);
        str name = named ? b->t->columns[names].v.s[i] : STR_NONE;
        if (!is_chosen(r, b->t, i)) continue;
        double before = base->t ? value_of(base, partner(r, base->t, name)) : NAN;
        judged j = judge_numbers(r, before, value_of(b, i));
        if (!is_worse(&worst, &j)) continue;
        worst = j;
        if (r->rows != SELECT_EVERY || !named) continue;
        worst.row = name;
        worst.reason = REASON_ROW;
    }
    return worst;
}

status column_judge(column_asker *q, const budget_rule *r, judged *out, error *err) {
    column_side base, candidate;
    TRY(open_side(q, r, CHECK_BASE, &base, err));
    TRY(open_side(q, r, CHECK_CANDIDATE, &candidate, err));
    *out = r->field ? judge_rows(r, &base, &candidate)
                    : judge_numbers(r, count_of(&base), count_of(&candidate));
    return OK;
}
