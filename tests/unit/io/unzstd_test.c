/* unzstd_test.c: frames, cuts, damage, skippable frames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "unit/io/io_helper.h"

static void gives_back_what_was_compressed_whatever_the_portion(void **state) {
    buf text = text_of(2000000, 1), packed = zstd_of(buf_str(&text), 3);
    for (size_t portion = 1000; portion < 8 << 20; portion *= 60) {
        uint16_t damage;
        buf out = stream_all(stream_unzstd, buf_str(&packed), portion, &damage);
        assert_int_equal(damage, MSG_NONE);
        assert_int_equal(out.n, text.n);
        assert_memory_equal(out.p, text.p, text.n);
        buf_fini(&out);
    }
    buf_fini(&text);
    buf_fini(&packed);
}

static void frames_follow_each_other_with_skippable_ones_between(void **state) {
    buf all = {0}, packed = {0};
    buf_add(&packed, "\x53\x2a\x4d\x18\x03\x00\x00\x00xyz", 11);
    assert_true(unzstd_is_ours(buf_str(&packed)));
    for (uint32_t i = 0; i < 60; i++) {
        buf text = text_of(i * 977 % 9000, i), one = zstd_of(buf_str(&text), 1);
        buf_add_str(&all, buf_str(&text));
        buf_add_str(&packed, buf_str(&one));
        if (i % 7 == 0) buf_add(&packed, "\x50\x2a\x4d\x18\x00\x00\x00\x00", 8);
        buf_fini(&text);
        buf_fini(&one);
    }
    uint16_t damage;
    buf out = stream_all(stream_unzstd, buf_str(&packed), 333, &damage);
    assert_int_equal(damage, MSG_NONE);
    assert_int_equal(out.n, all.n);
    assert_memory_equal(out.p, all.p, all.n);
    buf_fini(&out);
    buf_fini(&all);
    buf_fini(&packed);
}

static void every_cut_gives_a_prefix_and_tells_the_cut(void **state) {
    buf text = text_of(600000, 2), packed = zstd_of(buf_str(&text), 3);
    for (size_t cut = 4; cut < packed.n; cut += 1000) {
        uint16_t damage;
        buf out = stream_all(stream_unzstd, str_n(packed.p, cut), 1 << 20, &damage);
        assert_int_equal(damage, MSG_STREAM_CUT);
        assert_true(out.n <= text.n);
        if (out.n) assert_memory_equal(out.p, text.p, out.n);
        buf_fini(&out);
    }
    uint16_t damage;
    buf out = stream_all(stream_unzstd, str_n(packed.p, packed.n - 1), 1 << 20, &damage);
    assert_int_equal(damage, MSG_STREAM_CUT);
    assert_int_equal(out.n, text.n); /* only the checksum was cut */
    buf_fini(&out);
    buf_fini(&text);
    buf_fini(&packed);
}

static void a_changed_byte_is_reported(void **state) {
    buf text = text_of(300000, 3), packed = zstd_of(buf_str(&text), 3);
    for (size_t at = 20; at < packed.n; at += 499) {
        packed.p[at] = (char)(packed.p[at] ^ 0x41);
        uint16_t damage;
        buf out = stream_all(stream_unzstd, buf_str(&packed), 1 << 20, &damage);
        assert_int_not_equal(damage, MSG_NONE);
        buf_fini(&out);
        packed.p[at] = (char)(packed.p[at] ^ 0x41);
    }
    buf_fini(&text);
    buf_fini(&packed);
}

static void damage_is_met_at_the_same_byte_whatever_the_portions(void **state) {
    buf text = text_of(300000, 3), packed = zstd_of(buf_str(&text), 3);
    assert_portions_agree_on_damage(stream_unzstd, &packed);
    buf_fini(&text);
    buf_fini(&packed);
}

static void foreign_bytes_after_the_last_frame_are_reported(void **state) {
    buf text = text_of(3000, 4), packed = zstd_of(buf_str(&text), 3);
    buf_add_cstr(&packed, "what is this?");
    uint16_t damage;
    buf out = stream_all(stream_unzstd, buf_str(&packed), 1 << 20, &damage);
    assert_int_not_equal(damage, MSG_NONE);
    assert_int_equal(out.n, text.n);
    buf_fini(&out);
    buf_fini(&text);
    buf_fini(&packed);
}

static void only_the_magic_makes_it_zstd(void **state) {
    assert_true(unzstd_is_ours(STR("\x28\xb5\x2f\xfd rest")));
    assert_false(unzstd_is_ours(STR("\x28\xb5\x2f")));
    assert_false(unzstd_is_ours(STR("\x60\x2a\x4d\x18")));
    assert_false(unzstd_is_ours(STR("{}")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_back_what_was_compressed_whatever_the_portion),
        cmocka_unit_test(frames_follow_each_other_with_skippable_ones_between),
        cmocka_unit_test(every_cut_gives_a_prefix_and_tells_the_cut),
        cmocka_unit_test(a_changed_byte_is_reported),
        cmocka_unit_test(damage_is_met_at_the_same_byte_whatever_the_portions),
        cmocka_unit_test(foreign_bytes_after_the_last_frame_are_reported),
        cmocka_unit_test(only_the_magic_makes_it_zstd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
