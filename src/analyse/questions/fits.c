/* fits.c: does a program fit into the memory of a device with another batch or length?
 *
 *   fits      the answer for what was asked: the peak with its range, and whether it fits
 *   batches   the same for batches from one to the largest that fits: the curve
 *   parts     what the peak would be made of; blocks: by operator, module and line
 *   recorded  what the recordings took, and what the replay gives for them: how far to trust it
 *   unknown   what cannot be known, and how much of the peak it is (fits_tables.c) */
#include "analyse/questions/fits.h"

#include <string.h>

#include "analyse/rules.h"
#include "base/message_ids_advice.h"

/* ---- what was asked ---------------------------------------------------------------------- */

/* "8" or "8,16": the number of one of the recordings, 0 where it does not say. */
static status read_pair(const params *p, const char *name, int64_t out[2], error *err) {
    str text = param_text(p, str_of(name));
    for (int i = 0; i < 2 && text.n; i++)
        if (!str_to_i64(str_cut(&text, STR(",")), &out[i]) || out[i] < 1)
            return param_fail(p, str_of(name), "N[,N]", err);
    return text.n ? param_fail(p, str_of(name), "N[,N]", err) : OK;
}

static status read_sizes(const params *p, run_size given[2], error *err) {
    int64_t batch[2] = {0, 0}, length[2] = {0, 0};
    TRY(read_pair(p, "recorded_batch", batch, err));
    TRY(read_pair(p, "recorded_length", length, err));
    for (int i = 0; i < 2; i++) given[i] = (run_size){batch[i], length[i]};
    return OK;
}

static allocator_kind choose_allocator(const fits_question *f, const params *p) {
    str name = param_text(p, STR("allocator"));
    if (str_eq(name, STR("exact"))) return ALLOCATOR_EXACT;
    if (str_eq(name, STR("caching"))) return ALLOCATOR_CACHING;
    if (str_eq(name, STR("expandable"))) return ALLOCATOR_EXPANDABLE;
    bool host = f->device->type == DEVICE_CPU;
    return host && f->ask.limit == INT64_MAX ? ALLOCATOR_EXACT : ALLOCATOR_CACHING;
}

/* Accelerators are sold in units of 1024: 80G are 80 GiB. */
static status read_limit(fits_question *f, const params *p, error *err) {
    str text = param_text(p, STR("device"));
    int64_t bytes = f->device->capacity == ABSENT_I64 ? INT64_MAX : f->device->capacity;
    str size = text.n && strchr("GMT", text.p[text.n - 1])
                   ? arena_printf(f->arena, "%.*siB", STR_ARG(text))
                   : text;
    if (text.n && (!value_parse(VALUE_SIZE, NULL, size, &bytes) || bytes < 1))
        return param_fail(p, STR("device"), "SIZE", err);
    f->ask.limit = bytes;
    return OK;
}

static status read_question(fits_question *f, const params *p, error *err) {
    int64_t batch = 0, length = 0;
    run_size known = f->run->shapes.size;
    TRY(param_count(p, STR("batch"), &batch, err));
    TRY(param_count(p, STR("length"), &length, err));
    if (batch && !known.batch) FAIL0(err, ERR_ARG, NOPOS, MSG_FITS_NO_BATCH);
    if (length && !known.length) FAIL0(err, ERR_ARG, NOPOS, MSG_FITS_NO_LENGTH);
    f->ask.at.batch = max_i64(1, batch ? batch : known.batch);
    f->ask.at.length = max_i64(1, length ? length : known.length);
    TRY(read_limit(f, p, err));
    f->ask.allocator = choose_allocator(f, p);
    return OK;
}

/* ---- the verdict ------------------------------------------------------------------------- */

static bool is_nothing_recorded(const void *facts, verdict *v) {
    (void)v;
    return !((const fits_question *)facts)->run;
}

/* A range that is narrower than one part in so many reads as one number. */
enum { SAME_IN_WORDS = 500 };

static void say_peak(const fits_question *f, verdict *v) {
    if (f->run->shapes.size.batch) verdict_add(v, arg_int("batch", f->ask.at.batch));
    if (f->run->shapes.size.length) verdict_add(v, arg_int("length", f->ask.at.length));
    verdict_add(v, arg_bytes("peak", f->free.reserved));
    if (sub_i64(f->free.most, f->free.least) > f->free.reserved / SAME_IN_WORDS) {
        verdict_add(v, arg_bytes("least", f->free.least));
        verdict_add(v, arg_bytes("most", f->free.most));
    }
    if (f->ask.limit != INT64_MAX) verdict_add(v, arg_bytes("limit", f->ask.limit));
    if (f->largest > 0 && f->largest != INT64_MAX)
        verdict_add(v, arg_int("largest", f->largest));
    /* The part that only a table can translate is the argument's name. */
    if (f->part < PART_UNKNOWN && f->part_bytes > 0)
        verdict_add(v, arg_bytes(memory_part_name(f->part).p, f->part_bytes));
    if (f->n_runs == 1) verdict_add(v, arg_int("one", 1));
}

static bool does_not_fit(const void *facts, verdict *v) {
    const fits_question *f = facts;
    if (!f->limited.exhausted) return false;
    say_peak(f, v);
    return true;
}

static bool fits_barely(const void *facts, verdict *v) {
    const fits_question *f = facts;
    if (f->ask.limit == INT64_MAX || !fits_is_tight(f, &f->limited)) return false;
    say_peak(f, v);
    return true;
}

static bool does_fit(const void *facts, verdict *v) {
    const fits_question *f = facts;
    if (f->ask.limit == INT64_MAX) return false;
    say_peak(f, v);
    return true;
}

static bool has_peak(const void *facts, verdict *v) {
    say_peak(facts, v);
    return true;
}

static const rule rules[] = {
    {"memory_not_recorded", MSG_VERDICT_MEMORY_NONE, SEVERITY_INFO, is_nothing_recorded},
    {"fits_not", MSG_VERDICT_FITS_NOT, SEVERITY_CRITICAL, does_not_fit},
    {"fits_barely", MSG_VERDICT_FITS_BARELY, SEVERITY_WARNING, fits_barely},
    {"fits", MSG_VERDICT_FITS, SEVERITY_GOOD, does_fit},
    {"fits_peak", MSG_VERDICT_FITS_PEAK, SEVERITY_INFO, has_peak},
};

/* ---- all of it --------------------------------------------------------------------------- */

static status open_run(fit_run *r, const analysis_input *in, run_size given, const params *p,
                       arena *a, error *err) {
    const trace *t = in->traces[0].trace;
    TRY(trace_require(t, MEMORY_SPLIT_TABLES | SELECT_TABLES, err));
    return fit_run_init(r, t, given, p, a, err);
}

static bool is_larger(const fit_run *x, const fit_run *y) {
    run_size a = x->shapes.size, b = y->shapes.size;
    return mul_i64(max_i64(1, a.batch), max_i64(1, a.length)) >
           mul_i64(max_i64(1, b.batch), max_i64(1, b.length));
}

/* The larger recording is replayed: it is nearer to what is asked in most cases. */
static status open_runs(fits_question *f, const analysis_input *in, const params *p, arena *a,
                        error *err) {
    run_size given[2];
    const fit_run *first = &f->runs[0], *second = NULL;
    TRY(read_sizes(p, given, err));
    TRY(open_run(&f->runs[0], in, given[0], p, a, err));
    f->n_runs = 1;
    if (first->device == GROUP_NONE) return OK;
    if (in->against) {
        TRY(open_run(&f->runs[1], in->against, given[1], p, a, err));
        second = &f->runs[1];
        if (second->device == GROUP_NONE) second = NULL;
    }
    f->n_runs = second ? 2 : 1;
    bool swap = second && is_larger(second, first);
    f->run = swap ? second : first;
    f->device = GROUP_ROW(&f->run->view.devices, memory_device, f->run->device);
    return fit_model_learn(&f->model, f->run, swap ? first : second, a, err);
}

static status answer_asked(fits_question *f, const params *p, error *err) {
    TRY(read_question(f, p, err));
    fit_question unlimited = f->ask;
    unlimited.limit = INT64_MAX;
    TRY(fit_model_check(&f->model, f->ask.allocator, err));
    TRY(fit_model_replay(&f->model, &unlimited, &f->free, err));
    f->limited = f->free;
    if (f->ask.limit != INT64_MAX) {
        TRY(fit_model_replay(&f->model, &f->ask, &f->limited, err));
        if (f->run->shapes.size.batch)
            TRY(fit_model_largest(&f->model, &f->ask, &f->largest, err));
    }
    return OK;
}

status analyse_fits(const analysis_input *in, const params *p, arena *a, answer *out,
                    error *err) {
    fits_question *f = ARENA_NEW(a, fits_question);
    TRY(answer_begin("fits", in, a, out, err));
    if (!f) FAIL_MEMORY(err);
    *f = (fits_question){.arena = a, .out = out, .part = PART_UNKNOWN};
    TRY(open_runs(f, in, p, a, err));
    if (f->run) TRY(answer_asked(f, p, err));
    TRY(fits_write_tables(f, p, err));
    rules_apply(rules, sizeof rules / sizeof *rules, f, &out->verdict);
    answer_finish(out, p);
    return OK;
}
