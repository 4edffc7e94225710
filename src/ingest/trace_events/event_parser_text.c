/* event_parser_text.c: the texts of an event: every string and every bracketed value as an id.
 *
 * What a text is made of is looked at once, when its id is new: is it valid UTF-8, are there
 * control characters, is it JSON without a change. `seen` remembers the answer by id, so that a
 * text that comes again is known to be clean (or to be counted again) by one byte.
 *
 * Texts come in sequences that repeat: the names of a training step are those of the step
 * before, and so are the shapes and types of its inputs. The ids of the last eight texts,
 * shifted together to one number (`history`), and the place in the event choose an entry of
 * next_texts: the text that followed them last time. Where it is in the input again,
 * neither its end has to be looked for nor its id (event_parser_value_int.h); where not, the
 * general path here finds both and replaces the entry. Where texts come in no order that
 * repeats, text_cache is asked first, a smaller table of the last text with the same
 * beginning; of bracketed values it is asked second. Only clean texts are in the tables, so
 * they never hide damage. */
#include "ingest/trace_events/event_parser_int.h"

#include "base/json.h"

/* What is remembered of a string id. */
enum {
    SEEN = 1,
    SEEN_BAD_UTF8 = 2,
    SEEN_CONTROL = 4,
    SEEN_RAW = 8,
    SEEN_REPAIRED = 16,
    SEEN_CLEAN =
        SEEN | SEEN_BAD_UTF8 | SEEN_CONTROL,   /* of which a clean string has SEEN alone */
    SEEN_RAW_CLEAN = SEEN_RAW | SEEN_REPAIRED, /* the same of a raw text */
};

void parser_lose(event_parser *l, cause c, uint64_t offset, uint32_t example) {
    pending_loss *p = vec_push(&l->pending);
    if (p)
        *p = (pending_loss){offset, example, c};
    else
        l->failure = ERR_MEMORY;
}

void parser_count_pending(event_parser *l) {
    for (size_t i = 0; i < l->pending.n; i++) {
        const pending_loss *p = &VEC(&l->pending, pending_loss)[i];
        part_lost(l->part, p->cause, p->offset, p->example);
    }
    l->pending.n = 0;
}

static void count_flags(event_parser *l, unsigned flags, uint64_t offset, uint32_t example) {
    static const struct {
        unsigned flag;
        cause cause;
    } table[] = {
        {JSON_BAD_ESCAPE, CAUSE_BAD_ESCAPE},   {JSON_CONTROL, CAUSE_CONTROL_CHARACTER},
        {JSON_BAD_LITERAL, CAUSE_BAD_LITERAL}, {JSON_TRAILING_COMMA, CAUSE_TRAILING_COMMA},
        {JSON_BAD_UTF8, CAUSE_BAD_UTF8},       {JSON_TOO_DEEP, CAUSE_TOO_DEEP}};
    /* Brackets that do not match: kept as text, like a literal that JSON does not know. */
    if ((flags & (JSON_BROKEN | JSON_TOO_DEEP)) == JSON_BROKEN) flags |= JSON_BAD_LITERAL;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (flags & table[i].flag) parser_lose(l, table[i].cause, offset, example);
}

/* First look at a string: is it clean text? */
static void look_at_string(event_parser *l, uint32_t id, uint8_t *slot) {
    str s = intern_get(l->strings, id);
    uint8_t flags = SEEN;
    for (size_t i = 0; i < s.n; i++)
        if ((uint8_t)s.p[i] < 0x20) flags |= SEEN_CONTROL;
    if (!utf8_valid(s)) flags |= SEEN_BAD_UTF8;
    *slot = (uint8_t)(*slot | flags);
}

/* A string without backslash, unchanged. */
uint32_t parser_plain(event_parser *l, str s, const char *at) {
    uint32_t id = intern_add(l->strings, s);
    uint8_t *slot = id < l->seen.n ? &VEC(&l->seen, uint8_t)[id] : NULL;
    if (__builtin_expect(!slot || (*slot & SEEN_CLEAN) != SEEN, 0)) {
        if (id == UINT32_MAX || !(slot = vec_at(&l->seen, id))) {
            l->failure = ERR_MEMORY;
            return 0;
        }
        if (!(*slot & SEEN)) look_at_string(l, id, slot);
        if (*slot & SEEN_BAD_UTF8) parser_lose(l, CAUSE_BAD_UTF8, parser_offset(l, at), id);
        if (*slot & SEEN_CONTROL)
            parser_lose(l, CAUSE_CONTROL_CHARACTER, parser_offset(l, at), id);
    }
    return id;
}

/* A string with backslashes. */
uint32_t parser_escaped(event_parser *l, str inside, const char *at) {
    buf_clear(&l->scratch);
    unsigned flags = json_decode(inside, &l->scratch);
    if (!utf8_valid(buf_str(&l->scratch))) flags |= JSON_BAD_UTF8;
    uint32_t id =
        buf_ok(&l->scratch) ? intern_add(l->strings, buf_str(&l->scratch)) : UINT32_MAX;
    if (id == UINT32_MAX) {
        l->failure = ERR_MEMORY;
        return 0;
    }
    count_flags(l, flags, parser_offset(l, at), id);
    return id;
}

uint32_t event_parser_string(event_parser *l, str inside, uint64_t offset) {
    if (!inside.p) inside = STR(""); /* of a missing member */
    l->start = inside.p;
    l->base = offset;
    uint32_t id = memchr(inside.p, '\\', inside.n) ? parser_escaped(l, inside, inside.p)
                                                   : parser_plain(l, inside, inside.p);
    parser_count_pending(l);
    return id;
}

/* First look at a raw value: make it normal JSON and remember the id of that. */
static uint32_t look_at_raw(event_parser *l, uint32_t id, uint8_t *slot) {
    buf_clear(&l->scratch);
    unsigned flags = json_normal(intern_get(l->strings, id), &l->scratch);
    uint32_t normal =
        buf_ok(&l->scratch) ? intern_add(l->strings, buf_str(&l->scratch)) : UINT32_MAX;
    uint32_t *at = normal != UINT32_MAX ? map_at(&l->normal_ids, id) : NULL;
    if (!at) {
        l->failure = ERR_MEMORY;
        return 0;
    }
    *at = normal;
    *slot |= SEEN_RAW;
    if (flags) {
        uint32_t *r = map_at(&l->repairs, id);
        if (!r) {
            l->failure = ERR_MEMORY;
            return 0;
        }
        *r = flags;
        *slot |= SEEN_REPAIRED;
    } else if (normal == id) {
        return id;
    }
    if (normal != id) *slot |= SEEN_REPAIRED; /* look up the normal form next time */
    return normal;
}

/* An array, object, literal or odd number. */
uint32_t parser_raw_text(event_parser *l, str text, const char *at) {
    uint32_t id = intern_add(l->strings, text);
    uint8_t *slot = id < l->seen.n    ? &VEC(&l->seen, uint8_t)[id]
                    : id < UINT32_MAX ? vec_at(&l->seen, id)
                                      : NULL;
    if (!slot) {
        l->failure = ERR_MEMORY;
        return 0;
    }
    if (__builtin_expect((*slot & SEEN_RAW_CLEAN) == SEEN_RAW, 1)) return id;
    uint32_t normal = id;
    if (!(*slot & SEEN_RAW))
        normal = look_at_raw(l, id, slot);
    else
        normal = map_get(&l->normal_ids, id);
    uint32_t flags = map_get(&l->repairs, id);
    if (flags != MAP_NONE) count_flags(l, flags, parser_offset(l, at), id);
    return normal;
}

uint32_t event_parser_raw(event_parser *l, str text, uint64_t offset) {
    if (!text.p) text = STR("");
    l->start = text.p;
    l->base = offset;
    uint32_t id = parser_raw_text(l, text, text.p);
    parser_count_pending(l);
    return id;
}

/* Remembers a text for the next time the same ones came before it. */
static void learn_text(event_parser *l, next_text *g, uint32_t id, uint32_t raw) {
    str text = intern_get(l->strings, id);
    if (text.n == 0) return; /* occurs nowhere */
    *g = (next_text){text.p, (uint32_t)text.n | raw, id};
}

/* A string with escapes that are clean: kept as it was written, a few hundred of them. */
static void learn_escaped(event_parser *l, str inside, uint32_t id, next_text *text_cache) {
    enum { MOST_ESCAPES = 512, MOST_BYTES = 512 };
    if (!id || l->n_escapes == MOST_ESCAPES || inside.n > MOST_BYTES) return;
    char *copy = arena_alloc(&l->memory, inside.n + SCAN_EQUAL_PAD);
    if (!copy) return;
    memcpy(copy, inside.p, inside.n);
    memset(copy + inside.n, 0, SCAN_EQUAL_PAD);
    *text_cache = (next_text){copy, (uint32_t)inside.n, id};
    l->n_escapes++;
}

/* The dialect left `word` of a name, a clean one; it is only remembered if what was cut off is
 * a space and a number. */
static void learn_prefix(event_parser *l, str name, str word, uint32_t id) {
    str rest = str_from(name, word.n);
    name_prefix *s = parser_prefix_of(l, name.p - 1);
    if (rest.n < 2 || rest.p[0] != ' ' || word.n + 2 > sizeof s->bytes - SCAN_EQUAL_PAD) return;
    for (size_t i = 1; i < rest.n; i++)
        if (rest.p[i] < '0' || rest.p[i] > '9') return;
    s->n = (uint32_t)word.n + 2;
    s->id = id;
    memcpy(s->bytes, name.p - 1, s->n);
}

/* A string that is in neither table. */
static uint32_t find_string(event_parser *l, const node *n, const char *p, const char *end,
                            const char **next) {
    next_text *text_cache = parser_cached_text(l, p);
    const char *close = scan_string(p + 1, end);
    if (__builtin_expect(close < end && *close == '"', 1)) {
        str text = str_n(p + 1, (size_t)(close - p - 1)), cut = text;
        if (n->cuts) cut = l->sink.spelling->cut(text);
        uint32_t id = parser_plain(l, cut, p);
        *next = close + 1;
        bool clean = id < l->seen.n && (VEC(&l->seen, uint8_t)[id] & SEEN_CLEAN) == SEEN;
        if (clean && cut.n == text.n) learn_text(l, text_cache, id, 0);
        if (clean && cut.n < text.n) learn_prefix(l, text, cut, id);
        return id;
    }
    close = json_string_end(p + 1, end);
    *next = close ? close + 1 : NULL;
    if (!close) return 0;
    str inside = str_n(p + 1, (size_t)(close - p - 1));
    size_t before = l->pending.n;
    uint32_t id = parser_escaped(l, inside, p);
    if (l->pending.n == before && l->failure == OK) learn_escaped(l, inside, id, text_cache);
    return id;
}

uint32_t parser_new_string(event_parser *l, node *n, const char *p, const char *end,
                           const char **next) {
    bool asked = parser_asks_next(n); /* the other table is left */
    bool both = WITHOUT != THE_NEXT_TEXTS && WITHOUT != THE_TEXT_CACHE;
    next_text *other = asked ? parser_cached_text(l, p) : parser_next_text(l, n);
    next_text *predicted = asked ? parser_next_text(l, n) : other;
    if (both && parser_is_text(other, p, end)) {
        *next = p + 2 + other->n;
        n->surprises = (uint8_t)(asked ? n->surprises + A_SURPRISE : n->surprises - A_SURPRISE);
        *predicted = *other;
        return other->id;
    }
    uint32_t id = find_string(l, n, p, end, next);
    const next_text *text_cache = parser_cached_text(l, p);
    if (id && text_cache->id == id && parser_is_text(text_cache, p, end))
        *predicted = *text_cache;
    return id;
}

uint32_t parser_new_raw(event_parser *l, const char *p, const char *end, next_text *g,
                        const char **next) {
    next_text *cached = parser_cached_raw(l, p);
    if (WITHOUT != THE_TEXT_CACHE && parser_is_raw(cached, p, end)) {
        *next = p + (cached->n ^ NEXT_TEXT_RAW);
        *g = *cached;
        return cached->id;
    }
    *next = scan_brackets(p, end);
    if (!*next) return 0;
    uint32_t id = parser_raw_text(l, str_n(p, (size_t)(*next - p)), p);
    if (id < l->seen.n && (VEC(&l->seen, uint8_t)[id] & SEEN_RAW_CLEAN) == SEEN_RAW) {
        learn_text(l, g, id, NEXT_TEXT_RAW);
        learn_text(l, cached, id, NEXT_TEXT_RAW);
    }
    return id;
}
