/* remote_url.c: from what a user writes to what is asked of a server.
 *
 *     https://host/dir/x.json          as it is
 *     s3://bucket/runs/a               https://bucket.s3.REGION.amazonaws.com/runs/a, or, with
 *                                      AWS_ENDPOINT_URL, ENDPOINT/bucket/runs/a
 *     https://ACCOUNT.blob.core.windows.net/container/runs/a?TOKEN
 *
 * Keys may hold any byte: they are kept decoded and encoded when an address is made, once, in
 * the form the signature is computed over (RFC 3986, capital digits). The parts of a listing's
 * query come in alphabetical order for the same reason.
 *
 * Keys and secrets are read here and nowhere else. Without them requests go out unsigned, which
 * is right for public buckets. Nothing here talks to anybody. */
#include <stdio.h>
#include <stdlib.h>

#include "io/remote_int.h"

#define BLOB_HOST ".blob.core.windows.net"
#define PAGE_OBJECTS "1000"

bool remote_is_url(const char *path) {
    str s = str_of(path);
    return str_starts(s, STR("https://")) || str_starts(s, STR("http://")) ||
           str_starts(s, STR("s3://"));
}

static str without_query(str url) {
    return str_before(url, STR("?"));
}

str remote_shown(str url) {
    str shown = without_query(url);
    size_t host = str_find(shown, STR("://"), 0);
    host = host == SIZE_MAX ? 0 : host + 3;
    size_t slash = str_find(shown, STR("/"), host), after = host;
    for (size_t i = host; i < (slash == SIZE_MAX ? shown.n : slash); i++)
        if (shown.p[i] == '@') after = i + 1; /* a password may have one, too */
    return after == host ? shown : str_from(shown, after);
}

/* ---- encoding ---------------------------------------------------------------------------- */

static bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '-' || c == '_' || c == '.' || c == '~';
}

void remote_encode(buf *b, str text, bool path) {
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (is_plain(c) || (path && c == '/')) {
            buf_add_byte(b, c);
            continue;
        }
        char code[3] = {'%', digits[(uint8_t)c >> 4], digits[(uint8_t)c & 15]};
        buf_add(b, code, 3);
    }
}

static int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* %XX becomes a byte; anything else stays. */
static str decode(arena *a, str text) {
    char *to = arena_alloc(a, text.n + 1);
    size_t n = 0;
    if (!to) return STR_NONE;
    for (size_t i = 0; i < text.n; i++) {
        int high = i + 2 < text.n && text.p[i] == '%' ? digit_of(text.p[i + 1]) : -1;
        int low = high >= 0 ? digit_of(text.p[i + 2]) : -1;
        bool coded = low >= 0;
        to[n++] = coded ? (char)(uint8_t)(high * 16 + low) : text.p[i];
        if (coded) i += 2;
    }
    to[n] = 0;
    return str_n(to, n);
}

/* ---- keys -------------------------------------------------------------------------------- */

static str variable(const char *name) {
    const char *value = getenv(name);
    return str_of(value ? value : "");
}

static str first_variable(const char *name, const char *other) {
    str value = variable(name);
    return value.n ? value : variable(other);
}

/* The value of `name = value` lines in the section [profile] of the shared credentials file. */
static str find_in_section(str text, str profile, str name) {
    bool inside = false;
    for (size_t at = 0; at < text.n;) {
        size_t end = str_find(text, STR("\n"), at);
        if (end == SIZE_MAX) end = text.n;
        str line = str_trim(str_n(text.p + at, end - at));
        at = end + 1;
        if (line.n > 2 && line.p[0] == '[' && line.p[line.n - 1] == ']') {
            inside = str_eq(str_trim(str_n(line.p + 1, line.n - 2)), profile);
            continue;
        }
        size_t equals = str_find(line, STR("="), 0);
        if (!inside || equals == SIZE_MAX) continue;
        if (str_eq_nocase(str_trim(str_n(line.p, equals)), name))
            return str_trim(str_from(line, equals + 1));
    }
    return STR("");
}

static str read_credentials(arena *a) {
    enum { MOST_BYTES = 64 << 10 };
    str path = variable("AWS_SHARED_CREDENTIALS_FILE");
    if (!path.n) path = arena_printf(a, "%s/.aws/credentials", variable("HOME").p);
    char *text = arena_alloc(a, MOST_BYTES);
    FILE *f = path.p && text ? fopen(path.p, "re") : NULL;
    if (!f) return STR("");
    size_t n = fread(text, 1, MOST_BYTES, f);
    (void)fclose(f);
    return str_n(text, n);
}

static status set_keys(arena *a, remote_place *p, error *err) {
    p->access_key = variable("AWS_ACCESS_KEY_ID");
    p->secret_key = variable("AWS_SECRET_ACCESS_KEY");
    p->session_token = variable("AWS_SESSION_TOKEN");
    p->region = first_variable("AWS_REGION", "AWS_DEFAULT_REGION");
    if (!p->region.n) p->region = STR("us-east-1");
    if (p->access_key.n && p->secret_key.n) return OK;
    str profile = variable("AWS_PROFILE"), file = read_credentials(a);
    if (!profile.n) profile = STR("default");
    p->access_key = arena_str(a, find_in_section(file, profile, STR("aws_access_key_id")));
    p->secret_key = arena_str(a, find_in_section(file, profile, STR("aws_secret_access_key")));
    p->session_token = arena_str(a, find_in_section(file, profile, STR("aws_session_token")));
    if (!p->access_key.p || !p->secret_key.p || !p->session_token.p) FAIL_MEMORY(err);
    return OK;
}

/* ---- places ------------------------------------------------------------------------------ */

static str without_slash(str s) {
    while (s.n && s.p[s.n - 1] == '/') s.n--;
    return s;
}

static status refuse(const char *url, error *err) {
    FAIL(err, ERR_ARG, NOPOS, MSG_REMOTE_URL, arg_text("url", remote_shown(str_of(url))));
}

static status place_of_s3(arena *a, const char *url, remote_place *p, error *err) {
    str rest = str_from(str_of(url), strlen("s3://"));
    size_t slash = str_find(rest, STR("/"), 0);
    str bucket = slash == SIZE_MAX ? rest : str_n(rest.p, slash);
    if (!bucket.n || str_find(bucket, STR("?"), 0) != SIZE_MAX) return refuse(url, err);
    for (size_t i = 0; i < bucket.n; i++)
        if (!is_plain(bucket.p[i])) return refuse(url, err);
    TRY(set_keys(a, p, err));
    str endpoint = without_slash(first_variable("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"));
    p->kind = REMOTE_S3;
    p->root = arena_printf(a, "s3://%.*s", STR_ARG(bucket));
    p->address = endpoint.n ? arena_printf(a, "%.*s/%.*s", STR_ARG(endpoint), STR_ARG(bucket))
                            : arena_printf(a, "https://%.*s.s3.%.*s.amazonaws.com",
                                           STR_ARG(bucket), STR_ARG(p->region));
    /* Keys of s3:// URLs are written as they are. */
    p->key = arena_str(a, slash == SIZE_MAX ? STR("") : str_from(rest, slash + 1));
    p->query = STR("");
    if (!p->root.p || !p->address.p || !p->key.p) FAIL_MEMORY(err);
    return OK;
}

static status place_of_blob(arena *a, str shown, str host_end, remote_place *p, error *err) {
    size_t slash = str_find(host_end, STR("/"), 1);
    size_t n_root = slash == SIZE_MAX ? shown.n : (size_t)(host_end.p + slash - shown.p);
    str root = without_slash(str_n(shown.p, n_root)), local = variable("TACHO_BLOB_ENDPOINT");
    str container = str_trim(str_from(root, (size_t)(host_end.p - shown.p) + 1));
    if (!container.n) FAIL(err, ERR_ARG, NOPOS, MSG_REMOTE_URL, arg_text("url", shown));
    p->kind = REMOTE_BLOB;
    p->root = arena_str(a, root);
    p->address = local.n ? arena_printf(a, "%.*s/%.*s", STR_ARG(without_slash(local)),
                                        STR_ARG(container))
                         : p->root;
    p->key = decode(a, slash == SIZE_MAX ? STR("") : str_from(host_end, slash + 1));
    if (!p->query.n) p->query = variable("AZURE_STORAGE_SAS_TOKEN");
    if (p->query.n && p->query.p[0] == '?') p->query = str_from(p->query, 1);
    p->query = arena_str(a, p->query);
    if (!p->root.p || !p->address.p || !p->key.p || !p->query.p) FAIL_MEMORY(err);
    return OK;
}

status remote_place_of(arena *a, const char *url, remote_place *out, error *err) {
    remote_place p = {.kind = REMOTE_PLAIN,
                      .key = STR(""),
                      .region = STR(""),
                      .access_key = STR(""),
                      .secret_key = STR(""),
                      .session_token = STR("")};
    str whole = str_of(url), shown = without_query(whole);
    for (size_t i = 0; i < whole.n; i++)
        if (whole.p[i] < ' ' || whole.p[i] == 0x7f) return refuse(url, err);
    if (str_starts(whole, STR("s3://"))) {
        TRY(place_of_s3(a, url, &p, err));
    } else {
        size_t host = str_find(shown, STR("://"), 0) + 3,
               slash = str_find(shown, STR("/"), host);
        str end = slash == SIZE_MAX ? str_n(shown.p + shown.n, 0) : str_from(shown, slash);
        str name = str_n(shown.p + host, (size_t)(end.p - shown.p) - host);
        if (!name.n) return refuse(url, err);
        p.query = shown.n < whole.n ? arena_str(a, str_from(whole, shown.n + 1)) : STR("");
        p.root = p.address = arena_str(a, shown);
        if (!p.query.p || !p.root.p) FAIL_MEMORY(err);
        if (str_ends(name, STR(BLOB_HOST)) && end.n > 1)
            TRY(place_of_blob(a, shown, end, &p, err));
    }
    *out = p;
    return OK;
}

/* ---- addresses --------------------------------------------------------------------------- */

static str keep(arena *a, buf *b) {
    str made = buf_ok(b) ? arena_str(a, b->n ? buf_str(b) : STR("")) : STR_NONE;
    buf_fini(b);
    return made;
}

static void add_query(buf *b, const remote_place *p, char mark) {
    if (!p->query.n) return;
    buf_add_byte(b, mark);
    buf_add_str(b, p->query);
}

str remote_address(arena *a, const remote_place *p, str key) {
    buf b = {0};
    buf_add_str(&b, p->address);
    if (p->kind != REMOTE_PLAIN) {
        buf_add_byte(&b, '/');
        remote_encode(&b, key, true);
    }
    add_query(&b, p, '?');
    return keep(a, &b);
}

str remote_url_of(arena *a, const remote_place *p, str key) {
    buf b = {0};
    buf_add_str(&b, p->root);
    if (p->kind != REMOTE_PLAIN) buf_add_byte(&b, '/');
    if (p->kind == REMOTE_BLOB) remote_encode(&b, key, true);
    if (p->kind == REMOTE_S3) buf_add_str(&b, key);
    add_query(&b, p, '?');
    return keep(a, &b);
}

str remote_key_of(arena *a, const remote_place *p, str key) {
    str root = p->root;
    size_t scheme = str_find(root, STR("://"), 0);
    if (scheme != SIZE_MAX) root = str_from(root, scheme + 3);
    if (p->kind == REMOTE_PLAIN) return decode(a, root);
    return arena_printf(a, "%.*s/%.*s", STR_ARG(root), STR_ARG(key));
}

str remote_list_address(arena *a, const remote_place *p, str prefix, str from) {
    buf b = {0};
    buf_add_str(&b, p->address);
    if (p->kind == REMOTE_S3) {
        buf_add_cstr(&b, "/?");
        if (from.n) {
            buf_add_cstr(&b, "continuation-token=");
            remote_encode(&b, from, false);
            buf_add_byte(&b, '&');
        }
        buf_add_cstr(&b, "list-type=2&max-keys=" PAGE_OBJECTS "&prefix=");
        remote_encode(&b, prefix, false);
    } else {
        buf_add_cstr(&b, "?restype=container&comp=list&maxresults=" PAGE_OBJECTS "&prefix=");
        remote_encode(&b, prefix, false);
        if (from.n) {
            buf_add_cstr(&b, "&marker=");
            remote_encode(&b, from, false);
        }
        add_query(&b, p, '&');
    }
    return keep(a, &b);
}
