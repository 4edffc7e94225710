/* comm_groups.c: the groups of workers of a run, and which is slower than similar ones.
 *
 * Rows `group` of the summary are by group, kind of collective and order of bytes; here they
 * come together by group. Each of them is compared with the rows of other groups that do the
 * same (kind of collective, order of bytes, number of members): the median of their mean
 * transfers is what it should take. */
#include "analyse/run/comm_groups.h"

#include <math.h>

#include "base/bisect.h"
#include "base/num.h"
#include "base/sort.h"
#include "store/schema.h"

enum { LEAST_LIKE = 4 }; /* groups to compare, itself included */
#define SLOW_RATIO 1.5

str comm_group_name(comm_group_kind k) {
    static const char *const names[N_COMM_GROUPS] = {
        [GROUP_WORLD] = "world",       [GROUP_DATA] = "data",     [GROUP_TENSOR] = "tensor",
        [GROUP_PIPELINE] = "pipeline", [GROUP_EXPERT] = "expert", [GROUP_CONTEXT] = "context",
        [GROUP_OTHER] = "other",
    };
    return k < N_COMM_GROUPS ? str_of(names[k]) : STR_NONE;
}

/* ---- what it is for ---------------------------------------------------------------------- */

static const struct {
    const char *word;
    bool whole; /* the word is alone; else anywhere in it */
    comm_group_kind kind;
} words[] = {
    {"tensor", false, GROUP_TENSOR},
    {"tp", true, GROUP_TENSOR},
    {"pipeline", false, GROUP_PIPELINE},
    {"pp", true, GROUP_PIPELINE},
    {"expert", false, GROUP_EXPERT},
    {"ep", true, GROUP_EXPERT},
    {"context", false, GROUP_CONTEXT},
    {"cp", true, GROUP_CONTEXT},
    {"sequence", false, GROUP_CONTEXT},
    {"data", false, GROUP_DATA},
    {"dp", true, GROUP_DATA},
    {"fsdp", true, GROUP_DATA},
    {"ddp", true, GROUP_DATA},
    {"shard", false, GROUP_DATA},
};

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool says(str text, const char *word, bool whole) {
    str w = str_of(word);
    for (size_t at = 0; (at = str_find_nocase(text, w, at)) != SIZE_MAX; at++) {
        bool before = at > 0 && is_letter(text.p[at - 1]),
             after = at + w.n < text.n && is_letter(text.p[at + w.n]);
        if (!whole || (!before && !after)) return true;
    }
    return false;
}

static bool kind_of_words(str text, comm_group_kind *out) {
    for (size_t i = 0; text.n && i < sizeof words / sizeof *words; i++)
        if (says(text, words[i].word, words[i].whole)) {
            *out = words[i].kind;
            return true;
        }
    return false;
}

/* How far apart its ranks are; 0 when it is not always the same or the ranks are not known. */
static int64_t stride_of(const comm_groups *p, const comm_group *g, const worker_order *who) {
    int64_t stride = 0;
    const uint32_t *m = p->member + g->first_member;
    for (uint32_t i = 1; i < g->n_members; i++) {
        int64_t x = who->v[m[i - 1]]->rank, y = who->v[m[i]]->rank;
        if (x == ABSENT_I64 || y == ABSENT_I64) return 0;
        if (i > 1 && sub_i64(y, x) != stride) return 0;
        stride = sub_i64(y, x);
    }
    return stride;
}

static comm_group_kind kind_of_deeds(const comm_groups *p, const comm_group *g,
                                     const worker_order *who, const int64_t *by_type) {
    int64_t points = by_type[COMM_POINT], experts = by_type[COMM_ALL_TO_ALL], all = 0;
    for (int i = 0; i < N_COMM_TYPES; i++) all = add_i64(all, by_type[i]);
    if (points > all / 2) return GROUP_PIPELINE;
    if (experts > all / 2) return GROUP_EXPERT;
    if (g->n_members == who->n) return GROUP_WORLD;
    int64_t stride = stride_of(p, g, who);
    return stride == 1 ? GROUP_TENSOR : stride > 1 ? GROUP_DATA : GROUP_OTHER;
}

/* ---- who is in it ------------------------------------------------------------------------ */

static int compare_places(uint32_t a, uint32_t b, const void *context) {
    (void)context;
    return (a > b) - (a < b);
}

/* Members are by group and worker in the summary, as the groups do. */
static status add_members(const summary *s, const worker_order *who, comm_groups *p,
                          uint32_t *scratch, uint32_t n_groups) {
    const summary_member *m = SUMMARY_ROWS(s, member);
    uint32_t n = SUMMARY_N(s, member), used = 0;
    for (uint32_t g = 0, at = 0; g < n_groups; g++) {
        p->v[g].first_member = used;
        for (; at < n && str_cmp(m[at].group, p->v[g].name) < 0; at++) {}
        for (; at < n && str_eq(m[at].group, p->v[g].name); at++) {
            uint32_t place = worker_order_find(who, m[at].worker);
            if (place != UINT32_MAX) p->member[used++] = place;
        }
        p->v[g].n_members = used - p->v[g].first_member;
        sort_index(p->member + p->v[g].first_member, scratch, p->v[g].n_members, compare_places,
                   NULL);
        p->v[g].size = max_i64(p->v[g].size, p->v[g].n_members);
    }
    return OK;
}

/* ---- which is slow ----------------------------------------------------------------------- */

typedef struct {
    const summary_group *rows;
    uint32_t n;
    uint32_t *order; /* by what makes rows comparable, then by mean transfer */
} likeness;

static int64_t mean_transfer(const summary_group *g) {
    return mean_i64(g->transfer, g->calls);
}

static int compare_like(const summary_group *x, const summary_group *y) {
    if (x->type != y->type) return x->type < y->type ? -1 : 1;
    if (x->size_class != y->size_class) return x->size_class < y->size_class ? -1 : 1;
    if (x->size != y->size) return x->size < y->size ? -1 : 1;
    return 0;
}

static int compare_rows(uint32_t a, uint32_t b, const void *context) {
    const likeness *l = context;
    const summary_group *x = &l->rows[a], *y = &l->rows[b];
    int like = compare_like(x, y);
    if (like) return like;
    int64_t s = mean_transfer(x), t = mean_transfer(y);
    return s != t ? (s < t ? -1 : 1) : (a > b) - (a < b);
}

/* Adds what each row takes beyond the median of similar rows to its group. */
static void compare_all(const likeness *l, const uint32_t *group_of, comm_groups *p,
                        int64_t *usual) {
    for (uint32_t first = 0, end; first < l->n; first = end) {
        for (end = first; end < l->n &&
                          compare_like(&l->rows[l->order[first]], &l->rows[l->order[end]]) == 0;
             end++) {}
        if (end - first < LEAST_LIKE) continue;
        int64_t median = mean_transfer(&l->rows[l->order[first + (end - first) / 2]]);
        for (uint32_t i = first; i < end; i++) {
            const summary_group *row = &l->rows[l->order[i]];
            comm_group *g = &p->v[group_of[l->order[i]]];
            double should = (double)median * (double)row->calls;
            int64_t ns = should < 9e18 ? (int64_t)should : INT64_MAX;
            usual[group_of[l->order[i]]] = add_i64(usual[group_of[l->order[i]]], ns);
            g->excess = add_i64(g->excess, sub_i64(row->transfer, ns));
        }
    }
}

static void judge_group(comm_group *g, int64_t usual) {
    g->slower_by = NAN;
    if (usual <= 0) {
        g->excess = 0;
        return;
    }
    g->slower_by = ((double)usual + (double)g->excess) / (double)usual;
    g->slow = g->slower_by > SLOW_RATIO;
    if (!g->slow) g->excess = max_i64(0, g->excess);
}

/* ---- all of it --------------------------------------------------------------------------- */

static bool same_group(const summary_group *x, const summary_group *y) {
    return str_eq(x->name, y->name) && x->source == y->source && x->target == y->target;
}

/* Groups first, then links: rows of both kinds become entries, group_of tells which. */
static uint32_t join_rows(const summary *s, comm_groups *p, uint32_t *group_of,
                          int64_t (*by_type)[N_COMM_TYPES], comm_group_kind *reported) {
    const summary_group *rows = SUMMARY_ROWS(s, group);
    uint32_t n = SUMMARY_N(s, group), n_groups = 0;
    for (int links = 0; links < 2; links++) {
        const summary_group *last = NULL;
        for (uint32_t i = 0; i < n; i++) {
            if ((rows[i].source != ABSENT_I64) != links) continue;
            if (!last ||
                !(links ? same_group(last, &rows[i]) : str_eq(last->name, rows[i].name))) {
                p->v[p->n] = (comm_group){.name = rows[i].name,
                                          .source = rows[i].source,
                                          .target = rows[i].target,
                                          .bytes = ABSENT_I64};
                reported[p->n++] = N_COMM_GROUPS;
            }
            last = &rows[i];
            comm_group *g = &p->v[p->n - 1];
            group_of[i] = p->n - 1;
            g->size = max_i64(g->size, rows[i].size);
            g->calls = add_i64(g->calls, rows[i].calls);
            if (rows[i].size_class >= 0) /* otherwise the amount of data was not recorded */
                g->bytes = add_i64(max_i64(0, g->bytes), rows[i].bytes);
            g->transfer = add_i64(g->transfer, rows[i].transfer);
            g->waiting = add_i64(g->waiting, rows[i].waiting);
            if (rows[i].type >= 0 && rows[i].type < N_COMM_TYPES)
                by_type[p->n - 1][rows[i].type] =
                    add_i64(by_type[p->n - 1][rows[i].type], rows[i].calls);
            (void)kind_of_words(rows[i].words, &reported[p->n - 1]);
        }
        if (!links) n_groups = p->n;
    }
    return n_groups;
}

/* A world that is the only group works on different data. */
static void name_kinds(comm_groups *p, const worker_order *who, uint32_t n_groups,
                       int64_t (*by_type)[N_COMM_TYPES], const comm_group_kind *reported) {
    for (uint32_t i = 0; i < p->n; i++) {
        comm_group *g = &p->v[i];
        bool link = i >= n_groups;
        g->kind = link                           ? GROUP_PIPELINE
                  : reported[i] != N_COMM_GROUPS ? reported[i]
                                                 : kind_of_deeds(p, g, who, by_type[i]);
        if (g->kind == GROUP_WORLD && n_groups == 1) g->kind = GROUP_DATA;
        if (g->kind != GROUP_DATA) continue;
        for (uint32_t k = 0; k < g->n_members; k++)
            p->data_of[p->member[g->first_member + k]] = i + 1;
    }
}

/* ---- stages ------------------------------------------------------------------------------ */

static uint32_t place_of_rank(const worker_order *w, int64_t rank) {
    uint32_t at =
        SEARCH_FIRST(i, 0u, w->n, w->v[i]->rank != ABSENT_I64 && w->v[i]->rank < rank);
    return at < w->n && w->v[at]->rank == rank ? at : UINT32_MAX;
}

static int compare_links(uint32_t a, uint32_t b, const void *context) {
    const comm_group *v = context;
    return (v[a].source > v[b].source) - (v[a].source < v[b].source);
}

/* Links by their source: a worker's own stage is known before those that it sends to. */
static status find_stages(comm_groups *p, const worker_order *who, arena *a, error *err) {
    uint32_t n = 0;
    uint32_t *order = ARENA_ARRAY(a, uint32_t, (size_t)p->n + 1),
             *scratch = ARENA_ARRAY(a, uint32_t, (size_t)p->n + 1);
    p->stage_of = ARENA_ARRAY(a, uint32_t, (size_t)who->n + 1);
    p->in_stage = ARENA_ARRAY(a, uint32_t, (size_t)who->n + 1);
    if (!order || !scratch || !p->stage_of || !p->in_stage) FAIL_MEMORY(err);
    for (uint32_t g = 0; g < p->n; g++)
        if (p->v[g].source != ABSENT_I64 && p->v[g].source < p->v[g].target) order[n++] = g;
    sort_index(order, scratch, n, compare_links, p->v);
    p->n_stages = 1;
    for (uint32_t i = 0; i < n; i++) {
        const comm_group *g = &p->v[order[i]];
        uint32_t from = place_of_rank(who, g->source), to = place_of_rank(who, g->target);
        if (from == UINT32_MAX || to == UINT32_MAX) continue;
        uint32_t stage = p->stage_of[from] + 1;
        if (stage > p->stage_of[to]) p->stage_of[to] = stage;
        if (stage + 1 > p->n_stages) p->n_stages = stage + 1;
    }
    for (uint32_t i = 0; i < who->n; i++) p->in_stage[p->stage_of[i]]++;
    return OK;
}

status comm_groups_find(const summary *s, const worker_order *who, arena *a, comm_groups *out,
                        error *err) {
    uint32_t n = SUMMARY_N(s, group), n_members = SUMMARY_N(s, member);
    comm_groups p = {.v = ARENA_ARRAY(a, comm_group, (size_t)n + 1),
                     .member = ARENA_ARRAY(a, uint32_t, (size_t)n_members + 1),
                     .data_of = ARENA_ARRAY(a, uint32_t, (size_t)who->n + 1)};
    uint32_t *group_of = ARENA_ARRAY(a, uint32_t, (size_t)n + 1);
    uint32_t *scratch = ARENA_ARRAY(a, uint32_t, (size_t)max_i64(n, n_members) + 1);
    int64_t(*by_type)[N_COMM_TYPES] = arena_array(a, (size_t)n + 1, sizeof *by_type);
    comm_group_kind *reported = ARENA_ARRAY(a, comm_group_kind, (size_t)n + 1);
    int64_t *usual = ARENA_ARRAY(a, int64_t, (size_t)n + 1);
    likeness like = {SUMMARY_ROWS(s, group), n, ARENA_ARRAY(a, uint32_t, (size_t)n + 1)};
    if (!p.v || !p.member || !p.data_of || !group_of || !scratch || !by_type || !reported ||
        !usual || !like.order)
        FAIL_MEMORY(err);
    uint32_t n_groups = join_rows(s, &p, group_of, by_type, reported);
    TRY(add_members(s, who, &p, scratch, n_groups));
    name_kinds(&p, who, n_groups, by_type, reported);
    for (uint32_t i = 0; i < n; i++) like.order[i] = i;
    sort_index(like.order, scratch, n, compare_rows, &like);
    compare_all(&like, group_of, &p, usual);
    for (uint32_t i = 0; i < p.n; i++) judge_group(&p.v[i], usual[i]);
    TRY(find_stages(&p, who, a, err));
    *out = p;
    return OK;
}

bool comm_has_unknown_points(const summary *s) {
    for (uint32_t i = 0; i < SUMMARY_N(s, group); i++) {
        const summary_group *g = &SUMMARY_ROWS(s, group)[i];
        if (g->type == COMM_POINT && g->source == ABSENT_I64) return true;
    }
    return false;
}
