/* paddle_wire.h: the three messages that a Paddle protobuf has by the hundred thousand: host
 * nodes, their ranges, and memory events. What they mean is paddle_pb.c's business. */
#ifndef INGEST_PADDLE_WIRE_H
#define INGEST_PADDLE_WIRE_H

#include "ingest/util/protobuf.h"

/* Readable bytes after every message given here; they are looked at and never used. */
enum { WIRE_ROOM = 256 };

/* Number fields that are together and nearly always are what they were in the message before,
 * and the bytes that said so. */
enum { WIRE_REPEATS = 3 };
typedef struct {
    uint64_t bytes[2], mask[2];
    size_t n; /* 0: none yet */
    uint64_t v[WIRE_REPEATS];
} wire_repeat;

/* Where the numbers of the last node were, up to the length of its event: the next one's are
 * nearly always as long. Only the bits that give the length of a number count. */
typedef struct {
    uint64_t bytes[2], mask[2];
    uint8_t parent, event; /* where they are; 0: none yet */
} wire_head;

/* HostTraceEventNode. Its numbers stay where they are: few nodes are asked for theirs. */
typedef struct {
    const char *id, *parent; /* a varint; NULL: not there */
    str event;               /* STR_NONE: not there */
    str rest;                /* from the first other field on; STR_NONE: there is none */
    bool has_supplement;     /* in the rest */
    bool is_root;            /* it has no parent */
} wire_node;

/* HostTraceEventProto. */
typedef struct {
    str name;
    uint64_t type, start, end, pid, tid;
} wire_range;

/* MemTraceEventProto. */
typedef struct {
    uint64_t time, type, address, pid, tid, increase;
    str place;
    uint64_t totals[4]; /* current allocated and reserved, peak allocated and reserved */
} wire_memory;

/* What is remembered from message to message, and how this processor reads them. Each reader
 * takes a whole message; false when it is damaged, then *out has what was read so far. */
typedef struct wire_state wire_state;
struct wire_state {
    wire_repeat range_thread, memory_thread; /* process and thread */
    wire_repeat memory_totals;               /* the last three */
    wire_head node;
    bool (*read_range)(str message, wire_state *w, wire_range *out);
    bool (*read_memory)(str message, wire_state *w, wire_memory *out);
};
void wire_init(wire_state *w);
/* With or without the processor's instruction that unpacks varints, for tests: both read the
 * same. */
void wire_choose(wire_state *w, bool pext);

bool wire_read_node(str message, wire_state *w, wire_node *out);

/* A length of one or two bytes at p and one past it; NULL when it has more. */
static inline const char *wire_length(const char *p, size_t *n) {
    size_t low = (uint8_t)p[0], high = (uint8_t)p[1];
    *n = low;
    if (low < 0x80) return p + 1;
    *n = (low & 0x7f) | high << 7;
    return high < 0x80 ? p + 2 : NULL;
}

/* The number at wire_node.id or .parent; 0 when it is missing. */
uint64_t wire_number(const char *p);

#endif
