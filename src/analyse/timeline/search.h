/* search.h: slices by name and by what they are, over the whole trace.
 *
 * A query is words that must all occur in the name (ASCII case ignored), "two words" in quotes
 * as one; -word must not occur. Fields limit what fits:
 *
 *   kind:kernel, kind=kernel   the kind; -kind:kernel all others
 *   >5ms <1us dur>=5ms         the duration
 *   name~conv.*bwd             a regular expression (extended, case ignored); -name~ excludes
 *   name=aten::mm              the whole name
 *   stream=7 thread=391        the number of the stream or of the thread
 *   step=3 step=3..5           the steps, by membership as everywhere (store/trace.h)
 *
 * What looks like a field but is none of these is a word: names hold any sign. */
#ifndef ANALYSE_SEARCH_H
#define ANALYSE_SEARCH_H

#include "base/arena.h"
#include "question/window.h"
#include "store/lod.h"

enum { SEARCH_WORDS = 16, SEARCH_NAMES = 50, SEARCH_TRACKS = 8 };

typedef enum { SEARCH_WORD, SEARCH_PATTERN, SEARCH_WHOLE } search_how;

typedef struct {
    uint32_t n_words;
    struct {
        str text; /* borrowed from the query */
        search_how how;
        bool not ;
    } words[SEARCH_WORDS];
    uint32_t n_tracks; /* 0 = all */
    struct {
        int64_t number;
        bool stream; /* else a thread */
    } tracks[SEARCH_TRACKS];
    step_range steps;
    uint32_t kinds;            /* bits; 0 = all */
    int64_t least_ns, most_ns; /* durations, both included */
} search_query;

/* ERR_ARG when a kind or a duration is invalid, or there are too many words. */
status search_parse(str text, search_query *out, error *err) MUST_USE;
/* Asks for nothing, and has no hits. */
bool search_is_empty(const search_query *q);

/* A query made ready for many names and slices. */
typedef struct search_filter search_filter;
status search_filter_make(const search_query *q, const lod *l, arena *a, search_filter **out,
                          error *err) MUST_USE;
void search_filter_fini(search_filter *f);
bool search_fits_name(const search_filter *f, str name);
/* All but the name. */
bool search_fits_slice(const search_filter *f, uint32_t slice);

typedef struct {
    search_query query;
    int64_t from_ns, to_ns; /* absolute: slices that start there */
    int64_t at_ns;          /* hits from here on; with `backwards` those before it */
    bool backwards;
    uint32_t limit;       /* hits */
    uint32_t width_px;    /* 0: no ticks; else from_ns and to_ns are a range */
    const uint8_t *lanes; /* by lane id: 1 = wanted; NULL = all */
} search_question;

typedef struct {
    uint32_t string, count, longest; /* string id, hits, slice */
    uint8_t kind;
    int64_t total_ns;
} search_name;

typedef struct {
    uint64_t total, before; /* hits; those before the first one given */
    uint32_t n_names;       /* all names with hits */
    search_name *names;     /* the first SEARCH_NAMES by time */
    uint32_t n_listed;
    uint32_t *hits, n_hits; /* slices, by time */
    uint8_t *ticks;         /* width_px: 1 = a hit starts in this pixel; NULL without width */
} search_result;

/* Cost: the names, and the slices of those that fit. */
status search_make(const lod *l, const search_question *q, arena *a, search_result *out,
                   error *err) MUST_USE;

#endif
