/* mpi.c: a fake plug-in for many processes: one of two, whose other never speaks. Its calls go
 * to the file that FAKE_MPI_LOG names, a letter each: b(egins), e(nds well), f(ails: all
 * processes end). */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "cluster/plugin.h"

int tacho_cluster_open(cluster_plugin *out) __attribute__((visibility("default")));

static void note(char letter) {
    const char *path = getenv("FAKE_MPI_LOG");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0644) : -1;
    if (fd < 0) return;
    (void)!write(fd, &letter, 1);
    close(fd);
}

static int exchange(const void *const *send, const uint64_t *send_bytes, void **receive,
                    uint64_t *receive_bytes) {
    (void)send, (void)send_bytes, (void)receive, (void)receive_bytes;
    return 1;
}

static int send_to(int to, const void *bytes, uint64_t n) {
    (void)to, (void)bytes, (void)n;
    return 1;
}

static int receive_from(int from, void **bytes, uint64_t *n) {
    (void)from, (void)bytes, (void)n;
    return 1;
}

static int64_t take(void) {
    return -1;
}

static int wait_for_all(void) {
    return 1;
}

static void end(int ok) {
    note(ok ? 'e' : 'f');
}

int tacho_cluster_open(cluster_plugin *out) {
    note('b');
    *out = (cluster_plugin){.version = CLUSTER_PLUGIN_VERSION,
                            .size = 2,
                            .exchange = exchange,
                            .send = send_to,
                            .receive = receive_from,
                            .take = take,
                            .wait = wait_for_all,
                            .release = free,
                            .end = end};
    return 0;
}
