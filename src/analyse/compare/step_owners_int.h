/* step_owners_int.h: what the files that give time to nodes share. */
#ifndef ANALYSE_STEP_OWNERS_INT_H
#define ANALYSE_STEP_OWNERS_INT_H

#include "analyse/comm/comm_kind.h"
#include "analyse/compare/step_owners.h"
#include "base/sort.h"

/* A stretch of a host thread: the innermost call there. */
typedef struct {
    int64_t start, end;
    uint32_t slice;
} stretch;

typedef struct {
    uint32_t slice;
    int64_t end, from; /* from: of what is not given to a call inside it yet */
} open_call;

/* Calls repeat: the node that was found last for a parent and a name. */
enum { KNOWN = 4096 };
typedef struct {
    uint32_t parent, name, node; /* name: string of the trace; node: its number + 1 */
} known_child;

/* A piece of the time in which communication runs; they are disjoint. */
typedef struct {
    int64_t start, end;
    uint32_t kernel;
} comm_piece;

typedef struct {
    call_tree *tree;
    const trace *t;
    arena *arena;
    owned_steps *out;
    uint32_t *node_of;   /* by slice */
    uint32_t *module_of; /* by slice: of call_modules, 0: none; NULL: none was recorded */
    uint32_t *name_of;   /* by string: its number in the tree + 1, 0 = not looked up */
    known_child *known;  /* KNOWN of them, by a hash of their key */
    uint8_t *names;      /* by string: what a call of that name does; 0 = not looked up */
    uint64_t *hash_of;   /* by string, 0 = not made */
    sort_pair *work;     /* rows of table kernel by start */
    uint32_t n_work, at; /* at: the first that may reach into the step */
    comm_piece *pieces;
    uint32_t n_pieces, piece_at;
    comm_names comms;
    uint32_t
        *graph_node_of; /* by row of table kernel: a graph's node + 1, 0: none; may be NULL */
    uint8_t *communicates;  /* by row of table kernel */
    uint8_t *launched;      /* by slice: counted as a launch */
    stretch *host, *sorted; /* of the step */
    sort_pair *pairs, *scratch;
    size_t n_host, cap_host, cap_sorted;
    open_call *open;
    size_t n_open, cap_open;
    sort_pair *by_start,
        *of_step; /* where there are many threads: slices by start; of a step */
    size_t n_by_start;
    uint32_t step; /* from 1 */
} owners;

/* The cost of a node in the step being read. */
node_cost *owners_cost_now(owners *o, uint32_t node);
/* A hash of a string of the trace, never 0. */
uint64_t owners_string_hash(owners *o, uint32_t id);
/* What a call of this name does that makes it a node: NODE_BLOCKS, NODE_ALLOCATES, or 0. */
uint8_t owners_call_flags(owners *o, uint32_t name);
/* Is it a kernel of a graph that was launched as a whole? */
bool owners_is_replayed(owners *o, uint32_t kernel);
/* The number of a string of the trace among the names of the tree + 1; 0 when out of memory. */
uint32_t owners_name(owners *o, uint32_t string);

/* What the host does in a step: stretches of all threads in o->host, in order of time and
 * disjoint; the calls that begin in it are counted. */
status owners_read_host(owners *o, const step_span *s, error *err) MUST_USE;
/* The modules, and module_of for their slices and those of the backward pass. */
status owners_find_modules(owners *o, const selection *s, error *err) MUST_USE;
/* Nodes for the kernels of graphs: graph_node_of. The nodes of all slices are known. */
status owners_find_graphs(owners *o, error *err) MUST_USE;

#endif
