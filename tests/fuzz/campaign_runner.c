/* campaign_runner.c: asks all commands about one damaged input after the other, for tests/fuzz/campaign.
 *
 *   campaign_runner COMMANDS SECONDS MEGABYTES
 *
 * Starting a sanitized program takes longer than most commands on a small file, so this one starts once. COMMANDS
 * is a file: a line for each command, its words separated by tabs; TARGET and OUT stand for the
 * paths of a case. On standard input comes a line for each case: TARGET, OUT, the folder of the
 * cache and the file for the output, separated by tabs. A child of its own runs all commands of
 * a case, so that nothing of one case is left in the next; the answer is a line: "fine N"
 * (commands), or "N STATUS" when command N took too long, took too much memory, ended the
 * process, or had an exit status that no command has.
 *
 * The child counts the commands in a shared page; this process looks at time and memory from
 * time to time. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/commands.h"

enum {
    MOST_COMMANDS = 64,
    MOST_WORDS = 16,
    PARTS = 4,
    LOOK_MS = 20,
    WALL_FACTOR = 10,
    HIGHEST_STATUS = 4
};

typedef struct {
    char *words[MOST_WORDS];
    int n;
} command_line;

typedef struct {
    atomic_int at;     /* the command that runs */
    atomic_int status; /* of the one that had a wrong one; 0: none */
} shared_state;

static command_line commands[MOST_COMMANDS];
static int n_commands;
static shared_state *shared;

static int split(char *line, char **parts, int most) {
    int n = 0;
    line[strcspn(line, "\n")] = '\0';
    for (char *rest = line, *part; n < most && (part = strsep(&rest, "\t"));) parts[n++] = part;
    return n;
}

static void read_commands(const char *path) {
    FILE *f = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    while (f && n_commands < MOST_COMMANDS && getline(&line, &room, f) > 0) {
        command_line *c = &commands[n_commands++];
        c->n = split(line, c->words, MOST_WORDS);
        line = NULL; /* the words lie in it */
        room = 0;
    }
    free(line);
    if (f) fclose(f);
}

static int run_command(const command_line *c, char *const parts[PARTS]) {
    char *words[MOST_WORDS];
    arena a;
    error err = {0};
    options o = {.words = LANG_EN};
    for (int i = 0; i < c->n; i++)
        words[i] = strcmp(c->words[i], "TARGET") == 0 ? parts[0]
                   : strcmp(c->words[i], "OUT") == 0  ? parts[1]
                                                      : c->words[i];
    arena_init(&a, 0);
    if (!command_find(str_of(words[0]), &o.command)) return HIGHEST_STATUS + 1;
    status s = options_parse(&a, c->n - 1, words + 1, &o, &err);
    int code = s == OK ? o.command.run(&o) : cli_complain(&o, &err);
    arena_fini(&a);
    return code;
}

static void run_case(char *const parts[PARTS]) {
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    int said = open(parts[3], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (nowhere < 0 || said < 0 || setenv("XDG_CACHE_HOME", parts[2], 1) != 0) _exit(2);
    dup2(nowhere, STDIN_FILENO);
    dup2(nowhere, STDOUT_FILENO);
    dup2(said, STDERR_FILENO);
    for (int i = 0; i < n_commands; i++) {
        atomic_store(&shared->at, i);
        int code = run_command(&commands[i], parts);
        fflush(stdout);
        if (code < 0 || code > HIGHEST_STATUS) {
            atomic_store(&shared->status, code);
            _exit(3);
        }
    }
    _exit(0);
}

static int64_t read_ms(clockid_t clock) {
    struct timespec t = {0};
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

typedef struct {
    clockid_t cpu;
    int64_t cpu_ms, wall_ms; /* when the command that runs began */
} stopwatch;

static void restart(stopwatch *w) {
    w->cpu_ms = read_ms(w->cpu);
    w->wall_ms = read_ms(CLOCK_MONOTONIC);
}

/* Of processors, since other programs may take theirs; a command that waits for ever uses none. */
static bool is_late(const stopwatch *w, int64_t most_ms) {
    return read_ms(w->cpu) - w->cpu_ms > most_ms ||
           read_ms(CLOCK_MONOTONIC) - w->wall_ms > WALL_FACTOR * most_ms;
}

static long resident_mb(pid_t pid) {
    char path[64], text[128] = "";
    long pages = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    if (read(fd, text, sizeof text - 1) > 0) (void)sscanf(text, "%*d %ld", &pages);
    close(fd);
    return pages * (sysconf(_SC_PAGESIZE) / 1024) / 1024;
}

/* Waits for the child; why it was killed, or NULL. */
static const char *watch_child(pid_t pid, int64_t most_ms, long most_mb, int *ended) {
    const struct timespec nap = {.tv_nsec = LOOK_MS * 1000000L / 20};
    const char *why = NULL;
    stopwatch since;
    if (clock_getcpuclockid(pid, &since.cpu) != 0) since.cpu = CLOCK_MONOTONIC;
    restart(&since);
    for (int at = 0, looks = 0; waitpid(pid, ended, WNOHANG) == 0; looks++) {
        nanosleep(&nap, NULL);
        if (looks % 20) continue;
        if (atomic_load(&shared->at) != at) {
            restart(&since);
            at = atomic_load(&shared->at);
        }
        why = is_late(&since, most_ms) ? "time" : resident_mb(pid) > most_mb ? "memory" : NULL;
        if (!why) continue;
        kill(pid, SIGKILL);
        waitpid(pid, ended, 0);
        break;
    }
    return why;
}

static void tell(const char *why, int ended) {
    int at = atomic_load(&shared->at);
    if (why)
        printf("%d %s\n", at, why);
    else if (atomic_load(&shared->status))
        printf("%d status %d\n", at, atomic_load(&shared->status));
    else if (WIFSIGNALED(ended))
        printf("%d signal %d\n", at, WTERMSIG(ended));
    else if (WEXITSTATUS(ended) != 0)
        printf("%d exit %d\n", at, WEXITSTATUS(ended));
    else
        printf("fine %d\n", n_commands);
    fflush(stdout);
}

int main(int argc, char **argv) {
    char *line = NULL, *parts[PARTS];
    size_t room = 0;
    if (argc != 4) return 2;
    read_commands(argv[1]);
    signal(SIGPIPE, SIG_IGN);
    shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || n_commands == 0) return 2;
    while (getline(&line, &room, stdin) > 0) {
        int ended = 0;
        if (split(line, parts, PARTS) != PARTS) return 2;
        atomic_store(&shared->at, 0);
        atomic_store(&shared->status, 0);
        fflush(NULL);
        pid_t pid = fork();
        if (pid < 0) return 2;
        if (pid == 0) run_case(parts);
        const char *why = watch_child(pid, atol(argv[2]) * 1000, atol(argv[3]), &ended);
        tell(why, ended);
    }
    free(line);
    return 0;
}
