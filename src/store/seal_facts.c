/* seal_facts.c: what is known of the trace as a whole: metadata, devices, groups, categories,
 * what was lost; and the strings and argument blocks, copied out of the builder into flat
 * arrays. */
#include "base/mem.h"
#include "base/num.h"
#include "base/pages.h"
#include "base/sort.h"
#include "store/builder_int.h"
#include "store/trace_int.h"

static int cmp_metas(uint32_t a, uint32_t b, const void *context) {
    const builder *x = context;
    const raw_meta *rows = VEC(&x->metas, raw_meta);
    return str_cmp(intern_get(x->strings, rows[a].key), intern_get(x->strings, rows[b].key));
}

static status seal_metas(seal_ctx *s, error *err) {
    size_t n = s->b->metas.n;
    uint32_t *order = seal_scratch(s, 2 * n + 1, sizeof(uint32_t));
    if (!order) FAIL_MEMORY(err);
    for (size_t i = 0; i < n; i++) order[i] = (uint32_t)i;
    sort_index(order, order + n, n, cmp_metas, s->b);
    TRY(seal_table(s, TABLE_meta, n + 1, err));
    for (size_t i = 0; i < n; i++) {
        const raw_meta *m = &VEC(&s->b->metas, raw_meta)[order[i]];
        s->meta.key[i + 1] = m->key;
        s->meta.value[i + 1] = m->value;
    }
    return OK;
}

static status seal_devices(seal_ctx *s, error *err) {
    size_t n = s->b->devices.n;
    TRY(seal_table(s, TABLE_device, n + 1, err));
    for (size_t i = 0; i < n; i++) {
        const raw_device *d = &VEC(&s->b->devices, raw_device)[i];
        s->device.id[i + 1] = d->id;
        s->device.type[i + 1] = d->type;
        s->device.name[i + 1] = d->name;
        s->device.memory[i + 1] = d->memory;
        s->device.compute_major[i + 1] = d->compute_major;
        s->device.compute_minor[i + 1] = d->compute_minor;
        s->device.sm_count[i + 1] = d->sm_count;
        s->device.threads_per_sm[i + 1] = d->threads_per_sm;
        s->device.warp_size[i + 1] = d->warp_size;
        s->device.properties[i + 1] = d->properties;
    }
    return OK;
}

static status seal_kernel_sources(seal_ctx *s, error *err) {
    size_t n = s->b->kernel_sources.n;
    TRY(seal_table(s, TABLE_kernel_source, n + 1, err));
    for (size_t i = 0; i < n; i++) {
        const raw_kernel_source *k = &VEC(&s->b->kernel_sources, raw_kernel_source)[i];
        s->kernel_source.name[i + 1] = k->name;
        s->kernel_source.file[i + 1] = k->file;
        s->kernel_source.line[i + 1] = k->line;
        s->kernel_source.operators[i + 1] = k->operators;
    }
    return OK;
}

static status seal_groups(seal_ctx *s, error *err) {
    size_t n = s->b->groups.n;
    TRY(seal_table(s, TABLE_group, n + 1, err));
    for (size_t i = 0; i < n; i++) {
        const raw_group *g = &VEC(&s->b->groups, raw_group)[i];
        s->group.name[i + 1] = g->name;
        s->group.description[i + 1] = g->description;
        s->group.backend[i + 1] = g->backend;
        s->group.ranks[i + 1] = g->ranks;
        s->group.size[i + 1] = g->size;
    }
    return OK;
}

static status seal_categories(seal_ctx *s, error *err) {
    size_t n = s->b->categories.n;
    TRY(seal_table(s, TABLE_category, n, err));
    for (size_t i = 1; i < n; i++) s->category.name[i] = VEC(&s->b->categories, uint32_t)[i];
    return OK;
}

static status seal_quality(seal_ctx *s, error *err) {
    size_t n = 1;
    for (int c = 1; c < N_CAUSES; c++) n += s->losses[c].count > 0;
    TRY(seal_table(s, TABLE_quality, n, err));
    uint32_t row = 1;
    for (int c = 1; c < N_CAUSES; c++) {
        if (s->losses[c].count == 0) continue;
        s->quality.cause[row] = (uint16_t)c;
        s->quality.count[row] = s->losses[c].count;
        s->quality.offset[row] =
            s->losses[c].offset == NOPOS ? ABSENT_I64 : sat_i64(s->losses[c].offset);
        s->quality.example[row++] = s->losses[c].example;
    }
    return OK;
}

static status seal_strings(seal_ctx *s, error *err) {
    const intern *strings = s->b->strings;
    uint32_t n = intern_count(strings);
    size_t bytes = sat_size(intern_bytes(strings));
    uint64_t *offsets = pages_take(((size_t)n + 1) * sizeof *offsets);
    trace_own_pages(s->t, offsets, ((size_t)n + 1) * sizeof *offsets);
    char *text = pages_take(bytes + 1);
    trace_own_pages(s->t, text, bytes + 1);
    if (!offsets || !text) FAIL_MEMORY(err);
    uint64_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        str x = intern_get(strings, i);
        offsets[i] = at;
        memcpy(text + at, x.p, x.n);
        at += x.n;
    }
    offsets[n] = at;
    text[at] = 0;
    s->t->n_strings = n;
    s->t->string_offset = offsets;
    s->t->string_bytes = text;
    return OK;
}

/* Argument blocks one after the other; each is freed as soon as it is copied. */
status seal_arguments(seal_ctx *s, error *err) {
    builder *b = s->b;
    size_t bytes = 0, n = b->blocks.n;
    arg_block *blocks = VEC(&b->blocks, arg_block);
    for (size_t i = 0; i < n; i++) bytes += blocks[i].n;
    uint8_t *p = pages_take(bytes + 1);
    uint64_t *offsets = pages_take((n + 1) * sizeof *offsets);
    pthread_mutex_lock(&s->lock);
    trace_own_pages(s->t, p, bytes + 1);
    trace_own_pages(s->t, offsets, (n + 1) * sizeof *offsets);
    pthread_mutex_unlock(&s->lock);
    if (!p || !offsets) FAIL_MEMORY(err);
    bytes = 0;
    for (size_t i = 0; i < n; i++) {
        offsets[i] = bytes;
        if (blocks[i].n) memcpy(p + bytes, blocks[i].p, blocks[i].n);
        bytes += blocks[i].n;
        pages_give(blocks[i].p, blocks[i].room);
        blocks[i] = (arg_block){NULL, 0, 0};
    }
    offsets[n] = bytes;
    p[bytes] = 0;
    s->t->arg_bytes = p;
    s->t->arg_block = offsets;
    s->t->n_arg_blocks = (uint32_t)n;
    return OK;
}

static status seal_shapes(seal_ctx *s, error *err) {
    size_t n = s->b->shapes.n;
    uint32_t *p = pages_take(2 * n * sizeof *p);
    trace_own_pages(s->t, p, 2 * n * sizeof *p);
    if (!p) FAIL_MEMORY(err);
    for (size_t i = 0; i < n; i++) {
        p[i] = VEC(&s->b->shapes, shape_row)[i].parent;
        p[n + i] = VEC(&s->b->shapes, shape_row)[i].key;
    }
    s->t->shape_parent = p;
    s->t->shape_key = p + n;
    s->t->n_shapes = (uint32_t)n;
    return OK;
}

/* The range of everything that lasts; instants alone do not stretch it (Kineto's end mark can
 * lie a day away). */
static void set_range(seal_ctx *s) {
    int64_t from = INT64_MAX, to = INT64_MIN;
    for (uint32_t t = 1; t < s->track.n; t++)
        if (s->track.first[t] < s->track.end[t])
            from = min_i64(from, s->slice.start[s->track.first[t]]);
    for (uint32_t i = 1; i < s->slice.n; i++)
        if (s->slice.parent[i] == 0) to = max_i64(to, s->slice.start[i] + s->slice.dur[i]);
    if (s->memory.n > 1) {
        from = min_i64(from, s->memory.time[1]);
        to = max_i64(to, s->memory.time[s->memory.n - 1]);
    }
    if (s->counter.n > 1) {
        from = min_i64(from, s->counter.time[1]);
        to = max_i64(to, s->counter.time[s->counter.n - 1]);
    }
    for (uint32_t i = 1; i < s->sample.n; i++) {
        from = min_i64(from, s->sample.time[i]);
        to = max_i64(to, add_i64(s->sample.time[i], s->sample.dur[i]));
    }
    if (from > to && s->instant.n > 1) {
        from = s->instant.time[1];
        to = s->instant.time[s->instant.n - 1];
    }
    s->t->start_ns = from > to ? 0 : from;
    s->t->end_ns = from > to ? 0 : to;
}

status seal_facts(seal_ctx *s, error *err) {
    TRY(seal_metas(s, err));
    TRY(seal_devices(s, err));
    TRY(seal_kernel_sources(s, err));
    TRY(seal_groups(s, err));
    TRY(seal_categories(s, err));
    TRY(seal_producer(s, err));
    TRY(seal_quality(s, err));
    TRY(seal_strings(s, err));
    TRY(seal_shapes(s, err));
    set_range(s);
    s->t->format = str_of(s->b->format);
    s->t->base_unix_ns = s->b->base_unix_ns;
    s->t->input_bytes = s->b->input_bytes;
    return OK;
}
