/* torch_npu_folders.c: a folder WORKER_TIME_ascend_pt is one span of one worker, named by the
 * timeline in it; the folder of its results under another name is one, too. */
#include "session/layouts/layouts_int.h"

#include "base/message_ids_columns.h"
#include "ingest/ascend/torch_npu.h"
#include "ingest/mindspore/mindspore.h"

/* rankN of profiler_info_N.json; a run of one device has no number there. */
static status name_by_rank(walk *w, str folder, str *worker, error *err) {
    vec items = VEC_INIT(dir_item);
    int64_t rank, found = INT64_MIN;
    status s = walk_list(w, folder.p, &items, NULL);
    for (size_t i = 0; s == OK && i < items.n; i++)
        if (torch_npu_rank_parse(VEC(&items, dir_item)[i].name, &rank)) found = rank;
    vec_fini(&items);
    if (s == ERR_MEMORY) FAIL_MEMORY(err);
    if (found == INT64_MIN) return OK;
    *worker = arena_printf(w->a, "rank%lld", (long long)found);
    if (!worker->p) FAIL_MEMORY(err);
    return OK;
}

/* *mine: it is such a folder, read or not. */
static status add_npu_cycle(walk *w, str folder, str name, const found_file *run, bool *mine,
                            error *err) {
    const sniff_result raw = {.what = MSG_WHAT_ASCEND_RAW, .message = MSG_FOREIGN_ASCEND_RAW};
    struct stat st;
    str file;
    found_file like = *run;
    like.name = (trace_name){.packing = 0};
    if (!torch_npu_folder_parse(name, &like.name.worker, &like.name.stamp)) return OK;
    *mine = true;
    TRY(ascend_results_find(w, folder, &file, &st, err));
    if (!file.p) return walk_skip(w, folder, &raw, err);
    TRY(name_by_rank(w, folder, &like.name.worker, err));
    return walk_add_worker(w, file, &st, &like, err);
}

static bool is_npu_timeline(const char *path) {
    source *s = NULL;
    if (source_open(path, &s, NULL) != OK) return false;
    bool is;
    status st = sniff_torch_npu(s, &is, NULL);
    source_close(s);
    return st == OK && is;
}

static bool has_mindspore(const vec *items) {
    for (size_t i = 0; i < items->n; i++)
        if (mindspore_name_is_sure(VEC(items, dir_item)[i].name)) return true;
    return false;
}

/* The folder of results itself, under whatever name; not where the timeline is another's. */
static status add_npu_results(walk *w, const vec *items, const found_file *run, bool *mine,
                              error *err) {
    const dir_item *item = ascend_results_choose(items);
    if (!item || has_mindspore(items)) return OK;
    str path = walk_join(w, run->run_path, item->name);
    if (!path.p) FAIL_MEMORY(err);
    if (str_ends(item->name, STR(".json")) && !is_npu_timeline(path.p)) return OK;
    found_file like = *run;
    name_of_any(item->name, &like.name);
    *mine = true;
    return walk_add_worker(w, path, &item->st, &like, err);
}

status torch_npu_folders_take(walk *w, const vec *items, const found_file *run, bool *mine,
                              error *err) {
    str own = run->run_path;
    size_t slash = str_rfind_byte(own, '/');
    bool below = false;
    if (slash != SIZE_MAX) own = str_from(own, slash + 1);
    if (str_eq(own, STR(".")) || str_eq(own, STR("..")) || !own.n)
        own = folder_own_name(w->a, run->run_path.p);
    TRY(add_npu_cycle(w, run->run_path, own, run, mine, err));
    if (*mine) return OK;
    for (size_t i = 0; i < items->n; i++) {
        const dir_item *item = &VEC(items, dir_item)[i];
        if (!S_ISDIR(item->st.st_mode)) continue;
        str path = walk_join(w, run->run_path, item->name);
        if (!path.p) FAIL_MEMORY(err);
        TRY(add_npu_cycle(w, path, item->name, run, &below, err));
    }
    return add_npu_results(w, items, run, mine, err);
}

bool torch_npu_folders_skip(str name, const folder_layout *taken) {
    (void)taken;
    str worker, stamp;
    return torch_npu_folder_parse(name, &worker, &stamp);
}
