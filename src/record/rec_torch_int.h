/* rec_torch_int.h: between the files about PyTorch. */
#ifndef RECORD_REC_TORCH_INT_H
#define RECORD_REC_TORCH_INT_H

#include <stdbool.h>
#include <tacho/abi.h>

/* Listens to libtorch's allocators, or not; TACHO_TORCH_MEMORY when it does. */
unsigned rec_torch_memory(unsigned want);

/* Operators are reported, or only ranges of users. False: another thread is changing that
 * now. */
bool rec_torch_sample(bool on);

/* What a convolution has in addition to its tensors. */
typedef struct {
    bool known;
    int64_t stride[2], padding[2], dilation[2], groups;
} rec_torch_conv;
/* Floating-point operations of an operator, NAN: not known. */
double rec_torch_flops(const char *name, const tacho_tensor *in, uint32_t n,
                       const rec_torch_conv *c);

#endif
