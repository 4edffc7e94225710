/* mcp.c: lines of an agent's client. Whatever they are, each is answered by nothing or by one line of
 * strict JSON that is an answer of JSON-RPC, and the arguments that a tool gets are texts that end. */
#include "mcp/mcp.h"

#include <string.h>

#include "base/message_ids_columns.h"
#include "fuzz/fuzz.h"

static void check_text(str s) {
    CHECK(!s.p || (s.p[s.n] == '\0' && strlen(s.p) == s.n));
}

static status tell(void *of, const mcp_call *c, mcp_result *out, error *err) {
    buf *text = &out->text, *json = &out->json;
    (void)of;
    CHECK(c->n_traces >= 1 && c->n_traces <= 2 && c->n_arguments <= MCP_MAX_ARGUMENTS);
    for (uint32_t i = 0; i < c->n_traces; i++) {
        CHECK(c->traces[i].p);
        check_text(c->traces[i]);
        buf_add_str(text, c->traces[i]);
    }
    for (uint32_t i = 0; i < c->n_arguments; i++) {
        check_text(c->arguments[i].name);
        check_text(c->arguments[i].value);
        CHECK(strspn(c->arguments[i].name.p, "abcdefghijklmnopqrstuvwxyz_-") ==
              c->arguments[i].name.n);
    }
    if (c->n_arguments == 3)
        FAIL(err, ERR_NOT_FOUND, NOPOS, MSG_MCP_NO_FOLDER, arg_text("path", c->traces[0]));
    buf_add_cstr(json, "{\"x\":\n1}\n");
    return OK;
}

static status list(void *of, uint32_t first, arena *a, mcp_runs *out, error *err) {
    (void)of;
    (void)a;
    (void)err;
    out->total = 3;
    for (; first < 3; first++)
        out->runs[out->n].name = out->runs[out->n].about = STR("a/b"), out->n++;
    return OK;
}

static void check_answer(str said) {
    if (!said.n) return;
    const char *end = said.p + said.n;
    CHECK(end[-1] == '\n' && memchr(said.p, '\n', said.n) == end - 1);
    CHECK(after_value(said.p, end - 1) == end - 1);
    CHECK(str_starts(said, STR("{\"jsonrpc\":\"2.0\",\"id\":")));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    str rest = {(const char *)data, size};
    mcp_host h = {.words = LANG_EN, .run = tell, .runs = list};
    while (rest.n) {
        arena a;
        buf out = {0};
        const char *end = memchr(rest.p, '\n', rest.n);
        str line = end ? str_n(rest.p, (size_t)(end - rest.p)) : rest;
        arena_init(&a, 0);
        mcp_answer(&h, &a, line, &out);
        CHECK(buf_ok(&out));
        check_answer(buf_str(&out));
        buf_fini(&out);
        arena_fini(&a);
        rest = end ? str_from(rest, line.n + 1) : STR_NONE;
    }
    return 0;
}
