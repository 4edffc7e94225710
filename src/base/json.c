/* json.c: lenient reading of small JSON; see the header. Iterative throughout: a file of a
 * million opening brackets costs memory for none of them. */
#include "base/json.h"

#include "base/bytes16.h"
#include "base/num.h"

#define MAX_DEPTH 1000

/* Bytes that end a bare word. */
static const bool ENDS_WORD[256] = {[','] = 1, ['}'] = 1,  [']'] = 1,  [':'] = 1, ['"'] = 1,
                                    [' '] = 1, ['\n'] = 1, ['\r'] = 1, ['\t'] = 1};

/* From p on, with `depth` brackets open and outside of strings, byte by byte. */
static const char *count_brackets(const char *p, const char *end, size_t depth) {
    for (; p < end; p++) {
        if (*p == '"') {
            p = json_string_end(p + 1, end);
            if (!p) return NULL;
        } else if (*p == '{' || *p == '[') {
            depth++;
        } else if ((*p == '}' || *p == ']') && --depth == 0) {
            return p + 1;
        }
    }
    return NULL;
}

#ifdef BYTES16
/* Which of 64 bytes are what, the first in the lowest bit. [ and { differ in one bit, so do ]
 * and }. */
typedef struct {
    uint64_t quotes, backslashes, open, close;
} block_bits;

static inline uint64_t equal_64(const bytes16 v[4], char c) {
    return bytes16_bits(bytes16_equal(v[0], c), bytes16_equal(v[1], c), bytes16_equal(v[2], c),
                        bytes16_equal(v[3], c));
}

static inline block_bits look_at_block(const char *p) {
    bytes16 v[4] = {bytes16_load(p), bytes16_load(p + 16), bytes16_load(p + 32),
                    bytes16_load(p + 48)};
    bytes16 f[4] = {bytes16_set(v[0], 0x20), bytes16_set(v[1], 0x20), bytes16_set(v[2], 0x20),
                    bytes16_set(v[3], 0x20)};
    return (block_bits){equal_64(v, '"'), equal_64(v, '\\'), equal_64(f, '{'),
                        equal_64(f, '}')};
}

/* Every bit between an odd and an even one: the exclusive or of all below it and itself. */
static inline uint64_t between(uint64_t quotes) {
    quotes ^= quotes << 1;
    quotes ^= quotes << 2;
    quotes ^= quotes << 4;
    quotes ^= quotes << 8;
    quotes ^= quotes << 16;
    return quotes ^ quotes << 32;
}

/* The position of the walk in a value. */
typedef struct {
    size_t depth;
    const char *next; /* bytes before it are done with: one comes after a backslash */
    bool inside;      /* a string */
} value_walk;

/* A block with backslashes, or one that begins after one: byte by byte that matters. */
static const char *walk_odd_block(const char *p, const block_bits *b, value_walk *w) {
    uint64_t found = b->quotes | b->backslashes | b->open | b->close;
    for (; found; found &= found - 1) {
        const char *at = p + __builtin_ctzll(found);
        char c = *at;
        if (at < w->next) continue;
        if (c == '"') {
            w->inside = !w->inside;
        } else if (w->inside) {
            if (c == '\\') w->next = at + 2;
        } else if (c == '{' || c == '[') {
            w->depth++;
        } else if (c != '\\' && --w->depth == 0) {
            return at + 1;
        }
    }
    return NULL;
}

/* Goes through blocks of 64 bytes; one past the value's end when it is in one of them.
 * Otherwise *p is the first byte not looked at. */
WRAPS static const char *walk_blocks(const char **p, const char *end, value_walk *w) {
    for (; end - *p >= 64; *p += 64) {
        block_bits b = look_at_block(*p);
        if (__builtin_expect(b.backslashes != 0 || w->next > *p, 0)) {
            const char *found = walk_odd_block(*p, &b, w);
            if (found) return found;
            continue;
        }
        uint64_t inside = between(b.quotes) ^ (w->inside ? UINT64_MAX : 0);
        w->inside = inside >> 63;
        uint64_t open = b.open & ~inside;
        for (uint64_t both = (b.open | b.close) & ~inside; both; both &= both - 1) {
            w->depth += open & both & (0 - both) ? 1 : SIZE_MAX;
            if (w->depth == 0) return *p + __builtin_ctzll(both) + 1;
        }
    }
    return NULL;
}

/* One past the bracket that closes the outermost of `depth` open ones. */
static const char *brackets_end(const char *p, const char *end, size_t depth) {
    value_walk w = {.depth = depth, .next = p};
    const char *found = walk_blocks(&p, end, &w);
    if (found) return found;
    if (w.next > end) return NULL; /* a backslash at the very end */
    if (w.next > p) p = w.next;
    if (w.inside) {
        p = json_string_end(p, end);
        if (!p) return NULL;
        p++;
    }
    return count_brackets(p, end, w.depth);
}

/* A quote or a backslash at p or after it; where there are no 16 bytes left, p may be
 * neither. */
static inline const char *skip_text(const char *p, const char *end) {
    for (; end - p >= 16; p += 16) {
        bytes16 v = bytes16_load(p);
        uint64_t found =
            bytes16_marks(bytes16_or(bytes16_equal(v, '"'), bytes16_equal(v, '\\')));
        if (found) return p + bytes16_first(found);
    }
    return p;
}
#else
static const char *brackets_end(const char *p, const char *end, size_t depth) {
    return count_brackets(p, end, depth);
}

static inline const char *skip_text(const char *p, const char *end) {
    (void)end;
    return p;
}
#endif

const char *json_string_end(const char *p, const char *end) {
    for (; p < end; p++) {
        p = skip_text(p, end);
        if (p == end) break;
        if (*p == '"') return p;
        if (*p == '\\') p++;
    }
    return NULL;
}

static inline const char *scalar_end(const char *p, const char *end) {
    if (*p == '"') {
        p = json_string_end(p + 1, end);
        return p ? p + 1 : NULL;
    }
    const char *word = p;
    while (p < end && !ENDS_WORD[(uint8_t)*p]) p++;
    return p == word ? NULL : p;
}

const char *json_value_end(const char *p, const char *end) {
    if (p >= end) return NULL;
    return *p == '{' || *p == '[' ? brackets_end(p, end, 0) : scalar_end(p, end);
}

const char *json_close(const char *p, const char *end) {
    return brackets_end(p, end, 1);
}

const char *json_value_end_bytes(const char *p, const char *end) {
    if (p >= end) return NULL;
    return *p == '{' || *p == '[' ? count_brackets(p, end, 0) : scalar_end(p, end);
}

bool utf8_valid(str s) {
    const uint8_t *p = (const uint8_t *)s.p, *end = p + s.n;
    while (p < end) {
        if (*p < 0x80) {
            p++;
            continue;
        }
        int more = *p >= 0xC2 && *p <= 0xDF   ? 1
                   : (*p & 0xF0) == 0xE0      ? 2
                   : *p >= 0xF0 && *p <= 0xF4 ? 3
                                              : 0;
        if (more == 0 || end - p <= more) return false;
        if ((*p == 0xE0 && p[1] < 0xA0) || (*p == 0xED && p[1] > 0x9F) ||
            (*p == 0xF0 && p[1] < 0x90) || (*p == 0xF4 && p[1] > 0x8F))
            return false;
        for (int i = 1; i <= more; i++)
            if ((p[i] & 0xC0) != 0x80) return false;
        p += more + 1;
    }
    return true;
}

static int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Four hex digits at p, or -1. */
static int32_t hex4(const char *p, const char *end) {
    if (end - p < 4) return -1;
    int32_t v = 0;
    for (int i = 0; i < 4; i++) {
        int h = hex_value(p[i]);
        if (h < 0) return -1;
        v = v * 16 + h;
    }
    return v;
}

static void add_utf8(buf *out, uint32_t c) {
    char b[4];
    size_t n = 0;
    if (c < 0x80) {
        b[n++] = (char)c;
    } else if (c < 0x800) {
        b[n++] = (char)(0xC0 | c >> 6);
        b[n++] = (char)(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        b[n++] = (char)(0xE0 | c >> 12);
        b[n++] = (char)(0x80 | (c >> 6 & 0x3F));
        b[n++] = (char)(0x80 | (c & 0x3F));
    } else {
        b[n++] = (char)(0xF0 | c >> 18);
        b[n++] = (char)(0x80 | (c >> 12 & 0x3F));
        b[n++] = (char)(0x80 | (c >> 6 & 0x3F));
        b[n++] = (char)(0x80 | (c & 0x3F));
    }
    buf_add(out, b, n);
}

/* \uXXXX with surrogate pairs; p is after the u. Returns one past what was used, NULL if
 * none. */
static const char *decode_unicode(const char *p, const char *end, buf *out) {
    int32_t c = hex4(p, end);
    if (c < 0) return NULL;
    p += 4;
    if (c >= 0xD800 && c < 0xDC00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u') {
        int32_t low = hex4(p + 2, end);
        if (low >= 0xDC00 && low < 0xE000) {
            c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
            p += 6;
        }
    }
    add_utf8(out, c >= 0xD800 && c < 0xE000 ? 0xFFFD : (uint32_t)c);
    return p;
}

unsigned json_decode(str inside, buf *out) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    unsigned flags = 0;
    if (!inside.n) return 0; /* and perhaps no pointer */
    const char *p = inside.p, *end = p + inside.n;
    while (p < end) {
        const char *stop = memchr(p, '\\', (size_t)(end - p));
        size_t n = (size_t)((stop ? stop : end) - p);
        for (size_t i = 0; i < n; i++)
            if ((uint8_t)p[i] < 0x20) flags |= JSON_CONTROL;
        buf_add(out, p, n);
        if (!stop) break;
        p = stop + 1;
        const char *known = p < end && *p ? strchr(from, *p) : NULL;
        if (known) {
            buf_add_byte(out, to[known - from]);
            p++;
        } else {
            const char *next = p < end && *p == 'u' ? decode_unicode(p + 1, end, out) : NULL;
            if (next) {
                p = next;
            } else { /* the backslash of a Windows path: it means itself */
                flags |= JSON_BAD_ESCAPE;
                buf_add_byte(out, '\\');
            }
        }
    }
    return flags;
}

/* A bare word or number, as JSON. */
static unsigned add_word(str word, buf *out) {
    if (str_eq(word, STR("true")) || str_eq(word, STR("false")) || str_eq(word, STR("null"))) {
        buf_add_str(out, word);
        return 0;
    }
    const char *p = word.p, *end = p + word.n;
    if (p < end && *p == '-') p++;
    const char *digits = p;
    while (p < end && *p >= '0' && *p <= '9') p++;
    bool good = p > digits && (p == digits + 1 || *digits != '0');
    if (good && p < end && *p == '.') {
        digits = ++p;
        while (p < end && *p >= '0' && *p <= '9') p++;
        good = p > digits;
    }
    if (good && p < end && (*p == 'e' || *p == 'E')) {
        if (++p < end && (*p == '+' || *p == '-')) p++;
        digits = p;
        while (p < end && *p >= '0' && *p <= '9') p++;
        good = p > digits;
    }
    if (good && p == end) {
        buf_add_str(out, word);
        return 0;
    }
    buf_add_json(out, word);
    return JSON_BAD_LITERAL;
}

/* A string with its quotes, rewritten only when it needs it. */
static unsigned add_string(str inside, buf *out) {
    bool plain = memchr(inside.p, '\\', inside.n) == NULL;
    for (size_t i = 0; plain && i < inside.n; i++) plain = (uint8_t)inside.p[i] >= 0x20;
    if (plain && utf8_valid(inside)) {
        buf_add_byte(out, '"');
        buf_add_str(out, inside);
        buf_add_byte(out, '"');
        return 0;
    }
    buf decoded = {0};
    unsigned flags = json_decode(inside, &decoded);
    if (!utf8_valid(buf_str(&decoded))) flags |= JSON_BAD_UTF8;
    buf_add_json(out, buf_str(&decoded));
    if (!buf_ok(&decoded)) out->failed = true;
    buf_fini(&decoded);
    return flags;
}

/* The state of json_normal: which brackets are open and what may come next. */
typedef struct {
    const char *p, *end;
    buf *out;
    unsigned flags, depth;
    uint8_t object[MAX_DEPTH / 8 + 1];
    bool want_value; /* after a comma, colon or opening bracket */
    bool want_key;
    bool comma; /* a comma was read and not yet written */
} normalizer;

static bool in_object(const normalizer *z) {
    return z->depth > 0 && (z->object[(z->depth - 1) / 8] >> (z->depth - 1) % 8 & 1);
}

static void write_pending_comma(normalizer *z) {
    if (z->comma) buf_add_cstr(z->out, ", ");
    z->comma = false;
}

/* One token; false when the text is broken here. */
static bool normalize_token(normalizer *z) {
    char c = *z->p;
    if (c == ',' && !z->comma && !z->want_key && !z->want_value && z->depth > 0) {
        z->comma = true;
        z->want_key = in_object(z);
        z->want_value = !z->want_key;
        z->p++;
        return true;
    }
    /* After a colon there must be a value; after a bracket or a comma the end may come. */
    bool closes = c == '}' ? !z->want_value : c == ']';
    if (closes && z->depth > 0 && in_object(z) == (c == '}')) {
        if (z->comma) z->flags |= JSON_TRAILING_COMMA;
        z->comma = z->want_key = z->want_value = false;
        z->depth--;
        buf_add_byte(z->out, c);
        z->p++;
        return true;
    }
    if (z->want_key) {
        const char *close = c == '"' ? json_string_end(z->p + 1, z->end) : NULL;
        const char *colon = close ? json_space(close + 1, z->end) : NULL;
        if (!colon || colon == z->end || *colon != ':') return false;
        write_pending_comma(z);
        z->flags |= add_string(str_n(z->p + 1, (size_t)(close - z->p - 1)), z->out);
        buf_add_cstr(z->out, ": ");
        z->p = colon + 1;
        z->want_key = false;
        z->want_value = true;
        return true;
    }
    if (!z->want_value) return false;
    write_pending_comma(z);
    z->want_value = false;
    if (c == '{' || c == '[') {
        if (z->depth == MAX_DEPTH) {
            z->flags |= JSON_TOO_DEEP;
            return false;
        }
        unsigned bit = z->depth % 8;
        uint8_t *at = &z->object[z->depth / 8];
        *at = (uint8_t)((*at & ~(1u << bit)) | (c == '{' ? 1u << bit : 0));
        z->depth++;
        z->want_key = c == '{';
        z->want_value = c == '[';
        buf_add_byte(z->out, c);
        z->p++;
        return true;
    }
    const char *stop = json_value_end(z->p, z->end);
    if (!stop) return false;
    if (c == '"')
        z->flags |= add_string(str_n(z->p + 1, (size_t)(stop - z->p - 2)), z->out);
    else
        z->flags |= add_word(str_n(z->p, (size_t)(stop - z->p)), z->out);
    z->p = stop;
    return true;
}

unsigned json_normal(str text, buf *out) {
    size_t start = out->n;
    if (!text.p) text = STR("");
    normalizer z = {.p = text.p, .end = text.p + text.n, .out = out, .want_value = true};
    for (z.p = json_space(z.p, z.end); z.p < z.end; z.p = json_space(z.p, z.end))
        if (!normalize_token(&z)) {
            z.flags |= JSON_BROKEN;
            break;
        }
    if (z.depth > 0 || z.want_value || z.want_key) z.flags |= JSON_BROKEN;
    if (z.flags & JSON_BROKEN) {
        if (out->n > start) out->n = start;
        buf_add_json(out, text);
    }
    return z.flags;
}

json_iter json_open(str text) {
    if (!text.p) text = STR(""); /* a missing member has no text */
    json_iter it = {json_space(text.p, text.p + text.n), text.p + text.n, false};
    if (it.p < it.end && (*it.p == '{' || *it.p == '[')) {
        it.object = *it.p == '{';
        it.p++;
    } else {
        it.p = it.end;
    }
    return it;
}

bool json_key(json_iter *it, str *key) {
    const char *p = it->p, *end = it->end;
    while (p < end && (json_is_space(*p) || *p == ',')) p++;
    it->p = p;
    if (p == end || *p == '}' || *p == ']') return false;
    *key = STR("");
    if (it->object) {
        if (*p != '"') return false;
        const char *close = json_string_end(p + 1, end);
        if (!close) return false;
        *key = str_n(p + 1, (size_t)(close - p - 1));
        p = json_space(close + 1, end);
        if (p == end || *p != ':') return false;
        p = json_space(p + 1, end);
    }
    it->p = p;
    return p < end;
}

bool json_next(json_iter *it, str *key, str *value) {
    json_iter at = *it;
    str k;
    if (!json_key(&at, &k)) return false;
    const char *stop = json_value_end(at.p, at.end);
    if (!stop) return false;
    *key = k;
    *value = str_n(at.p, (size_t)(stop - at.p));
    it->p = stop;
    return true;
}

str json_member(str object, str key) {
    json_iter it = json_open(object);
    str k, v;
    while (json_next(&it, &k, &v))
        if (str_eq(k, key)) return v;
    return STR_NONE;
}

str json_text(str value) {
    if (value.n >= 2 && value.p[0] == '"' && value.p[value.n - 1] == '"')
        return str_n(value.p + 1, value.n - 2);
    return value;
}

bool json_i64(str value, int64_t *out) {
    return str_to_i64(json_text(value), out);
}

bool json_f64(str value, double *out) {
    return str_to_f64(json_text(value), out);
}
