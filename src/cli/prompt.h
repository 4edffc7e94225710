/* prompt.h: lines from a person: with editing, history and completion where libedit is
 * installed, plain otherwise. */
#ifndef CLI_PROMPT_H
#define CLI_PROMPT_H

#include "base/buf.h"

typedef struct prompt prompt;

/* The i-th word to complete to; NULL after the last. */
typedef const char *(*prompt_word_fn)(void *context, uint32_t i);

/* One at a time. `history`: a file name below the folder for state, kept over sessions. NULL
 * when out of memory. */
prompt *prompt_open(const char *history, prompt_word_fn word, void *context);
void prompt_close(prompt *p);
/* The next line without its end, appended; false at the end of input. */
bool prompt_line(prompt *p, const char *sign, buf *out);
/* Remembers what was entered, as one entry. */
void prompt_remember(prompt *p, str text);

#endif
