/* fuzz_trace.h: what any sealed trace must keep, whatever it was read from. */
#ifndef TESTS_FUZZ_TRACE_H
#define TESTS_FUZZ_TRACE_H

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "store/args.h"
#include "store/file.h"
#include "store/trace_int.h"

static inline void check_args(args_reader *r, const uint32_t *records, uint32_t n) {
    buf b = {0};
    for (uint32_t i = 1; i < n; i++) {
        buf_clear(&b);
        CHECK(args_read_json(r, records[i], &b, NULL) == OK);
        check_strict(buf_str(&b));
    }
    buf_fini(&b);
}

/* Every record of arguments is strict JSON; and written and opened again, all that file_check.c
 * checks in foreign files holds. */
static inline void check_trace(const trace *t) {
    char path[64];
    trace *again;
    args_reader *r;
    CHECK(args_reader_new(t, &r, NULL) == OK);
    check_args(r, t->slice.args, t->slice.n);
    check_args(r, t->instant.args, t->instant.n);
    check_args(r, t->memory.args, t->memory.n);
    args_reader_free(r);
    int fd = memfd_create("trace", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    CHECK(file_write_fd(t, fd, STR_NONE, NULL) == OK);
    CHECK(file_open(path, STR_NONE, &again, NULL) == OK);
    CHECK(trace_require(again, TRACE_ALL | TRACE_ARGUMENTS, NULL) == OK);
    trace_release(again);
    close(fd);
}

/* As many rows of everything, and the same losses. */
static inline void check_equal(const trace *t, const trace *u) {
    for (int i = 0; i < N_TABLES; i++) CHECK(trace_rows(t, i) == trace_rows(u, i));
    for (cause c = 1; c < N_CAUSES; c++) CHECK(trace_quality(t, c) == trace_quality(u, c));
    CHECK(t->events_read == u->events_read && t->events_dropped == u->events_dropped);
    CHECK(t->start_ns == u->start_ns && t->end_ns == u->end_ns);
}

#endif
