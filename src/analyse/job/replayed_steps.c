/* replayed_steps.c: tables and verdict of `whatif`, for any replay. */
#include "analyse/job/replayed_steps.h"

#include <math.h>

#include "analyse/analysis.h"
#include "analyse/replay/typical_step.h"
#include "analyse/replay/why_replay.h"
#include "analyse/rows.h"
#include "analyse/rules.h"
#include "base/message_ids_advice.h"
#include "base/num.h"

#define INEXACT 0.05 /* a replay that is this far off is mentioned first */
#define SAME 0.005

status replayed_steps_init(replayed_steps *r, uint32_t n_steps, arena *a, error *err) {
    size_t n = (size_t)n_steps + 1;
    *r = (replayed_steps){.n = n_steps};
    r->number = ARENA_ARRAY(a, int64_t, n);
    r->recorded_ns = ARENA_ARRAY(a, int64_t, n);
    r->replayed_ns = ARENA_ARRAY(a, int64_t, n);
    r->changed_ns = ARENA_ARRAY(a, int64_t, n);
    r->ranged_ns = ARENA_ARRAY(a, int64_t, n);
    r->pairs = ARENA_ARRAY(a, sort_pair, n);
    r->scratch = ARENA_ARRAY(a, sort_pair, n);
    if (!r->number || !r->recorded_ns || !r->replayed_ns || !r->changed_ns || !r->ranged_ns ||
        !r->pairs || !r->scratch)
        FAIL_MEMORY(err);
    return OK;
}

/* ---- tables ------------------------------------------------------------------------------ */

/* A row of the table: the replay as recorded, with a change, with all. */
typedef struct {
    uint64_t changes;
    typical_step after, least,
        most; /* the last two: if recording cost the most, and the least */
} lengths;

static int64_t length_of(const replayed_steps *r, const typical_step *t) {
    return r->uneven ? t->mean : t->median;
}

static typical_step replay(const replayed_steps *r, const step_replayer *by, uint64_t changes,
                           int64_t *out_ns) {
    by->run(by->of, changes, out_ns);
    return typical_step_of(out_ns, r->n, r->pairs, r->scratch);
}

/* The change again with the least and the most that recording may have cost. */
static void replay_range(const replayed_steps *r, const step_replayer *by, lengths *l) {
    if (!(l->changes & by->estimated) || !r->n) return;
    by->set_recording(by->of, RECORDING_MOST);
    l->least = replay(r, by, l->changes, r->ranged_ns);
    by->set_recording(by->of, RECORDING_LEAST);
    l->most = replay(r, by, l->changes, r->ranged_ns);
    by->set_recording(by->of, 1);
}

/* All rows are of one kind: medians can be compared with medians, means with means. */
static uint32_t replay_all(replayed_steps *r, const step_replayer *by, typical_step *recorded,
                           lengths *out) {
    uint32_t n = 0;
    *recorded = typical_step_of(r->recorded_ns, r->n, r->pairs, r->scratch);
    out[n++] = (lengths){.after = replay(r, by, 0, r->replayed_ns)};
    for (uint32_t c = 0; c < r->n_changes; c++)
        out[n++] = (lengths){.changes = (uint64_t)1 << c};
    if (r->n_changes > 1) out[n++] = (lengths){.changes = ALL_CHANGES};
    r->uneven = recorded->uneven || out[0].after.uneven;
    for (uint32_t i = 1; i < n; i++) {
        replay_range(r, by, &out[i]);
        out[i].after = replay(r, by, out[i].changes, r->changed_ns);
        r->uneven |= out[i].after.uneven;
    }
    return n;
}

static row_whatif_whatif row_of(const replayed_steps *r, str change, const lengths *l) {
    row_whatif_whatif row = row_whatif_whatif_none();
    int64_t after = length_of(r, &l->after), saves = sub_i64(r->recorded, after);
    row.change = change;
    if (!r->n) return row;
    row.step_before = r->recorded;
    row.step_after = after;
    row.saves = saves;
    if (r->recorded > 0) row.share = (double)saves / (double)r->recorded;
    if (after > 0) row.speedup = (double)r->recorded / (double)after;
    if (!l->most.median) return row;
    row.least = length_of(r, &l->least);
    row.most = length_of(r, &l->most);
    return row;
}

static status write_changes(replayed_steps *r, const step_replayer *by, table *t, arena *a,
                            error *err) {
    lengths *all = ARENA_ARRAY(a, lengths, (size_t)r->n_changes + 2);
    typical_step recorded;
    if (!all) FAIL_MEMORY(err);
    uint32_t n = replay_all(r, by, &recorded, all);
    const lengths *last = &all[n - 1];
    r->recorded = length_of(r, &recorded);
    r->changed = length_of(r, &last->after);
    r->median_recorded = recorded.median;
    r->median_changed = last->after.median;
    if (last->most.median) r->least = length_of(r, &last->least);
    if (last->most.median) r->most = length_of(r, &last->most);
    for (uint32_t i = 0; i < n; i++) {
        bool one = i && i <= r->n_changes; /* a single change is all of them */
        str name = one ? by->text(by->of, i - 1) : i ? STR("all") : STR("replay");
        row_whatif_whatif row = row_of(r, name, &all[i]);
        if (one) by->set_matched(by->of, &row, i - 1);
        TRY(put_whatif_whatif(t, &row, err));
    }
    return OK;
}

static status write_steps(const replayed_steps *r, table *t, error *err) {
    for (uint32_t i = 0; i < r->n; i++) {
        row_whatif_steps row = row_whatif_steps_none();
        row.step = r->number[i];
        row.recorded = r->recorded_ns[i];
        row.replayed = r->replayed_ns[i];
        if (r->n_changes) row.whatif = r->changed_ns[i];
        TRY(put_whatif_steps(t, &row, err));
    }
    return OK;
}

status replayed_steps_write(replayed_steps *r, const step_replayer *by, answer *out, arena *a,
                            error *err) {
    table *changes = answer_table(out, a, "whatif"), *steps = answer_table(out, a, "steps");
    if (!changes || !steps) FAIL_MEMORY(err);
    TRY(write_changes(r, by, changes, a, err));
    return write_steps(r, steps, err);
}

/* ---- words ------------------------------------------------------------------------------- */

double replayed_steps_error(const replayed_steps *r) {
    double most = 0;
    for (uint32_t i = 0; i < r->n; i++)
        if (r->recorded_ns[i] > 0)
            most = fmax(most, fabs((double)r->replayed_ns[i] / (double)r->recorded_ns[i] - 1));
    return most;
}

status replayed_steps_note(const replayed_steps *r, arena *a, answer *out, error *err) {
    verdict note = {.message = MSG_NOTE_WHATIF_UNEVEN};
    if (!r->uneven) return OK;
    verdict_add(&note, arg_time("after", r->median_changed));
    verdict_add(&note, arg_time("before", r->median_recorded));
    return answer_note(out, a, &note, err);
}

static void add_lengths(const replayed_steps *r, verdict *v) {
    verdict_add(v, arg_time("after", r->changed));
    verdict_add(v, arg_time("before", r->recorded));
    if (r->changed > 0)
        verdict_add(v, arg_real("times", (double)r->recorded / (double)r->changed));
    verdict_add(v, arg_share("error", replayed_steps_error(r)));
}

static bool has_no_steps(const void *facts, verdict *v) {
    (void)v;
    return ((const replayed_steps *)facts)->recorded <= 0;
}

static bool is_inexact(const void *facts, verdict *v) {
    const replayed_steps *r = facts;
    if (replayed_steps_error(r) <= INEXACT) return false;
    add_lengths(r, v);
    return true;
}

static bool is_plain(const void *facts, verdict *v) {
    const replayed_steps *r = facts;
    if (r->n_changes || r->n_ranks) return false;
    add_lengths(r, v);
    return true;
}

static bool is_plain_job(const void *facts, verdict *v) {
    const replayed_steps *r = facts;
    if (r->n_changes) return false;
    verdict_add(v, arg_time("before", r->recorded));
    verdict_add(v, arg_int("ranks", r->n_ranks));
    return true;
}

static bool is_same(const void *facts, verdict *v) {
    const replayed_steps *r = facts;
    if (lengths_differ(r->changed, r->recorded, SAME)) return false;
    add_lengths(r, v);
    return true;
}

static bool is_estimate(const void *facts, verdict *v) {
    const replayed_steps *r = facts;
    if (!r->most) return false;
    add_lengths(r, v);
    verdict_add(v, arg_time("least", r->least));
    verdict_add(v, arg_time("most", r->most));
    return true;
}

static bool is_shorter(const void *facts, verdict *v) {
    const replayed_steps *r = facts;
    if (r->changed > r->recorded) return false;
    add_lengths(r, v);
    return true;
}

static bool is_longer(const void *facts, verdict *v) {
    const replayed_steps *r = facts;
    add_lengths(r, v);
    verdict_add(v, arg_share("share", (double)r->changed / (double)r->recorded - 1));
    return true;
}

static const rule rules[] = {
    {"whatif_no_steps", MSG_VERDICT_WHATIF_NO_STEPS, SEVERITY_INFO, has_no_steps},
    {"whatif_inexact", MSG_VERDICT_WHATIF_INEXACT, SEVERITY_WARNING, is_inexact},
    {"whatif_replay", MSG_VERDICT_WHATIF_REPLAY, SEVERITY_GOOD, is_plain},
    {"whatif_job", MSG_VERDICT_WHATIF_JOB, SEVERITY_INFO, is_plain_job},
    {"whatif_same", MSG_VERDICT_WHATIF_SAME, SEVERITY_INFO, is_same},
    {"whatif_estimate", MSG_VERDICT_WHATIF_ESTIMATE, SEVERITY_INFO, is_estimate},
    {"whatif_shorter", MSG_VERDICT_WHATIF_SHORTER, SEVERITY_INFO, is_shorter},
    {"whatif_longer", MSG_VERDICT_WHATIF_LONGER, SEVERITY_INFO, is_longer},
};

void replayed_steps_judge(const replayed_steps *r, verdict *v) {
    rules_apply(rules, N_OF(rules), r, v);
}
