/* cmd_watch.c: `tacho watch RUN`: how every process of a run is doing, while it is recorded.
 *
 * Each process keeps a page of numbers in the run's folder and writes it once a second
 * (tacho/live.h); nothing is asked of the processes, so a run on many machines that share the
 * folder is watched from any of them. On a terminal the table is drawn again every second until
 * the last process has ended; anywhere else it is printed once. */
#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/message_ids_cli.h"
#include "base/num.h"
#include "base/vec.h"
#include "cli/attach.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/record_run.h"
#include "cli/shape.h"
#include "session/live_page.h"

#define REFRESH_NS 1000000000
#define STALLED_NS 10000000000 /* and ten times the median: no step has ended */

enum {
    COL_WORKER,
    COL_RANK,
    COL_HOST,
    COL_STATE,
    COL_STEPS,
    COL_STEP,
    COL_MEDIAN,
    COL_SINCE,
    COL_BUSY,
    COL_DEVICE_MEMORY,
    COL_HOST_MEMORY,
    COL_LOST,
    COL_TRIGGERS,
    N_COLS
};
static const column_spec COLUMNS[N_COLS] = {
    [COL_WORKER] = {"worker", TYPE_TEXT, UNIT_NONE, MSG_NONE},
    [COL_RANK] = {"rank", TYPE_INT, UNIT_NONE, MSG_NONE},
    [COL_HOST] = {"host", TYPE_TEXT, UNIT_NONE, MSG_NONE},
    [COL_STATE] = {"state", TYPE_TEXT, UNIT_NONE, MSG_WATCH_COL_STATE},
    [COL_STEPS] = {"steps", TYPE_INT, UNIT_COUNT, MSG_WATCH_COL_STEPS},
    [COL_STEP] = {"step_time", TYPE_INT, UNIT_NS, MSG_WATCH_COL_STEP},
    [COL_MEDIAN] = {"median_step", TYPE_INT, UNIT_NS, MSG_WATCH_COL_MEDIAN},
    [COL_SINCE] = {"since_step", TYPE_INT, UNIT_NS, MSG_WATCH_COL_SINCE},
    [COL_BUSY] = {"busy", TYPE_REAL, UNIT_SHARE, MSG_WATCH_COL_BUSY},
    [COL_DEVICE_MEMORY] = {"device_memory", TYPE_INT, UNIT_BYTES, MSG_WATCH_COL_DEVICE_MEMORY},
    [COL_HOST_MEMORY] = {"host_memory", TYPE_INT, UNIT_BYTES, MSG_WATCH_COL_HOST_MEMORY},
    [COL_LOST] = {"lost_events", TYPE_INT, UNIT_COUNT, MSG_WATCH_COL_LOST},
    [COL_TRIGGERS] = {"triggers", TYPE_INT, UNIT_COUNT, MSG_WATCH_COL_TRIGGERS},
};

static volatile sig_atomic_t is_interrupted;

static void on_interrupt(int number) {
    (void)number;
    is_interrupted = 1;
}

/* ---- the pages --------------------------------------------------------------------------- */

static int compare_pages(const void *pa, const void *pb) {
    const tacho_live_page *a = pa, *b = pb;
    bool unknown_a = a->rank < 0, unknown_b = b->rank < 0;
    if (unknown_a != unknown_b) return unknown_a ? 1 : -1;
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    return strcmp(a->worker, b->worker);
}

static status read_pages(const char *run, vec *to, error *err) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/" TACHO_LIVE_FOLDER, run);
    DIR *d = opendir(path);
    if (!d) return OK;
    status st = OK;
    for (struct dirent *e; st == OK && (e = readdir(d)) != NULL;) {
        tacho_live_page page, *row;
        if (e->d_name[0] == '.' || !live_page_read(dirfd(d), e->d_name, &page) ||
            live_page_is_helper(&page))
            continue;
        row = vec_push(to);
        if (row)
            *row = page;
        else
            st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    }
    closedir(d);
    if (to->n > 1) qsort(to->p, to->n, sizeof(tacho_live_page), compare_pages);
    return st;
}

/* ---- what they say ----------------------------------------------------------------------- */

typedef enum { GOING, STALLED, GONE } state;

static bool is_dead_here(const tacho_live_page *p) {
    char host[sizeof p->host] = "";
    (void)gethostname(host, sizeof host - 1);
    return strcmp(host, p->host) == 0 && !attach_is_alive(p->pid);
}

static int64_t since_step(const tacho_live_page *p, int64_t now) {
    return p->step_unix_ns < 0 ? -1 : max_i64(0, sub_i64(now, p->step_unix_ns));
}

static state state_of(const tacho_live_page *p, int64_t now) {
    if (is_dead_here(p) || live_page_is_silent(p, now)) return GONE;
    int64_t since = since_step(p, now);
    if (p->median_step_ns >= 0 && since > STALLED_NS && since / 10 > p->median_step_ns)
        return STALLED;
    return GOING;
}

static void set_known(table *t, size_t row, uint32_t col, int64_t v) {
    if (v >= 0) table_set_int(t, row, col, v);
}

static status add_row(table *t, const tacho_live_page *p, int64_t now, error *err) {
    static const str NAMES[] = {STR("running"), STR("stalled"), STR("gone")};
    size_t r;
    TRY(table_add_row(t, &r, err));
    table_set_text(t, r, COL_WORKER, str_of(p->worker));
    set_known(t, r, COL_RANK, p->rank);
    table_set_text(t, r, COL_HOST, str_of(p->host));
    table_set_text(t, r, COL_STATE, NAMES[state_of(p, now)]);
    set_known(t, r, COL_STEPS, p->n_steps);
    set_known(t, r, COL_STEP, p->step_ns);
    set_known(t, r, COL_MEDIAN, p->median_step_ns);
    set_known(t, r, COL_SINCE, since_step(p, now));
    if (p->busy_ppm >= 0) table_set_real(t, r, COL_BUSY, (double)p->busy_ppm * 1e-6);
    set_known(t, r, COL_DEVICE_MEMORY, p->device_bytes);
    set_known(t, r, COL_HOST_MEMORY, p->host_bytes);
    set_known(t, r, COL_LOST, p->n_lost);
    set_known(t, r, COL_TRIGGERS, p->n_triggers);
    return OK;
}

/* Empty columns are of no use to a person. */
static void drop_empty(table *t) {
    for (uint32_t c = t->n_columns; COUNT_DOWN(c);) {
        bool any = false;
        for (size_t r = 0; r < t->n_rows && !any; r++) any = !table_is_null(t, r, c);
        if (!any) table_drop_column(t, c);
    }
}

static void put_arg(verdict *v, arg a) {
    v->args[v->n_args++] = a;
}

/* The one that decides: gone, stalled, the slowest. */
static verdict judge(const vec *pages, int64_t now) {
    const tacho_live_page *v = VEC(pages, tacho_live_page), *slow = NULL, *fast = NULL;
    verdict said = {.id = "running", .message = MSG_WATCH_NO_STEPS, .severity = SEVERITY_INFO};
    int64_t n_steps = 0;
    for (size_t i = 0; i < pages->n; i++) {
        state s = state_of(&v[i], now);
        if (s != GOING) {
            said = (verdict){.id = s == GONE ? "gone" : "stalled",
                             .message = s == GONE ? MSG_WATCH_GONE : MSG_WATCH_STALLED,
                             .severity = SEVERITY_CRITICAL};
            put_arg(&said, arg_text("worker", str_of(v[i].worker)));
            put_arg(&said, arg_time("time", s == GONE ? sub_i64(now, v[i].written_unix_ns)
                                                      : since_step(&v[i], now)));
            put_arg(&said, arg_time("median", v[i].median_step_ns));
            return said;
        }
        n_steps = max_i64(n_steps, v[i].n_steps);
        if (v[i].median_step_ns < 0) continue;
        if (!slow || v[i].median_step_ns > slow->median_step_ns) slow = &v[i];
        if (!fast || v[i].median_step_ns < fast->median_step_ns) fast = &v[i];
    }
    put_arg(&said, arg_int("count", (int64_t)pages->n));
    if (!slow) return said;
    bool apart =
        slow->median_step_ns > add_i64(fast->median_step_ns, fast->median_step_ns / 20);
    said.message = apart ? MSG_WATCH_SLOWEST : MSG_WATCH_GOING;
    put_arg(&said, arg_time("time", fast->median_step_ns));
    put_arg(&said, arg_int("steps", n_steps));
    put_arg(&said, arg_text("worker", str_of(slow->worker)));
    put_arg(&said, arg_time("slow", slow->median_step_ns));
    return said;
}

/* The last that was written. */
static void add_note(const vec *pages, arena *a, answer *out) {
    const tacho_live_page *v = VEC(pages, tacho_live_page);
    verdict *notes = ARENA_ARRAY(a, verdict, pages->n + 1);
    if (!notes) return;
    for (size_t i = 0; i < pages->n; i++) {
        if (!v[i].trigger[0]) continue;
        verdict *n = &notes[out->quality.n_notes++];
        *n = (verdict){
            .id = "trigger", .message = MSG_WATCH_TRIGGER, .severity = SEVERITY_WARNING};
        put_arg(n, arg_text("worker", str_of(v[i].worker)));
        put_arg(n, arg_text("why", str_of(v[i].trigger)));
        break; /* the others wrote because of the same */
    }
    out->quality.notes = notes;
}

static status make_answer(const vec *pages, arena *a, bool whole, answer *out, error *err) {
    int64_t now = clock_ns(CLOCK_REALTIME);
    *out = (answer){.analysis = "watch"};
    out->source.start_unix_ns = INT64_MIN;
    out->source.ranks = 1;
    out->verdict = judge(pages, now);
    table *t = table_new(a, "workers", COLUMNS, N_COLS);
    if (!t) FAIL_MEMORY(err);
    t->screen = (table_screen){.place = 1};
    for (size_t i = 0; i < pages->n; i++)
        TRY(add_row(t, &VEC(pages, tacho_live_page)[i], now, err));
    if (!whole) drop_empty(t);
    out->tables[out->n_tables++] = t;
    add_note(pages, a, out);
    return OK;
}

/* ---- showing ----------------------------------------------------------------------------- */

/* A worker that has ended matters to those that still run. */
static bool is_any_left(const vec *pages) {
    int64_t now = clock_ns(CLOCK_REALTIME);
    for (size_t i = 0; i < pages->n; i++)
        if (state_of(&VEC(pages, tacho_live_page)[i], now) != GONE) return true;
    return false;
}

static status fail_nothing(const char *run, error *err) {
    FAIL(err, ERR_NOT_FOUND, NOPOS, MSG_WATCH_NOTHING, arg_cstr("path", run));
}

static status show(const options *o, output *out, const char *run, bool *any, error *err) {
    arena a;
    answer said;
    vec pages = VEC_INIT(tacho_live_page);
    arena_init(&a, 0);
    form f = options_form(o);
    status st = read_pages(run, &pages, err);
    *any = is_any_left(&pages);
    if (st == OK && !*any) st = fail_nothing(run, err);
    if (st == OK) st = make_answer(&pages, &a, f != FORM_TEXT, &said, err);
    if (st == OK) st = present_resolve(&said, o->words, err);
    if (st == OK) st = shape_answer(&said, o, err);
    present_options how = cli_present(o, out);
    if (st == OK) st = present_answer(f, &said, &how, &out->buf, err);
    vec_fini(&pages);
    arena_fini(&a);
    return st;
}

/* Until the last process has ended, or the reader has seen enough. */
static int keep_showing(options *o, const char *run) {
    struct timespec pause = {.tv_sec = REFRESH_NS / 1000000000};
    struct sigaction act = {.sa_handler = on_interrupt};
    bool any = true, shown = false;
    int code = EXIT_DONE;
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    while (!is_interrupted && code == EXIT_DONE) {
        error err = {0};
        output out = {.fd = STDOUT_FILENO, .name = text_get(MSG_CLI_STDOUT, o->words)};
        buf_add_cstr(&out.buf, "\x1b[H\x1b[J");
        status st = show(o, &out, run, &any, &err);
        if (!any && shown) { /* it was there: it has ended */
            buf_fini(&out.buf);
            break;
        }
        code = output_end(&out, o, st, &err);
        shown = true;
        if (code == EXIT_DONE) nanosleep(&pause, NULL);
    }
    return code;
}

int cmd_watch(options *o) {
    error err = {0};
    bool any;
    if (o->n_traces != 1) {
        (void)error_set(&err, ERR_ARG, NOPOS, MSG_WATCH_NO_RUN, 0, NULL);
        return cli_complain(o, &err);
    }
    if (isatty(STDOUT_FILENO) && !o->once && options_form(o) == FORM_TEXT)
        return keep_showing(o, o->traces[0]);
    output out = {.fd = STDOUT_FILENO, .name = text_get(MSG_CLI_STDOUT, o->words)};
    status st = show(o, &out, o->traces[0], &any, &err);
    return output_end(&out, o, st, &err);
}
