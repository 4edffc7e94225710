/* cmd_report.c: `tacho report`: a run, or two that are compared, as one HTML file.
 *
 * About how large it will be is said before the work, how large it is after it; both on stderr,
 * unless --quiet. Once the traces are read, a failure to write is one of the disk: exit status
 * 3. */
#include <stdio.h>
#include <unistd.h>

#include "base/message_ids_cli.h"
#include "base/num.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "report/report.h"

typedef struct {
    const options *o;
    bool shown; /* a terminal sees the progress */
} teller;

static void clear_line(const teller *t) {
    if (t->shown) fputs("\r\033[K", stderr);
}

static void say_estimate(void *context, uint64_t bytes) {
    const teller *t = context;
    buf line = {0};
    if (t->o->quiet) return;
    text_put(&line, t->o->words, MSG_REPORT_ESTIMATE, arg_bytes("size", sat_i64(bytes)));
    if (buf_ok(&line)) fprintf(stderr, "%.*s\n", STR_ARG(buf_str(&line)));
    buf_fini(&line);
}

static void show_progress(void *context, uint64_t done, uint64_t total) {
    const teller *t = context;
    if (!t->shown) return;
    uint64_t percent = total ? done * 100 / total : 0;
    fprintf(stderr, "\r%llu %%", (unsigned long long)(percent > 99 ? 99 : percent));
    fflush(stderr);
}

static void say_done(const options *o, const report_result *made) {
    buf line = {0};
    arg args[] = {arg_text("path", o->report_output), arg_bytes("size", sat_i64(made->bytes)),
                  arg_int("count", made->n_answers),
                  arg_int("slices", sat_i64(made->n_slices))};
    if (o->quiet) return;
    text_format(&line, o->words, made->n_slices ? MSG_REPORT_DONE_SLICES : MSG_REPORT_DONE,
                args, made->n_slices ? 4 : 3);
    if (buf_ok(&line)) fprintf(stderr, "%.*s\n", STR_ARG(buf_str(&line)));
    buf_fini(&line);
}

static status check_options(const options *o, error *err) {
    if (o->report_diff && o->n_traces != 2) FAIL0(err, ERR_ARG, NOPOS, MSG_REPORT_DIFF_TWO);
    if (o->n_traces == 0)
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_NO_TRACE, arg_cstr("command", o->command.name));
    if (o->n_traces > 1 && !o->report_diff)
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_ONE_TRACE, arg_cstr("command", o->command.name),
             arg_int("count", o->n_traces));
    if (!o->report_output.p) FAIL0(err, ERR_ARG, NOPOS, MSG_REPORT_NO_OUTPUT);
    return cli_check_output(o, o->report_output, err);
}

int cmd_report(options *o) {
    error err = {0};
    report_result made;
    bool writing = false;
    teller t = {.o = o, .shown = !o->quiet && isatty(STDERR_FILENO)};
    if (check_options(o, &err) != OK) return cli_complain(o, &err);
    report_options how = {
        .paths = {o->traces[0], o->report_diff ? o->traces[1] : NULL},
        .n_paths = o->report_diff ? 2 : 1,
        .wanted = {o->question.run, o->question.worker, o->question.span},
        .detail = o->detail,
        .output = o->report_output.p,
        .threads = o->threads == ABSENT_I64 ? 0 : (int)min_i64(o->threads, 1024),
        .no_cache = o->no_cache,
        .memory_limit_bytes = options_memory_bytes(o),
        .words = o->words,
        .estimate = say_estimate,
        .progress = show_progress,
        .context = &t,
    };
    status st = report_write(&how, &made, &writing, &err);
    clear_line(&t);
    if (st == OK) {
        say_done(o, &made);
        return EXIT_DONE;
    }
    int code = cli_complain(o, &err);
    return writing && st == ERR_IO ? EXIT_RESOURCES : code;
}
