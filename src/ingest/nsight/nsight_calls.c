/* nsight_calls.c: calls of threads: CUDA's with the work they launched, those of the operating
 * system and of libraries, and what the profiler itself cost. */
#include "ingest/nsight/nsight_int.h"

enum { START, END, CLASS, THREAD, NAME, TEXT, CORRELATION, RESULT };

/* Calls come in long runs of one kind; the words are constants. */
static uint16_t category_of(reader *r, const char *name) {
    if (r->call_word != name) {
        r->call_word = name;
        r->call_category = builder_category(r->b, nsight_string(r, str_of(name)));
        r->failed |= r->call_category == 0;
    }
    return r->call_category;
}

static status take_range(reader *r, db_rows *row, slice_kind kind, const char *category) {
    raw_slice s = {.kind = (uint8_t)kind};
    int64_t thread = db_int(row, THREAD, ABSENT_I64);
    if (!nsight_is_mine(r, thread == ABSENT_I64 ? 0 : thread) ||
        !nsight_time(r, row, START, END, &s))
        return OK;
    uint32_t name = nsight_name(r, db_int(row, NAME, -1));
    if (!name) name = nsight_name(r, db_int(row, TEXT, -1));
    s.name = nsight_call_name(r, name);
    s.track = nsight_thread(r, thread == ABSENT_I64 ? 0 : thread);
    s.category = category_of(r, category);
    if (kind_is_call((uint8_t)kind)) {
        int64_t id = db_int(row, CORRELATION, -1), global = nsight_global_pid(thread);
        raw_call call = {.correlation = nsight_correlation(r, global, id),
                         .external = ABSENT_I64};
        nsight_nccl_launch(r, call.correlation, thread, s.start);
        TRY(nsight_graph_call(r, thread, &s, call.correlation));
        TRY(part_call(r->part, &call, &s));
    }
    return r->failed ? ERR_MEMORY : part_slice(r->part, &s);
}

static status take_cuda(void *context, db_rows *row) {
    reader *r = context;
    bool driver = db_int(row, CLASS, 0) == 1;
    return take_range(r, row, driver ? KIND_DRIVER : KIND_RUNTIME,
                      driver ? "cuda_driver" : "cuda_runtime");
}

/* CUDA's own waits are reported among the costs of profiling, but are there without it, too. */
static status take_overhead(void *context, db_rows *row) {
    reader *r = context;
    static const str own[] = {STR("Command Buffer Full"), STR("Lazy Function Loading"),
                              STR("Runtime Triggered Module Loading"), STR("Driver Compiler")};
    str name = intern_get(r->strings, nsight_name(r, db_int(row, NAME, -1)));
    for (size_t i = 0; i < N_OF(own); i++)
        if (str_find_nocase(name, own[i], 0) == 0)
            return take_range(r, row, KIND_OTHER, "cuda_overhead");
    return take_range(r, row, KIND_OVERHEAD, "overhead");
}

static status take_system(void *context, db_rows *row) {
    reader *r = context;
    return take_range(r, row, KIND_OTHER, "os_runtime");
}

/* Inside an operator of a framework a call of a library is a part of it; elsewhere it is all
 * that says what was asked for. */
static status take_library(void *context, db_rows *row) {
    reader *r = context;
    return take_range(r, row, r->torch ? KIND_FRAMEWORK : KIND_OP, "library");
}

static status take_collective(void *context, db_rows *row) {
    reader *r = context;
    return take_range(r, row, KIND_COLLECTIVE, "mpi");
}

static status take_message(void *context, db_rows *row) {
    reader *r = context;
    return take_range(r, row, KIND_OTHER, "communication");
}

status nsight_read_calls(reader *r, error *err) {
    static const char *const columns[] = {"start",  "end",    "eventClass",    "globalTid",
                                          "nameId", "textId", "correlationId", "returnValue"};
    static const struct {
        const char *table;
        db_row_function *take;
    } tables[] = {
        {"CUPTI_ACTIVITY_KIND_RUNTIME", take_cuda},
        {"CUPTI_ACTIVITY_KIND_DRIVER", take_cuda},
        {"CUPTI_ACTIVITY_KIND_OVERHEAD", take_overhead},
        {"PROFILER_OVERHEAD", take_overhead},
        {"OSRT_API", take_system},
        {"CUDNN_EVENTS", take_library},
        {"CUBLAS_EVENTS", take_library},
        {"MPI_COLLECTIVES_EVENTS", take_collective},
        {"MPI_P2P_EVENTS", take_collective},
        {"MPI_START_WAIT_EVENTS", take_message},
        {"MPI_OTHER_EVENTS", take_message},
        {"UCP_EVENTS", take_message},
        {"UCP_SUBMIT_EVENTS", take_message},
        {"UCP_PROGRESS_EVENTS", take_message},
    };
    for (size_t i = 0; i < N_OF(tables); i++)
        TRY(nsight_table(r, tables[i].table, columns, N_OF(columns), tables[i].take, err));
    return OK;
}
