/* event_parser_repair.c: where damage ends: strings with unescaped quotes, and the border of
 * two events.
 *
 * Names of kernels and annotations may hold quotes that their writer did not escape. Such a
 * string seems to end at the first of them, and what follows is not JSON. It is taken to reach
 * to the first quote after which the event continues as events do, but never into the next
 * event. */
#include "ingest/trace_events/event_parser_int.h"

#include "base/json.h"

enum { MAX_REPAIR_BYTES = 65536 }; /* of a string with unescaped quotes */

/* Does a value end plausibly at the quote at p? A comma must be followed by a key. */
static repair_result closes_value(const char *p, const char *end) {
    p = json_space(p + 1, end);
    if (p == end) return REPAIR_UNDECIDED;
    if (*p == '}') return REPAIR_DONE;
    if (*p != ',') return REPAIR_NONE;
    p = json_space(p + 1, end);
    if (p == end) return REPAIR_UNDECIDED;
    if (*p != '"') return REPAIR_NONE;
    const char *close = json_string_end(p + 1, end);
    if (!close) return REPAIR_UNDECIDED;
    close = json_space(close + 1, end);
    if (close == end) return REPAIR_UNDECIDED;
    return *close == ':' ? REPAIR_DONE : REPAIR_NONE;
}

/* How far the string at p may reach: nearby, and not into the next event. */
static const char *repair_limit(event_parser *l, const char *p, const char *end) {
    const char *limit = end - p > MAX_REPAIR_BYTES ? p + MAX_REPAIR_BYTES : end;
    uint64_t here = parser_offset(l, p);
    if (here < l->border_from || here >= l->border) {
        const char *border = event_parser_next_border(p, limit);
        l->border_from = here;
        l->border = border ? parser_offset(l, border) : here; /* here: not known */
    }
    return l->border > here ? p + (l->border - here) : limit;
}

/* The first quote after p that closes a value. The answer does not depend on where the bytes
 * end: when they end before it is certain, that is the answer. */
static repair_result find_end_quote(event_parser *l, const char *p, const char *end,
                                    const char **quote) {
    const char *limit = repair_limit(l, p, end), *close = p;
    while ((close = memchr(close + 1, '"', (size_t)(limit - close - 1)))) {
        repair_result r = close[-1] == '\\' ? REPAIR_NONE : closes_value(close, end);
        *quote = close;
        if (r != REPAIR_NONE) return r;
    }
    return limit == end && end - p <= MAX_REPAIR_BYTES ? REPAIR_UNDECIDED : REPAIR_NONE;
}

repair_result parser_repair(event_parser *l, const node *n, const char *end,
                            const char **after) {
    const char *p = l->string_start, *close;
    repair_result r = find_end_quote(l, p, end, &close);
    if (r != REPAIR_DONE) return r;
    /* What was found in the part of it that looked like the whole is found again. */
    while (l->pending.n &&
           VEC(&l->pending, pending_loss)[l->pending.n - 1].offset >= parser_offset(l, p))
        l->pending.n--;
    uint32_t id = parser_escaped(l, str_n(p + 1, (size_t)(close - p - 1)), p);
    parser_lose(l, CAUSE_UNESCAPED_QUOTE, parser_offset(l, p), id);
    raw_value *last = l->e.n_values ? &l->e.values[l->e.n_values - 1] : NULL;
    if (n->field == FIELD_NAME)
        l->e.name = id;
    else if (last && last->place == n->at.place) /* else it was one too many and not kept */
        last->v = id;
    l->string_start = NULL;
    *after = close + 1;
    return REPAIR_DONE;
}

const char *event_parser_next_border(const char *p, const char *end) {
    while ((p = memchr(p, '}', (size_t)(end - p)))) {
        const char *q = json_space(p + 1, end);
        bool comma = q < end && *q == ',';
        while (q < end && (*q == ',' || json_is_space(*q))) q++; /* one, or too many */
        if (comma && q < end && *q == '{') {
            const char *key = json_space(q + 1, end);
            if (key < end && *key == '"') return q;
        }
        p++;
    }
    return NULL;
}
