/* emit_csv.c: the first table of an answer as comma-separated values by RFC 4180.
 *
 * A header line with the column names, then one record for each row, ended by CR LF. A field
 * with a comma, a quote or a line break is in quotes, quotes inside are doubled. Numbers
 * are plain, in the unit of the column (nanoseconds, bytes, shares 0…1), so a program reads
 * them back exactly; null is an empty field, an empty text is "" in quotes, so the two stay
 * apart. Control characters of a text are written out (\x1b), and one that a spreadsheet would
 * take for a formula begins with an apostrophe. */
#include "base/fmt.h"
#include "present/present_int.h"

status emit_csv(const answer *a, const present_options *o, buf *out, error *err) {
    if (a->n_tables == 0) return OK;
    const table *t = a->tables[0];
    for (uint32_t i = 0; i < t->n_columns; i++) {
        if (i != 0) buf_add_byte(out, ',');
        fmt_csv(out, str_of(t->columns[i].name));
    }
    buf_add_cstr(out, "\r\n");
    for (size_t row = 0; row < t->n_rows; row++) {
        for (uint32_t i = 0; i < t->n_columns; i++) {
            const column *c = &t->columns[i];
            if (i != 0) buf_add_byte(out, ',');
            if (c->type == TYPE_TEXT && !cell_is_null(c, row))
                fmt_csv(out, c->v.s[row]);
            else
                cell_put_raw(out, c, row);
        }
        buf_add_cstr(out, "\r\n");
        TRY(emit_row_end(o, out, err));
    }
    return OK;
}
