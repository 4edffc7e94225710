/* temporary.h: folders and files that live as long as the program that made them.
 *
 * The program that makes one holds a lock on it, which the system releases when the process
 * ends, for any reason. So the next program can tell what a killed one left, and remove it. */
#ifndef BASE_TEMPORARY_H
#define BASE_TEMPORARY_H

#include <stdbool.h>

/* Makes a folder, mode 0700, for a path that ends in XXXXXX, and removes those of the same name
 * in the same folder that no process holds any more. Returns a descriptor that holds it until
 * it is closed; -1, with errno, when the folder could not be made. */
int temporary_folder(char *path);
/* Removes a folder of ours with everything in it; links are not followed. */
void temporary_remove(const char *path);

/* Holds an open file. Where the file system has no locks, nothing happens. */
void temporary_hold(int fd);
/* Is this file in a folder one that no process holds, and that was not written to for a
 * while? */
bool temporary_is_left(int folder, const char *name);

#endif
