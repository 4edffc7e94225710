/* tacho/arrow.h: columns handed to other programs through Arrow's C data interface, without a
 * copy.
 *
 * The Python package gives its tables away with these calls. Nothing here calls back into
 * Python or takes a lock: a consumer may release them on any thread, and after the
 * interpreter's end.
 *
 * The three structures are Arrow's own; their layout is fixed for ever by
 * https://arrow.apache.org/docs/format/CDataInterface.html. Append-only, as abi.h.
 */
#ifndef TACHO_ARROW_H
#define TACHO_ARROW_H

#include <stddef.h>
#include <stdint.h>

#include <tacho/abi.h> /* TACHO_API */

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};
#endif

/* One column. `format` and `metadata` are written as Arrow writes them; metadata may be NULL,
 * and so may validity when nothing is null. `text` holds the bytes of the formats u and U
 * only. */
typedef struct {
    size_t size; /* sizeof(tacho_arrow_column) */
    const char *name, *format, *metadata;
    int64_t n_nulls;
    const void *validity, *values, *text;
} tacho_arrow_column;

/* Memory for the blocks of columns, at a multiple of 64 bytes; NULL when there is not enough.
 * It stays until the caller has dropped it and every consumer of a table in it has released
 * it. */
TACHO_API void *tacho_arrow_memory(size_t n_bytes);
TACHO_API void tacho_arrow_memory_drop(void *memory);

/* A table of columns whose blocks lie in `memory`, which it keeps; names, formats and metadata
 * are copied. NULL when there is not enough memory. tacho_arrow_table_drop ends the caller's
 * own hold. */
typedef struct tacho_arrow_table tacho_arrow_table;
TACHO_API tacho_arrow_table *tacho_arrow_table_new(void *memory, int64_t n_rows,
                                                   const char *metadata,
                                                   const tacho_arrow_column *columns,
                                                   int64_t n_columns);
TACHO_API void tacho_arrow_table_drop(tacho_arrow_table *table);

/* The table as a stream of one batch, and its schema, on the heap; NULL when there is not
 * enough memory. The consumer moves their contents; *_drop releases what is left, and frees
 * them. */
TACHO_API struct ArrowArrayStream *tacho_arrow_stream(tacho_arrow_table *table);
TACHO_API void tacho_arrow_stream_drop(struct ArrowArrayStream *stream);
TACHO_API struct ArrowSchema *tacho_arrow_schema(tacho_arrow_table *table);
TACHO_API void tacho_arrow_schema_drop(struct ArrowSchema *schema);

#ifdef __cplusplus
}
#endif

#endif
