/* system.c: calls of Linux that have no counterpart in WebAssembly. Each fails as it does on a
 * machine without the thing: who calls has an answer for that. */
#include <errno.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/random.h>

/* No descriptor has this number: reading, writing and closing it fails without harm. */
enum { NO_DESCRIPTOR = 1 << 20 };

/* Another descriptor of an open file, which only the host can make. */
#ifdef __wasm__
__attribute__((import_module("tacho"), import_name("duplicate")))
#endif
int host_duplicate(int fd);

static int absent(void) {
    errno = ENOSYS;
    return -1;
}

#undef fcntl
int wasm_fcntl(int fd, int what, int value) {
    return what == F_DUPFD_CLOEXEC ? host_duplicate(fd) : fcntl(fd, what, value);
}

/* ---- users and processes ----------------------------------------------------------------- */

uid_t geteuid(void) {
    return 0;
}

FILE *popen(const char *command, const char *mode) {
    (void)command;
    (void)mode;
    (void)absent();
    return NULL;
}

int pclose(FILE *stream) {
    (void)stream;
    return absent();
}

int pipe2(int ends[2], int flags) {
    (void)ends;
    (void)flags;
    return absent();
}

int sched_getaffinity(int process, size_t n, cpu_set_t *set) {
    (void)process;
    (void)n;
    (void)set;
    return absent();
}

/* ---- the working folder ------------------------------------------------------------------ */

/* Relative paths begin at $PWD, as the host sets it: WASI knows no working folder. */
__attribute__((constructor)) static void enter_working_folder(void) {
    const char *folder = getenv("PWD");
    if (folder) (void)chdir(folder);
}

/* ---- of the program itself --------------------------------------------------------------- */

/* Sixteen random bytes for this process, as the kernel of Linux gives them; nothing else. */
unsigned long getauxval(unsigned long what) {
    static unsigned char random[16];
    if (what != AT_RANDOM || getentropy(random, sizeof random) != 0) return 0;
    return (unsigned long)random;
}

/* A module has no build id. */
int dl_iterate_phdr(int (*visit)(struct dl_phdr_info *, size_t, void *), void *context) {
    (void)visit;
    (void)context;
    return 0;
}

/* ---- temporary files --------------------------------------------------------------------- */

/* Fills the six X of a name. */
static void make_name(char *name) {
    static const char SIGNS[] = "abcdefghijklmnopqrstuvwxyz012345";
    unsigned char random[6];
    char *x = name + strlen(name) - sizeof random;
    (void)getentropy(random, sizeof random);
    for (size_t i = 0; i < sizeof random; i++) x[i] = SIGNS[random[i] % 32];
}

int mkostemp(char *name, int flags) {
    make_name(name);
    return open(name, O_RDWR | O_CREAT | O_EXCL | flags, 0600);
}

int mkstemp(char *name) {
    return mkostemp(name, 0);
}

char *mkdtemp(char *name) {
    make_name(name);
    return mkdir(name, 0700) == 0 ? name : NULL;
}

/* Whether another program holds a file is not known: what cannot be locked is left alone. */
int flock(int fd, int how) {
    (void)fd;
    (void)how;
    return absent();
}

/* ---- descriptors that wake a thread ------------------------------------------------------ */

int eventfd(unsigned start, int flags) {
    (void)start;
    (void)flags;
    return NO_DESCRIPTOR;
}

int inotify_init1(int flags) {
    (void)flags;
    return absent();
}

int inotify_add_watch(int fd, const char *path, uint32_t mask) {
    (void)fd;
    (void)path;
    (void)mask;
    return absent();
}
