/* advice_evidence.h: the named numbers of an advice as one text: what a summary keeps of it. */
#ifndef ANALYSE_ADVICE_EVIDENCE_H
#define ANALYSE_ADVICE_EVIDENCE_H

#include "analyse/analysis.h"
#include "base/buf.h"

/* Frameworks with specific suggestions. The numbers are kept in summaries: only add. */
typedef enum {
    FOR_PYTORCH = 0,
    FOR_GRAPHS, /* compiled graphs: MindSpore */
    FOR_PADDLE,
    FOR_MEGENGINE,
    FOR_OTHERS,
    FOR_JAX,
    FOR_TENSORFLOW,
    N_DIALECTS
} advice_dialect;

typedef struct {
    verdict words; /* severity and named values */
    str name;      /* operator, kernel or call it is about; may be empty */
    /* Where to look, from the start of the trace, and the step; ABSENT_I64: not known. */
    int64_t from, to, step;
    advice_dialect dialect; /* whose words its suggestion is in */
} advice_evidence;

/* Appended to `out`. */
void evidence_write(buf *out, const advice_evidence *e);
/* Reads it back; a text from elsewhere may be anything: what is not understood is left out.
 * Texts and names lie in the arena. */
status evidence_read(str text, arena *a, advice_evidence *out, error *err) MUST_USE;

#endif
