/* device_words.c: device work by its words.
 *
 * People write their own tracers on top of CUPTI or roctracer. They take over its numbers (a
 * correlation, a stream, a grid) and its words (memcpy, memset, kernel), under any category or
 * none. Neither is enough alone: a web server has correlation ids, and a host calls cudaMemcpy.
 * So an argument must say that a device is meant, and a word or the form of the name what it
 * does. */
#include "ingest/trace_events/device_words.h"

typedef struct {
    str word;
    slice_kind kind;
} device_word;

/* In a category or a name, in any case; the first one counts. */
static const device_word WORDS[] = {
    {STR("memcpy"), KIND_MEMCPY},
    {STR("memset"), KIND_MEMSET},
    {STR("kernel"), KIND_KERNEL},
};

static slice_kind find_word(str text, size_t n_words) {
    for (size_t i = 0; i < n_words; i++)
        if (str_find_nocase(text, WORDS[i].word, 0) != SIZE_MAX) return WORDS[i].kind;
    return KIND_OTHER;
}

/* cudaMemcpyAsync, cuLaunchKernel, hipMalloc */
static bool is_call(str name) {
    static const str fronts[] = {STR("cuda"), STR("cu"), STR("hip")};
    for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++)
        if (str_starts(name, fronts[i]) && name.n > fronts[i].n && name.p[fronts[i].n] >= 'A' &&
            name.p[fronts[i].n] <= 'Z')
            return true;
    return false;
}

/* "void k<float>(float*)" or "_Z1kPf": a kernel returns nothing, which only templates say. */
static bool is_function(str name) {
    return str_starts(name, STR("_Z")) ||
           (str_starts(name, STR("void ")) && str_ends(name, STR(")")));
}

slice_kind device_words_kind(str category, str name, unsigned says) {
    enum { COPIES = 2, ALL = sizeof WORDS / sizeof *WORDS };
    if (!says) return KIND_OTHER;
    if (is_call(name)) return says & SAYS_CORRELATION ? KIND_RUNTIME : KIND_OTHER;
    slice_kind kind = find_word(category, ALL);
    if (kind == KIND_OTHER || kind == KIND_KERNEL) {
        slice_kind copy = is_function(name) ? KIND_OTHER : find_word(name, COPIES);
        if (copy != KIND_OTHER) kind = copy;
    }
    if (kind != KIND_OTHER) return kind;
    bool placed = (says & SAYS_PLACE) && (says & (SAYS_CORRELATION | SAYS_GRID));
    return placed || is_function(name) ? KIND_KERNEL : KIND_OTHER;
}
