/* scenario_network.c: what collectives would take on another network.
 *
 * A collective of one rank takes latency + bytes / bandwidth, and the time it waits for ranks
 * that arrive later. The shortest of those of one kind and size waited least: a line through
 * these, each as far off in proportion, gives latency and bandwidth. What a collective takes
 * beyond the line is waiting, and stays. Bytes are those that the links carry (bus_factor), so
 * that all kinds share one line. */
#include <math.h>

#include "analyse/comm/collectives.h"
#include "analyse/replay/scenario.h"
#include "analyse/rules.h"
#include "base/bisect.h"
#include "base/message_ids_advice.h"
#include "base/sort.h"

enum { ASSUMED_LATENCY_NS = 10000 }; /* where all collectives are of one size */

typedef struct {
    scenario *s;
    const trace *t;
    collective_list list;
    sort_pair *starts; /* of ranges, with their collective */
    size_t n_starts;
    double *bytes;   /* by collective: on the links; NaN when not known */
    int64_t *moving; /* by collective: what the line or the shortest of its kind says */
} fitter;

static uint64_t time_key(int64_t time) {
    return (uint64_t)time ^ (uint64_t)1 << 63;
}

/* How long it ran: on the device, where it has kernels there, else on the host. */
static int64_t length_of(const fitter *f, const collective *c) {
    int64_t ns = 0;
    bool host = c->n_ranges && !kind_is_device(f->t->slice.kind[c->slice]);
    for (uint32_t i = host && c->n_ranges > 1; i < c->n_ranges; i++) {
        interval r = f->list.ranges[c->first_range + i];
        ns = add_i64(ns, sub_i64(r.end, r.start));
    }
    return ns;
}

static double link_bytes(const collective *c) {
    if (c->bytes == ABSENT_I64) return NAN;
    double factor = c->group_size > 1 ? bus_factor(comm_type_of(c->name), c->group_size) : 1;
    return (double)c->bytes * (isnan(factor) ? 1 : factor);
}

static status list_all(fitter *f, arena *a, error *err) {
    collective_list *l = &f->list;
    TRY(collectives_add(l, f->t, 0, err));
    f->bytes = ARENA_ARRAY(a, double, (size_t)l->n + 1);
    f->moving = ARENA_ARRAY(a, int64_t, (size_t)l->n + 1);
    f->starts = ARENA_ARRAY(a, sort_pair, 2 * (size_t)l->n_ranges + 2);
    if (!f->bytes || !f->moving || !f->starts) FAIL_MEMORY(err);
    f->s->network.collectives = l->n;
    for (uint32_t i = 0; i < l->n; i++) {
        f->bytes[i] = link_bytes(&l->v[i]);
        f->s->network.sized += !isnan(f->bytes[i]);
        for (uint32_t k = 0; k < l->v[i].n_ranges; k++)
            f->starts[f->n_starts++] =
                (sort_pair){time_key(l->ranges[l->v[i].first_range + k].start), i};
    }
    sort_radix(f->starts, f->starts + f->n_starts, f->n_starts);
    return OK;
}

/* Collectives of one kind and size follow each other in `order`. */
static int compare_sizes(uint32_t a, uint32_t b, const void *context) {
    const fitter *f = context;
    comm_type x = comm_type_of(f->list.v[a].name), y = comm_type_of(f->list.v[b].name);
    if (x != y) return x < y ? -1 : 1;
    double p = f->bytes[a], q = f->bytes[b];
    if (isnan(p) || isnan(q)) return isnan(q) - isnan(p);
    return (p > q) - (p < q);
}

typedef struct {
    double n, x, y, xx, xy; /* weighted sums of bytes and times */
    double least;           /* of the times */
} line_sums;

/* Off in proportion: a point weighs 1 / time². */
static void add_point(line_sums *s, double bytes, double ns) {
    double w = 1 / (ns * ns);
    s->n += w;
    s->x += w * bytes;
    s->y += w * ns;
    s->xx += w * bytes * bytes;
    s->xy += w * bytes * ns;
    s->least = s->least > 0 ? fmin(s->least, ns) : ns;
}

static void fit_line(network_fit *to, const line_sums *s) {
    double det = s->n * s->xx - s->x * s->x;
    double slope = det > 0 ? (s->n * s->xy - s->x * s->y) / det : 0;
    double latency = s->n > 0 ? (s->y - slope * s->x) / s->n : 0;
    if (to->sizes < 2 || slope <= 0) latency = fmin(ASSUMED_LATENCY_NS, s->least / 2);
    latency = fmax(0, fmin(latency, s->least));
    to->latency_ns = real_i64(latency);
    /* Through that latency, the line that is as near as it can be. */
    if (s->xx > 0) to->ns_per_byte = fmax(0, (s->xy - latency * s->x) / s->xx);
}

static status fit(fitter *f, arena *a, error *err) {
    uint32_t n = f->list.n;
    uint32_t *order = ARENA_ARRAY(a, uint32_t, (size_t)n + 1),
             *scratch = ARENA_ARRAY(a, uint32_t, (size_t)n + 1);
    if (!order || !scratch) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n; i++) order[i] = i;
    sort_index(order, scratch, n, compare_sizes, f);
    line_sums sums = {.n = 0};
    double last = NAN;
    for (uint32_t first = 0, end; first < n; first = end) {
        int64_t least = INT64_MAX;
        for (end = first; end < n && !compare_sizes(order[first], order[end], f); end++) {
            int64_t ns = length_of(f, &f->list.v[order[end]]);
            if (ns > 0) least = min_i64(least, ns);
        }
        for (uint32_t i = first; i < end; i++) f->moving[order[i]] = least;
        double bytes = f->bytes[order[first]];
        if (isnan(bytes) || least == INT64_MAX) continue;
        if (isnan(last) || bytes > last || bytes < last) f->s->network.sizes++;
        last = bytes;
        add_point(&sums, bytes, (double)least);
    }
    fit_line(&f->s->network, &sums);
    for (uint32_t i = 0; i < n; i++)
        if (!isnan(f->bytes[i]))
            f->moving[i] = real_i64((double)f->s->network.latency_ns +
                                    f->bytes[i] * f->s->network.ns_per_byte);
    return OK;
}

/* What something that took `ns` takes when its data is moved in another way. */
static int64_t changed_ns(const fitter *f, const scenario_change *v, uint32_t which,
                          int64_t ns) {
    double moving = (double)min_i64(ns, f->moving[which]);
    double latency = fmin(moving, (double)f->s->network.latency_ns);
    double after = latency * v->latency + (moving - latency) / v->bandwidth;
    return max_i64(0, add_i64(ns, real_i64(after - moving)));
}

/* The collective of a kernel, by its start; UINT32_MAX: none. */
static uint32_t collective_of(const fitter *f, int64_t start, int64_t end) {
    const collective_list *l = &f->list;
    uint64_t key = time_key(start);
    size_t at = SEARCH_FIRST(i, (size_t)0, f->n_starts, f->starts[i].key < key);
    for (; at < f->n_starts && f->starts[at].key == key; at++) {
        const collective *c = &l->v[f->starts[at].row];
        for (uint32_t k = 0; k < c->n_ranges; k++) {
            interval r = l->ranges[c->first_range + k];
            if (r.start == start && r.end == end) return f->starts[at].row;
        }
    }
    return UINT32_MAX;
}

/* Collectives of the host (gloo) share one factor: all they would take, of all they took. */
static void set_host_factor(const fitter *f, scenario_change *v) {
    int64_t before = 0, after = 0;
    for (uint32_t i = 0; i < f->list.n; i++) {
        const collective *c = &f->list.v[i];
        if (c->n_ranges != 1 || kind_is_device(f->t->slice.kind[c->slice])) continue;
        int64_t ns = length_of(f, c);
        before = add_i64(before, ns);
        after = add_i64(after, changed_ns(f, v, i, ns));
    }
    v->factor = before > 0 ? (double)after / (double)before : 1;
}

status scenario_match_network(scenario *s, comm_names *names, uint32_t change, arena *a,
                              error *err) {
    fitter f = {.s = s, .t = s->g->t, .list = {.arena = a}};
    scenario_change *v = &s->v[change];
    TRY(list_all(&f, a, err));
    TRY(fit(&f, a, err));
    set_host_factor(&f, v);
    for (uint32_t k = 1; k < f.t->kernel.n; k++) {
        if (!comm_kernel_row(names, k)) continue;
        int64_t start = why_work_start(s->g, k), end = why_work_end(s->g, k);
        uint32_t i = collective_of(&f, start, end);
        if (i == UINT32_MAX) continue;
        s->own_ns[k] = changed_ns(&f, v, i, sub_i64(end, start));
        s->work_mask[k] |= (uint64_t)1 << change;
        v->kernels++;
        v->device_ns = add_i64(v->device_ns, sub_i64(end, start));
    }
    if (!f.list.n && !s->of_many)
        FAIL(err, ERR_ARG, NOPOS, MSG_WHATIF_NO_COLLECTIVES, arg_text("text", v->text));
    return OK;
}
