/* rec_torch_int.h: between the two files about PyTorch. */
#ifndef RECORD_REC_TORCH_INT_H
#define RECORD_REC_TORCH_INT_H

#include <tacho/abi.h>

/* Listens to libtorch's allocators, or not; TACHO_TORCH_MEMORY when it does. */
unsigned rec_torch_memory(unsigned want);

#endif
