/* module_work.h: which device work a module caused, by its calls and by the backward pass of
 * what it called.
 *
 *     module_work w;
 *     TRY(module_work_find(t, &select, STR("Linear_3"), arena, &w, err));
 *     if (module_work_has(&w, k)) …                       k: row of table kernel
 *
 * Needs the tables module, module_call, flow and kernel. */
#ifndef ANALYSE_MODULE_WORK_H
#define ANALYSE_MODULE_WORK_H

#include "analyse/select.h"

typedef struct {
    const trace *t;
    uint32_t *slices; /* calls and engine's nodes, ascending, none inside another */
    size_t n;
} module_work;

/* The name of a module without the prefix "nn.Module: ". */
str module_short_name(const trace *t, uint32_t module);

/* `name` as module_short_name gives it; an unknown name has no work. */
status module_work_find(const trace *t, const selection *s, str name, arena *a,
                        module_work *out, error *err) MUST_USE;
/* The same of all modules whose name fits. */
typedef bool (*module_fits)(void *context, str name);
status module_work_match(const trace *t, const selection *s, module_fits fits, void *context,
                         arena *a, module_work *out, error *err) MUST_USE;
/* By its launch; without one by its operator. A binary search. */
bool module_work_has(const module_work *w, uint32_t k);

#endif
