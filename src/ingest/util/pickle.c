/* pickle.c: the values of a pickle: made by the machine, asked by a reader.
 *
 * A memory snapshot of half a gigabyte is mostly lists of references to a few thousand shared
 * dictionaries, and each reference takes two or five bytes of the file. So a value is four
 * bytes here, everything else is in four growing columns, and nothing is freed before the whole
 * is: the sample (57 frames for each stack) takes about as much memory as the file. The layout
 * is drawn in pickle_int.h.
 *
 * Indexes come from the machine alone, never from the file, so accessors trust them; what a
 * file can do is make lists that contain themselves, and accessors look one level deep only. */
#include "ingest/util/pickle_int.h"

#include "base/mem.h"
#include "base/num.h"

pickle *pickle_new(void) {
    pickle *p = mem_zalloc(sizeof *p);
    if (!p) return NULL;
    p->nodes = VEC_INIT(pickle_node);
    p->numbers = VEC_INIT(uint64_t);
    p->cells = VEC_INIT(uint32_t);
    p->shapes = VEC_INIT(pickle_shape);
    p->keys = VEC_INIT(pickle_value);
    p->texts = intern_new();
    uint32_t *unused = vec_push(&p->cells);
    if (!p->texts || !unused) {
        pickle_free(p);
        return NULL;
    }
    *unused = 0;
    return p;
}

void pickle_free(pickle *p) {
    if (!p) return;
    vec_fini(&p->nodes);
    vec_fini(&p->numbers);
    vec_fini(&p->cells);
    vec_fini(&p->shapes);
    vec_fini(&p->keys);
    map_fini(&p->by_keys);
    if (p->texts) intern_free(p->texts);
    mem_free(p);
}

pickle_value pickle_root(const pickle *p) {
    return p->root;
}

bool pickle_is_cut(const pickle *p) {
    return p->is_cut;
}

bool pickle_has_more(const pickle *p) {
    return p->has_more;
}

uint64_t pickle_input_bytes(const pickle *p) {
    return p->input_bytes;
}

uint64_t pickle_size_bytes(const pickle *p) {
    return p->nodes.mapped_bytes + p->numbers.mapped_bytes + p->cells.mapped_bytes +
           p->keys.mapped_bytes + intern_bytes(p->texts) +
           (uint64_t)intern_count(p->texts) * 32;
}

/* ---- making ------------------------------------------------------------------------------ */

static status make_number(pickle *p, int tag, uint64_t bits, pickle_value *out) {
    if (p->numbers.n >= MAX_INDEX) return ERR_LIMIT;
    uint64_t *row = vec_push(&p->numbers);
    if (!row) return ERR_MEMORY;
    *row = bits;
    *out = VALUE(tag, p->numbers.n - 1);
    return OK;
}

status pickle_make_i64(pickle *p, int64_t v, pickle_value *out) {
    const int64_t most = (int64_t)MAX_INDEX / 2;
    if (v < -most || v >= most) return make_number(p, TAG_I64, (uint64_t)v, out);
    *out = VALUE(TAG_SMALL, (uint32_t)v);
    return OK;
}

status pickle_make_u64(pickle *p, uint64_t v, pickle_value *out) {
    return v > INT64_MAX ? make_number(p, TAG_U64, v, out)
                         : pickle_make_i64(p, (int64_t)v, out);
}

status pickle_make_f64(pickle *p, double v, pickle_value *out) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return make_number(p, TAG_F64, bits, out);
}

status pickle_make_text(pickle *p, str text, pickle_value *out) {
    uint32_t id = intern_add(p->texts, text);
    if (id == UINT32_MAX) return ERR_MEMORY;
    if (id >= MAX_INDEX) return ERR_LIMIT;
    *out = VALUE(TAG_TEXT, id);
    return OK;
}

status pickle_make_node(pickle *p, int tag, pickle_value *out) {
    if (p->nodes.n >= MAX_INDEX) return ERR_LIMIT;
    pickle_node *row = vec_push(&p->nodes);
    if (!row) return ERR_MEMORY;
    *row = (pickle_node){0, 0, 0};
    *out = VALUE(tag, p->nodes.n - 1);
    return OK;
}

/* A chunk of n cells at the end of the node's chain; the cells are to be filled. NULL: no
 * room. */
static uint32_t *add_chunk(pickle *p, pickle_node *node, uint32_t used, uint32_t n) {
    if (vec_reserve(&p->cells, (size_t)n + CHUNK_HEAD) != OK) return NULL;
    uint32_t *all = VEC(&p->cells, uint32_t), chunk = (uint32_t)p->cells.n;
    all[chunk + CHUNK_USED] = used;
    all[chunk + CHUNK_NEXT] = 0;
    if (node->last)
        all[node->last + CHUNK_NEXT] = chunk;
    else
        node->first = chunk;
    node->last = chunk;
    p->cells.n += CHUNK_HEAD + n;
    return all + chunk + CHUNK_HEAD;
}

static bool has_keys(const pickle *p, uint32_t shape, const pickle_value *pairs, uint32_t n) {
    const pickle_shape *s = &VEC(&p->shapes, pickle_shape)[shape];
    if (s->n != n) return false;
    for (uint32_t i = 0; i < n; i++)
        if (VEC(&p->keys, pickle_value)[s->first + i] != pairs[(size_t)2 * i]) return false;
    return true;
}

/* The shape of these pairs, made when there are still few; UINT32_MAX when they have none. */
static uint32_t find_shape(pickle *p, const pickle_value *pairs, uint32_t n) {
    enum { MOST_SHAPES = 1024 };
    if (n < 2 || n > PICKLE_SHAPE_KEYS) return UINT32_MAX;
    uint32_t *recent = &p->recent[n];
    if (*recent && has_keys(p, *recent - 1, pairs, n)) return *recent - 1;
    uint64_t hash = n;
    for (uint32_t i = 0; i < n; i++) hash = hash_pair(hash, pairs[(size_t)2 * i]);
    uint32_t shape = map_get(&p->by_keys, hash);
    if (shape != MAP_NONE) {
        if (!has_keys(p, shape, pairs, n)) return UINT32_MAX;
        *recent = shape + 1;
        return shape;
    }
    if (p->shapes.n >= MOST_SHAPES || vec_reserve(&p->shapes, 1) != OK ||
        vec_reserve(&p->keys, n) != OK)
        return UINT32_MAX;
    uint32_t *place = map_at(&p->by_keys, hash);
    if (!place) return UINT32_MAX;
    *place = (uint32_t)p->shapes.n;
    VEC(&p->shapes, pickle_shape)[p->shapes.n++] = (pickle_shape){(uint32_t)p->keys.n, n};
    for (uint32_t i = 0; i < n; i++)
        VEC(&p->keys, pickle_value)[p->keys.n++] = pairs[(size_t)2 * i];
    return *place;
}

static status add_pairs(pickle *p, pickle_node *node, const pickle_value *pairs, uint32_t n) {
    uint32_t shape = find_shape(p, pairs, n);
    bool shaped = shape != UINT32_MAX;
    uint32_t *to = shaped ? add_chunk(p, node, (n + 1) | CHUNK_SHAPED, n + 1)
                          : add_chunk(p, node, 2 * n, 2 * n);
    if (!to) return ERR_MEMORY;
    if (shaped) *to++ = shape;
    if (!shaped) memcpy(to, pairs, (size_t)2 * n * sizeof *pairs);
    for (uint32_t i = 0; shaped && i < n; i++) to[i] = pairs[(size_t)2 * i + 1];
    node->n += n;
    return OK;
}

static status add_items(pickle *p, pickle_node *node, const pickle_value *items, uint32_t n) {
    uint32_t *last = VEC(&p->cells, uint32_t) + node->last;
    if (node->last && node->last + CHUNK_HEAD + last[CHUNK_USED] == p->cells.n &&
        last[CHUNK_USED] < CHUNK_SHAPED - n) { /* nothing came after it: it grows */
        TRY(vec_reserve(&p->cells, n));
        uint32_t *all = VEC(&p->cells, uint32_t);
        memcpy(all + p->cells.n, items, n * sizeof *items);
        p->cells.n += n;
        all[node->last + CHUNK_USED] += n;
    } else {
        uint32_t *to = add_chunk(p, node, n, n);
        if (!to) return ERR_MEMORY;
        memcpy(to, items, n * sizeof *items);
    }
    node->n += n;
    return OK;
}

status pickle_add(pickle *p, pickle_value to, const pickle_value *cells, size_t n) {
    pickle_node *node = &VEC(&p->nodes, pickle_node)[to >> TAG_BITS];
    if (n == 0) return OK;
    if (n >= CHUNK_SHAPED || p->cells.n > UINT32_MAX - CHUNK_HEAD - n ||
        node->n > UINT32_MAX - n)
        return ERR_LIMIT;
    return (to & TAG_MASK) == TAG_DICT ? add_pairs(p, node, cells, (uint32_t)n / 2)
                                       : add_items(p, node, cells, (uint32_t)n);
}

/* ---- asking ------------------------------------------------------------------------------ */

pickle_kind pickle_kind_of(pickle_value v) {
    switch (v & TAG_MASK) {
    case TAG_SMALL:
    case TAG_I64:
    case TAG_U64: return PICKLE_KIND_INT;
    case TAG_F64: return PICKLE_KIND_FLOAT;
    case TAG_TEXT: return PICKLE_KIND_TEXT;
    case TAG_LIST: return PICKLE_KIND_LIST;
    case TAG_DICT: return PICKLE_KIND_DICT;
    default: break;
    }
    return v == VALUE_ABSENT                     ? PICKLE_KIND_ABSENT
           : v == VALUE_NONE                     ? PICKLE_KIND_NONE
           : v == VALUE_TRUE || v == VALUE_FALSE ? PICKLE_KIND_BOOL
                                                 : PICKLE_KIND_OPAQUE;
}

static uint64_t number_of(const pickle *p, pickle_value v) {
    return VEC(&p->numbers, uint64_t)[v >> TAG_BITS];
}

bool pickle_i64(const pickle *p, pickle_value v, int64_t *out) {
    int tag = v & TAG_MASK;
    if (tag == TAG_SMALL)
        *out = (int32_t)v >> TAG_BITS;
    else if (tag == TAG_I64)
        *out = (int64_t)number_of(p, v);
    else if (v == VALUE_TRUE || v == VALUE_FALSE)
        *out = v == VALUE_TRUE;
    else
        return false;
    return true;
}

bool pickle_u64(const pickle *p, pickle_value v, uint64_t *out) {
    int64_t i;
    if ((v & TAG_MASK) == TAG_U64) {
        *out = number_of(p, v);
        return true;
    }
    if (!pickle_i64(p, v, &i) || i < 0) return false;
    *out = (uint64_t)i;
    return true;
}

bool pickle_f64(const pickle *p, pickle_value v, double *out) {
    int64_t i;
    uint64_t bits;
    if ((v & TAG_MASK) == TAG_F64) {
        bits = number_of(p, v);
        memcpy(out, &bits, sizeof *out);
        return true;
    }
    if ((v & TAG_MASK) == TAG_U64) {
        *out = (double)number_of(p, v);
        return true;
    }
    if (!pickle_i64(p, v, &i)) return false;
    *out = (double)i;
    return true;
}

bool pickle_text(const pickle *p, pickle_value v, str *out) {
    if ((v & TAG_MASK) != TAG_TEXT) return false;
    *out = intern_get(p->texts, v >> TAG_BITS);
    return true;
}

pickle_value pickle_key(const pickle *p, str text) {
    uint32_t id = intern_find(p->texts, text);
    return id < MAX_INDEX ? VALUE(TAG_TEXT, id) : PICKLE_ABSENT;
}

static const pickle_node *node_of(const pickle *p, pickle_value v, int tag) {
    return (int)(v & TAG_MASK) == tag ? &VEC(&p->nodes, pickle_node)[v >> TAG_BITS] : NULL;
}

/* One chunk's pairs: value i is cells[i * step], its key keys[i * step or i]. */
typedef struct {
    const uint32_t *keys, *values;
    uint32_t key_step, value_step, n;
} pair_chunk;

static pair_chunk pairs_of(const pickle *p, uint32_t chunk) {
    const uint32_t *head = VEC(&p->cells, uint32_t) + chunk, *cells = head + CHUNK_HEAD;
    if (!(head[CHUNK_USED] & CHUNK_SHAPED))
        return (pair_chunk){cells, cells + 1, 2, 2, head[CHUNK_USED] / 2};
    const pickle_shape *s = &VEC(&p->shapes, pickle_shape)[cells[0]];
    return (pair_chunk){VEC(&p->keys, pickle_value) + s->first, cells + 1, 1, 1, s->n};
}

pickle_value pickle_get(const pickle *p, pickle_value d, pickle_value key) {
    const pickle_node *node = node_of(p, d, TAG_DICT);
    const uint32_t *all = VEC(&p->cells, uint32_t);
    pickle_value found = PICKLE_ABSENT;
    if (!node || key == PICKLE_ABSENT) return found;
    for (uint32_t chunk = node->first; chunk; chunk = all[chunk + CHUNK_NEXT]) {
        pair_chunk c = pairs_of(p, chunk);
        for (size_t i = 0; i < c.n; i++)
            if (c.keys[i * c.key_step] == key) found = c.values[i * c.value_step];
    }
    return found;
}

uint32_t pickle_count(const pickle *p, pickle_value v) {
    const pickle_node *list = node_of(p, v, TAG_LIST), *dict = node_of(p, v, TAG_DICT);
    return list ? list->n : dict ? dict->n : 0;
}

pickle_iter pickle_items(const pickle *p, pickle_value list) {
    const pickle_node *node = node_of(p, list, TAG_LIST);
    return (pickle_iter){.chunk = node ? node->first : 0};
}

pickle_iter pickle_pairs(const pickle *p, pickle_value dict) {
    const pickle_node *node = node_of(p, dict, TAG_DICT);
    return (pickle_iter){.chunk = node ? node->first : 0};
}

bool pickle_next(const pickle *p, pickle_iter *it, pickle_value *item) {
    const uint32_t *all = VEC(&p->cells, uint32_t);
    while (it->chunk && it->i >= all[it->chunk + CHUNK_USED])
        *it = (pickle_iter){.chunk = all[it->chunk + CHUNK_NEXT]};
    if (!it->chunk) return false;
    *item = all[it->chunk + CHUNK_HEAD + it->i++];
    return true;
}

bool pickle_next_pair(const pickle *p, pickle_iter *it, pickle_value *key,
                      pickle_value *value) {
    pair_chunk c = {0};
    while (it->chunk && it->i >= (c = pairs_of(p, it->chunk)).n)
        *it = (pickle_iter){.chunk = VEC(&p->cells, uint32_t)[it->chunk + CHUNK_NEXT]};
    if (!it->chunk) return false;
    *key = c.keys[(size_t)it->i * c.key_step];
    *value = c.values[(size_t)it->i * c.value_step];
    it->i++;
    return true;
}

bool pickle_run(const pickle *p, pickle_value list, const pickle_value **items, uint32_t *n) {
    const pickle_node *node = node_of(p, list, TAG_LIST);
    if (!node || node->first != node->last) return false;
    *items = VEC(&p->cells, uint32_t) + node->first + CHUNK_HEAD;
    *n = node->n;
    return true;
}

bool pickle_row(const pickle *p, pickle_value dict, const pickle_value **keys,
                const pickle_value **values, uint32_t *n) {
    const pickle_node *node = node_of(p, dict, TAG_DICT);
    if (!node || !node->first || node->first != node->last) return false;
    pair_chunk c = pairs_of(p, node->first);
    *keys = c.keys;
    *values = c.values;
    *n = c.n;
    return c.key_step == 1;
}

WRAPS uint64_t pickle_hash(const pickle *p, pickle_value list) {
    const pickle_node *node = node_of(p, list, TAG_LIST);
    const uint32_t *all = VEC(&p->cells, uint32_t);
    uint64_t hash = 0;
    for (uint32_t chunk = node ? node->first : 0; chunk; chunk = all[chunk + CHUNK_NEXT])
        for (uint32_t i = 0; i < all[chunk + CHUNK_USED]; i++)
            hash = (hash ^ all[chunk + CHUNK_HEAD + i]) * 0x9e3779b97f4a7c15u;
    return hash_pair(hash, node ? node->n : 0);
}

bool pickle_same(const pickle *p, pickle_value list, pickle_value other) {
    if (list == other) return true;
    if (pickle_count(p, list) != pickle_count(p, other)) return false;
    pickle_iter a = pickle_items(p, list), b = pickle_items(p, other);
    pickle_value x, y;
    while (pickle_next(p, &a, &x))
        if (!pickle_next(p, &b, &y) || x != y) return false;
    return true;
}
