/* gzip.c: compressed input (gzip by both engines, zstd) and plain bytes. The pieces are the same
 * stream whatever their size and with a thread reading ahead or not, also of a damaged one; two
 * inflaters that find no damage agree. */
#include "fuzz/fuzz.h"
#include "io/source_int.h"

enum { MOST_BYTES = 1 << 20 }; /* what a bomb does to memory is not the question here */
static volatile char look;     /* makes a read of the padding happen */

static buf read_source(str bytes, size_t want, size_t keep, int threads, bool *damaged) {
    buf all = {0};
    source *s;
    CHECK(source_open_memory(bytes, &s, NULL) == OK);
    source_set_threads(s, threads);
    size_t kept = 0;
    for (piece pc; all.n < MOST_BYTES;) {
        CHECK(source_next(s, want, kept, &pc, NULL) == OK);
        if (pc.n == 0) break;
        CHECK(pc.n > kept && pc.offset == all.n - kept);
        CHECK(kept == 0 || memcmp(pc.p, all.p + all.n - kept, kept) == 0);
        look = pc.p[pc.n + SOURCE_PAD - 1];
        buf_add(&all, pc.p + kept, pc.n - kept);
        kept = keep < pc.n ? keep : pc.n;
        source_release(s, &pc);
    }
    *damaged = source_damaged(s);
    source_close(s);
    return all;
}

static buf read_zlib(str bytes, bool *damaged) {
    buf all = {0};
    reader r;
    reader_init(&r, "", -1, bytes);
    stream *st = stream_gunzip(&r, GUNZIP_ZLIB);
    char part[4096];
    for (size_t n = 1; n && all.n < MOST_BYTES; buf_add(&all, part, n))
        CHECK(st->fill(st, part, sizeof part, &n, NULL) == OK);
    *damaged = st->damage != MSG_NONE;
    st->free(st);
    return all;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    str bytes = {(const char *)data, size};
    bool damaged, also;
    buf a = read_source(bytes, 1 << 16, 0, 1, &damaged);
    buf b = read_source(bytes, 333, 77, size % 8 ? 1 : 2, &also);
    bool whole = a.n < MOST_BYTES;
    CHECK(!whole || (damaged == also && str_eq(buf_str(&a), buf_str(&b))));
    buf_fini(&b);
    b = gunzip_is_ours(bytes) ? read_zlib(bytes, &also) : (buf){0};
    CHECK(!whole || !b.n || damaged || also || str_eq(buf_str(&a), buf_str(&b)));
    buf_fini(&a);
    buf_fini(&b);
    return 0;
}
