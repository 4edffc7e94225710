/* mindspore_pmu.c: operations of an operator, from the counters of the AI Core.
 *
 *   aicore.data.*   128 bytes a task, laid out as C would: u16 task at byte 6, eight u64
 *                   counters from byte 32 on, u32 stream at byte 96
 *   info.json.#     the device: clock of its cores in MHz, how many there are
 *
 *      counter   instruction                operations
 *         0      cube, fp16                 16 · 16 · 16 · 2
 *         1      cube, int8                 16 · 16 · 32 · 2
 *         2      vector, fp32               32
 *         3      vector, fp16, 128 lanes    128
 *         4      vector, fp16, 64 lanes     64
 *         5      vector, int32              64
 *         6      vector, others             32
 *
 * An operator's operations are the mean of its records; its rate is that over the mean time of
 * a call, which is known when the operator is added up (ms_set_costs). The sum of the device is
 * what MindSpore writes into flops_summary, but its rate is all operations over all time, not a
 * mean of rates. flops_#.txt was made of these records and wins. A record of an unknown task
 * has no operator: it is counted. */
#include <math.h>

#include "base/json.h"
#include "base/num.h"
#include "ingest/mindspore/mindspore_int.h"

enum { PMU_BYTES = 128, N_COUNTERS = 7 };
#define MOST_INSTRUCTIONS ((uint64_t)1 << 50) /* no task has as many */

static const double OPERATIONS[N_COUNTERS] = {8192, 16384, 32, 128, 64, 64, 32};

static double mean_with(double mean, double v, uint32_t n) {
    return n > 1 ? mean + (v - mean) / n : v;
}

static bool is_blank(const char *record) {
    for (int i = 0; i < PMU_BYTES; i++)
        if (record[i]) return false;
    return true;
}

/* One task; its place in the file is for what is lost. */
static status take_record(ms *m, const char *record, uint64_t offset, error *err) {
    uint64_t count[N_COUNTERS], most = 0;
    uint32_t name = ms_task_name(m, read_le(record + 96, 4), read_le(record + 6, 2));
    for (int i = 0; i < N_COUNTERS; i++) {
        count[i] = read_le(record + 32 + 8 * i, 8);
        if (count[i] > most) most = count[i];
    }
    part_count(m->part, 1, 0);
    if (!name || most >= MOST_INSTRUCTIONS) {
        ms_lost(m, name ? CAUSE_NUMBER_RANGE : CAUSE_MISSING_NAME, offset, str_of(m->file));
        return OK;
    }
    ms_known *k = ms_know(m, name);
    if (!k) FAIL_MEMORY(err);
    double cube = 0, vector = 0;
    for (int i = 0; i < N_COUNTERS; i++)
        *(i < 2 ? &cube : &vector) += (double)count[i] * OPERATIONS[i];
    if (k->counted < UINT32_MAX) k->counted++;
    k->flops = mean_with(k->flops, cube, k->counted);
    k->vector_flops = mean_with(k->vector_flops, vector, k->counted);
    return OK;
}

status read_aicore_data(ms *m, str text, error *err) {
    if (m->seen[MS_FLOPS]) return OK; /* what was made of it was there */
    ms_count_rest(m, text, PMU_BYTES);
    for (uint64_t at = 0; text.n - at >= PMU_BYTES; at += PMU_BYTES)
        if (!is_blank(text.p + at)) TRY(take_record(m, text.p + at, at, err));
    return OK;
}

/* The most the cores can do: every cycle 4096 products and sums of each. */
status read_device_info(ms *m, str text, error *err) {
    json_iter it = json_open(json_member(text, STR("DeviceInfo")));
    str key, device, mhz, cores;
    double clock, n;
    if (m->seen[MS_FLOPS] || !json_next(&it, &key, &device)) return OK;
    mhz = json_member(device, STR("aic_frequency"));
    cores = json_member(device, STR("ai_core_num"));
    /* Numbers, some of them as text. */
    if (!json_f64(mhz, &clock) && !str_to_f64(json_text(mhz), &clock)) return OK;
    if (!json_f64(cores, &n) && !str_to_f64(json_text(cores), &n)) return OK;
    if (!(clock > 0 && clock < 1e6 && n > 0 && n < 1e6)) return OK;
    m->resource.peak_flops_per_s = clock * 1e6 * n * 4096 * 2;
    str peak = arena_printf(m->arena, "%.17g", m->resource.peak_flops_per_s);
    if (!peak.p) FAIL_MEMORY(err);
    return ms_meta(m, "flops_peak", peak, err);
}

void ms_set_costs(ms *m, row_producer_op *g) {
    const ms_known *k = ms_known_of(m, g->full_name);
    if (!k) return;
    g->flops = k->flops;
    g->flops_per_s = k->flops_per_s;
    g->vector_flops = k->vector_flops;
    g->vector_flops_per_s = k->vector_flops_per_s;
    if (!k->counted || !(g->total > 0)) return;
    double calls = g->calls > 0 ? (double)g->calls : 1, ns = (double)g->total;
    g->flops_per_s = k->flops * calls / ns * 1e9;
    g->vector_flops_per_s = k->vector_flops * calls / ns * 1e9;
    m->costs.cube += k->flops;
    m->costs.vector += k->vector_flops;
    m->costs.all_cube += k->flops * calls;
    m->costs.all_vector += k->vector_flops * calls;
    m->costs.ns += ns;
}

void ms_finish_costs(ms *m) {
    const ms_costs *c = &m->costs;
    if (!(c->ns > 0) || m->seen[MS_FLOPS_SUMMARY]) return;
    m->resource.flops = (c->cube / 1e6 + c->vector / 1e6) * 1e6;
    m->resource.flops_per_s = (c->all_cube / c->ns + c->all_vector / c->ns) * 1e9;
}
