/* cmd_query.c: `tacho query`: SQL over a trace, once or at a prompt.
 *
 * The SQL is an argument, a file, standard input, or what a person enters. One question is
 * answered like an analysis, in every form; at the prompt a table is printed as it is, and a
 * mistake ends the question, not the program. */
#include <stdio.h>
#include <unistd.h>

#include "base/message_ids_query.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/open.h"
#include "cli/prompt.h"
#include "cli/shape.h"
#include "io/source.h"
#include "query/query.h"

enum { MAX_SQL_BYTES = 1 << 20 };

typedef struct {
    const options *o;
    opened_input input;
    query *q;
    output *out;
    trace *merged; /* of all workers */
    analysis_trace one;
    uint32_t n_workers;
} asked;

/* ---- the SQL ----------------------------------------------------------------------------- */

static status read_sql(const char *path, arena *a, str *out, error *err) {
    source *s;
    piece pc = {.n = 0};
    TRY(source_open_named(path, &s, err));
    status st = source_next(s, MAX_SQL_BYTES, 0, &pc, err);
    if (st == OK && pc.n >= MAX_SQL_BYTES)
        st = error_set(err, ERR_LIMIT, NOPOS, MSG_QUERY_LONG, 0, NULL);
    if (st == OK) *out = arena_str(a, str_n(pc.p, pc.n));
    if (st == OK && !out->p) st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    source_release(s, &pc);
    source_close(s);
    return st;
}

/* The words of the command line are a trace and SQL, in this order; a --logdir comes last. */
static status take_words(options *o, str *sql, error *err) {
    uint32_t n = o->n_traces;
    bool folder = o->logdir.p != NULL;
    if (n > 2)
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_ONE_TRACE, arg_cstr("command", o->command.name),
             arg_int("count", n - 1));
    if (n == 2) {
        *sql = str_of(o->traces[folder ? 0 : 1]);
        if (folder) o->traces[0] = o->traces[1];
        o->n_traces = 1;
    }
    if (sql->p && o->query_file.p) FAIL0(err, ERR_ARG, NOPOS, MSG_CLI_QUERY_TWICE);
    return OK;
}

/* ---- one question ------------------------------------------------------------------------ */

static query_options options_of(const options *o, pool *p) {
    query_options q = {.params = options_params(o, p),
                       .words = o->words,
                       .limit_ns = QUERY_LIMIT_NS,
                       .limit_bytes = QUERY_LIMIT_BYTES};
    if (o->limit_time != ABSENT_I64) q.limit_ns = o->limit_time;
    if (o->limit_memory != ABSENT_I64) q.limit_bytes = (uint64_t)o->limit_memory;
    return q;
}

/* The columns have the names that the SQL gives them, and all rows are there. */
static present_options present_as_asked(const options *o, output *out) {
    present_options p = cli_present(o, out);
    p.terminal = false;
    p.lines = 0;
    return p;
}

static status ask(asked *x, str sql, arena *a, answer *out, error *err) {
    TRY(query_ask(x->q, sql, a, out, err));
    if (x->n_workers) out->source.ranks = x->n_workers;
    return shape_answer(out, x->o, err);
}

static status answer_sql(asked *x, str sql, error *err) {
    answer a;
    form f = options_form(x->o);
    if (form_is_binary(f) && isatty(x->out->fd)) FAIL0(err, ERR_ARG, NOPOS, MSG_CLI_TERMINAL);
    TRY(ask(x, sql, &x->input.arena, &a, err));
    present_options p = present_as_asked(x->o, x->out);
    return present_answer(f, &a, &p, &x->out->buf, err);
}

/* ---- the prompt -------------------------------------------------------------------------- */

static const char *complete_word(void *context, uint32_t i) {
    return query_word(context, i);
}

static status show_answer(asked *x, str sql, arena *scratch, error *err) {
    answer a;
    present_options p = present_as_asked(x->o, x->out);
    form f = options_form(x->o);
    TRY(ask(x, sql, scratch, &a, err));
    if (f != FORM_TEXT) {
        TRY(present_answer(f, &a, &p, &x->out->buf, err));
    } else {
        for (uint32_t i = 0; i < a.n_tables; i++)
            TRY(present_table_text(a.tables[i], &p, &x->out->buf, err));
    }
    return output_flush(x->out, &x->out->buf, err);
}

/* Asks what was entered; false: the output is closed. */
static bool ask_entered(asked *x, str sql) {
    error err = {0};
    arena scratch;
    arena_init(&scratch, 0);
    status s = show_answer(x, sql, &scratch, &err);
    arena_fini(&scratch);
    if (s != OK && !x->out->closed) (void)cli_complain(x->o, &err);
    buf_clear(&x->out->buf);
    return !x->out->closed && !x->out->failed;
}

static status prompt_for_sql(asked *x, error *err) {
    prompt *p = prompt_open("query_history", complete_word, x->q);
    buf text = {0};
    bool more = p != NULL;
    if (!p) FAIL_MEMORY(err);
    printf("%s\n", text_get(MSG_QUERY_WELCOME, x->o->words));
    while (more && prompt_line(p, text.n ? "  ...> " : "tacho> ", &text)) {
        str entered = str_trim(buf_str(&text));
        if (!entered.n) buf_clear(&text);
        if (!entered.n) continue;
        if (query_is_quit(entered)) break;
        buf_add_byte(&text, '\n');
        if (!buf_ok(&text) || !query_is_whole(buf_str(&text))) continue;
        prompt_remember(p, entered);
        more = ask_entered(x, buf_str(&text));
        buf_clear(&text);
    }
    buf_fini(&text);
    prompt_close(p);
    return OK;
}

/* ---- the command ------------------------------------------------------------------------- */

/* Several workers are one trace: their processes carry their names. */
static status join_workers(asked *x, error *err) {
    analysis_input *in = &x->input.input;
    if (in->n_traces < 2) return OK;
    TRY(open_merged(x->o, &x->input, &x->merged, err));
    x->one = in->traces[0];
    x->one.trace = x->merged;
    x->one.worker = STR_NONE;
    x->n_workers = in->n_traces;
    in->traces = &x->one;
    in->n_traces = 1;
    return OK;
}

static status run_query(options *o, asked *x, error *err) {
    str sql = STR_NONE;
    TRY(take_words(o, &sql, err));
    bool from_input = !sql.p && !o->query_file.p && !isatty(STDIN_FILENO);
    TRY(open_traces(o, &x->input, err));
    if (o->query_file.p || from_input)
        TRY(read_sql(from_input ? "-" : o->query_file.p, &x->input.arena, &sql, err));
    TRY(join_workers(x, err));
    query_options how = options_of(o, x->input.pool);
    TRY(query_open(&x->input.input, &how, &x->q, err));
    return sql.p ? answer_sql(x, sql, err) : prompt_for_sql(x, err);
}

int cmd_query(options *o) {
    error err = {0};
    output out = {.fd = STDOUT_FILENO, .name = text_get(MSG_CLI_STDOUT, o->words)};
    asked x = {.o = o, .out = &out};
    status s = run_query(o, &x, &err);
    /* What is written borrows from both. */
    int code = output_end(&out, o, s, &err);
    query_close(x.q);
    trace_release(x.merged);
    open_end(&x.input, NULL);
    return code;
}
