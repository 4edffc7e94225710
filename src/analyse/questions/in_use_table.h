/* in_use_table.h: what the program uses, as the table `in_use` of `info` and `overview`. */
#ifndef ANALYSE_IN_USE_TABLE_H
#define ANALYSE_IN_USE_TABLE_H

#include "analyse/operators/in_use.h"
#include "table/table.h"

status in_use_write(const trace *t, const in_use *found, table *out, error *err) MUST_USE;

#endif
