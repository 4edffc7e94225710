/* api_slice.c: everything about one slice, or one instant, as JSON.
 *
 * analyse/slice_details finds what it is connected with; here are its rows in other tables, and
 * its arguments as the producer wrote them. What was not recorded is absent. */
#include <stdio.h>

#include "analyse/kind_names.h"
#include "analyse/operators/kernel_source.h"
#include "analyse/operators/tensor_core.h"
#include "analyse/timeline/lanes.h"
#include "analyse/timeline/slice_details.h"
#include "base/json.h"
#include "base/message_ids_http.h"
#include "serve/refs.h"
#include "serve/timeline.h"

enum { MOST_FRAMES = 200 };

/* ---- the slice itself -------------------------------------------------------------------- */

static void put_flags(buf *b, uint8_t flags) {
    static const char *const names[] = {"unfinished", "spilled", "clipped", "clock_suspect",
                                        "synthetic"};
    put_key(b, "flags");
    buf_add_byte(b, '[');
    for (int i = 0; i < 5; i++) {
        if (!(flags & 1 << i)) continue;
        put_comma(b);
        buf_add_json(b, str_of(names[i]));
    }
    buf_add_byte(b, ']');
}

static const char *track_word(uint8_t kind) {
    static const char *const names[] = {"", "thread", "stream", "counter", "async", "span"};
    return kind < sizeof names / sizeof *names ? names[kind] : "";
}

static void put_track(buf *b, const trace *t, uint32_t track) {
    uint32_t process = t->track.process[track];
    put_key(b, "track");
    buf_add_byte(b, '{');
    put_int(b, "id", track);
    put_text(b, "name", trace_str(t, t->track.name[track]));
    put_text(b, "kind", str_of(track_word(t->track.kind[track])));
    if (t->track.tid[track] != ABSENT_I64)
        put_int(b, "tid", t->track.tid[track]);
    else
        put_text(b, "tid", trace_str(t, t->track.tid_text[track]));
    if (t->track.device[track] != ABSENT_I32) put_int(b, "device", t->track.device[track]);
    buf_add_byte(b, '}');
    put_key(b, "process");
    buf_add_byte(b, '{');
    put_int(b, "id", process);
    put_text(b, "name", trace_str(t, t->process.name[process]));
    if (t->process.pid[process] != ABSENT_I64)
        put_int(b, "pid", t->process.pid[process]);
    else
        put_text(b, "pid", trace_str(t, t->process.pid_text[process]));
    buf_add_byte(b, '}');
}

static void put_step(const request_ctx *x, buf *b, uint32_t step, int64_t start) {
    const trace *t = x->traces[0].trace;
    if (!step) return;
    put_key(b, "step");
    buf_add_byte(b, '{');
    put_int(b, "number", t->step.number[step]);
    put_int(b, "offset", sub_i64(start, t->step.start[step]));
    buf_add_byte(b, '}');
}

static void put_slice(const request_ctx *x, buf *b, const slice_details *d) {
    const trace *t = x->traces[0].trace;
    uint32_t s = d->slice;
    put_key(b, "slice");
    buf_add_byte(b, '{');
    put_int(b, "id", s);
    put_text(b, "name", trace_slice_name(t, s));
    put_text(b, "kind", kind_name(t->slice.kind[s]));
    put_text(b, "category", trace_str(t, t->category.name[t->slice.category[s]]));
    put_int(b, "start", ref_offset(x, t->slice.start[s]));
    put_int(b, "duration", t->slice.dur[s]);
    put_int(b, "self", d->self_ns);
    put_int(b, "depth", t->slice.depth[s]);
    put_int(b, "lane", d->lane);
    put_int(b, "row", d->row);
    put_flags(b, t->slice.flags[s]);
    put_track(b, t, d->track);
    put_step(x, b, d->step, t->slice.start[s]);
    buf_add_byte(b, '}');
}

/* ---- its rows in other tables ------------------------------------------------------------ */

static void put_three(buf *b, const char *key, uint32_t a, uint32_t second, uint32_t c) {
    if (a == 0) return;
    put_key(b, key);
    buf_printf(b, "[%u,%u,%u]", a, second, c);
}

static const char *link_word(uint8_t how) {
    static const char *const names[] = {[LINK_NONE] = "none",
                                        [LINK_EXACT] = "exact",
                                        [LINK_CONTAINED] = "contained",
                                        [LINK_ORDER] = "order",
                                        [LINK_GRAPH] = "graph",
                                        [LINK_CAPTURED] = "captured",
                                        [LINK_LAUNCH_ONLY] = "launch_only",
                                        [LINK_INFERRED] = "inferred"};
    return how < sizeof names / sizeof *names ? names[how] : "none";
}

static void put_kernel(buf *b, const trace *t, uint32_t slice) {
    uint32_t k = trace_kernel_of(t, slice);
    if (!k) return;
    put_key(b, "kernel");
    buf_add_byte(b, '{');
    if (t->kernel.device[k] != ABSENT_I32) put_int(b, "device", t->kernel.device[k]);
    put_known(b, "stream", t->kernel.stream[k]);
    put_known(b, "context", t->kernel.context[k]);
    put_known(b, "correlation", t->kernel.correlation[k]);
    put_three(b, "grid", t->kernel.grid_x[k], t->kernel.grid_y[k], t->kernel.grid_z[k]);
    put_three(b, "block", t->kernel.block_x[k], t->kernel.block_y[k], t->kernel.block_z[k]);
    if (t->kernel.registers[k] != ABSENT_I32) put_int(b, "registers", t->kernel.registers[k]);
    put_known(b, "shared_memory", t->kernel.shared_memory[k]);
    if (!isnan(t->kernel.occupancy[k])) put_real(b, "occupancy", t->kernel.occupancy[k]);
    if (!isnan(t->kernel.blocks_per_sm[k]))
        put_real(b, "blocks_per_sm", t->kernel.blocks_per_sm[k]);
    put_known(b, "bytes", t->kernel.bytes[k]);
    put_known(b, "graph_node", t->kernel.graph_node[k]);
    matrix_use use = t->slice.kind[slice] == KIND_KERNEL
                         ? tensor_core_kernel(trace_slice_name(t, slice))
                         : MATRIX_UNKNOWN;
    if (use != MATRIX_UNKNOWN) put_bool(b, "tensor_core", use == MATRIX_YES);
    uint32_t source = kernel_source_of(t, t->slice.name[slice]);
    if (source) {
        put_key(b, "source");
        buf_add_byte(b, '{');
        put_text(b, "file", trace_str(t, t->kernel_source.file[source]));
        if (t->kernel_source.line[source] != ABSENT_I32)
            put_int(b, "line", t->kernel_source.line[source]);
        put_text(b, "operators", trace_str(t, t->kernel_source.operators[source]));
        buf_add_byte(b, '}');
    }
    put_text(b, "link", str_of(link_word(t->kernel.link[k])));
    if (t->kernel.confidence[k]) put_real(b, "confidence", t->kernel.confidence[k] / 100.0);
    buf_add_byte(b, '}');
}

/* JSON text of the producer, as the value it is. */
static void put_json(buf *b, const char *key, str text) {
    if (text.n == 0) return;
    put_key(b, key);
    json_normal(text, b);
}

static void put_op(buf *b, const trace *t, uint32_t slice) {
    static const char *const phases[] = {"",         "data",      "forward",
                                         "backward", "optimizer", "communication"};
    uint32_t k = trace_op_of(t, slice);
    if (!k) return;
    put_key(b, "op");
    buf_add_byte(b, '{');
    put_json(b, "shapes", trace_str(t, t->op.shapes[k]));
    put_json(b, "types", trace_str(t, t->op.types[k]));
    put_json(b, "inputs", trace_str(t, t->op.inputs[k]));
    if (t->op.phase[k] > PHASE_NONE && t->op.phase[k] < sizeof phases / sizeof *phases)
        put_text(b, "phase", str_of(phases[t->op.phase[k]]));
    put_known(b, "sequence", t->op.sequence[k]);
    put_known(b, "forward_thread", t->op.forward_thread[k]);
    if (!isnan(t->op.flops[k])) put_real(b, "flops", t->op.flops[k]);
    put_known(b, "bytes", t->op.bytes[k]);
    put_known(b, "external", t->op.external[k]);
    buf_add_byte(b, '}');
}

static void put_collective(buf *b, const trace *t, uint32_t slice) {
    uint32_t k = trace_comm_of(t, slice);
    if (!k) return;
    put_key(b, "collective");
    buf_add_byte(b, '{');
    put_text(b, "name", trace_str(t, t->comm.name[k]));
    put_text(b, "group", trace_str(t, t->group.name[t->comm.group[k]]));
    put_known(b, "sequence", t->comm.sequence[k]);
    put_known(b, "in_elements", t->comm.in_elements[k]);
    put_known(b, "out_elements", t->comm.out_elements[k]);
    put_text(b, "dtype", trace_str(t, t->comm.dtype[k]));
    if (t->comm.src[k] != ABSENT_I32) put_int(b, "src", t->comm.src[k]);
    if (t->comm.dst[k] != ABSENT_I32) put_int(b, "dst", t->comm.dst[k]);
    buf_add_byte(b, '}');
}

static void put_module(buf *b, const trace *t, uint32_t slice) {
    uint32_t k = trace_module_call_of(t, slice), m = k ? t->module_call.module[k] : 0;
    if (!m) return;
    put_key(b, "module");
    buf_add_byte(b, '{');
    put_text(b, "name", trace_str(t, t->module.name[m]));
    put_known(b, "id", t->module.id[m]);
    buf_add_byte(b, '}');
}

/* The call stack: frames of the op, else the Python slices around it; innermost first.
 * Built-ins are left out: they have no line. */
static void put_stack(buf *b, const trace *t, uint32_t slice) {
    uint32_t k = trace_op_of(t, slice), frame = k ? t->op.frame[k] : 0, n = 0;
    put_key(b, "stack");
    buf_add_byte(b, '[');
    for (; frame && n < MOST_FRAMES; frame = t->frame.parent[frame], n++) {
        if (frame_is_built_in(trace_str(t, t->frame.name[frame]))) continue;
        put_comma(b);
        buf_add_byte(b, '{');
        put_text(b, "name", trace_str(t, t->frame.name[frame]));
        if (t->frame.file[frame]) {
            put_text(b, "file", trace_str(t, t->frame.file[frame]));
            put_int(b, "line", t->frame.line[frame]);
        }
        buf_add_byte(b, '}');
    }
    for (uint32_t i = n ? 0 : t->slice.parent[slice]; i && n < MOST_FRAMES;
         i = t->slice.parent[i]) {
        if (t->slice.kind[i] != KIND_PYTHON && t->slice.kind[i] != KIND_MODULE) continue;
        if (frame_is_built_in(trace_slice_name(t, i))) continue;
        put_comma(b);
        buf_add_byte(b, '{');
        put_text(b, "name", trace_slice_name(t, i));
        buf_add_byte(b, '}');
        n++;
    }
    buf_add_byte(b, ']');
}

/* ---- what it is connected with ----------------------------------------------------------- */

static void put_list(const request_ctx *x, buf *b, const char *key, const slice_list *l) {
    char counter[32];
    put_key(b, key);
    buf_add_byte(b, '[');
    for (uint32_t i = 0; i < l->n; i++) ref_put(x, b, l->v[i]);
    buf_add_byte(b, ']');
    snprintf(counter, sizeof counter, "n_%s", key);
    put_int(b, counter, l->n_all);
}

static void put_why(const request_ctx *x, buf *b, const slice_details *d) {
    put_key(b, "why");
    buf_add_byte(b, '[');
    for (uint32_t i = 0; i < d->n_why; i++) {
        put_comma(b);
        buf_add_byte(b, '{');
        put_text(b, "role", str_of(d->why[i].role));
        put_known(b, "delay", d->why[i].delay_ns);
        ref_members(x, b, d->why[i].slice);
        buf_add_byte(b, '}');
    }
    buf_add_byte(b, ']');
    if (!d->wait) return;
    put_key(b, "wait");
    buf_add_byte(b, '{');
    put_text(b, "id", str_of(d->wait));
    put_int(b, "time", d->wait_ns);
    put_key(b, "behind");
    if (d->behind)
        ref_put(x, b, d->behind);
    else
        buf_add_cstr(b, "null");
    buf_add_byte(b, '}');
}

static void put_flows(const request_ctx *x, buf *b, const slice_details *d) {
    static const char *const kinds[] = {"other", "forward_backward", "launch"};
    put_key(b, "flows");
    buf_add_byte(b, '[');
    for (uint32_t i = 0; i < d->n_flows; i++) {
        const slice_flow *f = &d->flows[i];
        put_comma(b);
        buf_add_byte(b, '{');
        put_text(b, "flow", str_of(kinds[f->kind <= FLOW_LAUNCH ? f->kind : FLOW_OTHER]));
        put_text(b, "direction", f->out ? STR("out") : STR("in"));
        put_text(b, "label", trace_str(x->traces[0].trace, f->name));
        ref_members(x, b, f->slice);
        buf_add_byte(b, '}');
    }
    buf_add_byte(b, ']');
    put_int(b, "n_flows", d->n_flows_all);
}

static void put_same(buf *b, const same_name *n) {
    put_key(b, "same_name");
    buf_add_byte(b, '{');
    put_int(b, "count", n->count);
    put_int(b, "total", n->total);
    put_int(b, "mean", mean_i64(n->total, n->count));
    put_int(b, "min", n->min);
    put_int(b, "max", n->max);
    put_real(b, "share", n->share);
    put_real(b, "percentile", n->percentile);
    put_key(b, "histogram");
    buf_add_byte(b, '{');
    put_int(b, "from", n->min);
    put_int(b, "to", n->max);
    put_bool(b, "log", n->logarithmic);
    put_key(b, "counts");
    buf_add_byte(b, '[');
    for (int i = 0; i < DETAILS_BINS; i++) {
        put_comma(b);
        buf_add_i64(b, n->bins[i]);
    }
    buf_add_byte(b, ']');
    put_key(b, "edges");
    buf_add_byte(b, '[');
    for (int i = 0; i <= DETAILS_BINS; i++) {
        put_comma(b);
        buf_add_i64(b, n->edges[i]);
    }
    buf_add_byte(b, ']');
    put_int(b, "own", n->own);
    buf_add_cstr(b, "}}");
}

/* ---- routes ------------------------------------------------------------------------------ */

static status put_arguments(buf *b, const trace *t, uint32_t record, error *err) {
    put_key(b, "arguments");
    return trace_args_json(t, record, b, err);
}

static status answer_instant(request_ctx *x, uint32_t id, error *err) {
    const lod *l = request_lod(x);
    const trace *t = l->t;
    buf *b = &x->reply.body;
    if (id == 0 || id >= t->instant.n)
        FAIL(err, ERR_NOT_FOUND, NOPOS, MSG_NO_SUCH_SLICE, arg_id("id", id));
    TRY(trace_require(t, TRACE_TABLE(instant) | TRACE_TABLE(category), err));
    uint32_t track = t->instant.track[id], lane = 0;
    for (uint32_t i = 1; i < l->n_lanes; i++)
        if (l->lanes[i].kind == LANE_INSTANTS && l->lanes[i].track == track) lane = i;
    buf_add_cstr(b, "{\"slice\":{");
    put_int(b, "id", id);
    put_text(b, "name", trace_str(t, t->instant.name[id]));
    put_text(b, "kind", STR("instant"));
    put_text(b, "category", trace_str(t, t->category.name[t->instant.category[id]]));
    put_int(b, "start", ref_offset(x, t->instant.time[id]));
    put_int(b, "duration", 0);
    put_int(b, "lane", lane);
    put_int(b, "row", 0);
    put_track(b, t, track);
    put_step(x, b, trace_step_at(t, t->instant.time[id]), t->instant.time[id]);
    buf_add_byte(b, '}');
    TRY(put_arguments(b, t, t->instant.args[id], err));
    buf_add_cstr(b, "}\n");
    return OK;
}

static status put_details(request_ctx *x, uint32_t id, const selection *s, error *err) {
    const trace *t = x->traces[0].trace;
    slice_details d;
    buf *b = &x->reply.body;
    TRY(details_make(request_lod(x), id, s, &x->arena, &d, err));
    buf_add_byte(b, '{');
    put_slice(x, b, &d);
    TRY(put_arguments(b, t, t->slice.args[id], err));
    put_stack(b, t, d.stack_of ? d.stack_of : id);
    ref_put_key(x, b, "stack_of", d.stack_of);
    put_kernel(b, t, id);
    put_op(b, t, id);
    put_collective(b, t, id);
    put_module(b, t, id);
    ref_put_key(x, b, "parent", d.parent);
    put_list(x, b, "children", &d.children);
    ref_put_key(x, b, "previous", d.previous);
    ref_put_key(x, b, "next", d.next);
    put_list(x, b, "kernels", &d.kernels);
    put_int(b, "kernel_time", d.kernel_ns);
    put_why(x, b, &d);
    put_flows(x, b, &d);
    if (s) put_same(b, &d.same);
    buf_add_cstr(b, "}\n");
    return OK;
}

static status answer_slice(request_ctx *x, uint32_t id, error *err) {
    selection s;
    select_init(&s, x->traces[0].trace, &x->request.question.params);
    return put_details(x, id, &s, err);
}

status timeline_slice(request_ctx *x, uint32_t id, error *err) {
    return put_details(x, id, NULL, err);
}

status route_slice(request_ctx *x, error *err) {
    const request *r = &x->request;
    if (r->instant != ABSENT_I64) return answer_instant(x, sat_u32((uint64_t)r->instant), err);
    if (r->id != ABSENT_I64) return answer_slice(x, sat_u32((uint64_t)r->id), err);
    FAIL(err, ERR_ARG, NOPOS, MSG_HTTP_MISSING_PARAMETER, arg_cstr("route", "slice"),
         arg_cstr("name", "id"));
}
