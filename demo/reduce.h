/* reduce.h: gradients averaged over the ranks of the demonstration, through shared memory. */
#ifndef DEMO_REDUCE_H
#define DEMO_REDUCE_H

#include <stddef.h>

typedef struct reducer reducer;

/* Before the ranks are forked; NULL: no memory. */
reducer *reducer_new(int ranks);
/* In each rank. */
void reducer_join(reducer *r, int rank);
/* The mean over all ranks, in place; waits for all of them. */
void reducer_average(reducer *r, float *v, size_t n);

#endif
