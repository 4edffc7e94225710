/* guard.c: method, Host, Origin and token.
 *
 * The dangers are pages of other sites in the same browser. Such a page can send requests here,
 * but not read answers, unless its own name is made to point to this machine: then Host is that
 * name, and not a loopback one. With Origin, or the browser's own word on where a request comes
 * from, what crosses sites is refused at once. A port is not compared: a tunnel may have
 * another.
 *
 * One route writes: a page on this machine sends a file. Everything that holds for reading
 * holds for it, and its type is one that a page of another site cannot send without asking
 * first, which is never answered.
 *
 * Bound to anything but loopback, the only thing that counts is the token: a client that has it
 * may use any name. It comes as a cookie (set when the page was opened with ?token=), or in the
 * Authorization header. */
#include "serve/guard.h"

#include "base/message_ids_http.h"

#include <sys/random.h>

bool guard_equal(str a, str b) {
    volatile uint8_t differs = a.n != b.n;
    for (size_t i = 0; i < a.n; i++)
        differs = differs | (uint8_t)(a.p[i] ^ (b.n ? b.p[i % b.n] : 1));
    return !differs;
}

bool guard_make_token(char out[33]) {
    uint8_t bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return false;
    for (size_t i = 0; i < sizeof bytes; i++) {
        out[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        out[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    out[32] = '\0';
    return true;
}

/* Host without its port; all of it where no port follows, so that it is no name of ours. */
static str host_name(str host) {
    bool bracket = host.n > 0 && host.p[0] == '[';
    size_t end = str_find(host, bracket ? STR("]") : STR(":"), 0);
    if (end == SIZE_MAX) return host;
    str name = str_n(host.p, bracket ? end + 1 : end), port = str_from(host, name.n);
    if (port.n == 0) return name;
    for (size_t i = 1; i < port.n; i++)
        if (port.p[i] < '0' || port.p[i] > '9') return host;
    return port.p[0] == ':' ? name : host;
}

static bool is_loopback_name(str name) {
    return str_eq_nocase(name, STR("localhost")) || str_eq(name, STR("127.0.0.1")) ||
           str_eq(name, STR("[::1]"));
}

/* "http://HOST" of the Host header, or https in front of a proxy. */
static bool is_same_origin(str origin, str host) {
    static const str schemes[] = {{"http://", 7}, {"https://", 8}};
    for (size_t i = 0; i < 2; i++)
        if (str_starts(origin, schemes[i]))
            return str_eq_nocase(str_from(origin, schemes[i].n), host);
    return false;
}

/* Anything but a file of the page: no name of those has an escape, under which the rest could
 * be spelled in other ways. */
static bool is_api(str target) {
    str path = str_before(target, STR("?"));
    return str_starts(path, STR("/api/")) || str_find(path, STR("%"), 0) != SIZE_MAX;
}

/* Value of a cookie in the Cookie header. */
static str cookie_value(str cookies, str name) {
    for (str rest = cookies; rest.n > 0;) {
        str one = str_trim(str_cut(&rest, STR(";")));
        if (str_starts(one, name) && one.n > name.n && one.p[name.n] == '=')
            return str_from(one, name.n + 1);
    }
    return STR_NONE;
}

static status check_token(const guard_rules *rules, const guard_request *r, guard_answer *out,
                          error *err) {
    static const str query = {"/?token=", 8}, bearer = {"Bearer ", 7};
    if (!rules->needs_token) return OK;
    if (guard_equal(cookie_value(r->cookie, rules->cookie), rules->token)) return OK;
    if (str_starts(r->authorization, bearer) &&
        guard_equal(str_from(r->authorization, bearer.n), rules->token))
        return OK;
    if (str_starts(r->target, query) &&
        guard_equal(str_from(r->target, query.n), rules->token)) {
        *out = GUARD_LOGIN;
        return OK;
    }
    FAIL0(err, ERR_ARG, NOPOS, MSG_HTTP_NO_TOKEN);
}

bool guard_is_upload(str method, str target) {
    str path = str_before(target, STR("?"));
    return str_eq(method, STR("POST")) && str_eq(path, STR("/api/v1/upload"));
}

static status check_upload(const guard_rules *rules, const guard_request *r, error *err) {
    if (!rules->loopback) FAIL0(err, ERR_ARG, NOPOS, MSG_UPLOAD_LOOPBACK);
    if (!str_eq(r->content_type, STR("application/octet-stream")))
        FAIL0(err, ERR_ARG, NOPOS, MSG_UPLOAD_TYPE);
    return OK;
}

status guard_check(const guard_rules *rules, const guard_request *r, guard_answer *out,
                   error *err) {
    *out = GUARD_PASS;
    bool reads = str_eq(r->method, STR("GET")) || str_eq(r->method, STR("HEAD"));
    bool writes = guard_is_upload(r->method, r->target);
    if ((!reads && !writes) || (reads && r->has_body))
        FAIL0(err, ERR_ARG, NOPOS, MSG_HTTP_METHOD);
    if (r->header_bytes > GUARD_HEADER_BYTES) FAIL0(err, ERR_ARG, NOPOS, MSG_HTTP_LONG_HEADERS);
    if (r->ambiguous) FAIL0(err, ERR_ARG, NOPOS, MSG_HTTP_AMBIGUOUS);
    if (r->host.n == 0 || (rules->loopback && !is_loopback_name(host_name(r->host))))
        FAIL(err, ERR_ARG, NOPOS, MSG_HTTP_FORBIDDEN_HOST, arg_text("host", r->host));
    if (r->origin.n > 0 && !is_same_origin(r->origin, r->host))
        FAIL(err, ERR_ARG, NOPOS, MSG_HTTP_FORBIDDEN_ORIGIN, arg_text("origin", r->origin));
    bool crosses =
        str_eq(r->fetch_site, STR("cross-site")) || str_eq(r->fetch_site, STR("same-site"));
    if (crosses && is_api(r->target))
        FAIL(err, ERR_ARG, NOPOS, MSG_HTTP_FORBIDDEN_ORIGIN, arg_text("origin", r->fetch_site));
    TRY(check_token(rules, r, out, err));
    return writes ? check_upload(rules, r, err) : OK;
}
