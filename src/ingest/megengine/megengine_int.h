/* megengine_int.h: what one thread notes while it reads a MegEngine timeline, for the replay
 * when all of the file has been read (megengine_replay.c). */
#ifndef INGEST_MEGENGINE_INT_H
#define INGEST_MEGENGINE_INT_H

#include "base/map.h"
#include "ingest/megengine/megengine.h"
#include "ingest/trace_events/event_sink.h"

typedef enum {
    NOTE_ALIVE,  /* the counter of living tensors moved: the next link is its cause */
    NOTE_MADE,   /* a tensor was produced */
    NOTE_TOUCH,  /* produced again, used or released */
    NOTE_INPUT,  /* an operator takes a tensor */
    NOTE_OUTPUT, /* an operator gives a tensor */
    NOTE_OP_END, /* an operator ends: the inputs and outputs before it are its own */
    NOTE_STOP,   /* end of a step */
    NOTE_SAMPLE, /* used memory of a device */
    NOTE_START,  /* the first counter of a process: its window begins */
    NOTE_BASE,   /* Unix time of 0, in the first event of an old file */
} note_what;

/* There is one for every third event: it is kept small. */
typedef struct {
    uint64_t offset; /* in the input: the order of everything */
    int64_t time, id;
    uint32_t text;  /* shape of an input; name of a sampled device */
    uint32_t other; /* type of an input; row in `pending` or `bases` */
    uint32_t track; /* of the sink's part; a NOTE_BASE is on none */
    uint8_t what;
} note;

/* The process and thread of a track of the sink's part that notes are on. */
typedef struct {
    ident pid, tid;
    bool known;
} timeline_row;

/* The end of an operator, kept back until its inputs are known. */
typedef struct {
    raw_mark mark;
    raw_op op;
} pending_op;

typedef struct {
    int64_t id, bytes;
    ident pid;
    uint32_t device; /* string id of its text */
} tensor_fact;

typedef struct {
    ident pid, tid;
    uint32_t name;
    uint64_t offset;
} thread_note;

/* What a name means. */
typedef struct {
    uint8_t kind, seen;
    uint8_t word; /* megengine_word, of names that mean something by themselves */
} name_info;

/* What a category means. */
typedef struct {
    uint32_t id; /* of the string */
    uint16_t row;
    uint8_t flow; /* of an arrow */
    bool kernel, launch;
} category_note;

enum { N_CATEGORIES = 8, CATEGORY_PLACES = 64 };
enum { DESCRIBED_PLACES = 1024 };

typedef struct {
    vec notes, pending, facts, threads; /* note, pending_op, tensor_fact, thread_note */
    map fact_map;                       /* hash of (pid, id) → fact + 1 */
    vec rows, bases;                    /* timeline_row by track; ident: processes */
    vec names;                          /* name_info by string id */
    category_note categories[N_CATEGORIES];
    size_t n_categories;
    uint8_t category_at[CATEGORY_PLACES]; /* which to look at first, by string id */
    uint32_t type;                        /* string id of the last type of elements */
    int64_t type_bits;                    /* of it; ABSENT_I64 when it is not known */
    /* Tensors of the process described last that have their fact, by the low bits of their id:
     * a tensor is described by every range about it, and the map is too large for the nearer
     * caches. */
    int64_t described[DESCRIBED_PLACES];
    ident described_pid;
    bool has_described;   /* the two above */
    uint64_t args_cache;  /* event.args_cache of the last arguments kept, 0: none yet */
    uint32_t cached_args; /* their record */
} timeline_state;

/* All events have been read: makes what needs more than one of them. */
status megengine_replay(builder *b, event_sink *const *sinks, int n, error *err) MUST_USE;

#endif
