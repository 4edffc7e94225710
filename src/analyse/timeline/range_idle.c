/* range_idle.c: when no device computes in a range of time, by cause.
 *
 * The causes are those of every other answer (idle_causes.h), found as if the range were one
 * step and all devices one device. A trace without device work has no rows. */
#include "analyse/device/idle_causes.h"
#include "analyse/timeline/range_stats.h"
#include "base/message_ids_columns.h"

static const column_spec IDLE[] = {
    {"cause", TYPE_TEXT, UNIT_NONE, MSG_COL_WAIT_CAUSE},
    {"time", TYPE_INT, UNIT_NS, MSG_COL_IDLE_TIME},
    {"share", TYPE_REAL, UNIT_SHARE, MSG_COL_IDLE_SHARE},
};

static status write_causes(const idle_pieces *idle, interval range, table *t, error *err) {
    for (int c = 0; c < N_IDLE_CAUSES; c++) {
        size_t row;
        if (idle->ns[c] <= 0) continue;
        TRY(table_add_row(t, &row, err));
        table_set_text(t, row, 0, idle_cause_name((idle_cause)c));
        table_set_int(t, row, 1, idle->ns[c]);
        table_set_real(t, row, 2,
                       (double)idle->ns[c] / (double)sub_i64(range.end, range.start));
    }
    return table_sort(t, 1, true, err);
}

status range_idle(const range_question *q, arena *a, answer *out, error *err) {
    const trace *t = q->lod->t;
    answer made;
    idle_pieces idle;
    step_span whole = {
        .host_start = q->from_ns, .host_end = q->to_ns, .start = q->from_ns, .end = q->to_ns};
    TRY(answer_begin("area", q->input, a, &made, err));
    table *rows = table_new(a, "idle", IDLE, N_OF(IDLE));
    if (!rows) FAIL_MEMORY(err);
    made.tables[made.n_tables++] = rows;
    TRY(trace_require(t, IDLE_CAUSES_TABLES, err));
    TRY(idle_pieces_find(t, &(step_spans){.v = &whole, .n = 1}, NULL, a, &idle, err));
    TRY(write_causes(&idle, (interval){q->from_ns, q->to_ns}, rows, err));
    *out = made;
    return OK;
}
