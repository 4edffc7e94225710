/* cmd_help.c: `tacho help [COMMAND]`, also `tacho --help` and `tacho COMMAND --help`.
 *
 * Help that was asked for is a result and goes to stdout with status 0; the words themselves
 * are made in help.c. */
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
    bool found = strcmp(asked.name, "help") != 0; /* COMMAND --help */
    if (!found && o->n_traces > 0) {
        str name = str_of(o->traces[0]);
        found = command_find(name, &asked);
        if (!found) {
            error_set(&err, ERR_ARG, NOPOS, MSG_CLI_UNKNOWN_COMMAND, 1,
                      &(arg){.name = "name", .type = ARG_TEXT, .u.text = name});
            return output_end(&out, o, ERR_ARG, &err);
        }
    }
    if (found)
        help_command(&out.buf, &asked, o->words, present.width);
    else
        help_program(&out.buf, o->words, present.width);
    return output_end(&out, o, OK, &err);
}
