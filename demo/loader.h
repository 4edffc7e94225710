/* loader.h: batches of generated images, made by threads ahead of time. */
#ifndef DEMO_LOADER_H
#define DEMO_LOADER_H

#include <stdbool.h>

enum { BATCH = 32, SIDE = 16, PIXELS = SIDE * SIDE, CLASSES = 4 };

typedef struct {
    float images[BATCH][PIXELS];
    int labels[BATCH];
} batch;

typedef struct loader loader;

/* `slow`: each batch takes far longer to make than a step takes to use it. NULL: no memory. */
loader *loader_new(int workers, bool slow, unsigned seed);
void loader_free(loader *l);
/* Waits until the queue is half full, so that the first step is like the others. */
void loader_warm_up(loader *l);
/* The next batch; waits for one. It is the caller's until loader_give_back. */
const batch *loader_next(loader *l);
void loader_give_back(loader *l, const batch *b);

#endif
