/* builder.c: rows as they arrive, before they are a trace.
 *
 * Every thread of a reader has a part and appends to it without locks. What parts share
 * (strings, argument shapes, categories) is small and rarely new: a lock is taken only to add
 * to it.
 *
 * Arguments are not kept as text. Trace files repeat the same few layouts: the keys of an
 * `args` object are a path in a trie (a shape), known once; a record is the shape and its
 * values, integers as differences to the previous record of that shape, texts as string ids.
 * That is smaller than compressed text (7 bytes an event against 6.6 with zstd blocks on a
 * 40-step GPT trace) and costs no compression. Blocks of 64 KiB are independent, so a click
 * decodes one of them.
 */
#include "store/builder.h"

#include <stddef.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/pages.h"
#include "store/args.h"
#include "store/builder_int.h"

/* An argument block while it is written: a record more than it is to hold. */
enum { BLOCK_ROOM = ARGS_BLOCK_BYTES + MAX_VALUES * ARGS_VALUE_BYTES + ARGS_VARINT_BYTES };

static const uint16_t ROW_BYTES[N_TABLES] = {
#define TABLE(t, doc) sizeof(row_##t),
#include "store/schema.def"
};

const uint16_t ROW_OFFSET[N_COLUMNS] = {
#define COLUMN(t, c, type, doc) offsetof(row_##t, c),
#include "store/schema.def"
};

builder *builder_new(void) {
    builder *b = mem_zalloc(sizeof *b);
    if (!b) return NULL;
    b->strings = intern_new();
    if (!b->strings) {
        mem_free(b);
        return NULL;
    }
    pthread_mutex_init(&b->lock, NULL);
#define INIT_SHARED(name, type) b->name = VEC_INIT(type);
    BUILDER_ROWS(INIT_SHARED)
    for (int i = 0; i < N_TABLES; i++) b->rows[i] = (vec){.elem_bytes = ROW_BYTES[i]};
    b->base_unix_ns = ABSENT_I64;
    b->format = "";
    shape_row *none = vec_push(&b->shapes), *raw = none ? vec_push(&b->shapes) : NULL;
    uint32_t *no_category = vec_push(&b->categories);
    frame_row *no_frame = vec_push(&b->frames);
    if (!raw || !no_category || !no_frame) {
        builder_free(b);
        return NULL;
    }
    VEC(&b->shapes, shape_row)[0] = VEC(&b->shapes, shape_row)[1] = (shape_row){0, 0};
    *no_category = 0;
    *no_frame = (frame_row){0, 0};
    return b;
}

static void free_part_rows(part *p) {
#define FREE(name, type) vec_fini(&p->name);
    PART_ROWS(FREE)
    map_fini(&p->track_map);
    pages_give(p->block, BLOCK_ROOM);
    p->block = NULL;
}

static void free_shared_rows(builder *b) {
    for (part *p = b->parts, *next; p; p = next) {
        next = p->next;
        free_part_rows(p);
        mem_free(p);
    }
    b->parts = NULL;
    for (size_t i = 0; i < b->blocks.n; i++) {
        const arg_block *block = &VEC(&b->blocks, arg_block)[i];
        pages_give(block->p, block->room);
    }
    b->blocks.n = 0;
    b->metas.n = b->left_outs.n = b->devices.n = b->groups.n = b->kernel_sources.n = 0;
    for (int i = 0; i < N_TABLES; i++) b->rows[i].n = 0;
    if (b->frames.n) b->frames.n = 1;
    map_fini(&b->frame_map);
    map_fini(&b->captured);
    vec_fini(&b->captured_by);
}

void builder_clear(builder *b) {
    free_shared_rows(b);
    b->categories.n = 1;
    b->shapes.n = ARGS_SHAPE_RAW + 1;
    map_fini(&b->category_map);
    map_fini(&b->shape_map);
    b->base_unix_ns = ABSENT_I64;
    b->input_bytes = 0;
}

void builder_free(builder *b) {
    if (!b) return;
    free_shared_rows(b);
#define FREE_SHARED(name, type) vec_fini(&b->name);
    BUILDER_ROWS(FREE_SHARED)
    for (int i = 0; i < N_TABLES; i++) vec_fini(&b->rows[i]);
    map_fini(&b->shape_map);
    map_fini(&b->category_map);
    intern_free(b->strings);
    pthread_mutex_destroy(&b->lock);
    mem_free(b);
}

part *builder_part(builder *b) {
    part *p = mem_zalloc(sizeof *p);
    if (!p) return NULL;
    p->b = b;
#define INIT(name, type) p->name = VEC_INIT(type);
    PART_ROWS(INIT)
    p->last_track = UINT32_MAX;
    pthread_mutex_lock(&b->lock);
    p->next = b->parts;
    b->parts = p;
    pthread_mutex_unlock(&b->lock);
    return p;
}

intern *builder_strings(builder *b) {
    return b->strings;
}

uint64_t part_size_bytes(const part *p) {
    uint64_t n = (uint64_t)p->n_blocks * ARGS_BLOCK_BYTES;
#define SUM(name, type) n += p->name.n * sizeof(type);
    PART_ROWS(SUM)
    return n;
}

uint64_t builder_size_bytes(const builder *b) {
    uint64_t n = intern_bytes(b->strings);
#define SUM_SHARED(name, type) n += b->name.n * sizeof(type);
    BUILDER_ROWS(SUM_SHARED)
    for (int i = 0; i < N_TABLES; i++) n += b->rows[i].n * b->rows[i].elem_bytes;
    for (const part *p = b->parts; p; p = p->next) n += part_size_bytes(p);
    return n;
}

void builder_set_format(builder *b, const char *name) {
    b->format = name;
}

void builder_set_base_unix_ns(builder *b, int64_t ns) {
    b->base_unix_ns = ns;
}

int64_t builder_base_unix_ns(const builder *b) {
    return b->base_unix_ns;
}

void builder_set_input_bytes(builder *b, uint64_t n) {
    b->input_bytes = n;
}

void builder_set_external_may_be_correlation(builder *b, bool yes) {
    b->external_may_be_correlation = yes;
}

void builder_set_memory_in_ranges(builder *b, bool yes) {
    b->memory_in_ranges = yes;
}

void builder_set_other_is_op(builder *b, bool yes) {
    b->other_is_op = yes;
}

void builder_set_launch_by_arrow(builder *b, bool yes) {
    b->launch_by_arrow = yes;
}

void builder_set_work_names_op(builder *b, bool yes) {
    b->work_names_op = yes;
}

status builder_captured(builder *b, int64_t node, int64_t correlation) {
    uint32_t *at = map_at(&b->captured, (uint64_t)node);
    int64_t *to = at ? vec_push(&b->captured_by) : NULL;
    if (!to) return ERR_MEMORY;
    *at = (uint32_t)(b->captured_by.n - 1);
    *to = correlation;
    return OK;
}

void builder_set_stage_track(builder *b, uint32_t name) {
    b->stage_track = name;
}

status builder_add_meta(builder *b, uint32_t key, uint32_t value, error *err) {
    raw_meta *m = vec_push(&b->metas);
    if (!m) FAIL_MEMORY(err);
    *m = (raw_meta){key, value};
    return OK;
}

status builder_add_kernel_source(builder *b, const raw_kernel_source *k, error *err) {
    raw_kernel_source *row = vec_push(&b->kernel_sources);
    if (!row) FAIL_MEMORY(err);
    *row = *k;
    return OK;
}

status builder_add_device(builder *b, const raw_device *d, error *err) {
    raw_device *row = vec_push(&b->devices);
    if (!row) FAIL_MEMORY(err);
    *row = *d;
    return OK;
}

void builder_set_device_type(builder *b, uint8_t type) {
    for (size_t i = 0; i < b->devices.n; i++) VEC(&b->devices, raw_device)[i].type = type;
}

status builder_add_left_out(builder *b, int64_t start, int64_t end, error *err) {
    raw_left_out *row = vec_push(&b->left_outs);
    if (!row) FAIL_MEMORY(err);
    *row = (raw_left_out){start, end};
    return OK;
}

status builder_add_group(builder *b, const raw_group *g, error *err) {
    raw_group *row = vec_push(&b->groups);
    if (!row) FAIL_MEMORY(err);
    *row = *g;
    return OK;
}

status builder_put_row(builder *b, int table, const void *row, error *err) {
    void *to = vec_push(&b->rows[table]);
    if (!to) FAIL_MEMORY(err);
    memcpy(to, row, ROW_BYTES[table]);
    return OK;
}

/* ---- argument records ---- */

uint32_t builder_shape(builder *b, uint32_t parent, uint32_t key) {
    uint32_t shape = 0;
    pthread_mutex_lock(&b->lock);
    uint32_t *at = map_at(&b->shape_map, (uint64_t)parent << 32 | key);
    if (at && *at == MAP_NONE) {
        shape_row *row = vec_push(&b->shapes);
        if (row) *row = (shape_row){parent, key};
        *at = row ? (uint32_t)(b->shapes.n - 1) : 0;
    }
    if (at) shape = *at;
    pthread_mutex_unlock(&b->lock);
    return shape;
}

uint32_t builder_child_frame(builder *b, uint32_t parent, uint32_t name) {
    uint32_t *at = map_at(&b->frame_map, (uint64_t)parent << 32 | name);
    if (!at) return UINT32_MAX;
    if (*at == MAP_NONE) {
        *at = 0;
        frame_row *row = vec_push(&b->frames);
        if (!row) return UINT32_MAX;
        *row = (frame_row){parent, name};
        *at = (uint32_t)(b->frames.n - 1);
    }
    return *at;
}

uint32_t builder_frame(builder *b, uint32_t parent, uint32_t name) {
    pthread_mutex_lock(&b->lock);
    uint32_t frame = builder_child_frame(b, parent, name);
    pthread_mutex_unlock(&b->lock);
    return frame;
}

uint16_t builder_category(builder *b, uint32_t name) {
    uint16_t category = 0;
    pthread_mutex_lock(&b->lock);
    uint32_t *at = map_at(&b->category_map, name);
    if (at && *at == MAP_NONE) {
        bool full = b->categories.n > UINT16_MAX;
        uint32_t *row = full ? NULL : vec_push(&b->categories);
        if (row) *row = name;
        *at = row ? (uint32_t)(b->categories.n - 1) : 0;
        b->failed |= !row && !full;
    }
    if (at) category = (uint16_t)*at;
    b->failed |= !at;
    pthread_mutex_unlock(&b->lock);
    return category;
}

/* Hands the current block to the builder, cut to its size. */
static void finish_block(part *p) {
    if (!p->block) return;
    uint32_t n = (uint32_t)(p->block_at - p->block);
    uint32_t room = n > ARGS_BLOCK_BYTES ? n : ARGS_BLOCK_BYTES;
    uint8_t *cut = pages_resize(p->block, BLOCK_ROOM, room);
    pthread_mutex_lock(&p->b->lock);
    arg_block *blocks = VEC(&p->b->blocks, arg_block);
    blocks[p->block_number] =
        cut ? (arg_block){cut, n, room} : (arg_block){p->block, n, BLOCK_ROOM};
    pthread_mutex_unlock(&p->b->lock);
    p->block = NULL;
}

void part_finish(part *p) {
    finish_block(p);
}

static bool start_block(part *p) {
    finish_block(p);
    uint8_t *bytes = pages_take(BLOCK_ROOM);
    if (!bytes) {
        p->failed = true;
        return false;
    }
    pthread_mutex_lock(&p->b->lock);
    bool full = p->b->blocks.n == ARGS_MAX_BLOCKS;
    arg_block *row = full ? NULL : vec_push(&p->b->blocks);
    p->failed |= !row && !full;
    if (row) {
        *row = (arg_block){NULL, 0, 0};
        p->block_number = (uint32_t)(p->b->blocks.n - 1);
        p->n_blocks++;
    }
    pthread_mutex_unlock(&p->b->lock);
    if (!row) {
        pages_give(bytes, BLOCK_ROOM);
        return false;
    }
    p->block = p->block_at = bytes;
    p->block_records = 0;
    return true;
}

/* Makes the state of a place that is new to this part, and of all before it. */
static inline bool has_place(part *p, uint32_t place) {
    while (p->places.n <= place) {
        place_state *s = vec_push(&p->places);
        if (!s) return false;
        *s = (place_state){0, 0};
    }
    return true;
}

static inline bool room_for_record(part *p) {
    if (p->block && (size_t)(p->block_at - p->block) < ARGS_BLOCK_BYTES &&
        p->block_records < ARGS_MAX_INDEX)
        return true;
    return start_block(p);
}

uint32_t part_args(part *p, const raw_value *values, size_t n) {
    if (n == 0 || n > MAX_VALUES) return 0;
    if (!room_for_record(p)) {
        part_lost(p, CAUSE_ARGUMENTS_DROPPED, NOPOS, 0);
        return 0;
    }
    /* The places of a path rise, so there is room for all when there is for the last; nothing
     * may fail between the first value and the last, or the differences would no longer fit. */
    if (!has_place(p, values[n - 1].place)) {
        p->failed = true;
        return 0;
    }
    uint32_t epoch = p->block_number + 1;
    uint8_t *at = p->block_at;
    args_put_varint(&at, values[n - 1].place);
    for (size_t i = 0; i < n; i++) {
        const raw_value *v = &values[i];
        if (v->tag == VALUE_INT) {
            place_state *s = &VEC(&p->places, place_state)[v->place];
            if (s->epoch != epoch) *s = (place_state){0, epoch};
            args_put_integer(&at, v->v, &s->previous);
        } else if (v->tag == VALUE_DECIMAL) {
            args_put_decimal(&at, v->v, v->digits);
        } else {
            args_put_varint(&at, (uint64_t)v->v << 2 | v->tag);
        }
    }
    p->block_at = at;
    return args_reference(p->block_number, ++p->block_records);
}

uint32_t part_args_raw(part *p, uint32_t text) {
    raw_value v = {.place = ARGS_SHAPE_RAW, .tag = VALUE_RAW, .v = text};
    return part_args(p, &v, 1);
}

/* ---- rows ---- */

static uint32_t find_track(part *p, ident pid, ident tid) {
    uint64_t key = hash_pair((uint64_t)pid.v << 1 | pid.text, (uint64_t)tid.v << 1 | tid.text);
    for (;; key++) { /* another pair with the same hash moves on to the next key */
        uint32_t *at = map_at(&p->track_map, key);
        if (!at) return UINT32_MAX;
        if (*at == MAP_NONE) {
            *at = 0; /* never left as MAP_NONE, also when the push fails */
            part_track_row *row = vec_push(&p->tracks);
            if (!row) return UINT32_MAX;
            *row = (part_track_row){.pid = pid, .tid = tid};
            return *at = (uint32_t)(p->tracks.n - 1);
        }
        const part_track_row *row = &VEC(&p->tracks, part_track_row)[*at];
        if (*at < p->tracks.n && ident_eq(row->pid, pid) && ident_eq(row->tid, tid)) return *at;
    }
}

uint32_t part_track(part *p, ident pid, ident tid) {
    if (p->last_track != UINT32_MAX && ident_eq(pid, p->last_pid) && ident_eq(tid, p->last_tid))
        return p->last_track;
    p->last_track = find_track(p, pid, tid);
    p->last_pid = pid;
    p->last_tid = tid;
    return p->last_track;
}

#define PUSH_ROW(v, type, row)      \
    do {                            \
        type *to = vec_push(v);     \
        if (!to) return ERR_MEMORY; \
        *to = *(row);               \
    } while (0)

/* Apart, so that the usual case needs no frame. */
static __attribute__((noinline)) raw_slice *grow_slices(part *p, uint32_t track,
                                                        int64_t start) {
    return vec_reserve(&p->slices, 1) == OK ? part_slice_room(p, track, start) : NULL;
}

raw_slice *part_slice_room(part *p, uint32_t track, int64_t start) {
    vec *v = &p->slices;
    if (__builtin_expect(v->n == v->cap, 0)) return grow_slices(p, track, start);
    part_track_row *t = &VEC(&p->tracks, part_track_row)[track];
    t->n_runs += !t->n_slices | (start < t->last_start);
    t->n_slices++;
    t->last_start = start;
    return &VEC(v, raw_slice)[v->n++];
}

status part_slice(part *p, const raw_slice *row) {
    raw_slice *to = part_slice_room(p, row->track, row->start);
    if (!to) return ERR_MEMORY;
    *to = *row;
    return OK;
}

status part_op(part *p, const raw_op *row, raw_slice *slice) {
    PUSH_ROW(&p->ops, raw_op, row);
    slice->extra = (uint32_t)p->ops.n;
    return OK;
}

status part_op_cost(part *p, const raw_op_cost *row) {
    PUSH_ROW(&p->op_costs, raw_op_cost, row);
    return OK;
}

status part_kernel(part *p, const raw_kernel *row, raw_slice *slice) {
    PUSH_ROW(&p->kernels, raw_kernel, row);
    slice->extra = (uint32_t)p->kernels.n;
    return OK;
}

status part_call(part *p, const raw_call *row, raw_slice *slice) {
    PUSH_ROW(&p->calls, raw_call, row);
    slice->extra = (uint32_t)p->calls.n;
    return OK;
}

uint64_t part_next_slice(const part *p) {
    return p->slices.n;
}

status part_comm(part *p, const raw_comm *row) {
    PUSH_ROW(&p->comms, raw_comm, row);
    return OK;
}

status part_module(part *p, const raw_module *row, raw_slice *slice) {
    PUSH_ROW(&p->modules, raw_module, row);
    slice->extra = (uint32_t)p->modules.n;
    return OK;
}

raw_memory *part_memory_room(part *p) {
    return vec_push(&p->memories);
}

status part_memory(part *p, const raw_memory *row) {
    PUSH_ROW(&p->memories, raw_memory, row);
    return OK;
}

status part_instant(part *p, const raw_instant *row) {
    PUSH_ROW(&p->instants, raw_instant, row);
    return OK;
}

status part_counter(part *p, const raw_counter *row) {
    PUSH_ROW(&p->counters, raw_counter, row);
    return OK;
}

status part_sample(part *p, const raw_sample *row) {
    PUSH_ROW(&p->samples, raw_sample, row);
    return OK;
}

status part_mark(part *p, const raw_mark *row) {
    PUSH_ROW(&p->marks, raw_mark, row);
    return OK;
}

status part_mark_op(part *p, const raw_op *op, raw_mark *row) {
    PUSH_ROW(&p->ops, raw_op, op);
    row->extra = (uint32_t)p->ops.n;
    return OK;
}

status part_mark_kernel(part *p, const raw_kernel *kernel, raw_mark *row) {
    PUSH_ROW(&p->kernels, raw_kernel, kernel);
    row->extra = (uint32_t)p->kernels.n;
    return OK;
}

status part_arrow(part *p, const raw_arrow *row) {
    PUSH_ROW(&p->arrows, raw_arrow, row);
    return OK;
}

status part_label(part *p, const raw_label *row) {
    PUSH_ROW(&p->labels, raw_label, row);
    return OK;
}

void part_expect(part *p, uint64_t n_slices, uint64_t n_memories) {
    status slices = vec_reserve(&p->slices, sat_size(n_slices)),
           memories = vec_reserve(&p->memories, sat_size(n_memories));
    (void)slices;
    (void)memories;
}

void part_expect_points(part *p, uint64_t n_counters, uint64_t n_marks, uint64_t n_arrows) {
    status counters = vec_reserve(&p->counters, sat_size(n_counters)),
           marks = vec_reserve(&p->marks, sat_size(n_marks)),
           arrows = vec_reserve(&p->arrows, sat_size(n_arrows));
    (void)counters;
    (void)marks;
    (void)arrows;
}

/* Every kind of point starts with its time. */
void part_move_points(part *p, int64_t by_ns) {
    const vec *all[] = {&p->memories, &p->instants, &p->counters, &p->marks, &p->arrows};
    if (by_ns == 0) return;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t k = 0; k < all[i]->n; k++) {
            char *at = (char *)all[i]->p + k * all[i]->elem_bytes;
            int64_t time;
            memcpy(&time, at, sizeof time);
            time = add_i64(time, by_ns);
            memcpy(at, &time, sizeof time);
        }
}

void part_move_slice(part *p, uint64_t slice, int64_t by_ns) {
    if (slice >= p->slices.n) BUG("a slice that is not there");
    raw_slice *row = &VEC(&p->slices, raw_slice)[slice];
    row->start = add_i64(row->start, by_ns);
    /* It may fall from the one before, and the next from it. */
    VEC(&p->tracks, part_track_row)[row->track].n_runs += 2;
}

raw_slice *part_slice_at(part *p, uint64_t index) {
    if (index >= p->slices.n) BUG("a slice that is not there");
    return &VEC(&p->slices, raw_slice)[index];
}

raw_op *part_op_at(part *p, uint32_t index) {
    if (index >= p->ops.n) BUG("an op that is not there");
    return &VEC(&p->ops, raw_op)[index];
}

raw_memory *part_memory_at(part *p, uint64_t index) {
    if (index >= p->memories.n) BUG("a memory row that is not there");
    return &VEC(&p->memories, raw_memory)[index];
}

uint64_t part_next_memory(const part *p) {
    return p->memories.n;
}

void part_rename_devices(part *p, const uint8_t types[256]) {
    for (size_t i = 0; i < p->memories.n; i++) {
        raw_memory *m = &VEC(&p->memories, raw_memory)[i];
        m->device_type = types[m->device_type];
    }
}

void part_lost(part *p, cause c, uint64_t offset, uint32_t example) {
    part_loss *l = &p->losses[c];
    if (l->count == 0 || offset < l->offset) {
        l->offset = offset;
        l->example = example;
    }
    l->count = add_i64(l->count, 1); /* a recording may say that it lost any number */
}

void part_lost_many(part *p, cause c, uint64_t n) {
    if (n == 0) return;
    part_lost(p, c, NOPOS, 0);
    p->losses[c].count = add_i64(p->losses[c].count, sat_i64(n - 1));
}

int64_t part_loss_count(const part *p, cause c) {
    return p->losses[c].count;
}

void part_count(part *p, uint64_t read, uint64_t dropped) {
    p->events_read += read;
    p->events_dropped += dropped;
}
