/* period.c: does a sequence of names repeat, and where does each round begin?
 *
 *   a b c c d  a b c c d  a b x c c d  a b c c d
 *   |          |          |            |           `a` occurs once a round: an anchor
 *
 * A name that occurs once a round occurs as often as there are rounds, and most others a
 * multiple of that. So the counts of names are the candidates; the best are looked at. The
 * occurrences of a name with that count cut the sequence into pieces; a piece is like its
 * neighbor when nine tenths of their contents are the same, in any order: warm-up, other
 * branches and inserts cost only themselves.
 *
 * A loop inside a round (layers, micro-batches) repeats, too, and more often. It is recognized
 * by its odd pieces, those that reach from one round into the next: when nearly every round of
 * a coarser candidate holds one, the coarser wins. One pass through many equal layers has no
 * coarser one: what happens outside of them, and never in them, reveals it, unless every round
 * does what a loop does (`ends`). What one call launches (a graph) is never cut.
 *
 * Time is linear: a few candidates, one pass for each. */
#include "store/period.h"

#include "base/map.h"
#include "base/num.h"

enum {
    LEAST_ROUNDS = 3,
    LEAST_LENGTH = 4,    /* elements of a round: shorter ones are one operator's kernels */
    LEAST_ELEMENTS = 12, /* of the sequence */
    N_TRIES = 12,
    BUCKETS = 64, /* of the histogram of a piece */
};

typedef struct {
    uint32_t rounds, anchor;
    uint32_t *starts;
    uint8_t *odd;   /* by piece: unlike its neighbors */
    double regular; /* share of the elements of whole pieces, warm-up aside, that are not odd */
    double similar; /* of all elements, those in pieces that are not odd */
    bool last_is_whole, cuts_calls;
    uint64_t weight; /* elements whose name has a multiple of this count */
} candidate;

typedef struct {
    const period_question *q;
    arena *arena;
    uint32_t *count, *first, *last, *gap; /* by symbol; gap: the longest between two */
    candidate tries[N_TRIES];
    uint32_t n_tries;
} finder;

static void count_symbols(finder *f) {
    const period_question *q = f->q;
    for (uint32_t i = 0; i < q->n; i++) {
        uint32_t s = q->symbols[i];
        if (!f->count[s]++)
            f->first[s] = i;
        else if (i - f->last[s] > f->gap[s])
            f->gap[s] = i - f->last[s];
        f->last[s] = i;
    }
}

/* Keeps the heaviest candidates, heaviest first; of equal ones that with more rounds. */
static void offer(finder *f, uint32_t rounds, uint64_t weight) {
    uint32_t at = f->n_tries;
    while (at && (f->tries[at - 1].weight < weight ||
                  (f->tries[at - 1].weight == weight && f->tries[at - 1].rounds < rounds)))
        at--;
    if (at == N_TRIES) return;
    uint32_t end = f->n_tries < N_TRIES ? f->n_tries++ : N_TRIES - 1;
    for (uint32_t i = end; i > at; i--) f->tries[i] = f->tries[i - 1];
    f->tries[at] = (candidate){.rounds = rounds, .weight = weight};
}

/* The counts of symbols, weighed by what they could explain. */
static status list_candidates(finder *f, error *err) {
    uint32_t n = f->q->n, most = n / LEAST_LENGTH;
    uint32_t *symbols = ARENA_ARRAY(f->arena, uint32_t, (size_t)n + 1); /* by count */
    if (!symbols) FAIL_MEMORY(err);
    for (uint32_t s = 0; s < f->q->n_symbols; s++) symbols[f->count[s]]++;
    for (uint32_t c = LEAST_ROUNDS; c <= most; c++) {
        if (!symbols[c]) continue;
        uint64_t weight = 0;
        for (uint64_t k = c; k <= n; k += c) weight += k * symbols[k];
        offer(f, c, weight);
    }
    return OK;
}

/* The symbol of that count whose occurrences are spread most evenly; of those nearly as even
 * the one that comes first. */
static uint32_t choose_anchor(const finder *f, uint32_t rounds) {
    uint32_t best = UINT32_MAX, least = UINT32_MAX;
    for (uint32_t s = 0; s < f->q->n_symbols; s++)
        if (f->count[s] == rounds && f->gap[s] < least) least = f->gap[s];
    for (uint32_t s = 0; s < f->q->n_symbols; s++) {
        if (f->count[s] != rounds || f->gap[s] > least + least / 2) continue;
        if (best == UINT32_MAX || f->first[s] < f->first[best]) best = s;
    }
    return best;
}

/* Share of what two pieces hold that is the same. */
static double likeness(const uint32_t *a, const uint32_t *b, uint32_t n_a, uint32_t n_b) {
    uint64_t differ = 0;
    for (int i = 0; i < BUCKETS; i++) differ += a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
    return 1 - (double)differ / (double)((uint64_t)n_a + n_b);
}

static uint32_t end_of(const finder *f, const candidate *c, uint32_t piece) {
    return piece + 1 < c->rounds ? c->starts[piece + 1] : f->q->n;
}

/* Cuts the sequence at the anchor and marks the pieces that are unlike both neighbors. */
static status cut(finder *f, candidate *c, error *err) {
    const period_question *q = f->q;
    uint32_t histogram[2][BUCKETS], size[2] = {0, 0}, n = 0;
    c->starts = ARENA_ARRAY(f->arena, uint32_t, (size_t)c->rounds + 1);
    c->odd = ARENA_ARRAY(f->arena, uint8_t, (size_t)c->rounds + 1);
    if (!c->starts || !c->odd) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < q->n; i++)
        if (q->symbols[i] == c->anchor) {
            c->cuts_calls |= n && q->calls[i] && q->calls[i] == q->calls[c->starts[n - 1]];
            c->starts[n++] = i;
        }
    memset(c->odd, 1, c->rounds);
    for (uint32_t p = 0; p < c->rounds; p++) {
        uint32_t *own = histogram[p % 2], from = c->starts[p], end = end_of(f, c, p);
        memset(own, 0, sizeof histogram[0]);
        for (uint32_t i = from; i < end; i++) own[hash_u64(q->symbols[i]) % BUCKETS]++;
        size[p % 2] = end - from;
        bool like = p && likeness(histogram[0], histogram[1], size[0], size[1]) >= 0.9;
        if (like) c->odd[p] = c->odd[p - 1] = 0;
        if (p + 1 == c->rounds) c->last_is_whole = like;
    }
    return OK;
}

static void measure(const finder *f, candidate *c) {
    uint64_t whole = 0, regular = 0, similar = 0;
    for (uint32_t p = 0; p < c->rounds; p++) {
        uint32_t n = end_of(f, c, p) - c->starts[p];
        if (!c->odd[p]) similar += n;
        if (p < c->rounds / 4 || p + 1 == c->rounds) continue; /* warm-up; the cut-off end */
        whole += n;
        if (!c->odd[p]) regular += n;
    }
    c->regular = whole ? (double)regular / (double)whole : 0;
    c->similar = (double)similar / (double)f->q->n;
}

/* Is nearly every round of the coarser candidate one with an odd piece of the finer? */
static bool explains(const finder *f, const candidate *coarse, const candidate *fine) {
    uint32_t with = 0, p = 0;
    for (uint32_t r = 0; r + 1 < coarse->rounds; r++) {
        bool odd = false;
        while (p < fine->rounds && fine->starts[p] < coarse->starts[r]) p++;
        if (p) odd = fine->odd[p - 1]; /* the piece that reaches into the round */
        for (; p < fine->rounds && fine->starts[p] < end_of(f, coarse, r); p++)
            odd |= fine->odd[p];
        with += odd;
    }
    return with * 5ull >= (coarse->rounds - 1) * 4ull;
}

static bool is_good(const candidate *c) {
    return !c->cuts_calls && c->regular >= 0.8 && c->similar >= 0.6;
}

/* Does nearly every round do what a loop does once a round? */
static bool rounds_end(const finder *f, const candidate *c) {
    uint32_t with = 0;
    for (uint32_t p = 0; p + 1 < c->rounds; p++) {
        bool any = false;
        for (uint32_t i = c->starts[p]; i < c->starts[p + 1]; i++) any |= f->q->ends[i];
        with += any;
    }
    return with * 5ull >= (c->rounds - 1) * 4ull;
}

/* From fine to coarse: the tries are few. Rounds that do what a loop does are not parts of
 * one. */
static const candidate *choose(finder *f) {
    const candidate *best = NULL;
    for (;;) {
        const candidate *next = NULL;
        for (uint32_t i = 0; i < f->n_tries; i++) {
            const candidate *c = &f->tries[i];
            if (!is_good(c) || (best && c->rounds >= best->rounds)) continue;
            if (best && (rounds_end(f, best) || !explains(f, c, best))) continue;
            if (!next || c->rounds > next->rounds) next = c;
        }
        if (!next) return best;
        best = next;
    }
}

/* Does anything happen, warm-up aside, that happens in no piece like its neighbors? */
static bool has_strangers(const finder *f, const candidate *c, uint8_t *usual) {
    const uint32_t *symbols = f->q->symbols;
    for (uint32_t p = 0; p < c->rounds; p++)
        for (uint32_t i = c->starts[p]; !c->odd[p] && i < end_of(f, c, p); i++)
            usual[symbols[i]] = 1;
    for (uint32_t i = 0; i < c->starts[0]; i++)
        if (!usual[symbols[i]]) return true;
    for (uint32_t i = c->starts[c->rounds / 4]; i < f->q->n; i++)
        if (!usual[symbols[i]]) return true;
    return false;
}

status period_find(const period_question *q, arena *a, period *out, error *err) {
    finder f = {.q = q, .arena = a};
    *out = (period){.n = 0};
    if (q->n < LEAST_ELEMENTS) return OK;
    size_t n = (size_t)q->n_symbols + 1;
    f.count = ARENA_ARRAY(a, uint32_t, n);
    f.first = ARENA_ARRAY(a, uint32_t, n);
    f.last = ARENA_ARRAY(a, uint32_t, n);
    f.gap = ARENA_ARRAY(a, uint32_t, n);
    if (!f.count || !f.first || !f.last || !f.gap) FAIL_MEMORY(err);
    count_symbols(&f);
    TRY(list_candidates(&f, err));
    for (uint32_t i = 0; i < f.n_tries; i++) {
        f.tries[i].anchor = choose_anchor(&f, f.tries[i].rounds);
        TRY(cut(&f, &f.tries[i], err));
        measure(&f, &f.tries[i]);
    }
    const candidate *best = choose(&f);
    uint8_t *usual = arena_array(a, n, 1);
    if (!usual) FAIL_MEMORY(err);
    if (!best || (!rounds_end(&f, best) && has_strangers(&f, best, usual))) return OK;
    *out = (period){.starts = best->starts,
                    .n = best->rounds,
                    .last_is_whole = best->last_is_whole,
                    .confidence = best->similar};
    return OK;
}
