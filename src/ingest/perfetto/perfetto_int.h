/* perfetto_int.h: what the files of this room share. */
#ifndef INGEST_PERFETTO_INT_H
#define INGEST_PERFETTO_INT_H

#include "base/buf.h"
#include "base/map.h"
#include "base/num.h"
#include "ingest/perfetto/perfetto.h"
#include "ingest/trace_events/trace_event.h"
#include "ingest/util/protobuf.h"

_Static_assert((int)PB_ROOM <= (int)SOURCE_PAD, "the end of the file is read with room");

enum { MAX_FLOWS = 8, MAX_EXTRA = 16, MAX_CLOCKS = 32, OWN_CLOCKS = 4, MAX_LEVELS = 32 };

/* Tables of words that a sequence refers to by number. */
typedef enum {
    WORDS_CATEGORY = 0,
    WORDS_NAME,
    WORDS_KEY,   /* of an argument */
    WORDS_PLACE, /* in the source */
    WORDS_VALUE  /* texts of arguments */
} word_table;

/* The same moment by a clock and by the trace's. */
typedef struct {
    int64_t clock_ns, trace_ns;
} clock_point;

typedef struct {
    uint32_t id;      /* 0: none */
    bool incremental; /* its times are differences */
    uint64_t unit_ns;
    int64_t last_ns;
    clock_point point; /* the last */
    vec points;        /* clock_point, ascending: of a clock of the whole file all */
} clock_row;

/* One writer of packets: what its packets leave out because an earlier one said it. */
typedef struct {
    map words;      /* table and number → string id */
    uint32_t state; /* number of its current state; changes when it defines everything again */
    uint64_t track; /* of events that name none */
    uint64_t extra[MAX_EXTRA], extra_real[MAX_EXTRA]; /* counters of events */
    uint32_t n_extra, n_extra_real;
    uint32_t clock; /* of packets that name none; 0: the trace's */
    clock_row own[OWN_CLOCKS];
    bool begun; /* a packet of it has been read */
    bool lost;  /* packets are missing since everything was last defined */
    bool has_thread;
    int64_t pid, tid; /* of its own thread, as old writers say */
    int64_t time_us;  /* for the time steps of early writers */
} sequence;

/* A range that has begun, or an end that came before its beginning: another writer's. */
typedef struct {
    uint64_t slice; /* index in the part; UINT64_MAX: it was dropped */
    int64_t time;
    uint32_t sequence;
    uint32_t next; /* of the same track: + 1, 0: the last; the innermost is the first */
} open_range;

typedef struct {
    uint64_t uuid, parent;
    uint32_t name;       /* string id */
    bool has_descriptor; /* there is a descriptor */
    bool is_process, is_thread, is_counter, incremental;
    bool resolved;
    bool is_stream; /* of a device, by rocprofv3's names */
    int64_t pid, tid;
    int64_t unit; /* of a counter: a value counts so much */
    uint32_t unit_name;
    int64_t sort;
    double sum; /* of a counter of differences */
    ident to_pid, to_tid;
    int32_t device; /* rocprofv3: ABSENT_I32 on the host */
    int64_t stream;
    uint32_t counter, series; /* string ids */
    uint32_t open, early;     /* open_range + 1 */
    uint64_t state_slice;     /* of the state that it is in, + 1; 0: none */
    int64_t state_time;
    uint32_t state_name;
} track_row;

/* One end of an arrow. */
typedef struct {
    uint64_t id;
    int64_t time;
    int64_t sequence; /* autograd's number of the operator; ABSENT_I64: none */
    uint32_t track;   /* of the part */
    bool ends, work;
} flow_end;

typedef struct {
    uint64_t timestamp;
    uint32_t clock, sequence_id;
    uint64_t flags;
    bool has_time, cleared, dropped, first;
    str event, interned, defaults, thread, snapshot, packed;
    bool is_zstd;
    uint64_t offset;
} packet;

/* What was found last, by a few bits of what was asked for: arguments come again and again. */
enum { N_MEMOS = 1024 };
typedef struct {
    uint32_t above, key, place; /* place 0: none */
} place_memo;
typedef struct {
    uint64_t key;
    uint32_t state, id; /* id 0: none */
} word_memo;
typedef struct {
    const char *p; /* bytes of the file; NULL: none */
    size_t n;
    uint32_t id; /* of the text that they mean */
} text_memo;

typedef struct {
    builder *b;
    part *part;
    event_sink *sink;
    const ingest_options *o;
    buf file, text;
    vec blobs; /* buf: what compressed packets hold, in their order */
    size_t next_blob;
    uint64_t n_packets, search_budget;
    vec sequences;    /* sequence */
    map sequence_map; /* id → row */
    uint32_t last_sequence_id, last_sequence;
    vec clocks;    /* clock_row */
    vec snapshots; /* str */
    uint32_t trace_clock;
    vec tracks;    /* track_row */
    map track_map; /* uuid → row */
    uint64_t last_uuid;
    uint32_t last_track; /* row + 1 */
    vec agents;          /* int64_t: rocprofv3's numbers of GPUs, ascending */
    vec ranges;          /* open_range */
    uint32_t free_range; /* + 1 */
    vec flows;           /* flow_end */
    map names;           /* string id → kernel's name as others write it */
    place_memo places[N_MEMOS];
    text_memo texts[N_MEMOS];
    word_memo words[N_MEMOS];
    uint32_t n_states;
    vec key_fields;       /* uint8_t by string id: number of the argument + 1 */
    vec category_kinds;   /* uint8_t by string id: kind + 1 */
    uint64_t unread[160]; /* packets by field */
    int64_t last_ns;
    event e;
    bool failed; /* out of memory */
} reader;

/* What the hooks of the dialect know of the current event, and what they saw. */
typedef struct {
    int32_t device; /* ABSENT_I32: not given by the track */
    int64_t stream;
    uint8_t kind; /* as tacho's own export says it; N_KINDS: not said */
    map *names;
    bool rocm, pytorch, ours;
} perfetto_state;

enum {
    FIELD_AGENT_FROM = FIELD_OWN, /* rocprofv3: where a copy comes from */
    FIELD_GRID_SIZE,
    FIELD_GROUP_SIZE_ITEMS,
    FIELD_SKIPPED /* said by the range itself */
};

uint32_t perfetto_string(reader *r, str s);
void perfetto_lose(reader *r, cause why, uint64_t offset, uint32_t example);

/* ---- perfetto_clock.c ---- */

/* The snapshots of the whole file: chooses the trace's clock, learns the others. */
status clocks_begin(reader *r);
/* A snapshot among the packets of a sequence: its own clocks. */
status clocks_take(reader *r, uint32_t i_sequence, str snapshot);
/* A packet's time in the trace's ns; CAUSE_NONE, or why it has none. */
cause clocks_time(reader *r, uint32_t i_sequence, const packet *k, int64_t *ns);
/* Unix time of the trace's 0; ABSENT_I64 when unknown. */
int64_t clocks_base(reader *r);

/* ---- perfetto_track.c ---- */

status tracks_describe(reader *r, str descriptor);
/* All descriptors are known: the GPUs of rocprofv3 get their numbers. */
status tracks_number_devices(reader *r, error *err);
/* Row of a track, added when it is new; NULL when out of memory. Valid until the next call. */
track_row *tracks_find(reader *r, uint64_t uuid);
/* The same with its process and thread. */
track_row *tracks_resolve(reader *r, const sequence *q, uint64_t uuid);
/* Number of the device with this number of an agent; ABSENT_I32: not a GPU. */
int32_t tracks_device(const reader *r, int64_t agent);

/* ---- perfetto_args.c ---- */

uint32_t words_find(reader *r, const sequence *q, word_table table, uint64_t iid);
status words_take(reader *r, sequence *q, str interned);
/* A debug annotation as one more argument of the current event. */
status args_take(reader *r, const sequence *q, str annotation);
/* One more argument with a text. */
status args_add_text(reader *r, uint32_t key, uint32_t text);

/* ---- perfetto_event.c ---- */

status events_take(reader *r, uint32_t i_sequence, const packet *k, int64_t ns, cause why);
/* What is still open, and the arrows. */
status events_finish(reader *r);

/* ---- perfetto_words.c ---- */

const dialect *perfetto_dialect(void);
/* "tacho.kernel" → KIND_KERNEL; N_KINDS: not one of ours. */
uint8_t perfetto_kind(str category);

#endif
