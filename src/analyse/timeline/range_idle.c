/* range_idle.c: when no device did anything in a range of time, by cause.
 *
 * The causes are those of advise (idle.h), found as if the range were one step: what the data
 * loader or a collective on the host took of the idle time is theirs, then come blocking calls,
 * a late host, dependencies and the device's own pauses. All of them together are the time in
 * the range in which no device worked. A range without device work around it is idle for no
 * cause that can be known, so a trace without devices has no rows. */
#include "analyse/scan/idle.h"
#include "analyse/timeline/range_stats.h"
#include "base/message_ids_columns.h"
#include "base/sort.h"

enum { CAUSE_DATA_LOADER = N_IDLE, CAUSE_COLLECTIVE, N_CAUSES_OF_IDLE };

static const char *const cause_names[N_CAUSES_OF_IDLE] = {
    [IDLE_HOST] = "host",
    [IDLE_DEPENDENCY] = "dependency",
    [IDLE_BETWEEN] = "between",
    [IDLE_UNKNOWN] = "unknown",
    [IDLE_BLOCKED] = "blocked",
    [CAUSE_DATA_LOADER] = "data_loader",
    [CAUSE_COLLECTIVE] = "collective",
};

static const column_spec IDLE[] = {
    {"cause", TYPE_TEXT, UNIT_NONE, MSG_COL_IDLE_CAUSE},
    {"time", TYPE_INT, UNIT_NS, MSG_COL_IDLE_TIME},
    {"share", TYPE_REAL, UNIT_SHARE, MSG_COL_IDLE_SHARE},
};

typedef struct {
    const range_question *q;
    const trace *t;
    arena *arena;
    interval range;
    role_ranges roles;
    blocking_call *calls; /* by start */
    size_t n_calls;
    int64_t ns[N_CAUSES_OF_IDLE];
} range_idle_ctx;

/* Blocking calls that reach into the range, by the slices of their names. */
static status find_calls(range_idle_ctx *k, error *err) {
    const lod *l = k->q->lod;
    size_t most = 0, n = 0;
    for (uint32_t i = 0; i < l->n_names; i++)
        if (idle_blocks(trace_str(k->t, l->name_string[i])))
            most += l->name_first[i + 1] - l->name_first[i];
    sort_pair *found = ARENA_ARRAY(k->arena, sort_pair, 2 * most + 1);
    k->calls = ARENA_ARRAY(k->arena, blocking_call, most + 1);
    if (!found || !k->calls) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < l->n_names; i++) {
        if (!idle_blocks(trace_str(k->t, l->name_string[i]))) continue;
        for (uint32_t at = l->name_first[i]; at < l->name_first[i + 1]; at++) {
            uint32_t slice = l->by_name[at];
            int64_t start = k->t->slice.start[slice];
            if (start >= k->range.end || slice_end(k->t, slice) <= k->range.start) continue;
            found[n++] = (sort_pair){(uint64_t)start ^ (uint64_t)1 << 63, slice};
        }
    }
    sort_radix(found, found + most, n);
    for (size_t i = 0; i < n; i++) {
        uint32_t slice = found[i].row;
        k->calls[i] = (blocking_call){k->t->slice.start[slice], slice_end(k->t, slice), slice};
    }
    k->n_calls = n;
    return OK;
}

/* The parts of the idle time that the data loader and collectives on the host have taken. */
static status add_others(range_idle_ctx *k, error *err) {
    static const struct {
        role of;
        int cause;
    } takers[] = {{ROLE_DATA_LOADER, CAUSE_DATA_LOADER},
                  {ROLE_COMMUNICATION, CAUSE_COLLECTIVE}};
    intervals idle = intervals_in(k->arena);
    intervals_add(&idle, k->range.start, k->range.end);
    idle =
        intervals_minus(&idle, &k->roles.device); /* collectives of the device keep it busy */
    for (size_t i = 0; i < sizeof takers / sizeof *takers; i++) {
        intervals taken = intervals_and(&idle, &k->roles.at[takers[i].of]);
        k->ns[takers[i].cause] = intervals_ns(&taken);
        idle = intervals_minus(&idle, &taken);
        if (taken.failed || idle.failed) FAIL_MEMORY(err);
    }
    return OK;
}

static status find_causes(range_idle_ctx *k, error *err) {
    step_span whole = {.host_start = k->range.start,
                       .host_end = k->range.end,
                       .start = k->range.start,
                       .end = k->range.end};
    step_spans steps = {.v = &whole, .n = 1};
    idle_gaps gaps = {.n = 0};
    TRY(role_ranges_make(k->t, k->range, k->arena, &k->roles, err));
    TRY(find_calls(k, err));
    idle_question idle = {.t = k->t,
                          .steps = &steps,
                          .ranges = &k->roles,
                          .calls = k->calls,
                          .n_calls = k->n_calls,
                          .arena = k->arena};
    TRY(idle_find(&idle, &gaps, err));
    for (int i = 0; i < N_IDLE; i++) k->ns[i] = gaps.ns[i];
    return add_others(k, err);
}

static status write_causes(const range_idle_ctx *k, table *t, error *err) {
    for (int i = 0; i < N_CAUSES_OF_IDLE; i++) {
        size_t row;
        if (k->ns[i] <= 0) continue;
        TRY(table_add_row(t, &row, err));
        table_set_text(t, row, 0, str_of(cause_names[i]));
        table_set_int(t, row, 1, k->ns[i]);
        table_set_real(t, row, 2,
                       (double)k->ns[i] / (double)sub_i64(k->range.end, k->range.start));
    }
    return table_sort(t, 1, true, err);
}

status range_idle(const range_question *q, arena *a, answer *out, error *err) {
    answer made;
    range_idle_ctx k = {.q = q, .t = q->lod->t, .arena = a, .range = {q->from_ns, q->to_ns}};
    TRY(answer_begin("area", q->input, a, &made, err));
    table *t = table_new(a, "idle", IDLE, sizeof IDLE / sizeof *IDLE);
    if (!t) FAIL_MEMORY(err);
    made.tables[made.n_tables++] = t;
    TRY(trace_require(k.t, SELECT_TABLES | TRACE_TABLE(op) | TRACE_TABLE(comm), err));
    if (k.t->kernel.n > 1) {
        TRY(find_causes(&k, err));
        TRY(write_causes(&k, t, err));
    }
    *out = made;
    return OK;
}
