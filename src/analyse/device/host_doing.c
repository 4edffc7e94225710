/* host_doing.c: what a thread of the host did in an interval.
 *
 * Events of a thread are sorted by start and know what holds them, so one walk over those that
 * start in the interval, keeping the innermost open one, finds every piece. What an event says
 * follows from what the one around it says: a short stack of these saves climbing. */
#include "analyse/device/host_doing.h"

#include "analyse/lexicon.h"
#include "base/bisect.h"

enum {
    MOST_DEPTH = 512, /* frames of hostile files nest deeply: a bounded climb */
    LOOK_BACK = 8,
};

void host_view_rewind(host_view *h) {
    for (uint32_t i = 0; i < h->t->track.n; i++) h->cursor[i] = 0;
}

static host_doing name_means(str name, bool is_call) {
    if (!is_call)
        return lexicon_means(name, MEANS_COLLECTS_GARBAGE) ? DOING_GARBAGE
               : lexicon_means(name, MEANS_LOCKS)          ? DOING_LOCK
               : lexicon_means(name, MEANS_COMPILES)       ? DOING_COMPILER
                                                           : DOING_PYTHON;
    return lexicon_means(name, MEANS_BLOCKS)      ? DOING_SYNC
           : lexicon_means(name, MEANS_ALLOCATES) ? DOING_ALLOCATOR
           : lexicon_means(name, MEANS_LAUNCHES) || lexicon_means(name, MEANS_COPY_CALL)
               ? DOING_LAUNCH
               : DOING_CALL;
}

/* A kind that says all, or a name, which is that of a call or of a frame, never of both. */
static host_doing doing_of(host_view *h, uint32_t slice, bool is_call) {
    switch (h->t->slice.kind[slice]) {
    case KIND_GARBAGE: return DOING_GARBAGE;
    case KIND_COMPILE: return DOING_COMPILER;
    case KIND_IMPORT: return DOING_IMPORT;
    default: break;
    }
    uint32_t name = h->t->slice.name[slice];
    if (name >= h->t->n_strings) return is_call ? DOING_CALL : DOING_PYTHON;
    if (!h->means[name])
        h->means[name] = (uint8_t)(name_means(trace_str(h->t, name), is_call) + 1);
    return (host_doing)(h->means[name] - 1);
}

static bool is_blocking(host_view *h, uint32_t slice) {
    uint8_t kind = h->t->slice.kind[slice];
    return (kind_is_call(kind) || kind == KIND_SYNC) && doing_of(h, slice, true) == DOING_SYNC;
}

static status find_blocking(host_view *h, error *err) {
    const trace *t = h->t;
    size_t room = 0;
    for (uint32_t track = 1; track < t->track.n; track++) {
        if (t->track.kind[track] != TRACK_THREAD) continue;
        for (uint32_t i = t->track.first[track]; i < t->track.end[track]; i++) {
            if (!is_blocking(h, i)) continue;
            if (h->n_blocking == room) {
                size_t more = room ? 2 * room : 256;
                h->blocking = arena_grow(h->arena, h->blocking, room * sizeof *h->blocking,
                                         more * sizeof *h->blocking);
                if (!h->blocking) FAIL_MEMORY(err);
                room = more;
            }
            h->blocking[h->n_blocking++] = i;
        }
    }
    return OK;
}

status host_view_init(host_view *h, const trace *t, arena *a, error *err) {
    *h = (host_view){.t = t, .arena = a};
    h->means = ARENA_ARRAY(a, uint8_t, (size_t)t->n_strings + 1);
    h->cursor = ARENA_ARRAY(a, uint32_t, (size_t)t->track.n + 1);
    if (!h->means || !h->cursor) FAIL_MEMORY(err);
    return find_blocking(h, err);
}

/* Calls of a thread nest: one that reaches further than those after it is found by looking back
 * a little. */
bool host_view_blocks(const host_view *h, uint32_t track, interval range) {
    const trace *t = h->t;
    uint32_t first = t->track.first[track], end = t->track.end[track];
    size_t i =
        SEARCH_FIRST(k, 0, h->n_blocking,
                     h->blocking[k] < first ||
                         (h->blocking[k] < end && t->slice.start[h->blocking[k]] < range.end));
    for (int back = 0; i > 0 && back < LOOK_BACK && h->blocking[i - 1] >= first; back++)
        if (slice_end(t, h->blocking[--i]) > range.start) return true;
    return false;
}

/* The outermost range of a compilation says what is compiled: those inside of it are steps of
 * the compiler. */
static bool is_in_compiler(host_view *h, uint32_t frame) {
    return frame && doing_of(h, frame, false) == DOING_COMPILER;
}

/* What an event adds to what is known from the ones around it. */
static host_place go_in(host_view *h, host_place around, uint32_t slice) {
    const trace *t = h->t;
    switch (t->slice.kind[slice]) {
    case KIND_RUNTIME:
    case KIND_DRIVER:
    case KIND_SYNC:
        if (!around.call) around.call = slice; /* the outermost: the one the program made */
        break;
    case KIND_OP: around = (host_place){.op = slice}; break;
    case KIND_STEP:
    case KIND_SPAN:
    case KIND_DATA: /* asked for apart from what threads do: idle_causes.c */
    case KIND_COLLECTIVE: break;
    default:
        if (!is_in_compiler(h, around.frame)) around.frame = slice;
    }
    around.slice = slice;
    return around;
}

/* The same by climbing. */
static host_place climb(host_view *h, uint32_t slice) {
    const trace *t = h->t;
    host_place p = {.slice = slice};
    for (int up = 0; slice && !p.op && up < MOST_DEPTH; up++, slice = t->slice.parent[slice]) {
        switch (t->slice.kind[slice]) {
        case KIND_RUNTIME:
        case KIND_DRIVER:
        case KIND_SYNC: p.call = slice; break;
        case KIND_OP: p.op = slice; break;
        case KIND_STEP:
        case KIND_SPAN:
        case KIND_DATA: /* asked for apart from what threads do: idle_causes.c */
        case KIND_COLLECTIVE: break;
        default:
            if (!p.frame || is_in_compiler(h, slice)) p.frame = slice;
        }
    }
    return p;
}

static host_piece piece_at(host_view *h, const host_place *at) {
    host_piece p = {.op = at->op, .active = at->call || at->op};
    p.slice = at->call ? at->call : at->frame ? at->frame : at->op;
    p.doing = (uint8_t)(at->call    ? doing_of(h, at->call, true)
                        : at->frame ? doing_of(h, at->frame, false)
                        : at->op    ? DOING_OPERATOR
                                    : DOING_PYTHON);
    return p;
}

host_piece host_view_at(host_view *h, uint32_t slice) {
    host_place at = climb(h, slice);
    return piece_at(h, &at);
}

/* ---- the walk ---------------------------------------------------------------------------- */

static host_place innermost(const host_view *h) {
    return h->n_open ? h->open[h->n_open - 1] : (host_place){0};
}

static void enter(host_view *h, uint32_t slice) {
    host_place at = go_in(h, innermost(h), slice);
    if (h->n_open == MOST_PLACES) h->n_open = 0; /* climbed for again when it is needed */
    h->open[h->n_open++] = at;
}

static void leave(host_view *h) {
    uint32_t around = h->t->slice.parent[h->open[h->n_open - 1].slice];
    h->n_open--;
    if (around && !h->n_open) h->open[h->n_open++] = climb(h, around);
}

static bool is_same(const host_view *h, const host_piece *a, const host_piece *b) {
    if (a->range.end != b->range.start || a->active != b->active) return false;
    bool sync = a->doing == DOING_SYNC || b->doing == DOING_SYNC;
    return h->coarse && !sync ? true
                              : a->slice == b->slice && a->op == b->op && a->doing == b->doing;
}

static void join(host_piece *to, const host_piece *p) {
    to->range.end = p->range.end;
    if (to->slice == p->slice || p->longest_ns <= to->longest_ns) return;
    to->slice = p->slice;
    to->op = p->op;
    to->doing = p->doing;
    to->longest_ns = p->longest_ns;
}

/* Most pieces of a coarse question are shorter than what was found before: nothing to ask. */
static bool only_adds(const host_view *h, const host_place *place, int64_t from,
                      int64_t until) {
    if (!h->coarse || !h->n || place->call) return false;
    const host_piece *last = &h->v[h->n - 1];
    return last->range.end == from && last->doing != DOING_SYNC &&
           last->active == (place->op != 0) && sub_i64(until, from) <= last->longest_ns;
}

/* Up to a time what is open now. */
static status add_until(host_view *h, int64_t *at, int64_t until, error *err) {
    if (*at >= until) return OK;
    host_place place = innermost(h);
    if (only_adds(h, &place, *at, until)) {
        h->v[h->n - 1].range.end = *at = until;
        return OK;
    }
    host_piece p = piece_at(h, &place);
    p.range = (interval){*at, until};
    p.longest_ns = sub_i64(until, *at);
    *at = until;
    if (h->n && is_same(h, &h->v[h->n - 1], &p)) {
        join(&h->v[h->n - 1], &p);
        return OK;
    }
    if (h->n == h->cap) {
        size_t cap = h->cap ? 2 * h->cap : 256;
        host_piece *more =
            arena_grow(h->arena, h->v, h->cap * sizeof *more, cap * sizeof *more);
        if (!more) FAIL_MEMORY(err);
        h->v = more;
        h->cap = cap;
    }
    h->v[h->n++] = p;
    return OK;
}

/* The first event that starts at a time or later: near the last one, or by a search. */
static uint32_t first_from(host_view *h, uint32_t track, int64_t time) {
    enum { NEAR = 32 };
    const trace *t = h->t;
    uint32_t end = t->track.end[track], i = h->cursor[track];
    for (int n = 0; i && n < NEAR; n++, i++)
        if (i >= end || t->slice.start[i] >= time) return h->cursor[track] = i;
    return h->cursor[track] = trace_lower_bound(t, track, time);
}

/* The innermost event that is open at a time; `next` is the first that starts then or later. */
static void open_at(host_view *h, uint32_t track, uint32_t next, int64_t time) {
    const trace *t = h->t;
    uint32_t i = next > t->track.first[track] ? next - 1 : 0;
    h->n_open = 0;
    for (int up = 0; i && up < MOST_DEPTH; up++, i = t->slice.parent[i])
        if (slice_end(t, i) > time) {
            h->open[h->n_open++] = climb(h, i);
            return;
        }
}

status host_view_cut(host_view *h, uint32_t track, interval range, error *err) {
    const trace *t = h->t;
    h->n = 0;
    if (!track || range.start >= range.end) return OK;
    uint32_t i = first_from(h, track, range.start);
    int64_t at = range.start;
    open_at(h, track, i, at);
    for (; i < t->track.end[track] && t->slice.start[i] < range.end; i++) {
        int64_t start = t->slice.start[i];
        for (; h->n_open && innermost(h).slice != t->slice.parent[i]; leave(h))
            TRY(add_until(h, &at, min_i64(slice_end(t, innermost(h).slice), start), err));
        TRY(add_until(h, &at, start, err));
        enter(h, i);
    }
    for (; h->n_open && at < range.end; leave(h))
        TRY(add_until(h, &at, min_i64(slice_end(t, innermost(h).slice), range.end), err));
    return add_until(h, &at, range.end, err);
}
