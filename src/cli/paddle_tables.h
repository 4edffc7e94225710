/* paddle_tables.h: `tacho summary --style paddle`: the tables of Paddle's
 * `Profiler.summary()`. */
#ifndef CLI_PADDLE_TABLES_H
#define CLI_PADDLE_TABLES_H

#include "cli/open.h"

/* Writes the report about the first trace of `x` to out. ERR_ARG when a view is not known. */
status paddle_tables_write(const options *o, opened_input *x, buf *out, error *err) MUST_USE;

#endif
