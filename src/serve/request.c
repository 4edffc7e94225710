/* request.c: from the bytes of a request line to checked values.
 *
 *     /api/v1/ROUTE?NAME=VALUE&NAME=VALUE     a route of routes.def, or an analysis of the
 *                                             registry
 *     /anything/else                          a file of the page
 *
 * Escapes are decoded into the arena (a plus is a blank in values only). A bad escape, a NUL,
 * an unknown or repeated name, a value that does not fit its kind: one sentence, no guess.
 * Values are read by question/, as from every other door. */
#include "serve/request.h"

#include <stdio.h>

#include "base/message_ids_columns.h"
#include "base/nearest.h"
#include "base/num.h"

enum { MOST_PIXELS = 8192 };

static const struct {
    const char *name;
    work_kind work;
    uint32_t groups;
} ROUTES[N_ROUTES] = {
#define ROUTE(name, work, groups, help) {#name, WORK_##work, groups},
#include "serve/routes.def"
};

static const term PARAMETERS[] = {
#define ROW(at, name, kind, value, groups, help) \
    {name, VALUE_##kind, value, groups, MSG_##help, 0, offsetof(request, at)},
#define PARAMETER ROW
#define ASKED_ROW(field, name, kind, value, help, groups) \
    ROW(question.field, name, kind, value, groups, help)
#define ASKED(field, groups) TERM_##field(ASKED_ROW, groups)
#include "serve/routes.def"
};

const term *parameter_at(uint32_t i) {
    return i < N_OF(PARAMETERS) ? &PARAMETERS[i] : NULL;
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

/* ---- the query --------------------------------------------------------------------------- */

static uint32_t groups_of(const request *r) {
    if (r->route == ROUTE_ANALYSIS) return ANALYSIS_ROUTE;
    return r->route >= 0 ? ROUTES[r->route].groups : 0;
}

/* The next NAME=VALUE of the query; false at its end. */
static bool next_pair(str *rest, str *name, str *value) {
    while (rest->n > 0 && rest->p[0] == '&') *rest = str_from(*rest, 1);
    if (rest->n == 0) return false;
    str pair = str_cut(rest, STR("&"));
    size_t equals = str_find(pair, STR("="), 0);
    *name = equals == SIZE_MAX ? pair : str_n(pair.p, equals);
    *value = equals == SIZE_MAX ? STR("") : str_from(pair, equals + 1);
    return true;
}

static status fail_parameter(const request *r, const char *route, str name, error *err) {
    name_hint hint = hint_for(name);
    const param_info *p;
    for (uint32_t i = 0; r->analysis && (p = registry_param(route, i)) != NULL; i++)
        hint_offer(&hint, str_of(p->name));
    for (size_t i = 0; i < N_OF(PARAMETERS); i++)
        if (PARAMETERS[i].groups & groups_of(r)) hint_offer(&hint, str_of(PARAMETERS[i].name));
    FAIL(err, ERR_ARG, NOPOS, MSG_HTTP_UNKNOWN_PARAMETER, arg_cstr("route", route),
         arg_text("name", name), HINT_ARGS(&hint));
}

static status set_parameter(request *r, str name, str value, error *err) {
    const term *t = term_find(PARAMETERS, N_OF(PARAMETERS), groups_of(r), name);
    const char *route = r->analysis ? r->analysis->name : route_name(r->route);
    const param_info *p = r->analysis ? registry_find_param(route, name) : NULL;
    spelling as = {name, "="};
    if (t) return term_set(t, &as, value, r, err);
    if (p) return params_add(&r->question.params, p, &as, value, err);
    return fail_parameter(r, route, name, err);
}

/* The language first, so that every error is in it. */
static void find_language(str query, request *r) {
    str name, value;
    while (next_pair(&query, &name, &value))
        if (str_eq(name, STR("lang"))) (void)lang_of(value, &r->words);
}

/* Texts of an analysis may be given several times, as on the command line: changes of
 * whatif. */
static bool may_repeat(const request *r, str name) {
    const param_info *p = r->analysis ? registry_find_param(r->analysis->name, name) : NULL;
    return p && p->kind == VALUE_TEXT;
}

static status parse_query(arena *a, str query, request *r, error *err) {
    str seen[REQUEST_MOST_PARAMETERS], name, value;
    uint32_t n = 0;
    find_language(query, r);
    while (next_pair(&query, &name, &value)) {
        TRY(decode(a, name, true, &name, err));
        TRY(decode(a, value, true, &value, err));
        if (n == REQUEST_MOST_PARAMETERS) FAIL0(err, ERR_ARG, NOPOS, MSG_HTTP_TOO_MANY);
        for (uint32_t i = 0; i < n; i++)
            if (value_same_name(seen[i], name) && !may_repeat(r, name))
                FAIL(err, ERR_ARG, NOPOS, MSG_HTTP_TWICE, arg_text("name", name));
        seen[n++] = name;
        TRY(set_parameter(r, name, value, err));
        if (r->lang.n) (void)lang_of(r->lang, &r->words);
    }
    return OK;
}

/* ---- together ---------------------------------------------------------------------------- */

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
    name_hint hint = hint_for(name);
    for (int i = 0; i < N_ROUTES; i++) hint_consider(&hint, str_of(ROUTES[i].name));
    const analysis_info *a;
    for (uint32_t i = 0; (a = registry_analysis(i)) != NULL; i++)
        hint_offer(&hint, str_of(a->name));
    FAIL(err, ERR_NOT_FOUND, NOPOS, MSG_HTTP_NO_ROUTE, arg_text("name", name),
         HINT_ARGS(&hint));
}

static status check_width(const request *r, error *err) {
    char width[24];
    if (r->width <= MOST_PIXELS) return OK;
    snprintf(width, sizeof width, "%lld", (long long)r->width);
    return value_fail_form("0…8192", &(spelling){STR("width"), "="}, str_of(width), err);
}

status request_parse(arena *a, str target, request *out, error *err) {
    static const str API = {"/api/v1/", 8};
    *out = (request){.route = ROUTE_FILE};
    question_begin(&out->question);
    terms_clear(PARAMETERS, N_OF(PARAMETERS), out);
    if (target.n > REQUEST_LINE_BYTES) FAIL0(err, ERR_ARG, NOPOS, MSG_HTTP_LONG_TARGET);
    if (target.n == 0 || target.p[0] != '/') FAIL0(err, ERR_ARG, NOPOS, MSG_HTTP_BAD_TARGET);
    str query = target, path = str_cut(&query, STR("?"));
    TRY(decode(a, path, false, &out->path, err));
    if (!str_starts(out->path, API)) return OK; /* the page's own files take no parameters */
    TRY(find_route(str_from(out->path, API.n), out, err));
    TRY(parse_query(a, query, out, err));
    TRY(check_width(out, err));
    return question_end(&out->question, "", err);
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
