/* rec_got_patch.h: functions of loaded libraries that are pointed elsewhere, and back. */
#ifndef RECORD_REC_GOT_PATCH_H
#define RECORD_REC_GOT_PATCH_H

#include <stddef.h>

/* A symbol that libraries call, and who shall be called instead. */
typedef struct {
    const char *symbol;
    void *to;
} rec_replacement;

enum { REC_MOST_ENTRIES = 16 };
/* Entries that were changed, with what they held. All zero: none. */
typedef struct {
    struct {
        void **at;
        void *was;
    } all[REC_MOST_ENTRIES];
    size_t n;
} rec_entries;

/* Changes the entries of every loaded library whose path contains `library`; how many in
 * all. */
size_t rec_entries_change(rec_entries *e, const char *library, const rec_replacement *r,
                          size_t n_replacements);
void rec_entries_restore(rec_entries *e);

#endif
