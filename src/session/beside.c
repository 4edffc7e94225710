/* beside.c: finds the execution trace of a trace, and the log of the requests that were served.
 *
 * PyTorch writes it wherever the program says, under any name: people choose et.json,
 * rank3_et.json, pytorch_execution_trace.json. A name that has no such word is not opened: a
 * folder of thousands of files must not be read through for each of them. Then the content
 * decides. When there are several, the one of the same rank, by name, belongs to the trace,
 * otherwise the one of the process that the worker is named after; where neither is known, the
 * only one. A log of requests is that of all ranks: the first by name. */
#include "session/beside.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/num.h"
#include "ingest/pytorch/execution_trace.h"
#include "ingest/serving/request_log.h"
#include "io/remote.h"
#include "session/names_int.h"

/* Files that are opened for one trace at most. */
enum { MOST_LOOKS = 16 };
#define HEAD_BYTES ((size_t)4096)

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Is the word there, with no letter before or after it? */
static bool beside_has_word(str name, str word) {
    for (size_t at = 0; (at = str_find_nocase(name, word, at)) != SIZE_MAX; at++) {
        bool before = at > 0 && is_letter(name.p[at - 1]);
        bool after = at + word.n < name.n && is_letter(name.p[at + word.n]);
        if (!before && !after) return true;
    }
    return false;
}

static str beside_base(const char *path) {
    const char *slash = strrchr(path, '/');
    return str_of(slash ? slash + 1 : path);
}

static bool may_be_execution_trace(str name) {
    static const str words[] = {STR("et"), STR("execution"), STR("chakra")};
    trace_name parsed;
    if (name_parse(name, &parsed) || str_find_nocase(name, STR(".json"), 0) == SIZE_MAX)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (beside_has_word(name, words[i])) return true;
    return false;
}

/* *process: as the file says; 0 when it does not. A file that cannot be read counts as one: its
 * reader then reports that, instead of leaving it out in silence. */
static bool look_inside(const char *path, int64_t *process) {
    source *s = NULL;
    str head = STR_NONE;
    if (source_open(path, &s, NULL) != OK) return true;
    bool read = source_peek(s, HEAD_BYTES, &head, NULL) == OK;
    bool is = !read || execution_trace_head(head);
    if (is && !json_i64(json_member(head, STR("pid")), process)) *process = 0;
    source_close(s);
    return is;
}

bool beside_is_execution_trace(const char *path) {
    int64_t process;
    return may_be_execution_trace(beside_base(path)) && look_inside(path, &process);
}

/* Does the name end in the number of the process, as HOST_PID does? */
static bool is_named_after(str worker, int64_t process) {
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%lld", (long long)process);
    str end = str_n(digits, n > 0 ? (size_t)n : 0);
    if (process <= 0 || !str_ends(worker, end)) return false;
    char before = worker.n > end.n ? worker.p[worker.n - end.n - 1] : '_';
    return before < '0' || before > '9';
}

/* What is looked for, and the best so far. */
typedef struct {
    const char *folder;
    int n_folder;
    str worker;
    int64_t rank; /* INT64_MIN: its name does not say */
    int n_looks, n_found;
    int best; /* 0: none, 1: some file, 2: one of the same rank or process */
    beside_file *out;
} search;

/* A file of another rank is never it. */
static void try_file(search *s, str name) {
    char path[PATH_MAX];
    int64_t rank = name_rank(name), process = 0;
    if (s->rank != INT64_MIN && rank != INT64_MIN && rank != s->rank) return;
    int n = snprintf(path, sizeof path, "%.*s/%.*s", s->n_folder, s->folder, STR_ARG(name));
    if (n < 0 || (size_t)n >= sizeof path || s->n_looks++ >= MOST_LOOKS ||
        !look_inside(path, &process))
        return;
    bool same = (rank != INT64_MIN && rank == s->rank) || is_named_after(s->worker, process);
    s->n_found++;
    if ((same ? 2 : 1) < s->best || (s->best == 2 && strcmp(path, s->out->path) > 0)) return;
    s->best = same ? 2 : 1;
    memcpy(s->out->path, path, (size_t)n + 1);
}

bool beside_find(const char *path, beside_file *out) {
    const char *slash = strrchr(path, '/');
    trace_name own;
    if (remote_is_url(path) || strcmp(path, "-") == 0) return false;
    if (!name_parse(beside_base(path), &own)) name_of_any(beside_base(path), &own);
    search s = {.folder = slash ? path : ".",
                .n_folder = slash ? (int)(slash - path) : 1,
                .worker = own.worker,
                .rank = name_rank(own.worker),
                .out = out};
    char folder[PATH_MAX];
    int n = snprintf(folder, sizeof folder, "%.*s/", s.n_folder, s.folder);
    DIR *d = n > 0 && (size_t)n < sizeof folder ? opendir(folder) : NULL;
    if (!d) return false;
    for (struct dirent *e; (e = readdir(d));) {
        str name = str_of(e->d_name);
        if (*e->d_name != '.' && !str_eq(name, beside_base(path)) &&
            may_be_execution_trace(name))
            try_file(&s, name);
    }
    closedir(d);
    return s.best == 2 || (s.best == 1 && s.n_found == 1);
}

/* ---- logs of requests -------------------------------------------------------------------- */

bool beside_may_be_log(str name) {
    static const str words[] = {STR("request"), STR("requests"), STR("reqs"), STR("access"),
                                STR("otel"),    STR("otlp"),     STR("spans")};
    static const str ends[] = {STR(".json"), STR(".jsonl"), STR(".csv"), STR(".log")};
    trace_name parsed;
    bool good = false;
    if (name_parse(name, &parsed)) return false;
    for (size_t i = 0; i < N_OF(ends); i++)
        good |= str_ends(name, ends[i]) ||
                (str_find(name, ends[i], 0) != SIZE_MAX &&
                 (str_ends(name, STR(".gz")) || str_ends(name, STR(".zst"))));
    for (size_t i = 0; i < N_OF(words) && good; i++)
        if (beside_has_word(name, words[i])) return true;
    return false;
}

static bool is_log(const char *path) {
    source *s = NULL;
    str head = STR_NONE;
    if (source_open(path, &s, NULL) != OK) return false;
    bool is = source_peek(s, (size_t)16 << 10, &head, NULL) == OK && request_log_head(head);
    source_close(s);
    return is;
}

bool beside_is_log(const char *path) {
    return beside_may_be_log(beside_base(path)) && is_log(path);
}

bool beside_find_log(const char *path, beside_file *out) {
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX], found[PATH_MAX];
    int n_looks = 0;
    bool any = false;
    if (remote_is_url(path) || strcmp(path, "-") == 0 || beside_may_be_log(beside_base(path)))
        return false;
    int n = snprintf(folder, sizeof folder, "%.*s/", slash ? (int)(slash - path) : 1,
                     slash ? path : ".");
    DIR *d = n > 0 && (size_t)n < sizeof folder ? opendir(folder) : NULL;
    if (!d) return false;
    for (struct dirent *e; (e = readdir(d));) {
        if (*e->d_name == '.' || !beside_may_be_log(str_of(e->d_name))) continue;
        n = snprintf(found, sizeof found, "%.*s/%s", slash ? (int)(slash - path) : 1,
                     slash ? path : ".", e->d_name);
        if (n < 0 || (size_t)n >= sizeof found || n_looks++ >= MOST_LOOKS) continue;
        if ((any && strcmp(found, out->path) > 0) || !is_log(found)) continue;
        memcpy(out->path, found, (size_t)n + 1);
        any = true;
    }
    closedir(d);
    return any;
}
