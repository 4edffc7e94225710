/* rec_megengine.c: what MegEngine's allocators hand out and take back.
 *
 * Every tensor's memory comes from CompNode::alloc_device and goes back by
 * CompNode::free_device, which MegEngine's libraries call through their tables of foreign
 * functions. Those entries are pointed at functions here (rec_got_patch.c) for as long as
 * memory is recorded. The real functions do the work; one that throws passes through: nothing
 * here has to be undone.
 *
 * A block that goes back does not say how large it is: who reads the recording finds that by
 * its address, and adds up the totals, which MegEngine does not tell on the CPU. Where the
 * functions are not found nothing is changed, and the answer says that there are no blocks. */
#include <dlfcn.h>
#include <string.h>

#include "record/rec_got_patch.h"
#include "record/rec_int.h"

#if (defined(__x86_64__) || defined(__aarch64__)) && defined(__linux__)

#define ALLOC "_ZNK3mgb8CompNode12alloc_deviceEm"
#define RELEASE "_ZNK3mgb8CompNode11free_deviceEPv"
#define KIND "_ZNK3mgb8CompNode11device_typeEv"
enum { MOST_KINDS = 8 };

static struct {
    void *(*alloc)(const void *node, size_t bytes);
    void (*release)(const void *node, void *address);
    int (*kind)(const void *node);
} megengine;
static rec_entries entries; /* rec_megengine_lock */
REC_MUTEX(static, rec_megengine_lock);

/* Set before the entries are ours. */
static int host_kinds[MOST_KINDS];
static size_t n_host_kinds;
static int32_t device_number;

static tacho_block rec_megengine_describe(const void *node, const void *address, size_t bytes) {
    tacho_block b = {.size = sizeof b,
                     .address = (uint64_t)(uintptr_t)address,
                     .bytes = (int64_t)bytes,
                     .device = device_number,
                     .allocated = -1,
                     .reserved = -1};
    int kind = megengine.kind(node);
    for (size_t i = 0; i < n_host_kinds; i++)
        if (kind == host_kinds[i]) b.device = -1;
    return b;
}

static void *alloc_device(const void *node, size_t bytes) {
    void *address = megengine.alloc(node, bytes);
    tacho_block b = rec_megengine_describe(node, address, bytes);
    if (address) tacho_alloc(&b);
    return address;
}

/* Recorded before it is done: another thread may get the same address right after. */
static void free_device(const void *node, void *address) {
    tacho_block b = rec_megengine_describe(node, address, 0);
    if (address) tacho_release(&b);
    megengine.release(node, address);
}

static bool rec_megengine_find_symbols(void) {
    void *lib = dlopen("libmegengine_shared.so", RTLD_NOLOAD | RTLD_LAZY);
    if (!lib) return false;
    void *found[] = {dlsym(lib, ALLOC), dlsym(lib, RELEASE), dlsym(lib, KIND)};
    memcpy(&megengine.alloc, &found[0], sizeof found[0]);
    memcpy(&megengine.release, &found[1], sizeof found[1]);
    memcpy(&megengine.kind, &found[2], sizeof found[2]);
    return found[0] && found[1] && found[2];
}

static bool rec_megengine_begin(const int *kinds, size_t n, int device) {
    const rec_replacement r[] = {{ALLOC, (void *)(uintptr_t)alloc_device},
                                 {RELEASE, (void *)(uintptr_t)free_device}};
    if (!rec_megengine_find_symbols()) return false;
    n_host_kinds = n < MOST_KINDS ? n : MOST_KINDS;
    memcpy(host_kinds, kinds, n_host_kinds * sizeof *kinds);
    device_number = device;
    (void)rec_entries_change(&entries, "libmegengine", r, sizeof r / sizeof *r);
    (void)rec_entries_change(&entries, "_imperative_rt", r, sizeof r / sizeof *r);
    return entries.n > 0;
}

int tacho_megengine(const int *kinds, size_t n, int device) {
    rec_mutex_lock(&rec_megengine_lock);
    if (!kinds) rec_entries_restore(&entries);
    bool listens = kinds && (entries.n > 0 || rec_megengine_begin(kinds, n, device));
    pthread_mutex_unlock(&rec_megengine_lock);
    return listens;
}

#else

int tacho_megengine(const int *kinds, size_t n, int device) {
    (void)kinds, (void)n, (void)device;
    return 0;
}

#endif
