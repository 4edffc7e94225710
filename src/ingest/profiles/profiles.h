/* profiles.h: what samplers write: speedscope's JSON and folded stacks. */
#ifndef INGEST_PROFILES_H
#define INGEST_PROFILES_H

#include "ingest/ingest.h"

bool speedscope_head(str head);
/* whole: the head is the whole file. */
bool folded_head(str head, bool whole);

ingest_function ingest_speedscope;
ingest_function ingest_folded;

/* A file of samples without times does not say how long one stands for: py-spy's default. */
#define SAMPLE_NS ((int64_t)10000000)

/* Times beyond this, 73 years, are damage. */
#define MOST_PROFILE_NS (INT64_MAX / 4)

#endif
