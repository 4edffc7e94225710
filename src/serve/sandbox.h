/* sandbox.h: after its start the server gives up what it does not need: Landlock takes the
 * files outside of its folders from it, seccomp what would start programs or open connections.
 * An attacker who finds a hole in a reader gains nothing more.
 *
 * Both hold for the calling thread and those it starts later, for ever: enter before the first
 * one. What the kernel does not have is left out; the state says so. */
#ifndef SERVE_SANDBOX_H
#define SERVE_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    const char *served; /* read: a folder, or a file with its folder; NULL: all may be read */
    const char *code;   /* read: the folder of the source code; NULL: none */
    const char *cache;  /* read and written; NULL: none */
    const char *temporary; /* the same; it can be removed at the end */
    bool network;          /* it asks other hosts */
} sandbox_rules;

typedef struct {
    int landlock; /* the version of the kernel's interface; 0: files are open */
    bool seccomp; /* the filter of system calls is in force */
} sandbox_state;

sandbox_state sandbox_enter(const sandbox_rules *r);

/* A folder for its owner alone, in TMPDIR, otherwise in /var/tmp, which is on a disk where /tmp
 * may be memory, otherwise in /tmp; TMPDIR is set to it, so that everything temporary is
 * inside. No other thread may run yet. False when there is no place for it. */
bool sandbox_folder_make(char *path, size_t n);

#endif
