/* event_parser.c: the predicting tokenizer. See event_parser.h for the idea.
 *
 *   …"dur": 217.387,\n    "args": {\n      "External id": 2049,"Record function id": 0, …
 *           ^value ^------------- gap -----------------^value^------- gap -------^value
 *
 * A gap is everything between two values. "ph", "cat", "s" and "bp" are not values but part of
 * the gap: their words are few, so a node knows its phase and category without reading them.
 * Invariants: an event is emitted once, when its closing bracket was read; everything up to
 * `checkpoint` has been emitted, so a parse that runs out of bytes starts again there. Reading
 * words beyond `end` is allowed (the source pads), using them is not: each token's end is
 * compared with `end` before it counts. Here is the loop; event_parser_int.h says where the
 * rest is. */
#include "ingest/trace_events/event_parser.h"

#include "base/json.h"
#include "base/mem.h"
#include "ingest/trace_events/event_parser_value_int.h"

event_parser *event_parser_new(builder *b, part *p, parser_sink sink) {
    event_parser *l = mem_zalloc(sizeof *l);
    if (!l) return NULL;
    l->b = b;
    l->part = p;
    l->strings = builder_strings(b);
    l->sink = sink;
    l->node_list = VEC_INIT(node *);
    l->seen = VEC_INIT(uint8_t);
    l->pending = VEC_INIT(pending_loss);
    arena_init(&l->memory, 0);
    l->next_texts = mem_zalloc(sizeof *l->next_texts << NEXT_TEXT_BITS);
    l->text_cache = mem_zalloc(sizeof *l->text_cache << TEXT_CACHE_BITS);
    if (l->next_texts && l->text_cache) return l;
    event_parser_free(l);
    return NULL;
}

void event_parser_free(event_parser *l) {
    if (!l) return;
    arena_fini(&l->memory);
    map_fini(&l->nodes);
    map_fini(&l->normal_ids);
    map_fini(&l->repairs);
    vec_fini(&l->node_list);
    vec_fini(&l->seen);
    vec_fini(&l->pending);
    buf_fini(&l->scratch);
    mem_free(l->next_texts);
    mem_free(l->text_cache);
    mem_free(l);
}

status event_parser_failure(const event_parser *l) {
    return l->failure;
}

static inline bool is_gap(const gap *g, const char *p, size_t left) {
    return g->n <= left && scan_equal_front(p, g->bytes, g->n, g->front);
}

static gap *choose_gap(node *n, const char *p, size_t left) {
    uint8_t *chosen = parser_chosen(&n->gap_at, p);
    if (!n->n_gaps) return NULL;
    gap *g = n->gaps[*chosen];
    if (__builtin_expect(is_gap(g, p, left), 1)) return g;
    for (unsigned i = 0; i < n->n_gaps; i++)
        if (is_gap(n->gaps[i], p, left)) return n->gaps[*chosen = (uint8_t)i];
    return NULL;
}

/* The remembered gap that is at p, or NULL. When there are several, one byte tells which to try
 * first: trying them in turn would go wrong at every second event. */
static inline gap *predict(node *n, const char *p, const char *end) {
    size_t left = (size_t)(end - p);
    if (WITHOUT == THE_GAPS) return NULL;
    if (n->n_gaps == 1) return is_gap(n->gaps[0], p, left) ? n->gaps[0] : NULL;
    return choose_gap(n, p, left);
}

static inline bool is_run(const value_run *f, const char *p, size_t left) {
    return f->n <= left && scan_equal_wide(p, f->bytes, f->n, f->wide);
}

/* The value run that is at p, likewise. */
static inline value_run *find_run(node *n, const char *p, const char *end) {
    size_t left = (size_t)(end - p);
    if (!n->n_runs) return NULL;
    uint8_t one = 0, *chosen = n->n_runs == 1 ? &one : parser_chosen(&n->run_at, p);
    value_run *f = n->runs[*chosen];
    if (__builtin_expect(!is_run(f, p, left), 0)) {
        unsigned i = 0;
        while (i < n->n_runs && !is_run(n->runs[i], p, left)) i++;
        if (i == n->n_runs) return NULL;
        f = n->runs[ *chosen = (uint8_t)i];
    }
    if (n->misses) n->misses--;
    return f;
}

static inline void take_run(event_parser *l, const value_run *f) {
    event *e = &l->e;
    e->has |= f->has;
    if (f->has & EVENT_NAME) e->name = f->name;
    if (f->has & EVENT_PID) e->pid = f->pid;
    if (f->has & EVENT_TID) e->tid = f->tid;
    for (unsigned i = 0; i < f->n_texts; i++)
        parser_add(l, f->texts[i].at, VALUE_STRING, 0, f->texts[i].id);
    l->history = l->history << f->shift ^ f->mix;
}

/* At p is the first argument of an event, and nothing of it was read yet: are this and
 * everything up to its name what the last such event had, followed by a gap that is known?
 * Then they are taken; else this event may be the next to be kept. The answer is the next
 * value, whose node is l->args_next. The last bytes are looked at first: the number in the
 * name. */
static __attribute__((noinline)) const char *take_cached_args(event_parser *l, node *n,
                                                              const char *p, const char *end) {
    const args_cache *o = &l->args_cache;
    event *e = &l->e;
    const char *stop = p + o->n;
    l->args_from = p;
    l->args_node = l->args_next = n;
    l->args_event = e->offset;
    if (o->from != n || o->n >= (size_t)(end - p) ||
        scan_word(stop - 8) != scan_word(o->bytes + o->n - 8) || !scan_equal(p, o->bytes, o->n))
        return p;
    const gap *g = predict(o->at, stop, end);
    if (!g || g->ends) return p;
    l->args_from = NULL;
    e->has = EVENT_NAME;
    e->name = o->name;
    e->n_values = o->n_values;
    e->fields = o->fields;
    memcpy(e->values, o->values, sizeof o->values);
    memcpy(e->keys, o->keys, sizeof o->keys);
    memcpy(e->at, o->field_at, sizeof o->field_at);
    e->args_cache = o->number;
    e->n_cached = o->n_values;
    l->args_next = g->next;
    return stop + g->n;
}

static parse_result finish(walk *w, walk_result r, const char **stop) {
    event_parser *l = w->l;
    bool no_event = r == WALK_SYNTAX && w->k.context == IN_LIST;
    if (no_event) w->checkpoint = w->p;
    if (no_event || r == WALK_END || r == WALK_CLEAN) parser_count_pending(l);
    l->comma = r == WALK_CLEAN && w->comma;
    *stop = w->checkpoint;
    switch (r) {
    case WALK_END: *stop = w->p; return PARSE_END;
    case WALK_CLEAN: *stop = w->end; return PARSE_CLEAN;
    case WALK_MORE: return PARSE_INCOMPLETE;
    case WALK_SYNTAX: return PARSE_DAMAGED;
    case WALK_UNDECIDED: return PARSE_UNDECIDED;
    default:
        if (l->failure == OK) l->failure = ERR_MEMORY;
        return PARSE_FAILED;
    }
}

/* Is there no value, as in `"ts":,`, rather than one that is cut? */
static bool lacks_value(const char *p) {
    return *p == ',' || *p == ':' || *p == '}' || *p == ']';
}

/* The general path after a value, with one try to repair a string. */
static walk_result walk_or_repair(walk *w, node *n) {
    const char *from = w->p;
    walk_result r = parser_walk_gap(w, n);
    if (r == WALK_SYNTAX && n && w->p == json_space(from, w->end) && w->l->string_start) {
        repair_result done = parser_repair(w->l, n, w->end, &w->p);
        if (done == REPAIR_DONE) return parser_walk_gap(w, n);
        r = done == REPAIR_NONE ? WALK_SYNTAX : WALK_UNDECIDED;
    }
    return r;
}

parse_result event_parser_parse(event_parser *l, const char *p, const char *end, uint64_t base,
                                const char **stop) {
    walk w = {.l = l, .p = p, .end = end, .checkpoint = p};
    l->base = base;
    l->start = p;
    l->failure = OK;
    l->pending.n = 0;
    l->args_from = NULL;
    walk_result r = parser_walk_gap(&w, NULL);
    if (r != WALK_VALUE) return finish(&w, r, stop);
    node *n = w.next;
    value_run *before = NULL; /* the last value, when it was a run */
    node *before_at = NULL;
    p = w.p;
    for (;;) {
        const char *value = p;
        value_run *f = n->has_runs ? find_run(n, p, end) : NULL;
        if (f) {
            take_run(l, f);
            if (before && !before->whole) parser_join_runs(before_at, before, f, n);
            before = f;
            before_at = n;
            p += f->n;
            n = f->next;
            continue;
        }
        before = NULL;
        p = parser_value(l, n, p, end);
        if (__builtin_expect(!p || p >= end, 0)) {
            const char *first = json_space(value, end);
            if (p || first == end) return finish(&w, WALK_MORE, stop);
            if (first == value)
                return finish(&w, lacks_value(value) ? WALK_SYNTAX : WALK_MORE, stop);
            p = first; /* more white space in front of the value than was learned */
            continue;
        }
        gap *g = predict(n, p, end);
        if (__builtin_expect(g != NULL, 1)) {
            if (n->has_runs) parser_learn_run(l, n, str_n(value, (size_t)(p - value)), g);
            if (g->ends) {
                if (!parser_emit(l, &g->ending)) return finish(&w, WALK_FAILED, stop);
                w.checkpoint = p + g->begin_at;
                l->e.offset = parser_offset(l, w.checkpoint);
                if (__builtin_expect(g->next->opens, 0)) {
                    p = take_cached_args(l, g->next, p + g->n, end);
                    n = l->args_next;
                    continue;
                }
            }
            p += g->n;
            n = g->next;
            continue;
        }
        w.p = p;
        r = walk_or_repair(&w, n);
        if (r != WALK_VALUE) return finish(&w, r, stop);
        n = w.next;
        p = w.p;
    }
}
