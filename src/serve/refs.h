/* refs.h: slices as the objects other answers point with. */
#ifndef SERVE_REFS_H
#define SERVE_REFS_H

#include "serve/json_put.h"
#include "serve/service.h"

/* Members of a ref, without braces: id, name, kind, start, duration, track, lane, row. */
void ref_members(const request_ctx *x, buf *b, uint32_t slice);
/* {…}, after a comma where one is needed. */
void ref_put(const request_ctx *x, buf *b, uint32_t slice);
/* "key":{…}; nothing when slice is 0. */
void ref_put_key(const request_ctx *x, buf *b, const char *key, uint32_t slice);
/* Offset of an absolute time from the start of the trace. */
static inline int64_t ref_offset(const request_ctx *x, int64_t time_ns) {
    return sub_i64(time_ns, x->traces[0].trace->start_ns);
}

/* Lanes asked for, as a byte for each lane id; NULL in *out when the request names none. */
status lanes_wanted(request_ctx *x, const uint8_t **out, error *err) MUST_USE;

#endif
