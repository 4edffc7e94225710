/* trace_questions.c: every analysis and every export of a trace file made by an enemy: what file_open
 * and trace_require let through must be harmless. The reader itself: store_file.c. */
#include "fuzz/fuzz_file.h"
#include "fuzz/fuzz_questions.h"
#include "query/query.h"
#include "store/columns.h"

static void ask_sql(query *q, const char *sql) {
    arena a;
    answer out;
    arena_init(&a, 256 << 20);
    (void)!query_ask(q, str_of(sql), &a, &out, NULL);
    arena_fini(&a);
}

/* Every cell of every table, and what follows references and sorts by them. */
static void query_all(trace *t) {
    static const char *const more[] = {
        "SELECT name, track_name, parent_name, step, path(id), stack(id) FROM slice",
        "SELECT op_name, count(*), union_time(start, dur) FROM kernel GROUP BY op_name",
        "SELECT count(*) FROM slice p JOIN slice c ON c.parent = p.id",
        "SELECT count(*) FROM slice WHERE start > 5 AND name LIKE '%a%' GROUP BY track",
        "SELECT key, value FROM arg",
    };
    analysis_trace one = {.trace = t, .rank = ABSENT_I64};
    analysis_input in = {.traces = &one, .n_traces = 1};
    query_options o = {.params = PARAMS_WHOLE,
                       .limit_ns = 100 * 1000 * 1000,
                       .limit_bytes = 64 << 20,
                       .limit_rows = 1000};
    query *q;
    char sql[64];
    CHECK(query_open(&in, &o, &q, NULL) == OK);
    for (int i = 0; i < N_TABLES; i++) {
        const char *name = TABLE_INFO[i].name;
        snprintf(sql, sizeof sql, "SELECT * FROM \"%s\"",
                 i == TABLE_group ? "comm_group" : name);
        ask_sql(q, sql);
    }
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) ask_sql(q, more[i]);
    query_close(q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    trace *t = open_hostile(data, size);
    if (!t) return 0;
    export_all(t);
    ask_all(t);
    ask_together(t, t);
    query_all(t);
    draw_all(t);
    trace_release(t);
    return 0;
}
