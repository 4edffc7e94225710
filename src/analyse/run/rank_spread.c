/* rank_spread.c: the shortest, the median and the longest of all workers, by category.
 *
 * Steps of a summary are sorted by worker, so one pass adds up a worker after the other. Only
 * steps that count in averages are taken (untraced_steps.h). The median of an even number of
 * workers is the upper of the two in the middle: it is a time that a worker really has. Device
 * work is compared among the workers that recorded any: the others would count as 0. */
#include "analyse/run/rank_spread.h"

#include "analyse/registry.h"
#include "analyse/vendor/untraced_steps.h"
#include "base/sort.h"

#define COL_S(name) COL(overview, spread, name)

enum { TOTAL = N_ROLES, N_PARTS };

/* The average step of a worker. */
typedef struct {
    str worker;
    bool has_device; /* its device work was recorded */
    int64_t part[N_PARTS];
} worker_step;

void step_role_times(const summary_step *s, int64_t ns[N_ROLES]) {
    ns[ROLE_KERNEL] = s->kernel;
    ns[ROLE_MEMCPY] = s->memcpy_ns;
    ns[ROLE_MEMSET] = s->memset_ns;
    ns[ROLE_COMMUNICATION] = s->communication;
    ns[ROLE_RUNTIME] = s->runtime;
    ns[ROLE_DATA_LOADER] = s->data_loader;
    ns[ROLE_CPU_EXEC] = s->cpu_exec;
    ns[ROLE_OTHER] = s->other;
}

/* Adds the steps of the worker that begin at row `first`; returns the row after the last. */
static uint32_t add_worker(const summary *s, uint32_t first, worker_step *out) {
    const summary_step *v = SUMMARY_ROWS(s, step);
    bool all_bare = untraced_steps_are_all(s);
    int64_t n = 0, ns[N_ROLES], sum[N_PARTS] = {0};
    uint32_t i = first;
    for (; i < SUMMARY_N(s, step) && str_eq(v[i].worker, v[first].worker); i++) {
        if (!untraced_row_counts(&v[i], all_bare)) continue;
        n++;
        step_role_times(&v[i], ns);
        for (int r = 0; r < N_ROLES; r++) {
            sum[r] = add_i64(sum[r], max_i64(0, ns[r]));
            sum[TOTAL] = add_i64(sum[TOTAL], max_i64(0, ns[r]));
        }
    }
    out->worker = n ? v[first].worker : (str){0};
    for (int r = 0; r < N_PARTS; r++) out->part[r] = n ? mean_i64(sum[r], n) : 0;
    return i;
}

static bool is_of_device(int part) {
    return part == ROLE_KERNEL || part == ROLE_MEMCPY || part == ROLE_MEMSET;
}

/* Workers whose device work was recorded: none where there are only step traces. Both lists are
 * sorted by the workers' names. */
static void mark_devices(const summary *s, worker_step *v, uint32_t n) {
    const summary_worker *w = SUMMARY_ROWS(s, worker);
    bool all_bare = untraced_steps_are_all(s);
    for (uint32_t i = 0, at = 0; i < n; i++) {
        while (at < SUMMARY_N(s, worker) && str_cmp(w[at].name, v[i].worker) < 0) at++;
        v[i].has_device = !all_bare && at < SUMMARY_N(s, worker) &&
                          str_eq(w[at].name, v[i].worker) && w[at].has_device == 1;
    }
}

static status write_part(table *t, int part, const worker_step *v, uint32_t n_workers,
                         sort_pair *pairs, error *err) {
    size_t row;
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_workers; i++)
        if (v[i].has_device || !is_of_device(part))
            pairs[n++] = (sort_pair){(uint64_t)v[i].part[part], i};
    if (!n) return OK;
    sort_radix(pairs, pairs + n, n);
    const worker_step *least = &v[pairs[0].row], *most = &v[pairs[n - 1].row];
    TRY(table_add_row(t, &row, err));
    table_set_text(t, row, COL_S(category),
                   part == TOTAL ? str_of("total") : role_name((role)part));
    table_set_int(t, row, COL_S(min), least->part[part]);
    table_set_int(t, row, COL_S(median), v[pairs[n / 2].row].part[part]);
    table_set_int(t, row, COL_S(max), most->part[part]);
    if (most->part[part] == least->part[part]) return OK; /* none is worse */
    table_set_text(t, row, COL_S(min_worker), least->worker);
    table_set_text(t, row, COL_S(max_worker), most->worker);
    return OK;
}

status rank_spread_write(const summary *s, arena *a, answer *out, error *err) {
    uint32_t n_rows = SUMMARY_N(s, step), n = 0;
    table *t = answer_table(out, a, "spread");
    worker_step *v = ARENA_ARRAY(a, worker_step, (size_t)SUMMARY_N(s, worker) + 1);
    sort_pair *pairs = ARENA_ARRAY(a, sort_pair, 2 * (size_t)SUMMARY_N(s, worker) + 2);
    if (!t || !v || !pairs) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n_rows && n < SUMMARY_N(s, worker);) {
        i = add_worker(s, i, &v[n]);
        n += v[n].worker.n > 0;
    }
    if (n < 2) return OK;
    mark_devices(s, v, n);
    for (int part = 0; part < N_PARTS; part++) TRY(write_part(t, part, v, n, pairs, err));
    return OK;
}
