/* knobs.c: what each setting of CUPTI costs a launch, without tacho.
 *
 *   knobs ROUNDS [SETTING…]      each setting in turn, in an order that changes; prints ns for a launch
 *                                right after another (hot) and after 6 MiB of other memory (cold)
 *
 * Kernel records are on in all settings but "none" and "subscribed". The launches are timed on the host
 * alone, in runs short enough not to fill the queue. Needs libcuda.so.1 and libcupti (or TACHO_CUPTI) and
 * nothing of the toolkit. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { KERNELS_SERIAL = 3, KERNELS = 10 }; /* kinds of records */
enum { MEMCPY = 1, MEMSET = 2, OVERHEAD = 17, GRAPH = 51 };
enum { DEVICE_BUFFER = 0, CLEARED = 5, PINNED = 8, PER_THREAD = 9 }; /* attributes */
enum { DRIVER = 1, GET_CURRENT = 304, LAUNCH = 307 };
enum {
    N_BUFFERS = 64,
    LARGEST = 32 << 20,
    N_HOT = 60,
    RUN = 200,
    N_COLD = 300,
    MOST_ROUNDS = 64
};

typedef struct {
    const char *name;
    int kind, attribute;
    size_t value, buffer_bytes;
    bool listens, has_clock, has_hardware, has_all_kinds;
} setting;
static const setting SETTINGS[] = {
    {.name = "none"},
    {.name = "subscribed", .listens = true},
    {.name = "kernels", .kind = KERNELS},
    {.name = "kernels-serial", .kind = KERNELS_SERIAL},
    {.name = "not-cleared", .kind = KERNELS, .attribute = CLEARED, .value = 0},
    {.name = "per-thread", .kind = KERNELS, .attribute = PER_THREAD, .value = 1},
    {.name = "device-memory", .kind = KERNELS, .attribute = PINNED, .value = 0},
    {.name = "device-buffer-32MB",
     .kind = KERNELS,
     .attribute = DEVICE_BUFFER,
     .value = 32000000},
    {.name = "buffer-64KiB", .kind = KERNELS, .buffer_bytes = 64 << 10},
    {.name = "buffer-32MiB", .kind = KERNELS, .buffer_bytes = LARGEST},
    {.name = "own-clock", .kind = KERNELS, .has_clock = true},
    {.name = "hardware-trace", .kind = KERNELS, .has_hardware = true},
    {.name = "all-kinds", .kind = KERNELS, .has_all_kinds = true},
    {.name = "launches-heard", .kind = KERNELS, .listens = true},
};
enum { N_SETTINGS = sizeof SETTINGS / sizeof *SETTINGS };

static const char PTX[] = ".version 6.3\n.target sm_75\n.address_size 64\n"
                          ".visible .entry nothing()\n{\nret;\n}\n";

/* ---- the libraries ---- */

static struct {
    int (*init)(unsigned), (*device)(int *, int), (*retain)(void **, int), (*set)(void *);
    int (*load)(void **, const void *), (*function)(void **, void *, const char *);
    int (*stream)(void **, unsigned), (*wait)(void *), (*current)(void **);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void *, void **, void **);
} cuda;
static struct {
    int (*buffers)(void *, void *), (*enable)(int), (*disable)(int), (*flush)(uint32_t);
    int (*subscribe)(void **, void *, void *), (*callback)(uint32_t, void *, int, uint32_t);
    int (*attribute)(int, size_t *, void *), (*finalize)(void), (*clock)(void *);
    int (*hardware)(uint8_t), (*next)(uint8_t *, size_t, uint8_t **);
} cupti;

static void *must_find(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (!found) fprintf(stderr, "knobs: no %s\n", name), exit(3);
    return found;
}

#define FIND(to, library, name) (*(void **)&(to) = must_find(library, name))

static void find_cuda(void) {
    void *lib = dlopen("libcuda.so.1", RTLD_NOW);
    if (!lib) fprintf(stderr, "knobs: %s\n", dlerror()), exit(77);
    FIND(cuda.init, lib, "cuInit");
    FIND(cuda.device, lib, "cuDeviceGet");
    FIND(cuda.retain, lib, "cuDevicePrimaryCtxRetain");
    FIND(cuda.set, lib, "cuCtxSetCurrent");
    FIND(cuda.load, lib, "cuModuleLoadData");
    FIND(cuda.function, lib, "cuModuleGetFunction");
    FIND(cuda.stream, lib, "cuStreamCreate");
    FIND(cuda.wait, lib, "cuStreamSynchronize");
    FIND(cuda.current, lib, "cuCtxGetCurrent");
    FIND(cuda.launch, lib, "cuLaunchKernel");
}

static void find_cupti(void) {
    const char *told = getenv("TACHO_CUPTI");
    void *lib = dlopen(told ? told : "libcupti.so", RTLD_NOW);
    if (!lib) lib = dlopen("/usr/local/cuda/lib64/libcupti.so", RTLD_NOW);
    if (!lib) fprintf(stderr, "knobs: %s\n", dlerror()), exit(77);
    FIND(cupti.buffers, lib, "cuptiActivityRegisterCallbacks");
    FIND(cupti.enable, lib, "cuptiActivityEnable");
    FIND(cupti.disable, lib, "cuptiActivityDisable");
    FIND(cupti.flush, lib, "cuptiActivityFlushAll");
    FIND(cupti.subscribe, lib, "cuptiSubscribe");
    FIND(cupti.callback, lib, "cuptiEnableCallback");
    FIND(cupti.attribute, lib, "cuptiActivitySetAttribute");
    FIND(cupti.finalize, lib, "cuptiFinalize");
    FIND(cupti.next, lib, "cuptiActivityGetNextRecord");
    *(void **)&cupti.clock = dlsym(lib, "cuptiActivityRegisterTimestampCallback");
    *(void **)&cupti.hardware = dlsym(lib, "cuptiActivityEnableHWTrace");
}

/* ---- one setting on and off ---- */

static uint8_t *buffers[N_BUFFERS];
static uint32_t taken[N_BUFFERS];
static size_t buffer_bytes;
static uint64_t n_records;
static void *subscriber;
static bool is_leaving;

static int64_t now_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void give_buffer(uint8_t **to, size_t *size, size_t *most) {
    *most = 0;
    *size = buffer_bytes;
    for (int i = 0; i < N_BUFFERS; i++) {
        if (__atomic_exchange_n(&taken[i], 1, __ATOMIC_ACQUIRE)) continue;
        if (!buffers[i]) buffers[i] = calloc(1, LARGEST);
        *to = buffers[i];
        return;
    }
    abort();
}

static void take_buffer(void *context, uint32_t stream, uint8_t *p, size_t size, size_t valid) {
    uint8_t *record = NULL;
    (void)context, (void)stream, (void)size;
    while (cupti.next(p, valid, &record) == 0)
        __atomic_fetch_add(&n_records, 1, __ATOMIC_RELAXED);
    memset(p, 0, valid);
    for (int i = 0; i < N_BUFFERS; i++)
        if (buffers[i] == p) __atomic_store_n(&taken[i], 0, __ATOMIC_RELEASE);
}

static void on_call(void *context, int domain, uint32_t id, const uint32_t *leaves) {
    static volatile int64_t last_ns;
    (void)context, (void)domain, (void)id;
    if (is_leaving && *leaves && cupti.finalize() == 0) is_leaving = false;
    last_ns = now_ns(CLOCK_REALTIME);
    (void)last_ns;
}

/* As cheap as one can be: its times mean nothing. */
static uint64_t own_clock(void) {
    return (uint64_t)now_ns(CLOCK_REALTIME_COARSE);
}

static size_t round_now;

static void told(const setting *s, const char *what, int code) {
    if (code != 0 && round_now == 0) printf("%s: %s: error %d\n", s->name, what, code);
}

static void set_attribute(const setting *s, int which, size_t value) {
    uint8_t byte = (uint8_t)value;
    size_t n = which == DEVICE_BUFFER ? sizeof value : 1;
    told(s, "attribute", cupti.attribute(which, &n, n == 1 ? (void *)&byte : (void *)&value));
}

static void turn_on(const setting *s) {
    static const int MORE[] = {MEMCPY, MEMSET, OVERHEAD, GRAPH};
    if (!s->kind && !s->listens) return;
    buffer_bytes = s->buffer_bytes ? s->buffer_bytes : 4 << 20;
    told(s, "subscribe", cupti.subscribe(&subscriber, (void *)on_call, NULL));
    set_attribute(s, CLEARED, 1);
    if (s->attribute || s->value) set_attribute(s, s->attribute, s->value);
    if (s->has_clock && cupti.clock) told(s, "clock", cupti.clock((void *)own_clock));
    if (s->has_hardware) told(s, "hardware trace", cupti.hardware ? cupti.hardware(1) : -1);
    told(s, "buffers", cupti.buffers((void *)give_buffer, (void *)take_buffer));
    if (s->kind) told(s, "kernels", cupti.enable(s->kind));
    for (size_t i = 0; s->has_all_kinds && i < sizeof MORE / sizeof *MORE; i++)
        told(s, "another kind", cupti.enable(MORE[i]));
    if (s->kind && s->listens) (void)cupti.callback(1, subscriber, DRIVER, LAUNCH);
}

static void turn_off(const setting *s) {
    void *context;
    if (!s->kind && !s->listens) return;
    (void)cupti.flush(1);
    if (s->kind) (void)cupti.disable(s->kind);
    (void)cupti.callback(1, subscriber, DRIVER, GET_CURRENT);
    is_leaving = true;
    (void)cuda.current(&context);
    if (is_leaving) fprintf(stderr, "knobs: CUPTI does not leave\n"), exit(3);
    for (int i = 0; i < N_BUFFERS; i++) {
        if (taken[i]) memset(buffers[i], 0, buffer_bytes);
        taken[i] = 0;
    }
}

/* ---- launches ---- */

static void *kernel, *stream;
static uint8_t other[6 << 20];

static void set_up(void) {
    void *context, *module;
    int device = 0, code = cuda.init(0);
    code = code ? code : cuda.device(&device, 0);
    code = code ? code : cuda.retain(&context, device);
    code = code ? code : cuda.set(context);
    code = code ? code : cuda.load(&module, PTX);
    code = code ? code : cuda.function(&kernel, module, "nothing");
    code = code ? code : cuda.stream(&stream, 1);
    if (code != 0) fprintf(stderr, "knobs: CUDA: error %d\n", code), exit(77);
}

static void launch(void) {
    if (cuda.launch(kernel, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL) != 0) exit(3);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, size_t n) {
    qsort(v, n, sizeof *v, by_value);
    return v[n / 2];
}

static double hot_ns(void) {
    double v[N_HOT];
    for (int i = 0; i < N_HOT; i++) {
        int64_t begin = now_ns(CLOCK_MONOTONIC);
        for (int k = 0; k < RUN; k++) launch();
        v[i] = (double)(now_ns(CLOCK_MONOTONIC) - begin) / RUN;
        (void)cuda.wait(stream);
    }
    return median(v, N_HOT);
}

static double cold_ns(void) {
    double v[N_COLD];
    for (int i = 0; i < N_COLD; i++) {
        for (size_t k = 0; k < sizeof other; k += 64) ((volatile uint8_t *)other)[k]++;
        int64_t begin = now_ns(CLOCK_MONOTONIC);
        launch();
        v[i] = (double)(now_ns(CLOCK_MONOTONIC) - begin);
    }
    (void)cuda.wait(stream);
    return median(v, N_COLD);
}

static bool is_chosen(const setting *s, int argc, char **argv) {
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], s->name) == 0) return true;
    return argc <= 2;
}

int main(int argc, char **argv) {
    static double hot[N_SETTINGS][MOST_ROUNDS], cold[N_SETTINGS][MOST_ROUNDS];
    size_t rounds = argc > 1 ? (size_t)atoi(argv[1]) : 0;
    if (rounds < 1 || rounds > MOST_ROUNDS) return 2;
    find_cuda();
    find_cupti();
    set_up();
    (void)hot_ns(), (void)cold_ns();
    for (size_t r = 0; r < rounds; r++) {
        round_now = r;
        for (size_t k = 0; k < N_SETTINGS; k++) {
            size_t i =
                (k * 5 + r * 3) % N_SETTINGS; /* 5 and the number have no common divisor */
            if (!is_chosen(&SETTINGS[i], argc, argv)) continue;
            turn_on(&SETTINGS[i]);
            (void)hot_ns();
            hot[i][r] = hot_ns();
            cold[i][r] = cold_ns();
            turn_off(&SETTINGS[i]);
        }
    }
    printf("%-20s %10s %10s\n", "setting", "hot, ns", "cold, ns");
    for (size_t i = 0; i < N_SETTINGS; i++)
        if (is_chosen(&SETTINGS[i], argc, argv))
            printf("%-20s %10.0f %10.0f\n", SETTINGS[i].name, median(hot[i], rounds),
                   median(cold[i], rounds));
    printf("%llu records\n", (unsigned long long)n_records);
    return 0;
}
