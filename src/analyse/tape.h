/* tape.h: the whole trace as one strip: for each pixel the share of time in which the devices
 * worked, communicated, data were loaded, the host worked. */
#ifndef ANALYSE_TAPE_H
#define ANALYSE_TAPE_H

#include "base/arena.h"
#include "store/lod.h"

typedef enum { TAPE_DEVICE, TAPE_COMMUNICATION, TAPE_DATA, TAPE_HOST, N_TAPE_ROWS } tape_row;

typedef struct {
    int64_t from_ns, to_ns;
    uint32_t width_px;
    uint8_t *shares[N_TAPE_ROWS]; /* 255 = all of the pixel; NULL when there is nothing of it */
} tape;

/* Of the range only from < to and width >= 1 are read. Cost: communication looks at all device work, the rest at pixels. */
status tape_make(const lod *l, const tape *range, arena *a, tape *out, error *err) MUST_USE;
/* "device", "communication", "data", "host". */
const char *tape_row_name(tape_row r);

#endif
