/* phi_core.c: a fake libphi_core: an allocator that tells of its blocks through a function that
 * can be replaced from outside, as the real one does. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHOW __attribute__((visibility("default")))
#define CONSTRUCT \
    _ZN6paddle8platform14RecordMemEventC1EPKvRKN3phi5PlaceEmNS4_18TracerMemEventTypeE

typedef struct {
    int8_t device, kind; /* CPU, GPU, pinned */
} place;
enum { CPU = 1, PINNED = 3 };

SHOW void CONSTRUCT(void *self, const void *p, const place *at, size_t bytes, int what);
SHOW bool _ZN3phi12is_cpu_placeERKNS_5PlaceE(const place *p);
SHOW bool _ZN3phi15is_pinned_placeERKNS_5PlaceE(const place *p);
SHOW void _ZN6paddle6memory4StatINS0_23HostMemoryStatReserved0EE6UpdateEl(void *self,
                                                                          int64_t n);
SHOW void fake_reserve(int64_t bytes);
SHOW int64_t fake_reserved;
SHOW void fake_block(uint64_t address, int kind, int device, uint64_t bytes, int what);
SHOW int fake_constructed;

void CONSTRUCT(void *self, const void *p, const place *at, size_t bytes, int what) {
    (void)self, (void)p, (void)at, (void)bytes, (void)what;
    fake_constructed++;
}

bool _ZN3phi12is_cpu_placeERKNS_5PlaceE(const place *p) {
    return p->kind == CPU;
}

bool _ZN3phi15is_pinned_placeERKNS_5PlaceE(const place *p) {
    return p->kind == PINNED;
}

void _ZN6paddle6memory4StatINS0_23HostMemoryStatReserved0EE6UpdateEl(void *self, int64_t n) {
    (void)self;
    fake_reserved += n;
}

void fake_reserve(int64_t bytes) {
    _ZN6paddle6memory4StatINS0_23HostMemoryStatReserved0EE6UpdateEl(&fake_reserved, bytes);
}

void fake_block(uint64_t address, int kind, int device, uint64_t bytes, int what) {
    uint64_t object = 0;
    place at = {(int8_t)device, (int8_t)kind};
    CONSTRUCT(&object, (const void *)(uintptr_t)address, &at, bytes, what);
}
