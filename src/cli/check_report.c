/* check_report.c: see check_report.h.
 *
 * Each form has its own escapes: names of kernels hold all that XML, Markdown and workflow
 * commands take for markup. A character that XML does not know at all becomes U+FFFD. */
#include "cli/check_report.h"

#include <string.h>

#include "base/message_ids_check.h"
#include "base/num.h"

#define REPLACEMENT "\xef\xbf\xbd"

const table *check_table(const answer *a, const char *name) {
    for (uint32_t i = 0; i < a->n_tables; i++)
        if (strcmp(a->tables[i]->name, name) == 0) return a->tables[i];
    return NULL;
}

static str check_cell(const table *t, size_t row, const char *name) {
    uint32_t col = table_column(t, str_of(name));
    bool none = col == UINT32_MAX || table_is_null(t, row, col);
    return none ? STR("") : t->columns[col].v.s[row];
}

typedef enum { CASE_OK, CASE_FAILED, CASE_OPEN } case_state;

static case_state state_of(const options *o, const table *t, size_t row) {
    str result = check_cell(t, row, "result");
    if (str_eq(result, STR("ok"))) return CASE_OK;
    return str_eq(result, STR("regression")) || o->strict ? CASE_FAILED : CASE_OPEN;
}

/* What was found, and why it is judged so: "22.3 ms → 26.3 ms, allowed 23.4 ms; …". */
static void put_message(buf *out, const table *t, size_t row) {
    str found = check_cell(t, row, "found"), reason = check_cell(t, row, "reason");
    buf_add_str(out, found);
    if (found.n && reason.n) buf_add_cstr(out, "; ");
    buf_add_str(out, reason);
}

static void put_verdict(buf *out, const options *o, const answer *a) {
    text_format(out, o->words, a->verdict.message, a->verdict.args, a->verdict.n_args);
}

/* ---- JUnit ------------------------------------------------------------------------------- */

/* Characters of XML 1.0; others cannot be written in any way. */
static bool is_xml(str s, size_t at, size_t n) {
    unsigned char c = (unsigned char)s.p[at];
    if (n == 1) return c >= 0x20 || c == '\t' || c == '\n' || c == '\r';
    bool last_of_plane = n == 3 && memcmp(s.p + at, "\xef\xbf", 2) == 0 &&
                         (unsigned char)s.p[at + 2] >= 0xbe; /* U+FFFE, U+FFFF */
    return !last_of_plane;
}

static void put_xml(buf *out, str s) {
    for (size_t at = 0, n; at < s.n; at += n) {
        n = str_utf8(s, at);
        bool fits = n && is_xml(s, at, n);
        if (!n) n = 1;
        if (!fits) {
            buf_add_cstr(out, REPLACEMENT);
            continue;
        }
        switch (s.p[at]) {
        case '<': buf_add_cstr(out, "&lt;"); break;
        case '>': buf_add_cstr(out, "&gt;"); break;
        case '&': buf_add_cstr(out, "&amp;"); break;
        case '"': buf_add_cstr(out, "&quot;"); break;
        case '\t':
        case '\r':
        case '\n': buf_printf(out, "&#%d;", s.p[at]); break;
        default: buf_add(out, s.p + at, n);
        }
    }
}

static void put_case(buf *out, const options *o, const table *t, size_t row) {
    case_state state = state_of(o, t, row);
    buf message = {0};
    put_message(&message, t, row);
    if (!buf_ok(&message)) out->failed = true;
    buf_add_cstr(out, "    <testcase classname=\"tacho.check\" name=\"");
    put_xml(out, check_cell(t, row, "rule"));
    buf_add_cstr(out, "\" time=\"0\">\n      <");
    if (state == CASE_FAILED) {
        buf_add_cstr(out, "failure type=\"");
        put_xml(out, check_cell(t, row, "result"));
        buf_add_cstr(out, "\" message=\"");
    } else {
        buf_add_cstr(out, state == CASE_OK ? "system-out>" : "skipped message=\"");
    }
    put_xml(out, buf_str(&message));
    buf_add_cstr(out, state == CASE_OK ? "</system-out>\n" : "\"/>\n");
    buf_add_cstr(out, "    </testcase>\n");
    buf_fini(&message);
}

void check_junit(buf *out, const options *o, const answer *a) {
    const table *t = check_table(a, "checks");
    unsigned n[3] = {0, 0, 0};
    buf words = {0};
    for (size_t i = 0; i < t->n_rows; i++) n[state_of(o, t, i)]++;
    put_verdict(&words, o, a);
    if (!buf_ok(&words)) out->failed = true;
    buf_printf(out,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
               "<testsuites tests=\"%zu\" failures=\"%u\" errors=\"0\" skipped=\"%u\">\n"
               "  <testsuite name=\"tacho check\" tests=\"%zu\" failures=\"%u\" errors=\"0\" "
               "skipped=\"%u\" time=\"0\">\n",
               t->n_rows, n[CASE_FAILED], n[CASE_OPEN], t->n_rows, n[CASE_FAILED],
               n[CASE_OPEN]);
    for (size_t i = 0; i < t->n_rows; i++) put_case(out, o, t, i);
    buf_add_cstr(out, "    <system-out>");
    put_xml(out, buf_str(&words));
    buf_add_cstr(out, "</system-out>\n  </testsuite>\n</testsuites>\n");
    buf_fini(&words);
}

/* ---- Markdown ---------------------------------------------------------------------------- */

/* A table with only these columns, as a Markdown table. */
static status put_columns(buf *out, const options *o, const table *t, const char *names,
                          arena *scratch, error *err) {
    table part = *t;
    answer one = {.analysis = "check", .n_tables = 1, .tables = {&part}};
    present_options plain = {.lang = o->words};
    part.columns = ARENA_ARRAY(scratch, column, t->n_columns);
    if (!part.columns) FAIL_MEMORY(err);
    memcpy(part.columns, t->columns, t->n_columns * sizeof *part.columns);
    for (uint32_t i = part.n_columns; COUNT_DOWN(i);)
        if (!value_in_list(names, str_of(part.columns[i].name))) table_drop_column(&part, i);
    return present_answer(FORM_MD, &one, &plain, out, err);
}

status check_markdown(buf *out, const options *o, const answer *a, arena *scratch, error *err) {
    const table *checks = check_table(a, "checks"), *causes = check_table(a, "causes");
    buf words = {0};
    put_verdict(&words, o, a);
    buf_add_cstr(out, "### tacho check\n\n");
    for (size_t i = 0; i < words.n; i++) { /* nothing of it is markup */
        if (strchr("\\`*_[]<>|~#&", words.p[i]) && words.p[i]) buf_add_byte(out, '\\');
        buf_add_byte(out, words.p[i] == '\n' ? ' ' : words.p[i]);
    }
    buf_add_cstr(out, "\n\n");
    if (!buf_ok(&words)) out->failed = true;
    buf_fini(&words);
    TRY(put_columns(out, o, checks,
                    "metric|result|base|candidate|limit|change|low|high|reason|unit", scratch,
                    err));
    if (!causes || !causes->n_rows) return OK;
    buf_add_byte(out, '\n');
    return put_columns(out, o, causes, "title|change|share|certain", scratch, err);
}

/* ---- annotations ------------------------------------------------------------------------- */

/* As GitHub's toolkit escapes them: more in a property than in the message. */
static void put_command(buf *out, str s, bool property) {
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool escaped =
            c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
        if (escaped)
            buf_printf(out, "%%%02X", (unsigned)(unsigned char)c);
        else
            buf_add_byte(out, c);
    }
}

void check_annotations(buf *out, const options *o, const answer *a) {
    const table *t = check_table(a, "checks");
    for (size_t i = 0; i < t->n_rows; i++) {
        case_state state = state_of(o, t, i);
        buf message = {0};
        if (state == CASE_OK) continue;
        put_message(&message, t, i);
        buf_printf(out, "::%s title=", state == CASE_FAILED ? "error" : "warning");
        put_command(out, STR("tacho check, "), true);
        put_command(out, check_cell(t, i, "rule"), true);
        buf_add_cstr(out, "::");
        put_command(out, buf_str(&message), false);
        buf_add_byte(out, '\n');
        if (!buf_ok(&message)) out->failed = true;
        buf_fini(&message);
    }
}
