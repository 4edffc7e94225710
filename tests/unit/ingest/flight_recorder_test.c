/* flight_recorder_test.c: dumps of the flight recorder, and what the question about a hang makes of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "analyse/analysis.h"
#include "ingest/pytorch/flight_recorder.h"

#define ENTRY(number, name, group, p2p, state)                                          \
    "{\"profiling_name\":\"nccl:" name "\",\"process_group\":[\"" group "\",\"d\"],"    \
    "\"collective_seq_id\":" #number ",\"p2p_seq_id\":" #number ",\"is_p2p\":" p2p ","  \
    "\"time_created_ns\":170000000000000" #number "000,\"state\":\"" state "\","        \
    "\"time_discovered_completed_ns\":1700000000000009000,\"input_sizes\":[[2,3],[4]]," \
    "\"input_dtypes\":[\"Float\"],\"frames\":["                                         \
    "{\"name\":\"all_reduce\",\"filename\":\"/x/torch/distributed.py\",\"line\":1},"    \
    "{\"name\":\"step\",\"filename\":\"train.py\",\"line\":7}]}"
#define DUMP(entries)                                                      \
    "{\"version\":\"2.7\",\"pg_config\":{\"0\":{\"ranks\":\"[0, 1, 2]\"}," \
    "\"1\":{\"ranks\":\"[1, 2]\"}},\"pg_status\":{},\"entries\":[" entries "]}"
#define DONE(number) ENTRY(number, "all_reduce", "0", "false", "completed")
#define STARTED(number) ENTRY(number, "all_reduce", "0", "false", "started")
#define SCHEDULED(number) ENTRY(number, "all_reduce", "0", "false", "scheduled")

static trace *read_dump(const char *text, status want) {
    source *s = NULL;
    trace *t = NULL;
    builder *b = builder_new();
    assert_int_equal(source_open_memory(str_of(text), &s, NULL), OK);
    assert_int_equal(ingest_flight_recorder(s, &(ingest_options){0}, b, NULL), want);
    source_close(s);
    if (want == OK) assert_int_equal(builder_seal(b, NULL, &t, NULL), OK);
    builder_free(b);
    return t;
}

/* The id of the verdict and the ranks it blames, of dumps of the ranks 0, 1, …; NULL: no dump. */
static void check_hang(const char *const *dumps, uint32_t n, const char *id,
                       const char *culprits) {
    analysis_trace traces[4];
    uint32_t n_traces = 0;
    arena a;
    answer out;
    params p = {0};
    arena_init(&a, 0);
    for (uint32_t i = 0; i < n; i++)
        if (dumps[i])
            traces[n_traces++] = (analysis_trace){.trace = read_dump(dumps[i], OK), .rank = i};
    analysis_input in = {.traces = traces, .n_traces = n_traces};
    assert_int_equal(analyse_hang(&in, &p, &a, &out, NULL), OK);
    assert_string_equal(out.verdict.id, id);
    str got = str_n("", 0);
    for (uint32_t i = 0; i < out.verdict.n_args; i++)
        if (strcmp(out.verdict.args[i].name, "culprits") == 0) got = out.verdict.args[i].u.text;
    assert_true(str_eq(got, str_of(culprits)));
    for (uint32_t i = 0; i < n_traces; i++) trace_release((trace *)traces[i].trace);
    arena_fini(&a);
}

static void an_entry_is_a_collective_of_its_group(void **state) {
    (void)state;
    trace *t = read_dump(DUMP(DONE(1) "," STARTED(2)), OK);
    assert_int_equal(t->comm.n - 1, 2);
    uint32_t slice = t->comm.slice[2];
    assert_true(str_eq(trace_str(t, t->comm.name[2]), STR("all_reduce")));
    assert_int_equal(t->comm.sequence[2], 2);
    assert_int_equal(t->comm.in_elements[2], 10);
    assert_true(str_eq(trace_str(t, t->group.ranks[t->comm.group[2]]), STR("[0, 1, 2]")));
    assert_int_equal(t->slice.flags[slice] & SLICE_UNFINISHED, SLICE_UNFINISHED);
    assert_int_equal(t->slice.dur[t->comm.slice[1]], 8000);
    trace_release(t);
}

/* An entry as protocol 0 of pickle writes it; sizes and stacks are separate lists in each.
 * `made`: how a dictionary begins, how a pair is set, and how it ends. */
#define ONE_BY_ONE "(d", "s", ""
#define AT_ONCE "(", "", "d"
#define PICKLED(...) PICKLED_AS(__VA_ARGS__)
#define PICKLED_AS(number, size, line, made, set, end)                                        \
    made "S'profiling_name'\nS'nccl:all_reduce'\n" set "S'process_group'\n(S'0'\nS'd'\nl" set \
         "S'state'\nS'completed'\n" set "S'is_p2p'\nI00\n" set                                \
         "S'collective_seq_id'\nI" number "\n" set                                            \
         "S'time_created_ns'\nL170000000000000" number "000L\n" set                           \
         "S'time_discovered_completed_ns'\nL1700000000000009000L\n" set                       \
         "S'input_sizes'\n((I2\nI" size "\nl(I4\nll" set "S'input_dtypes'\n(S'Float'\nl" set  \
         "S'frames'\n(" made "S'name'\nS'step'\n" set "S'filename'\nS'train.py'\n" set        \
         "S'line'\nI" line "\n" set end "l" set end "a"
#define LARGE "10000000000" /* beyond 32 bits */

#define FIVE(...)                                                                 \
    "(dS'pg_config'\n(dS'0'\n(dS'ranks'\nS'[0, 1, 2]'\nsssS'entries'\n"           \
    "(l" PICKLED("1", "3", "7", __VA_ARGS__) PICKLED("2", "3", "7", __VA_ARGS__)  \
        PICKLED("3", "5", "8", __VA_ARGS__) PICKLED("4", LARGE, "7", __VA_ARGS__) \
            PICKLED("5", LARGE, "7", __VA_ARGS__) "I7\nas."

/* The same lists again, others of the same form, and numbers of any size. */
static void check_five(const char *dump) {
    trace *t = read_dump(dump, OK);
    static const int64_t elements[] = {0, 10, 10, 14, 20000000004, 20000000004};
    static const char *const shapes[] = {"",
                                         "[[2,3],[4]]",
                                         "[[2,3],[4]]",
                                         "[[2,5],[4]]",
                                         "[[2,10000000000],[4]]",
                                         "[[2,10000000000],[4]]"};
    assert_int_equal(t->comm.n - 1, 5);
    assert_int_equal(trace_quality(t, CAUSE_MISSING_NAME), 1);
    for (uint32_t i = 1; i <= 5; i++) {
        assert_int_equal(t->comm.sequence[i], i);
        assert_int_equal(t->comm.in_elements[i], elements[i]);
        assert_true(str_eq(trace_str(t, t->op.shapes[i]), str_of(shapes[i])));
        assert_true(t->op.frame[i] && (t->op.frame[i] == t->op.frame[1]) == (i != 3));
        assert_true(str_eq(trace_str(t, t->group.ranks[t->comm.group[i]]), STR("[0, 1, 2]")));
        assert_int_equal(t->slice.dur[t->comm.slice[i]], 9000 - 1000 * i);
    }
    trace_release(t);
}

static void a_pickle_gives_each_entry_its_own_lists(void **state) {
    (void)state;
    check_five(FIVE(ONE_BY_ONE));
    check_five(FIVE(AT_ONCE));
}

/* Lists that follow each other as before, and such that do not: one of them ends earlier, one
 * continues. */
static void a_list_is_not_taken_for_the_one_that_is_expected(void **state) {
    (void)state;
#define SIZED(sizes)                                                                       \
    "(S'profiling_name'\nS'nccl:all_reduce'\nS'state'\nS'completed'\nS'time_created_ns'\n" \
    "L1700000000000001000L\nS'input_sizes'\n" sizes "da"
    static const int64_t elements[] = {0, 6, 8, 6, 8, 2, 10, 6, 8, 0};
    trace *t =
        read_dump("(dS'pg_config'\n(dsS'entries'\n(l" SIZED("((I2\nI3\nll")
                      SIZED("((I2\nI4\nll") SIZED("((I2\nI3\nll") SIZED("((I2\nI4\nll")
                          SIZED("((I2\nll") SIZED("((I2\nI3\nl(I4\nll") SIZED("((I2\nI3\nll")
                              SIZED("((I2\nI4\nll") SIZED("(l") "s.",
                  OK);
    assert_int_equal(t->comm.n - 1, 9);
    for (uint32_t i = 1; i <= 9; i++) assert_int_equal(t->comm.in_elements[i], elements[i]);
    trace_release(t);
}

/* As Gloo writes it: the state never changes. */
static void what_is_retired_has_ended(void **state) {
    (void)state;
    trace *t = read_dump(
        DUMP("{\"profiling_name\":\"gloo:all_reduce\",\"process_group\":[\"0\",\"d\"],"
             "\"collective_seq_id\":1,\"time_created_ns\":1700000000000001000,"
             "\"time_discovered_completed_ns\":0,\"state\":\"scheduled\",\"retired\":true}"
             "," SCHEDULED(2)),
        OK);
    assert_int_equal(t->slice.flags[t->comm.slice[1]] & SLICE_UNFINISHED, 0);
    assert_int_equal(t->slice.flags[t->comm.slice[2]] & SLICE_UNFINISHED, SLICE_UNFINISHED);
    trace_release(t);
}

static void damage_costs_the_entry(void **state) {
    (void)state;
    trace *t = read_dump(DUMP(DONE(1) ",{\"profiling_name\":\"x\"},7,{}"), OK);
    assert_int_equal(t->comm.n - 1, 1);
    assert_int_equal(trace_quality(t, CAUSE_MISSING_TIME), 1);
    assert_int_equal(trace_quality(t, CAUSE_MISSING_NAME), 2);
    trace_release(t);
    assert_null(read_dump("{\"other\":1}", ERR_FORMAT));
}

static void ranks_that_never_arrived_are_named(void **state) {
    (void)state;
    const char *missing[] = {DUMP(DONE(1) "," STARTED(2)), DUMP(DONE(1)), DUMP(STARTED(2))};
    const char *gone[] = {DUMP(STARTED(2)), NULL, DUMP(STARTED(2))};
    const char *late[] = {DUMP(STARTED(2)), DUMP(SCHEDULED(2)), DUMP(STARTED(2))};
    const char *stuck[] = {DUMP(STARTED(2)), DUMP(STARTED(2)), DUMP(STARTED(2))};
    const char *other[] = {DUMP(STARTED(2)), DUMP(STARTED(2)),
                           DUMP(ENTRY(2, "broadcast", "0", "false", "started"))};
    const char *done[] = {DUMP(DONE(1)), DUMP(DONE(1)), DUMP(DONE(1))};
    const char *empty[] = {DUMP("")};
    check_hang(missing, 3, "hang_missing", "1");
    check_hang(gone, 3, "hang_no_dump", "1");
    check_hang(late, 3, "hang_not_started", "1");
    check_hang(stuck, 3, "hang_stuck", "");
    check_hang(other, 3, "hang_mismatch", "2");
    check_hang(done, 3, "hang_done", "");
    check_hang(empty, 1, "hang_none", "");
}

/* Rank 2 waits in the world for rank 0, so the group 1 waits for rank 2: rank 0 is to blame. */
static void a_hang_that_follows_from_another_is_not_the_cause(void **state) {
    (void)state;
    const char *dumps[] = {DUMP(DONE(1)),
                           DUMP(ENTRY(1, "all_gather", "1", "false", "started") "," STARTED(2)),
                           DUMP(STARTED(2))};
    check_hang(dumps, 3, "hang_missing", "0");
}

/* Ends of a transfer are ranks of its group: 0 and 1 of group 1 are the ranks 1 and 2. */
static void the_other_end_of_a_transfer_is_named(void **state) {
    (void)state;
    const char *dumps[] = {DUMP(DONE(1)), DUMP(ENTRY(2, "send 0->1", "1", "true", "scheduled")),
                           DUMP(DONE(1))};
    check_hang(dumps, 3, "hang_missing", "2");
}

static void dumps_are_recognized(void **state) {
    (void)state;
    assert_true(flight_recorder_head(STR(DUMP(DONE(1)))));
    assert_true(flight_recorder_head(STR("\x80\x02}q\x00(X\x07pg_config pg_status")));
    assert_false(flight_recorder_head(STR("{\"traceEvents\":[]}")));
    assert_false(flight_recorder_head(STR("")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_is_a_collective_of_its_group),
        cmocka_unit_test(a_pickle_gives_each_entry_its_own_lists),
        cmocka_unit_test(a_list_is_not_taken_for_the_one_that_is_expected),
        cmocka_unit_test(what_is_retired_has_ended),
        cmocka_unit_test(damage_costs_the_entry),
        cmocka_unit_test(ranks_that_never_arrived_are_named),
        cmocka_unit_test(a_hang_that_follows_from_another_is_not_the_cause),
        cmocka_unit_test(the_other_end_of_a_transfer_is_named),
        cmocka_unit_test(dumps_are_recognized),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
