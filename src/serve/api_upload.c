/* api_upload.c: a file that came with a request becomes a run. */
#include "base/message_ids_http.h"
#include "base/num.h"
#include "serve/json_put.h"
#include "serve/service.h"

status route_upload(request_ctx *x, error *err) {
    buf *b = &x->reply.body;
    str run;
    if (!x->upload.to) FAIL0(err, ERR_ARG, NOPOS, MSG_HTTP_METHOD);
    int64_t bytes = sat_i64(x->upload.bytes);
    x->snapshot = live_snapshot(x->service->live);
    upload_place at = {.name = x->request.name,
                       .group = x->request.group,
                       .shown = &x->snapshot->found,
                       .arena = &x->arena};
    TRY(upload_end(&x->upload, &at, &run, err));
    upload_drop(&x->upload); /* its second name is removed before anything reads it */
    live_rescan(x->service->live);
    buf_add_byte(b, '{');
    put_text(b, "run", run);
    put_text(b, "name", x->request.name);
    put_int(b, "bytes", bytes);
    buf_add_cstr(b, "}\n");
    return OK;
}
