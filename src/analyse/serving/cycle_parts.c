/* cycle_parts.c: sweeps sets of intervals, each without those before it, over the iterations.
 *
 * Device work belongs to sampling by where it was launched: the ranges of each host thread are
 * one set, and the start of a launch is looked up in that of its thread. */
#include "analyse/serving/cycle_parts.h"

#include "analyse/device/breakdown.h"

str cycle_part_name(cycle_part part) {
    static const str names[N_CYCLE_PARTS] = {[PART_SCHEDULER] = STR("scheduler"),
                                             [PART_SAMPLING] = STR("sampling"),
                                             [PART_COMPUTE] = STR("compute"),
                                             [PART_COMMUNICATION] = STR("communication"),
                                             [PART_COPIES] = STR("copies"),
                                             [PART_LAUNCH] = STR("launch"),
                                             [PART_IDLE] = STR("idle")};
    return names[part];
}

bool is_sampling_name(str name) {
    static const char *const words[] = {"sampler", "sampling", "sample_", "multinomial",
                                        "argmax"};
    static const char *const others[] = {"upsampl",  "downsampl",  "resampl",
                                         "subsampl", "grid_sampl", "oversampl"};
    bool is = str_has_any_nocase(name, words, N_OF(words)) ||
              str_eq_nocase(name, STR("sample")) || str_ends(name, STR(": sample"));
    return is && !str_has_any_nocase(name, others, N_OF(others));
}

/* ---- sampling ---------------------------------------------------------------------------- */

typedef struct {
    intervals *of_track; /* by row of table track */
    intervals host;      /* of all threads */
} sampling;

/* Outermost ranges of a thread whose names say it. */
static void find_on_track(const trace *t, uint32_t track, const bool *named, sampling *s) {
    int64_t until = INT64_MIN;
    for (uint32_t i = t->track.first[track]; i < t->track.end[track]; i++) {
        if (!named[t->slice.name[i]] || t->slice.start[i] < until) continue;
        until = slice_end(t, i);
        intervals_add(&s->of_track[track], t->slice.start[i], until);
        intervals_add(&s->host, t->slice.start[i], until);
    }
}

static status find_sampling(const trace *t, arena *a, sampling *s, error *err) {
    bool *named = ARENA_ARRAY(a, bool, (size_t)t->n_strings + 1);
    s->of_track = ARENA_ARRAY(a, intervals, (size_t)t->track.n + 1);
    s->host = intervals_in(a);
    if (!named || !s->of_track) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->n_strings; i++) named[i] = is_sampling_name(trace_str(t, i));
    for (uint32_t k = 1; k < t->track.n; k++) {
        s->of_track[k] = intervals_in(a);
        if (t->track.kind[k] == TRACK_THREAD) find_on_track(t, k, named, s);
        intervals_merge(&s->of_track[k]);
        if (s->of_track[k].failed) FAIL_MEMORY(err);
    }
    intervals_merge(&s->host);
    if (s->host.failed) FAIL_MEMORY(err);
    return OK;
}

/* When the device works on what was launched while sampling. */
static intervals sampled_work(const trace *t, const sampling *s, arena *a) {
    intervals at = intervals_in(a);
    for (uint32_t i = 1; i < t->kernel.n && s->host.n; i++) {
        uint32_t slice = t->kernel.slice[i], launch = t->kernel.launch[i];
        uint32_t track = launch ? trace_track_of(t, launch) : 0;
        if (!track) continue;
        int64_t start = t->slice.start[launch];
        if (intervals_ns_in(&s->of_track[track], start, add_i64(start, 1)))
            intervals_add(&at, t->slice.start[slice], slice_end(t, slice));
    }
    intervals_merge(&at);
    return at;
}

/* ---- parts ------------------------------------------------------------------------------- */

static intervals both(const intervals *a, const intervals *b) {
    intervals all = intervals_in(a->arena);
    for (size_t i = 0; i < a->n; i++) intervals_add(&all, a->v[i].start, a->v[i].end);
    for (size_t i = 0; i < b->n; i++) intervals_add(&all, b->v[i].start, b->v[i].end);
    intervals_merge(&all);
    all.failed |= a->failed || b->failed;
    return all;
}

/* Each set without those before it. */
static bool separate(intervals *sets, arena *a) {
    intervals seen = intervals_in(a);
    for (int p = PART_SAMPLING; p < PART_IDLE; p++) {
        sets[p] = intervals_minus(&sets[p], &seen);
        seen = both(&seen, &sets[p]);
        if (sets[p].failed || seen.failed) return false;
    }
    return true;
}

static status find_sets(const trace *t, arena *a, intervals *sets, error *err) {
    role_ranges r;
    sampling s;
    TRY(role_ranges_make(t, (interval){INT64_MIN, INT64_MAX}, a, &r, err));
    TRY(find_sampling(t, a, &s, err));
    bool device = t->kernel.n > 1;
    intervals host = both(&r.at[ROLE_CPU_EXEC], &r.at[ROLE_RUNTIME]);
    for (int p = 0; p < N_CYCLE_PARTS; p++) sets[p] = intervals_in(a);
    sets[PART_SAMPLING] = device ? sampled_work(t, &s, a) : s.host;
    sets[PART_COMPUTE] = device ? r.at[ROLE_KERNEL] : host;
    sets[PART_COMMUNICATION] = r.at[ROLE_COMMUNICATION];
    sets[PART_COPIES] = both(&r.at[ROLE_MEMCPY], &r.at[ROLE_MEMSET]);
    if (device) sets[PART_LAUNCH] = host;
    if (!separate(sets, a)) FAIL_MEMORY(err);
    return OK;
}

status cycles_make(const trace *t, const served *s, arena *a, cycle **out, error *err) {
    intervals sets[N_CYCLE_PARTS];
    cycle *all = ARENA_ARRAY(a, cycle, (size_t)s->n + 1);
    if (!all) FAIL_MEMORY(err);
    TRY(find_sets(t, a, sets, err));
    for (uint32_t i = 0; i < s->n; i++) {
        const served_iteration *one = &s->v[i];
        int64_t left = served_ns(one);
        all[i].ns[PART_SCHEDULER] = one->gap;
        for (int p = PART_SAMPLING; p < PART_IDLE; p++) {
            all[i].ns[p] = intervals_ns_in(&sets[p], one->start, one->end);
            left = sub_i64(left, all[i].ns[p]);
        }
        all[i].ns[PART_IDLE] = left;
    }
    *out = all;
    return OK;
}
