/* in_use.h: what a program uses already: torch.compile, CUDA graphs, a fused optimizer, pinned
 * memory, …; and whether it trains.
 *
 * By the names of its events, in one pass over the slices; a name is looked up once. What left
 * no event is not known: "not found" is not "not used". Advice leaves out what is in use, and
 * `info` lists it. */
#ifndef ANALYSE_IN_USE_H
#define ANALYSE_IN_USE_H

#include "base/arena.h"
#include "store/trace.h"

typedef enum {
    USE_COMPILER, /* torch.compile */
    USE_GRAPHS,   /* CUDA graphs, HIP graphs */
    USE_FUSED_OPTIMIZER,
    USE_FOREACH_OPTIMIZER,
    USE_AUTOCAST,
    USE_PINNED_COPIES,
    USE_PAGEABLE_COPIES,
    USE_CHANNELS_LAST,
    USE_LOADER_WORKERS,
    USE_LOADER_IN_PROCESS,
    USE_DEVICE_MALLOC, /* nearly every tensor is allocated by the driver: nothing is cached */
    USE_CHECKPOINTING,
    USE_DDP,
    USE_FSDP,
    USE_ZERO,
    USE_FUSED_ATTENTION,
    USE_CUDNN_ATTENTION,
    USE_UNFUSED_ATTENTION,
    USE_PYTORCH_1, /* torch.compile does not exist there */
    N_USES
} use_kind;

typedef struct {
    int64_t n[N_USES];      /* events that show it; 0: not found */
    uint32_t slice[N_USES]; /* the first of them; one of the host where there is one */
    bool trains;            /* a backward pass or an optimizer */
    bool pytorch;           /* operators of PyTorch, no matter which tool recorded them */
    bool may_compile;       /* torch.compile is not in use, and works here */
} in_use;

status in_use_find(const trace *t, arena *a, in_use *out, error *err) MUST_USE;
/* "torch_compile", "graphs", …: stable words of the column `what`. */
str use_word(use_kind u);

#endif
