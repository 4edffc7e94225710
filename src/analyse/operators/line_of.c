/* line_of.c: the line of a program that runs at a moment of a thread.
 *
 * One pass gives every slice its stack: that of the slice around it, one frame deeper at a
 * Python range, or the stack written on the operator. The seal has put every such path into
 * table frame, so a range's frame is found by its caller and its name. Then the nodes of the
 * backward pass pass the stacks of their forward operators on to what is inside them, unless
 * that has frames.
 *
 * A stretch of a thread is walked with the slices around the walk on a stack; where they have
 * no frames, the thread's samples cut the stretch further. */
#include "analyse/operators/line_of.h"

#include "analyse/lexicon.h"
#include "analyse/operators/backward_owner.h"
#include "base/bisect.h"
#include "base/map.h"

/* Slices around a moment that are looked at: only forged files nest deeper. */
enum { MOST_AROUND = 4096 };

/* ---- whose file -------------------------------------------------------------------------- */

str line_owner_name(uint8_t owner) {
    static const char *const names[N_OWNERS] = {[OWNER_UNKNOWN] = "unknown",
                                                [OWNER_STDLIB] = "stdlib",
                                                [OWNER_PACKAGE] = "package",
                                                [OWNER_OWN] = "own"};
    return str_of(names[owner < N_OWNERS ? owner : OWNER_UNKNOWN]);
}

/* A cell of a notebook and the prompt are <ipython-input-…> and <stdin>: the user's own. */
static uint8_t owner_of_file(str file) {
    if (!file.n || (file.p[0] != '<' && !str_ends(file, STR(".py")))) return OWNER_UNKNOWN;
    if (lexicon_means(file, MEANS_PACKAGE_PATH)) return OWNER_PACKAGE;
    if (lexicon_means(file, MEANS_STDLIB_PATH)) return OWNER_STDLIB;
    return OWNER_OWN;
}

/* A caller has a smaller row, so one pass finds the line of every stack. */
static status find_sites(line_view *v, arena *a, error *err) {
    const trace *t = v->t;
    uint8_t *memo = ARENA_ARRAY(a, uint8_t, (size_t)t->n_strings + 1); /* owner + 1 of a file */
    v->owner = ARENA_ARRAY(a, uint8_t, t->frame.n);
    v->site_of = ARENA_ARRAY(a, uint32_t, t->frame.n);
    if (!memo || !v->owner || !v->site_of) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->frame.n; i++) {
        uint32_t file = t->frame.file[i], outer = v->site_of[t->frame.parent[i]];
        if (!memo[file]) memo[file] = (uint8_t)(owner_of_file(trace_str(t, file)) + 1);
        v->owner[i] = (uint8_t)(memo[file] - 1);
        bool is_line = v->owner[i] != OWNER_UNKNOWN && v->owner[i] >= v->owner[outer];
        v->site_of[i] = is_line ? i : outer;
    }
    return OK;
}

/* ---- the stack of every slice ------------------------------------------------------------ */

static status map_frames(const trace *t, map *by_caller, error *err) {
    for (uint32_t i = 1; i < t->frame.n; i++) {
        uint64_t key = (uint64_t)t->frame.parent[i] << 32 | t->frame.name[i];
        uint32_t *at = map_at(by_caller, key);
        if (!at) FAIL_MEMORY(err);
        if (*at == MAP_NONE) *at = i;
    }
    return OK;
}

static void walk_slices(line_view *v, const map *by_caller) {
    const trace *t = v->t;
    uint32_t op = 1;
    for (uint32_t i = 1; i < t->slice.n; i++) {
        uint32_t frame = v->frame_of[t->slice.parent[i]];
        uint8_t kind = t->slice.kind[i];
        while (op < t->op.n && t->op.slice[op] < i) op++;
        uint32_t written = op < t->op.n && t->op.slice[op] == i ? t->op.frame[op] : 0;
        if (written) {
            frame = written;
        } else if (kind == KIND_PYTHON || kind == KIND_MODULE) {
            uint32_t found = map_get(by_caller, (uint64_t)frame << 32 | t->slice.name[i]);
            if (found != MAP_NONE) frame = found;
        }
        v->frame_of[i] = frame;
    }
}

/* Events inside a node have its stack, unless they have one themselves. */
static void pass_on(line_view *v, uint32_t node, uint32_t frame) {
    uint32_t end = trace_subtree_end(v->t, node), before = v->frame_of[node];
    for (uint32_t i = node; i < end; i++) {
        if (v->frame_of[i] != before) continue;
        v->frame_of[i] = frame;
        v->is_backward[i] = true;
    }
}

static status find_backward(line_view *v, arena *a, error *err) {
    const trace *t = v->t;
    selection all = select_all(t);
    backward_nodes nodes;
    TRY(backward_find(t, &all, a, &nodes, err));
    bool any = false;
    for (uint32_t i = 0; i < nodes.n && !any; i++) any = nodes.v[i].forward != 0;
    if (!any) return OK;
    v->is_backward = ARENA_ARRAY(a, bool, t->slice.n);
    if (!v->is_backward) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < nodes.n; i++) {
        uint32_t frame = v->frame_of[nodes.v[i].forward];
        if (frame) pass_on(v, nodes.v[i].slice, frame);
    }
    return OK;
}

/* Does any slice have a stack? Memory events and samples have theirs in their own tables. */
static bool slices_have_stacks(const trace *t) {
    if (t->kind_count[KIND_PYTHON]) return true;
    for (uint32_t i = 1; i < t->op.n; i++)
        if (t->op.frame[i]) return true;
    return false;
}

/* A main thread has the number of its process; the first of several processes counts. */
static status find_main(line_view *v, arena *a, error *err) {
    const trace *t = v->t;
    uint32_t *n = ARENA_ARRAY(a, uint32_t, (size_t)t->track.n + 1), most = 0;
    if (!n) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->sample.n; i++) n[t->sample.track[i]]++;
    for (uint32_t i = 1; i < t->track.n; i++) {
        if (t->track.kind[i] != TRACK_THREAD) continue;
        bool is_main = t->track.tid[i] != ABSENT_I64 &&
                       t->track.tid[i] == t->process.pid[t->track.process[i]];
        if (is_main && (n[i] || t->track.first[i] < t->track.end[i])) {
            v->main = i;
            return OK;
        }
        if (n[i] > most) {
            most = n[i];
            v->main = i;
        }
    }
    return OK;
}

status line_view_init(line_view *v, const trace *t, arena *a, error *err) {
    *v = (line_view){.t = t, .has_lines = t->frame.n > 1};
    if (!v->has_lines) return OK;
    TRY(find_sites(v, a, err));
    TRY(find_main(v, a, err));
    if (!slices_have_stacks(t)) return OK;
    map by_caller = {0};
    v->frame_of = ARENA_ARRAY(a, uint32_t, t->slice.n);
    status st = v->frame_of ? map_frames(t, &by_caller, err) : ERR_MEMORY;
    if (st == OK) walk_slices(v, &by_caller);
    map_fini(&by_caller);
    if (!v->frame_of) FAIL_MEMORY(err);
    TRY(st);
    return find_backward(v, a, err);
}

/* ---- asking ------------------------------------------------------------------------------ */

/* The first sample of a thread that ends after the time; sample.n when there is none. */
static uint32_t first_sample(const trace *t, uint32_t track, int64_t time) {
    return SEARCH_FIRST(i, 1u, t->sample.n,
                        t->sample.track[i] < track ||
                            (t->sample.track[i] == track &&
                             add_i64(t->sample.time[i], t->sample.dur[i]) <= time));
}

/* Modules without lines are left to the samples, where there are some. */
static uint32_t frame_of_slice(const line_view *v, uint32_t slice) {
    uint32_t frame = v->frame_of ? v->frame_of[slice] : 0;
    return v->t->sample.n > 1 && !v->site_of[frame] ? 0 : frame;
}

uint32_t line_frame_of(const line_view *v, uint32_t slice) {
    const trace *t = v->t;
    uint32_t frame = frame_of_slice(v, slice);
    if (frame || !slice || t->sample.n < 2) return frame;
    uint32_t track = trace_track_of(t, slice);
    uint32_t i = first_sample(t, track, t->slice.start[slice]);
    bool covers = i < t->sample.n && t->sample.track[i] == track &&
                  t->sample.time[i] <= t->slice.start[slice];
    return covers ? t->sample.frame[i] : 0;
}

static bool is_inside(const trace *t, uint32_t inner, uint32_t outer) {
    return t->slice.start[inner] >= t->slice.start[outer] &&
           slice_end(t, inner) <= slice_end(t, outer) &&
           trace_track_of(t, inner) == trace_track_of(t, outer);
}

/* The slice of the host that device work stands for. One call may launch the work of many
 * operators, which are drawn inside of it; a graph is launched elsewhere than it was made. */
static uint32_t host_of_work(const line_view *v, uint32_t work) {
    const trace *t = v->t;
    uint32_t launch = t->kernel.launch[work], op = t->kernel.op[work];
    if (!launch || !op) return launch ? launch : op;
    if (t->kernel.link[work] == LINK_CAPTURED) return frame_of_slice(v, op) ? op : launch;
    return is_inside(t, op, launch) ? op : launch;
}

uint32_t line_frame_of_work(const line_view *v, uint32_t work) {
    return v->has_lines ? line_frame_of(v, host_of_work(v, work)) : 0;
}

bool line_is_backward(const line_view *v, uint32_t work) {
    return v->is_backward && v->is_backward[host_of_work(v, work)];
}

/* ---- cutting ----------------------------------------------------------------------------- */

static status visit(const line_cutter *c, line_piece p, error *err) {
    return p.range.start < p.range.end ? c->visit(c->context, &p, err) : OK;
}

/* A stretch in which only samples tell. `idle`: there is no slice either. */
static status cut_samples(const line_cutter *c, uint32_t track, line_piece p, error *err) {
    const trace *t = c->view->t;
    int64_t at = p.range.start, end = p.range.end;
    uint32_t i = t->sample.n > 1 ? first_sample(t, track, at) : t->sample.n;
    for (; i < t->sample.n && t->sample.track[i] == track && t->sample.time[i] < end; i++) {
        int64_t from = max_i64(at, t->sample.time[i]);
        int64_t to = min_i64(end, add_i64(t->sample.time[i], t->sample.dur[i]));
        if (from >= to) continue;
        TRY(visit(c, (line_piece){.range = {at, from}, .idle = p.idle}, err));
        TRY(visit(c, (line_piece){.range = {from, to}, .frame = t->sample.frame[i]}, err));
        at = to;
    }
    return visit(c, (line_piece){.range = {at, end}, .idle = p.idle}, err);
}

/* The walk through a thread. */
typedef struct {
    const line_cutter *cutter;
    uint32_t track, n_open;
    int64_t at, end;
    uint32_t open[MOST_AROUND]; /* slices around `at`, innermost last */
} line_walk;

static status walk_until(line_walk *w, int64_t to, error *err) {
    if (to > w->end) to = w->end;
    if (to <= w->at) return OK;
    uint32_t slice = w->n_open ? w->open[w->n_open - 1] : 0;
    line_piece p = {.range = {w->at, to}, .idle = !slice};
    p.frame = slice ? frame_of_slice(w->cutter->view, slice) : 0;
    w->at = to;
    return p.frame ? visit(w->cutter, p, err) : cut_samples(w->cutter, w->track, p, err);
}

/* The slices around the start of the walk; returns the first one that begins there or later. */
static uint32_t open_around(line_walk *w) {
    const trace *t = w->cutter->view->t;
    uint32_t next = trace_lower_bound(t, w->track, w->at), n = 0;
    uint32_t i = next > t->track.first[w->track] ? next - 1 : 0;
    for (int up = 0; i && up < MOST_AROUND; up++, i = t->slice.parent[i])
        if (slice_end(t, i) > w->at) w->open[n++] = i;
    for (uint32_t k = 0; k < n / 2; k++) {
        uint32_t other = w->open[k];
        w->open[k] = w->open[n - 1 - k];
        w->open[n - 1 - k] = other;
    }
    w->n_open = n;
    return next;
}

static status walk_slice(line_walk *w, uint32_t slice, error *err) {
    const trace *t = w->cutter->view->t;
    int64_t start = t->slice.start[slice];
    for (; w->n_open && w->open[w->n_open - 1] != t->slice.parent[slice]; w->n_open--)
        TRY(walk_until(w, min_i64(slice_end(t, w->open[w->n_open - 1]), start), err));
    TRY(walk_until(w, start, err));
    if (w->n_open < MOST_AROUND) w->open[w->n_open++] = slice;
    return OK;
}

status line_cut(const line_cutter *c, uint32_t track, interval range, error *err) {
    const trace *t = c->view->t;
    line_walk w = {.cutter = c, .track = track, .at = range.start, .end = range.end};
    if (!track) return visit(c, (line_piece){.range = range, .idle = true}, err);
    for (uint32_t i = open_around(&w); i < t->track.end[track] && t->slice.start[i] < range.end;
         i++)
        TRY(walk_slice(&w, i, err));
    for (; w.n_open; w.n_open--) TRY(walk_until(&w, slice_end(t, w.open[w.n_open - 1]), err));
    return walk_until(&w, range.end, err);
}

status line_cut_slice(const line_cutter *c, uint32_t slice, interval range, error *err) {
    line_piece p = {.range = range, .frame = frame_of_slice(c->view, slice)};
    if (p.frame) return visit(c, p, err);
    return cut_samples(c, slice ? trace_track_of(c->view->t, slice) : 0, p, err);
}

/* ---- words ------------------------------------------------------------------------------- */

str line_function(const trace *t, uint32_t frame) {
    str name = trace_str(t, t->frame.name[frame]);
    size_t at = t->frame.file[frame] ? str_find(name, STR("): "), 0) : SIZE_MAX;
    return at == SIZE_MAX ? name : str_from(name, at + 3);
}

str line_short(const trace *t, uint32_t frame, arena *a) {
    str file = trace_str(t, t->frame.file[frame]);
    for (size_t i = file.n; i > 0; i--)
        if (file.p[i - 1] == '/' || file.p[i - 1] == '\\') {
            file = str_from(file, i);
            break;
        }
    return arena_printf(a, "%.*s:%u", STR_ARG(file), t->frame.line[frame]);
}

/* Line `number` of a text, counted from 1; empty when it has fewer. */
static str nth_line(str text, uint32_t number) {
    str line = STR("");
    for (uint32_t i = 0; i < number; i++) {
        if (!text.n) return STR("");
        line = str_cut(&text, STR("\n"));
    }
    size_t comment = str_find(line, STR("  # "), 0);
    return str_trim(comment == SIZE_MAX ? line : str_n(line.p, comment));
}

str line_code(const trace *t, uint32_t frame, arena *a) {
    enum { MOST_BYTES = 60 };
    uint32_t row = 1, file = t->frame.file[frame];
    while (row < t->source.n && t->source.file[row] != file) row++;
    if (!file || row >= t->source.n) return STR("");
    str code = nth_line(trace_str(t, t->source.text[row]), t->frame.line[frame]);
    if (code.n <= MOST_BYTES) return code;
    size_t n = MOST_BYTES; /* not inside of a character */
    while (n > 0 && ((uint8_t)code.p[n] & 0xc0) == 0x80) n--;
    return arena_printf(a, "%.*s\u2026", (int)n, code.p);
}
