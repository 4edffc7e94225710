/* cmd_completions.c: `tacho completions SHELL`: the script that makes a shell complete the
 * words of tacho; and what that script asks, `tacho completions SHELL -- WORDS`.
 *
 * The scripts (completions/) know nothing about commands and options: they hand over the words
 * of the line and get back what the last one can become (complete.h), so that there is one
 * table of everything. zsh and fish give words. bash gives the line and its word breaks,
 * because it takes host_total:desc for three words; what it replaces is the part after the last
 * break.
 *
 * A person waits for the answer: after LIMIT_MS there is none. */
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/message_ids_cli.h"
#include "base/nearest.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/complete.h"

enum { LIMIT_MS = 400 };

/* completion_data.S */
extern const char completion_bash[], completion_bash_end[];
extern const char completion_zsh[], completion_zsh_end[];
extern const char completion_fish[], completion_fish_end[];

static const struct {
    const char *shell;
    const char *script, *end;
} SHELLS[] = {
    {"bash", completion_bash, completion_bash_end},
    {"zsh", completion_zsh, completion_zsh_end},
    {"fish", completion_fish, completion_fish_end},
};

static status find_shell(const options *o, size_t *out, error *err) {
    name_hint hint = hint_for(o->n_traces ? str_of(o->traces[0]) : STR_NONE);
    for (size_t i = 0; i < N_OF(SHELLS); i++) {
        hint_offer(&hint, str_of(SHELLS[i].shell));
        if (!str_eq(hint.wanted, str_of(SHELLS[i].shell))) continue;
        *out = i;
        return OK;
    }
    if (!o->n_traces) FAIL(err, ERR_ARG, NOPOS, MSG_CLI_NO_SHELL, HINT_ARGS(&hint));
    FAIL(err, ERR_ARG, NOPOS, MSG_CLI_BAD_CHOICE, arg_text("given", hint.wanted),
         HINT_ARGS(&hint));
}

/* ---- what the last word can become ------------------------------------------------------- */

static void give_up(int signal) {
    (void)signal;
    _exit(EXIT_DONE);
}

static void set_limit(void) {
    struct itimerval limit = {.it_value = {.tv_usec = LIMIT_MS * 1000}};
    signal(SIGALRM, give_up);
    (void)setitimer(ITIMER_REAL, &limit, NULL);
}

/* Bytes of the word that bash keeps: up to its last break. */
static size_t kept_bytes(str word, str breaks) {
    size_t kept = 0;
    for (size_t i = 0; i < word.n; i++)
        if (memchr(breaks.p, word.p[i], breaks.n)) kept = i + 1;
    return kept;
}

/* bash takes no descriptions, and only what comes after the part that it keeps. */
static void put_for_bash(buf *to, str lines, size_t kept) {
    while (lines.n) {
        size_t end = str_find(lines, STR("\n"), 0);
        str line = str_n(lines.p, end);
        size_t tab = str_find(line, STR("\t"), 0);
        lines = str_from(lines, end + 1);
        buf_add_str(to, tab == SIZE_MAX ? line : str_from(str_n(line.p, tab), kept));
        buf_add_byte(to, '\n');
    }
}

static status answer_bash(const options *o, arena *a, buf *out, error *err) {
    uint32_t n;
    buf lines = {0};
    str breaks = o->n_traces > 2 ? str_of(o->traces[2]) : STR("=:");
    const str *words = complete_split(a, str_of(o->traces[1]), &n);
    if (!words) FAIL_MEMORY(err);
    if (n > 1) { /* the first is the program */
        complete_words(a, words + 1, n - 1, o->words, &lines);
        put_for_bash(out, buf_str(&lines), kept_bytes(words[n - 1], breaks));
    }
    if (!buf_ok(&lines)) out->failed = true;
    buf_fini(&lines);
    return OK;
}

static status answer_words(const options *o, arena *a, buf *out, error *err) {
    str *words = ARENA_ARRAY(a, str, o->n_traces);
    if (!words) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < o->n_traces; i++) words[i - 1] = str_of(o->traces[i]);
    complete_words(a, words, o->n_traces - 1, o->words, out);
    return OK;
}

/* ---- the command ------------------------------------------------------------------------- */

static status write_completions(const options *o, arena *a, buf *out, error *err) {
    size_t shell = 0;
    TRY(find_shell(o, &shell, err));
    if (o->n_traces == 1) {
        buf_add(out, SHELLS[shell].script, (size_t)(SHELLS[shell].end - SHELLS[shell].script));
        return OK;
    }
    set_limit();
    return shell == 0 ? answer_bash(o, a, out, err) : answer_words(o, a, out, err);
}

int cmd_completions(options *o) {
    error err = {0};
    arena a;
    output out = {.fd = STDOUT_FILENO, .name = text_get(MSG_CLI_STDOUT, o->words)};
    arena_init(&a, 0);
    status s = write_completions(o, &a, &out.buf, &err);
    int code = output_end(&out, o, s, &err);
    arena_fini(&a);
    return code;
}
