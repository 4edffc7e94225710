/* perfetto_clock.c: the times of packets.
 *
 * A packet's time is a number of some clock: its own, its sequence's, or the trace's (the time
 * since boot). Snapshots say which numbers of several clocks are the same moment; between two
 * snapshots clocks are assumed to run at the same rate. Clocks 64 to 127 belong to one
 * sequence, and most writers have one whose numbers are differences from packet to packet.
 *
 *     snapshot {boot 1000, real 50 001 000, monotonic 900}   of the whole file
 *     snapshot {boot 1200, 64: 0, differences of 1 ns}        of a sequence, then packets
 *                                                             64: 10, 64: 7, … */
#include "ingest/perfetto/perfetto_int.h"

enum { CLOCK_REAL = 1, CLOCK_BOOT = 6, OWN_FIRST = 64, OWN_LAST = 127 };

typedef struct {
    uint32_t id;
    bool incremental;
    uint64_t unit_ns, value;
} reading;

typedef struct {
    reading all[MAX_CLOCKS];
    size_t n;
    uint32_t primary; /* 0: not said */
} readings;

static void read_clock(str body, reading *out) {
    pb_reader w = pb_open(body);
    pb_field f;
    *out = (reading){.unit_ns = 1};
    while (pb_next(&w, &f)) {
        if (f.tag == PB_VARINT(1)) out->id = sat_u32(f.v);
        if (f.tag == PB_VARINT(2)) out->value = f.v;
        if (f.tag == PB_VARINT(3)) out->incremental = f.v != 0;
        if (f.tag == PB_VARINT(4) && f.v) out->unit_ns = f.v;
    }
}

static void read_snapshot(str body, readings *out) {
    pb_reader w = pb_open(body);
    pb_field f;
    *out = (readings){.n = 0};
    while (pb_next(&w, &f)) {
        if (f.tag == PB_BYTES(1) && out->n < MAX_CLOCKS)
            read_clock(pb_bytes(&f), &out->all[out->n++]);
        if (f.tag == PB_VARINT(2)) out->primary = sat_u32(f.v);
    }
}

static bool is_own(uint32_t id) {
    return id >= OWN_FIRST && id <= OWN_LAST;
}

/* false when it does not fit. */
static bool in_ns(uint64_t value, uint64_t unit_ns, int64_t *ns) {
    uint64_t product;
    if (__builtin_mul_overflow(value, unit_ns, &product) || product > INT64_MAX) return false;
    *ns = (int64_t)product;
    return true;
}

/* NULL when it is not known, and there is no room for it when `fresh`. */
static clock_row *find_clock(reader *r, uint32_t id, sequence *q, bool fresh) {
    bool own = is_own(id);
    clock_row *all = own ? q->own : VEC(&r->clocks, clock_row), *c = NULL;
    size_t n = own ? OWN_CLOCKS : r->clocks.n;
    for (size_t i = 0; i < n; i++) {
        if (all[i].id == id) return &all[i];
        if (!all[i].id && !c) c = &all[i];
    }
    if (!fresh) return NULL;
    if (!own) c = r->clocks.n < MAX_CLOCKS ? vec_push(&r->clocks) : NULL;
    if (c) *c = (clock_row){.id = id, .unit_ns = 1, .points = VEC_INIT(clock_point)};
    return c;
}

/* By the last point that is not after it, else by the first. */
static void convert(const clock_row *c, int64_t clock_ns, int64_t *trace_ns) {
    const clock_point *all = VEC(&c->points, clock_point);
    size_t low = 0, high = c->points.n;
    if (!high) { /* of a sequence */
        *trace_ns = add_i64(c->point.trace_ns, sub_i64(clock_ns, c->point.clock_ns));
        return;
    }
    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;
        *(all[mid].clock_ns <= clock_ns ? &low : &high) = mid;
    }
    *trace_ns = add_i64(all[low].trace_ns, sub_i64(clock_ns, all[low].clock_ns));
}

/* The moment of a snapshot by the trace's clock: as it says itself, or by a clock known from
 * others. */
static bool find_moment(reader *r, const readings *s, int64_t *trace_ns) {
    int64_t ns;
    for (size_t i = 0; i < s->n; i++)
        if (s->all[i].id == r->trace_clock)
            return in_ns(s->all[i].value, s->all[i].unit_ns, trace_ns);
    for (size_t i = 0; i < s->n; i++) {
        const clock_row *c =
            is_own(s->all[i].id) ? NULL : find_clock(r, s->all[i].id, NULL, false);
        if (!c || !in_ns(s->all[i].value, s->all[i].unit_ns, &ns)) continue;
        convert(c, ns, trace_ns);
        return true;
    }
    return false;
}

static status add_point(clock_row *c, bool own, clock_point p) {
    const clock_point *all = VEC(&c->points, clock_point);
    c->point = p;
    if (own || (c->points.n && all[c->points.n - 1].clock_ns >= p.clock_ns)) return OK;
    clock_point *to = vec_push(&c->points);
    if (!to) return ERR_MEMORY;
    *to = p;
    return OK;
}

/* Learns the clocks of a sequence from a snapshot, or (NULL) those of the whole file. */
static status learn(reader *r, const readings *s, sequence *q) {
    int64_t moment, ns;
    if (!find_moment(r, s, &moment)) return OK;
    for (size_t i = 0; i < s->n; i++) {
        const reading *one = &s->all[i];
        if (is_own(one->id) != (q != NULL) || !one->id || one->id == r->trace_clock) continue;
        if (!in_ns(one->value, one->unit_ns, &ns)) continue;
        clock_row *c = find_clock(r, one->id, q, true);
        if (!c && !q && r->clocks.n < MAX_CLOCKS) return ERR_MEMORY;
        if (!c) continue;
        c->incremental = one->incremental;
        c->unit_ns = one->unit_ns;
        c->last_ns = ns;
        TRY(add_point(c, q != NULL, (clock_point){ns, moment}));
    }
    return OK;
}

/* What a snapshot calls primary; else the time since boot, where any has it; else the first
 * clock of the first. */
static uint32_t choose_clock(const reader *r) {
    readings s;
    uint32_t first = 0;
    bool boot = false;
    for (size_t i = 0; i < r->snapshots.n; i++) {
        read_snapshot(VEC(&r->snapshots, str)[i], &s);
        if (s.primary) return s.primary;
        for (size_t k = 0; k < s.n; k++) {
            boot |= s.all[k].id == CLOCK_BOOT;
            if (!first && !is_own(s.all[k].id)) first = s.all[k].id;
        }
    }
    return boot || !first ? (uint32_t)CLOCK_BOOT : first;
}

status clocks_begin(reader *r) {
    readings s;
    r->trace_clock = choose_clock(r);
    for (size_t i = 0; i < r->snapshots.n; i++) {
        read_snapshot(VEC(&r->snapshots, str)[i], &s);
        TRY(learn(r, &s, NULL));
    }
    return OK;
}

status clocks_take(reader *r, uint32_t i_sequence, str snapshot) {
    readings s;
    read_snapshot(snapshot, &s);
    return learn(r, &s, &VEC(&r->sequences, sequence)[i_sequence]);
}

int64_t clocks_base(reader *r) {
    if (r->trace_clock == CLOCK_REAL) return 0;
    const clock_row *c = find_clock(r, CLOCK_REAL, NULL, false);
    if (!c || !c->points.n) return ABSENT_I64;
    const clock_point *p = VEC(&c->points, clock_point);
    return sub_i64(p->clock_ns, p->trace_ns);
}

cause clocks_time(reader *r, uint32_t i_sequence, const packet *k, int64_t *ns) {
    sequence *q = &VEC(&r->sequences, sequence)[i_sequence];
    uint32_t id = k->clock ? k->clock : q->clock ? q->clock : (uint32_t)CLOCK_BOOT;
    clock_row *c = find_clock(r, id, q, false);
    int64_t value;
    if (!k->has_time) return CAUSE_MISSING_TIME;
    if (!in_ns(k->timestamp, c ? c->unit_ns : 1, &value)) return CAUSE_NUMBER_RANGE;
    *ns = value;
    if (id == r->trace_clock) return CAUSE_NONE;
    /* Nothing says how the clocks relate: they are treated as the trace's. */
    if (!c) return r->snapshots.n && id != CLOCK_BOOT ? CAUSE_MISSING_TIME : CAUSE_NONE;
    if (c->incremental) {
        if (q->lost) return CAUSE_RECORDER_FULL; /* how far it has come is not known */
        value = c->last_ns = add_i64(c->last_ns, value);
    }
    convert(c, value, ns);
    return CAUSE_NONE;
}
