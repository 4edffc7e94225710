/* mindspore_host.c: what the host did around the device, from two tables.
 *
 *   host_info/host_info_#.csv   2.3, 2.4:
 *                               tid,pid,parent_pid,module_name,event,stage,level,start_end,
 *                               custom_info,memory_usage(kB),time_stamp(us); start_end 0
 *                               begins, 1 ends, 2 is a point
 *   dataset.csv                 2.4 and later: Operation, Stage, Occurrences, Avg. time
 *                               (us), Custom Info
 *
 * An end of host_info closes the last open range of the same thread and name; ranges are slices
 * of the framework named module::event::stage, as those of later versions. Its memory is that
 * of the process, where it was measured (0 is "not"). dataset.csv is kept as the fact
 * dataset_stages: sums by operation and stage, without times of day. */
#include <math.h>
#include <stdio.h>

#include "base/num.h"
#include "ingest/mindspore/mindspore_int.h"

/* ---- host_info --------------------------------------------------------------------------- */

typedef struct {
    size_t tid, module, event, stage, level, what, info, memory, time;
} host_columns;

/* A range whose end was not met yet. */
typedef struct {
    int64_t start, tid;
    uint32_t name, more;
    uint32_t next; /* row + 1 of the one of the same thread and name around it */
    bool ended;
} open_range;

typedef struct {
    ms *m;
    csv c;
    host_columns col;
    vec open;        /* open_range */
    map last;        /* thread and name -> row + 1 of open, 0 = none */
    int64_t last_ns; /* the latest time of the file */
    int64_t memory;  /* of the process, bytes, the last value recorded */
    buf text;
} host_file;

static host_columns find_columns(const csv *c) {
    return (host_columns){.tid = csv_find(c, STR("tid")),
                          .module = csv_find(c, STR("module_name")),
                          .event = csv_find(c, STR("event")),
                          .stage = csv_find(c, STR("stage")),
                          .level = csv_find(c, STR("level")),
                          .what = csv_find(c, STR("start_end")),
                          .info = csv_find(c, STR("custom_info")),
                          .memory = csv_find(c, STR("memory_usage(kB)")),
                          .time = csv_find(c, STR("time_stamp(us)"))};
}

static uint32_t name_of(host_file *f) {
    const size_t parts[] = {f->col.module, f->col.event, f->col.stage};
    buf_clear(&f->text);
    for (size_t i = 0; i < 3; i++) {
        str part_text = csv_cell(&f->c, parts[i]);
        if (!part_text.n) continue;
        if (f->text.n) buf_add_cstr(&f->text, "::");
        buf_add_str(&f->text, part_text);
    }
    return buf_ok(&f->text) ? ms_string(f->m, buf_str(&f->text)) : MS_NO_STRING;
}

static uint32_t more_of(host_file *f) {
    str level = csv_cell(&f->c, f->col.level), info = csv_cell(&f->c, f->col.info);
    buf_clear(&f->text);
    ms_add_member(&f->text, STR("level"), level);
    if (info.n) ms_add_member(&f->text, STR("custom_info"), info);
    buf_add_byte(&f->text, '}');
    ms_more more = {.args =
                        buf_ok(&f->text) ? ms_string(f->m, buf_str(&f->text)) : MS_NO_STRING};
    return more.args == MS_NO_STRING ? MS_NO_STRING : ms_add_more(f->m, &more);
}

static status add_memory(host_file *f, int64_t time, error *err) {
    int64_t kib, bytes;
    if (f->m->seen[MS_CPU_MEMORY] || !scaled_i64(csv_cell(&f->c, f->col.memory), 0, &kib) ||
        kib <= 0 || kib > INT64_MAX / 1024)
        return OK;
    bytes = kib * 1024;
    if (bytes == f->memory) return OK;
    raw_memory *to = vec_push(&f->m->memory.rows);
    if (!to) FAIL_MEMORY(err);
    *to = (raw_memory){.time = time,
                       .bytes = bytes - f->memory,
                       .allocated = bytes,
                       .reserved = ABSENT_I64,
                       .tie = sat_u32(f->m->memory.rows.n),
                       .device = ABSENT_I32,
                       .device_type = DEVICE_CPU,
                       .kind = bytes < f->memory ? MEMORY_FREE : MEMORY_ALLOC};
    f->memory = bytes;
    return OK;
}

static status begin_range(host_file *f, open_range r, uint32_t *at, error *err) {
    open_range *to = vec_push(&f->open);
    r.more = more_of(f);
    if (!to || r.more == MS_NO_STRING || f->open.n >= MAP_NONE) FAIL_MEMORY(err);
    r.next = *at;
    *to = r;
    *at = (uint32_t)f->open.n;
    return OK;
}

static status end_range(host_file *f, open_range *r, int64_t end, error *err) {
    ms_exec e = {.start = r->start,
                 .dur = max_i64(0, sub_i64(end, r->start)),
                 .stream = r->tid,
                 .name = r->name,
                 .more = r->more,
                 .lane = LANE_HOST,
                 .kind = KIND_OTHER};
    r->ended = true;
    return ms_add_exec(f->m, &e, err);
}

static status take_row(host_file *f, error *err) {
    open_range now = {0};
    int64_t what;
    part_count(f->m->part, 1, 0);
    if (!scaled_i64(csv_cell(&f->c, f->col.time), 3, &now.start) || now.start <= 0 ||
        !scaled_i64(csv_cell(&f->c, f->col.what), 0, &what)) {
        ms_lost(f->m, CAUSE_MISSING_TIME, f->c.row, csv_cell(&f->c, f->col.event));
        return OK;
    }
    if (!scaled_i64(csv_cell(&f->c, f->col.tid), 0, &now.tid)) now.tid = 0;
    f->last_ns = max_i64(f->last_ns, now.start);
    now.name = name_of(f);
    if (now.name == MS_NO_STRING) FAIL_MEMORY(err);
    TRY(add_memory(f, now.start, err));
    uint32_t one = 0,
             *at = what == 2 ? &one : map_at(&f->last, hash_pair((uint64_t)now.tid, now.name));
    if (!at) FAIL_MEMORY(err);
    if (*at == MAP_NONE) *at = 0;
    if (what != 1) TRY(begin_range(f, now, at, err));
    if (what == 0) return OK;
    if (!*at) {
        ms_lost(f->m, CAUSE_UNMATCHED_END, f->c.row, ms_text(f->m, now.name));
        return OK;
    }
    open_range *r = &VEC(&f->open, open_range)[*at - 1];
    *at = r->next;
    return end_range(f, r, now.start, err);
}

/* Ranges without an end last as long as the file. */
static status end_all(host_file *f, error *err) {
    for (size_t i = 0; i < f->open.n; i++) {
        open_range *r = &VEC(&f->open, open_range)[i];
        if (r->ended) continue;
        part_lost(f->m->part, CAUSE_UNMATCHED_BEGIN, NOPOS, r->name);
        TRY(end_range(f, r, f->last_ns, err));
    }
    return OK;
}

status read_host_info(ms *m, str text, error *err) {
    host_file f = {.m = m, .c = csv_open(text), .open = VEC_INIT(open_range)};
    bool ok = csv_next(&f.c);
    status st = OK;
    if (ok) f.col = find_columns(&f.c);
    while (ok && st == OK && csv_next(&f.c)) st = take_row(&f, err);
    if (st == OK) st = end_all(&f, err);
    if (f.c.failed) st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    csv_fini(&f.c);
    vec_fini(&f.open);
    map_fini(&f.last);
    buf_fini(&f.text);
    return st;
}

/* ---- dataset ----------------------------------------------------------------------------- */

static status put_stage(ms *m, const csv *c, const size_t column[5], error *err) {
    row_pipe_stage row = {.operation = ms_string(m, csv_cell(c, column[0])),
                          .stage = ms_string(m, csv_cell(c, column[1])),
                          .calls = ABSENT_I64,
                          .total = ABSENT_I64,
                          .info = ms_string(m, csv_cell(c, column[4]))};
    double mean_us;
    if (row.operation == MS_NO_STRING || row.stage == MS_NO_STRING || row.info == MS_NO_STRING)
        FAIL_MEMORY(err);
    if (!scaled_i64(csv_cell(c, column[2]), 0, &row.calls) || row.calls < 0)
        row.calls = ABSENT_I64;
    if (row.calls > 0 && str_to_f64(csv_cell(c, column[3]), &mean_us) && mean_us >= 0 &&
        mean_us < 1e15 && round_i64(mean_us * 1e3) <= INT64_MAX / row.calls)
        row.total = round_i64(mean_us * 1e3) * row.calls;
    return builder_put_pipe_stage(m->b, &row, err);
}

status read_dataset(ms *m, str text, error *err) {
    csv c = csv_open(text);
    status st = OK;
    bool ok = csv_next(&c);
    const size_t column[5] = {csv_find(&c, STR("Operation")), csv_find(&c, STR("Stage")),
                              csv_find(&c, STR("Occurrences")),
                              csv_find(&c, STR("Avg. time (us)")),
                              csv_find(&c, STR("Custom Info"))};
    while (ok && st == OK && csv_next(&c)) {
        part_count(m->part, 1, 0);
        if (csv_cell(&c, column[0]).n)
            st = put_stage(m, &c, column, err);
        else
            ms_lost(m, CAUSE_MISSING_NAME, c.row, csv_cell(&c, column[1]));
    }
    if (st == OK && c.failed)
        st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    csv_fini(&c);
    return st;
}
