/* step_graphs.c: kernels of replayed graphs, each node of a graph a node of the tree.
 *
 * All work of one launch is one replay. Two replays from the same place that run the same
 * kernels are replays of one graph, whatever the ids: a graph that is captured once more has
 * other ones. Within a replay nodes are matched by their ids, which follow the order of the
 * capture, or, where none was recorded, by when they start; the third kernel of a name is then
 * the same node in all replays, even if concurrent streams run in another order. A replay of
 * which only a part was recorded is known by its ids. */
#include "analyse/compare/step_owners_int.h"
#include "base/map.h"

/* A graph: the place of its first replay in `by_name`. */
typedef struct {
    uint32_t parent, first, n;
} graph_row;

typedef struct {
    owners *o;
    uint32_t *work;    /* rows of table kernel, by launch, id of the node, start */
    uint32_t *by_name; /* of each replay: places in `work`, by name, then place */
    uint32_t n;
    groups graphs;       /* graph_row */
    map nodes;           /* by id of a node: its node of the tree */
    uint32_t *first_use; /* by node of the tree made here: its place in `work` */
    uint32_t first_node; /* the first of them */
} graph_finder;

static int64_t id_of(const trace *t, uint32_t kernel) {
    return t->kernel.graph_node[kernel] > 0 ? t->kernel.graph_node[kernel] : 0;
}

static int compare_work(uint32_t a, uint32_t b, const void *context) {
    const trace *t = context;
    if (t->kernel.launch[a] != t->kernel.launch[b])
        return t->kernel.launch[a] < t->kernel.launch[b] ? -1 : 1;
    int64_t x = id_of(t, a), y = id_of(t, b);
    return x < y ? -1 : x > y;
}

static uint32_t name_at(const graph_finder *f, uint32_t place) {
    const trace *t = f->o->t;
    return t->slice.name[t->kernel.slice[f->work[place]]];
}

static int compare_names(uint32_t a, uint32_t b, const void *context) {
    uint32_t x = name_at(context, a), y = name_at(context, b);
    if (x != y) return x < y ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* An operator that is known by another way than the launch of the whole graph stays the
 * owner. */
static bool is_by_launch(const trace *t, uint32_t k) {
    uint8_t link = t->kernel.link[k];
    return t->kernel.launch[k] && link != LINK_CAPTURED && link != LINK_INFERRED;
}

static status list_work(graph_finder *f, uint32_t n, error *err) {
    owners *o = f->o;
    uint32_t *scratch = ARENA_ARRAY(o->arena, uint32_t, (size_t)n + 1);
    f->work = ARENA_ARRAY(o->arena, uint32_t, (size_t)n + 1);
    f->by_name = ARENA_ARRAY(o->arena, uint32_t, (size_t)n + 1);
    f->first_use = ARENA_ARRAY(o->arena, uint32_t, (size_t)n + 1);
    o->graph_node_of = ARENA_ARRAY(o->arena, uint32_t, (size_t)o->t->kernel.n + 1);
    if (!scratch || !f->work || !f->by_name || !f->first_use || !o->graph_node_of)
        FAIL_MEMORY(err);
    for (uint32_t i = 0; i < o->n_work; i++) {
        uint32_t k = o->work[i].row;
        if (is_by_launch(o->t, k) && owners_is_replayed(o, k)) f->work[f->n++] = k;
    }
    sort_index(f->work, scratch, f->n, compare_work, o->t);
    for (uint32_t i = 0, end; i < f->n; i = end) {
        uint32_t launch = o->t->kernel.launch[f->work[i]];
        for (end = i; end < f->n && o->t->kernel.launch[f->work[end]] == launch; end++)
            f->by_name[end] = end;
        sort_index(f->by_name + i, scratch, end - i, compare_names, f);
    }
    return OK;
}

typedef struct {
    const graph_finder *f;
    graph_row replay;
} graph_key;

static bool same_graph(const void *row, const void *key) {
    const graph_row *g = row;
    const graph_key *k = key;
    if (g->parent != k->replay.parent || g->n != k->replay.n) return false;
    for (uint32_t i = 0; i < g->n; i++)
        if (name_at(k->f, k->f->by_name[g->first + i]) !=
            name_at(k->f, k->f->by_name[k->replay.first + i]))
            return false;
    return true;
}

static uint64_t hash_replay(const graph_finder *f, const graph_row *r) {
    uint64_t hash = hash_pair(r->parent, r->n);
    for (uint32_t i = 0; i < r->n; i++)
        hash = hash_u64(hash ^ name_at(f, f->by_name[r->first + i]));
    return hash;
}

/* The node of one kernel of a graph's first replay: of its id, or a new one. */
static status add_node(graph_finder *f, uint32_t parent, uint32_t place, error *err) {
    owners *o = f->o;
    uint32_t k = f->work[place], node = MAP_NONE, *at = NULL;
    if (id_of(o->t, k)) {
        at = map_at(&f->nodes, (uint64_t)id_of(o->t, k));
        if (!at) FAIL_MEMORY(err);
        node = *at;
    }
    if (node == MAP_NONE || call_tree_node(o->tree, node)->parent != parent) {
        uint32_t name = owners_name(o, name_at(f, place));
        node = name ? call_tree_graph_node(o->tree, parent, name - 1) : GROUP_NONE;
        if (node == GROUP_NONE) FAIL_MEMORY(err);
        if (o->t->kernel.op[k]) call_tree_node(o->tree, node)->flags |= NODE_OF_CALL;
        f->first_use[node - f->first_node] = place;
    }
    if (at) *at = node;
    o->graph_node_of[k] = node + 1;
    return OK;
}

static status read_replay(graph_finder *f, uint32_t first, uint32_t n, error *err) {
    owners *o = f->o;
    uint32_t k = f->work[first], op = o->t->kernel.op[k];
    graph_key key = {f, {o->node_of[op ? op : o->t->kernel.launch[k]], first, n}};
    bool is_new;
    uint32_t at = groups_at(&f->graphs, hash_replay(f, &key.replay), same_graph, &key, &is_new);
    if (at == GROUP_NONE) FAIL_MEMORY(err);
    graph_row *g = GROUP_ROW(&f->graphs, graph_row, at);
    if (is_new) *g = key.replay;
    for (uint32_t i = 0; i < n && is_new; i++)
        TRY(add_node(f, g->parent, f->by_name[first + i], err));
    for (uint32_t i = 0; i < n && !is_new; i++) {
        uint32_t same = f->work[f->by_name[first + i]];
        uint32_t node = o->graph_node_of[f->work[f->by_name[g->first + i]]];
        o->graph_node_of[same] = node;
        uint64_t id = (uint64_t)id_of(o->t, same);
        uint32_t *known = id ? map_at(&f->nodes, id) : &node;
        if (!known) FAIL_MEMORY(err);
        if (known != &node) *known = node - 1;
    }
    return OK;
}

/* Nodes of one parent by when they were first used; those of a replay are in order. */
static status number_places(graph_finder *f, error *err) {
    call_tree *tree = f->o->tree;
    uint32_t n = tree->nodes.n - f->first_node;
    uint32_t *node_at = ARENA_ARRAY(f->o->arena, uint32_t, (size_t)f->n + 1);
    uint32_t *last = ARENA_ARRAY(f->o->arena, uint32_t, (size_t)f->first_node + 1);
    if (!node_at || !last) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n; i++) node_at[f->first_use[i]] = f->first_node + i;
    for (uint32_t i = 0; i < f->n; i++)
        if (node_at[i]) {
            call_node *node = call_tree_node(tree, node_at[i]);
            node->place = ++last[node->parent];
        }
    return OK;
}

/* Replays without a recorded launch are known by the ids of their nodes. */
static void find_orphans(graph_finder *f) {
    owners *o = f->o;
    for (uint32_t k = 1; k < o->t->kernel.n; k++) {
        if (o->t->kernel.launch[k] || !id_of(o->t, k)) continue;
        uint32_t node = map_get(&f->nodes, (uint64_t)id_of(o->t, k));
        if (node != MAP_NONE) o->graph_node_of[k] = node + 1;
    }
}

static status find_graphs(graph_finder *f, uint32_t n, error *err) {
    const trace *t = f->o->t;
    TRY(list_work(f, n, err));
    TRY(groups_init(&f->graphs, f->o->arena, sizeof(graph_row), err));
    f->first_node = f->o->tree->nodes.n;
    for (uint32_t i = 0, end; i < f->n; i = end) {
        for (end = i;
             end < f->n && t->kernel.launch[f->work[end]] == t->kernel.launch[f->work[i]];)
            end++;
        TRY(read_replay(f, i, end - i, err));
    }
    find_orphans(f);
    return number_places(f, err);
}

status owners_find_graphs(owners *o, error *err) {
    graph_finder f = {.o = o};
    uint32_t n = 0;
    for (uint32_t k = 1; k < o->t->kernel.n; k++)
        n += is_by_launch(o->t, k) && owners_is_replayed(o, k);
    if (!n) return OK;
    status st = find_graphs(&f, n, err);
    map_fini(&f.nodes);
    return st;
}
