/* ascend_db_int.h: what the files of the databases' reader share. */
#ifndef INGEST_ASCEND_DB_INT_H
#define INGEST_ASCEND_DB_INT_H

#include "base/buf.h"
#include "base/map.h"
#include "base/num.h"
#include "ingest/ascend/ascend_db.h"
#include "ingest/mindspore/cann_tables.h"
#include "ingest/sqlite/database.h"

/* A call of the framework that others are connected to. */
typedef struct {
    int64_t start;
    uint32_t track;
    uint8_t kind;
} api_row;

/* Which rows have a connection: indices in `apis`, MAP_NONE: none yet. */
typedef struct {
    int64_t id;
    uint32_t first, second;
} connection_row;

/* An argument of a task, with the next one of the same task. */
typedef struct {
    int64_t v;     /* as in raw_value */
    uint32_t key;  /* string id */
    uint32_t next; /* place in `cells`, MAP_NONE: none */
    uint8_t tag, digits;
} cell_row;

/* A frame of a call chain. */
typedef struct {
    int64_t id, depth;
    uint32_t frame; /* string id */
} chain_row;

/* What is known of a task in addition to its times. */
typedef struct {
    uint32_t name;  /* string id; 0: its type is its name */
    uint32_t cells; /* place in `cells`, MAP_NONE: none */
    int64_t blocks, bytes;
    int64_t plane; /* of a piece of a collective, ABSENT_I64: it is not one */
    bool copy, computes;
} task_row;

/* The place (builder_shape) of a key below another place. */
typedef struct {
    uint32_t key, above, place;
} shape_row;

enum { ASCEND_MOST_WORDS = 16 };

typedef struct {
    database *db;
    builder *b;
    part *part;
    intern *strings;
    cann_tables *tables;  /* of the folder around it */
    map names, api_types; /* their id → string id */
    vec low_names;        /* uint32_t: string ids of the names with small numbers */
    map data_types;
    map shapes;                        /* string id → string id as others write it */
    map call_names;                    /* level and name of a call → string id */
    map kinds;                         /* string id of a task's type → slice_kind */
    map stacks;                        /* id of a call chain → string id */
    vec chains;                        /* chain_row */
    map threads;                       /* globalTid → track of the framework's rows */
    map call_threads;                  /* globalTid → track of CANN's rows */
    map rows;                          /* name of a process and of a row of it → track */
    map streams, planes;               /* of a device → track */
    map group_rows;                    /* group on a device → track */
    map group_ranks;                   /* string id of a group → string id of its ranks */
    map api_map;                       /* connectionId of PYTORCH_API → apis */
    vec apis;                          /* api_row */
    map connection_map;                /* connectionId → connections */
    vec connections;                   /* connection_row */
    map calls;                         /* connectionId of CANN_API → 0 */
    map collectives;                   /* connectionId of COMMUNICATION_OP → 0 */
    map task_map;                      /* globalTaskId → tasks */
    vec tasks;                         /* task_row */
    int64_t task_id;                   /* of the last row about a task, ABSENT_I64: none */
    uint32_t i_task;                   /* its place in `tasks` */
    vec cells;                         /* cell_row */
    uint32_t words[ASCEND_MOST_WORDS]; /* string ids of the keys of arguments */
    shape_row shape_rows[MAX_VALUES];  /* of the arguments of the last task */
    uint32_t nothing;                  /* string id of what stands for no text */
    map devices;                       /* number of a device → 0: it has a row */
    buf groups;                        /* JSON: name of a group → what is known of it */
    struct comm_rows *comms;           /* sums of the current collectives */
    uint64_t n_events;
    int64_t n_memory;    /* rows about memory that were taken */
    int64_t total_bytes; /* of the last of them that tells a total */
    size_t i_counter;    /* the current table of samples */
    uint32_t n_devices;  /* of NPU_INFO */
    int32_t device;      /* of rows that do not tell */
    int32_t seen_device; /* the last one that was asked for: it has a row */
    uint32_t api_type;   /* of the last call of the framework, a string id */
    uint16_t api_category;
    int64_t session_start, session_end; /* ABSENT_I64: the database does not say */
    bool torch, steps;                  /* PyTorch's calls, marks of steps are there */
    bool rank_said;                     /* its rank is a fact already */
    bool any_row;                       /* the current table has one */
    buf unread;                         /* names of tables with rows that nothing here reads */
    bool any_comm;                      /* sums of collectives were found */
    bool failed;                        /* out of memory */
} reader;

status ascend_table(reader *r, const char *table, const char *const *columns, size_t n,
                    db_row_function *take, error *err) MUST_USE;

/* ---- ascend_db.c ---- */

uint32_t ascend_string(reader *r, str s);
/* The string of a text, which is freed. */
uint32_t ascend_take_text(reader *r, buf *text);
/* A text of STRING_IDS, or the text that is there instead of its number; 0: there is none. */
uint32_t ascend_name(reader *r, db_rows *row, int column);
/* A number, also where it is stored as text. 2^32 - 1, which means none, is absent. */
int64_t ascend_int(db_rows *row, int column);
int64_t ascend_id(db_rows *row, int column);
/* Is it further from the session than the session is long? A clock that was never set, or
 * events of another recording: in one timeline with the others they would be years apart. */
bool ascend_is_of_other_clock(const reader *r, int64_t start, int64_t end);
/* A point in time; false, and counted, when it is not one. */
bool ascend_moment(reader *r, int64_t time);
/* Start and duration from two columns; false, and counted, when they are none. */
bool ascend_time(reader *r, db_rows *row, int start, int end, raw_slice *out);
status ascend_label(reader *r, ident pid, ident tid, label_kind kind, int64_t value) MUST_USE;
/* A row of a device for what is not on a stream; the process gets the name. */
uint32_t ascend_device_row(reader *r, int32_t device, const char *process, str row);
int32_t ascend_device(reader *r, db_rows *row, int column);

/* Sums of collectives: of the open database, of the one next to it (ascend_db_comm.c). */
status ascend_read_comm(reader *r, error *err) MUST_USE;
/* Names a table of the current database in `unread`, when it has rows. */
status ascend_name_unread(reader *r, const char *table, error *err) MUST_USE;
status ascend_read_comm_file(reader *r, const ingest_options *o, error *err) MUST_USE;

/* ---- the tables ---- */

status ascend_read_host(reader *r, error *err) MUST_USE;     /* ascend_db_host.c */
status ascend_read_device(reader *r, error *err) MUST_USE;   /* ascend_db_device.c */
status ascend_read_memory(reader *r, error *err) MUST_USE;   /* ascend_db_memory.c */
status ascend_read_counters(reader *r, error *err) MUST_USE; /* ascend_db_counters.c */

#endif
