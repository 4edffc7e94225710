/* help.h: the words of --help, made from the tables. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/options.h"

/* The program: its commands by group with an example of each group, when no command is named;
 * and with a line about each command. */
void help_short(buf *out, lang l, uint32_t width);
void help_program(buf *out, lang l, uint32_t width);
/* One command: usage, options, and for an analysis every column with its definition. */
void help_command(buf *out, const command *c, lang l, uint32_t width);

#endif
