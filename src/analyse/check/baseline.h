/* baseline.h: what is kept of a run to compare others with: its steps, its operators and
 * kernels, its memory, what it ran on and with which shapes, in a few kilobytes.
 *
 * It is a summary (store/summary.h) like that of `tacho reduce`, without collectives and
 * histograms, and with the tables `launch`, `shape`, `model` and `about`. */
#ifndef ANALYSE_BASELINE_H
#define ANALYSE_BASELINE_H

#include "analyse/analysis.h"
#include "store/summary.h"

/* Of traces (cut to the selection), of summaries, of a baseline. The caller frees it. */
status baseline_make(const analysis_input *in, const params *p, size_t limit_bytes,
                     summary **out, error *err) MUST_USE;
/* The same, as long as the arena lives. */
status baseline_keep(const analysis_input *in, const params *p, arena *a, const summary **out,
                     error *err) MUST_USE;

/* Writes down a fact about the run, and reads it: the first one of this name; empty when there
 * is none. */
status baseline_say(summary *s, str key, str value, error *err) MUST_USE;
str baseline_about(const summary *s, str key);

#endif
