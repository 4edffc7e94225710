/* rec_torch_flops.c: floating-point operations of PyTorch's operators, by the rules of
 * torch.profiler.
 *
 * A multiply-add counts as two. Matrix products and convolutions are counted where PyTorch
 * counts them (addmm, not the linear around it), additions and multiplications by their
 * elements; every other operator has no figure. Shapes are those of the inputs when the
 * operator begins. */
#include <math.h>
#include <string.h>

#include "record/rec_torch_int.h"

static double elements(const tacho_tensor *t) {
    double n = 1;
    for (uint32_t i = 0; i < t->n_dims; i++) n *= (double)t->dims[i];
    return n;
}

/* 2 · (batch ·) m · n · k of two matrices, or of two stacks of them. */
static double product(const tacho_tensor *a, const tacho_tensor *b, uint32_t dims) {
    if (a->n_dims != dims || b->n_dims != dims || a->dims[dims - 1] != b->dims[dims - 2])
        return NAN;
    return 2 * elements(a) * (double)b->dims[dims - 1];
}

static double convolution(const tacho_tensor *x, const tacho_tensor *w,
                          const rec_torch_conv *c) {
    if (x->n_dims != 4 || w->n_dims != 4 || !c->known || c->groups <= 0) return NAN;
    double out = 1;
    for (int i = 0; i < 2; i++) {
        if (c->stride[i] <= 0) return NAN;
        int64_t reach = c->dilation[i] * (w->dims[2 + i] - 1) + 1;
        out *= (double)((x->dims[2 + i] + 2 * c->padding[i] - reach) / c->stride[i] + 1);
    }
    return 2 * (double)x->dims[0] * out * (double)(w->dims[2] * w->dims[3]) *
           (double)x->dims[1] * (double)w->dims[0] / (double)c->groups;
}

double rec_torch_flops(const char *name, const tacho_tensor *in, uint32_t n,
                       const rec_torch_conv *c) {
    if (strncmp(name, "aten::", 6) != 0 || n < 2) return NAN;
    name += 6;
    if (strcmp(name, "mm") == 0) return product(&in[0], &in[1], 2);
    if (strcmp(name, "bmm") == 0) return product(&in[0], &in[1], 3);
    if (strcmp(name, "addmm") == 0 && n > 2) return product(&in[1], &in[2], 2);
    if (strcmp(name, "baddbmm") == 0 && n > 2) return product(&in[1], &in[2], 3);
    if (strcmp(name, "conv2d") == 0) return convolution(&in[0], &in[1], c);
    if (strcmp(name, "mul") == 0 || strcmp(name, "add") == 0) return elements(&in[0]);
    return NAN;
}
