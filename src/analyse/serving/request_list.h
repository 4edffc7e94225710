/* request_list.h: the requests that a server answered, by arrival. */
#ifndef ANALYSE_REQUEST_LIST_H
#define ANALYSE_REQUEST_LIST_H

#include "base/num.h"
#include "store/trace.h"

typedef struct {
    str id;
    int64_t arrival, end;           /* ns from the trace's base */
    int64_t scheduled, first_token; /* the same; ABSENT_I64: not known */
    int64_t prompt_tokens;          /* that had to be computed: without those of a cache */
    int64_t output_tokens;          /* ABSENT_I64: not known */
} served_request;

typedef struct {
    served_request *v; /* by arrival, then id */
    uint32_t n;
    int64_t last_end;
} request_list;

#define REQUEST_TABLES (TRACE_TABLE(request))

/* Rows of table request that have an arrival and an end after it. */
status request_list_make(const trace *t, arena *a, request_list *out, error *err) MUST_USE;

static inline int64_t request_latency(const served_request *r) {
    return sub_i64(r->end, r->arrival);
}
/* Time to the first token; ABSENT_I64: not known. */
static inline int64_t request_ttft(const served_request *r) {
    return r->first_token == ABSENT_I64 ? ABSENT_I64 : sub_i64(r->first_token, r->arrival);
}
/* Time of each output token after the first; ABSENT_I64: not known, or there is only one. */
static inline int64_t request_per_token(const served_request *r) {
    if (r->first_token == ABSENT_I64 || r->output_tokens == ABSENT_I64 || r->output_tokens < 2)
        return ABSENT_I64;
    return mean_i64(sub_i64(r->end, r->first_token), sub_i64(r->output_tokens, 1));
}

#endif
