/* whole_input.c: a source as one piece of memory. */
#include "ingest/util/whole_input.h"

#include "base/num.h"

#define READ_BYTES ((size_t)4 << 20)

status whole_bytes(source *src, const ingest_options *o, buf *out, error *err) {
    for (;;) {
        piece pc;
        TRY(source_next(src, o->piece_bytes ? o->piece_bytes : READ_BYTES, 0, &pc, err));
        if (pc.n == 0) return OK;
        buf_add(out, pc.p, pc.n);
        source_release(src, &pc);
        if (!buf_ok(out)) FAIL_MEMORY(err);
        if (o->memory_limit_bytes && out->n > o->memory_limit_bytes)
            FAIL(err, ERR_LIMIT, NOPOS, MSG_MEMORY_LIMIT,
                 arg_bytes("limit", sat_i64(o->memory_limit_bytes)));
        if (o->progress && o->progress(o->progress_context, source_bytes_consumed(src) / 2,
                                       source_file_bytes(src)))
            FAIL0(err, ERR_CANCELLED, NOPOS, MSG_CANCELLED);
    }
}

status whole_input(source *src, const ingest_options *o, builder *b, part *p, size_t room,
                   buf *out, error *err) {
    TRY(whole_bytes(src, o, out, err));
    size_t n = out->n;
    if (n == 0) FAIL0(err, ERR_FORMAT, 0, MSG_EMPTY_FILE);
    builder_set_input_bytes(b, n);
    if (source_damaged(src)) part_lost(p, CAUSE_STREAM_DAMAGED, n, 0);
    buf_add_repeat(out, 0, room);
    if (!buf_ok(out)) FAIL_MEMORY(err);
    out->n = n;
    return OK;
}
