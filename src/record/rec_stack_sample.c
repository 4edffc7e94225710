/* rec_stack_sample.c: what the threads of an interpreter do, seen from the helper.
 *
 * Every few milliseconds each thread's stack is read while it runs: nothing is stopped, no lock
 * of the program is taken. As long as a thread's stack and state stay the same it is one event,
 * written when they change or after a fifth of a second. The time between two looks is at least
 * 5 ms and grows with the number of threads, so that looking takes half a percent of a
 * processor at most.
 *
 *     holds the interpreter's lock       it runs
 *     /proc says that it is in no call   it runs, without the lock
 *     futex in the lock's own memory     it waits for the interpreter's lock
 *     another futex                      it waits for another lock
 *     read, write, poll, wait4, …        it waits for a file, a socket, a child, or sleeps */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/rec_cost.h"
#include "record/rec_stack.h"

enum { MOST_THREADS = 256, MOST_INTERPRETERS = 16, THREAD_BYTES = 256, GIL_BYTES = 208 };
#define LEAST_REST_NS 5000000
#define MOST_REST_NS 100000000
#define LONGEST_RUN_NS 200000000
#define SHARE 200 /* one part in so many of a processor */

/* A thread as it was seen last. */
typedef struct {
    int64_t tid;
    uint32_t stack, state;
    uint64_t since, until; /* ticks */
    int64_t since_ns;
    uint64_t n;
    bool is_there;
} run;

REC_MUTEX(static, sample_lock);
static run runs[MOST_THREADS]; /* sample_lock, and below */
static uint32_t n_runs, epoch;
static int64_t next_ns, rest_ns;
static uint32_t
    tid_place; /* of a thread's number in what pthread_self points to; 0: not known */

static uint64_t word(const uint8_t *p, uint32_t at) {
    uint64_t v;
    memcpy(&v, p + at, sizeof v);
    return v;
}

/* ---- runs ---- */

static void write_run(const run *r) {
    tacho_sample_slots slots = {
        .from_tick = r->since, .to_tick = r->until, .tid = r->tid, .n = r->n};
    rec_put(r->stack, rec_what(TACHO_EVENT_SAMPLE, 0, r->state), &slots, sizeof slots);
}

static run *find_run(int64_t tid) {
    for (uint32_t i = 0; i < n_runs; i++)
        if (runs[i].tid == tid) return &runs[i];
    if (n_runs == MOST_THREADS) return NULL;
    runs[n_runs] = (run){.tid = tid};
    return &runs[n_runs++];
}

static void end_run(run *r, uint64_t tick) {
    if (!r->n) return;
    r->until = tick;
    write_run(r);
    r->n = 0;
}

static void add_sample(run *r, uint32_t stack, uint32_t state, uint64_t tick, int64_t now) {
    r->is_there = true;
    if (r->n && (r->stack != stack || r->state != state || now - r->since_ns > LONGEST_RUN_NS))
        end_run(r, tick);
    if (!r->n) {
        r->stack = stack;
        r->state = state;
        r->since = tick;
        r->since_ns = now;
    }
    r->until = tick;
    r->n++;
}

/* Threads that were not seen any more. */
static void drop_gone(uint64_t tick) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n_runs; i++) {
        if (!runs[i].is_there) end_run(&runs[i], tick);
        if (runs[i].is_there) runs[kept++] = runs[i];
    }
    n_runs = kept;
    for (uint32_t i = 0; i < n_runs; i++) runs[i].is_there = false;
}

/* ---- what a thread waits for ---- */

static uint32_t state_of_descriptor(uint64_t fd) {
    struct stat st;
    if (fd > INT32_MAX || fstat((int)fd, &st) != 0) return TACHO_SAMPLE_UNKNOWN;
    return S_ISSOCK(st.st_mode) || S_ISFIFO(st.st_mode) ? TACHO_SAMPLE_SOCKET
                                                        : TACHO_SAMPLE_FILE;
}

static uint32_t state_of_call(long call, uint64_t first, uint64_t gil) {
    switch (call) {
    case SYS_futex:
        return first >= gil && first < gil + GIL_BYTES ? TACHO_SAMPLE_GIL : TACHO_SAMPLE_LOCK;
    case SYS_nanosleep:
    case SYS_clock_nanosleep: return TACHO_SAMPLE_SLEEP;
    case SYS_wait4:
    case SYS_waitid: return TACHO_SAMPLE_CHILD;
    case SYS_read:
    case SYS_write:
    case SYS_readv:
    case SYS_writev: return state_of_descriptor(first);
    case SYS_pread64:
    case SYS_pwrite64:
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_openat:
    case SYS_newfstatat:
    case SYS_getdents64:
    case SYS_unlinkat:
    case SYS_ftruncate:
    case SYS_fallocate: return TACHO_SAMPLE_FILE;
#ifdef SYS_select
    case SYS_select: return first ? TACHO_SAMPLE_SOCKET : TACHO_SAMPLE_SLEEP;
#endif
    case SYS_pselect6: return first ? TACHO_SAMPLE_SOCKET : TACHO_SAMPLE_SLEEP;
#ifdef SYS_poll
    case SYS_poll:
#endif
#ifdef SYS_epoll_wait
    case SYS_epoll_wait:
#endif
    case SYS_ppoll:
    case SYS_epoll_pwait:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect: return TACHO_SAMPLE_SOCKET;
    default: return TACHO_SAMPLE_UNKNOWN;
    }
}

/* "running", or the number of the call it is in and its arguments in hexadecimal. */
static uint32_t state_of_thread(int64_t tid, uint64_t gil) {
    char text[256];
    rec_own own;
    snprintf(text, sizeof text, "/proc/self/task/%lld/syscall", (long long)tid);
    int fd = rec_own_open(&own, text, O_RDONLY);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    rec_own_close(&own);
    if (n <= 0) return TACHO_SAMPLE_UNKNOWN;
    text[n] = 0;
    if (text[0] == 'r') return TACHO_SAMPLE_RUNNING;
    char *end;
    long call = strtol(text, &end, 10);
    return state_of_call(call, strtoull(end, NULL, 16), gil);
}

/* ---- threads ---- */

static void find_tid_place(void) {
    enum { MOST = 2048 };
    uint64_t self = (uint64_t)(uintptr_t)pthread_self();
    int32_t tid = (int32_t)rec_tid(), there = 0;
    for (uint32_t at = 0; at < MOST && !tid_place; at += 4)
        if (rec_read_memory(self + at, &there, sizeof there) && there == tid) tid_place = at;
}

static int64_t tid_of(uint64_t thread) {
    int32_t tid = 0;
    return tid_place && rec_read_memory(thread + tid_place, &tid, sizeof tid) ? tid : 0;
}

static uint64_t frame_of(const uint8_t *thread) {
    const rec_python_layout *l = &rec_python_at;
    uint64_t frame = 0;
    if (!l->cframe) return word(thread, l->thread_frame);
    uint64_t cframe = word(thread, l->cframe);
    return cframe && rec_read_memory(cframe + l->frame, &frame, sizeof frame) ? frame : 0;
}

/* A thread that changes while it is read is read again, a few times. */
static uint32_t stack_of(uint64_t thread, const uint8_t *copy, uint32_t *n) {
    enum { TRIES = 12 };
    rec_place places[REC_MOST_FRAMES];
    uint8_t again[THREAD_BYTES];
    for (int i = 0; i < TRIES; i++) {
        *n = rec_stack_walk(frame_of(copy), places, REC_MOST_FRAMES);
        uint32_t stack = rec_stack_number(epoch, places, *n);
        if (stack || !frame_of(copy)) return stack;
        if (!rec_read_memory(thread, again, sizeof again)) return 0;
        copy = again;
    }
    return 0;
}

static void look_at_thread(uint64_t thread, const uint8_t *copy, uint64_t holder,
                           uint64_t gil) {
    uint32_t n = 0;
    int64_t tid = tid_of(word(copy, rec_python_at.thread_id));
    if (tid <= 0) return;
    uint64_t tick = rec_tick();
    uint32_t stack = stack_of(thread, copy, &n);
    if (!stack) return;
    uint32_t state = thread == holder ? TACHO_SAMPLE_RUNNING : state_of_thread(tid, gil);
    run *r = find_run(tid);
    if (r) add_sample(r, stack, state, tick, rec_clock_ns(CLOCK_MONOTONIC));
}

static void look_at_interpreter(uint64_t interpreter, uint64_t runtime) {
    const rec_python_layout *l = &rec_python_at;
    uint64_t thread = 0, gil = l->runtime_gil ? runtime + l->runtime_gil : 0, holder = 0;
    uint8_t lock[32] = {0}, copy[THREAD_BYTES];
    if (!l->runtime_gil) (void)rec_read_memory(interpreter + l->gil, &gil, sizeof gil);
    if (gil && rec_read_memory(gil, lock, sizeof lock) &&
        (int32_t)word(lock, l->gil_locked) > 0)
        holder = word(lock, l->gil_holder);
    (void)rec_read_memory(interpreter + l->interpreter_threads, &thread, sizeof thread);
    for (int i = 0; i < MOST_THREADS && thread; i++) {
        if (!rec_read_memory(thread, copy, sizeof copy)) return;
        look_at_thread(thread, copy, holder, gil);
        thread = word(copy, l->thread_next);
    }
}

static void look_at_all(void) {
    uint64_t runtime = (uint64_t)(uintptr_t)rec_python_runtime, next = 0;
    (void)rec_read_memory(runtime + rec_python_at.interpreters, &next, sizeof next);
    for (int i = 0; i < MOST_INTERPRETERS && next; i++) {
        uint64_t now = next;
        look_at_interpreter(now, runtime);
        if (!rec_read_memory(now + rec_python_at.interpreter_next, &next, sizeof next)) return;
    }
}

static void begin_epoch(const rec_file *f) {
    if (epoch == f->epoch) return;
    epoch = f->epoch;
    n_runs = 0;
    next_ns = 0;
    rest_ns = LEAST_REST_NS;
    if (!tid_place) find_tid_place();
}

/* Half a percent of a processor. */
static void look_now(int64_t now) {
    int64_t from = rec_cpu_ns();
    look_at_all();
    drop_gone(rec_tick());
    int64_t wanted = (rec_cpu_ns() - from) * SHARE;
    wanted = wanted < LEAST_REST_NS  ? LEAST_REST_NS
             : wanted > MOST_REST_NS ? MOST_REST_NS
                                     : wanted;
    rest_ns += (wanted - rest_ns) / 8;
    next_ns = now + rest_ns;
}

int rec_stack_tick(rec_file *f, int longest_ms) {
    if (!rec_stack_ready(f)) return longest_ms;
    int64_t now = rec_clock_ns(CLOCK_MONOTONIC);
    rec_mutex_lock(&sample_lock);
    begin_epoch(f);
    if (now >= next_ns) look_now(now);
    int64_t left = next_ns - rec_clock_ns(CLOCK_MONOTONIC);
    pthread_mutex_unlock(&sample_lock);
    rec_stack_keep_source(f);
    int ms = left > 0 ? (int)((left + 500000) / 1000000) : 0;
    return ms < 1 ? 1 : ms > longest_ms ? longest_ms : ms;
}

/* The caller holds the lock of cycles and is marked as being inside; the events may pass. */
void rec_stack_stop(void) {
    bool inside = rec_self.in_slow;
    rec_mutex_lock(&sample_lock);
    rec_self.in_slow = false;
    uint64_t tick = rec_tick();
    for (uint32_t i = 0; i < n_runs && rec_current && rec_current->epoch == epoch; i++)
        end_run(&runs[i], tick);
    n_runs = 0;
    rec_self.in_slow = inside;
    pthread_mutex_unlock(&sample_lock);
}
