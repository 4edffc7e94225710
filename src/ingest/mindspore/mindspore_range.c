/* mindspore_range.c: host events of MindSpore 2.7 and later.
 *
 *   mindspore.op_range        u16 type, u32 length, value: 54 fixed bytes, then fields (u16
 *                             key, u32 length, bytes), little endian (mindspore_records.c);
 *                             times are counts of a processor's counter
 *   RuntimeProfilerDetail*.csv  lines module:M, event:E, op:NAME, start_time:N, end_time:N,
 *                               dur_time:,N,ns,
 *                             tid:T, pid:P in steps [Step:n step_time:…]
 *
 * Both become slices of the framework by thread. The counter's rate is in files of another tool
 * that are rarely kept: without them a count is treated as a nanosecond, and the metadata says
 * so. Flow records have their end before their start and are not ranges. A record that does not
 * fit ends the file. */
#include "base/num.h"
#include "ingest/mindspore/mindspore_int.h"

static const char *const MODULES[] = {
    "Default", "GraphExecutorPy", "RuntimeFramework", "PynativeFramework",
    "Kernel",  "Python",          "Capture",          "Other"};
static const char *const STAGES[] = {"Default",      "Python",    "Capture", "RunGraph",
                                     "RunGrad",      "RunOp",     "Asnumpy", "CompileGradGraph",
                                     "WaitPipeline", "SyncStream"};
/* By number, as 2.7 to 2.10 count them. */
static const char *const EVENTS[] = {"Default",
                                     "KernelInfer",
                                     "KernelResize",
                                     "KernelInferAndResize",
                                     "KernelLaunch",
                                     "KernelLaunckCallback",
                                     "KernelUpdate",
                                     "KernelPrepareData",
                                     "GraphLaunch",
                                     "InputProcess",
                                     "OutputProcess",
                                     "WaitTaskFinish",
                                     "PreLaunch",
                                     "PostLaunch",
                                     "SendOutput",
                                     "MemoryAlloc",
                                     "MemoryFree",
                                     "CopyData",
                                     "StreamSync",
                                     "ProcessMultiStream",
                                     "WaitKernelsInferFinish",
                                     "WaitKernelsResizeFinish",
                                     "WaitKernelsLaunchFinish",
                                     "KernelInferInner",
                                     "KernelInferDataSync",
                                     "KernelResizeInner",
                                     "KernelLaunchInner",
                                     "BackendGraphRunInner",
                                     "RunOp",
                                     "PyNativeFrontendTask",
                                     "PyNativeBackendTask",
                                     "PyNativeDeviceTask",
                                     "PyNativeLaunchTask",
                                     "PyNativeBpropTask",
                                     "Wait",
                                     "PyNativeGilAcquire",
                                     "PyNativeCast",
                                     "PyNativeInfer",
                                     "PyNativeOpCompile",
                                     "PyNativeGradExpander",
                                     "PyNativeGradUpdateSens",
                                     "PyNativeGradClearTopCell",
                                     "PyNativeGradClearAutoGradCell",
                                     "PyBoostInferOutput",
                                     "PyBoostInferByOpDef",
                                     "PyBoostCreateOutputTensor",
                                     "PyBoostDeviceTask",
                                     "PyBoostMallocInput",
                                     "PyBoostMallocOutput",
                                     "PyBoostLaunchAclnn",
                                     "PyBoostLaunchAtb",
                                     "PyNativeNewGraph",
                                     "PyNativeEndGraph",
                                     "PythonObserved",
                                     "CaptureRunGraph",
                                     "CaptureProcess",
                                     "CaptureCompile",
                                     "CaptureGuard",
                                     "AclnnHitCacheStage1",
                                     "AclnnHitCacheStage2",
                                     "AclnnMissCacheStage1",
                                     "AclnnMissCacheStage2",
                                     "AclnnUpdateAddress",
                                     "AclnnRunOp",
                                     "RunExpanderFunc",
                                     "EmitOp",
                                     "Execute",
                                     "ReleaseResource",
                                     "NativeFunc"};

#define NAMED(list, i) str_of((i) < sizeof(list) / sizeof *(list) ? (list)[i] : "Default")

typedef struct {
    str name, full, module, event;
} range_texts;

static range_texts parse_fields(str fields) {
    range_texts t = {.name = STR("")};
    str value;
    for (unsigned key; ms_next_field(&fields, &key, &value);) {
        if (key == 13) t.name = value;
        if (key == 14) t.full = value;
        if (key == 15) t.module = value;
        if (key == 16) t.event = value;
    }
    return t;
}

/* What the event is called where it is shown. */
static void write_name(buf *out, const char *fixed, const range_texts *t) {
    bool graph = fixed[51], stage = fixed[52], stack = fixed[53];
    buf_clear(out);
    if (stack || str_eq(t->name, STR("flow"))) {
        buf_add_str(out, t->name);
    } else if (stage) {
        buf_add_str(out, NAMED(STAGES, read_le(fixed + 48, 2)));
    } else {
        buf_add_str(out, graph ? t->module : NAMED(MODULES, read_le(fixed + 44, 2)));
        buf_add_cstr(out, "::");
        buf_add_str(out, graph ? t->event : NAMED(EVENTS, read_le(fixed + 46, 2)));
        buf_add_cstr(out, "::");
        buf_add_str(out, graph ? t->name : t->full);
    }
}

static status add_range(ms *m, str value, buf *name, error *err) {
    range_texts t = parse_fields(str_from(value, 54));
    uint64_t start = read_le(value.p + 24, 8), end = read_le(value.p + 32, 8);
    if (!start || end < start || end >= (uint64_t)1 << 61)
        return OK; /* unused, or a flow record */
    write_name(name, value.p, &t);
    if (!buf_ok(name)) FAIL_MEMORY(err);
    ms_exec e = {.start = (int64_t)start,
                 .dur = (int64_t)(end - start),
                 .stream = sat_i64(read_le(value.p, 8)),
                 .name = ms_string(m, name->n ? buf_str(name) : STR("(no name)")),
                 .lane = LANE_HOST,
                 .kind = value.p[53] ? KIND_PYTHON : KIND_OTHER};
    return ms_add_exec(m, &e, err);
}

status read_op_range(ms *m, str text, error *err) {
    buf name = {0};
    if (m->host_events) return OK; /* the timeline was made of it, and has its clock right */
    status st = ms_meta(m, "host_clock", STR("\"counter, 1 count taken for 1 ns\""), err);
    ms_records all = {.rest = text, .whole = text.n};
    for (str value; st == OK && ms_next_record(m, &all, 54, &value);) {
        part_count(m->part, 1, 0);
        st = add_range(m, value, &name, err);
    }
    buf_fini(&name);
    return st;
}

/* ---- the runtime profiler ---------------------------------------------------------------- */

/* The number after the last `key` of a line, and the line in front of the key. */
static bool take_last(str *line, str key, int64_t *out) {
    for (size_t at = line->n >= key.n ? line->n - key.n + 1 : 0; COUNT_DOWN(at);) {
        if (!str_starts(str_from(*line, at), key)) continue;
        str digits = str_from(*line, at + key.n);
        size_t n = 0;
        while (n < digits.n && digits.p[n] >= '0' && digits.p[n] <= '9') n++;
        line->n = at;
        return str_to_i64(str_n(digits.p, n), out);
    }
    return false;
}

/* module:M, event:E, op:NAME -> M::E::NAME; stage:S -> S. The name may hold commas and
 * colons. */
static void write_runtime_name(buf *out, str head) {
    size_t event = str_find(head, STR(", event:"), 0);
    size_t op = event == SIZE_MAX ? SIZE_MAX : str_find(head, STR(", op:"), event);
    size_t colon = str_find(head, STR(":"), 0);
    buf_clear(out);
    if (op == SIZE_MAX || colon > event) {
        buf_add_str(out, colon == SIZE_MAX ? head : str_from(head, colon + 1));
        return;
    }
    buf_add(out, head.p + colon + 1, event - colon - 1);
    buf_add_cstr(out, "::");
    buf_add(out, head.p + event + 8, op - event - 8);
    buf_add_cstr(out, "::");
    buf_add_str(out, str_from(head, op + 5));
}

static status add_runtime_line(ms *m, str line, buf *name, error *err) {
    ms_exec e = {.lane = LANE_HOST, .kind = KIND_OTHER};
    int64_t pid, end, dur;
    str rest = line;
    part_count(m->part, 1, 0);
    bool ok =
        take_last(&rest, STR(", pid:"), &pid) && take_last(&rest, STR(", tid:"), &e.stream);
    /* A flow record's duration has wrapped and is not a number here; it is not a range. */
    if (ok) (void)!take_last(&rest, STR(", dur_time:,"), &dur);
    ok = ok && take_last(&rest, STR(", end_time:"), &end) &&
         take_last(&rest, STR(", start_time:"), &e.start);
    if (!ok) {
        ms_lost(m, CAUSE_MISSING_TIME, NOPOS, line);
        return OK;
    }
    if (end < e.start) return OK;
    e.dur = sub_i64(end, e.start);
    write_runtime_name(name, rest);
    e.name = buf_ok(name) ? ms_string(m, buf_str(name)) : MS_NO_STRING;
    if (str_starts(line, STR("stage:"))) e.kind = KIND_ANNOTATION;
    return ms_add_exec(m, &e, err);
}

/* A step is as long as its header says and ends with its last event. */
typedef struct {
    int64_t number, start, end;
    bool open;
} runtime_step;

static status end_step(ms *m, runtime_step *s, error *err) {
    if (!s->open || s->end <= s->start) return OK;
    str name = arena_printf(m->arena, "Step %lld", (long long)s->number);
    ms_exec e = {.start = s->start, .dur = sub_i64(s->end, s->start), .lane = LANE_STEP};
    e.name = ms_string(m, name);
    return name.p ? ms_add_exec(m, &e, err) : ERR_MEMORY;
}

status read_runtime_detail(ms *m, str text, error *err) {
    buf name = {0};
    runtime_step step = {.open = false};
    status st = OK;
    for (str line; st == OK && ms_line(&text, &line);) {
        size_t before = m->exec.rows.n;
        if (str_starts(line, STR("[Step:"))) {
            st = end_step(m, &step, err);
            size_t n = 6;
            while (n < line.n && line.p[n] >= '0' && line.p[n] <= '9') n++;
            step = (runtime_step){.start = INT64_MAX, .end = INT64_MIN};
            step.open = str_to_i64(str_n(line.p + 6, n - 6), &step.number);
        } else if (str_starts(line, STR("module:")) || str_starts(line, STR("stage:"))) {
            st = add_runtime_line(m, line, &name, err);
        }
        if (m->exec.rows.n == before || !step.open) continue;
        const ms_exec *e = &VEC(&m->exec.rows, ms_exec)[m->exec.rows.n - 1];
        if (e->lane != LANE_HOST) continue;
        step.start = min_i64(step.start, e->start);
        step.end = max_i64(step.end, add_i64(e->start, e->dur));
    }
    if (st == OK) st = end_step(m, &step, err);
    buf_fini(&name);
    if (st == ERR_MEMORY) FAIL_MEMORY(err);
    return st;
}
