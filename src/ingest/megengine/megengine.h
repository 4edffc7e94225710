/* megengine.h: the readers of MegEngine's files, and what they share: types and devices as
 * MegEngine writes them. */
#ifndef INGEST_MEGENGINE_H
#define INGEST_MEGENGINE_H

#include "ingest/ingest.h"

/* chrome_timeline.json of its dynamic-graph profiler: trace events, from old and new versions,
 * of one process or several. */
status ingest_megengine(source *src, const ingest_options *o, builder *b, error *err) MUST_USE;
/* The profile of a static graph, `profiling.json`. */
status ingest_megengine_static(source *src, const ingest_options *o, builder *b,
                               error *err) MUST_USE;
/* The memory picture, `*.memory_flow.svg`. */
status ingest_memory_flow(source *src, const ingest_options *o, builder *b,
                          error *err) MUST_USE;

/* Size in bytes of n elements of a type as MegEngine writes it ("Float32", "QuantizedS4(0.5)");
 * ABSENT_I64 when the type or the size is not known. */
int64_t megengine_bytes(str dtype, int64_t n_elements);
/* A device as MegEngine writes it, `gpu0:0`, `gpux:1` or `CompNode("gpu0:0" from "gpux:0")`:
 * its type (device_type) and number; the text of the physical and of the logical name. False
 * when it is not a device. */
typedef struct {
    uint8_t type;
    int32_t id;
    str physical, logical;
} megengine_device;
bool megengine_device_of(str text, megengine_device *out);
/* Has the type one of MegEngine's own words? Then megengine_add_words is due, once. */
static inline bool megengine_is_named(uint8_t type) {
    return type >= DEVICE_NAMED && type != DEVICE_UNKNOWN;
}
status megengine_add_words(builder *b, error *err) MUST_USE;

#endif
