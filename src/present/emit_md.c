/* emit_md.c: the first table of an answer as a Markdown table, to be pasted into an issue.
 *
 * Values are written as people read them, numbers aligned to the right. Everything in a text
 * that Markdown or HTML would take for markup is escaped: kernel names are full of <, * and _.
 * A line break becomes <br>, other control characters are written out. Nulls are empty. Columns
 * that were not recorded are left out. */
#include "base/fmt.h"
#include "present/present_int.h"

static void put_marked(buf *out, str s) {
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        switch (c) {
        case '<': buf_add_cstr(out, "&lt;"); break;
        case '>': buf_add_cstr(out, "&gt;"); break;
        case '&': buf_add_cstr(out, "&amp;"); break;
        case '\n': buf_add_cstr(out, "<br>"); break;
        case '|':
        case '\\':
        case '`':
        case '*':
        case '_':
        case '[':
        case ']':
        case '~':
            buf_add_byte(out, '\\');
            buf_add_byte(out, c);
            break;
        default: buf_add_byte(out, c == '\t' ? ' ' : c);
        }
    }
}

static void put_escaped(buf *out, str s) {
    buf safe = {0};
    fmt_safe(&safe, s, "\n\t");
    if (buf_ok(&safe))
        put_marked(out, buf_str(&safe));
    else
        out->failed = true;
    buf_fini(&safe);
}

static void put_row(buf *out, const table *t, const bool *shown, size_t row, lang l) {
    for (uint32_t i = 0; i < t->n_columns; i++) {
        const column *c = &t->columns[i];
        if (!shown[i]) continue;
        buf_add_cstr(out, "| ");
        if (c->type != TYPE_TEXT)
            cell_put_in(out, t, i, row, l);
        else if (!cell_is_null(c, row))
            put_escaped(out, c->v.s[row]);
        buf_add_byte(out, ' ');
    }
    buf_add_cstr(out, "|\n");
}

static void put_header(buf *out, const table *t, const bool *shown) {
    for (uint32_t i = 0; i < t->n_columns; i++) {
        if (!shown[i]) continue;
        buf_add_cstr(out, "| ");
        put_escaped(out, str_of(t->columns[i].name));
        buf_add_byte(out, ' ');
    }
    buf_add_cstr(out, "|\n");
    for (uint32_t i = 0; i < t->n_columns; i++)
        if (shown[i]) buf_add_cstr(out, t->columns[i].type == TYPE_TEXT ? "|---" : "|--:");
    buf_add_cstr(out, "|\n");
}

static status put_table(buf *out, const table *t, const bool *shown, const present_options *o,
                        error *err) {
    put_header(out, t, shown);
    for (size_t row = 0; row < t->n_rows; row++) {
        put_row(out, t, shown, row, o->lang);
        TRY(emit_row_end(o, out, err));
    }
    return OK;
}

status emit_md(const answer *a, const present_options *o, buf *out, error *err) {
    if (a->n_tables == 0) return OK;
    const table *t = a->tables[0];
    arena scratch;
    arena_init(&scratch, 0);
    bool *shown = ARENA_ARRAY(&scratch, bool, t->n_columns);
    status s = OK;
    if (shown) {
        for (uint32_t i = 0; i < t->n_columns; i++)
            shown[i] = t->n_rows == 0 || column_is_recorded(t, i);
        s = put_table(out, t, shown, o, err);
    }
    arena_fini(&scratch);
    if (!shown) FAIL_MEMORY(err);
    return s;
}
