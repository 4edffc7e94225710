/* event_sink.c: what all dialects of trace events share: the sink of a thread, values of
 * arguments, tracks and categories that come again, points and counters, and what makes an
 * event unusable. */
#include "ingest/trace_events/event_sink.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"

event_sink *event_sink_new(builder *b, const dialect *d) {
    event_sink *s = mem_zalloc(sizeof *s);
    if (!s) return NULL;
    s->b = b;
    s->dialect = d;
    s->strings = builder_strings(b);
    s->categories = VEC_INIT(category_info);
    s->names = VEC_INIT(uint8_t);
    s->dim_rows = VEC_INIT(event_dims);
    s->part = builder_part(b);
    if (s->part) s->state = d->new_state(b, s->part);
    parser_sink sink = {d->field_of, d->take, s, d->spelling};
    if (s->state) s->parser = event_parser_new(b, s->part, sink);
    if (s->parser) return s;
    event_sink_free(s);
    return NULL;
}

void event_sink_free(event_sink *s) {
    if (!s) return;
    event_parser_free(s->parser);
    if (s->state) s->dialect->free_state(s->state);
    vec_fini(&s->categories);
    vec_fini(&s->names);
    vec_fini(&s->dim_rows);
    map_fini(&s->dims);
    mem_free(s);
}

uint8_t event_find_word(const event_word *table, size_t n, str word) {
    for (size_t i = 0; i < n; i++)
        if (str_eq(word, table[i].word)) return table[i].value;
    return 0;
}

/* ---- categories and tracks ---- */

category_info event_find_category(event_sink *s, uint32_t id) {
    const category_info *all = VEC(&s->categories, category_info);
    for (size_t i = 0; i < s->categories.n; i++)
        if (all[i].id == id) return all[i];
    category_info c = {
        .id = id, .row = id ? builder_category(s->b, id) : 0, .class = CLASS_UNKNOWN};
    if (s->dialect->class_of) c.class = s->dialect->class_of(s, intern_get(s->strings, id));
    category_info *row = s->categories.n < 256 ? vec_push(&s->categories) : NULL;
    if (row) *row = c; /* beyond 256 categories they are looked up each time */
    return c;
}

static bool is_track(const known_track *k, const event *e, uint32_t has) {
    return k->track && k->has == has && ident_eq(k->pid, e->pid) && ident_eq(k->tid, e->tid);
}

uint32_t event_new_track(event_sink *s, const event *e) {
    uint32_t has = e->has & (EVENT_PID | EVENT_TID);
    known_track *k = &s->tracks[(uint64_t)e->tid.v % N_KNOWN_TRACKS];
    if (!is_track(k, e, has)) {
        uint32_t track = part_track(s->part, event_pid(e), event_tid(e));
        *k = (known_track){e->pid, e->tid, track + 1, has}; /* 0 when out of memory */
    }
    s->last_pid = e->pid;
    s->last_tid = e->tid;
    s->last_has = has;
    s->last_track = k->track;
    return k->track - 1;
}

/* ---- arguments ---- */

int64_t event_odd_int(const event_sink *s, const raw_value *v, int64_t absent) {
    double d;
    int64_t i;
    if (v->tag == VALUE_DECIMAL) {
        d = (double)v->v;
        for (int k = 0; k < v->digits; k++) d /= 10;
        return (int64_t)d;
    }
    str text = json_text(intern_get(s->strings, (uint32_t)v->v));
    if (str_to_i64(text, &i)) return i;
    if (str_to_f64(text, &d) && d > -9e18 && d < 9e18) return (int64_t)d;
    return absent;
}

double event_real(const event_sink *s, const event *e, unsigned field) {
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                   1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
    double d = NAN;
    if (!event_has(e, field)) return d;
    const raw_value *v = &e->values[e->at[field]];
    if (v->tag == VALUE_INT) return (double)v->v;
    if (v->tag == VALUE_DECIMAL) return (double)v->v / power[v->digits];
    if (!str_to_f64(json_text(intern_get(s->strings, (uint32_t)v->v)), &d) || !isfinite(d))
        return NAN;
    return d;
}

uint32_t event_text(const event *e, unsigned field) {
    if (!event_has(e, field)) return 0;
    const raw_value *v = &e->values[e->at[field]];
    return v->tag == VALUE_STRING || v->tag == VALUE_RAW ? (uint32_t)v->v : 0;
}

/* The last wins. */
status event_drop_earlier(event_sink *s, event *e) {
    size_t n = 0;
    uint32_t place = 0;
    for (size_t i = 0; i < e->n_values; i++) {
        bool again = false;
        for (size_t j = i + 1; j < e->n_values; j++) again |= e->keys[j] == e->keys[i];
        if (again) continue;
        place = builder_shape(s->b, place, e->keys[i]);
        if (!place) return ERR_MEMORY;
        e->values[n] = e->values[i];
        e->values[n].place = place;
        e->keys[n] = e->keys[i];
        for (unsigned f = 1; f < MAX_ARG_FIELDS; f++)
            if (event_has(e, f) && e->at[f] == i) e->at[f] = (uint16_t)n;
        n++;
    }
    e->n_values = n;
    return OK;
}

/* ---- rows ---- */

status event_drop(event_sink *s, const event *e, cause why) {
    part_lost(s->part, why, e->offset, e->has & EVENT_NAME ? e->name : 0);
    part_count(s->part, 0, 1);
    return OK;
}

cause event_odd_fault(const event *e, bool nameless) {
    bool may = e->ph == 'E' || e->ph == 'e' || (e->ph == 'B' && nameless);
    if (!(e->has & EVENT_NAME) && !may) return CAUSE_MISSING_NAME;
    if (e->ph == 'M') return CAUSE_NONE;
    if (e->has & EVENT_BAD_TIME) return CAUSE_NUMBER_RANGE;
    if (!(e->has & EVENT_TS)) return CAUSE_MISSING_TIME;
    if (e->ts_ns <= -EVENT_TIME_LIMIT || e->ts_ns >= EVENT_TIME_LIMIT)
        return CAUSE_NUMBER_RANGE;
    if (e->ph != 'X' || !(e->has & EVENT_DUR)) return CAUSE_NONE;
    if (e->dur_ns < 0) return CAUSE_NEGATIVE_DURATION;
    return e->dur_ns >= EVENT_TIME_LIMIT ? CAUSE_NUMBER_RANGE : CAUSE_NONE;
}

status event_take_instant(event_sink *s, event *e) {
    raw_instant i = {
        .time = e->ts_ns,
        .name = e->name,
        .track = event_track(s, e),
        .args = part_args(s->part, e->values, e->n_values),
        .category = event_category(s, e).row,
        .scope = (uint8_t)(e->scope ? e->scope : 't'),
    };
    return i.track == UINT32_MAX ? ERR_MEMORY : part_instant(s->part, &i);
}

status event_take_counter(event_sink *s, event *e) {
    uint32_t track = event_track(s, e);
    if (track == UINT32_MAX) return ERR_MEMORY;
    for (size_t i = 0; i < e->n_values; i++) {
        e->fields = 2; /* any value by its place, through the same conversion */
        e->at[1] = (uint16_t)i;
        double v = event_real(s, e, 1);
        if (isnan(v)) continue;
        TRY(part_counter(s->part, &(raw_counter){.time = e->ts_ns,
                                                 .value = v,
                                                 .name = e->name,
                                                 .series = e->keys[i],
                                                 .track = track}));
    }
    return OK;
}

/* The hash of a text, since string ids depend on the order of reading. */
int64_t event_arrow_id(const event_sink *s, const event *e) {
    if (!(e->has & EVENT_ID)) return 0;
    if (!e->id.text) return e->id.v;
    str text = intern_get(s->strings, (uint32_t)e->id.v);
    return (int64_t)hash_bytes64(text.p, text.n);
}

status event_add_meta(event_sink *s, str key, str value, error *err) {
    uint32_t key_id = event_parser_string(s->parser, key, NOPOS),
             value_id = event_parser_raw(s->parser, value, NOPOS);
    if (event_parser_failure(s->parser) != OK) FAIL_MEMORY(err);
    return builder_add_meta(s->b, key_id, value_id, err);
}
