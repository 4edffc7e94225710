/* file_helper.h: a folder for one test and the bytes of a trace file in it. */
#ifndef TESTS_FILE_HELPER_H
#define TESTS_FILE_HELPER_H

#include "store/file.h"
#include "store/file_int.h"
#include "unit/store/sample_trace.h"

extern char folder[64], path[128]; /* path: a file in the folder, not there at first */

/* Setup and teardown; the teardown fails when anything but path is left in the folder. */
int make_folder(void **state);
int remove_folder(void **state);
int count_entries(void);

/* The sample trace to path. */
void write_sample(str key);
char *read_all(size_t *n); /* of path; to be freed */
void write_all(const char *p, size_t n);

file_section *find_section(char *p, const char *name);
void set_u32(char *p, const char *section, uint32_t row, uint32_t value);
void set_u64(char *p, const char *section, uint32_t row, uint64_t value);
/* Makes all checksums right again: what remains is malice, not damage. */
void seal_sums(char *p, size_t n);
/* Opens path and asks for everything: the status a user gets. */
status open_and_require(void);

#endif
