/* xplane_device.c: what ran on GPUs and TPUs.
 *
 *     GPU   lines "Stream #14(Compute)": kernels, copies, sets, each with the number of its
 *           launch
 *     TPU   line "XLA Ops": what a core does one after the other; line "XLA Modules": the
 *           executions of programs they belong to, each with the number of its launch
 *
 * All other lines of a device tell the same again (framework operations, name scopes, source
 * lines) or are not work: they are drawn, and count for nothing. So do the loops and calls of a
 * TPU, whose bodies are on the same line. Copies that go on while others work overlap freely:
 * they are separate ranges.
 *
 * Device work names its instruction; the framework operation that it came from is drawn where
 * it was launched, on the host (xplane_host.c). */
#include <stdio.h>
#include <stdlib.h>

#include "base/bisect.h"
#include "base/num.h"
#include "ingest/util/xla_details.h"
#include "ingest/xplane/xplane_int.h"

/* An execution of a program. */
typedef struct {
    int64_t start, end, correlation;
} run_row;

/* ---- details as text: "regs:90 grid:128,1,1 block:64,1,1" ---- */

static void fill_kernel(const stat_set *s, raw_kernel *k) {
    xla_kernel_details(stat_text(s, STAT_KERNEL_DETAILS), k);
    if (stat_has(s, STAT_OCCUPANCY) && s->v[STAT_OCCUPANCY].type == STAT_REAL)
        k->occupancy = xla_occupancy(s->v[STAT_OCCUPANCY].f);
}

/* "$$1" */
static int64_t context_of(const stat_set *s) {
    str text = stat_text(s, STAT_CONTEXT);
    int64_t v;
    while (text.n && *text.p == '$') text = str_from(text, 1);
    return text.n && str_to_i64(text, &v) ? v : ABSENT_I64;
}

/* ---- framework work ---- */

static bool is_wrapper(str tf_op) {
    return !tf_op.n || str_starts(tf_op, STR("XlaModule"));
}

/* Where the framework says it comes from; 0: nowhere. */
static uint32_t path_of(reader *r, const hlo_row *hlo) {
    const stat_set *s = &r->set;
    if (stat_text(s, STAT_HLO_OP).n && stat_text(s, STAT_NAME).n)
        return stat_string(r, STAT_NAME);
    if (hlo && hlo->path) return hlo->path;
    return is_wrapper(stat_text(s, STAT_TF_OP)) ? 0 : stat_string(r, STAT_TF_OP);
}

/* XLA folds a change of layout into a product and keeps the path of the former. */
static bool only_moves(str name) {
    static const str words[] = {STR("transpose"), STR("reshape"), STR("convert_element_type"),
                                STR("copy"),      STR("squeeze"), STR("broadcast_in_dim")};
    for (size_t i = 0; i < N_OF(words); i++)
        if (str_eq(name, words[i])) return true;
    return false;
}

/* What the compiled program knows of it. */
static void take_hlo(reader *r, const hlo_row *hlo, work_op *out) {
    if (hlo->dot && only_moves(intern_get(r->strings, out->at.name)))
        out->at.name = xplane_string(r, STR("dot_general"));
    out->shapes = hlo->shapes;
    out->types = hlo->types;
    out->flops = hlo->flops;
    out->bytes = hlo->bytes;
    event_argument(r, "source", hlo->source);
}

status work_of_event(reader *r, uint32_t event_name, work_op *out, bool *found) {
    const stat_set *s = &r->set;
    const hlo_row *hlo = NULL;
    str op = stat_text(s, STAT_HLO_OP), name = intern_get(r->strings, event_name);
    *out = (work_op){.external = ABSENT_I64, .flops = NAN, .bytes = ABSENT_I64};
    if (stat_has(s, STAT_PROGRAM)) {
        uint64_t program = (uint64_t)stat_int(s, STAT_PROGRAM, 0);
        if (op.n) TRY(hlo_find(r, program, op, &hlo));
        if (!hlo) TRY(hlo_find(r, program, name, &hlo));
    }
    uint32_t path = path_of(r, hlo);
    const library_row *library = NULL;
    if (!path && !hlo && stat_has(s, STAT_PROGRAM))
        library = hlo_library(r, (uint64_t)stat_int(s, STAT_PROGRAM, 0));
    if (library) {
        out->at = library->at;
        path = library->path;
    } else if (path) {
        TRY(path_find(r, path, &out->at));
    }
    if (!out->at.name)
        out->at.name = hlo    ? hlo->name
                       : op.n ? xplane_string(r, hlo_without_number(op))
                              : xplane_string(r, hlo_without_number(name));
    if (hlo) take_hlo(r, hlo, out);
    if (path && !stat_has(s, STAT_NAME) && is_wrapper(stat_text(s, STAT_TF_OP)))
        event_argument(r, "op_name", path);
    int64_t flops = stat_int(s, STAT_FLOPS, 0);
    if (flops > 0) out->flops = (double)flops;
    if (stat_has(s, STAT_BYTES_ACCESSED)) out->bytes = stat_int(s, STAT_BYTES_ACCESSED, 0);
    *found = true;
    return r->failed ? ERR_MEMORY : OK;
}

status launch_add(reader *r, int64_t correlation, work_op *w) {
    uint32_t *at = map_at(&r->launch_map, (uint64_t)correlation);
    if (!at) return ERR_MEMORY;
    if (*at == MAP_NONE) {
        *at = (uint32_t)r->launches.n;
        launch_row *fresh = vec_push(&r->launches);
        if (!fresh) return ERR_MEMORY;
        *fresh = (launch_row){.n = 0};
    }
    work_op *to = vec_push(&r->works);
    if (!to) return ERR_MEMORY;
    w->external = (int64_t)r->works.n; /* from 1 */
    *to = *w;
    launch_row *row = &VEC(&r->launches, launch_row)[*at];
    uint32_t number = (uint32_t)r->works.n;
    if (row->last) VEC(&r->works, work_op)[row->last - 1].next = number;
    if (!row->first) row->first = number;
    row->last = number;
    row->n++;
    return OK;
}

const launch_row *launch_find(const reader *r, int64_t correlation) {
    uint32_t at = map_get(&r->launch_map, (uint64_t)correlation);
    return at == MAP_NONE ? NULL : &VEC(&r->launches, launch_row)[at];
}

/* ---- device work ---- */

static slice_kind kind_of(const stat_set *s, str name) {
    if (stat_has(s, STAT_KERNEL_DETAILS)) return KIND_KERNEL;
    if (stat_has(s, STAT_MEMCPY_DETAILS)) return KIND_MEMCPY;
    if (stat_has(s, STAT_MEMSET_DETAILS) || stat_has(s, STAT_MEMSET_DETAILS_OLD))
        return KIND_MEMSET;
    if (str_starts(name, STR("Memcpy"))) return KIND_MEMCPY;
    return str_starts(name, STR("Memset")) ? KIND_MEMSET : KIND_KERNEL;
}

static int64_t copied_bytes(const stat_set *s) {
    static const stat_id details[] = {STAT_MEMCPY_DETAILS, STAT_MEMSET_DETAILS,
                                      STAT_MEMSET_DETAILS_OLD};
    for (size_t i = 0; i < N_OF(details); i++) {
        int64_t n = xla_copied_bytes(stat_text(s, details[i]));
        if (n != ABSENT_I64) return n;
    }
    return ABSENT_I64;
}

typedef struct {
    plane *p;
    line l;
    uint32_t track;
    uint16_t category;
    const vec *runs; /* run_row, of a TPU; NULL: each event says its launch */
} device_line;

/* The execution that an operation of a TPU belongs to: the last that began before it. */
static int64_t run_of(const vec *runs, const event *e) {
    const run_row *all = VEC(runs, run_row);
    size_t after = SEARCH_FIRST(i, 0, runs->n, all[i].start <= e->start);
    bool inside = after && e->start < all[after - 1].end;
    return inside ? all[after - 1].correlation : ABSENT_I64;
}

/* Loops, calls and conditions: what they do is on the same line. */
static bool is_around(const stat_set *s) {
    static const str words[] = {STR("while"), STR("conditional"), STR("call")};
    str category = stat_text(s, STAT_HLO_CATEGORY);
    for (size_t i = 0; i < N_OF(words); i++)
        if (str_eq(category, words[i])) return true;
    return false;
}

static status take_work(reader *r, device_line *d, const event *e) {
    const stat_set *s = &r->set;
    work_op work;
    bool found = false, tpu = d->runs != NULL;
    raw_kernel k = RAW_KERNEL_NONE;
    raw_slice row = {.start = e->start, .dur = e->dur, .track = d->track};
    row.name = tpu && e->meta->display ? e->meta->display : e->meta->name;
    row.category = d->category;
    row.kind = (uint8_t)(tpu ? KIND_KERNEL : kind_of(s, intern_get(r->strings, row.name)));
    k.device = d->p->device;
    k.stream = d->l.id;
    k.correlation = tpu ? run_of(d->runs, e) : stat_int(s, STAT_CORRELATION, ABSENT_I64);
    k.context = context_of(s);
    k.graph_node = stat_int(s, STAT_GRAPH_NODE, ABSENT_I64);
    if (row.kind == KIND_KERNEL) fill_kernel(s, &k);
    if (row.kind != KIND_KERNEL) k.bytes = copied_bytes(s);
    if (tpu || stat_has(s, STAT_HLO_OP)) TRY(work_of_event(r, row.name, &work, &found));
    row.args = event_args(r);
    if (found && k.correlation >= 0) {
        work.args = row.args;
        TRY(launch_add(r, k.correlation, &work));
        k.external = work.external;
    }
    if (row.kind == KIND_KERNEL && tpu && is_around(s))
        row.kind = KIND_DEVICE_ANNOTATION;
    else
        TRY(part_kernel(r->part, &k, &row));
    return part_slice(r->part, &row);
}

static status take_span(reader *r, const device_line *d, const event *e) {
    raw_slice row = {.start = e->start,
                     .dur = e->dur,
                     .name = e->meta->display ? e->meta->display : e->meta->name,
                     .track = d->track,
                     .category = d->category,
                     .kind = KIND_SPAN};
    row.args = event_args(r);
    return part_slice(r->part, &row);
}

static status take_async(reader *r, const device_line *d, const event *e) {
    char text[40];
    int n = snprintf(text, sizeof text, "%llu", (unsigned long long)r->n_events);
    raw_mark mark = {.time = e->start,
                     .offset = e->offset,
                     .name = e->meta->display ? e->meta->display : e->meta->name,
                     .track = d->track,
                     .id = xplane_string(r, str_n(text, (size_t)n)),
                     .category = d->category,
                     .kind = KIND_ASYNC};
    mark.args = event_args(r);
    TRY(part_mark(r->part, &mark));
    mark.time = e->start + e->dur;
    mark.offset++;
    mark.args = 0;
    mark.end = true;
    return part_mark(r->part, &mark);
}

typedef status take_function(reader *r, device_line *d, const event *e);

static status take_any(reader *r, device_line *d, const event *e) {
    if (str_eq(d->l.name, STR("Async XLA Ops"))) return take_async(r, d, e);
    return take_span(r, d, e);
}

static status read_line(reader *r, device_line *d, take_function *take) {
    walker w = walk_open(d->l.body);
    event e;
    bool first = true;
    while (line_next(r, d->p, &d->l, &w, &e)) {
        if (first) d->track = line_track(r, d->p, &d->l);
        if (d->track == UINT32_MAX) return ERR_MEMORY;
        first = false;
        TRY(event_stats(r, d->p, &e));
        TRY(take(r, d, &e));
    }
    return r->failed ? ERR_MEMORY : OK;
}

/* ---- executions of a TPU ---- */

static status add_run(reader *r, vec *runs, const event *e) {
    run_row *row = vec_push(runs);
    if (!row) return ERR_MEMORY;
    *row = (run_row){e->start, e->start + e->dur, FIRST_RUN + r->n_runs};
    if (stat_has(&r->set, STAT_CONSUMER)) {
        uint64_t key = hash_pair((uint64_t)stat_int(&r->set, STAT_CONSUMER_TYPE, 0),
                                 (uint64_t)stat_int(&r->set, STAT_CONSUMER, 0));
        uint32_t *at = map_at(&r->run_map, key);
        if (!at) return ERR_MEMORY;
        *at = (uint32_t)r->n_runs;
    }
    r->n_runs++;
    return OK;
}

static int compare_runs(const void *pa, const void *pb) {
    const run_row *a = pa, *b = pb;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return (a->correlation > b->correlation) - (a->correlation < b->correlation);
}

static status read_runs(reader *r, plane *p, vec *runs) {
    walker w = walk_open(p->body), inside;
    pb_field f;
    event e;
    r->again = true; /* they are drawn later */
    while (walk_next(&w, &f)) {
        device_line d = {.p = p};
        if (f.tag != PB_BYTES(3)) continue;
        line_read(r, p, pb_bytes(&f), &d.l);
        if (!str_eq(d.l.name, STR("XLA Modules"))) continue;
        for (inside = walk_open(d.l.body); line_next(r, p, &d.l, &inside, &e);) {
            TRY(event_stats(r, p, &e));
            TRY(add_run(r, runs, &e));
        }
    }
    r->again = false;
    if (runs->n) qsort(runs->p, runs->n, sizeof(run_row), compare_runs);
    return r->failed ? ERR_MEMORY : OK;
}

/* ---- planes ---- */

/* Streams of a GPU are separate; a core of a TPU has none. */
static bool has_streams(const reader *r, const plane *p) {
    walker w = walk_open(p->body);
    pb_field f;
    line l;
    while (walk_next(&w, &f)) {
        if (f.tag != PB_BYTES(3)) continue;
        line_read(r, p, pb_bytes(&f), &l);
        if (str_starts(l.name, STR("Stream"))) return true;
    }
    return false;
}

static bool is_steps(const line *l) {
    return str_eq(l->name, STR("Steps"));
}

static status read_lines(reader *r, plane *p, const vec *runs) {
    walker w = walk_open(p->body);
    pb_field f;
    uint16_t category = builder_category(r->b, xplane_string(r, p->name));
    while (walk_next(&w, &f)) {
        device_line d = {.p = p, .category = category};
        if (f.tag != PB_BYTES(3)) continue;
        line_read(r, p, pb_bytes(&f), &d.l);
        bool ops = runs && str_eq(d.l.name, STR("XLA Ops"));
        if (ops) d.runs = runs;
        if (is_steps(&d.l)) continue; /* device_read_steps */
        bool work = ops || (!runs && str_starts(d.l.name, STR("Stream")));
        TRY(read_line(r, &d, work ? take_work : take_any));
        if (r->o->progress &&
            r->o->progress(r->o->progress_context, d.l.offset, buf_str(&r->file).n))
            return ERR_CANCELLED;
    }
    return OK;
}

status device_read(reader *r, plane *p) {
    vec runs = VEC_INIT(run_row);
    bool streams = has_streams(r, p);
    status st =
        xplane_label(r, p->pid, IDENT_NONE, LABEL_PROCESS_NAME, xplane_string(r, p->name));
    if (st == OK && !streams && p->role == PLANE_TPU) st = read_runs(r, p, &runs);
    bool tpu = !streams && p->role == PLANE_TPU;
    if (st == OK) st = read_lines(r, p, tpu ? &runs : NULL);
    vec_fini(&runs);
    return st;
}

static status take_step(reader *r, device_line *d, const event *e) {
    raw_slice row = {.start = e->start,
                     .dur = e->dur,
                     .name = e->meta->name,
                     .track = d->track,
                     .category = d->category,
                     .kind = KIND_STEP};
    row.args = event_args(r);
    return part_slice(r->part, &row);
}

status device_read_steps(reader *r, plane *p, bool *taken) {
    walker w = walk_open(p->body);
    pb_field f;
    bool mine = !*taken && !r->has_steps;
    while (walk_next(&w, &f)) {
        device_line d = {.p = p};
        if (f.tag != PB_BYTES(3)) continue;
        line_read(r, p, pb_bytes(&f), &d.l);
        if (!is_steps(&d.l)) continue;
        uint64_t before = r->n_events;
        d.category = builder_category(r->b, xplane_string(r, p->name));
        TRY(read_line(r, &d, mine ? take_step : take_any));
        *taken |= mine && r->n_events > before;
    }
    return OK;
}
