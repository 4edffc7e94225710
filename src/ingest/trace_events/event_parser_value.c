/* event_parser_value.c: values that the quick paths of event_parser_value_int.h do not read:
 * times with an exponent, in quotes or with too many digits; process and thread ids for the
 * first time; bare words; too many arguments, and the same one twice. */
#include "ingest/trace_events/event_parser_value_int.h"

#include <math.h>

#include "base/json.h"

bool parser_odd_room(event_parser *l, const node *n) {
    event *e = &l->e;
    if (e->n_values == MAX_VALUES) {
        parser_lose(l, CAUSE_ARGUMENTS_DROPPED, e->offset, n->key);
        return false;
    }
    e->duplicate = true;
    parser_lose(l, CAUSE_DUPLICATE_KEY, e->offset, n->key);
    return true;
}

/* Plain decimal microseconds with any number of digits → ns, rounded at the fourth decimal. */
static bool long_time(str text, int64_t *ns) {
    size_t point = str_find(text, STR("."), 0);
    int64_t us, fraction = 0;
    if (point == SIZE_MAX || !str_to_i64(str_n(text.p, point), &us)) return false;
    for (size_t i = 1; i <= 4; i++) {
        char c = point + i < text.n ? text.p[point + i] : '0';
        if (c < '0' || c > '9') return false;
        fraction = i < 4 ? fraction * 10 + (c - '0') : fraction + (c >= '5');
    }
    for (size_t i = point + 5; i < text.n; i++)
        if (text.p[i] < '0' || text.p[i] > '9') return false;
    if (text.p[0] == '-') fraction = -fraction;
    return !__builtin_mul_overflow(us, 1000, ns) && !__builtin_add_overflow(*ns, fraction, ns);
}

/* Microseconds as written → nanoseconds. False when it is not a time that fits. */
static bool to_ns(const scanned *s, int64_t *ns) {
    static const int64_t scale[] = {1000, 100, 10, 1};
    if (s->digits <= 3) return !__builtin_mul_overflow(s->v, scale[s->digits], ns);
    int64_t divisor = 1;
    for (int i = 3; i < s->digits; i++) divisor *= 10;
    int64_t half = s->v < 0 ? -divisor / 2 : divisor / 2;
    int64_t sum;
    if (__builtin_add_overflow(s->v, half, &sum)) return false;
    *ns = sum / divisor;
    return true;
}

static const char *odd_time(const char *p, const char *end, int64_t *ns, bool *good) {
    const char *stop = json_value_end(p, end);
    if (!stop) return NULL;
    str text = json_text(str_n(p, (size_t)(stop - p)));
    double us;
    *good = long_time(text, ns);
    if (!*good && str_to_f64(text, &us) && us > -4e15 && us < 4e15) {
        *ns = (int64_t)(us * 1000 + (us < 0 ? -0.5 : 0.5));
        *good = true;
    }
    return stop;
}

const char *parser_other_time(event_parser *l, const char *p, const char *end, int64_t *ns,
                              uint32_t bit) {
    scanned s;
    const char *stop = scan_number(p, end, &s);
    bool good = stop && to_ns(&s, ns);
    if (__builtin_expect(!good, 0)) stop = odd_time(p, end, ns, &good);
    if (good)
        l->e.has |= bit;
    else if (stop)
        l->e.has |= EVENT_BAD_TIME;
    return stop;
}

/* A thread id in the dialect's way, NULL when it is not in it. */
static const char *dialect_thread(const event_parser *l, const char *p, const char *end,
                                  int64_t *id) {
    const event_spelling *d = l->sink.spelling;
    return d && d->thread ? d->thread(p, end, id) : NULL;
}

const char *parser_odd_ident(event_parser *l, node *n, const char *p, const char *end,
                             ident *out) {
    int64_t thread;
    const char *stop = *p == '"' ? dialect_thread(l, p, end, &thread) : NULL;
    if (stop) {
        *out = (ident){thread, false};
    } else if (*p == '"') {
        uint32_t id = parser_read_string(l, n, p, end, &stop);
        if (!stop) return NULL;
        int64_t number;
        if (str_to_i64(intern_get(l->strings, id), &number))
            *out = (ident){number, false};
        else
            *out = (ident){id, true};
    } else {
        stop = json_value_end(p, end);
        if (!stop) return NULL;
        *out = (ident){parser_raw_text(l, str_n(p, (size_t)(stop - p)), p), true};
    }
    return stop;
}

const char *parser_word(event_parser *l, const node *n, const char *p, const char *end) {
    const char *stop = json_value_end(p, end);
    if (!stop || stop == end) return NULL; /* the word may go on after the end */
    str word = str_n(p, (size_t)(stop - p));
    uint32_t id = parser_raw_text(l, word, p); /* counts a word that JSON does not know */
    str normal = intern_get(l->strings, id);
    if (normal.n &&
        normal.p[0] == '"') { /* such a word is kept as a string: JSON stays valid */
        parser_add(l, n, VALUE_STRING, 0, intern_add(l->strings, word));
        return stop;
    }
    double number;
    if (word.n > 300 && (!str_to_f64(word, &number) || !isfinite(number)))
        parser_lose(l, CAUSE_NUMBER_RANGE, parser_offset(l, p), 0);
    parser_add(l, n, VALUE_RAW, 0, id);
    return stop;
}

const char *parser_dialect_name(event_parser *l, const char *p, const char *end) {
    event_parser_name n = {0};
    const char *stop = l->sink.spelling->name(l->start, p + 1, end, &n);
    if (!stop) return NULL;
    l->e.name = n.escaped ? parser_escaped(l, n.text, p) : parser_plain(l, n.text, p);
    l->e.has |= EVENT_NAME;
    if (n.quotes) parser_lose(l, CAUSE_UNESCAPED_QUOTE, parser_offset(l, p), l->e.name);
    return stop;
}

const char *parser_dialect_time(event_parser *l, const node *n, const char *p,
                                const char *end) {
    scanned s;
    const char *stop = scan_number(p + 1, end, &s);
    if (!stop || !s.exact || !s.digits || end - stop <= 4 || memcmp(stop, " us\"", 4) != 0)
        return NULL;
    parser_add(l, n, VALUE_DECIMAL, s.digits, s.v);
    return stop + 4;
}
