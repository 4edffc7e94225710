/* request.h: what a request line asks for: a route, checked parameters, or a file of the page.
 *
 * Everything here comes from outside: percent signs, repeated and unknown parameters, numbers
 * out of range are refused with a sentence (only texts of an analysis may be repeated, as
 * changes of whatif are); nothing of it is ever a path on this machine. */
#ifndef SERVE_REQUEST_H
#define SERVE_REQUEST_H

#include "analyse/registry.h"
#include "question/question.h"
#include "text/text.h"

enum { /* groups of parameters, joined by | in routes.def */
       OF_NONE = 0,
       OF_WORDS = 1,
       OF_TRACE = 2,
       OF_WORKERS = 4,
       OF_TIME = 8,
       OF_STEP = 16,
       OF_TABLE = 32,
       OF_LIMIT = 64,
       OF_PIXELS = 128,
       OF_LANES = 256,
       OF_SEQUENCE = 512,
       OF_SLICE = 1024,
       OF_SEARCH = 2048,
       OF_EXPORT = 4096,
       OF_UPLOAD = 8192,
       OF_QUERY = 16384,
       OF_EVENTS = 32768,
       OF_SOURCE = 65536,
       ANALYSIS_ROUTE = OF_TRACE | OF_WORKERS | OF_TIME | OF_STEP | OF_TABLE | OF_LIMIT,
};

typedef enum { WORK_QUICK, WORK_TRACE } work_kind;
enum { ROUTE_FILE = -1, ROUTE_ANALYSIS = -2 };
enum { /* NUMBER_ping, … */
#define ROUTE(name, work, groups, help) NUMBER_##name,
#include "serve/routes.def"
       N_ROUTES
};

typedef struct {
    int route;                     /* NUMBER_x, ROUTE_ANALYSIS or ROUTE_FILE */
    const analysis_info *analysis; /* of ROUTE_ANALYSIS */
    str path;                      /* decoded, of ROUTE_FILE */
    work_kind work;
    lang words;
    question question;
#define PARAMETER(field, name, kind, value, groups, help) value_##kind field;
#include "serve/routes.def"
} request;

enum { REQUEST_LINE_BYTES = 8192, REQUEST_MOST_PARAMETERS = 40 };

/* target: the path and query of the request line. Texts are valid until the arena is reset.
 * ERR_NOT_FOUND: no such route; ERR_ARG: a parameter is wrong. request.words is set as far as
 * it was understood also on failure, for the words of the error. */
status request_parse(arena *a, str target, request *out, error *err) MUST_USE;

const term *parameter_at(uint32_t i); /* NULL after the last */
const char *route_name(int route);

/* A list of lanes, "1,4-9,7:2": calls take(context, first, last, coarser) for each part.
 * ERR_ARG when it is not one, or when take says no. */
typedef bool (*lanes_fn)(void *context, uint32_t first, uint32_t last, uint32_t coarser);
status request_lanes(str list, lanes_fn take, void *context, error *err) MUST_USE;

#endif
