/* caching_allocator.c: PyTorch's allocator of CUDA, on numbers alone.
 *
 * Blocks lie side by side in segments:
 *
 *     segment   ▐ used │ free │ used ▌        prev, next: neighbors inside it
 *
 * Free blocks are in a skip list by size, then address, one for small and one for large blocks:
 * the first that is large enough is the best fit. Levels come from the number of the block, so
 * that every replay is the same. */
#include "analyse/fits/caching_allocator.h"

#include <string.h>

#include "base/map.h"
#include "base/num.h"

enum { LEVELS = 12, SMALL = 0, LARGE = 1 };

static const int64_t SMALL_BLOCK = 1 << 20, SMALL_SEGMENT = 2 << 20, LARGE_SEGMENT = 20 << 20,
                     LARGE_BLOCK = 10 << 20, SEGMENT_STEP = 2 << 20;

struct allocator_block {
    int64_t address, size;
    int64_t absent; /* expandable: bytes of it that were given back to the device */
    uint32_t prev, next;
    uint32_t after[LEVELS]; /* in the list of free blocks */
    uint8_t pool;
    bool is_free;
};

status allocator_init(caching_allocator *c, allocator_kind kind, int64_t limit, arena *a,
                      error *err) {
    *c = (caching_allocator){.kind = kind, .limit = limit, .arena = a, .n_blocks = 1};
    for (int i = 0; i < 2; i++) {
        c->free_heads[i] = ARENA_ARRAY(a, uint32_t, LEVELS);
        if (!c->free_heads[i]) FAIL_MEMORY(err);
    }
    return OK;
}

static int64_t round_up(int64_t bytes, int64_t step) {
    return mul_i64(sub_i64(add_i64(bytes, step), 1) / step, step);
}

int64_t allocator_round(allocator_kind kind, int64_t bytes) {
    if (kind == ALLOCATOR_EXACT || bytes <= 0) return bytes;
    return round_up(bytes, ALLOCATOR_STEP);
}

/* ---- free blocks ------------------------------------------------------------------------- */

static int level_of(uint32_t block) {
    uint64_t bits = hash_u64(block) | (uint64_t)1 << (2 * (LEVELS - 1));
    return __builtin_ctzll(bits) / 2 + 1; /* each level holds a quarter of the one below */
}

static bool comes_before(const allocator_block *x, int64_t size, int64_t address) {
    return x->size != size ? x->size < size : x->address < address;
}

/* The link at each level after which such a block is or would be. */
static void find_links(caching_allocator *c, uint8_t pool, int64_t size, int64_t address,
                       uint32_t *links[LEVELS]) {
    uint32_t *row = c->free_heads[pool];
    for (int level = LEVELS; level-- > 0;) {
        while (row[level] && comes_before(&c->blocks[row[level]], size, address))
            row = c->blocks[row[level]].after;
        links[level] = &row[level];
    }
}

static void list_free(caching_allocator *c, uint32_t block) {
    uint32_t *links[LEVELS];
    allocator_block *b = &c->blocks[block];
    find_links(c, b->pool, b->size, b->address, links);
    for (int level = 0; level < level_of(block); level++) {
        b->after[level] = *links[level];
        *links[level] = block;
    }
    b->is_free = true;
}

static void unlist(caching_allocator *c, uint32_t block) {
    uint32_t *links[LEVELS];
    allocator_block *b = &c->blocks[block];
    find_links(c, b->pool, b->size, b->address, links);
    for (int level = 0; level < level_of(block); level++)
        if (*links[level] == block) *links[level] = b->after[level];
    b->is_free = false;
}

/* The best fit, 0: none. The end of an expandable segment could grow to any size, so that it
 * fits worst of all. */
static uint32_t best_fit(caching_allocator *c, uint8_t pool, int64_t size) {
    uint32_t *links[LEVELS];
    find_links(c, pool, size, 0, links);
    uint32_t found = *links[0];
    if (found && c->kind == ALLOCATOR_EXPANDABLE && found == c->last[pool]) {
        uint32_t other = c->blocks[found].after[0];
        if (other) return other;
    }
    return found;
}

/* ---- blocks ------------------------------------------------------------------------------ */

static status new_block(caching_allocator *c, uint8_t pool, uint32_t *out, error *err) {
    if (c->unused) {
        *out = c->unused;
        c->unused = c->blocks[*out].next;
    } else {
        if (c->n_blocks >= c->cap_blocks) {
            size_t cap = c->cap_blocks ? (size_t)c->cap_blocks * 2 : 1024;
            allocator_block *more = arena_grow(
                c->arena, c->blocks, c->cap_blocks * sizeof *more, cap * sizeof *more);
            if (!more || cap > UINT32_MAX / 2) FAIL_MEMORY(err);
            c->blocks = more;
            c->cap_blocks = (uint32_t)cap;
        }
        *out = c->n_blocks++;
    }
    c->blocks[*out] = (allocator_block){.pool = pool};
    return OK;
}

static void drop_block(caching_allocator *c, uint32_t block) {
    c->blocks[block].next = c->unused;
    c->unused = block;
}

/* Takes the neighbor after `block` into it; neither is listed. */
static void join_next(caching_allocator *c, uint32_t block) {
    allocator_block *b = &c->blocks[block];
    uint32_t gone = b->next;
    b->size = add_i64(b->size, c->blocks[gone].size);
    b->absent = add_i64(b->absent, c->blocks[gone].absent);
    b->next = c->blocks[gone].next;
    if (b->next) c->blocks[b->next].prev = block;
    if (c->last[b->pool] == gone) c->last[b->pool] = block;
    drop_block(c, gone);
}

static bool is_worth_splitting(const caching_allocator *c, uint8_t pool, int64_t rest) {
    if (pool == SMALL || c->kind == ALLOCATOR_EXPANDABLE) return rest >= ALLOCATOR_STEP;
    return rest > SMALL_BLOCK;
}

/* Cuts what is left over off an unlisted free block. */
static status split(caching_allocator *c, uint32_t block, int64_t size, error *err) {
    int64_t rest = sub_i64(c->blocks[block].size, size);
    uint8_t pool = c->blocks[block].pool;
    uint32_t made;
    if (!is_worth_splitting(c, pool, rest)) return OK;
    TRY(new_block(c, pool, &made, err));
    allocator_block *b = &c->blocks[block], *r = &c->blocks[made];
    r->address = add_i64(b->address, size);
    r->size = rest;
    r->absent = min_i64(b->absent, rest);
    r->prev = block;
    r->next = b->next;
    if (b->next) c->blocks[b->next].prev = made;
    b->next = made;
    b->size = size;
    b->absent = sub_i64(b->absent, r->absent);
    if (c->last[pool] == block) c->last[pool] = made;
    list_free(c, made);
    return OK;
}

/* ---- from the device --------------------------------------------------------------------- */

static bool reserve(caching_allocator *c, int64_t bytes) {
    if (add_i64(c->reserved, bytes) > c->limit) return false;
    c->reserved = add_i64(c->reserved, bytes);
    c->most_reserved = max_i64(c->most_reserved, c->reserved);
    return true;
}

static int64_t block_end(const allocator_block *b) {
    return add_i64(b->address, b->size);
}

static int64_t segment_size(int64_t size) {
    if (size <= SMALL_BLOCK) return SMALL_SEGMENT;
    return size < LARGE_BLOCK ? LARGE_SEGMENT : round_up(size, SEGMENT_STEP);
}

static status add_segment(caching_allocator *c, uint8_t pool, int64_t size, uint32_t *out,
                          error *err) {
    int64_t bytes = segment_size(size);
    *out = 0;
    if (!reserve(c, bytes)) return OK;
    TRY(new_block(c, pool, out, err));
    c->blocks[*out].address = c->end_address;
    c->blocks[*out].size = bytes;
    c->end_address = add_i64(c->end_address, bytes);
    return OK;
}

/* Grows the segment at its end, by as much as a free block there does not hold yet. */
static status expand(caching_allocator *c, uint8_t pool, int64_t size, uint32_t *out,
                     error *err) {
    /* Far apart, so that one never reaches the other. */
    static const int64_t START[] = {[SMALL] = 0, [LARGE] = (int64_t)1 << 60};
    uint32_t last = c->last[pool];
    bool joins = last && c->blocks[last].is_free;
    int64_t step = pool == SMALL ? SMALL_SEGMENT : LARGE_SEGMENT;
    int64_t more = round_up(joins ? sub_i64(size, c->blocks[last].size) : size, step);
    *out = 0;
    if (!reserve(c, more)) return OK;
    if (joins) {
        unlist(c, last);
        c->blocks[last].size = add_i64(c->blocks[last].size, more);
        *out = last;
        return OK;
    }
    TRY(new_block(c, pool, out, err));
    allocator_block *b = &c->blocks[*out];
    b->address = last ? block_end(&c->blocks[last]) : START[pool];
    b->size = more;
    b->prev = last;
    if (last) c->blocks[last].next = *out;
    c->last[pool] = *out;
    return OK;
}

/* Whole pieces of a free block of an expandable segment that could be given back. */
static int64_t whole_pieces(const allocator_block *b) {
    int64_t step = b->pool == SMALL ? SMALL_SEGMENT : LARGE_SEGMENT;
    int64_t from = round_up(b->address, step), to = mul_i64(block_end(b) / step, step);
    return max_i64(0, sub_i64(to, from));
}

/* As when the device has no more memory: everything that is free goes back. */
static void give_back(caching_allocator *c) {
    c->retries++;
    for (uint8_t pool = SMALL; pool <= LARGE; pool++)
        for (uint32_t next, i = c->free_heads[pool][0]; i; i = next) {
            allocator_block *b = &c->blocks[i];
            next = b->after[0];
            if (c->kind == ALLOCATOR_EXPANDABLE) {
                int64_t more = max_i64(0, sub_i64(whole_pieces(b), b->absent));
                b->absent = add_i64(b->absent, more);
                c->reserved = sub_i64(c->reserved, more);
            } else if (!b->prev && !b->next) {
                c->reserved = sub_i64(c->reserved, b->size);
                unlist(c, i);
                drop_block(c, i);
            }
        }
}

/* A free block that is large enough, unlisted; 0: there is no room. */
static status find_room(caching_allocator *c, uint8_t pool, int64_t size, uint32_t *out,
                        error *err) {
    *out = best_fit(c, pool, size);
    if (*out) {
        allocator_block *b = &c->blocks[*out];
        int64_t step = pool == SMALL ? SMALL_SEGMENT : LARGE_SEGMENT;
        int64_t back = b->absent ? min_i64(b->absent, round_up(size, step)) : 0;
        if (!reserve(c, back)) {
            *out = 0;
            return OK;
        }
        unlist(c, *out);
        b->absent = sub_i64(b->absent, back);
        return OK;
    }
    return c->kind == ALLOCATOR_EXPANDABLE ? expand(c, pool, size, out, err)
                                           : add_segment(c, pool, size, out, err);
}

/* ---- the two calls ----------------------------------------------------------------------- */

static void count(caching_allocator *c, int64_t bytes) {
    c->allocated = add_i64(c->allocated, bytes);
    c->most_allocated = max_i64(c->most_allocated, c->allocated);
}

status allocator_take(caching_allocator *c, int64_t bytes, uint32_t *block, error *err) {
    int64_t size = allocator_round(c->kind, bytes);
    uint8_t pool = size <= SMALL_BLOCK ? SMALL : LARGE;
    *block = 0;
    if (bytes <= 0 || c->exhausted) return OK;
    if (c->kind == ALLOCATOR_EXACT) {
        TRY(new_block(c, pool, block, err));
        c->blocks[*block].size = size;
        c->exhausted = !reserve(c, size);
        count(c, size);
        return OK;
    }
    TRY(find_room(c, pool, size, block, err));
    if (!*block) {
        give_back(c);
        TRY(find_room(c, pool, size, block, err));
    }
    c->exhausted = !*block;
    if (c->exhausted) return OK;
    TRY(split(c, *block, size, err));
    count(c, c->blocks[*block].size);
    return OK;
}

void allocator_release(caching_allocator *c, uint32_t block) {
    if (!block) return;
    allocator_block *b = &c->blocks[block];
    c->allocated = sub_i64(c->allocated, b->size);
    if (c->kind == ALLOCATOR_EXACT) {
        c->reserved = sub_i64(c->reserved, b->size);
        drop_block(c, block);
        return;
    }
    if (b->next && c->blocks[b->next].is_free) {
        unlist(c, b->next);
        join_next(c, block);
    }
    if (b->prev && c->blocks[b->prev].is_free) {
        uint32_t before = b->prev;
        unlist(c, before);
        join_next(c, before);
        block = before;
    }
    list_free(c, block);
}
