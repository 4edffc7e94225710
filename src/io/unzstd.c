/* unzstd.c: a zstd stream to its bytes.
 *
 * The same shape as gunzip.c: compressed bytes come through a window and are decoded straight
 * into the caller's memory. Several frames may follow each other, with skippable frames between
 * them; the library starts the next one by itself. Damage ends the stream: what came before is
 * delivered. A frame that asks for a window over 128 MiB is refused by the library and counts
 * as damage. */
#include <zstd.h>

#include "base/mem.h"
#include "io/source_int.h"

/* Decoded by one call, always: a call that meets damage forgets what it has made, so what is
 * left of a damaged stream must not depend on how much the caller asks for at a time. Where
 * less room is left, a step goes into a separate buffer and is handed out from there. */
#define STEP_BYTES ((size_t)128 << 10)

typedef struct {
    stream base;
    reader *from;
    ZSTD_DStream *zstd;
    char *window;
    size_t window_bytes;
    char *step; /* a step that did not fit, of which [step_at, step_n) is not yet handed out */
    size_t step_at, step_n;
    ZSTD_inBuffer in;
    uint64_t made_bytes;
    bool input_ended, ended;
    bool in_frame; /* the last call stopped inside a frame */
} unzstd;

bool unzstd_is_ours(str head) {
    if (str_starts(head, STR("\x28\xb5\x2f\xfd"))) return true;
    /* A skippable frame: 0x184D2A50 … 5F, little-endian. */
    return head.n >= 4 && (head.p[0] & 0xf0) == 0x50 &&
           str_eq(str_n(head.p + 1, 3), STR("\x2a\x4d\x18"));
}

static void end_with(unzstd *u, uint16_t damage) {
    u->ended = true;
    u->base.damage = damage;
}

static status refill(unzstd *u, error *err) {
    if (u->in.pos < u->in.size || u->input_ended) return OK;
    size_t n;
    TRY(reader_some(u->from, u->window, u->window_bytes, &n, err));
    u->in = (ZSTD_inBuffer){.src = u->window, .size = n, .pos = 0};
    u->input_ended = n == 0;
    return OK;
}

static void step_decode(unzstd *u, ZSTD_outBuffer *out) {
    size_t taken = u->in.pos, made = out->pos;
    size_t r = ZSTD_decompressStream(u->zstd, out, &u->in);
    if (ZSTD_isError(r)) {
        end_with(u, MSG_STREAM_CORRUPT);
        return;
    }
    if (taken == u->in.pos && made == out->pos) {
        /* Nothing in, nothing out: at the end of the input, inside a frame or after the last.
         * */
        bool whole = u->input_ended && !u->in_frame;
        end_with(u, whole ? MSG_NONE : u->input_ended ? MSG_STREAM_CUT : MSG_STREAM_CORRUPT);
        return;
    }
    u->in_frame = r != 0;
}

static size_t hand_out(unzstd *u, char *to, size_t room) {
    size_t n = u->step_n - u->step_at;
    if (n > room) n = room;
    memcpy(to, u->step + u->step_at, n);
    u->step_at += n;
    return n;
}

static status fill_unzstd(stream *st, char *to, size_t room, size_t *n, error *err) {
    unzstd *u = (unzstd *)st;
    size_t at = hand_out(u, to, room);
    while (at < room && !u->ended) {
        bool fits = room - at >= STEP_BYTES;
        ZSTD_outBuffer out = {.dst = fits ? to + at : u->step, .size = STEP_BYTES, .pos = 0};
        TRY(refill(u, err));
        step_decode(u, &out);
        if (!fits) {
            u->step_at = 0;
            u->step_n = out.pos;
        }
        at += fits ? out.pos : hand_out(u, to + at, room - at);
    }
    *n = at;
    u->made_bytes += at;
    if (!u->ended && reader_is_bomb(u->from, u->made_bytes)) end_with(u, MSG_STREAM_BOMB);
    return OK;
}

static void free_unzstd(stream *st) {
    unzstd *u = (unzstd *)st;
    ZSTD_freeDStream(u->zstd);
    mem_free(u->window);
    mem_free(u->step);
    mem_free(u);
}

stream *stream_unzstd(reader *r) {
    unzstd *u = mem_zalloc(sizeof *u);
    if (!u) return NULL;
    u->base = (stream){.fill = fill_unzstd, .free = free_unzstd};
    u->from = r;
    u->window_bytes = ZSTD_DStreamInSize();
    u->window = mem_alloc(u->window_bytes);
    u->step = mem_alloc(STEP_BYTES);
    u->zstd = ZSTD_createDStream();
    if (!u->window || !u->step || !u->zstd) {
        free_unzstd(&u->base);
        return NULL;
    }
    return &u->base;
}
