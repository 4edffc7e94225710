/* sql_tests.h: conditions made ready for comparing, one row at a time. */
#ifndef QUERY_SQL_TESTS_H
#define QUERY_SQL_TESTS_H

#include "query/sql_rows.h"

/* ERR_MEMORY. test_end in any case. */
status test_make(row_source *s, const sql_table *table, const condition *c, row_test *out,
                 error *err) MUST_USE;
void test_end(row_test *test);
bool test_row(const row_source *s, cell_reader *cells, const row_test *test, uint32_t row);

#endif
