/* kernel_arch.h: which generation of NVIDIA's GPUs a kernel was built for, as far as its name
 * tells: libraries carry kernels of older ones and fall back on them, for matrices that are not
 * aligned for example. */
#ifndef ANALYSE_KERNEL_ARCH_H
#define ANALYSE_KERNEL_ARCH_H

#include "base/str.h"

/* 75 of "cutlass_75_…", "sm75_…" and "turing_…"; 0 when the name does not tell. */
int kernel_arch(str name);
/* Does the name say that it takes matrices whose rows begin anywhere ("…_align1")? */
bool kernel_is_unaligned(str name);

#endif
