/* rocm.c: rows of rocprofv3's records, whichever of its two files they come from.
 *
 * AMD counts a grid in work-items: blocks are those by the size of a group. Kernels are called
 * NAME.kd; a record has a queue of the hardware and, where HIP was traced, a stream. */
#include "ingest/rocm/rocm.h"

#include <stdio.h>

#include "ingest/rocm/rocm_int.h"

rocm rocm_begin(builder *b, const ingest_options *o) {
    return (rocm){.b = b,
                  .part = builder_part(b),
                  .strings = builder_strings(b),
                  .o = o,
                  .rows = VEC_INIT(rocm_row)};
}

void rocm_end(rocm *r) {
    map_fini(&r->row_map);
    vec_fini(&r->rows);
}

uint32_t rocm_string(rocm *r, str s) {
    uint32_t id = intern_add(r->strings, s);
    r->failed |= id == UINT32_MAX;
    return id == UINT32_MAX ? 0 : id;
}

static status label(rocm *r, ident pid, ident tid, label_kind kind, int64_t value) {
    raw_label l = {
        .pid = pid, .tid = tid, .value = value, .offset = r->n_events, .kind = (uint8_t)kind};
    return r->failed ? ERR_MEMORY : part_label(r->part, &l);
}

static uint32_t add_row(rocm *r, int32_t device, int64_t stream) {
    char text[32];
    int n = snprintf(text, sizeof text, "GPU %d", (int)device);
    ident pid = {rocm_string(r, str_n(text, (size_t)n)), true}, tid = {stream, false};
    uint32_t track = part_track(r->part, pid, tid);
    r->failed |= track == UINT32_MAX || label(r, pid, tid, LABEL_THREAD_DEVICE, device) != OK ||
                 label(r, pid, IDENT_NONE, LABEL_PROCESS_NAME, pid.v) != OK;
    return track;
}

static uint32_t stream_track(rocm *r, int32_t device, int64_t stream) {
    for (uint64_t key = hash_pair((uint64_t)device, (uint64_t)stream);; key++) {
        uint32_t *at = map_at(&r->row_map, key);
        r->failed |= !at;
        if (!at) return UINT32_MAX;
        if (*at == MAP_NONE) {
            *at = (uint32_t)r->rows.n;
            rocm_row *row = vec_push(&r->rows);
            r->failed |= !row;
            if (row) *row = (rocm_row){stream, device, add_row(r, device, stream)};
            return row ? row->track : UINT32_MAX;
        }
        const rocm_row *row = &VEC(&r->rows, rocm_row)[*at];
        if (row->device == device && row->stream == stream) return row->track;
    }
}

/* Start and duration; false, and counted, when they are none. */
static bool time_of(rocm *r, int64_t start, int64_t end, raw_slice *s) {
    cause why = start == ABSENT_I64 || end == ABSENT_I64 ? CAUSE_MISSING_TIME
                : end < start                            ? CAUSE_NEGATIVE_DURATION
                                                         : CAUSE_NONE;
    r->n_events++;
    part_count(r->part, 1, why != CAUSE_NONE);
    if (why != CAUSE_NONE) part_lost(r->part, why, NOPOS, 0);
    s->start = start;
    s->dur = why == CAUSE_NONE ? sub_i64(end, start) : 0;
    return why == CAUSE_NONE;
}

str rocm_kernel_name(str name) {
    static const str ends[] = {STR(" [clone .kd]"), STR(".kd")};
    for (size_t i = 0; i < N_OF(ends); i++)
        if (str_ends(name, ends[i])) return str_n(name.p, name.n - ends[i].n);
    return name;
}

str rocm_copy_name(str operation) {
    static const struct {
        str theirs, ours;
    } names[] = {{STR("HOST_TO_DEVICE"), STR("Memcpy HtoD")},
                 {STR("DEVICE_TO_HOST"), STR("Memcpy DtoH")},
                 {STR("DEVICE_TO_DEVICE"), STR("Memcpy DtoD")},
                 {STR("HOST_TO_HOST"), STR("Memcpy HtoH")},
                 {STR("CopyHostToDevice"), STR("Memcpy HtoD")}, /* roctracer's words */
                 {STR("CopyDeviceToHost"), STR("Memcpy DtoH")},
                 {STR("CopyDeviceToDevice"), STR("Memcpy DtoD")}};
    for (size_t i = 0; i < N_OF(names); i++)
        if (str_ends(operation, names[i].theirs)) return names[i].ours;
    return operation;
}

bool rocm_read_address(str text, int64_t *out) {
    uint64_t v = 0;
    if (!str_starts(text, STR("0x"))) return false;
    for (size_t i = 2; i < text.n && i < 18; i++) {
        char c = (char)(text.p[i] | 0x20);
        v = v << 4 | (uint64_t)(c <= '9' ? c & 15 : (c - 'a' + 10) & 15);
    }
    *out = (int64_t)v;
    return true;
}

static uint32_t count_u32(int64_t v) {
    return v > 0 ? sat_u32((uint64_t)v) : 0;
}

static void fill_kernel(const rocm_work *w, raw_kernel *k) {
    for (int i = 0; i < 3; i++) {
        int64_t block = w->block[i] > 0 ? w->block[i] : 1;
        k->block[i] = count_u32(w->block[i]);
        k->grid[i] = count_u32(w->grid[i] > 0 ? (w->grid[i] - 1) / block + 1 : 0);
    }
    k->shared_memory = w->shared_memory;
}

status rocm_put_work(rocm *r, const rocm_work *w) {
    raw_slice s = {.kind = (uint8_t)w->kind};
    raw_kernel k = RAW_KERNEL_NONE;
    if (!time_of(r, w->start, w->end, &s)) return OK;
    s.name = w->name;
    k.device = w->device;
    k.stream = w->stream != ABSENT_I64 ? w->stream : w->queue;
    k.correlation = w->correlation;
    k.bytes = w->bytes;
    if (w->kind == KIND_KERNEL) fill_kernel(w, &k);
    s.track = stream_track(r, w->device, k.stream == ABSENT_I64 ? 0 : k.stream);
    if (r->failed) return ERR_MEMORY;
    TRY(part_kernel(r->part, &k, &s));
    return part_slice(r->part, &s);
}

/* ---- threads ---- */

static slice_kind kind_of_call(str domain) {
    if (str_starts(domain, STR("HIP_"))) return KIND_RUNTIME;
    if (str_starts(domain, STR("HSA_"))) return KIND_DRIVER;
    if (str_starts(domain, STR("MARKER_"))) return KIND_ANNOTATION;
    if (str_starts(domain, STR("RCCL_"))) return KIND_FRAMEWORK;
    return KIND_OTHER;
}

/* Calls come in long runs of one domain. */
static void look_at_domain(rocm *r, uint32_t domain) {
    if (r->category && r->domain == domain) return;
    r->domain = domain;
    r->kind = (uint8_t)kind_of_call(intern_get(r->strings, domain));
    r->category = builder_category(r->b, domain);
}

status rocm_put_call(rocm *r, const rocm_call *c) {
    raw_slice s = {.name = c->name};
    if (!time_of(r, c->start, c->end, &s)) return OK;
    look_at_domain(r, c->domain);
    s.kind = r->kind;
    s.category = r->category;
    s.track = part_track(r->part, (ident){c->pid, false}, (ident){c->tid, false});
    if (r->failed || s.track == UINT32_MAX) return ERR_MEMORY;
    if (kind_is_call(s.kind)) {
        raw_call call = {.correlation = c->correlation, .external = ABSENT_I64};
        TRY(part_call(r->part, &call, &s));
    }
    return part_slice(r->part, &s);
}

status rocm_name_thread(rocm *r, int64_t pid, int64_t tid, str name) {
    return name.n ? label(r, (ident){pid, false}, (ident){tid, false}, LABEL_THREAD_NAME,
                          rocm_string(r, name))
                  : OK;
}

status rocm_name_process(rocm *r, int64_t pid, str name) {
    return name.n ? label(r, (ident){pid, false}, IDENT_NONE, LABEL_PROCESS_NAME,
                          rocm_string(r, name))
                  : OK;
}

/* ---- the rest ---- */

status rocm_put_device(rocm *r, str name, int64_t cu_count, int64_t wave_size,
                       int64_t waves_per_cu, str properties, int32_t *device, error *err) {
    raw_device d = RAW_DEVICE_NONE;
    d.id = *device = r->n_gpus++;
    d.type = DEVICE_HIP;
    d.name = rocm_string(r, name);
    d.properties = rocm_string(r, properties);
    if (cu_count > 0) d.sm_count = sat_i32(cu_count);
    if (wave_size > 0 && wave_size <= 128) d.warp_size = (int32_t)wave_size;
    if (d.warp_size > 0 && waves_per_cu > 0 && waves_per_cu < 4096)
        d.threads_per_sm = (int32_t)(wave_size * waves_per_cu);
    if (r->failed) FAIL_MEMORY(err);
    return builder_add_device(r->b, &d, err);
}

status rocm_put_memory(rocm *r, int64_t time, int64_t address, int64_t bytes, int32_t device,
                       bool release, int64_t pid) {
    raw_memory m = {.time = time,
                    .address = (uint64_t)address,
                    .bytes = release ? -max_i64(0, bytes) : max_i64(0, bytes),
                    .allocated = ABSENT_I64,
                    .reserved = ABSENT_I64,
                    .tie = sat_u32(++r->n_events),
                    .device = device,
                    .device_type = device == ABSENT_I32 ? DEVICE_CPU : DEVICE_HIP,
                    .kind = release ? MEMORY_FREE : MEMORY_ALLOC};
    part_count(r->part, 1, time == ABSENT_I64);
    if (time == ABSENT_I64) {
        part_lost(r->part, CAUSE_MISSING_TIME, NOPOS, 0);
        return OK;
    }
    m.track =
        part_track(r->part, (ident){pid, false}, (ident){rocm_string(r, STR("memory")), true});
    return r->failed || m.track == UINT32_MAX ? ERR_MEMORY : part_memory(r->part, &m);
}

status rocm_put_fact(rocm *r, const char *key, str value, error *err) {
    buf text = {0};
    buf_add_json(&text, value);
    r->failed |= !buf_ok(&text);
    uint32_t id = r->failed ? 0 : rocm_string(r, buf_str(&text));
    uint32_t name = rocm_string(r, str_of(key));
    buf_fini(&text);
    if (r->failed) FAIL_MEMORY(err);
    return builder_add_meta(r->b, name, id, err);
}
