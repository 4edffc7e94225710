/* file_map.c: a plain file as windows of one map.
 *
 *     [ file, MAP_PRIVATE, read only          ][ zero page(s) ]
 *       given back │ outstanding pieces │ position
 *
 * First an anonymous region larger than the file by SOURCE_PAD is reserved, then the file is
 * mapped over it: the bytes behind the file's end are readable whatever its size, and no copy
 * of the last piece is needed. Pages are given back (MADV_DONTNEED) up to the oldest piece
 * still outstanding, so a file of any size costs the memory of a few pieces. The newest piece's
 * pages stay until the next one is asked for, because its last bytes may be repeated; were they
 * gone, they would come back from the page cache.
 *
 * A file that shrinks while it is mapped would kill the process with SIGBUS. Its size is
 * compared before each window; the race that is left is as long as parsing one window. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/mem.h"
#include "io/source_int.h"

/* A piece that was handed out; in the order of the file. */
typedef struct hold hold;
struct hold {
    hold *next;
    uint64_t from;
    bool released;
};

struct file_map {
    const char *path;
    int fd;
    char *base;
    size_t map_bytes;
    uint64_t size_bytes;
    size_t last_n; /* of the previous piece */
    uint16_t damage;
    _Atomic uint64_t position; /* end of the last piece; others read it for progress */
    pthread_mutex_t lock;      /* guards everything below */
    hold *first, *last;        /* outstanding, oldest first; the newest stays until the next */
    hold *spare;
    uint64_t given_back; /* page-aligned; everything before it was returned */
};

static size_t page_bytes(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

status file_map_open(int fd, uint64_t size_bytes, const char *path, file_map **out,
                     error *err) {
    if (fault_point(FAULT_READ)) return fail_system(err, MSG_CANNOT_READ, path, EIO);
    size_t page = page_bytes(), map_bytes;
    if (size_bytes > SIZE_MAX - SOURCE_PAD - page)
        return fail_system(err, MSG_CANNOT_READ, path, EFBIG);
    map_bytes = ((size_t)size_bytes + SOURCE_PAD + page - 1) / page * page;
    file_map *m = mem_zalloc(sizeof *m);
    if (!m) FAIL_MEMORY(err);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    char *base = mmap(NULL, map_bytes, PROT_READ, flags, -1, 0);
    if (base == MAP_FAILED) {
        mem_free(m);
        return fail_system(err, MSG_CANNOT_READ, path, errno);
    }
    if (mmap(base, (size_t)size_bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) ==
        MAP_FAILED) {
        int code = errno;
        munmap(base, map_bytes);
        mem_free(m);
        return fail_system(err, MSG_CANNOT_READ, path, code);
    }
    (void)madvise(base, (size_t)size_bytes, MADV_SEQUENTIAL);
    m->path = path;
    m->fd = fd;
    m->base = base;
    m->map_bytes = map_bytes;
    m->size_bytes = size_bytes;
    pthread_mutex_init(&m->lock, NULL);
    *out = m;
    return OK;
}

static void free_holds(hold *h) {
    while (h) {
        hold *next = h->next;
        mem_free(h);
        h = next;
    }
}

void file_map_close(file_map *m) {
    if (!m) return;
    munmap(m->base, m->map_bytes);
    free_holds(m->first);
    free_holds(m->spare);
    pthread_mutex_destroy(&m->lock);
    mem_free(m);
}

/* Under the lock: forgets what is released at the front and returns the pages before the rest.
 * */
static void give_back(file_map *m) {
    while (m->first && m->first->released && m->first != m->last) {
        hold *h = m->first;
        m->first = h->next;
        h->next = m->spare;
        m->spare = h;
    }
    if (!m->first) return;
    uint64_t upto = m->first->from & ~(uint64_t)(page_bytes() - 1);
    if (upto <= m->given_back) return;
    (void)madvise(m->base + m->given_back, (size_t)(upto - m->given_back), MADV_DONTNEED);
    m->given_back = upto;
}

/* Enters a piece that starts at `from`; NULL when out of memory. */
static hold *add_hold(file_map *m, uint64_t from) {
    pthread_mutex_lock(&m->lock);
    hold *h = m->spare;
    if (h) m->spare = h->next;
    pthread_mutex_unlock(&m->lock);
    if (!h) h = mem_alloc(sizeof *h);
    if (!h) return NULL;
    *h = (hold){.from = from};
    pthread_mutex_lock(&m->lock);
    if (m->last)
        m->last->next = h;
    else
        m->first = h;
    m->last = h;
    give_back(m);
    pthread_mutex_unlock(&m->lock);
    return h;
}

/* How far the file may be read now: less than it was when it was opened if it was cut since. */
static status readable_bytes(file_map *m, uint64_t *size, error *err) {
    struct stat st;
    int failed = fault_point(FAULT_READ) ? (errno = EIO, -1) : fstat(m->fd, &st);
    if (failed) return fail_system(err, MSG_CANNOT_READ, m->path, errno);
    uint64_t now = st.st_size > 0 ? (uint64_t)st.st_size : 0;
    if (now < m->size_bytes) {
        m->damage = MSG_STREAM_SHRANK;
        m->size_bytes = now;
    }
    *size = m->size_bytes;
    return OK;
}

/* Maps the pages of a piece in one go: a fault for every 64 KiB of it costs three times as much.
 * Where the kernel does not know the advice (before Linux 5.14), faults do it. */
static void populate(const file_map *m, uint64_t from, size_t n) {
#ifdef MADV_POPULATE_READ
    uint64_t start = from & ~(uint64_t)(page_bytes() - 1);
    (void)madvise(m->base + start, (size_t)(from + n - start), MADV_POPULATE_READ);
#else
    (void)m, (void)from, (void)n;
#endif
}

status file_map_next(file_map *m, size_t want, size_t keep, piece *out, error *err) {
    uint64_t size = 0, at = atomic_load_explicit(&m->position, memory_order_relaxed);
    TRY(readable_bytes(m, &size, err));
    if (at >= size || want == 0) {
        *out = (piece){.offset = at};
        return OK;
    }
    if (keep > m->last_n) keep = m->last_n;
    size_t n_new = size - at < want ? (size_t)(size - at) : want;
    hold *h = add_hold(m, at - keep);
    if (!h) FAIL_MEMORY(err);
    m->last_n = keep + n_new;
    atomic_store_explicit(&m->position, at + n_new, memory_order_relaxed);
    populate(m, at, n_new);
    *out = (piece){.p = m->base + at - keep, .n = m->last_n, .offset = at - keep, .buffer = h};
    return OK;
}

void file_map_release(file_map *m, piece *pc) {
    pthread_mutex_lock(&m->lock);
    ((hold *)pc->buffer)->released = true;
    give_back(m);
    pthread_mutex_unlock(&m->lock);
}

str file_map_peek(const file_map *m, size_t n) {
    return str_n(m->base, m->size_bytes < n ? (size_t)m->size_bytes : n);
}

uint64_t file_map_position(const file_map *m) {
    return atomic_load_explicit(&m->position, memory_order_relaxed);
}

uint16_t file_map_damage(const file_map *m) {
    return m->damage;
}
