/* chrome_slice.c: slices as complete events, async ranges as begin and end, launch arrows.
 *
 * Rows of a track come in the order of the store: by start, the longer first. Viewers rebuild
 * the nesting of a host thread from times alone and draw nonsense where two slices overlap
 * partially, so there, and only there, one of the two is cut: the first at the start of the
 * second or the second at the end of the first. Python frames are cut before everything else
 * (the frame that begins a step ends inside it; steps and ops are what tables count), otherwise
 * the cut that loses less is made. A pass over the track before it is written finds the ends,
 * with a stack of the open slices. A plain trace that never was a profiler's is left as it was.
 *
 * Launch arrows are not stored; kernel.launch says the same. An arrow starts at the call and
 * ends at each piece of work it launched, its id is the correlation. A graph launch has one
 * start and many ends.
 *
 * Arguments are the producer's own. What readers link by is put right: External id of device
 * work and calls is the id of the innermost op that holds the call; correlation, device and
 * stream are there even where the producer wrote them elsewhere; and every id is the store's,
 * which differs from the producer's where several traces were merged. */
#include <stdio.h>

#include "base/vec.h"
#include "export/chrome_int.h"

/* Kineto's word for a kind, for traces of other producers. */
static const char *const KIND_CATEGORY[N_KINDS] = {
    [KIND_SPAN] = "Trace",
    [KIND_STEP] = "user_annotation",
    [KIND_ANNOTATION] = "user_annotation",
    [KIND_PYTHON] = "python_function",
    [KIND_MODULE] = "python_function",
    [KIND_DATA] = "user_annotation",
    [KIND_FORWARD] = "user_annotation",
    [KIND_BACKWARD] = "user_annotation",
    [KIND_OPTIMIZER] = "user_annotation",
    [KIND_OP] = "cpu_op",
    [KIND_COLLECTIVE] = "user_annotation",
    [KIND_RUNTIME] = "cuda_runtime",
    [KIND_DRIVER] = "cuda_driver",
    [KIND_SYNC] = "cuda_sync",
    [KIND_OVERHEAD] = "overhead",
    [KIND_DEVICE_ANNOTATION] = "gpu_user_annotation",
    [KIND_KERNEL] = "kernel",
    [KIND_MEMCPY] = "gpu_memcpy",
    [KIND_MEMSET] = "gpu_memset",
    [KIND_OP_PHASE] = "op_phase",
    [KIND_FRAMEWORK] = "framework",
    [KIND_GARBAGE] = "user_annotation",
    [KIND_COMPILE] = "user_annotation",
    [KIND_IMPORT] = "user_annotation",
};

typedef struct {
    uint32_t slice, id;
    int64_t end_ns;
} open_range;

/* The track being written. */
typedef struct {
    vec ends;       /* int64_t: the end of each slice of a host thread, cut where it overlaps */
    vec stack;      /* uint32_t: the slices around the current one */
    vec ranges;     /* open_range: async ranges begun and not ended */
    uint32_t first; /* slice of ends[0] */
    bool nested;    /* a host thread */
} lane;

static str find_category(const chrome *c, uint32_t slice) {
    const trace *t = c->x->t;
    uint16_t own = t->slice.category[slice];
    const char *word = KIND_CATEGORY[t->slice.kind[slice]];
    bool keep = c->plain || (own && c->own_words) || !word;
    return keep ? trace_str(t, t->category.name[own]) : str_of(word);
}

/* Steps of other producers get the name that readers look for. */
static void begin_event(chrome *c, char ph, uint32_t slice) {
    const trace *t = c->x->t;
    str name = trace_slice_name(t, slice);
    char step_name[48];
    if (t->slice.kind[slice] == KIND_STEP && !c->own_words)
        for (uint32_t i = 1; i < t->step.n; i++)
            if (t->step.slice[i] == slice)
                name = str_n(step_name,
                             (size_t)snprintf(step_name, sizeof step_name, "ProfilerStep#%lld",
                                              (long long)t->step.number[i]));
    chrome_begin(c, ph, find_category(c, slice), name);
    buf_add_str(&c->x->out, buf_str(&c->where));
}

/* ---- arguments --------------------------------------------------------------------------- */

static void add_member(buf *b, const char *key, int64_t v) {
    if (v == ABSENT_I64) return;
    if (b->n && b->p[b->n - 1] != '{') buf_add_byte(b, ',');
    buf_printf(b, "\"%s\":%lld", key, (long long)v);
}

static void add_inferred(const trace *t, buf *b, const link_facts *f) {
    if (!f->inferred) return;
    buf_add_cstr(b, b->n && b->p[b->n - 1] != '{' ? ",\"Inferred operator\":"
                                                  : "\"Inferred operator\":");
    buf_add_json(b, trace_slice_name(t, f->inferred));
    add_member(b, "Inferred confidence (%)", f->confidence);
}

/* The producer's values; on calls and device work with External id replaced by the op that was
 * found. */
static status add_linked_args(chrome *c, uint32_t record, const link_facts *f) {
    const trace *t = c->x->t;
    buf *b = &c->x->out;
    args_record rec;
    TRY(args_read(c->x->args, record, &rec, c->x->err));
    if (rec.raw) return args_read_json(c->x->args, record, b, c->x->err);
    bool correlation = false, device = false, stream = false;
    buf_add_byte(b, '{');
    if (!f->is_op) add_member(b, "External id", f->external);
    add_inferred(t, b, f);
    for (uint32_t i = 0; i < rec.n; i++) {
        str key = trace_str(t, rec.keys[i]);
        if (!f->is_op && str_eq_nocase(key, STR("External id"))) continue;
        int64_t own = links_number(key, f);
        correlation |= str_eq(key, STR("correlation"));
        device |= str_eq(key, STR("device"));
        stream |= str_eq(key, STR("stream"));
        if (buf_ok(b) && b->p[b->n - 1] != '{') buf_add_byte(b, ',');
        buf_add_json(b, key);
        buf_add_byte(b, ':');
        bool number = (rec.tags[i] & 3) == ARGS_INTEGER;
        if (number && own != ABSENT_I64)
            buf_add_i64(b, own);
        else
            args_value_json(t, &rec, i, b);
    }
    if (!correlation) add_member(b, "correlation", f->correlation);
    if (!device) add_member(b, "device", f->device);
    if (!stream) add_member(b, "stream", f->stream);
    buf_add_byte(b, '}');
    return OK;
}

static status add_args(chrome *c, uint32_t slice, const link_facts *f) {
    uint32_t record = c->x->t->slice.args[slice];
    if (!record && !f->is_work && !f->is_call) return OK; /* of an op nothing else is known */
    buf_add_cstr(&c->x->out, ",\"args\":");
    if (f->is_work || f->is_call || f->is_op) return add_linked_args(c, record, f);
    return args_read_json(c->x->args, record, &c->x->out, c->x->err);
}

/* ---- launch arrows ----------------------------------------------------------------------- */

static bool is_launch(const chrome *c, uint32_t slice) {
    return c->launches[slice / 8] >> slice % 8 & 1;
}

static void mark_launches(chrome *c) {
    const trace *t = c->x->t;
    int64_t start_ns, end_ns;
    for (uint32_t i = 1; i < t->kernel.n; i++) {
        uint32_t launch = t->kernel.launch[i];
        if (launch && export_clip(c->x, t->kernel.slice[i], &start_ns, &end_ns) &&
            export_clip(c->x, launch, &start_ns, &end_ns))
            c->launches[launch / 8] |= (uint8_t)(1 << launch % 8);
    }
}

static status add_arrow(chrome *c, char ph, int64_t id, int64_t time_ns) {
    chrome_begin(c, ph, STR("ac2g"), STR("ac2g"));
    buf_add_str(&c->x->out, buf_str(&c->where));
    chrome_time(c, ",\"ts\":", add_i64(time_ns, c->shift_ns));
    buf_add_cstr(&c->x->out, ph == 'f' ? ",\"bp\":\"e\",\"id\":" : ",\"id\":");
    buf_add_i64(&c->x->out, id);
    return chrome_end(c);
}

/* The start at a launch call, the end at its work. Without a correlation the call's row is the
 * id. */
static status add_arrows(chrome *c, uint32_t slice, const link_facts *f, int64_t start_ns) {
    int64_t id = f->correlation;
    if (is_launch(c, slice)) TRY(add_arrow(c, 's', id == ABSENT_I64 ? slice : id, start_ns));
    if (f->launch && is_launch(c, f->launch))
        TRY(add_arrow(c, 'f', id == ABSENT_I64 ? f->launch : id, start_ns));
    return OK;
}

/* ---- slices ------------------------------------------------------------------------------ */

static bool is_python(const trace *t, uint32_t slice) {
    return t->slice.kind[slice] == KIND_PYTHON || t->slice.kind[slice] == KIND_MODULE;
}

/* Two slices overlap partially: is the first one to be cut? */
static bool cuts_first(const trace *t, uint32_t first, uint32_t second, int64_t first_loses,
                       int64_t second_loses) {
    if (is_python(t, first) != is_python(t, second)) return is_python(t, first);
    return first_loses < second_loses;
}

/* Takes the slice into the stack. */
static status nest_slice(chrome *c, lane *l, uint32_t slice, int64_t start_ns) {
    int64_t *ends = VEC(&l->ends, int64_t), *end = &ends[slice - l->first];
    const uint32_t *stack = VEC(&l->stack, uint32_t);
    while (l->stack.n) {
        uint32_t around = stack[l->stack.n - 1];
        int64_t *its_end = &ends[around - l->first];
        if (*its_end > start_ns) {
            if (*end <= *its_end) break;
            if (!cuts_first(c->x->t, around, slice, sub_i64(*its_end, start_ns),
                            sub_i64(*end, *its_end))) {
                *end = *its_end;
                break;
            }
            *its_end = start_ns;
        }
        l->stack.n--;
    }
    uint32_t *top = vec_push(&l->stack);
    if (!top) FAIL_MEMORY(c->x->err);
    *top = slice;
    return OK;
}

static status nest_track(chrome *c, lane *l, uint32_t track) {
    const trace *t = c->x->t;
    uint32_t n = t->track.end[track] - t->track.first[track];
    int64_t start_ns;
    l->first = t->track.first[track];
    l->ends.n = l->stack.n = 0;
    if (vec_reserve(&l->ends, n) != OK) FAIL_MEMORY(c->x->err);
    l->ends.n = n;
    for (uint32_t i = l->first; i < t->track.end[track]; i++)
        if (t->slice.kind[i] != KIND_ASYNC &&
            export_clip(c->x, i, &start_ns, &VEC(&l->ends, int64_t)[i - l->first]))
            TRY(nest_slice(c, l, i, start_ns));
    return OK;
}

static status add_complete(chrome *c, const lane *l, uint32_t slice) {
    int64_t start_ns, end_ns;
    if (!export_clip(c->x, slice, &start_ns, &end_ns)) return OK;
    if (l->nested) {
        int64_t cut_ns = VEC(&l->ends, int64_t)[slice - l->first];
        c->n_shortened += cut_ns < end_ns;
        c->shortened_ns = add_i64(c->shortened_ns, sub_i64(end_ns, cut_ns));
        end_ns = cut_ns;
    }
    link_facts f = links_find(c->x->t, &c->links, slice);
    begin_event(c, 'X', slice);
    chrome_time(c, ",\"ts\":", add_i64(start_ns, c->shift_ns));
    chrome_time(c, ",\"dur\":", end_ns - start_ns);
    TRY(add_args(c, slice, &f));
    TRY(chrome_end(c));
    return add_arrows(c, slice, &f, start_ns);
}

static status add_async(chrome *c, char ph, const open_range *r, int64_t time_ns) {
    begin_event(c, ph, r->slice);
    chrome_time(c, ",\"ts\":", add_i64(time_ns, c->shift_ns));
    buf_printf(&c->x->out, ",\"id\":%u", r->id);
    if (ph == 'b' && c->x->t->slice.args[r->slice]) {
        buf_add_cstr(&c->x->out, ",\"args\":");
        TRY(args_read_json(c->x->args, c->x->t->slice.args[r->slice], &c->x->out, c->x->err));
    }
    return chrome_end(c);
}

/* Ends every range that is over at this time, the innermost first. */
static status end_ranges(chrome *c, lane *l, int64_t time_ns) {
    while (l->ranges.n) {
        const open_range *top = &VEC(&l->ranges, open_range)[l->ranges.n - 1];
        if (top->end_ns > time_ns) break;
        TRY(add_async(c, 'e', top, top->end_ns));
        l->ranges.n--;
    }
    return OK;
}

/* Ranges that nest share the id of the outermost; one that overlaps partially has its own. */
static status add_range(chrome *c, lane *l, uint32_t slice) {
    open_range r = {.slice = slice, .id = slice};
    int64_t start_ns;
    if (!export_clip(c->x, slice, &start_ns, &r.end_ns)) return OK;
    TRY(end_ranges(c, l, start_ns));
    const open_range *top = l->ranges.n ? &VEC(&l->ranges, open_range)[l->ranges.n - 1] : NULL;
    if (top && r.end_ns > top->end_ns) {
        TRY(add_async(c, 'b', &r, start_ns));
        return add_async(c, 'e', &r, r.end_ns);
    }
    if (top) r.id = top->id;
    TRY(add_async(c, 'b', &r, start_ns));
    open_range *room = vec_push(&l->ranges);
    if (!room) FAIL_MEMORY(c->x->err);
    *room = r;
    return OK;
}

static status add_track(chrome *c, lane *l, uint32_t track) {
    const trace *t = c->x->t;
    buf_clear(&c->where);
    chrome_where(t, track, &c->where);
    l->ranges.n = 0;
    l->nested = t->track.kind[track] == TRACK_THREAD && !c->plain;
    if (l->nested) TRY(nest_track(c, l, track));
    for (uint32_t i = t->track.first[track]; i < t->track.end[track]; i++) {
        if (t->slice.kind[i] == KIND_ASYNC)
            TRY(add_range(c, l, i));
        else
            TRY(add_complete(c, l, i));
    }
    return end_ranges(c, l, INT64_MAX);
}

status chrome_slices(chrome *c) {
    lane l = {
        .ends = VEC_INIT(int64_t), .stack = VEC_INIT(uint32_t), .ranges = VEC_INIT(open_range)};
    status s = OK;
    mark_launches(c);
    for (uint32_t i = 1; i < c->x->t->track.n && s == OK; i++) s = add_track(c, &l, i);
    vec_fini(&l.ends);
    vec_fini(&l.stack);
    vec_fini(&l.ranges);
    return s;
}
