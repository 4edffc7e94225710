/* horovod_timeline.h: timelines of Horovod (HOROVOD_TIMELINE). */
#ifndef INGEST_HOROVOD_TIMELINE_H
#define INGEST_HOROVOD_TIMELINE_H

#include "ingest/ingest.h"

/* Are these the first bytes of one? */
bool horovod_head(str head);
ingest_function ingest_horovod;

#endif
