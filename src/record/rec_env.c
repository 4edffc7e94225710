/* rec_env.c: being loaded, taking commands from outside, forking and ending.
 *
 * `tacho record` loads this library into the programs it runs and says in the environment what
 * it wants; the recording begins with the first event, so that shells and launchers leave no
 * file.
 *
 *     TACHO_RECORD=FOLDER  TACHO_STEPS=A..B  TACHO_WITH=shapes,memory,stacks,device,nodes,sync
 *     TACHO_FLIGHT=SECONDS  TACHO_RING=BYTES  TACHO_LISTEN=1  TACHO_TRIGGER=RULE,…
 *     TACHO_METRICS=FOLDER or PORT  TACHO_SAMPLE=N  TACHO_RUN=NAME  TACHO_STATUS=PATH
 *     TACHO_LINES=0  TACHO_SOURCE=0
 *
 * A fork locks both locks, so that the child gets consistent state, and gives the child nothing
 * of the parent's: no map, no helper, no socket. A child made by _Fork or clone, which call no
 * handler, finds an empty page (rec_here) at its first event or lock, and does the same. An
 * exit stops the recording. _exit, exec and signals need nothing: the file is whole at any
 * moment. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "record/rec_copy.h"
#include "record/rec_cost.h"
#include "record/rec_live.h"
#include "record/rec_sample.h"
#include "record/rec_stack.h"
#include "record/rec_status.h"
#include "record/rec_trigger.h"

/* A signal handler may fork while its own thread holds the locks: it would wait for itself. The
 * child makes everything new in any case. */
static void before_fork(void) {
    if (rec_self.n_locks) return;
    pthread_mutex_lock(&rec_cycle_lock);
    pthread_mutex_lock(&rec_lock);
}

static void after_fork_in_parent(void) {
    if (rec_self.n_locks) return;
    pthread_mutex_unlock(&rec_lock);
    pthread_mutex_unlock(&rec_cycle_lock);
}

static bool is_loaded;

/* Values of rec_here.is_same_process: a child finds `NOBODY`, and one of its threads prepares
 it.
 */
enum { NOBODY, DONE, SOMEBODY };

static void after_fork_in_child(void) {
    /* What is called here takes locks, which must not begin this once more. */
    __atomic_store_n(&rec_here.is_same_process, SOMEBODY, __ATOMIC_RELAXED);
    rec_mutexes_renew();
    rec_guard_forked();
    rec_threads_forget();
    rec_helper_forked();
    rec_cupti_forked();
    rec_rank_forked();
    rec_python_forked();
    rec_stack_forked();
    rec_sample_forked();
    rec_cycle_forked();
    rec_hold_forked();
    rec_cost_forked();
    rec_live_forked();
    rec_trigger_forked();
    __atomic_store_n(&rec_here.is_same_process, DONE, __ATOMIC_RELEASE);
}

/* Should the child have made threads before it records, one of them does it. */
void rec_forked(void) {
    uint32_t who = NOBODY;
    if (!is_loaded) return;
    if (__atomic_compare_exchange_n(&rec_here.is_same_process, &who, SOMEBODY, false,
                                    __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
        rec_helper_forgo();
        after_fork_in_child();
    }
    while (__atomic_load_n(&rec_here.is_same_process, __ATOMIC_ACQUIRE) != DONE) sched_yield();
}

/* A..B or A: steps A to B, both recorded. */
static tacho_schedule parse_steps(const char *text) {
    char *end;
    unsigned long first = strtoul(text, &end, 10), last = first;
    if (end[0] == '.' && end[1] == '.') last = strtoul(end + 2, NULL, 10);
    if (last < first) last = first;
    return (tacho_schedule){.warmup = first > 0,
                            .skip_first = (uint32_t)(first > 0 ? first - 1 : 0),
                            .active = (uint32_t)(last - first + 1),
                            .repeat = 1};
}

static bool has_word(const char *list, const char *word) {
    size_t n = strlen(word);
    for (const char *p = list; p && (p = strstr(p, word)) != NULL; p += n)
        if ((p == list || p[-1] == ',') && (p[n] == 0 || p[n] == ',')) return true;
    return false;
}

char rec_run[TACHO_RUN_BYTES];

static bool is_zero(const char *variable) {
    const char *value = secure_getenv(variable);
    return value && strcmp(value, "0") == 0;
}

static void read_environment(void) {
    const char *path = secure_getenv("TACHO_RECORD"), *steps = secure_getenv("TACHO_STEPS"),
               *run = secure_getenv("TACHO_RUN"), *with = secure_getenv("TACHO_WITH"),
               *flight = secure_getenv("TACHO_FLIGHT"), *ring = secure_getenv("TACHO_RING"),
               *listens = secure_getenv("TACHO_LISTEN"),
               *sample = secure_getenv("TACHO_SAMPLE");
    rec_stack_set(!is_zero("TACHO_LINES"), !is_zero("TACHO_SOURCE"));
    bool listening = listens && *listens && strcmp(listens, "0") != 0;
    snprintf(rec_run, sizeof rec_run, "%s", run ? run : "");
    if (path && *path && !rec_is_launcher()) {
        tacho_options o = {.size = sizeof o,
                           .path = path,
                           .shapes = has_word(with, "shapes"),
                           .memory = has_word(with, "memory"),
                           .stacks = has_word(with, "stacks"),
                           .device = has_word(with, "device") | has_word(with, "nodes") << 1 |
                                     has_word(with, "sync") << 2,
                           .ring_bytes = ring ? strtoull(ring, NULL, 10) : 0,
                           .flight_seconds = flight ? strtod(flight, NULL) : 0,
                           .follow_children = 1,
                           .listen = listening,
                           .trigger = secure_getenv("TACHO_TRIGGER"),
                           .metrics = secure_getenv("TACHO_METRICS"),
                           .sample_every = sample ? (uint32_t)strtoul(sample, NULL, 10) : 0};
        if (steps && *steps) o.schedule = parse_steps(steps);
        rec_set_pending(&o);
    }
    if (listening) (void)rec_helper_start(true);
}

__attribute__((constructor)) static void load(void) {
    int64_t from = rec_clock_ns(CLOCK_MONOTONIC);
    rec_clock_init();
    rec_threads_load();
    rec_helper_loaded();
    (void)pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    rec_here.is_same_process = DONE;
    (void)madvise(&rec_here, sizeof rec_here, MADV_WIPEONFORK); /* Linux 4.14 */
    is_loaded = true;
    rec_status_load();
    read_environment();
    rec_cost_add(TACHO_COST_START, rec_clock_ns(CLOCK_MONOTONIC) - from, 1);
}

__attribute__((destructor)) static void unload(void) {
    int64_t from = rec_clock_ns(CLOCK_MONOTONIC);
    (void)rec_stop(true, NULL, 0);
    rec_helper_finish();
    rec_status_ended(rec_clock_ns(CLOCK_MONOTONIC) - from);
}
