/* commands.c: every allocation, read and write of a command fails once.
 *
 *   commands FOLDER TRACE…      FOLDER is empty and XDG_CACHE_HOME; the traces are not new
 *
 * Each command runs in this process with the n-th point of one kind failing, for n = 1, 2, … until
 * a run passes none; some first with an empty cache, all with the trace in it. Whatever happens:
 *
 *   the exit status is 0, 2 or 3, and when it is not 0 there is a message;
 *   when it is 0 the result is the one of a run without faults;
 *   no descriptor, map or file is leaked (the heap is LeakSanitizer's to judge, at the end);
 *   what is then in the cache gives the right answer.
 *
 * A failure is one line; the last line is the count, as tests/run wants it. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/commands.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

#define OUT_FILE "OUT" /* stands for the file a command writes */

typedef struct {
    const char *words[12]; /* after the name; NULL ends; "TRACE" is replaced */
    uint64_t n_faults;     /* evenly spread; 0: all there are */
} command_line;

/* The first commands begin without the cache too: the trace is read and kept. What the others do
 * after that is seen with a full cache, or each would write it again at hundreds of points. */
enum { N_COLD = 2, MOST_OF_PACKED = 500 };

static const command_line COMMANDS[] = {
    {{"operators", "TRACE", "--json", "--threads", "2"}, 0},
    {{"info", "TRACE", "--threads", "1"}, 0},
    {{"summary", "TRACE", "--threads", "1"}, 0},
    {{"export", "TRACE", "--to", "chrome", "--threads", "1"}, 0},
    {{"export", "TRACE", "--to", "csv", "-o", OUT_FILE, "--threads", "1"}, 0},
    {{"export", "TRACE", "--to", "tacho", "-o", OUT_FILE, "--threads", "1"}, 0},
    {{"export", "TRACE", "--to", "arrow", "-o", OUT_FILE, "--threads", "1"}, 0},
    {{"query", "TRACE", "select kind, count(*) from slice group by kind", "--format", "arrow",
      "--threads", "1"},
     0},
    {{"export", "TRACE", "--to", "svg", "-o", OUT_FILE, "--threads", "1"}, 0},
    {{"check", "TRACE", "TRACE", "--junit", OUT_FILE, "--threads", "1"}, 0},
    /* A report asks all analyses, which have their own runs above and in the unit tests. */
    {{"report", "TRACE", "-q", "-o", OUT_FILE, "--threads", "1"}, 25},
};
enum { N_COMMANDS = sizeof COMMANDS / sizeof *COMMANDS };

static char cache_folder[4096], out_path[4096];
static int real_out;
static unsigned n_passed, n_failed;
static uint64_t n_points; /* that the last run passed */

/* What a run left. */
typedef struct {
    int code;
    bool maps;    /* more or fewer bytes are mapped than before; a large buf counts as a map */
    buf out, err; /* of out: standard output, then the file */
} outcome;

static void forget(outcome *r) {
    buf_fini(&r->out);
    buf_fini(&r->err);
}

static void die(const char *what) {
    dprintf(real_out, "commands: %s\n0 passed, 1 failed, 0 skipped\n", what);
    _exit(1);
}

/* ---- one run ---- */

static void read_back(int fd, buf *to) {
    char part[65536];
    lseek(fd, 0, SEEK_SET);
    for (ssize_t n; (n = read(fd, part, sizeof part)) > 0;) buf_add(to, part, (size_t)n);
    close(fd);
}

/* What main does after fault_init. */
static int run_words(char **words, int n) {
    arena a;
    error err = {0};
    options o = {.words = LANG_EN};
    arena_init(&a, 0);
    if (!command_find(str_of(words[0]), &o.command)) die(words[0]);
    status s = options_parse(&a, n - 1, words + 1, &o, &err);
    int code = s == OK ? o.command.run(&o) : cli_complain(&o, &err);
    arena_fini(&a);
    return code;
}

/* With the nth point of this kind failing (0: none); *hit: there was one. */
static outcome run(const command_line *c, const char *path, fault_kind kind, uint64_t nth,
                   bool *hit) {
    outcome r = {0};
    char *words[12];
    int n = 0, out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC);
    for (; c->words[n]; n++) {
        const char *w = c->words[n];
        words[n] = (char *)(uintptr_t)(strcmp(w, "TRACE") == 0    ? path
                                       : strcmp(w, OUT_FILE) == 0 ? out_path
                                                                  : w);
    }
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    uint64_t mapped = mem_mapped_bytes();
    fault_arm(kind, nth);
    r.code = run_words(words, n);
    r.maps = mem_mapped_bytes() != mapped; /* before what is read back below is held */
    n_points = fault_count(kind);
    *hit = nth && n_points >= nth;
    fault_arm(kind, 0);
    read_back(out, &r.out);
    read_back(err, &r.err);
    int file = open(out_path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) read_back(file, &r.out);
    unlink(out_path);
    return r;
}

/* ---- what is leaked ---- */

/* Entries of a folder with this ending; they are removed when asked. */
static unsigned count_files(const char *folder, const char *ending, bool remove) {
    DIR *d = opendir(folder);
    unsigned n = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.' || !str_ends(str_of(e->d_name), str_of(ending))) continue;
        n++;
        if (remove) unlinkat(dirfd(d), e->d_name, 0);
    }
    if (d) closedir(d);
    return n;
}

static unsigned count_descriptors(void) {
    unsigned n = 0;
    for (int fd = 3; fd < 64; fd++) n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static const char *left_behind(const char *folder, const outcome *r, unsigned descriptors) {
    if (count_files(folder, ".tmp", true) + count_files(cache_folder, ".tmp", true))
        return "a temporary file";
    if (r->maps) return "a map";
    return count_descriptors() != descriptors ? "a descriptor" : NULL;
}

/* ---- a series ---- */

typedef struct {
    const command_line *command;
    const char *folder, *trace;
    fault_kind kind;
    bool warm;     /* the trace is in the cache at the start of each run */
    uint64_t most; /* points that fail; 0: as the command has it */
    outcome right;
} series;

static bool complain(const series *s, uint64_t nth, const char *what, const outcome *r) {
    static const char *const kinds[] = {"allocation", "read", "write"};
    dprintf(real_out, "FAIL %s %s %s, %s cache, %s %llu: %s (exit %d: %.*s)\n",
            s->command->words[0], s->command->words[2], s->trace, s->warm ? "full" : "empty",
            kinds[s->kind], (unsigned long long)nth, what, r->code, STR_ARG(buf_str(&r->err)));
    return false;
}

static void prepare_cache(const series *s) {
    if (!s->warm) {
        count_files(cache_folder, "", true);
    } else if (!count_files(cache_folder, ".tacho", false)) {
        bool hit;
        outcome r = run(s->command, s->trace, s->kind, 0, &hit);
        forget(&r);
        if (!count_files(cache_folder, ".tacho", false))
            die("the trace does not get into the cache");
    }
}

static bool is_right(const series *s, const outcome *r) {
    return r->code == 0 && str_eq(buf_str(&r->out), buf_str(&s->right.out));
}

/* One run with a fault; *hit: there was one. False when a promise is broken. */
static bool check_run(const series *s, uint64_t nth, bool *hit) {
    prepare_cache(s);
    unsigned descriptors = count_descriptors();
    outcome r = run(s->command, s->trace, s->kind, nth, hit);
    const char *left = left_behind(s->folder, &r, descriptors);
    bool ok = true;
    if (r.code != 0 && r.code != 2 && r.code != 3) ok = complain(s, nth, "exit status", &r);
    if (r.code != 0 && r.err.n == 0) ok = complain(s, nth, "no message", &r);
    if (r.code == 0 && !is_right(s, &r)) ok = complain(s, nth, "a wrong result", &r);
    if (left) ok = complain(s, nth, left, &r);
    forget(&r);
    if (!ok || !count_files(cache_folder, ".tacho", false)) return ok;
    bool again;
    r = run(s->command, s->trace, s->kind, 0, &again);
    if (!is_right(s, &r)) ok = complain(s, nth, "a wrong cache", &r);
    forget(&r);
    return ok;
}

/* From one point that fails to the next. */
static uint64_t stride_of(const series *s) {
    uint64_t most = s->most ? s->most : s->command->n_faults;
    return most && n_points > most ? n_points / most : 1;
}

static void run_series(series *s) {
    bool hit = true, ok = true;
    uint64_t nth = 1;
    count_files(cache_folder, "", true);
    s->right = run(s->command, s->trace, s->kind, UINT64_MAX, &hit);
    uint64_t stride = stride_of(s);
    if (s->right.code != 0 || s->right.out.n == 0)
        ok = complain(s, 0, "without faults", &s->right);
    for (hit = ok; hit; nth += stride) ok &= check_run(s, nth, &hit);
    forget(&s->right);
    n_passed += ok;
    n_failed += !ok;
    if (getenv("VERBOSE"))
        dprintf(real_out, "%s %s kind %d warm %d: %llu\n", s->command->words[0], s->trace,
                s->kind, s->warm, (unsigned long long)nth);
}

/* Another format: it is read in its own way; what is kept and asked of it is as of the first.
 * What is packed is unpacked and then read as what it is, of which every point failed before. */
static void run_reading(const char *folder, const char *path) {
    size_t n = strlen(path);
    bool packed = n > 3 && strcmp(path + n - 3, ".gz") == 0;
    for (fault_kind kind = 0; kind < N_FAULTS; kind++)
        if (kind != FAULT_WRITE)
            run_series(&(series){.command = &COMMANDS[0],
                                 .folder = folder,
                                 .trace = path,
                                 .kind = kind,
                                 .most = packed ? MOST_OF_PACKED : 0});
}

int main(int argc, char **argv) {
    real_out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 64);
    if (argc < 3 || real_out < 0) return 1;
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_set_report_fd((void *)(intptr_t)real_out);
#endif
    snprintf(cache_folder, sizeof cache_folder, "%s/tacho", argv[1]);
    snprintf(out_path, sizeof out_path, "%s/out", argv[1]);
    for (int c = 0; c < N_COMMANDS; c++)
        for (fault_kind kind = 0; kind < N_FAULTS; kind++)
            for (int warm = c >= N_COLD; warm < 2; warm++)
                run_series(&(series){.command = &COMMANDS[c],
                                     .folder = argv[1],
                                     .trace = argv[2],
                                     .kind = kind,
                                     .warm = warm});
    for (int t = 3; t < argc; t++) run_reading(argv[1], argv[t]);
    dup2(real_out, STDOUT_FILENO);
    dup2(real_out, STDERR_FILENO);
    printf("%u passed, %u failed, 0 skipped\n", n_passed, n_failed);
    return n_failed > 0;
}
