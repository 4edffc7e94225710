/* ingest.c: single measurements for bench/ingest, the script that interleaves and compares them.
 *
 *   ingest load THREADS FILE   tacho from open to sealed, linked, sorted store, without cache
 *   ingest settle BYTES        takes so much memory and gives it back, so that the next process finds
 *                              pages that a virtual machine's host has handed out already
 *   ingest inflate FILE        the same reading of bytes, with nothing done to them
 *   ingest copy FILE           memcpy of the text from warm memory to warm memory
 *   ingest tree FILE           simdjson's tree parse with a fresh parser
 *   ingest hold FILE           the same with one parser again and again: keeps the text and the
 *                              parser in memory and parses once for each line it reads
 *
 * Each measurement is one line of `name=value` words. What it says of memory is the peak of the
 * process. tacho pays for the first touch of all its memory, as it does when it is started;
 * `copy` and `hold` are the best case of the others: every page was there before. Times are of
 * the work alone: no process start, no loading of the text for those who need all of it in
 * memory first. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/mem.h"
#include "io/source.h"
#include "session/load.h"

/* ingest_simdjson.cc */
void *tree_parser_new(void);
void tree_parser_free(void *parser);
int tree_parser_parse(void *parser, const char *text, size_t n);
size_t tree_parser_padding(void);
const char *tree_parser_kind(void);

#define PIECE ((size_t)4 << 20) /* what a reader asks for */

static _Noreturn void die(const char *what, const char *which) {
    fprintf(stderr, "ingest: %s: %s\n", what, which);
    exit(1);
}

/* ---- clocks and memory ------------------------------------------------------------------ */

typedef struct {
    int64_t wall_ns, cpu_ns; /* CPU time of all threads */
} stamp;

static int64_t read_clock(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static stamp now(void) {
    return (stamp){read_clock(CLOCK_MONOTONIC), read_clock(CLOCK_PROCESS_CPUTIME_ID)};
}

static stamp since(stamp began) {
    stamp t = now();
    return (stamp){t.wall_ns - began.wall_ns, t.cpu_ns - began.cpu_ns};
}

/* A line of /proc/self/status, in bytes; getrusage would show the peak of the process before
 * exec, too. */
static uint64_t memory_of(const char *key) {
    FILE *file = fopen("/proc/self/status", "r");
    if (!file) die("cannot open", "/proc/self/status");
    char line[256];
    uint64_t kib = 0;
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, key, strlen(key)) == 0) kib = strtoull(line + strlen(key), NULL, 10);
    }
    fclose(file);
    return kib * 1024;
}

static void say(stamp took) {
    printf("wall_ns=%" PRId64 " cpu_ns=%" PRId64 " peak=%" PRIu64, took.wall_ns, took.cpu_ns,
           memory_of("VmHWM:"));
}

/* ---- tacho ------------------------------------------------------------------------------ */

static void measure_load(const char *threads, const char *path) {
    const load_options options = {.threads = atoi(threads), .no_cache = true};
    loaded_trace result = {0};
    stamp began = now();
    if (trace_load(path, &options, &result, NULL) != OK) die("cannot load", path);
    say(since(began));
    const trace *t = result.trace;
    printf(" input=%" PRIu64 " events=%" PRIu64 " dropped=%" PRIu64 " store=%" PRIu64,
           t->input_bytes, t->events_read, t->events_dropped, trace_size_bytes(t));
    /* What was read: one number that changes with every mistake in reading. */
    printf(" answer=%u/%u/%u/%u/%u/%u\n", t->slice.n, t->op.n, t->call.n, t->kernel.n,
           t->flow.n, t->memory.n);
    trace_release(result.trace);
}

/* The host of a virtual machine takes unused memory back within seconds and hands it out again at about
 * 1 GB/s, a thirtieth of the rate at which the machine's own system clears pages. Large loads would
 * pay for it and small ones not, according to what ran before. */
static void settle(const char *bytes) {
    const size_t huge = (size_t)2 << 20, n = (strtoull(bytes, NULL, 10) / huge + 1) * huge;
    stamp began = now();
    char *all =
        mmap(NULL, n + huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) die("no memory to settle", bytes);
    char *p = all + (huge - (uintptr_t)all % huge) % huge;
    madvise(p, n, MADV_HUGEPAGE); /* as tacho takes it; refused: small pages do as well */
    for (size_t i = 0; i < n; i += 4096) ((volatile char *)p)[i] = 1;
    munmap(all, n + huge);
    say(since(began));
    printf(" bytes=%zu\n", n);
}

static void measure_inflate(const char *path) {
    stamp began = now();
    source *s;
    if (source_open(path, &s, NULL) != OK) die("cannot open", path);
    uint64_t bytes = 0;
    for (piece pc; source_next(s, PIECE, 0, &pc, NULL) == OK && pc.n > 0;) {
        bytes += pc.n;
        source_release(s, &pc);
    }
    if (source_damaged(s)) die("damaged", path);
    source_close(s);
    say(since(began));
    printf(" input=%" PRIu64 "\n", bytes);
}

/* ---- the others ------------------------------------------------------------------------- */

typedef struct {
    char *p;
    size_t n;
} text;

static text read_all(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) die("cannot open", path);
    long n = ftell(file);
    rewind(file);
    text all = {.n = n > 0 ? (size_t)n : 0};
    all.p = mem_alloc(all.n + tree_parser_padding());
    if (!all.p) die("out of memory for", path);
    if (fread(all.p, 1, all.n, file) != all.n) die("cannot read", path);
    memset(all.p + all.n, 0, tree_parser_padding());
    fclose(file);
    return all;
}

static stamp parse_tree(void *parser, text all) {
    stamp began = now();
    int failure = tree_parser_parse(parser, all.p, all.n);
    stamp took = since(began);
    if (failure) {
        fprintf(stderr, "ingest: simdjson gave error %d\n", failure);
        exit(1);
    }
    return took;
}

static void measure_tree(const char *path) {
    text all = read_all(path);
    void *parser = tree_parser_new();
    if (!parser) die("out of memory for", "simdjson");
    say(parse_tree(parser, all));
    printf(" input=%zu kind=%s\n", all.n, tree_parser_kind());
    tree_parser_free(parser);
    mem_free(all.p);
}

static void hold(const char *path) {
    text all = read_all(path);
    void *parser = tree_parser_new();
    if (!parser) die("out of memory for", "simdjson");
    parse_tree(parser, all);
    printf("ready=1\n");
    fflush(stdout);
    for (char line[16]; fgets(line, sizeof line, stdin);) {
        say(parse_tree(parser, all));
        printf(" input=%zu\n", all.n);
        fflush(stdout);
    }
    tree_parser_free(parser);
    mem_free(all.p);
}

static void measure_copy(const char *path) {
    text all = read_all(path);
    char *to = mem_alloc(all.n);
    if (!to) die("out of memory for", path);
    memset(to, 1, all.n);
    stamp began = now();
    memcpy(to, all.p, all.n);
    __asm__ volatile("" ::"r"(to) : "memory"); /* or the copy would be left out */
    say(since(began));
    printf(" input=%zu\n", all.n);
    mem_free(to);
    mem_free(all.p);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*measure)(const char *what);
    } kinds[] = {{"settle", settle},
                 {"inflate", measure_inflate},
                 {"copy", measure_copy},
                 {"tree", measure_tree},
                 {"hold", hold}};
    const char *name = argc > 1 ? argv[1] : "";
    if (argc == 4 && strcmp(name, "load") == 0) {
        measure_load(argv[2], argv[3]);
        return 0;
    }
    for (size_t i = 0; argc == 3 && i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(name, kinds[i].name) == 0) {
            kinds[i].measure(argv[2]);
            return 0;
        }
    }
    die("usage", "ingest load THREADS FILE | inflate|copy|tree|hold FILE | settle BYTES");
}
