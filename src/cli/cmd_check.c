/* cmd_check.c: `tacho check`: the analysis `check` as a gate.
 *
 * The answer goes to standard output like any other; the additional reports (--junit,
 * --markdown, --annotations) are for machines. Exit status 4: a limit is exceeded. What cannot
 * be judged is reported on stderr and passes, unless --strict. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "analyse/ask.h"
#include "analyse/check/budget.h"
#include "base/message_ids_check.h"
#include "base/message_ids_cli.h"
#include "base/num.h"
#include "cli/check_report.h"
#include "cli/commands.h"
#include "cli/open.h"
#include "cli/output_path.h"
#include "cli/shape.h"
#include "io/source.h"

enum { MAX_BUDGET_BYTES = 1 << 20 };

/* ---- the budget -------------------------------------------------------------------------- */

static status read_text(const char *path, arena *a, str *out, error *err) {
    source *s;
    piece pc = {.n = 0};
    TRY(source_open_named(path, &s, err));
    status st = source_next(s, MAX_BUDGET_BYTES, 0, &pc, err);
    if (st == OK && pc.n >= MAX_BUDGET_BYTES) {
        arg which = arg_cstr("path", path);
        st = error_set(err, ERR_FORMAT, NOPOS, MSG_BUDGET_TOO_LARGE, 1, &which);
    }
    if (st == OK) *out = arena_str(a, str_n(pc.p, pc.n));
    if (st == OK && !out->p) st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    source_release(s, &pc);
    source_close(s);
    return st;
}

/* The rules of the file become a parameter like those of --require. They are read here once so
 * that errors in them are reported before anything is opened. */
static status add_budget(options *o, arena *a, error *err) {
    str text;
    budget rules = {.arena = a};
    if (!o->budget.p) return OK;
    const param_info *p = registry_find_param("check", STR("require"));
    if (!p) BUG("check takes no rules");
    TRY(read_text(o->budget.p, a, &text, err));
    budget_text from = {.text = text, .name = o->budget, .wrong = ERR_FORMAT};
    TRY(budget_add(&rules, &from, err));
    if (!rules.n) FAIL(err, ERR_FORMAT, NOPOS, MSG_BUDGET_EMPTY, arg_text("path", o->budget));
    spelling as = {o->budget, ":"};
    return params_add(&o->question.params, p, &as, text, err);
}

/* ---- reports ----------------------------------------------------------------------------- */

/* Writes what is in the buffer of `out` to a file. */
static status write_report(const char *path, output *out, error *err) {
    out->name = path;
    out->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (out->fd < 0) {
        out->failed = true;
        FAIL(err, ERR_IO, NOPOS, MSG_CLI_CANNOT_WRITE, arg_cstr("path", path),
             arg_cstr("reason", strerror(errno)));
    }
    if (!buf_ok(&out->buf)) FAIL_MEMORY(err);
    return output_flush(out, &out->buf, err);
}

typedef struct {
    const options *o;
    const answer *a;
    arena *arena;
    output out;
} report_ctx;

/* To a file, or "-"; of a folder, to a file of this name in it. Never over what is read. */
static status put_report(report_ctx *r, str given, const char *name, error *err) {
    str file = given;
    if (output_is_folder(given))
        TRY(output_in_folder(r->arena, given, str_of(name), &file, err));
    TRY(cli_check_output(r->o, file, err));
    const char *path = file.p;
    if (strcmp(path, "-") == 0) {
        r->out.fd = STDOUT_FILENO;
        if (!buf_ok(&r->out.buf)) FAIL_MEMORY(err);
        return output_flush(&r->out, &r->out.buf, err);
    }
    status st = write_report(path, &r->out, err);
    if (r->out.fd >= 0) close(r->out.fd);
    return st;
}

static status put_annotations(report_ctx *r, error *err) {
    r->out.fd = STDERR_FILENO;
    r->out.name = "stderr";
    if (!buf_ok(&r->out.buf)) FAIL_MEMORY(err);
    return output_flush(&r->out, &r->out.buf, err);
}

static status write_reports(report_ctx *r, error *err) {
    const options *o = r->o;
    buf *to = &r->out.buf;
    if (o->junit.p) {
        check_junit(to, o, r->a);
        TRY(put_report(r, o->junit, "tacho.xml", err));
    }
    if (o->markdown.p) {
        TRY(check_markdown(to, o, r->a, r->arena, err));
        TRY(put_report(r, o->markdown, "tacho.md", err));
    }
    if (!o->annotations) return OK;
    check_annotations(to, o, r->a);
    return put_annotations(r, err);
}

/* ---- the command ------------------------------------------------------------------------- */

static bool verdict_is(const answer *a, const char *id) {
    return a->verdict.id && strcmp(a->verdict.id, id) == 0;
}

/* Also says why, where it is not plain. */
static int exit_of(const options *o, const answer *a) {
    buf sentence = {0};
    if (verdict_is(a, "check_regression")) return EXIT_REGRESSION;
    if (verdict_is(a, "check_ok")) return EXIT_DONE;
    text_format(&sentence, o->words, a->verdict.message, a->verdict.args, a->verdict.n_args);
    if (buf_ok(&sentence)) cli_say(o, buf_str(&sentence));
    buf_fini(&sentence);
    return o->strict ? EXIT_REGRESSION : EXIT_DONE;
}

/* What a text says in other columns. */
static void drop_repeated(answer *a) {
    for (uint32_t i = 0; i < a->n_tables; i++) {
        table *t = a->tables[i];
        if (strcmp(t->name, "checks") != 0) continue;
        for (uint32_t c = t->n_columns; COUNT_DOWN(c);)
            if (value_in_list("found|rule", str_of(t->columns[c].name)))
                table_drop_column(t, c);
    }
}

static status check_runs(options *o, opened_input *x, output *out, int *code, error *err) {
    answer a;
    TRY(open_traces(o, x, err));
    params p = options_params(o, x->pool);
    TRY(analysis_ask(o->command.analysis, &x->input, &p, &x->arena, &a, err));
    TRY(present_resolve(&a, o->words, err));
    report_ctx reports = {.o = o, .a = &a, .arena = &x->arena};
    status st = write_reports(&reports, err);
    buf_fini(&reports.out.buf);
    out->failed |= reports.out.failed;
    TRY(st);
    *code = exit_of(o, &a);
    if (o->markdown.p && str_eq(o->markdown, STR("-"))) return OK; /* instead of the answer */
    TRY(shape_answer(&a, o, err));
    form f = options_form(o);
    if (f == FORM_TEXT) drop_repeated(&a);
    if (form_is_binary(f) && isatty(out->fd)) FAIL0(err, ERR_ARG, NOPOS, MSG_CLI_TERMINAL);
    present_options present = cli_present(o, out);
    return present_answer(f, &a, &present, &out->buf, err);
}

int cmd_check(options *o) {
    error err = {0};
    opened_input x = {.pool = NULL};
    arena texts;
    int code = EXIT_DONE;
    output out = {.fd = STDOUT_FILENO, .name = text_get(MSG_CLI_STDOUT, o->words)};
    arena_init(&texts, 0);
    status s = add_budget(o, &texts, &err);
    if (s == OK) {
        s = check_runs(o, &x, &out, &code, &err);
        open_end(&x, &err);
    }
    int ended = output_end(&out, o, s, &err);
    arena_fini(&texts);
    return ended == EXIT_DONE ? code : ended;
}
