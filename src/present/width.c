/* width.c: cells of a terminal for UTF-8 text.
 *
 * libc's wcwidth depends on the locale of the process, which a program for CI cannot rely on;
 * the two small tables here cover what names hold: Chinese, Japanese, Korean and full-width
 * forms and emoji take two cells, combining marks none, everything else one. (An approximation:
 * joined emoji sequences count each part.)
 *
 * Cleaning: tab and line breaks become a blank, other control characters and direction
 * overrides are written out (\x1b), bytes that are not UTF-8 become U+FFFD. A C++ signature
 * that is too long first loses its parameters, which repeat what the template arguments say.
 * Names are shortened in the middle because both ends tell them apart: the namespace at the
 * front, the template arguments at the back. */
#include "present/width.h"

#include "base/bisect.h"
#include "base/fmt.h"

typedef struct {
    uint32_t first, last;
} range;

static const range WIDE[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},
    {0x25fd, 0x25fe},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x26a1, 0x26a1},
    {0x2705, 0x2705},   {0x274c, 0x274c},   {0x2753, 0x2755},   {0x2795, 0x2797},
    {0x2b1b, 0x2b1c},   {0x2b50, 0x2b50},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},
    {0xa960, 0xa97f},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe10, 0xfe19},
    {0xfe30, 0xfe6f},   {0xff01, 0xff60},   {0xffe0, 0xffe6},   {0x1b000, 0x1b2ff},
    {0x1f004, 0x1f004}, {0x1f18e, 0x1f19a}, {0x1f200, 0x1f320}, {0x1f32d, 0x1f64f},
    {0x1f680, 0x1f6ff}, {0x1f7e0, 0x1f7eb}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd},
};

static const range EMPTY[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a},
    {0x064b, 0x065f}, {0x0e34, 0x0e3a}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},
    {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef},
};

static bool in_ranges(uint32_t c, const range *r, size_t n) {
    size_t at = SEARCH_FIRST(i, 0, n, r[i].last < c);
    return at < n && r[at].first <= c;
}

static size_t cells_of(uint32_t c) {
    char escaped[FMT_ESCAPED];
    size_t n = fmt_escape(escaped, c);
    if (n != 0) return n;
    if (c < 0x300) return 1;
    if (in_ranges(c, EMPTY, sizeof EMPTY / sizeof *EMPTY)) return 0;
    return in_ranges(c, WIDE, sizeof WIDE / sizeof *WIDE) ? 2 : 1;
}

/* The character at *at, moving *at after it; U+FFFD for one byte that is not UTF-8. */
static uint32_t decode(str s, size_t *at) {
    static const uint32_t SMALLEST[5] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char lead = (unsigned char)s.p[*at];
    size_t n = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    uint32_t c = lead < 0x80 ? lead : lead & (0x7fU >> n);
    if (lead >= 0x80 && (lead < 0xc2 || lead > 0xf4 || *at + n > s.n)) goto broken;
    for (size_t i = 1; i < n; i++) {
        unsigned char next = (unsigned char)s.p[*at + i];
        if ((next & 0xc0) != 0x80) goto broken;
        c = c << 6 | (next & 0x3f);
    }
    if (c < SMALLEST[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) goto broken;
    *at += n;
    return c;
broken:
    *at += 1;
    return 0xfffd;
}

/* A line stays a line. */
static uint32_t clean(uint32_t c) {
    return c == '\t' || c == '\n' || c == '\r' ? ' ' : c;
}

static void put_char(buf *out, uint32_t c) {
    char escaped[FMT_ESCAPED];
    size_t n = fmt_escape(escaped, c);
    if (n != 0)
        buf_add(out, escaped, n);
    else
        buf_add_utf8(out, c);
}

size_t width_of(str s) {
    size_t cells = 0, at = 0;
    while (at < s.n) cells += cells_of(clean(decode(s, &at)));
    return cells;
}

void width_put(buf *out, str s) {
    for (size_t at = 0; at < s.n;) put_char(out, clean(decode(s, &at)));
}

/* A C++ signature without the parts that say least: the word void and the parameters. */
static str bare_name(str s) {
    size_t depth = 0, at = s.n;
    if (!str_ends(s, STR(")"))) return s;
    do {
        at--;
        if (s.p[at] == ')') depth++;
        if (s.p[at] == '(') depth--;
    } while (at > 0 && depth > 0);
    if (depth > 0 || at == 0 || s.p[at - 1] == ' ') return s;
    s.n = at;
    return str_starts(s, STR("void ")) && s.n > 5 ? str_from(s, 5) : s;
}

/* Is this the :: of a qualified name, and where does the qualifier before it begin? */
static size_t qualifier_start(const buf *out, size_t floor) {
    size_t at = out->n;
    static const char anonymous[] = "(anonymous namespace)";
    size_t n = sizeof anonymous - 1;
    if (at - floor >= n && memcmp(out->p + at - n, anonymous, n) == 0) return at - n;
    while (at > floor &&
           (out->p[at - 1] == '_' || (out->p[at - 1] >= '0' && out->p[at - 1] <= '9') ||
            ((out->p[at - 1] | 0x20) >= 'a' && (out->p[at - 1] | 0x20) <= 'z')))
        at--;
    return at;
}

/* A template without the namespaces, which say where a thing was written, not what it is. */
static void put_unqualified(buf *out, str s) {
    size_t floor = out->n;
    for (size_t at = 0; at < s.n; at++) {
        if (s.p[at] == ':' && at + 1 < s.n && s.p[at + 1] == ':') {
            size_t start = qualifier_start(out, floor);
            if (start < out->n) {
                out->n = start;
                at++;
                continue;
            }
        }
        buf_add_byte(out, s.p[at]);
    }
}

size_t width_put_name(buf *out, str s, size_t cells) {
    bool template =
        str_find(s, STR("<"), 0) != SIZE_MAX && str_find(s, STR("::"), 0) != SIZE_MAX;
    if (!template || width_of(s) <= cells) return width_put_short(out, s, cells);
    str bare = bare_name(s);
    if (width_of(bare) <= cells) return width_put_short(out, bare, cells);
    buf plain = {0};
    put_unqualified(&plain, bare);
    size_t used = width_put_short(out, buf_str(&plain), cells);
    if (!buf_ok(&plain)) out->failed = true;
    buf_fini(&plain);
    return used;
}

size_t width_put_short(buf *out, str s, size_t cells) {
    if (width_of(s) > cells) s = bare_name(s);
    size_t whole = width_of(s), at = 0, used = 0;
    if (whole <= cells) {
        width_put(out, s);
        return whole;
    }
    if (cells == 0) return 0;
    size_t tail = (cells - 1) / 2, head = cells - 1 - tail, seen = 0;
    while (at < s.n) { /* the front; marks without cells stay with their letter */
        size_t before = at;
        uint32_t c = clean(decode(s, &at));
        if (used + cells_of(c) > head) {
            at = before;
            break;
        }
        put_char(out, c);
        used += cells_of(c);
    }
    put_char(out, 0x2026);
    for (seen = used; at < s.n && whole - seen > tail;) seen += cells_of(clean(decode(s, &at)));
    width_put(out, str_from(s, at));
    return used + 1 + (whole - seen);
}

/* Chinese punctuation that closes belongs to what comes before it. */
static bool no_line_start(uint32_t c) {
    return c == 0x3001 || c == 0x3002 || c == 0xff0c || c == 0xff1a || c == 0xff1b ||
           c == 0xff09 || c == 0xff1f || c == 0xff01;
}

/* A number stays with its unit: a blank after a digit is not a place to break.
 * Where the line that starts at `at` ends, and by *next where the one after it starts. */
static size_t find_break(str s, size_t at, size_t room, size_t *next) {
    size_t used = 0, end = at, place = at, end_of_word = SIZE_MAX, start_of_next = 0;
    bool wide = false;
    while (place < s.n) {
        size_t before = place;
        uint32_t c = clean(decode(s, &place));
        bool is_wide = cells_of(c) == 2;
        if (c == ' ' && !(before > at && s.p[before - 1] >= '0' && s.p[before - 1] <= '9')) {
            end_of_word = before;
            start_of_next = place;
        } else if ((is_wide || wide) && before > at && !no_line_start(c)) {
            end_of_word = start_of_next = before;
        }
        wide = is_wide;
        used += cells_of(c);
        if (used > room && c != ' ') break;
        end = place;
        if (place == s.n) {
            *next = end;
            return end;
        }
    }
    if (end_of_word != SIZE_MAX && end_of_word > at) {
        *next = start_of_next;
        return end_of_word;
    }
    if (end == at) decode(s, &end); /* a line holds one character, however narrow */
    *next = end;
    return end;
}

void width_put_lines(buf *out, str s, size_t indent, size_t cells) {
    size_t room = cells == 0 ? SIZE_MAX : cells > indent ? cells - indent : 1;
    for (size_t at = 0; at < s.n;) {
        size_t next, end = find_break(s, at, room, &next);
        while (end > at && s.p[end - 1] == ' ') end--;
        buf_add_repeat(out, ' ', indent);
        width_put(out, str_n(s.p + at, end - at));
        buf_add_byte(out, '\n');
        at = next;
    }
}
