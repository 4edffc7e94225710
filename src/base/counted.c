/* counted.c: blocks that know their size, and a count per thread.
 *
 *     ┌──────────────┬──────────────────
 *     │ size, 16 B   │ what the caller sees
 *     └──────────────┴──────────────────
 *
 * The count is the thread's, not the process's: a server answers several questions at a time,
 * and one that takes too much must not fail another. What one thread takes and another gives
 * back (SQLite's few tables for the whole process) moves the count of neither below zero. */
#include "base/counted.h"

#include "base/mem.h"

enum { HEAD_BYTES = 16 };

static _Thread_local uint64_t used_bytes, most_bytes;
static _Thread_local bool was_full;

void counted_limit(uint64_t limit_bytes) {
    used_bytes = 0;
    most_bytes = limit_bytes;
    was_full = false;
}

bool counted_is_full(void) {
    return was_full;
}

static bool take(uint64_t size_bytes) {
    if (most_bytes && (size_bytes > most_bytes || used_bytes > most_bytes - size_bytes)) {
        was_full = true;
        return false;
    }
    used_bytes += size_bytes;
    return true;
}

static void give(uint64_t size_bytes) {
    used_bytes -= size_bytes < used_bytes ? size_bytes : used_bytes;
}

static void *with_size(void *block, size_t size_bytes) {
    if (!block) return NULL;
    *(size_t *)block = size_bytes;
    return (char *)block + HEAD_BYTES;
}

void *counted_alloc(size_t size_bytes) {
    if (size_bytes > SIZE_MAX - HEAD_BYTES || !take(size_bytes)) return NULL;
    void *p = with_size(mem_alloc(size_bytes + HEAD_BYTES), size_bytes);
    if (!p) give(size_bytes);
    return p;
}

size_t counted_size(const void *p) {
    return p ? *(const size_t *)((const char *)p - HEAD_BYTES) : 0;
}

void *counted_grow(void *p, size_t size_bytes) {
    size_t old_bytes = counted_size(p);
    if (!p) return counted_alloc(size_bytes);
    if (size_bytes > SIZE_MAX - HEAD_BYTES) return NULL;
    if (size_bytes > old_bytes && !take(size_bytes - old_bytes)) return NULL;
    void *grown =
        with_size(mem_grow((char *)p - HEAD_BYTES, size_bytes + HEAD_BYTES), size_bytes);
    if (!grown && size_bytes > old_bytes) give(size_bytes - old_bytes);
    if (grown && size_bytes < old_bytes) give(old_bytes - size_bytes);
    return grown;
}

void counted_free(void *p) {
    if (!p) return;
    give(counted_size(p));
    mem_free((char *)p - HEAD_BYTES);
}
