/* whole_file.h: a file that appears under its name when it is whole, and of which nothing stays
 * when the program is ended before.
 *
 *     whole_file f;
 *     if (!whole_file_begin(&f, path)) … errno
 *     … write to f.fd …
 *     if (!whole_file_end(&f)) … errno; nothing is left
 *
 * Until its end the file has no name where the file system can do that (Linux, local disks);
 * elsewhere it is PATH.PID.N.tmp. */
#ifndef BASE_WHOLE_FILE_H
#define BASE_WHOLE_FILE_H

#include <stdbool.h>

typedef struct {
    int fd;
    const char *path; /* borrowed */
    char *temporary;  /* private, as what follows */
    bool named;       /* the temporary name already exists */
} whole_file;

/* False with errno when it cannot be made. */
bool whole_file_begin(whole_file *f, const char *path);
/* Gives it its name, in the place of a file that has it; false with errno, and it is gone. */
bool whole_file_end(whole_file *f);
/* Forgets it. After whole_file_end nothing is left to do. */
void whole_file_drop(whole_file *f);

#endif
