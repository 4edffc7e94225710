/* mindspore_steps.c: the step trace: where each step began, its forward and backward pass, its
 * tail, its collectives.
 *
 *   step_trace_raw_#_detail_time.csv   counts of 10 ns; one row a step, the average last
 *   step_trace_point_info[_#].json     the operators that start the forward and end the
 *                                      backward pass
 *   step_trace_profiling_#.txt         the same from a GPU, before it was a table; two forms
 *   training_trace, ts_track           the same from an Ascend, raw (mindspore_raw.c)
 *
 * Every row becomes rows of producer_step (total, interval, forward_backward, tail,
 * communication), in nanoseconds, exact; the average is kept as the producer gave it, without a
 * number, because its rule changed between versions. Steps and their parts also become slices,
 * on the clock of the device.
 *
 *     start        fp                          bp          end
 *       |--interval-|-----forward_backward------|---tail-----|
 *                      |--collective--|    |--collective--| */
#include <stdio.h>

#include "base/json.h"
#include "base/num.h"
#include "ingest/mindspore/mindspore_int.h"

enum { COUNT = 1 }; /* decimal places from counts of 10 ns to ns */

/* A column of a collective's duration, with those of its start and end. */
typedef struct {
    size_t duration, start, end;
    uint32_t name, track;
    int64_t stream;
} comm_column;

/* stream_7_0_AllReduce-op9 belongs to stream 7, stream_ops_0_… of a GPU to a separate
 * stream. */
static void parse_stem(ms *m, str stem, comm_column *c) {
    str rest = str_from(stem, 7); /* stream_ */
    size_t n = 0;
    while (n < rest.n && rest.p[n] != '_') n++;
    c->track = ms_string(m, str_n(rest.p, n));
    c->stream = 0;
    if (!str_to_i64(str_n(rest.p, n), &c->stream)) c->stream = -1;
    c->name = ms_string(m, stem);
}

static status find_comms(ms *m, const csv *c, vec *out, error *err) {
    for (size_t i = 0; i < csv_n(c); i++) {
        str name = csv_cell(c, i);
        if (!str_starts(name, STR("stream_")) || str_ends(name, STR("_start_point")) ||
            str_ends(name, STR("_end_point")))
            continue;
        comm_column *col = vec_push(out);
        str start = arena_printf(m->arena, "%.*s_start_point", STR_ARG(name));
        str end = arena_printf(m->arena, "%.*s_end_point", STR_ARG(name));
        if (!col || !start.p || !end.p) FAIL_MEMORY(err);
        *col = (comm_column){.duration = i};
        /* The three are adjacent, in either order; a search of the whole row would be
         * quadratic. */
        col->start = col->end = SIZE_MAX;
        for (size_t k = i >= 2 ? i - 2 : 0; k < i + 3 && k < csv_n(c); k++) {
            if (str_eq(csv_cell(c, k), start)) col->start = k;
            if (str_eq(csv_cell(c, k), end)) col->end = k;
        }
        parse_stem(m, name, col);
        if (col->name == MS_NO_STRING || col->track == MS_NO_STRING) FAIL_MEMORY(err);
    }
    return OK;
}

/* ---- rows -------------------------------------------------------------------------------- */

static status add_stage(ms *m, int64_t number, const char *stage, int64_t start,
                        int64_t duration, error *err) {
    row_producer_step row = {.number = number,
                             .stage = ms_string(m, str_of(stage)),
                             .start = start,
                             .duration = duration};
    if (row.stage == MS_NO_STRING) FAIL_MEMORY(err);
    m->track.n_rows++;
    return builder_put_producer_step(m->b, &row, err);
}

static status add_slice(ms *m, int64_t start, int64_t dur, str name, uint8_t kind, error *err) {
    ms_exec e = {.start = start,
                 .dur = dur,
                 .name = ms_string(m, name),
                 .lane = kind == KIND_STEP ? LANE_STEP : LANE_STAGE,
                 .kind = kind};
    return dur < 0 ? OK : ms_add_exec(m, &e, err);
}

status ms_add_step_range(ms *m, int64_t number, int64_t start, int64_t dur, error *err) {
    char name[32];
    int n = snprintf(name, sizeof name, "Step %lld", (long long)number);
    return add_slice(m, start, dur, str_n(name, (size_t)n), KIND_STEP, err);
}

status ms_add_step(ms *m, const ms_step *s, error *err) {
    bool average = s->number == ABSENT_I64;
    part_count(m->part, 1, 0);
    TRY(add_stage(m, s->number, "total", s->start, s->total, err));
    TRY(add_stage(m, s->number, "interval", s->start, s->interval, err));
    TRY(add_stage(m, s->number, "forward_backward", s->fp, s->fp_bp, err));
    if (s->tail != ABSENT_I64) TRY(add_stage(m, s->number, "tail", s->bp, s->tail, err));
    if (average) return OK;
    TRY(ms_add_step_range(m, s->number, s->start, s->total, err));
    if (s->interval > 0)
        TRY(add_slice(m, s->start, s->interval, STR("iteration interval"), KIND_DATA, err));
    TRY(add_slice(m, s->fp, s->fp_bp, STR("forward and backward"), KIND_ANNOTATION, err));
    if (s->tail == ABSENT_I64) return OK;
    return add_slice(m, s->bp, s->tail, STR("tail"), KIND_ANNOTATION, err);
}

status ms_add_step_comm(ms *m, const ms_step_comm *c, error *err) {
    row_producer_step row = {.number = c->number,
                             .stage = ms_string(m, STR("communication")),
                             .start = c->start,
                             .duration = c->duration,
                             .name = c->name,
                             .track = c->track};
    if (row.stage == MS_NO_STRING) FAIL_MEMORY(err);
    TRY(builder_put_producer_step(m->b, &row, err));
    if (c->number == ABSENT_I64) return OK;
    /* A GPU's collectives are operators and kernels of its own lists, where those are there. */
    if (c->stream < 0 && (m->n_lane[LANE_GPU_OP] || m->n_lane[LANE_KERNEL])) return OK;
    ms_exec e = {.start = c->start,
                 .dur = c->duration,
                 .name = c->name,
                 .stream = c->stream,
                 .lane = LANE_COMM};
    return ms_add_exec(m, &e, err);
}

/* ---- the table --------------------------------------------------------------------------- */

typedef struct {
    size_t number, start, end, total, fp, bp, interval, fp_bp, tail;
} trace_columns;

static bool cell_ns(const csv *c, size_t column, int64_t *out) {
    return column != SIZE_MAX && scaled_i64(csv_cell(c, column), COUNT, out) &&
           *out > -((int64_t)1 << 61) && *out < (int64_t)1 << 61;
}

static bool parse_step(const csv *c, const trace_columns *col, ms_step *s) {
    str number = csv_cell(c, col->number);
    bool average = str_eq(number, STR("-")) || str_eq(number, STR("0"));
    *s = (ms_step){.number = ABSENT_I64, .tail = ABSENT_I64};
    if (!average && (!str_to_i64(number, &s->number) || s->number < 0)) return false;
    bool ok = cell_ns(c, col->start, &s->start) && cell_ns(c, col->total, &s->total) &&
              cell_ns(c, col->fp, &s->fp) && cell_ns(c, col->interval, &s->interval) &&
              cell_ns(c, col->fp_bp, &s->fp_bp);
    if (ok && col->bp != SIZE_MAX)
        ok = cell_ns(c, col->bp, &s->bp) && cell_ns(c, col->tail, &s->tail);
    return ok;
}

static status read_comms(ms *m, const csv *c, const vec *comms, int64_t number, error *err) {
    for (size_t i = 0; i < comms->n; i++) {
        const comm_column *col = &VEC(comms, comm_column)[i];
        int64_t start, end, dur;
        if (!cell_ns(c, col->start, &start) || !cell_ns(c, col->end, &end) ||
            !cell_ns(c, col->duration, &dur) || start == 0 || end == 0 || dur <= 0)
            continue; /* this step has no such event */
        ms_step_comm row = {.number = number,
                            .start = start,
                            .duration = dur,
                            .name = col->name,
                            .track = col->track,
                            .stream = col->stream};
        TRY(ms_add_step_comm(m, &row, err));
    }
    return OK;
}

static status read_rows(ms *m, csv *c, const vec *comms, error *err) {
    trace_columns col = {.number = csv_find(c, STR("step_num")),
                         .start = csv_find(c, STR("start_point")),
                         .end = csv_find(c, STR("end_point")),
                         .total = csv_find(c, STR("total")),
                         .fp = csv_find(c, STR("fp_point")),
                         .bp = csv_find(c, STR("bp_point")),
                         .interval = csv_find(c, STR("iteration_interval")),
                         .fp_bp = csv_find(c, STR("fp_and_bp|fp")),
                         .tail = csv_find(c, STR("tail"))};
    while (csv_next(c)) {
        ms_step s;
        if (!parse_step(c, &col, &s)) {
            part_count(m->part, 1, 0);
            ms_lost(m, CAUSE_MISSING_TIME, c->row, csv_cell(c, 0));
            continue;
        }
        TRY(ms_add_step(m, &s, err));
        TRY(read_comms(m, c, comms, s.number, err));
    }
    if (c->failed) FAIL_MEMORY(err);
    return OK;
}

status read_step_trace(ms *m, str text, error *err) {
    csv c = csv_open(text);
    vec comms = VEC_INIT(comm_column);
    status st = OK;
    if (csv_next(&c)) st = find_comms(m, &c, &comms, err);
    if (st == OK && csv_n(&c)) st = read_rows(m, &c, &comms, err);
    vec_fini(&comms);
    csv_fini(&c);
    return st;
}

/* ---- points ------------------------------------------------------------------------------ */

status ms_put_point(ms *m, step_point_kind point, str name, error *err) {
    row_step_point row = {.point = (uint8_t)point, .name = ms_string(m, name)};
    buf json = {0};
    buf_add_json(&json, name);
    status st = buf_ok(&json) && row.name != MS_NO_STRING ? OK : ERR_MEMORY;
    if (st == OK)
        st = ms_meta(m, point == POINT_FORWARD_START ? "fp_point" : "bp_point", buf_str(&json),
                     err);
    buf_fini(&json);
    if (st == ERR_MEMORY) FAIL_MEMORY(err);
    return builder_put_step_point(m->b, &row, err);
}

status read_points(ms *m, str text, error *err) {
    str value = str_trim(text), key, last = STR_NONE;
    if (value.n && *value.p == '[') { /* one object for each step; the last stands for all */
        json_iter it = json_open(value);
        while (json_next(&it, &key, &value)) last = value;
        value = last;
    }
    if (m->track.fp_name || !value.n) return OK; /* the device's own file came first */
    str fp = json_member(value, STR("fp_start")), bp = json_member(value, STR("bp_end"));
    m->track.fp_name = ms_string(m, json_text(fp));
    if (fp.n) TRY(ms_put_point(m, POINT_FORWARD_START, json_text(fp), err));
    if (bp.n) TRY(ms_put_point(m, POINT_BACKWARD_END, json_text(bp), err));
    return OK;
}

/* ---- a GPU's text ------------------------------------------------------------------------ */

/* name,ns */
static bool split_point(str word, str *name, int64_t *ns) {
    size_t comma = str_rfind_byte(word, ',');
    if (comma == SIZE_MAX) return false;
    *name = str_n(word.p, comma);
    return scaled_i64(str_from(word, comma + 1), 0, ns);
}

/* start,t fp,t bp,t end,t collective,start,end …: one line a step, nanoseconds. The last digit
 * of each is cut off, as in the table that is made of it. */
static status read_async_line(ms *m, str line, int64_t number, error *err) {
    int64_t at[4];
    str word, name;
    for (int i = 0; i < 4; i++) {
        if (!ms_word(&line, &word) || !split_point(word, &name, &at[i])) {
            ms_lost(m, CAUSE_MISSING_TIME, NOPOS, word);
            return OK;
        }
        at[i] = at[i] / 10 * 10;
    }
    ms_step s = {.number = number,
                 .start = at[0],
                 .fp = at[1],
                 .bp = at[2],
                 .total = sub_i64(at[3], at[0]),
                 .interval = sub_i64(at[1], at[0]),
                 .fp_bp = sub_i64(at[2], at[1]),
                 .tail = sub_i64(at[3], at[2])};
    TRY(ms_add_step(m, &s, err));
    while (ms_word(&line, &word)) {
        int64_t end, start;
        str front, stem;
        if (!split_point(word, &front, &end) || !split_point(front, &stem, &start)) continue;
        ms_step_comm c = {.number = number,
                          .start = start / 10 * 10,
                          .duration = max_i64(0, sub_i64(end / 10 * 10, start / 10 * 10)),
                          .name = ms_string(m, stem),
                          .track = ms_string(m, STR("ops")),
                          .stream = -1};
        if (c.name == MS_NO_STRING || c.track == MS_NO_STRING) FAIL_MEMORY(err);
        TRY(ms_add_step_comm(m, &c, err));
    }
    return OK;
}

/* Lines FP, BP, end, then collectives: NAME start,end start,end …, a pair for each step, 10
 * ns. */
typedef struct {
    str name;
    vec pairs; /* pair */
} sync_line;
typedef struct {
    int64_t start, end;
} pair;

static status read_pairs(str line, sync_line *out, error *err) {
    str word;
    (void)!ms_word(&line, &out->name);
    while (ms_word(&line, &word)) {
        size_t comma = str_find(word, STR(","), 0);
        pair p;
        if (comma == SIZE_MAX || !scaled_i64(str_n(word.p, comma), COUNT, &p.start) ||
            !scaled_i64(str_from(word, comma + 1), COUNT, &p.end))
            continue;
        pair *to = vec_push(&out->pairs);
        if (!to) FAIL_MEMORY(err);
        *to = p;
    }
    return OK;
}

static status write_sync(ms *m, const sync_line *lines, size_t n_lines, error *err) {
    size_t n = n_lines >= 3 ? lines[0].pairs.n : 0;
    for (size_t i = 0; i < n_lines; i++)
        if (lines[i].pairs.n < n) n = lines[i].pairs.n;
    for (size_t k = 0; k < n; k++) {
        pair fp = VEC(&lines[0].pairs, pair)[k], bp = VEC(&lines[1].pairs, pair)[k],
             end = VEC(&lines[2].pairs, pair)[k];
        /* A step begins where the operator that ends the one before it starts, as in the
         * table. */
        int64_t start = k ? VEC(&lines[2].pairs, pair)[k - 1].start : fp.start;
        ms_step s = {.number = (int64_t)k + 1,
                     .start = start,
                     .fp = fp.start,
                     .bp = bp.end,
                     .total = sub_i64(end.end, start),
                     .interval = sub_i64(fp.start, start),
                     .fp_bp = sub_i64(bp.end, fp.start),
                     .tail = sub_i64(end.end, bp.end)};
        TRY(ms_add_step(m, &s, err));
        for (size_t i = 3; i < n_lines; i++) {
            pair c = VEC(&lines[i].pairs, pair)[k];
            ms_step_comm row = {.number = s.number,
                                .start = c.start,
                                .duration = max_i64(0, sub_i64(c.end, c.start)),
                                .name = ms_string(m, lines[i].name),
                                .track = ms_string(m, STR("ops")),
                                .stream = -1};
            if (row.name == MS_NO_STRING || row.track == MS_NO_STRING) FAIL_MEMORY(err);
            TRY(ms_add_step_comm(m, &row, err));
        }
    }
    return OK;
}

static status read_sync(ms *m, str text, error *err) {
    vec lines = VEC_INIT(sync_line);
    status st = OK;
    for (str line; st == OK && ms_line(&text, &line);) {
        if (!str_trim(line).n) continue;
        sync_line *to = vec_push(&lines);
        if (!to) {
            st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
            break;
        }
        *to = (sync_line){.pairs = VEC_INIT(pair)};
        st = read_pairs(line, to, err);
    }
    sync_line *all = VEC(&lines, sync_line);
    if (st == OK && lines.n >= 2 && !m->track.fp_name) {
        st = ms_put_point(m, POINT_FORWARD_START, all[0].name, err);
        if (st == OK) st = ms_put_point(m, POINT_BACKWARD_END, all[1].name, err);
    }
    if (st == OK) st = write_sync(m, all, lines.n, err);
    for (size_t i = 0; i < lines.n; i++) vec_fini(&all[i].pairs);
    vec_fini(&lines);
    return st;
}

status read_step_text(ms *m, str text, error *err) {
    if (m->track.n_rows) return OK; /* the table made of it was there */
    str rest = text, line, word, name;
    int64_t ns, number = 0;
    if (!ms_line(&rest, &line)) return OK;
    bool async = ms_word(&line, &word) && split_point(word, &name, &ns) && name.n &&
                 str_find(name, STR(","), 0) == SIZE_MAX;
    if (!async) return read_sync(m, text, err);
    while (ms_line(&text, &line))
        if (str_trim(line).n) TRY(read_async_line(m, line, ++number, err));
    return OK;
}

/* step_trace_time.csv of 2.3 and later: kept as it is; its parts follow from the timeline. */
status read_step_time(ms *m, str text, error *err) {
    buf json = {0};
    csv c = csv_open(text);
    vec names = VEC_INIT(str);
    bool ok = csv_next(&c);
    for (size_t i = 0; ok && i < csv_n(&c); i++) {
        str *to = vec_push(&names);
        ok = to && (*to = arena_str(m->arena, csv_cell(&c, i))).p;
    }
    buf_add_byte(&json, '[');
    while (ok && csv_next(&c)) {
        buf_add_cstr(&json, json.n > 1 ? ", {" : "{");
        for (size_t i = 0; i < names.n; i++) {
            double v;
            if (i) buf_add_cstr(&json, ", ");
            buf_add_json(&json, VEC(&names, str)[i]);
            buf_add_cstr(&json, ": ");
            if (str_to_f64(csv_cell(&c, i), &v))
                buf_add_f64(&json, v);
            else
                buf_add_json(&json, csv_cell(&c, i));
        }
        buf_add_byte(&json, '}');
    }
    buf_add_byte(&json, ']');
    ok &= buf_ok(&json) && !c.failed;
    status st = ok ? ms_meta(m, "step_trace_time", buf_str(&json), err) : OK;
    buf_fini(&json);
    vec_fini(&names);
    csv_fini(&c);
    return st;
}
