/* chakra_int.h: the nodes of a Chakra graph, and how one is written. */
#ifndef EXPORT_CHAKRA_INT_H
#define EXPORT_CHAKRA_INT_H

#include "analyse/comm/collectives.h"
#include "analyse/cost/op_work.h"
#include "export/export_int.h"
#include "store/traits.h"

/* Types of nodes, by Chakra's numbers. */
typedef enum {
    CHAKRA_LOAD = 2,
    CHAKRA_STORE = 3,
    CHAKRA_COMP = 4,
    CHAKRA_SEND = 5,
    CHAKRA_RECEIVE = 6,
    CHAKRA_COLLECTIVE = 7
} chakra_type;

enum { CHAKRA_MOST_DEPS = 64 };

/* One node; its id is that of the slice. */
typedef struct {
    uint32_t slice;
    chakra_type type;
    bool on_host;
    int64_t dur_ns;         /* of a host node: without the nodes inside it */
    uint32_t kernel, op;    /* rows; 0 = none */
    const collective *comm; /* NULL: none, or it belongs to another node */
    double flops;           /* NaN: not known */
    int64_t bytes;          /* ABSENT_I64: not known */
    uint32_t control;       /* node around it; 0 = none */
    uint32_t deps[CHAKRA_MOST_DEPS];
    uint32_t n_deps;
} chakra_node;

/* The first message of the file, and each of the others; `scratch` is for messages inside. */
void chakra_write_head(export_ctx *x, buf scratch[2]);
void chakra_write_node(export_ctx *x, const chakra_node *n, buf scratch[2]);
/* Chakra's number of a collective; -1 when it has none. */
int64_t chakra_comm_type(str name);

#endif
