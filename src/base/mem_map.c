/* mem_map.c: mapped pages.
 *
 * Columns come from mmap, because a mapping can grow without being copied and costs nothing
 * until it is touched.
 *
 * The first touch is the hidden cost: about 1.9 µs for each 4 KiB page where this was measured,
 * so filling fresh memory runs at 2 GB/s. Mappings of 2 MiB and more therefore ask for huge
 * pages and are aligned to them: the kernel moves whole huge pages in mremap only when source
 * and target have the same alignment, otherwise it splits them. A mapping that would fill more
 * than half of its last huge page gets it whole.
 *
 *      reserved   |....####################......|      one huge page more than needed
 *      kept            ^ aligned to 2 MiB               both ends are given back
 *
 * Below 2 MiB a huge page would cost more resident memory than it saves time; pages.c shares
 * huge pages out among smaller blocks. */
#include "base/mem.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/fault.h"
#include "base/mem_int.h"

#define HUGE_PAGE ((size_t)2 << 20)
#define HUGE_FROM HUGE_PAGE

/* 0 when there is no such size. */
static size_t round_up(size_t size_bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (size_bytes == 0) return page;
    if (size_bytes > (size_t)PTRDIFF_MAX - HUGE_PAGE) return 0;
    if (size_bytes > HUGE_FROM && size_bytes % HUGE_PAGE >= HUGE_PAGE / 2) page = HUGE_PAGE;
    return (size_bytes + page - 1) & ~(page - 1);
}

/* Address space of size bytes, aligned to a huge page when it is large. */
static void *reserve_range(size_t size, int protection) {
    size_t extra = size >= HUGE_FROM ? HUGE_PAGE : 0;
    char *p = mmap(NULL, size + extra, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    if (p == MAP_FAILED) return NULL;
    if (!extra) return p;
    size_t head = (HUGE_PAGE - (uintptr_t)p % HUGE_PAGE) % HUGE_PAGE;
    if (head) munmap(p, head);
    if (head < extra) munmap(p + head + size, extra - head);
    return p + head;
}

static void advise(void *p, size_t size) {
    if (size >= HUGE_FROM) (void)madvise(p, size, MADV_HUGEPAGE); /* only a wish */
}

void *mem_span(size_t size_bytes) {
    size_t size = round_up(size_bytes);
    void *p = reserve_range(size, PROT_READ | PROT_WRITE);
    if (p) advise(p, size);
    return p;
}

void mem_forget(void *p, size_t size_bytes) {
    (void)madvise(p, size_bytes, MADV_DONTNEED);
}

void *mem_map(size_t size_bytes) {
    size_t size = round_up(size_bytes);
    if (!size || fault_point(FAULT_ALLOC) || !mem_fits(size)) return NULL;
    void *p = reserve_range(size, PROT_READ | PROT_WRITE);
    if (!p) return NULL;
    advise(p, size);
    mem_count((int64_t)size);
    return p;
}

void *mem_reserve(size_t size_bytes) {
    size_t size = round_up(size_bytes);
    if (!size || fault_point(FAULT_ALLOC)) return NULL;
    void *p = reserve_range(size, PROT_READ | PROT_WRITE);
    if (p) mem_count((int64_t)size);
    return p;
}

void mem_enlarge(void *p, size_t size_bytes) {
    if (size_bytes < HUGE_PAGE / 2) return;
    uintptr_t from = (uintptr_t)p / HUGE_PAGE * HUGE_PAGE;
    uintptr_t to = ((uintptr_t)p + size_bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    (void)madvise((void *)from, to - from,
                  MADV_HUGEPAGE); /* beyond the end, too: only a wish */
}

void *mem_remap(void *p, size_t old_bytes, size_t new_bytes) {
    size_t old_size = round_up(old_bytes), size = round_up(new_bytes);
    if (!size || fault_point(FAULT_ALLOC)) return NULL;
    if (size == old_size) return p;
    if (size > old_size && !mem_fits(size - old_size)) return NULL;
    void *q = mremap(p, old_size, size, 0);
    if (q == MAP_FAILED) {
        void *target = reserve_range(size, PROT_NONE);
        if (!target) return NULL;
        q = mremap(p, old_size, size, MREMAP_MAYMOVE | MREMAP_FIXED, target);
        if (q == MAP_FAILED) {
            munmap(target, size);
            return NULL;
        }
    }
    advise(q, size);
    mem_count((int64_t)size - (int64_t)old_size);
    return q;
}

bool mem_move(void *p, size_t size_bytes, void *to, size_t n) {
    size_t size = round_up(size_bytes);
    if (mremap(p, n, n, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED) return false;
    mem_count(-(int64_t)size);
    if (n < size) munmap((char *)p + n, size - n);
    return true;
}

void mem_unmap(void *p, size_t size_bytes) {
    if (!p) return;
    size_t size = round_up(size_bytes);
    mem_count(-(int64_t)size);
    munmap(p, size);
}

uint64_t mem_machine_bytes(void) {
    struct sysinfo info;
    uint64_t all =
        sysinfo(&info) == 0 ? (uint64_t)info.totalram * info.mem_unit : UINT64_C(8) << 30;
    uint64_t group = cgroup_memory_bytes("/sys/fs/cgroup", "/proc/self/cgroup");
    return group < all ? group : all;
}
