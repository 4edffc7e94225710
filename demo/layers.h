/* layers.h: the network of the demonstration: conv 3×3 → relu → pool 2×2 → dense → softmax. */
#ifndef DEMO_LAYERS_H
#define DEMO_LAYERS_H

#include <stddef.h>

#include "demo/loader.h"

typedef struct network {
    size_t n_parameters;
    float *parameters, *gradients; /* filters, their biases, weights, their biases */
    struct activations *now;       /* of the batch that went forward last */
} network;

network *network_new(void); /* NULL: no memory */
void network_free(network *n);
/* The mean loss of the batch. */
float network_forward(network *n, const batch *b);
/* Gradients of that loss; after network_forward of the same batch. Gives its memory back. */
void network_backward(network *n, const batch *b);
void network_update(network *n, float rate);

#endif
