/* recording_stacks.c: stacks of Python, as the recorder read them from the interpreter, and the
 * source files that they name.
 *
 * A frame is called FILE(LINE): FUNCTION, with the line that was running. */
#include "base/buf.h"
#include "base/num.h"
#include "base/sort.h"
#include "ingest/recording/recording_int.h"

enum { LONGEST_FILE = 4096, LONGEST_FUNCTION = 512, DEEPEST = 4096, CHECK_EVERY = 1024 };

/* The place of an id in `rows`, which may have any number: a new one is cleared. */
static void *row_of(vec *rows, map *index, uint64_t id) {
    uint32_t *at = map_at(index, id);
    if (!at) return NULL;
    if (*at != MAP_NONE) return (char *)rows->p + rows->elem_bytes * *at;
    void *row = vec_push(rows);
    if (row) memset(row, 0, rows->elem_bytes);
    *at = row ? (uint32_t)rows->n - 1 : 0;
    return row;
}

static str text_at(const uint8_t *p, size_t n) {
    return str_n((const char *)p, strnlen((const char *)p, n));
}

status recording_take_code(recording *r, const uint8_t *p, size_t n, error *err) {
    uint64_t fixed[2];
    if (n < sizeof fixed) return OK;
    memcpy(fixed, p, sizeof fixed);
    str file = text_at(p + sizeof fixed, n - sizeof fixed);
    if (fixed[0] == 0 || fixed[0] > UINT32_MAX || file.n + sizeof fixed >= n) return OK;
    str name = text_at(p + sizeof fixed + file.n + 1, n - sizeof fixed - file.n - 1);
    if (file.n > LONGEST_FILE) file.n = LONGEST_FILE; /* each stack has them in its name */
    if (name.n > LONGEST_FUNCTION) name.n = LONGEST_FUNCTION;
    recording_code *row = row_of(&r->codes, &r->code_of, fixed[0]);
    recording_code code = {.file = recording_string(r, file),
                           .name = recording_string(r, name)};
    if (!row || code.file == UINT32_MAX || code.name == UINT32_MAX) FAIL_MEMORY(err);
    *row = code;
    return OK;
}

status recording_take_stack(recording *r, const uint8_t *p, size_t n, error *err) {
    uint32_t fixed[4];
    if (n < sizeof fixed) return OK;
    memcpy(fixed, p, sizeof fixed);
    if (fixed[0] == 0 || fixed[1] >= fixed[0]) return OK;
    recording_stack *row = row_of(&r->stacks, &r->stack_of, fixed[0]);
    if (!row) FAIL_MEMORY(err);
    *row = (recording_stack){
        .id = fixed[0], .caller = fixed[1], .code = fixed[2], .line = fixed[3]};
    return OK;
}

static const recording_stack *find_stack(const recording *r, uint32_t id) {
    uint32_t at = id ? map_get(&r->stack_of, id) : MAP_NONE;
    return at == MAP_NONE ? NULL : &VEC(&r->stacks, recording_stack)[at];
}

static status make_frame(recording *r, recording_stack *s, buf *text, error *err) {
    uint32_t at = map_get(&r->code_of, s->code);
    const recording_stack *caller = find_stack(r, s->caller);
    s->depth = caller ? caller->depth + 1 : 1;
    if (at == MAP_NONE || s->depth > DEEPEST) return OK;
    recording_code code = VEC(&r->codes, recording_code)[at];
    if (!code.file) return OK;
    buf_clear(text);
    buf_add_str(text, intern_get(builder_strings(r->b), code.file));
    buf_printf(text, "(%u): ", s->line);
    buf_add_str(text, intern_get(builder_strings(r->b), code.name));
    uint32_t name = buf_ok(text) ? recording_string(r, buf_str(text)) : UINT32_MAX;
    if (name != UINT32_MAX) s->frame = builder_frame(r->b, caller ? caller->frame : 0, name);
    if (name == UINT32_MAX || s->frame == UINT32_MAX) FAIL_MEMORY(err);
    return OK;
}

static int compare_stacks(uint32_t a, uint32_t b, const void *context) {
    const recording_stack *s = context;
    return s[a].id < s[b].id ? -1 : s[a].id > s[b].id;
}

/* A caller has a smaller number, so one pass in order is enough. */
status recording_finish_stacks(recording *r, error *err) {
    buf text = {0};
    vec order = VEC_INIT(uint32_t);
    size_t n = r->stacks.n;
    status st = vec_reserve(&order, 2 * n + 1);
    if (st != OK) st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    uint32_t *o = VEC(&order, uint32_t);
    for (size_t i = 0; i < n && st == OK; i++) o[i] = (uint32_t)i;
    if (st == OK) sort_index(o, o + n, n, compare_stacks, r->stacks.p);
    for (size_t i = 0; i < n && st == OK; i++) {
        st = make_frame(r, &VEC(&r->stacks, recording_stack)[o[i]], &text, err);
        if (st == OK && i % CHECK_EVERY == 0) st = recording_check_memory(r, err);
    }
    vec_fini(&order);
    buf_fini(&text);
    return st;
}

uint32_t recording_frame(const recording *r, uint32_t stack) {
    const recording_stack *s = find_stack(r, stack);
    return s ? s->frame : 0;
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
    if (vec_reserve(&r->source, sat_size(fixed.n)) != OK) FAIL_MEMORY(err);
    memcpy((char *)r->source.p + r->source.n, path.p + path.n + 1, sat_size(fixed.n));
    r->source.n += fixed.n;
    if (r->source.n < fixed.size) return OK;
    row_source row = {.file = recording_string(r, path),
                      .text = recording_string(r, str_n(r->source.p, r->source.n)),
                      .changed = fixed.changed};
    if (row.file == UINT32_MAX || row.text == UINT32_MAX) FAIL_MEMORY(err);
    return builder_put_source(r->b, &row, err);
}
