/* perfetto_event.c: track events become slices, instants, counters and arrows.
 *
 * A range is a begin and an end on its track. Perfetto pairs them in the order of time; here
 * each end closes the innermost open range of its own writer, in the order of the file, which
 * is that of time for one writer, and right where a writer tells ranges one after the other
 * that overlap (rocprofv3). Ranges that one writer begins and another ends take the innermost
 * that began before; an end may come before its beginning, since writers fill their pages side
 * by side.
 *
 * All events with the number of a flow are one arrow, in the order of time. Between a call and
 * device work it is the launch: the number stands for the correlation id where there is
 * none. */
#include <stdio.h>
#include <stdlib.h>

#include "ingest/perfetto/perfetto_int.h"

enum { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT, TYPE_COUNTER, TYPE_STATE, MAX_CATEGORIES = 8 };

/* A TrackEvent as far as it is not in reader.e. */
typedef struct {
    uint64_t type, track;
    bool has_track, has_name, has_value, terminating[MAX_FLOWS];
    uint32_t name, place;
    uint32_t categories[MAX_CATEGORIES];
    size_t n_categories;
    uint64_t flows[MAX_FLOWS];
    size_t n_flows;
    double value;
    str legacy;
    int64_t delta_us, absolute_us;
    double extra[MAX_EXTRA], extra_real[MAX_EXTRA];
    uint64_t extra_tracks[MAX_EXTRA], extra_real_tracks[MAX_EXTRA];
    size_t n_extra, n_extra_real, n_extra_tracks, n_extra_real_tracks;
} track_event;

static double real_of(uint64_t bits) {
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* ---- fields ---- */

static void add_category(track_event *t, uint32_t id) {
    if (id && t->n_categories < MAX_CATEGORIES) t->categories[t->n_categories++] = id;
}

static void add_flow(track_event *t, uint64_t id, bool ends) {
    if (t->n_flows == MAX_FLOWS) return;
    t->terminating[t->n_flows] = ends;
    t->flows[t->n_flows++] = id;
}

#define ADD_TO(list, value) \
    if (t->n_##list < MAX_EXTRA) t->list[t->n_##list++] = (value)

/* Counters and other fields that few events have. */
static void read_rare_field(const pb_field *f, track_event *t) {
    switch (f->tag) {
    case PB_VARINT(1): t->delta_us = (int64_t)f->v; break;
    case PB_VARINT(16): t->absolute_us = (int64_t)f->v; break;
    case PB_VARINT(12): ADD_TO(extra, (double)(int64_t)f->v); break;
    case PB_VARINT(31): ADD_TO(extra_tracks, f->v); break;
    case PB_VARINT(45): ADD_TO(extra_real_tracks, f->v); break;
    case PB_TAG(46, WIRE_FIXED64): ADD_TO(extra_real, real_of(f->v)); break;
    case PB_VARINT(36): add_flow(t, f->v, false); break;
    case PB_VARINT(42): add_flow(t, f->v, true); break;
    default: break;
    }
}

static status read_field(reader *r, const sequence *q, const pb_field *f, track_event *t) {
    switch (f->tag) {
    case PB_VARINT(9): t->type = f->v; break;
    case PB_VARINT(10):
        t->name = words_find(r, q, WORDS_NAME, f->v);
        t->has_name = true;
        break;
    case PB_BYTES(23):
        t->name = perfetto_string(r, pb_bytes(f));
        t->has_name = true;
        break;
    case PB_VARINT(11):
        t->track = f->v;
        t->has_track = true;
        break;
    case PB_VARINT(3): add_category(t, words_find(r, q, WORDS_CATEGORY, f->v)); break;
    case PB_BYTES(22): add_category(t, perfetto_string(r, pb_bytes(f))); break;
    case PB_BYTES(4): return args_take(r, q, pb_bytes(f));
    case PB_BYTES(6): t->legacy = pb_bytes(f); break;
    case PB_VARINT(30):
        t->value = (double)(int64_t)f->v;
        t->has_value = true;
        break;
    case PB_TAG(44, WIRE_FIXED64):
        t->value = real_of(f->v);
        t->has_value = true;
        break;
    case PB_VARINT(34): t->place = words_find(r, q, WORDS_PLACE, f->v); break;
    case PB_TAG(47, WIRE_FIXED64): add_flow(t, f->v, false); break;
    case PB_TAG(48, WIRE_FIXED64): add_flow(t, f->v, true); break;
    default: read_rare_field(f, t); break;
    }
    return r->failed ? ERR_MEMORY : OK;
}

/* Lists are as long as they say: most events have none, so they are not cleared. */
static void begin_event(track_event *t) {
    t->type = t->track = 0;
    t->has_track = t->has_name = t->has_value = false;
    t->name = t->place = 0;
    t->n_categories = t->n_flows = 0;
    t->value = 0;
    t->legacy = STR_NONE;
    t->delta_us = t->absolute_us = ABSENT_I64;
    t->n_extra = t->n_extra_real = t->n_extra_tracks = t->n_extra_real_tracks = 0;
}

static status read_event(reader *r, const sequence *q, const packet *k, track_event *t) {
    pb_reader w = pb_open(k->event);
    pb_field f;
    event *e = &r->e;
    begin_event(t);
    e->offset = k->offset;
    e->fields = 0;
    e->n_values = 0;
    e->duplicate = e->enclosing = false;
    e->scope = 't';
    e->has = 0;
    e->id = IDENT_NONE;
    while (pb_next(&w, &f)) TRY(read_field(r, q, &f, t));
    if (w.damaged) part_lost(r->part, CAUSE_BAD_SYNTAX, k->offset, t->name);
    if (t->place) TRY(args_add_text(r, perfetto_string(r, STR("source")), t->place));
    if (!t->has_track) t->track = q->track;
    return OK;
}

/* ---- what it is ---- */

/* What a category of ours says, looked up once for each; N_KINDS: it is another's. */
static status kind_of_category(reader *r, uint32_t id, uint8_t *out) {
    uint8_t *slot = vec_at(&r->category_kinds, id);
    if (!slot) return ERR_MEMORY;
    if (!*slot) *slot = (uint8_t)(perfetto_kind(intern_get(r->sink->strings, id)) + 1);
    *out = (uint8_t)(*slot - 1);
    return OK;
}

static uint32_t join_categories(reader *r, const uint32_t *ids, size_t n) {
    buf_clear(&r->text);
    for (size_t i = 0; i < n; i++) {
        if (i) buf_add_byte(&r->text, ',');
        buf_add_str(&r->text, intern_get(r->sink->strings, ids[i]));
    }
    r->failed |= !buf_ok(&r->text);
    return r->failed ? 0 : perfetto_string(r, buf_str(&r->text));
}

/* The category: several are joined with commas; our own category gives the kind and is
 * dropped. */
static status name_category(reader *r, track_event *t) {
    perfetto_state *st = r->sink->state;
    size_t n = 0;
    st->kind = N_KINDS;
    for (size_t i = 0; i < t->n_categories; i++) {
        uint8_t kind;
        TRY(kind_of_category(r, t->categories[i], &kind));
        if (kind == N_KINDS) {
            t->categories[n++] = t->categories[i];
            continue;
        }
        st->kind = kind;
        st->ours = true;
    }
    r->e.category = n > 1 ? join_categories(r, t->categories, n) : n ? t->categories[0] : 0;
    return r->failed ? ERR_MEMORY : OK;
}

/* A range may go without a name: then it is called as its category. A number without a word is
 * a loss. */
static void name_event(reader *r, const track_event *t) {
    event *e = &r->e;
    e->name = t->has_name ? t->name : e->category;
    if (!t->has_name && !e->name) e->name = perfetto_string(r, STR("[unnamed]"));
    if (e->name) e->has |= EVENT_NAME;
}

static void place_event(reader *r, const track_row *at, int64_t ns, cause why) {
    event *e = &r->e;
    perfetto_state *st = r->sink->state;
    e->ts_ns = ns;
    e->dur_ns = 0;
    e->pid = at->to_pid;
    e->tid = at->to_tid;
    e->has |= EVENT_DUR;
    if (at->to_pid.text || at->to_pid.v != ABSENT_I64) e->has |= EVENT_PID;
    if (at->to_tid.text || at->to_tid.v != ABSENT_I64) e->has |= EVENT_TID;
    if (why == CAUSE_NONE) e->has |= EVENT_TS;
    if (why == CAUSE_NUMBER_RANGE) e->has |= EVENT_BAD_TIME;
    st->device = at->device;
    st->stream = at->stream;
}

static bool is_launch_class(uint8_t class, uint8_t kind) {
    if (kind != N_KINDS) return kind_is_device(kind) || kind_is_call(kind);
    return class == CLASS_KERNEL || class == CLASS_MEMCPY || class == CLASS_MEMSET ||
           class == CLASS_RUNTIME || class == CLASS_DRIVER;
}

/* A flow in place of a correlation id; after the arguments, since it is not one of them. */
static void lend_flow(reader *r, const track_event *t) {
    event *e = &r->e;
    const perfetto_state *st = r->sink->state;
    if (!t->n_flows || event_has(e, FIELD_CORRELATION) || e->n_values == MAX_VALUES) return;
    if (!is_launch_class(event_category(r->sink, e).class, st->kind)) return;
    e->values[e->n_values] =
        (raw_value){.tag = VALUE_INT, .v = (int64_t)(t->flows[0] & INT64_MAX)};
    e->at[FIELD_CORRELATION] = (uint16_t)e->n_values;
    e->fields |= 1ull << FIELD_CORRELATION;
}

/* rocprofv3 draws a copy to the host at the host: the work is the GPU's it comes from. */
static void place_copy(reader *r) {
    event *e = &r->e;
    perfetto_state *st = r->sink->state;
    if (!r->agents.n || st->device != ABSENT_I32 || !event_has(e, FIELD_AGENT_FROM)) return;
    str agent = intern_get(r->sink->strings, event_text(e, FIELD_AGENT_FROM));
    size_t n = agent.n;
    int64_t number;
    while (n && agent.p[n - 1] >= '0' && agent.p[n - 1] <= '9') n--;
    if (!str_to_i64(str_from(agent, n), &number)) return;
    st->device = tracks_device(r, number);
    if (st->device == ABSENT_I32) return;
    char text[24];
    int length = snprintf(text, sizeof text, "GPU %d", (int)st->device);
    e->pid = (ident){perfetto_string(r, str_n(text, (size_t)length)), true};
}

/* ---- ranges ---- */

/* A list is walked so far: a hostile file may open any number of ranges. */
enum { MAX_WALK = 4096 };

static open_range *range_at(const reader *r, uint32_t i) {
    return &VEC(&r->ranges, open_range)[i - 1];
}

static status push_range(reader *r, uint32_t *list, open_range o) {
    uint32_t i = r->free_range;
    o.next = *list;
    if (i) {
        r->free_range = range_at(r, i)->next;
    } else {
        if (!vec_push(&r->ranges)) return ERR_MEMORY;
        i = (uint32_t)r->ranges.n;
    }
    *range_at(r, i) = o;
    *list = i;
    return OK;
}

/* Takes the range out of its list; `link` points to it. */
static open_range take_range(reader *r, uint32_t *link) {
    uint32_t i = *link;
    open_range o = *range_at(r, i);
    *link = o.next;
    range_at(r, i)->next = r->free_range;
    r->free_range = i;
    return o;
}

static void close_range(reader *r, const open_range *o, int64_t end) {
    if (o->slice == UINT64_MAX) return;
    raw_slice *s = part_slice_at(r->part, o->slice);
    if (end < o->time) {
        part_lost(r->part, CAUSE_NEGATIVE_DURATION, NOPOS, s->name);
        end = o->time;
    }
    s->dur = sub_i64(end, o->time);
}

/* An end of another writer that was met before this beginning; the nearest one after it. */
static bool take_early(reader *r, track_row *at, const open_range *o) {
    uint32_t *best = NULL, *link = &at->early;
    for (int n = 0; *link && n < MAX_WALK; link = &range_at(r, *link)->next, n++) {
        const open_range *end = range_at(r, *link);
        if (end->sequence != o->sequence && end->time >= o->time &&
            (!best || end->time < range_at(r, *best)->time))
            best = link;
    }
    if (!best) return false;
    close_range(r, o, take_range(r, best).time);
    return true;
}

static status begin_range(reader *r, uint32_t i_sequence, uint64_t track) {
    uint64_t index = part_next_slice(r->part);
    r->e.ph = 'X';
    TRY(r->sink->dialect->take(r->sink, &r->e));
    open_range o = {.slice = part_next_slice(r->part) > index ? index : UINT64_MAX,
                    .time = r->e.ts_ns,
                    .sequence = i_sequence};
    track_row *at = tracks_find(r, track);
    if (!at) return ERR_MEMORY;
    return at->early && take_early(r, at, &o) ? OK : push_range(r, &at->open, o);
}

/* The link to the range that an end closes; NULL: none is open. */
static uint32_t *find_open(const reader *r, track_row *at, uint32_t i_sequence, int64_t ns) {
    uint32_t *link = &at->open, *other = NULL;
    for (int n = 0; *link && n < MAX_WALK; link = &range_at(r, *link)->next, n++) {
        const open_range *o = range_at(r, *link);
        if (o->sequence == i_sequence) return link;
        if (!other && o->time <= ns) other = link;
    }
    return other;
}

/* Arguments that only the end has. */
static void add_end_args(reader *r, const open_range *o) {
    if (o->slice == UINT64_MAX || !r->e.n_values || r->e.duplicate) return;
    raw_slice *s = part_slice_at(r->part, o->slice);
    if (!s->args) s->args = part_args(r->part, r->e.values, r->e.n_values);
}

static status end_range(reader *r, uint32_t i_sequence, track_row *at, int64_t ns) {
    uint32_t *link = find_open(r, at, i_sequence, ns);
    if (!link) {
        open_range early = {.slice = UINT64_MAX, .time = ns, .sequence = i_sequence};
        return push_range(r, &at->early, early);
    }
    open_range o = take_range(r, link);
    close_range(r, &o, ns);
    add_end_args(r, &o);
    return OK;
}

/* ---- states ---- */

static void leave_state(reader *r, track_row *at, int64_t ns, uint32_t flags) {
    if (!at->state_slice) return;
    raw_slice *s = part_slice_at(r->part, at->state_slice - 1);
    s->dur = max_i64(0, sub_i64(ns, at->state_time));
    s->flags = (uint8_t)(s->flags | flags);
    at->state_slice = 0;
}

/* A track of states is in one of them until it says another; one without a name: in none. */
static status take_state(reader *r, const track_event *t) {
    track_row *at = tracks_find(r, t->track);
    uint64_t index = part_next_slice(r->part);
    if (!at) return ERR_MEMORY;
    bool same = t->has_name && at->state_slice && at->state_name == t->name;
    if (!same) leave_state(r, at, r->e.ts_ns, 0);
    if (same || !t->has_name) {
        part_count(r->part, 1, 0);
        return OK;
    }
    r->e.ph = 'X';
    TRY(r->sink->dialect->take(r->sink, &r->e));
    at = tracks_find(r, t->track);
    if (!at) return ERR_MEMORY;
    at->state_slice = part_next_slice(r->part) > index ? index + 1 : 0;
    at->state_time = r->e.ts_ns;
    at->state_name = t->name;
    return OK;
}

/* ---- arrows ---- */

static status keep_flows(reader *r, const track_event *t) {
    const event *e = &r->e;
    const perfetto_state *st = r->sink->state;
    if (!t->n_flows || !(e->has & EVENT_TS)) return OK;
    uint8_t class = event_category(r->sink, e).class;
    bool work = st->kind != N_KINDS
                    ? kind_is_device(st->kind)
                    : class == CLASS_KERNEL || class == CLASS_MEMCPY || class == CLASS_MEMSET;
    uint32_t track = event_track(r->sink, e);
    if (track == UINT32_MAX) return ERR_MEMORY;
    for (size_t i = 0; i < t->n_flows; i++) {
        flow_end *to = vec_push(&r->flows);
        if (!to) return ERR_MEMORY;
        *to = (flow_end){.id = t->flows[i],
                         .time = e->ts_ns,
                         .sequence = event_int(r->sink, e, FIELD_SEQUENCE, ABSENT_I64),
                         .track = track,
                         .ends = t->terminating[i],
                         .work = work};
    }
    return OK;
}

static int compare_flows(const void *pa, const void *pb) {
    const flow_end *a = pa, *b = pb;
    if (a->id != b->id) return a->id < b->id ? -1 : 1;
    if (a->time != b->time) return a->time < b->time ? -1 : 1;
    if (a->ends != b->ends) return a->ends ? 1 : -1;
    return a->track < b->track ? -1 : a->track > b->track;
}

/* An arrow between two operators of one sequence number is autograd's. */
static bool is_autograd(const flow_end *ends, size_t n) {
    return n == 2 && ends[0].sequence != ABSENT_I64 && ends[0].sequence == ends[1].sequence;
}

/* The ends of one number: launches have correlation ids instead, and a number with a single end
 * is not an arrow. */
static status draw_flow(reader *r, const flow_end *ends, size_t n) {
    bool autograd = is_autograd(ends, n);
    uint32_t name = perfetto_string(r, autograd ? STR("fwdbwd") : STR("flow"));
    for (size_t i = 0; i < n; i++)
        if (ends[i].work) return OK;
    for (size_t i = 0; i < n && n > 1; i++) {
        raw_arrow a = {.time = ends[i].time,
                       .offset = i,
                       .id = (int64_t)ends[i].id,
                       .name = name,
                       .track = ends[i].track,
                       .kind = autograd ? FLOW_FORWARD_BACKWARD : FLOW_OTHER,
                       .phase = i == 0       ? 's'
                                : i + 1 == n ? 'f'
                                             : 't'};
        TRY(part_arrow(r->part, &a));
    }
    return OK;
}

static status draw_flows(reader *r) {
    const flow_end *all = VEC(&r->flows, flow_end);
    if (!r->flows.n) return OK;
    qsort(r->flows.p, r->flows.n, sizeof(flow_end), compare_flows);
    for (size_t i = 0, end; i < r->flows.n; i = end) {
        for (end = i + 1; end < r->flows.n && all[end].id == all[i].id && !all[end - 1].ends;)
            end++;
        TRY(draw_flow(r, all + i, end - i));
    }
    return OK;
}

/* ---- counters ---- */

static status add_sample(reader *r, const sequence *q, uint64_t uuid, int64_t ns,
                         double value) {
    track_row *at = tracks_resolve(r, q, uuid);
    if (!at) return ERR_MEMORY;
    value *= (double)at->unit;
    if (at->incremental) value = at->sum += value;
    if (!isfinite(value)) return OK;
    uint32_t track = part_track(r->part, at->to_pid, at->to_tid);
    if (track == UINT32_MAX) return ERR_MEMORY;
    return part_counter(r->part, &(raw_counter){.time = ns,
                                                .value = value,
                                                .name = at->counter ? at->counter : at->name,
                                                .series = at->series,
                                                .track = track});
}

/* Values added to an event: the n-th belongs to the n-th counter that it or its sequence
 * names. */
static status add_extra(reader *r, const sequence *q, const track_event *t, int64_t ns) {
    const uint64_t *tracks = t->n_extra_tracks ? t->extra_tracks : q->extra;
    size_t n = t->n_extra_tracks ? t->n_extra_tracks : q->n_extra;
    for (size_t i = 0; i < t->n_extra && i < n; i++)
        TRY(add_sample(r, q, tracks[i], ns, t->extra[i]));
    tracks = t->n_extra_real_tracks ? t->extra_real_tracks : q->extra_real;
    n = t->n_extra_real_tracks ? t->n_extra_real_tracks : q->n_extra_real;
    for (size_t i = 0; i < t->n_extra_real && i < n; i++)
        TRY(add_sample(r, q, tracks[i], ns, t->extra_real[i]));
    return OK;
}

static status take_counter(reader *r, const sequence *q, const track_event *t, int64_t ns,
                           cause why) {
    part_count(r->part, 1, 0);
    if (why != CAUSE_NONE || !t->has_value) {
        perfetto_lose(r, why != CAUSE_NONE ? why : CAUSE_BAD_SYNTAX, r->e.offset, t->name);
        return OK;
    }
    return add_sample(r, q, t->track, ns, t->value);
}

/* ---- events of Chrome's old kind ---- */

static char old_phase(uint64_t letter) {
    switch (letter) {
    case 'S': return 'b'; /* ranges that do not nest on a thread, before they could nest */
    case 'F': return 'e';
    case 'T':
    case 'p': return 'n';
    default: return letter < 128 ? (char)letter : 0;
    }
}

static status take_legacy(reader *r, const sequence *q, const track_event *t) {
    pb_reader w = pb_open(t->legacy);
    pb_field f;
    event *e = &r->e;
    e->ph = 0;
    while (pb_next(&w, &f)) {
        switch (f.tag) {
        case PB_VARINT(1):
            e->name = words_find(r, q, WORDS_NAME, f.v);
            if (e->name) e->has |= EVENT_NAME;
            break;
        case PB_VARINT(2): e->ph = old_phase(f.v); break;
        case PB_VARINT(3):
            e->dur_ns = f.v < (uint64_t)EVENT_TIME_LIMIT / 1000 ? (int64_t)f.v * 1000 : -1;
            break;
        case PB_VARINT(6):
        case PB_VARINT(10):
        case PB_VARINT(11):
            e->id = (ident){(int64_t)f.v, false};
            e->has |= EVENT_ID;
            break;
        case PB_VARINT(14): e->scope = f.v == 1 ? 'g' : f.v == 2 ? 'p' : 't'; break;
        case PB_VARINT(18): e->pid = (ident){(int32_t)f.v, false}; break;
        case PB_VARINT(19): e->tid = (ident){(int32_t)f.v, false}; break;
        default: break;
        }
    }
    return r->sink->dialect->take(r->sink, e);
}

/* ---- one event ---- */

static status take_typed(reader *r, uint32_t i_sequence, const track_event *t) {
    switch (t->type) {
    case TYPE_BEGIN:
        lend_flow(r, t);
        place_copy(r);
        TRY(keep_flows(r, t));
        return begin_range(r, i_sequence, t->track);
    case TYPE_INSTANT:
        r->e.ph = 'i';
        TRY(keep_flows(r, t));
        return r->sink->dialect->take(r->sink, &r->e);
    case TYPE_STATE:
        if (r->e.has & EVENT_TS) return take_state(r, t);
        /* fall through */
    default:
        part_count(r->part, 1, 0);
        perfetto_lose(r, CAUSE_UNKNOWN_PHASE, r->e.offset, r->e.name);
        return OK;
    }
}

static status take_end(reader *r, uint32_t i_sequence, track_row *at, int64_t ns, cause why) {
    if (why != CAUSE_NONE) {
        part_lost(r->part, why, r->e.offset, 0);
        return OK;
    }
    return end_range(r, i_sequence, at, ns);
}

/* Before there were clock snapshots, an event gave its distance from the one before. */
static cause old_time(sequence *q, const track_event *t, int64_t *ns, cause why) {
    if (t->absolute_us != ABSENT_I64)
        q->time_us = t->absolute_us;
    else if (t->delta_us != ABSENT_I64)
        q->time_us = add_i64(q->time_us, t->delta_us);
    else
        return why;
    bool fits = q->time_us > -EVENT_TIME_LIMIT / 1000 && q->time_us < EVENT_TIME_LIMIT / 1000;
    *ns = fits ? q->time_us * 1000 : 0;
    return fits ? CAUSE_NONE : CAUSE_NUMBER_RANGE;
}

status events_take(reader *r, uint32_t i_sequence, const packet *k, int64_t ns, cause why) {
    sequence *q = &VEC(&r->sequences, sequence)[i_sequence];
    track_event t;
    TRY(read_event(r, q, k, &t));
    if (!k->has_time) why = old_time(q, &t, &ns, why);
    if (why == CAUSE_NONE) {
        r->last_ns = max_i64(r->last_ns, ns);
        TRY(add_extra(r, q, &t, ns));
    }
    if (t.type == TYPE_COUNTER) return take_counter(r, q, &t, ns, why);
    track_row *at = tracks_resolve(r, q, t.track);
    if (!at) return ERR_MEMORY;
    if (t.type == TYPE_END) return take_end(r, i_sequence, at, ns, why);
    TRY(name_category(r, &t));
    place_event(r, at, ns, why);
    if (!t.type && t.legacy.n) {
        if (t.has_name) name_event(r, &t);
        return take_legacy(r, q, &t);
    }
    name_event(r, &t);
    if (why == CAUSE_RECORDER_FULL) {
        part_count(r->part, 1, 0);
        perfetto_lose(r, why, r->e.offset, r->e.name);
        return OK;
    }
    return take_typed(r, i_sequence, &t);
}

/* ---- the end ---- */

/* Ranges without an end last as long as the trace; so does the last state, which has none. */
static void finish_track(reader *r, track_row *at) {
    leave_state(r, at, r->last_ns, SLICE_UNFINISHED);
    for (uint32_t i = at->open; i; i = range_at(r, i)->next) {
        const open_range *o = range_at(r, i);
        if (o->slice == UINT64_MAX) continue;
        raw_slice *s = part_slice_at(r->part, o->slice);
        s->dur = max_i64(0, sub_i64(r->last_ns, o->time));
        s->flags |= SLICE_UNFINISHED;
        part_lost(r->part, CAUSE_UNMATCHED_BEGIN, NOPOS, s->name);
    }
    for (uint32_t i = at->early; i; i = range_at(r, i)->next)
        part_lost(r->part, CAUSE_UNMATCHED_END, NOPOS, 0);
}

status events_finish(reader *r) {
    for (size_t i = 0; i < r->tracks.n; i++) finish_track(r, &VEC(&r->tracks, track_row)[i]);
    return draw_flows(r);
}
