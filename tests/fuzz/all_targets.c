/* all_targets.c: every fuzz target in one program, for machines to which one small file is carried:
 * all_targets NAME [OPTIONS OF libFuzzer…]. TARGETS lists them; the Makefile gives each target's
 * functions its name. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*run_one)(const uint8_t *data, size_t size);
typedef size_t (*mutate)(uint8_t *data, size_t size, size_t most, unsigned seed);

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

#define X(name)                                            \
    int fuzz_run_##name(const uint8_t *data, size_t size); \
    __attribute__((weak))                                  \
    size_t fuzz_mutate_##name(uint8_t *data, size_t size, size_t most, unsigned seed);
TARGETS
#undef X

static const struct {
    const char *name;
    run_one run;
    mutate mutate;
} targets[] = {
#define X(name) {#name, fuzz_run_##name, fuzz_mutate_##name},
    TARGETS
#undef X
};

enum { N_TARGETS = sizeof targets / sizeof *targets };

static size_t chosen;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    for (chosen = 0; *argc > 1 && chosen < N_TARGETS; chosen++)
        if (strcmp((*argv)[1], targets[chosen].name) == 0) {
            (*argv)[1] = (*argv)[0];
            (*argv)++;
            (*argc)--;
            return 0;
        }
    for (size_t i = 0; i < N_TARGETS; i++) puts(targets[i].name);
    exit(2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return targets[chosen].run(data, size);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    return targets[chosen].mutate ? targets[chosen].mutate(data, size, most, seed)
                                  : LLVMFuzzerMutate(data, size, most);
}
