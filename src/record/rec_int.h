/* rec_int.h: what the files of the recorder share.
 *
 *     rec_events.c   the calls of a program: one event, one append
 *     rec_thread.c   each thread's place in the file, and when no thread writes any more
 *     rec_own.c      descriptors, and whether they are still ours
 *     rec_file.c     the file: chunks, side records, room ahead of the writers
 *     rec_guard.c    files that are cut while they are mapped
 *     rec_keep.c     memory that children can rely on
 *     rec_names.c    names and frames: text to number, once
 *     rec_schedule.c    start, stop, schedule, flight recorder
 *     rec_meta.c     facts of the whole recording: host, command, what the program says
 *     rec_sample.c   operators of some steps only
 *     rec_rank.c     which of many processes this is: rank, loader, launcher
 *     rec_live.c     how it is doing now; rec_metrics.c the same for Prometheus
 *     rec_trigger.c  rules that write what a flight recorder has; rec_copy.c as a copy of it
 *     rec_cost.c     what all of this costs
 *     rec_helper.c   the thread that makes room, reads clocks, puts away what was stopped
 *     rec_control.c  its socket, for tacho attach; rec_python.c the hooks that come with it
 *     rec_stack.c    stacks of Python; rec_stack_sample.c what its threads do
 *     rec_nvtx.c     ranges of NVTX; rec_itt.c of ITT
 *     rec_cupti*.c   work of NVIDIA's GPUs
 *     rec_torch.c    PyTorch's operators; rec_torch_memory.c its allocators
 *     rec_jax.c      calls of functions that JAX has compiled
 *     rec_env.c      loading, forking, exiting; rec_status.c what became of the process
 *
 * Two locks. rec_cycle_lock orders start, stop and step; rec_lock guards the current file, the
 * list of threads and the table of names, is held for microseconds, and is taken inside the
 * other.
 */
#ifndef RECORD_REC_INT_H
#define RECORD_REC_INT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <tacho/abi.h>
#include <tacho/format.h>

#include "record/rec_clock.h"
#include "record/rec_guard.h"
#include "record/rec_own.h"

#define REC_PENDING UINT32_MAX /* tacho_on: the first event starts the recording */
#define REC_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define REC_LIKELY(x) __builtin_expect(!!(x), 1)

/* ---- one recording ---- */

typedef struct rec_file rec_file;
struct rec_file {
    rec_file *next; /* among those to be put away */
    rec_own own;
    uint32_t epoch; /* tacho_on while it is current */
    uint8_t *map;
    size_t map_bytes;
    uint32_t is_cut;           /* the file was made shorter: its end is lost */
    tacho_file_header *header; /* at map */
    uint64_t limit;            /* the most chunks */
    uint64_t ready;            /* chunks with room on the disk */
    uint64_t n_chunks;         /* handed out */
    uint64_t order;
    uint8_t *side_at, *side_end;
    /* Flight recorder: chunks that are full, oldest first, to be used again. */
    uint64_t flight_ticks;
    struct closed {
        uint32_t chunk;
        uint64_t tick;
    } * closed;
    uint64_t closed_first, n_closed;
    /* As in the header, which others may have written into. */
    uint32_t flags;
    uint32_t n_pins; /* who copies it, while it must not be put away; rec_lock */
    char worker[256];
    char path[4096];       /* under which it is written */
    char final_path[4096]; /* under which it is left after */
};

/* A new file with its header and room for the first chunks; NULL: *why says what the system
 * said. */
rec_file *rec_file_new(const char *path, const char *final_path, uint64_t limit_bytes,
                       int *why);
/* Unmaps and closes; when `cut`, the room that was not used is given back before. */
void rec_file_free(rec_file *f, bool cut);
/* Room for at least n more chunks on the disk; false when there is none. */
bool rec_file_grow(rec_file *f, uint64_t n);
/* Blocks for these chunks, without a lock; they count when `ready` says so. False:
 * rec_file_grow. */
bool rec_file_allocate(const rec_file *f, uint64_t from, uint64_t to);
static inline uint8_t *rec_file_chunk(const rec_file *f, uint64_t chunk) {
    return f->map + TACHO_FILE_HEADER_BYTES + chunk * TACHO_CHUNK_BYTES;
}
/* Looks whether the file was made shorter: then no more chunks are handed out, and the lost
 * part is plain memory. Called by the helper. */
bool rec_file_is_cut(rec_file *f);
/* A chunk for events or side records; -1 when the file is full. rec_lock. */
int64_t rec_file_take(rec_file *f, uint32_t type, uint32_t thread);
/* Flight recorder: no thread writes into this chunk any more. rec_lock. */
void rec_file_close_chunk(rec_file *f, uint64_t chunk);
/* A side record of two parts; text beyond 32 KiB is cut. rec_lock. */
void rec_side(rec_file *f, uint32_t type, const void *fixed, size_t n, const char *text,
              size_t n_text);
void rec_side_clock(rec_file *f);

/* ---- threads ---- */

typedef struct rec_thread rec_thread;
struct rec_thread {
    tacho_slot *at, *end; /* where the next event goes */
    uint32_t epoch;       /* of the file they point into */
    uint32_t busy;        /* 1 while an event is being written */
    uint32_t row;         /* 0: not in the list */
    uint32_t chunk;
    int64_t tid;
    uint32_t refused; /* rec_here.room when there was no room; 0: there was */
    uint32_t n_refused;
    uint64_t *lost; /* in the header of the file that has no room */
    rec_thread *next, *previous;
    char *given;          /* the name the program gave it; NULL: the system's */
    tacho_slot *trial_at; /* where it was before a trial; NULL: it is in none */
    bool in_slow;
    uint32_t stack, stack_epoch; /* of Python, as it was written last: rec_stack.c */
    uint32_t n_ops, ops_epoch;   /* operators that are open: rec_torch.c */
    uint32_t n_locks;            /* that it holds or waits for, by rec_enter */
    int cancel_before;           /* whether it could be cancelled before the first of them */
};
extern __thread rec_thread rec_self __attribute__((tls_model("initial-exec")));
extern pthread_mutex_t rec_lock, rec_cycle_lock;
extern rec_file *rec_current; /* rec_lock */

/* A page that the system empties in a child, whichever way it was made: _Fork and clone call no
 * handler. The epoch of tacho_on is here, too, so that a place in the parent's file is not
 * confused with one of the child's; and the number that says whether a full file is still full,
 * so that no count goes to the parent's. Alone on its page, whatever the size of that is. */
#if defined(__x86_64__)
#define REC_PAGE_BYTES 4096
#else
#define REC_PAGE_BYTES 65536
#endif
typedef struct {
    uint32_t is_same_process; /* 0: this is a child made without fork handlers */
    uint32_t epoch;           /* of the current file; 0: none */
    uint32_t room;            /* another whenever there may be room again; 0: not known */
    uint32_t n_inside;        /* events refused inside the recorder, not yet in a header */
    char rest[REC_PAGE_BYTES - 16];
} rec_page;
extern rec_page rec_here __attribute__((aligned(REC_PAGE_BYTES)));
/* There may be room in a file that was full: who found none shall look again. */
static inline void rec_room_came(void) {
    __atomic_fetch_add(&rec_here.room, 1, __ATOMIC_RELAXED);
}
/* Prepares a child made without fork handlers; does nothing in any other process. */
void rec_forked(void);
static inline void rec_look_for_fork(void) {
    if (REC_UNLIKELY(!__atomic_load_n(&rec_here.is_same_process, __ATOMIC_ACQUIRE)))
        rec_forked();
}

/* Kept by linkers that leave out sections which only their ends refer to. */
#if __has_attribute(retain)
#define REC_LISTED __attribute__((section("rec_mutexes"), used, retain))
#else
#define REC_LISTED __attribute__((section("rec_mutexes"), used))
#endif

/* A mutex of the recorder. All of them are listed in one section, so that the child of a fork
 * can make each one new: the thread that held it may not exist in this process. */
#define REC_MUTEX(storage, name)                              \
    storage pthread_mutex_t name = PTHREAD_MUTEX_INITIALIZER; \
    static pthread_mutex_t *name##_listed REC_LISTED = &name
void rec_mutexes_renew(void);
static inline void rec_mutex_lock(pthread_mutex_t *lock) {
    rec_look_for_fork();
    pthread_mutex_lock(lock);
}
static inline bool rec_mutex_try(pthread_mutex_t *lock) {
    rec_look_for_fork();
    return pthread_mutex_trylock(lock) == 0;
}

/* Takes a lock and marks the thread: should what it calls (an instrumented malloc, a signal
 * handler) record, it is refused instead of waiting for itself. The thread cannot be cancelled
 * meanwhile: opening a file would end it with the lock held. The result goes to rec_leave. */
static inline bool rec_enter(pthread_mutex_t *lock) {
    rec_look_for_fork(); /* before the mark: it clears rec_self in a child */
    bool before = rec_self.in_slow;
    rec_self.in_slow = true;
    if (rec_self.n_locks++ == 0)
        (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &rec_self.cancel_before);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    pthread_mutex_lock(lock);
    return before;
}
static inline void rec_leave(pthread_mutex_t *lock, bool before) {
    pthread_mutex_unlock(lock);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (rec_self.n_locks && --rec_self.n_locks == 0)
        (void)pthread_setcancelstate(rec_self.cancel_before, NULL);
    rec_self.in_slow = before;
}

/* True in a signal handler on a stack that is too small for more than a few events. */
bool rec_is_on_small_stack(void);
/* Room for n slots on this thread, or NULL: then nothing may be written, and the loss is
 * counted. rec_close publishes the event. */
tacho_slot *rec_open_slow(rec_thread *t, uint32_t n);
/* An event that was made inside the recorder: no lock may be taken, so it is counted here until
 * the next holder of the lock adds it to the file. */
static inline tacho_slot *rec_refuse_inside(void) {
    __atomic_fetch_add(&rec_here.n_inside, 1, __ATOMIC_RELAXED);
    return NULL;
}
/* Adds them to the file. rec_lock. */
void rec_count_inside(rec_file *f);
static inline tacho_slot *rec_open(uint32_t n) {
    rec_thread *t = &rec_self;
    if (REC_UNLIKELY(t->busy)) return rec_refuse_inside(); /* a signal during an event */
    __atomic_store_n(&t->busy, 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (REC_LIKELY(t->epoch == __atomic_load_n(&rec_here.epoch, __ATOMIC_RELAXED)) &&
        REC_LIKELY(t->end - t->at >= (ptrdiff_t)n))
        return t->at;
    return rec_open_slow(t, n);
}
static inline uint32_t rec_what(uint32_t kind, uint32_t extra, uint32_t argument) {
    return kind | extra << 8 | argument << 16;
}
static inline void rec_close(tacho_slot *head, uint64_t tick, uint32_t name, uint32_t what) {
    rec_thread *t = &rec_self;
    head->name = name;
    head->what = what;
    __atomic_store_n(&head->tick, tick, __ATOMIC_RELEASE);
    t->at = head + 1 + (what >> 8 & 255);
    __atomic_store_n(&t->busy, 0, __ATOMIC_RELEASE);
}
/* True when no thread writes into the file with this epoch; false when one still does after
 * ns. */
bool rec_quiet(uint32_t epoch, int64_t ns);
/* The names of threads that are alive, a few of them: some are given names late. rec_lock. */
void rec_threads_rename(rec_file *f);
/* Once, before any event. */
void rec_threads_load(void);
/* In a forked child: forgets all threads but this one, which starts again. */
void rec_threads_forget(void);
/* Gives this thread's place up; for the end of a thread. */
void rec_thread_end(rec_thread *t);

/* ---- names and frames ---- */
uint32_t rec_name(const char *text);
/* rec_name for a text that is most often at the same address as before. Each slot has the row
 * that was last found for an address that falls there; the text decides, not the address: the
 * old text may be gone. */
typedef struct {
    uint64_t hash;
    uint32_t id, n;
    char text[];
} rec_name_row;
enum { REC_NAME_BITS = 10 };
extern rec_name_row *rec_names_last[1 << REC_NAME_BITS];
uint32_t rec_name_anew(const char *text, rec_name_row **place);
static inline uint32_t rec_name_at(const char *text) {
    uint64_t i = (uint64_t)(uintptr_t)text * 0x9e3779b97f4a7c15u >> (64 - REC_NAME_BITS);
    const rec_name_row *row = __atomic_load_n(&rec_names_last[i], __ATOMIC_ACQUIRE);
    if (REC_LIKELY(row != NULL) && text && REC_LIKELY(strcmp(row->text, text) == 0))
        return row->id;
    return rec_name_anew(text, &rec_names_last[i]);
}
/* Writes all names into a new file. rec_lock. */
void rec_names_write(rec_file *f);
/* Up to `most` addresses of callers; each is known to the helper from then on. */
uint32_t rec_frames(uint64_t *to, uint32_t most);
/* Names frames that are new, for at most `ns`; true when there is more to do. Called by the
 * helper. */
bool rec_frames_name(rec_file *f, int64_t ns);

/* ---- devices ---- */
void rec_cupti_start(void); /* when CUDA is there and the recording wants it */
void rec_cupti_tick(void);  /* full buffers into events; of the helper */
void rec_cupti_stop(void);  /* what is left; while the file is still current */
void rec_cupti_flush(void); /* what has been made so far becomes events; it continues */
void rec_cupti_forked(void);

/* ---- events that programs have no call for ---- */
void rec_put(uint32_t name, uint32_t what, const void *payload, size_t bytes);
void rec_instant(uint32_t name);
/* A range under a name that a library made: operators of PyTorch and collectives are known by
 * it. */
void rec_begin_named(const char *text);
static inline uint32_t rec_op_argument(tacho_range_kind kind, uint32_t forward_row) {
    return (uint32_t)kind | (forward_row < 256 ? forward_row << 8 : 0);
}
/* An operator of which no more is known than its name and the number that ties it to its
 * backward pass (< 0: none): 16 or 32 bytes. */
static inline bool rec_op_short(uint32_t name, uint32_t argument, int64_t sequence) {
    uint32_t extra = sequence >= 0;
    tacho_slot *s = rec_open(1 + extra);
    if (REC_UNLIKELY(s == NULL)) return false;
    if (extra) *(tacho_sequence_slot *)(s + 1) = (tacho_sequence_slot){.sequence = sequence};
    rec_close(s, rec_tick(), name, rec_what(TACHO_EVENT_OP, extra, argument));
    return true;
}
/* tacho_op_begin with the row of the thread that ran the forward operator; 0: this thread. */
bool rec_op_begin(const tacho_op *op, uint32_t forward_row);
/* The end of a range that this thread began in the current recording. Should that stop and
 * another start just now, nothing is written: the new one does not have the beginning. */
static inline void rec_end_range(void) {
    uint32_t epoch = rec_self.epoch;
    tacho_slot *s = rec_open(1);
    if (REC_UNLIKELY(s == NULL)) return;
    if (REC_LIKELY(rec_self.epoch == epoch))
        rec_close(s, rec_tick(), 0, rec_what(TACHO_EVENT_END, 0, 0));
    else
        __atomic_store_n(&rec_self.busy, 0, __ATOMIC_RELEASE);
}
/* tacho_begin_text; these three say whether the event was written. */
bool rec_begin_text(const char *name, tacho_range_kind kind);
/* A range that may end on another thread; phase b or e. */
void rec_async(uint32_t name, uint64_t id, char phase);
int64_t rec_tid(void);

/* ---- cycles ---- */
typedef struct {
    tacho_options o;
    char path[3072], worker[256];
    bool from_outside; /* tacho record or attach started it: the program cannot stop it */
    bool joins;        /* in the middle of a program: the step that runs is not seen whole */
} rec_settings;
extern rec_settings rec_set;
/* TACHO_RUN: the `tacho record` that this process belongs to; "": none. */
extern char rec_run[TACHO_RUN_BYTES];
/* Several processes may record there; else it is the name of one file. */
static inline bool rec_has_folder(void) {
    size_t n = strlen(rec_set.path);
    return n && !(n > 6 && strcmp(rec_set.path + n - 6, ".tacho") == 0);
}
extern uint32_t rec_flags; /* TACHO_FILE_* of the current recording */
extern uint32_t rec_memory_every;
/* Not 0 in a program that `tacho record` runs until it does the first thing that belongs to a
 * step (fetching a batch, a forward or backward pass, the optimizer): what came before set it
 * up. */
extern uint32_t rec_awaits_batch;
void rec_first_batch(void);
/* Counts a loss in the current file. */
void rec_count_lost(int which, uint64_t n);
int rec_start(const tacho_options *o, bool from_outside);
int rec_stop(bool from_outside, char *path, size_t size);
/* Which part of a flight recorder's window becomes a file, and whose rule wants it. */
typedef struct {
    const char *rule;
    int64_t rank;                /* -1: not known */
    uint64_t from_tick, to_tick; /* 0: as far back as is kept; up to now */
} rec_window;
/* Flight recorder: what it has becomes a file, `dump` gets its path; it continues. window NULL:
 * all. */
int rec_dump(const char *why, const rec_window *window, char *dump, size_t size);
typedef enum {
    REC_IDLE,
    REC_STARTS_LATER, /* with the first event */
    REC_BETWEEN,      /* the schedule does not want this step */
    REC_RECORDING,
    REC_IN_FLIGHT
} rec_state;
/* What happens now, and the file that is being written ("-": none), under the name it has
 * now. */
rec_state rec_cycle_state(char *path, size_t size);
/* The current file was cut: it ends, and another begins that says so. Called by the helper. */
void rec_cycle_replace(const rec_file *cut);
/* The process has learned what it is: the file that is being written gets the name it should
 * have. */
void rec_cycle_rename(void);
/* The first event shall start it. */
void rec_set_pending(const tacho_options *o);
/* Starts what is pending; called by the first event. */
void rec_start_pending(void);
/* Makes everything fit for a child that was just forked. */
void rec_cycle_forked(void);
/* A fact into the current recording; the value is JSON. */
void rec_meta_fact(const char *key, const char *value, size_t n);
/* Metadata into a new file. rec_lock. */
void rec_meta_write(rec_file *f);
/* ---- ranks ---- */
/* Rank and number of processes (< 0: not known): as set by the program, otherwise as the
 * launcher's environment says; false: it has none. A child of a process that records into
 * `folder` has that process's environment and is not a rank. */
bool rec_rank(const char *folder, int64_t *rank, int64_t *world);
/* The same as it was found for the current recording, -1: none. Does not read the environment:
 * it is the program's, and may change under another thread. rec_lock. */
void rec_rank_known(int64_t *rank, int64_t *world);
/* What its file is called: rank0.HOST_7 a rank, rank0.HOST_7.loader_9 a process of that rank's
 * data loader, HOST_7.child_9 another child of a recorded process, HOST_7 any other. */
void rec_rank_name(const char *folder, char *to, size_t size);
/* What this process is among others, into a new file. rec_lock. */
void rec_rank_write(rec_file *f, const char *folder);
/* The program says what this process is: "data_loader", … */
void rec_rank_role(const char *role);
/* Its number among the processes of this machine; -1: not known. */
int64_t rec_local_rank(void);
/* torchrun, mpirun and their like start programs and are none. */
bool rec_is_launcher(void);
void rec_rank_forked(void);
/* A fact into a file; the value is JSON. rec_lock. */
void rec_meta_put(rec_file *f, const char *key, const char *value, size_t n);

/* ---- helper ---- */
void rec_helper_loaded(void); /* once, before all others */
/* Makes sure that it runs and listens when it should; false when there can be no thread. */
bool rec_helper_start(bool listens);
void rec_helper_wake(void);
void rec_helper_put_away(rec_file *f); /* at its next turn; rec_lock */
void rec_helper_put_all_away(void);    /* now; of the helper */
/* Waits a while when many stopped files are still open: for programs that start and stop all
 * the time. */
void rec_helper_catch_up(void);
void rec_helper_forked(void);
/* In a child made without fork handlers: making a thread takes locks of the C library, which a
 * thread that the child does not have may hold. Writers do without. */
void rec_helper_forgo(void);
void rec_helper_finish(void); /* at exit: what is to be put away, and the socket */

/* ---- control ---- */
int rec_control_open(void);             /* the listening socket, or -1 */
void rec_control_answer(int listening); /* one connection that waits */
void rec_control_tick(void);            /* ends what was asked for a time */
bool rec_control_is_waiting(void);      /* for the end of what was asked: call tick often */
void rec_control_remove(void);          /* the socket's name */
void rec_control_forked(void);

/* ---- Python ---- */
/* Asks the interpreter of this process, when there is one, to set tacho's hooks (`package` is
 * the folder that holds the package, `words` are those of TACHO_WITH) and to call `start` when
 * they are set. False: there is none. */
bool rec_python_ask(const char *package, const char *words, void (*start)(void));
/* Its main thread waits for something else: another thread shall do it. */
void rec_python_hurry(void);
bool rec_python_is_done(void); /* `start` has been called */
/* True: it had not begun and now never will. */
bool rec_python_cancel(void);
/* The hooks are taken away when the interpreter comes to it. */
void rec_python_release(void);
/* The package's hooks in this process do as tacho_is_sampled says, when the interpreter comes
 * to it. */
void rec_python_follow(void);
void rec_python_forked(void);

#endif
