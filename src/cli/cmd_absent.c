/* cmd_absent.c: the commands of Linux in a build that has no processes, sockets and maps
 * (WebAssembly). They say where they are. */
#include "base/message_ids_cli.h"
#include "cli/cli.h"
#include "cli/commands.h"

static status fail_absent(const options *o, error *err) {
    FAIL(err, ERR_UNSUPPORTED, NOPOS, MSG_CLI_NOT_IN_WASM,
         arg_cstr("command", o->command.name));
}

static int complain_absent(const options *o) {
    error err = {.status = OK};
    (void)fail_absent(o, &err);
    return cli_complain(o, &err);
}

#define ABSENT(name)               \
    int cmd_##name(options *o) {   \
        return complain_absent(o); \
    }

ABSENT(attach)
ABSENT(completions)
ABSENT(demo)
ABSENT(mcp)
ABSENT(prove)
ABSENT(record)
ABSENT(reduce)
ABSENT(report)
ABSENT(serve)
ABSENT(watch)
