/* memory.c: does it fit, does it grow, what holds it.
 *
 *   curve          allocated and reserved after each event that carries the totals
 *   peaks          for each device the first moment of the largest allocated, with the capacity
 *   parts          what the peak is made of: weights, activations, … (memory_split.c)
 *   growth         what rises from step to step (memory_growth.c)
 *   oom            why an allocation failed (memory_oom.c)
 *   peak_contents  what was alive then, contents: at a moment of choice (memory_contents.c)
 *   events         blocks: allocated, released, or both, by time; a window shows those that
 *                  were allocated or released inside it
 *   statistics     memory_stats.c
 *
 * Everything is one pass over the memory events, which are in order of time. */
#include <string.h>

#include "analyse/questions/memory_oom.h"
#include "analyse/questions/memory_split.h"
#include "analyse/rules.h"
#include "base/message_ids_advice.h"
#include "base/sort.h"

#define COL_M(table, name) COL(memory, table, name)

/* ---- curve and peaks --------------------------------------------------------------------- */

static status add_point(memory_view *m, table *out, uint32_t i, error *err) {
    const trace *t = m->t;
    int64_t reserved = t->memory.reserved[i];
    size_t row;
    TRY(table_add_row(out, &row, err));
    table_set_int(out, row, COL_M(curve, time), sub_i64(t->memory.time[i], t->start_ns));
    table_set_text(out, row, COL_M(curve, device), memory_device_of(m, i)->name);
    table_set_int(out, row, COL_M(curve, allocated), t->memory.allocated[i]);
    if (reserved != ABSENT_I64) table_set_int(out, row, COL_M(curve, reserved), reserved);
    return OK;
}

/* A stretch of the curve of a device that is drawn as few points: its largest, its smallest and
 * its last one say what can be seen of it. */
typedef struct {
    uint32_t largest, smallest, last; /* rows; 0 = none yet */
    int64_t end_ns;
} stretch;

static status end_stretch(memory_view *m, table *out, stretch *s, error *err) {
    uint32_t rows[3] = {s->largest, s->smallest, s->last};
    for (uint32_t row = 0, i = 0; i < 3; i++) { /* each once, by time */
        uint32_t next = UINT32_MAX;
        for (int k = 0; k < 3; k++)
            if (rows[k] > row && rows[k] < next) next = rows[k];
        if (next == UINT32_MAX) break;
        TRY(add_point(m, out, next, err));
        row = next;
    }
    *s = (stretch){.end_ns = s->end_ns};
    return OK;
}

/* The points of the curve: all, or about as many for each device as a reader can draw. */
static status write_points(memory_view *m, table *out, int64_t width_ns, error *err) {
    const trace *t = m->t;
    stretch *open = ARENA_ARRAY(m->arena, stretch, (size_t)m->devices.n + 1);
    if (!open) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->memory.n; i++) {
        if (t->memory.allocated[i] == ABSENT_I64 || !memory_is_selected(m, i)) continue;
        stretch *s = &open[m->device_of[i]];
        if (s->last && t->memory.time[i] >= s->end_ns) TRY(end_stretch(m, out, s, err));
        if (!s->last) {
            int64_t since = sub_i64(t->memory.time[i], t->start_ns);
            s->end_ns = add_i64(t->start_ns, mul_i64(add_i64(since / width_ns, 1), width_ns));
            s->largest = s->smallest = i;
        }
        if (t->memory.allocated[i] > t->memory.allocated[s->largest]) s->largest = i;
        if (t->memory.allocated[i] < t->memory.allocated[s->smallest]) s->smallest = i;
        s->last = i;
    }
    for (uint32_t d = 0; d < m->devices.n; d++) TRY(end_stretch(m, out, &open[d], err));
    return table_sort(out, COL_M(curve, time), false, err);
}

static status write_curve(memory_view *m, const params *p, error *err) {
    const trace *t = m->t;
    int64_t points = 0;
    table *out = answer_table(m->out, m->arena, "curve");
    if (!out) FAIL_MEMORY(err);
    TRY(param_count(p, STR("points"), &points, err));
    if (points > 0) {
        int64_t from = max_i64(t->start_ns, m->select.from_ns);
        int64_t whole = sub_i64(min_i64(t->end_ns, m->select.to_ns), from);
        return write_points(m, out, max_i64(1, whole / points), err);
    }
    for (uint32_t i = 1; i < t->memory.n; i++)
        if (t->memory.allocated[i] != ABSENT_I64 && memory_is_selected(m, i))
            TRY(add_point(m, out, i, err));
    return OK;
}

static int compare_devices(uint32_t a, uint32_t b, const void *context) {
    const memory_view *m = context;
    const memory_device *x = GROUP_ROW(&m->devices, memory_device, a);
    const memory_device *y = GROUP_ROW(&m->devices, memory_device, b);
    if ((x->type == DEVICE_CPU) != (y->type == DEVICE_CPU))
        return x->type == DEVICE_CPU ? 1 : -1;
    if (x->type != y->type) return x->type < y->type ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Devices in the order a reader wants them: accelerators by number, then the host. */
static uint32_t *order_devices(const memory_view *m) {
    uint32_t *order = groups_order(&m->devices), *scratch = groups_order(&m->devices);
    if (!order || !scratch) return NULL;
    sort_index(order, scratch, m->devices.n, compare_devices, m);
    return order;
}

static status write_peaks(memory_view *m, const uint32_t *order, error *err) {
    table *out = answer_table(m->out, m->arena, "peaks");
    if (!out) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < m->devices.n; i++) {
        const memory_device *d = GROUP_ROW(&m->devices, memory_device, order[i]);
        size_t row;
        if (!d->has_totals) continue;
        TRY(table_add_row(out, &row, err));
        table_set_text(out, row, COL_M(peaks, device), d->name);
        table_set_int(out, row, COL_M(peaks, time),
                      sub_i64(m->t->memory.time[d->peak_row], m->t->start_ns));
        table_set_int(out, row, COL_M(peaks, allocated), d->peak);
        if (d->peak_reserved != ABSENT_I64)
            table_set_int(out, row, COL_M(peaks, reserved), d->peak_reserved);
        if (d->capacity != ABSENT_I64)
            table_set_int(out, row, COL_M(peaks, capacity), d->capacity);
        /* Less reserved than allocated: the producer counts them apart (Paddle on the host). */
        if (d->peak_reserved != ABSENT_I64 && d->peak_reserved >= d->peak)
            table_set_int(out, row, COL_M(peaks, unused), sub_i64(d->peak_reserved, d->peak));
        if (d->before != ABSENT_I64) table_set_int(out, row, COL_M(peaks, before), d->before);
    }
    return OK;
}

/* ---- blocks ------------------------------------------------------------------------------ */

static str kind_word(uint8_t kind) {
    switch (kind) {
    case MEMORY_ALLOC: return STR("allocation");
    case MEMORY_FREE: return STR("release");
    case MEMORY_SEGMENT_ALLOC: return STR("segment_allocation");
    case MEMORY_SEGMENT_FREE: return STR("segment_release");
    case MEMORY_OOM: return STR("out_of_memory");
    case MEMORY_EXISTING: return STR("existing");
    case MEMORY_SEGMENT_EXISTING: return STR("existing_segment");
    default: return STR("other");
    }
}

/* One row for a block: written at its allocation, or at its release when that is all there
 * is. */
static status write_block(memory_view *m, table *out, uint32_t i, error *err) {
    const trace *t = m->t;
    uint8_t kind = t->memory.kind[i];
    bool is_end = kind == MEMORY_FREE || kind == MEMORY_SEGMENT_FREE;
    uint32_t release = is_end ? i : t->memory.partner[i];
    bool is_older = kind == MEMORY_EXISTING || kind == MEMORY_SEGMENT_EXISTING;
    uint32_t allocation = is_end || is_older ? 0 : i;
    bool ok = true;
    size_t row;
    TRY(table_add_row(out, &row, err));
    table_set_text(out, row, COL_M(events, op), memory_name(m, i, &ok));
    if (!ok) FAIL_MEMORY(err);
    table_set_text(out, row, COL_M(events, device), memory_device_of(m, i)->name);
    table_set_text(out, row, COL_M(events, kind), kind_word(t->memory.kind[i]));
    if (t->memory.address[i])
        table_set_int(out, row, COL_M(events, address), (int64_t)t->memory.address[i]);
    int64_t bytes = t->memory.bytes[i];
    if (bytes != ABSENT_I64)
        table_set_int(out, row, COL_M(events, bytes), bytes < 0 ? sub_i64(0, bytes) : bytes);
    if (allocation)
        table_set_int(out, row, COL_M(events, allocated_at),
                      sub_i64(t->memory.time[allocation], t->start_ns));
    if (release)
        table_set_int(out, row, COL_M(events, released_at),
                      sub_i64(t->memory.time[release], t->start_ns));
    if (allocation && release)
        table_set_int(out, row, COL_M(events, duration),
                      sub_i64(t->memory.time[release], t->memory.time[allocation]));
    if (memory_op(t, i)) table_set_int(out, row, COL_M(events, slice), memory_op(t, i));
    return OK;
}

static status write_events(memory_view *m, error *err) {
    const trace *t = m->t;
    table *out = answer_table(m->out, m->arena, "events");
    if (!out) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->memory.n; i++) {
        uint32_t partner = t->memory.partner[i];
        if (t->memory.kind[i] == MEMORY_FREE && partner)
            continue; /* reported with its allocation */
        if (memory_is_selected(m, i) || (partner && memory_is_selected(m, partner)))
            TRY(write_block(m, out, i, err));
    }
    return OK;
}

/* ---- verdict ----------------------------------------------------------------------------- */

typedef struct {
    int64_t n_events, n_oom;
    const memory_device *first; /* in the reader's order, with totals; NULL: none */
    int64_t growth;             /* bytes a step; 0: none or not known */
    memory_grower grower;       /* what grows most on `first` */
    memory_failure failure;     /* the last one */
    bool flat; /* after the last step as much is allocated as after the first */
} memory_facts;

static bool is_nothing_recorded(const void *facts, verdict *v) {
    (void)v;
    return !((const memory_facts *)facts)->n_events;
}

static void say_failure(const memory_facts *f, verdict *v) {
    const memory_failure *x = &f->failure;
    if (x->requested > 0 && x->requested != ABSENT_I64)
        verdict_add(v, arg_bytes("requested", x->requested));
    if (x->cause && strcmp(x->cause, "fragmentation") == 0)
        verdict_add(v, arg_bytes("fragmentation", x->unused));
    if (x->cause && strcmp(x->cause, "growth") == 0) {
        verdict_add(v, arg_text("grower", f->grower.name));
        verdict_add(v, arg_bytes("growth", f->grower.per_step_bytes));
    }
    if (!x->holder.n) return;
    verdict_add(v, arg_text("op", x->holder));
    verdict_add(v, arg_bytes("bytes", x->holder_bytes));
}

static bool ran_out(const void *facts, verdict *v) {
    const memory_facts *f = facts;
    if (!f->n_oom) return false;
    verdict_add(v, arg_int("count", f->n_oom));
    say_failure(f, v);
    return true;
}

/* Rows of the table peak_contents: a sentence says what the table says. */
static void say_holder(const memory_device *d, verdict *v) {
    if (!d->holder.n) return;
    if (d->older > d->holder_bytes) verdict_add(v, arg_bytes("older", d->older));
    verdict_add(v, arg_text("op", d->holder));
    verdict_add(v, arg_bytes("bytes", d->holder_bytes));
}

static bool near_capacity(const void *facts, verdict *v) {
    const memory_facts *f = facts;
    if (!f->first || f->first->capacity <= 0) return false;
    double share = (double)f->first->peak / (double)f->first->capacity;
    if (share < 0.9) return false;
    verdict_add(v, arg_share("share", share));
    verdict_add(v, arg_bytes("capacity", f->first->capacity));
    verdict_add(v, arg_text("device", f->first->name));
    say_holder(f->first, v);
    return true;
}

static bool grows(const void *facts, verdict *v) {
    const memory_facts *f = facts;
    if (!f->first || !f->growth || (double)f->growth < 0.005 * (double)f->first->peak)
        return false;
    verdict_add(v, arg_bytes("growth", f->growth));
    verdict_add(v, arg_text("device", f->first->name));
    if (f->grower.name.n) verdict_add(v, arg_text("grower", f->grower.name));
    if (f->first->capacity > f->first->peak)
        verdict_add(v,
                    arg_int("left", sub_i64(f->first->capacity, f->first->peak) / f->growth));
    say_holder(f->first, v);
    return true;
}

static void say_peak(const memory_device *d, verdict *v) {
    verdict_add(v, arg_bytes("peak", d->peak));
    verdict_add(v, arg_text("device", d->name));
    /* The part that only a table can translate is the argument's name. */
    if (d->part < PART_UNKNOWN && d->part_bytes > 0)
        verdict_add(v, arg_bytes(memory_part_name(d->part).p, d->part_bytes));
}

/* Half of the memory is left: it could be twice as much. */
static bool fits(const void *facts, verdict *v) {
    const memory_facts *f = facts;
    if (!f->first || f->first->capacity <= 0 || f->first->peak > f->first->capacity / 2)
        return false;
    verdict_add(v, arg_bytes("peak", f->first->peak));
    verdict_add(v, arg_bytes("capacity", f->first->capacity));
    verdict_add(v, arg_text("device", f->first->name));
    if (f->flat) verdict_add(v, arg_int("flat", 1));
    say_holder(f->first, v);
    return true;
}

static bool is_held(const void *facts, verdict *v) {
    const memory_facts *f = facts;
    if (!f->first || !f->first->holder.n) return false;
    if (f->flat) verdict_add(v, arg_int("flat", 1));
    say_peak(f->first, v);
    say_holder(f->first, v);
    return true;
}

static bool has_peak(const void *facts, verdict *v) {
    const memory_facts *f = facts;
    if (!f->first) return false;
    say_peak(f->first, v);
    return true;
}

static const rule rules[] = {
    {"memory_not_recorded", MSG_VERDICT_MEMORY_NONE, SEVERITY_INFO, is_nothing_recorded},
    {"memory_exhausted", MSG_VERDICT_MEMORY_OOM, SEVERITY_CRITICAL, ran_out},
    {"memory_near_capacity", MSG_VERDICT_MEMORY_CAPACITY, SEVERITY_WARNING, near_capacity},
    {"memory_grows", MSG_VERDICT_MEMORY_GROWS, SEVERITY_WARNING, grows},
    {"memory_fits", MSG_VERDICT_MEMORY_FITS, SEVERITY_GOOD, fits},
    {"memory_held", MSG_VERDICT_MEMORY_HELD, SEVERITY_INFO, is_held},
    {"memory_peak", MSG_VERDICT_MEMORY_PEAK, SEVERITY_INFO, has_peak},
};

/* From the first step to the last, less than this is not growth. */
#define FLAT_SHARE 0.005

static bool is_step_in_window(const memory_view *m, uint32_t step) {
    int64_t start = m->t->step.start[step];
    return m->t->step.end[step] > m->select.from_ns && start < m->select.to_ns &&
           select_step(&m->select, start);
}

/* What is allocated on the device at the end of each step of the window; the smallest rise from
 * one to the next, 0 when it does not rise every time or there are fewer than four steps. */
static int64_t find_growth(const memory_view *m, uint32_t device, bool *flat) {
    const trace *t = m->t;
    int64_t last = ABSENT_I64, allocated = ABSENT_I64, growth = INT64_MAX, first = ABSENT_I64;
    uint32_t row = 1, n = 0;
    for (uint32_t s = 1; s < t->step.n; s++) {
        for (; row < t->memory.n && t->memory.time[row] < t->step.end[s]; row++)
            if (m->device_of[row] == device && t->memory.allocated[row] != ABSENT_I64)
                allocated = t->memory.allocated[row];
        if (!is_step_in_window(m, s)) continue;
        if (last != ABSENT_I64) growth = min_i64(growth, sub_i64(allocated, last));
        last = allocated;
        if (first == ABSENT_I64) first = allocated;
        n++;
    }
    *flat = n > 1 && first != ABSENT_I64 &&
            (double)sub_i64(last, first) <= FLAT_SHARE * (double)first;
    return n > 3 && growth > 0 && growth != INT64_MAX ? growth : 0;
}

/* The device that a reader wants first of those with totals. */
static uint32_t first_device(const memory_view *m, const uint32_t *order) {
    for (uint32_t i = 0; i < m->devices.n; i++)
        if (GROUP_ROW(&m->devices, memory_device, order[i])->has_totals) return order[i];
    return GROUP_NONE;
}

static status judge(memory_view *m, const memory_parts *parts, uint32_t device, error *err) {
    memory_facts f = {.n_events = m->t->memory.n > 1 ? (int64_t)m->t->memory.n - 1 : 0};
    for (uint32_t i = 1; i < m->t->memory.n; i++) f.n_oom += m->t->memory.kind[i] == MEMORY_OOM;
    TRY(memory_write_growth(m, parts, device, &f.grower, err));
    TRY(memory_write_oom(m, parts, &f.grower, &f.failure, err));
    if (device != GROUP_NONE) {
        f.first = GROUP_ROW(&m->devices, memory_device, device);
        f.growth = find_growth(m, device, &f.flat);
    }
    rules_apply(rules, sizeof rules / sizeof *rules, &f, &m->out->verdict);
    return OK;
}

/* The tables with a row for each block and operator: most of the work, so only when they are
 * asked for. They exist in any case: the answer to a wrong name lists all of them. */
static status write_lists(memory_view *m, const params *p, error *err) {
    if (params_want(p, "events"))
        TRY(write_events(m, err));
    else if (!answer_table(m->out, m->arena, "events"))
        FAIL_MEMORY(err);
    if (params_want(p, "statistics")) return memory_write_statistics(m, err);
    if (!answer_table(m->out, m->arena, "statistics")) FAIL_MEMORY(err);
    return OK;
}

status analyse_memory(const analysis_input *in, const params *p, arena *a, answer *out,
                      error *err) {
    const trace *t = in->traces[0].trace;
    memory_view m = {.out = out};
    memory_parts parts;
    TRY(answer_begin("memory", in, a, out, err));
    TRY(trace_require(
        t, SELECT_TABLES | TRACE_TABLE(memory) | TRACE_TABLE(op) | TRACE_TABLE(frame), err));
    TRY(trace_require(t, MEMORY_SPLIT_TABLES, err));
    TRY(memory_view_init(&m, t, p, a, err));
    TRY(memory_parts_init(&parts, t, a, err));
    memory_find_peaks(&m);
    TRY(write_curve(&m, p, err));
    uint32_t *order = order_devices(&m);
    if (!order) FAIL_MEMORY(err);
    TRY(memory_write_parts(&m, &parts, order, p, err));
    TRY(memory_write_contents(&m, order, p, err));
    TRY(write_lists(&m, p, err));
    TRY(write_peaks(&m, order, err));
    TRY(judge(&m, &parts, first_device(&m, order), err));
    answer_finish(out, p);
    return OK;
}
