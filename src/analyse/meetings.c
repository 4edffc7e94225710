/* meetings.c: which collectives of different workers are one and the same.
 *
 * All collectives get a 64-bit key; three stable sorts (start, worker, key) bring equal keys
 * together in order of worker and time. The n-th of a worker meets the n-th of the others.
 * Where only order is known, one missing call would shift all that follow: such keys are
 * matched only when every worker that has any has equally many; the others stay alone and
 * are counted. */
#include "analyse/meetings.h"

#include "base/hash.h"
#include "base/map.h"
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

static uint64_t make_key(const collective *c, bool *by_order) {
    uint64_t group = hash_bytes64(c->group.p, c->group.n),
             name = hash_bytes64(c->name.p, c->name.n);
    *by_order = false;
    if (c->comms_id != ABSENT_I64) return hash_pair(1, hash_pair((uint64_t)c->comms_id, name));
    if (c->sequence != ABSENT_I64)
        return hash_pair(hash_pair(2, group), hash_pair((uint64_t)c->sequence, name));
    *by_order = true;
    return hash_pair(hash_pair(3, group), name);
}

static void sort_all(matcher *m) {
    const collective_list *l = m->l;
    for (uint32_t i = 0; i < l->n; i++) {
        m->key[i] = make_key(&l->v[i], &m->by_order[i]);
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

/* New keys: run and occurrence; members that cannot be matched get a key of their own. */
static void number_meetings(matcher *m) {
    uint64_t run = 0;
    for (uint32_t first = 0, end; first < m->l->n; first = end, run++) {
        for (end = first; end < m->l->n && m->pairs[end].key == m->pairs[first].key; end++) {}
        bool even = !m->by_order[m->pairs[first].row] || is_even(m, first, end);
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

status meetings_find(const collective_list *l, uint32_t n_workers, arena *a, meetings *out,
                     error *err) {
    size_t n = (size_t)l->n + 1;
    matcher m = {.l = l, .arena = a};
    m.pairs = ARENA_ARRAY(a, sort_pair, n);
    m.scratch = ARENA_ARRAY(a, sort_pair, n);
    m.key = ARENA_ARRAY(a, uint64_t, n);
    m.by_order = ARENA_ARRAY(a, bool, n);
    meetings made = {.member = ARENA_ARRAY(a, uint32_t, n),
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

/* ---- clocks ------------------------------------------------------------------------------ */

static int64_t median(int64_t *v, sort_pair *pairs, sort_pair *scratch, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) pairs[i] = (sort_pair){sort_key(v[i]), i};
    sort_radix(pairs, scratch, n);
    return v[pairs[n / 2].row];
}

static int64_t absolute_end(const collective *c, const worker_clock *clocks) {
    return add_i64(clocks[c->worker].base, c->hull.end);
}

/* Differences of the ends of a worker from the first worker's, over all meetings of both. */
static uint32_t collect_differences(const collective_list *l, const meetings *m,
                                    const worker_clock *clocks, const sort_pair *by_worker,
                                    int64_t *out) {
    uint32_t n = 0;
    for (; by_worker->row != UINT32_MAX; by_worker++) {
        const collective *c = &l->v[m->member[by_worker->row]];
        const collective *reference = &l->v[m->member[m->first[(uint32_t)by_worker->key]]];
        out[n++] = sub_i64(absolute_end(c, clocks), absolute_end(reference, clocks));
    }
    return n;
}

status clocks_align(const collective_list *l, const meetings *m, worker_clock *clocks,
                    uint32_t n_workers, error *err) {
    size_t n = (size_t)l->n + 2;
    sort_pair *places = ARENA_ARRAY(l->arena, sort_pair, n),
              *scratch = ARENA_ARRAY(l->arena, sort_pair, n);
    sort_pair *one = ARENA_ARRAY(l->arena, sort_pair, n);
    uint32_t *meeting_of = ARENA_ARRAY(l->arena, uint32_t, n);
    int64_t *differences = ARENA_ARRAY(l->arena, int64_t, n);
    if (!places || !scratch || !one || !meeting_of || !differences) FAIL_MEMORY(err);
    uint32_t used = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        if (l->v[m->member[m->first[i]]].worker != 0)
            continue; /* the first worker was not there */
        for (uint32_t k = m->first[i] + 1; k < m->first[i + 1]; k++) {
            meeting_of[k] = i;
            places[used++] = (sort_pair){l->v[m->member[k]].worker, k};
        }
    }
    sort_radix(places, scratch, used);
    for (uint32_t first = 0, end; first < used; first = end) {
        for (end = first; end < used && places[end].key == places[first].key; end++)
            one[end - first] = (sort_pair){meeting_of[places[end].row], places[end].row};
        one[end - first].row = UINT32_MAX;
        uint32_t worker = (uint32_t)places[first].key;
        uint32_t count = collect_differences(l, m, clocks, one, differences);
        if (worker >= n_workers || !count) continue;
        worker_clock *c = &clocks[worker];
        int64_t offset = median(differences, one, scratch, count);
        for (uint32_t i = 0; i < count; i++) {
            int64_t away = sub_i64(differences[i], offset);
            differences[i] = away < 0 ? sub_i64(0, away) : away;
        }
        c->n = count;
        c->residual = median(differences, one, scratch, count);
        int64_t size = offset < 0 ? sub_i64(0, offset) : offset;
        c->offset = size > 1000000 && size / 4 > c->residual ? offset : 0;
    }
    return OK;
}
