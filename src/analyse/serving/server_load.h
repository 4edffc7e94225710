/* server_load.h: what holds a server back, as far as its iterations and requests prove it.
 *
 *   gaps     between two iterations no device works, although requests are there: the next
 *            iteration decodes, so its requests had their prompts computed before
 *   prompts  an iteration that computes prompts holds up the requests that decode: they
 *            wait for one that only prefills, and get their token late in a mixed one
 *   graphs   decodes of small batches are replayed graphs, those of larger ones are not
 *   limit    the batch stays at its largest while requests wait in the queue */
#ifndef ANALYSE_SERVER_LOAD_H
#define ANALYSE_SERVER_LOAD_H

#include "analyse/serving/autopsy.h"

typedef struct {
    intervals at; /* when nothing ran, without what a device did then */
    int64_t ns, n;
} server_gaps;

typedef struct {
    int64_t decode_ns;       /* the median decode; 0: there are too few */
    int64_t held_ns, all_ns; /* Σ time × requests that decode: in these iterations; in all */
    int64_t n, ns;           /* iterations that hold up others */
    int64_t n_mixed;         /* of them, mixed ones */
    uint32_t longest;        /* of the iterations; UINT32_MAX: none */
} server_stalls;

typedef struct {
    int64_t n, ns;
    int64_t least, most; /* requests in a batch */
} server_decodes;

typedef struct {
    int64_t batch;     /* the largest */
    int64_t n;         /* iterations with as many */
    int64_t full_ns;   /* their time */
    int64_t queued_ns; /* Σ time × requests in the queue meanwhile */
    int64_t latency_ns;
    uint32_t first; /* of them; UINT32_MAX: none */
} server_limit;

/* `busy`: when a device works; NULL: no device is known. */
status server_gaps_find(const served *s, const intervals *busy, arena *a, server_gaps *out,
                        error *err) MUST_USE;
status server_stalls_find(const served *s, arena *a, server_stalls *out, error *err) MUST_USE;
/* replayed: by iteration. */
void server_graphs_find(const served *s, const bool *replayed, server_decodes *graphs,
                        server_decodes *eager);
status server_limit_find(const served *s, const request_list *r, const autopsies *bodies,
                         arena *a, server_limit *out, error *err) MUST_USE;

/* Which iterations launch most of their kernels by replaying graphs, by iteration. */
status server_replays(const trace *t, const served *s, arena *a, bool **out,
                      error *err) MUST_USE;

#endif
