/* uploads.c: a temporary folder with one folder per run in it.
 *
 *     $TMPDIR/tacho-drop-XXXXXX/              mode 0700
 *         7.tmp                               is being written; not looked at by discover
 *         worker0/worker0.pt.trace.json.gz    a run: what was dropped at once
 *         job/rank1/trace.json                a dropped folder keeps its own folders
 *
 * The size of a file is known before it comes (the server asks for it), so room is set aside
 * first and the folder never holds more than the limit. A file counts as trace if the look
 * through the folder takes it as one; what it does not take is removed at once. The time of a
 * file is set back by a few seconds: it is complete, and does not have to be watched for
 * growth. */
#include "serve/uploads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/message_ids_http.h"
#include "base/num.h"
#include "base/temporary.h"

enum {
    N_GROUPS = 64,
    GROUP_BYTES = 40,
    MOST_FILES = 4096,
    MOST_SAME_NAMES = 1000,
    QUIET_S = 4
};

typedef struct {
    char word[GROUP_BYTES];
    char folder[UPLOAD_NAME_BYTES + 8];
} group;

struct uploads {
    char path[256];
    int held; /* the folder: a later server removes it once no process holds it */
    uint64_t limit_bytes;
    pthread_mutex_t lock; /* guards what follows */
    uint64_t used_bytes;
    uint32_t n_begun;
    group groups[N_GROUPS];
    uint32_t next_group;
};

/* ---- the folder -------------------------------------------------------------------------- */

uploads *uploads_new(uint64_t limit_bytes) {
    const char *base = getenv("TMPDIR");
    uploads *u = mem_zalloc(sizeof *u);
    if (!u) return NULL;
    int n = snprintf(u->path, sizeof u->path, "%s/tacho-drop-XXXXXX",
                     base && *base ? base : "/tmp");
    u->held = n < 0 || (size_t)n >= sizeof u->path ? -1 : temporary_folder(u->path);
    if (u->held < 0) {
        mem_free(u);
        return NULL;
    }
    u->limit_bytes = limit_bytes;
    pthread_mutex_init(&u->lock, NULL);
    return u;
}

void uploads_free(uploads *u) {
    if (!u) return;
    temporary_remove(u->path);
    close(u->held);
    pthread_mutex_destroy(&u->lock);
    mem_free(u);
}

const char *uploads_path(const uploads *u) {
    return u->path;
}

void uploads_room(uploads *u, uint64_t *used_bytes, uint64_t *limit_bytes) {
    pthread_mutex_lock(&u->lock);
    *used_bytes = u->used_bytes;
    *limit_bytes = u->limit_bytes;
    pthread_mutex_unlock(&u->lock);
}

/* ---- names ------------------------------------------------------------------------------- */

static bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '.' || c == '_' || c == '-' || c == '+' || c == '=';
}

void upload_safe_name(str name, char out[UPLOAD_NAME_BYTES + 1]) {
    size_t from = 0, n = 0;
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] == '/' || name.p[i] == '\\') from = i + 1;
    while (from < name.n && name.p[from] == '.') from++; /* hidden, or a way up */
    /* The end says what a file is: of a long name the start goes. */
    if (name.n - from > UPLOAD_NAME_BYTES) from = name.n - UPLOAD_NAME_BYTES;
    for (size_t i = from; i < name.n; i++) out[n++] = is_plain(name.p[i]) ? name.p[i] : '_';
    if (n > 0 && out[0] == '.') out[0] = '_';
    if (n == 0) n = (size_t)snprintf(out, UPLOAD_NAME_BYTES, "trace");
    out[n] = '\0';
}

bool upload_safe_way(str name, char out[UPLOAD_WAY_BYTES + 1]) {
    char part[UPLOAD_NAME_BYTES + 1];
    size_t n = 0;
    for (size_t from = 0, end; from <= name.n; from = end + 1) {
        for (end = from; end < name.n && name.p[end] != '/' && name.p[end] != '\\';) end++;
        bool dots = true; /* nothing, here or up */
        for (size_t i = from; i < end; i++) dots &= name.p[i] == '.';
        if (dots && (end < name.n || n > 0)) continue;
        upload_safe_name(str_n(name.p + from, end - from), part);
        size_t more = strlen(part);
        if (n + more + 1 > UPLOAD_WAY_BYTES) return false;
        if (n) out[n++] = '/';
        memcpy(out + n, part, more);
        n += more;
    }
    out[n] = '\0';
    return true;
}

/* Is it the name of a run that is there, or its last part, by which it may be called too? */
static bool is_shown(const catalogue *c, const char *name) {
    for (uint32_t i = 0; c && i < c->n_runs; i++) {
        str whole = c->runs[i].name;
        size_t slash = str_rfind_byte(whole, '/');
        str last = slash == SIZE_MAX ? whole : str_from(whole, slash + 1);
        if (str_eq(whole, str_of(name)) || str_eq(last, str_of(name))) return true;
    }
    return false;
}

/* A new folder, named like the one it comes from, or like the file without its endings. The
 * lock is held. */
static bool make_folder(uploads *u, const char *way, const catalogue *shown, char *out,
                        size_t n_out) {
    char path[512];
    size_t top = strcspn(way, "/"), stem = way[top] ? top : strcspn(way, ".");
    for (int i = 1; i < MOST_SAME_NAMES; i++) {
        if (i == 1)
            snprintf(out, n_out, "%.*s", (int)stem, way);
        else
            snprintf(out, n_out, "%.*s-%d", (int)stem, way, i);
        if (is_shown(shown, out)) continue;
        int n = snprintf(path, sizeof path, "%s/%s", u->path, out);
        if (n < 0 || (size_t)n >= sizeof path) return false;
        if (mkdir(path, 0700) == 0) return true;
        if (errno != EEXIST) return false;
    }
    return false;
}

/* The folder of a group of files, made for the first of them. */
static bool find_folder(uploads *u, const upload_place *at, const char *way, char *out,
                        size_t n_out) {
    bool found = false;
    pthread_mutex_lock(&u->lock);
    for (uint32_t i = 0; i < N_GROUPS && at->group.n > 0 && !found; i++)
        if (str_eq(str_of(u->groups[i].word), at->group)) {
            snprintf(out, n_out, "%s", u->groups[i].folder);
            found = true;
        }
    if (!found && make_folder(u, way, at->shown, out, n_out)) {
        found = true;
        if (at->group.n > 0 && at->group.n < GROUP_BYTES) {
            group *g = &u->groups[u->next_group++ % N_GROUPS];
            snprintf(g->word, sizeof g->word, "%.*s", STR_ARG(at->group));
            snprintf(g->folder, sizeof g->folder, "%s", out);
        }
    }
    pthread_mutex_unlock(&u->lock);
    return found;
}

/* ---- one file ---------------------------------------------------------------------------- */

static status fail_store(error *err, int code) {
    char text[128];
    FAIL(err, ERR_IO, NOPOS, MSG_UPLOAD_FAILED,
         arg_cstr("reason", strerror_r(code, text, sizeof text)));
}

static bool set_aside(uploads *u, uint64_t bytes, uint32_t *number) {
    pthread_mutex_lock(&u->lock);
    bool fits = bytes <= u->limit_bytes - u->used_bytes && u->n_begun < MOST_FILES;
    if (fits) {
        u->used_bytes += bytes;
        *number = ++u->n_begun;
    }
    pthread_mutex_unlock(&u->lock);
    return fits;
}

static void give_back(uploads *u, uint64_t bytes) {
    pthread_mutex_lock(&u->lock);
    u->used_bytes -= bytes;
    pthread_mutex_unlock(&u->lock);
}

status upload_begin(uploads *u, uint64_t bytes, upload *out, error *err) {
    uint32_t number = 0;
    if (!set_aside(u, bytes, &number)) {
        uint64_t used, limit;
        uploads_room(u, &used, &limit);
        FAIL(err, ERR_LIMIT, NOPOS, MSG_UPLOAD_TOO_LARGE, arg_bytes("size", sat_i64(bytes)),
             arg_bytes("left", sat_i64(limit - used)), arg_bytes("limit", sat_i64(limit)));
    }
    *out = (upload){.to = u, .bytes = bytes, .fd = -1};
    snprintf(out->path, sizeof out->path, "%s/%u.tmp", u->path, number);
    out->fd = open(out->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (out->fd >= 0) return OK;
    int code = errno;
    upload_drop(out);
    return fail_store(err, code);
}

void upload_write(upload *f, const void *p, size_t n) {
    const char *at = p;
    if (n > f->bytes - f->written) f->failed = EFBIG;
    while (n > 0 && !f->failed) {
        ssize_t put = write(f->fd, at, n);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) {
            f->failed = put < 0 ? errno : ENOSPC;
            break;
        }
        at += put;
        n -= (size_t)put;
        f->written += (uint64_t)put;
    }
}

static int close_quiet(upload *f) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec -= QUIET_S;
    int failed = futimens(f->fd, (struct timespec[]){now, now}) != 0 ? errno : 0;
    if (close(f->fd) != 0 && !failed) failed = errno;
    f->fd = -1;
    return failed;
}

/* The place of a file of a run: the run's folder, by itself and from the top; the path below
 * it. */
typedef struct {
    const char *folder, *whole, *below;
    bool with_folder; /* it came in one */
} upload_spot;

/* The run a folder was found to be, by the name it is listed under: the one that holds the
 * file, else the first. */
static str listed_run(const upload_place *at, const upload_spot *spot, const catalogue *c) {
    const run_entry *best = c->n_runs ? &c->runs[0] : NULL;
    str way = str_of(spot->below);
    size_t slash = str_rfind_byte(way, '/');
    str in = slash == SIZE_MAX
                 ? str_of(spot->whole)
                 : arena_printf(at->arena, "%s/%.*s", spot->whole, (int)slash, way.p);
    for (uint32_t i = 0; i < c->n_runs; i++)
        if (str_eq(c->runs[i].path, in)) best = &c->runs[i];
    if (!best) return str_n("", 0);
    if (str_eq(best->path, str_of(spot->whole)))
        return arena_str(at->arena, str_of(spot->folder));
    return arena_printf(at->arena, "%s/%.*s", spot->folder, STR_ARG(best->name));
}

/* The look through the run's folder takes it as a trace, or says what it is. */
static status check_trace(const upload_place *at, const upload_spot *spot, str *run,
                          error *err) {
    catalogue c = {0};
    error why;
    status s = run_discover(at->arena, spot->whole, &c, &why);
    for (uint32_t i = 0; i < c.n_passed && !spot->with_folder; i++) {
        const passed_file *p = &c.passed[i];
        if (!str_eq(p->path, str_of(spot->below))) continue;
        FAIL(err, ERR_FORMAT, NOPOS, MSG_UPLOAD_NOT_TRACE, arg_text("name", at->name),
             arg_words("what", p->what));
    }
    if (s == OK || s == ERR_NOT_FOUND) {
        *run = s == OK ? listed_run(at, spot, &c) : str_n("", 0);
        if (!run->p) FAIL_MEMORY(err);
        return OK;
    }
    if (err) error_copy(err, &why);
    return s;
}

/* The folders on the way to a file, whose path is briefly overwritten. */
static bool make_way(char *path, size_t n_top) {
    for (size_t i = n_top + 1; path[i]; i++) {
        if (path[i] != '/') continue;
        path[i] = '\0';
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        path[i] = '/';
        if (!made) return false;
    }
    return true;
}

status upload_end(upload *f, const upload_place *at, str *run, error *err) {
    char way[UPLOAD_WAY_BYTES + 1], folder[UPLOAD_NAME_BYTES + 8], path[1024], whole[512];
    if (f->failed || f->written != f->bytes)
        return fail_store(err, f->failed ? f->failed : EIO);
    int failed = close_quiet(f);
    if (failed) return fail_store(err, failed);
    if (!upload_safe_way(at->name, way)) return fail_store(err, ENAMETOOLONG);
    if (!find_folder(f->to, at, way, folder, sizeof folder)) return fail_store(err, errno);
    snprintf(whole, sizeof whole, "%s/%s", f->to->path, folder);
    const char *slash = strchr(way, '/');
    upload_spot spot = {.folder = folder,
                        .whole = whole,
                        .below = slash ? slash + 1 : way,
                        .with_folder = slash != NULL};
    int n = snprintf(path, sizeof path, "%s/%s", whole, spot.below);
    if (n < 0 || (size_t)n >= sizeof path) return fail_store(err, ENAMETOOLONG);
    if (!make_way(path, strlen(whole))) return fail_store(err, errno);
    /* Not over another file of the same drop; rename would. */
    if (link(f->path, path) != 0) return fail_store(err, errno);
    status s = check_trace(at, &spot, run, err);
    if (s != OK) {
        (void)unlink(path);
        (void)rmdir(whole); /* stays when other files are in it */
        return s;
    }
    f->kept = true;
    return OK;
}

void upload_drop(upload *f) {
    if (!f->to) return;
    if (f->fd >= 0) close(f->fd);
    (void)unlink(f->path); /* of one that is kept this was its second name */
    if (!f->kept) give_back(f->to, f->bytes);
    f->to = NULL;
}
