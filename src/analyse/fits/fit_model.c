/* fit_model.c: how much memory a program would take with another batch or length. */
#include "analyse/fits/fit_model.h"

#include <math.h>

#include "base/num.h"

/* ---- one recording ----------------------------------------------------------------------- */

/* The accelerator that holds most; the host where no accelerator has totals. */
static uint32_t choose_device(const memory_view *m) {
    uint32_t found = GROUP_NONE;
    for (uint32_t i = 0; i < m->devices.n; i++) {
        const memory_device *d = GROUP_ROW(&m->devices, memory_device, i);
        if (!d->has_totals) continue;
        if (found == GROUP_NONE) {
            found = i;
            continue;
        }
        const memory_device *best = GROUP_ROW(&m->devices, memory_device, found);
        bool host = d->type == DEVICE_CPU, best_host = best->type == DEVICE_CPU;
        if (host != best_host ? best_host : d->peak > best->peak) found = i;
    }
    return found;
}

/* What the first total counts beyond the blocks that have rows. */
static int64_t find_older(const fit_run *r) {
    const trace *t = r->view.t;
    uint32_t first = 1;
    while (first < t->memory.n &&
           (r->view.device_of[first] != r->device || t->memory.allocated[first] == ABSENT_I64))
        first++;
    if (first >= t->memory.n) return 0;
    int64_t known = 0;
    for (uint32_t i = 1; i < t->memory.n; i++)
        if (alloc_makes_block(&r->view, r->device, i) && memory_is_held(t, i, first))
            known = add_i64(known, memory_bytes(t, i));
    return max_i64(0, sub_i64(t->memory.allocated[first], known));
}

static int64_t find_grain(const fit_run *r) {
    const trace *t = r->view.t;
    const memory_device *d = GROUP_ROW(&r->view.devices, memory_device, r->device);
    if (d->type == DEVICE_CPU) return 1;
    for (uint32_t i = 1; i < t->memory.n; i++)
        if (alloc_makes_block(&r->view, r->device, i) && memory_bytes(t, i) % ALLOCATOR_STEP)
            return 1;
    return ALLOCATOR_STEP;
}

status fit_run_init(fit_run *r, const trace *t, run_size given, const params *p, arena *a,
                    error *err) {
    *r = (fit_run){.reserved = ABSENT_I64};
    TRY(memory_view_init(&r->view, t, p, a, err));
    memory_find_peaks(&r->view);
    r->device = choose_device(&r->view);
    if (r->device == GROUP_NONE) return OK;
    int64_t reserved = GROUP_ROW(&r->view.devices, memory_device, r->device)->most_reserved;
    if (reserved > 0) r->reserved = reserved; /* a host reserves nothing */
    TRY(memory_parts_init(&r->parts, t, a, err));
    TRY(alloc_sites_init(&r->sites, &r->view, r->device, a, err));
    TRY(run_shapes_find(&r->shapes, t, given, a, err));
    r->older = find_older(r);
    r->grain = find_grain(r);
    return OK;
}

/* ---- laws -------------------------------------------------------------------------------- */

static run_size known_size(const fit_run *r) {
    run_size s = r->shapes.size;
    return (run_size){max_i64(1, s.batch), max_i64(1, s.length)};
}

static size_guess guess_of(const fit_run *r, uint32_t row) {
    const trace *t = r->view.t;
    switch (r->parts.part[row]) {
    case PART_WEIGHTS:
    case PART_GRADIENTS:
    case PART_OPTIMIZER_STATE:
    case PART_COMMUNICATION: return (size_guess){.known = true};
    case PART_UNKNOWN:
        if (t->memory.kind[row] == MEMORY_EXISTING) return (size_guess){.known = false};
        break;
    default: break;
    }
    if (memory_is_workspace((memory_phases *)&r->parts.phases, row))
        return (size_guess){.known = true};
    return run_shapes_guess(&r->shapes, memory_op(t, row), memory_bytes(t, row));
}

static void learn_one(fit_model *f, uint32_t row, const fit_run *other) {
    const fit_run *r = f->run;
    const trace *t = r->view.t;
    uint32_t twin = other ? alloc_sites_match(&other->sites, &r->sites, row) : 0;
    size_guess guess = guess_of(r, row);
    int64_t bytes = memory_bytes(t, row);
    f->blocks++;
    f->matched += twin != 0;
    if (twin) {
        run_size at[2] = {known_size(other), known_size(r)};
        int64_t sizes[2] = {memory_bytes(other->view.t, twin), bytes};
        f->law[row] = size_law_of_two(at, sizes, guess, max_i64(r->grain, other->grain));
    } else {
        f->law[row] = size_law_of_one(known_size(r), bytes, guess);
        f->doubt[row] = other && !guess.known ? DOUBT_UNMATCHED
                        : guess.known         ? DOUBT_ASSUMED
                                              : DOUBT_GUESSED;
    }
    uint32_t before = alloc_sites_before(&r->sites, row);
    if (!before || memory_bytes(t, before) == bytes || r->sites.step_of[row] < 3) return;
    f->doubt[row] = DOUBT_VARIES;
    f->spread[row] = (float)(fabs((double)sub_i64(memory_bytes(t, before), bytes)) /
                             (double)max_i64(1, bytes));
}

/* Weights and states are older than most recordings; they do not depend on the batch. */
static void learn_older(fit_model *f, const fit_run *other) {
    run_size at[2] = {{1, 1}, known_size(f->run)};
    size_guess constant = {.known = true};
    int64_t bytes[2] = {0, f->run->older};
    f->older_law = size_law_of_one(at[1], bytes[1], constant);
    if (!other) return;
    at[0] = known_size(other);
    bytes[0] = other->older;
    bool grew =
        abs_u64(sub_i64(bytes[1], bytes[0])) > (uint64_t)max_i64(bytes[0], bytes[1]) / 1000;
    if (grew) f->older_law = size_law_of_two(at, bytes, constant, 1);
}

status fit_model_learn(fit_model *f, const fit_run *run, const fit_run *other, arena *a,
                       error *err) {
    const trace *t = run->view.t;
    *f = (fit_model){.run = run, .arena = a};
    size_t n = (size_t)t->memory.n + 1;
    f->law = ARENA_ARRAY(a, size_law, n);
    f->doubt = ARENA_ARRAY(a, uint8_t, n);
    f->spread = ARENA_ARRAY(a, float, n);
    f->rows = ARENA_ARRAY(a, uint32_t, n);
    f->held = ARENA_ARRAY(a, uint32_t, n);
    if (!f->law || !f->doubt || !f->spread || !f->rows || !f->held) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->memory.n; i++) {
        uint32_t partner = t->memory.partner[i];
        bool makes = alloc_makes_block(&run->view, run->device, i);
        bool ends = t->memory.kind[i] == MEMORY_FREE && partner &&
                    alloc_makes_block(&run->view, run->device, partner);
        if (makes || ends) f->rows[f->n_rows++] = i;
        if (makes) learn_one(f, i, other);
    }
    learn_older(f, other);
    return OK;
}

/* How far the replay of the recording is from what was reserved in it: streams, other settings
 * of the allocator, and segments that are older than the recording are not known. */
status fit_model_check(fit_model *f, allocator_kind kind, error *err) {
    fit_question as_recorded = {
        .at = known_size(f->run), .allocator = kind, .limit = INT64_MAX};
    fit_answer found;
    f->reserved_off = 0;
    if (f->run->reserved == ABSENT_I64 || kind == ALLOCATOR_EXACT) return OK;
    TRY(fit_model_replay(f, &as_recorded, &found, err));
    f->reserved_off =
        fabs((double)sub_i64(found.reserved, f->run->reserved)) / (double)f->run->reserved;
    return OK;
}

/* ---- replay ------------------------------------------------------------------------------ */

static bool ends_block(const trace *t, uint32_t row) {
    return t->memory.kind[row] == MEMORY_FREE;
}

typedef struct {
    int64_t now, most;
} running_sum;

static void add_bytes(running_sum *s, int64_t bytes) {
    s->now = add_i64(s->now, bytes);
    s->most = max_i64(s->most, s->now);
}

/* The most that is allocated at any moment, with all sizes at one end of their range. */
static void find_range(const fit_model *f, const fit_question *q, int64_t *least,
                       int64_t *most) {
    const trace *t = f->run->view.t;
    running_sum low = {0}, high = {0};
    int64_t older = size_law_at(&f->older_law, q->at);
    add_bytes(&low, older);
    add_bytes(&high, older);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < f->n_rows; i++) {
            uint32_t row = f->rows[i];
            bool ends = ends_block(t, row), was_there = ends && !t->memory.partner[row];
            if (pass == 0 && !was_there) continue; /* first what is older than the recording */
            uint32_t of = ends && !was_there ? t->memory.partner[row] : row;
            int64_t a, b;
            size_law_range(&f->law[of], q->at, &a, &b);
            a = round_i64((double)a * fmax(0, 1 - (double)f->spread[of]));
            b = round_i64((double)b * (1 + (double)f->spread[of]));
            a = allocator_round(q->allocator, a);
            b = allocator_round(q->allocator, b);
            bool minus = ends && pass == 1;
            add_bytes(&low, minus ? sub_i64(0, a) : a);
            add_bytes(&high, minus ? sub_i64(0, b) : b);
        }
    *least = low.most;
    *most = high.most;
}

static status take(fit_model *f, caching_allocator *c, uint32_t row, const fit_question *q,
                   error *err) {
    return allocator_take(c, size_law_at(&f->law[row], q->at), &f->held[row], err);
}

static status replay_events(fit_model *f, const fit_question *q, caching_allocator *c,
                            fit_answer *out, error *err) {
    const trace *t = f->run->view.t;
    uint32_t older;
    TRY(allocator_take(c, size_law_at(&f->older_law, q->at), &older, err));
    for (uint32_t i = 0; i < f->n_rows; i++) {
        uint32_t row = f->rows[i];
        if (ends_block(t, row) && !t->memory.partner[row]) TRY(take(f, c, row, q, err));
    }
    int64_t most = c->most_allocated;
    for (uint32_t i = 0; i < f->n_rows && !c->exhausted; i++) {
        uint32_t row = f->rows[i], partner = t->memory.partner[row];
        if (ends_block(t, row))
            allocator_release(c, f->held[partner ? partner : row]);
        else
            TRY(take(f, c, row, q, err));
        if (c->allocated <= most) continue;
        most = c->allocated;
        out->peak_row = row;
    }
    return OK;
}

status fit_model_replay(fit_model *f, const fit_question *q, fit_answer *out, error *err) {
    caching_allocator c;
    arena scratch;
    *out = (fit_answer){.peak_row = 0};
    arena_init(&scratch, 0);
    status s = allocator_init(&c, q->allocator, q->limit, &scratch, err);
    if (s == OK) s = replay_events(f, q, &c, out, err);
    arena_fini(&scratch);
    TRY(s);
    out->allocated = c.most_allocated;
    out->reserved = c.most_reserved;
    out->retries = c.retries;
    out->exhausted = c.exhausted;
    find_range(f, q, &out->least, &out->most);
    /* The allocator adds to any sizes what it adds to the expected ones. */
    int64_t added = sub_i64(out->reserved, out->allocated);
    double off = q->allocator == ALLOCATOR_EXACT ? 0 : f->reserved_off;
    out->least = add_i64(min_i64(out->least, out->allocated), added);
    out->most = add_i64(max_i64(out->most, out->allocated), added);
    out->least = round_i64((double)out->least * (1 - off));
    out->most = round_i64((double)out->most * (1 + off));
    return OK;
}

static status fits_with(fit_model *f, const fit_question *q, int64_t batch, bool *fits,
                        error *err) {
    fit_question one = *q;
    fit_answer found;
    one.at.batch = batch;
    TRY(fit_model_replay(f, &one, &found, err));
    *fits = !found.exhausted;
    return OK;
}

status fit_model_largest(fit_model *f, const fit_question *q, int64_t *batch, error *err) {
    enum { MOST_BATCH = 1 << 24 };
    int64_t low = 0, high = 1;
    bool fits = true;
    while (fits && high < MOST_BATCH) {
        TRY(fits_with(f, q, high, &fits, err));
        if (!fits) break;
        low = high;
        high = mul_i64(high, 2);
    }
    *batch = fits ? INT64_MAX : 0;
    if (fits) return OK;
    while (sub_i64(high, low) > 1) {
        int64_t middle = add_i64(low, sub_i64(high, low) / 2);
        TRY(fits_with(f, q, middle, &fits, err));
        if (fits)
            low = middle;
        else
            high = middle;
    }
    *batch = low;
    return OK;
}
