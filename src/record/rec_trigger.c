/* rec_trigger.c: rules that keep the evidence of what just happened.
 *
 *     TACHO_TRIGGER=slow=2,hang=60,oom,nan,signal=USR2,file=/tmp/now,http=9000
 *
 *     slow=F    a step took more than F times the median of the 64 before it
 *     hang=T    no step ended for T seconds
 *     oom       memory ran out (the hooks of Python say so, or the program: tacho_alarm)
 *     nan       a counter is not a number
 *     signal=S, file=PATH (appears or changes), http=PORT (POST /trigger); and, without a rule,
 *     tacho attach and tacho_trigger of the program
 *
 * When a rule applies, the flight recorder's window becomes a file, and all processes that
 * record into the same folder write theirs: a numbered line in FOLDER/.triggers says what
 * happened, made by link(), so of several that notice the same thing one makes it and the
 * others join. Every process looks for the next number five times a second. After a slow step
 * all write the same steps: up to the slow one, for which slower processes wait; in any other
 * case, up to now.
 *
 * After it fired, a rule of this process's own is silent for as long as the window is, and at
 * most MOST_FIRED times in all: a program that only gets slower must not fill the disk. */
#include "record/rec_trigger.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/rec_live.h"
#include "record/rec_metrics.h"

enum { LEAST_STEPS = 8, MOST_FIRED = 32, LINE_BYTES = 1024 };
#define LOOK_NS 200000000
#define WAIT_FOR_STEP_NS 5000000000
#define LATE_SECONDS 6.0
#define SAME_NS 1000000000
#define LEAST_DELAY_NS 1000000 /* a step that is a millisecond late is not slow */

typedef struct {
    bool oom, nan;
    double slow;
    int64_t hang_ns;
    char file[1024];
    int64_t file_seen_ns;
} rule_set;

/* What a start asks for; applied by the thread that looks next. */
REC_MUTEX(static, next_lock);
static rule_set next_rules;
static bool has_next;
static uint64_t next_handled; /* incidents there were when it began */
static bool nan_armed;        /* read by the program's threads */
static double late_seconds;   /* rec_cycle_lock */

/* What happened, as it is in the folder. */
typedef struct {
    char rule[16];
    int64_t rank, first_step,
        last_step;      /* -1: not known; last_step: up to which, -1: up to now */
    int64_t noticed_ns; /* CLOCK_MONOTONIC, of this process */
    char why[512];
} incident;

REC_MUTEX(static, lock); /* before rec_cycle_lock; all below */
static rule_set rules;
static uint64_t n_handled; /* numbers in the folder */
static incident waiting;   /* for a step; rule "": none */
static uint64_t n_looked;  /* steps that were judged */
static uint64_t hung_at;   /* the count of steps of its last report */
static int64_t handled_ns, silent_until_ns, next_look_ns;
static int n_fired;
static char last_dump[4096];
static bool is_given; /* a client that asked has it */

static uint32_t was_signalled; /* by the handler, on any thread */
static uint32_t bad_counter;   /* 0: none, 2: its name is being written, 1: there */
static char bad_name[96];

/* ---- rules ---- */

static void on_signal(int number) {
    (void)number;
    __atomic_store_n(&was_signalled, 1, __ATOMIC_RELAXED);
    rec_helper_wake();
}

static int signal_of(const char *name) {
    static const struct {
        const char *name;
        int number;
    } KNOWN[] = {{"USR1", SIGUSR1},   {"USR2", SIGUSR2}, {"HUP", SIGHUP},
                 {"WINCH", SIGWINCH}, {"URG", SIGURG},   {"QUIT", SIGQUIT}};
    if (strncmp(name, "SIG", 3) == 0) name += 3;
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
        if (strcmp(name, KNOWN[i].name) == 0) return KNOWN[i].number;
    return atoi(name);
}

static void listen_to_signal(int number) {
    struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    if (number > 0 && number < NSIG) (void)sigaction(number, &act, NULL);
}

static int64_t changed_ns(const char *path) {
    struct stat st;
    if (stat(path, &st) != 0) return 0;
    return (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

static void take_rule(rule_set *r, const char *word, const char *value) {
    if (strcmp(word, "slow") == 0) r->slow = strtod(value, NULL);
    if (strcmp(word, "hang") == 0) r->hang_ns = (int64_t)(strtod(value, NULL) * 1e9);
    if (strcmp(word, "oom") == 0) r->oom = true;
    if (strcmp(word, "nan") == 0) r->nan = true;
    if (strcmp(word, "signal") == 0) listen_to_signal(signal_of(value));
    if (strcmp(word, "http") == 0) rec_metrics_want_trigger(atoi(value));
    if (strcmp(word, "file") == 0) {
        snprintf(r->file, sizeof r->file, "%s", value);
        r->file_seen_ns = changed_ns(value);
    }
}

static void incident_path(uint64_t number, const char *end, char *to, size_t size) {
    snprintf(to, size, "%s/" TACHO_TRIGGER_FOLDER "/%llu%s", rec_set.path,
             (unsigned long long)number, end);
}

/* What happened before we came is not ours. */
static uint64_t count_incidents(void) {
    char path[4096];
    uint64_t n = 0;
    for (;; n++) {
        incident_path(n + 1, "", path, sizeof path);
        if (access(path, F_OK) != 0) return n;
    }
}

double rec_trigger_late_seconds(void) {
    return late_seconds;
}

void rec_trigger_arm(const char *text) {
    char copy[2048], *rest = NULL;
    rule_set r = {.oom = false};
    rec_metrics_want_trigger(0);
    snprintf(copy, sizeof copy, "%s", text ? text : "");
    late_seconds = 0;
    for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        char *value = strchr(word, '=');
        if (value) *value++ = 0;
        take_rule(&r, word, value ? value : "");
        late_seconds = LATE_SECONDS + (double)r.hang_ns * 1e-9;
    }
    uint64_t before = count_incidents();
    rec_mutex_lock(&next_lock);
    next_rules = r;
    next_handled = before;
    has_next = true;
    pthread_mutex_unlock(&next_lock);
    __atomic_store_n(&nan_armed, r.nan, __ATOMIC_RELAXED);
}

/* A recording that began since the last look has its own rules, and its past is empty. */
static void rec_trigger_settle(void) {
    rec_mutex_lock(&next_lock);
    bool is_new = has_next;
    has_next = false;
    if (is_new) rules = next_rules;
    if (is_new) n_handled = next_handled;
    pthread_mutex_unlock(&next_lock);
    if (!is_new) return;
    waiting.rule[0] = 0;
    n_looked = hung_at = 0;
    handled_ns = silent_until_ns = next_look_ns = 0;
    n_fired = 0;
}

/* ---- the folder ---- */

static bool read_incident(uint64_t number, incident *out) {
    char path[4096], line[LINE_BYTES];
    long long rank, first, last;
    int at = 0;
    incident_path(number, "", path, sizeof path);
    rec_own own;
    int fd = rec_own_open(&own, path, O_RDONLY);
    if (fd < 0) return false;
    ssize_t n = read(fd, line, sizeof line - 1);
    rec_own_close(&own);
    line[n > 0 ? n : 0] = 0;
    *out = (incident){.rank = -1, .first_step = -1, .last_step = -1};
    if (sscanf(line, "%15s %lld %lld %lld %n", out->rule, &rank, &first, &last, &at) == 4) {
        out->rank = rank;
        out->first_step = first;
        out->last_step = last;
        snprintf(out->why, sizeof out->why, "%.500s", line + at);
    } else {
        snprintf(out->rule, sizeof out->rule, "unknown");
    }
    out->why[strcspn(out->why, "\n")] = 0;
    out->noticed_ns = rec_clock_ns(CLOCK_MONOTONIC);
    return true;
}

/* Tells the others; when one of them was first, *in becomes what it said. */
static void publish(incident *in) {
    char beside[4096], path[4096], line[LINE_BYTES], name[64];
    if (!rec_has_folder()) return;
    snprintf(path, sizeof path, "%s/" TACHO_TRIGGER_FOLDER, rec_set.path);
    (void)mkdir(path, 0777);
    snprintf(name, sizeof name, ".%d.tmp", (int)getpid());
    incident_path(n_handled + 1, name, beside, sizeof beside);
    incident_path(n_handled + 1, "", path, sizeof path);
    int n = snprintf(line, sizeof line, "%s %lld %lld %lld %s\n", in->rule, (long long)in->rank,
                     (long long)in->first_step, (long long)in->last_step, in->why);
    rec_own own;
    if (rec_own_open(&own, beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW) < 0) return;
    int fd = rec_own_fd(&own);
    bool whole = fd >= 0 && write(fd, line, (size_t)n) == n;
    rec_own_close(&own);
    bool taken = whole && link(beside, path) != 0 && errno == EEXIST;
    (void)unlink(beside);
    incident other;
    if (taken && read_incident(n_handled + 1, &other)) *in = other;
}

/* ---- writing ---- */

/* The end of a step, by its number: marks carry the number of the step that begins. */
static bool find_mark(int64_t number, rec_step *out) {
    uint64_t n = rec_live_n_steps();
    for (uint64_t i = n; i-- > 0 && n - i < REC_STEPS_KEPT;)
        if (rec_live_step_at(i, out) && (int64_t)out->number == number) return true;
    return false;
}

/* The first step that began within the window of the flight recorder. */
static int64_t first_step_since(int64_t from_ns) {
    uint64_t n = rec_live_n_steps();
    rec_step s;
    int64_t first = -1;
    for (uint64_t i = n; i-- > 0 && n - i < REC_STEPS_KEPT;) {
        if (!rec_live_step_at(i, &s) || s.end_ns < from_ns) break;
        first = (int64_t)s.number;
    }
    return first;
}

/* Who asked has said why; a rule is named. */
static void put_why(const incident *in, char *to, size_t size) {
    bool asked = strcmp(in->rule, "program") == 0 || strcmp(in->rule, "attach") == 0;
    if (asked)
        snprintf(to, size, "%s", in->why);
    else if (in->rank >= 0)
        snprintf(to, size, "written because of %s (rank %lld): %s", in->rule,
                 (long long)in->rank, in->why);
    else
        snprintf(to, size, "written because of %s: %s", in->rule, in->why);
}

static void dump(const incident *in) {
    char why[700];
    rec_step from = {.tick = 0}, to = {.tick = 0};
    rec_window w = {.rule = in->rule, .rank = in->rank};
    if (in->first_step >= 0 && find_mark(in->first_step, &from)) w.from_tick = from.tick;
    if (in->last_step >= 0 && find_mark(in->last_step + 1, &to)) w.to_tick = to.tick;
    put_why(in, why, sizeof why);
    if (rec_dump(why, &w, last_dump, sizeof last_dump) == TACHO_OK) rec_live_triggered(in->why);
    is_given = false;
    n_handled++;
    n_looked = rec_live_n_steps();
    handled_ns = rec_clock_ns(CLOCK_MONOTONIC);
    silent_until_ns = handled_ns + (int64_t)(rec_set.o.flight_seconds * 1e9);
}

/* A slower process waits for the end of the step that all must have. */
static bool is_there(const incident *in, int64_t now) {
    rec_step s;
    return in->last_step < 0 || now - in->noticed_ns > WAIT_FOR_STEP_NS ||
           find_mark(in->last_step + 1, &s);
}

static void handle(incident *in) {
    if (is_there(in, rec_clock_ns(CLOCK_MONOTONIC)))
        dump(in);
    else
        waiting = *in;
}

/* The window ends at until_ns or later and reaches back from there. */
static void fire_at(const char *rule, int64_t until_ns, int64_t last_step, const char *why) {
    int64_t rank, world, now = rec_clock_ns(CLOCK_MONOTONIC);
    bool before = rec_enter(&rec_lock);
    rec_rank_known(&rank, &world);
    rec_leave(&rec_lock, before);
    incident in = {.rank = rank, .last_step = last_step, .noticed_ns = now};
    snprintf(in.rule, sizeof in.rule, "%s", rule);
    snprintf(in.why, sizeof in.why, "%s", why);
    in.first_step = first_step_since(until_ns - (int64_t)(rec_set.o.flight_seconds * 1e9));
    publish(&in);
    handle(&in);
}

static void fire(const char *rule, int64_t last_step, const char *why) {
    fire_at(rule, rec_clock_ns(CLOCK_MONOTONIC), last_step, why);
}

/* ---- looking ---- */

static bool may_fire(int64_t now) {
    return now >= silent_until_ns && n_fired < MOST_FIRED;
}

static void look_at_steps(int64_t now) {
    rec_step s;
    char why[256];
    for (uint64_t n = rec_live_n_steps(); n_looked < n; n_looked++) {
        int64_t median = rules.slow > 0 ? rec_live_median(n_looked, LEAST_STEPS) : -1;
        if (median <= 0 || !rec_live_step_at(n_looked, &s) || s.length_ns < 0) continue;
        if (s.is_sampled) continue; /* its hooks take their time */
        if ((double)s.length_ns <= rules.slow * (double)median ||
            s.length_ns - median < LEAST_DELAY_NS || !may_fire(now))
            continue;
        int64_t step = (int64_t)s.number - 1;
        snprintf(why, sizeof why, "step %lld took %.1f ms, %.1f times the median of %.1f ms",
                 (long long)step, (double)s.length_ns * 1e-6,
                 (double)s.length_ns / (double)median, (double)median * 1e-6);
        n_fired++;
        fire("slow", step, why);
        return;
    }
}

static void look_for_hang(int64_t now) {
    uint64_t n = rec_live_n_steps();
    rec_step s;
    char why[128];
    if (!rules.hang_ns || n < 2 || hung_at == n || !rec_live_step_at(n - 1, &s)) return;
    if (now - s.end_ns < rules.hang_ns || !may_fire(now)) return;
    hung_at = n;
    n_fired++;
    snprintf(why, sizeof why, "no step ended for %.1f s; step %lld has not ended",
             (double)(now - s.end_ns) * 1e-9, (long long)s.number);
    fire_at("hang", s.end_ns, -1, why); /* what it did before is the evidence */
}

/* What all processes see at once was reported by the first of them. */
static void fire_unless_told(const char *rule, const char *why) {
    int64_t now = rec_clock_ns(CLOCK_MONOTONIC);
    if (!handled_ns || now - handled_ns > SAME_NS) fire(rule, -1, why);
}

static void look_outside(void) {
    int64_t changed = rules.file[0] ? changed_ns(rules.file) : 0;
    if (__atomic_exchange_n(&was_signalled, 0, __ATOMIC_RELAXED)) {
        fire_unless_told("signal", "the process got the signal");
    } else if (changed > rules.file_seen_ns) {
        rules.file_seen_ns = changed;
        fire_unless_told("file", rules.file);
    } else if (__atomic_load_n(&bad_counter, __ATOMIC_ACQUIRE) == 1) {
        char why[160];
        snprintf(why, sizeof why, "the counter %s is not a number", bad_name);
        __atomic_store_n(&bad_counter, 0, __ATOMIC_RELEASE);
        if (!may_fire(rec_clock_ns(CLOCK_MONOTONIC))) return;
        n_fired++;
        fire("nan", -1, why);
    }
}

static void look_at_others(int64_t now) {
    incident in;
    char path[4096];
    if (now < next_look_ns || !rec_has_folder()) return;
    next_look_ns = now + LOOK_NS;
    incident_path(n_handled + 1, "", path, sizeof path);
    if (access(path, F_OK) == 0 && read_incident(n_handled + 1, &in)) handle(&in);
}

void rec_trigger_tick(void) {
    int64_t now = rec_clock_ns(CLOCK_MONOTONIC);
    if (!tacho_is_recording() ||
        !(__atomic_load_n(&rec_flags, __ATOMIC_RELAXED) & TACHO_FILE_FLIGHT))
        return;
    if (!rec_mutex_try(&lock)) return;
    rec_trigger_settle();
    if (waiting.rule[0]) {
        incident in = waiting;
        if (is_there(&in, now)) {
            waiting.rule[0] = 0;
            dump(&in);
        }
    } else {
        look_at_others(now);
        look_outside();
        look_at_steps(now);
        look_for_hang(now);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- requests from outside ---- */

int rec_trigger_outside(const char *rule, const char *why, char *path, size_t size) {
    char unused[4096];
    if (rec_self.in_slow || rec_cycle_state(unused, sizeof unused) != REC_IN_FLIGHT)
        return TACHO_OFF;
    rec_mutex_lock(&lock);
    rec_trigger_settle();
    if (strcmp(rule, "http") == 0 &&
        n_fired++ >= MOST_FIRED) { /* a loop must not fill the disk */
        pthread_mutex_unlock(&lock);
        return TACHO_BUSY;
    }
    waiting.rule[0] = 0; /* what was waited for is in it */
    if (is_given)
        fire(rule, -1, why);
    else
        fire_unless_told(rule, why);
    is_given = true;
    if (path) snprintf(path, size, "%s", last_dump);
    pthread_mutex_unlock(&lock);
    return TACHO_OK;
}

int tacho_trigger(const char *why) {
    char unused[4096];
    if (rec_self.in_slow || rec_cycle_state(unused, sizeof unused) != REC_IN_FLIGHT)
        return TACHO_OFF;
    rec_mutex_lock(&lock);
    rec_trigger_settle();
    fire("program", -1, why ? why : "");
    pthread_mutex_unlock(&lock);
    return TACHO_OK;
}

int tacho_alarm(const char *rule, const char *why) {
    if (!rule || rec_self.in_slow) return TACHO_OFF;
    rec_look_for_fork();
    rec_mutex_lock(&lock);
    rec_trigger_settle();
    bool armed =
        (strcmp(rule, "oom") == 0 && rules.oom) || (strcmp(rule, "nan") == 0 && rules.nan);
    pthread_mutex_unlock(&lock);
    return armed ? rec_trigger_outside(rule, why ? why : "", NULL, 0) : TACHO_OFF;
}

void rec_trigger_not_a_number(const char *counter) {
    uint32_t none = 0;
    if (!__atomic_load_n(&nan_armed, __ATOMIC_RELAXED) ||
        !__atomic_compare_exchange_n(&bad_counter, &none, 2, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return;
    snprintf(bad_name, sizeof bad_name, "%s", counter ? counter : "");
    __atomic_store_n(&bad_counter, 1, __ATOMIC_RELEASE);
}

void rec_trigger_forked(void) {
    has_next = true; /* the same rules, a new past */
    next_handled = count_incidents();
    bad_counter = 0;
}
