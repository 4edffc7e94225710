/* gunzip.c: a gzip stream to its bytes, and back; the only file that knows ISA-L and zlib.
 *
 * Compressed bytes come through a window of 256 KiB and are inflated straight into the caller's
 * memory: the text as a whole is never anywhere. Two engines come after the same three calls:
 * ISA-L where it is built in, zlib everywhere; tests compare one with the other.
 *
 * A gzip file is one or more members after each other; zero bytes may follow (tape blocks).
 * Damage is not failure: everything inflated before it is delivered, then the stream ends and
 * `damage` says why. A wrong checksum is noticed after the bytes were handed out; they stay,
 * and the damage is reported. The loop continues only when input was taken or output was made,
 * so no input can hang it. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#ifdef HAVE_ISAL
#include <isa-l/igzip_lib.h>
#endif

#include "base/fault.h"
#include "base/mem.h"
#include "base/message_ids_cli.h"
#include "io/gzip.h"
#include "io/source_int.h"

#define WINDOW_BYTES ((size_t)256 << 10)
/* A member starts with this much of it in the window: ISA-L forgets where it was when the file
 * name in a gzip header is cut by the end of the input. */
#define HEADER_BYTES ((size_t)64 << 10)
/* Engines count in 32 bits. */
#define MOST_AT_ONCE ((size_t)1 << 30)

typedef enum { STEP_MORE, STEP_MEMBER_END, STEP_DAMAGED } step_result;

typedef struct gunzip gunzip;
struct gunzip {
    stream base;
    reader *from;
    char *window;
    char *in; /* not yet inflated */
    size_t n_in;
    uint64_t made_bytes;
    bool input_ended, ended;
    bool between_members;
    bool broken; /* the engine met damage; what it inflated before may still wait in it */
    /* The engine: starts a member; inflates from `in` to *to, moving both, and lowers *room. */
    void (*start)(gunzip *g);
    step_result (*inflate)(gunzip *g, char **to, size_t *room);
    z_stream zlib;
    bool zlib_open;
#ifdef HAVE_ISAL
    struct inflate_state isal;
#endif
};

bool gunzip_is_ours(str head) {
    return str_starts(head, STR("\x1f\x8b"));
}

/* ---- zlib -------------------------------------------------------------------------------- */

static void start_zlib(gunzip *g) {
    (void)inflateReset(&g->zlib);
}

static step_result inflate_zlib(gunzip *g, char **to, size_t *room) {
    z_stream *z = &g->zlib;
    z->next_in = (Bytef *)g->in;
    z->avail_in = (uInt)g->n_in;
    z->next_out = (Bytef *)*to;
    z->avail_out = (uInt)*room;
    int r = inflate(z, Z_NO_FLUSH);
    g->in = (char *)z->next_in;
    g->n_in = z->avail_in;
    *to = (char *)z->next_out;
    *room = z->avail_out;
    if (r == Z_STREAM_END) return STEP_MEMBER_END;
    /* Z_BUF_ERROR only says that there was nothing to do. */
    return r == Z_OK || r == Z_BUF_ERROR ? STEP_MORE : STEP_DAMAGED;
}

static bool open_zlib(gunzip *g) {
    g->start = start_zlib;
    g->inflate = inflate_zlib;
    g->zlib_open = inflateInit2(&g->zlib, 15 + 16) == Z_OK;
    return g->zlib_open;
}

/* ---- ISA-L ------------------------------------------------------------------------------- */

#ifdef HAVE_ISAL
static void start_isal(gunzip *g) {
    isal_inflate_reset(&g->isal);
    g->isal.crc_flag = ISAL_GZIP;
}

/* ISA-L inflates into a small output through its own buffer, and when it meets damage it does
 * not hand out what is waiting there, so the place of the damage would depend on the size of
 * the output. */
static step_result drain_isal(gunzip *g, char **to, size_t *room) {
    struct inflate_state *z = &g->isal;
    size_t n = (size_t)(z->tmp_out_valid - z->tmp_out_processed);
    if (n > *room) n = *room;
    memcpy(*to, z->tmp_out_buffer + z->tmp_out_processed, n);
    z->tmp_out_processed += (int32_t)n;
    *to += n;
    *room -= n;
    return z->tmp_out_processed < z->tmp_out_valid ? STEP_MORE : STEP_DAMAGED;
}

static step_result inflate_isal(gunzip *g, char **to, size_t *room) {
    struct inflate_state *z = &g->isal;
    if (g->broken) return drain_isal(g, to, room);
    z->next_in = (uint8_t *)g->in;
    z->avail_in = (uint32_t)g->n_in;
    z->next_out = (uint8_t *)*to;
    z->avail_out = (uint32_t)*room;
    int r = isal_inflate(z);
    g->in = (char *)z->next_in;
    g->n_in = z->avail_in;
    *to = (char *)z->next_out;
    *room = z->avail_out;
    if (r < 0 || r == ISAL_NEED_DICT) {
        g->broken = true;
        return drain_isal(g, to, room);
    }
    return z->block_state == ISAL_BLOCK_FINISH ? STEP_MEMBER_END : STEP_MORE;
}

static bool open_fastest(gunzip *g) {
    g->start = start_isal;
    g->inflate = inflate_isal;
    isal_inflate_init(&g->isal);
    g->isal.crc_flag = ISAL_GZIP;
    return true;
}
#else
#define open_fastest open_zlib
#endif

/* ---- the stream -------------------------------------------------------------------------- */

static void end_with(gunzip *g, uint16_t damage) {
    g->ended = true;
    g->base.damage = damage;
}

/* At least `least` bytes in the window (it must hold them), fewer only at the end of the input.
 * */
static status refill(gunzip *g, size_t least, error *err) {
    if (g->n_in >= least || g->input_ended) return OK;
    memmove(g->window, g->in, g->n_in);
    g->in = g->window;
    while (g->n_in < least && !g->input_ended) {
        size_t n;
        TRY(reader_some(g->from, g->window + g->n_in, WINDOW_BYTES - g->n_in, &n, err));
        g->n_in += n;
        g->input_ended = n == 0;
    }
    return OK;
}

/* After a member: the next member, padding, the end, or something that is not gzip. */
static status step_between(gunzip *g, error *err) {
    TRY(refill(g, HEADER_BYTES, err));
    if (g->n_in == 0) {
        end_with(g, MSG_NONE);
    } else if (gunzip_is_ours(str_n(g->in, g->n_in))) {
        g->start(g);
        g->between_members = false;
    } else if (*g->in == 0) {
        g->in++;
        g->n_in--;
    } else {
        end_with(g, MSG_STREAM_TRAILING_BYTES);
    }
    return OK;
}

static void step_inflate(gunzip *g, char **to, char *end) {
    size_t room = (size_t)(end - *to), n_in = g->n_in;
    if (room > MOST_AT_ONCE) room = MOST_AT_ONCE;
    char *began = *to;
    step_result r = g->inflate(g, to, &room);
    if (r == STEP_MEMBER_END) {
        g->between_members = true;
    } else if (r == STEP_DAMAGED) {
        end_with(g, MSG_STREAM_CORRUPT);
    } else if (*to == began && g->n_in == n_in) {
        /* It wants more and there is no more; with input left it would be stuck. */
        end_with(g, g->n_in == 0 ? MSG_STREAM_CUT : MSG_STREAM_CORRUPT);
    }
}

static status fill_gunzip(stream *st, char *to, size_t room, size_t *n, error *err) {
    gunzip *g = (gunzip *)st;
    char *at = to, *end = to + room;
    while (at < end && !g->ended) {
        if (g->between_members) {
            TRY(step_between(g, err));
            continue;
        }
        TRY(refill(g, 1, err));
        step_inflate(g, &at, end);
    }
    *n = (size_t)(at - to);
    g->made_bytes += *n;
    if (!g->ended && reader_is_bomb(g->from, g->made_bytes)) end_with(g, MSG_STREAM_BOMB);
    return OK;
}

static void free_gunzip(stream *st) {
    gunzip *g = (gunzip *)st;
    if (g->zlib_open) inflateEnd(&g->zlib);
    mem_free(g->window);
    mem_free(g);
}

stream *stream_gunzip(reader *r, gunzip_engine engine) {
    gunzip *g = mem_zalloc(sizeof *g);
    if (!g) return NULL;
    g->base = (stream){.fill = fill_gunzip, .free = free_gunzip};
    g->from = r;
    g->window = mem_alloc(WINDOW_BYTES);
    g->in = g->window;
    g->between_members = true;
    if (!g->window || !(engine == GUNZIP_ZLIB ? open_zlib(g) : open_fastest(g))) {
        free_gunzip(&g->base);
        return NULL;
    }
    return &g->base;
}

/* ---- the other way ----------------------------------------------------------------------- */

enum { PACK_BYTES = 256 << 10, GZIP_WRAPPER = 16 };

static status fail_packing(error *err, uint16_t message) {
    char text[128];
    FAIL(err, ERR_IO, NOPOS, message, arg_cstr("path", "gzip"),
         arg_cstr("reason", strerror_r(errno, text, sizeof text)));
}

static status write_packed(int to, const char *p, size_t n, error *err) {
    while (n > 0) {
        if (fault_point(FAULT_WRITE)) {
            errno = ENOSPC;
            return fail_packing(err, MSG_CLI_CANNOT_WRITE);
        }
        ssize_t done = write(to, p, n);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return fail_packing(err, MSG_CLI_CANNOT_WRITE);
        p += done;
        n -= (size_t)done;
    }
    return OK;
}

/* Deflates what z holds; to the end of the stream when `last`. */
static status deflate_all(z_stream *z, int to, bool last, error *err) {
    char out[64 << 10];
    int code;
    do {
        z->next_out = (Bytef *)out;
        z->avail_out = sizeof out;
        code = deflate(z, last ? Z_FINISH : Z_NO_FLUSH);
        TRY(write_packed(to, out, sizeof out - z->avail_out, err));
    } while (last ? code != Z_STREAM_END : z->avail_in > 0 || z->avail_out == 0);
    return OK;
}

static status pack(z_stream *z, char *in, int from, int to, error *err) {
    for (;;) {
        ssize_t n = read(from, in, PACK_BYTES);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fail_packing(err, MSG_CANNOT_READ);
        z->next_in = (Bytef *)in;
        z->avail_in = (uInt)n;
        if (n == 0) return deflate_all(z, to, true, err);
        TRY(deflate_all(z, to, false, err));
    }
}

status gzip_copy(int from, int to, error *err) {
    z_stream z = {0};
    char *in = mem_alloc(PACK_BYTES);
    if (!in) FAIL_MEMORY(err);
    if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + GZIP_WRAPPER, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        mem_free(in);
        FAIL_MEMORY(err);
    }
    status st = pack(&z, in, from, to, err);
    (void)deflateEnd(&z);
    mem_free(in);
    return st;
}

status gzip_pack(str text, buf *out, error *err) {
    z_stream z = {0};
    if (text.n > UINT32_MAX / 2 || !buf_ok(out)) FAIL_MEMORY(err);
    if (deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + GZIP_WRAPPER, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        FAIL_MEMORY(err);
    size_t room = deflateBound(&z, (uLong)text.n);
    bool done = false;
    if (buf_reserve(out, room)) {
        z.next_in = (Bytef *)(uintptr_t)text.p;
        z.avail_in = (uInt)text.n;
        z.next_out = (Bytef *)out->p + out->n;
        z.avail_out = (uInt)room;
        done = deflate(&z, Z_FINISH) == Z_STREAM_END;
        if (done) out->n += room - z.avail_out;
    }
    (void)deflateEnd(&z);
    if (!done) FAIL_MEMORY(err);
    return OK;
}

status zlib_unpack(str packed, buf *out, bool *damaged, error *err) {
    enum { ROOM = 64 << 10 };
    z_stream z = {0};
    int r = Z_OK;
    *damaged = true;
    if (packed.n > UINT32_MAX / 2) return OK;
    if (inflateInit(&z) != Z_OK) FAIL_MEMORY(err);
    z.next_in = (Bytef *)(uintptr_t)packed.p;
    z.avail_in = (uInt)packed.n;
    while (r == Z_OK && buf_reserve(out, ROOM)) {
        z.next_out = (Bytef *)out->p + out->n;
        z.avail_out = ROOM;
        r = inflate(&z, Z_NO_FLUSH);
        out->n += ROOM - z.avail_out;
    }
    *damaged = r != Z_STREAM_END;
    (void)inflateEnd(&z);
    if (!buf_ok(out)) FAIL_MEMORY(err);
    return OK;
}
