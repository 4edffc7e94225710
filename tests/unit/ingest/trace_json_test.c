/* trace_json_test.c: whole files: the root around the list of events, pieces and threads, and every
 * kind of damage with what is saved of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ingest/pytorch/kineto.h"
#include "unit/ingest/read_helper.h"
#include "unit/io/io_helper.h"

/* ---- the root ---- */

static void root_keys_are_metadata_before_and_after_the_events(void **state) {
    trace *t = read_json(
        "{\"schemaVersion\": 1, \"a b\": [1,2], \"traceEvents\": [{\"ph\":\"X\",\"name\":\"x\","
        "\"ts\":1}], \"distributedInfo\": {\"rank\": 3}, \"traceName\": \"t.json\"}");
    assert_true(str_eq(trace_meta(t, STR("a b")), STR("[1, 2]")));
    assert_true(str_eq(trace_meta(t, STR("distributedInfo")), STR("{\"rank\": 3}")));
    assert_true(str_eq(trace_meta(t, STR("traceName")), STR("\"t.json\"")));
    assert_true(str_eq(t->format, STR("kineto")));
    assert_int_equal(t->slice.n, 2);
    assert_int_equal(t->quality.n, 2); /* the event has no category; nothing else is wrong */
    trace_release(t);
}

static void devices_and_groups_come_from_the_root(void **state) {
    trace *t = read_json(
        "{\"deviceProperties\": [{\"id\": 1, \"name\": \"GPU \\\"x\\\"\", \"totalGlobalMem\": "
        "85899345920, "
        "\"computeMajor\": 9, \"computeMinor\": 0, \"numSms\": 132, \"warpSize\": 32, "
        "\"maxThreadsPerMultiprocessor\": 2048}, {\"name\": \"other\"}], \"distributedInfo\": "
        "{\"pg_config\": [{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", "
        "\"backend_config\": \"cuda:nccl\", "
        "\"ranks\": [0, 1], \"pg_size\": 2}, {\"pg_id\": 7}]}, \"traceEvents\": []}");
    assert_int_equal(t->device.n, 3);
    assert_int_equal(t->device.id[1], 1);
    assert_string_equal(text_of_id(t, t->device.name[1]), "GPU \"x\"");
    assert_int_equal(t->device.memory[1], 85899345920);
    assert_int_equal(t->device.compute_major[1], 9);
    assert_int_equal(t->device.compute_minor[1], 0);
    assert_int_equal(t->device.sm_count[1], 132);
    assert_int_equal(t->device.threads_per_sm[1], 2048);
    assert_int_equal(t->device.id[2], 1); /* without an id its place in the list counts */
    assert_int_equal(t->device.memory[2], ABSENT_I64);
    assert_int_equal(t->device.sm_count[2], ABSENT_I32);
    assert_int_equal(t->group.n, 3);
    assert_string_equal(text_of_id(t, t->group.name[1]), "0");
    assert_string_equal(text_of_id(t, t->group.description[1]), "default_pg");
    assert_string_equal(text_of_id(t, t->group.backend[1]), "cuda:nccl");
    assert_string_equal(text_of_id(t, t->group.ranks[1]), "[0, 1]");
    assert_int_equal(t->group.size[1], 2);
    assert_string_equal(text_of_id(t, t->group.name[2]), "7");
    assert_int_equal(t->group.size[2], ABSENT_I64);
    trace_release(t);
}

static void a_group_without_a_name_is_a_group(void **state) {
    trace *t =
        read_json("{\"distributedInfo\": {\"pg_config\": [{}, 7, []]}, \"deviceProperties\": "
                  "[null, {}], \"traceEvents\": []}");
    assert_int_equal(t->group.n, 4);
    assert_int_equal(t->group.name[1], 0);
    assert_int_equal(t->device.n, 3);
    assert_int_equal(t->device.id[2], 1);
    trace_release(t);
}

static void properties_of_2020_have_other_names(void **state) {
    trace *t =
        read_json("{\"computeProperties\": [{\"name\": \"V100\", \"major\": 7, \"minor\": 0, "
                  "\"multiProcessorCount\": 80}], \"traceEvents\": []}");
    assert_int_equal(t->device.compute_major[1], 7);
    assert_int_equal(t->device.sm_count[1], 80);
    trace_release(t);
}

static void the_base_time_makes_times_absolute(void **state) {
    trace *t = read_json("{\"schemaVersion\":1,\"baseTimeNanoseconds\": 1759104000000000000, "
                         "\"traceEvents\": []}");
    assert_int_equal(t->base_unix_ns, 1759104000000000000);
    trace_release(t);
    t = read_json(
        "{\"schemaVersion\":1,\"traceEvents\": []}"); /* of before 2024: times are Unix times */
    assert_int_equal(t->base_unix_ns, 0);
    trace_release(t);
    t = read_json("{\"traceEvents\": []}");
    assert_int_equal(t->base_unix_ns, ABSENT_I64);
    trace_release(t);
}

static void a_byte_order_mark_and_blanks_may_come_first(void **state) {
    trace *t = read_json(
        "\xEF\xBB\xBF \n\t[{\"ph\":\"X\",\"name\":\"x\",\"cat\":\"c\",\"ts\":1}]\n\n");
    assert_int_equal(t->slice.n, 2);
    assert_int_equal(t->quality.n, 1);
    trace_release(t);
}

static void two_lists_of_events_are_both_read(void **state) {
    trace *t = read_json("{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1}],"
                         "\"traceEvents\":[{\"ph\":\"X\",\"name\":\"b\",\"ts\":1}]}");
    assert_int_equal(t->slice.n, 3);
    trace_release(t);
}

static void assert_refused(str text, int message) {
    error err = {0};
    for (int threads = 0; threads <= 2; threads += 2) {
        assert_null(read_text(text, (read_how){.threads = threads}, &err));
        assert_int_equal(err.status, ERR_FORMAT);
        assert_int_equal(err.message, message);
    }
}

static void what_is_not_a_trace_is_refused(void **state) {
    assert_refused(STR(""), MSG_EMPTY_FILE);
    assert_refused(STR("  \n "), MSG_NO_TRACE_EVENTS);
    assert_refused(STR("hello"), MSG_NOT_JSON);
    assert_refused(STR("\x89PNG"), MSG_NOT_JSON);
    assert_refused(STR("{\"values\": [1, 2]}"), MSG_NO_TRACE_EVENTS);
    assert_refused(STR("{\"traceEvents\": null}"), MSG_NO_TRACE_EVENTS);
    assert_refused(STR("{"), MSG_NO_TRACE_EVENTS);
    assert_refused(STR("42"), MSG_NOT_JSON);
}

/* ---- damage ---- */

#define EVENT(name, ts)                                                                      \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":" #ts \
    ",\"dur\":1}"

typedef struct {
    const char *text;
    uint32_t n_slices; /* without the null row */
    uint64_t read, dropped;
    struct {
        cause why;
        int64_t count;
    } losses[3];
} damaged_file;

static void check_damage(const damaged_file *f, read_how how) {
    error err = {0};
    trace *t = read_text(str_of(f->text), how, &err);
    if (!t) fail_msg("refused (%d): %s", err.message, f->text);
    if (t->slice.n != f->n_slices + 1 || t->events_read != f->read ||
        t->events_dropped != f->dropped)
        fail_msg("%u slices, %llu read, %llu dropped with %d threads, pieces of %zu: %s",
                 t->slice.n - 1, (unsigned long long)t->events_read,
                 (unsigned long long)t->events_dropped, how.threads, how.piece_bytes, f->text);
    for (cause c = 1; c < N_CAUSES; c++) {
        int64_t expected = 0;
        for (size_t i = 0; i < 3; i++)
            if (f->losses[i].why == c) expected = f->losses[i].count;
        if (trace_quality(t, c) != expected)
            fail_msg(
                "cause %d counted %lld times, not %lld, with %d threads, pieces of %zu: %s", c,
                (long long)trace_quality(t, c), (long long)expected, how.threads,
                how.piece_bytes, f->text);
    }
    trace_release(t);
}

/* Every malformation, with one thread and two, in one piece and with seams everywhere. */
static void check_damages(const damaged_file *files, size_t n) {
    static const size_t pieces[] = {0, 1, 2, 3, 7, 16, 50, 100, 150};
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++)
            for (int threads = 0; threads <= 2; threads += 2)
                check_damage(&files[i],
                             (read_how){.threads = threads, .piece_bytes = pieces[k]});
}
#define CHECK_DAMAGES(...)                                     \
    do {                                                       \
        static const damaged_file files_[] = {__VA_ARGS__};    \
        check_damages(files_, sizeof files_ / sizeof *files_); \
    } while (0)

static void of_a_truncated_file_every_complete_event_is_saved(void **state) {
    CHECK_DAMAGES(
        {"[" EVENT("a", 1) "," EVENT("b", 2) ",{\"ph\":\"X\",\"na",
         2,
         3,
         1,
         {{CAUSE_TRUNCATED, 1}}},
        {"[" EVENT("a", 1) "," EVENT("b", 2) ",", 2, 2, 0, {{CAUSE_TRUNCATED, 1}}},
        {"[" EVENT("a", 1) "," EVENT("b", 2), 2, 2, 0, {{CAUSE_TRUNCATED, 1}}},
        {"{\"traceEvents\": [" EVENT("a", 1) "]", 1, 1, 0, {{CAUSE_TRUNCATED, 1}}},
        {"{\"traceEvents\": [" EVENT("a", 1) "], \"traceName\": \"x",
         1,
         1,
         0,
         {{CAUSE_TRUNCATED, 1}}},
        {"{\"traceEvents\": [", 0, 0, 0, {{CAUSE_TRUNCATED, 1}}},
        {"[" EVENT("a", 1) ",{\"ph\":\"X\",\"name\":\"b\"c", 1, 2, 1, {{CAUSE_TRUNCATED, 1}}},
        {"[" EVENT("a", 1) ",{\"ph\":\"X\",\"args\":{\"l\":[{\"x\":1},{\"x\":2},{\"y",
         1,
         2,
         1,
         {{CAUSE_TRUNCATED, 1}}}, );
}

static void cut_at_any_byte_nothing_complete_is_lost(void **state) {
    static const char text[] = "{\"a\": 1, \"traceEvents\": [\n" EVENT("a", 1) ",\n" EVENT(
        "b\\n", 2) ",\n" EVENT("c", 3) "\n], \"z\": {\"y\": [1, \"]\"]}}";
    const char *ends[] = {strstr(text, "},"), strstr(strstr(text, "b\\n"), "}"),
                          strstr(strstr(text, "\"c\""), "}")};
    const char *list = strchr(strstr(text, "traceEvents"), '[');
    for (size_t n = (size_t)(list - text) + 1; n < sizeof text; n++) {
        uint32_t whole = 0;
        for (size_t i = 0; i < 3; i++) whole += (size_t)(ends[i] - text) < n;
        for (size_t size = 10; size < 200; size += 37) {
            error err;
            trace *t =
                read_text(str_n(text, n), (read_how){.threads = 2, .piece_bytes = size}, &err);
            assert_non_null(t);
            if (t->slice.n != whole + 1) fail_msg("cut at %zu: %u events", n, t->slice.n - 1);
            assert_int_equal(trace_quality(t, CAUSE_TRUNCATED), n < sizeof text - 1);
            assert_int_equal(trace_quality(t, CAUSE_BAD_SYNTAX), 0);
            trace_release(t);
        }
    }
}

static void malformed_values_are_read_and_counted(void **state) {
    CHECK_DAMAGES(
        {"[{\"ph\":\"X\",\"cat\":\"c\",\"name\":\"a\"b\"c\",\"ts\":1}," EVENT("d", 2) "]",
         2,
         2,
         0,
         {{CAUSE_UNESCAPED_QUOTE, 1}}},
        {"[{\"ph\":\"X\",\"cat\":\"c\",\"name\":\"C:\\wi\\x\",\"ts\":1}," EVENT("d", 2) "]",
         2,
         2,
         0,
         {{CAUSE_BAD_ESCAPE, 1}}},
        {"[{\"ph\":\"X\",\"cat\":\"c\",\"name\":\"a\nb\",\"ts\":1}," EVENT("d", 2) "]",
         2,
         2,
         0,
         {{CAUSE_CONTROL_CHARACTER, 1}}},
        {"[{\"ph\":\"X\",\"cat\":\"c\",\"name\":\"a\",\"ts\":1,\"args\":{\"x\":N/"
         "A,\"y\":NaN,\"z\":-Infinity}}," EVENT("d", 2) "]",
         2,
         2,
         0,
         {{CAUSE_BAD_LITERAL, 3}}},
        {"[" EVENT("a", 1) ",{\"ph\":\"X\",\"cat\":\"c\",\"name\":\"a\",\"ts\":1,},]",
         2,
         2,
         0,
         {{CAUSE_TRAILING_COMMA, 2}}},
        {"[{\"ph\":\"X\",\"cat\":\"c\",\"name\":\"a\",\"ts\":1,\"args\":{\"x\":1,\"x\":2}}"
         "," EVENT("d", 2) "]",
         2,
         2,
         0,
         {{CAUSE_DUPLICATE_KEY, 1}}},
        {"[{\"ph\":\"X\",\"cat\":\"c\",\"name\":\"a\xE9\",\"ts\":1}," EVENT("d", 2) "]",
         2,
         2,
         0,
         {{CAUSE_BAD_UTF8, 1}}},
        {"[{\"ph\":\"X\",\"cat\":\"c\xE9\",\"name\":\"a\",\"ts\":1}," EVENT("d", 2) "]",
         2,
         2,
         0,
         {{CAUSE_BAD_UTF8, 1}}},
        {"[{\"ph\":\"X\",\"cat\":\"c\",\"ts\":1}," EVENT("d", 2) "]",
         1,
         2,
         1,
         {{CAUSE_MISSING_NAME, 1}}},
        {"[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1}," EVENT("d", 2) "]",
         2,
         2,
         0,
         {{CAUSE_MISSING_CATEGORY, 1}}},
        {"{\"x\": N/A, \"y\": \"a\tb\", \"traceEvents\": [" EVENT("d", 2) "],}",
         1,
         1,
         0,
         {{CAUSE_BAD_LITERAL, 1}, {CAUSE_CONTROL_CHARACTER, 1}}}, );
}

static void damage_costs_only_the_event_it_is_in(void **state) {
    CHECK_DAMAGES(
        {"[" EVENT("a", 1) ",{\"ph\" \"X\"}] ", 1, 2, 1, {{CAUSE_BAD_SYNTAX, 1}}},
        {"{\"traceEvents\":[" EVENT("a", 1) ",{\"ph\" \"X\"}]}",
         1,
         2,
         1,
         {{CAUSE_BAD_SYNTAX, 1}}},
        {"[" EVENT("a", 1) ",{\"ph\":\"X\",\"ts\":,\"dur\":1}," EVENT("b", 2) "]",
         2,
         3,
         1,
         {{CAUSE_BAD_SYNTAX, 1}}},
        {"[" EVENT("a", 1) ",{\"ph\" \"X\"}," EVENT("b", 2) "," EVENT("c", 3) "]",
         3,
         4,
         1,
         {{CAUSE_BAD_SYNTAX, 1}}},
        {"[" EVENT("a", 1) ",{\"ph\":\"X\",\"name\":\"x,\"ts\":1}," EVENT("b", 2) "]",
         2,
         3,
         1,
         {{CAUSE_BAD_SYNTAX, 1}}},
        {"[" EVENT("a", 1) ",7,null," EVENT("b", 2) "]", 2, 3, 1, {{CAUSE_BAD_SYNTAX, 1}}},
        {"{\"traceEvents\":[" EVENT("a", 1) ",{\"ph\" \"X\"}], \"z\": 1}",
         1,
         2,
         1,
         {{CAUSE_BAD_SYNTAX, 1}}},
        {"[{\"ph\":\"X\",\"args\":{\"d\":[[[[[1}}," EVENT(
             "b", 2) ",{\"ph\":\"X\",\"name\":\"c\",\"cat\":\"c\",\"ts\":2}]",
         2,
         3,
         1,
         {{CAUSE_BAD_SYNTAX, 1}}}, );
}

static void a_list_or_text_among_the_events_costs_no_event(void **state) {
    CHECK_DAMAGES(
        {"[" EVENT("a", 1) ",[]," EVENT("b", 2) "]", 2, 3, 1, {{CAUSE_BAD_SYNTAX, 1}}},
        {"[[]," EVENT("a", 1) "," EVENT("b", 2) "]", 2, 3, 1, {{CAUSE_BAD_SYNTAX, 1}}},
        {"{\"traceEvents\":[" EVENT("a", 1) ",[1,[\"]\",{\"x\":[2]}]]," EVENT("b",
                                                                              2) "],\"z\":1}",
         2,
         3,
         1,
         {{CAUSE_BAD_SYNTAX, 1}}},
        {"[" EVENT("a", 1) ",\"a ] { text\"," EVENT("b", 2) "]",
         2,
         3,
         1,
         {{CAUSE_BAD_SYNTAX, 1}}},
        {"[" EVENT("a", 1) ",[],[" EVENT("x", 5) "],\"]\"," EVENT("b", 2) "]",
         2,
         5,
         3,
         {{CAUSE_BAD_SYNTAX, 3}}}, );
}

static void odd_commas_count_also_in_front_of_damage(void **state) {
    CHECK_DAMAGES({"[" EVENT("a", 1) ",,{\"ph\" \"X\"},," EVENT("b", 2) ",,7]",
                   2,
                   4,
                   2,
                   {{CAUSE_BAD_SYNTAX, 2}, {CAUSE_TRAILING_COMMA, 2}}}, );
}

static void damage_of_the_root_does_not_cost_the_events(void **state) {
    CHECK_DAMAGES(
        {"{x \"traceEvents\" 5, \"traceEvents\": [" EVENT("a", 1) "]}",
         1,
         1,
         0,
         {{CAUSE_BAD_SYNTAX, 1}}},
        {"{\"a\": 1 \"b\", \"c\": \"x\"y\", \"traceEvents\": [" EVENT("a", 1) "]}",
         1,
         1,
         0,
         {{CAUSE_BAD_SYNTAX, 1}}},
        {"{\"a\": , \"traceEvents\": [" EVENT("a", 1) "]}", 1, 1, 0, {{CAUSE_BAD_SYNTAX, 1}}},
        {"{\"a\": [1, \"traceEvents\": [" EVENT("a", 1) "]}", 1, 1, 0, {{CAUSE_BAD_SYNTAX, 1}}},
        {"{\"traceEvents\": [" EVENT("a", 1) "], \"traceName\": \"a\"b\"}",
         1,
         1,
         0,
         {{CAUSE_BAD_SYNTAX, 1}}}, );
}

static void what_follows_the_end_is_counted_once(void **state) {
    CHECK_DAMAGES(
        {"[" EVENT("a", 1) "] and more and more and more and more and more",
         1,
         1,
         0,
         {{CAUSE_TRAILING_GARBAGE, 1}}},
        {"{\"traceEvents\": [" EVENT("a", 1) "]}{\"traceEvents\": [" EVENT("b", 1) "]}",
         1,
         1,
         0,
         {{CAUSE_TRAILING_GARBAGE, 1}}}, );
}

static void zeros_after_the_end_are_padding(void **state) {
    static const char text[] = "[" EVENT("a", 1) "]\n\0\0\0\0\0\0\0\0\0\0",
                      more[] = "[" EVENT("a", 1) "]\0\0x";
    for (size_t size = 1; size < 80; size += 3) {
        error err;
        trace *t = read_text(str_n(text, sizeof text),
                             (read_how){.threads = 2, .piece_bytes = size}, &err);
        assert_int_equal(t->quality.n, 1);
        trace_release(t);
        t = read_text(str_n(more, sizeof more), (read_how){.threads = 2, .piece_bytes = size},
                      &err);
        assert_int_equal(trace_quality(t, CAUSE_TRAILING_GARBAGE), 1);
        trace_release(t);
    }
}

static void a_200_level_value_and_a_400_digit_number_are_kept(void **state) {
    buf text = {0};
    buf_add_cstr(&text,
                 "[{\"ph\":\"X\",\"cat\":\"c\",\"name\":\"a\",\"ts\":1,\"args\":{\"deep\":");
    buf_add_repeat(&text, '[', 200);
    buf_add_repeat(&text, ']', 200);
    buf_add_cstr(&text, ",\"long\":");
    buf_add_repeat(&text, '9', 400);
    buf_add_cstr(&text, "}}]");
    buf_add_byte(&text, 0);
    damaged_file f = {text.p, 1, 1, 0, {{CAUSE_NUMBER_RANGE, 1}}};
    check_damages(&f, 1);
    trace *t = read_json(text.p);
    str args = str_of(args_text(t, t->slice.args[1]));
    assert_int_equal(args.n, strlen("{\"deep\":,\"long\":}") + 800);
    trace_release(t);
    buf_fini(&text);
}

static void the_first_offset_of_a_loss_is_where_the_event_starts(void **state) {
    static const char text[] = "[" EVENT("a", 1) "," EVENT(
        "b", 2) ",  {\"ph\":\"X\",\"ts\":3},{\"ph\":\"X\",\"ts\":4}]";
    for (size_t size = 0; size < 150; size += 13)
        for (int threads = 0; threads <= 2; threads += 2) {
            error err;
            trace *t =
                read_text(STR(text), (read_how){.threads = threads, .piece_bytes = size}, &err);
            assert_int_equal(t->quality.n, 2);
            assert_int_equal(t->quality.cause[1], CAUSE_MISSING_NAME);
            assert_int_equal(t->quality.count[1], 2);
            assert_int_equal(t->quality.offset[1],
                             strstr(text, "{\"ph\":\"X\",\"ts\":3") - text);
            trace_release(t);
        }
}

/* ---- pieces and threads ---- */

/* A trace with something of everything, the events in a random order. */
static buf make_events(uint32_t seed, int n) {
    buf b = {0};
    for (int i = 0; i < n; i++) {
        uint32_t r = next_random(&seed), at = r % 5000, tid = r / 7 % 4;
        buf_add_cstr(&b, i ? ",\n" : "");
        switch (next_random(&seed) % 9) {
        case 0:
            buf_printf(&b,
                       "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\","
                       "\"pid\":1,\"tid\":%u,\"ts\":%u.%03u,\"dur\":3,\"args\":{"
                       "\"correlation\":%d,\"External id\":%d}}",
                       tid, at, r % 1000, i, i);
            break;
        case 1:
            buf_printf(&b,
                       "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k%u\",\"pid\":0,\"tid\":7,"
                       "\"ts\":%u,\"dur\":%u,\"args\":{\"correlation\":%u,\"stream\":7,"
                       "\"grid\":[%u,1,1],\"n\":%d}}",
                       r % 3, at, r % 9, next_random(&seed) % (uint32_t)n, r % 5, i);
            break;
        case 2:
            buf_printf(&b,
                       "{\"ph\":\"i\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":1,\"tid\":%u,"
                       "\"ts\":%u,\"args\":{\"Device Type\":0,\"Device "
                       "Id\":-1,\"Addr\":%u,\"Bytes\":%d,\"Ev Idx\":%d}}",
                       tid, at, r % 6 + 1, r % 2 ? 64 : -64, i);
            break;
        case 3:
            buf_printf(&b,
                       "{\"ph\":\"C\",\"name\":\"c\",\"pid\":1,\"ts\":%u,\"args\":{\"v\":%d}}",
                       at, i);
            break;
        case 4:
            buf_printf(&b,
                       "{\"ph\":\"%c\",\"cat\":\"fwdbwd\",\"name\":\"f\",\"id\":%u,\"pid\":1,"
                       "\"tid\":%u,\"ts\":%u,\"bp\":\"e\"}",
                       r % 2 ? 's' : 'f', r % 5, tid, at);
            break;
        case 5:
            buf_printf(
                &b,
                "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"a.py(%u): "
                "f\",\"pid\":1,\"tid\":%u,\"ts\":%u,\"dur\":%u,\"args\":{\"Python id\":%d%s}}",
                r % 4, tid, at, r % 300, i, r % 3 ? "" : ",\"Python module id\":2");
            break;
        case 6:
            buf_printf(&b,
                       "{\"ph\":\"i\",\"name\":\"i%u\",\"s\":\"p\",\"pid\":1,\"tid\":\"t "
                       "%u\",\"ts\":%u}",
                       r % 3, tid, at);
            break;
        case 7:
            buf_printf(&b,
                       "{\"ph\":\"X\",\"name\":\"ProfilerStep#%d\",\"cat\":\"user_annotation\","
                       "\"pid\":1,\"tid\":1,\"ts\":%u,\"dur\":100}",
                       i, at);
            break;
        default:
            buf_printf(
                &b,
                "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::op%u\",\"pid\":1,\"tid\":%u,"
                "\"ts\":%u,\"dur\":%u,\"args\":{\"External id\":%d,\"Sequence "
                "number\":%u,\"Input Dims\":[[%u]],\"Call stack\":\"a.py(1): f;b.py(%u): g\"}}",
                r % 5, tid, at, r % 200, i, r % 50, r % 4, r % 3);
        }
    }
    return b;
}

static buf wrap(str events) {
    buf b = {0};
    buf_printf(&b,
               "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0}, {\"id\": "
               "1}],\n\"traceEvents\": [\n%.*s\n], \"traceName\": \"x\"}",
               STR_ARG(events));
    return b;
}

static void threads_and_pieces_do_not_change_the_trace(void **state) {
    buf events = make_events(1, 500), text = wrap(buf_str(&events));
    error err;
    trace *t = read_text(buf_str(&text), (read_how){0}, &err);
    assert_non_null(t);
    static const size_t pieces[] = {300, 501, 4096, 10000};
    for (int threads = 1; threads <= 5; threads++)
        for (size_t k = 0; k < 4; k++) {
            trace *u = read_text(
                buf_str(&text), (read_how){.threads = threads, .piece_bytes = pieces[k]}, &err);
            assert_non_null(u);
            assert_same_trace(t, u, WITH_OFFSETS);
            trace_release(u);
        }
    trace_release(t);
    buf_fini(&events);
    buf_fini(&text);
}

/* Lines of the text in another order. */
static buf shuffle(str events, uint32_t seed) {
    enum { MOST = 1000 };
    str lines[MOST];
    size_t n = 0;
    for (size_t at = 0; at < events.n && n < MOST;) {
        size_t end = str_find(events, STR(",\n"), at);
        if (end == SIZE_MAX) end = events.n;
        lines[n++] = str_n(events.p + at, end - at);
        at = end + 2;
    }
    buf b = {0};
    for (size_t i = n; i > 0; i--) {
        size_t k = next_random(&seed) % i;
        if (i < n) buf_add_cstr(&b, ",\n");
        buf_add_str(&b, lines[k]);
        lines[k] = lines[i - 1];
    }
    return b;
}

/* The same from so few times, names and numbers that most events meet another like them. */
static buf make_ties(uint32_t seed, int n) {
    static const char *const forms[] = {
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"c\",\"pid\":1,\"tid\":1,\"ts\":%u,"
        "\"dur\":1,\"args\":{\"External id\":1,\"correlation\":%u}}",
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":%u,\"dur\":"
        "1,\"args\":{\"External id\":1,\"correlation\":%u}}",
        "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"m\",\"pid\":1,\"tid\":1,\"ts\":%"
        "u,\"dur\":2,\"args\":{\"Python id\":1,\"Python module id\":%u}}",
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"o\",\"pid\":1,\"tid\":1,\"ts\":%u,\"dur\":"
        "2,\"args\":{\"External id\":1,\"Sequence number\":%u}}",
        "{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":%u,\"args\":{\"Device "
        "Type\":1,\"Device Id\":%u,\"Addr\":1,\"Bytes\":8}}",
        "{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":%u,\"args\":{\"Device "
        "Type\":%u,\"Addr\":1,\"Bytes\":8}}",
        "{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":%u,\"args\":{\"Addr\":%"
        "u,\"Bytes\":-8}}",
        "{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":%u,\"args\":{\"Addr\":"
        "1,\"Bytes\":8,\"Total Allocated\":%u}}",
        "{\"ph\":\"i\",\"name\":\"p\",\"pid\":1,\"ts\":%u,\"tid\":%u}",
        "{\"ph\":\"C\",\"name\":\"c\",\"pid\":1,\"ts\":%u,\"args\":{\"v\":%u}}",
        "{\"ph\":\"s\",\"cat\":\"x\",\"name\":\"f\",\"id\":1,\"pid\":1,\"ts\":%u,\"tid\":%u}",
        "{\"ph\":\"f\",\"cat\":\"y\",\"name\":\"f\",\"id\":1,\"pid\":1,\"ts\":%u,\"tid\":%u}",
        "{\"ph\":\"f\",\"cat\":\"x\",\"name\":\"f\",\"id\":1,\"pid\":1,\"ts\":%u,\"tid\":%u}",
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"ProfilerStep#1\",\"pid\":1,\"ts\":%u,"
        "\"dur\":1,\"tid\":%u}",
    };
    enum { N_FORMS = sizeof forms / sizeof *forms };
    buf b = {0};
    for (int i = 0; i < n; i++) {
        if (i) buf_add_cstr(&b, ",\n");
        const char *form = forms[next_random(&seed) % N_FORMS];
        char event[256];
        snprintf(event, sizeof event, form, next_random(&seed) % 3, next_random(&seed) % 4);
        buf_add_cstr(&b, event);
    }
    return b;
}

static void the_order_of_events_does_not_change_the_trace(void **state) {
    for (uint32_t seed = 1; seed <= 8; seed++) {
        buf events = seed % 2 ? make_events(seed, 300) : make_ties(seed, 200);
        buf text = wrap(buf_str(&events));
        error err;
        trace *t = read_text(buf_str(&text), (read_how){0}, &err);
        for (uint32_t again = 1; again <= 3; again++) {
            buf other = shuffle(buf_str(&events), again), mixed = wrap(buf_str(&other));
            trace *u = read_text(buf_str(&mixed),
                                 (read_how){.threads = (int)again, .piece_bytes = 900}, &err);
            assert_same_trace(t, u, WITHOUT_OFFSETS);
            trace_release(u);
            buf_fini(&other);
            buf_fini(&mixed);
        }
        trace_release(t);
        buf_fini(&events);
        buf_fini(&text);
    }
}

static void an_event_larger_than_a_piece_is_read(void **state) {
    buf text = {0};
    buf_add_cstr(&text, "[{\"ph\":\"X\",\"cat\":\"c\",\"name\":\"");
    buf_add_repeat(&text, 'x', 20000);
    buf_add_cstr(&text, "\",\"ts\":1}," EVENT("b", 2) "]");
    for (int threads = 0; threads <= 2; threads += 2) {
        error err;
        trace *t =
            read_text(buf_str(&text), (read_how){.threads = threads, .piece_bytes = 100}, &err);
        assert_int_equal(t->slice.n, 3);
        assert_int_equal(trace_slice_name(t, 1).n, 20000);
        assert_int_equal(t->input_bytes, text.n);
        trace_release(t);
    }
    buf_fini(&text);
}

/* ---- limits ---- */

static bool stop_at_once(void *context, uint64_t done, uint64_t total) {
    *(uint64_t *)context = total;
    return true;
}

static status never_reopened(void *context, source **out, error *err) {
    fail_msg("opened again");
    return ERR_IO;
}

static status ingest(str text, ingest_options o, error *err) {
    source *s;
    builder *b = builder_new();
    assert_int_equal(source_open_memory(text, &s, NULL), OK);
    status st = ingest_trace_json(s, &o, b, err);
    source_close(s);
    builder_free(b);
    return st;
}

static void progress_can_stop_the_reading(void **state) {
    pool *two = pool_new(2);
    str text = STR("[" EVENT("a", 1) "]");
    for (int i = 0; i < 2; i++) {
        uint64_t total = 0;
        error err;
        ingest_options o = {.pool = i ? two : NULL,
                            .reopen = never_reopened,
                            .progress = stop_at_once,
                            .progress_context = &total};
        assert_int_equal(ingest(text, o, &err), ERR_CANCELLED);
        assert_int_equal(err.message, MSG_CANCELLED);
        assert_int_equal(total, text.n);
    }
    pool_free(two);
}

static void rows_beyond_the_memory_limit_are_refused(void **state) {
    buf events = make_events(3, 500), text = wrap(buf_str(&events));
    pool *two = pool_new(2);
    for (int i = 0; i < 2; i++) {
        error err;
        ingest_options o = {.pool = i ? two : NULL,
                            .reopen = never_reopened,
                            .memory_limit_bytes = 10000,
                            .piece_bytes = 5000};
        assert_int_equal(ingest(buf_str(&text), o, &err), ERR_LIMIT);
        assert_int_equal(err.message, MSG_MEMORY_LIMIT);
    }
    pool_free(two);
    buf_fini(&events);
    buf_fini(&text);
}

static void a_cut_gzip_stream_saves_what_came_before(void **state) {
    buf events = make_events(4, 400), text = wrap(buf_str(&events));
    buf packed = gzip_of(buf_str(&text), 6);
    error err;
    trace *whole =
        read_text(buf_str(&packed), (read_how){.threads = 2, .piece_bytes = 3000}, &err);
    assert_int_equal(whole->events_read, 400);
    assert_int_equal(trace_quality(whole, CAUSE_STREAM_DAMAGED), 0);
    for (int threads = 0; threads <= 2; threads += 2) {
        trace *t = read_text(str_n(packed.p, packed.n / 2),
                             (read_how){.threads = threads, .piece_bytes = 3000}, &err);
        assert_int_equal(trace_quality(t, CAUSE_STREAM_DAMAGED), 1);
        assert_int_equal(trace_quality(t, CAUSE_TRUNCATED), 1);
        assert_true(t->events_read > 50 && t->events_read < 400);
        assert_int_equal(t->events_dropped, 1);
        trace_release(t);
    }
    trace_release(whole);
    buf_fini(&packed);
    buf_fini(&events);
    buf_fini(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(root_keys_are_metadata_before_and_after_the_events),
        cmocka_unit_test(devices_and_groups_come_from_the_root),
        cmocka_unit_test(a_group_without_a_name_is_a_group),
        cmocka_unit_test(properties_of_2020_have_other_names),
        cmocka_unit_test(the_base_time_makes_times_absolute),
        cmocka_unit_test(a_byte_order_mark_and_blanks_may_come_first),
        cmocka_unit_test(two_lists_of_events_are_both_read),
        cmocka_unit_test(what_is_not_a_trace_is_refused),
        cmocka_unit_test(of_a_truncated_file_every_complete_event_is_saved),
        cmocka_unit_test(cut_at_any_byte_nothing_complete_is_lost),
        cmocka_unit_test(malformed_values_are_read_and_counted),
        cmocka_unit_test(damage_costs_only_the_event_it_is_in),
        cmocka_unit_test(a_list_or_text_among_the_events_costs_no_event),
        cmocka_unit_test(odd_commas_count_also_in_front_of_damage),
        cmocka_unit_test(damage_of_the_root_does_not_cost_the_events),
        cmocka_unit_test(what_follows_the_end_is_counted_once),
        cmocka_unit_test(zeros_after_the_end_are_padding),
        cmocka_unit_test(a_200_level_value_and_a_400_digit_number_are_kept),
        cmocka_unit_test(the_first_offset_of_a_loss_is_where_the_event_starts),
        cmocka_unit_test(threads_and_pieces_do_not_change_the_trace),
        cmocka_unit_test(the_order_of_events_does_not_change_the_trace),
        cmocka_unit_test(an_event_larger_than_a_piece_is_read),
        cmocka_unit_test(progress_can_stop_the_reading),
        cmocka_unit_test(rows_beyond_the_memory_limit_are_refused),
        cmocka_unit_test(a_cut_gzip_stream_saves_what_came_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
