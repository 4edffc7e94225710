/* params.c: the parameters of one analysis as values.
 *
 * They are checked when a door takes them, so that an error has the reader's own words and
 * costs no trace. They are kept as text; a number is read again where it is used, by the same
 * parser. */
#include "question/params.h"

#include "base/message_ids_cli.h"

static const char *const GROUP_NAMES[N_GROUPS] = {
    [GROUP_NAME] = "name",       [GROUP_NAME_SHAPE] = "name+shape",
    [GROUP_LAUNCH] = "launch",   [GROUP_NAME_STACK] = "name+stack",
    [GROUP_NAME_OP] = "name+op", [GROUP_NAME_SHAPE_STACK] = "name+shape+stack",
    [GROUP_TYPE] = "type",       [GROUP_SUBGRAPH] = "subgraph",
};

const char *group_by_name(group_by g) {
    return GROUP_NAMES[g];
}

bool group_by_of(str name, group_by *out) {
    for (int g = 0; g < N_GROUPS; g++) {
        if (!str_eq(str_of(GROUP_NAMES[g]), name)) continue;
        *out = (group_by)g;
        return true;
    }
    return false;
}

/* ---- giving ------------------------------------------------------------------------------ */

static bool is_valid(const param_info *p, str value, bool *flag) {
    union {
        str text;
        int64_t number;
        step_range steps;
        bool flag;
    } v;
    bool ok = value_parse(p->kind, p->values, value, &v);
    *flag = ok && p->kind == VALUE_FLAG && v.flag;
    return ok;
}

status params_add(params *to, const param_info *p, const spelling *as, str value, error *err) {
    uint32_t at = 0;
    bool flag;
    if (!is_valid(p, value, &flag)) return value_fail(p->kind, p->values, as, value, err);
    if (strcmp(p->name, "group_by") == 0 && group_by_of(value, &to->group)) return OK;
    if (p->kind == VALUE_FLAG) value = flag ? STR("yes") : STR("no");
    while (at < to->n_extra &&
           (p->kind == VALUE_TEXT || !str_eq(to->extra[at].name, str_of(p->name))))
        at++;
    if (at == N_OF(to->extra))
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_TOO_MANY, arg_text("name", as->name));
    to->extra[at].name = str_of(p->name);
    to->extra[at].value = value;
    to->extra[at].as = *as;
    if (at == to->n_extra) to->n_extra++;
    return OK;
}

/* ---- taking ------------------------------------------------------------------------------ */

/* Number + 1 of what was given last under this name; 0: nothing. */
static uint32_t find_param(const params *p, str name) {
    uint32_t i = p->n_extra;
    while (i && !str_eq(p->extra[i - 1].name, name)) i--;
    return i;
}

str param_text(const params *p, str name) {
    uint32_t i = find_param(p, name);
    return i ? p->extra[i - 1].value : STR_NONE;
}

bool param_flag(const params *p, str name) {
    return str_eq(param_text(p, name), STR("yes"));
}

str param_written(const params *p, str name) {
    uint32_t i = find_param(p, name);
    return i && p->extra[i - 1].as.name.n ? p->extra[i - 1].as.name : name;
}

static spelling spelling_of(const params *p, uint32_t i) {
    return p->extra[i].as.name.n ? p->extra[i].as : (spelling){p->extra[i].name, " "};
}

status param_fail(const params *p, str name, const char *form, error *err) {
    uint32_t i = find_param(p, name);
    if (!i) BUG("a value that nobody gave cannot be wrong");
    spelling as = spelling_of(p, i - 1);
    return value_fail_form(form, &as, p->extra[i - 1].value, err);
}

static status read_param(const params *p, str name, value_kind kind, int64_t *out, error *err) {
    uint32_t i = find_param(p, name);
    if (!i || value_parse(kind, NULL, p->extra[i - 1].value, out)) return OK;
    spelling as = spelling_of(p, i - 1);
    return value_fail(kind, "", &as, p->extra[i - 1].value, err);
}

status param_time(const params *p, str name, int64_t *out, error *err) {
    return read_param(p, name, VALUE_TIME, out, err);
}

status param_count(const params *p, str name, int64_t *out, error *err) {
    return read_param(p, name, VALUE_COUNT, out, err);
}

bool params_want(const params *p, const char *table) {
    for (str rest = p->tables; rest.n != 0;) {
        str name = str_cut(&rest, STR(","));
        if (str_eq(name, str_of(table))) return true;
    }
    return p->tables.n == 0;
}
