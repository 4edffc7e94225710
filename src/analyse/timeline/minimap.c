/* minimap.c: shares of time for each pixel of a strip.
 *
 * Devices, data loading and the host come from the covers of the level-of-detail index. Which
 * device work is communication only names and arguments tell, so that row adds up the pieces
 * themselves, pixel by pixel; where two of them overlap it is cut at the whole pixel. */
#include "analyse/timeline/minimap.h"

#include "analyse/comm/comm_kind.h"
#include "base/num.h"

const char *minimap_row_name(minimap_row r) {
    static const char *const names[N_MINIMAP_ROWS] = {
        [MINIMAP_DEVICE] = "device",
        [MINIMAP_COMMUNICATION] = "communication",
        [MINIMAP_DATA] = "data",
        [MINIMAP_HOST] = "host",
    };
    return names[r];
}

/* Where pixel i begins; borders of neighbors are the same. */
static int64_t border(const minimap *p, uint32_t i) {
    double share = (double)i / p->width_px;
    if (i == p->width_px) return p->to_ns;
    int64_t into = real_i64((double)sub_i64(p->to_ns, p->from_ns) * share);
    return min_i64(add_i64(p->from_ns, into), p->to_ns);
}

static uint8_t share_of(double covered, int64_t whole) {
    if (whole <= 0 || covered <= 0) return 0;
    double v = covered / (double)whole * 255 + 0.5;
    return v >= 255 ? 255 : v < 1 ? 1 : (uint8_t)v; /* a little is not nothing */
}

static status add_cover(minimap *p, minimap_row row, const lod_cover *c, arena *a, error *err) {
    if (c->n == 0) return OK;
    uint8_t *shares = ARENA_ARRAY(a, uint8_t, p->width_px);
    if (!shares) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < p->width_px; i++) {
        int64_t from = border(p, i), to = border(p, i + 1);
        shares[i] = share_of((double)lod_covered(c, from, to), sub_i64(to, from));
    }
    p->shares[row] = shares;
    return OK;
}

static uint32_t pixel_of(const minimap *p, int64_t time_ns) {
    double at = (double)sub_i64(time_ns, p->from_ns) / (double)sub_i64(p->to_ns, p->from_ns) *
                p->width_px;
    uint32_t i = at <= 0 ? 0 : at >= p->width_px ? p->width_px - 1 : (uint32_t)at;
    while (i > 0 && border(p, i) > time_ns) i--; /* rounding */
    while (i + 1 < p->width_px && border(p, i + 1) <= time_ns) i++;
    return i;
}

static void add_piece(const minimap *p, double *sum, int64_t start, int64_t end) {
    start = max_i64(start, p->from_ns);
    end = min_i64(end, p->to_ns);
    if (start >= end) return;
    for (uint32_t i = pixel_of(p, start); i < p->width_px && border(p, i) < end; i++)
        sum[i] += (double)sub_i64(min_i64(end, border(p, i + 1)), max_i64(start, border(p, i)));
}

static status add_communication(minimap *p, const trace *t, arena *a, error *err) {
    comm_names names;
    bool any = false;
    TRY(trace_require(t, TRACE_TABLE(kernel) | TRACE_TABLE(comm), err));
    TRY(comm_names_init(&names, t, a, err));
    double *sum = ARENA_ARRAY(a, double, p->width_px);
    uint8_t *shares = ARENA_ARRAY(a, uint8_t, p->width_px);
    if (!sum || !shares) FAIL_MEMORY(err);
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t slice = t->kernel.slice[k];
        if (!comm_kernel_row(&names, k)) continue;
        any = true;
        add_piece(p, sum, t->slice.start[slice], trace_slice_end(t, slice));
    }
    if (!any) return OK;
    for (uint32_t i = 0; i < p->width_px; i++)
        shares[i] = share_of(sum[i], sub_i64(border(p, i + 1), border(p, i)));
    p->shares[MINIMAP_COMMUNICATION] = shares;
    return OK;
}

status minimap_make(const lod *l, const minimap *range, arena *a, minimap *out, error *err) {
    minimap p = {.from_ns = range->from_ns, .to_ns = range->to_ns, .width_px = range->width_px};
    TRY(add_cover(&p, MINIMAP_DEVICE, &l->device, a, err));
    TRY(add_cover(&p, MINIMAP_DATA, &l->data, a, err));
    TRY(add_cover(&p, MINIMAP_HOST, &l->host, a, err));
    TRY(add_communication(&p, l->t, a, err));
    *out = p;
    return OK;
}
