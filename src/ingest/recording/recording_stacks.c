/* recording_stacks.c: stacks of Python, as the recorder read them from the interpreter, and the
 * source files that they name.
 *
 * A frame is called FILE(LINE): FUNCTION, with the line that was running. */
#include "base/buf.h"
#include "base/num.h"
#include "ingest/recording/recording_int.h"

enum { MOST_ROWS = 1 << 24, DEEPEST = 4096 };

status recording_take_code(recording *r, const uint8_t *p, size_t n, error *err) {
    uint64_t fixed[2];
    if (n < sizeof fixed) return OK;
    memcpy(fixed, p, sizeof fixed);
    str file = str_n((const char *)p + sizeof fixed,
                     strnlen((const char *)p + sizeof fixed, n - sizeof fixed));
    if (fixed[0] == 0 || fixed[0] >= MOST_ROWS || file.n + sizeof fixed >= n) return OK;
    const char *name = file.p + file.n + 1;
    size_t most = n - sizeof fixed - file.n - 1;
    recording_code *row = vec_at(&r->codes, fixed[0]);
    recording_code code = {.file = recording_string(r, file),
                           .name = recording_string(r, str_n(name, strnlen(name, most)))};
    if (!row || code.file == UINT32_MAX || code.name == UINT32_MAX) FAIL_MEMORY(err);
    *row = code;
    return OK;
}

status recording_take_stack(recording *r, const uint8_t *p, size_t n, error *err) {
    uint32_t fixed[4];
    if (n < sizeof fixed) return OK;
    memcpy(fixed, p, sizeof fixed);
    if (fixed[0] == 0 || fixed[0] >= MOST_ROWS || fixed[1] >= fixed[0]) return OK;
    recording_stack *row = vec_at(&r->stacks, fixed[0]);
    if (!row) FAIL_MEMORY(err);
    *row = (recording_stack){.caller = fixed[1], .code = fixed[2], .line = fixed[3]};
    return OK;
}

/* A caller has a smaller number, so one pass is enough. */
status recording_finish_stacks(recording *r, error *err) {
    buf text = {0};
    recording_stack *s = VEC(&r->stacks, recording_stack);
    bool failed = false;
    for (uint32_t i = 1; i < r->stacks.n && !failed; i++) {
        if (s[i].code == 0 || s[i].code >= r->codes.n) continue;
        recording_code code = VEC(&r->codes, recording_code)[s[i].code];
        if (!code.file) continue;
        buf_clear(&text);
        buf_add_str(&text, intern_get(builder_strings(r->b), code.file));
        buf_printf(&text, "(%u): ", s[i].line);
        buf_add_str(&text, intern_get(builder_strings(r->b), code.name));
        uint32_t name = buf_ok(&text) ? recording_string(r, buf_str(&text)) : UINT32_MAX;
        if (name != UINT32_MAX) s[i].frame = builder_frame(r->b, s[s[i].caller].frame, name);
        failed = name == UINT32_MAX || s[i].frame == UINT32_MAX;
    }
    buf_fini(&text);
    if (failed) FAIL_MEMORY(err);
    return OK;
}

uint32_t recording_frame(const recording *r, uint32_t stack) {
    return stack < r->stacks.n ? VEC(&r->stacks, recording_stack)[stack].frame : 0;
}

status recording_take_source(recording *r, const uint8_t *p, size_t n, error *err) {
    enum { MOST_BYTES = 4 << 20 };
    struct {
        uint64_t size, at, n;
        int64_t changed;
    } fixed;
    if (n < sizeof fixed) return OK;
    memcpy(&fixed, p, sizeof fixed);
    const char *text = (const char *)p + sizeof fixed;
    str path = str_n(text, strnlen(text, n - sizeof fixed));
    size_t there = n - sizeof fixed - path.n;
    if (fixed.size > MOST_BYTES || fixed.n >= there || !path.n) return OK;
    if (fixed.at == 0) r->source.n = 0;
    if (fixed.at != r->source.n || fixed.n > fixed.size - fixed.at) return OK; /* one is lost */
    if (vec_reserve(&r->source, fixed.n) != OK) FAIL_MEMORY(err);
    memcpy((char *)r->source.p + r->source.n, path.p + path.n + 1, fixed.n);
    r->source.n += fixed.n;
    if (r->source.n < fixed.size) return OK;
    row_source row = {.file = recording_string(r, path),
                      .text = recording_string(r, str_n(r->source.p, r->source.n)),
                      .changed = fixed.changed};
    if (row.file == UINT32_MAX || row.text == UINT32_MAX) FAIL_MEMORY(err);
    return builder_put_source(r->b, &row, err);
}
