/* megengine_static_int.h: a static graph's profile as records, one for each thing in the file;
 * what megengine_static_read.c makes of the bytes and megengine_static.c joins to a
 * timeline. */
#ifndef INGEST_MEGENGINE_STATIC_INT_H
#define INGEST_MEGENGINE_STATIC_INT_H

#include "base/buf.h"
#include "base/map.h"
#include "ingest/util/members.h"
#include "store/builder.h"

enum { TIME_START, TIME_KERN, TIME_END, N_TIMES };
enum { SIDE_DEVICE, SIDE_HOST, N_SIDES };

/* An operator once on a device or in a thread. */
typedef struct {
    uint64_t offset; /* in the file */
    int64_t start_ns, end_ns;
    raw_value times[N_TIMES]; /* as they were written; no places yet */
    uint32_t where;           /* string id of the device or thread */
    uint8_t present;          /* bits of times */
    bool timed;               /* start and end are there and are times */
} static_sample;

enum { FOOT_COMPUTATION, FOOT_MEMORY, FOOT_IN_SHAPES, N_FOOT = 6 };
typedef struct {
    raw_value values[N_FOOT];
    double flops;    /* NaN when it is not known */
    int64_t bytes;   /* ABSENT_I64 when it is not known */
    uint32_t shapes; /* of the inputs, as they were written */
    uint8_t present; /* bits of values */
} static_footprint;

/* What the profiler says of the operator with an id: rows of samples and footprints, 0 =
 * none. */
#define STATIC_HASHED ((uint64_t)1 << 63)
typedef struct {
    uint64_t id; /* the number it is, or a hash of its text with STATIC_HASHED */
    uint32_t first[N_SIDES], n[N_SIDES];
    uint32_t footprint;
} static_facts;

typedef struct {
    str id;              /* as it is in the file */
    raw_value values[2]; /* name and type, as far as `present` says */
    uint32_t name;
    uint32_t facts; /* row */
    uint32_t first_input, n_inputs;
    uint8_t present;
} static_operator;

/* Objects with members that are read. */
enum { MEMBERS_OPERATOR, MEMBERS_VAR, MEMBERS_SIDE, MEMBERS_TIMES, MEMBERS_FOOT, N_MEMBERS_OF };

typedef struct {
    intern *strings;
    str text; /* of the file, with SOURCE_PAD bytes after it */
    vec samples, footprints, facts,
        operators; /* of the types above; row 0 of the first three means none */
    vec inputs;    /* uint64_t: ids of variables */
    map facts_of;  /* id of an operator → row of facts */
    map type_of;   /* id of a variable → string id of its type as JSON, 0 = none */
    uint32_t next; /* row of facts that is expected next: the objects are in one order mostly */
    /* uint32_t by string id of a raw value: its normal form's id, 0 = not known yet */
    vec normal;
    members members_of[N_MEMBERS_OF];
    buf scratch;
    bool failed; /* out of memory */
    bool has_profiler, whole;
} static_profile;

void static_profile_init(static_profile *p, intern *strings, str text);
void static_profile_fini(static_profile *p);
/* Reads all of the text: `failed` when out of memory; `whole` when it had its end. */
void static_profile_read(static_profile *p);
/* String id of a text; UINT32_MAX and `failed` when out of memory. */
uint32_t static_keep(static_profile *p, str text);

#endif
