/* partial_recording.h: is what was recorded no picture of the run?
 *
 * Most events may have another clock than the rest, tasks may be missing between others, times
 * may be impossible, or the recording may have ended long before its steps. Numbers of such a
 * recording are those of the file and of nothing else: overview, advise, idle, critical and
 * steps say that instead. */
#ifndef ANALYSE_PARTIAL_RECORDING_H
#define ANALYSE_PARTIAL_RECORDING_H

#include "analyse/rules.h"
#include "store/trace.h"

#define PARTIAL_TABLES \
    (TRACE_TABLE(quality) | TRACE_TABLE(slice) | TRACE_TABLE(step) | TRACE_TABLE(op))

/* Then the verdict. Reads PARTIAL_TABLES. */
bool partial_recording_judge(const trace *t, verdict *out);

#endif
