/* event_args_cache.c: the arguments of an event that come again, whole, in the next one about
 * the same thing.
 *
 *   {"args":{"device":"cpu0","id":205795,"shape":"{1}"},"name":"Input 205795","ph":"B", …
 *            from the first ^------------------ value to the name ----------^
 *
 * A range that is written as a beginning and an end has the same arguments in both, with a
 * number that no other range has: no value run foretells it, but the text as a whole is that of
 * the last such event. The bytes from the first argument to the name are kept with what they
 * mean; where all of them come again at the same place, they would be read the same way.
 *
 * Only names with a number that the dialect cuts are waited for, so that no other format pays
 * for this. Nothing that was damaged is kept, and nothing where another member of the event
 * comes before the arguments or between them and the name: the cache gives back arguments and
 * a name alone. */
#include "ingest/trace_events/event_parser_int.h"

void parser_keep_args(event_parser *l, node *at, const char *stop) {
    args_cache *o = &l->args_cache;
    event *e = &l->e;
    const char *from = l->args_from;
    l->args_from = NULL;
    if (l->args_event != e->offset || at->spare || e->has != EVENT_NAME || l->pending.n ||
        l->failure != OK || e->duplicate || !e->n_values || e->n_values > MAX_CACHED_VALUES ||
        stop - from > MAX_CACHED_BYTES)
        return;
    o->from = l->args_node;
    o->at = at;
    o->n = (uint32_t)(stop - from);
    o->name = e->name;
    o->n_values = (uint32_t)e->n_values;
    o->fields = e->fields;
    memcpy(o->bytes, from, o->n);
    memcpy(o->values, e->values, sizeof o->values);
    memcpy(o->keys, e->keys, sizeof o->keys);
    memcpy(o->field_at, e->at, sizeof o->field_at);
    e->args_cache = ++o->number;
    e->n_cached = o->n_values;
}
