/* answer.c: the frame of every answer.
 *
 * answer_begin fills what every answer carries whatever the question: which trace it is about,
 * and how much of that trace was usable. answer_table makes an empty table with all columns of
 * registry.def; answer_finish takes away those whose condition does not hold, after the
 * analysis has filled the table by the fixed column numbers.
 *
 * Not here: sorting, searching, limiting (the caller's), and words (text/). */
#include "analyse/input_quality.h"
#include "analyse/kind_names.h"
#include "analyse/registry.h"
#include "analyse/rules.h"
#include "base/message_ids_columns.h"
#include "base/num.h"
#include "store/traits.h"

/* Files that answer some questions only, and what to say to the others. For a timeline only the
 * one question that it cannot answer well is listed. */
static const struct {
    uint32_t trait;
    bool only; /* the commands are those that fit; otherwise those that do not */
    const char *commands[6];
    const char *id;
    uint16_t message;
} BETTER[] = {
    {TRAIT_STATIC_GRAPH,
     true,
     {"top", "info", "operators", "kernels"},
     "static_graph",
     MSG_NOTE_STATIC_GRAPH},
    {TRAIT_DYNAMIC_GRAPH, false, {"top"}, "dynamic_graph", MSG_NOTE_DYNAMIC_GRAPH},
    {TRAIT_MEMORY_PICTURE, true, {"memory", "info"}, "memory_picture", MSG_NOTE_MEMORY_PICTURE},
    {TRAIT_ONLY_COLLECTIVES,
     true,
     {"hang", "info", "distributed", "query"},
     "only_collectives",
     MSG_NOTE_ONLY_COLLECTIVES},
    {TRAIT_REQUESTS,
     true,
     {"requests", "overview", "advise", "info", "query", "summary"},
     "requests",
     MSG_NOTE_REQUESTS},
    {TRAIT_CALLS,
     true,
     {"overview", "advise", "info", "query", "summary"},
     "calls",
     MSG_NOTE_CALLS},
};

/* Row of BETTER + 1; 0 when the question fits the file. */
static size_t find_better(const char *command, const trace *t) {
    for (size_t i = 0; i < sizeof BETTER / sizeof *BETTER; i++) {
        bool listed = false;
        for (size_t k = 0; k < 6 && BETTER[i].commands[k]; k++)
            listed |= strcmp(command, BETTER[i].commands[k]) == 0;
        if (trace_has(t, BETTER[i].trait) && listed != BETTER[i].only) return i + 1;
    }
    return 0;
}

uint16_t registry_better(const char *command, const trace *t) {
    size_t row = find_better(command, t);
    return row ? BETTER[row - 1].message : MSG_NONE;
}

static status note_other_command(const char *analysis, const trace *t, arena *a, answer *out,
                                 error *err) {
    size_t row = find_better(analysis, t);
    if (!row) return OK;
    verdict note = {.severity = SEVERITY_INFO,
                    .id = BETTER[row - 1].id,
                    .message = BETTER[row - 1].message};
    return answer_note(out, a, &note, err);
}

/* What could not be recorded, and why, in the words of who recorded it. */
static status note_recorder(const trace *t, arena *a, answer *out, error *err) {
    enum { MOST_NOTES = 8 };
    uint32_t n = 0;
    for (uint32_t i = 1; i < t->note.n && n < MOST_NOTES; i++, n++) {
        verdict note = {
            .id = "recorder", .message = MSG_NOTE_RECORDER, .severity = SEVERITY_INFO};
        verdict_add(&note, arg_text("text", trace_str(t, t->note.text[i])));
        TRY(answer_note(out, a, &note, err));
    }
    return OK;
}

/* A flight recorder whose memory was too small for what it was to keep. */
static status note_flight(const trace *t, arena *a, answer *out, error *err) {
    int64_t kept, asked;
    if (!str_to_i64(trace_fact(t, FACT_FLIGHT_KEPT), &kept) ||
        !str_to_i64(trace_fact(t, FACT_FLIGHT_ASKED), &asked))
        return OK;
    verdict note = {
        .id = "flight_kept", .message = MSG_NOTE_FLIGHT_KEPT, .severity = SEVERITY_WARNING};
    verdict_add(&note, arg_time("kept", kept));
    verdict_add(&note, arg_time("asked", asked));
    return answer_note(out, a, &note, err);
}

/* A summary may be that of many workers. */
static uint32_t count_workers(const analysis_input *in) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < in->n_traces; i++) {
        const summary *s = in->traces[i].trace->summary;
        bool unread = s && SUMMARY_N(s, failure) && !SUMMARY_N(s, worker);
        n += s && SUMMARY_N(s, worker) ? SUMMARY_N(s, worker) : !unread;
    }
    return n;
}

/* Steps that nothing marks: how they were found, and with what confidence. */
static status note_steps(const trace *t, arena *a, answer *out, error *err) {
    if (t->step.n < 2 || t->step.how[1] == STEP_MARKED || t->step.how[1] >= N_STEP_HOW)
        return OK;
    verdict note = {
        .id = "steps_found", .message = MSG_NOTE_STEPS_FOUND, .severity = SEVERITY_INFO};
    verdict_add(&note, arg_int("steps", (int64_t)t->step.n - 1));
    verdict_add(&note, arg_share("confidence", t->step.confidence[1]));
    verdict_add(&note, arg_int(step_source(t->step.how[1]).p, 1));
    return answer_note(out, a, &note, err);
}

/* What was joined to the trace: how much of it, and how much not. */
static status note_execution_trace(const trace *t, arena *a, answer *out, error *err) {
    TRY(trace_require(t, TRACE_TABLE(execution_trace), err));
    if (t->execution_trace.n < 2) return OK;
    int64_t nodes = t->execution_trace.nodes[1], joined = t->execution_trace.joined[1];
    verdict note = {.id = "execution_trace",
                    .message = MSG_NOTE_EXECUTION_TRACE,
                    .severity = SEVERITY_INFO};
    verdict_add(&note, arg_text("file", trace_str(t, t->execution_trace.file[1])));
    verdict_add(&note, arg_int("joined", joined));
    verdict_add(&note, arg_int("nodes", nodes));
    verdict_add(&note, arg_int("rest", sub_i64(nodes, joined)));
    if (t->execution_trace.damaged[1]) verdict_add(&note, arg_int("damaged", 1));
    if (joined == 0 && nodes > 0) verdict_add(&note, arg_int("other", 1));
    return answer_note(out, a, &note, err);
}

/* The analyses that a summary has answers for, as a list. */
static str answers_of_summaries(arena *a) {
    const analysis_info *is;
    str list = STR_NONE;
    for (uint32_t i = 0; (is = registry_analysis(i)) != NULL; i++)
        if (analysis_has(is, OF_SUMMARY))
            list = arena_printf(a, "%.*s%s%s", STR_ARG(list), list.n ? ", " : "", is->name);
    return list;
}

/* ERR_ARG for an analysis that needs events. */
static status check_summary(const char *analysis, const analysis_input *in, arena *a,
                            error *err) {
    const summary *s = in->traces[0].trace->summary;
    if (!s || analysis_has(registry_find(str_of(analysis)), OF_SUMMARY)) return OK;
    FAIL(err, ERR_ARG, NOPOS, MSG_SUMMARY_NO_EVENTS, arg_text("path", in->traces[0].path),
         arg_int("workers", SUMMARY_N(s, worker)), arg_text("answers", answers_of_summaries(a)),
         arg_cstr("analysis", analysis));
}

status answer_begin(const char *analysis, const analysis_input *in, arena *a, answer *out,
                    error *err) {
    const analysis_trace *first = &in->traces[0];
    const trace *t = first->trace;
    answer made = {.analysis = analysis};
    const analysis_info *is = registry_of(&made);
    TRY(check_summary(analysis, in, a, err));
    made.source = (answer_source){
        .path = first->path,
        .format = t->format,
        .run = first->run,
        .worker = first->worker,
        .span = first->span,
        .start_unix_ns =
            t->base_unix_ns == ABSENT_I64 ? ABSENT_I64 : add_i64(t->base_unix_ns, t->start_ns),
        .duration_ns = max_i64(0, sub_i64(t->end_ns, t->start_ns)),
    };
    made.source.ranks = count_workers(in);
    made.source.run_ranks = first->run_ranks;
    made.source.run_traces = first->run_workers;
    if (made.source.ranks > 1) made.source.worker = STR_NONE;
    /* What reads no column takes the same time for a trace of any size. */
    TRY(input_quality(!analysis_has(is, ABOUT_FILE), in, a, &made.quality, err));
    TRY(note_other_command(analysis, t, a, &made, err));
    TRY(note_recorder(t, a, &made, err));
    TRY(note_flight(t, a, &made, err));
    TRY(note_steps(t, a, &made, err));
    if (!analysis_has(is, ANY_INPUT)) TRY(input_cut(in, &made.cut, err));
    TRY(note_execution_trace(t, a, &made, err));
    *out = made;
    return OK;
}

/* ---- tables ------------------------------------------------------------------------------ */

/* The columns of SHOW, separated by blanks. */
static const struct {
    const char *analysis, *table, *columns;
} SHOWN[] = {
#define SHOW(analysis, table, columns) {#analysis, #table, columns},
#include "analyse/registry.def"
    {NULL, NULL, NULL},
};

/* What a terminal shows, in the order of registry.def. */
static const struct {
    const char *analysis, *table;
    uint16_t rows;
    screen_form form;
    const char *columns;
} SCREENS[] = {
#define SCREEN(analysis, table, rows, form, columns) \
    {#analysis, #table, rows, SCREEN_##form, columns},
#include "analyse/registry.def"
    {NULL, NULL, 0, SCREEN_ROWS, NULL},
};

/* Numbers the columns by importance: those of SHOW from 1 on. */
static void rank_columns(table *t, const result_info *r) {
    size_t i = 0;
    while (SHOWN[i].table && (strcmp(SHOWN[i].analysis, r->analysis) != 0 ||
                              strcmp(SHOWN[i].table, r->name) != 0))
        i++;
    str rest = str_of(SHOWN[i].columns);
    for (uint16_t rank = 1; rest.n != 0; rank++) {
        str word = str_cut(&rest, STR(" "));
        uint32_t col = table_column(t, word);
        if (col == UINT32_MAX) BUG("registry.def: SHOW names a column that is not there");
        t->columns[col].rank = rank;
    }
}

/* Whether and where the table is on a screen. */
static table_screen screen_of(const result_info *r) {
    for (size_t i = 0; SCREENS[i].table; i++)
        if (strcmp(SCREENS[i].analysis, r->analysis) == 0 &&
            strcmp(SCREENS[i].table, r->name) == 0)
            return (table_screen){.place = (uint16_t)(i + 1),
                                  .rows = SCREENS[i].rows,
                                  .form = SCREENS[i].form,
                                  .columns = SCREENS[i].columns};
    return (table_screen){0};
}

table *answer_table(answer *out, arena *a, const char *table_name) {
    const result_info *r = NULL;
    for (uint32_t i = 0; (r = registry_result(out->analysis, i)) != NULL; i++)
        if (strcmp(r->name, table_name) == 0) break;
    if (!r) BUG("a table that registry.def does not name");
    if (out->n_tables == sizeof out->tables / sizeof *out->tables) BUG("too many tables");
    column_spec *spec = ARENA_ARRAY(a, column_spec, r->n_fields);
    if (!spec) return NULL;
    for (uint32_t i = 0; i < r->n_fields; i++) {
        const field_info *f = registry_field(r, i);
        spec[i] = (column_spec){f->name, f->type, f->unit, f->help};
    }
    table *t = table_new(a, table_name, spec, r->n_fields);
    if (!t) return NULL;
    rank_columns(t, r);
    t->screen = screen_of(r);
    out->tables[out->n_tables++] = t;
    return t;
}

static bool condition_holds(const char *when, const params *p) {
    if (when[0] == '\0') return true;
    const char *equals = strchr(when, '=');
    if (!equals) BUG("registry.def: a condition nobody understands");
    str key = str_n(when, (size_t)(equals - when));
    if (str_eq(key, STR("group_by")))
        return value_in_list(equals + 1, str_of(group_by_name(p->group)));
    return value_in_list(equals + 1, param_text(p, key));
}

void answer_finish(answer *out, const params *p) {
    if (out->cut.id) out->verdict = out->cut;
    for (uint32_t i = 0; i < out->n_tables; i++) {
        table *t = out->tables[i];
        const result_info *r = NULL;
        for (uint32_t k = 0; (r = registry_result(out->analysis, k)) != NULL; k++)
            if (strcmp(r->name, t->name) == 0) break;
        if (!r) continue;
        for (uint32_t k = 0; k < r->n_fields; k++) {
            const field_info *f = registry_field(r, k);
            uint32_t col = table_column(t, str_of(f->name));
            if (col != UINT32_MAX && !condition_holds(f->when, p)) table_drop_column(t, col);
        }
    }
}
