/* tacho/recorder.h: the macros around abi.h: ranges that end by themselves, and the check that
 * makes a program that is not recorded pay one predicted load for each of them.
 *
 *     void train(void) {
 *         TACHO_SCOPE("epoch");                      ends with the block
 *         for (…) {
 *             TACHO_SCOPE_KIND("batch", DATA) …      a block of its own
 *             tacho_step();
 *         }
 *     }
 */
#ifndef TACHO_RECORDER_H
#define TACHO_RECORDER_H

#include <tacho/abi.h>

#define TACHO_JOIN_(a, b) a##b
#define TACHO_JOIN(a, b) TACHO_JOIN_(a, b)

#if defined(__GNUC__)
#define TACHO_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define TACHO_IS_ON() TACHO_UNLIKELY(__atomic_load_n(&tacho_on, __ATOMIC_RELAXED))
#else
#define TACHO_UNLIKELY(x) (x)
#define TACHO_IS_ON() TACHO_UNLIKELY(tacho_on)
#endif

static inline tacho_site *tacho_scope_begin_(tacho_site *site) {
    if (!TACHO_IS_ON()) return NULL;
    tacho_site_begin(site);
    return site;
}
static inline void tacho_scope_end_(tacho_site **site) {
    if (TACHO_UNLIKELY(*site != NULL)) tacho_site_end(*site);
}

/* From here to the end of the block; the name is a constant text. */
#define TACHO_SCOPE_AS(text, what)                                         \
    static tacho_site TACHO_JOIN(tacho_site_, __LINE__) = {text, 0, what}; \
    tacho_site *TACHO_JOIN(tacho_scope_, __LINE__)                         \
        __attribute__((cleanup(tacho_scope_end_), unused)) =               \
            tacho_scope_begin_(&TACHO_JOIN(tacho_site_, __LINE__))
#define TACHO_SCOPE(text) TACHO_SCOPE_AS(text, TACHO_RANGE_PLAIN)
#define TACHO_SCOPE_KIND(text, what) TACHO_SCOPE_AS(text, TACHO_RANGE_##what)

/* The same by hand, on one thread: TACHO_BEGIN("load"); …; TACHO_END(); */
#define TACHO_BEGIN_KIND(text, what)                                        \
    do {                                                                    \
        static tacho_site tacho_site_here_ = {text, 0, TACHO_RANGE_##what}; \
        if (TACHO_IS_ON()) tacho_site_begin(&tacho_site_here_);             \
    } while (0)
#define TACHO_BEGIN(text) TACHO_BEGIN_KIND(text, PLAIN)
#define TACHO_END()                           \
    do {                                      \
        if (TACHO_IS_ON()) tacho_end_range(); \
    } while (0)

/* A name that is made at run time: looked up each time it is used. */
#define TACHO_BEGIN_NAMED(text)                                       \
    do {                                                              \
        if (TACHO_IS_ON()) tacho_begin_text(text, TACHO_RANGE_PLAIN); \
    } while (0)

#endif
