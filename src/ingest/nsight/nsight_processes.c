/* nsight_processes.c: which processes of an export used a device.
 *
 * A report of a launcher holds all the processes it started: ranks, loaders of data, shells.
 * Those with device work or calls of CUDA are separate workers. Small tables name those that
 * had a context or a stream; the tables of events are read until all of these were met, which
 * is soon, and whole only where an export was cut or has no such tables. */
#include <stdlib.h>

#include "base/bisect.h"
#include "ingest/nsight/nsight_int.h"

typedef struct {
    vec list;     /* int64_t */
    map known;    /* of the list → 0 */
    size_t n_met; /* of those that are wanted */
} pid_set;

static bool holds_all(const pid_set *s, const pid_set *wanted) {
    return wanted->list.n > 0 && s->n_met == wanted->list.n;
}

/* False when out of memory. */
static bool add_process(pid_set *to, const pid_set *wanted, int64_t pid) {
    uint32_t *at = map_at(&to->known, (uint64_t)pid);
    if (at && *at != MAP_NONE) return true;
    int64_t *slot = at ? vec_push(&to->list) : NULL;
    if (!slot) return false;
    *at = 0;
    *slot = pid;
    to->n_met += map_get(&wanted->known, (uint64_t)pid) != MAP_NONE;
    return true;
}

/* A column of a table with a process in it, plain or inside a global id. */
typedef struct {
    const char *table, *column;
    bool global;
} place;

/* Adds the processes of a table; stops when all those that are wanted are there. */
static status add_processes(database *db, const place *p, const pid_set *wanted, pid_set *to,
                            error *err) {
    db_rows rows;
    int64_t last = 0;
    bool failed = false;
    if (holds_all(to, wanted)) return OK;
    TRY(db_select(db, str_of(p->table), &p->column, 1, &rows, err));
    while (!failed && db_next(&rows)) {
        int64_t id = db_int(&rows, 0, 0), pid = (p->global ? id >> 24 : id) & 0xffffff;
        if (!pid || pid == last) continue;
        last = pid;
        failed = !add_process(to, wanted, pid);
        if (holds_all(to, wanted)) break;
    }
    TRY(db_done(&rows, err));
    if (failed) FAIL_MEMORY(err);
    return OK;
}

static int compare_pids(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static status find_processes(database *db, pid_set *named_users, pid_set *out, error *err) {
    static const place named[] = {{"TARGET_INFO_CUDA_STREAM", "processId", false},
                                  {"TARGET_INFO_CUDA_CONTEXT_INFO", "processId", false}};
    static const place used[] = {{"CUPTI_ACTIVITY_KIND_KERNEL", "globalPid", true},
                                 {"CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid", true},
                                 {"CUPTI_ACTIVITY_KIND_MEMCPY", "globalPid", true},
                                 {"CUPTI_ACTIVITY_KIND_MEMSET", "globalPid", true},
                                 {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "globalPid", true}};
    const pid_set no_users = {.list = VEC_INIT(int64_t)};
    for (size_t i = 0; i < N_OF(named); i++)
        TRY(add_processes(db, &named[i], &no_users, named_users, err));
    if (named_users->list.n == 1) return OK;
    for (size_t i = 0; i < N_OF(used); i++)
        TRY(add_processes(db, &used[i], named_users, out, err));
    return OK;
}

status nsight_list_processes(database *db, vec *out, error *err) {
    pid_set named_users = {.list = VEC_INIT(int64_t)}, used = {.list = VEC_INIT(int64_t)};
    status st = find_processes(db, &named_users, &used, err);
    *out = used.list;
    vec_fini(&named_users.list);
    map_fini(&named_users.known);
    map_fini(&used.known);
    if (st == OK && out->n > 1) qsort(out->p, out->n, sizeof(int64_t), compare_pids);
    if (st != OK) vec_fini(out);
    return st;
}

status nsight_processes(source *src, const ingest_options *o, vec *out, error *err) {
    database *db = NULL;
    builder *b = builder_new();
    part *p = b ? builder_part(b) : NULL;
    *out = VEC_INIT(int64_t);
    status st = p ? database_open(src, o, b, p, &db, err)
                  : error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    if (st == OK) st = nsight_list_processes(db, out, err);
    database_close(db);
    builder_free(b);
    return st;
}

/* ---- whose rows are read ---- */

status nsight_choose_process(reader *r, int64_t process, error *err) {
    r->process = process;
    if (!process) return OK;
    TRY(nsight_list_processes(r->db, &r->workers, err));
    r->takes_rest = r->workers.n && VEC(&r->workers, int64_t)[0] == process;
    return OK;
}

bool nsight_is_mine(const reader *r, int64_t global) {
    int64_t pid = global >> 24 & 0xffffff;
    if (!r->process || pid == r->process) return true;
    if (!r->takes_rest) return false;
    const int64_t *v = VEC(&r->workers, int64_t);
    size_t at = SEARCH_FIRST(i, (size_t)0, r->workers.n, v[i] < pid);
    return at == r->workers.n || v[at] != pid;
}
