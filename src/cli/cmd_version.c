/* cmd_version.c: `tacho version`, also `tacho --version`: one line with the version and the
 * commit.
 *
 * The version comes from the Makefile, the one place that holds it; a build by other means says
 * so. */
#include <unistd.h>

#include "base/message_ids_cli.h"
#include "cli/cli.h"
#include "cli/commands.h"

#ifndef TACHO_VERSION
#define TACHO_VERSION "unknown"
#endif

int cmd_version(options *o) {
    error err = {0};
    output out = {.fd = STDOUT_FILENO, .name = text_get(MSG_CLI_STDOUT, o->words)};
    buf_add_cstr(&out.buf, "tacho " TACHO_VERSION);
    if (o->built_from && o->built_from[0]) buf_printf(&out.buf, " (%s)", o->built_from);
    buf_add_cstr(&out.buf, "\n");
    return output_end(&out, o, OK, &err);
}
