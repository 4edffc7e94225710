/* xplane_wire.c: planes, lines, events and stats out of bytes.
 *
 *     XSpace   1 plane…  4 hostname…
 *       XPlane   1 id  2 name  3 line…  4 event metadata…  5 stat metadata…  6 stat…
 *         XLine    1 id  2 name  3 timestamp_ns  4 event…  11 display name
 *           XEvent   1 metadata  2 offset_ps  3 duration_ps  4 stat…
 *             XStat    1 metadata  2 double  3 uint64  4 int64  5 text  6 bytes  7 reference
 *
 * Names are numbers that belong to the plane, and the table of them comes after the lines: so
 * a plane is walked twice, first for its tables. A reference is the name of another stat. Zero
 * is not written. Times are picoseconds from the line's own start; both ends are rounded down
 * to nanoseconds, so that what is inside a range stays inside it.
 *
 * Of a file that was cut, the plane and the line that the cut went through are read as far as
 * they go. Where the tables are lost, events are called by their numbers. */
#include <stdio.h>

#include "base/num.h"
#include "ingest/xplane/xplane_int.h"

uint32_t xplane_string(reader *r, str s) {
    uint32_t id = intern_add(r->strings, s.p ? s : STR(""));
    r->failed |= id == UINT32_MAX;
    return id == UINT32_MAX ? 0 : id;
}

void xplane_lose(reader *r, cause why, uint64_t offset, bool dropped, uint32_t example) {
    if (r->again) return;
    part_lost(r->part, why, offset, example);
    if (dropped) part_count(r->part, 0, 1);
}

bool walk_next(walker *w, pb_field *f) {
    bool cut = false;
    if (w->p == w->end || w->cut || w->damaged) return false;
    const char *p = pb_head(w->p, w->end, f, &cut);
    if (!p) {
        w->cut = cut;
        w->damaged = !cut;
        w->p = w->end;
        return false;
    }
    f->p = p;
    if ((f->tag & 7) == WIRE_BYTES) {
        uint64_t left = (uint64_t)(w->end - p);
        w->cut = f->v > left;
        if (w->cut) f->v = left;
        p += f->v;
    }
    w->p = p;
    return true;
}

/* ---- planes ---- */

static int32_t number_in(str name, size_t at) {
    int32_t n = 0;
    for (size_t i = at; i < name.n && name.p[i] >= '0' && name.p[i] <= '9' && i < at + 8; i++)
        n = n * 10 + (name.p[i] - '0');
    return n;
}

static void name_plane(const reader *r, plane *p) {
    static const struct {
        str front;
        plane_role role;
    } roles[] = {{STR("/device:GPU:"), PLANE_GPU},
                 {STR("/device:TPU:"), PLANE_TPU},
                 {STR("/host:metadata"), PLANE_PROGRAMS},
                 {STR("/host:__ScopeRangeCallStack__"), PLANE_SCOPES},
                 {STR("Task Environment"), PLANE_TASK},
                 {STR("/device:"), PLANE_OTHER},
                 {STR("#Chip"), PLANE_OTHER}};
    p->role = PLANE_HOST;
    p->device = ABSENT_I32;
    p->pid = r->in ? r->in->pid : PID_HOST; /* all: calls and threads of one process */
    for (size_t i = 0; i < N_OF(roles); i++) {
        if (!str_starts(p->name, roles[i].front)) continue;
        p->role = roles[i].role;
        if (p->role == PLANE_GPU || p->role == PLANE_TPU)
            p->device = number_in(p->name, roles[i].front.n);
        /* The sparse cores of a TPU are separate from its own: "/device:TPU:0 SparseCore 1". */
        bool is_sparse = p->role == PLANE_TPU && str_find(p->name, STR(" "), 0) != SIZE_MAX;
        if (is_sparse) p->role = PLANE_OTHER;
        p->pid = p->role == PLANE_OTHER ? PID_OTHER + (int64_t)r->planes.n
                 : r->in                ? p->device /* as recordings number their own */
                                        : PID_DEVICE + (int64_t)p->device;
        return;
    }
}

status xplane_index(reader *r) {
    str all = buf_str(&r->file);
    walker w = walk_open(all);
    pb_field f, g;
    while (walk_next(&w, &f)) {
        if (f.tag != PB_BYTES(1)) continue;
        plane p = {.body = pb_bytes(&f), .offset = (uint64_t)(f.p - all.p)};
        walker inside = walk_open(p.body);
        while (!p.name.p && walk_next(&inside, &g))
            if (g.tag == PB_BYTES(2)) p.name = pb_bytes(&g);
        p.stats = VEC_INIT(stat_meta);
        p.events = VEC_INIT(event_meta);
        name_plane(r, &p);
        plane *to = vec_push(&r->planes);
        if (!to) return ERR_MEMORY;
        *to = p;
    }
    if (w.cut || w.damaged)
        xplane_lose(r, w.cut ? CAUSE_TRUNCATED : CAUSE_BAD_SYNTAX, (uint64_t)(w.p - all.p),
                    false, 0);
    return OK;
}

/* ---- metadata ---- */

static stat_id find_stat(str name) {
    static const str names[N_STATS] = {
        [STAT_NONE] = STR(""),
#define STAT(id, name) [STAT_##id] = STR(name),
#include "ingest/xplane/xplane_stats.def"
    };
    for (int i = STAT_NONE + 1; i < N_STATS; i++)
        if (str_eq(names[i], name)) return (stat_id)i;
    return STAT_NONE;
}

/* An entry of a map: key 1, value 2, whose own id is the same. */
static bool read_entry(str entry, uint64_t *key, str *value) {
    pb_reader in = pb_open(entry);
    pb_field f;
    *key = 0;
    *value = str_n("", 0);
    while (pb_next(&in, &f)) {
        if (f.tag == PB_VARINT(1)) *key = f.v;
        if (f.tag == PB_BYTES(2)) *value = pb_bytes(&f);
    }
    return !in.damaged;
}

static status add_stat_meta(reader *r, plane *p, str entry) {
    uint64_t key;
    str value, name = str_n("", 0);
    if (!read_entry(entry, &key, &value)) return OK;
    pb_reader in = pb_open(value);
    pb_field f;
    while (pb_next(&in, &f))
        if (f.tag == PB_BYTES(2)) name = pb_bytes(&f);
    stat_meta *row = vec_push(&p->stats);
    uint32_t *at = map_at(&p->stat_rows, key);
    if (!row || !at) return ERR_MEMORY;
    *row = (stat_meta){.name = xplane_string(r, name), .known = find_stat(name)};
    *at = (uint32_t)(p->stats.n - 1);
    return OK;
}

/* "$train.py:12 step" → "train.py(12): step", as frames are called everywhere; other names of
 * Python's tracer ("$builtins len") without their mark. */
static uint32_t python_name(reader *r, str name) {
    char text[600];
    size_t space = str_find(name, STR(" "), 0);
    str place = str_n(name.p + 1, (space == SIZE_MAX ? name.n : space) - 1);
    size_t colon = str_rfind_byte(place, ':');
    int64_t number;
    if (space == SIZE_MAX || colon == SIZE_MAX || name.n > 512 ||
        !str_to_i64(str_from(place, colon + 1), &number))
        return xplane_string(r, str_from(name, 1));
    int n = snprintf(text, sizeof text, "%.*s(%.*s): %.*s", (int)colon, place.p,
                     STR_ARG(str_from(place, colon + 1)), STR_ARG(str_from(name, space + 1)));
    return xplane_string(r, str_n(text, (size_t)n));
}

static uint32_t event_name(reader *r, str name, event_meta *meta) {
    meta->python = name.n > 1 && name.p[0] == '$';
    return meta->python ? python_name(r, name) : xplane_string(r, name);
}

static status add_event_meta(reader *r, plane *p, str entry) {
    uint64_t key;
    event_meta meta = {.name = 0};
    if (!read_entry(entry, &key, &meta.message)) return OK;
    pb_reader in = pb_open(meta.message);
    pb_field f;
    while (pb_next(&in, &f)) {
        if (f.tag == PB_BYTES(2)) meta.name = event_name(r, pb_bytes(&f), &meta);
        if (f.tag == PB_BYTES(4)) meta.display = xplane_string(r, pb_bytes(&f));
        meta.has_stats |= f.tag == PB_BYTES(5);
    }
    event_meta *row = vec_push(&p->events);
    uint32_t *at = map_at(&p->event_rows, key);
    if (!row || !at) return ERR_MEMORY;
    *row = meta;
    *at = (uint32_t)(p->events.n - 1);
    return OK;
}

status plane_open(reader *r, plane *p) {
    walker w = walk_open(p->body);
    pb_field f;
    status st = OK;
    while (st == OK && walk_next(&w, &f)) {
        if (f.tag == PB_BYTES(4)) st = add_event_meta(r, p, pb_bytes(&f));
        if (f.tag == PB_BYTES(5)) st = add_stat_meta(r, p, pb_bytes(&f));
    }
    if (w.damaged) xplane_lose(r, CAUSE_BAD_SYNTAX, p->offset, false, 0);
    return st == OK && r->failed ? ERR_MEMORY : st;
}

void plane_close(plane *p) {
    vec_fini(&p->stats);
    vec_fini(&p->events);
    map_fini(&p->stat_rows);
    map_fini(&p->event_rows);
    p->stats = VEC_INIT(stat_meta);
    p->events = VEC_INIT(event_meta);
    p->stat_rows = p->event_rows = (map){0};
}

/* ---- lines and events ---- */

void line_read(const reader *r, const plane *p, str body, line *out) {
    walker w = walk_open(body);
    pb_field f;
    str display = STR_NONE;
    (void)p;
    *out = (line){.body = body, .name = str_n("", 0)};
    out->offset = (uint64_t)(body.p - buf_str(&r->file).p);
    while (walk_next(&w, &f)) switch (f.tag) {
        case PB_VARINT(1): out->id = (int64_t)f.v; break;
        case PB_BYTES(2): out->name = pb_bytes(&f); break;
        case PB_VARINT(3): out->timestamp_ns = (int64_t)f.v; break;
        case PB_BYTES(11): display = pb_bytes(&f); break;
        default: break;
        }
    if (display.n && !out->name.n) out->name = display;
    /* Absolute times: some writers keep the promise of the schema. */
    if (out->timestamp_ns > 1000000000000000000 && r->zero_ns != ABSENT_I64)
        out->timestamp_ns = sub_i64(out->timestamp_ns, r->zero_ns);
}

static int64_t floor_thousandth(int64_t v) {
    return v >= 0 ? v / 1000 : -((-v + 999) / 1000);
}

/* An event whose name is lost is called by its number. */
static bool find_meta(reader *r, plane *p, uint64_t id, event *out) {
    char text[40];
    uint32_t *at = map_at(&p->event_rows, id);
    if (at && *at != MAP_NONE) {
        out->row = *at;
        out->meta = &VEC(&p->events, event_meta)[*at];
        return true;
    }
    event_meta *row = at ? vec_push(&p->events) : NULL;
    r->failed |= !row;
    if (!row) return false;
    int n = snprintf(text, sizeof text, "event %llu", (unsigned long long)id);
    *row =
        (event_meta){.name = xplane_string(r, str_n(text, (size_t)n)), .message = str_n("", 0)};
    out->row = *at = (uint32_t)(p->events.n - 1);
    out->meta = row;
    xplane_lose(r, CAUSE_MISSING_NAME, out->offset, false, row->name);
    return true;
}

/* Times of an event; false when there are no such, and that is counted. */
static bool set_times(reader *r, const line *l, int64_t offset_ps, int64_t dur_ps, event *e) {
    static const int64_t limit = (int64_t)1 << 61;
    int64_t end_ps;
    bool fits = offset_ps > -limit && offset_ps < limit && dur_ps < limit &&
                l->timestamp_ns > -limit && l->timestamp_ns < limit;
    if (dur_ps < 0 || !fits || __builtin_add_overflow(offset_ps, dur_ps, &end_ps)) {
        xplane_lose(r, dur_ps < 0 ? CAUSE_NEGATIVE_DURATION : CAUSE_NUMBER_RANGE, e->offset,
                    true, e->meta->name);
        return false;
    }
    int64_t start = floor_thousandth(offset_ps);
    e->start = add_i64(add_i64(l->timestamp_ns, start), r->shift_ns);
    e->dur = floor_thousandth(end_ps) - start;
    return true;
}

/* Fields of an event but its stats; false when it is damaged or a sum of several. */
static bool read_event(reader *r, plane *p, const line *l, str body, event *out) {
    uint64_t id = 0;
    int64_t offset_ps = 0, dur_ps = 0;
    bool sum = false;
    pb_reader in = pb_open(body);
    pb_field f;
    while (pb_next(&in, &f)) switch (f.tag) {
        case PB_VARINT(1): id = f.v; break;
        case PB_VARINT(2): offset_ps = (int64_t)f.v; break;
        case PB_VARINT(3): dur_ps = (int64_t)f.v; break;
        case PB_VARINT(5): sum = true; break;
        default: break;
        }
    out->body = body;
    out->offset = (uint64_t)(body.p - buf_str(&r->file).p);
    if (!r->again) part_count(r->part, 1, 0);
    r->n_events++;
    if (in.damaged) {
        xplane_lose(r, CAUSE_BAD_SYNTAX, out->offset, true, 0);
        return false;
    }
    if (sum) { /* how often, and not when */
        xplane_lose(r, CAUSE_MISSING_TIME, out->offset, true, 0);
        return false;
    }
    return find_meta(r, p, id, out) && set_times(r, l, offset_ps, dur_ps, out);
}

bool line_next(reader *r, plane *p, const line *l, walker *w, event *out) {
    pb_field f;
    while (!r->failed && walk_next(w, &f)) {
        if (f.tag != PB_BYTES(4)) continue;
        if (w->cut) { /* what is left of it says nothing that could be trusted */
            if (!r->again) part_count(r->part, 1, 1);
            return false;
        }
        if (read_event(r, p, l, pb_bytes(&f), out)) return true;
    }
    if (w->damaged) xplane_lose(r, CAUSE_BAD_SYNTAX, l->offset, false, 0);
    return false;
}

/* ---- stats ---- */

/* The place of `key` after `place` in a record, remembered. */
static uint32_t place_after(reader *r, uint32_t place, uint32_t key) {
    uint64_t both = (uint64_t)place << 32 | key;
    uint32_t *at = map_at(&r->places, both);
    if (!at) return 0;
    if (*at == MAP_NONE) *at = builder_shape(r->b, place, key);
    return *at;
}

static bool read_stat(const plane *p, str message, uint64_t *meta, stat_value *v) {
    pb_reader in = pb_open(message);
    pb_field f;
    *meta = 0;
    *v = (stat_value){.type = STAT_MISSING};
    while (pb_next(&in, &f)) switch (f.tag) {
        case PB_VARINT(1): *meta = f.v; break;
        case PB_TAG(2, WIRE_FIXED64):
            v->type = STAT_REAL;
            memcpy(&v->f, &f.v, sizeof v->f);
            break;
        case PB_VARINT(3):
        case PB_VARINT(4):
            v->type = STAT_INT;
            v->i = (int64_t)f.v;
            break;
        case PB_BYTES(5):
            v->type = STAT_TEXT;
            v->s = pb_bytes(&f);
            break;
        case PB_BYTES(6):
            v->type = STAT_BYTES;
            v->s = pb_bytes(&f);
            break;
        case PB_VARINT(7): {
            uint32_t row = map_get(&p->stat_rows, f.v);
            if (row == MAP_NONE) break;
            v->type = STAT_TEXT;
            v->id = VEC(&p->stats, stat_meta)[row].name;
            break;
        }
        default: break;
        }
    return !in.damaged && v->type != STAT_MISSING;
}

static void add_argument(reader *r, uint32_t key, const stat_value *v) {
    stat_set *s = &r->set;
    raw_value value = {.tag = VALUE_INT, .v = v->i};
    char text[40];
    if (s->n_args == MAX_VALUES || v->type == STAT_BYTES) return;
    if (v->type == STAT_TEXT) {
        value.tag = VALUE_STRING;
        value.v = v->id ? v->id : xplane_string(r, v->s);
    } else if (v->type == STAT_REAL) {
        int n = snprintf(text, sizeof text, "%.9g", v->f);
        bool finite = v->f - v->f == 0;
        value.tag = finite ? VALUE_RAW : VALUE_STRING;
        value.v = xplane_string(r, str_n(text, (size_t)n));
    }
    value.place = place_after(r, s->n_args ? s->args[s->n_args - 1].place : 0, key);
    r->failed |= value.place == 0;
    s->keys[s->n_args] = key;
    s->args[s->n_args++] = value;
}

/* One stat into r->set; the first of a name counts. */
static void take_stat(reader *r, plane *p, str message, bool keep) {
    uint64_t id;
    stat_value v;
    if (!read_stat(p, message, &id, &v)) return;
    uint32_t row = map_get(&p->stat_rows, id);
    if (row == MAP_NONE) return;
    stat_meta *meta = &VEC(&p->stats, stat_meta)[row];
    if (meta->seen == r->n_events + 1) return;
    meta->seen = r->n_events + 1;
    if (v.id) v.s = intern_get(r->strings, v.id);
    if (meta->known) {
        r->set.has |= (uint64_t)1 << meta->known;
        r->set.v[meta->known] = v;
    }
    if (keep && meta->name) add_argument(r, meta->name, &v);
}

static void take_stats(reader *r, plane *p, str message, uint32_t number, bool keep) {
    pb_reader in = pb_open(message);
    pb_field f;
    while (pb_next(&in, &f))
        if (f.tag == PB_BYTES(number)) take_stat(r, p, pb_bytes(&f), keep);
}

status event_stats(reader *r, plane *p, const event *e) {
    r->set.has = 0;
    r->set.n_args = 0;
    take_stats(r, p, e->body, 4, true);
    if (e->meta->has_stats) take_stats(r, p, e->meta->message, 5, true);
    return r->failed ? ERR_MEMORY : OK;
}

status message_stats(reader *r, plane *p, str message, uint32_t number) {
    r->n_events++;
    r->set.has = 0;
    r->set.n_args = 0;
    take_stats(r, p, message, number, false);
    return r->failed ? ERR_MEMORY : OK;
}

status plane_stats(reader *r, plane *p) {
    walker w = walk_open(p->body);
    pb_field f;
    r->n_events++;
    r->set.has = 0;
    r->set.n_args = 0;
    while (walk_next(&w, &f))
        if (f.tag == PB_BYTES(6) && !w.cut) take_stat(r, p, pb_bytes(&f), true);
    return r->failed ? ERR_MEMORY : OK;
}

void event_argument(reader *r, const char *key, uint32_t text) {
    stat_value v = {.type = STAT_TEXT, .id = text};
    if (text) add_argument(r, xplane_string(r, str_of(key)), &v);
}

uint32_t event_args(reader *r) {
    return r->set.n_args ? part_args(r->part, r->set.args, r->set.n_args) : 0;
}

uint32_t stat_string(reader *r, stat_id id) {
    str s = stat_text(&r->set, id);
    if (!s.n) return 0;
    return r->set.v[id].id ? r->set.v[id].id : xplane_string(r, s);
}

/* ---- tracks ---- */

status xplane_label(reader *r, int64_t pid, ident tid, label_kind kind, int64_t value) {
    raw_label l = {.pid = {pid, false},
                   .tid = tid,
                   .value = value,
                   .offset = r->n_events,
                   .kind = (uint8_t)kind};
    return part_label(r->part, &l);
}

str line_name(const line *l) {
    char text[32];
    int n = snprintf(text, sizeof text, "/%lld", (long long)l->id);
    str end = str_n(text, (size_t)n);
    return l->name.n > end.n && str_ends(l->name, end) ? str_n(l->name.p, l->name.n - end.n)
                                                       : l->name;
}

/* Threads of Python and of pools have a hash as id, which no one can read: they are named by
 * their names, numbered where there are several. */
static ident name_thread(reader *r, const plane *p, const line *l) {
    char text[280];
    uint32_t *known = map_at(&r->line_map, hash_pair((uint64_t)p->pid, (uint64_t)l->id));
    str name = line_name(l);
    r->failed |= !known;
    if (known && *known == MAP_NONE) {
        uint32_t id = xplane_string(r, name.n < 256 ? name : str_n(name.p, 256));
        *known = id;
        uint32_t *n = map_at(&r->name_map, hash_pair((uint64_t)p->pid, id));
        r->failed |= !n;
        if (n) *n = *n == MAP_NONE ? 1 : *n + 1;
        if (n && *n > 1) {
            int size = snprintf(text, sizeof text, "%.*s %u",
                                STR_ARG(intern_get(r->strings, id)), (unsigned)*n);
            *known = xplane_string(r, str_n(text, (size_t)size));
        }
    }
    return (ident){known ? *known : 0, true};
}

uint32_t line_track(reader *r, const plane *p, const line *l) {
    uint32_t system = map_get(&r->tid_map, hash_pair((uint64_t)p->pid, (uint64_t)l->id));
    if (system != MAP_NONE)
        return part_track(r->part, (ident){p->pid, false}, (ident){system, false});
    bool hashed = p->role == PLANE_HOST && l->name.n && (l->id < 0 || l->id > UINT32_MAX);
    ident tid = hashed ? name_thread(r, p, l) : (ident){l->id, false};
    uint32_t track = part_track(r->part, (ident){p->pid, false}, tid);
    if (track == UINT32_MAX || r->failed) return UINT32_MAX;
    int64_t name = hashed ? tid.v : xplane_string(r, l->name);
    status st = xplane_label(r, p->pid, tid, LABEL_THREAD_NAME, name);
    if (st == OK && p->device != ABSENT_I32)
        st = xplane_label(r, p->pid, tid, LABEL_THREAD_DEVICE, p->device);
    return st == OK && !r->failed ? track : UINT32_MAX;
}
