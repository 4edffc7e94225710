/* mindspore_folders.c: folders of MindSpore's profiler: a worker is all files of one device.
 *
 * A flat folder holds the files of several devices, each a worker; a folder
 * NAME_PID_TIME_ascend_ms (2.7 and later) is one span of a worker of the run around it. A
 * worker is named by one of its files, and its own subfolders are not searched again. */
#include "session/layouts/layouts_int.h"

#include "ingest/mindspore/mindspore.h"

/* The first file in a folder that MindSpore wrote, below it also in the folders that belong to
 * it. */
static str find_own_file(walk *w, str folder) {
    static const char *const parts[] = {"", "/FRAMEWORK", "/ASCEND_PROFILER_OUTPUT"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        str path = arena_printf(w->a, "%.*s%s", STR_ARG(folder), parts[i]);
        vec items = VEC_INIT(dir_item);
        str file = STR_NONE;
        mindspore_name name;
        if (path.p && walk_list(w, path.p, &items, NULL) == OK)
            for (size_t k = 0; k < items.n && !file.p; k++) {
                const dir_item *item = &VEC(&items, dir_item)[k];
                if (S_ISREG(item->st.st_mode) && mindspore_name_parse(item->name, &name))
                    file = walk_join(w, path, item->name);
            }
        vec_fini(&items);
        if (file.p) return file;
    }
    return STR_NONE;
}

/* A cycle of 2.7 and later: its folder is one span of a worker of the run around it. */
static status add_cycle(walk *w, str folder, str name, const found_file *run, error *err) {
    struct stat st;
    found_file like = *run;
    like.name = (trace_name){.packing = 0};
    if (!mindspore_folder_parse(name, &like.name.worker, &like.name.stamp)) return OK;
    str file = STR_NONE;
    TRY(ascend_results_find(w, folder, &file, &st, err));
    if (!str_ends(file, STR(".db"))) file = find_own_file(w, folder);
    if (!file.p || stat(file.p, &st) != 0) return OK;
    return walk_add_worker(w, file, &st, &like, err);
}

/* The devices of a flat folder, each with the first of its files. */
static status add_devices(walk *w, const vec *items, const found_file *run, error *err) {
    vec ids = VEC_INIT(int64_t);
    status s = OK;
    bool any = false;
    for (int pass = 0; pass < 2 && s == OK; pass++) {
        for (size_t i = 0; i < items->n && s == OK; i++) {
            const dir_item *item = &VEC(items, dir_item)[i];
            mindspore_name name;
            if (!S_ISREG(item->st.st_mode) || !mindspore_name_is_sure(item->name) ||
                !mindspore_name_parse(item->name, &name))
                continue;
            /* Files without a number belong to every device; alone they are one. */
            if (pass == 0 ? name.id == MINDSPORE_ANY_ID : any || ids.n) continue;
            if (pass == 1) name.id = 0, any = true;
            bool known = false;
            for (size_t k = 0; k < ids.n; k++) known |= VEC(&ids, int64_t)[k] == name.id;
            int64_t *to = known ? NULL : vec_push(&ids);
            if (known) continue;
            found_file like = *run;
            like.name = (trace_name){.stamp = str_n("", 0)};
            like.name.worker = arena_printf(w->a, "rank%lld", (long long)name.id);
            str path = walk_join(w, run->run_path, item->name);
            if (!to || !like.name.worker.p || !path.p)
                s = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
            else {
                *to = name.id;
                s = walk_add_worker(w, path, &item->st, &like, err);
            }
        }
    }
    vec_fini(&ids);
    return s;
}

status mindspore_folders_take(walk *w, const vec *items, const found_file *run, bool *mine,
                              error *err) {
    size_t before = w->files.n;
    str own = run->run_path, worker, stamp;
    size_t slash = str_rfind_byte(own, '/');
    if (slash != SIZE_MAX) own = str_from(own, slash + 1);
    if (mindspore_folder_parse(own, &worker, &stamp)) {
        TRY(add_cycle(w, run->run_path, own, run, err));
    } else {
        for (size_t i = 0; i < items->n; i++) {
            const dir_item *item = &VEC(items, dir_item)[i];
            if (!S_ISDIR(item->st.st_mode)) continue;
            str path = walk_join(w, run->run_path, item->name);
            if (!path.p) FAIL_MEMORY(err);
            TRY(add_cycle(w, path, item->name, run, err));
        }
        TRY(add_devices(w, items, run, err));
    }
    *mine = w->files.n > before;
    return OK;
}

bool mindspore_folders_skip(str name, const folder_layout *taken) {
    str worker, stamp;
    return taken && (mindspore_is_part(name) || mindspore_folder_parse(name, &worker, &stamp));
}
