/* param.h: the parameters of one analysis (registry.def, PARAM) as values. */
#ifndef ANALYSE_PARAM_H
#define ANALYSE_PARAM_H

#include "analyse/analysis.h"

/* What was given, {NULL, 0} when nothing was. */
str param_text(const params *p, str name);
/* An offset such as 12.5ms, or whole nanoseconds; *out stays when nothing was given. ERR_ARG. */
status param_time(const params *p, str name, int64_t *out, error *err) MUST_USE;
/* A whole number from 0 on, likewise. */
status param_count(const params *p, str name, int64_t *out, error *err) MUST_USE;

#endif
