/* mindspore_data.c: how batches reach the network: the pipeline's operators and their queues,
 * the queue of the host, the queue of the device, the processors.
 *
 *   minddata_pipeline_raw_#.csv     operators with children, workers and samples of their
 *                                   output queue
 *   pipeline_profiling_#.json       what that table is made of, when it is missing
 *   device_queue_profiling_#.txt    type extra batch value [ms]: the HOST's queue, whatever its
 *                                   name
 *   dataset_iterator_profiling_#.txt  the same without sink mode
 *   minddata_aicpu_#.txt            node start end size: the device's queue, microseconds
 *   minddata_getnext_profiling_#.txt  the same of a GPU, nanoseconds
 *   minddata_cpu_utilization_#.json processors by sample: kept as it is
 *
 * Queue sizes are samples at a fixed interval or one for each batch; they have separate clocks,
 * so times are offsets in those clocks and are not put on the timeline. */
#include "base/json.h"
#include "base/num.h"
#include "ingest/mindspore/mindspore_int.h"

enum { MOST_OPS = 4096, MOST_SAMPLES = 1 << 24 };

/* ---- operators --------------------------------------------------------------------------- */

typedef struct {
    str type, children, sizes;
    int64_t id, workers, length;
    uint32_t parent; /* row, from 1 */
} pipe_row;

static uint32_t row_with_id(const vec *rows, int64_t id) {
    for (size_t i = 0; i < rows->n; i++)
        if (VEC(rows, pipe_row)[i].id == id) return (uint32_t)i + 1;
    return 0;
}

static status write_samples(ms *m, const pipe_row *r, uint32_t row, int64_t interval,
                            error *err) {
    json_iter it = json_open(r->sizes);
    str key, value;
    for (int64_t i = 0; i < MOST_SAMPLES && json_next(&it, &key, &value); i++) {
        int64_t size;
        part_count(m->part, 1, 0);
        if (!json_i64(value, &size)) {
            ms_lost(m, CAUSE_NUMBER_RANGE, NOPOS, value);
            continue;
        }
        row_queue_sample s = {.pipe_op = row,
                              .time = interval == ABSENT_I64 ? i : mul_i64(i, interval),
                              .step = ABSENT_I64,
                              .size = size,
                              .capacity = r->length,
                              .get = ABSENT_I64,
                              .push = ABSENT_I64,
                              .total = ABSENT_I64};
        TRY(builder_put_queue_sample(m->b, &s, err));
    }
    return OK;
}

/* Parents from children, then the rows. interval: ns. */
static status write_pipeline(ms *m, vec *rows, int64_t interval, error *err) {
    pipe_row *all = VEC(rows, pipe_row);
    for (size_t i = 0; i < rows->n; i++) {
        json_iter it = json_open(all[i].children);
        str key, value;
        int64_t child;
        for (int n = 0; n < MOST_OPS && json_next(&it, &key, &value); n++) {
            uint32_t row = json_i64(value, &child) ? row_with_id(rows, child) : 0;
            if (row && row != i + 1 && !all[row - 1].parent)
                all[row - 1].parent = (uint32_t)i + 1;
        }
    }
    for (size_t i = 0; i < rows->n; i++) {
        row_pipe_op op = {.name = ms_string(m, all[i].type),
                          .parent = all[i].parent ? all[i].parent + m->pipe.n_ops : 0,
                          .workers = all[i].workers == ABSENT_I64 ? ABSENT_I32
                                                                  : sat_i32(all[i].workers),
                          .capacity = all[i].length,
                          .id = all[i].id,
                          .interval = interval,
                          .role = PIPE_OPERATOR};
        if (op.name == MS_NO_STRING) FAIL_MEMORY(err);
        TRY(builder_put_pipe_op(m->b, &op, err));
    }
    uint32_t first = m->pipe.n_ops;
    m->pipe.n_ops += (uint32_t)rows->n;
    for (size_t i = 0; i < rows->n; i++)
        TRY(write_samples(m, &all[i], first + (uint32_t)i + 1, interval, err));
    return OK;
}

/* Milliseconds between samples as ns; absent when it is not said or makes no sense. */
static int64_t interval_ns(str value) {
    int64_t v;
    return json_i64(value, &v) && v > 0 && v < 1000000000 ? v * 1000000 : ABSENT_I64;
}

static void parse_op(str value, pipe_row *to) {
    str queue = json_member(json_member(value, STR("metrics")), STR("output_queue"));
    *to = (pipe_row){.type = json_text(json_member(value, STR("op_type"))),
                     .children = json_member(value, STR("children")),
                     .sizes = json_member(queue, STR("size")),
                     .id = ABSENT_I64,
                     .workers = ABSENT_I64,
                     .length = ABSENT_I64};
    (void)!json_i64(json_member(value, STR("op_id")), &to->id);
    (void)!json_i64(json_member(value, STR("num_workers")), &to->workers);
    (void)!json_i64(json_member(queue, STR("length")), &to->length);
}

status read_pipeline(ms *m, str text, error *err) {
    if (m->pipe.n_ops) return OK; /* the table that is made of it was there */
    vec rows = VEC_INIT(pipe_row);
    json_iter it = json_open(json_member(text, STR("op_info")));
    str key, value;
    status st = OK;
    while (st == OK && rows.n < MOST_OPS && json_next(&it, &key, &value)) {
        pipe_row *to = vec_push(&rows);
        if (!to)
            st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
        else
            parse_op(value, to);
    }
    if (st == OK && !rows.n) ms_lost(m, CAUSE_BAD_SYNTAX, 0, str_of(m->file));
    int64_t interval = interval_ns(json_member(text, STR("sampling_interval")));
    if (st == OK) st = write_pipeline(m, &rows, interval, err);
    vec_fini(&rows);
    return st;
}

/* A number of a cell; absent when it is empty. */
static int64_t cell_i64(const csv *c, size_t column) {
    int64_t v;
    return scaled_i64(csv_cell(c, column), 0, &v) ? v : ABSENT_I64;
}

status read_pipeline_raw(ms *m, str text, error *err) {
    csv c = csv_open(text);
    vec rows = VEC_INIT(pipe_row);
    status st = OK;
    int64_t interval = ABSENT_I64;
    bool ok = csv_next(&c);
    size_t id = csv_find(&c, STR("op_id")), type = csv_find(&c, STR("op_type")),
           workers = csv_find(&c, STR("num_workers")),
           sizes = csv_find(&c, STR("output_queue_size")),
           length = csv_find(&c, STR("output_queue_length")),
           every = csv_find(&c, STR("sample_interval")),
           children = csv_find(&c, STR("children_id"));
    while (ok && rows.n < MOST_OPS && csv_next(&c)) {
        pipe_row *to = vec_push(&rows);
        if (!to) break;
        *to = (pipe_row){.type = arena_str(m->arena, csv_cell(&c, type)),
                         .children = arena_str(m->arena, csv_cell(&c, children)),
                         .sizes = arena_str(m->arena, csv_cell(&c, sizes)),
                         .id = cell_i64(&c, id),
                         .workers = cell_i64(&c, workers),
                         .length = cell_i64(&c, length)};
        ok = to->type.p && to->children.p && to->sizes.p;
        if (interval == ABSENT_I64) interval = interval_ns(csv_cell(&c, every));
    }
    if (c.failed || (!ok && rows.n))
        st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    if (st == OK) st = write_pipeline(m, &rows, interval, err);
    vec_fini(&rows);
    csv_fini(&c);
    return st;
}

/* ---- queues ------------------------------------------------------------------------------ */

static status add_queue(ms *m, const char *name, uint8_t role, error *err) {
    row_pipe_op op = {.name = ms_string(m, str_of(name)),
                      .workers = ABSENT_I32,
                      .capacity = ABSENT_I64,
                      .id = ABSENT_I64,
                      .interval = ABSENT_I64,
                      .role = role};
    if (op.name == MS_NO_STRING) FAIL_MEMORY(err);
    m->pipe.n_ops++;
    m->pipe.queue[role] = m->pipe.n_ops;
    return builder_put_pipe_op(m->b, &op, err);
}

/* Whole milliseconds as ns. */
static int64_t ms_to_ns(int64_t v) {
    return v < 0 || v > INT64_MAX / 1000000 ? ABSENT_I64 : v * 1000000;
}

/* The row of a batch, made when it is new; numbers of batches are small and dense, so a map
 * would be fine, but files are in order: the last one is looked at first. */
static row_queue_sample *batch_row(vec *batches, map *by_batch, int64_t batch) {
    uint32_t *at = map_at(by_batch, (uint64_t)batch);
    if (!at) return NULL;
    if (*at != MAP_NONE) return &VEC(batches, row_queue_sample)[*at];
    row_queue_sample *row = vec_push(batches);
    *at = row ? (uint32_t)(batches->n - 1) : 0;
    if (row)
        *row = (row_queue_sample){.time = ABSENT_I64,
                                  .step = batch,
                                  .size = ABSENT_I64,
                                  .capacity = ABSENT_I64,
                                  .get = ABSENT_I64,
                                  .push = ABSENT_I64,
                                  .total = ABSENT_I64};
    return row;
}

/* One line: type extra batch value [time]. False: it is not such a line. */
static bool take_queue_line(str line, vec *batches, map *by_batch, bool *failed) {
    int64_t v[5];
    int n = 0;
    str word;
    while (n < 5 && ms_word(&line, &word))
        if (!str_to_i64(word, &v[n++])) return false;
    if (n < 4 || v[0] < 0 || v[0] > 1) return false;
    row_queue_sample *row = batch_row(batches, by_batch, v[2]);
    if (!row) {
        *failed = true;
        return true;
    }
    if (v[0] == 1) {
        row->capacity = v[1];
        row->size = v[3];
        if (n == 5) row->time = ms_to_ns(v[4]);
    } else if (v[1] == 0) {
        row->get = ms_to_ns(v[3]);
    } else if (v[1] == 1) {
        row->push = ms_to_ns(v[3]);
    } else if (v[1] == 2) {
        row->total = ms_to_ns(v[3]);
    } else {
        return false;
    }
    return true;
}

status read_host_queue(ms *m, str text, error *err) {
    const char *base = text.p;
    if (m->pipe.queue[PIPE_HOST_QUEUE]) return OK; /* sink mode's file counts */
    vec batches = VEC_INIT(row_queue_sample);
    map by_batch = {0};
    bool failed = false;
    for (str line; !failed && ms_line(&text, &line);) {
        if (!str_trim(line).n) continue;
        part_count(m->part, 1, 0);
        if (!take_queue_line(line, &batches, &by_batch, &failed))
            ms_lost(m, CAUSE_NUMBER_RANGE, (uint64_t)(line.p - base), line);
    }
    status st = failed ? error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL) : OK;
    if (st == OK && batches.n) st = add_queue(m, "host queue", PIPE_HOST_QUEUE, err);
    for (size_t i = 0; i < batches.n && st == OK; i++) {
        row_queue_sample *row = &VEC(&batches, row_queue_sample)[i];
        row->pipe_op = m->pipe.queue[PIPE_HOST_QUEUE];
        st = builder_put_queue_sample(m->b, row, err);
    }
    map_fini(&by_batch);
    vec_fini(&batches);
    return st;
}

status ms_add_data_queue(ms *m, int64_t start_ns, int64_t end_ns, int64_t size, error *err) {
    if (!m->pipe.queue[PIPE_DATA_QUEUE]) TRY(add_queue(m, "data queue", PIPE_DATA_QUEUE, err));
    row_queue_sample row = {.pipe_op = m->pipe.queue[PIPE_DATA_QUEUE],
                            .time = start_ns,
                            .step = ++m->pipe.n_batches,
                            .size = size,
                            .capacity = ABSENT_I64,
                            .get = ABSENT_I64,
                            .push = ABSENT_I64,
                            .total = max_i64(0, sub_i64(end_ns, start_ns))};
    return builder_put_queue_sample(m->b, &row, err);
}

status read_data_queue(ms *m, str text, error *err) {
    const char *base = text.p;
    int places = str_starts(str_of(m->file), STR("minddata_getnext")) ? 0 : 3;
    if (m->pipe.queue[PIPE_DATA_QUEUE]) return OK;
    for (str line; ms_line(&text, &line);) {
        str name, word[3], rest = line;
        int64_t start, end, size;
        if (!ms_word(&rest, &name) || !str_starts(name, STR("GetNext"))) continue;
        int n = 0;
        part_count(m->part, 1, 0);
        while (n < 3 && ms_word(&rest, &word[n])) n++;
        if (n < 3 || !scaled_i64(word[0], places, &start) ||
            !scaled_i64(word[1], places, &end) || !str_to_i64(word[2], &size)) {
            ms_lost(m, CAUSE_MISSING_TIME, (uint64_t)(line.p - base), line);
            continue;
        }
        TRY(ms_add_data_queue(m, start, end, size, err));
    }
    return OK;
}
