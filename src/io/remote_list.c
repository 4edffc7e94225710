/* remote_list.c: reads what an object store answers when asked what it has.
 *
 * Both answers are XML, and of XML little is needed: elements without attributes that matter,
 * text with five named and the numbered entities. So this is a scan for tags that keeps the
 * texts of the names it knows:
 *
 *     S3     <Contents><Key>k</Key><LastModified>t</LastModified><ETag>e</ETag><Size>n</Size>…
 *            <NextContinuationToken>…</NextContinuationToken>
 *     Blob   <Blob><Name>k</Name>…<Properties><Last-Modified>t</…><Etag>…<Content-Length>n</…>
 *            <NextMarker>…</NextMarker>
 *
 * It forgives what it does not know and refuses only a text that is not a listing at all: a
 * proxy's page of HTML must not look like an empty bucket. */
#include <stdio.h>
#include <time.h>

#include "base/vec.h"
#include "io/remote_int.h"

typedef struct {
    arena *a;
    vec objects; /* listed */
    remote_entry now;
    bool inside; /* an object's element */
    str next;
    bool known; /* it is a listing */
    bool failed;
} scan;

/* ---- text -------------------------------------------------------------------------------- */

static size_t put_utf8(char *to, uint32_t c) {
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xC0 | c >> 6);
        to[1] = (char)(0x80 | (c & 63));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (char)(0xE0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 63));
        to[2] = (char)(0x80 | (c & 63));
        return 3;
    }
    to[0] = (char)(0xF0 | c >> 18);
    to[1] = (char)(0x80 | (c >> 12 & 63));
    to[2] = (char)(0x80 | (c >> 6 & 63));
    to[3] = (char)(0x80 | (c & 63));
    return 4;
}

/* The character of an entity such as "amp" or "#x2F"; UINT32_MAX when it is not one. */
static uint32_t entity(str name) {
    static const struct {
        const char *name;
        char c;
    } named[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (str_eq(name, str_of(named[i].name))) return (uint8_t)named[i].c;
    if (name.n < 2 || name.p[0] != '#') return UINT32_MAX;
    bool hex = name.p[1] == 'x';
    uint32_t v = 0;
    size_t i = hex ? 2 : 1;
    for (; i < name.n && v < 0x110000; i++) {
        char c = name.p[i], low = (char)(c | 0x20);
        int d = c >= '0' && c <= '9'              ? c - '0'
                : hex && low >= 'a' && low <= 'f' ? low - 'a' + 10
                                                  : -1;
        if (d < 0) return UINT32_MAX;
        v = v * (hex ? 16 : 10) + (uint32_t)d;
    }
    return i == 1 + (size_t)hex || v == 0 || v >= 0x110000 ? UINT32_MAX : v;
}

/* The text between two tags, entities replaced. An entity is longer than what it stands for. */
static str own_text(scan *s, str raw) {
    char *to = arena_alloc(s->a, raw.n + 1);
    size_t n = 0;
    s->failed |= !to;
    for (size_t i = 0; to && i < raw.n; i++) {
        size_t end = raw.p[i] == '&'
                         ? str_find(str_n(raw.p, raw.n < i + 12 ? raw.n : i + 12), STR(";"), i)
                         : SIZE_MAX;
        uint32_t c = end != SIZE_MAX ? entity(str_n(raw.p + i + 1, end - i - 1)) : UINT32_MAX;
        if (c == UINT32_MAX) {
            to[n++] = raw.p[i];
            continue;
        }
        n += put_utf8(to + n, c);
        i = end;
    }
    if (!to) return STR("");
    to[n] = 0;
    return str_n(to, n);
}

/* 2024-05-01T12:00:00.000Z or Wed, 01 May 2024 12:00:00 GMT; 0 when it is neither. */
static int64_t time_of(str text) {
    char copy[48];
    struct tm tm = {0};
    if (text.n >= sizeof copy) return 0;
    memcpy(copy, text.p, text.n);
    copy[text.n] = 0;
    if (!strptime(copy, "%Y-%m-%dT%H:%M:%S", &tm) &&
        !strptime(copy, "%a, %d %b %Y %H:%M:%S", &tm))
        return 0;
    time_t t = timegm(&tm);
    return t > 0 && t < (time_t)1 << 33 ? (int64_t)t * 1000000000 : 0;
}

/* ---- tags -------------------------------------------------------------------------------- */

static void end_object(scan *s) {
    remote_entry *to = s->now.key.n ? vec_push(&s->objects) : NULL;
    if (to) *to = s->now;
    s->failed |= s->now.key.n && !to;
    s->inside = false;
}

static void take_text(scan *s, str tag, str raw) {
    int64_t size;
    if (!s->inside) {
        if (str_eq(tag, STR("NextContinuationToken")) || str_eq(tag, STR("NextMarker")))
            s->next = own_text(s, raw);
        return;
    }
    if (str_eq(tag, STR("Key")) || str_eq(tag, STR("Name"))) s->now.key = own_text(s, raw);
    if (str_eq_nocase(tag, STR("ETag"))) s->now.tag = own_text(s, raw);
    if (str_eq(tag, STR("LastModified")) || str_eq(tag, STR("Last-Modified")))
        s->now.mtime_ns = time_of(str_trim(raw));
    if (str_eq(tag, STR("Size")) || str_eq(tag, STR("Content-Length")))
        if (str_to_i64(str_trim(raw), &size) && size > 0) s->now.size_bytes = (uint64_t)size;
}

static bool is_object(str tag) {
    return str_eq(tag, STR("Contents")) || str_eq(tag, STR("Blob"));
}

/* The name in <name attributes> or </name>. */
static str name_of(str inside) {
    size_t from = inside.n && inside.p[0] == '/', n = 0;
    while (from + n < inside.n && !strchr(" \t\r\n/", inside.p[from + n])) n++;
    return str_n(inside.p + from, n);
}

static void take_tag(scan *s, str inside, str *open, const char **text) {
    str name = name_of(inside);
    bool closes = inside.n && inside.p[0] == '/';
    s->known |=
        str_eq(name, STR("ListBucketResult")) || str_eq(name, STR("EnumerationResults"));
    if (!closes) {
        if (is_object(name)) {
            s->now = (remote_entry){.key = STR(""), .tag = STR("")};
            s->inside = true;
        }
        *open = name;
        *text = inside.p + inside.n + 1;
        return;
    }
    if (str_eq(name, *open)) take_text(s, name, str_n(*text, (size_t)(inside.p - 1 - *text)));
    if (is_object(name) && s->inside) end_object(s);
    *open = STR_NONE;
}

status listing_parse(arena *a, str xml, listing *out, error *err) {
    scan s = {.a = a, .objects = VEC_INIT(remote_entry), .next = STR("")};
    str open = STR_NONE;
    const char *text = xml.p;
    for (size_t at = 0; (at = str_find(xml, STR("<"), at)) != SIZE_MAX && !s.failed;) {
        size_t end = str_find(xml, STR(">"), at);
        if (end == SIZE_MAX) break;
        take_tag(&s, str_n(xml.p + at + 1, end - at - 1), &open, &text);
        at = end + 1;
    }
    remote_entry *v = ARENA_ARRAY(a, remote_entry, s.objects.n + 1);
    if (v && s.objects.n) memcpy(v, s.objects.p, s.objects.n * sizeof *v);
    size_t n = s.objects.n;
    vec_fini(&s.objects);
    if (s.failed || !v) FAIL_MEMORY(err);
    if (!s.known) FAIL0(err, ERR_FORMAT, NOPOS, MSG_REMOTE_LISTING);
    *out = (listing){v, n, s.next};
    return OK;
}
