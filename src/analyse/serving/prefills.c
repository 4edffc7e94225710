/* prefills.c: hands out the prompt tokens of iterations to requests, in the order of their
 * first tokens.
 *
 * `free` holds what is left of an iteration's prompt tokens. A request takes from the first
 * iteration after its arrival that has any; what it takes must end, to the token, in the
 * iteration of its first token. */
#include "analyse/serving/prefills.h"

#include "base/bisect.h"
#include "base/sort.h"

typedef struct {
    const served *s;
    const request_list *r;
    arena *arena;
    int64_t *free;          /* by iteration; ABSENT_I64: it does not say its prompt tokens */
    uint32_t *next_prefill; /* by iteration: the first at or after it that prefills */
    uint32_t *first_free;   /* the same, of those with tokens left: a path that is shortened */
    prefill_turn *turns;
    uint32_t n_turns, cap_turns;
    request_turns *of;
} finder;

static int64_t middle(const served_iteration *one) {
    return add_i64(one->start, served_ns(one) / 2);
}

/* The last iteration that prefills and whose middle is not after a time. */
static uint32_t last_prefill(const served *s, int64_t time) {
    uint32_t i = SEARCH_FIRST(k, 0, s->n, middle(&s->v[k]) <= time);
    while (COUNT_DOWN(i))
        if (iteration_prefills(&s->v[i].it)) return i;
    return NO_ITERATION;
}

/* The iteration of the first token; where that is not known, the first that prefills after the
 * request left the queue. */
static uint32_t first_token_at(const finder *f, const served_request *r) {
    if (r->first_token != ABSENT_I64) {
        uint32_t i = last_prefill(f->s, r->first_token);
        return i != NO_ITERATION && f->s->v[i].end > r->arrival ? i : NO_ITERATION;
    }
    if (r->scheduled == ABSENT_I64) return NO_ITERATION;
    uint32_t i = SEARCH_FIRST(k, 0, f->s->n, f->s->v[k].end <= r->scheduled);
    i = i < f->s->n ? f->next_prefill[i] : f->s->n;
    return i < f->s->n && f->s->v[i].start < r->end ? i : NO_ITERATION;
}

static status add_turn(finder *f, uint32_t at, uint32_t request, int64_t tokens, error *err) {
    if (f->n_turns == f->cap_turns) {
        size_t cap = f->cap_turns ? 2 * (size_t)f->cap_turns : 64;
        prefill_turn *more =
            arena_grow(f->arena, f->turns, f->cap_turns * sizeof *more, cap * sizeof *more);
        if (!more || cap > UINT32_MAX / 2) FAIL_MEMORY(err);
        f->turns = more;
        f->cap_turns = (uint32_t)cap;
    }
    f->turns[f->n_turns++] = (prefill_turn){at, request, tokens};
    return OK;
}

/* The first iteration at or after i with prompt tokens left. */
static uint32_t free_from(finder *f, uint32_t i) {
    uint32_t end = i;
    while (end < f->s->n && f->first_free[end] != end) end = f->first_free[end];
    for (uint32_t next; i < end && f->first_free[i] != end; i = next) {
        next = f->first_free[i];
        f->first_free[i] = end;
    }
    return end;
}

static void take(finder *f, uint32_t at, int64_t tokens) {
    f->free[at] = sub_i64(f->free[at], tokens);
    if (f->free[at] <= 0) f->first_free[at] = at + 1;
}

/* Takes a whole prompt, piece by piece; false, with nothing taken, when it does not end in the
 * iteration of the first token. */
static status take_prompt(finder *f, uint32_t request, uint32_t at, bool *fits, error *err) {
    const served_request *r = &f->r->v[request];
    uint32_t before = f->n_turns;
    int64_t need = r->prompt_tokens;
    uint32_t first = SEARCH_FIRST(k, 0, f->s->n, f->s->v[k].start < r->arrival), i = first;
    *fits = false;
    if (need == ABSENT_I64 || need <= 0) return OK;
    for (; need > 0 && (i = free_from(f, i)) <= at; i++) {
        int64_t piece = min_i64(need, f->free[i]);
        if (need > piece && i == at) break;
        TRY(add_turn(f, i, request, piece, err));
        need = sub_i64(need, piece);
        if (need == 0) *fits = i == at;
    }
    if (!*fits) f->n_turns = before;
    for (uint32_t k = before; k < f->n_turns; k++)
        take(f, f->turns[k].iteration, f->turns[k].tokens);
    return OK;
}

/* Iterations that decode, from one up to another. */
static uint32_t n_decodes(const uint32_t *decodes, uint32_t from, uint32_t end) {
    return end > from ? decodes[end] - decodes[from] : 0;
}

/* A request is over in the middle of an iteration at the latest. A log that is written late
 * adds one: its number of tokens says so. */
static uint32_t last_of(const finder *f, const served_request *r, uint32_t from,
                        const uint32_t *decodes) {
    uint32_t end = SEARCH_FIRST(k, 0, f->s->n, middle(&f->s->v[k]) <= r->end);
    if (end < from) return from;
    while (end > from && !iteration_decodes(&f->s->v[end - 1].it)) end--;
    bool one_more =
        r->output_tokens > 0 && (int64_t)n_decodes(decodes, from, end) == r->output_tokens;
    if (one_more) {
        end--;
        while (end > from && !iteration_decodes(&f->s->v[end - 1].it)) end--;
    }
    return end;
}

static status find_one(finder *f, uint32_t request, uint32_t at, const uint32_t *decodes,
                       error *err) {
    const served_request *r = &f->r->v[request];
    request_turns *of = &f->of[request];
    bool fits;
    of->first_turn = f->n_turns;
    TRY(take_prompt(f, request, at, &fits, err));
    if (!fits) {
        int64_t left = f->free[at] == ABSENT_I64 ? 0 : max_i64(0, f->free[at]);
        int64_t tokens = r->prompt_tokens > 0 ? r->prompt_tokens : 1;
        if (f->free[at] != ABSENT_I64) tokens = max_i64(1, min_i64(tokens, left));
        TRY(add_turn(f, at, request, tokens, err));
        if (left) take(f, at, min_i64(left, tokens));
    }
    of->n_turns = f->n_turns - of->first_turn;
    of->after_first = at + 1;
    of->last = last_of(f, r, at + 1, decodes);
    return OK;
}

/* Requests by the iteration of their first token, then by arrival. */
static status order_of(finder *f, uint32_t *at, sort_pair **out, uint32_t *n, error *err) {
    sort_pair *pairs = ARENA_ARRAY(f->arena, sort_pair, (size_t)f->r->n + 1);
    if (!pairs) FAIL_MEMORY(err);
    *n = 0;
    for (uint32_t i = 0; i < f->r->n; i++) {
        at[i] = first_token_at(f, &f->r->v[i]);
        f->of[i] = (request_turns){.last = NO_ITERATION};
        if (at[i] != NO_ITERATION) pairs[(*n)++] = (sort_pair){at[i], i};
    }
    if (!sort_radix_in(f->arena, pairs, *n)) FAIL_MEMORY(err);
    *out = pairs;
    return OK;
}

/* ---- what follows from it ---------------------------------------------------------------- */

static status by_iteration(const finder *f, prefills *out, error *err) {
    uint32_t n = f->s->n;
    uint32_t *first = ARENA_ARRAY(f->arena, uint32_t, (size_t)n + 2);
    prefill_turn *sorted = ARENA_ARRAY(f->arena, prefill_turn, (size_t)f->n_turns + 1);
    if (!first || !sorted) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < f->n_turns; i++) first[f->turns[i].iteration + 2]++;
    for (uint32_t i = 2; i < n + 2; i++) first[i] += first[i - 1];
    for (uint32_t i = 0; i < f->n_turns; i++)
        sorted[first[f->turns[i].iteration + 1]++] = f->turns[i];
    out->by_request = f->turns;
    out->by_iteration = sorted;
    out->first_of_iteration = first;
    out->n = f->n_turns;
    return OK;
}

/* Tokens of each iteration: those of the known requests, or what the server says, if more. */
static status weigh(const finder *f, prefills *out, error *err) {
    uint32_t n = f->s->n;
    int64_t *active = ARENA_ARRAY(f->arena, int64_t, (size_t)n + 1), now = 0;
    out->weight = ARENA_ARRAY(f->arena, int64_t, (size_t)n + 1);
    out->known = ARENA_ARRAY(f->arena, uint32_t, (size_t)n + 1);
    if (!active || !out->weight || !out->known) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < f->r->n; i++) {
        const request_turns *of = &f->of[i];
        if (of->last == NO_ITERATION || of->last <= of->after_first) continue;
        active[of->after_first]++;
        active[of->last]--;
    }
    for (uint32_t i = 0; i < n; i++) {
        const iteration *it = &f->s->v[i].it;
        int64_t tokens = 0, prompt = it->prompt_tokens == ABSENT_I64 ? 0 : it->prompt_tokens;
        now = add_i64(now, active[i]);
        uint32_t from = out->first_of_iteration[i], end = out->first_of_iteration[i + 1];
        for (uint32_t k = from; k < end; k++)
            tokens = add_i64(tokens, out->by_iteration[k].tokens);
        int64_t decoding = iteration_decodes(it) ? now : 0;
        out->known[i] = sat_u32((uint64_t)add_i64(decoding, end - from));
        int64_t stated = it->decodes == ABSENT_I64 ? 0 : it->decodes;
        tokens = add_i64(max_i64(tokens, prompt), max_i64(decoding, stated));
        out->weight[i] = max_i64(1, tokens);
    }
    return OK;
}

static status make_finder(finder *f, uint32_t **decodes, error *err) {
    uint32_t n = f->s->n;
    f->free = ARENA_ARRAY(f->arena, int64_t, (size_t)n + 1);
    f->next_prefill = ARENA_ARRAY(f->arena, uint32_t, (size_t)n + 1);
    f->first_free = ARENA_ARRAY(f->arena, uint32_t, (size_t)n + 1);
    f->of = ARENA_ARRAY(f->arena, request_turns, (size_t)f->r->n + 1);
    *decodes = ARENA_ARRAY(f->arena, uint32_t, (size_t)n + 1);
    if (!f->free || !f->next_prefill || !f->first_free || !f->of || !*decodes) FAIL_MEMORY(err);
    f->next_prefill[n] = n;
    for (uint32_t i = n; COUNT_DOWN(i);) {
        const iteration *it = &f->s->v[i].it;
        f->free[i] = iteration_prefills(it) ? it->prompt_tokens : 0;
        f->first_free[i] = f->free[i] > 0 ? i : i + 1;
        f->next_prefill[i] = iteration_prefills(it) ? i : f->next_prefill[i + 1];
    }
    for (uint32_t i = 0; i < n; i++)
        (*decodes)[i + 1] = (*decodes)[i] + iteration_decodes(&f->s->v[i].it);
    return OK;
}

status prefills_find(const served *s, const request_list *r, arena *a, prefills *out,
                     error *err) {
    finder f = {.s = s, .r = r, .arena = a};
    uint32_t *at = ARENA_ARRAY(a, uint32_t, (size_t)r->n + 1), *decodes = NULL, n = 0;
    sort_pair *order = NULL;
    *out = (prefills){0};
    if (!at) FAIL_MEMORY(err);
    TRY(make_finder(&f, &decodes, err));
    TRY(order_of(&f, at, &order, &n, err));
    for (uint32_t i = 0; i < n; i++)
        TRY(find_one(&f, order[i].row, at[order[i].row], decodes, err));
    TRY(by_iteration(&f, out, err));
    out->of = f.of;
    return weigh(&f, out, err);
}
