/* megengine_static_read.c: the bytes of a static graph's profile to records, in one walk.
 *
 *     {"graph_exec": {"operator": {ID: {name, type, input, …}}, "var": {ID: …}, …},
 *      "profiler":   {"device": {ID: {DEVICE: {start, kern, end}}}, "host": {ID: {THREAD: …}},
 *                     "opr_footprint": {ID: {computation, memory, in_shapes, …}}}}
 *
 * Objects come in any order, so nothing is joined here: each of the five becomes records under
 * the ids of its members. Most of the bytes are of variables, of which only the type is wanted:
 * they are skipped by counting brackets. A member that is not JSON costs itself: its end is
 * where its brackets say. One that is cut is not taken, nor is anything after it. The text has
 * SOURCE_PAD bytes after it, which may be read and are not used. */
#include "ingest/megengine/megengine_static_int.h"

#include "base/intern.h"
#include "base/json.h"

/* Reads what is at the cursor under a key; false when it cannot or when out of memory. */
typedef bool (*taker)(static_profile *p, cursor *c, str key);

/* ---- values ---- */

uint32_t static_keep(static_profile *p, str text) {
    uint32_t id = intern_add(p->strings, text);
    p->failed |= id == UINT32_MAX;
    return id;
}

/* The bytes a JSON string stands for. */
static uint32_t keep_decoded(static_profile *p, str value) {
    str inside = json_text(value);
    if (!inside.n || !memchr(inside.p, '\\', inside.n)) return static_keep(p, inside);
    buf_clear(&p->scratch);
    json_decode(inside, &p->scratch);
    p->failed |= !buf_ok(&p->scratch);
    return p->failed ? UINT32_MAX : static_keep(p, buf_str(&p->scratch));
}

/* Any value as normal JSON, by its own string id; each text is looked at once. 0 when out of
 * memory. */
static uint32_t keep_normal(static_profile *p, str value, uint32_t id) {
    if (p->failed) return 0;
    uint32_t *normal = vec_at(&p->normal, id);
    p->failed = !normal;
    if (normal && !*normal) {
        buf_clear(&p->scratch);
        json_normal(value, &p->scratch);
        p->failed |= !buf_ok(&p->scratch);
        *normal = p->failed ? 0 : static_keep(p, buf_str(&p->scratch));
    }
    return normal ? *normal : 0;
}

/* The value of a member, which is not a number, as an argument. */
static bool static_graph_read_take_text(static_profile *p, cursor *c, member *m, str *text) {
    *text = take_value_of(m, c);
    if (!text->p) return false;
    if (m->has_value) return true;
    if (*text->p == '"') {
        m->value = (raw_value){.tag = VALUE_STRING, .v = keep_decoded(p, *text)};
    } else {
        m->text_id = static_keep(p, *text);
        m->value = (raw_value){.tag = VALUE_RAW, .v = keep_normal(p, *text, m->text_id)};
    }
    m->has_value = !p->failed;
    return !p->failed;
}

/* The value of a member as an argument; *text is its text. */
static inline bool take_argument(static_profile *p, cursor *c, member *m, raw_value *out,
                                 str *text) {
    scanned s;
    const char *from = c->p;
    bool number = (uint8_t)(*from - '0') < 10 || *from == '-';
    const char *stop = number ? scan_number(from, c->end, &s) : NULL;
    if (stop && s.exact && (*stop == ',' || *stop == '}' || json_is_space(*stop))) {
        *out = (raw_value){
            .tag = s.digits ? VALUE_DECIMAL : VALUE_INT, .digits = s.digits, .v = s.v};
        *text = str_n(from, (size_t)(stop - from));
        c->p = stop;
        return true;
    }
    if (!static_graph_read_take_text(p, c, m, text)) return false;
    *out = m->value;
    return true;
}

/* The ids of this format are numbers in quotes: they are their own keys, any other text is
 * hashed. */
static inline uint64_t id_of(str key) {
    uint64_t v = 0;
    unsigned n =
        key.n && key.n <= 16 && (key.p[0] != '0' || key.n == 1) ? scan_digits(key.p, &v) : 0;
    if (n == 8) n += scan_digits(key.p + 8, &v);
    return n && n == key.n ? v : intern_hash(key) | STATIC_HASHED;
}

/* Row of the facts about an operator; 0 when out of memory. */
static uint32_t static_graph_read_find_facts(static_profile *p, str key) {
    uint64_t id = id_of(key);
    uint32_t guess = p->next;
    if (guess < p->facts.n && VEC(&p->facts, static_facts)[guess].id == id) {
        p->next = guess + 1;
        return guess;
    }
    uint32_t *at = map_at(&p->facts_of, id);
    if (at && *at == MAP_NONE) {
        static_facts *row = p->facts.n < UINT32_MAX ? vec_push(&p->facts) : NULL;
        *at = row ? (uint32_t)p->facts.n - 1 : 0;
        if (row) *row = (static_facts){.id = id};
    }
    p->failed |= !at || !*at;
    p->next = at ? *at + 1 : 0;
    return at ? *at : 0;
}

/* ---- samples ---- */

/* Seconds → ns. Decimals with up to nine digits need no rounding; below 2^50 ns doubles would
 * give the same. */
static bool static_graph_read_time_of(const raw_value *v, str text, int64_t *ns) {
    static const int64_t scale[] = {1000000000, 100000000, 10000000, 1000000, 100000,
                                    10000,      1000,      100,      10,      1};
    const int64_t limit = (int64_t)1 << 50;
    double seconds;
    if ((v->tag == VALUE_INT || v->tag == VALUE_DECIMAL) && v->digits < 10 &&
        !__builtin_mul_overflow(v->v, scale[v->digits], ns) && *ns > -limit && *ns < limit)
        return true;
    if (!json_f64(text, &seconds) || !(seconds > -9e9 && seconds < 9e9)) return false;
    *ns = round_i64(seconds * 1e9);
    return true;
}

/* {start, kern, end}; of one that comes twice the first counts. */
static bool take_times(static_profile *p, cursor *c, static_sample *s) {
    static const str names[N_TIMES] = {STR("start"), STR("kern"), STR("end")};
    const char *from = c->p;
    bool good[N_TIMES] = {0};
    int64_t ns[N_TIMES] = {0};
    members *all = &p->members_of[MEMBERS_TIMES];
    str text;
    if (*from != '{') return take_value(c).p != NULL;
    c->p++;
    for (member *m = all->rows; (m = next_member(all, c, m));) {
        unsigned i = member_name(m, names, N_TIMES);
        if (i == N_TIMES || s->present >> i & 1) {
            if (!take_value_of(m, c).p) break;
            continue;
        }
        if (!take_argument(p, c, m, &s->times[i], &text)) break;
        s->present |= (uint8_t)(1u << i);
        good[i] = static_graph_read_time_of(&s->times[i], text, &ns[i]);
    }
    s->timed = good[TIME_START] && good[TIME_END];
    s->start_ns = ns[TIME_START];
    s->end_ns = ns[TIME_END];
    return !p->failed && leave_object(c, from);
}

static bool static_graph_read_take_sample(static_profile *p, cursor *c, uint32_t where) {
    static_sample *s = vec_push(&p->samples);
    p->failed |= !s;
    if (p->failed) return false;
    *s = (static_sample){.offset = (uint64_t)(c->p - p->text.p), .where = where};
    if (take_times(p, c, s)) return true;
    p->samples.n--;
    return false;
}

/* {DEVICE: {start, kern, end}, …}. False when it is cut, or out of memory. */
static bool take_samples(static_profile *p, cursor *c) {
    members *all = &p->members_of[MEMBERS_SIDE];
    const char *from = c->p++;
    for (member *m = all->rows; (m = next_member(all, c, m));) {
        if (m->meaning == MEMBER_UNKNOWN) m->meaning = keep_decoded(p, m->key);
        if (p->failed || !static_graph_read_take_sample(p, c, m->meaning)) break;
    }
    return !p->failed && leave_object(c, from);
}

/* When an operator comes twice the last one counts, here and below. */
static bool take_side(static_profile *p, cursor *c, str id, int side) {
    uint32_t row = static_graph_read_find_facts(p, id), first = (uint32_t)p->samples.n;
    if (p->failed || first == UINT32_MAX) return false;
    if (*c->p == '{' ? !take_samples(p, c) : !take_value(c).p) {
        p->samples.n = first;
        return false;
    }
    static_facts *f = &VEC(&p->facts, static_facts)[row];
    f->first[side] = first;
    f->n[side] = (uint32_t)p->samples.n - first;
    return true;
}

static bool static_graph_read_take_device(static_profile *p, cursor *c, str id) {
    return take_side(p, c, id, SIDE_DEVICE);
}

static bool take_host(static_profile *p, cursor *c, str id) {
    return take_side(p, c, id, SIDE_HOST);
}

/* ---- footprints ---- */

static void set_cost(static_footprint *f, unsigned which, str text) {
    const raw_value *v = &f->values[which];
    if (which == FOOT_COMPUTATION) {
        if (v->tag == VALUE_INT)
            f->flops = (double)v->v;
        else if (!json_f64(text, &f->flops))
            f->flops = NAN;
        if (f->flops == 0) f->flops = NAN;
    } else if (which == FOOT_MEMORY) {
        if (v->tag == VALUE_INT)
            f->bytes = v->v;
        else if (!json_i64(text, &f->bytes))
            f->bytes = ABSENT_I64;
    }
}

static bool take_footprint(static_profile *p, cursor *c, str id) {
    static const str names[N_FOOT] = {STR("computation"), STR("memory"),     STR("in_shapes"),
                                      STR("in_layouts"),  STR("out_shapes"), STR("param")};
    uint32_t row = static_graph_read_find_facts(p, id), made = (uint32_t)p->footprints.n;
    static_footprint *f = p->failed || made == UINT32_MAX ? NULL : vec_push(&p->footprints);
    p->failed |= !f;
    if (p->failed) return false;
    *f = (static_footprint){.flops = NAN, .bytes = ABSENT_I64};
    const char *from = c->p;
    members *all = &p->members_of[MEMBERS_FOOT];
    str text;
    if (*from == '{') c->p++;
    for (member *m = all->rows; *from == '{' && (m = next_member(all, c, m));) {
        unsigned i = member_name(m, names, N_FOOT);
        if (i == N_FOOT || f->present >> i & 1) {
            if (!take_value_of(m, c).p) break;
            continue;
        }
        if (!take_argument(p, c, m, &f->values[i], &text)) break;
        f->present |= (uint8_t)(1u << i);
        set_cost(f, i, text);
        if (i == FOOT_IN_SHAPES)
            f->shapes = f->values[i].tag == VALUE_RAW ? m->text_id : static_keep(p, text);
    }
    if (p->failed || !(*from == '{' ? leave_object(c, from) : take_value(c).p != NULL))
        return false;
    VEC(&p->facts, static_facts)[row].footprint = made;
    return true;
}

/* ---- the graph ---- */

/* The member of the object at the cursor, which is at its value then; false when it has
 * none. */
static bool enter_member(cursor *c, str name) {
    str key;
    if (*c->p != '{') return false;
    for (c->p++; next_key(c, &key);) {
        if (str_eq(key, name)) return true;
        if (!take_value(c).p) return false;
    }
    return false;
}

/* The same for the plan of a variable. */
static bool enter_plan(static_profile *p, cursor *c) {
    static const str name = STR("mem_plan");
    members *all = &p->members_of[MEMBERS_VAR];
    if (*c->p != '{') return false;
    c->p++;
    for (member *m = all->rows; (m = next_member(all, c, m));) {
        if (member_name(m, &name, 1) == 0) return true;
        if (!take_value_of(m, c).p) return false;
    }
    return false;
}

/* {"mem_plan": {"layout": {"dtype": …}}} of a variable whose place in memory is planned; the
 * others say nothing about their type. */
static bool take_var(static_profile *p, cursor *c, str id) {
    const char *from = c->p, *stop;
    str dtype = STR_NONE;
    if (enter_plan(p, c)) {
        cursor plan = *c;
        if (enter_member(&plan, STR("layout")) && enter_member(&plan, STR("dtype")))
            dtype = take_value(&plan);
        stop = json_close(c->p, c->end);
    } else {
        bool at_end = c->p > from && c->p < c->end && *c->p == '}';
        stop = at_end ? c->p + 1 : json_value_end(from, c->end);
    }
    if (!stop) return false;
    c->p = stop;
    uint64_t number = id_of(id);
    if (!dtype.n && map_get(&p->type_of, number) == MAP_NONE) return true;
    uint32_t *at = map_at(&p->type_of, number);
    p->failed |= !at;
    if (at) *at = dtype.n ? keep_normal(p, dtype, static_keep(p, dtype)) : 0;
    return !p->failed;
}

static bool static_graph_read_take_inputs(static_profile *p, cursor *c, static_operator *op) {
    str list = take_value(c), key, var;
    json_iter it = json_open(list);
    op->first_input = (uint32_t)p->inputs.n;
    while (json_next(&it, &key, &var)) {
        uint64_t *to = p->inputs.n < UINT32_MAX ? vec_push(&p->inputs) : NULL;
        p->failed |= !to;
        if (p->failed) return false;
        *to = id_of(json_text(var));
    }
    op->n_inputs = (uint32_t)p->inputs.n - op->first_input;
    return list.p != NULL;
}

static bool static_graph_read_take_operator(static_profile *p, cursor *c, str id) {
    static const str names[] = {STR("name"), STR("type"), STR("input")};
    enum { INPUT = 2 };
    static_operator op = {.id = id, .facts = static_graph_read_find_facts(p, id)};
    const char *from = c->p;
    members *all = &p->members_of[MEMBERS_OPERATOR];
    str text;
    if (p->failed) return false;
    if (*from == '{') c->p++;
    for (member *m = all->rows; *from == '{' && (m = next_member(all, c, m));) {
        unsigned i = member_name(m, names, INPUT + 1);
        bool taken;
        if (i > INPUT || op.present >> i & 1)
            taken = take_value_of(m, c).p != NULL;
        else if (i == INPUT)
            taken = static_graph_read_take_inputs(p, c, &op);
        else
            taken = take_argument(p, c, m, &op.values[i], &text);
        if (!taken) break;
        if (i <= INPUT) op.present |= (uint8_t)(1u << i);
        if (i == 0)
            op.name = op.values[0].tag == VALUE_STRING ? (uint32_t)op.values[0].v
                                                       : keep_decoded(p, text);
    }
    if (p->failed || !(*from == '{' ? leave_object(c, from) : take_value(c).p != NULL))
        return false;
    if (!(op.present & 1)) op.values[0] = (raw_value){.tag = VALUE_STRING};
    op.present |= 1;
    static_operator *to = vec_push(&p->operators);
    p->failed |= !to;
    if (to) *to = op;
    return !p->failed;
}

/* ---- the whole ---- */

static bool take_skipped(static_profile *p, cursor *c, str key) {
    (void)p, (void)key;
    return take_value(c).p != NULL;
}

static const struct {
    str outer, inner;
    taker take;
} SECTIONS[] = {{STR("graph_exec"), STR("operator"), static_graph_read_take_operator},
                {STR("graph_exec"), STR("var"), take_var},
                {STR("profiler"), STR("device"), static_graph_read_take_device},
                {STR("profiler"), STR("host"), take_host},
                {STR("profiler"), STR("opr_footprint"), take_footprint}};

/* A section, member by member: what is before a cut counts. */
static bool take_section(static_profile *p, cursor *c, str outer, str inner) {
    taker take = NULL;
    for (size_t i = 0; i < sizeof SECTIONS / sizeof *SECTIONS; i++)
        if (str_eq(SECTIONS[i].outer, outer) && str_eq(SECTIONS[i].inner, inner))
            take = SECTIONS[i].take;
    if (!take || *c->p != '{') return take_skipped(p, c, inner);
    str key;
    p->next = 1;
    for (c->p++; next_key(c, &key);)
        if (!take(p, c, key)) return false;
    if (c->p == c->end || *c->p != '}') return false;
    c->p++;
    return true;
}

static bool take_outer(static_profile *p, cursor *c, str outer) {
    bool profiler = str_eq(outer, STR("profiler"));
    if (*c->p != '{' || !(profiler || str_eq(outer, STR("graph_exec"))))
        return take_skipped(p, c, outer);
    p->has_profiler |= profiler;
    str inner;
    for (c->p++; next_key(c, &inner);)
        if (!take_section(p, c, outer, inner)) return false;
    if (c->p == c->end || *c->p != '}') return false;
    c->p++;
    return true;
}

void static_profile_read(static_profile *p) {
    if (!p->text.n) return;
    cursor c = {p->text.p, p->text.p + p->text.n};
    c.p = json_space(c.p, c.end);
    if (c.p == c.end || *c.p != '{') return;
    str key;
    for (c.p++; next_key(&c, &key);)
        if (!take_outer(p, &c, key)) return;
    p->whole = c.p < c.end && *c.p == '}';
}

void static_profile_init(static_profile *p, intern *strings, str text) {
    *p = (static_profile){.strings = strings,
                          .text = text,
                          .samples = VEC_INIT(static_sample),
                          .footprints = VEC_INIT(static_footprint),
                          .facts = VEC_INIT(static_facts),
                          .operators = VEC_INIT(static_operator),
                          .inputs = VEC_INIT(uint64_t),
                          .normal = VEC_INIT(uint32_t)};
    static_facts *none = vec_push(&p->facts);
    static_footprint *no_foot = vec_push(&p->footprints);
    p->failed = !none || !no_foot;
    if (none) *none = (static_facts){.id = UINT64_MAX};
    if (no_foot) *no_foot = (static_footprint){.flops = NAN, .bytes = ABSENT_I64};
}

void static_profile_fini(static_profile *p) {
    vec *columns[] = {&p->samples,   &p->footprints, &p->facts,
                      &p->operators, &p->inputs,     &p->normal};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) vec_fini(columns[i]);
    map_fini(&p->facts_of);
    map_fini(&p->type_of);
    buf_fini(&p->scratch);
}
