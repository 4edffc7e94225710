/* idle_ops.c: how long operators take until they launch; see idle_streams.h.
 *
 * Works are put in order of the operator that launched them, and of their launches inside it.
 * The names of an operator's works, one after the other, and its own name are the key of a
 * row. */
#include <string.h>

#include "analyse/group.h"
#include "analyse/rows.h"
#include "analyse/why/idle_streams.h"
#include "base/hash.h"
#include "base/sort.h"

enum { MOST_NAMES = 64 }; /* names of device work in one text */

typedef struct {
    const trace *t;
    arena *arena;
    uint32_t *works, *ops; /* in order; the operator of each */
    uint32_t n;
    groups rows;
} op_works;

/* Works from `first` on are those of one call of the operator. */
typedef struct {
    const op_works *w;
    uint32_t first, n;
    int64_t count, op_delay, launch_delay, longest;
    uint32_t slice;
} op_row;

static uint32_t op_around(const trace *t, uint32_t slice) {
    for (int up = 0; slice && up < 256; up++, slice = t->slice.parent[slice])
        if (t->slice.kind[slice] == KIND_OP) return slice;
    return 0;
}

static uint32_t name_of(const op_works *w, uint32_t i) {
    return w->t->slice.name[w->t->kernel.slice[w->works[i]]];
}

static bool same_works(const void *row, const void *key) {
    const op_row *a = row, *b = key;
    const op_works *w = b->w;
    const uint32_t *names = w->t->slice.name;
    if (a->n != b->n || names[w->ops[a->first]] != names[w->ops[b->first]]) return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (name_of(w, a->first + i) != name_of(w, b->first + i)) return false;
    return true;
}

static status add_call(op_works *w, uint32_t first, uint32_t n, error *err) {
    const trace *t = w->t;
    uint32_t op = w->ops[first], k = w->works[first], call = t->kernel.launch[k];
    op_row key = {.w = w, .first = first, .n = n};
    uint64_t hash = t->slice.name[op];
    bool is_new;
    for (uint32_t i = 0; i < n; i++) hash = hash_pair((uint32_t)hash, name_of(w, first + i));
    uint32_t at = groups_at(&w->rows, hash, same_works, &key, &is_new);
    if (at == GROUP_NONE) FAIL_MEMORY(err);
    op_row *r = GROUP_ROW(&w->rows, op_row, at);
    if (is_new) *r = key;
    int64_t delay = sub_i64(t->slice.start[call], t->slice.start[op]);
    int64_t after = sub_i64(t->slice.start[t->kernel.slice[k]], t->slice.start[call]);
    r->op_delay = add_i64(r->op_delay, delay);
    r->launch_delay = add_i64(r->launch_delay, after);
    if (!r->count++ || delay > r->longest) {
        r->longest = delay;
        r->slice = op;
    }
    return OK;
}

/* By operator, then by launch: slices of a thread are by their start, and so are its calls. */
static status sort_works(op_works *w, const selection *s, error *err) {
    const trace *t = w->t;
    size_t room = (size_t)t->kernel.n + 1;
    sort_pair *pairs = arena_alloc(w->arena, room * sizeof *pairs);
    w->works = ARENA_ARRAY(w->arena, uint32_t, room);
    w->ops = ARENA_ARRAY(w->arena, uint32_t, room);
    if (!pairs || !w->works || !w->ops) FAIL_MEMORY(err);
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t call = t->kernel.launch[k], op = call ? op_around(t, call) : 0;
        if (op && select_work_counts(s, k))
            pairs[w->n++] = (sort_pair){(uint64_t)op << 32 | call, k};
    }
    if (!sort_radix_in(w->arena, pairs, w->n)) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < w->n; i++) {
        w->works[i] = pairs[i].row;
        w->ops[i] = (uint32_t)(pairs[i].key >> 32);
    }
    arena_drop(w->arena, pairs, room * sizeof *pairs);
    return OK;
}

static int compare_rows(uint32_t a, uint32_t b, const void *context) {
    const op_works *w = context;
    const op_row *x = GROUP_ROW(&w->rows, op_row, a), *y = GROUP_ROW(&w->rows, op_row, b);
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    int c = str_cmp(trace_slice_name(w->t, x->slice), trace_slice_name(w->t, y->slice));
    return c ? c : a < b ? -1 : a > b;
}

/* "gemm -> bias"; of more works than anybody reads the first ones. */
static str names_of(const op_works *w, const op_row *r) {
    static const char arrow[] = " -> ", more[] = " -> …";
    uint32_t n = r->n < MOST_NAMES ? r->n : MOST_NAMES;
    size_t bytes = sizeof more, at = 0;
    for (uint32_t i = 0; i < n; i++)
        bytes += trace_str(w->t, name_of(w, r->first + i)).n + sizeof arrow;
    char *text = arena_alloc(w->arena, bytes);
    if (!text) return STR_NONE;
    for (uint32_t i = 0; i < n; i++) {
        str name = trace_str(w->t, name_of(w, r->first + i));
        if (i) memcpy(text + at, arrow, sizeof arrow - 1);
        at += i ? sizeof arrow - 1 : 0;
        memcpy(text + at, name.p, name.n);
        at += name.n;
    }
    if (r->n > n) memcpy(text + at, more, sizeof more - 1);
    return str_n(text, at + (r->n > n ? sizeof more - 1 : 0));
}

static status write_row(const op_works *w, const op_row *r, table *out, error *err) {
    str names = names_of(w, r);
    if (!names.p) FAIL_MEMORY(err);
    row_idle_op_launches row = row_idle_op_launches_none();
    row.op = trace_slice_name(w->t, r->slice);
    row.kernels = names;
    row.count = r->count;
    row.op_delay = mean_i64(r->op_delay, r->count);
    row.launch_delay = mean_i64(r->launch_delay, r->count);
    row.slice = r->slice;
    return put_idle_op_launches(out, &row, err);
}

status idle_ops_write(const selection *s, arena *a, answer *out, error *err) {
    table *t = answer_table(out, a, "op_launches");
    op_works w = {.t = s->t, .arena = a};
    if (!t) FAIL_MEMORY(err);
    TRY(groups_init(&w.rows, a, sizeof(op_row), err));
    TRY(sort_works(&w, s, err));
    for (uint32_t first = 0, end; first < w.n; first = end) {
        for (end = first + 1; end < w.n && w.ops[end] == w.ops[first]; end++) {}
        TRY(add_call(&w, first, end - first, err));
    }
    uint32_t *order = groups_order(&w.rows), *scratch = groups_order(&w.rows);
    if (!order || !scratch) FAIL_MEMORY(err);
    sort_index(order, scratch, w.rows.n, compare_rows, &w);
    for (uint32_t i = 0; i < w.rows.n; i++)
        TRY(write_row(&w, GROUP_ROW(&w.rows, op_row, order[i]), t, err));
    return OK;
}
