/* execution_trace.c: an execution trace made by an enemy. Small pieces find what one piece does, and every text that
 * is made of it is one that the store takes. */
#include "ingest/pytorch/execution_trace.h"
#include "fuzz/fuzz_trace.h"

static execution_counts read_nodes(str text, size_t piece_bytes, bool ask) {
    ingest_options o = {.piece_bytes = piece_bytes, .memory_limit_bytes = (uint64_t)64 << 20};
    source *s;
    execution_trace *et = NULL;
    builder *b = builder_new();
    CHECK(source_open_memory(text, &s, NULL) == OK);
    CHECK(execution_trace_read(s, &o, b, &et, NULL) == OK);
    source_close(s);
    for (int64_t id = 1; ask && id < 64; id++)
        for (uint32_t name = 0; name < intern_count(builder_strings(b)); name++) {
            const execution_node *n = execution_trace_find(et, id, name);
            if (!n) continue;
            CHECK(intern_get(builder_strings(b), n->shapes).n == 0 ||
                  *intern_get(builder_strings(b), n->shapes).p == '[');
            CHECK(!n->comm || execution_trace_comm(et, n));
        }
    execution_counts c = execution_trace_counts(et);
    CHECK(c.joined <= c.nodes);
    execution_trace_free(et);
    builder_free(b);
    return c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    str text = {(const char *)data, size};
    execution_counts one = read_nodes(text, 0, size < 4096),
                     many = read_nodes(text, 1 + size % 97, false);
    (void)execution_trace_head(text);
    CHECK(one.nodes == many.nodes && one.damaged == many.damaged);
    return 0;
}
