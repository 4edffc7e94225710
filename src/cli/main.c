/* main.c: from argv to a command and to an exit status.
 *
 * The first word is a command: one of commands.def or an analysis of the registry. Everything
 * else is the command's own; see options.h. Exit statuses are those of cli.h. A broken pipe is
 * a failed write, not a signal: the output says so and the program ends quietly. */
#include <signal.h>
#include <stdlib.h>

#include "base/fault.h"
#include "base/message_ids_cli.h"
#include "cli/cli.h"
#include "cli/commands.h"

#ifndef TACHO_COMMIT
#define TACHO_COMMIT "" /* not built by the Makefile */
#endif

static lang environment_language(void) {
    static const char *const names[] = {"LC_ALL", "LC_MESSAGES", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && value[0]) return lang_of_locale(value);
    }
    return LANG_EN;
}

/* --help and --version alone are commands too. */
static str command_word(const char *word) {
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return STR("help");
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) return STR("version");
    return str_of(word);
}

static status find_command(int argc, char **argv, options *o, error *err) {
    if (argc < 2) FAIL0(err, ERR_ARG, NOPOS, MSG_CLI_NO_COMMAND);
    str word = command_word(argv[1]);
    if (command_find(word, &o->command)) return OK;
    const char *near = command_near(word);
    if (near)
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_UNKNOWN_COMMAND_NEAR, arg_text("name", word),
             arg_cstr("near", near));
    FAIL(err, ERR_ARG, NOPOS, MSG_CLI_UNKNOWN_COMMAND, arg_text("name", word));
}

static int main_run(int argc, char **argv, arena *a) {
    error err = {0};
    options o = {.words = environment_language(), .built_from = TACHO_COMMIT};
    status s = find_command(argc, argv, &o, &err);
    if (s == OK) s = options_parse(a, argc - 2, argv + 2, &o, &err);
    if (s != OK) return cli_complain(&o, &err);
    if (o.help) return cmd_help(&o);
    return o.command.run(&o);
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);
    fault_init();
    arena a;
    arena_init(&a, 0);
    int code = main_run(argc, argv, &a);
    arena_fini(&a);
    return code;
}
