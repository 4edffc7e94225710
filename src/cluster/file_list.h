/* file_list.h: the files of a run that many processes read, and what became of each.
 *
 * Process 0 makes the list and sends it to the others: two machines may see different sizes, or
 * a file that the other does not have, so a number means the same file everywhere only if all
 * processes look it up in the same list. At the end process 0 has an outcome for each file. */
#ifndef CLUSTER_FILE_LIST_H
#define CLUSTER_FILE_LIST_H

#include "cluster/transport.h"
#include "session/discover.h"

typedef enum {
    FILE_UNREAD = 0, /* no process has finished it */
    FILE_READ,
    FILE_DAMAGED, /* read, with losses */
    FILE_CHANGED, /* this process sees another size than process 0 did: not read */
    FILE_UNREADABLE,
    FILE_VANISHED, /* was listed, and does not exist any more */
    N_FILE_STATES
} file_state;

typedef struct {
    str worker, path; /* end in NUL */
    int64_t rank, process;
    uint64_t size_bytes;
    file_state state;
    str reason, sentence; /* of a failure: for the summary; for the user */
} listed_file;

typedef struct {
    listed_file *files; /* the largest first */
    uint32_t n;
    arena *arena; /* of all texts */
} file_list;

/* The workers of a run that "all" means. span: the number of the cycle; empty: the last. */
status file_list_make(arena *a, const run_entry *run, str span, file_list *out,
                      error *err) MUST_USE;
/* Every process gets the list of process 0. */
status file_list_share(transport *t, arena *a, file_list *list, error *err) MUST_USE;
/* Process 0 learns the outcomes of all processes. */
status file_list_gather(transport *t, file_list *list, error *err) MUST_USE;

/* Does this process see the size that process 0 saw? A file that it cannot open counts as
 * unchanged: reading it says why. Times are not compared, since copies on the disks of several
 * machines differ in them. */
bool listed_file_is_same(const listed_file *f);
static inline bool listed_file_is_read(const listed_file *f) {
    return f->state == FILE_READ || f->state == FILE_DAMAGED;
}
uint32_t file_list_count(const file_list *list, file_state state);

#endif
