/* tools.c: what an agent may ask: the schema of each tool, and the arguments of a call.
 *
 * A tool takes the traces, the terms of a question that make sense to a reader of text, and
 * every parameter of its analysis. Names are those of the other doors with _ instead of -. What
 * a value may be is checked by question/, when the host runs the call. */
#include <string.h>

#include "analyse/registry.h"
#include "base/json.h"
#include "base/message_ids_columns.h"
#include "base/nearest.h"
#include "mcp/mcp_int.h"

static const mcp_tool TOOLS[] = {
#define TOOL(name, analysis, traces, help) {#name, #analysis, traces, MSG_##help},
#include "mcp/tools.def"
};

/* The terms of a question that a tool takes. */
static const struct {
    const char *name;
    value_kind kind;
    uint16_t help;
} TERMS[] = {
#define ROW(field, name, kind, value, help, ...) {#field, VALUE_##kind, MSG_##help},
    TERM_run(ROW, ) TERM_worker(ROW, ) TERM_step(ROW, ) TERM_from(ROW, ) TERM_to(ROW, )
        TERM_table(ROW, ) TERM_search(ROW, ) TERM_filter(ROW, ) TERM_sort(ROW, )
            TERM_limit(ROW, ) TERM_offset(ROW, )
#undef ROW
};

/* run, worker, step, from, to: those before the ones about tables. */
enum { N_WITHOUT_TABLES = 5 };

static const char *const TRACES[2][2] = {{"trace", ""}, {"base", "candidate"}};

const mcp_tool *mcp_tool_find(str name) {
    for (size_t i = 0; i < N_OF(TOOLS); i++)
        if (str_eq(name, str_of(TOOLS[i].name))) return &TOOLS[i];
    return NULL;
}

status mcp_tool_unknown(str name, error *err) {
    name_hint hint = hint_for(name);
    for (size_t i = 0; i < N_OF(TOOLS); i++) hint_offer(&hint, str_of(TOOLS[i].name));
    FAIL(err, ERR_ARG, NOPOS, MSG_MCP_NO_TOOL, arg_text("name", name), hint_near(&hint));
}

static bool is_slice(const mcp_tool *t) {
    return strcmp(t->name, "slice") == 0;
}

static bool is_picture(const mcp_tool *t) {
    return strcmp(t->analysis, "export") == 0;
}

/* Which terms a tool takes: a picture has no tables. */
static bool takes_term(const mcp_tool *t, size_t i) {
    return !is_picture(t) || i < N_WITHOUT_TABLES;
}

static bool takes_sql(const mcp_tool *t) {
    return strcmp(t->analysis, "query") == 0 && !is_slice(t);
}

/* All about one event: itself, its arguments, the device work it is, launches or belongs to,
 * and what is inside it. */
#define SLICE_SQL                                                                          \
    "SELECT id AS slice, name, kind, process_name, track_name, start, dur, step, parent, " \
    "path(id) AS path, stack(id) AS stack FROM slice WHERE id = %1$lld;"                   \
    "SELECT key, value FROM arg WHERE slice = %1$lld;"                                     \
    "SELECT slice, name, kind, start, dur, launch, launch_name, op, op_name FROM kernel "  \
    "WHERE slice = %1$lld OR launch = %1$lld OR op = %1$lld ORDER BY start;"               \
    "SELECT id AS slice, name, kind, start, dur FROM slice WHERE parent = %1$lld "         \
    "ORDER BY dur DESC"

static const char *trace_argument(const mcp_tool *t, uint32_t i) {
    return TRACES[t->n_traces - 1][i];
}

/* ---- the schema -------------------------------------------------------------------------- */

static const char *schema_type(value_kind kind) {
    if (kind == VALUE_FLAG) return "boolean";
    return kind == VALUE_COUNT ? "integer" : "string";
}

static void put_help(buf *out, const char *words) {
    buf_add_cstr(out, ",\"description\":");
    buf_add_json(out, str_of(words));
    buf_add_byte(out, '}');
}

static void put_choices(buf *out, const char *list) {
    str rest = str_of(list);
    buf_add_cstr(out, ",\"enum\":[");
    for (bool first = true; rest.n; first = false) {
        if (!first) buf_add_byte(out, ',');
        buf_add_json(out, str_cut(&rest, STR("|")));
    }
    buf_add_byte(out, ']');
}

static void put_param(buf *out, const param_info *p, lang words) {
    buf_add_byte(out, ',');
    buf_add_json(out, str_of(p->name));
    if (p->kind == VALUE_TEXT) { /* may be given several times */
        buf_add_cstr(out, ":{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"items\":"
                          "{\"type\":\"string\"}}]");
    } else {
        buf_printf(out, ":{\"type\":\"%s\"", schema_type(p->kind));
        if (p->kind == VALUE_CHOICE) put_choices(out, p->values);
    }
    put_help(out, text_get(p->help, words));
}

static void put_schema(buf *out, const mcp_tool *t, lang words) {
    const param_info *p;
    buf_add_cstr(out, "{\"type\":\"object\",\"properties\":{");
    for (uint32_t i = 0; i < t->n_traces; i++) {
        buf_printf(out, "%s\"%s\":{\"type\":\"string\"", i ? "," : "", trace_argument(t, i));
        put_help(out, text_get(MSG_MCP_TRACE, words));
    }
    if (takes_sql(t)) {
        buf_add_cstr(out, ",\"sql\":{\"type\":\"string\"");
        put_help(out, text_get(MSG_MCP_SQL, words));
    }
    if (is_slice(t)) {
        buf_add_cstr(out, ",\"slice\":{\"type\":\"integer\"");
        put_help(out, text_get(MSG_MCP_SLICE, words));
    }
    if (is_picture(t)) {
        buf_add_cstr(out, ",\"width\":{\"type\":\"integer\"");
        put_help(out, text_get(MSG_PICTURE_WIDTH, words));
    }
    for (size_t i = 0; i < N_OF(TERMS) && takes_term(t, i); i++) {
        buf_printf(out, ",\"%s\":{\"type\":\"%s\"", TERMS[i].name, schema_type(TERMS[i].kind));
        put_help(out, text_get(TERMS[i].help, words));
    }
    for (uint32_t i = 0; (p = registry_param(t->analysis, i)) != NULL; i++)
        put_param(out, p, words);
    buf_add_cstr(out, "},\"required\":[");
    for (uint32_t i = 0; i < t->n_traces; i++)
        buf_printf(out, "%s\"%s\"", i ? "," : "", trace_argument(t, i));
    if (takes_sql(t)) buf_add_cstr(out, ",\"sql\"");
    if (is_slice(t)) buf_add_cstr(out, ",\"slice\"");
    buf_add_cstr(out, "],\"additionalProperties\":false}");
}

void mcp_put_tools(buf *out, lang words) {
    buf_add_byte(out, '[');
    for (size_t i = 0; i < N_OF(TOOLS); i++) {
        buf_printf(out, "%s{\"name\":\"%s\",\"description\":", i ? "," : "", TOOLS[i].name);
        buf_add_json(out, str_of(text_get(TOOLS[i].help, words)));
        buf_add_cstr(out, ",\"inputSchema\":");
        put_schema(out, &TOOLS[i], words);
        buf_add_cstr(
            out, ",\"outputSchema\":{\"type\":\"object\"},\"annotations\":"
                 "{\"readOnlyHint\":true,\"idempotentHint\":true,\"openWorldHint\":false}}");
    }
    buf_add_byte(out, ']');
}

/* ---- the arguments of a call ------------------------------------------------------------- */

static status fail_argument(uint16_t message, str name, error *err) {
    FAIL(err, ERR_ARG, NOPOS, message, arg_text("name", name));
}

static status fail_unknown(const mcp_tool *t, str name, error *err) {
    name_hint hint = hint_for(name);
    const param_info *p;
    for (uint32_t i = 0; i < t->n_traces; i++) hint_offer(&hint, str_of(trace_argument(t, i)));
    for (uint32_t i = 0; (p = registry_param(t->analysis, i)) != NULL; i++)
        hint_offer(&hint, str_of(p->name));
    for (size_t i = 0; i < N_OF(TERMS) && takes_term(t, i); i++)
        hint_offer(&hint, str_of(TERMS[i].name));
    FAIL(err, ERR_ARG, NOPOS, MSG_MCP_UNKNOWN_ARGUMENT, arg_text("name", name),
         HINT_ARGS(&hint));
}

/* A JSON string, number or name of a value as a text that ends with 0. */
static status read_text(str name, str raw, arena *a, str *out, error *err) {
    buf text = {0};
    if (!raw.n || raw.p[0] == '{' || raw.p[0] == '[')
        return fail_argument(MSG_MCP_BAD_VALUE, name, err);
    (void)json_decode(json_text(raw), &text);
    bool has_end = text.n && memchr(text.p, 0, text.n) != NULL;
    *out = arena_str(a, buf_str(&text));
    bool ok = buf_ok(&text) && out->p;
    buf_fini(&text);
    if (!ok) FAIL_MEMORY(err);
    return has_end ? fail_argument(MSG_MCP_BAD_VALUE, name, err) : OK;
}

static bool find_kind(const mcp_tool *t, str name, value_kind *kind) {
    const param_info *p = registry_find_param(t->analysis, name);
    if (p) *kind = p->kind;
    if (is_picture(t) && str_eq(name, STR("width"))) {
        *kind = VALUE_COUNT;
        return true;
    }
    for (size_t i = 0; !p && i < N_OF(TERMS) && takes_term(t, i); i++) {
        if (!str_eq(name, str_of(TERMS[i].name))) continue;
        *kind = TERMS[i].kind;
        return true;
    }
    return p != NULL;
}

static status add_value(mcp_call *c, str name, str raw, arena *a, error *err) {
    str value;
    if (c->n_arguments == MCP_MAX_ARGUMENTS) return fail_argument(MSG_MCP_TOO_MANY, name, err);
    TRY(read_text(name, raw, a, &value, err));
    c->arguments[c->n_arguments].name = name;
    c->arguments[c->n_arguments++].value = value;
    return OK;
}

static status add_flag(mcp_call *c, str name, str raw, error *err) {
    if (str_eq(raw, STR("false"))) return OK;
    if (!str_eq(raw, STR("true"))) return fail_argument(MSG_MCP_BAD_VALUE, name, err);
    if (c->n_arguments == MCP_MAX_ARGUMENTS) return fail_argument(MSG_MCP_TOO_MANY, name, err);
    c->arguments[c->n_arguments].name = name;
    c->arguments[c->n_arguments++].value = STR_NONE;
    return OK;
}

/* The number of an event as the SQL about it. */
static status read_slice(str name, str raw, arena *a, str *sql, error *err) {
    int64_t id;
    if (!json_i64(raw, &id) || id < 1) return fail_argument(MSG_MCP_BAD_VALUE, name, err);
    *sql = arena_printf(a, SLICE_SQL, (long long)id);
    if (!sql->p) FAIL_MEMORY(err);
    return OK;
}

static status add_argument(const mcp_tool *t, mcp_call *c, str name, str raw, arena *a,
                           error *err) {
    value_kind kind = VALUE_TEXT;
    str ignored, one;
    for (uint32_t i = 0; i < t->n_traces; i++)
        if (str_eq(name, str_of(trace_argument(t, i))))
            return read_text(name, raw, a, &c->traces[i], err);
    if (takes_sql(t) && str_eq(name, STR("sql"))) return read_text(name, raw, a, &c->sql, err);
    if (is_slice(t) && str_eq(name, STR("slice")))
        return read_slice(name, raw, a, &c->sql, err);
    if (!find_kind(t, name, &kind)) return fail_unknown(t, name, err);
    if (kind == VALUE_FLAG) return add_flag(c, name, raw, err);
    if (raw.n && raw.p[0] == '[' && kind == VALUE_TEXT) {
        for (json_iter it = json_open(raw); json_next(&it, &ignored, &one);)
            TRY(add_value(c, name, one, a, err));
        return OK;
    }
    return add_value(c, name, raw, a, err);
}

status mcp_read_call(const mcp_tool *t, str arguments, arena *a, mcp_call *out, error *err) {
    str key, raw;
    *out =
        (mcp_call){.analysis = t->analysis, .n_traces = t->n_traces, .picture = is_picture(t)};
    for (json_iter it = json_open(arguments); json_next(&it, &key, &raw);) {
        str name = arena_str(a, key);
        if (!name.p) FAIL_MEMORY(err);
        if (!str_eq(raw, STR("null"))) TRY(add_argument(t, out, name, raw, a, err));
    }
    for (uint32_t i = 0; i < t->n_traces; i++)
        if (!out->traces[i].p)
            return fail_argument(MSG_MCP_NO_TRACE, str_of(trace_argument(t, i)), err);
    if (takes_sql(t) && !out->sql.n) return fail_argument(MSG_MCP_NO_SQL, STR("sql"), err);
    if (is_slice(t) && !out->sql.n) return fail_argument(MSG_MCP_NO_SLICE, STR("slice"), err);
    return OK;
}
