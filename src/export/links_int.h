/* links_int.h: the ids by which readers of other forms link calls, device work and
 * operators. */
#ifndef EXPORT_LINKS_INT_H
#define EXPORT_LINKS_INT_H

#include "store/trace.h"

/* What the store knows about a call or device work and readers link by. */
typedef struct {
    int64_t external, correlation, device, stream, sequence; /* ABSENT_I64 when not known */
    uint32_t launch;
    uint32_t inferred; /* an operator of another step; its External id would be wrong here */
    uint8_t confidence;
    bool is_call, is_work, is_op;
} link_facts;

/* Where the last slice was found; slices are asked for in ascending order. Start from {0}. */
typedef struct {
    uint32_t kernel, call, op;
} link_cursor;

link_facts links_find(const trace *t, link_cursor *c, uint32_t slice);

/* The store's number of an argument in place of the producer's; ABSENT_I64: his own is
 * right. */
int64_t links_number(str key, const link_facts *f);

#endif
