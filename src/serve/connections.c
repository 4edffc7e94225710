/* connections.c: a list of some hundred connections, walked when it is full. */
#include "serve/connections.h"

void connections_init(connections *c) {
    for (int i = 0; i < CONNECTIONS_MOST; i++) c->v[i] = (connection_slot){.fd = -1};
}

connection_slot *connections_open(connections *c, int fd, int64_t now_ms) {
    for (int i = 0; i < CONNECTIONS_MOST; i++) {
        if (c->v[i].fd >= 0) continue;
        c->v[i] = (connection_slot){.fd = fd, .since_ms = now_ms};
        return &c->v[i];
    }
    return NULL;
}

void connections_close(connection_slot *s) {
    if (s) s->fd = -1;
}

void connections_ask(connection_slot *s) {
    if (s) s->is_busy = true;
}

void connections_rest(connection_slot *s, int64_t now_ms) {
    if (!s) return;
    s->is_busy = false;
    s->since_ms = now_ms;
}

int connections_pick_silent(connections *c, int64_t now_ms) {
    connection_slot *oldest = NULL;
    for (int i = 0; i < CONNECTIONS_MOST; i++) {
        connection_slot *s = &c->v[i];
        if (s->fd < 0 || s->is_busy || s->is_leaving) continue;
        if (!oldest || s->since_ms < oldest->since_ms) oldest = s;
    }
    if (!oldest || now_ms - oldest->since_ms < CONNECTIONS_SILENT_MS) return -1;
    oldest->is_leaving = true;
    return oldest->fd;
}
