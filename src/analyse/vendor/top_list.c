/* top_list.c: the longest few of a list and the rest as one row.
 *
 * By mean, because a chart by mean is what MindSpore's users know; ties by total, then by the
 * bytes of name and side. Shares are of the total of all items, and the row Others makes them
 * add up. The tables `top` of operators and kernels have the same columns in the same order. */
#include "analyse/vendor/top_list.h"

#include "analyse/rows.h"
#include "base/num.h"
#include "base/sort.h"

_Static_assert((int)COL_operators_top_share == (int)COL_kernels_top_share &&
                   (int)N_COL_operators_top == (int)N_COL_kernels_top,
               "both tables are written here");

static int64_t mean_of(const top_item *i) {
    return i->calls > 0 ? mean_i64(i->total, i->calls) : i->total;
}

static int compare_items(uint32_t a, uint32_t b, const void *context) {
    const top_item *x = &((const top_item *)context)[a], *y = &((const top_item *)context)[b];
    int64_t mx = mean_of(x), my = mean_of(y);
    if (mx != my) return mx > my ? -1 : 1;
    if (x->total != y->total) return x->total > y->total ? -1 : 1;
    int c = str_cmp(x->name, y->name);
    return c ? c : str_cmp(x->side, y->side);
}

static status add_row(table *t, const top_item *i, int64_t whole, error *err) {
    row_operators_top row = row_operators_top_none();
    row.name = i->name;
    if (i->side.n) row.side = i->side;
    row.calls = i->calls;
    row.total = i->total;
    row.mean = mean_of(i);
    if (whole > 0) row.share = (double)i->total / (double)whole;
    return put_operators_top(t, &row, err);
}

status top_list_write(answer *out, arena *a, top_item *items, size_t n, size_t most,
                      error *err) {
    table *t = answer_table(out, a, "top");
    uint32_t *order = ARENA_ARRAY(a, uint32_t, n + 1),
             *scratch = ARENA_ARRAY(a, uint32_t, n + 1);
    if (!t || !order || !scratch || n > UINT32_MAX) FAIL_MEMORY(err);
    int64_t whole = 0;
    for (size_t i = 0; i < n; i++) {
        order[i] = (uint32_t)i;
        whole = add_i64(whole, items[i].total);
    }
    sort_index(order, scratch, n, compare_items, items);
    for (size_t i = 0; i < n && i < most; i++) TRY(add_row(t, &items[order[i]], whole, err));
    if (n <= most) return OK;
    top_item rest = {.name = STR("Others")};
    for (size_t i = most; i < n; i++) {
        rest.total = add_i64(rest.total, items[order[i]].total);
        rest.calls = add_i64(rest.calls, max_i64(0, items[order[i]].calls));
    }
    return add_row(t, &rest, whole, err);
}
