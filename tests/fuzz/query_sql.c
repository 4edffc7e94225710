/* query_sql.c: any text as SQL over a small trace: it is answered, refused or stopped within its
 * limits, and changes nothing for the question after it. */
#include "fuzz/fuzz.h"
#include "query/query.h"
#include "store/builder.h"

static trace *small;

static void add_slice(builder *b, part *p, int tid, uint8_t kind, const char *name,
                      int64_t start, int64_t dur) {
    raw_slice row = {.start = start,
                     .dur = dur,
                     .kind = kind,
                     .name = intern_add(builder_strings(b), str_of(name))};
    row.track = part_track(p, (ident){.v = 1}, (ident){.v = tid});
    if (kind == KIND_KERNEL) {
        raw_kernel k = {.correlation = ABSENT_I64, .external = ABSENT_I64};
        CHECK(part_kernel(p, &k, &row) == OK);
    }
    CHECK(part_slice(p, &row) == OK);
}

static void make_trace(void) {
    builder *b = builder_new();
    part *p = builder_part(b);
    static const char *const names[] = {"aten::mm", "aten::add", "gemm"};
    add_slice(b, p, 1, KIND_STEP, "ProfilerStep#1", 0, 1000);
    for (int i = 0; i < 60; i++) {
        add_slice(b, p, 1 + i % 2, KIND_OP, names[i % 2], 10 * i + 1, 9);
        add_slice(b, p, 1 + i % 2, KIND_OP, "child", 10 * i + 2, 3);
        add_slice(b, p, 7, KIND_KERNEL, names[2], 10 * i + 4, 12);
    }
    CHECK(builder_seal(b, NULL, &small, NULL) == OK);
    builder_free(b);
}

static status ask_text(query *q, str text, arena *a, answer *out) {
    error err = {0};
    arena_init(a, 256 << 20);
    status s = query_ask(q, text, a, out, &err);
    CHECK(s == OK || s == err.status);
    CHECK(s == OK || s == ERR_ARG || s == ERR_LIMIT || s == ERR_MEMORY);
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!small) make_trace();
    analysis_trace one = {.trace = small, .rank = ABSENT_I64};
    analysis_input in = {.traces = &one, .n_traces = 1};
    query_options o = {.params = PARAMS_WHOLE,
                       .limit_ns = 50 * 1000 * 1000,
                       .limit_bytes = 16 << 20,
                       .limit_rows = 1000};
    query *q;
    arena a;
    answer out;
    CHECK(query_open(&in, &o, &q, NULL) == OK);
    if (ask_text(q, str_n((const char *)data, size), &a, &out) == OK)
        for (uint32_t i = 0; i < out.n_tables; i++)
            CHECK(out.tables[i]->n_rows <= 1000 ||
                  !str_starts(str_of(out.tables[i]->name), STR("result")));
    arena_fini(&a);
    CHECK(ask_text(q, STR("SELECT count(*) FROM slice"), &a, &out) == OK);
    CHECK(out.tables[0]->columns[0].v.i[0] == 181);
    arena_fini(&a);
    query_close(q);
    return 0;
}
