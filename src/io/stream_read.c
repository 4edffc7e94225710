/* stream_read.c: undecoded bytes of a descriptor or of memory, and the stream that passes them
 * on.
 *
 * The reader is the only place of this layer that calls read(2). The first bytes are read ahead
 * to recognize the codec and are handed out again: a pipe cannot be rewound. A read may be
 * interrupted by a signal or give less than asked for; reader_some passes that on, the streams
 * above ask again.
 *
 * A thread that waits for a pipe must be able to end when the source is closed. So where a
 * thread reads something that may block, the wait is a poll on the descriptor and on an
 * eventfd, and a write to the eventfd ends it. Regular files never wait. It does not decode and
 * keeps no buffer. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/mem.h"
#include "io/source_int.h"

#define BOMB_BYTES ((uint64_t)1 << 30)
#define BOMB_RATIO 500

void reader_init(reader *r, const char *path, int fd, str memory) {
    memset(r, 0, sizeof *r);
    r->path = path;
    r->fd = fd;
    r->wake_fd = -1;
    r->memory = memory;
    r->left_bytes = UINT64_MAX;
    atomic_init(&r->consumed_bytes, 0);
}

status fail_system(error *err, uint16_t message, const char *path, int code) {
    char text[128];
    FAIL(err, code == ENOMEM ? ERR_MEMORY : ERR_IO, NOPOS, message, arg_cstr("path", path),
         arg_cstr("reason", strerror_r(code, text, sizeof text)));
}

/* Waits until the descriptor has something or the eventfd says stop. */
static status wait_for_bytes(const reader *r, error *err) {
    struct pollfd fds[2] = {{.fd = r->fd, .events = POLLIN},
                            {.fd = r->wake_fd, .events = POLLIN}};
    for (;;) {
        if (poll(fds, 2, -1) >= 0) break;
        if (errno != EINTR) return fail_system(err, MSG_CANNOT_READ, r->path, errno);
    }
    if (fds[1].revents)
        FAIL(err, ERR_CANCELLED, NOPOS, MSG_READ_CANCELLED, arg_cstr("path", r->path));
    return OK;
}

static status read_descriptor(reader *r, char *to, size_t room, size_t *n, error *err) {
    for (;;) {
        if (r->wake_fd >= 0) TRY(wait_for_bytes(r, err));
        ssize_t got = fault_point(FAULT_READ) ? (errno = EIO, -1) : read(r->fd, to, room);
        if (got >= 0) {
            *n = (size_t)got;
            return OK;
        }
        if (errno != EINTR && errno != EAGAIN)
            return fail_system(err, MSG_CANNOT_READ, r->path, errno);
        if (errno == EAGAIN) { /* a pipe that was made non-blocking */
            struct pollfd fd = {.fd = r->fd, .events = POLLIN};
            (void)poll(&fd, 1, -1);
        }
    }
}

static status read_memory(reader *r, char *to, size_t room, size_t *n, error *err) {
    if (fault_point(FAULT_READ)) return fail_system(err, MSG_CANNOT_READ, r->path, EIO);
    size_t left = r->memory.n - r->memory_at;
    size_t take = left < room ? left : room;
    if (take > 0) memcpy(to, r->memory.p + r->memory_at, take);
    r->memory_at += take;
    *n = take;
    return OK;
}

static status read_bytes(reader *r, char *to, size_t room, size_t *n, error *err) {
    if (r->remote) return remote_read(r->remote, to, room, n, err);
    return r->fd >= 0 ? read_descriptor(r, to, room, n, err) : read_memory(r, to, room, n, err);
}

status reader_peek(reader *r, str *head, error *err) {
    while (r->n_head < READER_HEAD) {
        size_t n;
        TRY(read_bytes(r, r->head + r->n_head, READER_HEAD - r->n_head, &n, err));
        if (n == 0) break;
        r->n_head += n;
    }
    *head = str_n(r->head, r->n_head);
    return OK;
}

status reader_some(reader *r, char *to, size_t room, size_t *n, error *err) {
    size_t got = r->n_head - r->head_at;
    if (got > 0) {
        if (got > room) got = room;
        memcpy(to, r->head + r->head_at, got);
        r->head_at += got;
    } else {
        if (room > r->left_bytes) room = (size_t)r->left_bytes;
        if (room > 0) TRY(read_bytes(r, to, room, &got, err));
    }
    if (r->left_bytes != UINT64_MAX) r->left_bytes -= got;
    atomic_fetch_add_explicit(&r->consumed_bytes, got, memory_order_relaxed);
    *n = got;
    return OK;
}

/* ---- the stream without a codec ---------------------------------------------------------- */

typedef struct {
    stream base;
    reader *from;
} plain_stream;

static status fill_plain(stream *st, char *to, size_t room, size_t *n, error *err) {
    plain_stream *self = (plain_stream *)st;
    size_t done = 0;
    while (done < room) {
        size_t got;
        TRY(reader_some(self->from, to + done, room - done, &got, err));
        if (got == 0) break;
        done += got;
    }
    uint64_t left = self->from->left_bytes;
    if (done < room && left > 0 && left != UINT64_MAX) st->damage = MSG_STREAM_SHRANK;
    *n = done;
    return OK;
}

static void free_plain(stream *st) {
    mem_free(st);
}

stream *stream_as_is(reader *r) {
    plain_stream *self = mem_zalloc(sizeof *self);
    if (!self) return NULL;
    self->base = (stream){.fill = fill_plain, .free = free_plain};
    self->from = r;
    return &self->base;
}

/* Traces shrink by 10 to 100 times; gzip can do 1,032 at most, zstd far more. */
bool reader_is_bomb(const reader *r, uint64_t out_bytes) {
    uint64_t in = atomic_load_explicit(&r->consumed_bytes, memory_order_relaxed);
    return out_bytes > BOMB_BYTES && out_bytes / BOMB_RATIO > in;
}
