/* mcp.h: the Model Context Protocol: what a line of a client is answered with.
 *
 * JSON-RPC 2.0, one message a line. Clients of the revisions from 2024-11-05 to 2025-11-25
 * begin with `initialize`; since 2026-07-28 there is no beginning, each request says its
 * revision, and `server/discover` lists what is available. Nothing is kept between two lines,
 * so both kinds are answered by the same functions.
 *
 * Here is the protocol alone: tools are run by a host, which knows how traces are opened. */
#ifndef MCP_MCP_H
#define MCP_MCP_H

#include "base/arena.h"
#include "text/text.h"

enum {
    MCP_MAX_ARGUMENTS = 64,
    MCP_MAX_LINE_BYTES = 1 << 20,    /* of a client's message */
    MCP_MAX_ANSWER_BYTES = 48 << 10, /* of a tool's text, and of its JSON */
    MCP_MAX_PICTURE_BYTES = 64 << 10,
    MCP_PAGE = 50 /* runs of one answer */
};

/* What a client asks of a tool: an analysis, the traces, and arguments as the command line has
 * them. A flag that is set has no value (p is NULL). */
typedef struct {
    const char *analysis;
    uint32_t n_traces, n_arguments;
    str traces[2];
    str sql;      /* of the tool `query` */
    bool picture; /* of the timeline, not an analysis */
    struct {
        str name, value;
    } arguments[MCP_MAX_ARGUMENTS];
} mcp_call;

/* The answer of a tool: text for a model, one JSON object for programs; an SVG file, or
 * nothing. */
typedef struct {
    buf text, json, picture;
} mcp_result;

/* Some of the runs below the folder that is served; texts are valid until the arena is
 * reset. */
typedef struct {
    uint32_t n, total;
    struct {
        str name, about;
    } runs[MCP_PAGE];
} mcp_runs;

typedef struct {
    lang words;
    /* Appends the answer. An error is reported to the client. */
    status (*run)(void *of, const mcp_call *call, mcp_result *out, error *err);
    /* The runs from the first-th on, as many as fit. NULL: no folder is served. */
    status (*runs)(void *of, uint32_t first, arena *a, mcp_runs *out, error *err);
    void *of;
} mcp_host;

/* Appends the line that answers this one, with its line break; nothing where no answer is due
 * (a notification). */
void mcp_answer(const mcp_host *h, arena *a, str line, buf *out);
/* The answer to a line that was longer than MCP_MAX_LINE_BYTES. */
void mcp_answer_too_long(buf *out);

#endif
