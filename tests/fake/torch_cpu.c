/* torch_cpu.c: a fake libtorch: the few functions rec_torch.c looks for, and records of
 * functions laid out as it expects them, or not (fake_layout). */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SHOW __attribute__((visibility("default")))

/* A unique_ptr comes back through memory whose address goes where that of a big struct goes; only the
 * first word is written. */
typedef struct {
    void *context, *unused[2];
} returned;

typedef struct {
    returned (*start)(const void *fn);
    void (*end)(const void *fn, void *context);
    double probability;
    bool scopes[10], needs_inputs, needs_outputs, needs_ids;
} callback;

typedef struct {
    uint64_t payload;
    uint32_t tag, more;
} ivalue;

typedef struct {
    int64_t n, dims[8];
    int32_t dtype;
} tensor_impl;
typedef struct {
    tensor_impl *impl;
} tensor;

enum { MOST = 16, WORDS = 64, NAME = 3, THREAD = 8, SEQUENCE = 20, THIS_THREAD = 7 };
enum { TENSOR = 1, INT = 5, LIST = 13 };

SHOW int fake_layout = SEQUENCE; /* offset of the sequence number; 0: none */
SHOW int fake_callbacks;         /* how many are in */
SHOW uint64_t _ZN3c1019UndefinedTensorImpl10_singletonE[8];
static callback all[MOST];
static bool used[MOST];
static int64_t sequence;

SHOW uint64_t _ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE(callback c);
SHOW void _ZN2at14removeCallbackEm(uint64_t handle);
SHOW const char *_ZNK2at14RecordFunction4nameEv(const uint64_t *fn);
SHOW uint64_t _ZN2at14RecordFunction15currentThreadIdEv(void);
SHOW int64_t _ZN2at15sequence_number4peekEv(void);
SHOW int32_t aoti_torch_empty_strided(int64_t n, const int64_t *sizes, const int64_t *strides,
                                      int32_t dtype, int32_t device, int32_t index,
                                      tensor **to);
SHOW int32_t aoti_torch_delete_tensor_object(tensor *t);
SHOW int32_t aoti_torch_mm_out(tensor *out, tensor *a, tensor *b);
SHOW int32_t aoti_torch_as_strided(tensor *t, const int64_t *sizes, const int64_t *strides,
                                   tensor **to);
SHOW int32_t aoti_torch_get_sizes(tensor *t, int64_t **to);
SHOW int32_t aoti_torch_get_dim(tensor *t, int64_t *to);
SHOW int32_t aoti_torch_get_dtype(tensor *t, int32_t *to);
SHOW void fake_op(const char *name, int scope, int64_t number, uint64_t thread,
                  void (*inside)(void));
SHOW void fake_cat(int64_t rows);

uint64_t _ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE(callback c) {
    for (uint64_t i = 0; i < MOST; i++) {
        if (used[i]) continue;
        used[i] = true;
        all[i] = c;
        fake_callbacks++;
        return i + 1;
    }
    return 0;
}

void _ZN2at14removeCallbackEm(uint64_t handle) {
    used[handle - 1] = false;
    fake_callbacks--;
}

const char *_ZNK2at14RecordFunction4nameEv(const uint64_t *fn) {
    return (const char *)(uintptr_t)fn[NAME];
}

uint64_t _ZN2at14RecordFunction15currentThreadIdEv(void) {
    return THIS_THREAD;
}

int64_t _ZN2at15sequence_number4peekEv(void) {
    return sequence;
}

/* ---- running an operator ---- */

typedef struct {
    const char *name;
    int scope;
    int64_t number;
    uint64_t thread;
    ivalue *inputs;
    uint64_t n;
} call;

/* Inputs, outputs, ids: a byte each. */
static uint32_t needs(int scope) {
    uint32_t bits = 0;
    for (int i = 0; i < MOST; i++)
        if (used[i] && all[i].scopes[scope])
            bits |= (uint32_t)all[i].needs_inputs | (uint32_t)all[i].needs_outputs << 8 |
                    (uint32_t)all[i].needs_ids << 16;
    return bits;
}

static void run(const call *c, void (*inside)(void)) {
    uint64_t fn[WORDS] = {0};
    void *contexts[MOST] = {NULL};
    bool began[MOST] = {false};
    fn[NAME] = (uint64_t)(uintptr_t)c->name;
    if (fake_layout) {
        fn[fake_layout] = (uint64_t)c->number;
        fn[fake_layout + 1] = (uint64_t)(uintptr_t)c->inputs;
        fn[fake_layout + 2] = c->n;
        fn[fake_layout + 13] = c->thread;
        fn[THREAD] = THIS_THREAD;
        fn[THREAD + 1] = (uint64_t)c->scope | (uint64_t)needs(c->scope) << 8;
    }
    for (int i = 0; i < MOST; i++) {
        if (!used[i] || !all[i].scopes[c->scope]) continue;
        began[i] = true;
        contexts[i] = all[i].start(fn).context;
    }
    if (inside) inside();
    for (int i = MOST - 1; i >= 0; i--) {
        if (!began[i]) continue;
        all[i].end(fn, contexts[i]);
        if (contexts[i]) { /* delete: the second entry of its table */
            void (**table)(void *) = *(void (***)(void *))contexts[i];
            table[1](contexts[i]);
        }
    }
}

void fake_op(const char *name, int scope, int64_t number, uint64_t thread,
             void (*inside)(void)) {
    call c = {.name = name, .scope = scope, .number = number, .thread = thread};
    run(&c, inside);
}

static ivalue of_tensor(const tensor *t) {
    return (ivalue){(uint64_t)(uintptr_t)t->impl, TENSOR, 0};
}

/* A list: sixteen bytes of something, then where its elements begin and end. */
static ivalue of_list(uint64_t *head, const ivalue *first, uint64_t n) {
    head[2] = (uint64_t)(uintptr_t)first;
    head[3] = (uint64_t)(uintptr_t)(first + n);
    return (ivalue){(uint64_t)(uintptr_t)head, LIST, 0};
}

void fake_cat(int64_t rows) {
    tensor_impl impl = {2, {rows, 3}, 6};
    tensor t = {&impl};
    ivalue elements[2] = {of_tensor(&t), of_tensor(&t)};
    uint64_t head[4] = {0};
    ivalue inputs[3] = {
        of_list(head, elements, 2),
        {1, INT, 0},
        {(uint64_t)(uintptr_t)_ZN3c1019UndefinedTensorImpl10_singletonE, TENSOR, 0}};
    run(&(call){.name = "aten::cat", .number = -1, .inputs = inputs, .n = 3}, NULL);
}

int32_t aoti_torch_mm_out(tensor *out, tensor *a, tensor *b) {
    ivalue inputs[3] = {of_tensor(a), of_tensor(b), of_tensor(out)};
    run(&(call){.name = "aten::mm", .number = sequence, .inputs = inputs, .n = 3}, NULL);
    sequence++;
    return 0;
}

int32_t aoti_torch_as_strided(tensor *t, const int64_t *sizes, const int64_t *strides,
                              tensor **to) {
    ivalue a[2], b[2];
    for (int i = 0; i < 2; i++) {
        a[i] = (ivalue){(uint64_t)sizes[i], INT, 0};
        b[i] = (ivalue){(uint64_t)strides[i], INT, 0};
    }
    uint64_t heads[2][4] = {{0}};
    ivalue inputs[4] = {
        of_tensor(t), of_list(heads[0], a, 2), of_list(heads[1], b, 2), {0, 0, 0}};
    run(&(call){.name = "aten::as_strided", .number = -1, .inputs = inputs, .n = 4}, NULL);
    return aoti_torch_empty_strided(2, sizes, strides, 6, 0, 0, to);
}

/* ---- tensors ---- */

int32_t aoti_torch_empty_strided(int64_t n, const int64_t *sizes, const int64_t *strides,
                                 int32_t dtype, int32_t device, int32_t index, tensor **to) {
    (void)strides, (void)device, (void)index;
    tensor *t = calloc(1, sizeof *t);
    t->impl = calloc(1, sizeof *t->impl);
    t->impl->n = n;
    t->impl->dtype = dtype;
    memcpy(t->impl->dims, sizes, (size_t)n * sizeof *sizes);
    *to = t;
    return 0;
}

int32_t aoti_torch_delete_tensor_object(tensor *t) {
    free(t->impl);
    free(t);
    return 0;
}

int32_t aoti_torch_get_sizes(tensor *t, int64_t **to) {
    *to = t->impl->dims;
    return 0;
}

int32_t aoti_torch_get_dim(tensor *t, int64_t *to) {
    *to = t->impl->n;
    return 0;
}

int32_t aoti_torch_get_dtype(tensor *t, int32_t *to) {
    *to = t->impl->dtype;
    return 0;
}
