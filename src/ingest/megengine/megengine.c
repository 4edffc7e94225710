/* megengine.c: the meaning of the events in MegEngine's chrome_timeline.json.
 *
 *   interpreter  ▐OpDispatch▌ s┐            ▐──── TensorWaitProp ────▌ f
 *   worker            t└─>▐ Convolution ▌ s┐   ▐GetValue▌ s ─ TensorProp ┘
 *   gpux:0                                 └> f▐ Convolution ▌
 *
 * Everything is a begin/end pair, and only the end knows what the range was: an operator's end
 * has its id among the arguments, a scope's end has nothing. Names of tensor commands carry the
 * tensor's number; it is taken off, the arguments have it too. Rows have no fixed numbers and
 * their names come last, so nothing here depends on the row. Arrows are distinguished by their
 * category and by the process, whose number they carry as name.
 *
 * What needs more than one event (living tensors, an operator's inputs, steps) is noted here
 * and made by megengine_replay.c. The producer's own ratios are kept as the counters they are;
 * they are known to be wrong (touching kernels are lost) and nothing is computed from them. */
#include "ingest/megengine/megengine.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "ingest/megengine/megengine_int.h"
#include "ingest/trace_events/trace_json.h"

enum {
    FIELD_NONE = 0,
    FIELD_OP_ID,
    FIELD_ID,
    FIELD_SHAPE,
    FIELD_DTYPE,
    FIELD_ELEMENTS,
    FIELD_DEVICE,
    FIELD_BYTES,
    FIELD_EXECUTION_TIME,
    FIELD_LOCAL_TIME,
    FIELD_BACKTRACE,
    FIELD_NAME,
    FIELD_VALUE,
};

static uint8_t find_megengine_field(str key) {
    static const event_word table[] = {
        {STR("__id__"), FIELD_OP_ID},
        {STR("id"), FIELD_ID},
        {STR("shape"), FIELD_SHAPE},
        {STR("dtype"), FIELD_DTYPE},
        {STR("nr_elements"), FIELD_ELEMENTS},
        {STR("device"), FIELD_DEVICE},
        {STR("bytes"), FIELD_BYTES},
        {STR("execution_time"), FIELD_EXECUTION_TIME},
        {STR("localTime"), FIELD_LOCAL_TIME},
        {STR("python_backtrace"), FIELD_BACKTRACE},
        {STR("name"), FIELD_NAME},
        {STR("value"), FIELD_VALUE},
    };
    return event_find_word(table, sizeof table / sizeof *table, key);
}

/* ---- types and devices ---- */

int64_t megengine_bytes(str dtype, int64_t n_elements) {
    int64_t bits = 0;
    size_t at = 0;
    if (str_eq(dtype, STR("Bool")) || str_eq(dtype, STR("Byte"))) bits = 8;
    while (at < dtype.n && (dtype.p[at] < '0' || dtype.p[at] > '9') && dtype.p[at] != '(') at++;
    for (; !bits && at < dtype.n && dtype.p[at] >= '0' && dtype.p[at] <= '9'; at++)
        if (at + 1 == dtype.n || dtype.p[at + 1] < '0' || dtype.p[at + 1] > '9') {
            size_t from = at;
            while (from && dtype.p[from - 1] >= '0' && dtype.p[from - 1] <= '9') from--;
            if (!str_to_i64(str_n(dtype.p + from, at + 1 - from), &bits)) return ABSENT_I64;
        }
    if (bits <= 0 || bits > 128 || n_elements < 0 || n_elements > INT64_MAX / 256)
        return ABSENT_I64;
    return (n_elements * bits + 7) / 8;
}

/* A CPU is a device here like any other: work is launched on it and has its own row. It must
 * not be confused with the host. "xpu" is whatever device there is. */
enum { TYPE_CPU = DEVICE_NAMED, TYPE_ANY };

status megengine_add_words(builder *b, error *err) {
    static const str words[] = {STR("CPU"), STR("XPU")};
    for (uint8_t i = 0; i < 2; i++) {
        row_device_word row = {.type = (uint8_t)(DEVICE_NAMED + i),
                               .name = intern_add(builder_strings(b), words[i])};
        if (row.name == UINT32_MAX) FAIL_MEMORY(err);
        TRY(builder_put_device_word(b, &row, err));
    }
    return OK;
}

/* The text between the n-th pair of quotes, STR_NONE when there are not so many. */
static str quoted(str text, int n) {
    size_t open = SIZE_MAX, close = SIZE_MAX;
    for (int i = 0; i <= n; i++) {
        open = str_find(text, STR("\""), close == SIZE_MAX ? 0 : close + 1);
        close = open == SIZE_MAX ? open : str_find(text, STR("\""), open + 1);
        if (close == SIZE_MAX) return STR_NONE;
    }
    return str_n(text.p + open + 1, close - open - 1);
}

bool megengine_device_of(str text, megengine_device *out) {
    static const struct {
        str word;
        uint8_t type;
    } types[] = {{STR("gpu"), DEVICE_CUDA},    {STR("cpu"), TYPE_CPU},
                 {STR("xpu"), TYPE_ANY},       {STR("multithread"), TYPE_CPU},
                 {STR("rocm"), DEVICE_HIP},    {STR("cambricon"), DEVICE_MLU},
                 {STR("atlas"), DEVICE_ASCEND}};
    *out = (megengine_device){.type = DEVICE_UNKNOWN, .physical = text, .logical = text};
    if (str_starts(text, STR("CompNode("))) {
        out->physical = quoted(text, 0);
        out->logical = quoted(text, 1);
        if (!out->logical.p) out->logical = out->physical;
    }
    size_t n = 0, known = sizeof types / sizeof *types;
    str name = out->physical;
    for (size_t i = 0; i < known; i++)
        if (str_starts(name, types[i].word) && types[i].word.n > n) {
            n = types[i].word.n;
            out->type = types[i].type;
        }
    size_t colon = str_find(name, STR(":"), n);
    if (!n || colon == SIZE_MAX) return false;
    str number = str_n(name.p + n, colon - n);
    int64_t id = 0;
    if (!str_eq(number, STR("x")) && number.n && !str_to_i64(number, &id)) return false;
    if (id < 0 || id > INT32_MAX) return false;
    out->id = (int32_t)id;
    return true;
}

/* ---- names ---- */

static bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}

/* Names by which events are distinguished. */
typedef enum {
    WORD_NONE,
    WORD_INPUT,
    WORD_OUTPUT,
    WORD_DISPATCH,
    WORD_MEMCPY,
    WORD_MEMSET,
    WORD_ALIVE,
    WORD_START,
    WORD_SAMPLE, /* every name that ends in _alloc_mem */
    WORD_METADATA,
    WORD_STOP,
} megengine_word;

/* Kinds of ranges with fixed names; tensor commands have a number after theirs, and come
 * first. */
static const struct {
    str name;
    uint8_t kind, word;
    bool numbered;
} NAMES[] = {
    {STR("Input"), KIND_OTHER, WORD_INPUT, true},
    {STR("Output"), KIND_OTHER, WORD_OUTPUT, true},
    {STR("Put"), KIND_OTHER, 0, true},
    {STR("Del"), KIND_OTHER, 0, true},
    {STR("Drop"), KIND_OTHER, 0, true},
    {STR("ReGen"), KIND_OTHER, 0, true},
    {STR("RecFree"), KIND_OTHER, 0, true},
    {STR("GetValue"), KIND_OTHER, 0, true},
    {STR("OpDispatch"), KIND_RUNTIME, WORD_DISPATCH, false},
    {STR("TensorWaitProp"), KIND_SYNC, 0, false},
    {STR("StartProfile"), KIND_OVERHEAD, 0, false},
    {STR("StopProfile"), KIND_OVERHEAD, 0, false},
    {STR("AutoEvict"), KIND_OTHER, 0, false},
    {STR("HostToDevice"), KIND_MEMCPY, 0, false},
    {STR("Memcpy"), KIND_RUNTIME, WORD_MEMCPY, false}, /* the device's own has arguments */
    {STR("Memset"), KIND_RUNTIME, WORD_MEMSET, false},
    {STR("backward"), KIND_BACKWARD, 0, false},
    {STR("step"), KIND_OPTIMIZER, 0, false},
    {STR("clear_grad"), KIND_ANNOTATION, 0, false},
    {STR("clip_grad_norm"), KIND_OPTIMIZER, 0, false},
    {STR("clip_grad_value"), KIND_OPTIMIZER, 0, false},
    {STR("Constants"), KIND_ANNOTATION, 0, false},
    {STR("DispatchOprs"), KIND_ANNOTATION, 0, false},
};

/* Names of counters and points: as ranges they are scopes like any other. */
static const struct {
    str name;
    uint8_t word;
} POINT_NAMES[] = {{STR("nr_alive_tensor"), WORD_ALIVE},
                   {STR("train_time_ratio"), WORD_START},
                   {STR("Metadata"), WORD_METADATA},
                   {STR("StopStep"), WORD_STOP}};

/* "Input 12" → "Input": the arguments have the number too. */
static str cut_number(str name) {
    size_t n = name.n;
    while (n && name.p[n - 1] >= '0' && name.p[n - 1] <= '9') n--;
    if (n == name.n || n < 2 || name.p[n - 1] != ' ') return name;
    str word = str_n(name.p, n - 1);
    for (size_t i = 0; NAMES[i].numbered; i++)
        if (str_eq(word, NAMES[i].name)) return word;
    return name;
}

/* What a range is by its name alone: a scope, unless it is known. Scopes are modules, except
 * those that gradients open, functions and methods (they have a dot), and calls CUPTI saw. */
static uint8_t scope_kind(str name) {
    if (!name.n || str_ends(name, STR("Backward"))) return KIND_ANNOTATION;
    if (name.n > 4 && str_starts(name, STR("cuda")) && is_upper(name.p[4])) return KIND_RUNTIME;
    if (name.n > 2 && str_starts(name, STR("cu")) && is_upper(name.p[2])) return KIND_DRIVER;
    if (str_find(name, STR("("), 0) != SIZE_MAX || str_find(name, STR("::"), 0) != SIZE_MAX)
        return KIND_RUNTIME; /* a kernel's name on the host: its launch */
    return str_find(name, STR("."), 0) != SIZE_MAX ? KIND_ANNOTATION : KIND_MODULE;
}

static name_info meaning_of(event_sink *s, uint32_t id) {
    str name = intern_get(s->strings, id);
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (str_eq(name, NAMES[i].name))
            return (name_info){.kind = NAMES[i].kind, .word = NAMES[i].word, .seen = 1};
    name_info info = {.kind = scope_kind(name), .seen = 1};
    if (str_ends(name, STR("_alloc_mem"))) info.word = WORD_SAMPLE;
    for (size_t i = 0; i < sizeof POINT_NAMES / sizeof *POINT_NAMES; i++)
        if (str_eq(name, POINT_NAMES[i].name)) info.word = POINT_NAMES[i].word;
    return info;
}

static status look_at_name(event_sink *s, uint32_t id, name_info *out) {
    timeline_state *st = s->state;
    name_info info = meaning_of(s, id);
    name_info *slot = vec_at(&st->names, id);
    if (!slot) return ERR_MEMORY;
    *slot = *out = info;
    return OK;
}

static inline status name_of(event_sink *s, uint32_t id, name_info *out) {
    const timeline_state *st = s->state;
    if (id < st->names.n && VEC(&st->names, name_info)[id].seen) {
        *out = VEC(&st->names, name_info)[id];
        return OK;
    }
    return look_at_name(s, id, out);
}

/* ---- categories ---- */

static uint8_t flow_of(str category) {
    static const struct {
        str name;
        uint8_t kind;
    } table[] = {
        {STR("OpDispatch"), FLOW_DISPATCH}, {STR("KernelLaunch"), FLOW_LAUNCH},
        {STR("TensorLink"), FLOW_TENSOR},   {STR("TensorProp"), FLOW_VALUE},
        {STR("KernelLink"), FLOW_LAUNCH},   {STR("CUPTILink"), FLOW_LAUNCH},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (str_eq(category, table[i].name)) return table[i].kind;
    return FLOW_OTHER;
}

/* There are a handful; more than there is room for take turns in the last place. */
static const category_note *find_category(event_sink *s, const event *e) {
    timeline_state *st = s->state;
    size_t i = 0;
    while (i < st->n_categories && st->categories[i].id != e->category) i++;
    if (i == N_CATEGORIES) i--;
    st->category_at[e->category % CATEGORY_PLACES] = (uint8_t)i;
    if (i < st->n_categories && st->categories[i].id == e->category) return &st->categories[i];
    if (i == st->n_categories) st->n_categories++;
    str name = intern_get(s->strings, e->category);
    st->categories[i] = (category_note){.id = e->category,
                                        .row = event_category(s, e).row,
                                        .flow = flow_of(name),
                                        .kernel = str_eq(name, STR("Kernel")),
                                        .launch = str_eq(name, STR("KernelLaunch"))};
    return &st->categories[i];
}

static inline const category_note *category_of(event_sink *s, const event *e) {
    const timeline_state *st = s->state;
    size_t i = st->category_at[e->category % CATEGORY_PLACES];
    bool known = i < st->n_categories && st->categories[i].id == e->category;
    return __builtin_expect(known, 1) ? &st->categories[i] : find_category(s, e);
}

/* ---- notes ---- */

/* The process and thread of a track, for the replay. */
static status keep_row(timeline_state *st, const event *e, uint32_t track) {
    while (st->rows.n <= track) {
        timeline_row *row = vec_push(&st->rows);
        if (!row) return ERR_MEMORY;
        *row = (timeline_row){.known = false};
    }
    VEC(&st->rows, timeline_row)
    [track] = (timeline_row){.pid = event_pid(e), .tid = event_tid(e), .known = true};
    return OK;
}

/* Unix time of 0: on no row, so that none is made for it. */
static status add_base(event_sink *s, const event *e, int64_t ns) {
    timeline_state *st = s->state;
    note *n = vec_push(&st->notes);
    ident *pid = n ? vec_push(&st->bases) : NULL;
    if (!pid) return ERR_MEMORY;
    *pid = event_pid(e);
    *n = (note){.offset = e->offset,
                .time = e->ts_ns,
                .id = ns,
                .other = (uint32_t)(st->bases.n - 1),
                .what = NOTE_BASE};
    return OK;
}

/* A note of this event on its track, with nothing else in it; NULL when out of memory. */
static inline note *add_note(event_sink *s, const event *e, note_what what) {
    timeline_state *st = s->state;
    uint32_t track = event_track(s, e);
    if (track == UINT32_MAX) return NULL;
    bool known = track < st->rows.n && VEC(&st->rows, timeline_row)[track].known;
    if (__builtin_expect(!known, 0) && keep_row(st, e, track) != OK) return NULL;
    note *n = vec_push(&st->notes);
    if (n)
        *n = (note){
            .offset = e->offset, .time = e->ts_ns, .track = track, .what = (uint8_t)what};
    return n;
}

/* Size of what an event describes; types repeat. */
static int64_t bytes_of(event_sink *s, const event *e) {
    timeline_state *st = s->state;
    uint32_t type = event_text(e, FIELD_DTYPE);
    int64_t n = event_int(s, e, FIELD_ELEMENTS, -1);
    if (st->type != type || !type) {
        st->type = type;
        st->type_bits = megengine_bytes(intern_get(s->strings, type), 8);
    }
    if (st->type_bits == ABSENT_I64 || n < 0 || n > INT64_MAX / 256) return ABSENT_I64;
    return (n * st->type_bits + 7) / 8;
}

/* Of no tensor of this process it is known that it was described: each place has an id of
 * another one. */
static void forget_described(timeline_state *st, ident pid) {
    for (int64_t i = 0; i < DESCRIBED_PLACES; i++) st->described[i] = ~i;
    st->described_pid = pid;
    st->has_described = true;
}

static status add_fact(event_sink *s, const event *e, ident pid, int64_t id, int64_t bytes) {
    timeline_state *st = s->state;
    uint64_t key = hash_pair(hash_pair((uint64_t)pid.v, pid.text), (uint64_t)id);
    uint32_t *at = map_at(&st->fact_map, key);
    if (!at) return ERR_MEMORY;
    if (*at != MAP_NONE) return OK;
    *at = 0;
    tensor_fact *f = vec_push(&st->facts);
    if (!f) return ERR_MEMORY;
    *f = (tensor_fact){
        .id = id, .bytes = bytes, .pid = pid, .device = event_text(e, FIELD_DEVICE)};
    *at = (uint32_t)st->facts.n;
    return OK;
}

static status describe_tensor(event_sink *s, const event *e) {
    timeline_state *st = s->state;
    int64_t id = event_int(s, e, FIELD_ID, 0);
    ident pid = event_pid(e);
    bool same_pid = st->has_described && ident_eq(st->described_pid, pid);
    int64_t *place = &st->described[id & (DESCRIBED_PLACES - 1)];
    if (same_pid && *place == id) return OK;
    int64_t bytes = bytes_of(s, e);
    if (bytes == ABSENT_I64) return OK; /* not made yet: the type is "invalid" */
    if (!same_pid) forget_described(st, pid);
    TRY(add_fact(s, e, pid, id, bytes));
    *place = id;
    return OK;
}

/* Size and device of a tensor, the first time it is described. */
static inline status note_tensor(event_sink *s, const event *e) {
    return event_has(e, FIELD_ID) && event_has(e, FIELD_ELEMENTS) ? describe_tensor(s, e) : OK;
}

/* ---- ranges ---- */

/* The end of a range about a tensor repeats the arguments of its beginning: they are kept
 * once. */
static uint32_t args_of(event_sink *s, const event *e) {
    timeline_state *st = s->state;
    bool whole = e->args_cache && e->n_values == e->n_cached;
    if (whole && e->args_cache == st->args_cache) return st->cached_args;
    uint32_t args = part_args(s->part, e->values, e->n_values);
    if (whole && args) {
        st->args_cache = e->args_cache;
        st->cached_args = args;
    }
    return args;
}

/* Device work: cat Kernel, what CUPTI saw on a stream, and copies with arguments. */
static uint8_t kind_on_device(const event *e, const category_note *c, const name_info *name) {
    bool has_bytes = event_has(e, FIELD_BYTES);
    if (c->kernel || event_has(e, FIELD_EXECUTION_TIME)) return KIND_KERNEL;
    if (has_bytes && name->word == WORD_MEMCPY) return KIND_MEMCPY;
    if (has_bytes && name->word == WORD_MEMSET) return KIND_MEMSET;
    return name->kind;
}

static status end_device_work(event_sink *s, const event *e, raw_mark *m) {
    raw_kernel k = RAW_KERNEL_NONE;
    k.external = event_int(s, e, FIELD_OP_ID, ABSENT_I64);
    k.bytes = event_int(s, e, FIELD_BYTES, ABSENT_I64);
    if (k.bytes == ABSENT_I64 && event_has(e, FIELD_ELEMENTS)) k.bytes = bytes_of(s, e);
    m->decides = true;
    TRY(part_mark_kernel(s->part, &k, m));
    return part_mark(s->part, m);
}

/* "Python Backtrace: a.py , line 3, in f\nb.py , line 7, in g\n", outermost first, as the stack
 * texts of the seal: "b.py(7): g;a.py(3): f". Lines "scope: <name>" in between are left out. */
static uint32_t stack_of(event_sink *s, uint32_t text) {
    str all = intern_get(s->strings, text), lead = STR("Python Backtrace: ");
    if (str_starts(all, lead)) all = str_from(all, lead.n);
    buf b = {0};
    while (all.n) {
        size_t cut = str_rfind_byte(all, '\n');
        str line = cut == SIZE_MAX ? all : str_from(all, cut + 1);
        all = str_n(all.p, cut == SIZE_MAX ? 0 : cut);
        size_t at = str_find(line, STR(" , line "), 0);
        size_t in = at == SIZE_MAX ? at : str_find(line, STR(", in "), at);
        if (in == SIZE_MAX) continue;
        if (b.n) buf_add_byte(&b, ';');
        buf_add_str(&b, str_n(line.p, at));
        buf_add_byte(&b, '(');
        buf_add_str(&b, str_n(line.p + at + 8, in - at - 8));
        buf_add_cstr(&b, "): ");
        buf_add_str(&b, str_from(line, in + 5));
    }
    uint32_t id = !buf_ok(&b) ? UINT32_MAX : b.n ? intern_add(s->strings, buf_str(&b)) : 0;
    buf_fini(&b);
    return id;
}

static status end_op(event_sink *s, const event *e, raw_mark *m) {
    timeline_state *st = s->state;
    uint32_t trace = event_text(e, FIELD_BACKTRACE);
    pending_op p = {.op = {.external = event_int(s, e, FIELD_OP_ID, ABSENT_I64),
                           .sequence = ABSENT_I64,
                           .forward_thread = ABSENT_I64,
                           .call_stack = trace ? stack_of(s, trace) : 0}};
    if (p.op.call_stack == UINT32_MAX) return ERR_MEMORY;
    m->kind = KIND_OP;
    m->decides = true;
    p.mark = *m;
    pending_op *row = vec_push(&st->pending);
    if (!row) return ERR_MEMORY;
    *row = p;
    note *n = add_note(s, e, NOTE_OP_END);
    if (!n) return ERR_MEMORY;
    n->other = (uint32_t)(st->pending.n - 1);
    return OK;
}

static status take_mark(event_sink *s, event *e) {
    uint32_t id = e->has & EVENT_NAME ? e->name : 0;
    name_info name = {.kind = KIND_ANNOTATION};
    if (id) TRY(name_of(s, id, &name));
    const category_note *c = category_of(s, e);
    raw_mark m = {
        .time = e->ts_ns,
        .offset = e->offset,
        .name = id,
        .track = event_track(s, e),
        .args = args_of(s, e),
        .category = c->row,
        .kind = kind_on_device(e, c, &name),
        .end = e->ph == 'E',
    };
    if (m.track == UINT32_MAX) return ERR_MEMORY;
    TRY(note_tensor(s, e));
    bool input = name.word == WORD_INPUT;
    if (!m.end && event_has(e, FIELD_ID) && (input || name.word == WORD_OUTPUT)) {
        note *n = add_note(s, e, input ? NOTE_INPUT : NOTE_OUTPUT);
        if (!n) return ERR_MEMORY;
        n->id = event_int(s, e, FIELD_ID, 0);
        n->text = event_text(e, FIELD_SHAPE);
        n->other = event_text(e, FIELD_DTYPE);
    }
    if (m.end && kind_is_device(m.kind)) return end_device_work(s, e, &m);
    if (m.end && event_has(e, FIELD_OP_ID) && name.word != WORD_DISPATCH)
        return end_op(s, e, &m);
    return part_mark(s->part, &m);
}

/* TensorGetProp: a property was read without waiting. */
static status take_complete(event_sink *s, event *e) {
    raw_slice row = {
        .start = e->ts_ns,
        .dur = e->has & EVENT_DUR ? e->dur_ns : 0,
        .name = e->name,
        .track = event_track(s, e),
        .category = event_category(s, e).row,
        .kind = KIND_OTHER,
        .args = part_args(s->part, e->values, e->n_values),
    };
    if (row.track == UINT32_MAX) return ERR_MEMORY;
    TRY(note_tensor(s, e));
    return part_slice(s->part, &row);
}

/* ---- arrows, counters, points, names ---- */

/* Where a kernel was launched is only in the beginning of its arrow: a call of no length inside
 * the operator, so that the launch has a place and a time. */
static status add_launch(event_sink *s, const event *e, const raw_arrow *a) {
    raw_slice row = {
        .start = e->ts_ns,
        .name = e->category,
        .track = a->track,
        .category = a->category,
        .kind = KIND_RUNTIME,
        .flags = SLICE_SYNTHETIC,
    };
    raw_call call = {.correlation = a->id, .external = ABSENT_I64};
    TRY(part_call(s->part, &call, &row));
    return part_slice(s->part, &row);
}

static status take_arrow(event_sink *s, event *e) {
    const category_note *c = category_of(s, e);
    raw_arrow a = {
        .time = e->ts_ns,
        .offset = e->offset,
        .id = event_arrow_id(s, e),
        .name = e->category,
        .scope = e->name,
        .track = event_track(s, e),
        .category = c->row,
        .kind = c->flow,
        .phase = e->ph,
    };
    if (a.track == UINT32_MAX) return ERR_MEMORY;
    if (a.kind == FLOW_TENSOR && e->ph != 'f') {
        note *n = add_note(s, e, e->ph == 's' ? NOTE_MADE : NOTE_TOUCH);
        if (!n) return ERR_MEMORY;
        n->id = a.id;
    }
    if (e->ph == 's' && c->launch) TRY(add_launch(s, e, &a));
    return part_arrow(s->part, &a);
}

static status take_counter(event_sink *s, event *e) {
    name_info name;
    TRY(name_of(s, e->name, &name));
    if (name.word == WORD_ALIVE && !add_note(s, e, NOTE_ALIVE)) return ERR_MEMORY;
    if (name.word == WORD_START && !add_note(s, e, NOTE_START)) return ERR_MEMORY;
    double value = name.word == WORD_SAMPLE ? event_real(s, e, FIELD_VALUE) : NAN;
    if (value >= 0 && value < 9e18) {
        note *n = add_note(s, e, NOTE_SAMPLE);
        if (!n) return ERR_MEMORY;
        n->id = (int64_t)value;
        n->text = e->name;
    }
    return event_take_counter(s, e);
}

static status take_point(event_sink *s, event *e) {
    name_info name;
    TRY(name_of(s, e->name, &name));
    if (name.word == WORD_METADATA && event_has(e, FIELD_LOCAL_TIME)) {
        /* Until 1.6: microseconds, in the first event. */
        const raw_value *v = &e->values[e->at[FIELD_LOCAL_TIME]];
        int64_t scale = 1000;
        for (int i = 0; v->tag == VALUE_DECIMAL && i < v->digits && scale > 1; i++) scale /= 10;
        bool exact = v->tag == VALUE_INT || (v->tag == VALUE_DECIMAL && v->digits <= 3);
        double us = event_real(s, e, FIELD_LOCAL_TIME);
        int64_t ns = us > 0 && us < 9e15 ? (int64_t)(us * 1000) : 0;
        if (exact && v->v > 0 && v->v < INT64_MAX / scale) ns = v->v * scale;
        return ns ? add_base(s, e, ns) : OK;
    }
    if (name.word == WORD_STOP && !add_note(s, e, NOTE_STOP)) return ERR_MEMORY;
    return event_take_instant(s, e);
}

static status take_label(event_sink *s, event *e) {
    timeline_state *st = s->state;
    str name = intern_get(s->strings, e->name);
    bool thread = str_eq(name, STR("thread_name"));
    if (!thread && !str_eq(name, STR("process_name"))) return OK;
    raw_label l = {.pid = event_pid(e),
                   .tid = event_tid(e),
                   .value = event_text(e, FIELD_NAME),
                   .offset = e->offset,
                   .kind = thread ? LABEL_THREAD_NAME : LABEL_PROCESS_NAME};
    TRY(part_label(s->part, &l));
    if (!thread) return OK;
    thread_note *t = vec_push(&st->threads);
    if (!t) return ERR_MEMORY;
    *t = (thread_note){l.pid, l.tid, (uint32_t)l.value, e->offset};
    return OK;
}

/* ---- the dialect ---- */

static status take_event(void *sink, event *e) {
    event_sink *s = sink;
    part_count(s->part, 1, 0);
    cause why = event_fault(e, true);
    if (why != CAUSE_NONE) return event_drop(s, e, why);
    TRY(event_drop_duplicates(s, e));
    switch (e->ph) {
    case 'B':
    case 'E': return take_mark(s, e);
    case 's':
    case 't':
    case 'f': return take_arrow(s, e);
    case 'C': return take_counter(s, e);
    case 'X': return take_complete(s, e);
    case 'i':
    case 'I': return take_point(s, e);
    case 'M': return take_label(s, e);
    default: return event_drop(s, e, CAUSE_UNKNOWN_PHASE);
    }
}

/* Since 1.6: nanoseconds, as a text, in the root object. */
static status take_megengine_key(event_sink *s, str key, str value, error *err) {
    int64_t ns;
    (void)err;
    if (str_eq(key, STR("metadata")) && json_i64(json_member(value, STR("localTime")), &ns) &&
        ns > 0)
        builder_set_base_unix_ns(s->b, ns);
    return OK;
}

static void free_timeline(void *state) {
    timeline_state *st = state;
    vec_fini(&st->notes);
    vec_fini(&st->pending);
    vec_fini(&st->facts);
    vec_fini(&st->threads);
    vec_fini(&st->rows);
    vec_fini(&st->bases);
    vec_fini(&st->names);
    map_fini(&st->fact_map);
    mem_free(st);
}

static void *new_timeline(builder *b, part *p) {
    timeline_state *st = mem_zalloc(sizeof *st);
    (void)b;
    (void)p;
    if (!st) return NULL;
    st->notes = VEC_INIT(note);
    st->pending = VEC_INIT(pending_op);
    st->facts = VEC_INIT(tensor_fact);
    st->threads = VEC_INIT(thread_note);
    st->rows = VEC_INIT(timeline_row);
    st->bases = VEC_INIT(ident);
    st->names = VEC_INIT(name_info);
    return st;
}

/* Rather too many: arrays that grow are copied, room that is not used costs nothing. */
static void expect_bytes(event_sink *s, uint64_t bytes) {
    enum {
        BYTES_A_COUNTER = 400,
        BYTES_A_MARK = 220,
        BYTES_AN_ARROW = 360,
        BYTES_A_NOTE = 300
    };
    timeline_state *st = s->state;
    part_expect_points(s->part, bytes / BYTES_A_COUNTER, bytes / BYTES_A_MARK,
                       bytes / BYTES_AN_ARROW);
    status notes = vec_reserve(&st->notes, sat_size(bytes / BYTES_A_NOTE));
    (void)notes;
}

static status finish_timeline(builder *b, const event_root *root, event_sink *const *sinks,
                              int n, error *err) {
    (void)root;
    builder_set_format(b, "megengine");
    return megengine_replay(b, sinks, n, err);
}

static const event_spelling SPELLING = {.cut = cut_number};

static const dialect MEGENGINE = {
    .spelling = &SPELLING,
    .field_of = find_megengine_field,
    .new_state = new_timeline,
    .free_state = free_timeline,
    .take = take_event,
    .expect = expect_bytes,
    .root_key = take_megengine_key,
    .finish = finish_timeline,
};

status ingest_megengine(source *src, const ingest_options *o, builder *b, error *err) {
    return ingest_trace_events(src, o, b, &MEGENGINE, err);
}
