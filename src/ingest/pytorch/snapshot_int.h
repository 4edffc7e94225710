/* snapshot_int.h: what the files that read a memory snapshot share. */
#ifndef INGEST_SNAPSHOT_INT_H
#define INGEST_SNAPSHOT_INT_H

#include "base/buf.h"
#include "base/map.h"
#include "ingest/ingest.h"
#include "ingest/util/pickle.h"

/* Keys of the snapshot's dictionaries, and the words used as values. */
#define SNAPSHOT_WORDS(X)   \
    X(action)               \
    X(active_allocated)     \
    X(addr)                 \
    X(address)              \
    X(alloc)                \
    X(allocated_size)       \
    X(allocator_settings)   \
    X(blocks)               \
    X(compile_context)      \
    X(device)               \
    X(device_free)          \
    X(device_traces)        \
    X(external_annotations) \
    X(filename)             \
    X(frames)               \
    X(free)                 \
    X(free_completed)       \
    X(free_requested)       \
    X(history)              \
    X(line)                 \
    X(name)                 \
    X(oom)                  \
    X(segment_alloc)        \
    X(segment_free)         \
    X(segment_map)          \
    X(segment_unmap)        \
    X(segments)             \
    X(size)                 \
    X(stage)                \
    X(state)                \
    X(stream)               \
    X(time_us)              \
    X(total_size)           \
    X(user_metadata)

enum {
#define WORD_ENUM(name) WORD_##name,
    SNAPSHOT_WORDS(WORD_ENUM)
#undef WORD_ENUM
        N_WORDS
};

/* A list of frames that has been walked. */
typedef struct {
    pickle_value list;
    uint32_t frame; /* of the builder */
} snapshot_known;

typedef struct {
    pickle *p;
    builder *b;
    part *part;
    const ingest_options *o;
    pickle_value word[N_WORDS]; /* PICKLE_ABSENT: the snapshot does not use it */
    int64_t base_us;            /* the earliest time; ABSENT_I64 when no event has one */
    uint32_t tie;               /* memory rows so far: their order */
    map stacks;                 /* list of frames (its hash) → row of known */
    map lists;                  /* a list of frames that was met → the same */
    vec known;                  /* snapshot_known */
    map frames;                 /* frame (a value) → its name, a string of the builder */
    vec names;                  /* uint32_t: the current stack */
    buf text;
} snapshot;

static inline pickle_value snapshot_get(const snapshot *s, pickle_value d, int word) {
    return pickle_get(s->p, d, s->word[word]);
}
/* Is the value this word? */
static inline bool snapshot_is(const snapshot *s, pickle_value v, int word) {
    return v != PICKLE_ABSENT && v == s->word[word];
}
/* The number under a key, or `otherwise`. */
int64_t snapshot_int(const snapshot *s, pickle_value d, int word, int64_t otherwise);
/* Nanoseconds from the base; `otherwise` when the dictionary has no time. */
int64_t snapshot_time(const snapshot *s, pickle_value d, int64_t otherwise);
/* A text of the pickle as a string of the builder; 0 for anything else. */
status snapshot_string(snapshot *s, pickle_value text, uint32_t *out, error *err) MUST_USE;

/* The call stack of an event or block: its innermost frame, 0 when it has none. */
status snapshot_stack(snapshot *s, pickle_value frames, uint32_t *out, error *err) MUST_USE;

/* One device: its history, and the segments (values) it ended with. */
typedef struct {
    int32_t id;
    bool has_segments; /* the snapshot has a list of segments at all */
    pickle_value history;
    const pickle_value *segments;
    size_t n_segments;
} snapshot_device;
/* Replays it into memory events. */
status snapshot_replay(snapshot *s, const snapshot_device *d, error *err) MUST_USE;

#endif
