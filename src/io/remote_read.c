/* remote_read.c: an object as a stream of bytes, several ranges in flight.
 *
 * One connection to an object store carries some 50 to 100 MB/s, which is less than tacho
 * reads; so up to four threads fetch ranges of 8 MiB, each into its own slot, and the reader
 * takes the slots in order:
 *
 *     range    0      1      2      3      4     …      slot = range mod N_SLOTS
 *              read   ready  coming coming waits for slot 0
 *
 * The first range is fetched by remote_open: small objects need no thread, and an object that
 * does not exist fails where a file would. Later ranges ask for the tag of the first, so that
 * an object replaced meanwhile is an error and not a mixture.
 *
 * A server that knows no ranges sends everything from the start. Then one thread reads on, slot
 * by slot; when it has to begin again it skips what it has handed over. A body that never ends,
 * or claims to be longer than any trace, ends at MOST_BYTES.
 *
 * One mutex guards all but the bytes of slots being filled, which belong to their thread. */
#include <pthread.h>
#include <stdlib.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "base/num.h"
#include "io/remote_int.h"

#define RANGE_BYTES ((size_t)8 << 20)
#define MOST_BYTES ((uint64_t)1 << 40) /* unless TACHO_REMOTE_LIMIT says another */
enum { N_SLOTS = 5, MOST_THREADS = 4 };

typedef struct {
    char *p; /* RANGE_BYTES from mem_map, made when first used */
    size_t n;
    bool ready;
} slot;

struct remote {
    arena arena;
    remote_place place;
    str address;
    char tag[128];  /* for If-Match; "": a weak one, or none */
    char seen[128]; /* the tag of the first answer, and its time */
    int64_t mtime_ns;
    uint64_t size_bytes; /* UINT64_MAX when unknown */
    uint64_t most_bytes; /* a longer one is refused */
    bool ranged;
    atomic_bool stop;

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    slot slots[N_SLOTS];
    uint64_t reading;  /* the range the reader is in */
    size_t at;         /* its next byte */
    uint64_t fetching; /* the next range to fetch */
    uint64_t n_ranges; /* UINT64_MAX when unknown */
    status failed;
    error why;
    pthread_t threads[MOST_THREADS];
    int n_threads;
};

/* ---- one range --------------------------------------------------------------------------- */

typedef struct {
    remote *r;
    slot *to;
    uint64_t range; /* being filled */
    uint64_t skip;  /* bytes still to be skipped, handed over before */
    uint64_t done;  /* bytes handed over in full slots: ranges of a server without ranges */
} fetch;

static bool take_into_slot(void *context, const char *p, size_t n) {
    fetch *f = context;
    size_t room = RANGE_BYTES - f->to->n, take = n < room ? n : room;
    memcpy(f->to->p + f->to->n, p, take);
    f->to->n += take;
    return take == n; /* more than was asked for: the server knows no ranges */
}

static void forget_slot(void *context) {
    ((fetch *)context)->to->n = 0;
}

static bool prepare_slot(slot *s) {
    if (!s->p) s->p = mem_map(RANGE_BYTES);
    s->n = 0;
    return s->p != NULL;
}

static http_ask ask_range(remote *r, uint64_t range) {
    uint64_t first = range * RANGE_BYTES, last = first + RANGE_BYTES - 1;
    if (r->size_bytes != UINT64_MAX && range > 0) last = min_u64(last, r->size_bytes - 1);
    return (http_ask){.address = r->address.p,
                      .place = &r->place,
                      .first = first,
                      .last = last,
                      .tag = r->tag,
                      .stop = &r->stop};
}

/* The bytes are those that were asked for, all of them: the server says which it sent, and of
 * how many. */
static status check_range(const http_ask *ask, const http_reply *reply, size_t n, error *err) {
    arg url = arg_text("url", remote_shown(str_of(ask->address)));
    if (!reply->ranged) {
        if (ask->first == 0) return OK; /* it knows no ranges, and sends all */
        FAIL(err, ERR_IO, NOPOS, MSG_REMOTE_CHANGED, url);
    }
    if (reply->total_bytes == 0 && n == 0 && ask->first == 0) return OK;
    uint64_t end = min_u64(ask->last + 1, reply->total_bytes);
    if (reply->total_bytes == UINT64_MAX || reply->first != ask->first || end <= ask->first ||
        reply->last != end - 1 || n != end - ask->first)
        FAIL(err, ERR_IO, NOPOS, MSG_REMOTE_RANGE, url);
    return OK;
}

/* It is the object that the first range was of. */
static status check_same(const remote *r, const http_reply *reply, error *err) {
    bool same_tag = !r->seen[0] || !reply->tag[0] || strcmp(r->seen, reply->tag) == 0;
    bool same_time = !r->mtime_ns || !reply->mtime_ns || r->mtime_ns == reply->mtime_ns;
    bool same_size = r->size_bytes == UINT64_MAX || reply->total_bytes == r->size_bytes;
    if (same_tag && same_time && same_size) return OK;
    FAIL(err, ERR_IO, NOPOS, MSG_REMOTE_CHANGED, arg_text("url", remote_shown(r->address)));
}

static status fetch_range(remote *r, http *h, uint64_t range, http_reply *reply, error *err) {
    fetch f = {.r = r, .to = &r->slots[range % N_SLOTS], .range = range};
    if (!prepare_slot(f.to)) FAIL_MEMORY(err);
    http_ask ask = ask_range(r, range);
    ask.take = take_into_slot;
    ask.context = &f;
    TRY(http_get_patiently(h, &ask, forget_slot, reply, err));
    TRY(check_range(&ask, reply, f.to->n, err));
    return range == 0 ? OK : check_same(r, reply, err);
}

/* ---- threads ----------------------------------------------------------------------------- */

static void tell_failure(remote *r, status st, const error *why) {
    pthread_mutex_lock(&r->lock);
    if (r->failed == OK) {
        r->failed = st;
        (void)error_set(&r->why, st, why->offset, why->message, why->n_args, why->args);
    }
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

/* Waits until the slot of the range was read; false when there is nothing more to do. */
static bool may_fill(remote *r, uint64_t range) {
    while (range >= r->reading + N_SLOTS && r->failed == OK && !atomic_load(&r->stop))
        pthread_cond_wait(&r->changed, &r->lock);
    return r->failed == OK && !atomic_load(&r->stop);
}

static bool next_range(remote *r, uint64_t *range) {
    pthread_mutex_lock(&r->lock);
    bool more = r->fetching < r->n_ranges;
    *range = r->fetching;
    if (more) r->fetching++;
    more = more && may_fill(r, *range);
    pthread_mutex_unlock(&r->lock);
    return more;
}

static void tell_ready(remote *r, slot *s) {
    pthread_mutex_lock(&r->lock);
    s->ready = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

static void *fetch_ranges(void *context) {
    remote *r = context;
    http *h = NULL;
    error why = {0};
    status st = http_open(&h, &why);
    for (uint64_t range; st == OK && next_range(r, &range);) {
        http_reply reply;
        st = fetch_range(r, h, range, &reply, &why);
        if (st == OK) tell_ready(r, &r->slots[range % N_SLOTS]);
    }
    http_close(h);
    if (st != OK) tell_failure(r, st, &why);
    return NULL;
}

static uint64_t most_bytes(void) {
    const char *text = getenv("TACHO_REMOTE_LIMIT");
    int64_t n;
    return text && fmt_parse_bytes(str_of(text), &n) && n > 0 ? (uint64_t)n : MOST_BYTES;
}

static status check_length(const remote *r, uint64_t bytes, error *err) {
    if (bytes <= r->most_bytes) return OK;
    FAIL(err, ERR_LIMIT, NOPOS, MSG_REMOTE_TOO_LONG, arg_text("url", remote_shown(r->address)),
         arg_bytes("limit", sat_i64(r->most_bytes)));
}

/* ---- a server without ranges ------------------------------------------------------------- */

/* Hands the full slot over and begins the next. */
static bool turn_over(fetch *f) {
    remote *r = f->r;
    f->done += f->to->n;
    tell_ready(r, f->to);
    pthread_mutex_lock(&r->lock);
    bool go_on = may_fill(r, ++f->range) && check_length(r, f->done, NULL) == OK;
    pthread_mutex_unlock(&r->lock);
    f->to = &r->slots[f->range % N_SLOTS];
    return go_on && prepare_slot(f->to);
}

static bool take_in_order(void *context, const char *p, size_t n) {
    fetch *f = context;
    size_t pass = (size_t)min_u64(n, f->skip);
    f->skip -= pass;
    for (p += pass, n -= pass; n > 0;) {
        size_t take = (size_t)min_u64(n, RANGE_BYTES - f->to->n);
        memcpy(f->to->p + f->to->n, p, take);
        f->to->n += take;
        p += take;
        n -= take;
        if (f->to->n == RANGE_BYTES && !turn_over(f)) return false;
    }
    return true;
}

static void begin_again(void *context) {
    fetch *f = context;
    f->to->n = 0;
    f->skip = f->done;
}

static void *fetch_whole(void *context) {
    remote *r = context;
    http *h = NULL;
    error why = {0};
    http_reply reply;
    fetch f = {
        .r = r, .to = &r->slots[1], .range = 1, .done = RANGE_BYTES, .skip = RANGE_BYTES};
    http_ask ask = {.address = r->address.p,
                    .place = &r->place,
                    .tag = r->tag,
                    .take = take_in_order,
                    .context = &f,
                    .stop = &r->stop};
    status st = prepare_slot(f.to)
                    ? http_open(&h, &why)
                    : error_set(&why, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    if (st == OK) st = http_get_patiently(h, &ask, begin_again, &reply, &why);
    if (st == OK) st = check_length(r, f.done, &why);
    if (st == OK && !atomic_load(&r->stop)) st = check_same(r, &reply, &why);
    http_close(h);
    if (st != OK) {
        tell_failure(r, st, &why);
        return NULL;
    }
    pthread_mutex_lock(&r->lock);
    r->n_ranges = f.range + (f.to->n > 0);
    f.to->ready = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* ---- the front --------------------------------------------------------------------------- */

static void start_threads(remote *r) {
    uint64_t left = r->n_ranges == UINT64_MAX ? 1 : r->n_ranges - 1;
    int n = (int)min_u64(left, r->ranged ? MOST_THREADS : 1);
    void *(*work)(void *) = r->ranged ? fetch_ranges : fetch_whole;
    for (int i = 0; i < n; i++) {
        if (pthread_create(&r->threads[r->n_threads], NULL, work, r) != 0) break;
        r->n_threads++;
    }
}

static status open_first(remote *r, const char *url, error *err) {
    http *h = NULL;
    http_reply reply;
    TRY(remote_place_of(&r->arena, url, &r->place, err));
    r->address = remote_address(&r->arena, &r->place, r->place.key);
    if (!r->address.p) FAIL_MEMORY(err);
    TRY(http_open(&h, err));
    status st = fetch_range(r, h, 0, &reply, err);
    http_close(h);
    TRY(st);
    memcpy(r->tag, reply.tag, sizeof r->tag);
    memcpy(r->seen, reply.tag, sizeof r->seen);
    r->mtime_ns = reply.mtime_ns;
    /* If-Match compares strictly; a weak tag never matches. */
    if (str_starts(str_of(r->tag), STR("W/"))) r->tag[0] = 0;
    slot *first = &r->slots[0];
    first->ready = true;
    r->ranged = reply.ranged;
    r->size_bytes = reply.total_bytes;
    r->fetching = 1;
    r->n_ranges = r->size_bytes == UINT64_MAX ? UINT64_MAX
                                              : (r->size_bytes + RANGE_BYTES - 1) / RANGE_BYTES;
    if (first->n < RANGE_BYTES) r->n_ranges = first->n > 0; /* that was all */
    if (first->n < RANGE_BYTES) r->size_bytes = first->n;
    if (r->size_bytes != UINT64_MAX) TRY(check_length(r, r->size_bytes, err));
    if (r->n_ranges > 1) start_threads(r);
    if (r->n_ranges > 1 && !r->n_threads) FAIL_MEMORY(err);
    return OK;
}

status remote_open(const char *url, remote **out, error *err) {
    remote *r = mem_zalloc(sizeof *r);
    if (!r) FAIL_MEMORY(err);
    arena_init(&r->arena, 0);
    atomic_init(&r->stop, false);
    r->size_bytes = UINT64_MAX;
    r->most_bytes = most_bytes();
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
    status st = open_first(r, url, err);
    if (st != OK) {
        remote_close(r);
        return st;
    }
    *out = r;
    return OK;
}

void remote_stop(remote *r) {
    pthread_mutex_lock(&r->lock);
    atomic_store(&r->stop, true);
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

void remote_close(remote *r) {
    if (!r) return;
    remote_stop(r);
    for (int i = 0; i < r->n_threads; i++) pthread_join(r->threads[i], NULL);
    for (int i = 0; i < N_SLOTS; i++)
        if (r->slots[i].p) mem_unmap(r->slots[i].p, RANGE_BYTES);
    pthread_cond_destroy(&r->changed);
    pthread_mutex_destroy(&r->lock);
    arena_fini(&r->arena);
    mem_free(r);
}

uint64_t remote_size_bytes(const remote *r) {
    return r->size_bytes == UINT64_MAX ? 0 : r->size_bytes;
}

/* Waits for the range being read; false at the end. Under the lock. */
static status wait_for_slot(remote *r, bool *end, error *err) {
    const slot *s = &r->slots[r->reading % N_SLOTS];
    while (!s->ready && r->reading < r->n_ranges && r->failed == OK && !atomic_load(&r->stop))
        pthread_cond_wait(&r->changed, &r->lock);
    *end = r->reading >= r->n_ranges;
    if (*end || s->ready) return OK;
    if (r->failed != OK)
        return error_set(err, r->failed, r->why.offset, r->why.message, r->why.n_args,
                         r->why.args);
    FAIL(err, ERR_CANCELLED, NOPOS, MSG_READ_CANCELLED,
         arg_text("path", remote_shown(r->address)));
}

status remote_read(remote *r, char *to, size_t room, size_t *n, error *err) {
    bool end = false;
    pthread_mutex_lock(&r->lock);
    status st = wait_for_slot(r, &end, err);
    slot *s = &r->slots[r->reading % N_SLOTS];
    pthread_mutex_unlock(&r->lock);
    if (st != OK) return st;
    *n = 0;
    if (end) return OK;
    size_t take = (size_t)min_u64(room, s->n - r->at);
    memcpy(to, s->p + r->at, take);
    r->at += take;
    *n = take;
    if (r->at < s->n) return OK;
    pthread_mutex_lock(&r->lock);
    s->ready = false;
    r->at = 0;
    r->reading++;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    return OK;
}
