/* compiles.c: compilations that the program waited for.
 *
 * Our recorder marks them with a kind, other producers with names that the lexicon knows. The
 * line is the one that runs most of the time meanwhile: a compiler's own frames are in
 * packages. A reason is a point inside of the range whose name begins as our hooks begin it. */
#include "analyse/operators/compiles.h"

#include "analyse/lexicon.h"
#include "base/bisect.h"

static const str WHY = STR("compiled again: ");

enum { NOT_READ, NO, YES };

typedef struct {
    const trace *t;
    arena *arena;
    uint8_t *says; /* by string: does a range of this name compile? */
    size_t room;
    compile_events *out;
} finder;

static bool is_compilation(finder *f, uint32_t slice) {
    const trace *t = f->t;
    uint8_t kind = t->slice.kind[slice];
    if (kind == KIND_COMPILE) return true;
    if (kind_is_device(kind) || kind == KIND_DEVICE_ANNOTATION) return false;
    uint8_t *says = &f->says[t->slice.name[slice]];
    if (*says == NOT_READ)
        *says = lexicon_means(trace_slice_name(t, slice), MEANS_COMPILES) ? YES : NO;
    return *says == YES;
}

/* "torch.compile: /home/a/train.py(12): forward" as "forward (train.py:12)". */
static str short_name(str name, arena *a) {
    size_t end = str_find(name, STR("): "), 0), open = end, from = 0;
    if (end == SIZE_MAX) return name;
    while (open > 0 && name.p[open] != '(') open--;
    for (size_t i = 0; i < open; i++)
        if (name.p[i] == '/' || name.p[i] == ' ') from = i + 1;
    if (!open || from >= open) return name;
    str function = str_from(name, end + 3), file = str_n(name.p + from, open - from),
        line = str_n(name.p + open + 1, end - open - 1);
    return arena_printf(a, "%.*s (%.*s:%.*s)", STR_ARG(function), STR_ARG(file), STR_ARG(line));
}

/* The line with more than half of the time, if there is one. */
typedef struct {
    const line_view *view;
    uint32_t site;
    int64_t ahead_ns;
} majority;

static status count_piece(void *context, const line_piece *p, error *err) {
    majority *m = context;
    uint32_t site = line_site(m->view, p->frame);
    int64_t ns = sub_i64(p->range.end, p->range.start);
    (void)err;
    if (!site) return OK;
    if (site == m->site) {
        m->ahead_ns = add_i64(m->ahead_ns, ns);
    } else if (ns > m->ahead_ns) {
        m->site = site;
        m->ahead_ns = sub_i64(ns, m->ahead_ns);
    } else {
        m->ahead_ns = sub_i64(m->ahead_ns, ns);
    }
    return OK;
}

static status add_event(finder *f, const line_view *lines, uint32_t slice, error *err) {
    const trace *t = f->t;
    compile_events *c = f->out;
    majority m = {.view = lines};
    line_cutter cutter = {lines, count_piece, &m};
    if (c->n == f->room) {
        size_t room = f->room ? 2 * f->room : 16;
        c->v = arena_grow(f->arena, c->v, f->room * sizeof *c->v, room * sizeof *c->v);
        if (!c->v) FAIL_MEMORY(err);
        f->room = room;
    }
    if (lines->has_lines)
        TRY(line_cut_slice(&cutter, slice,
                           (interval){t->slice.start[slice], slice_end(t, slice)}, err));
    compile_event e = {.slice = slice,
                       .site = m.site,
                       .what = short_name(trace_slice_name(t, slice), f->arena),
                       .why = STR("")};
    if (!e.what.p) FAIL_MEMORY(err);
    c->v[c->n++] = e;
    return OK;
}

static bool is_before(const trace *t, uint32_t slice, uint32_t track, int64_t time) {
    uint32_t of = trace_track_of(t, slice);
    return of < track || (of == track && t->slice.start[slice] <= time);
}

/* The first reason counts: a program is compiled once for all that has changed. */
static void add_reasons(const trace *t, compile_events *c) {
    for (uint32_t i = 1; i < t->instant.n && c->n; i++) {
        str name = trace_str(t, t->instant.name[i]);
        if (!str_starts(name, WHY)) continue;
        int64_t time = t->instant.time[i];
        uint32_t after =
            SEARCH_FIRST(k, 0u, c->n, is_before(t, c->v[k].slice, t->instant.track[i], time));
        if (!after) continue;
        compile_event *e = &c->v[after - 1];
        bool inside = trace_track_of(t, e->slice) == t->instant.track[i] &&
                      slice_end(t, e->slice) >= time;
        if (inside && !e->why.n) e->why = str_from(name, WHY.n);
    }
}

status compiles_find(const trace *t, arena *a, compile_events *out, error *err) {
    line_view lines;
    *out = (compile_events){0};
    finder f = {.t = t,
                .arena = a,
                .says = ARENA_ARRAY(a, uint8_t, (size_t)t->n_strings + 1),
                .out = out};
    if (!f.says) FAIL_MEMORY(err);
    TRY(line_view_init(&lines, t, a, err));
    for (uint32_t i = 1; i < t->slice.n;) {
        bool found = is_compilation(&f, i);
        if (found) TRY(add_event(&f, &lines, i, err));
        i = found ? trace_subtree_end(t, i) : i + 1;
    }
    add_reasons(t, out);
    return OK;
}

int64_t compiles_ns_in(const trace *t, const compile_events *c, interval range,
                       const compile_event **longest) {
    int64_t sum = 0;
    *longest = NULL;
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t slice = c->v[i].slice;
        int64_t start = t->slice.start[slice], ns = t->slice.dur[slice];
        if (start < range.start || start >= range.end) continue;
        sum = add_i64(sum, ns);
        if (!*longest || ns > t->slice.dur[(*longest)->slice]) *longest = &c->v[i];
    }
    return sum;
}

void compiles_say(const trace *t, const compile_events *c, interval range, int64_t of_ns,
                  arena *a, verdict *v) {
    const compile_event *longest;
    int64_t ns = compiles_ns_in(t, c, range, &longest);
    if (!longest || ns < of_ns / 4) return;
    verdict_add(v, arg_time("compiling", ns));
    verdict_add(v, arg_text("what", longest->what));
    if (longest->why.n) verdict_add(v, arg_text("why", longest->why));
    str caller = longest->site ? line_short(t, longest->site, a) : STR_NONE;
    if (caller.n) verdict_add(v, arg_text("caller", caller));
}
