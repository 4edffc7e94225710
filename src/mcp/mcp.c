/* mcp.c: one line in, one line out.
 *
 * A line that is not a request is answered as JSON-RPC wants it: not JSON -32700, not a request
 * -32600, an unknown method -32601, arguments that do not fit -32602, a revision that is not
 * spoken -32022. What a tool cannot do (a missing file, a wrong value) is a result with isError
 * and the sentence that the command line would say: the model can read and correct it. Every
 * result has the members that the newest revision wants; older clients ignore them. */
#include "mcp/mcp.h"

#include "base/json.h"
#include "base/message_ids_columns.h"
#include "base/num.h"
#include "mcp/mcp_int.h"

enum {
    RPC_NOT_JSON = -32700,
    RPC_NOT_A_REQUEST = -32600,
    RPC_NO_METHOD = -32601,
    RPC_BAD_ARGUMENTS = -32602,
    RPC_NO_SUCH_REVISION = -32022,
};

#define NEWEST "2026-07-28"
#define NEWEST_WITH_BEGINNING "2025-11-25"
static const char *const WITH_BEGINNING[] = {"2024-11-05", "2025-03-26", "2025-06-18",
                                             NEWEST_WITH_BEGINNING};
#define CAPABILITIES "{\"tools\":{},\"resources\":{},\"prompts\":{}}"
#define SERVER "{\"name\":\"tacho\",\"title\":\"tacho\",\"version\":\"" TACHO_VERSION "\"}"
/* Lists are the same until the program is another one. */
#define KEPT ",\"ttlMs\":3600000,\"cacheScope\":\"public\""

typedef struct {
    const mcp_host *host;
    arena *arena;
    str id, params; /* raw JSON */
    buf *out;
} request;

/* ---- writing ----------------------------------------------------------------------------- */

static void put_error(buf *out, str id, int code, const char *said) {
    buf_add_cstr(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    buf_add_str(out, id.n ? id : STR("null"));
    buf_printf(out, ",\"error\":{\"code\":%d,\"message\":", code);
    buf_add_json(out, str_of(said));
    buf_add_cstr(out, "}}\n");
}

/* The members of the result follow, then end_result. */
static void begin_result(request *r) {
    buf_add_cstr(r->out, "{\"jsonrpc\":\"2.0\",\"id\":");
    buf_add_str(r->out, r->id);
    buf_add_cstr(r->out, ",\"result\":{\"resultType\":\"complete\",\"_meta\":"
                         "{\"io.modelcontextprotocol/serverInfo\":" SERVER "}");
}

static void end_result(request *r) {
    buf_add_cstr(r->out, "}}\n");
}

static const char *say(const request *r, uint16_t message) {
    return text_get(message, r->host->words);
}

static void put_member(request *r, const char *name, str text) {
    buf_printf(r->out, ",\"%s\":", name);
    buf_add_json(r->out, text);
}

/* A member of the arguments as a text without escapes. */
static str read_argument(request *r, str given, const char *name) {
    buf text = {0};
    (void)json_decode(json_text(json_member(given, str_of(name))), &text);
    str kept = arena_str(r->arena, buf_str(&text));
    if (!buf_ok(&text) || !kept.p) r->out->failed = true;
    buf_fini(&text);
    return kept;
}

/* ---- methods ----------------------------------------------------------------------------- */

static void answer_initialize(request *r) {
    str asked = json_text(json_member(r->params, STR("protocolVersion")));
    const char *spoken = NEWEST_WITH_BEGINNING;
    for (size_t i = 0; i < N_OF(WITH_BEGINNING); i++)
        if (str_eq(asked, str_of(WITH_BEGINNING[i]))) spoken = WITH_BEGINNING[i];
    begin_result(r);
    buf_printf(r->out,
               ",\"protocolVersion\":\"%s\",\"capabilities\":" CAPABILITIES
               ",\"serverInfo\":" SERVER,
               spoken);
    put_member(r, "instructions", str_of(say(r, MSG_MCP_GUIDE)));
    end_result(r);
}

static void answer_discover(request *r) {
    begin_result(r);
    buf_add_cstr(r->out,
                 ",\"supportedVersions\":[\"" NEWEST "\"],\"capabilities\":" CAPABILITIES KEPT);
    put_member(r, "instructions", str_of(say(r, MSG_MCP_GUIDE)));
    end_result(r);
}

static void answer_ping(request *r) {
    begin_result(r);
    end_result(r);
}

static void answer_tools(request *r) {
    begin_result(r);
    buf_add_cstr(r->out, KEPT ",\"tools\":");
    mcp_put_tools(r->out, r->host->words);
    end_result(r);
}

static void refuse_arguments(request *r, const error *err) {
    buf sentence = {0};
    text_error(&sentence, r->host->words, err);
    buf_add_byte(&sentence, '\0');
    put_error(r->out, r->id, RPC_BAD_ARGUMENTS,
              buf_ok(&sentence) ? sentence.p : say(r, MSG_OUT_OF_MEMORY));
    buf_fini(&sentence);
}

static void put_tool_error(request *r, const error *err) {
    buf sentence = {0};
    text_error(&sentence, r->host->words, err);
    begin_result(r);
    buf_add_cstr(r->out, ",\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":");
    buf_add_json(r->out, buf_str(&sentence));
    buf_add_cstr(r->out, "}]");
    end_result(r);
    if (!buf_ok(&sentence)) r->out->failed = true;
    buf_fini(&sentence);
}

/* A message is one line: the line breaks of the JSON are between its values. */
static void put_on_one_line(buf *out, str json) {
    for (size_t at = 0; at < json.n;) {
        const char *end = memchr(json.p + at, '\n', json.n - at);
        size_t n = end ? (size_t)(end - json.p) - at : json.n - at;
        buf_add(out, json.p + at, n);
        at += n + 1;
    }
}

/* In addition to the text, for the user: not every client treats such a picture as an image. */
static void put_picture(buf *out, str svg) {
    buf_add_cstr(out, ",{\"type\":\"resource\",\"annotations\":{\"audience\":[\"user\"]},"
                      "\"resource\":{\"uri\":\"tacho://picture/timeline.svg\","
                      "\"mimeType\":\"image/svg+xml\",\"text\":");
    buf_add_json(out, svg);
    buf_add_cstr(out, "}}");
}

static void put_result(request *r, const mcp_result *made) {
    begin_result(r);
    buf_add_cstr(r->out, ",\"isError\":false,\"content\":[{\"type\":\"text\",\"text\":");
    buf_add_json(r->out, buf_str(&made->text));
    buf_add_byte(r->out, '}');
    if (made->picture.n) put_picture(r->out, buf_str(&made->picture));
    buf_add_cstr(r->out, "],\"structuredContent\":");
    put_on_one_line(r->out, buf_str(&made->json));
    end_result(r);
}

static status run_call(request *r, const mcp_call *call, mcp_result *made, error *err) {
    TRY(r->host->run(r->host->of, call, made, err));
    if (!buf_ok(&made->text) || !buf_ok(&made->json) || !buf_ok(&made->picture))
        FAIL_MEMORY(err);
    return OK;
}

static void end_call(mcp_result *made) {
    buf_fini(&made->text);
    buf_fini(&made->json);
    buf_fini(&made->picture);
}

static void answer_call(request *r) {
    error err = {0};
    mcp_call call;
    mcp_result made = {0};
    str name = json_text(json_member(r->params, STR("name")));
    const mcp_tool *t = mcp_tool_find(name);
    if (!t) {
        (void)mcp_tool_unknown(name, &err);
        refuse_arguments(r, &err);
        return;
    }
    str arguments = json_member(r->params, STR("arguments"));
    status s = mcp_read_call(t, arguments, r->arena, &call, &err);
    if (s == OK) s = run_call(r, &call, &made, &err);
    if (s != OK)
        put_tool_error(r, &err);
    else
        put_result(r, &made);
    end_call(&made);
}

/* ---- resources --------------------------------------------------------------------------- */

#define GUIDE "tacho://guide"

static void put_guide(request *r) {
    buf_add_cstr(r->out,
                 "{\"uri\":\"" GUIDE "\",\"name\":\"guide\",\"mimeType\":\"text/plain\"");
    put_member(r, "description", str_of(say(r, MSG_MCP_RESOURCE_GUIDE)));
    buf_add_byte(r->out, '}');
}

static void put_run(request *r, str name, str about) {
    buf uri = {0};
    mcp_put_run_uri(&uri, name);
    buf_add_cstr(r->out, "{\"mimeType\":\"text/plain\"");
    put_member(r, "uri", buf_str(&uri));
    put_member(r, "name", name);
    put_member(r, "description", about);
    buf_add_byte(r->out, '}');
    if (!buf_ok(&uri)) r->out->failed = true;
    buf_fini(&uri);
}

/* The place in the list that a cursor names: we made it, so it is a number. */
static bool read_cursor(const request *r, uint32_t *first) {
    int64_t at = 0;
    str cursor = json_text(json_member(r->params, STR("cursor")));
    if (cursor.n && (!str_to_i64(cursor, &at) || at < 0 || at > UINT32_MAX)) return false;
    *first = (uint32_t)at;
    return true;
}

/* Runs come and go, so the list is not kept for long. */
static void put_resources(request *r, uint32_t first, const mcp_runs *page) {
    begin_result(r);
    buf_add_cstr(r->out, ",\"ttlMs\":2000,\"cacheScope\":\"private\",\"resources\":[");
    if (first == 0) put_guide(r);
    for (uint32_t i = 0; i < page->n; i++) {
        if (i || first == 0) buf_add_byte(r->out, ',');
        put_run(r, page->runs[i].name, page->runs[i].about);
    }
    buf_add_byte(r->out, ']');
    if (first + page->n < page->total)
        buf_printf(r->out, ",\"nextCursor\":\"%u\"", first + page->n);
    end_result(r);
}

static void answer_resources(request *r) {
    error err = {0};
    mcp_runs page = {0};
    uint32_t first = 0;
    if (!read_cursor(r, &first)) {
        put_error(r->out, r->id, RPC_BAD_ARGUMENTS, say(r, MSG_MCP_NO_RESOURCE));
        return;
    }
    status s = r->host->runs ? r->host->runs(r->host->of, first, r->arena, &page, &err) : OK;
    if (s == ERR_MEMORY) r->out->failed = true;
    if (s != OK) page = (mcp_runs){0}; /* a folder without runs */
    put_resources(r, first, &page);
}

static void answer_templates(request *r) {
    begin_result(r);
    buf_add_cstr(r->out, KEPT ",\"resourceTemplates\":[{\"uriTemplate\":\"" MCP_RUN_URI
                              "{run}/{analysis}\",\"mimeType\":\"text/plain\"");
    put_member(r, "name", str_of(say(r, MSG_RESOURCE_ANALYSIS_NAME)));
    put_member(r, "description", str_of(say(r, MSG_RESOURCE_ANALYSIS)));
    buf_add_cstr(r->out, "}]");
    end_result(r);
}

static void put_contents(request *r, str uri, str text) {
    begin_result(r);
    buf_add_cstr(r->out, ",\"contents\":[{\"mimeType\":\"text/plain\"");
    put_member(r, "uri", uri);
    put_member(r, "text", text);
    buf_add_cstr(r->out, "}]");
    end_result(r);
}

static void answer_run(request *r, str uri) {
    error err = {0};
    mcp_call call;
    mcp_result made = {0};
    status s = mcp_read_uri(uri, r->arena, &call, &err);
    if (s == OK) s = run_call(r, &call, &made, &err);
    if (s == OK)
        put_contents(r, uri, buf_str(&made.text));
    else
        refuse_arguments(r, &err);
    end_call(&made);
}

static void answer_read(request *r) {
    str uri = read_argument(r, r->params, "uri");
    if (str_starts(uri, STR(MCP_RUN_URI)))
        answer_run(r, uri);
    else if (str_eq(uri, STR(GUIDE)))
        put_contents(r, uri, str_of(say(r, MSG_MCP_GUIDE)));
    else
        put_error(r->out, r->id, RPC_BAD_ARGUMENTS, say(r, MSG_MCP_NO_RESOURCE));
}

/* ---- prompts ----------------------------------------------------------------------------- */

/* The prompts: a name, its arguments, what it is for and what it says. */
static const struct {
    const char *name;
    const char *arguments[2];
    uint16_t help, text;
} PROMPTS[] = {
    {"find_the_cause", {"trace"}, MSG_MCP_PROMPT_CAUSE, MSG_MCP_PROMPT_CAUSE_TEXT},
    {"compare_two_runs",
     {"base", "candidate"},
     MSG_MCP_PROMPT_COMPARE,
     MSG_MCP_PROMPT_COMPARE_TEXT},
};

static void answer_prompts(request *r) {
    begin_result(r);
    buf_add_cstr(r->out, KEPT ",\"prompts\":[");
    for (size_t i = 0; i < N_OF(PROMPTS); i++) {
        buf_printf(r->out, "%s{\"name\":\"%s\"", i ? "," : "", PROMPTS[i].name);
        put_member(r, "description", str_of(say(r, PROMPTS[i].help)));
        buf_add_cstr(r->out, ",\"arguments\":[");
        for (uint32_t k = 0; k < 2 && PROMPTS[i].arguments[k]; k++)
            buf_printf(r->out, "%s{\"name\":\"%s\",\"required\":true}", k ? "," : "",
                       PROMPTS[i].arguments[k]);
        buf_add_cstr(r->out, "]}");
    }
    buf_add_byte(r->out, ']');
    end_result(r);
}

static void put_prompt(request *r, size_t i, const arg *values, uint32_t n) {
    buf text = {0};
    text_format(&text, r->host->words, PROMPTS[i].text, values, n);
    begin_result(r);
    put_member(r, "description", str_of(say(r, PROMPTS[i].help)));
    buf_add_cstr(r->out, ",\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\"");
    put_member(r, "text", buf_str(&text));
    buf_add_cstr(r->out, "}}]");
    end_result(r);
    if (!buf_ok(&text)) r->out->failed = true;
    buf_fini(&text);
}

static void answer_prompt(request *r) {
    str name = json_text(json_member(r->params, STR("name")));
    str given = json_member(r->params, STR("arguments"));
    arg values[2];
    for (size_t i = 0; i < N_OF(PROMPTS); i++) {
        uint32_t n = 0;
        if (!str_eq(name, str_of(PROMPTS[i].name))) continue;
        for (; n < 2 && PROMPTS[i].arguments[n]; n++) {
            const char *argument = PROMPTS[i].arguments[n];
            str value = read_argument(r, given, argument);
            if (!value.n) {
                put_error(r->out, r->id, RPC_BAD_ARGUMENTS, say(r, MSG_MCP_PROMPT_LACKS));
                return;
            }
            values[n] = arg_text(argument, value);
        }
        put_prompt(r, i, values, n);
        return;
    }
    put_error(r->out, r->id, RPC_BAD_ARGUMENTS, say(r, MSG_MCP_NO_PROMPT));
}

static const struct {
    const char *name;
    void (*answer)(request *r);
} METHODS[] = {
    {"initialize", answer_initialize},
    {"server/discover", answer_discover},
    {"ping", answer_ping},
    {"tools/list", answer_tools},
    {"tools/call", answer_call},
    {"resources/list", answer_resources},
    {"resources/templates/list", answer_templates},
    {"resources/read", answer_read},
    {"prompts/list", answer_prompts},
    {"prompts/get", answer_prompt},
};

/* ---- a line ------------------------------------------------------------------------------ */

/* A request names its revision since 2026-07-28; false when it is one that is not spoken, which
 * is answered here. */
static bool is_spoken(request *r) {
    str meta = json_member(r->params, STR("_meta"));
    str asked = json_member(meta, STR("io.modelcontextprotocol/protocolVersion"));
    if (!asked.n || str_eq(asked, STR("\"" NEWEST "\""))) return true;
    buf_add_cstr(r->out, "{\"jsonrpc\":\"2.0\",\"id\":");
    buf_add_str(r->out, r->id);
    buf_printf(r->out, ",\"error\":{\"code\":%d,\"message\":", RPC_NO_SUCH_REVISION);
    buf_add_json(r->out, str_of(say(r, MSG_MCP_NO_REVISION)));
    buf_add_cstr(r->out, ",\"data\":{\"supported\":[\"" NEWEST "\"],\"requested\":");
    buf_add_json(r->out, json_text(asked));
    buf_add_cstr(r->out, "}}}\n");
    return false;
}

/* One JSON object and nothing else. */
static bool is_object(str line) {
    const char *end =
        line.n && line.p[0] == '{' ? json_value_end(line.p, line.p + line.n) : NULL;
    return end && json_space(end, line.p + line.n) == line.p + line.n;
}

/* An id is a text or a number; it is sent back as valid JSON, whatever it was written like. */
static str read_id(str object, arena *a) {
    buf made = {0};
    str raw = json_member(object, STR("id")), id = STR_NONE;
    bool fits = raw.n && raw.n <= 256 &&
                (raw.p[0] == '"' || raw.p[0] == '-' || (raw.p[0] >= '0' && raw.p[0] <= '9'));
    if (fits && json_normal(raw, &made) == 0 && buf_ok(&made))
        id = arena_str(a, buf_str(&made));
    buf_fini(&made);
    return id;
}

void mcp_answer(const mcp_host *h, arena *a, str line, buf *out) {
    request r = {.host = h, .arena = a, .out = out};
    line = str_trim(line);
    if (!line.n) return;
    if (!is_object(line)) {
        bool is_list = line.p[0] == '[';
        put_error(out, STR_NONE, is_list ? RPC_NOT_A_REQUEST : RPC_NOT_JSON,
                  text_get(is_list ? MSG_MCP_NO_BATCH : MSG_MCP_NOT_JSON, h->words));
        return;
    }
    str method = json_text(json_member(line, STR("method")));
    if (!json_member(line, STR("id")).p) return; /* a notification: nothing here needs one */
    r.id = read_id(line, a);
    if (!method.n && json_member(line, STR("result")).p)
        return; /* a response to a request we
                                                                    never sent */
    if (!method.n || !r.id.n) {
        put_error(out, r.id, RPC_NOT_A_REQUEST, text_get(MSG_MCP_NOT_A_REQUEST, h->words));
        return;
    }
    r.params = json_member(line, STR("params"));
    if (!is_spoken(&r)) return;
    for (size_t i = 0; i < N_OF(METHODS); i++) {
        if (!str_eq(method, str_of(METHODS[i].name))) continue;
        METHODS[i].answer(&r);
        return;
    }
    put_error(out, r.id, RPC_NO_METHOD, text_get(MSG_MCP_NO_METHOD, h->words));
}

void mcp_answer_too_long(buf *out) {
    put_error(out, STR_NONE, RPC_NOT_A_REQUEST, text_get(MSG_MCP_TOO_LONG, LANG_EN));
}
