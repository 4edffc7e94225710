/* gentrace_worst.c: N events of one worst shape; bench/worst asks every analysis about them.
 *
 *   deep         each event inside the one before, to the depth of N
 *   tracks       each event on a separate thread
 *   processes    each event in a separate process, each kernel on a separate stream and device
 *   steps        as tracks, and a step for every 50 of them
 *   one-name     all on one thread, with one name
 *   all-names    each with a different name
 *   stacks       each with a call stack of 24 frames, of which four are its own
 *   same-start   all start at the same moment and take the same time
 *   same-hash    functions, modules and operators whose names have one hash in XXH3 without a seed
 *   frames       Python frames inside each other, to the depth of N, in one step
 *
 * Every other event launches a kernel, so that what joins host and device has work, too. */
#include "gentrace_worst.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_deep(long i, long n) {
    printf("\"name\":\"op%ld\",\"tid\":1,\"ts\":%ld,\"dur\":%ld", i % 50, i, 4 * n - 2 * i);
}

static void put_track(long i, long n) {
    (void)n;
    printf("\"name\":\"op%ld\",\"tid\":%ld,\"ts\":%ld,\"dur\":5", i % 50, i + 1, i);
}

static void put_one_name(long i, long n) {
    (void)n;
    printf("\"name\":\"op\",\"tid\":1,\"ts\":%ld,\"dur\":5", 10 * i);
}

static void put_all_names(long i, long n) {
    (void)n;
    printf("\"name\":\"op_%ld_of_its_own\",\"tid\":1,\"ts\":%ld,\"dur\":5", i, 10 * i);
}

static void put_same_start(long i, long n) {
    (void)i;
    (void)n;
    printf("\"name\":\"op%ld\",\"tid\":1,\"ts\":100,\"dur\":50", i % 50);
}

/* The first eight bytes are those of the secret of XXH3. */
static void put_one_hash(long i) {
    printf("\xB8\xFE\x6C\x39\x23\xA4\x4B\xBE%08ldof_a_hostile_one", i % 100000000);
}

static void put_function(long i, const char *before) {
    printf("\"cat\":\"python_function\",\"pid\":1,\"tid\":1,\"name\":\"%s", before);
    put_one_hash(i);
}

static void put_same_hash(long i, long n) {
    printf("\"name\":\"");
    put_one_hash(i);
    printf("\",\"tid\":1,\"ts\":%ld,\"dur\":5},\n{\"ph\":\"X\",", 10 * i + 2);
    put_function(i, "nn.Module: ");
    printf("_0\",\"ts\":%ld,\"dur\":7,\"args\":{\"Python id\":%ld,\"Python module id\":%ld}},\n"
           "{\"ph\":\"X\",",
           10 * i + 1, n + i + 1, i);
    put_function(i, "train.py(1): ");
    printf("\",\"ts\":%ld,\"dur\":9", 10 * i);
}

static void put_frame(long i, long n) {
    printf("\"name\":\"train.py(%ld): f\",\"tid\":1,\"ts\":%ld,\"dur\":%ld", i % 50, 20 * i,
           40 * n - 40 * i);
}

static const struct {
    const char *name;
    void (*put)(long i, long n);
    int n_frames;
    int step_events, step_us; /* 0: no steps; from one event to the next */
    bool apart;               /* separate processes, devices and streams */
    const char *category;     /* NULL: cpu_op */
} SHAPES[] = {
    {"deep", .put = put_deep},
    {"tracks", .put = put_track},
    {"processes", put_track, .apart = true},
    {"steps", put_track, .step_events = 50, .step_us = 1},
    {"one-name", .put = put_one_name},
    {"all-names", .put = put_all_names},
    {"stacks", put_one_name, .n_frames = 24},
    {"same-start", .put = put_same_start},
    {"same-hash", .put = put_same_hash},
    {"frames", put_frame, .step_events = 1000, .step_us = 20, .category = "python_function"}};
enum { N_SHAPES = sizeof SHAPES / sizeof *SHAPES, OWN_FRAMES = 4 };

static void put_step(long i, int n_events, int us) {
    printf("{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#%ld\",\"pid\":1,"
           "\"tid\":0,\"ts\":%ld,\"dur\":%d},\n",
           i / n_events, i * us, n_events * us);
}

static void put_stack(long i, int n_frames) {
    printf(",\"Call stack\":\"");
    for (int f = 0; f < n_frames; f++)
        printf("%smodel.py(%ld): f%d", f ? ";" : "", f < OWN_FRAMES ? i : 7L, f);
    printf("\"");
}

/* The work that event i launches; row 0 is device 0 and stream 7. */
static void put_kernel(long i, long row) {
    printf(",\n{\"ph\":\"X\",\"cat\":\"kernel\",\"pid\":%ld,\"tid\":%ld,\"name\":\"k%ld\","
           "\"ts\":%ld,\"dur\":4,\"args\":{\"External id\":%ld,\"correlation\":%ld,"
           "\"device\":%ld,\"stream\":%ld}}",
           row, row + 7, i % 9, 10 * i + 3, i + 1, i + 1, row, row + 7);
}

static void put_events(int shape, long n) {
    for (long i = 0; i < n; i++) {
        int every = SHAPES[shape].step_events;
        if (i) printf(",\n");
        if (every && i % every == 0) put_step(i, every, SHAPES[shape].step_us);
        const char *category = SHAPES[shape].category;
        printf("{\"ph\":\"X\",\"cat\":\"%s\",\"pid\":%ld,", category ? category : "cpu_op",
               SHAPES[shape].apart ? n + i : 1);
        SHAPES[shape].put(i, n);
        printf(",\"args\":{\"External id\":%ld", i + 1);
        if (SHAPES[shape].n_frames) put_stack(i, SHAPES[shape].n_frames);
        printf("}}");
        if (i % 2 == 0) put_kernel(i, SHAPES[shape].apart ? i : 0);
    }
}

int gentrace_worst(int argc, char **argv) {
    char *end = NULL;
    long n = argc == 4 ? strtol(argv[3], &end, 10) : 0;
    for (int s = 0; s < N_SHAPES && n > 0 && *end == '\0'; s++) {
        if (strcmp(argv[2], SHAPES[s].name) != 0) continue;
        printf("{\"schemaVersion\":1,\"traceEvents\":[\n");
        put_events(s, n);
        printf("\n]}\n");
        return fflush(stdout) == 0 ? 0 : 1;
    }
    fprintf(stderr,
            "gentrace: usage: gentrace worst "
            "deep|tracks|processes|steps|one-name|all-names|stacks|same-start|same-hash|"
            "frames N\n");
    return 1;
}
