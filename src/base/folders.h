/* folders.h: making a folder together with those above it. */
#ifndef BASE_FOLDERS_H
#define BASE_FOLDERS_H

#include <stdbool.h>

/* Makes what is missing of the path, each folder with this mode. 0 when the last one exists in
 * the end, else an errno. */
int folders_make(const char *path, unsigned mode);
bool folder_exists(const char *path);

#endif
