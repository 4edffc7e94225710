/* breakdown.c: what each moment of a step was spent on.
 *
 * The ranges of each role are united over all threads, streams and devices. Then the steps'
 * moments are dealt out by priority: a role takes its intersection with what is left, the rest
 * is passed to the next, and what no role takes is `other`. The original tool deals out
 * everything again when nothing is left; here an empty rest stays empty.
 *
 * A user's own ranges (record_function) and Python frames are not work: they say what the
 * host was about, not that it was busy, and a range around the whole loop would hide every
 * gap. */
#include "analyse/device/breakdown.h"

#include "analyse/comm/comm_kind.h"
#include "analyse/device/exposed.h"
#include "base/bisect.h"
#include "base/div128.h"
#include "base/num.h"
#include "store/traits.h"

static const char *const names[N_ROLES] = {
    [ROLE_KERNEL] = "kernel",     [ROLE_MEMCPY] = "memcpy",
    [ROLE_MEMSET] = "memset",     [ROLE_COMMUNICATION] = "communication",
    [ROLE_RUNTIME] = "runtime",   [ROLE_DATA_LOADER] = "data_loader",
    [ROLE_CPU_EXEC] = "cpu_exec", [ROLE_OTHER] = "other",
};

str role_name(role r) {
    return str_of(names[r]);
}

/* Role of the host kinds; 0 = none (no host kind is a kernel). */
static const uint8_t host_role[N_KINDS] = {
    [KIND_OP] = ROLE_CPU_EXEC,       [KIND_FORWARD] = ROLE_CPU_EXEC,
    [KIND_BACKWARD] = ROLE_CPU_EXEC, [KIND_OPTIMIZER] = ROLE_CPU_EXEC,
    [KIND_DATA] = ROLE_DATA_LOADER,  [KIND_RUNTIME] = ROLE_RUNTIME,
    [KIND_DRIVER] = ROLE_RUNTIME,    [KIND_COLLECTIVE] = ROLE_COMMUNICATION,
};

/* A range around the forward pass, the backward pass or the optimizer is not work by itself:
 * where our own recorder tells the operators, what they leave is waiting. Other producers'
 * ranges are all some of them have. */
static bool is_only_around(const trace *t, uint8_t kind) {
    bool is_stage = kind == KIND_FORWARD || kind == KIND_BACKWARD || kind == KIND_OPTIMIZER;
    return is_stage && t->kind_count[KIND_OP] && steps_are_ours(t);
}

/* The role of a slice on the host; 0 = none. */
static uint8_t role_on_host(const trace *t, comm_names *comm, uint32_t i) {
    uint8_t kind = t->slice.kind[i], r = host_role[kind];
    if (is_only_around(t, kind)) return 0;
    if (kind == KIND_FRAMEWORK && trace_has(t, TRAIT_HOST_RANGES)) return ROLE_CPU_EXEC;
    if (!r && kind != KIND_ANNOTATION) return 0;
    if ((kind == KIND_OP || kind == KIND_ANNOTATION) && comm_host_id(comm, t->slice.name[i]))
        r = ROLE_COMMUNICATION;
    if (r == ROLE_COMMUNICATION && comm_is_call(comm, i))
        r = kind == KIND_OP ? ROLE_CPU_EXEC : 0;
    return r;
}

static role role_on_device(const trace *t, comm_names *comm, uint32_t k) {
    uint8_t kind = t->slice.kind[t->kernel.slice[k]];
    return kind == KIND_MEMCPY        ? ROLE_MEMCPY
           : kind == KIND_MEMSET      ? ROLE_MEMSET
           : comm_kernel_row(comm, k) ? ROLE_COMMUNICATION
                                      : ROLE_KERNEL;
}

static void add_host(const trace *t, comm_names *comm, interval window, role_ranges *out) {
    for (uint32_t i = 1; i < t->slice.n; i++) {
        uint8_t r = role_on_host(t, comm, i);
        if (!r) continue;
        int64_t start = max_i64(t->slice.start[i], window.start);
        int64_t end = r == ROLE_COMMUNICATION ? comm_host_end(comm, i) : slice_end(t, i);
        intervals_add(&out->at[r], start, min_i64(end, window.end));
    }
}

static void add_device(const trace *t, comm_names *comm, interval window, role_ranges *out) {
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t i = t->kernel.slice[k];
        role r = role_on_device(t, comm, k);
        int64_t start = max_i64(t->slice.start[i], window.start);
        intervals_add(&out->at[r], start, min_i64(slice_end(t, i), window.end));
        intervals_add(&out->device, start, min_i64(slice_end(t, i), window.end));
    }
}

status role_ranges_make(const trace *t, interval window, arena *a, role_ranges *out,
                        error *err) {
    comm_names comm;
    TRY(comm_names_init(&comm, t, a, err));
    role_ranges made;
    for (int r = 0; r < N_ROLES; r++) made.at[r] = intervals_in(a);
    made.device = intervals_in(a);
    add_host(t, &comm, window, &made);
    add_device(t, &comm, window, &made);
    for (int r = 0; r < N_ROLES; r++) {
        intervals_merge(&made.at[r]);
        if (made.at[r].failed) FAIL_MEMORY(err);
    }
    intervals_merge(&made.device);
    TRY(exposed_find(&comm, window, &made, a, err));
    if (made.device.failed || made.exposed.failed) FAIL_MEMORY(err);
    *out = made;
    return OK;
}

intervals step_moments(const step_spans *steps, arena *a) {
    intervals all = intervals_in(a);
    for (uint32_t i = 0; i < steps->n; i++)
        intervals_add(&all, steps->v[i].start, steps->v[i].end);
    intervals_merge(&all);
    return all;
}

status breakdown_make(const role_ranges *ranges, const step_spans *steps, arena *a,
                      step_parts **out, error *err) {
    step_parts *parts = ARENA_ARRAY(a, step_parts, (size_t)steps->n + 1);
    intervals left = step_moments(steps, a);
    if (!parts) FAIL_MEMORY(err);
    for (int r = 0; r < N_ROLES; r++) {
        intervals own = r == ROLE_OTHER ? left : intervals_and(&left, &ranges->at[r]);
        if (own.failed) FAIL_MEMORY(err);
        for (uint32_t i = 0; i < steps->n; i++)
            parts[i].ns[r] = intervals_ns_in(&own, steps->v[i].start, steps->v[i].end);
        if (r == ROLE_OTHER) break;
        intervals_cut(&left, &own);
        intervals_drop(&own);
    }
    *out = parts;
    return OK;
}

/* ---- where a role costs most ------------------------------------------------------------- */

/* The moments that count as one role's, with the sum of the lengths before each range: their
 * part inside a slice takes two searches, whatever its length. */
typedef struct {
    intervals at;
    int64_t *before;
} role_time;

static status role_time_make(const intervals *at, arena *a, role_time *out, error *err) {
    out->at = *at;
    out->before = ARENA_ARRAY(a, int64_t, at->n + 1);
    if (at->failed || !out->before) FAIL_MEMORY(err);
    for (size_t i = 0; i < at->n; i++)
        out->before[i + 1] = add_i64(out->before[i], sub_i64(at->v[i].end, at->v[i].start));
    return OK;
}

/* Length of the part before a time. */
static int64_t role_time_until(const role_time *r, int64_t time) {
    size_t i = SEARCH_FIRST(k, 0, r->at.n, r->at.v[k].start < time);
    if (!i) return 0;
    const interval *last = &r->at.v[i - 1];
    return add_i64(r->before[i - 1], sub_i64(min_i64(time, last->end), last->start));
}

/* The slice with most of its role's time; of those with as much the shortest. */
static void note_slice(const trace *t, const role_time *r, uint32_t slice, role_place *place) {
    int64_t own = sub_i64(role_time_until(r, slice_end(t, slice)),
                          role_time_until(r, t->slice.start[slice]));
    if (own <= 0 || own < place->own_ns) return;
    if (own == place->own_ns && t->slice.dur[slice] >= t->slice.dur[place->slice]) return;
    *place = (role_place){
        .range = {t->slice.start[slice], slice_end(t, slice)}, .own_ns = own, .slice = slice};
}

/* What nothing fills has no slice: its longest stretch. */
static role_place longest_stretch(const intervals *s) {
    role_place longest = {.slice = 0};
    for (size_t i = 0; i < s->n; i++) {
        int64_t ns = sub_i64(s->v[i].end, s->v[i].start);
        if (ns > longest.own_ns) longest = (role_place){.range = s->v[i], .own_ns = ns};
    }
    return longest;
}

status breakdown_places(const trace *t, const role_ranges *ranges, const step_spans *steps,
                        arena *a, role_place out[N_ROLES], error *err) {
    comm_names comm;
    role_time time[N_ROLES];
    intervals left = step_moments(steps, a);
    TRY(comm_names_init(&comm, t, a, err));
    for (int r = 0; r < N_ROLES; r++) {
        intervals own = r == ROLE_OTHER ? left : intervals_and(&left, &ranges->at[r]);
        TRY(role_time_make(&own, a, &time[r], err));
        out[r] = (role_place){.slice = 0};
        if (r != ROLE_OTHER) left = intervals_minus(&left, &own);
    }
    for (uint32_t i = 1; i < t->slice.n; i++) {
        uint8_t r = role_on_host(t, &comm, i);
        if (r) note_slice(t, &time[r], i, &out[r]);
    }
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        role r = role_on_device(t, &comm, k);
        note_slice(t, &time[r], t->kernel.slice[k], &out[r]);
    }
    out[ROLE_OTHER] = longest_stretch(&left);
    return OK;
}

void mean_parts(const int64_t *parts, int64_t n, int64_t *out, size_t n_parts) {
    for (size_t i = 0; i < n_parts; i++) out[i] = mean_i64(parts[i], n);
}

enum { UNITS = 1000000000, MAX_PARTS = 16 };

/* Rounded toward zero, with the remainder. */
static int64_t share_units(int64_t part, int64_t sum, __int128 *rest) {
    uint64_t left;
    unsigned __int128 units =
        div_u128((unsigned __int128)abs_u64(part) * UNITS, abs_u64(sum), &left);
    int64_t whole = units > INT64_MAX ? INT64_MAX : (int64_t)units;
    *rest = part < 0 ? -(__int128)left : (__int128)left;
    return (part < 0) != (sum < 0) ? -whole : whole;
}

void share_parts(const int64_t *parts, double *out, size_t n_parts) {
    int64_t units[MAX_PARTS], sum = 0, left = UNITS;
    __int128 rest[MAX_PARTS];
    if (n_parts > MAX_PARTS) BUG("more shares than a table has rows for");
    for (size_t i = 0; i < n_parts; i++) sum = add_i64(sum, parts[i]);
    for (size_t i = 0; i < n_parts; i++) {
        rest[i] = 0;
        units[i] = sum ? share_units(parts[i], sum, &rest[i]) : 0;
        left = sub_i64(left, units[i]);
    }
    /* At most one for each part, but for numbers of an enemy. */
    for (size_t given = 0; sum && left > 0 && given < n_parts; given++, left--) {
        size_t best = 0;
        for (size_t i = 1; i < n_parts; i++)
            if (rest[i] > rest[best]) best = i;
        units[best]++;
        rest[best] = -1;
    }
    for (size_t i = 0; i < n_parts; i++) out[i] = (double)units[i] / UNITS;
}
