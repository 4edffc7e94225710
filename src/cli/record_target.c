/* record_target.c: see the header.
 *
 * The recorder comes in through the dynamic loader of glibc. What that loader is never asked to
 * do, or refuses, follows from the program's file: its ELF header, its interpreter and its
 * mode. A script is as good as the interpreter its first line names. */
#include "cli/record_target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/message_ids_cli.h"

enum { MOST_NAME = 40, MOST_SCRIPTS = 4, HEAD_BYTES = 4096 };

/* ---- names ------------------------------------------------------------------------------- */

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

const char *target_program(char *const *argv) {
    return last_part(argv[0]);
}

static bool is_script(const char *word) {
    str s = str_of(word);
    return s.n > 3 && word[0] != '-' && str_ends(s, STR(".py"));
}

static bool is_python(const char *program) {
    return str_starts(str_of(program), STR("python"));
}

/* The script among the words, else the module of python -m, else the program. */
static str find_word(char *const *argv) {
    for (int i = 0; argv[i]; i++)
        if (is_script(argv[i])) {
            str name = str_of(last_part(argv[i]));
            return str_n(name.p, name.n - 3);
        }
    if (is_python(target_program(argv)))
        for (int i = 1; argv[i] && argv[i + 1] && strcmp(argv[i], "-c") != 0; i++)
            if (strcmp(argv[i], "-m") == 0) return str_of(argv[i + 1]);
    return str_of(target_program(argv));
}

const char *target_name(arena *a, char *const *argv) {
    str word = find_word(argv);
    size_t n = word.n < MOST_NAME ? word.n : MOST_NAME;
    char *name = arena_alloc(a, n + 1);
    if (!name) return NULL;
    for (size_t i = 0; i < n; i++) {
        char c = word.p[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                     (c >= '0' && c <= '9') || c == '-' || c == '_' || (c == '.' && i > 0);
        name[i] = plain ? c : '_';
    }
    name[n] = 0;
    return name;
}

/* ---- a program that cannot be run -------------------------------------------------------- */

static void put_try(buf *out, lang words, const char *before, char *const *argv) {
    buf command = {0};
    buf_add_cstr(&command, before);
    for (int i = 0; argv[i]; i++) {
        if (i) buf_add_byte(&command, ' ');
        buf_add_cstr(&command, argv[i]);
    }
    text_put(out, words, MSG_RECORD_TRY, arg_text("command", buf_str(&command)));
    buf_fini(&command);
}

void target_hint(char *const *argv, int code, lang words, buf *out) {
    struct stat st;
    const char *program = argv[0];
    if (code != EACCES && code != ENOENT && code != ENOEXEC) return;
    if (stat(program, &st) != 0 || !S_ISREG(st.st_mode)) return;
    if (is_script(program))
        put_try(out, words, "python3 ", argv);
    else if (!(st.st_mode & 0111))
        text_put(out, words, MSG_RECORD_TRY_CHMOD, arg_cstr("program", program));
    else if (!strchr(program, '/'))
        put_try(out, words, "./", argv);
}

/* ---- what keeps the recorder out --------------------------------------------------------- */

/* As execvp looks for it; false: it does not exist. */
static bool find_in_path(const char *program, char *to, size_t size) {
    const char *path = getenv("PATH");
    if (strchr(program, '/')) return snprintf(to, size, "%s", program) < (int)size;
    for (const char *p = path ? path : "/bin:/usr/bin"; *p;) {
        size_t n = strcspn(p, ":");
        snprintf(to, size, "%.*s%s%s", (int)n, p, n ? "/" : "", program);
        if (access(to, X_OK) == 0) return true;
        p += n + (p[n] == ':');
    }
    return false;
}

/* The first bytes of a file, and a NUL; 0: it cannot be read. */
static size_t read_head(const char *path, char *to, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? 0 : pread(fd, to, size - 1, 0);
    if (fd >= 0) close(fd);
    to[n > 0 ? n : 0] = 0;
    return n > 0 ? (size_t)n : 0;
}

/* Follows the first lines of scripts to the program that the system runs. */
static size_t find_binary(const char *program, char *path, char *head, size_t size) {
    size_t n = 0;
    if (!find_in_path(program, path, PATH_MAX)) return 0;
    for (int i = 0; i < MOST_SCRIPTS; i++) {
        n = read_head(path, head, size);
        if (n < 2 || head[0] != '#' || head[1] != '!') return n;
        const char *at = head + 2 + strspn(head + 2, " \t");
        snprintf(path, PATH_MAX, "%.*s", (int)strcspn(at, " \t\r\n"), at);
    }
    return n;
}

static bool gains_rights(const char *path) {
    struct stat st;
    char capability[64];
    if (stat(path, &st) != 0) return false;
    return (st.st_mode & S_ISUID && st.st_uid != geteuid()) ||
           (st.st_mode & S_ISGID && st.st_gid != getegid()) ||
           getxattr(path, "security.capability", capability, sizeof capability) > 0;
}

static bool is_our_machine(const Elf64_Ehdr *h) {
    Elf64_Ehdr own;
    return h->e_ident[EI_CLASS] == ELFCLASS64 &&
           read_head("/proc/self/exe", (char *)&own, sizeof own) >=
               offsetof(Elf64_Ehdr, e_version) &&
           h->e_machine == own.e_machine;
}

/* The dynamic loader that the program names; false: it names none. */
static bool find_loader(const char *head, size_t n, const Elf64_Ehdr *h, str *out) {
    for (uint32_t i = 0; i < h->e_phnum; i++) {
        Elf64_Phdr p;
        uint64_t at = h->e_phoff + (uint64_t)i * sizeof p;
        if (at > n || n - at < sizeof p) return true; /* further in: it is not looked at */
        memcpy(&p, head + at, sizeof p);
        if (p.p_type != PT_INTERP) continue;
        *out = p.p_offset < n
                   ? str_n(head + p.p_offset, strnlen(head + p.p_offset, n - p.p_offset))
                   : STR_NONE;
        return true;
    }
    return false;
}

uint16_t target_obstacle(const char *program) {
    char path[PATH_MAX], head[HEAD_BYTES];
    Elf64_Ehdr h;
    str loader = STR_NONE;
    size_t n = find_binary(program, path, head, sizeof head);
    if (n < sizeof h || memcmp(head, ELFMAG, SELFMAG) != 0) return MSG_RECORD_NOT_LOADED;
    memcpy(&h, head, sizeof h);
    if (!is_our_machine(&h)) return MSG_RECORD_MACHINE;
    if (gains_rights(path)) return MSG_RECORD_SETUID;
    if (!find_loader(head, n, &h, &loader)) return MSG_RECORD_STATIC;
    bool is_musl = loader.n && str_find(loader, STR("ld-musl"), 0) != SIZE_MAX;
    return is_musl ? MSG_RECORD_LIBC : MSG_RECORD_NOT_LOADED;
}
