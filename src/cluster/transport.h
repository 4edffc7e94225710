/* transport.h: what the processes of one command do with each other.
 *
 * Alone there is one process, and everything is a copy. Under mpirun or srun the plug-in
 * libtacho_mpi.so does it (plugin.h). All processes call the same functions in the same order,
 * from one thread; only transport_take may be called by any. */
#ifndef CLUSTER_TRANSPORT_H
#define CLUSTER_TRANSPORT_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "cluster/plugin.h"

typedef struct {
    int rank, size;
    bool many; /* the plug-in is loaded */
    cluster_plugin plugin;
    void *library;
    pthread_mutex_t lock;
    _Atomic int64_t counter;
} transport;

/* Did a launcher of many processes start us? */
bool transport_is_launched(void);
/* `program` is the path of the program: the plug-in is next to it or in ../lib. */
status transport_open(transport *t, const char *program, error *err) MUST_USE;
/* ok false ends all processes. */
void transport_close(transport *t, bool ok);

/* The next of 0, 1, 2, … over all processes. INT64_MAX when it failed. */
int64_t transport_take(transport *t);
/* give[i] goes to process i, take[i] came from it; both have `size` buffers. */
status transport_exchange(transport *t, const buf *give, buf *take, error *err) MUST_USE;
/* A tree: the sum of all goes to process 0. `join` adds bytes of another to what this process
 * has, `put` writes down what it has. */
typedef struct {
    status (*put)(void *context, buf *out, error *err);
    status (*join)(void *context, str bytes, error *err);
    void *context;
} transport_tree;
status transport_gather(transport *t, const transport_tree *tree, error *err) MUST_USE;
/* The bytes of process 0 to all. */
status transport_broadcast(transport *t, buf *bytes, error *err) MUST_USE;

#endif
