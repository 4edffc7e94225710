/* gunzip_test.c: both engines, on whole, cut, damaged and many-membered streams. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/message_ids_cli.h"
#include "io/gzip.h"
#include "unit/io/io_helper.h"

static stream *fastest(reader *r) {
    return stream_gunzip(r, GUNZIP_FASTEST);
}
static stream *zlib(reader *r) {
    return stream_gunzip(r, GUNZIP_ZLIB);
}
static stream *(*const ENGINES[])(reader *) = {fastest, zlib};
#define EACH_ENGINE(make) for (size_t e_ = 0; e_ < 2 && ((make) = ENGINES[e_]); e_++)

static void both_engines_give_back_what_was_compressed_at_any_level(void **state) {
    buf text = text_of(1500000, 1);
    for (int level = 0; level <= 9; level += 3) {
        buf packed = gzip_of(buf_str(&text), level);
        stream *(*make)(reader *);
        EACH_ENGINE(make) {
            for (size_t portion = 4096; portion <= 4 << 20; portion *= 33) {
                uint16_t damage;
                buf out = stream_all(make, buf_str(&packed), portion, &damage);
                assert_int_equal(damage, MSG_NONE);
                assert_int_equal(out.n, text.n);
                assert_memory_equal(out.p, text.p, text.n);
                buf_fini(&out);
            }
        }
        buf_fini(&packed);
    }
    buf_fini(&text);
}

/* 1.3 GB of zeros, as members after each other; nothing of it is kept. */
static void a_bomb_ends_after_a_gigabyte(void **state) {
    enum { MEMBER = 64 << 20, N_MEMBERS = 20, PART = 1 << 20 };
    static char part[PART];
    reader r;
    error err;
    char *zeros = test_calloc(1, MEMBER);
    buf one = gzip_of(str_n(zeros, MEMBER), 9), packed = {0};
    for (int i = 0; i < N_MEMBERS; i++) buf_add_str(&packed, buf_str(&one));
    reader_init(&r, "bomb", -1, buf_str(&packed));
    stream *s = stream_gunzip(&r, GUNZIP_FASTEST);
    uint64_t total = 0;
    for (size_t n = 1; n > 0; total += n)
        assert_int_equal(s->fill(s, part, PART, &n, &err), OK);
    assert_int_equal(s->damage, MSG_STREAM_BOMB);
    assert_in_range(total, (uint64_t)1 << 30, ((uint64_t)1 << 30) + 2 * PART);
    s->free(s);
    buf_fini(&one);
    buf_fini(&packed);
    test_free(zeros);
}

static void members_of_all_sizes_follow_each_other(void **state) {
    buf all = {0}, packed = {0};
    for (uint32_t i = 0; i < 200; i++) {
        buf text = text_of(i * i * 7 % 5000, i), one = gzip_of(buf_str(&text), (int)(i % 10));
        buf_add_str(&all, buf_str(&text));
        buf_add_str(&packed, buf_str(&one));
        buf_fini(&text);
        buf_fini(&one);
    }
    stream *(*make)(reader *);
    EACH_ENGINE(make) {
        for (size_t portion = 1; portion < 1 << 20; portion = portion * 7 + 3) {
            uint16_t damage;
            buf out = stream_all(make, buf_str(&packed), portion, &damage);
            assert_int_equal(damage, MSG_NONE);
            assert_int_equal(out.n, all.n);
            assert_memory_equal(out.p, all.p, all.n);
            buf_fini(&out);
        }
    }
    buf_fini(&all);
    buf_fini(&packed);
}

static void every_cut_gives_a_prefix_and_tells_the_cut(void **state) {
    buf text = text_of(400000, 2), packed = gzip_of(buf_str(&text), 6);
    stream *(*make)(reader *);
    EACH_ENGINE(make) {
        size_t before = 0;
        for (size_t cut = 2; cut < packed.n;
             cut = cut < 40 || cut + 20 > packed.n ? cut + 1 : cut + 1000) {
            if (cut > 40 && cut + 1020 > packed.n && cut + 20 < packed.n) cut = packed.n - 12;
            uint16_t damage;
            buf out = stream_all(make, str_n(packed.p, cut), 1 << 20, &damage);
            assert_int_equal(damage, MSG_STREAM_CUT);
            assert_true(out.n >= before && out.n <= text.n);
            if (out.n) assert_memory_equal(out.p, text.p, out.n);
            before = out.n;
            buf_fini(&out);
        }
        assert_int_equal(before, text.n); /* only the trailer was missing */
    }
    buf_fini(&text);
    buf_fini(&packed);
}

static void a_changed_byte_never_goes_unnoticed_and_spoils_nothing_before_it(void **state) {
    buf text = text_of(300000, 3), packed = gzip_of(buf_str(&text), 6);
    stream *(*make)(reader *);
    EACH_ENGINE(make) {
        for (size_t at = 2; at < packed.n; at += 997) {
            if (at >= 4 && at < 10) continue; /* time and system of the header mean nothing */
            packed.p[at] = (char)(packed.p[at] ^ 0x41);
            uint16_t damage;
            buf out = stream_all(make, buf_str(&packed), 1 << 20, &damage);
            assert_int_not_equal(damage, MSG_NONE);
            assert_true(out.n <= text.n * 64);
            buf_fini(&out);
            packed.p[at] = (char)(packed.p[at] ^ 0x41);
        }
    }
    buf_fini(&text);
    buf_fini(&packed);
}

static void damage_is_met_at_the_same_byte_whatever_the_portions(void **state) {
    buf text = text_of(300000, 3), packed = gzip_of(buf_str(&text), 6);
    stream *(*make)(reader *);
    EACH_ENGINE(make) assert_portions_agree_on_damage(make, &packed);
    buf_fini(&text);
    buf_fini(&packed);
}

static void a_wrong_checksum_keeps_the_bytes_and_is_reported(void **state) {
    buf text = text_of(5000, 4), packed = gzip_of(buf_str(&text), 6);
    packed.p[packed.n - 6] = (char)(packed.p[packed.n - 6] ^ 1);
    stream *(*make)(reader *);
    EACH_ENGINE(make) {
        uint16_t damage;
        buf out = stream_all(make, buf_str(&packed), 1 << 16, &damage);
        assert_int_equal(damage, MSG_STREAM_CORRUPT);
        assert_int_equal(out.n, text.n);
        assert_memory_equal(out.p, text.p, text.n);
        buf_fini(&out);
    }
    buf_fini(&text);
    buf_fini(&packed);
}

static void zeros_after_the_last_member_are_padding_other_bytes_are_reported(void **state) {
    buf text = text_of(5000, 5), packed = gzip_of(buf_str(&text), 6);
    buf_add_repeat(&packed, 0, 700);
    stream *(*make)(reader *);
    EACH_ENGINE(make) {
        uint16_t damage;
        buf out = stream_all(make, buf_str(&packed), 1 << 16, &damage);
        assert_int_equal(damage, MSG_NONE);
        assert_int_equal(out.n, text.n);
        buf_fini(&out);
    }
    buf_add_cstr(&packed, "and more");
    EACH_ENGINE(make) {
        uint16_t damage;
        buf out = stream_all(make, buf_str(&packed), 1 << 16, &damage);
        assert_int_equal(damage, MSG_STREAM_TRAILING_BYTES);
        assert_int_equal(out.n, text.n);
        buf_fini(&out);
    }
    buf_fini(&text);
    buf_fini(&packed);
}

static void an_empty_member_is_empty_and_whole(void **state) {
    buf packed = gzip_of(STR_NONE, 6);
    stream *(*make)(reader *);
    EACH_ENGINE(make) {
        uint16_t damage;
        buf out = stream_all(make, buf_str(&packed), 100, &damage);
        assert_int_equal(damage, MSG_NONE);
        assert_int_equal(out.n, 0);
        buf_fini(&out);
    }
    buf_fini(&packed);
}

static void only_the_magic_makes_it_gzip(void **state) {
    assert_true(gunzip_is_ours(STR("\x1f\x8b\x08")));
    assert_false(gunzip_is_ours(STR("\x1f")));
    assert_false(gunzip_is_ours(STR("{}")));
}

static void what_is_packed_can_be_unpacked(void **state) {
    static const size_t SIZES[] = {0, 1, 65536, 1500000};
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        uint16_t damage;
        buf text = text_of(SIZES[i], 5);
        char *plain = file_of(buf_str(&text)), *packed = file_of(STR(""));
        int from = open(plain, O_RDONLY), to = open(packed, O_WRONLY);
        assert_int_equal(gzip_copy(from, to, NULL), OK);
        close(from);
        close(to);
        source *s;
        assert_int_equal(source_open(packed, &s, NULL), OK);
        assert_int_equal(source_codec(s), CODEC_GZIP);
        buf out = read_all(s, (read_plan){.want = 1 << 20}, &damage);
        assert_int_equal(damage, MSG_NONE);
        assert_int_equal(out.n, text.n);
        if (out.n) assert_memory_equal(out.p, text.p, text.n);
        buf_fini(&out);
        buf_fini(&text);
        file_gone(plain);
        file_gone(packed);
    }
}

static void a_place_that_cannot_be_written_is_reported(void **state) {
    error err = {0};
    buf text = text_of(100000, 6);
    char *plain = file_of(buf_str(&text));
    int from = open(plain, O_RDONLY), to = open("/dev/full", O_WRONLY);
    assert_int_equal(gzip_copy(from, to, &err), ERR_IO);
    assert_int_equal(err.message, MSG_CLI_CANNOT_WRITE);
    close(from);
    close(to);
    file_gone(plain);
    buf_fini(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_engines_give_back_what_was_compressed_at_any_level),
        cmocka_unit_test(members_of_all_sizes_follow_each_other),
        cmocka_unit_test(every_cut_gives_a_prefix_and_tells_the_cut),
        cmocka_unit_test(a_changed_byte_never_goes_unnoticed_and_spoils_nothing_before_it),
        cmocka_unit_test(damage_is_met_at_the_same_byte_whatever_the_portions),
        cmocka_unit_test(a_wrong_checksum_keeps_the_bytes_and_is_reported),
        cmocka_unit_test(zeros_after_the_last_member_are_padding_other_bytes_are_reported),
        cmocka_unit_test(an_empty_member_is_empty_and_whole),
        cmocka_unit_test(a_bomb_ends_after_a_gigabyte),
        cmocka_unit_test(only_the_magic_makes_it_gzip),
        cmocka_unit_test(what_is_packed_can_be_unpacked),
        cmocka_unit_test(a_place_that_cannot_be_written_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
