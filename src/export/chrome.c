/* chrome.c: the trace as trace-event JSON, the way PyTorch's profiler writes it, for Perfetto,
 * chrome://tracing, TensorBoard's plugin and HTA. This file writes the frame: root keys, names
 * and order of the rows; chrome_slice.c and chrome_point.c write the events.
 *
 *     {"schemaVersion":1, "deviceProperties":[…], …, "baseTimeNanoseconds":…,
 *     "traceEvents": [
 *     {"ph":"M",…}, … {"ph":"X",…}, …
 *     ]}
 *
 * Old readers look for the text `"traceEvents": [`, want every root key before it, and the same
 * time base on all ranks of a job: the base is the start of the quarter of a year the trace
 * begins in, as Kineto does it. Microseconds with three decimals are whole nanoseconds: nothing
 * is rounded. A recording without a span of its own gets one, because old readers take their
 * axis from it. A plain trace that never was a profiler's stays plain: no version, no devices,
 * no span. Names and arguments are escaped and checked, so the file is valid JSON whatever the
 * input was. */
#include <stdio.h>

#include "analyse/kind_names.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "export/chrome_int.h"
#include "store/traits.h"

/* A quarter of a mean year, in ns: Kineto's base is a multiple of it. */
#define QUARTER_NS (INT64_C(7889238) * 1000000000)

/* Sort keys of the rows, as Kineto gives them. */
enum { SORT_DEVICE = 5000000, SORT_SPANS = 0x20000000 };

void chrome_begin(chrome *c, char ph, str category, str name) {
    buf *b = &c->x->out;
    buf_add_cstr(b, c->any_event ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
    c->any_event = true;
    buf_add_byte(b, ph);
    buf_add_cstr(b, "\",\"cat\":");
    buf_add_json(b, category);
    buf_add_cstr(b, ",\"name\":");
    buf_add_json(b, name);
}

/* Microseconds with three decimals, digit by digit: exact for every int64. */
void chrome_time(chrome *c, const char *key, int64_t ns) {
    char text[32], *p = text + sizeof text;
    uint64_t v = abs_u64(ns);
    for (int i = 0; i < 4 || v; i++, v /= 10) {
        if (i == 3) *--p = '.';
        *--p = (char)('0' + v % 10);
    }
    if (ns < 0) *--p = '-';
    buf_add_cstr(&c->x->out, key);
    buf_add(&c->x->out, p, (size_t)(text + sizeof text - p));
}

void chrome_ident(buf *out, int64_t number, str text) {
    if (number != ABSENT_I64)
        buf_add_i64(out, number);
    else
        buf_add_json(out, text);
}

int64_t export_stream(const trace *t, uint32_t track) {
    if (t->track.tid[track] != ABSENT_I64) return t->track.tid[track];
    for (uint32_t i = t->track.first[track]; i < t->track.end[track]; i++) {
        uint32_t k = kind_is_device(t->slice.kind[i]) ? trace_kernel_of(t, i) : 0;
        if (k) return t->kernel.stream[k];
    }
    return ABSENT_I64;
}

void chrome_where(const trace *t, uint32_t track, buf *out) {
    uint32_t process = t->track.process[track];
    int64_t pid = t->process.pid[process], tid = t->track.tid[track];
    if (t->track.kind[track] == TRACK_STREAM) {
        if (pid == ABSENT_I64 && t->track.device[track] != ABSENT_I32)
            pid = t->track.device[track];
        tid = export_stream(t, track);
    }
    buf_add_cstr(out, ",\"pid\":");
    chrome_ident(out, pid, trace_str(t, t->process.pid_text[process]));
    buf_add_cstr(out, ",\"tid\":");
    chrome_ident(out, tid, trace_str(t, t->track.tid_text[track]));
}

/* ---- root keys --------------------------------------------------------------------------- */

static void add_i32_member(buf *b, const char *key, int64_t v, int64_t absent) {
    if (v == absent) return;
    buf_printf(b, ",\"%s\":%lld", key, (long long)v);
}

/* For producers that describe devices in another way than Kineto. */
static void add_devices(const trace *t, buf *b) {
    for (uint32_t i = 1; i < t->device.n; i++) {
        if (i > 1) buf_add_byte(b, ',');
        buf_printf(b, "{\"id\":%d,\"name\":", t->device.id[i]);
        buf_add_json(b, trace_str(t, t->device.name[i]));
        add_i32_member(b, "totalGlobalMem", t->device.memory[i], ABSENT_I64);
        add_i32_member(b, "computeMajor", t->device.compute_major[i], ABSENT_I32);
        add_i32_member(b, "computeMinor", t->device.compute_minor[i], ABSENT_I32);
        add_i32_member(b, "maxThreadsPerMultiprocessor", t->device.threads_per_sm[i],
                       ABSENT_I32);
        add_i32_member(b, "warpSize", t->device.warp_size[i], ABSENT_I32);
        add_i32_member(b, "numSms", t->device.sm_count[i], ABSENT_I32);
        buf_add_byte(b, '}');
    }
}

static bool is_own_key(str key) {
    static const str keys[] = {STR("schemaVersion"), STR("deviceProperties"),
                               STR("displayTimeUnit"), STR("baseTimeNanoseconds"),
                               STR("traceEvents")};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (str_eq(key, keys[i])) return true;
    return false;
}

static void add_version_and_devices(const trace *t, buf *b) {
    str devices = trace_meta(t, STR("deviceProperties"));
    buf_add_cstr(b, "\"schemaVersion\":1,\n\"deviceProperties\":");
    if (devices.n) {
        json_normal(devices, b);
    } else {
        buf_add_byte(b, '[');
        add_devices(t, b);
        buf_add_byte(b, ']');
    }
    buf_add_cstr(b, ",\n");
}

/* Names of devices that viewers have no number for, by that number: a list from DEVICE_NAMED
 * on. */
static void add_device_words(const trace *t, buf *b) {
    uint32_t last = 0, name_of[DEVICE_UNKNOWN + 1] = {0};
    for (uint32_t i = 1; i < t->device_word.n; i++) {
        name_of[t->device_word.type[i]] = t->device_word.name[i];
        if (t->device_word.type[i] > last) last = t->device_word.type[i];
    }
    if (last < DEVICE_NAMED) return;
    buf_add_cstr(b, "\"" TRACE_DEVICE_WORDS "\":[");
    for (uint32_t type = DEVICE_NAMED; type <= last; type++) {
        if (type > DEVICE_NAMED) buf_add_cstr(b, ", ");
        buf_add_json(b, trace_str(t, name_of[type]));
    }
    buf_add_cstr(b, "],\n");
}

static status add_head(chrome *c, int64_t base_ns) {
    const trace *t = c->x->t;
    buf *b = &c->x->out;
    buf_add_byte(b, '{');
    bool words = false; /* are written: the keys are in order */
    if (!c->plain) add_version_and_devices(t, b);
    for (uint32_t i = 1; i < t->meta.n; i++) {
        str key = trace_str(t, t->meta.key[i]);
        if (is_own_key(key)) continue;
        if (!words && str_cmp(key, STR(TRACE_DEVICE_WORDS)) > 0) {
            add_device_words(t, b);
            words = true;
        }
        buf_add_json(b, key);
        buf_add_byte(b, ':');
        json_normal(trace_str(t, t->meta.value[i]), b);
        buf_add_cstr(b, ",\n");
        TRY(export_row_done(c->x));
    }
    if (!words) add_device_words(t, b);
    buf_add_cstr(b, "\"displayTimeUnit\":\"ms\",\n");
    if (base_ns != ABSENT_I64) {
        buf_add_cstr(b, "\"baseTimeNanoseconds\":");
        buf_add_i64(b, base_ns);
        buf_add_cstr(b, ",\n");
    }
    buf_add_cstr(b, "\"traceEvents\": [");
    return OK;
}

/* The base to write, and the shift from the trace's own. A trace that knows no time of day
 * keeps its times and writes none. */
static int64_t choose_base(chrome *c) {
    const trace *t = c->x->t;
    int64_t own = trace_base_unix_ns(t);
    if (own == ABSENT_I64) return ABSENT_I64;
    int64_t start = add_i64(own, t->start_ns);
    if (start < 0) return own;
    int64_t base = start - start % QUARTER_NS;
    c->shift_ns = sub_i64(own, base);
    return base;
}

/* ---- names of rows ----------------------------------------------------------------------- */

static int64_t find_sort(const trace *t, uint32_t process, export_role r) {
    int64_t pid = t->process.pid[process];
    if (t->process.sort[process] != ABSENT_I64) return t->process.sort[process];
    if (r == ROLE_SPANS) return SORT_SPANS;
    if (r == ROLE_DEVICE) return add_i64(SORT_DEVICE, pid == ABSENT_I64 ? 0 : pid);
    return pid == ABSENT_I64 ? 0 : pid;
}

/* One M event; `where` is the row's pid and tid, the value a JSON text. */
static status add_label(chrome *c, const char *name, const char *key, str value) {
    buf *b = &c->x->out;
    buf_add_cstr(b, c->any_event ? ",\n{\"ph\":\"M\",\"ts\":0.000,\"name\":\""
                                 : "\n{\"ph\":\"M\",\"ts\":0.000,\"name\":\"");
    c->any_event = true;
    buf_add_cstr(b, name);
    buf_add_byte(b, '"');
    buf_add_str(b, buf_str(&c->where));
    buf_printf(b, ",\"args\":{\"%s\":", key);
    buf_add_str(b, value);
    buf_add_byte(b, '}');
    return chrome_end(c);
}

static status add_text_label(chrome *c, const char *name, const char *key, str text) {
    buf value = {0};
    buf_add_json(&value, text);
    status s = buf_ok(&value) ? add_label(c, name, key, buf_str(&value)) : ERR_MEMORY;
    buf_fini(&value);
    if (s == ERR_MEMORY) FAIL_MEMORY(c->x->err);
    return s;
}

static status add_number_label(chrome *c, const char *name, const char *key, int64_t v) {
    char text[24];
    int n = snprintf(text, sizeof text, "%lld", (long long)v);
    return add_label(c, name, key, str_n(text, (size_t)n));
}

static status add_process(chrome *c, uint32_t process) {
    const trace *t = c->x->t;
    export_role r = c->x->roles[process];
    str name = trace_str(t, t->process.name[process]),
        labels = trace_str(t, t->process.labels[process]);
    char device[96];
    buf_clear(&c->where);
    buf_add_cstr(&c->where, ",\"pid\":");
    chrome_ident(&c->where, t->process.pid[process],
                 trace_str(t, t->process.pid_text[process]));
    buf_add_cstr(&c->where, ",\"tid\":0");
    if (!labels.n && r == ROLE_DEVICE && t->process.pid[process] != ABSENT_I64)
        labels = str_n(device, (size_t)min_i64(snprintf(device, sizeof device, "%.*s %lld",
                                                        STR_ARG(device_word_of_work(t)),
                                                        (long long)t->process.pid[process]),
                                               sizeof device - 1));
    if (name.n) TRY(add_text_label(c, "process_name", "name", name));
    if (labels.n) TRY(add_text_label(c, "process_labels", "labels", labels));
    return add_number_label(c, "process_sort_index", "sort_index", find_sort(t, process, r));
}

static status add_track(chrome *c, uint32_t track) {
    const trace *t = c->x->t;
    str name = trace_str(t, t->track.name[track]);
    int64_t sort = t->track.sort[track];
    if (sort == ABSENT_I64) sort = t->track.tid[track];
    buf_clear(&c->where);
    chrome_where(t, track, &c->where);
    if (name.n) TRY(add_text_label(c, "thread_name", "name", name));
    return sort == ABSENT_I64 ? OK
                              : add_number_label(c, "thread_sort_index", "sort_index", sort);
}

static status add_rows(chrome *c) {
    const trace *t = c->x->t;
    for (uint32_t i = 1; i < t->process.n; i++) TRY(add_process(c, i));
    for (uint32_t i = 1; i < t->track.n; i++) TRY(add_track(c, i));
    return OK;
}

/* ---- the whole --------------------------------------------------------------------------- */

/* The span of the recording, where the producer wrote none. */
static status add_span(chrome *c) {
    const trace *t = c->x->t;
    bool training = t->kind_count[KIND_OP] > 0 || t->kernel.n > 1;
    if (c->plain || t->kind_count[KIND_SPAN] > 0 || !training) return OK;
    int64_t start = max_i64(t->start_ns, c->x->from_ns), end = min_i64(t->end_ns, c->x->to_ns);
    buf_clear(&c->where);
    buf_add_cstr(&c->where, ",\"pid\":\"Spans\",\"tid\":\"PyTorch Profiler\"");
    TRY(add_number_label(c, "process_sort_index", "sort_index", SORT_SPANS));
    chrome_begin(c, 'X', STR("Trace"), STR("PyTorch Profiler (0)"));
    buf_add_str(&c->x->out, buf_str(&c->where));
    chrome_time(c, ",\"ts\":", add_i64(start, c->shift_ns));
    chrome_time(c, ",\"dur\":", max_i64(sub_i64(end, start), 0));
    buf_printf(&c->x->out, ",\"args\":{\"Op count\":%llu}",
               (unsigned long long)t->kind_count[KIND_OP]);
    return chrome_end(c);
}

/* A cut is mentioned where readers look for what a file is, and counted for the caller. */
static status add_shortened(chrome *c) {
    if (c->x->shortened) *c->x->shortened = c->n_shortened;
    if (!c->n_shortened) return OK;
    chrome_begin(c, 'M', STR_NONE, STR("tacho_shortened"));
    buf_printf(&c->x->out, ",\"pid\":0,\"args\":{\"slices\":%llu,\"time_ns\":%lld}",
               (unsigned long long)c->n_shortened, (long long)c->shortened_ns);
    return chrome_end(c);
}

static status write_all(chrome *c) {
    TRY(add_head(c, choose_base(c)));
    TRY(add_rows(c));
    TRY(add_span(c));
    TRY(chrome_slices(c));
    TRY(add_shortened(c));
    TRY(chrome_points(c));
    buf_add_cstr(&c->x->out, "\n]}\n");
    if (!buf_ok(&c->where)) FAIL_MEMORY(c->x->err);
    return OK;
}

status export_chrome(export_ctx *x) {
    chrome c = {.x = x};
    c.plain = trace_has(x->t, TRAIT_PLAIN_EVENTS);
    c.own_words = trace_has(x->t, TRAIT_KNOWN_WORDS);
    c.launches = mem_zalloc(x->t->slice.n / 8 + 1);
    status s = OK;
    if (c.launches)
        s = write_all(&c);
    else
        s = error_set(x->err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    mem_free(c.launches);
    buf_fini(&c.where);
    return s;
}
