/* info.c: what a trace is.
 *
 * Facts about the whole, the events by kind, the devices: from counts and small tables. What
 * the program uses takes a pass over the slices (in_use.h), so it is left out for a large
 * trace: this answer comes at once for any size, and `overview` has the same table.
 *
 * Keys are stable words for programs; values are text: whole numbers carry their unit in the
 * key (duration_ns). The producer's own keys with a short plain value are shown under their own
 * names; paths, times of day and host names are not facts about the trace and are left out. */
#include "analyse/analysis.h"
#include "analyse/kind_names.h"
#include "analyse/questions/in_use_table.h"
#include "analyse/rules.h"
#include "analyse/run/summary_answers.h"
#include "analyse/select.h"
#include "base/clock.h"

/* Above this, reading all slices would take most of the time of `info`. */
enum { IN_USE_SLICES = 200000 };

static status add_fact(table *t, str key, str value, error *err) {
    size_t row;
    if (!value.p) return OK;
    TRY(table_add_row(t, &row, err));
    table_set_text(t, row, COL(info, trace, key), key);
    table_set_text(t, row, COL(info, trace, value), value);
    return OK;
}

static status add_number(table *t, const char *key, int64_t value, error *err) {
    str text = arena_printf(t->arena, "%lld", (long long)value);
    if (!text.p) FAIL_MEMORY(err);
    return add_fact(t, str_of(key), text, err);
}

static const char *const hidden_keys[] = {
    "traceName", "baseTimeNanoseconds", "trace_id",         "group_trace_id",
    "host_name", "displayTimeUnit",     "deviceProperties", "traceEvents"};

/* The text of a short plain JSON value: a number, a word, or a string without its quotes. */
static str plain_value(str json) {
    str v = str_trim(json);
    if (!v.n || v.n > 120 || v.p[0] == '{' || v.p[0] == '[') return STR_NONE;
    if (v.n >= 2 && v.p[0] == '"' && v.p[v.n - 1] == '"') v = str_n(v.p + 1, v.n - 2);
    return v;
}

static status add_producer_keys(table *out, const trace *t, error *err) {
    for (uint32_t i = 1; i < t->meta.n; i++) {
        str key = trace_str(t, t->meta.key[i]);
        bool hidden = false;
        for (size_t k = 0; k < sizeof hidden_keys / sizeof *hidden_keys; k++)
            hidden |= str_eq(key, str_of(hidden_keys[k]));
        if (!hidden) TRY(add_fact(out, key, plain_value(trace_str(t, t->meta.value[i])), err));
    }
    return OK;
}

static int64_t count_tracks(const trace *t, uint8_t kind) {
    int64_t n = 0;
    for (uint32_t i = 1; i < t->track.n; i++)
        n += t->track.kind[i] == kind && t->track.end[i] > t->track.first[i];
    return n;
}

static int64_t rows_of(uint32_t n) {
    return n ? (int64_t)n - 1 : 0;
}

static status write_trace(const analysis_trace *at, table *out, error *err) {
    const trace *t = at->trace;
    TRY(add_fact(out, STR("format"), t->format, err));
    if (at->worker.n) TRY(add_fact(out, STR("worker"), at->worker, err));
    if (at->rank != ABSENT_I64) TRY(add_number(out, "rank", at->rank, err));
    TRY(add_number(out, "duration_ns", sub_i64(t->end_ns, t->start_ns), err));
    TRY(add_number(out, "events_read", sat_i64(t->events_read), err));
    TRY(add_number(out, "events_dropped", sat_i64(t->events_dropped), err));
    TRY(add_number(out, "input_bytes", sat_i64(t->input_bytes), err));
    TRY(add_number(out, "store_bytes", sat_i64(trace_size_bytes(t)), err));
    TRY(add_number(out, "processes", rows_of(t->process.n), err));
    TRY(add_number(out, "threads", count_tracks(t, TRACK_THREAD), err));
    TRY(add_number(out, "streams", count_tracks(t, TRACK_STREAM), err));
    TRY(add_number(out, "steps", rows_of(t->step.n), err));
    if (rows_of(t->request.n)) TRY(add_number(out, "requests", rows_of(t->request.n), err));
    if (rows_of(t->kernel.n))
        TRY(add_fact(out, STR("device_type"), device_word_of_work(t), err));
    return add_producer_keys(out, t, err);
}

static status add_count(table *out, str kind, int64_t count, error *err) {
    size_t row;
    if (!count) return OK;
    TRY(table_add_row(out, &row, err));
    table_set_text(out, row, COL(info, events, kind), kind);
    table_set_int(out, row, COL(info, events, count), count);
    return OK;
}

static status write_events(const trace *t, table *out, error *err) {
    for (uint8_t k = 1; k < N_KINDS; k++)
        TRY(add_count(out, kind_name(k), sat_i64(t->kind_count[k]), err));
    TRY(add_count(out, kind_name(KIND_OTHER), sat_i64(t->kind_count[KIND_OTHER]), err));
    TRY(add_count(out, STR("instant"), rows_of(t->instant.n), err));
    TRY(add_count(out, STR("counter"), rows_of(t->counter.n), err));
    TRY(add_count(out, STR("memory"), rows_of(t->memory.n), err));
    return add_count(out, STR("flow"), rows_of(t->flow.n), err);
}

static status write_device(const trace *t, uint32_t i, table *out, error *err) {
    size_t row;
    TRY(table_add_row(out, &row, err));
    if (t->device.id[i] != ABSENT_I32)
        table_set_int(out, row, COL(info, devices, device), t->device.id[i]);
    if (t->device.name[i])
        table_set_text(out, row, COL(info, devices, name), trace_str(t, t->device.name[i]));
    if (t->device.memory[i] != ABSENT_I64)
        table_set_int(out, row, COL(info, devices, memory_bytes), t->device.memory[i]);
    if (t->device.compute_major[i] != ABSENT_I32 && t->device.compute_minor[i] != ABSENT_I32) {
        str text = arena_printf(out->arena, "%d.%d", (int)t->device.compute_major[i],
                                (int)t->device.compute_minor[i]);
        if (!text.p) FAIL_MEMORY(err);
        table_set_text(out, row, COL(info, devices, compute_capability), text);
    }
    if (t->device.sm_count[i] != ABSENT_I32)
        table_set_int(out, row, COL(info, devices, sm_count), t->device.sm_count[i]);
    bool computes = rows_of(t->kernel.n) || t->device.sm_count[i] != ABSENT_I32;
    if (computes && t->device.type[i] != DEVICE_CPU) {
        table_set_text(out, row, COL(info, devices, unit), device_unit(t));
        table_set_text(out, row, COL(info, devices, matrix_unit), device_matrix_unit(t));
    }
    return OK;
}

/* ---- what else is in the folder ---------------------------------------------------------- */

static status set_words(table *t, size_t row, uint32_t col, const verdict *words, error *err) {
    verdict *kept = ARENA_ARRAY(t->arena, verdict, 1);
    if (!kept) FAIL_MEMORY(err);
    *kept = *words;
    table_set_sentence(t, row, col, kept);
    return OK;
}

static status write_workers(const run_listing *l, table *out, error *err) {
    for (uint32_t i = 0; i < l->n_workers; i++) {
        const listed_worker *w = &l->workers[i];
        verdict words = {.id = "role", .message = w->words};
        size_t row;
        TRY(table_add_row(out, &row, err));
        table_set_text(out, row, COL(info, workers, worker), w->name);
        if (w->rank != ABSENT_I64) table_set_int(out, row, COL(info, workers, rank), w->rank);
        table_set_text(out, row, COL(info, workers, role), str_of(w->role));
        if (w->rank != ABSENT_I64) verdict_add(&words, arg_int("rank", w->rank));
        if (w->owner.n) verdict_add(&words, arg_text("owner", w->owner));
        TRY(set_words(out, row, COL(info, workers, what), &words, err));
        table_set_int(out, row, COL(info, workers, spans), w->n_spans);
    }
    return OK;
}

static status write_runs(const run_listing *l, table *out, error *err) {
    for (uint32_t i = 0; i < l->n_runs; i++) {
        const run_line *r = &l->runs[i];
        char when[CLOCK_DATE_BYTES];
        size_t row;
        TRY(table_add_row(out, &row, err));
        table_set_int(out, row, COL(info, runs, number), (int64_t)i + 1);
        table_set_text(out, row, COL(info, runs, run), r->name);
        table_set_int(out, row, COL(info, runs, ranks), r->n_ranks);
        table_set_int(out, row, COL(info, runs, workers), r->n_workers);
        if (r->start_unix_ns == ABSENT_I64 ||
            !clock_date(r->start_unix_ns, "%Y-%m-%d %H:%M:%S", when))
            continue;
        str text = arena_str(out->arena, str_of(when));
        if (!text.p) FAIL_MEMORY(err);
        table_set_text(out, row, COL(info, runs, time), text);
    }
    return OK;
}

static status write_passed(const run_listing *l, table *out, error *err) {
    for (uint32_t i = 0; i < l->n_passed; i++) {
        const passed_file *p = &l->passed[i];
        verdict what = {.id = "what", .message = p->what}, why = {.id = "why"};
        size_t row;
        TRY(table_add_row(out, &row, err));
        table_set_text(out, row, COL(info, passed, file), p->path);
        TRY(set_words(out, row, COL(info, passed, what), &what, err));
        if (p->message == MSG_NONE) continue;
        why.message = p->message;
        verdict_add(&why, arg_text("path", p->path));
        TRY(set_words(out, row, COL(info, passed, why), &why, err));
    }
    return OK;
}

static status write_listing(const run_listing *l, arena *a, answer *out, error *err) {
    const struct {
        uint32_t n, least;
        const char *table;
        status (*write)(const run_listing *l, table *out, error *err);
    } PARTS[] = {{l ? l->n_workers : 0, 2, "workers", write_workers},
                 {l ? l->n_runs : 0, 2, "runs", write_runs},
                 {l ? l->n_passed : 0, 1, "passed", write_passed}};
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++) {
        if (PARTS[i].n < PARTS[i].least) continue;
        table *t = answer_table(out, a, PARTS[i].table);
        if (!t) FAIL_MEMORY(err);
        TRY(PARTS[i].write(l, t, err));
    }
    return OK;
}

status analyse_info(const analysis_input *in, const params *p, arena *a, answer *out,
                    error *err) {
    const trace *t = in->traces[0].trace;
    TRY(answer_begin("info", in, a, out, err));
    if (in->n_traces > 1 || input_is_summary(in)) {
        TRY(summary_info(in, a, out, err));
        answer_finish(out, p);
        return OK;
    }
    table *facts = answer_table(out, a, "trace");
    table *events = answer_table(out, a, "events");
    table *devices = answer_table(out, a, "devices");
    table *uses = answer_table(out, a, "in_use");
    if (!facts || !events || !devices || !uses) FAIL_MEMORY(err);
    TRY(write_trace(&in->traces[0], facts, err));
    TRY(write_events(t, events, err));
    for (uint32_t i = 1; i < t->device.n; i++) TRY(write_device(t, i, devices, err));
    if (t->slice.n <= IN_USE_SLICES) {
        in_use found;
        TRY(in_use_find(t, a, &found, err));
        TRY(in_use_write(t, &found, uses, err));
    }
    TRY(write_listing(in->traces[0].listing, a, out, err));
    answer_finish(out, p);
    return OK;
}
