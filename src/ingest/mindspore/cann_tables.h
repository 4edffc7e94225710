/* cann_tables.h: the tables that CANN's profiler writes next to a timeline, for readers of that
 * timeline. The same files are in the folders of MindSpore and of PyTorch on Ascend.
 *
 *     cann_tables *t;
 *     TRY(cann_tables_open(o, &t, err));       before the timeline: what explains its tasks
 *     … cann_task(t, name, start_ns) …
 *     TRY(cann_tables_put(t, b, err));         after it: memory, collectives, facts of the run
 *     cann_tables_close(t);
 */
#ifndef INGEST_CANN_TABLES_H
#define INGEST_CANN_TABLES_H

#include "ingest/ingest.h"

typedef struct cann_tables cann_tables;

/* The tables next to o->path, and in the folder around it where that is a profile's; none when
 * there is no path. */
status cann_tables_open(const ingest_options *o, cann_tables **out, error *err) MUST_USE;
/* Adds what stands for itself to the builder. Call once. */
status cann_tables_put(cann_tables *t, builder *b, error *err) MUST_USE;
/* For readers that need no tables, only what the files next to them say about the run: opened
 * this way, there are no tasks. *said: there was a file that says it. */
status cann_facts_open(const ingest_options *o, cann_tables **out, error *err) MUST_USE;
status cann_facts_put(cann_tables *t, builder *b, bool *said, error *err) MUST_USE;
void cann_tables_close(cann_tables *t); /* NULL is allowed */

/* The cells of kernel_details.csv about a task, as a JSON object of texts; empty when there is
 * no such row. Valid until the tables are closed; from any thread. */
str cann_task(const cann_tables *t, str name, int64_t start_ns);
/* The number of the device they are about, -1: they do not say. */
int32_t cann_device(const cann_tables *t);
/* The ranks of a communication group, JSON text, by how its name ends; empty when unknown.
 * Valid until the tables are closed; from any thread. */
str cann_group_ranks(const cann_tables *t, str name);

#endif
