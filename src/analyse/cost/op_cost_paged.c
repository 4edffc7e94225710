#include "analyse/cost/op_cost_paged.h"

#include <math.h>

#include "analyse/operators/op_args.h"
#include "base/num.h"

/* Takes `word` and the number after it off the front of s. */
static bool take_number(str *s, str word, double *out) {
    if (!str_starts(*s, word)) return false;
    size_t at = word.n;
    double value = 0;
    for (; at < s->n && s->p[at] >= '0' && s->p[at] <= '9'; at++)
        value = value * 10 + (s->p[at] - '0');
    if (at == word.n) return false;
    *s = str_n(s->p + at, s->n - at);
    *out = value;
    return true;
}

/* Adds the requests that `kind` begins: "_context_2(sq512sk900sqsq131072sqsk230400)". */
static bool add_requests(str range, str kind, paged_batch *to) {
    size_t at = str_find(range, kind, 0);
    double n, q, k, qq, qk;
    if (at == SIZE_MAX) return false;
    str s = str_n(range.p + at, range.n - at);
    if (!take_number(&s, kind, &n) || !take_number(&s, STR("(sq"), &q) ||
        !take_number(&s, STR("sk"), &k) || !take_number(&s, STR("sqsq"), &qq) ||
        !take_number(&s, STR("sqsk"), &qk) || !str_starts(s, STR(")")))
        return false;
    to->queries += q;
    to->keys += k;
    to->pairs += qk - (qq - q) / 2; /* the last q of k positions: q·k less a triangle */
    return true;
}

bool paged_batch_read(str range, paged_batch *out) {
    *out = (paged_batch){0};
    return str_starts(range, STR("execute_")) && add_requests(range, STR("_context_"), out) &&
           add_requests(range, STR("_generation_"), out) && out->pairs > 0;
}

bool op_cost_is_paged(str name) {
    return str_find(name, STR("unified_attention"), 0) != SIZE_MAX ||
           str_find(name, STR("paged_attention"), 0) != SIZE_MAX;
}

/* The first input of so many dimensions after input `from`, NULL: none. */
static const op_arg *find_rank(const op_args *in, int rank, int from) {
    for (int i = from; i < in->n; i++) {
        const op_arg *a = op_args_tensor(in, i);
        if (a && a->rank == rank) return a;
    }
    return NULL;
}

/* Queries are positions × heads × width; keys the same, or a cache of pages × positions × heads
 * × width. */
op_cost op_cost_paged(const paged_batch *batch, str shapes, str types) {
    op_cost out = {.flops = NAN, .bytes = NAN, .matrix = true};
    op_args in;
    out.type = (uint8_t)lexicon_input_type(types);
    if (!op_args_read(shapes, types, STR_NONE, &in)) return out;
    const op_arg *q = find_rank(&in, 3, 0), *cache = find_rank(&in, 4, 0);
    const op_arg *k = cache ? cache : q ? find_rank(&in, 3, (int)(q - in.arg) + 1) : NULL;
    if (!q || !k) return out;
    int64_t heads = q->dim[1], width = q->dim[2];
    int64_t key_heads = k->dim[k->rank - 2];
    if (k->dim[k->rank - 1] != width || key_heads <= 0 || heads % key_heads) return out;
    out.flops = 4 * batch->pairs * (double)heads * (double)width;
    out.bytes = 2 * (double)width * q->item_bytes *
                (batch->queries * (double)heads + batch->keys * (double)key_heads);
    return out;
}
