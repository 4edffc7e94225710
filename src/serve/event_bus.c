/* event_bus.c: a ring of the last events, and where each listener is in it.
 *
 *     events   … 17 18 19 20 21        next = 22
 *     listeners        ^a       ^b     b sleeps, a has two to read and part of one in its hands
 *
 * An event is written once, as the text of the stream and as the object of a list; a listener
 * copies it when its turn comes, a client that polls gets those since its last number. Sleeping
 * is decided under the same lock as publishing, so no wake-up is lost. */
#include "serve/event_bus.h"

#include <pthread.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/num.h"

enum { RING = 256 };

struct listener {
    listener *next;
    uint64_t at; /* the next event it reads */
    buf text;    /* what it is reading */
    size_t done;
    bool asleep;
    void (*sleep)(void *);
    void (*wake)(void *);
    void *context;
};

typedef struct {
    buf stream; /* as server-sent text */
    buf object; /* as JSON; empty: a comment */
} event;

struct event_bus {
    pthread_mutex_t lock; /* guards everything below and the listeners */
    pthread_cond_t left;  /* the last listener has left */
    event ring[RING];
    uint64_t next; /* number of the next event; event i is in ring[i % RING] */
    listener *listeners;
    uint32_t n_listeners;
    bool ended;
};

event_bus *event_bus_new(void) {
    event_bus *h = mem_zalloc(sizeof *h);
    if (!h) return NULL;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&h->left, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&h->lock, NULL);
    return h;
}

void event_bus_free(event_bus *h) {
    if (!h) return;
    for (int i = 0; i < RING; i++) {
        buf_fini(&h->ring[i].stream);
        buf_fini(&h->ring[i].object);
    }
    pthread_cond_destroy(&h->left);
    pthread_mutex_destroy(&h->lock);
    mem_free(h);
}

static void wake_all(event_bus *h) {
    for (listener *l = h->listeners; l; l = l->next) {
        if (!l->asleep) continue;
        l->asleep = false;
        l->wake(l->context);
    }
}

static void start_again(buf *b) {
    buf_clear(b);
    b->failed = false;
}

static bool write_event(event *e, uint64_t number, const char *name, str data) {
    start_again(&e->stream);
    start_again(&e->object);
    if (name) {
        buf_printf(&e->stream, "id: %llu\nevent: %s\ndata: ", (unsigned long long)number, name);
        buf_printf(&e->object, "{\"event\":\"%s\",\"data\":", name);
        buf_add_str(&e->object, data);
        buf_add_byte(&e->object, '}');
    } else {
        buf_add_byte(&e->stream, ':');
    }
    buf_add_str(&e->stream, data);
    buf_add_cstr(&e->stream, "\n\n");
    return buf_ok(&e->stream) && buf_ok(&e->object);
}

void event_bus_publish(event_bus *h, const char *name, str data) {
    pthread_mutex_lock(&h->lock);
    if (write_event(&h->ring[h->next % RING], h->next, name, data)) h->next++;
    wake_all(h);
    pthread_mutex_unlock(&h->lock);
}

void event_bus_end(event_bus *h, int64_t patience_ns) {
    int64_t until_ns = add_i64(clock_ns(CLOCK_MONOTONIC), patience_ns);
    struct timespec until = {.tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000};
    pthread_mutex_lock(&h->lock);
    h->ended = true;
    wake_all(h);
    while (h->listeners && pthread_cond_timedwait(&h->left, &h->lock, &until) == 0) {}
    pthread_mutex_unlock(&h->lock);
}

listener *event_bus_join(event_bus *h, str first, void (*sleep)(void *), void (*wake)(void *),
                         void *context) {
    listener *l = mem_zalloc(sizeof *l);
    if (!l) return NULL;
    l->sleep = sleep;
    l->wake = wake;
    l->context = context;
    buf_add_cstr(&l->text, "event: hello\ndata: ");
    buf_add_str(&l->text, first);
    buf_add_cstr(&l->text, "\n\n");
    pthread_mutex_lock(&h->lock);
    bool room = h->n_listeners < EVENT_BUS_MOST_LISTENERS && buf_ok(&l->text) && !h->ended;
    if (room) {
        l->at = h->next;
        l->next = h->listeners;
        h->listeners = l;
        h->n_listeners++;
    }
    pthread_mutex_unlock(&h->lock);
    if (room) return l;
    buf_fini(&l->text);
    mem_free(l);
    return NULL;
}

void event_bus_leave(event_bus *h, listener *l) {
    pthread_mutex_lock(&h->lock);
    for (listener **at = &h->listeners; *at; at = &(*at)->next) {
        if (*at != l) continue;
        *at = l->next;
        h->n_listeners--;
        break;
    }
    if (!h->listeners) pthread_cond_signal(&h->left);
    pthread_mutex_unlock(&h->lock);
    buf_fini(&l->text);
    mem_free(l);
}

uint32_t event_bus_listeners(event_bus *h) {
    pthread_mutex_lock(&h->lock);
    uint32_t n = h->n_listeners;
    pthread_mutex_unlock(&h->lock);
    return n;
}

/* The next event into the listener's hands; false when there is none. */
static bool take_next(event_bus *h, listener *l) {
    buf_clear(&l->text);
    l->text.failed = false;
    l->done = 0;
    if (l->at == h->next) return false;
    if (h->next - l->at > RING) { /* what it missed is gone: it must read everything again */
        l->at = h->next;
        buf_add_cstr(&l->text, "event: runs\ndata: {}\n\n");
        return buf_ok(&l->text);
    }
    buf_add_str(&l->text, buf_str(&h->ring[l->at % RING].stream));
    l->at++;
    return buf_ok(&l->text);
}

uint64_t event_bus_since(event_bus *h, uint64_t since, buf *out, bool *missed) {
    pthread_mutex_lock(&h->lock);
    uint64_t next = h->next;
    *missed = since > next || next - since > RING;
    for (uint64_t i = *missed ? next : since; i < next; i++) {
        str object = buf_str(&h->ring[i % RING].object);
        if (object.n && out->n && out->p[out->n - 1] == '}') buf_add_byte(out, ',');
        buf_add_str(out, object);
    }
    pthread_mutex_unlock(&h->lock);
    return next;
}

size_t event_bus_read(event_bus *h, listener *l, char *to, size_t n) {
    size_t copied = 0;
    pthread_mutex_lock(&h->lock);
    while (copied < n) {
        if (l->done == l->text.n && !take_next(h, l)) break;
        size_t piece = l->text.n - l->done;
        if (piece > n - copied) piece = n - copied;
        memcpy(to + copied, l->text.p + l->done, piece);
        l->done += piece;
        copied += piece;
    }
    if (copied == 0 && h->ended) {
        copied = EVENT_BUS_END;
    } else if (copied == 0) {
        l->asleep = true;
        l->sleep(l->context);
    }
    pthread_mutex_unlock(&h->lock);
    return copied;
}
