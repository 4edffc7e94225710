/* stable_abi.h: what the extension needs of Python, without Python's headers.
 *
 * The functions here are those of Python's stable interface, or have been exported with the same meaning
 * by every CPython since 3.8; so one file fits all versions, and building it needs no Python. Nothing is
 * inlined: counting references is left to the interpreter that runs, because immortal objects (3.12) are
 * counted differently. tests/python/abi compares every line with the headers of the interpreters here.
 *
 * Interpreters without the lock (3.13t) have other objects; they use ctypes instead. */
#ifndef TACHO_STABLE_ABI_H
#define TACHO_STABLE_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifndef Py_PYTHON_H /* else these come from Python itself, and the compiler compares the rest */
typedef ssize_t Py_ssize_t;
typedef struct _object PyObject;
typedef struct _frame PyFrameObject;
typedef PyObject *(*PyCFunction)(PyObject *, PyObject *);

typedef struct PyMethodDef {
    const char *ml_name;
    PyCFunction ml_meth;
    int ml_flags;
    const char *ml_doc;
} PyMethodDef;

typedef struct PyModuleDef {
    struct {
        Py_ssize_t references;
        void *type;
        PyObject *(*m_init)(void);
        Py_ssize_t m_index;
        PyObject *m_copy;
    } m_base;
    const char *m_name, *m_doc;
    Py_ssize_t m_size;
    PyMethodDef *m_methods;
    void *m_slots, *m_traverse, *m_clear, *m_free;
} PyModuleDef;

enum {
    METH_VARARGS = 0x0001,
    METH_KEYWORDS = 0x0002,
    METH_NOARGS = 0x0004,
    METH_O = 0x0008,
    METH_FASTCALL = 0x0080,
    PYTHON_API_VERSION = 1013,
};
#define Py_None (&_Py_NoneStruct)
extern PyObject _Py_NoneStruct;
/* The list of names is const since 3.13. */
int PyArg_ParseTupleAndKeywords(PyObject *, PyObject *, const char *, char **, ...);
#endif

extern PyObject *PyExc_TypeError;

void Py_IncRef(PyObject *);
void Py_DecRef(PyObject *);

int PyArg_ParseTuple(PyObject *, const char *, ...);
PyObject *PyBool_FromLong(long);
PyObject *PyDict_GetItemWithError(PyObject *, PyObject *);
PyObject *PyDict_New(void);
int PyDict_DelItem(PyObject *, PyObject *);
int PyDict_SetItem(PyObject *, PyObject *, PyObject *);
void PyErr_Clear(void);
void PyErr_Fetch(PyObject **, PyObject **, PyObject **);
PyObject *PyErr_Format(PyObject *, const char *, ...);
PyObject *PyErr_Occurred(void);
void PyErr_Restore(PyObject *, PyObject *, PyObject *);
long PyLong_AsLong(PyObject *);
long long PyLong_AsLongLong(PyObject *);
unsigned long PyLong_AsUnsignedLong(PyObject *);
PyObject *PyLong_FromLong(long);
PyObject *PyLong_FromUnsignedLong(unsigned long);
PyObject *PyModule_Create2(PyModuleDef *, int);
PyObject *PyObject_CallFunctionObjArgs(PyObject *, ...);
PyObject *PyObject_GetAttrString(PyObject *, const char *);
PyObject *PySequence_GetItem(PyObject *, Py_ssize_t);
Py_ssize_t PySequence_Size(PyObject *);
const char *PyUnicode_AsUTF8AndSize(PyObject *, Py_ssize_t *);
PyObject *PyUnicode_DecodeFSDefault(const char *);
PyObject *PyUnicode_DecodeFSDefaultAndSize(const char *, Py_ssize_t);

#endif
