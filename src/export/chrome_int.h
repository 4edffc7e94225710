/* chrome_int.h: what the three files of the Chrome form share. */
#ifndef EXPORT_CHROME_INT_H
#define EXPORT_CHROME_INT_H

#include "export/export_int.h"
#include "export/links_int.h"

typedef struct {
    export_ctx *x;
    int64_t shift_ns; /* added to every time: the trace's base to the base that is written */
    bool own_words;   /* the producer's categories and names are the ones readers know */
    bool plain;     /* a trace-event file that is not a profiler's: no root keys but its own */
    bool any_event; /* a comma is due */
    uint8_t *launches; /* bit by slice: an arrow starts here */
    link_cursor links;
    uint64_t n_shortened; /* host slices that were cut, and by how much together */
    int64_t shortened_ns;
    buf where; /* "pid":…,"tid":… of the current track */
} chrome;

/* {"ph":"X","cat":…,"name":… and what follows up to the time; the caller closes the object. */
void chrome_begin(chrome *c, char ph, str category, str name);
void chrome_time(chrome *c, const char *key, int64_t ns);
void chrome_where(const trace *t, uint32_t track, buf *out);
/* A producer's id as a JSON value: its number, else its text. */
void chrome_ident(buf *out, int64_t number, str text);
static inline status chrome_end(chrome *c) {
    buf_add_byte(&c->x->out, '}');
    return export_row_done(c->x);
}

/* The launch arrows have to be known before the slices: they start at a call and end at its
 * work. */
status chrome_slices(chrome *c) MUST_USE;
/* Instants, memory events, counters, arrows that are not launches. */
status chrome_points(chrome *c) MUST_USE;

#endif
