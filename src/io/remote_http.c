/* remote_http.c: one HTTP request by libcurl, which is loaded when the first is made.
 *
 * libcurl and what it needs cost milliseconds at every start when linked, so it is opened by
 * name (libcurl.so.4 has been the name since 2006) and asked for the functions used here. A
 * handle keeps its connection for the next range.
 *
 * There are two kinds of failures: what may pass (no connection, a cut transfer, 429 and 5xx)
 * is tried again after 0.1 s, 0.2 s, … up to 5 s with a random part, or after what Retry-After
 * asks for; what will not (401, 403, 404, a changed object) is reported at once, with what to
 * do about it. Only http and https are spoken, also after a redirect; keys are never sent to
 * another host. */
#include <curl/curl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/fault.h"
#include "base/mem.h"
#include "base/num.h"
#include "io/remote_int.h"

enum { MOST_TRIES = 7, FIRST_WAIT_MS = 100, LONGEST_WAIT_MS = 5000, LONGEST_ASKED_MS = 30000 };
enum { CONNECT_SECONDS = 10, STALL_SECONDS = 30, STALL_BYTES_PER_S = 100, MOST_REDIRECTS = 5 };

/* ---- the library ------------------------------------------------------------------------- */

#define CURL_FUNCTIONS(X) \
    X(curl_global_init)   \
    X(curl_easy_init)     \
    X(curl_easy_reset)    \
    X(curl_easy_cleanup)  \
    X(curl_easy_perform)  \
    X(curl_easy_strerror) \
    X(curl_slist_append) X(curl_slist_free_all) X(curl_getdate) X(curl_version_info)

/* Options that the header or the library of an old system does not know (Debian 11 has 7.74),
 * and what the old ones were called before. The library says which it does not know. */
enum {
    OPTION_PROTOCOLS = 181, /* bits */
    OPTION_REDIR_PROTOCOLS = 182,
    OPTION_AWS_SIGV4 = 10305,     /* 7.75 */
    OPTION_PROTOCOLS_STR = 10318, /* 7.85 */
    OPTION_REDIR_PROTOCOLS_STR = 10319,
    HTTP_AND_HTTPS = 3,
    HTTPS_ALONE = 2
};

static struct {
#define FUNCTION(name) __typeof__(name) *name;
    CURL_FUNCTIONS(FUNCTION)
#undef FUNCTION
    CURLcode (*setopt)(CURL *, CURLoption, ...);
    CURLcode (*getinfo)(CURL *, CURLINFO, ...);
    bool ready;
    char reason[160];
} lib;

static void *symbol(void *so, const char *name) {
    void *p = dlsym(so, name);
    if (!p) snprintf(lib.reason, sizeof lib.reason, "libcurl.so.4: no %s", name);
    return p;
}

static void load_library(void) {
    void *so = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!so) so = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!so) {
        snprintf(lib.reason, sizeof lib.reason, "%s", dlerror());
        return;
    }
#define FUNCTION(f) *(void **)(void *)&lib.f = symbol(so, #f);
    CURL_FUNCTIONS(FUNCTION)
#undef FUNCTION
    *(void **)(void *)&lib.setopt = symbol(so, "curl_easy_setopt");
    *(void **)(void *)&lib.getinfo = symbol(so, "curl_easy_getinfo");
    if (!lib.reason[0] && lib.curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
        lib.ready = true;
}

/* ---- a request --------------------------------------------------------------------------- */

struct http {
    CURL *easy;
    const http_ask *ask;
    http_reply *reply;
    bool good;  /* the answer is one whose body is wanted */
    bool ended; /* by take */
    unsigned seed;
};

status http_open(http **out, error *err) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_library);
    if (!lib.ready)
        FAIL(err, ERR_UNSUPPORTED, NOPOS, MSG_REMOTE_LIBRARY, arg_cstr("reason", lib.reason));
    http *h = mem_zalloc(sizeof *h);
    if (h) h->easy = lib.curl_easy_init();
    if (!h || !h->easy) {
        mem_free(h);
        FAIL_MEMORY(err);
    }
    h->seed = (unsigned)(uintptr_t)h ^ (unsigned)time(NULL);
    *out = h;
    return OK;
}

void http_close(http *h) {
    if (!h) return;
    lib.curl_easy_cleanup(h->easy);
    mem_free(h);
}

static size_t take_body(char *p, size_t size, size_t n, void *context) {
    http *h = context;
    long code = 0;
    lib.getinfo(h->easy, CURLINFO_RESPONSE_CODE, &code);
    if (code != 200 && code != 206) return n * size; /* an error's page: not wanted */
    if (fault_point(FAULT_READ)) return 0;
    h->reply->ranged = code == 206;
    if (h->ask->take(h->ask->context, p, n * size)) return n * size;
    h->ended = true;
    return 0;
}

static uint64_t number_of(str text) {
    int64_t n;
    return str_to_i64(str_trim(text), &n) && n >= 0 ? (uint64_t)n : UINT64_MAX;
}

/* "bytes 0-99/1234" */
static void take_range(http_reply *r, str value) {
    size_t slash = str_find(value, STR("/"), 0), dash = str_find(value, STR("-"), 0);
    r->first = r->last = r->total_bytes = UINT64_MAX;
    if (slash == SIZE_MAX) return;
    r->total_bytes = number_of(str_from(value, slash + 1));
    if (!str_starts(value, STR("bytes ")) || dash > slash) return;
    r->first = number_of(str_n(value.p + 6, dash - 6));
    r->last = number_of(str_n(value.p + dash + 1, slash - dash - 1));
}

static void copy_text(char *to, size_t room, str text) {
    size_t n = text.n < room ? text.n : room - 1;
    memcpy(to, text.p, n);
    to[n] = 0;
}

static size_t take_header(char *p, size_t size, size_t n, void *context) {
    http_reply *r = ((http *)context)->reply;
    str line = str_n(p, n * size);
    size_t colon = str_find(line, STR(":"), 0);
    if (str_starts(line, STR("HTTP/"))) { /* what a redirect said is gone */
        r->total_bytes = r->first = r->last = UINT64_MAX;
        r->tag[0] = 0;
        r->mtime_ns = 0;
    }
    if (colon == SIZE_MAX) return n * size;
    str name = str_n(line.p, colon), value = str_trim(str_from(line, colon + 1));
    int64_t v;
    if (str_eq_nocase(name, STR("Content-Range"))) take_range(r, value);
    if (str_eq_nocase(name, STR("Location")))
        copy_text(r->location, sizeof r->location, remote_shown(value));
    if (str_eq_nocase(name, STR("Content-Length")) && r->total_bytes == UINT64_MAX &&
        str_to_i64(value, &v) && v >= 0)
        r->total_bytes = (uint64_t)v;
    if (str_eq_nocase(name, STR("ETag"))) copy_text(r->tag, sizeof r->tag, value);
    if (str_eq_nocase(name, STR("Retry-After")) && str_to_i64(value, &v) && v > 0)
        r->wait_ms = v > LONGEST_ASKED_MS / 1000 ? LONGEST_ASKED_MS : v * 1000;
    if (str_eq_nocase(name, STR("Last-Modified"))) {
        char date[64];
        copy_text(date, sizeof date, value);
        time_t t = lib.curl_getdate(date, NULL);
        if (t > 0) r->mtime_ns = seconds_ns(t, 0);
    }
    return n * size;
}

static int watch_stop(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d) {
    const http *h = context;
    (void)a, (void)b, (void)c, (void)d;
    return h->ask->stop && atomic_load_explicit(h->ask->stop, memory_order_relaxed);
}

static struct curl_slist *add_header(struct curl_slist *list, const char *name,
                                     const char *value) {
    char line[4096];
    snprintf(line, sizeof line, "%s: %s", name, value);
    struct curl_slist *longer = lib.curl_slist_append(list, line);
    return longer ? longer : list;
}

static bool is_signed(const remote_place *p) {
    return p->kind == REMOTE_S3 && p->access_key.n > 0;
}

static struct curl_slist *headers_of(const http_ask *ask) {
    const remote_place *p = ask->place;
    struct curl_slist *list = NULL;
    if (ask->tag && ask->tag[0]) list = add_header(list, "If-Match", ask->tag);
    if (p->kind == REMOTE_BLOB) list = add_header(list, "x-ms-version", "2021-08-06");
    if (is_signed(p)) {
        list = add_header(list, "x-amz-content-sha256", "UNSIGNED-PAYLOAD");
        if (p->session_token.n)
            list = add_header(list, "x-amz-security-token", p->session_token.p);
    }
    return list;
}

/* A request over TLS never follows a redirect without it. A signed request follows no redirect
 * at all: the signature is for this server, and the headers with it (a session token among
 * them) would go to the other one. */
static void set_protocols(CURL *c, const http_ask *ask) {
    bool safe = str_starts(str_of(ask->address), STR("https://"));
    if (lib.setopt(c, (CURLoption)OPTION_PROTOCOLS_STR, "http,https") != CURLE_OK)
        lib.setopt(c, (CURLoption)OPTION_PROTOCOLS, (long)HTTP_AND_HTTPS);
    if (lib.setopt(c, (CURLoption)OPTION_REDIR_PROTOCOLS_STR, safe ? "https" : "http,https") !=
        CURLE_OK)
        lib.setopt(c, (CURLoption)OPTION_REDIR_PROTOCOLS,
                   (long)(safe ? HTTPS_ALONE : HTTP_AND_HTTPS));
    lib.setopt(c, CURLOPT_FOLLOWLOCATION, is_signed(ask->place) ? 0L : 1L);
    lib.setopt(c, CURLOPT_MAXREDIRS, (long)MOST_REDIRECTS);
}

/* False when the library cannot: it would send the keys themselves as a password instead. */
static bool set_signature(CURL *c, const remote_place *p) {
    char scheme[128], pair[512];
    if (!is_signed(p)) return true;
    snprintf(scheme, sizeof scheme, "aws:amz:%.*s:s3", STR_ARG(p->region));
    snprintf(pair, sizeof pair, "%.*s:%.*s", STR_ARG(p->access_key), STR_ARG(p->secret_key));
    if (lib.setopt(c, (CURLoption)OPTION_AWS_SIGV4, scheme) != CURLE_OK) return false;
    return lib.setopt(c, CURLOPT_USERPWD, pair) == CURLE_OK;
}

/* So long with less than STALL_BYTES_PER_S, and the transfer is tried again. */
static long stall_seconds(void) {
    const char *text = getenv("TACHO_REMOTE_STALL");
    int64_t n;
    return text && str_to_i64(str_of(text), &n) && n > 0 && n < 86400 ? (long)n : STALL_SECONDS;
}

static bool set_up(http *h, const struct curl_slist *headers) {
    CURL *c = h->easy;
    const http_ask *ask = h->ask;
    char range[64];
    const char *bundle = getenv("CURL_CA_BUNDLE");
    if (!bundle || !*bundle) bundle = getenv("SSL_CERT_FILE");
    lib.curl_easy_reset(c);
    lib.setopt(c, CURLOPT_URL, ask->address);
    lib.setopt(c, CURLOPT_USERAGENT, "tacho/" TACHO_VERSION);
    set_protocols(c, ask);
    lib.setopt(c, CURLOPT_NOSIGNAL, 1L);
    lib.setopt(c, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    lib.setopt(c, CURLOPT_LOW_SPEED_LIMIT, (long)STALL_BYTES_PER_S);
    lib.setopt(c, CURLOPT_LOW_SPEED_TIME, stall_seconds());
    lib.setopt(c, CURLOPT_PATH_AS_IS, 1L);
    if (bundle && *bundle) lib.setopt(c, CURLOPT_CAINFO, bundle);
    lib.setopt(c, CURLOPT_HTTPHEADER, headers);
    lib.setopt(c, CURLOPT_WRITEFUNCTION, take_body);
    lib.setopt(c, CURLOPT_WRITEDATA, h);
    lib.setopt(c, CURLOPT_HEADERFUNCTION, take_header);
    lib.setopt(c, CURLOPT_HEADERDATA, h);
    lib.setopt(c, CURLOPT_XFERINFOFUNCTION, watch_stop);
    lib.setopt(c, CURLOPT_XFERINFODATA, h);
    lib.setopt(c, CURLOPT_NOPROGRESS, 0L);
    snprintf(range, sizeof range, "%llu-%llu", (unsigned long long)ask->first,
             (unsigned long long)ask->last);
    if (ask->last) lib.setopt(c, CURLOPT_RANGE, range);
    return set_signature(c, ask->place);
}

/* ---- what went wrong --------------------------------------------------------------------- */

static str shown(const http_ask *ask) {
    return remote_shown(str_of(ask->address));
}

static status fail_code(const http_ask *ask, const http_reply *r, error *err) {
    arg url = arg_text("url", shown(ask));
    if (r->code == 404) FAIL(err, ERR_NOT_FOUND, NOPOS, MSG_REMOTE_NOT_FOUND, url);
    if (r->code == 401 || r->code == 403)
        FAIL(err, ERR_IO, NOPOS, MSG_REMOTE_REFUSED, url, arg_int("code", r->code));
    if (r->code >= 301 && r->code <= 308 && r->location[0])
        FAIL(err, ERR_IO, NOPOS, MSG_REMOTE_REDIRECTED, url, arg_cstr("to", r->location));
    if (r->code == 412) FAIL(err, ERR_IO, NOPOS, MSG_REMOTE_CHANGED, url);
    FAIL(err, ERR_IO, NOPOS, MSG_REMOTE_CODE, url, arg_int("code", r->code));
}

static bool code_may_pass(long code) {
    return code == 408 || code == 429 || code == 500 || code == 502 || code == 503 ||
           code == 504;
}

static bool error_may_pass(CURLcode code) {
    switch (code) {
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_TOO_MANY_REDIRECTS:
    case CURLE_OUT_OF_MEMORY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE: return false;
    default: return true;
    }
}

static status judge(const http *h, CURLcode done, error *err) {
    http_reply *r = h->reply;
    const http_ask *ask = h->ask;
    lib.getinfo(h->easy, CURLINFO_RESPONSE_CODE, &r->code);
    if (ask->stop && atomic_load(ask->stop))
        FAIL(err, ERR_CANCELLED, NOPOS, MSG_READ_CANCELLED, arg_text("path", shown(ask)));
    bool good = r->code == 200 || r->code == 206;
    if (good && (done == CURLE_OK || h->ended)) return OK;
    /* A range after the end of an empty object. */
    if (r->code == 416 && ask->first == 0) {
        r->total_bytes = 0;
        r->ranged = true;
        return OK;
    }
    r->may_pass = done == CURLE_OK ? code_may_pass(r->code) : error_may_pass(done);
    if (done == CURLE_OK) return fail_code(ask, r, err);
    FAIL(err, ERR_IO, NOPOS, MSG_REMOTE_FAILED, arg_text("url", shown(ask)),
         arg_cstr("reason", lib.curl_easy_strerror(done)));
}

status http_get(http *h, const http_ask *ask, http_reply *reply, error *err) {
    http_reply blank = {.total_bytes = UINT64_MAX, .first = UINT64_MAX, .last = UINT64_MAX};
    *reply = blank;
    h->ask = ask;
    h->reply = reply;
    h->ended = false;
    struct curl_slist *headers = headers_of(ask);
    bool can = set_up(h, headers);
    status st = can ? judge(h, lib.curl_easy_perform(h->easy), err) : ERR_UNSUPPORTED;
    lib.curl_slist_free_all(headers);
    if (!can)
        FAIL(err, ERR_UNSUPPORTED, NOPOS, MSG_REMOTE_UNSIGNED,
             arg_cstr("version", lib.curl_version_info(CURLVERSION_FIRST)->version));
    return st;
}

/* ---- again ------------------------------------------------------------------------------- */

/* In short naps, so that a stop is noticed. */
static void wait_ms(const http_ask *ask, int64_t ms) {
    const struct timespec nap = {.tv_nsec = 20000000};
    for (int64_t slept = 0; slept < ms && !(ask->stop && atomic_load(ask->stop)); slept += 20)
        nanosleep(&nap, NULL);
}

static int64_t pause_before(http *h, int try_number, const http_reply *r) {
    if (r->wait_ms) return r->wait_ms;
    int64_t ms = min_i64(LONGEST_WAIT_MS, (int64_t)FIRST_WAIT_MS << try_number);
    return ms / 2 + rand_r(&h->seed) % (ms / 2 + 1); /* not all of a job's ranks at once */
}

status http_get_patiently(http *h, const http_ask *ask, void (*again)(void *context),
                          http_reply *reply, error *err) {
    for (int i = 0;; i++) {
        error why = {0};
        status st = http_get(h, ask, reply, &why);
        if (st == OK) return OK;
        if (!reply->may_pass || i + 1 == MOST_TRIES || st == ERR_CANCELLED)
            return error_set(err, st, why.offset, why.message, why.n_args, why.args);
        wait_ms(ask, pause_before(h, i, reply));
        again(ask->context);
    }
}
