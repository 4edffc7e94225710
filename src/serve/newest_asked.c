/* newest_asked.c: a short list of clients, walked under a lock. */
#include "serve/newest_asked.h"

#include <string.h>

#include "base/num.h"

void newest_asked_init(newest_asked *n) {
    memset(n, 0, sizeof *n);
    pthread_mutex_init(&n->lock, NULL);
}

void newest_asked_fini(newest_asked *n) {
    pthread_mutex_destroy(&n->lock);
}

void newest_asked_note(newest_asked *n, str client, int64_t seq) {
    int at = 0;
    if (client.n == 0 || client.n >= sizeof n->clients[0].name || seq == ABSENT_I64) return;
    pthread_mutex_lock(&n->lock);
    for (int i = 0; i < NEWEST_CLIENTS; i++) {
        if (str_eq(str_of(n->clients[i].name), client)) {
            at = i;
            break;
        }
        if (n->clients[i].used < n->clients[at].used) at = i;
    }
    if (!str_eq(str_of(n->clients[at].name), client)) {
        memcpy(n->clients[at].name, client.p, client.n);
        n->clients[at].name[client.n] = '\0';
        n->clients[at].seq = seq;
    }
    n->clients[at].seq = max_i64(n->clients[at].seq, seq);
    n->clients[at].used = ++n->clock;
    pthread_mutex_unlock(&n->lock);
}

bool newest_asked_is_older(newest_asked *n, str client, int64_t seq) {
    bool older = false;
    if (client.n == 0 || seq == ABSENT_I64) return false;
    pthread_mutex_lock(&n->lock);
    for (int i = 0; i < NEWEST_CLIENTS; i++)
        if (str_eq(str_of(n->clients[i].name), client)) older = seq < n->clients[i].seq;
    pthread_mutex_unlock(&n->lock);
    return older;
}
