/* bar.h: a share as a bar inside one line of a terminal. */
#ifndef PRESENT_BAR_H
#define PRESENT_BAR_H

#include "base/buf.h"

#define BAR_LEVELS 8 /* of one cell */

/* Appends a bar for `part` of 1 in at most `cells`, to an eighth of a cell with block
 * characters (utf8) or to a cell with #. Anything above nothing is seen. Returns the cells
 * used. */
size_t bar_put(buf *out, double part, size_t cells, bool utf8);
/* Appends one cell of an upright bar, 0 to BAR_LEVELS high; without utf8 a darker letter is
 * more. */
void bar_put_level(buf *out, unsigned level, bool utf8);

#endif
