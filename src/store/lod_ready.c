/* lod_ready.c: the boxes of long rows at coarse levels, kept ready.
 *
 * Far out a box holds many slices, and finding each by the tree costs a dozen misses. A row of
 * n slices over a time T has at most 2 T / 2^s boxes at level s. From the level on at which a
 * bucket holds 16 slices in the mean, all boxes are kept: at most n / 8 of them at the finest
 * level, half as many at each wider one (measured: 3 bytes a slice). The finest is read from
 * the tree once, each wider one from the one before: boxes that start in the same wider bucket
 * and hold nothing as long as it become one.
 *
 * Short rows have none; above the widest level that is kept, a row has a handful of boxes. */
#include "base/vec.h"
#include "store/lod_int.h"

enum { LEAST_ENTRIES = 1024, ENTRIES_PER_BUCKET = 16, LEAST_BOXES = 8 };

typedef struct {
    lod *l;
    vec boxes;  /* lod_box */
    vec levels; /* lod_level */
} lod_ready_ctx;

/* The level from which on boxes are kept. */
static int first_level(const lod *l, const lod_row *r) {
    int64_t span = l->entries[r->end - 1].start_ns - l->entries[r->first].start_ns;
    uint64_t least = (uint64_t)max_i64(span, 1) / (r->end - r->first) * ENTRIES_PER_BUCKET;
    int shift = 0;
    while (shift < LOD_MAX_SHIFT && ((uint64_t)1 << shift) < least) shift++;
    return shift;
}

static bool add_box(lod_ready_ctx *k, const lod_box *b) {
    lod_box *to = vec_push(&k->boxes);
    if (to) *to = *b;
    return to != NULL;
}

/* Does the box hold nothing as long as a bucket? */
static bool is_small(const lod_box *b, int shift) {
    return b->count > 1 || b->time_ns >> shift == 0;
}

static void join(const trace *t, lod_box *to, const lod_box *b) {
    to->end_ns = b->end_ns;
    to->time_ns = add_i64(to->time_ns, b->time_ns);
    to->count += b->count;
    if (t->slice.dur[b->longest] > t->slice.dur[to->longest]) to->longest = b->longest;
}

/* The boxes of the next wider level from those of the last one. */
static bool add_wider(lod_ready_ctx *k, const lod_level *from, int shift) {
    lod_box now = {.count = 0};
    bool small = false;
    for (uint32_t i = 0; i < from->n; i++) {
        lod_box b = VEC(&k->boxes, lod_box)[from->first + i];
        bool joins = small && now.count && is_small(&b, shift) &&
                     b.start_ns < bucket_end(now.start_ns, shift);
        if (joins) {
            join(k->l->t, &now, &b);
            continue;
        }
        if (now.count && !add_box(k, &now)) return false;
        now = b;
        small = is_small(&b, shift);
    }
    return !now.count || add_box(k, &now);
}

static bool end_level(lod_ready_ctx *k, uint32_t first) {
    lod_level *level = vec_push(&k->levels);
    if (level) *level = (lod_level){.first = first, .n = (uint32_t)k->boxes.n - first};
    return level != NULL;
}

static bool keep_row(lod_ready_ctx *k, uint32_t row) {
    lod_row *r = &k->l->rows[row];
    int shift = first_level(k->l, r);
    uint32_t first = (uint32_t)k->boxes.n, first_level_of_row = (uint32_t)k->levels.n;
    lod_cursor c = lod_begin(k->l, row, INT64_MIN, INT64_MAX, shift);
    for (lod_box b; lod_next(&c, &b);)
        if (!add_box(k, &b)) return false;
    if (!end_level(k, first)) return false;
    lod_level last = {.first = first, .n = (uint32_t)k->boxes.n - first};
    uint8_t n = 1;
    for (int s = shift + 1; s <= LOD_MAX_SHIFT && last.n > LEAST_BOXES; s++, n++) {
        first = (uint32_t)k->boxes.n;
        if (!add_wider(k, &last, s) || !end_level(k, first)) return false;
        last = (lod_level){.first = first, .n = (uint32_t)k->boxes.n - first};
    }
    r->ready = first_level_of_row;
    r->ready_shift = (uint8_t)shift;
    r->n_ready = n;
    return true;
}

/* What was gathered stays where it is; the index gives it back. */
static void settle(lod_ready_ctx *k) {
    lod *l = k->l;
    l->boxes = k->boxes.p;
    l->bytes[LOD_BOXES] = k->boxes.mapped_bytes;
    l->ready = k->levels.p;
    l->bytes[LOD_READY] = k->levels.mapped_bytes;
}

status lod_build_ready(lod *l, error *err) {
    lod_ready_ctx k = {.l = l, .boxes = VEC_INIT(lod_box), .levels = VEC_INIT(lod_level)};
    bool ok = true;
    for (uint32_t i = 0; i < l->n_rows && ok; i++) {
        const lod_row *r = &l->rows[i];
        if (r->end - r->first < LEAST_ENTRIES || lod_is_instants(l, r)) continue;
        ok = keep_row(&k, i);
    }
    settle(&k);
    if (!ok) FAIL_MEMORY(err);
    return OK;
}
