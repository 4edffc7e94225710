/* mindspore_proto.c: memory_usage_#.pb: the memory of compiled graphs, before MindSpore made
 * memory_usage_details_#.json of it (which wins).
 *
 *   file     1 graph …, 2 bytes of the device's memory
 *   graph    1 number, 2 static bytes, 3 node …, 4 tensor …
 *   node     1 name, 2 number, 3 inputs …, 4 outputs …, 5 workspaces … (numbers of tensors)
 *   tensor   1 number, 2 bytes, 4 first node, 5 last node, 6 how long it lives
 *
 * Nodes are in the order they run in, and a life is given as places in that order. Memory in
 * use while a node runs is the static memory and all tensors that live then, so the curve is
 * the one MindSpore computes. Its lists of tensors have only outputs; here every tensor is one,
 * outputs and workspaces with the name of their node. A tensor whose life is nowhere in the
 * graph is counted and left out, one that outlives it ends with it. A file that was cut gives
 * what it has up to there. */
#include <stdio.h>

#include "base/num.h"
#include "ingest/mindspore/mindspore_graph.h"
#include "ingest/util/protobuf.h"

enum { MOST_NAME = 200 }; /* of a node in the name of a tensor: a node may have very many */
/* All tensors of a graph together: sums of it never overflow. */
#define MOST_BYTES ((uint64_t)1 << 60)

/* A tensor before its life is a range of nodes; numbers are those of the file. */
typedef struct {
    uint64_t id, bytes, start, end;
    str life;
} wire_tensor;

/* Which node made a tensor. */
typedef struct {
    uint32_t node, index;
    bool workspace;
} source_of;

typedef struct {
    graph g;
    vec sources;   /* source_of */
    map by_output; /* number of a tensor -> row of sources */
    const map *full_names;
    uint64_t bytes; /* of all tensors */
    int64_t n_tensors;
    bool cut; /* the file ends in it: that is counted once, for the file */
} wire_graph;

/* The file: where its next graph starts, and what all of them add up to. */
typedef struct {
    map full_names; /* last part of a name -> the whole; string ids */
    int64_t clock, n_tensors, static_bytes, peak;
} wire_file;

/* pb_next without its demand for room after the message. */
static bool next_field(pb_reader *r, pb_field *f) {
    pb_step s = pb_next_any(*r);
    *r = s.r;
    *f = s.f;
    return s.found;
}

static void count_damage(ms *m, const pb_reader *r, cause c) {
    if (r->damaged) ms_lost(m, c, NOPOS, str_of(m->file));
}

/* ---- nodes ------------------------------------------------------------------------------- */

static status add_source(wire_graph *w, uint64_t tensor, bool workspace, uint32_t index,
                         error *err) {
    uint32_t *at = map_at(&w->by_output, tensor);
    if (!at) FAIL_MEMORY(err);
    if (*at != MAP_NONE) return OK; /* some files list outputs as workspaces once more */
    source_of *to = vec_push(&w->sources);
    if (!to) FAIL_MEMORY(err);
    *at = (uint32_t)(w->sources.n - 1);
    *to =
        (source_of){.node = (uint32_t)w->g.nodes.n - 1, .index = index, .workspace = workspace};
    return OK;
}

/* Numbers of tensors: one for itself, or all of them packed. */
static status take_tensors(wire_graph *w, const pb_field *f, uint32_t *index, error *err) {
    bool workspace = f->tag >> 3 == 5;
    if ((f->tag & 7) == WIRE_VARINT) return add_source(w, f->v, workspace, (*index)++, err);
    if ((f->tag & 7) != WIRE_BYTES) return OK;
    str rest = pb_bytes(f);
    while (rest.n) {
        /* A varint is read as the value of a field, with a key added before it. */
        char copy[12] = {PB_VARINT(1)};
        pb_field one;
        bool cut;
        size_t n = rest.n < 10 ? rest.n : 10;
        memcpy(copy + 1, rest.p, n);
        const char *end = pb_head(copy, copy + 1 + n, &one, &cut);
        if (!end) {
            ms_lost(w->g.m, CAUSE_BAD_SYNTAX, NOPOS, str_of(w->g.m->file));
            return OK;
        }
        TRY(add_source(w, one.v, workspace, (*index)++, err));
        rest = str_from(rest, (size_t)(end - copy) - 1);
    }
    return OK;
}

static status take_node(wire_graph *w, str message, error *err) {
    ms *m = w->g.m;
    pb_reader r = pb_open(message);
    pb_field f;
    uint32_t outputs = 0, workspaces = 0;
    if (w->g.nodes.n >= MOST_NODES) {
        ms_lost(m, CAUSE_NUMBER_RANGE, NOPOS, str_of(m->file));
        return OK;
    }
    graph_node *node = vec_push(&w->g.nodes);
    if (!node) FAIL_MEMORY(err);
    *node = (graph_node){.id = (int64_t)w->g.nodes.n - 1};
    part_count(m->part, 1, 0);
    while (next_field(&r, &f)) {
        switch (f.tag >> 3) {
        case 1:
            if (f.tag == PB_BYTES(1)) node->name = ms_string(m, pb_bytes(&f));
            break;
        case 4: TRY(take_tensors(w, &f, &outputs, err)); break;
        case 5: TRY(take_tensors(w, &f, &workspaces, err)); break;
        default: break;
        }
    }
    count_damage(m, &r, CAUSE_BAD_SYNTAX);
    uint32_t full = map_get(w->full_names, node->name);
    node->full_name = full == MAP_NONE ? node->name : full;
    if (node->name == MS_NO_STRING) FAIL_MEMORY(err);
    return OK;
}

/* ---- tensors ----------------------------------------------------------------------------- */

static wire_tensor read_tensor(ms *m, str message) {
    wire_tensor t = {.life = STR_NONE};
    pb_reader r = pb_open(message);
    pb_field f;
    while (next_field(&r, &f)) {
        switch (f.tag) {
        case PB_VARINT(1): t.id = f.v; break;
        case PB_VARINT(2): t.bytes = f.v; break;
        case PB_VARINT(4): t.start = f.v; break;
        case PB_VARINT(5): t.end = f.v; break;
        case PB_BYTES(6): t.life = pb_bytes(&f); break;
        default: break;
        }
    }
    count_damage(m, &r, CAUSE_BAD_SYNTAX);
    return t;
}

/* The nodes a tensor lives from and to; false: none of them. */
static bool life_of(ms *m, const wire_tensor *t, size_t n_nodes, uint32_t *from, uint32_t *to) {
    bool all = str_eq(t->life, STR("LifeLongGraphAll")),
         from_start = str_eq(t->life, STR("LifeLongGraphStart")),
         to_end = str_eq(t->life, STR("LifeLongGraphEnd"));
    if (!n_nodes || (!all && !from_start && !to_end && !str_eq(t->life, STR("LifeLongNone"))))
        return false;
    uint64_t start = all || from_start ? 0 : t->start, last = n_nodes - 1,
             end = all || to_end ? last : t->end;
    /* Below zero in 64 bits: the compiler did not know it. */
    if (start > end || start > last || end > INT64_MAX) return false;
    if (end > last) part_lost(m->part, CAUSE_NUMBER_RANGE, NOPOS, 0);
    *from = (uint32_t)start;
    *to = (uint32_t)(end < last ? end : last);
    return true;
}

static uint32_t tensor_name(wire_graph *w, uint64_t id) {
    ms *m = w->g.m;
    uint32_t row = map_get(&w->by_output, id);
    char name[MOST_NAME + 40];
    int n;
    if (row == MAP_NONE) {
        n = snprintf(name, sizeof name, "tensor %llu", (unsigned long long)id);
    } else {
        source_of s = VEC(&w->sources, source_of)[row];
        str node = ms_text(m, VEC(&w->g.nodes, graph_node)[s.node].name);
        if (node.n > MOST_NAME) node.n = MOST_NAME;
        n = snprintf(name, sizeof name, s.workspace ? "%.*s:workspace %u" : "%.*s:%u",
                     STR_ARG(node), s.index);
    }
    return ms_string(m, str_n(name, (size_t)n));
}

static status take_tensor(wire_graph *w, str message, error *err) {
    ms *m = w->g.m;
    wire_tensor t = read_tensor(m, message);
    graph_node *nodes = VEC(&w->g.nodes, graph_node);
    graph_tensor tensor = {.id = (int64_t)t.id,
                           .bytes = (int64_t)(t.bytes < MOST_BYTES ? t.bytes : 0)};
    uint32_t *at = map_at(&w->g.by_tensor, t.id);
    if (!at) FAIL_MEMORY(err);
    cause wrong = *at != MAP_NONE ? CAUSE_DUPLICATE_KEY
                  : t.bytes >= MOST_BYTES || w->bytes + t.bytes >= MOST_BYTES
                      ? CAUSE_NUMBER_RANGE
                  : !life_of(m, &t, w->g.nodes.n, &tensor.from, &tensor.to) ? CAUSE_MISSING_TIME
                                                                            : N_CAUSES;
    w->n_tensors += *at == MAP_NONE;
    *at = 0;
    if (wrong != N_CAUSES) {
        ms_lost(m, wrong, NOPOS, str_of(m->file));
        return OK;
    }
    w->bytes += t.bytes;
    nodes[tensor.from].line += tensor.bytes;
    if (tensor.to + 1 < w->g.nodes.n) nodes[tensor.to + 1].line -= tensor.bytes;
    if (!t.bytes || w->g.tensors.n >= MOST_TENSORS)
        return OK; /* the line has it all the same */
    tensor.name = tensor_name(w, t.id);
    return graph_add_tensor(&w->g, &tensor, err);
}

/* ---- graphs ------------------------------------------------------------------------------ */

/* The nodes first: a life is a range of them, and their outputs name the tensors. */
static status take_parts(wire_graph *w, str message, error *err) {
    for (uint32_t number = 3; number <= 4; number++) {
        pb_reader r = pb_open(message);
        pb_field f;
        while (next_field(&r, &f)) {
            if (number == 3 && f.tag == PB_VARINT(2)) {
                if (f.v < MOST_BYTES)
                    w->g.static_bytes = (int64_t)f.v;
                else
                    ms_lost(w->g.m, CAUSE_NUMBER_RANGE, NOPOS, str_of(w->g.m->file));
            }
            if (f.tag != PB_BYTES(number)) continue;
            TRY(number == 3 ? take_node(w, pb_bytes(&f), err)
                            : take_tensor(w, pb_bytes(&f), err));
        }
        if (number == 3 && !w->cut) count_damage(w->g.m, &r, CAUSE_BAD_SYNTAX);
    }
    return OK;
}

/* What changed at each node becomes what is in use. */
static void finish_lines(wire_graph *w, wire_file *file) {
    graph_node *nodes = VEC(&w->g.nodes, graph_node);
    int64_t line = w->g.static_bytes;
    for (size_t i = 0; i < w->g.nodes.n; i++) {
        line += nodes[i].line;
        nodes[i].line = line;
        file->peak = max_i64(file->peak, line);
    }
    file->static_bytes = add_i64(file->static_bytes, w->g.static_bytes);
    file->n_tensors += w->n_tensors;
}

static status take_graph(ms *m, wire_file *file, str message, bool cut, error *err) {
    wire_graph w = {.g = graph_begin(m),
                    .sources = VEC_INIT(source_of),
                    .full_names = &file->full_names,
                    .cut = cut};
    status st = take_parts(&w, message, err);
    if (st == OK) {
        finish_lines(&w, file);
        st = graph_emit(&w.g, &file->clock, err);
    }
    graph_fini(&w.g);
    vec_fini(&w.sources);
    map_fini(&w.by_output);
    return st;
}

static status add_full_name(ms *m, map *out, uint32_t full, error *err) {
    uint32_t name = ms_string(m, ms_short(ms_text(m, full)));
    uint32_t *at = name == MS_NO_STRING ? NULL : map_at(out, name);
    if (!at) FAIL_MEMORY(err);
    *at = full;
    return OK;
}

/* Nodes are called by the last part of their names. */
static status list_full_names(ms *m, map *out, error *err) {
    for (size_t i = 0; i < m->known.rows.n; i++)
        TRY(add_full_name(m, out, VEC(&m->known.rows, ms_known)[i].full_name, err));
    for (size_t i = 0; i < m->task.names.n; i++)
        TRY(add_full_name(m, out, VEC(&m->task.names, uint32_t)[i], err));
    return OK;
}

/* ---- the file ---------------------------------------------------------------------------- */

static void keep_sum(ms *m, const wire_file *file) {
    if (m->seen[MS_MEMORY_SUMMARY] || !file->peak) return;
    m->resource.memory_peak = file->peak;
    if (m->memory.capacity > 0) m->resource.memory_capacity = m->memory.capacity;
}

/* The next graph or number; of a file that was cut also the graph that was cut. */
static bool next_part(pb_reader *r, pb_field *f, bool *cut) {
    pb_reader before = *r;
    if (next_field(r, f)) return true;
    bool in_head;
    const char *p = r->damaged ? pb_head(before.p, before.end, f, &in_head) : NULL;
    *cut |= r->damaged;
    if (!p || f->tag != PB_BYTES(1)) return false;
    f->p = p;
    f->v = (uint64_t)(before.end - p);
    r->damaged = false; /* it is at its end, and counted */
    return true;
}

status read_memory_proto(ms *m, str text, error *err) {
    if (m->seen[MS_MEMORY_DETAIL]) return OK; /* what was made of it was there */
    wire_file file = {.clock = graph_first_time(m)};
    size_t before = m->memory.rows.n;
    pb_reader r = pb_open(text);
    pb_field f;
    bool cut = false;
    status st = list_full_names(m, &file.full_names, err);
    while (st == OK && next_part(&r, &f, &cut)) {
        if (f.tag == PB_BYTES(1))
            st = take_graph(m, &file, pb_bytes(&f), cut, err);
        else if (f.tag == PB_VARINT(2) && f.v < MOST_BYTES && m->memory.capacity == ABSENT_I64)
            m->memory.capacity = (int64_t)f.v;
    }
    map_fini(&file.full_names);
    if (st != OK) return st;
    if (cut) ms_lost(m, CAUSE_TRUNCATED, NOPOS, str_of(m->file));
    if (m->memory.rows.n == before) ms_lost(m, CAUSE_BAD_SYNTAX, 0, str_of(m->file));
    keep_sum(m, &file);
    return OK;
}
