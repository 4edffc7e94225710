/* progress.c: how far the reading is, for a person who waits.
 *
 * Only on a terminal, only on stderr, only after half a second, at most ten times a second:
 * what is quick stays silent, and a log file never holds a progress line. One line, rewritten
 * in place and taken away at the end. The readers call it from one thread at a time. */
#include "cli/progress.h"

#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/message_ids_cli.h"
#include "present/width.h"

#define SILENCE_NS 500000000
#define BETWEEN_NS 100000000

void progress_begin(progress *p, const options *o, const char *path) {
    *p = (progress){.on = !o->quiet && isatty(STDERR_FILENO), .words = o->words, .path = path};
    if (p->on) p->start_ns = clock_ns(CLOCK_MONOTONIC);
}

bool progress_step(void *context, uint64_t done_bytes, uint64_t total_bytes) {
    progress *p = context;
    int64_t now = p->on ? clock_ns(CLOCK_MONOTONIC) : 0;
    if (!p->on || now - p->start_ns < SILENCE_NS || now - p->last_ns < BETWEEN_NS) return false;
    p->last_ns = now;
    p->shown = true;
    buf sentence = {0}, line = {0};
    if (total_bytes == 0)
        text_put(&sentence, p->words, MSG_CLI_READING, arg_cstr("path", p->path));
    else
        text_put(&sentence, p->words, MSG_CLI_READING_SHARE, arg_cstr("path", p->path),
                 arg_share("share", (double)done_bytes / (double)total_bytes),
                 arg_bytes("size", (int64_t)(total_bytes & INT64_MAX)));
    buf_add_cstr(&line, "\r");
    width_put_short(&line, buf_str(&sentence), 78);
    buf_add_cstr(&line, "\033[K");
    if (buf_ok(&sentence) && buf_ok(&line)) (void)!write(STDERR_FILENO, line.p, line.n);
    buf_fini(&sentence);
    buf_fini(&line);
    return false;
}

void progress_end(progress *p) {
    static const char clear[] = "\r\033[K";
    if (p->shown) (void)!write(STDERR_FILENO, clear, sizeof clear - 1);
    p->shown = false;
}
