/* store_file.c: the reader of trace files. Each table is asked for by itself, then each cell of what
 * was let through, each string, each place of a slice and each record of arguments is read; written
 * again it is a file without fault. What is then asked of such a trace: trace_questions.c. */
#include "fuzz/fuzz.h"
#include "fuzz/fuzz_file.h"
#include "store/args.h"
#include "store/trace_int.h"

static uint64_t read_cells(const trace *t, int table) {
    uint64_t sum = 0;
    for (int c = TABLE_INFO[table].first_column; c < TABLE_INFO[table].end_column; c++) {
        const uint8_t *p = trace_column(t, c);
        size_t n = (size_t)trace_rows(t, table) * COLUMN_INFO[c].elem_bytes;
        for (size_t i = 0; i < n; i++) sum += p[i];
    }
    return sum;
}

static uint64_t read_strings(const trace *t) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < t->n_strings; i++) {
        str s = trace_str(t, i);
        for (size_t k = 0; k < s.n; k++) sum += (uint8_t)s.p[k];
    }
    return sum;
}

static uint64_t read_places(const trace *t) {
    uint64_t sum = 0;
    for (uint32_t i = 1; i < t->slice.n; i++) {
        uint32_t track = trace_track_of(t, i);
        CHECK(trace_subtree_end(t, i) <= t->slice.n);
        CHECK(trace_lower_bound(t, track, t->slice.start[i]) <= t->slice.n);
        sum += trace_op_of(t, i) + trace_kernel_of(t, i) + trace_call_of(t, i) +
               trace_comm_of(t, i) + trace_module_call_of(t, i) +
               trace_step_at(t, t->slice.start[i]);
    }
    return sum;
}

static void read_args(args_reader *r, const uint32_t *records, uint32_t n) {
    buf b = {0};
    for (uint32_t i = 1; i < n; i++) {
        buf_clear(&b);
        if (args_read_json(r, records[i], &b, NULL) == OK) check_strict(buf_str(&b));
    }
    buf_fini(&b);
}

static void write_again(const trace *t) {
    char path[64];
    trace *again;
    int fd = memfd_create("again", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    CHECK(file_write_fd(t, fd, STR_NONE, NULL) == OK);
    CHECK(file_open(path, STR_NONE, &again, NULL) == OK);
    CHECK(trace_require(again, TRACE_ALL | TRACE_ARGUMENTS, NULL) == OK);
    trace_release(again);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static volatile uint64_t sum; /* or the reading is optimized away */
    trace *t = open_hostile(data, size);
    args_reader *r;
    if (!t) return 0;
    for (int i = 0; i < N_TABLES; i++)
        if (trace_require(t, (uint64_t)1 << i, NULL) == OK)
            sum += read_cells(t, i) + read_strings(t);
    if (trace_require(t, TRACE_ALL, NULL) == OK) sum += read_places(t);
    if (trace_require(t, TRACE_ALL, NULL) == OK && args_reader_new(t, &r, NULL) == OK) {
        read_args(r, t->slice.args, t->slice.n);
        read_args(r, t->instant.args, t->instant.n);
        read_args(r, t->memory.args, t->memory.n);
        args_reader_free(r);
        write_again(t);
    }
    trace_release(t);
    return 0;
}
