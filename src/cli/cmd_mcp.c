/* cmd_mcp.c: `tacho mcp`: the analyses for agents, on standard input and output.
 *
 * mcp/ speaks the protocol. Here a call becomes a command line, so that an agent is answered as
 * a person is, by the same parser, with the same words when something is wrong. Answers are
 * bounded: tables have few rows unless more are asked for, and an answer that is still too long
 * is given again with fewer. With a folder only what is below it can be opened. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "analyse/ask.h"
#include "base/clock.h"
#include "base/fmt.h"
#include "base/message_ids_columns.h"
#include "base/num.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/picture.h"
#include "cli/shape.h"
#include "io/source.h"
#include "mcp/mcp.h"
#include "query/query.h"
#include "session/discover.h"
#include "session/sniff.h"

enum { USUAL_ROWS = 20, MOST_ROWS = 500, TRIES = 4, TEXT_WIDTH = 160 };
/* Of one question in SQL: an agent that asks for too much shall hear so soon. */
enum { SQL_BYTES = 256 << 20, SQL_ROWS = 10000 };
#define SQL_NS (INT64_C(20) * 1000000000)

typedef struct {
    const options *o;
    const char *folder; /* real path; NULL: anything may be opened */
    arena arena;        /* of one message */
} agent;

/* ---- which files ------------------------------------------------------------------------- */

/* The path of a trace: below the folder, where there is one. */
static status find_trace(agent *g, str given, const char **out, error *err) {
    *out = given.p;
    if (!g->folder) return OK;
    str path = given.p[0] == '/' ? given : arena_printf(&g->arena, "%s/%s", g->folder, given.p);
    if (!path.p) FAIL_MEMORY(err);
    if (!given.n || !open_is_within(path.p, g->folder))
        FAIL(err, ERR_NOT_FOUND, NOPOS, MSG_MCP_OUTSIDE, arg_text("path", given),
             arg_cstr("folder", g->folder));
    *out = path.p;
    return OK;
}

/* ---- a call as a command line ------------------------------------------------------------ */

/* `offset` has no option: on a command line a pipe does it. */
static bool is_offset(str name) {
    return str_eq(name, STR("offset"));
}

/* Where --to is the form of an export, the end of the window is another word. */
static str option_name(const mcp_call *c, str name) {
    return c->picture && str_eq(name, STR("to")) ? STR("until") : name;
}

static status make_words(agent *g, const mcp_call *c, char **words, int *n, error *err) {
    if (c->picture) words[(*n)++] = (char *)(uintptr_t) "--to=svg";
    for (uint32_t i = 0; i < c->n_arguments; i++) {
        str name = option_name(c, c->arguments[i].name), value = c->arguments[i].value;
        if (is_offset(name)) continue;
        if (str_eq(name, STR("other"))) { /* a trace, too */
            const char *path;
            TRY(find_trace(g, value, &path, err));
            value = str_of(path);
        }
        str word = value.p ? arena_printf(&g->arena, "--%s=%s", name.p, value.p)
                           : arena_printf(&g->arena, "--%s", name.p);
        if (!word.p) FAIL_MEMORY(err);
        words[(*n)++] = (char *)(uintptr_t)word.p;
    }
    words[(*n)++] = (char *)(uintptr_t) "--";
    for (uint32_t i = 0; i < c->n_traces; i++) {
        const char *path;
        TRY(find_trace(g, c->traces[i], &path, err));
        words[(*n)++] = (char *)(uintptr_t)path;
    }
    return OK;
}

static status read_offset(const mcp_call *c, options *o, error *err) {
    for (uint32_t i = 0; i < c->n_arguments; i++) {
        spelling as = {c->arguments[i].name, "="};
        if (!is_offset(as.name)) continue;
        if (!value_parse(VALUE_COUNT, NULL, c->arguments[i].value, &o->question.offset))
            return value_fail(VALUE_COUNT, NULL, &as, c->arguments[i].value, err);
    }
    return OK;
}

/* What comes in on standard input is the client's next question. */
static status refuse_input(const options *o, error *err) {
    for (uint32_t i = 0; i < o->n_traces; i++)
        if (strcmp(o->traces[i], "-") == 0)
            FAIL(err, ERR_ARG, NOPOS, MSG_IS_NO_FILE, arg_cstr("path", "-"));
    return OK;
}

static status read_options(agent *g, const mcp_call *c, options *o, error *err) {
    char *words[MCP_MAX_ARGUMENTS + 5];
    int n = 0;
    *o = (options){.words = g->o->words};
    if (!command_find(str_of(c->analysis), &o->command))
        return command_unknown(str_of(c->analysis), false, err);
    TRY(make_words(g, c, words, &n, err));
    TRY(options_parse(&g->arena, n, words, o, err));
    TRY(refuse_input(o, err));
    TRY(read_offset(c, o, err));
    o->quiet = true;
    o->within = g->folder;
    o->files_only = true;
    o->no_cache = g->o->no_cache;
    o->threads = g->o->threads;
    o->memory_limit = g->o->memory_limit;
    int64_t asked = o->question.limit == ABSENT_I64 ? USUAL_ROWS : o->question.limit;
    o->question.limit = asked == 0 ? MOST_ROWS : min_i64(asked, MOST_ROWS);
    return OK;
}

/* ---- the answer -------------------------------------------------------------------------- */

static status write_answer(const options *o, answer *a, uint32_t width, buf *text, buf *json,
                           error *err) {
    present_options how = {.lang = o->words, .width = width, .utf8 = true};
    TRY(present_resolve(a, o->words, err));
    TRY(shape_answer(a, o, err));
    TRY(present_answer(FORM_TEXT, a, &how, text, err));
    return present_answer(FORM_JSON, a, &how, json, err);
}

static status answer_analysis(const options *o, opened_input *x, buf *text, buf *json,
                              error *err) {
    answer a;
    params p = options_params(o, x->pool);
    TRY(analysis_ask(o->command.analysis, &x->input, &p, &x->arena, &a, err));
    return write_answer(o, &a, TEXT_WIDTH, text, json, err);
}

static status answer_sql(const options *o, opened_input *x, str sql, buf *text, buf *json,
                         error *err) {
    answer a;
    query *q;
    query_options how = {.params = options_params(o, x->pool),
                         .words = o->words,
                         .limit_ns = SQL_NS,
                         .limit_bytes = SQL_BYTES,
                         .limit_rows = SQL_ROWS};
    TRY(query_open(&x->input, &how, &q, err));
    status s = query_ask(q, sql, &x->arena, &a, err);
    /* As wide as it is: the columns are those that were asked for. It borrows from the
     * query. */
    if (s == OK) s = write_answer(o, &a, 0, text, json, err);
    query_close(q);
    return s;
}

static status answer_once(const options *o, str sql, buf *text, buf *json, error *err) {
    opened_input x = {.pool = NULL};
    status s = open_traces(o, &x, err);
    if (s == OK)
        s = sql.p ? answer_sql(o, &x, sql, text, json, err)
                  : answer_analysis(o, &x, text, json, err);
    open_end(&x, err);
    return s;
}

/* ---- a picture ---- */

static void put_facts(const timeline_svg_options *how, const timeline_svg_facts *facts,
                      const trace *t, buf *json) {
    buf_printf(json,
               "{\"schema\":\"tacho/1\",\"picture\":{\"from\":%lld,\"to\":%lld,\"width\":%u,"
               "\"height\":%u,\"tracks\":%u,\"left_out\":%u,\"boxes\":%u,\"bucket\":%lld}}",
               (long long)sub_i64(how->from_ns, t->start_ns),
               (long long)sub_i64(how->to_ns, t->start_ns), facts->width_px, facts->height_px,
               facts->n_tracks, facts->n_left_out, facts->n_boxes, (long long)facts->bucket_ns);
}

static status draw_picture(const options *o, mcp_result *out, error *err) {
    opened_input x = {.pool = NULL};
    timeline_svg_options how;
    timeline_svg_facts facts;
    status s = open_traces(o, &x, err);
    if (s == OK)
        s = picture_draw(o, &x, MCP_MAX_PICTURE_BYTES, &out->picture, &how, &facts, err);
    if (s == OK && out->picture.n > MCP_MAX_PICTURE_BYTES)
        s = error_set(err, ERR_LIMIT, NOPOS, MSG_MCP_ANSWER_TOO_LONG, 0, NULL);
    if (s == OK) {
        const trace *t = x.input.traces[0].trace;
        fmt_safe(&out->text, how.title, "");
        buf_add_cstr(&out->text, ": ");
        timeline_svg_describe(&out->text, t, &how, &facts);
        put_facts(&how, &facts, t, &out->json);
    }
    open_end(&x, err);
    return s;
}

/* Fewer rows until it fits: half of what would, by its size now. */
static status run_tool(void *of, const mcp_call *c, mcp_result *out, error *err) {
    agent *g = of;
    options o;
    TRY(read_options(g, c, &o, err));
    if (c->picture) return draw_picture(&o, out, err);
    for (int i = 0; i < TRIES; i++) {
        buf_clear(&out->text);
        buf_clear(&out->json);
        TRY(answer_once(&o, c->sql, &out->text, &out->json, err));
        size_t bytes = out->text.n > out->json.n ? out->text.n : out->json.n;
        if (bytes <= MCP_MAX_ANSWER_BYTES) return OK;
        o.question.limit =
            max_i64(mul_i64(o.question.limit, MCP_MAX_ANSWER_BYTES) / (int64_t)bytes / 2, 1);
    }
    FAIL0(err, ERR_LIMIT, NOPOS, MSG_MCP_ANSWER_TOO_LONG);
}

/* ---- the runs of the folder -------------------------------------------------------------- */

/* What a run's files are, by the first that says it; "" when none does. */
static const char *format_of(const agent *g, const run_entry *run) {
    for (uint32_t w = 0; w < run->n_workers; w++) {
        const char *path = run->workers[w].spans[0].path.p;
        const format *f;
        source *src;
        error ignored = {0};
        if (!open_is_within(path, g->folder)) continue;
        if (source_open(path, &src, &ignored) != OK) continue;
        status s = sniff_source(src, path, &f, &ignored);
        source_close(src);
        if (s == OK) return f->name;
    }
    return "";
}

/* A file counts as complete after two seconds without a change, as for the page. */
static bool is_growing(const run_entry *run) {
    int64_t now_ns = clock_ns(CLOCK_REALTIME);
    for (uint32_t w = 0; w < run->n_workers; w++)
        for (uint32_t i = 0; i < run->workers[w].n_spans; i++)
            if (sub_i64(now_ns, run->workers[w].spans[i].mtime_ns) < 2000000000) return true;
    return false;
}

static str describe_run(agent *g, const run_entry *run, arena *a) {
    buf text = {0};
    const char *kind = format_of(g, run);
    arg args[3] = {arg_int("workers", run->n_workers)};
    uint32_t n = 1;
    if (*kind) args[n++] = arg_cstr("format", kind);
    if (is_growing(run)) args[n++] = arg_cstr("growing", "");
    text_format(&text, g->o->words, MSG_RESOURCE_RUN, args, n);
    str kept = buf_ok(&text) ? arena_str(a, buf_str(&text)) : STR_NONE;
    buf_fini(&text);
    return kept;
}

static status list_runs(void *of, uint32_t first, arena *a, mcp_runs *out, error *err) {
    agent *g = of;
    catalogue c;
    TRY(run_discover(a, g->folder, &c, err));
    for (uint32_t i = 0; i < c.n_runs; i++) {
        const run_entry *run = &c.runs[i];
        if (!open_is_within(run->path.p, g->folder)) continue;
        if (out->total++ < first || out->n == MCP_PAGE) continue;
        out->runs[out->n].name = run->name;
        out->runs[out->n].about = describe_run(g, run, a);
        if (!out->runs[out->n++].about.p) FAIL_MEMORY(err);
    }
    return OK;
}

/* ---- lines in, lines out ----------------------------------------------------------------- */

static status answer_line(agent *g, str line, output *out, error *err) {
    mcp_host host = {
        .words = g->o->words, .run = run_tool, .runs = g->folder ? list_runs : NULL, .of = g};
    mcp_answer(&host, &g->arena, line, &out->buf);
    arena_reset(&g->arena);
    if (!buf_ok(&out->buf)) FAIL_MEMORY(err);
    return output_flush(out, &out->buf, err);
}

/* Answers the whole lines of what was read and keeps the rest. A line that is too long is
 * answered once, and thrown away up to its end. */
static status answer_lines(agent *g, buf *read_so_far, bool *skipping, output *out,
                           error *err) {
    size_t at = 0;
    for (const char *end; (end = memchr(read_so_far->p + at, '\n', read_so_far->n - at));) {
        str line = str_n(read_so_far->p + at, (size_t)(end - read_so_far->p) - at);
        at += line.n + 1;
        if (!*skipping) TRY(answer_line(g, line, out, err));
        *skipping = false;
    }
    read_so_far->n -= at;
    memmove(read_so_far->p, read_so_far->p + at, read_so_far->n);
    if (read_so_far->n <= MCP_MAX_LINE_BYTES) return OK;
    if (!*skipping) mcp_answer_too_long(&out->buf);
    *skipping = true;
    read_so_far->n = 0;
    return output_flush(out, &out->buf, err);
}

static status answer_all(agent *g, buf *read_so_far, output *out, error *err) {
    bool skipping = false;
    for (;;) {
        if (!buf_reserve(read_so_far, 64 << 10)) FAIL_MEMORY(err);
        ssize_t n = read(STDIN_FILENO, read_so_far->p + read_so_far->n, 64 << 10);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        read_so_far->n += (size_t)n;
        TRY(answer_lines(g, read_so_far, &skipping, out, err));
    }
    if (!read_so_far->n || skipping) return OK;
    return answer_line(g, buf_str(read_so_far), out, err); /* the last line lacks its end */
}

int cmd_mcp(options *o) {
    error err = {0};
    char folder[PATH_MAX];
    agent g = {.o = o};
    buf read_so_far = {0};
    output out = {.fd = STDOUT_FILENO, .name = text_get(MSG_CLI_STDOUT, o->words)};
    status s = OK;
    if (o->n_traces > 1) s = error_set(&err, ERR_ARG, NOPOS, MSG_MCP_ONE_FOLDER, 0, NULL);
    if (s == OK && o->n_traces) {
        g.folder = realpath(o->traces[0], folder);
        if (!g.folder)
            s = error_set(&err, ERR_NOT_FOUND, NOPOS, MSG_MCP_NO_FOLDER, 1,
                          (arg[]){arg_cstr("path", o->traces[0])});
    }
    source_confine(g.folder);
    arena_init(&g.arena, 0);
    if (s == OK) s = answer_all(&g, &read_so_far, &out, &err);
    arena_fini(&g.arena);
    buf_fini(&read_so_far);
    source_confine(NULL);
    return output_end(&out, o, s, &err);
}
