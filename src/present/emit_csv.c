/* emit_csv.c: the first table of an answer as comma-separated values by RFC 4180.
 *
 * A header line with the column names, then one record for each row, ended by CR LF. A field
 * with a comma, a quote or a line break is in quotes, quotes inside are doubled. Numbers
 * are plain, in the unit of the column (nanoseconds, bytes, shares 0…1), so a program reads
 * them back exactly; null is an empty field, an empty text is "" in quotes, so the two stay
 * apart. Control characters of a text are written out (\x1b), and one that a spreadsheet would
 * take for a formula begins with an apostrophe. */
#include <string.h>

#include "base/fmt.h"
#include "present/present_int.h"

static bool needs_quotes(str s) {
    if (s.n == 0) return true;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == ',' || s.p[i] == '"' || s.p[i] == '\n' || s.p[i] == '\r') return true;
    return false;
}

static void put_field(buf *out, str s) {
    if (!needs_quotes(s)) {
        buf_add_str(out, s);
        return;
    }
    buf_add_byte(out, '"');
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '"') buf_add_byte(out, '"');
        buf_add_byte(out, s.p[i]);
    }
    buf_add_byte(out, '"');
}

/* A spreadsheet takes a text that begins so for a formula, which a name of somebody else's
 * program may be. */
static bool is_formula(str s) {
    return s.n > 0 && s.p[0] != '\0' && strchr("=+-@", s.p[0]) != NULL;
}

/* May it hold what fmt_safe writes out? Bytes that such characters begin with are looked at. */
static bool may_be_unsafe(str s) {
    for (size_t i = 0; i < s.n; i++) {
        uint8_t c = (uint8_t)s.p[i];
        if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f || c == 0xc2 || c == 0xe2)
            return true;
    }
    return false;
}

/* A name as it is, except for what a terminal or a spreadsheet would obey. */
static void put_text(buf *out, str s) {
    buf safe = {0};
    if (!is_formula(s) && !may_be_unsafe(s)) {
        put_field(out, s);
        return;
    }
    if (is_formula(s)) buf_add_byte(&safe, '\'');
    fmt_safe(&safe, s, "\n\t");
    put_field(out, buf_str(&safe));
    if (!buf_ok(&safe)) out->failed = true;
    buf_fini(&safe);
}

status emit_csv(const answer *a, const present_options *o, buf *out, error *err) {
    if (a->n_tables == 0) return OK;
    const table *t = a->tables[0];
    for (uint32_t i = 0; i < t->n_columns; i++) {
        if (i != 0) buf_add_byte(out, ',');
        put_field(out, str_of(t->columns[i].name));
    }
    buf_add_cstr(out, "\r\n");
    for (size_t row = 0; row < t->n_rows; row++) {
        for (uint32_t i = 0; i < t->n_columns; i++) {
            const column *c = &t->columns[i];
            if (i != 0) buf_add_byte(out, ',');
            if (c->type == TYPE_TEXT && !cell_is_null(c, row))
                put_text(out, c->v.s[row]);
            else
                cell_put_raw(out, c, row);
        }
        buf_add_cstr(out, "\r\n");
        TRY(emit_row_end(o, out, err));
    }
    return OK;
}
