/* rec_cupti.c: what an NVIDIA GPU did, through CUPTI, which is loaded when CUDA is there and
 * never linked.
 *
 * Kernels, copies, sets, waits and graph launches come as activity records with start and end
 * on the device; the host calls that launched them are heard, but only those on a list. The
 * number that both carry joins them; which operator a call belongs to follows from its thread
 * and its time, later, in the reader. A CUDA graph is one record for each launch; that of each
 * of its nodes costs more than many of them take and has to be asked for.
 *
 * Another tool that holds CUPTI is left alone and named; hooks of a framework whose own
 * profiler needs CUPTI leave it to that (tacho_leave_gpu). Whatever fails is a note in the
 * recording. A child of fork never calls CUPTI. An exit handler stops before CUDA's own
 * destructors run. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "record/rec_cupti_int.h"
#include "record/rec_metrics.h"
#include "record/rec_sample.h"

enum { THREAD_IDS_OF_SYSTEM = 1, FLUSH_FORCED = 1, ATTRIBUTE_CLEARED = 5 };
enum { ERROR_MULTIPLE_SUBSCRIBERS = 39 };

int InitializeInjection(void) TACHO_API;

/* ---- the library ---- */

cupti_library cupti;
REC_MUTEX(static, decode_lock);
static void *library, *subscriber;
static bool is_dead, is_on, has_exit; /* dead: a forked child, or it cannot be used */
static bool is_exiting;
static uint32_t is_left; /* to the profiler of a framework */

static void note(const char *what, int code) {
    char text[384];
    int n = snprintf(text, sizeof text, "CUPTI: %s (%d)", what, code);
    bool before = rec_enter(&rec_lock);
    if (rec_current) rec_side(rec_current, TACHO_SIDE_NOTE, "", 0, text, (size_t)n);
    rec_leave(&rec_lock, before);
}

static void *open_library(void) {
    static const char *const NAMES[] = {"libcupti.so.13",
                                        "libcupti.so.12",
                                        "libcupti.so",
                                        "libcupti.so.11.8",
                                        "/usr/local/cuda/lib64/libcupti.so",
                                        "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"};
    const char *reported = secure_getenv("TACHO_CUPTI");
    void *lib = reported && *reported ? dlopen(reported, RTLD_NOW | RTLD_LOCAL) : NULL;
    for (int loaded = 1; loaded >= 0 && !lib; loaded--) /* the one a framework loaded, first */
        for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES && !lib; i++)
            lib = dlopen(NAMES[i], RTLD_NOW | RTLD_LOCAL | (loaded ? RTLD_NOLOAD : 0));
    return lib;
}

static bool find_functions(void) {
    static const struct {
        const char *name;
        void **to;
        bool needed;
    } ALL[] = {
        {"cuptiGetVersion", (void **)&cupti.get_version, true},
        {"cuptiActivityRegisterCallbacks", (void **)&cupti.register_callbacks, true},
        {"cuptiActivityEnable", (void **)&cupti.enable, true},
        {"cuptiActivityDisable", (void **)&cupti.disable, true},
        {"cuptiActivityFlushAll", (void **)&cupti.flush, true},
        {"cuptiActivityGetNextRecord", (void **)&cupti.next_record, true},
        {"cuptiSetThreadIdType", (void **)&cupti.set_thread_ids, true},
        {"cuptiGetCallbackName", (void **)&cupti.callback_name, true},
        {"cuptiSubscribe", (void **)&cupti.subscribe, true},
        {"cuptiUnsubscribe", (void **)&cupti.unsubscribe, true},
        {"cuptiEnableCallback", (void **)&cupti.enable_callback, true},
        {"cuptiSubscribe_v2", (void **)&cupti.subscribe_by_name, false},
        {"cuptiActivitySetAttribute", (void **)&cupti.set_attribute, false},
        {"cuptiFinalize", (void **)&cupti.finalize, false},
        {"cuptiGetGraphNodeId", (void **)&cupti.graph_node_id, false},
        {"cuptiActivityGetNumDroppedRecords", (void **)&cupti.dropped, false},
    };
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++) {
        *ALL[i].to = dlsym(library, ALL[i].name);
        if (!*ALL[i].to && ALL[i].needed) return false;
    }
    return true;
}

/* ---- on and off ---- */

/* The numbers of the last second are being watched; otherwise a buffer waits until it is
 * full. */
static void hand_over_soon(void) {
    static int64_t next_ns;
    int64_t now = rec_clock_ns(CLOCK_MONOTONIC);
    if (now < next_ns || !(rec_metrics_are_wanted() || rec_sample_is_used())) return;
    next_ns = now + 1000000000;
    (void)cupti.flush(0);
}

void rec_cupti_tick(void) {
    if (__atomic_load_n(&is_dead, __ATOMIC_RELAXED)) return;
    if (__atomic_load_n(&is_on, __ATOMIC_RELAXED)) cupti_tell_devices();
    if (!rec_mutex_try(&decode_lock)) return;
    if (is_on) hand_over_soon();
    if (is_on) cupti_empty_buffers();
    if (is_on) rec_sample_judge(rec_clock_ns(CLOCK_REALTIME));
    pthread_mutex_unlock(&decode_lock);
}

static bool load_library(void) {
    if (library) return true;
    library = open_library();
    if (!library || !find_functions() || !cupti_map_buffers()) {
        note(library ? "a function is missing or memory ran out" : "libcupti was not found", 0);
        is_dead = true;
        return false;
    }
    return true;
}

static void stop_at_exit(void) {
    is_exiting = true;
    (void)rec_stop(true, NULL, 0);
}

/* PyTorch's profiler subscribes when it is first used and never gives the place back. */
static const char *hint_at_holder(void) {
    void *torch = dlopen("libtorch_cpu.so", RTLD_NOLOAD | RTLD_LAZY);
    if (!torch) return "";
    dlclose(torch);
    return "; torch.profiler, once used, keeps it until the program ends: record before it, or "
           "in "
           "another process";
}

/* Takes the one place there is; a note names the owner when it is taken. */
static bool subscribe(void) {
    char holder[128] = "";
    cupti_subscription as = {sizeof as, "tacho", holder, sizeof holder - 1};
    int code = cupti.subscribe_by_name
                   ? cupti.subscribe_by_name(&subscriber, cupti_on_call, NULL, &as)
                   : cupti.subscribe(&subscriber, cupti_on_call, NULL);
    if (code == 0) return true;
    char text[320];
    snprintf(text, sizeof text, "another tool in this program uses it%s%.100s%s",
             *holder ? ": " : "", holder, hint_at_holder());
    note(code == ERROR_MULTIPLE_SUBSCRIBERS ? text : "cannot subscribe", code);
    is_dead = code != ERROR_MULTIPLE_SUBSCRIBERS;
    return false;
}

static const uint8_t KINDS[] = {RECORD_KERNEL, RECORD_MEMCPY,   RECORD_MEMSET, RECORD_PEER_COPY,
                                RECORD_SYNC,   RECORD_OVERHEAD, RECORD_GRAPH,  RECORD_MEMORY};

static bool rec_cupti_is_wanted(int kind) {
    uint32_t flags = __atomic_load_n(&rec_flags, __ATOMIC_RELAXED);
    if (kind == RECORD_GRAPH) return !(flags & TACHO_FILE_GRAPH_NODES);
    if (kind == RECORD_SYNC)
        return flags & TACHO_FILE_SYNC; /* 1.2 µs of every launch (docs/GPU.md) */
    return kind != RECORD_MEMORY || (flags & TACHO_FILE_MEMORY);
}

static void enable_kinds(void) {
    for (size_t i = 0; i < sizeof KINDS; i++) {
        int code = rec_cupti_is_wanted(KINDS[i]) ? cupti.enable(KINDS[i]) : 0;
        char what[64];
        snprintf(what, sizeof what, "records of kind %d are not available", KINDS[i]);
        if (code != 0) note(what, code);
    }
    cupti_listen(subscriber, true);
    cupti_watch_graphs(subscriber, rec_flags & TACHO_FILE_GRAPH_NODES);
}

static void turn_on(void) {
    uint8_t yes = 1;
    size_t n = sizeof yes;
    if (!load_library() || !subscribe()) return;
    (void)cupti.set_thread_ids(THREAD_IDS_OF_SYSTEM);
    if (cupti.set_attribute) (void)cupti.set_attribute(ATTRIBUTE_CLEARED, &n, &yes);
    int code = cupti.register_callbacks(cupti_give_buffer, cupti_take_buffer);
    if (code != 0) note("cannot register buffers", code);
    __atomic_store_n(&is_on, code == 0, __ATOMIC_RELAXED);
    if (is_on) enable_kinds();
    if (!has_exit) has_exit = atexit(stop_at_exit) == 0;
}

static bool has_cuda(void) {
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (cuda) dlclose(cuda);
    return cuda != NULL || secure_getenv("TACHO_CUPTI") != NULL;
}

void rec_cupti_start(void) {
    bool wanted = __atomic_load_n(&rec_flags, __ATOMIC_RELAXED) & TACHO_FILE_DEVICE &&
                  !__atomic_load_n(&is_left, __ATOMIC_RELAXED);
    if (!wanted || __atomic_load_n(&is_dead, __ATOMIC_RELAXED) || !has_cuda()) return;
    rec_mutex_lock(&decode_lock);
    if (!is_on && !is_dead) turn_on();
    pthread_mutex_unlock(&decode_lock);
}

/* At the exit of a process it may not be asked to go: the driver's own handlers run. */
static void leave(void) {
    if (!is_exiting && cupti_leave(subscriber))
        cupti_take_back_buffers();
    else
        (void)cupti.unsubscribe(subscriber);
}

void rec_cupti_stop(void) {
    if (__atomic_load_n(&is_dead, __ATOMIC_RELAXED)) return;
    bool before = rec_self.in_slow; /* recording is on and our locks but the cycle's are free */
    if (__atomic_load_n(&is_on, __ATOMIC_RELAXED)) cupti_tell_devices();
    rec_mutex_lock(&decode_lock);
    if (is_on) {
        rec_self.in_slow = false;
        (void)cupti.flush(FLUSH_FORCED);
        for (size_t i = 0; i < sizeof KINDS; i++) (void)cupti.disable(KINDS[i]);
        cupti_listen(subscriber, false);
        cupti_watch_graphs(subscriber, false);
        cupti_empty_buffers();
        leave();
        rec_self.in_slow = before;
        __atomic_store_n(&is_on, false, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&decode_lock);
}

void tacho_leave_gpu(int leave) {
    __atomic_store_n(&is_left, leave != 0, __ATOMIC_RELAXED);
    if (leave)
        rec_cupti_stop();
    else if (tacho_is_recording())
        rec_cupti_start();
}

/* Records of work that has ended; only when CUPTI keeps all of them back, because one in each
 * of its buffers still runs, are they forced out, which loses those that run. */
void rec_cupti_flush(void) {
    if (__atomic_load_n(&is_dead, __ATOMIC_RELAXED)) return;
    rec_mutex_lock(&decode_lock);
    if (is_on) {
        (void)cupti.flush(0);
        if (!cupti_has_full_buffer()) (void)cupti.flush(FLUSH_FORCED);
        cupti_empty_buffers();
    }
    pthread_mutex_unlock(&decode_lock);
}

void rec_cupti_forked(void) {
    is_dead = true;
}

/* The driver calls this when CUDA is initialized (CUDA_INJECTION64_PATH names us). */
int InitializeInjection(void) {
    uint32_t on = __atomic_load_n(&tacho_on, __ATOMIC_RELAXED);
    if (on == REC_PENDING) rec_start_pending(); /* CUDA work is a first event, too */
    if (on != 0 && on != REC_PENDING) rec_cupti_start();
    return 1;
}
