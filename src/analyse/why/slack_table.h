/* slack_table.h: slack by the names of device work and of operators, for the table
 * critical.slack. */
#ifndef ANALYSE_SLACK_TABLE_H
#define ANALYSE_SLACK_TABLE_H

#include "analyse/job/critical_path.h"
#include "table/table.h"

typedef struct {
    const why_graph *g;
    comm_names *names;
    arena *arena;
    uint8_t *on_path; /* by row of table kernel: is it on the path of a step? */
    /* The answer: time of all work of the steps, and of what is not on the path. */
    int64_t device_ns, off_path_ns;
} slack_question;

/* Fills the table and the sums. */
status slack_table_write(slack_question *q, table *t, error *err) MUST_USE;

#endif
