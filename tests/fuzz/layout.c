/* layout.c: the predicting tokenizer. A layout that knows the file already, and one that gets it in
 * small portions, report the same events and the same damage as one that sees it for the first time:
 * neither prediction nor the ends of pieces change what is read. */
#include "ingest/layout.h"
#include "fuzz/fuzz.h"
#include "io/source.h"

typedef struct {
    builder *b;
    part *p;
    buf seen;
} run;

static uint8_t field_of(str key) {
    return str_starts(key, STR("correlation")) ? 1 : str_starts(key, STR("grid")) ? 2 : 0;
}

static void add(run *r, bool text, int64_t v) {
    buf_add_byte(&r->seen, ' ');
    if (text)
        buf_add_json(&r->seen, intern_get(builder_strings(r->b), (uint32_t)v));
    else
        buf_add_i64(&r->seen, v);
}

static status take(void *context, event *e) {
    run *r = context;
    int64_t plain[] = {e->ph,
                       e->scope,
                       e->enclosing,
                       e->has,
                       (int64_t)e->offset,
                       e->duplicate,
                       (int64_t)e->fields,
                       e->fields & 4 ? e->at[2] : 0,
                       e->has & EVENT_TS ? e->ts_ns : 0,
                       e->has & EVENT_DUR ? e->dur_ns : 0};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) add(r, false, plain[i]);
    add(r, true, e->category);
    if (e->has & EVENT_NAME) add(r, true, e->name);
    if (e->has & EVENT_PID) add(r, e->pid.text, e->pid.v);
    if (e->has & EVENT_TID) add(r, e->tid.text, e->tid.v);
    if (e->has & EVENT_ID) add(r, e->id.text, e->id.v);
    for (size_t i = 0; i < e->n_values; i++) {
        add(r, true, e->keys[i]);
        add(r, false, e->values[i].tag * 32 + e->values[i].digits);
        add(r, e->values[i].tag % 3 != 0, e->values[i].v);
    }
    return OK;
}

static void read_all(layout *l, const char *p, const char *end, size_t portion) {
    const char *to = (size_t)(end - p) > portion ? p + portion : end, *start = p;
    for (;;) {
        layout_result result = layout_parse(l, p, to, (uint64_t)(p - start), &p);
        CHECK(p <= to && result != LAYOUT_FAILED);
        if (result == LAYOUT_END || (result != LAYOUT_DAMAGED && to == end)) return;
        if (result == LAYOUT_DAMAGED && to == end && p < end)
            p = layout_next_border(p + 1, end);
        if (!p || p == end) return;
        to = (size_t)(end - to) > portion ? to + portion : end;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = calloc(1, size + SOURCE_PAD);
    memcpy(text, data, size);
    run r[2] = {{.b = NULL}};
    layout *l[2];
    for (int i = 0; i < 2; i++) {
        r[i] = (run){.b = builder_new()};
        r[i].p = builder_part(r[i].b);
        l[i] = layout_new(r[i].b, r[i].p, (layout_sink){field_of, take, &r[i]});
        read_all(l[i], text, text + size, i ? 1 + size % 61 : size);
    }
    CHECK(str_eq(buf_str(&r[0].seen), buf_str(&r[1].seen)));
    for (cause c = 1; c < N_CAUSES; c++)
        CHECK(part_loss_count(r[0].p, c) == part_loss_count(r[1].p, c));
    buf_clear(&r[0].seen);
    read_all(l[0], text, text + size, size);
    CHECK(str_eq(buf_str(&r[0].seen), buf_str(&r[1].seen)));
    for (int i = 0; i < 2; i++) {
        layout_free(l[i]);
        builder_free(r[i].b);
        buf_fini(&r[i].seen);
    }
    free(text);
    return 0;
}
