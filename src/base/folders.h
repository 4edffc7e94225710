/* folders.h: making a folder together with those above it, and what is in one. */
#ifndef BASE_FOLDERS_H
#define BASE_FOLDERS_H

#include <stdbool.h>
#include <stddef.h>

/* Makes what is missing of the path, each folder with this mode. 0 when the last one exists in
 * the end, else an errno. */
int folders_make(const char *path, unsigned mode);
bool folder_exists(const char *path);

/* The path of an open file without links, in `n` bytes; false where the system does not say.
 * What was opened stays what it is, while the path it was opened by may be swapped. */
bool descriptor_path(int fd, char *out, size_t n);
/* Is a path the folder, or in it? Both absolute and without links. */
bool folder_holds(const char *folder, const char *path);

#endif
