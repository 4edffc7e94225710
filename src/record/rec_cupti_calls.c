/* rec_cupti_calls.c: the host calls that give work to a device, wait for it or take its memory.
 *
 * Of all CUDA calls there are some fifteen for each kernel; these are the few that explain one, and the
 * others must not pay. CUPTI writes records of calls that are chosen before the driver starts; they can
 * be turned off and on again. Chosen later they stay silent (seen with 13.0), and to turn on all of
 * them costs several percent. So a recording that comes later, and one before CUDA 12.5, where single
 * calls cannot be chosen, listens to the calls that launch and writes the event itself. */
#include <dlfcn.h>

#include "record/rec_cupti_int.h"

/* First and last of a run of numbers; they have not changed since they were given. */
typedef struct {
    uint16_t first, last;
} numbers;
static const numbers RUNTIME_CALLS[] = {
    {20, 20},   {22, 22},   {31, 52},   {126, 126}, {131, 131}, {137, 137},
    {143, 147}, {161, 163}, {165, 165}, {211, 211}, {214, 214}, {225, 236},
    {239, 239}, {244, 250}, {269, 272}, {311, 312}, {373, 376}, {391, 392},
    {430, 431}, {482, 485}, {505, 506}, {509, 512}, {0, 0}};
static const numbers DRIVER_CALLS[] = {
    {17, 17},   {121, 121}, {126, 126}, {216, 226}, {243, 243}, {245, 245}, {248, 254},
    {276, 293}, {305, 307}, {318, 321}, {397, 433}, {440, 440}, {442, 442}, {477, 480},
    {514, 515}, {598, 601}, {611, 612}, {652, 653}, {776, 779}, {796, 800}, {0, 0}};
enum {
    MOST_NUMBERS = 4096,
    NOT_INITIALIZED = 3,
    MOST_GAPS =
        16, /* numbers that mean nothing, one behind the other: then there are no more */
};

static bool is_early; /* chosen before the driver started */

static bool driver_runs(void) {
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!cuda) return false;
    int (*count)(int *) = NULL, n = 0;
    *(void **)&count = dlsym(cuda, "cuDeviceGetCount");
    bool runs = !count || count(&n) != NOT_INITIALIZED;
    dlclose(cuda);
    return runs;
}

static void choose(int (*enable)(uint32_t, uint8_t), const numbers *calls, uint8_t on) {
    for (; calls->first; calls++)
        for (uint32_t id = calls->first; id <= calls->last; id++) (void)enable(id, on);
}

static void choose_all(uint8_t on) {
    choose(cupti.enable_runtime, RUNTIME_CALLS, on);
    choose(cupti.enable_driver, DRIVER_CALLS, on);
}

/* Some of the numbers are of later versions than the one at hand: that is no failure. */
static void listen_to(void *subscriber, uint32_t on, int domain, const numbers *calls) {
    for (; calls->first; calls++)
        for (uint32_t id = calls->first; id <= calls->last; id++)
            (void)cupti.enable_callback(on, subscriber, domain, id);
}

static void listen_to_all(void *subscriber, uint32_t on) {
    listen_to(subscriber, on, DOMAIN_RUNTIME, RUNTIME_CALLS);
    listen_to(subscriber, on, DOMAIN_DRIVER, DRIVER_CALLS);
}

/* Decided by the first recording of a process: what was chosen early can be chosen again. */
static bool can_choose(void) {
    return is_early && cupti.enable_runtime && cupti.enable_driver;
}

void cupti_enable_calls(void *subscriber) {
    if (!driver_runs()) is_early = true;
    if (can_choose())
        choose_all(1);
    else
        listen_to_all(subscriber, 1);
}

void cupti_disable_calls(void *subscriber) {
    if (can_choose())
        choose_all(0);
    else
        listen_to_all(subscriber, 0);
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

void cupti_on_call(void *context, int domain, uint32_t id, const void *data) {
    const call_data *d = data;
    (void)context;
    if ((domain != DOMAIN_DRIVER && domain != DOMAIN_RUNTIME) || !d || !d->own) return;
    if (domain == DOMAIN_RUNTIME)
        in_runtime = !d->leaves;
    else if (in_runtime)
        return;
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
