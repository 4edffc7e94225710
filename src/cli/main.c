/* main.c: from argv to a command and to an exit status.
 *
 * The first word is a command: one of commands.def or an analysis of the registry; any other
 * first word is a trace, whose overview is shown. Everything else is the command's own; see
 * options.h. Exit statuses are those of cli.h. A broken pipe is
 * a failed write, not a signal: the output says so and the program ends quietly. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    static const char *const versions[] = {"--version", "-V", "-v"};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        if (strcmp(word, versions[i]) == 0) return STR("version");
    return str_of(word);
}

/* Could the word be a trace? One that does not exist is one, too, when it is written like a
 * path: then the complaint is about the file. */
static bool is_path(const char *word) {
    return strcmp(word, "-") == 0 || strpbrk(word, "./") || access(word, F_OK) == 0;
}

/* Finds the command and how many words it takes to name it: none when the first word is a trace
 * or an option, which stands for `overview`. */
static status find_command(int argc, char **argv, options *o, int *n_words, error *err) {
    str word = argc < 2 ? STR_NONE : command_word(argv[1]);
    *n_words = 1;
    if (word.n && command_find(word, &o->command)) return OK;
    bool is_option = word.n > 1 && word.p[0] == '-';
    if (word.n && !is_option && !is_path(argv[1])) return command_unknown(word, true, err);
    o->is_implied = true;
    *n_words = 0;
    if (!command_find(STR("overview"), &o->command)) BUG("there is no overview");
    return OK;
}

static int main_run(int argc, char **argv, arena *a) {
    error err = {0};
    options o = {.words = environment_language(), .built_from = TACHO_COMMIT};
    int n_words = 1;
    status s = find_command(argc, argv, &o, &n_words, &err);
    int skip = argc < 2 ? argc : 1 + n_words;
    if (s == OK) s = options_parse(a, argc - skip, argv + skip, &o, &err);
    if (s != OK) return cli_complain(&o, &err);
    if (o.help) return cmd_help(&o);
    if (o.is_implied && o.n_traces == 0) return help_alone(&o);
    return o.command.run(&o);
}

int main(int argc, char **argv) {
    cli_ignore_pipes();
    fault_init();
    arena a;
    arena_init(&a, 0);
    int code = main_run(argc, argv, &a);
    arena_fini(&a);
    return code;
}
