/* cmd_reduce.c: `tacho reduce`: all workers of a run to one summary.
 *
 * Alone it works with threads; started by mpirun or srun the processes share the files among
 * them (cluster/). A file that cannot be read is named on stderr and does not stop the rest;
 * the summary says so, too. Only when nothing could be read, or --strict asks, is that an
 * error. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/message_ids_cli.h"
#include "base/num.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/open_int.h"
#include "cli/output_path.h"
#include "cluster/reduce_run.h"

typedef struct {
    const options *o;
    uint64_t done, total;
    bool shown; /* a terminal sees the progress */
} watch_ctx;

static void file_is_done(void *context, const char *path, const error *failed, buf *reason) {
    watch_ctx *w = context;
    w->done++;
    if (failed) {
        text_reason(reason, LANG_EN, failed);
        if (w->shown) fputs("\r\033[K", stderr);
        (void)cli_complain(w->o, failed);
    }
    (void)path;
    if (!w->shown) return;
    fprintf(stderr, "\r%llu / %llu", (unsigned long long)w->done, (unsigned long long)w->total);
    fflush(stderr);
}

/* The program's own path, for what lies beside it. */
static void find_program(char *to, size_t n) {
    ssize_t used = readlink("/proc/self/exe", to, n - 1);
    to[used > 0 ? used : 0] = 0;
}

static void cmd_reduce_say(const options *o, const reduce_result *r, const char *path) {
    buf line = {0};
    struct stat st = {0};
    if (o->quiet) return;
    (void)stat(path, &st);
    text_put(&line, o->words, MSG_REDUCE_DONE, arg_cstr("path", path),
             arg_int("workers", SUMMARY_N(r->all, worker)),
             arg_int("files", (int64_t)r->n_files), arg_bytes("size", st.st_size));
    if (r->n_failed) {
        buf_add_byte(&line, '\n');
        text_put(&line, o->words, MSG_REDUCE_FAILED, arg_int("count", (int64_t)r->n_failed),
                 arg_int("files", (int64_t)r->n_files));
    }
    if (buf_ok(&line)) fprintf(stderr, "%.*s\n", STR_ARG(buf_str(&line)));
    buf_fini(&line);
}

static status cmd_reduce_finish(const options *o, reduce_result *r, const run_entry *run,
                                error *err) {
    if (!SUMMARY_N(r->all, worker) || (o->strict && r->n_failed))
        FAIL(err, ERR_FORMAT, NOPOS, MSG_REDUCE_NOTHING, arg_int("count", (int64_t)r->n_files),
             arg_text("path", shown_path(run->path)));
    TRY(summary_write(r->all, o->reduce_output.p, STR_NONE, err));
    cmd_reduce_say(o, r, o->reduce_output.p);
    return OK;
}

/* *alive: the others are not left waiting for this process. What fails here, a folder that this
 * machine does not have, may be well elsewhere: then the others wait for us at their first
 * meeting. */
static status reduce(options *o, transport *t, arena *a, bool *alive, error *err) {
    catalogue found = {.n_runs = 0};
    span_choice c;
    choice wanted = {
        .run = o->question.run, .worker = o->question.worker, .span = o->question.span};
    reduce_result made = {.all = NULL};
    if (!o->n_traces)
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_NO_TRACE, arg_cstr("command", "reduce"));
    if (!o->reduce_output.p) FAIL0(err, ERR_ARG, NOPOS, MSG_REDUCE_NO_OUTPUT);
    TRY(output_choose(a, o, o->reduce_output, ".tacho", &o->reduce_output, err));
    TRY(cli_check_output(o, o->reduce_output, err));
    TRY(run_discover(a, o->traces[0], &found, err));
    TRY(span_choose(&found, &wanted, &c, err));
    if (t->rank == 0) open_note_run(o, &found, c.run);
    watch_ctx w = {.o = o, .total = run_whole(c.run)};
    w.shown = !o->quiet && t->rank == 0 && isatty(STDERR_FILENO);
    int64_t threads = o->threads == ABSENT_I64 || o->threads == 0 ? pool_cpus() : o->threads;
    reduce_options how = {.run = c.run,
                          .span = o->question.span,
                          .transport = t,
                          .threads = (int)min_i64(threads, 1024),
                          .no_cache = o->no_cache,
                          .memory_limit_bytes = options_memory_bytes(o),
                          .done = file_is_done,
                          .context = &w};
    status st = reduce_run(&how, &made, err);
    *alive = st == OK;
    if (w.shown) fputs("\r\033[K", stderr);
    if (st == OK && t->rank == 0) st = cmd_reduce_finish(o, &made, c.run, err);
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
