/* snapshot_stack.c: call stacks of a memory snapshot.
 *
 * A stack is a list of frames, innermost first; a frame is a dictionary with file, line and
 * function. PyTorch shares frames: a million lists of fifty point at a few thousand of them,
 * and most lists are equal. So the name of a frame is made once, equal lists are walked once,
 * and a stack is a frame of the builder's tree. Names are written as Kineto writes them,
 * "file.py(12): function", so that the seal finds file and line; a native frame without a line
 * is its function alone. */
#include "base/num.h"
#include "ingest/pytorch/snapshot_int.h"

/* More than any program nests; a longer stack keeps its innermost frames. */
enum { MAX_FRAMES = 8192 };

static status make_name(snapshot *s, pickle_value frame, uint32_t *out, error *err) {
    str file = STR_NONE, name = STR_NONE;
    int64_t line = snapshot_int(s, frame, WORD_line, 0);
    (void)pickle_text(s->p, snapshot_get(s, frame, WORD_filename), &file);
    (void)pickle_text(s->p, snapshot_get(s, frame, WORD_name), &name);
    bool placed = file.n && !str_eq(file, STR("??")) && line > 0;
    buf_clear(&s->text);
    if (placed) buf_printf(&s->text, "%.*s(%lld): ", STR_ARG(file), (long long)line);
    buf_add_str(&s->text, name.n || placed ? name : file);
    *out = buf_ok(&s->text) ? intern_add(builder_strings(s->b), buf_str(&s->text)) : UINT32_MAX;
    if (*out == UINT32_MAX) FAIL_MEMORY(err);
    return OK;
}

static status name_of_frame(snapshot *s, pickle_value frame, uint32_t *out, error *err) {
    uint32_t *known = map_at(&s->frames, frame);
    if (!known) FAIL_MEMORY(err);
    if (*known == MAP_NONE) {
        *known = 0;
        TRY(make_name(s, frame, known, err));
    }
    *out = *known;
    return OK;
}

static status make_stack(snapshot *s, pickle_value frames, uint32_t *out, error *err) {
    pickle_value frame;
    s->names.n = 0;
    for (pickle_iter it = pickle_items(s->p, frames);
         s->names.n < MAX_FRAMES && pickle_next(s->p, &it, &frame);) {
        uint32_t *name = vec_push(&s->names);
        if (!name) FAIL_MEMORY(err);
        *name = 0;
        if (pickle_kind_of(frame) == PICKLE_KIND_DICT) TRY(name_of_frame(s, frame, name, err));
    }
    uint32_t at = 0;
    for (size_t i = s->names.n; COUNT_DOWN(i);) {
        uint32_t name = VEC(&s->names, uint32_t)[i];
        if (name) at = builder_frame(s->b, at, name);
        if (at == UINT32_MAX) FAIL_MEMORY(err);
    }
    *out = at;
    return OK;
}

/* Lists that are equal are one stack. */
static status find_stack(snapshot *s, pickle_value frames, uint32_t *out, error *err) {
    uint32_t *place = map_at(&s->stacks, pickle_hash(s->p, frames));
    if (!place) FAIL_MEMORY(err);
    if (*place != MAP_NONE) {
        const snapshot_known *known = &VEC(&s->known, snapshot_known)[*place];
        if (!pickle_same(s->p, known->list, frames)) return make_stack(s, frames, out, err);
        *out = known->frame;
        return OK;
    }
    *place = (uint32_t)s->known.n; /* a value must never stay MAP_NONE, whatever follows */
    snapshot_known *known = vec_push(&s->known);
    if (!known) FAIL_MEMORY(err);
    *known = (snapshot_known){.list = frames};
    TRY(make_stack(s, frames, &known->frame, err));
    *out = known->frame;
    return OK;
}

/* Events share lists, so that a list that was met is not gone through again. */
status snapshot_stack(snapshot *s, pickle_value frames, uint32_t *out, error *err) {
    *out = 0;
    if (!pickle_count(s->p, frames)) return OK;
    uint32_t known = map_get(&s->lists, frames);
    if (known != MAP_NONE) {
        *out = known;
        return OK;
    }
    TRY(find_stack(s, frames, out, err));
    uint32_t *place = map_at(&s->lists, frames);
    if (!place) FAIL_MEMORY(err);
    *place = *out;
    return OK;
}
