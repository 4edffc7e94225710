/* filter.h: the rows of a table that a line of text asks for.
 *
 *   conv bn        every word fits a text of the row, letters in order (base/fuzzy.h)
 *   "two words"    is in a text of the row as it is
 *   -word          is in no text of the row
 *   name:word      the same in this column alone; also -name:word, name:"two words",
 *                  tensor_core:yes
 *   name="text"    the whole text of the column, upper and lower case differ
 *   >5ms  <=2MB    the number of the column: of the one sorted by when its unit fits, else
 *                  of the most
 *   >5% >100       important column with this unit
 *   mean>5ms       of this column; step:3 is step=3
 *
 * What looks like a condition but names no column of the table is a word: kernel names hold
 * colons and angle brackets. */
#ifndef TABLE_FILTER_H
#define TABLE_FILTER_H

#include "table/table.h"

enum { FILTER_WORDS = 16 };

/* Keeps the rows that fit. `sorted_by` is the column bare conditions are about, or UINT32_MAX.
 * With `ranked` the best fit comes first. ERR_ARG when there are too many words. */
typedef struct {
    str text;
    uint32_t sorted_by;
    bool ranked;
} filter_question;

status table_filter(table *t, const filter_question *q, error *err) MUST_USE;

#endif
