/* registry.c: registry.def as constant arrays.
 *
 * The definition file is read once for each kind of row; fields lie in one array in the order
 * of the file, so the fields of a table start behind those of all tables before it. The lists
 * are a few dozen rows: looking up is a walk, and nothing has to be built or freed.
 */
#include "analyse/registry.h"

#include "base/message_ids_columns.h"

static const analysis_info ANALYSES[] = {
#define ANALYSIS(name, all_workers, help) {#name, all_workers, MSG_##help, analyse_##name},
#include "analyse/registry.def"
    {NULL, WORKERS_ONE, 0, NULL},
};

static const param_info PARAMS[] = {
#define PARAM(analysis, name, type, fallback, values, help) \
    {#analysis, #name, #type, fallback, values, MSG_##help},
#include "analyse/registry.def"
    {NULL, NULL, NULL, NULL, NULL, 0},
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

const param_info *registry_param(const char *analysis, uint32_t i) {
    for (const param_info *p = PARAMS; p->name; p++)
        if (strcmp(p->analysis, analysis) == 0 && i-- == 0) return p;
    return NULL;
}

const result_info *registry_result(const char *analysis, uint32_t i) {
    for (const result_info *r = RESULTS; r->name; r++)
        if (strcmp(r->analysis, analysis) == 0 && i-- == 0) return r;
    return NULL;
}

const field_info *registry_field(const result_info *r, uint32_t i) {
    size_t first = 0;
    if (i >= r->n_fields) return NULL;
    for (const result_info *before = RESULTS; before != r; before++) first += before->n_fields;
    return &FIELDS[first + i];
}

bool registry_list_has(const char *list, str one) {
    str rest = str_of(list);
    for (;;) {
        size_t bar = str_find(rest, STR("|"), 0);
        if (bar == SIZE_MAX) return str_eq(rest, one);
        if (str_eq(str_n(rest.p, bar), one)) return true;
        rest = str_from(rest, bar + 1);
    }
}

bool registry_allows(const param_info *p, str value) {
    bool any = p->values[0] == '\0' || (p->type && strcmp(p->type, "ENUM") != 0);
    return any || registry_list_has(p->values, value);
}

static const char *const GROUP_NAMES[N_GROUPS] = {
    [GROUP_NAME] = "name",       [GROUP_NAME_SHAPE] = "name+shape",
    [GROUP_LAUNCH] = "launch",   [GROUP_NAME_STACK] = "name+stack",
    [GROUP_NAME_OP] = "name+op", [GROUP_NAME_SHAPE_STACK] = "name+shape+stack",
    [GROUP_TYPE] = "type",       [GROUP_SUBGRAPH] = "subgraph",
};

const char *group_name(group_by g) {
    return GROUP_NAMES[g];
}

bool group_of(str name, group_by *out) {
    for (int g = 0; g < N_GROUPS; g++) {
        if (!str_eq(str_of(GROUP_NAMES[g]), name)) continue;
        *out = (group_by)g;
        return true;
    }
    return false;
}
