/* comm_match.c: which collectives of different workers are one and the same.
 *
 * All collectives get a 64-bit key; three stable sorts (start, worker, key) bring equal keys
 * together in order of worker and time. The n-th of a worker meets the n-th of the others.
 * Where only order is known, one missing call would shift all that follow. When workers have
 * different numbers of calls (a recording began later, or records were dropped), the shift is
 * looked for at which the ends of the calls are equally far apart, as far as clocks are: the
 * members of a collective leave it together. Calls that are not where they should be then stay
 * alone and are counted. So do transfers between two workers that name neither: the n-th calls
 * of two workers may be unrelated. */
#include "analyse/run/comm_match.h"

#include "base/hash.h"
#include "base/num.h"
#include "base/sort.h"

typedef struct {
    const collective_list *l;
    arena *arena;
    sort_pair *pairs, *scratch;
    uint64_t *key;  /* by collective */
    bool *by_order; /* by collective: nothing but order is known */
} matcher;

static uint64_t sort_key(int64_t v) {
    return (uint64_t)v ^ (uint64_t)1 << 63;
}

/* A hash that is the same in every process: summaries of many are matched by it. */
uint64_t collective_key(const collective *c, bool *by_order) {
    struct {
        uint64_t sort, group, name;
        int64_t number, source, target;
    } k = {.name = hash_bytes64(c->name.p, c->name.n),
           .group = hash_bytes64(c->group.p, c->group.n)};
    *by_order = false;
    if (c->comms_id != ABSENT_I64) {
        k.sort = 1;
        k.group = 0;
        k.number = c->comms_id;
    } else if (c->sequence != ABSENT_I64) {
        k.sort = 2;
        k.number = c->sequence;
    } else {
        k.sort = 3;
        *by_order = true;
    }
    if (c->source != ABSENT_I64) { /* send on one side, recv on the other */
        k.name = 0;
        k.source = c->source;
        k.target = c->target;
    }
    return hash_bytes64(&k, sizeof k);
}

static bool has_no_partner(const matcher *m, uint32_t i) {
    const collective *c = &m->l->v[i];
    return m->by_order[i] && c->source == ABSENT_I64 && comm_type_of(c->name) == COMM_POINT;
}

static void sort_all(matcher *m) {
    const collective_list *l = m->l;
    for (uint32_t i = 0; i < l->n; i++) {
        m->key[i] = collective_key(&l->v[i], &m->by_order[i]);
        m->pairs[i] = (sort_pair){sort_key(l->v[i].hull.start), i};
    }
    sort_radix(m->pairs, m->scratch, l->n);
    for (uint32_t i = 0; i < l->n; i++) m->pairs[i].key = l->v[m->pairs[i].row].worker;
    sort_radix(m->pairs, m->scratch, l->n);
    for (uint32_t i = 0; i < l->n; i++) m->pairs[i].key = m->key[m->pairs[i].row];
    sort_radix(m->pairs, m->scratch, l->n);
}

/* Does every worker in the run of equal keys have equally many? */
static bool is_even(const matcher *m, uint32_t first, uint32_t end) {
    uint32_t n = 0, want = 0;
    for (uint32_t i = first; i < end; i++) {
        n++;
        bool last = i + 1 == end ||
                    m->l->v[m->pairs[i + 1].row].worker != m->l->v[m->pairs[i].row].worker;
        if (!last) continue;
        if (want && n != want) return false;
        want = n;
        n = 0;
    }
    return true;
}

/* ---- different numbers of calls ---------------------------------------------------------- */

enum { LEAST_CALLS = 4, MOST_SHIFTS = 256 };

/* Calls of one worker in a run of equal keys, by time. */
typedef struct {
    uint32_t first, n;
} part;

static int64_t end_of(const matcher *m, uint32_t i) {
    return m->l->v[m->pairs[i].row].hull.end;
}

static uint32_t part_end(const matcher *m, uint32_t first, uint32_t end) {
    uint32_t i = first;
    while (i < end && m->l->v[m->pairs[i].row].worker == m->l->v[m->pairs[first].row].worker)
        i++;
    return i;
}

static int64_t median_of(sort_pair *v, uint32_t n) {
    sort_radix(v, v + n, n);
    return (int64_t)(v[n / 2].key ^ (uint64_t)1 << 63);
}

/* How far apart the ends are at this shift, and how much that varies; -1: too few. */
static int64_t spread_at(const matcher *m, part a, part b, int64_t shift, int64_t *apart) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < b.n; i++) {
        int64_t k = add_i64(i, shift);
        if (k < 0 || k >= a.n) continue;
        int64_t by = sub_i64(end_of(m, b.first + i), end_of(m, a.first + (uint32_t)k));
        m->scratch[n++] = (sort_pair){sort_key(by), i};
    }
    if (n < LEAST_CALLS || n < b.n / 2) return -1;
    *apart = median_of(m->scratch, n);
    for (uint32_t i = 0; i < n; i++) {
        int64_t by = (int64_t)(m->scratch[i].key ^ (uint64_t)1 << 63);
        m->scratch[i].key = sort_key(by > *apart ? sub_i64(by, *apart) : sub_i64(*apart, by));
    }
    return median_of(m->scratch, n);
}

/* The median time from one call to the next. */
static int64_t usual_gap(const matcher *m, part a) {
    uint32_t n = a.n - 1 < m->l->n / 2 ? a.n - 1 : m->l->n / 2; /* scratch holds two of each */
    for (uint32_t i = 0; i < n; i++)
        m->scratch[i] = (sort_pair){
            sort_key(sub_i64(end_of(m, a.first + i + 1), end_of(m, a.first + i))), i};
    return n ? median_of(m->scratch, n) : 0;
}

/* How far apart the clocks of two workers are by these calls; false: the calls do not tell. */
static bool find_apart(const matcher *m, part a, part b, int64_t *apart) {
    int64_t more = (int64_t)a.n - b.n, best = INT64_MAX, next = INT64_MAX;
    int64_t end = min_i64(add_i64(more, LEAST_CALLS + 1), MOST_SHIFTS);
    for (int64_t s = -LEAST_CALLS; s < end; s++) {
        int64_t at, spread = spread_at(m, a, b, s, &at);
        if (spread < 0) continue;
        if (spread < best) {
            next = best;
            best = spread;
            *apart = at;
        } else if (spread < next) {
            next = spread;
        }
    }
    return best < next / 2 && best <= usual_gap(m, a) / 4;
}

/* Calls of b where those of a are: both by time, each once. */
static void match_parts(matcher *m, part a, part b, uint64_t run, int64_t apart) {
    int64_t near = usual_gap(m, a) / 4;
    for (uint32_t i = 0, k = 0; i < b.n; i++) {
        int64_t want = sub_i64(end_of(m, b.first + i), apart);
        while (k < a.n && end_of(m, a.first + k) < sub_i64(want, near)) k++;
        if (k >= a.n || end_of(m, a.first + k) > add_i64(want, near)) continue;
        m->key[m->pairs[b.first + i].row] = run << 32 | k++;
    }
}

/* Matches a run by the worker that has most of its calls. */
static void align_run(matcher *m, uint32_t first, uint32_t end, uint64_t run) {
    part most = {first, 0};
    for (uint32_t at = first; at < end; at = part_end(m, at, end)) {
        part p = {at, part_end(m, at, end) - at};
        if (p.n > most.n) most = p;
    }
    for (uint32_t i = 0; i < most.n; i++) m->key[m->pairs[most.first + i].row] = run << 32 | i;
    for (uint32_t at = first; at < end; at = part_end(m, at, end)) {
        part p = {at, part_end(m, at, end) - at};
        int64_t apart;
        if (at == most.first) continue;
        for (uint32_t i = at; i < at + p.n; i++) /* alone until it is found */
            m->key[m->pairs[i].row] = run << 32 | (end - first + (i - first));
        if (find_apart(m, most, p, &apart)) match_parts(m, most, p, run, apart);
    }
}

/* New keys: run and occurrence; members that cannot be matched get a separate key. */
static void number_meetings(matcher *m) {
    uint64_t run = 0;
    for (uint32_t first = 0, end; first < m->l->n; first = end, run++) {
        for (end = first; end < m->l->n && m->pairs[end].key == m->pairs[first].key; end++) {}
        bool lone = has_no_partner(m, m->pairs[first].row);
        bool even = !m->by_order[m->pairs[first].row] || (!lone && is_even(m, first, end));
        if (!even && !lone) {
            align_run(m, first, end, run);
            continue;
        }
        uint32_t occurrence = 0;
        for (uint32_t i = first; i < end; i++) {
            bool same = i > first &&
                        m->l->v[m->pairs[i].row].worker == m->l->v[m->pairs[i - 1].row].worker;
            occurrence = same ? occurrence + 1 : 0;
            m->key[m->pairs[i].row] = run << 32 | (even ? occurrence : i - first);
        }
    }
    for (uint32_t i = 0; i < m->l->n; i++) m->pairs[i].key = m->key[m->pairs[i].row];
    sort_radix(m->pairs, m->scratch, m->l->n);
}

status comm_match_find(const collective_list *l, uint32_t n_workers, arena *a,
                       comm_matches *out, error *err) {
    size_t n = (size_t)l->n + 1;
    matcher m = {.l = l, .arena = a};
    m.pairs = ARENA_ARRAY(a, sort_pair, n);
    m.scratch = ARENA_ARRAY(a, sort_pair, n);
    m.key = ARENA_ARRAY(a, uint64_t, n);
    m.by_order = ARENA_ARRAY(a, bool, n);
    comm_matches made = {.member = ARENA_ARRAY(a, uint32_t, n),
                         .first = ARENA_ARRAY(a, uint32_t, n + 1)};
    if (!m.pairs || !m.scratch || !m.key || !m.by_order || !made.member || !made.first)
        FAIL_MEMORY(err);
    sort_all(&m);
    number_meetings(&m);
    for (uint32_t i = 0; i < l->n; i++) {
        made.member[i] = m.pairs[i].row;
        if (!i || m.pairs[i].key != m.pairs[i - 1].key) made.first[made.n++] = i;
    }
    made.first[made.n] = l->n;
    for (uint32_t i = 0; i < made.n; i++) {
        uint32_t members = made.first[i + 1] - made.first[i];
        *(members > 1 || n_workers == 1 ? &made.n_matched : &made.n_alone) += members;
    }
    *out = made;
    return OK;
}

int64_t collective_arrival(const collective_list *l, const collective *c) {
    return l->ranges[c->first_range + (c->n_ranges > 1)].start;
}
