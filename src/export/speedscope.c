/* speedscope.c: the stacks in the file format of speedscope, a viewer of flame graphs.
 *
 *     {"$schema":…, "shared":{"frames":[{"name":"forward","file":"net.py","line":28}, …]},
 *      "profiles":[{"type":"sampled", "name":"thread 7", "unit":"nanoseconds",
 *                   "startValue":0, "endValue":…, "samples":[[0,1,4], …], "weights":[…]}, …],
 *      "activeProfileIndex":0, …}
 *
 * One profile for each host thread with the self time of its operators on the host, then one
 * with the device time of all of them. A sample is a stack (frames outermost first), its weight
 * the whole time spent there: each stack comes once, so the order of samples says nothing about
 * when; the Chrome form is for that. The weights add up to what folded.c writes, and lines
 * without time are left out here, too.
 *
 * A frame `file(line): function` is written in its three parts. */
#include "export/stack_tree_int.h"

#include "base/arena.h"
#include "base/sort.h"

typedef struct {
    export_ctx *x;
    stack_tree tree;
    uint32_t *rank;  /* node → its place in the order of the tree */
    uint32_t *times; /* rows of tree.times by (track, rank), or by rank for the device */
    uint32_t *scratch;
    uint32_t *stack; /* frames of one sample, innermost first */
    int64_t *weight; /* of the samples of one profile */
    uint32_t n_profiles;
} writer;

/* ---- frames ------------------------------------------------------------------------------ */

/* "path/file.py(123): function" → its parts. */
static bool split_frame(str text, str *file, int64_t *line, str *function) {
    size_t close = str_find(text, STR("): "), 0), open = close;
    if (close == SIZE_MAX) return false;
    while (open && text.p[open - 1] >= '0' && text.p[open - 1] <= '9') open--;
    if (open < 2 || text.p[open - 1] != '(' || close + 3 >= text.n) return false;
    *file = str_n(text.p, open - 1);
    *function = str_from(text, close + 3);
    return str_to_i64(str_n(text.p + open, close - open), line);
}

static status write_frames(writer *w) {
    buf *b = &w->x->out;
    buf_add_cstr(b, "\"shared\":{\"frames\":[");
    for (uint32_t i = 1; i < intern_count(w->tree.texts); i++) {
        str text = intern_get(w->tree.texts, i), file, function;
        int64_t line;
        bool parts = split_frame(text, &file, &line, &function);
        buf_add_cstr(b, i > 1 ? ",\n{\"name\":" : "\n{\"name\":");
        buf_add_json(b, parts ? function : text);
        if (parts) {
            buf_add_cstr(b, ",\"file\":");
            buf_add_json(b, file);
            buf_add_cstr(b, ",\"line\":");
            buf_add_i64(b, line);
        }
        buf_add_byte(b, '}');
        TRY(export_row_done(w->x));
    }
    buf_add_cstr(b, "]},\n");
    return OK;
}

/* ---- profiles ---------------------------------------------------------------------------- */

static const stack_time *time_at(const writer *w, uint32_t i) {
    return GROUP_ROW(&w->tree.times, stack_time, w->times[i]);
}

static status write_sample(writer *w, uint32_t node) {
    buf *b = &w->x->out;
    uint32_t n = 0;
    for (; node; node = stack_tree_node(&w->tree, node)->parent)
        w->stack[n++] = stack_tree_node(&w->tree, node)->text - 1; /* text 0 is unused */
    buf_add_byte(b, '[');
    while (n) {
        buf_add_u64(b, w->stack[--n]);
        if (n) buf_add_byte(b, ',');
    }
    buf_add_byte(b, ']');
    return export_row_done(w->x);
}

/* Samples and weights of the rows from … end, those of one node together. The total is only
 * known after them, which a JSON object does not mind. */
static status write_samples(writer *w, uint32_t from, uint32_t end, export_value what) {
    buf *b = &w->x->out;
    uint32_t n = 0;
    int64_t total = 0;
    buf_add_cstr(b, "\"samples\":[");
    for (uint32_t i = from; i < end;) {
        uint32_t node = time_at(w, i)->node;
        int64_t ns = 0;
        for (; i < end && time_at(w, i)->node == node; i++)
            ns = add_i64(ns, what == EXPORT_VALUE_DEVICE ? time_at(w, i)->device_ns
                                                         : time_at(w, i)->host_ns);
        if (ns <= 0) continue;
        if (n) buf_add_byte(b, ',');
        TRY(write_sample(w, node));
        w->weight[n++] = ns;
        total = add_i64(total, ns);
    }
    buf_add_cstr(b, "],\n\"weights\":[");
    for (uint32_t i = 0; i < n; i++) {
        if (i) buf_add_byte(b, ',');
        buf_add_i64(b, w->weight[i]);
        TRY(export_row_done(w->x));
    }
    buf_add_cstr(b, "],\n\"startValue\":0,\"endValue\":");
    buf_add_i64(b, total);
    buf_add_byte(b, '}');
    return OK;
}

static void begin_profile(writer *w, str name) {
    buf *b = &w->x->out;
    buf_add_cstr(b, w->n_profiles++ ? ",\n{" : "\n{");
    buf_add_cstr(b, "\"type\":\"sampled\",\"unit\":\"nanoseconds\",\"name\":");
    buf_add_json(b, name);
    buf_add_cstr(b, ",\n");
}

/* Named after process and thread: "host: 4711, thread 7 (python)". */
static status write_thread(writer *w, uint32_t from, uint32_t end) {
    const trace *t = w->x->t;
    uint32_t track = time_at(w, from)->track;
    str name = trace_str(t, t->track.name[track]);
    buf label = {0};
    buf_add_cstr(&label, "host: ");
    if (t->track.process[track] && t->process.pid[t->track.process[track]] != ABSENT_I64)
        buf_printf(&label, "%lld, ", (long long)t->process.pid[t->track.process[track]]);
    if (name.n || t->track.tid[track] == ABSENT_I64)
        buf_add_str(&label, name.n ? name : trace_str(t, t->track.tid_text[track]));
    else
        buf_printf(&label, "%lld", (long long)t->track.tid[track]);
    bool ok = buf_ok(&label);
    if (ok) begin_profile(w, buf_str(&label));
    buf_fini(&label);
    if (!ok) FAIL_MEMORY(w->x->err);
    return write_samples(w, from, end, EXPORT_VALUE_HOST);
}

static int compare_tracks(uint32_t a, uint32_t b, const void *context) {
    const writer *w = context;
    const stack_time *x = GROUP_ROW(&w->tree.times, stack_time, a),
                     *y = GROUP_ROW(&w->tree.times, stack_time, b);
    if (x->track != y->track) return x->track < y->track ? -1 : 1;
    return w->rank[x->node] < w->rank[y->node] ? -1 : w->rank[x->node] > w->rank[y->node];
}

static int compare_nodes(uint32_t a, uint32_t b, const void *context) {
    const writer *w = context;
    uint32_t x = w->rank[GROUP_ROW(&w->tree.times, stack_time, a)->node],
             y = w->rank[GROUP_ROW(&w->tree.times, stack_time, b)->node];
    return x < y ? -1 : x > y;
}

static status write_profiles(writer *w) {
    uint32_t n = w->tree.times.n;
    bool any_device = false;
    buf_add_cstr(&w->x->out, "\"profiles\":[");
    sort_index(w->times, w->scratch, n, compare_tracks, w);
    for (uint32_t from = 0, end = 0; from < n; from = end) {
        int64_t total = 0;
        for (; end < n && time_at(w, end)->track == time_at(w, from)->track; end++) {
            total = add_i64(total, max_i64(time_at(w, end)->host_ns, 0));
            any_device |= time_at(w, end)->device_ns > 0;
        }
        if (total) TRY(write_thread(w, from, end));
    }
    if (any_device) {
        sort_index(w->times, w->scratch, n, compare_nodes, w);
        begin_profile(w, STR("device"));
        TRY(write_samples(w, 0, n, EXPORT_VALUE_DEVICE));
    }
    bool device_first = any_device && w->x->value == EXPORT_VALUE_DEVICE;
    buf_add_cstr(&w->x->out, "],\n\"activeProfileIndex\":");
    buf_add_u64(&w->x->out, device_first ? w->n_profiles - 1 : 0);
    buf_add_cstr(&w->x->out, "}\n");
    return OK;
}

static status prepare(writer *w, arena *a) {
    uint32_t n = w->tree.nodes.n, *order = stack_tree_order(&w->tree, a);
    w->rank = ARENA_ARRAY(a, uint32_t, n);
    w->stack = ARENA_ARRAY(a, uint32_t, n);
    w->weight = ARENA_ARRAY(a, int64_t, n);
    w->times = groups_order(&w->tree.times);
    w->scratch = groups_order(&w->tree.times);
    if (!order || !w->rank || !w->stack || !w->weight || !w->times || !w->scratch)
        FAIL_MEMORY(w->x->err);
    for (uint32_t i = 0; i + 1 < n; i++) w->rank[order[i]] = i + 1;
    return OK;
}

static status write_all(writer *w, arena *a) {
    TRY(stack_tree_build(w->x, stack_spell, a, &w->tree));
    TRY(prepare(w, a));
    buf_add_cstr(&w->x->out,
                 "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
                 "\"exporter\":\"tacho\",\n");
    TRY(write_frames(w));
    return write_profiles(w);
}

status export_speedscope(export_ctx *x) {
    arena a;
    writer w = {.x = x};
    arena_init(&a, 0);
    status s = write_all(&w, &a);
    arena_fini(&a);
    return s;
}
