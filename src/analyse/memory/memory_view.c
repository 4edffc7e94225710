/* memory_view.c: what the tables of memory share.
 *
 * Devices are (type, number) pairs with a name each, so that every kind of device has one
 * and CPU and GPU blocks never mix. Pairs of allocation and release were made over the whole
 * trace by the seal, by device and address; a window only chooses among them, so a block
 * keeps its name and both of its times whatever part of it the window shows. */
#include "analyse/memory/memory_view.h"

#include "analyse/lexicon.h"

#include "analyse/kind_names.h"

typedef struct {
    uint8_t type;
    int32_t id;
} device_key;

static bool same_device(const void *row, const void *key) {
    const memory_device *d = row;
    const device_key *k = key;
    return d->type == k->type && d->id == k->id;
}

/* The host's capacity is not in the trace. Looking at all devices for each device is fine
 * for as many as there are; a forged file's ten-thousandth has no capacity. */
static int64_t find_capacity(const trace *t, device_key key, uint32_t n_known) {
    if (key.type == DEVICE_CPU || n_known > 1024) return ABSENT_I64;
    for (uint32_t i = 1; i < t->device.n; i++)
        if (t->device.id[i] == key.id && t->device.memory[i] > 0) return t->device.memory[i];
    return ABSENT_I64;
}

static status find_devices(memory_view *m, error *err) {
    const trace *t = m->t;
    device_key last = {0};
    uint32_t at = GROUP_NONE;
    for (uint32_t i = 1; i < t->memory.n; i++) {
        device_key key = {t->memory.device_type[i], t->memory.device[i]};
        if (at == GROUP_NONE || key.type != last.type || key.id != last.id) {
            bool is_new;
            uint64_t hash = hash_pair(key.type, (uint32_t)key.id);
            at = groups_at(&m->devices, hash, same_device, &key, &is_new);
            if (at == GROUP_NONE) FAIL_MEMORY(err);
            if (is_new) {
                memory_device d = {.type = key.type,
                                   .id = key.id,
                                   .capacity = find_capacity(t, key, m->devices.n)};
                d.name = device_name(t, m->arena, key.type, key.id);
                if (!d.name.p) FAIL_MEMORY(err);
                *GROUP_ROW(&m->devices, memory_device, at) = d;
            }
            last = key;
        }
        m->device_of[i] = at;
    }
    return OK;
}

typedef struct {
    uint32_t outer, name; /* string ids */
    str text;
} pair_name;

static bool same_pair(const void *row, const void *key) {
    const pair_name *x = row, *y = key;
    return x->outer == y->outer && x->name == y->name;
}

status memory_view_init(memory_view *m, const trace *t, const params *p, arena *a, error *err) {
    select_init(&m->select, t, p);
    m->t = t;
    m->arena = a;
    m->device_of = ARENA_ARRAY(a, uint32_t, (size_t)t->memory.n + 1);
    if (!m->device_of) FAIL_MEMORY(err);
    TRY(groups_init(&m->devices, a, sizeof(memory_device), err));
    m->names = ARENA_NEW(a, groups);
    if (!m->names) FAIL_MEMORY(err);
    TRY(groups_init(m->names, a, sizeof(pair_name), err));
    TRY(memory_frames_init(m, err));
    return find_devices(m, err);
}

bool memory_is_selected(const memory_view *m, uint32_t row) {
    int64_t time = m->t->memory.time[row];
    return time >= m->select.from_ns && time < m->select.to_ns && select_step(&m->select, time);
}

void memory_find_peaks(memory_view *m) {
    const trace *t = m->t;
    for (uint32_t d = 0; d < m->devices.n; d++) {
        memory_device *device = GROUP_ROW(&m->devices, memory_device, d);
        device->peak_reserved = device->most_reserved = device->before = ABSENT_I64;
    }
    for (uint32_t i = 1; i < t->memory.n; i++) {
        int64_t allocated = t->memory.allocated[i], reserved = t->memory.reserved[i];
        if (!memory_is_selected(m, i)) continue;
        memory_device *d = memory_device_of(m, i);
        if (reserved != ABSENT_I64 &&
            (d->most_reserved == ABSENT_I64 || reserved > d->most_reserved)) {
            d->most_reserved = reserved;
            d->most_reserved_row = i;
        }
        if (allocated == ABSENT_I64 || (d->has_totals && allocated <= d->peak)) continue;
        d->peak = allocated;
        d->peak_row = i;
        d->peak_reserved = reserved;
        d->has_totals = true;
    }
}

bool memory_is_counted(const trace *t, uint32_t row) {
    int64_t allocated = t->memory.allocated[row];
    return allocated == ABSENT_I64 || allocated >= t->memory.bytes[row];
}

bool memory_is_followed(const trace *t, uint32_t row) {
    bool holds = t->memory.kind[row] == MEMORY_ALLOC || t->memory.kind[row] == MEMORY_EXISTING;
    return holds && memory_is_counted(t, row) &&
           (t->memory.address[row] || t->memory.partner[row]);
}

bool memory_is_alive(const trace *t, uint32_t row, uint32_t at) {
    uint32_t partner = t->memory.partner[row];
    return memory_is_followed(t, row) && row <= at && (!partner || partner > at);
}

bool memory_is_held(const trace *t, uint32_t row, uint32_t at) {
    if (t->memory.kind[row] == MEMORY_FREE)
        return !t->memory.partner[row] && row > at && t->memory.address[row];
    return memory_is_alive(t, row, at);
}

uint32_t memory_telling_row(const trace *t, uint32_t row) {
    return t->memory.kind[row] == MEMORY_FREE ? t->memory.partner[row] : row;
}

uint32_t memory_op(const trace *t, uint32_t row) {
    return t->memory.op[memory_telling_row(t, row)];
}

str memory_name(const memory_view *m, uint32_t row, bool *ok) {
    uint32_t telling = memory_telling_row(m->t, row), op = m->t->memory.op[telling];
    if (op) return memory_op_name(m, op, ok);
    uint32_t site = memory_site(m, telling);
    return site ? memory_label(m, m->label_of[site]) : STR_NONE;
}

/* The op, module, step or other range around an op; frames are looked through. */
static uint32_t find_caller(const trace *t, uint32_t op) {
    for (uint32_t i = t->slice.parent[op]; i; i = t->slice.parent[i])
        switch (t->slice.kind[i]) {
        case KIND_OP:
        case KIND_MODULE:
        case KIND_STEP:
        case KIND_DATA:
        case KIND_OPTIMIZER: return i;
        default: break;
        }
    return 0;
}

str memory_op_name(const memory_view *m, uint32_t op, bool *ok) {
    const trace *t = m->t;
    if (!op) return STR_NONE;
    str name = trace_slice_name(t, op);
    uint32_t caller = lexicon_means(name, MEANS_MAKES_EMPTY) ? find_caller(t, op) : 0;
    if (!caller) return name;
    pair_name key = {.outer = t->slice.name[caller], .name = t->slice.name[op]};
    bool is_new;
    uint32_t at = groups_at(m->names, hash_pair(key.outer, key.name), same_pair, &key, &is_new);
    if (at != GROUP_NONE && is_new) {
        str outer = trace_str(t, key.outer);
        key.text = arena_printf(m->arena, "%.*s (%.*s)", STR_ARG(outer), STR_ARG(name));
        *GROUP_ROW(m->names, pair_name, at) = key;
    }
    str made = at == GROUP_NONE ? STR_NONE : GROUP_ROW(m->names, pair_name, at)->text;
    *ok = *ok && made.p;
    return made;
}
