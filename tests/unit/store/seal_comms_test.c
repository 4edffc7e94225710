/* seal_comms_test.c: collectives and their groups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "unit/ingest/read_helper.h"

/* An operator of one microsecond on thread 1 of process 1. */
#define OP(name, ts, args)                                                                   \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":" #ts \
    ",\"dur\":1,\"args\":{" args "}}"

#define COMM(name, ts, group)                                      \
    OP(name, ts,                                                   \
       "\"Collective name\":\"c\",\"Process Group Name\":\"" group \
       "\",\"Process Group Ranks\":\"[0]\"")

static void a_group_of_the_metadata_is_used_and_another_is_made(void **state) {
    trace *t = read_json("{\"traceEvents\":[" EVENTS(
        COMM("a", 1, "1"), COMM("b", 2, "0"),
        COMM("d", 3, "1")) "],\"distributedInfo\":{\"pg_config\":[{\"pg_name\":\"0\",\"pg_"
                           "desc\":\"all\"}]}}");
    assert_int_equal(t->group.n, 3);
    assert_int_equal(t->comm.n, 4);
    assert_int_equal(t->comm.group[2], 1);
    assert_string_equal(text_of_id(t, t->group.description[1]), "all");
    assert_int_equal(t->comm.group[1], 2);
    assert_int_equal(t->comm.group[3], 2);
    assert_string_equal(text_of_id(t, t->group.name[2]), "1");
    assert_string_equal(text_of_id(t, t->group.ranks[2]), "[0]");
    trace_release(t);
}

static void collectives_are_in_the_order_of_their_slices(void **state) {
    trace *t = read_events(EVENTS(COMM("c", 9, "0"), OP("x", 5, ""), COMM("a", 1, "0")));
    assert_int_equal(t->comm.slice[1], find_slice(t, "a"));
    assert_int_equal(t->comm.slice[2], find_slice(t, "c"));
    assert_int_equal(trace_comm_of(t, find_slice(t, "x")), 0);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_of_the_metadata_is_used_and_another_is_made),
        cmocka_unit_test(collectives_are_in_the_order_of_their_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
