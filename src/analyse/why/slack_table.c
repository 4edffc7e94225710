/* slack_table.c: slack by the names of device work and of operators.
 *
 * Each work of a step is one instance of its name; each call that launches is one of the
 * operator around it. All instances are sorted by slack once and dealt out to their rows, so
 * that each row gets its own in order: the first is the least, the middle one the median. */
#include "analyse/why/slack_table.h"

#include "analyse/group.h"
#include "analyse/registry.h"
#include "analyse/rows.h"
#include "analyse/why/slack.h"
#include "base/num.h"
#include "base/sort.h"

typedef struct {
    uint32_t name;
    uint8_t kind; /* path_kind of the work, PATH_OPERATOR */
    int64_t device_ns, off_path_ns;
    int64_t n, dealt, least_ns, median_ns;
    uint32_t slice; /* of the longest instance */
    int64_t longest_ns;
} slack_row;

typedef struct {
    slack_question *q;
    const why_graph *g;
    const trace *t;
    why_slack slack;
    groups rows;
    sort_pair *instances; /* slack, row */
    size_t n;
} slacker;

static bool same_row(const void *row, const void *key) {
    const slack_row *a = row, *b = key;
    return a->name == b->name && a->kind == b->kind;
}

static status add_instance(slacker *s, path_kind kind, uint32_t slice, int64_t slack_ns,
                           slack_row **out, error *err) {
    slack_row key = {.name = s->t->slice.name[slice], .kind = (uint8_t)kind};
    bool is_new;
    uint32_t at = groups_at(&s->rows, hash_pair(key.kind, key.name), same_row, &key, &is_new);
    if (at == GROUP_NONE) FAIL_MEMORY(err);
    slack_row *row = *out = GROUP_ROW(&s->rows, slack_row, at);
    if (is_new) *row = key;
    s->instances[s->n++] = (sort_pair){(uint64_t)slack_ns, at};
    row->n++;
    return OK;
}

static void keep_longest(slack_row *row, int64_t ns, uint32_t slice) {
    row->device_ns = add_i64(row->device_ns, ns);
    if (row->slice && ns <= row->longest_ns) return;
    row->slice = slice;
    row->longest_ns = ns;
}

/* The innermost operator around a call; 0: none. A bounded climb, as everywhere. */
static uint32_t operator_around(const trace *t, uint32_t slice) {
    for (int up = 0; slice && up < 256; up++, slice = t->slice.parent[slice])
        if (t->slice.kind[slice] == KIND_OP) return slice;
    return 0;
}

static status add_work(slacker *s, uint32_t k, error *err) {
    uint32_t slice = s->t->kernel.slice[k], point = s->g->works[k].point;
    int64_t ns = s->t->slice.dur[slice], slack_ns = s->slack.work_ns[k];
    slack_row *row;
    if (!why_step_of_work(s->g, k) || slack_ns == SLACK_NONE) return OK;
    TRY(add_instance(s, path_kind_of_work(s->q->names, k), slice, slack_ns, &row, err));
    keep_longest(row, ns, slice);
    int64_t off_path_ns = s->q->on_path[k] ? 0 : ns;
    row->off_path_ns = add_i64(row->off_path_ns, off_path_ns);
    s->q->off_path_ns = add_i64(s->q->off_path_ns, off_path_ns);
    s->q->device_ns = add_i64(s->q->device_ns, ns);
    uint32_t op = point ? operator_around(s->t, s->g->points[point].slice) : 0;
    if (!op || s->slack.point_ns[point] == SLACK_NONE) return OK;
    TRY(add_instance(s, PATH_OPERATOR, op, s->slack.point_ns[point], &row, err));
    keep_longest(row, ns, op);
    return OK;
}

static void deal(slacker *s, sort_pair *scratch) {
    sort_radix(s->instances, scratch, s->n);
    for (size_t i = 0; i < s->n; i++) {
        slack_row *row = GROUP_ROW(&s->rows, slack_row, s->instances[i].row);
        int64_t ns = (int64_t)s->instances[i].key;
        if (!row->dealt) row->least_ns = ns;
        if (row->dealt == (row->n - 1) / 2) row->median_ns = ns;
        row->dealt++;
    }
}

/* Device work before operators; the most time first. */
static int compare_rows(uint32_t a, uint32_t b, const void *context) {
    const groups *g = context;
    const slack_row *x = GROUP_ROW(g, slack_row, a), *y = GROUP_ROW(g, slack_row, b);
    bool is_op = x->kind == PATH_OPERATOR;
    if (is_op != (y->kind == PATH_OPERATOR)) return is_op ? 1 : -1;
    if (x->device_ns != y->device_ns) return x->device_ns > y->device_ns ? -1 : 1;
    return a < b ? -1 : a > b;
}

static status write_rows(slacker *s, table *t, error *err) {
    uint32_t *order = groups_order(&s->rows), *scratch = groups_order(&s->rows);
    int64_t steps = max_i64(1, s->g->n_steps);
    if (!order || !scratch) FAIL_MEMORY(err);
    sort_index(order, scratch, s->rows.n, compare_rows, &s->rows);
    for (uint32_t i = 0; i < s->rows.n; i++) {
        const slack_row *r = GROUP_ROW(&s->rows, slack_row, order[i]);
        row_critical_slack row = row_critical_slack_none();
        row.kind = path_kind_name(r->kind);
        row.name = trace_str(s->t, r->name);
        row.slack = r->median_ns;
        row.least = r->least_ns;
        row.time = mean_i64(r->device_ns, steps);
        if (r->kind != PATH_OPERATOR) row.off_path = mean_i64(r->off_path_ns, steps);
        row.calls = r->n;
        row.slice = r->slice;
        TRY(put_critical_slack(t, &row, err));
    }
    return OK;
}

static status fill(slacker *s, arena *scratch, table *t, error *err) {
    size_t room = 2 * (size_t)s->g->n_works + 1;
    sort_pair *other = arena_alloc(scratch, room * sizeof *other);
    s->instances = arena_alloc(scratch, room * sizeof *s->instances);
    if (!s->instances || !other) FAIL_MEMORY(err);
    TRY(why_slack_find(s->g, scratch, &s->slack, err));
    TRY(groups_init(&s->rows, s->q->arena, sizeof(slack_row), err));
    for (uint32_t k = 1; k < s->g->n_works; k++) TRY(add_work(s, k, err));
    deal(s, other);
    return write_rows(s, t, err);
}

status slack_table_write(slack_question *q, table *t, error *err) {
    slacker s = {.q = q, .g = q->g, .t = q->g->t};
    arena scratch;
    arena_init(&scratch, q->arena->limit_bytes);
    status st = fill(&s, &scratch, t, err);
    arena_fini(&scratch);
    return st;
}
