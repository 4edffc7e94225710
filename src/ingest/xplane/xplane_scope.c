/* xplane_scope.c: where an operation is in the program, from the path XLA keeps of it.
 *
 *     JAX         jit(train_step)/transpose(jvp(mlp))/hidden/dot_general
 *                 scopes: jit(train_step) > mlp > hidden     operation: dot_general    backward
 *     TensorFlow  replica_0/encoder/layer_1/dense/MatMul:MatMul
 *                 scopes: replica_0 > encoder > layer_1 > dense     operation: MatMul
 *
 * Transformations of JAX are written around the scope they were applied in: jvp is what is kept
 * for the derivative, transpose goes back through it. Parts that only say how a loop is built
 * are left out. A path is taken apart once. */
#include "ingest/xplane/xplane_int.h"

enum { MAX_SCOPES = 32 };

/* What is built while a path is taken apart. */
typedef struct {
    reader *r;
    uint32_t scope, depth;
    str last; /* the part read before: a scope when another follows, else the operation */
    bool forward, backward, optimizer;
} path_walk;

static uint32_t add_scope(reader *r, uint32_t parent, str name) {
    uint32_t id = xplane_string(r, name);
    for (uint64_t key = hash_pair(parent, id);; key++) {
        uint32_t *at = map_at(&r->scope_map, key);
        if (!at) {
            r->failed = true;
            return parent;
        }
        if (*at == MAP_NONE) {
            *at = 0;
            scope_row *row = vec_push(&r->scopes);
            r->failed |= !row;
            if (!row) return parent;
            *row = (scope_row){.parent = parent, .name = id};
            return *at = (uint32_t)(r->scopes.n - 1);
        }
        const scope_row *row = &VEC(&r->scopes, scope_row)[*at];
        if (row->parent == parent && row->name == id) return *at;
    }
}

static bool is_plumbing(str word) {
    static const str words[] = {
        STR("while"),          STR("body"),       STR("cond"),
        STR("closed_call"),    STR("jit(main)"),  STR("rematted_computation"),
        STR("core_call"),      STR("checkpoint"), STR("custom_jvp_call"),
        STR("custom_vjp_call")};
    for (size_t i = 0; i < N_OF(words); i++)
        if (str_eq(word, words[i])) return true;
    return false;
}

/* "jvp(mlp)" → "mlp" for the transformations; programs keep their jit(…). */
static bool unwrap(path_walk *w, str *word) {
    static const str words[] = {STR("jvp("),   STR("transpose("), STR("vmap("),
                                STR("remat("), STR("pmap("),      STR("checkpoint(")};
    if (!word->n || word->p[word->n - 1] != ')') return false;
    for (size_t i = 0; i < N_OF(words); i++) {
        if (!str_starts(*word, words[i])) continue;
        w->forward |= i == 0;
        w->backward |= i == 1;
        *word = str_n(word->p + words[i].n, word->n - words[i].n - 1);
        return true;
    }
    return false;
}

static void enter_last(path_walk *w) {
    if (!w->last.n || is_plumbing(w->last) || w->depth >= MAX_SCOPES) return;
    w->optimizer |= str_find_nocase(w->last, STR("optimizer"), 0) == 0;
    w->backward |= str_eq(w->last, STR("gradient_tape")) || str_eq(w->last, STR("gradients"));
    w->scope = add_scope(w->r, w->scope, w->last);
    w->depth++;
}

/* One word of a path; inside of a transformation there may be several. */
static void take_part(path_walk *w, str word) {
    while (unwrap(w, &word)) {}
    size_t slash =
        str_find(word, STR("("), 0) == SIZE_MAX ? str_find(word, STR("/"), 0) : SIZE_MAX;
    while (slash != SIZE_MAX) {
        enter_last(w);
        w->last = str_n(word.p, slash);
        word = str_from(word, slash + 1);
        slash = str_find(word, STR("/"), 0);
    }
    enter_last(w);
    w->last = word;
}

/* Parts are separated by slashes outside of brackets. */
static void take_path(path_walk *w, str path) {
    size_t from = 0;
    int open = 0;
    for (size_t i = 0; i <= path.n; i++) {
        char c = i < path.n ? path.p[i] : '/';
        if (c == '(') open++;
        if (c == ')' && open) open--;
        if (c != '/' || (open && i < path.n)) continue;
        take_part(w, str_n(path.p + from, i - from));
        from = i + 1;
    }
}

static op_path split_path(reader *r, str path) {
    path_walk w = {.r = r};
    str type = STR_NONE;
    size_t several = str_find(path, STR(";"), 0); /* of several merged into one: the first */
    if (several != SIZE_MAX) path = str_n(path.p, several);
    size_t colon = str_rfind_byte(path, ':');
    if (colon != SIZE_MAX && str_find(str_from(path, colon), STR("/"), 0) == SIZE_MAX) {
        type = str_from(path, colon + 1);
        path = str_n(path.p, colon);
    }
    take_path(&w, path);
    if (str_starts(w.last, STR("jit(")) || str_starts(w.last, STR("pjit("))) {
        enter_last(&w); /* the whole program and no operation of it */
        w.last = STR_NONE;
    }
    return (op_path){.name = xplane_string(r, type.n ? type : w.last),
                     .scope = w.scope,
                     .phase = w.optimizer  ? PHASE_OPTIMIZER
                              : w.backward ? PHASE_BACKWARD
                              : w.forward  ? PHASE_FORWARD
                                           : PHASE_NONE};
}

status path_find(reader *r, uint32_t path, op_path *out) {
    uint32_t *at = map_at(&r->path_map, path);
    if (!at) return ERR_MEMORY;
    if (*at == MAP_NONE) {
        *at = (uint32_t)r->paths.n;
        op_path made = split_path(r, intern_get(r->strings, path));
        op_path *row = vec_push(&r->paths);
        if (!row || r->failed) return ERR_MEMORY;
        *out = *row = made;
        return OK;
    }
    *out = VEC(&r->paths, op_path)[*at];
    return OK;
}
