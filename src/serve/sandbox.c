/* sandbox.c: Landlock and seccomp, by system calls alone.
 *
 *     what                 may
 *     served, code         read
 *     cache, temporary     everything but run and special files
 *     above temporary      remove empty folders: its own at the end
 *     /proc/self           read (files without a name are opened there again)
 *     anything else        only be named: stat is not ruled by Landlock
 *
 * The numbers of Landlock are written out: headers are often older than the kernel a program
 * meets. Version 1 cannot link a file into another folder, which uploads do: it counts as none.
 *
 * The filter refuses by EPERM, so that a library that tries continues without. It lists what is
 * not needed here, not what is needed: that changes with every version of libc. */
#include "serve/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/temporary.h"

/* ---- Landlock ---------------------------------------------------------------------------- */

enum { NR_CREATE_RULESET = 444, NR_ADD_RULE = 445, NR_RESTRICT_SELF = 446 };
enum { RULE_PATH = 1, ASK_VERSION = 1, OLDEST = 2 };
enum {
    FS_WRITE_FILE = 1 << 1,
    FS_READ_FILE = 1 << 2,
    FS_READ_DIR = 1 << 3,
    FS_REMOVE_DIR = 1 << 4,
    FS_REMOVE_FILE = 1 << 5,
    FS_MAKE_DIR = 1 << 7,
    FS_MAKE_REG = 1 << 8,
    FS_ALL = (1 << 14) - 1, /* of version 2, with links into other folders: bit 13 */
    FS_REFER = 1 << 13,
    FS_TRUNCATE = 1 << 14, /* version 3 */
    NET_TCP = 3,           /* bind and connect; version 4 */
    SCOPE_ALL = 3,         /* abstract sockets and signals stay inside; version 6 */

    MAY_READ = FS_READ_FILE | FS_READ_DIR,
    MAY_WRITE = MAY_READ | FS_WRITE_FILE | FS_TRUNCATE | FS_REMOVE_DIR | FS_REMOVE_FILE |
                FS_MAKE_DIR | FS_MAKE_REG | FS_REFER,
};

typedef struct {
    uint64_t files, net, scoped;
} ruleset;

typedef struct {
    uint64_t allowed;
    int32_t fd;
} __attribute__((packed)) path_rule;

static size_t ruleset_bytes(int version) {
    return version >= 6 ? sizeof(ruleset) : version >= 4 ? 16 : 8;
}

/* The folder of a file, since a file that is replaced is another one. */
static int open_folder(const char *path) {
    char above[PATH_MAX];
    struct stat st;
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || S_ISDIR(st.st_mode)) return fd;
    close(fd);
    if (!realpath(path, above)) return -1;
    char *slash = strrchr(above, '/');
    slash[slash == above] = '\0';
    return open(above, O_PATH | O_CLOEXEC);
}

/* A path that does not exist has nothing to allow. */
static bool allow(int rules, uint64_t handled, const char *path, uint64_t what) {
    if (!path) return true;
    int fd = open_folder(path);
    if (fd < 0) return errno == ENOENT || errno == EACCES;
    path_rule r = {.allowed = what & handled, .fd = fd};
    bool done = syscall(NR_ADD_RULE, rules, RULE_PATH, &r, 0) == 0;
    close(fd);
    return done;
}

static bool allow_above(int rules, uint64_t handled, const char *path) {
    char above[PATH_MAX];
    if (!path) return true;
    int n = snprintf(above, sizeof above, "%s/..", path);
    return n > 0 && (size_t)n < sizeof above && allow(rules, handled, above, FS_REMOVE_DIR);
}

static int enter_landlock(const sandbox_rules *r) {
    int version = (int)syscall(NR_CREATE_RULESET, NULL, 0, ASK_VERSION);
    if (version < OLDEST) return 0;
    ruleset all = {.files = FS_ALL | (version >= 3 ? FS_TRUNCATE : 0),
                   .net = version >= 4 && !r->network ? NET_TCP : 0,
                   .scoped = version >= 6 ? SCOPE_ALL : 0};
    int rules = (int)syscall(NR_CREATE_RULESET, &all, ruleset_bytes(version), 0);
    if (rules < 0) return 0;
    bool done = allow(rules, all.files, r->served ? r->served : "/", MAY_READ) &&
                allow(rules, all.files, r->code, MAY_READ) &&
                allow(rules, all.files, "/proc/self", MAY_READ) &&
                allow(rules, all.files, r->cache, MAY_WRITE) &&
                allow(rules, all.files, r->temporary, MAY_WRITE) &&
                allow_above(rules, all.files, r->temporary) &&
                syscall(NR_RESTRICT_SELF, rules, 0) == 0;
    close(rules);
    return done ? version : 0;
}

/* ---- seccomp ----------------------------------------------------------------------------- */

#if defined(__aarch64__)
#define THIS_MACHINE AUDIT_ARCH_AARCH64
#elif defined(__x86_64__)
#define THIS_MACHINE AUDIT_ARCH_X86_64
#endif

#ifdef THIS_MACHINE

static const uint32_t refused[] = {
    __NR_execve, __NR_execveat,
    /* other processes, and ways round the filter */
    __NR_process_vm_readv, __NR_process_vm_writev, 438 /* pidfd_getfd */,
    425 /* io_uring_setup */, 426, 427, __NR_bpf, __NR_perf_event_open, __NR_userfaultfd,
#ifndef __SANITIZE_ADDRESS__ /* which looks for leaks at the end by it */
    __NR_ptrace,
#endif
    /* other places */
    __NR_mount, __NR_umount2, __NR_pivot_root, __NR_chroot, __NR_unshare, __NR_setns,
    __NR_open_by_handle_at, 428 /* open_tree */, 429, 430, 431, 432, 433, __NR_mknodat,
    /* rights of files, which Landlock does not rule */
    __NR_fchmod, __NR_fchmodat, __NR_fchown, __NR_fchownat, __NR_setxattr, __NR_lsetxattr,
    __NR_fsetxattr,
#ifdef __NR_chmod
    __NR_chmod, __NR_chown, __NR_lchown, __NR_mknod,
#endif
    /* the machine */
    __NR_init_module, __NR_finit_module, __NR_delete_module, __NR_kexec_load, __NR_reboot,
    __NR_swapon, __NR_swapoff, __NR_add_key, __NR_request_key, __NR_keyctl};

/* Only where nothing is read from other hosts. Connections are accepted all the same. */
static const uint32_t refused_network[] = {__NR_socket, __NR_connect, __NR_bind, __NR_listen};

#define N_OF(a) (sizeof(a) / sizeof *(a))
enum { MOST_LINES = N_OF(refused) + N_OF(refused_network) + 16 };

typedef struct {
    struct sock_filter lines[MOST_LINES];
    unsigned short n;
} filter;

static void add_line(filter *f, uint16_t code, uint32_t value, uint8_t yes, uint8_t no) {
    f->lines[f->n++] = (struct sock_filter){.code = code, .k = value, .jt = yes, .jf = no};
}

/* Refuses a number: the answer is the next line, which all others jump over. */
static void refuse_if(filter *f, uint16_t compare, uint32_t value) {
    add_line(f, BPF_JMP | compare | BPF_K, value, 0, 1);
    add_line(f, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0, 0);
}

/* Numbers below are compared with all of a list, then the one answer follows. */
static void refuse_all(filter *f, const uint32_t *list, size_t n) {
    for (size_t i = 0; i < n; i++)
        add_line(f, BPF_JMP | BPF_JEQ | BPF_K, list[i], (uint8_t)(n - 1 - i), i + 1 == n);
    add_line(f, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0, 0);
}

static bool enter_seccomp(const sandbox_rules *r) {
    filter f = {.n = 0};
    add_line(&f, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch), 0, 0);
    add_line(&f, BPF_JMP | BPF_JEQ | BPF_K, THIS_MACHINE, 1, 0);
    add_line(&f, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0, 0);
    add_line(&f, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
    refuse_if(&f, BPF_JGE, 0x40000000); /* the other numbers of x86-64 */
    refuse_all(&f, refused, N_OF(refused));
    if (!r->network) refuse_all(&f, refused_network, N_OF(refused_network));
    add_line(&f, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    struct sock_fprog program = {.len = f.n, .filter = f.lines};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#else

static bool enter_seccomp(const sandbox_rules *r) {
    (void)r;
    return false;
}

#endif

/* ---- both -------------------------------------------------------------------------------- */

sandbox_state sandbox_enter(const sandbox_rules *r) {
    sandbox_state s = {0};
    /* Without it only root may do either. */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return s;
    s.landlock = enter_landlock(r);
    s.seccomp = enter_seccomp(r);
    return s;
}

bool sandbox_folder_make(char *path, size_t n) {
    const char *set = getenv("TMPDIR");
    const char *in[] = {set && set[0] ? set : "/var/tmp", "/tmp"};
    for (size_t i = 0; i < 2; i++) {
        int used = snprintf(path, n, "%s/tacho-serve-XXXXXX", in[i]);
        /* Held until the program ends, so never closed. */
        if (used > 0 && (size_t)used < n && temporary_folder(path) >= 0)
            return setenv("TMPDIR", path, 1) == 0;
    }
    return false;
}
