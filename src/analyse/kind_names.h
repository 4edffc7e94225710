/* kind_names.h: the stable names of kinds and devices, as they are in result columns. They are
 * data, not sentences: the same in every language. */
#ifndef ANALYSE_KIND_NAMES_H
#define ANALYSE_KIND_NAMES_H

#include "base/arena.h"
#include "store/trace.h"

/* "op", "kernel", "data_loading", …; "other" for a number that is not a kind. */
str kind_name(uint8_t kind);
/* How a step is known (enum step_how): "marked", "optimizer", "range", "kernels",
 * "operators". */
str step_source(uint8_t how);
/* What the devices of the trace are called: the word of the first one, GPU if none is
 * described. */
str device_word_of_work(const trace *t);
/* The same as a noun in a sentence, "the GPU is idle": "device" if the type is not known. */
str device_noun(const trace *t);
/* Do programs run on the CPU as on a device, as those of JAX? */
bool device_is_cpu(const trace *t);
/* "CPU", "GPU0", "XPU1", "MPS0", …, a plug-in's own word "my_npu:0"; {NULL, 0} when out of
 * memory. */
/* What the first device's parts are called by its makers: "SM", "CU", "Xe core", "AI Core"; and
 * its units for matrix products: "Tensor Core", "Matrix Core", "XMX engine", "Cube unit".
 * Names, the same in every language, in the singular; "core" and "matrix unit" where the makers
 * have no word known here. */
str device_unit(const trace *t);
str device_matrix_unit(const trace *t);
/* For suggestions: PyTorch's module for the device ("cuda" of torch.cuda, "npu", …); what
 * launches many kernels at once ("CUDA graphs"), and the variable that configures PyTorch's
 * allocator; both empty where there is none. */
str device_module(const trace *t);
str device_graphs(const trace *t);
str device_allocator(const trace *t);
str device_name(const trace *t, arena *a, uint8_t type, int32_t id);
/* The type alone: "GPU", "XPU", "my_npu". */
str device_word(const trace *t, uint8_t type);
/* Which way a copy goes, by its name: "Memcpy HtoD (Pinned -> Device)", "MemcpyD2H", … */
typedef enum { COPY_ELSEWHERE, COPY_TO_DEVICE, COPY_TO_HOST } copy_way;
copy_way copy_way_of(str name);
/* A kernel's name for a sentence: without return type, template and parameter lists:
 * "void cudnn::bn_bw<float, 1>(float)" → "cudnn::bn_bw"; a wrapper that says nothing is
 * replaced by what it wraps: "void cutlass::Kernel2<gemm_a>(…)" → "gemm_a". A slice of
 * `name`. */
str kernel_short_name(str name);

#endif
