/* cmd_reduce.c: `tacho reduce`: all workers of a run to one summary.
 *
 * Alone it works with threads; started by mpirun or srun the processes share the files among
 * them (cluster/). A file that cannot be read does not stop the rest, and the summary records
 * it; but it is named on stderr, even with --quiet, and the exit status is not 0: a summary
 * without a rank must not pass for a complete one. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/message_ids_cli.h"
#include "base/num.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/open_int.h"
#include "cli/output_path.h"
#include "cluster/reduce_run.h"
#include "io/remote.h"

typedef struct {
    const options *o;
    uint64_t done, total;
    bool shown; /* a terminal sees the progress */
} watch_ctx;

static void file_is_done(void *context, const error *failed, buf *reason, buf *sentence) {
    watch_ctx *w = context;
    w->done++;
    if (failed) {
        text_reason(reason, LANG_EN, failed);
        text_error(sentence, w->o->words, failed);
    }
    if (!w->shown) return;
    fprintf(stderr, "\r%llu / %llu", (unsigned long long)w->done, (unsigned long long)w->total);
    fflush(stderr);
}

/* The program's own path, to find the files next to it. */
static void find_program(char *to, size_t n) {
    ssize_t used = readlink("/proc/self/exe", to, n - 1);
    to[used > 0 ? used : 0] = 0;
}

/* A sentence for each file that is damaged or missing. */
static void name_files(const options *o, const file_list *list) {
    for (uint32_t i = 0; i < list->n; i++) {
        const listed_file *f = &list->files[i];
        buf line = {0};
        if (f->state == FILE_DAMAGED && !o->quiet)
            text_put(&line, o->words, MSG_REDUCE_DAMAGED,
                     arg_text("path", shown_path(f->path)));
        else if (!listed_file_is_read(f) && f->sentence.n)
            buf_add_str(&line, f->sentence);
        else if (!listed_file_is_read(f))
            text_put(&line, o->words, MSG_REDUCE_UNREAD, arg_text("path", shown_path(f->path)));
        if (line.n) cli_say(o, buf_str(&line));
        buf_fini(&line);
    }
}

static uint32_t count_missing(const file_list *list) {
    return list->n - file_list_count(list, FILE_READ) - file_list_count(list, FILE_DAMAGED);
}

static void say_done(const options *o, const reduce_result *r, const char *path) {
    buf line = {0};
    struct stat st = {0};
    if (o->quiet) return;
    (void)stat(path, &st);
    text_put(&line, o->words, MSG_REDUCE_DONE, arg_cstr("path", path),
             arg_int("workers", SUMMARY_N(r->all, worker)),
             arg_int("read", r->list.n - count_missing(&r->list)), arg_int("files", r->list.n),
             arg_bytes("size", st.st_size));
    if (buf_ok(&line)) fprintf(stderr, "%.*s\n", STR_ARG(buf_str(&line)));
    buf_fini(&line);
}

/* The summary is written although files are missing, unless --strict; the status says so. */
static status finish(const options *o, reduce_result *r, const run_entry *run, error *err) {
    uint32_t missing = count_missing(&r->list),
             vanished = file_list_count(&r->list, FILE_VANISHED);
    name_files(o, &r->list);
    if (!SUMMARY_N(r->all, worker))
        FAIL(err, ERR_FORMAT, NOPOS, MSG_REDUCE_NOTHING, arg_int("count", r->list.n),
             arg_text("path", shown_path(run->path)));
    if (!missing || !o->strict) {
        TRY(summary_write(r->all, o->reduce_output.p, STR_NONE, err));
        say_done(o, r, o->reduce_output.p);
    }
    if (!missing) return OK;
    FAIL(err, ERR_FORMAT, NOPOS, o->strict ? MSG_REDUCE_REFUSED : MSG_REDUCE_MISSING,
         arg_text("path", o->reduce_output), arg_int("count", missing),
         arg_int("files", r->list.n), arg_int("unreadable", missing - vanished),
         arg_int("vanished", vanished));
}

/* Process 0 finds the run and its output; the others get the list of files from it, and only
 * check that their machine has the folder. */
static status choose(options *o, const transport *t, arena *a, const run_entry **run,
                     error *err) {
    catalogue found = {.n_runs = 0};
    span_choice c;
    choice wanted = {
        .run = o->question.run, .worker = o->question.worker, .span = o->question.span};
    if (!o->n_traces)
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_NO_TRACE, arg_cstr("command", "reduce"));
    if (!o->reduce_output.p) FAIL0(err, ERR_ARG, NOPOS, MSG_REDUCE_NO_OUTPUT);
    if (t->rank != 0) {
        if (!remote_is_url(o->traces[0]) && access(o->traces[0], R_OK) != 0)
            FAIL(err, ERR_IO, NOPOS, MSG_CANNOT_OPEN, arg_cstr("path", o->traces[0]),
                 arg_cstr("reason", strerror(errno)));
        return OK;
    }
    TRY(output_choose(a, o, o->reduce_output, ".tacho", &o->reduce_output, err));
    TRY(cli_check_output(o, o->reduce_output, err));
    TRY(run_discover(a, o->traces[0], &found, err));
    TRY(span_choose(&found, &wanted, &c, err));
    open_note_run(o, &found, c.run);
    *run = c.run;
    return OK;
}

/* *alive: the others are not left waiting for this process. What fails here, a folder that this
 * machine does not have, may be well elsewhere: then the others wait for us at their first
 * meeting. */
static status reduce(options *o, transport *t, arena *a, bool *alive, error *err) {
    const run_entry *run = NULL;
    reduce_result made = {.all = NULL};
    TRY(choose(o, t, a, &run, err));
    watch_ctx w = {.o = o, .total = run ? run_whole(run) : 0};
    w.shown = !o->quiet && t->rank == 0 && isatty(STDERR_FILENO);
    int64_t threads = o->threads == ABSENT_I64 || o->threads == 0 ? pool_cpus() : o->threads;
    reduce_options how = {.run = run,
                          .span = o->question.span,
                          .transport = t,
                          .threads = (int)min_i64(threads, 1024),
                          .no_cache = o->no_cache,
                          .strict = o->strict,
                          .memory_limit_bytes = options_memory_bytes(o),
                          .done = file_is_done,
                          .context = &w};
    status st = reduce_run(&how, a, &made, err);
    *alive = st == OK;
    if (w.shown) fputs("\r\033[K", stderr);
    if (st == OK && t->rank == 0) st = finish(o, &made, run, err);
    summary_free(made.all);
    return st;
}

int cmd_reduce(options *o) {
    error err = {0};
    transport t;
    arena a;
    char program[4096];
    find_program(program, sizeof program);
    status st = transport_open(&t, program, &err);
    if (st != OK) return cli_complain(o, &err);
    arena_init(&a, 0);
    bool alive = false;
    st = reduce(o, &t, &a, &alive, &err);
    arena_fini(&a);
    int code = st == OK ? EXIT_DONE : cli_complain(o, &err);
    transport_close(&t, alive);
    return code;
}
