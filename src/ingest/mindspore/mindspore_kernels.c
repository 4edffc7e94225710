/* mindspore_kernels.c: kernel_details.csv, what CANN says of each task of a device: type,
 * shapes, blocks, waiting, counters of the AI Core.
 *
 *     kernel_details.csv ── rows, by name and start ──> trace_view.json
 *                                        │              same name, same start: the row's cells
 *                                        │              become arguments of the task
 *                                        └── no timeline there: the rows are the tasks
 *
 * Both files list the same tasks: a task is taken from the timeline, a row only explains it.
 * What equal calls share (shapes, types, formats, blocks) is separated from the rest of a row:
 * calls are grouped by it. Columns differ between versions and settings, so every column that
 * is not known here goes along under its own name. */
#include "base/intern.h"
#include "base/num.h"
#include "base/sort.h"
#include "ingest/mindspore/mindspore_int.h"

enum { MOST_COLUMNS = 128 };

typedef enum { CELL_PLACE, CELL_CALL, CELL_INFO } cell_use;

typedef struct {
    csv c;
    size_t name, type, core, start, dur, stream, device, step, wait, n;
    str headers[MOST_COLUMNS];
    uint8_t uses[MOST_COLUMNS]; /* cell_use */
    buf info, args;
} details;

static bool is_one_of(str name, const char *const *list, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (str_eq(name, str_of(list[i]))) return true;
    return false;
}

static cell_use use_of(str header) {
    /* Shown otherwise, or known from the timeline. */
    static const char *const places[] = {
        "Name",         "Op Name",           "Start Time(us)", "Task Start Time(us)",
        "Duration(us)", "Task Duration(us)", "Stream ID",      "Stream Id",
        "Task ID",      "Model ID",          "Device_id"};
    static const char *const shared[] = {
        "OP State",       "Accelerator Core", "Task Type",     "Block Num",
        "Block Dim",      "Mix Block Num",    "Mix Block Dim", "HF32 Eligible",
        "Input Shapes",   "Input Data Types", "Input Formats", "Output Shapes",
        "Output Formats", "Output Data Types"};
    if (is_one_of(header, places, sizeof places / sizeof *places)) return CELL_PLACE;
    return is_one_of(header, shared, sizeof shared / sizeof *shared) ? CELL_INFO : CELL_CALL;
}

static status open_details(ms *m, details *d, str text, error *err) {
    *d = (details){.c = csv_open(text)};
    if (!csv_next(&d->c)) return OK;
    d->name = csv_find(&d->c, STR("Name|Op Name"));
    d->type = csv_find(&d->c, STR("Type|OP Type"));
    d->core = csv_find(&d->c, STR("Accelerator Core|Task Type"));
    d->start = csv_find(&d->c, STR("Start Time(us)|Task Start Time(us)"));
    d->dur = csv_find(&d->c, STR("Duration(us)|Task Duration(us)"));
    d->stream = csv_find(&d->c, STR("Stream ID|Stream Id"));
    d->device = csv_find(&d->c, STR("Device_id"));
    d->step = csv_find(&d->c, STR("Step Id|Step ID"));
    d->wait = csv_find(&d->c, STR("Wait Time(us)|Task Wait Time(us)"));
    d->n = csv_n(&d->c) < MOST_COLUMNS ? csv_n(&d->c) : MOST_COLUMNS;
    for (size_t i = 0; i < d->n; i++) {
        d->headers[i] = arena_str(m->arena, csv_cell(&d->c, i));
        if (!d->headers[i].p) FAIL_MEMORY(err);
        d->uses[i] = (uint8_t)use_of(d->headers[i]);
    }
    return OK;
}

/* The cells of a row as arguments, and those that equal calls share. */
static void write_cells(details *d) {
    buf_clear(&d->info);
    buf_clear(&d->args);
    for (size_t i = 0; i < d->n; i++) {
        str cell = csv_cell(&d->c, i);
        if (cell.n >= 2 && cell.p[0] == '"' && cell.p[cell.n - 1] == '"')
            cell = str_n(cell.p + 1, cell.n - 2); /* quoted twice, as CANN writes shapes */
        if (d->uses[i] == CELL_PLACE || !cell.n || str_eq(cell, STR("N/A"))) continue;
        ms_add_member(&d->args, d->headers[i], cell);
        if (d->uses[i] == CELL_INFO) ms_add_member(&d->info, d->headers[i], cell);
    }
    if (d->info.n) buf_add_byte(&d->info, '}');
    if (d->args.n) buf_add_byte(&d->args, '}');
}

static uint8_t lane_of(str core) {
    if (str_eq(core, STR("AI_CPU"))) return LANE_AICPU;
    return str_eq(core, STR("COMMUNICATION")) || str_starts(core, STR("HCCL")) ? LANE_COMM
                                                                               : LANE_AICORE;
}

static uint64_t key_of(str name, int64_t start) {
    return hash_pair(intern_hash(name), (uint64_t)start);
}

static status keep_row(ms *m, details *d, ms_detail *row, error *err) {
    write_cells(d);
    row->name = ms_string(m, csv_cell(&d->c, d->name));
    row->info = ms_string(m, buf_str(&d->info));
    row->args = arena_str(m->arena, buf_str(&d->args));
    uint32_t type = ms_string(m, csv_cell(&d->c, d->type));
    ms_known *k = row->name == MS_NO_STRING ? NULL : ms_know(m, row->name);
    uint64_t key = k ? key_of(ms_text(m, row->name), row->start) : 0;
    uint32_t *at = k ? map_at(&m->exec.detail_at, key) : NULL;
    ms_detail *to = at ? vec_push(&m->exec.details) : NULL;
    if (!to || type == MS_NO_STRING || row->info == MS_NO_STRING || !row->args.p ||
        !buf_ok(&d->info) || !buf_ok(&d->args) || m->exec.details.n >= MAP_NONE)
        FAIL_MEMORY(err);
    k->type = type;
    row->next = *at == MAP_NONE ? 0 : *at;
    *at = (uint32_t)m->exec.details.n;
    *to = *row;
    return OK;
}

status read_kernel_details(ms *m, str text, error *err) {
    details d;
    status st = open_details(m, &d, text, err);
    m->ascend = true;
    while (st == OK && d.n && csv_next(&d.c)) {
        ms_detail row = {.lane = lane_of(csv_cell(&d.c, d.core))};
        str name = csv_cell(&d.c, d.name);
        part_count(m->part, 1, 0);
        if (!name.n || !scaled_i64(csv_cell(&d.c, d.start), 3, &row.start) ||
            !scaled_i64(csv_cell(&d.c, d.dur), 3, &row.dur) || row.dur < 0) {
            ms_lost(m, CAUSE_MISSING_TIME, d.c.row, name);
            continue;
        }
        if (!scaled_i64(csv_cell(&d.c, d.stream), 0, &row.stream)) row.stream = 0;
        if (!str_to_i64(csv_cell(&d.c, d.step), &row.step)) row.step = ABSENT_I64;
        if (!scaled_i64(csv_cell(&d.c, d.wait), 3, &row.wait)) row.wait = ABSENT_I64;
        if (m->device == ABSENT_I64) (void)!str_to_i64(csv_cell(&d.c, d.device), &m->device);
        st = keep_row(m, &d, &row, err);
    }
    if (d.c.failed) st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    csv_fini(&d.c);
    buf_fini(&d.info);
    buf_fini(&d.args);
    return st;
}

/* The row about a task of the timeline; rows are taken once. NULL: there is none. */
static ms_detail *take_detail(ms *m, const ms_exec *task) {
    ms_detail *all = VEC(&m->exec.details, ms_detail);
    uint32_t i = map_get(&m->exec.detail_at, key_of(ms_text(m, task->name), task->start));
    for (i = i == MAP_NONE ? 0 : i; i; i = all[i - 1].next)
        if (!all[i - 1].taken && all[i - 1].name == task->name &&
            all[i - 1].start == task->start)
            return &all[i - 1];
    return NULL;
}

const ms_detail *ms_detail_of(const ms *m, str name, int64_t start) {
    const ms_detail *all = VEC(&m->exec.details, ms_detail);
    uint32_t i = map_get(&m->exec.detail_at, key_of(name, start));
    for (i = i == MAP_NONE ? 0 : i; i; i = all[i - 1].next)
        if (all[i - 1].start == start && str_eq(ms_text(m, all[i - 1].name), name))
            return &all[i - 1];
    return NULL;
}

void ms_join_detail(ms *m, const ms_exec *task, buf *args, ms_more *more) {
    ms_detail *d = take_detail(m, task);
    if (!d) return;
    d->taken = true;
    more->info = d->info;
    if (!d->args.n) return;
    if (args->n > 2 && args->p[args->n - 1] == '}') {
        args->n--;
        buf_add_cstr(args, ", ");
        buf_add_str(args, str_from(d->args, 1));
    } else {
        buf_clear(args);
        buf_add_str(args, d->args);
    }
}

/* ---- a file of tasks alone: its steps, and whether it is whole --------------------------- */

typedef struct {
    int64_t number, start, end;
} task_step;

/* From the first to the last task of each step. */
static status find_task_steps(ms *m, vec *steps, map *at, error *err) {
    for (size_t i = 0; i < m->exec.details.n; i++) {
        const ms_detail *d = &VEC(&m->exec.details, ms_detail)[i];
        if (d->step == ABSENT_I64) continue;
        uint32_t *row = map_at(at, (uint64_t)d->step);
        if (!row) FAIL_MEMORY(err);
        if (*row == MAP_NONE) {
            task_step *to = vec_push(steps);
            if (!to) FAIL_MEMORY(err);
            *to = (task_step){d->step, d->start, d->start};
            *row = (uint32_t)steps->n - 1;
        }
        task_step *s = &VEC(steps, task_step)[*row];
        s->start = min_i64(s->start, d->start);
        s->end = max_i64(s->end, add_i64(d->start, d->dur));
    }
    return OK;
}

static status add_task_steps(ms *m, error *err) {
    vec steps = VEC_INIT(task_step);
    map at = {0};
    status st = find_task_steps(m, &steps, &at, err);
    for (size_t i = 0; i < steps.n && st == OK && !m->n_lane[LANE_STEP]; i++) {
        const task_step *s = &VEC(&steps, task_step)[i];
        st = ms_add_step_range(m, s->number, s->start, sub_i64(s->end, s->start), err);
    }
    map_fini(&at);
    vec_fini(&steps);
    return st;
}

/* What of the time before a task its wait does not tell; `end`: of all tasks before. */
static int64_t unexplained_ns(const ms_detail *d, int64_t end) {
    return d->wait == ABSENT_I64 ? 0 : sub_i64(sub_i64(d->start, end), d->wait);
}

#define UNEXPLAINED_NS 1000 /* times have three digits; a larger difference is not rounding */

/* A task waits for the one before it for as long as its row says. Where nothing explains most
 * of the time, rows are missing. */
static status count_missing_rows(ms *m, error *err) {
    const ms_detail *all = VEC(&m->exec.details, ms_detail);
    size_t n = m->exec.details.n;
    sort_pair *order = ARENA_ARRAY(m->arena, sort_pair, n + 1),
              *scratch = ARENA_ARRAY(m->arena, sort_pair, n + 1);
    int64_t unexplained = 0, end = INT64_MIN;
    if (!order || !scratch) FAIL_MEMORY(err);
    for (size_t i = 0; i < n; i++)
        order[i] = (sort_pair){(uint64_t)all[i].start ^ (uint64_t)1 << 63, (uint32_t)i};
    sort_radix(order, scratch, n);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < n; i++) {
            const ms_detail *d = &all[order[i].row];
            int64_t ns = i ? unexplained_ns(d, end) : 0;
            end = i ? max_i64(end, add_i64(d->start, d->dur)) : add_i64(d->start, d->dur);
            if (ns <= UNEXPLAINED_NS) continue;
            if (!pass) unexplained = add_i64(unexplained, ns);
            if (pass) ms_lost(m, CAUSE_ROWS_MISSING, order[i].row, ms_text(m, d->name));
        }
        if (!n || unexplained <= sub_i64(end, all[order[0].row].start) / 2) return OK;
    }
    return OK;
}

status ms_finish_details(ms *m, error *err) {
    /* The timeline has the tasks. */
    if (m->n_lane[LANE_AICORE]) return OK;
    if (!m->seen[MS_TRACE_VIEW]) {
        TRY(add_task_steps(m, err));
        TRY(count_missing_rows(m, err));
    }
    for (size_t i = 0; i < m->exec.details.n; i++) {
        const ms_detail *d = &VEC(&m->exec.details, ms_detail)[i];
        if (d->lane == LANE_COMM && m->n_lane[LANE_COMM] && m->seen[MS_TRACE_VIEW]) continue;
        ms_more more = {.args = ms_string(m, d->args), .info = d->info};
        ms_exec e = {.start = d->start,
                     .dur = d->dur,
                     .stream = d->stream,
                     .name = d->name,
                     .lane = d->lane,
                     .more = more.args == MS_NO_STRING ? MS_NO_STRING : ms_add_more(m, &more)};
        if (e.more == MS_NO_STRING) FAIL_MEMORY(err);
        TRY(ms_add_exec(m, &e, err));
    }
    return OK;
}
