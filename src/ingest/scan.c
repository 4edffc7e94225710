/* scan.c: the end of a bracketed value. Brackets inside strings do not count; which bracket closes
 * which is not checked here (json_normal does that once for every distinct text). */
#include "ingest/scan.h"

#include "base/json.h"

/* What a byte means to the bracket counter: nothing, open, close, quote. */
static const uint8_t MEANING[256] = {['['] = 1, ['{'] = 1, [']'] = 2, ['}'] = 2, ['"'] = 3};

const char *scan_brackets(const char *p, const char *end) {
    size_t depth = 0;
    while (p < end) {
        uint8_t meaning = MEANING[(uint8_t)*p++];
        if (__builtin_expect(meaning == 0, 1)) continue;
        if (meaning == 1) {
            depth++;
        } else if (meaning == 2) {
            if (--depth == 0) return p;
        } else {
            const char *close = scan_string(p, end);
            if (close < end && *close == '\\') close = json_string_end(p, end);
            if (!close || close >= end) return NULL;
            p = close + 1;
        }
    }
    return NULL;
}
