/* api_events.c: the events since a number, for clients that poll. The answer comes immediately,
 * so polling holds no connection. Without a number the route is a stream, which server.c
 * answers. */
#include "base/message_ids_http.h"
#include "base/num.h"
#include "serve/json_put.h"
#include "serve/service.h"

status route_events(request_ctx *x, error *err) {
    buf *b = &x->reply.body;
    buf list = {0};
    bool missed;
    if (!x->service->event_bus || x->request.since == ABSENT_I64)
        FAIL(err, ERR_NOT_FOUND, NOPOS, MSG_HTTP_NO_ROUTE, arg_cstr("name", "events"));
    uint64_t next =
        event_bus_since(x->service->event_bus, (uint64_t)x->request.since, &list, &missed);
    buf_add_byte(b, '{');
    put_text(b, "instance", str_of(x->service->instance));
    put_int(b, "version", sat_i64(live_sum(x->service->live).version));
    put_int(b, "next", sat_i64(next));
    put_bool(b, "missed", missed);
    put_key(b, "events");
    buf_add_byte(b, '[');
    buf_add_str(b, buf_str(&list));
    buf_add_cstr(b, "]}\n");
    bool whole = buf_ok(&list);
    buf_fini(&list);
    if (!whole) FAIL_MEMORY(err);
    return OK;
}
