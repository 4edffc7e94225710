/* event_parser.c: the predicting tokenizer. One that knows the file already, and one that gets it
 * in crumbs, report the same events and the same damage as one that sees it for the first time:
 * neither prediction nor the ends of pieces change what is read. */
#include "ingest/trace_events/event_parser.h"
#include "fuzz/fuzz.h"
#include "io/source.h"

typedef struct {
    builder *b;
    part *p;
    event_parser *l;
    buf said;
} reading;

static uint8_t field_of(str key) {
    return str_starts(key, STR("correlation")) ? 1 : str_starts(key, STR("grid")) ? 2 : 0;
}

static void say(reading *r, ident v) {
    if (v.text) buf_add_json(&r->said, intern_get(builder_strings(r->b), (uint32_t)v.v));
    if (!v.text) buf_add_i64(&r->said, v.v);
}

static status take(void *context, event *e) {
    const ident none = {0, false};
    const int64_t numbers[] = {e->ph,
                               e->scope,
                               e->enclosing,
                               e->has,
                               (int64_t)e->offset,
                               e->duplicate,
                               (int64_t)e->fields,
                               e->fields & 4 ? e->at[2] : 0,
                               e->has & EVENT_TS ? e->ts_ns : 0,
                               e->has & EVENT_DUR ? e->dur_ns : 0};
    say(context, (ident){e->category, true});
    say(context, (ident){e->has & EVENT_NAME ? e->name : 0, true});
    say(context, e->has & EVENT_PID ? e->pid : none);
    say(context, e->has & EVENT_TID ? e->tid : none);
    say(context, e->has & EVENT_ID ? e->id : none);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        say(context, (ident){numbers[i], false});
    for (size_t i = 0; i < e->n_values; i++) {
        say(context, (ident){e->keys[i], true});
        say(context, (ident){e->values[i].tag * 32 + e->values[i].digits, false});
        say(context, (ident){e->values[i].v, e->values[i].tag % 3 != 0});
    }
    return OK;
}

static void read_all(reading *r, const char *p, const char *end, size_t portion) {
    const char *to = p, *start = p;
    for (parse_result result = PARSE_CLEAN; p && p < end && result != PARSE_END;) {
        bool last = to == end;
        if (last && result != PARSE_DAMAGED && result != PARSE_UNDECIDED) return;
        if (last) p = event_parser_next_border(p + 1, end);
        if (!p) return;
        to = (size_t)(end - to) > portion ? to + portion : end;
        result = event_parser_parse(r->l, p, to, (uint64_t)(p - start), &p);
        CHECK(p <= to && result != PARSE_FAILED);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = calloc(1, size + SOURCE_PAD);
    memcpy(text, data, size);
    reading r[2];
    for (int i = 0; i < 2; i++) {
        r[i] = (reading){.b = builder_new()};
        r[i].p = builder_part(r[i].b);
        r[i].l = event_parser_new(r[i].b, r[i].p, (parser_sink){field_of, take, &r[i], NULL});
        read_all(&r[i], text, text + size, i ? 1 + size % 61 : size);
    }
    for (cause c = 1; c < N_CAUSES; c++)
        CHECK(part_loss_count(r[0].p, c) == part_loss_count(r[1].p, c));
    CHECK(str_eq(buf_str(&r[0].said), buf_str(&r[1].said)));
    buf_clear(&r[0].said);
    read_all(&r[0], text, text + size, size); /* once more, warm */
    CHECK(str_eq(buf_str(&r[0].said), buf_str(&r[1].said)));
    for (int i = 0; i < 2; i++) {
        event_parser_free(r[i].l);
        builder_free(r[i].b);
        buf_fini(&r[i].said);
    }
    free(text);
    return 0;
}
