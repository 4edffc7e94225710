/* newest_asked.h: which viewport of a client is the newest: an older one needs no answer. */
#ifndef SERVE_NEWEST_ASKED_H
#define SERVE_NEWEST_ASKED_H

#include <pthread.h>

#include "base/status.h"

enum { NEWEST_CLIENTS = 64 };

typedef struct {
    pthread_mutex_t lock; /* guards what follows */
    struct {
        char name[40];
        int64_t seq;
        uint64_t used;
    } clients[NEWEST_CLIENTS];
    uint64_t clock;
} newest_asked;

void newest_asked_init(newest_asked *n);
void newest_asked_fini(newest_asked *n);
/* Remembers the newest number of a client; the one longest unheard of makes room. */
void newest_asked_note(newest_asked *n, str client, int64_t seq);
bool newest_asked_is_older(newest_asked *n, str client, int64_t seq);

#endif
