/* sqlite_start.c: SQLite's memory is ours, so that limits and fault injection hold for it, too.
 * It counts nothing itself, which would need a lock. */
#include "base/sqlite_start.h"

#include <pthread.h>
#include <sqlite3.h>

#include "base/counted.h"

static void *take_memory(int size_bytes) {
    return counted_alloc((size_t)size_bytes);
}

static void *grow_memory(void *p, int size_bytes) {
    return counted_grow(p, (size_t)size_bytes);
}

static int size_memory(void *p) {
    return (int)counted_size(p);
}

static int round_up(int size_bytes) {
    return (size_bytes + 7) & ~7;
}

static int begin_memory(void *context) {
    (void)context;
    return SQLITE_OK;
}

static void end_memory(void *context) {
    (void)context;
}

static pthread_once_t started = PTHREAD_ONCE_INIT;

static void configure(void) {
    static const sqlite3_mem_methods memory = {take_memory, counted_free, grow_memory,
                                               size_memory, round_up,     begin_memory,
                                               end_memory,  NULL};
    (void)sqlite3_config(SQLITE_CONFIG_MALLOC, &memory);
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

status sqlite_start(error *err) {
    pthread_once(&started, configure);
    if (sqlite3_initialize() != SQLITE_OK) FAIL_MEMORY(err);
    return OK;
}
