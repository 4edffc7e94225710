/* rec_role.c: what this process is among those of a run, which its file's name says.
 *
 *     rank0.HOST_7            a rank, by its launcher's variables or because the program said so
 *     rank0.HOST_7.loader_9   a process of that rank's data loader
 *     HOST_7.child_9          another child of a recorded process
 *     HOST_5.launcher         torchrun and its kin
 *
 * Children inherit the launcher's variables, so a rank counts as a process' own only when it was set
 * after the process began: after a fork, or after Python's multiprocessing started it. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/rec_int.h"

static const char *const VARIABLES[][2] = {{"RANK", "WORLD_SIZE"},
                                           {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                           {"PMI_RANK", "PMI_SIZE"},
                                           {"PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM"},
                                           {"SLURM_PROCID", "SLURM_NTASKS"}};
enum { N_VARIABLES = sizeof VARIABLES / sizeof *VARIABLES };

static int64_t inherited[N_VARIABLES] = {-1, -1, -1, -1, -1};
static char owner[224];
static bool is_launcher;

static int64_t number_of(const char *name) {
    const char *text = getenv(name);
    char *end;
    if (!text || !*text) return -1;
    long long n = strtoll(text, &end, 10);
    return *end == 0 && n >= 0 ? n : -1;
}

bool rec_role_rank(int64_t *rank, int64_t *world) {
    for (int i = 0; i < N_VARIABLES; i++) {
        int64_t r = number_of(VARIABLES[i][0]), w = number_of(VARIABLES[i][1]);
        if (r < 0 || w < 0 || r == inherited[i]) continue;
        *rank = r;
        *world = w;
        return true;
    }
    return false;
}

static void inherit(void) {
    for (int i = 0; i < N_VARIABLES; i++) inherited[i] = number_of(VARIABLES[i][0]);
}

void rec_role_forked(const char *parent) {
    if (!owner[0]) snprintf(owner, sizeof owner, "%s", parent);
    inherit();
    is_launcher = false;
}

/* ---- by the command ------------------------------------------------------------------------- */

static bool is_launchers_name(const char *word) {
    static const char *const NAMES[] = {"torchrun",
                                        "torch.distributed.run",
                                        "torch.distributed.launch",
                                        "accelerate",
                                        "accelerate.commands.launch",
                                        "deepspeed",
                                        "deepspeed.launcher.launch",
                                        "deepspeed.launcher.runner",
                                        "paddle.distributed.launch",
                                        "colossalai",
                                        "horovodrun",
                                        "msrun",
                                        "mpirun",
                                        "mpiexec",
                                        "orterun",
                                        "srun"};
    const char *slash = strrchr(word, '/');
    const char *name = slash ? slash + 1 : word;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (!strcmp(name, NAMES[i])) return true;
    return false;
}

/* Words of a command line: the program, and of an interpreter its script or module. */
static void read_command(const char *text, size_t n) {
    bool module = false;
    int n_words = 0;
    for (size_t at = 0; at < n && n_words < 8; at += strlen(text + at) + 1) {
        const char *word = text + at;
        bool option = word[0] == '-';
        if (option) {
            module = !strcmp(word, "-m");
            if (!strcmp(word, "-c")) break;
            continue;
        }
        if (n_words > 1 && !module) break;
        is_launcher |= is_launchers_name(word);
        if (module || n_words++ > 0) break;
    }
}

static bool holds(const char *text, size_t n, const char *needle) {
    size_t m = strlen(needle);
    for (size_t i = 0; i + m <= n; i++)
        if (memcmp(text + i, needle, m) == 0) return true;
    return false;
}

void rec_role_load(void) {
    char text[2048], host[128] = "host";
    int in = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (in < 0) return;
    ssize_t n = read(in, text, sizeof text - 1);
    close(in);
    if (n <= 0) return;
    text[n] = 0;
    read_command(text, (size_t)n);
    if (!holds(text, (size_t)n, "multiprocessing.spawn") &&
        !holds(text, (size_t)n, "multiprocessing.forkserver") &&
        !holds(text, (size_t)n, "multiprocessing.resource_tracker"))
        return;
    int64_t rank, world;
    (void)gethostname(host, sizeof host - 1);
    if (rec_role_rank(&rank, &world))
        snprintf(owner, sizeof owner, "rank%lld.%s_%d", (long long)rank, host, (int)getppid());
    else
        snprintf(owner, sizeof owner, "%s_%d", host, (int)getppid());
    inherit();
}

/* PyTorch names the processes of its data loaders. */
static bool is_loader(void) {
    char name[32] = "";
    int in = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
    if (in < 0) return false;
    ssize_t n = read(in, name, sizeof name - 1);
    close(in);
    return n > 0 && strncmp(name, "pt_data_worker", 14) == 0;
}

void rec_role_name(const char *plain, char *to, size_t size) {
    if (owner[0])
        snprintf(to, size, "%s.%s_%d", owner, is_loader() ? "loader" : "child", (int)getpid());
    else
        snprintf(to, size, "%s%s", plain, is_launcher ? ".launcher" : "");
}
