/* service.h: questions and answers without HTTP: an exchange is a parsed request, the resources
 * it holds while it is worked on, and the reply. server.c carries exchanges over HTTP; tests
 * make them by hand. */
#ifndef SERVE_SERVICE_H
#define SERVE_SERVICE_H

#include <stdatomic.h>

#include "base/buf.h"
#include "plan/plan.h"
#include "serve/event_bus.h"
#include "serve/request.h"
#include "serve/uploads.h"
#include "session/catalogue.h"

typedef struct facts facts;
typedef struct run_cache run_cache;
typedef struct answer_cache answer_cache;

typedef struct {
    live *live;
    pool *pool;            /* for analyses; shared */
    facts *facts;          /* of spans, see facts.h */
    run_cache *run_cache;  /* runs of summaries, see run_cache.h */
    answer_cache *answers; /* the last ones, see answer_cache.h; NULL: none are kept */
    event_bus *event_bus;  /* what changes; NULL: nothing does */
    uploads *uploads;      /* files that were dropped on the page; NULL: none are taken */
    char instance[20];
    str source_root;   /* absolute; empty: not known */
    str served_folder; /* the same, of the traces; empty: they are on another host */
    bool loopback;     /* only this machine asks: it may see source code of its own disk */
    const str *only;   /* names of the runs that are listed; NULL: all */
    uint32_t n_only;
    size_t memory_bytes;  /* most of the arena of an exchange */
    size_t answer_bytes;  /* most of a reply */
    atomic_int n_exports; /* files that are written or sent: each is on the disk till then */
    _Atomic uint64_t export_bytes; /* of those that are written */
} service;

typedef struct {
    int code;          /* of HTTP */
    const char *media; /* static */
    buf body;
    int fd; /* -1, or a file that is the body instead */
    uint64_t fd_bytes;
    char etag[24];  /* with quotes; empty: none */
    char name[160]; /* of the file to save, empty: none */
    bool varies;    /* has other forms for other clients */
    bool gzip;      /* the body is compressed */
    bool immutable; /* never changes: keep it for ever */
    bool exports;   /* counts in n_exports */
} reply;

/* A comparison holds the traces of several runs, one run after the other: the chosen one, the
 * other, and more runs of the first one's program. Each of them is about all ranks, or about
 * the worker that was named. */
typedef struct {
    run_plan *runs;
    uint32_t n; /* 0: nothing is compared */
} compared_runs;

/* A process of the data loader of one of the traces. */
typedef struct {
    span_choice chosen;
    uint32_t of; /* the trace */
} held_loader;

typedef struct {
    service *service;
    arena arena;
    request request;
    str target;        /* as it came; borrowed */
    str if_none_match; /* borrowed, may be empty */
    int client_fd;     /* who waits for the answer; -1: not known */
    int64_t asked_ns;  /* when it came, monotonic */
    upload upload;     /* the file that came with it, if any */
    snapshot *snapshot;
    held_trace **held; /* NULL: a summary that could not be made */
    uint32_t n_held;
    bool summaries;         /* the question is answered from summaries of all workers */
    analysis_trace *traces; /* the chosen worker first; of summaries one, joined */
    uint32_t n_traces;
    held_loader *loaders; /* processes of data loaders, held after the traces */
    uint32_t n_loaders;
    trace *run_cache; /* of summaries */
    span_choice chosen;
    run_plan plan;          /* of the chosen run */
    compared_runs compared; /* what it is compared with */
    bool unusable;          /* the error is one of the file, not of the question */
    reply reply;
} request_ctx;

/* parse → open (again while it waits) → answer → end. A failure of any of them becomes the
 * reply by request_fail. */
void request_begin(request_ctx *x, service *s);
void request_end(request_ctx *x);
/* Has the client closed the connection? Not checked in the first quarter of a second: a client
 * that closes only the sending side still waits, and a short answer costs nothing. For any
 * thread. */
bool request_is_left(const request_ctx *x);
/* The route and parameters of x->target. */
status request_ctx_parse(request_ctx *x, error *err) MUST_USE;
/* Finds and holds the traces the request is about. *waits: not all are there yet, ask again
 * when the catalogue has reported something new. Nothing to do for requests without a trace. */
status request_open(request_ctx *x, bool *waits, error *err) MUST_USE;
/* Fills the reply; 304 when the reader has it already. */
status request_answer(request_ctx *x, error *err) MUST_USE;
/* The reply while the trace is being loaded. */
void request_loading(request_ctx *x);
/* Makes the reply from an error. */
void request_fail(request_ctx *x, const error *err);

/* An error as the object of docs/SERVER.md, without the member "error" around it. */
void failure_json(buf *out, lang l, const error *err, int code);
/* 400, 404, …; unusable: the input is at fault. */
int failure_code(const error *err, bool unusable);
const char *failure_word(int code);

/* One function for each route of routes.def, and one for all analyses. */
#define ROUTE(name, work, groups, help) status route_##name(request_ctx *x, error *err);
#include "serve/routes.def"
status route_analysis(request_ctx *x, error *err);

/* The level-of-detail index of the chosen trace. */
static inline const lod *request_lod(const request_ctx *x) {
    return x->held[0]->lod;
}
/* Window of the request in absolute times; open ends are those of the trace. ERR_ARG when
 * nothing of the trace is inside. */
status request_window(const request_ctx *x, int64_t *from_ns, int64_t *to_ns,
                      error *err) MUST_USE;
/* An answer with tables, arranged and presented as the request asks. */
status request_present(request_ctx *x, answer *a, error *err) MUST_USE;

#endif
