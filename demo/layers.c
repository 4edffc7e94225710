/* layers.c: the network's arithmetic, in plain loops, each operator told to the recorder.
 *
 * Every operator says its shapes and lets the recorder count its work: the formula where it has one,
 * numbers where it has not. Forward and backward operators of the same layer share a sequence number,
 * which is how the page draws the arrow between them.
 *
 * Shapes: images (32, 1, 16, 16), filters (8, 1, 3, 3), maps (32, 8, 14, 14), pooled (32, 8, 7, 7),
 * dense weights (392, 4). */
#include "demo/layers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacho/tacho.h>

#include "demo/pool_arena.h"

enum {
    FILTERS = 8,
    KERNEL = 3,
    MAP = SIDE - KERNEL + 1,
    HALF = MAP / 2,
    FEATURES = FILTERS * HALF * HALF,
    TAPS = KERNEL * KERNEL,
    N_FILTER = FILTERS * TAPS,
    N_WEIGHT = FEATURES * CLASSES,
    N_ALL = N_FILTER + FILTERS + N_WEIGHT + CLASSES,
    N_MAP = BATCH * FILTERS * MAP * MAP,
    N_POOL = BATCH * FEATURES,
};

struct activations {
    pool_arena arena;
    float *map, *pooled, *share; /* after conv and relu; after pooling; after softmax */
    int sequence;
};

static const int64_t IMAGES[] = {BATCH, 1, SIDE, SIDE},
                     FILTER_DIMS[] = {FILTERS, 1, KERNEL, KERNEL},
                     MAPS[] = {BATCH, FILTERS, MAP, MAP},
                     POOLED[] = {BATCH, FILTERS, HALF, HALF}, FLAT[] = {BATCH, FEATURES},
                     WEIGHTS[] = {FEATURES, CLASSES}, SCORES[] = {BATCH, CLASSES},
                     PARAMETERS[] = {N_ALL};
#define TENSOR(dims) \
    { TACHO_F32, sizeof(dims) / sizeof *(dims), dims }

/* ---- an operator around a block ---- */

typedef struct {
    const char *name;
    tacho_range_kind phase;
    tacho_tensor inputs[2];
    uint32_t n_inputs;
    tacho_tensor output;
    tacho_work work;
    double flops;
    int64_t bytes;
} op_facts;

static void begin(const op_facts *f, int64_t sequence) {
    if (!TACHO_IS_ON()) return;
    tacho_op_begin(&(tacho_op){.size = sizeof(tacho_op),
                               .name = f->name,
                               .phase = f->phase,
                               .inputs = f->inputs,
                               .n_inputs = f->n_inputs,
                               .output = &f->output,
                               .work = f->work,
                               .flops = f->flops,
                               .bytes = f->bytes,
                               .sequence = sequence});
}

static void end(void) {
    if (TACHO_IS_ON()) tacho_op_end();
}

/* ---- parameters ---- */

static float *biases(float *p) {
    return p + N_FILTER;
}
static float *weights(float *p) {
    return p + N_FILTER + FILTERS;
}
static float *offsets(float *p) {
    return p + N_FILTER + FILTERS + N_WEIGHT;
}

network *network_new(void) {
    unsigned state = 12345;
    network *n = calloc(1, sizeof *n);
    if (!n) return NULL;
    n->n_parameters = N_ALL;
    n->parameters = calloc(N_ALL, sizeof(float));
    n->gradients = calloc(N_ALL, sizeof(float));
    n->now = calloc(1, sizeof *n->now);
    size_t bytes =
        (size_t)(N_MAP + 2 * N_POOL + 4 * BATCH * CLASSES + N_MAP) * sizeof(float) + 4096;
    if (!n->parameters || !n->gradients || !n->now ||
        !pool_arena_init(&n->now->arena, (bytes + 63) / 64 * 64)) {
        network_free(n);
        return NULL;
    }
    for (int i = 0; i < N_ALL; i++) {
        state = state * 1664525u + 1013904223u;
        float scale = i < N_FILTER + FILTERS ? 0.6f : 0.1f;
        n->parameters[i] = ((float)(state >> 8) / 16777216.0f - 0.5f) * scale;
    }
    return n;
}

void network_free(network *n) {
    if (n->now) pool_arena_fini(&n->now->arena);
    free(n->now);
    free(n->parameters);
    free(n->gradients);
    free(n);
}

/* ---- forward ---- */

static float dot3(const float *image, const float *filter) {
    float sum = 0;
    for (int i = 0; i < KERNEL; i++)
        for (int j = 0; j < KERNEL; j++) sum += image[i * SIDE + j] * filter[i * KERNEL + j];
    return sum;
}

static void convolve(network *n, const batch *b) {
    static const op_facts OP = {.name = "demo::conv2d",
                                .phase = TACHO_RANGE_FORWARD,
                                .inputs = {TENSOR(IMAGES), TENSOR(FILTER_DIMS)},
                                .n_inputs = 2,
                                .output = TENSOR(MAPS),
                                .work = TACHO_WORK_CONV2D};
    begin(&OP, n->now->sequence);
    float *to = n->now->map = pool_arena_take(&n->now->arena, N_MAP);
    for (int i = 0; i < BATCH; i++)
        for (int f = 0; f < FILTERS; f++)
            for (int y = 0; y < MAP; y++)
                for (int x = 0; x < MAP; x++)
                    *to++ = dot3(b->images[i] + y * SIDE + x, n->parameters + f * TAPS) +
                            biases(n->parameters)[f];
    end();
}

static void rectify(network *n) {
    static const op_facts OP = {.name = "demo::relu",
                                .phase = TACHO_RANGE_FORWARD,
                                .inputs = {TENSOR(MAPS)},
                                .n_inputs = 1,
                                .output = TENSOR(MAPS),
                                .work = TACHO_WORK_ELEMENTWISE};
    begin(&OP, n->now->sequence + 1);
    for (int i = 0; i < N_MAP; i++)
        if (n->now->map[i] < 0) n->now->map[i] = 0;
    end();
}

static void pool(network *n) {
    static const op_facts OP = {.name = "demo::avg_pool2d",
                                .phase = TACHO_RANGE_FORWARD,
                                .inputs = {TENSOR(MAPS)},
                                .n_inputs = 1,
                                .output = TENSOR(POOLED),
                                .work = TACHO_WORK_ELEMENTWISE};
    begin(&OP, n->now->sequence + 2);
    n->now->pooled = pool_arena_take(&n->now->arena, N_POOL);
    for (int m = 0; m < BATCH * FILTERS; m++)
        for (int y = 0; y < HALF; y++)
            for (int x = 0; x < HALF; x++) {
                const float *from = n->now->map + m * MAP * MAP + 2 * y * MAP + 2 * x;
                n->now->pooled[(m * HALF + y) * HALF + x] =
                    0.25f * (from[0] + from[1] + from[MAP] + from[MAP + 1]);
            }
    end();
}

static void classify(network *n) {
    static const op_facts OP = {.name = "demo::linear",
                                .phase = TACHO_RANGE_FORWARD,
                                .inputs = {TENSOR(FLAT), TENSOR(WEIGHTS)},
                                .n_inputs = 2,
                                .output = TENSOR(SCORES),
                                .work = TACHO_WORK_MATMUL};
    begin(&OP, n->now->sequence + 3);
    n->now->share = pool_arena_take(&n->now->arena, BATCH * CLASSES);
    const float *w = weights(n->parameters);
    for (int i = 0; i < BATCH; i++)
        for (int c = 0; c < CLASSES; c++) {
            float sum = offsets(n->parameters)[c];
            for (int k = 0; k < FEATURES; k++)
                sum += n->now->pooled[i * FEATURES + k] * w[k * CLASSES + c];
            n->now->share[i * CLASSES + c] = sum;
        }
    end();
}

static float cross_entropy(network *n, const batch *b) {
    static const op_facts OP = {.name = "demo::cross_entropy",
                                .phase = TACHO_RANGE_FORWARD,
                                .inputs = {TENSOR(SCORES)},
                                .n_inputs = 1,
                                .output = TENSOR(SCORES),
                                .work = TACHO_WORK_GIVEN,
                                .flops = 5.0 * BATCH * CLASSES,
                                .bytes = 8 * BATCH * CLASSES};
    float loss = 0;
    begin(&OP, n->now->sequence + 4);
    for (int i = 0; i < BATCH; i++) {
        float *s = n->now->share + i * CLASSES, most = s[0], sum = 0;
        for (int c = 1; c < CLASSES; c++) most = s[c] > most ? s[c] : most;
        for (int c = 0; c < CLASSES; c++) sum += s[c] = expf(s[c] - most);
        for (int c = 0; c < CLASSES; c++) s[c] /= sum;
        loss -= logf(s[b->labels[i]] + 1e-9f);
    }
    end();
    return loss / BATCH;
}

float network_forward(network *n, const batch *b) {
    n->now->sequence += 5;
    convolve(n, b);
    rectify(n);
    pool(n);
    classify(n);
    return cross_entropy(n, b);
}

/* ---- backward ---- */

/* Gradient of the scores: what softmax said, less what is right. */
static float *loss_backward(network *n, const batch *b) {
    static const op_facts OP = {.name = "demo::cross_entropy_backward",
                                .phase = TACHO_RANGE_BACKWARD,
                                .inputs = {TENSOR(SCORES)},
                                .n_inputs = 1,
                                .output = TENSOR(SCORES),
                                .work = TACHO_WORK_ELEMENTWISE};
    begin(&OP, n->now->sequence + 4);
    float *to = pool_arena_take(&n->now->arena, BATCH * CLASSES);
    for (int i = 0; i < BATCH * CLASSES; i++) to[i] = n->now->share[i] / BATCH;
    for (int i = 0; i < BATCH; i++) to[i * CLASSES + b->labels[i]] -= 1.0f / BATCH;
    end();
    return to;
}

static float *linear_backward(network *n, const float *scores) {
    static const op_facts OP = {.name = "demo::linear_backward",
                                .phase = TACHO_RANGE_BACKWARD,
                                .inputs = {TENSOR(SCORES), TENSOR(WEIGHTS)},
                                .n_inputs = 2,
                                .output = TENSOR(FLAT),
                                .work = TACHO_WORK_GIVEN,
                                .flops = 4.0 * BATCH * FEATURES * CLASSES,
                                .bytes = 4 * (2 * N_POOL + 2 * N_WEIGHT + BATCH * CLASSES)};
    begin(&OP, n->now->sequence + 3);
    float *to = pool_arena_take(&n->now->arena, N_POOL);
    float *gw = weights(n->gradients), *go = offsets(n->gradients);
    const float *w = weights(n->parameters);
    for (int i = 0; i < BATCH; i++) {
        const float *s = scores + i * CLASSES, *x = n->now->pooled + i * FEATURES;
        for (int c = 0; c < CLASSES; c++) go[c] += s[c];
        for (int k = 0; k < FEATURES; k++) {
            float sum = 0;
            for (int c = 0; c < CLASSES; c++) {
                gw[k * CLASSES + c] += x[k] * s[c];
                sum += w[k * CLASSES + c] * s[c];
            }
            to[i * FEATURES + k] = sum;
        }
    }
    end();
    return to;
}

/* Pooling and relu in one: a quarter of the gradient to each of the four, where they were positive. */
static float *pool_backward(network *n, const float *pooled) {
    static const op_facts OP = {.name = "demo::avg_pool2d_backward",
                                .phase = TACHO_RANGE_BACKWARD,
                                .inputs = {TENSOR(POOLED), TENSOR(MAPS)},
                                .n_inputs = 2,
                                .output = TENSOR(MAPS),
                                .work = TACHO_WORK_GIVEN,
                                .flops = 2.0 * N_MAP,
                                .bytes = 4 * (N_POOL + 2 * N_MAP)};
    begin(&OP, n->now->sequence + 2);
    float *to = pool_arena_take(&n->now->arena, N_MAP);
    for (int m = 0; m < BATCH * FILTERS; m++)
        for (int y = 0; y < MAP; y++)
            for (int x = 0; x < MAP; x++) {
                int at = m * MAP * MAP + y * MAP + x;
                float g = 0.25f * pooled[(m * HALF + y / 2) * HALF + x / 2];
                to[at] = n->now->map[at] > 0 ? g : 0;
            }
    end();
    return to;
}

static void conv_backward(network *n, const batch *b, const float *maps) {
    static const op_facts OP = {.name = "demo::conv2d_backward",
                                .phase = TACHO_RANGE_BACKWARD,
                                .inputs = {TENSOR(MAPS), TENSOR(FILTER_DIMS)},
                                .n_inputs = 2,
                                .output = TENSOR(MAPS),
                                .work = TACHO_WORK_CONV2D};
    begin(&OP, n->now->sequence);
    for (int i = 0; i < BATCH; i++)
        for (int f = 0; f < FILTERS; f++)
            for (int y = 0; y < MAP; y++)
                for (int x = 0; x < MAP; x++) {
                    float g = *maps++;
                    const float *image = b->images[i] + y * SIDE + x;
                    biases(n->gradients)[f] += g;
                    for (int t = 0; t < TAPS; t++)
                        n->gradients[f * TAPS + t] += g * image[t / KERNEL * SIDE + t % KERNEL];
                }
    end();
}

void network_backward(network *n, const batch *b) {
    memset(n->gradients, 0, N_ALL * sizeof(float));
    float *scores = loss_backward(n, b);
    float *pooled = linear_backward(n, scores);
    float *maps = pool_backward(n, pooled);
    conv_backward(n, b, maps);
    pool_arena_reset(&n->now->arena);
}

void network_update(network *n, float rate) {
    static const op_facts OP = {.name = "demo::sgd",
                                .phase = TACHO_RANGE_OPTIMIZER,
                                .inputs = {TENSOR(PARAMETERS), TENSOR(PARAMETERS)},
                                .n_inputs = 2,
                                .output = TENSOR(PARAMETERS),
                                .work = TACHO_WORK_GIVEN,
                                .flops = 2.0 * N_ALL,
                                .bytes = 12 * N_ALL};
    begin(&OP, -1);
    for (int i = 0; i < N_ALL; i++) n->parameters[i] -= rate * n->gradients[i];
    end();
}
