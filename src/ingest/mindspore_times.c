/* mindspore_times.c: lists of executions: operators, tasks and kernels with their times.
 *
 *   output_timeline_data    name,stream,start ms (or us),duration ms     AI Core, device clock
 *   *_op_execute_timestamp  name;GpuOps;start ns,duration us …           one line an operator
 *                           name;HostCpuOps;start ns,duration ms,thread …
 *   activity_execute_timestamp  kernel;stream;start ns;duration us       one line a launch
 *
 * Names may hold commas and semicolons (C++ templates), so lines are taken apart from behind. A line or
 * a field that is no execution is counted and passed over. */
#include "base/num.h"
#include "ingest/mindspore_int.h"

static bool usable(int64_t start, int64_t dur) {
    const int64_t most = (int64_t)1 << 61;
    return start > -most && start < most && dur >= 0 && dur < most;
}

status read_aicore_times(ms *m, str text, error *err) {
    const char *base = text.p;
    str line;
    if (!ms_line(&text, &line)) return OK;
    int places = str_find(line, STR("start_time(us)"), 0) != SIZE_MAX ? 3 : 6;
    while (ms_line(&text, &line)) {
        str cell[3], rest = str_trim(line);
        if (!rest.n) continue;
        part_count(m->part, 1, 0);
        for (int i = 2; i >= 0; i--) { /* duration, start, stream from behind */
            size_t comma = str_rfind_byte(rest, ',');
            cell[i] = comma == SIZE_MAX ? STR("") : str_trim(str_from(rest, comma + 1));
            rest.n = comma == SIZE_MAX ? 0 : comma;
        }
        ms_exec e = {.lane = LANE_AICORE};
        if (!rest.n || !scaled_i64(cell[0], 0, &e.stream) ||
            !scaled_i64(cell[1], places, &e.start) || !scaled_i64(cell[2], 6, &e.dur) ||
            !usable(e.start, e.dur)) {
            ms_lost(m, rest.n ? CAUSE_MISSING_TIME : CAUSE_MISSING_NAME,
                    (uint64_t)(line.p - base), line);
            continue;
        }
        e.name = ms_string(m, rest);
        TRY(ms_add_exec(m, &e, err));
    }
    return OK;
}

/* start,duration[,thread] */
static bool parse_moment(str word, int places, ms_exec *e) {
    size_t a = str_find(word, STR(","), 0);
    if (a == SIZE_MAX) return false;
    size_t b = str_find(word, STR(","), a + 1);
    str dur = b == SIZE_MAX ? str_from(word, a + 1) : str_n(word.p + a + 1, b - a - 1);
    e->stream = 0;
    if (b != SIZE_MAX && !scaled_i64(str_from(word, b + 1), 0, &e->stream)) return false;
    return scaled_i64(str_n(word.p, a), 0, &e->start) && scaled_i64(dur, places, &e->dur) &&
           usable(e->start, e->dur);
}

status read_op_times(ms *m, str text, error *err) {
    const char *base = text.p;
    for (str line; ms_line(&text, &line);) {
        bool gpu = true;
        size_t at = str_find(line, STR(";GpuOps;"), 0);
        size_t skip = sizeof ";GpuOps;" - 1;
        if (at == SIZE_MAX) {
            gpu = false;
            at = str_find(line, STR(";HostCpuOps;"), 0);
            skip = sizeof ";HostCpuOps;" - 1;
        }
        if (at == SIZE_MAX || at == 0) {
            if (str_trim(line).n)
                ms_lost(m, CAUSE_MISSING_NAME, (uint64_t)(line.p - base), line);
            continue;
        }
        ms_exec e = {.lane = gpu ? LANE_GPU_OP : LANE_HOST_OP};
        e.name = ms_string(m, str_n(line.p, at));
        str rest = str_from(line, at + skip), word;
        while (ms_word(&rest, &word)) {
            part_count(m->part, 1, 0);
            if (parse_moment(word, gpu ? 3 : 6, &e))
                TRY(ms_add_exec(m, &e, err));
            else
                ms_lost(m, CAUSE_MISSING_TIME, (uint64_t)(word.p - base), word);
        }
    }
    return OK;
}

status read_kernel_times(ms *m, str text, error *err) {
    const char *base = text.p;
    for (str line; ms_line(&text, &line);) {
        str cell[3], rest = str_trim(line);
        if (!rest.n) continue;
        part_count(m->part, 1, 0);
        for (int i = 2; i >= 0; i--) { /* duration, start, stream from behind */
            size_t semicolon = str_rfind_byte(rest, ';');
            cell[i] = semicolon == SIZE_MAX ? STR("") : str_trim(str_from(rest, semicolon + 1));
            rest.n = semicolon == SIZE_MAX ? 0 : semicolon;
        }
        ms_exec e = {.lane = LANE_KERNEL};
        if (!rest.n || !scaled_i64(cell[0], 0, &e.stream) ||
            !scaled_i64(cell[1], 0, &e.start) || !scaled_i64(cell[2], 3, &e.dur) ||
            !usable(e.start, e.dur)) {
            ms_lost(m, rest.n ? CAUSE_MISSING_TIME : CAUSE_MISSING_NAME,
                    (uint64_t)(line.p - base), line);
            continue;
        }
        e.name = ms_string(m, rest);
        const ms_known *k = e.name == MS_NO_STRING ? NULL : ms_known_of(m, e.name);
        if (k && k->info) {
            e.op = k->name;
            e.args = k->info;
            ms_kernel_dims(ms_text(m, k->info), e.block, e.grid);
        }
        TRY(ms_add_exec(m, &e, err));
    }
    return OK;
}
