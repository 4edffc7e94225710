/* record_target.h: the program that `tacho record` runs: what it is called, and what keeps the
 * recorder out of it. */
#ifndef CLI_RECORD_TARGET_H
#define CLI_RECORD_TARGET_H

#include "base/arena.h"
#include "base/buf.h"
#include "text/text.h"

/* What people call it: "train" for python train.py and for torchrun … train.py, else the
 * program's own name; fit for the name of a file. NULL: no memory. */
const char *target_name(arena *a, char *const *argv);
/* The name of the program itself, without its folder. */
const char *target_program(char *const *argv);
/* Appends what to try when the program cannot be run; nothing when there is no idea. */
void target_hint(char *const *argv, int code, lang words, buf *out);
/* Why the loader did not load the recorder into it: a message with {program}. */
uint16_t target_obstacle(const char *program);

#endif
