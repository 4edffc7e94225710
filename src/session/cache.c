/* cache.c: the folder of sealed traces.
 *
 * An entry is HASH-OF-KEY.tacho. Its time of change is the time of its last use: a hit sets it,
 * and making room removes the oldest. The store writes to a temporary name and renames, so an
 * entry is whole or not there; temporary files a killed program left are removed after an hour.
 * Processes share the folder without locks: the worst that can happen is that two write the
 * same entry, or that one removes what the other was about to open, which then reads the file
 * itself.
 *
 * An entry that does not open (damaged, another version, another key under the same hash) is
 * removed at once, so that it is rebuilt. The folder is made on first use, for its owner alone:
 * traces name hosts, paths and users. One that others own or write to, or that is a link, is
 * not used at all. */
#include "session/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/fmt.h"
#include "base/folders.h"
#include "base/hash.h"
#include "base/num.h"
#include "base/temporary.h"
#include "base/vec.h"
#include "store/file.h"
#include "store/summary.h"

#define DEFAULT_LIMIT_BYTES ((uint64_t)10 << 30)
#define STALE_TEMPORARY_S 3600

/* ---- where and how much ------------------------------------------------------------------ */

static uint64_t limit_bytes(void) {
    const char *text = getenv("TACHO_CACHE_LIMIT");
    int64_t n;
    return text && fmt_parse_bytes(str_of(text), &n) ? (uint64_t)n : DEFAULT_LIMIT_BYTES;
}

/* The folder's path into `to`; false when the environment names none or it is too long. */
static bool folder_path(char to[PATH_MAX]) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = -1;
    /* The standard: a relative path is to be ignored. */
    if (cache && cache[0] == '/')
        n = snprintf(to, PATH_MAX, "%s/tacho", cache);
    else if (home && home[0] == '/')
        n = snprintf(to, PATH_MAX, "%s/.cache/tacho", home);
    return n > 0 && n < PATH_MAX - 64;
}

bool cache_folder(char to[PATH_MAX]) {
    return limit_bytes() > 0 && folder_path(to) && folders_make(to, 0700) == 0;
}

bool cache_enabled(void) {
    char folder[PATH_MAX];
    return limit_bytes() > 0 && folder_path(folder);
}

static bool entry_path(const cache_key *key, char to[PATH_MAX]) {
    if (key->n == 0 || limit_bytes() == 0 || !folder_path(to)) return false;
    size_t n = strlen(to);
    snprintf(to + n, PATH_MAX - n, "/%016llx.tacho",
             (unsigned long long)hash_bytes64(key->text, key->n));
    return true;
}

/* Makes the folder of the entry; 0 or an errno. */
static int make_folder_of(const char *entry) {
    char folder[PATH_MAX];
    size_t n = (size_t)(strrchr(entry, '/') - entry);
    memcpy(folder, entry, n);
    folder[n] = '\0';
    return folders_make(folder, 0700);
}

/* A folder that belongs to another user, or that others may write to, may contain anything,
 * with any key; a link may lead to a folder of ours that is not a cache, where making room
 * would remove recordings. Such a folder is neither read nor written. One of ours that others
 * may read is closed to them before the first entry comes. */
static bool is_folder_ours(const char *entry, bool to_write) {
    char folder[PATH_MAX];
    struct stat st;
    size_t n = (size_t)(strrchr(entry, '/') - entry);
    memcpy(folder, entry, n);
    folder[n] = '\0';
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool ours = fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
                (st.st_mode & (S_IWGRP | S_IWOTH)) == 0;
    if (ours && to_write && (st.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        ours = fchmod(fd, S_IRWXU) == 0;
    if (fd >= 0) close(fd);
    return ours;
}

/* A plain file of ours: no link, and nothing that another user left there. */
static bool is_entry_ours(const char *entry) {
    struct stat st;
    return lstat(entry, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid();
}

/* ---- finding ----------------------------------------------------------------------------- */

trace *cache_find(const cache_key *key, uint64_t tables) {
    char path[PATH_MAX];
    trace *t = NULL;
    if (!entry_path(key, path) || !is_folder_ours(path, false) || !is_entry_ours(path))
        return NULL;
    status s = file_open(path, str_n(key->text, key->n), &t, NULL);
    if (s == OK && (s = trace_require(t, tables, NULL)) != OK) trace_release(t);
    if (s == OK) {
        (void)utimensat(AT_FDCWD, path, NULL, 0);
        return t;
    }
    /* Out of memory or a refused read says nothing about the entry. */
    if (s == ERR_FORMAT || s == ERR_NOT_FOUND || s == ERR_UNSUPPORTED) unlink(path);
    return NULL;
}

/* ---- making room ------------------------------------------------------------------------- */

typedef struct {
    char name[64];
    uint64_t size_bytes;
    int64_t used_ns;
} entry;

static int compare_entries(const void *pa, const void *pb) {
    const entry *a = pa, *b = pb;
    if (a->used_ns != b->used_ns) return a->used_ns < b->used_ns ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* By its age where the file system has no locks. */
static bool is_old_temporary(DIR *d, const char *name, const struct stat *st) {
    return str_ends(str_of(name), STR(".tmp")) &&
           (sub_i64(time(NULL), st->st_mtim.tv_sec) > STALE_TEMPORARY_S ||
            temporary_is_left(dirfd(d), name));
}

/* The entries of the folder; removes what killed programs left. */
static void list_entries(DIR *d, vec *out, uint64_t *total) {
    for (struct dirent *e; (e = readdir(d));) {
        struct stat st;
        str name = str_of(e->d_name);
        if (name.n >= sizeof((entry *)0)->name ||
            fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
            continue;
        if (is_old_temporary(d, e->d_name, &st)) unlinkat(dirfd(d), e->d_name, 0);
        if (!str_ends(name, STR(".tacho"))) continue;
        entry *x = vec_push(out);
        if (!x) return;
        memcpy(x->name, e->d_name, name.n + 1);
        x->size_bytes = (uint64_t)st.st_size;
        x->used_ns = seconds_ns(st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
        *total += x->size_bytes;
    }
}

/* Looking through a folder of thousands of entries for each small one that is kept would cost
 * more than making it: the first time, and then whenever a 64th of the limit was written. */
static bool is_time_to_look(const char *path, uint64_t written, uint64_t limit) {
    static _Atomic uint64_t since, folder;
    uint64_t here = hash_bytes64(path, (size_t)(strrchr(path, '/') - path));
    uint64_t n = atomic_fetch_add(&since, written) + written;
    if (atomic_exchange(&folder, here) == here && n < limit / 64) return false;
    atomic_store(&since, 0);
    return true;
}

/* Removes the entries longest unused until the rest fits. */
static void cache_make_room(uint64_t limit) {
    char folder[PATH_MAX];
    DIR *d = folder_path(folder) ? opendir(folder) : NULL;
    if (!d) return;
    vec entries = VEC_INIT(entry);
    uint64_t total = 0;
    list_entries(d, &entries, &total);
    if (total > limit && entries.n > 1)
        qsort(entries.p, entries.n, sizeof(entry), compare_entries);
    for (size_t i = 0; i < entries.n && total > limit; i++) {
        const entry *x = &VEC(&entries, entry)[i];
        if (unlinkat(dirfd(d), x->name, 0) == 0) total -= x->size_bytes;
    }
    vec_fini(&entries);
    closedir(d);
}

/* ---- keeping ----------------------------------------------------------------------------- */

static status fail_keep(error *err, const char *path, int code) {
    char text[128];
    FAIL(err, ERR_IO, NOPOS, MSG_CACHE_NOT_WRITTEN, arg_cstr("path", path),
         arg_cstr("reason", strerror_r(code, text, sizeof text)));
}

status cache_keep(const cache_key *key, const trace *t, error *err) {
    char path[PATH_MAX];
    uint64_t limit = limit_bytes(), need = trace_size_bytes(t);
    if (!entry_path(key, path)) return OK;
    if (need > limit)
        FAIL(err, ERR_LIMIT, NOPOS, MSG_CACHE_TOO_SMALL, arg_bytes("need", (int64_t)need),
             arg_bytes("limit", (int64_t)limit));
    int code = make_folder_of(path);
    if (code) return fail_keep(err, path, code);
    if (!is_folder_ours(path, true))
        FAIL(err, ERR_IO, NOPOS, MSG_CACHE_NOT_OURS, arg_cstr("path", path));
    str text = str_n(key->text, key->n);
    /* A summary is settled before it is written, which changes nothing that can be asked. */
    TRY(t->summary ? summary_write((summary *)(uintptr_t)t->summary, path, text, err)
                   : file_write(t, path, text, err));
    if (is_time_to_look(path, need, limit)) cache_make_room(limit);
    return OK;
}
