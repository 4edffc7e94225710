/* emit_columns_test.c: binary columns, read back by the layout the emitter's header gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "sample_answer.h"

typedef struct {
    str description;
    const char *blocks;
} read_back;

static read_back open_columns(str bytes) {
    uint32_t head[2];
    assert_true(bytes.n > 16);
    assert_memory_equal(bytes.p, "TACHOCOL", 8);
    memcpy(head, bytes.p + 8, sizeof head);
    assert_int_equal(head[0], 1);
    assert_int_equal(head[1] % 8, 0);
    return (read_back){str_n(bytes.p + 16, head[1]), bytes.p + 16 + head[1]};
}

/* The offset a column's member names, SIZE_MAX when it has none. */
static size_t offset_of(const read_back *r, uint32_t col, str member) {
    str key, value = STR_NONE;
    int64_t n;
    json_iter it = json_open(json_member(r->description, STR("columns")));
    for (uint32_t i = 0; i <= col; i++) assert_true(json_next(&it, &key, &value));
    str found = json_member(value, member);
    if (!found.p) return SIZE_MAX;
    assert_true(json_i64(found, &n));
    assert_int_equal(n % 8, 0);
    return (size_t)n;
}

static void every_column_reads_back(void **state) {
    arena a;
    buf b = {0};
    int64_t times[2];
    double shares[2];
    uint32_t positions[3];
    arena_init(&a, 0);
    answer x = sample_answer(&a);
    present_options o = {.lang = LANG_EN};
    assert_int_equal(present_answer(FORM_COLUMNS, &x, &o, &b, NULL), OK);
    read_back r = open_columns(buf_str(&b));
    memcpy(times, r.blocks + offset_of(&r, 1, STR("values")), sizeof times);
    assert_int_equal(times[0], 15250);
    assert_int_equal(times[1], -3);
    assert_int_equal(offset_of(&r, 1, STR("nulls")), SIZE_MAX);
    memcpy(shares, r.blocks + offset_of(&r, 2, STR("values")), sizeof shares);
    assert_true(shares[0] == 0.34);
    assert_int_equal(r.blocks[offset_of(&r, 2, STR("nulls"))], 0);
    assert_int_equal(r.blocks[offset_of(&r, 2, STR("nulls")) + 1], 1);
    assert_int_equal(r.blocks[offset_of(&r, 3, STR("values"))], 1);
    memcpy(positions, r.blocks + offset_of(&r, 0, STR("values")), sizeof positions);
    const char *text = r.blocks + offset_of(&r, 0, STR("text"));
    assert_memory_equal(text + positions[1], "矩阵\nb\033[2J", positions[2] - positions[1]);
    int64_t bytes;
    assert_true(json_i64(json_member(r.description, STR("bytes")), &bytes));
    assert_int_equal(r.blocks + bytes - b.p, b.n);
    buf_fini(&b);
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_column_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
