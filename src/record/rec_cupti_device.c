/* rec_cupti_device.c: which GPUs there are and how large, asked of the driver.
 *
 * Not at the start: the driver may be starting itself, and says so (not initialized). Not at
 * the end: the driver's exit handler may have run before ours, and it knows nothing any more.
 * So the helper asks at each of its turns until it gets an answer, whether or not there are
 * records, and keeps the answer for all later recordings of the process. */
#include <dlfcn.h>
#include <stdio.h>

#include "record/rec_cupti_int.h"

enum { /* attributes of a device */
       THREADS_PER_BLOCK = 1,
       SHARED_PER_BLOCK = 8,
       WARP_SIZE = 10,
       MULTIPROCESSORS = 16,
       THREADS_PER_SM = 39,
       COMPUTE_MAJOR = 75,
       COMPUTE_MINOR = 76,
       SHARED_PER_SM = 81,
       REGISTERS_PER_SM = 82,
};
enum { MOST_DEVICES = 16, TEXT_BYTES = MOST_DEVICES * 512 };

static struct {
    int (*count)(int *);
    int (*get)(int *, int);
    int (*name)(char *, int, int);
    int (*memory)(size_t *, int);
    int (*attribute)(int *, int, int);
} driver;

static bool find_driver(void) {
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!cuda) return false; /* stays loaded: it is the program's */
    *(void **)&driver.count = dlsym(cuda, "cuDeviceGetCount");
    *(void **)&driver.get = dlsym(cuda, "cuDeviceGet");
    *(void **)&driver.name = dlsym(cuda, "cuDeviceGetName");
    *(void **)&driver.memory = dlsym(cuda, "cuDeviceTotalMem_v2");
    *(void **)&driver.attribute = dlsym(cuda, "cuDeviceGetAttribute");
    return driver.count && driver.get && driver.name && driver.memory && driver.attribute;
}

/* The object of one device; Kineto's keys. */
static int rec_cupti_device_write_device(char *to, size_t size, int number) {
    static const struct {
        const char *key;
        int attribute;
    } NUMBERS[] = {{"computeMajor", COMPUTE_MAJOR},
                   {"computeMinor", COMPUTE_MINOR},
                   {"maxThreadsPerBlock", THREADS_PER_BLOCK},
                   {"maxThreadsPerMultiprocessor", THREADS_PER_SM},
                   {"regsPerMultiprocessor", REGISTERS_PER_SM},
                   {"warpSize", WARP_SIZE},
                   {"sharedMemPerBlock", SHARED_PER_BLOCK},
                   {"sharedMemPerMultiprocessor", SHARED_PER_SM},
                   {"numSms", MULTIPROCESSORS}};
    char name[96] = "";
    int device = 0, at;
    size_t memory = 0;
    if (driver.get(&device, number) != 0 || driver.name(name, sizeof name - 1, device) != 0 ||
        driver.memory(&memory, device) != 0)
        return 0;
    for (char *c = name; *c; c++)
        if (*c == '"' || *c == '\\' || *c < ' ') *c = ' ';
    at = snprintf(to, size, "%s{\"id\": %d, \"name\": \"%s\", \"totalGlobalMem\": %zu",
                  number ? ", " : "", number, name, memory);
    for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++) {
        int v = 0;
        if (driver.attribute(&v, NUMBERS[i].attribute, device) == 0)
            at += snprintf(to + at, size - (size_t)at, ", \"%s\": %d", NUMBERS[i].key, v);
    }
    return at + snprintf(to + at, size - (size_t)at, "}");
}

/* Kineto's key. */
static void tell_version(void) {
    uint32_t version = 0;
    char text[16];
    if (cupti.get_version(&version) != 0) return;
    rec_meta_fact("cupti_version", text, (size_t)snprintf(text, sizeof text, "%u", version));
}

/* tell_lock */
static char devices[TEXT_BYTES];
static size_t n_devices_text; /* 0: not known yet */
REC_MUTEX(static, tell_lock);

static bool ask_driver(void) {
    int n = 0, at = 1;
    if (n_devices_text) return true;
    if (!driver.attribute && !find_driver()) return false;
    if (driver.count(&n) != 0 || n <= 0) return false;
    devices[0] = '[';
    for (int i = 0; i < n && i < MOST_DEVICES; i++)
        at += rec_cupti_device_write_device(devices + at, sizeof devices - (size_t)at - 1, i);
    devices[at++] = ']';
    if (at == 2) return false; /* it counts them and does not know them yet */
    n_devices_text = (size_t)at;
    return true;
}

void cupti_tell_devices(void) {
    static uint32_t reported, told_version; /* the recording that knows */
    uint32_t now = __atomic_load_n(&tacho_on, __ATOMIC_RELAXED);
    if (now == 0 || now == REC_PENDING || __atomic_load_n(&reported, __ATOMIC_RELAXED) == now)
        return;
    if (!rec_mutex_try(&tell_lock)) return; /* another thread does it */
    if (told_version != now) tell_version();
    told_version = now;
    if (reported != now && ask_driver()) {
        rec_meta_fact("deviceProperties", devices, n_devices_text);
        __atomic_store_n(&reported, now, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&tell_lock);
}
