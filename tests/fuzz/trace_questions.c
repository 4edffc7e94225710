/* trace_questions.c: every analysis and every export of a trace file made by an enemy: what file_open
 * and trace_require let through must be harmless. The reader itself: store_file.c. */
#include <fcntl.h>

#include "analyse/registry.h"
#include "analyse/timeline/minimap.h"
#include "analyse/timeline/viewport.h"
#include "export/export.h"
#include "fuzz/fuzz.h"
#include "fuzz/fuzz_file.h"
#include "query/query.h"
#include "store/columns.h"

static void export_all(trace *t) {
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (uint32_t i = 0; export_form_name(i); i++)
        (void)!export_trace(t, &(export_options){.form = str_of(export_form_name(i))}, fd,
                            NULL);
    close(fd);
}

static void ask_all(trace *t) {
    analysis_trace one = {.trace = t};
    params p = PARAMS_WHOLE;
    for (uint32_t i = 0; registry_analysis(i); i++) {
        arena a;
        answer out;
        arena_init(&a, 256 << 20);
        (void)!registry_analysis(i)->run(&(analysis_input){&one, 1}, &p, &a, &out, NULL);
        arena_fini(&a);
    }
}

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

/* What the server draws: the strip, all lanes from far and from near. */
static void draw_all(const trace *t) {
    arena a;
    lod *l = NULL;
    timeline_lanes lanes;
    minimap strip, range = {.from_ns = t->start_ns, .to_ns = t->end_ns, .width_px = 100};
    viewport out;
    arena_init(&a, 256 << 20);
    if (t->start_ns < t->end_ns && lod_new(t, NULL, &l, NULL) == OK &&
        lanes_list(l, &a, &lanes, NULL) == OK) {
        viewport_lane *all = ARENA_ARRAY(&a, viewport_lane, lanes.n_lanes + 1);
        for (uint32_t i = 0; all && i < lanes.n_lanes; i++) all[i].id = lanes.lanes[i].id;
        (void)!minimap_make(l, &range, &a, &strip, NULL);
        for (int64_t near = t->end_ns;; near = t->start_ns + 1) {
            viewport_question q = {.from_ns = t->start_ns,
                                   .to_ns = near,
                                   .width_px = 1000,
                                   .lanes = all,
                                   .n_lanes = all ? lanes.n_lanes : 0};
            (void)!viewport_make(l, &q, &a, &out, NULL);
            if (near == t->start_ns + 1) break;
        }
    }
    lod_free(l);
    arena_fini(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    trace *t = open_hostile(data, size);
    if (!t) return 0;
    export_all(t);
    ask_all(t);
    query_all(t);
    draw_all(t);
    trace_release(t);
    return 0;
}
