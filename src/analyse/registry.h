/* registry.h: the tables of registry.def at run time: which analyses there are, what they take
 * and what they answer. Command line, server and help are made from it. All of it is
 * constant. */
#ifndef ANALYSE_REGISTRY_H
#define ANALYSE_REGISTRY_H

#include "analyse/analysis.h"
#include "question/question.h"

/* Whether an analysis looks at all workers of a run at once. */
typedef enum {
    WORKERS_ONE,       /* never */
    WORKERS_ALL,       /* unless a worker is named */
    WORKERS_ON_DEMAND, /* when it is asked to, with all-workers */
    WORKERS_EVERY      /* always, ranks or not, unless one is named */
} workers_meant;

typedef struct {
    const char *name;
    workers_meant all_workers;
    uint16_t help;
    analysis_fn run;
} analysis_info;
/* Is a question about all workers of its run? It says so, or it names none and the analysis
 * looks at all of them when there are `several`: ranks, or files given together. */
bool analysis_is_about_all(const analysis_info *a, const question *q, bool several);

/* Does it follow batches into the processes of a data loader, so that their traces are wanted
 * in one with that of the worker? */
bool analysis_joins_loaders(const analysis_info *a);

typedef struct {
    const char *analysis, *name;
    uint32_t n_fields;
} result_info;

typedef struct {
    const char *name;
    column_type type;
    column_unit unit;
    uint16_t help;
    const char *when; /* "", "group_by=a|b" */
} field_info;

/* The i-th of each kind, NULL after the last. */
const analysis_info *registry_analysis(uint32_t i);
const param_info *registry_param(const char *analysis, uint32_t i);
const result_info *registry_result(const char *analysis, uint32_t i);
const field_info *registry_field(const result_info *r, uint32_t i);

/* By name; NULL when there is none. */
const analysis_info *registry_find(str name);
/* - and _ are the same. */
const param_info *registry_find_param(const char *analysis, str name);

/* A file can be the wrong one for a command (the profile of a static graph has no timeline):
 * the message that names the right command, MSG_NONE when it fits. */
uint16_t registry_better(const char *command, const trace *t);

#endif
