/* rec_rank.c: which of the many processes of a job this one is.
 *
 *     launcher ─┬─ rank 0 ─┬─ data loader     role, pid and parent of each are in its recording
 *               │          └─ data loader
 *               └─ rank 1 …
 *
 * Every launcher says in the environment which rank a process is; the table has them, the most
 * specific first (torchrun under Slurm sets both). Programs that number themselves say so
 * (tacho_rank; the hooks of Python do when a process group is made), and are believed.
 *
 * Children inherit the environment and are not ranks: neither a forked one, nor one that was
 * spawned by a process that records into the same folder with the same variable (a loader that
 * spawns). A shell or wrapper between the launcher and the program records nothing, so it does
 * not take the rank away. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/rec_int.h"
#include "record/rec_keep.h"

static const struct launcher {
    const char *name, *rank, *world, *local;
    bool needs_world; /* a variable of a common name alone says nothing */
} LAUNCHERS[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK",
     true}, /* accelerate, deepspeed, Ray, … too */
    {"horovodrun", "HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_RANK", false},
    {"paddle.distributed.launch", "PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM",
     "PADDLE_RANK_IN_NODE", false},
    {"msrun", "RANK_ID", "RANK_SIZE", "DEVICE_ID", true},
    {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     false},
    {"mpirun", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK",
     false},
    {"mpirun", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", false},
    {"srun", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", false},
    {"mpirun", "PMIX_RANK", "PMIX_SIZE", "PMIX_LOCAL_RANK", false},
    {"kubernetes", "JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", "JOB_LOCAL_INDEX", false},
};
enum { N_LAUNCHERS = sizeof LAUNCHERS / sizeof *LAUNCHERS, MOST_ANCESTORS = 16 };
enum { COMMAND_BYTES = 4096, MOST_WORDS = 16 };

/* rec_lock */
static int64_t told_rank = -1, told_world = -1;
static int64_t written_rank = -1, written_world = -1; /* into the last file */
static char told_role[32];
static bool is_child;                /* of a fork */
static int64_t of_pid, of_rank = -1; /* who it works for */

static bool rec_rank_number_of(const char *name, int64_t *out) {
    const char *text = secure_getenv(name);
    char *end;
    if (!text || !*text) return false;
    *out = strtoll(text, &end, 10);
    return *end == 0 && *out >= 0;
}

static const struct launcher *find_launcher(int64_t *rank, int64_t *world) {
    for (size_t i = 0; i < N_LAUNCHERS; i++) {
        const struct launcher *l = &LAUNCHERS[i];
        *world = -1;
        if (!rec_rank_number_of(l->rank, rank)) continue;
        if (!rec_rank_number_of(l->world, world) && l->needs_world) continue;
        return l;
    }
    return NULL;
}

/* ---- who started us ---- */

static int64_t parent_of(int64_t pid) {
    char path[64], text[512];
    long long parent = 0;
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    const char *end = strrchr(text, ')');
    return end && sscanf(end + 1, " %*c %lld", &parent) == 1 ? parent : 0;
}

/* The name of a recording holds the number of its process: …_PID.STAMP.tacho */
static int64_t pid_of_file(const char *name) {
    for (const char *p = strrchr(name, '_'); p;) {
        char *end;
        long long pid = strtoll(p + 1, &end, 10);
        return *end == '.' && strstr(end, ".tacho") ? pid : 0;
    }
    return 0;
}

/* opendir would allocate, and glibc has getdents64 only since 2.30: packages run on 2.28. */
static ssize_t read_names(int fd, void *to, size_t size) {
    return syscall(SYS_getdents64, fd, to, size);
}

/* The nearest process above this one that records into the folder; 0: none. */
static int64_t recorded_ancestor(const char *folder) {
    int64_t above[MOST_ANCESTORS], found = 0;
    int n = 0, nearest = MOST_ANCESTORS;
    for (int64_t pid = getppid(); pid > 1 && n < MOST_ANCESTORS; pid = parent_of(pid))
        above[n++] = pid;
    _Alignas(struct dirent64) char names[4096];
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    for (ssize_t bytes; fd >= 0 && (bytes = read_names(fd, names, sizeof names)) > 0;) {
        for (ssize_t at = 0; at < bytes;) {
            const struct dirent64 *e = (const struct dirent64 *)(names + at);
            int64_t pid = pid_of_file(e->d_name);
            for (int i = 0; pid && i < nearest && i < n; i++)
                if (above[i] == pid) found = pid, nearest = i;
            at += e->d_reclen;
        }
    }
    if (fd >= 0) close(fd);
    return found;
}

/* Was the process started with this variable at this value? */
static bool was_given(int64_t pid, const char *name) {
    char path[64], *text = rec_pages(1 << 17);
    const char *value = secure_getenv(name);
    bool found = false;
    snprintf(path, sizeof path, "/proc/%lld/environ", (long long)pid);
    int fd = text && value ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t n = 0, at = 0;
    while (fd >= 0 && at < (1 << 17) - 1 &&
           (n = read(fd, text + at, (size_t)((1 << 17) - 1 - at))) > 0)
        at += n;
    if (fd >= 0) close(fd);
    size_t length = strlen(name);
    if (text) text[at] = 0;
    for (const char *p = text; p && p < text + at && !found; p += strlen(p) + 1)
        found = strncmp(p, name, length) == 0 && p[length] == '=' &&
                strcmp(p + length + 1, value) == 0;
    rec_pages_free(text, 1 << 17);
    return found;
}

static bool rec_rank_holds(const char *text, size_t n, const char *needle) {
    size_t m = strlen(needle);
    for (size_t i = 0; i + m <= n; i++)
        if (memcmp(text + i, needle, m) == 0) return true;
    return false;
}

static size_t read_command(char *text, size_t size) {
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t n = read(fd, text, size - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    return n > 0 ? (size_t)n : 0;
}

/* Python's multiprocessing starts new processes: their command line says so. */
static bool is_spawned(void) {
    static int known; /* 1: it is, -1: it is not */
    char text[COMMAND_BYTES];
    if (known) return known > 0;
    size_t n = read_command(text, sizeof text);
    known = rec_rank_holds(text, n, "multiprocessing.spawn") ||
                    rec_rank_holds(text, n, "multiprocessing.fork") ||
                    rec_rank_holds(text, n, "multiprocessing.resource_tracker")
                ? 1
                : -1;
    return known > 0;
}

/* An inherited environment: a fork's, or that of a process that records. */
static bool is_inherited(const char *folder, const struct launcher *l) {
    static bool is_known, is; /* for life: looking takes longer the more is recorded */
    if (is_child) return true;
    if (is_known || !folder) return is;
    int64_t pid = recorded_ancestor(folder);
    is = pid && was_given(pid, l->rank);
    is_known = true;
    if (is) of_pid = pid;
    return is;
}

bool rec_rank(const char *folder, int64_t *rank, int64_t *world) {
    *rank = told_rank;
    *world = told_world;
    if (told_rank >= 0) return true;
    const struct launcher *l = find_launcher(rank, world);
    if (!l) return false;
    if (!told_role[0] && !is_inherited(folder, l)) return true;
    of_rank = *rank;
    return false;
}

void rec_rank_known(int64_t *rank, int64_t *world) {
    *rank = told_rank >= 0 ? told_rank : written_rank;
    *world = told_rank >= 0 ? told_world : written_world;
}

void rec_rank_forked(void) {
    written_rank = written_world = -1;
    if (!is_child) of_pid = getppid();
    if (told_rank >= 0) of_rank = told_rank;
    told_rank = told_world = -1;
    told_role[0] = 0;
    is_child = true;
}

/* ---- launchers ---- */

static bool is_one_of(const char *word, const char *const *list, size_t n) {
    const char *base = strrchr(word, '/');
    base = base ? base + 1 : word;
    for (size_t i = 0; i < n; i++)
        if (strcmp(base, list[i]) == 0) return true;
    return false;
}

/* The script or module that Python runs; NULL: none. */
static const char *python_runs(char *const *words, size_t n) {
    for (size_t i = 1; i < n; i++) {
        if (strcmp(words[i], "-m") == 0) return i + 1 < n ? words[i + 1] : NULL;
        if (strcmp(words[i], "-c") == 0) return NULL;
        if (strcmp(words[i], "-W") == 0 || strcmp(words[i], "-X") == 0)
            i++;
        else if (words[i][0] != '-')
            return words[i];
    }
    return NULL;
}

bool rec_is_launcher(void) {
    static const char *const NAMES[] = {"torchrun",
                                        "torch.distributed.run",
                                        "torch.distributed.launch",
                                        "accelerate",
                                        "accelerate.commands.launch",
                                        "deepspeed",
                                        "deepspeed.launcher.runner",
                                        "deepspeed.launcher.launch",
                                        "horovodrun",
                                        "paddle.distributed.launch",
                                        "fleetrun",
                                        "msrun",
                                        "megengine.distributed.launcher",
                                        "mpirun",
                                        "mpiexec",
                                        "mpiexec.hydra",
                                        "orterun",
                                        "prterun",
                                        "srun"};
    enum { N_NAMES = sizeof NAMES / sizeof *NAMES };
    char text[COMMAND_BYTES], *words[MOST_WORDS];
    size_t n = 0;
    size_t bytes = read_command(text, sizeof text);
    if (!bytes) return false;
    for (char *p = text; p < text + bytes && n < MOST_WORDS; p += strlen(p) + 1) words[n++] = p;
    const char *base = strrchr(words[0], '/');
    bool is_python = strncmp(base ? base + 1 : words[0], "python", 6) == 0;
    const char *runs = is_python ? python_runs(words, n) : words[0];
    return runs && is_one_of(runs, NAMES, N_NAMES);
}

/* ---- its name ---- */

/* Some other process of a recorded one: a worker of a loader, a server of forks. */
static bool is_helper(void) {
    if (!of_pid && is_spawned()) of_pid = getppid();
    return is_child || of_pid || told_role[0];
}

/* PyTorch names the processes of its data loaders. */
static bool is_loader(void) {
    char name[32] = "";
    if (strcmp(told_role, "data_loader") == 0) return true;
    int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t n = read(fd, name, sizeof name - 1);
    close(fd);
    return n > 0 && strncmp(name, "pt_data_worker", 14) == 0;
}

void rec_rank_name(const char *folder, char *to, size_t size) {
    char host[128] = "host", front[32] = "";
    int64_t rank, world;
    int pid = (int)getpid();
    (void)gethostname(host, sizeof host - 1);
    bool has_rank = rec_rank(folder, &rank, &world), helps = !has_rank && is_helper();
    int64_t of = has_rank ? rank : helps ? of_rank : -1;
    if (of >= 0) snprintf(front, sizeof front, "rank%lld.", (long long)of);
    if (helps)
        snprintf(to, size, "%s%s_%lld.%s_%d", front, host,
                 (long long)(of_pid ? of_pid : getppid()), is_loader() ? "loader" : "child",
                 pid);
    else
        snprintf(to, size, "%s%s_%d", front, host, pid);
}

/* ---- writing ---- */

static void put_number(rec_file *f, const char *key, int64_t value) {
    char text[32];
    rec_meta_put(f, key, text, (size_t)snprintf(text, sizeof text, "%lld", (long long)value));
}

static void put_role(rec_file *f, const char *role) {
    char text[64];
    rec_meta_put(f, "role", text, (size_t)snprintf(text, sizeof text, "\"%s\"", role));
}

int64_t rec_local_rank(void) {
    int64_t rank, world, local;
    const struct launcher *l = find_launcher(&rank, &world);
    return rec_rank_number_of(l ? l->local : "LOCAL_RANK", &local) ? local : -1;
}

static void put_rank(rec_file *f, int64_t rank, int64_t world) {
    char text[192];
    int64_t of, all, local = rec_local_rank();
    const struct launcher *l = find_launcher(&of, &all);
    int n = snprintf(text, sizeof text, "{\"rank\":%lld", (long long)rank);
    if (world >= 0)
        n += snprintf(text + n, sizeof text - (size_t)n, ",\"world_size\":%lld",
                      (long long)world);
    if (local >= 0)
        n += snprintf(text + n, sizeof text - (size_t)n, ",\"local_rank\":%lld",
                      (long long)local);
    if (l) n += snprintf(text + n, sizeof text - (size_t)n, ",\"launcher\":\"%s\"", l->name);
    n += snprintf(text + n, sizeof text - (size_t)n, "}");
    rec_meta_put(f, "distributedInfo", text, (size_t)n);
    put_role(f, "rank");
}

static void put_helper(rec_file *f) {
    put_role(f, told_role[0] ? told_role : "helper");
    if (of_rank >= 0) put_number(f, "of_rank", of_rank);
    put_number(f, "of_pid", of_pid ? of_pid : getppid());
}

void rec_rank_write(rec_file *f, const char *folder) {
    int64_t rank, world;
    put_number(f, "pid", getpid());
    put_number(f, "parent_pid", getppid());
    bool has_rank = rec_rank(folder, &rank, &world);
    written_rank = has_rank ? rank : -1;
    written_world = has_rank ? world : -1;
    if (has_rank)
        put_rank(f, rank, world);
    else if (is_helper())
        put_helper(f);
}

/* ---- what the program says ---- */

void tacho_rank(int64_t rank, int64_t world_size) {
    if (rec_self.in_slow) return;
    bool before = rec_enter(&rec_lock);
    told_rank = rank;
    told_world = world_size;
    if (rec_current && rank >= 0) put_rank(rec_current, rank, world_size);
    rec_leave(&rec_lock, before);
}

/* The value may be JSON: a text in quotes. */
void rec_rank_role(const char *role) {
    int64_t rank, world;
    bool before = rec_enter(&rec_lock);
    size_t n = 0;
    for (; *role && n + 1 < sizeof told_role; role++)
        if ((*role >= 'a' && *role <= 'z') || *role == '_') told_role[n++] = *role;
    told_role[n] = 0;
    bool is_late = rec_current && n && !rec_rank(NULL, &rank, &world);
    if (is_late) put_helper(rec_current);
    rec_leave(&rec_lock, before);
    if (is_late)
        rec_cycle_rename(); /* a spawned worker recorded its imports before it got its rank */
}
