/* recordings.c: a folder that was recorded into several times holds several runs.
 *
 *     runs/x/vm_7.1.tacho   tacho record -o runs/x, in the morning    run x/train_…_10-02-03
 *     runs/x/vm_9.2.tacho   the same command, in the afternoon        run x/train_…_15-30-00
 *
 * Each `tacho record` gives its processes a name that is in their files. Files with one name
 * are one run. Files of different names are one run, too, where each rank was started by a
 * `tacho record` of its own (mpirun tacho record …): other ranks, at the same time. Files
 * without a name, of older versions, are one run when their times overlap.
 *
 * Files are only opened where names of files leave it open: two processes that are not ranks,
 * or one rank twice. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/num.h"
#include "base/sort.h"
#include "session/discover_int.h"
#include "session/sniff.h"

/* Files that belong together for sure: of one `tacho record`, or of one process and its
 * children. */
typedef struct {
    str run; /* empty: not known */
    int64_t start_ns, end_ns;
    bool has_ranks; /* each of its processes, children aside, is one */
    uint32_t group;
    uint32_t last; /* of its files */
} unit;

/* Units that are one run. */
typedef struct {
    str run; /* of its first unit */
    int64_t start_ns, end_ns;
    bool has_ranks;
} group;

typedef struct {
    arena *a;
    found_file *f;
    size_t n;
    uint32_t *unit_of; /* of each file; NONE: not a recording */
    uint32_t *before;  /* the file of its unit before it; NONE: it is the first */
    vec units, groups;
    map ranks; /* (group, rank) that it has */
} split;

#define NONE UINT32_MAX

/* The process that a worker belongs to: itself, or whose child it is. */
static str root_of(str worker) {
    str owner;
    while (name_role(worker, &owner) != WORKER_TRACE && owner.n) worker = owner;
    return worker;
}

/* ---- is there anything to tell apart ----------------------------------------------------- */

/* True when there is one process, or when all are ranks and no rank occurs twice. */
static bool is_one_run(const found_file *f, size_t n, map *roots) {
    uint32_t n_roots = 0, n_plain = 0;
    bool twice = false;
    for (size_t i = 0; i < n; i++) {
        if (!f[i].name.recorded) continue;
        str root = root_of(f[i].name.worker);
        int64_t rank = name_rank(root);
        uint32_t *at = map_at(roots, hash_pair(0, intern_hash(root)));
        if (!at) return true;
        if (*at != MAP_NONE) continue;
        *at = 1;
        n_roots++;
        n_plain += rank == INT64_MIN;
        at = rank == INT64_MIN ? NULL : map_at(roots, hash_pair(1, (uint64_t)rank));
        if (!at) continue;
        twice |= *at != MAP_NONE;
        *at = 1;
    }
    return n_roots < 2 || (!n_plain && !twice);
}

/* ---- units ------------------------------------------------------------------------------- */

static status find_unit(split *s, map *known, str key, unit **out, error *err) {
    uint32_t *at = map_at(known, intern_hash(key));
    if (!at) FAIL_MEMORY(err);
    if (*at == MAP_NONE) {
        unit *new = vec_push(&s->units);
        if (!new) FAIL_MEMORY(err);
        *new =
            (unit){.start_ns = INT64_MAX, .end_ns = INT64_MIN, .has_ranks = true, .last = NONE};
        *at = (uint32_t)(s->units.n - 1);
    }
    *out = &VEC(&s->units, unit)[*at];
    return OK;
}

static status look_at_file(split *s, map *known, size_t i, error *err) {
    found_file *f = &s->f[i];
    recording_origin from;
    unit *u = NULL;
    s->unit_of[i] = NONE;
    if (!f->name.recorded || !sniff_recording(f->path.p, &from)) return OK;
    int64_t start = from.start_unix_ns, end = from.end_unix_ns;
    if (start == INT64_MIN) start = name_stamp_ns(f->name.stamp);
    if (start == INT64_MIN) start = f->mtime_ns;
    if (end == INT64_MIN) end = f->mtime_ns;
    f->start_ns = start;
    str root = root_of(f->name.worker), run = arena_str(s->a, str_of(from.run));
    if (!run.p) FAIL_MEMORY(err);
    TRY(find_unit(s, known, run.n ? run : root, &u, err));
    s->unit_of[i] = (uint32_t)(u - VEC(&s->units, unit));
    s->before[i] = u->last;
    u->last = (uint32_t)i;
    u->run = run;
    u->start_ns = min_i64(u->start_ns, start);
    u->end_ns = max_i64(u->end_ns, max_i64(start, end));
    u->has_ranks &= name_rank(root) != INT64_MIN;
    return OK;
}

/* ---- groups ------------------------------------------------------------------------------ */

static uint64_t rank_key(uint32_t g, const found_file *f) {
    return hash_pair(g, (uint64_t)name_rank(root_of(f->name.worker)));
}

static bool shares_rank(const split *s, const unit *u, uint32_t g) {
    for (uint32_t i = u->last; i != NONE; i = s->before[i])
        if (map_get(&s->ranks, rank_key(g, &s->f[i])) != MAP_NONE) return true;
    return false;
}

static bool fits(const split *s, const unit *new, uint32_t g) {
    const group *old = &VEC(&s->groups, group)[g];
    if (new->start_ns > old->end_ns || old->start_ns > new->end_ns) return false;
    if (!new->has_ranks || !old->has_ranks) return !new->run.n && !old->run.n;
    return (new->run.n != 0) == (old->run.n != 0) && !shares_rank(s, new, g);
}

static status join(split *s, unit *new, error *err) {
    uint32_t g = (uint32_t)s->groups.n;
    while (g > 0 && !fits(s, new, g - 1)) g--;
    if (g == 0) {
        group *added = vec_push(&s->groups);
        if (!added) FAIL_MEMORY(err);
        *added = (group){new->run, new->start_ns, new->end_ns, new->has_ranks};
        g = (uint32_t)s->groups.n;
    }
    new->group = --g;
    group *to = &VEC(&s->groups, group)[g];
    to->end_ns = max_i64(to->end_ns, new->end_ns);
    to->has_ranks &= new->has_ranks;
    for (uint32_t i = new->last; i != NONE; i = s->before[i]) {
        uint32_t *at = map_at(&s->ranks, rank_key(g, &s->f[i]));
        if (!at) FAIL_MEMORY(err);
        *at = 1;
    }
    return OK;
}

static int compare_starts(uint32_t a, uint32_t b, const void *units) {
    const unit *u = units;
    int64_t x = u[a].start_ns, y = u[b].start_ns;
    return x < y ? -1 : x > y;
}

static status make_groups(split *s, error *err) {
    size_t n = s->units.n;
    uint32_t *order = ARENA_ARRAY(s->a, uint32_t, n + 1);
    uint32_t *scratch = ARENA_ARRAY(s->a, uint32_t, n + 1);
    if (!order || !scratch) FAIL_MEMORY(err);
    for (size_t i = 0; i < n; i++) order[i] = (uint32_t)i;
    sort_index(order, scratch, n, compare_starts, s->units.p);
    for (size_t i = 0; i < n; i++) TRY(join(s, &VEC(&s->units, unit)[order[i]], err));
    return OK;
}

/* ---- names ------------------------------------------------------------------------------- */

/* NAME of NAME.NUMBER; without one the time at which it began, as people here know it. */
static status name_group(split *s, uint32_t g, str *out, error *err) {
    const group *of = &VEC(&s->groups, group)[g];
    char text[CLOCK_DATE_BYTES] = "recording";
    size_t dot = str_rfind_byte(of->run, '.');
    (void)clock_date(of->start_ns, "%Y-%m-%d_%H-%M-%S", text);
    *out = !of->run.n                   ? arena_str(s->a, str_of(text))
           : dot != SIZE_MAX && dot > 0 ? arena_str(s->a, str_n(of->run.p, dot))
                                        : of->run;
    if (!out->p) FAIL_MEMORY(err);
    char *bytes = (char *)(uintptr_t)out->p; /* the arena's own copy */
    for (size_t i = 0; i < out->n && bytes; i++)
        if (bytes[i] == '/' || bytes[i] < ' ') bytes[i] = '_';
    return OK;
}

static status name_groups(split *s, str *names, error *err) {
    for (uint32_t g = 0; g < s->groups.n; g++) {
        uint32_t n_same = 0;
        TRY(name_group(s, g, &names[g], err));
        for (uint32_t i = 0; i < g; i++) n_same += str_starts(names[i], names[g]);
        if (n_same) names[g] = arena_printf(s->a, "%.*s_%u", STR_ARG(names[g]), n_same + 1);
        if (!names[g].p) FAIL_MEMORY(err);
    }
    return OK;
}

static status rename_runs(split *s, error *err) {
    str *names = ARENA_ARRAY(s->a, str, s->groups.n + 1);
    if (!names) FAIL_MEMORY(err);
    TRY(name_groups(s, names, err));
    for (size_t i = 0; i < s->n; i++) {
        found_file *f = &s->f[i];
        if (s->unit_of[i] == NONE) continue;
        str own = names[VEC(&s->units, unit)[s->unit_of[i]].group];
        f->run_name = arena_printf(s->a, "%.*s/%.*s", STR_ARG(f->run_name), STR_ARG(own));
        if (!f->run_name.p) FAIL_MEMORY(err);
    }
    return OK;
}

/* ---- one folder -------------------------------------------------------------------------- */

static status split_run(arena *a, found_file *f, size_t n, error *err) {
    split s = {.a = a, .f = f, .n = n, .units = VEC_INIT(unit), .groups = VEC_INIT(group)};
    map known = {0};
    s.unit_of = ARENA_ARRAY(a, uint32_t, n);
    s.before = ARENA_ARRAY(a, uint32_t, n);
    if (!s.unit_of || !s.before) FAIL_MEMORY(err);
    status st = OK;
    for (size_t i = 0; i < n && st == OK; i++) st = look_at_file(&s, &known, i, err);
    if (st == OK) st = make_groups(&s, err);
    if (st == OK && s.groups.n > 1) st = rename_runs(&s, err);
    map_fini(&known);
    map_fini(&s.ranks);
    vec_fini(&s.units);
    vec_fini(&s.groups);
    return st;
}

status recordings_split(arena *a, found_file *f, size_t n, error *err) {
    for (size_t from = 0, end; from < n; from = end) {
        map roots = {0};
        for (end = from + 1; end < n && str_eq(f[end].run_path, f[from].run_path); end++) {}
        bool is_one = is_one_run(f + from, end - from, &roots);
        map_fini(&roots);
        if (!is_one) TRY(split_run(a, f + from, end - from, err));
    }
    return OK;
}
