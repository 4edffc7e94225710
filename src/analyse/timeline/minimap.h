/* minimap.h: the whole trace as one strip: for each pixel the share of time in which the
 * devices worked or communicated, data was loaded, or the host worked. */
#ifndef ANALYSE_MINIMAP_H
#define ANALYSE_MINIMAP_H

#include "base/arena.h"
#include "store/lod.h"

typedef enum {
    MINIMAP_DEVICE,
    MINIMAP_COMMUNICATION,
    MINIMAP_DATA,
    MINIMAP_HOST,
    N_MINIMAP_ROWS
} minimap_row;

typedef struct {
    int64_t from_ns, to_ns;
    uint32_t width_px;
    uint8_t
        *shares[N_MINIMAP_ROWS]; /* 255 = all of the pixel; NULL when there is nothing of it */
} minimap;

/* Only from < to and width >= 1 of the range are read. Cost: communication looks at all device
 * work, the rest at pixels. */
status minimap_make(const lod *l, const minimap *range, arena *a, minimap *out,
                    error *err) MUST_USE;
/* "device", "communication", "data", "host". */
const char *minimap_row_name(minimap_row r);

#endif
