/* csv_cells.c: comma-separated tables in memory.
 *
 * The end of a row is found first, with respect to quotes, so that the buffer for unquoted
 * cells can be made large enough once and cells may point into it. A quote that is never closed
 * takes the rest of the text as its cell: damage costs what it covers, and the time stays
 * linear because the text is then at its end. Numbers are read as decimals, not through a
 * double: nanoseconds of the day in microseconds with a fraction have nineteen digits. */
#include "ingest/util/csv_cells.h"

#include "base/num.h"

#include <math.h>

csv csv_open(str text) {
    if (str_starts(text, STR("\xef\xbb\xbf"))) text = str_from(text, 3);
    return (csv){.text = text, .cells = VEC_INIT(str)};
}

void csv_fini(csv *c) {
    vec_fini(&c->cells);
    buf_fini(&c->unquoted);
}

/* One past the row that starts at `at`: its line feed, or the end of the text. */
static size_t row_end(str text, size_t at) {
    bool open = false;
    for (; at < text.n; at++) {
        if (text.p[at] == '"') open = !open;
        if (text.p[at] == '\n' && !open) break;
    }
    return at;
}

/* The quoted cell at p; its inside goes to the buffer when quotes are doubled in it. */
static str take_quoted(csv *c, const char **p, const char *end) {
    const char *from = ++*p;
    size_t start = c->unquoted.n;
    bool doubled = false;
    while (*p < end) {
        if (**p == '"' && *p + 1 < end && (*p)[1] == '"') {
            doubled = true;
            buf_add(&c->unquoted, from, (size_t)(*p + 1 - from));
            from = *p += 2;
            continue;
        }
        if (**p == '"') break;
        ++*p;
    }
    str cell = str_n(from, (size_t)(*p - from));
    if (doubled) {
        buf_add_str(&c->unquoted, cell);
        cell = str_n(c->unquoted.p + start, c->unquoted.n - start);
    }
    while (*p < end && **p != ',') ++*p;
    return cell;
}

static bool split_row(csv *c, str row) {
    const char *p = row.p, *end = row.p + row.n;
    c->cells.n = 0;
    c->unquoted.n = 0;
    if (!buf_reserve(&c->unquoted, row.n + 1)) return false;
    for (;;) {
        while (p < end && (*p == ' ' || *p == '\t')) p++;
        str *cell = vec_push(&c->cells);
        if (!cell) return false;
        if (p < end && *p == '"') {
            *cell = take_quoted(c, &p, end);
        } else {
            const char *from = p;
            while (p < end && *p != ',') p++;
            *cell = str_trim(str_n(from, (size_t)(p - from)));
        }
        if (p >= end) return true;
        p++;
    }
}

bool csv_next(csv *c) {
    while (c->at < c->text.n) {
        size_t from = c->at, end = row_end(c->text, from);
        c->at = end + 1;
        str row = str_n(c->text.p + from, end - from);
        if (str_trim(row).n == 0) continue;
        c->row = from;
        if (row.n && row.p[row.n - 1] == '\r') row.n--;
        if (split_row(c, row)) return true;
        c->failed = true;
        return false;
    }
    return false;
}

str csv_cell(const csv *c, size_t i) {
    return i < c->cells.n ? VEC(&c->cells, str)[i] : STR("");
}

size_t csv_find(const csv *c, str names) {
    while (names.n) {
        str one = str_cut(&names, STR("|"));
        for (size_t i = 0; i < c->cells.n; i++)
            if (str_eq_nocase(VEC(&c->cells, str)[i], one)) return i;
    }
    return SIZE_MAX;
}

static bool scaled_by_double(str s, int scale, int64_t *out) {
    double d;
    if (!str_to_f64(s, &d)) return false;
    d = round(d * pow(10, scale));
    if (!(d > -9.2e18 && d < 9.2e18)) return false;
    *out = (int64_t)d;
    return true;
}

bool scaled_i64(str s, int scale, int64_t *out) {
    str all = s = str_trim(s);
    bool negative = s.n && *s.p == '-', point = false, any = false;
    int64_t v = 0;
    int left = scale; /* digits still to come after the point */
    if (negative) s = str_from(s, 1);
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (c < '0' || c > '9') return scaled_by_double(all, scale, out);
        any = true;
        if (point && left <= 0) {
            /* the first digit beyond rounds, the others are dropped */
            v = add_i64(v, left == 0 && c >= '5');
            left = -1;
            continue;
        }
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, c - '0', &v))
            return false;
        left -= point;
    }
    for (; left > 0; left--)
        if (__builtin_mul_overflow(v, 10, &v)) return false;
    *out = negative ? -v : v;
    return any;
}
