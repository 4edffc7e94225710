/* answer_cache.c: a few dozen answers, the one longest unused makes room.
 *
 * One lock; it is not held while an answer is made, but its slot says so. Large answers are not
 * kept: they are tables that a user saves, and the page asks for pieces. */
#include "serve/answer_cache.h"

#include <pthread.h>

#include "base/mem.h"

enum { N_SLOTS = 48, MOST_BYTES = 512 << 10 };

typedef struct {
    buf question, answer;
    uint64_t generation, used;
    bool making;
} slot;

struct answer_cache {
    pthread_mutex_t lock; /* guards everything below */
    pthread_cond_t done;
    slot slots[N_SLOTS];
    uint64_t clock, n_made;
};

answer_cache *answer_cache_new(void) {
    answer_cache *c = mem_zalloc(sizeof *c);
    if (!c) return NULL;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->done, NULL);
    return c;
}

void answer_cache_free(answer_cache *c) {
    if (!c) return;
    for (int i = 0; i < N_SLOTS; i++) {
        buf_fini(&c->slots[i].question);
        buf_fini(&c->slots[i].answer);
    }
    pthread_cond_destroy(&c->done);
    pthread_mutex_destroy(&c->lock);
    mem_free(c);
}

/* The lock is held. */
static slot *find_question(answer_cache *c, str question, uint64_t generation) {
    for (int i = 0; i < N_SLOTS; i++) {
        slot *s = &c->slots[i];
        if (s->generation == generation && s->question.n &&
            str_eq(buf_str(&s->question), question))
            return s;
    }
    return NULL;
}

/* The one longest unused of those that no thread works on; NULL: there is none. The lock is
 * held. */
static slot *find_room(answer_cache *c) {
    slot *oldest = NULL;
    for (int i = 0; i < N_SLOTS; i++) {
        slot *s = &c->slots[i];
        if (!s->making && (!oldest || s->used < oldest->used)) oldest = s;
    }
    return oldest;
}

static void begin_making(answer_cache *c, str question, uint64_t generation) {
    slot *s = find_room(c);
    c->n_made++;
    if (!s) return;
    buf_clear(&s->question);
    buf_fini(&s->answer);
    buf_add_str(&s->question, question);
    s->generation = generation;
    s->used = ++c->clock;
    s->making = buf_ok(&s->question);
    if (!s->making) buf_fini(&s->question);
}

bool answer_cache_find(answer_cache *c, str question, uint64_t generation, buf *out) {
    slot *s;
    pthread_mutex_lock(&c->lock);
    while ((s = find_question(c, question, generation)) && s->making)
        pthread_cond_wait(&c->done, &c->lock);
    if (s) {
        s->used = ++c->clock;
        buf_add_str(out, buf_str(&s->answer));
    } else {
        begin_making(c, question, generation);
    }
    pthread_mutex_unlock(&c->lock);
    return s != NULL;
}

void answer_cache_keep(answer_cache *c, str question, uint64_t generation, str answer) {
    pthread_mutex_lock(&c->lock);
    slot *s = find_question(c, question, generation);
    if (s && s->making) {
        s->making = false;
        if (answer.n <= MOST_BYTES) buf_add_str(&s->answer, answer);
        if (!s->answer.n || !buf_ok(&s->answer)) {
            buf_fini(&s->answer);
            buf_fini(&s->question);
        }
        pthread_cond_broadcast(&c->done);
    }
    pthread_mutex_unlock(&c->lock);
}

uint64_t answer_cache_made(answer_cache *c) {
    pthread_mutex_lock(&c->lock);
    uint64_t n = c->n_made;
    pthread_mutex_unlock(&c->lock);
    return n;
}
