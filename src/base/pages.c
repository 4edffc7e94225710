/* pages.c: a heap of pages, backed by huge ones.
 *
 * The first touch of a page costs more than most of what is done with it (mem.c), and the
 * arrays of an import come and go: rows as they arrived, then what a sort needs, then the
 * columns. So they share a few spans of address space, each backed by huge pages from its
 * start; a block that is given back is the next one taken.
 *
 *      span   |taken|free|taken|taken|free|....never touched....|
 *                                         ^top   ^touched: from here on all is zero
 *
 * A span is cut into runs of units. The first and the last unit of a run say how long it is and
 * whether it is free, so that free neighbors become one. A block comes from the shortest run
 * that holds it; `longest` spares walking a span that has none. A run that touches the top is
 * not a run any more: the top falls.
 *
 * When more than KEEP bytes were given back and not taken again, the kernel gets those that are
 * whole huge pages. Growing beyond OWN_FROM leads to a separate mapping, which grows without
 * being copied; when it is given back, its pages move into a span, above the top, as far as
 * KEEP allows: page tables change, and no other pages have to be cleared. Under
 * AddressSanitizer every block comes from malloc, which finds what is forgotten and what
 * overruns; in WebAssembly, too, which has no pages to give back. */
#include "base/pages.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/mem.h"
#include "base/mem_int.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__wasm__)
#define BY_MALLOC 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BY_MALLOC 1
#endif
#endif

#ifdef BY_MALLOC

static size_t rounded(size_t n) {
    return n > SIZE_MAX / 4 ? 0 : (n + 4096) & ~(size_t)4095;
}

void *pages_take(size_t size_bytes) {
    if (!rounded(size_bytes) || fault_point(FAULT_ALLOC) || !mem_fits(size_bytes)) return NULL;
    void *p = aligned_alloc(4096, rounded(size_bytes));
    if (p) mem_count((int64_t)size_bytes);
    return p;
}

void *pages_resize(void *p, size_t old_bytes, size_t new_bytes) {
    void *q = pages_take(new_bytes);
    if (!q) return NULL;
    memcpy(q, p, old_bytes < new_bytes ? old_bytes : new_bytes);
    pages_give(p, old_bytes);
    return q;
}

void pages_give(void *p, size_t size_bytes) {
    if (p) mem_count(-(int64_t)size_bytes);
    free(p);
}

void *pages_take_zeroed(size_t size_bytes) {
    void *p = pages_take(size_bytes);
    return p ? memset(p, 0, size_bytes) : NULL;
}

#else

#define UNIT ((size_t)4 << 10)
#define SPAN ((size_t)64 << 20)
#define N_UNITS (SPAN / UNIT)
#define HUGE_BYTES ((size_t)2 << 20)
#define HUGE_UNITS (HUGE_BYTES / UNIT)
#define LARGEST ((size_t)32 << 20)
#define OWN_FROM ((size_t)2 << 20)
#define KEEP ((size_t)8 << 20)
#define FREE_RUN 0x8000u

typedef struct span span;
struct span {
    span *next;
    char *base;
    size_t top, touched;   /* units */
    size_t end;            /* none from here on is ever taken */
    size_t longest;        /* no free run is longer; there may be none as long */
    uint16_t run[N_UNITS]; /* at both ends of each run below top: its units, FREE_RUN */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static span *spans; /* newest first, never freed */
static size_t idle; /* bytes given back and, as far as is known, not taken since */

static void mark_run(span *s, size_t at, size_t n, unsigned flag) {
    s->run[at] = s->run[at + n - 1] = (uint16_t)(n | flag);
}

/* The shortest free run of n units or more; N_UNITS when there is none. */
static size_t find_run(span *s, size_t n) {
    size_t best = N_UNITS, best_length = SIZE_MAX, longest = 0;
    for (size_t i = 0, length; i < s->top && best_length != n; i += length) {
        length = s->run[i] & ~FREE_RUN;
        if (!(s->run[i] & FREE_RUN)) continue;
        if (length > longest) longest = length;
        if (length < n || length >= best_length) continue;
        best = i;
        best_length = length;
    }
    if (best == N_UNITS) s->longest = longest;
    return best;
}

static bool take_free(span *s, size_t n, size_t *at) {
    if (s->longest < n || (*at = find_run(s, n)) == N_UNITS) return false;
    size_t rest = (s->run[*at] & ~FREE_RUN) - n;
    mark_run(s, *at, n, 0);
    if (rest) mark_run(s, *at + n, rest, FREE_RUN);
    return true;
}

static bool take_top(span *s, size_t n, size_t *at) {
    if (s->end - s->top < n) return false;
    *at = s->top;
    s->top += n;
    mark_run(s, *at, n, 0);
    return true;
}

static span *new_span(void) {
    span *s = mem_span(sizeof *s);
    char *base = s ? mem_span(SPAN) : NULL;
    if (!base) return NULL;
    s->base = base;
    s->next = spans;
    s->end = N_UNITS;
    return spans = s;
}

/* n units at *at of the span returned; *dirty of them, the first ones, may not be zero. */
static span *take_units(size_t n, size_t *at, size_t *dirty) {
    span *s = spans;
    while (s && !take_free(s, n, at)) s = s->next;
    if (!s)
        for (s = spans; s && !take_top(s, n, at);) s = s->next;
    if (!s && (s = new_span())) take_top(s, n, at);
    if (!s) return NULL;
    *dirty = *at >= s->touched ? 0 : s->touched - *at < n ? s->touched - *at : n;
    if (*at + n > s->touched) s->touched = *at + n;
    idle -= *dirty * UNIT < idle ? *dirty * UNIT : idle;
    mem_count((int64_t)(n * UNIT));
    return s;
}

static span *span_of(const void *p) {
    span *s = spans;
    while (s && (uintptr_t)p - (uintptr_t)s->base >= SPAN) s = s->next;
    return s;
}

/* Forgets the whole huge pages of the units from … end-1. */
static void forget_units(span *s, size_t from, size_t end) {
    from = (from + HUGE_UNITS - 1) & ~(HUGE_UNITS - 1);
    end &= ~(HUGE_UNITS - 1);
    if (from < end) mem_forget(s->base + from * UNIT, (end - from) * UNIT);
}

static void forget_idle(void) {
    for (span *s = spans; s; s = s->next) {
        for (size_t i = 0; i < s->top; i += s->run[i] & ~FREE_RUN)
            if (s->run[i] & FREE_RUN) forget_units(s, i, i + (s->run[i] & ~FREE_RUN));
        size_t clean = (s->top + HUGE_UNITS - 1) & ~(HUGE_UNITS - 1);
        if (s->touched <= clean) continue;
        forget_units(s, clean, s->touched + HUGE_UNITS - 1);
        s->touched = clean;
    }
    idle = 0;
}

static void give_units(span *s, size_t at, size_t n) {
    mem_count(-(int64_t)(n * UNIT));
    idle += n * UNIT;
    if (at && s->run[at - 1] & FREE_RUN) {
        size_t before = s->run[at - 1] & ~FREE_RUN;
        at -= before;
        n += before;
    }
    if (at + n < s->top && s->run[at + n] & FREE_RUN) n += s->run[at + n] & ~FREE_RUN;
    if (at + n == s->top) {
        s->top = at;
    } else {
        mark_run(s, at, n, FREE_RUN);
        if (n > s->longest) s->longest = n;
    }
    if (idle > KEEP) forget_idle();
}

static size_t units_of(size_t size_bytes) {
    return size_bytes ? (size_bytes + UNIT - 1) / UNIT : 1;
}

/* *dirty: bytes from the start that may not be zero. */
static char *take_own(size_t size_bytes, size_t *dirty) {
    *dirty = 0;
    if (size_bytes >= LARGEST) return mem_map(size_bytes);
    if (fault_point(FAULT_ALLOC)) return NULL;
    size_t at = 0, units = 0;
    if (!mem_fits(size_bytes)) return NULL;
    pthread_mutex_lock(&lock);
    span *s = take_units(units_of(size_bytes), &at, &units);
    pthread_mutex_unlock(&lock);
    if (!s) return NULL;
    *dirty = units * UNIT < size_bytes ? units * UNIT : size_bytes;
    return s->base + at * UNIT;
}

void *pages_take(size_t size_bytes) {
    size_t dirty;
    return take_own(size_bytes, &dirty);
}

void *pages_take_zeroed(size_t size_bytes) {
    size_t dirty;
    char *p = take_own(size_bytes, &dirty);
    return p ? memset(p, 0, dirty) : NULL;
}

/* Moves huge pages of a separate mapping, as many as may be kept, to the end of the touched
 * part of the newest span, where the next caller finds them. False when the mapping still
 * exists. */
static bool adopt(char *p, size_t size_bytes) {
    span *s = spans;
    size_t n = (idle < KEEP ? KEEP - idle : 0) / HUGE_BYTES;
    if (n > size_bytes / HUGE_BYTES) n = size_bytes / HUGE_BYTES;
    if (!s || !n) return false;
    size_t at = (s->touched + HUGE_UNITS - 1) & ~(HUGE_UNITS - 1);
    if (at > s->end || s->end - at < n * HUGE_UNITS) return false;
    if (!mem_move(p, size_bytes, s->base + at * UNIT, n * HUGE_BYTES)) {
        s->end = at; /* after it there may be nothing any more */
        return false;
    }
    s->touched = at + n * HUGE_UNITS;
    idle += n * HUGE_BYTES;
    return true;
}

void pages_give(void *p, size_t size_bytes) {
    if (!p) return;
    pthread_mutex_lock(&lock);
    span *s = size_bytes >= LARGEST ? NULL : span_of(p);
    bool done = s || adopt(p, size_bytes);
    if (s) give_units(s, (size_t)((char *)p - s->base) / UNIT, units_of(size_bytes));
    pthread_mutex_unlock(&lock);
    if (!done) mem_unmap(p, size_bytes);
}

/* Shortens a block of the heap; false when it is not one. */
static bool cut(void *p, size_t old_bytes, size_t new_bytes) {
    if (old_bytes >= LARGEST) return false;
    size_t n = units_of(new_bytes), rest = units_of(old_bytes) - n;
    pthread_mutex_lock(&lock);
    span *s = span_of(p);
    if (s && rest) {
        size_t at = (size_t)((char *)p - s->base) / UNIT;
        mark_run(s, at, n, 0);
        give_units(s, at + n, rest);
    }
    pthread_mutex_unlock(&lock);
    return s != NULL;
}

static bool is_in_heap(const void *p) {
    pthread_mutex_lock(&lock);
    bool found = span_of(p) != NULL;
    pthread_mutex_unlock(&lock);
    return found;
}

void *pages_resize(void *p, size_t old_bytes, size_t new_bytes) {
    if (new_bytes <= old_bytes && cut(p, old_bytes, new_bytes)) return p;
    if (!is_in_heap(p) && (new_bytes >= OWN_FROM || old_bytes >= OWN_FROM))
        return mem_remap(p, old_bytes, new_bytes);
    void *q = new_bytes >= OWN_FROM ? mem_map(new_bytes) : pages_take(new_bytes);
    if (!q) return NULL;
    memcpy(q, p, old_bytes < new_bytes ? old_bytes : new_bytes);
    pages_give(p, old_bytes);
    return q;
}

#endif
