/* flight_recorder_int.h: an entry of a dump, whichever of the two forms it was read from. */
#ifndef INGEST_FLIGHT_RECORDER_INT_H
#define INGEST_FLIGHT_RECORDER_INT_H

#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "ingest/pytorch/flight_recorder.h"
#include "ingest/util/pickle.h"

/* What is read of an entry. */
enum {
    FLIGHT_CREATED,
    FLIGHT_STARTED,
    FLIGHT_COMPLETED,
    FLIGHT_SEQUENCE,
    FLIGHT_P2P_SEQUENCE,
    N_FLIGHT_NUMBERS,
    FLIGHT_STATE = N_FLIGHT_NUMBERS,
    FLIGHT_NAME,
    FLIGHT_RETIRED,
    FLIGHT_IS_P2P,
    FLIGHT_GROUP, /* from here on lists, which entries have in common */
    FLIGHT_INPUT_SIZES,
    FLIGHT_INPUT_TYPES,
    FLIGHT_OUTPUT_SIZES,
    FLIGHT_FRAMES,
    N_FLIGHT_FIELDS,
    N_FLIGHT_LISTS = N_FLIGHT_FIELDS - FLIGHT_GROUP
};
extern const str FLIGHT_FIELDS[N_FLIGHT_FIELDS];

/* What a list means; ids are of strings, 0: none. */
typedef struct {
    uint32_t text;    /* the list itself, of a stack: its frames, of a group: its name */
    uint32_t first;   /* for types the first one; for a group its description */
    uint32_t ranks;   /* of a group */
    uint32_t track;   /* of a group; UINT32_MAX until it is asked for */
    int64_t elements; /* of sizes */
} flight_list;

typedef struct {
    int64_t number[N_FLIGHT_NUMBERS]; /* times that are none are 0, sequences ABSENT_I64 */
    uint32_t name, state;             /* string ids */
    uint32_t list[N_FLIGHT_LISTS];    /* in recorder.lists */
    bool retired, p2p;
} flight_entry;

typedef struct {
    builder *b;
    part *part;
    pickle *pickle;       /* NULL: the dump is JSON */
    pickle_value entries; /* of the pickle */
    str groups;           /* pg_config */
    str last_group;       /* of the last entry, a JSON value */
    uint32_t last_ranks;
    int64_t last_ns, first_ns;
    map labeled;                 /* tracks that have a name */
    uint32_t last_name, last_op; /* of an entry; what it does */
    uint32_t last_state;         /* of an entry */
    uint16_t last_category;      /* of that state */
    vec lists;                   /* flight_list */
    buf text;
} recorder;

#define FLIGHT_MOST_TIME ((int64_t)1 << 61)

/* A number as that of a field below N_FLIGHT_NUMBERS: what cannot be a time is absent. */
static inline int64_t flight_checked(int64_t v, int field) {
    bool time = field <= FLIGHT_COMPLETED;
    return !time || (v > 0 && v < FLIGHT_MOST_TIME) ? v : 0;
}
/* The same of a JSON value. */
int64_t flight_number(str json, int field);
/* A JSON value as a string id; UINT32_MAX: out of memory. */
uint32_t flight_id(recorder *r, str json);
/* What the JSON value of a field from FLIGHT_GROUP on means, at the end of r->lists;
 * UINT32_MAX: out of memory. */
uint32_t flight_add_list(recorder *r, int field, str json);

/* ---- flight_recorder_pickle.c ---- */

/* Opens a pickle: all of it but its entries, as JSON. */
status flight_read_pickle(recorder *r, source *src, const ingest_options *o, buf *json,
                          error *err) MUST_USE;
/* The entries; `entries` is of flight_entry. */
status flight_pickle_entries(recorder *r, vec *entries) MUST_USE;

#endif
