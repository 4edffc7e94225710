/* memory_blocks.c: blocks of memory by what they are for and by operator, module and line. */
#include "analyse/questions/memory_blocks.h"

#include "analyse/questions/memory_split.h"
#include "base/intern.h"
#include "base/sort.h"

status block_groups_init(block_groups *b, memory_view *m, const memory_parts *parts,
                         error *err) {
    *b = (block_groups){.m = m, .parts = parts};
    TRY(groups_init(&b->rows, m->arena, sizeof(block_group), err));
    TRY(trace_require(m->t, MEMORY_SPLIT_TABLES | LINE_TABLES, err));
    TRY(memory_owner_modules(&b->owner, m->t, m->arena, err));
    return memory_owner_lines(&b->owner, m->t, m->arena, err);
}

static bool same_group(const void *row, const void *key) {
    const block_group *x = row, *y = key;
    return x->device == y->device && x->part == y->part && block_group_compare(x, y) == 0;
}

status block_groups_at(block_groups *b, uint32_t row, block_group **out, error *err) {
    uint32_t op = memory_op(b->m->t, row);
    bool ok = true, is_new;
    block_group key = {.device = b->m->device_of[row]};
    if (!b->any_part) key.part = b->parts->part[row];
    key.op = memory_name(b->m, row, &ok);
    key.line = memory_owner_line(&b->owner, row, &ok);
    if (op) key.module = memory_owner_module(&b->owner, op);
    if (!ok) FAIL_MEMORY(err);
    uint64_t hash = hash_pair(hash_pair(intern_hash(key.op), intern_hash(key.module)),
                              hash_pair(intern_hash(key.line), key.device << 8 | key.part));
    uint32_t at = groups_at(&b->rows, hash, same_group, &key, &is_new);
    if (at == GROUP_NONE) FAIL_MEMORY(err);
    *out = GROUP_ROW(&b->rows, block_group, at);
    if (is_new) **out = key;
    return OK;
}

int block_group_compare(const block_group *x, const block_group *y) {
    int c = str_cmp(x->op, y->op);
    if (!c) c = str_cmp(x->module, y->module);
    return c ? c : str_cmp(x->line, y->line);
}

static int compare_sizes(uint32_t a, uint32_t b, const void *context) {
    const groups *rows = context;
    const block_group *x = GROUP_ROW(rows, block_group, a),
                      *y = GROUP_ROW(rows, block_group, b);
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    if (x->part != y->part) return x->part < y->part ? -1 : 1;
    return block_group_compare(x, y);
}

uint32_t *block_groups_by_size(const block_groups *b) {
    uint32_t *order = groups_order(&b->rows), *scratch = groups_order(&b->rows);
    if (order && scratch) sort_index(order, scratch, b->rows.n, compare_sizes, &b->rows);
    return scratch ? order : NULL;
}
