/* graph_merge.c: the ids of a graph's nodes differ from process to process. What two runs share
 * is their order, so the nodes of all graphs launched at one place of the tree are a sequence,
 * and two of them are aligned by the names of their kernels (sequence_align.h). */
#include "analyse/compare/graph_merge.h"

#include "analyse/compare/sequence_align.h"
#include "base/sort.h"

/* Nodes of graphs of one tree, by parent (in numbers of the tree they are merged into) and
 * place; names in numbers of that tree. */
typedef struct {
    uint32_t *node, *parent, *name, n;
} graph_list;

typedef struct {
    const call_tree *tree;
    const uint32_t *there; /* NULL: the tree itself */
} listed_tree;

static uint32_t parent_of(const listed_tree *l, uint32_t node) {
    uint32_t parent = call_tree_node(l->tree, node)->parent;
    return l->there ? l->there[parent] : parent;
}

static int compare_places(uint32_t a, uint32_t b, const void *context) {
    uint32_t x = parent_of(context, a), y = parent_of(context, b);
    if (x != y) return x < y ? -1 : 1;
    uint32_t p = call_tree_node(((const listed_tree *)context)->tree, a)->place;
    uint32_t q = call_tree_node(((const listed_tree *)context)->tree, b)->place;
    return p < q ? -1 : p > q;
}

static status list_graphs(const listed_tree *l, intern *names, arena *scratch, graph_list *out,
                          error *err) {
    const call_tree *t = l->tree;
    *out = (graph_list){.n = 0};
    for (uint32_t i = 0; i < t->nodes.n; i++) out->n += call_tree_node(t, i)->place > 0;
    size_t room = (size_t)out->n + 1;
    uint32_t *more = ARENA_ARRAY(scratch, uint32_t, room), n = 0;
    out->node = ARENA_ARRAY(scratch, uint32_t, room);
    out->parent = ARENA_ARRAY(scratch, uint32_t, room);
    out->name = ARENA_ARRAY(scratch, uint32_t, room);
    if (!more || !out->node || !out->parent || !out->name) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < t->nodes.n; i++)
        if (call_tree_node(t, i)->place) out->node[n++] = i;
    sort_index(out->node, more, n, compare_places, l);
    for (uint32_t i = 0; i < n; i++) {
        out->parent[i] = parent_of(l, out->node[i]);
        out->name[i] = intern_add(names, call_tree_text(t, out->node[i]));
        if (out->name[i] == UINT32_MAX) FAIL_MEMORY(err);
    }
    return OK;
}

/* One parent's nodes in both trees. */
typedef struct {
    graph_list a, b;
    uint32_t *of_b;
} graph_pair;

static graph_list part(const graph_list *l, uint32_t first, uint32_t end) {
    return (graph_list){l->node + first, l->parent + first, l->name + first, end - first};
}

static uint32_t end_of_parent(const graph_list *l, uint32_t i, uint32_t parent) {
    while (i < l->n && l->parent[i] == parent) i++;
    return i;
}

/* Gives nodes of b theirs, new ones where they have no partner, and numbers all in order. */
static status join(call_tree *into, const graph_pair *p, uint32_t parent, uint32_t *there,
                   error *err) {
    uint32_t place = 0, next = 0;
    for (uint32_t j = 0; j < p->b.n; j++) {
        if (p->of_b[j]) {
            there[p->b.node[j]] = p->a.node[p->of_b[j] - 1];
            for (; next < p->of_b[j]; next++)
                call_tree_node(into, p->a.node[next])->place = ++place;
            continue;
        }
        uint32_t node = call_tree_graph_node(into, parent, p->b.name[j]);
        if (node == GROUP_NONE) FAIL_MEMORY(err);
        call_tree_node(into, node)->place = ++place;
        there[p->b.node[j]] = node;
    }
    for (; next < p->a.n; next++) call_tree_node(into, p->a.node[next])->place = ++place;
    return OK;
}

status graph_merge(call_tree *into, const call_tree *from, uint32_t *there, arena *scratch,
                   error *err) {
    listed_tree old = {into, NULL}, new = {from, there};
    graph_list a, b;
    TRY(list_graphs(&new, into->names, scratch, &b, err));
    if (!b.n) return OK;
    TRY(list_graphs(&old, into->names, scratch, &a, err));
    uint32_t *of_b = ARENA_ARRAY(scratch, uint32_t, (size_t)b.n + 1);
    if (!of_b) FAIL_MEMORY(err);
    for (uint32_t i = 0, j = 0; j < b.n;) {
        uint32_t parent = b.parent[j], end_b = end_of_parent(&b, j, parent);
        while (i < a.n && a.parent[i] < parent) i++;
        uint32_t end_a = end_of_parent(&a, i, parent);
        graph_pair p = {part(&a, i, end_a), part(&b, j, end_b), of_b};
        TRY(sequence_align((sequence){p.a.name, p.a.n}, (sequence){p.b.name, p.b.n}, scratch,
                           of_b, err));
        TRY(join(into, &p, parent, there, err));
        i = end_a;
        j = end_b;
    }
    return OK;
}
