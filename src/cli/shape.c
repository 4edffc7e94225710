/* shape.c: --table, --search, --filter, --sort and --limit as the tables understand them, and
 * --stable. */
#include "cli/shape.h"

#include <string.h>

#include "table/arrange.h"

void shape_stable(answer *a, const options *o) {
    if (!o->stable) return;
    a->source.path = STR_NONE;
    a->source.start_unix_ns = INT64_MIN;
    /* The store's size depends on how many threads read it: a few bytes, but not the same. */
    for (uint32_t i = 0; i < a->n_tables; i++)
        if (analysis_has(registry_of(a), ABOUT_FILE))
            table_drop_rows(a->tables[i], STR("store_bytes"));
}

status shape_answer(answer *a, const options *o, error *err) {
    arrangement how = question_arrangement(&o->question);
    shape_stable(a, o);
    return arrange_answer(a, &how, err);
}
