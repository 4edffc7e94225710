/* remote_absent.c: URLs in a build that has no network of its own (WebAssembly): the page that
 * hosts it fetches what the reader asks for. */
#include "base/message_ids_cli.h"
#include "io/remote_int.h"

static status fail_absent(const char *url, error *err) {
    FAIL(err, ERR_UNSUPPORTED, NOPOS, MSG_REMOTE_NOT_IN_WASM,
         arg_text("url", remote_shown(str_of(url))));
}

status remote_look(arena *a, const char *url, remote_object *out, error *err) {
    (void)a;
    (void)out;
    return fail_absent(url, err);
}

status remote_list(arena *a, const char *url, remote_object **out, size_t *n, error *err) {
    (void)a;
    (void)out;
    *n = 0;
    return fail_absent(url, err);
}

status remote_open(const char *url, remote **out, error *err) {
    *out = NULL;
    return fail_absent(url, err);
}

/* What no reader that could be opened is asked. */

void remote_stop(remote *r) {
    (void)r;
}

void remote_close(remote *r) {
    (void)r;
}

uint64_t remote_size_bytes(const remote *r) {
    (void)r;
    return 0;
}

status remote_read(remote *r, char *to, size_t room, size_t *n, error *err) {
    (void)r;
    (void)to;
    (void)room;
    *n = 0;
    return fail_absent("", err);
}
