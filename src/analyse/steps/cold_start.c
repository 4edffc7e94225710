/* cold_start.c: what a program does once, when it is not warm yet.
 *
 * Few slices are long enough to matter: they are listed in one pass, and most recordings end
 * there. In the others a call counts when
 *
 *   runtime, driver   it loads code, launches a kernel for the first time, or is one of the
 *                     first two of its name; calls that wait for the device or copy never do
 *   operator          it is the first of its name, and at least half of the later ones take a
 *                     tenth of its time or less
 *
 * and neither device work nor a call that waits fills a tenth of it. */
#include "analyse/steps/cold_start.h"

#include "analyse/lexicon.h"
#include "analyse/select.h"
#include "analyse/steps/lost_work.h"
#include "base/message_ids_advice.h"

enum {
    LEAST_NS = 1000000, /* shorter calls are nothing that a reader would wait for */
    MOST_CALLS = 512,   /* of those that take a hundredth of the range: only forged files have
                           more */
    FIRST_CALLS = 2,    /* the context is made in the first cudaFree, a library's in the next */
};
#define LEAST_SHARE 0.2   /* of the range, to be looked at */
#define DECIDES_SHARE 0.3 /* of the range: averages of the rest mean little */

typedef struct {
    const trace *t;
    uint32_t v[MOST_CALLS];
    uint32_t n;
    intervals waits, cold;
} finder;

static void list_long(finder *f, interval range, int64_t least) {
    const trace *t = f->t;
    for (uint32_t i = 1; i < t->slice.n && f->n < MOST_CALLS; i++) {
        if (t->slice.dur[i] < least || t->slice.start[i] < range.start ||
            slice_end(t, i) > range.end)
            continue;
        uint8_t kind = t->slice.kind[i];
        if (kind == KIND_OP || kind_is_call(kind)) f->v[f->n++] = i;
    }
}

static int64_t listed_ns(const finder *f, arena *a) {
    intervals all = intervals_in(a);
    for (uint32_t i = 0; i < f->n; i++)
        intervals_add(&all, f->t->slice.start[f->v[i]], slice_end(f->t, f->v[i]));
    intervals_merge(&all);
    return intervals_ns(&all);
}

/* A host that waits: its name says so. */
#define WAITS (MEANING(BLOCKS) | MEANING(COPY_CALL))

static status find_waits(finder *f, arena *a, error *err) {
    const trace *t = f->t;
    name_meanings means;
    TRY(name_meanings_init(&means, t, a, err));
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t slice = t->kernel.slice[k];
        intervals_add(&f->waits, t->slice.start[slice], slice_end(t, slice));
    }
    for (uint32_t i = 1; i < t->slice.n; i++) {
        if (!kind_is_call(t->slice.kind[i]) && t->slice.kind[i] != KIND_SYNC) continue;
        if (name_meanings_of(&means, i) & WAITS)
            intervals_add(&f->waits, t->slice.start[i], slice_end(t, i));
    }
    intervals_merge(&f->waits);
    return OK;
}

/* Has no kernel of this name been launched before? Also true of a launch without a kernel. */
static bool is_first_launch(const trace *t, uint32_t call) {
    uint32_t name = 0;
    for (uint32_t k = 1; k < t->kernel.n && !name; k++)
        if (t->kernel.launch[k] == call) name = t->slice.name[t->kernel.slice[k]];
    for (uint32_t k = 1; k < t->kernel.n && name; k++) {
        uint32_t launch = t->kernel.launch[k];
        if (launch && t->slice.name[t->kernel.slice[k]] == name &&
            t->slice.start[launch] < t->slice.start[call])
            return false;
    }
    return true;
}

static bool is_among_first(const trace *t, uint32_t call) {
    int earlier = 0;
    for (uint32_t i = 1; i < t->slice.n && earlier < FIRST_CALLS; i++)
        earlier += t->slice.name[i] == t->slice.name[call] && kind_is_call(t->slice.kind[i]) &&
                   t->slice.start[i] < t->slice.start[call];
    return earlier < FIRST_CALLS;
}

static bool is_call_once(const trace *t, uint32_t call) {
    str name = trace_slice_name(t, call);
    if (lexicon_meanings(name) & WAITS) return false;
    if (lexicon_means(name, MEANS_LOADS_CODE)) return true;
    return launch_name(name) ? is_first_launch(t, call) : is_among_first(t, call);
}

static bool is_op_once(const trace *t, uint32_t op) {
    int64_t later = 0, slow = 0;
    for (uint32_t i = 1; i < t->slice.n; i++) {
        if (t->slice.name[i] != t->slice.name[op] || t->slice.kind[i] != KIND_OP || i == op)
            continue;
        if (t->slice.start[i] < t->slice.start[op]) return false;
        if (t->slice.start[i] < slice_end(t, op)) continue; /* inside of it */
        later++;
        slow += mul_i64(t->slice.dur[i], 10) > t->slice.dur[op];
    }
    return later >= 2 && slow <= later / 2;
}

/* Calls before operators; of operators inside each other the innermost. */
static bool tells_more(const trace *t, uint32_t slice, uint32_t than) {
    if (!than) return true;
    bool call = kind_is_call(t->slice.kind[slice]), other = kind_is_call(t->slice.kind[than]);
    if (call != other) return call;
    int64_t least = sub_i64(t->slice.dur[than], call ? 0 : t->slice.dur[than] / 10);
    return t->slice.dur[slice] > least;
}

static void keep_once(finder *f, cold_start *out) {
    const trace *t = f->t;
    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t slice = f->v[i];
        int64_t start = t->slice.start[slice], end = slice_end(t, slice);
        if (intervals_ns_in(&f->waits, start, end) > t->slice.dur[slice] / 10) continue;
        if (!(kind_is_call(t->slice.kind[slice]) ? is_call_once(t, slice)
                                                 : is_op_once(t, slice)))
            continue;
        intervals_add(&f->cold, start, end);
        out->until = max_i64(out->until, end);
        if (tells_more(t, slice, out->call)) out->call = slice;
    }
    intervals_merge(&f->cold);
}

status cold_start_find(const trace *t, interval range, arena *a, cold_start *out, error *err) {
    int64_t all = sub_i64(range.end, range.start);
    *out = (cold_start){.of_ns = all, .until = INT64_MIN};
    if (t->kernel.n <= 1 || all <= 0) return OK;
    finder *f = ARENA_NEW(a, finder);
    if (!f) FAIL_MEMORY(err);
    *f = (finder){.t = t, .waits = intervals_in(a), .cold = intervals_in(a)};
    list_long(f, range, max_i64(LEAST_NS, all / 100));
    if ((double)listed_ns(f, a) < LEAST_SHARE * (double)all) return OK;
    TRY(find_waits(f, a, err));
    keep_once(f, out);
    if (f->waits.failed || f->cold.failed) FAIL_MEMORY(err);
    out->ns = intervals_ns(&f->cold);
    if ((double)out->ns < LEAST_SHARE * (double)all)
        *out = (cold_start){.of_ns = all, .until = INT64_MIN};
    return OK;
}

void cold_start_say(const trace *t, const cold_start *c, verdict *v) {
    uint32_t op = t->slice.parent[c->call];
    while (op && t->slice.kind[op] != KIND_OP) op = t->slice.parent[op];
    verdict_add(v, arg_text("call", trace_slice_name(t, c->call)));
    if (op && kind_is_call(t->slice.kind[c->call]))
        verdict_add(v, arg_text("op", trace_slice_name(t, op)));
    verdict_add(v, arg_time("longest", t->slice.dur[c->call]));
    verdict_add(v, arg_share("share", (double)c->ns / (double)c->of_ns));
    verdict_add(v, arg_time("total", c->of_ns));
}

bool cold_start_judge(const trace *t, const cold_start *c, verdict *out) {
    if (c->is_before || !c->ns || (double)c->ns < DECIDES_SHARE * (double)c->of_ns)
        return false;
    *out = (verdict){
        .id = "cold_start", .message = MSG_VERDICT_COLD_START, .severity = SEVERITY_WARNING};
    cold_start_say(t, c, out);
    return true;
}
