/* arrow_test.c: a table of the trace as an Arrow stream: the messages in their order, the bytes
 * of columns, names as a dictionary of those that are used. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "unit/export/export_helper.h"
#include "unit/store/sample_trace.h"

static uint64_t number_at(const char *p, size_t bytes) {
    uint64_t v = 0;
    memcpy(&v, p, bytes);
    return v;
}

static const char *follow(const char *p) {
    return p + number_at(p, 4);
}

/* A field that is there. */
static const char *field(const char *record, uint32_t i) {
    const char *list = record - (int32_t)number_at(record, 4);
    size_t at = number_at(list + 4 + (size_t)2 * i, 2);
    assert_true(4 + 2 * i < number_at(list, 2) && at != 0);
    return record + at;
}

typedef struct {
    const char *header, *body, *next;
    uint8_t kind;
} message;

static message read_message(const char *p) {
    assert_int_equal(number_at(p, 4), UINT32_MAX);
    const char *root = follow(p + 8);
    message m = {.header = follow(field(root, 2)), .body = p + 8 + number_at(p + 4, 4)};
    m.kind = (uint8_t)*field(root, 1);
    m.next = m.body + number_at(field(root, 3), 8);
    return m;
}

static const char *block(const message *m, const char *batch, uint32_t i, uint64_t bytes) {
    const char *pair = follow(field(batch, 2)) + 4 + (size_t)16 * i;
    assert_int_equal(number_at(pair + 8, 8), bytes);
    return m->body + number_at(pair, 8);
}

enum { START = 1, NAME = 3, PARENT = 4, CATEGORY = 7, KIND = 8, N_COLUMNS_SHOWN = 13 };

static void slices_are_columns(void **state) {
    trace *t = sample_trace();
    t->start_ns = 5000;
    char *bytes = export_text(t, &(export_options){.form = STR("arrow")});
    message schema = read_message(bytes);
    const char *fields = follow(field(schema.header, 1));
    assert_int_equal(number_at(fields, 4), N_COLUMNS_SHOWN);
    assert_string_equal(follow(field(follow(fields + 4 + 4 * START), 0)) + 4, "start");
    message words = read_message(schema.next);
    assert_int_equal(words.kind, 2);
    assert_int_equal(number_at(field(words.header, 0), 8), NAME);
    const char *texts = follow(field(words.header, 1));
    assert_int_equal(number_at(field(texts, 0), 8), 5); /* five slices, five names */
    const char *positions = block(&words, texts, 1, 24);
    const char *text = block(&words, texts, 2, number_at(positions + 20, 4));
    message rows = read_message(read_message(read_message(words.next).next).next);
    assert_int_equal(rows.kind, 3);
    assert_int_equal(number_at(field(rows.header, 0), 8), 5);
    assert_int_equal(number_at(block(&rows, rows.header, 2 * START + 1, 40) + 8, 8), 15000);
    /* the name of the second slice, by its place */
    size_t place = number_at(block(&rows, rows.header, 2 * NAME + 1, 20) + 4, 4);
    size_t from = number_at(positions + 4 * place, 4),
           to = number_at(positions + 4 * place + 4, 4);
    assert_int_equal(to - from, strlen("aten::mm"));
    assert_memory_equal(text + from, "aten::mm", to - from);
    /* slices 2 and 3 have a parent */
    assert_int_equal(*block(&rows, rows.header, 2 * PARENT, 1), 6);
    assert_int_equal(number_at(block(&rows, rows.header, 2 * PARENT + 1, 20) + 8, 4), 2);
    assert_memory_equal(rows.next, "\xff\xff\xff\xff\0\0\0\0", 8);
    free(bytes);
    trace_release(t);
}

static void tables_are_known_by_their_names(void **state) {
    trace *t = sample_trace();
    error err;
    const char *name;
    uint32_t n = 0;
    for (; (name = export_table_name(t, n)); n++) {
        export_options o = {.form = STR("arrow"), .table = str_of(name)};
        assert_int_equal(export_file(t, &o, "/dev/null", &err), OK);
    }
    assert_true(n > 5);
    export_options wrong = {.form = STR("arrow"), .table = STR("slices")};
    assert_int_equal(export_file(t, &wrong, "/dev/null", &err), ERR_ARG);
    assert_int_equal(err.message, MSG_EXPORT_NO_TABLE);
    wrong.form = STR("csv");
    assert_int_equal(export_file(t, &wrong, "/dev/null", &err), ERR_ARG);
    assert_int_equal(err.message, MSG_EXPORT_NO_TABLES);
    export_options empty = {.form = STR("arrow"), .table = STR("finding")};
    assert_int_equal(export_file(t, &empty, "/dev/null", &err), OK);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_are_columns),
        cmocka_unit_test(tables_are_known_by_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
