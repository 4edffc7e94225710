/* merge_ids.c: what must not be mistaken for another input's when traces are merged.
 *
 * Producers number things for themselves: two machines have a process 100 each, two ranks a
 * device 0, and correlation ids begin at 1 in every file. In one trace equal numbers mean the
 * same thing, so:
 *
 *   processes   a number another worker has already used is moved by a million for each
 *               input before it, or on to the next free one; a text gets the worker's name
 *               after it
 *   devices     a number another worker has used becomes the next free one, everywhere
 *   ids         of calls, operators, gradients and arrows move after the largest of the
 *               inputs before
 *
 * Names say who it was: a process without one gets the worker's, another has it in brackets.
 * Host memory has no numbers: it is one. */
#include "base/num.h"
#include "store/merge_int.h"

enum { PROCESS_STEP = 1000000, MAX_NAMED = DEVICE_UNKNOWN - DEVICE_NAMED };

static bool same_worker(const merge_ctx *m, uint32_t a, uint32_t b) {
    return str_eq(m->in[a].name, m->in[b].name);
}

/* ---- devices ----------------------------------------------------------------------------- */

int32_t merge_device(const merge_source *in, int32_t id) {
    uint32_t at = id < 0 ? MAP_NONE : map_get(&in->devices, (uint32_t)id);
    return at == MAP_NONE ? id : VEC(&in->device_ids, int32_t)[at - 1];
}

/* `used`: number → the input that had it first. */
static status plan_device(merge_ctx *m, uint32_t k, int32_t id, map *used) {
    merge_source *in = &m->in[k];
    if (id < 0 || map_get(&in->devices, (uint32_t)id) != MAP_NONE) return OK;
    int32_t to = id;
    uint32_t first = map_get(used, (uint32_t)to);
    if (first != MAP_NONE && !same_worker(m, first, k))
        for (to = 0; map_get(used, (uint32_t)to) != MAP_NONE;) to++;
    uint32_t *own = map_at(&in->devices, (uint32_t)id), *all;
    int32_t *row = own ? vec_push(&in->device_ids) : NULL;
    if (!row) FAIL_MEMORY(m->err);
    *row = to;
    *own = (uint32_t)in->device_ids.n;
    all = map_at(used, (uint32_t)to);
    if (!all) FAIL_MEMORY(m->err);
    if (*all == MAP_NONE) *all = k;
    return OK;
}

/* The numbers of one input in order, so that its own stay apart: those it may keep come
 * first. */
static status plan_devices(merge_ctx *m, uint32_t k, map *used) {
    const trace *t = m->in[k].t;
    for (uint32_t i = 1; i < t->device.n; i++)
        if (t->device.type[i] != DEVICE_CPU) TRY(plan_device(m, k, t->device.id[i], used));
    for (uint32_t i = 1; i < t->track.n; i++) TRY(plan_device(m, k, t->track.device[i], used));
    for (uint32_t i = 1; i < t->kernel.n; i++)
        TRY(plan_device(m, k, t->kernel.device[i], used));
    for (uint32_t i = 1; i < t->memory.n; i++)
        if (t->memory.device_type[i] != DEVICE_CPU)
            TRY(plan_device(m, k, t->memory.device[i], used));
    return OK;
}

/* ---- ids --------------------------------------------------------------------------------- */

static int64_t largest(const int64_t *ids, uint32_t n) {
    int64_t most = -1;
    for (uint32_t i = 1; i < n; i++) most = ids[i] > most ? ids[i] : most;
    return most;
}

/* Ids that are hashes of texts can be anywhere: those stay, and do not collide. */
static int64_t next_free(int64_t so_far, int64_t most) {
    return most < 0 || most > INT64_MAX / 4 || so_far > INT64_MAX / 4 ? so_far
                                                                      : so_far + most + 1;
}

static void plan_distances(merge_ctx *m) {
    int64_t correlation = 0, external = 0, sequence = 0, flow = 0;
    for (uint32_t k = 0; k < m->n; k++) {
        merge_source *in = &m->in[k];
        const trace *t = in->t;
        in->correlation = correlation;
        in->external = external;
        in->sequence = sequence;
        in->flow = flow;
        int64_t calls = largest(t->call.correlation, t->call.n);
        int64_t work = largest(t->kernel.correlation, t->kernel.n);
        correlation = next_free(correlation, max_i64(calls, work));
        external = next_free(external, largest(t->op.external, t->op.n));
        sequence = next_free(sequence, largest(t->op.sequence, t->op.n));
        flow = next_free(flow, largest(t->flow.id, t->flow.n));
    }
}

status merge_plan_ids(merge_ctx *m) {
    map used = {0};
    status st = OK;
    for (uint32_t k = 0; k < m->n && st == OK; k++) st = plan_devices(m, k, &used);
    map_fini(&used);
    plan_distances(m);
    return st;
}

/* ---- processes --------------------------------------------------------------------------- */

static uint32_t put_text(merge_ctx *m, const char *format, str a, str b) {
    str text = arena_printf(&m->scratch, format, STR_ARG(a), STR_ARG(b));
    return text.p ? merge_text(m, text) : UINT32_MAX;
}

/* A number that no other process has; `pids`: number → input. */
static int64_t free_pid(const merge_ctx *m, const map *pids, uint32_t k, int64_t pid) {
    uint32_t first = map_get(pids, (uint64_t)pid);
    if (first == MAP_NONE || same_worker(m, first, k)) return pid;
    int64_t to = add_i64(pid, (int64_t)k * PROCESS_STEP);
    while (map_get(pids, (uint64_t)to) != MAP_NONE) to = to == INT64_MAX ? 0 : to + 1;
    return to;
}

static status name_process(merge_ctx *m, uint32_t k, uint32_t row) {
    uint32_t *names = MERGED(m, process, name);
    str name = intern_get(m->strings, names[row]);
    if (!m->in[k].name.n || str_eq(name, m->in[k].name)) return OK;
    names[row] =
        name.n ? put_text(m, "%.*s (%.*s)", name, m->in[k].name) : merge_text(m, m->in[k].name);
    if (names[row] == UINT32_MAX) FAIL_MEMORY(m->err);
    return OK;
}

static status place_process(merge_ctx *m, uint32_t k, uint32_t row, map *pids, map *texts) {
    int64_t *pid = (int64_t *)MERGED(m, process, pid) + row;
    uint32_t *text = (uint32_t *)MERGED(m, process, pid_text) + row;
    uint32_t *at;
    if (*pid != ABSENT_I64) {
        *pid = free_pid(m, pids, k, *pid);
        at = map_at(pids, (uint64_t)*pid);
    } else {
        uint32_t first = map_get(texts, *text);
        str old = intern_get(m->strings, *text);
        if (first != MAP_NONE && !same_worker(m, first, k))
            *text = put_text(m, "%.*s (%.*s)", old, m->in[k].name);
        if (*text == UINT32_MAX) FAIL_MEMORY(m->err);
        at = map_at(texts, *text);
    }
    if (!at) FAIL_MEMORY(m->err);
    if (*at == MAP_NONE) *at = k;
    return *pid != ABSENT_I64 ? name_process(m, k, row) : OK;
}

status merge_processes(merge_ctx *m) {
    map pids = {0}, texts = {0};
    status st = OK;
    for (uint32_t k = 0; k < m->n; k++)
        for (uint32_t i = 1; i < m->in[k].t->process.n && st == OK; i++)
            st = place_process(m, k, m->in[k].rows[TABLE_process] + i, &pids, &texts);
    map_fini(&pids);
    map_fini(&texts);
    return st;
}

/* ---- metadata ---------------------------------------------------------------------------- */

static bool all_say(const merge_ctx *m, str key, str value) {
    for (uint32_t k = 0; k < m->n; k++)
        if (!str_eq(trace_meta(m->in[k].t, key), value)) return false;
    return true;
}

static uint32_t merge_names(merge_ctx *m) {
    buf b = {0};
    buf_add_byte(&b, '[');
    for (uint32_t k = 0; k < m->n; k++) {
        if (k) buf_add_byte(&b, ',');
        buf_add_json(&b, m->in[k].name);
    }
    buf_add_byte(&b, ']');
    uint32_t id = buf_ok(&b) ? merge_text(m, buf_str(&b)) : UINT32_MAX;
    buf_fini(&b);
    return id;
}

/* Each word once; words beyond what a type can number are "a device". Called before the columns
 * are written, because it sets the types. */
static void merge_words(merge_ctx *m) {
    for (uint32_t k = 0; k < m->n; k++) {
        const trace *t = m->in[k].t;
        for (uint32_t row = 1; row < t->device_word.n; row++) {
            uint32_t word = m->in[k].strings[t->device_word.name[row]], i = 0;
            if (t->device_word.type[row] < DEVICE_NAMED) continue;
            while (i < m->n_words && m->words[i] != word) i++;
            m->in[k].types[t->device_word.type[row]] =
                i < MAX_NAMED ? (uint8_t)(DEVICE_NAMED + i) : DEVICE_UNKNOWN;
            if (i == m->n_words && i < MAX_NAMED) m->words[m->n_words++] = word;
        }
    }
}

status merge_device_words(merge_ctx *m) {
    TRY(merge_table(m, TABLE_device_word, (size_t)m->n_words + 1));
    uint8_t *types = MERGED(m, device_word, type);
    uint32_t *names = MERGED(m, device_word, name);
    for (uint32_t i = 0; i < m->n_words; i++) {
        types[i + 1] = (uint8_t)(DEVICE_NAMED + i);
        names[i + 1] = m->words[i];
    }
    return OK;
}

void merge_types(merge_ctx *m) {
    for (uint32_t k = 0; k < m->n; k++)
        for (int i = 0; i < 256; i++) m->in[k].types[i] = (uint8_t)i;
    merge_words(m);
}

status merge_metas(merge_ctx *m) {
    const trace *first = m->in[0].t;
    uint32_t n = 1, names = merge_names(m);
    uint32_t who = merge_text(m, STR("merged workers"));
    if (names == UINT32_MAX || who == UINT32_MAX) FAIL_MEMORY(m->err);
    TRY(merge_table(m, TABLE_meta, (size_t)first->meta.n + 1));
    uint32_t *keys = MERGED(m, meta, key), *values = MERGED(m, meta, value);
    for (uint32_t i = 1; i < first->meta.n; i++) {
        str key = trace_str(first, first->meta.key[i]);
        str value = trace_str(first, first->meta.value[i]);
        if (str_eq(key, STR("deviceProperties")) ||
            !all_say(m, key, value)) /* devices have new numbers: the table knows them */
            continue;
        keys[n] = m->in[0].strings[first->meta.key[i]];
        values[n++] = m->in[0].strings[first->meta.value[i]];
    }
    keys[n] = who;
    values[n++] = names;
    *trace_rows_slot(m->t, TABLE_meta) = n;
    return OK;
}
