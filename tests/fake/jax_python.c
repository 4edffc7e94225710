/* A stand-in for CPython and jaxlib: objects that are called through a pointer they contain,
 * and the few functions of Python that rec_jax.c uses. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct fake_type fake_type;
typedef struct {
    int64_t references;
    fake_type *type;
} fake_object;
typedef void *fake_call(void *function, void *const *args, size_t n, void *names);

struct fake_type {
    fake_object head;
    int64_t size;
    const char *name;
    int64_t basic_size, item_size;
    void *dealloc;
    int64_t call_offset;
    unsigned long flags;
};

typedef struct {
    fake_object head;
    void *attributes;
    fake_call *call;
    int n_calls;
    int raises;
    fake_object *inner; /* called by it */
} fake_function;

/* A callable of Python: its calls, in order. */
typedef struct {
    fake_object head;
    const char *word;
    int raises;
} fake_listener;

#define EXPORT __attribute__((visibility("default")))
/* A function with the declaration that compilers ask for. */
#define FUNCTION(type, name, ...)  \
    EXPORT type name(__VA_ARGS__); \
    type name(__VA_ARGS__)
EXPORT char fake_log[256];
EXPORT const char *fake_error;
static fake_object answer;

static void *call_function(void *object, void *const *args, size_t n, void *names) {
    fake_function *f = object;
    (void)args, (void)n, (void)names;
    f->n_calls++;
    strcat(fake_log, "call ");
    if (f->inner) {
        fake_function *inner = (fake_function *)f->inner;
        inner->call(inner, NULL, 0, NULL);
    }
    if (f->raises) fake_error = "of the function";
    if (f->raises) return NULL;
    answer.references++;
    return &answer;
}

EXPORT fake_type fake_jit = {.basic_size = sizeof(fake_function),
                             .call_offset = offsetof(fake_function, call),
                             .flags = 1 << 11},
                 fake_plain = {.basic_size = sizeof(fake_function),
                               .call_offset = offsetof(fake_function, call)},
                 fake_wild = {.basic_size = 16, .call_offset = 4096, .flags = 1 << 11};

FUNCTION(void, fake_new, fake_function *f, fake_type *type) {
    *f = (fake_function){.head = {1, type}, .call = call_function};
}

/* ---- Python ---- */

FUNCTION(unsigned long, PyType_GetFlags, void *type) {
    return ((fake_type *)type)->flags;
}

FUNCTION(void *, PyObject_CallFunctionObjArgs, void *callable, ...) {
    fake_listener *l = callable;
    strcat(fake_log, l->word);
    if (l->raises) fake_error = "of the listener";
    if (l->raises) return NULL;
    answer.references++;
    return &answer;
}

FUNCTION(void, PyErr_Fetch, void **type, void **value, void **trace) {
    static fake_object error = {1, NULL};
    error.references++;
    *type = fake_error ? &error : NULL;
    *value = *trace = NULL;
    fake_error = NULL;
}

FUNCTION(void, PyErr_Restore, void *type, void *value, void *trace) {
    (void)value, (void)trace;
    fake_error = type ? "restored" : NULL;
}

FUNCTION(void, Py_IncRef, void *object) {
    ((fake_object *)object)->references++;
}

FUNCTION(void, Py_DecRef, void *object) {
    ((fake_object *)object)->references--;
}

FUNCTION(int64_t, fake_answers, void) {
    return answer.references;
}
