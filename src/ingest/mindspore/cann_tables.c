/* cann_tables.c: the files next to a timeline of an Ascend, read by the readers of MindSpore's
 * folders.
 *
 *   ASCEND_PROFILER_OUTPUT/kernel_details.csv                       opened first: tasks ask for
 *                                                                   their row
 *                         /memory_record.csv operator_memory.csv    put afterwards
 *                         /communication.json communication_matrix.json step_trace_time.csv
 *   profiler_info.json profiler_info_RANK.json profiler_metadata.json   next to that folder
 *
 * A reader of a timeline may forget all its rows and start again, so rows are added when it is
 * done. The rows of kernel_details.csv are only looked up: they are in a separate builder, and
 * what could not be read of them is counted with the rest. Not read, since they follow from the
 * others: op_statistic.csv, api_statistic.csv, operator_details.csv. */
#include "ingest/mindspore/cann_tables.h"

#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "ingest/mindspore/mindspore_int.h"

enum { MOST_FOLDERS = 2 };

struct cann_tables {
    ingest_options o;
    arena details_arena, rest_arena;
    builder *own; /* of the details */
    ms details, rest;
    str folders[MOST_FOLDERS];
    size_t n_folders;
    str groups; /* JSON: id -> its ranks */
    int32_t device;
};

static bool is_output(str folder) {
    return str_eq(ms_short(folder), STR("ASCEND_PROFILER_OUTPUT"));
}

/* The folder of the timeline, and the one around it. */
static status find_folders(cann_tables *t, str path, error *err) {
    size_t slash = str_rfind_byte(path, '/');
    str folder = slash == SIZE_MAX ? STR(".") : str_n(path.p, slash ? slash : 1);
    t->folders[t->n_folders] = arena_str(&t->details_arena, folder);
    if (!t->folders[t->n_folders++].p) FAIL_MEMORY(err);
    if (!is_output(folder)) return OK;
    t->folders[t->n_folders] = arena_printf(&t->details_arena, "%.*s/..", STR_ARG(folder));
    if (!t->folders[t->n_folders++].p) FAIL_MEMORY(err);
    return OK;
}

static void find_device(cann_tables *t) {
    t->device = t->details.device == ABSENT_I64 ? -1 : sat_i32(t->details.device);
    if (t->device < 0) t->device = -1;
}

/* parallel_group_info of profiler_metadata.json. */
static status find_groups(cann_tables *t, error *err) {
    static const str file = STR("/profiler_metadata.json");
    for (size_t i = 0; i < t->n_folders && !t->groups.n; i++) {
        source *s = NULL;
        str path = arena_printf(&t->details_arena, "%.*s%.*s", STR_ARG(t->folders[i]),
                                STR_ARG(file)),
            head;
        if (!path.p) FAIL_MEMORY(err);
        if (access(path.p, F_OK) != 0) continue;
        TRY(source_open(path.p, &s, err));
        status st = source_peek(s, (size_t)4 << 20, &head, err);
        if (st == OK)
            t->groups =
                arena_str(&t->details_arena, json_member(head, STR("parallel_group_info")));
        source_close(s);
        TRY(st);
        if (!t->groups.p && t->groups.n) FAIL_MEMORY(err);
    }
    return OK;
}

static status find_facts(cann_tables *t, error *err) {
    if (!t->own || !t->details.part) FAIL_MEMORY(err);
    if (!t->o.path || !str_of(t->o.path).n) return OK;
    TRY(find_folders(t, str_of(t->o.path), err));
    return find_groups(t, err);
}

static status read_tables(cann_tables *t, error *err) {
    bool wanted[MS_MOST_KINDS] = {[MS_KERNEL_DETAILS] = true};
    TRY(find_facts(t, err));
    if (t->n_folders) TRY(ms_read_kinds(&t->details, t->folders, t->n_folders, wanted, err));
    find_device(t);
    return OK;
}

static status open_with(const ingest_options *o, status (*read)(cann_tables *, error *),
                        cann_tables **out, error *err) {
    cann_tables *t = mem_zalloc(sizeof *t);
    if (!t) FAIL_MEMORY(err);
    arena_init(&t->details_arena, 0);
    arena_init(&t->rest_arena, 0);
    t->o = *o;
    t->device = -1;
    t->own = builder_new();
    if (t->own) t->details = ms_begin(t->own, &t->o, &t->details_arena);
    status st = read(t, err);
    if (st == OK)
        *out = t;
    else
        cann_tables_close(t);
    return st;
}

status cann_tables_open(const ingest_options *o, cann_tables **out, error *err) {
    return open_with(o, read_tables, out, err);
}

status cann_facts_open(const ingest_options *o, cann_tables **out, error *err) {
    return open_with(o, find_facts, out, err);
}

void cann_tables_close(cann_tables *t) {
    if (!t) return;
    if (t->own) ms_end(&t->details);
    builder_free(t->own);
    arena_fini(&t->details_arena);
    arena_fini(&t->rest_arena);
    mem_free(t);
}

status cann_tables_put(cann_tables *t, builder *b, error *err) {
    static const bool wanted[MS_MOST_KINDS] = {
        [MS_INFO] = true,          [MS_INFO_ALONE] = true,          [MS_METADATA] = true,
        [MS_MEMORY_RECORD] = true, [MS_OPERATOR_MEMORY] = true,     [MS_STEP_TIME] = true,
        [MS_COMMUNICATION] = true, [MS_COMMUNICATION_MATRIX] = true};
    ms *m = &t->rest;
    *m = ms_begin(b, &t->o, &t->rest_arena);
    if (!m->part) FAIL_MEMORY(err);
    status st = ms_read_kinds(m, t->folders, t->n_folders, wanted, err);
    if (st == OK) st = ms_put_facts(m, err);
    if (st == OK) st = ms_emit_memory(m, err);
    part_count(m->part, t->details.exec.details.n, 0);
    int64_t lost = part_loss_count(t->details.part, CAUSE_MISSING_TIME);
    if (lost > 0) part_lost_many(m->part, CAUSE_MISSING_TIME, (uint64_t)lost);
    if (lost > 0) part_count(m->part, (uint64_t)lost, (uint64_t)lost);
    part_finish(m->part);
    ms_end(m);
    return st;
}

status cann_facts_put(cann_tables *t, builder *b, bool *said, error *err) {
    static const bool wanted[MS_MOST_KINDS] = {
        [MS_INFO] = true, [MS_INFO_ALONE] = true, [MS_METADATA] = true};
    ms *m = &t->rest;
    *m = ms_begin(b, &t->o, &t->rest_arena);
    if (!m->part) FAIL_MEMORY(err);
    status st = ms_read_kinds(m, t->folders, t->n_folders, wanted, err);
    if (st == OK) st = ms_put_facts(m, err);
    *said = m->seen[MS_INFO] || m->seen[MS_INFO_ALONE];
    part_finish(m->part);
    ms_end(m);
    return st;
}

str cann_task(const cann_tables *t, str name, int64_t start_ns) {
    const ms_detail *d = ms_detail_of(&t->details, name, start_ns);
    return d ? d->args : STR_NONE;
}

int32_t cann_device(const cann_tables *t) {
    return t->device;
}

str cann_group_ranks(const cann_tables *t, str name) {
    enum { MOST_GROUPS = 4096 };
    json_iter it = json_open(t->groups);
    str id, one, found = STR_NONE;
    for (int n = 0; t->groups.n && n < MOST_GROUPS && json_next(&it, &id, &one); n++) {
        if (!str_ends(id, name)) continue;
        if (found.n) return STR_NONE; /* two of them end so */
        found = json_member(one, STR("global_ranks"));
    }
    return found;
}
