/* pickle_text.c: texts as the older protocols of pickle write them: a line with escapes. */
#include "ingest/util/pickle_text.h"

/* n hexadecimal digits; UINT32_MAX when they are missing. */
static uint32_t read_hex(str s, size_t at, size_t n) {
    uint32_t v = 0;
    if (at + n > s.n) return UINT32_MAX;
    for (size_t i = at; i < at + n; i++) {
        char c = s.p[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) return UINT32_MAX;
        v = v << 4 | (uint32_t)digit;
    }
    return v;
}

void pickle_text_escaped(str s, buf *out) {
    buf_clear(out);
    for (size_t i = 0; i < s.n; i++) {
        bool is_short = s.p[i] == '\\' && i + 1 < s.n && s.p[i + 1] == 'u';
        bool is_long = s.p[i] == '\\' && i + 1 < s.n && s.p[i + 1] == 'U';
        size_t digits = is_long ? 8 : 4;
        uint32_t c = is_short || is_long ? read_hex(s, i + 2, digits) : UINT32_MAX;
        if (c < 0x110000)
            i += 1 + digits;
        else
            c = (uint8_t)s.p[i];
        buf_add_utf8(out, c);
    }
}

bool pickle_text_quoted(str s, buf *out) {
    static const char letters[] = "n\nt\tr\r";
    if (s.n < 2 || (s.p[0] != '\'' && s.p[0] != '"') || s.p[s.n - 1] != s.p[0]) return false;
    buf_clear(out);
    for (size_t i = 1; i + 1 < s.n; i++) {
        char c = s.p[i];
        if (c == '\\' && i + 2 < s.n) {
            c = s.p[++i];
            uint32_t code = c == 'x' ? read_hex(str_n(s.p, s.n - 1), i + 1, 2) : UINT32_MAX;
            for (size_t k = 0; k + 1 < sizeof letters; k += 2)
                if (c == letters[k] && code == UINT32_MAX) code = (uint8_t)letters[k + 1];
            if (c == 'x' && code != UINT32_MAX) i += 2;
            if (code != UINT32_MAX) c = (char)code;
        }
        buf_add_byte(out, c);
    }
    return true;
}
