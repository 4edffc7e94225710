/* advice_events.c: the most expensive events of a rule, kept in order while they are found.
 *
 * Lists are short: most events cost less than the last one kept and are left after one
 * comparison. */
#include "analyse/advise/advice_events.h"

void event_list_add(event_list *l, advice_event e) {
    if (l->n == ADVICE_EVENTS && e.cost_ns <= l->v[l->n - 1].cost_ns) return;
    uint32_t at = l->n < ADVICE_EVENTS ? l->n++ : l->n - 1;
    for (; at > 0 && e.cost_ns > l->v[at - 1].cost_ns; at--) l->v[at] = l->v[at - 1];
    l->v[at] = e;
}

void event_list_add_slice(event_list *l, const trace *t, uint32_t slice, int64_t cost_ns) {
    if (!slice || cost_ns <= 0) return;
    event_list_add(l, (advice_event){.range = {t->slice.start[slice], slice_end(t, slice)},
                                     .cost_ns = cost_ns,
                                     .slice = slice});
}

void event_list_add_gap(event_list *l, const trace *t, const idle_piece *p, int64_t cost_ns) {
    if (cost_ns <= 0) return;
    event_list_add(l, (advice_event){.range = p->range,
                                     .cost_ns = cost_ns,
                                     .slice = p->after ? t->kernel.slice[p->after] : 0,
                                     .is_gap = true});
}
