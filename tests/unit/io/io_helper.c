/* io_helper.c: see io_helper.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "unit/io/io_helper.h"

buf text_of(size_t n, uint32_t seed) {
    buf b = {0};
    uint32_t x = seed * 2654435761u + 12345;
    while (b.n < n) {
        x = x * 1664525u + 1013904223u;
        buf_printf(&b, "{\"ph\": \"X\", \"ts\": %u, \"name\": \"aten::op%u\"},\n", x, x >> 27);
    }
    b.n = n;
    assert_true(buf_ok(&b));
    return b;
}

buf gzip_of(str s, int level) {
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    buf b = {0};
    assert_true(buf_reserve(&b, deflateBound(&z, s.n) + 64));
    z.next_in = (Bytef *)(uintptr_t)s.p;
    z.avail_in = (uInt)s.n;
    z.next_out = (Bytef *)b.p;
    z.avail_out = (uInt)b.cap;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    b.n = z.total_out;
    deflateEnd(&z);
    return b;
}

buf zstd_of(str s, int level) {
    buf b = {0};
    assert_true(buf_reserve(&b, ZSTD_compressBound(s.n)));
    ZSTD_CCtx *c = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
    b.n = ZSTD_compress2(c, b.p, b.cap, s.p, s.n);
    assert_false(ZSTD_isError(b.n));
    ZSTD_freeCCtx(c);
    return b;
}

char *file_of(str s) {
    const char *folder = getenv("TMPDIR");
    char *path = malloc(512);
    snprintf(path, 512, "%s/tacho-io-XXXXXX", folder ? folder : "/tmp");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    for (size_t at = 0; at < s.n;) {
        ssize_t n = write(fd, s.p + at, s.n - at);
        assert_true(n > 0);
        at += (size_t)n;
    }
    close(fd);
    return path;
}

void file_gone(char *path) {
    unlink(path);
    free(path);
}

static void check_piece(const buf *all, const piece *pc, size_t keep) {
    assert_true(pc->n > keep);
    assert_int_equal(pc->offset, all->n - keep);
    assert_memory_equal(pc->p, all->p + all->n - keep, keep);
    volatile char sum = 0; /* the padding is readable: a sanitizer or the system would object */
    for (size_t i = 0; i < SOURCE_PAD; i++) sum = (char)(sum + pc->p[pc->n + i]);
}

#define MOST_PIECES 4096

buf read_all(source *s, read_plan plan, uint16_t *damage) {
    static piece held[MOST_PIECES];
    size_t n_held = 0, last_n = 0;
    buf all = {0};
    assert_true(buf_reserve(&all, 64));
    source_set_threads(s, plan.threads);
    for (bool first = true;; first = false) {
        size_t keep = plan.keep < last_n ? plan.keep : last_n;
        piece pc;
        error err = {0};
        assert_int_equal(source_next(s, plan.want, first ? 0 : plan.keep, &pc, &err), OK);
        if (pc.n == 0) break;
        check_piece(&all, &pc, keep);
        size_t fresh = pc.n - keep;
        assert_true(fresh <= plan.want);
        last_n = pc.n;
        buf_add(&all, pc.p + keep, fresh);
        if (plan.hold_all && n_held < MOST_PIECES)
            held[n_held++] = pc;
        else
            source_release(s, &pc);
    }
    for (size_t i = 0; i < n_held; i++) {
        assert_memory_equal(held[i].p, all.p + held[i].offset, held[i].n);
        source_release(s, &held[i]);
    }
    if (damage) *damage = source_damage(s);
    source_close(s);
    return all;
}

buf read_memory_all(str s, read_plan plan, uint16_t *damage) {
    source *src;
    error err = {0};
    assert_int_equal(source_open_memory(s, &src, &err), OK);
    return read_all(src, plan, damage);
}

buf stream_all(stream *(*make)(reader *), str s, size_t portion, uint16_t *damage) {
    reader r;
    reader_init(&r, "test", -1, s);
    stream *st = make(&r);
    assert_non_null(st);
    buf all = {0};
    for (;;) {
        assert_true(buf_reserve(&all, portion));
        size_t n;
        error err = {0};
        assert_int_equal(st->fill(st, all.p + all.n, portion, &n, &err), OK);
        all.n += n;
        if (n < portion) break;
    }
    size_t n = 99;
    assert_int_equal(st->fill(st, (char[1]){0}, 1, &n, NULL), OK);
    assert_int_equal(n, 0);
    if (damage) *damage = st->damage;
    st->free(st);
    return all;
}

static void assert_same_stream(stream *(*make)(reader *), str packed, const buf *once,
                               uint16_t damage) {
    static const size_t PORTIONS[] = {37, 1000, 70000};
    for (size_t i = 0; i < sizeof PORTIONS / sizeof *PORTIONS; i++) {
        uint16_t same;
        buf out = stream_all(make, packed, PORTIONS[i], &same);
        assert_int_equal(same, damage);
        assert_int_equal(out.n, once->n);
        if (out.n) assert_memory_equal(out.p, once->p, once->n);
        buf_fini(&out);
    }
}

void assert_portions_agree_on_damage(stream *(*make)(reader *), buf *packed) {
    for (size_t at = 31; at < packed->n; at += 1999) {
        packed->p[at] = (char)(packed->p[at] ^ 0x41);
        uint16_t damage;
        buf once = stream_all(make, buf_str(packed), 1 << 20, &damage);
        assert_same_stream(make, buf_str(packed), &once, damage);
        buf_fini(&once);
        packed->p[at] = (char)(packed->p[at] ^ 0x41);
    }
}
