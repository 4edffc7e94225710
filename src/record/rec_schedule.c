/* rec_schedule.c: when events are kept, and in which file.
 *
 *     start ─> [schedule: wait ─> warmup ─> active ─┐ repeat] ─> stop
 *                               prepare    activate └─> deactivate, on_ready
 *
 * Preparing makes the file and its room; activating makes it the current one and sets tacho_on
 * to its epoch, a number no file had before, so that a thread sees at once that its place
 * belongs to an older file. Deactivating clears tacho_on, waits (5 ms at most) until no thread
 * is in the middle of an event, writes the last clock and hands the file to the helper, who
 * unmaps it: that costs time in proportion to what was recorded, and the program shall not wait
 * for it.
 *
 * Pending means: the first event starts the recording. Programs run by `tacho record` and
 * children forked from a recording program are pending, so that those that never record leave
 * no file.
 *
 * A flight recorder writes under a name that ends in .tmp; a trigger or the end renames it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/rec_copy.h"
#include "record/rec_cost.h"
#include "record/rec_keep.h"
#include "record/rec_live.h"
#include "record/rec_metrics.h"
#include "record/rec_sample.h"
#include "record/rec_stack.h"
#include "record/rec_status.h"
#include "record/rec_trigger.h"

#define WAIT_FOR_WRITERS_NS 5000000
#define WINDOW_BYTES ((uint64_t)8 << 30)
#define FLIGHT_BYTES ((uint64_t)256 << 20)

uint32_t tacho_on;
rec_page rec_here;
uint32_t rec_flags, rec_memory_every, rec_awaits_batch;
REC_MUTEX(, rec_cycle_lock);
rec_settings rec_set; /* rec_cycle_lock, as everything below */

static uint32_t is_started; /* read without the lock by tacho_step */
static bool is_pending;
static rec_file *prepared; /* made, not yet current */
static uint32_t last_epoch;
static uint64_t step, n_files;
static char last_path[4096];
static char last_error[160];
static uint32_t wants_trial; /* a schedule has begun to record: its hooks can be tried */

/* No place has the epoch REC_PENDING. */
static void set_on(uint32_t on) {
    __atomic_store_n(&rec_here.epoch, on, __ATOMIC_RELEASE);
    __atomic_store_n(&tacho_on, on, __ATOMIC_RELEASE);
}

/* ---- the schedule ---- */

enum { STEP_RESTARTS = 2 }; /* argument of a mark: what came before is not a step */
typedef enum { STEP_OFF, STEP_WARMUP, STEP_ON, STEP_LAST } step_action;

static step_action action_of(const tacho_schedule *s, uint64_t n) {
    uint64_t circle = (uint64_t)s->wait + s->warmup + s->active;
    if (s->active == 0) return STEP_ON;
    if (n < s->skip_first) return STEP_OFF;
    n -= s->skip_first;
    if (s->repeat && n / circle >= s->repeat) return STEP_OFF;
    n %= circle;
    if (n < s->wait) return STEP_OFF;
    if (n < (uint64_t)s->wait + s->warmup) return STEP_WARMUP;
    return n == circle - 1 ? STEP_LAST : STEP_ON;
}

/* ---- names of files ---- */

static bool make_folder(const char *path) {
    char part[3072];
    size_t n = strlen(path);
    if (n >= sizeof part) return false;
    memcpy(part, path, n + 1);
    for (char *p = part + 1; *p; p++) {
        if (*p != '/') continue;
        *p = 0;
        (void)mkdir(part, 0777);
        *p = '/';
    }
    return mkdir(part, 0777) == 0 || errno == EEXIST;
}

static void worker_name(char *to, size_t size) {
    if (rec_set.worker[0])
        snprintf(to, size, "%s", rec_set.worker);
    else
        rec_rank_name(rec_set.path, to, size);
    for (char *p = to; *p; p++)
        if (*p == '/' || (unsigned char)*p < ' ') *p = '_';
}

/* A folder gets WORKER.STAMP.tacho; a file's name is taken as it is, later files of the same
 * process get a stamp. */
static void file_name(const char *worker, char *to, size_t size) {
    size_t n = strlen(rec_set.path);
    long long stamp = (long long)rec_clock_ns(CLOCK_REALTIME);
    if (rec_has_folder()) {
        (void)make_folder(rec_set.path);
        snprintf(to, size, "%s/%s.%lld.tacho", rec_set.path, worker, stamp);
    } else if (n_files == 0) {
        snprintf(to, size, "%s", rec_set.path);
        (void)unlink(to);
    } else {
        snprintf(to, size, "%.*s.%lld.tacho", (int)(n - 6), rec_set.path, stamp);
    }
}

/* The same path with another name of the worker; false when the name is not in it. */
static bool swap_worker(char *path, size_t size, const char *old, const char *new) {
    char tail[512], *slash = strrchr(path, '/'), *at = slash ? slash + 1 : path;
    size_t n = strlen(old);
    if (strncmp(at, old, n) != 0 || at[n] != '.') return false;
    snprintf(tail, sizeof tail, "%s", at + n);
    size_t before = (size_t)(at - path);
    return before + strlen(new) + strlen(tail) < size &&
           snprintf(at, size - before, "%s%s", new, tail) > 0;
}

/* ---- one file ---- */

static uint32_t flags_of(const tacho_options *o) {
    return (o->shapes ? TACHO_FILE_SHAPES : 0u) | (o->memory ? TACHO_FILE_MEMORY : 0u) |
           (o->stacks ? TACHO_FILE_STACKS : 0u) | (o->device ? TACHO_FILE_DEVICE : 0u) |
           (o->device & 2 ? TACHO_FILE_GRAPH_NODES : 0u) |
           (o->device & 4 ? TACHO_FILE_SYNC : 0u) |
           (o->flight_seconds > 0 ? TACHO_FILE_FLIGHT : 0u);
}

static void set_worker(rec_file *f, const char *worker) {
    snprintf(f->worker, sizeof f->worker, "%s", worker);
    memcpy(f->header->worker, f->worker, sizeof f->worker);
}

static void prepare_flight(rec_file *f) {
    double seconds = rec_set.o.flight_seconds + rec_trigger_late_seconds();
    f->closed = rec_pages(f->limit * sizeof *f->closed);
    f->flight_ticks = (uint64_t)((double)rec_clock_rate() * seconds);
    f->header->flight_ns = (uint64_t)(seconds * 1e9);
    f->header->flight_asked_ns = (uint64_t)(rec_set.o.flight_seconds * 1e9);
}

static bool rec_schedule_prepare(void) {
    char worker[256], final_path[4096 - 8], path[4096];
    bool flight = rec_set.o.flight_seconds > 0;
    uint64_t bytes = rec_set.o.ring_bytes;
    int why = 0;
    if (prepared) return true;
    if (!bytes) bytes = flight ? FLIGHT_BYTES : WINDOW_BYTES;
    if (bytes < (uint64_t)1 << 20) bytes = (uint64_t)1 << 20;
    worker_name(worker, sizeof worker);
    file_name(worker, final_path, sizeof final_path);
    snprintf(path, sizeof path, "%s%s", final_path, flight ? ".tmp" : "");
    if (flight) (void)unlink(path);
    prepared = rec_file_new(path, final_path, bytes, &why);
    last_error[0] = 0;
    if (!prepared) {
        snprintf(last_error, sizeof last_error, "%s", strerror(why));
        rec_status_failed(why);
        return false;
    }
    prepared->header->flags = prepared->flags = flags_of(&rec_set.o);
    prepared->header->memory_every = rec_set.o.memory_every;
    set_worker(prepared, worker);
    memcpy(prepared->header->run, rec_run, sizeof rec_run);
    if (flight) prepare_flight(prepared);
    n_files++;
    return true;
}

static void activate(void) {
    rec_file *f = prepared;
    prepared = NULL;
    do { /* 0 and REC_PENDING have a special meaning */
        last_epoch++;
    } while (last_epoch == 0 || last_epoch == REC_PENDING);
    f->epoch = last_epoch;
    bool before = rec_enter(&rec_lock);
    tacho_side_clock now = rec_clock_pair(), loaded = rec_clock_first();
    rec_side(f, TACHO_SIDE_CLOCK, &loaded, sizeof loaded, NULL, 0);
    rec_side(f, TACHO_SIDE_CLOCK, &now, sizeof now, NULL, 0);
    f->header->start_unix_ns = now.unix_ns;
    f->header->start_tick = now.tick;
    rec_cost_begin(f);
    rec_names_write(f);
    rec_meta_write(f);
    rec_sample_write(f);
    rec_current = f;
    __atomic_store_n(&rec_flags, f->flags, __ATOMIC_RELAXED);
    __atomic_store_n(&rec_memory_every, rec_set.o.memory_every, __ATOMIC_RELAXED);
    set_on(f->epoch);
    rec_leave(&rec_lock, before);
    snprintf(last_path, sizeof last_path, "%s", f->final_path);
    rec_status_began();
    rec_cupti_start();
    (void)rec_helper_start(rec_set.o.listen);
    rec_helper_wake();
}

/* What lies outside does not count; the reader leaves it out. */
static void cut_window(tacho_file_header *h, const rec_window *w) {
    double ns_per_tick = 1e9 / (double)rec_clock_rate();
    uint64_t kept = (uint64_t)(rec_set.o.flight_seconds * (double)rec_clock_rate());
    uint64_t to = w->to_tick ? w->to_tick : h->stop_tick, from = w->from_tick;
    if (!from) from = to > kept ? to - kept : 0;
    if (from < h->start_tick) from = h->start_tick;
    if (to <= from || to > h->stop_tick) to = h->stop_tick;
    h->start_unix_ns += (int64_t)((double)(from - h->start_tick) * ns_per_tick);
    h->stop_unix_ns -= (int64_t)((double)(h->stop_tick - to) * ns_per_tick);
    h->start_tick = from;
    h->stop_tick = to;
    h->flags |= TACHO_FILE_WINDOW;
}

static void write_trigger(rec_file *f, const char *why, const rec_window *w) {
    char text[96];
    rec_side(f, TACHO_SIDE_NOTE, "", 0, why, strlen(why));
    if (!w) return;
    int n = snprintf(text, sizeof text, "{\"rule\":\"%.15s\",\"rank\":%lld}", w->rule,
                     (long long)w->rank);
    rec_meta_put(f, "trigger", text, (size_t)n);
}

/* Ends the current file; false when there is none. */
static bool deactivate(const rec_window *window) {
    rec_file *f = rec_current;
    int64_t from = rec_clock_ns(CLOCK_MONOTONIC);
    if (!f) return false;
    rec_stack_stop();
    if (__atomic_load_n(&rec_flags, __ATOMIC_RELAXED) & TACHO_FILE_DEVICE) rec_cupti_stop();
    set_on(0);
    (void)rec_quiet(f->epoch, WAIT_FOR_WRITERS_NS);
    bool before = rec_enter(&rec_lock);
    rec_threads_rename(f);
    rec_count_inside(f);
    tacho_side_clock now = rec_clock_pair();
    rec_side(f, TACHO_SIDE_CLOCK, &now, sizeof now, NULL, 0);
    f->header->stop_unix_ns = now.unix_ns;
    f->header->stop_tick = now.tick;
    if (window) cut_window(f->header, window);
    rec_cost_put(f, TACHO_COST_STOP, rec_clock_ns(CLOCK_MONOTONIC) - from, 1);
    __atomic_store_n(&f->header->state, TACHO_FILE_STOPPED, __ATOMIC_RELEASE);
    rec_current = NULL;
    if (strcmp(f->path, f->final_path) != 0) (void)rename(f->path, f->final_path);
    rec_helper_put_away(f);
    rec_leave(&rec_lock, before);
    return true;
}

static void rename_file(rec_file *f) {
    char worker[256], path[sizeof f->path], final_path[sizeof f->final_path];
    const char *old = f->worker;
    worker_name(worker, sizeof worker);
    memcpy(path, f->path, sizeof path);
    memcpy(final_path, f->final_path, sizeof final_path);
    if (strcmp(worker, old) == 0 || !swap_worker(path, sizeof path, old, worker) ||
        !swap_worker(final_path, sizeof final_path, old, worker) || rename(f->path, path) != 0)
        return;
    memcpy(f->path, path, sizeof path);
    memcpy(f->final_path, final_path, sizeof final_path);
    snprintf(last_path, sizeof last_path, "%s", final_path);
    set_worker(f, worker);
}

void rec_cycle_rename(void) {
    bool before = rec_enter(&rec_cycle_lock), inner = rec_enter(&rec_lock);
    if (rec_current) rename_file(rec_current);
    rec_leave(&rec_lock, inner);
    rec_leave(&rec_cycle_lock, before);
}

static void drop_prepared(void) {
    if (!prepared) return;
    (void)unlink(prepared->path);
    rec_file_free(prepared, false);
    prepared = NULL;
}

/* ---- steps ---- */

/* A mark in this thread's stream. The caller holds rec_cycle_lock and so is marked as being
 * inside; recording is on and rec_lock is free, so it may pass. */
static uint64_t mark_step(int64_t number, uint32_t argument, int64_t sampling) {
    bool before = rec_self.in_slow;
    uint64_t tick = 0;
    rec_self.in_slow = false;
    tacho_slot *s = rec_open(2);
    if (s) {
        tacho_step_slot slot = {.number = number, .sampling = sampling};
        memcpy(s + 1, &slot, sizeof slot);
        tick = rec_tick();
        rec_close(s, tick, 0, rec_what(TACHO_EVENT_STEP, 1, argument));
    }
    rec_self.in_slow = before;
    return tick ? tick : rec_tick();
}

/* Whether the step that begins is sampled; `first`: in its file. */
static int64_t begin_sample(bool first) {
    double window = rec_set.o.flight_seconds > 0 ? rec_set.o.flight_seconds : 0;
    return rec_sample_begin(step, first, (uint64_t)((double)rec_clock_rate() * window));
}

/* Who joins a program in the middle sees its first step from the next mark on. */
static bool begin_now(void) {
    int64_t from = rec_clock_ns(CLOCK_MONOTONIC);
    if (!rec_schedule_prepare()) return false;
    activate();
    rec_cost_add(TACHO_COST_START, rec_clock_ns(CLOCK_MONOTONIC) - from, 1);
    if (rec_set.from_outside && rec_set.o.schedule.active) wants_trial = 1;
    int64_t sampling = begin_sample(true);
    if (!rec_set.joins) (void)mark_step((int64_t)step, 0, sampling);
    bool from_the_start = rec_set.from_outside && !rec_set.joins && step == 0 && n_files == 1;
    __atomic_store_n(&rec_awaits_batch, from_the_start, __ATOMIC_RELAXED);
    return true;
}

/* What the schedule wants at this step; nothing is recording. */
static bool follow_schedule(void) {
    switch (action_of(&rec_set.o.schedule, step)) {
    case STEP_OFF: return true;
    case STEP_WARMUP: return rec_schedule_prepare();
    default: return begin_now();
    }
}

static void call_back(bool ready, const rec_settings *set, const char *path) {
    if (ready && set->o.on_ready) set->o.on_ready(path, set->o.context);
}

static __attribute__((noinline)) void end_step(void) {
    if (__atomic_load_n(&tacho_on, __ATOMIC_RELAXED) == REC_PENDING) rec_start_pending();
    bool ready = false, before = rec_enter(&rec_cycle_lock);
    __atomic_store_n(&rec_awaits_batch, 0, __ATOMIC_RELAXED);
    if (is_started) {
        step_action now = action_of(&rec_set.o.schedule, step);
        bool was_sampled = rec_sample_now() == TACHO_STEP_SAMPLED;
        uint64_t tick = 0;
        step++;
        if (rec_current) {
            __atomic_fetch_add(&rec_current->header->n_steps, 1, __ATOMIC_RELAXED);
            tick = mark_step((int64_t)step, now == STEP_LAST, begin_sample(false));
        }
        rec_live_step(step, tick, was_sampled ? REC_STEP_SAMPLED : REC_STEP_ENDED);
        if (rec_current && now == STEP_LAST) ready = deactivate(NULL);
        if (!rec_current) (void)follow_schedule();
    }
    rec_settings set = rec_set;
    char path[sizeof last_path];
    memcpy(path, last_path, sizeof path);
    bool is_new = wants_trial;
    wants_trial = 0;
    rec_leave(&rec_cycle_lock, before);
    rec_sample_follow();
    if (is_new) rec_python_follow();
    call_back(ready, &set, path);
}

void tacho_step(void) {
    if (!__atomic_load_n(&is_started, __ATOMIC_RELAXED) || rec_self.in_slow) return;
    if (!rec_is_on_small_stack() && !rec_self.trial_at) end_step();
}

void tacho_begin_steps(void) {
    if (!__atomic_load_n(&is_started, __ATOMIC_RELAXED) || rec_self.in_slow) return;
    if (rec_is_on_small_stack()) return;
    if (__atomic_load_n(&tacho_on, __ATOMIC_RELAXED) == REC_PENDING) rec_start_pending();
    bool before = rec_enter(&rec_cycle_lock);
    if (rec_current) {
        rec_sample_restart();
        rec_live_step(step, mark_step((int64_t)step, STEP_RESTARTS, rec_sample_now()),
                      REC_STEP_BEGINS);
    }
    rec_leave(&rec_cycle_lock, before);
}

void rec_first_batch(void) {
    uint32_t waits = 1;
    if (rec_self.trial_at) return; /* a hook is tried, the program has not begun */
    if (__atomic_compare_exchange_n(&rec_awaits_batch, &waits, 0, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED))
        tacho_begin_steps();
}

/* ---- start and stop ---- */

static void keep_settings(const tacho_options *o, bool from_outside) {
    rec_set = (rec_settings){.from_outside = from_outside};
    if (o) memcpy(&rec_set.o, o, o->size < sizeof *o ? o->size : sizeof *o);
    const char *path = rec_set.o.path && *rec_set.o.path ? rec_set.o.path : "tacho_runs";
    snprintf(rec_set.path, sizeof rec_set.path, "%s", path);
    if (rec_set.o.worker)
        snprintf(rec_set.worker, sizeof rec_set.worker, "%s", rec_set.o.worker);
    rec_live_begin();
    rec_metrics_want(rec_set.o.metrics);
    rec_trigger_arm(rec_set.o.trigger);
    rec_sample_set(rec_set.o.sample_every);
    rec_set.o.path = rec_set.o.worker = NULL; /* the program's, not ours */
    rec_set.o.trigger = rec_set.o.metrics = NULL;
    step = rec_set.o.first_step;
    n_files = 0;
}

int rec_start(const tacho_options *o, bool from_outside) {
    if (rec_self.in_slow) return TACHO_BUSY;
    int result = TACHO_OK;
    rec_clock_init();
    rec_helper_catch_up();
    bool before = rec_enter(&rec_cycle_lock);
    if (is_started) {
        result = TACHO_BUSY;
    } else {
        keep_settings(o, from_outside);
        rec_set.joins = from_outside;
        if (!follow_schedule()) result = TACHO_FAILED;
        __atomic_store_n(&is_started, result == TACHO_OK, __ATOMIC_RELAXED);
    }
    rec_leave(&rec_cycle_lock, before);
    rec_sample_follow();
    return result;
}

int rec_stop(bool from_outside, char *path, size_t size) {
    if (rec_self.in_slow) return TACHO_OFF;
    bool ready = false, before = rec_enter(&rec_cycle_lock);
    int result = is_started && (from_outside || !rec_set.from_outside) ? TACHO_OK : TACHO_OFF;
    if (result == TACHO_OK) {
        if (is_pending) set_on(0);
        is_pending = false;
        __atomic_store_n(&is_started, 0, __ATOMIC_RELAXED);
        ready = deactivate(NULL);
        drop_prepared();
    }
    rec_settings set = rec_set;
    char last[sizeof last_path];
    memcpy(last, last_path, sizeof last);
    rec_leave(&rec_cycle_lock, before);
    if (result == TACHO_OK) rec_live_end();
    if (path) snprintf(path, size, "%s", last);
    call_back(ready, &set, last);
    return result;
}

int tacho_start(const tacho_options *o) {
    return rec_start(o, false);
}

int tacho_stop(void) {
    return rec_stop(false, NULL, 0);
}

int tacho_finish(void) {
    return rec_stop(true, NULL, 0);
}

/* ---- evidence ---- */

/* The copy gets the name of the file, which ends earlier, and the file a new one: names are in
 * the order of time. */
static bool swap_names(rec_file *f, char *final_path, size_t size) {
    char new_final[sizeof f->final_path - 8], new_path[sizeof f->path];
    file_name(f->worker, new_final, sizeof new_final);
    snprintf(new_path, sizeof new_path, "%s.tmp", new_final);
    if (rename(f->path, new_path) != 0) return false;
    snprintf(final_path, size, "%.4080s", f->final_path);
    memcpy(f->path, new_path, sizeof f->path);
    snprintf(f->final_path, sizeof f->final_path, "%s", new_final);
    snprintf(last_path, sizeof last_path, "%s", new_final);
    n_files++;
    return true;
}

/* The file that is copied, pinned, and the name of the copy; NULL: there is none. */
static rec_file *begin_copy(char *final_path, size_t size, rec_settings *set) {
    bool before = rec_enter(&rec_cycle_lock), inner = rec_enter(&rec_lock);
    rec_file *f = rec_set.o.flight_seconds > 0 ? rec_current : NULL;
    if (f && !swap_names(f, final_path, size)) f = NULL;
    if (f) f->n_pins++;
    *set = rec_set;
    rec_leave(&rec_lock, inner);
    rec_leave(&rec_cycle_lock, before);
    return f;
}

static void end_copy(rec_file *from) {
    bool before = rec_enter(&rec_lock);
    from->n_pins--;
    rec_leave(&rec_lock, before);
}

/* Evidence without an end of the file that is written. */
static bool copy_evidence(const char *why, const rec_window *window, char *dump, size_t size) {
    char final_path[4096 - 8], path[4096];
    rec_settings set;
    int code = 0;
    if (__atomic_load_n(&rec_flags, __ATOMIC_RELAXED) & TACHO_FILE_DEVICE) rec_cupti_flush();
    rec_file *from = begin_copy(final_path, sizeof final_path, &set);
    if (!from) return false;
    snprintf(path, sizeof path, "%s.tmp", final_path);
    tacho_side_clock now = rec_clock_pair();
    rec_file *f = rec_copy(from, path, final_path, &code);
    end_copy(from);
    if (!f) return false;
    rec_side(f, TACHO_SIDE_CLOCK, &now, sizeof now, NULL, 0);
    write_trigger(f, why, window);
    f->header->stop_unix_ns = now.unix_ns;
    f->header->stop_tick = now.tick;
    cut_window(f->header, window ? window : &(rec_window){.rank = -1});
    __atomic_store_n(&f->header->state, TACHO_FILE_STOPPED, __ATOMIC_RELEASE);
    (void)rename(f->path, f->final_path);
    rec_file_free(f, true);
    if (dump) snprintf(dump, size, "%s", final_path);
    call_back(true, &set, final_path);
    return true;
}

int rec_dump(const char *why, const rec_window *window, char *dump, size_t size) {
    if (rec_self.in_slow) return TACHO_OFF;
    if (rec_is_held() && copy_evidence(why ? why : "", window, dump, size)) return TACHO_OK;
    bool ready = false, before = rec_enter(&rec_cycle_lock);
    if (rec_current && rec_set.o.flight_seconds > 0) {
        bool inner = rec_enter(&rec_lock);
        write_trigger(rec_current, why ? why : "", window);
        rec_leave(&rec_lock, inner);
        ready = deactivate(window);
    }
    char path[sizeof last_path];
    memcpy(path, last_path, sizeof path);
    if (ready) (void)begin_now();
    rec_settings set = rec_set;
    rec_leave(&rec_cycle_lock, before);
    if (dump) snprintf(dump, size, "%s", path);
    rec_sample_follow();
    call_back(ready, &set, path);
    return ready ? TACHO_OK : TACHO_OFF;
}

/* What is lost cannot be counted any more: each chunk that was in use counts as one event. */
void rec_cycle_replace(const rec_file *cut) {
    char text[sizeof cut->path + 128];
    bool again = false, before = rec_enter(&rec_cycle_lock);
    if (rec_current == cut) {
        uint64_t n_chunks = cut->n_chunks;
        snprintf(text, sizeof text,
                 "%.4000s was made shorter while it was being written: what it held is lost",
                 cut->final_path);
        (void)deactivate(NULL);
        again = begin_now();
        if (again)
            __atomic_fetch_add(&rec_current->header->lost[TACHO_LOST_FULL], n_chunks,
                               __ATOMIC_RELAXED);
    }
    rec_leave(&rec_cycle_lock, before);
    if (again) tacho_note(text);
}

void tacho_note(const char *text) {
    if (!text || rec_self.in_slow) return;
    bool before = rec_enter(&rec_lock);
    if (rec_current) rec_side(rec_current, TACHO_SIDE_NOTE, "", 0, text, strlen(text));
    rec_leave(&rec_lock, before);
}

void rec_set_pending(const tacho_options *o) {
    bool before = rec_enter(&rec_cycle_lock);
    if (!is_started) {
        keep_settings(o, true);
        is_pending = true;
        __atomic_store_n(&is_started, 1, __ATOMIC_RELAXED);
        set_on(REC_PENDING);
    }
    rec_leave(&rec_cycle_lock, before);
}

void rec_start_pending(void) {
    if (rec_is_on_small_stack()) return; /* a later event does it */
    bool before = rec_enter(&rec_cycle_lock);
    if (is_pending) { /* other threads that have events wait here until it has begun */
        if (!follow_schedule()) __atomic_store_n(&is_started, 0, __ATOMIC_RELAXED);
        if (!rec_current) set_on(0);
        is_pending = false; /* last: a child of _Fork made meanwhile is to record, too */
    }
    rec_leave(&rec_cycle_lock, before);
    rec_sample_follow();
}

void rec_cycle_forked(void) {
    bool was_on = is_started && (rec_current || prepared || is_pending);
    if (rec_current)
        rec_own_close(&rec_current->own); /* its map is not ours: the parent kept it back */
    if (prepared) rec_own_close(&prepared->own);
    rec_current = prepared = NULL;
    step = 0;
    n_files = 1; /* a file's name belongs to the parent: ours gets a stamp */
    is_pending = was_on && rec_set.o.follow_children;
    rec_set.worker[0] = 0;
    rec_set.o.on_ready = NULL;
    __atomic_store_n(&is_started, is_pending, __ATOMIC_RELAXED);
    set_on(is_pending ? REC_PENDING : 0);
}

/* ---- small answers ---- */

int tacho_is_recording(void) {
    uint32_t on = __atomic_load_n(&tacho_on, __ATOMIC_RELAXED);
    return on != 0 && on != REC_PENDING;
}

int tacho_takes_event(void) {
    rec_look_for_fork();
    bool waits = __atomic_load_n(&tacho_on, __ATOMIC_RELAXED) == REC_PENDING;
    if (REC_UNLIKELY(waits) && !rec_self.in_slow) rec_start_pending();
    return tacho_is_recording();
}

size_t tacho_path(char *to, size_t size) {
    bool before = rec_enter(&rec_cycle_lock);
    int n = snprintf(to, size, "%s", last_path);
    rec_leave(&rec_cycle_lock, before);
    return n > 0 ? (size_t)n : 0;
}

rec_state rec_cycle_state(char *path, size_t size) {
    rec_state state = REC_IDLE;
    bool before = rec_enter(&rec_cycle_lock), inner = rec_enter(&rec_lock);
    snprintf(path, size, "%s", rec_current ? rec_current->path : "-");
    if (rec_current)
        state = rec_set.o.flight_seconds > 0 ? REC_IN_FLIGHT : REC_RECORDING;
    else if (is_started)
        state = is_pending ? REC_STARTS_LATER : REC_BETWEEN;
    rec_leave(&rec_lock, inner);
    rec_leave(&rec_cycle_lock, before);
    return state;
}

const char *tacho_error(void) {
    return last_error;
}

const char *tacho_version(void) {
    return TACHO_VERSION;
}

void rec_count_lost(int which, uint64_t n) {
    if (rec_self.in_slow) return;
    bool before = rec_enter(&rec_lock);
    if (rec_current) __atomic_fetch_add(&rec_current->header->lost[which], n, __ATOMIC_RELAXED);
    rec_leave(&rec_lock, before);
}
