/* read_helper.c: see the header. A trace is described column by column from the tables of
 * store/trace_int.h, so that a new column is compared without a change here. */
#include "unit/ingest/read_helper.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "ingest/pytorch/kineto.h"
#include "store/args.h"

static status reopen_text(void *context, source **out, error *err) {
    return source_open_memory(*(const str *)context, out, err);
}

trace *read_text(str text, read_how how, error *err) {
    return read_with(ingest_trace_json, text, how, err);
}

trace *read_with(reader_fn reader, str text, read_how how, error *err) {
    pool *workers = how.threads ? pool_new(how.threads) : NULL;
    ingest_options o = {.pool = workers,
                        .reopen = reopen_text,
                        .reopen_context = &text,
                        .piece_bytes = how.piece_bytes};
    source *s;
    trace *t = NULL;
    builder *b = builder_new();
    assert_non_null(b);
    assert_int_equal(source_open_memory(text, &s, NULL), OK);
    if (reader(s, &o, b, err) == OK) assert_int_equal(builder_seal(b, workers, &t, err), OK);
    source_close(s);
    builder_free(b);
    pool_free(workers);
    return t;
}

trace *read_json(const char *text) {
    error err;
    trace *t = read_text(str_of(text), (read_how){0}, &err);
    if (!t) fail_msg("refused with message %d: %s", err.message, text);
    return t;
}

trace *read_events(const char *events) {
    buf b = {0};
    buf_printf(&b, "[%s]", events);
    buf_add_byte(&b, 0);
    trace *t = read_json(b.p);
    buf_fini(&b);
    return t;
}

uint32_t find_slice(const trace *t, const char *name) {
    uint32_t found = 0;
    for (uint32_t i = 1; i < t->slice.n; i++) {
        if (!str_eq(trace_slice_name(t, i), str_of(name))) continue;
        if (found) fail_msg("two slices named %s", name);
        found = i;
    }
    if (!found) fail_msg("no slice named %s", name);
    return found;
}

static const char *keep(buf *b) {
    static char kept[8][4096];
    static unsigned turn;
    char *to = kept[turn++ % 8];
    snprintf(to, sizeof kept[0], "%.*s", (int)b->n, b->p ? b->p : "");
    buf_fini(b);
    return to;
}

const char *args_text(const trace *t, uint32_t record) {
    buf b = {0};
    assert_int_equal(trace_args_json(t, record, &b, NULL), OK);
    return keep(&b);
}

const char *text_of_id(const trace *t, uint32_t id) {
    buf b = {0};
    buf_add_str(&b, trace_str(t, id));
    return keep(&b);
}

/* ---- a trace as text ---- */

static void add_number(buf *out, const column_info *c, const void *p, uint32_t row) {
    switch (c->type) {
    case TYPE_I64: buf_add_i64(out, ((const int64_t *)p)[row]); break;
    case TYPE_U64: buf_add_u64(out, ((const uint64_t *)p)[row]); break;
    case TYPE_F64: buf_add_f64(out, ((const double *)p)[row]); break;
    case TYPE_I32: buf_add_i64(out, ((const int32_t *)p)[row]); break;
    case TYPE_U16: buf_add_u64(out, ((const uint16_t *)p)[row]); break;
    case TYPE_U8: buf_add_u64(out, ((const uint8_t *)p)[row]); break;
    default: buf_add_u64(out, ((const uint32_t *)p)[row]); break;
    }
}

static void add_cell(buf *out, const trace *t, args_reader *args, int column, uint32_t row) {
    const column_info *c = &COLUMN_INFO[column];
    const void *p = trace_column(t, column);
    if (column == COLUMN_slice_category || column == COLUMN_instant_category)
        buf_add_json(out, trace_str(t, t->category.name[((const uint16_t *)p)[row]]));
    else if (strcmp(c->name, "args") == 0)
        assert_int_equal(args_read_json(args, ((const uint32_t *)p)[row], out, NULL), OK);
    else if (c->type == TYPE_STR)
        buf_add_json(out, trace_str(t, ((const uint32_t *)p)[row]));
    else
        add_number(out, c, p, row);
}

buf describe(const trace *t, offsets_wanted offsets) {
    buf out = {0};
    args_reader *args;
    assert_int_equal(args_reader_new(t, &args, NULL), OK);
    buf_printf(&out, "%.*s %lld %lld %lld %llu %llu\n", STR_ARG(t->format),
               (long long)t->start_ns, (long long)t->end_ns, (long long)t->base_unix_ns,
               (unsigned long long)t->events_read, (unsigned long long)t->events_dropped);
    for (int table = 0; table < N_TABLES; table++) {
        if (table == TABLE_category) continue; /* spelled out where they are used */
        for (uint32_t row = 1; row < trace_rows(t, table); row++) {
            buf_printf(&out, "%s %u:", TABLE_INFO[table].name, row);
            for (int c = TABLE_INFO[table].first_column; c < TABLE_INFO[table].end_column;
                 c++) {
                if (offsets == WITHOUT_OFFSETS &&
                    (c == COLUMN_quality_offset || c == COLUMN_quality_example))
                    continue;
                buf_printf(&out, " %s=", COLUMN_INFO[c].name);
                add_cell(&out, t, args, c, row);
            }
            buf_add_byte(&out, '\n');
        }
    }
    args_reader_free(args);
    buf_add_byte(&out, 0);
    assert_true(buf_ok(&out));
    return out;
}

void assert_same_trace(const trace *a, const trace *b, offsets_wanted offsets) {
    buf x = describe(a, offsets), y = describe(b, offsets);
    const char *p = x.p, *q = y.p;
    while (*p || *q) {
        size_t n = strcspn(p, "\n"), m = strcspn(q, "\n");
        if (n != m || memcmp(p, q, n) != 0)
            fail_msg("\n%.*s\nis not\n%.*s", (int)n, p, (int)m, q);
        p += n + (p[n] != 0);
        q += m + (q[m] != 0);
    }
    buf_fini(&x);
    buf_fini(&y);
}

uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}
