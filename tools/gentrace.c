/* gentrace.c: the one seeded trace generator; uses only libc, shares nothing with src/.
 *
 *   gentrace repeat N IN.json > OUT.json
 *       N copies of a plain Kineto trace one after the other in time.  The input is scanned
 *       once into a list of patch points (a number, its place, what it is); a copy is the text
 *       between the points with the numbers moved on: 1.6 GB/s.
 *       Shifted: ts, correlation, External id, Ev Idx, Record function id, Python id and
 *       parent id, Sequence number, flow ids, ProfilerStep numbers.  Left alone: Addr.
 *       Metadata events, header and trailer appear once.
 *
 *   gentrace kineto [options] > trace.json
 *       A synthetic training run.  Host ops nest, launch kernels, have frames around them.  The
 *       tree is made here, so the right answers are known by construction and --answers
 *       writes them; nothing is searched to find them.  One event a line, so that a test can
 *       take the file apart with a text tool.
 *
 *   gentrace chrome [options] > trace.json
 *       Plain trace-event JSON with every phase: X, B/E, i, C, M, s/t/f, b/n/e.
 *
 *   gentrace cluster DIR [options]
 *       The traces of all ranks of one job, with planted faults: gentrace_cluster.c.
 *
 *   gentrace plant CAUSE [options] > trace.json
 *       A simulated run in which one thing costs time, and it is known which: gentrace_plant.c.
 *
 *   gentrace worst SHAPE N > trace.json
 *       N events nested, named or placed as is worst for readers: gentrace_worst.c.
 *
 * How an answer comes about: every open range that takes time off the self time of an op is a
 * `node` on the C stack; closing it adds its duration and device time to the node around it.
 * An op that is the only child of an op of its own name is absorbed (tests/oracle/README.md).
 */
#include "gentrace_cluster.h"
#include "gentrace_plant.h"
#include "gentrace_worst.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void die(const char *what, const char *which) {
    fprintf(stderr, "gentrace: %s%s%s\n", what, which ? ": " : "", which ? which : "");
    exit(1);
}

static void *must(void *memory) {
    if (!memory) {
        die("out of memory", NULL);
    }
    return memory;
}

/* ---- output ----------------------------------------------------------------------------- */

enum { OUT_SIZE = 1 << 20, OUT_ROOM = 1 << 16 };

static struct {
    char *bytes;
    size_t used;
    uint64_t written; /* bytes that left, or would have left, the buffer */
    uint64_t limit;   /* the file is cut here: fault `truncated` */
    bool failed;
} out = {.limit = UINT64_MAX};

static void out_flush(void) {
    size_t keep = out.used;
    if (out.written + keep > out.limit) {
        keep = out.written < out.limit ? (size_t)(out.limit - out.written) : 0;
    }
    for (size_t done = 0; done < keep && !out.failed;) {
        ssize_t n = write(STDOUT_FILENO, out.bytes + done, keep - done);
        if (n < 0 && errno != EINTR) {
            out.failed = true;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    out.written += out.used;
    out.used = 0;
    if (out.failed) {
        die("cannot write", strerror(errno));
    }
}

static void out_bytes(const char *bytes, size_t length) {
    while (length) {
        size_t part = OUT_SIZE - out.used < length ? OUT_SIZE - out.used : length;
        memcpy(out.bytes + out.used, bytes, part);
        out.used += part;
        bytes += part;
        length -= part;
        if (out.used == OUT_SIZE) {
            out_flush();
        }
    }
}

__attribute__((format(printf, 1, 2))) static void emit(const char *format, ...) {
    if (OUT_SIZE - out.used < OUT_ROOM) {
        out_flush();
    }
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(out.bytes + out.used, OUT_ROOM, format, arguments);
    va_end(arguments);
    if (n < 0 || n >= OUT_ROOM) {
        die("an event is too long", NULL);
    }
    out.used += (size_t)n;
}

static size_t decimal(char *end, uint64_t value) {
    char *at = end;
    do {
        *--at = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    return (size_t)(end - at);
}

static void out_decimal(uint64_t value) {
    char digits[24];
    size_t n = decimal(digits + sizeof digits, value);
    out_bytes(digits + sizeof digits - n, n);
}

/* ---- repeat ----------------------------------------------------------------------------- */

typedef enum {
    SHIFT_TIME,
    SHIFT_CORRELATION, /* and the ids of launch flows, which are correlations */
    SHIFT_EXTERNAL,
    SHIFT_EVENT,
    SHIFT_RECORD,
    SHIFT_PYTHON,
    SHIFT_SEQUENCE,
    SHIFT_FLOW,
    SHIFT_STEP,
    N_SHIFTS,
} shift;

typedef struct {
    uint64_t value;
    uint64_t at : 48; /* byte in the input */
    uint64_t digits : 8;
    uint64_t shift : 8;
} point;

typedef struct {
    uint64_t from, to; /* bytes of a run of events that are not metadata */
    size_t first, end; /* its points */
} run;

typedef struct {
    const char *text;
    uint64_t size, at;
    uint64_t body, body_end; /* first byte of the first event, one past the last event */
    point *points;
    size_t n_points, max_points;
    run *runs;
    size_t n_runs, max_runs;
    uint64_t most[N_SHIFTS];    /* largest value */
    uint64_t least_us, most_us; /* range of time */
} scan;

/* What one event says about itself; points that depend on it wait until its end. */
typedef struct {
    uint64_t ts_us, dur_us;
    size_t first_point;
    size_t id_point; /* index + 1 of the point of its id */
    char phase;
    bool launch_flow, in_args;
} seen;

static void skip_space(scan *s) {
    while (s->at < s->size && (uint8_t)s->text[s->at] <= ' ') {
        s->at++;
    }
}

/* From the opening quote to past the closing one. */
static void skip_string(scan *s) {
    s->at++;
    for (;;) {
        const char *quote = memchr(s->text + s->at, '"', s->size - s->at);
        if (!quote) {
            die("the input ends inside a string", NULL);
        }
        uint64_t end = (uint64_t)(quote - s->text), back = end;
        while (back > s->at && s->text[back - 1] == '\\') {
            back--;
        }
        s->at = end + 1;
        if ((end - back) % 2 == 0) {
            return;
        }
    }
}

static void skip_value(scan *s) {
    unsigned depth = 0;
    do {
        skip_space(s);
        if (s->at >= s->size) {
            die("the input ends inside a value", NULL);
        }
        char c = s->text[s->at];
        if (c == '"') {
            skip_string(s);
        } else if (c == '{' || c == '[') {
            depth++;
            s->at++;
        } else if (c == '}' || c == ']') {
            depth--;
            s->at++;
        } else if (c == ',' || c == ':') {
            s->at++;
        } else {
            while (s->at < s->size && !strchr(",]} \t\r\n:", s->text[s->at])) {
                s->at++;
            }
        }
    } while (depth);
}

static uint64_t digits_at(const scan *s, uint64_t at, uint64_t *value) {
    uint64_t n = 0;
    *value = 0;
    while (at + n < s->size && s->text[at + n] >= '0' && s->text[at + n] <= '9' && n < 19) {
        *value = *value * 10 + (uint64_t)(s->text[at + n] - '0');
        n++;
    }
    return n;
}

/* Notes the number at `at`; negative numbers, null and 0 (which means "none") stay as they are.
 */
static void add_point(scan *s, uint64_t at, shift kind) {
    uint64_t value;
    uint64_t n = digits_at(s, at, &value);
    if (n == 0 || (value == 0 && kind != SHIFT_TIME && kind != SHIFT_EVENT)) {
        return;
    }
    if (s->n_points == s->max_points) {
        s->max_points = s->max_points ? 2 * s->max_points : 1 << 16;
        s->points = must(realloc(s->points, s->max_points * sizeof *s->points));
    }
    s->points[s->n_points++] = (point){
        .value = value, .at = at & 0xffffffffffff, .digits = n & 0xff, .shift = kind & 0xff};
    if (value > s->most[kind]) {
        s->most[kind] = value;
    }
}

static const struct {
    const char *key;
    shift kind;
} arg_keys[] = {
    {"correlation", SHIFT_CORRELATION},
    {"wait_on_cuda_event_record_corr_id", SHIFT_CORRELATION},
    {"External id", SHIFT_EXTERNAL},
    {"external id", SHIFT_EXTERNAL},
    {"Ev Idx", SHIFT_EVENT},
    {"Profiler Event Index", SHIFT_EVENT},
    {"Record function id", SHIFT_RECORD},
    {"Python id", SHIFT_PYTHON},
    {"Python parent id", SHIFT_PYTHON},
    {"Sequence number", SHIFT_SEQUENCE},
};

static bool is_key(const scan *s, uint64_t from, uint64_t to, const char *key) {
    size_t n = strlen(key);
    return to - from == n && memcmp(s->text + from, key, n) == 0;
}

static void scan_arg(scan *s, uint64_t key, uint64_t key_end) {
    char c = s->text[s->at];
    if (c < '0' || c > '9') {
        return;
    }
    for (size_t i = 0; i < sizeof arg_keys / sizeof *arg_keys; i++) {
        if (s->text[key] == arg_keys[i].key[0] && is_key(s, key, key_end, arg_keys[i].key)) {
            add_point(s, s->at, arg_keys[i].kind);
        }
    }
}

/* A member of the event itself; the value begins at s->at. */
static void scan_member(scan *s, seen *e, uint64_t key, uint64_t key_end) {
    if (is_key(s, key, key_end, "ph")) {
        e->phase = s->text[s->at + 1];
    } else if (is_key(s, key, key_end, "ts")) {
        digits_at(s, s->at, &e->ts_us);
        add_point(s, s->at, SHIFT_TIME);
    } else if (is_key(s, key, key_end, "dur")) {
        digits_at(s, s->at, &e->dur_us);
    } else if (is_key(s, key, key_end, "cat")) {
        e->launch_flow = strncmp(s->text + s->at, "\"fwdbwd\"", 8) != 0;
    } else if (is_key(s, key, key_end, "id")) {
        add_point(s, s->at, SHIFT_FLOW); /* the kind is settled at the end of the event */
        e->id_point = s->n_points;
    } else if (is_key(s, key, key_end, "name") &&
               strncmp(s->text + s->at, "\"ProfilerStep#", 14) == 0) {
        add_point(s, s->at + 14, SHIFT_STEP);
    }
}

static void scan_event(scan *s, seen *e) {
    s->at++;
    for (;;) {
        skip_space(s);
        char c = s->text[s->at];
        if (c == '}') {
            s->at++;
            if (!e->in_args) {
                return;
            }
            e->in_args = false;
        } else if (c == ',') {
            s->at++;
        } else if (c == '"') {
            uint64_t key = s->at + 1;
            skip_string(s);
            uint64_t key_end = s->at - 1;
            skip_space(s);
            s->at++; /* the colon */
            skip_space(s);
            if (e->in_args) {
                scan_arg(s, key, key_end);
            } else if (is_key(s, key, key_end, "args") && s->text[s->at] == '{') {
                e->in_args = true;
                s->at++;
                continue;
            } else {
                scan_member(s, e, key, key_end);
            }
            skip_value(s);
        } else {
            die("repeat takes valid JSON only", NULL);
        }
    }
}

/* Runs of events that are repeated; a metadata event ends one. */
static void end_event(scan *s, const seen *e, uint64_t from, bool *in_run) {
    if (e->phase == 'M') {
        *in_run = false;
        return;
    }
    if (e->id_point > e->first_point && e->launch_flow) {
        point *p = &s->points[e->id_point - 1];
        p->shift = SHIFT_CORRELATION;
        if (p->value > s->most[SHIFT_CORRELATION]) {
            s->most[SHIFT_CORRELATION] = p->value;
        }
    }
    if (e->phase == 'X') { /* not the instants: "Record Window End" may lie far out */
        s->least_us = e->ts_us < s->least_us ? e->ts_us : s->least_us;
        s->most_us = e->ts_us + e->dur_us > s->most_us ? e->ts_us + e->dur_us : s->most_us;
    }
    if (!*in_run) {
        if (s->n_runs == s->max_runs) {
            s->max_runs = s->max_runs ? 2 * s->max_runs : 64;
            s->runs = must(realloc(s->runs, s->max_runs * sizeof *s->runs));
        }
        s->runs[s->n_runs++] = (run){.from = from, .first = e->first_point};
        *in_run = true;
    }
    s->runs[s->n_runs - 1].to = s->at;
    s->runs[s->n_runs - 1].end = s->n_points;
}

static void scan_events(scan *s) {
    const char *list = memmem(s->text, s->size, "\"traceEvents\"", 13);
    s->at = list ? (uint64_t)(list - s->text) + 13 : 0;
    const char *open = memchr(s->text + s->at, '[', s->size - s->at);
    if (!open) {
        die("no list of events", NULL);
    }
    s->at = (uint64_t)(open - s->text) + 1;
    s->least_us = UINT64_MAX;
    bool in_run = false;
    for (;;) {
        skip_space(s);
        if (s->at >= s->size || s->text[s->at] == ']') {
            return;
        }
        if (s->text[s->at] == '{') {
            seen e = {.launch_flow = true, .first_point = s->n_points};
            uint64_t from = s->at;
            if (!s->body) {
                s->body = from;
            }
            scan_event(s, &e);
            s->body_end = s->at;
            end_event(s, &e, from, &in_run);
        } else {
            s->at++;
        }
    }
}

static void write_run(const scan *s, const run *r, const uint64_t *by, uint64_t copy) {
    uint64_t at = r->from;
    for (size_t i = r->first; i < r->end; i++) {
        const point *p = &s->points[i];
        out_bytes(s->text + at, p->at - at);
        out_decimal(p->value + by[p->shift] * copy);
        at = p->at + p->digits;
    }
    out_bytes(s->text + at, r->to - at);
}

static int repeat(int argc, char **argv) {
    if (argc != 4) {
        die("usage: gentrace repeat N IN.json > OUT.json", NULL);
    }
    uint64_t copies = strtoull(argv[2], NULL, 10);
    int fd = open(argv[3], O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0 || st.st_size == 0 || copies == 0) {
        die("cannot read", argv[3]);
    }
    scan s = {.size = (uint64_t)st.st_size};
    s.text = mmap(NULL, s.size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (s.text == MAP_FAILED) {
        die("cannot map", argv[3]);
    }
    scan_events(&s);
    /* One step for both: in some vintages External id and correlation are equal, and stay so. */
    uint64_t *most = s.most;
    if (most[SHIFT_EXTERNAL] > most[SHIFT_CORRELATION])
        most[SHIFT_CORRELATION] = most[SHIFT_EXTERNAL];
    most[SHIFT_EXTERNAL] = most[SHIFT_CORRELATION];
    uint64_t by[N_SHIFTS];
    for (int i = 0; i < N_SHIFTS; i++) {
        by[i] = most[i] + 1;
    }
    /* A multiple of a millisecond after the end, so that old integer files and new ones stay
     * what they are. */
    by[SHIFT_TIME] = s.n_runs ? (s.most_us - s.least_us) / 1000 * 1000 + 2000 : 0;
    out_bytes(s.text, s.body_end);
    for (uint64_t copy = 1; copy < copies; copy++) {
        for (size_t i = 0; i < s.n_runs; i++) {
            out_bytes(",\n  ", 4);
            write_run(&s, &s.runs[i], by, copy);
        }
    }
    out_bytes(s.text + s.body_end, s.size - s.body_end);
    out_flush();
    free(s.points);
    free(s.runs);
    return 0;
}

/* ---- options of the synthetic traces ---------------------------------------------------- */

#define FAULTS(X)         \
    X(partial_overlap)    \
    X(orphan_correlation) \
    X(negative_duration)  \
    X(missing_name)       \
    X(missing_cat)        \
    X(unescaped_quote)    \
    X(bad_escape)         \
    X(control_character)  \
    X(bare_na)            \
    X(nan)                \
    X(trailing_comma)     \
    X(duplicate_key)      \
    X(bad_utf8)           \
    X(deep)               \
    X(long_number)        \
    X(late_info)          \
    X(bare_list)          \
    X(string_ids)

enum {
#define X(name) FAULT_##name,
    FAULTS(X)
#undef X
        N_FAULTS
};
static const char *const fault_names[N_FAULTS] = {
#define X(name) #name,
    FAULTS(X)
#undef X
};

static struct {
    uint64_t seed, bytes;
    int steps, ops, depth, streams, threads, world, rank, vintage, events;
    int launches; /* of a hundred parts of an op, how many are launches */
    int frames;   /* at most this many leaf frames after a top-level op */
    bool memory, stack, shapes;
    bool fault[N_FAULTS];
    const char *answers;
} opt = {.seed = 1,
         .steps = 3,
         .ops = 40,
         .depth = 4,
         .streams = 1,
         .threads = 2,
         .world = 1,
         .vintage = 2026,
         .events = 1000,
         .launches = 24,
         .frames = 4};

/* One stream of numbers for the structure (the same on all ranks), one for durations. */
static uint64_t shape_state, time_state;

static uint64_t random_next(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int pick(int n) {
    return (int)(random_next(&shape_state) % (uint64_t)n);
}

static bool chance(int percent) {
    return pick(100) < percent;
}

/* A duration of lo…hi tenths of a microsecond, rounded to microseconds for old producers. */
static int64_t some_ns(int lo, int hi) {
    uint64_t r = random_next(&time_state);
    int64_t ns = 100 * (lo + (int64_t)(r % (uint64_t)(hi - lo + 1)));
    if (opt.vintage >= 2024) {
        return ns + (int64_t)(r >> 40) % 100;
    }
    return (ns + 999) / 1000 * 1000;
}

/* ---- known answers ---------------------------------------------------------------------- */

enum { MAX_NAMES = 192, NO_OP = MAX_NAMES };

typedef struct {
    int64_t calls, host_total, host_self, device_total, device_self;
} op_answer;

typedef struct {
    int64_t calls, total, max, min;
} kernel_answer;

static char *names[MAX_NAMES]; /* as the JSON of the answers spells them, without quotes */
static int n_names;
static op_answer op_answers[MAX_NAMES];
static kernel_answer kernel_answers[MAX_NAMES], kernel_op_answers[MAX_NAMES][MAX_NAMES + 1];

enum {
    K_STEP,
    K_ANNOTATION,
    K_DATA,
    K_OPTIMIZER,
    K_OP,
    K_PYTHON,
    K_MODULE,
    K_RUNTIME,
    K_DRIVER,
    K_KERNEL,
    K_MEMCPY,
    K_MEMSET,
    K_GPU_ANNOTATION,
    K_SPAN,
    K_OTHER,
    N_K
};
static const char *const kind_names[N_K] = {
    "step",   "annotation", "data_loading",      "optimizer", "op",
    "python", "module",     "runtime",           "driver",    "kernel",
    "memcpy", "memset",     "device_annotation", "span",      "other"};
static int64_t kind_counts[N_K], n_memory, n_with_call, n_with_op, n_overlaps,
    n_forward_backward;

static struct {
    const char *cause;
    int64_t count;
} lost[16];
static int n_lost;

static void count_lost(const char *cause) {
    for (int i = 0; i < n_lost; i++) {
        if (strcmp(lost[i].cause, cause) == 0) {
            lost[i].count++;
            return;
        }
    }
    lost[n_lost].cause = cause;
    lost[n_lost++].count = 1;
}

static int name_id(const char *text) {
    for (int i = 0; i < n_names; i++) {
        if (strcmp(names[i], text) == 0) {
            return i;
        }
    }
    if (n_names == MAX_NAMES) {
        die("too many names", text);
    }
    names[n_names] = must(strdup(text));
    return n_names++;
}

static void count_kernel(kernel_answer *k, int64_t dur) {
    k->min = k->calls == 0 || dur < k->min ? dur : k->min;
    k->max = dur > k->max ? dur : k->max;
    k->calls++;
    k->total += dur;
}

/* ---- events ----------------------------------------------------------------------------- */

static int64_t base_us; /* microseconds in front of every ts */
static int64_t last_ns; /* end of the latest event */
static bool not_first;
static int next_external = 1, next_event, next_python = 1, next_flow = 1, next_sequence = 100;
static int64_t next_correlation =
    2; /* small on purpose: collides with op ids where a vintage lets it */
static const int pid = 1000;

static bool is_old(void) {
    return opt.vintage < 2022;
}

static const char *time_text(char *text, int64_t ns) {
    if (opt.vintage < 2024) {
        sprintf(text, "%" PRId64, ns / 1000);
    } else {
        sprintf(text, "%" PRId64 ".%03d", ns / 1000, (int)(ns % 1000));
    }
    return text;
}

/* The text every event begins with, up to and without `args`. */
static void begin_event(const char *phase, const char *cat, const char *name) {
    emit("%s{\"ph\": \"%s\"", not_first ? ",\n" : "\n", phase);
    not_first = true;
    if (cat) {
        emit(", \"cat\": \"%s\"", cat);
    }
    if (name) {
        emit(", \"name\": \"%s\"", name);
    }
}

static void host_row(int tid, int64_t start) {
    char ts[32];
    bool text_pid = opt.fault[FAULT_string_ids], text_tid = text_pid || is_old();
    emit(text_pid ? ", \"pid\": \"%d\"" : ", \"pid\": %d", pid);
    emit(text_tid ? ", \"tid\": \"%d\"" : ", \"tid\": %d", tid);
    emit(", \"ts\": %s", time_text(ts, base_us * 1000 + start));
}

static void duration(int64_t dur, int64_t end) {
    char text[32];
    emit(", \"dur\": %s", time_text(text, dur));
    last_ns = end > last_ns ? end : last_ns;
}

static void flow(const char *phase, const char *cat, int64_t id, int tid, int64_t at) {
    begin_event(phase, cat, cat);
    emit(", \"id\": %" PRId64, id);
    host_row(tid, at);
    emit("%s}", *phase == 'f' ? ", \"bp\": \"e\"" : "");
}

/* ---- the tree as it is made ------------------------------------------------------------- */

/* What remains of an op when it is closed. */
typedef struct {
    int name, n_children;
    int64_t dur, children_dur, device_self, device_total;
} closed_op;

/* An open range that counts; lives on the C stack of the function that made it. */
typedef struct node {
    struct node *around;
    int kind, tid, external;
    int64_t start;
    closed_op sums;
    closed_op only_child;
    bool child_waits; /* only_child is an op that may still be absorbed */
} node;

static int64_t clock_of[64]; /* by thread index; tid = 1000 + index */
static int python_parent[64];
static int64_t stream_free[16];

static int64_t *now(const node *n) {
    return &clock_of[n->tid - pid];
}

static void record_op(const closed_op *c) {
    op_answer *a = &op_answers[c->name];
    a->calls++;
    a->host_total += c->dur;
    a->host_self += c->dur - c->children_dur;
    a->device_total += c->device_total;
    a->device_self += c->device_self;
}

static void release_child(node *n) {
    if (n->child_waits) {
        record_op(&n->only_child);
        n->child_waits = false;
    }
}

/* Something that counts was closed inside n; `op` is null for calls and annotations. */
static void add_child(node *n, int64_t dur, int64_t device_total, const closed_op *op) {
    release_child(n);
    n->sums.n_children++;
    n->sums.children_dur += dur;
    n->sums.device_total += device_total;
    if (op && n->kind == K_OP && n->sums.n_children == 1) {
        n->only_child = *op;
        n->child_waits = true;
    } else if (op) {
        record_op(op);
    }
}

static node open_node(node *around, int kind, int name, int tid) {
    node n = {.around = around, .kind = kind, .tid = tid, .external = next_external++};
    n.start = clock_of[tid - pid];
    n.sums.name = name;
    return n;
}

static void close_node(node *n) {
    closed_op *c = &n->sums;
    c->dur = *now(n) - n->start;
    if (n->child_waits && n->only_child.name == c->name) {
        c->children_dur = n->only_child.children_dur;
        c->n_children = n->only_child.n_children;
        c->device_total -= n->only_child.device_self;
        c->device_self += n->only_child.device_self;
        n->child_waits = false;
    }
    release_child(n);
    c->device_total += c->device_self;
    kind_counts[n->kind]++;
    if (n->around) {
        add_child(n->around, c->dur, c->device_total, n->kind == K_OP ? c : NULL);
    } else if (n->kind == K_OP) {
        record_op(c);
    }
}

static void write_node(const node *n, const char *cat, const char *name, const char *more) {
    begin_event("X", cat, name);
    host_row(n->tid, n->start);
    duration(n->sums.dur, *now(n));
    emit(", \"args\": {\"External id\": %d", n->external);
    if (is_old()) {
        emit(", \"Trace name\": \"PyTorch Profiler\", \"Trace iteration\": 0");
    } else {
        emit(", \"%s\": %d", opt.vintage < 2024 ? "Profiler Event Index" : "Ev Idx",
             next_event++);
    }
    emit("%s}}", more);
}

/* ---- device work ------------------------------------------------------------------------ */

static const char *const kernel_names[] = {
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
    "std::array<char*, 1ul> >(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)",
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
    "at::native::MeanOps<float, "
    "float, float, float>, unsigned int, float, 4, 4> >(at::native::ReduceOp<float>)",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute",
    "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_NTT",
    "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, true, false>"
    "(float*, float const*, int, int, int, bool const*, int, bool)",
    "ampere_sgemm_128x64_tn",
    "triton_poi_fused_add_mul_0",
};
enum { N_KERNELS = sizeof kernel_names / sizeof *kernel_names };

typedef struct {
    const char *call, *cat, *name;
    int kind, cbid;
    bool driver;
} work;

static work pick_work(void) {
    int which = pick(20);
    if (which == 0) {
        return (work){"cudaMemcpyAsync",
                      is_old() ? "Memcpy" : "gpu_memcpy",
                      "Memcpy HtoD (Pageable -> Device)",
                      K_MEMCPY,
                      41,
                      false};
    }
    if (which == 1) {
        return (work){"cudaMemsetAsync",
                      is_old() ? "Memset" : "gpu_memset",
                      "Memset (Device)",
                      K_MEMSET,
                      51,
                      false};
    }
    bool driver = !is_old() && which < 5;
    return (work){driver ? "cuLaunchKernelEx" : "cudaLaunchKernel",
                  is_old() ? "Kernel" : "kernel",
                  kernel_names[pick(N_KERNELS)],
                  K_KERNEL,
                  driver ? 652 : 211,
                  driver};
}

/* The id as the producers of each time wrote it (spec 1.8); `op` may be null. */
static void external_text(const node *op, int64_t correlation) {
    if (is_old()) {
        emit(", \"external id\": %d", op ? op->external : 0);
    } else if (opt.vintage < 2024 || (opt.vintage < 2025 && !op)) {
        emit(", \"External id\": %" PRId64, correlation);
    } else if (op) {
        emit(", \"External id\": %d", op->external);
    }
}

static void write_call(const node *n, const work *w, int64_t start, int64_t dur,
                       int64_t correlation) {
    const node *op = n;
    while (op && op->kind != K_OP) {
        op = op->around;
    }
    begin_event("X",
                is_old()    ? "Runtime"
                : w->driver ? "cuda_driver"
                            : "cuda_runtime",
                w->call);
    host_row(n->tid, start);
    duration(dur, start + dur);
    emit(", \"args\": {\"cbid\": %d, \"correlation\": %" PRId64, w->cbid, correlation);
    external_text(op, correlation);
    emit("}}");
    kind_counts[w->driver ? K_DRIVER : K_RUNTIME]++;
}

static void write_work(const node *op, const work *w, int stream, int64_t start, int64_t dur,
                       int64_t correlation) {
    char ts[32];
    begin_event("X", w->cat, w->name);
    emit(is_old() ? ", \"pid\": 0, \"tid\": \"stream %d\"" : ", \"pid\": 0, \"tid\": %d",
         stream);
    emit(", \"ts\": %s", time_text(ts, base_us * 1000 + start));
    duration(dur, start + dur);
    emit(
        ", \"args\": {\"device\": 0, \"context\": 1, \"stream\": %d, \"correlation\": %" PRId64,
        stream, correlation);
    external_text(op, correlation);
    if (w->kind == K_KERNEL) {
        emit(", \"queued\": 0, \"registers per thread\": 56, \"shared memory\": 0, "
             "\"blocks per SM\": 0.5, \"warps per SM\": 4.0, \"grid\": [66, 1, 1], "
             "\"block\": [256, 1, 1], \"est. achieved occupancy %%\": 6}}");
    } else {
        emit(", \"bytes\": 4096, \"memory bandwidth (GB/s)\": 1.5}}");
    }
    kind_counts[w->kind]++;
}

/* A call inside n that starts work on a stream; its time is a child of n, its work belongs to
 * the op. */
static void launch(node *n, const work *w) {
    int64_t start = *now(n), dur = some_ns(20, 90), correlation = next_correlation++;
    int index = pick(opt.streams);
    node *op = n;
    while (op && op->kind != K_OP) {
        op = op->around;
    }
    write_call(n, w, start, dur, correlation);
    *now(n) = start + dur;
    add_child(n, dur, 0, NULL);
    int64_t from = start + dur + some_ns(10, 100), length = some_ns(5, 900);
    from = from > stream_free[index] ? from : stream_free[index] + some_ns(0, 20);
    stream_free[index] = from + length;
    write_work(op, w, 7 + 4 * index, from, length, correlation);
    const char *arrow = is_old() ? "async" : "ac2g";
    flow("s", arrow, correlation, n->tid, start);
    begin_event("f", arrow, arrow);
    char ts[32];
    emit(", \"id\": %" PRId64 ", \"pid\": 0, \"tid\": %d, \"ts\": %s, \"bp\": \"e\"}",
         correlation, 7 + 4 * index, time_text(ts, base_us * 1000 + from));
    n_with_call++;
    n_with_op += op != NULL;
    if (op) {
        op->sums.device_self += length;
    }
    if (w->kind == K_KERNEL) {
        int k = name_id(w->name);
        count_kernel(&kernel_answers[k], length);
        count_kernel(&kernel_op_answers[k][op ? op->sums.name : NO_OP], length);
    }
}

/* A call that launches nothing: a child all the same. */
static void plain_call(node *n) {
    work w = {is_old() ? "cudaGetDevice" : "cudaStreamIsCapturing", NULL, NULL, 0, 317, false};
    int64_t start = *now(n), dur = some_ns(10, 20);
    write_call(n, &w, start, dur, next_correlation++);
    *now(n) = start + dur;
    add_child(n, dur, 0, NULL);
}

/* ---- host ops --------------------------------------------------------------------------- */

static const char *const op_names[] = {
    "aten::linear",
    "aten::addmm",
    "aten::mm",
    "aten::matmul",
    "aten::t",
    "aten::transpose",
    "aten::as_strided",
    "aten::view",
    "aten::reshape",
    "aten::empty",
    "aten::empty_strided",
    "aten::copy_",
    "aten::to",
    "aten::_to_copy",
    "aten::add",
    "aten::add_",
    "aten::mul",
    "aten::gelu",
    "aten::softmax",
    "aten::_softmax",
    "aten::layer_norm",
    "aten::native_layer_norm",
    "aten::dropout",
    "aten::sum",
    "aten::div",
    "aten::zero_",
    "aten::fill_",
    "aten::detach",
    "aten::embedding",
    "aten::index_select",
    "mylib::fused",
    "detach",
};
enum { N_OPS = sizeof op_names / sizeof *op_names };

static void write_memory(const node *n) {
    static int64_t total;
    int64_t bytes = 512 * (1 + pick(64)), at = n->start;
    bytes = total > 1 << 22 ? -bytes : bytes;
    total += bytes;
    begin_event("i", is_old() ? NULL : "cpu_instant_event", "[memory]");
    char ts[32];
    emit(", \"s\": \"t\", \"pid\": %d, \"tid\": %d, \"ts\": %s, \"args\": {", pid, n->tid,
         time_text(ts, base_us * 1000 + at));
    emit("\"Device Type\": 1, \"Device Id\": 0, \"Bytes\": %" PRId64, bytes);
    if (!is_old()) {
        emit(", \"Addr\": %" PRId64 ", \"Total Allocated\": %" PRId64
             ", \"Total Reserved\": 8388608, \"Ev Idx\": %d",
             140000000000000 + total, total, next_event++);
    }
    emit("}}");
    n_memory++;
}

static void write_op(const node *n, int sequence, int forward_thread) {
    char more[400] = "";
    size_t at = 0;
    if (sequence) {
        at += (size_t)sprintf(more + at, ", \"Sequence number\": %d, \"Fwd thread id\": %d",
                              sequence, forward_thread);
    }
    if (opt.shapes) {
        int rows = 8 << n->sums.name % 4;
        sprintf(more + at,
                ", \"Concrete Inputs\": [\"\", \"\", \"1\"], \"Input type\": [\"float\", "
                "\"float\", "
                "\"Scalar\"], \"Input Strides\": [[64, 1], [1, 64], []], "
                "\"Input Dims\": [[%d, 64], [64, %d], []]",
                rows, rows);
    }
    write_node(n, is_old() ? "Operator" : "cpu_op", names[n->sums.name], more);
}

static void make_op(node *around, int name, int tid, int level);

/* A python frame or module call around one op: no node, since self times look through it. */
static void framed_op(node *around, int name, int tid, int level) {
    bool module = pick(6) == 0;
    int id = next_python++, parent = python_parent[tid - pid], number = pick(40);
    int64_t start = clock_of[tid - pid];
    clock_of[tid - pid] += some_ns(1, 10);
    python_parent[tid - pid] = id;
    if (pick(5) == 0) {
        framed_op(around, name, tid, level);
    } else {
        make_op(around, name, tid, level);
    }
    python_parent[tid - pid] = parent;
    clock_of[tid - pid] += some_ns(1, 10);
    char text[96];
    if (module) {
        sprintf(text, "nn.Module: Linear_%d", number);
    } else {
        sprintf(text, "torch/nn/modules/layer%d.py(%d): forward", number % 7, 10 * number);
    }
    begin_event("X", "python_function", text);
    host_row(tid, start);
    duration(clock_of[tid - pid] - start, clock_of[tid - pid]);
    emit(", \"args\": {\"Python id\": %d, \"Python parent id\": ", id);
    emit(parent ? "%d" : "null", parent);
    if (module) {
        emit(", \"Python module id\": %d", number);
    }
    emit(", \"Ev Idx\": %d}}", next_event++);
    kind_counts[module ? K_MODULE : K_PYTHON]++;
}

/* What an op does: launches, calls, ops below, sometimes an annotation. */
static void fill_op(node *n, int level) {
    int parts = level > 0 ? 1 + pick(3) : pick(2);
    if (level > 0 && chance(6)) { /* one op of the same name and nothing else: one op */
        make_op(n, n->sums.name, n->tid, level - 1);
        return;
    }
    for (int i = 0; i < parts; i++) {
        int what = pick(100);
        if (what < opt.launches) {
            work w = pick_work();
            launch(n, &w);
        } else if (what < opt.launches + 6) {
            plain_call(n);
        } else if (what < opt.launches + 9 && level > 0) {
            int range = name_id("my range");
            node inner = open_node(n, K_ANNOTATION, range, n->tid);
            *now(n) += some_ns(5, 20);
            make_op(&inner, name_id(op_names[pick(N_OPS)]), n->tid, level - 1);
            *now(n) += some_ns(5, 20);
            close_node(&inner);
            write_node(&inner, is_old() ? "Python" : "user_annotation", names[range], "");
        } else if (level > 0) {
            void (*make)(node *, int, int, int) = opt.stack && what > 90 ? framed_op : make_op;
            make(n, name_id(op_names[pick(N_OPS)]), n->tid, level - 1);
        }
        *now(n) += some_ns(2, 30);
    }
}

static void make_op(node *around, int name, int tid, int level) {
    node n = open_node(around, K_OP, name, tid);
    /* Sometimes an op and its first child have exactly the same range: the ids distinguish
     * them. */
    bool tight = chance(4) && level > 0;
    if (!tight) {
        *now(&n) += some_ns(5, 60);
        fill_op(&n, level);
        *now(&n) += some_ns(5, 60);
    } else {
        make_op(&n, name_id(op_names[pick(N_OPS)]), tid, level - 1);
    }
    close_node(&n);
    write_op(&n, 0, 0);
    if (opt.memory && chance(40)) {
        write_memory(&n);
    }
}

/* A top-level op, in frames when stacks are wanted, with a pause after it. */
static void top_op(node *around, int tid) {
    int name = name_id(op_names[pick(N_OPS)]);
    if (opt.stack) {
        framed_op(around, name, tid, opt.depth - 1);
        for (int i = pick(opt.frames); i > 0; i--) {
            begin_event("X", "python_function",
                        "<built-in method __getitem__ of torch._C._TensorMeta object>");
            int64_t start = clock_of[tid - pid], dur = some_ns(1, 8);
            host_row(tid, start);
            duration(dur, start + dur);
            emit(", \"args\": {\"Python id\": %d, \"Python parent id\": null, \"Ev Idx\": %d}}",
                 next_python++, next_event++);
            clock_of[tid - pid] += dur + some_ns(1, 5);
            kind_counts[K_PYTHON]++;
        }
    } else {
        make_op(around, name, tid, opt.depth - 1);
    }
    clock_of[tid - pid] += some_ns(5, 100);
}

/* ---- a training step -------------------------------------------------------------------- */

/* The frames of record_function's own enter and exit overlap the range partially, as in
 * reality. */
static void edge_frame(int tid, int64_t start, int64_t end, const char *name) {
    begin_event("X", "python_function", name);
    host_row(tid, start);
    duration(end - start, end);
    emit(", \"args\": {\"Python id\": %d, \"Python parent id\": null, \"Ev Idx\": %d}}",
         next_python++, next_event++);
    kind_counts[K_PYTHON]++;
    n_overlaps++;
}

static void make_range(node *step, int kind, const char *name, int ops) {
    int64_t enter = *now(step), device_from = stream_free[0];
    *now(step) += 2000;
    node n = open_node(step, kind, name_id(name), step->tid);
    *now(&n) += 4000;
    if (opt.stack) {
        edge_frame(n.tid, enter, n.start + 2000, "torch/autograd/profiler.py(918): __enter__");
    }
    for (int i = 0; i < ops; i++) {
        top_op(&n, n.tid);
    }
    if (ops > 4) { /* a launch that no op is around */
        work w = pick_work();
        launch(&n, &w);
    }
    int64_t leave = *now(&n) + 1000;
    *now(&n) += 3000;
    close_node(&n);
    write_node(&n, is_old() ? "Operator" : "user_annotation", name, "");
    *now(&n) += 2000;
    if (opt.stack) {
        edge_frame(n.tid, leave, *now(&n), "torch/autograd/profiler.py(932): __exit__");
        *now(&n) += 1000;
    }
    if (opt.vintage >= 2024 && stream_free[0] > device_from && kind == K_OPTIMIZER) {
        char ts[32];
        begin_event("X", "gpu_user_annotation", name);
        emit(", \"pid\": 0, \"tid\": 7, \"ts\": %s",
             time_text(ts, base_us * 1000 + device_from));
        duration(stream_free[0] - device_from, stream_free[0]);
        emit(", \"args\": {\"External id\": %d}}", n.external);
        kind_counts[K_GPU_ANNOTATION]++;
    }
}

static const char *const backward_names[] = {"AddmmBackward0", "MulBackward0", "GeluBackward0",
                                             "ViewBackward0", "NativeLayerNormBackward0"};

/* Autograd's pair: evaluate_function { XBackward0 { ops } }, with an arrow from the forward op.
 */
static void backward_op(int tid, int sequence, int64_t forward_at, int forward_tid) {
    char text[96];
    const char *name = backward_names[pick(5)];
    sprintf(text, "autograd::engine::evaluate_function: %s", name);
    node outer = open_node(NULL, K_OP, name_id(text), tid);
    *now(&outer) += some_ns(5, 20);
    node inner = open_node(&outer, K_OP, name_id(name), tid);
    *now(&inner) += some_ns(5, 20);
    for (int i = 1 + pick(2); i > 0; i--) {
        make_op(&inner, name_id(op_names[pick(N_OPS)]), tid, opt.depth > 2 ? opt.depth - 3 : 0);
        *now(&inner) += some_ns(5, 20);
    }
    close_node(&inner);
    write_op(&inner, sequence, 1);
    flow("s", "fwdbwd", next_flow, forward_tid, forward_at);
    flow("f", "fwdbwd", next_flow++, tid, inner.start);
    n_forward_backward++;
    *now(&outer) += some_ns(5, 20);
    close_node(&outer);
    write_op(&outer, sequence, 1);
    clock_of[tid - pid] += some_ns(5, 40);
}

static void collective(node *step) {
    node n = open_node(step, K_ANNOTATION, name_id("nccl:all_reduce"), step->tid);
    *now(&n) += some_ns(10, 30);
    node op = open_node(&n, K_OP, name_id("record_param_comms"), step->tid);
    *now(&op) += some_ns(10, 30);
    work w = {"cudaLaunchKernelExC",
              "kernel",
              "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
              K_KERNEL,
              430,
              false};
    launch(&op, &w);
    *now(&op) += some_ns(10, 30);
    close_node(&op);
    char more[320];
    sprintf(
        more,
        ", \"Collective name\": \"allreduce\", \"dtype\": \"Float\", \"In msg nelems\": "
        "53120, \"Out msg nelems\": 53120, \"Group size\": %d, \"Process Group Name\": \"0\", "
        "\"Process Group Description\": \"default_pg\", \"Seq\": %d, \"Rank\": %d",
        opt.world, next_sequence, opt.rank);
    write_node(&op, "cpu_op", "record_param_comms", more);
    *now(&n) += some_ns(10, 30);
    close_node(&n);
    write_node(&n, "user_annotation", "nccl:all_reduce", "");
    *now(&n) += some_ns(10, 30);
}

static void make_step(int number) {
    char text[32];
    sprintf(text, "ProfilerStep#%d", number);
    node step = open_node(NULL, K_STEP, name_id("ProfilerStep"), pid);
    *now(&step) += some_ns(20, 100);
    make_range(&step, K_DATA, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 2);
    make_range(&step, K_OPTIMIZER, "Optimizer.zero_grad#AdamW.zero_grad", 0);
    int forward = opt.ops * 2 / 5, first = next_sequence;
    int64_t *at = must(calloc((size_t)forward + 1, sizeof *at));
    for (int i = 0; i < forward; i++) {
        at[i] = *now(&step);
        top_op(&step, pid);
    }
    next_sequence += forward;
    if (opt.world > 1 && !is_old()) {
        collective(&step);
    }
    int tid = pid + (opt.threads > 1);
    for (int i = 2; i < opt.threads; i++) { /* other threads work at the same time */
        clock_of[i] = clock_of[i] > step.start ? clock_of[i] : step.start;
        top_op(NULL, pid + i);
    }
    clock_of[tid - pid] = *now(&step) + 1000;
    if (tid != pid) { /* on the main thread itself these would have to hang below the step */
        for (int i = forward; i-- > 0;) {
            backward_op(tid, first + i, at[i], pid);
        }
    }
    *now(&step) = clock_of[tid - pid] > *now(&step) ? clock_of[tid - pid] : *now(&step);
    *now(&step) += 1000;
    make_range(&step, K_OPTIMIZER, "Optimizer.step#AdamW.step", opt.ops / 5);
    close_node(&step);
    write_node(&step, is_old() ? "Operator" : "user_annotation", text, "");
    *now(&step) += some_ns(20, 100);
    free(at);
}

/* ---- faults ----------------------------------------------------------------------------- */

enum { FAULT_THREAD = 60, FAULT_NS = 10000 };

/* An op with this name as raw bytes and these arguments; `answer` is the name as JSON spells
 * it. */
static void fault_op(const char *raw, const char *answer, const char *args) {
    int tid = pid + FAULT_THREAD;
    begin_event("X", is_old() ? "Operator" : "cpu_op", raw);
    host_row(tid, clock_of[FAULT_THREAD]);
    duration(FAULT_NS, clock_of[FAULT_THREAD] + FAULT_NS);
    emit(", \"args\": {\"External id\": %d%s}}", next_external++, args);
    closed_op c = {.name = name_id(answer), .dur = FAULT_NS};
    record_op(&c);
    kind_counts[K_OP]++;
    clock_of[FAULT_THREAD] += 2 * FAULT_NS;
}

/* Events that are lost, or kept outside the operators. */
static void lossy_faults(void) {
    int tid = pid + FAULT_THREAD;
    int64_t *at = &clock_of[FAULT_THREAD];
    if (opt.fault[FAULT_negative_duration]) {
        begin_event("X", "cpu_op", "fault::negative");
        host_row(tid, *at);
        emit(", \"dur\": -5, \"args\": {}}");
        count_lost("negative_duration");
    }
    if (opt.fault[FAULT_missing_name]) {
        begin_event("X", "cpu_op", NULL);
        host_row(tid, *at);
        emit(", \"dur\": 5, \"args\": {}}");
        count_lost("missing_name");
    }
    if (opt.fault[FAULT_missing_cat]) {
        begin_event("X", NULL, "fault::no category");
        host_row(tid, *at);
        emit(", \"dur\": 5, \"args\": {}}");
        *at += FAULT_NS;
        kind_counts[K_OTHER]++;
        count_lost("missing_category");
    }
    if (opt.fault[FAULT_orphan_correlation]) {
        work w = {NULL, is_old() ? "Kernel" : "kernel", "orphan_kernel", K_KERNEL, 0, false};
        int64_t start = stream_free[0] + 1000;
        stream_free[0] = start + FAULT_NS;
        write_work(NULL, &w, 7, start, FAULT_NS, 900000000 + next_correlation++);
        count_kernel(&kernel_answers[name_id(w.name)], FAULT_NS);
        count_kernel(&kernel_op_answers[name_id(w.name)][NO_OP], FAULT_NS);
        count_lost("orphan_correlation");
    }
    if (opt.fault[FAULT_partial_overlap]) {
        fault_op("fault::left", "fault::left", "");
        *at -= 2 * FAULT_NS - FAULT_NS / 2;
        fault_op("fault::right", "fault::right", "");
        n_overlaps++;
    }
}

static void deep_args(char *text, int levels) {
    size_t at = (size_t)sprintf(text, ", \"deep\": ");
    memset(text + at, '[', (size_t)levels);
    memset(text + at + levels, ']', (size_t)levels);
    text[at + 2 * (size_t)levels] = 0;
}

/* Events that a tolerant reader saves whole. */
static void text_faults(void) {
    static const struct {
        int fault;
        const char *raw, *answer, *args;
    } table[] = {
        {FAULT_unescaped_quote, "fault::say \"hi\" now", "fault::say \\\"hi\\\" now", ""},
        {FAULT_bad_escape, "fault::C:\\qdir", "fault::C:\\\\qdir", ""},
        {FAULT_control_character, "fault::tab\there\x01", "fault::tab\\there\\u0001", ""},
        {FAULT_bare_na, "fault::na", "fault::na", ", \"x\": N/A, \"y\": 1"},
        {FAULT_nan, "fault::nan", "fault::nan",
         ", \"x\": NaN, \"y\": Infinity, \"z\": -Infinity"},
        {FAULT_trailing_comma, "fault::comma", "fault::comma", ", \"x\": [1, 2, ], "},
        {FAULT_duplicate_key, "fault::twice", "fault::twice", ", \"x\": 1, \"x\": 2"},
        {FAULT_bad_utf8, "fault::utf8 \xff\xfe", "fault::utf8 \\ufffd\\ufffd", ""},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (opt.fault[table[i].fault]) {
            fault_op(table[i].raw, table[i].answer, table[i].args);
        }
    }
    char text[512];
    if (opt.fault[FAULT_deep]) {
        deep_args(text, 200);
        fault_op("fault::deep", "fault::deep", text);
    }
    if (opt.fault[FAULT_long_number]) {
        size_t at = (size_t)sprintf(text, ", \"n\": ");
        memset(text + at, '7', 400);
        text[at + 400] = 0;
        fault_op("fault::long number", "fault::long number", text);
    }
}

/* ---- the whole Kineto file -------------------------------------------------------------- */

static void write_info(const char *before, const char *after) {
    emit("%s\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %d, \"world_size\": %d, "
         "\"pg_count\": 1}%s",
         before, opt.rank, opt.world, after);
}

static void write_header(void) {
    if (opt.fault[FAULT_bare_list]) {
        emit("[");
        return;
    }
    emit("{\n\"schemaVersion\": 1,\n\"deviceProperties\": [{\"id\": 0, \"name\": \"Made-up "
         "GPU\", "
         "\"totalGlobalMem\": 85899345920, \"computeMajor\": 9, \"computeMinor\": 0, "
         "\"maxThreadsPerBlock\": 1024, \"maxThreadsPerMultiprocessor\": 2048, \"warpSize\": "
         "32, "
         "\"numSms\": 132}],\n");
    if (opt.world > 1 && !opt.fault[FAULT_late_info]) {
        write_info("", ",\n");
    }
    if (opt.vintage >= 2025) {
        emit("\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": 1759104000000000000,\n");
    }
    emit("\"traceEvents\": [");
}

static void write_metadata(void) {
    begin_event("M", NULL, "process_name");
    emit(", \"pid\": %d, \"tid\": 0, \"ts\": 0, \"args\": {\"name\": \"python\"}}", pid);
    begin_event("M", NULL, "process_labels");
    emit(", \"pid\": %d, \"tid\": 0, \"ts\": 0, \"args\": {\"labels\": \"CPU\"}}", pid);
    for (int i = 0; i < opt.threads; i++) {
        begin_event("M", NULL, "thread_name");
        emit(", \"pid\": %d, \"tid\": %d, \"ts\": 0, \"args\": {\"name\": \"thread %d "
             "(python)\"}}",
             pid, pid + i, pid + i);
    }
    begin_event("M", NULL, "process_labels");
    emit(", \"pid\": 0, \"tid\": 0, \"ts\": 0, \"args\": {\"labels\": \"GPU 0\"}}");
}

static void write_trailer(void) {
    char ts[32], dur[32];
    begin_event("X", "Trace", "PyTorch Profiler (0)");
    emit(", \"pid\": \"Spans\", \"tid\": \"PyTorch Profiler\", \"ts\": %s, \"dur\": %s, "
         "\"args\": "
         "{\"Op count\": 0}}",
         time_text(ts, base_us * 1000), time_text(dur, last_ns));
    kind_counts[K_SPAN]++;
    begin_event("i", NULL, "Record Window End");
    emit(", \"s\": \"g\", \"pid\": \"\", \"tid\": \"\", \"ts\": %s}",
         time_text(ts, base_us * 1000 + last_ns + 1000));
    emit("\n]");
    if (opt.fault[FAULT_late_info]) {
        write_info(",\n", "");
    }
    emit(opt.fault[FAULT_bare_list] ? "\n" : ",\n\"traceName\": \"made.json\"\n}\n");
}

static void write_op_answers(FILE *f) {
    const char *comma = "";
    fprintf(f, " \"operators\": {");
    for (int i = 0; i < n_names; i++) {
        const op_answer *a = &op_answers[i];
        if (a->calls) {
            fprintf(f,
                    "%s\n  \"%s\": {\"calls\": %" PRId64 ", \"host_total\": %" PRId64
                    ", \"host_self\": %" PRId64 ", \"device_total\": %" PRId64
                    ", \"device_self\": %" PRId64 "}",
                    comma, names[i], a->calls, a->host_total, a->host_self, a->device_total,
                    a->device_self);
            comma = ",";
        }
    }
    fprintf(f, "\n },\n");
}

static void write_kernel(FILE *f, const kernel_answer *k) {
    fprintf(f,
            "\"calls\": %" PRId64 ", \"total\": %" PRId64 ", \"max\": %" PRId64
            ", \"min\": %" PRId64 "}",
            k->calls, k->total, k->max, k->min);
}

static void write_kernel_answers(FILE *f) {
    const char *comma = "";
    fprintf(f, " \"kernels\": {");
    for (int i = 0; i < n_names; i++) {
        if (kernel_answers[i].calls) {
            fprintf(f, "%s\n  \"%s\": {", comma, names[i]);
            write_kernel(f, &kernel_answers[i]);
            comma = ",";
        }
    }
    fprintf(f, "\n },\n \"kernels_by_op\": [");
    comma = "";
    for (int i = 0; i < n_names; i++) {
        for (int op = 0; op <= NO_OP; op++) {
            if (kernel_op_answers[i][op].calls) {
                fprintf(f, "%s\n  {\"name\": \"%s\", \"op\": ", comma, names[i]);
                fprintf(f, op == NO_OP ? "null, " : "\"%s\", ", op == NO_OP ? "" : names[op]);
                write_kernel(f, &kernel_op_answers[i][op]);
                comma = ",";
            }
        }
    }
    fprintf(f, "\n ],\n");
}

static void write_answers(int steps) {
    FILE *f = fopen(opt.answers, "w");
    if (!f) {
        die("cannot write", opt.answers);
    }
    fprintf(f, "{\n");
    write_op_answers(f);
    write_kernel_answers(f);
    fprintf(f, " \"kinds\": {");
    const char *comma = "";
    for (int i = 0; i < N_K; i++) {
        if (kind_counts[i]) {
            fprintf(f, "%s\"%s\": %" PRId64, comma, kind_names[i], kind_counts[i]);
            comma = ", ";
        }
    }
    fprintf(f, "},\n \"lost\": {");
    for (int i = 0; i < n_lost; i++) {
        fprintf(f, "%s\"%s\": %" PRId64, i ? ", " : "", lost[i].cause, lost[i].count);
    }
    fprintf(f,
            "},\n \"with_call\": %" PRId64 ", \"with_op\": %" PRId64 ", \"memory\": %" PRId64
            ", \"partial_overlaps\": %" PRId64 ", \"forward_backward\": %" PRId64
            ", \"steps\": %d\n}\n",
            n_with_call, n_with_op, n_memory, n_overlaps, n_forward_backward, steps);
    if (fclose(f) != 0) {
        die("cannot write", opt.answers);
    }
}

static int kineto(void) {
    base_us = opt.vintage < 2024   ? 1623142623000000
              : opt.vintage < 2025 ? 1711964646000000
                                   : 3844118598000;
    write_header();
    write_metadata();
    int steps = 0;
    while (opt.bytes ? out.written + out.used < opt.bytes : steps < opt.steps) {
        make_step(5 + steps++);
        clock_of[FAULT_THREAD] = clock_of[0];
        lossy_faults();
        text_faults();
    }
    write_trailer();
    out_flush();
    if (opt.answers) {
        write_answers(steps);
    }
    return 0;
}

/* ---- chrome ----------------------------------------------------------------------------- */

static void chrome_event(const char *phase, const char *name, int tid, int64_t at) {
    char ts[32];
    begin_event(phase, "app", name);
    emit(", \"pid\": %d, \"tid\": %d, \"ts\": %s", pid, tid, time_text(ts, at));
}

/* A range with ranges inside, half of them complete events, half begin and end. */
static void chrome_range(int tid, int level) {
    static const char *const words[] = {"load", "parse", "compute", "write", "wait"};
    const char *word = words[pick(5)];
    int64_t *at = &clock_of[tid], start = *at;
    bool pair = chance(50);
    if (pair) {
        chrome_event("B", word, tid, start);
        emit("}");
    }
    *at += some_ns(5, 50);
    for (int i = level > 0 ? pick(3) : 0; i > 0; i--) {
        chrome_range(tid, level - 1);
    }
    *at += some_ns(5, 50);
    chrome_event(pair ? "E" : "X", word, tid, pair ? *at : start);
    if (!pair) {
        duration(*at - start, *at);
    }
    emit(", \"args\": {\"level\": %d}}", level);
    op_answer *a = &op_answers[name_id(word)];
    a->calls++;
    a->host_total += *at - start;
    *at += some_ns(1, 10);
}

static void chrome_points(int i, int tid) {
    int64_t at = clock_of[tid];
    chrome_event("i", "mark", tid, at);
    emit(", \"s\": \"t\"}");
    chrome_event("C", "queue", tid, at);
    emit(", \"args\": {\"length\": %d, \"bytes\": %d.5}}", pick(10), pick(1000));
    static const char *const flow_phases[] = {"s", "t", "f"}, *const async[] = {"b", "n", "e"};
    for (int k = 0; k < 3; k++) {
        chrome_event(flow_phases[k], "arrow", tid, at + 100 * k);
        emit(", \"id\": %d%s}", i, k == 2 ? ", \"bp\": \"e\"" : "");
        chrome_event(async[k], "request", tid, at + 1000 * k);
        emit(", \"id\": \"0x%x\"}", i);
    }
}

static int chrome(void) {
    emit(opt.fault[FAULT_bare_list] ? "[" : "{\"traceEvents\": [");
    write_metadata();
    int rounds = 0;
    for (int i = 0; i < opt.events / 20 + 1; i++, rounds++) {
        int tid = i % (opt.threads > 0 ? opt.threads : 1);
        chrome_range(tid, opt.depth);
        chrome_points(i + 1, tid);
    }
    emit(opt.fault[FAULT_bare_list] ? "\n]\n" : "\n]}\n");
    out_flush();
    if (opt.answers) {
        kind_counts[K_OTHER] =
            rounds; /* instants, counters, arrows, async ranges: one each a round */
        write_answers(0);
    }
    return 0;
}

/* ---- command line ----------------------------------------------------------------------- */

static uint64_t size_of(const char *text) {
    char *end;
    uint64_t value = strtoull(text, &end, 10);
    return *end == 'K'   ? value << 10
           : *end == 'M' ? value << 20
           : *end == 'G' ? value << 30
                         : value;
}

static void set_faults(char *list) {
    for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
        int i = 0;
        if (strncmp(word, "truncated:", 10) == 0) {
            out.limit = size_of(word + 10);
            continue;
        }
        while (i < N_FAULTS && strcmp(word, fault_names[i]) != 0) {
            i++;
        }
        if (i == N_FAULTS) {
            fprintf(stderr, "gentrace: there are the faults truncated:BYTES");
            for (i = 0; i < N_FAULTS; i++) {
                fprintf(stderr, " %s", fault_names[i]);
            }
            fputc('\n', stderr);
            die("unknown fault", word);
        }
        opt.fault[i] = true;
    }
}

static void parse(int argc, char **argv) {
    static const struct {
        const char *name;
        int *value;
    } numbers[] = {
        {"--steps", &opt.steps},     {"--ops-per-step", &opt.ops}, {"--depth", &opt.depth},
        {"--streams", &opt.streams}, {"--threads", &opt.threads},  {"--world", &opt.world},
        {"--rank", &opt.rank},       {"--vintage", &opt.vintage},  {"--events", &opt.events}};
    enum { N_NUMBERS = sizeof numbers / sizeof *numbers };
    for (int i = 2; i < argc; i++) {
        char *value = i + 1 < argc ? argv[i + 1] : NULL;
        int k = 0;
        while (k < N_NUMBERS && strcmp(argv[i], numbers[k].name) != 0) {
            k++;
        }
        if (strcmp(argv[i], "--memory") == 0) {
            opt.memory = true;
        } else if (strcmp(argv[i], "--stack") == 0) {
            opt.stack = true;
        } else if (strcmp(argv[i], "--shapes") == 0) {
            opt.shapes = true;
        } else if (!value) {
            die("unknown option, or missing value", argv[i]);
        } else if (k < N_NUMBERS) {
            *numbers[k].value = atoi(argv[++i]);
        } else if (strcmp(argv[i], "--seed") == 0) {
            opt.seed = strtoull(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--bytes") == 0) {
            opt.bytes = size_of(argv[++i]);
        } else if (strcmp(argv[i], "--answers") == 0) {
            opt.answers = argv[++i];
        } else if (strcmp(argv[i], "--fault") == 0) {
            set_faults(argv[++i]);
        } else if (strcmp(argv[i], "--shape-of") == 0 && strcmp(value, "gpt") == 0) {
            i++;
            opt.memory = opt.stack = opt.shapes = true;
            opt.ops = 600;
            opt.depth = 5;
            opt.launches = 14;
            opt.frames = 13;
        } else {
            die("unknown option", argv[i]);
        }
    }
}

static void check_options(void) {
    if (opt.streams < 1 || opt.streams > 16 || opt.threads < 1 || opt.threads > 32 ||
        opt.depth < 1 || opt.depth > 12 || opt.ops < 0 || opt.steps < 0) {
        die("streams are 1..16, threads 1..32, depth 1..12", NULL);
    }
    if (opt.vintage < 2022) {
        opt.stack = false; /* there were no Python frames then */
    }
    shape_state = opt.seed * 0x2545f4914f6cdd1du;
    time_state = shape_state ^ ((uint64_t)opt.rank + 1) * 0x9e6c63d0876a9a47u;
}

int main(int argc, char **argv) {
    out.bytes = must(malloc(OUT_SIZE));
    const char *command = argc > 1 ? argv[1] : "";
    if (strcmp(command, "repeat") == 0) {
        return repeat(argc, argv);
    }
    if (strcmp(command, "cluster") == 0) {
        return gentrace_cluster(argc, argv);
    }
    if (strcmp(command, "plant") == 0) {
        return gentrace_plant(argc, argv);
    }
    if (strcmp(command, "worst") == 0) {
        return gentrace_worst(argc, argv);
    }
    bool is_kineto = strcmp(command, "kineto") == 0;
    if (!is_kineto && strcmp(command, "chrome") != 0) {
        die("usage: gentrace repeat N IN.json | kineto [options] | chrome [options] | cluster "
            "DIR | plant CAUSE | worst SHAPE N",
            NULL);
    }
    parse(argc, argv);
    check_options();
    return is_kineto ? kineto() : chrome();
}
