/* nsight.h: exports of NVIDIA Nsight Systems as SQLite (`nsys export --type sqlite`). */
#ifndef INGEST_NSIGHT_H
#define INGEST_NSIGHT_H

#include "ingest/ingest.h"

/* Begins like one: the texts of its schema are near the start. */
bool nsight_head(str head);

ingest_function ingest_nsight;

#endif
