/* arena.c: blocks of memory that are filled from the front and freed together.
 *
 *      blocks -> [head| a | b | c ......free......] -> [head| full ] -> [head| one large ]
 *                               ^at              ^end
 *
 * Blocks start at 64 KiB and double to 1 MiB. A request that would waste the rest of a block
 * because it is large gets a separate block, linked after the current one, which stays in use.
 * From OWN_FROM on every request does: such a block grows without its old copy, and can be
 * given back before the others.
 *
 * used_bytes counts what was asked for, rounded to 16; the limit is compared with that and not
 * with the blocks, so whether a request fails does not depend on how it falls into blocks.
 *
 * Under AddressSanitizer all free space is poisoned and 16 poisoned bytes follow each
 * allocation. Cleanups live in the arena they belong to. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/pages.h"
#include "base/stop.h"

#if defined(__SANITIZE_ADDRESS__)
#define POISONING 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISONING 1
#endif
#endif

#ifdef POISONING
#include <sanitizer/asan_interface.h>
#define RED_ZONE ((size_t)16)
#define POISON(p, n) ASAN_POISON_MEMORY_REGION((p), (n))
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
#else
#define RED_ZONE ((size_t)0)
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

#define ALIGNMENT ((size_t)16)
#define FIRST_BLOCK ((size_t)64 << 10)
#define LARGEST_BLOCK ((size_t)1 << 20)
#define OWN_FROM (LARGEST_BLOCK / 4 + 1)

struct arena_block {
    arena_block *next, *previous;
    size_t size_bytes; /* with this head */
    size_t unused;
};
_Static_assert(sizeof(arena_block) % ALIGNMENT == 0, "allocations follow the head, aligned");

struct arena_cleanup {
    arena_cleanup *next;
    void (*fn)(void *);
    void *what;
};

void arena_init(arena *a, size_t limit_bytes) {
    *a = (arena){.limit_bytes = limit_bytes};
}

void arena_reset(arena *a) {
    for (arena_cleanup *c = a->cleanups; c; c = c->next) c->fn(c->what);
    arena_block *next;
    for (arena_block *b = a->blocks; b; b = next) {
        next = b->next;
        UNPOISON(b, b->size_bytes);
        pages_give(b, b->size_bytes);
    }
    arena_init(a, a->limit_bytes);
}

/* Lets its neighbors point to a block, or with NULL past it. */
static void relink(arena *a, const arena_block *b, arena_block *as) {
    if (b->previous)
        b->previous->next = as ? as : b->next;
    else
        a->blocks = as ? as : b->next;
    if (b->next) b->next->previous = as ? as : b->previous;
}

/* A block after another one, or before all. */
static arena_block *new_block(arena *a, size_t size, arena_block *previous) {
    arena_block *b = stop_is_asked(a) ? NULL : pages_take(size);
    if (!b) return NULL;
    *b = (arena_block){.next = previous ? previous->next : a->blocks,
                       .previous = previous,
                       .size_bytes = size};
    relink(a, b, b);
    POISON(b + 1, size - sizeof *b);
    return b;
}

/* Room for `need` bytes in a separate block or at the front of a new current block. */
static char *take_from_new_block(arena *a, size_t need) {
    size_t size = a->blocks ? a->blocks->size_bytes * 2 : FIRST_BLOCK;
    if (size > LARGEST_BLOCK) size = LARGEST_BLOCK;
    if (need > size / 4) {
        arena_block *own = new_block(a, sizeof *own + need, a->blocks);
        return own ? (char *)(own + 1) : NULL;
    }
    arena_block *b = new_block(a, size, NULL);
    if (!b) return NULL;
    char *p = (char *)(b + 1);
    a->at = p + need;
    a->end = (char *)b + size;
    return p;
}

/* Rounded size; 0 when it is beyond any limit. */
static size_t round_size(size_t n) {
    if (n == 0) return ALIGNMENT;
    return n > SIZE_MAX / 4 ? 0 : (n + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
}

static _Atomic uint64_t refusals;

static bool fits_limit(const arena *a, size_t more) {
    if (!a->limit_bytes ||
        (a->used_bytes <= a->limit_bytes && more <= a->limit_bytes - a->used_bytes))
        return true;
    atomic_fetch_add_explicit(&refusals, 1, memory_order_relaxed);
    return false;
}

uint64_t arena_refusals(void) {
    return atomic_load_explicit(&refusals, memory_order_relaxed);
}

void *arena_alloc(arena *a, size_t size_bytes) {
    size_t size = round_size(size_bytes), need = size + RED_ZONE;
    if (!size || !fits_limit(a, size)) return NULL;
    char *p;
    if (need < OWN_FROM && need <= (size_t)(a->end - a->at)) {
        p = a->at;
        a->at += need;
    } else {
        p = take_from_new_block(a, need);
        if (!p) return NULL;
    }
    a->used_bytes += size;
    UNPOISON(p, size_bytes);
    return p;
}

void *arena_zalloc(arena *a, size_t size_bytes) {
    void *p = arena_alloc(a, size_bytes);
    return p ? memset(p, 0, size_bytes) : NULL;
}

void *arena_array(arena *a, size_t n, size_t elem_bytes) {
    size_t size;
    if (__builtin_mul_overflow(n, elem_bytes, &size)) return NULL;
    return arena_zalloc(a, size);
}

/* Without a copy where the kernel moves pages. */
static void *grow_own(arena *a, void *p, size_t old_size, size_t size) {
    if (!fits_limit(a, size - old_size) || stop_is_asked(a)) return NULL;
    arena_block *b = (arena_block *)p - 1;
    UNPOISON(b, b->size_bytes);
    size_t block_bytes = sizeof *b + size + RED_ZONE;
    arena_block *grown = pages_resize(b, b->size_bytes, block_bytes);
    if (!grown) {
        POISON((char *)p + old_size, RED_ZONE);
        return NULL;
    }
    grown->size_bytes = block_bytes;
    relink(a, grown, grown);
    a->used_bytes += size - old_size;
    return grown + 1;
}

void *arena_grow(arena *a, void *p, size_t old_bytes, size_t new_bytes) {
    size_t old_size = round_size(old_bytes), size = round_size(new_bytes);
    if (!p) return arena_alloc(a, new_bytes);
    if (!size) return NULL;
    if (size <= old_size) {
        UNPOISON(p, new_bytes); /* within the rounding, or smaller */
        return p;
    }
    if (old_size + RED_ZONE >= OWN_FROM) {
        void *q = grow_own(a, p, old_size, size);
        if (q) POISON((char *)q + new_bytes, size + RED_ZONE - new_bytes);
        return q;
    }
    bool is_last = (char *)p + old_size + RED_ZONE == a->at;
    if (is_last && size + RED_ZONE < OWN_FROM && size - old_size <= (size_t)(a->end - a->at)) {
        if (!fits_limit(a, size - old_size)) return NULL;
        a->at += size - old_size;
        a->used_bytes += size - old_size;
        UNPOISON(p, new_bytes);
        return p;
    }
    void *q = arena_alloc(a, new_bytes);
    if (!q) return NULL;
    memcpy(q, p, old_bytes);
    POISON(p, old_size);
    return q;
}

void arena_drop(arena *a, void *p, size_t size_bytes) {
    size_t size = round_size(size_bytes);
    if (!p) return;
    POISON(p, size);
    if (size + RED_ZONE < OWN_FROM) return;
    arena_block *b = (arena_block *)p - 1;
    relink(a, b, NULL);
    a->used_bytes -= size;
    UNPOISON(b, b->size_bytes);
    pages_give(b, b->size_bytes);
}

str arena_str(arena *a, str s) {
    if (s.n == SIZE_MAX) return STR_NONE;
    char *p = arena_alloc(a, s.n + 1);
    if (!p) return STR_NONE;
    if (s.n) memcpy(p, s.p, s.n);
    p[s.n] = 0;
    return str_n(p, s.n);
}

str arena_printf(arena *a, const char *format, ...) {
    va_list values;
    va_start(values, format);
    int n = vsnprintf(NULL, 0, format, values);
    va_end(values);
    char *p = n < 0 ? NULL : arena_alloc(a, (size_t)n + 1);
    if (!p) return STR_NONE;
    va_start(values, format);
    vsnprintf(p, (size_t)n + 1, format, values);
    va_end(values);
    return str_n(p, (size_t)n);
}

bool arena_on_reset(arena *a, void (*fn)(void *), void *what) {
    arena_cleanup *c = arena_alloc(a, sizeof *c);
    if (!c) {
        fn(what);
        return false;
    }
    *c = (arena_cleanup){.next = a->cleanups, .fn = fn, .what = what};
    a->cleanups = c;
    return true;
}
