/* rec_torch_memory.c: what PyTorch's allocators hand out and take back.
 *
 * libc10 asks `memoryProfilingEnabled` and then calls `reportMemoryUsageToProfiler`, both through its
 * table of foreign functions. Those two entries are pointed at functions here, in every loaded library
 * that has them (libc10 for the host, libc10_cuda for a GPU), for as long as memory is recorded, and
 * then pointed back. PyTorch's own profiler works on as before: what it wanted is passed on.
 *
 * The totals after each event come from the allocator itself. Where the entries are not found (a
 * static build), nothing is changed and the answer says that there is no memory. */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/rec_int.h"
#include "record/rec_torch_int.h"

#if (defined(__x86_64__) || defined(__aarch64__)) && defined(__linux__)

#if defined(__x86_64__)
enum { CALL_ENTRY = R_X86_64_JUMP_SLOT, DATA_ENTRY = R_X86_64_GLOB_DAT };
#else
enum { CALL_ENTRY = R_AARCH64_JUMP_SLOT, DATA_ENTRY = R_AARCH64_GLOB_DAT };
#endif
enum { MOST_PLACES = 16, CPU = 0 };
static const char ENABLED[] = "_ZN3c1022memoryProfilingEnabledEv";
static const char REPORT[] = "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE";

typedef struct {
    int8_t type, index;
} device;

typedef bool enabled_fn(void);
typedef void report_fn(void *, int64_t, uint64_t, uint64_t, device);

/* An entry that was changed, with what it held. */
typedef struct {
    void **at;
    void *was;
} entry;
static entry entries[MOST_PLACES];
static size_t n_entries;
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

static void report(void *address, int64_t bytes, uint64_t allocated, uint64_t reserved,
                   device d) {
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

static void *replacement(const char *symbol) {
    if (strcmp(symbol, ENABLED) == 0) return (void *)(uintptr_t)is_enabled;
    if (strcmp(symbol, REPORT) == 0) return (void *)(uintptr_t)report;
    return NULL;
}

static bool make_writable(void *at) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)at & ~(page - 1);
    return mprotect((void *)from, page, PROT_READ | PROT_WRITE) == 0;
}

static void change(void **at, void *to) {
    if (n_entries == MOST_PLACES || *at == to || !make_writable(at)) return;
    entries[n_entries++] = (entry){at, *at};
    __atomic_store_n(at, to, __ATOMIC_RELEASE);
}

typedef struct {
    const ElfW(Rela) * rela;
    size_t n;
} relocations;

static void change_in(ElfW(Addr) base, relocations r, const ElfW(Sym) * symbols,
                      const char *strings) {
    for (size_t i = 0; i < r.n; i++) {
        uint64_t type = ELF64_R_TYPE(r.rela[i].r_info);
        if (type != CALL_ENTRY && type != DATA_ENTRY) continue;
        const char *name = strings + symbols[ELF64_R_SYM(r.rela[i].r_info)].st_name;
        void *to = replacement(name);
        if (to) change((void **)(uintptr_t)(base + r.rela[i].r_offset), to);
    }
}

static int look_at(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    (void)context;
    const ElfW(Dyn) *d = NULL;
    if (!info->dlpi_name || !strstr(info->dlpi_name, "libc10")) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            d = (const ElfW(Dyn) *)(uintptr_t)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    const ElfW(Sym) *symbols = NULL;
    const char *strings = NULL;
    relocations plt = {NULL, 0}, other = {NULL, 0};
    for (; d && d->d_tag != DT_NULL; d++) {
        uintptr_t at = (uintptr_t)d->d_un.d_ptr;
        switch (d->d_tag) {
        case DT_SYMTAB: symbols = (const void *)at; break;
        case DT_STRTAB: strings = (const void *)at; break;
        case DT_JMPREL: plt.rela = (const void *)at; break;
        case DT_PLTRELSZ: plt.n = d->d_un.d_val / sizeof *plt.rela; break;
        case DT_RELA: other.rela = (const void *)at; break;
        case DT_RELASZ: other.n = d->d_un.d_val / sizeof *other.rela; break;
        default: break;
        }
    }
    if (!symbols || !strings) return 0;
    if (plt.rela) change_in(info->dlpi_addr, plt, symbols, strings);
    if (other.rela) change_in(info->dlpi_addr, other, symbols, strings);
    return 0;
}

static bool find_real(void) {
    void *lib = dlopen("libc10.so", RTLD_NOLOAD | RTLD_LAZY);
    if (!lib) return false;
    void *enabled = dlsym(lib, ENABLED), *reports = dlsym(lib, REPORT);
    memcpy(&real_enabled, &enabled, sizeof enabled);
    memcpy(&real_report, &reports, sizeof reports);
    return enabled && reports;
}

unsigned rec_torch_memory(unsigned want) {
    bool wanted = (want & TACHO_TORCH_MEMORY) != 0;
    if (wanted && n_entries == 0 && find_real()) (void)dl_iterate_phdr(look_at, NULL);
    if (wanted && n_entries == 0) return 0;
    __atomic_store_n(&listening, wanted, __ATOMIC_RELAXED);
    if (wanted) return TACHO_TORCH_MEMORY;
    for (; n_entries > 0; n_entries--)
        __atomic_store_n(entries[n_entries - 1].at, entries[n_entries - 1].was,
                         __ATOMIC_RELEASE);
    return 0;
}

#else

unsigned rec_torch_memory(unsigned want) {
    (void)want;
    return 0;
}

#endif
