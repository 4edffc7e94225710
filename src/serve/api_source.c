/* api_source.c: the source code of a file that the call stacks of a trace name. The server
 * does not read arbitrary files: a path that no frame names is refused. */
#include <stdio.h>

#include "base/hash.h"
#include "base/message_ids_http.h"
#include "base/num.h"
#include "serve/json_put.h"
#include "serve/service.h"
#include "serve/source_text.h"

/* The trace's own string: what a request wrote is only compared. */
static str named_file(const trace *t, str asked) {
    for (uint32_t i = 1; i < t->frame.n; i++)
        if (t->frame.file[i] && str_eq(trace_str(t, t->frame.file[i]), asked))
            return trace_str(t, t->frame.file[i]);
    return STR_NONE;
}

static int64_t recorded_unix_ns(const trace *t) {
    return t->base_unix_ns == ABSENT_I64 ? ABSENT_I64 : add_i64(t->base_unix_ns, t->end_ns);
}

/* What a reader should know about the text, or why there is none. */
static uint16_t note_on(source_state s) {
    switch (s) {
    case SOURCE_SAME: return MSG_NONE;
    case SOURCE_CHANGED: return MSG_SOURCE_CHANGED;
    case SOURCE_AGE_UNKNOWN: return MSG_SOURCE_AGE_UNKNOWN;
    case SOURCE_ABSENT: return MSG_SOURCE_ABSENT;
    case SOURCE_DENIED: return MSG_SOURCE_DENIED;
    case SOURCE_NO_CODE: return MSG_SOURCE_NO_CODE;
    case SOURCE_TOO_LARGE: return MSG_SOURCE_TOO_LARGE;
    }
    return MSG_NONE;
}

static void put_note(request_ctx *x, str file, uint16_t message) {
    buf note = {0};
    if (message != MSG_NONE)
        text_put(&note, x->request.words, message, arg_text("file", file),
                 arg_bytes("limit", SOURCE_MOST_BYTES));
    put_text_or_null(&x->reply.body, "note", buf_str(&note));
    buf_fini(&note);
}

/* The text as it was when the program ran, where the recording keeps it. */
static str recorded_text(const trace *t, str file) {
    for (uint32_t i = 1; i < t->source.n; i++)
        if (str_eq(trace_str(t, t->source.file[i]), file))
            return trace_str(t, t->source.text[i]);
    return STR_NONE;
}

static void put_source(request_ctx *x, str file, str text, str from, uint16_t note) {
    buf *b = &x->reply.body;
    char hash[17];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)hash_bytes64(text.p, text.n));
    buf_add_byte(b, '{');
    put_text(b, "file", file);
    put_text_or_null(b, "hash", text.n ? str_of(hash) : STR_NONE);
    put_text(b, "from", text.n ? from : STR("none"));
    put_note(x, file, note);
    put_text_or_null(b, "text", text);
    buf_add_cstr(b, "}\n");
}

status route_source(request_ctx *x, error *err) {
    const trace *t = x->traces[0].trace;
    str file = named_file(t, x->request.file);
    buf text = {0};
    if (!file.n)
        FAIL(err, ERR_NOT_FOUND, NOPOS, MSG_SOURCE_NOT_NAMED,
             arg_text("file", x->request.file));
    uint16_t note = MSG_SOURCE_LOOPBACK;
    TRY(trace_require(t, TRACE_TABLE(source), err));
    str kept = recorded_text(t, file);
    if (kept.n) {
        put_source(x, file, kept, STR("recording"), MSG_NONE);
        return OK;
    }
    if (x->service->loopback) {
        source_wish w = {.file = file,
                         .root = x->service->source_root,
                         .served = x->service->served_folder,
                         .recorded_unix_ns = recorded_unix_ns(t)};
        note = note_on(source_text_read(&w, &text));
    }
    put_source(x, file, buf_str(&text), STR("disk"), note);
    buf_fini(&text);
    return OK;
}
