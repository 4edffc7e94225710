/* rec_python_layout.h: where CPython keeps what its threads are doing.
 *
 * From 3.13 on the interpreter says so itself (_Py_DebugOffsets); 3.8 to 3.12 are in a table,
 * the same for all 64-bit machines. What is read there is checked by its type before it is
 * used. */
#ifndef RECORD_REC_PYTHON_LAYOUT_H
#define RECORD_REC_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a code object says which line an instruction belongs to. */
typedef enum {
    REC_LINES_PAIRS,     /* 3.8, 3.9: bytes of code, lines; both from the last pair on */
    REC_LINES_RANGES,    /* 3.10: the same, and a mark for no line */
    REC_LINES_LOCATIONS, /* 3.11 and newer */
} rec_lines_format;

/* Bytes from the start of each structure; 0: the version does not have it. */
typedef struct {
    uint16_t version; /* 0x030b: 3.11 */
    uint32_t interpreters, interpreter_next, interpreter_threads;
    uint32_t gil;         /* in an interpreter: a pointer to it */
    uint32_t runtime_gil; /* before 3.12: itself, in the runtime */
    uint32_t gil_holder, gil_locked;
    uint32_t thread_next, thread_id;
    uint32_t thread_frame;  /* where cframe is set: a pointer to what has the frame there */
    uint32_t cframe, frame; /* frame: in the cframe */
    uint32_t frame_back, frame_code, frame_at, frame_owner;
    uint32_t code_lines, code_file, code_name, code_first;
    uint32_t code_start;                /* 0: a frame has the place in the code as a number */
    uint32_t text_data, text_wide_data; /* ASCII; other compact strings */
} rec_python_layout;

/* The interpreter of this process; false: there is none, or *why says what is wrong with it. */
bool rec_python_find(rec_python_layout *to, const uint8_t **runtime, const char **why);
/* Reads memory of this process that may go away meanwhile; false: it has, or the system does
 * not allow it. */
bool rec_read_memory(uint64_t from, void *to, size_t n);
/* The line of the instruction at `at` bytes; 0: it has none. */
uint32_t rec_python_line(rec_lines_format format, const uint8_t *table, size_t n,
                         uint32_t first, int32_t at);
static inline rec_lines_format rec_lines_of(const rec_python_layout *l) {
    return l->version >= 0x030b   ? REC_LINES_LOCATIONS
           : l->version == 0x030a ? REC_LINES_RANGES
                                  : REC_LINES_PAIRS;
}

#endif
