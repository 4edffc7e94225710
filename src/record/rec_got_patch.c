/* rec_got_patch.c: functions of loaded libraries that are pointed elsewhere, and back.
 *
 *     library ── call f ──> its table of foreign functions ──> f
 *                                    └── one word, changed ──> ours ──> f, if it wants
 *
 * A library calls exported functions, its own too, through a table that the loader fills in.
 * Words of that table are found by the relocations that name the symbol, and changed; nothing
 * else of the library is touched. A function that the compiler called directly has no such
 * word: then nothing is changed, and the caller learns that.
 *
 * Not for several threads at once: the caller has a lock. Threads of the program may call
 * meanwhile: a word is changed in one piece. */
#include "record/rec_got_patch.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { CALL_ENTRY = R_X86_64_JUMP_SLOT, DATA_ENTRY = R_X86_64_GLOB_DAT };
#elif defined(__aarch64__)
enum { CALL_ENTRY = R_AARCH64_JUMP_SLOT, DATA_ENTRY = R_AARCH64_GLOB_DAT };
#else
enum { CALL_ENTRY = -1, DATA_ENTRY = -1 }; /* none is known */
#endif

typedef struct {
    rec_entries *e;
    const char *library;
    const rec_replacement *r;
    size_t n;
} search;

typedef struct {
    const ElfW(Rela) * rela;
    size_t n;
} relocations;

typedef struct {
    ElfW(Addr) base;
    const ElfW(Sym) * symbols;
    const char *strings;
    relocations plt, other;
} tables;

static bool make_writable(void *at) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)at & ~(page - 1);
    return mprotect((void *)from, page, PROT_READ | PROT_WRITE) == 0;
}

static void change(rec_entries *e, void **at, void *to) {
    if (e->n == REC_MOST_ENTRIES || *at == to || !make_writable(at)) return;
    e->all[e->n].at = at;
    e->all[e->n++].was = *at;
    __atomic_store_n(at, to, __ATOMIC_RELEASE);
}

static void change_in(const search *s, const tables *t, relocations r) {
    for (size_t i = 0; i < r.n; i++) {
        int64_t type = (int64_t)ELF64_R_TYPE(r.rela[i].r_info);
        if (type != CALL_ENTRY && type != DATA_ENTRY) continue;
        const char *name = t->strings + t->symbols[ELF64_R_SYM(r.rela[i].r_info)].st_name;
        for (size_t k = 0; k < s->n; k++)
            if (strcmp(name, s->r[k].symbol) == 0)
                change(s->e, (void **)(uintptr_t)(t->base + r.rela[i].r_offset), s->r[k].to);
    }
}

static tables tables_of(const struct dl_phdr_info *info) {
    const ElfW(Dyn) *d = NULL;
    tables t = {.base = info->dlpi_addr};
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            d = (const ElfW(Dyn) *)(uintptr_t)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (; d && d->d_tag != DT_NULL; d++) {
        uintptr_t at = (uintptr_t)d->d_un.d_ptr;
        switch (d->d_tag) {
        case DT_SYMTAB: t.symbols = (const void *)at; break;
        case DT_STRTAB: t.strings = (const void *)at; break;
        case DT_JMPREL: t.plt.rela = (const void *)at; break;
        case DT_PLTRELSZ: t.plt.n = d->d_un.d_val / sizeof *t.plt.rela; break;
        case DT_RELA: t.other.rela = (const void *)at; break;
        case DT_RELASZ: t.other.n = d->d_un.d_val / sizeof *t.other.rela; break;
        default: break;
        }
    }
    return t;
}

static int rec_got_patch_look_at(struct dl_phdr_info *info, size_t size, void *context) {
    const search *s = context;
    (void)size;
    if (!info->dlpi_name || !strstr(info->dlpi_name, s->library)) return 0;
    tables t = tables_of(info);
    if (!t.symbols || !t.strings) return 0;
    if (t.plt.rela) change_in(s, &t, t.plt);
    if (t.other.rela) change_in(s, &t, t.other);
    return 0;
}

size_t rec_entries_change(rec_entries *e, const char *library, const rec_replacement *r,
                          size_t n_replacements) {
    search s = {e, library, r, n_replacements};
    (void)dl_iterate_phdr(rec_got_patch_look_at, &s);
    return e->n;
}

void rec_entries_restore(rec_entries *e) {
    for (; e->n > 0; e->n--)
        __atomic_store_n(e->all[e->n - 1].at, e->all[e->n - 1].was, __ATOMIC_RELEASE);
}
