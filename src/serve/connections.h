/* connections.h: connections that are held without a request.
 *
 * A server has room for a few hundred connections. When all are in use, the one that has been
 * silent for longest is closed: a browser that keeps its connection opens another, while a
 * client that opens many and never sends a whole request locks no one out. One thread calls all
 * of it. */
#ifndef SERVE_CONNECTIONS_H
#define SERVE_CONNECTIONS_H

#include "base/status.h"

enum {
    CONNECTIONS_MOST = 320,
    CONNECTIONS_SILENT_MS = 1000, /* a request is there within milliseconds, headers and all */
};

typedef struct {
    int fd; /* -1: free */
    bool is_busy, is_leaving;
    int64_t since_ms; /* silent since */
} connection_slot;

typedef struct {
    connection_slot v[CONNECTIONS_MOST];
} connections;

void connections_init(connections *c);
/* NULL when there is no room. */
connection_slot *connections_open(connections *c, int fd, int64_t now_ms);
void connections_close(connection_slot *s); /* NULL is allowed here and below */
/* A whole request has arrived; it has been answered. */
void connections_ask(connection_slot *s);
void connections_rest(connection_slot *s, int64_t now_ms);
/* The descriptor of the one to close, each once; -1 when none has been silent long enough. */
int connections_pick_silent(connections *c, int64_t now_ms);

#endif
