/* event_parser_walk.c: the general path: one gap, from the end of a value to the next value,
 * token by token.
 *
 * It reads anything: any order of keys, any white space, commas too many, the end of an event
 * and the start of the next. What it walked is remembered when it would be walked the same way
 * again: nothing with damage in it, nothing that leads to a `ph`, `cat` or `args` that is not
 * what it usually is. The words "ph", "cat", "s" and "bp" are folded into what is known at the
 * next value: they are part of the gap. */
#include "ingest/trace_events/event_parser_int.h"

#include "base/json.h"

enum { MAX_FOLDED_BYTES = 512 }; /* of a category */

bool parser_emit(event_parser *l, const event_state *k) {
    event *e = &l->e;
    e->ph = k->ph;
    e->scope = k->scope;
    e->enclosing = k->enclosing;
    e->category = k->category;
    if (__builtin_expect(l->pending.n != 0, 0)) parser_count_pending(l);
    status s = l->sink.emit(l->sink.context, e);
    e->has = 0;
    e->n_values = 0;
    e->fields = 0;
    e->duplicate = false;
    e->args_cache = 0;
    if (s != OK && l->failure == OK) l->failure = s;
    return l->failure == OK;
}

static void parser_walk_begin_event(walk *w, const char *from) {
    size_t at = (size_t)(w->p - from);
    w->g.begin_at = at < MAX_GAP_BYTES ? (uint16_t)at : 0;
    w->checkpoint = w->p;
    parser_count_pending(w->l); /* odd commas before it are not read again */
    w->k = (event_state){.context = IN_EVENT};
    w->fresh = true;
    w->comma = false;
    w->l->e.duplicate = false;
    w->l->e.offset = parser_offset(w->l, w->p);
    w->l->e.has = 0;
    w->l->e.n_values = 0;
    w->l->e.fields = 0;
    w->l->e.args_cache = 0;
}

static void odd_comma(walk *w) {
    parser_lose(w->l, CAUSE_TRAILING_COMMA, parser_offset(w->l, w->p), 0);
    w->learn = false;
}

/* Between events. */
static walk_result walk_list(walk *w, const char *from) {
    char c = *w->p;
    if (c == ',') {
        if (w->comma) odd_comma(w);
        w->comma = true;
        w->p++;
    } else if (c == '{') {
        parser_walk_begin_event(w, from);
        w->p++;
    } else if (c == ']') {
        if (w->comma) odd_comma(w);
        w->p++;
        return WALK_END;
    } else {
        return WALK_SYNTAX;
    }
    return WALK_VALUE;
}

/* The closing bracket of args or of the event. */
static walk_result walk_close(walk *w) {
    if (w->comma) odd_comma(w);
    w->comma = w->fresh = false; /* the bracket around is no longer empty */
    w->p++;
    if (w->k.context == IN_ARGS) {
        w->k.context = IN_EVENT;
        return WALK_VALUE;
    }
    if (!parser_emit(w->l, &w->k)) return WALK_FAILED;
    w->checkpoint = w->p;
    if (w->g.ends) w->learn = false; /* two events end in one gap: not worth remembering */
    w->g.ends = true;
    w->g.ending = w->k;
    w->k = (event_state){.context = IN_LIST};
    return WALK_VALUE;
}

static void fold_category(walk *w, str text) {
    size_t before = w->l->pending.n;
    bool escaped = memchr(text.p, '\\', text.n) != NULL;
    w->k.category = escaped ? parser_escaped(w->l, text, w->p) : parser_plain(w->l, text, w->p);
    if (w->l->pending.n > before) w->learn = false; /* damage is counted each time it is met */
}

typedef enum { FOLDED, NOT_FOLDED, FOLD_CUT } fold_result;

/* Words that belong to the event_parser: ph, cat, s, bp. FOLDED when the value is now in
 * `known`. When it is something else this time, the way to it must not be learned: the next
 * event would take it. */
static fold_result fold(walk *w, str key) {
    if (w->k.context != IN_EVENT) return NOT_FOLDED;
    bool ph = str_eq(key, STR("ph")), cat = str_eq(key, STR("cat")), s = str_eq(key, STR("s")),
         bp = str_eq(key, STR("bp")), learn = w->learn;
    if (ph || cat || s || bp || str_eq(key, STR("args"))) w->learn = false;
    if ((!ph && !cat && !s && !bp) || *w->p != '"') return NOT_FOLDED;
    const char *close = json_string_end(w->p + 1, w->end);
    const char *after = close ? json_space(close + 1, w->end) : w->end;
    if (after == w->end) return FOLD_CUT;
    str text = str_n(w->p + 1, (size_t)(close - w->p - 1));
    if (text.n > MAX_FOLDED_BYTES || (*after != ',' && *after != '}')) return NOT_FOLDED;
    char first = text.n ? text.p[0] : 0;
    if (ph) w->k.ph = text.n == 1 ? first : '?';
    if (s) w->k.scope = first;
    if (bp) w->k.enclosing = first == 'e';
    w->learn = learn;
    if (cat) fold_category(w, text);
    w->p = close + 1;
    return FOLDED;
}

/* A key and its colon; ends at a value or after a folded one. */
static walk_result walk_key(walk *w) {
    const char *close = json_string_end(w->p + 1, w->end);
    if (!close) return WALK_MORE;
    str key = str_n(w->p + 1, (size_t)(close - w->p - 1));
    const char *p = json_space(close + 1, w->end);
    if (p == w->end) return WALK_MORE;
    if (*p != ':') return WALK_SYNTAX;
    p = json_space(p + 1, w->end);
    if (p == w->end) return WALK_MORE;
    if (memchr(key.p, '\\', key.n)) {
        key = intern_get(w->l->strings, parser_escaped(w->l, key, key.p));
        w->learn = false;
    }
    w->p = p;
    w->fresh = w->comma = false;
    if (w->k.context == IN_EVENT && *p == '{' && str_eq(key, STR("args"))) {
        w->k.context = IN_ARGS;
        w->fresh = true;
        w->p++;
        return WALK_VALUE;
    }
    fold_result folded = fold(w, key);
    if (folded != NOT_FOLDED) return folded == FOLDED ? WALK_VALUE : WALK_MORE;
    w->next = parser_find_node(w->l, &w->k, key);
    if (!w->next) w->l->failure = ERR_MEMORY;
    return w->next ? WALK_VALUE : WALK_FAILED;
}

/* One token of a gap. WALK_VALUE continues (or, with w->next set, is at a value). */
static walk_result walk_token(walk *w, const char *from) {
    char c = *w->p;
    if (w->k.context == IN_LIST) return walk_list(w, from);
    if (c == '}') return walk_close(w);
    if (c == ',' && !w->fresh && !w->comma) {
        w->comma = true;
        w->p++;
        return WALK_VALUE;
    }
    if (c == ',' && !w->fresh) { /* two commas */
        odd_comma(w);
        w->p++;
        return WALK_VALUE;
    }
    return c == '"' && (w->comma || w->fresh) ? walk_key(w) : WALK_SYNTAX;
}

walk_result parser_walk_gap(walk *w, node *from_node) {
    const char *from = w->p;
    w->g.ends = false;
    w->next = NULL;
    w->comma = !from_node && w->l->comma;
    w->fresh = false;
    w->learn = from_node != NULL;
    w->k = from_node ? from_node->at : (event_state){.context = IN_LIST};
    while (!w->next) {
        w->p = json_space(w->p, w->end);
        if (w->p == w->end) return w->k.context == IN_LIST ? WALK_CLEAN : WALK_MORE;
        walk_result r = walk_token(w, from);
        if (r != WALK_VALUE) return r;
    }
    size_t n = (size_t)(w->p - from);
    if (w->learn && n <= MAX_GAP_BYTES) {
        w->g.n = (uint16_t)n;
        w->g.front = scan_front(n);
        w->g.next = w->next;
        memset(w->g.bytes, 0, sizeof w->g.bytes);
        memcpy(w->g.bytes, from, n);
        parser_remember(w->l, from_node, &w->g);
    }
    return WALK_VALUE;
}
