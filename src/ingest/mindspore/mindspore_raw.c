/* mindspore_raw.c: the raw binaries of an Ascend, as they come from the device (little endian).
 *
 *   hwts.*                64 bytes: type, core, block, task, counter, stream: starts and ends
 *                         of tasks
 *   Framework.*task_desc_info.*  which operator a task is: text, or records of 256 bytes with
 *                                names
 *   Framework.hash_dic.*  that are texts or hashes of texts
 *   DATA_PREPROCESS.*AICPU.*     tasks of the AI CPU: records of 128 bytes, or text
 *   DATA_PREPROCESS.*AICPUMI.*   fetches from the device's queue, text
 *
 * Counts are of 10 ns. Records are cut out of a file without padding; what is left at its end
 * is counted as cut off. The slices of one file are read in the order of their names and what
 * is open at the end of one continues in the next. Nothing here is believed: an index is looked
 * up, a time is compared. */
#include <stdio.h>

#include "base/json.h"
#include "base/num.h"
#include "base/sort.h"
#include "ingest/mindspore/mindspore_int.h"

enum { HWTS_BYTES = 64, TASK_BYTES = 256, AICPU_BYTES = 128 };

/* ---- which operator a task is ------------------------------------------------------------ */

status read_raw_hashes(ms *m, str text, error *err) {
    for (str line; ms_line(&text, &line);) {
        size_t colon = str_find(line, STR(":"), 0);
        uint64_t hash = 0;
        bool ok = colon != SIZE_MAX && colon > 0 && colon <= 20;
        for (size_t i = 0; ok && i < colon; i++) {
            ok = line.p[i] >= '0' && line.p[i] <= '9';
            hash = hash * 10 + (uint64_t)(line.p[i] - '0');
        }
        if (!ok) continue;
        uint32_t *at = map_at(&m->task.hash_names, hash);
        if (!at) FAIL_MEMORY(err);
        *at = ms_string(m, str_trim(str_from(line, colon + 1)));
        if (*at == MAP_NONE) FAIL_MEMORY(err);
    }
    return OK;
}

/* Task numbers from 25000 on are unique on a device of the first generation, smaller ones on a
 * stream. */
static uint64_t task_key(const ms *m, uint64_t stream, uint64_t task) {
    return !m->task.binary && task >= 25000 ? task : stream << 32 | (task & UINT32_MAX);
}

status ms_add_task(ms *m, uint64_t stream, uint64_t task, uint32_t name, error *err) {
    uint32_t *at = map_at(&m->task.by_key, task_key(m, stream, task));
    if (!at || name == MS_NO_STRING) FAIL_MEMORY(err);
    if (*at == MAP_NONE) {
        if (!vec_push(&m->task.names)) FAIL_MEMORY(err);
        *at = (uint32_t)(m->task.names.n - 1);
    }
    VEC(&m->task.names, uint32_t)[*at] = name;
    return OK;
}

static uint32_t name_of_key(const ms *m, uint64_t key) {
    uint32_t row = map_get(&m->task.by_key, key);
    return row == MAP_NONE ? 0 : VEC(&m->task.names, uint32_t)[row];
}

size_t ms_task_row(const ms *m, uint64_t stream, uint64_t task) {
    uint32_t row = map_get(&m->task.by_key, task_key(m, stream, task));
    return row == MAP_NONE ? SIZE_MAX : row;
}

uint32_t ms_task_name(const ms *m, uint64_t stream, uint64_t task) {
    return name_of_key(m, task_key(m, stream, task));
}

/* 128 or 64 bytes: a text from byte 8 on, or a hash there. */
static uint32_t mixed_name(ms *m, const char *p, size_t n) {
    if (p[0] != 1) {
        uint32_t id = map_get(&m->task.hash_names, read_le(p + 8, 8));
        return id == MAP_NONE ? 0 : id;
    }
    str s = str_n(p + 8, n - 8);
    const char *end = memchr(s.p, 0, s.n);
    if (end) s.n = (size_t)(end - s.p);
    return ms_string(m, s);
}

static status read_task_records(ms *m, str text, error *err) {
    m->task.binary = true;
    ms_count_rest(m, text, TASK_BYTES);
    for (; text.n >= TASK_BYTES; text = str_from(text, TASK_BYTES)) {
        uint32_t name = mixed_name(m, text.p + 8, 128), type = mixed_name(m, text.p + 136, 64);
        if (!name) continue;
        part_count(m->part, 1, 0);
        TRY(ms_add_task(m, read_le(text.p + 228, 4), read_le(text.p + 232, 4), name, err));
        ms_known *k = ms_know(m, name);
        if (!k || type == MS_NO_STRING) FAIL_MEMORY(err);
        k->type = type;
    }
    return OK;
}

status read_raw_tasks(ms *m, str text, error *err) {
    if (text.n >= 2 && (text.p[0] == 'Z' && text.p[1] == 'Z'))
        return read_task_records(m, text, err);
    const char *base = text.p;
    for (str line; ms_line(&text, &line);) {
        str name, block, task, stream;
        int64_t t, s;
        str rest = line;
        if (!ms_word(&rest, &name)) continue;
        if (!ms_word(&rest, &block) || !ms_word(&rest, &task) || !ms_word(&rest, &stream) ||
            !str_to_i64(task, &t) || !str_to_i64(stream, &s) || t < 0 || s < 0) {
            ms_lost(m, CAUSE_NUMBER_RANGE, (uint64_t)(line.p - base), line);
            continue;
        }
        part_count(m->part, 1, 0);
        TRY(ms_add_task(m, (uint64_t)s, (uint64_t)t, ms_string(m, name), err));
    }
    return OK;
}

/* tag name: tags 1 and 2 are the points of the step trace. */
status read_raw_points(ms *m, str text, error *err) {
    for (str line; ms_line(&text, &line);) {
        str tag, name, rest = line;
        if (!ms_word(&rest, &tag) || !ms_word(&rest, &name)) continue;
        if (str_eq(tag, STR("1"))) TRY(ms_put_point(m, POINT_FORWARD_START, name, err));
        if (str_eq(tag, STR("2"))) TRY(ms_put_point(m, POINT_BACKWARD_END, name, err));
    }
    return OK;
}

/* ---- tasks of the AI Core ---------------------------------------------------------------- */

/* The key of a record: numbers of a stream wrap at 65536. */
static uint64_t hwts_key(ms *m, uint64_t stream, uint64_t task) {
    if (!m->task.binary) return task_key(m, stream, task);
    uint32_t *last = map_at(&m->task.last, stream);
    if (last) {
        if (*last != MAP_NONE && *last > 65000 && task < *last) m->task.wraps++;
        *last = (uint32_t)task;
    }
    return stream << 32 | ((task + m->task.wraps * 65536) & UINT32_MAX);
}

status read_hwts(ms *m, str text, error *err) {
    if (m->seen[MS_AICORE_TIMES]) return OK; /* what was made of it was there */
    ms_count_rest(m, text, HWTS_BYTES);
    for (; text.n >= HWTS_BYTES; text = str_from(text, HWTS_BYTES)) {
        unsigned type = (uint8_t)text.p[0] & 7;
        uint64_t task = read_le(text.p + 6, 2), counter = read_le(text.p + 8, 8),
                 stream = read_le(text.p + 16, 4);
        if (type > 1 || counter >= MS_MOST_COUNT) continue;
        uint32_t name = name_of_key(m, hwts_key(m, stream, task));
        if (!name) continue;
        part_count(m->part, 1, 0);
        /* A start is remembered by the operator; the next end of that operator closes it. */
        uint32_t *open = map_at(&m->task.open, name);
        if (!open) FAIL_MEMORY(err);
        if (*open == MAP_NONE) {
            uint64_t *at = vec_push(&m->task.open_counts);
            if (!at) FAIL_MEMORY(err);
            *at = 0;
            *open = (uint32_t)(m->task.open_counts.n - 1);
        }
        uint64_t *start = &VEC(&m->task.open_counts, uint64_t)[*open];
        if (type == 0) {
            *start = counter;
        } else if (*start && counter >= *start) {
            ms_exec e = {.start = (int64_t)*start * 10,
                         .dur = (int64_t)(counter - *start) * 10,
                         .stream = (int64_t)stream,
                         .name = name,
                         .lane = LANE_AICORE};
            *start = 0;
            TRY(ms_add_exec(m, &e, err));
        }
    }
    return OK;
}

/* ---- AI CPU ------------------------------------------------------------------------------ */

static status read_aicpu_records(ms *m, ms_aicpu *a, str text, error *err) {
    ms_count_rest(m, text, AICPU_BYTES);
    for (; text.n >= AICPU_BYTES; text = str_from(text, AICPU_BYTES)) {
        const char *p = text.p;
        uint64_t stream = read_le(p + 4, 2), task = read_le(p + 6, 2),
                 start = read_le(p + 16, 8), end = read_le(p + 56, 8);
        uint32_t name = ms_task_name(m, stream, task);
        char unknown[32];
        int n =
            snprintf(unknown, sizeof unknown, "task %u_%u", (unsigned)stream, (unsigned)task);
        part_count(m->part, 1, 0);
        a->dispatch = (int64_t)read_le(p + 108, 4) * 1000;
        a->total = (int64_t)read_le(p + 112, 4) * 1000;
        bool usable = start < MS_MOST_COUNT && end < MS_MOST_COUNT;
        a->start = usable ? (int64_t)start * 10 : ABSENT_I64;
        a->end = usable ? (int64_t)end * 10 : ABSENT_I64;
        str text_name = name ? ms_short(ms_text(m, name)) : str_n(unknown, (size_t)n);
        TRY(ms_add_aicpu(m, a, text_name, err));
    }
    return OK;
}

/* The next text of a list separated by NULs. */
static bool next_text(str *rest, str *out) {
    while (rest->n) {
        const char *end = memchr(rest->p, 0, rest->n);
        size_t n = end ? (size_t)(end - rest->p) : rest->n;
        *out = str_trim(str_n(rest->p, n));
        *rest = str_from(*rest, n + 1);
        if (out->n) return true;
    }
    return false;
}

/* The i-th field of a record, separated by commas; how many there are when i is SIZE_MAX. */
static size_t comma_field(str record, size_t wanted, str *out) {
    size_t i = 0;
    for (;; i++) {
        size_t comma = str_find(record, STR(","), 0);
        if (i == wanted) *out = str_trim(comma == SIZE_MAX ? record : str_n(record.p, comma));
        if (comma == SIZE_MAX) return i + 1;
        record = str_from(record, comma + 1);
    }
}

/* "Run end:2298200538 229820053800": microseconds and, in newer files, counts. */
static int64_t run_time(str field) {
    size_t colon = str_find(field, STR(":"), 0);
    str rest = colon == SIZE_MAX ? STR_NONE : str_from(field, colon + 1), us, count;
    int64_t v;
    if (!ms_word(&rest, &us)) return ABSENT_I64;
    if (ms_word(&rest, &count) && scaled_i64(count, 1, &v)) return v;
    return scaled_i64(us, 3, &v) ? v : ABSENT_I64;
}

/* "dispatchTime=100 us" in ns. */
static int64_t field_us(str field) {
    size_t equal = str_find(field, STR("="), 0);
    str rest = equal == SIZE_MAX ? STR_NONE : str_from(field, equal + 1), us;
    int64_t v;
    return ms_word(&rest, &us) && scaled_i64(us, 3, &v) ? v : ABSENT_I64;
}

static status read_aicpu_text(ms *m, ms_aicpu *a, str text, error *err) {
    str node, thread;
    while (next_text(&text, &node)) {
        size_t at = str_find(node, STR("Node:"), 0);
        if (at == SIZE_MAX) continue;
        str rest = text, field = STR_NONE, name = STR_NONE;
        part_count(m->part, 1, 0);
        size_t n = comma_field(node, 0, &field);
        if ((n != 3 && n != 6) || !next_text(&rest, &thread) ||
            !str_starts(thread, STR("Thread"))) {
            ms_lost(m, CAUSE_UNMATCHED_BEGIN, NOPOS, node);
            continue;
        }
        text = rest;
        name = str_from(field, str_find(field, STR("Node:"), 0) + 5);
        if (n == 6) {
            name = ms_short(name);
            size_t dash = str_find(name, STR("-"), 0);
            if (dash != SIZE_MAX) name.n = dash;
        }
        (void)comma_field(node, 1, &field);
        a->start = run_time(field);
        (void)comma_field(node, n - 1, &field);
        a->end = run_time(field);
        field = STR_NONE;
        (void)comma_field(thread, 5, &field);
        a->dispatch = max_i64(0, field_us(field));
        field = STR_NONE;
        (void)comma_field(thread, 6, &field);
        a->total = field_us(field);
        if (a->total == ABSENT_I64)
            ms_lost(m, CAUSE_MISSING_TIME, NOPOS, thread);
        else
            TRY(ms_add_aicpu(m, a, name, err));
    }
    return OK;
}

status read_raw_aicpu(ms *m, str text, error *err) {
    if (m->seen[MS_AICPU]) return OK;
    ms_aicpu a;
    ms_aicpu_init(&a);
    bool binary = text.n >= 2 && text.p[0] == 'Z' && text.p[1] == 'Z';
    status st =
        binary ? read_aicpu_records(m, &a, text, err) : read_aicpu_text(m, &a, text, err);
    return ms_aicpu_end(m, &a, st, err);
}

/* Node:NAME, Run start:US, Run end:US, queue size:N; the size may come second. */
status read_raw_queue(ms *m, str text, error *err) {
    if (m->seen[MS_DATA_QUEUE]) return OK;
    for (str record; next_text(&text, &record);) {
        int64_t start = ABSENT_I64, end = ABSENT_I64, size = ABSENT_I64;
        if (str_find(record, STR("Node:GetNext"), 0) == SIZE_MAX) continue;
        for (size_t i = 1; i < 8; i++) {
            str field = STR_NONE;
            if (comma_field(record, i, &field) <= i) break;
            size_t colon = str_find(field, STR(":"), 0);
            str value = colon == SIZE_MAX ? STR_NONE : str_trim(str_from(field, colon + 1));
            if (str_starts(field, STR("Run start"))) (void)!scaled_i64(value, 3, &start);
            if (str_starts(field, STR("Run end"))) (void)!scaled_i64(value, 3, &end);
            if (str_starts(field, STR("queue size"))) (void)!str_to_i64(value, &size);
        }
        part_count(m->part, 1, 0);
        if (start == ABSENT_I64 || end == ABSENT_I64 || size == ABSENT_I64)
            ms_lost(m, CAUSE_MISSING_TIME, NOPOS, record);
        else
            TRY(ms_add_data_queue(m, start, end, size, err));
    }
    return OK;
}

/* ---- what no table added up -------------------------------------------------------------- */

static status add_sum(ms *m, row_producer_op *g, error *err) {
    g->side = ms_string(m, STR("AI Core"));
    if (g->side == MS_NO_STRING || g->type == MS_NO_STRING || g->name == MS_NO_STRING ||
        g->subgraph == MS_NO_STRING)
        FAIL_MEMORY(err);
    return ms_put_op(m, g, err);
}

status ms_sum_tasks(ms *m, error *err) {
    vec sums = VEC_INIT(row_producer_op);
    map by_call = {0}; /* name, and what equal calls share */
    status st = OK;
    for (size_t i = 0; i < m->exec.rows.n && st == OK; i++) {
        const ms_exec *e = &VEC(&m->exec.rows, ms_exec)[i];
        if (e->lane != LANE_AICORE) continue;
        uint32_t info = e->more ? VEC(&m->exec.mores, ms_more)[e->more - 1].info : 0;
        uint32_t *at = map_at(&by_call, (uint64_t)info << 32 | e->name);
        row_producer_op *g = NULL;
        if (at && *at == MAP_NONE) {
            g = vec_push(&sums);
            *at = g ? (uint32_t)(sums.n - 1) : 0;
            if (g) {
                *g = row_producer_op_none();
                g->full_name = e->name;
                g->info = info;
                g->calls = g->total = g->max = 0;
                g->min = INT64_MAX;
            }
        } else if (at) {
            g = &VEC(&sums, row_producer_op)[*at];
        }
        if (!g) {
            st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
            break;
        }
        g->calls++;
        g->total = add_i64(g->total, e->dur);
        g->max = max_i64(g->max, e->dur);
        g->min = min_i64(g->min, e->dur);
    }
    for (size_t i = 0; i < sums.n && st == OK; i++) {
        row_producer_op *g = &VEC(&sums, row_producer_op)[i];
        str full = ms_text(m, g->full_name);
        const ms_known *k = ms_known_of(m, g->full_name);
        g->name = ms_string(m, ms_short(full));
        g->subgraph = ms_string(m, ms_subgraph(full));
        g->type = k && k->type ? k->type : ms_string(m, ms_type(full));
        if (k && k->info) g->info = k->info;
        ms_set_costs(m, g);
        st = add_sum(m, g, err);
    }
    vec_fini(&sums);
    map_fini(&by_call);
    return st;
}
