/* tacho/tacho.h: the C interface of the recorder; link with -ltacho (pkg-config tacho).
 * recorder.h has the macros most programs need, abi.h every function with its contract. */
#ifndef TACHO_TACHO_H
#define TACHO_TACHO_H

#include <tacho/abi.h>
#include <tacho/recorder.h>

#endif
