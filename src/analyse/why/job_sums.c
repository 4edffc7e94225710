/* job_sums.c: pieces of a job's path added up by kind and a text. */
#include "analyse/why/job_sums.h"

#include "base/hash.h"
#include "base/num.h"
#include "base/sort.h"

status job_sums_init(job_sums *s, arena *a, error *err) {
    return groups_init(&s->rows, a, sizeof(job_sum), err);
}

static bool same_key(const void *row, const void *key) {
    const job_sum *a = row, *b = key;
    return a->kind == b->kind && str_eq(a->text, b->text);
}

status job_sums_add(job_sums *s, uint8_t kind, str text, const path_piece *p, error *err) {
    job_sum key = {.kind = kind, .text = text};
    int64_t ns = sub_i64(p->end, p->start);
    bool is_new;
    uint32_t row =
        groups_at(&s->rows, hash_bytes64(text.p, text.n) + kind, same_key, &key, &is_new);
    if (row == GROUP_NONE) FAIL_MEMORY(err);
    job_sum *sum = GROUP_ROW(&s->rows, job_sum, row);
    if (is_new) *sum = key;
    sum->ns = add_i64(sum->ns, ns);
    sum->n++;
    if (ns <= sum->longest_ns) return OK;
    sum->longest_ns = ns;
    sum->slice = p->slice;
    sum->rank = p->rank;
    return OK;
}

const job_sum *job_sums_at(const job_sums *s, uint32_t row) {
    return GROUP_ROW(&s->rows, job_sum, row);
}

static int compare_sums(uint32_t a, uint32_t b, const void *context) {
    const job_sum *x = job_sums_at(context, a), *y = job_sums_at(context, b);
    if (x->ns != y->ns) return x->ns > y->ns ? -1 : 1;
    return a < b ? -1 : a > b;
}

const uint32_t *job_sums_order(const job_sums *s) {
    uint32_t *order = groups_order(&s->rows), *scratch = groups_order(&s->rows);
    if (!order || !scratch) return NULL;
    sort_index(order, scratch, s->rows.n, compare_sums, s);
    return order;
}
