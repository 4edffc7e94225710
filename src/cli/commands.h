/* commands.h: one function for each command; it returns the exit status of the program. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

typedef struct options options;

#define COMMAND(name, arguments, groups, help) int cmd_##name(options *o);
#include "cli/commands.def"
/* Any analysis of the registry. */
int cmd_analysis(options *o);
/* The analysis `top`, which has its own text. */
int cmd_top(options *o);
/* No command and no trace: a short help, and the status of a wrong command line. */
int help_alone(const options *o);
/* The analysis `check`, which has its own exit status and reports. */
int cmd_check(options *o);

#endif
