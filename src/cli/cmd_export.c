/* cmd_export.c: `tacho export`: a trace in another form, to a file or to standard output.
 *
 * Several traces, or all workers of a run, are merged on one clock first (store/merge.h): one
 * file with the processes of all. export/ does the rest. Here --to is the form, so the window
 * ends at --until. Without -o the result goes to standard output, unless a terminal is
 * listening there. Once the trace is open, a failure to read or write is one of the disk: exit
 * status 3; a reader that closed its end of the pipe is none. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/message_ids_cli.h"
#include "base/num.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/open.h"
#include "export/export.h"

static bool reader_is_gone(void) {
    struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&p, 1, 0) > 0 && (p.revents & POLLERR) != 0;
}

static status check_form(const options *o, error *err) {
    buf names = {0};
    const char *name;
    if (o->export_to.p) return OK;
    for (uint32_t i = 0; (name = export_form_name(i)) != NULL; i++) {
        if (i != 0) buf_add_byte(&names, '|');
        buf_add_cstr(&names, name);
    }
    arg choices = arg_text("choices", buf_str(&names));
    error_set(err, ERR_ARG, NOPOS, MSG_CLI_NO_FORM, 1, &choices);
    buf_fini(&names);
    return ERR_ARG;
}

static void say_shortened(const options *o, uint64_t n) {
    error note = {0};
    arg count = arg_int("count", sat_i64(n));
    error_set(&note, ERR_FORMAT, NOPOS, MSG_EXPORT_SHORTENED, 1, &count);
    (void)cli_complain(o, &note);
}

/* One file for each table that has rows: DIR/slice.arrows, … */
static status write_tables(const trace *t, export_options *how, const char *folder,
                           error *err) {
    const char *name;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        FAIL(err, ERR_IO, NOPOS, MSG_EXPORT_FOLDER, arg_cstr("path", folder),
             arg_cstr("reason", strerror(errno)));
    for (uint32_t i = 0; (name = export_table_name(t, i)) != NULL; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s.arrows", folder, name);
        how->table = str_of(name);
        TRY(export_file(t, how, path, err));
    }
    return OK;
}

/* A folder to write into: one that is there, or a name that ends like one. */
static bool is_folder(const char *path) {
    struct stat st;
    return str_ends(str_of(path), STR("/")) || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

static status write_trace(const options *o, const trace *t, export_options *how, error *err) {
    const char *path = o->output.p ? o->output.p : "-";
    bool each = export_takes_table(how->form) && !how->table.p && is_folder(path);
    return each ? write_tables(t, how, path, err) : export_file(t, how, path, err);
}

/* A converted file in the place of the only copy is seldom meant. */
static status check_output(const options *o, error *err) {
    struct stat out, in;
    if (!o->output.p || stat(o->output.p, &out) != 0 || !S_ISREG(out.st_mode)) return OK;
    for (uint32_t i = 0; i < o->n_traces; i++)
        if (stat(o->traces[i], &in) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
            FAIL(err, ERR_ARG, NOPOS, MSG_CLI_OUTPUT_IS_INPUT, arg_text("path", o->output));
    return OK;
}

static status write_form(const options *o, opened_input *x, bool *writing, error *err) {
    TRY(check_form(o, err));
    if (!o->output.p && isatty(STDOUT_FILENO)) FAIL0(err, ERR_ARG, NOPOS, MSG_CLI_NO_OUTPUT);
    TRY(check_output(o, err));
    TRY(open_traces(o, x, err));
    const time_window window = {o->question.from, o->question.to};
    export_options how = {.form = o->export_to, .window = &window, .table = o->question.table};
    if (o->value.p)
        how.value = str_eq(o->value, STR("device")) ? EXPORT_VALUE_DEVICE : EXPORT_VALUE_HOST;
    uint64_t shortened = 0;
    how.shortened = &shortened;
    trace *merged = NULL;
    if (x->input.n_traces > 1) TRY(open_merged(o, x, &merged, err));
    *writing = true;
    status s = write_trace(o, merged ? merged : x->input.traces[0].trace, &how, err);
    trace_release(merged);
    if (s == OK && shortened) say_shortened(o, shortened);
    return s;
}

int cmd_export(options *o) {
    error err = {0};
    opened_input x = {.pool = NULL};
    bool writing = false;
    status s = write_form(o, &x, &writing, &err);
    open_end(&x);
    if (s == OK) return EXIT_DONE;
    bool to_stdout = !o->output.p || str_eq(o->output, STR("-"));
    if (writing && s == ERR_IO && to_stdout && reader_is_gone()) return EXIT_DONE;
    int code = cli_complain(o, &err);
    return writing && s == ERR_IO ? EXIT_RESOURCES : code;
}
