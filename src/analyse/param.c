/* param.c: the parameters of one analysis as values.
 *
 * The command line and the server hand them over as text: what has a list of choices was checked
 * there, what is a time or a number is read here, in one way for both. */
#include "analyse/param.h"

#include "base/fmt.h"
#include "base/message_ids_cli.h"

str param_text(const params *p, str name) {
    for (uint32_t i = 0; i < p->n_extra; i++)
        if (str_eq(p->extra[i].name, name)) return p->extra[i].value;
    return STR_NONE;
}

static status fail_value(uint16_t message, str name, str value, error *err) {
    FAIL(err, ERR_ARG, NOPOS, message, arg_text("name", name), arg_text("value", value),
         arg_cstr("choices", "0, 1, 2, …"));
}

status param_time(const params *p, str name, int64_t *out, error *err) {
    str value = param_text(p, name);
    int64_t ns;
    if (!value.p) return OK;
    if (!str_to_i64(value, &ns) && !fmt_parse_duration(value, &ns))
        return fail_value(MSG_CLI_BAD_TIME, name, value, err);
    if (ns < 0) return fail_value(MSG_CLI_BAD_TIME, name, value, err);
    *out = ns;
    return OK;
}

status param_count(const params *p, str name, int64_t *out, error *err) {
    str value = param_text(p, name);
    int64_t n;
    if (!value.p) return OK;
    if (!str_to_i64(value, &n) || n < 0)
        return fail_value(MSG_CLI_BAD_NUMBER, name, value, err);
    *out = n;
    return OK;
}
