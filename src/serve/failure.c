/* failure.c: the one place where an error becomes an HTTP status and its JSON.
 *
 * The status follows from that of the error, a few messages say more. An error that comes from
 * reading a trace file is 422 whatever its status: the request was right, the file is not. */
#include "base/message_ids_all.h"
#include "serve/json_put.h"
#include "serve/service.h"

static const struct {
    uint16_t message;
    int code;
} BY_MESSAGE[] = {
    {MSG_NO_SUCH_RUN, 404},      {MSG_NO_SUCH_WORKER, 404},
    {MSG_NO_SUCH_SPAN, 404},     {MSG_NO_SUCH_LANE, 404},
    {MSG_HTTP_METHOD, 405},      {MSG_HTTP_FORBIDDEN_HOST, 403},
    {MSG_HTTP_NO_TOKEN, 401},    {MSG_HTTP_FORBIDDEN_ORIGIN, 403},
    {MSG_HTTP_BUSY, 503},        {MSG_HTTP_SUPERSEDED, 409},
    {MSG_HTTP_ENDING, 503},      {MSG_UPLOAD_OFF, 403},
    {MSG_UPLOAD_LENGTH, 400},    {MSG_UPLOAD_LOOPBACK, 403},
    {MSG_HTTP_LONG_TARGET, 414}, {MSG_HTTP_LONG_HEADERS, 431},
};

static const struct {
    int code;
    const char *word;
} WORDS[] = {
    {400, "bad_request"}, {401, "token"},      {403, "forbidden"}, {404, "not_found"},
    {405, "method"},      {409, "superseded"}, {413, "too_large"}, {422, "unusable"},
    {414, "too_long"},    {431, "too_long"},   {500, "internal"},  {503, "busy"},
};

int failure_code(const error *err, bool unusable) {
    for (size_t i = 0; i < sizeof BY_MESSAGE / sizeof *BY_MESSAGE; i++)
        if (BY_MESSAGE[i].message == err->message) return BY_MESSAGE[i].code;
    if (err->status == ERR_MEMORY) return 503;
    if (unusable) return 422;
    switch (err->status) {
    case ERR_ARG: return 400;
    case ERR_NOT_FOUND: return 404;
    case ERR_LIMIT: return 413;
    case ERR_FORMAT:
    case ERR_UNSUPPORTED: return 422;
    case ERR_CANCELLED: return 503;
    default: return 500;
    }
}

const char *failure_word(int code) {
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (WORDS[i].code == code) return WORDS[i].word;
    return "internal";
}

static const char *message_name(uint16_t message) {
    static const char *const names[N_MESSAGES] = {
        [MSG_NONE] = "",
#define MESSAGE(id, english, chinese) [MSG_##id] = #id,
#include "text/messages.def"
#undef MESSAGE
    };
    return message < N_MESSAGES ? names[message] : "";
}

static void put_values(buf *out, const error *err) {
    put_key(out, "values");
    buf_add_byte(out, '{');
    for (uint32_t i = 0; i < err->n_args; i++) {
        const arg *a = &err->args[i];
        if (a->type == ARG_WORDS) continue; /* is in the sentence alone */
        switch (a->type) {
        case ARG_TEXT: put_text(out, a->name, a->u.text); break;
        case ARG_SHARE:
        case ARG_REAL: put_real(out, a->name, a->u.d); break;
        case ARG_NONE: break;
        default: put_int(out, a->name, a->u.i);
        }
    }
    buf_add_byte(out, '}');
}

void failure_json(buf *out, lang l, const error *err, int code) {
    buf sentence = {0};
    text_error(&sentence, l, err);
    buf_add_byte(out, '{');
    put_text(out, "code", str_of(failure_word(code)));
    put_text(out, "msg", buf_str(&sentence));
    put_text(out, "id", str_of(message_name(err->message)));
    put_values(out, err);
    put_key(out, "offset");
    if (err->offset == NOPOS)
        buf_add_cstr(out, "null");
    else
        buf_add_u64(out, err->offset);
    buf_add_byte(out, '}');
    if (!buf_ok(&sentence)) out->failed = true;
    buf_fini(&sentence);
}

void request_fail(request_ctx *x, const error *err) {
    reply *r = &x->reply;
    int code = failure_code(err, x->unusable);
    buf_clear(&r->body);
    r->body.failed = false;
    r->code = code;
    r->media = "application/json";
    r->etag[0] = r->name[0] = '\0';
    r->varies = r->gzip = r->immutable = false;
    buf_add_cstr(&r->body, "{\"error\":");
    failure_json(&r->body, x->request.words, err, code);
    buf_add_cstr(&r->body, "}\n");
}
