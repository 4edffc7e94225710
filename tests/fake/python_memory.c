/* A stand-in for CPython as the recorder reads it: the names that it looks for, with memory that
 * a test fills. */
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
#define FUNCTION(type, name, ...)  \
    EXPORT type name(__VA_ARGS__); \
    type name(__VA_ARGS__)

EXPORT char fake_version[32] = "3.12.0";
EXPORT uint64_t _PyRuntime[1024];
EXPORT uint64_t PyCode_Type[64], PyUnicode_Type[64];

FUNCTION(const char *, Py_GetVersion, void) {
    return fake_version;
}

FUNCTION(void *, PyGILState_GetThisThreadState, void) {
    return 0;
}
