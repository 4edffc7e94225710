/* fits_tables.c: the tables of the question `fits`. */
#include "analyse/questions/fits.h"
#include "analyse/questions/memory_blocks.h"
#include "analyse/rows.h"
#include "base/message_ids_advice.h"

bool fits_is_tight(const fits_question *f, const fit_answer *x) {
    return x->retries > 0 || x->most > f->ask.limit;
}

static str verdict_word(const fits_question *f, const fit_answer *x) {
    if (f->ask.limit == INT64_MAX) return STR_NONE;
    if (x->exhausted) return STR("no");
    return fits_is_tight(f, x) ? STR("barely") : STR("yes");
}

static int64_t or_absent(int64_t known, int64_t v) {
    return known ? v : ABSENT_I64;
}

static status write_answer(fits_question *f, table *to, error *err) {
    run_size known = f->run->shapes.size;
    row_fits_fits row = row_fits_fits_none();
    row.device = f->device->name;
    row.batch = or_absent(known.batch, f->ask.at.batch);
    row.length = or_absent(known.length, f->ask.at.length);
    row.allocated = f->free.allocated;
    if (f->ask.allocator != ALLOCATOR_EXACT) row.reserved = f->free.reserved;
    row.least = f->free.least;
    row.most = f->free.most;
    if (f->ask.limit != INT64_MAX) row.limit = f->ask.limit;
    row.fits = verdict_word(f, &f->limited);
    if (f->largest != INT64_MAX) row.largest = or_absent(f->largest, f->largest);
    return put_fits_fits(to, &row, err);
}

/* ---- other batches ----------------------------------------------------------------------- */

static status write_batch(fits_question *f, int64_t batch, table *to, error *err) {
    row_fits_batches row = row_fits_batches_none();
    fit_question ask = f->ask;
    fit_answer free, limited;
    ask.at.batch = batch;
    ask.limit = INT64_MAX;
    TRY(fit_model_replay(&f->model, &ask, &free, err));
    limited = free;
    ask.limit = f->ask.limit;
    if (ask.limit != INT64_MAX && free.reserved > ask.limit)
        TRY(fit_model_replay(&f->model, &ask, &limited, err));
    row.batch = batch;
    row.allocated = free.allocated;
    if (ask.allocator != ALLOCATOR_EXACT) row.reserved = free.reserved;
    row.least = free.least;
    row.most = free.most;
    row.fits = verdict_word(f, &limited);
    return put_fits_batches(to, &row, err);
}

/* Powers of two up to twice the largest that fits or that was asked for, and these two. */
static status write_batches(fits_question *f, table *to, error *err) {
    int64_t largest = f->largest == INT64_MAX ? 0 : f->largest;
    int64_t own[] = {f->run->shapes.size.batch, f->ask.at.batch, largest}, done = 0;
    int64_t end = mul_i64(2, max_i64(own[0], max_i64(own[1], own[2])));
    if (!own[0]) return OK;
    for (int64_t power = 1;;) {
        int64_t next = power;
        for (size_t i = 0; i < N_OF(own); i++)
            if (own[i] > done) next = min_i64(next, own[i]);
        if (next > end) return OK;
        TRY(write_batch(f, next, to, err));
        done = next;
        while (power <= done) power *= 2;
    }
}

/* ---- what the peak would be made of ------------------------------------------------------ */

/* "batch × length²": what it grows with. */
static str growth_words(fits_question *f, uint8_t batch, uint8_t length) {
    static const char *const POWERS[] = {"", "", "²", "³", "⁴"};
    const char *batch_power = POWERS[batch < 5 ? batch : 4];
    const char *length_power = POWERS[length < 5 ? length : 4];
    const char *side = f->run->shapes.is_image ? "side" : "length";
    if (!f->run->shapes.size.length) length = 0;
    if (batch && length)
        return arena_printf(f->arena, "batch%s × %s%s", batch_power, side, length_power);
    if (batch) return arena_printf(f->arena, "batch%s", batch_power);
    return length ? arena_printf(f->arena, "%s%s", side, length_power) : STR("nothing");
}

static int64_t bytes_then(const fits_question *f, uint32_t row) {
    return allocator_round(f->ask.allocator, size_law_at(&f->model.law[row], f->ask.at));
}

static bool is_at_peak(const fits_question *f, uint32_t row) {
    const memory_view *m = &f->run->view;
    return alloc_makes_block(m, f->run->device, row) &&
           memory_is_held(m->t, row, f->free.peak_row);
}

/* The recorded moment of the peak, with each block as large as it would be. */
static status split_peak(fits_question *f, memory_split *recorded, memory_split *then,
                         error *err) {
    const trace *t = f->run->view.t;
    memory_moment at = {.device_type = f->device->type,
                        .device = f->device->id,
                        .row = f->free.peak_row,
                        .allocated = ABSENT_I64,
                        .reserved = ABSENT_I64};
    int64_t sum = f->run->older, whole = 0;
    for (uint32_t i = 1; i < t->memory.n; i++)
        if (is_at_peak(f, i)) sum = add_i64(sum, memory_bytes(t, i));
    at.allocated = sum;
    TRY(memory_split_at(&f->run->parts, &at, f->arena, recorded, err));
    *then = *recorded;
    for (uint32_t i = 1; i < t->memory.n; i++) {
        if (!is_at_peak(f, i)) continue;
        int64_t *bytes = &then->bytes[f->run->parts.part[i]];
        *bytes = max_i64(0, add_i64(*bytes, sub_i64(bytes_then(f, i), memory_bytes(t, i))));
    }
    int64_t older = sub_i64(size_law_at(&f->model.older_law, f->ask.at), f->run->older);
    then->bytes[PART_UNKNOWN] = max_i64(0, add_i64(then->bytes[PART_UNKNOWN], older));
    for (int i = 0; i < N_MEMORY_PARTS; i++) whole = add_i64(whole, then->bytes[i]);
    then->bytes[PART_UNUSED] = max_i64(0, sub_i64(f->free.reserved, whole));
    return OK;
}

static status write_parts(fits_question *f, table *to, error *err) {
    memory_split recorded, then;
    int64_t whole = 0;
    TRY(split_peak(f, &recorded, &then, err));
    for (int i = 0; i < N_MEMORY_PARTS; i++) whole = add_i64(whole, then.bytes[i]);
    for (uint8_t i = 0; i < N_MEMORY_PARTS; i++) {
        row_fits_parts row = row_fits_parts_none();
        if (!then.bytes[i] && !recorded.bytes[i]) continue;
        row.category = memory_part_name(i);
        row.bytes = then.bytes[i];
        if (i != PART_UNUSED) row.recorded = recorded.bytes[i];
        if (whole > 0) row.share = (double)then.bytes[i] / (double)whole;
        TRY(put_fits_parts(to, &row, err));
        if (i >= PART_UNKNOWN || then.bytes[i] <= f->part_bytes) continue;
        f->part = i;
        f->part_bytes = then.bytes[i];
    }
    return OK;
}

static status add_blocks(fits_question *f, block_groups *b, error *err) {
    const trace *t = f->run->view.t;
    for (uint32_t i = 1; i < t->memory.n; i++) {
        block_group *g;
        uint8_t batch, length;
        if (!is_at_peak(f, i)) continue;
        TRY(block_groups_at(b, i, &g, err));
        g->bytes = add_i64(g->bytes, bytes_then(f, i));
        g->recorded = add_i64(g->recorded, memory_bytes(t, i));
        g->blocks++;
        size_law_growth(&f->model.law[i], &batch, &length);
        if (batch > g->batch_power) g->batch_power = batch;
        if (length > g->length_power) g->length_power = length;
    }
    return OK;
}

static status write_blocks(fits_question *f, table *to, error *err) {
    memory_view view = f->run->view;
    block_groups b;
    TRY(block_groups_init(&b, &view, &f->run->parts, err));
    TRY(add_blocks(f, &b, err));
    const uint32_t *order = block_groups_by_size(&b);
    if (!order) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < b.rows.n; i++) {
        const block_group *g = GROUP_ROW(&b.rows, block_group, order[i]);
        row_fits_blocks row = row_fits_blocks_none();
        row.category = memory_part_name(g->part);
        row.op = g->op;
        if (g->module.n) row.module = g->module;
        row.line = g->line;
        row.bytes = g->bytes;
        row.recorded = g->recorded;
        row.allocations = g->blocks;
        row.grows_with = growth_words(f, g->batch_power, g->length_power);
        if (!row.grows_with.p) FAIL_MEMORY(err);
        TRY(put_fits_blocks(to, &row, err));
    }
    return OK;
}

/* ---- what the recordings took ------------------------------------------------------------ */

static status write_recorded(fits_question *f, table *to, error *err) {
    for (int i = 0; i < f->n_runs; i++) {
        const fit_run *r = &f->runs[i];
        const memory_device *d = GROUP_ROW(&r->view.devices, memory_device, r->device);
        row_fits_recorded row = row_fits_recorded_none();
        fit_question ask = {.allocator = f->ask.allocator, .limit = INT64_MAX};
        fit_answer x;
        ask.at =
            (run_size){max_i64(1, r->shapes.size.batch), max_i64(1, r->shapes.size.length)};
        if (r->reserved == ABSENT_I64) ask.allocator = ALLOCATOR_EXACT;
        TRY(fit_model_replay(&f->model, &ask, &x, err));
        row.recording = i + 1;
        row.batch = or_absent(r->shapes.size.batch, r->shapes.size.batch);
        row.length = or_absent(r->shapes.size.length, r->shapes.size.length);
        row.allocated = d->peak;
        row.replayed = x.allocated;
        if (r->reserved != ABSENT_I64) {
            row.reserved = r->reserved;
            row.replayed_reserved = x.reserved;
        }
        TRY(put_fits_recorded(to, &row, err));
    }
    return OK;
}

/* ---- what cannot be known ---------------------------------------------------------------- */

static const struct {
    const char *name;
    uint16_t why;
} DOUBTS[N_FIT_DOUBTS] = {
    [DOUBT_ASSUMED] = {"assumed", MSG_FITS_ASSUMED},
    [DOUBT_GUESSED] = {"guessed", MSG_FITS_GUESSED},
    [DOUBT_UNMATCHED] = {"unmatched", MSG_FITS_UNMATCHED},
    [DOUBT_VARIES] = {"varies", MSG_FITS_VARIES},
    [DOUBT_OLDER] = {"older", MSG_FITS_OLDER},
};

static status add_doubt(fits_question *f, table *to, const row_fits_unknown *found,
                        uint16_t why, error *err) {
    row_fits_unknown row = *found;
    verdict *v = ARENA_NEW(f->arena, verdict);
    if (!v) FAIL_MEMORY(err);
    *v = (verdict){.id = "fits_unknown", .message = why, .severity = SEVERITY_INFO};
    row.why = v;
    if (row.bytes != ABSENT_I64 && f->free.reserved > 0)
        row.share = (double)row.bytes / (double)f->free.reserved;
    return put_fits_unknown(to, &row, err);
}

static status write_unknown(fits_question *f, table *to, error *err) {
    const trace *t = f->run->view.t;
    int64_t bytes[N_FIT_DOUBTS] = {0}, blocks[N_FIT_DOUBTS] = {0};
    for (uint32_t i = 1; i < t->memory.n; i++) {
        if (!is_at_peak(f, i)) continue;
        uint8_t doubt = f->model.doubt[i];
        bytes[doubt] = add_i64(bytes[doubt], bytes_then(f, i));
        blocks[doubt]++;
    }
    bytes[DOUBT_OLDER] = size_law_at(&f->model.older_law, f->ask.at);
    for (int d = DOUBT_NONE + 1; d < N_FIT_DOUBTS; d++) {
        row_fits_unknown row = row_fits_unknown_none();
        if (!bytes[d]) continue;
        row.reason = str_of(DOUBTS[d].name);
        row.bytes = bytes[d];
        if (blocks[d]) row.blocks = blocks[d];
        TRY(add_doubt(f, to, &row, DOUBTS[d].why, err));
    }
    row_fits_unknown outside = row_fits_unknown_none();
    outside.reason = STR("outside");
    bool host = f->device->type == DEVICE_CPU;
    if (host && f->run->older) return OK;
    return add_doubt(f, to, &outside, host ? MSG_FITS_OUTSIDE_HOST : MSG_FITS_OUTSIDE, err);
}

status fits_write_tables(fits_question *f, const params *p, error *err) {
    table *fits = answer_table(f->out, f->arena, "fits");
    table *batches = answer_table(f->out, f->arena, "batches");
    table *parts = answer_table(f->out, f->arena, "parts");
    table *blocks = answer_table(f->out, f->arena, "blocks");
    table *recorded = answer_table(f->out, f->arena, "recorded");
    table *unknown = answer_table(f->out, f->arena, "unknown");
    if (!fits || !batches || !parts || !blocks || !recorded || !unknown) FAIL_MEMORY(err);
    if (!f->run) return OK;
    TRY(write_answer(f, fits, err));
    TRY(write_parts(f, parts, err));
    if (params_want(p, "batches")) TRY(write_batches(f, batches, err));
    if (params_want(p, "blocks")) TRY(write_blocks(f, blocks, err));
    TRY(write_recorded(f, recorded, err));
    return write_unknown(f, unknown, err);
}
