/* cuda.c: as much of the driver of CUDA as says which GPUs there are. fake_cuda_is: 3 before it is
 * initialized, 0 while it works, 4 after its exit handler has run. */
#include <stddef.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
EXPORT extern int fake_cuda_is;
EXPORT extern void (*fake_cuda_hears)(void);
EXPORT int cuCtxGetCurrent(void **context);
EXPORT int cuDeviceGetCount(int *n);
EXPORT int cuDeviceGet(int *device, int number);
EXPORT int cuDeviceGetName(char *to, int size, int device);
EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device);
EXPORT int cuDeviceGetAttribute(int *v, int attribute, int device);

int fake_cuda_is = 3;
void (*fake_cuda_hears)(void); /* is called in cuCtxGetCurrent, as CUPTI would */

int cuCtxGetCurrent(void **context) {
    *context = NULL;
    if (fake_cuda_hears) fake_cuda_hears();
    return __atomic_load_n(&fake_cuda_is, __ATOMIC_RELAXED);
}

int cuDeviceGetCount(int *n) {
    *n = 1;
    return __atomic_load_n(&fake_cuda_is, __ATOMIC_RELAXED);
}
int cuDeviceGet(int *device, int number) {
    *device = number;
    return __atomic_load_n(&fake_cuda_is, __ATOMIC_RELAXED);
}
int cuDeviceGetName(char *to, int size, int device) {
    (void)device;
    strncpy(to, "Made-up GPU", (size_t)size);
    return __atomic_load_n(&fake_cuda_is, __ATOMIC_RELAXED);
}
int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    (void)device;
    *bytes = (size_t)80 << 30;
    return __atomic_load_n(&fake_cuda_is, __ATOMIC_RELAXED);
}
int cuDeviceGetAttribute(int *v, int attribute, int device) {
    (void)device;
    *v = attribute == 16 ? 132 : attribute == 75 ? 9 : attribute == 76 ? 0 : 32;
    return __atomic_load_n(&fake_cuda_is, __ATOMIC_RELAXED);
}
