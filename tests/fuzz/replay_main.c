/*
 * Runs one fuzz target over files instead of a fuzzer's inventions.
 *
 * A corpus that only a fuzzer reads protects no one: linked with this main, each target replays
 * its corpus in every `make test`, under the sanitizers and with any compiler. Arguments are
 * files and folders; a folder means the plain files directly inside it. The input is copied to
 * a block of exactly its size, so that a read past its end is seen.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t n_inputs;

static void run_file(const char *path, size_t size) {
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size ? size : 1);
    if (!file || !data || fread(data, 1, size, file) != size) {
        perror(path);
        exit(1);
    }
    fclose(file);
    /* A crash shows no argument, so the culprit's name must be out before the call. */
    printf("%s (%zu bytes)\n", path, size);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    n_inputs++;
}

static void run_path(const char *path, int inside_folder) {
    struct stat info;
    if (stat(path, &info) != 0) {
        perror(path);
        exit(1);
    }
    if (S_ISREG(info.st_mode)) {
        run_file(path, (size_t)info.st_size);
    } else if (S_ISDIR(info.st_mode) && !inside_folder) {
        struct dirent **entries;
        int n_entries = scandir(path, &entries, NULL, alphasort);
        for (int i = 0; i < n_entries; i++) {
            char child[4096];
            snprintf(child, sizeof child, "%s/%s", path, entries[i]->d_name);
            if (entries[i]->d_name[0] != '.') run_path(child, 1);
            free(entries[i]);
        }
        if (n_entries >= 0) free(entries);
    }
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) run_path(argv[i], 0);
    printf("%zu inputs replayed\n", n_inputs);
    return 0;
}
