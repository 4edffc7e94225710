/* cmd_help.c: `tacho help [COMMAND]`, also `tacho --help` and `tacho COMMAND --help`; and
 * `tacho` alone.
 *
 * Help that was asked for is a result and goes to stdout with status 0. `tacho` alone shows a
 * short one there and ends with status 1, as git does: a script whose variable for the command
 * is empty must not pass. The words themselves are made in help.c. */
#include <unistd.h>

#include "base/message_ids_cli.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/help.h"

int cmd_help(options *o) {
    error err = {0};
    output out = {.fd = STDOUT_FILENO, .name = text_get(MSG_CLI_STDOUT, o->words)};
    present_options present = cli_present(o, &out);
    command asked = o->command;
    bool found = strcmp(asked.name, "help") != 0 && !o->is_implied; /* COMMAND --help */
    if (!found && o->n_traces > 0) {
        str name = str_of(o->traces[0]);
        found = command_find(name, &asked);
        if (!found) return output_end(&out, o, command_unknown(name, false, &err), &err);
    }
    if (found)
        help_command(&out.buf, &asked, o->words, present.width);
    else
        help_program(&out.buf, o->words, present.width);
    return output_end(&out, o, OK, &err);
}

int help_alone(const options *o) {
    error err = {0};
    output out = {.fd = STDOUT_FILENO, .name = text_get(MSG_CLI_STDOUT, o->words)};
    help_short(&out.buf, o->words, cli_present(o, &out).width);
    int ended = output_end(&out, o, OK, &err);
    return ended == EXIT_DONE ? EXIT_USAGE : ended;
}
