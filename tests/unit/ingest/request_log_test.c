/* request_log_test.c: logs of requests, from bytes to rows of table request. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/num.h"
#include "ingest/serving/request_log.h"
#include "unit/ingest/read_helper.h"

enum { MS = 1000000 };

static trace *read_log(const char *text) {
    error err;
    return read_with(ingest_request_log, str_of(text), (read_how){0}, &err);
}

static void expect_row(const trace *t, uint32_t row, const char *id, const int64_t at[4]) {
    assert_true(row < t->request.n);
    assert_string_equal(text_of_id(t, t->request.id[row]), id);
    assert_int_equal(t->request.arrival[row], at[0]);
    assert_int_equal(t->request.scheduled[row], at[1]);
    assert_int_equal(t->request.first_token[row], at[2]);
    assert_int_equal(t->request.end[row], at[3]);
}

#define AT(...) ((const int64_t[4]){__VA_ARGS__})

static void lines_of_servers_are_requests(void **state) {
    (void)state;
    trace *t =
        read_log("{\"request_id\":\"a\",\"prompt_tokens\":3,\"output_tokens\":2,\"metrics\":{"
                 "\"arrival_time\":1763548800.25,\"first_scheduled_time\":1763548800.3,"
                 "\"first_token_time\":1763548800.5,\"finished_time\":1763548801}}\n"
                 "{\"meta_info\":{\"id\":\"b\\u0041\",\"prompt_tokens\":5,\"cached_tokens\":2,"
                 "\"completion_tokens\":32,\"e2e_latency\":0.25,"
                 "\"response_sent_to_client_ts\":1763548801.5}}\n"
                 "{\"request_id\":\"c\",\"arrival_ms\":1763548800300,\"ttft_ms\":12.5,"
                 "\"latency_ms\":40}");
    assert_non_null(t);
    assert_int_equal(t->request.n, 4);
    assert_int_equal(t->base_unix_ns, 1763548800250000000);
    expect_row(t, 1, "a", AT(0, 50 * MS, 250 * MS, 750 * MS));
    expect_row(t, 2, "bA", AT(1000 * MS, ABSENT_I64, ABSENT_I64, 1250 * MS));
    expect_row(t, 3, "c", AT(50 * MS, ABSENT_I64, 62500000, 90 * MS));
    assert_int_equal(t->request.prompt_tokens[2], 5);
    assert_int_equal(t->request.cached_tokens[2], 2);
    assert_int_equal(t->request.output_tokens[2], 32);
    assert_int_equal(t->request.output_tokens[3], ABSENT_I64);
    trace_release(t);
}

static void a_log_alone_has_ranges(void **state) {
    (void)state;
    trace *t = read_log("{\"id\":7,\"arrival\":1,\"scheduled\":2,\"first_token\":4,\"end\":9}");
    assert_non_null(t);
    uint32_t request = find_slice(t, "request"), decode = find_slice(t, "decode");
    assert_int_equal(t->slice.dur[request], 8000 * (int64_t)MS);
    assert_int_equal(t->slice.dur[find_slice(t, "queue")], 1000 * MS);
    assert_int_equal(t->slice.dur[find_slice(t, "prefill")], 2000 * MS);
    assert_int_equal(t->slice.dur[decode], 5000 * (int64_t)MS);
    assert_int_equal(t->slice.parent[decode], request);
    assert_string_equal(args_text(t, t->slice.args[request]), "{\"request\":\"7\"}");
    assert_int_equal(t->base_unix_ns, ABSENT_I64); /* not a time of day */
    trace_release(t);
}

static void spans_of_open_telemetry_are_requests(void **state) {
    (void)state;
    trace *t = read_log(
        "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\","
        "\"value\":{\"stringValue\":\"x\"}}]},\"scopeSpans\":[{\"spans\":["
        "{\"name\":\"tokenize\",\"startTimeUnixNano\":\"1\",\"endTimeUnixNano\":\"2\"},"
        "{\"name\":\"llm_request\",\"startTimeUnixNano\":\"1763548800250000000\","
        "\"endTimeUnixNano\":\"1763548801000000000\",\"attributes\":["
        "{\"key\":\"gen_ai.request.id\",\"value\":{\"stringValue\":\"a\"}},"
        "{\"key\":\"gen_ai.usage.prompt_tokens\",\"value\":{\"intValue\":\"12\"}},"
        "{\"key\":\"gen_ai.latency.time_in_queue\",\"value\":{\"doubleValue\":0.01}},"
        "{\"key\":\"gen_ai.latency.time_to_first_token\",\"value\":{\"doubleValue\":0.25}}"
        "]}]}]}]}");
    assert_non_null(t);
    assert_int_equal(t->request.n, 2);
    expect_row(t, 1, "a", AT(0, 10 * MS, 250 * MS, 750 * MS));
    assert_int_equal(t->request.prompt_tokens[1], 12);
    trace_release(t);
}

/* vLLM counts what follows the arrival with a clock that begins elsewhere. */
static void moments_of_another_clock_follow_the_arrival(void **state) {
    (void)state;
    trace *t =
        read_log("[{\"request_id\":\"a\",\"arrival_time\":1763548800.25,\"queued_ts\":100,"
                 "\"scheduled_ts\":100.5,\"first_token_ts\":101,\"last_token_ts\":102}]");
    assert_non_null(t);
    expect_row(t, 1, "a", AT(0, 500 * MS, 1000 * MS, 2000 * (int64_t)MS));
    trace_release(t);
}

static void tables_have_a_header(void **state) {
    (void)state;
    trace *t = read_log("Request ID,arrival,\"first token\",end,output_tokens\r\n"
                        "\"a,1\",2025-11-19T10:40:00Z,2025-11-19T10:40:00.5Z,"
                        "2025-11-19T10:40:01Z,4\r\n"
                        "b,,,5,\r\n");
    assert_non_null(t);
    assert_int_equal(t->request.n, 2);
    expect_row(t, 1, "a,1", AT(0, ABSENT_I64, 500 * MS, 1000 * MS));
    assert_int_equal(t->request.output_tokens[1], 4);
    assert_int_equal(trace_quality(t, CAUSE_MISSING_TIME), 1);
    trace_release(t);
}

static void damage_costs_its_line(void **state) {
    (void)state;
    trace *t = read_log("{\"id\":\"a\",\"arrival\":1,\"end\":3,\"prompt_tokens\":4}\n"
                        "{\"id\":\"b\",\"arri\n"
                        "{\"id\":\"c\",\"arrival\":5,\"end\":3,\"prompt_tokens\":4}\n"
                        "{\"id\":\"d\",\"arrival\":2,\"first_token\":9,\"end\":3,\"ttft\":7,"
                        "\"output_tokens\":4}\n");
    assert_non_null(t);
    assert_int_equal(t->request.n, 3);
    expect_row(t, 1, "a", AT(1000 * MS, ABSENT_I64, ABSENT_I64, 3000 * (int64_t)MS));
    expect_row(t, 2, "d", AT(2000 * (int64_t)MS, ABSENT_I64, ABSENT_I64, 3000 * (int64_t)MS));
    assert_int_equal(trace_quality(t, CAUSE_BAD_SYNTAX), 1);
    assert_int_equal(trace_quality(t, CAUSE_MISSING_TIME), 1);
    trace_release(t);
}

static void one_id_is_one_request(void **state) {
    (void)state;
    trace *t = read_log("{\"id\":\"a\",\"arrival\":2,\"end\":3,\"output_tokens\":4}\n"
                        "{\"id\":\"a\",\"arrival\":1,\"end\":2,\"prompt_tokens\":9}\n");
    assert_non_null(t);
    assert_int_equal(t->request.n, 2);
    expect_row(t, 1, "a", AT(1000 * MS, ABSENT_I64, ABSENT_I64, 3000 * (int64_t)MS));
    assert_int_equal(t->request.prompt_tokens[1], 9);
    assert_int_equal(t->request.output_tokens[1], 4);
    trace_release(t);
}

static void heads_tell_logs_from_other_files(void **state) {
    (void)state;
    assert_true(request_log_head(
        STR("\xef\xbb\xbf {\"id\":\"a\",\"arrival\":1,\"end\":3,\"prompt_tokens\":4}\n{\"id")));
    assert_true(request_log_head(STR("request_id,arrival,ttft,latency\n")));
    assert_true(request_log_head(STR("[{\"rid\":\"a\",\"start\":1,\"e2e\":3,\"ttft\":1}]")));
    assert_false(request_log_head(STR("{\"id\":\"a\",\"start\":1,\"end\":3}"))); /* any job */
    assert_false(request_log_head(STR("request_id,arrival,end\n1,2,3\n")));
    assert_false(request_log_head(STR("{\"traceEvents\":[{\"id\":\"a\",\"arrival\":1,\"end\":3,"
                                      "\"prompt_tokens\":4}]}")));
    assert_false(request_log_head(STR("")));
    assert_false(request_log_head(STR("hello")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_servers_are_requests),
        cmocka_unit_test(a_log_alone_has_ranges),
        cmocka_unit_test(spans_of_open_telemetry_are_requests),
        cmocka_unit_test(moments_of_another_clock_follow_the_arrival),
        cmocka_unit_test(tables_have_a_header),
        cmocka_unit_test(damage_costs_its_line),
        cmocka_unit_test(one_id_is_one_request),
        cmocka_unit_test(heads_tell_logs_from_other_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
