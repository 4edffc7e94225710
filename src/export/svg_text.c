/* svg_text.c: words in pictures.
 *
 * The font of the reader's machine is unknown here, so widths are those of common sans-serif
 * fonts by kinds of letters, and a little more. */
#include "export/svg_text.h"

enum { LEAST_LETTERS = 3 };
#define DOTS "\xE2\x80\xA6"
#define REPLACEMENT "\xEF\xBF\xBD"

/* U+FFFE and U+FFFF: valid UTF-8, but not in XML. */
static bool is_invalid_character(str s, size_t at, size_t n) {
    return n == 3 && (uint8_t)s.p[at] == 0xEF && (uint8_t)s.p[at + 1] == 0xBF &&
           (uint8_t)s.p[at + 2] >= 0xBE;
}

static void add_byte_escaped(buf *b, char c) {
    if (c == '<')
        buf_add_cstr(b, "&lt;");
    else if (c == '>')
        buf_add_cstr(b, "&gt;");
    else if (c == '&')
        buf_add_cstr(b, "&amp;");
    else if (c == '"')
        buf_add_cstr(b, "&quot;");
    else
        buf_add_byte(b, c >= ' ' && c != 0x7F ? c : ' ');
}

void svg_add_escaped(buf *b, str s) {
    for (size_t at = 0, n; at < s.n; at += n ? n : 1) {
        n = str_utf8(s, at);
        if (n == 1)
            add_byte_escaped(b, s.p[at]);
        else if (n == 0 || is_invalid_character(s, at, n))
            buf_add_cstr(b, REPLACEMENT);
        else
            buf_add(b, s.p + at, n);
    }
}

static double letter_ems(str s, size_t at, size_t n) {
    char c = s.p[at];
    if (n >= 3) return 1; /* mostly Chinese, Japanese, Korean */
    if (n == 2) return 0.62;
    if (strchr("iljI.,:;'|! ", c)) return 0.32;
    if (strchr("ftr()[]{}/\\-\"`*", c)) return 0.42;
    if (strchr("mwMW@%", c)) return 0.93;
    if ((c >= 'A' && c <= 'Z') || strchr("&<>=+~#", c)) return 0.71;
    return 0.6;
}

double svg_text_ems(str s) {
    double ems = 0;
    for (size_t at = 0, n; at < s.n; at += n) {
        n = str_utf8(s, at);
        if (!n) n = 1;
        ems += letter_ems(s, at, n);
    }
    return ems;
}

bool svg_add_fitting(buf *b, str s, double ems) {
    size_t fits = 0;
    uint32_t letters = 0;
    double used = 1; /* of the dots */
    if (svg_text_ems(s) <= ems) {
        svg_add_escaped(b, s);
        return s.n > 0;
    }
    for (size_t at = 0, n; at < s.n; at += n) {
        n = str_utf8(s, at);
        if (!n) n = 1;
        used += letter_ems(s, at, n);
        if (used > ems) break;
        fits = at + n;
        letters++;
    }
    if (letters < LEAST_LETTERS) return false;
    svg_add_escaped(b, str_trim(str_n(s.p, fits)));
    buf_add_cstr(b, DOTS);
    return true;
}
