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

/* What sets it apart from others; registry.def explains each. */
typedef enum {
    ABOUT_FILE = 1,
    OF_SUMMARY = 2,
    BY_NAME = 4,
    EVENTS_FIRST = 8,
    ANY_INPUT = 16,
    JOINS_LOADERS = 32,
    ALONE_TOO = 64
} analysis_trait;

typedef struct {
    const char *name;
    workers_meant workers;
    uint32_t traits;
    uint16_t help;
    analysis_fn run;
} analysis_info;

/* NULL has none: not every question is about an analysis. */
static inline bool analysis_has(const analysis_info *a, analysis_trait trait) {
    return a && (a->traits & trait) != 0;
}

/* Is a question about all workers of its run? It says so, or it names none and the analysis
 * looks at all of them when there are `several`: ranks, or files given together. */
bool analysis_is_about_all(const analysis_info *a, const question *q, bool several);

/* Is it about one run? A comparison has a second one, a history many. */
bool analysis_is_about_one_run(const analysis_info *a);

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
/* The one that an answer is of. */
const analysis_info *registry_of(const answer *a);
/* - and _ are the same. */
const param_info *registry_find_param(const char *analysis, str name);

/* A file can be the wrong one for a command (the profile of a static graph has no timeline):
 * the message that names the right command, MSG_NONE when it fits. */
uint16_t registry_better(const char *command, const trace *t);

#endif
