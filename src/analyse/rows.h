/* rows.h: the rows of each table of registry.def as structs, so that the compiler knows which
 * column holds what.
 *
 *     row_critical_by_kind row = row_critical_by_kind_none();
 *     row.kind = path_kind_name(kind);
 *     row.time = time;
 *     TRY(put_critical_by_kind(t, &row, err));
 *
 * row_X_none() has every value absent: ABSENT_I64 for integers and for yes or no, NaN for real
 * numbers, a text without bytes, no sentence. What is not set stays null in the table. */
#ifndef ANALYSE_ROWS_H
#define ANALYSE_ROWS_H

#include <math.h>

#include "analyse/analysis.h"
#include "base/num.h"

typedef int64_t value_INT, value_BOOL, value_BIG;
typedef double value_REAL;
typedef str value_TEXT;
typedef const verdict *value_SENTENCE, *value_VALUES;

#define NONE_INT ABSENT_I64
#define NONE_BOOL ABSENT_I64
#define NONE_BIG ABSENT_I64
#define NONE_REAL NAN
#define NONE_TEXT STR_NONE
#define NONE_SENTENCE NULL
#define NONE_VALUES NULL

/* Two columns have names that are words of C or C++: members are short_ and operator_. */
#define short short_
#define operator operator_

#define RESULT(analysis, name) typedef struct {
#define FIELD(analysis, name, column, type, unit, help, when) \
    _Alignas(TABLE_ROW_ALIGN) value_##type column;
#define RESULT_END(analysis, name) \
    }                              \
    row_##analysis##_##name;
#include "analyse/registry.def"

#define RESULT(analysis, name)                                                   \
    static inline row_##analysis##_##name row_##analysis##_##name##_none(void) { \
        return (row_##analysis##_##name) {
#define FIELD(analysis, name, column, type, unit, help, when) .column = NONE_##type,
#define RESULT_END(analysis, name)                                          \
    }                                                                       \
    ;                                                                       \
    }                                                                       \
    static inline MUST_USE status put_##analysis##_##name(                  \
        struct table *to, const row_##analysis##_##name *row, error *err) { \
        return table_put_row(to, row, sizeof *row, err);                    \
    }
#include "analyse/registry.def"

#undef short
#undef operator

#endif
