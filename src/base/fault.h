/* fault.h: fault injection. TACHO_FAULT=alloc:17 makes the 17th allocation fail, read:3 the
 * third read, write:2 the second write; tests use fault_arm. Off, a fault point costs one
 * predicted load. */
#ifndef BASE_FAULT_H
#define BASE_FAULT_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { FAULT_ALLOC, FAULT_READ, FAULT_WRITE, N_FAULTS } fault_kind;

extern bool fault_armed; /* written before threads start */

/* Makes the n-th (from 1) next point of this kind fail, once; 0 disarms. Resets the counter. */
void fault_arm(fault_kind kind, uint64_t nth);
/* Points passed since the last fault_arm of that kind. */
uint64_t fault_count(fault_kind kind);
/* Arms from TACHO_FAULT; called once by main. */
void fault_init(void);
bool fault_hit(fault_kind kind);

static inline bool fault_point(fault_kind kind) {
    return __builtin_expect(fault_armed, 0) && fault_hit(kind);
}

#endif
