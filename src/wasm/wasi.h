/* wasi.h: what Linux has and the C library of WebAssembly has not. It is included before every
 * file of that build (Makefile), so that no other file names the target.
 *
 * system.c has the functions. They fail as on a machine that has nothing of the kind: no second
 * process, no user, no terminal, no file without a name. */
#ifndef WASM_WASI_H
#define WASM_WASI_H

#ifdef __wasi__

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#ifndef O_PATH
#define O_PATH 0
#endif
/* Without it the callers make a file with a name. */
#define O_TMPFILE O_DIRECTORY
#define F_DUPFD_CLOEXEC 1030
#ifndef MSG_DONTWAIT
#define MSG_DONTWAIT 0
#endif
#define LOCK_EX 2
#define LOCK_NB 4
#define ITIMER_REAL 0
#define TIOCGWINSZ 0x5413
#define EFD_CLOEXEC 0
#define EFD_NONBLOCK 0

struct winsize {
    unsigned short ws_row, ws_col, ws_xpixel, ws_ypixel;
};
typedef struct {
    int none;
} cpu_set_t;
#define CPU_COUNT(set) ((void)(set), 1)

uid_t geteuid(void);
char *mkdtemp(char *name);
int mkstemp(char *name);
int mkostemp(char *name, int flags);
int pipe2(int ends[2], int flags);
FILE *popen(const char *command, const char *mode);
int pclose(FILE *stream);
int sched_getaffinity(int process, size_t n, cpu_set_t *set);
int wasm_fcntl(int fd, int what, int value);

/* The one of POSIX returns a number. */
#define strerror_r(code, text, n) ((void)(text), (void)(n), strerror(code))
/* F_DUPFD_CLOEXEC is asked of the host. */
#define fcntl(fd, what, ...) wasm_fcntl(fd, what, (0, ##__VA_ARGS__))

#endif
#endif
