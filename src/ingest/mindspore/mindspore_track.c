/* mindspore_track.c: the step trace as it comes from an Ascend, raw (little endian).
 *
 *   training_trace.*   20 bytes: u64 tag, u16 task, u16 stream, u64 counter
 *   ts_track.*         40 bytes: u8 mode, u8 type, u16 size, u32, u64 counter, u64 index,
 *                      u64 model, u16 stream, u16 task, u16 tag, u16; type 10 is the step
 *                      trace (2.0)
 *
 *      training_trace      ts_track
 *           1                  2         the forward pass starts
 *           2                  3         the backward pass ends
 *      255 or 65535            4         the step ends, and the next one starts
 *       all others       10000 … 19999   collectives: of each stream a begin, an end, a begin …
 *
 * Tags belong to tasks that only mark a place. In a ts_track the operator that was meant is
 * found in the table of tasks: after the marker where something starts, before it where
 * something ends. So the two points of the step get their names, and the two ends of a
 * collective must be of one operator; when they are not, or one is missing, it is counted and
 * left out. Both files go on from slice to slice. A table that was made of them wins. Counts
 * are of 10 ns. */
#include <stdio.h>

#include "base/num.h"
#include "ingest/mindspore/mindspore_int.h"

enum { STEP_BYTES = 20, TRACK_BYTES = 40, STEP_TYPE = 10 };
enum { FP_TAG = 1, BP_TAG = 2, END_TAG = 255, WIDE_END_TAG = 65535 };
enum {
    TRACK_MODEL_START = 0,
    TRACK_MODEL_END = 1,
    TRACK_FP = 2,
    TRACK_BP = 3,
    TRACK_END = 4,
    TRACK_COMM = 10000,
    TRACK_COMM_END = 20000,
};
enum { MOST_POINTS = 4096 }; /* of one step: more is not a step trace */
enum { MOST_NAME = 200 };    /* of an operator in the name of its collective */

/* ---- steps ------------------------------------------------------------------------------- */

/* A begin and its end, the index-th of their stream. */
static status add_pair(ms *m, const ms_point *from, const ms_point *to, size_t index,
                       error *err) {
    bool paired = from->op == to->op && to->counter >= from->counter &&
                  (!from->marked || (from->tag % 2 == 0 && to->tag % 2 == 1));
    if (!paired) {
        ms_lost(m, CAUSE_UNMATCHED_BEGIN, NOPOS, ms_text(m, from->op));
        return OK;
    }
    str op = from->op ? ms_short(ms_text(m, from->op)) : STR("parallel");
    char name[MOST_NAME + 48];
    if (op.n > MOST_NAME) op.n = MOST_NAME;
    int n_name = from->marked ? snprintf(name, sizeof name, "stream_%u_%zu_%.*s", from->stream,
                                         index, STR_ARG(op))
                              : snprintf(name, sizeof name, "stream_%u_parallel_%zu",
                                         from->stream, index);
    char track[16];
    int n = snprintf(track, sizeof track, "%u", from->stream);
    ms_step_comm c = {.number = m->track.number,
                      .start = (int64_t)from->counter * 10,
                      .duration = (int64_t)(to->counter - from->counter) * 10,
                      .stream = from->stream,
                      .name = ms_string(m, str_n(name, (size_t)n_name)),
                      .track = ms_string(m, str_n(track, (size_t)n))};
    if (c.name == MS_NO_STRING || c.track == MS_NO_STRING) FAIL_MEMORY(err);
    return c.duration > 0 ? ms_add_step_comm(m, &c, err) : OK;
}

/* Collectives of a step: of each stream the points in pairs, as they come. A stream with one
 * too many has no pairs: which of them is alone is not known. */
static status add_comms(ms *m, error *err) {
    const ms_point *all = VEC(&m->track.points, ms_point);
    size_t n = m->track.points.n;
    for (size_t i = 0; i < n; i++) {
        size_t before = 0, of_stream = 0, next = SIZE_MAX;
        for (size_t k = 0; k < n; k++) {
            if (all[k].stream != all[i].stream) continue;
            before += k < i;
            of_stream++;
            if (k > i && next == SIZE_MAX) next = k;
        }
        if (of_stream % 2 && !before)
            ms_lost(m, CAUSE_UNMATCHED_BEGIN, NOPOS, ms_text(m, all[i].op));
        if (of_stream % 2 || before % 2 || next == SIZE_MAX) continue;
        TRY(add_pair(m, &all[i], &all[next], before / 2, err));
    }
    return OK;
}

static status end_step(ms *m, uint64_t end, uint64_t offset, error *err) {
    ms_track *s = &m->track;
    uint64_t start = s->previous_end ? s->previous_end : s->fp;
    status st = OK;
    s->number++;
    if (s->fp && s->bp && end && start && end >= start) {
        ms_step row = {.number = s->number,
                       .start = (int64_t)start * 10,
                       .fp = (int64_t)s->fp * 10,
                       .bp = (int64_t)s->bp * 10,
                       .total = ((int64_t)end - (int64_t)start) * 10,
                       .interval = ((int64_t)s->fp - (int64_t)start) * 10,
                       .fp_bp = ((int64_t)s->bp - (int64_t)s->fp) * 10,
                       .tail = ((int64_t)end - (int64_t)s->bp) * 10};
        st = ms_add_step(m, &row, err);
        if (st == OK) st = add_comms(m, err);
    } else {
        part_count(m->part, 1, 0);
        ms_lost(m, CAUSE_MISSING_TIME, offset, str_of(m->file));
    }
    s->previous_end = end;
    s->fp = s->bp = 0;
    s->points.n = 0;
    return st;
}

static status add_point(ms *m, const ms_point *p, uint64_t offset, error *err) {
    if (m->track.points.n >= MOST_POINTS) {
        ms_lost(m, CAUSE_UNMATCHED_BEGIN, offset, STR_NONE);
        return OK;
    }
    ms_point *to = vec_push(&m->track.points);
    if (!to) FAIL_MEMORY(err);
    *to = *p;
    return OK;
}

/* ---- training_trace ---------------------------------------------------------------------- */

static ms_point point_at(str text, size_t i) {
    const char *p = text.p + i * STEP_BYTES;
    return (ms_point){.tag = read_le(p, 8),
                      .stream = (uint16_t)read_le(p + 10, 2),
                      .counter = read_le(p + 12, 8)};
}

/* The tag that ends a step: the wide one when it comes before the second forward tag. */
static uint64_t find_end_tag(str text, size_t n) {
    int seen = 0;
    for (size_t i = 0; i < n && seen < 2; i++) {
        uint64_t tag = point_at(text, i).tag;
        if (tag == WIDE_END_TAG) return WIDE_END_TAG;
        seen += tag == FP_TAG;
    }
    return END_TAG;
}

status read_training_trace(ms *m, str text, error *err) {
    if (m->seen[MS_STEP_TRACE]) return OK; /* the table made of it was there */
    size_t n = text.n / STEP_BYTES;
    if (!m->track.end_tag) m->track.end_tag = find_end_tag(text, n);
    ms_count_rest(m, text, STEP_BYTES);
    for (size_t i = 0; i < n; i++) {
        ms_point p = point_at(text, i);
        if (p.tag == 0 || p.tag > m->track.end_tag) continue; /* of a job, of no step */
        if (p.counter >= MS_MOST_COUNT) {
            ms_lost(m, CAUSE_NUMBER_RANGE, i * STEP_BYTES, str_of(m->file));
        } else if (p.tag == FP_TAG) {
            m->track.fp = p.counter;
        } else if (p.tag == BP_TAG) {
            m->track.bp = p.counter;
        } else if (p.tag == m->track.end_tag) {
            TRY(end_step(m, p.counter, i * STEP_BYTES, err));
        } else {
            TRY(add_point(m, &p, i * STEP_BYTES, err));
        }
    }
    return OK;
}

/* ---- ts_track ---------------------------------------------------------------------------- */

static bool is_comm(uint64_t tag) {
    return tag >= TRACK_COMM && tag < TRACK_COMM_END;
}

/* The operator a marker stands for, string id; 0: the table of tasks does not have it. */
static uint32_t op_of_marker(const ms *m, uint64_t tag, uint64_t stream, uint64_t task) {
    const uint32_t *names = VEC(&m->task.names, uint32_t);
    size_t at = ms_task_row(m, stream, task), n = m->task.names.n;
    bool ahead = tag == TRACK_MODEL_START || tag == TRACK_FP || (is_comm(tag) && tag % 2 == 0);
    if (at >= n) return 0;
    if (!ahead) return at > 0 ? names[at - 1] : 0;
    at++;
    /* The marker of the forward pass may follow that of the model. */
    if (tag == TRACK_MODEL_START && at < n &&
        str_find(ms_text(m, names[at]), STR("Profiling-op"), 0) != SIZE_MAX)
        at++;
    return at < n ? names[at] : 0;
}

static status keep_point(ms *m, step_point_kind point, uint32_t *name, uint32_t op,
                         error *err) {
    /* The first one counts; a file that only says which operators they are wins. */
    if (*name || !op || m->seen[MS_POINTS] || m->seen[MS_POINTS_OF] || m->seen[MS_RAW_POINTS])
        return OK;
    *name = op;
    return ms_put_point(m, point, ms_text(m, op), err);
}

static status take_mark(ms *m, const ms_point *p, uint64_t offset, error *err) {
    switch (p->tag) {
    case TRACK_MODEL_START:
    case TRACK_MODEL_END: return OK; /* a step starts where the one before ends */
    case TRACK_FP:
        m->track.fp = p->counter;
        return keep_point(m, POINT_FORWARD_START, &m->track.fp_op, p->op, err);
    case TRACK_BP:
        m->track.bp = p->counter;
        return keep_point(m, POINT_BACKWARD_END, &m->track.bp_op, p->op, err);
    case TRACK_END: return end_step(m, p->counter, offset, err);
    default: break;
    }
    if (is_comm(p->tag)) return add_point(m, p, offset, err);
    ms_lost(m, CAUSE_UNKNOWN_PHASE, offset, str_of(m->file));
    return OK;
}

status read_ts_track(ms *m, str text, error *err) {
    if (m->seen[MS_STEP_TRACE] || m->seen[MS_RAW_STEPS]) return OK;
    ms_count_rest(m, text, TRACK_BYTES);
    for (uint64_t at = 0; text.n - at >= TRACK_BYTES; at += TRACK_BYTES) {
        const char *r = text.p + at;
        if ((uint8_t)r[1] != STEP_TYPE) continue;
        uint64_t stream = read_le(r + 32, 2), task = read_le(r + 34, 2);
        ms_point p = {.tag = read_le(r + 36, 2),
                      .counter = read_le(r + 8, 8),
                      .stream = (uint16_t)stream,
                      .marked = true};
        p.op = op_of_marker(m, p.tag, stream, task);
        if (p.counter >= MS_MOST_COUNT)
            ms_lost(m, CAUSE_NUMBER_RANGE, at, str_of(m->file));
        else
            TRY(take_mark(m, &p, at, err));
    }
    return OK;
}
