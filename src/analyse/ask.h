/* ask.h: asking an analysis about a part of traces, which must exist. Every door asks through
 * here, so that a step that was not recorded is an error everywhere, never an answer of
 * zeros. */
#ifndef ANALYSE_ASK_H
#define ANALYSE_ASK_H

#include "analyse/registry.h"

/* Runs an analysis. ERR_ARG when no step or no time of the traces is in what is asked; a note
 * when only a part of it is. */
status analysis_ask(const analysis_info *is, const analysis_input *in, const params *p,
                    arena *a, answer *out, error *err) MUST_USE;

/* For questions that are not analyses (an export, SQL): the check alone, and the note alone. */
status part_check(const analysis_input *in, const params *p, error *err) MUST_USE;
status part_note(const analysis_input *in, const params *p, arena *a, answer *out,
                 error *err) MUST_USE;

#endif
