/* mindspore_scopes_test.c: levels of the network found among operators. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ingest/mindspore/mindspore_int.h"
#include "store/trace.h"

static trace *read_as(int kind, str text) {
    builder *b = builder_new();
    trace *t = NULL;
    assert_int_equal(ms_read_one(kind, text, b, NULL), OK);
    assert_int_equal(builder_seal(b, NULL, &t, NULL), OK);
    builder_free(b);
    return t;
}

static trace *read_tasks(str rows) {
    return read_as(MS_AICORE_TIMES, rows);
}

/* How often there is a scope of this name, level and time in microseconds. */
static int scopes_like(const trace *t, const char *name, int64_t level, int64_t from,
                       int64_t to) {
    int n = 0;
    for (uint32_t track = 1; track < t->track.n; track++)
        for (uint32_t i = t->track.first[track]; i && i < t->track.end[track]; i++)
            n += t->slice.kind[i] == KIND_OTHER && t->track.tid[track] == level &&
                 str_eq(trace_str(t, t->slice.name[i]), str_of(name)) &&
                 t->slice.start[i] == from * 1000 &&
                 t->slice.start[i] + t->slice.dur[i] == to * 1000;
    return n;
}

#define HEAD "op_name, stream_id, start_time(us), duration(ms)\n"

static void consecutive_operators_share_a_level(void **state) {
    trace *t = read_tasks(STR(HEAD "Default/net/conv-op1,1,0,0.010\n"
                                   "Default/net/relu-op2,1,20,0.010\n"
                                   "Default/loss-op3,1,40,0.010\n"));
    assert_int_equal(t->kind_count[KIND_OTHER], 2);
    assert_int_equal(scopes_like(t, "Default", 0, 0, 50), 1);
    assert_int_equal(scopes_like(t, "net", 1, 0, 30), 1);
    trace_release(t);
}

static void a_step_and_another_graph_end_all_levels(void **state) {
    trace *t = read_tasks(STR(HEAD "Default/a/A-op1,1,0,0.010\n"
                                   "Gradients/a/B-op2,1,20,0.010\n"
                                   "Default/a/C-op3,1,40,0.010\n"
                                   "elsewhere/D-op4,1,60,0.010\n"
                                   "Default/a/A-op1,1,80,0.010\n"
                                   "Gradients/a/B-op2,1,100,0.010\n"));
    assert_int_equal(scopes_like(t, "Default", 0, 0, 10), 1);
    assert_int_equal(scopes_like(t, "Gradients", 0, 20, 30), 1);
    assert_int_equal(scopes_like(t, "Default", 0, 40, 50), 1);
    assert_int_equal(scopes_like(t, "Default", 0, 80, 90), 1);
    assert_int_equal(scopes_like(t, "a", 1, 0, 10) + scopes_like(t, "a", 1, 20, 30), 2);
    assert_int_equal(t->kind_count[KIND_OTHER], 10);
    trace_release(t);
}

static void tasks_out_of_order_are_walked_by_time(void **state) {
    trace *t = read_tasks(STR(HEAD "Default/net/relu-op2,1,20,0.010\n"
                                   "Default/net/conv-op1,1,0,0.010\n"));
    assert_int_equal(scopes_like(t, "net", 1, 0, 30), 1);
    trace_release(t);
}

static void a_name_of_slashes_has_no_more_levels_than_there_are(void **state) {
    char text[512] = HEAD "Default";
    size_t n = strlen(text);
    for (int i = 0; i < 100; i++) {
        text[n++] = '/';
        text[n++] = i % 2 ? '/' : 'x';
    }
    memcpy(text + n, ",1,0,1\n", sizeof ",1,0,1\n");
    trace *t = read_tasks(str_of(text));
    assert_in_range(t->kind_count[KIND_OTHER], 1, 64);
    trace_release(t);
}

#define TASK(name, stream, ts, dur)                                                  \
    ",{\"ph\":\"X\",\"pid\":1,\"name\":\"" name "\",\"tid\":" #stream ",\"ts\":" #ts \
    ",\"dur\":" #dur ",\"args\":{\"Task Type\":\"AI_CORE\"}}"

static void with_cann_overlapping_tasks_belong_to_no_scope(void **state) {
    trace *t =
        read_as(MS_TRACE_VIEW,
                STR("[{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":"
                    "\"Ascend Hardware\"}}" TASK("Default/net/A-op1", 1, 0, 10)
                        TASK("Default/loss/B-op2", 2, 5, 100) /* while A runs */
                    TASK("Default/C-op3", 1, 20, 10)          /* of the outer scope */
                    TASK("Default/net/D-op4", 1, 40, 10) TASK("Gradients/net/E-op5", 1, 60, 10)
                        TASK("Default/net/F-op6", 1, 80, 10) "]"));
    assert_int_equal(scopes_like(t, "Default", 0, 0, 50), 1);
    assert_int_equal(scopes_like(t, "net", 1, 0, 50), 1); /* continues after C */
    assert_int_equal(scopes_like(t, "net", 1, 60, 70), 1);
    assert_int_equal(scopes_like(t, "net", 1, 80, 90), 1);
    assert_int_equal(t->kind_count[KIND_OTHER], 6);
    trace_release(t);
}

static void a_scope_has_no_row_of_an_operator(void **state) {
    trace *t = read_tasks(STR(HEAD "Default/net/conv-op1,1,0,0.010\n"));
    assert_int_equal(t->kind_count[KIND_OTHER], 2);
    for (uint32_t i = 1; i < t->op.n; i++)
        assert_int_not_equal(t->slice.kind[t->op.slice[i]], KIND_OTHER);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(consecutive_operators_share_a_level),
        cmocka_unit_test(a_step_and_another_graph_end_all_levels),
        cmocka_unit_test(tasks_out_of_order_are_walked_by_time),
        cmocka_unit_test(a_name_of_slashes_has_no_more_levels_than_there_are),
        cmocka_unit_test(with_cann_overlapping_tasks_belong_to_no_scope),
        cmocka_unit_test(a_scope_has_no_row_of_an_operator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
