/* api_events.c: the route of events; server.c answers it with a stream and never asks here. */
#include "base/message_ids_http.h"
#include "serve/service.h"

status route_events(request_ctx *x, error *err) {
    (void)x;
    FAIL(err, ERR_NOT_FOUND, NOPOS, MSG_HTTP_NO_ROUTE, arg_cstr("name", "events"));
}
