/* idle_sums.c: idle time of each device by cause; see idle_sums.h. */
#include "analyse/why/idle_sums.h"

#include "analyse/rows.h"
#include "analyse/vendor/untraced_steps.h"

_Static_assert(sizeof(row_overview_idle) == sizeof(row_idle_causes) &&
                   COL(overview, idle, total) == COL(idle, causes, total) &&
                   COL(overview, idle, slice) == COL(idle, causes, slice),
               "one writer for both tables");

/* Drops the steps of which nothing but a step trace is known. */
static status drop_bare(const trace *t, arena *a, step_spans *s, error *err) {
    role_ranges ranges;
    untraced_steps bare;
    uint32_t n = 0;
    if (t->producer_step.n < 2 || !s->n) return OK;
    interval all = {s->v[0].start, s->v[s->n - 1].end};
    TRY(role_ranges_make(t, all, a, &ranges, err));
    TRY(untraced_steps_find(t, s, &ranges, &bare, err));
    for (uint32_t i = 0; i < s->n; i++)
        if (!bare.bare[i]) s->v[n++] = s->v[i];
    s->n = n;
    return OK;
}

status idle_steps_choose(const trace *t, const selection *s, arena *a, step_spans *out,
                         error *err) {
    step_spans all;
    TRY(step_spans_make(t, s, a, &all, err));
    TRY(step_spans_with_ops(&all, a, out, err));
    return drop_bare(t, a, out, err);
}

static status sums_init(idle_sums *s, const trace *t, const step_spans *steps, arena *a,
                        error *err) {
    *s = (idle_sums){.t = t, .n_steps = steps->n};
    s->rows = ARENA_ARRAY(a, idle_row, MOST_IDLE_DEVICES);
    if (!s->rows) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < steps->n; i++)
        s->steps_ns = add_i64(s->steps_ns, step_span_ns(&steps->v[i]));
    return OK;
}

static status add_piece(void *context, const idle_piece *p, error *err) {
    idle_sums *s = context;
    idle_sum *sum = &s->rows[p->device][p->cause];
    int64_t ns = sub_i64(p->range.end, p->range.start);
    sum->ns = add_i64(sum->ns, ns);
    (void)err;
    sum->n++;
    if (p->longest_ns <= sum->longest_ns) return OK;
    sum->longest_ns = p->longest_ns;
    sum->slice = p->slice;
    return OK;
}

status idle_sums_make(const trace *t, const step_spans *steps, const intervals *comm, arena *a,
                      idle_sums *out, error *err) {
    idle_causes_question q = {.t = t,
                              .steps = steps,
                              .arena = a,
                              .coarse = true,
                              .no_communication = comm && !comm->n,
                              .visit = add_piece,
                              .context = out};
    TRY(sums_init(out, t, steps, a, err));
    return idle_causes_find(&q, &out->devices, err);
}

void idle_sums_mean(const idle_sums *s, uint32_t device, int64_t out[N_IDLE_CAUSES]) {
    int64_t sum = 0, n = max_i64(1, s->n_steps), left, rest[N_IDLE_CAUSES];
    for (int c = 0; c < N_IDLE_CAUSES; c++) sum = add_i64(sum, s->rows[device][c].ns);
    left = mean_i64(sum, n);
    for (int c = 0; c < N_IDLE_CAUSES; c++) {
        out[c] = s->rows[device][c].ns / n;
        rest[c] = s->rows[device][c].ns % n;
        left = sub_i64(left, out[c]);
    }
    for (; left > 0; left--) { /* the largest remainders go up */
        int best = 0;
        for (int c = 1; c < N_IDLE_CAUSES; c++)
            if (rest[c] > rest[best]) best = c;
        if (rest[best] <= 0) return;
        out[best]++;
        rest[best] = 0;
    }
}

double idle_sums_share(const idle_sums *s, idle_cause why) {
    double all = (double)s->steps_ns * (double)s->devices.n, ns = 0;
    for (uint32_t i = 0; i < s->devices.n; i++) ns += (double)s->rows[i][why].ns;
    return all > 0 ? ns / all : 0;
}

static status write_cause(const idle_sums *s, uint32_t device, int why, int64_t mean, table *t,
                          error *err) {
    const idle_sum *sum = &s->rows[device][why];
    row_overview_idle row = row_overview_idle_none();
    if (s->devices.id[device] != ABSENT_I32) row.device = s->devices.id[device];
    row.cause = idle_cause_name((idle_cause)why);
    row.time = mean;
    row.share = s->steps_ns > 0 ? (double)sum->ns / (double)s->steps_ns : 0;
    row.total = sum->ns;
    row.count = sum->n;
    if (sum->slice) row.name = trace_slice_name(s->t, sum->slice);
    if (sum->slice) row.slice = sum->slice;
    return put_overview_idle(t, &row, err);
}

status idle_sums_write(const idle_sums *s, table *t, error *err) {
    for (uint32_t device = 0; device < s->devices.n; device++) {
        int64_t mean[N_IDLE_CAUSES];
        bool done[N_IDLE_CAUSES] = {false};
        idle_sums_mean(s, device, mean);
        for (int written = 0; written < N_IDLE_CAUSES; written++) {
            int most = -1;
            for (int c = 0; c < N_IDLE_CAUSES; c++)
                if (!done[c] && s->rows[device][c].ns > 0 &&
                    (most < 0 || s->rows[device][c].ns > s->rows[device][most].ns))
                    most = c;
            if (most < 0) break;
            done[most] = true;
            TRY(write_cause(s, device, most, mean[most], t, err));
        }
    }
    return OK;
}
