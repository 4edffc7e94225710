/* svg_text.h: words in pictures: escaped, and cut to the room there is. */
#ifndef EXPORT_SVG_TEXT_H
#define EXPORT_SVG_TEXT_H

#include "base/buf.h"

/* s as text or attribute value of XML: markup is escaped; what no XML may hold (control
 * characters, U+FFFE, U+FFFF) and invalid UTF-8 are replaced. */
void svg_add_escaped(buf *b, str s);
/* Width of a text in a sans-serif font, in ems: an estimate, as fonts differ; rather too
 * wide. */
double svg_text_ems(str s);
/* As much of s as fits in so many ems, with "…" where it is cut, escaped; nothing, and false,
 * when less than three letters would be left. */
bool svg_add_fitting(buf *b, str s, double ems);

#endif
