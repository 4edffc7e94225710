/* stack_tree.c: the trace as one tree of call paths with the self times of the operators.
 *
 * analyse/op_scan gives every call of an operator with its self times and its path, a number of
 * analyse/stacks. Here each path becomes a node of a tree, once: a path is looked up from the
 * inside out until one is found that is known, and added from there back in. Paths differ by
 * the names the producer wrote, nodes by the names as the form spells them: two paths may be
 * one node.
 *
 *     path 7: main, forward, aten::mm           root ── main ── forward ──┬── aten::mm
 *     path 9: main, forward, aten::add                                    └── aten::add
 *
 * A path deeper than MAX_DEPTH ends there, and its time counts there: the text of all paths
 * would otherwise grow with the square of the depth. Nothing is lost from the sums.
 *
 * It knows no form: stacks.c and speedscope.c write the tree down. */
#include "export/stack_tree_int.h"

#include "analyse/operators/op_scan.h"
#include "base/sort.h"

enum { MAX_DEPTH = 1000 };

typedef struct {
    const export_ctx *x;
    stack_tree tree;
    stacks stacks;
    stack_spelling spell;
    buf scratch;
    map node_of;       /* path → node */
    uint32_t *text_of; /* string id → text + 1, 0 = not spelled yet */
    uint32_t *chain;   /* paths on the way in */
    uint32_t cap_chain;
    uint32_t track; /* of the last call; calls come thread by thread */
    arena *arena;
} builder;

static bool is_hex(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

void stack_spell(str name, buf *out) {
    str address = STR(" at 0x");
    for (size_t at; (at = str_find(name, address, 0)) != SIZE_MAX;) {
        size_t end = at + address.n;
        while (end < name.n && is_hex(name.p[end])) end++;
        buf_add(out, name.p, end == at + address.n ? end : at);
        name = str_from(name, end);
    }
    buf_add_str(out, name);
}

/* ---- the tree ---------------------------------------------------------------------------- */

static uint32_t find_text(builder *b, uint32_t name) {
    if (name >= b->x->t->n_strings) name = 0;
    if (b->text_of[name]) return b->text_of[name] - 1;
    buf_clear(&b->scratch);
    b->spell(trace_str(b->x->t, name), &b->scratch);
    if (!b->scratch.n) buf_add_byte(&b->scratch, '_'); /* a frame needs a name */
    uint32_t id =
        buf_ok(&b->scratch) ? intern_add(b->tree.texts, buf_str(&b->scratch)) : UINT32_MAX;
    if (id != UINT32_MAX) b->text_of[name] = id + 1;
    return id;
}

static bool same_node(const void *row, const void *key) {
    const stack_node *a = row, *b = key;
    return a->parent == b->parent && a->text == b->text;
}

/* The node of a frame below a node; GROUP_NONE when out of memory. */
static uint32_t find_node(builder *b, uint32_t parent, uint32_t name) {
    uint32_t depth = stack_tree_node(&b->tree, parent)->depth + 1;
    if (depth > MAX_DEPTH) return parent;
    stack_node key = {parent, find_text(b, name), depth};
    bool is_new;
    if (key.text == UINT32_MAX) return GROUP_NONE;
    uint32_t at =
        groups_at(&b->tree.nodes, hash_pair(parent, key.text), same_node, &key, &is_new);
    if (at != GROUP_NONE && is_new) *GROUP_ROW(&b->tree.nodes, stack_node, at) = key;
    return at;
}

static bool push_chain(builder *b, uint32_t n, uint32_t path) {
    if (n == b->cap_chain) {
        uint32_t cap = n ? n * 2 : 256;
        void *grown =
            arena_grow(b->arena, b->chain, n * sizeof *b->chain, cap * sizeof *b->chain);
        if (!grown) return false;
        b->chain = grown;
        b->cap_chain = cap;
    }
    b->chain[n] = path;
    return true;
}

/* The node of a path; GROUP_NONE when out of memory. */
static uint32_t node_of_path(builder *b, uint32_t path) {
    uint32_t n = 0, node = 0, caller, name;
    while (path) {
        uint32_t known = map_get(&b->node_of, path);
        if (known != MAP_NONE) {
            node = known;
            break;
        }
        if (!push_chain(b, n++, path)) return GROUP_NONE;
        if (!stacks_split(&b->stacks, path, &path, &name)) break;
    }
    while (n) {
        path = b->chain[--n];
        if (stacks_split(&b->stacks, path, &caller, &name)) node = find_node(b, node, name);
        uint32_t *at = node == GROUP_NONE ? NULL : map_at(&b->node_of, path);
        if (!at) return GROUP_NONE;
        *at = node;
    }
    return node;
}

/* ---- the times --------------------------------------------------------------------------- */

static bool same_place(const void *row, const void *key) {
    const stack_time *a = row, *b = key;
    return a->track == b->track && a->node == b->node;
}

static status add_call(void *context, const op_call *c, error *err) {
    builder *b = context;
    const trace *t = b->x->t;
    int64_t host = op_call_self_ns(c);
    if (!host && !c->device_self) return OK;
    if (c->slice < t->track.first[b->track] || c->slice >= t->track.end[b->track])
        b->track = trace_track_of(t, c->slice);
    stack_time key = {.track = b->track, .node = node_of_path(b, c->path)};
    bool is_new;
    if (key.node == GROUP_NONE) FAIL_MEMORY(err);
    uint32_t at =
        groups_at(&b->tree.times, hash_pair(key.track, key.node), same_place, &key, &is_new);
    if (at == GROUP_NONE) FAIL_MEMORY(err);
    stack_time *time = GROUP_ROW(&b->tree.times, stack_time, at);
    if (is_new) *time = key;
    time->host_ns = add_i64(time->host_ns, host);
    time->device_ns = add_i64(time->device_ns, c->device_self);
    return OK;
}

static void free_texts(void *texts) {
    intern_free(texts);
}

static status init_builder(builder *b, error *err) {
    b->tree.texts = intern_new();
    if (!b->tree.texts || !arena_on_reset(b->arena, free_texts, b->tree.texts))
        FAIL_MEMORY(err);
    TRY(groups_init(&b->tree.nodes, b->arena, sizeof(stack_node), err));
    TRY(groups_init(&b->tree.times, b->arena, sizeof(stack_time), err));
    TRY(stacks_init(&b->stacks, b->x->t, b->arena, err));
    b->text_of = ARENA_ARRAY(b->arena, uint32_t, (size_t)b->x->t->n_strings + 1);
    if (!b->text_of || groups_add(&b->tree.nodes) == GROUP_NONE) FAIL_MEMORY(err);
    return OK;
}

status stack_tree_build(const export_ctx *x, stack_spelling spell, arena *a, stack_tree *out) {
    builder b = {.x = x, .spell = spell, .arena = a};
    selection select = select_window(x->t, (time_window){x->from_ns, x->to_ns});
    tensor_core_names tensor;
    op_scan scan = {.t = x->t,
                    .select = &select,
                    .tensor = &tensor,
                    .stacks = &b.stacks,
                    .paths = true,
                    .arena = a,
                    .visit = add_call,
                    .context = &b};
    status s = init_builder(&b, x->err);
    if (s == OK) s = tensor_core_init(&tensor, x->t, a, x->err);
    if (s == OK) s = op_scan_run(&scan, x->err);
    map_fini(&b.node_of);
    buf_fini(&b.scratch);
    if (s == OK) *out = b.tree;
    return s;
}

/* ---- the order --------------------------------------------------------------------------- */

static int compare_siblings(uint32_t a, uint32_t b, const void *context) {
    const stack_tree *tree = context;
    const stack_node *x = stack_tree_node(tree, a), *y = stack_tree_node(tree, b);
    if (x->parent != y->parent) return x->parent < y->parent ? -1 : 1;
    return str_cmp(intern_get(tree->texts, x->text), intern_get(tree->texts, y->text));
}

/* Sorted by parent the children of a node are together; from there to the order of a walk by a
 * stack of what is still to come. */
uint32_t *stack_tree_order(const stack_tree *tree, arena *a) {
    uint32_t n = tree->nodes.n, n_left = 0, n_out = 0;
    uint32_t *sorted = groups_order(&tree->nodes), *scratch = groups_order(&tree->nodes);
    uint32_t *first = ARENA_ARRAY(a, uint32_t, (size_t)n + 1);
    uint32_t *left = ARENA_ARRAY(a, uint32_t, (size_t)n + 1);
    if (!sorted || !scratch || !first || !left) return NULL;
    sort_index(sorted + 1, scratch, n - 1, compare_siblings, tree);
    for (uint32_t i = n; --i;) first[stack_tree_node(tree, sorted[i])->parent] = i;
    uint32_t *out = scratch, node = 0;
    for (;;) {
        uint32_t begin = first[node], end = begin;
        while (begin && end < n && stack_tree_node(tree, sorted[end])->parent == node) end++;
        while (end > begin) left[n_left++] = sorted[--end];
        if (!n_left) return out;
        out[n_out++] = node = left[--n_left];
    }
}
