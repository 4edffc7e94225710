/* made_recording.c: see the header. */
#include "unit/ingest/made_recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/recording/recording.h"

#define START_TICK 1000000u

made_recording made_new(void) {
    made_recording m = {.n = TACHO_FILE_HEADER_BYTES + 2 * TACHO_CHUNK_BYTES};
    m.p = calloc(1, m.n);
    assert_non_null(m.p);
    tacho_file_header *h = made_header(&m);
    memcpy(h->magic, TACHO_FILE_MAGIC, 8);
    h->version = TACHO_FILE_VERSION;
    h->profile = TACHO_FILE_RECORDING;
    h->header_bytes = TACHO_FILE_HEADER_BYTES;
    h->chunk_bytes = TACHO_CHUNK_BYTES;
    h->n_chunks = 2;
    h->state = TACHO_FILE_RUNNING;
    h->pid = 100;
    h->start_tick = START_TICK;
    h->start_unix_ns = 1700000000000000000;
    strcpy(h->worker, "made");
    tacho_chunk_header side = {.type = TACHO_CHUNK_SIDE}, events = {.type = TACHO_CHUNK_EVENTS};
    events.thread = 1;
    memcpy(m.p + TACHO_FILE_HEADER_BYTES, &side, sizeof side);
    memcpy(m.p + TACHO_FILE_HEADER_BYTES + TACHO_CHUNK_BYTES, &events, sizeof events);
    m.side = TACHO_FILE_HEADER_BYTES + TACHO_CHUNK_HEADER_BYTES;
    m.slot = m.side + TACHO_CHUNK_BYTES;
    tacho_side_clock first = {START_TICK, 5000, 1700000000000000000, 10},
                     second = {START_TICK + 1000000, 1005000, 1700000000001000000, 10};
    made_side(&m, TACHO_SIDE_CLOCK, &first, sizeof first, "");
    made_side(&m, TACHO_SIDE_CLOCK, &second, sizeof second, "");
    struct {
        uint64_t row;
        int64_t tid;
    } thread = {1, 77};
    made_side(&m, TACHO_SIDE_THREAD, &thread, sizeof thread, "main");
    return m;
}

void made_free(made_recording *m) {
    free(m->p);
}

tacho_file_header *made_header(made_recording *m) {
    return (tacho_file_header *)m->p;
}

void made_side(made_recording *m, uint32_t type, const void *fixed, size_t n,
               const char *text) {
    size_t bytes = (sizeof(tacho_side) + n + strlen(text) + 8) / 8 * 8;
    tacho_side head = {(uint32_t)bytes, type};
    memcpy(m->p + m->side, &head, sizeof head);
    memcpy(m->p + m->side + sizeof head, fixed, n);
    memcpy(m->p + m->side + sizeof head + n, text, strlen(text));
    m->side += bytes;
}

void made_name(made_recording *m, uint64_t id, const char *text) {
    made_side(m, TACHO_SIDE_NAME, &id, sizeof id, text);
}

void made_event(made_recording *m, uint64_t ns, uint32_t name, uint32_t kind, uint32_t argument,
                const void *payload, size_t n) {
    tacho_slot head = {START_TICK + ns, name,
                       kind | (uint32_t)(n / TACHO_SLOT_BYTES) << 8 | argument << 16};
    memcpy(m->p + m->slot, &head, sizeof head);
    if (n) memcpy(m->p + m->slot + sizeof head, payload, n);
    m->slot += sizeof head + n;
}

trace *made_read(const made_recording *m, error *err) {
    source *s;
    trace *t = NULL;
    ingest_options how = {0};
    builder *b = builder_new();
    assert_non_null(b);
    assert_int_equal(source_open_memory(str_n((const char *)m->p, m->n), &s, NULL), OK);
    if (ingest_recording(s, &how, b, err) == OK)
        assert_int_equal(builder_seal(b, NULL, &t, err), OK);
    source_close(s);
    builder_free(b);
    return t;
}
