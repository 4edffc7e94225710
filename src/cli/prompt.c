/* prompt.c: lines from a person.
 *
 * libedit is loaded when a prompt is opened, not linked: all other commands start without it,
 * and where it is missing a line is read as it is. Its functions are those of GNU readline's
 * interface, under the same names. It calls back without a context, so there is one prompt at a
 * time. */
#include "cli/prompt.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/folders.h"
#include "base/mem.h"

enum { MOST_HISTORY = 1000, LINE_BYTES = 65536 };

typedef char *(*entry_fn)(const char *text, int state);

struct prompt {
    void *library;
    char *(*readline)(const char *sign);
    int (*add_history)(const char *line);
    int (*read_history)(const char *path);
    int (*write_history)(const char *path);
    int (*stifle_history)(int most);
    char **(*matches)(const char *text, entry_fn entry);
    prompt_word_fn word;
    void *context;
    char path[4096]; /* of the history; empty: none */
};

static prompt *the_prompt;

/* ---- completion -------------------------------------------------------------------------- */

/* The library gives this back with free, which is what mem_free is. */
static char *copy_for_library(const char *word) {
    size_t n = strlen(word) + 1;
    char *copy = mem_alloc(n);
    if (copy) memcpy(copy, word, n);
    return copy;
}

static char *next_word(const char *text, int state) {
    static uint32_t at;
    if (state == 0) at = 0;
    for (const char *word; (word = the_prompt->word(the_prompt->context, at)) != NULL;) {
        at++;
        if (strncasecmp(word, text, strlen(text)) == 0) return copy_for_library(word);
    }
    return NULL;
}

static char **complete(const char *text, int start, int end) {
    (void)start, (void)end;
    return the_prompt->matches(text, next_word);
}

/* ---- the library ------------------------------------------------------------------------- */

static bool find_functions(prompt *p) {
    const struct {
        const char *name;
        void *to;
    } wanted[] = {{"readline", &p->readline},
                  {"add_history", &p->add_history},
                  {"read_history", &p->read_history},
                  {"write_history", &p->write_history},
                  {"stifle_history", &p->stifle_history},
                  {"rl_completion_matches", &p->matches}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *found = dlsym(p->library, wanted[i].name);
        if (!found) return false;
        memcpy(wanted[i].to, &found, sizeof found);
    }
    return true;
}

static void load_library(prompt *p) {
    static const char *const names[] = {"libedit.so.2", "libedit.so.0"};
    for (size_t i = 0; i < sizeof names / sizeof *names && !p->library; i++)
        p->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!p->library) return;
    if (!find_functions(p)) {
        dlclose(p->library);
        p->library = NULL;
        return;
    }
    char **(*function)(const char *, int, int) = complete;
    void *attempt = dlsym(p->library, "rl_attempted_completion_function");
    if (attempt) memcpy(attempt, &function, sizeof function);
}

/* $XDG_STATE_HOME/tacho/NAME, by default ~/.local/state. */
static void find_history(prompt *p, const char *name) {
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char folder[3072];
    if ((!state || !*state) && (!home || !*home)) return;
    int n = state && *state ? snprintf(folder, sizeof folder, "%s/tacho", state)
                            : snprintf(folder, sizeof folder, "%s/.local/state/tacho", home);
    if (n < 0 || (size_t)n >= sizeof folder) return;
    (void)folders_make(folder, 0700);
    snprintf(p->path, sizeof p->path, "%s/%s", folder, name);
}

/* ---- lines ------------------------------------------------------------------------------- */

prompt *prompt_open(const char *history, prompt_word_fn word, void *context) {
    prompt *p = mem_zalloc(sizeof *p);
    if (!p) return NULL;
    p->word = word;
    p->context = context;
    the_prompt = p;
    load_library(p);
    if (!p->library) return p;
    find_history(p, history);
    (void)p->stifle_history(MOST_HISTORY);
    if (p->path[0]) (void)p->read_history(p->path);
    return p;
}

void prompt_close(prompt *p) {
    if (!p) return;
    if (p->library && p->path[0]) (void)p->write_history(p->path);
    the_prompt = NULL; /* the library stays: it has its own handlers */
    mem_free(p);
}

static bool plain_line(const char *sign, buf *out) {
    char line[LINE_BYTES];
    fputs(sign, stdout);
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin)) return false;
    size_t n = strcspn(line, "\n");
    buf_add(out, line, n);
    return true;
}

bool prompt_line(prompt *p, const char *sign, buf *out) {
    if (!p->library) return plain_line(sign, out);
    char *line = p->readline(sign);
    if (!line) return false;
    buf_add_cstr(out, line);
    mem_free(line);
    return true;
}

void prompt_remember(prompt *p, str text) {
    char line[LINE_BYTES];
    if (!p->library || !text.n || text.n >= sizeof line) return;
    for (size_t i = 0; i < text.n; i++) line[i] = text.p[i] == '\n' ? ' ' : text.p[i];
    line[text.n] = '\0';
    (void)p->add_history(line);
}
