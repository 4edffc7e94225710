/* mcp_test.c: lines of a client and their answers, with a host that tells what it was asked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/message_ids_columns.h"
#include "mcp/mcp.h"

/* Says the call as "analysis trace name=value name"; a trace named bad is refused. */
static status tell(void *of, const mcp_call *c, mcp_result *out, error *err) {
    buf *text = &out->text, *json = &out->json;
    int *calls = of;
    (*calls)++;
    if (str_eq(c->traces[0], STR("bad")))
        FAIL(err, ERR_NOT_FOUND, NOPOS, MSG_MCP_NO_FOLDER, arg_text("path", c->traces[0]));
    buf_printf(text, "%s", c->analysis);
    for (uint32_t i = 0; i < c->n_traces; i++) buf_printf(text, " %s", c->traces[i].p);
    if (c->sql.p) buf_printf(text, "; %s", c->sql.p);
    for (uint32_t i = 0; i < c->n_arguments; i++) {
        buf_printf(text, " %s", c->arguments[i].name.p);
        if (c->arguments[i].value.p) buf_printf(text, "=%s", c->arguments[i].value.p);
    }
    if (c->picture) buf_add_cstr(&out->picture, "<svg a=\"1\"/>");
    buf_add_cstr(json, "{\"schema\":1,\n\"rows\":[\n1]}\n");
    return OK;
}

/* Three pages: MCP_PAGE runs, as many again, one. */
static status list(void *of, uint32_t first, arena *a, mcp_runs *out, error *err) {
    (void)of;
    out->total = 2 * MCP_PAGE + 1;
    for (uint32_t i = first; i < out->total && out->n < MCP_PAGE; i++, out->n++) {
        out->runs[out->n].name = arena_printf(a, "a b/%u", i);
        out->runs[out->n].about = STR("one \"run\"");
        if (!out->runs[out->n].name.p) FAIL_MEMORY(err);
    }
    return OK;
}

typedef struct {
    int calls;
    buf out;
} talk;

static const char *ask(talk *t, const char *line) {
    arena a;
    mcp_host h = {.words = LANG_EN, .run = tell, .runs = list, .of = &t->calls};
    arena_init(&a, 0);
    buf_clear(&t->out);
    mcp_answer(&h, &a, str_of(line), &t->out);
    arena_fini(&a);
    buf_add_byte(&t->out, '\0');
    assert_true(buf_ok(&t->out));
    return t->out.p;
}

static void has(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("%s\nlacks %s", text, part);
}

/* One line of valid JSON. */
static void is_line(const char *text) {
    size_t n = strlen(text);
    buf again = {0};
    assert_true(n > 0 && text[n - 1] == '\n');
    assert_ptr_equal(strchr(text, '\n'), text + n - 1);
    assert_int_equal(json_normal(str_n(text, n - 1), &again), 0);
    buf_fini(&again);
}

#define CALL(name, arguments)                                                              \
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"" name \
    "\",\"arguments\":" arguments "}}"

static void test_old_clients_begin(void **state) {
    (void)state;
    talk t = {0};
    const char *said =
        ask(&t, "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"initialize\",\"params\":"
                "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{}}}");
    is_line(said);
    has(said, "\"id\":\"a\"");
    has(said, "\"protocolVersion\":\"2025-06-18\"");
    has(said, "\"serverInfo\":{\"name\":\"tacho\"");
    said = ask(&t, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":"
                   "{\"protocolVersion\":\"1999-01-01\"}}");
    has(said, "\"protocolVersion\":\"2025-11-25\"");
    assert_string_equal(
        ask(&t, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"), "");
    buf_fini(&t.out);
}

static void test_new_clients_discover(void **state) {
    (void)state;
    talk t = {0};
#define META(version) "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"" version "\"}"
    const char *said = ask(&t, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\","
                               "\"params\":{" META("2026-07-28") "}}");
    is_line(said);
    has(said, "\"supportedVersions\":[\"2026-07-28\"]");
    has(said, "\"resultType\":\"complete\"");
    said = ask(&t, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{" META(
                       "2031-01-01") "}}");
    is_line(said);
    has(said, "\"code\":-32022");
    has(said, "\"requested\":\"2031-01-01\"");
    buf_fini(&t.out);
}

static void test_tools_have_the_parameters_of_their_analyses(void **state) {
    (void)state;
    talk t = {0};
    const char *said = ask(&t, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
    is_line(said);
    has(said, "{\"name\":\"operators\"");
    has(said, "\"enum\":[\"name\",\"name+shape\"");
    has(said, "\"required\":[\"base\",\"candidate\"]");
    has(said, "\"required\":[\"trace\"]");
    buf_fini(&t.out);
}

static void test_a_call_becomes_arguments(void **state) {
    (void)state;
    talk t = {0};
    const char *said = ask(
        &t, CALL("operators", "{\"trace\":\"a b\\u00e9.json\",\"limit\":3,\"roofline\":true,"
                              "\"search\":\"conv\",\"worker\":null}"));
    is_line(said);
    has(said, "operators a b\303\251.json limit=3 roofline search=conv");
    has(said, "\"structuredContent\":{\"schema\":1,\"rows\":[1]}");
    has(said, "\"isError\":false");
    said = ask(&t, CALL("compare", "{\"candidate\":\"y\",\"base\":\"x\"}"));
    has(said, "diff x y");
    said = ask(&t, CALL("what_if", "{\"trace\":\"x\",\"scale\":[\"op:a=0.5\",\"op:b=2\"]}"));
    has(said, "whatif x scale=op:a=0.5 scale=op:b=2");
    said = ask(&t, CALL("query", "{\"trace\":\"x\",\"sql\":\"select 1\"}"));
    has(said, "query x; select 1");
    assert_int_equal(t.calls, 4);
    buf_fini(&t.out);
}

static void test_the_model_learns_what_is_wrong_with_a_call(void **state) {
    (void)state;
    talk t = {0};
    static const struct {
        const char *line, *says;
    } cases[] = {
        {CALL("operators", "{}"), "argument trace is missing"},
        {CALL("operators", "{\"trace\":\"x\",\"colour\":1}"), "has no argument colour"},
        {CALL("operators", "{\"trace\":{\"x\":1}}"), "argument trace has an invalid value"},
        {CALL("operators", "{\"trace\":\"x\\u0000y\"}"), "argument trace has an invalid value"},
        {CALL("operators", "{\"trace\":\"x\",\"roofline\":\"maybe\"}"), "argument roofline"},
        {CALL("query", "{\"trace\":\"x\"}"), "argument sql is missing"},
        {CALL("overview", "{\"trace\":\"bad\"}"), "bad does not exist"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *said = ask(&t, cases[i].line);
        is_line(said);
        has(said, "\"isError\":true");
        has(said, cases[i].says);
    }
    assert_int_equal(t.calls, 1);
    has(ask(&t, CALL("format_disk", "{}")), "\"code\":-32602");
    buf_fini(&t.out);
}

static void test_lines_that_are_not_requests(void **state) {
    (void)state;
    talk t = {0};
    static const struct {
        const char *line, *says;
    } cases[] = {
        {"hello", "\"code\":-32700"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1", "\"code\":-32700"},
        {"{} {}", "\"code\":-32700"},
        {"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", "\"code\":-32600"},
        {"{\"jsonrpc\":\"2.0\",\"id\":{\"a\":1},\"method\":\"ping\"}", "\"code\":-32600"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1}", "\"code\":-32600"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rm\"}", "\"code\":-32601"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":"
         "{\"uri\":\"file:///etc/passwd\"}}",
         "\"code\":-32602"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"prompts/get\",\"params\":"
         "{\"name\":\"find_the_cause\"}}",
         "\"code\":-32602"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *said = ask(&t, cases[i].line);
        is_line(said);
        has(said, cases[i].says);
    }
    assert_string_equal(ask(&t, "   "), "");
    assert_string_equal(ask(&t, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"), "");
    buf_fini(&t.out);
}

static void test_prompts_and_the_guide(void **state) {
    (void)state;
    talk t = {0};
    is_line(ask(&t, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"prompts/list\"}"));
    const char *said = ask(&t, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"prompts/get\","
                               "\"params\":{\"name\":\"compare_two_runs\",\"arguments\":"
                               "{\"base\":\"on\\u0065\",\"candidate\":\"two\"}}}");
    is_line(said);
    has(said, "from one to two");
    said = ask(&t, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":"
                   "{\"uri\":\"tacho://guide\"}}");
    is_line(said);
    has(said, "verdict");
    is_line(ask(&t, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\"}"));
    is_line(ask(&t, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"));
    buf_fini(&t.out);
}

#define READ(uri)                                                                            \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"" uri \
    "\"}}"
#define LIST(cursor) \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\",\"params\":{" cursor "}}"

static void test_runs_are_listed_by_pages(void **state) {
    (void)state;
    talk t = {0};
    const char *said = ask(&t, LIST(""));
    is_line(said);
    has(said, "\"uri\":\"tacho://run/a%20b%2F0\",\"name\":\"a b/0\"");
    has(said, "tacho://guide");
    has(said, "\"nextCursor\":\"50\"");
    said = ask(&t, LIST("\"cursor\":\"100\""));
    is_line(said);
    has(said, "\"name\":\"a b/100\"");
    assert_null(strstr(said, "nextCursor"));
    assert_null(strstr(said, "tacho://guide"));
    is_line(ask(&t, LIST("\"cursor\":\"4000000000\"")));
    has(ask(&t, LIST("\"cursor\":\"-1\"")), "\"code\":-32602");
    buf_fini(&t.out);
}

static void test_a_run_is_read_by_its_address(void **state) {
    (void)state;
    talk t = {0};
    const char *said = ask(&t, READ("tacho://run/a%20b%2F0"));
    is_line(said);
    has(said, "\"uri\":\"tacho://run/a%20b%2F0\",\"text\":\"overview . run=a b/0\"");
    has(ask(&t, READ("tacho://run/x/why")), "\"text\":\"critical . run=x\"");
    static const char *const wrong[] = {
        READ("tacho://run/"),          READ("tacho://run/x/query"),
        READ("tacho://run/x/picture"), READ("tacho://run/x/compare"),
        READ("tacho://run/x/"),        READ("tacho://run/%0"),
        READ("tacho://run/%00"),       READ("tacho://run/%g0")};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        has(ask(&t, wrong[i]), "\"code\":-32602");
    assert_int_equal(t.calls, 2);
    buf_fini(&t.out);
}

static void test_a_picture_comes_with_its_words(void **state) {
    (void)state;
    talk t = {0};
    const char *said =
        ask(&t, CALL("picture", "{\"trace\":\"x\",\"step\":\"3\",\"width\":800}"));
    is_line(said);
    has(said, "\"text\":\"export x step=3 width=800\"");
    has(said, "\"mimeType\":\"image/svg+xml\",\"text\":\"<svg a=\\\"1\\\"/>\"");
    has(ask(&t, CALL("picture", "{\"trace\":\"x\",\"limit\":3}")), "\"isError\":true");
    has(ask(&t, CALL("overview", "{\"trace\":\"x\",\"width\":3}")), "\"isError\":true");
    buf_fini(&t.out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_are_listed_by_pages),
        cmocka_unit_test(test_a_run_is_read_by_its_address),
        cmocka_unit_test(test_a_picture_comes_with_its_words),
        cmocka_unit_test(test_old_clients_begin),
        cmocka_unit_test(test_new_clients_discover),
        cmocka_unit_test(test_tools_have_the_parameters_of_their_analyses),
        cmocka_unit_test(test_a_call_becomes_arguments),
        cmocka_unit_test(test_the_model_learns_what_is_wrong_with_a_call),
        cmocka_unit_test(test_lines_that_are_not_requests),
        cmocka_unit_test(test_prompts_and_the_guide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
