/* rec_cupti.c: what an NVIDIA GPU did, through CUPTI, which is loaded when CUDA is there and never
 * linked.
 *
 * Kernels, copies, sets and graph launches come as activity records with start and end on the device;
 * the host calls that launched them come as records, too, but only of the calls on a list (all of them
 * would be fifteen records for each kernel). The number that both carry joins them; which operator a
 * call belongs to follows from its thread and its time, later, in the reader.
 *
 * Records are read through offsets that are the same from CUDA 11 to 13 (checked against the headers),
 * so one binary fits all. CUPTI asks for buffers on the program's threads: they are mapped before and
 * handed out by an atomic flag. It hands them back on its own thread: they go to a list, and our helper
 * turns them into events. No call to CUPTI is made inside its callbacks.
 *
 * Times are CUPTI's clock, CLOCK_REALTIME on Linux; the reader has pairs of it with ours.
 *
 * Another tool that holds CUPTI is left alone. Whatever fails is a note in the recording. A child of
 * fork never calls CUPTI. An exit handler stops before CUDA's own destructors run. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "record/rec_int.h"

enum { N_BUFFERS = 24, BUFFER_BYTES = 4 << 20, DISCARD_BYTES = 256 << 10, NAME_PLACES = 4096 };
enum { /* kinds of records */
       RECORD_MEMCPY = 1,
       RECORD_MEMSET = 2,
       RECORD_DRIVER = 4,
       RECORD_RUNTIME = 5,
       RECORD_KERNEL = 10,
       RECORD_PEER_COPY = 22,
       RECORD_GRAPH = 51,
};
enum { DOMAIN_DRIVER = 1, DOMAIN_RUNTIME = 2, THREAD_IDS_OF_SYSTEM = 1, FLUSH_FORCED = 1 };
enum { ERROR_MULTIPLE_SUBSCRIBERS = 39 };

int InitializeInjection(void) TACHO_API;

/* ---- the library ---- */

typedef void (*request_fn)(uint8_t **buffer, size_t *size, size_t *n_records);
typedef void (*complete_fn)(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                            size_t valid);
static struct {
    int (*get_version)(uint32_t *);
    int (*register_callbacks)(request_fn, complete_fn);
    int (*enable)(int);
    int (*disable)(int);
    int (*flush)(uint32_t);
    int (*next_record)(uint8_t *, size_t, uint8_t **);
    int (*set_thread_ids)(int);
    int (*callback_name)(int, uint32_t, const char **);
    int (*subscribe)(void **, void (*)(void *, int, uint32_t, const void *), void *);
    int (*unsubscribe)(void *);
    /* May be absent. */
    int (*enable_runtime)(uint32_t, uint8_t);
    int (*enable_driver)(uint32_t, uint8_t);
    int (*dropped)(void *, uint32_t, size_t *);
} cupti;

static pthread_mutex_t decode_lock = PTHREAD_MUTEX_INITIALIZER;
static void *library, *subscriber;
static bool is_dead, is_on, has_exit; /* dead: a forked child, or it cannot be used */
static bool is_registered;
static char *(*demangle)(const char *, char *, size_t *, int *);

static void note(const char *what, int code) {
    char text[160];
    int n = snprintf(text, sizeof text, "CUPTI: %s (%d)", what, code);
    bool before = rec_enter(&rec_lock);
    if (rec_current) rec_side(rec_current, TACHO_SIDE_NOTE, "", 0, text, (size_t)n);
    rec_leave(&rec_lock, before);
}

static void *open_library(void) {
    static const char *const NAMES[] = {"libcupti.so.13",
                                        "libcupti.so.12",
                                        "libcupti.so",
                                        "libcupti.so.11.8",
                                        "/usr/local/cuda/lib64/libcupti.so",
                                        "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"};
    const char *told = getenv("TACHO_CUPTI");
    void *lib = told && *told ? dlopen(told, RTLD_NOW | RTLD_LOCAL) : NULL;
    for (int loaded = 1; loaded >= 0 && !lib; loaded--) /* the one a framework loaded, first */
        for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES && !lib; i++)
            lib = dlopen(NAMES[i], RTLD_NOW | RTLD_LOCAL | (loaded ? RTLD_NOLOAD : 0));
    return lib;
}

static bool find_functions(void) {
    static const struct {
        const char *name;
        void **to;
        bool needed;
    } ALL[] = {
        {"cuptiGetVersion", (void **)&cupti.get_version, true},
        {"cuptiActivityRegisterCallbacks", (void **)&cupti.register_callbacks, true},
        {"cuptiActivityEnable", (void **)&cupti.enable, true},
        {"cuptiActivityDisable", (void **)&cupti.disable, true},
        {"cuptiActivityFlushAll", (void **)&cupti.flush, true},
        {"cuptiActivityGetNextRecord", (void **)&cupti.next_record, true},
        {"cuptiSetThreadIdType", (void **)&cupti.set_thread_ids, true},
        {"cuptiGetCallbackName", (void **)&cupti.callback_name, true},
        {"cuptiSubscribe", (void **)&cupti.subscribe, true},
        {"cuptiUnsubscribe", (void **)&cupti.unsubscribe, true},
        {"cuptiActivityEnableRuntimeApi", (void **)&cupti.enable_runtime, false},
        {"cuptiActivityEnableDriverApi", (void **)&cupti.enable_driver, false},
        {"cuptiActivityGetNumDroppedRecords", (void **)&cupti.dropped, false},
    };
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++) {
        *ALL[i].to = dlsym(library, ALL[i].name);
        if (!*ALL[i].to && ALL[i].needed) return false;
    }
    return true;
}

/* ---- buffers ---- */

typedef struct buffer buffer;
struct buffer {
    buffer *next; /* in the list of full ones */
    uint8_t *p;
    size_t valid;
    uint32_t taken;
};
static buffer buffers[N_BUFFERS];
static buffer *full;
static _Alignas(64) uint8_t discard[DISCARD_BYTES];

static bool map_buffers(void) {
    for (int i = 0; i < N_BUFFERS; i++) {
        if (buffers[i].p) continue;
        void *p = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                       -1, 0);
        if (p == MAP_FAILED) return i >= 2;
        (void)madvise(p, BUFFER_BYTES, MADV_DONTFORK);
        buffers[i].p = p;
    }
    return true;
}

/* On a thread of the program. A refused buffer (NULL) would crash older versions, so when all are in
 * use a common one takes what is lost. */
static void give_buffer(uint8_t **to, size_t *size, size_t *n_records) {
    *n_records = 0;
    for (int i = 0; i < N_BUFFERS; i++) {
        uint32_t free_one = 0;
        if (!buffers[i].p ||
            !__atomic_compare_exchange_n(&buffers[i].taken, &free_one, 1, false,
                                         __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        *to = buffers[i].p;
        *size = BUFFER_BYTES;
        return;
    }
    *to = discard;
    *size = sizeof discard;
}

static uint64_t n_discarded; /* bytes, until the next decoding */

static void take_buffer(void *context, uint32_t stream, uint8_t *p, size_t size, size_t valid) {
    (void)context;
    (void)stream;
    (void)size;
    if (p == discard) {
        __atomic_fetch_add(&n_discarded, valid, __ATOMIC_RELAXED);
        return;
    }
    for (int i = 0; i < N_BUFFERS; i++) {
        buffer *b = &buffers[i];
        if (b->p != p) continue;
        b->valid = valid;
        b->next = __atomic_load_n(&full, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(&full, &b->next, b, true, __ATOMIC_RELEASE,
                                            __ATOMIC_RELAXED)) {}
        rec_helper_wake();
        return;
    }
}

/* ---- records ---- */

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

/* The name id of a pointer that CUPTI keeps alive; C++ names as people write them when the program has
 * somebody who can do that. */
static uint32_t kernel_name(const char *text) {
    static struct {
        const char *text;
        uint32_t id;
    } known[NAME_PLACES];
    size_t at = (uintptr_t)text * 0x9e3779b97f4a7c15u >> 52;
    if (!text) return rec_name("kernel");
    if (known[at % NAME_PLACES].text == text) return known[at % NAME_PLACES].id;
    int code = -1;
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
    rec_put(name, rec_what(TACHO_EVENT_GPU, 0, kind), w, sizeof *w);
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

/* Copies and sets agree up to the stream. */
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

static void take_call(const uint8_t *p, int domain) {
    const char *name = NULL;
    uint32_t id = u32_at(p, 4);
    if (cupti.callback_name(domain, id, &name) != 0) name = NULL;
    char plain[128];
    snprintf(plain, sizeof plain, "%s", name ? name : "CUDA call");
    char *version = strstr(plain, "_v"); /* cudaLaunchKernel_v7000 */
    if (version) *version = 0;
    tacho_api_slots call = {.start_ns = (int64_t)u64_at(p, 8),
                            .end_ns = (int64_t)u64_at(p, 16),
                            .correlation = u32_at(p, 32),
                            .thread = u32_at(p, 28),
                            .domain = (uint32_t)domain};
    rec_put(rec_name(plain), rec_what(TACHO_EVENT_API, 0, 0), &call, sizeof call);
}

static void take_record(const uint8_t *p) {
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
    case RECORD_RUNTIME: take_call(p, DOMAIN_RUNTIME); break;
    case RECORD_DRIVER: take_call(p, DOMAIN_DRIVER); break;
    case RECORD_GRAPH: take_graph(p); break;
    default: break;
    }
}

static void decode_buffers(void) {
    buffer *list = __atomic_exchange_n(&full, NULL, __ATOMIC_ACQUIRE);
    while (list) {
        buffer *next = list->next;
        uint8_t *record = NULL;
        while (cupti.next_record(list->p, list->valid, &record) == 0) take_record(record);
        __atomic_store_n(&list->taken, 0, __ATOMIC_RELEASE);
        list = next;
    }
    size_t n = 0;
    uint64_t lost = __atomic_exchange_n(&n_discarded, 0, __ATOMIC_RELAXED) / 200;
    if (cupti.dropped && cupti.dropped(NULL, 0, &n) == 0) lost += n;
    if (lost) rec_count_lost(TACHO_LOST_DEVICE, lost);
}

void rec_cupti_tick(void) {
    if (__atomic_load_n(&is_dead, __ATOMIC_RELAXED) || pthread_mutex_trylock(&decode_lock) != 0)
        return;
    if (is_on) decode_buffers();
    pthread_mutex_unlock(&decode_lock);
}

/* ---- on and off ---- */

/* The calls that launch, copy or wait; the numbers have not changed since they were given. */
static const uint16_t RUNTIME_CALLS[] = {20,  22,  31,  41,  49,  51,  131, 137,
                                         147, 161, 165, 211, 214, 225, 235, 239,
                                         269, 311, 312, 373, 375, 430, 431};
static const uint16_t DRIVER_CALLS[] = {307, 442, 477, 514, 515, 652, 653};
static const uint8_t KINDS[] = {RECORD_KERNEL, RECORD_MEMCPY, RECORD_MEMSET, RECORD_PEER_COPY};

static void ignore(void *context, int domain, uint32_t id, const void *data) {
    (void)context;
    (void)domain;
    (void)id;
    (void)data;
}

static void enable_calls(void) {
    if (!cupti.enable_runtime || !cupti.enable_driver) {
        note("older than 12.5: the calls that launch device work are not recorded", 0);
        return;
    }
    for (size_t i = 0; i < sizeof RUNTIME_CALLS / sizeof *RUNTIME_CALLS; i++)
        (void)cupti.enable_runtime(RUNTIME_CALLS[i], 1);
    for (size_t i = 0; i < sizeof DRIVER_CALLS / sizeof *DRIVER_CALLS; i++)
        (void)cupti.enable_driver(DRIVER_CALLS[i], 1);
}

static bool load_library(void) {
    if (library) return true;
    library = open_library();
    if (!library || !find_functions() || !map_buffers()) {
        note(library ? "a function is missing or memory is short" : "libcupti is not there", 0);
        is_dead = true;
        return false;
    }
    demangle =
        (char *(*)(const char *, char *, size_t *, int *))dlsym(RTLD_DEFAULT, "__cxa_demangle");
    return true;
}

static void stop_at_exit(void) {
    (void)rec_stop(true, NULL, 0);
}

static void turn_on(void) {
    if (!load_library()) return;
    int code = cupti.subscribe(&subscriber, ignore, NULL);
    if (code != 0) {
        note(code == ERROR_MULTIPLE_SUBSCRIBERS ? "another tool of this program holds it"
                                                : "cannot subscribe",
             code);
        is_dead = code != ERROR_MULTIPLE_SUBSCRIBERS;
        return;
    }
    (void)cupti.set_thread_ids(THREAD_IDS_OF_SYSTEM);
    code = cupti.register_callbacks(give_buffer, take_buffer);
    if (code != 0) note("cannot register buffers", code);
    is_registered = code == 0;
    for (size_t i = 0; is_registered && i < sizeof KINDS; i++) {
        code = cupti.enable(KINDS[i]);
        if (code != 0) note("cannot enable a kind of records", code);
    }
    if (is_registered) enable_calls();
    if (!has_exit) has_exit = atexit(stop_at_exit) == 0;
    is_on = is_registered;
}

static bool has_cuda(void) {
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (cuda) dlclose(cuda);
    return cuda != NULL || getenv("TACHO_CUPTI") != NULL;
}

void rec_cupti_start(void) {
    bool wanted = __atomic_load_n(&rec_flags, __ATOMIC_RELAXED) & TACHO_FILE_DEVICE;
    if (!wanted || __atomic_load_n(&is_dead, __ATOMIC_RELAXED) || !has_cuda()) return;
    pthread_mutex_lock(&decode_lock);
    if (!is_on && !is_dead) turn_on();
    pthread_mutex_unlock(&decode_lock);
}

void rec_cupti_stop(void) {
    if (__atomic_load_n(&is_dead, __ATOMIC_RELAXED)) return;
    bool before = rec_self.in_slow; /* recording is on and our locks but the cycle's are free */
    pthread_mutex_lock(&decode_lock);
    if (is_on) {
        rec_self.in_slow = false;
        (void)cupti.flush(FLUSH_FORCED);
        for (size_t i = 0; i < sizeof KINDS; i++) (void)cupti.disable(KINDS[i]);
        (void)cupti.disable(RECORD_RUNTIME);
        (void)cupti.disable(RECORD_DRIVER);
        decode_buffers();
        (void)cupti.unsubscribe(subscriber);
        rec_self.in_slow = before;
        is_on = false;
    }
    pthread_mutex_unlock(&decode_lock);
}

void rec_cupti_forked(void) {
    pthread_mutex_init(&decode_lock, NULL);
    is_dead = true;
}

/* The driver calls this when CUDA is initialised (CUDA_INJECTION64_PATH names us). */
int InitializeInjection(void) {
    uint32_t on = __atomic_load_n(&tacho_on, __ATOMIC_RELAXED);
    if (on == REC_PENDING) rec_start_pending(); /* CUDA work is a first event, too */
    if (on != 0 && on != REC_PENDING) rec_cupti_start();
    return 1;
}
