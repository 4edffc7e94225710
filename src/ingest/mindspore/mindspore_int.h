/* mindspore_int.h: what the readers of MindSpore's files share: the worker being read, its
 * executions before they are slices, small tools for names, numbers and metadata. */
#ifndef INGEST_MINDSPORE_INT_H
#define INGEST_MINDSPORE_INT_H

#include "base/arena.h"
#include "base/map.h"
#include "ingest/mindspore/mindspore.h"
#include "ingest/util/csv_cells.h"

/* Where an execution is shown. */
typedef enum {
    LANE_HOST_OP, /* operators of the host's processors */
    LANE_GPU_OP,  /* operators of a GPU run, as the framework timed them */
    LANE_AICORE,  /* tasks of the AI Core */
    LANE_AICPU,   /* tasks of the AI CPU */
    LANE_KERNEL,  /* CUDA kernels */
    LANE_COMM,    /* collectives on their streams */
    LANE_STEP,    /* whole steps */
    LANE_STAGE,   /* parts of steps */
    LANE_SCOPE,   /* levels of the network's scopes */
    LANE_HOST,    /* other host work: framework, runtime, user ranges */
    LANE_CALL,    /* calls of the device's runtime */
    LANE_MEMCPY,  /* copies on a stream */
    LANE_WAIT,    /* tasks of a stream that only wait or signal */
    N_LANES
} ms_lane;

/* There are millions of them: what few have is marked in `more`. */
typedef struct {
    int64_t start, dur;
    int64_t stream;     /* or thread, or level; row of its lane */
    uint32_t name;      /* string id */
    uint32_t more;      /* row + 1 of ms.mores, 0 = none; several may share one */
    uint8_t lane, kind; /* kind: of LANE_STAGE and LANE_HOST */
} ms_exec;

typedef struct {
    uint32_t op;       /* of a kernel: full name of its operator, 0 = unknown */
    uint32_t args;     /* JSON text, string id; 0 = none */
    uint32_t row_name; /* name of its row, string id; 0 = by number */
    uint32_t process;  /* of LANE_HOST: another process than the framework's, string id */
    uint32_t info; /* of a task: what equal calls share, JSON text, string id; 0 = nothing */
    uint32_t block[3], grid[3];
    /* Numbers of arrows (mindspore_arrows.c), 0 = none: of a call those that begin at it, of a
     * task those that end at it; `owner` also of the range that is its operator. */
    uint32_t launch, owner;
} ms_more;

/* ---- mindspore_arrows.c ---- */

typedef enum { MS_ARROW_LAUNCH, MS_ARROW_OWNER } ms_arrow_kind;

typedef struct {
    map from, to; /* place -> number of a beginning; row of sources */
    map by_id;    /* id of an arrow -> row of sources */
    vec sources;  /* uint32_t: number of the beginning, 0 = not met yet */
    uint32_t n;   /* beginnings */
} ms_arrows;

/* One end of an arrow. */
typedef struct {
    str id;
    uint64_t row; /* process and thread, as one number */
    int64_t time;
    ms_arrow_kind kind;
    bool begins;
} ms_arrow;

ms_arrows ms_arrows_begin(void);
void ms_arrows_end(ms_arrows *a);
/* False: it does not end at tasks. */
bool ms_arrow_kind_of(str category, str name, ms_arrow_kind *out);
status ms_arrow_add(ms_arrows *a, const ms_arrow *arrow, error *err) MUST_USE;
/* The number of the arrows that begin, or of the one that ends, at this place; 0: none does.
 * To be asked when all arrows are added. */
uint32_t ms_arrow_from(const ms_arrows *a, ms_arrow_kind kind, uint64_t row, int64_t time);
uint32_t ms_arrow_to(const ms_arrows *a, ms_arrow_kind kind, uint64_t row, int64_t time);

/* A row of kernel_details.csv, until the timeline asks for it. */
typedef struct {
    int64_t start, dur, stream;
    int64_t step, wait;        /* ABSENT_I64: unknown; wait: after the task before it, ns */
    str args;                  /* all it says: JSON text, of the arena */
    uint32_t name, info, next; /* next: row + 1 of the same key, 0 = none */
    uint8_t lane;
    bool taken;
} ms_detail;

/* A name in a list of executions, and the one that came after it last. */
typedef struct {
    str text;       /* of the interner */
    str head;       /* how its last row began: name and stream, each with its separator */
    int64_t stream; /* of that row */
    uint32_t id, more, next;
} ms_name;

/* A list of executions as far as it was read: it comes in pieces of whole lines. */
typedef struct {
    uint64_t offset; /* of the piece, in the file */
    bool began;      /* its head was read */
    int places;      /* of its times, from the head */
    vec names;       /* ms_name */
    map by_id;       /* string id -> row of names */
    uint32_t last;   /* row + 1 of the last name, 0 = none */
} ms_list;

/* What a framework file says of an operator. */
typedef struct {
    uint32_t full_name, name, type, subgraph, info, shapes;
    uint32_t counted; /* records its operations are the mean of; 0 = a table has them */
    double flops, flops_per_s, vector_flops, vector_flops_per_s;
} ms_known;

/* Operations of the device: of one call of each operator, and of all calls in their time. */
typedef struct {
    double cube, vector, all_cube, all_vector, ns;
} ms_costs;

/* A point of a raw step trace. */
typedef struct {
    uint64_t tag, counter;
    uint32_t op; /* the operator it stands for, string id; 0 = not known */
    uint16_t stream;
    bool marked; /* of a ts_track: even tags begin, odd ones end */
} ms_point;

/* The open step of a raw step trace; it continues from slice to slice. */
typedef struct {
    uint64_t fp, bp, previous_end;
    uint64_t end_tag; /* of a training_trace; 0 = not looked for yet */
    int64_t number;
    uint32_t fp_op, bp_op;
    uint32_t fp_name; /* the operator with which the forward pass begins */
    vec points;       /* ms_point: of collectives */
    uint64_t n_rows;  /* of a table made of it */
} ms_track;

/* Executions, and what only some of them have. */
typedef struct {
    vec rows;      /* ms_exec */
    vec mores;     /* ms_more */
    vec details;   /* ms_detail */
    map detail_at; /* name and start -> row + 1 of details */
    map launches;  /* numbers of launch arrows that begin at a call -> 0 */
} ms_execs;

/* What the framework's files say of operators. */
typedef struct {
    vec rows;    /* ms_known */
    map by_name; /* full name id -> row */
} ms_operators;

/* Numbers of tasks and hashes on the device, and the operators they stand for. */
typedef struct {
    vec names;   /* uint32_t: of operators, in the order of the table of tasks */
    map by_key;  /* stream and task -> row of it */
    bool binary; /* the newer numbering */
    map last;    /* stream -> its last task */
    uint64_t wraps;
    map open;        /* operator -> place of its start */
    vec open_counts; /* uint64_t */
    map hash_names;  /* hash folded -> string id */
} ms_tasks;

typedef struct {
    vec rows;          /* raw_memory, times as the file has them */
    int64_t capacity;  /* bytes of the device's memory; ABSENT_I64: not reported */
    uint32_t n_blocks; /* that have a number */
} ms_memory;

typedef struct {
    vec hccl, links;  /* of mindspore_hccl.c */
    uint32_t n_costs; /* rows of comm_cost so far */
} ms_comm;

typedef struct {
    uint32_t n_ops;
    uint32_t queue[3]; /* row of the pipeline table, by pipe_role; 0 = not yet */
    int64_t n_batches;
} ms_pipe;

enum { MS_MOST_KINDS = 96 };

typedef struct ms {
    builder *b;
    part *part;
    const ingest_options *o;
    arena *arena;
    int64_t id;
    int64_t device;           /* of kernel_details.csv; absent: it does not say */
    bool ascend, gpu;         /* the platform, from the names of the files */
    bool seen[MS_MOST_KINDS]; /* kinds of files that were there */
    const char *file;         /* being read: its name, for metadata */
    const char *folder; /* and the folder around it, where that says something; "" otherwise */
    uint64_t bytes;     /* read so far */
    bool host_events;   /* a timeline had those of the framework */
    uint64_t n_lane[N_LANES];
    int64_t offset_ns; /* taken from every time: 0, or the Unix time of the first */
    ms_execs exec;
    ms_list list;
    ms_operators known;
    ms_costs costs;
    ms_tasks task;
    ms_track track;
    ms_memory memory;
    ms_comm comm;
    ms_pipe pipe;
    uint32_t n_findings;   /* rows of finding so far */
    row_parallel parallel; /* what is known so far: ms_put_facts */
    row_resource resource;
} ms;

typedef status (*ms_reader)(ms *m, str text, error *err);
#define FILE(kind, names, sure, header, reader) status reader(ms *m, str text, error *err);
#include "ingest/mindspore/mindspore_files.def"
#undef FILE
enum {
#define FILE(kind, names, sure, header, reader) MS_##kind,
#include "ingest/mindspore/mindspore_files.def"
#undef FILE
};
int ms_n_kinds(void);
/* Its reader takes a file in pieces of whole lines. */
static inline bool ms_is_list(int kind) {
    return kind >= MS_AICORE_TIMES && kind <= MS_CPU_TIMES;
}
ms_reader ms_reader_of(int kind);
/* The kind of a text table by its first line, -1: none. */
int ms_kind_of_text(str head);

/* A worker without files, whose memory is the arena's; and its end, the arena's too. */
ms ms_begin(builder *b, const ingest_options *o, arena *a);
void ms_end(ms *m);
/* Reads the files of some kinds (wanted, by kind) that lie in these folders. */
status ms_read_kinds(ms *m, const str *folders, size_t n_folders, const bool *wanted,
                     error *err) MUST_USE;
/* The row of kernel_details.csv about a task of this name and start; NULL when there is
 * none. */
const ms_detail *ms_detail_of(const ms *m, str name, int64_t start);
/* Memory events that were collected become rows. */
status ms_emit_memory(ms *m, error *err) MUST_USE;

/* One file of a kind, as if it were a worker: for fuzzing. */
status ms_read_one(int kind, str text, builder *b, error *err) MUST_USE;

/* The id of a string; 0 for an empty one. MS_NO_STRING when out of memory. */
#define MS_NO_STRING UINT32_MAX
uint32_t ms_string(ms *m, str s);
str ms_text(const ms *m, uint32_t id);
/* A line or a row that could not be used. */
void ms_lost(ms *m, cause c, uint64_t offset, str example);
status ms_add_exec(ms *m, const ms_exec *e, error *err) MUST_USE;
/* Keeps what few executions have: the number for ms_exec.more; MS_NO_STRING when out of
 * memory. */
uint32_t ms_add_more(ms *m, const ms_more *more);
/* What is known of a full name; a new row when nothing is. NULL: out of memory. */
ms_known *ms_know(ms *m, uint32_t full_name);
const ms_known *ms_known_of(const ms *m, uint32_t full_name);
/* The last part of a path; the type of an operator's name: what is between the last slash and
 * -op. */
str ms_short(str full_name);
str ms_type(str full_name);
/* Default, Gradients, recompute_Default …: the first part of a path with more than one. */
str ms_subgraph(str full_name);
/* A top-level fact: JSON text. */
status ms_meta(ms *m, const char *key, str json, error *err) MUST_USE;
/* The JSON of a file, repaired where it must be; one that is not JSON is counted, and `out`
 * stays empty. */
status ms_normal(ms *m, str text, buf *out, error *err) MUST_USE;
/* Milliseconds as ns, kilobytes as bytes; absent when they are far too many. */
int64_t ms_ns(double time_ms);
int64_t ms_kb_bytes(double kb);
/* "0-1": the ranks of a link. */
bool ms_pair(str name, row_link *out);
/* A link of this kind; one without time or bytes is skipped. */
status ms_put_link(ms *m, row_link *row, str kind, error *err) MUST_USE;
/* The communication of a step, and after it what its collectives have of it. */
status ms_put_cost(ms *m, row_comm_cost *row, error *err) MUST_USE;
status ms_put_cost_op(ms *m, str name, int64_t communication_ns, int64_t waiting_ns,
                      error *err) MUST_USE;
/* A fact about the run that says how it is spread over its devices; others are skipped. */
status ms_take_fact(ms *m, str key, str json, error *err) MUST_USE;
/* An operator that is a point of every step; the first one in the files counts. */
status ms_put_point(ms *m, step_point_kind point, str name, error *err) MUST_USE;
/* What was found out about the run and its device: tables parallel and resource. */
status ms_put_facts(ms *m, error *err) MUST_USE;
/* A text as a member of the JSON object that `out` is to become: begins it when there is
 * nothing yet; who adds the last one closes it. */
void ms_add_member(buf *out, str key, str value);
/* A step as a step trace knows it, ns; number absent: the average; tail absent: inference. */
typedef struct {
    int64_t number, start, total, fp, bp, interval, fp_bp, tail;
} ms_step;
typedef struct {
    int64_t number, start, duration, stream;
    uint32_t name, track;
} ms_step_comm;
/* A step from here to there, and nothing else of it. */
status ms_add_step_range(ms *m, int64_t number, int64_t start, int64_t dur,
                         error *err) MUST_USE;
status ms_add_step(ms *m, const ms_step *s, error *err) MUST_USE;
status ms_add_step_comm(ms *m, const ms_step_comm *c, error *err) MUST_USE;

/* ---- raw binaries ---- */

#define MS_MOST_COUNT ((uint64_t)1 << 57) /* of 10 ns: ten times it still is a time */

/* Counts what is left after the last whole record. */
static inline void ms_count_rest(ms *m, str text, size_t record) {
    if (text.n % record) ms_lost(m, CAUSE_TRUNCATED, text.n - text.n % record, str_of(m->file));
}
/* Records of the files mindspore.*: u16 type, u32 length, value; a value's fields have the same
 * form. */
typedef struct {
    str rest;
    size_t whole;
} ms_records;
/* The value of the next record; one that is cut or has less than `least` bytes is counted and
 * the last. */
bool ms_next_record(ms *m, ms_records *r, size_t least, str *value);
bool ms_next_field(str *fields, unsigned *key, str *value);
/* A task of the table of tasks; one that is there already keeps its place. */
status ms_add_task(ms *m, uint64_t stream, uint64_t task, uint32_t name, error *err) MUST_USE;
/* Its row; SIZE_MAX: there is none. And its operator, 0: none. */
size_t ms_task_row(const ms *m, uint64_t stream, uint64_t task);
uint32_t ms_task_name(const ms *m, uint64_t stream, uint64_t task);

/* Adds an operator that was added up; the shapes are those that its info tells. */
status ms_put_op(ms *m, row_producer_op *g, error *err) MUST_USE;
/* Operations of an operator whose calls and time are known, and their sum as a fact of the
 * device. */
void ms_set_costs(ms *m, row_producer_op *g);
void ms_finish_costs(ms *m);

/* Executions of the AI CPU as they are read, added up by name and by type. */
typedef struct {
    int64_t total, dispatch, start, end; /* of the current one; start may be absent */
    vec sums[2];
    map by_name[2];
} ms_aicpu;
void ms_aicpu_init(ms_aicpu *a);
status ms_add_aicpu(ms *m, ms_aicpu *a, str name, error *err) MUST_USE;
status ms_aicpu_end(ms *m, ms_aicpu *a, status st, error *err) MUST_USE;
/* The device of a memory event: NPU:3. */
void ms_memory_device(const ms *m, str text, raw_memory *row);
/* Totals without the operators, of a device whose allocations are known: they go. */
void ms_drop_totals(ms *m);
/* "256,1,1" */
void ms_dims(str text, uint32_t out[3]);
/* "block" and "grid" of a kernel's info. */
void ms_kernel_dims(str info, uint32_t block[3], uint32_t grid[3]);

/* One fetch of the network from the device's queue. */
status ms_add_data_queue(ms *m, int64_t start_ns, int64_t end_ns, int64_t size,
                         error *err) MUST_USE;

/* Lines of a text, without their ends; false after the last. */
bool ms_line(str *rest, str *line);
/* The next word of a line. */
bool ms_word(str *rest, str *word);

/* What kernel_details.csv says of a task of the timeline is added to its arguments. */
void ms_join_detail(ms *m, const ms_exec *task, buf *args, ms_more *more);
/* Without a timeline its rows are the tasks. */
status ms_finish_details(ms *m, error *err) MUST_USE;

/* The traces of collectives become the table MindSpore makes of them. */
status ms_finish_hccl(ms *m, error *err) MUST_USE;
/* Adds up tasks of the AI Core by operator, where no table did. */
status ms_sum_tasks(ms *m, error *err) MUST_USE;
/* Executions become slices, tracks, steps. */
status ms_emit(ms *m, error *err) MUST_USE;

/* The operators of the lane that tells the run's story, by time: their places among the
 * executions. */
typedef struct {
    uint32_t *at, n;
} ms_ops;
status ms_main_ops(ms *m, ms_ops *out, error *err) MUST_USE;
/* Steps by the base rule, when nothing said where they are. */
status ms_find_steps(ms *m, const ms_ops *ops, error *err) MUST_USE;
/* The scopes those operators are in, as slices of a process (string id). */
status ms_emit_scopes(ms *m, const ms_ops *ops, uint32_t process, error *err) MUST_USE;

#endif
