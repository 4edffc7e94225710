/* rec_thread.c: each thread's place in the file.
 *
 * A thread owns a chunk and appends to it; no other thread touches it. When it is full the
 * thread takes another one, under the lock, once in 4,092 slots. When a thread ends, what is
 * left of its chunk goes to the next thread that comes (its first slot says so), so that a
 * program that starts thousands of short threads does not fill the disk with empty chunks.
 *
 * Stopping must know that no thread writes any more, and writers must not pay for it. A writer
 * sets its own `busy` word, then looks at the epoch; the stopping thread clears the epoch, then
 * lets every processor pass a barrier (membarrier: a system call for the stopper, nothing for
 * the writers), then looks at the busy words. Either the writer saw that recording is off, or
 * the stopper sees it busy.
 *
 * An event that finds no room takes no lock, however many threads there are: a thread that was
 * refused adds to the count in the file's header until there may be room again; once in
 * ASKS_AGAIN events it asks in any case. It is busy meanwhile, as if it wrote the event: the
 * header stays mapped, and a stop waits. So the count is exact at any moment, also for a reader
 * of the file of a program that was killed.
 *
 * A signal handler that records while its own thread is in here is refused, not deadlocked, and
 * counted (rec_refuse_inside). */
#include <fcntl.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/rec_cost.h"

enum { MOST_SPARE = 64, LEAST_SPARE_SLOTS = 32, MOST_RENAMED = 64, ASKS_AGAIN = 256 };

__thread rec_thread rec_self __attribute__((tls_model("initial-exec")));
REC_MUTEX(, rec_lock);
rec_file *rec_current;

/* All guarded by rec_lock. */
static rec_thread *threads;
static uint32_t n_rows; /* threads ever seen: their rows are 1 … n */
static struct spare {
    uint32_t epoch, chunk;
    tacho_slot *at, *end;
} spares[MOST_SPARE];
static uint32_t n_spares;

static pthread_key_t at_end;
static bool has_key, has_barrier;

static void end_of_thread(void *self) {
    rec_thread_end(self);
}

/* By the constructor, not by the first event: a child made meanwhile by _Fork or clone would
 * wait for a thread that it does not have. */
void rec_threads_load(void) {
    has_key = pthread_key_create(&at_end, end_of_thread) == 0;
    has_barrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void rec_mutexes_renew(void) {
    extern pthread_mutex_t *const __start_rec_mutexes[], *const __stop_rec_mutexes[];
    for (pthread_mutex_t *const *m = __start_rec_mutexes; m < __stop_rec_mutexes; m++)
        pthread_mutex_init(*m, NULL);
}

/* ---- a place to write ---- */

static void write_thread(rec_file *f, const rec_thread *t, const char *name) {
    if (t->given) name = t->given;
    struct {
        uint64_t row;
        int64_t tid;
    } fixed = {t->row, t->tid};
    rec_side(f, TACHO_SIDE_THREAD, &fixed, sizeof fixed, name, strlen(name));
}

static void list_thread(rec_thread *t) {
    rec_guard_thread();
    t->row = ++n_rows;
    t->tid = syscall(SYS_gettid);
    t->next = threads;
    t->previous = NULL;
    if (threads) threads->previous = t;
    threads = t;
    if (has_key) pthread_setspecific(at_end, t);
}

static bool take_spare(rec_thread *t, uint32_t epoch) {
    while (n_spares) {
        struct spare s = spares[--n_spares];
        if (s.epoch != epoch) continue;
        t->chunk = s.chunk;
        t->at = s.at;
        t->end = s.end;
        t->at->name = t->row;
        t->at->what = rec_what(TACHO_EVENT_THREAD, 0, 0);
        __atomic_store_n(&t->at->tick, rec_tick(), __ATOMIC_RELEASE);
        t->at++;
        return true;
    }
    return false;
}

static bool take_chunk(rec_thread *t, rec_file *f, uint32_t n) {
    bool is_new = t->epoch != f->epoch;
    if (!is_new && t->at) rec_file_close_chunk(f, t->chunk);
    if (is_new) {
        char name[17] = "";
        prctl(PR_GET_NAME, name, 0, 0, 0);
        write_thread(f, t, name);
    }
    t->at = t->end = NULL;
    t->epoch = f->epoch;
    if (is_new && take_spare(t, f->epoch) && t->end - t->at >= (ptrdiff_t)n) return true;
    int64_t chunk = rec_file_take(f, TACHO_CHUNK_EVENTS, t->row);
    if (chunk < 0) return false;
    t->chunk = (uint32_t)chunk;
    t->at = (tacho_slot *)(rec_file_chunk(f, (uint64_t)chunk) + TACHO_CHUNK_HEADER_BYTES);
    t->end = t->at + TACHO_CHUNK_SLOTS;
    return true;
}

static void count_loss(const rec_thread *t) {
    __atomic_fetch_add(t->lost, 1, __ATOMIC_RELAXED);
}

/* Under rec_lock, as all that makes room. */
static void refuse(rec_thread *t, rec_file *f) {
    t->refused = __atomic_load_n(&rec_here.room, __ATOMIC_RELAXED);
    t->lost = &f->header->lost[TACHO_LOST_FULL];
    count_loss(t);
}

/* There was no room in this file, and none has come since: one more is lost. In a child, which
 * does not have the file, neither number is the one that was kept. */
static bool is_refused_again(rec_thread *t) {
    if (!t->refused || t->refused != __atomic_load_n(&rec_here.room, __ATOMIC_RELAXED) ||
        t->epoch != __atomic_load_n(&rec_here.epoch, __ATOMIC_RELAXED) ||
        ++t->n_refused % ASKS_AGAIN == 0)
        return false;
    count_loss(t);
    return true;
}

/* A signal handler may run on a separate stack, of a few thousand bytes: a file is not begun
 * there. */
bool rec_is_on_small_stack(void) {
    enum { ENOUGH = 128 << 10 };
    stack_t s;
    return sigaltstack(NULL, &s) == 0 && s.ss_flags & SS_ONSTACK && s.ss_size < ENOUGH;
}

void rec_count_inside(rec_file *f) {
    uint32_t n = __atomic_exchange_n(&rec_here.n_inside, 0, __ATOMIC_RELAXED);
    if (n) __atomic_fetch_add(&f->header->lost[TACHO_LOST_INSIDE], n, __ATOMIC_RELAXED);
}

static bool rec_thread_find_place(rec_thread *t, uint32_t n) {
    bool ok = false, before = rec_enter(&rec_lock), is_trial = rec_cost_is_due();
    int64_t from = is_trial ? rec_cpu_ns() : 0;
    rec_file *f = rec_current;
    if (f && has_key && f->epoch == __atomic_load_n(&tacho_on, __ATOMIC_RELAXED)) {
        rec_count_inside(f);
        if (!t->row) list_thread(t);
        ok = t->epoch == f->epoch && t->end - t->at >= (ptrdiff_t)n;
        if (!ok) ok = take_chunk(t, f, n);
        t->refused = 0;
        if (!ok) refuse(t, f);
        if (is_trial) rec_cost_put(f, TACHO_COST_ROOM, rec_cpu_ns() - from, 1);
    }
    rec_leave(&rec_lock, before);
    if (ok && is_trial) rec_cost_try();
    return ok;
}

/* Not inlined: its frame would cost an event that is refused again more than all the rest. */
static __attribute__((noinline)) tacho_slot *open_anew(rec_thread *t, uint32_t n) {
    rec_look_for_fork();
    if (t->in_slow || rec_is_on_small_stack()) return rec_refuse_inside();
    t->in_slow = true;
    if (__atomic_load_n(&tacho_on, __ATOMIC_RELAXED) == REC_PENDING) rec_start_pending();
    bool ok = rec_thread_find_place(t, n);
    t->in_slow = false;
    if (!ok) return NULL;
    __atomic_store_n(&t->busy, 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (t->epoch == __atomic_load_n(&tacho_on, __ATOMIC_RELAXED)) return t->at;
    __atomic_store_n(&t->busy, 0, __ATOMIC_RELEASE);
    return NULL;
}

tacho_slot *rec_open_slow(rec_thread *t, uint32_t n) {
    if (t->trial_at) { /* there is no room for more in a trial */
        __atomic_store_n(&t->busy, 0, __ATOMIC_RELEASE);
        return NULL;
    }
    bool is_refused = is_refused_again(t);
    __atomic_store_n(&t->busy, 0, __ATOMIC_RELEASE);
    return is_refused ? NULL : open_anew(t, n);
}

/* ---- the end ---- */

static void keep_spare(rec_thread *t) {
    rec_file *f = rec_current;
    if (!f || f->epoch != t->epoch || !t->at) return;
    if (f->closed || n_spares == MOST_SPARE || t->end - t->at < LEAST_SPARE_SLOTS) {
        rec_file_close_chunk(f, t->chunk);
        return;
    }
    spares[n_spares++] = (struct spare){t->epoch, t->chunk, t->at, t->end};
}

void rec_thread_end(rec_thread *t) {
    bool before = rec_enter(&rec_lock);
    if (t->row) {
        char name[17] = "";
        if (rec_current && rec_current->epoch == t->epoch &&
            prctl(PR_GET_NAME, name, 0, 0, 0) == 0)
            write_thread(rec_current, t, name);
        keep_spare(t);
        if (t->previous) t->previous->next = t->next;
        if (!t->previous) threads = t->next;
        if (t->next) t->next->previous = t->previous;
    }
    free(t->given);
    t->given = NULL;
    t->row = t->epoch = 0; /* an event after this would make the thread new again */
    t->refused = 0;
    t->at = t->end = NULL;
    rec_leave(&rec_lock, before);
}

static bool someone_writes(uint32_t epoch) {
    bool busy = false, before = rec_enter(&rec_lock);
    for (rec_thread *t = threads; t && !busy; t = t->next)
        busy =
            __atomic_load_n(&t->busy, __ATOMIC_ACQUIRE) && t->epoch == epoch && t != &rec_self;
    rec_leave(&rec_lock, before);
    return busy;
}

bool rec_quiet(uint32_t epoch, int64_t ns) {
    int64_t until = rec_clock_ns(CLOCK_MONOTONIC) + ns;
    if (!has_barrier || syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)
        return false;
    while (someone_writes(epoch)) {
        if (rec_clock_ns(CLOCK_MONOTONIC) >= until) return false;
        usleep(50);
    }
    return true;
}

int64_t rec_tid(void) {
    return rec_self.tid ? rec_self.tid : syscall(SYS_gettid);
}

void rec_threads_rename(rec_file *f) {
    int n = 0;
    for (rec_thread *t = threads; t && n < MOST_RENAMED; t = t->next, n++) {
        char path[64], name[32] = "";
        if (t->epoch != f->epoch) continue;
        snprintf(path, sizeof path, "/proc/self/task/%lld/comm", (long long)t->tid);
        int in = open(path, O_RDONLY | O_CLOEXEC);
        if (in < 0) continue;
        if (read(in, name, sizeof name - 1) > 0) {
            name[strcspn(name, "\n")] = 0;
            write_thread(f, t, name);
        }
        close(in);
    }
}

void tacho_name_thread(const char *name) {
    rec_thread *t = &rec_self;
    if (!name || t->in_slow) return;
    bool before = rec_enter(&rec_lock);
    char *copy = has_key ? strndup(name, 255) : NULL;
    if (copy) {
        free(t->given);
        t->given = copy;
        if (!t->row) list_thread(t);
        if (rec_current && t->epoch == rec_current->epoch) write_thread(rec_current, t, copy);
    }
    rec_leave(&rec_lock, before);
}

void rec_threads_forget(void) {
    rec_thread *t = &rec_self;
    threads = NULL;
    n_spares = 0;
    *t = (rec_thread){.given = t->given};
}
