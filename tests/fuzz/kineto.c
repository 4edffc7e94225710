/* kineto.c: the whole reader of trace-event JSON, from bytes to a sealed trace. Two threads with
 * small pieces find as many rows of everything as one thread with one piece; every record of
 * arguments is strict JSON; and the trace keeps the promises that file_check.c checks in files. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "ingest/ingest.h"
#include "store/args.h"
#include "store/file.h"
#include "store/trace_int.h"

static status reopen(void *context, source **out, error *err) {
    return source_open_memory(*(const str *)context, out, err);
}

static trace *read_trace(str text, pool *workers, size_t piece_bytes) {
    ingest_options o = {
        .pool = workers, .reopen = reopen, .reopen_context = &text, .piece_bytes = piece_bytes};
    source *s;
    trace *t = NULL;
    builder *b = builder_new();
    CHECK(source_open_memory(text, &s, NULL) == OK);
    if (ingest_trace_json(s, &o, b, NULL) == OK)
        CHECK(builder_seal(b, workers, &t, NULL) == OK);
    source_close(s);
    builder_free(b);
    return t;
}

static void check_args(args_reader *r, const uint32_t *records, uint32_t n) {
    buf b = {0};
    for (uint32_t i = 1; i < n; i++) {
        buf_clear(&b);
        CHECK(args_read_json(r, records[i], &b, NULL) == OK);
        check_strict(buf_str(&b));
    }
    buf_fini(&b);
}

/* Written and opened again, every check of a foreign file must hold. */
static void check_promises(const trace *t) {
    char path[64];
    trace *again;
    int fd = memfd_create("trace", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    CHECK(file_write_fd(t, fd, STR_NONE, NULL) == OK);
    CHECK(file_open(path, STR_NONE, &again, NULL) == OK);
    CHECK(trace_require(again, TRACE_ALL | TRACE_ARGUMENTS, NULL) == OK);
    trace_release(again);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static pool *two;
    if (!two) two = pool_new(2);
    str text = {(const char *)data, size};
    trace *t = read_trace(text, NULL, 0), *u = read_trace(text, two, 40 + size % 97);
    CHECK(!t == !u);
    if (!t) return 0;
    for (int i = 0; i < N_TABLES; i++) CHECK(trace_rows(t, i) == trace_rows(u, i));
    for (cause c = 1; c < N_CAUSES; c++) CHECK(trace_quality(t, c) == trace_quality(u, c));
    CHECK(t->events_read == u->events_read && t->events_dropped == u->events_dropped);
    CHECK(t->start_ns == u->start_ns && t->end_ns == u->end_ns);
    args_reader *r;
    CHECK(args_reader_new(u, &r, NULL) == OK);
    check_args(r, u->slice.args, u->slice.n);
    check_args(r, u->instant.args, u->instant.n);
    check_args(r, u->memory.args, u->memory.n);
    args_reader_free(r);
    check_promises(u);
    trace_release(t);
    trace_release(u);
    return 0;
}
