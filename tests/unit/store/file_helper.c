/* file_helper.c: see file_helper.h. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/hash.h"
#include "unit/store/file_helper.h"

char folder[64], path[128];

int make_folder(void **state) {
    snprintf(folder, sizeof folder, "%s/tacho_file_test.XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/a.tacho", folder);
    return 0;
}

int remove_folder(void **state) {
    unlink(path);
    return rmdir(folder); /* fails when anything is left */
}

int count_entries(void) {
    DIR *d = opendir(folder);
    int n = 0;
    for (struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

void write_sample(str key) {
    trace *t = sample_trace();
    assert_int_equal(file_write(t, path, key, NULL), OK);
    trace_release(t);
}

char *read_all(size_t *n) {
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *p = malloc(1 << 20);
    *n = fread(p, 1, 1 << 20, f);
    fclose(f);
    return p;
}

void write_all(const char *p, size_t n) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    fclose(f);
}

file_section *find_section(char *p, const char *name) {
    file_section *toc = (file_section *)(p + sizeof(file_header));
    for (uint32_t i = 0; i < ((file_header *)p)->n_sections; i++)
        if (strcmp(toc[i].name, name) == 0) return &toc[i];
    fail_msg("no section %s", name);
    return NULL;
}

void set_u32(char *p, const char *section, uint32_t row, uint32_t value) {
    ((uint32_t *)(p + find_section(p, section)->offset))[row] = value;
}

void set_u64(char *p, const char *section, uint32_t row, uint64_t value) {
    ((uint64_t *)(p + find_section(p, section)->offset))[row] = value;
}

void seal_sums(char *p, size_t n) {
    file_header *h = (file_header *)p;
    file_section *toc = (file_section *)(p + sizeof *h);
    for (uint32_t i = 0; i < h->n_sections && i < N_SECTIONS; i++) {
        if (toc[i].offset > n || toc[i].size_bytes > n - toc[i].offset) continue;
        toc[i].checksum = hash_bytes64(p + toc[i].offset, toc[i].size_bytes);
        if (toc[i].elem_bytes != 4 || toc[i].type == TYPE_I32) continue;
        toc[i].maximum = 0;
        for (uint64_t k = 0; k < toc[i].rows; k++) {
            uint32_t v = ((uint32_t *)(p + toc[i].offset))[k];
            if (v > toc[i].maximum) toc[i].maximum = v;
        }
    }
    size_t at = offsetof(file_header, checksum) + 8;
    if (h->header_bytes <= n) h->checksum = hash_bytes64(p + at, h->header_bytes - at);
}

status open_and_require(void) {
    trace *t = NULL;
    status s = file_open(path, STR_NONE, &t, NULL);
    if (s == OK) {
        s = trace_require(t, TRACE_ALL | TRACE_ARGUMENTS, NULL);
        trace_release(t);
    } else {
        assert_null(t);
    }
    return s;
}
