/* event_parser_learn.c: the memory of the tokenizer: nodes (places in an event) and gaps (what
 * came after their values).
 *
 * A node is what is known at a place (phase, category, the arguments before it) and a key; it
 * is found by a hash of that on the general path only, afterwards gaps point from node to node.
 * Both live until the event_parser is freed. A file whose keys never repeat must not fill the
 * memory: beyond MAX_NODES keys get a node that is overwritten, is referenced by no other node
 * and learns nothing. */
#include "ingest/trace_events/event_parser_int.h"

enum { MAX_NODES = 1 << 16 };

static uint64_t identity(const event_state *k, uint32_t key) {
    return hash_pair(hash_pair((uint64_t)k->category << 32 | key, k->place),
                     (uint64_t)k->context << 24 | (uint64_t)(uint8_t)k->ph << 16 |
                         (uint64_t)(uint8_t)k->scope << 8 | k->enclosing);
}

static bool same_known(const event_state *a, const event_state *b) {
    return a->category == b->category && a->place == b->place && a->context == b->context &&
           a->ph == b->ph && a->scope == b->scope && a->enclosing == b->enclosing;
}

static event_field field_of_key(str key) {
    static const struct {
        str key;
        event_field field;
    } table[] = {{STR("name"), FIELD_NAME}, {STR("ts"), FIELD_TS},   {STR("dur"), FIELD_DUR},
                 {STR("pid"), FIELD_PID},   {STR("tid"), FIELD_TID}, {STR("id"), FIELD_ID}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (str_eq(key, table[i].key)) return table[i].field;
    return FIELD_ARG;
}

/* Did this key come before on the path? Only asked when a node is new. */
static bool key_on_path(const event_parser *l, uint32_t key) {
    for (size_t i = 0; i < l->e.n_values; i++)
        if (l->e.keys[i] == key) return true;
    return false;
}

static bool fill_node(event_parser *l, node *n, const event_state *k, uint32_t key) {
    str text = intern_get(l->strings, key);
    n->at = *k;
    n->key = key;
    n->before = k->place;
    n->salt = identity(k, key);
    n->field = k->context == IN_EVENT ? (uint8_t)field_of_key(text) : FIELD_ARG;
    if (n->field == FIELD_ARG) {
        n->arg_field = k->context == IN_ARGS ? l->sink.field_of(text) : 0;
        n->field_bit = n->arg_field ? 1ull << n->arg_field : 0;
        n->time_text = l->sink.spelling && (l->sink.spelling->time_fields & n->field_bit);
        /* What comes after MAX_VALUES is dropped: it has no place, and costs no search. */
        bool dropped = l->e.n_values == MAX_VALUES && k->place;
        n->duplicate = !dropped && key_on_path(l, key);
        n->at.place = dropped ? k->place : builder_shape(l->b, k->place, key);
        if (!n->at.place) return false;
    }
    n->cuts = n->field == FIELD_NAME && l->sink.spelling && l->sink.spelling->cut;
    bool other_name = n->field == FIELD_NAME && l->sink.spelling && l->sink.spelling->name;
    n->has_runs = WITHOUT != THE_VALUE_RUNS && n->field != FIELD_TS && n->field != FIELD_DUR &&
                  n->field != FIELD_ID && !n->time_text && !n->duplicate && !n->spare &&
                  !other_name;
    n->opens = WITHOUT != THE_ARGS_CACHE && k->context == IN_ARGS && !k->place && !n->spare &&
               l->sink.spelling && l->sink.spelling->cut;
    return true;
}

static node *make_node(event_parser *l, const event_state *k, uint32_t key) {
    node *n = ARENA_NEW(&l->memory, node);
    return n && fill_node(l, n, k, key) ? n : NULL;
}

/* A file whose keys never repeat must not fill the memory with nodes. */
static node *spare_node(event_parser *l, const event_state *k, uint32_t key) {
    node *n = &l->spare[l->spare_turn];
    l->spare_turn = !l->spare_turn;
    *n = (node){.spare = true};
    return fill_node(l, n, k, key) ? n : NULL;
}

node *parser_find_node(event_parser *l, const event_state *k, str key_text) {
    uint32_t key = intern_add(l->strings, key_text);
    if (key == UINT32_MAX) return NULL;
    bool full = l->node_list.n >= MAX_NODES;
    for (uint64_t h = identity(k, key);; h++) {
        if (full && map_get(&l->nodes, h) == MAP_NONE) return spare_node(l, k, key);
        uint32_t *at = map_at(&l->nodes, h);
        if (!at) return NULL;
        if (*at == MAP_NONE) {
            *at = 0;
            node **slot = vec_push(&l->node_list);
            if (!slot) return NULL;
            *slot = NULL;
            *at = (uint32_t)(l->node_list.n - 1);
            node *n = make_node(l, k, key);
            VEC(&l->node_list, node *)[l->node_list.n - 1] = n;
            return n;
        }
        node *n = *at < l->node_list.n ? VEC(&l->node_list, node *)[*at] : NULL;
        if (!n) return NULL;
        event_state before = n->at;
        before.place = n->before;
        if (n->key == key && same_known(&before, k)) return n;
    }
}

void parser_choose(chooser *c, const str *texts, size_t n) {
    size_t shortest = UINT8_MAX, most = 0;
    for (size_t i = 0; i < n; i++) shortest = texts[i].n < shortest ? texts[i].n : shortest;
    *c = (chooser){.at = 0};
    for (size_t at = 0; at < shortest && most < n; at++) {
        uint32_t seen = 0;
        for (size_t i = 0; i < n; i++) seen |= 1u << (texts[i].p[at] & 15);
        size_t different = (size_t)__builtin_popcount(seen);
        if (different <= most) continue;
        most = different;
        c->at = (uint8_t)at;
    }
    for (size_t i = 0; i < n; i++) *parser_chosen(c, texts[i].p) = (uint8_t)i;
}

void parser_remember(event_parser *l, node *from, const gap *g) {
    if (!from || g->n == 0 || from->spare || g->next->spare) return;
    gap *to;
    if (from->n_gaps < MAX_GAPS) {
        to = ARENA_NEW(&l->memory, gap);
        if (!to) return;
        from->gaps[from->n_gaps++] = to;
    } else { /* forget the oldest */
        to = from->gaps[from->oldest];
        from->oldest = (uint8_t)((from->oldest + 1) % MAX_GAPS);
    }
    *to = *g;
    str texts[MAX_GAPS];
    for (size_t i = 0; i < from->n_gaps; i++)
        texts[i] = str_n(from->gaps[i]->bytes, from->gaps[i]->n);
    parser_choose(&from->gap_at, texts, from->n_gaps);
}
