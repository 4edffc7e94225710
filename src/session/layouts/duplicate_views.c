/* duplicate_views.c: files that are another view of a trace in the same folder.
 *
 * JAX writes each profile again for other viewers, rocprofv3 and `export` write a trace also as
 * Perfetto's, and rocprofv3 its tables next to its results. One of them is read, the one that
 * has most; names alone decide which. */
#include "base/intern.h"
#include "session/folder_walk_int.h"

/* By tables: rocprofv3's; by results: its PREFIX_results.json or .db, which have all that the
 * tables have. */
enum { SEEN_BY_HOST, SEEN_BY_TRACE, SEEN_BY_TABLES, SEEN_BY_RESULTS };
static const str RESULTS = STR("_results");

static uint64_t key_of(uint64_t by, str worker) {
    return hash_pair(by, intern_hash(worker));
}

static status add_worker(seen_workers *t, uint64_t by, str worker, error *err) {
    uint32_t *at = map_at(&t->workers, key_of(by, worker));
    if (!at) FAIL_MEMORY(err);
    *at = 1;
    return OK;
}

status seen_workers_find(const vec *items, seen_workers *out, error *err) {
    for (size_t i = 0; i < items->n; i++) {
        str file = VEC(items, dir_item)[i].name;
        trace_name name;
        bool parsed = name_parse(file, &name);
        if (!parsed && !name_may_be_trace(file)) continue;
        if (!parsed) name_of_any(file, &name);
        if (parsed && name.host) {
            out->any_host = true;
            TRY(add_worker(out, SEEN_BY_HOST, name.worker, err));
        }
        if (name.perfetto) continue;
        TRY(add_worker(out, name.table ? SEEN_BY_TABLES : SEEN_BY_TRACE, name.worker, err));
        str stem = name.worker;
        if (!str_ends(stem, RESULTS)) continue;
        stem.n -= RESULTS.n;
        TRY(add_worker(out, SEEN_BY_RESULTS, stem, err));
    }
    return OK;
}

static bool is_seen_by(const seen_workers *t, uint64_t by, str worker) {
    return map_get(&t->workers, key_of(by, worker)) != MAP_NONE;
}

/* Is it what JAX wrote of a profile in the same folder for other viewers, Perfetto's form of a
 * trace in the same folder, as rocprofv3 writes both and `export` does, or rocprofv3's tables
 * of what is in its JSON or database? */
bool seen_workers_has_view(const seen_workers *t, str file) {
    str host;
    trace_name own;
    if (name_is_retold(file, &host) &&
        (host.n ? is_seen_by(t, SEEN_BY_HOST, host) : t->any_host))
        return true;
    name_of_any(file, &own);
    if (own.table) return is_seen_by(t, SEEN_BY_RESULTS, own.worker);
    str stem = own.worker;
    if (own.perfetto && str_ends(stem, RESULTS)) stem.n -= RESULTS.n;
    return own.perfetto &&
           (is_seen_by(t, SEEN_BY_TRACE, own.worker) || is_seen_by(t, SEEN_BY_TABLES, stem));
}

void seen_workers_fini(seen_workers *s) {
    map_fini(&s->workers);
}
