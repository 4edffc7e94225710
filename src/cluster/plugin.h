/* plugin.h: what a plug-in for many processes offers.
 *
 * Plain C on both sides: the plug-in is a separate shared object that knows nothing of the
 * program. Functions return 0, or anything else when the processes can no longer talk to each
 * other. Memory they give is given back with `release`. Called by one thread at a time. */
#ifndef CLUSTER_PLUGIN_H
#define CLUSTER_PLUGIN_H

#include <stdint.h>

#define CLUSTER_PLUGIN_VERSION 1
#define CLUSTER_PLUGIN_ENTRY "tacho_cluster_open"

typedef struct cluster_plugin {
    int version, rank, size;
    /* send[i] goes to process i, receive[i] comes from it. */
    int (*exchange)(const void *const *send, const uint64_t *send_bytes, void **receive,
                    uint64_t *receive_bytes);
    int (*send)(int to, const void *bytes, uint64_t n);
    int (*receive)(int from, void **bytes, uint64_t *n);
    /* 0, 1, 2, … each once over all processes; negative when it failed. */
    int64_t (*take)(void);
    /* Waits until all processes are here. */
    int (*wait)(void);
    void (*release)(void *bytes);
    /* ok 0 ends all processes. */
    void (*end)(int ok);
} cluster_plugin;

/* The one symbol of a plug-in. */
typedef int cluster_plugin_open(cluster_plugin *out);

#endif
