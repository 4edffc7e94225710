/* tacho/abi.h: everything libtacho.so exports for recording; arrow.h has what else it exports.
 * Append-only: a function keeps its name, its parameters and its meaning for ever; a structure
 * grows at its end and says its size first.
 *
 * No call aborts, prints or throws, none waits longer than a few milliseconds; before
 * tacho_start and after tacho_stop each is a load and a branch. All of them may be called from
 * any thread. Texts are UTF-8; they are copied, unless a comment says otherwise.
 */
#ifndef TACHO_ABI_H
#define TACHO_ABI_H

#include <stddef.h>
#include <stdint.h>

#include <tacho/format.h> /* tacho_range_kind, tacho_type */

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TACHO_API __attribute__((visibility("default")))
#else
#define TACHO_API
#endif

/* ---- results ---- */
enum {
    TACHO_OK = 0,
    TACHO_BUSY = -1,   /* a recording is running already */
    TACHO_FAILED = -2, /* the file cannot be made or memory is short; tacho_error says why */
    TACHO_OFF = -3,    /* nothing is being recorded */
};

/* ---- recording ---- */

/* As torch.profiler.schedule: skip_first steps are skipped, then in a cycle: wait (off), warmup
 * (prepared, nothing kept), active (recorded); `repeat` cycles, 0 = for ever. active = 0: no
 * schedule, everything is recorded. */
typedef struct {
    uint32_t wait, warmup, active, repeat, skip_first;
} tacho_schedule;

typedef struct {
    size_t size; /* sizeof(tacho_options) */
    /* A folder (made when it does not exist; files are WORKER.STAMP.tacho) or a file's name
     * ending in .tacho. NULL: the folder tacho_runs. */
    const char *path;
    const char *worker; /* NULL: HOST_PID, with the rank in front when it is known */
    tacho_schedule schedule;
    /* Each window of the schedule and each stop: the file is complete. Called from the thread
     * that called tacho_step or tacho_stop; what a trigger wrote, from the recorder's own. */
    void (*on_ready)(const char *path, void *context);
    void *context;
    int shapes, memory, stacks; /* 0 = off */
    /* 0 = off, 1 = on; 2 = each node of CUDA graphs, too (costly); + 4 = records of what each
     * synchronization waited for, which make every launch slower (docs/GPU.md) */
    int device;
    uint32_t memory_every; /* keep one of so many allocations; 0 = 1 = all */
    uint64_t ring_bytes;   /* the most a file may grow to; 0: 8 GiB, flight recorder 256 MiB */
    /* > 0: keep the last seconds, written by tacho_trigger and at the end */
    double flight_seconds;
    /* forked children record into separate files when they use tacho */
    int follow_children;
    int listen;          /* answer `tacho attach` */
    uint64_t first_step; /* the number of the step that runs when the recording starts */
    /* Flight recorder: when it writes what it has, without being asked: rules joined by commas,
     * as `tacho record --trigger` takes them (docs/TRIGGERS.md), times in seconds. NULL:
     * never. */
    const char *trigger;
    /* Live numbers for Prometheus: a folder, or the number of a port of the loopback, to which
     * the local rank is added. NULL: none. */
    const char *metrics;
    /* Hooks of frameworks record operators, modules and stacks of one step in so many; 0 = 1 =
     * all. What the device did is recorded in all of them (docs/RECORDING.md). */
    uint32_t sample_every;
} tacho_options;

/* Starts, or waits for the schedule's first step. TACHO_BUSY when a recording runs. NULL:
 * defaults. */
TACHO_API int tacho_start(const tacho_options *options);
/* Ends the recording; takes milliseconds whatever was recorded. TACHO_OFF when there was
 * none. */
TACHO_API int tacho_stop(void);
/* The same for a recording that `tacho record` or `tacho attach` started, which tacho_stop
 * leaves alone: hooks call it when what they record has ended. */
TACHO_API int tacho_finish(void);
/* The end of a training step and the beginning of the next. */
TACHO_API void tacho_step(void);
/* Steps begin here: what came before (setting up, the first batch) belongs to none. */
TACHO_API void tacho_begin_steps(void);
/* Flight recorder: what happened in the last seconds becomes a file now. `why` is kept in
 * it. */
TACHO_API int tacho_trigger(const char *why);
/* Something happened that a rule of `trigger` may wait for: "oom" or "nan". TACHO_OFF when none
 * does. */
TACHO_API int tacho_alarm(const char *rule, const char *why);
/* 1 while events are kept. */
TACHO_API int tacho_is_recording(void);
/* 1 if an event that begins now is kept. A recording that waits for its first event starts: ask
 * where an event follows. */
TACHO_API int tacho_takes_event(void);
/* The same for operators, of hooks of frameworks: not in steps that sample_every leaves out. */
TACHO_API int tacho_is_sampled(void);
/* The file being written, or written last, into `to`; its length. */
TACHO_API size_t tacho_path(char *to, size_t size);
/* Why the last tacho_start failed, as a text of the operating system; "" when it did not. */
TACHO_API const char *tacho_error(void);
TACHO_API const char *tacho_version(void);

/* ---- the words of the fast path ---- */

/* Not 0 while something records: the one load that every call begins with. */
TACHO_API extern uint32_t tacho_on;

/* A place in a program that opens ranges under a name that never changes. */
typedef struct {
    const char *name; /* lives as long as the program */
    uint32_t id;      /* 0 until its first use */
    uint32_t kind;    /* tacho_range_kind */
} tacho_site;

TACHO_API void tacho_site_begin(tacho_site *site);
TACHO_API void tacho_site_end(tacho_site *site);
/* The number of a name, for the calls below; 0 when there are too many names. */
TACHO_API uint32_t tacho_name(const char *text);
TACHO_API void tacho_begin_id(uint32_t name, tacho_range_kind kind);
TACHO_API void tacho_begin_text(const char *name, tacho_range_kind kind);
TACHO_API void tacho_end_range(void);
TACHO_API void tacho_mark(const char *name);

/* ---- operators ---- */

enum { TACHO_MOST_TENSORS = 24, TACHO_MOST_DIMS = 8 };
typedef struct {
    tacho_type type;
    uint32_t n_dims;
    const int64_t *dims;
} tacho_tensor;

/* Floating-point operations and bytes moved: as given, or by a formula over the inputs. */
typedef enum {
    TACHO_WORK_NONE = 0,
    TACHO_WORK_GIVEN,       /* flops and bytes below */
    TACHO_WORK_MATMUL,      /* inputs (…, m, k) and (…, k, n): 2 · batch · m · k · n */
    TACHO_WORK_CONV2D,      /* inputs (n, c, h, w) and (k, c, r, s), output in `output` */
    TACHO_WORK_ELEMENTWISE, /* one operation for each element of the first input */
} tacho_work;

typedef struct {
    size_t size;            /* sizeof(tacho_op) */
    const char *name;       /* copied on its first use */
    tacho_range_kind phase; /* DATA, FORWARD, BACKWARD, OPTIMIZER, COMMUNICATION; PLAIN: none */
    const tacho_tensor *inputs;
    uint32_t n_inputs;
    const tacho_tensor *output; /* for the formulas; may be NULL */
    tacho_work work;
    double flops;     /* of TACHO_WORK_GIVEN; < 0: not known */
    int64_t bytes;    /* the same */
    int64_t sequence; /* joins a forward operator with its backward one; < 0: none */
} tacho_op;
TACHO_API void tacho_op_begin(const tacho_op *op);
TACHO_API void tacho_op_end(void);

/* ---- communication ---- */
typedef struct {
    size_t size;
    const char *name;  /* allreduce, allgather, … */
    const char *group; /* of the processes that take part; NULL: all */
    tacho_type type;
    int64_t in_elements, out_elements, sequence;
    int32_t n_ranks, root; /* root < 0: none */
} tacho_collective;
TACHO_API void tacho_collective_begin(const tacho_collective *c);
TACHO_API void tacho_collective_end(void);

/* ---- memory ---- */
typedef struct {
    size_t size;
    uint64_t address;
    int64_t bytes;
    int32_t device;              /* < 0: the host */
    int64_t allocated, reserved; /* totals after the event; < 0: tacho adds them up */
} tacho_block;
TACHO_API void tacho_alloc(const tacho_block *b);
TACHO_API void tacho_release(const tacho_block *b);
/* The allocator takes memory from the system, or gives it back. */
TACHO_API void tacho_reserve(const tacho_block *b);
TACHO_API void tacho_unreserve(const tacho_block *b);

/* ---- the rest ---- */
TACHO_API void tacho_counter(const char *name, double value);
/* A queue of an input pipeline: how full it is now. */
TACHO_API void tacho_queue(const char *name, int64_t size, int64_t capacity);
/* An operator of an input pipeline: what feeds it (NULL: nothing) and how many threads work
 * there. */
TACHO_API void tacho_pipe(const char *name, const char *parent, int64_t workers);
/* An arrow from the range open here to the one open where it ends. */
TACHO_API void tacho_flow_begin(const char *name, uint64_t id);
TACHO_API void tacho_flow_end(const char *name, uint64_t id);
/* A call that gives work to a device; `correlation` (not 0) is repeated in tacho_device_work.
 * Ended by tacho_end_range. */
TACHO_API void tacho_launch_begin(const char *name, uint64_t correlation);
/* Work of a device, known afterwards; times of tacho_now. correlation 0: not known. */
typedef struct {
    size_t size;
    const char *name;
    tacho_range_kind kind; /* KERNEL, COPY, SET */
    int32_t device, stream;
    uint64_t start, end, correlation;
} tacho_device_work;
TACHO_API void tacho_device_range(const tacho_device_work *w);
/* Ticks of the recorder's clock. */
TACHO_API uint64_t tacho_now(void);
/* A fact of the whole recording; `value` is JSON, or any text (then it is kept as a text). May
 * be called before tacho_start and holds for all later recordings. */
TACHO_API void tacho_meta(const char *key, const char *value);
/* Something that is off and why: kept in the recording that runs, and shown with what is read
 * of it. */
TACHO_API void tacho_note(const char *text);
TACHO_API void tacho_rank(int64_t rank, int64_t world_size);
TACHO_API void tacho_name_thread(const char *name);

/* ---- PyTorch ---- */

enum {
    TACHO_TORCH_OPS = 1, /* operators, nodes of the backward pass, ranges of record_function */
    TACHO_TORCH_SHAPES =
        2, /* shapes and types of their inputs, when the recording wants them */
    TACHO_TORCH_MEMORY = 4, /* what the allocators hand out and take back; the same */
    TACHO_TORCH_LINKS = 8,  /* which forward operator a node of the backward pass belongs to */
    TACHO_TORCH_STEPS = 16, /* a step ends when the first optimizer has made its own */
    TACHO_TORCH_FLOPS = 32, /* floating-point operations, from the shapes */
};
/* Asks the PyTorch that the program has loaded to report its operators from now on; 0 undoes
 * that. Returns those it can report; 0: none, or PyTorch is not loaded, or it is an unknown
 * version. */
TACHO_API unsigned tacho_torch(unsigned want);

/* ---- Paddle, MegEngine, ITT ---- */

/* Asks the Paddle that the program has loaded to tell of each block that its allocators hand
 * out and take back; `before` has one entry for each device that has memory already, with its
 * totals. 0: it cannot. NULL takes it back. */
TACHO_API int tacho_paddle(const tacho_block *before, size_t n);
/* The same of MegEngine: `host_kinds` are its numbers of the kinds of devices that are the
 * host; `device` is the number of any other. */
TACHO_API int tacho_megengine(const int *host_kinds, size_t n, int device);
/* How many libraries of the program tell their ITT ranges here; INTEL_LIBITTNOTIFY64 names
 * libtacho.so when they are loaded. */
TACHO_API int tacho_itt(void);

/* ---- what recording costs ---- */

/* For hooks around these calls, so that a recording can say what it cost. n calls of a hook (or
 * 1: what was done once, TACHO_COST_START) took so many ns. */
TACHO_API void tacho_cost(tacho_cost_kind kind, uint64_t ns, uint64_t n);
/* From here to tacho_trial_end the events of this thread are written and thrown away, so that
 * hooks can be tried. How many slots of 16 bytes there are for them; 0: it cannot be done now.
 */
TACHO_API uint32_t tacho_trial_begin(void);
TACHO_API void tacho_trial_end(void);
/* Tries the hooks that are in place in libraries of the program; on a thread that records. */
TACHO_API void tacho_measure(void);

/* ---- JAX ---- */

/* Functions that JAX has compiled (objects of Python, jaxlib's PjitFunction and PmapFunction):
 * outermost calls of this one are reported from now on, or no longer. 1: done; 0: it is not
 * such an object, or of an unknown kind. With the interpreter's lock, as the next one. */
TACHO_API int tacho_jax_watch(void *function, int watch);
/* Callables of Python that get the function before and after each such call; NULL: none. */
TACHO_API void tacho_jax_listen(void *begin, void *end);
/* 1: another tool in this process records the GPU (XLA's profiler), which only one can do; 0:
 * libtacho does again. */
TACHO_API void tacho_leave_gpu(int leave);

#ifdef __cplusplus
}
#endif

#endif
