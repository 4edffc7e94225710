/* rec_copy.h: what a flight recorder has, as another file, while it continues. */
#ifndef RECORD_REC_COPY_H
#define RECORD_REC_COPY_H

#include "record/rec_int.h"

/* A client takes a window of this many seconds from now on: until it ends nothing of it is
 * overwritten as long as there is memory, and evidence is copied instead of taken. */
void rec_hold(double seconds);
bool rec_is_held(void);
/* The time is over. Called by the helper. */
void rec_hold_tick(void);
/* True when a chunk that was closed at this tick is in the window. rec_lock. */
bool rec_holds(uint64_t tick);
void rec_hold_forked(void);

/* A new file with everything that is in `from`, which may still be written into and is pinned;
 * NULL: *why says what the system said. */
rec_file *rec_copy(const rec_file *from, const char *path, const char *final_path, int *why);

#endif
