/* in_use_table.c: one row for each thing that in_use.h found. */
#include "analyse/questions/in_use_table.h"

#include "analyse/analysis.h"
#include "analyse/kind_names.h"

#define COL_U(name) COL(info, in_use, name)
_Static_assert((int)COL_U(evidence) == (int)COL(overview, in_use, evidence) &&
                   (int)COL_U(what) == (int)COL(overview, in_use, what),
               "one table, two answers");

status in_use_write(const trace *t, const in_use *found, table *out, error *err) {
    for (use_kind u = 0; u < N_USES; u++) {
        size_t row;
        if (!found->n[u]) continue;
        bool kernel = t->slice.kind[found->slice[u]] == KIND_KERNEL;
        str name = trace_slice_name(t, found->slice[u]);
        TRY(table_add_row(out, &row, err));
        table_set_text(out, row, COL_U(what), use_word(u));
        table_set_int(out, row, COL_U(count), found->n[u]);
        table_set_text(out, row, COL_U(evidence), kernel ? kernel_short_name(name) : name);
    }
    return OK;
}
