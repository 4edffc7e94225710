/* seal_producer.c: tables a producer had already added up, and its input pipeline.
 *
 * Rows are copied column by column in the order they were added; nothing is sorted or joined,
 * since the producer's order is all there is (a pipeline is listed from its end, a step trace
 * by step). Ids come from our own readers, but what they read is hostile: a parent or an
 * operator that does not exist becomes none, and a pipeline that would make a circle is cut
 * where the circle closes. */
#include "store/builder_int.h"
#include "store/trace_int.h"

/* One column of rows that were added. A reference to a row that was never added becomes
 * none. */
static void copy_cells(seal_ctx *s, int column) {
    const column_info *c = &COLUMN_INFO[column];
    const vec *rows = &s->b->rows[c->table];
    char *to = (char *)(uintptr_t)trace_column(s->t, column);
    for (size_t i = 0; i < rows->n; i++)
        memcpy(to + (i + 1) * c->elem_bytes,
               (const char *)rows->p + i * rows->elem_bytes + ROW_OFFSET[column],
               c->elem_bytes);
    if (c->type != TYPE_REF) return;
    size_t most = s->b->rows[c->target].n;
    for (size_t i = 1; i <= rows->n; i++)
        if (((uint32_t *)(void *)to)[i] > most) ((uint32_t *)(void *)to)[i] = 0;
}

/* Every operator is visited once: its way up ends at the root, at one already seen to end
 * there, or at itself, and then the last link is taken away. */
static status cut_circles(seal_ctx *s, error *err) {
    uint32_t n = s->pipe_op.n, *seen = seal_scratch(s, (size_t)n + 1, sizeof(uint32_t));
    if (!seen) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < n; i++) {
        uint32_t at = i, last = 0;
        while (at && !seen[at]) {
            seen[at] = i;
            last = at;
            at = s->pipe_op.parent[at];
        }
        if (at && seen[at] == i && last) s->pipe_op.parent[last] = 0;
    }
    return OK;
}

status seal_producer(seal_ctx *s, error *err) {
    for (int table = 0; table < N_TABLES; table++) {
        size_t n = s->b->rows[table].n;
        if (!n) continue;
        TRY(seal_table(s, table, n + 1, err));
        for (int c = TABLE_INFO[table].first_column; c < TABLE_INFO[table].end_column; c++)
            copy_cells(s, c);
    }
    return cut_circles(s, err);
}
