/* rec_sample.c: operators, modules and stacks of one step in N; the device's work of all.
 *
 *     tacho_step ─> begin: is the next one sampled? ─> its mark says so ─> hooks in or out
 *                      ^ asked
 *     records of the device ─> sums of work by step ─> judge: a step unlike all sampled ones
 *
 * Sampled are the first steps of a file, since a program's very first step is unlike its
 * others, then those whose number N divides, so that all ranks sample the same ones. In steps
 * between them no hook is in place: one that returns at once would still cost PyTorch the way
 * to it. The reader gives their device work the operators of a sampled step with the same
 * launches (store/seal_infer.c).
 *
 * A program that marks no steps, as one that only infers, or that has none for a long time, is
 * sampled by time instead: windows of half a second, one in N, begun and ended by the helper.
 *
 * A step that did work no sampled step did asks for one more sample. What a step did is a sum
 * over its kernels and copies, whatever their order: records of several streams come as they
 * like. Which step they belong to follows from the number of the call that launched them, so
 * the first call after each mark is remembered. This is known seconds later, when CUPTI has
 * handed over its records; steps that never repeat may not ask more often than N itself
 * does. */
#include "record/rec_sample.h"

#include <stdio.h>

#include "record/rec_torch_int.h"

enum {
    FIRST_STEPS = 3,
    MOST_ASKED = 8,     /* samples in a row that were asked for */
    N_STEPS = 4096,     /* steps whose records are not all here */
    N_WAITING = 1 << 16 /* work whose step is not known yet */
};
enum { N_KNOWN = 256, NEVER = 0 };
#define SETTLE_NS 3000000000 /* three times as long as CUPTI is left alone */
#define WINDOW_NS 500000000
#define WITHOUT_STEP_NS 3000000000 /* then windows begin, or after four times the last step */

/* ---- which steps ------------------------------------------------------------------------- */

static uint32_t every;       /* rec_cycle_lock; read without it */
static uint32_t is_left_out; /* the step that runs; read by all */
static uint32_t is_asked;    /* by the helper */
static uint32_t n_in_file, n_to_ask;
static uint64_t last_tick;            /* of a sampled step */
static int64_t last_step_ns, long_ns; /* when the last one began; how long is long */
static int64_t window_end_ns;         /* 0: steps are sampled, not windows */
static bool is_followed; /* hooks are as is_left_out says: of the thread that marks steps */

bool rec_sample_is_used(void) {
    return __atomic_load_n(&every, __ATOMIC_RELAXED) > 1;
}

int tacho_is_sampled(void) {
    return tacho_takes_event() && !__atomic_load_n(&is_left_out, __ATOMIC_RELAXED);
}

static void forget_work(void);

void rec_sample_set(uint32_t n) {
    __atomic_store_n(&every, n, __ATOMIC_RELAXED);
    __atomic_store_n(&is_left_out, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&is_asked, 0, __ATOMIC_RELAXED);
    n_to_ask = MOST_ASKED;
    last_tick = NEVER;
    last_step_ns = window_end_ns = 0;
    long_ns = WITHOUT_STEP_NS;
    __atomic_store_n(&is_followed, false, __ATOMIC_RELAXED);
    forget_work();
}

void rec_sample_write(rec_file *f) {
    char text[16];
    if (!rec_sample_is_used()) return;
    int n = snprintf(text, sizeof text, "%u", every);
    rec_meta_put(f, "sample_every", text, (size_t)n);
}

/* A flight recorder's window shall have at least one. */
static bool is_due(uint64_t step, uint64_t now, uint64_t flight_ticks) {
    if (n_in_file < FIRST_STEPS || step % every == 0) return true;
    return flight_ticks && now - last_tick > flight_ticks / 2;
}

static void begin_work(bool is_sampled, bool was_asked);

/* Steps are marked: time does not count until there was none for long. */
static void note_step(bool first) {
    int64_t now = rec_clock_ns(CLOCK_MONOTONIC), took = now - last_step_ns;
    long_ns = first || !last_step_ns || took < WITHOUT_STEP_NS / 4 ? WITHOUT_STEP_NS : 4 * took;
    last_step_ns = now;
    window_end_ns = 0;
}

static void leave_out(uint32_t yes) {
    if (yes != __atomic_exchange_n(&is_left_out, yes, __ATOMIC_RELAXED))
        __atomic_store_n(&is_followed, false, __ATOMIC_RELAXED);
}

int64_t rec_sample_begin(uint64_t step, bool first, uint64_t flight_ticks) {
    if (!rec_sample_is_used()) return TACHO_STEP_WHOLE;
    uint64_t now = rec_tick();
    if (first) n_in_file = 0;
    if (step % every == 0 && n_to_ask < MOST_ASKED) n_to_ask++;
    bool is_sampled = is_due(step, now, flight_ticks), was_asked = false;
    if (!is_sampled && n_to_ask && __atomic_exchange_n(&is_asked, 0, __ATOMIC_RELAXED)) {
        is_sampled = was_asked = true;
        n_to_ask--;
    }
    if (is_sampled) last_tick = now;
    n_in_file += n_in_file < FIRST_STEPS;
    leave_out(!is_sampled);
    note_step(first);
    begin_work(is_sampled, was_asked);
    return rec_sample_now();
}

int64_t rec_sample_now(void) {
    if (!rec_sample_is_used()) return TACHO_STEP_WHOLE;
    return __atomic_load_n(&is_left_out, __ATOMIC_RELAXED) ? TACHO_STEP_LEFT_OUT
                                                           : TACHO_STEP_SAMPLED;
}

void rec_sample_follow(void) {
    static uint32_t was_used; /* hooks of Python may be out because of an earlier recording */
    if (__atomic_exchange_n(&is_followed, true, __ATOMIC_RELAXED)) return;
    if (!rec_torch_sample(!__atomic_load_n(&is_left_out, __ATOMIC_RELAXED)))
        __atomic_store_n(&is_followed, false, __ATOMIC_RELAXED); /* at the next step */
    if (rec_sample_is_used()) __atomic_store_n(&was_used, 1, __ATOMIC_RELAXED);
    if (__atomic_load_n(&was_used, __ATOMIC_RELAXED)) rec_python_follow();
}

static void mix_work(void);

/* The next window; the caller holds rec_cycle_lock and is marked as being inside, but may
 * write. */
static void change_window(int64_t now) {
    uint32_t left_out = !__atomic_load_n(&is_left_out, __ATOMIC_RELAXED);
    if (window_end_ns == 0) left_out = 1;
    window_end_ns = now + (left_out ? (every - 1) * (int64_t)WINDOW_NS : WINDOW_NS);
    leave_out(left_out);
    mix_work();
    tacho_step_slot slot = {.sampling = rec_sample_now()};
    bool before = rec_self.in_slow;
    rec_self.in_slow = false;
    rec_put(0, rec_what(TACHO_EVENT_SAMPLING, 0, 0), &slot, sizeof slot);
    rec_self.in_slow = before;
}

void rec_sample_tick(int64_t now) {
    if (!rec_sample_is_used() || __atomic_load_n(&rec_awaits_batch, __ATOMIC_RELAXED)) return;
    if (!rec_mutex_try(&rec_cycle_lock)) return; /* a step is being marked */
    rec_self.in_slow = true;
    if (tacho_is_recording() && now - last_step_ns > long_ns && now >= window_end_ns)
        change_window(now);
    rec_leave(&rec_cycle_lock, false);
    rec_sample_follow();
}

void rec_sample_restart(void) {
    if (rec_sample_is_used()) note_step(true);
}

/* ---- what they did ----------------------------------------------------------------------- */

typedef struct {
    int64_t unix_ns;     /* when it began */
    uint64_t first_call; /* UINT64_MAX: not known */
    uint64_t sum;
    uint32_t n;
    bool is_sampled, was_asked;
    bool is_mixed; /* a part of it was sampled */
} step_work;

typedef struct {
    uint64_t call, key;
} waiting_work;

REC_MUTEX(static, work_lock); /* guards all below */
static step_work steps[N_STEPS];
static uint64_t n_begun, n_judged; /* steps, by their order; at % N_STEPS */
static uint64_t at_call, at_work;  /* where the last one was found: the next is near */
static waiting_work waiting[N_WAITING];
static uint32_t n_waiting;
static uint64_t known[N_KNOWN]; /* sums of sampled steps; of as many as there were */
static uint64_t n_known;
static bool is_awaited; /* a sample that was asked for has not been judged */
static uint64_t newest_call =
    UINT64_MAX; /* first call of the newest step; read without the lock */

static void forget_work(void) {
    rec_mutex_lock(&work_lock);
    n_begun = n_judged = at_call = at_work = n_known = 0;
    n_waiting = 0;
    is_awaited = false;
    pthread_mutex_unlock(&work_lock);
}

static step_work *rec_sample_step_at(uint64_t i) {
    return &steps[i % N_STEPS];
}

static void begin_work(bool is_sampled, bool was_asked) {
    rec_mutex_lock(&work_lock);
    *rec_sample_step_at(n_begun) = (step_work){.unix_ns = rec_clock_ns(CLOCK_REALTIME),
                                               .first_call = UINT64_MAX,
                                               .is_sampled = is_sampled,
                                               .was_asked = was_asked};
    n_begun++;
    __atomic_store_n(&newest_call, UINT64_MAX, __ATOMIC_RELAXED);
    if (n_begun - n_judged > N_STEPS) n_judged = n_begun - N_STEPS; /* too short to be judged */
    pthread_mutex_unlock(&work_lock);
}

static void mix_work(void) {
    rec_mutex_lock(&work_lock);
    if (n_begun) rec_sample_step_at(n_begun - 1)->is_mixed = true;
    pthread_mutex_unlock(&work_lock);
}

/* On a thread of the program, for each launch: nearly all are later than the first of their
 * step, and none waits for the helper. While it is busy, the next call counts as the first. */
void rec_sample_call(uint64_t correlation, int64_t start_unix_ns) {
    if (!rec_sample_is_used() ||
        correlation >= __atomic_load_n(&newest_call, __ATOMIC_RELAXED) ||
        !rec_mutex_try(&work_lock))
        return;
    if (at_call < n_judged) at_call = n_judged;
    while (at_call + 1 < n_begun && rec_sample_step_at(at_call + 1)->unix_ns <= start_unix_ns)
        at_call++;
    while (at_call > n_judged && rec_sample_step_at(at_call)->unix_ns > start_unix_ns)
        at_call--;
    step_work *s = rec_sample_step_at(at_call);
    if (at_call < n_begun && s->unix_ns <= start_unix_ns && correlation < s->first_call)
        s->first_call = correlation;
    if (n_begun)
        __atomic_store_n(&newest_call, rec_sample_step_at(n_begun - 1)->first_call,
                         __ATOMIC_RELAXED);
    pthread_mutex_unlock(&work_lock);
}

static uint64_t mixed(uint64_t h, uint64_t v) {
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

void rec_sample_work(uint32_t name, uint32_t kind, const tacho_gpu_slots *w) {
    if (!rec_sample_is_used() || kind == TACHO_RANGE_SYNC) return;
    uint64_t key =
        mixed(mixed(kind, name), (uint64_t)(uint32_t)w->stream << 32 | (uint32_t)w->device);
    for (int i = 0; i < 3; i++) key = mixed(key, (uint64_t)w->grid[i] << 32 | w->block[i]);
    key = mixed(key, (uint64_t)w->bytes);
    rec_mutex_lock(&work_lock);
    if (n_waiting < N_WAITING) waiting[n_waiting++] = (waiting_work){w->correlation, key};
    pthread_mutex_unlock(&work_lock);
}

/* The step whose calls this one is among; false while a later one may turn out to be. */
static bool rec_sample_find_step(uint64_t call, uint64_t *found) {
    uint64_t i = at_work < n_judged ? n_judged : at_work, next = i;
    while (i > n_judged && (rec_sample_step_at(i)->first_call == UINT64_MAX ||
                            rec_sample_step_at(i)->first_call > call))
        i--;
    for (next = i + 1; next < n_begun; next++) {
        uint64_t first = rec_sample_step_at(next)->first_call;
        if (first == UINT64_MAX) continue; /* no call, or not here yet */
        if (first > call) break;
        i = next;
    }
    *found = at_work = i;
    return next < n_begun;
}

static void add_waiting(void) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n_waiting && n_begun; i++) {
        uint64_t found;
        if (!rec_sample_find_step(waiting[i].call, &found)) {
            waiting[kept++] = waiting[i];
        } else if (rec_sample_step_at(found)->first_call <= waiting[i].call) {
            rec_sample_step_at(found)->sum += waiting[i].key;
            rec_sample_step_at(found)->n++;
        } /* else it was launched before the oldest step that counts */
    }
    n_waiting = kept == N_WAITING ? 0 : kept; /* full: sums would be wrong, so none is made */
}

static bool is_known(uint64_t sum) {
    uint64_t n = n_known < N_KNOWN ? n_known : N_KNOWN;
    for (uint64_t i = 0; i < n; i++)
        if (known[i] == sum) return true;
    return false;
}

static void judge_step(const step_work *s) {
    if (s->was_asked) is_awaited = false;
    if (s->n == 0 || s->is_mixed || is_known(s->sum)) return;
    if (s->is_sampled) {
        known[n_known++ % N_KNOWN] = s->sum;
    } else if (!is_awaited && n_known) {
        is_awaited = true;
        __atomic_store_n(&is_asked, 1, __ATOMIC_RELAXED);
    }
}

void rec_sample_judge(int64_t now_unix_ns) {
    if (!rec_sample_is_used()) return;
    rec_mutex_lock(&work_lock);
    add_waiting();
    for (; n_judged + 1 < n_begun; n_judged++) {
        if (now_unix_ns - rec_sample_step_at(n_judged + 1)->unix_ns < SETTLE_NS) break;
        judge_step(rec_sample_step_at(n_judged));
    }
    pthread_mutex_unlock(&work_lock);
}

void rec_sample_forked(void) {
    forget_work();
    is_followed = false;
}
