/* made_database.c: see the header. */
#include "unit/ingest/made_database.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "base/sqlite_start.h"

buf make_database(const char *sql) {
    sqlite3 *db = NULL;
    char *why = NULL;
    sqlite3_int64 n = 0;
    buf out = {0};
    assert_int_equal(sqlite_start(NULL), OK);
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK) fail_msg("%s", why);
    unsigned char *bytes = sqlite3_serialize(db, "main", &n, 0);
    assert_non_null(bytes);
    buf_add(&out, bytes, (size_t)n);
    sqlite3_free(bytes);
    sqlite3_close(db);
    assert_true(buf_ok(&out));
    return out;
}
