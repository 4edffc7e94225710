/* read_helper.h: from a JSON text to a sealed trace, and a trace as text, for the tests of ingest/
 * and of the seal. Whatever goes wrong fails the test. */
#ifndef TESTS_READ_HELPER_H
#define TESTS_READ_HELPER_H

#include "ingest/ingest.h"
#include "store/trace_int.h"

typedef struct {
    int threads;        /* 0: no pool */
    size_t piece_bytes; /* 0: the reader's own */
} read_how;

/* The trace, or NULL with *err filled when the reader refused the text. */
trace *read_text(str text, read_how how, error *err);
/* One thread, one piece, and the text must be good enough. */
trace *read_json(const char *text);
/* The same of a list of events: "[" and "]" are added. */
trace *read_events(const char *events);

/* The only slice of this name; the test fails when there is none or another one. */
uint32_t find_slice(const trace *t, const char *name);
/* Arguments as JSON; valid until the next call. */
const char *args_text(const trace *t, uint32_t record);
/* String, valid until the next call. */
const char *text_of_id(const trace *t, uint32_t id);

/* Everything a trace holds, a line a row, with strings, categories and arguments spelled out: equal
 * texts are equal traces whatever the numbers of their strings. Offsets into the input are left out
 * unless asked for. */
typedef enum { WITHOUT_OFFSETS, WITH_OFFSETS } offsets_wanted;
buf describe(const trace *t, offsets_wanted offsets);
/* Fails at the first line that differs. */
void assert_same_trace(const trace *a, const trace *b, offsets_wanted offsets);

/* Small numbers, the same in every run. */
uint32_t next_random(uint32_t *state);

#endif
