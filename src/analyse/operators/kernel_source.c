#include "analyse/operators/kernel_source.h"

#include "base/arena.h"

status kernel_sources_by_name(const trace *t, arena *a, const uint32_t **out, error *err) {
    *out = NULL;
    if (t->kernel_source.n <= 1) return OK;
    uint32_t *rows = ARENA_ARRAY(a, uint32_t, (size_t)t->n_strings + 1);
    if (!rows) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->kernel_source.n; i++)
        if (t->kernel_source.name[i] < t->n_strings) rows[t->kernel_source.name[i]] = i;
    *out = rows;
    return OK;
}

uint32_t kernel_source_of(const trace *t, uint32_t name) {
    for (uint32_t i = t->kernel_source.n; i-- > 1;)
        if (t->kernel_source.name[i] == name) return i;
    return 0;
}

str kernel_source_place(const trace *t, uint32_t row, arena *a) {
    str file = trace_str(t, t->kernel_source.file[row]);
    int32_t line = t->kernel_source.line[row];
    if (line == ABSENT_I32 || !file.n) return file;
    return arena_printf(a, "%.*s:%d", (int)file.n, file.p, line);
}
