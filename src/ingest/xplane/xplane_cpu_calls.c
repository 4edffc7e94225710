/* xplane_cpu_calls.c: which call launched which run of a program on the CPU; see xplane_cpu.c.
 *
 *     calls of a function      1   2   3        in order of time
 *     runs of its program    a   b   c   d      a began before call 1: an earlier call's
 *                                1   2   3  */
#include <stdlib.h>

#include "base/bisect.h"
#include "ingest/xplane/xplane_int.h"

/* A run that waits for its call. */
typedef struct {
    uint64_t function;
    int64_t start;
    uint32_t row; /* of cpu_runs */
} waiting_run;

static int compare_calls(const void *pa, const void *pb) {
    const cpu_call_row *a = pa, *b = pb;
    if (a->is_recorded != b->is_recorded) return a->is_recorded ? -1 : 1;
    if (a->function != b->function) return a->function < b->function ? -1 : 1;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static int compare_waiting(const void *pa, const void *pb) {
    const waiting_run *a = pa, *b = pb;
    if (a->function != b->function) return a->function < b->function ? -1 : 1;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static void tie(reader *r, cpu_call_row *call, uint32_t run) {
    call->run = run;
    VEC(&r->cpu_runs, cpu_run)[run].is_tied = true;
}

/* Runs that their calls name; the first of several is the one that the program made. */
static size_t tie_recorded(reader *r) {
    cpu_call_row *calls = VEC(&r->cpu_calls, cpu_call_row);
    size_t n = SEARCH_FIRST(i, 0, r->cpu_calls.n, calls[i].is_recorded);
    for (uint32_t i = 0; i < r->cpu_runs.n; i++) {
        uint64_t id = (uint64_t)VEC(&r->cpu_runs, cpu_run)[i].id;
        size_t at = SEARCH_FIRST(k, 0, n, calls[k].function < id);
        if (at < n && calls[at].function == id) tie(r, &calls[at], i);
    }
    return n;
}

static void tie_in_order(reader *r, cpu_call_row *calls, size_t n_calls,
                         const waiting_run *runs, size_t n_runs) {
    size_t older = 0;
    for (size_t i = 0; i < n_calls; i++)
        while (i + older < n_runs && runs[i + older].start < calls[i].start) older++;
    for (size_t i = 0; i < n_calls && i + older < n_runs; i++)
        tie(r, &calls[i], runs[i + older].row);
}

/* Both sorted by function. */
static void tie_functions(reader *r, size_t first_call, const vec *waiting) {
    cpu_call_row *calls = VEC(&r->cpu_calls, cpu_call_row);
    const waiting_run *runs = VEC(waiting, waiting_run);
    for (size_t i = first_call, k = 0; i < r->cpu_calls.n;) {
        size_t calls_end = i, runs_end;
        uint64_t function = calls[i].function;
        while (calls_end < r->cpu_calls.n && calls[calls_end].function == function) calls_end++;
        while (k < waiting->n && runs[k].function < function) k++;
        runs_end = k;
        while (runs_end < waiting->n && runs[runs_end].function == function) runs_end++;
        tie_in_order(r, calls + i, calls_end - i, runs + k, runs_end - k);
        i = calls_end;
        k = runs_end;
    }
}

/* Runs without a call; `ahead`: as those of programs that were compiled ahead of time, whose
 * calls are inside of no function (its key is 0). */
static status list_waiting(reader *r, bool ahead, vec *out) {
    const cpu_run *all = VEC(&r->cpu_runs, cpu_run);
    out->n = 0;
    for (uint32_t i = 0; i < r->cpu_runs.n; i++) {
        if (all[i].is_tied) continue;
        waiting_run *to = vec_push(out);
        if (!to) return ERR_MEMORY;
        *to = (waiting_run){ahead ? 0 : all[i].function, all[i].start, i};
    }
    if (out->n) qsort(out->p, out->n, sizeof(waiting_run), compare_waiting);
    return OK;
}

static status map_calls(reader *r) {
    for (uint32_t i = 0; i < r->cpu_calls.n; i++) {
        const cpu_call_row *call = &VEC(&r->cpu_calls, cpu_call_row)[i];
        if (call->run == CPU_NO_RUN) continue;
        uint32_t *at = map_at(&r->cpu_call_map, call->offset);
        if (!at) return ERR_MEMORY;
        *at = i;
    }
    return OK;
}

status cpu_tie(reader *r) {
    vec waiting = VEC_INIT(waiting_run);
    if (r->cpu_calls.n)
        qsort(r->cpu_calls.p, r->cpu_calls.n, sizeof(cpu_call_row), compare_calls);
    size_t first = tie_recorded(r);
    status st = list_waiting(r, false, &waiting);
    if (st == OK) tie_functions(r, first, &waiting);
    if (st == OK) st = list_waiting(r, true, &waiting);
    if (st == OK) tie_functions(r, first, &waiting);
    vec_fini(&waiting);
    return st == OK ? map_calls(r) : st;
}

int64_t cpu_run_number(const reader *r, uint32_t run) {
    bool tied = run < r->cpu_runs.n && VEC(&r->cpu_runs, cpu_run)[run].is_tied;
    return tied ? FIRST_RUN + run : ABSENT_I64;
}

const cpu_call_row *cpu_call(const reader *r, const event *e) {
    uint32_t row = map_get(&r->cpu_call_map, e->offset);
    return row == MAP_NONE ? NULL : &VEC(&r->cpu_calls, cpu_call_row)[row];
}

bool cpu_is_work(const reader *r) {
    return r->is_cpu && stat_has(&r->set, STAT_HLO_OP) && stat_has(&r->set, STAT_RUN);
}
