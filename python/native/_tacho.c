/* _tacho.c: libtacho.so for Python, as an extension for every CPython from 3.8 on.
 *
 * Nothing but the calls: names and their meaning are those of tacho/abi.h, and python/tacho/_calls.py
 * offers the same ones through ctypes for interpreters that cannot load this. What is called for every
 * range or operator is here because a call through ctypes costs ten times as much.
 *
 * The tracer of Python functions is here for the same reason. It is a profile function of the
 * interpreter: one range for each call of a Python function, under its file, line and name. A code
 * object is named once; it is kept alive so that its address stays its own. */
#include "stable_abi.h"

#include <dlfcn.h>
#include <string.h>
#include <tacho/abi.h>

#define NOTHING return Py_IncRef(Py_None), Py_None

/* ---- recording ---- */

static PyObject *start(PyObject *self, PyObject *args, PyObject *words) {
    static char *names[] = {"path",         "worker",         "shapes",     "memory",
                            "device",       "memory_every",   "ring_bytes", "flight_seconds",
                            "follow_children", "listen", "first_step", "trigger", "metrics",
                            "sample_every", NULL};
    tacho_options o = {.size = sizeof o};
    unsigned long long ring = 0, first = 0;
    unsigned every = 0, sample = 0;
    if (!PyArg_ParseTupleAndKeywords(args, words, "zz|pppIKdppKzzI", names, &o.path, &o.worker, &o.shapes,
                                     &o.memory, &o.device, &every, &ring, &o.flight_seconds,
                                     &o.follow_children, &o.listen, &first, &o.trigger, &o.metrics,
                                     &sample))
        return NULL;
    o.memory_every = every;
    o.sample_every = sample;
    o.ring_bytes = ring;
    o.first_step = first;
    return PyLong_FromLong(tacho_start(&o));
}

static PyObject *stop(PyObject *self, PyObject *none) {
    return PyLong_FromLong(tacho_stop());
}

static PyObject *step(PyObject *self, PyObject *none) {
    tacho_step();
    NOTHING;
}

static PyObject *begin_steps(PyObject *self, PyObject *none) {
    tacho_begin_steps();
    NOTHING;
}

static PyObject *is_recording(PyObject *self, PyObject *none) {
    return PyBool_FromLong(tacho_is_recording());
}

static PyObject *takes_event(PyObject *self, PyObject *none) {
    return PyBool_FromLong(tacho_takes_event());
}

static PyObject *is_sampled(PyObject *self, PyObject *none) {
    return PyBool_FromLong(tacho_is_sampled());
}

static PyObject *path(PyObject *self, PyObject *none) {
    char text[4096];
    size_t n = tacho_path(text, sizeof text);
    return PyUnicode_DecodeFSDefaultAndSize(text, (Py_ssize_t)(n < sizeof text ? n : sizeof text - 1));
}

static PyObject *error_text(PyObject *self, PyObject *none) {
    return PyUnicode_DecodeFSDefault(tacho_error());
}

static PyObject *alarm_call(PyObject *self, PyObject *args) {
    const char *rule, *why;
    if (!PyArg_ParseTuple(args, "ss", &rule, &why)) return NULL;
    return PyLong_FromLong(tacho_alarm(rule, why));
}

static PyObject *trigger(PyObject *self, PyObject *why) {
    const char *text = PyUnicode_AsUTF8AndSize(why, NULL);
    return text ? PyLong_FromLong(tacho_trigger(text)) : NULL;
}

/* ---- what recording costs ---- */

static PyObject *cost(PyObject *self, PyObject *args) {
    unsigned kind;
    unsigned long long ns, n;
    if (!PyArg_ParseTuple(args, "IKK", &kind, &ns, &n)) return NULL;
    tacho_cost((tacho_cost_kind)kind, ns, n);
    NOTHING;
}

static PyObject *trial_begin(PyObject *self, PyObject *none) {
    return PyLong_FromUnsignedLong(tacho_trial_begin());
}

static PyObject *trial_end(PyObject *self, PyObject *none) {
    tacho_trial_end();
    NOTHING;
}

static PyObject *measure(PyObject *self, PyObject *none) {
    tacho_measure();
    NOTHING;
}

/* ---- ranges ---- */

static PyObject *name(PyObject *self, PyObject *text) {
    const char *utf8 = PyUnicode_AsUTF8AndSize(text, NULL);
    return utf8 ? PyLong_FromUnsignedLong(tacho_name(utf8)) : NULL;
}

static PyObject *begin(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    if (n != 2) return PyErr_Format(PyExc_TypeError, "begin(id, kind)");
    long id = PyLong_AsLong(args[0]), kind = PyLong_AsLong(args[1]);
    if ((id == -1 || kind == -1) && PyErr_Occurred()) return NULL;
    tacho_begin_id((uint32_t)id, (tacho_range_kind)kind);
    NOTHING;
}

static PyObject *begin_text(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    if (n != 2) return PyErr_Format(PyExc_TypeError, "begin_text(name, kind)");
    const char *text = PyUnicode_AsUTF8AndSize(args[0], NULL);
    long kind = text ? PyLong_AsLong(args[1]) : -1;
    if (!text || (kind == -1 && PyErr_Occurred())) return NULL;
    tacho_begin_text(text, (tacho_range_kind)kind);
    NOTHING;
}

static PyObject *end(PyObject *self, PyObject *none) {
    tacho_end_range();
    NOTHING;
}

/* The range that begin(id, PYTHON) opened. */
static PyObject *end_frame(PyObject *self, PyObject *id) {
    tacho_site site = {.name = "", .id = (uint32_t)PyLong_AsLong(id)};
    if (PyErr_Occurred()) return NULL;
    tacho_site_end(&site);
    NOTHING;
}

/* module_begin(id, id of "forward"): the outermost module of a thread is the forward pass, too. How many
 * ranges were opened: for module_end. */
static __thread unsigned module_depth;

static PyObject *module_begin(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    if (n != 2) return PyErr_Format(PyExc_TypeError, "module_begin(id, forward)");
    long id = PyLong_AsLong(args[0]), forward = PyLong_AsLong(args[1]);
    if ((id == -1 || forward == -1) && PyErr_Occurred()) return NULL;
    long opened = module_depth == 0 ? 2 : 1;
    if (opened == 2) tacho_begin_id((uint32_t)forward, TACHO_RANGE_FORWARD);
    tacho_begin_id((uint32_t)id, TACHO_RANGE_MODULE);
    module_depth++;
    return PyLong_FromLong(opened);
}

static PyObject *module_end(PyObject *self, PyObject *opened) {
    long n = PyLong_AsLong(opened);
    if (n == -1 && PyErr_Occurred()) return NULL;
    if (module_depth > 0) module_depth--;
    for (; n > 0; n--) tacho_end_range();
    NOTHING;
}

static PyObject *mark(PyObject *self, PyObject *text) {
    const char *utf8 = PyUnicode_AsUTF8AndSize(text, NULL);
    if (!utf8) return NULL;
    tacho_mark(utf8);
    NOTHING;
}

/* ---- operators ---- */

enum { MOST_NUMBERS = TACHO_MOST_TENSORS * TACHO_MOST_DIMS };

/* One shape, a sequence of integers, after the numbers that are there; false: an exception. */
static int take_shape(PyObject *shape, tacho_tensor *to, int64_t *numbers, size_t *used) {
    Py_ssize_t n = PySequence_Size(shape);
    if (n < 0) return 0;
    to->dims = numbers + *used;
    for (Py_ssize_t i = 0; i < n && i < TACHO_MOST_DIMS; i++) {
        PyObject *item = PySequence_GetItem(shape, i);
        if (!item) return 0;
        numbers[*used] = PyLong_AsLongLong(item);
        Py_DecRef(item);
        if (numbers[*used] == -1 && PyErr_Occurred()) PyErr_Clear();
        *used += 1;
        to->n_dims++;
    }
    return 1;
}

/* op_begin(name, phase, shapes, types, flops, bytes, sequence) */
static PyObject *op_begin(PyObject *self, PyObject *args) {
    tacho_tensor inputs[TACHO_MOST_TENSORS] = {{0}};
    int64_t numbers[MOST_NUMBERS];
    size_t used = 0;
    PyObject *shapes, *types;
    int phase;
    double flops;
    long long bytes, sequence;
    tacho_op op = {.size = sizeof op, .inputs = inputs};
    if (!PyArg_ParseTuple(args, "siOOdLL", &op.name, &phase, &shapes, &types, &flops, &bytes, &sequence))
        return NULL;
    op.phase = (tacho_range_kind)phase;
    op.sequence = sequence;
    if (flops >= 0 || bytes >= 0) op.work = TACHO_WORK_GIVEN;
    op.flops = flops;
    op.bytes = bytes;
    Py_ssize_t n = shapes == Py_None ? 0 : PySequence_Size(shapes);
    if (n < 0) return NULL;
    for (Py_ssize_t i = 0; i < n && i < TACHO_MOST_TENSORS; i++) {
        PyObject *shape = PySequence_GetItem(shapes, i), *type = PySequence_GetItem(types, i);
        int good = shape && type && take_shape(shape, &inputs[i], numbers, &used);
        if (good) inputs[i].type = (tacho_type)PyLong_AsLong(type);
        Py_DecRef(shape);
        Py_DecRef(type);
        if (!good) return NULL;
        op.n_inputs++;
    }
    tacho_op_begin(&op);
    NOTHING;
}

/* ---- the rest ---- */

static int take_block(PyObject *args, tacho_block *b) {
    unsigned long long address;
    long long bytes, allocated = -1, reserved = -1;
    int device = -1;
    if (!PyArg_ParseTuple(args, "KL|iLL", &address, &bytes, &device, &allocated, &reserved)) return 0;
    *b = (tacho_block){sizeof *b, address, bytes, device, allocated, reserved};
    return 1;
}

static PyObject *alloc(PyObject *self, PyObject *args) {
    tacho_block b;
    if (!take_block(args, &b)) return NULL;
    tacho_alloc(&b);
    NOTHING;
}

static PyObject *release(PyObject *self, PyObject *args) {
    tacho_block b;
    if (!take_block(args, &b)) return NULL;
    tacho_release(&b);
    NOTHING;
}

static PyObject *counter(PyObject *self, PyObject *args) {
    const char *text;
    double value;
    if (!PyArg_ParseTuple(args, "sd", &text, &value)) return NULL;
    tacho_counter(text, value);
    NOTHING;
}

static PyObject *queue(PyObject *self, PyObject *args) {
    const char *text;
    long long size, capacity;
    if (!PyArg_ParseTuple(args, "sLL", &text, &size, &capacity)) return NULL;
    tacho_queue(text, size, capacity);
    NOTHING;
}

static PyObject *flow(PyObject *self, PyObject *args) {
    const char *text;
    unsigned long long id;
    int ends;
    if (!PyArg_ParseTuple(args, "sKp", &text, &id, &ends)) return NULL;
    if (ends)
        tacho_flow_end(text, id);
    else
        tacho_flow_begin(text, id);
    NOTHING;
}

static PyObject *meta(PyObject *self, PyObject *args) {
    const char *key, *value;
    if (!PyArg_ParseTuple(args, "ss", &key, &value)) return NULL;
    tacho_meta(key, value);
    NOTHING;
}

static PyObject *note(PyObject *self, PyObject *text) {
    const char *utf8 = PyUnicode_AsUTF8AndSize(text, NULL);
    if (!utf8) return NULL;
    tacho_note(utf8);
    NOTHING;
}

static PyObject *rank(PyObject *self, PyObject *args) {
    long long number, world;
    if (!PyArg_ParseTuple(args, "LL", &number, &world)) return NULL;
    tacho_rank(number, world);
    NOTHING;
}

static PyObject *name_thread(PyObject *self, PyObject *text) {
    const char *utf8 = PyUnicode_AsUTF8AndSize(text, NULL);
    if (!utf8) return NULL;
    tacho_name_thread(utf8);
    NOTHING;
}

static PyObject *torch(PyObject *self, PyObject *want) {
    unsigned long bits = PyLong_AsUnsignedLong(want);
    if (bits == (unsigned long)-1 && PyErr_Occurred()) return NULL;
    return PyLong_FromUnsignedLong(tacho_torch((unsigned)bits));
}

/* paddle([(device, allocated, reserved), …]): blocks of Paddle's allocators from now on; None: no more. */
static PyObject *paddle(PyObject *self, PyObject *before) {
    enum { MOST = 64 };
    tacho_block blocks[MOST];
    if (before == Py_None) return PyBool_FromLong(tacho_paddle(NULL, 0));
    Py_ssize_t n = PySequence_Size(before);
    if (n < 0) return NULL;
    if (n > MOST) n = MOST;
    for (Py_ssize_t i = 0; i < n; i++) {
        long long allocated, reserved;
        int device;
        PyObject *each = PySequence_GetItem(before, i);
        int ok = each && PyArg_ParseTuple(each, "iLL", &device, &allocated, &reserved);
        Py_DecRef(each);
        if (!ok) return NULL;
        blocks[i] = (tacho_block){.size = sizeof *blocks,
                                  .device = device,
                                  .allocated = allocated,
                                  .reserved = reserved};
    }
    return PyBool_FromLong(tacho_paddle(blocks, (size_t)n));
}

/* megengine((kind, …), device): blocks of MegEngine's allocators from now on; None: no more. */
static PyObject *megengine(PyObject *self, PyObject *args) {
    enum { MOST = 8 };
    PyObject *kinds;
    int device, all[MOST];
    if (!PyArg_ParseTuple(args, "Oi", &kinds, &device)) return NULL;
    if (kinds == Py_None) return PyBool_FromLong(tacho_megengine(NULL, 0, 0));
    Py_ssize_t n = PySequence_Size(kinds);
    if (n < 0) return NULL;
    if (n > MOST) n = MOST;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *each = PySequence_GetItem(kinds, i);
        all[i] = each ? (int)PyLong_AsLong(each) : -1;
        Py_DecRef(each);
        if (PyErr_Occurred()) return NULL;
    }
    return PyBool_FromLong(tacho_megengine(all, (size_t)n, device));
}

static PyObject *itt(PyObject *self, PyObject *none) {
    return PyLong_FromLong(tacho_itt());
}

/* ---- Python functions ---- */

typedef int profile_fn(PyObject *, PyFrameObject *, int, PyObject *);
enum { ON_CALL = 0, ON_RETURN = 3 };
static PyObject *ids;     /* code object -> number of its name */
static PyObject *name_of; /* called with a code object that is new */

static long id_of(PyObject *code) {
    PyObject *known = PyDict_GetItemWithError(ids, code);
    if (known) return PyLong_AsLong(known);
    PyObject *text = name_of ? PyObject_CallFunctionObjArgs(name_of, code, NULL) : NULL;
    const char *utf8 = text && text != Py_None ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    long id = utf8 ? (long)tacho_name(utf8) : 0;
    PyObject *number = PyLong_FromLong(id);
    if (number) PyDict_SetItem(ids, code, number);
    Py_DecRef(number);
    Py_DecRef(text);
    PyErr_Clear();
    return id;
}

static void leave_code(PyObject *code) {
    PyObject *known = ids ? PyDict_GetItemWithError(ids, code) : NULL;
    if (!known) PyErr_Clear();
    tacho_site site = {.name = "", .id = known ? (uint32_t)PyLong_AsLong(known) : 0};
    if (site.id) tacho_site_end(&site);
}

/* The code object of a frame, for the caller to give back. PyFrame_GetCode is there since 3.9. */
static PyObject *code_of(PyFrameObject *frame) {
    static PyObject *(*get)(PyFrameObject *);
    static int looked;
    if (!looked) {
        void *found = dlsym(RTLD_DEFAULT, "PyFrame_GetCode");
        memcpy(&get, &found, sizeof found);
        looked = 1;
    }
    PyObject *code = get ? get(frame) : PyObject_GetAttrString((PyObject *)frame, "f_code");
    if (!code) PyErr_Clear();
    return code;
}

static int on_event(PyObject *self, PyFrameObject *frame, int what, PyObject *arg) {
    if (!tacho_is_recording() || (what != ON_CALL && what != ON_RETURN)) return 0;
    PyObject *code = code_of(frame);
    if (!code) return 0;
    if (what == ON_CALL) {
        PyObject *type, *value, *trace; /* an exception that is under way stays so */
        PyErr_Fetch(&type, &value, &trace);
        long id = id_of(code); /* 0: a function that shall not be seen */
        if (id) tacho_begin_id((uint32_t)id, TACHO_RANGE_PYTHON);
        PyErr_Restore(type, value, trace);
    } else {
        leave_code(code);
    }
    Py_DecRef(code);
    return 0;
}

/* enter(code, name): a function that runs already; until forget(code) it has this name. */
static PyObject *enter(PyObject *self, PyObject *args) {
    PyObject *code;
    const char *text;
    if (!PyArg_ParseTuple(args, "Os", &code, &text)) return NULL;
    if (!ids) NOTHING;
    PyObject *number = PyLong_FromUnsignedLong(tacho_name(text));
    if (number) PyDict_SetItem(ids, code, number);
    Py_DecRef(number);
    long id = id_of(code);
    if (id) tacho_begin_id((uint32_t)id, TACHO_RANGE_PYTHON);
    NOTHING;
}

static PyObject *forget(PyObject *self, PyObject *code) {
    if (ids && PyDict_DelItem(ids, code) != 0) PyErr_Clear();
    NOTHING;
}

/* leave(code): the same function when the recording ends before it. */
static PyObject *leave(PyObject *self, PyObject *code) {
    leave_code(code);
    NOTHING;
}

/* trace_python(name_of or None): false when this interpreter has no such function. */
static PyObject *trace_python(PyObject *self, PyObject *namer) {
    void (*set)(profile_fn *, PyObject *);
    void *all = dlsym(RTLD_DEFAULT, "PyEval_SetProfileAllThreads");
    if (!all) all = dlsym(RTLD_DEFAULT, "PyEval_SetProfile");
    if (!all) return PyBool_FromLong(0);
    memcpy(&set, &all, sizeof all);
    if (!ids) ids = PyDict_New();
    if (!ids) return NULL;
    if (namer != Py_None) {
        Py_IncRef(namer);
        Py_DecRef(name_of);
        name_of = namer;
    }
    set(namer != Py_None ? on_event : NULL, NULL);
    return PyBool_FromLong(1);
}

#define FAST(f) {#f, (PyCFunction)(void (*)(void))f, METH_FASTCALL, NULL}
#define PLAIN(f, how) {#f, (PyCFunction)(void (*)(void))f, how, NULL}
static PyMethodDef methods[] = {
    PLAIN(start, METH_VARARGS | METH_KEYWORDS),
    PLAIN(stop, METH_NOARGS),
    PLAIN(step, METH_NOARGS),
    PLAIN(begin_steps, METH_NOARGS),
    PLAIN(is_recording, METH_NOARGS),
    PLAIN(takes_event, METH_NOARGS),
    PLAIN(is_sampled, METH_NOARGS),
    PLAIN(path, METH_NOARGS),
    PLAIN(error_text, METH_NOARGS),
    {"alarm", (PyCFunction)(void (*)(void))alarm_call, METH_VARARGS, NULL},
    PLAIN(trigger, METH_O),
    PLAIN(cost, METH_VARARGS),
    PLAIN(trial_begin, METH_NOARGS),
    PLAIN(trial_end, METH_NOARGS),
    PLAIN(measure, METH_NOARGS),
    PLAIN(name, METH_O),
    FAST(begin),
    FAST(begin_text),
    PLAIN(end, METH_NOARGS),
    PLAIN(end_frame, METH_O),
    FAST(module_begin),
    PLAIN(module_end, METH_O),
    PLAIN(mark, METH_O),
    PLAIN(op_begin, METH_VARARGS),
    PLAIN(alloc, METH_VARARGS),
    PLAIN(release, METH_VARARGS),
    PLAIN(counter, METH_VARARGS),
    PLAIN(queue, METH_VARARGS),
    PLAIN(flow, METH_VARARGS),
    PLAIN(meta, METH_VARARGS),
    PLAIN(note, METH_O),
    PLAIN(rank, METH_VARARGS),
    PLAIN(name_thread, METH_O),
    PLAIN(torch, METH_O),
    PLAIN(paddle, METH_O),
    PLAIN(megengine, METH_VARARGS),
    PLAIN(itt, METH_NOARGS),
    PLAIN(trace_python, METH_O),
    PLAIN(enter, METH_VARARGS),
    PLAIN(forget, METH_O),
    PLAIN(leave, METH_O),
    {NULL, NULL, 0, NULL},
};

static PyModuleDef module = {
    .m_base = {.references = 1}, .m_name = "_tacho", .m_size = -1, .m_methods = methods};

__attribute__((visibility("default"))) PyObject *PyInit__tacho(void);

PyObject *PyInit__tacho(void) {
    return PyModule_Create2(&module, PYTHON_API_VERSION);
}
