/* megengine_replay.c: what a MegEngine timeline says only between its lines.
 *
 * The notes of all threads, put in the order of the file, are walked once:
 *
 *   inputs   The blocks `Input n` before the end of an operator on its row are its inputs, with
 *            shape and type; `Output n` adds to what it moves.
 *   memory   The file has no addresses, but a tensor's size is among the arguments of any block
 *            about it, and its life is in the arrows: the counter of living tensors moves right
 *            before the arrow that says why. An arrow without such a move is a mere use. So every
 *            tensor becomes an allocation and a release, with totals for each device.
 *   steps    `StopStep` is marked on every host row. A step lasts from one mark of the worker to
 *            the next: operators and their launches stand on its row. What follows the last mark
 *            is no step.
 *
 * The rows of devices get their number and their physical name. */
#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/sort.h"
#include "ingest/megengine_int.h"
#include "ingest/trace_event_int.h"

enum { MAX_INPUTS = 256 };

/* Blocks of tensors on one row since its last operator. */
typedef struct {
    ident pid, tid;
    int64_t bytes;
    uint32_t n_inputs, shape[MAX_INPUTS], type[MAX_INPUTS];
} open_op;

typedef struct {
    ident pid;
    uint8_t type;
    int32_t id;
    int64_t allocated, reserved;
} device_state;

typedef struct {
    ident pid;
    int64_t id, bytes;
    uint32_t fact; /* + 1 in facts; 0: its size was never told */
    uint32_t device, block;
    bool alive;
} tensor;

typedef struct {
    const note *n; /* of the sink's state */
    event_sink *sink;
} sink_note;

typedef struct {
    builder *b;
    event_sink *const *sinks;
    int n_sinks;
    part *part; /* for rows of no thread */
    intern *strings;
    sink_note *notes;
    uint32_t n, *order;
    vec open;    /* open_op, a few */
    vec devices; /* device_state, a few */
    vec tensors; /* tensor */
    map tensor_map, fact_map;
    vec facts; /* tensor_fact of all threads */
    uint32_t n_blocks, tie;
    uint32_t last_text, last_device; /* of the tensor before: string id, row in devices */
    ident last_pid;
    bool has_base, has_named; /* a device whose word the file must tell */
} replay;

static bool same(ident a, ident b) {
    return a.v == b.v && a.text == b.text;
}

static timeline_state *state_of(const replay *r, int i) {
    return event_sink_state(r->sinks[i]);
}

static int cmp_notes(uint32_t x, uint32_t y, const void *context) {
    const replay *r = context;
    uint64_t a = r->notes[x].n->offset, b = r->notes[y].n->offset;
    if (a != b) return a < b ? -1 : 1;
    return (int)r->notes[x].n->what - (int)r->notes[y].n->what;
}

static status collect_notes(replay *r) {
    size_t n = 0;
    for (int i = 0; i < r->n_sinks; i++) n += state_of(r, i)->notes.n;
    if (n > UINT32_MAX / 4) return ERR_LIMIT;
    r->notes = mem_map((n + 1) * sizeof *r->notes);
    r->order = mem_map((2 * n + 1) * sizeof *r->order);
    if (!r->notes || !r->order) return ERR_MEMORY;
    r->n = (uint32_t)n;
    n = 0;
    for (int i = 0; i < r->n_sinks; i++) {
        const vec *notes = &state_of(r, i)->notes;
        for (size_t k = 0; k < notes->n; k++, n++) {
            r->notes[n] = (sink_note){&VEC(notes, note)[k], r->sinks[i]};
            r->order[n] = (uint32_t)n;
        }
    }
    sort_index(r->order, r->order + r->n, r->n, cmp_notes, r);
    return OK;
}

static uint64_t tensor_key(ident pid, int64_t id) {
    return hash_pair(hash_pair((uint64_t)pid.v, pid.text), (uint64_t)id);
}

static status collect_facts(replay *r) {
    for (int i = 0; i < r->n_sinks; i++) {
        const vec *facts = &state_of(r, i)->facts;
        for (size_t k = 0; k < facts->n; k++) {
            const tensor_fact *f = &VEC(facts, tensor_fact)[k];
            uint32_t *at = map_at(&r->fact_map, tensor_key(f->pid, f->id));
            if (!at) return ERR_MEMORY;
            if (*at != MAP_NONE) continue;
            *at = 0;
            tensor_fact *row = vec_push(&r->facts);
            if (!row) return ERR_MEMORY;
            *row = *f;
            *at = (uint32_t)r->facts.n;
        }
    }
    return OK;
}

/* ---- operators ---- */

static open_op *open_of(replay *r, const note *n) {
    for (size_t i = 0; i < r->open.n; i++) {
        open_op *o = &VEC(&r->open, open_op)[i];
        if (same(o->pid, n->pid) && same(o->tid, n->tid)) return o;
    }
    if (r->open.n >= 4096) return NULL; /* rows of a forged file: without inputs */
    open_op *o = vec_push(&r->open);
    if (o) *o = (open_op){.pid = n->pid, .tid = n->tid};
    return o;
}

static int64_t bytes_of(const replay *r, const note *n) {
    uint32_t at = map_get(&r->fact_map, tensor_key(n->pid, n->id));
    return at == MAP_NONE ? 0 : VEC(&r->facts, tensor_fact)[at - 1].bytes;
}

static void add_tensor_of_op(replay *r, const note *n) {
    open_op *o = open_of(r, n);
    if (!o) return;
    o->bytes = add_i64(o->bytes, bytes_of(r, n));
    if (n->what != NOTE_INPUT || o->n_inputs == MAX_INPUTS) return;
    o->shape[o->n_inputs] = n->text;
    o->type[o->n_inputs++] = n->other;
}

/* The words for types that analyses know. */
static str common_type(str type) {
    static const struct {
        str own, common;
    } table[] = {
        {STR("Float32"), STR("float")},
        {STR("Float16"), STR("c10::Half")},
        {STR("BFloat16"), STR("c10::BFloat16")},
        {STR("Int32"), STR("int")},
        {STR("Int64"), STR("long int")},
        {STR("Int16"), STR("short int")},
        {STR("Int8"), STR("signed char")},
        {STR("Uint8"), STR("unsigned char")},
        {STR("Bool"), STR("bool")},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (str_eq(type, table[i].own)) return table[i].common;
    return type;
}

/* "{8,3,32,32}" → [8,3,32,32]; whatever else it is stays out. */
static void add_shape(buf *b, str shape) {
    bool good = shape.n >= 2 && shape.p[0] == '{' && shape.p[shape.n - 1] == '}';
    for (size_t i = 1; good && i + 1 < shape.n; i++) {
        char c = shape.p[i];
        good = (c >= '0' && c <= '9') ||
               (c == ',' && shape.p[i - 1] != ',' && i > 1 && i + 2 < shape.n);
    }
    buf_add_byte(b, '[');
    if (good) buf_add(b, shape.p + 1, shape.n - 2);
    buf_add_byte(b, ']');
}

static uint32_t write_inputs(replay *r, const open_op *o, bool types) {
    buf b = {0};
    buf_add_byte(&b, '[');
    for (uint32_t i = 0; i < o->n_inputs; i++) {
        if (i) buf_add_byte(&b, ',');
        if (types)
            buf_add_json(&b, common_type(intern_get(r->strings, o->type[i])));
        else
            add_shape(&b, intern_get(r->strings, o->shape[i]));
    }
    buf_add_byte(&b, ']');
    uint32_t id = buf_ok(&b) ? intern_add(r->strings, buf_str(&b)) : UINT32_MAX;
    buf_fini(&b);
    return id;
}

/* The operator's end goes to the part of its own thread: its arguments are there. */
static status end_op(replay *r, const sink_note *n) {
    timeline_state *st = event_sink_state(n->sink);
    pending_op *p = &VEC(&st->pending, pending_op)[n->n->pending];
    open_op *o = open_of(r, n->n);
    part *to = event_sink_part(n->sink);
    if (o && o->n_inputs) {
        p->op.shapes = write_inputs(r, o, false);
        p->op.types = write_inputs(r, o, true);
        if (p->op.shapes == UINT32_MAX || p->op.types == UINT32_MAX) return ERR_MEMORY;
    }
    TRY(part_mark_op(to, &p->op, &p->mark));
    if (o && o->bytes)
        TRY(part_op_cost(to,
                         &(raw_op_cost){.op = p->mark.extra, .flops = NAN, .bytes = o->bytes}));
    if (o) o->n_inputs = 0;
    if (o) o->bytes = 0;
    return part_mark(to, &p->mark);
}

/* ---- memory ---- */

static device_state *device_at(replay *r, ident pid, str text, uint32_t *index) {
    megengine_device d;
    if (!megengine_device_of(text, &d)) d = (megengine_device){.type = DEVICE_UNKNOWN};
    for (size_t i = 0; i < r->devices.n; i++) {
        device_state *v = &VEC(&r->devices, device_state)[i];
        *index = (uint32_t)i;
        if (same(v->pid, pid) && v->type == d.type && v->id == d.id) return v;
    }
    device_state *v = r->devices.n < 4096 ? vec_push(&r->devices) : NULL;
    if (!v) return NULL;
    *index = (uint32_t)(r->devices.n - 1);
    r->has_named |= megengine_is_named(d.type);
    *v = (device_state){.pid = pid, .type = d.type, .id = d.id, .reserved = ABSENT_I64};
    return v;
}

/* UINT32_MAX when out of memory. */
static uint32_t tensor_of(replay *r, const note *n) {
    uint32_t *at = map_at(&r->tensor_map, tensor_key(n->pid, n->id));
    if (!at) return UINT32_MAX;
    if (*at != MAP_NONE) return *at;
    *at = 0;
    tensor *t = vec_push(&r->tensors);
    if (!t) return UINT32_MAX;
    *at = (uint32_t)(r->tensors.n - 1);
    uint32_t fact = map_get(&r->fact_map, tensor_key(n->pid, n->id));
    *t = (tensor){.pid = n->pid, .id = n->id};
    if (fact == MAP_NONE) return *at;
    const tensor_fact *f = &VEC(&r->facts, tensor_fact)[fact - 1];
    bool same_device = r->last_text && f->device == r->last_text && same(n->pid, r->last_pid);
    if (!same_device &&
        !device_at(r, n->pid, intern_get(r->strings, f->device), &r->last_device))
        return UINT32_MAX;
    r->last_text = f->device;
    r->last_pid = n->pid;
    t->device = r->last_device;
    t->bytes = f->bytes;
    t->fact = fact;
    return *at;
}

/* A tensor is born or dies; those whose size nobody told take no part. */
static status change_tensor(replay *r, const sink_note *n) {
    uint32_t at = tensor_of(r, n->n);
    if (at == UINT32_MAX) return ERR_MEMORY;
    tensor *t = &VEC(&r->tensors, tensor)[at];
    if (n->n->what == NOTE_MADE && t->alive) return OK;
    t->alive = !t->alive;
    if (!t->fact) return OK;
    if (t->alive) t->block = ++r->n_blocks;
    device_state *d = &VEC(&r->devices, device_state)[t->device];
    int64_t bytes = t->alive ? t->bytes : -t->bytes;
    d->allocated = add_i64(d->allocated, bytes);
    raw_memory m = {.time = n->n->time,
                    .bytes = bytes,
                    .allocated = d->allocated,
                    .reserved = d->reserved,
                    .track = n->n->track,
                    .tie = ++r->tie,
                    .block = t->block,
                    .device = d->id,
                    .device_type = d->type,
                    .kind = t->alive ? MEMORY_ALLOC : MEMORY_FREE};
    return part_memory(event_sink_part(n->sink), &m);
}

/* `gpu0:0_alloc_mem`: what is in use on the device, whoever uses it; of a CPU it is the memory of
 * the whole machine and says nothing about the program. */
static status take_sample(replay *r, const note *n) {
    str name = intern_get(r->strings, n->text);
    str device = str_n(name.p, name.n - STR("_alloc_mem").n);
    uint32_t index;
    megengine_device d;
    if (!megengine_device_of(device, &d) || d.type >= DEVICE_NAMED) return OK;
    device_state *v = device_at(r, n->pid, device, &index);
    if (!v) return ERR_MEMORY;
    v->reserved = n->id;
    return OK;
}

static status replay_notes(replay *r) {
    const note *moved = NULL;
    for (uint32_t i = 0; i < r->n; i++) {
        const sink_note *n = &r->notes[r->order[i]];
        switch ((note_what)n->n->what) {
        case NOTE_ALIVE: moved = n->n; continue;
        case NOTE_MADE: TRY(change_tensor(r, n)); break;
        case NOTE_TOUCH:
            if (moved && same(moved->pid, n->n->pid) && moved->time == n->n->time)
                TRY(change_tensor(r, n));
            break;
        case NOTE_INPUT:
        case NOTE_OUTPUT: add_tensor_of_op(r, n->n); break;
        case NOTE_OP_END: TRY(end_op(r, n)); break;
        case NOTE_SAMPLE: TRY(take_sample(r, n->n)); break;
        case NOTE_BASE:
            if (!r->has_base) builder_set_base_unix_ns(r->b, n->n->id);
            r->has_base = true;
            break;
        case NOTE_START:
        case NOTE_STOP: break;
        }
        moved = NULL;
    }
    return OK;
}

/* ---- steps ---- */

/* The row of the process whose marks count: the worker's, else the one that is marked last. */
static bool step_row(const replay *r, ident pid, ident *out) {
    bool found = false;
    for (uint32_t i = 0; i < r->n; i++) {
        const note *n = r->notes[r->order[i]].n;
        if (n->what != NOTE_STOP || !same(n->pid, pid)) continue;
        *out = n->tid;
        found = true;
    }
    for (int i = 0; i < r->n_sinks && found; i++) {
        const vec *threads = &state_of(r, i)->threads;
        for (size_t k = 0; k < threads->n; k++) {
            const thread_note *t = &VEC(threads, thread_note)[k];
            if (same(t->pid, pid) && str_eq(intern_get(r->strings, t->name), STR("worker")))
                *out = t->tid;
        }
    }
    return found;
}

static status add_step(replay *r, const sink_note *stop, int64_t start, int64_t number) {
    buf b = {0};
    buf_printf(&b, "Step#%lld", (long long)number);
    uint32_t name = buf_ok(&b) ? intern_add(r->strings, buf_str(&b)) : UINT32_MAX;
    buf_fini(&b);
    if (name == UINT32_MAX) return ERR_MEMORY;
    raw_slice s = {.start = start,
                   .dur = sub_i64(stop->n->time, start),
                   .name = name,
                   .track = stop->n->track,
                   .kind = KIND_STEP,
                   .flags = SLICE_SYNTHETIC};
    return s.dur < 0 ? OK : part_slice(event_sink_part(stop->sink), &s);
}

/* start: where the process' first note stands, which is the beginning of its window. */
static status make_steps_of(replay *r, ident pid, int64_t start) {
    ident row = {0, false};
    int64_t number = 0;
    if (!step_row(r, pid, &row)) return OK;
    for (uint32_t i = 0; i < r->n; i++) {
        const sink_note *n = &r->notes[r->order[i]];
        if (n->n->what != NOTE_STOP || !same(n->n->pid, pid) || !same(n->n->tid, row)) continue;
        TRY(add_step(r, n, start, ++number));
        start = n->n->time;
    }
    return OK;
}

static status make_steps(replay *r) {
    vec done = VEC_INIT(ident);
    status st = OK;
    for (uint32_t i = 0; i < r->n && st == OK; i++) {
        const note *n = r->notes[r->order[i]].n;
        bool seen = false;
        for (size_t k = 0; k < done.n; k++) seen |= same(VEC(&done, ident)[k], n->pid);
        if (seen || done.n >= 1024) continue;
        ident *at = vec_push(&done);
        if (!at) st = ERR_MEMORY;
        if (at) *at = n->pid;
        if (st == OK) st = make_steps_of(r, n->pid, n->time);
    }
    vec_fini(&done);
    return st;
}

/* ---- rows ---- */

/* The device a tensor's text calls by this logical name, else what the name itself says. */
static bool device_of_row(const replay *r, str name, megengine_device *out) {
    uint32_t seen = 0; /* nearly all tensors are on one device */
    for (size_t i = 0; i < r->facts.n; i++) {
        uint32_t device = VEC(&r->facts, tensor_fact)[i].device;
        if (device == seen) continue;
        seen = device;
        str text = intern_get(r->strings, device);
        if (megengine_device_of(text, out) && str_eq(out->logical, name)) return true;
    }
    return megengine_device_of(name, out);
}

static status add_device(replay *r, const megengine_device *d, vec *known, error *err) {
    for (size_t i = 0; i < known->n; i++)
        if (VEC(known, int64_t)[i] == ((int64_t)d->type << 32 | d->id)) return OK;
    int64_t *key = vec_push(known);
    uint32_t name = intern_add(r->strings, d->physical);
    if (!key || name == UINT32_MAX) FAIL_MEMORY(err);
    *key = (int64_t)d->type << 32 | d->id;
    r->has_named |= megengine_is_named(d->type);
    raw_device row = RAW_DEVICE_NONE;
    row.id = d->id;
    row.type = d->type;
    row.name = name;
    return builder_add_device(r->b, &row, err);
}

static status label_row(replay *r, const thread_note *t, vec *known, error *err) {
    str name = intern_get(r->strings, t->name);
    megengine_device d;
    raw_label l = {.pid = t->pid, .tid = t->tid, .offset = t->offset};
    if (device_of_row(r, name, &d)) {
        l.kind = LABEL_THREAD_DEVICE;
        l.value = d.id;
        TRY(add_device(r, &d, known, err));
        if (part_label(r->part, &l) != OK) FAIL_MEMORY(err);
    }
    l.kind = LABEL_THREAD_SORT;
    l.value = str_eq(name, STR("interpreter")) ? 0 : str_eq(name, STR("worker")) ? 1 : 2;
    if (part_label(r->part, &l) != OK) FAIL_MEMORY(err);
    return OK;
}

static status label_rows(replay *r, error *err) {
    vec known = VEC_INIT(int64_t);
    status st = OK;
    for (int i = 0; i < r->n_sinks && st == OK; i++) {
        const vec *threads = &state_of(r, i)->threads;
        for (size_t k = 0; k < threads->n && k < 4096 && st == OK; k++)
            st = label_row(r, &VEC(threads, thread_note)[k], &known, err);
    }
    vec_fini(&known);
    return st;
}

status megengine_finish(builder *b, event_sink *const *sinks, int n, error *err) {
    replay r = {.b = b,
                .sinks = sinks,
                .n_sinks = n,
                .part = event_sink_part(sinks[0]),
                .strings = builder_strings(b),
                .open = VEC_INIT(open_op),
                .devices = VEC_INIT(device_state),
                .tensors = VEC_INIT(tensor),
                .facts = VEC_INIT(tensor_fact)};
    uint32_t worker = intern_add(r.strings, STR("worker"));
    status st = worker == UINT32_MAX ? ERR_MEMORY : collect_notes(&r);
    if (st == OK) st = collect_facts(&r);
    if (st == OK) st = replay_notes(&r);
    if (st == OK) st = make_steps(&r);
    if (st == OK) st = label_rows(&r, err);
    if (st == OK && r.has_named) st = megengine_add_words(b, err);
    if (r.notes) mem_unmap(r.notes, ((size_t)r.n + 1) * sizeof *r.notes);
    if (r.order) mem_unmap(r.order, (2 * (size_t)r.n + 1) * sizeof *r.order);
    vec_fini(&r.open);
    vec_fini(&r.devices);
    vec_fini(&r.tensors);
    vec_fini(&r.facts);
    map_fini(&r.tensor_map);
    map_fini(&r.fact_map);
    builder_set_launch_by_arrow(b, true);
    builder_set_stage_track(b, worker);
    if (st == ERR_LIMIT) FAIL0(err, ERR_LIMIT, NOPOS, MSG_TOO_MANY_ROWS);
    if (st == ERR_MEMORY) FAIL_MEMORY(err);
    return st;
}
