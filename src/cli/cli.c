/* cli.c: what the commands share: how a failure becomes a sentence and an exit status, and how
 * bytes get to standard output.
 *
 * Results go to stdout, everything else to stderr. An error is printed once, at the end of a
 * command, in the reader's language; the exit status follows from it: 1 the command line is
 * wrong, 2 the input cannot be used, 3 out of memory or disk. A pipe whose reader has gone
 * (head) is not an error: the reader has what it wanted, the program ends with 0.
 *
 * The width of text is $COLUMNS where it is set, else that of the terminal, else 120 cells.
 * Colors are for terminals, and not when NO_COLOR is set or the terminal is dumb; --color and
 * CLICOLOR_FORCE say otherwise. On a terminal an answer is a screen (present/screen.c). */
#include "cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyse/registry.h"
#include "base/fault.h"
#include "base/fmt.h"
#include "base/message_ids_cli.h"
#include "session/sniff.h"
#include "store/file.h"

#define DEFAULT_WIDTH 120
#define SCREEN_LINES \
    38 /* of an answer on a terminal of 40, with the prompt before and after it */
#define LEAST_WIDTH 40 /* below this no table is readable: let the terminal wrap */

static void (*pipes_before)(int) = SIG_DFL;

void cli_ignore_pipes(void) {
    pipes_before = signal(SIGPIPE, SIG_IGN);
}

void cli_restore_pipes(void) {
    (void)signal(SIGPIPE, pipes_before);
}

int cli_exit_status(status s) {
    switch (s) {
    case OK:
    case ERR_CANCELLED: return EXIT_DONE;
    case ERR_ARG: return EXIT_USAGE;
    case ERR_LIMIT: /* a limit of the user's or of ours: give more */
    case ERR_MEMORY: return EXIT_RESOURCES;
    default: return EXIT_INPUT;
    }
}

static bool is_same_file(const struct stat *a, const char *path) {
    struct stat b;
    return path && stat(path, &b) == 0 && a->st_dev == b.st_dev && a->st_ino == b.st_ino;
}

/* A trace in a folder that is read. A summary there was written by us, and may be replaced. */
static bool is_trace_within(const char *path, const char *folder) {
    char file[PATH_MAX], top[PATH_MAX];
    struct stat st;
    trace *t = NULL;
    if (stat(folder, &st) != 0 || !S_ISDIR(st.st_mode)) return false;
    if (!realpath(path, file) || !realpath(folder, top)) return false;
    size_t n = strlen(top);
    if (strncmp(file, top, n) != 0 || (file[n] != '/' && n > 1)) return false;
    if (!sniff_is_trace(file)) return false;
    bool summary = file_open(file, STR_NONE, &t, NULL) == OK && t->summary;
    trace_release(t);
    return !summary;
}

status cli_check_output(const options *o, str path, error *err) {
    struct stat out;
    if (!path.p || stat(path.p, &out) != 0 || !S_ISREG(out.st_mode)) return OK;
    bool is_input = is_same_file(&out, o->budget.p);
    for (uint32_t i = 0; i < o->n_traces && !is_input; i++)
        is_input = is_same_file(&out, o->traces[i]) || is_trace_within(path.p, o->traces[i]);
    if (is_input) FAIL(err, ERR_ARG, NOPOS, MSG_CLI_OUTPUT_IS_INPUT, arg_text("path", path));
    return OK;
}

void cli_say(const options *o, str sentence) {
    buf line = {0};
    text_put(&line, o->words, MSG_CLI_PREFIX, arg_text("sentence", sentence));
    buf_add_byte(&line, '\n');
    if (buf_ok(&line)) (void)!write(STDERR_FILENO, line.p, line.n);
    buf_fini(&line);
}

int cli_complain(const options *o, const error *err) {
    buf sentence = {0}, line = {0};
    text_error(&sentence, o->words, err);
    text_put(&line, o->words, MSG_CLI_PREFIX, arg_text("sentence", buf_str(&sentence)));
    buf_add_byte(&line, '\n');
    if (buf_ok(&sentence) && buf_ok(&line)) {
        (void)!write(STDERR_FILENO, line.p, line.n);
    } else { /* not even memory for the sentence: say it from the constant */
        const char *plain = text_get(err->message, o->words);
        (void)!write(STDERR_FILENO, plain, strlen(plain));
        (void)!write(STDERR_FILENO, "\n", 1);
    }
    buf_fini(&sentence);
    buf_fini(&line);
    return cli_exit_status(err->status);
}

void cli_note_better(const options *o, const trace *t) {
    error note = {.message = registry_better(o->command.name, t), .offset = NOPOS};
    if (note.message != MSG_NONE && !o->quiet) (void)cli_complain(o, &note);
}

status output_flush(void *to, buf *b, error *err) {
    output *out = to;
    for (size_t at = 0; at < b->n;) {
        ssize_t n = -1;
        if (fault_point(FAULT_WRITE))
            errno = ENOSPC;
        else
            n = write(out->fd, b->p + at, b->n - at);
        if (n >= 0) {
            at += (size_t)n;
        } else if (errno == EPIPE) {
            out->closed = true;
            return ERR_CANCELLED;
        } else if (errno != EINTR) {
            out->failed = true;
            FAIL(err, ERR_IO, NOPOS, MSG_CLI_CANNOT_WRITE, arg_cstr("path", out->name),
                 arg_cstr("reason", strerror(errno)));
        }
    }
    buf_clear(b);
    return OK;
}

void output_make_safe(output *out) {
    buf safe = {0};
    fmt_safe(&safe, buf_str(&out->buf), "\n\t");
    if (!buf_ok(&out->buf)) safe.failed = true;
    buf_fini(&out->buf);
    out->buf = safe;
}

int output_end(output *out, const options *o, status so_far, error *err) {
    status s = so_far;
    if (s == OK && !buf_ok(&out->buf))
        s = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    if (s == OK) s = output_flush(out, &out->buf, err);
    buf_fini(&out->buf);
    if (s == OK || out->closed) return EXIT_DONE;
    int code = cli_complain(o, err);
    return out->failed ? EXIT_RESOURCES : code;
}

static uint32_t terminal_width(int fd) {
    int64_t columns;
    struct winsize size;
    const char *set = getenv("COLUMNS");
    if (set && str_to_i64(str_of(set), &columns) && columns >= LEAST_WIDTH && columns < 10000)
        return (uint32_t)columns;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= LEAST_WIDTH) return size.ws_col;
    return DEFAULT_WIDTH;
}

/* A variable that is set to something. */
static bool is_set(const char *name) {
    const char *value = getenv(name);
    return value && value[0];
}

static bool wants_color(const options *o, int fd) {
    const char *terminal = getenv("TERM"), *force = getenv("CLICOLOR_FORCE");
    if (str_eq(o->color, STR("always"))) return true;
    if (str_eq(o->color, STR("never")) || is_set("NO_COLOR")) return false;
    if (is_set("CLICOLOR_FORCE") && strcmp(force, "0") != 0) return true;
    return isatty(fd) && terminal && strcmp(terminal, "dumb") != 0;
}

/* Does the locale, by the variable that decides, say UTF-8? */
static bool is_utf8(void) {
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!is_set(names[i])) continue;
        str locale = str_of(getenv(names[i]));
        return str_find_nocase(locale, STR("utf-8"), 0) != SIZE_MAX ||
               str_find_nocase(locale, STR("utf8"), 0) != SIZE_MAX;
    }
    return false;
}

/* A screen's lines; --all wants everything, --limit as many rows as it says. */
static uint32_t screen_lines(const options *o, bool terminal) {
    if (!terminal || o->all) return 0;
    return o->question.limit == ABSENT_I64 ? SCREEN_LINES : UINT32_MAX;
}

/* Oddities of a file only matter to a question about the file. */
static bool wants_details(const options *o) {
    return o->all || analysis_has(o->command.analysis, ABOUT_FILE);
}

present_options cli_present(const options *o, output *out) {
    bool terminal = isatty(out->fd);
    return (present_options){.lang = o->words,
                             .width = terminal_width(out->fd),
                             .color = wants_color(o, out->fd),
                             .terminal = terminal,
                             .utf8 = is_utf8(),
                             .lines = screen_lines(o, terminal),
                             .details = wants_details(o),
                             .flush = output_flush,
                             .to = out};
}
