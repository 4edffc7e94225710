/* xplane_int.h: what the files of this room share. */
#ifndef INGEST_XPLANE_INT_H
#define INGEST_XPLANE_INT_H

#include "base/buf.h"
#include "base/map.h"
#include "ingest/util/protobuf.h"
#include "ingest/xplane/xplane.h"

_Static_assert((int)PB_ROOM <= (int)SOURCE_PAD, "the end of the file is read with room");

typedef enum {
    STAT_NONE = 0,
#define STAT(id, name) STAT_##id,
#include "ingest/xplane/xplane_stats.def"
    N_STATS
} stat_id;
_Static_assert(N_STATS <= 64, "one bit each");

typedef enum { STAT_MISSING = 0, STAT_INT, STAT_REAL, STAT_TEXT, STAT_BYTES } stat_type;

typedef struct {
    stat_type type;
    int64_t i; /* an unsigned number beyond INT64_MAX as its bits */
    double f;
    str s;
    uint32_t id; /* string id of a text, once asked for; 0: not known */
} stat_value;

/* The stats of one event, plane or piece of metadata: those with a meaning by their ids, all
 * as a record of arguments. */
typedef struct {
    uint64_t has; /* bit by stat_id */
    stat_value v[N_STATS];
    raw_value args[MAX_VALUES];
    uint32_t keys[MAX_VALUES]; /* string ids */
    size_t n_args;
} stat_set;

static inline bool stat_has(const stat_set *s, stat_id id) {
    return s->has >> id & 1;
}
static inline int64_t stat_int(const stat_set *s, stat_id id, int64_t otherwise) {
    return stat_has(s, id) && s->v[id].type == STAT_INT ? s->v[id].i : otherwise;
}
static inline str stat_text(const stat_set *s, stat_id id) {
    return stat_has(s, id) && s->v[id].type == STAT_TEXT ? s->v[id].s : STR_NONE;
}

typedef enum {
    PLANE_HOST = 0, /* threads */
    PLANE_GPU,
    PLANE_TPU,
    PLANE_OTHER,    /* a device of no known kind, counters of a chip */
    PLANE_PROGRAMS, /* /host:metadata */
    PLANE_TASK,     /* Task Environment */
    PLANE_SCOPES    /* numbers of scopes, without names */
} plane_role;

typedef struct {
    uint32_t name; /* string id */
    stat_id known;
    uint64_t seen; /* the event that had it last */
} stat_meta;

typedef struct {
    uint32_t name, display; /* string ids; display 0: none */
    str message;            /* XEventMetadata, for its stats */
    bool has_stats;
    bool python; /* a frame of Python's tracer */
} event_meta;

typedef struct {
    str body;        /* what is there of it */
    uint64_t offset; /* of the body in the file */
    str name;
    plane_role role;
    int32_t device; /* of a GPU, TPU or other device */
    int64_t pid;
    vec stats, events; /* stat_meta, event_meta; valid between plane_open and plane_close */
    map stat_rows, event_rows;
} plane;

/* One line of a plane: a thread or a stream. */
typedef struct {
    int64_t id, timestamp_ns;
    str name;
    str body;
    uint64_t offset;
} line;

typedef struct {
    int64_t start, dur;     /* ns */
    const event_meta *meta; /* valid until the next event */
    uint32_t row;           /* of it in the plane */
    str body;
    uint64_t offset;
} event;

/* The place of an operation in the program: its name and the scopes around it. */
typedef struct {
    uint32_t name;  /* string id of its last part */
    uint32_t scope; /* scope_row; 0 = none */
    uint8_t phase;
} op_path;

/* An instruction of a program that XLA compiled. */
typedef struct {
    uint64_t program;
    uint32_t key;  /* string id of its name in the form that kernels have */
    uint32_t name; /* string id of its name without its number */
    str message;   /* HloInstructionProto */
    bool known;    /* the rest is filled in */
    bool dot;      /* a product of matrices, or a fusion made for one */
    uint32_t path, shapes, types, source;
    double flops;
    int64_t bytes;
} hlo_row;

/* The instructions of one computation together. */
typedef struct {
    double flops;
    double most;  /* of one of them */
    str metadata; /* of that one: what a fusion was made for */
    bool dot;     /* that one is a product of matrices */
} computation_row;

/* Calls of a program into libraries. Inside of a graph only the library's own name of a kernel
 * is left: when all calls come from one operation, that is where it belongs. */
typedef struct {
    op_path at;
    uint32_t path; /* 0: from several places */
} library_row;

/* Framework work that a piece of device work belongs to: it is drawn where it was launched. */
typedef struct {
    op_path at;
    uint32_t shapes, types, inputs, args;
    double flops;
    int64_t bytes;
    int64_t external;
    uint32_t next; /* of the same launch; + 1, 0: the last */
} work_op;

typedef struct {
    uint32_t parent, name;
} scope_row;

/* Correlation ids of executions on a TPU, which has none: beyond those of any GPU. */
#define FIRST_RUN ((int64_t)1 << 40)

/* A call that launched device work: its framework work in the order of the device. */
typedef struct {
    uint32_t first, last; /* works + 1; 0: none */
    uint32_t n;
} launch_row;

/* A run of a program on the CPU, and a call that may have launched one (xplane_cpu.c). */
typedef struct {
    int64_t start, id;
    uint64_t function; /* key of the program's name */
    bool is_tied;      /* its call is known */
} cpu_run;
enum { CPU_NO_RUN = UINT32_MAX };
typedef struct {
    int64_t start;
    uint64_t offset;
    uint64_t function; /* key of the function that made it; of one that tells: the run's id */
    struct {
        int64_t start, end;
    } quiet;      /* nothing else is drawn there */
    uint32_t run; /* row of cpu_runs, or CPU_NO_RUN */
    bool is_recorded;
} cpu_call_row;

/* One end of a hand-over from thread to thread. */
typedef struct {
    int64_t type, id, time;
    uint32_t track;
    bool end;
} edge;

typedef struct {
    builder *b;
    part *part;
    intern *strings;
    const ingest_options *o;
    buf file;
    vec planes;           /* plane */
    uint64_t n_events;    /* serial number of the current event */
    map places;           /* places of arguments: (place, key) → place */
    vec scopes;           /* scope_row, from 1 */
    map scope_map;        /* (parent, name) → scope */
    vec paths;            /* op_path */
    map path_map;         /* string id → path */
    vec hlo;              /* hlo_row, from 1 */
    map hlo_names;        /* (program, key) → hlo */
    map hlo_ids;          /* (program, id) → hlo_shapes */
    vec hlo_shapes;       /* str: ShapeProto, from 1 */
    map computations;     /* (program, id) → computation_rows */
    vec computation_rows; /* computation_row */
    map library_map;      /* program → libraries */
    vec libraries;        /* library_row */
    vec works;            /* work_op */
    map launch_map;       /* correlation → launches */
    vec launches;         /* launch_row */
    map run_map;          /* (type, id) of an execution on a TPU → its correlation */
    int64_t n_runs;
    vec cpu_runs;               /* cpu_run */
    map cpu_run_map;            /* (program, run) → cpu_runs */
    vec cpu_calls;              /* cpu_call_row */
    map cpu_call_map;           /* offset of a call that launched one → cpu_calls */
    map cpu_devices;            /* number of a device → 1 */
    map line_map;               /* (process, id) → string id of the thread */
    map name_map;               /* (process, name) → threads of that name so far */
    vec edges;                  /* edge */
    map size_map;               /* (device, address) → sizes: what is allocated there */
    vec sizes;                  /* int64_t, bytes */
    int64_t zero_ns;            /* Unix time of time 0, ABSENT_I64: unknown */
    const xplane_recording *in; /* NULL: the profile is a separate trace */
    int64_t shift_ns;           /* from its times to those of the trace */
    map tid_map; /* hash of (process, line) → the system's number of the thread */
    bool failed; /* out of memory */
    bool again;  /* these events are read a second time: nothing is counted */
    bool has_steps, is_jax, is_tensorflow, is_amd, has_tpu;
    bool is_cpu;  /* the CPU is the device */
    stat_set set; /* of the current event */
} reader;

/* ---- xplane_wire.c ---- */

uint32_t xplane_string(reader *r, str s);
void xplane_lose(reader *r, cause why, uint64_t offset, bool dropped, uint32_t example);
/* A cursor over the fields of a message that may end in the middle of one. */
typedef struct {
    const char *p, *end;
    bool cut, damaged;
} walker;
static inline walker walk_open(str body) {
    return (walker){.p = body.p, .end = body.n ? body.p + body.n : body.p};
}
/* The next field; bytes that are cut are given as far as they go. */
bool walk_next(walker *w, pb_field *f);
/* Finds the planes of the file. */
status xplane_index(reader *r);
/* Reads the names of a plane's events and stats. */
status plane_open(reader *r, plane *p);
void plane_close(plane *p);
/* Head of the current line; then its events one by one. */
void line_read(const reader *r, const plane *p, str body, line *out);
bool line_next(reader *r, plane *p, const line *l, walker *w, event *out);
/* The stats of an event and of its metadata into r->set. */
status event_stats(reader *r, plane *p, const event *e);
/* Fields `number` of a message as stats into r->set, with no arguments. */
status message_stats(reader *r, plane *p, str message, uint32_t number);
/* The stats of the plane itself. */
status plane_stats(reader *r, plane *p);
/* One more argument of the current event; 0: none. */
void event_argument(reader *r, const char *key, uint32_t text);
/* A record of all stats of the current event; 0: none. */
uint32_t event_args(reader *r);
/* String id of a text among the stats; 0: none. */
uint32_t stat_string(reader *r, stat_id id);
uint32_t line_track(reader *r, const plane *p, const line *l);
/* "tf_XLAEigen/6654484851885133744" → "tf_XLAEigen" */
str line_name(const line *l);
status xplane_label(reader *r, int64_t pid, ident tid, label_kind kind, int64_t value);

/* ---- xplane_scope.c: paths of operations ---- */

/* The parts of a path: "jit(f)/jvp(mlp)/dot_general", "layer_1/MatMul:MatMul". */
status path_find(reader *r, uint32_t path, op_path *out);

/* ---- xplane_hlo.c: programs ---- */

/* "fusion.12" → "fusion" */
str hlo_without_number(str name);
status hlo_add_program(reader *r, uint64_t program, str proto);
/* The instruction of this name in a program; NULL: none. Valid until the next program. */
status hlo_find(reader *r, uint64_t program, str name, const hlo_row **out);
/* The calls of a program into libraries; NULL: none. */
const library_row *hlo_library(const reader *r, uint64_t program);

/* ---- xplane_facts.c ---- */

status facts_programs(reader *r, plane *p, error *err);
status facts_task(reader *r, plane *p, error *err);
status facts_device(reader *r, plane *p, error *err);
status facts_finish(reader *r, error *err);

/* ---- xplane_device.c ---- */

status device_read(reader *r, plane *p);
/* Lines of steps, when no thread marked any. */
status device_read_steps(reader *r, plane *p, bool *taken);
/* The operation of the current event: `event_name` is what it is called. false: none. */
status work_of_event(reader *r, uint32_t event_name, work_op *out, bool *found);
/* Puts the work under its launch and gives it its number. */
status launch_add(reader *r, int64_t correlation, work_op *w);
/* Framework work under the launch with this correlation; NULL: none. */
const launch_row *launch_find(const reader *r, int64_t correlation);

/* ---- xplane_cpu.c ---- */

/* Process ids as XLA's own viewer gives them: a device from 1, the host 701. */
enum { PID_DEVICE = 1, PID_OTHER = 401, PID_HOST = 701 };
/* What ran on the CPU, where that is the device; before its threads are read. */
status cpu_read(reader *r, plane *p);

/* ---- xplane_cpu_calls.c ---- */

/* Puts runs and calls together. */
status cpu_tie(reader *r);
/* The number that a run and its call have; ABSENT_I64: its call is not known. */
int64_t cpu_run_number(const reader *r, uint32_t run);
/* The event as a call that launched a run; NULL: it is not one. */
const cpu_call_row *cpu_call(const reader *r, const event *e);
/* Is the current event an instruction that ran on the CPU as a device, or contained such? */
bool cpu_is_work(const reader *r);

/* ---- xplane_host.c ---- */

status host_read(reader *r, plane *p);
status host_finish(reader *r);

#endif
