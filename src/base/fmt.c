/* fmt.c: three significant digits and a unit, and reading the same from a command line.
 *
 * A measured value is scaled by a table of units. Rounding happens on the scaled value, and a
 * value that rounds up to the next unit moves there: 999.6 µs is 1.00 ms, never 1000 µs.
 * Durations and sizes are scaled in integers, so the digit shown is right for every int64_t;
 * halves round up.
 *
 * Parsing gathers the digits in 128 bits: 1234567890.123456789s is exact to the nanosecond. */
#include "base/fmt.h"

#include <math.h>

#include "base/div128.h"
#include "base/num.h"

typedef struct {
    const char *name;
    int64_t size; /* in the base unit */
} unit;

/* One step of the scale: `unit` is used while the value, rounded, is below `below` of it; the
 * last one, where that is 0, takes all that is left. */
typedef struct {
    unit unit;
    int64_t below;
} scale;

static const scale duration_scale[] = {
    {{"ns", 1}, 1000},         {{"µs", 1000}, 1000},        {{"ms", 1000000}, 1000},
    {{"s", 1000000000}, 1000}, {{"min", 60000000000}, 100}, {{"h", 3600000000000}, 0},
};
static const scale bytes_scale[] = {
    {{"B", 1}, 1024},
    {{"KiB", (int64_t)1 << 10}, 1024},
    {{"MiB", (int64_t)1 << 20}, 1024},
    {{"GiB", (int64_t)1 << 30}, 1024},
    {{"TiB", (int64_t)1 << 40}, 1024},
    {{"PiB", (int64_t)1 << 50}, 1024},
    {{"EiB", (int64_t)1 << 60}, 0},
};

static void add_grouped(buf *b, uint64_t v) {
    char text[32];
    size_t at = sizeof text;
    int digits = 0;
    do {
        if (digits && digits % 3 == 0) text[--at] = ',';
        text[--at] = (char)('0' + v % 10);
        v /= 10;
        digits++;
    } while (v);
    buf_add(b, text + at, sizeof text - at);
}

/* v / size to three significant digits: hundredths, tenths or whole; v ≥ size. */
static void add_three_digits(buf *b, uint64_t v, uint64_t size) {
    for (int decimals = 2; decimals > 0; decimals--) {
        unsigned shift = decimals == 2 ? 100 : 10;
        uint64_t rest;
        unsigned __int128 scaled =
            div_u128((unsigned __int128)v * shift + size / 2, size, &rest);
        if (scaled >= 1000) continue;
        unsigned n = (unsigned)scaled;
        buf_printf(b, "%u.%0*u", n / shift, decimals, n % shift);
        return;
    }
    add_grouped(b, (v + size / 2) / size);
}

static void add_scaled(buf *b, int64_t value, const scale *steps) {
    uint64_t v = abs_u64(value);
    if (value < 0) buf_add_byte(b, '-');
    for (;; steps++) {
        uint64_t size = (uint64_t)steps->unit.size;
        /* In halves of the unit: what rounds to `below` belongs to the next one. */
        unsigned __int128 edge =
            steps->below ? ((unsigned __int128)steps->below * 2 - 1) * size : 0;
        if (steps->below && (unsigned __int128)v * 2 >= edge) continue;
        if (size == 1) {
            buf_add_u64(b, v);
        } else {
            add_three_digits(b, v, size);
        }
        buf_add_byte(b, ' ');
        buf_add_cstr(b, steps->unit.name);
        return;
    }
}

void fmt_duration(buf *b, int64_t ns) {
    add_scaled(b, ns, duration_scale);
}

void fmt_bytes(buf *b, int64_t bytes) {
    add_scaled(b, bytes, bytes_scale);
}

void fmt_count(buf *b, int64_t n) {
    if (n < 0) buf_add_byte(b, '-');
    add_grouped(b, abs_u64(n));
}

void fmt_share(buf *b, double share) {
    if (!isfinite(share)) {
        buf_add_byte(b, '-');
        return;
    }
    buf_printf(b, "%.1f %%", fabs(share) < 0.0005 ? 0.0 : share * 100); /* no -0.0 */
}

void fmt_real(buf *b, double v) {
    double size = fabs(v);
    if (!isfinite(v)) {
        buf_add_byte(b, '-');
    } else if (size < 1e15 && (size >= 999.5 || v == trunc(v))) {
        fmt_count(b, round_i64(v));
    } else if (size >= 1e15 || size < 1e-4) {
        buf_printf(b, "%.2e", v);
    } else {
        /* Digits after the point follow from where the first digit comes after rounding. */
        int decimals = 2;
        for (double edge = 9.995; size >= edge && decimals > 0; edge *= 10) decimals--;
        for (double edge = 0.9995; size < edge && decimals < 7; edge /= 10) decimals++;
        buf_printf(b, "%.*f", decimals, v);
    }
}

void fmt_rate(buf *b, double per_s, const char *unit_name) {
    static const char prefixes[] = {0, 'k', 'M', 'G', 'T', 'P', 'E'};
    size_t i = 0;
    if (!isfinite(per_s)) {
        buf_add_byte(b, '-');
        return;
    }
    while (fabs(per_s) >= 999.5 && i + 1 < sizeof prefixes) {
        per_s /= 1000;
        i++;
    }
    double size = fabs(per_s);
    if (i == 0 || size >= 999.5) {
        fmt_real(b, per_s);
    } else {
        buf_printf(b, "%.*f", size < 9.995 ? 2 : size < 99.95 ? 1 : 0, per_s);
    }
    buf_add_byte(b, ' ');
    if (prefixes[i]) buf_add_byte(b, prefixes[i]);
    buf_add_cstr(b, unit_name);
    buf_add_cstr(b, "/s");
}

/* digits × size / 10^decimals, rounded; false when it does not fit. */
static bool scale_number(str digits, int64_t size, int64_t *out) {
    unsigned __int128 whole = 0, part = 0;
    unsigned decimals = 0;
    uint64_t power = 1;
    bool after_point = false, any = false;
    for (size_t i = 0; i < digits.n; i++) {
        char c = digits.p[i];
        if (c == '.') {
            if (after_point) return false;
            after_point = true;
            continue;
        }
        any = true;
        if (!after_point) {
            whole = whole * 10 + (unsigned)(c - '0');
            if (whole > INT64_MAX) return false;
        } else if (decimals < 18) { /* more cannot change a nanosecond of an hour by one */
            part = part * 10 + (unsigned)(c - '0');
            power *= 10;
            decimals++;
        }
    }
    if (!any) return false;
    uint64_t rest;
    unsigned __int128 v =
        whole * (uint64_t)size + div_u128(part * (uint64_t)size + power / 2, power, &rest);
    if (v > INT64_MAX) return false;
    *out = (int64_t)v;
    return true;
}

/* Cuts s into digits with a point and the unit after them. */
static void split_number(str s, str *digits, str *name) {
    size_t i = 0;
    while (i < s.n && ((s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '.')) i++;
    *digits = str_n(s.p, i);
    *name = str_trim(str_from(s, i));
}

bool fmt_parse_duration(str s, int64_t *out_ns) {
    static const unit units[] = {
        {"ns", 1},           {"us", 1000},      {"\xC2\xB5s", 1000}, /* micro sign */
        {"\xCE\xBCs", 1000},                                         /* Greek mu */
        {"ms", 1000000},     {"s", 1000000000}, {"min", 60000000000}, {"h", 3600000000000},
    };
    str digits, name;
    split_number(s, &digits, &name);
    if (name.n == 0) {
        int64_t v;
        if (!scale_number(digits, 1, &v) || v != 0) return false;
        *out_ns = 0;
        return true;
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (str_eq(name, str_of(units[i].name)))
            return scale_number(digits, units[i].size, out_ns);
    }
    return false;
}

bool fmt_parse_bytes(str s, int64_t *out_bytes) {
    static const char prefixes[] = "kmgtp";
    str digits, name;
    split_number(s, &digits, &name);
    int64_t size = 1;
    if (name.n && !str_eq_nocase(name, STR("B"))) {
        size_t power = str_find_nocase(STR(prefixes), str_n(name.p, 1), 0);
        if (power == SIZE_MAX) return false;
        str rest = str_from(name, 1);
        bool binary = rest.n && (rest.p[0] | 0x20) == 'i';
        if (binary) rest = str_from(rest, 1);
        if (rest.n && !str_eq_nocase(rest, STR("B"))) return false;
        for (size_t i = 0; i <= power; i++) size *= binary ? 1024 : 1000;
    }
    return scale_number(digits, size, out_bytes);
}

/* ---- texts of other people --------------------------------------------------------------- */

/* They change the order of the text around them, or make two names look the same. */
static bool is_unseen(uint32_t c) {
    static const struct {
        uint32_t first, last;
    } ranges[] = {{0xad, 0xad},     {0x61c, 0x61c},   {0x180e, 0x180e},
                  {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
                  {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i].first && c <= ranges[i].last) return true;
    return false;
}

size_t fmt_escape(char out[FMT_ESCAPED], uint32_t c) {
    static const char hex[] = "0123456789abcdef";
    bool control = c < 0x20 || (c >= 0x7f && c < 0xa0), large = c > 0xffff;
    if (c >= 0x20 && c < 0x7f) return 0;
    if (!control && !is_unseen(c)) return 0;
    size_t n = 0;
    out[n++] = '\\';
    out[n++] = control ? 'x' : large ? 'U' : 'u';
    for (int shift = control ? 4 : large ? 28 : 12; shift >= 0; shift -= 4)
        out[n++] = hex[c >> shift & 15];
    return n;
}

/* The control character or unseen one that starts here, by *c, also as a byte that is not
 * UTF-8, which an old terminal obeys as well; its bytes, 0 when there is none. */
static size_t find_hostile(str s, size_t at, uint32_t *c) {
    const unsigned char *p = (const unsigned char *)s.p + at;
    size_t n = str_utf8(s, at);
    char unused[FMT_ESCAPED];
    *c = n <= 1 ? p[0] : n == 2 ? (p[0] & 0x1fU) << 6 | (p[1] & 0x3fU) : 0xfffd;
    if (n == 3) *c = (p[0] & 0xfU) << 12 | (p[1] & 0x3fU) << 6 | (p[2] & 0x3fU);
    if (n == 4)
        *c = (p[0] & 7U) << 18 | (p[1] & 0x3fU) << 12 | (p[2] & 0x3fU) << 6 | (p[3] & 0x3fU);
    if (!fmt_escape(unused, *c)) return 0;
    return n ? n : 1;
}

void fmt_safe(buf *out, str s, const char *keep) {
    for (size_t at = 0; at < s.n;) {
        uint32_t c;
        char escaped[FMT_ESCAPED];
        size_t n = find_hostile(s, at, &c), whole = str_utf8(s, at);
        bool kept = n == 1 && c != 0 && c < 0x80 && strchr(keep, (int)c);
        if (n == 0 || kept) {
            n = whole ? whole : 1;
            buf_add(out, s.p + at, n);
        } else {
            buf_add(out, escaped, fmt_escape(escaped, c));
        }
        at += n;
    }
}

/* ---- fields of CSV ----------------------------------------------------------------------- */

static bool needs_quotes(str s) {
    if (s.n == 0) return true;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == ',' || s.p[i] == '"' || s.p[i] == '\n' || s.p[i] == '\r') return true;
    return false;
}

static void put_field(buf *out, str s) {
    if (!needs_quotes(s)) {
        buf_add_str(out, s);
        return;
    }
    buf_add_byte(out, '"');
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '"') buf_add_byte(out, '"');
        buf_add_byte(out, s.p[i]);
    }
    buf_add_byte(out, '"');
}

/* A spreadsheet treats a text that begins like this as a formula, and names come from programs
 * we do not control. */
static bool is_formula(str s) {
    return s.n > 0 && s.p[0] != '\0' && strchr("=+-@\t\r", s.p[0]) != NULL;
}

/* May it hold what fmt_safe writes out? Bytes that such characters begin with are looked at. */
static bool may_be_unsafe(str s) {
    for (size_t i = 0; i < s.n; i++) {
        uint8_t c = (uint8_t)s.p[i];
        if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f || c == 0xc2 || c == 0xd8 ||
            c == 0xe1 || c == 0xe2 || c == 0xef || c == 0xf3)
            return true;
    }
    return false;
}

void fmt_csv(buf *out, str s) {
    buf safe = {0};
    if (!is_formula(s) && !may_be_unsafe(s)) {
        put_field(out, s);
        return;
    }
    if (is_formula(s)) buf_add_byte(&safe, '\'');
    fmt_safe(&safe, s, "\n\t");
    put_field(out, buf_str(&safe));
    if (!buf_ok(&safe)) out->failed = true;
    buf_fini(&safe);
}
