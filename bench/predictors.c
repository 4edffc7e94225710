/* predictors.c: single measurements for bench/predictors, the script that interleaves and compares
 * them.
 *
 *   predictors read FILE   the rows of a file: opened, parsed, given to the builder; not sealed
 *   predictors load FILE   the whole way to a sealed trace, without cache
 *
 * One thread. Prints the CPU time in microseconds, which other programs of the machine disturb
 * least. The Makefile builds it once as it is and once without each predictor. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "session/formats.h"
#include "session/load.h"

enum { HEAD_BYTES = 1 << 20 };

static _Noreturn void die(const char *what, const char *which) {
    fprintf(stderr, "predictors: %s: %s\n", what, which);
    exit(1);
}

static int64_t cpu_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static const format *find_format(const char *path) {
    source *s;
    piece head;
    if (source_open(path, &s, NULL) != OK) die("cannot open", path);
    if (source_next(s, HEAD_BYTES, 0, &head, NULL) != OK) die("cannot read", path);
    const format *found = NULL;
    for (uint32_t i = 0; !found && format_at(i); i++)
        if (format_at(i)->sniff(str_n(head.p, head.n), false) == SNIFF_YES)
            found = format_at(i);
    source_release(s, &head);
    source_close(s);
    if (!found || !found->read) die("not a trace to read", path);
    return found;
}

static int64_t measure_read(const char *path) {
    const format *f = find_format(path);
    const ingest_options options = {.path = path};
    source *s;
    int64_t began = cpu_us();
    builder *b = builder_new();
    if (!b || source_open(path, &s, NULL) != OK || f->read(s, &options, b, NULL) != OK)
        die("cannot read", path);
    int64_t took = cpu_us() - began;
    source_close(s);
    builder_free(b);
    return took;
}

static int64_t measure_load(const char *path) {
    const load_options options = {.threads = 1, .no_cache = true};
    loaded_trace result = {0};
    int64_t began = cpu_us();
    if (trace_load(path, &options, &result, NULL) != OK) die("cannot load", path);
    int64_t took = cpu_us() - began;
    trace_release(result.trace);
    return took;
}

int main(int argc, char **argv) {
    bool read = argc == 3 && strcmp(argv[1], "read") == 0;
    if (!read && (argc != 3 || strcmp(argv[1], "load") != 0))
        die("usage", "predictors read|load FILE");
    printf("%" PRId64 "\n", read ? measure_read(argv[2]) : measure_load(argv[2]));
    return 0;
}
