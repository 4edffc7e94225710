/* own_work.c: what a worker spent its own time on; see own_work.h.
 *
 * The pieces of an event that no event inside it covers are found in one pass: events come in
 * the order of time on each thread, and a parent before what it contains. Pieces of less than
 * ten microseconds belong to the interpreter and are the same on all workers. */
#include "analyse/run/own_work.h"

#include "analyse/comm/comm_kind.h"
#include "analyse/group.h"
#include "analyse/lexicon.h"
#include "analyse/select.h"
#include "analyse/steps/stages.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/sort.h"

enum { MOST_TEXT_BYTES = 200 };
#define LEAST_PIECE_NS 10000

typedef struct {
    own_kind kind;
    stage stage;
    uint32_t name; /* string id; for a frame, its function */
    uint32_t path; /* for a frame: the functions around it inside the step, as a number */
} place_key;

typedef struct {
    place_key key;
    int64_t ns, calls, longest;
    uint32_t slice; /* of the longest piece */
} place_row;

typedef struct {
    const trace *t;
    const step_spans *steps;
    stage_segments stages;
    name_meanings means;
    comm_names comm;
    intervals own;   /* the steps without exposed communication and without device work */
    intervals bare;  /* of it, when no operator runs on any thread */
    int64_t *until;  /* by slice: how far what it contains has covered it */
    uint32_t *last;  /* by slice: the last event inside it */
    uint32_t *names; /* by slice: the event around it that says what it does; 0: none */
    uint32_t *path;  /* by frame: the functions around it inside the step, as a number */
    map paths;       /* path of the frame around, name → path */
    groups places;
    arena *arena;
} own_work;

/* ---- places ------------------------------------------------------------------------------ */

static bool same_place(const void *row, const void *key) {
    const place_key *a = &((const place_row *)row)->key, *b = key;
    return a->kind == b->kind && a->stage == b->stage && a->name == b->name &&
           a->path == b->path;
}

static status add_time(own_work *w, place_key key, uint32_t slice, int64_t ns, error *err) {
    uint64_t hash =
        hash_pair((uint64_t)key.kind << 32 | key.stage, (uint64_t)key.name << 32 | key.path);
    bool is_new;
    uint32_t at = groups_at(&w->places, hash, same_place, &key, &is_new);
    if (at == GROUP_NONE) FAIL_MEMORY(err);
    place_row *row = GROUP_ROW(&w->places, place_row, at);
    if (is_new) row->key = key;
    row->ns = add_i64(row->ns, ns);
    row->calls++;
    if (ns <= row->longest) return OK;
    row->longest = ns;
    row->slice = slice;
    return OK;
}

/* ---- the host ---------------------------------------------------------------------------- */

/* Built-in functions say little. */
static bool is_frame(const trace *t, uint32_t slice) {
    return t->slice.kind[slice] == KIND_PYTHON &&
           !str_starts(trace_slice_name(t, slice), STR("<"));
}

/* What names an event: data loading around it; else the innermost operator of a library; else
 * the innermost frame inside the step. Parents come first, so each event is looked at once,
 * however deeply it is nested. */
static status find_names(own_work *w, error *err) {
    const trace *t = w->t;
    for (uint32_t i = 1; i < t->slice.n; i++) {
        uint32_t outer = w->names[t->slice.parent[i]];
        w->names[i] = outer;
        if (outer && t->slice.kind[outer] == KIND_DATA) continue;
        if (t->slice.kind[i] == KIND_DATA || is_library_op(&w->means, i)) {
            w->names[i] = i;
        } else if (outer && t->slice.kind[outer] != KIND_PYTHON) {
            continue;
        } else if (t->slice.kind[i] == KIND_STEP) {
            w->names[i] = 0;
        } else if (is_frame(t, i)) {
            uint32_t *path =
                map_at(&w->paths, (uint64_t)w->path[outer] << 32 | t->slice.name[i]);
            if (!path) FAIL_MEMORY(err);
            if (*path == MAP_NONE) *path = (uint32_t)w->paths.n;
            w->names[i] = i;
            w->path[i] = *path;
        }
    }
    return OK;
}

/* The frames around a frame, the outermost first, a line each. */
static str path_of(own_work *w, uint32_t slice, summary *out) {
    const trace *t = w->t;
    uint32_t at[OWN_MOST_FRAMES], n = 0;
    buf text = {0};
    for (uint32_t i = w->names[slice]; i && n < OWN_MOST_FRAMES;
         i = w->names[t->slice.parent[i]])
        at[n++] = i;
    while (n-- > 0) {
        buf_add_str(&text, trace_slice_name(t, at[n]));
        buf_add_byte(&text, '\n');
    }
    str made = buf_ok(&text) ? summary_text(out, buf_str(&text)) : STR_NONE;
    buf_fini(&text);
    return made;
}

static place_key key_of(own_work *w, uint32_t slice, int64_t at) {
    const trace *t = w->t;
    uint32_t name = w->names[slice];
    place_key key = {.kind = OWN_GAP, .stage = stage_at(&w->stages, at)};
    if (!name) {
        uint32_t before = t->slice.kind[slice] == KIND_STEP ? w->last[slice] : slice;
        key.name = before ? t->slice.name[before] : 0;
        return key;
    }
    if (t->slice.kind[name] == KIND_DATA) return (place_key){OWN_DATA, STAGE_DATA, 0, 0};
    key.kind = t->slice.kind[name] == KIND_PYTHON ? OWN_FRAME : OWN_OPERATOR;
    key.name = t->slice.name[name];
    key.path = w->path[name];
    return key;
}

static status add_piece(own_work *w, uint32_t slice, int64_t start, int64_t end, error *err) {
    if (sub_i64(end, start) < LEAST_PIECE_NS) return OK;
    uint8_t kind = w->t->slice.kind[slice];
    if (kind == KIND_COLLECTIVE || comm_host_id(&w->comm, w->t->slice.name[slice])) return OK;
    place_key key = key_of(w, slice, start);
    bool gap = key.kind == OWN_GAP;
    int64_t ns = intervals_ns_in(gap ? &w->bare : &w->own, start, end);
    return ns < LEAST_PIECE_NS ? OK : add_time(w, key, slice, ns, err);
}

static bool is_host_event(const trace *t, uint32_t slice) {
    uint8_t kind = t->slice.kind[slice];
    return kind < KIND_KERNEL && kind != KIND_SPAN;
}

/* Only threads that make the steps, or run operators in them. */
static status add_host_pieces(own_work *w, error *err) {
    const trace *t = w->t;
    for (uint32_t i = 1; i < t->slice.n; i++) {
        if (!is_host_event(t, i)) continue;
        uint32_t around = t->slice.parent[i];
        w->until[i] = t->slice.start[i];
        if (around && is_host_event(t, around)) {
            TRY(add_piece(w, around, w->until[around], t->slice.start[i], err));
            w->until[around] = max_i64(w->until[around], slice_end(t, i));
            w->last[around] = i;
        }
    }
    for (uint32_t i = 1; i < t->slice.n; i++)
        if (is_host_event(t, i)) TRY(add_piece(w, i, w->until[i], slice_end(t, i), err));
    return OK;
}

/* ---- the device -------------------------------------------------------------------------- */

static status add_kernels(own_work *w, error *err) {
    const trace *t = w->t;
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t slice = t->kernel.slice[k];
        if (comm_kernel_row(&w->comm, k)) continue;
        int64_t start = t->slice.start[slice], end = slice_end(t, slice);
        if (!w->steps->n || end <= w->steps->v[0].start ||
            start >= w->steps->v[w->steps->n - 1].end)
            continue;
        place_key key = {OWN_KERNEL, STAGE_OTHER, t->slice.name[slice], 0};
        TRY(add_time(w, key, slice, sub_i64(end, start), err));
    }
    return OK;
}

/* ---- writing ----------------------------------------------------------------------------- */

static str text_of(summary *out, str text) {
    return summary_text(out,
                        str_n(text.p, text.n < MOST_TEXT_BYTES ? text.n : MOST_TEXT_BYTES));
}

static status write_place(own_work *w, const place_row *p, str worker, summary *out,
                          error *err) {
    const trace *t = w->t;
    uint32_t at = p->key.kind == OWN_OPERATOR ? p->slice : 0;
    while (at && t->slice.name[at] != p->key.name) at = t->slice.parent[at];
    uint32_t op = at ? trace_op_of(t, at) : 0;
    summary_own *row = summary_add_own(out);
    if (!row) FAIL_MEMORY(err);
    *row = (summary_own){.worker = worker,
                         .kind = (int64_t)p->key.kind,
                         .stage = (int64_t)p->key.stage,
                         .name = text_of(out, trace_str(t, p->key.name)),
                         .inner = p->key.kind == OWN_FRAME ? path_of(w, p->slice, out)
                                                           : summary_text(out, STR("")),
                         .steps = w->steps->n,
                         .ns = p->ns,
                         .calls = p->calls,
                         .shapes = text_of(out, op ? trace_str(t, t->op.shapes[op]) : STR(""))};
    if (!row->name.p || !row->inner.p || !row->shapes.p) FAIL_MEMORY(err);
    return OK;
}

static status write_places(own_work *w, str worker, summary *out, error *err) {
    uint32_t n = w->places.n;
    sort_pair *pairs = ARENA_ARRAY(w->arena, sort_pair, (size_t)n + 1);
    if (!pairs) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n; i++)
        pairs[i] = (sort_pair){(uint64_t)GROUP_ROW(&w->places, place_row, i)->ns, i};
    if (!sort_radix_in(w->arena, pairs, n)) FAIL_MEMORY(err);
    for (uint32_t i = n; i > 0 && n - i < OWN_MOST_PLACES; i--)
        TRY(write_place(w, GROUP_ROW(&w->places, place_row, pairs[i - 1].row), worker, out,
                        err));
    return OK;
}

static status find_own(own_work *w, const role_ranges *ranges, error *err) {
    w->own = step_moments(w->steps, w->arena);
    intervals_cut(&w->own, &ranges->exposed);
    intervals_cut(&w->own, &ranges->device);
    w->bare =
        intervals_minus(&w->own, ranges->work.n ? &ranges->work : &ranges->at[ROLE_CPU_EXEC]);
    if (w->own.failed || w->bare.failed) FAIL_MEMORY(err);
    return OK;
}

static status find_places(own_work *w, const role_ranges *ranges, error *err) {
    const trace *t = w->t;
    w->until = ARENA_ARRAY(w->arena, int64_t, (size_t)t->slice.n + 1);
    w->last = ARENA_ARRAY(w->arena, uint32_t, (size_t)t->slice.n + 1);
    w->names = ARENA_ARRAY(w->arena, uint32_t, (size_t)t->slice.n + 1);
    w->path = ARENA_ARRAY(w->arena, uint32_t, (size_t)t->slice.n + 1);
    if (!w->until || !w->last || !w->names || !w->path) FAIL_MEMORY(err);
    TRY(groups_init(&w->places, w->arena, sizeof(place_row), err));
    TRY(name_meanings_init(&w->means, t, w->arena, err));
    TRY(comm_names_init(&w->comm, t, w->arena, err));
    TRY(stages_find(t, w->arena, &w->stages, err));
    TRY(find_own(w, ranges, err));
    TRY(find_names(w, err));
    TRY(add_host_pieces(w, err));
    return add_kernels(w, err);
}

status own_work_reduce(const trace *t, const step_spans *steps, const role_ranges *ranges,
                       str worker, summary *out, error *err) {
    arena scratch;
    if (!steps->n) return OK;
    arena_init(&scratch, ranges->exposed.arena->limit_bytes);
    own_work w = {.t = t, .steps = steps, .arena = &scratch};
    status st = find_places(&w, ranges, err);
    if (st == OK) st = write_places(&w, worker, out, err);
    map_fini(&w.paths);
    arena_fini(&scratch);
    return st;
}
