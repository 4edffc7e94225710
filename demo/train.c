/* train.c: the demonstration: a small convolutional classifier, trained for real, and recorded.
 *
 *     loader threads ─ bounded queue ─> batch ─> forward ─> backward ─> (all-reduce) ─> optimizer
 *
 * The images are generated: sixteen by sixteen pixels with a cross, a square, a stripe or a disc in
 * noise. The network is conv 3×3 → relu → pool → dense → softmax. Its loss falls from 1.39 (four
 * classes, guessed) to below 0.3 within a hundred steps.
 *
 * What it shows: how a program is instrumented with tacho.h (steps, phases, operators with shapes and
 * work, memory, a queue, counters, facts), what a slow loader looks like (--slow-loader), and what
 * several ranks look like (--ranks N: processes, gradients averaged through shared memory).
 *
 * Without `tacho record` around it, it trains and records nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tacho/tacho.h>
#include <unistd.h>

#include "demo/layers.h"
#include "demo/loader.h"
#include "demo/reduce.h"

typedef struct {
    int steps, ranks, workers;
    bool slow_loader, quiet;
} settings;

/* ---- one step ---- */

static void print_loss(const settings *set, int step, float loss) {
    if (!set->quiet && (step % 20 == 0 || step == set->steps - 1))
        printf("step %3d  loss %.4f\n", step, (double)loss);
}

static float run_step(network *net, const batch *b, reducer *ranks) {
    float loss;
    {
        TACHO_SCOPE_KIND("forward", FORWARD);
        loss = network_forward(net, b);
    }
    {
        TACHO_SCOPE_KIND("backward", BACKWARD);
        network_backward(net, b);
    }
    if (ranks) reducer_average(ranks, net->gradients, net->n_parameters);
    {
        TACHO_SCOPE_KIND("optimizer", OPTIMIZER);
        network_update(net, 0.1f);
    }
    return loss;
}

static const batch *next_batch(loader *l) {
    TACHO_SCOPE_KIND("next batch", DATA);
    return loader_next(l);
}

/* ---- one rank ---- */

static int train(const settings *set, int rank, reducer *ranks) {
    float first = 0, last = 0;
    network *net = network_new();
    loader *l = loader_new(set->workers, set->slow_loader, (unsigned)rank + 1);
    if (!net || !l) {
        fprintf(stderr, "demo: out of memory\n");
        return 1;
    }
    loader_warm_up(l);
    tacho_begin_steps();
    for (int step = 0; step < set->steps; step++) {
        const batch *b = next_batch(l);
        float loss = run_step(net, b, ranks);
        loader_give_back(l, b);
        tacho_counter("loss", (double)loss);
        if (step == 0) first = loss;
        last = last == 0 ? loss : 0.9f * last + 0.1f * loss;
        tacho_step();
        if (rank == 0) print_loss(set, step, loss);
    }
    loader_free(l);
    network_free(net);
    if (set->steps >= 100 && !(last < first * 0.7f)) {
        fprintf(stderr, "demo: the loss did not fall: %.3f to %.3f\n", (double)first,
                (double)last);
        return 1;
    }
    return 0;
}

static int train_ranks(const settings *set) {
    int failed = 0;
    reducer *shared = reducer_new(set->ranks);
    if (!shared) return 1;
    for (int rank = 0; rank < set->ranks; rank++) {
        pid_t pid = fork();
        if (pid < 0) return 1;
        if (pid > 0) continue;
        tacho_rank(rank, set->ranks);
        reducer_join(shared, rank);
        exit(train(set, rank, shared));
    }
    for (int how; wait(&how) > 0;) failed |= how != 0;
    return failed;
}

/* ---- the command line ---- */

static int usage(const char *name) {
    fprintf(stderr,
            "usage: %s [--steps N] [--ranks N] [--workers N] [--slow-loader] [--quiet]\n",
            name);
    return 2;
}

int main(int argc, char **argv) {
    settings set = {.steps = 100, .ranks = 1, .workers = 2};
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--slow-loader") == 0)
            set.slow_loader = true;
        else if (strcmp(argv[i], "--quiet") == 0)
            set.quiet = true;
        else if (strcmp(argv[i], "--steps") == 0 && more)
            set.steps = atoi(argv[++i]);
        else if (strcmp(argv[i], "--ranks") == 0 && more)
            set.ranks = atoi(argv[++i]);
        else if (strcmp(argv[i], "--workers") == 0 && more)
            set.workers = atoi(argv[++i]);
        else
            return usage(argv[0]);
    }
    if (set.steps < 1 || set.ranks < 1 || set.ranks > 64 || set.workers < 1 || set.workers > 64)
        return usage(argv[0]);
    tacho_meta("model", "conv 3x3 x 8, relu, pool 2x2, dense 4");
    setvbuf(stdout, NULL, _IOLBF, 0);
    return set.ranks > 1 ? train_ranks(&set) : train(&set, 0, NULL);
}
