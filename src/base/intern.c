/* intern.c: every distinct byte string once; lookups without a lock.
 *
 *      table (newest)            text blocks (append only)
 *      ┌──────────┬─────┐        ┌────┬───────────┬────┬──────────
 *      │ tag · id │  •──┼───────>│ 11 │ aten::add…│  5 │ …
 *      └──────────┴─────┘        └────┴───────────┴────┴──────────
 *      blocks[id >> 11][id & 2047]  ──^                for intern_get
 *
 * A place holds the upper half of the hash (the tag) and the id in one atomic word, and the
 * address of the text. It is written once: text and address first, then the word with release.
 * A reader that sees the word (acquire) sees the rest. 0 marks a free place, which id 0, the
 * empty string, never needs.
 *
 * The place of a string is the top bits of its tag, so a larger table is filled by walking the
 * old one in order, without hashing again. A larger table is published as a whole; readers
 * still in an older one at worst miss a new string, take the mutex and find it there. Old
 * tables are kept until intern_free, together never more than the newest.
 *
 * This is the hottest function of an import (about five million lookups per second and core):
 * the key is hashed 8 bytes at a time, a hit touches one place and the text, and both hash and
 * comparison are inline. */
#include "base/intern.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/mem.h"
#include "base/pages.h"
#include "base/seed_int.h"

#define FIRST_BITS 8 /* a page: there are thousands of small tables, one for each worker */
#define LAST_BITS 31
#define BLOCK_BITS 11
#define BLOCK_IDS ((uint32_t)1 << BLOCK_BITS)
#define MAX_BLOCKS ((size_t)1 << 19)
#define MAX_IDS ((uint32_t)1 << 30) /* MAX_BLOCKS × BLOCK_IDS, and half of 2^LAST_BITS */
#define FIRST_TEXT_BLOCK \
    ((size_t)16 << 10) /* each is twice as large as the one before, up to */
#define TEXT_BLOCK ((size_t)1 << 20)
#define MAX_LENGTH ((size_t)1 << 30)
#define INLINE static inline __attribute__((always_inline))

typedef struct {
    _Atomic uint64_t word; /* tag << 32 | id; 0: free */
    const char *text;      /* the bytes; their length is in the four bytes before them */
} place;

typedef struct table table;
struct table {
    size_t mask;    /* places - 1 */
    unsigned shift; /* 32 - bits: a tag's first place is tag >> shift */
    unsigned bits;
    table *older;
    place places[];
};

/* A mapping with texts; they follow this head. */
typedef struct text_block text_block;
struct text_block {
    text_block *older;
    size_t size_bytes;
};

typedef _Atomic(const char **) id_block; /* BLOCK_IDS texts by id */

struct intern {
    _Atomic(table *) newest;
    id_block *blocks; /* MAX_BLOCKS of them, mapped: only the used ones are resident */
    _Atomic uint32_t count;
    _Atomic uint64_t bytes;
    pthread_mutex_t adding; /* guards the fields below, and every write to those above */
    text_block *texts;
    size_t block_bytes; /* of the newest text block that is not a long text's own */
    char *at, *end;     /* free space in it */
};

static inline uint64_t read64(const char *p) {
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint32_t read32(const char *p) {
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* One multiplication folds 16 bytes; the ends overlap, so no byte is read one by one. */
INLINE uint64_t hash_bytes(const char *p, size_t n) {
    uint64_t h = seeds[0] ^ n, a, b;
    if (n > 16) {
        const char *last = p + n - 16;
        if (n > 64) { /* two chains hide the latency of the multiplication */
            uint64_t g = seeds[3];
            for (; p + 32 < last; p += 32) {
                h = fold_multiply(read64(p) ^ seeds[1], read64(p + 8) ^ h);
                g = fold_multiply(read64(p + 16) ^ seeds[2], read64(p + 24) ^ g);
            }
            h ^= g;
        }
        for (; p < last; p += 16) h = fold_multiply(read64(p) ^ seeds[1], read64(p + 8) ^ h);
        a = read64(last);
        b = read64(last + 8);
    } else if (n >= 8) {
        a = read64(p);
        b = read64(p + n - 8);
    } else if (n >= 4) {
        a = read32(p);
        b = read32(p + n - 4);
    } else {
        a = n ? (uint64_t)(unsigned char)p[0] << 16 | (uint64_t)(unsigned char)p[n / 2] << 8 |
                    (unsigned char)p[n - 1]
              : 0;
        b = 0;
    }
    return fold_multiply(fold_multiply(a ^ seeds[1], b ^ h), seeds[2]);
}

INLINE bool differ_in_16(const char *a, const char *b) {
    return ((read64(a) ^ read64(b)) | (read64(a + 8) ^ read64(b + 8))) != 0;
}

INLINE bool same_bytes(const char *a, const char *b, size_t n) {
    if (n > 16) {
        for (size_t i = 0; i + 16 < n; i += 16) {
            if (differ_in_16(a + i, b + i)) return false;
        }
        return !differ_in_16(a + n - 16, b + n - 16);
    }
    if (n >= 8) return read64(a) == read64(b) && read64(a + n - 8) == read64(b + n - 8);
    if (n >= 4) return read32(a) == read32(b) && read32(a + n - 4) == read32(b + n - 4);
    for (size_t i = 0; i < n; i++) {
        if (a[i] != b[i]) return false;
    }
    return true;
}

static inline size_t table_size_bytes(unsigned bits) {
    return sizeof(table) + (sizeof(place) << bits);
}

/* The id of s, or 0. */
INLINE uint32_t look_up(const table *tab, str s, uint64_t hash) {
    uint32_t tag = (uint32_t)(hash >> 32);
    size_t mask = tab->mask, i = tag >> tab->shift;
    for (;; i = (i + 1) & mask) {
        const place *pl = &tab->places[i];
        uint64_t word = atomic_load_explicit(&pl->word, memory_order_acquire);
        if (word == 0) return 0;
        if ((uint32_t)(word >> 32) == tag && read32(pl->text - 4) == s.n &&
            same_bytes(pl->text, s.p, s.n))
            return (uint32_t)word;
    }
}

/* The first free place for a tag; the mutex is held or the table is not published yet. */
static place *free_place(table *tab, uint32_t tag) {
    size_t mask = tab->mask, i = tag >> tab->shift;
    while (atomic_load_explicit(&tab->places[i].word, memory_order_relaxed)) i = (i + 1) & mask;
    return &tab->places[i];
}

static table *new_table(unsigned bits) {
    table *tab = pages_take_zeroed(table_size_bytes(bits));
    if (!tab) return NULL;
    tab->bits = bits;
    tab->shift = 32 - bits;
    tab->mask = ((size_t)1 << bits) - 1;
    return tab;
}

intern *intern_new(void) {
    intern *t = mem_zalloc(sizeof *t);
    if (!t) return NULL;
    table *tab = new_table(FIRST_BITS);
    t->blocks = mem_reserve(MAX_BLOCKS * sizeof(id_block));
    atomic_init(&t->newest, tab);
    atomic_init(&t->count, 1); /* id 0 is the empty string: no place, no text */
    pthread_mutex_init(&t->adding, NULL);
    if (tab && t->blocks) return t;
    intern_free(t);
    return NULL;
}

void intern_free(intern *t) {
    if (!t) return;
    table *older;
    for (table *tab = atomic_load(&t->newest); tab; tab = older) {
        older = tab->older;
        pages_give(tab, table_size_bytes(tab->bits));
    }
    text_block *before;
    for (text_block *b = t->texts; b; b = before) {
        before = b->older;
        pages_give(b, b->size_bytes);
    }
    for (size_t i = 0; t->blocks && i < MAX_BLOCKS; i++) {
        const char **ids = atomic_load(&t->blocks[i]);
        if (!ids) break;
        pages_give(ids, BLOCK_IDS * sizeof *ids);
    }
    mem_unmap(t->blocks, MAX_BLOCKS * sizeof(id_block));
    pthread_mutex_destroy(&t->adding);
    mem_free(t);
}

/* Room for a text of n bytes with its length before it and a NUL after it; NULL without
 * memory. */
static char *take_text(intern *t, size_t n) {
    size_t need = (4 + n + 1 + 3) & ~(size_t)3;
    if (need <= (size_t)(t->end - t->at)) {
        char *p = t->at;
        t->at += need;
        return p;
    }
    /* A long text gets its own mapping and leaves the current block open. */
    bool is_long = need > TEXT_BLOCK / 4;
    size_t size = t->block_bytes ? 2 * t->block_bytes : FIRST_TEXT_BLOCK;
    while (size < 4 * need) size *= 2;
    if (size > TEXT_BLOCK) size = TEXT_BLOCK;
    if (is_long) size = sizeof(text_block) + need + INTERN_PAD;
    text_block *b = pages_take_zeroed(size);
    if (!b) return NULL;
    *b = (text_block){.older = t->texts, .size_bytes = size};
    t->texts = b;
    char *p = (char *)(b + 1);
    if (!is_long) {
        t->block_bytes = size;
        t->at = p + need;
        t->end = (char *)b + size - INTERN_PAD;
    }
    return p;
}

/* Publishes a table of twice the size. */
static table *grow(intern *t, table *old) {
    if (old->bits == LAST_BITS) return NULL;
    table *tab = new_table(old->bits + 1);
    if (!tab) return NULL;
    size_t n = (size_t)1 << old->bits;
    for (size_t i = 0; i < n; i++) {
        uint64_t word = atomic_load_explicit(&old->places[i].word, memory_order_relaxed);
        if (!word) continue;
        place *to = free_place(tab, (uint32_t)(word >> 32));
        to->text = old->places[i].text;
        atomic_store_explicit(&to->word, word, memory_order_relaxed);
    }
    tab->older = old;
    atomic_store_explicit(&t->newest, tab, memory_order_release);
    return tab;
}

/* Adds s, which the newest table does not have; the mutex is held. */
static uint32_t insert(intern *t, table *tab, str s, uint64_t hash) {
    uint32_t id = atomic_load_explicit(&t->count, memory_order_relaxed);
    if (id == MAX_IDS || s.n > MAX_LENGTH) return UINT32_MAX;
    if (id > (uint32_t)1 << (tab->bits - 1)) {
        tab = grow(t, tab);
        if (!tab) return UINT32_MAX;
    }
    id_block *slot = &t->blocks[id >> BLOCK_BITS];
    const char **ids = atomic_load_explicit(slot, memory_order_relaxed);
    if (!ids) {
        ids = pages_take_zeroed(BLOCK_IDS * sizeof *ids);
        if (!ids) return UINT32_MAX;
        atomic_store_explicit(slot, ids, memory_order_release);
    }
    char *p = take_text(t, s.n);
    if (!p) return UINT32_MAX;
    uint32_t length = (uint32_t)s.n;
    memcpy(p, &length, sizeof length);
    p += sizeof length;
    memcpy(p, s.p, s.n); /* the NUL after it is there already: blocks are zeroed */
    ids[id & (BLOCK_IDS - 1)] = p;
    place *to = free_place(tab, (uint32_t)(hash >> 32));
    to->text = p;
    atomic_store_explicit(&to->word, (hash >> 32) << 32 | id, memory_order_release);
    atomic_store_explicit(&t->bytes, atomic_load(&t->bytes) + s.n, memory_order_relaxed);
    atomic_store_explicit(&t->count, id + 1, memory_order_release);
    return id;
}

__attribute__((noinline)) static uint32_t add_new(intern *t, str s, uint64_t hash) {
    pthread_mutex_lock(&t->adding);
    table *tab = atomic_load_explicit(&t->newest, memory_order_relaxed);
    uint32_t id = look_up(tab, s, hash); /* someone else may have been faster */
    if (!id) id = insert(t, tab, s, hash);
    pthread_mutex_unlock(&t->adding);
    return id;
}

uint64_t intern_hash(str s) {
    return hash_bytes(s.p, s.n);
}

INLINE uint32_t add_hashed(intern *t, str s, uint64_t hash) {
    if (s.n == 0) return 0;
    const table *tab = atomic_load_explicit(&t->newest, memory_order_acquire);
    uint32_t id = look_up(tab, s, hash);
    return __builtin_expect(id != 0, 1) ? id : add_new(t, s, hash);
}

uint32_t intern_add_hashed(intern *t, str s, uint64_t hash) {
    return add_hashed(t, s, hash);
}

uint32_t intern_add(intern *t, str s) {
    return add_hashed(t, s, hash_bytes(s.p, s.n));
}

uint32_t intern_find(const intern *t, str s) {
    if (s.n == 0) return 0;
    const table *tab = atomic_load_explicit(&t->newest, memory_order_acquire);
    uint32_t id = look_up(tab, s, hash_bytes(s.p, s.n));
    return id ? id : UINT32_MAX;
}

str intern_get(const intern *t, uint32_t id) {
    if (id >= MAX_IDS) return STR("");
    const char **ids = atomic_load_explicit(&t->blocks[id >> BLOCK_BITS], memory_order_acquire);
    const char *p = ids ? ids[id & (BLOCK_IDS - 1)] : NULL;
    return p ? str_n(p, read32(p - 4)) : STR("");
}

uint32_t intern_count(const intern *t) {
    return atomic_load_explicit(&t->count, memory_order_acquire);
}

uint64_t intern_bytes(const intern *t) {
    return atomic_load_explicit(&t->bytes, memory_order_relaxed);
}
