/* launch.c: work for a GPU that is counted while it is launched; what tests/gpu/run records.
 *
 *   launch count FOLDER N N kernels on two streams and N/10 copies, each kernel in a separate
 *   operator; prints what it launched
 *   launch cost WINDOWS US       alternating windows of recording and not recording, each of some 100 ms
 *                                of kernels of US microseconds; prints ns for a launch of each window
 *
 * Needs libcuda.so.1 and nothing of the toolkit: the kernel is PTX, the functions are looked up. It is
 * linked with libtacho. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacho/tacho.h>
#include <time.h>

static const char PTX[] = ".version 6.3\n.target sm_75\n.address_size 64\n"
                          ".visible .entry spin(.param .u64 cycles)\n{\n"
                          ".reg .u64 %s, %t, %d, %n;\n.reg .pred %p;\n"
                          "ld.param.u64 %n, [cycles];\nmov.u64 %s, %clock64;\n"
                          "AGAIN:\nmov.u64 %t, %clock64;\nsub.u64 %d, %t, %s;\n"
                          "setp.lt.u64 %p, %d, %n;\n@%p bra AGAIN;\nret;\n}\n";

typedef int (*fn)();
static fn launch_kernel, stream_sync, copy_async;
static void *kernel, *streams[2];
static uint64_t device_memory;
static char host_memory[4096];

static void check(int code, const char *what) {
    if (code == 0) return;
    fprintf(stderr, "launch: %s: error %d\n", what, code);
    exit(3);
}

static fn find(void *cuda, const char *name) {
    fn f = (fn)dlsym(cuda, name);
    if (!f) fprintf(stderr, "launch: no %s\n", name), exit(3);
    return f;
}

static void set_up(void) {
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW), *module = NULL, *context = NULL;
    int device = 0;
    if (!cuda) {
        fprintf(stderr, "launch: %s\n", dlerror());
        exit(77);
    }
    check(find(cuda, "cuInit")(0), "cuInit");
    check(find(cuda, "cuDeviceGet")(&device, 0), "cuDeviceGet");
    check(find(cuda, "cuDevicePrimaryCtxRetain")(&context, device), "context");
    check(find(cuda, "cuCtxSetCurrent")(context), "cuCtxSetCurrent");
    check(find(cuda, "cuModuleLoadData")(&module, PTX), "cuModuleLoadData");
    check(find(cuda, "cuModuleGetFunction")(&kernel, module, "spin"), "cuModuleGetFunction");
    for (int i = 0; i < 2; i++) check(find(cuda, "cuStreamCreate")(&streams[i], 1), "stream");
    check(find(cuda, "cuMemAlloc_v2")(&device_memory, sizeof host_memory), "cuMemAlloc");
    launch_kernel = find(cuda, "cuLaunchKernel");
    stream_sync = find(cuda, "cuStreamSynchronize");
    copy_async = find(cuda, "cuMemcpyHtoDAsync_v2");
}

static void launch(int stream, uint64_t cycles) {
    void *arguments[] = {&cycles};
    check(((int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                    unsigned, void *, void **, void **))launch_kernel)(
              kernel, 4, 1, 1, 64, 1, 1, 0, streams[stream], arguments, NULL),
          "cuLaunchKernel");
}

static void wait_all(void) {
    for (int i = 0; i < 2; i++) check(stream_sync(streams[i]), "cuStreamSynchronize");
}

static void start(const char *folder) {
    tacho_options o = {.size = sizeof o, .path = folder, .device = 1};
    if (tacho_start(&o) != TACHO_OK) fprintf(stderr, "launch: %s\n", tacho_error()), exit(3);
}

static void count(const char *folder, int n) {
    start(folder);
    for (int i = 0; i < n; i++) {
        tacho_op_begin(
            &(tacho_op){.size = sizeof(tacho_op), .name = "spin_op", .sequence = -1});
        launch(i & 1, 2000);
        tacho_op_end();
        if (i % 10 == 0)
            check(((int (*)(uint64_t, const void *, size_t, void *))copy_async)(
                      device_memory, host_memory, sizeof host_memory, streams[0]),
                  "cuMemcpyHtoDAsync");
        if (i % 100 == 99) tacho_step();
    }
    wait_all();
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    (void)tacho_stop();
    clock_gettime(CLOCK_MONOTONIC, &b);
    printf("kernels=%d copies=%d stop_ms=%.3f\n", n, (n + 9) / 10,
           (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) * 1e-6);
}

static double window_ns(uint64_t cycles, int launches) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int i = 0; i < launches; i++) {
        TACHO_SCOPE("op");
        launch(0, cycles);
    }
    wait_all();
    clock_gettime(CLOCK_MONOTONIC, &b);
    return ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / launches;
}

static void cost(int windows, int us) {
    uint64_t cycles = (uint64_t)us * 1500;
    int launches = 100000 / (us + 4);
    for (int i = 0; i < 5; i++) (void)window_ns(cycles, launches);
    for (int i = 0; i < windows; i++) {
        start("/tmp/tacho_gpu_cost");
        double on = window_ns(cycles, launches);
        (void)tacho_stop();
        double off = window_ns(cycles, launches);
        printf("on=%.1f off=%.1f\n", on, off);
    }
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    set_up();
    if (strcmp(argv[1], "count") == 0)
        count(argv[2], atoi(argv[3]));
    else
        cost(atoi(argv[2]), atoi(argv[3]));
    return 0;
}
