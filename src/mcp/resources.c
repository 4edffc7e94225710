/* resources.c: a run as an address: tacho://run/NAME for its overview,
 * tacho://run/NAME/ANALYSIS for what a tool says of it. A name may hold anything, a slash too,
 * so it is percent-encoded. */
#include <string.h>

#include "base/message_ids_columns.h"
#include "mcp/mcp_int.h"

static bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '-' || c == '_' || c == '.' || c == '~';
}

void mcp_put_run_uri(buf *out, str run) {
    buf_add_cstr(out, MCP_RUN_URI);
    for (size_t i = 0; i < run.n; i++) {
        if (is_plain(run.p[i]))
            buf_add_byte(out, run.p[i]);
        else
            buf_printf(out, "%%%02X", (unsigned)(uint8_t)run.p[i]);
    }
}

static int hex_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 32; /* to small letters */
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* False when it has an invalid escape, or an end of text inside. */
static bool decode(str s, buf *out) {
    for (size_t i = 0; i < s.n; i++) {
        int high, low;
        if (s.p[i] != '%') {
            buf_add_byte(out, s.p[i]);
            continue;
        }
        if (i + 2 >= s.n) return false;
        high = hex_of(s.p[i + 1]);
        low = hex_of(s.p[i + 2]);
        if (high < 0 || low < 0 || high + low == 0) return false;
        buf_add_byte(out, (char)(high * 16 + low));
        i += 2;
    }
    return out->n > 0;
}

static status read_run(str encoded, arena *a, str *out, error *err) {
    buf name = {0};
    bool is_name = decode(encoded, &name);
    *out = arena_str(a, buf_str(&name));
    bool ok = buf_ok(&name) && (!is_name || out->p);
    buf_fini(&name);
    if (!ok) FAIL_MEMORY(err);
    if (!is_name) FAIL0(err, ERR_ARG, NOPOS, MSG_MCP_NO_RESOURCE);
    return OK;
}

/* A tool that needs nothing but the run. */
static bool is_analysis(const mcp_tool *t) {
    return t && t->n_traces == 1 && strcmp(t->analysis, "query") != 0 &&
           strcmp(t->analysis, "export") != 0;
}

status mcp_read_uri(str uri, arena *a, mcp_call *out, error *err) {
    str rest = str_from(uri, strlen(MCP_RUN_URI));
    size_t slash = str_find(rest, STR("/"), 0);
    str run = slash == SIZE_MAX ? rest : str_n(rest.p, slash);
    str tool = slash == SIZE_MAX ? STR("overview") : str_from(rest, slash + 1);
    const mcp_tool *t = mcp_tool_find(tool);
    if (!is_analysis(t)) FAIL0(err, ERR_ARG, NOPOS, MSG_MCP_NO_RESOURCE);
    *out = (mcp_call){.analysis = t->analysis, .n_traces = 1, .n_arguments = 1};
    out->traces[0] = STR(".");
    out->arguments[0].name = STR("run");
    return read_run(run, a, &out->arguments[0].value, err);
}
