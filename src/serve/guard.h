/* guard.h: who may ask: the checks every request passes before anything of it is looked at. */
#ifndef SERVE_GUARD_H
#define SERVE_GUARD_H

#include "base/message_ids_http.h"
#include "base/status.h"

typedef struct {
    bool loopback;    /* bound to this machine alone: Host must be a loopback name */
    bool needs_token; /* everywhere else, and here where it is asked for */
    str token;        /* what a request must show then */
    str cookie; /* the name of the one that has it: a browser sends cookies to all ports */
} guard_rules;

/* Headers as they came; empty when absent. */
typedef struct {
    str method, target;
    str host, origin, fetch_site, cookie, authorization, content_type;
    size_t header_bytes; /* of all of them */
    bool has_body;
    bool ambiguous; /* two hosts, or two lengths: a proxy may have understood the other one */
} guard_request;

typedef enum {
    GUARD_PASS,
    GUARD_LOGIN, /* the token is in the address: set the cookie, lead to the page */
} guard_answer;

/* Is it the one request that brings something? Its method and target alone decide. */
bool guard_is_upload(str method, str target);
/* ERR_ARG with MSG_HTTP_… or MSG_UPLOAD_… when it is refused. */
status guard_check(const guard_rules *rules, const guard_request *r, guard_answer *out,
                   error *err) MUST_USE;

/* Compares in a time that does not depend on where they differ. */
bool guard_equal(str a, str b);
/* 32 hexadecimal digits from the system; false when it gives none. */
bool guard_make_token(char out[33]);
enum { GUARD_HEADER_BYTES = 32 << 10 };
#define GUARD_COOKIE "tacho_token"

#endif
