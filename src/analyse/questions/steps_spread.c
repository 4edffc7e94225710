/* steps_spread.c: mean, share and percentiles of the parts of steps; bands of many steps.
 *
 * A picture of steps has room for some hundred bars. Where there are more steps, neighbors
 * share a place: the steps are cut into STEPS_BANDS runs of equal length (by one), and each
 * tells what its steps lie between. A part that no step has recorded is left out, a step that
 * lacks it does not count for it. */
#include "analyse/questions/steps_spread.h"

#include "base/num.h"
#include "base/sort.h"

#define COL_S(table, name) COL(steps, table, name)

static int compare_values(uint32_t a, uint32_t b, const void *context) {
    const int64_t *v = context;
    return v[a] < v[b] ? -1 : v[a] > v[b];
}

typedef struct {
    const int64_t *v;
    uint32_t *order; /* of v, ascending; room for all rows */
    uint32_t *scratch;
    uint32_t n;
} ranked_step;

/* Communication runs on the device: it is a part of the step with its device work, so steps
 * that are left out, or cut by the window, do not count for it. */
static bool is_on_device(uint32_t col) {
    return col == COL_S(steps, communication) || col == COL_S(steps, exposed_communication) ||
           col == COL_S(steps, total);
}

static bool counts(const table *t, size_t row, uint32_t col) {
    uint32_t cut = COL_S(steps, cut);
    if (table_is_null(t, row, col)) return false;
    if (!is_on_device(col)) return true;
    return !table_is_null(t, row, COL_S(steps, total)) &&
           (table_is_null(t, row, cut) || !t->columns[cut].v.i[row]);
}

/* The values of a column that are there, from row `first` on. */
static void rank_rows(ranked_step *r, const table *t, uint32_t col, size_t first, size_t end) {
    r->v = t->columns[col].v.i;
    r->n = 0;
    for (size_t row = first; row < end; row++)
        if (counts(t, row, col)) r->order[r->n++] = (uint32_t)row;
    sort_index(r->order, r->scratch, r->n, compare_values, r->v);
}

static int64_t percentile(const ranked_step *r, uint32_t percent) {
    uint64_t rank = ((uint64_t)r->n * percent + 99) / 100;
    return r->v[r->order[rank ? rank - 1 : 0]];
}

static int64_t sum_column(const table *t, uint32_t col) {
    int64_t sum = 0;
    for (size_t row = 0; row < t->n_rows; row++)
        if (counts(t, row, col)) sum = add_i64(sum, t->columns[col].v.i[row]);
    return sum;
}

static status write_part(const table *steps, uint32_t col, ranked_step *r, table *out,
                         error *err) {
    uint32_t of = is_on_device(col) ? COL_S(steps, total) : COL_S(steps, duration);
    int64_t whole = sum_column(steps, of), sum = sum_column(steps, col);
    size_t row;
    rank_rows(r, steps, col, 0, steps->n_rows);
    if (r->n == 0) return OK;
    TRY(table_add_row(out, &row, err));
    table_set_text(out, row, COL_S(distribution, part), str_of(steps->columns[col].name));
    table_set_int(out, row, COL_S(distribution, steps), r->n);
    table_set_int(out, row, COL_S(distribution, mean), mean_i64(sum, r->n));
    if (whole > 0)
        table_set_real(out, row, COL_S(distribution, share), (double)sum / (double)whole);
    table_set_int(out, row, COL_S(distribution, min), r->v[r->order[0]]);
    table_set_int(out, row, COL_S(distribution, p10), percentile(r, 10));
    table_set_int(out, row, COL_S(distribution, p50), percentile(r, 50));
    table_set_int(out, row, COL_S(distribution, p90), percentile(r, 90));
    table_set_int(out, row, COL_S(distribution, max), r->v[r->order[r->n - 1]]);
    return OK;
}

static status write_band(const table *steps, size_t first, size_t end, ranked_step *r,
                         table *out, error *err) {
    const int64_t *number = steps->columns[COL_S(steps, step)].v.i;
    size_t row;
    rank_rows(r, steps, COL_S(steps, duration), first, end);
    if (r->n == 0) return OK;
    TRY(table_add_row(out, &row, err));
    table_set_int(out, row, COL_S(bands, first_step), number[first]);
    table_set_int(out, row, COL_S(bands, last_step), number[end - 1]);
    table_set_int(out, row, COL_S(bands, steps), r->n);
    table_set_int(out, row, COL_S(bands, p10), percentile(r, 10));
    table_set_int(out, row, COL_S(bands, p50), percentile(r, 50));
    table_set_int(out, row, COL_S(bands, p90), percentile(r, 90));
    return OK;
}

status steps_write_spread(const table *steps, arena *a, answer *out, error *err) {
    static const uint32_t parts[] = {
        COL_S(steps, duration),      COL_S(steps, total),
        COL_S(steps, gap),           COL_S(steps, forward_backward),
        COL_S(steps, communication), COL_S(steps, exposed_communication),
        COL_S(steps, tail)};
    table *distribution = answer_table(out, a, "distribution");
    table *bands = answer_table(out, a, "bands");
    ranked_step r = {.order = ARENA_ARRAY(a, uint32_t, steps->n_rows + 1),
                     .scratch = ARENA_ARRAY(a, uint32_t, steps->n_rows + 1)};
    if (!distribution || !bands || !r.order || !r.scratch) FAIL_MEMORY(err);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        TRY(write_part(steps, parts[i], &r, distribution, err));
    for (size_t i = 0; steps->n_rows > STEPS_BANDS && i < STEPS_BANDS; i++)
        TRY(write_band(steps, i * steps->n_rows / STEPS_BANDS,
                       (i + 1) * steps->n_rows / STEPS_BANDS, &r, bands, err));
    return OK;
}
