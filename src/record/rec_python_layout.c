/* rec_python_layout.c: see the header. */
#include "record/rec_python_layout.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static const rec_python_layout KNOWN[] = {
    {.version = 0x0308,
     .interpreters = 32,
     .interpreter_threads = 8,
     .runtime_gil = 1152,
     .gil_holder = 8,
     .gil_locked = 16,
     .thread_next = 8,
     .thread_id = 176,
     .thread_frame = 24,
     .frame_back = 24,
     .frame_code = 32,
     .frame_at = 104,
     .code_lines = 120,
     .code_file = 104,
     .code_name = 112,
     .code_first = 40,
     .text_data = 48,
     .text_wide_data = 72},
    {.version = 0x0309,
     .interpreters = 32,
     .interpreter_threads = 8,
     .runtime_gil = 352,
     .gil_holder = 8,
     .gil_locked = 16,
     .thread_next = 8,
     .thread_id = 176,
     .thread_frame = 24,
     .frame_back = 24,
     .frame_code = 32,
     .frame_at = 104,
     .code_lines = 120,
     .code_file = 104,
     .code_name = 112,
     .code_first = 40,
     .text_data = 48,
     .text_wide_data = 72},
    {.version = 0x030a,
     .interpreters = 32,
     .interpreter_threads = 8,
     .runtime_gil = 352,
     .gil_holder = 8,
     .gil_locked = 16,
     .thread_next = 8,
     .thread_id = 176,
     .thread_frame = 24,
     .frame_back = 24,
     .frame_code = 32,
     .frame_at = 96,
     .code_lines = 120,
     .code_file = 104,
     .code_name = 112,
     .code_first = 40,
     .text_data = 48,
     .text_wide_data = 72},
    {.version = 0x030b,
     .interpreters = 40,
     .interpreter_threads = 16,
     .runtime_gil = 360,
     .gil_holder = 8,
     .gil_locked = 16,
     .thread_next = 8,
     .thread_id = 152,
     .cframe = 56,
     .frame = 8,
     .frame_back = 48,
     .frame_code = 32,
     .frame_at = 56,
     .frame_owner = 69,
     .code_lines = 136,
     .code_file = 112,
     .code_name = 120,
     .code_first = 72,
     .code_start = 184,
     .text_data = 48,
     .text_wide_data = 72},
    {.version = 0x030c,
     .interpreters = 40,
     .interpreter_threads = 72,
     .gil = 384,
     .gil_holder = 8,
     .gil_locked = 16,
     .thread_next = 8,
     .thread_id = 136,
     .cframe = 56,
     .frame = 0,
     .frame_back = 8,
     .frame_code = 0,
     .frame_at = 56,
     .frame_owner = 70,
     .code_lines = 136,
     .code_file = 112,
     .code_name = 120,
     .code_first = 68,
     .code_start = 192,
     .text_data = 40,
     .text_wide_data = 56},
};

/* Words of _Py_DebugOffsets after its name, version and whether the build has no lock. Each
 * version puts words into the middle of the one before. */
typedef struct {
    uint8_t interpreters, interpreter_next, interpreter_threads, gil, gil_locked, gil_holder;
    uint8_t thread_next, thread_frame, thread_id;
    uint8_t back, code, at, owner;
    uint8_t file, name, lines, first, start;
    uint8_t text_data, n_words;
} debug_words;
static const debug_words DEBUG_WORDS[] = {
    [0] = {.interpreters = 5, /* 3.13 */
           .interpreter_next = 8,
           .interpreter_threads = 9,
           .gil = 14,
           .gil_locked = 17,
           .gil_holder = 18,
           .thread_next = 21,
           .thread_frame = 23,
           .thread_id = 24,
           .back = 29,
           .code = 30,
           .at = 31,
           .owner = 33,
           .file = 35,
           .name = 36,
           .lines = 38,
           .first = 39,
           .start = 43,
           .text_data = 70,
           .n_words = 73},
    [1] = {.interpreters = 5, /* 3.14 */
           .interpreter_next = 8,
           .interpreter_threads = 9,
           .gil = 15,
           .gil_locked = 18,
           .gil_holder = 19,
           .thread_next = 24,
           .thread_frame = 26,
           .thread_id = 27,
           .back = 32,
           .code = 33,
           .at = 34,
           .owner = 36,
           .file = 40,
           .name = 41,
           .lines = 43,
           .first = 44,
           .start = 48,
           .text_data = 80,
           .n_words = 95},
    [2] = {.interpreters = 5, /* 3.15 */
           .interpreter_next = 8,
           .interpreter_threads = 9,
           .gil = 15,
           .gil_locked = 18,
           .gil_holder = 19,
           .thread_next = 24,
           .thread_frame = 26,
           .thread_id = 30,
           .back = 40,
           .code = 41,
           .at = 42,
           .owner = 44,
           .file = 48,
           .name = 49,
           .lines = 51,
           .first = 52,
           .start = 56,
           .text_data = 92,
           .n_words = 111},
};
enum { FIRST_WITH_WORDS = 0x030d, N_WITH_WORDS = sizeof DEBUG_WORDS / sizeof *DEBUG_WORDS };

/* Copies of a thread, a frame and a code object are this large at most. */
static bool is_near(const rec_python_layout *l) {
    enum { NEAR = 240 };
    const uint32_t near[] = {l->thread_next, l->thread_frame, l->thread_id,   l->frame_back,
                             l->frame_code,  l->frame_at,     l->frame_owner, l->code_file,
                             l->code_name,   l->code_lines,   l->code_first};
    for (size_t i = 0; i < sizeof near / sizeof *near; i++)
        if (near[i] > NEAR) return false;
    return true;
}

static bool read_debug_offsets(const uint8_t *runtime, uint16_t version, rec_python_layout *l,
                               const char **why) {
    uint64_t word[128];
    const debug_words *w = &DEBUG_WORDS[version - FIRST_WITH_WORDS];
    memcpy(word, runtime, w->n_words * sizeof *word);
    if (memcmp(word, "xdebugpy", 8) != 0 || word[1] >> 16 != version) {
        *why = "Python lines: this interpreter does not say where its threads are";
        return false;
    }
    if (word[2]) {
        *why = "Python lines: not recorded in a Python without its lock";
        return false;
    }
    *l = (rec_python_layout){.version = version,
                             .interpreters = (uint32_t)word[w->interpreters],
                             .interpreter_next = (uint32_t)word[w->interpreter_next],
                             .interpreter_threads = (uint32_t)word[w->interpreter_threads],
                             .gil = (uint32_t)word[w->gil],
                             .thread_next = (uint32_t)word[w->thread_next],
                             .thread_frame = (uint32_t)word[w->thread_frame],
                             .thread_id = (uint32_t)word[w->thread_id],
                             .frame_back = (uint32_t)word[w->back],
                             .frame_code = (uint32_t)word[w->code],
                             .frame_at = (uint32_t)word[w->at],
                             .frame_owner = (uint32_t)word[w->owner],
                             .code_file = (uint32_t)word[w->file],
                             .code_name = (uint32_t)word[w->name],
                             .code_lines = (uint32_t)word[w->lines],
                             .code_first = (uint32_t)word[w->first],
                             .code_start = (uint32_t)word[w->start],
                             .text_data = (uint32_t)word[w->text_data],
                             .text_wide_data = (uint32_t)word[w->text_data] + 16,
                             .gil_holder = 8,
                             .gil_locked = 16};
    if (!is_near(l)) *why = "Python lines: this interpreter does not say where its threads are";
    return is_near(l);
}

bool rec_python_find(rec_python_layout *to, const uint8_t **runtime, const char **why) {
    const char *(*version_of)(void) = NULL;
    void *at = dlsym(RTLD_DEFAULT, "Py_GetVersion");
    unsigned major = 0, minor = 0;
    memcpy(&version_of, &at, sizeof at);
    *why = NULL;
    *runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");
    if (!at || !*runtime || sscanf(version_of(), "%u.%u", &major, &minor) != 2) return false;
    uint16_t version = (uint16_t)(major << 8 | minor);
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
        if (KNOWN[i].version == version) {
            *to = KNOWN[i];
            return true;
        }
    if (version >= FIRST_WITH_WORDS && version < FIRST_WITH_WORDS + N_WITH_WORDS)
        return read_debug_offsets(*runtime, version, to, why);
    *why = "Python lines: not known for this version of Python";
    return false;
}

bool rec_read_memory(uint64_t from, void *to, size_t n) {
    struct iovec here = {to, n}, there = {(void *)(uintptr_t)from, n};
    return from > 4096 && process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)n;
}

/* ---- lines ---- */

static uint32_t line_in_pairs(const uint8_t *p, size_t n, uint32_t first, int32_t at) {
    int64_t line = first, address = 0;
    for (size_t i = 0; i + 1 < n; i += 2) {
        address += p[i];
        if (address > at) break;
        line += (int8_t)p[i + 1];
    }
    return line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0;
}

static uint32_t line_in_ranges(const uint8_t *p, size_t n, uint32_t first, int32_t at) {
    enum { NO_LINE = -128 };
    int64_t line = first, end = 0;
    for (size_t i = 0; i + 1 < n; i += 2) {
        int8_t by = (int8_t)p[i + 1];
        end += p[i];
        if (by != NO_LINE) line += by;
        if (at < end) return by == NO_LINE || line < 0 ? 0 : (uint32_t)line;
    }
    return 0;
}

/* Six bits a byte, low bits first; *i moves on. */
static uint64_t read_varint(const uint8_t *p, size_t n, size_t *i) {
    uint64_t v = 0;
    for (unsigned shift = 0; *i < n; shift += 6) {
        uint8_t byte = p[(*i)++];
        if (shift < 30) v |= (uint64_t)(byte & 63) << shift; /* a line has no more bits */
        if (!(byte & 64)) break;
    }
    return v;
}

/* An entry begins with a byte of 1 | kind (4 bits) | code units - 1 (3 bits); no other byte has
 * the highest bit. */
static uint32_t line_in_locations(const uint8_t *p, size_t n, uint32_t first, int32_t at) {
    enum { ONE_LINE_0 = 10, NO_COLUMNS = 13, LONG = 14, NONE = 15, UNIT_BYTES = 2 };
    int64_t line = first, end = 0;
    for (size_t i = 0; i < n;) {
        uint32_t kind = p[i] >> 3 & 15;
        end += ((p[i++] & 7) + 1) * UNIT_BYTES;
        if (kind == LONG || kind == NO_COLUMNS) {
            uint64_t by = read_varint(p, n, &i);
            line += by & 1 ? -(int64_t)(by >> 1) : (int64_t)(by >> 1);
        } else if (kind >= ONE_LINE_0 && kind < NO_COLUMNS) {
            line += kind - ONE_LINE_0;
        }
        if (at < end) return kind == NONE || line < 0 ? 0 : (uint32_t)line;
        while (i < n && !(p[i] & 128)) i++;
    }
    return 0;
}

uint32_t rec_python_line(rec_lines_format format, const uint8_t *table, size_t n,
                         uint32_t first, int32_t at) {
    switch (format) {
    case REC_LINES_PAIRS: return line_in_pairs(table, n, first, at);
    case REC_LINES_RANGES: return line_in_ranges(table, n, first, at);
    case REC_LINES_LOCATIONS: return line_in_locations(table, n, first, at);
    }
    return 0;
}
