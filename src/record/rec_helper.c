/* rec_helper.c: the recorder's own thread, one in a process, asleep when there is nothing to
 * do.
 *
 * While recording it keeps room ahead of the writers (blocks on the disk, pages in memory:
 * touching a fresh page costs more than a hundred events), writes pairs of clocks (often at
 * first, then every second, later every ten), names frames, and answers the socket. After a
 * stop it unmaps the file, as soon as no thread can be writing into it any more.
 *
 * It never is in the program's way. It asks for blocks without holding the lock; it never takes
 * a processor from a thread that runs (SCHED_BATCH); and a stop does not wake it, for on a busy
 * machine the system would run it at once where the stopping thread ran, and unmapping takes
 * tens of milliseconds. It sees the stopped file at its next turn.
 *
 * It is made by the first recording and stays, until it is the last thread: a program whose
 * main thread called pthread_exit ends with its last thread, and that must not be ours.
 * Returning then lets the C library end the process, as it would have. All signals but SIGBUS
 * are blocked in it. After a fork the child has none and makes its own when it records. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/rec_copy.h"
#include "record/rec_cost.h"
#include "record/rec_live.h"
#include "record/rec_port.h"
#include "record/rec_sample.h"
#include "record/rec_stack.h"
#include "record/rec_trigger.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum {
    TICK_MS = 20,
    LEAST_AHEAD = 64,  /* chunks: 4 MiB */
    MOST_AHEAD = 4096, /* 256 MiB */
    STACK_BYTES = 256 << 10,
    MOST_BEHIND = 8, /* files */
};
#define REST_NS 5000000000
#define MOST_REST_NS 1000000000000
#define FRAMES_NS 5000000
#define FINISH_NS 2000000000
#define WAIT_AWAY_NS 1000000000

/* rec_lock */
static bool is_running;
static rec_file *to_put_away;
static int n_to_put_away;
static bool wants_listening;
/* Who sends a byte into the one end wakes the helper, which waits at the other. A pair of
 * sockets: what is sent can never be written into a file, and a program that closes both wakes
 * it, too. */
static rec_own wake_send = REC_OWN_NONE, wake_wait = REC_OWN_NONE;
static rec_own listens_at = REC_OWN_NONE;
static int64_t rests_until_ns, rest_ns = REST_NS;
static bool has_no_thread; /* in a child made without fork handlers */

/* A program that has closed our descriptors is about to have its own at numbers it names: a
 * file that we opened now could be replaced by one of its before we have closed it, and then we
 * would close that. So none is opened for a while after one was lost, for longer each time.
 * rec_lock. */
static bool is_at_rest(void) {
    if (!rec_own_is_lost(&wake_send) && !rec_own_is_lost(&wake_wait) &&
        !rec_own_is_lost(&listens_at)) {
        rests_until_ns = 0;
        return false;
    }
    int64_t now = rec_clock_ns(CLOCK_MONOTONIC);
    if (!rests_until_ns) {
        rests_until_ns = now + rest_ns;
        if (rest_ns < MOST_REST_NS) rest_ns *= 8;
    }
    return now < rests_until_ns;
}

static bool rec_helper_rests(void) {
    bool before = rec_enter(&rec_lock);
    bool rests = is_at_rest();
    rec_leave(&rec_lock, before);
    return rests;
}

/* ---- room ahead ---- */

typedef struct {
    uint32_t epoch;
    uint64_t last, ahead, touched; /* chunks */
    int64_t next_clock_ns;
    int n_clocks;
} watch;

static void touch_pages(uint8_t *from, size_t bytes) {
    if (madvise(from, bytes, MADV_POPULATE_WRITE) == 0 || errno != EINVAL) return;
    for (size_t i = 0; i < bytes; i += 4096) /* older kernels: a write that changes nothing */
        (void)__atomic_fetch_or(from + i, 0, __ATOMIC_RELAXED);
}

/* As far ahead as the writers came in two turns. */
static void plan_ahead(watch *w, uint64_t n_chunks) {
    uint64_t used = n_chunks - w->last;
    w->last = n_chunks;
    w->ahead = 2 * used > LEAST_AHEAD ? 2 * used : LEAST_AHEAD;
    if (w->ahead > MOST_AHEAD) w->ahead = MOST_AHEAD;
}

static void rec_helper_make_room(watch *w, rec_file *f) {
    bool before = rec_enter(&rec_lock);
    plan_ahead(w, f->n_chunks);
    uint64_t had = f->ready, wanted = f->n_chunks + w->ahead;
    if (wanted > f->limit) wanted = f->limit;
    if (had < wanted) {
        rec_leave(&rec_lock, before);
        bool has_blocks = rec_file_allocate(f, had, wanted);
        before = rec_enter(&rec_lock);
        if (has_blocks && f->ready < wanted) {
            f->ready = wanted;
            rec_room_came();
        }
        if (!has_blocks && f->ready < wanted) (void)rec_file_grow(f, wanted - f->ready);
    }
    uint64_t from = w->touched > f->n_chunks ? w->touched : f->n_chunks, to = f->ready;
    rec_leave(&rec_lock, before);
    if (to > from) touch_pages(rec_file_chunk(f, from), (to - from) * TACHO_CHUNK_BYTES);
    w->touched = to;
}

static void keep_clock(watch *w, rec_file *f, int64_t now) {
    if (now < w->next_clock_ns) return;
    int64_t ms = w->n_clocks < 3 ? 20 : w->n_clocks < 60 ? 1000 : 10000;
    bool before = rec_enter(&rec_lock);
    rec_side_clock(f);
    rec_count_inside(f);
    rec_leave(&rec_lock, before);
    w->n_clocks++;
    w->next_clock_ns = now + ms * 1000000;
}

/* ---- putting away ---- */

static rec_file *next_to_put_away(void) {
    bool before = rec_enter(&rec_lock);
    rec_file *f = to_put_away && !to_put_away->n_pins ? to_put_away : NULL;
    if (f) to_put_away = f->next;
    if (f) n_to_put_away--;
    rec_leave(&rec_lock, before);
    return f;
}

/* A file whose threads cannot be proved quiet stays mapped: that costs address space, not
 * memory. */
static void put_away(rec_file *f) {
    if (f->flags & TACHO_FILE_STACKS)
        while (rec_frames_name(f, FRAMES_NS)) {}
    bool is_quiet = rec_quiet(f->epoch, WAIT_AWAY_NS);
    if (!is_quiet) {
        rec_guard_leave(f->map);
        f->map = NULL;
    }
    rec_file_free(f, true);
}

void rec_helper_put_all_away(void) {
    for (rec_file *done; (done = next_to_put_away()) != NULL;) put_away(done);
}

void rec_helper_put_away(rec_file *f) {
    f->next = to_put_away;
    to_put_away = f;
    n_to_put_away++;
}

/* ---- the loop ---- */

static void serve_current(watch *w, rec_file *f) {
    if (w->epoch != f->epoch) *w = (watch){.epoch = f->epoch};
    rec_guard_keep();
    if (rec_file_is_cut(f)) {
        rec_cycle_replace(f);
        return;
    }
    bool rests = rec_helper_rests();
    if (!rests) rec_helper_make_room(w, f);
    keep_clock(w, f, rec_clock_ns(CLOCK_MONOTONIC));
    if (f->flags & TACHO_FILE_STACKS) (void)rec_frames_name(f, FRAMES_NS);
    if (f->flags & TACHO_FILE_DEVICE) rec_cupti_tick();
    rec_sample_tick(rec_clock_ns(CLOCK_MONOTONIC));
    if (!rests) rec_live_tick(f);
    rec_cost_helper(f);
}

/* The current file cannot be put away under our hands: only this thread does that. */
static rec_file *current_file(void) {
    bool before = rec_enter(&rec_lock);
    rec_file *f = rec_current;
    rec_leave(&rec_lock, before);
    return f;
}

/* Nothing wakes us for a file that was stopped after we looked. */
static bool is_file_open(void) {
    bool before = rec_enter(&rec_lock);
    bool open = rec_current || to_put_away;
    rec_leave(&rec_lock, before);
    return open;
}

/* ---- being the last ---- */

static pthread_key_t main_key;
static bool has_main_key;
static uint32_t has_main_left; /* by pthread_exit */

static void leave_main(void *unused) {
    (void)unused;
    __atomic_store_n(&has_main_left, 1, __ATOMIC_RELEASE);
    rec_helper_wake();
}

/* In the main thread, when it is loaded; without a key it looks at every turn. */
void rec_helper_loaded(void) {
    has_main_key =
        syscall(SYS_gettid) == getpid() && pthread_key_create(&main_key, leave_main) == 0;
    if (has_main_key) (void)pthread_setspecific(main_key, &main_key);
}

static bool may_be_alone(void) {
    return !has_main_key || __atomic_load_n(&has_main_left, __ATOMIC_ACQUIRE);
}

/* A main thread that has left is counted by the system until the process ends; it is a zombie
 * then. */
static bool is_main_gone(void) {
    char text[512];
    if (has_main_key) return true;
    snprintf(text, sizeof text, "/proc/self/task/%d/stat", (int)getpid());
    rec_own own;
    int fd = rec_own_open(&own, text, O_RDONLY);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    rec_own_close(&own);
    text[n > 0 ? n : 0] = 0;
    const char *state = strrchr(text, ')'); /* PID (NAME) STATE */
    return state && strncmp(state, ") Z", 3) == 0;
}

/* Who cannot know takes itself for the last: writers make room for themselves, and a program
 * that never ends is worse. */
static bool is_alone(void) {
    enum { MAIN_AND_US = 2 + 2 }; /* links: two of any folder, one for each thread */
    struct stat st;
    if (!may_be_alone()) return false;
    if (stat("/proc/self/task", &st) != 0) return true;
    return st.st_nlink == MAIN_AND_US && is_main_gone();
}

/* poll skips a descriptor that is -1. */
static void wait_for_work(int listening, int longest_ms) {
    enum { METRICS = 2, ALL = METRICS + REC_PORT_SOCKETS };
    int sockets[REC_PORT_SOCKETS];
    int waits_at = rec_own_fd(&wake_wait);
    struct pollfd fds[ALL] = {{.fd = waits_at, .events = POLLIN},
                              {.fd = listening, .events = POLLIN}};
    rec_port_sockets(current_file() != NULL, sockets);
    for (int i = 0; i < REC_PORT_SOCKETS; i++)
        fds[METRICS + i] = (struct pollfd){.fd = sockets[i], .events = POLLIN};
    bool ticks = waits_at < 0 || is_file_open() || rec_control_is_waiting() || may_be_alone();
    int timeout = ticks ? longest_ms : -1;
    if (poll(fds, ALL, timeout) <= 0) return;
    char bytes[64];
    if (fds[0].revents && (waits_at = rec_own_fd(&wake_wait)) >= 0)
        (void)!recv(waits_at, bytes, sizeof bytes, MSG_DONTWAIT);
    if (fds[1].revents && (listening = rec_own_fd(&listens_at)) >= 0)
        rec_control_answer(listening);
    for (int i = METRICS; i < ALL; i++)
        if (fds[i].revents) rec_port_serve(i - METRICS, current_file());
}

/* What the program closed is made again. rec_lock. */
static void keep_sockets(void) {
    int ends[2];
    if (is_at_rest()) return;
    if (rec_own_fd(&wake_send) < 0 || rec_own_fd(&wake_wait) < 0) {
        rec_own_close(&wake_send);
        rec_own_close(&wake_wait);
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0) {
            rec_own_take(&wake_wait, ends[0]);
            rec_own_take(&wake_send, ends[1]);
        }
    }
    if (wants_listening && rec_own_fd(&listens_at) < 0)
        rec_own_take(&listens_at, rec_control_open());
}

static int listening_socket(void) {
    bool before = rec_enter(&rec_lock);
    keep_sockets();
    int fd = rec_own_fd(&listens_at);
    rec_leave(&rec_lock, before);
    return fd;
}

static void yield_to_the_program(void) {
    struct sched_param none = {.sched_priority = 0};
    if (sched_getscheduler(0) == SCHED_OTHER) (void)sched_setscheduler(0, SCHED_BATCH, &none);
}

/* Stacks are looked at more often than the rest is due. */
static void wait_while_looking(rec_file *f, int listening) {
    int64_t until = rec_clock_ns(CLOCK_MONOTONIC) + TICK_MS * 1000000;
    do {
        int ms = f && current_file() == f && !rec_helper_rests() ? rec_stack_tick(f, TICK_MS)
                                                                 : TICK_MS;
        wait_for_work(listening, ms);
        if (!f || ms == TICK_MS) return;
    } while (rec_clock_ns(CLOCK_MONOTONIC) < until);
}

static void *run_helper(void *unused) {
    watch w = {.epoch = 0};
    (void)unused;
    prctl(PR_SET_NAME, "tacho", 0, 0, 0);
    yield_to_the_program();
    while (!is_alone()) {
        rec_helper_put_all_away();
        rec_file *f = current_file();
        if (f) (void)rec_stack_tick(f, TICK_MS); /* what comes now may take a while */
        if (f) serve_current(&w, f);
        rec_hold_tick();
        rec_trigger_tick();
        rec_control_tick();
        wait_while_looking(f, listening_socket());
    }
    bool before = rec_enter(&rec_lock);
    is_running = false;
    rec_leave(&rec_lock, before);
    return NULL;
}

/* ---- for the others ---- */

static bool make_thread(void) {
    pthread_attr_t attr;
    pthread_t id;
    sigset_t all, before;
    if (pthread_attr_init(&attr) != 0) return false;
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    sigfillset(&all);
    sigdelset(&all, SIGBUS); /* a fault of ours: rec_guard.c */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = pthread_create(&id, &attr, run_helper, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return ok;
}

bool rec_helper_start(bool listens) {
    bool before = rec_enter(&rec_lock);
    if (listens) wants_listening = true;
    if (!has_no_thread) keep_sockets();
    if (!is_running && !has_no_thread && wake_send.fd >= 0) is_running = make_thread();
    bool ok = is_running;
    rec_leave(&rec_lock, before);
    rec_helper_wake();
    return ok;
}

void rec_helper_wake(void) {
    int code = errno, fd = rec_own_fd(&wake_send);
    if (fd >= 0) (void)!send(fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    errno = code;
}

void rec_helper_forked(void) {
    rec_own_close(&wake_send);
    rec_own_close(&wake_wait);
    rec_own_close(&listens_at);
    rec_control_forked();
    is_running = wants_listening = false;
    rests_until_ns = 0;
    rest_ns = REST_NS;
    has_main_left = 0; /* the thread that forked is the main thread of the child */
    if (has_main_key) (void)pthread_setspecific(main_key, &main_key);
    to_put_away = NULL;
    n_to_put_away = 0;
}

void rec_helper_forgo(void) {
    has_no_thread = true;
}

void rec_helper_catch_up(void) {
    for (int i = 0; i < 200; i++) {
        bool before = rec_enter(&rec_lock);
        bool behind = is_running && n_to_put_away > MOST_BEHIND;
        rec_leave(&rec_lock, before);
        if (!behind) return;
        rec_helper_wake();
        usleep(1000);
    }
}

/* Files that the helper has not reached are cut here; unmapping is the exit's work. */
void rec_helper_finish(void) {
    int64_t until = rec_clock_ns(CLOCK_MONOTONIC) + FINISH_NS;
    bool waiting = true;
    rec_helper_wake();
    while (waiting && rec_clock_ns(CLOCK_MONOTONIC) < until) {
        bool before = rec_enter(&rec_lock);
        waiting = is_running && to_put_away;
        rec_leave(&rec_lock, before);
        if (waiting) usleep(500);
    }
    if (!is_running) rec_helper_put_all_away();
    bool before = rec_enter(&rec_lock);
    wants_listening = false; /* the helper, which may still run, would open it again */
    if (rec_own_fd(&listens_at) >= 0) rec_control_remove();
    rec_own_close(&listens_at);
    rec_leave(&rec_lock, before);
}
