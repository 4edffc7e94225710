/* mpi_files.c: a plug-in for many processes on one machine that need no MPI: blocks are files in the folder that
 * FAKE_MPI_DIR names, the counter is a locked file there. FAKE_MPI_RANK and OMPI_COMM_WORLD_SIZE say who we are. A
 * process that fails leaves a file `ended`, and all others end with it, as MPI_Abort does. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/plugin.h"

#define MAX_PROCESSES 64
#define PATH_BYTES 512

int tacho_cluster_open(cluster_plugin *out) __attribute__((visibility("default")));

static const char *folder;
static int rank, size;
static unsigned n_sent[MAX_PROCESSES], n_received[MAX_PROCESSES];

static void path_of(char *to, const char *what, int from, int target, unsigned i) {
    snprintf(to, PATH_BYTES, "%s/%s-%d-%d-%u", folder, what, from, target, i);
}

static void end_with_the_others(void) {
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/ended", folder);
    if (access(path, F_OK) == 0) _exit(3);
}

static int send_block(int to, const void *bytes, uint64_t n) {
    char part[PATH_BYTES], whole[PATH_BYTES];
    path_of(part, "part", rank, to, n_sent[to]);
    path_of(whole, "block", rank, to, n_sent[to]++);
    int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return 1;
    for (uint64_t at = 0; at < n;) {
        ssize_t written = write(fd, (const char *)bytes + at, n - at);
        if (written <= 0) return 1;
        at += (uint64_t)written;
    }
    close(fd);
    return rename(part, whole);
}

static int receive_block(int from, void **bytes, uint64_t *n) {
    char path[PATH_BYTES];
    struct stat st;
    int fd;
    path_of(path, "block", from, rank, n_received[from]++);
    while ((fd = open(path, O_RDONLY | O_CLOEXEC)) < 0) {
        end_with_the_others();
        usleep(1000);
    }
    if (fstat(fd, &st) != 0) return 1;
    *n = (uint64_t)st.st_size;
    *bytes = malloc(*n + 1);
    for (uint64_t at = 0; *bytes && at < *n;) {
        ssize_t got = read(fd, (char *)*bytes + at, *n - at);
        if (got <= 0) return 1;
        at += (uint64_t)got;
    }
    close(fd);
    unlink(path);
    return *bytes ? 0 : 1;
}

static int exchange(const void *const *send, const uint64_t *send_bytes, void **receive,
                    uint64_t *receive_bytes) {
    for (int i = 0; i < size; i++)
        if (send_block(i, send[i], send_bytes[i])) return 1;
    for (int i = 0; i < size; i++)
        if (receive_block(i, &receive[i], &receive_bytes[i])) return 1;
    return 0;
}

static int64_t take(void) {
    char path[PATH_BYTES];
    int64_t n = 0;
    snprintf(path, sizeof path, "%s/counter", folder);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || flock(fd, LOCK_EX) != 0) return -1;
    (void)!pread(fd, &n, sizeof n, 0);
    int64_t next = n + 1;
    if (pwrite(fd, &next, sizeof next, 0) != sizeof next) n = -1;
    close(fd);
    /* So that every process gets some of a few small files. */
    usleep(20000);
    return getenv("FAKE_MPI_LOSES") && n == atoi(getenv("FAKE_MPI_LOSES")) ? -1 : n;
}

static int wait_for_all(void) {
    const void *send[MAX_PROCESSES] = {0};
    uint64_t none[MAX_PROCESSES] = {0}, got[MAX_PROCESSES];
    void *receive[MAX_PROCESSES];
    if (exchange(send, none, receive, got)) return 1;
    for (int i = 0; i < size; i++) free(receive[i]);
    return 0;
}

static void end(int ok) {
    char path[PATH_BYTES];
    if (ok) return;
    snprintf(path, sizeof path, "%s/ended", folder);
    close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    _exit(3);
}

int tacho_cluster_open(cluster_plugin *out) {
    folder = getenv("FAKE_MPI_DIR");
    rank = atoi(getenv("FAKE_MPI_RANK"));
    size = atoi(getenv("OMPI_COMM_WORLD_SIZE"));
    if (!folder || size > MAX_PROCESSES) return 1;
    *out = (cluster_plugin){.version = CLUSTER_PLUGIN_VERSION,
                            .rank = rank,
                            .size = size,
                            .exchange = exchange,
                            .send = send_block,
                            .receive = receive_block,
                            .take = take,
                            .wait = wait_for_all,
                            .release = free,
                            .end = end};
    return 0;
}
