/* rec_cupti_record.c: CUPTI's records as events.
 *
 * Records are read through offsets that are the same from CUDA 11 to 13 (checked against the
 * headers), so one binary fits all. Times are CUPTI's clock, CLOCK_REALTIME on Linux; the
 * reader has pairs of it with ours. All of it runs on the helper, one buffer at a time. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/rec_cupti_int.h"
#include "record/rec_live.h"
#include "record/rec_sample.h"

enum { NAME_PLACES = 4096, MOST_CALLS = 1024, MOST_CONTEXTS = 1024 };
enum { OBJECT_THREAD = 2, OVERHEAD_COMPILER = 1, MEMORY_PAGEABLE = 1, MEMORY_PINNED = 2 };

typedef char *(*demangle_fn)(const char *, char *, size_t *, int *);

static uint32_t u32_at(const uint8_t *p, size_t at) {
    uint32_t v;
    memcpy(&v, p + at, sizeof v);
    return v;
}
static uint64_t u64_at(const uint8_t *p, size_t at) {
    uint64_t v;
    memcpy(&v, p + at, sizeof v);
    return v;
}

/* Python loads libraries for themselves alone: there it is found only when asked by name. */
static demangle_fn find_demangle(void) {
    void *found = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    void *cpp = found ? NULL : dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (cpp) found = dlsym(cpp, "__cxa_demangle"); /* it stays loaded: it is the program's */
    return (demangle_fn)found;
}

/* The name id of a pointer that CUPTI keeps alive; C++ names as people write them when the
 * program has a library that can do that. */
static uint32_t kernel_name(const char *text) {
    static demangle_fn demangle;
    static struct {
        const char *text;
        uint32_t id;
    } known[NAME_PLACES];
    size_t at = (uintptr_t)text * 0x9e3779b97f4a7c15u >> 52;
    if (!text) return rec_name("kernel");
    if (known[at % NAME_PLACES].text == text) return known[at % NAME_PLACES].id;
    int code = -1;
    if (!demangle) demangle = find_demangle();
    char *plain =
        demangle && strncmp(text, "_Z", 2) == 0 ? demangle(text, NULL, NULL, &code) : NULL;
    uint32_t id = rec_name(plain && code == 0 ? plain : text);
    free(plain);
    known[at % NAME_PLACES].text = text;
    known[at % NAME_PLACES].id = id;
    return id;
}

static void put_work(uint32_t name, uint32_t kind, const tacho_gpu_slots *w) {
    if (w->end_ns == 0 || w->start_ns == 0) { /* the device ran out of room for its times */
        rec_count_lost(TACHO_LOST_DEVICE, 1);
        return;
    }
    rec_live_device(w->device, w->start_ns, w->end_ns);
    rec_sample_work(name, kind, w);
    rec_put(name, rec_what(TACHO_EVENT_GPU, 0, kind), w, sizeof *w);
}

/* Which device a context belongs to: records of waits do not say it, those of work do. */
static int32_t devices[MOST_CONTEXTS];

static void know_context(uint32_t context, int32_t device) {
    if (context < MOST_CONTEXTS) devices[context] = device;
}
static int32_t device_of(uint32_t context) {
    return context < MOST_CONTEXTS ? devices[context] : 0;
}

static void take_kernel(const uint8_t *p) {
    tacho_gpu_slots w = {.start_ns = (int64_t)u64_at(p, 16),
                         .end_ns = (int64_t)u64_at(p, 24),
                         .correlation = u32_at(p, 92),
                         .device = (int32_t)u32_at(p, 40),
                         .stream = (int32_t)u32_at(p, 48),
                         .context = (int32_t)u32_at(p, 44),
                         .registers = (int32_t)(u32_at(p, 4) >> 16),
                         .shared_bytes = u32_at(p, 76) + u32_at(p, 80),
                         .bytes = -1,
                         .graph_node = u64_at(p, 144)};
    know_context(u32_at(p, 44), w.device);
    for (size_t i = 0; i < 3; i++) w.grid[i] = u32_at(p, 52 + 4 * i);
    for (size_t i = 0; i < 3; i++) w.block[i] = u32_at(p, 64 + 4 * i);
    put_work(kernel_name((const char *)(uintptr_t)u64_at(p, 104)), TACHO_RANGE_KERNEL, &w);
}

static const char *copy_name(uint32_t kind) {
    switch (kind) {
    case 1: return "Memcpy HtoD";
    case 2: return "Memcpy DtoH";
    case 8: return "Memcpy DtoD";
    case 9: return "Memcpy HtoH";
    case 10: return "Memcpy PtoP";
    default: return "Memcpy";
    }
}

/* Copies and memsets agree up to the stream. */
static tacho_gpu_slots copied(const uint8_t *p, size_t correlation) {
    return (tacho_gpu_slots){.start_ns = (int64_t)u64_at(p, 16),
                             .end_ns = (int64_t)u64_at(p, 24),
                             .correlation = u32_at(p, correlation),
                             .device = (int32_t)u32_at(p, 32),
                             .stream = (int32_t)u32_at(p, 40),
                             .context = (int32_t)u32_at(p, 36),
                             .registers = -1,
                             .bytes = (int64_t)u64_at(p, 8)};
}

static void take_graph(const uint8_t *p) {
    tacho_gpu_slots w = {.start_ns = (int64_t)u64_at(p, 8),
                         .end_ns = (int64_t)u64_at(p, 16),
                         .correlation = u32_at(p, 4),
                         .device = (int32_t)u32_at(p, 24),
                         .context = (int32_t)u32_at(p, 32),
                         .stream = (int32_t)u32_at(p, 36),
                         .registers = -1,
                         .bytes = -1};
    put_work(rec_name("CUDA graph"), TACHO_RANGE_KERNEL, &w);
}

static uint32_t call_name(int domain, uint32_t id) {
    const char *name = NULL;
    char plain[128];
    if (cupti.callback_name(domain, id, &name) != 0) name = NULL;
    snprintf(plain, sizeof plain, "%s", name ? name : "CUDA call");
    char *version = strstr(plain, "_v"); /* cudaLaunchKernel_v7000 */
    if (version) *version = 0;
    return rec_name(plain);
}

void cupti_put_call(int domain, uint32_t id, const tacho_api_slots *call) {
    static uint32_t known[2][MOST_CALLS]; /* the same for all threads: the first one sets it */
    uint32_t *at = id < MOST_CALLS ? &known[domain == DOMAIN_RUNTIME][id] : NULL;
    uint32_t name = at ? __atomic_load_n(at, __ATOMIC_RELAXED) : 0;
    if (!name) name = call_name(domain, id);
    if (at) __atomic_store_n(at, name, __ATOMIC_RELAXED);
    rec_put(name, rec_what(TACHO_EVENT_API, 0, 0), call, sizeof *call);
    rec_sample_call(call->correlation, call->start_ns);
}

/* What the driver and CUPTI did for themselves on a thread of the program. */
static void take_overhead(const uint8_t *p) {
    static const char *const OWN[] = {"Overhead",    "Buffer Flush",   "Instrumentation",
                                      "Resource",    "Module Loading", "Lazy Function Loading",
                                      "Buffer Full", "Buffer Request", "Unified Memory Start"};
    uint32_t what = u32_at(p, 4), own = what >> 16;
    tacho_api_slots call = {.start_ns = (int64_t)u64_at(p, 24),
                            .end_ns = (int64_t)u64_at(p, 32),
                            .thread = u32_at(p, 16),
                            .domain = TACHO_API_OVERHEAD};
    if (u32_at(p, 8) != OBJECT_THREAD) return; /* of a stream: it delays no thread */
    const char *name = own < sizeof OWN / sizeof *OWN ? OWN[own] : OWN[0];
    rec_put(rec_name(what == OVERHEAD_COMPILER ? "Driver Compiler" : name),
            rec_what(TACHO_EVENT_API, 0, 0), &call, sizeof call);
}

/* A stream that waits. Waits of a whole context or of a thread for an event have no stream:
 * there the host call, which is recorded too, says the same. */
static void take_sync(const uint8_t *p) {
    static const char *const NAMES[] = {"Sync", "Event Sync", "Stream Wait Event",
                                        "Stream Sync", "Context Sync"};
    uint32_t type = u32_at(p, 4), stream = u32_at(p, 32), context = u32_at(p, 28);
    if (stream == UINT32_MAX || type > 4) return;
    tacho_gpu_slots w = {.start_ns = (int64_t)u64_at(p, 8),
                         .end_ns = (int64_t)u64_at(p, 16),
                         .correlation = u32_at(p, 24),
                         .device = device_of(context),
                         .stream = (int32_t)stream,
                         .context = (int32_t)context,
                         .registers = -1,
                         .bytes = -1};
    put_work(rec_name(NAMES[type]), TACHO_RANGE_SYNC, &w);
}

/* What the program took from the driver itself: what its own allocator deals out comes from
 * there. */
static void rec_cupti_record_take_memory(const uint8_t *p) {
    uint32_t op = u32_at(p, 4), kind = u32_at(p, 8);
    bool host = kind == MEMORY_PAGEABLE || kind == MEMORY_PINNED;
    if (op != 1 && op != 2) return;
    tacho_memory_slots m = {.address = u64_at(p, 16),
                            .bytes = (int64_t)u64_at(p, 24),
                            .allocated = -1,
                            .reserved = -1,
                            .device = host ? -1 : (int32_t)u32_at(p, 52),
                            .unix_ns = (int64_t)u64_at(p, 32)};
    rec_put(0,
            rec_what(TACHO_EVENT_MEMORY, 0,
                     op == 1 ? TACHO_MEMORY_SEGMENT_ALLOC : TACHO_MEMORY_SEGMENT_FREE),
            &m, sizeof m);
}

void cupti_take_record(const uint8_t *p) {
    tacho_gpu_slots w;
    switch (u32_at(p, 0)) {
    case RECORD_KERNEL: take_kernel(p); break;
    case RECORD_MEMCPY:
        w = copied(p, 44);
        put_work(rec_name(copy_name(u32_at(p, 4) & 255)), TACHO_RANGE_COPY, &w);
        break;
    case RECORD_PEER_COPY:
        w = copied(p, 60);
        put_work(rec_name("Memcpy PtoP"), TACHO_RANGE_COPY, &w);
        break;
    case RECORD_MEMSET:
        w = copied(p, 44);
        put_work(rec_name("Memset"), TACHO_RANGE_SET, &w);
        break;
    case RECORD_GRAPH: take_graph(p); break;
    case RECORD_SYNC: take_sync(p); break;
    case RECORD_OVERHEAD: take_overhead(p); break;
    case RECORD_MEMORY: rec_cupti_record_take_memory(p); break;
    default: break;
    }
}
