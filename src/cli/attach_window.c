/* attach_window.c: a part of a recording, copied while the recording continues.
 *
 * A recording is whole at any moment, and each of its chunks can be read by itself as soon as
 * the side chunks (names, threads, clocks, facts) are there: so a window is all of those and
 * the event chunks that reach into it, with a header that says where it begins and ends. The
 * reader leaves out what lies outside (TACHO_FILE_WINDOW). Chunks are read, not mapped: a file
 * that is cut under us is not a signal. A flight recorder may use a chunk again while we read
 * it; what is lost then is before the window. */
#include <errno.h>
#include <fcntl.h>
#include <tacho/format.h>
#include <unistd.h>

#include "base/message_ids_cli.h"
#include "base/num.h"
#include "cli/attach.h"
#include "text/text.h"

typedef struct {
    int from, to;
    uint64_t first_tick, last_tick;
    uint64_t seen_tick; /* of the last event in the window */
    uint64_t n_written; /* chunks */
    uint8_t *chunk;
} copier;

static off_t place_of(uint64_t chunk) {
    return (off_t)(TACHO_FILE_HEADER_BYTES + chunk * TACHO_CHUNK_BYTES);
}

static bool write_all(int fd, const uint8_t *p, size_t n, off_t at) {
    while (n > 0) {
        ssize_t k = pwrite(fd, p, n, at);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return false;
        p += k;
        n -= (size_t)k;
        at += k;
    }
    return true;
}

/* Does an event of this chunk lie in the window? */
static bool reaches_in(copier *c) {
    bool does = false;
    for (uint32_t i = 0; i < TACHO_CHUNK_SLOTS;) {
        tacho_slot slot;
        memcpy(&slot, c->chunk + TACHO_CHUNK_HEADER_BYTES + i * sizeof slot, sizeof slot);
        if (slot.tick == 0) break;
        bool is_inside = slot.tick >= c->first_tick && slot.tick <= c->last_tick;
        does |= is_inside;
        if (is_inside && slot.tick > c->seen_tick) c->seen_tick = slot.tick;
        i += 1 + (slot.what >> 8 & 255);
    }
    return does;
}

static bool copy_chunk(copier *c, uint64_t i) {
    tacho_chunk_header h;
    ssize_t n = pread(c->from, c->chunk, TACHO_CHUNK_BYTES, place_of(i));
    if (n != TACHO_CHUNK_BYTES) return true; /* prepared, or cut off */
    memcpy(&h, c->chunk, sizeof h);
    bool is_wanted = h.type == TACHO_CHUNK_SIDE ||
                     (h.type == TACHO_CHUNK_EVENTS && h.tick <= c->last_tick && reaches_in(c));
    if (!is_wanted) return true;
    return write_all(c->to, c->chunk, TACHO_CHUNK_BYTES, place_of(c->n_written++));
}

static bool copy_header(copier *c, attach_moment from, attach_moment to) {
    tacho_file_header h;
    memset(c->chunk, 0, TACHO_FILE_HEADER_BYTES);
    if (pread(c->from, &h, sizeof h, 0) != (ssize_t)sizeof h) return false;
    if (to.tick == UINT64_MAX) { /* the program was killed: the last that it did is the end */
        double ticks = c->seen_tick > from.tick ? (double)(c->seen_tick - from.tick) : 0;
        to.tick = c->seen_tick > from.tick ? c->seen_tick : from.tick;
        to.unix_ns = from.unix_ns;
        if (h.ticks_per_s)
            to.unix_ns = add_i64(to.unix_ns, real_i64(ticks * 1e9 / (double)h.ticks_per_s));
    }
    h.n_chunks = c->n_written;
    h.state = TACHO_FILE_STOPPED;
    h.flags = (h.flags & ~(uint32_t)TACHO_FILE_FLIGHT) | TACHO_FILE_WINDOW;
    h.flight_ns = 0;
    h.start_tick = from.tick;
    h.start_unix_ns = from.unix_ns;
    h.stop_tick = to.tick;
    h.stop_unix_ns = to.unix_ns;
    memcpy(c->chunk, &h, sizeof h);
    return write_all(c->to, c->chunk, TACHO_FILE_HEADER_BYTES, 0);
}

static bool copy_all(copier *c, attach_moment from, attach_moment to) {
    tacho_file_header h;
    if (pread(c->from, &h, sizeof h, 0) != (ssize_t)sizeof h) return false;
    for (uint64_t i = 0; i < h.n_chunks; i++)
        if (!copy_chunk(c, i)) return false;
    return copy_header(c, from, to);
}

status attach_copy_window(int live, attach_moment from, attach_moment to, const char *path,
                          error *err) {
    arena a;
    arena_init(&a, 0);
    copier c = {.from = live,
                .first_tick = from.tick,
                .last_tick = to.tick,
                .chunk = arena_alloc(&a, TACHO_CHUNK_BYTES)};
    c.to = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    errno = c.chunk && c.to >= 0 ? 0 : errno;
    bool ok = c.chunk && c.to >= 0 && copy_all(&c, from, to);
    int code = errno;
    if (c.to >= 0) close(c.to);
    arena_fini(&a);
    if (ok) return OK;
    FAIL(err, ERR_IO, NOPOS, MSG_RECORD_FOLDER, arg_cstr("path", path),
         arg_cstr("reason", strerror(code ? code : EIO)));
}
