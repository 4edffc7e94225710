/* record_helper.c: see the header. */
#include "unit/record/record_helper.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ingest/recording/recording.h"

static char folder[64];

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where) {
    (void)st;
    (void)kind;
    (void)where;
    return remove(path);
}

void remove_folder(void) {
    if (!folder[0]) return;
    assert_int_equal(nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
    folder[0] = 0;
}

const char *fresh_folder(void) {
    remove_folder();
    strcpy(folder, "/tmp/tacho_record_XXXXXX");
    assert_non_null(mkdtemp(folder));
    return folder;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(a, b);
}

int list_recordings(char (*to)[512], int most) {
    DIR *d = opendir(folder);
    int n = 0;
    assert_non_null(d);
    for (struct dirent *e; n < most && (e = readdir(d));)
        if (e->d_name[0] != '.') snprintf(to[n++], sizeof *to, "%s/%s", folder, e->d_name);
    closedir(d);
    qsort(to, (size_t)n, sizeof *to, compare_names);
    return n;
}

void start_all(void) {
    tacho_options o = {.size = sizeof o, .path = folder, .shapes = 1, .memory = 1};
    assert_int_equal(tacho_start(&o), TACHO_OK);
}

trace *read_recording(const char *path) {
    source *s;
    trace *t = NULL;
    error err = {0};
    ingest_options how = {0};
    builder *b = builder_new();
    assert_non_null(b);
    if (source_open(path, &s, NULL) != OK) fail_msg("cannot open %s", path);
    status st = ingest_recording(s, &how, b, &err);
    if (st != OK) fail_msg("status %d, message %d", st, err.message);
    assert_int_equal(builder_seal(b, NULL, &t, &err), OK);
    source_close(s);
    builder_free(b);
    return t;
}

trace *stop_and_read(void) {
    char path[4096];
    assert_int_equal(tacho_stop(), TACHO_OK);
    tacho_path(path, sizeof path);
    return read_recording(path);
}

uint32_t count_slices(const trace *t, const char *name) {
    uint32_t n = 0;
    for (uint32_t i = 1; i < t->slice.n; i++) n += str_eq(trace_slice_name(t, i), str_of(name));
    return n;
}

uint32_t one_slice(const trace *t, const char *name) {
    if (count_slices(t, name) != 1) fail_msg("%u slices named %s", count_slices(t, name), name);
    for (uint32_t i = 1; i < t->slice.n; i++)
        if (str_eq(trace_slice_name(t, i), str_of(name))) return i;
    return 0;
}

int in_child(void (*fn)(void)) {
    int how = 0;
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        fn();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &how, 0), pid);
    return how;
}
