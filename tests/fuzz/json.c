/* json.c: the lenient JSON reader. Whatever comes in, json_normal writes one value of strict JSON,
 * and writing that again changes nothing. The iterators end, inside the text. */
#include "fuzz/fuzz.h"

static void walk(str text, int depth) {
    str key, value;
    for (json_iter it = json_open(text); json_next(&it, &key, &value);) {
        CHECK(value.n > 0 && value.p >= text.p && value.p + value.n <= text.p + text.n);
        CHECK(key.n == 0 || (key.p > text.p && key.p + key.n < value.p));
        int64_t i;
        double d;
        if (json_i64(value, &i)) CHECK(json_f64(value, &d));
        if (depth < 20) walk(value, depth + 1);
    }
}

/* The same question byte by byte, by the other reader of UTF-8. */
static bool valid_slowly(str s) {
    for (size_t at = 0, n; at < s.n; at += n)
        if ((n = str_utf8(s, at)) == 0) return false;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    str text = {(const char *)data, size};
    buf once = {0}, twice = {0}, decoded = {0};
    json_normal(text, &once);
    check_strict(buf_str(&once));
    CHECK(json_normal(buf_str(&once), &twice) == 0);
    CHECK(str_eq(buf_str(&once), buf_str(&twice)));
    json_decode(text, &decoded);
    CHECK(decoded.n <= size); /* an escape is never shorter than what it stands for */
    CHECK(utf8_valid(text) == valid_slowly(text));
    CHECK(json_value_end(text.p, text.p + size) == json_value_end_bytes(text.p, text.p + size));
    walk(text, 0);
    buf_fini(&once);
    buf_fini(&twice);
    buf_fini(&decoded);
    return 0;
}
