/* paddle_wire.h: the three messages that a Paddle protobuf has by the hundred thousand: host nodes, their
 * ranges, and memory events. What they mean is paddle_pb.c's business. */
#ifndef INGEST_PADDLE_WIRE_H
#define INGEST_PADDLE_WIRE_H

#include "ingest/protobuf.h"

/* Readable bytes behind every message given here; they are looked at and never used. */
enum { WIRE_ROOM = 256 };

/* Process and thread of the last event, and the bytes that said so: the next one nearly always has the
 * same. One for each kind of message; begins as zeros. */
typedef struct {
    uint64_t bytes[2], mask[2];
    size_t n; /* 0: none yet */
    uint64_t pid, tid;
} wire_thread;

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

/* Each reads a whole message; false when it is damaged, then *out has what was read so far. */
bool wire_read_node(str message, wire_node *out);
bool wire_read_range(str message, wire_thread *last, wire_range *out);
bool wire_read_memory(str message, wire_thread *last, wire_memory *out);

/* The number at wire_node.id or .parent; 0 when it is not there. */
uint64_t wire_number(const char *p);

#endif
