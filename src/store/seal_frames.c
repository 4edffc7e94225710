/* seal_frames.c: call stacks and modules.
 *
 * A frame is a node of one tree of callers shared by all. Those the reader gave come first. A
 * Python slice is the child of the Python slice around it, by name. An operator's frame is that
 * of the innermost Python slice around it, or, in traces that carry the stack as text on each
 * operator, the one its text spells. Each distinct path is one frame, so grouping by stack is
 * grouping by a number. */
#include "base/mem.h"
#include "base/num.h"
#include "store/builder_int.h"

typedef struct {
    int64_t id;
    uint32_t name, parent;
} module_row;

typedef struct {
    seal_ctx *s;
    map texts;   /* string id of a stack text → frame */
    vec modules; /* module_row */
    map module_map;
    uint32_t *frame_of;  /* by slice: innermost Python frame */
    uint32_t *module_of; /* by slice: innermost module */
} frames_ctx;

/* A stack as text: frames joined by ';', innermost first. */
static uint32_t frame_of_text(frames_ctx *q, uint32_t text_id) {
    uint32_t *at = map_at(&q->texts, text_id);
    if (!at) return UINT32_MAX;
    if (*at != MAP_NONE) return *at;
    str text = intern_get(q->s->b->strings, text_id);
    uint32_t frame = 0;
    for (size_t end = text.n, from; end; end = from ? from - 1 : 0) {
        from = end;
        while (from && text.p[from - 1] != ';') from--;
        str name = str_trim(str_n(text.p + from, end - from));
        uint32_t id = name.n ? intern_add(q->s->b->strings, name) : 0;
        if (id == UINT32_MAX) return UINT32_MAX;
        if (name.n) frame = builder_child_frame(q->s->b, frame, id);
        if (frame == UINT32_MAX) return UINT32_MAX;
    }
    return *at = frame;
}

/* The module of a module slice. */
static uint32_t module_of_slice(frames_ctx *q, uint32_t slice, uint32_t parent) {
    const seal_ctx *s = q->s;
    int64_t id = s->module_id[s->detail[slice]];
    uint32_t name = s->slice.name[slice];
    for (uint64_t key = hash_pair((uint64_t)id, name);; key++) {
        uint32_t *at = map_at(&q->module_map, key);
        if (!at) return UINT32_MAX;
        if (*at == MAP_NONE) {
            *at = 0;
            module_row *row = vec_push(&q->modules);
            if (!row) return UINT32_MAX;
            *row = (module_row){id, name, parent};
            return *at = (uint32_t)(q->modules.n - 1);
        }
        const module_row *row = &VEC(&q->modules, module_row)[*at];
        if (row->id == id && row->name == name) return *at;
    }
}

/* The innermost frame and module at every slice. */
static bool walk_slices(frames_ctx *q) {
    seal_ctx *s = q->s;
    for (uint32_t i = 1; i < s->slice.n; i++) {
        uint32_t parent = s->slice.parent[i], frame = q->frame_of[parent],
                 module = q->module_of[parent];
        uint8_t kind = s->slice.kind[i];
        if (kind == KIND_PYTHON || kind == KIND_MODULE)
            frame = builder_child_frame(s->b, frame, s->slice.name[i]);
        if (kind == KIND_MODULE) {
            module = module_of_slice(q, i, module);
            if (module != UINT32_MAX) s->module_call.module[s->detail[i]] = module;
        }
        if (frame == UINT32_MAX || module == UINT32_MAX) return false;
        q->frame_of[i] = frame;
        q->module_of[i] = module;
    }
    return true;
}

static bool set_op_frames(frames_ctx *q) {
    seal_ctx *s = q->s;
    for (uint32_t i = 1; i < s->op.n; i++) {
        uint32_t text = s->op.frame[i]; /* the reader's string id, see seal_details */
        if (!text && !s->has_callers) continue;
        if (text & SEAL_FRAME_GIVEN) {
            s->op.frame[i] = text & ~SEAL_FRAME_GIVEN;
            continue;
        }
        uint32_t frame = text ? frame_of_text(q, text) : q->frame_of[s->op.slice[i]];
        if (frame == UINT32_MAX) return false;
        s->op.frame[i] = frame;
    }
    return true;
}

/* "path/file.py(123): function" → file and line. */
static status split_name(frames_ctx *q, uint32_t row, str name) {
    seal_ctx *s = q->s;
    size_t close = str_find(name, STR("): "), 0);
    if (close == SIZE_MAX) return OK;
    size_t open = close;
    while (open && name.p[open - 1] >= '0' && name.p[open - 1] <= '9') open--;
    int64_t line;
    if (open < 2 || name.p[open - 1] != '(' ||
        !str_to_i64(str_n(name.p + open, close - open), &line))
        return OK;
    uint32_t file = intern_add(s->b->strings, str_n(name.p, open - 1));
    if (file == UINT32_MAX) return ERR_MEMORY;
    s->frame.file[row] = file;
    s->frame.line[row] = sat_u32((uint64_t)line);
    return OK;
}

static status write_tables(frames_ctx *q, error *err) {
    seal_ctx *s = q->s;
    TRY(seal_table(s, TABLE_frame, s->b->frames.n, err));
    for (uint32_t i = 1; i < s->frame.n; i++) {
        const frame_row *row = &VEC(&s->b->frames, frame_row)[i];
        s->frame.parent[i] = row->parent;
        s->frame.name[i] = row->name;
        TRY(split_name(q, i, intern_get(s->b->strings, row->name)));
    }
    TRY(seal_table(s, TABLE_module, q->modules.n, err));
    for (uint32_t i = 1; i < s->module.n; i++) {
        const module_row *row = &VEC(&q->modules, module_row)[i];
        s->module.name[i] = row->name;
        s->module.id[i] = row->id;
        s->module.parent[i] = row->parent;
    }
    return OK;
}

status seal_frames(seal_ctx *s, error *err) {
    frames_ctx q = {.s = s,
                    .modules = VEC_INIT(module_row),
                    .frame_of = s->by_slice[0],
                    .module_of = s->by_slice[1]};
    q.frame_of[0] = q.module_of[0] = 0;
    module_row *no_module = vec_push(&q.modules);
    status st = ERR_MEMORY;
    if (no_module) {
        *no_module = (module_row){0, 0, 0};
        if ((!s->has_callers || walk_slices(&q)) && set_op_frames(&q))
            st = write_tables(&q, err);
    }
    vec_fini(&q.modules);
    map_fini(&q.texts);
    map_fini(&q.module_map);
    if (st == ERR_MEMORY) FAIL_MEMORY(err);
    return st;
}
