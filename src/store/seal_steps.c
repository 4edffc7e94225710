/* seal_steps.c: the training steps: host slices of kind step, by start. The number is the one at
 * the end of the name ("ProfilerStep#12"); a step without a number counts on from the one before. */
#include "base/num.h"
#include "base/sort.h"
#include "store/builder_int.h"

static int cmp_steps(uint32_t a, uint32_t b, const void *context) {
    const sealing *s = context;
    if (s->slice.start[a] != s->slice.start[b])
        return s->slice.start[a] < s->slice.start[b] ? -1 : 1;
    return a < b ? -1 : a > b;
}

static int64_t number_of(str name, int64_t otherwise) {
    size_t at = name.n;
    while (at && name.p[at - 1] >= '0' && name.p[at - 1] <= '9') at--;
    int64_t v;
    return str_to_i64(str_from(name, at), &v) ? v : otherwise;
}

/* The next step behind slice i, or s->slice.n: one byte in tens of thousands. */
static uint32_t next_step(const sealing *s, uint32_t i) {
    const uint8_t *from = s->slice.kind + i + 1;
    const uint8_t *at = memchr(from, KIND_STEP, s->slice.n - (i + 1));
    return at ? (uint32_t)(at - s->slice.kind) : s->slice.n;
}

status seal_steps(sealing *s, error *err) {
    uint32_t n = 0;
    for (uint32_t i = next_step(s, 0); i < s->slice.n; i = next_step(s, i)) n++;
    uint32_t *order = seal_scratch(s, 2 * (size_t)n + 1, sizeof(uint32_t));
    if (!order) FAIL_MEMORY(err);
    n = 0;
    for (uint32_t i = next_step(s, 0); i < s->slice.n; i = next_step(s, i)) order[n++] = i;
    sort_index(order, order + n, n, cmp_steps, s);
    TRY(seal_table(s, TABLE_step, (size_t)n + 1, err));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slice = order[i];
        s->step.slice[i + 1] = slice;
        s->step.number[i + 1] = number_of(intern_get(s->b->strings, s->slice.name[slice]),
                                          i ? add_i64(s->step.number[i], 1) : 0);
        s->step.start[i + 1] = s->slice.start[slice];
        s->step.end[i + 1] = s->slice.start[slice] + s->slice.dur[slice];
    }
    return OK;
}
