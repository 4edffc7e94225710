/* shape.h: --table, --search, --sort, --limit and --stable, applied to a finished answer. */
#ifndef CLI_SHAPE_H
#define CLI_SHAPE_H

#include "cli/options.h"

/* ERR_ARG when a table or column does not exist. */
status shape_answer(answer *a, const options *o, error *err) MUST_USE;
/* --stable alone: takes out what differs from machine to machine. */
void shape_stable(answer *a, const options *o);

#endif
