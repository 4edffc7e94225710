/* rec_cupti_calls.c: the host calls that give work to a device, wait for it or take its memory.
 *
 * Of all CUDA calls there are some fifteen for each kernel; these are the few that explain one. CUPTI
 * writes records of them. Turned on one by one after the driver has started they stay silent (seen with
 * 13.0), so the whole kind is turned on and all others are turned off, which takes half a millisecond.
 *
 * Before CUDA 12.5 single calls cannot be chosen. There we listen to the calls that launch and write
 * the event ourselves, on the thread that calls. */
#include <string.h>

#include "record/rec_cupti_int.h"

/* The numbers have not changed since they were given. */
static const uint16_t RUNTIME_CALLS[] = {20,  22,  31,  41,  49,  51,  131, 137,
                                         147, 161, 165, 211, 214, 225, 235, 239,
                                         269, 311, 312, 373, 375, 430, 431};
static const uint16_t DRIVER_CALLS[] = {307, 442, 477, 514, 515, 652, 653};
enum {
    N_RUNTIME = sizeof RUNTIME_CALLS / sizeof *RUNTIME_CALLS,
    N_DRIVER = sizeof DRIVER_CALLS / sizeof *DRIVER_CALLS,
    MOST_NUMBERS = 4096,
    MOST_GAPS =
        16, /* numbers that mean nothing, one behind the other: then there are no more */
};

static void silence_others(int (*enable)(uint32_t, uint8_t), const uint16_t *calls, size_t n) {
    int gaps = 0;
    for (uint32_t id = 1; id < MOST_NUMBERS && gaps < MOST_GAPS; id++) {
        if (n > 0 && *calls == id) {
            calls++;
            n--;
        } else {
            gaps = enable(id, 0) == 0 ? 0 : gaps + 1;
        }
    }
}

static int listen_to(void *subscriber, uint32_t on) {
    int code = 0;
    for (int i = 0; i < N_RUNTIME; i++)
        code |= cupti.enable_callback(on, subscriber, DOMAIN_RUNTIME, RUNTIME_CALLS[i]);
    for (int i = 0; i < N_DRIVER; i++)
        code |= cupti.enable_callback(on, subscriber, DOMAIN_DRIVER, DRIVER_CALLS[i]);
    return code;
}

static bool can_choose(void) {
    return cupti.enable_runtime && cupti.enable_driver;
}

const char *cupti_enable_calls(void *subscriber) {
    if (!can_choose())
        return listen_to(subscriber, 1) == 0 ? NULL : "the calls that launch cannot be told";
    int runtime = cupti.enable(RECORD_RUNTIME), driver = cupti.enable(RECORD_DRIVER);
    silence_others(cupti.enable_runtime, RUNTIME_CALLS, N_RUNTIME);
    silence_others(cupti.enable_driver, DRIVER_CALLS, N_DRIVER);
    return runtime == 0 && driver == 0 ? NULL : "host calls cannot be recorded";
}

void cupti_disable_calls(void *subscriber) {
    if (!can_choose()) {
        (void)listen_to(subscriber, 0);
        return;
    }
    (void)cupti.disable(RECORD_RUNTIME);
    (void)cupti.disable(RECORD_DRIVER);
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

void cupti_on_call(void *context, int domain, uint32_t id, const void *data) {
    const call_data *d = data;
    (void)context;
    if ((domain != DOMAIN_DRIVER && domain != DOMAIN_RUNTIME) || !d || !d->own) return;
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
