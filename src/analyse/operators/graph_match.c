/* graph_match.c: see graph_match.h. */
#include "analyse/operators/graph_match.h"

#include <math.h>

#include "analyse/lexicon.h"
#include "analyse/operators/module_work.h"
#include "base/sort.h"
#include "base/vec.h"
#include "store/args.h"

/* ---- captures ---------------------------------------------------------------------------- */

typedef struct {
    const trace *t;
    arena *arena;
    args_reader *args;
    uint32_t key; /* string id of the argument that names a kernel; 0: no launch has it */
    vec launches; /* captured_launch, of the capture that is open */
    vec captures; /* graph_capture */
} capture_scan;

static bool is_call(const trace *t, uint32_t slice) {
    return t->slice.kind[slice] == KIND_RUNTIME || t->slice.kind[slice] == KIND_DRIVER;
}

/* The kernel that a launch names in its arguments. */
static status read_kernel(capture_scan *s, uint32_t slice, str *out, error *err) {
    args_record r;
    TRY(args_read(s->args, s->t->slice.args[slice], &r, err));
    for (uint32_t i = 0; i < r.n && !r.raw && s->key; i++)
        if (r.keys[i] == s->key && r.tags[i] == ARGS_STRING && r.payloads[i] > 0 &&
            r.payloads[i] < (int64_t)s->t->n_strings)
            *out = trace_str(s->t, (uint32_t)r.payloads[i]);
    return OK;
}

static void find_modules(const trace *t, uint32_t slice, captured_launch *out) {
    uint32_t up = t->slice.parent[slice];
    for (; up; up = t->slice.parent[up]) {
        uint32_t row = trace_module_call_of(t, up);
        if (!row) continue;
        str name = module_short_name(t, t->module_call.module[row]);
        if (!out->module.n)
            out->module = name;
        else {
            out->around = name;
            return;
        }
    }
}

static status add_launch(capture_scan *s, uint32_t slice, error *err) {
    const trace *t = s->t;
    uint32_t row = trace_call_of(t, slice), op = row ? t->call.op[row] : 0;
    captured_launch *one = vec_push(&s->launches);
    if (!one) FAIL_MEMORY(err);
    *one = (captured_launch){0};
    TRY(read_kernel(s, slice, &one->kernel, err));
    if (op) one->op = trace_slice_name(t, op);
    find_modules(t, slice, one);
    return OK;
}

static status end_capture(capture_scan *s, error *err) {
    size_t n = s->launches.n;
    graph_capture *made = n ? vec_push(&s->captures) : NULL;
    if (!n) return OK;
    if (!made) FAIL_MEMORY(err);
    *made = (graph_capture){
        .v = ARENA_ARRAY(s->arena, captured_launch, n), .n = (uint32_t)n, .named = true};
    if (!made->v) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n; i++) {
        made->v[i] = VEC(&s->launches, captured_launch)[i];
        made->named &= made->v[i].kernel.n > 0;
    }
    s->launches.n = 0;
    return OK;
}

/* A capture is of one thread; what the recording does not see the end of does not count. */
static status scan_track(capture_scan *s, uint32_t track, error *err) {
    const trace *t = s->t;
    bool open = false;
    s->launches.n = 0;
    for (uint32_t i = t->track.first[track]; i < t->track.end[track]; i++) {
        if (!is_call(t, i)) continue;
        str name = trace_slice_name(t, i);
        if (str_find(name, STR("BeginCapture"), 0) != SIZE_MAX) {
            open = true;
            s->launches.n = 0;
        } else if (open && str_find(name, STR("EndCapture"), 0) != SIZE_MAX) {
            open = false;
            TRY(end_capture(s, err));
        } else if (open && lexicon_means(name, MEANS_LAUNCHES))
            TRY(add_launch(s, i, err));
    }
    return OK;
}

static uint32_t find_key(const trace *t) {
    for (uint32_t i = 1; i < t->n_strings; i++)
        if (str_eq(trace_str(t, i), STR("kernel"))) return i;
    return 0;
}

static status scan_all(capture_scan *s, error *err) {
    for (uint32_t k = 1; k < s->t->track.n; k++)
        if (s->t->track.kind[k] == TRACK_THREAD) TRY(scan_track(s, k, err));
    return OK;
}

status graph_captures_find(const trace *t, arena *a, graph_captures *out, error *err) {
    capture_scan s = {.t = t,
                      .arena = a,
                      .launches = VEC_INIT(captured_launch),
                      .captures = VEC_INIT(graph_capture)};
    *out = (graph_captures){0};
    TRY(trace_require(t, GRAPH_CAPTURE_TABLES, err));
    TRY(args_reader_new(t, &s.args, err));
    s.key = find_key(t);
    status st = scan_all(&s, err);
    if (st == OK && s.captures.n) {
        out->v = ARENA_ARRAY(a, graph_capture, s.captures.n);
        if (!out->v) st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    }
    for (uint32_t i = 0; st == OK && i < s.captures.n; i++)
        out->v[out->n++] = VEC(&s.captures, graph_capture)[i];
    vec_fini(&s.launches);
    vec_fini(&s.captures);
    args_reader_free(s.args);
    return st;
}

/* ---- replays ----------------------------------------------------------------------------- */

static bool is_replayed(const trace *t, uint32_t k) {
    uint32_t call = t->kernel.launch[k];
    return call && t->slice.kind[t->kernel.slice[k]] == KIND_KERNEL &&
           lexicon_means(trace_slice_name(t, call), MEANS_REPLAYS);
}

static status by_start(const trace *t, graph_replay *r, arena *a, error *err) {
    sort_pair *pairs = ARENA_ARRAY(a, sort_pair, (size_t)r->n + 1);
    intervals at = intervals_in(a);
    if (!pairs) FAIL_MEMORY(err);
    r->range = (interval){INT64_MAX, INT64_MIN};
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t slice = t->kernel.slice[r->kernels[i]];
        int64_t start = t->slice.start[slice], end = slice_end(t, slice);
        pairs[i] = (sort_pair){(uint64_t)start ^ 1ull << 63, r->kernels[i]};
        r->range.start = min_i64(r->range.start, start);
        r->range.end = max_i64(r->range.end, end);
        intervals_add(&at, start, end);
    }
    intervals_merge(&at);
    if (at.failed || !sort_radix_in(a, pairs, r->n)) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < r->n; i++) r->kernels[i] = pairs[i].row;
    r->busy_ns = intervals_ns(&at);
    return OK;
}

status graph_replays_find(const trace *t, arena *a, graph_replays *out, error *err) {
    sort_pair *pairs = ARENA_ARRAY(a, sort_pair, (size_t)t->kernel.n + 1);
    uint32_t n = 0;
    *out = (graph_replays){0};
    if (!pairs) FAIL_MEMORY(err);
    for (uint32_t k = 1; k < t->kernel.n; k++)
        if (is_replayed(t, k)) pairs[n++] = (sort_pair){t->kernel.launch[k], k};
    if (!sort_radix_in(a, pairs, n)) FAIL_MEMORY(err);
    uint32_t *rows = ARENA_ARRAY(a, uint32_t, (size_t)n + 1);
    out->v = ARENA_ARRAY(a, graph_replay, (size_t)n + 1);
    if (!rows || !out->v) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n; i++) {
        rows[i] = pairs[i].row;
        uint32_t call = t->kernel.launch[rows[i]];
        if (!out->n || out->v[out->n - 1].call != call)
            out->v[out->n++] =
                (graph_replay){.call = call, .kernels = &rows[i], .agree = (double)NAN};
        out->v[out->n - 1].n++;
    }
    for (uint32_t i = 0; i < out->n; i++) TRY(by_start(t, &out->v[i], a, err));
    return OK;
}

static uint32_t same_names(const trace *t, const graph_replay *r, const graph_capture *c) {
    uint32_t same = 0;
    for (uint32_t i = 0; i < r->n; i++)
        same += str_eq(trace_slice_name(t, t->kernel.slice[r->kernels[i]]), c->v[i].kernel);
    return same;
}

void graph_replays_match(const trace *t, graph_replays *r, const graph_captures *c) {
    for (uint32_t i = 0; i < r->n; i++) {
        graph_replay *one = &r->v[i];
        for (uint32_t k = 0; k < c->n && !one->capture; k++) {
            if (c->v[k].n != one->n || !c->v[k].named) continue;
            uint32_t same = same_names(t, one, &c->v[k]);
            double share = (double)same / (double)one->n;
            one->agree = isnan(one->agree) || share > one->agree ? share : one->agree;
            if (same == one->n) one->capture = &c->v[k];
        }
    }
}
