/* budget.c: reads the text of a budget.
 *
 *     rules    = rule { (NEWLINE | ";") rule }            # begins a comment
 *     rule     = subject side limit
 *     subject  = measure | ANALYSIS [ "." TABLE ] [ "[" rows "]" ] "." ( COLUMN | "rows" )
 *                [ "per" "step" ]
 *     rows     = NUMBER | COLUMN "=" STRING
 *     side     = "<" | "<=" | ">" | ">="
 *     limit    = NUMBER [ UNIT ] | ( "+" | "-" ) NUMBER "%"
 *
 * One pass, no way back: at each place one thing is expected, and an error says which, where,
 * and what is there instead. */
#include "analyse/check/budget.h"

#include <math.h>

#include "base/message_ids_check.h"
#include "base/nearest.h"
#include "base/num.h"

enum { MAX_RULES = 10000, MAX_FOUND = 40 };

static const struct {
    const char *name;
    column_unit unit;
} MEASURES[N_MEASURES] = {
    [MEASURE_STEP] = {"step", UNIT_NS},          [MEASURE_DEVICE] = {"device", UNIT_NS},
    [MEASURE_HOST] = {"host", UNIT_NS},          [MEASURE_MEMORY] = {"memory", UNIT_BYTES},
    [MEASURE_KERNELS] = {"kernels", UNIT_COUNT}, [MEASURE_MFU] = {"mfu", UNIT_SHARE},
};

const char *measure_name(measure_id m) {
    return MEASURES[m].name;
}

column_unit measure_unit(measure_id m) {
    return MEASURES[m].unit;
}

const char *budget_unit_word(column_unit unit) {
    switch (unit) {
    case UNIT_NS: return "ns";
    case UNIT_BYTES: return "bytes";
    case UNIT_SHARE: return "share";
    case UNIT_BYTES_S: return "bytes/s";
    case UNIT_FLOPS: return "flop";
    case UNIT_FLOPS_S: return "flop/s";
    default: return "count";
    }
}

/* ---- words ------------------------------------------------------------------------------- */

typedef struct {
    const budget_text *from;
    arena *arena;
    size_t at, line_start;
    uint32_t line;
} budget_reader;

static char peek(const budget_reader *r) {
    return r->at < r->from->text.n ? r->from->text.p[r->at] : '\0';
}

static bool at_end(const budget_reader *r) {
    return r->at >= r->from->text.n;
}

static bool at_rule_end(const budget_reader *r) {
    return at_end(r) || peek(r) == '\n' || peek(r) == ';' || peek(r) == '#';
}

static void skip_blanks(budget_reader *r) {
    while (peek(r) == ' ' || peek(r) == '\t' || peek(r) == '\r') r->at++;
}

/* Everything up to the next rule. */
static void skip_empty(budget_reader *r) {
    for (skip_blanks(r); !at_end(r) && at_rule_end(r); skip_blanks(r)) {
        if (peek(r) == '#')
            while (!at_end(r) && peek(r) != '\n') r->at++;
        if (at_end(r)) return;
        bool new_line = peek(r) == '\n';
        r->at++;
        if (!new_line) continue;
        r->line++;
        r->line_start = r->at;
    }
}

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_';
}

/* The text at this place, for an error: up to the next blank. */
static str found_here(const budget_reader *r) {
    size_t end = r->at;
    str text = r->from->text;
    while (end < text.n && end - r->at < MAX_FOUND && !strchr(" \t\r\n;#", text.p[end])) end++;
    return str_n(text.p + r->at, end - r->at);
}

static status fail_expected(const budget_reader *r, uint16_t expected, error *err) {
    str found = found_here(r);
    arg args[] = {arg_text("file", r->from->name), arg_id("line", r->line),
                  arg_id("column", (int64_t)(r->at - r->line_start) + 1),
                  arg_words("expected", expected), arg_text("found", found)};
    return error_set(err, r->from->wrong, NOPOS, MSG_BUDGET_EXPECTED, found.n ? 5 : 4, args);
}

/* A name that is not allowed at its place, and that place. */
typedef struct {
    size_t at;
    name_hint hint;
} wrong_name;

static status fail_name(const budget_reader *r, const wrong_name *w, uint16_t message,
                        error *err) {
    arg args[] = {arg_text("file", r->from->name), arg_id("line", r->line),
                  arg_id("column", (int64_t)(w->at - r->line_start) + 1),
                  arg_text("name", w->hint.wanted), HINT_ARGS(&w->hint)};
    return error_set(err, r->from->wrong, NOPOS, message, (int)N_OF(args), args);
}

static status fail_column(const budget_reader *r, const result_info *t, size_t at, str name,
                          error *err) {
    wrong_name w = {at, hint_for(name)};
    const field_info *f;
    for (uint32_t i = 0; (f = registry_field(t, i)) != NULL; i++)
        hint_offer(&w.hint, str_of(f->name));
    return fail_name(r, &w, MSG_BUDGET_NO_COLUMN, err);
}

static status fail_table(const budget_reader *r, const char *analysis, size_t at, str name,
                         error *err) {
    wrong_name w = {at, hint_for(name)};
    const result_info *t;
    for (uint32_t i = 0; (t = registry_result(analysis, i)) != NULL; i++)
        hint_offer(&w.hint, str_of(t->name));
    return fail_name(r, &w, MSG_BUDGET_NO_TABLE, err);
}

static str take_word(budget_reader *r) {
    size_t from = r->at;
    while (!at_end(r) && is_word(peek(r))) r->at++;
    return str_n(r->from->text.p + from, r->at - from);
}

static bool take(budget_reader *r, char c) {
    skip_blanks(r);
    if (at_end(r) || peek(r) != c) return false;
    r->at++;
    skip_blanks(r);
    return true;
}

/* ---- the subject ------------------------------------------------------------------------- */

static const result_info *find_result(const char *analysis, str name) {
    const result_info *t;
    for (uint32_t i = 0; (t = registry_result(analysis, i)) != NULL; i++)
        if (str_eq(str_of(t->name), name)) return t;
    return NULL;
}

static const field_info *find_field(const result_info *t, str name) {
    const field_info *f;
    for (uint32_t i = 0; (f = registry_field(t, i)) != NULL; i++)
        if (str_eq(str_of(f->name), name)) return f;
    return NULL;
}

/* "…" with \" and \\ in it. */
static status take_string(budget_reader *r, str *out, error *err) {
    if (peek(r) != '"') return fail_expected(r, MSG_BUDGET_STRING, err);
    size_t first = ++r->at, n = 0;
    str text = r->from->text;
    char *copy = ARENA_ARRAY(r->arena, char, text.n - first + 1);
    if (!copy) FAIL_MEMORY(err);
    for (; !at_end(r) && peek(r) != '"' && peek(r) != '\n'; r->at++) {
        bool escaped = peek(r) == '\\' && r->at + 1 < text.n &&
                       (text.p[r->at + 1] == '"' || text.p[r->at + 1] == '\\');
        if (escaped) r->at++;
        copy[n++] = peek(r);
    }
    if (peek(r) != '"') return fail_expected(r, MSG_BUDGET_QUOTE, err);
    r->at++;
    *out = str_n(copy, n);
    return OK;
}

/* The rows between [ and ]. */
static status take_rows(budget_reader *r, budget_rule *rule, error *err) {
    size_t at = r->at;
    str word = take_word(r);
    if (word.n && str_to_i64(word, &rule->row)) {
        rule->rows = SELECT_ROW;
    } else {
        if (!word.n) return fail_expected(r, MSG_BUDGET_ROWS, err);
        const field_info *key = find_field(rule->table, word);
        if (!key) return fail_column(r, rule->table, at, word, err);
        if (key->type != TYPE_TEXT)
            return fail_name(r, &(wrong_name){at, hint_for(word)}, MSG_BUDGET_NOT_TEXT, err);
        if (!take(r, '=')) return fail_expected(r, MSG_BUDGET_EQUALS, err);
        rule->rows = SELECT_EQUAL;
        rule->key = word;
        TRY(take_string(r, &rule->value, err));
    }
    return take(r, ']') ? OK : fail_expected(r, MSG_BUDGET_BRACKET, err);
}

static bool is_number(const field_info *f) {
    return f->type == TYPE_INT || f->type == TYPE_REAL || f->type == TYPE_BOOL;
}

/* The column after the last dot. */
static status set_column(budget_reader *r, budget_rule *rule, size_t at, str word, error *err) {
    rule->unit = UNIT_COUNT;
    if (str_eq(word, STR("rows")) && rule->rows == SELECT_EVERY) return OK;
    rule->field = find_field(rule->table, word);
    if (!rule->field) return fail_column(r, rule->table, at, word, err);
    if (!is_number(rule->field))
        return fail_name(r, &(wrong_name){at, hint_for(word)}, MSG_BUDGET_NOT_NUMBER, err);
    rule->unit = rule->field->unit;
    return OK;
}

/* After the name of an analysis: [.TABLE][rows].COLUMN. */
static status take_column(budget_reader *r, budget_rule *rule, error *err) {
    const char *analysis = rule->analysis->name;
    rule->table = find_result(analysis, str_of(analysis));
    if (!rule->table) rule->table = registry_result(analysis, 0);
    if (!rule->table) return fail_expected(r, MSG_BUDGET_SUBJECT, err);
    bool rows = take(r, '[');
    if (rows) TRY(take_rows(r, rule, err));
    if (!take(r, '.')) return fail_expected(r, MSG_BUDGET_DOT, err);
    size_t at = r->at;
    str word = take_word(r);
    if (!word.n) return fail_expected(r, MSG_BUDGET_COLUMN, err);
    skip_blanks(r);
    bool more = peek(r) == '.' || peek(r) == '[';
    const result_info *named = find_result(analysis, word);
    if (rows || (!more && !named) || (!more && find_field(rule->table, word)))
        return set_column(r, rule, at, word, err);
    if (!named) return fail_table(r, analysis, at, word, err);
    rule->table = named;
    if (take(r, '[')) TRY(take_rows(r, rule, err));
    if (!take(r, '.')) return fail_expected(r, MSG_BUDGET_DOT, err);
    at = r->at;
    word = take_word(r);
    if (!word.n) return fail_expected(r, MSG_BUDGET_COLUMN, err);
    return set_column(r, rule, at, word, err);
}

static bool find_measure(str word, measure_id *out) {
    for (int m = 0; m < N_MEASURES; m++) {
        if (!str_eq(word, str_of(MEASURES[m].name))) continue;
        *out = (measure_id)m;
        return true;
    }
    return false;
}

/* An analysis that asks for a second run would have to be asked about three. */
static bool can_be_asked(const analysis_info *a) {
    return a && analysis_is_about_one_run(a);
}

static status fail_subject(const budget_reader *r, size_t at, str name, error *err) {
    wrong_name w = {at, hint_for(name)};
    const analysis_info *a;
    for (int m = 0; m < N_MEASURES; m++) hint_offer(&w.hint, str_of(MEASURES[m].name));
    for (uint32_t i = 0; (a = registry_analysis(i)) != NULL; i++)
        if (can_be_asked(a)) hint_offer(&w.hint, str_of(a->name));
    return fail_name(r, &w, MSG_BUDGET_NO_NAME, err);
}

static status take_per_step(budget_reader *r, budget_rule *rule, error *err) {
    skip_blanks(r);
    size_t at = r->at;
    if (!str_eq(take_word(r), STR("per"))) {
        r->at = at;
        return OK;
    }
    skip_blanks(r);
    size_t second = r->at;
    rule->per_step = str_eq(take_word(r), STR("step"));
    if (rule->per_step) return OK;
    r->at = second;
    return fail_expected(r, MSG_BUDGET_STEP, err);
}

static status take_subject(budget_reader *r, budget_rule *rule, error *err) {
    size_t at = r->at;
    str word = take_word(r);
    if (!word.n) return fail_expected(r, MSG_BUDGET_SUBJECT, err);
    skip_blanks(r);
    bool dotted = peek(r) == '.' || peek(r) == '[';
    rule->measure = N_MEASURES;
    if (!dotted && find_measure(word, &rule->measure)) {
        rule->unit = MEASURES[rule->measure].unit;
    } else {
        rule->analysis = registry_find(word);
        if (!can_be_asked(rule->analysis)) return fail_subject(r, at, word, err);
        TRY(take_column(r, rule, err));
        TRY(take_per_step(r, rule, err));
    }
    rule->subject = str_trim(str_n(r->from->text.p + at, r->at - at));
    skip_blanks(r);
    return OK;
}

/* ---- the limit --------------------------------------------------------------------------- */

static status take_side(budget_reader *r, budget_rule *rule, error *err) {
    char c = peek(r);
    if (c != '<' && c != '>') return fail_expected(r, MSG_BUDGET_SIDE, err);
    r->at++;
    bool equal = peek(r) == '=';
    if (equal) r->at++;
    if (c == '<')
        rule->side = equal ? LIMIT_AT_MOST : LIMIT_BELOW;
    else
        rule->side = equal ? LIMIT_AT_LEAST : LIMIT_ABOVE;
    skip_blanks(r);
    return OK;
}

static bool take_digits(budget_reader *r) {
    size_t from = r->at;
    while (!at_end(r) && peek(r) >= '0' && peek(r) <= '9') r->at++;
    return r->at > from;
}

static status take_number(budget_reader *r, double *out, error *err) {
    size_t from = r->at;
    bool digits = take_digits(r);
    if (peek(r) == '.') {
        r->at++;
        digits |= take_digits(r);
    }
    str text = str_n(r->from->text.p + from, r->at - from);
    if (digits && str_to_f64(text, out) && isfinite(*out)) return OK;
    r->at = from;
    return fail_expected(r, MSG_BUDGET_NUMBER, err);
}

static const struct {
    const char *word;
    column_unit unit;
    double factor;
} UNITS[] = {
    {"ns", UNIT_NS, 1},
    {"us", UNIT_NS, 1e3},
    {"µs", UNIT_NS, 1e3},
    {"μs", UNIT_NS, 1e3},
    {"ms", UNIT_NS, 1e6},
    {"s", UNIT_NS, 1e9},
    {"min", UNIT_NS, 6e10},
    {"B", UNIT_BYTES, 1},
    {"KB", UNIT_BYTES, 1e3},
    {"MB", UNIT_BYTES, 1e6},
    {"GB", UNIT_BYTES, 1e9},
    {"TB", UNIT_BYTES, 1e12},
    {"KiB", UNIT_BYTES, 1024.0},
    {"MiB", UNIT_BYTES, 1048576.0},
    {"GiB", UNIT_BYTES, 1073741824.0},
    {"TiB", UNIT_BYTES, 1099511627776.0},
    {"%", UNIT_SHARE, 0.01},
    {"GB/s", UNIT_BYTES_S, 1e9},
    {"TB/s", UNIT_BYTES_S, 1e12},
    {"GFLOP", UNIT_FLOPS, 1e9},
    {"TFLOP", UNIT_FLOPS, 1e12},
    {"GFLOP/s", UNIT_FLOPS_S, 1e9},
    {"TFLOP/s", UNIT_FLOPS_S, 1e12},
};

/* A number without a unit is plain: a share of 0…1, a count; a time or a size needs one. */
static status take_unit(budget_reader *r, budget_rule *rule, error *err) {
    skip_blanks(r);
    str word = found_here(r);
    bool needed = rule->unit == UNIT_NS || rule->unit == UNIT_BYTES;
    if (!word.n && (!needed || rule->limit <= 0)) return OK;
    for (size_t i = 0; i < N_OF(UNITS); i++) {
        if (!str_eq(word, str_of(UNITS[i].word)) || UNITS[i].unit != rule->unit) continue;
        rule->limit *= UNITS[i].factor;
        r->at += word.n;
        return OK;
    }
    return fail_expected(r,
                         rule->unit == UNIT_NS      ? MSG_BUDGET_UNIT_TIME
                         : rule->unit == UNIT_BYTES ? MSG_BUDGET_UNIT_SIZE
                         : rule->unit == UNIT_SHARE ? MSG_BUDGET_UNIT_SHARE
                         : rule->unit == UNIT_FLOPS_S || rule->unit == UNIT_FLOPS ||
                                 rule->unit == UNIT_BYTES_S
                             ? MSG_BUDGET_UNIT_RATE
                             : MSG_BUDGET_END,
                         err);
}

static status take_limit(budget_reader *r, budget_rule *rule, error *err) {
    char sign = peek(r);
    rule->relative = sign == '+' || sign == '-';
    if (rule->relative) r->at++;
    TRY(take_number(r, &rule->limit, err));
    if (!rule->relative) return take_unit(r, rule, err);
    if (!take(r, '%')) return fail_expected(r, MSG_BUDGET_PERCENT, err);
    rule->limit *= sign == '-' ? -0.01 : 0.01;
    return OK;
}

/* ---- rules ------------------------------------------------------------------------------- */

static budget_rule *add_rule(budget *b) {
    if (b->n == b->cap) {
        uint32_t cap = b->cap ? 2 * b->cap : 16;
        budget_rule *v = arena_grow(b->arena, b->v, b->cap * sizeof *v, cap * sizeof *v);
        if (!v) return NULL;
        b->v = v;
        b->cap = cap;
    }
    b->v[b->n] = (budget_rule){.measure = N_MEASURES};
    return &b->v[b->n++];
}

static status take_rule(budget_reader *r, budget *b, error *err) {
    budget_rule rule = {.line = r->line};
    size_t from = r->at;
    TRY(take_subject(r, &rule, err));
    TRY(take_side(r, &rule, err));
    TRY(take_limit(r, &rule, err));
    rule.text = str_n(r->from->text.p + from, r->at - from);
    rule.text = str_trim(rule.text);
    skip_blanks(r);
    if (!at_rule_end(r)) return fail_expected(r, MSG_BUDGET_END, err);
    budget_rule *to = b->n < MAX_RULES ? add_rule(b) : NULL;
    if (!to) FAIL_MEMORY(err);
    *to = rule;
    return OK;
}

status budget_add(budget *b, const budget_text *from, error *err) {
    budget_reader r = {.from = from, .arena = b->arena, .line = 1};
    if (str_starts(from->text, STR("\xef\xbb\xbf"))) r.at = r.line_start = 3;
    for (skip_empty(&r); !at_end(&r); skip_empty(&r)) TRY(take_rule(&r, b, err));
    return OK;
}

status budget_add_default(budget *b, measure_id m, double share, error *err) {
    budget_rule *to = add_rule(b);
    if (!to) FAIL_MEMORY(err);
    bool upper = m != MEASURE_MFU;
    str text = arena_printf(b->arena, "%s %s %s%g %%", MEASURES[m].name,
                            upper ? "<=" : ">=", upper ? "+" : "-", share * 100);
    if (!text.p) FAIL_MEMORY(err);
    *to = (budget_rule){.text = text,
                        .subject = str_of(MEASURES[m].name),
                        .measure = m,
                        .side = upper ? LIMIT_AT_MOST : LIMIT_AT_LEAST,
                        .relative = true,
                        .limit = upper ? share : -share,
                        .unit = MEASURES[m].unit};
    return OK;
}

bool budget_share(str text, double *out) {
    bool percent = str_ends(text, STR("%"));
    str digits = str_trim(percent ? str_n(text.p, text.n - 1) : text);
    double v;
    if (!str_to_f64(digits, &v) || !isfinite(v) || v < 0) return false;
    *out = percent ? v / 100 : v;
    return true;
}

status budget_share_param(const params *p, str name, double *out, error *err) {
    str given = param_text(p, name);
    if (!given.p || budget_share(given, out)) return OK;
    FAIL(err, ERR_ARG, NOPOS, MSG_CHECK_BAD_SHARE, arg_text("name", param_written(p, name)),
         arg_text("value", given));
}
