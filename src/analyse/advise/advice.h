/* advice.h: what to change first: the rules of `advise` and the facts they look at.
 *
 * The facts are found once, in a few passes over the trace (advice_facts.c); a rule is a small
 * function of them that says whether it holds and then has filled in an `advice`. Rules are
 * rows of advice_rules.def. All times a rule compares are those of the average step: sums over
 * the steps divided by their number. */
#ifndef ANALYSE_ADVICE_H
#define ANALYSE_ADVICE_H

#include "analyse/advise/advice_events.h"
#include "analyse/advise/advice_evidence.h"
#include "analyse/device/device_metrics.h"
#include "analyse/device/host_coverage.h"
#include "analyse/device/idle_causes.h"
#include "analyse/device/step_limit.h"
#include "analyse/memory/memory_view.h"
#include "analyse/operators/compiles.h"
#include "analyse/operators/in_use.h"
#include "analyse/replay/unprofiled_step.h"
#include "analyse/rules.h"
#include "analyse/serving/served.h"
#include "analyse/steps/pipe_view.h"
#include "analyse/steps/stages.h"
#include "analyse/vendor/device_report.h"
#include "analyse/vendor/step_trace.h"
#include "store/summary.h"

/* What a rule cannot do without. */
enum {
    NEED_DEVICE = 1,     /* device work */
    NEED_SHAPES = 2,     /* shapes and types of the inputs */
    NEED_BLOCKS = 4,     /* blocks per SM */
    NEED_OCCUPANCY = 8,  /* estimated occupancy */
    NEED_MEMORY = 16,    /* memory events of a device */
    NEED_CAPACITY = 32,  /* size of a device's memory */
    NEED_STEPS = 64,     /* four complete steps */
    NEED_WORKERS = 128,  /* several workers */
    NEED_REQUESTS = 256, /* requests of a server; the other rules are not for these */
    NEED_CPU = 512       /* a program that computes on the CPU (advice_cpu.c) */
};

/* A launch costs the host 5 to 10 µs: kernels shorter than this cannot hide it. */
#define SMALL_KERNEL_NS 10000

/* Events of one sort inside the steps. */
typedef struct {
    int64_t n, ns;
    uint32_t longest; /* slice, 0 = none */
    event_list top;   /* the longest of them */
    int64_t *name_ns; /* by string id of the operator: time; NULL: not looked for */
} tally;

/* Copies of one sort, and when they ran alone: no kernel did. */
typedef struct {
    tally copies;
    int64_t bytes;
    int64_t wide_bytes, host_bytes; /* of them float64; to the host */
    intervals at;
} copy_sum;

void tally_add(const trace *t, tally *sum, uint32_t slice);

/* Device memory: the peaks of the device that is nearest to its capacity (the first one when
 * none is known). */
typedef struct {
    bool recorded;
    str device;
    int64_t allocated, reserved, capacity; /* capacity ABSENT_I64 when unknown */
    int64_t time;                          /* of the largest allocated */
    int64_t reserved_time;
} memory_peak;

/* Pauses of the host while the device waits (advice_pauses.c). */
typedef struct {
    intervals at;
    int64_t n, ns;
    interval longest;
    const idle_piece *idle; /* that the longest is part of */
    event_list top;         /* the longest of them */
} pause_sum;

/* A program without a device (advice_cpu.c). Times are sums over the steps. */
typedef struct {
    uint32_t gpu; /* row of table device: one that does nothing; 0: none */
    tally product, reorder;
    intervals product_at, reorder_at; /* inside the steps, merged */
    bool float32;                     /* most of the products' time is in float32 */
    double rated_flops;               /* of products whose shapes are known */
    int64_t rated_ns;
    int64_t n_ops;          /* all of them */
    int64_t n_own, n_small; /* those in no other one; of them, small ones */
    int64_t small_ns;       /* of these, without the cost of recording */
    uint32_t n_threads;     /* with operators, without those of autograd */
    int64_t thread_ns;      /* in operators of these threads, … */
    int64_t overlap_ns;     /* … while another one of them was in one, too */
} cpu_work;

/* How well kernels that are not communication fill a device. */
typedef struct {
    double ns, used; /* Σ time; Σ time · share of the SMs with a block */
} kernel_fill;

/* Device work that one pass over its data could do (advice_chains.c). */
typedef struct {
    int64_t n, kernels;
    int64_t ns, least_ns; /* what they take, and one pass each */
    event_list top;
    /* The sequence of kernels that has most to gain: how many they are, how often they come,
     * the first of them, their operators. */
    int64_t longest, of_longest;
    uint32_t first;
    str links;
} chain_sum;

/* The forward pass again, in the backward pass (advice_chains.c). */
typedef struct {
    tally work;
    const uint32_t *calls; /* outermost operators, ascending */
    uint32_t n_calls;
    int64_t n_other; /* kernels of these operators that the forward pass has not */
} again_sum;

/* Calls that could be one (advice_repeats.c). */
typedef struct {
    uint32_t *calls; /* that would be gone: ascending, and until when each lasts */
    int64_t *until;
    uint32_t n_calls;
    int64_t ns, copies; /* their time; with those that stay */
    int64_t kernels, kernel_ns;
    int64_t computing_ns; /* on the CPU: what one call for all would still take */
    bool in_optimizer;
    bool both;     /* with those of the backward pass */
    double factor; /* of the kernels' time that is left */
    uint16_t mark;
    uint32_t first; /* slice */
    str names;
    event_list top;
} merged_sum;

/* The line of the program that costs most outside of the model (advice_lines.c). */
typedef struct {
    intervals at;
    int64_t ns;
    str function;            /* that the line is in */
    str name, callee, where; /* "train.py:88"; the function it calls, and its line */
    uint32_t steps;          /* in which it runs */
    bool traces;             /* it writes out call stacks */
    uint8_t state;           /* sample_state: what the thread mostly does there */
    event_list top;
} line_cost;

/* Waits of the program's thread for the interpreter's lock. */
typedef struct {
    double share; /* of its time */
    str holder;   /* the line of another thread that runs most */
} lock_cost;

/* Types of operators a producer had added up. */
typedef struct {
    int64_t ns, calls, most;
    str name; /* the longest of them */
} given_sum;

typedef struct {
    const analysis_input *in;
    const params *params;
    const trace *t;
    const summary *run; /* the workers' summaries, joined; NULL: facts are of a trace */
    arena *arena;
    uint32_t has; /* NEED_… bits that are there */
    /* the steps */
    step_spans steps;
    step_parts *parts;
    role_ranges ranges;
    int64_t step_ns;          /* of the average step */
    int64_t part_ns[N_ROLES]; /* likewise */
    int64_t exposed_ns;       /* exposed communication (exposed.h); likewise */
    int64_t busy_ns;          /* a device worked, in the average step */
    int64_t median_ns;        /* of the steps but the first */
    int64_t later_ns;         /* mean of them */
    uint32_t longest;         /* of them; index in steps */
    const why_graph *graph;   /* to replay them; NULL: it was not made */
    unprofiled_step bare;     /* the step without the profiler, which savings are part of */
    stage_segments stages;
    idle_pieces idle;
    host_coverage coverage;
    served served; /* the iterations of a server, of the whole trace; none of other programs */
    bool differ;   /* the steps are iterations of a server, and different work (iterations.h) */
    pause_sum pause, load_pause; /* of the host, while the device waits */
    int64_t between_ns;          /* without a device: between two operators, shorter */
    cpu_work cpu;
    device_metrics_list devices; /* over the steps */
    /* the host */
    uint32_t *blocking; /* slices of calls that wait for the device */
    size_t n_blocking;
    tally sync_copy, allocator_call, item, data, single_loader, worker_loader, collective;
    uint32_t *allocator_calls; /* slices, ascending */
    tally value_wait;          /* for values and shapes of tensors */
    int64_t value_wait_ns;     /* in such waits, over all threads */
    int64_t sync_copy_ns;      /* in such calls while no kernel ran */
    int64_t allocator_ns;      /* in such calls, over all threads */
    int64_t overhead_ns;       /* the profiler says it took */
    int64_t n_frames;          /* of Python */
    int64_t n_idle_frames;     /* of them, those in pauses of the host */
    bool data_parallel, distributed, nccl;
    in_use uses;
    /* kernels that are not communication */
    tally kernel, small, layout, low_occupancy, optimizer, optimizer_fused;
    tally zero_grad;             /* of the optimizer: set gradients to zero */
    chain_sum chains, attention; /* not fused; those of attention are not among the chains */
    again_sum again;
    line_cost line;
    bool
        knows_lines; /* of a program that computes on the CPU: what it does between operators */
    lock_cost gil;
    merged_sum repeated, passes; /* the same few operators; forward and backward passes */
    kernel_fill *fill;           /* by index in devices */
    double low_occupancy_lost;   /* Σ time · (1 − occupancy / 0.25) */
    uint16_t *work_marks;        /* by row of table kernel: WORK_… bits */
    int64_t *name_ns;            /* by string id: time of kernels with fewer blocks than SMs */
    double *name_lost;           /* of them Σ time · (1 − blocks per SM) */
    copy_sum pageable, transfer; /* from or to memory that is not pinned; other transfers */
    int64_t n_graph;             /* kernels that a replayed graph launched */
    int64_t n_comm_work;         /* collectives on the device */
    int64_t backward_comm_ns;    /* of collectives that the backward pass launched */
    /* when: calls and copies while no kernel ran, calls of the allocator, optimizer's
     * kernels */
    intervals copy_at, allocator_at, optimizer_at, overhead_at;
    intervals item_at;     /* operators that read one value */
    intervals zero_at;     /* gradients are set to zero */
    intervals compiler_at; /* programs are compiled */
    compile_events compiles;
    uint32_t n_devices;   /* that did something */
    int32_t major, minor; /* highest compute capability; ABSENT_I32 when unknown */
    /* calls of operators that could use Tensor Cores */
    tally tensor_unused, tensor_float32;
    int64_t *op_ns; /* by string id of such an operator: its kernels' time */
    memory_peak memory;
    const answer *distributed_answer; /* NULL with one worker */
    device_report device_report;      /* of all workers */
    /* what the producer of a compiled graph measured itself (advice_graph.c) */
    advice_dialect dialect;
    device_report_step average; /* its average step; parts ABSENT_I64: not known */
    interval interval_at;       /* the longest interval before a forward pass */
    int64_t interval_ns;        /* their mean in these steps; ABSENT_I64: not known */
    queue_counts host, data_queue;
    pipe_view pipe;
    double cpu_busy;                             /* NaN: not known */
    given_sum device_types, conversions, ai_cpu; /* of AI Core and AI CPU */
} advice_facts;

/* What device work is: rules say by these which of it they are about. */
enum {
    WORK_COMPUTES = 1, /* a kernel that is not communication */
    WORK_LAYOUT = 2,
    WORK_LOW_OCCUPANCY = 4,
    WORK_TENSOR_UNUSED = 8,
    WORK_TENSOR_FLOAT32 = 16,
    WORK_SMALL_GRID = 32,
    WORK_ODD = 64,
    WORK_AGAIN = 128,
    WORK_CHAIN = 256,
    WORK_ATTENTION = 512,
    WORK_REPEATED = 1024,
    WORK_PASS = 2048,
};

/* How the remedy changes the step when it is replayed (advice_replay.c). */
typedef struct {
    enum {
        REPLAY_NOT,      /* the sum is all there is */
        REPLAY_WORK,     /* device work with the bits `mark` takes `factor` of its time */
        REPLAY_DATA,     /* no call that loads data */
        REPLAY_BLOCKING, /* no call that blocks, of the sort `mark` */
        REPLAY_GRAPH,    /* launched at once */
        REPLAY_COMMUNICATION,
        REPLAY_CALLS, /* these calls are gone; `factor` of their work, with the bits `mark`,
                         becomes part of other work */
    } how;
    uint16_t mark;
    double factor;
    const uint32_t *calls; /* slices, ascending, and until when each lasts; NULL: its own end */
    const int64_t *until;
    uint32_t n_calls;
} advice_change;

typedef struct {
    severity severity; /* used when the saving is not estimated, else the saving decides */
    int64_t saves;     /* ns for each step; ABSENT_I64: not estimated */
    int64_t recorded;  /* ns, the sum of what was recorded */
    int64_t summed;    /* the same, if it was replayed; 0: it was not */
    int64_t
        replayed; /* ns, what the replay saves; of calls that block maybe more than the sum */
    bool
        holds_back; /* calls that keep the host from running ahead: what it is late is theirs */
    bool unsure;    /* below the limit of its rule: only if the replay says otherwise */
    bool weighs;    /* not estimated, but as grave as its severity: may precede a saving */
    bool bounded;   /* the saving is what can be reached at most: 2/3 of it are sure */
    bool is_cause;  /* of idle time that other rules only count */
    advice_change change;
    verdict words;     /* the named values; ids and messages are filled in by advice_answer.c */
    interval place;    /* where to look; empty: in the longest step */
    str name;          /* operator, kernel or call it is about; may be empty */
    event_list events; /* its evidence; the first is shown first; empty: the place is all */
} advice;

/* What the rules that compare workers look at. The room run/ makes it (advice_workers_find);
 * all of it is empty for one trace. */
typedef struct {
    const summary *run;        /* the workers' summaries, joined; NULL: traces are there */
    const answer *distributed; /* of all workers; NULL with one */
    bool is_part;              /* the question is about a part of the recording */
} advice_workers;

status advice_facts_find(const analysis_input *in, const params *p,
                         const advice_workers *workers, arena *a, advice_facts *out,
                         error *err) MUST_USE;

/* The facts of summaries: what rules about several workers look at, and nothing else. */
status advice_facts_of_run(const analysis_input *in, const params *p,
                           const advice_workers *workers, arena *a, advice_facts *out,
                           error *err) MUST_USE;

/* Every rule asked: the answer of `advise`. */
status advice_answer(const analysis_input *in, const params *p, const advice_workers *workers,
                     arena *a, answer *out, error *err) MUST_USE;

/* By the name of the format of a trace; false where it tells nothing. */
bool advice_dialect_of_format(str format, advice_dialect *out);
/* Which users a suggestion is written for. */
advice_dialect advice_dialect_of(const verdict *suggestion);
/* The NEED_… bits that an answer of advise reports as missing. */
uint32_t advice_lacks(const answer *a);

/* The facts of advice_graph.c. */
status advice_graph_find(advice_facts *f, error *err) MUST_USE;
/* Is the interval before the forward pass longer than the rule about it allows? */
bool advice_interval_is_long(const advice_facts *f);

/* Whole nanoseconds; a forged file's sums may not fit. */
static inline int64_t advice_ns(double ns) {
    return ns >= 9e18 ? INT64_MAX : ns > 0 ? (int64_t)ns : 0;
}
/* A sum over the steps for the average step, at most the step. */
int64_t advice_per_step(const advice_facts *f, int64_t ns);
/* Share of the average step; 0 when there is none. */
double advice_share(const advice_facts *f, int64_t per_step_ns);
/* What savings are part of: the average step, without the cost of recording where that is
 * known. Savings and their shares are of it; what rules compare is as recorded. */
int64_t advice_saved_step_ns(const advice_facts *f);
double advice_saved_share(const advice_facts *f, int64_t saves_ns);
/* A saving as it is shown: the same share of unprofiled_step.average_ns. */
int64_t advice_shown_ns(const advice_facts *f, int64_t saves_ns);
/* Points to a slice, and takes its name. */
void advice_point(const advice_facts *f, advice *out, uint32_t slice);
/* Likewise to the longest of these, which are the evidence of the advice. */
void advice_point_to(const advice_facts *f, advice *out, const tally *events);
/* "mul, add, …": one more call, by its short name; and the whole list. */
void advice_list_call(buf *list, str name);
status advice_end_list(const advice_facts *f, buf *list, bool more, str *out, error *err);
/* The words every rule about time has: time, share, step_time; and the saving. */
void advice_cost(const advice_facts *f, advice *out, int64_t per_step_ns);
/* Names the rank it is about, and another one to compare it with (advice_comm.c). */
void advice_name_rank(arg rank, advice *out);
/* Are the stages of a pipeline distinguished by their communication? */
bool advice_is_split(const advice_facts *f);
/* Do most kernels come from graphs that are replayed (CUDA graphs)? */
bool advice_replays(const advice_facts *f);
/* May torch.compile be suggested? */
bool advice_can_compile(const advice_facts *f);
/* The words of a suggestion to launch less: `compile`, `compiled`, `graphs` where they exist
 * and are not in use. */
void advice_say_fusing(const advice_facts *f, advice *out);
/* Is the communication one of gradients, as far as one can tell; is it sharded? */
void advice_say_gradients(const advice_facts *f, advice *out);

/* The operator in which the CPU spends most time of the average step while no device works, its
 * inner operators not counted; without a name when it is not more than `least_ns`. */
typedef struct {
    str name;
    int64_t ns;
    bool on_cpu;   /* it launches nothing */
    double of_all; /* of ranges of anybody: share of the time of all of them */
} host_operator;
host_operator advice_host_operator(const advice_facts *f, int64_t least_ns);
/* The same of all calls, however short: the largest part of what the CPU computes. */
host_operator advice_largest_operator(const advice_facts *f, int64_t least_ns);
/* Where events are ranges of anybody, on any number of threads: the name with most time, what
 * is inside not counted; none elsewhere. */
host_operator advice_largest_range(const advice_facts *f);

/* Blocking calls by what they wait for: each sort has a rule. */
typedef enum { BLOCK_OTHER, BLOCK_COPY, BLOCK_ITEM, BLOCK_VALUE } block_sort;
block_sort advice_block_sort(const advice_facts *f, uint32_t slice);

/* What the profiler takes of the average step at most: what it says and 1 µs for a Python
 * frame, but no more than the time in which the device is idle; and no more than a replay
 * without the cost of recording saves, but for frames in pauses: a replay leaves these as they
 * are. */
int64_t advice_overhead_ns(const advice_facts *f);
/* What ends the gap of a piece: the operator, else the kernel; the step at its end. */
str advice_gap_name(const advice_facts *f, const idle_piece *p);

status advice_pauses_find(advice_facts *f, error *err) MUST_USE;
/* The facts of advice_chains.c; after device work and stages are known. */
status advice_chains_find(advice_facts *f, error *err) MUST_USE;
/* The facts of advice_repeats.c; likewise. */
status advice_repeats_find(advice_facts *f, error *err) MUST_USE;
/* The facts of advice_cpu.c; after the pauses. */
status advice_cpu_find(advice_facts *f, error *err) MUST_USE;
/* The facts of advice_lines.c; after stages and idle time are known. */
status advice_lines_find(advice_facts *f, error *err) MUST_USE;
/* Does a framework run operators as the program calls them? */
bool advice_is_eager(const advice_facts *f);
/* Are all tensors of the call float32? By the JSON text of the input types. */
bool advice_is_float32(str types);
/* The parts of the gaps caused by the host that another rule reports (elements may be NULL),
 * and how much of a range they cover. */
enum { N_TAKEN = 3 };
void advice_taken(const advice_facts *f, const intervals *out[N_TAKEN]);
int64_t advice_taken_ns(const advice_facts *f, interval range);
/* Do calls of the allocator cost enough for their rule? */
bool advice_allocator_costs(const advice_facts *f);

/* Which time of the step a saving is part of. */
typedef enum {
    CLAIM_REST,     /* no separate time: what is left of the step */
    CLAIM_KERNELS,  /* a part of the kernels' time, one amount for all such rules */
    CLAIM_INTERVAL, /* the interval before the forward pass, likewise */
    /* The others claim moments. */
    CLAIM_EXPOSED_FIRST, /* as the next, before all others: waiting for a worker is certain */
    CLAIM_LINE,          /* moments of a line, likewise certain */
    CLAIM_EXPOSED,       /* exposed communication */
    CLAIM_STAGES,        /* parts of it that a pipeline of stages tells apart */
    CLAIM_LOADING,       /* data loading while nothing of a higher rank ran */
    CLAIM_OPTIMIZER,     /* gaps of the device inside the optimizer, and its kernels */
    CLAIM_PAGEABLE,
    CLAIM_TRANSFER,
    CLAIM_ALLOCATOR,
    /* Gaps of the device: what a blocking call cost of them, by what it waited for, … */
    CLAIM_BLOCKED,
    CLAIM_COPIES,
    CLAIM_ITEM,
    CLAIM_VALUE,
    /* … and what none did: pauses of the host, and the rest. */
    CLAIM_LOAD_PAUSES,
    CLAIM_PAUSES,
    CLAIM_LATE,
    CLAIM_DEPENDENCY,
    CLAIM_SMALL_KERNELS,
} claim_sort;

/* A rule that fired and what it would save. */
typedef struct {
    const char *id;
    claim_sort sort;
    advice *advice;
    const char *included_in; /* the rule that claims some of the same time before; NULL: none */
    intervals moments;       /* made by advice_claims_settle */
} advice_claim;
/* Lets every moment of a step be saved once: in the order given, each keeps what none before it
 * has claimed, and names the first of those. The sum of what is saved does not exceed the
 * step. */
status advice_claims_settle(const advice_facts *f, advice_claim *v, uint32_t n,
                            error *err) MUST_USE;

/* The step without the profiler, before any rule is asked. */
status advice_unprofiled_find(advice_facts *f, error *err) MUST_USE;
/* Takes what recording cost off a sum of recorded times. */
void advice_take_recording_off(const advice_facts *f, claim_sort claim, advice *a);
/* What the findings would save by a replay of the step, each alone; where it cannot be replayed
 * the sums stay. */
status advice_replay(const advice_facts *f, advice *const *found, uint32_t n,
                     error *err) MUST_USE;

/* What costs most: the cause that the headline of the overview names, and the first row of
 * `advise`. */
typedef struct {
    const char *id; /* of the rule; NULL: none costs a twentieth of the step */
    uint16_t title;
    claim_sort claim;
    severity severity;
    double share;  /* of the step that it saves */
    verdict words; /* values of the title */
    verdict
        evidence; /* of the first row, whatever it saves; without an id when there is no row */
    unprofiled_step bare; /* the step without the profiler */
    double bare_idle;     /* share of it in which no device would work; if that is sound */
    /* The verdict that precedes any cause, without an id when there is none: damage, records
     * that are missing, steps that nothing marks, a profiler that takes more than the
     * program. */
    verdict decided;
    in_use uses;        /* what the program uses */
    host_operator host; /* of a trace without device work, if it has 5 % of the step */
    step_limit limit;
} advice_cause;

status advice_cause_find(const analysis_input *in, const params *p,
                         const advice_workers *workers, arena *a, advice_cause *out,
                         error *err) MUST_USE;
/* Do these facts rather tell about the recording than about the program? `first` is what costs
 * most, may be NULL. Fills in *out then; `incomplete` where too much was not recorded. */
status advice_decide(const advice_facts *f, const advice_claim *first, verdict *out,
                     bool *incomplete, error *err) MUST_USE;
/* Does what such a rule says hold although nothing is known about idle time? */
bool advice_is_sure(claim_sort claim);

/* Did msadvisor name operators of the AI CPU? */
bool advice_advisor_names_ai_cpu(const advice_facts *f);
/* The index of the step that contains a time on the host, UINT32_MAX when none does. */
uint32_t advice_step_at(const advice_facts *f, int64_t host_ns);

/* The thresholds by rule, for a rule that is silent where another one speaks. */
typedef struct {
#define ADVICE(id, NAME, needs, threshold, claim) double id;
#include "analyse/advise/advice_rules.def"
} advice_limits;
extern const advice_limits advice_limit;

#define ADVICE(id, NAME, needs, threshold, claim) \
    bool advice_##id(const advice_facts *f, double limit, advice *out);
#include "analyse/advise/advice_rules.def"

#endif
