/* bar.c: bars of eighths of a cell.
 *
 * Unicode has a block for each eighth, lying (U+2589…258F) and standing (U+2581…2588). A
 * terminal that is not UTF-8 gets ASCII: # for lying bars, a ramp of letters for standing
 * ones. */
#include "present/bar.h"

#include "base/num.h"

#include <math.h>

static const char *const LYING[BAR_LEVELS + 1] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
static const char *const STANDING[BAR_LEVELS + 1] = {" ", "▁", "▂", "▃", "▄",
                                                     "▅", "▆", "▇", "█"};
static const char RAMP[BAR_LEVELS + 2] = " .:-=+*#@";

size_t bar_put(buf *out, double part, size_t cells, bool utf8) {
    if (!(part > 0)) return 0; /* NaN too */
    double full = (part < 1 ? part : 1) * (double)cells * (utf8 ? BAR_LEVELS : 1);
    size_t steps = full < 1 ? 1 : (size_t)round_i64(full);
    if (!utf8) {
        buf_add_repeat(out, '#', steps);
        return steps;
    }
    for (size_t i = 0; i < steps / BAR_LEVELS; i++) buf_add_cstr(out, LYING[BAR_LEVELS]);
    buf_add_cstr(out, LYING[steps % BAR_LEVELS]);
    return (steps + BAR_LEVELS - 1) / BAR_LEVELS;
}

void bar_put_level(buf *out, unsigned level, bool utf8) {
    if (level > BAR_LEVELS) level = BAR_LEVELS;
    if (utf8)
        buf_add_cstr(out, STANDING[level]);
    else
        buf_add_byte(out, RAMP[level]);
}
