/* summary.c: a summary made by an enemy: checksums are put right, then everything that reads a
 * summary reads it, alone and merged with itself. */
#include "store/summary.h"
#include "analyse/registry.h"
#include "base/hash.h"
#include "base/mem.h"
#include "store/file_int.h"

static void put_sums_right(char *p, size_t n) {
    file_header *h = (file_header *)(void *)p;
    file_section *toc = (file_section *)(void *)(p + sizeof *h);
    size_t behind = offsetof(file_header, checksum) + sizeof h->checksum;
    memcpy(h->magic, FILE_MAGIC, sizeof h->magic);
    h->version = FILE_VERSION;
    h->profile = FILE_PROFILE_SUMMARY;
    h->file_bytes = n;
    for (uint32_t i = 0; i < h->n_sections && (char *)(toc + i + 1) <= p + n; i++)
        if (toc[i].offset <= n && toc[i].size_bytes <= n - toc[i].offset)
            toc[i].checksum = hash_bytes64(p + toc[i].offset, (size_t)toc[i].size_bytes);
    if (h->header_bytes > behind && h->header_bytes <= n)
        h->checksum = hash_bytes64(p + behind, (size_t)h->header_bytes - behind);
}

static void ask_everything(const trace *t) {
    analysis_trace one = {.trace = t, .path = STR("x")};
    const params all = PARAMS_WHOLE;
    params ways[] = {all, all, all};
    ways[1].first_step = 1;
    ways[2].to_ns = 1000000;
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++)
        for (uint32_t i = 0; registry_analysis(i); i++) {
            arena a;
            answer out;
            arena_init(&a, 64 << 20);
            (void)!registry_analysis(i)->run(&(analysis_input){&one, 1}, &ways[way], &a, &out,
                                             NULL);
            arena_fini(&a);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    summary *s, *twice = summary_new();
    char *bytes = size >= sizeof(file_header) ? mem_alloc(size) : NULL;
    if (bytes && twice) {
        memcpy(bytes, data, size);
        put_sums_right(bytes, size);
        if (summary_decode(str_n(bytes, size), "x", &s, NULL) == OK) {
            (void)!summary_append(twice, s, SUMMARY_ALL, NULL);
            (void)!summary_merge(twice, s, NULL);
            trace *t = trace_of_summary(s);
            if (t) ask_everything(t);
            trace_release(t);
        }
    }
    mem_free(bytes);
    summary_free(twice);
    return 0;
}
