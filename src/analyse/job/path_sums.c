/* path_sums.c: the pieces of a critical path added up by a key. */
#include "analyse/job/path_sums.h"

#include "base/intern.h"
#include "base/num.h"
#include "base/sort.h"

status path_sums_init(path_sums *s, arena *a, error *err) {
    return groups_init(&s->rows, a, sizeof(path_sum), err);
}

static bool same_key(const void *row, const void *key) {
    const path_sum *a = row, *b = key;
    return a->key == b->key && str_eq(a->text, b->text);
}

status path_sums_add(path_sums *s, uint64_t key, str text, const path_piece *p, error *err) {
    path_sum wanted = {.key = key, .text = text};
    uint64_t hash = hash_pair((uint32_t)(key >> 32), (uint32_t)key);
    int64_t ns = sub_i64(p->end, p->start);
    bool is_new;
    if (text.n) hash ^= intern_hash(text);
    uint32_t row = groups_at(&s->rows, hash, same_key, &wanted, &is_new);
    if (row == GROUP_NONE) FAIL_MEMORY(err);
    path_sum *sum = GROUP_ROW(&s->rows, path_sum, row);
    if (is_new) *sum = wanted;
    sum->ns = add_i64(sum->ns, ns);
    sum->n++;
    if (ns <= sum->longest_ns) return OK;
    sum->longest_ns = ns;
    sum->slice = p->slice;
    sum->rank = p->rank;
    return OK;
}

const path_sum *path_sums_at(const path_sums *s, uint32_t row) {
    return GROUP_ROW(&s->rows, path_sum, row);
}

static int compare_sums(uint32_t a, uint32_t b, const void *context) {
    const path_sum *x = path_sums_at(context, a), *y = path_sums_at(context, b);
    if (x->ns != y->ns) return x->ns > y->ns ? -1 : 1;
    return a < b ? -1 : a > b;
}

const uint32_t *path_sums_order(const path_sums *s) {
    uint32_t *order = groups_order(&s->rows), *scratch = groups_order(&s->rows);
    if (!order || !scratch) return NULL;
    sort_index(order, scratch, s->rows.n, compare_sums, s);
    return order;
}
