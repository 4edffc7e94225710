/* lod_walk.c: reading rows and series at a level of detail.
 *
 * A walk over a row takes entries one by one, or whole nodes of its tree where all entries of a
 * node start in the current bucket and none is as long as a bucket. A node can only be taken
 * where it begins; the largest one that fits is. So a box costs a handful of nodes at each of
 * two or three levels, however many slices are in it.
 *
 *      entries   |a b c d e f g h|i j k l …        node over 8, over 4 × 8, over 4 × 4 × 8, …
 *      bucket         |<-------------->|           c … h by entries, then nodes, then entries
 *
 * Nothing here trusts the order of a hostile file for more than the order of what it returns:
 * every step moves on by at least one entry and stays inside the row. */
#include "base/bisect.h"
#include "store/lod_int.h"

/* The first place in [low, high) that starts at or after the time. */
static uint32_t find_start(const lod_cursor *c, int64_t time_ns) {
    return SEARCH_FIRST(i, c->row->first, c->row->end, c->l->entries[i].start_ns < time_ns);
}

static int kept_shift(int shift) {
    return shift < 0 ? 0 : shift > LOD_MAX_SHIFT ? LOD_MAX_SHIFT : shift;
}

/* The first box that is kept ready and starts at or after the time, or runs into it. */
static uint32_t find_ready(const lod_cursor *c, int64_t time_ns) {
    uint32_t low = SEARCH_FIRST(i, c->ready->first, c->ready->first + c->ready->n,
                                c->l->boxes[i].start_ns < time_ns);
    return low > c->ready->first && c->l->boxes[low - 1].end_ns > time_ns ? low - 1 : low;
}

lod_cursor lod_begin(const lod *l, uint32_t row, int64_t from_ns, int64_t to_ns, int shift) {
    lod_cursor c = {.l = l, .row = &l->rows[row], .shift = kept_shift(shift)};
    c.end_ns = to_ns == INT64_MIN ? to_ns : bucket_end(to_ns - 1, c.shift);
    int64_t from = (from_ns >> c.shift) * ((int64_t)1 << c.shift);
    int level = c.shift - c.row->ready_shift;
    if (level >= 0 && level < c.row->n_ready) {
        c.ready = &l->ready[c.row->ready + (uint32_t)level];
        c.at = find_ready(&c, from);
        return c;
    }
    c.at = find_start(&c, from);
    /* What began before and reaches into the range: by itself when it is long, else with all of
     * its bucket, so that its box is the same one as further to the left. */
    if (c.at > c.row->first) {
        int64_t start = l->entries[c.at - 1].start_ns;
        int64_t dur = entry_dur(l, c.at - 1);
        if (add_i64(start, dur) > from) {
            int64_t bucket = (int64_t)1 << c.shift;
            c.at = dur < bucket ? find_start(&c, (start >> c.shift) * bucket) : c.at - 1;
        }
    }
    return c;
}

/* The state of the box being made. */
typedef struct {
    uint32_t at, longest; /* places in entries[] */
    int64_t longest_ns, time_ns;
    uint32_t count;
} lod_walk_ctx;

static void gather_entry(lod_walk_ctx *g, int64_t dur) {
    if (dur > g->longest_ns) {
        g->longest = g->at;
        g->longest_ns = dur;
    }
    g->time_ns = add_i64(g->time_ns, dur);
    g->count++;
    g->at++;
}

static bool node_fits(const lod_node *n, int64_t bucket_end_ns, int shift) {
    return n->last_start < bucket_end_ns && n->max_ns != UINT32_MAX &&
           (shift >= 32 || n->max_ns < (uint32_t)((uint64_t)1 << shift));
}

/* Takes the largest node that begins here and fits; false when none does. */
static bool gather_node(const lod_cursor *c, lod_walk_ctx *g, int64_t end_ns) {
    uint32_t entry = g->at - c->row->first, width = LOD_LEAF;
    uint32_t n = (c->row->end - c->row->first) / LOD_LEAF, i = entry / LOD_LEAF;
    const lod_node *level = c->l->nodes + c->row->node, *best = NULL;
    uint32_t best_width = 0;
    if (entry % LOD_LEAF) return false;
    while (i < n && node_fits(&level[i], end_ns, c->shift)) {
        best = &level[i];
        best_width = width;
        if (i % LOD_FAN) break;
        level += n;
        n /= LOD_FAN;
        i /= LOD_FAN;
        width *= LOD_FAN;
    }
    if (!best) return false;
    if ((int64_t)best->max_ns > g->longest_ns) {
        g->longest = best->longest;
        g->longest_ns = best->max_ns;
    }
    g->time_ns = add_i64(g->time_ns, best->time_ns);
    g->count += best_width;
    g->at += best_width;
    return true;
}

static bool next_ready(lod_cursor *c, lod_box *out) {
    if (c->at >= c->ready->first + c->ready->n) return false;
    if (c->l->boxes[c->at].start_ns >= c->end_ns) return false;
    *out = c->l->boxes[c->at++];
    return true;
}

bool lod_next(lod_cursor *c, lod_box *out) {
    if (c->ready) return next_ready(c, out);
    if (c->at >= c->row->end) return false;
    int64_t start = c->l->entries[c->at].start_ns;
    if (start >= c->end_ns) return false;
    int64_t dur = entry_dur(c->l, c->at), bucket = (int64_t)1 << c->shift;
    lod_walk_ctx g = {.at = c->at, .longest = c->at, .longest_ns = -1};
    gather_entry(&g, dur);
    if (dur < bucket) {
        int64_t end = bucket_end(start, c->shift);
        while (g.at < c->row->end) {
            if (gather_node(c, &g, end)) continue;
            dur = entry_dur(c->l, g.at);
            if (dur >= bucket || c->l->entries[g.at].start_ns >= end) break;
            gather_entry(&g, dur);
        }
    }
    *out = (lod_box){.start_ns = start,
                     .end_ns =
                         add_i64(c->l->entries[g.at - 1].start_ns, entry_dur(c->l, g.at - 1)),
                     .time_ns = g.time_ns,
                     .count = g.count,
                     .longest = c->l->entries[g.longest].id};
    c->at = g.at;
    return true;
}

/* ---- series ------------------------------------------------------------------------------ */

lod_point_cursor lod_points(const lod *l, uint32_t series, int64_t from_ns, int64_t to_ns,
                            int shift) {
    const lod_series *s = &l->series[series];
    uint32_t low = SEARCH_FIRST(i, s->first, s->end, l->point_time[i] < from_ns);
    return (lod_point_cursor){.l = l,
                              .series = s,
                              .at = low > s->first ? low - 1 : low,
                              .shift = kept_shift(shift),
                              .end_ns = to_ns};
}

static void widen(lod_point *p, double min, double max) {
    if (min < p->min) p->min = min;
    if (max > p->max) p->max = max;
}

bool lod_next_point(lod_point_cursor *c, lod_point *out) {
    const lod *l = c->l;
    uint32_t i = c->at, end = c->series->end;
    if (i >= end || l->point_time[i] >= c->end_ns) return false;
    int64_t border = bucket_end(l->point_time[i], c->shift);
    lod_point p = {.time_ns = l->point_time[i], .min = INFINITY, .max = -INFINITY};
    while (i < end && l->point_time[i] < border) {
        uint32_t block = i / LOD_BLOCK;
        if (i % LOD_BLOCK == 0 && end - i >= LOD_BLOCK &&
            l->point_time[i + LOD_BLOCK - 1] < border) {
            widen(&p, l->block_min[block], l->block_max[block]);
            i += LOD_BLOCK;
        } else {
            widen(&p, l->point_value[i], l->point_value[i]);
            i++;
        }
    }
    p.count = i - c->at;
    p.last = l->point_value[i - 1];
    c->at = i;
    *out = p;
    return true;
}
