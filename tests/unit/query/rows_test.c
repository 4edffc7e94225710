/* rows_test.c: conditions and order that are pushed down give what SQLite would give, and look
 * at few rows. A + before a column keeps SQLite from pushing it. */
#include "query_case.h"

#include "base/num.h"

static void conditions_give_the_rows_that_SQLite_would_find(void **state) {
    static const char *const cases[][3] = {
        {"slice", "%sid = 77", "id"},
        {"slice", "%sid > 77 AND %sid <= 90", "id"},
        {"slice", "%sid < -5", "id"},
        {"slice", "%sid >= 77.5 AND %sid < 90.25", "id"},
        {"slice", "%strack = 2", "id"},
        {"slice", "%strack = 99", "id"},
        {"slice", "%strack = 2 AND %sstart >= 1000000 AND %sstart < 1200000", "id"},
        {"slice", "%sstart > 1000000 AND %sstart <= 1100000", "id"},
        {"slice", "%sstart = 1000000", "id"},
        {"slice", "%sstart BETWEEN 5 AND 3", "id"},
        {"slice", "%sstart >= 1000000 AND %sid < 900", "id"},
        {"slice", "%sname = 'child'", "id"},
        {"slice", "%sname = 'nobody'", "id"},
        {"slice", "%sname <> 'child' AND %sdepth = 1", "id"},
        {"slice", "%sname LIKE 'OP_1%%'", "id"},
        {"slice", "%sname GLOB 'op_1?'", "id"},
        {"slice", "%sname = 'child' COLLATE NOCASE", "id"},
        {"slice", "%skind = 'kernel'", "id"},
        {"slice", "%skind IN ('kernel', 'step') AND %sdur > 2000", "id"},
        {"slice", "%skind <> 'op'", "id"},
        {"slice", "%skind LIKE 'k%%'", "id"},
        {"slice", "%sparent IS NULL", "id"},
        {"slice", "%sparent IS NOT NULL AND %sstep = 2", "id"},
        {"slice", "%sparent = 3", "id"},
        {"slice", "%sdur > 3001.5", "id"},
        {"slice", "%sdur > NULL", "id"},
        {"slice", "%sdur < 'text'", "id"},
        {"slice", "%sdur = x'00'", "id"},
        {"slice", "%sname = x'00'", "id"},
        {"slice", "%strack_name IS NULL", "id"},
        {"kernel", "%sslice > 100 AND %sslice < 300", "id"},
        {"kernel", "%sname = 'kernel_3' AND %sstep = 1", "id"},
        {"kernel", "%soccupancy IS NULL", "id"},
        {"kernel", "%soccupancy > 0.5", "id"},
        {"step", "%snumber >= 2", "id"},
        {"track", "%skind = 'thread'", "id"},
    };
    query_case c;
    case_open(&c, (query_options){0});
    for (size_t i = 0; i < N_OF(cases); i++) {
        char pushed[512], kept[512], condition[256];
        const char *ways[] = {"", "+"};
        char *out[] = {pushed, kept};
        for (int way = 0; way < 2; way++) {
            const char *w = ways[way];
            snprintf(condition, sizeof condition, cases[i][1], w, w, w);
            snprintf(out[way], 512,
                     "SELECT group_concat(%s) || '' FROM (SELECT %s FROM %s "
                     "WHERE %s ORDER BY +id)",
                     cases[i][2], cases[i][2], cases[i][0], condition);
        }
        const table *a = case_table(&c, pushed), *b = case_table(&c, kept);
        bool null_a = table_is_null(a, 0, 0), null_b = table_is_null(b, 0, 0);
        if (null_a != null_b ||
            (!null_a && !str_eq(a->columns[0].v.s[0], b->columns[0].v.s[0])))
            fail_msg("%s", pushed);
    }
    case_close(&c);
}

/* All of a statement's rows as one text, in their order. */
static str rows_as_text(query_case *c, const char *sql, arena *a) {
    const table *t = case_table(c, sql);
    buf out = {0};
    for (size_t row = 0; row < t->n_rows; row++)
        for (uint32_t i = 0; i < t->n_columns; i++) {
            const column *k = &t->columns[i];
            if (table_is_null(t, row, i))
                buf_add_cstr(&out, "NULL ");
            else if (k->type == TYPE_TEXT)
                buf_printf(&out, "%.*s ", STR_ARG(k->v.s[row]));
            else
                buf_printf(&out, "%lld ", (long long)k->v.i[row]);
        }
    str kept = arena_str(a, buf_str(&out));
    buf_fini(&out);
    return kept;
}

static void order_and_groups_are_those_that_SQLite_would_make(void **state) {
    static const char *const cases[][2] = {
        {"SELECT id FROM slice ORDER BY id DESC", "SELECT id FROM slice ORDER BY +id DESC"},
        {"SELECT id FROM slice ORDER BY track, start",
         "SELECT id FROM slice ORDER BY +track, +start, -dur, id"},
        {"SELECT start FROM slice WHERE track = 2 ORDER BY start DESC",
         "SELECT start FROM slice WHERE track = 2 ORDER BY +start DESC"},
        {"SELECT start FROM slice ORDER BY start", "SELECT start FROM slice ORDER BY +start"},
        {"SELECT id FROM slice WHERE start > 2000000 ORDER BY id DESC",
         "SELECT id FROM slice WHERE +start > 2000000 ORDER BY +id DESC"},
        {"SELECT name, count(*), sum(dur) FROM slice GROUP BY name ORDER BY name",
         "SELECT +name, count(*), sum(dur) FROM slice GROUP BY +name ORDER BY +name"},
        {"SELECT name, count(*) FROM slice GROUP BY name ORDER BY name DESC",
         "SELECT +name, count(*) FROM slice GROUP BY +name ORDER BY +name DESC"},
        {"SELECT parent_name, count(*) FROM slice GROUP BY parent_name ORDER BY parent_name",
         "SELECT +parent_name, count(*) FROM slice GROUP BY +parent_name ORDER BY "
         "+parent_name"},
        {"SELECT kind, min(start) FROM slice WHERE step = 1 GROUP BY kind ORDER BY kind",
         "SELECT +kind, min(start) FROM slice WHERE +step = 1 GROUP BY +kind ORDER BY +kind"},
        {"SELECT DISTINCT name FROM slice ORDER BY name",
         "SELECT DISTINCT +name FROM slice ORDER BY 1"},
        {"SELECT name FROM kernel ORDER BY name", "SELECT name FROM kernel ORDER BY +name"},
        {"SELECT slice FROM kernel ORDER BY slice DESC LIMIT 5",
         "SELECT slice FROM kernel ORDER BY +slice DESC LIMIT 5"},
        {"SELECT c.id FROM slice p JOIN slice c ON c.parent = p.id ORDER BY c.id",
         "SELECT id FROM slice WHERE parent IS NOT NULL ORDER BY +id"},
        {"SELECT sum(k.dur), s.name FROM slice s JOIN kernel k ON k.slice = s.id GROUP BY "
         "s.name "
         "ORDER BY s.name",
         "SELECT sum(dur), +name FROM kernel GROUP BY +name ORDER BY 2"},
    };
    query_case c;
    arena a;
    arena_init(&a, 0);
    case_open(&c, (query_options){0});
    for (size_t i = 0; i < N_OF(cases); i++) {
        str pushed = rows_as_text(&c, cases[i][0], &a);
        str sorted = rows_as_text(&c, cases[i][1], &a);
        if (!pushed.n || !str_eq(pushed, sorted)) fail_msg("%s", cases[i][0]);
    }
    case_close(&c);
    arena_fini(&a);
}

static void few_rows_are_looked_at(void **state) {
    static const struct {
        const char *sql;
        uint64_t most;
    } cases[] = {
        {"SELECT name FROM slice WHERE id = 1234", 1},
        {"SELECT name FROM slice WHERE rowid = 1234", 1},
        {"SELECT name FROM slice WHERE id BETWEEN 100 AND 120", 21},
        {"SELECT count(*) FROM slice WHERE track = 2 AND start BETWEEN 1000000 AND 1040000",
         20},
        {"SELECT count(*) FROM slice WHERE start BETWEEN 1000000 AND 1040000", 60},
        {"SELECT count(*) FROM kernel WHERE slice = 5000", 1},
        {"SELECT count(*) FROM slice WHERE parent = 3", 2},
        {"SELECT id FROM slice ORDER BY id DESC LIMIT 3", 4},
        {"SELECT start FROM slice WHERE track = 3 ORDER BY start LIMIT 3", 4},
        {"SELECT count(*) FROM kernel k JOIN slice s ON s.id = k.slice", 2000},
        /* One scan for the first parent, then the index. */
        {"SELECT count(*) FROM slice p JOIN slice c ON c.parent = p.id", 15000},
    };
    query_case c;
    case_open(&c, (query_options){0});
    for (size_t i = 0; i < N_OF(cases); i++) {
        uint64_t before = query_rows_seen(c.q);
        (void)case_table(&c, cases[i].sql);
        uint64_t seen = query_rows_seen(c.q) - before;
        if (seen > cases[i].most || !seen)
            fail_msg("%s: %llu rows", cases[i].sql, (unsigned long long)seen);
    }
    case_close(&c);
}

static void a_window_and_steps_cut_the_tables(void **state) {
    query_case c;
    query_options o = {.params = PARAMS_WHOLE};
    o.params.first_step = o.params.last_step = 2;
    case_open(&c, o);
    assert_int_equal(case_int(&c, "SELECT count(*) FROM kernel"), CASE_OPS);
    assert_int_equal(case_int(&c, "SELECT count(DISTINCT step) FROM slice"), 1);
    assert_int_equal(case_int(&c, "SELECT count(*) FROM step"), 1);
    case_close(&c);
    o.params = (params)PARAMS_WHOLE;
    o.params.from_ns = 1000000;
    o.params.to_ns = 1004000;
    case_open(&c, o);
    assert_int_equal(case_int(&c, "SELECT count(*) FROM kernel"), 1);
    case_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_give_the_rows_that_SQLite_would_find),
        cmocka_unit_test(order_and_groups_are_those_that_SQLite_would_make),
        cmocka_unit_test(few_rows_are_looked_at),
        cmocka_unit_test(a_window_and_steps_cut_the_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
