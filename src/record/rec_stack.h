/* rec_stack.h: stacks of Python as numbers.
 *
 *     a thread's frames ─ walk ─> places (code, instruction) ─ number ─> a row of the file
 *
 * A stack is a caller and a line; callers are stacks. What is new is written into the current
 * file at once. The numbers of one recording mean nothing in the next. */
#ifndef RECORD_REC_STACK_H
#define RECORD_REC_STACK_H

#include "record/rec_int.h"
#include "record/rec_python_layout.h"

enum { REC_MOST_FRAMES = 192 };

typedef struct {
    uint64_t code;
    int64_t at; /* bytes into the code */
} rec_place;

extern const uint8_t *rec_python_runtime;
extern rec_python_layout rec_python_at;

/* Looks for an interpreter, once a second; false: none can be read. The helper calls this. */
bool rec_stack_ready(rec_file *f);
/* The frames from `frame` outwards, innermost first. */
uint32_t rec_stack_walk(uint64_t frame, rec_place *to, uint32_t most);
/* The number of a stack in the recording with this epoch; 0: it is not one, or it changed while
 * it was read. */
uint32_t rec_stack_number(uint32_t epoch, const rec_place *places, uint32_t n);
/* The stack of the calling thread, which is inside a call of C; 0: it runs no Python. */
uint32_t rec_stack_here(void);
/* Says what the ranges are about that this thread begins next. */
void rec_stack_mark(void);
/* The next source file that is the program's own and was not kept yet; of the helper. */
void rec_stack_keep_source(rec_file *f);

/* Looks at all threads when it is time; of the helper. The time until it is again, in ms. */
int rec_stack_tick(rec_file *f, int longest_ms);
/* Writes what has not been written; by the thread that stops the recording. */
void rec_stack_stop(void);
void rec_stack_forked(void);
/* Not at all (TACHO_LINES=0); without the text of the files (TACHO_SOURCE=0). */
void rec_stack_set(bool lines, bool sources);

#endif
