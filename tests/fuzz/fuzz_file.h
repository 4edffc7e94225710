/* fuzz_file.h: a trace file made by an enemy. Its checksums are put right first, since an
 * attacker who writes ids that lead outside can write checksums too. For the target that
 * includes it, invention keeps to one section most of the time. */
#ifndef TESTS_FUZZ_FILE_H
#define TESTS_FUZZ_FILE_H

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "store/file.h"
#include "store/file_int.h"

static inline void put_sums_right(char *p, size_t n) {
    file_header *h = (file_header *)p;
    file_section *toc = (file_section *)(p + sizeof *h);
    size_t behind = offsetof(file_header, checksum) + sizeof h->checksum;
    h->file_bytes = n;
    for (uint32_t i = 0; i < h->n_sections && (char *)(toc + i + 1) <= p + n; i++) {
        if (toc[i].offset > n || toc[i].size_bytes > n - toc[i].offset) continue;
        toc[i].checksum = hash_bytes64(p + toc[i].offset, toc[i].size_bytes);
        if (toc[i].elem_bytes != 4 || toc[i].offset % 4) continue;
        toc[i].maximum = 0;
        for (uint64_t k = 0; k < toc[i].size_bytes / 4; k++) {
            uint32_t v = ((uint32_t *)(p + toc[i].offset))[k];
            if (v > toc[i].maximum) toc[i].maximum = v;
        }
    }
    if (h->header_bytes > behind && h->header_bytes <= n)
        h->checksum = hash_bytes64(p + behind, h->header_bytes - behind);
}

/* The bytes as a file, opened. NULL when they are refused. */
static inline trace *open_hostile(const uint8_t *data, size_t size) {
    char path[64];
    trace *t = NULL;
    if (size < sizeof(file_header)) return NULL;
    int fd = memfd_create("trace", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)size) != 0) return NULL;
    char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    memcpy(p, data, size);
    put_sums_right(p, size);
    munmap(p, size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (file_open(path, STR_NONE, &t, NULL) != OK) t = NULL;
    close(fd); /* the mapping stays */
    return t;
}

/* Invention at random mostly breaks the table of contents, which is refused at once. Three times
 * out of four only the bytes of one section are changed. Weak: there is no fuzzer in a replay. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    const file_header *h = (const file_header *)data;
    const file_section *toc = (const file_section *)(h + 1);
    if (size < sizeof *h + sizeof *toc || h->n_sections == 0 || seed % 4 == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    uint32_t i = seed / 4 % h->n_sections;
    if (sizeof *h + (i + 1) * sizeof *toc > size || toc[i].offset > size ||
        toc[i].size_bytes > size - toc[i].offset || toc[i].size_bytes == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    LLVMFuzzerMutate(data + toc[i].offset, toc[i].size_bytes, toc[i].size_bytes);
    return size;
}

#endif
