/* rec_cupti_calls.c: the host calls that give work to a device, wait for it or take its memory.
 *
 * Of all CUDA calls there are some fifteen for each kernel; these are the few that explain one.
 * CUPTI can write records of calls, too, but a launch then costs half a microsecond more than
 * when we listen and write the event ourselves (docs/GPU.md). A launch of the runtime is heard
 * only when it arrives in the driver: once instead of twice, with the same number. */
#include <dlfcn.h>

#include "record/rec_cupti_int.h"

/* First and last of a run of numbers; they have not changed since they were given. */
typedef struct {
    uint16_t first, last;
} numbers;
/* Without the launches of kernels. */
static const numbers RUNTIME_CALLS[] = {
    {20, 20},   {22, 22},   {31, 52},   {126, 126}, {131, 131}, {137, 137},
    {143, 147}, {161, 163}, {165, 165}, {225, 236}, {239, 239}, {244, 250},
    {311, 312}, {373, 376}, {391, 392}, {482, 485}, {509, 512}, {0, 0}};
static const numbers DRIVER_CALLS[] = {
    {17, 17},   {121, 121}, {126, 126}, {216, 226}, {243, 243}, {245, 245}, {248, 254},
    {276, 293}, {305, 307}, {318, 321}, {397, 433}, {440, 440}, {442, 442}, {477, 480},
    {514, 515}, {598, 601}, {611, 612}, {652, 653}, {776, 779}, {796, 800}, {0, 0}};
enum { GET_CURRENT = 304 }; /* cuCtxGetCurrent: does nothing, at any time */

/* Some of the numbers are of later versions than the current one: that is not a failure. */
static void listen_to(void *subscriber, uint32_t on, int domain, const numbers *calls) {
    for (; calls->first; calls++)
        for (uint32_t id = calls->first; id <= calls->last; id++)
            (void)cupti.enable_callback(on, subscriber, domain, id);
}

void cupti_listen(void *subscriber, bool on) {
    listen_to(subscriber, on, DOMAIN_RUNTIME, RUNTIME_CALLS);
    listen_to(subscriber, on, DOMAIN_DRIVER, DRIVER_CALLS);
}

/* ---- leaving ---- */

/* This thread made a call in whose end CUPTI shall leave the process. */
static __thread bool is_leaving __attribute__((tls_model("initial-exec")));

bool cupti_leave(void *subscriber) {
    void *cuda = cupti.finalize ? dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) : NULL;
    int (*get_current)(void **) = NULL;
    void *context = NULL;
    if (!cuda) return false;
    *(void **)&get_current = dlsym(cuda, "cuCtxGetCurrent");
    if (get_current) {
        (void)cupti.enable_callback(1, subscriber, DOMAIN_DRIVER, GET_CURRENT);
        is_leaving = true;
        (void)get_current(&context);
    }
    bool left = get_current && !is_leaving;
    is_leaving = false;
    dlclose(cuda);
    return left;
}

/* The front of CUpti_CallbackData, the same since CUDA 8. */
typedef struct {
    uint32_t leaves; /* 0: the call begins */
    const char *function;
    const void *parameters, *result;
    const char *symbol;
    void *context;
    uint32_t context_id;
    uint64_t *own; /* a word that is ours from the beginning of a call to its end */
    uint32_t correlation;
} call_data;

/* A call of the runtime makes one of the driver, which says nothing more. */
static __thread bool in_runtime __attribute__((tls_model("initial-exec")));
static __thread uint32_t in_call __attribute__((tls_model("initial-exec"))); /* its number */

void cupti_on_call(void *context, int domain, uint32_t id, const void *data) {
    const call_data *d = data;
    (void)context;
    if (domain == DOMAIN_RESOURCE) cupti_on_node(id, data, in_call);
    if ((domain != DOMAIN_DRIVER && domain != DOMAIN_RUNTIME) || !d || !d->own) return;
    if (is_leaving) {
        if (d->leaves && cupti.finalize() == 0) is_leaving = false;
        return;
    }
    if (domain == DOMAIN_RUNTIME)
        in_runtime = !d->leaves;
    else if (in_runtime)
        return;
    in_call = d->leaves ? 0 : d->correlation;
    int64_t now = rec_clock_ns(CLOCK_REALTIME);
    if (!d->leaves) {
        *d->own = (uint64_t)now;
        return;
    }
    tacho_api_slots call = {.start_ns = (int64_t)*d->own,
                            .end_ns = now,
                            .correlation = d->correlation,
                            .thread = (uint32_t)rec_tid(),
                            .domain = (uint32_t)domain};
    cupti_put_call(domain, id, &call);
}
