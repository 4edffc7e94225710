/* paddle_head.c: the first bytes of a Paddle trace.
 *
 * JSON: `"span_indx": "3"` up to Paddle 2.6, `"span_index": "3"` since 3.0, near the start.
 * Protobuf has no magic. What Paddle writes begins with field 1, a short text that is a version
 * (1.0.2), and continues with another field of the outermost message:
 *
 *     0a 05 "1.0.2"   10 00   1a …
 *     version         span    first thread
 */
#include "ingest/paddle/paddle_head.h"

#include "base/json.h"

bool paddle_json_span(str head, int64_t *number) {
    static const str keys[] = {STR("\"span_indx\""), STR("\"span_index\"")};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t at = str_find(head, keys[i], 0);
        if (at == SIZE_MAX) continue;
        const char *end = head.p + head.n, *p = json_space(head.p + at + keys[i].n, end);
        if (p == end || *p != ':') continue;
        p = json_space(p + 1, end);
        const char *stop = p < end ? json_value_end(p, end) : NULL;
        if (stop && str_to_i64(json_text(str_n(p, (size_t)(stop - p))), number) && *number >= 0)
            return true;
    }
    return false;
}

/* Length of the version in field 1; 0 when there is none. */
static size_t version_length(str head) {
    if (head.n < 3 || head.p[0] != 0x0a) return 0;
    size_t n = (uint8_t)head.p[1], dots = 0;
    if (n == 0 || n > 16 || head.n < n + 2) return 0;
    for (size_t i = 0; i < n; i++) {
        char c = head.p[2 + i];
        if (c != '.' && (c < '0' || c > '9')) return 0;
        dots += c == '.';
    }
    return dots ? n : 0;
}

bool paddle_pb_head(str head) {
    size_t n = version_length(head);
    if (n == 0) return false;
    if (head.n == n + 2) return true; /* a version and nothing else: cut at once */
    uint8_t next = (uint8_t)head.p[n + 2];
    return next == 0x10 || next == 0x1a || next == 0x22 || next == 0x2a;
}

bool paddle_pb_span(str head, int64_t *number) {
    if (!paddle_pb_head(head)) return false;
    size_t at = version_length(head) + 2;
    uint64_t v = 0;
    if (at >= head.n || head.p[at] != 0x10) return false;
    for (unsigned shift = 0; shift < 35 && ++at < head.n; shift += 7) {
        uint8_t byte = (uint8_t)head.p[at];
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *number = (int64_t)v;
            return true;
        }
    }
    return false;
}
