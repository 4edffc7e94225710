/* hash.c: the one file that knows xxhash.
 *
 * XXH3 with 64 bits and seed 0, whose values are fixed by its published specification, so they may
 * stand in files. The header's code is compiled in rather than linked: calls on short keys are
 * inlined, and it builds for any processor.
 *
 * The stream's state wants 64-byte alignment, which mem_alloc does not promise; the state is placed
 * inside a block that is large enough to align it by hand. */
#include "base/hash.h"

#include "base/mem.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

struct hash_stream {
    XXH3_state_t state;
};
#define ALIGNMENT _Alignof(hash_stream)

uint64_t hash_bytes64(const void *p, size_t n) {
    return XXH3_64bits(n ? p : "", n);
}

hash_stream *hash_stream_new(void) {
    char *block = mem_alloc(sizeof(hash_stream) + 2 * ALIGNMENT);
    if (!block) return NULL;
    /* The block's own address stands just before the state. */
    char *at = block + sizeof block;
    at += (ALIGNMENT - (uintptr_t)at % ALIGNMENT) % ALIGNMENT;
    memcpy(at - sizeof block, &block, sizeof block);
    hash_stream *s = (hash_stream *)(void *)at;
    hash_stream_reset(s);
    return s;
}

void hash_stream_free(hash_stream *s) {
    char *block;
    if (!s) return;
    memcpy(&block, (char *)s - sizeof block, sizeof block);
    mem_free(block);
}

void hash_stream_reset(hash_stream *s) {
    XXH3_64bits_reset(&s->state);
}

void hash_stream_add(hash_stream *s, const void *p, size_t n) {
    if (n) XXH3_64bits_update(&s->state, p, n);
}

uint64_t hash_stream_value(const hash_stream *s) {
    return XXH3_64bits_digest(&s->state);
}
