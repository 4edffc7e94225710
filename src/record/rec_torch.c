/* rec_torch.c: PyTorch's operators, reported by PyTorch itself.
 *
 * libtorch runs "record function" callbacks around every operator, every node of the backward
 * pass and every range of its users. They are C++, but the three functions that matter are
 * exported under fixed names and take plain words, so that they can be called from C: no header
 * and no compiler of PyTorch is needed, and no Python runs per operator.
 *
 *     program ── op ──> libtorch ── begin(fn) ──> one event, with shapes when they are wanted
 *                          └────── end(fn) ────> one event
 *
 * A separate function gives the name. Inputs, the sequence number and the thread of the forward
 * pass are fields whose places no one promises: a trial with known tensors finds them by their
 * contents, once, and what is not found is not used. Without the trial's success nothing is
 * recorded, and the caller may fall back to ranges of NVTX or ITT.
 *
 * The calling conventions of x86-64 and aarch64 are spoken here (rec_torch_entry.h). Callbacks
 * stay harmless for ever: a thread may hold their addresses after they were taken away, and
 * this library is never unloaded. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "record/rec_cost.h"
#include "record/rec_stack.h"
#include "record/rec_torch_entry.h"
#include "record/rec_torch_int.h"

#if (defined(__x86_64__) || defined(__aarch64__)) && defined(__linux__)

enum { N_SCOPES = 10, SCOPE_OP = 0, SCOPE_BACKWARD = 1, SCOPE_USER = 7 };
enum { PROBE_WORDS = 64, TAG_TENSOR = 1, FLOAT = 6, MOST_LIST = TACHO_MOST_TENSORS };

/* at::RecordFunctionCallback: passed by value, in memory. */
typedef struct {
    rec_entry start;
    void (*end)(const void *fn, void *context);
    double probability;
    bool scopes[N_SCOPES], needs_inputs, needs_outputs, needs_ids;
} callback;

/* c10::IValue, of which only these words are looked at. */
typedef struct {
    uint64_t payload;
    uint32_t tag, more;
} ivalue;

typedef void *tensor; /* what the functions for compiled models call a handle: at::Tensor * */

static struct {
    uint64_t (*add)(callback);
    void (*remove)(uint64_t);
    const char *(*name)(const void *);
    uint64_t (*thread)(void);
    int64_t (*peek)(void);
    int32_t (*new)(int64_t, const int64_t *, const int64_t *, int32_t, int32_t, int32_t,
                   tensor *);
    int32_t (*drop)(tensor);
    int32_t (*as_strided)(tensor, const int64_t *, const int64_t *, tensor *);
    int32_t (*mm_out)(tensor, tensor, tensor);
    int32_t (*sizes)(tensor, int64_t **);
    int32_t (*dim)(tensor, int64_t *);
    int32_t (*dtype)(tensor, int32_t *);
    const void *undefined;
} torch;

/* Words of a record function, and the byte that holds its scope; 0: not known. */
static struct { uint32_t inputs, sequence, forward_thread, list_tag, scope; } place;

static uint64_t handles[3];
static bool without_ops;   /* only ranges of users are reported, which mark steps;
                              rec_torch_lock */
static unsigned installed; /* TACHO_TORCH_* that the callbacks serve; rec_torch_lock */
REC_MUTEX(static, rec_torch_lock);
static int trial_result; /* 0 not tried, 1 good, -1 not */

/* ---- what begins and ends ---- */

/* Contexts say what a callback began; libtorch deletes them through their table of virtual
 * functions. There is one for each of the last recordings, so that an operator that was begun
 * in one does not end a range of the next. */
static void nothing(void *self) {
    (void)self;
}
static void (*const CONTEXT_TABLE[])(void *) = {nothing, nothing};
typedef struct {
    const void *table;
} observed;
enum { N_BEGUN = 64 };
static observed begun[N_BEGUN] = {[0 ... N_BEGUN - 1] = {CONTEXT_TABLE}};
/* A range of the user. */
static observed begun_range[N_BEGUN] = {[0 ... N_BEGUN - 1] = {CONTEXT_TABLE}};
/* A range of the user that is an optimizer's step, and one of which only the step is kept. */
static observed begun_step[N_BEGUN] = {[0 ... N_BEGUN - 1] = {CONTEXT_TABLE}};
static observed step_unseen = {CONTEXT_TABLE};

static uint32_t recording_now(void) {
    return __atomic_load_n(&tacho_on, __ATOMIC_RELAXED) % N_BEGUN;
}

static bool is_step_context(const void *context) {
    uintptr_t offset = (uintptr_t)context - (uintptr_t)begun_step;
    return offset < sizeof begun_step || context == &step_unseen;
}

/* Rows of the threads that ran forward operators, by libtorch's own number of the thread. */
enum { MOST_THREADS = 256 };
static uint32_t rows_of_threads[MOST_THREADS];

static uint64_t word_of(const void *fn, uint32_t at) {
    uint64_t word;
    memcpy(&word, (const uint64_t *)fn + at, sizeof word);
    return word;
}

static tacho_type type_of(int32_t dtype) {
    static const uint8_t TYPES[] = {
        TACHO_U8, TACHO_I8, TACHO_I16, TACHO_I32,  TACHO_I64, TACHO_F16, TACHO_F32, TACHO_F64,
        0,        0,        0,         TACHO_BOOL, 0,         0,         0,         TACHO_BF16};
    return dtype >= 0 && (size_t)dtype < sizeof TYPES ? (tacho_type)TYPES[dtype]
                                                      : TACHO_TYPE_UNKNOWN;
}

static tacho_tensor rec_torch_describe(const ivalue *v) {
    tacho_tensor to = {.type = TACHO_TYPE_UNKNOWN};
    if (v->tag != TAG_TENSOR || v->payload == (uint64_t)(uintptr_t)torch.undefined) return to;
    tensor handle = (tensor)(uintptr_t)&v->payload; /* an at::Tensor is this one pointer */
    int64_t n = 0, *dims = NULL;
    int32_t dtype = -1;
    if (torch.dim(handle, &n) != 0 || n < 0 || torch.sizes(handle, &dims) != 0) return to;
    if (torch.dtype(handle, &dtype) == 0) to.type = type_of(dtype);
    to.n_dims = n > TACHO_MOST_DIMS ? TACHO_MOST_DIMS : (uint32_t)n;
    to.dims = dims;
    return to;
}

/* A list of tensors: its elements, marked; any other list is one input without a shape. */
static uint32_t describe_list(const ivalue *v, tacho_tensor *to, uint32_t room) {
    const ivalue *const *ends = (const ivalue *const *)(uintptr_t)(v->payload + 16);
    const ivalue *first = ends[0];
    ptrdiff_t n = ends[1] - first;
    if (n <= 0 || first->tag != TAG_TENSOR) {
        *to = (tacho_tensor){.type = TACHO_TYPE_UNKNOWN};
        return 1;
    }
    uint32_t kept = n < (ptrdiff_t)room ? (uint32_t)n : room;
    for (uint32_t i = 0; i < kept; i++) {
        to[i] = rec_torch_describe(&first[i]);
        to[i].type = (tacho_type)((uint32_t)to[i].type | TACHO_TYPE_IN_LIST);
    }
    to[kept - 1].type = (tacho_type)((uint32_t)to[kept - 1].type | TACHO_TYPE_ENDS_LIST);
    if (n > (ptrdiff_t)kept) rec_count_lost(TACHO_LOST_SHAPES, (uint64_t)(n - kept));
    return kept;
}

static uint32_t describe_inputs(const void *fn, tacho_tensor *to) {
    const ivalue *all = (const ivalue *)(uintptr_t)word_of(fn, place.inputs);
    uint64_t n_all = word_of(fn, place.inputs + 1);
    uint32_t n = 0;
    for (uint64_t i = 0; i < n_all && n < TACHO_MOST_TENSORS; i++) {
        if (place.list_tag && all[i].tag == place.list_tag)
            n += describe_list(&all[i], to + n, TACHO_MOST_TENSORS - n);
        else
            to[n++] = rec_torch_describe(&all[i]);
    }
    return n;
}

static uint32_t makes_flops; /* TACHO_TORCH_FLOPS is served */

static bool two_numbers(const ivalue *v, int64_t *to) {
    if (!place.list_tag || v->tag != place.list_tag) return false;
    const ivalue *const *ends = (const ivalue *const *)(uintptr_t)(v->payload + 16);
    ptrdiff_t n = ends[1] - ends[0];
    if (n != 1 && n != 2) return false;
    to[0] = (int64_t)ends[0][0].payload;
    to[1] = (int64_t)ends[0][n - 1].payload;
    return true;
}

/* conv2d(input, weight, bias, stride, padding, dilation, groups) */
static rec_torch_conv describe_convolution(const void *fn) {
    enum { STRIDE = 3, PADDING, DILATION, GROUPS, N_INPUTS };
    const ivalue *all = (const ivalue *)(uintptr_t)word_of(fn, place.inputs);
    rec_torch_conv c = {.known = false};
    if (word_of(fn, place.inputs + 1) != N_INPUTS) return c;
    c.known = two_numbers(&all[STRIDE], c.stride) && two_numbers(&all[PADDING], c.padding) &&
              two_numbers(&all[DILATION], c.dilation);
    c.groups = (int64_t)all[GROUPS].payload;
    return c;
}

static void add_flops(const void *fn, tacho_op *op) {
    bool is_conv = strcmp(op->name, "aten::conv2d") == 0;
    rec_torch_conv c = is_conv ? describe_convolution(fn) : (rec_torch_conv){.known = false};
    op->flops = rec_torch_flops(op->name, op->inputs, op->n_inputs, &c);
    op->bytes = -1;
    if (op->flops >= 0) op->work = TACHO_WORK_GIVEN;
}

/* The row of the thread that ran the forward pass; 0: this one, which is remembered when it is
 * new. */
static inline __attribute__((always_inline)) uint32_t forward_row(const void *fn,
                                                                  tacho_range_kind phase) {
    static __thread uint32_t reported __attribute__((tls_model("initial-exec")));
    bool backward = phase == TACHO_RANGE_BACKWARD && place.forward_thread;
    if (!backward && REC_LIKELY(reported == rec_self.row)) return 0;
    uint64_t thread = backward ? word_of(fn, place.forward_thread) : torch.thread();
    if (thread >= MOST_THREADS) return 0;
    if (backward) return __atomic_load_n(&rows_of_threads[thread], __ATOMIC_RELAXED);
    reported = rec_self.row; /* 0 before its first event: reported again then */
    __atomic_store_n(&rows_of_threads[thread], reported, __ATOMIC_RELAXED);
    return 0;
}

/* Apart, so that the common case needs no room for tensors. */
static __attribute__((noinline)) bool begin_with_inputs(const void *fn, const char *name,
                                                        tacho_range_kind phase,
                                                        int64_t sequence, uint32_t row) {
    tacho_tensor inputs[TACHO_MOST_TENSORS];
    tacho_op op = {.size = sizeof op, .name = name, .phase = phase, .sequence = sequence};
    if (place.inputs && __atomic_load_n(&rec_flags, __ATOMIC_RELAXED) & TACHO_FILE_SHAPES) {
        op.inputs = inputs;
        op.n_inputs = describe_inputs(fn, inputs);
        if (__atomic_load_n(&makes_flops, __ATOMIC_RELAXED)) add_flops(fn, &op);
    }
    return rec_op_begin(&op, row);
}

static inline __attribute__((always_inline)) bool begin_op(const void *fn,
                                                           tacho_range_kind phase) {
    const char *name = torch.name(fn);
    uint64_t word = place.sequence ? word_of(fn, place.sequence) : UINT64_MAX;
    int64_t sequence = word > (uint64_t)1 << 60 ? -1 : (int64_t)word;
    uint32_t row = sequence >= 0 ? forward_row(fn, phase) : 0;
    uint32_t flags = __atomic_load_n(&rec_flags, __ATOMIC_RELAXED);
    if (REC_LIKELY(!(flags & (TACHO_FILE_SHAPES | TACHO_FILE_STACKS))))
        return rec_op_short(rec_name_at(name), rec_op_argument(phase, row), sequence);
    return begin_with_inputs(fn, name, phase, sequence, row);
}

static __attribute__((noinline)) bool start_now(void) {
    return tacho_takes_event();
}

static inline bool is_off(void) {
    uint32_t on = __atomic_load_n(&tacho_on, __ATOMIC_RELAXED);
    if (REC_UNLIKELY(on == REC_PENDING)) return !start_now(); /* an operator is a first event */
    return on == 0;
}

/* Operators that this thread is in. */
static inline uint32_t open_ops(void) {
    if (REC_UNLIKELY(rec_self.ops_epoch != rec_self.epoch)) {
        rec_self.ops_epoch = rec_self.epoch;
        rec_self.n_ops = 0;
    }
    return rec_self.n_ops;
}

static inline __attribute__((always_inline)) void **start_kind(void **context, const void *fn,
                                                               tacho_range_kind phase) {
    bool on = !is_off();
    if (on && !open_ops()) rec_stack_mark();
    bool written = on && begin_op(fn, phase);
    rec_self.n_ops += written;
    *context = REC_LIKELY(written) ? &begun[rec_self.epoch % N_BEGUN] : NULL;
    return context;
}

static __attribute__((noinline)) void **start_other(void **context, const void *fn,
                                                    tacho_range_kind phase) {
    return start_kind(context, fn, phase);
}

REC_ENTRY(start_op) {
    return start_other(context, fn, TACHO_RANGE_PLAIN);
}

REC_ENTRY(start_backward) {
    return start_other(context, fn, TACHO_RANGE_BACKWARD);
}

static bool starts_with(const char *text, const char *head) {
    return strncmp(text, head, strlen(head)) == 0;
}

/* Programs with several optimizers make a step when the one does that they used first. */
static uint32_t makes_steps; /* TACHO_TORCH_STEPS is served */
static uint32_t first_optimizer;

static bool is_step(const char *name) {
    if (!__atomic_load_n(&makes_steps, __ATOMIC_RELAXED) ||
        !starts_with(name, "Optimizer.step#"))
        return false;
    uint32_t id = rec_name(name), none = 0;
    (void)__atomic_compare_exchange_n(&first_optimizer, &none, id, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED);
    return __atomic_load_n(&first_optimizer, __ATOMIC_RELAXED) == id;
}

static tacho_range_kind rec_torch_kind_of(const char *name) {
    if (starts_with(name, "enumerate(DataLoader)#")) return TACHO_RANGE_DATA;
    return starts_with(name, "Optimizer.") ? TACHO_RANGE_OPTIMIZER : TACHO_RANGE_PLAIN;
}

REC_ENTRY(start_user) {
    const char *name = torch.name(fn);
    bool step = is_step(name),
         written = !is_off() && rec_begin_text(name, rec_torch_kind_of(name));
    uint32_t of = rec_self.epoch % N_BEGUN;
    *context = written ? (step ? &begun_step[of] : &begun_range[of])
               : step  ? &step_unseen
                       : NULL;
    return context;
}

static __attribute__((noinline)) void rec_torch_end_range(const void *context) {
    if (context == &begun_range[recording_now()]) rec_end_range();
    if (!is_step_context(context)) return;
    if (context == &begun_step[recording_now()]) rec_end_range();
    tacho_step();
}

static void end_any(const void *fn, void *context) {
    (void)fn;
    if (REC_LIKELY(context == &begun[recording_now()])) {
        rec_self.n_ops -= rec_self.n_ops > 0;
        rec_end_range();
    } else {
        rec_torch_end_range(context);
    }
}

/* One callback for all scopes: libtorch goes through all callbacks at every node of the
 * backward pass. */
REC_ENTRY(start_any) {
    uint8_t scope = ((const uint8_t *)fn)[place.scope];
    if (REC_UNLIKELY(scope == SCOPE_USER)) return start_user(context, fn);
    if (scope == SCOPE_BACKWARD) return start_backward(context, fn);
    return start_kind(context, fn, TACHO_RANGE_PLAIN);
}

/* ---- the trial ---- */

typedef struct {
    const char *want;
    tensor given[3];
    int64_t sequence;
    bool found;
} probe;
static __thread probe *probing;

/* A pipe refuses what cannot be read, too; n is far less than it holds. */
static bool read_by_pipe(uint64_t from, void *to, size_t n) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    bool good = write(ends[1], (const void *)(uintptr_t)from, n) == (ssize_t)n &&
                read(ends[0], to, n) == (ssize_t)n;
    close(ends[0]);
    close(ends[1]);
    return good;
}

static bool read_safely(uint64_t from, void *to, size_t n) {
    struct iovec here = {to, n}, there = {(void *)(uintptr_t)from, n};
    if (!from) return false;
    ssize_t got = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    if (got < 0 && (errno == ENOSYS || errno == EPERM)) /* containers and emulators forbid it */
        return read_by_pipe(from, to, n);
    return got == (ssize_t)n;
}

static uint64_t impl_of(tensor t) {
    uint64_t impl;
    memcpy(&impl, t, sizeof impl);
    return impl;
}

/* The word that holds the address of our three tensors, followed by their number. */
static void find_inputs(const uint64_t *words, const probe *p) {
    for (uint32_t i = 2; i + 1 < PROBE_WORDS; i++) {
        ivalue v[3];
        if (words[i + 1] != 3 || !read_safely(words[i], v, sizeof v)) continue;
        bool same = true;
        for (int k = 0; k < 3; k++)
            same &= v[k].tag == TAG_TENSOR && v[k].payload == impl_of(p->given[k]);
        if (!same) continue;
        enum { AFTER_INPUTS = 2 + 7 + 3 }; /* a map and a vector lie between */
        bool has_sequence = words[i - 1] == (uint64_t)p->sequence;
        place.inputs = i;
        place.sequence = has_sequence ? i - 1 : 0;
        place.forward_thread =
            has_sequence && i + AFTER_INPUTS < PROBE_WORDS && words[i + AFTER_INPUTS] == 0
                ? i + AFTER_INPUTS
                : 0;
        return;
    }
}

/* The number of the thread, followed by four bytes: the scope, and what the callbacks need. The
 * trial asks for inputs and ids but not for outputs; nothing else looks like that. */
static void find_scope(const uint64_t *words) {
    enum { SCOPE_AND_NEEDS = 0x01000100 };
    uint32_t found = 0, at = 0;
    for (uint32_t i = 1; i + 1 < PROBE_WORDS; i++) {
        if (words[i] != torch.thread() || (uint32_t)words[i + 1] != SCOPE_AND_NEEDS) continue;
        found++;
        at = i + 1;
    }
    if (found == 1) place.scope = at * (uint32_t)sizeof *words;
}

/* The second input of as_strided is the list of sizes, {2, 3}: so lists look. */
static void find_list(const uint64_t *words) {
    ivalue v, element[2];
    uint64_t ends[2];
    if (!place.inputs || words[place.inputs + 1] < 3) return;
    if (!read_safely(words[place.inputs] + sizeof v, &v, sizeof v)) return;
    if (!read_safely(v.payload + 16, ends, sizeof ends)) return;
    if (ends[1] - ends[0] != sizeof element || !read_safely(ends[0], element, sizeof element))
        return;
    if (element[0].payload == 2 && element[1].payload == 3 && element[0].tag == element[1].tag)
        place.list_tag = v.tag;
}

REC_ENTRY(start_probe) {
    *context = NULL;
    probe *p = probing;
    if (!p || p->found || strcmp(torch.name(fn), p->want) != 0) return context;
    uint64_t words[PROBE_WORDS];
    if (!read_safely((uint64_t)(uintptr_t)fn, words, sizeof words)) return context;
    p->found = true;
    if (p->given[0]) {
        find_inputs(words, p);
        find_scope(words);
    } else {
        find_list(words);
    }
    return context;
}

static void end_probe(const void *fn, void *context) {
    (void)fn;
    (void)context;
}

static tensor make_tensor(int64_t rows, int64_t columns) {
    tensor t = NULL;
    int64_t sizes[2] = {rows, columns}, strides[2] = {columns, 1};
    return torch.new(2, sizes, strides, FLOAT, 0, 0, &t) == 0 ? t : NULL;
}

static bool rec_torch_multiply(void) {
    probe p = {.want = "aten::mm", .sequence = torch.peek ? torch.peek() : -1};
    tensor a = make_tensor(2, 3), b = make_tensor(3, 4), c = make_tensor(2, 4);
    if (a && b && c) {
        p.given[0] = a, p.given[1] = b, p.given[2] = c;
        probing = &p;
        (void)torch.mm_out(c, a, b);
        probing = NULL;
    }
    if (a) torch.drop(a);
    if (b) torch.drop(b);
    if (c) torch.drop(c);
    return p.found;
}

static void make_list(void) {
    probe p = {.want = "aten::as_strided"};
    int64_t sizes[2] = {2, 3}, strides[2] = {3, 1};
    tensor t = make_tensor(2, 3), view = NULL;
    if (t && torch.as_strided) {
        probing = &p;
        if (torch.as_strided(t, sizes, strides, &view) != 0) view = NULL;
        probing = NULL;
    }
    if (view) torch.drop(view);
    if (t) torch.drop(t);
}

static bool trial(void) {
    callback c = {
        REC_ENTRY_OF(start_probe), end_probe, 1.0, {[SCOPE_OP] = true}, true, false, true};
    uint64_t handle = torch.add(c);
    bool good = rec_torch_multiply();
    if (good) make_list();
    torch.remove(handle);
    return good;
}

/* ---- putting in, taking out ---- */

static bool rec_torch_find_symbols(void) {
    void *lib = dlopen("libtorch_cpu.so", RTLD_NOLOAD | RTLD_LAZY);
    if (!lib) return false;
    const struct {
        void *to;
        const char *name;
        bool needed;
    } all[] = {
        {&torch.add, "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE", true},
        {&torch.remove, "_ZN2at14removeCallbackEm", true},
        {&torch.name, "_ZNK2at14RecordFunction4nameEv", true},
        {&torch.thread, "_ZN2at14RecordFunction15currentThreadIdEv", true},
        {&torch.peek, "_ZN2at15sequence_number4peekEv", false},
        {&torch.new, "aoti_torch_empty_strided", true},
        {&torch.drop, "aoti_torch_delete_tensor_object", true},
        {&torch.as_strided, "aoti_torch_as_strided", false},
        {&torch.mm_out, "aoti_torch_mm_out", true},
        {&torch.sizes, "aoti_torch_get_sizes", true},
        {&torch.dim, "aoti_torch_get_dim", true},
        {&torch.dtype, "aoti_torch_get_dtype", true},
        {&torch.undefined, "_ZN3c1019UndefinedTensorImpl10_singletonE", false},
    };
    bool found = true;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        void *at = dlsym(lib, all[i].name);
        memcpy(all[i].to, &at, sizeof at);
        found &= at != NULL || !all[i].needed;
    }
    return found; /* the library stays: it is the program's own */
}

static void take_out(void) {
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) {
        if (handles[i]) torch.remove(handles[i]);
        handles[i] = 0;
    }
    installed = 0;
}

static void put_in(unsigned want) {
    bool inputs = (want & TACHO_TORCH_SHAPES) && place.inputs;
    callback op = {
        REC_ENTRY_OF(start_op), end_any, 1.0, {[SCOPE_OP] = true}, inputs, false, false};
    callback backward = {REC_ENTRY_OF(start_backward),
                         end_any,
                         1.0,
                         {[SCOPE_BACKWARD] = true},
                         inputs,
                         false,
                         false};
    callback user = {
        REC_ENTRY_OF(start_user), end_any, 1.0, {[SCOPE_USER] = true}, false, false, false};
    callback any = {REC_ENTRY_OF(start_any), end_any, 1.0, {false}, false, false, false};
    any.scopes[SCOPE_OP] = any.scopes[SCOPE_BACKWARD] = any.scopes[SCOPE_USER] = true;
    if (without_ops) {
        handles[0] = torch.add(user);
    } else if (place.scope && !inputs) {
        handles[0] = torch.add(any);
    } else {
        handles[0] = torch.add(op);
        handles[1] = torch.add(backward);
        handles[2] = torch.add(user);
    }
    installed = want & (TACHO_TORCH_OPS | TACHO_TORCH_SHAPES);
}

static unsigned serve(unsigned want) {
    if (trial_result == 0) {
        if (!rec_torch_find_symbols()) return 0; /* it may be loaded later */
        trial_result = trial() ? 1 : -1;
    }
    if (trial_result < 0) return 0;
    __atomic_store_n(&makes_flops, (want & TACHO_TORCH_FLOPS) != 0, __ATOMIC_RELAXED);
    __atomic_store_n(&makes_steps, (want & TACHO_TORCH_STEPS) != 0, __ATOMIC_RELAXED);
    unsigned had = installed;
    if ((want & (TACHO_TORCH_OPS | TACHO_TORCH_SHAPES)) != had) {
        if (had) take_out();
        if (want & TACHO_TORCH_OPS) put_in(want);
    }
    unsigned got = want & TACHO_TORCH_OPS;
    if (got && place.inputs) got |= want & (TACHO_TORCH_SHAPES | TACHO_TORCH_FLOPS);
    if (got) got |= want & TACHO_TORCH_STEPS;
    if (got && place.sequence) got |= want & TACHO_TORCH_LINKS;
    return got;
}

/* Without a callback for operators libtorch does not leave its straight way through them. */
bool rec_torch_sample(bool on) {
    /* Not waited for: who holds it runs operators and may be this very thread. */
    if (!rec_mutex_try(&rec_torch_lock)) return false;
    unsigned want = without_ops == on ? installed : 0;
    without_ops = !on;
    if (want) {
        take_out();
        put_in(want);
    }
    pthread_mutex_unlock(&rec_torch_lock);
    return true;
}

/* ---- what it costs ---- */

/* CPU time of n multiplications of two small matrices; < 0: they cannot be tried now. */
static int64_t time_ops(tensor a, tensor b, tensor c, int n) {
    if (!tacho_trial_begin()) return -1;
    int64_t from = rec_cpu_ns();
    for (int i = 0; i < n; i++) (void)torch.mm_out(c, a, b);
    int64_t ns = rec_cpu_ns() - from;
    tacho_trial_end();
    return ns;
}

/* The least of some rounds: what disturbs one makes it longer. */
static int64_t least_time(tensor a, tensor b, tensor c, int n) {
    enum { ROUNDS = 8 };
    int64_t least = INT64_MAX;
    for (int i = 0; i < ROUNDS; i++) {
        int64_t ns = time_ops(a, b, c, n);
        if (ns < least) least = ns;
    }
    return least;
}

/* With the callbacks and without them: so the work of libtorch to call them is in it. */
uint64_t rec_torch_try(int64_t *ns) {
    uint32_t flags = __atomic_load_n(&rec_flags, __ATOMIC_RELAXED);
    int n = flags & TACHO_FILE_STACKS ? 8 : 24; /* they must fit into a trial */
    uint64_t tried = 0;
    if (!rec_mutex_try(&rec_torch_lock)) return 0;
    unsigned want = without_ops ? 0 : installed;
    tensor a = want ? make_tensor(2, 3) : NULL, b = want ? make_tensor(3, 4) : NULL,
           c = want ? make_tensor(2, 4) : NULL;
    if (a && b && c) {
        int64_t with = least_time(a, b, c, n);
        take_out();
        int64_t without = least_time(a, b, c, n);
        put_in(want);
        if (with > without && without > 0) {
            *ns = with - without;
            tried = (uint64_t)n;
        }
    }
    if (a) torch.drop(a);
    if (b) torch.drop(b);
    if (c) torch.drop(c);
    pthread_mutex_unlock(&rec_torch_lock);
    return tried;
}

unsigned tacho_torch(unsigned want) {
    rec_mutex_lock(&rec_torch_lock);
    unsigned got = serve(want) | rec_torch_memory(want);
    pthread_mutex_unlock(&rec_torch_lock);
    return got;
}

#else

bool rec_torch_sample(bool on) {
    (void)on;
    return true;
}

uint64_t rec_torch_try(int64_t *ns) {
    (void)ns;
    return 0;
}

unsigned tacho_torch(unsigned want) {
    (void)want;
    return 0;
}

#endif
