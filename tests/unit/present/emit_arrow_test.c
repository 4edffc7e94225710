/* emit_arrow_test.c: an Arrow stream, read back by the rules of FlatBuffers and of Arrow's
 * schema, which are written down here once more: nothing of the writer is used. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample_answer.h"

/* ---- FlatBuffers ---- */

static uint64_t number_at(const char *p, size_t bytes) {
    uint64_t v = 0;
    memcpy(&v, p, bytes);
    return v;
}

static const char *follow(const char *p) {
    return p + number_at(p, 4);
}

/* The field of a table; NULL when it is absent. It is at a multiple of its size. */
static const char *field(const char *start, const char *record, uint32_t i, size_t bytes) {
    const char *list = record - (int32_t)number_at(record, 4);
    if (4 + 2 * i >= number_at(list, 2)) return NULL;
    size_t at = number_at(list + 4 + (size_t)2 * i, 2);
    if (!at) return NULL;
    assert_true(at + bytes <= number_at(list + 2, 2));
    assert_int_equal((size_t)(record + at - start) % bytes, 0);
    return record + at;
}

static void assert_string(const char *p, const char *wanted) {
    assert_int_equal(number_at(p, 4), strlen(wanted));
    assert_string_equal(p + 4, wanted);
}

/* ---- the stream ---- */

typedef struct {
    const char *start, *header, *body, *next;
    uint8_t kind;
} message;

static message read_message(const char *p) {
    message m = {.start = p + 8};
    assert_int_equal(number_at(p, 4), UINT32_MAX);
    uint64_t n = number_at(p + 4, 4);
    assert_int_equal((n + 8) % 64, 0);
    const char *root = follow(m.start);
    assert_int_equal(number_at(field(m.start, root, 0, 2), 2), 4); /* V5 */
    m.kind = (uint8_t)*field(m.start, root, 1, 1);
    m.header = follow(field(m.start, root, 2, 4));
    m.body = m.start + n;
    m.next = m.body + number_at(field(m.start, root, 3, 8), 8);
    assert_int_equal((m.next - p) % 64, 0);
    return m;
}

static const char *metadata_of(const message *m, const char *list, const char *key) {
    for (uint32_t i = 0; i < number_at(list, 4); i++) {
        const char *pair = follow(list + 4 + (size_t)4 * i);
        const char *name = follow(field(m->start, pair, 0, 4));
        if (strcmp(name + 4, key) == 0) return follow(field(m->start, pair, 1, 4)) + 4;
    }
    return NULL;
}

static void check_schema(const message *m) {
    static const char *const names[] = {"name", "time", "share", "used", "address", "never"};
    static const uint8_t types[] = {5, 2, 3, 6, 2, 2}; /* utf8, int, float, bool */
    assert_int_equal(m->kind, 1);
    assert_int_equal(m->body - m->next, 0);
    const char *fields = follow(field(m->start, m->header, 1, 4));
    assert_int_equal(number_at(fields, 4), 6);
    for (uint32_t i = 0; i < 6; i++) {
        const char *f = follow(fields + 4 + (size_t)4 * i);
        assert_string(follow(field(m->start, f, 0, 4)), names[i]);
        assert_int_equal(*field(m->start, f, 1, 1), 1);
        assert_int_equal(*field(m->start, f, 2, 1), types[i]);
        assert_int_equal(number_at(follow(field(m->start, f, 5, 4)), 4), 0);
        if (types[i] != 2) continue;
        const char *whole = follow(field(m->start, f, 3, 4));
        assert_int_equal(number_at(field(m->start, whole, 0, 4), 4), 64);
        assert_int_equal(*field(m->start, whole, 1, 1), i != 4); /* addresses have no sign */
    }
    const char *time = follow(fields + 8), *about = follow(field(m->start, time, 6, 4));
    assert_string_equal(metadata_of(m, about, "unit"), "ns");
    assert_null(metadata_of(m, about, "help"));
    const char *name = follow(fields + 4);
    assert_non_null(metadata_of(m, follow(field(m->start, name, 6, 4)), "help"));
    about = follow(field(m->start, m->header, 2, 4));
    assert_string_equal(metadata_of(m, about, "table"), "things");
    assert_string_equal(metadata_of(m, about, "total_rows"), "3");
    assert_non_null(strstr(metadata_of(m, about, "verdict"), "\"id\":\"late\""));
}

/* The i-th block of a batch, whose length must be this. */
static const char *block(const message *m, uint32_t i, uint64_t bytes) {
    const char *pair = follow(field(m->start, m->header, 2, 4)) + 4 + (size_t)16 * i;
    assert_int_equal((pair - m->start) % 8, 0);
    assert_int_equal(number_at(pair, 8) % 64, 0);
    assert_int_equal(number_at(pair + 8, 8), bytes);
    return m->body + number_at(pair, 8);
}

static void check_batch(const message *m) {
    static const uint64_t nulls[] = {0, 0, 1, 0, 1, 2};
    assert_int_equal(m->kind, 3);
    assert_int_equal(number_at(field(m->start, m->header, 0, 8), 8), 2);
    const char *nodes = follow(field(m->start, m->header, 1, 4));
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(number_at(nodes + 4 + (size_t)16 * i, 8), 2);
        assert_int_equal(number_at(nodes + 12 + (size_t)16 * i, 8), nulls[i]);
    }
    assert_int_equal(number_at(follow(field(m->start, m->header, 2, 4)), 4), 13);
    (void)block(m, 0, 0); /* no name is null */
    const char *positions = block(m, 1, 12);
    assert_int_equal(number_at(positions, 4), 0);
    size_t first = number_at(positions + 4, 4), all = number_at(positions + 8, 4);
    assert_memory_equal(block(m, 2, all) + first, "矩阵\nb\033[2J", all - first);
    assert_int_equal((int64_t)number_at(block(m, 4, 16) + 8, 8), -3);
    assert_int_equal(*block(m, 5, 1), 1); /* of two shares only the first is known */
    assert_int_equal(*block(m, 8, 1), 1); /* used: yes, no */
    assert_int_equal(number_at(block(m, 10, 16), 8), UINT64_C(1) << 63);
    assert_int_equal(*block(m, 11, 1), 0);
}

static void the_stream_reads_back(void **state) {
    arena a;
    buf b = {0};
    arena_init(&a, 0);
    answer x = sample_answer(&a);
    present_options o = {.lang = LANG_EN};
    assert_int_equal(present_answer(FORM_ARROW, &x, &o, &b, NULL), OK);
    message schema = read_message(b.p);
    check_schema(&schema);
    message batch = read_message(schema.next);
    check_batch(&batch);
    assert_memory_equal(batch.next, "\xff\xff\xff\xff\0\0\0\0", 8);
    assert_int_equal(batch.next + 8 - b.p, b.n);
    buf_fini(&b);
    arena_fini(&a);
}

/* Names come from files we did not write; a stream holds UTF-8 whatever they are. */
static void bytes_that_are_not_text_are_replaced(void **state) {
    arena a;
    buf b = {0};
    size_t row;
    const column_spec spec = {"name", TYPE_TEXT, UNIT_NONE, 0};
    arena_init(&a, 0);
    table *t = table_new(&a, "names", &spec, 1);
    assert_int_equal(table_add_row(t, &row, NULL), OK);
    table_set_text(t, row, 0,
                   STR("a\xff\xe7\x9f"
                       "b"));
    answer x = {.analysis = "sample", .tables = {t}, .n_tables = 1};
    assert_int_equal(present_answer(FORM_ARROW, &x, &(present_options){0}, &b, NULL), OK);
    message schema = read_message(b.p), batch = read_message(schema.next);
    assert_memory_equal(block(&batch, 2, 11),
                        "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
                        "b",
                        11);
    buf_fini(&b);
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_stream_reads_back),
        cmocka_unit_test(bytes_that_are_not_text_are_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
