/* shape.h: --table, --search, --sort and --limit, applied to a finished answer; --stable and
 * --strict, which look at the whole of it. */
#ifndef CLI_SHAPE_H
#define CLI_SHAPE_H

#include "cli/options.h"

/* ERR_ARG when a table or column is not there; ERR_FORMAT for damage under --strict. */
status shape_answer(answer *a, const options *o, error *err) MUST_USE;
/* --strict alone. */
status shape_check_damage(const answer *a, const options *o, error *err) MUST_USE;
/* --stable alone: takes out what differs from machine to machine. */
void shape_stable(answer *a, const options *o);

#endif
