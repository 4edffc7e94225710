/* cmd_export.c: `tacho export`: a trace in another form, to a file or to standard output.
 *
 * Several traces, or all workers of a run, are merged on one clock first (store/merge.h): one
 * file with the processes of all. export/ does the rest. Here --to is the form, so the window
 * ends at --until; steps are the time that they take. Without -o the result goes to standard
 * output, unless a terminal is listening there; a picture then goes to timeline.svg. -o DIR/
 * makes the folder. Once the trace is open, a failure to read or write is one of the disk: exit
 * status 3; a reader that closed its end of the pipe is not a failure. */
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "base/message_ids_columns.h"
#include "base/num.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/output_path.h"
#include "cli/picture.h"
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
static status write_tables(const trace *t, export_options *how, str folder, arena *a,
                           error *err) {
    const char *name;
    for (uint32_t i = 0; (name = export_table_name(t, i)) != NULL; i++) {
        str file = arena_printf(a, "%s.arrows", name), path;
        if (!file.p) FAIL_MEMORY(err);
        TRY(output_in_folder(a, folder, file, &path, err));
        how->table = str_of(name);
        TRY(export_file(t, how, path.p, err));
    }
    return OK;
}

/* ---- a picture ---- */

#define PICTURE_FILE "timeline.svg"

static bool is_picture(const options *o) {
    return str_eq(o->export_to, STR("svg"));
}

/* A picture that went to a default name. */
static void say_written(const options *o) {
    buf line = {0};
    if (o->quiet || o->output.p || !is_picture(o) || !isatty(STDOUT_FILENO)) return;
    text_put(&line, o->words, MSG_PICTURE_WRITTEN, arg_cstr("path", PICTURE_FILE));
    if (buf_ok(&line)) fprintf(stderr, "%.*s\n", STR_ARG(buf_str(&line)));
    buf_fini(&line);
}

/* A file in the folder of -o, named by its form; a picture without -o goes to a terminal's
 * folder. */
static status output_path(const options *o, opened_input *x, str *out, error *err) {
    char name[EXPORT_NAME_BYTES] = PICTURE_FILE;
    const analysis_trace *of = &x->input.traces[0];
    bool to_terminal = is_picture(o) && isatty(STDOUT_FILENO);
    *out = o->output.p ? o->output : to_terminal ? STR(PICTURE_FILE) : STR("-");
    if (!o->output.p || !output_is_folder(o->output)) return OK;
    if (!is_picture(o))
        export_name_file(x->input.n_traces > 1 ? of->run : of->worker, o->export_to, name);
    return output_in_folder(&x->arena, o->output, str_of(name), out, err);
}

/* ---- together ---- */

static status write_trace(const options *o, opened_input *x, const trace *t,
                          export_options *how, error *err) {
    str path;
    bool folder = o->output.p && output_is_folder(o->output);
    if (export_takes_table(how->form) && !how->table.p && folder)
        return write_tables(t, how, o->output, &x->arena, err);
    TRY(output_path(o, x, &path, err));
    return export_file(t, how, path.p, err);
}

static bool is_each_alone(const options *o, const opened_input *x) {
    return x->input.n_traces > 1 && export_is_of_one_rank(o->export_to);
}

/* A file for each rank, as ASTRA-sim names them: PREFIX.0.et, PREFIX.1.et, …; without a rank
 * the place in the list is the number. */
static status write_ranks(const options *o, const opened_input *x, export_options *how,
                          error *err) {
    if (!o->output.p || str_eq(o->output, STR("-")))
        FAIL(err, ERR_ARG, NOPOS, MSG_EXPORT_EACH_RANK, arg_text("name", how->form));
    bool folder = output_is_folder(o->output);
    if (folder) TRY(output_make_folder(o->output, err));
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

static status write_opened(const options *o, opened_input *x, const trace *t, error *err) {
    time_window window;
    picture_options picture = {.words = o->words,
                               .width_px = o->width == ABSENT_I64 ? 0 : (uint32_t)o->width};
    uint64_t shortened = 0;
    export_options how = {.form = o->export_to,
                          .window = &window,
                          .shortened = &shortened,
                          .table = o->question.table,
                          .picture = &picture};
    if (o->value.p)
        how.value = str_eq(o->value, STR("device")) ? EXPORT_VALUE_DEVICE : EXPORT_VALUE_HOST;
    TRY(picture_window(o, t, &window, err));
    picture.title = picture_title(x);
    if (!picture.title.p) FAIL_MEMORY(err);
    TRY(is_each_alone(o, x) ? write_ranks(o, x, &how, err) : write_trace(o, x, t, &how, err));
    if (shortened) say_shortened(o, shortened);
    say_written(o);
    return OK;
}

static status write_form(const options *o, opened_input *x, bool *writing, error *err) {
    TRY(check_form(o, err));
    TRY(picture_check(o, err));
    if (!o->output.p && !is_picture(o) && isatty(STDOUT_FILENO))
        FAIL0(err, ERR_ARG, NOPOS, MSG_CLI_NO_OUTPUT);
    TRY(cli_check_output(o, o->output, err));
    TRY(open_traces(o, x, err));
    trace *merged = NULL;
    if (x->input.n_traces > 1 && !is_each_alone(o, x)) TRY(open_merged(o, x, &merged, err));
    *writing = true;
    status s = write_opened(o, x, merged ? merged : x->input.traces[0].trace, err);
    trace_release(merged);
    return s;
}

int cmd_export(options *o) {
    error err = {0};
    opened_input x = {.pool = NULL};
    bool writing = false;
    status s = write_form(o, &x, &writing, &err);
    open_end(&x, &err);
    if (s == OK) return EXIT_DONE;
    bool to_stdout = !o->output.p || str_eq(o->output, STR("-"));
    if (writing && s == ERR_IO && to_stdout && reader_is_gone()) return EXIT_DONE;
    int code = cli_complain(o, &err);
    return writing && s == ERR_IO ? EXIT_RESOURCES : code;
}
