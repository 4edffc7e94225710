/* cmd_record.c: `tacho record -- PROGRAM`: run it, keep what it records, say what it was.
 *
 * The exit status is the program's own, as of a shell, whatever became of the recording; ours
 * only when the program could not be run. First comes how the program ended, then what could
 * not be recorded and why, then the report of what was. */
#include <stdio.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/message_ids_cli.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/record_end.h"
#include "cli/record_run.h"

static void say(const options *o, uint16_t message, const char *path, int64_t count) {
    buf line = {0};
    text_put(&line, o->words, message, arg_cstr("path", path), arg_int("count", count));
    buf_add_byte(&line, '\n');
    if (!o->quiet && buf_ok(&line)) (void)!write(STDERR_FILENO, line.p, line.n);
    buf_fini(&line);
}

/* Accelerators whose work we read but do not record: which switch of the framework does. */
static void say_other_devices(const options *o) {
    static const struct {
        const char *device;
        uint16_t message;
    } OTHERS[] = {{"/dev/davinci_manager", MSG_RECORD_ASCEND},
                  {"/dev/cambricon_ctl", MSG_RECORD_MLU}};
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
        if (access(OTHERS[i].device, F_OK) == 0) say(o, OTHERS[i].message, OTHERS[i].device, 0);
}

/* The report of these files, whatever else is in the folder; the recording's own options mean
 * nothing to it. */
static int show_summary(const options *o, const record_paths *files) {
    options show = *o;
    show.traces = files->path;
    show.n_traces = files->n;
    (void)command_find(STR("summary"), &show.command);
    return cmd_summary(&show);
}

/* What the triggers of the run saw, a line each; each is a span of every rank, in this
 * order. */
static void say_triggers(const options *o, const char *folder) {
    char line[1024];
    for (uint32_t i = 1; record_trigger_line(folder, i, line, sizeof line); i++) {
        buf text = {0};
        text_put(&text, o->words, MSG_RECORD_TRIGGERED, arg_cstr("what", line),
                 arg_cstr("path", folder), arg_int("span", i));
        buf_add_byte(&text, '\n');
        if (!o->quiet && buf_ok(&text)) (void)!write(STDERR_FILENO, text.p, text.n);
        buf_fini(&text);
    }
}

static int run_and_show(options *o, arena *a, char *folder, size_t size) {
    error err = {0};
    record_run r = {.made = NULL};
    record_outcome end;
    record_paths files;
    status st = record_prepare(a, o, &r, &err);
    if (st == OK) record_say_earlier(a, &r);
    if (st == OK) st = record_program(&r, &end, &err);
    if (st != OK) {
        record_remove_folder(&r);
        return cli_complain(o, &err);
    }
    record_say_end(&r, &end, record_look(&r).n_steps);
    if (record_compact(a, &r, &files, &err) != OK) {
        (void)cli_complain(o, &err);
        return record_exit_status(&end);
    }
    record_say_losses(&r, files.n);
    if (files.n == 0) {
        record_remove_folder(&r);
        return record_exit_status(&end);
    }
    say(o, MSG_RECORD_DONE, r.folder, files.n);
    say_triggers(o, r.folder);
    record_tidy(&r);
    if (folder) snprintf(folder, size, "%s", r.folder);
    (void)show_summary(o, &files);
    record_say_cost(&r, &files, end.ns);
    return record_exit_status(&end);
}

int cmd_record(options *o) {
    arena a;
    error err = {0};
    if (o->n_traces == 0) {
        (void)error_set(&err, ERR_ARG, NOPOS, MSG_RECORD_NO_PROGRAM, 0, NULL);
        return cli_complain(o, &err);
    }
    arena_init(&a, 0);
    say_other_devices(o);
    int code = run_and_show(o, &a, NULL, 0);
    arena_fini(&a);
    return code;
}

/* `tacho demo`: the training program that comes with tacho, recorded, and then its page. */
int cmd_demo(options *o) {
    arena a;
    error err = {0};
    char folder[4096] = "";
    arena_init(&a, 0);
    const char *words[4] = {record_find(&a, "tacho-demo", "libexec/tacho")};
    uint32_t n = 1;
    if (!words[0]) {
        (void)error_set(&err, ERR_NOT_FOUND, NOPOS, MSG_DEMO_MISSING, 0, NULL);
        arena_fini(&a);
        return cli_complain(o, &err);
    }
    if (o->slow_loader) words[n++] = "--slow-loader";
    options run = *o;
    run.traces = words;
    run.n_traces = n;
    run.record_shapes = run.record_memory = true;
    int code = run_and_show(&run, &a, folder, sizeof folder);
    if (code == EXIT_DONE && !o->no_serve) {
        const char *traces[] = {folder};
        run.traces = traces;
        run.n_traces = 1;
        code = cmd_serve(&run);
    }
    arena_fini(&a);
    return code;
}
