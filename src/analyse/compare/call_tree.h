/* call_tree.h: the calls of two runs in one tree.
 *
 * A node is a name below a node: `aten::mm` in `aten::linear` in the root. Calls of both runs
 * with the same names around them share a node, whatever their threads and times, so runs are
 * aligned where they are the same, and a call that one of them lacks hangs below the last node
 * that both have. Steps, Python frames and modules are looked through (call_modules.h has the
 * modules); launches belong to the call around them, calls that block or allocate are separate
 * nodes, and so are kernels of no known operator, by name. Kernels of a graph that is launched
 * as a whole are nodes by their place in it. */
#ifndef ANALYSE_CALL_TREE_H
#define ANALYSE_CALL_TREE_H

#include "analyse/compare/call_modules.h"

enum { SIDE_A = 0, SIDE_B = 1, N_SIDES };

/* Values of several runs: their sum, that of their squares, and what was known before the run
 * being added. */
typedef struct {
    double sum, squares;
    int64_t before_ns;
} run_sums;

/* What a node costs over all steps of one worker, or of all workers of a side. */
typedef struct {
    int64_t device_ns;                       /* a device works for it */
    int64_t host_ns;                         /* no device works, and the host is in it */
    int64_t gap_ns;                          /* neither works: the wait for its next call */
    int64_t first_ns;                        /* of the gaps, those with which a step begins */
    int64_t calls, kernels, replayed;        /* replayed: of the kernels, those of graphs */
    double device_squares, host_squares;     /* of each step: device_ns; host_ns + gap_ns. For a
                                                side: its distance from the worker's mean */
    double call_squares;                     /* the same of the number of its calls */
    int64_t now_device, now_host, now_calls; /* of the step being read */
    uint32_t step;                           /* that step's number here, from 1 */
    uint32_t slowest;                        /* the slice with the largest share of all this */
    uint32_t worker;                         /* of a side: the one it is of */
    int64_t slowest_ns;
    uint64_t shapes, names;          /* sums of hashes: of the calls' inputs, of the kernels */
    uint64_t with_shapes;            /* calls whose shapes were recorded */
    str example;                     /* the shapes of its first call */
    run_sums device_runs, host_runs; /* of a side: means of a step in each of its runs */
    uint32_t place,
        kernel; /* of a graph's node: its place there, from 1, and its kernel's name */
} node_cost;

/* NODE_OF_CALL: a graph's node whose parent is the operator that launched the graph. */
enum {
    NODE_BLOCKS = 1,
    NODE_COMMUNICATES = 2,
    NODE_LOADS = 4,
    NODE_OF_CALL = 8,
    NODE_ALLOCATES = 16
};

typedef struct {
    uint32_t parent, name; /* name: of call_tree_text */
    uint8_t flags, kind;   /* kind: enum slice_kind of its calls, or of its work */
    uint32_t place; /* of a graph's node: among those of its parent, from 1; 0: another node */
    node_cost cost[N_SIDES];
} call_node;

/* Everything of one name, over all steps: calls on the host, or kernels, copies and memsets. */
typedef struct {
    uint32_t name;
    int64_t calls[N_SIDES], device_ns[N_SIDES], host_ns[N_SIDES];
} name_sum;

typedef struct {
    intern *names;
    groups nodes;   /* call_node; the root is 0 and comes before all others */
    groups kernels; /* name_sum */
    call_modules modules;
} call_tree;

status call_tree_init(call_tree *t, arena *a, error *err) MUST_USE;
/* The node of this name below another; GROUP_NONE when out of memory. */
uint32_t call_tree_child(call_tree *t, uint32_t parent, str name);
/* The same by the name's number in t->names. */
uint32_t call_tree_child_named(call_tree *t, uint32_t parent, uint32_t name);
/* A new node for a node of a graph; the caller gives it its place. */
uint32_t call_tree_graph_node(call_tree *t, uint32_t parent, uint32_t name);
/* The kernels of this name; NULL when out of memory. */
name_sum *call_tree_kernel(call_tree *t, str name);
/* Adds the costs of a worker's tree, which are in side A there, to a side of this one.
 * n_steps: its steps; worker: its number, kept where it is the most expensive. */
typedef struct {
    int side;
    uint32_t worker;
    bool shown; /* its slices may be named as the most expensive */
    double n_steps;
} tree_origin;
status call_tree_merge(call_tree *into, const call_tree *from, const tree_origin *origin,
                       arena *scratch, error *err) MUST_USE;
/* All workers of one more run were added: takes its means. n_steps: those of all of them. */
void call_tree_end_run(call_tree *t, int side, double n_steps);
/* The row of a name among sums; NULL when out of memory. */
name_sum *name_sum_at(groups *sums, uint32_t name);

static inline call_node *call_tree_node(const call_tree *t, uint32_t node) {
    return GROUP_ROW(&t->nodes, call_node, node);
}
static inline str call_tree_text(const call_tree *t, uint32_t node) {
    return intern_get(t->names, call_tree_node(t, node)->name);
}

#endif
