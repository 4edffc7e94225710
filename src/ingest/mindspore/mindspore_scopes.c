/* mindspore_scopes.c: steps and scopes found among the operators of a run.
 *
 * Steps, when no step trace was there: the first operator (the second after InitDataSetQueue)
 * opens one, the operator before its second start closes it.
 *
 * Scopes: an operator's name is a path, each part of it a level. A level is open while
 * consecutive operators of its graph share the name of that level, at most to the end of a
 * step.
 *
 *   Default/net/conv-op1   Default/net/relu-op2   Default/loss-op3
 *   [Default                                                     ]   level 0
 *   [net                                     ]                       level 1
 *
 * With a timeline of CANN (2.7 and later, msprof), whose tasks overlap on many streams, the
 * rule is its producer's: an operator that starts while the outermost scope is still busy
 * belongs to none; a level ends when another takes its place or that of one above it, so an
 * operator of the outer scope does not end it.
 *
 * An operator runs many times: its path is taken apart once, for its name. */
#include "base/num.h"
#include "base/sort.h"
#include "ingest/mindspore/mindspore_int.h"

static const ms_exec *exec_at(const ms *m, uint32_t i) {
    return &VEC(&m->exec.rows, ms_exec)[i];
}

/* The lane whose operators tell the run's story: the device's if there is one. */
static int main_lane(const ms *m) {
    return m->n_lane[LANE_AICORE]   ? LANE_AICORE
           : m->n_lane[LANE_GPU_OP] ? LANE_GPU_OP
                                    : LANE_HOST_OP;
}

static int by_start(uint32_t a, uint32_t b, const void *context) {
    const ms_exec *x = exec_at(context, a), *y = exec_at(context, b);
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return a < b ? -1 : a > b;
}

status ms_main_ops(ms *m, ms_ops *out, error *err) {
    int lane = main_lane(m);
    int64_t last = INT64_MIN;
    bool sorted = true;
    if (m->exec.rows.n > UINT32_MAX) FAIL_MEMORY(err);
    out->n = 0;
    out->at = ARENA_ARRAY(m->arena, uint32_t, (size_t)m->n_lane[lane] + 1);
    if (!out->at) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < m->exec.rows.n; i++) {
        const ms_exec *e = exec_at(m, i);
        if (e->lane != lane) continue;
        out->at[out->n++] = i;
        sorted &= e->start >= last;
        last = e->start;
    }
    if (sorted) return OK;
    uint32_t *scratch = ARENA_ARRAY(m->arena, uint32_t, out->n);
    if (!scratch) FAIL_MEMORY(err);
    sort_index(out->at, scratch, out->n, by_start, m);
    return OK;
}

/* ---- steps ------------------------------------------------------------------------------- */

static status add_step(ms *m, int64_t number, int64_t start, int64_t end, error *err) {
    str name = arena_printf(m->arena, "Step %lld", (long long)number);
    if (!name.p) FAIL_MEMORY(err);
    ms_exec e = {.start = start,
                 .dur = max_i64(0, sub_i64(end, start)),
                 .name = ms_string(m, name),
                 .lane = LANE_STEP};
    return ms_add_exec(m, &e, err);
}

/* Names of the operators that open and close a step; false: there are none. */
static bool step_ends(const ms *m, const ms_ops *ops, uint32_t *first, uint32_t *last) {
    uint32_t at = 0, n = ops->n;
    if (n &&
        str_starts(ms_text(m, exec_at(m, ops->at[0])->name), STR("Default/InitDataSetQueue")))
        at = 1;
    if (at >= n) return false;
    *first = exec_at(m, ops->at[at])->name;
    uint32_t end = at + 1;
    while (end < n && exec_at(m, ops->at[end])->name != *first) end++;
    *last = exec_at(m, ops->at[end - 1])->name;
    return true;
}

status ms_find_steps(ms *m, const ms_ops *ops, error *err) {
    uint32_t first, last;
    if (!step_ends(m, ops, &first, &last)) return OK;
    int64_t number = 0, open = ABSENT_I64;
    for (uint32_t i = 0; i < ops->n; i++) {
        const ms_exec e = *exec_at(m, ops->at[i]);
        if (e.name == first && open == ABSENT_I64) open = e.start;
        if (e.name != last || open == ABSENT_I64) continue;
        TRY(add_step(m, ++number, open, add_i64(e.start, e.dur), err));
        open = ABSENT_I64;
    }
    return OK;
}

/* ---- scopes ------------------------------------------------------------------------------ */

enum { MOST_LEVELS = 64 };

typedef struct {
    uint32_t name; /* 0: closed */
    int64_t start;
    int64_t
        end; /* by the rule of CANN's timelines; by the other it is that of the last operator */
} open_scope;

/* The levels an operator's name leads through. */
typedef struct {
    uint32_t first; /* in scopes.parts */
    uint8_t n;
    uint8_t graph; /* number of its graph, from 1; 0: it is in none of them */
} path;

typedef struct {
    ms *m;
    uint32_t process;
    uint32_t *path_of; /* by string id: row + 1 of `paths`, 0 = not taken apart yet */
    vec paths;         /* path */
    vec parts;         /* uint32_t: string ids */
    int depth;         /* levels from here on are closed */
    int64_t end;       /* of the last operator */
    uint8_t graph;     /* what is open belongs to */
    bool layered;      /* the rule of CANN's timelines */
    open_scope level[MOST_LEVELS];
    uint32_t track[MOST_LEVELS]; /* + 1, 0 = not asked for yet */
} scopes;

/* A graph's operators alone keep its scopes open: at one time only one graph has any. */
static uint8_t graph_of(str name) {
    static const str graphs[] = {STR("Default"), STR("Gradients"), STR("recompute_Default")};
    str graph = ms_subgraph(name);
    if (str_starts(name, STR("Default/InitDataSetQueue"))) return 0;
    for (uint8_t g = 0; g < sizeof graphs / sizeof *graphs; g++)
        if (str_eq(graph, graphs[g])) return (uint8_t)(g + 1);
    return 0;
}

static bool take_apart(scopes *s, str name, path *to) {
    *to = (path){.first = (uint32_t)s->parts.n, .graph = graph_of(name)};
    if (!to->graph) return true;
    for (size_t slash; (slash = str_find(name, STR("/"), 0)) != SIZE_MAX && to->n < MOST_LEVELS;
         to->n++) {
        uint32_t *level = s->parts.n < UINT32_MAX ? vec_push(&s->parts) : NULL;
        if (!level) return false;
        *level = ms_string(s->m, str_n(name.p, slash));
        if (*level == MS_NO_STRING) return false;
        name = str_from(name, slash + 1);
    }
    return true;
}

/* The path of an operator; valid until the next call. NULL: out of memory. */
static const path *path_of(scopes *s, uint32_t name) {
    uint32_t *at = &s->path_of[name];
    if (!*at) {
        path *p = vec_push(&s->paths);
        if (!p || !take_apart(s, ms_text(s->m, name), p)) return NULL;
        *at = (uint32_t)s->paths.n;
    }
    return &VEC(&s->paths, path)[*at - 1];
}

static status end_scope(scopes *s, int level, error *err) {
    ms *m = s->m;
    open_scope *o = &s->level[level];
    if (!s->track[level]) {
        ident pid = {.v = s->process, .text = true}, tid = {.v = level};
        s->track[level] = part_track(m->part, pid, tid) + 1;
        if (!s->track[level]) FAIL_MEMORY(err);
    }
    const int64_t start = sub_i64(o->start, m->offset_ns);
    raw_slice *to = part_slice_room(m->part, s->track[level] - 1, start);
    if (!to) FAIL_MEMORY(err);
    *to = (raw_slice){.start = start,
                      .dur = max_i64(0, sub_i64(s->layered ? o->end : s->end, o->start)),
                      .name = o->name,
                      .track = s->track[level] - 1,
                      .kind = KIND_OTHER};
    o->name = 0;
    return OK;
}

static status close_from(scopes *s, int level, error *err) {
    for (int i = level; i < s->depth; i++)
        if (s->level[i].name) TRY(end_scope(s, i, err));
    if (level < s->depth) s->depth = level;
    return OK;
}

/* One operator: levels it shares go on, others end, its own begin. Levels it does not have end:
 * all that are open end with the last operator. */
static status take_scopes(scopes *s, const ms_exec *e, error *err) {
    const path *p = path_of(s, e->name);
    if (!p) FAIL_MEMORY(err);
    if (p->graph != s->graph) TRY(close_from(s, 0, err));
    s->graph = p->graph;
    const uint32_t *names = p->n ? &VEC(&s->parts, uint32_t)[p->first] : NULL;
    for (int level = 0; level < p->n; level++) {
        open_scope *o = &s->level[level];
        if (o->name == names[level]) continue;
        if (o->name) TRY(end_scope(s, level, err));
        o->name = names[level];
        o->start = e->start;
    }
    if (s->depth > p->n) TRY(close_from(s, p->n, err));
    s->depth = p->n;
    s->end = add_i64(e->start, e->dur);
    return OK;
}

/* The same by the rule of CANN's timelines: an operator inside what is open changes nothing, a
 * level that ends takes those below it along, and others stay open. */
static status take_layered(scopes *s, const ms_exec *e, error *err) {
    const path *p = path_of(s, e->name);
    if (!p) FAIL_MEMORY(err);
    if (s->level[0].name && e->start < s->level[0].end) return OK;
    if (p->graph != s->graph) TRY(close_from(s, 0, err));
    s->graph = p->graph;
    const uint32_t *names = p->n ? &VEC(&s->parts, uint32_t)[p->first] : NULL;
    int64_t end = add_i64(e->start, e->dur);
    for (int level = 0; level < p->n; level++) {
        open_scope *o = &s->level[level];
        if (o->name != names[level]) {
            TRY(close_from(s, level, err));
            *o = (open_scope){.name = names[level], .start = e->start};
        }
        o->end = end;
    }
    if (s->depth < p->n) s->depth = p->n;
    return OK;
}

static status walk_scopes(scopes *s, const ms_ops *ops, uint32_t last, error *err) {
    for (uint32_t i = 0; i < ops->n; i++) {
        const ms_exec *e = exec_at(s->m, ops->at[i]);
        TRY(s->layered ? take_layered(s, e, err) : take_scopes(s, e, err));
        if (e->name == last && !s->layered) TRY(close_from(s, 0, err));
    }
    return close_from(s, 0, err);
}

status ms_emit_scopes(ms *m, const ms_ops *ops, uint32_t process, error *err) {
    uint32_t first = 0, last = 0;
    if (m->n_lane[LANE_SCOPE] || !step_ends(m, ops, &first, &last)) return OK;
    scopes *s = ARENA_NEW(m->arena, scopes);
    uint32_t n_strings = intern_count(builder_strings(m->b));
    uint32_t *paths = ARENA_ARRAY(m->arena, uint32_t, n_strings);
    if (!s || !paths) FAIL_MEMORY(err);
    *s = (scopes){.m = m,
                  .process = process,
                  .layered = m->seen[MS_TRACE_VIEW],
                  .path_of = paths,
                  .paths = VEC_INIT(path),
                  .parts = VEC_INIT(uint32_t)};
    status st = walk_scopes(s, ops, last, err);
    vec_fini(&s->paths);
    vec_fini(&s->parts);
    return st;
}
