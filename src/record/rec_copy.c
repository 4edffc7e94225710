/* rec_copy.c: see the header.
 *
 * Evidence is normally the flight recorder's own file, which gets its final name, and recording
 * continues in a new one: that is quick and takes no memory. But a client that attaches for
 * three seconds wants three seconds out of one file. So while a client is attached, evidence is
 * a copy.
 *
 * The copy is made without a lock. A chunk that is used again meanwhile has another number in
 * its header afterwards: it is left out, it was the oldest. What is written meanwhile is after
 * the end of the window, which the reader leaves out. */
#include "record/rec_copy.h"

#include <errno.h>
#include <unistd.h>

#define LATE_NS 10000000000 /* an attached client may be slow to copy */

/* rec_lock */
static uint64_t hold_tick; /* 0: no client is attached */
static int64_t hold_until_ns;

void rec_hold(double seconds) {
    int64_t until = rec_clock_ns(CLOCK_MONOTONIC) + (int64_t)(seconds * 1e9) + LATE_NS;
    bool before = rec_enter(&rec_lock);
    if (!hold_tick || until > hold_until_ns) hold_until_ns = until;
    if (!hold_tick) hold_tick = rec_tick();
    rec_leave(&rec_lock, before);
}

bool rec_is_held(void) {
    bool before = rec_enter(&rec_lock);
    bool is = hold_tick != 0;
    rec_leave(&rec_lock, before);
    return is;
}

void rec_hold_tick(void) {
    bool before = rec_enter(&rec_lock);
    if (hold_tick && rec_clock_ns(CLOCK_MONOTONIC) >= hold_until_ns) hold_tick = 0;
    rec_leave(&rec_lock, before);
}

bool rec_holds(uint64_t tick) {
    return hold_tick && tick >= hold_tick;
}

void rec_hold_forked(void) {
    hold_tick = 0;
}

/* ---- copying ---- */

static uint64_t order_of(const rec_file *f, uint64_t chunk) {
    const tacho_chunk_header *h = (const tacho_chunk_header *)rec_file_chunk(f, chunk);
    bool before = rec_enter(&rec_lock);
    uint64_t order = h->order;
    rec_leave(&rec_lock, before);
    return order;
}

/* Through the file, not through the map that others write into. */
static bool copy_chunk(const rec_file *from, rec_file *to, uint64_t chunk) {
    uint8_t *place = rec_file_chunk(to, chunk);
    uint64_t order = order_of(from, chunk);
    int fd = rec_own_fd(&from->own);
    if (pread(fd, place, TACHO_CHUNK_BYTES, place - to->map) != TACHO_CHUNK_BYTES) return false;
    if (order_of(from, chunk) != order) memset(place, 0, TACHO_CHUNK_BYTES);
    return true;
}

static bool copy_all(const rec_file *from, rec_file *to, uint64_t n) {
    tacho_file_header head;
    errno = ENOSPC;
    if (to->limit <= n || (to->ready <= n && !rec_file_grow(to, n + 1 - to->ready)))
        return false;
    for (uint64_t i = 0; i < n; i++)
        if (!copy_chunk(from, to, i)) return false;
    /* After the chunks: it tells which of them were used again. */
    if (pread(rec_own_fd(&from->own), &head, sizeof head, 0) != (ssize_t)sizeof head)
        return false;
    head.n_chunks = to->n_chunks = n;
    *to->header = head;
    to->order = UINT32_MAX; /* the chunk that comes is the last */
    to->flags = from->flags;
    return true;
}

rec_file *rec_copy(const rec_file *from, const char *path, const char *final_path, int *why) {
    enum { MORE_CHUNKS = 17 }; /* rec_file_new prepares 16; the last words */
    uint64_t n = __atomic_load_n(&from->header->n_chunks, __ATOMIC_ACQUIRE);
    rec_file *to = rec_file_new(
        path, final_path, TACHO_FILE_HEADER_BYTES + (n + MORE_CHUNKS) * TACHO_CHUNK_BYTES, why);
    if (!to) return NULL;
    if (!copy_all(from, to, n)) {
        *why = errno;
        (void)unlink(path);
        rec_file_free(to, false);
        return NULL;
    }
    return to;
}
