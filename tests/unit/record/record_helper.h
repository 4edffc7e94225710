/* record_helper.h: a folder to record into, and recordings as traces. */
#ifndef TESTS_RECORD_HELPER_H
#define TESTS_RECORD_HELPER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <tacho/tacho.h>

#include "store/trace.h"

/* An empty folder of this test; the one before is removed. */
const char *fresh_folder(void);
void remove_folder(void);
/* Names of the recordings in the folder, sorted; at most `most`. */
int list_recordings(char (*to)[512], int most);
/* Starts with everything on, into the folder. */
void start_all(void);
trace *read_recording(const char *path);
/* Stops and reads what was written last. */
trace *stop_and_read(void);
/* How many slices have this name. */
uint32_t count_slices(const trace *t, const char *name);
/* The only slice of this name. */
uint32_t one_slice(const trace *t, const char *name);
/* Runs fn in a forked child; its wait status. */
int in_child(void (*fn)(void));

#endif
