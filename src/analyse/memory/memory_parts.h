/* memory_parts.h: what the memory of a device is made of.
 *
 *   weights          made before the first backward pass and never released
 *   gradients        made in a backward pass and alive after it
 *   optimizer_state  made in a step of the optimizer and alive after it
 *   activations      made in a forward pass (or computed again by a checkpoint) and released
 *                    later than in the operator that made them: what waits for the backward
 *                    pass, the next operator, the next token
 *   temporary        released inside the operator that made it, or between the operators of one
 *                    backward pass; workspaces of libraries
 *   communication    made by a collective
 *   kept             made after training has begun and alive over two backward passes: what the
 *                    program itself keeps
 *   unknown          none of this can be seen: mainly what is older than the recording
 *   cached           free segments that the allocator keeps
 *   fragmented       gaps in segments that hold blocks
 *   unused           one or the other: the recording has no segments
 *
 * A block is judged by when it was made and released and by what made it; who reads it is not
 * recorded. What is older than the recording is estimated from the gradients of one backward
 * pass: the weights and each state of the optimizer are as large as they are. */
#ifndef ANALYSE_MEMORY_PARTS_H
#define ANALYSE_MEMORY_PARTS_H

#include "analyse/memory/memory_phases.h"

typedef enum {
    PART_WEIGHTS,
    PART_GRADIENTS,
    PART_OPTIMIZER_STATE,
    PART_ACTIVATIONS,
    PART_TEMPORARY,
    PART_COMMUNICATION,
    PART_KEPT,
    PART_UNKNOWN,
    PART_CACHED,
    PART_FRAGMENTED,
    PART_UNUSED,
    N_MEMORY_PARTS
} memory_part;

typedef struct {
    const trace *t;
    memory_phases phases;
    uint8_t *part;   /* by memory row: memory_part of the block it makes or releases */
    bool *estimated; /* by memory row: a guess from the sizes of gradients */
} memory_parts;

status memory_parts_init(memory_parts *m, const trace *t, arena *a, error *err) MUST_USE;

/* What a device holds after one event. */
typedef struct {
    int64_t bytes[N_MEMORY_PARTS], blocks[N_MEMORY_PARTS];
    bool estimated[N_MEMORY_PARTS];
} memory_split;

/* The moment and the device; totals are ABSENT_I64 where they were not recorded. */
typedef struct {
    uint8_t device_type;
    int32_t device;
    uint32_t row; /* the last event that counts */
    int64_t allocated, reserved;
} memory_moment;

/* Adds up to reserved, or to allocated where reserved is not known or less. */
status memory_split_at(const memory_parts *m, const memory_moment *at, arena *a,
                       memory_split *out, error *err) MUST_USE;

/* A constant that ends in NUL: it is the name of the value in sentences, too. */
str memory_part_name(uint8_t part);

#endif
