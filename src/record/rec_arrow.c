/* rec_arrow.c: a table of columns as Arrow's C structures; include/tacho/arrow.h says what for.
 *
 *   stream ──┐
 *   schema ──┤ each of them, and each of their children, holds
 *   array  ──┴──> table (names, formats, pointers) ──holds──> memory (the blocks)
 *
 * A consumer may move a child out of its parent and keep it when the parent is gone. So a child
 * holds the table itself, and everything a child points to is in the table or in the memory;
 * only the child structures are in a block of the parent, which is not read after the parent's
 * release. Holders are counted by atomic numbers: releasing needs no lock, no thread and no
 * interpreter. */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <tacho/arrow.h>

enum { ALIGNMENT = 64, MOST_BUFFERS = 3 };

/* In front of the memory's first byte, in a room of ALIGNMENT bytes. */
typedef struct {
    _Atomic(size_t) n_holders;
} memory_head;
_Static_assert(sizeof(memory_head) <= ALIGNMENT, "the head fits in front of the blocks");

typedef struct {
    const char *name, *format, *metadata;
    int64_t n_nulls, n_buffers;
    const void *buffers[MOST_BUFFERS];
} column;

struct tacho_arrow_table {
    _Atomic(size_t) n_holders;
    void *memory;
    const char *metadata;
    int64_t n_rows, n_columns;
    column columns[]; /* then the texts they point to */
};

static memory_head *head_of(void *memory) {
    return (memory_head *)((char *)memory - ALIGNMENT);
}

void *tacho_arrow_memory(size_t n_bytes) {
    if (n_bytes > PTRDIFF_MAX - (size_t)2 * ALIGNMENT) return NULL;
    size_t whole = (n_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + ALIGNMENT;
    char *at = aligned_alloc(ALIGNMENT, whole);
    if (!at) return NULL;
    char *memory = at + ALIGNMENT;
    atomic_init(&head_of(memory)->n_holders, 1);
    return memory;
}

void tacho_arrow_memory_drop(void *memory) {
    if (memory && atomic_fetch_sub(&head_of(memory)->n_holders, 1) == 1) free(head_of(memory));
}

/* ---- the table ---- */

/* Arrow's metadata: a number of pairs, then length and bytes of each key and value. */
static size_t metadata_bytes(const char *metadata) {
    if (!metadata) return 0;
    int32_t n_pairs, n;
    memcpy(&n_pairs, metadata, sizeof n_pairs);
    size_t at = sizeof n_pairs;
    for (int32_t i = 0; i < 2 * n_pairs; i++) {
        memcpy(&n, metadata + at, sizeof n);
        at += sizeof n + (size_t)n;
    }
    return at;
}

/* The caller's structure may be longer than ours: it says its size. */
static const tacho_arrow_column *column_at(const tacho_arrow_column *columns, int64_t i) {
    return (const void *)((const char *)columns + (size_t)i * columns->size);
}

static size_t text_bytes(const tacho_arrow_column *c) {
    return strlen(c->name) + 1 + strlen(c->format) + 1 + metadata_bytes(c->metadata);
}

static const char *copy(char **to, const char *from, size_t n) {
    if (!from) return NULL;
    char *at = *to;
    memcpy(at, from, n);
    *to += n;
    return at;
}

static void take_column(column *to, const tacho_arrow_column *from, char **texts) {
    to->name = copy(texts, from->name, strlen(from->name) + 1);
    to->format = copy(texts, from->format, strlen(from->format) + 1);
    to->metadata = copy(texts, from->metadata, metadata_bytes(from->metadata));
    to->n_nulls = from->n_nulls;
    to->buffers[0] = from->validity;
    to->buffers[1] = from->values;
    to->buffers[2] = from->text;
    to->n_buffers = from->format[0] == 'u' || from->format[0] == 'U' ? 3 : 2;
}

tacho_arrow_table *tacho_arrow_table_new(void *memory, int64_t n_rows, const char *metadata,
                                         const tacho_arrow_column *columns, int64_t n_columns) {
    tacho_arrow_table *table;
    size_t n_bytes = sizeof *table + (size_t)n_columns * sizeof *table->columns;
    size_t n_texts = metadata_bytes(metadata);
    for (int64_t i = 0; i < n_columns; i++) n_texts += text_bytes(column_at(columns, i));
    table = malloc(n_bytes + n_texts);
    if (!table) return NULL;
    char *texts = (char *)table + n_bytes;
    atomic_init(&table->n_holders, 1);
    table->memory = memory;
    table->n_rows = n_rows;
    table->n_columns = n_columns;
    table->metadata = copy(&texts, metadata, metadata_bytes(metadata));
    for (int64_t i = 0; i < n_columns; i++)
        take_column(&table->columns[i], column_at(columns, i), &texts);
    if (memory) atomic_fetch_add(&head_of(memory)->n_holders, 1);
    return table;
}

static tacho_arrow_table *hold(tacho_arrow_table *table) {
    atomic_fetch_add(&table->n_holders, 1);
    return table;
}

void tacho_arrow_table_drop(tacho_arrow_table *table) {
    if (!table || atomic_fetch_sub(&table->n_holders, 1) != 1) return;
    tacho_arrow_memory_drop(table->memory);
    free(table);
}

/* ---- its schema ---- */

enum { NULLABLE = 2 }; /* ARROW_FLAG_NULLABLE */

static void release_column_schema(struct ArrowSchema *schema) {
    tacho_arrow_table *table = schema->private_data;
    schema->release = NULL;
    tacho_arrow_table_drop(table);
}

/* What the top of a schema owns in addition to its hold of the table. */
typedef struct {
    tacho_arrow_table *table;
    struct ArrowSchema **pointers;
    struct ArrowSchema children[];
} schema_top;

static void release_schema(struct ArrowSchema *schema) {
    schema_top *top = schema->private_data;
    for (int64_t i = 0; i < schema->n_children; i++)
        if (schema->children[i]->release) schema->children[i]->release(schema->children[i]);
    schema->release = NULL;
    tacho_arrow_table_drop(top->table);
    free(top->pointers);
    free(top);
}

static int fill_schema(tacho_arrow_table *table, struct ArrowSchema *out) {
    size_t n = (size_t)table->n_columns;
    schema_top *top = malloc(sizeof *top + n * sizeof *top->children);
    struct ArrowSchema **pointers = malloc((n + 1) * sizeof *pointers);
    if (!top || !pointers) {
        free(top);
        free(pointers);
        return ENOMEM;
    }
    top->table = hold(table);
    top->pointers = pointers;
    for (size_t i = 0; i < n; i++) {
        const column *c = &table->columns[i];
        pointers[i] = &top->children[i];
        top->children[i] = (struct ArrowSchema){.format = c->format,
                                                .name = c->name,
                                                .metadata = c->metadata,
                                                .flags = NULLABLE,
                                                .release = release_column_schema,
                                                .private_data = hold(table)};
    }
    *out = (struct ArrowSchema){.format = "+s",
                                .name = "",
                                .metadata = table->metadata,
                                .n_children = table->n_columns,
                                .children = pointers,
                                .release = release_schema,
                                .private_data = top};
    return 0;
}

/* ---- its rows ---- */

static void release_column(struct ArrowArray *array) {
    tacho_arrow_table *table = array->private_data;
    array->release = NULL;
    tacho_arrow_table_drop(table);
}

typedef struct {
    tacho_arrow_table *table;
    struct ArrowArray **pointers;
    const void *no_validity; /* rows are never null as a whole */
    struct ArrowArray children[];
} array_top;

static void release_array(struct ArrowArray *array) {
    array_top *top = array->private_data;
    for (int64_t i = 0; i < array->n_children; i++)
        if (array->children[i]->release) array->children[i]->release(array->children[i]);
    array->release = NULL;
    tacho_arrow_table_drop(top->table);
    free(top->pointers);
    free(top);
}

static int fill_array(tacho_arrow_table *table, struct ArrowArray *out) {
    size_t n = (size_t)table->n_columns;
    array_top *top = malloc(sizeof *top + n * sizeof *top->children);
    struct ArrowArray **pointers = malloc((n + 1) * sizeof *pointers);
    if (!top || !pointers) {
        free(top);
        free(pointers);
        return ENOMEM;
    }
    top->table = hold(table);
    top->pointers = pointers;
    top->no_validity = NULL;
    for (size_t i = 0; i < n; i++) {
        column *c = &table->columns[i];
        pointers[i] = &top->children[i];
        top->children[i] = (struct ArrowArray){.length = table->n_rows,
                                               .null_count = c->n_nulls,
                                               .n_buffers = c->n_buffers,
                                               .buffers = c->buffers,
                                               .release = release_column,
                                               .private_data = hold(table)};
    }
    *out = (struct ArrowArray){.length = table->n_rows,
                               .n_buffers = 1,
                               .n_children = table->n_columns,
                               .buffers = &top->no_validity,
                               .children = pointers,
                               .release = release_array,
                               .private_data = top};
    return 0;
}

/* ---- a stream of it ---- */

typedef struct {
    tacho_arrow_table *table;
    int is_done, failed;
} stream_state;

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
    stream_state *state = stream->private_data;
    return state->failed = fill_schema(state->table, out);
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
    stream_state *state = stream->private_data;
    if (state->is_done) {
        memset(out, 0, sizeof *out); /* release = NULL: the end */
        return state->failed = 0;
    }
    state->failed = fill_array(state->table, out);
    state->is_done = state->failed == 0;
    return state->failed;
}

static const char *get_last_error(struct ArrowArrayStream *stream) {
    const stream_state *state = stream->private_data;
    return state->failed ? "out of memory" : NULL;
}

static void release_stream(struct ArrowArrayStream *stream) {
    stream_state *state = stream->private_data;
    stream->release = NULL;
    tacho_arrow_table_drop(state->table);
    free(state);
}

struct ArrowArrayStream *tacho_arrow_stream(tacho_arrow_table *table) {
    struct ArrowArrayStream *stream = malloc(sizeof *stream);
    stream_state *state = malloc(sizeof *state);
    if (!stream || !state) {
        free(stream);
        free(state);
        return NULL;
    }
    *state = (stream_state){.table = hold(table)};
    *stream = (struct ArrowArrayStream){.get_schema = get_schema,
                                        .get_next = get_next,
                                        .get_last_error = get_last_error,
                                        .release = release_stream,
                                        .private_data = state};
    return stream;
}

void tacho_arrow_stream_drop(struct ArrowArrayStream *stream) {
    if (stream && stream->release) stream->release(stream);
    free(stream);
}

struct ArrowSchema *tacho_arrow_schema(tacho_arrow_table *table) {
    struct ArrowSchema *schema = malloc(sizeof *schema);
    if (!schema || fill_schema(table, schema) != 0) {
        free(schema);
        return NULL;
    }
    return schema;
}

void tacho_arrow_schema_drop(struct ArrowSchema *schema) {
    if (schema && schema->release) schema->release(schema);
    free(schema);
}
