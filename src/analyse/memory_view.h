/* memory_view.h: what the tables of memory share: devices, names of blocks, the selection. */
#ifndef ANALYSE_MEMORY_VIEW_H
#define ANALYSE_MEMORY_VIEW_H

#include "analyse/group.h"
#include "analyse/select.h"

/* One device that memory events speak of. */
typedef struct {
    uint8_t type;
    int32_t id;
    str name;          /* GPU0, CPU, … */
    bool has_totals;   /* some event carries the total allocated */
    uint32_t peak_row; /* event after which most was allocated, in the selection */
    int64_t peak, peak_reserved;
    int64_t capacity; /* bytes, ABSENT_I64 when unknown */
} memory_device;

typedef struct {
    const trace *t;
    selection select;
    arena *arena;
    answer *out;
    groups devices;      /* memory_device, by name */
    uint32_t *device_of; /* by memory row: index in devices */
} memory_view;

status memory_view_init(memory_view *m, const trace *t, const params *p, arena *a,
                        error *err) MUST_USE;

/* Is the event inside the selection? */
bool memory_is_selected(const memory_view *m, uint32_t row);
/* The op a block belongs to: that of the allocation, also for its release; 0 when unknown. */
uint32_t memory_op(const trace *t, uint32_t row);
/* Name of the block's op: a bare aten::empty… is named with what called it, "parent
 * (aten::empty)"; {NULL, 0} when unknown; *ok false when out of memory. */
str memory_op_name(const memory_view *m, uint32_t op, bool *ok);

static inline memory_device *memory_device_of(const memory_view *m, uint32_t row) {
    return GROUP_ROW(&m->devices, memory_device, m->device_of[row]);
}

/* Table `statistics`: memory by operator. */
status memory_write_statistics(memory_view *m, error *err) MUST_USE;

#endif
