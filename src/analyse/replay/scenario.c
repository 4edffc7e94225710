/* scenario.c: what is to be different, and what it touches in a trace.
 *
 * One pass over the threads. Each change is open at most once at a time, since calls inside its
 * calls belong to them; whenever one opens or closes a new stretch begins. So stretches of a
 * thread are disjoint and each says by bits which changes apply. Work belongs to the stretch of
 * its launch. */
#include "analyse/replay/scenario.h"

#include "analyse/comm/comm_kind.h"
#include "analyse/intervals.h"
#include "analyse/operators/module_work.h"
#include "base/bisect.h"
#include "base/message_ids_advice.h"

/* ---- words ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    scenario_kind kind;
} kind_words[] = {{"kernel", CHANGE_TO_KERNEL},
                  {"op", CHANGE_TO_OP},
                  {"module", CHANGE_TO_MODULE},
                  {"range", CHANGE_TO_RANGE}};

static const struct {
    const char *param;
    scenario_kind kind;
} flags[] = {
    {"no_launch_cost", CHANGE_NO_LAUNCH_COST}, {"no_sync", CHANGE_NO_SYNC},
    {"no_data_wait", CHANGE_NO_DATA_WAIT},     {"no_communication", CHANGE_NO_COMMUNICATION},
    {"overlap_communication", CHANGE_OVERLAP}, {"cuda_graph", CHANGE_CUDA_GRAPH},
    {"unprofiled", CHANGE_UNPROFILED}};

static status fail_change(str text, bool scale, error *err) {
    FAIL(err, ERR_ARG, NOPOS, scale ? MSG_WHATIF_BAD_SCALE : MSG_WHATIF_BAD_REMOVE,
         arg_text("text", text));
}

/* KIND:PATTERN, with =FACTOR after it when it scales. */
static status read_change(str text, bool scale, scenario_change *out, error *err) {
    size_t colon = str_find(text, STR(":"), 0), equal = str_rfind_byte(text, '=');
    *out = (scenario_change){.text = text};
    if (colon == SIZE_MAX || (scale && (equal == SIZE_MAX || equal <= colon)))
        return fail_change(text, scale, err);
    str word = str_n(text.p, colon), rest = str_from(text, colon + 1);
    if (scale) {
        rest = str_n(rest.p, equal - colon - 1);
        if (!str_to_f64(str_trim(str_from(text, equal + 1)), &out->factor) || out->factor < 0 ||
            out->factor > 1e6)
            return fail_change(text, scale, err);
    }
    out->pattern = str_trim(rest);
    if (!out->pattern.n) return fail_change(text, scale, err);
    for (size_t i = 0; i < N_OF(kind_words); i++) {
        if (!str_eq(word, str_of(kind_words[i].name))) continue;
        out->kind = kind_words[i].kind;
        return OK;
    }
    return fail_change(text, scale, err);
}

/* A number above 0. */
static bool read_factor(str text, double *out) {
    return str_to_f64(str_trim(text), out) && *out > 0 && *out <= 1e6;
}

/* bandwidth=2,latency=0.5, either one alone, or a number: the bandwidth. */
static bool read_network(str text, scenario_change *v) {
    v->bandwidth = v->latency = 1;
    if (read_factor(text, &v->bandwidth)) return true;
    while (text.n) {
        str part = str_cut(&text, STR(","));
        size_t equal = str_find(part, STR("="), 0);
        if (equal == SIZE_MAX) return false;
        str name = str_trim(str_n(part.p, equal)), value = str_from(part, equal + 1);
        double *to = str_eq(name, STR("bandwidth")) ? &v->bandwidth
                     : str_eq(name, STR("latency")) ? &v->latency
                                                    : NULL;
        if (!to || !read_factor(value, to)) return false;
    }
    return true;
}

/* FACTOR, or FACTOR:SIZE where the size of the recorded batch is given. */
static bool read_batch(str text, scenario_change *v) {
    size_t colon = str_find(text, STR(":"), 0);
    str factor = colon == SIZE_MAX ? text : str_n(text.p, colon);
    if (colon != SIZE_MAX &&
        (!str_to_i64(str_trim(str_from(text, colon + 1)), &v->size) || v->size <= 0))
        return false;
    return read_factor(factor, &v->factor);
}

static status read_valued(const params *p, arena *a, scenario *out, error *err) {
    str network = param_text(p, STR("network")), batch = param_text(p, STR("batch"));
    if (network.n) {
        scenario_change *v = &out->v[out->n++];
        *v = (scenario_change){.kind = CHANGE_NETWORK};
        v->text = arena_printf(a, "network %.*s", STR_ARG(network));
        if (!v->text.p) FAIL_MEMORY(err);
        if (!read_network(network, v))
            FAIL(err, ERR_ARG, NOPOS, MSG_WHATIF_BAD_NETWORK, arg_text("text", network));
    }
    if (batch.n) {
        scenario_change *v = &out->v[out->n++];
        *v = (scenario_change){.kind = CHANGE_BATCH};
        v->text = arena_printf(a, "batch %.*s", STR_ARG(batch));
        if (!v->text.p) FAIL_MEMORY(err);
        if (!read_batch(batch, v))
            FAIL(err, ERR_ARG, NOPOS, MSG_WHATIF_BAD_BATCH, arg_text("text", batch));
    }
    return OK;
}

status scenario_read(const params *p, arena *a, scenario *out, error *err) {
    *out = (scenario){.n = 0};
    for (uint32_t i = 0; i < p->n_extra; i++) {
        bool scale = str_eq(p->extra[i].name, STR("scale"));
        if (!scale && !str_eq(p->extra[i].name, STR("remove"))) continue;
        TRY(read_change(p->extra[i].value, scale, &out->v[out->n], err));
        out->n++;
    }
    for (size_t i = 0; i < N_OF(flags); i++)
        if (param_flag(p, str_of(flags[i].param)))
            out->v[out->n++] =
                (scenario_change){.kind = flags[i].kind, .text = str_of(flags[i].param)};
    return read_valued(p, a, out, err);
}

static size_t skip_blanks(str s, size_t i) {
    while (i < s.n && s.p[i] == ' ') i++;
    return i;
}

bool scenario_fits(str pattern, str text) {
    size_t p = skip_blanks(pattern, 0), i = skip_blanks(text, 0);
    size_t star = SIZE_MAX, from = 0; /* after the last *, and where it may go on */
    while (i < text.n) {
        if (p < pattern.n && pattern.p[p] == '*') {
            star = p = skip_blanks(pattern, p + 1);
            from = i;
        } else if (p < pattern.n && (pattern.p[p] == '?' || pattern.p[p] == text.p[i])) {
            p = skip_blanks(pattern, p + 1);
            i = skip_blanks(text, i + 1);
        } else if (star != SIZE_MAX) {
            p = star;
            i = from = skip_blanks(text, from + 1);
        } else {
            return false;
        }
    }
    while (p < pattern.n && pattern.p[p] == '*') p = skip_blanks(pattern, p + 1);
    return p == pattern.n;
}

/* ---- what they touch --------------------------------------------------------------------- */

typedef struct {
    scenario *s;
    const trace *t;
    arena *arena;
    uint8_t *memo[MOST_CHANGES]; /* by string: 0 not looked at, 1 no, 2 yes */
    module_work modules[MOST_CHANGES];
    size_t module_at[MOST_CHANGES];
    bool by_shape[MOST_CHANGES];
    comm_names comms;
    uint32_t op_at;              /* cursor in table op */
    int64_t until[MOST_CHANGES]; /* end of the open call of each change, when its bit is set */
    uint64_t open;
    int64_t since, next; /* start of the present stretch; the first of `until` */
    uint32_t walked[MOST_CHANGES], n_walked; /* changes that look at calls */
    uint32_t tried[MOST_CHANGES], n_tried;   /* changes that may touch device work */
    uint32_t n, cap;                         /* stretches */
} matcher;

static bool name_fits(matcher *m, uint32_t c, uint32_t name) {
    if (name >= m->t->n_strings) return false;
    uint8_t *memo = &m->memo[c][name];
    if (!*memo) *memo = scenario_fits(m->s->v[c].pattern, trace_str(m->t, name)) ? 2 : 1;
    return *memo == 2;
}

/* "name shapes", as the table of operators by shape shows them. */
static bool shape_fits(matcher *m, uint32_t c, uint32_t slice) {
    const trace *t = m->t;
    str name = trace_slice_name(t, slice), pattern = m->s->v[c].pattern;
    size_t bracket = str_find(pattern, STR("["), 0);
    if (m->op_at >= t->op.n || t->op.slice[m->op_at] != slice) return false;
    str shapes = trace_str(t, t->op.shapes[m->op_at]);
    return shapes.n && scenario_fits(str_n(pattern.p, bracket), name) &&
           scenario_fits(str_from(pattern, bracket), shapes);
}

static bool is_range(uint8_t kind) {
    return kind == KIND_ANNOTATION || kind == KIND_FORWARD || kind == KIND_BACKWARD ||
           kind == KIND_OPTIMIZER || kind == KIND_DATA || kind == KIND_COLLECTIVE ||
           kind == KIND_FRAMEWORK || kind == KIND_GARBAGE || kind == KIND_COMPILE ||
           kind == KIND_IMPORT;
}

static bool in_modules(matcher *m, uint32_t c, uint32_t slice) {
    const module_work *w = &m->modules[c];
    size_t *at = &m->module_at[c];
    while (*at < w->n && w->slices[*at] < slice) ++*at;
    return *at < w->n && w->slices[*at] == slice;
}

/* Its place in the list + 1; 0: it is missing. */
static uint32_t listed_at(const scenario_change *v, uint32_t slice) {
    uint32_t i = SEARCH_FIRST(k, 0u, v->n_calls, v->listed[k] < slice);
    return i < v->n_calls && v->listed[i] == slice ? i + 1 : 0;
}

/* When a call that a change touches ends for it. */
static int64_t touched_until(const trace *t, const scenario_change *v, uint32_t slice) {
    uint32_t at = v->kind == CHANGE_TO_LISTED && v->listed_until ? listed_at(v, slice) : 0;
    return at ? v->listed_until[at - 1] : slice_end(t, slice);
}

static bool touches(matcher *m, uint32_t c, uint32_t slice) {
    const trace *t = m->t;
    uint8_t kind = t->slice.kind[slice];
    switch (m->s->v[c].kind) {
    case CHANGE_TO_OP:
        if (kind != KIND_OP) return false;
        return m->by_shape[c] ? shape_fits(m, c, slice) : name_fits(m, c, t->slice.name[slice]);
    case CHANGE_TO_RANGE: return is_range(kind) && name_fits(m, c, t->slice.name[slice]);
    case CHANGE_TO_MODULE: return in_modules(m, c, slice);
    case CHANGE_TO_LISTED: return listed_at(&m->s->v[c], slice) != 0;
    case CHANGE_NO_DATA_WAIT: return kind == KIND_DATA;
    case CHANGE_CUDA_GRAPH: return kind == KIND_DATA;
    case CHANGE_NO_COMMUNICATION:
    case CHANGE_OVERLAP:
    case CHANGE_NETWORK:
        return kind == KIND_COLLECTIVE && comm_host_id(&m->comms, t->slice.name[slice]) &&
               !comm_is_call(&m->comms, slice);
    case CHANGE_TO_KERNEL:
    case CHANGE_NO_LAUNCH_COST:
    case CHANGE_NO_SYNC:
    case CHANGE_UNPROFILED:
    case CHANGE_BATCH: break;
    }
    return false;
}

static status add_stretch(matcher *m, int64_t end, error *err) {
    scenario *s = m->s;
    int64_t start = m->since;
    m->since = max_i64(start, end);
    if (!m->open || end <= start) return OK;
    if (m->n == m->cap) {
        uint32_t cap = m->cap ? 2 * m->cap : 1024;
        scenario_stretch *more =
            arena_grow(m->arena, s->stretches, m->cap * sizeof *more, cap * sizeof *more);
        if (!more) FAIL_MEMORY(err);
        s->stretches = more;
        m->cap = cap;
    }
    s->stretches[m->n++] = (scenario_stretch){start, end, m->open};
    return OK;
}

/* Closes what ends by `now`, in order of the ends. */
static status close_until(matcher *m, int64_t now, error *err) {
    while (m->open && m->next <= now) {
        TRY(add_stretch(m, m->next, err));
        int64_t next = INT64_MAX;
        for (uint32_t c = 0; c < m->s->n; c++) {
            if (!(m->open >> c & 1)) continue;
            if (m->until[c] <= m->next)
                m->open &= ~((uint64_t)1 << c);
            else
                next = min_i64(next, m->until[c]);
        }
        m->next = next;
    }
    return OK;
}

static status open_change(matcher *m, uint32_t c, int64_t start, int64_t end, error *err) {
    if (m->open >> c & 1 || end <= start) return OK;
    TRY(add_stretch(m, start, err));
    m->since = max_i64(m->since, start);
    m->open |= (uint64_t)1 << c;
    m->until[c] = end;
    m->next = m->open == (uint64_t)1 << c ? end : min_i64(m->next, end);
    m->s->v[c].calls++;
    m->s->v[c].host_ns = add_i64(m->s->v[c].host_ns, sub_i64(end, start));
    return OK;
}

/* From the start of a step until its thread launches anything a program gets and prepares its
 * batch, whether or not a data loader is recorded; empty when the thread launches nothing. */
static interval wait_at_start(const why_graph *g, const why_step *step) {
    const why_point *mark = &g->points[step->start];
    if (!mark->track) return (interval){0, 0};
    uint32_t slice = trace_lower_bound(g->t, mark->track, mark->start);
    uint32_t i = SEARCH_FIRST(k, 1u, g->first_mark, g->points[k].slice < slice);
    const why_point *p = &g->points[i];
    bool inside =
        i < g->first_mark && p->track == mark->track && p->start < g->points[step->end].start;
    return inside ? (interval){mark->start, p->start} : (interval){0, 0};
}

typedef struct {
    uint32_t step; /* the next one whose start is to be looked at */
    uint32_t data; /* the change that takes its wait away, + 1 */
} step_cursor;

static status open_starts(matcher *m, step_cursor *at, uint32_t track, int64_t now,
                          error *err) {
    const why_graph *g = m->s->g;
    for (; at->data && at->step < g->n_steps; at->step++) {
        const why_point *mark = &g->points[g->steps[at->step].start];
        if (mark->start > now) break;
        if (mark->track != track) continue; /* its own thread has it */
        interval wait = wait_at_start(g, &g->steps[at->step]);
        TRY(close_until(m, wait.start, err));
        TRY(open_change(m, at->data - 1, wait.start, wait.end, err));
    }
    return OK;
}

static status walk_thread(matcher *m, uint32_t track, uint32_t data, error *err) {
    const trace *t = m->t;
    step_cursor at = {.data = data};
    m->open = 0;
    for (uint32_t i = t->track.first[track]; i < t->track.end[track]; i++) {
        int64_t start = t->slice.start[i];
        TRY(open_starts(m, &at, track, start, err));
        if (m->open && m->next <= start) TRY(close_until(m, start, err));
        while (m->op_at < t->op.n && t->op.slice[m->op_at] < i) m->op_at++;
        for (uint32_t k = 0; k < m->n_walked; k++) {
            uint32_t c = m->walked[k];
            if (touches(m, c, i))
                TRY(open_change(m, c, start, touched_until(t, &m->s->v[c], i), err));
        }
    }
    return close_until(m, INT64_MAX, err);
}

/* ---- device work ------------------------------------------------------------------------- */

uint64_t scenario_of_kind(const scenario *s, scenario_kind kind) {
    uint64_t found = 0;
    for (uint32_t c = 0; c < s->n; c++)
        if (s->v[c].kind == kind) found |= (uint64_t)1 << c;
    return found;
}

uint64_t scenario_mask_at(const scenario *s, uint32_t track, int64_t time) {
    uint32_t low = s->first[track], high = s->first[track + 1];
    uint32_t i = SEARCH_FIRST(k, low, high, s->stretches[k].end <= time);
    return i < high && s->stretches[i].start <= time ? s->stretches[i].mask : 0;
}

/* Where on the host a work was asked for: its launch, or the operator that is known for it. */
static uint32_t host_of(const trace *t, uint32_t k) {
    uint32_t op = t->kernel.op[k];
    if (op && trace_own_op(t, k) != op) return op;
    return t->kernel.launch[k] ? t->kernel.launch[k] : op;
}

static bool takes_device_work(scenario_kind kind) {
    return kind == CHANGE_TO_OP || kind == CHANGE_TO_MODULE || kind == CHANGE_TO_RANGE;
}

static bool may_touch_work(const scenario_change *v) {
    if (v->kind == CHANGE_TO_LISTED) return v->work_marks != NULL;
    return v->kind == CHANGE_TO_KERNEL || v->kind == CHANGE_NO_COMMUNICATION ||
           v->kind == CHANGE_OVERLAP || takes_device_work(v->kind);
}

static bool touches_work(matcher *m, uint32_t c, uint32_t k, uint64_t host) {
    const scenario_change *v = &m->s->v[c];
    if (v->kind == CHANGE_TO_KERNEL)
        return name_fits(m, c, m->t->slice.name[m->t->kernel.slice[k]]);
    if (v->kind == CHANGE_NO_COMMUNICATION || v->kind == CHANGE_OVERLAP)
        return comm_kernel_row(&m->comms, k);
    if (v->kind == CHANGE_TO_LISTED) return v->work_marks && v->work_marks[k] & v->mark;
    return takes_device_work(v->kind) && host >> c & 1;
}

static void match_work(matcher *m) {
    const trace *t = m->t;
    scenario *s = m->s;
    for (uint32_t k = 1; k < t->kernel.n && m->n_tried; k++) {
        uint32_t slice = host_of(t, k);
        uint64_t host =
            slice ? scenario_mask_at(s, trace_track_of(t, slice), t->slice.start[slice]) : 0;
        for (uint32_t i = 0; i < m->n_tried; i++) {
            uint32_t c = m->tried[i];
            if (!touches_work(m, c, k, host)) continue;
            s->work_mask[k] |= (uint64_t)1 << c;
            s->v[c].kernels++;
            s->v[c].device_ns = add_i64(s->v[c].device_ns, t->slice.dur[t->kernel.slice[k]]);
        }
    }
}

/* ---- whole ------------------------------------------------------------------------------- */

static bool module_matches(void *context, str name) {
    const scenario_change *v = context;
    return scenario_fits(v->pattern, name);
}

static bool looks_at_calls(const scenario_change *v) {
    switch (v->kind) {
    case CHANGE_TO_KERNEL:
    case CHANGE_NO_LAUNCH_COST:
    case CHANGE_NO_SYNC:
    case CHANGE_UNPROFILED:
    case CHANGE_BATCH: return false;
    case CHANGE_TO_LISTED: return v->n_calls != 0;
    default: return true;
    }
}

static status prepare(matcher *m, error *err) {
    const trace *t = m->t;
    scenario *s = m->s;
    selection all = select_all(t);
    for (uint32_t c = 0; c < s->n; c++) {
        scenario_change *v = &s->v[c];
        if (looks_at_calls(v)) m->walked[m->n_walked++] = c;
        if (may_touch_work(v)) m->tried[m->n_tried++] = c;
        if (v->pattern.n) m->memo[c] = ARENA_ARRAY(m->arena, uint8_t, (size_t)t->n_strings + 1);
        if (v->pattern.n && !m->memo[c]) FAIL_MEMORY(err);
        m->by_shape[c] = str_find(v->pattern, STR("["), 0) != SIZE_MAX;
        if (v->kind == CHANGE_TO_MODULE)
            TRY(module_work_match(t, &all, module_matches, v, m->arena, &m->modules[c], err));
    }
    return comm_names_init(&m->comms, t, m->arena, err);
}

static uint32_t data_change(const scenario *s) {
    for (uint32_t c = 0; c < s->n; c++)
        if (s->v[c].kind == CHANGE_NO_DATA_WAIT) return c + 1;
    return 0;
}

static status check_matches(const scenario *s, error *err) {
    for (uint32_t c = 0; c < s->n; c++)
        if (s->v[c].pattern.n && !s->v[c].calls && !s->v[c].kernels)
            FAIL(err, ERR_ARG, NOPOS, MSG_WHATIF_NO_MATCH, arg_text("text", s->v[c].text));
    return OK;
}

/* Changes that give each work a separate time, and the cost of recording. */
static status match_own_times(matcher *m, error *err) {
    scenario *s = m->s;
    for (uint32_t c = 0; c < s->n; c++) {
        scenario_kind kind = s->v[c].kind;
        if (kind == CHANGE_UNPROFILED) TRY(profiler_cost_find(s, m->arena, err));
        if (kind != CHANGE_NETWORK && kind != CHANGE_BATCH) continue;
        if (!s->own_ns) s->own_ns = ARENA_ARRAY(m->arena, int64_t, (size_t)m->t->kernel.n + 1);
        if (!s->own_ns) FAIL_MEMORY(err);
        TRY(kind == CHANGE_NETWORK ? scenario_match_network(s, &m->comms, c, m->arena, err)
                                   : scenario_match_batch(s, &m->comms, c, m->arena, err));
    }
    return OK;
}

status scenario_match(scenario *s, const why_graph *g, arena *a, error *err) {
    const trace *t = g->t;
    matcher m = {.s = s, .t = t, .arena = a};
    s->g = g;
    s->first = ARENA_ARRAY(a, uint32_t, (size_t)t->track.n + 2);
    s->work_mask = ARENA_ARRAY(a, uint64_t, (size_t)t->kernel.n + 1);
    if (!s->first || !s->work_mask) FAIL_MEMORY(err);
    TRY(prepare(&m, err));
    for (uint32_t track = 0; track < t->track.n; track++) {
        s->first[track] = m.n;
        m.since = INT64_MIN;
        if (track && m.n_walked && t->track.kind[track] == TRACK_THREAD)
            TRY(walk_thread(&m, track, data_change(s), err));
    }
    s->first[t->track.n] = s->first[t->track.n + 1] = m.n;
    match_work(&m);
    TRY(match_own_times(&m, err));
    return s->of_many ? OK : check_matches(s, err);
}
