/* rec_guard.h: maps of files that may be cut by others.
 *
 * A thread that touches a page of a map beyond the end of its file gets SIGBUS, which ends the
 * program. For maps that are guarded it does not: the rest of the map becomes plain memory,
 * what is written there is lost, and `cut` says so. */
#ifndef RECORD_REC_GUARD_H
#define RECORD_REC_GUARD_H

#include <stddef.h>
#include <stdint.h>

/* From here on *cut becomes 1 when a part of the map is lost. Other signals SIGBUS go where
 * they went. */
void rec_guard_add(void *map, size_t bytes, uint32_t *cut);
/* Before it is unmapped. */
void rec_guard_remove(const void *map);
/* It stays, for threads that may be writing there, but is not looked up any more. */
void rec_guard_leave(const void *map);
/* Everything from `at` on becomes plain memory now: before anybody touches it. */
void rec_guard_cut(void *map, size_t at);
/* Our handler is the first again, when the program has set its own. Called by the helper. */
void rec_guard_keep(void);
/* This thread is going to write into a map. */
void rec_guard_thread(void);
/* In a forked child: it has none of the maps. */
void rec_guard_forked(void);

#endif
