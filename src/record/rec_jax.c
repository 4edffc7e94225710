/* rec_jax.c: calls of functions that JAX has compiled.
 *
 * jax.jit returns an object of jaxlib, which Python calls through a pointer in the object
 * (PEP 590). A wrapper around jax.jit would be another object: its type, its attributes and
 * the frames of its calls would not be JAX's. So the pointer is exchanged instead:
 *
 *     program ─> call_watched ─> begin(function) ─> jaxlib's own call ─> end(function)
 *
 * Only outermost calls are reported: what a function calls while JAX traces it is not run.
 * begin and end are the hooks' Python functions; they catch their own errors, so what they
 * raise (Ctrl-C) is meant for the program and reaches it.
 *
 * An object is exchanged only where all signs agree: its type says that it is called this way,
 * the pointer is inside the object and leads into a library of JAX. The layout read here is
 * that of every CPython with a lock since 3.8; the hooks do not call this with another. */
#include <dlfcn.h>

#include "record/rec_int.h"

enum { TYPE_BASIC_SIZE = 32, TYPE_CALL_OFFSET = 56, OBJECT_TYPE = 8 };
enum { HAS_VECTORCALL = 1 << 11, MOST_TYPES = 4 };

typedef void *call_fn(void *function, void *const *args, size_t n, void *names);

static struct {
    unsigned long (*type_flags)(void *);
    void *(*call)(void *, ...);
    void (*fetch)(void **, void **, void **);
    void (*restore)(void *, void *, void *);
    void (*keep)(void *);
    void (*drop)(void *);
} python;

/* All under the interpreter's lock. */
static struct {
    void *type;
    size_t at; /* of the pointer in an object */
    call_fn *original;
} types[MOST_TYPES];
static size_t n_types;
static void *on_begin, *on_end;
static __thread uint32_t depth;

static bool find_python(void) {
    const struct {
        void *to;
        const char *name;
    } ALL[] = {
        {&python.type_flags, "PyType_GetFlags"},
        {&python.call, "PyObject_CallFunctionObjArgs"},
        {&python.fetch, "PyErr_Fetch"},
        {&python.restore, "PyErr_Restore"},
        {&python.keep, "Py_IncRef"},
        {&python.drop, "Py_DecRef"},
    };
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++) {
        void *at = dlsym(RTLD_DEFAULT, ALL[i].name);
        memcpy(ALL[i].to, &at, sizeof at);
        if (!at) return false;
    }
    return true;
}

static void *read_pointer(const void *object, size_t at) {
    void *p;
    memcpy(&p, (const char *)object + at, sizeof p);
    return p;
}

static size_t find_type(const void *type) {
    size_t i = 0;
    while (i < n_types && types[i].type != type) i++;
    return i;
}

/* ---- calls ---- */

/* False: it raised. */
static bool tell(void *listener, void *function) {
    void *result = python.call(listener, function, NULL);
    if (result) python.drop(result);
    return result != NULL;
}

static void *call_watched(void *function, void *const *args, size_t n, void *names) {
    call_fn *original = types[find_type(read_pointer(function, OBJECT_TYPE))].original;
    void *begin = on_begin, *end = on_end, *error[3] = {NULL};
    if (depth || !begin || !end) return original(function, args, n, names);
    python.keep(end); /* the hooks may go while the function runs */
    depth++;
    void *result = tell(begin, function) ? original(function, args, n, names) : NULL;
    if (!result) python.fetch(&error[0], &error[1], &error[2]);
    bool good = tell(end, function);
    if (good && !result) python.restore(error[0], error[1], error[2]);
    for (size_t i = 0; i < 3 && !good && !result; i++)
        if (error[i]) python.drop(error[i]);
    if (!good && result) {
        python.drop(result);
        result = NULL;
    }
    depth--;
    python.drop(end);
    return result;
}

/* ---- objects ---- */

static bool is_of_jax(call_fn *code) {
    Dl_info at;
    void *address;
    memcpy(&address, &code, sizeof address);
    if (!address || !dladdr(address, &at) || !at.dli_fname) return false;
    const char *slash = strrchr(at.dli_fname, '/'), *name = slash ? slash + 1 : at.dli_fname;
    return strncmp(name, "libjax", 6) == 0 || strncmp(name, "xla_extension", 13) == 0 ||
           strstr(at.dli_fname, "/jaxlib/");
}

/* Where objects of this type keep the pointer; 0: it is none of ours. */
static size_t call_offset(void *type) {
    size_t size = (size_t)(uintptr_t)read_pointer(type, TYPE_BASIC_SIZE);
    size_t at = (size_t)(uintptr_t)read_pointer(type, TYPE_CALL_OFFSET);
    bool inside = at >= 2 * sizeof(void *) && at % sizeof(void *) == 0 && size < 1 << 16 &&
                  at + sizeof(void *) <= size;
    return (python.type_flags(type) & HAS_VECTORCALL) && inside ? at : 0;
}

static bool add_type(void *type, const void *function) {
    size_t at = call_offset(type);
    if (!at || n_types == MOST_TYPES) return false;
    void *found = read_pointer(function, at);
    types[n_types].type = type;
    types[n_types].at = at;
    memcpy(&types[n_types].original, &found, sizeof found);
    if (!is_of_jax(types[n_types].original)) return false;
    python.keep(type); /* its address stays its own */
    n_types++;
    return true;
}

/* Exchanges the pointer when it is `is`. */
static bool exchange(void *function, size_t i, call_fn *is, call_fn *becomes) {
    void *found = read_pointer(function, types[i].at), *wanted;
    memcpy(&wanted, &is, sizeof wanted);
    if (found != wanted) return false;
    memcpy((char *)function + types[i].at, &becomes, sizeof becomes);
    return true;
}

int tacho_jax_watch(void *function, int watch) {
    if (!function || !find_python()) return 0;
    void *type = read_pointer(function, OBJECT_TYPE);
    size_t i = find_type(type);
    if (i == n_types && (!watch || !add_type(type, function))) return 0;
    return watch ? exchange(function, i, types[i].original, call_watched)
                 : exchange(function, i, call_watched, types[i].original);
}

void tacho_jax_listen(void *begin, void *end) {
    void *old[] = {on_begin, on_end};
    if (!find_python()) return;
    if (begin && end) {
        python.keep(begin);
        python.keep(end);
    }
    on_begin = begin && end ? begin : NULL;
    on_end = begin && end ? end : NULL;
    for (size_t i = 0; i < 2; i++)
        if (old[i]) python.drop(old[i]);
}
