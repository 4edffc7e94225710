/* temporary.h: folders and files that live as long as the program that made them.
 *
 * Whoever makes one holds a lock on it, which the system takes back at the end of the process,
 * however that ends. So the next program can tell what a killed one left, and remove it. */
#ifndef BASE_TEMPORARY_H
#define BASE_TEMPORARY_H

#include <stdbool.h>

/* Makes a folder, mode 0700, for a path that ends in XXXXXX, and removes those of the same name
 * beside it that nobody holds any more. A descriptor that holds it until it is closed; -1, with
 * errno, when the folder could not be made. */
int temporary_folder(char *path);
/* Removes a folder of ours with everything in it; links are not followed. */
void temporary_remove(const char *path);

/* Holds an open file. Where the file system has no locks, nothing happens. */
void temporary_hold(int fd);
/* Is this file in a folder one that nobody holds, and that nobody wrote to for a while? */
bool temporary_is_left(int folder, const char *name);

#endif
