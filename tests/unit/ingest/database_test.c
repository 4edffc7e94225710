/* database_test.c: rows of whole, hostile and damaged databases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "ingest/sqlite/database.h"
#include "unit/ingest/made_database.h"
#include "unit/ingest/read_helper.h"

/* A table of 1,000 rows over many pages, with a row for each number. */
#define MANY                                                                        \
    "CREATE TABLE t(id INTEGER PRIMARY KEY, v INTEGER, s TEXT);"                    \
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 1000) " \
    "INSERT INTO t SELECT i, i*10, printf('%0100d', i) FROM n;"

typedef struct {
    builder *b;
    part *p;
    source *src;
    ingest_options o;
    database *d;
    error err;
    status st;
} opened;

static opened *open_source(opened *x) {
    x->b = builder_new();
    x->p = builder_part(x->b);
    x->st = database_open(x->src, &x->o, x->b, x->p, &x->d, &x->err);
    return x;
}

static opened *open_bytes(opened *x, str bytes) {
    *x = (opened){0};
    assert_int_equal(source_open_memory(bytes, &x->src, NULL), OK);
    return open_source(x);
}

static void close_all(opened *x) {
    database_close(x->d);
    source_close(x->src);
    builder_free(x->b);
}

static const char *const COLUMNS[] = {"v", "nowhere", "s"};

/* Sum of v, and how many rows. */
static int64_t add_up(opened *x, const char *table, uint64_t *n_rows) {
    db_rows rows;
    int64_t sum = 0;
    *n_rows = 0;
    assert_int_equal(db_select(x->d, str_of(table), COLUMNS, 3, &rows, &x->err), OK);
    while (db_next(&rows)) {
        sum += db_int(&rows, 0, 0);
        assert_false(db_has(&rows, 1));
        ++*n_rows;
    }
    assert_int_equal(db_done(&rows, &x->err), OK);
    return sum;
}

static void test_rows(void **state) {
    (void)state;
    opened x;
    buf file = make_database("CREATE TABLE \"a \"\" b\"(v, s); INSERT INTO \"a \"\" b\" VALUES"
                             "(5,'text'),(2.9,x'00ff'),(NULL,NULL),('9',1);");
    db_rows r;
    open_bytes(&x, buf_str(&file));
    assert_int_equal(x.st, OK);
    assert_int_equal(database_n_tables(x.d), 1);
    assert_true(str_eq(database_table(x.d, 0), STR("a \" b")));
    assert_int_equal(db_select(x.d, STR("a \" b"), COLUMNS, 3, &r, &x.err), OK);
    assert_true(db_next(&r));
    assert_int_equal(db_int(&r, 0, -1), 5);
    assert_true(str_eq(db_text(&r, 2), STR("text")));
    assert_true(db_next(&r));
    assert_int_equal(db_int(&r, 0, -1), 2);
    assert_float_equal(db_real(&r, 0), 2.9, 1e-9);
    assert_true(str_eq(db_text(&r, 2), STR("\0\xff")));
    assert_true(db_next(&r));
    assert_false(db_has(&r, 0));
    assert_int_equal(db_int(&r, 0, -1), -1);
    assert_true(isnan(db_real(&r, 0)));
    assert_int_equal(db_text(&r, 2).n, 0);
    assert_true(db_next(&r));
    assert_int_equal(db_int(&r, 0, -1), -1); /* a text is not a number */
    assert_int_equal(db_row_id(&r), 4);
    assert_false(db_next(&r));
    assert_int_equal(db_done(&r, &x.err), OK);
    close_all(&x);
    buf_fini(&file);
}

typedef struct {
    int64_t sum, last_id;
    uint64_t n_rows, bytes, stop_at;
} sums;

static status take_sum(void *context, db_rows *row) {
    sums *s = context;
    assert_false(db_has(row, 1));
    assert_int_equal(db_int(row, 1, -7), -7);
    s->sum += db_int(row, 0, 0);
    s->bytes += db_text(row, 2).n;
    s->last_id = db_row_id(row);
    return ++s->n_rows == s->stop_at ? ERR_MEMORY : OK;
}

static status give_all(opened *x, const char *table, sums *out) {
    const db_table t = {str_of(table), COLUMNS, 3};
    return db_each_row(x->d, &t, take_sum, out, &x->err);
}

/* One by one and given as a whole: the same rows, and the same losses again. */
static void check_given(opened *x, const char *table, int64_t sum, uint64_t n_rows) {
    sums all = {0};
    int64_t lost = part_loss_count(x->p, CAUSE_DATABASE_DAMAGED);
    assert_int_equal(give_all(x, table, &all), OK);
    assert_int_equal(all.n_rows, n_rows);
    assert_int_equal(all.sum, sum);
    assert_int_equal(part_loss_count(x->p, CAUSE_DATABASE_DAMAGED), 2 * lost);
}

/* An index that has all of the columns has another order than the table. */
static void test_all_rows(void **state) {
    (void)state;
    opened x;
    buf file = make_database(MANY "CREATE INDEX i ON t(s DESC, v);");
    sums all = {0}, some = {.stop_at = 10};
    open_bytes(&x, buf_str(&file));
    assert_int_equal(give_all(&x, "t", &all), OK);
    assert_int_equal(all.n_rows, 1000);
    assert_int_equal(all.sum, 5005000);
    assert_int_equal(all.bytes, 100000);
    assert_int_equal(all.last_id, 1000);
    assert_int_equal(give_all(&x, "t", &some), ERR_MEMORY); /* no row after the one refused */
    assert_int_equal(some.n_rows, 10);
    assert_int_equal(give_all(&x, "elsewhere", &all), OK);
    assert_int_equal(all.n_rows, 1000);
    assert_int_equal(part_loss_count(x.p, CAUSE_DATABASE_DAMAGED), 0);
    close_all(&x);
    buf_fini(&file);
}

static void test_rows_of_one_number(void **state) {
    (void)state;
    opened x;
    db_rows r;
    static const char *const nowhere[] = {"nowhere"};
    buf file = make_database("CREATE TABLE t(v, s); INSERT INTO t VALUES"
                             "(7,'a'),(8,'b'),(NULL,'c'),(7,'d'),('7','e');");
    open_bytes(&x, buf_str(&file));
    assert_int_equal(db_select_only(x.d, STR("t"), COLUMNS, 3, 7, &r, &x.err), OK);
    assert_true(db_next(&r));
    assert_true(str_eq(db_text(&r, 2), STR("a")));
    assert_true(db_next(&r));
    assert_true(str_eq(db_text(&r, 2), STR("d")));
    assert_int_equal(db_row_id(&r), 4);
    assert_false(db_next(&r));
    assert_int_equal(db_done(&r, &x.err), OK);
    assert_int_equal(db_select_only(x.d, STR("t"), nowhere, 1, 7, &r, &x.err), OK);
    assert_false(db_next(&r)); /* no such column: no row has the number */
    assert_int_equal(db_done(&r, &x.err), OK);
    assert_int_equal(part_loss_count(x.p, CAUSE_DATABASE_DAMAGED), 0);
    close_all(&x);
    buf_fini(&file);
}

static void test_absent_table(void **state) {
    (void)state;
    opened x;
    uint64_t n;
    buf file = make_database("CREATE TABLE t(v)");
    open_bytes(&x, buf_str(&file));
    assert_int_equal(add_up(&x, "elsewhere", &n), 0);
    assert_int_equal(n, 0);
    assert_int_equal(part_loss_count(x.p, CAUSE_DATABASE_DAMAGED), 0);
    close_all(&x);
    buf_fini(&file);
}

/* Views and virtual tables are not tables. */
static void test_schema_runs_nothing(void **state) {
    (void)state;
    opened x;
    uint64_t n;
    buf file = make_database(
        "CREATE TABLE t(v INTEGER); INSERT INTO t VALUES(1);"
        "CREATE VIEW w AS SELECT v FROM t; CREATE VIRTUAL TABLE f USING fts5(v);");
    open_bytes(&x, buf_str(&file));
    assert_true(database_has(x.d, STR("t")));
    assert_false(database_has(x.d, STR("w")));
    assert_false(database_has(x.d, STR("f")));
    assert_int_equal(add_up(&x, "w", &n), 0);
    assert_int_equal(n, 0);
    assert_int_equal(add_up(&x, "t", &n), 1);
    assert_int_equal(part_loss_count(x.p, CAUSE_DATABASE_DAMAGED), 0);
    close_all(&x);
    buf_fini(&file);
}

/* Pages in the middle are overwritten: rows before and after are there, the others counted. */
static void test_damaged_pages(void **state) {
    (void)state;
    opened x;
    uint64_t n;
    buf file = make_database(MANY);
    size_t page = 4096;
    memset(file.p + 10 * page, 0x5a, 3 * page);
    open_bytes(&x, buf_str(&file));
    int64_t sum = add_up(&x, "t", &n);
    assert_true(n > 700 && n < 1000);
    assert_true(sum > 0);
    assert_int_equal(part_loss_count(x.p, CAUSE_DATABASE_DAMAGED), 1000 - n);
    check_given(&x, "t", sum, n);
    close_all(&x);
    buf_fini(&file);
}

static void test_cut(void **state) {
    (void)state;
    uint64_t n_before = 0, n;
    buf file = make_database(MANY);
    for (size_t size = 3 * 4096; size < file.n; size += 4096 + 17) {
        opened x;
        open_bytes(&x, str_n(file.p, size));
        assert_int_equal(x.st, OK);
        int64_t sum = add_up(&x, "t", &n);
        assert_true(n >= n_before && n < 1000);
        assert_int_equal(part_loss_count(x.p, CAUSE_TRUNCATED), 1);
        assert_true(part_loss_count(x.p, CAUSE_DATABASE_DAMAGED) > 0);
        check_given(&x, "t", sum, n);
        n_before = n;
        close_all(&x);
    }
    assert_true(n_before > 700);
    buf_fini(&file);
}

/* Every byte of the head and of a page of the tree wrong in turn: refused or read, no more. */
static void test_any_byte(void **state) {
    (void)state;
    uint64_t n;
    buf file = make_database(MANY);
    for (size_t at = 16; at < 2 * 4096; at += at < 128 ? 1 : 97) {
        opened x;
        char was = file.p[at];
        file.p[at] = (char)~was;
        open_bytes(&x, buf_str(&file));
        if (x.st == OK) {
            add_up(&x, "t", &n);
            assert_true(n <= file.n);
        } else {
            assert_int_equal(x.st, ERR_FORMAT);
            assert_int_equal(x.err.message, MSG_DATABASE_DAMAGED);
        }
        file.p[at] = was;
        close_all(&x);
    }
    buf_fini(&file);
}

static void test_not_one(void **state) {
    (void)state;
    opened x;
    assert_true(database_head(STR("SQLite format 3\0.")));
    assert_false(database_head(STR("SQLite format 3.")));
    open_bytes(&x, STR("SQLite format 3\0 and no more"));
    assert_int_equal(x.st, ERR_FORMAT);
    close_all(&x);
}

/* A file whose name is not a valid URI, and one in the mode of a journal ahead. */
static void test_file(void **state) {
    (void)state;
    opened x = {0};
    uint64_t n;
    char path[] = "/tmp/tacho 100%?#.XXXXXX";
    buf file = make_database(MANY);
    int fd = mkstemp(path);
    file.p[18] = file.p[19] = 2;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, file.p, file.n), file.n);
    close(fd);
    assert_int_equal(source_open(path, &x.src, NULL), OK);
    x.o.path = path;
    assert_int_equal(open_source(&x)->st, OK);
    assert_int_equal(add_up(&x, "t", &n), 5005000);
    assert_int_equal(n, 1000);
    close_all(&x);
    open_bytes(&x, buf_str(&file));
    assert_int_equal(add_up(&x, "t", &n), 5005000);
    close_all(&x);
    unlink(path);
    buf_fini(&file);
}

static bool stop(void *context, uint64_t done, uint64_t total) {
    (void)context;
    return done * 2 > total;
}

static void test_limits(void **state) {
    (void)state;
    opened x = {0};
    buf file = make_database(MANY);
    assert_int_equal(source_open_memory(buf_str(&file), &x.src, NULL), OK);
    x.o.memory_limit_bytes = 8192;
    assert_int_equal(open_source(&x)->st, ERR_LIMIT);
    assert_int_equal(x.err.message, MSG_MEMORY_LIMIT);
    close_all(&x);
    x = (opened){.o = {.progress = stop}};
    assert_int_equal(source_open_memory(buf_str(&file), &x.src, NULL), OK);
    open_source(&x);
    if (x.st == OK) {
        db_rows r;
        assert_int_equal(db_select(x.d, STR("t"), COLUMNS, 3, &r, &x.err), OK);
        while (db_next(&r)) (void)0;
        x.st = db_done(&r, &x.err);
    }
    assert_int_equal(x.st, ERR_CANCELLED);
    close_all(&x);
    buf_fini(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_all_rows),
        cmocka_unit_test(test_rows_of_one_number),
        cmocka_unit_test(test_absent_table),
        cmocka_unit_test(test_schema_runs_nothing),
        cmocka_unit_test(test_damaged_pages),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_any_byte),
        cmocka_unit_test(test_not_one),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
