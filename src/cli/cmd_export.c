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

static status make_folder(const char *folder, error *err) {
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        FAIL(err, ERR_IO, NOPOS, MSG_EXPORT_FOLDER, arg_cstr("path", folder),
             arg_cstr("reason", strerror(errno)));
    return OK;
}

/* One file for each table that has rows: DIR/slice.arrows, … */
static status write_tables(const trace *t, export_options *how, const char *folder,
                           error *err) {
    const char *name;
    TRY(make_folder(folder, err));
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

/* A file for each rank, as ASTRA-sim names them: PREFIX.0.et, PREFIX.1.et, …; without a rank the
 * place in the list is the number. */
static status write_ranks(const options *o, const opened_input *x, export_options *how,
                          error *err) {
    if (!o->output.p || str_eq(o->output, STR("-")))
        FAIL(err, ERR_ARG, NOPOS, MSG_EXPORT_EACH_RANK, arg_text("name", how->form));
    bool folder = is_folder(o->output.p);
    if (folder) TRY(make_folder(o->output.p, err));
    for (uint32_t i = 0; i < x->input.n_traces; i++) {
        char path[PATH_MAX];
        const analysis_trace *one = &x->input.traces[i];
        int64_t rank = one->rank == ABSENT_I64 || one->rank < 0 ? i : one->rank;
        snprintf(path, sizeof path, "%s%s.%lld.et", o->output.p, folder ? "/chakra" : "",
                 (long long)rank);
        TRY(export_file(one->trace, how, path, err));
    }
    return OK;
}

static status write_merged(const options *o, opened_input *x, export_options *how, error *err) {
    trace *merged = NULL;
    TRY(open_merged(o, x, &merged, err));
    status s = write_trace(o, merged, how, err);
    trace_release(merged);
    return s;
}

static status write_form(const options *o, opened_input *x, bool *writing, error *err) {
    TRY(check_form(o, err));
    if (!o->output.p && isatty(STDOUT_FILENO)) FAIL0(err, ERR_ARG, NOPOS, MSG_CLI_NO_OUTPUT);
    TRY(open_traces(o, x, err));
    const time_window window = {o->question.from, o->question.to};
    export_options how = {.form = o->export_to, .window = &window, .table = o->question.table};
    if (o->value.p)
        how.value = str_eq(o->value, STR("device")) ? EXPORT_VALUE_DEVICE : EXPORT_VALUE_HOST;
    uint64_t shortened = 0;
    how.shortened = &shortened;
    bool several = x->input.n_traces > 1;
    *writing = true;
    status s = !several ? write_trace(o, x->input.traces[0].trace, &how, err)
               : export_is_of_one_rank(how.form) ? write_ranks(o, x, &how, err)
                                                 : write_merged(o, x, &how, err);
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
