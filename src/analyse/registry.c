/* registry.c: registry.def as constant arrays.
 *
 * The definition file is read once for each kind of row; fields lie in one array in the order
 * of the file, so the fields of a table start after those of all tables before it. The lists
 * are a few dozen rows: looking up is a walk, and nothing has to be built or freed.
 */
#include "analyse/registry.h"

#include "base/message_ids_columns.h"
#include "base/num.h"

static const analysis_info ANALYSES[] = {
#define ANALYSIS(name, workers, traits, help) \
    {#name, WORKERS_##workers, traits, MSG_##help, analyse_##name},
#include "analyse/registry.def"
    {NULL, WORKERS_ONE, 0, 0, NULL},
};

static const param_info PARAMS[] = {
#define PARAM(analysis, name, type, fallback, values, help) \
    {#analysis, #name, VALUE_##type, fallback, values, MSG_##help},
#include "analyse/registry.def"
    {NULL, NULL, VALUE_TEXT, NULL, NULL, 0},
};

static const result_info RESULTS[] = {
#define RESULT(analysis, table) {#analysis, #table, N_COL_##analysis##_##table},
#include "analyse/registry.def"
    {NULL, NULL, 0},
};

static const field_info FIELDS[] = {
#define FIELD(analysis, table, column, type, unit, help, when) \
    {#column, TYPE_##type, UNIT_##unit, MSG_##help, when},
#include "analyse/registry.def"
};

/* ---- looking up -------------------------------------------------------------------------- */

const analysis_info *registry_analysis(uint32_t i) {
    return i < sizeof ANALYSES / sizeof *ANALYSES - 1 ? &ANALYSES[i] : NULL;
}

const analysis_info *registry_find(str name) {
    for (const analysis_info *a = ANALYSES; a->name; a++)
        if (str_eq(str_of(a->name), name)) return a;
    return NULL;
}

const analysis_info *registry_of(const answer *a) {
    return registry_find(str_of(a->analysis));
}

const param_info *registry_param(const char *analysis, uint32_t i) {
    for (const param_info *p = PARAMS; p->name; p++)
        if (strcmp(p->analysis, analysis) == 0 && !COUNT_DOWN(i)) return p;
    return NULL;
}

const param_info *registry_find_param(const char *analysis, str name) {
    for (const param_info *p = PARAMS; p->name; p++)
        if (strcmp(p->analysis, analysis) == 0 && value_same_name(str_of(p->name), name))
            return p;
    return NULL;
}

const result_info *registry_result(const char *analysis, uint32_t i) {
    for (const result_info *r = RESULTS; r->name; r++)
        if (strcmp(r->analysis, analysis) == 0 && !COUNT_DOWN(i)) return r;
    return NULL;
}

const field_info *registry_field(const result_info *r, uint32_t i) {
    size_t first = 0;
    if (i >= r->n_fields) return NULL;
    for (const result_info *before = RESULTS; before != r; before++) first += before->n_fields;
    return &FIELDS[first + i];
}

bool analysis_is_about_all(const analysis_info *a, const question *q, bool several) {
    if (q->all_workers) return true;
    if (q->worker.n || !a) return false;
    return a->workers == WORKERS_EVERY || (a->workers == WORKERS_ALL && several);
}

bool analysis_is_about_one_run(const analysis_info *a) {
    return a->workers != WORKERS_EVERY && !registry_find_param(a->name, STR("other"));
}
