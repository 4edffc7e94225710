/* launch_match.c: which launches of one step are those of another.
 *
 *     known   a b c d e f g h         b c d … f g are runs: equal, one after the other, in both
 *     other   a b c d X f g h         X is unknown, and so is what is near it
 *
 * Equal launches do not have to come from the same code: another branch may begin or end with
 * the kernels of the one that was taken before, and one of many equal layers may have been left
 * out. So a launch is certain only where nothing else can be meant:
 *
 *   - not within NEAR launches of a difference: different code agrees for a few launches by
 *     chance
 *   - not within a stretch next to a difference that occurs in either list a second time: then
 *     the difference may as well lie on the other side of it
 *
 * A run that begins where both lists begin, or ends where both end, has no difference there.
 * Runs are found as by people: what is equal at both ends, then launches that occur once in
 * each of the two parts that remain, in the same order, and what is equal around them. */
#include "store/launch_match.h"

#include "base/bisect.h"
#include "base/map.h"
#include "base/sort.h"

enum { NEAR = 16, MOST_RUNS = 64 };

typedef struct {
    uint32_t known, other, n; /* first launch in each list, and how many are equal */
} run;

typedef struct {
    launch_list known, other;
    launch_list known_back, other_back; /* the same, last launch first */
    run runs[MOST_RUNS];
    uint32_t n_runs;
    uint32_t *own; /* scratch, as long as the longer list */
    arena scratch;
} launch_match_ctx;

/* ---- runs -------------------------------------------------------------------------------- */

static uint32_t equal_front(const uint64_t *a, const uint64_t *b, uint32_t most) {
    uint32_t n = 0;
    while (n < most && a[n] == b[n]) n++;
    return n;
}

static uint32_t smaller(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* Launches that occur once in each part: places in the parts, ascending in `known`. */
typedef struct {
    uint32_t known, other;
} anchor;

enum { ONCE_LIMIT = UINT32_MAX - 1 }; /* a place in a map: occurs more than once */

static status note_places(map *to, const uint64_t *key, uint32_t from, uint32_t end) {
    for (uint32_t i = from; i < end; i++) {
        uint32_t *at = map_at(to, key[i]);
        if (!at) return ERR_MEMORY;
        *at = *at == MAP_NONE ? i : ONCE_LIMIT;
    }
    return OK;
}

static status find_anchors(launch_match_ctx *m, run middle, uint32_t n_other, anchor *to,
                           uint32_t *n) {
    map in_known = {0}, in_other = {0};
    status st = note_places(&in_known, m->known.key, middle.known, middle.known + middle.n);
    if (st == OK)
        st = note_places(&in_other, m->other.key, middle.other, middle.other + n_other);
    for (uint32_t i = middle.known; i < middle.known + middle.n && st == OK; i++) {
        if (map_get(&in_known, m->known.key[i]) != i) continue;
        uint32_t place = map_get(&in_other, m->known.key[i]);
        if (place != MAP_NONE && place != ONCE_LIMIT) to[(*n)++] = (anchor){i, place};
    }
    map_fini(&in_known);
    map_fini(&in_other);
    return st;
}

/* Keeps the most anchors that ascend in both lists (patience sorting); how many. `last[k]` ends
 * the chain of k + 1 that ends earliest, `before` is the chain backwards. */
static uint32_t keep_ascending(anchor *a, uint32_t n, uint32_t *last, uint32_t *before) {
    uint32_t longest = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t low = SEARCH_FIRST(at, 0, longest, a[last[at]].other < a[i].other);
        before[i] = low ? last[low - 1] : UINT32_MAX;
        last[low] = i;
        if (low == longest) longest++;
    }
    uint32_t at = longest ? last[longest - 1] : 0;
    for (uint32_t k = longest; k > 0; k--) {
        last[k - 1] = at;
        at = before[at];
    }
    for (uint32_t k = 0; k < longest; k++) a[k] = a[last[k]];
    return longest;
}

/* What is equal around an anchor, between the run before it and the end of the parts. */
static run grow(const launch_match_ctx *m, anchor a, run before, uint32_t end_known,
                uint32_t end_other) {
    uint32_t back = 0, free_known = a.known - (before.known + before.n),
             free_other = a.other - (before.other + before.n);
    while (back < smaller(free_known, free_other) &&
           m->known.key[a.known - 1 - back] == m->other.key[a.other - 1 - back])
        back++;
    uint32_t n = equal_front(m->known.key + a.known, m->other.key + a.other,
                             smaller(end_known - a.known, end_other - a.other));
    return (run){a.known - back, a.other - back, back + n};
}

/* More runs than there is room for: the steps have too little in common. */
static status add_middle(launch_match_ctx *m, run middle, uint32_t n_other, error *err) {
    uint32_t room = smaller(middle.n, n_other) + 1, n = 0;
    anchor *anchors = ARENA_ARRAY(&m->scratch, anchor, room);
    uint32_t *last = ARENA_ARRAY(&m->scratch, uint32_t, 2 * (size_t)room);
    if (!anchors || !last || find_anchors(m, middle, n_other, anchors, &n) != OK)
        FAIL_MEMORY(err);
    n = keep_ascending(anchors, n, last, last + room);
    run before = {middle.known, middle.other, 0};
    for (uint32_t i = 0; i < n; i++) {
        if (anchors[i].known < before.known + before.n ||
            anchors[i].other < before.other + before.n)
            continue; /* inside the run before */
        if (m->n_runs == MOST_RUNS - 1) return OK;
        before = grow(m, anchors[i], before, middle.known + middle.n, middle.other + n_other);
        m->runs[m->n_runs++] = before;
    }
    return OK;
}

static status find_runs(launch_match_ctx *m, error *err) {
    uint32_t most = smaller(m->known.n, m->other.n);
    uint32_t front = equal_front(m->known.key, m->other.key, most);
    uint32_t back = equal_front(m->known_back.key, m->other_back.key, most - front);
    run middle = {front, front, m->known.n - front - back};
    uint32_t n_other = m->other.n - front - back;
    m->runs[m->n_runs++] = (run){0, 0, front};
    if (middle.n && n_other) TRY(add_middle(m, middle, n_other, err));
    m->runs[m->n_runs++] = (run){m->known.n - back, m->other.n - back, back};
    return OK;
}

/* ---- what is certain --------------------------------------------------------------------- */

/* own[i]: how much of the front of p occurs at i in p itself (the Z function). */
static void find_own(const uint64_t *p, uint32_t n, uint32_t *own) {
    uint32_t left = 0, right = 0;
    if (n) own[0] = n;
    for (uint32_t i = 1; i < n; i++) {
        uint32_t k = i < right ? smaller(right - i, own[i - left]) : 0;
        while (i + k < n && p[k] == p[i + k]) k++;
        own[i] = k;
        if (i + k > right) {
            left = i;
            right = i + k;
        }
    }
}

/* The longest front of the n launches from `at` that occurs elsewhere in the list, too. */
static uint32_t longest_repeat(launch_match_ctx *m, launch_list l, uint32_t at, uint32_t n) {
    const uint64_t *p = l.key + at;
    uint32_t longest = 0, left = 0, right = 0;
    find_own(p, n, m->own);
    for (uint32_t i = 0; i < l.n && longest < n; i++) {
        uint32_t k = i < right ? smaller(right - i, m->own[i - left]) : 0;
        while (k < n && i + k < l.n && p[k] == l.key[i + k]) k++;
        if (i + k > right) {
            left = i;
            right = i + k;
        }
        if (i != at && k > longest) longest = k;
    }
    return longest;
}

static uint32_t larger(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

/* Launches at the front and at the end of a run that are not certain. */
static uint32_t unsure_front(launch_match_ctx *m, run r) {
    if (r.known == 0 && r.other == 0) return 0;
    return NEAR + larger(longest_repeat(m, m->known, r.known, r.n),
                         longest_repeat(m, m->other, r.other, r.n));
}

static uint32_t unsure_back(launch_match_ctx *m, run r) {
    uint32_t known = m->known.n - (r.known + r.n), other = m->other.n - (r.other + r.n);
    if (known == 0 && other == 0) return 0;
    return NEAR + larger(longest_repeat(m, m->known_back, known, r.n),
                         longest_repeat(m, m->other_back, other, r.n));
}

static uint32_t write_run(launch_match_ctx *m, run r, uint32_t *match) {
    bool is_whole = r.n == m->known.n && r.n == m->other.n;
    if (r.n <= NEAR && !is_whole) return 0;
    uint64_t front = unsure_front(m, r), back = front < r.n ? unsure_back(m, r) : 0;
    if (front + back >= r.n) return 0;
    for (uint64_t i = front; i < r.n - back; i++) match[r.other + i] = r.known + (uint32_t)i;
    return (uint32_t)(r.n - front - back);
}

static uint64_t *backwards(arena *a, launch_list l) {
    uint64_t *to = ARENA_ARRAY(a, uint64_t, (size_t)l.n + 1);
    for (uint32_t i = 0; to && i < l.n; i++) to[i] = l.key[l.n - 1 - i];
    return to;
}

static status prepare(launch_match_ctx *m, error *err) {
    m->known_back = (launch_list){backwards(&m->scratch, m->known), m->known.n};
    m->other_back = (launch_list){backwards(&m->scratch, m->other), m->other.n};
    m->own = ARENA_ARRAY(&m->scratch, uint32_t, (size_t)larger(m->known.n, m->other.n) + 1);
    if (!m->known_back.key || !m->other_back.key || !m->own) FAIL_MEMORY(err);
    return OK;
}

status launch_match(launch_list known, launch_list other, uint32_t *match, uint32_t *n_matched,
                    error *err) {
    launch_match_ctx m = {.known = known, .other = other};
    *n_matched = 0;
    for (uint32_t i = 0; i < other.n; i++) match[i] = LAUNCH_UNKNOWN;
    if (known.n == 0 || other.n == 0) return OK;
    arena_init(&m.scratch, 0);
    status st = prepare(&m, err);
    if (st == OK) st = find_runs(&m, err);
    for (uint32_t i = 0; i < m.n_runs && st == OK; i++)
        *n_matched += write_run(&m, m.runs[i], match);
    arena_fini(&m.scratch);
    return st;
}
