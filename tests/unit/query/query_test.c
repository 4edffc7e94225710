/* query_test.c: results, functions, limits, and what is not allowed. */
#include <time.h>

#include "query_case.h"

#include "base/fault.h"
#include "base/num.h"

static void a_column_has_the_type_and_unit_of_its_values(void **state) {
    query_case c;
    case_open(&c, (query_options){0});
    const table *t = case_table(&c, "SELECT 1 AS a, 2.5 AS b, 'x' AS c, NULL AS d, "
                                    "x'0a1b' AS e, 7 AS total_ns, 8 AS some_bytes");
    assert_int_equal(t->columns[0].type, TYPE_INT);
    assert_int_equal(t->columns[1].type, TYPE_REAL);
    assert_int_equal(t->columns[2].type, TYPE_TEXT);
    assert_true(table_is_null(t, 0, 3));
    assert_true(str_eq(t->columns[4].v.s[0], STR("x'0a1b'")));
    assert_int_equal(t->columns[5].unit, UNIT_NS);
    assert_int_equal(t->columns[6].unit, UNIT_BYTES);
    t = case_table(&c, "SELECT 1 AS a UNION ALL SELECT 2.5 UNION ALL SELECT 'x'");
    assert_int_equal(t->columns[0].type, TYPE_TEXT);
    assert_true(str_eq(t->columns[0].v.s[1], STR("2.5")));
    t = case_table(&c, "SELECT id, s.dur AS d, parent, dur / 2 FROM slice s LIMIT 1");
    assert_int_equal(t->columns[0].unit, UNIT_SLICE);
    assert_int_equal(t->columns[1].unit, UNIT_NS);
    assert_int_equal(t->columns[3].unit, UNIT_NONE);
    case_close(&c);
}

static void each_statement_has_a_table(void **state) {
    query_case c;
    case_open(&c, (query_options){0});
    assert_int_equal(case_ask(&c, "SELECT 1; -- a comment\n SELECT 2 AS two;\n"), OK);
    assert_int_equal(c.answer.n_tables, 2);
    assert_string_equal(c.answer.tables[1]->name, "result_2");
    assert_int_equal(case_ask(&c, " -- nothing\n"), ERR_ARG);
    assert_int_equal(c.err.message, MSG_QUERY_EMPTY);
    case_close(&c);
}

static void a_word_with_a_dot_ends_with_its_line(void **state) {
    query_case c;
    case_open(&c, (query_options){0});
    assert_int_equal(case_ask(&c, "\n.help\n.schema step \nSELECT 1\n AS a; SELECT 2;\n.help;\n"
                                  ".quit\n.nothing\n"),
                     OK);
    static const char *const names[] = {"help", "schema", "result", "result_2", "help_2"};
    assert_int_equal(c.answer.n_tables, N_OF(names));
    for (uint32_t i = 0; i < c.answer.n_tables; i++)
        assert_string_equal(c.answer.tables[i]->name, names[i]);
    assert_int_equal(case_ask(&c, "SELECT 1\n.tables"), ERR_ARG); /* without its semicolon */
    case_close(&c);
}

static void assert_hint(query_case *c, const char *sql, uint16_t message, const char *near) {
    assert_int_equal(case_ask(c, sql), ERR_ARG);
    assert_int_equal(c->err.message, message);
    assert_string_equal(c->err.args[1].name, "near");
    assert_true(str_eq(c->err.args[1].u.text, str_of(near)));
}

static void an_unknown_name_is_answered_with_the_nearest(void **state) {
    query_case c;
    case_open(&c, (query_options){0});
    assert_hint(&c, "SELECT * FROM slcie", MSG_QUERY_NO_TABLE, "slice");
    assert_hint(&c, "SELECT * FROM operatrs('name')", MSG_QUERY_NO_TABLE, "operators");
    assert_hint(&c, "SELECT * FROM bananas", MSG_QUERY_NO_TABLE, "");
    assert_hint(&c, ".schema kernal", MSG_QUERY_NO_TABLE, "kernel");
    assert_hint(&c, "SELECT s.nmae FROM slice s", MSG_QUERY_NO_COLUMN, "name");
    assert_hint(&c, "SELECT host_totl FROM operators", MSG_QUERY_NO_COLUMN, "host_total");
    /* kernel has no such column, but another table has */
    assert_hint(&c, "SELECT host_total FROM kernel", MSG_QUERY_NO_COLUMN, "host_total");
    assert_hint(&c, "SELECT medain(dur) FROM slice", MSG_QUERY_NO_FUNCTION, "median");
    assert_hint(&c, ".tabels", MSG_QUERY_NO_WORD, ".tables");
    case_close(&c);
}

static void steps_that_do_not_exist_are_refused(void **state) {
    query_case c;
    case_open(&c, (query_options){0});
    assert_int_equal(case_ask(&c, "SELECT * FROM operators WHERE in_steps = '9'"), ERR_ARG);
    assert_int_equal(c.err.message, MSG_NO_SUCH_STEP);
    query *none = NULL;
    query_options nine = c.options;
    nine.params.first_step = nine.params.last_step = 9;
    assert_int_equal(query_open(&c.in, &nine, &none, &c.err), ERR_ARG);
    assert_null(none);
    case_close(&c);
}

static void functions_compute(void **state) {
    query_case c;
    case_open(&c, (query_options){0});
    assert_int_equal(case_int(&c, "SELECT overlap(0, 10, 5, 10)"), 5);
    assert_int_equal(case_int(&c, "SELECT overlaps(0, 10, 10, 10)"), 0);
    assert_int_equal(case_int(&c, "SELECT overlap(0, 10, NULL, 10) IS NULL"), 1);
    assert_int_equal(case_int(&c, "SELECT union_time(column1, column2) FROM "
                                  "(VALUES (20, 5), (0, 10), (5, 10), (NULL, 3), (30, -2))"),
                     20);
    assert_int_equal(case_int(&c, "SELECT median(column1) FROM (VALUES (1), (2), (9))"), 2);
    assert_int_equal(case_int(&c, "SELECT percentile(column1, 90) FROM "
                                  "(VALUES (0), (10), (20), (30), (NULL))"),
                     27);
    assert_int_equal(case_int(&c, "SELECT percentile(dur, 50) IS NULL FROM slice WHERE id < 0"),
                     1);
    assert_true(case_is_text(&c, "SELECT format_time(12500000)", "12.5 ms"));
    assert_true(case_is_text(&c, "SELECT format_bytes(1536)", "1.50 KiB"));
    assert_true(case_is_text(&c, "SELECT short_name('void a::k<int>(float)')", "a::k"));
    assert_true(case_is_text(&c,
                             "SELECT path(id) FROM slice WHERE name = 'child' AND step = 0 "
                             "AND track = 1 LIMIT 1",
                             "ProfilerStep#0 > op_2 > child"));
    /* Nothing was recorded. */
    assert_int_equal(case_int(&c, "SELECT count(stack(id)) + count(arg(id, 'x')) FROM slice"),
                     0);
    case_close(&c);
}

static void spans_that_overlap_are_joined(void **state) {
    static const char *const pairs =
        "SELECT a.id AS a, b.id AS b, overlap(a.start, a.dur, b.start, b.dur) AS ns "
        "FROM slice a JOIN slice b WHERE a.kind = 'kernel' AND b.kind = 'op' AND b.track = 2 "
        "AND a.step = 0 AND overlaps(a.start, a.dur, b.start, b.dur)";
    static const char *const joined =
        "FROM span_join('SELECT id, start, dur FROM slice WHERE kind = ''kernel'' AND "
        "step = 0'"
        ", 'SELECT id, start, dur FROM slice WHERE kind = ''op'' AND track = 2')";
    char sql[1024];
    query_case c;
    case_open(&c, (query_options){0});
    snprintf(sql, sizeof sql, "SELECT count(*), sum(ns), sum(a * b %% 1009) FROM (%s)", pairs);
    const table *slow = case_table(&c, sql);
    snprintf(sql, sizeof sql, "SELECT count(*), sum(dur), sum(a_id * b_id %% 1009) %s", joined);
    const table *fast = case_table(&c, sql);
    assert_true(slow->columns[0].v.i[0] > 10);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(slow->columns[i].v.i[0], fast->columns[i].v.i[0]);
    int64_t same = case_int(&c, "SELECT count(*) FROM span_join('slice', 'slice', 'track') "
                                "WHERE a_id = b_id");
    assert_int_equal(same, case_int(&c, "SELECT count(*) FROM slice WHERE dur > 0"));
    assert_int_equal(case_int(&c, "SELECT count(*) FROM span_join('kernel', 'step') "
                                  "WHERE b_id = 2"),
                     CASE_OPS);
    assert_int_equal(case_ask(&c, "SELECT * FROM span_join('slice')"), ERR_ARG);
    assert_int_equal(c.err.message, MSG_QUERY_SPAN_ARGUMENTS);
    assert_int_equal(case_ask(&c, "SELECT * FROM span_join('meta', 'slice')"), ERR_ARG);
    assert_int_equal(case_ask(&c, "SELECT * FROM span_join('SELECT 1 AS x', 'slice')"),
                     ERR_ARG);
    assert_int_equal(c.err.message, MSG_QUERY_SPAN_COLUMNS);
    case_close(&c);
}

static void analyses_are_tables(void **state) {
    query_case c;
    case_open(&c, (query_options){0});
    assert_int_equal(case_int(&c, "SELECT sum(calls) FROM kernels"), CASE_STEPS * CASE_OPS);
    assert_int_equal(case_int(&c, "SELECT sum(calls) FROM kernels('name+op')"),
                     CASE_STEPS * CASE_OPS);
    assert_int_equal(case_int(&c, "SELECT sum(calls) FROM kernels WHERE in_steps = '1..2'"),
                     2 * CASE_OPS);
    assert_int_equal(case_int(&c, "SELECT sum(calls) FROM kernels WHERE in_to = '1ms'"),
                     CASE_OPS);
    assert_int_equal(case_int(&c, "SELECT count(*) FROM steps"), CASE_STEPS);
    assert_int_equal(
        case_int(&c, "SELECT count(*) FROM slice s JOIN kernels k ON k.name = s.name"),
        CASE_STEPS * CASE_OPS);
    assert_int_equal(case_ask(&c, "SELECT * FROM kernels('nothing')"), ERR_ARG);
    assert_int_not_equal(c.err.message, MSG_QUERY_SQL);
    assert_int_equal(case_ask(&c, "SELECT * FROM diff"), ERR_ARG);
    case_close(&c);
}

static void only_reading_is_allowed(void **state) {
    static const char *const denied[] = {
        "CREATE TABLE x(a)",
        "CREATE TEMP VIEW x AS SELECT 1",
        "ATTACH 'x.db' AS x",
        "PRAGMA temp_store = 1",
        "PRAGMA hard_heap_limit = 1",
        "SELECT load_extension('x')",
        "INSERT INTO slice(name) VALUES ('x')",
        "DELETE FROM slice",
        "VACUUM INTO 'x.db'",
        "BEGIN",
        "DROP TABLE slice",
        "CREATE VIRTUAL TABLE x USING slice",
        "SELECT writable_schema FROM pragma_writable_schema",
    };
    query_case c;
    case_open(&c, (query_options){0});
    for (size_t i = 0; i < N_OF(denied); i++)
        if (case_ask(&c, denied[i]) != ERR_ARG) fail_msg("%s", denied[i]);
    assert_int_equal(case_ask(&c, "CREATE TABLE x(a)"), ERR_ARG);
    assert_int_equal(c.err.message, MSG_QUERY_READ_ONLY);
    assert_true(case_int(&c, "SELECT count(*) FROM pragma_table_info('slice')") > 5);
    assert_int_equal(case_int(&c, "SELECT sum(value) FROM json_each('[1, 2, 3]')"), 6);
    case_close(&c);
}

static void a_mistake_has_a_place(void **state) {
    query_case c;
    case_open(&c, (query_options){0});
    assert_int_equal(case_ask(&c, "SELECT 1; SELECT nobody FROM slice"), ERR_ARG);
    assert_int_equal(c.err.message, MSG_QUERY_NO_COLUMN);
    assert_int_equal(c.err.offset, 17);
    assert_int_equal(case_ask(&c, "SELECT 1; SELECT 2 FRM slice x"), ERR_ARG);
    assert_int_equal(c.err.message, MSG_QUERY_SQL);
    assert_int_equal(c.err.offset, 23);
    case_close(&c);
}

static void an_analysis_for_each_row_has_the_limit_too(void **state) {
    query_case c;
    case_open(&c, (query_options){.limit_bytes = 2 << 20});
    assert_int_equal(
        case_ask(&c,
                 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000) "
                 "SELECT count(*) FROM n, operators WHERE in_to = n.i"),
        ERR_LIMIT);
    assert_int_equal(c.err.message, MSG_QUERY_MEMORY);
    case_close(&c);
}

static bool has_left(const void *context) {
    return ++*(int *)(uintptr_t)context > 1;
}

static void an_abandoned_question_ends(void **state) {
    query_case c;
    int n_looks = 0;
    case_open(&c, (query_options){.is_left = has_left, .context = &n_looks});
    assert_int_equal(case_ask(&c, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
                                  "FROM n) SELECT max(i) FROM n"),
                     ERR_LIMIT);
    assert_int_equal(n_looks, 2);
    case_close(&c);
}

static void a_question_takes_no_more_than_it_may(void **state) {
    query_case c;
    case_open(&c,
              (query_options){.limit_ns = 20000000, .limit_bytes = 8 << 20, .limit_rows = 10});
    assert_int_equal(case_ask(&c, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
                                  "FROM n) SELECT max(i) FROM n"),
                     ERR_LIMIT);
    assert_int_equal(c.err.message, MSG_QUERY_TIME);
    assert_int_equal(case_ask(&c, "SELECT hex(zeroblob(400000)) FROM slice ORDER BY 1"),
                     ERR_LIMIT);
    assert_int_equal(c.err.message, MSG_QUERY_MEMORY);
    assert_int_equal(case_table(&c, "SELECT id FROM slice")->n_rows, 10);
    assert_int_equal(c.answer.quality.notes[c.answer.quality.n_notes - 1].message,
                     MSG_QUERY_CUT);
    assert_int_equal(case_int(&c, "SELECT 1"), 1); /* and continues */
    case_close(&c);
}

/* Each is one call of one function, which SQLite does not leave before it is done. */
static void a_single_call_takes_no_more_than_it_may(void **state) {
    static const char *const endless[] = {
        "SELECT printf('%.*c%.*c', 2147483647, 'x', 2147483647, 'x')",
        "SELECT format('%.2147483647c', 'x')",
        "SELECT printf('%.*c%.*c', 4294967296 + 900000, 'x', -900000, 'x')",
        "SELECT printf(replace(hex(zeroblob(2000)), '0', '%.1000000c'))",
        "SELECT instr(hex(zeroblob(500000)), hex(zeroblob(250000)) || '1')",
        "SELECT replace(hex(zeroblob(500000)), hex(zeroblob(250000)) || '1', '')",
        "SELECT trim(hex(zeroblob(500000)), replace(hex(zeroblob(250000)), '0', 'a') || '0')",
        "SELECT name FROM slice WHERE name LIKE hex(zeroblob(1000))",
        "SELECT json_patch('{}' || hex(zeroblob(500000)), '{}' || hex(zeroblob(250000)))",
    };
    query_case c;
    case_open(&c, (query_options){.limit_ns = 10000000000});
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
        clock_t before = clock();
        if (case_ask(&c, endless[i]) != ERR_ARG) fail_msg("%s: it is answered", endless[i]);
        if (clock() - before > CLOCKS_PER_SEC * 4) fail_msg("%s: it takes long", endless[i]);
    }
    case_close(&c);
}

static void calls_in_a_row_end_with_the_time(void **state) {
    query_case c;
    buf sql = {0};
    case_open(&c, (query_options){.limit_ns = 50000000});
    buf_add_cstr(&sql, "WITH x AS MATERIALIZED (SELECT hex(zeroblob(500000)) AS a) SELECT 1");
    for (int i = 0; i < 150; i++) buf_printf(&sql, " + (a LIKE '%%%0200d%d')", 0, i);
    buf_add_cstr(&sql, " FROM x");
    buf_add_byte(&sql, 0);
    clock_t before = clock();
    assert_int_equal(case_ask(&c, sql.p), ERR_LIMIT);
    assert_int_equal(c.err.message, MSG_QUERY_TIME);
    assert_true(clock() - before < CLOCKS_PER_SEC * 4);
    buf_clear(&sql);
    buf_add_cstr(&sql, "SELECT 1");
    for (int i = 0; i < 1100; i++) buf_printf(&sql, "%s abs(%d)", i % 100 ? " +" : ",", i);
    buf_add_byte(&sql, 0);
    assert_int_equal(case_ask(&c, sql.p), ERR_LIMIT);
    assert_int_equal(c.err.message, MSG_QUERY_LONG);
    assert_int_equal(case_int(&c, "SELECT abs(-1)"), 1); /* and continues */
    buf_fini(&sql);
    case_close(&c);
}

static void functions_say_the_same_with_a_limit_of_time(void **state) {
    static const char *const asked[] = {
        "printf('%5.2f %-10s|%c%%|%*d|%.*f|%s', 3.14159, 'ab', 'xyz', 5, 42, 1, 2.55, 7)",
        "format('%d %x %Q %q %,d %n%d', 7, 255, 'it''s', 'a''b', 1234567, 8)",
        "printf('%s')",
        "printf(NULL)",
        "printf()",
        "instr('hello', 'l')",
        "instr(NULL, 'l')",
        "instr('日本語', '語')",
        "instr(x'0102', x'02')",
        "replace('aXbX', 'X', '--')",
        "replace('a', '', 'b')",
        "trim('xxaxx', 'x') || ltrim('xxaxx', 'x') || rtrim('xxaxx', 'x') || trim('  b ')",
        "trim('日a日', '日')",
        "'Abc' LIKE 'a_C'",
        "'a%c' LIKE 'a!%c' ESCAPE '!'",
        "'abc' LIKE 'a!%c' ESCAPE '!'",
        "'Ä' LIKE 'ä'",
        "'ÄÖ' LIKE '_ö'",
        "12345 LIKE '%34%'",
        "NULL LIKE 'a'",
        "'abc' GLOB 'a[b-d]?'",
        "'Abc' GLOB 'a*'",
        "json_patch('{\"a\":1}', '{\"b\":2}')",
        "json_patch('{', '{}')",
        "like('a%', 'abc') + glob('a*', 'abc')",
        "'a' LIKE 'a' ESCAPE 'xy'",
    };
    query_case c, limited;
    case_open(&c, (query_options){0});
    case_open(&limited, (query_options){.limit_ns = 10000000000});
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        char sql[256];
        snprintf(sql, sizeof sql, "SELECT quote(%s) AS said", asked[i]);
        status wanted = case_ask(&c, sql), got = case_ask(&limited, sql);
        if (wanted != got) fail_msg("%s: %d, not %d", sql, got, wanted);
        bool same = wanted == OK ? str_eq(limited.answer.tables[0]->columns[0].v.s[0],
                                          c.answer.tables[0]->columns[0].v.s[0])
                                 : str_eq(limited.err.args[0].u.text, c.err.args[0].u.text);
        if (!same) fail_msg("%s: it differs", sql);
    }
    case_close(&limited);
    case_close(&c);
}

static void tables_columns_and_examples_are_listed(void **state) {
    query_case c;
    case_open(&c, (query_options){0});
    const table *t = case_table(&c, ".tables");
    bool slice = false, overview = false;
    for (size_t row = 0; row < t->n_rows; row++) {
        slice |= str_eq(t->columns[0].v.s[row], STR("slice"));
        overview |= str_eq(t->columns[0].v.s[row], STR("overview_steps"));
    }
    assert_true(slice && overview);
    assert_true(case_table(&c, ".schema kernel;")->n_rows > 20);
    assert_true(case_table(&c, ".schema operators")->n_rows > 20);
    assert_int_equal(case_ask(&c, ".schema nobody"), ERR_ARG);
    assert_int_equal(case_ask(&c, ".nothing"), ERR_ARG);
    t = case_table(&c, ".examples");
    assert_true(t->n_rows >= 20);
    for (uint32_t i = 0; query_example_at(i); i++)
        (void)case_table(&c, query_example_at(i)->sql);
    assert_non_null(query_word(c.q, 0));
    case_close(&c);
}

/* All tables can be read whole, and no column of them fails. */
static void every_table_can_be_read(void **state) {
    char sql[256];
    query_case c;
    case_open(&c, (query_options){.limit_rows = 20});
    const table *t = case_table(&c, ".tables");
    for (size_t row = 0; row < t->n_rows; row++) {
        str name = t->columns[0].v.s[row];
        if (str_eq(name, STR("span_join"))) continue;
        snprintf(sql, sizeof sql, "SELECT * FROM \"%.*s\"", STR_ARG(name));
        (void)case_table(&c, sql);
    }
    case_close(&c);
}

static void a_statement_is_whole_at_its_semicolon(void **state) {
    assert_false(query_is_whole(STR("SELECT 1")));
    assert_true(query_is_whole(STR("SELECT 1;\n")));
    assert_false(query_is_whole(STR("SELECT ';'")));
    assert_true(query_is_whole(STR(".tables")));
}

/* False when there is no nth allocation. */
static bool ask_with_fault(query_case *c, const char *sql, uint64_t nth) {
    query *q = NULL;
    arena a;
    answer out;
    error err = {0};
    arena_init(&a, 0);
    if (!sql) fault_arm(FAULT_ALLOC, nth);
    status s = query_open(&c->in, &c->options, &q, &err);
    if (sql) fault_arm(FAULT_ALLOC, nth);
    if (sql) s = query_ask(q, str_of(sql), &a, &out, &err);
    bool hit = fault_count(FAULT_ALLOC) >= nth;
    fault_arm(FAULT_ALLOC, 0);
    if (s != OK && (s != ERR_MEMORY || !hit))
        fail_msg("%s, allocation %llu: %d, message %u", sql ? sql : "open",
                 (unsigned long long)nth, s, err.message);
    query_close(q);
    arena_fini(&a);
    return hit;
}

/* Each allocation fails once, SQLite's too: the answer is out of memory, or right. */
static void every_allocation_may_fail(void **state) {
    static const char *const sql[] = {
        "SELECT name, count(*), union_time(start, dur), percentile(dur, 90) FROM slice "
        "WHERE name LIKE 'op%' AND id < 50 GROUP BY name ORDER BY 2 DESC",
        "SELECT c.id, path(c.id) FROM slice p JOIN slice c ON c.parent = p.id WHERE p.id < 5",
        "SELECT sum(dur) FROM span_join('step', 'step')",
        "SELECT name, calls FROM kernels('name') LIMIT 3",
        ".schema step",
    };
    query_case c;
    case_open(&c, (query_options){0});
    query_close(c.q);
    /* The opening itself first, then each question after one that went well. */
    for (size_t i = 0; i <= N_OF(sql); i++)
        for (uint64_t nth = 1; ask_with_fault(&c, i ? sql[i - 1] : NULL, nth); nth++) {}
    c.q = NULL;
    case_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_column_has_the_type_and_unit_of_its_values),
        cmocka_unit_test(each_statement_has_a_table),
        cmocka_unit_test(a_word_with_a_dot_ends_with_its_line),
        cmocka_unit_test(an_unknown_name_is_answered_with_the_nearest),
        cmocka_unit_test(steps_that_do_not_exist_are_refused),
        cmocka_unit_test(functions_compute),
        cmocka_unit_test(spans_that_overlap_are_joined),
        cmocka_unit_test(analyses_are_tables),
        cmocka_unit_test(only_reading_is_allowed),
        cmocka_unit_test(a_mistake_has_a_place),
        cmocka_unit_test(a_question_takes_no_more_than_it_may),
        cmocka_unit_test(an_analysis_for_each_row_has_the_limit_too),
        cmocka_unit_test(an_abandoned_question_ends),
        cmocka_unit_test(a_single_call_takes_no_more_than_it_may),
        cmocka_unit_test(calls_in_a_row_end_with_the_time),
        cmocka_unit_test(functions_say_the_same_with_a_limit_of_time),
        cmocka_unit_test(tables_columns_and_examples_are_listed),
        cmocka_unit_test(every_table_can_be_read),
        cmocka_unit_test(a_statement_is_whole_at_its_semicolon),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
