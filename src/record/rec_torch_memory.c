/* rec_torch_memory.c: what PyTorch's allocators hand out and take back.
 *
 * libc10 asks `memoryProfilingEnabled` and then calls `reportMemoryUsageToProfiler`, both
 * through its table of foreign functions. Those two entries are pointed at functions here
 * (rec_got_patch.c), in every loaded library that has them (libc10 for the host, libc10_cuda
 * for a GPU), for as long as memory is recorded, and then pointed back. PyTorch's own profiler
 * works on as before: what it wanted is passed on.
 *
 * The totals after each event come from the allocator itself. Where the entries are not found
 * (a static build), nothing is changed and the answer says that there is no memory. */
#include <dlfcn.h>
#include <string.h>

#include "record/rec_got_patch.h"
#include "record/rec_int.h"
#include "record/rec_torch_int.h"

#if (defined(__x86_64__) || defined(__aarch64__)) && defined(__linux__)

enum { CPU = 0 };
static const char ENABLED[] = "_ZN3c1022memoryProfilingEnabledEv";
static const char REPORT[] = "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE";

typedef struct {
    int8_t type, index;
} device;

typedef bool enabled_fn(void);
typedef void report_fn(void *, int64_t, uint64_t, uint64_t, device);

static rec_entries entries;
static enabled_fn *real_enabled;
static report_fn *real_report;
static uint32_t listening;

/* ---- what the allocators call ---- */

static bool is_enabled(void) {
    if (__atomic_load_n(&listening, __ATOMIC_RELAXED) &&
        __atomic_load_n(&tacho_on, __ATOMIC_RELAXED))
        return true;
    return real_enabled();
}

static void rec_torch_memory_report(void *address, int64_t bytes, uint64_t allocated,
                                    uint64_t reserved, device d) {
    if (__atomic_load_n(&listening, __ATOMIC_RELAXED)) {
        tacho_block b = {.size = sizeof b,
                         .address = (uint64_t)(uintptr_t)address,
                         .bytes = bytes < 0 ? -bytes : bytes,
                         .device = d.type == CPU ? -1
                                   : d.index < 0 ? 0
                                                 : d.index,
                         .allocated = (int64_t)allocated,
                         .reserved = d.type == CPU ? -1 : (int64_t)reserved};
        if (bytes >= 0)
            tacho_alloc(&b);
        else
            tacho_release(&b);
    }
    if (real_enabled()) real_report(address, bytes, allocated, reserved, d);
}

/* ---- the entries ---- */

static bool find_real(void) {
    void *lib = dlopen("libc10.so", RTLD_NOLOAD | RTLD_LAZY);
    if (!lib) return false;
    void *enabled = dlsym(lib, ENABLED), *reports = dlsym(lib, REPORT);
    memcpy(&real_enabled, &enabled, sizeof enabled);
    memcpy(&real_report, &reports, sizeof reports);
    return enabled && reports;
}

static bool change_entries(void) {
    const rec_replacement r[] = {{ENABLED, (void *)(uintptr_t)is_enabled},
                                 {REPORT, (void *)(uintptr_t)rec_torch_memory_report}};
    return find_real() && rec_entries_change(&entries, "libc10", r, sizeof r / sizeof *r) > 0;
}

unsigned rec_torch_memory(unsigned want) {
    bool wanted = (want & TACHO_TORCH_MEMORY) != 0;
    if (wanted && entries.n == 0 && !change_entries()) return 0;
    __atomic_store_n(&listening, wanted, __ATOMIC_RELAXED);
    if (wanted) return TACHO_TORCH_MEMORY;
    rec_entries_restore(&entries);
    return 0;
}

#else

unsigned rec_torch_memory(unsigned want) {
    (void)want;
    return 0;
}

#endif
