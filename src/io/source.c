/* source.c: the front: opens, recognizes the codec, hands out pieces.
 *
 * Everything is a stream that fills blocks, either here, when the next piece is asked for, or
 * ahead of the reader by a thread (read_ahead.c). A plain file is not mapped: parsers look at
 * bytes more than once, and a map shows what others write there meanwhile, or SIGBUS when they
 * cut it. Reading costs a tenth of the time to parse.
 *
 *     current block:   [ headroom … kept │ delivered so far │ left over ][ pad ]
 *                                        ^data              ^at          ^end
 *
 * Invariant: the bytes before `at`, as far as the previous piece reaches, are the end of that
 * piece, and the bytes after it up to `end` are the next of the stream. When what is left over
 * does not satisfy a request, it is copied together with the kept bytes in front of the next
 * block's data: a few KiB per piece, and the piece is contiguous. The source holds a reference
 * to its current block, so the previous piece may be released before its end is repeated. A
 * failure of the system stays: every later call reports it again. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folders.h"
#include "base/mem.h"
#include "base/message_ids_cli.h"
#include "io/source_int.h"

/* Blocks of a thread are at least this large, whatever the reader asks for first. */
#define LEAST_AHEAD_BYTES ((size_t)1 << 20)

struct source {
    char *path;
    int fd; /* -1: remote or memory */
    remote *remote;
    uint64_t file_bytes;
    codec codec;
    stream *decode;
    reader in;
    block_list blocks;
    read_ahead *ahead;
    bool wants_ahead;
    block *current;
    char *at, *end;
    uint64_t position; /* of `at` in the decompressed stream */
    size_t last_n;     /* of the previous piece */
    bool ended;
    uint16_t damage;
    status failed;
    error why;
};

/* ---- opening ----------------------------------------------------------------------------- */

static status new_source(const char *path, int fd, str memory, source **out, error *err) {
    source *s = mem_zalloc(sizeof *s);
    size_t n = strlen(path) + 1;
    char *copy = s ? mem_alloc(n) : NULL;
    if (!copy) {
        mem_free(s);
        FAIL_MEMORY(err);
    }
    memcpy(copy, path, n);
    s->path = copy;
    s->fd = fd;
    block_list_init(&s->blocks);
    reader_init(&s->in, copy, fd, memory);
    *out = s;
    return OK;
}

/* Recognizes the codec and makes the stream. A file that is read from its start is as long as
 * it was when it was opened, even if it is still being written. */
static status start_reading(source *s, bool from_start, error *err) {
    str head;
    TRY(reader_peek(&s->in, &head, err));
    s->codec = gunzip_is_ours(head)   ? CODEC_GZIP
               : unzstd_is_ours(head) ? CODEC_ZSTD
                                      : CODEC_NONE;
    if (s->codec == CODEC_NONE && from_start) s->in.left_bytes = s->file_bytes;
    switch (s->codec) {
    case CODEC_GZIP: s->decode = stream_gunzip(&s->in, GUNZIP_FASTEST); break;
    case CODEC_ZSTD: s->decode = stream_unzstd(&s->in); break;
    case CODEC_NONE: s->decode = stream_as_is(&s->in); break;
    }
    if (!s->decode) FAIL_MEMORY(err);
    return OK;
}

static const char *confined;

void source_confine(const char *folder) {
    confined = folder;
}

const char *source_confined(void) {
    return confined;
}

bool source_is_within(int fd) {
    char real[PATH_MAX];
    if (!confined) return true;
    return descriptor_path(fd, real, sizeof real) && folder_holds(confined, real);
}

static status fail_outside(const char *path, error *err) {
    FAIL(err, ERR_NOT_FOUND, NOPOS, MSG_MCP_OUTSIDE, arg_cstr("path", path),
         arg_cstr("folder", confined));
}

static status check_kind(const char *path, const struct stat *st, error *err) {
    if (S_ISREG(st->st_mode)) return OK;
    FAIL(err, ERR_ARG, NOPOS, S_ISDIR(st->st_mode) ? MSG_IS_DIRECTORY : MSG_IS_NO_FILE,
         arg_cstr("path", path));
}

/* Check the path before it is opened, which the program at the other end of a pipe would
 * notice, and the open descriptor again: O_NONBLOCK makes sure that open never waits in
 * between. */
static status open_regular(const char *path, int *fd, struct stat *st, error *err) {
    if (stat(path, st) != 0) return fail_system(err, MSG_CANNOT_OPEN, path, errno);
    TRY(check_kind(path, st, err));
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0 || fstat(*fd, st) != 0) return fail_system(err, MSG_CANNOT_OPEN, path, errno);
    return check_kind(path, st, err);
}

static status open_any(const char *path, int *fd, struct stat *st, error *err) {
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0 || fstat(*fd, st) != 0) return fail_system(err, MSG_CANNOT_OPEN, path, errno);
    return S_ISDIR(st->st_mode) ? check_kind(path, st, err) : OK;
}

static status open_standard(const char *path, int *fd, struct stat *st, error *err) {
    if (confined) return fail_outside(path, err);
    if (fstat(STDIN_FILENO, st) != 0) return fail_system(err, MSG_CANNOT_OPEN, path, errno);
    if (S_ISDIR(st->st_mode)) return check_kind(path, st, err);
    *fd = STDIN_FILENO;
    return OK;
}

static status open_descriptor(const char *path, bool named, int *fd, struct stat *st,
                              error *err) {
    if (strcmp(path, "-") == 0) return open_standard(path, fd, st, err);
    int f = -1;
    status opened =
        named && !confined ? open_any(path, &f, st, err) : open_regular(path, &f, st, err);
    if (opened == OK && !source_is_within(f)) opened = fail_outside(path, err);
    if (opened == OK)
        *fd = f;
    else if (f >= 0)
        close(f);
    return opened;
}

static status open_remote(const char *url, source **out, error *err) {
    source *s = NULL;
    TRY(new_source(url, -1, STR_NONE, &s, err));
    status made = remote_open(url, &s->remote, err);
    if (made == OK) {
        s->in.remote = s->remote;
        s->file_bytes = remote_size_bytes(s->remote);
        made = start_reading(s, false, err);
    }
    if (made != OK) {
        source_close(s);
        return made;
    }
    *out = s;
    return OK;
}

static status open_source(const char *path, bool named, source **out, error *err) {
    if (remote_is_url(path) && confined) return fail_outside(path, err);
    if (remote_is_url(path)) return open_remote(path, out, err);
    int fd = -1;
    struct stat st = {0};
    TRY(open_descriptor(path, named, &fd, &st, err));
    source *s = NULL;
    status made = new_source(path, fd, STR_NONE, &s, err);
    if (made != OK) {
        if (fd != STDIN_FILENO) close(fd);
        return made;
    }
    bool regular = S_ISREG(st.st_mode) && st.st_size > 0;
    if (regular) s->file_bytes = (uint64_t)st.st_size;
    /* Standard input may be a file that was already read in part. */
    bool from_start = regular && lseek(fd, 0, SEEK_CUR) == 0;
    made = start_reading(s, from_start, err);
    if (made != OK) {
        source_close(s);
        return made;
    }
    *out = s;
    return OK;
}

status source_open(const char *path, source **out, error *err) {
    return open_source(path, false, out, err);
}

status source_open_named(const char *path, source **out, error *err) {
    return open_source(path, true, out, err);
}

status source_open_memory(str bytes, source **out, error *err) {
    source *s = NULL;
    TRY(new_source("(memory)", -1, bytes, &s, err));
    s->file_bytes = bytes.n;
    status started = start_reading(s, false, err);
    if (started != OK) {
        source_close(s);
        return started;
    }
    *out = s;
    return OK;
}

void source_close(source *s) {
    if (!s) return;
    read_ahead_stop(s->ahead);
    block_drop(&s->blocks, s->current);
    block_list_fini(&s->blocks);
    if (s->decode) s->decode->free(s->decode);
    remote_close(s->remote);
    if (s->fd > STDIN_FILENO) close(s->fd);
    mem_free(s->path);
    mem_free(s);
}

void source_set_threads(source *s, int n) {
    if (!s->ahead && s->position == 0) s->wants_ahead = n >= 2 && s->decode;
}

/* ---- pieces of a stream ------------------------------------------------------------------ */

/* Makes b the current block, with the kept and the left-over bytes in front of its content.
 * Takes over the caller's reference, also on failure. */
static status attach_block(source *s, block *b, size_t keep, error *err) {
    size_t left = (size_t)(s->end - s->at), carry = keep + left;
    if (carry > block_front(b)) {
        block *larger = block_take(&s->blocks, carry, b->n);
        if (larger) {
            memcpy(larger->data, b->data, b->n);
            larger->n = b->n;
        }
        block_drop(&s->blocks, b);
        if (!larger) FAIL_MEMORY(err);
        b = larger;
    }
    if (carry > 0) memcpy(b->data - carry, s->at - keep, carry);
    memset(b->data + b->n, 0, SOURCE_PAD);
    block_drop(&s->blocks, s->current);
    s->current = b;
    s->at = b->data - left;
    s->end = b->data + b->n;
    return OK;
}

/* The next block of the stream, filled here; NULL at the end. */
static status fill_block(source *s, size_t front, size_t room, block **out, error *err) {
    block *b = block_take(&s->blocks, front, room);
    if (!b) FAIL_MEMORY(err);
    size_t n;
    status st = s->decode->fill(s->decode, b->data, room, &n, err);
    if (st != OK || n == 0) {
        block_drop(&s->blocks, b);
        b = NULL;
    }
    if (st != OK) return st;
    if (n < room) {
        s->ended = true;
        s->damage = s->decode->damage;
    }
    if (b) b->n = n;
    *out = b;
    return OK;
}

/* Starts the thread. Its first block ends where the first piece does, whatever was looked at.
 * */
static void start_ahead(source *s, size_t want) {
    size_t left = (size_t)(s->end - s->at);
    size_t room = want > LEAST_AHEAD_BYTES ? want : LEAST_AHEAD_BYTES;
    s->wants_ahead = false;
    if (left < room && !s->ended)
        s->ahead = read_ahead_start(s->decode, &s->in, &s->blocks, room, room - left);
}

/* Adds blocks until `want` bytes lie after `at` or the stream ends. */
static status extend(source *s, size_t want, size_t keep, error *err) {
    for (size_t left; !s->ended && (left = (size_t)(s->end - s->at)) < want;) {
        block *b = NULL;
        if (s->ahead) {
            TRY(read_ahead_next(s->ahead, &b, &s->damage, err));
            s->ended = b == NULL;
        } else {
            TRY(fill_block(s, keep + left, want - left, &b, err));
        }
        if (b) TRY(attach_block(s, b, keep, err));
    }
    return OK;
}

static status next_of_stream(source *s, size_t want, size_t keep, piece *out, error *err) {
    if (keep > s->last_n) keep = s->last_n;
    if (s->wants_ahead) start_ahead(s, want);
    TRY(extend(s, want, keep, err));
    size_t left = (size_t)(s->end - s->at), n_new = left < want ? left : want;
    if (n_new == 0) {
        *out = (piece){.offset = s->position};
        return OK;
    }
    block_hold(&s->blocks, s->current);
    s->last_n = keep + n_new;
    *out = (piece){
        .p = s->at - keep, .n = s->last_n, .offset = s->position - keep, .buffer = s->current};
    s->at += n_new;
    s->position += n_new;
    return OK;
}

status source_peek(source *s, size_t n, str *head, error *err) {
    TRY(extend(s, n, 0, err));
    size_t left = (size_t)(s->end - s->at);
    *head = str_n(s->at, left < n ? left : n);
    return OK;
}

status source_next(source *s, size_t want, size_t keep, piece *out, error *err) {
    if (s->failed == OK) {
        error why = {0};
        s->failed = next_of_stream(s, want, keep, out, &why);
        if (s->failed == OK) return OK;
        (void)error_set(&s->why, why.status, why.offset, why.message, why.n_args, why.args);
    }
    return error_set(err, s->failed, s->why.offset, s->why.message, s->why.n_args, s->why.args);
}

void source_release(source *s, piece *pc) {
    if (!pc->buffer) return;
    block_drop(&s->blocks, pc->buffer);
    *pc = (piece){.offset = pc->offset};
}

/* ---- facts ------------------------------------------------------------------------------- */

codec source_codec(const source *s) {
    return s->codec;
}

int source_descriptor(const source *s) {
    return s->in.fd;
}

uint64_t source_file_bytes(const source *s) {
    return s->file_bytes;
}

uint64_t source_bytes_consumed(const source *s) {
    return atomic_load_explicit(&s->in.consumed_bytes, memory_order_relaxed);
}

uint16_t source_damage(const source *s) {
    return s->damage;
}

bool source_damaged(const source *s) {
    return source_damage(s) != MSG_NONE;
}
