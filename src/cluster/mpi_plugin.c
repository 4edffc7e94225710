/* mpi_plugin.c: many processes through MPI: the plug-in libtacho_mpi.so.
 *
 * Blocks of any size travel in pieces of a gibibyte, since counts are ints. All processes meet
 * in pairs, one shift after the other, so that no process waits for more than one other at a
 * time. The shared counter is in a window of process 0: taking a number is one atomic addition
 * there, and process 0 does not have to listen for it. Memory is MPI's own. */
#include <mpi.h>
#include <stddef.h>
#include <string.h>

#include "cluster/plugin.h"

#define PIECE ((uint64_t)1 << 30)

enum { TAG_SIZE = 1, TAG_BYTES };

static MPI_Win window;
static int64_t *counter;
static int rank, size;

static void *take_memory(uint64_t n) {
    void *p = NULL;
    return MPI_Alloc_mem((MPI_Aint)(n ? n : 1), MPI_INFO_NULL, &p) == MPI_SUCCESS ? p : NULL;
}

static void give_back(void *p) {
    if (p) MPI_Free_mem(p);
}

/* One block to a process and one from another, at the same time. */
static int swap(int to, const void *out, uint64_t n_out, int from, void **in, uint64_t *n_in) {
    MPI_Status s;
    if (MPI_Sendrecv(&n_out, 1, MPI_UINT64_T, to, TAG_SIZE, n_in, 1, MPI_UINT64_T, from,
                     TAG_SIZE, MPI_COMM_WORLD, &s) != MPI_SUCCESS)
        return 1;
    *in = take_memory(*n_in);
    if (!*in) return 1;
    for (uint64_t at = 0; at < n_out || at < *n_in; at += PIECE) {
        uint64_t give = at < n_out ? n_out - at : 0, take = at < *n_in ? *n_in - at : 0;
        if (give > PIECE) give = PIECE;
        if (take > PIECE) take = PIECE;
        if (MPI_Sendrecv((const char *)out + (give ? at : 0), (int)give, MPI_BYTE, to,
                         TAG_BYTES, (char *)*in + (take ? at : 0), (int)take, MPI_BYTE, from,
                         TAG_BYTES, MPI_COMM_WORLD, &s) != MPI_SUCCESS)
            return 1;
    }
    return 0;
}

static int exchange(const void *const *send, const uint64_t *send_bytes, void **receive,
                    uint64_t *receive_bytes) {
    for (int shift = 0; shift < size; shift++) {
        int to = (rank + shift) % size, from = (rank + size - shift) % size;
        if (swap(to, send[to], send_bytes[to], from, &receive[from], &receive_bytes[from]))
            return 1;
    }
    return 0;
}

static int send_block(int to, const void *bytes, uint64_t n) {
    if (MPI_Send(&n, 1, MPI_UINT64_T, to, TAG_SIZE, MPI_COMM_WORLD) != MPI_SUCCESS) return 1;
    for (uint64_t at = 0; at < n; at += PIECE) {
        int part = (int)(n - at < PIECE ? n - at : PIECE);
        if (MPI_Send((const char *)bytes + at, part, MPI_BYTE, to, TAG_BYTES, MPI_COMM_WORLD) !=
            MPI_SUCCESS)
            return 1;
    }
    return 0;
}

static int receive_block(int from, void **bytes, uint64_t *n) {
    MPI_Status s;
    if (MPI_Recv(n, 1, MPI_UINT64_T, from, TAG_SIZE, MPI_COMM_WORLD, &s) != MPI_SUCCESS)
        return 1;
    *bytes = take_memory(*n);
    if (!*bytes) return 1;
    for (uint64_t at = 0; at < *n; at += PIECE) {
        int part = (int)(*n - at < PIECE ? *n - at : PIECE);
        if (MPI_Recv((char *)*bytes + at, part, MPI_BYTE, from, TAG_BYTES, MPI_COMM_WORLD,
                     &s) != MPI_SUCCESS)
            return 1;
    }
    return 0;
}

static int64_t take_number(void) {
    int64_t one = 1, got = -1;
    if (MPI_Fetch_and_op(&one, &got, MPI_INT64_T, 0, 0, MPI_SUM, window) != MPI_SUCCESS ||
        MPI_Win_flush(0, window) != MPI_SUCCESS)
        return -1;
    return got;
}

static int wait_for_all(void) {
    return MPI_Barrier(MPI_COMM_WORLD) != MPI_SUCCESS;
}

static void end(int ok) {
    if (!ok) MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Finalize();
}

__attribute__((visibility("default"))) int tacho_cluster_open(cluster_plugin *out);

int tacho_cluster_open(cluster_plugin *out) {
    int given;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &given) != MPI_SUCCESS ||
        given < MPI_THREAD_SERIALIZED)
        return 1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (MPI_Win_allocate(rank == 0 ? sizeof *counter : 0, sizeof *counter, MPI_INFO_NULL,
                         MPI_COMM_WORLD, &counter, &window) != MPI_SUCCESS)
        return 1;
    if (rank == 0) *counter = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    *out = (cluster_plugin){.version = CLUSTER_PLUGIN_VERSION,
                            .rank = rank,
                            .size = size,
                            .exchange = exchange,
                            .send = send_block,
                            .receive = receive_block,
                            .take = take_number,
                            .wait = wait_for_all,
                            .release = give_back,
                            .end = end};
    return 0;
}
