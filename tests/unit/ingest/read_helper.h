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
/* The same by any reader. */
typedef status (*reader_fn)(source *src, const ingest_options *o, builder *b, error *err);
trace *read_with(reader_fn reader, str text, read_how how, error *err);
/* One thread, one piece, and the text must be good enough. */
trace *read_json(const char *text);
/* The same of a list of events: "[" and "]" are added. */
trace *read_events(const char *events);

/* Up to eight events as one text: EVENTS("{…}", "{…}"). */
#define EVENTS(...) EVENTS_(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1)(__VA_ARGS__)
#define EVENTS_(a, b, c, d, e, f, g, h, n, ...) EVENTS_##n
#define EVENTS_1(a) a
#define EVENTS_2(a, ...) a "," EVENTS_1(__VA_ARGS__)
#define EVENTS_3(a, ...) a "," EVENTS_2(__VA_ARGS__)
#define EVENTS_4(a, ...) a "," EVENTS_3(__VA_ARGS__)
#define EVENTS_5(a, ...) a "," EVENTS_4(__VA_ARGS__)
#define EVENTS_6(a, ...) a "," EVENTS_5(__VA_ARGS__)
#define EVENTS_7(a, ...) a "," EVENTS_6(__VA_ARGS__)
#define EVENTS_8(a, ...) a "," EVENTS_7(__VA_ARGS__)

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
