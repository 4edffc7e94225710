/* stack_tree_int.h: the trace as one tree of call paths with the self times of the operators,
 * for the forms that draw flames.
 *
 * Every node is a frame below a frame: Python frames, modules and operators as they nest, the
 * same place always the same node. Time is only where an operator ran: its self time on the
 * host, and that of the device work it launched itself. So the sums over the tree are those of
 * the operators analysis. */
#ifndef EXPORT_STACK_TREE_INT_H
#define EXPORT_STACK_TREE_INT_H

#include "analyse/operators/stacks.h"
#include "base/intern.h"
#include "export/export_int.h"

typedef struct {
    uint32_t parent; /* node; the root is its own */
    uint32_t text;   /* the frame: id in `texts` */
    uint32_t depth;  /* 0 = root */
} stack_node;

typedef struct {
    uint32_t track, node;
    int64_t host_ns, device_ns; /* inside the window */
} stack_time;

typedef struct {
    groups nodes;  /* stack_node, parents first; 0 is the root */
    groups times;  /* stack_time, one for each thread and node */
    intern *texts; /* every distinct frame, as this form spells it; id 0 is unused */
} stack_tree;

/* Appends a frame's name as the form wants it. Names with the same spelling are one frame. */
typedef void (*stack_spelling)(str name, buf *out);

/* The tree lives in the arena. */
status stack_tree_build(const export_ctx *x, stack_spelling spell, arena *a,
                        stack_tree *out) MUST_USE;
/* All nodes but the root, each after its parent, siblings by the bytes of their frames:
 * tree->nodes.n - 1 of them. NULL when out of memory. */
uint32_t *stack_tree_order(const stack_tree *tree, arena *a);

/* The name without the addresses of objects ("<built-in method view of Tensor object at
 * 0x7f…>"): they differ from call to call, and every call would be a separate place. */
void stack_spell(str name, buf *out);

static inline const stack_node *stack_tree_node(const stack_tree *tree, uint32_t node) {
    return GROUP_ROW(&tree->nodes, stack_node, node);
}
static inline str stack_tree_text(const stack_tree *tree, uint32_t node) {
    return intern_get(tree->texts, stack_tree_node(tree, node)->text);
}

#endif
