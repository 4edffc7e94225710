/* seal_unmarked.c: the steps of a trace in which nothing marks them, in order of trust:
 *
 *   optimizer   from one Optimizer.step to the next; with a data loader from the fetch
 *               before it
 *   range       a range of the user's that repeats and holds four fifths of all work
 *   work        the names of kernels (by the time of their launch) repeat, else those of
 *               operators
 *
 * A step that is found begins with the outermost operator that holds its first launch and
 * nothing of the step before. What comes before the first step and after the last belongs to
 * none. */
#include "base/bisect.h"
#include "base/num.h"
#include "base/sort.h"
#include "store/builder_int.h"
#include "store/period.h"
#include "store/step_marks.h"

/* A piece of work in order of time: a kernel, or an operator without one around it. */
typedef struct {
    int64_t time;   /* on the host, where it is known */
    uint32_t slice; /* the call or operator on the host; 0 = not known */
    uint32_t name;
    uint8_t ends;  /* as a loop does once a round */
    uint32_t work; /* slice of the device work itself; 0: an operator */
} work_item;

typedef struct {
    seal_ctx *s;
    work_item *items;
    uint32_t n;
    bool device; /* items are device work */
} finder;

static int64_t end_of(const seal_ctx *s, uint32_t slice) {
    return s->slice.start[slice] + s->slice.dur[slice];
}

static str name_of(const seal_ctx *s, uint32_t slice) {
    return intern_get(s->b->strings, s->slice.name[slice]);
}

/* Rows 1 … n of the step table, numbered from 0. `starts` has n + 1 times. */
static status write_steps(seal_ctx *s, const int64_t *starts, const int64_t *ends, uint32_t n,
                          step_how how, double confidence, error *err) {
    TRY(seal_table(s, TABLE_step, (size_t)n + 1, err));
    for (uint32_t i = 0; i < n; i++) {
        s->step.number[i + 1] = i;
        s->step.start[i + 1] = starts[i];
        s->step.end[i + 1] = max_i64(starts[i], ends[i]);
        s->step.how[i + 1] = (uint8_t)how;
        s->step.confidence[i + 1] = confidence;
    }
    return OK;
}

/* ---- optimizer steps --------------------------------------------------------------------- */

/* The thread with the most optimizer steps, and their name: of several the one that ends
 * last. */
static uint32_t find_optimizer(const seal_ctx *s, uint32_t *name, uint32_t *n) {
    uint32_t best = 0;
    for (uint32_t t = 1; t < s->track.n; t++) {
        uint32_t here = 0, last = 0;
        for (uint32_t i = s->track.first[t]; i < s->track.end[t]; i++) {
            uint8_t kind = s->slice.kind[i];
            if ((kind != KIND_OPTIMIZER && kind != KIND_ANNOTATION) ||
                !is_optimizer_step(s->slice.kind[i], name_of(s, i)))
                continue;
            here++;
            last = i;
        }
        if (here <= *n) continue;
        *n = here;
        best = t;
        *name = s->slice.name[last];
    }
    return best;
}

typedef struct {
    int64_t *starts, *ends;
    uint32_t n;
    int64_t begun; /* of the step that is open; ABSENT_I64: none is */
} bracket_ctx;

static void close_step(bracket_ctx *b, int64_t end, int64_t next) {
    b->starts[b->n] = b->begun;
    b->ends[b->n++] = end;
    b->begun = next;
}

/* Without a data loader a step begins where the one before ends. */
static void bracket(const seal_ctx *s, uint32_t track, uint32_t name, bool by_data,
                    bracket_ctx *b) {
    int64_t updated = ABSENT_I64;
    b->begun = ABSENT_I64;
    for (uint32_t i = s->track.first[track]; i < s->track.end[track]; i++) {
        uint8_t kind = s->slice.kind[i];
        if (kind == KIND_SPAN || kind == KIND_OVERHEAD) continue;
        if (by_data && kind == KIND_DATA) {
            if (updated != ABSENT_I64) close_step(b, s->slice.start[i], ABSENT_I64);
            if (b->begun == ABSENT_I64) b->begun = s->slice.start[i];
            updated = ABSENT_I64;
        }
        if (b->begun == ABSENT_I64) b->begun = s->slice.start[i];
        if (s->slice.name[i] != name || !is_optimizer_step(s->slice.kind[i], name_of(s, i)))
            continue;
        updated = end_of(s, i);
        if (!by_data) close_step(b, updated, updated);
    }
    if (by_data && updated != ABSENT_I64) close_step(b, updated, ABSENT_I64);
}

static status find_by_optimizer(seal_ctx *s, error *err) {
    uint32_t name = 0, n = 0, fetches = 0, track = find_optimizer(s, &name, &n);
    if (n < 2) return OK;
    for (uint32_t i = s->track.first[track]; i < s->track.end[track]; i++)
        fetches += s->slice.kind[i] == KIND_DATA;
    bracket_ctx b = {.starts = seal_scratch(s, (size_t)n + 2, sizeof(int64_t)),
                     .ends = seal_scratch(s, (size_t)n + 2, sizeof(int64_t))};
    if (!b.starts || !b.ends) FAIL_MEMORY(err);
    bracket(s, track, name, fetches > 1, &b);
    return b.n > 1 ? write_steps(s, b.starts, b.ends, b.n, STEP_BY_OPTIMIZER, 1, err) : OK;
}

/* ---- work in order of time --------------------------------------------------------------- */

static bool holds(str text, const char *word) {
    return str_find_nocase(text, str_of(word), 0) != SIZE_MAX;
}

/* What a name says of what it names. */
enum { NAME_READ = 1, NAME_MOVES = 2, NAME_UPDATES = 4, NAME_REPLAYS = 8 };

/* Each name is read once: kernels have long ones, and a few of them by the thousand. */
static uint8_t read_name(const seal_ctx *s, uint8_t *said, uint32_t name) {
    if (said[name]) return said[name];
    str text = intern_get(s->b->strings, name);
    uint8_t says = NAME_READ;
    if (holds(text, "DtoH") || holds(text, "HtoD") || holds(text, "DeviceToHost") ||
        holds(text, "HostToDevice"))
        says |= NAME_MOVES;
    if (holds(text, "multi_tensor_apply") || holds(text, "adam") || holds(text, "sgd"))
        says |= NAME_UPDATES;
    if (holds(text, "GraphLaunch")) says |= NAME_REPLAYS;
    return said[name] = says;
}

/* What a loop does once a round: it moves a batch or a result, updates weights, replays a
 * graph. */
static bool ends_round(const seal_ctx *s, uint8_t *said, uint32_t kernel) {
    uint32_t slice = s->kernel.slice[kernel], launch = s->kernel.launch[kernel];
    uint8_t says = read_name(s, said, s->slice.name[slice]);
    if (s->slice.kind[slice] == KIND_MEMCPY) return says & NAME_MOVES;
    return says & NAME_UPDATES ||
           (launch && read_name(s, said, s->slice.name[launch]) & NAME_REPLAYS);
}

static uint64_t sort_key(int64_t time) {
    return (uint64_t)time ^ (uint64_t)1 << 63;
}

/* Rows of table kernel by the start of their launch, then by their own. NULL: out of memory. */
static sort_pair *order_kernels(seal_ctx *s, bool launched, uint32_t *n) {
    sort_pair *pairs = seal_scratch(s, 2 * (size_t)s->kernel.n, sizeof *pairs);
    for (uint32_t k = 1; pairs && k < s->kernel.n; k++)
        if (s->kernel.launch[k] || !launched)
            pairs[(*n)++] = (sort_pair){sort_key(s->slice.start[s->kernel.slice[k]]), k};
    if (!pairs) return NULL;
    sort_radix(pairs, pairs + s->kernel.n, *n);
    for (uint32_t i = 0; i < *n && launched; i++)
        pairs[i].key = sort_key(s->slice.start[s->kernel.launch[pairs[i].row]]);
    if (launched) sort_radix(pairs, pairs + s->kernel.n, *n);
    return pairs;
}

/* Has nearly all device work a launch? What ran before the first that has one was launched
 * before the recording began: a deep queue takes a while to run dry. */
static bool are_launched(const seal_ctx *s) {
    uint64_t launched = 0, later = 0;
    int64_t first = INT64_MAX;
    for (uint32_t k = 1; k < s->kernel.n; k++)
        if (s->kernel.launch[k]) first = min_i64(first, s->slice.start[s->kernel.slice[k]]);
    for (uint32_t k = 1; k < s->kernel.n; k++) {
        launched += s->kernel.launch[k] != 0;
        later += s->slice.start[s->kernel.slice[k]] >= first;
    }
    return launched && launched * 10 >= later * 9;
}

static status list_kernels(finder *f, error *err) {
    seal_ctx *s = f->s;
    bool by_launch = are_launched(s);
    sort_pair *pairs = order_kernels(s, by_launch, &f->n);
    f->items = seal_scratch(s, (size_t)f->n + 1, sizeof *f->items);
    uint8_t *said = seal_scratch(s, (size_t)intern_count(s->b->strings) + 1, 1);
    if (!pairs || !f->items || !said) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t k = pairs[i].row, launch = by_launch ? s->kernel.launch[k] : 0;
        f->items[i] = (work_item){.time = s->slice.start[launch ? launch : s->kernel.slice[k]],
                                  .slice = launch,
                                  .work = s->kernel.slice[k],
                                  .name = s->slice.name[s->kernel.slice[k]],
                                  .ends = ends_round(s, said, k)};
    }
    f->device = true;
    return OK;
}

static bool is_top_operator(const seal_ctx *s, uint32_t slice) {
    uint32_t up = s->slice.parent[slice];
    if (s->slice.kind[slice] != KIND_OP) return false;
    for (int i = 0; up && i < MAX_CLIMB; i++, up = s->slice.parent[up])
        if (s->slice.kind[up] == KIND_OP) return false;
    return true;
}

static status list_operators(finder *f, error *err) {
    seal_ctx *s = f->s;
    uint32_t n = 0;
    for (uint32_t i = 1; i < s->slice.n; i++) n += is_top_operator(s, i);
    sort_pair *pairs = seal_scratch(s, 2 * (size_t)n + 1, sizeof *pairs);
    f->items = seal_scratch(s, (size_t)n + 1, sizeof *f->items);
    if (!pairs || !f->items) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < s->slice.n; i++)
        if (is_top_operator(s, i)) pairs[f->n++] = (sort_pair){sort_key(s->slice.start[i]), i};
    sort_radix(pairs, pairs + n, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slice = pairs[i].row;
        f->items[i] = (work_item){
            .time = s->slice.start[slice], .slice = slice, .name = s->slice.name[slice]};
    }
    return OK;
}

/* ---- a range that repeats ---------------------------------------------------------------- */

/* The first item that begins at this time or later. */
static uint32_t first_item_at(const finder *f, int64_t time) {
    return SEARCH_FIRST(i, 0, f->n, f->items[i].time < time);
}

/* Items that begin in [from, to), with from ≤ to. */
static uint32_t count_items(const finder *f, int64_t from, int64_t to) {
    return first_item_at(f, to) - first_item_at(f, from);
}

enum { LEAST_RANGES = 3 };

/* Is it inside a range of which there are as many? Then that one is the step. */
static bool is_in_repeated(const seal_ctx *s, uint32_t slice, const uint32_t *count) {
    uint32_t up = s->slice.parent[slice];
    for (int i = 0; up && i < MAX_CLIMB; i++, up = s->slice.parent[up])
        if (s->slice.kind[up] == KIND_ANNOTATION && count[s->slice.name[up]] >= LEAST_RANGES)
            return true;
    return false;
}

/* Name of the range that holds the most work, and its thread; 0: none holds four fifths. */
static uint32_t choose_range(const finder *f, uint32_t *count, uint64_t *work) {
    const seal_ctx *s = f->s;
    uint32_t best = 0;
    for (uint32_t i = 1; i < s->slice.n; i++)
        if (s->slice.kind[i] == KIND_ANNOTATION) count[s->slice.name[i]]++;
    for (uint32_t i = 1; i < s->slice.n; i++) {
        uint32_t name = s->slice.name[i];
        if (s->slice.kind[i] != KIND_ANNOTATION || count[name] < LEAST_RANGES ||
            is_in_repeated(s, i, count))
            continue;
        work[name] += count_items(f, s->slice.start[i], end_of(s, i));
        if (!best || work[name] > work[best]) best = name;
    }
    return best && work[best] * 5 >= f->n * 4ull && work[best] <= f->n ? best : 0;
}

static status find_by_range(finder *f, error *err) {
    seal_ctx *s = f->s;
    size_t n_names = (size_t)intern_count(s->b->strings) + 1;
    if (!memchr(s->slice.kind, KIND_ANNOTATION, s->slice.n)) return OK;
    uint32_t *count = seal_scratch(s, n_names, sizeof *count), n = 0;
    uint64_t *work = seal_scratch(s, n_names, sizeof *work);
    if (!count || !work) FAIL_MEMORY(err);
    uint32_t name = choose_range(f, count, work);
    if (!name) return OK;
    int64_t *starts = seal_scratch(s, count[name], sizeof *starts),
            *ends = seal_scratch(s, count[name], sizeof *ends), until = INT64_MIN;
    if (!starts || !ends) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < s->slice.n; i++) {
        if (s->slice.kind[i] != KIND_ANNOTATION || s->slice.name[i] != name ||
            is_in_repeated(s, i, count))
            continue;
        if (s->slice.start[i] < until) return OK; /* on two threads, or overlapping: no steps */
        starts[n] = s->slice.start[i];
        ends[n++] = until = end_of(s, i);
    }
    if (n < LEAST_RANGES) return OK;
    return write_steps(s, starts, ends, n, STEP_BY_RANGE, (double)work[name] / (double)f->n,
                       err);
}

/* ---- work that repeats ------------------------------------------------------------------- */

/* Where the step that begins with this item begins on the host. */
static int64_t begin_of(const finder *f, uint32_t item) {
    const seal_ctx *s = f->s;
    uint32_t at = f->items[item].slice;
    while (at && item && f->items[item - 1].slice == at) item--;
    int64_t begin = f->items[item].time, before = item ? f->items[item - 1].time : INT64_MIN;
    for (int i = 0; at && i < MAX_CLIMB; i++, at = s->slice.parent[at]) {
        uint8_t kind = s->slice.kind[at];
        if (s->slice.start[at] <= before || kind == KIND_SPAN) break;
        begin = s->slice.start[at];
    }
    return begin;
}

static int cmp_lengths(uint32_t a, uint32_t b, const void *context) {
    const int64_t *starts = context;
    int64_t x = starts[a + 1] - starts[a], y = starts[b + 1] - starts[b];
    return x != y ? (x < y ? -1 : 1) : a < b ? -1 : a > b;
}

/* End of the last step: of its last launch, or as much more of what the host recorded as a step
 * of median length has. */
static int64_t last_end(finder *f, const int64_t *starts, uint32_t n, uint32_t *order) {
    const seal_ctx *s = f->s;
    int64_t host = INT64_MIN, work = f->items[f->n - 1].time;
    if (f->items[f->n - 1].slice) work = end_of(s, f->items[f->n - 1].slice);
    for (uint32_t i = 1; i < s->slice.n; i++) {
        uint8_t kind = s->slice.kind[i];
        if (kind == KIND_OP || kind_is_call(kind) ||
            (f->device && !f->items[0].slice && kind_is_device(kind)))
            host = max_i64(host, end_of(s, i));
    }
    for (uint32_t i = 0; i + 1 < n; i++) order[i] = i;
    sort_index(order, order + n, n - 1, cmp_lengths, starts);
    uint32_t typical = order[(n - 1) / 2];
    int64_t usual = add_i64(starts[n - 1], sub_i64(starts[typical + 1], starts[typical]));
    return max_i64(work, min_i64(host, usual));
}

/* Parts of one step repeat as well: rounds are steps where they hold most of the device's
 * time. */
static bool hold_most(const finder *f, const period *p) {
    const seal_ctx *s = f->s;
    int64_t inside = 0, all = 0;
    uint32_t end = p->last_is_whole ? f->n : p->starts[p->n - 1];
    for (uint32_t i = 0; i < f->n; i++) {
        int64_t ns = s->slice.dur[f->items[i].work];
        all = add_i64(all, ns);
        if (i >= p->starts[0] && i < end) inside = add_i64(inside, ns);
    }
    return inside >= all / 2;
}

static status write_rounds(finder *f, const period *p, error *err) {
    seal_ctx *s = f->s;
    if (f->device && !hold_most(f, p)) return OK;
    int64_t *starts = seal_scratch(s, (size_t)p->n + 1, sizeof *starts);
    uint32_t *order = seal_scratch(s, 2 * (size_t)p->n, sizeof *order);
    if (!starts || !order) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < p->n; i++) starts[i] = begin_of(f, p->starts[i]);
    starts[p->n] = last_end(f, starts, p->n, order);
    return write_steps(s, starts, starts + 1, p->last_is_whole ? p->n : p->n - 1,
                       f->device ? STEP_BY_KERNELS : STEP_BY_OPERATORS, p->confidence, err);
}

static status find_by_period(finder *f, error *err) {
    seal_ctx *s = f->s;
    uint32_t *symbols = seal_scratch(s, (size_t)f->n + 1, sizeof *symbols);
    uint32_t *calls = seal_scratch(s, (size_t)f->n + 1, sizeof *calls);
    uint8_t *ends = seal_scratch(s, (size_t)f->n + 1, 1);
    if (!symbols || !calls || !ends) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < f->n; i++) {
        symbols[i] = f->items[i].name;
        calls[i] = f->items[i].slice;
        ends[i] = f->items[i].ends;
    }
    period_question q = {.symbols = symbols,
                         .calls = calls,
                         .ends = ends,
                         .n = f->n,
                         .n_symbols = (uint32_t)intern_count(s->b->strings) + 1};
    period found;
    TRY(period_find(&q, &s->scratch, &found, err));
    return found.n ? write_rounds(f, &found, err) : OK;
}

status seal_unmarked_steps(seal_ctx *s, error *err) {
    finder f = {.s = s};
    TRY(find_by_optimizer(s, err));
    if (s->step.n > 1) return OK;
    TRY(s->kernel.n > 1 ? list_kernels(&f, err) : list_operators(&f, err));
    if (!f.n) return OK;
    TRY(find_by_range(&f, err));
    return s->step.n > 1 ? OK : find_by_period(&f, err);
}
