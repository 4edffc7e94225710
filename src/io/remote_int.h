/* remote_int.h: the parts reading from a URL is made of.
 *
 *     remote_url   which server, which path, which signature
 *     remote_http  one request; the only file that knows libcurl
 *     remote_list  what an object store answers when asked what it has
 *     remote_read  an object as a stream of bytes, several ranges in flight
 */
#ifndef IO_REMOTE_INT_H
#define IO_REMOTE_INT_H

#include <stdatomic.h>

#include "base/buf.h"
#include "io/remote.h"

/* ---- remote_url.c ------------------------------------------------------------------------ */

typedef enum { REMOTE_PLAIN, REMOTE_S3, REMOTE_BLOB } remote_kind;

/* Where a URL leads. All strings end in NUL. */
typedef struct {
    remote_kind kind;
    str root;    /* what the user calls the bucket or container: "s3://bucket" */
    str address; /* the same for HTTP, without a slash at the end */
    str key;     /* of the object, or the prefix; decoded; of a plain URL: empty */
    str query;   /* of the URL, or the token of the container; without '?' */
    str region;
    str access_key, secret_key, session_token; /* empty: no signature */
} remote_place;

status remote_place_of(arena *a, const char *url, remote_place *out, error *err) MUST_USE;
/* The HTTP address of a key of the place. NULL in p: no memory. */
str remote_address(arena *a, const remote_place *p, str key);
/* The URL a user would write for a key of the place. */
str remote_url_of(arena *a, const remote_place *p, str key);
/* The address of the next page of the listing; `from` is what the last page said, empty first.
 * The parts of its query are sorted, as the signature wants them. */
str remote_list_address(arena *a, const remote_place *p, str prefix, str from);
/* What people call a key of the place: bucket, container or host and the decoded name. */
str remote_key_of(arena *a, const remote_place *p, str key);
/* text with everything but letters, digits and -_.~ as %XX; '/' stays when `path`. */
void remote_encode(buf *b, str text, bool path);

/* ---- remote_http.c ----------------------------------------------------------------------- */

typedef struct http http; /* a connection that is kept; one thread at a time */

typedef struct {
    const char *address;
    const remote_place *place; /* for the signature and its version headers */
    uint64_t first, last;      /* bytes of the object; last 0: all of it */
    const char *tag;           /* the object must still have it; NULL or "": any */
    /* Takes a part of the body; false ends the transfer, which is then no failure. */
    bool (*take)(void *context, const char *p, size_t n);
    void *context;
    const atomic_bool *stop; /* true: give up; may be NULL */
} http_ask;

typedef struct {
    long code;            /* of HTTP; 0 when there was no answer */
    uint64_t total_bytes; /* of the whole object; UINT64_MAX when unknown */
    uint64_t first, last; /* the range, as the server says; UINT64_MAX: it does not */
    bool ranged;          /* the body is the range that was asked for */
    bool may_pass;        /* a failure that another try may not have */
    int64_t wait_ms;      /* the server asks to wait so long; 0: it does not say */
    int64_t mtime_ns;
    char tag[128];
    char location[256]; /* of a redirect that was not followed */
    char reason[160];   /* of a failure, for a person */
} http_reply;

status http_open(http **out, error *err) MUST_USE;
void http_close(http *h);
/* One try. OK means that a body of a good answer was taken, or ended by `take`. */
status http_get(http *h, const http_ask *ask, http_reply *reply, error *err) MUST_USE;
/* Tries until it works, it cannot work, or MOST_TRIES are spent. `take` must forget what it got
 * when `again` is called. */
status http_get_patiently(http *h, const http_ask *ask, void (*again)(void *context),
                          http_reply *reply, error *err) MUST_USE;

/* ---- remote_list.c ----------------------------------------------------------------------- */

typedef struct {
    str key;
    str tag;
    uint64_t size_bytes;
    int64_t mtime_ns;
} remote_entry;

typedef struct {
    remote_entry *v;
    size_t n;
    str next; /* where the next page starts; empty: this was the last */
} listing;

/* Reads a page of S3's ListObjectsV2 or of Blob's List Blobs. Hostile bytes give fewer entries
 * or ERR_FORMAT, never more than that. Strings live in the arena. */
status listing_parse(arena *a, str xml, listing *out, error *err) MUST_USE;

/* ---- remote_read.c ----------------------------------------------------------------------- */

typedef struct remote remote;

/* Asks for the first range, so that what fails at once fails here. */
status remote_open(const char *url, remote **out, error *err) MUST_USE;
/* Ends a wait in remote_read, from any thread; it then says ERR_CANCELLED. */
void remote_stop(remote *r);
void remote_close(remote *r);                /* NULL is allowed */
uint64_t remote_size_bytes(const remote *r); /* 0 when the server does not say */
/* At least one byte, at most room; *n == 0 at the end. */
status remote_read(remote *r, char *to, size_t room, size_t *n, error *err) MUST_USE;

#endif
