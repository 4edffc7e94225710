/* torch_npu.c: a timeline of PyTorch on Ascend and the table of its tasks, both made by an
 * enemy: the table is everything before the first byte 0, or nothing. Sealed, and asked what
 * its pages ask. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz_ask.h"
#include "fuzz/fuzz_trace.h"
#include "ingest/ascend/torch_npu.h"

static char folder[64];

static void remove_files(void) {
    char path[128];
    snprintf(path, sizeof path, "%s/kernel_details.csv", folder);
    remove(path);
    remove(folder);
}

static void put_table(const uint8_t *data, size_t size) {
    char path[128];
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "/tmp/tacho-fuzz-XXXXXX");
        CHECK(mkdtemp(folder));
        atexit(remove_files);
    }
    snprintf(path, sizeof path, "%s/kernel_details.csv", folder);
    FILE *f = fopen(path, "wb");
    CHECK(f);
    fwrite(data, 1, size, f);
    fclose(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *end = size ? memchr(data, 0, size) : NULL;
    size_t n_table = end ? (size_t)(end - data) : 0, skip = end ? n_table + 1 : 0;
    char path[128];
    source *s = NULL;
    trace *t = NULL;
    builder *b = builder_new();
    if (!b) return 0;
    put_table(data, n_table);
    snprintf(path, sizeof path, "%s/trace_view.json", folder);
    ingest_options o = {.path = path, .memory_limit_bytes = (uint64_t)512 << 20};
    CHECK(source_open_memory(str_n((const char *)data + skip, size - skip), &s, NULL) == OK);
    if (ingest_torch_npu(s, &o, b, NULL) == OK && builder_seal(b, NULL, &t, NULL) == OK) {
        check_trace(t);
        ask(t, STR("kernels"));
        ask(t, STR("distributed"));
        trace_release(t);
    }
    source_close(s);
    builder_free(b);
    return 0;
}
