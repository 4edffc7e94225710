/* request.c: from the bytes of a request line to checked values.
 *
 *     /api/v1/ROUTE?NAME=VALUE&NAME=VALUE     a route of routes.def, or an analysis of the registry
 *     /anything/else                          a file of the page
 *
 * Escapes are decoded into the arena (a plus is a blank in values only). A bad escape, a NUL, an
 * unknown or repeated name, a value that does not fit its kind: one sentence, no guess. Names of
 * analysis parameters are spelled with - or _. A time is a duration with its unit, or whole
 * nanoseconds. */
#include "serve/request.h"

#include "base/fmt.h"
#include "base/message_ids_columns.h"
#include "base/num.h"

static const struct {
    const char *name;
    work_kind work;
    uint32_t groups;
} ROUTES[N_ROUTES] = {
#define ROUTE(name, work, groups, help) {#name, WORK_##work, groups},
#include "serve/routes.def"
};

static const parameter_info PARAMETERS[] = {
#define PARAMETER(field, name, kind, value, groups, help) \
    {name, value, PARAMETER_##kind, groups, MSG_##help, offsetof(request, field)},
#include "serve/routes.def"
};

#define N_PARAMETERS (sizeof PARAMETERS / sizeof *PARAMETERS)

const parameter_info *parameter_at(uint32_t i) {
    return i < N_PARAMETERS ? &PARAMETERS[i] : NULL;
}

const char *route_name(int route) {
    return route >= 0 && route < N_ROUTES ? ROUTES[route].name : "";
}

/* ---- escapes ----------------------------------------------------------------------------- */

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static status decode(arena *a, str s, bool plus_is_blank, str *out, error *err) {
    char *p = arena_alloc(a, s.n + 1);
    size_t n = 0;
    if (!p) FAIL_MEMORY(err);
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '%') {
            int high = i + 1 < s.n ? hex_digit(s.p[i + 1]) : -1;
            int low = i + 2 < s.n ? hex_digit(s.p[i + 2]) : -1;
            if (high < 0 || low < 0) FAIL0(err, ERR_ARG, i, MSG_HTTP_BAD_ESCAPE);
            c = (char)(high * 16 + low);
            i += 2;
        } else if (c == '+' && plus_is_blank) {
            c = ' ';
        }
        if (c == '\0') FAIL0(err, ERR_ARG, i, MSG_HTTP_BAD_ESCAPE);
        p[n++] = c;
    }
    p[n] = '\0';
    *out = (str){p, n};
    return OK;
}

/* ---- values ------------------------------------------------------------------------------ */

static bool list_has(const char *list, str one) {
    param_info p = {.values = list};
    return registry_allows(&p, one);
}

static bool parse_steps(str s, parameter_STEPS *out) {
    parameter_STEPS v = {0, INT64_MAX};
    size_t dots = str_find(s, STR(".."), 0);
    str first = dots == SIZE_MAX ? s : str_n(s.p, dots);
    str last = dots == SIZE_MAX ? s : str_from(s, dots + 2);
    if (first.n == 0 && last.n == 0) return false;
    if (first.n != 0 && !str_to_i64(first, &v.first)) return false;
    if (last.n != 0 && !str_to_i64(last, &v.last)) return false;
    if (v.first > v.last) return false;
    *out = v;
    return true;
}

static bool parse_time(str s, int64_t *out) {
    int64_t ns;
    if (str_to_i64(s, &ns) && ns >= 0) {
        *out = ns;
        return true;
    }
    return fmt_parse_duration(s, out);
}

static bool parse_count(str s, int64_t *out) {
    int64_t n;
    if (!str_to_i64(s, &n) || n < 0) return false;
    *out = n;
    return true;
}

static status set_value(const parameter_info *p, str value, request *r, error *err) {
    void *field = (char *)r + p->offset;
    uint16_t wrong = MSG_NONE;
    switch (p->kind) {
    case PARAMETER_TEXT: *(str *)field = value; break;
    case PARAMETER_CHOICE:
        if (!list_has(p->value, value)) wrong = MSG_CLI_BAD_CHOICE;
        *(str *)field = value;
        break;
    case PARAMETER_COUNT:
        if (!parse_count(value, field)) wrong = MSG_CLI_BAD_NUMBER;
        break;
    case PARAMETER_TIME:
        if (!parse_time(value, field)) wrong = MSG_CLI_BAD_TIME;
        break;
    case PARAMETER_STEPS:
        if (!parse_steps(value, field)) wrong = MSG_CLI_BAD_STEPS;
        break;
    case PARAMETER_FLAG:
        if (!list_has("0|1|true|false", value)) wrong = MSG_CLI_BAD_CHOICE;
        *(bool *)field = str_eq(value, STR("1")) || str_eq(value, STR("true"));
        break;
    }
    if (wrong == MSG_NONE) return OK;
    FAIL(err, ERR_ARG, NOPOS, wrong, arg_cstr("name", p->name), arg_text("value", value),
         arg_cstr("choices", p->value));
}

/* ---- parameters of one analysis ---------------------------------------------------------- */

static bool is_spelling(const char *param, str name) {
    str p = str_of(param);
    if (p.n != name.n) return false;
    for (size_t i = 0; i < p.n; i++)
        if (name.p[i] != p.p[i] && !(p.p[i] == '_' && name.p[i] == '-')) return false;
    return true;
}

static const param_info *find_extra(const request *r, str name) {
    const param_info *p = NULL;
    if (!r->analysis) return NULL;
    for (uint32_t i = 0; (p = registry_param(r->analysis->name, i)) != NULL; i++)
        if (is_spelling(p->name, name)) return p;
    return NULL;
}

static status set_extra(const param_info *p, str value, request *r, error *err) {
    params *to = &r->extra;
    if (!registry_allows(p, value))
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_BAD_CHOICE, arg_cstr("name", p->name),
             arg_text("value", value), arg_cstr("choices", p->values));
    if (strcmp(p->name, "group_by") == 0) {
        (void)group_of(value, &to->group);
        return OK;
    }
    if (to->n_extra == sizeof to->extra / sizeof *to->extra)
        FAIL0(err, ERR_ARG, NOPOS, MSG_HTTP_TOO_MANY);
    if (strcmp(p->type, "FLAG") == 0) { /* as analyses know it: the command line's yes */
        if (!list_has("0|1|true|false|yes|no", value))
            FAIL(err, ERR_ARG, NOPOS, MSG_CLI_BAD_CHOICE, arg_cstr("name", p->name),
                 arg_text("value", value), arg_cstr("choices", "0|1|true|false"));
        value = list_has("1|true|yes", value) ? STR("yes") : STR("no");
    }
    to->extra[to->n_extra].name = str_of(p->name);
    to->extra[to->n_extra++].value = value;
    return OK;
}

/* ---- the query --------------------------------------------------------------------------- */

static const parameter_info *find_parameter(uint32_t groups, str name) {
    for (size_t i = 0; i < N_PARAMETERS; i++)
        if ((PARAMETERS[i].groups & groups) && str_eq(str_of(PARAMETERS[i].name), name))
            return &PARAMETERS[i];
    return NULL;
}

static uint32_t groups_of(const request *r) {
    if (r->route == ROUTE_ANALYSIS) return ANALYSIS_ROUTE;
    return r->route >= 0 ? ROUTES[r->route].groups : 0;
}

/* The next NAME=VALUE of the query; false at its end. */
static bool next_pair(str *rest, str *name, str *value) {
    while (rest->n > 0 && rest->p[0] == '&') *rest = str_from(*rest, 1);
    if (rest->n == 0) return false;
    size_t end = str_find(*rest, STR("&"), 0);
    str pair = end == SIZE_MAX ? *rest : str_n(rest->p, end);
    *rest = end == SIZE_MAX ? STR_NONE : str_from(*rest, end + 1);
    size_t equals = str_find(pair, STR("="), 0);
    *name = equals == SIZE_MAX ? pair : str_n(pair.p, equals);
    *value = equals == SIZE_MAX ? STR("") : str_from(pair, equals + 1);
    return true;
}

static status set_parameter(request *r, str name, str value, error *err) {
    const parameter_info *p = find_parameter(groups_of(r), name);
    const param_info *extra = p ? NULL : find_extra(r, name);
    const char *route = r->analysis ? r->analysis->name : route_name(r->route);
    if (p) return set_value(p, value, r, err);
    if (extra) return set_extra(extra, value, r, err);
    FAIL(err, ERR_ARG, NOPOS, MSG_HTTP_UNKNOWN_PARAMETER, arg_cstr("route", route),
         arg_text("name", name));
}

static status parse_query(arena *a, str query, request *r, error *err) {
    str seen[REQUEST_MOST_PARAMETERS], name, value;
    uint32_t n = 0;
    while (next_pair(&query, &name, &value)) {
        TRY(decode(a, name, true, &name, err));
        TRY(decode(a, value, true, &value, err));
        if (n == REQUEST_MOST_PARAMETERS) FAIL0(err, ERR_ARG, NOPOS, MSG_HTTP_TOO_MANY);
        for (uint32_t i = 0; i < n; i++)
            if (str_eq(seen[i], name))
                FAIL(err, ERR_ARG, NOPOS, MSG_HTTP_TWICE, arg_text("name", name));
        seen[n++] = name;
        TRY(set_parameter(r, name, value, err));
        if (r->lang.n) (void)lang_of(r->lang, &r->words);
    }
    return OK;
}

/* ---- together ---------------------------------------------------------------------------- */

static void clear_fields(request *r) {
    for (size_t i = 0; i < N_PARAMETERS; i++) {
        char *field = (char *)r + PARAMETERS[i].offset;
        if (PARAMETERS[i].kind == PARAMETER_TIME || PARAMETERS[i].kind == PARAMETER_COUNT)
            *(int64_t *)(void *)field = ABSENT_I64;
        if (PARAMETERS[i].kind == PARAMETER_STEPS)
            *(parameter_STEPS *)(void *)field = (parameter_STEPS){ABSENT_I64, ABSENT_I64};
    }
}

static status find_route(str name, request *r, error *err) {
    for (int i = 0; i < N_ROUTES; i++) {
        if (!str_eq(str_of(ROUTES[i].name), name)) continue;
        r->route = i;
        r->work = ROUTES[i].work;
        return OK;
    }
    r->analysis = registry_find(name);
    r->route = ROUTE_ANALYSIS;
    r->work = WORK_TRACE;
    if (r->analysis) return OK;
    FAIL(err, ERR_NOT_FOUND, NOPOS, MSG_HTTP_NO_ROUTE, arg_text("name", name));
}

static status check_together(const request *r, error *err) {
    bool window = r->from != ABSENT_I64 || r->to != ABSENT_I64;
    if (window && r->step.first != ABSENT_I64)
        FAIL0(err, ERR_ARG, NOPOS, MSG_CLI_STEP_AND_TIME);
    if (r->to != ABSENT_I64 && max_i64(r->from, 0) >= r->to)
        FAIL0(err, ERR_ARG, NOPOS, MSG_CLI_EMPTY_WINDOW);
    if (r->width != ABSENT_I64 && r->width > 8192)
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_BAD_NUMBER, arg_cstr("name", "width"),
             arg_int("value", r->width), arg_cstr("choices", "1…8192"));
    return OK;
}

status request_parse(arena *a, str target, request *out, error *err) {
    static const str API = {"/api/v1/", 8};
    *out = (request){.route = ROUTE_FILE};
    clear_fields(out);
    if (target.n > REQUEST_LINE_BYTES || target.n == 0 || target.p[0] != '/')
        FAIL0(err, ERR_ARG, NOPOS, MSG_HTTP_BAD_TARGET);
    size_t mark = str_find(target, STR("?"), 0);
    str path = mark == SIZE_MAX ? target : str_n(target.p, mark);
    str query = mark == SIZE_MAX ? STR_NONE : str_from(target, mark + 1);
    TRY(decode(a, path, false, &out->path, err));
    if (!str_starts(out->path, API)) return OK; /* the page's own files take no parameters */
    TRY(find_route(str_from(out->path, API.n), out, err));
    TRY(parse_query(a, query, out, err));
    out->extra.from_ns = out->from;
    out->extra.to_ns = out->to;
    out->extra.first_step = out->step.first;
    out->extra.last_step = out->step.last;
    return check_together(out, err);
}

/* ---- lanes ------------------------------------------------------------------------------- */

static bool take_number(str *s, uint32_t *out) {
    uint64_t v = 0;
    size_t n = 0;
    while (n < s->n && n < 9 && s->p[n] >= '0' && s->p[n] <= '9')
        v = v * 10 + (uint64_t)(s->p[n++] - '0');
    if (n == 0) return false;
    *s = str_from(*s, n);
    *out = (uint32_t)v;
    return true;
}

static bool take_part(str *s, uint32_t *first, uint32_t *last, uint32_t *coarser) {
    *coarser = 0;
    if (!take_number(s, first)) return false;
    *last = *first;
    if (s->n > 0 && s->p[0] == '-') {
        *s = str_from(*s, 1);
        if (!take_number(s, last)) return false;
    }
    if (s->n > 0 && s->p[0] == ':') {
        *s = str_from(*s, 1);
        if (!take_number(s, coarser) || *coarser > 40) return false;
    }
    return *first <= *last && (s->n == 0 || s->p[0] == ',');
}

status request_lanes(str list, lanes_fn take, void *context, error *err) {
    str rest = list;
    uint32_t first, last, coarser;
    while (rest.n > 0) {
        if (!take_part(&rest, &first, &last, &coarser) || !take(context, first, last, coarser))
            FAIL(err, ERR_ARG, NOPOS, MSG_HTTP_BAD_LANES, arg_text("value", list));
        if (rest.n > 0) rest = str_from(rest, 1);
    }
    return OK;
}
