/* horovod_timeline_test.c: timelines of Horovod, from bytes to a sealed trace and its
 * sentence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analyse/device/other_traces.h"
#include "base/arena.h"
#include "ingest/horovod/horovod_timeline.h"
#include "unit/ingest/read_helper.h"

/* One tensor: negotiated from 0 to 80 µs, rank 1 is ready at the very end; exchanged until
 * 100. */
#define TENSOR                                                                          \
    "[{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":\"grad\"}}," \
    "{\"ph\":\"B\",\"name\":\"NEGOTIATE_ALLREDUCE\",\"ts\":0,\"pid\":1},"               \
    "{\"ph\":\"X\",\"name\":\"0\",\"ts\":10,\"pid\":1,\"dur\":0},"                      \
    "{\"ph\":\"X\",\"name\":\"1\",\"ts\":80,\"pid\":1,\"dur\":0},"                      \
    "{\"ph\":\"E\",\"ts\":80,\"pid\":1},"                                               \
    "{\"ph\":\"B\",\"name\":\"ALLREDUCE\",\"ts\":81,\"pid\":1},"                        \
    "{\"ph\":\"B\",\"name\":\"MPI_ALLREDUCE\",\"ts\":82,\"pid\":1},"                    \
    "{\"ph\":\"E\",\"ts\":99,\"pid\":1},{\"ph\":\"E\",\"ts\":100,\"pid\":1},\n"

static int64_t value(const verdict *v, const char *name) {
    for (uint32_t i = 0; i < v->n_args; i++)
        if (strcmp(v->args[i].name, name) == 0) return v->args[i].u.i;
    fail_msg("no value %s", name);
    return 0;
}

static void test_names_tell_what_is_communication(void **state) {
    (void)state;
    error err;
    trace *t = read_with(ingest_horovod, STR(TENSOR), (read_how){0}, &err);
    assert_non_null(t);
    assert_true(str_eq(t->format, STR("horovod")));
    assert_int_equal(t->slice.kind[find_slice(t, "NEGOTIATE_ALLREDUCE")], KIND_COLLECTIVE);
    assert_int_equal(t->slice.kind[find_slice(t, "ALLREDUCE")], KIND_COLLECTIVE);
    assert_int_equal(t->slice.kind[find_slice(t, "MPI_ALLREDUCE")], KIND_ANNOTATION);
    trace_release(t);
}

static void test_sentence_names_the_last_rank(void **state) {
    (void)state;
    error err;
    arena a;
    verdict v = {0};
    arena_init(&a, 0);
    trace *t = read_with(ingest_horovod, STR(TENSOR), (read_how){0}, &err);
    assert_non_null(t);
    assert_int_equal(other_traces_judge(t, &a, &v, &err), OK);
    assert_string_equal(v.id, "negotiations");
    assert_int_equal(value(&v, "negotiating"), 80000);
    assert_int_equal(value(&v, "exchanging"), 19000);
    assert_int_equal(value(&v, "rank"), 1);
    assert_int_equal(value(&v, "last"), 1);
    trace_release(t);
    arena_fini(&a);
}

static void test_only_horovod_is_known(void **state) {
    (void)state;
    assert_true(horovod_head(STR(TENSOR)));
    assert_true(horovod_head(STR("[\n{\"ph\": \"i\", \"name\": \"CYCLE_START\", \"ts\": 1}")));
    assert_false(horovod_head(STR("[{\"ph\":\"X\",\"name\":\"ALLREDUCE\",\"ts\":1}")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_tell_what_is_communication),
        cmocka_unit_test(test_sentence_names_the_last_rank),
        cmocka_unit_test(test_only_horovod_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
