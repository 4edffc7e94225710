/* rec_meta.c: facts of the whole recording.
 *
 * What the program says (tacho_meta, tacho_pipe) is kept for its life and written into each
 * file; what can be known without asking (host, command, number of processors) is found out
 * when a file begins. Ranks are in rec_rank.c. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/rec_int.h"

enum { MOST_FACTS = 256 };

/* rec_lock */
static struct fact { char *key, *value; } facts[MOST_FACTS];
static int n_facts;
static struct pipe_row {
    uint32_t name, parent;
    int64_t workers;
} pipes[MOST_FACTS];
static int n_pipes;

/* ---- writing ---- */

void rec_meta_put(rec_file *f, const char *key, const char *value, size_t n_value) {
    char fixed[8 + 256];
    uint64_t n = strnlen(key, 256);
    memcpy(fixed, &n, sizeof n);
    memcpy(fixed + 8, key, n);
    rec_side(f, TACHO_SIDE_META, fixed, 8 + n, value, n_value);
}

void rec_meta_fact(const char *key, const char *value, size_t n) {
    bool before = rec_enter(&rec_lock);
    if (rec_current) rec_meta_put(rec_current, key, value, n);
    rec_leave(&rec_lock, before);
}

/* A text as a JSON string; what is not a plain character becomes a space. */
static void write_text_fact(rec_file *f, const char *key, const char *text, size_t n) {
    char to[2048];
    size_t at = 0;
    to[at++] = '"';
    for (size_t i = 0; i < n && at < sizeof to - 4; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\') to[at++] = '\\';
        to[at++] = (char)(c < ' ' ? ' ' : c);
    }
    to[at++] = '"';
    rec_meta_put(f, key, to, at);
}

static void write_command(rec_file *f) {
    char text[1024];
    int in = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (in < 0) return;
    ssize_t n = read(in, text, sizeof text);
    close(in);
    if (n > 1) write_text_fact(f, "command", text, (size_t)n - 1);
}

static void write_pipe(rec_file *f, const struct pipe_row *p) {
    struct {
        uint64_t name, parent;
        int64_t workers;
    } fixed = {p->name, p->parent, p->workers};
    rec_side(f, TACHO_SIDE_PIPE, &fixed, sizeof fixed, NULL, 0);
}

void rec_meta_write(rec_file *f) {
    char text[256] = "";
    if (gethostname(text, sizeof text - 1) == 0)
        write_text_fact(f, "hostname", text, strlen(text));
    write_command(f);
    int n = snprintf(text, sizeof text, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    rec_meta_put(f, "processors", text, (size_t)n);
    write_text_fact(f, "recorder", "libtacho " TACHO_VERSION,
                    strlen("libtacho " TACHO_VERSION));
    rec_rank_write(f, rec_set.path);
    for (int i = 0; i < n_facts; i++)
        rec_meta_put(f, facts[i].key, facts[i].value, strlen(facts[i].value));
    for (int i = 0; i < n_pipes; i++) write_pipe(f, &pipes[i]);
}

/* ---- what the program says ---- */

static bool looks_like_json(const char *s) {
    return strchr("{[\"-0123456789", *s) != NULL || !strcmp(s, "true") || !strcmp(s, "false") ||
           !strcmp(s, "null");
}

static void keep_fact(const char *key, const char *value) {
    int at = 0;
    while (at < n_facts && strcmp(facts[at].key, key) != 0) at++;
    if (at == MOST_FACTS) return;
    char *copy = strdup(value), *name = at == n_facts ? strdup(key) : facts[at].key;
    if (!copy || !name) {
        free(copy);
        if (at == n_facts) free(name);
        return;
    }
    if (at < n_facts) free(facts[at].value);
    facts[at] = (struct fact){name, copy};
    if (at == n_facts) n_facts++;
    if (rec_current) rec_meta_put(rec_current, key, value, strlen(value));
}

/* A value that is not JSON is kept as a JSON text; the reader has the last word about the
 * rest. */
void tacho_meta(const char *key, const char *value) {
    char text[2048];
    if (!key || !*key || !value || rec_self.in_slow) return;
    if (!looks_like_json(value)) {
        size_t at = 0;
        text[at++] = '"';
        for (const char *p = value; *p && at < sizeof text - 4; p++) {
            if (*p == '"' || *p == '\\') text[at++] = '\\';
            text[at++] = (char)((unsigned char)*p < ' ' ? ' ' : *p);
        }
        text[at++] = '"';
        text[at] = 0;
        value = text;
    }
    if (strcmp(key, "role") == 0) { /* of which there is one */
        rec_rank_role(value);
        return;
    }
    bool before = rec_enter(&rec_lock);
    keep_fact(key, value);
    rec_leave(&rec_lock, before);
}

void tacho_pipe(const char *name, const char *parent, int64_t workers) {
    struct pipe_row row = {rec_name(name), parent ? rec_name(parent) : 0, workers};
    if (rec_self.in_slow) return;
    bool before = rec_enter(&rec_lock);
    int at = 0;
    while (at < n_pipes && pipes[at].name != row.name) at++;
    if (at < MOST_FACTS) {
        pipes[at] = row;
        if (at == n_pipes) n_pipes++;
        if (rec_current) write_pipe(rec_current, &row);
    }
    rec_leave(&rec_lock, before);
}
