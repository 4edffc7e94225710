/* seal_memory.c: memory events, instants and counters, by time. A memory event belongs to the
 * innermost operator running on its thread, or, where the producer wants it, the innermost
 * range; or to the range that the producer names. The release of an address is the partner of
 * its last allocation still alive on that device.
 *
 * Events come in the order of time, so for each track a cursor is at the last slice that has
 * begun; what an event belongs to is that slice or, nearly always, one around it. */
#include "base/bisect.h"
#include "base/pages.h"
#include "base/sort.h"
#include "store/builder_int.h"

/* One kind of row of all parts, sorted by time. */
typedef struct {
    const void **rows;
    uint32_t *tracks; /* sealed */
    uint32_t *order;
    size_t n;
} timed_row;

typedef int (*row_cmp)(const void *a, const void *b, const intern *strings);
typedef struct {
    const timed_row *t;
    const intern *strings;
    row_cmp cmp;
} cmp_context;

/* Rows of equal time: what they say decides, never the order in which they were read. */
static int cmp_rows(uint32_t a, uint32_t b, const void *context) {
    const cmp_context *c = context;
    int order = c->cmp(c->t->rows[a], c->t->rows[b], c->strings);
    if (order) return order;
    return c->t->tracks[a] < c->t->tracks[b] ? -1 : c->t->tracks[a] > c->t->tracks[b];
}

static int cmp_i64(int64_t a, int64_t b) {
    return a < b ? -1 : a > b;
}

/* Every kind of row starts with its time. */
static int64_t time_of(const void *row) {
    int64_t time;
    memcpy(&time, row, sizeof time);
    return time;
}

static int cmp_memory(const void *a, const void *b, const intern *strings) {
    const raw_memory *x = a, *y = b;
    (void)strings;
    if (x->tie != y->tie) return x->tie < y->tie ? -1 : 1;
    if (x->device_type != y->device_type) return x->device_type < y->device_type ? -1 : 1;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    if (x->address != y->address) return x->address < y->address ? -1 : 1;
    int c = cmp_i64(x->bytes, y->bytes);
    if (!c) c = cmp_i64(x->allocated, y->allocated);
    return c ? c : cmp_i64(x->reserved, y->reserved);
}

static int cmp_instant(const void *a, const void *b, const intern *strings) {
    const raw_instant *x = a, *y = b;
    int c = str_cmp(intern_get(strings, x->name), intern_get(strings, y->name));
    return c ? c : cmp_i64(x->scope, y->scope);
}

static int cmp_counter(const void *a, const void *b, const intern *strings) {
    const raw_counter *x = a, *y = b;
    int c = str_cmp(intern_get(strings, x->name), intern_get(strings, y->name));
    if (!c) c = str_cmp(intern_get(strings, x->series), intern_get(strings, y->series));
    return c ? c : x->value < y->value ? -1 : x->value > y->value;
}

static void free_timed(timed_row *t) {
    if (t->rows) pages_give(t->rows, (t->n + 1) * sizeof *t->rows);
    if (t->tracks) pages_give(t->tracks, (t->n + 1) * sizeof *t->tracks);
    if (t->order) pages_give(t->order, (2 * t->n + 1) * sizeof *t->order);
}

static const vec *rows_of(const part *p, int table) {
    return table == TABLE_memory    ? &p->memories
           : table == TABLE_instant ? &p->instants
                                    : &p->counters;
}

static uint32_t track_of_row(const void *row, int table) {
    return table == TABLE_memory    ? ((const raw_memory *)row)->track
           : table == TABLE_instant ? ((const raw_instant *)row)->track
                                    : ((const raw_counter *)row)->track;
}

/* Puts rows of one time in the order of cmp. `by_time`: their times, in order. */
static void sort_ties(timed_row *t, const sort_pair *by_time, const cmp_context *c) {
    for (size_t i = 0, end; i < t->n; i = end) {
        for (end = i + 1; end < t->n && by_time[end].key == by_time[i].key;) end++;
        if (end - i > 1) sort_index(t->order + i, t->order + t->n, end - i, cmp_rows, c);
    }
}

/* The rows of all parts with their tracks and times. All that is asked of a row before it is
 * written, in one go: rows are large, and reading them is what takes the time. */
static void list_rows(const seal_ctx *s, int table, timed_row *t, sort_pair *times) {
    size_t n = 0;
    for (uint32_t i = 0; i < s->n_parts; i++) {
        const part *p = s->part_list[i];
        const vec *v = rows_of(p, table);
        for (size_t k = 0; k < v->n; k++, n++) {
            const char *row = (const char *)v->p + k * v->elem_bytes;
            t->rows[n] = row;
            t->tracks[n] = VEC(&p->tracks, part_track_row)[track_of_row(row, table)].sealed;
            /* The sign bit flipped: the order of int64. */
            times[n] = (sort_pair){(uint64_t)time_of(row) ^ 1ull << 63, (uint32_t)n};
        }
    }
}

/* All rows of a table in order of time; most are written that way. */
static status sort_rows(seal_ctx *s, int table, row_cmp cmp, timed_row *t, error *err) {
    for (uint32_t i = 0; i < s->n_parts; i++) t->n += rows_of(s->part_list[i], table)->n;
    if (t->n > UINT32_MAX / 2) FAIL0(err, ERR_LIMIT, NOPOS, MSG_TOO_MANY_ROWS);
    size_t times_bytes = (2 * t->n + 1) * sizeof(sort_pair); /* the second half is scratch */
    sort_pair *times = pages_take(times_bytes);
    t->rows = pages_take((t->n + 1) * sizeof *t->rows);
    t->tracks = pages_take((t->n + 1) * sizeof *t->tracks);
    t->order = pages_take((2 * t->n + 1) * sizeof *t->order); /* here, too */
    bool room = times && t->rows && t->tracks && t->order;
    if (room) {
        list_rows(s, table, t, times);
        sort_radix(times, times + t->n, t->n);
        for (size_t i = 0; i < t->n; i++) t->order[i] = times[i].row;
        sort_ties(t, times, &(cmp_context){t, s->b->strings, cmp});
    }
    if (times) pages_give(times, times_bytes);
    if (!room) FAIL_MEMORY(err);
    return seal_written_table(s, table, t->n + 1, err);
}

/* The last slice of a track that has begun at a time, 0 = none; `cursor` remembers where the
 * last search ended. Times do not fall from one call to the next. */
static uint32_t last_begun(const seal_ctx *s, uint32_t track, int64_t time, uint32_t *cursor) {
    uint32_t i = *cursor ? *cursor : s->track.first[track], end = s->track.end[track];
    while (i < end && s->slice.start[i] <= time) i++;
    *cursor = i;
    return i == s->track.first[track] ? 0 : i - 1;
}

/* The innermost operator at a time, from the last slice that has begun. */
static uint32_t op_at(const seal_ctx *s, uint32_t i, int64_t time) {
    uint32_t range = 0; /* innermost, where events outside operators belong to one */
    for (int level = 0; i && level < MAX_CLIMB; i = s->slice.parent[i], level++) {
        if (time >= s->slice.start[i] + s->slice.dur[i]) continue;
        if (s->slice.kind[i] == KIND_OP) return i;
        if (!range && s->b->memory_in_ranges) range = i;
    }
    return range;
}

/* A producer that says so may round the times of its memory events to whole microseconds. */
enum { OWNER_SLACK_NS = 1000, MAX_TWINS = 256, NEARBY = 64 };

/* The first slice of a track that starts at `start` or later, or its end. */
static uint32_t search_start(const seal_ctx *s, uint32_t track, int64_t start) {
    return SEARCH_FIRST(k, s->track.first[track], s->track.end[track],
                        s->slice.start[k] < start);
}

/* The same, where a slice that starts then is probably `from` or one around it. */
static uint32_t find_start(const seal_ctx *s, uint32_t track, int64_t start, uint32_t from) {
    uint32_t i = from, first = s->track.first[track];
    int n = 0;
    while (i && s->slice.start[i] > start && n++ < NEARBY) i = s->slice.parent[i];
    if (!i || s->slice.start[i] != start) return search_start(s, track, start);
    while (i > first && s->slice.start[i - 1] == start && n++ < NEARBY) i--;
    return i == first || s->slice.start[i - 1] < start ? i : search_start(s, track, start);
}

/* The slice of a track with the start and name that the event names, 0 when there is none or it
 * does not fit. `from`: the last slice that has begun. */
static uint32_t find_owner(const seal_ctx *s, uint32_t track, const raw_memory *m,
                           uint32_t from) {
    uint32_t i = find_start(s, track, m->owner_start, from), end = s->track.end[track];
    for (int n = 0; n < MAX_TWINS && i < end && s->slice.start[i] == m->owner_start; n++, i++)
        if (s->slice.name[i] == m->owner_name)
            return add_i64(m->time, OWNER_SLACK_NS) >= s->slice.start[i] &&
                           sub_i64(m->time, OWNER_SLACK_NS) <=
                               s->slice.start[i] + s->slice.dur[i]
                       ? i
                       : 0;
    return 0;
}

/* The operator around a range, or the range itself. */
static uint32_t op_around(const seal_ctx *s, uint32_t range) {
    uint32_t i = range;
    for (int level = 0; i && level < MAX_CLIMB; i = s->slice.parent[i], level++)
        if (s->slice.kind[i] == KIND_OP) return i;
    return range;
}

/* Rows lie where they were read; those of so many events later are asked for. */
enum { AHEAD = 12 };

static status seal_events(seal_ctx *s, const timed_row *t, error *err) {
    uint32_t *cursor = seal_scratch(s, (size_t)s->track.n + 1, sizeof(uint32_t));
    map alive = {0};
    if (!cursor) FAIL_MEMORY(err);
    status st = OK;
    for (size_t k = 0; k < t->n && st == OK; k++) {
        const raw_memory *m = t->rows[t->order[k]];
        if (k + AHEAD < t->n) {
            const char *later = t->rows[t->order[k + AHEAD]];
            __builtin_prefetch(later);
            __builtin_prefetch(later + sizeof *m - 1);
        }
        uint32_t row = (uint32_t)k + 1, track = t->tracks[t->order[k]];
        s->memory.time[row] = m->time;
        s->memory.track[row] = track;
        uint32_t begun = last_begun(s, track, m->time, &cursor[track]);
        uint32_t range = m->has_owner ? find_owner(s, track, m, begun) : 0;
        s->memory.range[row] = range;
        s->memory.op[row] = range ? op_around(s, range) : op_at(s, begun, m->time);
        s->memory.address[row] = m->address;
        s->memory.bytes[row] = m->bytes;
        s->memory.allocated[row] = m->allocated;
        s->memory.reserved[row] = m->reserved;
        s->memory.device_type[row] = m->device_type;
        s->memory.device[row] = m->device;
        s->memory.kind[row] = m->kind;
        s->memory.args[row] = m->args;
        s->memory.frame[row] = m->frame;
        s->memory.partner[row] = 0; /* its release comes later */
        if ((!m->address && !m->block) || (m->kind > MEMORY_FREE && m->kind != MEMORY_EXISTING))
            continue;
        uint64_t key = hash_pair(m->block ? ~(uint64_t)m->block : m->address,
                                 (uint64_t)m->device_type << 32 | (uint32_t)m->device);
        uint32_t *at = map_at(&alive, key);
        if (!at) {
            st = ERR_MEMORY;
        } else if (m->kind != MEMORY_FREE) {
            *at = row;
        } else if (*at != MAP_NONE && *at) {
            s->memory.partner[row] = *at;
            s->memory.partner[*at] = row;
            *at = 0;
        } else {
            *at = 0;
        }
    }
    map_fini(&alive);
    if (st == ERR_MEMORY) FAIL_MEMORY(err);
    return st;
}

static void fill_instants(seal_ctx *s, const timed_row *t) {
    for (size_t k = 0; k < t->n; k++) {
        const raw_instant *r = t->rows[t->order[k]];
        s->instant.time[k + 1] = r->time;
        s->instant.name[k + 1] = r->name;
        s->instant.track[k + 1] = t->tracks[t->order[k]];
        s->instant.category[k + 1] = r->category;
        s->instant.scope[k + 1] = r->scope;
        s->instant.args[k + 1] = r->args;
    }
}

static void fill_counters(seal_ctx *s, const timed_row *t) {
    for (size_t k = 0; k < t->n; k++) {
        const raw_counter *r = t->rows[t->order[k]];
        uint32_t track = t->tracks[t->order[k]];
        s->counter.time[k + 1] = r->time;
        s->counter.name[k + 1] = r->name;
        s->counter.series[k + 1] = r->series;
        s->counter.track[k + 1] = track;
        s->counter.value[k + 1] = r->value;
        if (s->track.first[track] == s->track.end[track]) s->track.kind[track] = TRACK_COUNTER;
    }
}

status seal_memory(seal_ctx *s, error *err) {
    timed_row memories = {0}, instants = {0}, counters = {0};
    status st = sort_rows(s, TABLE_memory, cmp_memory, &memories, err);
    if (st == OK) st = seal_events(s, &memories, err);
    if (st == OK) st = sort_rows(s, TABLE_instant, cmp_instant, &instants, err);
    if (st == OK) fill_instants(s, &instants);
    if (st == OK) st = sort_rows(s, TABLE_counter, cmp_counter, &counters, err);
    if (st == OK) fill_counters(s, &counters);
    free_timed(&memories);
    free_timed(&instants);
    free_timed(&counters);
    return st;
}
