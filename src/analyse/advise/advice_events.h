/* advice_events.h: the evidence of a piece of advice: the few events that cost most. */
#ifndef ANALYSE_ADVICE_EVENTS_H
#define ANALYSE_ADVICE_EVENTS_H

#include "analyse/device/idle_causes.h"

/* As many as a reader looks at. */
enum { ADVICE_EVENTS = 20 };

/* A slice, or a gap of the device that a slice ends. */
typedef struct {
    interval range;
    int64_t cost_ns; /* what of it the advice is about */
    uint32_t slice;  /* 0 = none */
    bool is_gap;
} advice_event;

typedef struct {
    advice_event
        v[ADVICE_EVENTS]; /* the most expensive first; of equal ones the one that came first */
    uint32_t n;
} event_list;

void event_list_add(event_list *l, advice_event e);
/* A slice with a separate cost, such as that of the device work it caused. */
void event_list_add_slice(event_list *l, const trace *t, uint32_t slice, int64_t cost_ns);
/* An idle piece and the device work that ends its gap. */
void event_list_add_gap(event_list *l, const trace *t, const idle_piece *p, int64_t cost_ns);

#endif
