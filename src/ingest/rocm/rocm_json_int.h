/* rocm_json_int.h: the two halves of the reader of rocprofv3's JSON: rocm_json.c walks through
 * the text, rocm_json_rows.c makes names and rows of what is whole in it. */
#ifndef INGEST_ROCM_JSON_INT_H
#define INGEST_ROCM_JSON_INT_H

#include "base/arena.h"
#include "base/json.h"
#include "ingest/rocm/rocm_int.h"

typedef struct {
    uint32_t kind; /* string id */
    bool marker;
    vec operations; /* uint32_t: string ids */
} kind_row;

/* A kernel of the program. */
typedef struct {
    str text;    /* its name as the file has it */
    uint32_t id; /* string id, MAP_NONE until it is asked for */
} symbol_row;

typedef struct rocm_json rocm_json;
typedef status take_function(rocm_json *x, const rocm_record *in);

/* Where the walk is: each place is inside the one before it. */
typedef enum {
    AT_START,
    IN_FILE,
    IN_PROCESSES,
    IN_PROCESS,
    IN_SYMBOLS,
    IN_LISTS,
    IN_LIST,
    AT_END, /* of the processes */
    N_PLACES
} rocm_place;

struct rocm_json {
    rocm r;
    buf text; /* of rocm_json_decoded */
    int64_t pid, number;
    map agents;  /* handle → device + 1; 0: not a GPU */
    map kernels; /* kernel id → symbols */
    vec symbols; /* symbol_row */
    arena names; /* their texts */
    map markers; /* correlation → string id */
    vec kinds;   /* kind_row */

    rocm_place place;
    bool has_agents, has_symbols, has_strings;
    buf held;   /* records that came before what names them */
    buf unread; /* names of lists */
    buf list;   /* the name of the one it is in */
    bool named; /* it is in `unread` */
    take_function *take;
    rocm_layout layout;
};

/* A member of an object as a number. */
int64_t rocm_json_number(str object, str key, int64_t otherwise);
/* A string without its escapes, valid until the next call. */
str rocm_json_decoded(rocm_json *x, str value);

/* The symbol at p: where it ends, NULL: nowhere. */
const char *rocm_json_symbol(rocm_json *x, const char *p, const char *end);
status rocm_json_strings(rocm_json *x, str strings) MUST_USE;
status rocm_json_agents(rocm_json *x, str agents, error *err) MUST_USE;
/* What reads the records of a list; NULL: nothing does. */
take_function *rocm_json_taker(str list);
/* Names of a process, which ends. */
void rocm_json_forget(rocm_json *x);

#endif
