/* sample_answer.c: the answer the emitters are tested with. */
#include "sample_answer.h"

#include "base/message_ids_columns.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const column_spec SPEC[] = {
    {"name", TYPE_TEXT, UNIT_NONE, MSG_COL_KEY}, {"time", TYPE_INT, UNIT_NS, 0},
    {"share", TYPE_REAL, UNIT_SHARE, 0},         {"used", TYPE_BOOL, UNIT_NONE, 0},
    {"address", TYPE_BIG, UNIT_NONE, 0},         {"never", TYPE_INT, UNIT_COUNT, 0},
};

static table *make_table(arena *a) {
    size_t row;
    table *t = table_new(a, "things", SPEC, 6);
    assert_non_null(t);
    assert_int_equal(table_add_row(t, &row, NULL), OK);
    table_set_text(t, row, 0, STR("vec<float, 4>::run*\"x\"|y"));
    table_set_int(t, row, 1, 15250);
    table_set_real(t, row, 2, 0.34);
    table_set_int(t, row, 3, 1);
    table_set_int(t, row, 4, INT64_MIN); /* 2^63: only right when read as unsigned */
    assert_int_equal(table_add_row(t, &row, NULL), OK);
    table_set_text(t, row, 0, STR("矩阵\nb\033[2J"));
    table_set_int(t, row, 1, -3);
    table_set_int(t, row, 3, 0);
    t->total_rows = 3;
    return t;
}

answer sample_answer(arena *a) {
    answer x = {.analysis = "sample"};
    x.source = (answer_source){.path = STR("a.json"),
                               .format = STR("kineto"),
                               .worker = STR("w0"),
                               .start_unix_ns = 1759104000000000001,
                               .duration_ns = 2000000};
    x.tables[0] = make_table(a);
    x.tables[1] = table_new(a, "empty", SPEC, 1);
    x.n_tables = 2;
    x.verdict = (verdict){.id = "late",
                          .message = MSG_TEXT_NOT_SHOWN,
                          .severity = SEVERITY_CRITICAL,
                          .n_args = 2,
                          .args = {arg_cstr("columns", "a"), arg_share("idle_share", 0.5)}};
    x.quality.events_read = 12;
    x.quality.dropped = ARENA_NEW(a, struct dropped);
    assert_non_null(x.quality.dropped);
    *x.quality.dropped = (struct dropped){
        .cause = "negative_duration", .message = MSG_CAUSE_NEGATIVE_DURATION, .count = 2};
    x.quality.n_dropped = 1;
    x.quality.links = ARENA_NEW(a, quality_link);
    assert_non_null(x.quality.links);
    *x.quality.links = (quality_link){"kernels with an operator", MSG_LINK_KERNEL_OP, 3, 4};
    x.quality.n_links = 1;
    return x;
}

const char *sample_written(arena *a, form f, const answer *x, const present_options *o) {
    buf b = {0};
    assert_int_equal(present_answer(f, x, o, &b, NULL), OK);
    str copy = arena_str(a, buf_str(&b));
    buf_fini(&b);
    assert_non_null(copy.p);
    return copy.p;
}
