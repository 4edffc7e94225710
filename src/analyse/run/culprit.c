/* culprit.c: the rank that costs the job most, by what; see culprit.h. */
#include "analyse/run/culprit.h"

#include "analyse/steps/stages.h"
#include "base/message_ids_advice.h"
#include "base/sort.h"

#define LEAST_COST 0.02  /* of the step */
#define LEAST_SHARE 0.4  /* of what all late ranks cost */
#define OFTEN 0.2        /* of its steps */
#define PLACE_SHARE 0.35 /* of what it is late */

typedef struct {
    const summary *s;
    const worker_order *who;
    const stragglers *late;
    int64_t *steps;    /* by worker */
    int64_t step_ns;   /* mean of all workers */
    int64_t *cost;     /* by worker: of the steps in which it is the latest */
    sort_pair *values; /* of the other workers, for a median */
} finding;

/* ---- who is accused ---------------------------------------------------------------------- */

static void count_steps(finding *f) {
    int64_t all = 0;
    for (uint32_t i = 0; i < f->late->n_cells; i++) {
        f->steps[f->late->cells[i].worker]++;
        all = add_i64(all, f->late->cells[i].total);
    }
    f->step_ns = mean_i64(all, f->late->n_cells);
    for (uint32_t i = 0; i < f->late->n_steps; i++) {
        const job_step *s = &f->late->steps[i];
        if (s->who != UINT32_MAX) f->cost[s->who] = add_i64(f->cost[s->who], s->cost);
    }
}

/* One late step is not a habit, but can be a large part of the run. */
static bool is_accused(const finding *f, const straggler *r, int64_t cost, int64_t whole) {
    int64_t steps = f->steps[r->worker];
    double own = (double)f->cost[r->worker];
    bool often = (double)r->steps >= OFTEN * (double)steps && (r->steps > 1 || steps == 1);
    bool much = own >= 0.1 * (double)whole;
    return (often || much) && own >= LEAST_COST * (double)whole &&
           own >= LEAST_SHARE * (double)cost;
}

bool culprit_includes(const culprit *c, const straggler *r) {
    return c->rank && (r == c->rank || (r->steps > 1 && r->late >= c->least_ns));
}

static void choose(const finding *f, culprit *out) {
    const stragglers *late = f->late;
    int64_t cost = 0, whole = 0, most = 0;
    for (uint32_t i = 0; i < late->n_steps; i++) {
        cost = add_i64(cost, late->steps[i].cost);
        whole = add_i64(whole, late->steps[i].total);
    }
    out->n_steps = late->n_steps;
    out->cost_ns = mean_i64(cost, late->n_steps);
    out->step_ns = f->step_ns;
    for (uint32_t i = 0; i < late->n_ranks; i++) {
        const straggler *r = &late->ranks[i];
        if (!is_accused(f, r, cost, whole) || r->late <= most) continue;
        most = r->late;
        out->rank = r;
    }
    out->least_ns = real_i64(LEAST_COST * (double)whole);
    for (uint32_t i = 0; i < late->n_ranks && out->rank; i++) {
        const straggler *r = &late->ranks[i];
        if (r == out->rank || (out->next && r->late <= out->next->late)) continue;
        if (culprit_includes(out, r)) out->next = r;
    }
    if (out->rank) out->after_ns = sub_i64(cost, min_i64(cost, out->rank->cost));
    out->after_ns = mean_i64(out->after_ns, late->n_steps);
}

/* ---- by what ----------------------------------------------------------------------------- */

static bool same_text_place(const summary_own *a, const summary_own *b) {
    return a->kind == b->kind && a->stage == b->stage && str_eq(a->name, b->name) &&
           str_eq(a->inner, b->inner);
}

/* The places of a trace are those of all its steps, whichever are asked about. */
static int64_t per_step(const summary_own *p) {
    return p->steps > 0 ? mean_i64(p->ns, p->steps) : 0;
}

/* Time in the same place on the median of the other ranks; `like` is where it is longest. */
static int64_t median_elsewhere(const finding *f, const summary_own *p, uint32_t worker,
                                const summary_own **like) {
    const summary_own *v = SUMMARY_ROWS(f->s, own);
    uint32_t n = 0, at = 0;
    for (uint32_t w = 0; w < f->who->n; w++)
        if (w != worker && f->steps[w]) f->values[n++] = (sort_pair){0, 0};
    for (uint32_t i = 0; i < SUMMARY_N(f->s, own); i++) {
        if (!same_text_place(&v[i], p)) continue;
        uint32_t w = worker_order_find(f->who, v[i].worker);
        if (w == UINT32_MAX || w == worker) continue;
        if (at < n) f->values[at++].key = (uint64_t)max_i64(0, per_step(&v[i]));
        if (!*like || v[i].ns > (*like)->ns) *like = &v[i];
    }
    if (!n) return 0;
    sort_radix(f->values, f->values + n, n);
    return sat_i64(f->values[(n - 1) / 2].key);
}

typedef struct {
    const summary_own *place, *like;
    int64_t ns, usual, excess;     /* of the place */
    int64_t longer, gaps;          /* sums of what all places exceed, gaps alone */
    int64_t here, elsewhere;       /* all places that are on both */
    uint32_t n_longer, n_compared; /* places of some length */
    bool other_inputs;             /* an operator has other shapes here */
} excess;

/* A twentieth of a step is long enough to compare. */
static bool is_long(const culprit *c, int64_t ns) {
    return ns >= c->step_ns / 20;
}

/* A file that was made by hand may have more places than we write. */
static excess find_excess(const finding *f, const culprit *c) {
    uint32_t worker = c->rank->worker, n_places = 0;
    const summary_own *v = SUMMARY_ROWS(f->s, own);
    excess e = {.place = NULL};
    for (uint32_t i = 0; i < SUMMARY_N(f->s, own) && n_places < OWN_MOST_PLACES; i++) {
        const summary_own *like = NULL;
        if (worker_order_find(f->who, v[i].worker) != worker) continue;
        n_places++;
        int64_t ns = per_step(&v[i]), usual = median_elsewhere(f, &v[i], worker, &like),
                over = sub_i64(ns, usual);
        if (is_long(c, usual)) {
            e.here = add_i64(e.here, ns);
            e.elsewhere = add_i64(e.elsewhere, usual);
            e.n_compared++;
            e.n_longer += (double)ns > 1.15 * (double)usual;
            e.other_inputs |= like && v[i].shapes.n && !str_eq(v[i].shapes, like->shapes);
        }
        if (over > 0) e.longer = add_i64(e.longer, over);
        if (over > 0 && v[i].kind == OWN_GAP) e.gaps = add_i64(e.gaps, over);
        if (over <= e.excess) continue;
        e.excess = over;
        e.place = &v[i];
        e.like = like;
        e.ns = ns;
        e.usual = usual;
    }
    return e;
}

/* The outermost function around the place that no other rank spends time below: what this one
 * does and they do not. */
static str find_caller(const finding *f, const summary_own *place) {
    const summary_own *v = SUMMARY_ROWS(f->s, own);
    str rest = place->inner, one;
    for (int n = 0; rest.n && n < OWN_MOST_FRAMES; rest = str_from(rest, one.n + 1), n++) {
        size_t end = str_find(rest, STR("\n"), 0);
        one = str_n(rest.p, end == SIZE_MAX ? rest.n : end);
        bool elsewhere = false;
        for (uint32_t i = 0; i < SUMMARY_N(f->s, own) && !elsewhere; i++)
            elsewhere = v[i].kind == OWN_FRAME && !str_eq(v[i].worker, place->worker) &&
                        str_find(v[i].inner, one, 0) != SIZE_MAX;
        if (!elsewhere) return str_eq(one, place->name) ? STR("") : one;
    }
    return STR("");
}

/* All that takes long takes longer, with the same inputs, and no single place explains it. */
static bool is_slower(const excess *e, int64_t late) {
    if (e->n_compared < 2 || e->n_longer < e->n_compared || e->other_inputs) return false;
    return (double)sub_i64(e->here, e->elsewhere) >= 0.6 * (double)late &&
           (double)e->excess < 0.8 * (double)late;
}

static void find_place(const finding *f, culprit *out) {
    excess e = find_excess(f, out);
    int64_t late = mean_i64(out->rank->late, f->steps[out->rank->worker]);
    if (!e.place || e.longer <= 0) return;
    if (is_slower(&e, late)) {
        out->slower = (double)e.here / (double)e.elsewhere;
        out->slower_gaps = (double)e.gaps >= 0.8 * (double)e.longer;
        out->slower_kernels = e.place->kind == OWN_KERNEL;
        return;
    }
    if ((double)e.excess < PLACE_SHARE * (double)late) return;
    out->place = e.place;
    out->caller = e.place->kind == OWN_FRAME ? find_caller(f, e.place) : STR("");
    /* The state of a model is detached from autograd before it is written. */
    out->saves = e.place->kind == OWN_GAP && e.place->stage == STAGE_OTHER &&
                 str_eq(e.place->name, STR("aten::detach"));
    out->place_ns = e.ns;
    out->usual_ns = e.usual;
    if (e.like && e.place->shapes.n && e.like->shapes.n &&
        !str_eq(e.like->shapes, e.place->shapes))
        out->shapes = e.like->shapes;
}

/* ---- since when -------------------------------------------------------------------------- */

#define STEADY 0.75 /* of the steps from its first to its last late one */

/* Late from a step on, or up to a step, when it was not before or is no longer: at least three
 * steps say so, and a fifth of them. */
static void find_when(const finding *f, culprit *out) {
    const straggler *r = out->rank;
    uint32_t n = f->late->n_steps, after = n - 1 - r->last;
    uint32_t enough = n / 5 > 3 ? n / 5 : 3;
    bool steady =
        r->steps >= 3 && (double)r->steps >= STEADY * (double)(r->last - r->first + 1);
    if (r->before > r->late / 2) out->before_ns = r->before;
    if (!steady || out->before_ns) return;
    if (r->first >= enough) out->since = &f->late->steps[r->first];
    if (after >= enough) out->until = &f->late->steps[r->last];
}

static status begin(finding *f, arena *a, error *err) {
    size_t n = (size_t)f->who->n + 1;
    f->steps = ARENA_ARRAY(a, int64_t, n);
    f->cost = ARENA_ARRAY(a, int64_t, n);
    f->values = ARENA_ARRAY(a, sort_pair, 2 * n);
    if (!f->steps || !f->cost || !f->values) FAIL_MEMORY(err);
    count_steps(f);
    return OK;
}

static void explain(const finding *f, culprit *out) {
    find_when(f, out);
    if (!out->before_ns) find_place(f, out);
}

status culprit_find(const summary *s, const worker_order *who, const stragglers *late, arena *a,
                    culprit *out, error *err) {
    finding f = {.s = s, .who = who, .late = late};
    *out = (culprit){.rank = NULL};
    TRY(begin(&f, a, err));
    choose(&f, out);
    if (out->rank) explain(&f, out);
    return OK;
}

status culprit_look(const summary *s, const worker_order *who, const stragglers *late,
                    const culprit *first, const straggler *r, arena *a, culprit *out,
                    error *err) {
    finding f = {.s = s, .who = who, .late = late};
    *out = (culprit){.rank = r, .n_steps = first->n_steps, .step_ns = first->step_ns};
    TRY(begin(&f, a, err));
    explain(&f, out);
    return OK;
}

/* ---- in words ---------------------------------------------------------------------------- */

static void describe_place(const culprit *c, verdict *v) {
    static const char *const stages[N_STAGES] = {"loading", "forward", "backward", "optimizer",
                                                 "between"};
    static const char *const kinds[N_OWN] = {"operator", "frame", "data", "gap", "kernel"};
    const summary_own *p = c->place;
    if (p->kind < 0 || p->kind >= N_OWN || p->stage < 0 || p->stage >= N_STAGES) return;
    bool is_named = p->kind != OWN_DATA && p->kind != OWN_GAP;
    verdict_add(v, is_named ? arg_text(kinds[p->kind], p->name) : arg_int(kinds[p->kind], 1));
    if (p->kind == OWN_GAP && p->name.n) verdict_add(v, arg_text("at", p->name));
    if (p->kind != OWN_DATA && p->kind != OWN_KERNEL)
        verdict_add(v, arg_int(stages[p->stage], 1));
    if (c->saves) verdict_add(v, arg_int("saves", 1));
    if (c->caller.n) verdict_add(v, arg_text("caller", c->caller));
    verdict_add(v, arg_time("own", c->place_ns));
    verdict_add(v, arg_time("usual", c->usual_ns));
    if (!c->shapes.n) return;
    verdict_add(v, arg_text("inputs", p->shapes));
    verdict_add(v, arg_text("others_inputs", c->shapes));
}

static arg name_of(const worker_order *who, const straggler *r, const char *as) {
    const summary_worker *w = who->v[r->worker];
    return w->rank != ABSENT_I64 ? arg_id(as, w->rank) : arg_text(as, w->name);
}

void culprit_describe(const culprit *c, const worker_order *who, verdict *v) {
    verdict_add(v, name_of(who, c->rank, "rank"));
    verdict_add(v, arg_text("worker", who->v[c->rank->worker]->name));
    verdict_add(v, arg_words("place", MSG_CULPRIT_PLACE));
    verdict_add(v, arg_time("cost", c->cost_ns));
    verdict_add(v, arg_time("step_time", c->step_ns));
    bool same_work = c->slower > 1 && !c->slower_kernels;
    verdict_add(v, arg_text("cause", late_name(same_work ? LATE_HOST : c->rank->cause)));
    if (c->before_ns) {
        verdict_add(v, arg_time("begins_late", c->before_ns));
    } else if (c->since || c->until || c->rank->steps < (c->n_steps + 1) / 2) {
        verdict_add(v, arg_int("late_steps", c->rank->steps));
        verdict_add(v, arg_int("steps", c->n_steps));
        if (c->since) verdict_add(v, arg_id("since", c->since->number));
        if (c->until) verdict_add(v, arg_id("until", c->until->number));
        if (c->rank->every) verdict_add(v, arg_int("every", c->rank->every));
    }
    if (c->place) describe_place(c, v);
    if (c->slower > 1) {
        verdict_add(v, arg_real("slower", c->slower));
        verdict_add(v, arg_int(c->slower_kernels ? "device"
                               : c->slower_gaps  ? "python"
                                                 : "machine",
                               1));
    }
    if (!c->next) return;
    verdict_add(v, name_of(who, c->next, "next_rank"));
    verdict_add(v, arg_time("after", c->after_ns));
}
