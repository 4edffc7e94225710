/* xla_details.h: what XLA's profiler says of device work in one text, in its own files and in
 * those for viewers.
 *
 *     regs:90 static_shared:0 dynamic_shared:147480 grid:128,1,1 block:128,1,1 occ_pct:6.25
 *     kind_src:pinned kind_dst:device size:4 dest:0 async:1 */
#ifndef INGEST_XLA_DETAILS_H
#define INGEST_XLA_DETAILS_H

#include "store/builder.h"

/* What is not in the text stays as it is. */
void xla_kernel_details(str text, raw_kernel *k);
/* Percent as a share; NaN outside of (0, 100]: 0 means not computed. */
double xla_occupancy(double percent);
/* The bytes of a copy or memset; ABSENT_I64 when they are not given. */
int64_t xla_copied_bytes(str text);

#endif
