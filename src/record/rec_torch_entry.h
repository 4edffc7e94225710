/* rec_torch_entry.h: how libtorch enters a start function written in C.
 *
 * Such a function returns a unique_ptr, and C++ hands one back through memory of the caller's
 * choice:
 *
 *     x86-64    the address is a hidden first argument, and is returned; C can say that
 *     aarch64   the address is in x8, which C cannot name: three instructions make it an
 *               argument
 *
 * REC_ENTRY(name) begins a function `static void **name(void **context, const void *fn)` that
 * stores an observer's context and returns where; REC_ENTRY_OF(name) is what libtorch is given
 * to call. */
#ifndef RECORD_REC_TORCH_ENTRY_H
#define RECORD_REC_TORCH_ENTRY_H

#if defined(__x86_64__)

typedef void **(*rec_entry)(void **context, const void *fn);
#define REC_ENTRY(name) static void **name(void **context, const void *fn)
#define REC_ENTRY_OF(name) name

#elif defined(__aarch64__)

typedef void (*rec_entry)(void);
/* The function has a name that the assembler sees, also when the whole library is optimized at
 * once. The hint is a landing place for indirect branches, and nothing on processors without
 * them. */
#define REC_ENTRY(name)                                                        \
    void name##_entry(void) __asm__("rec_torch_" #name "_entry")               \
        __attribute__((visibility("hidden")));                                 \
    void **name(void **context, const void *fn) __asm__("rec_torch_" #name)    \
        __attribute__((used, visibility("hidden")));                           \
    __asm__(".pushsection .text, \"ax\", %progbits\n"                          \
            ".balign 4\n"                                                      \
            ".hidden rec_torch_" #name "_entry\n"                              \
            ".globl rec_torch_" #name "_entry\n"                               \
            ".type rec_torch_" #name "_entry, %function\n"                     \
            "rec_torch_" #name "_entry:\n"                                     \
            ".cfi_startproc\n"                                                 \
            "hint #34\n"                                                       \
            "mov x1, x0\n"                                                     \
            "mov x0, x8\n"                                                     \
            "b rec_torch_" #name "\n"                                          \
            ".cfi_endproc\n"                                                   \
            ".size rec_torch_" #name "_entry, . - rec_torch_" #name "_entry\n" \
            ".popsection");                                                    \
    void **name(void **context, const void *fn)
#define REC_ENTRY_OF(name) name##_entry

#endif

#endif
