/* remote.h: objects after a URL: https://…, http://…, s3://BUCKET/KEY, and containers of
 * https://ACCOUNT.blob.core.windows.net.
 *
 * An object is read from front to back in ranges, several in flight; a range that fails is
 * asked for again, with growing pauses. Prefixes of an object store can be listed. Signatures
 * and tokens come from the variables everybody uses (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
 * AWS_SESSION_TOKEN, AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL, AZURE_STORAGE_SAS_TOKEN).
 * libcurl is loaded by the first call and not before. */
#ifndef IO_REMOTE_H
#define IO_REMOTE_H

#include "base/arena.h"
#include "base/status.h"

/* Is this path a URL, and not a file? */
bool remote_is_url(const char *path);
/* The URL without what must not be shown: everything from '?' on, and up to a user's name and
 * password. */
str remote_shown(str url);

typedef struct {
    str url;  /* to be opened as it is */
    str name; /* the part after the listed prefix */
    str key;  /* bucket or host and the whole name, decoded: for people */
    str tag;  /* changes with the content; empty when the server has none */
    uint64_t size_bytes;
    int64_t mtime_ns; /* 0 when unknown */
} remote_object;

/* What the server says of one object. ERR_NOT_FOUND when there is none. */
status remote_look(arena *a, const char *url, remote_object *out, error *err) MUST_USE;
/* All objects below a URL of an object store, in the server's order. A URL that names an object
 * exactly gives that one, with an empty name. ERR_UNSUPPORTED for plain servers: they cannot be
 * listed. */
status remote_list(arena *a, const char *url, remote_object **out, size_t *n,
                   error *err) MUST_USE;

#endif
