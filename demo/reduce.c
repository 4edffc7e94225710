/* reduce.c: an all-reduce for processes of one machine.
 *
 * Every rank writes its values into its own row of a shared map, waits at a barrier, adds up all rows
 * (in the order of ranks, so that every rank gets the same bits) and waits again, so that nobody
 * overwrites a row that is still being read. The barrier is one of pthreads, shared by processes. */
#include "demo/reduce.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <tacho/tacho.h>

enum { MOST_VALUES = 4096 };

struct reducer {
    pthread_barrier_t barrier;
    int ranks;
    float rows[][MOST_VALUES];
};

static int my_rank; /* of this process */
static int64_t n_calls;

reducer *reducer_new(int ranks) {
    size_t bytes = sizeof(reducer) + (size_t)ranks * MOST_VALUES * sizeof(float);
    reducer *r = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_barrierattr_t shared;
    if (r == MAP_FAILED) return NULL;
    r->ranks = ranks;
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&r->barrier, &shared, (unsigned)ranks);
    pthread_barrierattr_destroy(&shared);
    return r;
}

void reducer_join(reducer *r, int rank) {
    (void)r;
    my_rank = rank;
}

static void add_up(const reducer *r, float *v, size_t n) {
    memset(v, 0, n * sizeof *v);
    for (int rank = 0; rank < r->ranks; rank++)
        for (size_t i = 0; i < n; i++) v[i] += r->rows[rank][i];
    for (size_t i = 0; i < n; i++) v[i] /= (float)r->ranks;
}

void reducer_average(reducer *r, float *v, size_t n) {
    if (n > MOST_VALUES) n = MOST_VALUES;
    tacho_collective_begin(&(tacho_collective){.size = sizeof(tacho_collective),
                                               .name = "allreduce",
                                               .type = TACHO_F32,
                                               .in_elements = (int64_t)n,
                                               .out_elements = (int64_t)n,
                                               .sequence = ++n_calls,
                                               .n_ranks = r->ranks,
                                               .root = -1});
    memcpy(r->rows[my_rank], v, n * sizeof *v);
    pthread_barrier_wait(&r->barrier);
    add_up(r, v, n);
    pthread_barrier_wait(&r->barrier);
    tacho_collective_end();
}
