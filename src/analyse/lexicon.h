/* lexicon.h: what names say: of a kernel its class, matrix cores and data type; of calls,
 * operators, ranges and frames what they do. An estimate from names (lexicon.def): no producer
 * records the instructions. Where the types of an operator's inputs were recorded they decide
 * what the name leaves open. */
#ifndef ANALYSE_LEXICON_H
#define ANALYSE_LEXICON_H

#include "base/arena.h"
#include "store/trace.h"

typedef enum {
    CLASS_UNKNOWN,
    CLASS_GEMM,
    CLASS_CONVOLUTION,
    CLASS_ATTENTION,
    CLASS_NORMALIZATION,
    CLASS_SOFTMAX,
    CLASS_ELEMENTWISE,
    CLASS_REDUCTION,
    CLASS_COPY,
    CLASS_EMBEDDING,
    CLASS_OPTIMIZER,
    CLASS_MOE,
    CLASS_COMMUNICATION,
    CLASS_MOE_ROUTING, /* which token goes to which expert, and moving them */
    CLASS_KV_CACHE,    /* writing and moving the cache of keys and values */
    CLASS_SAMPLING,
    CLASS_QUANTIZATION,
    /* known, and none of the words of the contract: they are `other` there */
    CLASS_ROPE,
    CLASS_GATHER,
    CLASS_SORT,
    CLASS_LOSS,
    CLASS_POOLING,
    CLASS_RESAMPLE,
    CLASS_RANDOM,
    CLASS_SYNC,
    N_CLASSES,
} kernel_class;

typedef enum {
    MATRIX_UNKNOWN,
    MATRIX_NO,
    MATRIX_YES,
    MATRIX_BY_TYPE, /* in 16 bits and fewer */
    MATRIX_ON_CUBE, /* on an Ascend */
} matrix_use;

typedef enum {
    DTYPE_UNKNOWN,
    DTYPE_FP4,
    DTYPE_FP8,
    DTYPE_INT,
    DTYPE_BF16,
    DTYPE_FP16,
    DTYPE_TF32,
    DTYPE_FP32,
    DTYPE_FP64,
    N_DTYPES,
} kernel_type;

typedef struct {
    uint8_t class, matrix, type; /* kernel_class, matrix_use, kernel_type */
} lexicon_entry;

lexicon_entry lexicon_kernel(str name);
/* By the JSON text of the types of an operator's inputs; of several floating types the
 * narrowest. */
kernel_type lexicon_input_type(str types);
/* 16 bits and fewer: on matrix cores where there are any. */
bool lexicon_is_narrow(kernel_type type);
/* The contract's word, {NULL, 0} when the class is not known. */
str kernel_class_word(kernel_class class);

/* What a name that is not a kernel's says; rows NAME of lexicon.def. */
typedef enum {
    MEANS_BLOCKS, /* calls the host waits in */
    MEANS_COPIES, /* those of them that copy */
    MEANS_COPY_CALL,
    MEANS_ALLOCATES,
    MEANS_LAUNCHES,
    MEANS_LOADS_CODE,
    MEANS_COLLECTS_GARBAGE,
    MEANS_LOCKS,
    MEANS_COMPILES,
    MEANS_REPLAYS,  /* launches a graph */
    MEANS_CAPTURES, /* makes one */
    MEANS_AWAITS_VALUE,
    MEANS_READS_VALUE,
    MEANS_MAKES_EMPTY,
    MEANS_EMBEDS,
    MEANS_OF_PYTORCH,
    MEANS_FETCHES_DATA,
    MEANS_CONVERTS,
    MEANS_MATRIX_OP,
    MEANS_MATRIX_PRODUCT,
    MEANS_RUNS_BACKWARD,
    MEANS_ENGINE,
    MEANS_DATA_PARALLEL,
    MEANS_ZEROES_GRADIENTS,
    MEANS_DISTRIBUTED,
    MEANS_SINGLE_LOADER,
    MEANS_WORKER_LOADER,
    MEANS_COLLECTIVE,
    MEANS_HOST_COLLECTIVE,
    MEANS_NCCL,
    MEANS_GRAPH_COLLECTIVE,
    MEANS_ALLOCATOR_FRAME,
    MEANS_LIBRARY_PACKAGE,
    MEANS_LIBRARY_FILE,
    MEANS_PACKAGE_PATH, /* files of installed packages, and of Python itself */
    MEANS_STDLIB_PATH,
    /* what a program uses (scan/in_use.h) */
    MEANS_COMPILED,
    MEANS_FUSED_OPTIMIZER,
    MEANS_FOREACH_OPTIMIZER,
    MEANS_AUTOCASTS,
    MEANS_COPIES_PINNED,
    MEANS_COPIES_PAGEABLE,
    MEANS_CHANNELS_LAST,
    MEANS_DEVICE_MALLOC,
    MEANS_CHECKPOINTS,
    MEANS_FSDP,
    MEANS_ZERO,
    MEANS_FUSED_ATTENTION,
    MEANS_CUDNN_ATTENTION,
    MEANS_UNFUSED_ATTENTION,
    MEANS_TRAINS,
    MEANS_OLD_PYTORCH,
    MEANS_CASTS,
    MEANS_CASTS_INPUTS, /* under autocast */
    MEANS_COPIES_TENSOR,
    MEANS_COPIES_CAST,
    MEANS_SOFTMAX,
    MEANS_BATCHED_PRODUCT,
    /* programs without a device */
    MEANS_RUNS_ON_CPU, /* a library that computes on the CPU only */
    MEANS_RUNS_ON_GPU,
    MEANS_MAKES_RANDOM,
    MEANS_REORDERS, /* turns one memory layout into another */
    N_MEANINGS,
} name_meaning;

bool lexicon_means(str name, name_meaning meaning);
/* All of them at once. */
#define MEANING(which) (1ull << MEANS_##which)
uint64_t lexicon_meanings(str name);

/* The same of slices, each name looked at once. */
typedef struct {
    const trace *t;
    uint64_t *known; /* by string id: meanings, and that it was looked at */
} name_meanings;

status name_meanings_init(name_meanings *m, const trace *t, arena *a, error *err) MUST_USE;
uint64_t name_meanings_of(name_meanings *m, uint32_t slice);
/* An operator that a library registered (aten::mm), not a node of autograd around others. */
bool is_library_op(name_meanings *m, uint32_t slice);

/* Of kernels by string id, each name looked at once. */
typedef struct {
    const trace *t;
    uint8_t *known; /* by string id: 1 when looked at */
    lexicon_entry *entry;
    uint8_t *type;     /* by string id of a text of types: kernel_type + 1 */
    uint8_t *op_class; /* by string id of an operator's name: kernel_class + 1 */
} lexicon;

status lexicon_init(lexicon *l, const trace *t, arena *a, error *err) MUST_USE;
lexicon_entry lexicon_name_id(lexicon *l, uint32_t name);
/* For a row of table kernel: by its name, then by its operator and the types of its inputs.
 * MATRIX_YES, MATRIX_NO or MATRIX_UNKNOWN. */
lexicon_entry lexicon_kernel_row(lexicon *l, uint32_t kernel);

#endif
