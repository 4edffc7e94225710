/* made_recording.h: recordings written slot by slot, right or wrong. */
#ifndef TESTS_MADE_RECORDING_H
#define TESTS_MADE_RECORDING_H

#include <tacho/format.h>

#include "store/trace.h"

typedef struct {
    uint8_t *p;
    size_t n;          /* bytes */
    size_t side, slot; /* where the next record and the next slot go */
} made_recording;

/* A header and two chunks: one of side records with a clock of 1 GHz, one of events of thread row 1. */
made_recording made_new(void);
void made_free(made_recording *m);
tacho_file_header *made_header(made_recording *m);
void made_side(made_recording *m, uint32_t type, const void *fixed, size_t n, const char *text);
void made_name(made_recording *m, uint64_t id, const char *text);
/* An event at `ns` from the start, with `extra` slots after it. */
void made_event(made_recording *m, uint64_t ns, uint32_t name, uint32_t kind, uint32_t argument,
                const void *payload, size_t n);
/* NULL and a status when it is refused. */
trace *made_read(const made_recording *m, error *err);

#endif
