/* call_modules.h: in which modules of a model the calls of two runs are.
 *
 * A module is a node by its class below a class: `Linear` in `Attention` in `Block`, whatever
 * its instance, so that equal layers are one node. A call of the backward pass is in the module
 * of the matching forward operator. Empty where modules were not recorded. */
#ifndef ANALYSE_CALL_MODULES_H
#define ANALYSE_CALL_MODULES_H

#include "analyse/group.h"
#include "base/intern.h"

typedef struct {
    uint32_t parent, name; /* name: of the tree's names */
    int64_t calls[2];      /* by side, over all steps */
} module_node;

/* Calls of one node of the tree in one module. */
typedef struct {
    uint32_t node, module;
    int64_t calls[2];
} module_calls;

typedef struct {
    groups nodes; /* module_node; the root is 0: no module */
    groups calls; /* module_calls */
} call_modules;

status call_modules_init(call_modules *m, arena *a, error *err) MUST_USE;
/* The class of this name in another one; GROUP_NONE when out of memory. */
uint32_t call_modules_child(call_modules *m, uint32_t parent, uint32_t name);
/* A node's calls in a module; NULL when out of memory. */
module_calls *call_modules_at(call_modules *m, uint32_t node, uint32_t module);
/* Adds those of a worker, which are in side 0 there; there: the node here by the node there. */
typedef struct {
    const call_modules *from;
    const intern *from_names;
    intern *names;
    const uint32_t *there;
    int side;
} modules_origin;
status call_modules_merge(call_modules *into, const modules_origin *o, arena *scratch,
                          error *err) MUST_USE;

static inline module_node *module_node_at(const call_modules *m, uint32_t module) {
    return GROUP_ROW(&m->nodes, module_node, module);
}

#endif
