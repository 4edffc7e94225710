/* beside_test.c: which execution trace belongs to a trace, and that the cache knows of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "session/beside.h"
#include "session/cache.h"
#include "session/discover.h"
#include "session/load.h"
#include "session_helper.h"

#define NODES(pid)                                                                      \
    "{\"schema\": \"1.1.1-chakra.0.0.4\", \"pid\": " pid                                \
    ", \"nodes\": [{\"id\": 2, \"name\": \"aten::mm\","                                 \
    "\"inputs\": {\"values\": [], \"shapes\": [[2,3]], \"types\": [\"Tensor(float)\"]," \
    "\"strides\": [[3,1]]}, \"attrs\": [{\"name\": \"rf_id\", \"value\": 9}]}]}"
#define TRACE                                                                                  \
    "{\"schemaVersion\": 1, \"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": " \
    "\"aten::mm\","                                                                            \
    "\"pid\": 1, \"tid\": 1, \"ts\": 1, \"dur\": 2,"                                           \
    "\"args\": {\"External id\": 8, \"Record function id\": 9}}]}"

/* The name of the file that was found; "" when none was. */
static const char *found(const folder *f, const char *name) {
    static beside_file out;
    if (!beside_find(in_folder(f, name), &out)) return "";
    return strrchr(out.path, '/') + 1;
}

static void the_only_one_belongs_to_the_trace(void **state) {
    folder f = folder_new();
    (void)state;
    put_file(&f, "w.pt.trace.json", STR(TRACE));
    assert_string_equal(found(&f, "w.pt.trace.json"), "");
    put_file(&f, "other_et.json", STR("{\"a\": 1}")); /* the name alone is not enough */
    put_file(&f, "settings.json", STR(NODES("1")));   /* nor is the content */
    assert_string_equal(found(&f, "w.pt.trace.json"), "");
    put_file(&f, "pytorch_execution_trace.json", STR(NODES("1")));
    assert_string_equal(found(&f, "w.pt.trace.json"), "pytorch_execution_trace.json");
    assert_true(beside_is_execution_trace(in_folder(&f, "pytorch_execution_trace.json")));
    assert_false(beside_is_execution_trace(in_folder(&f, "w.pt.trace.json")));
    folder_gone(&f);
}

static void of_several_rank_or_process_decides(void **state) {
    folder f = folder_new();
    (void)state;
    put_file(&f, "rank0_et.json", STR(NODES("70")));
    put_file(&f, "rank1_et.json", STR(NODES("71")));
    assert_string_equal(found(&f, "rank1.pt.trace.json"), "rank1_et.json");
    assert_string_equal(found(&f, "rank2.pt.trace.json"), "");
    assert_string_equal(found(&f, "host_70.123.pt.trace.json"), "rank0_et.json");
    assert_string_equal(found(&f, "host_170.123.pt.trace.json"), "");
    assert_string_equal(found(&f, "w.pt.trace.json"), "");
    folder_gone(&f);
}

static void a_joined_one_is_not_skipped(void **state) {
    folder f = folder_new();
    catalogue c;
    arena a = {0};
    (void)state;
    put_file(&f, "rank0.pt.trace.json", STR(TRACE));
    put_file(&f, "rank0_et.json", STR(NODES("70")));
    put_file(&f, "rank5_et.json", STR(NODES("75")));
    assert_int_equal(run_discover(&a, f.path, &c, NULL), OK);
    assert_int_equal(c.runs[0].n_workers, 1);
    assert_int_equal(c.n_passed, 1);
    assert_true(str_eq(c.passed[0].path, STR("rank5_et.json")));
    arena_fini(&a);
    folder_gone(&f);
}

static trace *load_one(const folder *f, bool *from_cache) {
    loaded_trace l;
    load_options o = {.threads = 1};
    assert_int_equal(trace_load(in_folder(f, "w.pt.trace.json"), &o, &l, NULL), OK);
    *from_cache = l.from_cache;
    return l.trace;
}

static void a_trace_is_joined_and_the_cache_knows(void **state) {
    folder f = folder_new();
    bool cached;
    (void)state;
    put_file(&f, "w.pt.trace.json", STR(TRACE));
    trace_release(load_one(&f, &cached));
    put_file(&f, "et.json", STR(NODES("1")));
    trace *t = load_one(&f, &cached);
    assert_false(cached);
    assert_int_equal(t->execution_trace.n, 2);
    assert_int_equal(t->execution_trace.joined[1], 1);
    assert_int_equal(t->execution_trace.nodes[1], 1);
    assert_true(str_eq(trace_str(t, t->op.shapes[1]), STR("[[2, 3]]")));
    trace_release(t);
    t = load_one(&f, &cached);
    assert_true(cached);
    assert_int_equal(t->op.n, 2);
    trace_release(t);
    folder_gone(&f);
}

/* The trace opens without it. */
static void one_that_is_damaged_is_not_a_failure(void **state) {
    folder f = folder_new();
    bool cached;
    (void)state;
    put_file(&f, "w.pt.trace.json", STR(TRACE));
    put_file(&f, "et.json", STR("{\"schema\": \"1.1.1-chakra.0.0.4\", \"nodes\": [{\"na"));
    trace *t = load_one(&f, &cached);
    assert_int_equal(t->execution_trace.damaged[1], 1);
    assert_int_equal(t->op.shapes[1], 0);
    trace_release(t);
    folder_gone(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_only_one_belongs_to_the_trace),
        cmocka_unit_test(of_several_rank_or_process_decides),
        cmocka_unit_test(a_joined_one_is_not_skipped),
        cmocka_unit_test(a_trace_is_joined_and_the_cache_knows),
        cmocka_unit_test(one_that_is_damaged_is_not_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
