/* paddle_text.c: names and thread ids as Paddle prints them.
 *
 *     "name": "say "hi"[11.335 us]", "pid": 12925, "tid": "12925(Python)",
 *              ^--------^ the name
 *
 * Paddle prints names as they are, quotes, backslashes and line breaks included, and puts the
 * duration after them. So the end of a name is not its first quote: it is the first quote that
 * the key `pid` follows, which is what Paddle writes next, or the first one after a duration
 * that closes a value, for files that another program has written again. What is printed as it
 * is has no escapes: `C:\temp` is eight bytes. The line break before the key shows whether
 * Paddle itself wrote it; a program that writes JSON puts the next key on a separate line as
 * well, or writes no line breaks.
 *
 * A thread has two rows in the file, `12(Python)` and `12(C++)`, and is one thread. */
#include "ingest/paddle/paddle_text.h"

#include "base/json.h"
#include "ingest/util/scan.h"

enum { MAX_NAME_BYTES = 65536 }; /* further a name's end is not searched for */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Where the duration at the end of a text starts, `[12.345 us]`; NULL when there is none. */
static const char *find_duration(const char *p, const char *end) {
    if (end - p < 6 || end[-1] != ']' || end[-2] != 's' || (end[-3] != 'u' && end[-3] != 'm') ||
        end[-4] != ' ')
        return NULL;
    const char *at = end - 4;
    while (at > p && (is_digit(at[-1]) || at[-1] == '.')) at--;
    return at > p && at < end - 4 && at[-1] == '[' ? at - 1 : NULL;
}

str paddle_bare_name(str name) {
    const char *at = find_duration(name.p, name.p + name.n);
    return at ? str_n(name.p, (size_t)(at - name.p)) : name;
}

/* Is the quote at p followed by the key `pid`? */
static bool precedes_pid(const char *p, const char *end) {
    p = json_space(p + 1, end);
    if (p == end || *p != ',') return false;
    p = json_space(p + 1, end);
    return end - p > 6 && memcmp(p, "\"pid\"", 5) == 0;
}

/* Is it followed by any key, or the end of the event? */
static bool closes_value(const char *p, const char *end) {
    p = json_space(p + 1, end);
    if (p == end || *p == '}') return p < end;
    if (*p != ',') return false;
    p = json_space(p + 1, end);
    const char *close = p < end && *p == '"' ? json_string_end(p + 1, end) : NULL;
    if (close) close = json_space(close + 1, end);
    return close && close < end && *close == ':';
}

/* Did Paddle itself write the name at p, whose closing quote is followed by `rest`? */
static bool is_printed_raw(const char *start, const char *p, str rest) {
    static const str key = STR("\n    \"name\": \"");
    return p - start >= (ptrdiff_t)key.n && memcmp(p - key.n, key.p, key.n) == 0 &&
           str_starts(rest, STR(", "));
}

static const char *take(const char *start, str text, const char *end, event_parser_name *out) {
    const char *rest = text.p + text.n + 1;
    out->text = paddle_bare_name(text);
    bool quotes = memchr(out->text.p, '"', out->text.n) != NULL;
    if (!quotes && !memchr(out->text.p, '\\', out->text.n)) return rest;
    out->escaped = !is_printed_raw(start, text.p, str_n(rest, (size_t)(end - rest)));
    out->quotes = quotes && !out->escaped;
    return rest;
}

/* The quote that closes the name at p, NULL when there is none before `end`. The first quote
 * that is not it makes us look for the next event: a name does not reach into it. */
static const char *find_close(const char *p, const char *end, const char *limit) {
    const char *fallback = NULL, *at = p;
    bool bounded = false;
    for (const char *q; at < limit && (q = memchr(at, '"', (size_t)(limit - at))); at = q + 1) {
        if (precedes_pid(q, end)) return q;
        if (closes_value(q, end)) {
            if (find_duration(p, q)) return q;
            if (!fallback) fallback = q;
        }
        const char *border = bounded ? NULL : event_parser_next_border(q, limit);
        if (border) limit = border;
        bounded = true;
    }
    return fallback;
}

const char *paddle_name(const char *start, const char *p, const char *end,
                        event_parser_name *out) {
    const char *limit = end - p > MAX_NAME_BYTES ? p + MAX_NAME_BYTES : end;
    const char *quote = find_close(p, end, limit);
    if (quote) return take(start, str_n(p, (size_t)(quote - p)), end, out);
    quote = json_string_end(p, end); /* no end that we know of: what JSON says */
    if (!quote) return NULL;
    *out = (event_parser_name){.text = str_n(p, (size_t)(quote - p)), .escaped = true};
    return quote + 1;
}

const char *paddle_thread(const char *p, const char *end, int64_t *id) {
    static const str python = STR("(Python)\""), native = STR("(C++)\"");
    scanned s;
    const char *at = scan_number(p + 1, end, &s);
    if (!at || s.digits) return NULL;
    str rest = str_n(at, (size_t)(end - at));
    *id = s.v;
    if (str_starts(rest, native)) return at + native.n;
    return str_starts(rest, python) ? at + python.n : NULL;
}

str paddle_thread_name(str label) {
    static const str start = STR("thread ");
    str s = label;
    if (!str_starts(s, start)) return label;
    size_t at = start.n;
    while (at < s.n && is_digit(s.p[at])) at++;
    if (at == start.n || at == s.n || s.p[at] != ':') return label;
    s = str_from(s, at + 1);
    if (str_ends(s, STR("(Python)"))) s.n -= 8;
    if (str_ends(s, STR("(C++)"))) s.n -= 5;
    return s;
}

/* One line of a traceback, `File "x.py", line 12, in f`: its parts, false when it is something
 * else. */
static bool read_frame(str line, str *file, str *number, str *function) {
    static const str start = STR("File "), middle = STR(", line "), last = STR(", in ");
    line = str_trim(line);
    if (!str_starts(line, start) || line.n < start.n + 2) return false;
    size_t at = str_find(line, middle, start.n + 1);
    size_t name = at == SIZE_MAX ? SIZE_MAX : str_find(line, last, at + middle.n);
    if (name == SIZE_MAX || at < start.n + 2) return false;
    *file = str_n(line.p + start.n + 1, at - start.n - 2); /* without its quotes */
    *number = str_n(line.p + at + middle.n, name - at - middle.n);
    *function = str_from(line, name + last.n);
    return true;
}

void paddle_stack(str text, buf *out) {
    bool first = true;
    for (size_t end = text.n; end;) {
        size_t from = end;
        while (from && text.p[from - 1] != '\n') from--;
        str file, number, function;
        if (read_frame(str_n(text.p + from, end - from), &file, &number, &function)) {
            if (!first) buf_add_byte(out, ';');
            first = false;
            buf_printf(out, "%.*s(%.*s): %.*s", STR_ARG(file), STR_ARG(number),
                       STR_ARG(function));
        }
        end = from ? from - 1 : 0;
    }
}
