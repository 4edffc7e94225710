/* complete.h: what the last word of a command line can be completed to. */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include "cli/options.h"

/* The words after the program's name; the last one is being written and may be empty. Appends a
 * line for each word that it can become: the word, a tab, what it means. A line ":files" asks
 * the shell for the names of files as well. Nothing that takes long is opened: runs and workers
 * are those of a folder's list, steps those of a trace in the cache or sealed by us. */
void complete_words(arena *a, const str *words, uint32_t n, lang l, buf *out);

/* The words of a line as a shell reads it, with quotes and backslashes; after a blank there is
 * an empty one. Their number by *n; NULL when out of memory. */
str *complete_split(arena *a, str line, uint32_t *n);

#endif
