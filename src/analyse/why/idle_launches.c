/* idle_launches.c: launches by kernel, copies by kind; see idle_streams.h. */
#include <math.h>

#include "analyse/group.h"
#include "analyse/rows.h"
#include "analyse/why/describe.h"
#include "analyse/why/idle_streams.h"
#include "base/sort.h"

enum {
    LONG_CALL_NS = 50000, /* the original's thresholds */
    LONG_DELAY_NS = 100000,
    KIND_LETTERS = 11, /* "Memcpy HtoD" of "Memcpy HtoD (Pageable -> Device)" */
};

/* ---- launches ---------------------------------------------------------------------------- */

typedef struct {
    uint32_t name, call; /* strings */
    int64_t n, call_ns, call_min, call_max, work_ns, delay_ns, delay_min, delay_max;
    int64_t n_short, n_long_calls, n_long_delays;
    uint32_t slice;
} launch_row;

typedef struct {
    uint32_t name, call;
} launch_key;

static bool same_launch(const void *row, const void *key) {
    const launch_row *r = row;
    const launch_key *k = key;
    return r->name == k->name && r->call == k->call;
}

static status add_launch(const trace *t, groups *g, uint32_t work, error *err) {
    uint32_t slice = t->kernel.slice[work], call = t->kernel.launch[work];
    launch_key key = {t->slice.name[slice], t->slice.name[call]};
    bool is_new;
    uint32_t i = groups_at(g, (uint64_t)key.name << 32 | key.call, same_launch, &key, &is_new);
    if (i == GROUP_NONE) FAIL_MEMORY(err);
    launch_row *r = GROUP_ROW(g, launch_row, i);
    int64_t call_ns = t->slice.dur[call], work_ns = t->slice.dur[slice];
    int64_t delay = max_i64(0, sub_i64(t->slice.start[slice], slice_end(t, call)));
    if (is_new)
        *r = (launch_row){
            .name = key.name, .call = key.call, .call_min = call_ns, .delay_min = delay};
    if (!r->slice || call_ns > r->call_max) r->slice = call;
    r->n++;
    r->call_ns = add_i64(r->call_ns, call_ns);
    r->call_min = min_i64(r->call_min, call_ns);
    r->call_max = max_i64(r->call_max, call_ns);
    r->work_ns = add_i64(r->work_ns, work_ns);
    r->delay_ns = add_i64(r->delay_ns, delay);
    r->delay_min = min_i64(r->delay_min, delay);
    r->delay_max = max_i64(r->delay_max, delay);
    r->n_short += call_ns <= LONG_CALL_NS && work_ns < call_ns;
    r->n_long_calls += call_ns > LONG_CALL_NS;
    r->n_long_delays += delay > LONG_DELAY_NS;
    return OK;
}

typedef struct {
    const trace *t;
    const groups *rows;
} launch_order;

static int compare_launches(uint32_t a, uint32_t b, const void *context) {
    const launch_order *o = context;
    const launch_row *x = GROUP_ROW(o->rows, launch_row, a),
                     *y = GROUP_ROW(o->rows, launch_row, b);
    if (x->n != y->n) return x->n > y->n ? -1 : 1;
    int c = str_cmp(trace_str(o->t, x->name), trace_str(o->t, y->name));
    return c ? c : str_cmp(trace_str(o->t, x->call), trace_str(o->t, y->call));
}

static status write_launch(const trace *t, table *out, const launch_row *r, error *err) {
    row_idle_launches row = row_idle_launches_none();
    row.name = trace_str(t, r->name);
    row.call = trace_str(t, r->call);
    row.count = r->n;
    row.call_mean = mean_i64(r->call_ns, r->n);
    row.call_min = r->call_min;
    row.call_max = r->call_max;
    row.call_total = r->call_ns;
    row.device_mean = mean_i64(r->work_ns, r->n);
    row.device_total = r->work_ns;
    row.delay_mean = mean_i64(r->delay_ns, r->n);
    row.delay_min = r->delay_min;
    row.delay_max = r->delay_max;
    row.delay_total = r->delay_ns;
    row.short_ = r->n_short;
    row.long_calls = r->n_long_calls;
    row.long_delays = r->n_long_delays;
    row.slice = r->slice;
    return put_idle_launches(out, &row, err);
}

static status write_launches(const selection *s, arena *a, table *out, error *err) {
    const trace *t = s->t;
    groups g;
    TRY(groups_init(&g, a, sizeof(launch_row), err));
    for (uint32_t k = 1; k < t->kernel.n; k++)
        if (t->kernel.launch[k] && select_work_counts(s, k)) TRY(add_launch(t, &g, k, err));
    uint32_t *order = groups_order(&g), *scratch = groups_order(&g);
    if (!order || !scratch) FAIL_MEMORY(err);
    sort_index(order, scratch, g.n, compare_launches, &(launch_order){t, &g});
    for (uint32_t i = 0; i < g.n; i++)
        TRY(write_launch(t, out, GROUP_ROW(&g, launch_row, order[i]), err));
    return OK;
}

/* ---- copies ------------------------------------------------------------------------------ */

typedef struct {
    str name;
    int64_t calls, bytes, ns;
    sort_pair *changes; /* of the bandwidth; row: work << 1 | it ends */
    size_t n;
} copy_kind;

typedef struct {
    const selection *s;
    const trace *t;
    arena *arena;
    copy_kind *kinds;
    size_t n, most;
    uint32_t *kind_of; /* by row of table kernel, + 1; 0: not a copy */
} copies;

static bool is_copy(const trace *t, uint32_t work) {
    uint8_t kind = t->slice.kind[t->kernel.slice[work]];
    return (kind == KIND_MEMCPY || kind == KIND_MEMSET) && t->kernel.bytes[work] > 0;
}

/* Kinds are few; of a forged file those beyond the first are one. */
static copy_kind *copy_kind_at(copies *c, str name) {
    str word = str_n(name.p, name.n < KIND_LETTERS ? name.n : KIND_LETTERS);
    if (str_starts(name, STR("Memset"))) word = STR("Memset");
    for (size_t i = 0; i < c->n; i++)
        if (str_eq(c->kinds[i].name, word)) return &c->kinds[i];
    if (c->n < c->most) c->kinds[c->n++].name = word;
    return &c->kinds[c->n - 1];
}

static double bandwidth_of(const trace *t, uint32_t work) {
    int64_t ns = max_i64(1, t->slice.dur[t->kernel.slice[work]]);
    return (double)t->kernel.bytes[work] * 1e9 / (double)ns;
}

static void add_copy(copies *c, copy_kind *k, uint32_t work) {
    const trace *t = c->t;
    uint32_t slice = t->kernel.slice[work];
    int64_t start = t->slice.start[slice],
            end = add_i64(start, max_i64(1, t->slice.dur[slice]));
    k->calls++;
    k->bytes = add_i64(k->bytes, t->kernel.bytes[work]);
    k->ns = add_i64(k->ns, t->slice.dur[slice]);
    k->changes[k->n++] = (sort_pair){(uint64_t)end ^ (uint64_t)1 << 63, work << 1 | 1};
    k->changes[k->n++] = (sort_pair){(uint64_t)start ^ (uint64_t)1 << 63, work << 1};
}

/* The sum is reset to 0 whenever nothing is left running, so that no rounding errors of doubles
 * remain. */
static status describe_copies(const copies *c, copy_kind *k, numbers *out, error *err) {
    double sum = 0;
    int64_t running = 0;
    if (!sort_radix_in(c->arena, k->changes, k->n)) FAIL_MEMORY(err);
    for (size_t i = 0; i < k->n; i++) {
        bool ends = k->changes[i].row & 1;
        double one = bandwidth_of(c->t, k->changes[i].row >> 1);
        running += ends ? -1 : 1;
        sum = running ? sum + (ends ? -one : one) : 0;
        if (running > 0 && sum > 0) TRY(numbers_add(out, c->arena, sum, err));
    }
    return OK;
}

static status write_copy_kind(const copies *c, copy_kind *k, table *t, error *err) {
    numbers points = {0};
    TRY(describe_copies(c, k, &points, err));
    description d = numbers_describe(&points);
    row_idle_copies row = row_idle_copies_none();
    row.name = k->name;
    row.calls = k->calls;
    row.bytes = k->bytes;
    row.time = k->ns;
    if (k->ns > 0) row.bandwidth = (double)k->bytes * 1e9 / (double)k->ns;
    row.count = sat_i64(points.n);
    row.mean = d.mean;
    row.std = d.std;
    row.min = d.min;
    row.p25 = d.p25;
    row.p50 = d.p50;
    row.p75 = d.p75;
    row.max = d.max;
    return put_idle_copies(t, &row, err);
}

static status find_copies(copies *c, error *err) {
    const trace *t = c->t;
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        if (!is_copy(t, k) || !select_work_counts(c->s, k)) continue;
        copy_kind *kind = copy_kind_at(c, trace_slice_name(t, t->kernel.slice[k]));
        kind->n += 2;
        c->kind_of[k] = (uint32_t)(kind - c->kinds) + 1;
    }
    for (size_t i = 0; i < c->n; i++) {
        c->kinds[i].changes = arena_alloc(c->arena, (c->kinds[i].n + 1) * sizeof(sort_pair));
        if (!c->kinds[i].changes) FAIL_MEMORY(err);
        c->kinds[i].n = 0;
    }
    for (uint32_t k = 1; k < t->kernel.n; k++)
        if (c->kind_of[k]) add_copy(c, &c->kinds[c->kind_of[k] - 1], k);
    return OK;
}

static status write_copies(const selection *s, arena *a, table *out, error *err) {
    enum { MOST_KINDS = 64 };
    copies c = {.s = s,
                .t = s->t,
                .arena = a,
                .most = MOST_KINDS,
                .kinds = ARENA_ARRAY(a, copy_kind, MOST_KINDS),
                .kind_of = ARENA_ARRAY(a, uint32_t, (size_t)s->t->kernel.n + 1)};
    if (!c.kinds || !c.kind_of || s->t->kernel.n >> 31) FAIL_MEMORY(err);
    TRY(find_copies(&c, err));
    for (size_t i = 0; i < c.n; i++) TRY(write_copy_kind(&c, &c.kinds[i], out, err));
    return table_sort(out, COL(idle, copies, time), true, err);
}

status idle_launches_write(const selection *s, arena *a, answer *out, error *err) {
    table *launches = answer_table(out, a, "launches"),
          *copied = answer_table(out, a, "copies");
    if (!launches || !copied) FAIL_MEMORY(err);
    TRY(write_launches(s, a, launches, err));
    return write_copies(s, a, copied, err);
}
