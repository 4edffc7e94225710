/* server.h: the web server: the page, the answers, the events, over HTTP. */
#ifndef SERVE_SERVER_H
#define SERVE_SERVER_H

#include "base/status.h"
#include "serve/sandbox.h"
#include "text/text.h"

typedef enum {
    SANDBOX_NONE,
    SANDBOX_TRY,  /* what the kernel has */
    SANDBOX_MUST, /* all of it, or there is no server */
} sandbox_wish;

typedef struct {
    const char *path;    /* folder, run or file to serve */
    const char *host;    /* NULL: 127.0.0.1 */
    uint16_t port;       /* 0: any free one */
    uint16_t next_ports; /* how many of the next ones may be taken instead of one in use */
    int threads;         /* for reading and analyses; 0: as many as there are processors */
    bool no_cache, follow_links;
    bool token;              /* also on this machine a request must show it */
    const char *source_root; /* of relative paths in call stacks; NULL: not known */
    uint64_t memory_limit_bytes;
    uint64_t upload_bytes;  /* space for files that a page on this machine sends; 0: none */
    uint64_t request_bytes; /* most memory one question may take; 0: 512 MB */
    uint32_t timeout_s;     /* of a connection without traffic; 0: 120 */
    sandbox_wish sandbox;   /* holds for the calling thread, too */
    bool remote;            /* the path is on another host */
    lang words;             /* the language in which the first question is expected */
} server_options;

typedef struct server server;

/* Starts and returns; everything runs on other threads. */
status server_start(const server_options *o, server **out, error *err) MUST_USE;
/* The address to open, with the token where one is needed. Valid until server_stop. */
const char *server_url(const server *s);
/* The port it listens on, which may be another than the one asked for. */
uint16_t server_port(const server *s);
/* The owner of the port that was asked for, where it is another; empty when that is not known.
 * Valid until server_stop. */
str server_port_owner(const server *s);
sandbox_state server_sandbox(const server *s);
/* Answers what was begun, closes the rest, gives everything back. NULL is allowed. */
void server_stop(server *s);

#endif
