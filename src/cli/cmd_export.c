/* cmd_export.c: `tacho export`: a trace in another form, to a file or to standard output.
 *
 * export/ does the work. Here --to is the form, so the window ends at --until. Without -o the
 * result goes to standard output, unless a terminal is listening there. Once the trace is open,
 * a failure to read or write is one of the disk: exit status 3; a reader that closed its end of
 * the pipe is none. */
#include <poll.h>
#include <unistd.h>

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

static status write_form(const options *o, opened *x, bool *writing, error *err) {
    const char *path = o->output.p ? o->output.p : "-";
    TRY(check_form(o, err));
    if (!o->output.p && isatty(STDOUT_FILENO)) FAIL0(err, ERR_ARG, NOPOS, MSG_CLI_NO_OUTPUT);
    TRY(open_traces(o, x, err));
    export_options how = {.form = o->export_to, .from_ns = o->from, .to_ns = o->until};
    if (o->value.p)
        how.value = str_eq(o->value, STR("device")) ? EXPORT_VALUE_DEVICE : EXPORT_VALUE_HOST;
    *writing = true;
    return export_file(x->input.traces[0].trace, &how, path, err);
}

int cmd_export(options *o) {
    error err = {0};
    opened x = {.pool = NULL};
    bool writing = false;
    status s = write_form(o, &x, &writing, &err);
    open_end(&x);
    if (s == OK) return EXIT_DONE;
    bool to_stdout = !o->output.p || str_eq(o->output, STR("-"));
    if (writing && s == ERR_IO && to_stdout && reader_is_gone()) return EXIT_DONE;
    int code = cli_complain(o, &err);
    return writing && s == ERR_IO ? EXIT_RESOURCES : code;
}
