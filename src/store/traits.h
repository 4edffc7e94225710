/* traits.h: what can be expected of a trace, no matter which tool recorded it.
 *
 * A format says some things of all its traces (formats.def). Code that needs to know them asks
 * for the trait, never for the name: a new format is a row there, and no branch anywhere else.
 *
 *     if (trace_has(t, TRAIT_MEMORY_PICTURE)) … */
#ifndef STORE_TRAITS_H
#define STORE_TRAITS_H

#include "store/trace.h"

enum trait {
    TRAIT_KNOWN_WORDS = 1,        /* its categories and names are those that viewers know */
    TRAIT_PLAIN_EVENTS = 2,       /* ranges of anybody: nothing is known of a training */
    TRAIT_END_MAY_LACK = 4,       /* a file without its last bytes is whole */
    TRAIT_WRITTEN_ALONG = 8,      /* written as the program runs: only its end can be cut off */
    TRAIT_OWN_RECORDER = 16,      /* steps and collectives are those of libtacho */
    TRAIT_STATIC_GRAPH = 32,      /* samples of operators of a graph: no timeline */
    TRAIT_DYNAMIC_GRAPH = 64,     /* a timeline of a framework that has such samples as well */
    TRAIT_MEMORY_PICTURE = 128,   /* blocks of memory and nothing else, with their own zero */
    TRAIT_HOST_RANGES = 256,      /* ranges of the framework's own are work of the host */
    TRAIT_ONLY_COLLECTIVES = 512, /* the last collectives of a rank, and nothing else */
    TRAIT_REQUESTS = 1024,        /* requests of a server and their phases, and nothing else */
    TRAIT_CALLS = 2048,           /* functions of a program's threads, and nothing else */
    TRAIT_TORCH_PROFILER = 4096,  /* its options are those of torch.profiler */
    TRAIT_KNOWN_COST = 8192,      /* what recording an event costs is known (profiler_cost.h) */
    TRAIT_NEGOTIATIONS = 16384 /* tensors that a job negotiates and exchanges, nothing else */
};

/* Whose words advice uses; none: unknown, or anybody's. */
typedef enum {
    FRAMEWORK_NONE = 0,
    FRAMEWORK_PYTORCH,
    FRAMEWORK_PADDLE,
    FRAMEWORK_MINDSPORE,
    FRAMEWORK_MEGENGINE,
    FRAMEWORK_JAX,
    FRAMEWORK_TENSORFLOW
} framework;

/* What a producer says of the program, the machine or itself (facts.def). */
typedef enum {
    FACT_CUDA_RUNTIME,
    FACT_CUDA_DRIVER,
    FACT_CUPTI,
    FACT_HIP_RUNTIME,
    FACT_HIP_DRIVER,
    FACT_NCCL,
    FACT_PROCESS_CPU_USE,
    FACT_SYSTEM_CPU_USE,
    FACT_RECORDS_SHAPES,
    FACT_RECORDS_STACKS,
    FACT_RECORDS_FLOPS,
    FACT_RECORDS_MODULES,
    FACT_RECORDS_MEMORY,
    FACT_FRAMEWORK,
    FACT_VERSION,
    FACT_RANK,
    FACT_FLIGHT_KEPT,
    FACT_FLIGHT_ASKED,
    FACT_RECORDING, /* which `tacho record` it belongs to: NAME.NUMBER */
    FACT_HOST,
    N_FACTS
} fact;

/* As the producer wrote it, without quotes; none when it does not say. */
str trace_fact(const trace *t, fact f);
/* Its name in the overview's table of facts; none when it is not listed. */
str fact_shown(fact f);
/* Number of the process among those that train together; ABSENT_I64 when unknown. */
int64_t trace_rank(const trace *t);

/* The traits of a trace's format, or of a format that a summary names; none when it is not
 * known. */
uint32_t format_traits(str format);
framework format_framework(str format);

static inline bool trace_has(const trace *t, uint32_t trait) {
    return (format_traits(t->format) & trait) != 0;
}

#endif
