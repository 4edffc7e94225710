/* mindspore_folder.h: for tests: a folder of MindSpore's files, bytes for its raw ones, and the trace of a
 * worker of it. */
#ifndef UNIT_INGEST_MINDSPORE_FOLDER_H
#define UNIT_INGEST_MINDSPORE_FOLDER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "ingest/mindspore/mindspore.h"
#include "store/trace.h"

static char folder[64];

static inline int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/tacho-mindspore-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state) {
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

static inline void put_bytes(const char *name, const void *bytes, size_t n) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

static inline void put(const char *name, const char *text) {
    put_bytes(name, text, strlen(text));
}

static inline void add_le(unsigned char **p, uint64_t v, int n) {
    for (int i = 0; i < n; i++) *(*p)++ = (unsigned char)(v >> 8 * i);
}

/* A start (0) or end (1) of a task, as an Ascend's scheduler writes it: 64 bytes. */
typedef struct {
    uint64_t type, task, counter, stream;
} hwts_row;
enum { HWTS_RECORD_BYTES = 64, MOST_HWTS_ROWS = 16 };

static inline void put_hwts(const char *name, const hwts_row *rows, size_t n) {
    unsigned char bytes[HWTS_RECORD_BYTES * MOST_HWTS_ROWS] = {0};
    assert_in_range(n, 0, MOST_HWTS_ROWS);
    for (size_t i = 0; i < n; i++) {
        unsigned char *p = bytes + i * HWTS_RECORD_BYTES;
        add_le(&p, rows[i].type, 1);
        p = bytes + i * HWTS_RECORD_BYTES + 6;
        add_le(&p, rows[i].task, 2);
        add_le(&p, rows[i].counter, 8);
        add_le(&p, rows[i].stream, 4);
    }
    put_bytes(name, bytes, n * HWTS_RECORD_BYTES);
}

/* The trace of the worker one of whose files this is. */
static inline trace *read_worker(const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    source *s = NULL;
    assert_int_equal(source_open(path, &s, NULL), OK);
    builder *b = builder_new();
    trace *t = NULL;
    assert_int_equal(ingest_mindspore(s, &(ingest_options){.path = path}, b, NULL), OK);
    source_close(s);
    assert_int_equal(builder_seal(b, NULL, &t, NULL), OK);
    builder_free(b);
    return t;
}

static inline bool named(const trace *t, uint32_t id, const char *text) {
    return str_eq(trace_str(t, id), str_of(text));
}

#endif
