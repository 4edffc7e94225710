/* comm_match.c: which collectives of different workers are one and the same.
 *
 * All collectives get a 64-bit key; three stable sorts (start, worker, key) bring equal keys
 * together in order of worker and time. The n-th of a worker meets the n-th of the others.
 * Where only order is known, one missing call would shift all that follow: such keys are
 * matched only when every worker that has any has equally many; the others stay alone and
 * are counted. So do transfers between two workers that name neither: the n-th calls of
 * two workers may be unrelated. */
#include "analyse/run/comm_match.h"

#include "base/hash.h"
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

/* New keys: run and occurrence; members that cannot be matched get a separate key. */
static void number_meetings(matcher *m) {
    uint64_t run = 0;
    for (uint32_t first = 0, end; first < m->l->n; first = end, run++) {
        for (end = first; end < m->l->n && m->pairs[end].key == m->pairs[first].key; end++) {}
        bool even = !m->by_order[m->pairs[first].row] ||
                    (!has_no_partner(m, m->pairs[first].row) && is_even(m, first, end));
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
