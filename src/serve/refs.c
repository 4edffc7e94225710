/* refs.c: what several answers of the timeline share: refs to slices, the lanes asked for. */
#include "serve/refs.h"

#include "analyse/kind_names.h"
#include "analyse/timeline/lanes.h"

void ref_members(const request_ctx *x, buf *b, uint32_t slice) {
    const lod *l = request_lod(x);
    const trace *t = l->t;
    uint32_t lane = 0, row = 0, place;
    (void)lod_find(l, slice, &lane, &row, &place);
    put_int(b, "id", slice);
    put_text(b, "name", trace_slice_name(t, slice));
    put_text(b, "kind", kind_name(t->slice.kind[slice]));
    put_int(b, "start", ref_offset(x, t->slice.start[slice]));
    put_int(b, "duration", t->slice.dur[slice]);
    put_int(b, "track", trace_track_of(t, slice));
    put_int(b, "lane", lane);
    put_int(b, "row", row);
}

void ref_put(const request_ctx *x, buf *b, uint32_t slice) {
    put_comma(b);
    buf_add_byte(b, '{');
    ref_members(x, b, slice);
    buf_add_byte(b, '}');
}

void ref_put_key(const request_ctx *x, buf *b, const char *key, uint32_t slice) {
    if (!slice) return;
    put_key(b, key);
    buf_add_byte(b, '{');
    ref_members(x, b, slice);
    buf_add_byte(b, '}');
}

typedef struct {
    uint8_t *bytes;
    uint32_t end;
} refs_ctx;

static bool mark(void *context, uint32_t first, uint32_t last, uint32_t coarser) {
    const refs_ctx *m = context;
    (void)coarser;
    if (first == 0 || last >= m->end) return false;
    memset(m->bytes + first, 1, last - first + 1);
    return true;
}

status lanes_wanted(request_ctx *x, const uint8_t **out, error *err) {
    refs_ctx m = {.end = lane_id_end(request_lod(x))};
    *out = NULL;
    if (x->request.lanes.n == 0) return OK;
    m.bytes = ARENA_ARRAY(&x->arena, uint8_t, m.end);
    if (!m.bytes) FAIL_MEMORY(err);
    TRY(request_lanes(x->request.lanes, mark, &m, err));
    *out = m.bytes;
    return OK;
}
