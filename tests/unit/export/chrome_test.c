/* chrome_test.c: the frame of the file, its root keys, its rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "unit/export/export_helper.h"
#include "unit/store/sample_trace.h"

static const export_options CHROME = {.form = {"chrome", 6}};

static void chrome_of_the_sample_is_exactly_this(void **state) {
    static const char expected[] =
        "{\"schemaVersion\":1,\n"
        "\"deviceProperties\":[{\"id\": 0, \"name\": \"GPU X\", \"numSms\": 132}],\n"
        "\"distributedInfo\":{\"backend\": \"nccl\", \"rank\": 0, \"world_size\": 2},\n"
        "\"note \\\"x\\\"\":\"NaN\",\n"
        "\"displayTimeUnit\":\"ms\",\n"
        "\"baseTimeNanoseconds\":1751410836000000000,\n"
        "\"traceEvents\": [\n"
        "{\"ph\":\"M\",\"ts\":0.000,\"name\":\"process_name\",\"pid\":100,\"tid\":0,\"args\":{"
        "\"name\":\"python\"}},\n"
        "{\"ph\":\"M\",\"ts\":0.000,\"name\":\"process_labels\",\"pid\":100,\"tid\":0,\"args\":"
        "{\"labels\":\"CPU\"}},\n"
        "{\"ph\":\"M\",\"ts\":0.000,\"name\":\"process_sort_index\",\"pid\":100,\"tid\":0,"
        "\"args\":{\"sort_index\":100}},\n"
        "{\"ph\":\"M\",\"ts\":0.000,\"name\":\"process_labels\",\"pid\":0,\"tid\":0,\"args\":{"
        "\"labels\":\"GPU 0\"}},\n"
        "{\"ph\":\"M\",\"ts\":0.000,\"name\":\"process_sort_index\",\"pid\":0,\"tid\":0,"
        "\"args\":{\"sort_index\":5000000}},\n"
        "{\"ph\":\"M\",\"ts\":0.000,\"name\":\"process_sort_index\",\"pid\":\"Spans\",\"tid\":"
        "0,\"args\":{\"sort_index\":536870912}},\n"
        "{\"ph\":\"M\",\"ts\":0.000,\"name\":\"thread_name\",\"pid\":100,\"tid\":100,\"args\":{"
        "\"name\":\"thread 100 (python)\"}},\n"
        "{\"ph\":\"M\",\"ts\":0.000,\"name\":\"thread_sort_index\",\"pid\":100,\"tid\":100,"
        "\"args\":{\"sort_index\":100}},\n"
        "{\"ph\":\"M\",\"ts\":0.000,\"name\":\"thread_sort_index\",\"pid\":0,\"tid\":7,"
        "\"args\":{\"sort_index\":7}},\n"
        "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#3\",\"pid\":100,"
        "\"tid\":100,\"ts\":7693164000010.000,\"dur\":90.500,\"args\":{\"External id\":1,\"Ev "
        "Idx\":0}},\n"
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":100,\"tid\":100,\"ts\":"
        "7693164000020.000,\"dur\":15.250,\"args\":{\"External id\":2,\"Ev Idx\":1,\"Input "
        "Dims\":[[8, 8], [8, 8]]}},\n"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":100,"
        "\"tid\":100,\"ts\":7693164000025.000,\"dur\":4.000,\"args\":{\"External "
        "id\":2,\"correlation\":7}},\n"
        "{\"ph\":\"s\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"pid\":100,\"tid\":100,\"ts\":"
        "7693164000025.000,\"id\":7},\n"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"sgemm\",\"pid\":0,\"tid\":7,\"ts\":"
        "7693164000033.125,\"dur\":5.500,\"args\":{\"External "
        "id\":2,\"correlation\":7,\"blocks per SM\":0.007576,\"device\":0,\"stream\":7}},\n"
        "{\"ph\":\"f\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"pid\":0,\"tid\":7,\"ts\":"
        "7693164000033.125,\"bp\":\"e\",\"id\":7},\n"
        "{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":\"PyTorch Profiler "
        "(0)\",\"pid\":\"Spans\",\"tid\":\"PyTorch "
        "Profiler\",\"ts\":7693164000000.000,\"dur\":120.000},\n"
        "{\"ph\":\"i\",\"cat\":\"\",\"name\":\"Record Window "
        "End\",\"s\":\"g\",\"pid\":\"Spans\",\"tid\":\"PyTorch "
        "Profiler\",\"ts\":7693164000119.000},\n"
        "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"s\":\"t\",\"pid\":"
        "100,\"tid\":100,\"ts\":7693164000022.000,\"args\":{\"Device Type\":1,\"Device "
        "Id\":0,\"Addr\":140000000,\"Bytes\":512,\"Total Allocated\":512,\"Total "
        "Reserved\":2097152}},\n"
        "{\"ph\":\"C\",\"cat\":\"\",\"name\":\"memory\",\"pid\":100,\"tid\":100,\"ts\":"
        "7693164000050.000,\"args\":{\"used\":1.5,\"free\":3}},\n"
        "{\"ph\":\"s\",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\",\"pid\":100,\"tid\":100,\"ts\":"
        "7693164000010.000,\"id\":1},\n"
        "{\"ph\":\"f\",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\",\"pid\":100,\"tid\":100,\"ts\":"
        "7693164000020.000,\"bp\":\"e\",\"id\":1}\n"
        "]}\n";
    trace *t = sample_trace();
    char *text = export_text(t, &CHROME);
    assert_string_equal(text, expected);
    assert_true(is_json(text));
    free(text);
    trace_release(t);
}

static void chrome_of_times_since_1970_gets_a_base(void **state) {
    trace *t = sample_trace();
    t->base_unix_ns = ABSENT_I64;
    t->start_ns = 1759104000000000000;
    char *text = export_text(t, &CHROME);
    assert_int_equal(count_of(text, "\"baseTimeNanoseconds\":1751410836000000000"), 1);
    free(text);
    t->start_ns = 0;
    text = export_text(t, &CHROME);
    assert_int_equal(count_of(text, "baseTimeNanoseconds"), 0);
    assert_int_equal(count_of(text, "\"ts\":33.125"), 2);
    free(text);
    trace_release(t);
}

static void chrome_of_an_empty_trace_is_valid(void **state) {
    maker m;
    maker_init(&m);
    trace *t = maker_done(&m);
    t->format = STR("chrome");
    char *text = export_text(t, &CHROME);
    assert_string_equal(text, "{\"displayTimeUnit\":\"ms\",\n\"traceEvents\": [\n]}\n");
    free(text);
    t->format = STR("kineto");
    text = export_text(t, &CHROME);
    assert_true(is_json(text));
    assert_string_equal(text, "{\"schemaVersion\":1,\n\"deviceProperties\":[],\n"
                              "\"displayTimeUnit\":\"ms\",\n\"traceEvents\": [\n]}\n");
    free(text);
    trace_release(t);
}

static void chrome_gives_a_recording_without_a_span_one(void **state) {
    trace *t = sample_trace();
    ((uint8_t *)(uintptr_t)t->slice.kind)[5] = KIND_OTHER;
    t->kind_count[KIND_SPAN] = 0;
    char *text = export_text(t, &CHROME);
    assert_int_equal(
        count_of(text, "\"cat\":\"Trace\",\"name\":\"PyTorch Profiler (0)\",\"pid\":\"Spans\","
                       "\"tid\":\"PyTorch Profiler\",\"ts\":7693164000000.000,\"dur\":120.000,"
                       "\"args\":{\"Op count\":1}"),
        1);
    assert_true(is_json(text));
    free(text);
    trace_release(t);
}

static void chrome_of_another_producer_uses_the_words_readers_know(void **state) {
    trace *t = sample_trace();
    t->format = STR("megengine");
    ((uint32_t *)(uintptr_t)t->slice.name)[1] = t->slice.name[2];
    ((uint16_t *)(uintptr_t)t->slice.category)[2] = 3;
    ((int64_t *)(uintptr_t)t->track.tid)[2] = ABSENT_I64;
    ((uint32_t *)(uintptr_t)t->meta.key)[2] = t->meta.key[1];
    char *text = export_text(t, &CHROME);
    assert_int_equal(count_of(text, "\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#3\""),
                     1);
    assert_int_equal(count_of(text, "\"cat\":\"cpu_op\",\"name\":\"aten::mm\""), 1);
    assert_int_equal(count_of(text, "\"name\":\"sgemm\",\"pid\":0,\"tid\":7,"), 1);
    assert_int_equal(count_of(text, "\"deviceProperties\":[{\"id\":0,\"name\":\"GPU X\"}]"), 1);
    assert_true(is_json(text));
    free(text);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chrome_of_the_sample_is_exactly_this),
        cmocka_unit_test(chrome_of_times_since_1970_gets_a_base),
        cmocka_unit_test(chrome_of_an_empty_trace_is_valid),
        cmocka_unit_test(chrome_gives_a_recording_without_a_span_one),
        cmocka_unit_test(chrome_of_another_producer_uses_the_words_readers_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
