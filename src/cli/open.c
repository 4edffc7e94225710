/* open.c: from the TRACE arguments of a command to sealed traces.
 *
 * One argument is a file, a run or a log folder; --run, --worker and --span choose in it.
 * Several files, as a shell gives them for a pattern, are the workers of one run, or of several
 * when they lie in several folders; an export and SQL merge what they are given. Where the
 * analysis can look at several workers it looks at all ranks of the run, unless --worker names
 * one: the first rank first, the same cycle of each; then summaries are opened where they can
 * answer (open_summaries.c). --all-workers asks for the same, also of traces that are not
 * ranks.
 *
 * session/ does the work; here is only what the command line says about it. Everything opened
 * is held by the arena of `opened`, whose reset gives the traces back. */
#include "cli/open.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyse/input_quality.h"
#include "analyse/registry.h"
#include "base/mem.h"
#include "base/message_ids_advice.h"
#include "base/message_ids_cli.h"
#include "base/num.h"
#include "cli/cli.h"
#include "cli/open_int.h"
#include "cli/passed.h"
#include "cli/progress.h"
#include "session/discover.h"
#include "session/load.h"
#include "store/traits.h"

#define LEAST_QUESTION_BYTES ((uint64_t)64 << 20)

static void release_trace(void *t) {
    trace_release(t);
}

static void free_pool(void *p) {
    pool_free(p);
}

/* `info` answers from the small tables and the counts, however large the trace is. */
static uint64_t tables_needed(const options *o) {
    bool facts = analysis_has(o->command.analysis, ABOUT_FILE);
    return facts ? TRACE_TABLE(meta) | TRACE_TABLE(quality) | TRACE_TABLE(device) : 0;
}

bool open_is_named(const options *o, str path) {
    for (uint32_t i = 0; i < o->n_traces && !o->files_only; i++)
        if (str_eq(str_of(o->traces[i]), path)) return true;
    return false;
}

status open_load(const options *o, opened_input *x, const span_choice *c, trace **out,
                 error *err) {
    const span_entry *span = c->span;
    progress p;
    loaded_trace l = {.trace = NULL};
    load_options how = {.pool = x->pool,
                        .no_cache = o->no_cache,
                        .strict = o->strict,
                        .tables = tables_needed(o),
                        .named = open_is_named(o, span->path),
                        .process = span->process,
                        .memory_limit_bytes = options_memory_bytes(o),
                        .counts_reading = options_memory_bytes(o) > 0,
                        .progress = progress_step,
                        .progress_context = &p};
    progress_begin(&p, o, span->path.p);
    status s = trace_load(span->path.p, &how, &l, err);
    progress_end(&p);
    TRY(s);
    /* A cache that cannot be written costs time, not results: worth a line to a person only. */
    if (l.note.message != MSG_NONE && p.on) (void)cli_complain(o, &l.note);
    if (!arena_on_reset(&x->arena, release_trace, l.trace)) FAIL_MEMORY(err);
    *out = l.trace;
    return OK;
}

status open_describe(opened_input *x, const span_choice *c, const trace *t, error *err) {
    trace_source *to = &x->traces[x->input.n_traces++];
    TRY(chosen_describe(c, t, &x->arena, to, err));
    to->listing = x->listing;
    return OK;
}

static status add_worker(const options *o, opened_input *x, const span_choice *c, error *err) {
    trace *t;
    TRY(open_load(o, x, c, &t, err));
    TRY(open_describe(x, c, t, err));
    return open_loaders(o, x, c, err);
}

/* What was skipped, in a line on stderr. */
static void note_passed(const options *o, const catalogue *c) {
    buf line = {0};
    if (o->quiet || !c->n_passed) return;
    passed_line(&line, o->words, c);
    if (buf_ok(&line)) cli_say(o, buf_str(&line));
    buf_fini(&line);
}

bool open_is_within(const char *path, const char *folder) {
    char real[PATH_MAX];
    size_t n = strlen(folder);
    return realpath(path, real) && strncmp(real, folder, n) == 0 &&
           (real[n] == '/' || !real[n] || n == 1);
}

/* A link in the folder may point outside. */
static status check_within(const options *o, const run_entry *run, error *err) {
    for (uint32_t i = 0; o->within && i < run->n_workers; i++)
        for (uint32_t k = 0; k < run->workers[i].n_spans; k++) {
            str path = run->workers[i].spans[k].path;
            if (!open_is_within(path.p, o->within))
                FAIL(err, ERR_NOT_FOUND, NOPOS, MSG_MCP_OUTSIDE, arg_text("path", path),
                     arg_cstr("folder", o->within));
        }
    return OK;
}

/* No run was chosen: print which it is, in a line on stderr. */
void open_note_run(const options *o, const catalogue *found, const run_entry *run) {
    buf line = {0};
    if (o->quiet || found->n_runs < 2 || o->question.run.n) return;
    text_put(&line, o->words, MSG_NEWEST_RUN, arg_text("path", shown_path(found->path)),
             arg_int("count", found->n_runs), arg_text("name", run->name));
    if (buf_ok(&line)) cli_say(o, buf_str(&line));
    buf_fini(&line);
}

status open_choose(const options *o, opened_input *x, const catalogue *found, span_choice *c,
                   error *err) {
    choice wanted = {
        .run = o->question.run, .worker = o->question.worker, .span = o->question.span};
    TRY(span_choose(found, &wanted, c, err));
    TRY(check_within(o, c->run, err));
    open_note_run(o, found, c->run);
    return run_list(found, c->run, &x->arena, &x->listing, err);
}

status open_path(const options *o, opened_input *x, const char *path, span_choice *c,
                 error *err) {
    catalogue found = {.n_runs = 0};
    status st = run_discover(&x->arena, path, &found, err);
    if (st == OK || (st == ERR_NOT_FOUND && err->message == MSG_NO_TRACES_IN))
        note_passed(o, &found);
    TRY(st);
    return open_choose(o, x, &found, c, err);
}

/* An export and SQL are of one worker unless they are asked to merge. Two traces of a
 * comparison are not workers of one run. */
static plan_question question_of(const options *o) {
    bool merges = !o->command.analysis && (strcmp(o->command.name, "export") == 0 ||
                                           strcmp(o->command.name, "query") == 0);
    return (plan_question){.analysis = o->command.analysis,
                           .question = &o->question,
                           .merges = merges,
                           .several = o->n_traces > 1 && !compare_is_asked(o)};
}

static status make_room(opened_input *x, size_t n, error *err) {
    x->traces = ARENA_ARRAY(&x->arena, analysis_trace, n);
    if (!x->traces) FAIL_MEMORY(err);
    x->input.traces = x->traces;
    return OK;
}

static status check_count(const options *o, error *err) {
    const char *name = o->command.name;
    if (o->n_traces == 0)
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_NO_TRACE, arg_cstr("command", name));
    plan_question q = question_of(o);
    if (o->question.all_workers && !plan_takes_many(&q))
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_NOT_ALL_WORKERS, arg_cstr("command", name));
    return OK;
}

static status start_pool(const options *o, opened_input *x, error *err) {
    int64_t wanted = o->threads == ABSENT_I64 || o->threads == 0 ? pool_cpus() : o->threads;
    x->pool = pool_new((int)min_i64(wanted, 1024));
    if (!x->pool) FAIL_MEMORY(err);
    if (!arena_on_reset(&x->arena, free_pool, x->pool)) {
        x->pool = NULL;
        FAIL_MEMORY(err);
    }
    return OK;
}

status open_run(const options *o, opened_input *x, const span_choice *c, error *err) {
    plan_question q = question_of(o);
    run_plan plan = plan_run(&q, c);
    TRY(make_room(x, (size_t)plan.n, err));
    if (plan.summaries) return open_summaries(o, x, &plan, err);
    for (uint32_t i = 0; i < plan.n; i++) {
        span_choice next = plan_worker(&plan, i);
        TRY(add_worker(o, x, &next, err));
    }
    return OK;
}

/* What a question about the traces may take besides them. Small ones are always answered. */
static size_t question_bytes(const options *o) {
    uint64_t set = options_memory_bytes(o);
    uint64_t limit = set ? set : mem_usual_limit_bytes();
    return (size_t)(limit > LEAST_QUESTION_BYTES ? limit : LEAST_QUESTION_BYTES);
}

/* Why nothing of the input could be read: the first damage, where there is any. */
static status fail_empty(opened_input *x, error *err) {
    quality q;
    TRY(input_quality(false, &x->input, &x->arena, &q, err));
    uint32_t i = 0;
    while (i < q.n_dropped && q.dropped[i].harmless) i++;
    bool damaged = i < q.n_dropped;
    arg why = damaged ? arg_words("why", q.dropped[i].message)
                      : (arg){.name = "why", .type = ARG_NONE};
    FAIL(err, ERR_FORMAT, NOPOS, MSG_TRACE_HAS_NOTHING,
         arg_text("path", x->input.traces[0].path), why,
         arg_int("count", damaged ? q.dropped[i].count : 0));
}

/* Tables of zeros would look like an answer; only `info` says what such a file is. Of our own
 * recorder it is one: nothing was recorded. */
static status check_events(const options *o, opened_input *x, error *err) {
    if (analysis_has(o->command.analysis, ABOUT_FILE)) return OK;
    for (uint32_t i = 0; i < x->input.n_traces; i++) {
        const trace *t = x->input.traces[i].trace;
        if (!trace_is_empty(t) || trace_has(t, TRAIT_OWN_RECORDER)) return OK;
    }
    return fail_empty(x, err);
}

status open_traces(const options *o, opened_input *x, error *err) {
    span_choice c;
    catalogue found = {.n_runs = 0};
    compared_paths compared;
    *x = (opened_input){.refusals = arena_refusals()};
    arena_init(&x->arena, question_bytes(o));
    TRY(check_count(o, err));
    TRY(compare_paths(o, &compared, err));
    TRY(start_pool(o, x, err));
    if (o->n_traces == 1 || compared.other) {
        TRY(open_path(o, x, o->traces[0], &c, err));
    } else {
        files_meant meant = o->command.analysis ? FILES_BY_FOLDER : FILES_ONE_RUN; /* merged */
        TRY(discover_files(&x->arena, o->traces, o->n_traces, meant, &found, err));
        TRY(open_choose(o, x, &found, &c, err));
    }
    TRY(open_run(o, x, &c, err));
    if (compared.other) TRY(open_compared(o, x, &compared, err));
    return check_events(o, x, err);
}

void open_end(opened_input *x, error *err) {
    if (err && err->status == ERR_MEMORY && arena_refusals() > x->refusals)
        (void)error_set(err, ERR_MEMORY, NOPOS, MSG_CLI_QUESTION_MEMORY, 1,
                        (arg[]){arg_bytes("limit", sat_i64(x->arena.limit_bytes))});
    arena_fini(&x->arena);
}
