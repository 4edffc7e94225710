/* cache_key.c: what a trace was made from, as a short text.
 *
 *     tacho-cache 1|BUILD|SIZE|TIME|INODE|HASH
 *
 * SIZE, TIME (ns) and INODE catch nearly every change; HASH, over the head, the tail and 16
 * blocks between them, catches a file that was rewritten in place within the clock's grain. A
 * hash of the whole would cost more than opening the trace. BUILD is the linker's build id of
 * this program: what a trace becomes depends on the code that read it, so another build never
 * sees this one's entries.
 *
 * A trace read from the many files of a folder, or joined to one, has their names, sizes and
 * times mixed into its HASH.
 *
 * Of an object after a URL the server's size, time and tag stand for its content, and the URL
 * for the inode.
 *
 * A file that changed during the last two seconds may still be growing: it has no key. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/hash.h"
#include "base/num.h"
#include "ingest/ascend/ascend_db.h"
#include "ingest/mindspore/mindspore.h"
#include "ingest/rocm/rocm.h"
#include "io/remote.h"
#include "io/source.h"
#include "session/beside.h"
#include "session/cache.h"
#include "session/formats.h"

#define KEY_VERSION 1
#define QUIET_NS ((int64_t)2000000000)
#define SAMPLE_BYTES ((size_t)4096)
#define N_SAMPLES ((uint64_t)18)

/* ---- this program ------------------------------------------------------------------------ */

/* Looks for the GNU build id among the notes of one loaded object; stops at the first: the
 * program. */
static int hash_build_id(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        if (ph->p_type != PT_NOTE) continue;
        const char *at = (const char *)(info->dlpi_addr + ph->p_vaddr);
        const char *end = at + ph->p_memsz;
        while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
            ElfW(Nhdr) note;
            memcpy(&note, at, sizeof note);
            const char *name = at + sizeof note;
            size_t name_bytes = ((size_t)note.n_namesz + 3) & ~(size_t)3;
            size_t value_bytes = ((size_t)note.n_descsz + 3) & ~(size_t)3;
            if ((size_t)(end - name) < name_bytes + value_bytes) break;
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
                memcmp(name, "GNU", 4) == 0) {
                *(uint64_t *)context = hash_bytes64(name + name_bytes, note.n_descsz);
                return 1;
            }
            at = name + name_bytes + value_bytes;
        }
    }
    return 1;
}

static uint64_t build_id(void) {
    uint64_t id = hash_bytes64(TACHO_VERSION, sizeof TACHO_VERSION);
    dl_iterate_phdr(hash_build_id, &id);
    return id;
}

/* ---- the file ---------------------------------------------------------------------------- */

/* The hash of one sample; false when it cannot be read whole. */
static bool hash_sample(int fd, uint64_t offset, size_t n, uint64_t *hash) {
    char sample[SAMPLE_BYTES];
    if (fault_point(FAULT_READ) || pread(fd, sample, n, (off_t)offset) != (ssize_t)n)
        return false;
    *hash = hash_bytes64(sample, n);
    return true;
}

/* The hash of the samples' hashes: head, tail and 16 between; all of a small file. */
static bool hash_samples(int fd, uint64_t size, uint64_t *hash) {
    uint64_t each[N_SAMPLES];
    size_t n = 0;
    uint64_t last = size > SAMPLE_BYTES ? size - SAMPLE_BYTES : 0;
    uint64_t stride = size > N_SAMPLES * SAMPLE_BYTES ? last / (N_SAMPLES - 1) : SAMPLE_BYTES;
    for (uint64_t at = 0; n < N_SAMPLES && at < size; n++, at += stride) {
        if (n == N_SAMPLES - 1) at = last;
        size_t bytes = size - at < SAMPLE_BYTES ? (size_t)(size - at) : SAMPLE_BYTES;
        if (!hash_sample(fd, at, bytes, &each[n])) return false;
    }
    *hash = hash_bytes64(each, n * sizeof *each);
    return true;
}

static int64_t ns_of(struct timespec t) {
    return seconds_ns(t.tv_sec, t.tv_nsec);
}

static bool is_settled(const struct stat *st) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return sub_i64(ns_of(now), ns_of(st->st_mtim)) >= QUIET_NS;
}

/* ---- a folder ---------------------------------------------------------------------------- */

/* Mixes name, size and time of a file into a sum that does not depend on the order; false when
 * the file is still being written, which makes the sum unusable. */
WRAPS static bool add_file(const char *name, const struct stat *st, uint64_t *sum) {
    uint64_t facts[3] = {hash_bytes64(name, strlen(name)), (uint64_t)st->st_size,
                         (uint64_t)ns_of(st->st_mtim)};
    *sum += hash_bytes64(facts, sizeof facts);
    return is_settled(st);
}

/* Every file of the folder that a worker may be read from. */
static bool add_folder(const char *folder, uint64_t *sum) {
    DIR *d = opendir(folder);
    bool settled = true;
    if (!d) return true; /* not there: nothing to add */
    for (struct dirent *e; settled && (e = readdir(d));) {
        struct stat st;
        mindspore_name name;
        if (!mindspore_name_parse(str_of(e->d_name), &name) ||
            fstatat(dirfd(d), e->d_name, &st, 0) != 0)
            continue;
        settled = add_file(e->d_name, &st, sum);
    }
    closedir(d);
    return settled;
}

/* All files in a folder and in the folders below it. */
static bool add_below(const char *folder, int depth, uint64_t *sum) {
    DIR *d = opendir(folder);
    bool settled = true;
    if (!d) return true;
    for (struct dirent *e; settled && (e = readdir(d));) {
        char path[PATH_MAX];
        struct stat st;
        int n = snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] == '.' || n < 0 || (size_t)n >= sizeof path || stat(path, &st) != 0)
            continue;
        if (S_ISREG(st.st_mode))
            settled = add_file(e->d_name, &st, sum);
        else if (S_ISDIR(st.st_mode) && depth > 0)
            settled = add_below(path, depth - 1, sum);
    }
    closedir(d);
    return settled;
}

/* Everything a worker of MindSpore is read from, when `worker` is its folder. */
static bool cache_key_add_worker(const char *worker, uint64_t *sum) {
    static const char *const deep[] = {"/hccl_info", "/msadvisor"}; /* all that is below */
    enum { N_DEEP = sizeof deep / sizeof *deep };
    char folder[PATH_MAX];
    for (size_t i = 0; i < N_MINDSPORE_PLACES + N_DEEP; i++) {
        bool flat = i < N_MINDSPORE_PLACES;
        int n = snprintf(folder, sizeof folder, "%s%s", worker,
                         flat ? MINDSPORE_PLACES[i] : deep[i - N_MINDSPORE_PLACES]);
        if (n < 0 || (size_t)n >= sizeof folder ||
            !(flat ? add_folder(folder, sum) : add_below(folder, 2, sum)))
            return false;
    }
    return true;
}

/* A trace that is joined to another file depends on that one, too. */
static bool hash_beside(const char *path, uint64_t *hash) {
    struct stat st;
    beside_file other;
    if (beside_find(path, &other) && stat(other.path, &st) == 0 &&
        !add_file(other.path, &st, hash))
        return false;
    if (!beside_find_log(path, &other) || stat(other.path, &st) != 0) return true;
    return add_file(other.path, &st, hash);
}

/* The sums of collectives that a database of an Ascend is read with. */
static bool add_sums(const char *folder, uint64_t *hash) {
    bool settled = true;
    for (int i = 0; i < N_ASCEND_SUMS && settled; i++) {
        char path[PATH_MAX];
        struct stat st;
        int n = snprintf(path, sizeof path, "%s/%s", folder, ASCEND_SUMS[i]);
        if (n > 0 && (size_t)n < sizeof path && stat(path, &st) == 0)
            settled = add_file(ASCEND_SUMS[i], &st, hash);
    }
    return settled;
}

/* The tables of one recording of rocprofv3, of which any may be the one that was opened. */
static bool add_tables(const char *path, bool *is, uint64_t *hash) {
    const char *slash = strrchr(path, '/');
    str own = str_of(slash ? slash + 1 : path), prefix, other;
    char folder[PATH_MAX];
    bool settled = true;
    *is = rocm_csv_name(own, &prefix);
    int n = snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 1,
                     slash ? path : ".");
    DIR *d = *is && n > 0 && (size_t)n < sizeof folder ? opendir(folder) : NULL;
    for (struct dirent *e; d && settled && (e = readdir(d));) {
        struct stat st;
        if (rocm_csv_name(str_of(e->d_name), &other) && str_eq(prefix, other) &&
            fstatat(dirfd(d), e->d_name, &st, 0) == 0)
            settled = add_file(e->d_name, &st, hash);
    }
    if (d) closedir(d);
    return settled;
}

/* A trace that is read from many files depends on all of them. The file is in its worker's
 * folder or in a part of it. */
static bool hash_siblings(const char *path, uint64_t *hash) {
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int n = slash ? (int)(slash - path) : 1;
    bool database = ascend_db_name(str_of(slash ? slash + 1 : path)), tables;
    if (!add_tables(path, &tables, hash)) return false;
    if (tables || (!database && !format_of_name(str_of(path)))) return true;
    for (int up = 0; up < 2; up++) {
        int written =
            snprintf(folder, sizeof folder, "%.*s%s", n, slash ? path : ".", up ? "/.." : "");
        if (written < 0 || (size_t)written >= sizeof folder ||
            !cache_key_add_worker(folder, hash) || (database && !up && !add_sums(folder, hash)))
            return false;
    }
    return true;
}

/* ---- an object after a URL -------------------------------------------------------------- */

/* What the server says of the object; without a tag it may have changed unseen. */
static cache_key key_of_remote(const char *url) {
    cache_key key = {.n = 0};
    remote_object o;
    arena a;
    arena_init(&a, 0);
    if (remote_look(&a, url, &o, NULL) == OK && o.tag.n) {
        str shown = remote_shown(o.url);
        uint64_t whole[2] = {hash_bytes64(shown.p, shown.n), hash_bytes64(o.tag.p, o.tag.n)};
        int n = snprintf(
            key.text, sizeof key.text, "tacho-cache %d|%016llx|%llu|%lld|%016llx|%016llx",
            KEY_VERSION, (unsigned long long)build_id(), (unsigned long long)o.size_bytes,
            (long long)o.mtime_ns, (unsigned long long)whole[0], (unsigned long long)whole[1]);
        if (n > 0 && (size_t)n < sizeof key.text) key.n = (uint32_t)n;
    }
    arena_fini(&a);
    return key;
}

cache_key cache_key_of(const char *path) {
    cache_key key = {.n = 0};
    if (remote_is_url(path)) return key_of_remote(path);
    struct stat st;
    uint64_t hash;
    /* Asked before opening: to open and close a FIFO would disturb the program at its other
     * end. */
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return key;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return key;
    bool usable = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
                  is_settled(&st) && hash_samples(fd, (uint64_t)st.st_size, &hash) &&
                  hash_siblings(path, &hash) && hash_beside(path, &hash);
    close(fd);
    if (!usable) return key;
    const char *within = source_confined(); /* the files next to it may not have been read */
    if (within) hash = hash_add(hash, hash_bytes64(within, strlen(within)));
    int n = snprintf(key.text, sizeof key.text, "tacho-cache %d|%016llx|%lld|%lld|%llu|%016llx",
                     KEY_VERSION, (unsigned long long)build_id(), (long long)st.st_size,
                     (long long)ns_of(st.st_mtim), (unsigned long long)st.st_ino,
                     (unsigned long long)hash);
    if (n > 0 && (size_t)n < sizeof key.text) key.n = (uint32_t)n;
    return key;
}

void cache_key_extend(cache_key *key, const char *word, uint64_t value) {
    if (!key->n) return;
    int n = snprintf(key->text + key->n, sizeof key->text - key->n, " %s %016llx", word,
                     (unsigned long long)value);
    key->n = n > 0 && key->n + (uint32_t)n < sizeof key->text ? key->n + (uint32_t)n : 0;
}
