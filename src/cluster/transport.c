/* transport.c: processes that talk to each other, or one that talks to itself.
 *
 * The plug-in is looked for next to the program and in the lib folder next to its bin. It is
 * loaded only when the environment has what launchers leave there for their processes: a plain
 * run never touches MPI. Gathering and telling all are trees made of sending and receiving, so
 * that a plug-in has little to do. */
#include "cluster/transport.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int number_in(const char *variable) {
    const char *text = getenv(variable);
    int64_t v;
    return text && str_to_i64(str_of(text), &v) && v > 0 && v < 1 << 24 ? (int)v : 0;
}

bool transport_is_launched(void) {
    bool pmi = getenv("PMI_RANK") || getenv("PMIX_RANK") || getenv("PMI_FD");
    return number_in("OMPI_COMM_WORLD_SIZE") > 0 || number_in("PMI_SIZE") > 0 ||
           (pmi && (number_in("SLURM_NTASKS") > 1 || number_in("SLURM_STEP_NUM_TASKS") > 1));
}

/* The folder of the program, with what follows. */
static bool find_library(const char *program, const char *below, char *to, size_t n) {
    const char *slash = strrchr(program, '/');
    int folder = slash ? (int)(slash - program) : 0;
    int used = snprintf(to, n, "%.*s%s", folder, program, below);
    return slash && used > 0 && (size_t)used < n;
}

static status load_plugin(transport *t, const char *program, error *err) {
    static const char *const places[] = {"/libtacho_mpi.so", "/../lib/libtacho_mpi.so"};
    char path[4096];
    const char *reason = "";
    for (size_t i = 0; i < sizeof places / sizeof *places && !t->library; i++) {
        if (!find_library(program, places[i], path, sizeof path)) continue;
        /* Open MPI loads its own components, which look for its symbols. */
        t->library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
        if (!t->library) reason = dlerror();
    }
    cluster_plugin_open *entry = NULL;
    if (t->library) *(void **)&entry = dlsym(t->library, CLUSTER_PLUGIN_ENTRY);
    if (!entry)
        FAIL(err, ERR_UNSUPPORTED, NOPOS, MSG_CLUSTER_NO_PLUGIN,
             arg_cstr("reason", reason ? reason : ""));
    if (entry(&t->plugin) != 0 || t->plugin.version != CLUSTER_PLUGIN_VERSION ||
        t->plugin.size < 1)
        FAIL0(err, ERR_IO, NOPOS, MSG_CLUSTER_NOT_STARTED);
    t->many = true;
    t->rank = t->plugin.rank;
    t->size = t->plugin.size;
    return OK;
}

status transport_open(transport *t, const char *program, error *err) {
    *t = (transport){.size = 1};
    atomic_init(&t->counter, 0);
    pthread_mutex_init(&t->lock, NULL);
    if (transport_is_launched()) return load_plugin(t, program, err);
    /* Each of them would do all the work. */
    int64_t tasks = number_in("SLURM_STEP_NUM_TASKS");
    if (tasks > 1) FAIL(err, ERR_ARG, NOPOS, MSG_CLUSTER_NO_PMI, arg_int("count", tasks));
    return OK;
}

void transport_close(transport *t, bool ok) {
    if (t->many) t->plugin.end(ok);
    /* The library stays: threads of MPI may still be inside it. */
    pthread_mutex_destroy(&t->lock);
}

static status fail_talk(error *err) {
    FAIL0(err, ERR_IO, NOPOS, MSG_CLUSTER_LOST);
}

int64_t transport_take(transport *t) {
    if (!t->many) return atomic_fetch_add(&t->counter, 1);
    pthread_mutex_lock(&t->lock);
    int64_t n = t->plugin.take();
    pthread_mutex_unlock(&t->lock);
    return n < 0 ? INT64_MAX : n;
}

/* ---- blocks ------------------------------------------------------------------------------ */

/* Bytes of the plug-in into a buffer of ours. */
static status take_bytes(transport *t, void *p, uint64_t n, buf *to, error *err) {
    buf_clear(to);
    buf_add(to, p, (size_t)n);
    t->plugin.release(p);
    if (!buf_ok(to)) FAIL_MEMORY(err);
    return OK;
}

static status exchange_many(transport *t, const buf *give, buf *take, arena *a, error *err) {
    size_t n = (size_t)t->size;
    const void **send = ARENA_ARRAY(a, const void *, n);
    void **receive = ARENA_ARRAY(a, void *, n);
    uint64_t *send_bytes = ARENA_ARRAY(a, uint64_t, n), *bytes = ARENA_ARRAY(a, uint64_t, n);
    if (!send || !receive || !send_bytes || !bytes) FAIL_MEMORY(err);
    for (size_t i = 0; i < n; i++) {
        send[i] = give[i].p ? give[i].p : "";
        send_bytes[i] = give[i].n;
    }
    if (t->plugin.exchange(send, send_bytes, receive, bytes) != 0) return fail_talk(err);
    status st = OK;
    for (size_t i = 0; i < n; i++) {
        status one = take_bytes(t, receive[i], bytes[i], &take[i], err);
        if (one != OK) st = one;
    }
    return st;
}

status transport_exchange(transport *t, const buf *give, buf *take, error *err) {
    if (!t->many) {
        buf_clear(take);
        buf_add_str(take, buf_str(give));
        if (!buf_ok(take)) FAIL_MEMORY(err);
        return OK;
    }
    arena a;
    arena_init(&a, 0);
    status st = exchange_many(t, give, take, &a, err);
    arena_fini(&a);
    return st;
}

/* ---- trees ------------------------------------------------------------------------------- */

static status receive(transport *t, int from, buf *to, error *err) {
    void *p;
    uint64_t n;
    if (t->plugin.receive(from, &p, &n) != 0) return fail_talk(err);
    return take_bytes(t, p, n, to, err);
}

static status gather_own(transport *t, const transport_tree *tree, buf *bytes, error *err) {
    for (int step = 1; step < t->size; step *= 2) {
        buf_clear(bytes);
        if (t->rank % (2 * step) == step) {
            TRY(tree->put(tree->context, bytes, err));
            if (t->plugin.send(t->rank - step, bytes->p, bytes->n) != 0) return fail_talk(err);
            return OK;
        }
        if (t->rank + step >= t->size) continue;
        TRY(receive(t, t->rank + step, bytes, err));
        TRY(tree->join(tree->context, buf_str(bytes), err));
    }
    return OK;
}

status transport_gather(transport *t, const transport_tree *tree, error *err) {
    buf bytes = {0};
    status st = t->many ? gather_own(t, tree, &bytes, err) : OK;
    buf_fini(&bytes);
    return st;
}

/* The way of the gathering tree back. */
status transport_broadcast(transport *t, buf *bytes, error *err) {
    int top = 1;
    if (!t->many) return OK;
    while (top < t->size) top *= 2;
    for (int step = top / 2; step > 0; step /= 2) {
        if (t->rank % (2 * step) == step) TRY(receive(t, t->rank - step, bytes, err));
        if (t->rank % (2 * step) != 0 || t->rank + step >= t->size) continue;
        if (t->plugin.send(t->rank + step, bytes->p, bytes->n) != 0) return fail_talk(err);
    }
    return OK;
}
