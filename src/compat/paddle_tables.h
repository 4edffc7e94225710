/* paddle_tables.h: `tacho summary --style paddle`: the tables of Paddle's
 * `Profiler.summary()`. */
#ifndef CLI_PADDLE_TABLES_H
#define CLI_PADDLE_TABLES_H

#include "analyse/analysis.h"
#include "text/text.h"

/* The options of the command; a text that is empty was not given. */
typedef struct {
    const params *window; /* of which only the window and the steps count */
    str sorted_by, views, time_unit, op_detail;
    bool by_thread;
    lang words; /* of the notes */
} paddle_choice;

/* Writes the report about `t` to out. ERR_ARG when a view is not known. */
status paddle_tables_write(const trace *t, const paddle_choice *c, arena *a, buf *out,
                           error *err) MUST_USE;

#endif
