/* ascend_results.c: what CANN's profiler leaves of any framework: the folder of its results. */
#include "session/layouts/layouts_int.h"

#include "ingest/ascend/ascend_db.h"

/* The database of a framework's results among the files of a folder; NULL: there is none. */
static const dir_item *find_database(const vec *items) {
    for (size_t i = 0; i < items->n; i++) {
        const dir_item *item = &VEC(items, dir_item)[i];
        if (S_ISREG(item->st.st_mode) && ascend_db_name(item->name)) return item;
    }
    return NULL;
}

static const dir_item *find_file(const vec *items, str name) {
    for (size_t i = 0; i < items->n; i++) {
        const dir_item *item = &VEC(items, dir_item)[i];
        if (S_ISREG(item->st.st_mode) && str_eq(item->name, name)) return item;
    }
    return NULL;
}

const dir_item *ascend_results_choose(const vec *items) {
    const dir_item *timeline = find_file(items, STR("trace_view.json")),
                   *database = find_database(items);
    if (timeline) return timeline;
    return database ? database : find_file(items, STR("kernel_details.csv"));
}

status ascend_results_find(walk *w, str folder, str *file, struct stat *st, error *err) {
    vec items = VEC_INIT(dir_item);
    str results = walk_join(w, folder, STR("ASCEND_PROFILER_OUTPUT"));
    *file = STR_NONE;
    if (!results.p) FAIL_MEMORY(err);
    status s = walk_list(w, results.p, &items, NULL);
    const dir_item *item = s == OK ? ascend_results_choose(&items) : NULL;
    if (item) {
        *st = item->st;
        *file = walk_join(w, results, item->name);
    }
    bool failed = s == ERR_MEMORY || (item && !file->p);
    vec_fini(&items);
    if (failed) FAIL_MEMORY(err);
    return OK;
}
