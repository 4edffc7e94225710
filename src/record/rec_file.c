/* rec_file.c: the file of a recording, written through a shared map.
 *
 * The map is made once, as large as the file may become; the file after it grows in steps,
 * always by allocating blocks (a sparse file on a full disk would kill the program with
 * SIGBUS). Writers take chunks of 64 KiB; the helper keeps room ahead of them and touches its
 * pages, so that writers meet neither the disk nor page faults. When the helper is late a
 * writer grows the file itself.
 *
 * What is in the map is in the page cache: the system writes it to the disk in its own time,
 * and a program that is killed, calls _exit or exec has lost nothing.
 *
 * The flight recorder has a fixed number of chunks and uses the oldest full one again, cleared.
 * Side chunks (names, clocks) are never used again. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/rec_copy.h"
#include "record/rec_keep.h"

enum { FIRST_CHUNKS = 16, GROW_CHUNKS = 64, MOST_TEXT = 32768 };
#define LEAST_BYTES ((uint64_t)1 << 20)

static off_t place_of(uint64_t chunk) {
    return (off_t)(TACHO_FILE_HEADER_BYTES + chunk * TACHO_CHUNK_BYTES);
}

/* The most bytes this process may have in one file: beyond RLIMIT_FSIZE a signal would end
 * it. */
static uint64_t allowed_bytes(uint64_t wanted) {
    struct rlimit r;
    if (getrlimit(RLIMIT_FSIZE, &r) == 0 && r.rlim_cur != RLIM_INFINITY && r.rlim_cur < wanted)
        wanted = r.rlim_cur;
    return wanted;
}

/* The program may have set the limit since. */
static bool is_allowed(uint64_t chunks) {
    return allowed_bytes((uint64_t)place_of(chunks)) == (uint64_t)place_of(chunks);
}

static bool map_file(rec_file *f, int fd, uint64_t bytes) {
    errno = EFBIG; /* a limit of the process, unless the system says something else */
    for (; bytes >= LEAST_BYTES; bytes /= 2) { /* less when address space is limited */
        void *map =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
        if (map == MAP_FAILED) continue;
        f->map = map;
        f->map_bytes = bytes;
        f->header = map;
        f->limit = (bytes - TACHO_FILE_HEADER_BYTES) / TACHO_CHUNK_BYTES;
        (void)madvise(map, bytes, MADV_DONTFORK);
        rec_guard_add(map, bytes, &f->is_cut);
        return true;
    }
    return false;
}

static void fill_header(rec_file *f) {
    tacho_file_header *h = f->header;
    memcpy(h->magic, TACHO_FILE_MAGIC, sizeof h->magic);
    h->version = TACHO_FILE_VERSION;
    h->profile = TACHO_FILE_RECORDING;
    h->header_bytes = TACHO_FILE_HEADER_BYTES;
    h->chunk_bytes = TACHO_CHUNK_BYTES;
    h->state = TACHO_FILE_RUNNING;
    h->clock = rec_clock_kind;
    h->ticks_per_s = rec_clock_known_rate();
    h->pid = getpid();
    h->parent_pid = getppid();
}

rec_file *rec_file_new(const char *path, const char *final_path, uint64_t limit_bytes,
                       int *why) {
    rec_file *f = rec_pages(sizeof *f);
    if (!f) {
        *why = ENOMEM;
        return NULL;
    }
    strcpy(f->path, path); /* NOLINT: both are of the same fixed size */
    strcpy(f->final_path, final_path);
    rec_own_take(&f->own, open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (f->own.fd < 0) {
        *why = errno;
        rec_pages_free(f, sizeof *f);
        return NULL;
    }
    if (!map_file(f, f->own.fd, allowed_bytes(limit_bytes)) ||
        !rec_file_grow(f, FIRST_CHUNKS)) {
        *why = errno ? errno : ENOSPC;
        unlink(path);
        rec_file_free(f, false);
        return NULL;
    }
    fill_header(f);
    return f;
}

/* The program closed our descriptor: the file is opened again, when it is still what has the
 * name. */
static int open_again(rec_file *f, const char *path) {
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0 && rec_own_is_same(&f->own, fd)) {
        rec_own_take(&f->own, fd);
        return f->own.fd;
    }
    if (fd >= 0) close(fd);
    return -1;
}

/* Its descriptor; -1 when there is no way to it any more. One thread at a time. */
static int descriptor_of(rec_file *f) {
    int fd = rec_own_fd(&f->own);
    if (fd < 0) fd = open_again(f, f->path);
    return fd < 0 ? open_again(f, f->final_path) : fd;
}

void rec_file_free(rec_file *f, bool cut) {
    int fd = cut && !rec_file_is_cut(f) ? descriptor_of(f) : -1;
    if (fd >= 0) (void)!ftruncate(fd, place_of(f->n_chunks));
    if (f->map) rec_guard_remove(f->map);
    if (f->map) munmap(f->map, f->map_bytes);
    rec_own_close(&f->own);
    rec_pages_free(f->closed, f->limit * sizeof *f->closed);
    rec_pages_free(f, sizeof *f);
}

bool rec_file_is_cut(rec_file *f) {
    struct stat st;
    int fd = rec_own_fd(&f->own);
    bool before = rec_enter(&rec_lock);
    uint64_t ready = f->ready;
    rec_leave(&rec_lock, before);
    if (f->map && ready && fd >= 0 && fstat(fd, &st) == 0 && st.st_size < place_of(ready))
        rec_guard_cut(f->map, (size_t)st.st_size);
    return __atomic_load_n(&f->is_cut, __ATOMIC_ACQUIRE);
}

/* The system's own call: that of the C library writes into blocks, where a disk cannot do it,
 * which may be in use already. */
bool rec_file_allocate(const rec_file *f, uint64_t from, uint64_t to) {
    int fd = is_allowed(to) ? rec_own_fd(&f->own) : -1;
    return fd >= 0 && fallocate(fd, 0, place_of(from), place_of(to) - place_of(from)) == 0;
}

bool rec_file_grow(rec_file *f, uint64_t n) {
    int code, fd;
    if (f->ready + n > f->limit) n = f->limit - f->ready;
    if (n == 0 || !is_allowed(f->ready + n)) {
        errno = EFBIG;
        return false;
    }
    if ((fd = descriptor_of(f)) < 0) return false;
    off_t from = f->ready ? place_of(f->ready) : 0, to = place_of(f->ready + n);
    do {
        code = posix_fallocate(fd, from, to - from);
    } while (code == EINTR);
    errno = code;
    if (code != 0) return false;
    f->ready += n;
    rec_room_came();
    return true;
}

/* ---- chunks ---- */

static void start_chunk(rec_file *f, uint64_t chunk, uint32_t type, uint32_t thread) {
    tacho_chunk_header *h = (tacho_chunk_header *)rec_file_chunk(f, chunk);
    h->thread = thread;
    h->order = ++f->order;
    h->tick = rec_tick();
    __atomic_store_n(&h->type, type, __ATOMIC_RELEASE);
}

/* The oldest full chunk, cleared; -1 when there is none, or when it is young and does not have
 * to be taken. */
static int64_t take_closed(rec_file *f, bool must) {
    if (f->n_closed == 0) return -1;
    struct closed oldest = f->closed[f->closed_first];
    if (!must && (rec_tick() - oldest.tick < f->flight_ticks || rec_holds(oldest.tick)))
        return -1;
    f->closed_first = (f->closed_first + 1) % f->limit;
    f->n_closed--;
    __atomic_store_n(&f->header->forgotten_tick, oldest.tick, __ATOMIC_RELAXED);
    memset(rec_file_chunk(f, oldest.chunk), 0, TACHO_CHUNK_BYTES);
    return oldest.chunk;
}

static int64_t take_fresh(rec_file *f) {
    if (__atomic_load_n(&f->is_cut, __ATOMIC_ACQUIRE)) return -1;
    if (f->n_chunks == f->ready && !rec_file_grow(f, GROW_CHUNKS)) return -1;
    uint64_t chunk = f->n_chunks++;
    __atomic_store_n(&f->header->n_chunks, f->n_chunks, __ATOMIC_RELEASE);
    if (f->ready - f->n_chunks == GROW_CHUNKS / 2) rec_helper_wake();
    return (int64_t)chunk;
}

int64_t rec_file_take(rec_file *f, uint32_t type, uint32_t thread) {
    int64_t chunk = -1;
    if (f->flight_ticks && type == TACHO_CHUNK_EVENTS) chunk = take_closed(f, false);
    if (chunk < 0) chunk = take_fresh(f);
    if (chunk < 0) chunk = take_closed(f, true);
    if (chunk >= 0) start_chunk(f, (uint64_t)chunk, type, thread);
    return chunk;
}

void rec_file_close_chunk(rec_file *f, uint64_t chunk) {
    if (!f->closed || f->n_closed == f->limit) return;
    uint64_t at = (f->closed_first + f->n_closed++) % f->limit;
    f->closed[at] = (struct closed){(uint32_t)chunk, rec_tick()};
    rec_room_came();
}

/* ---- side records ---- */

static bool side_room(rec_file *f, size_t bytes) {
    if ((size_t)(f->side_end - f->side_at) >= bytes) return true;
    int64_t chunk = rec_file_take(f, TACHO_CHUNK_SIDE, 0);
    if (chunk < 0) return false;
    f->side_at = rec_file_chunk(f, (uint64_t)chunk) + TACHO_CHUNK_HEADER_BYTES;
    f->side_end = rec_file_chunk(f, (uint64_t)chunk) + TACHO_CHUNK_BYTES;
    return true;
}

void rec_side(rec_file *f, uint32_t type, const void *fixed, size_t n, const char *text,
              size_t n_text) {
    if (n_text > MOST_TEXT) n_text = MOST_TEXT;
    size_t bytes = sizeof(tacho_side) + n + n_text;
    size_t padded = (bytes + 7) / 8 * 8;
    if (!side_room(f, padded + 8)) { /* 8: the text ends with a NUL */
        __atomic_fetch_add(&f->header->lost[TACHO_LOST_SIDE], 1, __ATOMIC_RELAXED);
        return;
    }
    if (padded == bytes) padded += 8;
    tacho_side *head = (tacho_side *)f->side_at;
    memcpy(f->side_at + sizeof *head, fixed, n);
    if (n_text) memcpy(f->side_at + sizeof *head + n, text, n_text);
    head->type = type;
    __atomic_store_n(&head->bytes, (uint32_t)padded, __ATOMIC_RELEASE);
    f->side_at += padded;
}

void rec_side_clock(rec_file *f) {
    tacho_side_clock pair = rec_clock_pair();
    rec_side(f, TACHO_SIDE_CLOCK, &pair, sizeof pair, NULL, 0);
}
