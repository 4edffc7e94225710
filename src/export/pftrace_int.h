/* pftrace_int.h: what the files of the Perfetto form share: packets, words, tracks. */
#ifndef EXPORT_PFTRACE_INT_H
#define EXPORT_PFTRACE_INT_H

#include "base/map.h"
#include "base/vec.h"
#include "export/export_int.h"
#include "export/links_int.h"
#include "export/wire_int.h"

/* Tables of words; an entry is defined in the packet that uses it first. */
typedef enum { WORD_NAME = 0, WORD_CATEGORY, WORD_KEY, WORD_VALUE, N_WORD_TABLES } word_table;

/* A range that is open on a lane. */
typedef struct {
    int64_t end_ns;
    uint32_t slice;
    uint32_t below; /* + 1; 0: none */
} lane_range;

typedef struct {
    uint64_t uuid;
    uint32_t top; /* lane_range + 1 */
} lane_row;

/* One end of an arrow, at a slice. */
typedef struct {
    uint32_t slice;
    bool ends;
    uint64_t id;
} arrow_end;

typedef struct {
    export_ctx *x;
    int64_t shift_ns;                /* added to every time: none is below zero */
    uint8_t *defined[N_WORD_TABLES]; /* bit by string id: the word is known */
    buf packet, event, words, one;   /* under construction */
    link_cursor links;
    vec arrows; /* arrow_end, by slice */
    size_t next_arrow;
    vec lanes, ranges;   /* lane_row, lane_range */
    uint32_t free_range; /* + 1 */
    map counters;        /* (track, name, series) → number */
    uint32_t n_counters;
    bool begun; /* the first packet says that everything is defined from here on */
} pftrace;

/* ---- pftrace.c ---- */

uint64_t pftrace_track(uint32_t track);
/* A separate track: next to or under another one. */
status pftrace_add_lane(pftrace *p, uint32_t track, uint64_t uuid) MUST_USE;

/* ---- pftrace_wire.c ---- */

/* A number of the word in its table, defined with this packet if it is new. 0: no word. */
uint64_t pftrace_word(pftrace *p, word_table table, uint32_t string);
/* The same for the category that tells a kind. */
uint64_t pftrace_kind_word(pftrace *p, uint8_t kind);
/* p->event as a packet with its time and its new words. */
status pftrace_put_event(pftrace *p, int64_t time_ns) MUST_USE;
/* A message of field `field` as a separate packet. */
status pftrace_put(pftrace *p, uint32_t field, str message) MUST_USE;

/* ---- pftrace_args.c ---- */

/* The arguments of a record, as the links say them better; f may be NULL. */
status pftrace_add_args(pftrace *p, uint32_t record, const link_facts *f) MUST_USE;
void pftrace_add_integer(pftrace *p, const char *key, int64_t v);

/* ---- pftrace_slice.c ---- */

status pftrace_slices(pftrace *p) MUST_USE;

#endif
