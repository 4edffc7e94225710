/* megengine_replay.c: what a MegEngine timeline says only between its lines.
 *
 * The notes of all threads are walked once in the order of the file:
 *
 *   inputs   The blocks `Input n` before the end of an operator on its row are its inputs,
 *            with shape and type; `Output n` adds to what it moves.
 *   memory   The file has no addresses, but a tensor's size is among the arguments of any
 *            block about it, and its life is in the arrows: the counter of living tensors
 *            moves right before the arrow that says why. An arrow without such a move is a
 *            mere use. So every tensor becomes an allocation and a release, with totals for
 *            each device.
 *   steps    `StopStep` is marked on every host row. A step lasts from one mark of the
 *            worker to the next: operators and their launches are on its row. What follows
 *            the last mark is not a step.
 *
 * The rows of devices get their number and their physical name. */
#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "ingest/megengine/megengine_int.h"

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

/* The list of some shapes or types, written before: operators take the same ones again and
 * again. */
enum { N_LISTS = 256, LIST_INPUTS = 6 };
typedef struct {
    uint32_t n, of[LIST_INPUTS]; /* string ids; none: n = 0 */
    uint32_t id;
    bool types;
} input_list;

/* A tensor whose size is known, by row of facts. */
typedef struct {
    uint32_t device, block;
    bool alive, placed; /* `device` is known */
} tensor;

typedef struct {
    const note *n; /* of the sink's state */
    event_sink *sink;
    ident pid, tid;
} sink_note;

/* A process, and the place of its first note: the beginning of its window. */
typedef struct {
    ident pid;
    int64_t start;
} process_start;

enum { MAX_PROCESSES = 1024 };

typedef struct {
    builder *b;
    event_sink *const *sinks;
    int n_sinks;
    part *part; /* for rows of no thread */
    intern *strings;
    vec open;      /* open_op, a few */
    vec devices;   /* device_state, a few */
    vec processes; /* process_start, a few */
    vec stops;     /* sink_note: NOTE_STOP */
    vec tensors;   /* tensor */
    map fact_map;  /* → row of facts + 1 */
    vec facts;     /* tensor_fact of all threads */
    input_list lists[N_LISTS];
    buf scratch;
    uint32_t n_blocks, tie;
    uint32_t last_text, last_device; /* of the tensor before: string id, row in devices */
    ident last_pid;
    bool has_base, has_named; /* a device whose word the file must tell */
} replay;

static timeline_state *state_of(const replay *r, int i) {
    return r->sinks[i]->state;
}

static uint64_t tensor_key(ident pid, int64_t id) {
    return hash_pair(hash_pair((uint64_t)pid.v, pid.text), (uint64_t)id);
}

static status add_facts(replay *r, const vec *facts) {
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
    return OK;
}

/* Those of the first thread are taken as they are: mostly they are all there are. */
static status collect_facts(replay *r) {
    timeline_state *first = state_of(r, 0);
    r->facts = first->facts;
    r->fact_map = first->fact_map;
    first->facts = VEC_INIT(tensor_fact);
    first->fact_map = (map){0};
    for (int i = 1; i < r->n_sinks; i++) TRY(add_facts(r, &state_of(r, i)->facts));
    TRY(vec_reserve(&r->tensors, r->facts.n + 1));
    for (size_t i = 0; i <= r->facts.n; i++)
        *(tensor *)vec_push(&r->tensors) = (tensor){.alive = false};
    return OK;
}

/* ---- operators ---- */

static open_op *open_of(replay *r, const sink_note *n) {
    for (size_t i = 0; i < r->open.n; i++) {
        open_op *o = &VEC(&r->open, open_op)[i];
        if (ident_eq(o->pid, n->pid) && ident_eq(o->tid, n->tid)) return o;
    }
    if (r->open.n >= 4096) return NULL; /* rows of a forged file: without inputs */
    open_op *o = vec_push(&r->open);
    if (o) *o = (open_op){.pid = n->pid, .tid = n->tid};
    return o;
}

/* Row of facts + 1 of a note's tensor, 0 when its size was never recorded. */
static uint32_t fact_of(const replay *r, const sink_note *n) {
    uint32_t at = map_get(&r->fact_map, tensor_key(n->pid, n->n->id));
    return at == MAP_NONE ? 0 : at;
}

static void add_tensor_of_op(replay *r, const sink_note *n) {
    open_op *o = open_of(r, n);
    if (!o) return;
    uint32_t fact = fact_of(r, n);
    if (fact) o->bytes = add_i64(o->bytes, VEC(&r->facts, tensor_fact)[fact - 1].bytes);
    if (n->n->what != NOTE_INPUT || o->n_inputs == MAX_INPUTS) return;
    o->shape[o->n_inputs] = n->n->text;
    o->type[o->n_inputs++] = n->n->other;
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

static uint32_t write_inputs(replay *r, const uint32_t *of, uint32_t n, bool types) {
    buf *b = &r->scratch;
    buf_clear(b);
    buf_add_byte(b, '[');
    for (uint32_t i = 0; i < n; i++) {
        if (i) buf_add_byte(b, ',');
        if (types)
            buf_add_json(b, common_type(intern_get(r->strings, of[i])));
        else
            add_shape(b, intern_get(r->strings, of[i]));
    }
    buf_add_byte(b, ']');
    return buf_ok(b) ? intern_add(r->strings, buf_str(b)) : UINT32_MAX;
}

WRAPS static uint32_t mix_ids(uint32_t hash, const uint32_t *of, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) hash = (hash ^ of[i]) * 0x9E3779B9u;
    return hash;
}

/* String id of the list of the operator's inputs, UINT32_MAX when out of memory. */
static uint32_t list_inputs(replay *r, const open_op *o, bool types) {
    const uint32_t *of = types ? o->type : o->shape;
    uint32_t n = o->n_inputs;
    if (n > LIST_INPUTS) return write_inputs(r, of, n, types);
    input_list *l = &r->lists[mix_ids(types, of, n) >> 24];
    if (l->n == n && l->types == types && memcmp(l->of, of, n * sizeof *of) == 0) return l->id;
    uint32_t id = write_inputs(r, of, n, types);
    *l = (input_list){.n = n, .id = id, .types = types};
    memcpy(l->of, of, n * sizeof *of);
    if (id == UINT32_MAX) l->n = 0;
    return id;
}

/* The operator's end goes to the part of its own thread: its arguments are there. */
static status end_op(replay *r, const sink_note *n) {
    timeline_state *st = n->sink->state;
    pending_op *p = &VEC(&st->pending, pending_op)[n->n->other];
    open_op *o = open_of(r, n);
    part *to = n->sink->part;
    if (o && o->n_inputs) {
        p->op.shapes = list_inputs(r, o, false);
        p->op.types = list_inputs(r, o, true);
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
        if (ident_eq(v->pid, pid) && v->type == d.type && v->id == d.id) return v;
    }
    device_state *v = r->devices.n < 4096 ? vec_push(&r->devices) : NULL;
    if (!v) return NULL;
    *index = (uint32_t)(r->devices.n - 1);
    r->has_named |= megengine_is_named(d.type);
    *v = (device_state){.pid = pid, .type = d.type, .id = d.id, .reserved = ABSENT_I64};
    return v;
}

/* Finds the device of a tensor. */
static status place_tensor(replay *r, ident pid, tensor *t, const tensor_fact *f) {
    bool same_device = r->last_text && f->device == r->last_text && ident_eq(pid, r->last_pid);
    if (!same_device && !device_at(r, pid, intern_get(r->strings, f->device), &r->last_device))
        return ERR_MEMORY;
    r->last_text = f->device;
    r->last_pid = pid;
    t->device = r->last_device;
    t->placed = true;
    return OK;
}

/* A tensor is born or dies; those of unknown size are left out. */
static status change_tensor(replay *r, const sink_note *n) {
    uint32_t fact = fact_of(r, n);
    if (!fact) return OK;
    tensor *t = &VEC(&r->tensors, tensor)[fact];
    const tensor_fact *f = &VEC(&r->facts, tensor_fact)[fact - 1];
    if (!t->placed) TRY(place_tensor(r, n->pid, t, f));
    if (n->n->what == NOTE_MADE && t->alive) return OK;
    t->alive = !t->alive;
    if (t->alive) t->block = ++r->n_blocks;
    device_state *d = &VEC(&r->devices, device_state)[t->device];
    int64_t bytes = t->alive ? f->bytes : sub_i64(0, f->bytes);
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
    return part_memory(n->sink->part, &m);
}

/* `gpu0:0_alloc_mem`: what is in use on the device, by all programs; for a CPU it is the memory
 * of the whole machine and says nothing about the program. */
static status take_sample(replay *r, const sink_note *n) {
    str name = intern_get(r->strings, n->n->text);
    str device = str_n(name.p, name.n - STR("_alloc_mem").n);
    uint32_t index;
    megengine_device d;
    if (!megengine_device_of(device, &d) || d.type >= DEVICE_NAMED) return OK;
    device_state *v = device_at(r, n->pid, device, &index);
    if (!v) return ERR_MEMORY;
    v->reserved = n->n->id;
    return OK;
}

/* Knows the process of a note, and when it begins. */
static status meet_process(replay *r, const sink_note *n) {
    const process_start *all = VEC(&r->processes, process_start);
    for (size_t i = r->processes.n; COUNT_DOWN(i);)
        if (ident_eq(all[i].pid, n->pid)) return OK;
    if (r->processes.n >= MAX_PROCESSES) return OK;
    process_start *p = vec_push(&r->processes);
    if (!p) return ERR_MEMORY;
    *p = (process_start){n->pid, n->n->time};
    return OK;
}

/* before: the note before this one when it was a NOTE_ALIVE. */
static status replay_note(replay *r, const sink_note *n, const sink_note *before) {
    switch ((note_what)n->n->what) {
    case NOTE_MADE: return change_tensor(r, n);
    case NOTE_TOUCH:
        if (before->n && ident_eq(before->pid, n->pid) && before->n->time == n->n->time)
            return change_tensor(r, n);
        return OK;
    case NOTE_INPUT:
    case NOTE_OUTPUT: add_tensor_of_op(r, n); return OK;
    case NOTE_OP_END: return end_op(r, n);
    case NOTE_SAMPLE: return take_sample(r, n);
    case NOTE_BASE:
        if (!r->has_base) builder_set_base_unix_ns(r->b, n->n->id);
        r->has_base = true;
        return OK;
    case NOTE_STOP: {
        sink_note *stop = vec_push(&r->stops);
        if (!stop) return ERR_MEMORY;
        *stop = *n;
        return OK;
    }
    case NOTE_ALIVE:
    case NOTE_START: break;
    }
    return OK;
}

/* The next note of the file, of any thread: each has its own in order. at: the next of each
 * thread. False after the last. */
static bool next_note(const replay *r, size_t *at, sink_note *out) {
    int from = -1;
    for (int i = 0; i < r->n_sinks; i++) {
        const vec *notes = &state_of(r, i)->notes;
        if (at[i] == notes->n) continue;
        const note *n = &VEC(notes, note)[at[i]];
        if (from >= 0 && n->offset >= out->n->offset) continue;
        from = i;
        out->n = n;
    }
    if (from < 0) return false;
    at[from]++;
    const timeline_state *st = state_of(r, from);
    out->sink = r->sinks[from];
    if (out->n->what == NOTE_BASE) {
        out->pid = VEC(&st->bases, ident)[out->n->other];
        out->tid = out->pid; /* not used */
    } else {
        const timeline_row *row = &VEC(&st->rows, timeline_row)[out->n->track];
        out->pid = row->pid;
        out->tid = row->tid;
    }
    return true;
}

static status replay_notes(replay *r) {
    size_t *at = mem_zalloc((size_t)r->n_sinks * sizeof *at);
    if (!at) return ERR_MEMORY;
    sink_note n = {0}, before = {0};
    status st = OK;
    while (st == OK && next_note(r, at, &n)) {
        st = meet_process(r, &n);
        if (st == OK) st = replay_note(r, &n, &before);
        before = n.n->what == NOTE_ALIVE ? n : (sink_note){0};
    }
    mem_free(at);
    return st;
}

/* ---- steps ---- */

/* The row of the process whose marks count: the worker's, else the one that is marked last. */
static bool step_row(const replay *r, ident pid, ident *out) {
    bool found = false;
    for (size_t i = 0; i < r->stops.n; i++) {
        const sink_note *n = &VEC(&r->stops, sink_note)[i];
        if (!ident_eq(n->pid, pid)) continue;
        *out = n->tid;
        found = true;
    }
    for (int i = 0; i < r->n_sinks && found; i++) {
        const vec *threads = &state_of(r, i)->threads;
        for (size_t k = 0; k < threads->n; k++) {
            const thread_note *t = &VEC(threads, thread_note)[k];
            if (ident_eq(t->pid, pid) && str_eq(intern_get(r->strings, t->name), STR("worker")))
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
    return s.dur < 0 ? OK : part_slice(stop->sink->part, &s);
}

static status make_steps_of(replay *r, const process_start *p) {
    ident row = {0, false};
    int64_t number = 0, start = p->start;
    if (!step_row(r, p->pid, &row)) return OK;
    for (size_t i = 0; i < r->stops.n; i++) {
        const sink_note *n = &VEC(&r->stops, sink_note)[i];
        if (!ident_eq(n->pid, p->pid) || !ident_eq(n->tid, row)) continue;
        TRY(add_step(r, n, start, ++number));
        start = n->n->time;
    }
    return OK;
}

static status make_steps(replay *r) {
    for (size_t i = 0; i < r->processes.n; i++)
        TRY(make_steps_of(r, &VEC(&r->processes, process_start)[i]));
    return OK;
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

status megengine_replay(builder *b, event_sink *const *sinks, int n, error *err) {
    replay r = {.b = b,
                .sinks = sinks,
                .n_sinks = n,
                .part = sinks[0]->part,
                .strings = builder_strings(b),
                .open = VEC_INIT(open_op),
                .devices = VEC_INIT(device_state),
                .processes = VEC_INIT(process_start),
                .stops = VEC_INIT(sink_note),
                .tensors = VEC_INIT(tensor),
                .facts = VEC_INIT(tensor_fact)};
    uint32_t worker = intern_add(r.strings, STR("worker"));
    status st = worker == UINT32_MAX ? ERR_MEMORY : collect_facts(&r);
    if (st == OK) st = replay_notes(&r);
    if (st == OK) st = make_steps(&r);
    if (st == OK) st = label_rows(&r, err);
    if (st == OK && r.has_named) st = megengine_add_words(b, err);
    vec_fini(&r.open);
    vec_fini(&r.devices);
    vec_fini(&r.processes);
    vec_fini(&r.stops);
    vec_fini(&r.tensors);
    vec_fini(&r.facts);
    map_fini(&r.fact_map);
    buf_fini(&r.scratch);
    builder_set_launch_by_arrow(b, true);
    builder_set_stage_track(b, worker);
    if (st == ERR_MEMORY) FAIL_MEMORY(err);
    return st;
}
