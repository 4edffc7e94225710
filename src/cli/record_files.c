/* record_files.c: the recordings of a run: how far they are, and what becomes of them.
 *
 * While the program runs only the first page of each file is read. Afterwards each recording is
 * read once, sealed, and takes the place of its own file (written next to it and renamed, so a
 * failure leaves the recording). What a flight recorder left under a temporary name, because
 * its program was killed, gets its name first. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <tacho/format.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/message_ids_cli.h"
#include "base/num.h"
#include "cli/attach.h"
#include "cli/cli.h"
#include "cli/export_gzip.h"
#include "cli/record_run.h"
#include "cli/record_xla.h"
#include "session/discover.h"
#include "session/live_page.h"
#include "session/load.h"
#include "store/file.h"

static bool read_header(int folder, const char *name, tacho_file_header *to) {
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return false;
    ssize_t n = pread(fd, to, sizeof *to, 0);
    close(fd);
    return n == (ssize_t)sizeof *to && memcmp(to->magic, TACHO_FILE_MAGIC, 8) == 0 &&
           to->profile == TACHO_FILE_RECORDING;
}

/* An older libtacho.so (TACHO_LIBRARY) does not write whose its recordings are. */
static bool is_of_run(const record_run *r, const tacho_file_header *h) {
    if (h->run[0]) return strncmp(h->run, r->run, sizeof h->run - 1) == 0;
    return h->start_unix_ns >= r->start_unix_ns;
}

/* The next recording of this run; false after the last. */
static bool next_file(DIR *d, const record_run *r, str *name, tacho_file_header *h) {
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        *name = str_of(e->d_name);
        if (!str_ends(*name, STR(".tacho")) && !str_ends(*name, STR(".tacho.tmp"))) continue;
        if (read_header(dirfd(d), e->d_name, h) && is_of_run(r, h)) return true;
    }
    return false;
}

record_state record_look(const record_run *r) {
    record_state s = {0};
    tacho_file_header h;
    str name;
    DIR *d = opendir(r->folder);
    if (!d) return s;
    while (next_file(d, r, &name, &h)) {
        s.n_files++;
        s.n_steps = s.n_steps > h.n_steps ? s.n_steps : h.n_steps; /* ranks step together */
        s.n_bytes += h.n_chunks * TACHO_CHUNK_BYTES;
        if (h.n_chunks > 1) s.n_events += (h.n_chunks - 1) * TACHO_CHUNK_SLOTS;
    }
    closedir(d);
    return s;
}

/* ---- what was there before --------------------------------------------------------------- */

/* Steps of a sealed trace; 0: none, or it is no such file. */
static int64_t count_steps(const char *path) {
    trace *t = NULL;
    if (file_open(path, STR_NONE, &t, NULL) != OK) return 0;
    int64_t n = t->step.n ? (int64_t)t->step.n - 1 : 0;
    trace_release(t);
    return n;
}

void record_say_earlier(arena *a, const record_run *r) {
    char when[CLOCK_DATE_BYTES];
    catalogue found = {.n_runs = 0};
    span_choice last;
    error err = {0};
    buf line = {0}, steps = {0};
    if (r->o->quiet || r->made_from || run_discover(a, r->folder, &found, &err) != OK ||
        span_choose(&found, &(choice){.run = STR_NONE}, &last, &err) != OK ||
        !clock_date(last.run->newest_ns, "%Y-%m-%d %H:%M", when))
        return;
    int64_t n = count_steps(last.span->path.p);
    if (n > 0) text_put(&steps, r->o->words, MSG_RECORD_EARLIER_STEPS, arg_int("steps", n));
    text_put(&line, r->o->words, MSG_RECORD_EARLIER, arg_cstr("path", r->folder),
             arg_int("count", found.n_runs), arg_cstr("time", when),
             arg_text("steps", buf_str(&steps)));
    if (buf_ok(&line)) cli_say(r->o, buf_str(&line));
    buf_fini(&line);
    buf_fini(&steps);
}

/* ---- triggers ---------------------------------------------------------------------------- */

/* "RULE RANK FIRST LAST WHY" (rec_trigger.c): the rule, whose it was, and why. */
bool record_trigger_line(const char *folder, uint32_t n, char *to, size_t size) {
    char path[4096], line[1024], rule[16] = "";
    long long rank = -1;
    int at = 0;
    snprintf(path, sizeof path, "%s/" TACHO_TRIGGER_FOLDER "/%u", folder, n);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return false;
    ssize_t got = read(fd, line, sizeof line - 1);
    close(fd);
    line[got > 0 ? got : 0] = 0;
    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "%15s %lld %*s %*s %n", rule, &rank, &at) != 2) at = 0;
    if (rank >= 0)
        snprintf(to, size, "%s (rank %lld): %s", rule, rank, line + at);
    else
        snprintf(to, size, "%s: %s", rule, line + at);
    return true;
}

/* Numbers of a process that is gone are worse than none. */
static void remove_metrics(const record_run *r, const tacho_live_page *p) {
    char path[4096];
    int64_t port;
    if (!r->o->metrics.p || str_to_i64(r->o->metrics, &port)) return;
    if (strchr(p->worker, '/')) return; /* others may have written the page */
    snprintf(path, sizeof path, "%.*s/%.255s.prom", STR_ARG(r->o->metrics), p->worker);
    (void)unlink(path);
}

/* Pages of processes that were killed; a run of another machine may still write its own. False
 * when one of this machine is still alive. */
static bool tidy_pages(const record_run *r) {
    char path[4096], host[128] = "";
    bool all = true;
    snprintf(path, sizeof path, "%s/" TACHO_LIVE_FOLDER, r->folder);
    (void)gethostname(host, sizeof host - 1);
    DIR *d = opendir(path);
    if (!d) return true;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        tacho_live_page p;
        if (e->d_name[0] == '.' || !live_page_read(dirfd(d), e->d_name, &p) ||
            strcmp(p.host, host) != 0)
            continue;
        if (attach_is_alive(p.pid)) {
            all = false;
            continue;
        }
        remove_metrics(r, &p);
        (void)unlinkat(dirfd(d), e->d_name, 0);
    }
    closedir(d);
    (void)rmdir(path);
    return all;
}

void record_tidy(const record_run *r) {
    char path[4096];
    struct stat st;
    struct timespec pause = {.tv_nsec = 20000000};
    for (int i = 0; i < 25 && !tidy_pages(r); i++)
        nanosleep(&pause, NULL); /* they are ending */
    snprintf(path, sizeof path, "%s/" TACHO_LIVE_FOLDER, r->folder);
    if (stat(path, &st) == 0) return; /* others go on */
    for (uint32_t n = 1;; n++) {
        snprintf(path, sizeof path, "%s/" TACHO_TRIGGER_FOLDER "/%u", r->folder, n);
        if (unlink(path) != 0) break;
    }
    snprintf(path, sizeof path, "%s/" TACHO_TRIGGER_FOLDER, r->folder);
    (void)rmdir(path);
}

/* WORKER.STAMP.tacho -> WORKER.STAMP.pt.trace.json.gz */
static void name_chrome(const char *path, char to[RECORD_PATH_BYTES]) {
    size_t n = strlen(path);
    if (n > 6 && strcmp(path + n - 6, ".tacho") == 0) n -= 6;
    snprintf(to, RECORD_PATH_BYTES, "%.*s.pt.trace.json.gz", (int)n, path);
}

status record_compact_file(const options *o, const char *from, const char *to,
                           record_made *made, error *err) {
    char chrome[RECORD_PATH_BYTES];
    loaded_trace l;
    load_options how = {.no_cache = true,
                        .threads =
                            o->threads == ABSENT_I64 ? 0 : (int)min_i64(o->threads, 1024)};
    record_profiles profiles = record_profiles_of(from);
    record_wait_for_profiles(&profiles);
    TRY(trace_load(from, &how, &l, err));
    status st = OK;
    if (o->record_to.p && str_eq(o->record_to, STR("chrome"))) {
        export_options as = {.form = STR("chrome")};
        name_chrome(to, chrome);
        to = chrome;
        st = export_gzip(l.trace, &as, to, err);
    } else {
        st = file_write(l.trace, to, STR_NONE, err);
    }
    if (st == OK && strcmp(from, to) != 0) (void)unlink(from);
    if (st == OK && made) {
        snprintf(made->path, sizeof made->path, "%s", to);
        record_cost_of(l.trace, &made->cost);
    }
    trace_release(l.trace);
    if (st == OK) record_remove_profiles(&profiles);
    return st;
}

static status add_path(arena *a, const record_run *r, str name, record_paths *to, error *err) {
    str path = arena_printf(a, "%s/%.*s", r->folder, STR_ARG(name));
    if (!path.p) FAIL_MEMORY(err);
    if (str_ends(path, STR(".tmp"))) {
        str final = arena_str(a, str_n(path.p, path.n - 4));
        if (!final.p) FAIL_MEMORY(err);
        if (rename(path.p, final.p) == 0) path = final;
    }
    if (to->n == to->room) {
        uint32_t room = to->room ? to->room * 2 : 64;
        const char **larger = ARENA_ARRAY(a, const char *, room);
        if (!larger) FAIL_MEMORY(err);
        if (to->n) memcpy(larger, to->path, to->n * sizeof *larger);
        to->path = larger;
        to->room = room;
    }
    to->path[to->n++] = path.p;
    return OK;
}

status record_compact(arena *a, const record_run *r, record_paths *out, error *err) {
    record_made made;
    tacho_file_header h;
    str name;
    DIR *d = opendir(r->folder);
    *out = (record_paths){.n = 0};
    if (!d) return OK;
    status st = OK;
    while (st == OK && next_file(d, r, &name, &h)) st = add_path(a, r, name, out, err);
    closedir(d);
    out->cost = ARENA_ARRAY(a, record_cost, (size_t)out->n + 1);
    if (!out->cost) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < out->n && st == OK; i++) {
        TRY(record_compact_file(r->o, out->path[i], out->path[i], &made, err));
        out->path[i] = arena_str(a, str_of(made.path)).p;
        out->cost[i] = made.cost;
        if (!out->path[i]) FAIL_MEMORY(err);
    }
    return st;
}
