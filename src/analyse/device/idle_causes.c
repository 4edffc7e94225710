/* idle_causes.c: why a device is idle, nanosecond by nanosecond.
 *
 * One sweep a device over its work in order of start, with the end of what computes and the end
 * of what communicates so far. What neither covers is a gap, and the next work says what it was
 * spent on. Pieces are cut to the steps as they are given out; all of them ascend, so every
 * list that is looked at on the way (steps, data loading, collectives of the host, the
 * profiler) has one moving end. */
#include "analyse/device/idle_causes.h"

#include "analyse/lexicon.h"
#include "base/sort.h"

enum {
    SHORT_NS = 5000,    /* from one queued piece to the next: 1 to 2 µs on current devices */
    LATENCY_NS = 20000, /* from the end of a launch to the start of its work, at most */
};

str idle_cause_name(idle_cause c) {
    static const char *const names[N_IDLE_CAUSES] = {
        "host_late", "blocked", "dependency", "data", "communication", "profiler", "unknown"};
    return str_of(names[c]);
}

str idle_doing_name(uint8_t doing) {
    static const char *const names[N_IDLE_DOINGS] = {
        [DOING_PYTHON] = "python",
        [DOING_OPERATOR] = "operator",
        [DOING_ALLOCATOR] = "allocator",
        [DOING_LAUNCH] = "launch_call",
        [DOING_CALL] = "runtime_call",
        [DOING_SYNC] = "sync",
        [DOING_GARBAGE] = "garbage_collection",
        [DOING_LOCK] = "lock",
        [DOING_COMPILER] = "compiler",
        [DOING_IMPORT] = "import",
        [DOING_LATENCY] = "launch_latency",
        [DOING_LOADING_CODE] = "code_loading",
        [DOING_BETWEEN] = "between",
        [DOING_STREAM] = "stream",
        [DOING_OTHER] = "other",
    };
    return doing < N_IDLE_DOINGS ? str_of(names[doing]) : STR("other");
}

/* Events of the host that explain a gap wherever they run; by start, none overlaps another. */
typedef struct {
    interval range;
    uint32_t slice;
} host_span;

typedef struct {
    host_span *v;
    size_t n, at; /* `at`: the first that has not ended yet */
} host_spans;

enum { SPANS_DATA, SPANS_COMM, SPANS_OVERHEAD, N_SPANS };

typedef struct {
    const idle_causes_question *q;
    const trace *t;
    arena *arena;
    host_view host;
    host_piece *own; /* pieces of the launching thread, while another one is looked at */
    size_t own_cap;
    comm_names comm;
    host_spans spans[N_SPANS];
    uint8_t *launches;       /* by process */
    uint32_t main;           /* thread that marks the steps or waits for the device, 0: none */
    uint32_t step;           /* the first that has not ended yet */
    idle_piece gap;          /* what its pieces have in common */
    idle_piece last;         /* not given out yet: the next one may go on with it */
    int64_t longest_host_ns; /* of the device, so far: what one event took without a break */
    uint32_t blocking;       /* call that the gap began in */
    int64_t blocked_until;
} causes;

/* ---- what the host records --------------------------------------------------------------- */

static bool is_host_comm(causes *c, uint32_t slice, uint8_t kind) {
    if (kind != KIND_COLLECTIVE && ((kind != KIND_OP && kind != KIND_ANNOTATION) ||
                                    !comm_host_id(&c->comm, c->t->slice.name[slice])))
        return false;
    return !comm_is_call(&c->comm, slice);
}

static int span_of(causes *c, uint32_t slice, bool is_launching) {
    uint8_t kind = c->t->slice.kind[slice];
    if (kind == KIND_OVERHEAD) return SPANS_OVERHEAD;
    if (kind == KIND_DATA) return is_launching ? SPANS_DATA : N_SPANS;
    if (c->q->no_communication) return N_SPANS;
    return is_host_comm(c, slice, kind) ? SPANS_COMM : N_SPANS;
}

/* The process of the call and that of the operator: some producers show calls in a separate
 * process. */
static void note_launching(causes *c) {
    const trace *t = c->t;
    bool any = false;
    for (uint32_t k = 1; t->kind_count[KIND_DATA] && k < t->kernel.n; k++) {
        const uint32_t by[] = {t->kernel.launch[k], t->kernel.op[k]};
        for (size_t i = 0; i < N_OF(by); i++) {
            if (!by[i]) continue;
            c->launches[t->track.process[trace_track_of(t, by[i])]] = 1;
            any = true;
        }
    }
    for (uint32_t i = 0; !any && i < t->process.n; i++) c->launches[i] = 1;
}

/* Sorted by start, each cut at the end of the one before. */
static status sort_spans(causes *c, int kind, const sort_pair *found, size_t n, error *err) {
    host_spans *s = &c->spans[kind];
    int64_t until = INT64_MIN;
    s->v = arena_alloc(c->arena, (n + 1) * sizeof *s->v);
    if (!s->v) FAIL_MEMORY(err);
    for (size_t i = 0; i < n; i++) {
        uint32_t slice = found[i].row;
        interval r = {max_i64(until, c->t->slice.start[slice]), slice_end(c->t, slice)};
        if (r.start >= r.end) continue;
        s->v[s->n++] = (host_span){r, slice};
        until = r.end;
    }
    return OK;
}

static status find_spans(causes *c, error *err) {
    const trace *t = c->t;
    sort_pair *found[N_SPANS] = {0};
    size_t n[N_SPANS] = {0}, cap[N_SPANS] = {0};
    bool none =
        c->q->no_communication && !t->kind_count[KIND_DATA] && !t->kind_count[KIND_OVERHEAD];
    for (uint32_t track = 1; track < t->track.n && !none; track++) {
        if (t->track.kind[track] == TRACK_STREAM) continue;
        bool launching = c->launches[t->track.process[track]];
        for (uint32_t i = t->track.first[track]; i < t->track.end[track]; i++) {
            int kind = span_of(c, i, launching);
            if (kind == N_SPANS) continue;
            if (n[kind] == cap[kind]) {
                size_t more = cap[kind] ? 2 * cap[kind] : 64;
                found[kind] = arena_grow(c->arena, found[kind], cap[kind] * sizeof **found,
                                         more * sizeof **found);
                if (!found[kind]) FAIL_MEMORY(err);
                cap[kind] = more;
            }
            found[kind][n[kind]++] =
                (sort_pair){(uint64_t)t->slice.start[i] ^ (uint64_t)1 << 63, i};
        }
    }
    for (int kind = 0; kind < N_SPANS; kind++) {
        if (n[kind] && !sort_radix_in(c->arena, found[kind], n[kind])) FAIL_MEMORY(err);
        TRY(sort_spans(c, kind, found[kind], n[kind], err));
        arena_drop(c->arena, found[kind], cap[kind] * sizeof **found);
    }
    return OK;
}

/* ---- pieces ------------------------------------------------------------------------------ */

static status emit_pending(causes *c, error *err) {
    idle_piece p = c->last;
    if (p.cause == IDLE_HOST_LATE)
        c->longest_host_ns = max_i64(c->longest_host_ns, p.longest_ns);
    c->last.range = (interval){0};
    return p.range.start < p.range.end ? c->q->visit(c->q->context, &p, err) : OK;
}

static bool continues(const causes *c, const idle_piece *a, const idle_piece *b) {
    if (a->range.end != b->range.start || a->step != b->step || a->cause != b->cause ||
        a->before != b->before || a->after != b->after)
        return false;
    return c->q->coarse || (a->doing == b->doing && a->slice == b->slice && a->op == b->op);
}

static void extend_piece(idle_piece *to, const idle_piece *p) {
    to->range.end = p->range.end;
    if (p->longest_ns <= to->longest_ns) return;
    to->longest_ns = p->longest_ns;
    to->slice = p->slice;
    to->op = p->op;
    to->doing = p->doing;
}

/* Emits a piece, cut to the steps; one that continues the last piece extends it. */
static status emit_piece(causes *c, interval range, const idle_piece *like, error *err) {
    const step_spans *s = c->q->steps;
    while (c->step < s->n && s->v[c->step].end <= range.start) c->step++;
    for (uint32_t i = c->step; i < s->n && s->v[i].start < range.end; i++) {
        idle_piece p = *like;
        p.range.start = max_i64(range.start, s->v[i].start);
        p.range.end = min_i64(range.end, s->v[i].end);
        p.step = i;
        if (p.range.start >= p.range.end) continue;
        p.longest_ns = min_i64(like->longest_ns ? like->longest_ns : INT64_MAX,
                               sub_i64(p.range.end, p.range.start));
        if (continues(c, &c->last, &p)) {
            extend_piece(&c->last, &p);
            continue;
        }
        TRY(emit_pending(c, err));
        c->last = p;
    }
    return OK;
}

/* The span of a list that holds the time; NULL with *until cut to the start of the next one. */
static const host_span *span_at(host_spans *s, int64_t time, int64_t *until) {
    while (s->at < s->n && s->v[s->at].range.end <= time) s->at++;
    if (s->at == s->n) return NULL;
    const host_span *v = &s->v[s->at];
    if (v->range.start <= time) return v;
    *until = min_i64(*until, v->range.start);
    return NULL;
}

/* What a span makes of a piece that would be `like`. */
static idle_piece piece_of_span(causes *c, int kind, const host_span *v,
                                const idle_piece *like) {
    idle_piece p = *like;
    bool loads = kind == SPANS_OVERHEAD &&
                 lexicon_means(trace_slice_name(c->t, v->slice), MEANS_LOADS_CODE);
    p.slice = v->slice;
    p.op = 0;
    p.longest_ns = 0;
    p.doing = loads ? DOING_LOADING_CODE : DOING_OTHER;
    p.cause = kind == SPANS_DATA   ? IDLE_DATA
              : kind == SPANS_COMM ? IDLE_COMMUNICATION
              : loads              ? IDLE_HOST_LATE
                                   : IDLE_PROFILER;
    return p;
}

/* May a span of this kind explain a piece that would be of that cause? Launched work waits for
 * a collective of the host, but not for data. */
static bool explains(int kind, uint8_t why) {
    return kind == SPANS_COMM ||
           (kind == SPANS_DATA ? why != IDLE_DEPENDENCY : why == IDLE_HOST_LATE);
}

static idle_piece piece_of_block(causes *c, const idle_piece *like) {
    idle_piece p = *like;
    p.cause = IDLE_BLOCKED;
    p.doing = DOING_SYNC;
    p.slice = c->blocking;
    p.op = host_view_at(&c->host, c->blocking).op;
    p.longest_ns = 0;
    return p;
}

/* A stretch that would be `like`: data loading and collectives of the host come first, then
 * what a call that waited cost, then the profiler. */
static status emit_host(causes *c, interval range, const idle_piece *like, error *err) {
    for (int64_t at = range.start; at < range.end;) {
        int64_t until = range.end;
        idle_piece p = *like;
        const host_span *v = NULL;
        for (int kind = 0; kind < N_SPANS && !v; kind++) {
            if (kind == SPANS_OVERHEAD && at < c->blocked_until && p.cause == IDLE_HOST_LATE) {
                until = min_i64(until, c->blocked_until);
                p = piece_of_block(c, like);
            }
            if (!explains(kind, p.cause)) continue;
            v = span_at(&c->spans[kind], at, &until);
            if (!v) continue;
            until = min_i64(until, v->range.end);
            p = piece_of_span(c, kind, v, like);
        }
        TRY(emit_piece(c, (interval){at, until}, &p, err));
        at = until;
    }
    return OK;
}

/* ---- what the launching thread did ------------------------------------------------------- */

static status emit_doing(causes *c, const host_piece *h, error *err) {
    idle_piece p = c->gap;
    p.cause = h->doing == DOING_SYNC ? IDLE_BLOCKED : IDLE_HOST_LATE;
    p.doing = h->doing;
    p.slice = h->slice;
    p.op = h->op;
    p.longest_ns = h->longest_ns;
    return emit_host(c, h->range, &p, err);
}

/* The call that the gap begins in: without it the host would have been as far ahead. */
static void note_blocking(causes *c, const host_piece *h, int64_t gap_start) {
    if (h->range.start != gap_start || h->doing != DOING_SYNC) return;
    int64_t start = c->t->slice.start[h->slice];
    if (start >= gap_start) return;
    c->blocking = h->slice;
    c->blocked_until = add_i64(gap_start, sub_i64(gap_start, start));
}

/* While the thread does nothing that is recorded, `other` may have had the turn. */
static status emit_other(causes *c, const host_piece *own, uint32_t other, int64_t gap_start,
                         error *err) {
    TRY(host_view_cut(&c->host, other, own->range, err));
    if (!other) return emit_doing(c, own, err);
    for (size_t i = 0; i < c->host.n; i++) {
        host_piece p = c->host.v[i];
        note_blocking(c, &p, gap_start);
        if (!p.active && own->slice) {
            interval range = p.range;
            p = *own;
            p.range = range;
        }
        TRY(emit_doing(c, &p, err));
    }
    return OK;
}

/* Is there no other cause than the CPU launching too late? */
static bool is_plain(const causes *c, interval range, uint32_t track, uint32_t other) {
    return c->q->coarse && sub_i64(range.end, range.start) <= c->longest_host_ns &&
           !host_view_blocks(&c->host, track, range) &&
           !(other && host_view_blocks(&c->host, other, range));
}

static status emit_thread(causes *c, interval range, uint32_t track, uint32_t other,
                          error *err) {
    if (is_plain(c, range, track, other))
        return emit_doing(c, &(host_piece){.range = range, .longest_ns = 1}, err);
    TRY(host_view_cut(&c->host, track, range, err));
    size_t n = c->host.n;
    if (n > c->own_cap) {
        c->own =
            arena_grow(c->arena, c->own, c->own_cap * sizeof *c->own, 2 * n * sizeof *c->own);
        if (!c->own) FAIL_MEMORY(err);
        c->own_cap = 2 * n;
    }
    for (size_t i = 0; i < n; i++) c->own[i] = c->host.v[i];
    for (size_t i = 0; i < n; i++) {
        note_blocking(c, &c->own[i], range.start);
        TRY(c->own[i].active ? emit_doing(c, &c->own[i], err)
                             : emit_other(c, &c->own[i], other, range.start, err));
    }
    if (n) return OK;
    return emit_doing(c, &(host_piece){.range = range}, err);
}

/* ---- gaps -------------------------------------------------------------------------------- */

static uint32_t launching_track(const trace *t, uint32_t work) {
    uint32_t launch = work ? t->kernel.launch[work] : 0;
    return launch ? trace_track_of(t, launch) : 0;
}

/* After the launch the work is on its way, or waits for other work. */
static status give_launched(causes *c, interval gap, int64_t launched, error *err) {
    const trace *t = c->t;
    idle_piece p = c->gap;
    bool queued = launched <= gap.start;
    bool is_short = queued && sub_i64(gap.end, gap.start) < SHORT_NS;
    interval range = {max_i64(gap.start, launched), gap.end};
    if (range.start >= range.end) return OK;
    p.slice = t->kernel.slice[p.after];
    p.op = t->kernel.op[p.after];
    if (!is_short && sub_i64(gap.end, launched) <= LATENCY_NS) {
        p.cause = IDLE_HOST_LATE;
        p.doing = DOING_LATENCY;
        return emit_host(c, range, &p, err);
    }
    bool other = p.before && trace_track_of(t, t->kernel.slice[p.before]) !=
                                 trace_track_of(t, t->kernel.slice[p.after]);
    p.cause = IDLE_DEPENDENCY;
    p.doing = is_short ? DOING_BETWEEN : other ? DOING_STREAM : DOING_OTHER;
    if (p.doing == DOING_STREAM) p.slice = t->kernel.slice[p.before];
    return is_short ? emit_piece(c, range, &p, err) : emit_host(c, range, &p, err);
}

/* Nothing runs on the device, up to c->gap.after. */
static status give_gap(causes *c, interval gap, error *err) {
    const trace *t = c->t;
    uint32_t work = c->gap.after, launch = work ? t->kernel.launch[work] : 0;
    uint32_t last = launching_track(t, c->gap.before);
    c->blocking = 0;
    c->blocked_until = INT64_MIN;
    if (work && !launch) {
        idle_piece p = c->gap;
        p.cause = IDLE_UNKNOWN;
        p.doing = DOING_OTHER;
        p.slice = t->kernel.slice[work];
        return emit_host(c, gap, &p, err);
    }
    uint32_t track = launch ? trace_track_of(t, launch) : c->main ? c->main : last;
    uint32_t other = c->main && c->main != track ? c->main : last != track ? last : 0;
    int64_t start = launch ? min_i64(t->slice.start[launch], gap.end) : gap.end;
    int64_t end = launch ? min_i64(slice_end(t, launch), gap.end) : gap.end;
    if (start > gap.start) TRY(emit_thread(c, (interval){gap.start, start}, track, other, err));
    if (!launch) return OK;
    host_piece call = host_view_at(&c->host, launch);
    call.range = (interval){max_i64(gap.start, start), end};
    if (call.doing != DOING_SYNC) call.doing = DOING_LAUNCH;
    TRY(emit_doing(c, &call, err));
    return give_launched(c, gap, end, err);
}

/* ---- one device after the other ---------------------------------------------------------- */

typedef struct {
    int64_t at, computes, communicates; /* ends */
    uint32_t comm, last;                /* rows of the works that end last */
} sweep;

/* From where the sweep is to the start of a work, or to the end of the steps. */
static status advance(causes *c, sweep *s, int64_t to, uint32_t work, error *err) {
    int64_t from = max_i64(s->at, s->computes), comm_end = min_i64(to, s->communicates);
    c->gap.before = s->last;
    c->gap.after = work;
    if (from < comm_end) {
        idle_piece p = c->gap;
        p.cause = IDLE_COMMUNICATION;
        p.doing = DOING_OTHER;
        p.slice = c->t->kernel.slice[s->comm];
        p.op = c->t->kernel.op[s->comm];
        TRY(emit_piece(c, (interval){from, comm_end}, &p, err));
        from = comm_end;
    }
    if (from < to) TRY(give_gap(c, (interval){from, to}, err));
    s->at = max_i64(s->at, to);
    return OK;
}

static status sweep_device(causes *c, const sort_pair *work, size_t n, error *err) {
    const trace *t = c->t;
    const step_spans *steps = c->q->steps;
    int64_t end = steps->v[steps->n - 1].end;
    sweep s = {.at = steps->v[0].start, .computes = INT64_MIN, .communicates = INT64_MIN};
    c->step = 0;
    for (int i = 0; i < N_SPANS; i++) c->spans[i].at = 0;
    c->longest_host_ns = 0;
    host_view_rewind(&c->host);
    for (size_t i = 0; i < n && s.at < end; i++) {
        uint32_t k = work[i].row, slice = t->kernel.slice[k];
        bool comm = !c->q->no_communication && comm_kernel_row(&c->comm, k);
        int64_t until = slice_end(t, slice), *ends = comm ? &s.communicates : &s.computes;
        if (t->slice.start[slice] > s.at)
            TRY(advance(c, &s, min_i64(t->slice.start[slice], end), k, err));
        if (!s.last || until > slice_end(t, t->kernel.slice[s.last])) s.last = k;
        if (comm && until > s.communicates) s.comm = k;
        *ends = max_i64(*ends, until);
    }
    if (s.at < end) TRY(advance(c, &s, end, 0, err));
    return emit_pending(c, err);
}

static uint64_t time_key(int64_t time) {
    return (uint64_t)time ^ (uint64_t)1 << 63;
}

/* All works by device, then start; all devices as one: by start. */
static sort_pair *sort_works(const causes *c, size_t *n) {
    const trace *t = c->t;
    arena *a = c->arena;
    sort_pair *pairs = arena_alloc(a, ((size_t)t->kernel.n + 1) * sizeof *pairs);
    if (!pairs) return NULL;
    for (uint32_t k = 1; k < t->kernel.n; k++)
        pairs[(*n)++] = (sort_pair){time_key(t->slice.start[t->kernel.slice[k]]), k};
    if (!sort_radix_in(a, pairs, *n)) return NULL;
    for (size_t i = 0; i < *n; i++)
        pairs[i].key = c->q->together ? 0 : time_key(t->kernel.device[pairs[i].row]);
    return c->q->together || sort_radix_in(a, pairs, *n) ? pairs : NULL;
}

static status find_devices(causes *c, idle_devices *out, error *err) {
    size_t n = 0;
    const sort_pair *work = sort_works(c, &n);
    if (!work) FAIL_MEMORY(err);
    for (size_t first = 0, end; first < n && out->n < MOST_IDLE_DEVICES; first = end) {
        for (end = first + 1; end < n && work[end].key == work[first].key;) end++;
        c->gap = (idle_piece){.device = out->n};
        out->id[out->n++] = c->t->kernel.device[work[first].row];
        TRY(sweep_device(c, work + first, end - first, err));
    }
    return OK;
}

/* The thread that waits for the device longest: the program's, where nothing marks steps. */
static uint32_t waiting_thread(const causes *c) {
    const trace *t = c->t;
    uint32_t most = 0;
    int64_t most_ns = 0;
    for (size_t i = 0; i < c->host.n_blocking;) { /* by thread */
        uint32_t track = trace_track_of(t, c->host.blocking[i]);
        int64_t ns = 0;
        for (; i < c->host.n_blocking && c->host.blocking[i] < t->track.end[track]; i++)
            ns = add_i64(ns, t->slice.dur[c->host.blocking[i]]);
        if (ns <= most_ns) continue;
        most = track;
        most_ns = ns;
    }
    return most;
}

static status causes_init(causes *c, error *err) {
    const trace *t = c->t;
    uint32_t row = c->q->steps->v[0].row, mark = row ? t->step.slice[row] : 0;
    c->launches = ARENA_ARRAY(c->arena, uint8_t, (size_t)t->process.n + 1);
    if (!c->launches) FAIL_MEMORY(err);
    TRY(host_view_init(&c->host, t, c->arena, err));
    c->main = mark ? trace_track_of(t, mark) : waiting_thread(c);
    c->host.coarse = c->q->coarse;
    TRY(comm_names_init(&c->comm, t, c->arena, err));
    note_launching(c);
    return find_spans(c, err);
}

status idle_causes_find(const idle_causes_question *q, idle_devices *out, error *err) {
    causes c = {.q = q, .t = q->t, .arena = q->arena};
    idle_devices found = {.id = ARENA_ARRAY(q->arena, int32_t, MOST_IDLE_DEVICES)};
    if (!found.id) FAIL_MEMORY(err);
    if (q->steps->n && q->t->kernel.n > 1) {
        TRY(causes_init(&c, err));
        TRY(find_devices(&c, &found, err));
    }
    *out = found;
    return OK;
}

/* ---- as a list --------------------------------------------------------------------------- */

typedef struct {
    arena *arena;
    idle_pieces out;
} collector;

static status add_piece(void *context, const idle_piece *p, error *err) {
    collector *k = context;
    idle_pieces *o = &k->out;
    if (o->n == o->cap) {
        size_t cap = o->cap ? o->cap * 2 : 256;
        idle_piece *more =
            arena_grow(k->arena, o->v, o->cap * sizeof *more, cap * sizeof *more);
        if (!more) FAIL_MEMORY(err);
        o->v = more;
        o->cap = cap;
    }
    o->v[o->n++] = *p;
    o->ns[p->cause] = add_i64(o->ns[p->cause], idle_piece_ns(p));
    return OK;
}

status idle_pieces_find(const trace *t, const step_spans *steps, const intervals *comm,
                        arena *a, idle_pieces *out, error *err) {
    collector k = {.arena = a};
    idle_devices devices;
    idle_causes_question q = {.t = t,
                              .steps = steps,
                              .arena = a,
                              .together = true,
                              .coarse = true,
                              .no_communication = comm && !comm->n,
                              .visit = add_piece,
                              .context = &k};
    TRY(idle_causes_find(&q, &devices, err));
    *out = k.out;
    return OK;
}
