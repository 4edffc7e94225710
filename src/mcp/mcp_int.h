/* mcp_int.h: the tools, for the files of this folder. */
#ifndef MCP_MCP_INT_H
#define MCP_MCP_INT_H

#include "mcp/mcp.h"

typedef struct {
    const char *name, *analysis;
    uint32_t n_traces;
    uint16_t help;
} mcp_tool;

/* NULL when there is none. */
const mcp_tool *mcp_tool_find(str name);
/* ERR_ARG: no such tool, with the one that was likely meant. */
status mcp_tool_unknown(str name, error *err);
/* Appends the array of all tools with the schema of their arguments. */
void mcp_put_tools(buf *out, lang words);
/* The arguments of a call, from the raw JSON object; texts are decoded into the arena. ERR_ARG
 * with a sentence that a model can act on. */
status mcp_read_call(const mcp_tool *t, str arguments, arena *a, mcp_call *out,
                     error *err) MUST_USE;

/* ---- runs as resources: tacho://run/NAME, tacho://run/NAME/ANALYSIS; percent-encoded */

#define MCP_RUN_URI "tacho://run/"

void mcp_put_run_uri(buf *out, str run);
/* What reading it asks: the analysis of a tool, without one the overview. ERR_ARG when it is
 * not such a URI. */
status mcp_read_uri(str uri, arena *a, mcp_call *out, error *err) MUST_USE;

#endif
