/* event_parser_test.c: the tokenizer reads the same events whether it has seen their event_parser before or not
 * and wherever the bytes end; damage is counted once and spoils nothing but the event it is in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/fault.h"
#include "ingest/trace_events/event_parser.h"
#include "io/source.h"
#include "unit/ingest/read_helper.h"

/* A tokenizer and what it said, a line for each event. */
typedef struct {
    builder *b;
    part *p;
    event_parser *l;
    buf said;
    status answer;       /* of the sink */
    uint64_t args_cache; /* the last event that had one */
} reading;

static uint8_t number_field(str key) {
    return str_eq(key, STR("correlation")) ? 1 : str_eq(key, STR("stream")) ? 2 : 0;
}

static void say_id(reading *r, const char *name, ident id) {
    buf_printf(&r->said, " %s=", name);
    if (id.text)
        buf_add_json(&r->said, intern_get(builder_strings(r->b), (uint32_t)id.v));
    else
        buf_add_i64(&r->said, id.v);
}

static void say_value(reading *r, uint32_t key, const raw_value *v) {
    static const char *const tags[] = {"", "str ", "raw ", "dec "};
    const intern *strings = builder_strings(r->b);
    buf_printf(&r->said, " %.*s:%s", STR_ARG(intern_get(strings, key)), tags[v->tag]);
    if (v->tag == VALUE_STRING || v->tag == VALUE_RAW)
        buf_add_str(&r->said, intern_get(strings, (uint32_t)v->v));
    else
        buf_add_i64(&r->said, v->v);
    if (v->tag == VALUE_DECIMAL) buf_printf(&r->said, "/%d", v->digits);
}

static status say_event(void *context, event *e) {
    reading *r = context;
    const intern *strings = builder_strings(r->b);
    if (r->answer != OK) return r->answer;
    buf_printf(&r->said, "%llu", (unsigned long long)e->offset);
    if (e->ph) buf_printf(&r->said, " ph=%c", e->ph);
    if (e->scope) buf_printf(&r->said, " s=%c", e->scope);
    if (e->enclosing) buf_add_cstr(&r->said, " bp=e");
    if (e->category)
        buf_printf(&r->said, " cat=%.*s", STR_ARG(intern_get(strings, e->category)));
    if (e->has & EVENT_NAME)
        buf_printf(&r->said, " name=%.*s", STR_ARG(intern_get(strings, e->name)));
    if (e->has & EVENT_TS) buf_printf(&r->said, " ts=%lld", (long long)e->ts_ns);
    if (e->has & EVENT_DUR) buf_printf(&r->said, " dur=%lld", (long long)e->dur_ns);
    if (e->has & EVENT_BAD_TIME) buf_add_cstr(&r->said, " bad_time");
    if (e->has & EVENT_PID) say_id(r, "pid", e->pid);
    if (e->has & EVENT_TID) say_id(r, "tid", e->tid);
    if (e->has & EVENT_ID) say_id(r, "id", e->id);
    for (size_t i = 0; i < e->n_values; i++) say_value(r, e->keys[i], &e->values[i]);
    for (unsigned f = 1; f < 3; f++)
        if (e->fields >> f & 1) buf_printf(&r->said, " [%u]=%u", f, e->at[f]);
    if (e->duplicate) buf_add_cstr(&r->said, " duplicate");
    buf_add_byte(&r->said, '\n');
    return OK;
}

static void start(reading *r) {
    *r = (reading){.b = builder_new()};
    r->p = builder_part(r->b);
    r->l = event_parser_new(r->b, r->p, (parser_sink){number_field, say_event, r, NULL});
    assert_non_null(r->l);
}

static void end(reading *r) {
    event_parser_free(r->l);
    builder_free(r->b);
    buf_fini(&r->said);
}

/* A text with the padding the tokenizer may look at. */
static char *padded(const char *text) {
    char *p = calloc(1, strlen(text) + SOURCE_PAD);
    memcpy(p, text, strlen(text));
    return p;
}

static parse_result parse(reading *r, const char *text, size_t *used) {
    char *p = padded(text);
    const char *stop;
    parse_result result = event_parser_parse(r->l, p, p + strlen(text), 0, &stop);
    if (used) *used = (size_t)(stop - p);
    free(p);
    return result;
}

static void assert_said(reading *r, const char *expected) {
    buf_add_byte(&r->said, 0);
    assert_string_equal(r->said.p, expected);
    buf_clear(&r->said);
}

/* The text is one or more events; it is read twice, the second time from memory. */
static void assert_events(const char *text, const char *expected) {
    reading r;
    start(&r);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(parse(&r, text, NULL), PARSE_CLEAN);
        assert_said(&r, expected);
    }
    end(&r);
}

static void an_event_comes_with_all_its_members(void **state) {
    assert_events(
        "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 12, \"tid\": "
        "\"34\",\"ts\": 5.5, \"dur\": 7, \"args\": {\"correlation\": 9, \"x\": 0.50, \"y\": "
        "[1,2], \"z\": true, \"s\": \"t\", \"stream\": -1}}",
        "0 ph=X cat=cpu_op name=aten::mm ts=5500 dur=7000 pid=12 tid=34 correlation:9 "
        "x:dec 50/2 y:raw [1, 2] z:raw true s:str t stream:-1 [1]=0 [2]=5\n");
    assert_events("{\"ph\":\"i\",\"s\":\"g\",\"pid\":\"Spans\",\"id\":\"0x1f\"},"
                  "{\"bp\":\"e\",\"id\":7,\"other\":\"kept\"},{}",
                  "0 ph=i s=g pid=\"Spans\" id=\"0x1f\"\n"
                  "45 bp=e id=7 other:str kept\n78\n");
}

static void arguments_may_be_empty_and_anywhere(void **state) {
    assert_events(
        "{\"args\":{},\"ts\":1},{\"ts\":2,\"args\":{ }},{\"ts\":3,\"args\":{},\"dur\":4},"
        "{\"args\":{\"x\":5},\"ts\":6}",
        "0 ts=1000\n19 ts=2000\n39 ts=3000 dur=4000\n66 ts=6000 x:5\n");
}

static void times_are_exact_to_the_nanosecond(void **state) {
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"0", " ts=0"},
        {"1", " ts=1000"},
        {"1.5", " ts=1500"},
        {"-2.25", " ts=-2250"},
        {"1720000000000000.123", " ts=1720000000000000123"},
        {"5538413437906.784", " ts=5538413437906784"},
        {"1.2344", " ts=1234"},
        {"1.2345", " ts=1235"},
        {"-1.2345", " ts=-1235"},
        {"1720000000000000.1235", " ts=1720000000000000124"},
        {"1720000000000000.12349999999", " ts=1720000000000000123"},
        {"1e3", " ts=1000000"},
        {"\"12.5\"", " ts=12500"},
        {"9223372036854775", " ts=9223372036854775000"},
        {"9223372036854776", " bad_time"},
        {"99999999999999999999", " bad_time"},
        {"null", " bad_time"},
        {"NaN", " bad_time"},
        {"[]", " bad_time"},
        {"\"\"", " bad_time"},
        {"1e300", " bad_time"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128], expected[128];
        snprintf(text, sizeof text, "{\"ts\": %s}", cases[i].text);
        snprintf(expected, sizeof expected, "0%s\n", cases[i].said);
        assert_events(text, expected);
    }
}

static void a_number_keeps_the_form_it_was_written_in(void **state) {
    assert_events("{\"a\": 12, \"b\": 0012, \"c\": 1.50, \"d\": -0, \"e\": 1e5, \"f\": "
                  "123456789012345678901234567890, \"g\": -9223372036854775808}",
                  "0 a:12 b:str 0012 c:dec 150/2 d:raw -0 e:raw 1e5 f:raw "
                  "123456789012345678901234567890 g:raw -9223372036854775808\n");
}

static void an_id_of_digits_is_a_number_and_any_other_a_text(void **state) {
    assert_events("{\"pid\": \"12\", \"tid\": \"stream 7\", \"id\": -5}",
                  "0 pid=12 tid=\"stream 7\" id=-5\n");
    assert_events("{\"pid\": 1.5, \"tid\": \"\", \"id\": null}",
                  "0 pid=\"1.5\" tid=\"\" id=\"null\"\n");
    assert_events("{\"pid\": 1, \"tid\": 12345678},{\"pid\": 12, \"tid\": 1234567}",
                  "0 pid=1 tid=12345678\n28 pid=12 tid=1234567\n");
}

static void escapes_in_keys_and_values_are_decoded(void **state) {
    assert_events("{\"na\\u006de\": \"a\\\"b\\u00e9\", \"k\\n\": \"\\\\\"}",
                  "0 name=a\"b\xC3\xA9 k\n:str \\\n");
    assert_events("{\"cat\": \"a\\/b\", \"ph\": \"X\"}", "0 ph=X cat=a/b\n");
}

static void the_end_of_the_list_is_the_end(void **state) {
    reading r;
    size_t used;
    start(&r);
    assert_int_equal(parse(&r, " {\"ph\":\"X\"} ] , \"x\": 1", &used), PARSE_END);
    assert_int_equal(used, 13);
    assert_said(&r, "1 ph=X\n");
    assert_int_equal(parse(&r, "]", &used), PARSE_END);
    assert_int_equal(parse(&r, "  ", &used), PARSE_CLEAN);
    assert_int_equal(used, 2);
    end(&r);
}

/* ---- the ends of pieces ---- */

static const char SEVERAL[] =
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"pid\": 1, \"tid\": 2, \"ts\": "
    "10.001, \"dur\": 5, "
    "\"args\": {\"correlation\": 1, \"dims\": [[1, 2], [\"]\"]], \"n\": N/A}},\n"
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"b\\n\", \"pid\": 1, \"tid\": \"s 7\", "
    "\"ts\": 11.5, \"dur\": 6, "
    "\"args\": {\"correlation\": 2, \"x\": \"raw \t tab\", \"x\": 1.5}},\n"
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"c\"d\", \"pid\": 1, \"tid\": 2, \"ts\": "
    "12, \"dur\": 5,,"
    "\"args\": {\"correlation\": 3, \"bad\": \"\\q\xFF\",}},,\n"
    "{\"ph\":  \"i\" , \"name\": \"e\", \"s\": \"t\", \"ts\": 1e1, \"id\": \"x\"}, {}, "
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"f\", \"pid\": 1, \"tid\": 2, \"ts\": 13, "
    "\"dur\": 1234567890123, "
    "\"args\": {\"correlation\": 123456789, \"n\": true}} ";

/* Reads the text as a reader does whose pieces end every `portion` bytes. */
static void read_in_portions(reading *r, const char *text, size_t portion) {
    char *p = padded(text);
    const char *at = p, *last = p + strlen(text), *to = p;
    while (to < last) {
        to = (size_t)(last - to) > portion ? to + portion : last;
        parse_result result = event_parser_parse(r->l, at, to, (uint64_t)(at - p), &at);
        assert_true(result == PARSE_CLEAN || result == PARSE_INCOMPLETE ||
                    (result == PARSE_UNDECIDED && to < last));
    }
    assert_ptr_equal(at, last);
    free(p);
}

static void wherever_the_bytes_end_the_events_are_the_same(void **state) {
    reading whole;
    start(&whole);
    read_in_portions(&whole, SEVERAL, sizeof SEVERAL);
    for (size_t portion = 1; portion < sizeof SEVERAL; portion++) {
        reading r;
        start(&r);
        read_in_portions(&r, SEVERAL, portion);
        buf_add_byte(&r.said, 0);
        buf_add_byte(&whole.said, 0);
        assert_string_equal(r.said.p, whole.said.p);
        whole.said.n--;
        for (cause c = 1; c < N_CAUSES; c++)
            if (part_loss_count(r.p, c) != part_loss_count(whole.p, c))
                fail_msg("cause %d with pieces of %zu bytes", c, portion);
        end(&r);
    }
    end(&whole);
}

static void a_category_that_is_cut_stays_a_category(void **state) {
    reading r;
    size_t used;
    start(&r);
    assert_int_equal(parse(&r, "{\"ts\": 1, \"cat\": \"cpu_", &used), PARSE_INCOMPLETE);
    assert_int_equal(used, 0);
    assert_int_equal(parse(&r, "{\"ts\": 1, \"cat\": \"cpu_op\", \"dur\": 2}", NULL),
                     PARSE_CLEAN);
    assert_said(&r, "0 cat=cpu_op ts=1000 dur=2000\n");
    end(&r);
}

static void an_event_is_read_from_its_start_when_it_was_cut(void **state) {
    reading r;
    size_t used;
    start(&r);
    assert_int_equal(parse(&r, "{\"ts\": 1}, {\"ts\": 2, \"x", &used), PARSE_INCOMPLETE);
    assert_int_equal(used, 11);
    assert_said(&r, "0 ts=1000\n");
    end(&r);
}

/* ---- damage ---- */

static void an_odd_phase_does_not_spoil_the_next_event(void **state) {
    reading r;
    start(&r);
    const char *good = "{\"ts\": 1, \"ph\": \"X\", \"dur\": 3}",
               *odd[] = {"{\"ts\": 1, \"ph\": 5, \"dur\": 3},",
                         "{\"ts\": 1, \"ph\": \"X\"2, \"dur\": 3},",
                         "{\"ts\": 1, \"args\": 7, \"dur\": 3},",
                         "{\"ts\": 1, \"cat\": [1], \"dur\": 3},"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        parse(&r, odd[i], NULL);
        buf_clear(&r.said);
        assert_int_equal(parse(&r, good, NULL), PARSE_CLEAN);
        assert_said(&r, "0 ph=X ts=1000 dur=3000\n");
    }
    assert_int_equal(parse(&r, "{\"ts\": 1, \"args\": {\"a\": 7}, \"dur\": 3}", NULL),
                     PARSE_CLEAN);
    assert_said(&r, "0 ts=1000 dur=3000 a:7\n");
    end(&r);
}

static void white_space_may_differ_from_event_to_event(void **state) {
    assert_events("{\"ts\": 1, \"x\": 2},{\"ts\":   1,\n\"x\":\t2},{ \"ts\":1 ,\"x\" :2 }",
                  "0 ts=1000 x:2\n18 ts=1000 x:2\n38 ts=1000 x:2\n");
    /* What was learned from the first two is only the start of what the third has. */
    assert_events("{\"ts\": 1},{\"ts\": 2},{\"ts\":  3},{\"ts\": \n\t 4}",
                  "0 ts=1000\n10 ts=2000\n20 ts=3000\n31 ts=4000\n");
}

static void a_missing_value_is_damage_and_not_a_cut(void **state) {
    static const char *const texts[] = {"{\"ts\":,\"x\":1}",
                                        "{\"x\":}",
                                        "{\"name\":,\"x\":1}",
                                        "{\"pid\":]",
                                        "{\"args\":{\"a\"::1}}",
                                        "{\"x\" 1}",
                                        "{1:2}",
                                        "{\"x\":1 \"y\":2}",
                                        "7",
                                        "{\"x\":1]"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        reading r;
        size_t used;
        start(&r);
        if (parse(&r, texts[i], &used) != PARSE_DAMAGED || used != 0)
            fail_msg("%s is not damaged", texts[i]);
        assert_int_equal(r.said.n, 0);
        end(&r);
    }
}

static void assert_losses(reading *r, cause c, int64_t count) {
    for (cause other = 1; other < N_CAUSES; other++)
        if (part_loss_count(r->p, other) != (other == c ? count : 0))
            fail_msg("cause %d is counted %lld times", other,
                     (long long)part_loss_count(r->p, other));
}

/* A text with one kind of damage, read twice: the event, and what is counted. */
static void assert_repaired(const char *text, const char *said, cause c, int64_t count) {
    reading r;
    start(&r);
    for (int i = 1; i <= 2; i++) {
        assert_int_equal(parse(&r, text, NULL), PARSE_CLEAN);
        assert_said(&r, said);
        assert_losses(&r, c, i * count);
    }
    end(&r);
}

static void each_kind_of_damage_is_repaired_and_counted(void **state) {
    assert_repaired("{\"name\": \"a\"b\"c\", \"ts\": 1}", "0 name=a\"b\"c ts=1000\n",
                    CAUSE_UNESCAPED_QUOTE, 1);
    reading r; /* damage in the part before the quote is counted once */
    start(&r);
    assert_int_equal(parse(&r, "{\"name\": \"a\xFF\"b\", \"ts\": 1}", NULL), PARSE_CLEAN);
    assert_int_equal(part_loss_count(r.p, CAUSE_BAD_UTF8), 1);
    assert_int_equal(part_loss_count(r.p, CAUSE_UNESCAPED_QUOTE), 1);
    end(&r);
    assert_repaired("{\"x\": \"f(\"x\", y)\"}", "0 x:str f(\"x\", y)\n", CAUSE_UNESCAPED_QUOTE,
                    1);
    assert_repaired("{\"name\": \"C:\\q\\ze\"}", "0 name=C:\\q\\ze\n", CAUSE_BAD_ESCAPE, 1);
    assert_repaired("{\"name\": \"a\tb\", \"x\": \"c\x01\"}", "0 name=a\tb x:str c\x01\n",
                    CAUSE_CONTROL_CHARACTER, 2);
    assert_repaired("{\"x\": N/A, \"y\": [NaN, -Infinity]}",
                    "0 x:str N/A y:raw [\"NaN\", \"-Infinity\"]\n", CAUSE_BAD_LITERAL, 2);
    assert_repaired("{\"x\": [1}}", "0 x:raw \"[1}\"\n", CAUSE_BAD_LITERAL, 1);
    assert_repaired("{\"x\": 1,}, {\"y\": [2,]},, {\"args\": {\"z\": 3,}}",
                    "0 x:1\n11 y:raw [2]\n25 z:3\n", CAUSE_TRAILING_COMMA, 4);
    assert_repaired("{\"x\": 1, \"x\": 2}", "0 x:1 x:2 duplicate\n", CAUSE_DUPLICATE_KEY, 1);
    assert_repaired("{\"name\": \"a\xFF\", \"cat\": \"\xC3\", \"x\": [\"\x80\"]}",
                    "0 cat=\xC3 name=a\xFF x:raw [\"\xEF\xBF\xBD\"]\n", CAUSE_BAD_UTF8, 3);
}

static void a_repaired_string_does_not_reach_into_the_next_event(void **state) {
    reading r;
    size_t used;
    start(&r);
    assert_int_equal(
        parse(&r, "{\"ph\":\"X\"},{\"name\":\"a,\"ts\":1},{\"name\":\"b\",\"ts\":2}", &used),
        PARSE_DAMAGED);
    assert_int_equal(used, 11);
    assert_said(&r, "0 ph=X\n");
    end(&r);
}

/* The same string is repaired, damaged or neither, depending on what is seen of the rest. */
static void a_repair_is_not_decided_before_the_bytes_that_decide_it(void **state) {
    static const struct {
        const char *text;
        parse_result result;
    } all[] = {{"{\"name\":\"a\"b", PARSE_UNDECIDED},
               {"{\"name\":\"a\"b\"", PARSE_UNDECIDED},
               {"{\"name\":\"a\"b\",", PARSE_UNDECIDED},
               {"{\"name\":\"a\"b\",\"ts", PARSE_UNDECIDED},
               {"{\"name\":\"a\"b\",\"ts\"", PARSE_UNDECIDED},
               {"{\"name\":\"a\"b\",\"ts\":1}", PARSE_CLEAN},
               {"{\"name\":\"a\"b},{\"ts\":1}", PARSE_DAMAGED}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        reading r;
        start(&r);
        if (parse(&r, all[i].text, NULL) != all[i].result) fail_msg("%s", all[i].text);
        end(&r);
    }
}

static void numbers_of_400_digits_and_200_levels_are_kept_as_text(void **state) {
    buf text = {0}, expected = {0};
    buf_add_cstr(&text, "{\"x\": ");
    buf_add_repeat(&text, '1', 400);
    buf_add_cstr(&text, ", \"y\": ");
    buf_add_repeat(&text, '[', 200);
    buf_add_repeat(&text, ']', 200);
    buf_add_cstr(&text, "}");
    buf_add_byte(&text, 0);
    buf_add_cstr(&expected, "0 x:raw ");
    buf_add_repeat(&expected, '1', 400);
    buf_add_cstr(&expected, " y:raw ");
    buf_add_repeat(&expected, '[', 200);
    buf_add_repeat(&expected, ']', 200);
    buf_add_cstr(&expected, "\n");
    buf_add_byte(&expected, 0);
    assert_repaired(text.p, expected.p, CAUSE_NUMBER_RANGE, 1);
    buf_fini(&text);
    buf_fini(&expected);
}

static void nesting_beyond_the_limit_is_kept_as_a_string(void **state) {
    buf text = {0};
    reading r;
    start(&r);
    buf_add_cstr(&text, "{\"x\": ");
    buf_add_repeat(&text, '[', 2000);
    buf_add_repeat(&text, ']', 2000);
    buf_add_cstr(&text, "}");
    buf_add_byte(&text, 0);
    assert_int_equal(parse(&r, text.p, NULL), PARSE_CLEAN);
    assert_losses(&r, CAUSE_TOO_DEEP, 1);
    assert_true(str_starts(buf_str(&r.said), STR("0 x:raw \"[[[[")));
    buf_fini(&text);
    end(&r);
}

static void of_too_many_arguments_the_first_ones_are_kept(void **state) {
    buf text = {0};
    reading r;
    start(&r);
    for (int i = 0; i < MAX_VALUES + 3; i++)
        buf_printf(&text, "%s\"k%d\":%d", i ? "," : "{", i, i);
    buf_add_cstr(&text, "}");
    buf_add_byte(&text, 0);
    assert_int_equal(parse(&r, text.p, NULL), PARSE_CLEAN);
    assert_losses(&r, CAUSE_ARGUMENTS_DROPPED, 3);
    assert_true(str_ends(buf_str(&r.said), STR(" k254:254 k255:255\n")));
    buf_fini(&text);
    end(&r);
}

/* ---- limits and failures ---- */

static void keys_that_never_repeat_are_read_all_the_same(void **state) {
    reading r;
    start(&r);
    for (int i = 0; i < 70000; i++) {
        char text[64], expected[64];
        snprintf(text, sizeof text, "{\"ts\":1,\"k%d\":%d}", i, i);
        snprintf(expected, sizeof expected, "0 ts=1000 k%d:%d\n", i, i);
        assert_int_equal(parse(&r, text, NULL), PARSE_CLEAN);
        assert_said(&r, expected);
    }
    for (int i = 0; i < 3; i++) { /* keys that are not remembered may still come again */
        assert_int_equal(parse(&r, "{\"ts\":1,\"a\":1,\"b\":2,\"c\":3}", NULL), PARSE_CLEAN);
        assert_said(&r, "0 ts=1000 a:1 b:2 c:3\n");
    }
    end(&r);
}

static void long_gaps_and_many_alternatives_are_read(void **state) {
    reading r;
    start(&r);
    for (int i = 0; i < 400; i++) {
        buf text = {0};
        buf_add_cstr(&text, "{\"ts\":1,");
        buf_add_repeat(&text, ' ', (size_t)(i * 7 % 200)); /* up to beyond what is remembered */
        buf_add_cstr(&text, "\"dur\":2}");
        buf_add_byte(&text, 0);
        assert_int_equal(parse(&r, text.p, NULL), PARSE_CLEAN);
        assert_said(&r, "0 ts=1000 dur=2000\n");
        buf_fini(&text);
    }
    end(&r);
}

static void a_failure_of_the_sink_ends_the_reading(void **state) {
    reading r;
    start(&r);
    r.answer = ERR_LIMIT;
    assert_int_equal(parse(&r, "{\"ts\":1},{\"ts\":2}", NULL), PARSE_FAILED);
    assert_int_equal(event_parser_failure(r.l), ERR_LIMIT);
    r.answer = OK;
    assert_int_equal(parse(&r, "{\"ts\":1}", NULL), PARSE_CLEAN);
    assert_int_equal(event_parser_failure(r.l), OK);
    end(&r);
}

static void without_memory_it_fails_and_says_so(void **state) {
    uint64_t nth = 1;
    for (bool hit = true; hit; nth++) {
        reading r;
        start(&r);
        buf_reserve(&r.said, 4096);
        char *p = padded(SEVERAL);
        const char *stop;
        fault_arm(FAULT_ALLOC, nth);
        parse_result result = event_parser_parse(r.l, p, p + strlen(SEVERAL), 0, &stop);
        hit = fault_count(FAULT_ALLOC) >= nth;
        fault_arm(FAULT_ALLOC, 0);
        if (result == PARSE_FAILED)
            assert_int_equal(event_parser_failure(r.l), ERR_MEMORY);
        else if (result != PARSE_CLEAN)
            fail_msg("allocation %llu", (unsigned long long)nth);
        free(p);
        end(&r);
    }
    assert_true(nth > 5);
}

static void a_border_is_where_one_event_follows_another(void **state) {
    const char *text = "\"}\", {}, x }, {\"a\": 1} , { \"b\"",
               *end_of_text = text + strlen(text);
    const char *border = event_parser_next_border(text, end_of_text);
    assert_ptr_equal(border, strstr(text, "{\"a\""));
    border = event_parser_next_border(border, end_of_text);
    assert_ptr_equal(border, strstr(text, "{ \"b\""));
    assert_null(event_parser_next_border(border, end_of_text));
    assert_null(event_parser_next_border(text, strstr(text, "{\"a\"") + 1));
}

static void strings_and_values_outside_of_events_are_interned_too(void **state) {
    reading r;
    start(&r);
    const intern *strings = builder_strings(r.b);
    assert_true(
        str_eq(intern_get(strings, event_parser_string(r.l, STR("a\\n"), NOPOS)), STR("a\n")));
    assert_true(str_eq(intern_get(strings, event_parser_raw(r.l, STR("[1,N/A]"), 7)),
                       STR("[1, \"N/A\"]")));
    assert_losses(&r, CAUSE_BAD_LITERAL, 1);
    event_parser_raw(r.l, STR("[1,N/A]"), 9);
    assert_losses(&r, CAUSE_BAD_LITERAL, 2);
    end(&r);
}

/* Reads one event for each value of "name" and "v", often enough that what follows what is known. */
static void read_values(reading *r, const char *const *values, size_t n) {
    buf text = {0}, expected = {0};
    for (int round = 0; round < 12; round++)
        for (size_t i = 0; i < n; i++) {
            bool raw = values[i][0] == '[' || values[i][0] == '{';
            uint64_t offset = text.n + (text.n > 0);
            buf_printf(&text, "%s{\"name\":\"n%zu\",\"args\":{\"v\":%s}}", text.n ? "," : "",
                       i % 2, values[i]);
            buf_printf(&expected, "%llu name=n%zu v:%s %.*s\n", (unsigned long long)offset,
                       i % 2, raw ? "raw" : "str", (int)strlen(values[i]) - (raw ? 0 : 2),
                       values[i] + (raw ? 0 : 1));
        }
    buf_add_byte(&text, 0);
    buf_add_byte(&expected, 0);
    assert_int_equal(parse(r, text.p, NULL), PARSE_CLEAN);
    assert_said(r, expected.p);
    buf_fini(&text);
    buf_fini(&expected);
}

static void a_predicted_text_is_taken_only_where_it_matches(void **state) {
    /* Starts and ends of each other, texts that look like values, and nothing. */
    static const char *const twins[] = {"\"[1, 2]\"",
                                        "[1, 2]",
                                        "[1, 2, 3]",
                                        "\"[1, 2\"",
                                        "\"\"",
                                        "[1]",
                                        "\"[1, 2]\"",
                                        "[]",
                                        "\"a\"",
                                        "\"ab\"",
                                        "\"a\"",
                                        "{\"a\": [1]}",
                                        "{\"a\": [1]}",
                                        "[[]]",
                                        "\"the same text for more than thirty-two bytes A\"",
                                        "\"the same text for more than thirty-two bytes B\""};
    size_t n = sizeof twins / sizeof *twins;
    reading r;
    start(&r);
    read_values(&r, twins, n);
    for (size_t i = 1; i < n; i++)
        read_values(&r, twins + i, n - i); /* other ones before them */
    assert_int_equal(part_loss_count(r.p, CAUSE_BAD_SYNTAX), 0);
    end(&r);
}

/* What is written and what it means: texts with the same beginning, escapes, damage. In an
 * order that cannot be foreseen; each is its own text, and its damage is counted each
 * time. */
static void texts_in_no_order_are_read_one_by_one(void **state) {
    static const struct {
        const char *written, *means;
        bool damaged;
    } texts[] = {{"a", "a", false},
                 {"ab", "ab", false},
                 {"abcdefgh", "abcdefgh", false},
                 {"abcdefghi", "abcdefghi", false},
                 {"abcdefghijklmnop", "abcdefghijklmnop", false},
                 {"abcdefghijklmnopq", "abcdefghijklmnopq", false},
                 {"abcdefghijklmnopqrstuvwxyz, and on and on",
                  "abcdefghijklmnopqrstuvwxyz, and on and on", false},
                 {"abcdefghijklmnopqrstuvwxyz, and on and of",
                  "abcdefghijklmnopqrstuvwxyz, and on and of", false},
                 {"a\\\"b", "a\"b", false},
                 {"a\\\"", "a\"", false},
                 {"a\\\\", "a\\", false},
                 {"CompNode(\\\"gpu0:0\\\" from \\\"gpux:0\\\")",
                  "CompNode(\"gpu0:0\" from \"gpux:0\")", false},
                 {"CompNode(\\\"gpu0:0\\\" from \\\"gpux:1\\\")",
                  "CompNode(\"gpu0:0\" from \"gpux:1\")", false},
                 {"a\x01", "a\x01", true},
                 {"a\\q", "a\\q", true},
                 {"", "", false}};
    uint32_t seed = 5;
    int64_t n_damaged = 0;
    buf text = {0}, expected = {0};
    for (int i = 0; i < 5000; i++) {
        size_t name = next_random(&seed) % (sizeof texts / sizeof *texts);
        size_t v = next_random(&seed) % (sizeof texts / sizeof *texts);
        uint64_t offset = text.n + (text.n > 0);
        buf_printf(&text, "%s{\"name\":\"%s\",\"args\":{\"v\":\"%s\"}}", text.n ? "," : "",
                   texts[name].written, texts[v].written);
        buf_printf(&expected, "%llu name=%s v:str %s\n", (unsigned long long)offset,
                   texts[name].means, texts[v].means);
        n_damaged += texts[name].damaged + texts[v].damaged;
    }
    buf_add_byte(&text, 0);
    buf_add_byte(&expected, 0);
    reading r;
    start(&r);
    assert_int_equal(parse(&r, text.p, NULL), PARSE_CLEAN);
    assert_said(&r, expected.p);
    assert_int_equal(part_loss_count(r.p, CAUSE_CONTROL_CHARACTER) +
                         part_loss_count(r.p, CAUSE_BAD_ESCAPE),
                     n_damaged);
    end(&r);
    buf_fini(&text);
    buf_fini(&expected);
}

static str cut_at_space(str name) {
    size_t at = str_find(name, STR(" "), 0);
    return at == SIZE_MAX ? name : str_n(name.p, at);
}

static void a_dialect_cuts_names_and_nothing_else(void **state) {
    static const event_spelling cutting = {.cut = cut_at_space};
    reading r = {.b = builder_new()};
    r.p = builder_part(r.b);
    r.l = event_parser_new(r.b, r.p, (parser_sink){number_field, say_event, &r, &cutting});
    assert_int_equal(parse(&r,
                           "{\"name\":\"Put 1\",\"tid\":\"a 1\"},{\"name\":\"Put 2\",\"args\":"
                           "{\"name\":\"Put 2\"}},{\"name\":\"Put\"},{\"name\":\"Put 1\"}",
                           NULL),
                     PARSE_CLEAN);
    assert_said(
        &r, "0 name=Put tid=\"a 1\"\n29 name=Put name:str Put 2\n70 name=Put\n85 name=Put\n");
    end(&r);
}

/* A few values in any mixture: whatever is remembered of them together is taken only where all
 * of it matches, in one piece or in portions. `odd`: every n-th value is one that never comes
 * again. */
static void read_mixture(uint32_t odd) {
    static const char *const names[] = {"a", "ab",
                                        "a longer name than thirty-two bytes, clearly"};
    static const char *const texts[] = {"x", "y", "x\\ny", ""};
    uint32_t seed = odd;
    buf text = {0}, expected = {0};
    for (int i = 1; i < 6000; i++) {
        const char *name = names[next_random(&seed) % 3], *v = texts[next_random(&seed) % 4];
        char other[32];
        snprintf(other, sizeof other, "other %d", i);
        if (next_random(&seed) % odd == 0) name = other;
        if (next_random(&seed) % odd == 0) v = other;
        unsigned pid = next_random(&seed) % 2 ? 12345 : 7, tid = next_random(&seed) % 3 * 50;
        uint64_t offset = text.n + (text.n > 0);
        buf_printf(
            &text,
            "%s{\"args\":{\"k\":\"%s\",\"n\":%d},\"name\":\"%s\",\"ph\":\"%c\",\"pid\":%u,"
            "\"tid\":%u,\"ts\":%d.5}",
            text.n ? "," : "", v, i, name, "BE"[i % 2], pid, tid, i);
        buf_printf(&expected, "%llu ph=%c name=%s ts=%d500 pid=%u tid=%u k:str %s n:%d\n",
                   (unsigned long long)offset, "BE"[i % 2], name, i, pid, tid,
                   strcmp(v, "x\\ny") == 0 ? "x\ny" : v, i);
    }
    buf_add_byte(&text, 0);
    buf_add_byte(&expected, 0);
    for (size_t portion = 0; portion < 800; portion += 399) {
        reading r;
        start(&r);
        if (portion)
            read_in_portions(&r, text.p, portion);
        else
            assert_int_equal(parse(&r, text.p, NULL), PARSE_CLEAN);
        assert_said(&r, expected.p);
        end(&r);
    }
    buf_fini(&text);
    buf_fini(&expected);
}

static void values_that_come_together_are_read_one_by_one_when_they_do_not(void **state) {
    read_mixture(1000);
    read_mixture(20);
    read_mixture(2);
}

static void a_damaged_text_among_values_that_come_together_is_counted(void **state) {
    reading r;
    start(&r);
    for (int i = 0; i < 50; i++)
        assert_int_equal(parse(&r,
                               "{\"name\":\"n\xff\",\"pid\":1,\"tid\":2,\"ts\":1.5},"
                               "{\"name\":\"n\",\"pid\":1,\"tid\":2,\"ts\":1.5},",
                               NULL),
                         PARSE_CLEAN);
    assert_int_equal(part_loss_count(r.p, CAUSE_BAD_UTF8), 50);
    end(&r);
}

static void a_number_is_cut_only_where_it_ends_the_name(void **state) {
    static const event_spelling cutting = {.cut = cut_at_space};
    reading r = {.b = builder_new()};
    r.p = builder_part(r.b);
    r.l = event_parser_new(r.b, r.p, (parser_sink){number_field, say_event, &r, &cutting});
    for (int i = 0; i < 3; i++) {
        assert_int_equal(parse(&r,
                               "{\"name\":\"Put 1\"},{\"name\":\"Put 1234567\"},"
                               "{\"name\":\"Put 123456789\"},{\"name\":\"Put\"},"
                               "{\"name\":\"Putt 3\"},{\"name\":\"Put 3\\u0041\"}",
                               NULL),
                         PARSE_CLEAN);
        assert_said(&r, "0 name=Put\n17 name=Put\n40 name=Put\n65 name=Put\n80 name=Putt\n"
                        "98 name=Put 3A\n");
    }
    /* A name that is cut by the end of the bytes is not a name yet. */
    size_t used;
    assert_int_equal(parse(&r, "{\"name\":\"Put 12", &used), PARSE_INCOMPLETE);
    assert_int_equal(used, 0);
    end(&r);
}

/* Says of an event whose values may come again whether they are those of the last one. */
static status say_cached(void *context, event *e) {
    reading *r = context;
    status st = say_event(r, e);
    if (e->args_cache && e->n_cached == e->n_values) {
        r->said.n--;
        buf_add_cstr(&r->said, e->args_cache == r->args_cache ? " again\n" : " new\n");
        r->args_cache = e->args_cache;
    }
    return st;
}

static void start_cutting(reading *r, status (*say)(void *, event *)) {
    static const event_spelling cutting = {.cut = cut_at_space};
    *r = (reading){.b = builder_new()};
    r->p = builder_part(r->b);
    r->l = event_parser_new(r->b, r->p, (parser_sink){number_field, say, r, &cutting});
    assert_non_null(r->l);
}

#define TENSOR(n, ts)                                                            \
    "{\"args\":{\"device\":\"c\\\"pu\",\"correlation\":" n "},\"name\":\"Put " n \
    "\",\"ts\":" ts "}"

static void arguments_that_come_again_whole_have_the_number_of_the_first(void **state) {
    reading r;
    start_cutting(&r, say_cached);
    /* Teaches that the numbers differ, and what is between two events. */
    for (int i = 100; i < 200; i++) {
        char text[320];
        snprintf(text, sizeof text,
                 TENSOR("%d", "1") "," TENSOR("%d", "2,\"x\":0") "," TENSOR("%d", "3"), i, i, i,
                 i, i, i);
        assert_int_equal(parse(&r, text, NULL), PARSE_CLEAN);
    }
    buf_clear(&r.said);
    assert_int_equal(
        parse(&r,
              TENSOR("2", "4") "," TENSOR("2", "5") "," TENSOR("2", "6") "," TENSOR(
                  "3", "7") "," TENSOR("33", "8") "," TENSOR("33", "9,\"x\":1") "," TENSOR("33",
                                                                                           "9"),
              NULL),
        PARSE_CLEAN);
    assert_said(&r, "0 name=Put ts=4000 device:str c\"pu correlation:2 [1]=1\n"
                    "66 name=Put ts=5000 device:str c\"pu correlation:2 [1]=1 new\n"
                    "132 name=Put ts=6000 device:str c\"pu correlation:2 [1]=1 again\n"
                    "198 name=Put ts=7000 device:str c\"pu correlation:3 [1]=1 new\n"
                    "264 name=Put ts=8000 device:str c\"pu correlation:33 [1]=1 new\n"
                    "332 name=Put ts=9000 device:str c\"pu correlation:33 x:1 [1]=1\n"
                    "406 name=Put ts=9000 device:str c\"pu correlation:33 [1]=1 again\n");
    end(&r);
}

static void the_args_cache_gives_back_nothing_but_arguments_and_a_name(void **state) {
    reading r;
    start_cutting(&r, say_event);
    const char *events[] = {
        "{\"args\":{\"d\":\"c\"},\"pid\":4,\"name\":\"Put 1\",\"ts\":1}",
        "{\"pid\":4,\"args\":{\"d\":\"c\"},\"name\":\"Put 1\",\"ts\":1}",
        "{\"args\":{\"d\":\"c\",\"d\":\"e\"},\"name\":\"Put 1\",\"ts\":1}",
        "{\"args\":{\"d\":\"c\xff\"},\"name\":\"Put 1\",\"ts\":1}",
        "{\"args\":{\"d\":\"c\"},\"name\":\"Put 1\",\"ts\":1}",
        "{\"args\":{\"d\":\"c\"},\"name\":\"Put 1\" \"x\",\"ts\":1}",
    };
    const char *said[] = {" name=Put ts=1000 pid=4 d:str c\n",
                          " name=Put ts=1000 pid=4 d:str c\n",
                          " name=Put ts=1000 d:str c d:str e duplicate\n",
                          " name=Put ts=1000 d:str c\xff\n",
                          " name=Put ts=1000 d:str c\n",
                          " name=Put 1\" \"x ts=1000 d:str c\n"};
    /* Each of them several times after another and after itself. */
    buf text = {0}, expected = {0};
    for (size_t i = 0; i < 6 * 6 * 3; i++) {
        size_t which = i % 3 == 2 ? i / 18 : i / 3 % 6;
        if (i) buf_add_byte(&text, ',');
        buf_printf(&expected, "%zu%s", text.n, said[which]);
        buf_add_cstr(&text, events[which]);
    }
    buf_add_byte(&text, 0);
    buf_add_byte(&expected, 0);
    assert_int_equal(parse(&r, text.p, NULL), PARSE_CLEAN);
    assert_said(&r, expected.p);
    assert_int_equal(part_loss_count(r.p, CAUSE_BAD_UTF8), 18);
    assert_int_equal(part_loss_count(r.p, CAUSE_DUPLICATE_KEY), 18);
    assert_int_equal(part_loss_count(r.p, CAUSE_UNESCAPED_QUOTE), 18);
    buf_fini(&text);
    buf_fini(&expected);
    end(&r);
}

static void cached_arguments_are_the_same_wherever_the_bytes_end(void **state) {
    static const char text[] =
        TENSOR("1", "1") "," TENSOR("1", "2.5") "," TENSOR("27", "3") "," TENSOR(
            "27", "4.5") "," TENSOR("28",
                                    "5") "," TENSOR("28",
                                                    "6.5") "," TENSOR("28",
                                                                      "7") ",{\"ts\":8.5}";
    reading whole;
    start_cutting(&whole, say_event);
    read_in_portions(&whole, text, sizeof text);
    buf_add_byte(&whole.said, 0);
    for (size_t portion = 1; portion < sizeof text; portion++) {
        reading r;
        start_cutting(&r, say_event);
        read_in_portions(&r, text, portion);
        assert_said(&r, whole.said.p);
        end(&r);
    }
    end(&whole);
}

static void damage_in_a_text_is_counted_each_time(void **state) {
    reading r;
    start(&r);
    for (int i = 0; i < 20; i++)
        assert_int_equal(
            parse(&r, "{\"name\":\"\xff\",\"args\":{\"v\":[NaN],\"w\":\"\x01\"}},", NULL),
            PARSE_CLEAN);
    assert_int_equal(part_loss_count(r.p, CAUSE_BAD_UTF8), 20);
    assert_int_equal(part_loss_count(r.p, CAUSE_BAD_LITERAL), 20);
    assert_int_equal(part_loss_count(r.p, CAUSE_CONTROL_CHARACTER), 20);
    end(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_comes_with_all_its_members),
        cmocka_unit_test(arguments_may_be_empty_and_anywhere),
        cmocka_unit_test(times_are_exact_to_the_nanosecond),
        cmocka_unit_test(a_number_keeps_the_form_it_was_written_in),
        cmocka_unit_test(an_id_of_digits_is_a_number_and_any_other_a_text),
        cmocka_unit_test(escapes_in_keys_and_values_are_decoded),
        cmocka_unit_test(the_end_of_the_list_is_the_end),
        cmocka_unit_test(wherever_the_bytes_end_the_events_are_the_same),
        cmocka_unit_test(a_category_that_is_cut_stays_a_category),
        cmocka_unit_test(an_event_is_read_from_its_start_when_it_was_cut),
        cmocka_unit_test(an_odd_phase_does_not_spoil_the_next_event),
        cmocka_unit_test(white_space_may_differ_from_event_to_event),
        cmocka_unit_test(a_missing_value_is_damage_and_not_a_cut),
        cmocka_unit_test(each_kind_of_damage_is_repaired_and_counted),
        cmocka_unit_test(a_repaired_string_does_not_reach_into_the_next_event),
        cmocka_unit_test(a_repair_is_not_decided_before_the_bytes_that_decide_it),
        cmocka_unit_test(numbers_of_400_digits_and_200_levels_are_kept_as_text),
        cmocka_unit_test(nesting_beyond_the_limit_is_kept_as_a_string),
        cmocka_unit_test(of_too_many_arguments_the_first_ones_are_kept),
        cmocka_unit_test(keys_that_never_repeat_are_read_all_the_same),
        cmocka_unit_test(long_gaps_and_many_alternatives_are_read),
        cmocka_unit_test(a_failure_of_the_sink_ends_the_reading),
        cmocka_unit_test(without_memory_it_fails_and_says_so),
        cmocka_unit_test(a_border_is_where_one_event_follows_another),
        cmocka_unit_test(strings_and_values_outside_of_events_are_interned_too),
        cmocka_unit_test(a_predicted_text_is_taken_only_where_it_matches),
        cmocka_unit_test(texts_in_no_order_are_read_one_by_one),
        cmocka_unit_test(a_dialect_cuts_names_and_nothing_else),
        cmocka_unit_test(values_that_come_together_are_read_one_by_one_when_they_do_not),
        cmocka_unit_test(a_damaged_text_among_values_that_come_together_is_counted),
        cmocka_unit_test(a_number_is_cut_only_where_it_ends_the_name),
        cmocka_unit_test(arguments_that_come_again_whole_have_the_number_of_the_first),
        cmocka_unit_test(the_args_cache_gives_back_nothing_but_arguments_and_a_name),
        cmocka_unit_test(cached_arguments_are_the_same_wherever_the_bytes_end),
        cmocka_unit_test(damage_in_a_text_is_counted_each_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
