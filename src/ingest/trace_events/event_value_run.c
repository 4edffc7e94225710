/* event_value_run.c: values that are at their place again and again, and the gaps between
 * them.
 *
 *   },"name":"queue","ph":"C","pid":7,"tid":0,"ts":12.5
 *            ^---------- a run ---------------^
 *
 * Names, processes, threads and strings are often one of a few, and so is what they are
 * followed by: the value and its gap are kept as one string of bytes with what it means. Two
 * runs that follow each other become one, so that in short events everything between two
 * numbers is one comparison. A run is taken where all of its bytes match: then the values and
 * the gaps would have been read the same way. Only what was clean is learned, and never the end
 * of an event.
 *
 * Where values differ too often the place goes back to runs of one value, then to none. */
#include "ingest/trace_events/event_parser_int.h"

enum { A_MISS = 4, MANY_MISSES = 128 }; /* one is forgotten by four hits */
/* When there are many alternatives, those that are known help most of the time: of so many
 * others one takes the place of the oldest. */
enum { UNKNOWN = 16 };
/* A process may be joined with so many threads; anything else only with what always follows
 * it. */
enum { FEW = 4 };

/* Too many misses: false when the place learns no more. */
static bool may_learn(node *n) {
    n->misses += A_MISS;
    if (n->misses < MANY_MISSES) return true;
    n->has_runs = !n->alone;
    n->alone = true;
    n->n_runs = n->misses = 0;
    return n->has_runs;
}

/* What the value that was just read means. False when it is nothing that a run can tell. */
static bool read_value(const event_parser *l, const node *n, value_run *f, bool string) {
    const event *e = &l->e;
    if (l->pending.n || l->failure != OK) return false;
    if (n->field == FIELD_NAME) {
        f->has = EVENT_NAME;
        f->name = e->name;
        f->shift = FOLLOW_BITS;
        f->mix = parser_mix(e->name);
        return string;
    }
    if (n->field == FIELD_PID || n->field == FIELD_TID) {
        f->has = n->field == FIELD_PID ? EVENT_PID : EVENT_TID;
        f->pid = e->pid;
        f->tid = e->tid;
        return true;
    }
    const raw_value *v = e->n_values ? &e->values[e->n_values - 1] : NULL;
    if (!string || !v || v->tag != VALUE_STRING || v->place != n->at.place) return false;
    f->texts[f->n_texts++] = (run_text){n, (uint32_t)v->v};
    f->shift = FOLLOW_BITS;
    f->mix = parser_mix((uint32_t)v->v);
    return true;
}

/* Room for one more: the oldest goes. */
static value_run *new_run(event_parser *l, node *n) {
    if (n->n_runs == MAX_RUNS) {
        value_run *oldest = n->runs[n->next_run];
        n->next_run = (uint8_t)((n->next_run + 1) % MAX_RUNS);
        return oldest;
    }
    value_run *f = ARENA_NEW(&l->memory, value_run);
    if (f) n->runs[n->n_runs++] = f;
    return f;
}

static void choose_run(node *n) {
    str texts[MAX_RUNS];
    for (size_t i = 0; i < n->n_runs; i++) texts[i] = str_n(n->runs[i]->bytes, n->runs[i]->n);
    parser_choose(&n->run_at, texts, n->n_runs);
}

void parser_learn_run(event_parser *l, node *n, str value, const gap *g) {
    if (!may_learn(n) || g->ends || value.n + g->n > MAX_RUN_BYTES) return;
    if (n->n_runs == MAX_RUNS && ++n->unknown % UNKNOWN) return;
    value_run f = {.next = g->next};
    if (!read_value(l, n, &f, value.p[0] == '"')) return;
    value_run *to = new_run(l, n);
    if (!to) return;
    f.n = (uint32_t)(value.n + g->n);
    f.wide = scan_wide(f.n);
    f.whole = n->alone;
    memcpy(f.bytes, value.p, f.n);
    *to = f;
    choose_run(n);
}

void parser_join_runs(node *n, value_run *first, const value_run *second,
                      const node *of_second) {
    bool thread = first->has == EVENT_PID;
    first->whole = true;
    if (of_second->n_runs > (thread ? FEW : 1) || first->n + second->n > MAX_RUN_BYTES ||
        first->n_texts + second->n_texts > MAX_RUN_TEXTS)
        return;
    memcpy(first->bytes + first->n, second->bytes, second->n);
    first->n += second->n;
    first->wide = scan_wide(first->n);
    first->next = second->next;
    first->has |= second->has;
    if (second->has & EVENT_NAME) first->name = second->name;
    if (second->has & EVENT_PID) first->pid = second->pid;
    if (second->has & EVENT_TID) first->tid = second->tid;
    memcpy(first->texts + first->n_texts, second->texts,
           second->n_texts * sizeof *second->texts);
    first->n_texts = (uint8_t)(first->n_texts + second->n_texts);
    first->mix = first->mix << second->shift ^ second->mix;
    first->shift = (uint8_t)(first->shift + second->shift);
    first->whole = second->whole;
    choose_run(n);
}
