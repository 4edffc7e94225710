/* cmd_report.c: `tacho report`: a run, or two that are compared, as one HTML file.
 *
 * Its estimated size is printed before the work, its real size after it; both on stderr, unless
 * --quiet. Once the traces are read, a failure to write is one of the disk: exit status 3. */
#include <stdio.h>
#include <unistd.h>

#include "base/message_ids_cli.h"
#include "base/num.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/output_path.h"
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

static status choose_output(options *o, arena *a, error *err) {
    TRY(output_choose(a, o, o->report_output, ".html", &o->report_output, err));
    return cli_check_output(o, o->report_output, err);
}

static status check_options(const options *o, error *err) {
    if (o->report_diff && o->n_traces != 2) FAIL0(err, ERR_ARG, NOPOS, MSG_REPORT_DIFF_TWO);
    if (o->n_traces == 0)
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_NO_TRACE, arg_cstr("command", o->command.name));
    if (o->n_traces > 1 && !o->report_diff)
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_ONE_TRACE, arg_cstr("command", o->command.name),
             arg_int("count", o->n_traces));
    return OK;
}

static report_options options_of(const options *o, teller *t) {
    return (report_options){
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
        .context = t,
    };
}

int cmd_report(options *o) {
    error err = {0};
    report_result made;
    arena a;
    bool writing = false;
    teller t = {.o = o, .shown = !o->quiet && isatty(STDERR_FILENO)};
    arena_init(&a, 0);
    status st = check_options(o, &err);
    if (st == OK) {
        writing = true;
        st = choose_output(o, &a, &err);
    }
    if (st == OK) {
        report_options how = options_of(o, &t);
        st = report_write(&how, &made, &writing, &err);
        clear_line(&t);
    }
    int code = EXIT_DONE;
    if (st == OK)
        say_done(o, &made);
    else
        code = cli_complain(o, &err);
    arena_fini(&a);
    return writing && st == ERR_IO ? EXIT_RESOURCES : code;
}
