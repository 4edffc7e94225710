/* call_rows.c: the functions that are open on a thread, as slices. A slice is written when its
 * function returns; its number tells the outer from the inner of two that take the same time.
 */
#include "ingest/profiles/call_rows.h"

#include "base/num.h"

typedef struct {
    uint32_t name, number;
    int64_t start;
} open_call;

call_rows call_rows_begin(part *p, uint32_t track, slice_kind kind) {
    return (call_rows){
        .part = p, .track = track, .kind = (uint8_t)kind, .open = VEC_INIT(open_call)};
}

void call_rows_end(call_rows *c) {
    vec_fini(&c->open);
    map_fini(&c->n_open);
}

/* How often the name is open; NULL: no memory. */
static uint32_t *times_open(call_rows *c, uint32_t name) {
    uint32_t *n = map_at(&c->n_open, name);
    c->failed |= !n;
    if (n && *n == MAP_NONE) *n = 0;
    return n;
}

void call_rows_open(call_rows *c, uint32_t name, int64_t at) {
    uint32_t *n = times_open(c, name);
    open_call *to = n ? vec_push(&c->open) : NULL;
    c->failed |= !to;
    if (!to) return;
    *to = (open_call){name, ++c->n_calls, at};
    ++*n;
}

void call_rows_close(call_rows *c, size_t depth, int64_t at) {
    while (c->open.n > depth) {
        const open_call *call = &VEC(&c->open, open_call)[--c->open.n];
        raw_slice s = {.start = call->start,
                       .dur = max_i64(0, sub_i64(at, call->start)),
                       .name = call->name,
                       .track = c->track,
                       .tie = call->number,
                       .kind = c->kind};
        c->failed |= part_slice(c->part, &s) != OK;
        uint32_t *n = times_open(c, call->name);
        if (n) --*n;
    }
}

size_t call_rows_find(const call_rows *c, uint32_t name) {
    uint32_t n = map_get(&c->n_open, name);
    if (n == MAP_NONE || n == 0) return SIZE_MAX;
    for (size_t i = c->open.n; i > 0; i--)
        if (VEC(&c->open, open_call)[i - 1].name == name) return i - 1;
    return SIZE_MAX;
}

void call_rows_lines(call_rows *c, uint32_t frame, int64_t at, int64_t dur) {
    raw_sample row = {
        .time = at, .dur = dur, .track = c->track, .frame = frame, .state = SAMPLE_UNKNOWN};
    c->failed |= frame == UINT32_MAX;
    if (frame && frame != UINT32_MAX) c->failed |= part_sample(c->part, &row) != OK;
}

void call_rows_sample(call_rows *c, const uint32_t *names, size_t n, int64_t at) {
    size_t same = 0;
    while (same < n && same < c->open.n && VEC(&c->open, open_call)[same].name == names[same])
        same++;
    call_rows_close(c, same, at);
    for (size_t i = same; i < n; i++) call_rows_open(c, names[i], at);
}
