/* execution_trace.c: reads an execution trace, a node at a time.
 *
 *     {"schema": "1.1.1-chakra.0.0.4", "pid": 7, …, "nodes": [
 *       {"id": 18, "name": "aten::mm", "ctrl_deps": 9,
 *        "inputs": {"values": [[6, 7, 0, 512, 4, "cpu"], …], "shapes": [[16, 32], …],
 *                   "types": ["Tensor(float)", …], "strides": [[32, 1], …]}, "outputs": {…},
 *        "attrs": [{"name": "rf_id", "type": "uint64", "value": 9}, …]}, …]}
 *
 * Before Chakra the same members were directly in the node: rf_id, input_shapes, input_types.
 * Only what is joined is kept of a node; graph and outputs are skipped, so an id that is
 * dangling or part of a cycle is never followed. Most inputs are like those of another node: a
 * text is put into Kineto's spelling once (execution_spelling.c). The text of the file is never
 * in memory as a whole. */
#include "ingest/pytorch/execution_trace.h"

#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/num.h"
#include "ingest/pytorch/execution_spelling_int.h"

/* A node is a few kilobytes; one beyond this is damage. */
#define MOST_NODE_BYTES ((size_t)64 << 20)
#define READ_BYTES ((size_t)4 << 20)
/* A default group of more ranks is named by its size alone. */
enum { MOST_RANKS = 65536 };

typedef struct {
    uint32_t name, ranks;
} execution_group;

struct execution_trace {
    map by_id;   /* id → row of nodes */
    vec nodes;   /* execution_node */
    vec joined;  /* uint8_t for each node */
    vec comms;   /* execution_comm */
    vec groups;  /* execution_group */
    spelling to; /* Kineto's */
    bool damaged;
};

/* What a node says, as slices of the text. */
typedef struct {
    str name, attrs;
    spelled_inputs in;
    int64_t id;
} node_text;

/* ---- one node ---------------------------------------------------------------------------- */

static void look_at_inputs(str value, spelled_inputs *in) {
    json_iter it = json_open(value);
    str key, v;
    if (!it.object) {
        in->values = value;
        return;
    }
    while (json_next(&it, &key, &v)) {
        if (str_eq(key, STR("values"))) in->values = v;
        if (str_eq(key, STR("shapes"))) in->shapes = v;
        if (str_eq(key, STR("types"))) in->types = v;
        if (str_eq(key, STR("strides"))) in->strides = v;
    }
}

/* The value of an attribute; attributes are objects of name, type and value. */
static str attribute(str attrs, str wanted) {
    json_iter it = json_open(attrs);
    str key, one;
    while (json_next(&it, &key, &one))
        if (str_eq(json_text(json_member(one, STR("name"))), wanted))
            return json_member(one, STR("value"));
    return STR_NONE;
}

static node_text look_at_node(str text) {
    node_text n = {.id = 0};
    json_iter it = json_open(text);
    str key, v;
    while (json_next(&it, &key, &v)) {
        if (str_eq(key, STR("name")))
            n.name = v;
        else if (str_eq(key, STR("inputs")))
            look_at_inputs(v, &n.in);
        else if (str_eq(key, STR("input_shapes")))
            n.in.shapes = v;
        else if (str_eq(key, STR("input_types")))
            n.in.types = v;
        else if (str_eq(key, STR("input_strides")))
            n.in.strides = v;
        else if (str_eq(key, STR("attrs")) || str_eq(key, STR("attr")))
            n.attrs = v;
        else if (str_eq(key, STR("rf_id")) && !json_i64(v, &n.id))
            n.id = 0;
    }
    if (n.attrs.n && !n.id && !json_i64(attribute(n.attrs, STR("rf_id")), &n.id)) n.id = 0;
    return n;
}

/* ---- process groups ---------------------------------------------------------------------- */

static const str INIT_NODE = STR("## process_group:init ##");

/* [0, 1, …] for a group of all ranks, which is written without a list. */
static uint32_t ranks_text(spelling *to, int64_t first, int64_t stride, int64_t n) {
    if (n <= 0 || n > MOST_RANKS || first < 0 || stride <= 0 || first > MOST_RANKS ||
        stride > MOST_RANKS)
        return 0;
    buf_clear(&to->text);
    for (int64_t i = 0; i < n; i++) {
        buf_add_cstr(&to->text, i ? ", " : "[");
        buf_add_i64(&to->text, first + i * stride);
    }
    buf_add_byte(&to->text, ']');
    return spelling_id(to, STR_NONE);
}

static status take_group(execution_trace *et, str group) {
    int64_t size = 0;
    str ranks = json_member(group, STR("ranks"));
    bool listed = ranks.n > 2 && *ranks.p == '[';
    execution_group *row = vec_push(&et->groups);
    if (!row) return ERR_MEMORY;
    *row =
        (execution_group){.name = spelling_text(&et->to, json_member(group, STR("pg_name")))};
    if (!json_i64(json_member(group, STR("group_size")), &size)) size = 0;
    row->ranks = listed ? spelling_json(&et->to, ranks) : ranks_text(&et->to, 0, 1, size);
    return row->name == UINT32_MAX || row->ranks == UINT32_MAX ? ERR_MEMORY : OK;
}

/* The table of groups is JSON in a text: the only input of its node. */
static status take_groups(execution_trace *et, str values) {
    json_iter it = json_open(values);
    str key, text, group;
    buf table = {0};
    if (json_next(&it, &key, &text)) (void)json_decode(json_text(text), &table);
    status st = buf_ok(&table) ? OK : ERR_MEMORY;
    it = json_open(buf_str(&table));
    while (st == OK && et->groups.n < MOST_RANKS && json_next(&it, &key, &group))
        st = take_group(et, group);
    buf_fini(&table);
    return st;
}

static uint32_t ranks_of_group(const execution_trace *et, uint32_t name) {
    for (size_t i = et->groups.n; COUNT_DOWN(i);) {
        const execution_group *g = &VEC(&et->groups, execution_group)[i];
        if (g->name == name) return g->ranks;
    }
    return 0;
}

/* ---- collectives ------------------------------------------------------------------------- */

static int64_t int_attribute(str attrs, str name) {
    int64_t v;
    return json_i64(attribute(attrs, name), &v) && v >= 0 ? v : ABSENT_I64;
}

static uint32_t find_ranks(execution_trace *et, str attrs, const execution_comm *c) {
    uint32_t ranks = ranks_of_group(et, c->group_name);
    if (ranks) return ranks;
    int64_t first = int_attribute(attrs, STR("global_rank_start")),
            stride = int_attribute(attrs, STR("global_rank_stride"));
    return ranks_text(&et->to, first, stride, c->group_size);
}

/* *row: its row + 1. */
static status take_comm(execution_trace *et, str attrs, uint32_t *row) {
    execution_comm *c = vec_push(&et->comms);
    if (!c) return ERR_MEMORY;
    *c = (execution_comm){
        .name = spelling_text(&et->to, attribute(attrs, STR("collective_name"))),
        .dtype = spelling_text(&et->to, attribute(attrs, STR("dtype"))),
        .group_name = spelling_text(&et->to, attribute(attrs, STR("pg_name"))),
        .group_description = spelling_text(&et->to, attribute(attrs, STR("pg_desc"))),
        .in_elements = int_attribute(attrs, STR("in_msg_nelems")),
        .out_elements = int_attribute(attrs, STR("out_msg_nelems")),
        .group_size = int_attribute(attrs, STR("pg_size"))};
    c->group_ranks = find_ranks(et, attrs, c);
    bool ok = c->name != UINT32_MAX && c->dtype != UINT32_MAX && c->group_name != UINT32_MAX &&
              c->group_description != UINT32_MAX && c->group_ranks != UINT32_MAX;
    *row = (uint32_t)et->comms.n;
    return ok ? OK : ERR_MEMORY;
}

/* ---- the list ---------------------------------------------------------------------------- */

static status add_node(execution_trace *et, const node_text *n) {
    uint32_t *row = map_at(&et->by_id, (uint64_t)n->id);
    if (!row) return ERR_MEMORY;
    if (*row != MAP_NONE) return OK; /* an id is given once; the first one counts */
    *row = (uint32_t)et->nodes.n;
    execution_node *node = vec_push(&et->nodes);
    uint8_t *joined = vec_push(&et->joined);
    if (!node || !joined) return ERR_MEMORY;
    *joined = 0;
    *node = (execution_node){.name = spelling_text(&et->to, n->name)};
    TRY(spelling_inputs(&et->to, &n->in, node));
    if (node->name == UINT32_MAX) return ERR_MEMORY;
    bool collective = str_find(n->attrs, STR("\"collective_name\""), 0) != SIZE_MAX;
    return collective ? take_comm(et, n->attrs, &node->comm) : OK;
}

/* The roots of processes and threads, and nodes the observer adds itself, are not operators. */
static status take_node(execution_trace *et, str text) {
    node_text n = look_at_node(text);
    str name = json_text(n.name);
    if (str_eq(name, INIT_NODE)) return take_groups(et, n.in.values);
    if (n.id <= 0 || !name.n || str_starts(name, STR("[pytorch|profiler|"))) return OK;
    return et->nodes.n < UINT32_MAX / 2 ? add_node(et, &n) : OK;
}

/* Where the reader is in the text. */
typedef struct {
    bool in_list, ended;
} list_state;

/* Takes the nodes that are whole; *used: bytes that are done with. */
static status take_nodes(execution_trace *et, str text, list_state *at, size_t *used) {
    const char *p = text.p, *end = text.p + text.n;
    if (!at->in_list) {
        size_t key = str_find(text, STR("\"nodes\""), 0);
        const char *open = key == SIZE_MAX ? NULL : memchr(p + key, '[', text.n - key);
        if (!open) return OK;
        at->in_list = true;
        p = open + 1;
    }
    status st = OK;
    while (st == OK && !at->ended) {
        while (p < end && (json_is_space(*p) || *p == ',')) p++;
        if (p == end) break;
        const char *stop = *p == '{' ? json_value_end(p, end) : NULL;
        if (*p == '{' && !stop) break;
        if (stop) st = take_node(et, str_n(p, (size_t)(stop - p)));
        at->ended = !stop;
        et->damaged |= !stop && *p != ']';
        p = stop ? stop : end;
    }
    *used = (size_t)(p - text.p);
    return st;
}

static status check_limit(const execution_trace *et, const ingest_options *o, error *err) {
    uint64_t held = et->nodes.mapped_bytes + et->comms.mapped_bytes + et->by_id.cap * 12 +
                    spelling_bytes(&et->to);
    if (o->memory_limit_bytes && held > o->memory_limit_bytes)
        FAIL(err, ERR_LIMIT, NOPOS, MSG_MEMORY_LIMIT,
             arg_bytes("limit", sat_i64(o->memory_limit_bytes)));
    return OK;
}

static status read_list(execution_trace *et, source *src, const ingest_options *o, error *err) {
    list_state at = {.in_list = false};
    status st = OK;
    size_t keep = 0, want = o->piece_bytes ? o->piece_bytes : READ_BYTES;
    while (st == OK && !at.ended) {
        piece pc;
        size_t used = 0;
        TRY(source_next(src, keep > want ? keep : want, keep, &pc, err));
        if (pc.n == 0) break;
        st = take_nodes(et, str_n(pc.p, pc.n), &at, &used);
        keep = pc.n - used;
        source_release(src, &pc);
        if (st == ERR_MEMORY) FAIL_MEMORY(err);
        if (keep > MOST_NODE_BYTES) break;
        if (st == OK) st = check_limit(et, o, err);
    }
    et->damaged |= !at.ended || source_damaged(src);
    return st;
}

/* ---- the front --------------------------------------------------------------------------- */

bool execution_trace_head(str head) {
    str s = str_n(head.p, head.n < 65536 ? head.n : 65536);
    const char *end = s.p + s.n, *first = s.n ? json_space(s.p, end) : end;
    if (first == end || *first != '{' || str_find(s, STR("\"schema\""), 0) == SIZE_MAX)
        return false;
    return str_find(s, STR("-chakra"), 0) != SIZE_MAX ||
           (str_find(s, STR("\"nodes\""), 0) != SIZE_MAX &&
            (str_find(s, STR("\"ctrl_deps\""), 0) != SIZE_MAX ||
             str_find(s, STR("\"rf_id\""), 0) != SIZE_MAX));
}

status execution_trace_read(source *src, const ingest_options *o, builder *b,
                            execution_trace **out, error *err) {
    execution_trace *et = mem_zalloc(sizeof *et);
    if (!et) FAIL_MEMORY(err);
    et->nodes = VEC_INIT(execution_node);
    et->joined = VEC_INIT(uint8_t);
    et->comms = VEC_INIT(execution_comm);
    et->groups = VEC_INIT(execution_group);
    status st = spelling_init(&et->to, builder_strings(b));
    if (st != OK) (void)error_set(err, st, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    if (st == OK) st = read_list(et, src, o, err);
    spelling_fini(&et->to);
    if (st == OK)
        *out = et;
    else
        execution_trace_free(et);
    return st;
}

void execution_trace_free(execution_trace *et) {
    if (!et) return;
    map_fini(&et->by_id);
    vec_fini(&et->nodes);
    vec_fini(&et->joined);
    vec_fini(&et->comms);
    vec_fini(&et->groups);
    mem_free(et);
}

const execution_node *execution_trace_find(execution_trace *et, int64_t id, uint32_t name) {
    uint32_t row = map_get(&et->by_id, (uint64_t)id);
    if (row == MAP_NONE) return NULL;
    const execution_node *node = &VEC(&et->nodes, execution_node)[row];
    if (node->name != name) return NULL;
    __atomic_store_n(&VEC(&et->joined, uint8_t)[row], 1, __ATOMIC_RELAXED);
    return node;
}

const execution_comm *execution_trace_comm(const execution_trace *et,
                                           const execution_node *node) {
    return node->comm ? &VEC(&et->comms, execution_comm)[node->comm - 1] : NULL;
}

execution_counts execution_trace_counts(const execution_trace *et) {
    execution_counts c = {.nodes = (int64_t)et->nodes.n, .damaged = et->damaged};
    for (size_t i = 0; i < et->joined.n; i++) c.joined += VEC(&et->joined, uint8_t)[i];
    return c;
}
