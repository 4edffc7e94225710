/* memory_view.h: what the tables of memory share: devices, names of blocks, the selection. */
#ifndef ANALYSE_MEMORY_VIEW_H
#define ANALYSE_MEMORY_VIEW_H

#include "analyse/group.h"
#include "analyse/select.h"
#include "base/num.h"

/* One device that memory events speak of. */
typedef struct {
    uint8_t type;
    int32_t id;
    str name;         /* GPU0, CPU, … */
    int64_t capacity; /* bytes, ABSENT_I64 when unknown */
    /* From memory_find_peaks, of the selection. */
    bool has_totals;       /* some event carries the total allocated */
    uint32_t peak_row;     /* the first event after which most was allocated */
    int64_t peak;          /* allocated then: memory at the peak */
    int64_t peak_reserved; /* reserved at that moment; ABSENT_I64: not recorded */
    int64_t most_reserved; /* at any moment; ABSENT_I64: not recorded */
    uint32_t most_reserved_row;
    /* From memory_write_contents: parts of the peak. */
    int64_t before; /* allocated before the recording; ABSENT_I64: no block can be followed */
    int64_t older;  /* of the peak: who allocated it is not known, as it is older */
    str holder;     /* what holds most of the rest; empty: not known */
    int64_t holder_bytes;
    /* From memory_write_parts: the largest of those that blocks have. */
    uint8_t part; /* memory_part */
    int64_t part_bytes;
} memory_device;

/* More devices than any machine has: the rest of a forged file's is not worth the time. */
enum { MEMORY_MOST_DEVICES = 1024 };

typedef struct {
    const trace *t;
    selection select;
    arena *arena;
    answer *out;
    groups devices;      /* memory_device, by name */
    groups *names;       /* texts made for pairs of names, each once */
    uint32_t *device_of; /* by memory row: index in devices */
    /* Call stacks, where events have their own (memory_frame.c); NULL when none has. */
    uint32_t *site_of;    /* by frame: the frame that names its stack */
    uint32_t *label_of;   /* by such a frame: row of labels + 1 */
    uint8_t *frame_class; /* by frame: how much it says */
    groups labels;        /* str */
} memory_view;

status memory_view_init(memory_view *m, const trace *t, const params *p, arena *a,
                        error *err) MUST_USE;

/* Memory at the peak of every device: the only place that finds it. */
void memory_find_peaks(memory_view *m);
/* Is the block part of what its device has allocated? PyTorch reports shared memory of a data
 * loader in addition to its allocator's, with a total that does not include it. */
bool memory_is_counted(const trace *t, uint32_t row);
/* Is it an allocation that can be followed and is alive after the event `at`? */
bool memory_is_alive(const trace *t, uint32_t row, uint32_t at);
/* Is the block alive after the event `at`, also where only its release was recorded? */
bool memory_is_held(const trace *t, uint32_t row, uint32_t at);
/* Is it such an allocation at all? */
bool memory_is_followed(const trace *t, uint32_t row);
/* Size of the event's block: without the sign of a release. */
static inline int64_t memory_bytes(const trace *t, uint32_t row) {
    return sat_i64(abs_u64(t->memory.bytes[row]));
}
/* Is the event inside the selection? */
bool memory_is_selected(const memory_view *m, uint32_t row);
/* The event that says who allocated the block: for a release its allocation, 0 when unknown. */
uint32_t memory_telling_row(const trace *t, uint32_t row);
/* The op a block belongs to: that of the allocation, also for its release; 0 when unknown. */
uint32_t memory_op(const trace *t, uint32_t row);
/* Name of the block: its op's, or what its call stack says ("model.py:123 forward"); {NULL, 0}
 * when neither is known; *ok false when out of memory. */
str memory_name(const memory_view *m, uint32_t row, bool *ok);
/* Name of the block's op: a bare aten::empty… is named with what called it, "parent
 * (aten::empty)"; {NULL, 0} when unknown; *ok false when out of memory. */
str memory_op_name(const memory_view *m, uint32_t op, bool *ok);

static inline memory_device *memory_device_of(const memory_view *m, uint32_t row) {
    return GROUP_ROW(&m->devices, memory_device, m->device_of[row]);
}

/* Finds the names that call stacks give; part of memory_view_init. */
status memory_frames_init(memory_view *m, error *err) MUST_USE;
/* The frame that names the event's own call stack; 0 when it has none. */
uint32_t memory_site(const memory_view *m, uint32_t row);
/* The user's frame that called this one, directly or not; 0 when there is none. */
uint32_t memory_outer_site(const memory_view *m, uint32_t site);
/* Text of a label (label_of). */
str memory_label(const memory_view *m, uint32_t label);

/* Tables `peak_contents` and `contents`: what is alive. `order`: devices as a reader wants
 * them. */
status memory_write_contents(memory_view *m, const uint32_t *order, const params *p,
                             error *err) MUST_USE;
/* Table `statistics`: memory by operator. */
status memory_write_statistics(memory_view *m, error *err) MUST_USE;

#endif
