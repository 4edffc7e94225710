/* overview_basis.c: what the overview is based on: steps that its averages leave out, and what
 * is known of the run. */
#include "analyse/device/host_coverage.h"
#include "analyse/kind_names.h"
#include "analyse/questions/overview_int.h"
#include "analyse/steps/lost_work.h"
#include "base/message_ids_advice.h"
#include "store/traits.h"

/* Which steps the averages leave out because they warm up. */
static status note_warm_up(overview *o, error *err) {
    const step_spans *s = &o->steps;
    if (!s->n_warm_up) return OK;
    int64_t sum = 0, typical = 0;
    for (uint32_t i = 0; i < s->n_warm_up; i++)
        sum = add_i64(sum, sub_i64(s->warm_up[i].end, s->warm_up[i].start));
    for (uint32_t i = 0; i < s->n; i++) typical = add_i64(typical, step_span_ns(&s->v[i]));
    verdict note = {.id = "warm_up",
                    .message = s->n_warm_up > 1 ? MSG_NOTE_WARM_UP : MSG_NOTE_WARM_UP_ONE,
                    .severity = SEVERITY_INFO};
    verdict_add(&note, arg_id("first", s->warm_up[0].number));
    verdict_add(&note, arg_id("last", s->warm_up[s->n_warm_up - 1].number));
    verdict_add(&note, arg_time("time", mean_i64(sum, s->n_warm_up)));
    verdict_add(&note, arg_time("typical", mean_i64(typical, s->n)));
    return answer_note(o->out, o->arena, &note, err);
}

/* Which steps the averages are of where the operators of the others were left out. */
static status note_without_ops(overview *o, error *err) {
    const step_spans *s = &o->steps;
    if (o->with_ops.n == s->n) return OK;
    step_spans others = {.v = ARENA_ARRAY(o->arena, step_span, (size_t)s->n + 1)};
    int64_t median;
    if (!others.v) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < s->n; i++)
        if (s->v[i].without_ops) others.v[others.n++] = s->v[i];
    TRY(step_spans_median(&others, o->arena, &median, err));
    verdict note = {.id = "sampled", .message = MSG_NOTE_SAMPLED, .severity = SEVERITY_INFO};
    verdict_add(&note, arg_int("sampled", o->with_ops.n));
    verdict_add(&note, arg_int("steps", s->n));
    verdict_add(&note, arg_time("median", median));
    return answer_note(o->out, o->arena, &note, err);
}

/* Until when the device worked on what nothing is recorded of. */
static status note_held(overview *o, error *err) {
    if (o->steps.held_until == INT64_MIN) return OK;
    verdict note = {.id = "device_held", .message = MSG_NOTE_HELD, .severity = SEVERITY_INFO};
    verdict_add(&note, arg_time("time", sub_i64(o->steps.held_until, o->t->start_ns)));
    return answer_note(o->out, o->arena, &note, err);
}

/* What the one step of a recording without steps does not begin with. */
static status note_cold(overview *o, error *err) {
    const cold_start *c = &o->steps.cold;
    if (!c->is_before) return OK;
    verdict note = {
        .id = "cold_start", .message = MSG_NOTE_COLD_START, .severity = SEVERITY_INFO};
    verdict_add(&note, arg_time("time", sub_i64(c->until, o->t->start_ns)));
    cold_start_say(o->t, c, &note);
    return answer_note(o->out, o->arena, &note, err);
}

status overview_note_left_out(overview *o, error *err) {
    TRY(note_held(o, err));
    TRY(note_cold(o, err));
    TRY(note_warm_up(o, err));
    TRY(note_without_ops(o, err));
    for (uint32_t i = 0; i < o->steps.n_left_out; i++) {
        verdict note = {.id = "step_left_out",
                        .message = MSG_NOTE_STEP_LEFT_OUT,
                        .severity = SEVERITY_INFO};
        verdict_add(&note, arg_id("step", o->steps.left_out[i].number));
        TRY(answer_note(o->out, o->arena, &note, err));
    }
    if (o->bare.n) {
        verdict note = {.id = "bare_steps",
                        .message =
                            overview_is_bare(o) ? MSG_NOTE_ALL_BARE : MSG_NOTE_BARE_STEPS,
                        .severity = SEVERITY_INFO};
        verdict_add(&note, arg_int("bare", o->bare.n));
        verdict_add(&note, arg_int("steps", o->steps.n));
        verdict_add(&note, arg_time("comm", mean_i64(o->bare.comm_ns, o->bare.n)));
        verdict_add(&note, arg_time("outside", mean_i64(o->bare.outside_ns, o->bare.n)));
        TRY(answer_note(o->out, o->arena, &note, err));
    }
    if (o->steps.marked || !o->steps.n) return OK;
    verdict note = {.id = "no_steps", .message = MSG_NOTE_NO_STEPS, .severity = SEVERITY_INFO};
    return answer_note(o->out, o->arena, &note, err);
}

status overview_note_coverage(overview *o, error *err) {
    host_coverage coverage;
    TRY(host_coverage_find(o->t, &o->steps, &o->ranges, o->arena, &coverage, err));
    return host_coverage_note(o->t, &coverage, o->arena, o->out, err);
}

static status overview_add_fact(table *t, str key, str value, error *err) {
    size_t row;
    if (!value.p) return OK;
    TRY(table_add_row(t, &row, err));
    table_set_text(t, row, COL_O(configuration, key), key);
    table_set_text(t, row, COL_O(configuration, value), value);
    return OK;
}

static status overview_add_number(table *t, const char *key, int64_t value, error *err) {
    str text = arena_printf(t->arena, "%lld", (long long)value);
    if (!text.p) FAIL_MEMORY(err);
    return overview_add_fact(t, str_of(key), text, err);
}

/* Processes that own a thread: a device's row group does not count. -1 when out of memory. */
static int64_t count_processes(const trace *t, arena *a) {
    int64_t n = 0;
    uint8_t *seen = ARENA_ARRAY(a, uint8_t, (size_t)t->process.n + 1);
    for (uint32_t i = 1; i < t->track.n && seen; i++) {
        uint32_t process = t->track.process[i];
        if (t->track.kind[i] != TRACK_THREAD || seen[process]) continue;
        seen[process] = 1;
        n++;
    }
    return seen ? n : -1;
}

/* Where the work ran. Launches whose records were lost were work of a device, too. */
static status find_device_word(const trace *t, arena *a, str *word, error *err) {
    lost_work w = {0};
    if (t->kernel.n <= 1) TRY(lost_work_count(t, a, &w, err));
    *word = t->kernel.n > 1 || w.launches ? device_word_of_work(t) : STR("CPU");
    return OK;
}

status overview_write_configuration(overview *o, uint32_t n_workers, error *err) {
    const trace *t = o->t;
    table *out = answer_table(o->out, o->arena, "configuration");
    int64_t processes = count_processes(t, o->arena);
    str word;
    if (!out || processes < 0) FAIL_MEMORY(err);
    TRY(overview_add_number(out, "workers", n_workers, err));
    TRY(overview_add_number(out, "processes", processes, err));
    TRY(overview_add_number(out, "devices", t->device.n > 1 ? (int64_t)t->device.n - 1 : 0,
                            err));
    TRY(find_device_word(t, o->arena, &word, err));
    TRY(overview_add_fact(out, STR("device_type"), word, err));
    for (uint32_t i = 1; i < t->device.n; i++)
        if (t->device.name[i])
            TRY(overview_add_fact(out, STR("device"), trace_str(t, t->device.name[i]), err));
    for (fact f = 0; f < N_FACTS; f++) {
        str value = fact_shown(f).n ? trace_fact(t, f) : STR_NONE;
        if (value.n) TRY(overview_add_fact(out, fact_shown(f), value, err));
    }
    o->uses = answer_table(o->out, o->arena, "in_use");
    if (!o->uses) FAIL_MEMORY(err);
    return OK;
}

status overview_write_unprofiled(overview *o, const advice_cause *of, error *err) {
    const unprofiled_step *bare = &of->bare;
    table *t = answer_table(o->out, o->arena, "unprofiled");
    size_t row;
    if (!t) FAIL_MEMORY(err);
    if (!bare->sound) return OK;
    TRY(table_add_row(t, &row, err));
    table_set_int(t, row, COL_O(unprofiled, recorded), bare->recorded_ns);
    table_set_int(t, row, COL_O(unprofiled, step), bare->step_ns);
    table_set_int(t, row, COL_O(unprofiled, least), bare->least_ns);
    table_set_int(t, row, COL_O(unprofiled, most), bare->most_ns);
    table_set_real(t, row, COL_O(unprofiled, idle_share), of->bare_idle);
    return unprofiled_step_note(bare, false, o->arena, o->out, err);
}
