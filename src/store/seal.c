/* seal.c: from rows as they arrived to a trace that never changes again: the order of the
 * steps.
 *
 *   marks → tracks → sort → nest → details → (memory, link, frames, arguments, flows)
 *         → samples → steps → infer → facts
 *
 * Every step is a linear pass or a sort over plain arrays; the wide ones run on the pool, track
 * by track, and give the same result for any number of threads. */
#include "base/num.h"
#include "base/pages.h"
#include "store/builder_int.h"
#include "store/trace_int.h"

/* Columns start on cache lines, so that two threads never write to the same one by accident. */
static size_t aligned(size_t n) {
    return (n + 63) & ~(size_t)63;
}

/* Points s->table.column at the same memory as t->table.column. */
static void mirror_columns(seal_ctx *s, int table) {
#define TABLE(tb, doc)         \
    if (table == TABLE_##tb) { \
        s->tb.n = s->t->tb.n;
#define COLUMN(tb, c, type, doc) s->tb.c = (col_##type *)(uintptr_t)s->t->tb.c;
#define END(tb) }
#include "store/schema.def"
}

static size_t table_bytes(int table, size_t n) {
    size_t bytes = 0;
    for (int c = TABLE_INFO[table].first_column; c < TABLE_INFO[table].end_column; c++)
        bytes += aligned(n * COLUMN_INFO[c].elem_bytes);
    return bytes;
}

/* Would a table fill more than half of what the raw slices had? */
static bool fits_worn(const seal_ctx *s, size_t bytes) {
    return s->worn && bytes <= s->worn_bytes && bytes > s->worn_bytes / 2;
}

static void drop_worn(seal_ctx *s) {
    pages_give(s->worn, s->worn_bytes);
    s->worn = NULL;
}

void seal_done_with_kernels(seal_ctx *s) {
    size_t n = 1;
    for (uint32_t i = 0; i < s->n_parts; i++) n += s->part_list[i]->memories.n;
    if (!fits_worn(s, table_bytes(TABLE_memory, n))) drop_worn(s);
}

/* Memory of a table, not zeroed. */
static void *take_worn(seal_ctx *s, size_t bytes) {
    void *p = NULL;
    pthread_mutex_lock(&s->lock);
    if (fits_worn(s, bytes) && (p = pages_resize(s->worn, s->worn_bytes, bytes)))
        s->worn = NULL;
    pthread_mutex_unlock(&s->lock);
    return p ? p : pages_take(bytes);
}

/* Points the columns of a table into its memory, which is the trace's then. */
static void set_columns(seal_ctx *s, int table, size_t n, char *p) {
    pthread_mutex_lock(&s->lock);
    trace_own_pages(s->t, p, table_bytes(table, n));
    pthread_mutex_unlock(&s->lock);
    for (int c = TABLE_INFO[table].first_column; c < TABLE_INFO[table].end_column; c++) {
        *trace_column_slot(s->t, c) = p;
        p += aligned(n * COLUMN_INFO[c].elem_bytes);
    }
    *trace_rows_slot(s->t, table) = (uint32_t)n;
    mirror_columns(s, table);
}

status seal_table(seal_ctx *s, int table, size_t n, error *err) {
    if (n > UINT32_MAX - 1) FAIL0(err, ERR_LIMIT, NOPOS, MSG_TOO_MANY_ROWS);
    char *p = pages_take_zeroed(table_bytes(table, n));
    if (!p) FAIL_MEMORY(err);
    set_columns(s, table, n, p);
    return OK;
}

status seal_written_table(seal_ctx *s, int table, size_t n, error *err) {
    if (n > UINT32_MAX - 1) FAIL0(err, ERR_LIMIT, NOPOS, MSG_TOO_MANY_ROWS);
    char *p = take_worn(s, table_bytes(table, n));
    if (!p) FAIL_MEMORY(err);
    set_columns(s, table, n, p);
    for (int c = TABLE_INFO[table].first_column; c < TABLE_INFO[table].end_column; c++) {
        memset(p, 0, COLUMN_INFO[c].elem_bytes);
        p += aligned(n * COLUMN_INFO[c].elem_bytes);
    }
    return OK;
}

void *seal_scratch(seal_ctx *s, size_t n, size_t elem_bytes) {
    pthread_mutex_lock(&s->lock);
    void *p = arena_array(&s->scratch, n, elem_bytes);
    pthread_mutex_unlock(&s->lock);
    return p;
}

void seal_lost(seal_ctx *s, cause c, int64_t count, uint64_t offset, uint32_t example) {
    part_loss *l = &s->losses[c];
    if (count == 0) return;
    pthread_mutex_lock(&s->lock);
    if (l->count == 0 || offset < l->offset) {
        l->offset = offset;
        l->example = example;
    }
    l->count = add_i64(l->count, count);
    pthread_mutex_unlock(&s->lock);
}

/* The parts, oldest first, and what they counted. */
static status list_parts(seal_ctx *s, error *err) {
    uint32_t n = 0;
    for (part *p = s->b->parts; p; p = p->next) n++;
    s->part_list = ARENA_ARRAY(&s->scratch, part *, n + 1);
    if (!s->part_list || s->b->failed) FAIL_MEMORY(err);
    s->n_parts = n;
    for (part *p = s->b->parts; p; p = p->next) {
        if (p->failed) FAIL_MEMORY(err);
        part_finish(p);
        s->part_list[--n] = p;
        s->t->events_read += p->events_read;
        s->t->events_dropped += p->events_dropped;
        for (int c = 0; c < N_CAUSES; c++)
            seal_lost(s, (cause)c, p->losses[c].count, p->losses[c].offset,
                      p->losses[c].example);
    }
    return OK;
}

/* Tables that no reader has filled still have their null row. */
static status fill_empty_tables(seal_ctx *s, error *err) {
    for (int table = 0; table < N_TABLES; table++)
        if (trace_rows(s->t, table) == 0) TRY(seal_table(s, table, 1, err));
    return OK;
}

/* Steps that need nothing of each other, each with its own outcome; the longest first. */
enum { N_STEPS = 5 };
typedef struct {
    seal_ctx *s;
    status (*step[N_STEPS])(seal_ctx *s, error *err);
    status result[N_STEPS];
    error err[N_STEPS];
} side_by_side;

static void run_step(void *context, size_t i, int worker) {
    side_by_side *q = context;
    (void)worker;
    q->result[i] = q->step[i](q->s, &q->err[i]);
}

/* Report the first failure in step order, so that the result does not depend on timing. */
static status run_side_by_side(seal_ctx *s, error *err) {
    side_by_side q = {
        .s = s, .step = {seal_memory, seal_link, seal_frames, seal_arguments, seal_flows}};
    /* Arrows that launch device work write what seal_link writes: then they are drawn after
     * it. */
    size_t n_together = s->b->launch_by_arrow ? N_STEPS - 1 : N_STEPS;
    pool_for(s->pool, n_together, run_step, &q);
    for (size_t i = n_together; i < N_STEPS; i++) run_step(&q, i, 0);
    for (int i = 0; i < N_STEPS; i++)
        if (q.result[i] != OK)
            return error_set(err, q.result[i], q.err[i].offset, q.err[i].message,
                             q.err[i].n_args, q.err[i].args);
    return OK;
}

static status run_steps(seal_ctx *s, error *err) {
    TRY(seal_marks(s, err));
    TRY(list_parts(s, err));
    TRY(seal_tracks(s, err));
    TRY(seal_sort(s, err));
    TRY(seal_nest(s, err));
    TRY(seal_details(s, err));
    TRY(run_side_by_side(s, err));
    TRY(seal_samples(s, err));
    TRY(seal_steps(s, err));
    TRY(seal_infer(s, err));
    TRY(seal_facts(s, err));
    return fill_empty_tables(s, err);
}

status builder_seal(builder *b, pool *workers, trace **out, error *err) {
    seal_ctx s = {.b = b, .pool = workers, .t = trace_alloc()};
    if (!s.t) FAIL_MEMORY(err);
    arena_init(&s.scratch, 0);
    pthread_mutex_init(&s.lock, NULL);
    s.track_kinds = VEC_INIT(uint8_t);
    status st = run_steps(&s, err);
    arena_fini(&s.scratch);
    pthread_mutex_destroy(&s.lock);
    vec_fini(&s.track_kinds);
    if (s.spare) pages_give(s.spare, s.spare_bytes);
    drop_worn(&s);
    if (st != OK) {
        trace_release(s.t);
        return st;
    }
    trace_finish(s.t);
    *out = s.t;
    return OK;
}
