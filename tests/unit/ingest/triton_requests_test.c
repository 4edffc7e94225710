/* triton_requests_test.c: requests of a server, from bytes to a sealed trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ingest/serving/triton_requests.h"
#include "unit/ingest/read_helper.h"

#define AT(name, ns) "{\"name\":\"" name "\",\"ns\":" #ns "}"

static trace *read_requests(const char *text) {
    error err;
    return read_with(ingest_triton_requests, str_of(text), (read_how){0}, &err);
}

static void test_times_in_any_order_are_phases(void **state) {
    (void)state;
    trace *t = read_requests("[{\"id\":7,\"timestamps\":[" AT("COMPUTE_END", 90) "," AT(
        "REQUEST_END",
        95) "]},"
            "{\"id\":7,\"model_name\":\"r\\u00e9s\",\"model_version\":1},"
            "{\"id\":7,\"timestamps\":[" AT("REQUEST_START", 10) "," AT(
                "QUEUE_START",
                20) "]},"
                    "{\"id\":7,\"timestamps\":[" AT("COMPUTE_START", 50) "," AT(
                        "COMPUTE_INPUT_END",
                        60) "," AT("COMPUTE_OUTPUT_START",
                                   80) "," AT("HTTP_SEND_START",
                                              94) "," AT("HTTP_SEND_END",
                                                         99) "," AT("SOMETHING_NEW", 1) "]}]");
    assert_non_null(t);
    uint32_t request = find_slice(t, "request"), queue = find_slice(t, "queue");
    assert_int_equal(t->slice.dur[request], 85);
    assert_int_equal(t->slice.dur[queue], 30);
    assert_int_equal(t->slice.parent[queue], request);
    assert_int_equal(t->slice.dur[find_slice(t, "compute_input")], 10);
    assert_int_equal(t->slice.dur[find_slice(t, "compute_infer")], 20);
    assert_int_equal(t->slice.dur[find_slice(t, "compute_output")], 10);
    assert_int_equal(t->slice.parent[find_slice(t, "send")], 0);
    assert_string_equal(args_text(t, t->slice.args[queue]), "{\"request\":7}");
    assert_string_equal(text_of_id(t, t->process.name[1]), "r\xc3\xa9s");
    assert_int_equal(trace_quality(t, CAUSE_PARTIAL_OVERLAP), 0);
    assert_true(str_eq(t->format, STR("triton_requests")));
    trace_release(t);
}

#define REQUEST(id, from, to)                                                                 \
    "{\"id\":" #id ",\"model_name\":\"m\",\"timestamps\":[" AT("REQUEST_START", from) "," AT( \
        "REQUEST_END", to) "]}"

static void test_requests_that_overlap_have_lanes(void **state) {
    (void)state;
    trace *t = read_requests("[" REQUEST(1, 0, 10) "," REQUEST(2, 5, 15) "," REQUEST(
        3, 10, 20) "," REQUEST(4, 15, 16) "," REQUEST(5, 16, 17) "]");
    assert_non_null(t);
    assert_int_equal(t->slice.n, 6);
    assert_int_equal(t->track.n, 3); /* never more than two at once */
    assert_int_equal(trace_quality(t, CAUSE_PARTIAL_OVERLAP), 0);
    trace_release(t);
}

static void test_damage_is_counted(void **state) {
    (void)state;
    trace *t =
        read_requests("[" REQUEST(1, 10, 5) ",{\"model_name\":\"x\"},8,{\"id\":2}," REQUEST(
            3, 1, 2) ",{\"id\":4,\"timest");
    assert_non_null(t);
    assert_int_equal(t->slice.n, 2);
    assert_int_equal(trace_quality(t, CAUSE_BAD_SYNTAX), 2);
    assert_int_equal(trace_quality(t, CAUSE_MISSING_TIME), 2);
    assert_int_equal(trace_quality(t, CAUSE_TRUNCATED), 1);
    trace_release(t);
}

static void test_heads(void **state) {
    (void)state;
    assert_true(triton_requests_head(
        STR("[{\"id\":1,\"timestamps\":[{\"name\":\"HTTP_RECV_START\",\"ns\":5}]}]")));
    assert_false(triton_requests_head(STR("[{\"ph\":\"X\",\"name\":\"timestamps\"}]")));
    assert_false(triton_requests_head(STR("")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times_in_any_order_are_phases),
        cmocka_unit_test(test_requests_that_overlap_have_lanes),
        cmocka_unit_test(test_damage_is_counted),
        cmocka_unit_test(test_heads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
