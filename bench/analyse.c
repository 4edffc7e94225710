/* analyse.c: the times of all analyses for bench/analyse, the script that compares them. A
 * comparison compares the trace with itself.
 *
 *   analyse ROUNDS FILE…   reads each trace with one thread and asks every analysis of the registry,
 *                          with each of its groupings, ROUNDS times over
 *
 * One line of `name=value` words for each measurement. `question=ingest` is the reading, from open
 * to sealed store, without cache; the others are the analysis alone, from a sealed trace in memory
 * to its tables, with its own arena, as every request gets it. Memory of the question before is
 * given back first, as if the process had just begun: a small trace would find it again, a
 * large one would not. `first=1` marks the default grouping, `file=0` the first trace. Every
 * second round takes the traces backwards, so that a machine that becomes slower does not favor
 * one of them. */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyse/registry.h"
#include "session/load.h"

static _Noreturn void die(const char *what, const char *which) {
    fprintf(stderr, "analyse: %s: %s\n", what, which);
    exit(1);
}

typedef struct {
    int64_t wall_ns, cpu_ns;
} stamp;

static int64_t read_clock(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static stamp now(void) {
    return (stamp){read_clock(CLOCK_MONOTONIC), read_clock(CLOCK_PROCESS_CPUTIME_ID)};
}

static int file; /* the current trace */

static void say(const char *analysis, str group, bool first, stamp began) {
    stamp t = now();
    printf("file=%d question=%s", file, analysis);
    if (group.n) printf(":%.*s", STR_ARG(group));
    printf(" first=%d wall_ns=%" PRId64 " cpu_ns=%" PRId64, first, t.wall_ns - began.wall_ns,
           t.cpu_ns - began.cpu_ns);
}

static void ask(const analysis_info *what, str group, bool first, const trace *t) {
    const analysis_trace one = {
        .trace = t, .worker = STR("bench"), .rank = ABSENT_I64, .path = STR("bench")};
    const analysis_input same = {.traces = &one, .n_traces = 1};
    const analysis_input in = {.traces = &one, .n_traces = 1, .against = &same};
    params p = PARAMS_WHOLE;
    if (group.n && !group_by_of(group, &p.group)) die("no such grouping", what->name);
    arena a;
    answer out;
    size_t rows = 0;
    malloc_trim(0);
    stamp began = now();
    arena_init(&a, 0);
    status st = what->run(&in, &p, &a, &out, NULL);
    if (st == ERR_ARG) { /* it needs more than that */
        arena_fini(&a);
        return;
    }
    if (st != OK) die("no answer", what->name);
    for (uint32_t i = 0; i < out.n_tables; i++) rows += out.tables[i]->n_rows;
    size_t bytes = a.used_bytes;
    arena_fini(&a);
    say(what->name, group, first, began);
    printf(" rows=%zu bytes=%zu\n", rows, bytes);
}

static void ask_all(const trace *t) {
    const analysis_info *what;
    for (uint32_t i = 0; (what = registry_analysis(i)); i++) {
        const param_info *groups = registry_find_param(what->name, STR("group_by"));
        str left = groups ? str_of(groups->values) : STR_NONE;
        if (!groups) ask(what, STR_NONE, true, t);
        while (left.n) {
            size_t bar = str_find(left, STR("|"), 0);
            str group = bar == SIZE_MAX ? left : str_n(left.p, bar);
            ask(what, group, str_eq(group, str_of(groups->fallback)), t);
            left = bar == SIZE_MAX ? STR_NONE : str_from(left, bar + 1);
        }
    }
}

static void measure(const char *path) {
    const load_options options = {.threads = 1, .no_cache = true};
    loaded_trace result = {0};
    stamp began = now();
    if (trace_load(path, &options, &result, NULL) != OK) die("cannot load", path);
    say("ingest", STR_NONE, true, began);
    printf(" events=%" PRIu64 " slices=%" PRIu32 "\n", result.trace->events_read,
           result.trace->slice.n - 1);
    ask_all(result.trace);
    fflush(stdout);
    trace_release(result.trace);
}

int main(int argc, char **argv) {
    if (argc < 3) die("usage", "analyse ROUNDS FILE…");
    int n_files = argc - 2;
    for (int round = 0; round < atoi(argv[1]); round++) {
        for (int i = 0; i < n_files; i++) {
            file = round % 2 ? n_files - 1 - i : i;
            measure(argv[2 + file]);
        }
    }
}
