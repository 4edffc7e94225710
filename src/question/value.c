/* value.c: the one parser of the values of a question.
 *
 * Every door reads through it, so a time that one of them takes is taken by all. A value is
 * read whole or not at all; there is no default here and no guess. */
#include "question/value.h"

#include "base/buf.h"
#include "base/fmt.h"
#include "base/message_ids_cli.h"
#include "base/nearest.h"
#include "table/arrange.h"

static const char FLAGS[] = "0|1|true|false|yes|no";

bool value_in_list(const char *list, str one) {
    str rest = str_of(list);
    for (;;) {
        size_t bar = str_find(rest, STR("|"), 0);
        if (bar == SIZE_MAX) return str_eq(rest, one);
        if (str_eq(str_n(rest.p, bar), one)) return true;
        rest = str_from(rest, bar + 1);
    }
}

bool value_same_name(str a, str b) {
    if (a.n != b.n) return false;
    for (size_t i = 0; i < a.n; i++)
        if ((a.p[i] == '_' ? '-' : a.p[i]) != (b.p[i] == '_' ? '-' : b.p[i])) return false;
    return true;
}

bool value_time(str text, int64_t *out_ns) {
    int64_t ns;
    if (!str_to_i64(text, &ns)) return fmt_parse_duration(text, out_ns);
    if (ns < 0) return false;
    *out_ns = ns;
    return true;
}

static bool parse_count(str text, int64_t *out) {
    int64_t n;
    if (!str_to_i64(text, &n) || n < 0) return false;
    *out = n;
    return true;
}

/* Steps are numbered from 0, so a range without a first step begins there. */
static bool parse_steps(str text, step_range *out) {
    step_range v = {0, OPEN_END};
    size_t dots = str_find(text, STR(".."), 0);
    str first = dots == SIZE_MAX ? text : str_n(text.p, dots);
    str last = dots == SIZE_MAX ? text : str_from(text, dots + 2);
    if (first.n == 0 && last.n == 0) return false;
    if (first.n != 0 && !str_to_i64(first, &v.first)) return false;
    if (last.n != 0 && !str_to_i64(last, &v.last)) return false;
    if (v.first > v.last) return false;
    *out = v;
    return true;
}

static bool take_text(bool fits, str text, str *out) {
    if (fits) *out = text;
    return fits;
}

bool value_parse(value_kind kind, const char *choices, str text, void *field) {
    switch (kind) {
    case VALUE_FLAG:
        if (!value_in_list(FLAGS, text)) return false;
        *(bool *)field = value_in_list("1|true|yes", text);
        return true;
    case VALUE_TEXT:
    case VALUE_FILE: return take_text(true, text, field);
    case VALUE_CHOICE: return take_text(value_in_list(choices, text), text, field);
    case VALUE_ORDER: return take_text(arrange_is_order(text), text, field);
    case VALUE_COUNT: return parse_count(text, field);
    case VALUE_SIZE: return fmt_parse_bytes(text, field);
    case VALUE_DURATION: return fmt_parse_duration(text, field);
    case VALUE_TIME:
    case VALUE_FROM:
    case VALUE_TO: return value_time(text, field);
    case VALUE_STEPS: return parse_steps(text, field);
    }
    return false;
}

void value_clear(value_kind kind, void *field) {
    switch (kind) {
    case VALUE_FLAG: *(bool *)field = false; break;
    case VALUE_COUNT:
    case VALUE_SIZE:
    case VALUE_DURATION:
    case VALUE_TIME: *(int64_t *)field = ABSENT_I64; break;
    case VALUE_FROM: *(int64_t *)field = OPEN_START; break;
    case VALUE_TO: *(int64_t *)field = OPEN_END; break;
    case VALUE_STEPS: *(step_range *)field = STEPS_ALL; break;
    default: *(str *)field = STR_NONE;
    }
}

static uint16_t what_is_wrong(value_kind kind) {
    switch (kind) {
    case VALUE_COUNT: return MSG_CLI_BAD_NUMBER;
    case VALUE_SIZE: return MSG_CLI_BAD_SIZE;
    case VALUE_DURATION: return MSG_CLI_BAD_DURATION;
    case VALUE_TIME:
    case VALUE_FROM:
    case VALUE_TO: return MSG_CLI_BAD_TIME;
    case VALUE_STEPS: return MSG_CLI_BAD_STEPS;
    case VALUE_ORDER: return MSG_CLI_BAD_FORM;
    default: return MSG_CLI_BAD_CHOICE;
    }
}

static status fail_value(uint16_t message, const spelling *as, str text, const char *form,
                         error *err) {
    buf given = {0};
    name_hint hint = hint_for(text);
    buf_add_str(&given, as->name);
    buf_add_cstr(&given, as->joint);
    buf_add_str(&given, text);
    if (message == MSG_CLI_BAD_CHOICE) hint_offer_choices(&hint, form);
    arg args[] = {arg_text("given", buf_str(&given)), arg_text("name", as->name),
                  arg_text("value", text), arg_cstr("form", form), HINT_ARGS(&hint)};
    error_set(err, ERR_ARG, NOPOS, message, (int)N_OF(args), args); /* copies the texts */
    buf_fini(&given);
    return ERR_ARG;
}

status value_fail_form(const char *form, const spelling *as, str text, error *err) {
    return fail_value(MSG_CLI_BAD_FORM, as, text, form, err);
}

status value_fail(value_kind kind, const char *choices, const spelling *as, str text,
                  error *err) {
    if (kind == VALUE_FLAG) choices = FLAGS;
    if (kind == VALUE_ORDER) choices = ARRANGE_ORDERS;
    return fail_value(what_is_wrong(kind), as, text, choices, err);
}
