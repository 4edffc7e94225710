/* c10.c: a fake libc10: an allocator that tells of its blocks through functions that can be
 * replaced from outside, as the real one does. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHOW __attribute__((visibility("default")))

typedef struct {
    int8_t type, index;
} device;

SHOW bool _ZN3c1022memoryProfilingEnabledEv(void);
SHOW void _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(void *p, int64_t bytes,
                                                                uint64_t allocated,
                                                                uint64_t reserved, device d);
SHOW void fake_allocate(uint64_t address, int64_t bytes, uint64_t total, int8_t type);
SHOW int fake_reports;
SHOW bool fake_profiler;

bool _ZN3c1022memoryProfilingEnabledEv(void) {
    return fake_profiler;
}

void _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(void *p, int64_t bytes,
                                                           uint64_t allocated,
                                                           uint64_t reserved, device d) {
    (void)p, (void)bytes, (void)allocated, (void)reserved, (void)d;
    fake_reports++;
}

void fake_allocate(uint64_t address, int64_t bytes, uint64_t total, int8_t type) {
    if (_ZN3c1022memoryProfilingEnabledEv())
        _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(
            (void *)(uintptr_t)address, bytes, total, total * 2, (device){type, 0});
}
